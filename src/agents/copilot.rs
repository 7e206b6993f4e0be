//! GitHub Copilot CLI: `preToolUse`.
//!
//! The arguments come as the text of a JSON object. A deny as JSON stops the call, and so does any exit but 0. How an
//! ask ends where there is no person is not documented, so it is asked only with `--interactive`.

use super::input::{Given, Prompts};
use super::tools::{Means, Tool, inner, ripgrep, tool};
use super::{Answer, Asked, Heard, Reply, Sample, Settings, Terms};
use crate::policy::rule::Verdict;
use Means::{Glob, Is};
use serde_json::{Value, json};

pub(super) static TERMS: Terms = Terms {
    name: "copilot",
    title: "Copilot CLI",
    project: &[],
    tools: TOOLS,
    events: ("", &["preToolUse"]),
    types: false,
    silent: "Copilot CLI may have nobody to ask (where a person is at its terminal, its hook is `acl hook copilot --interactive`)",
    samples: &[Sample {
        event: "preToolUse",
        text: r#"{"sessionId":"selftest","timestamp":1767225600000,"cwd":"FOLDER","toolName":"bash","toolArgs":"{\"command\":\"CALL\",\"description\":\"x\"}"}"#,
        calls: ["ls", "git push", "rm -rf victim"],
    }],
    beware: "A hook without `--interactive` denies what acl asks. Its MCP tools keep the name that Copilot CLI gives them, `server-tool`.",
    settings: Settings {
        signs: &[
            ".copilot",
            ".github/hooks",
            ".github/copilot-instructions.md",
        ],
        project: ".github/hooks/acl.json",
        user: ".copilot/hooks/acl.json",
        also: &[],
        entries: Some(
            r#"{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "COMMAND", "timeoutSec": 60}]}}"#,
        ),
        options: " --interactive",
        comments: false,
    },
    read,
    write,
    hears,
};

static TOOLS: &[Tool] = &[
    tool("bash", "bash", &[("command", Is("command"))]),
    tool("view", "read", &[("path", Is("path"))]),
    tool("create", "write", &[("path", Is("path"))]),
    tool("edit", "edit", &[("path", Is("path"))]),
    tool("str_replace_editor", "edit", &[("path", Is("path"))]),
    tool("grep", "search", &[("path", Is("path"))]),
    ripgrep("rg", &[("path", Is("path"))]),
    tool("glob", "list", &[("path", Is("path")), ("pattern", Glob)]),
    tool("web_fetch", "fetch", &[("url", Is("url"))]),
    inner("web_search", "websearch"),
    inner("skill", "skill"),
    inner("task", "agent"),
    inner("report_intent", "own"),
    inner("exit_plan_mode", "own"),
    inner("update_todo", "own"),
    inner("ask_user", "own"),
    inner("read_bash", "own"),
    inner("stop_bash", "own"),
];

fn read(given: &Given<'_>) -> Result<Asked, String> {
    let base = given.base("sessionId", "toolCallId")?;
    let asked = given.asked(given.needed("toolName")?, given.args("toolArgs"), &base)?;
    Ok(Asked {
        prompts: Prompts::AtATerminal,
        ..asked
    })
}

fn write(_: &'static str, answer: &Answer) -> Reply {
    let reason = match answer.verdict {
        Verdict::Allow => &answer.user,
        Verdict::Ask | Verdict::Deny => &answer.model,
    };
    Reply::json(&json!({
        "permissionDecision": answer.verdict.name(),
        "permissionDecisionReason": reason,
    }))
}

fn hears(reply: &Reply) -> Heard {
    let value = reply.value();
    match value.get("permissionDecision").and_then(Value::as_str) {
        Some("deny") => Heard::Stops,
        _ if reply.exit != 0 => Heard::Stops,
        Some("ask") => Heard::Asks,
        Some("allow") => Heard::Runs,
        _ => Heard::Own,
    }
}
