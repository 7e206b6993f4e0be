//! Crush: `PreToolUse`, with Claude Code's shape and tools of its own.
//!
//! A deny as JSON, or exit code 2 with text on stderr, stops the call; an allow skips its own question. It has no ask:
//! without a decision its own permissions count, which let some tools pass, and all of them with `--yolo`.

use super::input::{Given, Prompts};
use super::tools::{Means, Tool, inner, tool};
use super::{Answer, Asked, Heard, Reply, Sample, Settings, Terms};
use crate::call::Mode;
use Means::{Folder, Glob, Is};
use serde_json::{Value, json};

pub(super) static TERMS: Terms = Terms {
    name: "crush",
    title: "Crush",
    project: &["CRUSH_PROJECT_DIR"],
    tools: TOOLS,
    events: ("event", &["PreToolUse"]),
    types: false,
    silent: "A hook of Crush cannot ask",
    samples: &[Sample {
        event: "PreToolUse",
        text: r#"{"event":"PreToolUse","session_id":"selftest","cwd":"FOLDER","tool_name":"bash","tool_input":{"command":"CALL"}}"#,
        calls: ["ls", "git push", "rm -rf victim"],
    }],
    beware: "Crush calls no hook for what its sub-agents do.",
    settings: Settings {
        signs: &[
            ".crush",
            ".crush.json",
            "crush.json",
            ".config/crush",
            ".local/share/crush",
        ],
        project: "crush.json",
        user: ".config/crush/crush.json",
        also: &[],
        entries: Some(r#"{"hooks": {"PreToolUse": [{"command": "COMMAND"}]}}"#),
        options: "",
        comments: false,
    },
    read,
    write,
    hears,
};

static TOOLS: &[Tool] = &[
    tool(
        "bash",
        "bash",
        &[("command", Is("command")), ("working_dir", Folder)],
    ),
    tool("view", "read", &[("file_path", Is("path"))]),
    tool("write", "write", &[("file_path", Is("path"))]),
    tool("edit", "edit", &[("file_path", Is("path"))]),
    tool("multiedit", "edit", &[("file_path", Is("path"))]),
    tool("grep", "search", &[("path", Is("path"))]),
    tool("glob", "list", &[("path", Is("path")), ("pattern", Glob)]),
    tool("ls", "list", &[("path", Is("path"))]),
    tool("fetch", "fetch", &[("url", Is("url"))]),
    inner("sourcegraph", "websearch"),
    inner("todos", "own"),
    inner("lsp_diagnostics", "own"),
    inner("lsp_references", "own"),
    inner("job_output", "own"),
    inner("job_kill", "own"),
];

fn read(given: &Given<'_>) -> Result<Asked, String> {
    let asked = given.usual(Mode::Interactive)?;
    Ok(Asked {
        prompts: Prompts::No,
        ..super::opencode::with_servers(asked, "mcp_", None)
    })
}

fn write(_: &'static str, answer: &Answer) -> Reply {
    Reply::json(&json!({"decision": answer.verdict.name(), "reason": answer.model}))
}

fn hears(reply: &Reply) -> Heard {
    let value = reply.value();
    match value.get("decision").and_then(Value::as_str) {
        _ if reply.blocks() => Heard::Stops,
        Some("deny") if reply.exit == 0 => Heard::Stops,
        Some("allow") if reply.exit == 0 => Heard::Runs,
        _ => Heard::Own,
    }
}
