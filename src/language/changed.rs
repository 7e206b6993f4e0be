//! What differs between two policies: for every rule that is not in both, a call that shows it, or that there is none.
//!
//! Rules are paired by what they say, then by their key. Only inside a rule that changed is searched, and there only
//! where the other policy does not surely say the same: a witness is a call that the two decide differently, by the real
//! matcher. Where the search ends without one the rules are equivalent; where it gives up, or what is left shows no call,
//! nothing is known. Beyond rules: protected files, defaults of sections, tiers.

use super::encode::Space;
use super::search::{Found, Language, Search};
use super::situation;
use super::witness::{Scene, Witness};
use super::{Alphabet, By, Entry, Rules, TRIES, tools_that};
use crate::call::files::FileView;
use crate::decision::{Decision, decide};
use crate::matcher::{Compiled, Matcher};
use crate::policy::Resolution;
use crate::policy::rule::{
    Commands, Condition, Hosts, Judges, Paths, Place, Rule, Section, Verdict,
};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A rule that is not the same in both policies.
#[derive(Clone, Debug)]
pub struct Change {
    /// What changed, by its key or name: `no-force-push`, `protected.secrets`, `tiers: mcp__git__push`.
    pub what: String,
    /// Where it stands in the old policy; none for what is new.
    pub old: Option<Place>,
    /// Where it stands in the new policy; none for what is gone.
    pub new: Option<Place>,
    /// What comes of it.
    pub fate: Fate,
}

/// What comes of a change.
#[derive(Clone, Debug)]
pub enum Fate {
    /// This call is decided differently.
    Moved(Box<Moved>),
    /// No call is.
    Equivalent,
    /// Nothing shows either.
    Unknown,
}

/// A call that two policies decide differently.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The call.
    pub witness: Witness,
    /// What the old policy says, and by which rule.
    pub old: Decision,
    /// What the new policy says, and by which rule.
    pub new: Decision,
}

impl Moved {
    /// Whether the new policy is less strict.
    pub fn loosened(&self) -> bool {
        self.new.action < self.old.action
    }
}

/// Every change between two policies, what is loosened first.
pub fn changed(old: &Matcher, new: &Matcher) -> Vec<Change> {
    let scene = Scene::of(&[old, new]);
    let sets = [sets(old), sets(new)];
    let mut sides = [
        Side::of(old, &scene, &sets[0]),
        Side::of(new, &scene, &sets[1]),
    ];
    let all = sides.iter().flat_map(|side| side.rules.alphabet.symbols());
    let alphabet = Alphabet::of(all.copied().collect());
    for side in &mut sides {
        side.rules.alphabet = alphabet.clone();
    }
    let [before, after] = &mut sides;
    pair(before, after);
    let [before, after] = &sides;
    let mut out: Vec<Change> = Vec::new();
    for (own, other) in [(before, after), (after, before)] {
        for (key, entries) in own.changed() {
            let place = entries
                .first()
                .map(|entry| entry.compiled.rule.place.clone());
            let fate = fate(&entries, own, other, before, after);
            let known = out.iter_mut().find(|change| change.what == key);
            match known {
                Some(change) => {
                    change.new = place;
                    change.fate = worse(change.fate.clone(), fate);
                }
                None => out.push(Change {
                    what: key,
                    old: place.clone().filter(|_| std::ptr::eq(own, before)),
                    new: place.filter(|_| std::ptr::eq(own, after)),
                    fate,
                }),
            }
        }
    }
    out.extend(defaults(before, after));
    out.extend(tiers(before, after));
    out.sort_by_key(|change| match &change.fate {
        Fate::Moved(moved) if moved.loosened() => 0,
        Fate::Moved(_) => 1,
        Fate::Unknown => 2,
        Fate::Equivalent => 3,
    });
    out
}

/// Of two fates of one change the one that says more: loosened, tightened, unknown, equivalent.
fn worse(one: Fate, other: Fate) -> Fate {
    let weight = |fate: &Fate| match fate {
        Fate::Moved(moved) if moved.loosened() => 3,
        Fate::Moved(_) => 2,
        Fate::Unknown => 1,
        Fate::Equivalent => 0,
    };
    if weight(&other) > weight(&one) {
        other
    } else {
        one
    }
}

/// Protected files as deny rules, so that they are searched like those.
fn sets(matcher: &Matcher) -> Vec<Compiled> {
    let sets = matcher.protected.iter();
    sets.map(|set| Compiled {
        key: format!("protected.{}", set.name),
        layer: usize::MAX,
        rule: Rule {
            address: format!("protected.{}", set.name),
            id: None,
            action: Verdict::Deny,
            judges: Judges::Paths(Box::new(set.paths.clone())),
            tools: Vec::new(),
            args: Vec::new(),
            when: Vec::new(),
            unless: Vec::new(),
            forced: false,
            reason: None,
            instead: None,
            examples: Default::default(),
            place: set.place.clone(),
        },
    })
    .collect()
}

/// One of the two policies.
struct Side<'m> {
    rules: Rules<'m>,
    /// Protected files as entries.
    sets: Vec<Entry<'m>>,
    /// The rules that the other policy has too, by their index: there under that index.
    same: BTreeMap<usize, usize>,
    /// The protected files that the other has too.
    same_sets: BTreeSet<usize>,
}

impl<'m> Side<'m> {
    fn of(matcher: &'m Matcher, scene: &Scene, sets: &'m [Compiled]) -> Self {
        let mut entries = Vec::new();
        for (at, set) in sets.iter().enumerate() {
            let texts = super::written(&set.rule).into_iter();
            entries.extend(texts.map(|text| Entry::of(at, set, text, scene)));
        }
        Self {
            rules: Rules::set(matcher, scene.clone()),
            sets: entries,
            same: BTreeMap::new(),
            same_sets: BTreeSet::new(),
        }
    }

    /// The entries that the other policy has not, by the key of their rule.
    fn changed(&self) -> BTreeMap<String, Vec<&Entry<'m>>> {
        let mut out: BTreeMap<String, Vec<&Entry<'m>>> = BTreeMap::new();
        let rules = self
            .rules
            .entries
            .iter()
            .filter(|own| !self.same.contains_key(&own.rule));
        let sets = self
            .sets
            .iter()
            .filter(|own| !self.same_sets.contains(&own.rule));
        for entry in rules.chain(sets) {
            out.entry(entry.compiled.key.clone())
                .or_default()
                .push(entry);
        }
        out
    }

    fn is_same(&self, entry: &Entry<'_>) -> bool {
        match entry.compiled.layer {
            usize::MAX => self.same_sets.contains(&entry.rule),
            _ => self.same.contains_key(&entry.rule),
        }
    }

    fn is_ordered(&self, entry: &Entry<'_>) -> bool {
        entry.compiled.layer != usize::MAX
            && self.rules.matcher.resolution(entry.compiled.layer) == Resolution::FirstMatch
    }
}

/// What a rule says, places and texts apart.
fn meaning(compiled: &Compiled, kind: &str) -> String {
    let rule = &compiled.rule;
    let conditions = |all: &[Condition]| {
        let all: Vec<_> = all.iter().map(|own| (&own.path, &own.any)).collect();
        format!("{all:?}")
    };
    let judges = match &rule.judges {
        Judges::Tool => "tool".to_owned(),
        Judges::Rest(section) => format!("{section:?}"),
        Judges::Commands(own) => {
            let Commands {
                patterns,
                except,
                with,
                without,
                operands,
                exact,
                only_read,
            } = &**own;
            format!("{patterns:?}{except:?}{with:?}{without:?}{operands:?}{exact}{only_read}")
        }
        Judges::Paths(own) => {
            let Paths {
                modes,
                patterns,
                except,
                exact,
            } = &**own;
            format!("{modes:?}{patterns:?}{except:?}{exact}")
        }
        Judges::Hosts(own) => {
            let Hosts { patterns, except } = &**own;
            format!("{patterns:?}{except:?}")
        }
    };
    format!(
        "{kind} {} {judges} {:?} {} {} {} {}",
        rule.action,
        rule.tools,
        conditions(&rule.args),
        conditions(&rule.when),
        conditions(&rule.unless),
        rule.forced
    )
}

/// Finds the rules that both have. Under `first-match` they must stand in the same order: those that moved are not.
fn pair(old: &mut Side<'_>, new: &mut Side<'_>) {
    let kind = |side: &Side<'_>, own: &Compiled| {
        let layer = side.rules.matcher.policy.layers.get(own.layer);
        let resolution = side.rules.matcher.resolution(own.layer);
        format!("{:?}{resolution:?}", layer.map(|layer| layer.kind))
    };
    let mut known: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, own) in new.rules.matcher.rules.iter().enumerate().rev() {
        known
            .entry(meaning(own, &kind(new, own)))
            .or_default()
            .push(at);
    }
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, own) in old.rules.matcher.rules.iter().enumerate() {
        let ordered = old.rules.matcher.resolution(own.layer) == Resolution::FirstMatch;
        let found = known.get_mut(&meaning(own, &kind(old, own)));
        let last = last.entry(own.layer).or_default();
        let Some(twin) = found
            .and_then(Vec::pop)
            .filter(|twin| !ordered || *twin >= *last)
        else {
            continue;
        };
        *last = twin;
        old.same.insert(at, twin);
        new.same.insert(twin, at);
    }
    for (at, own) in old.rules.matcher.protected.iter().enumerate() {
        let twin = new
            .rules
            .matcher
            .protected
            .iter()
            .position(|other| format!("{:?}", own.paths) == format!("{:?}", other.paths));
        if let Some(twin) = twin {
            old.same_sets.insert(at);
            new.same_sets.insert(twin);
        }
    }
}

fn fate(
    entries: &[&Entry<'_>],
    own: &Side<'_>,
    other: &Side<'_>,
    old: &Side<'_>,
    new: &Side<'_>,
) -> Fate {
    let mut all = Fate::Equivalent;
    for entry in entries {
        for space in entry.spaces() {
            let fate = inside(entry, space, own, other, old, new);
            all = worse(all, fate);
            if matches!(&all, Fate::Moved(moved) if moved.loosened()) {
                return all;
            }
        }
    }
    all
}

/// What the other policy, or both, surely decide as this one does by the entry.
fn settled(
    entry: &Entry<'_>,
    at: usize,
    space: Space,
    own: &Side<'_>,
    other: &Side<'_>,
) -> Vec<Rc<Language>> {
    let pattern = entry.written.patterns.get(at);
    let keys = pattern.and_then(|pattern| super::keys(pattern, &own.rules.scene, true));
    let free = |entry: &Entry<'_>| {
        let rule = &entry.compiled.rule;
        let always = rule.when.is_empty() && rule.unless.is_empty();
        always && (rule.tools.is_empty() || rule.tools == entry.compiled.rule.tools)
    };
    let reach = |side: &Side<'_>, at: usize| side.rules.reaches(By::Entry(at), space);
    let kind = |one: &Entry<'_>| {
        let rule = &one.compiled.rule;
        rule.tools.is_empty() || rule.tools == entry.compiled.rule.tools
    };
    let mut out = Vec::new();
    let mut open = false;
    // First what is denied whatever else is said.
    let sets = other.sets.iter().filter(|set| {
        set.spaces().contains(&space) && (other.is_same(set) || entry.action() == Verdict::Deny)
    });
    for set in sets {
        out.extend(other.rules.hiders(set, entry, keys.as_deref()));
    }
    let ordered =
        own.is_ordered(entry) || other.rules.entries.iter().any(|own| other.is_ordered(own));
    for (index, rule) in other.rules.entries.iter().enumerate() {
        if !reach(other, index) {
            continue;
        }
        let same = other.is_same(rule);
        if ordered {
            // As long as both say the same, what comes first decides alike; then, what says the same as the entry.
            let twin = other.same.get(&rule.rule);
            let before = twin.is_some_and(|twin| *twin < entry.rule);
            let changed = !same && rule.action() != entry.action();
            open |= changed;
            if open || !free(rule) || !kind(rule) {
                continue;
            }
            let earlier = own
                .rules
                .entries
                .iter()
                .filter(|first| first.rule < twin.copied().unwrap_or(0));
            let undisturbed = earlier.clone().all(|first| own.is_same(first));
            if (before && undisturbed) || rule.action() == entry.action() {
                out.extend(
                    other
                        .rules
                        .by(By::Entry(index), space, entry, keys.as_deref()),
                );
            }
            open |= !before && rule.action() != entry.action();
            continue;
        }
        let alike = match (rule.action(), entry.action()) {
            (Verdict::Deny, Verdict::Deny) => true,
            (theirs, mine) if theirs == mine => !stricter_changed(other, mine, space),
            (theirs, mine) => {
                same && theirs > mine
                    && !stricter_changed(other, theirs, space)
                    && !stricter_changed(own, theirs, space)
            }
        };
        if alike && free(rule) && kind(rule) {
            out.extend(
                other
                    .rules
                    .by(By::Entry(index), space, entry, keys.as_deref()),
            );
        }
    }
    out
}

/// Whether a rule stricter than a verdict is not in both policies.
fn stricter_changed(side: &Side<'_>, verdict: Verdict, space: Space) -> bool {
    let rules = side.rules.entries.iter().enumerate();
    let mut rules = rules.filter(|(at, _)| side.rules.reaches(By::Entry(*at), space));
    let mut sets = side.sets.iter().filter(|set| set.spaces().contains(&space));
    rules.any(|(_, own)| own.action() > verdict && !side.is_same(own))
        || (verdict != Verdict::Deny && sets.any(|own| !side.is_same(own)))
}

fn inside(
    entry: &Entry<'_>,
    space: Space,
    own: &Side<'_>,
    other: &Side<'_>,
    old: &Side<'_>,
    new: &Side<'_>,
) -> Fate {
    let rules = &own.rules;
    let mut all = Fate::Equivalent;
    for (at, part) in entry.parts.iter().enumerate() {
        let wanted = part.as_ref().and_then(|part| rules.wanted(part, space));
        let Some(wanted) = wanted else {
            all = worse(all, Fate::Unknown);
            continue;
        };
        let settled = settled(entry, at, space, own, other);
        let mut search = Search::new(&rules.alphabet, wanted, settled.clone());
        let mut fate = match search.next() {
            Found::Nothing(_) => continue,
            _ => Fate::Unknown,
        };
        // As one would type it first; then whatever is left.
        let typed = rules.sampled(entry, space).into_iter().nth(at);
        let typed = typed.map(|own| Search::new(&rules.alphabet, own, settled.clone()));
        let part = part.as_ref();
        let again = part.and_then(|part| rules.wanted(part, space));
        let again = again.map(|own| Search::new(&rules.alphabet, own, settled));
        for mut search in typed.into_iter().chain(again) {
            for _ in 0..TRIES {
                let Found::Word(word) = search.next() else {
                    break;
                };
                let moved = moved(entry, space, &word, own, old, new);
                if let Some(moved) = moved {
                    fate = worse(fate, Fate::Moved(Box::new(moved)));
                    break;
                }
            }
            if matches!(fate, Fate::Moved(_)) {
                break;
            }
        }
        all = worse(all, fate);
        if matches!(&all, Fate::Moved(moved) if moved.loosened()) {
            break;
        }
    }
    all
}

/// A call of a word that the two decide differently.
fn moved(
    entry: &Entry<'_>,
    space: Space,
    word: &str,
    own: &Side<'_>,
    old: &Side<'_>,
    new: &Side<'_>,
) -> Option<Moved> {
    let rule = &entry.compiled.rule;
    let facts = situation::combinations(own.rules.matcher, [rule].into_iter())
        .unwrap_or_else(|| vec![Default::default()]);
    for tool in own.rules.tools(entry, space).iter().take(8) {
        for facts in facts
            .iter()
            .filter(|facts| own.rules.is_on(rule, space, tool, facts))
        {
            let scene = &own.rules.scene;
            let needs = &entry.needs;
            let call = scene.call(own.rules.matcher, space, word, tool, facts, needs);
            if let Some(moved) = call.and_then(|witness| decided(witness, old, new)) {
                return Some(moved);
            }
        }
    }
    None
}

fn decided(witness: Witness, old: &Side<'_>, new: &Side<'_>) -> Option<Moved> {
    let decide = |side: &Side<'_>| decide(side.rules.matcher, &witness.call, &FileView::None);
    let (old, new) = (decide(old), decide(new));
    (old.action != new.action).then_some(Moved { witness, old, new })
}

/// Defaults of sections that are not the same: a call that no rule of the section names.
fn defaults(old: &Side<'_>, new: &Side<'_>) -> Vec<Change> {
    use crate::call::access::Mode;
    let sections = [
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
    let mut out = Vec::new();
    for (section, space, name) in sections {
        let stated = |side: &Side<'_>| -> Vec<(Verdict, Place)> {
            let matcher = side.rules.matcher;
            let rest = matcher.rest(section).filter_map(|at| matcher.rules.get(at));
            rest.map(|own| (own.rule.action, own.rule.place.clone()))
                .collect()
        };
        let verdicts =
            |all: &[(Verdict, Place)]| -> Vec<Verdict> { all.iter().map(|own| own.0).collect() };
        let (before, after) = (stated(old), stated(new));
        if verdicts(&before) == verdicts(&after) {
            continue;
        }
        let place = |all: &[(Verdict, Place)]| all.first().map(|own| own.1.clone());
        out.push(Change {
            what: name.into(),
            fate: unnamed(space, old, new),
            old: place(&before),
            new: place(&after),
        });
    }
    out
}

/// A call that no rule names and that the two decide differently.
fn unnamed(space: Space, old: &Side<'_>, new: &Side<'_>) -> Fate {
    let mut named: Vec<Rc<Language>> = Vec::new();
    for side in [old, new] {
        for entry in side
            .rules
            .entries
            .iter()
            .filter(|own| own.spaces().contains(&space))
        {
            let parts = entry.parts.iter().flatten();
            named.extend(parts.filter_map(|part| side.rules.under(part)));
        }
    }
    let Some(plain) = old.rules.plain(false, space) else {
        return Fate::Unknown;
    };
    let mut search = Search::new(&old.rules.alphabet, plain, named);
    for _ in 0..TRIES {
        let Found::Word(word) = search.next() else {
            break;
        };
        for tool in tools_that(new.rules.matcher, space) {
            let scene = &new.rules.scene;
            let call = scene.call(
                new.rules.matcher,
                space,
                &word,
                &tool,
                &Default::default(),
                &[],
            );
            if let Some(moved) = call.and_then(|witness| decided(witness, old, new)) {
                return Fate::Moved(Box::new(moved));
            }
        }
    }
    Fate::Unknown
}

/// Tools whose tier is not the same.
fn tiers(old: &Side<'_>, new: &Side<'_>) -> Vec<Change> {
    let mut names: BTreeSet<String> = BTreeSet::from(["some_tool".to_owned()]);
    for side in [old, new] {
        let matcher = side.rules.matcher;
        names.extend(matcher.tool_names().into_iter().map(str::to_owned));
        let files = matcher.policy.layers.iter().flat_map(|layer| &layer.files);
        let globs = files
            .flat_map(|file| &file.tiers)
            .flat_map(|entry| &entry.names);
        names.extend(globs.map(super::witness::text_of));
    }
    let mut out = Vec::new();
    for name in names {
        let (before, after) = (old.rules.matcher.tier(&name), new.rules.matcher.tier(&name));
        let known = |side: &Side<'_>| side.rules.matcher.covers(&name);
        if before.verdict == after.verdict && known(old) == known(new) {
            continue;
        }
        let word = format!("{}{name}", super::dfa::BREAK);
        let scene = &new.rules.scene;
        let call = scene.call(
            new.rules.matcher,
            Space::Tool,
            &word,
            "",
            &Default::default(),
            &[],
        );
        let fate = call.and_then(|witness| decided(witness, old, new));
        out.push(Change {
            what: format!("tiers: {name}"),
            old: before.place,
            new: after.place,
            fate: fate.map_or(Fate::Unknown, |moved| Fate::Moved(Box::new(moved))),
        });
    }
    out
}
