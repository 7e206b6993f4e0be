//! Claude Code: `permissions` of `settings.json`.
//!
//! deny before ask before allow, in any scope. `Tool` or `Tool(specifier)`: the text of a command with `*` over blanks,
//! a gitignore pattern with four anchors, `domain:`.

use super::draft::{Draft, Entry, What, quoted};
use super::made::{self, Made};
use super::stars;
use crate::agents::carry::{Carried, Report};
use crate::agents::claude_code::TOOLS;
use crate::finding::Finding;
use crate::policy::near;
use crate::policy::rule::Verdict;
use crate::source::{self, Node, Source, Table};
use std::sync::Arc;

/// What Claude Code does without asking, where no rule speaks of it.
pub(in crate::agents::carry) const PASSES: &[&str] = &["read", "search", "list", "agent", "own"];

const NOTES: &[&str] = &[
    "acl judges what a command does, however it is spelled: quotes, `bash -c`, `timeout`, options before the subcommand",
    "Claude Code lets some commands that only look (`ls`, `cat`, `git status` …) pass without a rule; here they ask until `[commands]` allows them",
    "a path without an anchor starts from the folder that Claude Code was started in; here from the workspace",
    "a question or refusal about a path or host holds here for every tool, also for command lines",
];

pub(in crate::agents::carry) fn import(source: &Arc<Source>) -> Result<Carried, Vec<Finding>> {
    let tree = source::json::read(source);
    let mut findings = tree.findings;
    let mut draft = Draft {
        head: vec![
            format!("Made by `acl import claude-code` from {}.", source.name),
            "Every entry names the rule it comes from; what differs is in the report of the import.".to_owned(),
        ],
        passes: PASSES.to_vec(),
        ..Draft::default()
    };
    let mut report = Report::default();
    let root = tree.root.value.as_table();
    let permissions = root.and_then(|root| root.get("permissions"));
    let entries = match permissions {
        None => &Table::default(),
        Some(node) => node.value.as_table().unwrap_or_else(|| {
            let why = format!("`permissions` is {}, not a table", node.value.kind());
            findings.push(Finding::error("wrong-type", why, source, node.span));
            const {
                &Table {
                    entries: Vec::new(),
                }
            }
        }),
    };
    for entry in &entries.entries {
        let key = entry.key.name.as_str();
        let value = &entry.value;
        let Some(verdict) = Verdict::parse(key).filter(|own| own.name() == key) else {
            let shown = format!("{key}: {}", value.span.of(&source.text));
            let at = made::line(source, entry.key.span);
            setting(key, value, &mut draft).record(at, shown, source, &mut draft, &mut report);
            continue;
        };
        let Some(rules) = value.value.as_list() else {
            let why = format!("`{key}` is {}, not a list of rules", value.value.kind());
            findings.push(Finding::error("wrong-type", why, source, value.span));
            continue;
        };
        for node in rules {
            match node.value.as_text() {
                Some(text) => {
                    let at = made::line(source, node.span);
                    rule(verdict, text.trim()).record(
                        at,
                        text.to_owned(),
                        source,
                        &mut draft,
                        &mut report,
                    );
                }
                None => {
                    let why = format!("a rule is text, not {}", node.value.kind());
                    findings.push(Finding::error("wrong-type", why, source, node.span));
                }
            }
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    report.notes = NOTES.iter().map(|note| (*note).to_owned()).collect();
    Ok(Carried {
        text: draft.text(),
        report,
    })
}

/// A key of `permissions` that is no list of rules.
fn setting(key: &str, value: &Node, draft: &mut Draft) -> Made {
    match (key, value.value.as_text()) {
        ("defaultMode", Some("default")) => Made::full([]),
        ("defaultMode", Some("plan" | "dontAsk")) => {
            Made::full([]).said("acl hears the mode with each call")
        }
        ("defaultMode", Some("bypassPermissions")) => Made::full([]).but(
            "acl hears the mode with each call; it passes what a tier would ask about, and nothing that a rule asks about",
        ),
        ("defaultMode", _) => Made::not("edits ask here: `edit` and `write` under `tiers.allow` let them pass"),
        ("additionalDirectories", _) => {
            let folders = value.value.as_list().unwrap_or_default();
            let folders: Option<Vec<&str>> = folders.iter().map(|node| node.value.as_text()).collect();
            match folders {
                Some(folders) if !folders.iter().any(|own| own.starts_with('~') || own.is_empty()) => {
                    draft.roots = std::iter::once(".").chain(folders).map(str::to_owned).collect();
                    Made::full([]).said("`workspace.roots`, relative to the policy's own folder")
                }
                _ => Made::not("what lies outside of the workspace asks: write these folders to `workspace.roots` as absolute paths"),
            }
        }
        _ => Made::not(match near::nearest(key, ["allow", "ask", "deny", "defaultMode", "additionalDirectories"]) {
            Some(near) => format!("there is no such key, and Claude Code does not look at it: did you mean `{near}`?"),
            None => "it is no rule about calls: keep it in Claude Code's settings".to_owned(),
        }),
    }
}

/// One rule.
fn rule(verdict: Verdict, text: &str) -> Made {
    let Some((tool, rest)) = text.split_once('(') else {
        return bare(verdict, text);
    };
    let Some(specifier) = rest.strip_suffix(')') else {
        return Made::dead("its parenthesis is never closed", None);
    };
    if specifier.is_empty() || specifier == "*" {
        return bare(verdict, tool);
    }
    if let Some((field, value)) = specifier.split_once(':') {
        if let Some(made) = parameter(verdict, tool, field, value) {
            return made;
        }
    }
    match tool {
        "Bash" => bash(verdict, specifier),
        "Read" | "Edit" => path(verdict, tool, specifier),
        "Write" | "NotebookEdit" | "MultiEdit" => Made::dead(
            format!(
                "Claude Code looks only at Edit(…) for whatever edits files: write `Edit({specifier})`"
            ),
            Some(path(verdict, "Edit", specifier)),
        ),
        "Glob" => Made::dead(
            format!(
                "Claude Code looks only at Read(…) for whatever reads files: write `Read({specifier})`"
            ),
            Some(path(verdict, "Read", specifier)),
        ),
        "Grep" | "LS" | "NotebookRead" if verdict == Verdict::Allow => {
            Made::not("what the agent makes of it is not sure: Read(…) says it")
        }
        "Grep" | "LS" | "NotebookRead" => {
            path(verdict, "Read", specifier).but("it holds for whatever reads files, as Read(…)")
        }
        "WebFetch" => match specifier.strip_prefix("domain:") {
            Some("*") => bare(verdict, tool),
            Some(domain) => made::host(verdict, domain, false),
            None => whole(verdict, tool, "only `domain:` is known of a fetch"),
        },
        "Agent" | "Task" => {
            let args = vec![("subagent_type".to_owned(), quoted(specifier))];
            let entry = Entry {
                args,
                ..Entry::new(verdict, What::Tool).through(&["agent"])
            };
            match verdict {
                Verdict::Allow => Made::full([]).said(
                    "Claude Code asks nobody about its sub-agents, and acl judges their calls",
                ),
                _ => Made::full([entry]),
            }
        }
        _ if tool.starts_with("mcp__") => Made::dead(
            "a rule about an MCP tool has no parentheses",
            Some(bare(verdict, tool)),
        ),
        _ => whole(
            verdict,
            tool,
            "what stands in the parentheses is not known to acl",
        ),
    }
}

/// A rule of which acl knows only the tool.
fn whole(verdict: Verdict, tool: &str, why: &str) -> Made {
    match verdict {
        Verdict::Allow => Made::not(format!("{why}: it is left to the tier, which asks")),
        _ => bare(verdict, tool).but(format!("{why}: all of the tool is {}", made::done(verdict))),
    }
}

/// A tool without parentheses.
fn bare(verdict: Verdict, name: &str) -> Made {
    let allow = verdict == Verdict::Allow;
    if name.is_empty() || name.contains(['"', '\\', ' ']) {
        return Made::dead("it names no tool", None);
    }
    if let Some(rest) = name.strip_prefix("mcp__") {
        let (server, tool) = rest.split_once("__").unwrap_or((rest, "*"));
        if allow && (server.contains('*') || server.is_empty()) {
            return Made::dead(
                "an allow must spell out `mcp__` and the server's name",
                None,
            );
        }
        return match rest {
            "*" => made::tool(verdict, &["mcp__*"], false),
            _ => made::tool(verdict, &[&format!("mcp__{server}__{tool}")], false),
        };
    }
    if name.contains('*') {
        return match allow {
            true => Made::dead(
                "an allow must spell out the tool, or `mcp__` and a server's name",
                None,
            ),
            false => {
                // acl has other names for most of the tools that it fits.
                let names = made::names(TOOLS, name, "", verdict);
                let known = names.len() > 1 && !name.starts_with('*');
                let names = names
                    .iter()
                    .map(String::as_str)
                    .filter(|own| !known || *own != name);
                let names: Vec<&str> = names.collect();
                made::tool(verdict, &names, false)
            }
        };
    }
    let Some(tool) = TOOLS.iter().find(|tool| tool.native == name) else {
        return made::tool(verdict, &[name], false);
    };
    let shared = || {
        let own = TOOLS.iter().filter(|own| own.canonical == tool.canonical);
        let own: Vec<&str> = own.map(|own| own.native).collect();
        format!(
            "acl knows {} as one tool, `{}`",
            own.join(", "),
            tool.canonical
        )
    };
    let leads = TOOLS
        .iter()
        .find(|own| own.canonical == tool.canonical)
        .is_some_and(|own| own.native == name)
        || name == "Task";
    match (name, leads) {
        _ if allow && PASSES.contains(&tool.canonical) => Made::full([]).said("it passes anyway"),
        ("Edit", _) if !allow => made::tool(verdict, &["edit", "write"], false),
        (_, true) if tool.canonical != "own" => made::tool(verdict, &[tool.canonical], false),
        _ if allow => Made::not(format!("{}: it is left to the tier, which asks", shared())),
        _ => made::tool(verdict, &[tool.canonical], false).but(shared()),
    }
}

/// `Tool(field:value)`: a condition on an argument.
fn parameter(verdict: Verdict, tool: &str, field: &str, value: &str) -> Option<Made> {
    let own = TOOLS.iter().find(|own| own.native == tool)?;
    if own.args.iter().any(|(name, _)| *name == field) && own.canonical != "agent" {
        // As a parameter it would be the path as it is.
        let absolute = if value.starts_with('/') { "/" } else { "" };
        let value = &format!("{absolute}{value}");
        let meant = match own.canonical {
            "bash" => bash(verdict, value),
            "read" | "search" | "list" => path(verdict, "Read", value),
            "write" | "edit" => path(verdict, "Edit", value),
            _ => whole(verdict, tool, "a URL is judged by its host"),
        };
        return Some(Made::dead(
            format!(
                "`{field}` is what {tool} is about: Claude Code does not compare it as a parameter"
            ),
            Some(meant),
        ));
    }
    let flag = ["run_in_background", "dangerouslyDisableSandbox"];
    if own.canonical == "bash" && flag.contains(&field) {
        if verdict == Verdict::Allow {
            return Some(Made::not("an allow of a flag says nothing of the command"));
        }
        let value = match value {
            "true" | "false" => value.to_owned(),
            _ => quoted(value),
        };
        let args = vec![(field.to_owned(), value)];
        let entry = Entry {
            args,
            ..Entry::new(verdict, What::Tool).through(&["bash"])
        };
        return Some(Made::full([entry]));
    }
    None
}

/// `Bash(…)`.
fn bash(verdict: Verdict, specifier: &str) -> Made {
    match specifier.strip_suffix(":*") {
        Some("") => bare(verdict, "Bash"),
        Some(prefix) if prefix.contains(":*") => Made::dead("`:*` counts only at the end", None),
        Some(prefix) => made::commands(verdict, &format!("{prefix} *"), false, false),
        None if specifier.contains(":*") => Made::dead(
            "`:*` counts only at the end; in the middle it is text",
            Some(made::commands(
                verdict,
                &specifier.replace(":*", " *"),
                false,
                false,
            )),
        ),
        None => made::commands(verdict, specifier, false, false),
    }
}

/// `Read(…)` and `Edit(…)`.
fn path(verdict: Verdict, tool: &str, specifier: &str) -> Made {
    let specifier = specifier.trim_end_matches(' ');
    if specifier.is_empty() {
        return Made::dead("it names no path", None);
    }
    let pattern = stars::ignore(specifier);
    let rooted = |rest: &str| match rest.trim_end_matches('/').contains('/') || rest == "**" {
        true => rest.to_owned(),
        false => format!("./{rest}"),
    };
    let pattern = match &pattern {
        own if own.starts_with("//") => own.get(1..).unwrap_or_default().to_owned(),
        own if own.starts_with('/') => rooted(own.trim_start_matches('/')),
        own if own.starts_with("./") => rooted(own.get(2..).unwrap_or_default()),
        own => own.clone(),
    };
    match tool {
        "Read" => made::paths(
            verdict,
            What::Reads(vec![pattern]),
            &["read", "search", "list"],
            false,
        ),
        _ => made::paths(
            verdict,
            What::Writes(vec![pattern]),
            &["edit", "write"],
            false,
        ),
    }
}
