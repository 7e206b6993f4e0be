//! What differs besides rules and the tiers of tools: a change by its key.
//!
//! In: two policies, and the changes of their rules. Out: a change for each key that is not the same, with a call that
//! shows it where one of a few does: accesses that no rule names, and those that the rules name.

use super::super::Entry;
use super::super::encode::Space;
use super::super::rules::tools_that;
use super::super::situation::{self, Facts};
use super::calls::{endorsed, lines, of_rules, of_tool, paths, unnamed};
use super::side::meaning;
use super::tiers::by_name;
use super::{Both, Change, Fate, Side};
use crate::call::access::Mode;
use crate::matcher::{Compiled, Matcher};
use crate::policy::rule::{Place, Section, Verdict};
use crate::policy::{File, Resolution};
use crate::source::Span;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Debug;

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
        let open = toward(old.outside.0, new.outside.0);
        add("workspace.outside", places, &|| {
            both.shown(open.clone(), paths(both))
        });
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
            &|| both.shown(any(), paths(both)),
        );
    }
    if old.opaque != new.opaque {
        let place = |file: &File| file.opaque.as_ref().map(|own| own.span);
        add(
            "commands.opaque",
            matchers.map(|own| placed(own, place)),
            &|| both.shown(toward(old.opaque, new.opaque), lines(both)),
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
            &|| {
                both.shown(
                    toward(old.default_verdict(), new.default_verdict()),
                    calls(),
                )
            },
        );
    }
    if old.takes_unknown() != new.takes_unknown() {
        let place = |file: &File| file.unknown_is_default.as_ref().map(|own| own.span);
        add(
            "tiers.unknown",
            matchers.map(|own| placed(own, place)),
            &|| {
                // Who is not known is refused, unless.
                let open = toward(!old.takes_unknown(), !new.takes_unknown());
                both.shown(open, by_name("some_tool", both))
            },
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
                both.shown(any(), of_tool(name, both))
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
                both.shown(turned(both, name, asks), of_rules(both, asks))
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
            both.shown(any(), endorsed(both))
        });
    }
    if resolutions(old) != resolutions(new) {
        let place = |file: &File| file.resolution.as_ref().map(|own| own.span);
        add(
            "resolution",
            matchers.map(|own| placed(own, place)),
            &|| both.shown(any(), of_rules(both, |_| true)),
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
            both.shown(any(), of_rules(both, |_| true))
        });
    }
    out.extend(disabled(both, rules));
    out.extend(defaults(both));
    out.extend(about_hosts(both));
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
            fate: known.next().map_or(any(), |change| change.fate.clone()),
        }
    };
    changed.map(|id| of(&id)).collect()
}

/// Defaults of sections that are not the same: a call that no rule of the section names.
fn defaults(both: &Both<'_, '_>) -> Vec<Change> {
    let mut out = Vec::new();
    for (section, space, name) in SECTIONS {
        let rests = both.sides().map(|side| {
            let matcher = side.rules.matcher;
            let rest = matcher.rest(section).filter_map(|at| matcher.rules.get(at));
            rest.collect::<Vec<_>>()
        });
        let said = |rest: &[&Compiled]| -> Vec<String> {
            rest.iter().map(|own| meaning(own, "")).collect()
        };
        let [old, new] = &rests;
        if said(old) == said(new) {
            continue;
        }
        // Without a default it is left to what covers the access, and to the tier.
        let strictness = |rest: &[&Compiled]| match rest {
            [] => Some(1),
            [only] if only.rule.action == Verdict::Allow => Some(0),
            [only] => Some(2 + u8::from(only.rule.action == Verdict::Deny)),
            _ => None,
        };
        let open = match (strictness(old), strictness(new)) {
            (Some(old), Some(new)) => toward(old, new),
            _ => any(),
        };
        let place = |rest: &[&Compiled]| rest.first().map(|own| own.rule.place.clone());
        out.push(Change {
            what: name.into(),
            old: place(old),
            new: place(new),
            fate: both.shown(open, unnamed(space, both)),
        });
    }
    out
}

/// What a fact that is declared otherwise may do: it turns rules on that were off, or off.
fn turned(both: &Both<'_, '_>, name: &str, asks: impl Fn(&Entry<'_>) -> bool) -> Fate {
    let [old, new] = both.sides().map(|side| side.rules.matcher);
    let mut fate = Fate::default();
    for side in both.sides() {
        for entry in side.rules.entries.iter().filter(|own| asks(own)) {
            let rule = &entry.compiled.rule;
            let all = [old, new].map(|own| situation::combinations(own, [rule].into_iter()));
            let [Some(mut facts), Some(more)] = all else {
                return any();
            };
            facts.extend(more);
            // Values of every type, whatever is declared.
            let types = [json!(true), json!(0), json!("other")];
            let odd = facts.iter().flat_map(|facts| {
                types.iter().map(|value| {
                    let mut facts = facts.clone();
                    facts.insert(name.to_owned(), value.clone());
                    facts
                })
            });
            let odd: Vec<Facts> = odd.collect();
            for facts in facts.iter().chain(&odd) {
                let on = |own: &Matcher| own.facts_hold(rule, facts, &mut Vec::new());
                let more = match (on(old), on(new)) {
                    (was, is) if was == is => continue,
                    // What asks may keep off what is stricter, and what comes first decides.
                    _ if entry.action() == Verdict::Ask || side.is_ordered(entry) => any(),
                    (was, is) => match entry.action() {
                        Verdict::Allow => toward(is, was),
                        _ => toward(was, is),
                    },
                };
                fate = fate.or(more);
            }
        }
    }
    fate
}

/// Whether there is any rule about hosts: with one, what covers a command no longer covers the hosts that it names.
fn about_hosts(both: &Both<'_, '_>) -> Option<Change> {
    let any = both
        .sides()
        .map(|side| !side.rules.matcher.host_rules().is_empty());
    // Without it they are left to the tier, which may allow them as well.
    let matters = both.sides().into_iter().any(|side| {
        let matcher = side.rules.matcher;
        let mut shells = tools_that(matcher, Space::Commands).into_iter();
        !matcher.host_rules().is_empty()
            && shells.any(|shell| matcher.tier(&shell).verdict == Verdict::Ask)
    });
    let place = |side: &Side<'_>| {
        let entry = side.within(Space::Hosts).next();
        entry.map(|own| own.compiled.rule.place.clone())
    };
    let [old, new] = any;
    (matters && old != new).then(|| Change {
        what: "hosts".into(),
        old: place(both.old),
        new: place(both.new),
        fate: both.shown(toward(old, new), unnamed(Space::Hosts, both)),
    })
}

/// Nothing rules out either way.
const fn any() -> Fate {
    Fate::open(true, true)
}

/// What a change of one key may do where more of it is never less strict.
fn toward<T: PartialOrd>(old: T, new: T) -> Fate {
    Fate::open(new < old, old < new)
}
