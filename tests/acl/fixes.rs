//! `acl check --fix`: each file of `tests/fixes/` before and after, as a snapshot; a second run finds nothing to do; and
//! where nothing else is said a policy and its repair decide alike, which is proved.

use crate::disk;
use acl::call::Call;
use acl::call::files::FileView;
use acl::cases::mutants;
use acl::decision::decide;
use acl::language::{Told, Way, changed};
use acl::matcher::Matcher;
use acl::policy::{LayerKind, Policy};
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

/// A repair, done: the text before and after, and what it says of itself.
struct Step {
    before: String,
    after: String,
    says: String,
}

/// The repairs of a file one after the other, and what becomes of it.
fn steps(file: &str) -> (Vec<Step>, String) {
    let mut text = std::fs::read_to_string(file).unwrap();
    let mut steps = Vec::new();
    loop {
        let source = Arc::new(Source::new(file, text.as_str(), None).unwrap());
        // What aliases say again is not repaired.
        let shared = acl::source::read(&source).shared;
        let findings = disk::checked(disk::load(vec![disk::root(LayerKind::User, source)]));
        let here = |finding: &&acl::finding::Finding| finding.labels[0].source.name == file;
        let mut fixes = findings
            .iter()
            .filter(here)
            .filter_map(|own| own.fix.as_deref())
            .filter(|fix| {
                !shared
                    .iter()
                    .any(|span| span.start < fix.span.end && fix.span.start < span.end)
            });
        let Some(fix) = fixes.next() else {
            return (steps, text);
        };
        assert!(steps.len() < 50, "{file}: {}", fix.says);
        let mut after = text.clone();
        after.replace_range(fix.span.start..fix.span.end, &fix.text);
        steps.push(Step {
            before: std::mem::replace(&mut text, after.clone()),
            after,
            says: fix.says.clone(),
        });
    }
}

/// Calls that rest on each part of a policy: taken out, or its verdict turned, they would be decided otherwise.
fn witnesses(policy: &Policy, matcher: &Matcher) -> Vec<Call> {
    let survivors = mutants::survivors(policy, matcher, &[]).into_iter();
    let ways = survivors.flat_map(|own| [own.fate.loosened, own.fate.tightened]);
    let call = |way| match way {
        Way::Shown(moved) => Some(moved.witness.call),
        Way::No | Way::Unknown => None,
    };
    ways.filter_map(call).collect()
}

/// A policy and its repair decide alike, as `acl diff` proves it, and so they decide every call that a part of either rests
/// on; unless the repair says that something changes, and then only that way.
#[test]
fn repairs_change_what_they_say() {
    let mut files = disk::files("tests/fixes", disk::is_policy);
    files.extend(disk::files("tests/policies/planted", disk::is_policy));
    files.retain(|file| !file.contains("/with/"));
    let mut compared = 0;
    for file in files {
        let (steps, last) = steps(&file);
        if !steps.is_empty() && file.starts_with("tests/fixes/") && file.ends_with(".toml") {
            let name = file.rsplit('/').next().unwrap();
            let folder = scratch(name);
            fix(&folder, name);
            assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), last);
        }
        for Step {
            before,
            after,
            says,
        } in steps
        {
            let load = |text: &str| {
                let source = Arc::new(Source::new(&*file, text, None).unwrap());
                disk::load(vec![disk::root(LayerKind::User, source)])
            };
            // What did not load decided nothing.
            let (Ok(old), Ok(new)) = (load(&before), load(&after)) else {
                continue;
            };
            let (was, is) = (Matcher::compile(old.clone()), Matcher::compile(new.clone()));
            let tightens = says.contains("takes it without further words too");
            let anything = says.contains("matched nothing before");
            let may = |loosened: bool| anything || (tightens && !loosened);
            for change in changed(&was, &is) {
                let fine = match change.fate.told() {
                    Told::Loosened => may(true),
                    Told::Tightened | Told::NotLoosened => may(false),
                    Told::Unknown => anything,
                    Told::Equivalent => true,
                };
                assert!(fine, "{file}: {says}: {change:?}");
            }
            let calls = witnesses(&old, &was)
                .into_iter()
                .chain(witnesses(&new, &is));
            for call in calls {
                let action = |matcher| decide(matcher, &call, &FileView::None).action;
                let (was, is) = (action(&was), action(&is));
                assert!(was == is || may(is < was), "{file}: {says}: {call:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
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
