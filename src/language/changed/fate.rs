//! A rule that changed → a call that shows it, or that no call does.

use super::super::dfa::Dfa;
use super::super::encode::Space;
use super::super::entry::keys;
use super::super::hidden::Claim;
use super::super::search::{Found, Search};
use super::super::situation;
use super::super::witness::Witness;
use super::super::words::Language;
use super::super::{By, Entry, TRIES};
use super::side::besides;
use super::{Both, Fate, Side};
use crate::policy::rule::Verdict;
use std::rc::Rc;

/// What comes of the entries of a rule that only `own` has.
pub fn fate(entries: &[&Entry<'_>], own: &Side<'_>, other: &Side<'_>, both: &Both<'_, '_>) -> Fate {
    let mut all = Fate::Equivalent;
    for entry in entries {
        for space in entry.spaces() {
            all = all.or(inside(entry, space, own, other, both));
            if all.rank() == 0 {
                return all;
            }
        }
    }
    match all {
        Fate::Equivalent if both.shaken => Fate::Unknown,
        all => all,
    }
}

/// What the other policy surely decides as this one does by a pattern of the entry.
fn settled(
    entry: &Entry<'_>,
    at: usize,
    space: Space,
    own: &Side<'_>,
    other: &Side<'_>,
) -> Vec<Rc<Language>> {
    let pattern = entry.written.patterns.get(at);
    let keys = pattern.and_then(|pattern| keys(pattern, &own.rules.scene, true));
    let mine = &entry.compiled.rule;
    let is_set = entry.compiled.layer == usize::MAX;
    let mut out = Vec::new();
    // First what is denied whatever else is said.
    let sets = other.sets.iter();
    let sets = sets.filter(|set| set.spaces().contains(&space) && (other.is_same(set) || is_set));
    for set in sets {
        out.extend(other.rules.hiders(set, &entry.needs, keys.as_deref()));
    }
    if is_set {
        return out;
    }
    // One that says the very same of the pattern: it takes what the entry takes, whatever that is.
    let is_twin = |rule: &Entry<'_>| {
        let theirs = &rule.compiled.rule;
        pattern.is_some_and(|own| rule.written.patterns.contains(own))
            && theirs.tools == mine.tools
            && besides(theirs) == besides(mine)
    };
    // A rule that is on wherever the entry is.
    let on = |rule: &Entry<'_>| {
        let own = &rule.compiled.rule;
        let always = own.when.is_empty() && own.unless.is_empty();
        (always && (own.tools.is_empty() || own.tools == mine.tools)) || is_twin(rule)
    };
    let near = other.rules.near(entry, on).into_iter();
    let near = near.filter(|by| other.rules.reaches(*by, space));
    let near = near.filter_map(|by| match by {
        By::Entry(at) => Some((by, other.rules.entries.get(at)?)),
        By::Protected(_) => None,
    });
    let ordered =
        own.is_ordered(entry) || other.rules.entries.iter().any(|own| other.is_ordered(own));
    let first = ordered.then(|| Order::of(entry, space, own, other));
    let strict = Verdicts::of(space, own, other);
    for (by, rule) in near {
        let alike = match &first {
            Some(order) => order.decides_alike(rule),
            None => strict.decides_alike(rule, entry, other),
        };
        if alike && says_the_same(rule, entry, by, own, other) {
            match is_twin(rule) {
                true => out.extend(other.rules.everything().map(whole)),
                false => out.extend(other.rules.by(by, space, &entry.needs, keys.as_deref())),
            }
        }
    }
    out
}

fn whole(every: Rc<Dfa>) -> Rc<Language> {
    Rc::new(Language {
        is: vec![every],
        not: Vec::new(),
    })
}

/// Whether two rules of one verdict say the same of what both take.
fn says_the_same(
    rule: &Entry<'_>,
    entry: &Entry<'_>,
    by: By,
    own: &Side<'_>,
    other: &Side<'_>,
) -> bool {
    let (theirs, mine) = (&rule.compiled.rule, &entry.compiled.rule);
    match entry.action() {
        _ if theirs.action != mine.action => true,
        Verdict::Deny => true,
        Verdict::Ask => theirs.forced == mine.forced,
        // An allow covers what its words name, and lifts what its layer may lift.
        Verdict::Allow => {
            let managed =
                |side: &Side<'_>, entry: &Entry<'_>| side.rules.matcher.is_managed(entry.rule);
            managed(other, rule) == managed(own, entry)
                && !other.rules.leaves(by, entry, Claim::Again)
        }
    }
}

/// The strictest verdicts of which the policies have rules that are not in both.
struct Verdicts {
    own: Option<Verdict>,
    other: Option<Verdict>,
}

impl Verdicts {
    fn of(space: Space, own: &Side<'_>, other: &Side<'_>) -> Self {
        let strictest = |side: &Side<'_>| {
            let rules = side.rules.entries.iter().enumerate();
            let rules = rules.filter(|(at, own)| {
                !side.is_same(own) && side.rules.reaches(By::Entry(*at), space)
            });
            let sets = side.sets.iter();
            let sets = sets.filter(|set| !side.is_same(set) && set.spaces().contains(&space));
            rules
                .map(|(_, own)| own.action())
                .chain(sets.map(Entry::action))
                .max()
        };
        Self {
            own: strictest(own),
            other: strictest(other),
        }
    }

    /// Whether a rule of the other policy decides what it takes as the entry does.
    fn decides_alike(&self, rule: &Entry<'_>, entry: &Entry<'_>, other: &Side<'_>) -> bool {
        match (rule.action(), entry.action()) {
            (Verdict::Deny, Verdict::Deny) => true,
            (theirs, mine) if theirs == mine => self.other <= Some(mine),
            (theirs, mine) => {
                let strictest = self.own.max(self.other);
                other.is_same(rule) && theirs > mine && strictest <= Some(theirs)
            }
        }
    }
}

/// Under `first-match`: up to where in the other policy nothing decides otherwise than here.
struct Order {
    action: Verdict,
    /// The rules before this one stand before the entry here too, and nothing new comes before them on either side.
    shared: usize,
    /// Of the rules before this one, those that the entry does not come after here too say the same as it.
    until: usize,
}

impl Order {
    fn of(entry: &Entry<'_>, space: Space, own: &Side<'_>, other: &Side<'_>) -> Self {
        let mut order = Self {
            action: entry.action(),
            shared: usize::MAX,
            until: usize::MAX,
        };
        let mut layers = own.rules.entries.iter().chain(&other.rules.entries);
        let one_layer = layers.all(|rule| rule.compiled.layer == entry.compiled.layer);
        let new_sets = |side: &Side<'_>| side.sets.iter().any(|set| !side.is_same(set));
        if !one_layer || new_sets(own) || new_sets(other) {
            return Self {
                shared: 0,
                until: 0,
                ..order
            };
        }
        let new = own.rules.entries.iter().filter(|first| !own.is_same(first));
        let new = new.map(|first| first.rule).min().unwrap_or(usize::MAX);
        for (at, rule) in other.rules.entries.iter().enumerate() {
            if !other.rules.reaches(By::Entry(at), space) {
                continue;
            }
            let twin = other.same.get(&rule.rule);
            let shared = twin.is_some_and(|twin| *twin < new.min(entry.rule));
            if !shared {
                order.shared = order.shared.min(rule.rule);
            }
            if rule.rule >= order.shared && rule.action() != order.action {
                order.until = rule.rule;
                break;
            }
        }
        order
    }

    fn decides_alike(&self, rule: &Entry<'_>) -> bool {
        rule.rule < self.shared || (rule.rule < self.until && rule.action() == self.action)
    }
}

/// What comes of one entry for one kind of access.
fn inside(
    entry: &Entry<'_>,
    space: Space,
    own: &Side<'_>,
    other: &Side<'_>,
    both: &Both<'_, '_>,
) -> Fate {
    let rules = &own.rules;
    let mut all = Fate::Equivalent;
    for (at, part) in entry.parts.iter().enumerate() {
        let wanted = part.as_ref().and_then(|part| rules.wanted(part, space));
        let Some(wanted) = wanted else {
            all = all.or(Fate::Unknown);
            continue;
        };
        let settled = settled(entry, at, space, own, other);
        let search = |own| Search::new(&rules.alphabet, own, settled.clone());
        if matches!(search(wanted.clone()).next(), Found::Nothing(_)) {
            continue;
        }
        // As one would type it first; then whatever is left.
        let typed = rules.sampled(entry, space).into_iter().nth(at);
        let mut fate = Fate::Unknown;
        for mut search in typed.into_iter().chain([wanted]).map(search) {
            for _ in 0..TRIES {
                let Found::Word(word) = search.next() else {
                    break;
                };
                fate = fate.or(both.shown(calls(entry, space, &word, own)));
                if matches!(fate, Fate::Moved(_)) {
                    break;
                }
            }
            if matches!(fate, Fate::Moved(_)) {
                break;
            }
        }
        all = all.or(fate);
        if all.rank() == 0 {
            break;
        }
    }
    all
}

/// The calls of a word, with any tool and facts that turn a rule on.
pub fn calls(entry: &Entry<'_>, space: Space, word: &str, own: &Side<'_>) -> Vec<Witness> {
    let rule = &entry.compiled.rule;
    let facts = situation::combinations(own.rules.matcher, [rule].into_iter())
        .unwrap_or_else(|| vec![Default::default()]);
    let mut out = Vec::new();
    for tool in own.rules.tools(entry, space).iter().take(8) {
        let on = facts
            .iter()
            .filter(|facts| own.rules.is_on(rule, space, tool, facts));
        for facts in on {
            let (scene, needs) = (&own.rules.scene, &entry.needs);
            out.extend(scene.call(own.rules.matcher, space, word, tool, facts, needs));
        }
    }
    out
}
