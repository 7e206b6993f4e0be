//! A tool name that is surely not this policy's: another agent's, a slip of the pen, a program, a bare MCP server.
//!
//! A policy names tools by canonical names, whatever agent calls them.

use super::{Room, names, room::retyped};
use crate::finding::{Finding, Severity};
use crate::policy::rule::Verdict;
use crate::policy::{near, patterns};

const CODE: &str = "unknown-tool-name";

/// Looks at every tool name of tiers and rules.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (glob, verdict, source, span) in room.tool_patterns() {
        let wrong = match glob.as_literal() {
            Some(name) => fault(room, name),
            None => other_server(&patterns::spell(&glob)),
        };
        if let Some((message, help)) = wrong {
            let mut finding = Finding::lint(CODE, message, &source, span)
                .label("matches no tool that is known here")
                .help(help);
            if verdict == Verdict::Deny {
                finding.severity = Severity::Deny;
            }
            let meant = glob.as_literal().and_then(|name| Some((names::only_a_tool(name)?, name)));
            if let Some((canonical, name)) = meant {
                if let Some(text) = retyped(&source, span, name, canonical) {
                    let opens = if verdict == Verdict::Allow { ", and opens the tool now" } else { "" };
                    finding = finding.fix(span, text, format!("`{name}` becomes `{canonical}`: the entry matched nothing before{opens}"));
                }
            }
            found.push(finding);
        }
    }
    found
}

/// What is wrong with a name, and what to write.
pub fn fault(room: &Room<'_>, name: &str) -> Option<(String, String)> {
    if room.matcher.declaration(name).is_some() {
        return None;
    }
    if let Some(server) = name.strip_prefix("mcp__") {
        let server = server.trim_end_matches('_');
        return (!server.contains("__")).then(|| {
            (
                format!("`{name}` names a server, and covers no tool of it"),
                format!("write `mcp__{server}__*` for all its tools, or `mcp__{server}__NAME` for one"),
            )
        });
    }
    if name.trim() != name || name.contains(',') {
        return None; // told by `never-matches`
    }
    if let Some((canonical, agent)) = names::foreign(name) {
        let program = match names::is_program(name) || ["grep", "ls", "patch"].contains(&name) {
            true => format!("; for the program, write `{name}` under `[commands]`"),
            false => String::new(),
        };
        return Some((
            format!("`{name}` is {agent}'s name: a policy says `{canonical}`, whatever the agent calls it"),
            format!("write `{canonical}`{program}"),
        ));
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    if words.len() > 1 || names::is_program(name) || name.starts_with(['.', '/', '~']) {
        return Some((
            format!("`{name}` is a command, and this is a list of tools"),
            format!("write `{name}` under `[commands]`"),
        ));
    }
    if let Some(server) = other_server(name) {
        return Some(server);
    }
    let known = room.matcher.tool_names();
    let near = near::nearest(name, known.iter().copied())
        .filter(|near| near.eq_ignore_ascii_case(name) || near.chars().count() > 3)?;
    Some((
        format!("there is no tool `{name}`"),
        format!("did you mean `{near}`? If it is a tool of its own, declare it: `{name} = {{}}` under `[tools]`"),
    ))
}

/// Other products' spellings of a server's tools: `mcp_server_tool`, `server/tool`.
fn other_server(name: &str) -> Option<(String, String)> {
    let prefixed = ["mcp_", "mcp:", "mcp-", "mcp."];
    let single = prefixed.iter().any(|start| name.starts_with(start)) && !name.starts_with("mcp__");
    if !single && !name.contains('/') {
        return None;
    }
    let (server, tool) = match name.split_once('/') {
        Some((server, tool)) if !tool.contains('/') => (server.trim_start_matches('@'), tool),
        _ => ("SERVER", "TOOL"),
    };
    Some((
        format!("`{name}` is no name of a server's tool here"),
        format!("write `mcp__{server}__{tool}`, with two underscores each"),
    ))
}
