//! Calls that show what is no rule: of accesses that no rule names, and of those that rules name.
//!
//! In: two policies. Out: a few calls for each kind of key, by tools and by shells; which of them is decided differently
//! is the caller's question.

use super::super::Entry;
use super::super::encode::{Space, commands_of};
use super::super::rules::tools_that;
use super::super::sample;
use super::super::search::{Found, Search};
use super::super::shape::BREAK;
use super::super::witness::{Witness, argument};
use super::fate::calls;
use super::tiers::by_name;
use super::{Both, Side};
use crate::call::Said;
use crate::call::access::Mode;
use crate::policy::rule::Verdict;
use std::collections::BTreeSet;

/// How many rules are asked for a call.
const MOST_RULES: usize = 64;

/// The kinds of access that a tool's arguments make.
const SPACES: [Space; 4] = [
    Space::Commands,
    Space::Paths(Mode::Read),
    Space::Paths(Mode::Write),
    Space::Hosts,
];

/// How many allowed commands are tried for what they may do.
const MOST_STARTS: usize = 16;

/// Lines that nobody understands.
const OPAQUE: [&str; 3] = ["'", "eval \"$x\"", "if true"];

/// The tools of both that make such accesses.
fn tools(space: Space, both: &Both<'_, '_>) -> BTreeSet<String> {
    let sides = both.sides().into_iter();
    sides
        .flat_map(|side| tools_that(side.rules.matcher, space))
        .collect()
}

/// What a word says, by any tool that does it.
fn of_word(
    space: Space,
    word: &str,
    tools: &BTreeSet<String>,
    both: &Both<'_, '_>,
) -> Vec<Witness> {
    let mut out = Vec::new();
    for (side, tool) in both
        .sides()
        .iter()
        .flat_map(|side| tools.iter().map(move |tool| (side, tool)))
    {
        let matcher = side.rules.matcher;
        let does = matcher
            .declaration(tool)
            .is_some_and(|own| argument(own, space).is_some());
        if does {
            let scene = &side.rules.scene;
            out.extend(scene.call(matcher, space, word, tool, &Default::default(), &[]));
        }
    }
    for side in both.sides() {
        let (matcher, scene) = (side.rules.matcher, &side.rules.scene);
        let shells = self::tools(Space::Commands, both).into_iter();
        let starts = allowed(side);
        for (shell, line) in scene.lines(shells, space, word, &starts) {
            out.extend(scene.line(matcher, &line, &shell, &Default::default()));
        }
    }
    out
}

/// Commands that a policy allows, as one would type them.
fn allowed(side: &Side<'_>) -> Vec<String> {
    let entries = side.within(Space::Commands);
    let entries = entries.filter(|own| own.action() == Verdict::Allow);
    let commands = entries.flat_map(|own| commands_of(&own.written));
    commands
        .take(MOST_STARTS)
        .map(|own| sample(own, |_| true))
        .collect()
}

/// Calls for accesses that no rule of either names.
pub fn unnamed(space: Space, both: &Both<'_, '_>) -> Vec<Witness> {
    let mut named = Vec::new();
    for side in both.sides() {
        let parts = side
            .within(space)
            .flat_map(|own| own.parts.iter().flatten());
        named.extend(parts.filter_map(|part| side.rules.under(part)));
    }
    let rules = &both.old.rules;
    let Some(plain) = rules.plain(false, space) else {
        return Vec::new();
    };
    let mut wanted = vec![plain];
    if matches!(space, Space::Paths(_)) {
        let inside = wanted.clone().into_iter().map(|mut own| {
            own.is.extend(rules.inside_roots());
            own
        });
        wanted.splice(0..0, inside.collect::<Vec<_>>());
    }
    let tools = tools(space, both);
    let words = wanted.into_iter().flat_map(|wanted| {
        let mut search = Search::new(&rules.alphabet, wanted, named.clone());
        let words = std::iter::from_fn(move || match search.next() {
            Found::Word(word) => Some(word),
            _ => None,
        });
        words.take(super::super::TRIES)
    });
    words
        .flat_map(|word| of_word(space, &word, &tools, both))
        .collect()
}

/// Calls for files in the roots of either, and outside.
pub fn paths(both: &Both<'_, '_>) -> Vec<Witness> {
    let folders = &both.old.rules.scene.folders;
    let roots = folders
        .roots
        .iter()
        .map(|root| format!("{BREAK}{}", root.join(&BREAK.to_string())));
    let words: Vec<String> = [format!("{BREAK}elsewhere")]
        .into_iter()
        .chain(roots)
        .map(|folder| format!("{folder}{BREAK}x"))
        .collect();
    let mut out = Vec::new();
    for space in [Space::Paths(Mode::Read), Space::Paths(Mode::Write)] {
        let tools = tools(space, both);
        out.extend(
            words
                .iter()
                .flat_map(|word| of_word(space, word, &tools, both)),
        );
    }
    out.extend(of_rules(both, |entry| {
        let mut spaces = entry.spaces().into_iter();
        spaces.any(|space| matches!(space, Space::Paths(_)))
    }));
    // Where no root is stated it is the folder of the call.
    let elsewhere = out.iter().map(|witness| {
        let mut witness = witness.clone();
        witness.call.cwd = Some("/elsewhere".into());
        witness
    });
    let elsewhere: Vec<Witness> = elsewhere.collect();
    out.extend(elsewhere);
    out
}

/// Lines that nobody understands, by every shell.
pub fn lines(both: &Both<'_, '_>) -> Vec<Witness> {
    let mut out = Vec::new();
    for tool in tools(Space::Commands, both) {
        for side in both.sides() {
            let (scene, matcher) = (&side.rules.scene, side.rules.matcher);
            let calls = OPAQUE
                .iter()
                .filter_map(|line| scene.line(matcher, line, &tool, &Default::default()));
            out.extend(calls);
        }
    }
    out
}

/// Calls of the words that some rules name.
pub fn of_rules(both: &Both<'_, '_>, wanted: impl Fn(&Entry<'_>) -> bool) -> Vec<Witness> {
    let mut out = Vec::new();
    for side in both.sides() {
        let entries = side.rules.entries.iter().filter(|entry| wanted(entry));
        for entry in entries.take(MOST_RULES) {
            for space in entry.spaces() {
                out.extend(
                    words(entry, space, side)
                        .flat_map(|word| calls(entry, space, &word, side, both)),
                );
            }
        }
    }
    out
}

/// The shortest word of each pattern of an entry.
fn words(entry: &Entry<'_>, space: Space, side: &Side<'_>) -> impl Iterator<Item = String> {
    let rules = &side.rules;
    let sampled = rules.sampled(entry, space).into_iter();
    sampled.filter_map(
        |own| match Search::new(&rules.alphabet, own, Vec::new()).next() {
            Found::Word(word) => Some(word),
            _ => None,
        },
    )
}

/// Calls of a tool whose declaration changed, for what rules name and for what they do not.
pub fn of_tool(name: &str, both: &Both<'_, '_>) -> Vec<Witness> {
    let tool = BTreeSet::from([name.to_owned()]);
    let mut out = by_name(name, both);
    for space in SPACES {
        for side in both.sides() {
            for entry in side.within(space).take(MOST_RULES) {
                let words = words(entry, space, side);
                out.extend(words.flat_map(|word| of_word(space, &word, &tool, both)));
            }
        }
        if space != Space::Commands {
            let word = format!("{BREAK}elsewhere{BREAK}x");
            out.extend(of_word(space, &word, &tool, both));
        }
    }
    out
}

/// Calls about which an outside authority says something, or nothing.
pub fn endorsed(both: &Both<'_, '_>) -> Vec<Witness> {
    let plain: Vec<Witness> = {
        let names = both
            .sides()
            .into_iter()
            .flat_map(|side| side.rules.matcher.tool_names());
        names
            .collect::<BTreeSet<&str>>()
            .into_iter()
            .flat_map(|name| by_name(name, both))
            .collect()
    };
    let sources: BTreeSet<&String> = both
        .sides()
        .into_iter()
        .flat_map(|side| side.rules.matcher.sources.iter().map(|own| &own.name))
        .collect();
    let mut out = plain.clone();
    for call in plain.iter().chain(&of_rules(both, |_| true)) {
        for (name, said) in sources
            .iter()
            .flat_map(|name| [Said::Allow, Said::Error].map(|said| (name, said)))
        {
            let mut call = call.clone();
            // All others abstain, so that only this one speaks.
            call.call.verdicts.extend(
                sources
                    .iter()
                    .map(|other| ((*other).clone(), Said::Abstain)),
            );
            call.call.verdicts.insert((*name).clone(), said);
            out.push(call);
        }
    }
    out
}
