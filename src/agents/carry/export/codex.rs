//! A policy → Codex' `.rules`.
//!
//! Rules for commands only, by literal words: a pattern with a star ends where the star is, and is then wider.

use super::wishes::{self, Said, Wish, Wishes};
use crate::agents::carry::{Carried, Report};
use crate::policy::patterns::CommandPattern;
use crate::policy::rule::{Section, Verdict};
use std::fmt::Write as _;

const NOTES: &[&str] = &[
    "Codex compares words: `git -C x push` and `/usr/bin/git push` are not `git push` to it, and it takes a script with an expansion or a redirection for one command. The hook judges what acl judges: `acl hook codex`",
    "what no rule names is left to Codex' approval policy and its sandbox",
];

pub(in crate::agents::carry) fn export(wishes: Wishes) -> Carried {
    let several = wishes.lose_order();
    let mut text = String::from("# Made by `acl export codex`.\n\n");
    let notes = NOTES.iter().map(|note| (*note).to_owned()).collect();
    let mut report = Report {
        lines: wishes.lines,
        notes,
    };
    for wish in &wishes.all {
        let not = |why: &str| (Vec::new(), vec![why.to_owned()], false);
        let (rules, mut says, exact) = match &wish.said {
            Said::Commands(..) if !wish.through(&["bash"]) => not("Codex has no such tool"),
            Said::Commands(patterns, exact) => {
                let (rules, says) = prefixes(wish, patterns, *exact, |words| rule(wish, words));
                (rules, says, false)
            }
            // Nothing of this is said there, and little of it needs to be: what no rule names asks, at most.
            Said::Rest(Section::Paths(_) | Section::Hosts) => {
                not("an allowed command is not asked about the paths and hosts it names")
            }
            Said::Tier(_) | Said::Rest(_) | Said::Outside if wish.verdict == Verdict::Ask => (
                Vec::new(),
                vec!["left to Codex' approval policy".to_owned()],
                true,
            ),
            _ => not("Codex has rules for commands only"),
        };
        if several && !rules.is_empty() {
            says.push("the strictest of all that match counts, whatever their order".to_owned());
        }
        if !rules.is_empty() {
            let _ = writeln!(text, "# {}", wish.key.escape_debug());
            for rule in &rules {
                let _ = writeln!(text, "{rule}");
            }
        }
        report.lines.push(wish.line(rules, says, exact));
    }
    Carried { text, report }
}

/// The literal words of patterns, each as a rule; what is lost is said.
pub(super) fn prefixes(
    wish: &Wish,
    patterns: &[CommandPattern],
    exact: bool,
    rule: impl Fn(&[String]) -> String,
) -> (Vec<String>, Vec<String>) {
    let (mut rules, mut says) = (Vec::new(), Vec::new());
    for pattern in patterns {
        let (words, whole) = wishes::literal(pattern);
        match (words.is_empty(), whole && !exact, wish.verdict) {
            (true, ..) => says.push(format!(
                "`{}` begins with no word that is sure",
                pattern.text
            )),
            (_, false, Verdict::Allow) => says.push(format!(
                "`{}` would allow more: it is not allowed",
                pattern.text
            )),
            (_, whole, _) => {
                if !whole {
                    says.push(format!("`{}` as a whole is meant", words.join(" ")));
                }
                let own = rule(&words);
                if !rules.contains(&own) {
                    rules.push(own);
                }
            }
        }
    }
    says.dedup();
    (rules, says)
}

fn rule(wish: &Wish, words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let decision = match wish.verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "prompt",
        Verdict::Deny => "forbidden",
    };
    let reason = wish.reason.as_ref().map_or_else(String::new, |reason| {
        format!(", justification = {}", quoted(reason))
    });
    format!(
        "prefix_rule(pattern = [{}], decision = \"{decision}\"{reason})",
        words.join(", ")
    )
}

/// A Starlark string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}
