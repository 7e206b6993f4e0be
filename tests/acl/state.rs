//! What is kept between calls, with many processes at once, with what a killed one leaves, and with files of somebody else.

use crate::disk::fed;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const CALL: &str =
    r#"{"id":"ID","tool":"bash","args":{"command":"git push --token abc"},"session":"s1"}"#;

fn scratch(name: &str) -> PathBuf {
    let top = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("state")
        .join(name);
    let _ = fs::remove_dir_all(&top);
    fs::create_dir_all(&top).unwrap();
    fs::write(
        top.join("acl.toml"),
        "version = 1\ntiers = { ask = [\"bash\"] }\n",
    )
    .unwrap();
    top
}

fn acl(top: &Path, line: &str) -> Command {
    let mut acl = Command::new(env!("CARGO_BIN_EXE_acl"));
    acl.args(line.split_whitespace())
        .current_dir(top)
        .env_clear()
        .env("HOME", top);
    acl
}

/// stdout, and all of stderr.
fn said(top: &Path, line: &str, stdin: &str) -> (String, String) {
    let output = fed(&mut acl(top, line), stdin);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

fn ids(text: &str) -> Vec<String> {
    let entry = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let id = |line| entry(line)["id"].as_str().unwrap().to_owned();
    text.lines().map(id).collect()
}

#[test]
fn two_hundred_processes_lose_nothing() {
    let top = scratch("many");
    let decide = "decide --policy acl.toml --files none --state state --audit log.jsonl --audit-size 8K --audit-keep 100";
    let mut running: Vec<Child> = Vec::new();
    for number in 0..200 {
        let child = match number % 4 {
            0 => acl(&top, &format!("grant tool:t{number} --state state"))
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn(),
            _ => {
                let call = CALL.replace("ID", &number.to_string());
                fs::write(top.join(format!("{number}.json")), call).unwrap();
                let stdin = fs::File::open(top.join(format!("{number}.json"))).unwrap();
                acl(&top, decide)
                    .stdin(stdin)
                    .stdout(Stdio::null())
                    .stderr(Stdio::piped())
                    .spawn()
            }
        };
        running.push(child.unwrap());
    }
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
    assert!(top.join("log.jsonl.2").exists(), "it was turned away");
    let (log, told) = said(&top, "log log.jsonl --format json", "");
    let logged: BTreeSet<String> = ids(&log).into_iter().collect();
    assert_eq!(
        (log.lines().count(), logged.len(), told.as_str()),
        (150, 150, "")
    );
    let (grants, _) = said(&top, "grants --state state --format json", "");
    let grants: Vec<acl::call::Grant> = serde_json::from_str(&grants).unwrap();
    assert_eq!(grants.len(), 50);
}

#[test]
fn what_a_killed_process_leaves() {
    let top = scratch("killed");
    let decide = |id: &str, options: &str| {
        let line = format!("decide --policy acl.toml --files none --audit log.jsonl {options}");
        said(&top, &line, &CALL.replace("ID", id))
    };
    decide("1", "");
    let half = "{\"version\":1,\"time\":17";
    let log = fs::read_to_string(top.join("log.jsonl")).unwrap();
    fs::write(top.join("log.jsonl"), format!("{log}{half}")).unwrap();
    decide("2", "");
    let (log, told) = said(&top, "log log.jsonl --format json", "");
    assert_eq!(ids(&log), ["1", "2"]);
    assert!(
        !log.contains("token abc") && log.contains("--token ***"),
        "{log}"
    );
    assert!(
        told.contains("log.jsonl:2: this line is no entry"),
        "{told}"
    );
    // Grants: a file that was being written, and a lock that nobody holds.
    fs::create_dir(top.join("state")).unwrap();
    fs::write(top.join("state/grants.json.new"), half).unwrap();
    fs::write(top.join("state/lock"), "").unwrap();
    said(&top, "grant tool:bash --state state", "");
    let (record, told) = decide("3", "--state state");
    assert!(
        record.contains(r#""action":"allow""#) && told.is_empty(),
        "{record}{told}"
    );
    // Of three logs that may be kept, the oldest goes.
    for id in ["4", "5", "6", "7"] {
        decide(id, "--audit-size 1 --audit-keep 2");
    }
    let (log, _) = said(&top, "log log.jsonl --format json", "");
    assert_eq!(ids(&log), ["5", "6", "7"]);
}

#[test]
fn what_cannot_be_logged_changes_no_decision() {
    let top = scratch("unlogged");
    fs::create_dir(top.join("folder")).unwrap();
    for place in ["folder", "missing/log.jsonl"] {
        let line = format!("decide --policy acl.toml --files none --audit {place}");
        let (records, told) = said(&top, &line, &format!("{CALL}\n{CALL}"));
        assert_eq!(
            records.matches(r#""action":"ask","basis""#).count(),
            2,
            "{records}"
        );
        assert_eq!(
            told.matches("warning: the decision was not logged").count(),
            1,
            "{told}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_state_that_others_could_have_written_says_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let top = scratch("others");
    let mode = |path: &str, mode| {
        fs::set_permissions(top.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let modes = |path: &str| fs::metadata(top.join(path)).unwrap().permissions().mode() & 0o777;
    let decide = || {
        let line = "decide --policy acl.toml --files none --state state";
        said(&top, line, CALL)
    };
    said(&top, "grant tool:bash --state state", "");
    assert_eq!((modes("state"), modes("state/grants.json")), (0o700, 0o600));
    assert!(decide().0.contains(r#""action":"allow""#));
    for (path, loose, strict) in [("state/grants.json", 0o602, 0o644), ("state", 0o770, 0o755)] {
        mode(path, loose);
        let (record, told) = decide();
        assert!(record.contains(r#""action":"ask""#), "{path}: {record}");
        assert!(
            told.contains("others can write to") && told.contains("no grant of it holds"),
            "{told}"
        );
        let (_, told) = said(&top, "grant tool:x --state state", "");
        assert!(told.starts_with("error: others can write to"), "{told}");
        mode(path, strict);
        assert!(decide().0.contains(r#""action":"allow""#), "{path}");
    }
    let grants = top.join("state/grants.json");
    let text = fs::read_to_string(&grants).unwrap();
    for wrong in [
        &text[..text.len() / 2],
        "",
        "{}",
        "{\"version\":2,\"grants\":[]}",
    ] {
        fs::write(&grants, wrong).unwrap();
        let (record, told) = decide();
        assert!(record.contains(r#""action":"ask""#), "{record}");
        assert!(told.contains("no grant of it holds"), "{told}");
        let (_, told) = said(&top, "grant tool:x --state state", "");
        assert!(
            told.contains("holds no grants"),
            "what is there is not written over: {told}"
        );
        assert_eq!(fs::read_to_string(&grants).unwrap(), wrong);
    }
    fs::remove_file(&grants).unwrap();
    fs::create_dir(&grants).unwrap();
    let (record, told) = decide();
    assert!(
        record.contains(r#""action":"ask""#) && told.contains("is no file"),
        "{record}{told}"
    );
}

#[cfg(unix)]
#[test]
fn a_trust_that_others_could_have_written_trusts_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let top = scratch("trust");
    fs::write(
        top.join("acl.toml"),
        "version = 1\ncommands = { allow = [\"ls\"] }\n",
    )
    .unwrap();
    let decide = || {
        let call = r#"{"tool":"bash","args":{"command":"ls"}}"#;
        said(&top, "decide --files none", call)
    };
    assert!(decide().0.contains(r#""action":"ask""#));
    said(&top, "trust", "");
    assert!(decide().0.contains(r#""action":"allow""#));
    let file = top.join(".local/state/acl/trust.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let (record, told) = decide();
    assert!(record.contains(r#""action":"ask""#), "{record}");
    assert!(told.contains("no repository's policy is trusted"), "{told}");
}
