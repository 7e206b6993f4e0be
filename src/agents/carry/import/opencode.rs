//! opencode: `permission` of `opencode.json` or `opencode.jsonc`.
//!
//! Of all patterns that match the last one counts; so the policy made of them goes by order, the last first. `*` stands
//! for any characters, `?` for one. What the file does not name opencode lets pass, nearly all of it; here it asks.

use super::draft::{Draft, Entry, What, quoted};
use super::made::{self, Made};
use super::stars;
use crate::agents::carry::{Carried, Fidelity, Report};
use crate::agents::opencode::TOOLS;
use crate::agents::tools::Tool;
use crate::finding::Finding;
use crate::policy::glob::Glob;
use crate::policy::rule::Verdict;
use crate::source::{self, Node, Source, Table};
use std::sync::Arc;

const NOTES: &[&str] = &[
    "opencode lets pass what its file does not name; here it asks until a rule or a tier allows it",
    "the last pattern that matches counts there, the first rule that matches here: the rules stand in the other order",
    "acl judges what a command does, however it is spelled; opencode compares texts",
    "a refusal of a path or host holds here for every tool, also for command lines",
];

/// What opencode asks `edit` for.
const PARTS: &[&str] = &["write", "patch", "multiedit"];

/// The fact by which the host tells opencode's own agent.
const AGENT: &str = "opencode_agent";

/// What opencode asks besides what a tool asks.
const OUTSIDE: &str = "external_directory";

/// A tool that acl knows as `read`, but for its arguments.
const LSP: &str = "lsp";

/// A pattern on its way, in the order of the file.
struct Native<'t> {
    /// The permission it stands under.
    key: &'t str,
    pattern: &'t str,
    verdict: Verdict,
    line: usize,
    shown: String,
    /// Only for this agent.
    agent: Option<&'t str>,
}

pub(in crate::agents::carry) fn import(source: &Arc<Source>) -> Result<Carried, Vec<Finding>> {
    let tree = source::json::read(source);
    let mut reader = Reader {
        source,
        findings: tree.findings,
        natives: Vec::new(),
        others: Vec::new(),
    };
    let empty = Table::default();
    let root = tree.root.value.as_table().unwrap_or(&empty);
    reader.scope(root, None);
    for (agent, node) in named(root, "agent").into_iter().chain(named(root, "mode")) {
        if let Some(table) = node.value.as_table() {
            reader.scope(table, Some(agent));
        }
    }
    if !reader.findings.is_empty() {
        return Err(reader.findings);
    }
    let mut draft = Draft {
        head: vec![
            format!("Made by `acl import opencode` from {}.", source.name),
            "Every entry names the rule it comes from; what differs is in the report of the import.".to_owned(),
        ],
        ordered: true,
        passes: vec!["own"],
        ..Draft::default()
    };
    let report = Report::default();
    let natives = &reader.natives;
    let mut all = Vec::new();
    for (at, own) in ordered(natives) {
        let later = natives.iter().skip(at + 1).find(|later| later.hides(own));
        let mixed = mixed(natives, own);
        let mut made = match (later, mixed) {
            (Some(later), _) => Made::dead(
                format!(
                    "the last that matches counts, and line {} matches all that this does",
                    later.line
                ),
                None,
            ),
            (_, Some(other)) => Made::not(format!(
                "acl knows its tool and one that line {} restricts as one: it is left to what comes after it",
                other.line
            )),
            _ => own.made(&mut draft),
        };
        // A star may stand for what is asked besides, too.
        let outside = own.verdict == Verdict::Deny
            && own.key != OUTSIDE
            && fits(own.key, OUTSIDE)
            && later.is_none();
        let freed = |other: &Native<'_>| {
            other.agent.is_none() && other.pattern == "*" && fits(other.key, OUTSIDE)
        };
        if outside && !natives.iter().skip(at + 1).any(freed) {
            draft.outside = Some(Verdict::Deny);
        }
        // What is said of `read` must not stand in front of more that is said of what only looks.
        let reads = fits(own.key, "read") && !fits(own.key, LSP) && !made.entries.is_empty();
        let looks = reads.then(|| restricted(natives, own, LSP)).flatten();
        let looks = looks.filter(|looks| looks.verdict > own.verdict);
        let looks = looks.map(|looks| Made {
            beside: true,
            ..Made::full([looking(looks.verdict)])
        });
        let scoped = |made: Made| match own.agent {
            Some(agent) => made.each(|entry| entry.when = vec![(AGENT.to_owned(), quoted(agent))]),
            None => made,
        };
        if own.agent.is_some() && !made.entries.is_empty() {
            let about = "the agent of opencode that makes the call";
            draft.facts = vec![(AGENT.to_owned(), about.to_owned())];
            let without = match own.verdict {
                Verdict::Allow => "it is off",
                _ => "it holds for every agent",
            };
            made = scoped(made).but(format!(
                "where the host does not tell the fact `{AGENT}`, {without}"
            ));
        }
        all.extend(looks.map(|made| (own.line, own.shown.clone(), scoped(made))));
        all.push((own.line, own.shown.clone(), made));
    }
    Ok(made::in_order(
        all,
        reader.others,
        source,
        draft,
        report,
        NOTES,
    ))
}

/// In the order in which the first that matches decides: the last first. Permissions are asked apart, so what is said of
/// paths and hosts must not stand behind what is said of a tool; but never before what the file says later of the same.
fn ordered<'n, 't>(natives: &'n [Native<'t>]) -> Vec<(usize, &'n Native<'t>)> {
    let about: Vec<Vec<String>> = natives.iter().map(|own| tools(own.key)).collect();
    let about = |at: usize| about.get(at).map(Vec::as_slice).unwrap_or_default();
    let mut order: Vec<(u8, usize, &Native<'_>)> = Vec::with_capacity(natives.len());
    for (at, own) in natives.iter().enumerate().rev() {
        // A part of `edit` that opencode never asks for is meant all the same.
        let part = own.verdict != Verdict::Allow && PARTS.contains(&own.key);
        let meets = |later: &Native<'_>, behind: usize| {
            own.meets(later) || about(at).iter().any(|tool| about(behind).contains(tool))
        };
        let later = order
            .iter()
            .filter(|(_, behind, later)| !part && meets(later, *behind));
        let least = later.map(|(rank, ..)| *rank).max();
        order.push((own.rank().max(least.unwrap_or_default()), at, own));
    }
    order.sort_by_key(|(rank, ..)| *rank);
    order.into_iter().map(|(_, at, own)| (at, own)).collect()
}

/// acl's names of the tools that a permission is about, with stars where its key has some; `lsp` under its own name.
fn tools(key: &str) -> Vec<String> {
    if key == "edit" || PARTS.contains(&key) {
        return vec!["edit".to_owned(), "write".to_owned()];
    }
    let own = TOOLS.iter().filter(|tool| fits(key, tool.native));
    let own = own.map(|tool| {
        if tool.native == LSP {
            LSP
        } else {
            tool.canonical
        }
    });
    let mut names: Vec<String> = own.map(str::to_owned).collect();
    // opencode asks `edit` for whatever edits.
    if fits(key, "edit") && !fits(key, "write") {
        names.push("write".to_owned());
    }
    if !TOOLS.iter().any(|tool| tool.native == key) {
        names.extend(made::mcp(key, ""));
    }
    names.dedup();
    names
}

/// What is said of the tool that only looks.
fn looking(verdict: Verdict) -> Entry {
    // Of the tools that read no other has an operation.
    Entry {
        args: vec![("operation".to_owned(), quoted("*"))],
        ..Entry::new(verdict, What::Tool).through(&["read"])
    }
}

/// What restricts a tool in the end, for the agent of this permission.
fn restricted<'n, 't>(
    natives: &'n [Native<'t>],
    own: &Native<'_>,
    native: &str,
) -> Option<&'n Native<'t>> {
    let about = |other: &&Native<'_>| {
        fits(other.key, native) && (other.agent.is_none() || other.agent == own.agent)
    };
    let frees = |other: &&Native<'_>| other.verdict == Verdict::Allow && other.pattern == "*";
    let last = natives
        .iter()
        .rev()
        .filter(about)
        .take_while(|other| !frees(other));
    last.into_iter()
        .find(|other| other.verdict != Verdict::Allow)
}

/// The other tools that acl cannot tell from this one. opencode asks `edit` for whatever edits, and what only looks is
/// told apart.
fn siblings(key: &str) -> impl Iterator<Item = &'static str> {
    let canonical =
        |tool: &Tool| tool.native == key && tool.canonical != "edit" && tool.native != LSP;
    let shared = TOOLS
        .iter()
        .find(|tool| canonical(tool))
        .map(|tool| tool.canonical);
    let others = TOOLS
        .iter()
        .filter(move |tool| Some(tool.canonical) == shared && tool.native != LSP);
    others
        .map(|tool| tool.native)
        .filter(move |native| *native != key)
}

/// For an allow of a tool that acl cannot tell from another: what restricts the other.
fn mixed<'n, 't>(natives: &'n [Native<'t>], own: &Native<'_>) -> Option<&'n Native<'t>> {
    let allows = own.verdict == Verdict::Allow;
    siblings(own.key)
        .filter(|_| allows)
        .find_map(|native| restricted(natives, own, native))
}

/// Whether a key names a tool of opencode.
fn fits(key: &str, native: &str) -> bool {
    let globs = || Glob::parse(key).unwrap_or_default();
    key == native
        || key.contains(['*', '?']) && globs().iter().any(|glob| glob.matches_text(native, false))
}

/// The tables by name under a key.
fn named<'t>(root: &'t Table, key: &str) -> Vec<(&'t str, &'t Node)> {
    let table = root.get(key).and_then(|node| node.value.as_table());
    let entries = table
        .map(|table| table.entries.as_slice())
        .unwrap_or_default();
    entries
        .iter()
        .map(|entry| (entry.key.name.as_str(), &entry.value))
        .collect()
}

struct Reader<'t> {
    source: &'t Arc<Source>,
    findings: Vec<Finding>,
    natives: Vec<Native<'t>>,
    others: Vec<(usize, String, Made)>,
}

impl<'t> Reader<'t> {
    fn wrong(&mut self, why: String, node: &Node) {
        self.findings
            .push(Finding::error("wrong-type", why, self.source, node.span));
    }

    /// `tools` and `permission` of the file, or of one agent.
    fn scope(&mut self, table: &'t Table, agent: Option<&'t str>) {
        // The older form: switched off is refused.
        for (tool, node) in named(table, "tools") {
            let verdict = match node.value {
                source::Value::Bool(true) => None,
                source::Value::Bool(false) => Some(Verdict::Deny),
                _ => {
                    self.wrong(format!("`tools.{tool}` is true or false"), node);
                    continue;
                }
            };
            let line = made::line(self.source, node.span);
            let shown = format!(
                "{}tools.{tool}: {}",
                prefix(agent),
                node.span.of(&self.source.text)
            );
            match verdict {
                Some(verdict) => self.natives.push(Native {
                    key: tool,
                    pattern: "*",
                    verdict,
                    line,
                    shown,
                    agent,
                }),
                None => {
                    let made =
                        Made::not("what is switched on there is left to the tier, which asks");
                    self.others.push((line, shown, made));
                }
            }
        }
        let Some(node) = table.get("permission") else {
            return;
        };
        if let Some(verdict) = node.value.as_text() {
            return self.one("*", "*", verdict, node, agent, String::new());
        }
        let Some(permission) = node.value.as_table() else {
            return self.wrong(
                format!("`permission` is {}, not a table", node.value.kind()),
                node,
            );
        };
        for entry in &permission.entries {
            let key = entry.key.name.as_str();
            match (&entry.value.value, entry.value.value.as_text()) {
                (_, Some(verdict)) => {
                    self.one(key, "*", verdict, &entry.value, agent, key.to_owned())
                }
                (source::Value::Table(patterns), _) => {
                    for own in &patterns.entries {
                        let pattern = own.key.name.as_str();
                        let shown = format!("{key}: {}", quoted(pattern));
                        match own.value.value.as_text() {
                            Some(verdict) => {
                                self.one(key, pattern, verdict, &own.value, agent, shown)
                            }
                            None => self.wrong(
                                format!("`{pattern}` is `allow`, `ask` or `deny`"),
                                &own.value,
                            ),
                        }
                    }
                }
                _ => self.wrong(
                    format!(
                        "`{key}` is `allow`, `ask` or `deny`, or patterns with one of these each"
                    ),
                    &entry.value,
                ),
            }
        }
    }

    fn one(
        &mut self,
        key: &'t str,
        pattern: &'t str,
        verdict: &str,
        node: &Node,
        agent: Option<&'t str>,
        shown: String,
    ) {
        match Verdict::parse(verdict).filter(|own| own.name() == verdict) {
            Some(own) => self.natives.push(Native {
                key,
                pattern,
                verdict: own,
                line: made::line(self.source, node.span),
                shown: format!(
                    "{}{shown}{}{own}",
                    prefix(agent),
                    if shown.is_empty() { "" } else { ": " }
                ),
                agent,
            }),
            None => self.wrong(
                format!("`{verdict}` is none of `allow`, `ask` and `deny`"),
                node,
            ),
        }
    }
}

fn prefix(agent: Option<&str>) -> String {
    agent.map_or_else(String::new, |agent| format!("agent.{agent}: "))
}

impl Native<'_> {
    /// Whether this one, where it comes later, leaves nothing to the other.
    fn hides(&self, other: &Self) -> bool {
        let key = self.key == other.key || self.key == "*";
        let agent = self.agent.is_none() || self.agent == other.agent;
        key && agent && (self.pattern == "*" || self.pattern == other.pattern) && !other.special()
    }

    /// What stands first.
    fn rank(&self) -> u8 {
        match self.key {
            "*" => 3,
            // Asked besides what a tool asks.
            OUTSIDE => 0,
            // Part of what `edit` is here, and of what `read` is.
            key if PARTS.contains(&key) => 0,
            key if fits(key, LSP) && !fits(key, "read") => 0,
            "webfetch" | "read" | "edit" | "glob" | "grep" | "list" => 1,
            key if key.contains('*') => 1,
            _ => 2,
        }
    }

    /// Whether a call may be one of both by the keys, so that the later one of them decides.
    fn meets(&self, other: &Self) -> bool {
        let star = |key: &str| key.contains(['*', '?']);
        if self.special() != other.special() {
            return false;
        }
        let (own, other) = (self.key, other.key);
        own == other
            || star(own) && (star(other) || fits(own, other))
            || star(other) && fits(other, own)
    }

    /// It is asked besides what the tool itself asks.
    fn special(&self) -> bool {
        [OUTSIDE, "doom_loop"].contains(&self.key)
    }

    fn made(&self, draft: &mut Draft) -> Made {
        let (verdict, pattern) = (self.verdict, self.pattern);
        let all = pattern == "*";
        match self.key {
            "doom_loop" => Made::not("acl judges one call at a time, and sees no loop"),
            OUTSIDE if all && self.agent.is_none() => {
                // Of the two, that of an agent holds for all.
                draft.outside = Some(draft.outside.map_or(verdict, |own| own.max(verdict)));
                Made::full([]).said("`workspace.outside`")
            }
            // What no anchor begins may be anywhere outside.
            OUTSIDE if !pattern.starts_with(['/', '~', '$']) => match verdict {
                Verdict::Allow => Made::not(
                    "`workspace.outside` holds for every agent and every folder: what lies outside asks",
                ),
                _ => {
                    let own = draft.outside.unwrap_or(Verdict::Ask);
                    draft.outside = Some(own.max(verdict));
                    Made::full([]).but("`workspace.outside` holds for every agent and every folder")
                }
            },
            OUTSIDE => self.outside(),
            "*" if all => made::tool(verdict, &["*"], true),
            "bash" if all => made::tool(verdict, &["bash"], true),
            "bash" => made::commands(verdict, pattern, true, true),
            "read" | "edit" | "write" | "glob" | "grep" | "list" | "patch" | "multiedit" => {
                self.path(draft.outside == Some(Verdict::Allow))
            }
            "webfetch" if all => made::tool(verdict, &["fetch"], true),
            "webfetch" => match pattern
                .strip_suffix("/*")
                .or_else(|| pattern.strip_suffix('*'))
            {
                Some(host) if host.contains("://") => made::host(verdict, host, true),
                _ if verdict == Verdict::Allow => {
                    Made::not("a URL is judged by its host: it is left to what comes after it")
                }
                _ => made::tool(verdict, &["fetch"], true).but(format!(
                    "a URL is judged by its host: every fetch is {}",
                    made::done(verdict)
                )),
            },
            "task" | "skill" => self.named(),
            LSP if verdict == Verdict::Allow => {
                Made::not("acl knows lsp as `read`: it is left to what comes after it")
            }
            key => {
                let names = tools(key);
                let own =
                    |name: &&str| *name == LSP || crate::call::tools::canonical(name).is_some();
                let by_glob = key.contains('*') && names.iter().any(|name| own(&name.as_str()));
                // An allow reaches no tool by way of another.
                let names: Vec<&str> = names
                    .iter()
                    .map(String::as_str)
                    .filter(|name| {
                        verdict != Verdict::Allow
                            || !(by_glob && own(name) || made::reaches_own(name))
                    })
                    .collect();
                let made = match (all, verdict) {
                    _ if names.is_empty() => Made::not("it stands for tools of opencode itself too: name those that it is about"),
                    (true, _) if by_glob => made::tool(verdict, &names, true).but("it stands for tools of opencode itself too"),
                    (_, Verdict::Allow) if names.contains(&"own") => Made::full([]).said("it passes anyway"),
                    (true, _) => made::tool(verdict, &names, true),
                    (false, Verdict::Allow) => Made::not("what its pattern is compared with is not known to acl: it is left to what comes after it"),
                    (false, _) => made::tool(verdict, &names, true).but(format!("what its pattern is compared with is not known to acl: all of the tool is {}", made::done(verdict))),
                };
                let made = made.each(|entry| {
                    if entry.tools == [LSP] {
                        *entry = looking(verdict);
                    }
                });
                let shares: Vec<&str> = siblings(key).collect();
                match shares.is_empty() || verdict == Verdict::Allow {
                    true => made,
                    false => made.but(format!(
                        "acl knows it and {} as one tool",
                        shares.join(", ")
                    )),
                }
            }
        }
    }

    /// Paths outside: an allow there is one of two that a call needs.
    fn outside(&self) -> Made {
        let paths = stars::paths(self.pattern, false).filter(|_| self.verdict != Verdict::Allow);
        match paths {
            Some(paths) => {
                let both = [What::Reads(paths.clone()), What::Writes(paths)];
                let made = Made::full(both.map(|what| Entry::new(self.verdict, what)));
                match self.verdict {
                    Verdict::Ask => {
                        made.but("it is asked in place of what the tool asks, not besides")
                    }
                    _ => made,
                }
            }
            None if self.verdict == Verdict::Allow => Made::not(
                "what lies outside asks: an allow of this path under `[paths.read]` or `[paths.write]` settles that",
            ),
            None => Made::not("acl cannot say this path; what lies outside asks"),
        }
    }

    /// Tools that read or write files.
    fn path(&self, outside_passes: bool) -> Made {
        let (tools, writes): (&[&str], bool) = match self.key {
            "read" => (&["read"], false),
            "grep" => (&["search"], false),
            "glob" | "list" => (&["list"], false),
            _ => (&["edit", "write"], true),
        };
        let shares = match self.key {
            "glob" | "list" => Some("acl knows glob and list as one tool, `list`"),
            "write" | "patch" | "multiedit" => {
                Some("opencode asks `edit` for whatever edits files")
            }
            _ => None,
        };
        if shares.is_some() && self.verdict == Verdict::Allow {
            return Made::not(format!(
                "{}: it is left to what comes after it",
                shares.unwrap_or_default()
            ));
        }
        let made = match self.pattern {
            "*" => made::tool(self.verdict, tools, true),
            // What they look for is no path.
            _ if ["grep", "glob"].contains(&self.key) => match self.verdict {
                Verdict::Allow => Made::not(
                    "it is compared with what is looked for: it is left to what comes after it",
                ),
                _ => made::tool(self.verdict, tools, true).but(format!(
                    "it is compared with what is looked for: all of the tool is {}",
                    made::done(self.verdict)
                )),
            },
            pattern
                if self.verdict == Verdict::Allow
                    && !outside_passes
                    && pattern.starts_with(['/', '~', '$']) =>
            {
                Made::not(
                    "opencode asks besides about what lies outside of the project: it is left to what comes after it",
                )
            }
            pattern => match stars::paths(pattern, self.verdict == Verdict::Allow) {
                Some(paths) => {
                    let what = match writes {
                        true => What::Writes(paths),
                        false => What::Reads(paths),
                    };
                    // Only a refusal is meant of what lies below, too.
                    let alone = self.verdict != Verdict::Deny && !pattern.ends_with('*');
                    made::paths(self.verdict, what, tools, true).each(|entry| entry.exact |= alone)
                }
                None if self.verdict == Verdict::Allow => {
                    Made::not("acl cannot say this path: it is left to what comes after it")
                }
                None => made::tool(self.verdict, tools, true).but(format!(
                    "acl cannot say this path: all of the tool is {}",
                    made::done(self.verdict)
                )),
            },
        };
        match shares {
            Some(shares) if made.fidelity != Fidelity::Not => made.but(shares),
            _ => made,
        }
    }

    /// Sub-agents and skills by their name.
    fn named(&self) -> Made {
        let (tool, arg) = match self.key {
            "task" => ("agent", "subagent_type"),
            _ => ("skill", "name"),
        };
        let made = made::tool(self.verdict, &[tool], true);
        match self.pattern {
            "*" => made,
            pattern if pattern.contains(['[', '{', '\\', '?']) => match self.verdict {
                Verdict::Allow => Made::not("its pattern is left to what comes after it"),
                _ => made.but(format!("all of the tool is {}", made::done(self.verdict))),
            },
            pattern => made.each(|entry| entry.args = vec![(arg.to_owned(), quoted(pattern))]),
        }
    }
}
