//! What `acl import` makes loads, and is never laxer than the agent: against small models of how opencode and Gemini CLI
//! choose among their rules, on generated settings. `PROPTEST_CASES=5000` looks further.

use crate::disk;
use acl::agents::Agent;
use acl::agents::carry::{self, Carried};
use acl::call::Call;
use acl::call::files::FileView;
use acl::decision::decide;
use acl::matcher::Matcher;
use acl::policy::{LayerKind, Verdict};
use acl::source::Source;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A call in the agent's terms: its tool, what it is given, and the text that rules are compared with.
type Native = (&'static str, Value, &'static str);

fn import(agent: Agent, name: &str, text: &str) -> Option<Carried> {
    let source = Arc::new(Source::new(name, text, None).unwrap());
    carry::import(agent, &source).unwrap().ok()
}

/// The strictest decision on what a call of an agent comes to.
fn decided(
    agent: Agent,
    matcher: &Matcher,
    (tool, given, _): &Native,
    fact: Option<&str>,
) -> Verdict {
    let event = agent.terms().samples[0].event;
    let mut input = json!({
        "hook_event_name": event, "session_id": "s", "tool_use_id": "1", "cwd": "/w",
        "tool_name": tool, "tool_input": given,
    });
    if let (Agent::GeminiCli, Some(name)) = (agent, tool.strip_prefix("mcp_s_")) {
        input["mcp_context"] = json!({"server_name": "s", "tool_name": name});
    }
    let asked = agent.read(input.to_string().as_bytes()).unwrap();
    let decide = |call: Call| {
        let mut call = Call {
            workspace: Some("/w".into()),
            home: Some("/home/user".into()),
            ..call
        };
        if let Some(fact) = fact {
            call.facts.insert("opencode_agent".into(), json!(fact));
        }
        decide(matcher, &call, &FileView::None).action
    };
    asked.calls.into_iter().map(decide).max().unwrap()
}

/// `*` stands for anything, `?` for one character; ` *` at the end also for nothing.
fn fits(pattern: &str, text: &str) -> bool {
    fn inner(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, _) => text.is_empty(),
            (Some((b'*', rest)), _) => (0..=text.len()).any(|at| inner(rest, &text[at..])),
            (Some((b'?', rest)), Some((_, more))) => inner(rest, more),
            (Some((own, rest)), Some((c, more))) => own == c && inner(rest, more),
            (Some(_), None) => false,
        }
    }
    let ends = pattern
        .strip_suffix(" *")
        .is_some_and(|own| inner(own.as_bytes(), text.as_bytes()));
    ends || inner(pattern.as_bytes(), text.as_bytes())
}

/// What lies outside is asked besides, as a permission of its own.
const OUTSIDE: &str = "external_directory";

const OPENCODE: &[&str] = &["allow", "ask", "deny"];

fn verdict(name: &str) -> Verdict {
    match name {
        "allow" => Verdict::Allow,
        "ask" | "ask_user" => Verdict::Ask,
        _ => Verdict::Deny,
    }
}

fn opencode_calls() -> Vec<Native> {
    let commands = [
        "git push",
        "git push --dry-run",
        "git status",
        "rm -rf x",
        "ls",
    ];
    let paths = ["src/a.ts", ".env", "docs/x/b.md", "/srv/x"];
    let commands = commands.map(|own| ("bash", json!({"command": own}), own));
    let reads = paths.map(|own| ("read", json!({"filePath": own}), own));
    let edits = paths.map(|own| ("edit", json!({"filePath": own}), own));
    let writes = paths.map(|own| ("write", json!({"filePath": own}), own));
    let others = [
        (
            "lsp",
            json!({"operation": "hover", "filePath": "src/a.ts", "line": 1, "character": 1}),
            "*",
        ),
        ("glob", json!({"pattern": "*.rs", "path": "src"}), "*.rs"),
        ("list", json!({"path": "src"}), "src"),
        ("grep", json!({"pattern": "x", "path": "src"}), "x"),
        (
            "webfetch",
            json!({"url": "https://a.example/x"}),
            "https://a.example/x",
        ),
        ("websearch", json!({"query": "x"}), "x"),
        ("codesearch", json!({"query": "x"}), "x"),
        (
            "task",
            json!({"subagent_type": "plan", "prompt": "x"}),
            "plan",
        ),
        ("skill", json!({"name": "plan"}), "plan"),
        ("s_del", json!({}), "*"),
        ("s_get", json!({}), "*"),
        ("s_x_del", json!({}), "*"),
    ];
    commands
        .into_iter()
        .chain(reads)
        .chain(edits)
        .chain(writes)
        .chain(others)
        .collect()
}

/// A permission with its patterns in the order of the file; none: the first verdict alone.
type Permission = (&'static str, Vec<&'static str>, Vec<&'static str>);

fn opencode_entry() -> impl Strategy<Value = Permission> {
    let keys = &[
        "*",
        "bash",
        "bash",
        "bash",
        "read",
        "read",
        "edit",
        "write",
        "lsp",
        "glob",
        "list",
        "grep",
        "webfetch",
        "websearch",
        "codesearch",
        "web*",
        "code*",
        "*search",
        "l*",
        "r*",
        "task",
        "skill",
        "s_*",
        "s_del",
        "s_get",
        "*_del",
        "s_x_*",
        "ed*",
        "e*",
        OUTSIDE,
        OUTSIDE,
    ];
    let patterns = |key: &str| -> &'static [&'static str] {
        match key {
            "bash" => &[
                "*",
                "git *",
                "git push*",
                "git push *",
                "git push --dry-run",
                "git * --dry-run",
                "rm *",
                "ls",
                "curl * | sh",
                "*push*",
            ],
            "read" | "edit" | "write" => &[
                "*",
                "*.env",
                "src/*",
                "src/*.ts",
                ".env",
                "docs/**/b.md",
                "@x/*",
                "src",
                "docs",
                "/srv/*",
            ],
            "webfetch" => &["*", "https://a.example/*", "https://*"],
            "task" | "skill" => &["*", "plan", "p*"],
            OUTSIDE => &["*", "/srv/*", "/opt/*"],
            _ => &["*", "x"],
        }
    };
    select(keys).prop_flat_map(move |key| {
        let patterns = subsequence(patterns(key), 0..=patterns(key).len().min(4)).prop_shuffle();
        (Just(key), patterns, vec(select(OPENCODE), 4))
    })
}

/// Permissions, each key once.
fn opencode_scope() -> impl Strategy<Value = Vec<Permission>> {
    vec(opencode_entry(), 1..6).prop_map(|mut entries| {
        let mut seen = Vec::new();
        entries.retain(|(key, ..)| {
            !seen.contains(key) && {
                seen.push(*key);
                true
            }
        });
        entries
    })
}

fn opencode_text(scope: &[Permission]) -> String {
    let entry = |(key, patterns, verdicts): &Permission| {
        let listed: Vec<String> = patterns
            .iter()
            .zip(verdicts)
            .map(|(pattern, own)| format!("\n      \"{pattern}\": \"{own}\""))
            .collect();
        match listed.is_empty() {
            true => format!("\n    \"{key}\": \"{}\"", verdicts[0]),
            false => format!("\n    \"{key}\": {{{}\n    }}", listed.join(",")),
        }
    };
    let entries: Vec<String> = scope.iter().map(entry).collect();
    format!("{{{}\n  }}", entries.join(","))
}

/// What opencode does, where some rule speaks of it.
fn opencode_says(scopes: &[&[Permission]], (tool, _, text): &Native) -> Option<Verdict> {
    let key = if *tool == "write" { "edit" } else { tool };
    let own = last(scopes, key, text);
    if !text.starts_with("/srv/") {
        return own;
    }
    let outside = last(scopes, OUTSIDE, "/srv/*").unwrap_or(Verdict::Ask);
    own.map(|own| own.max(outside))
}

/// What the last rule that matches says.
fn last(scopes: &[&[Permission]], key: &str, text: &str) -> Option<Verdict> {
    let entries = scopes
        .iter()
        .flat_map(|scope| scope.iter())
        .filter(|(own, ..)| fits(own, key));
    let mut rules = entries.flat_map(|(_, patterns, verdicts)| {
        let patterns = if patterns.is_empty() {
            &["*"][..]
        } else {
            patterns
        };
        patterns.iter().zip(verdicts)
    });
    rules
        .rfind(|(pattern, _)| fits(pattern, text))
        .map(|(_, name)| verdict(name))
}

/// Each compiles a policy and decides some thirty calls.
fn cases() -> u32 {
    let told = std::env::var("PROPTEST_CASES").ok();
    told.and_then(|own| own.parse().ok()).unwrap_or(24)
}

/// A rule of Gemini CLI: its keys, without the priority.
type GeminiRule = Map<String, Value>;

fn gemini_rule() -> impl Strategy<Value = GeminiRule> {
    let tools = select(
        &[
            "",
            "*",
            "run_shell_command",
            "run_shell_command",
            "run_shell_command",
            "read_file",
            "read_many_files",
            "write_file",
            "replace",
            "glob",
            "list_directory",
            "grep_search",
            "google_web_search",
            "web_fetch",
            "invoke_agent",
            "mcp_s_*",
            "mcp_s_del",
            "mcp_s_d*",
            "*_file",
            "mcp_*",
        ][..],
    );
    let prefix = option::of(select(
        &["git", "git push", "git push --dry-run", "rm", "ls"][..],
    ));
    let more = (
        option::weighted(0.2, Just("yolo")),
        option::weighted(0.2, select(&["s", "*"][..])),
        option::weighted(0.2, select(&["glob", "read_file"][..])),
    );
    (
        tools,
        select(&["allow", "ask_user", "deny"][..]),
        prefix,
        more,
    )
        .prop_map(|(tool, decision, prefix, (mode, server, second))| {
            let mut rule = Map::new();
            rule.insert("decision".into(), decision.into());
            match (tool, server, second) {
                (_, Some(server), _) => {
                    rule.insert("mcpName".into(), server.into());
                    if tool.starts_with("mcp_s_d") {
                        rule.insert("toolName".into(), "del".into());
                    }
                }
                ("", ..) => {}
                (tool, _, Some(second)) if !tool.contains('*') => {
                    rule.insert("toolName".into(), json!([tool, second]));
                }
                (tool, ..) => {
                    rule.insert("toolName".into(), tool.into());
                }
            }
            if let Some(prefix) =
                prefix.filter(|_| rule.get("toolName") == Some(&"run_shell_command".into()))
            {
                rule.insert("commandPrefix".into(), prefix.into());
            }
            if let Some(mode) = mode {
                rule.insert("modes".into(), json!([mode]));
            }
            rule
        })
}

/// Its text: each of another priority, the first the highest.
fn gemini_text(rule: &GeminiRule, at: usize) -> String {
    let keys: Vec<String> = rule
        .iter()
        .map(|(key, value)| format!("{key} = {value}\n"))
        .collect();
    format!("[[rule]]\n{}priority = {}\n", keys.concat(), 500 - at)
}

fn gemini_calls() -> Vec<Native> {
    let commands = [
        "git push",
        "git push --dry-run",
        "git pushy",
        "rm -rf x",
        "ls",
    ];
    let commands = commands.map(|own| ("run_shell_command", json!({"command": own}), own));
    let others = [
        ("read_file", json!({"file_path": "src/a.ts"}), ""),
        ("read_many_files", json!({"include": ["src/a.ts"]}), ""),
        (
            "write_file",
            json!({"file_path": "src/a.ts", "content": "x"}),
            "",
        ),
        ("replace", json!({"file_path": "src/a.ts"}), ""),
        ("glob", json!({"pattern": "*.rs"}), ""),
        ("list_directory", json!({"dir_path": "src"}), ""),
        (
            "grep_search",
            json!({"pattern": "x", "dir_path": "src"}),
            "",
        ),
        ("google_web_search", json!({"query": "x"}), ""),
        ("web_fetch", json!({"prompt": "https://a.example/x"}), ""),
        ("invoke_agent", json!({"name": "x"}), ""),
        ("mcp_s_del", json!({}), ""),
        ("mcp_s_get", json!({}), ""),
    ];
    commands.into_iter().chain(others).collect()
}

/// What the first rule that matches says.
fn gemini_says(rules: &[GeminiRule], (tool, _, command): &Native, mode: &str) -> Option<Verdict> {
    let server = tool.strip_prefix("mcp_s_");
    let matches = |rule: &&GeminiRule| {
        let text = |key: &str| rule.get(key).and_then(Value::as_str);
        let names = match (rule.get("toolName"), text("mcpName")) {
            (None, None) => true,
            (None, Some(_)) => server.is_some(),
            (Some(Value::String(name)), Some(_)) => server == Some(name),
            // Only some stars are known.
            (Some(Value::String(name)), None) => match name.strip_suffix("_*") {
                _ if name == "*" => true,
                Some(start) if start.starts_with("mcp") => fits(name, tool),
                _ => name == tool,
            },
            (Some(names), _) => names
                .as_array()
                .is_some_and(|names| names.iter().any(|name| name == tool)),
        };
        let begins = text("commandPrefix").is_none_or(|prefix| {
            *tool == "run_shell_command"
                && command
                    .strip_prefix(prefix)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        });
        names && begins && (rule.get("modes").is_none() || mode == "yolo")
    };
    rules
        .iter()
        .find(matches)
        .map(|rule| verdict(rule["decision"].as_str().unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_opencode(all in opencode_scope(), build in option::of(opencode_scope())) {
        let build_text = build.as_ref().map(|build| format!(",\n  \"agent\": {{ \"build\": {{ \"permission\": {} }} }}", opencode_text(build)));
        let text = format!("{{\n  \"permission\": {}{}\n}}", opencode_text(&all), build_text.unwrap_or_default());
        let made = import(Agent::Opencode, "opencode.json", &text).unwrap();
        let matcher = disk::compile("made.toml", &made.text);
        for native in opencode_calls() {
            for agent in ["build", "other"] {
                let mut scopes = vec![&*all];
                scopes.extend(build.as_deref().filter(|_| agent == "build"));
                let Some(says) = opencode_says(&scopes, &native) else { continue };
                let is = decided(Agent::Opencode, &matcher, &native, Some(agent));
                prop_assert!(is >= says, "{native:?} by {agent}: {says} there, {is} here\n{text}\n{}", made.text);
            }
        }
    }

    #[test]
    fn of_gemini_cli(rules in vec(gemini_rule(), 1..8)) {
        let text: String = rules.iter().enumerate().map(|(at, rule)| gemini_text(rule, at)).collect();
        let made = import(Agent::GeminiCli, "policy.toml", &text).unwrap();
        let matcher = disk::compile("made.toml", &made.text);
        for native in gemini_calls() {
            for mode in ["default", "yolo"] {
                let Some(says) = gemini_says(&rules, &native, mode) else { continue };
                let is = decided(Agent::GeminiCli, &matcher, &native, None);
                prop_assert!(is >= says, "{native:?} in {mode}: {says} there, {is} here\n{text}\n{}", made.text);
            }
        }
    }

    /// Whatever stands in a rule: what is made of it is a policy.
    #[test]
    fn what_is_made_loads(parts in vec(select(PARTS), 1..5), name in select(NAMES), verdict in 0usize..3) {
        let own = parts.concat();
        let quoted = Value::from(own.clone()).to_string();
        let rule = Value::from(format!("{name}({own})")).to_string();
        let bare = Value::from(format!("{name}{own}")).to_string();
        let claude = ["allow", "ask", "deny"][verdict];
        let codex = ["allow", "prompt", "forbidden"][verdict];
        let gemini = ["allow", "ask_user", "deny"][verdict];
        let texts = [
            (Agent::ClaudeCode, "settings.json", format!(r#"{{"permissions": {{"{claude}": [{rule}, {bare}, "Read({own_escaped})"]}}}}"#, own_escaped = &quoted[1..quoted.len() - 1])),
            (Agent::Codex, "default.rules", format!("prefix_rule(pattern = [{quoted}, \"x\"], decision = \"{codex}\")\nprefix_rule(pattern = [\"x\", {quoted}], decision = \"{codex}\")\nnetwork_rule(host = {quoted}, decision = \"{codex}\")\n")),
            (Agent::GeminiCli, "policy.toml", format!("[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = {quoted}\ndecision = \"{gemini}\"\npriority = 1\n[[rule]]\ntoolName = {quoted}\ndecision = \"{gemini}\"\npriority = 2\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = {quoted}\ndecision = \"{gemini}\"\npriority = 3\n[[rule]]\nmcpName = {quoted}\ntoolName = {quoted}\ndecision = \"{gemini}\"\npriority = 4\n")),
            (Agent::Opencode, "opencode.json", format!(r#"{{"permission": {{"bash": {{{quoted}: "{claude}"}}, "read": {{{quoted}: "{claude}"}}, "edit": {{{quoted}: "{claude}"}}, "webfetch": {{{quoted}: "{claude}"}}, "task": {{{quoted}: "{claude}"}}, {bare}: "{claude}"}}}}"#)),
        ];
        for (agent, file, text) in texts {
            let Some(made) = import(agent, file, &text) else { continue };
            let source = Arc::new(Source::new("made.toml", made.text.clone(), None).unwrap());
            let wrong = match disk::load(vec![disk::root(LayerKind::User, source)]) {
                Ok(policy) => Matcher::compile(policy).check_examples(),
                Err(findings) => findings,
            };
            let wrong = acl::report::human::findings(&wrong, 100, false);
            prop_assert!(wrong.is_empty(), "{text}\n{wrong}\n{}", made.text);
        }
    }
}

const NAMES: &[&str] = &[
    "Bash",
    "Read",
    "Edit",
    "WebFetch",
    "mcp__s__t",
    "Agent",
    "Grep",
    "x",
];

const PARTS: &[&str] = &[
    "@",
    "a",
    "git",
    " ",
    "*",
    "**",
    "?",
    "/",
    "//",
    "~",
    "!",
    "[",
    "]",
    "{",
    "}",
    ",",
    "'",
    "\"",
    "\\",
    "$",
    "=",
    "FOO=1",
    ":",
    "domain:",
    ":*",
    ".",
    "..",
    "(",
    ")",
    "|",
    "&&",
    ">",
    "\n",
    "\u{7f}",
    "é",
    "\u{430}",
    "^",
    "-",
    "#",
    "\u{202e}",
    "a.example",
    "https://",
    ";",
];
