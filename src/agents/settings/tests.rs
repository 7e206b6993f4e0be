use super::json::{self, Kind, Node};
use super::{Entries, program};
use crate::agents::Agent;
use serde_json::{Value, json};

fn entries(agent: Agent) -> Entries<'static> {
    Entries {
        agent: agent.terms().name,
        settings: &agent.terms().settings,
        command: "acl hook AGENT",
        starts: &|program| program == "acl",
    }
}

fn with(
    agent: Agent,
    work: impl Fn(&Entries<'_>) -> Result<String, String>,
) -> Result<String, String> {
    let command = format!("acl hook {}", agent.terms().name);
    work(&Entries {
        command: &command,
        ..entries(agent)
    })
}

/// Settings that a user may have, comments apart.
const SETTINGS: &[&str] = &[
    "",
    "{}",
    "{ }\n",
    "{\n}\n",
    "{\"model\": \"x\"}",
    "{\"model\":\"x\",\"hooks\":{}}",
    "\u{feff}{\n  \"model\": \"x\"\n}\n",
    "{\r\n\t\"model\": \"x\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": []\r\n\t}\r\n}\r\n",
    "{\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"other hook claude-code\"}]}\n        ],\n        \"Stop\": [{\"hooks\": []}]\n    },\n    \"z\": [1, 2.50, 1e3, \"\\u00e9\"],\n    \"a\": null\n}\n",
    "{\"hooks\": {\"PreToolUse\": [{\"command\": \"mine\"}], \"BeforeTool\": [ 1 ], \"preToolUse\": [\n  2 ]}}",
    "{\"version\": 1, \"hooks\": {\"beforeReadFile\": [{\"command\": \"mine\"}]}}",
];

/// The same with comments, and commas before the end of a list.
const COMMENTED: &[&str] = &[
    "// mine\n{\n  // the model\n  \"model\": \"x\", // a good one\n  /* more */\n}\n// end\n",
    "{\n  \"a\": 1 // one\n}\n",
    "{ /* nothing */ }",
    "{\n  // nothing\n}\n",
    "{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\"hooks\": [1]}, // first\n      {\"hooks\": [2]}, // last\n    ],\n  },\n}\n",
    "{\"hooks\": {\"BeforeTool\": [1,]}}",
];

#[test]
fn what_is_added_comes_out_again() {
    for agent in Agent::all().filter(|agent| agent.terms().settings.entries.is_some()) {
        let settings = &agent.terms().settings;
        let commented = COMMENTED.iter().filter(|_| settings.comments);
        for text in SETTINGS.iter().chain(commented) {
            let added = with(agent, |own| own.added(text)).unwrap();
            let again = with(agent, |own| own.added(&added)).unwrap();
            assert_eq!(added, again, "{agent:?}: {text}");
            let runs = entries(agent).commands(&added).len();
            let wanted = settings.entries.unwrap().matches("COMMAND").count();
            assert_eq!(runs, wanted, "{agent:?}: {added}");
            let removed = with(agent, |own| own.removed(&added)).unwrap();
            assert_eq!(
                value(&removed, text),
                value(text, text),
                "{agent:?}: {added}"
            );
            // Lists and objects that held nothing go with what was put into them; so does what had none of it.
            let whole = !text.contains("{}") && !text.contains("[]") && !text.trim().is_empty();
            let blank = ["{ }\n", "{\n}\n"].contains(text) || text.contains("nothing");
            let version = added.contains("\"version\"") && !text.contains("version");
            if whole && !blank && !version {
                assert_eq!(removed, **text, "{agent:?}: {added}");
            }
        }
    }
}

/// What a text says to an agent, empty hooks and a version apart.
fn value(text: &str, was: &str) -> Value {
    let mut value = match text.trim() {
        "" => json!({}),
        _ => plain(&json::read(text).unwrap().root),
    };
    if let Some(map) = value.as_object_mut() {
        if !was.contains("version") {
            map.remove("version");
        }
        if map.get("hooks").is_some_and(|hooks| *hooks == json!({})) {
            map.remove("hooks");
        }
    }
    value
}

fn plain(node: &Node) -> Value {
    let children = node.children().iter();
    match &node.kind {
        Kind::Plain(value) => value.clone(),
        Kind::Array(_) => children.map(|own| plain(&own.node)).collect(),
        Kind::Object(_) => {
            let members = children.map(|own| (own.key.clone().unwrap(), plain(&own.node)));
            Value::Object(members.collect())
        }
    }
}

#[test]
fn how_it_looks() {
    let claude = |text: &str| with(Agent::ClaudeCode, |own| own.added(text)).unwrap();
    assert_eq!(
        claude("{\n    \"model\": \"x\"\n}\n"),
        r#"{
    "model": "x",
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "*",
                "hooks": [
                    { "type": "command", "command": "acl hook claude-code", "timeout": 60 }
                ]
            }
        ]
    }
}
"#
    );
    let gemini = |text: &str| with(Agent::GeminiCli, |own| own.added(text)).unwrap();
    assert_eq!(
        gemini(
            "{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\"x\": 1} // last\n    ]\n  }\n}\n"
        ),
        r#"{
  "hooks": {
    "BeforeTool": [
      {"x": 1}, // last
      {
        "matcher": ".*",
        "hooks": [
          { "type": "command", "command": "acl hook gemini-cli", "timeout": 60000 }
        ]
      }
    ]
  }
}
"#
    );
}

#[test]
fn what_runs_acl_already() {
    let added = |text: &str| with(Agent::ClaudeCode, |own| own.added(text)).unwrap();
    let group = |matcher: &str, command: &str| {
        format!(
            r#"{{"matcher": "{matcher}", "hooks": [{{"type": "command", "command": "{command}", "timeout": 60}}]}}"#
        )
    };
    let hooks =
        |groups: &[String]| format!(r#"{{"hooks": {{"PreToolUse": [{}]}}}}"#, groups.join(", "));
    // With options of the user's: left as it is.
    let own = hooks(&[group("*", "acl hook claude-code --policy x.toml")]);
    assert_eq!(added(&own), own);
    // It cannot be started, or judges some tools only: ours takes its place, and other hooks stay.
    for (matcher, command) in [
        ("*", "/gone/acl hook claude-code"),
        ("Bash", "acl hook claude-code"),
    ] {
        let after = added(&hooks(&[group("*", "mine"), group(matcher, command)]));
        assert!(
            after.contains("mine") && !after.contains("/gone"),
            "{after}"
        );
        assert_eq!(after.matches("acl hook").count(), 1, "{after}");
        assert!(!after.contains("Bash"), "{after}");
    }
    let mixed = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "acl hook claude-code"}, {"type": "command", "command": "mine"}]}]}}"#;
    let after = added(mixed);
    assert!(
        after
            .contains(r#"[{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}"#),
        "{after}"
    );
    let removed = with(Agent::ClaudeCode, |own| own.removed(mixed)).unwrap();
    assert!(
        removed.contains("mine") && !removed.contains("acl"),
        "{removed}"
    );
}

#[test]
fn what_is_refused() {
    for (text, why) in [
        ("{", "line 1: it ends too early"),
        (
            "{\"a\": 1,\n\"a\": 2}",
            "line 2: the key `a` stands there twice",
        ),
        ("{\"a\" 1}", "a colon"),
        ("{\"a\": 1} x", "after its end"),
        ("{\"a\": 1 \"b\": 2}", "a comma"),
        ("{a: 1}", "a key in quotes"),
        ("[]", "it is no object"),
        ("{\"hooks\": []}", "`hooks` is no object"),
        (
            "{\"hooks\": {\"PreToolUse\": {}}}",
            "`hooks.PreToolUse` is no list",
        ),
        ("{\n// mine\n}", "line 2: a comment, which is no JSON"),
        ("{\"a\": 1,}", "a comma before the end"),
        ("/* mine", "without an end"),
        ("{\"a\": \"\n\"}", "this is no JSON"),
    ] {
        let told = with(Agent::ClaudeCode, |own| own.added(text)).unwrap_err();
        assert!(told.contains(why), "{text}: {told}");
    }
    let deep = "[".repeat(100_000);
    assert!(with(Agent::ClaudeCode, |own| own.added(&deep)).is_err());
    let version = with(Agent::Cursor, |own| own.added("{\"version\": 2}"));
    assert_eq!(
        version,
        Err("`version` is 2, and acl knows only 1".to_owned())
    );
}

#[test]
fn whose_hook_it_is() {
    for (command, own) in [
        ("acl hook codex", Some("acl")),
        (
            "/usr/bin/acl hook codex --audit default",
            Some("/usr/bin/acl"),
        ),
        ("'/opt/my tools/acl' hook codex", Some("/opt/my tools/acl")),
        ("acl hook crush", None),
        ("acl hook codex-cli", None),
        ("racl hook codex", None),
        ("git hook codex", None),
    ] {
        assert_eq!(program(command, "codex"), own, "{command}");
    }
}
