//! What is a shell text at all, by `bash -n`, for lines of the tables, generated ones, and both with a part changed.
//!
//! `ACL_ORACLE_SECONDS=600 cargo test --test acl differential -- --nocapture` looks further, from a random seed.

#![allow(
    clippy::print_stdout,
    reason = "by hand, what is found is wanted as it is found"
)]

use crate::lines::{Lines, Rng};
use crate::oracle::{By, has_bash};
use acl::call::access::Kind;
use acl::call::shell::{Scene, accesses, outline};
use std::process::{Command, Stdio};

const LINES: usize = 600;
const SEED: u64 = 7;

/// Parts that a change puts in.
const PARTS: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "{ ",
    "; }",
    ";",
    ";;",
    "&",
    "&&",
    "||",
    "|",
    "\n",
    " ",
    "'",
    "\"",
    "`",
    "\\",
    "$",
    "$(",
    "${",
    "$((",
    "))",
    "((",
    "<(",
    "<<E\n",
    "<<",
    "<",
    ">",
    ">&",
    "<<<",
    "#",
    " # ",
    "!",
    "if ",
    "; then ",
    "; fi",
    "else ",
    "while ",
    "; do ",
    "; done",
    "for x in a",
    "for ",
    "case a in ",
    "esac",
    " in ",
    "function f ",
    "f() ",
    "f()",
    "[[ ",
    " ]]",
    "time ",
    "coproc ",
    "select ",
    "x=",
    "x=(",
    "a[1]=",
    "&>",
    "2>",
    "|&",
    "=",
    "-",
    "*",
    "[",
    "]",
    "E",
    "\nE\n",
    "$'",
    "until ",
    "elif ",
    "}}",
    "%",
    "~",
    "1",
    "a",
];

/// Flaws of lines that `bash -n` takes, and why they are flaws here: the line is opaque, and what stands in it is
/// found all the same.
const STRICTER: &[(&str, &str)] = &[
    (
        "a backslash at the very end",
        "bash keeps it; what should follow is missing",
    ),
    (
        "a heredoc without its body",
        "bash warns and takes none, other shells refuse",
    ),
    (
        "a heredoc without its end",
        "bash warns and takes the rest of the text",
    ),
    (
        "${ is followed by no name",
        "bash refuses when it comes to it",
    ),
    (
        "${…} with an operator that bash does not have",
        "bash refuses when it comes to it",
    ),
    (
        "a subscript is never closed",
        "bash refuses when it comes to it",
    ),
    (
        "a loop over what is no name",
        "bash refuses when it comes to it",
    ),
    (
        "quotes within quotes, which shells read differently",
        "bash has one reading of several",
    ),
];

/// What is in lines whose flaws `bash -n` does not look for.
const UNSEEN: &[(&str, &str)] = &[
    ("`", "it does not read what stands in backquotes"),
    ("<<", "nor what a heredoc expands"),
    ("$((", "nor what may be arithmetic or a subshell"),
    ("((", "nor arithmetic"),
    ("${ ", "nor what bash 5.3 runs"),
    ("${|", "the same"),
    ("coproc", "nor the name of a coproc"),
];

/// Lines that bash does not take and that are taken here, and why. It runs nothing of such a command, so that more
/// is found than happens.
const LOOSER: &[(&str, &str)] = &[
    (
        "case a in @(a|b)) c;; esac",
        "an extended glob, as after `shopt -s extglob`",
    ),
    ("in b", "a program's name, as in dash"),
    ("a | ! b", "as in ksh and zsh"),
    ("a; ]]", "a program's name, as in dash"),
    ("a[[ b; c", "to bash a subscript without its end"),
    ("[[ a) == b ]]", "what a test compares is not checked"),
];

fn written() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shell/");
    let read = |name: &str| std::fs::read_to_string(format!("{folder}{name}")).unwrap();
    let corpus = read("corpus.jsonl");
    let accesses = read("accesses.txt");
    let rows = corpus
        .lines()
        .filter(|row| !row.trim().is_empty())
        .map(|row| {
            let case: serde_json::Value = serde_json::from_str(row).unwrap();
            case["line"].as_str().unwrap().to_owned()
        });
    let lines = accesses
        .lines()
        .filter_map(|row| row.strip_prefix("> "))
        .map(|line| line.replace("\\n", "\n").replace("\\t", "\t"));
    rows.chain(lines)
        .filter(|line| line.len() < 2_000)
        .collect()
}

/// A line with a part of it taken out, doubled, or something put in.
fn changed(line: &str, rng: &mut Rng) -> String {
    let mut ends: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
    ends.push(line.len());
    let at = rng.below(ends.len());
    let to = (at + 1 + rng.below(4)).min(ends.len() - 1);
    let (start, end) = (ends[at], ends[to.max(at)]);
    let (before, part, after) = (&line[..start], &line[start..end], &line[end..]);
    match rng.below(4) {
        0 => format!("{before}{after}"),
        1 => format!("{before}{part}{part}{after}"),
        _ => format!("{before}{}{part}{after}", rng.pick(PARTS)),
    }
}

fn bash_takes(line: &str) -> bool {
    let out = Command::new("bash")
        .args(["--norc", "-n", "-c", "--", line])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // Some errors leave its status at 0; a heredoc without its end is warned of.
    let told = String::from_utf8_lossy(&out.stderr);
    out.status.success()
        && told
            .lines()
            .all(|line| line.contains("warning: here-document"))
}

fn excused(line: &str) -> bool {
    let found = accesses(line, &Scene::default());
    UNSEEN.iter().any(|(text, _)| line.contains(text))
        || found.iter().any(|access| match &access.kind {
            Kind::Opaque(why) => STRICTER.iter().any(|(flaw, _)| flaw == why),
            _ => false,
        })
}

#[test]
fn what_bash_does_not_take_and_is_taken_here() {
    if !has_bash() {
        return;
    }
    for (line, why) in LOOSER {
        assert!(!bash_takes(line) && outline(line).valid, "{line}: {why}");
    }
}

#[test]
fn bash_and_this_parser_take_the_same() {
    if !has_bash() {
        return;
    }
    let by = By::hand(SEED);
    let written = written();
    let mut generated = Lines::new(by.seed);
    let mut rng = Rng(by.seed);
    let (mut seen, mut refused, mut wrong) = (0, 0, Vec::new());
    let (mut stricter, mut looser) = (0, 0);
    while by.more(seen, LINES) {
        let mut line = match rng.percent(50) {
            true => generated.line(),
            false => rng.pick(&written).clone(),
        };
        for _ in 0..rng.below(3) {
            line = changed(&line, &mut rng);
        }
        if line.contains('\0') {
            continue;
        }
        seen += 1;
        let (theirs, ours) = (bash_takes(&line), outline(&line).valid);
        refused += usize::from(!theirs);
        if theirs == ours {
            continue;
        }
        if ours {
            looser += 1;
            if by.hand {
                println!("bash does not take {line:?}");
            }
            continue;
        }
        stricter += 1;
        if !excused(&line) {
            let found = format!("only bash takes {line:?}");
            if by.hand {
                println!("{found}");
            }
            wrong.push(found);
        }
    }
    println!(
        "seed {}: {seen} lines, {refused} refused by bash, {stricter} stricter, {looser} looser",
        by.seed
    );
    assert!(
        wrong.is_empty(),
        "seed {}: {} of {seen}:\n{}",
        by.seed,
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        refused * 10 > seen && refused * 10 < seen * 9,
        "{refused} of {seen} refused"
    );
    assert!(
        looser * 20 < seen,
        "{looser} of {seen} are taken that bash does not take"
    );
}
