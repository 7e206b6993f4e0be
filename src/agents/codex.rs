//! Codex: `PreToolUse` and `PermissionRequest`.
//!
//! Before a tool only a deny with a reason counts, as JSON without a field that Codex does not know, or as exit code 2
//! with text on stderr. An ask, a bare allow, an unknown field, an empty reason and every other exit count as a failed
//! hook, and the tool runs. So an allow is `{}`, and an ask is `{}` only where Codex itself asks people.

use super::input::{Given, Prompts};
use super::tools::{Means, Tool, inner, tool};
use super::{Answer, Asked, Heard, Reply, Sample, Settings, Terms};
use crate::call::Mode;
use crate::policy::rule::Verdict;
use Means::{Folder, Is};
use serde_json::{Value, json};

pub(super) static TERMS: Terms = Terms {
    name: "codex",
    title: "Codex",
    // The folder that its hooks run in is the one it was started in; `cwd` of the input is the call's, which the model
    // chooses.
    project: &[],
    tools: TOOLS,
    events: ("hook_event_name", &["PreToolUse", "PermissionRequest"]),
    types: true,
    silent: "Codex asks nobody in this mode",
    samples: &[
        Sample {
            event: "PreToolUse",
            text: r#"{"session_id":"selftest","turn_id":"t","transcript_path":null,"cwd":"FOLDER","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"CALL"},"tool_use_id":"call_1"}"#,
            calls: ["ls", "git push", "rm -rf victim"],
        },
        Sample {
            event: "PermissionRequest",
            text: r#"{"session_id":"selftest","turn_id":"t","transcript_path":null,"cwd":"FOLDER","hook_event_name":"PermissionRequest","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"CALL","description":"x"}}"#,
            calls: ["ls", "git push", "rm -rf victim"],
        },
    ],
    beware: "Codex skips a hook that the user has not trusted, and says nothing: look for it under `/hooks` in Codex. An \
             ask is left to Codex's own approval policy: only `untrusted` asks about every command, and `codex exec` \
             asks about none, so an ask is a deny there.",
    settings: Settings {
        signs: &[".codex"],
        project: ".codex/hooks.json",
        user: ".codex/hooks.json",
        also: &[],
        entries: Some(
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "COMMAND", "timeout": 60}]}], "PermissionRequest": [{"hooks": [{"type": "command", "command": "COMMAND", "timeout": 60}]}]}}"#,
        ),
        options: "",
        comments: false,
    },
    read,
    write,
    hears,
};

pub(super) static TOOLS: &[Tool] = &[
    tool(
        "Bash",
        "bash",
        &[("command", Is("command")), ("workdir", Folder)],
    ),
    tool("apply_patch", "edit", &[("command", Is("patch"))]),
    tool("view_image", "read", &[("path", Is("path"))]),
    inner("web_search", "websearch"),
    inner("spawn_agent", "agent"),
    inner("send_input", "agent"),
    inner("resume_agent", "agent"),
    inner("wait_agent", "own"),
    inner("close_agent", "own"),
    inner("update_plan", "own"),
    inner("request_user_input", "own"),
    inner("list_mcp_resources", "own"),
    inner("list_mcp_resource_templates", "own"),
];

fn read(given: &Given<'_>) -> Result<Asked, String> {
    let mode = given.text("permission_mode")?;
    // `bypassPermissions` says that Codex asks nobody, whatever its sandbox: that is not the mode `bypass`.
    let asked = given.usual(match mode {
        Some("plan") => Mode::Plan,
        _ => Mode::Interactive,
    })?;
    let prompts = match (given.event, mode) {
        // A person is being asked already.
        ("PermissionRequest", _) | (_, Some("default")) => Prompts::Yes,
        _ => Prompts::No,
    };
    // An allow would spare the question that Codex asks then.
    let input = given.map.get("tool_input");
    let of = |key: &str| input.and_then(|input| input.get(key));
    let wider = of("sandbox_permissions").is_some_and(|own| *own != "use_default")
        || of("with_escalated_permissions").is_some_and(|own| *own != false);
    let doubt = "it is to run outside of Codex's sandbox".to_owned();
    Ok(Asked {
        prompts,
        doubt: wider.then_some(doubt),
        ..asked
    })
}

fn write(event: &'static str, answer: &Answer) -> Reply {
    let reason = &answer.model;
    Reply::json(&match (event, answer.verdict) {
        ("PermissionRequest", Verdict::Allow) => {
            json!({"hookSpecificOutput": {"hookEventName": event, "decision": {"behavior": "allow"}}})
        }
        ("PermissionRequest", Verdict::Deny) => {
            json!({"hookSpecificOutput": {"hookEventName": event, "decision": {"behavior": "deny", "message": reason}}})
        }
        (_, Verdict::Deny) => json!({"hookSpecificOutput": {
            "hookEventName": event,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }}),
        (_, Verdict::Allow | Verdict::Ask) => json!({}),
    })
}

fn hears(reply: &Reply) -> Heard {
    if reply.exit != 0 {
        return match reply.blocks() {
            true => Heard::Stops,
            false => Heard::Runs,
        };
    }
    let value = reply.value();
    let told = value.get("hookSpecificOutput").and_then(Value::as_object);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let known = |map: &serde_json::Map<String, Value>, keys: &[&str]| {
        map.keys().all(|key| keys.contains(&key.as_str()))
    };
    let Some(told) = told else {
        return Heard::Own;
    };
    let keys = [
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
        "decision",
    ];
    if value.as_object().is_some_and(|map| map.len() > 1) || !known(told, &keys) {
        return Heard::Runs;
    }
    let reason = text(told.get("permissionDecisionReason"));
    let decision = told.get("decision").and_then(Value::as_object);
    let behavior = decision.and_then(|own| text(own.get("behavior")));
    match (
        text(told.get("permissionDecision")).as_deref(),
        behavior.as_deref(),
    ) {
        (Some("deny"), None) if reason.is_some_and(|why| !why.trim().is_empty()) => Heard::Stops,
        (None, Some("deny")) => Heard::Stops,
        (None, Some("allow")) => Heard::Runs,
        _ => Heard::Runs,
    }
}
