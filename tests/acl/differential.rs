//! What is a shell text at all, by `bash -n`, for lines of the tables, generated ones, and both with a part changed;
//! and which commands stand in it, by another parser.
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
use shuck_parser::parser::Parser;
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
            Kind::Opaque(own) => STRICTER.iter().any(|(flaw, _)| **flaw == own.why),
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

/// The programs in a line as shuck-parser reads it, as written; none where it gives up.
///
/// Its tree has a type for everything and no walk over them all: they are found in the tree's printed form.
fn by_shuck(line: &str) -> Option<Vec<String>> {
    let parsed = Parser::new(line).parse();
    if !parsed.is_ok() {
        return None;
    }
    let tree = format!("{:?}", parsed.file);
    let mut found = Vec::new();
    for name in ["break", "continue", "return", "exit"] {
        let kind = format!("{}{}Command {{", name[..1].to_uppercase(), &name[1..]);
        found.extend(tree.matches(&kind).map(|_| name.to_owned()));
    }
    let after = |start: &'static str| {
        tree.match_indices(start)
            .map(move |(at, _)| at + start.len())
    };
    for at in after("DeclClause { variant: Name(\"") {
        found.extend(tree[at..].split('"').next().map(str::to_owned));
    }
    for at in after("SimpleCommand { name: Word { parts: [") {
        let span = &tree[at + closing(&tree[at..])..];
        let offsets: Vec<usize> = span
            .split("offset: ")
            .skip(1)
            .take(2)
            .map(|number| number.split(' ').next().unwrap().parse().unwrap())
            .collect();
        // Assignments by themselves have an empty name.
        let written = line.get(offsets[0]..offsets[1]).unwrap_or_default();
        found.extend((!written.is_empty()).then(|| written.replace("\\\n", "")));
    }
    // What stands in a subscript or in arithmetic is in its tree twice.
    found.sort();
    found.dedup();
    Some(found)
}

/// Where the bracket is closed that was opened before a printed text.
fn closing(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (1, false, false);
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Where shuck-parser finds what is no command, and why.
const APART: &[(&str, &str)] = &[
    (
        "alias",
        "it expands them, and panics where one is long or not ASCII",
    ),
    ("`", "it does not take away what is escaped in backquotes"),
    ("((", "it takes two subshells for arithmetic"),
    (
        "time ",
        "after a `|`, or before an option it does not have, `time` is a program to bash",
    ),
    (
        "=<(",
        "it takes an assigned process substitution for a program",
    ),
    ("! !", "it takes the second `!` for a program"),
    ("<<'", "it does not always see where a heredoc ends"),
    ("E F", "the same"),
    ("A=(", "it reads some quotes of arrays otherwise"),
];

#[test]
fn another_parser_finds_no_other_command() {
    let by = By::hand(SEED);
    let written = written();
    let mut generated = Lines::new(by.seed);
    let mut rng = Rng(by.seed);
    let (mut seen, mut compared, mut less, mut wrong) = (0, 0, 0, Vec::new());
    while by.more(seen, LINES) {
        let line = match rng.percent(70) {
            true => generated.line(),
            false => rng.pick(&written).clone(),
        };
        seen += 1;
        let ours = outline(&line);
        if !ours.valid || APART.iter().any(|(text, _)| line.contains(text)) {
            continue;
        }
        let Some(theirs) = by_shuck(&line) else {
            continue;
        };
        compared += 1;
        // It may find less: what stands in `"${x:-'$(a)'}"`, behind an alias, in `$(function f (a))`.
        less += usize::from(ours.commands.iter().any(|own| !theirs.contains(own)));
        if theirs.iter().any(|own| !ours.commands.contains(own)) {
            wrong.push(format!("{line:?}\n    {:?}\n    {theirs:?}", ours.commands));
        }
    }
    println!(
        "seed {}: {seen} lines, {compared} compared, {less} where it finds less",
        by.seed
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        compared * 3 > seen && less * 20 < compared,
        "{less} of {compared} of {seen}"
    );
}
