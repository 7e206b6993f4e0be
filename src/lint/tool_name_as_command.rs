//! A tool's name where a program is meant to stand: no command line calls it.

use super::{Room, names};
use super::room::{Pattern, written};
use crate::call::programs;
use crate::call::tools as canonical;
use crate::finding::{Finding, Severity};
use crate::call::tools::Holds;
use crate::policy::rule::Verdict;

const CODE: &str = "tool-name-as-command";

/// Looks at the program of every command pattern.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (rule, _) in room.command_rules() {
        for own in written(rule) {
            let names: Option<Vec<&str>> = own
                .patterns
                .iter()
                .map(|pattern| match pattern {
                    Pattern::Command(command) => command.words.first()?.literal(),
                    _ => None,
                })
                .collect();
            let names = names.unwrap_or_default();
            let Some(tool) = names.first().filter(|_| names.iter().all(|name| is_tool(room, name)))
            else {
                continue;
            };
            let mut finding = room.lint(CODE, format!("`{tool}` is a tool, and this is a list of programs: no command line calls it"), rule, &own)
            .label("no program")
            .help(help(tool));
            if rule.action == Verdict::Deny {
                finding.severity = Severity::Deny;
            }
            found.push(finding);
        }
    }
    found
}

fn help(tool: &str) -> String {
    let name = names::foreign(tool).map_or(tool, |(canonical, _)| canonical);
    let holds = canonical::canonical(name)
        .and_then(|declared| declared.arguments.first().map(|argument| argument.holds));
    let section = match holds {
        Some(Holds::Read) => "; which files, under `[paths.read]`",
        Some(Holds::Write) => "; which files, under `[paths.write]`",
        Some(Holds::Url) => "; which hosts, under `[hosts]`",
        Some(Holds::Shell) => "; its command lines here, without the tool's name",
        _ => "",
    };
    format!("write `{name}` under `[tiers]`{section}")
}

/// Only names that are hardly a program's: in `CamelCase`, with an underscore, or of a server.
fn is_tool(room: &Room<'_>, name: &str) -> bool {
    let unlike = (name.contains('_') || name.chars().any(|c| c.is_ascii_uppercase()))
        && programs::find(name).is_none();
    let own_tools = room.matcher.tool_names();
    name.starts_with("mcp__")
        || (unlike && (names::foreign(name).is_some() || own_tools.contains(&name)))
}
