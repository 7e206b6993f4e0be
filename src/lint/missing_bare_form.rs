//! A deny or ask of `sudo *` leaves `sudo` alone open: the star asks for one more word.
//!
//! A pattern is a prefix already. In an allow the star is left alone: there it narrows.

use super::Room;
use super::room::{Pattern, retyped, written};
use crate::call::shell;
use crate::finding::Finding;
use crate::language;
use crate::matcher::commands::{self, Spelled};
use crate::matcher::located::Frame;
use crate::matcher::paths::Stance;
use crate::policy::glob::Fit;
use crate::policy::patterns::{CommandPattern, WordPattern};
use crate::policy::rule::{Judges, Rule, Verdict};
use std::collections::BTreeMap;

const CODE: &str = "missing-bare-form";

/// Looks at command rules that close something.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // Of rules that are always on all of one verdict leave the same open.
    let mut known: BTreeMap<(Verdict, String), bool> = BTreeMap::new();
    for (rule, commands) in room.command_rules() {
        // An exact rule says how many words it means: without its star it would mean fewer.
        if rule.action == Verdict::Allow || commands.exact {
            continue;
        }
        for own in written(rule) {
            let bare: Option<Vec<CommandPattern>> = own
                .patterns
                .iter()
                .map(|pattern| match pattern {
                    Pattern::Command(command) => bare(command),
                    _ => None,
                })
                .collect();
            let Some(bare) = bare else { continue };
            let open = bare.iter().any(|bare| {
                let line = language::sample(bare, |_| true);
                match is_free(rule) {
                    true => {
                        let known = known.entry((rule.action, line.clone()));
                        !*known.or_insert_with(|| closed(room, rule, &line))
                    }
                    false => !closed(room, rule, &line),
                }
            });
            let Some(shown) = bare.first().filter(|_| open).map(shown) else {
                continue;
            };
            let verdict = rule.action;
            let span = room.spot_of(rule, &own);
            let prefix = without_star(&own.text);
            let finding =
                Finding::lint(
                    CODE,
                    format!("the {verdict} of `{}` leaves `{shown}` without further words open", own.text),
                    &rule.place.source,
                    span,
                )
                .label("the `*` stands for one word that must be there")
                .help(format!("write `{prefix}`: a command pattern is a prefix"));
            found.push(match retyped(&rule.place.source, span, &own.text, prefix) {
                Some(text) => finding.fix(
                    span,
                    text,
                    format!("`{}` becomes `{prefix}`: the {verdict} takes it without further words too", own.text),
                ),
                None => finding,
            });
        }
    }
    found
}

/// The pattern without the stars at its end.
fn bare(command: &CommandPattern) -> Option<CommandPattern> {
    let star = |word: &WordPattern| matches!(word, WordPattern::Word(glob) if glob.is_star());
    let stars = command.words.iter().skip(1).rev().take_while(|word| star(word));
    let stars = stars.count();
    let bare = command.clone().shortened(command.words.len() - stars);
    (stars > 0 && !bare.words.contains(&WordPattern::Any)).then_some(bare)
}

/// Whether some rule at least as strict takes the bare command, as the matcher sees it.
fn closed(room: &Room<'_>, rule: &Rule, line: &str) -> bool {
    let accesses = shell::accesses(line, &shell::Scene::default());
    let frame = Frame::default();
    let spelled = (0..accesses.len()).filter_map(|at| Spelled::of(&accesses, at));
    let takes = |spelled: &Spelled<'_>, at: usize| {
        let other = room.matcher.rules.get(at).map(|own| &own.rule);
        other.is_some_and(|other| match &other.judges {
            Judges::Commands(own) => {
                other.action >= rule.action
                    && (is_free(other) || std::ptr::eq(other, rule))
                    && commands::fit_spelled(own, spelled, Stance::Tightens, &frame).fit == Fit::Must
            }
            _ => false,
        })
    };
    let mut closing = spelled.filter(|spelled| {
        let near = room.matcher.command_candidates(spelled);
        near.into_iter().any(|at| takes(spelled, at))
    });
    closing.next().is_some()
}

fn is_free(rule: &Rule) -> bool {
    rule.tools.is_empty() && rule.args.is_empty() && rule.when.is_empty() && rule.unless.is_empty()
}

fn shown(command: &CommandPattern) -> String {
    let word = |word: &WordPattern| match word {
        WordPattern::Word(glob) => crate::policy::patterns::spell(glob),
        WordPattern::Any => "**".to_owned(),
    };
    command.words.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn without_star(text: &str) -> &str {
    let mut text = text.trim_end();
    while let Some(rest) = text.strip_suffix(" *") {
        text = rest.trim_end();
    }
    text
}
