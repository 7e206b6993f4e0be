//! Agents' hooks as data: `tests/agents/⟨agent⟩/⟨folder⟩/⟨name⟩.json` is what that agent writes to its hook, `⟨name⟩.txt`
//! what `acl hook` gives back. `UPDATE=1` writes the answers.
//!
//! `options.txt` beside them holds options, in place of `--policy standard.toml --files none`; policies lie there too. The
//! home is `/home/user`, and the folder that the agent works in `/home/user/project`, whether or not they are there.

use crate::disk::fed;
use crate::generated::at;
use acl::agents::{Agent, Heard, Reply};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders that every agent has, and what it may hear there.
const FOLDERS: [(&str, &[Heard]); 5] = [
    ("allow", &[Heard::Runs, Heard::Own]),
    ("ask", &[Heard::Asks, Heard::Own, Heard::Stops]),
    ("deny", &[Heard::Stops]),
    ("malformed", &[Heard::Stops]),
    ("policy-error", &[Heard::Stops]),
];

#[test]
fn what_they_write_and_what_they_hear() {
    // Most of the time goes into starting processes.
    let running: Vec<_> = Agent::all()
        .map(|agent| std::thread::spawn(move || of(agent)))
        .collect();
    let told = running.into_iter().map(|own| own.join().unwrap());
    let mut wrong: Vec<String> = told.flatten().collect();
    let tops = Agent::all().map(|agent| at("tests/agents").join(agent.terms().name));
    let seen: BTreeSet<PathBuf> = tops.chain([at("tests/agents/standard.toml")]).collect();
    for other in entries(&at("tests/agents")) {
        if !seen.contains(&other) {
            wrong.push(format!("{} is no agent's", other.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with an agent's cases.
fn of(agent: Agent) -> Vec<String> {
    let mut wrong = Vec::new();
    let top = at("tests/agents").join(agent.terms().name);
    let folders = entries(&top);
    for (name, _) in FOLDERS {
        if !folders.contains(&top.join(name)) {
            wrong.push(format!("{} has no folder `{name}`", top.display()));
        }
    }
    for folder in folders {
        cases(agent, &folder, &mut wrong);
    }
    wrong
}

fn cases(agent: Agent, folder: &Path, wrong: &mut Vec<String>) {
    let scratch = scratch(agent, folder);
    let mut inputs = 0;
    for file in entries(folder) {
        let shown = file.display();
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("json") => {
                inputs += 1;
                case(agent, &file, &scratch, wrong);
            }
            Some("txt") if file.ends_with("options.txt") => {}
            Some("txt") if file.with_extension("json").exists() => {}
            Some("toml") => {}
            _ => wrong.push(format!("{shown} belongs to no input")),
        }
    }
    if inputs == 0 {
        wrong.push(format!("{} holds no input", folder.display()));
    }
}

fn case(agent: Agent, file: &Path, scratch: &Path, wrong: &mut Vec<String>) {
    let input = std::fs::read(file).unwrap();
    let options = file.with_file_name("options.txt");
    let options = match options.exists() {
        true => std::fs::read_to_string(options).unwrap(),
        false => "--policy standard.toml --files none".to_owned(),
    };
    let mut command = hook(agent, scratch);
    command.args(options.split_whitespace());
    let output = fed(&mut command, &input);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let reply = Reply {
        out: text(output.stdout),
        err: text(output.stderr),
        exit: u8::try_from(output.status.code().unwrap()).unwrap(),
    };
    let shown = file.display();
    let folder = file.parent().unwrap().file_name().unwrap();
    let heard = agent.hears(&reply);
    let may = FOLDERS.iter().find(|(name, _)| folder == *name);
    if may.is_some_and(|(_, may)| !may.contains(&heard)) {
        wrong.push(format!("{shown}: {heard:?}"));
    }
    let silent = reply.out.trim().is_empty() && reply.err.trim().is_empty();
    if silent || ![0, 2].contains(&reply.exit) || (reply.exit == 2) == reply.err.is_empty() {
        wrong.push(format!("{shown}: no such answer: {reply:?}"));
    }
    let mut told = format!("exit {}\n", reply.exit);
    for (name, text) in [("stdout", &reply.out), ("stderr", &reply.err)] {
        if !text.is_empty() {
            let text = text.replace(&*scratch.to_string_lossy(), "/home/user/project");
            let text = unnumbered(&text);
            writeln!(told, "--- {name}\n{}", text.trim_end()).unwrap();
        }
    }
    let answer = file.with_extension("txt");
    if std::env::var_os("UPDATE").is_some_and(|update| update == "1") {
        std::fs::write(&answer, &told).unwrap();
    }
    match std::fs::read_to_string(&answer) {
        Ok(want) if want == told => {}
        Ok(want) => wrong.push(format!("{shown} gives\n{told}and should give\n{want}")),
        Err(why) => wrong.push(format!("{}: {why}", answer.display())),
    }
}

/// Without the lines of shipped policies: where a rule stands there is no matter of the agents.
fn unnumbered(text: &str) -> String {
    let mut parts = text.split("acl:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.len()
            - part
                .trim_start_matches(|c: char| c.is_ascii_lowercase())
                .len();
        let (name, rest) = part.split_at(name);
        let plain = rest.strip_prefix(':').filter(|_| !name.is_empty());
        let number = plain.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        match number.filter(|after| Some(*after) != plain) {
            Some(after) => out += &format!("acl:{name}:LINE{after}"),
            None => out += &format!("acl:{part}"),
        }
    }
    out
}

/// The hook of an agent, with nothing of this machine's settings.
fn hook(agent: Agent, folder: &Path) -> Command {
    let mut acl = Command::new(env!("CARGO_BIN_EXE_acl"));
    acl.args(["hook", agent.terms().name])
        .current_dir(folder)
        .env_clear()
        .env("HOME", "/home/user")
        .env("PATH", "/usr/bin:/bin");
    acl
}

/// A fresh folder with the policies of a folder of cases.
fn scratch(agent: Agent, folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap();
    let top = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("agents")
        .join(agent.terms().name)
        .join(name);
    let _ = std::fs::remove_dir_all(&top);
    std::fs::create_dir_all(&top).unwrap();
    let own = entries(folder);
    for file in own.iter().chain([&at("tests/agents/standard.toml")]) {
        if file.extension().is_some_and(|ending| ending == "toml") {
            std::fs::copy(file, top.join(file.file_name().unwrap())).unwrap();
        }
    }
    top
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn a_refusal_is_one_to_every_agent() {
    for agent in Agent::all() {
        let events = agent.terms().events.1.iter().copied().map(Some);
        for event in events.chain([None]) {
            let reply = agent.refuse(event, "it is a test");
            assert_eq!(agent.hears(&reply), Heard::Stops, "{agent:?} {event:?}");
        }
        for sample in agent.terms().samples {
            // Whatever part of its input arrives, and whatever byte of it is another.
            for end in 0..sample.text.len() {
                let part = &sample.text.as_bytes()[..end];
                let unread = agent.read(part).expect_err("a part is no input");
                let reply = agent.refuse(unread.event, &unread.why);
                assert_eq!(agent.hears(&reply), Heard::Stops);
            }
        }
    }
}

#[test]
fn they_test_themselves() {
    for agent in Agent::all() {
        let scratch = scratch(agent, Path::new("selftest"));
        for options in [&["--policy", "acl:recommended"][..], &["--interactive"]] {
            let output = hook(agent, &scratch)
                .arg("--selftest")
                .args(options)
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{agent:?}: {told}");
            assert!(!told.contains("WRONG"), "{told}");
        }
        let broken = hook(agent, &scratch)
            .args(["--selftest", "--policy", "gone.toml"])
            .output()
            .unwrap();
        assert_eq!(broken.status.code(), Some(1), "{agent:?}");
    }
}

#[test]
fn what_cannot_be_taken_in_or_given_back_is_refused() {
    let agent = Agent::ClaudeCode;
    let scratch = scratch(agent, Path::new("streams"));
    let large = "x".repeat(33 << 20);
    let mut command = hook(agent, &scratch);
    let output = fed(&mut command, &large);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("larger than 32 MiB"));
    // The input of a usage error is taken in, so that the agent can write all of it.
    let mut command = hook(agent, &scratch);
    let output = fed(command.arg("--bogus"), &large);
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.is_empty());
    #[cfg(target_os = "linux")]
    for out in ["/dev/full", "&-"] {
        let acl = env!("CARGO_BIN_EXE_acl");
        let output = Command::new("sh")
            .args(["-c", &format!("echo '{{}}' | {acl} hook copilot >{out}")])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{out}");
        assert!(!output.stderr.is_empty(), "{out}");
    }
}

#[test]
fn the_policy_is_that_of_the_agents_project() {
    let top = scratch(Agent::Codex, Path::new("project"));
    let (project, other) = (top.join("project"), top.join("other"));
    for (folder, program) in [(&project, "ls"), (&other, "cat")] {
        std::fs::create_dir_all(folder).unwrap();
        let policy = format!("version = 1\n[commands]\ndeny = [\"{program}\"]\n");
        std::fs::write(folder.join("acl.toml"), policy).unwrap();
    }
    // The model chooses the folder of its call, and may have put a policy there.
    let input = |event: &str, rest: &str| {
        let cwd = other.display();
        format!(r#"{{"{event}","cwd":"{cwd}","tool_input":{{"command":"ls"}}{rest}}}"#)
    };
    let usual = |name: &str| {
        input(
            &format!(r#"hook_event_name":"{name}","tool_name":"Bash"#),
            "",
        )
    };
    let asked = [
        (Agent::Codex, &project, None, usual("PreToolUse")),
        (Agent::ClaudeCode, &project, None, usual("PreToolUse")),
        (
            Agent::ClaudeCode,
            &other,
            Some("CLAUDE_PROJECT_DIR"),
            usual("PreToolUse"),
        ),
    ];
    for (agent, folder, variable, input) in asked {
        let mut command = hook(agent, folder);
        if let Some(variable) = variable {
            command.env(variable, &project);
        }
        let told = fed(&mut command, &input).stdout;
        let told = String::from_utf8(told).unwrap();
        assert!(
            told.contains("deny") && told.contains("commands.deny[0]"),
            "{agent:?}: {told}"
        );
    }
}
