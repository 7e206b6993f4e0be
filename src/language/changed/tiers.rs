//! Tools whose tier is not the same, or that only one of the policies knows.
//!
//! What is said of a name depends on the patterns that take it. Where these differ, each name that is written out is
//! asked about, and of the names that only wildcards take one for each set of wildcards that takes any.

use super::super::encode::{self, Space};
use super::super::search::{Found, Search};
use super::super::shape::BREAK;
use super::super::witness::Witness;
use super::super::words::Language;
use super::{Both, Change, Fate, Side};
use crate::matcher::Tier;
use crate::policy::glob::Glob;
use crate::policy::patterns;
use crate::policy::rule::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// Sets of wildcards that are looked at.
const MOST: usize = 256;

/// Names that are tried for one that is not written out.
const MOST_NAMES: usize = 64;

/// Every name, or kind of name, that the two do not take alike.
pub fn tiers(both: &Both<'_, '_>) -> Vec<Change> {
    if said(both.old) == said(both.new) {
        return Vec::new();
    }
    let mut names = BTreeSet::new();
    let mut wild = BTreeMap::new();
    for side in both.sides() {
        names.extend(
            side.rules
                .matcher
                .tool_names()
                .into_iter()
                .map(str::to_owned),
        );
        for (_, glob) in globs(side) {
            match glob.as_literal() {
                Some(name) => drop(names.insert(name.to_owned())),
                None => drop(wild.insert(patterns::spell(glob), glob)),
            }
        }
    }
    let kinds = kinds(wild.values().copied(), &names, both);
    let mut out: Vec<Change> = Vec::new();
    match kinds {
        Some(kinds) => names.extend(kinds),
        None => out.push(Change {
            what: "tiers".into(),
            old: None,
            new: None,
            fate: Fate::open(true, true),
        }),
    }
    out.extend(names.iter().filter_map(|name| of_name(name, both)));
    out
}

/// The patterns by which a policy knows tools, each with what it says.
fn globs<'s>(side: &'s Side<'_>) -> impl Iterator<Item = (String, &'s Glob)> {
    let matcher = side.rules.matcher;
    let layers = matcher.policy.layers.iter().enumerate();
    let files = layers.flat_map(|(at, layer)| layer.files.iter().map(move |file| (at, file)));
    let tiers = files.enumerate().flat_map(|(file, (layer, own))| {
        own.tiers.iter().flat_map(move |entry| {
            let said = format!("{layer} {file} {}", entry.verdict);
            entry.names.iter().map(move |name| (said.clone(), name))
        })
    });
    // A rule that allows or asks makes the tools that it names known.
    let rules = matcher.rules.iter().map(|own| &own.rule);
    let rules = rules.filter(|rule| rule.action != Verdict::Deny);
    tiers.chain(rules.flat_map(|rule| rule.tools.iter().map(|name| (String::new(), name))))
}

fn said(side: &Side<'_>) -> BTreeSet<(String, String)> {
    let all = globs(side).map(|(said, glob)| (said, patterns::spell(glob)));
    let declared = side.rules.matcher.tool_names().into_iter();
    all.chain(declared.map(|name| ("declared".to_owned(), name.to_owned())))
        .collect()
}

/// A name for each set of wildcards that takes names that none of the others takes. None: there are too many.
fn kinds<'g>(
    wild: impl Iterator<Item = &'g Glob>,
    names: &BTreeSet<String>,
    both: &Both<'_, '_>,
) -> Option<Vec<String>> {
    let rules = &both.old.rules;
    let search = |own: &Language| Search::new(&rules.alphabet, own.clone(), Vec::new());
    let mut kinds = vec![rules.plain(false, Space::Tool)?];
    for glob in wild {
        let dfa = rules.dfa(&encode::tool(glob)?)?;
        let mut split = Vec::new();
        for own in kinds {
            let mut without = own.clone();
            without.not.push(dfa.clone());
            let mut with = own;
            with.is.push(dfa.clone());
            for own in [with, without] {
                match search(&own).next() {
                    Found::Word(_) => split.push(own),
                    Found::Nothing(_) => {}
                    Found::GaveUp => return None,
                }
            }
        }
        kinds = split;
        if kinds.len() > MOST {
            return None;
        }
    }
    let mut out = Vec::new();
    for own in &kinds {
        let mut search = search(own);
        for tries in 0.. {
            match search.next() {
                Found::Word(word) => {
                    let name = word.trim_start_matches(BREAK);
                    if !names.contains(name) {
                        out.push(name.to_owned());
                        break;
                    }
                }
                Found::Nothing(_) => break,
                Found::GaveUp => return None,
            }
            if tries == MOST_NAMES {
                return None;
            }
        }
    }
    Some(out)
}

fn of_name(name: &str, both: &Both<'_, '_>) -> Option<Change> {
    let [before, after] = both.sides().map(|side| side.rules.matcher.tier(name));
    let known = |side: &Side<'_>| side.rules.matcher.covers(name);
    // Who has it from the default tier, or by being unknown, changes with these: that is said once.
    let by_default = before.address == after.address && before.address == "tiers.default";
    let same_tier =
        by_default || (before.verdict == after.verdict && before.managed == after.managed);
    let same_known = known(both.old) == known(both.new);
    if same_tier && same_known {
        return None;
    }
    // Who is not known is refused.
    let says = |side: &Side<'_>, tier: &Tier| match known(side) {
        true => (tier.verdict, tier.managed && tier.verdict == Verdict::Ask),
        false => (Verdict::Deny, false),
    };
    let (was, is) = (says(both.old, &before), says(both.new, &after));
    Some(Change {
        what: format!("tiers: {name}"),
        fate: both.shown(Fate::open(is < was, is > was), by_name(name, both)),
        old: before.place,
        new: after.place,
    })
}

/// The calls of a tool by its name alone.
pub fn by_name(name: &str, both: &Both<'_, '_>) -> Vec<Witness> {
    let word = format!("{BREAK}{name}");
    let calls = both.sides().map(|side| {
        let matcher = side.rules.matcher;
        side.rules
            .scene
            .call(matcher, Space::Tool, &word, "", &Default::default(), &[])
    });
    calls.into_iter().flatten().collect()
}
