//! What differs besides rules and the tiers of tools: a change by its key, never said to be equivalent.
//!
//! In: two policies, and the changes of their rules. Out: a change for each key that is not the same, with a call that
//! shows it where one of a few does: accesses that no rule names, and those that the rules name.

use super::super::Entry;
use super::super::encode::Space;
use super::super::rules::tools_that;
use super::super::search::{Found, Search};
use super::super::shape::BREAK;
use super::super::witness::{Witness, argument};
use super::fate::calls;
use super::side::meaning;
use super::tiers::by_name;
use super::{Both, Change, Fate, Side};
use crate::call::Said;
use crate::call::access::Mode;
use crate::matcher::Matcher;
use crate::policy::rule::{Place, Section};
use crate::policy::{File, Resolution};
use crate::source::Span;
use std::collections::BTreeSet;
use std::fmt::Debug;

/// How many rules are asked for a call.
const MOST_RULES: usize = 64;

const SECTIONS: [(Section, Space, &str); 4] = [
    (Section::Commands, Space::Commands, "commands.default"),
    (
        Section::Paths(Mode::Read),
        Space::Paths(Mode::Read),
        "paths.read.default",
    ),
    (
        Section::Paths(Mode::Write),
        Space::Paths(Mode::Write),
        "paths.write.default",
    ),
    (Section::Hosts, Space::Hosts, "hosts.default"),
];

/// Lines that nobody understands.
const OPAQUE: [&str; 3] = ["'", "eval \"$x\"", "if true"];

/// Whether rules that say the same may mean something else in the two.
pub fn shakes(old: &Matcher, new: &Matcher) -> bool {
    roots(old) != roots(new) || resolutions(old) != resolutions(new)
}

fn roots(matcher: &Matcher) -> impl PartialEq + Debug {
    (matcher.roots.clone(), matcher.folder.clone())
}

fn resolutions(matcher: &Matcher) -> Vec<Resolution> {
    let layers = 0..matcher.policy.layers.len();
    layers.map(|layer| matcher.resolution(layer)).collect()
}

/// Every key that is not the same. `rules` are the changes of rules.
pub fn beyond(both: &Both<'_, '_>, rules: &[Change]) -> Vec<Change> {
    let matchers = both.sides().map(|side| side.rules.matcher);
    let mut out = Vec::new();
    let mut add = |what: &str, places: [Option<Place>; 2], fate: &dyn Fn() -> Fate| {
        let [old, new] = places;
        out.push(Change {
            what: what.into(),
            old,
            new,
            fate: fate(),
        });
    };
    let [old, new] = matchers;
    if old.outside.0 != new.outside.0 {
        let places = matchers.map(|own| own.outside.1.clone());
        add("workspace.outside", places, &|| both.shown(paths(both)));
    }
    if roots(old) != roots(new) {
        let place = |file: &File| {
            file.workspace
                .as_ref()?
                .roots
                .as_ref()?
                .first()
                .map(|own| own.span)
        };
        add(
            "workspace.roots",
            matchers.map(|own| placed(own, place)),
            &|| both.shown(paths(both)),
        );
    }
    if old.opaque != new.opaque {
        let place = |file: &File| file.opaque.as_ref().map(|own| own.span);
        add(
            "commands.opaque",
            matchers.map(|own| placed(own, place)),
            &|| both.shown(lines(both)),
        );
    }
    let names = || {
        both.sides()
            .into_iter()
            .flat_map(|side| side.rules.matcher.tool_names())
    };
    if old.default_verdict() != new.default_verdict() {
        let place = |file: &File| file.tier_default.as_ref().map(|own| own.span);
        let calls = || {
            names()
                .chain(["some_tool"])
                .flat_map(|name| by_name(name, both))
        };
        add(
            "tiers.default",
            matchers.map(|own| placed(own, place)),
            &|| both.shown(calls()),
        );
    }
    if old.takes_unknown() != new.takes_unknown() {
        let place = |file: &File| file.unknown_is_default.as_ref().map(|own| own.span);
        add(
            "tiers.unknown",
            matchers.map(|own| placed(own, place)),
            &|| both.shown(by_name("some_tool", both)),
        );
    }
    for name in names().collect::<BTreeSet<&str>>() {
        if old.declaration(name) != new.declaration(name) {
            let place = |file: &File| {
                let own = file.tools.iter().find(|own| own.value.name == name);
                own.map(|own| own.span)
            };
            let places = matchers.map(|own| placed(own, place));
            add(&format!("tools.{name}"), places, &|| {
                both.shown(of_tool(name, both))
            });
        }
    }
    for name in matchers
        .into_iter()
        .flat_map(Matcher::declared_facts)
        .collect::<BTreeSet<&str>>()
    {
        let said = matchers.map(|own| {
            own.fact_declaration(name)
                .map(|own| (&own.default, &own.values))
        });
        if said[0] != said[1] {
            let place = |file: &File| {
                let own = file.facts.iter().find(|own| own.name == name);
                own.map(|own| own.span)
            };
            let asks = |entry: &Entry<'_>| {
                let rule = &entry.compiled.rule;
                let mut conditions = rule.when.iter().chain(&rule.unless);
                conditions.any(|own| own.path.join(".") == name)
            };
            let places = matchers.map(|own| placed(own, place));
            add(&format!("facts.{name}"), places, &|| {
                both.shown(of_rules(both, asks))
            });
        }
    }
    let sources = |own: &Matcher| -> Vec<_> {
        own.sources
            .iter()
            .map(|own| (own.name.clone(), own.on_error))
            .collect()
    };
    if sources(old) != sources(new) {
        let place = |file: &File| file.sources.first().map(|own| own.place.span);
        add("sources", matchers.map(|own| placed(own, place)), &|| {
            both.shown(endorsed(both))
        });
    }
    if resolutions(old) != resolutions(new) {
        let place = |file: &File| file.resolution.as_ref().map(|own| own.span);
        add(
            "resolution",
            matchers.map(|own| placed(own, place)),
            &|| both.shown(of_rules(both, |_| true)),
        );
    }
    let layers = |own: &Matcher| -> Vec<_> {
        own.policy
            .layers
            .iter()
            .map(|own| (own.kind, own.trusted))
            .collect()
    };
    if layers(old) != layers(new) {
        add("layers", [None, None], &|| {
            both.shown(of_rules(both, |_| true))
        });
    }
    out.extend(disabled(both, rules));
    out.extend(defaults(both));
    out
}

/// Where the first file that says something says it.
fn placed(matcher: &Matcher, span: impl Fn(&File) -> Option<Span>) -> Option<Place> {
    let mut files = matcher.policy.layers.iter().flat_map(|layer| &layer.files);
    files.find_map(|file| {
        Some(Place {
            source: std::sync::Arc::clone(&file.source),
            span: span(file)?,
        })
    })
}

/// Rules that one of the two gives up: what comes of it is what comes of the rule.
fn disabled(both: &Both<'_, '_>, rules: &[Change]) -> Vec<Change> {
    let [old, new] = both.sides().map(|side| -> BTreeSet<&String> {
        let layers = side.rules.matcher.policy.layers.iter();
        let gone = layers.flat_map(|layer| &layer.disabled);
        gone.map(|rule| rule.id.as_ref().unwrap_or(&rule.address))
            .collect()
    });
    let changed = old.symmetric_difference(&new);
    let of = |id: &&&String| {
        let mut known = rules
            .iter()
            .filter(|change| change.what.ends_with(id.as_str()));
        Change {
            what: format!("disable: {id}"),
            old: None,
            new: None,
            fate: known
                .next()
                .map_or(Fate::Unknown, |change| change.fate.clone()),
        }
    };
    changed.map(|id| of(&id)).collect()
}

/// Defaults of sections that are not the same: a call that no rule of the section names.
fn defaults(both: &Both<'_, '_>) -> Vec<Change> {
    let mut out = Vec::new();
    for (section, space, name) in SECTIONS {
        let [(said, old), (other, new)] = both.sides().map(|side| {
            let matcher = side.rules.matcher;
            let rest = matcher.rest(section).filter_map(|at| matcher.rules.get(at));
            let rest: Vec<_> = rest.collect();
            let said: Vec<String> = rest.iter().map(|own| meaning(own, "")).collect();
            (said, rest.first().map(|own| own.rule.place.clone()))
        });
        if said != other {
            let fate = both.shown(unnamed(space, both));
            out.push(Change {
                what: name.into(),
                old,
                new,
                fate,
            });
        }
    }
    out
}

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
    out
}

/// Calls for accesses that no rule of either names.
fn unnamed(space: Space, both: &Both<'_, '_>) -> Vec<Witness> {
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
    let mut search = Search::new(&rules.alphabet, plain, named);
    let tools = tools(space, both);
    let words = std::iter::from_fn(|| match search.next() {
        Found::Word(word) => Some(word),
        _ => None,
    });
    words
        .take(super::super::TRIES)
        .flat_map(|word| of_word(space, &word, &tools, both))
        .collect()
}

/// Calls for files in the roots of either, and outside.
fn paths(both: &Both<'_, '_>) -> Vec<Witness> {
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
fn lines(both: &Both<'_, '_>) -> Vec<Witness> {
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
fn of_rules(both: &Both<'_, '_>, wanted: impl Fn(&Entry<'_>) -> bool) -> Vec<Witness> {
    let mut out = Vec::new();
    for side in both.sides() {
        let entries = side.rules.entries.iter().filter(|entry| wanted(entry));
        for entry in entries.take(MOST_RULES) {
            for space in entry.spaces() {
                out.extend(
                    words(entry, space, side).flat_map(|word| calls(entry, space, &word, side)),
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
fn of_tool(name: &str, both: &Both<'_, '_>) -> Vec<Witness> {
    let tool = BTreeSet::from([name.to_owned()]);
    let mut out = by_name(name, both);
    for (_, space, _) in SECTIONS {
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
fn endorsed(both: &Both<'_, '_>) -> Vec<Witness> {
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
