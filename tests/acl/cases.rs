//! Every case file of the repository holds, none is forgotten, and `acl test` tells what does not hold.

use crate::disk::{self, fed};
use acl::cases::{self, Case, Under};
use acl::decision::record::Record;
use acl::matcher::Matcher;
use acl::source::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};
use std::sync::Arc;

pub fn case_files() -> Vec<String> {
    let mut files = disk::files("policies", |name| name.contains(".cases."));
    files.extend(disk::files("tests/decisions", |name| {
        name.contains(".cases.")
    }));
    files
}

pub fn read(file: &str) -> Vec<Case> {
    let bytes = std::fs::read(file).unwrap();
    let source = Arc::new(Source::new(file, bytes, None).unwrap());
    match cases::read(&source) {
        Ok(cases) => cases.cases,
        Err(findings) => panic!("{}", acl::report::human::findings(&findings, 100, false)),
    }
}

/// The paths of a case's policies.
fn policies(file: &str, under: &Under) -> Vec<String> {
    let place = |name: &String| match name.starts_with("acl:") {
        true => name.clone(),
        false => disk::beside(file, name),
    };
    match under {
        Under::Policy(name) => vec![place(name)],
        Under::Layers(layers) => layers.iter().map(|(_, name)| place(name)).collect(),
    }
}

pub fn matcher(file: &str, under: &Under) -> Matcher {
    let roots = under
        .roots(|name| match name.starts_with("acl:") {
            true => disk::source(name),
            false => disk::source(&disk::beside(file, name)),
        })
        .unwrap();
    match disk::load(roots) {
        Ok(policy) => Matcher::compile(policy),
        Err(findings) => panic!("{}", acl::report::human::findings(&findings, 100, false)),
    }
}

#[test]
fn all_hold() {
    let mut wrong = Vec::new();
    let mut ran = 0;
    for file in case_files() {
        let mut matchers: BTreeMap<Under, Matcher> = BTreeMap::new();
        for case in read(&file) {
            let matcher = matchers
                .entry(case.under.value.clone())
                .or_insert_with(|| matcher(&file, &case.under.value));
            assert_eq!(case.strange(matcher), [], "{file}: {}", case.name);
            let outcome = case.run(matcher);
            ran += 1;
            if !outcome.failures.is_empty() {
                let failures: Vec<String> =
                    outcome.failures.iter().map(ToString::to_string).collect();
                wrong.push(format!(
                    "{file}:{}: {}\n    {}\n    {}",
                    case.line(),
                    case.name,
                    cases::one_line(&case.call),
                    failures.join("\n    ")
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {ran} cases do not hold:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(ran > 1400, "only {ran} cases were run");
}

#[test]
fn none_is_forgotten() {
    let files = case_files();
    let mut named = BTreeSet::new();
    for file in &files {
        for case in read(file) {
            named.extend(policies(file, &case.under.value));
        }
    }
    for policy in disk::files("policies", disk::is_policy) {
        assert!(named.contains(&policy), "{policy} has no cases");
    }
    for policy in disk::files("tests/decisions/policies", disk::is_policy) {
        assert!(named.contains(&policy), "no case names {policy}");
    }
    let data = |name: &str| name.ends_with(".jsonl") || name.contains("cases");
    for data in disk::files("tests/decisions", data) {
        assert!(
            files.contains(&data),
            "{data} is not run: name it *.cases.jsonl"
        );
    }
    for snapshot in disk::files("policies", |name| name.ends_with(".snap")) {
        let file = snapshot.trim_end_matches(".snap").to_owned();
        assert!(files.contains(&file), "{snapshot} has no case file");
    }
}

/// A record without what the spelling of the policy may change: its places.
fn record(case: &Case, matcher: &Matcher) -> serde_json::Value {
    fn without_places(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                for key in ["file", "line", "column"] {
                    map.remove(key);
                }
                map.values_mut().for_each(without_places);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(without_places),
            _ => {}
        }
    }
    let decision = case.run(matcher).decision;
    let mut record = serde_json::to_value(Record::of(matcher, &case.call, &decision)).unwrap();
    without_places(&mut record);
    record
}

#[test]
fn both_spellings_decide_alike() {
    for file in case_files() {
        let mut pairs: BTreeMap<Under, (Matcher, Matcher)> = BTreeMap::new();
        for case in read(&file) {
            let Under::Policy(_) = &case.under.value else {
                continue;
            };
            let (own, other) = pairs.entry(case.under.value.clone()).or_insert_with(|| {
                let path = policies(&file, &case.under.value).remove(0);
                let source = disk::source(&path).unwrap();
                let tree = acl::source::read(&source);
                let to_toml = path.ends_with(".yaml");
                let name = match to_toml {
                    true => path.replace(".yaml", ".toml"),
                    false => path.replace(".toml", ".yaml"),
                };
                let text = disk::spelled(&tree.root, to_toml);
                (
                    matcher(&file, &case.under.value),
                    disk::compile(&name, &text),
                )
            });
            assert_eq!(
                record(&case, own),
                record(&case, other),
                "{file}: {}",
                case.name
            );
        }
    }
}

// --- the command

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn acl(folder: &std::path::Path, ci: &str, args: &[&str], input: &str) -> Output {
    let mut acl = Command::new(env!("CARGO_BIN_EXE_acl"));
    fed(acl.current_dir(folder).env("CI", ci).args(args), input)
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn told_aside(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const POLICY: &str = "version = 1\n[tiers]\nallow = ['read']\nask = ['write']\ndeny = ['fetch']\n";

#[test]
fn what_fails_is_told_and_the_rest_goes_on() {
    let folder = folder("test-fails");
    std::fs::write(folder.join("p.toml"), POLICY).unwrap();
    std::fs::write(
        folder.join("broken.cases.toml"),
        "policy = 'p.toml'\n[[case]]\ntol = 'read'\n",
    )
    .unwrap();
    std::fs::write(
        folder.join("lost.cases.yaml"),
        "policy: gone.toml\ncase:\n- {tool: read, expect: allow}\n",
    )
    .unwrap();
    std::fs::write(
        folder.join("p.cases.toml"),
        "policy = 'p.toml'\n[[case]]\nname = 'good'\ntool = 'read'\nargs = {path = 'a'}\nexpect = 'allow'\n\
         [[case]]\nname = 'bad'\ntool = 'write'\nargs = {path = 'a'}\nexpect = 'deny'\n\
         [[case]]\nname = 'moved'\ntool = 'fetch'\nargs = {url = 'https://a.org'}\nexpect = {action = 'deny', rule = 'x', keys = []}\n",
    )
    .unwrap();
    let output = acl(&folder, "", &["test"], "");
    let both = format!("{}---\n{}", told(&output), told_aside(&output));
    insta::assert_snapshot!("what_fails", both);
    assert_eq!(output.status.code(), Some(2));
    let output = acl(&folder, "", &["test", "p.cases.toml"], "");
    assert_eq!(output.status.code(), Some(1));
    let output = acl(
        &folder,
        "",
        &["test", "p.cases.toml", "--filter", "good"],
        "",
    );
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(told(&output), "1 passed, 0 failed, 2 filtered out\n");
    let output = acl(&folder, "", &["test", "nowhere"], "");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn snapshots_are_proposed_reviewed_and_kept() {
    let folder = folder("test-snapshots");
    let snap = folder.join("p.cases.toml.snap");
    let new = folder.join("p.cases.toml.snap.new");
    let cases = "policy = 'p.toml'\n[[case]]\nname = 'one'\ntool = 'write'\nargs = {path = 'a'}\n\
                 [[case]]\nname = 'two'\ntool = 'read'\nargs = {path = 'a'}\n";
    std::fs::write(folder.join("p.toml"), POLICY).unwrap();
    std::fs::write(folder.join("p.cases.toml"), cases).unwrap();
    let code = |output: &Output| output.status.code();

    // Where nobody watches, what is missing is a failure and nothing is written.
    let output = acl(&folder, "true", &["test"], "");
    assert_eq!(
        (code(&output), new.exists(), snap.exists()),
        (Some(1), false, false)
    );
    assert!(
        told(&output).ends_with("0 passed, 2 failed\n"),
        "{}",
        told(&output)
    );
    // Else it is proposed.
    let output = acl(&folder, "false", &["test"], "");
    assert_eq!(
        (code(&output), new.exists(), snap.exists()),
        (Some(1), true, false)
    );
    let proposal = std::fs::read_to_string(&new).unwrap();
    insta::assert_snapshot!("proposed", proposal);
    // One accepted, one skipped because the answers end.
    let output = acl(&folder, "", &["test", "--review"], "what?\na\n");
    assert_eq!(
        (code(&output), new.exists(), snap.exists()),
        (Some(1), true, true)
    );
    assert!(
        told(&output).ends_with("1 passed, 0 failed, 1 snapshot to review (acl test --review)\n"),
        "{}",
        told(&output)
    );
    let output = acl(&folder, "", &["test", "--accept"], "");
    assert_eq!((code(&output), new.exists()), (Some(0), false));
    assert_eq!(std::fs::read_to_string(&snap).unwrap(), proposal);
    assert_eq!(code(&acl(&folder, "1", &["test"], "")), Some(0));
    // A change is shown; an entry whose case is gone is named, and taken out on request.
    std::fs::write(
        folder.join("p.toml"),
        POLICY.replace("['write']", "['writ*']"),
    )
    .unwrap();
    std::fs::write(
        folder.join("p.toml"),
        POLICY.replace("ask = ['write']", "default = 'deny'"),
    )
    .unwrap();
    std::fs::write(
        folder.join("p.cases.toml"),
        cases.replace("'two'", "'zwei'"),
    )
    .unwrap();
    let output = acl(&folder, "1", &["test"], "");
    let both = format!("{}---\n{}", told(&output), told_aside(&output));
    insta::assert_snapshot!("changed", both);
    assert_eq!(code(&output), Some(1));
    assert_eq!(code(&acl(&folder, "", &["test", "--accept"], "")), Some(0));
    assert!(!std::fs::read_to_string(&snap).unwrap().contains("two"));
}
