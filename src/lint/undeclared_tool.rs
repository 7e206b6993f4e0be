//! A tool in tiers or rules that nothing declares: path, command and host rules cannot see what its arguments name.
//!
//! Tools of MCP servers are left alone, as are patterns; names that are surely another's are told by `unknown-tool-name`.

use super::Room;
use super::{never_matches, unknown_tool_name};
use crate::finding::Finding;

const CODE: &str = "undeclared-tool";

/// Looks at every literal tool name.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut told = Vec::new();
    for (glob, _, source, span) in room.tool_patterns() {
        let Some(name) = glob.as_literal().map(str::to_owned) else { continue };
        let known = room.matcher.declaration(&name).is_some();
        let mistaken = unknown_tool_name::fault(room, &name).is_some() || never_matches::is_no_name(&name);
        if known || name.starts_with("mcp__") || mistaken || told.contains(&name) {
            continue;
        }
        found.push(
            Finding::lint(
                CODE,
                format!("nothing declares the tool `{name}`, so no rule sees what its arguments name"),
                &source,
                span,
            )
            .label("no agent's own tool, and not under `[tools]`")
            .help(format!(
                "declare it, for instance `{name} = {{ reads = \"path\" }}` under `[tools]`, or `{name} = {{}}` if its arguments name no path, command or URL; a program belongs under `[commands]`"
            )),
        );
        told.push(name);
    }
    found
}
