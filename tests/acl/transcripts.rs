//! Command line transcripts: what a person types, and what they see. They prove the wiring; behaviour is proved by
//! the library's tests.
//!
//! Each `tests/cli/*.txt` holds commands, one a line (`$ acl …`, and `< text` lines for its stdin). They run in a
//! scratch copy of `tests/cli/files`, with a home of its own; output, errors and exit code are snapshotted.

use crate::disk::fed;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn transcripts() {
    insta::glob!("../cli", "*.txt", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let scratch = scratch(&name);
        let mut shown = String::new();
        let mut lines = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .peekable();
        while let Some(line) = lines.next() {
            let Some(typed) = line.strip_prefix("$ ") else {
                continue;
            };
            let mut stdin = String::new();
            while let Some(fed) = lines.peek().and_then(|line| line.strip_prefix("< ")) {
                stdin.push_str(fed);
                stdin.push('\n');
                lines.next();
            }
            writeln!(shown, "$ {typed}").unwrap();
            run(typed, &stdin, &scratch, &mut shown);
        }
        insta::assert_snapshot!(shown);
    });
}

/// A fresh copy of the files, with a home beside it.
fn scratch(name: &str) -> PathBuf {
    let top = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("transcripts")
        .join(name);
    let _ = std::fs::remove_dir_all(&top);
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/files");
    copy(&from, &top.join("project"));
    std::fs::create_dir_all(top.join("home")).unwrap();
    top
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}

fn run(typed: &str, stdin: &str, top: &Path, shown: &mut String) {
    let words = words(typed);
    assert_eq!(words.first().map(String::as_str), Some("acl"), "{typed}");
    let mut acl = Command::new(env!("CARGO_BIN_EXE_acl"));
    acl.args(&words[1..])
        .current_dir(top.join("project"))
        .env_clear()
        .env("HOME", top.join("home"))
        .env("PATH", "/usr/bin:/bin");
    let output = fed(&mut acl, stdin);
    let clean = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let text = text.replace(&*top.to_string_lossy(), "/scratch");
        let text = text.replace(env!("CARGO_BIN_EXE_acl"), "/opt/bin/acl");
        text.lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let (out, err) = (clean(&output.stdout), clean(&output.stderr));
    if !out.is_empty() {
        writeln!(shown, "{out}").unwrap();
    }
    if !err.is_empty() {
        writeln!(shown, "--- stderr\n{err}").unwrap();
    }
    writeln!(shown, "--- exit {}\n", output.status.code().unwrap()).unwrap();
}

/// Words of a line: blanks separate, single quotes hold together.
fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        match index % 2 {
            0 => out.extend(part.split_whitespace().map(str::to_owned)),
            _ => out.push(part.to_owned()),
        }
    }
    out
}
