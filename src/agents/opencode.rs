//! opencode: a plugin that acl brings runs `acl hook opencode` before each tool, and throws unless acl allows.
//!
//! The plugin reads one JSON object: `{"decision": "allow"}`; anything else, any other exit and any error stop the call.
//! It cannot ask.

use super::input::{Given, Prompts};
use super::tools::{Means, Tool, inner, tool};
use super::{Answer, Asked, Heard, Reply, Sample, Settings, Terms};
use crate::call::{Call, Mode};
use Means::{Folder, Glob, Is};
use serde_json::{Value, json};

/// The plugin: a file for `.opencode/plugin/`.
pub const PLUGIN: &str = include_str!("opencode.js");

const COMMAND: &str = "const COMMAND = ";

/// The plugin, running that program.
pub fn plugin(program: &str) -> String {
    let own = format!("{COMMAND}[{}", Value::from(program));
    PLUGIN.replacen(&format!("{COMMAND}[\"acl\""), &own, 1)
}

/// What a plugin runs, where it is acl's.
pub fn plugs(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(COMMAND))?;
    let words: Vec<String> = serde_json::from_str(line).ok()?;
    Some(words.join(" ")).filter(|line| super::program(line, TERMS.name).is_some())
}

pub(super) static TERMS: Terms = Terms {
    name: "opencode",
    title: "opencode",
    // The plugin gives `--workspace`.
    project: &[],
    tools: TOOLS,
    events: ("hook_event_name", &["tool.execute.before"]),
    types: false,
    silent: "A plugin of opencode cannot ask",
    samples: &[Sample {
        event: "tool.execute.before",
        text: r#"{"hook_event_name":"tool.execute.before","session_id":"selftest","tool_use_id":"call_1","cwd":"FOLDER","tool_name":"bash","tool_input":{"command":"CALL","description":"x"}}"#,
        calls: ["ls", "git push", "rm -rf victim"],
    }],
    beware: "This proves what acl answers; that the plugin is loaded is told by opencode's own log.",
    settings: Settings {
        signs: &[
            ".opencode",
            "opencode.json",
            "opencode.jsonc",
            ".config/opencode",
        ],
        project: ".opencode/plugin/acl.js",
        user: ".config/opencode/plugin/acl.js",
        also: &[],
        entries: None,
        options: "",
        comments: false,
    },
    read,
    write,
    hears,
};

pub(super) static TOOLS: &[Tool] = &[
    tool(
        "bash",
        "bash",
        &[("command", Is("command")), ("workdir", Folder)],
    ),
    tool("read", "read", &[("filePath", Is("path"))]),
    tool("write", "write", &[("filePath", Is("path"))]),
    tool("edit", "edit", &[("filePath", Is("path"))]),
    tool("multiedit", "edit", &[("filePath", Is("path"))]),
    tool("patch", "edit", &[("patchText", Is("patch"))]),
    tool("apply_patch", "edit", &[("patchText", Is("patch"))]),
    tool("grep", "search", &[("path", Is("path"))]),
    tool("glob", "list", &[("path", Is("path")), ("pattern", Glob)]),
    tool("list", "list", &[("path", Is("path"))]),
    tool("webfetch", "fetch", &[("url", Is("url"))]),
    tool("lsp", "read", &[("filePath", Is("path"))]),
    inner("websearch", "websearch"),
    inner("codesearch", "websearch"),
    inner("skill", "skill"),
    inner("task", "agent"),
    inner("plan_enter", "own"),
    inner("plan_exit", "own"),
    inner("todowrite", "own"),
    inner("todoread", "own"),
    inner("question", "own"),
];

fn read(given: &Given<'_>) -> Result<Asked, String> {
    let asked = given.usual(Mode::Interactive)?;
    let servers = match given.map.get("mcp_servers") {
        None | Some(Value::Null) => None,
        Some(Value::Array(names)) => {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            let names: Option<Vec<String>> = names.collect();
            Some(names.ok_or("`mcp_servers` of its input is no list of texts")?)
        }
        Some(_) => return Err("`mcp_servers` of its input is no list".to_owned()),
    };
    Ok(Asked {
        prompts: Prompts::No,
        ..with_servers(asked, "", servers.as_deref())
    })
}

/// `server_tool` does not say where the server's name ends. Where the servers are known, they do; else every way to read
/// it is judged, and the strictest counts.
pub(super) fn with_servers(asked: Asked, prefix: &str, servers: Option<&[String]>) -> Asked {
    let known = asked.calls.iter().any(|call| call.tool != asked.tool)
        || TOOLS.iter().any(|tool| tool.native == asked.tool)
        || crate::call::tools::canonical(&asked.tool).is_some();
    let (Some(rest), false, [call]) = (asked.tool.strip_prefix(prefix), known, &*asked.calls)
    else {
        return asked;
    };
    let plain = |name: &str| -> String {
        let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        name.chars()
            .map(|c| if kept(c) { c } else { '_' })
            .collect()
    };
    let ends = rest.match_indices('_').map(|(at, _)| rest.split_at(at));
    let of = |(server, tool): (&str, &str)| {
        let tool = tool.trim_start_matches('_');
        (!server.is_empty() && !tool.is_empty()).then(|| format!("mcp__{server}__{tool}"))
    };
    let mut names: Vec<String> = match servers {
        Some(servers) => ends
            .filter(|(server, _)| servers.iter().any(|own| plain(own) == **server))
            .filter_map(of)
            .collect(),
        None => ends.take(16).filter_map(of).collect(),
    };
    names.dedup();
    if names.is_empty() {
        return asked;
    }
    let calls = names.into_iter().map(|tool| Call {
        tool,
        ..call.clone()
    });
    Asked {
        calls: calls.collect(),
        ..asked
    }
}

fn write(_: &'static str, answer: &Answer) -> Reply {
    Reply::json(&json!({"decision": answer.verdict.name(), "reason": answer.model}))
}

fn hears(reply: &Reply) -> Heard {
    let value = reply.value();
    match value.get("decision").and_then(Value::as_str) {
        Some("allow") if reply.exit == 0 => Heard::Runs,
        _ => Heard::Stops,
    }
}
