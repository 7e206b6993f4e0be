//! A policy → `permissions` of Claude Code's `settings.json`.
//!
//! A refusal wins over a question and that over an allow. What its texts cannot say exactly is refused or asked about
//! more widely, and not allowed.

use super::wishes::{self, Said, Wish, Wishes};
use crate::agents::carry::import::claude_code::PASSES;
use crate::agents::carry::{Carried, Report};
use crate::agents::claude_code::TOOLS;
use crate::call::access::Mode;
use crate::call::glob::Glob;
use crate::policy::patterns::{Anchor, HostName, PathPattern};
use crate::policy::rule::{Section, Verdict};

const NOTES: &[&str] = &[
    "Claude Code compares texts: `git -C x push`, `bash -c 'git push'` and `/usr/bin/git push` are not `git push` to it. The hook judges what acl judges: `acl hook claude-code`",
    "Claude Code itself lets some commands that only look pass, and asks where no rule speaks",
];

pub(in crate::agents::carry) fn export(wishes: Wishes) -> Carried {
    let several = wishes.lose_order();
    let mut lists: [Vec<String>; 3] = Default::default();
    let mut report = Report {
        lines: wishes.lines,
        notes: NOTES.iter().map(|note| (*note).to_owned()).collect(),
    };
    let allowed: Vec<Glob> = wishes.all.iter().flat_map(allows).collect();
    for wish in &wishes.all {
        let (rules, mut says, exact) = match confined(&wishes.all, wish, wishes.confined) {
            Some(told) => told,
            None => told(wish, &allowed),
        };
        if several && !rules.is_empty() {
            says.push(
                "a refusal wins over a question and that over an allow, whatever their order"
                    .to_owned(),
            );
        }
        for rule in &rules {
            if let Some(list) = lists
                .get_mut(wish.verdict as usize)
                .filter(|list| !list.contains(rule))
            {
                list.push(rule.clone());
            }
        }
        report.lines.push(wish.line(rules, says, exact));
    }
    let [allow, ask, deny] = lists;
    let text = serde_json::json!({"permissions": {"allow": allow, "ask": ask, "deny": deny}});
    Carried {
        text: format!("{text:#}\n"),
        report,
    }
}

/// The rules, what differs, and whether there is nothing to say because the agent does so by itself.
fn told(wish: &Wish, allowed: &[Glob]) -> (Vec<String>, Vec<String>, bool) {
    let not = |why: &str| (Vec::new(), vec![why.to_owned()], false);
    let allow = wish.verdict == Verdict::Allow;
    let mut rules = Vec::new();
    let mut says = Vec::new();
    match &wish.said {
        Said::Tier(name) if wish.verdict == Verdict::Ask && within(name, allowed) => {
            return (natives(name), vec![NO_ALLOW.to_owned()], false);
        }
        Said::Tier(name) => return tier(wish.verdict, name),
        Said::Tool(names) => {
            for name in names {
                let (own, why, _) = tier(wish.verdict, name);
                if own.is_empty() && wish.verdict == Verdict::Ask {
                    rules.extend(natives(name));
                }
                rules.extend(own);
                says.extend(why.into_iter().filter(|_| wish.verdict != Verdict::Ask));
            }
        }
        Said::Commands(..) if !wish.through(&["bash"]) => {
            return not("Claude Code has no such tool");
        }
        Said::Commands(patterns, exact) => {
            for text in wishes::all_starred(patterns, *exact, false, allow, &mut says) {
                let prefix = text
                    .strip_suffix(" *")
                    .filter(|prefix| !prefix.contains('*') && prefix.contains(' '));
                rules.push(prefix.map_or_else(
                    || format!("Bash({text})"),
                    |prefix| format!("Bash({prefix}:*)"),
                ));
            }
        }
        Said::Paths(modes, patterns, exact) => {
            for mode in modes {
                let (tool, tools): (_, &[&str]) = match mode {
                    Mode::Read => ("Read", &["read", "search", "list"]),
                    _ => ("Edit", &["edit", "write"]),
                };
                if !wish.through(tools) || *exact && allow {
                    says.push("Claude Code cannot say so little: it asks".to_owned());
                    continue;
                }
                if allow {
                    says.push("for its file tools only: command lines ask".to_owned());
                }
                for pattern in patterns {
                    rules.extend(
                        ignored(pattern, allow)
                            .into_iter()
                            .map(|path| format!("{tool}({path})")),
                    );
                }
            }
            if *exact && !allow {
                says.push("what lies below is meant too".to_owned());
            }
        }
        Said::Hosts(patterns) => {
            for pattern in patterns {
                let narrow = pattern.scheme.is_some() || pattern.port.is_some();
                match &pattern.host {
                    _ if allow && (narrow || !wish.through(&["fetch"])) => {
                        says.push(format!("`{}` would allow more: it asks", pattern.text))
                    }
                    HostName::Any => rules.push("WebFetch".to_owned()),
                    HostName::Exact(host) => rules.push(format!("WebFetch(domain:{host})")),
                    HostName::Below(host) => rules.push(format!("WebFetch(domain:*.{host})")),
                }
                if narrow && !allow {
                    says.push(format!(
                        "`{}` is meant with every scheme and port",
                        pattern.text
                    ));
                }
            }
            says.push("for its fetch only, not for command lines".to_owned());
        }
        Said::Rest(Section::Paths(_) | Section::Hosts) if !allow => {
            return not("an allowed command is not asked about the paths and hosts it names");
        }
        Said::Rest(_) if wish.verdict == Verdict::Ask => {
            return (
                Vec::new(),
                vec!["Claude Code asks by itself".to_owned()],
                true,
            );
        }
        Said::Rest(_) => return not("Claude Code asks where no rule speaks"),
        Said::Outside if wish.verdict == Verdict::Ask => {
            return (
                Vec::new(),
                vec!["Claude Code asks by itself".to_owned()],
                true,
            );
        }
        Said::Outside => return not("Claude Code asks about what lies outside"),
    }
    (rules, says, false)
}

/// What allows tools that edit files, in a workspace only: Claude Code says that of all of them at once.
fn confined(all: &[Wish], wish: &Wish, holds: bool) -> Option<(Vec<String>, Vec<String>, bool)> {
    let names = |wish: &Wish| -> Vec<String> {
        match &wish.said {
            _ if wish.verdict != Verdict::Allow => Vec::new(),
            Said::Tier(name) => vec![name.clone()],
            Said::Tool(names) => names.clone(),
            _ => Vec::new(),
        }
    };
    let own = names(wish);
    if !holds || !own.iter().any(|name| EDITS.contains(&name.as_str())) {
        return None;
    }
    let allowed: Vec<String> = all.iter().flat_map(names).collect();
    let mut rules = Vec::new();
    let mut says = Vec::new();
    for name in own {
        if !EDITS.contains(&name.as_str()) {
            let (own, why, _) = tier(wish.verdict, &name);
            rules.extend(own);
            says.extend(why);
        } else if EDITS
            .iter()
            .all(|edits| allowed.iter().any(|name| name == edits))
        {
            rules.push("Edit(/**)".to_owned());
        } else {
            says.push("within the workspace Claude Code allows all tools that edit files, or none: it asks".to_owned());
        }
    }
    rules.dedup();
    Some((rules, says, false))
}

/// The tools that edit files.
const EDITS: &[&str] = &["edit", "write"];

/// The names that an allow of tools as such is for.
fn allows(wish: &Wish) -> Vec<Glob> {
    let names = match &wish.said {
        Said::Tier(name) => std::slice::from_ref(name),
        Said::Tool(names) => names.as_slice(),
        _ => &[],
    };
    let names = names.iter().filter(|_| wish.verdict == Verdict::Allow);
    names
        .flat_map(|name| Glob::parse(name).unwrap_or_default())
        .collect()
}

/// Whether an allow of tools reaches a question about some, which the more specific name settles in acl: Claude Code does
/// not ask by itself there. An allow that is the more specific one stays one.
fn within(name: &str, allowed: &[Glob]) -> bool {
    let asked = Glob::parse(name).unwrap_or_default();
    let meet = |own: &Glob, other: &Glob| {
        let (a, b) = (start(own), start(other));
        !own.covers(other) && (a.starts_with(&b) || b.starts_with(&a))
    };
    asked
        .iter()
        .any(|own| allowed.iter().any(|allow| meet(own, allow)))
}

/// The characters that all that a glob matches begins with.
fn start(glob: &Glob) -> String {
    let tokens = glob.tokens();
    tokens.iter().map_while(|token| token.char()).collect()
}

const NO_ALLOW: &str = "no allow rule answers what it asks";

/// Its names of a tool.
fn natives(name: &str) -> Vec<String> {
    let own = TOOLS.iter().filter(|tool| tool.canonical == name);
    let own: Vec<String> = own.map(|tool| tool.native.to_owned()).collect();
    match own.is_empty() {
        true => vec![name.to_owned()],
        false => own,
    }
}

fn tier(verdict: Verdict, name: &str) -> (Vec<String>, Vec<String>, bool) {
    let nothing = |why: &str, exact| (Vec::new(), vec![why.to_owned()], exact);
    let passes = PASSES.contains(&name);
    match verdict {
        Verdict::Allow if passes => nothing("it passes by itself", true),
        Verdict::Ask if !passes => nothing("Claude Code asks by itself", true),
        Verdict::Allow if name.contains('*') => {
            let server = name
                .strip_prefix("mcp__")
                .and_then(|rest| rest.split_once("__"));
            match server {
                Some((server, _)) if !server.contains('*') => {
                    (vec![name.to_owned()], Vec::new(), false)
                }
                _ => nothing(
                    "an allow must spell out the tool, or `mcp__` and a server's name: it asks",
                    false,
                ),
            }
        }
        Verdict::Allow if name.contains(['?', '[', '{']) => {
            nothing("an allow must spell out the tool: it asks", false)
        }
        Verdict::Allow => (natives(name), Vec::new(), false),
        Verdict::Ask => (natives(name), vec![NO_ALLOW.to_owned()], false),
        Verdict::Deny if name == "edit" => (
            natives(name),
            vec!["Claude Code may take Edit for whatever edits files".to_owned()],
            false,
        ),
        Verdict::Deny => (natives(name), Vec::new(), false),
    }
}

/// Its paths for a pattern.
fn ignored(pattern: &PathPattern, allow: bool) -> Vec<String> {
    let mut body = wishes::components(pattern).join("/");
    if pattern.directory {
        body.push('/');
    }
    match pattern.anchor {
        // A refusal holds outside of the workspace too.
        Anchor::Name if !allow => vec![body.clone(), format!("//**/{body}")],
        Anchor::Name => vec![body],
        Anchor::Root => vec![format!("/{body}")],
        Anchor::Absolute => vec![format!("//{body}")],
        Anchor::Home => vec![format!("~/{body}")],
    }
}
