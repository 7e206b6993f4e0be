//! Gemini CLI: `BeforeTool`.
//!
//! A deny as JSON stops the call, and so does text with an exit other than 0 or 1; silence lets it go on with any exit.
//! An ask hangs, or ends the run, where there is no terminal, and nothing in the input tells: it is asked only where the
//! hook was installed with `--interactive`.

use super::input::{Given, Prompts};
use super::tools::{Means, Tool, inner, tool};
use super::{Answer, Asked, Heard, Reply, Sample, Settings, Terms};
use crate::call::{Call, Mode};
use crate::policy::rule::Verdict;
use Means::{Each, Folder, Glob, Is, Urls};
use serde_json::{Value, json};

pub(super) static TERMS: Terms = Terms {
    name: "gemini-cli",
    title: "Gemini CLI",
    project: &["GEMINI_PROJECT_DIR"],
    tools: TOOLS,
    events: ("hook_event_name", &["BeforeTool"]),
    types: false,
    silent: "Gemini CLI may have nobody to ask (where a person is at its terminal, its hook is `acl hook gemini-cli --interactive`)",
    samples: &[Sample {
        event: "BeforeTool",
        text: r#"{"session_id":"selftest","transcript_path":"/dev/null","cwd":"FOLDER","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00.000Z","tool_name":"run_shell_command","tool_input":{"command":"CALL","description":"x"}}"#,
        calls: ["ls", "git push", "rm -rf victim"],
    }],
    beware: "A hook without `--interactive` denies what acl asks: where nobody is, Gemini CLI would wait for ever, or end. It runs no hook in a \
             folder that it does not trust, and not the project's where only `--skip-trust` trusts it.",
    settings: Settings {
        signs: &[".gemini"],
        project: ".gemini/settings.json",
        user: ".gemini/settings.json",
        also: &[],
        entries: Some(
            r#"{"hooks": {"BeforeTool": [{"matcher": ".*", "hooks": [{"type": "command", "command": "COMMAND", "timeout": 60000}]}]}}"#,
        ),
        options: " --interactive",
        comments: true,
    },
    read,
    write,
    hears,
};

pub(super) static TOOLS: &[Tool] = &[
    tool(
        "run_shell_command",
        "bash",
        &[
            ("command", Is("command")),
            ("dir_path", Folder),
            ("directory", Folder),
        ],
    ),
    tool(
        "read_file",
        "read",
        &[("file_path", Is("path")), ("absolute_path", Is("path"))],
    ),
    tool(
        "read_many_files",
        "search",
        &[("include", Each), ("paths", Each)],
    ),
    tool("write_file", "write", &[("file_path", Is("path"))]),
    tool("replace", "edit", &[("file_path", Is("path"))]),
    tool("search_file_content", "search", FOLDERS),
    tool("grep_search", "search", FOLDERS),
    tool("list_directory", "list", FOLDERS),
    tool(
        "glob",
        "list",
        &[
            ("dir_path", Is("path")),
            ("path", Is("path")),
            ("pattern", Glob),
        ],
    ),
    tool(
        "web_fetch",
        "fetch",
        &[("prompt", Urls), ("url", Is("url"))],
    ),
    inner("google_web_search", "websearch"),
    inner("activate_skill", "skill"),
    inner("invoke_agent", "agent"),
    inner("enter_plan_mode", "own"),
    inner("exit_plan_mode", "own"),
    inner("get_internal_docs", "own"),
    inner("write_todos", "own"),
    inner("ask_user", "own"),
    inner("list_background_processes", "own"),
    inner("read_background_output", "own"),
];

const FOLDERS: &[(&str, Means)] = &[("dir_path", Is("path")), ("path", Is("path"))];

fn read(given: &Given<'_>) -> Result<Asked, String> {
    let mut asked = given.usual(Mode::Interactive)?;
    asked.prompts = Prompts::AtATerminal;
    // `mcp_s_t` does not say where the server's name ends; what stands beside it does.
    if let Some(context) = given.map.get("mcp_context").filter(|own| !own.is_null()) {
        let part = |key: &str| {
            let text = context.get(key).and_then(Value::as_str);
            text.ok_or_else(|| format!("`mcp_context` of its input has no `{key}`"))
        };
        let name = format!("mcp__{}__{}", part("server_name")?, part("tool_name")?);
        asked.calls = asked
            .calls
            .into_iter()
            .map(|call| Call {
                tool: name.clone(),
                ..call
            })
            .collect();
    }
    Ok(asked)
}

fn write(_: &'static str, answer: &Answer) -> Reply {
    let reason = match answer.verdict {
        Verdict::Allow => &answer.user,
        Verdict::Ask | Verdict::Deny => &answer.model,
    };
    Reply::json(&match answer.verdict {
        Verdict::Ask => {
            json!({"decision": "ask", "reason": reason, "systemMessage": answer.user})
        }
        verdict => json!({"decision": verdict.name(), "reason": reason}),
    })
}

fn hears(reply: &Reply) -> Heard {
    let value = reply.value();
    match value.get("decision").and_then(Value::as_str) {
        Some("deny" | "block") => Heard::Stops,
        Some("ask") => Heard::Asks,
        // It skips nothing.
        Some("allow") => Heard::Runs,
        _ if reply.exit > 1 && !(reply.err.trim().is_empty() && reply.out.trim().is_empty()) => {
            Heard::Stops
        }
        _ => Heard::Runs,
    }
}
