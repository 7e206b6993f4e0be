//! `acl check --fix`: each file of `tests/fixes/` before and after, as a snapshot; a second run finds nothing to do; and
//! where nothing else is said a policy and its repair decide alike.

use crate::disk;
use acl::call::Call;
use acl::call::files::FileView;
use acl::decision::decide;
use acl::matcher::Matcher;
use acl::policy::LayerKind;
use acl::source::Source;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

/// A fresh copy of the files.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("fixes")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    for file in disk::files("tests/fixes", disk::is_policy) {
        let to = folder.join(file.strip_prefix("tests/fixes/").unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(file, to).unwrap();
    }
    folder
}

fn fix(folder: &Path, file: &str) -> Output {
    let mut acl = Command::new(env!("CARGO_BIN_EXE_acl"));
    acl.args(["check", "--fix", file]).current_dir(folder);
    disk::fed(&mut acl, "")
}

fn names() -> Vec<String> {
    let files = std::fs::read_dir("tests/fixes").unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| disk::is_policy(name)).collect();
    names.sort();
    names
}

#[test]
fn before_and_after() {
    let folder = scratch("once");
    for name in names() {
        let path = folder.join(&name);
        let before = std::fs::read_to_string(&path).unwrap();
        let output = fix(&folder, &name);
        let after = std::fs::read_to_string(&path).unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        let patch = match name.ends_with(".yaml") {
            true => out.split("\nwarning[").next().unwrap(),
            false => "",
        };
        insta::assert_snapshot!(
            format!("{name}"),
            format!("{patch}\n{after}\n--- stderr\n{err}")
        );
        if name.ends_with(".yaml") {
            assert_eq!(before, after);
            continue;
        }
        let again = fix(&folder, &name);
        let again = String::from_utf8(again.stderr).unwrap();
        assert!(!again.contains("fixed "), "{name}: {again}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), after, "{name}");
        if after != before {
            alike(&name, &before, &after, &err);
        }
    }
    // What is only extended is not written.
    let base = |folder: &Path| std::fs::read(folder.join("with/base.toml")).unwrap();
    assert_eq!(base(&folder), base(Path::new("tests/fixes")));
    let left = std::fs::read_dir(&folder).unwrap();
    let left = left.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .path()
            .to_string_lossy()
            .contains(".tmp")
    });
    assert_eq!(left.count(), 0);
}

/// Every call of the everyday cases is decided as before, unless a repair says that something changes.
fn alike(name: &str, before: &str, after: &str, told: &str) {
    let changes = [
        "takes it without further words",
        "did not load",
        "matched nothing before",
    ];
    if changes.iter().any(|change| told.contains(change)) {
        return;
    }
    let matcher = |text: &str| {
        let source = Source::new(format!("tests/fixes/{name}"), text, None).unwrap();
        let policy = disk::load(vec![disk::root(LayerKind::User, Arc::new(source))]);
        Matcher::compile(policy.unwrap())
    };
    let (before, after) = (matcher(before), matcher(after));
    let lines = [
        "ls",
        "ls -la",
        "git status",
        "sudo ls",
        "rm -rf x",
        "shred x",
        "su",
        "env su",
        "cat x",
    ];
    let calls = lines
        .iter()
        .map(|line| ("bash", serde_json::json!({ "command": line })));
    let tools =
        ["read", "write", "edit", "list"].map(|tool| (tool, serde_json::json!({ "path": "a" })));
    for (tool, args) in calls.chain(tools) {
        let call = Call {
            tool: tool.into(),
            args: args.clone().into(),
            cwd: Some("/w".into()),
            ..Call::default()
        };
        let action = |matcher| decide(matcher, &call, &FileView::None).action;
        assert_eq!(action(&before), action(&after), "{name}: {tool} {args}");
    }
}

#[test]
fn what_may_not_be_written_is_an_error() {
    let folder = scratch("closed");
    let path = folder.join("keys.toml");
    let before = std::fs::read(&path).unwrap();
    let mut closed = std::fs::metadata(&path).unwrap().permissions();
    closed.set_readonly(true);
    std::fs::set_permissions(&path, closed.clone()).unwrap();
    let output = fix(&folder, "keys.toml");
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("cannot write `keys.toml`"), "{told}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions(), closed);
    for name in ["-", "acl:floor"] {
        assert_eq!(fix(&folder, name).status.code(), Some(2), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch("linked");
    let path = folder.join("keys.toml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("keys.toml", folder.join("link.toml")).unwrap();
    fix(&folder, "link.toml");
    let link = std::fs::symlink_metadata(folder.join("link.toml")).unwrap();
    assert!(link.is_symlink());
    let written = std::fs::metadata(&path).unwrap();
    assert_eq!(written.permissions().mode() & 0o777, 0o640);
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .contains("[paths.write]")
    );
}
