//! What is kept of a policy file says what reading it says; what was kept badly says nothing.

use crate::disk::fed;
use acl::policy::rule::Examples;
use acl::policy::{File, kept};
use acl::source::Source;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// All policies of the repository that can be read.
fn policies() -> Vec<(Arc<Source>, File)> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from("policies"), PathBuf::from("tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.extension().and_then(|end| end.to_str());
            match kind {
                _ if path.is_dir() => folders.push(path),
                Some("toml" | "yaml") => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap();
        let source = Arc::new(Source::new(path.to_string_lossy(), bytes, None).ok()?);
        let (file, errors) = File::read(&source);
        errors.is_empty().then_some((source, file))
    };
    files.into_iter().filter_map(read).collect()
}

/// A file without what no decision looks at.
fn judged(mut file: File) -> File {
    file.comments.clear();
    file.groups.clear();
    file.lints.clear();
    let rules = file.rules.iter_mut().map(|rule| &mut rule.examples);
    let protected = file.protected.iter_mut().map(|set| &mut set.examples);
    let invariants = file
        .invariants
        .iter_mut()
        .map(|own| &mut own.never.examples);
    rules
        .chain(protected)
        .chain(invariants)
        .for_each(|all| *all = Examples::default());
    file
}

#[test]
fn what_is_kept_is_what_was_read() {
    let all = policies();
    assert!(all.len() > 60, "{}", all.len());
    for (source, file) in all {
        let file = judged(file);
        let bytes = kept::encode(&file).unwrap();
        let again = kept::decode(&bytes, &source).unwrap();
        assert_eq!(format!("{again:?}"), format!("{file:?}"), "{}", source.name);
        assert!(Arc::ptr_eq(&again.source, &source));
        // Cut short or changed anywhere it is another file or none, and nothing worse.
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 8) {
            let mut spoilt = bytes.clone();
            spoilt[at] ^= 0x81;
            let _ = kept::decode(&spoilt, &source);
            assert!(kept::decode(&bytes[..at], &source).is_none(), "{at}");
        }
    }
}

fn answer(top: &Path) -> String {
    let mut acl = Command::new(env!("CARGO_BIN_EXE_acl"));
    acl.args(["hook", "claude-code", "--policy", "acl:recommended"])
        .current_dir(top)
        .env_clear()
        .env("HOME", top);
    let call =
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"sudo ls"}}"#;
    let output = fed(&mut acl, call);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_hook_reads_again_what_is_not_whole() {
    let top = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kept");
    let _ = fs::remove_dir_all(&top);
    fs::create_dir_all(&top).unwrap();
    let folder = top.join(".local/state/acl/read");
    let first = answer(&top);
    assert!(first.contains(r#""permissionDecision":"deny""#), "{first}");
    let names = || {
        let mut names: Vec<PathBuf> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        names.sort();
        names
    };
    let kept = names();
    // The preset, and the floor that it extends.
    assert_eq!(kept.len(), 2, "{kept:?}");
    let whole: Vec<Vec<u8>> = kept.iter().map(|path| fs::read(path).unwrap()).collect();
    assert_eq!(answer(&top), first);
    // Damaged, empty, and one that stands in for the other: each is read again, and kept again.
    for spoilt in [&whole[0][..90], &[][..], &whole[1]] {
        fs::write(&kept[0], spoilt).unwrap();
        assert_eq!(answer(&top), first);
    }
    assert!(names() == kept && fs::read(&kept[0]).unwrap() == whole[0]);
    // Older ones go.
    for number in 0..40 {
        fs::write(folder.join(format!("old-{number}")), "").unwrap();
    }
    fs::remove_file(&kept[0]).unwrap();
    assert_eq!(answer(&top), first);
    assert_eq!(names().len(), 32);
}

#[cfg(unix)]
#[test]
fn what_others_could_have_kept_is_not_taken() {
    use std::os::unix::fs::PermissionsExt;
    let top = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kept-by-others");
    let _ = fs::remove_dir_all(&top);
    fs::create_dir_all(&top).unwrap();
    let first = answer(&top);
    let folder = top.join(".local/state/acl/read");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let loose = Source::new("x.toml", "version = 1\ntiers = { allow = [\"*\"] }", None).unwrap();
    let (loose, _) = File::read(&Arc::new(loose));
    let loose = kept::encode(&loose).unwrap();
    let forge = || {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600);
            let name = path.file_name().unwrap().as_encoded_bytes();
            let told = acl::call::digest(&[name, &loose].concat());
            fs::write(&path, [told.as_bytes(), &loose].concat()).unwrap();
        }
    };
    forge();
    assert_ne!(answer(&top), first, "the user's own word is taken");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(answer(&top), first);
}
