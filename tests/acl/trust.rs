//! What is trusted: the texts that a policy is made of, under the name that they were found by; and that one which is
//! gone is missed.

use crate::disk::fed;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LOOSE: &str = "version = 1\n[tiers]\nallow = [\"bash\"]\n";

/// A home and a project, with these files in it.
fn scratch(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let top = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("trust")
        .join(name);
    let _ = fs::remove_dir_all(&top);
    fs::create_dir_all(top.join("home")).unwrap();
    fs::create_dir_all(top.join("project")).unwrap();
    for (name, text) in files {
        put(&top, name, text);
    }
    fs::canonicalize(&top).unwrap()
}

fn put(top: &Path, name: &str, text: &str) {
    let file = top.join("project").join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn acl(top: &Path, folder: &str, line: &str, stdin: &str) -> String {
    let mut acl = Command::new(env!("CARGO_BIN_EXE_acl"));
    acl.args(line.split_whitespace())
        .current_dir(top.join(folder))
        .env_clear()
        .env("HOME", top.join("home"));
    let output = fed(&mut acl, stdin);
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// What a hook says of a harmless line.
fn hook(top: &Path, folder: &str) -> String {
    let cwd = top.join(folder);
    let call = format!(
        r#"{{"session_id":"s","transcript_path":"/t","cwd":{cwd:?},"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"git status"}},"tool_use_id":"u"}}"#
    );
    acl(top, folder, "hook claude-code", &call)
}

fn says(told: &str, what: &str) {
    assert!(told.contains(what), "`{what}` is not in: {told}");
}

const ALLOWS: &str = r#""permissionDecision":"allow""#;
const ASKS: &str = r#""permissionDecision":"ask""#;
const DENIES: &str = r#""permissionDecision":"deny""#;

#[test]
fn what_it_extends_is_a_part_of_it() {
    let root = "version = 1\nextends = [\"base.toml\"]\n";
    let base = "version = 1\nextends = [\"sub/more.toml\"]\n";
    let files = [
        ("acl.toml", root),
        ("base.toml", base),
        ("sub/more.toml", LOOSE),
    ];
    let top = scratch("extends", &files);
    let told = acl(&top, "project", "trust .", "");
    says(&told, "extends sub/more.toml");
    says(&told, "now counts: tiers.allow[0] (sub/more.toml:3)");
    says(&hook(&top, "project"), ALLOWS);
    says(&acl(&top, "project", "where", ""), "trusted as it stands");
    // One further down, and one in between.
    for (name, text) in &files[1..] {
        put(&top, name, &format!("{text}\n# another"));
        says(&hook(&top, "project"), ASKS);
        says(
            &acl(&top, "project", "where", ""),
            "CHANGED since it was trusted",
        );
        put(&top, name, text);
        says(&hook(&top, "project"), ALLOWS);
    }
}

#[test]
fn a_file_named_like_a_shipped_policy_is_none() {
    let root = "version = 1\nextends = [\"./acl:base.toml\"]\n";
    let top = scratch("named", &[("acl.toml", root), ("acl:base.toml", LOOSE)]);
    acl(&top, "project", "trust .", "");
    says(&hook(&top, "project"), ALLOWS);
    put(&top, "acl:base.toml", &format!("{LOOSE}# another"));
    says(&hook(&top, "project"), ASKS);
}

#[test]
fn before_it_is_trusted_all_its_files_tighten() {
    let root = "version = 1\nextends = [\"base.toml\"]\ndisable = [\"no\"]\n";
    let base = "version = 1\n[tiers]\nallow = [\"bash\"]\n[[commands.deny]]\nid = \"no\"\nmatch = \"git status\"\nreason = \"told so\"\n";
    let top = scratch("tightens", &[("acl.toml", root), ("base.toml", base)]);
    says(&hook(&top, "project"), DENIES);
    let told = acl(&top, "project", "where", "");
    says(
        &told,
        "extends base.toml, of which only what tightens counts",
    );
    says(&told, "ignored: disable (line 3)");
    says(&told, "ignored: tiers.allow[0] (base.toml:3)");
    acl(&top, "project", "trust .", "");
    says(&hook(&top, "project"), ALLOWS);
}

#[cfg(unix)]
#[test]
fn a_link_brings_no_trust_along() {
    use std::os::unix::fs::symlink;
    let top = scratch("link", &[("acl.toml", LOOSE), (".acl/policy.toml", LOOSE)]);
    acl(&top, "project", "trust .", "");
    says(&hook(&top, "project"), ALLOWS);
    for (clone, link) in [("one", "acl.toml"), ("two", ".acl")] {
        fs::create_dir(top.join(clone)).unwrap();
        symlink(top.join("project").join(link), top.join(clone).join(link)).unwrap();
        says(&hook(&top, clone), ASKS);
        says(&acl(&top, clone, "where", ""), "not trusted");
        acl(&top, clone, "trust .", "");
        says(&hook(&top, clone), ALLOWS);
    }
    // A folder that is reached through a link is the folder itself.
    symlink(top.join("project"), top.join("three")).unwrap();
    says(&hook(&top, "three"), ALLOWS);
}

#[cfg(unix)]
#[test]
fn one_that_is_gone_is_missed() {
    use std::os::unix::fs::symlink;
    let top = scratch("gone", &[("acl.toml", LOOSE)]);
    let own = top.join("home/.config/acl");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("policy.toml"), LOOSE).unwrap();
    acl(&top, "project", "trust .", "");
    says(&hook(&top, "project"), ALLOWS);
    let file = top.join("project/acl.toml");
    fs::remove_file(&file).unwrap();
    says(&hook(&top, "project"), ASKS);
    says(&hook(&top, "project"), "was trusted, and is not in force");
    says(
        &acl(&top, "project", "where", ""),
        "was trusted, and is not in force",
    );
    // What stands in its place is not passed over.
    for stands in ["/dev/zero", "/", "/nowhere"] {
        symlink(stands, &file).unwrap();
        says(&hook(&top, "project"), DENIES);
        fs::remove_file(&file).unwrap();
    }
    fs::create_dir(&file).unwrap();
    says(&hook(&top, "project"), DENIES);
    fs::remove_dir(&file).unwrap();
    says(&acl(&top, "project", "untrust", ""), "no longer trusted");
    says(&hook(&top, "project"), ALLOWS);
    // One that takes its place under another name.
    put(&top, ".acl/policy.toml", LOOSE);
    acl(&top, "project", "trust", "");
    put(&top, "acl.toml", "version = 1\n");
    says(&hook(&top, "project"), ASKS);
    acl(&top, "project", "trust", "");
    says(&hook(&top, "project"), ALLOWS);
}

#[test]
fn nothing_in_an_answer_hides_or_reorders_text() {
    let top = scratch(
        "texts",
        &[("acl.toml", "version = 1\n[tiers]\nask = [\"bash\"]\n")],
    );
    for (tool, command) in [
        ("Bash", "ls \\u001b[2K\\u202e\\u200b"),
        ("B\\u001b\\u202eash", "ls"),
    ] {
        let call = format!(
            r#"{{"session_id":"s","cwd":"/","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{{"command":"{command}"}}}}"#
        );
        let told = acl(&top, "project", "hook claude-code", &call);
        let json: serde_json::Value = serde_json::from_str(&told).unwrap();
        let text = json.to_string();
        let text: serde_json::Value = serde_json::from_str(&text).unwrap();
        let reason = text["hookSpecificOutput"]["permissionDecisionReason"]
            .as_str()
            .unwrap();
        assert!(
            !reason.contains(['\u{1b}', '\u{202e}', '\u{200b}']),
            "{reason:?}"
        );
        assert!(reason.contains('\u{fffd}'), "{reason:?}");
    }
}

#[test]
fn a_grant_is_named() {
    let top = scratch(
        "granted",
        &[("acl.toml", "version = 1\n[tiers]\nask = [\"bash\"]\n")],
    );
    acl(&top, "project", "grant tool:bash", "");
    let call = r#"{"session_id":"s","cwd":"/","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git status"}}"#;
    let told = acl(&top, "project", "hook claude-code --audit default", call);
    says(&told, ALLOWS);
    says(&told, "(grant of `tool:bash`)");
    says(
        &acl(&top, "project", "log --rule tool:bash", ""),
        "git status",
    );
    says(&acl(&top, "project", "grants", ""), "until revoked");
    says(
        &acl(&top, "project", "grants --session=", ""),
        "a value is required",
    );
}

#[test]
fn the_log_is_the_one_that_the_policy_states() {
    let policy = "version = 1\n[tiers]\nallow = [\"bash\"]\n[audit]\nfile = \"own.jsonl\"\nmask = [\"PIN\", \"acme_*\"]\n";
    let top = scratch("logged", &[("acl.toml", policy)]);
    acl(&top, "project", "trust", "");
    let call = |line: &str| format!(r#"{{"id":"1","tool":"bash","args":{{"command":"{line}"}}}}"#);
    acl(
        &top,
        "project",
        "decide",
        &call("PIN=1234 ls acme_1 other_1"),
    );
    acl(
        &top,
        "project",
        "decide --audit default",
        &call("id; PIN=1234 ls"),
    );
    acl(
        &top,
        "project",
        "decide --audit ../home/other.jsonl",
        &call("pwd; PIN=1234 ls"),
    );
    let told = acl(&top, "project", "log", "");
    says(&told, "PIN=*** ls *** other_1");
    // The usual log is the one that the policy states.
    says(&told, "id; PIN=*** ls");
    assert!(!told.contains("pwd"), "{told}");
    // What the policy masks is masked wherever it is logged.
    says(&acl(&top, "home", "log other.jsonl", ""), "pwd; PIN=*** ls");
}

#[test]
fn one_that_changed_since_it_was_trusted_is_told() {
    let top = scratch("changed", &[("acl.toml", LOOSE)]);
    let before = hook(&top, "project");
    acl(&top, "project", "trust", "");
    says(&hook(&top, "project"), ALLOWS);
    put(&top, "acl.toml", &LOOSE.replace("bash", "ba*"));
    let told = hook(&top, "project");
    says(&told, ASKS);
    says(&told, "acl.toml changed since it was trusted");
    assert!(!before.contains("changed since"), "{before}");
    let call = r#"explain --tool bash --args {"command":"ls"}"#;
    for line in ["where", call] {
        let told = acl(&top, "project", line, "").to_lowercase();
        says(&told, "changed since it was trusted");
    }
    // What it allows, and what it denied, is not what was looked at.
    put(&top, "acl.toml", "version = 1\n");
    fs::create_dir_all(top.join("home/.config/acl")).unwrap();
    fs::write(top.join("home/.config/acl/policy.toml"), LOOSE).unwrap();
    let told = hook(&top, "project");
    says(&told, ASKS);
    says(&told, "acl.toml changed since it was trusted");
}

/// A policy that came with a folder takes none away that a person trusts.
#[test]
fn one_that_stands_in_front_of_a_trusted_one_is_told() {
    let own = "version = 1\n[commands]\ndeny = [\"deploy\"]\n";
    let files = [("acl.toml", own), ("vendor/lib/acl.toml", LOOSE)];
    let top = scratch("front", &files);
    acl(&top, "project", "trust", "");
    let lib = "project/vendor/lib";
    let told = hook(&top, lib);
    says(&told, ASKS);
    let told = acl(&top, lib, "where", "");
    says(&told, "stands in front of the policy");
    acl(&top, lib, "trust", "");
    says(&hook(&top, lib), ALLOWS);
    assert!(!acl(&top, lib, "where", "").contains("stands in front"));
    // The other stays trusted.
    says(&acl(&top, "project", "where", ""), "trusted as it stands");
}

/// A log is written to logs.
#[test]
fn no_other_file_is_taken_for_a_log() {
    let top = scratch("no-log", &[("acl.toml", LOOSE), ("notes.txt", "# notes\n")]);
    acl(&top, "project", "trust", "");
    let call = r#"{"id":"1","tool":"bash","args":{"command":"ls"}}"#;
    let told = acl(
        &top,
        "project",
        "decide --audit notes.txt --audit-size 1 --audit-keep 0",
        call,
    );
    says(&told, "it is a file of another kind");
    says(&told, r#""action":"allow""#);
    assert_eq!(
        fs::read_to_string(top.join("project/notes.txt")).unwrap(),
        "# notes\n"
    );
    for (name, why) in [
        ("trust.json", "acl keeps something else"),
        ("read/x", "acl keeps something else"),
        ("../x", "leads out"),
        ("logs/", "is a folder"),
    ] {
        put(
            &top,
            "acl.toml",
            &format!("{LOOSE}[audit]\nfile = \"{name}\"\n"),
        );
        says(&acl(&top, "project", "check acl.toml", ""), why);
    }
}

/// A held lock is told, and not waited for without end.
#[cfg(unix)]
#[test]
fn a_lock_that_is_held_is_told() {
    let top = scratch("held", &[("acl.toml", LOOSE)]);
    acl(&top, "project", "trust", "");
    let lock = top.join("home/.local/state/acl/lock");
    let mut holder = match Command::new("flock")
        .arg(&lock)
        .args(["sleep", "30"])
        .spawn()
    {
        Ok(holder) => holder,
        Err(_) => return,
    };
    std::thread::sleep(std::time::Duration::from_millis(500));
    let started = std::time::Instant::now();
    let told = acl(&top, "project", "grant tool:bash", "");
    says(&told, "another process holds the lock");
    assert!(started.elapsed().as_secs() < 10);
    holder.kill().unwrap();
    holder.wait().unwrap();
}
