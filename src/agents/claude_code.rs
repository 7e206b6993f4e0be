//! Claude Code: `PreToolUse` and `PermissionRequest`.
//!
//! An answer counts as JSON with exit code 0, a refusal also with exit code 2; any other exit, silence or what is no
//! JSON lets the call go on. An ask without a user is a deny.

use super::input::Given;
use super::tools::{Means, Tool, inner, ripgrep, tool};
use super::{Answer, Asked, Heard, Reply, Sample, Settings, Terms};
use crate::call::Mode;
use crate::policy::rule::Verdict;
use Means::{Glob, Is};
use serde_json::json;

pub(super) static TERMS: Terms = Terms {
    name: "claude-code",
    title: "Claude Code",
    project: &["CLAUDE_PROJECT_DIR"],
    tools: TOOLS,
    events: ("hook_event_name", &["PreToolUse", "PermissionRequest"]),
    types: false,
    silent: "Claude Code asks nobody in this mode",
    samples: &[
        Sample {
            event: "PreToolUse",
            text: r#"{"session_id":"selftest","transcript_path":"/dev/null","cwd":"FOLDER","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"CALL","description":"x"},"tool_use_id":"toolu_1"}"#,
            calls: ["ls", "git push", "rm -rf victim"],
        },
        Sample {
            event: "PermissionRequest",
            text: r#"{"session_id":"selftest","cwd":"FOLDER","permission_mode":"default","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"CALL"},"permission_suggestions":[]}"#,
            calls: ["ls", "git push", "rm -rf victim"],
        },
    ],
    beware: "",
    settings: Settings {
        signs: &[".claude", ".claude.json"],
        project: ".claude/settings.json",
        user: ".claude/settings.json",
        also: &[
            ".claude/settings.local.json",
            "/etc/claude-code/managed-settings.json",
        ],
        entries: Some(
            r#"{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "COMMAND", "timeout": 60}]}]}}"#,
        ),
        options: "",
        comments: false,
    },
    read,
    write,
    hears,
};

pub(super) static TOOLS: &[Tool] = &[
    tool("Bash", "bash", &[("command", Is("command"))]),
    tool("Monitor", "bash", &[("command", Is("command"))]),
    tool("Read", "read", &[("file_path", Is("path"))]),
    tool("NotebookRead", "read", &[("notebook_path", Is("path"))]),
    tool("Write", "write", &[("file_path", Is("path"))]),
    tool("Edit", "edit", &[("file_path", Is("path"))]),
    tool("MultiEdit", "edit", &[("file_path", Is("path"))]),
    tool("NotebookEdit", "edit", &[("notebook_path", Is("path"))]),
    ripgrep("Grep", &[("path", Is("path"))]),
    tool("Glob", "list", &[("path", Is("path")), ("pattern", Glob)]),
    tool("LS", "list", &[("path", Is("path"))]),
    tool("WebFetch", "fetch", &[("url", Is("url"))]),
    tool("LSP", "read", &[("filePath", Is("path"))]),
    inner("WebSearch", "websearch"),
    inner("Skill", "skill"),
    inner("SlashCommand", "skill"),
    inner("Workflow", "skill"),
    inner("ReadMcpResourceTool", "skill"),
    inner("Agent", "agent"),
    inner("Task", "agent"),
    inner("SendMessage", "agent"),
    inner("TeamCreate", "agent"),
    inner("TeamDelete", "agent"),
    inner("CronCreate", "agent"),
    inner("CronList", "own"),
    inner("CronDelete", "own"),
    inner("ListMcpResourcesTool", "own"),
    inner("TodoWrite", "own"),
    inner("TaskCreate", "own"),
    inner("TaskGet", "own"),
    inner("TaskList", "own"),
    inner("TaskUpdate", "own"),
    inner("TaskOutput", "own"),
    inner("TaskStop", "own"),
    inner("BashOutput", "own"),
    inner("AgentOutputTool", "own"),
    inner("KillShell", "own"),
    inner("KillBash", "own"),
    inner("AskUserQuestion", "own"),
    inner("EnterPlanMode", "own"),
    inner("ExitPlanMode", "own"),
    inner("ToolSearch", "own"),
];

fn read(given: &Given<'_>) -> Result<Asked, String> {
    let asked = given.usual(match given.text("permission_mode")? {
        Some("plan") => Mode::Plan,
        Some("bypassPermissions") => Mode::Bypass,
        Some("dontAsk") => Mode::NonInteractive,
        _ => Mode::Interactive,
    })?;
    // An allow would spare the question that Claude Code asks then.
    let input = given.map.get("tool_input");
    let unguarded = input.and_then(|input| input.get("dangerouslyDisableSandbox"));
    let doubt = "it is to run outside of Claude Code's sandbox".to_owned();
    Ok(Asked {
        doubt: unguarded.is_some_and(|own| *own != false).then_some(doubt),
        ..asked
    })
}

pub(super) fn write(event: &'static str, answer: &Answer) -> Reply {
    let reason = match answer.verdict {
        Verdict::Allow => &answer.user,
        // Where nobody is there, the reason of an ask goes to the model.
        Verdict::Ask | Verdict::Deny => &answer.model,
    };
    if event == "PermissionRequest" {
        return Reply::json(&match answer.verdict {
            Verdict::Allow => {
                json!({"hookSpecificOutput": {"hookEventName": event, "decision": {"behavior": "allow"}}})
            }
            Verdict::Deny => {
                json!({"hookSpecificOutput": {"hookEventName": event, "decision": {"behavior": "deny", "message": reason}}})
            }
            // The person is being asked already; this is what acl adds.
            Verdict::Ask => json!({"systemMessage": answer.user}),
        });
    }
    Reply::json(&json!({"hookSpecificOutput": {
        "hookEventName": event,
        "permissionDecision": answer.verdict.name(),
        "permissionDecisionReason": reason,
    }}))
}

pub(super) fn hears(reply: &Reply) -> Heard {
    let value = reply.value();
    let told = value.get("hookSpecificOutput");
    let decision = told.and_then(|told| {
        let behavior = told.get("decision").and_then(|own| own.get("behavior"));
        told.get("permissionDecision").or(behavior)?.as_str()
    });
    match (decision, reply.exit) {
        (Some("deny"), 0..=2) => Heard::Stops,
        (Some("allow"), 0) => Heard::Runs,
        (Some("ask"), 0) => Heard::Asks,
        _ if reply.blocks() => Heard::Stops,
        _ => Heard::Own,
    }
}
