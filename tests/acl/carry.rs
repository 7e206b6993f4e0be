//! Rules of agents carried into policies, and policies into rules of agents.
//!
//! `tests/import/⟨agent⟩/` holds settings after public shapes; beside each stands what `acl import` makes of it, report
//! first (`UPDATE=1` writes it). No rule is lost without a line; what is made loads and passes `acl check`. A policy that
//! is exported and imported again decides alike, or more strictly where a report says so.

use crate::cases::{case_files, matcher, read};
use crate::disk;
use acl::agents::Agent;
use acl::agents::carry::{self, Carried, Fidelity, Report, told};
use acl::cases::Under;
use acl::decision::{Basis, decide};
use acl::finding::Severity;
use acl::matcher::Matcher;
use acl::policy::LayerKind;
use acl::source::Source;
use std::collections::BTreeMap;
use std::sync::Arc;

const ENDINGS: &[&str] = &[".json", ".jsonc", ".rules", ".toml"];

fn settings(agent: Agent) -> Vec<String> {
    let folder = format!("tests/import/{}", agent.terms().name);
    disk::files(&folder, |name| {
        ENDINGS.iter().any(|ending| name.ends_with(ending))
    })
}

fn source(name: &str, text: impl Into<Vec<u8>>) -> Arc<Source> {
    Arc::new(Source::new(name, text, None).unwrap())
}

fn import(agent: Agent, source: &Arc<Source>) -> Carried {
    let carried = carry::import(agent, source).expect("an agent with rules");
    carried.unwrap_or_else(|findings| {
        panic!("{}", acl::report::human::findings(&findings, 100, false))
    })
}

/// How many rules a file holds, counted another way.
fn count(agent: Agent, text: &str) -> usize {
    let lines = || text.lines().map(str::trim_start);
    let starts = |starts: &[&str]| {
        lines()
            .filter(|line| starts.iter().any(|start| line.starts_with(start)))
            .count()
    };
    match agent {
        Agent::Codex => starts(&["prefix_rule(", "network_rule(", "host_executable("]),
        Agent::GeminiCli => starts(&["[["]),
        _ => {
            let bare: Vec<&str> = lines().filter(|line| !line.starts_with("//")).collect();
            let bare = bare.join("\n");
            let bare = bare
                .split("/*")
                .map(|part| part.split_once("*/").map_or(part, |(_, rest)| rest))
                .collect::<String>();
            let mut json = String::new();
            for c in bare.chars() {
                if matches!(c, ']' | '}') && json.trim_end().ends_with(',') {
                    json.truncate(json.trim_end().len() - 1);
                }
                json.push(c);
            }
            let value: serde_json::Value = serde_json::from_str(&json).unwrap();
            leaves(agent, &value)
        }
    }
}

fn leaves(agent: Agent, value: &serde_json::Value) -> usize {
    use serde_json::Value::{Array, Object};
    fn all(value: &serde_json::Value) -> usize {
        match value {
            Object(map) => map.values().map(all).sum(),
            _ => 1,
        }
    }
    let Object(map) = value else { return 0 };
    let of = |key: &str| map.get(key);
    match agent {
        Agent::ClaudeCode => of("permissions")
            .and_then(serde_json::Value::as_object)
            .map_or(0, |own| {
                own.iter()
                    .map(|(key, value)| match value {
                        Array(rules) if ["allow", "ask", "deny"].contains(&key.as_str()) => {
                            rules.len()
                        }
                        _ => 1,
                    })
                    .sum()
            }),
        _ => {
            let own = of("permission").map_or(0, all) + of("tools").map_or(0, all);
            let agents = of("agent").and_then(serde_json::Value::as_object);
            own + agents.map_or(0, |agents| {
                agents.values().map(|own| leaves(agent, own)).sum()
            })
        }
    }
}

#[test]
fn no_rule_is_lost() {
    let mut wrong = Vec::new();
    let mut files = 0;
    for agent in carry::agents() {
        let mut dead = 0;
        for file in settings(agent) {
            files += 1;
            let text = std::fs::read_to_string(&file).unwrap();
            let name = file
                .split_once(&format!("{}/", agent.terms().name))
                .map_or(&*file, |(_, name)| name);
            let source = source(name, text.clone());
            let carried = import(agent, &source);
            let lines = &carried.report.lines;
            dead += lines
                .iter()
                .filter(|line| line.fidelity == Fidelity::Dead)
                .count();
            if lines.len() != count(agent, &text) {
                wrong.push(format!(
                    "{file}: {} rules, {} lines",
                    count(agent, &text),
                    lines.len()
                ));
            }
            let silent = lines
                .iter()
                .find(|line| line.fidelity != Fidelity::Full && line.says.is_empty());
            if let Some(line) = silent {
                wrong.push(format!(
                    "{file}:{}: nothing is said of `{}`",
                    line.at, line.rule
                ));
            }
            let told = format!(
                "{}\n--- policy\n{}",
                told::human(&carried.report, 100),
                carried.text
            );
            let policy = self::source("made.toml", carried.text);
            let found = disk::checked(disk::load(vec![disk::root(LayerKind::User, policy)]));
            for finding in found
                .iter()
                .filter(|finding| finding.severity > Severity::Warn)
            {
                wrong.push(format!(
                    "{file}: {}: {}\n{told}",
                    finding.code, finding.message
                ));
            }
            let expected = format!("{file}.txt");
            if std::env::var_os("UPDATE").is_some_and(|update| update == "1") {
                std::fs::write(&expected, &told).unwrap();
            }
            match std::fs::read_to_string(&expected) {
                Ok(want) if want == told => {}
                Ok(want) => wrong.push(format!("{file} gives\n{told}and should give\n{want}")),
                Err(why) => wrong.push(format!("{expected}: {why}")),
            }
        }
        assert!(dead > 0, "{agent:?} has dead rules too");
    }
    assert!(files >= 30, "{files} files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_cannot_be_read_is_told_in_its_place() {
    use Agent::{ClaudeCode, Codex, GeminiCli, Opencode};
    for (agent, text, place, message) in [
        (
            ClaudeCode,
            "{\"permissions\": {\"allow\": [1]}}",
            (1, 28),
            "a rule is text, not a number",
        ),
        (
            ClaudeCode,
            "{\"permissions\": {\"allow\": \"Bash\"}}",
            (1, 27),
            "not a list of rules",
        ),
        (
            ClaudeCode,
            "{\"permissions\": [\n]}",
            (1, 17),
            "not a table",
        ),
        (
            ClaudeCode,
            "{\"permissions\": {\"deny\": [],\n \"deny\": []}}",
            (2, 2),
            "given twice",
        ),
        (
            ClaudeCode,
            "{\"permissions\": {\"allow\": [\"a\" \"b\"]}}",
            (1, 31),
            "comma",
        ),
        (ClaudeCode, "[]", (1, 1), "no JSON object"),
        (Codex, "prefix_rule(pattern=[])", (1, 1), "not empty"),
        (
            Codex,
            "\nprefix_rule(pattern=[\"a\"], decision=\"maybe\")",
            (2, 1),
            "`decision`",
        ),
        (
            Codex,
            "prefix_rule(patern=[\"a\"])",
            (1, 1),
            "no argument `patern`",
        ),
        (Codex, "for x in y:\n  z()", (1, 4), "program"),
        (Codex, "exec_rule(x=1)", (1, 1), "no rule that acl knows"),
        (
            GeminiCli,
            "[[rule]]\ndecision = \"allow\"\n",
            (1, 1),
            "no `priority`",
        ),
        (
            GeminiCli,
            "[[rule]]\npriority = 1000\ndecision = \"deny\"\n",
            (2, 12),
            "0 to 999",
        ),
        (
            GeminiCli,
            "[[rule]]\npriority = 1\ndecision = \"ask\"\n",
            (3, 12),
            "`decision`",
        ),
        (GeminiCli, "[[rule]\n", (1, 8), ""),
        (
            Opencode,
            "{\"permission\": {\"bash\": {\"a\": \"alow\"}}}",
            (1, 31),
            "`alow`",
        ),
        (Opencode, "{\"permission\": 1}", (1, 16), "not a table"),
        (
            Opencode,
            "{\"permission\": {\"edit\": [],}}",
            (1, 25),
            "`edit`",
        ),
    ] {
        let name = if agent == GeminiCli {
            "x.toml"
        } else {
            "x.json"
        };
        let source = source(name, text);
        let findings = carry::import(agent, &source).unwrap().expect_err(text);
        let label = &findings[0].labels[0];
        assert!(
            findings[0].message.contains(message),
            "{text}: {}",
            findings[0].message
        );
        assert_eq!(
            source.line_column(label.span.start),
            place,
            "{text}: {}",
            findings[0].message
        );
    }
}

/// Whether a report excuses that a rule is not as strict any more: it says that the rule, or a part of it, cannot be said.
fn excused(report: &Report, key: &str) -> bool {
    let unsaid = [
        "cannot be said",
        "begins with no word",
        "not for command lines",
    ];
    report.lines.iter().any(|line| {
        line.at == key
            && (line.fidelity == Fidelity::Not || unsaid.iter().any(|own| line.says.contains(own)))
    })
}

#[test]
fn exported_and_imported_again() {
    let mut wrong = Vec::new();
    let mut ran = 0;
    let mut alike = 0;
    for agent in carry::agents() {
        for file in case_files() {
            let mut made: BTreeMap<Under, (Matcher, Matcher, Report, bool)> = BTreeMap::new();
            for case in read(&file) {
                let (old, new, report, full) =
                    made.entry(case.under.value.clone()).or_insert_with(|| {
                        let old = matcher(&file, &case.under.value);
                        let out = carry::export(agent, &old).unwrap();
                        let name = match agent {
                            Agent::GeminiCli => "policy.toml",
                            Agent::Codex => "default.rules",
                            _ => "settings.json",
                        };
                        let back = import(agent, &source(name, out.text));
                        let full = [&out.report, &back.report].iter().all(|report| {
                            report
                                .lines
                                .iter()
                                .all(|line| line.fidelity == Fidelity::Full)
                        });
                        (
                            old,
                            disk::compile("back.toml", &back.text),
                            out.report,
                            full,
                        )
                    });
                let was = case.run(old).decision;
                let is = {
                    let view = case.call.files.clone().map_or(
                        acl::call::files::FileView::None,
                        acl::call::files::FileView::Fixture,
                    );
                    decide(new, &case.call, &view)
                };
                ran += 1;
                alike += usize::from(was.action == is.action);
                let own = report
                    .lines
                    .iter()
                    .any(|line| line.at == format!("tools.{}", case.call.tool));
                let reasons = was
                    .reasons
                    .iter()
                    .filter(|reason| reason.action > is.action);
                let loosened = reasons
                    .filter(|reason| {
                        matches!(
                            reason.kind,
                            Basis::Rule | Basis::Forced | Basis::Tier | Basis::Protected
                        )
                    })
                    .find(|reason| {
                        let key = reason.address.as_deref().unwrap_or(&reason.key);
                        !own && !excused(report, key) && !excused(report, &reason.key)
                    });
                // A mode turns an ask into a deny in both, and what is granted is no rule.
                if let Some(reason) = loosened.filter(|_| is.action < was.action) {
                    wrong.push(format!(
                        "{agent:?} {file}:{} {}: was {}, is {} ({:?} {})",
                        case.line(),
                        acl::cases::one_line(&case.call),
                        was.action,
                        is.action,
                        reason.kind,
                        reason.address.as_deref().unwrap_or(&reason.key)
                    ));
                }
                // What clears the question of a tier clears none of a rule.
                let call = &case.call;
                let cleared = !call.approvals.is_empty()
                    || !call.session_approvals.is_empty()
                    || !call.grants.is_empty();
                if *full && !cleared && was.action != is.action {
                    wrong.push(format!(
                        "{agent:?} {file}:{} {}: all is carried, yet it was {} and is {}",
                        case.line(),
                        acl::cases::one_line(&case.call),
                        was.action,
                        is.action
                    ));
                }
            }
        }
    }
    assert!(ran > 1000, "{ran}");
    assert!(alike * 2 > ran, "{alike} of {ran} are decided alike");
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "{} of {ran}, {alike} alike:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The lines that an agent is told to allow: words, and whether any may follow.
fn allowed(agent: Agent, text: &str) -> Vec<(String, bool)> {
    let json = || serde_json::from_str::<serde_json::Value>(text).unwrap();
    let starred = |text: &str| match text.strip_suffix(" *") {
        Some(words) => (words.to_owned(), true),
        None => (text.to_owned(), false),
    };
    match agent {
        Agent::ClaudeCode => {
            let json = json();
            let rules = json["permissions"]["allow"].as_array().unwrap();
            let texts = rules
                .iter()
                .filter_map(|rule| rule.as_str()?.strip_prefix("Bash(")?.strip_suffix(')'));
            texts
                .map(|text| starred(&text.replace(":*", " *")))
                .collect()
        }
        Agent::Opencode => {
            let json = json();
            let none = serde_json::Map::new();
            let rules = json["permission"]["bash"].as_object().unwrap_or(&none);
            let allowed = rules.iter().filter(|(_, verdict)| *verdict == "allow");
            allowed.map(|(text, _)| starred(text)).collect()
        }
        Agent::Codex => text
            .lines()
            .filter(|line| line.contains("decision = \"allow\""))
            .map(|line| {
                let list = line.split_once("pattern = ").unwrap().1;
                let list = list.split_once("], ").unwrap().0.to_owned() + "]";
                let words: Vec<String> = serde_json::from_str(&list).unwrap();
                (words.join(" "), true)
            })
            .collect(),
        _ => text
            .split("[[rule]]")
            .filter(|rule| rule.contains("decision = \"allow\""))
            .filter_map(|rule| {
                let own = rule
                    .lines()
                    .find_map(|line| line.strip_prefix("commandPrefix = "))?;
                Some((serde_json::from_str(own).unwrap(), true))
            })
            .collect(),
    }
}

/// An agent compares words: what it is told to allow acl allows too, whatever hosts and paths stand behind them.
#[test]
fn what_is_exported_lets_no_more_pass() {
    let behind = [
        "https://elsewhere.example/",
        "http://localhost/ -o /elsewhere/x",
        "/etc/passwd",
        "a /elsewhere/b",
        "../../../x",
        "-o /elsewhere/x",
        "--output=/elsewhere/x",
        "--output /elsewhere/x",
        "-C /elsewhere",
        "-f /elsewhere/x",
        "-e 'rm x'",
        "-c core.pager=x",
        "--exec x",
        "-T x https://elsewhere.example/",
        "x",
        "--fix",
        "--write",
        "delete x",
        "push",
        "set x",
    ];
    let mut wrong = Vec::new();
    let mut tried = 0;
    let own = "version = 1\n[commands]\nallow = [\"curl\", \"cp\", \"tee\", \"echo\", { match = \"git status\", exact = true }, { match = \"cp a /etc/b\", exact = true }]\n";
    let policies = ["recommended", "strict", "readonly", "own"];
    for policy in policies {
        let old = match policy {
            "own" => disk::compile("own.toml", own),
            _ => {
                let name = format!("policies/{policy}.toml");
                disk::compile(&name, &std::fs::read_to_string(&name).unwrap())
            }
        };
        for agent in carry::agents() {
            let out = carry::export(agent, &old).unwrap();
            let told = allowed(agent, &out.text);
            if policy == "own" {
                assert!(
                    told.contains(&("echo".to_owned(), true)),
                    "{agent:?}: {told:?}"
                );
                assert!(
                    told.iter().all(|(words, _)| !words.starts_with("cp")),
                    "{told:?}"
                );
            }
            for (words, open) in told {
                let lines = behind
                    .iter()
                    .filter(|_| open)
                    .map(|more| format!("{words} {more}"));
                for line in lines.chain([words.clone()]) {
                    tried += 1;
                    let call = acl::call::Call {
                        cwd: Some("/workspace".into()),
                        home: Some("/home/user".into()),
                        workspace: Some("/workspace".into()),
                        ..acl::call::Call::new("bash", serde_json::json!({"command": line}))
                    };
                    let is = decide(&old, &call, &acl::call::files::FileView::None).action;
                    if is != acl::policy::Verdict::Allow {
                        wrong.push(format!("{policy}, {agent:?}: `{line}` is {is}"));
                    }
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
    assert!(
        wrong.is_empty(),
        "{} of {tried}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Tiers of which acl judges more than the name, names that an agent spells otherwise, and who asks within what is allowed.
#[test]
fn what_is_exported_of_tools() {
    use Agent::{ClaudeCode, GeminiCli, Opencode};
    let guarded = "version = 1\n[tiers]\nallow = [\"bash\", \"read\", \"write\", \"edit\", \"search\", \"agent\"]\n\
                   [paths.write]\ndeny = [\"prod/**\"]\n[protected.s]\nfiles = [\".en[vx]\"]\n";
    let tools = |tools: &str| format!("version = 1\n{tools}");
    let git = tools(
        "[tiers]\nallow = [\"mcp__git__*\"]\nask = [\"mcp__git__push\", \"mcp__*__drop_*\"]\n",
    );
    let exact = tools("[tiers]\nallow = [\"mcp__git__log\"]\nask = [\"mcp__git__*\"]\n");
    let deny = tools("[tiers]\ndeny = [\"mcp__*\", \"agent\"]\n");
    let part = tools("[tiers]\nallow = [\"mcp__s*\"]\ndeny = [\"mcp__*__delete_*\"]\n");
    let rule = tools("[[rules]]\naction = \"allow\"\ntools = [\"bash\", \"agent\"]\n");
    let echo = tools("[commands]\nallow = [\"echo\"]\n");
    for (agent, policy, has, has_not) in [
        (
            ClaudeCode,
            guarded,
            &["Edit(/prod", "Read(.en[vx])", "Edit(/**)"][..],
            &["\"Bash\"", "\"Edit\"", "\"Write\""][..],
        ),
        (
            GeminiCli,
            guarded,
            &[
                "\"invoke_agent\"]\ndecision = \"allow\"",
                "\"run_shell_command\"]\ndecision = \"ask_user\"",
                "\"write_file\"]\ndecision = \"ask_user\"",
            ],
            &["\"read_file\"]\ndecision = \"allow\""],
        ),
        (
            Opencode,
            guarded,
            &[
                "\"bash\": \"ask\"",
                "\"grep\": \"ask\"",
                "\".en?\": \"deny\"",
                "\"*\": \"allow\"",
            ],
            &["\"grep\": \"allow\"", "\"bash\": \"allow\""],
        ),
        (
            ClaudeCode,
            &git,
            &["\"mcp__git__push\"", "\"mcp__*__drop_*\""],
            &[],
        ),
        (ClaudeCode, &exact, &["mcp__git__log"], &["mcp__git__*"]),
        (
            GeminiCli,
            &deny,
            &["mcpName = \"*\"\ndecision", "toolName = [\"invoke_agent\"]"],
            &["mcp__", "\"agent\""],
        ),
        (
            GeminiCli,
            &part,
            &["mcpName = \"*\"\ndecision = \"deny\""],
            &["delete_*", "decision = \"allow\""],
        ),
        (Opencode, &part, &["\"*_delete_*\": \"deny\""], &["\"s*\""]),
        (
            GeminiCli,
            &rule,
            &["\"invoke_agent\"]\ndecision = \"allow\""],
            &["\"run_shell_command\"]\ndecision = \"allow\""],
        ),
        (ClaudeCode, &rule, &[], &["\"Bash\""]),
        (
            Opencode,
            &echo,
            &["\"echo\": \"allow\",\n      \"*>*\": \"ask\""],
            &[],
        ),
    ] {
        let out = carry::export(agent, &disk::compile("p.toml", policy)).unwrap();
        for text in has {
            assert!(
                out.text.contains(text),
                "{agent:?} {policy}: no {text} in {}",
                out.text
            );
        }
        for text in has_not {
            assert!(
                !out.text.contains(text),
                "{agent:?} {policy}: {text} in {}",
                out.text
            );
        }
        let full = out
            .report
            .lines
            .iter()
            .find(|line| line.fidelity == Fidelity::Full && line.rule == "allow: bash");
        assert_eq!(full, None, "{agent:?} {policy}");
    }
}
