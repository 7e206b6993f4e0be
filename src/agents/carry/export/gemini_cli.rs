//! A policy → a policy file of Gemini CLI.
//!
//! The highest priority wins, so the order of a policy can be said; what stands in arguments other than a command cannot.

use super::codex::prefixes;
use super::wishes::{Said, Wish, Wishes};
use crate::agents::carry::{Carried, Report};
use crate::agents::gemini_cli::TOOLS;
use crate::call::glob::Glob;
use crate::call::tools as canonical;
use crate::policy::rule::{Section, Verdict};
use std::fmt::Write as _;

const NOTES: &[&str] = &[
    "Gemini CLI compares texts: `git -C x push`, `bash -c 'git push'` and `/usr/bin/git push` are not `git push` to it. The hook judges what acl judges: `acl hook gemini-cli`",
    "put the file into `~/.gemini/policies`: Gemini CLI ignores policies in the workspace",
];

pub(in crate::agents::carry) fn export(wishes: Wishes) -> Carried {
    let mut text = String::from("# Made by `acl export gemini-cli`.\n");
    let notes = NOTES.iter().map(|note| (*note).to_owned()).collect();
    let mut report = Report {
        lines: wishes.lines,
        notes,
    };
    let mut above = 999;
    let mut last = None;
    for wish in &wishes.all {
        // Where order decides each rule has a priority of its own, as far as they go; else each verdict has one.
        let group = (
            wish.verdict,
            matches!(wish.said, Said::Tier(_)),
            matches!(wish.said, Said::Tool(_) | Said::Rest(_)),
        );
        if wishes.ordered || last.is_some_and(|last| last != group) {
            above = std::cmp::max(above - 1, 1);
        }
        last = Some(group);
        let (rules, says, exact) = told(wish);
        let mut becomes = Vec::new();
        for rule in rules {
            let _ = write!(
                text,
                "\n[[rule]]    # {}\n{rule}\ndecision = {}\npriority = {above}\n",
                wish.key.escape_debug(),
                quoted(match wish.verdict {
                    Verdict::Allow => "allow",
                    Verdict::Ask => "ask_user",
                    Verdict::Deny => "deny",
                })
            );
            if let Some(reason) = wish
                .reason
                .as_ref()
                .filter(|_| wish.verdict == Verdict::Deny)
            {
                let _ = writeln!(text, "denyMessage = {}", quoted(reason));
            }
            becomes.push(rule.replace('\n', ", "));
        }
        report.lines.push(wish.line(becomes, says, exact));
    }
    Carried { text, report }
}

fn told(wish: &Wish) -> (Vec<String>, Vec<String>, bool) {
    let not = |why: &str| (Vec::new(), vec![why.to_owned()], false);
    match &wish.said {
        Said::Tier(name) => tools(wish, std::slice::from_ref(name)),
        Said::Tool(names) => tools(wish, names),
        Said::Commands(..) if !wish.through(&["bash"]) => not("Gemini CLI has no such tool"),
        Said::Commands(patterns, exact) => {
            let plain = |word: &String| {
                !word.is_empty()
                    && word
                        .chars()
                        .all(|c| c.is_alphanumeric() || "_@%+:,./-=^~".contains(c))
            };
            let (rules, mut says) = prefixes(wish, patterns, *exact, |words| {
                let known: Vec<&str> = words
                    .iter()
                    .take_while(|word| plain(word))
                    .map(String::as_str)
                    .collect();
                match (
                    known.is_empty(),
                    known.len() == words.len() || wish.verdict != Verdict::Allow,
                ) {
                    (false, true) => format!(
                        "toolName = \"run_shell_command\"\ncommandPrefix = {}",
                        quoted(&known.join(" "))
                    ),
                    _ => String::new(),
                }
            });
            let all = rules.len();
            let rules: Vec<String> = rules.into_iter().filter(|rule| !rule.is_empty()).collect();
            if rules.len() < all {
                says.push("a word that needs quotes cannot be said".to_owned());
            }
            let cut = patterns.iter().any(|pattern| {
                pattern
                    .words
                    .iter()
                    .any(|word| word.literal().is_some_and(|word| !plain(&word.to_owned())))
            });
            if cut && says.is_empty() {
                says.push("a word that needs quotes is left out, which makes it wider".to_owned());
            }
            (rules, says, false)
        }
        Said::Paths(..) => not("Gemini CLI has no rules for paths"),
        Said::Hosts(_) => not("Gemini CLI has no rules for hosts"),
        Said::Rest(section) if wish.verdict == Verdict::Deny => match section {
            Section::Commands => (
                native("bash").into_iter().collect(),
                vec!["whatever a command line does is meant".to_owned()],
                false,
            ),
            _ => not("Gemini CLI has rules for commands and tools only"),
        },
        Said::Rest(Section::Paths(_) | Section::Hosts) if wish.verdict == Verdict::Ask => {
            not("an allowed command is not asked about the paths and hosts it names")
        }
        Said::Rest(_) if wish.verdict == Verdict::Allow => {
            not("Gemini CLI asks where no rule speaks")
        }
        Said::Rest(_) | Said::Outside if wish.verdict == Verdict::Ask => (
            Vec::new(),
            vec!["Gemini CLI asks by itself".to_owned()],
            true,
        ),
        Said::Rest(_) | Said::Outside => not("Gemini CLI knows no paths outside"),
    }
}

/// Rules for tools by their names. Of patterns it knows all tools, all of MCP, all of a server, and one name of any server:
/// a refusal or question goes to the next wider of these, an allow to none.
fn tools(wish: &Wish, names: &[String]) -> (Vec<String>, Vec<String>, bool) {
    let (mut rules, mut says) = (Vec::new(), Vec::new());
    for name in names {
        let mut one = |rule: String| {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        };
        let starred = |text: &str| text.contains(['*', '?', '[', '\\']);
        let server = |server: &str| format!("mcpName = {}", quoted(server));
        let own = native(name);
        if let Some(own) = own {
            one(own);
        } else if name == "*" {
            one("toolName = \"*\"".to_owned());
        } else if canonical::canonical(name).is_some() {
            says.push(format!("Gemini CLI has no tool `{name}`"));
        } else if let Some(rest) = name.strip_prefix("mcp__") {
            let (of, tool) = rest.split_once("__").unwrap_or((rest, "*"));
            let sure = rest.contains("__") || rest == "*";
            match (
                starred(of) && of != "*" || !sure,
                starred(tool) && tool != "*",
            ) {
                (false, false) if tool == "*" => one(server(of)),
                (false, false) => one(format!("{}\ntoolName = {}", server(of), quoted(tool))),
                _ if wish.verdict == Verdict::Allow => {
                    says.push(format!("`{name}` would allow more: it asks"));
                }
                (wide, _) => {
                    let of = if wide { "*" } else { of };
                    says.push(format!(
                        "`{name}` is meant with all tools of mcpName `{of}`"
                    ));
                    one(server(of));
                }
            }
        } else if !starred(name) {
            one(format!("toolName = {}", quoted(name)));
        } else if wish.verdict == Verdict::Allow {
            says.push(format!("`{name}` would allow more: it asks"));
        } else {
            // Of its own tools those that the pattern is for; what it is for besides has no name that is known.
            let globs = Glob::parse(name).unwrap_or_default();
            let fits = |tool: &&str| globs.iter().any(|own| own.matches_text(tool, false));
            canonical::names()
                .filter(fits)
                .filter_map(native)
                .for_each(&mut one);
            if globs.iter().any(|own| own.begins("mcp__")) {
                one(server("*"));
            }
            says.push(format!(
                "`{name}` is meant for tools of Gemini CLI, and for all of MCP or none"
            ));
        }
    }
    (rules, says, false)
}

/// Its names of a canonical tool.
fn native(name: &str) -> Option<String> {
    let own = TOOLS.iter().filter(|tool| tool.canonical == name);
    let own: Vec<String> = own.map(|tool| quoted(tool.native)).collect();
    (!own.is_empty()).then(|| format!("toolName = [{}]", own.join(", ")))
}

fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}
