//! Cursor: `beforeShellExecution`, `beforeReadFile` and `beforeMCPExecution`.
//!
//! Each event has a shape of its own. A hook that fails lets the call go on, unless it is installed with `failClosed`;
//! exit code 2 stops it. Reading a file can be allowed or denied, not asked about.

use super::input::{Given, Prompts};
use super::tools::{Tool, tool};
use super::{Answer, Asked, Heard, Reply, Sample, Settings, Terms};
use crate::call::{Args, Call};
use crate::policy::rule::Verdict;
use serde_json::{Value, json};

pub(super) static TERMS: Terms = Terms {
    name: "cursor",
    title: "Cursor",
    project: &["CURSOR_PROJECT_DIR"],
    tools: TOOLS,
    events: (
        "hook_event_name",
        &[
            "beforeShellExecution",
            "beforeReadFile",
            "beforeMCPExecution",
        ],
    ),
    types: false,
    silent: "Cursor can ask nobody about reading a file",
    samples: &[
        Sample {
            event: "beforeShellExecution",
            text: r#"{"conversation_id":"selftest","generation_id":"g","hook_event_name":"beforeShellExecution","workspace_roots":["FOLDER"],"command":"CALL","cwd":"FOLDER"}"#,
            calls: ["ls", "git push", "rm -rf victim"],
        },
        Sample {
            event: "beforeReadFile",
            text: r#"{"conversation_id":"selftest","generation_id":"g","hook_event_name":"beforeReadFile","workspace_roots":["FOLDER"],"file_path":"FOLDER/CALL","content":"x","attachments":[]}"#,
            calls: ["notes.txt", "private.txt", ".env"],
        },
        Sample {
            event: "beforeMCPExecution",
            text: r#"{"conversation_id":"selftest","generation_id":"g","hook_event_name":"beforeMCPExecution","workspace_roots":["FOLDER"],"tool_name":"MCP:CALL","tool_input":"{}"}"#,
            calls: ["notes:list", "notes:send", "notes:delete"],
        },
    ],
    beware: "Cursor lets the call go on when a hook fails, but for `\"failClosed\": true`, which `acl init` writes. It asks no hook before it \
             edits a file.",
    settings: Settings {
        signs: &[".cursor"],
        project: ".cursor/hooks.json",
        user: ".cursor/hooks.json",
        also: &[],
        entries: Some(
            r#"{"version": 1, "hooks": {"beforeShellExecution": [{"command": "COMMAND", "failClosed": true}], "beforeReadFile": [{"command": "COMMAND", "failClosed": true}], "beforeMCPExecution": [{"command": "COMMAND", "failClosed": true}]}}"#,
        ),
        options: "",
        comments: false,
    },
    read,
    write,
    hears,
};

/// Each event is a tool of its own; MCP tools aside, these are acl's names for them.
static TOOLS: &[Tool] = &[tool("bash", "bash", &[]), tool("read", "read", &[])];

fn read(given: &Given<'_>) -> Result<Asked, String> {
    let roots = given.map.get("workspace_roots").and_then(Value::as_array);
    let workspace = roots
        .and_then(|roots| roots.first()?.as_str())
        .filter(|root| root.starts_with('/'))
        .map(str::to_owned);
    let mut base = given.base("conversation_id", "generation_id")?;
    base.cwd = base.cwd.or_else(|| workspace.clone());
    let mut asked = match given.event {
        "beforeShellExecution" => {
            let args = json!({"command": given.needed("command")?});
            given.asked("bash", Args::from(args), &base)?
        }
        "beforeReadFile" => reading(given, &base)?,
        _ => mcp(given, &base)?,
    };
    asked.workspace = workspace;
    Ok(asked)
}

/// The file, and those that go with it.
fn reading(given: &Given<'_>, base: &Call) -> Result<Asked, String> {
    let mut paths = vec![given.needed("file_path")?];
    let attached = given.map.get("attachments").and_then(Value::as_array);
    for attachment in attached.into_iter().flatten() {
        let path = ["file_path", "filePath"]
            .iter()
            .find_map(|key| attachment.get(key));
        paths.extend(path.and_then(Value::as_str));
    }
    let of = |path: &str| Call {
        tool: "read".to_owned(),
        args: Args::from(json!({ "path": path })),
        ..base.clone()
    };
    Ok(Asked {
        calls: paths.into_iter().map(of).collect(),
        prompts: Prompts::No,
        ..given.asked("read", Args::default(), base)?
    })
}

/// `MCP:server:tool`; older versions leave the server out, and then no rule about one server can be sure to see it.
fn mcp(given: &Given<'_>, base: &Call) -> Result<Asked, String> {
    let told = given.needed("tool_name")?;
    let (server, tool) = match told
        .strip_prefix("MCP:")
        .and_then(|rest| rest.split_once(':'))
    {
        Some((server, tool)) => (Some(server), tool),
        None => (None, told.trim_start_matches("MCP:")),
    };
    let name = format!("mcp__{}__{tool}", server.unwrap_or("unknown"));
    let doubt = "Cursor does not say which MCP server this tool is of".to_owned();
    Ok(Asked {
        doubt: server.is_none().then_some(doubt),
        ..given.asked(&name, given.args("tool_input"), base)?
    })
}

fn write(event: &'static str, answer: &Answer) -> Reply {
    let permission = answer.verdict.name();
    Reply::json(&match (event, answer.verdict) {
        ("beforeReadFile", Verdict::Allow) => json!({"permission": permission}),
        _ => json!({
            "permission": permission,
            "user_message": answer.user,
            "agent_message": answer.model,
        }),
    })
}

fn hears(reply: &Reply) -> Heard {
    let value = reply.value();
    match value.get("permission").and_then(Value::as_str) {
        _ if reply.exit == 2 => Heard::Stops,
        Some("deny") => Heard::Stops,
        Some("ask") => Heard::Asks,
        Some("allow") => Heard::Runs,
        _ => Heard::Own,
    }
}
