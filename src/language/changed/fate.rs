//! A rule that changed → what it may loosen and tighten, with calls that show it.

use super::super::covers::covers;
use super::super::dfa::Dfa;
use super::super::encode::{Need, Space};
use super::super::entry::keys;
use super::super::hidden::Claim;
use super::super::search::{Found, Search};
use super::super::shape::BREAK;
use super::super::situation::{self, Facts};
use super::super::witness::{Witness, quoted};
use super::super::words::Language;
use super::super::{By, Entry, TRIES};
use super::calls::of_rules;
use super::side::besides;
use super::{Both, Fate, Side};
use crate::policy::patterns::PathPattern;
use crate::policy::rule::{Section, Verdict};
use std::collections::BTreeSet;
use std::rc::Rc;

/// So many meetings with other rules are looked into, by two words each.
const MOST_MEETINGS: usize = 16;

/// What comes of the entries of a rule that only `own` has.
pub fn fate(entries: &[&Entry<'_>], own: &Side<'_>, other: &Side<'_>, both: &Both<'_, '_>) -> Fate {
    let mut all = Fate::default();
    for entry in entries {
        for space in entry.spaces() {
            for at in 0..entry.parts.len() {
                let open = open(entry, at, space, own, other, both);
                // One call is enough to say that it is loosened.
                let more = match all.loosened.shown() {
                    Some(_) => open,
                    None => inside(entry, at, space, own, other, both, open),
                };
                all = all.or(more);
            }
        }
    }
    all
}

/// What a pattern of an entry may do that the other policy does not do without it.
fn open(
    entry: &Entry<'_>,
    at: usize,
    space: Space,
    own: &Side<'_>,
    other: &Side<'_>,
    both: &Both<'_, '_>,
) -> Fate {
    if both.shaken {
        return Fate::open(true, true);
    }
    let matters = !is_covered(entry, at, space, own, other);
    let (weaker, stricter) = match entry.action() {
        Verdict::Allow => (matters, false),
        // What asks keeps away the stricter rule that would come after it.
        Verdict::Ask => (keeps_off(entry, space, own), matters),
        Verdict::Deny => (false, matters),
    };
    match std::ptr::eq(own, both.old) {
        true => Fate::open(stricter, weaker),
        false => Fate::open(weaker, stricter),
    }
}

/// How much is asked for.
fn rank(entry: &Entry<'_>) -> (Verdict, bool) {
    let rule = &entry.compiled.rule;
    (rule.action, rule.action == Verdict::Deny || rule.forced)
}

/// Whether a question takes the place of something stricter of its layer: the default of its section, or under
/// `first-match` a later rule.
fn keeps_off(entry: &Entry<'_>, space: Space, own: &Side<'_>) -> bool {
    let (matcher, layer) = (own.rules.matcher, entry.compiled.layer);
    let section = match space {
        Space::Tool => None,
        Space::Commands => Some(Section::Commands),
        Space::Paths(mode) => Some(Section::Paths(mode)),
        Space::Hosts => Some(Section::Hosts),
    };
    let mut defaults = section
        .into_iter()
        .flat_map(|section| matcher.rest(section));
    let by_default = defaults.any(|at| {
        let rule = matcher.rules.get(at);
        rule.is_some_and(|own| own.layer == layer && own.rule.action == Verdict::Deny)
    });
    let later = |(at, later): (usize, &Entry<'_>)| {
        let meets = space == Space::Tool || own.rules.reaches(By::Entry(at), space);
        meets
            && later.compiled.layer == layer
            && later.rule > entry.rule
            && rank(later) > rank(entry)
    };
    by_default || (own.is_ordered(entry) && own.rules.entries.iter().enumerate().any(later))
}

/// Whether the other policy has a rule that meets all that a pattern meets, as surely, and says as much.
fn is_covered(
    entry: &Entry<'_>,
    at: usize,
    space: Space,
    own: &Side<'_>,
    other: &Side<'_>,
) -> bool {
    let pattern = entry.written.patterns.get(at);
    let is_set = entry.compiled.layer == usize::MAX;
    let allows = entry.action() == Verdict::Allow;
    // A deny that is in both hides an allow as well.
    let sets = other.sets.iter();
    let mut sets = sets.filter(|set| !allows || other.is_same(set));
    if sets.any(|set| covers(set, entry, pattern, space)) {
        return true;
    }
    if is_set {
        return false;
    }
    let ordered =
        own.is_ordered(entry) || other.rules.entries.iter().any(|own| other.is_ordered(own));
    let order = ordered.then(|| Order::of(entry, space, own, other));
    let managed = |side: &Side<'_>, entry: &Entry<'_>| side.rules.matcher.is_managed(entry.rule);
    let near = other.rules.near(entry, |_| true).into_iter();
    let mut near = near.filter_map(|by| match by {
        By::Entry(at) => Some((by, other.rules.entries.get(at)?)),
        By::Protected(_) => None,
    });
    near.any(|(by, wide)| {
        let says = match (entry.action(), wide.action()) {
            (Verdict::Allow, Verdict::Allow) => {
                managed(other, wide) == managed(own, entry)
                    && !other.rules.leaves(by, entry, Claim::Again)
            }
            (Verdict::Allow, _) => other.is_same(wide),
            // What only may be denied is asked about, and not always by a question that is forced.
            (Verdict::Ask, Verdict::Deny) => !entry.compiled.rule.forced,
            _ => rank(wide) >= rank(entry),
        };
        says && order.as_ref().is_none_or(|own| own.decides_alike(wide))
            && covers(wide, entry, pattern, space)
    })
}

/// What the other policy decides as this one does by a pattern of the entry, in plain words: no call is sought there.
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
            // A rule about a tool meets all that its calls do.
            if space != Space::Tool && !other.rules.reaches(By::Entry(at), space) {
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

/// What comes of one pattern for one kind of access, as far as it is open.
fn inside(
    entry: &Entry<'_>,
    at: usize,
    space: Space,
    own: &Side<'_>,
    other: &Side<'_>,
    both: &Both<'_, '_>,
    mut fate: Fate,
) -> Fate {
    let rules = &own.rules;
    let part = entry.parts.get(at).and_then(Option::as_ref);
    let Some(part) = part.filter(|_| fate.is_open()) else {
        return fate;
    };
    let Some(wanted) = rules.wanted(part, space) else {
        return fate;
    };
    let settled = settled(entry, at, space, own, other);
    // As one would type it first; then whatever is left; then where others meet it.
    let typed = rules.typed(entry, part, space);
    let left = typed.iter().chain([&wanted]);
    let left = left.map(|own| (own.clone(), settled.clone(), TRIES));
    let met = meeting(entry, rules.likely(entry, part, space), space, both);
    let searches = left.chain(met.into_iter().map(|own| (own, Vec::new(), 2)));
    let mut words = BTreeSet::new();
    for (wanted, settled, tries) in searches {
        let mut search = Search::new(&rules.alphabet, wanted, settled);
        for _ in 0..tries {
            let Found::Word(word) = search.next() else {
                break;
            };
            if words.contains(&word) {
                continue;
            }
            fate = both.shown(fate, calls(entry, space, &word, own, both));
            if !fate.is_open() {
                return fate;
            }
            words.insert(word);
        }
    }
    // A rule about a tool comes before or after what others say of what its calls do.
    if space == Space::Tool && own.is_ordered(entry) {
        fate = both.shown(fate, of_rules(both, |other| other.rule != entry.rule));
    }
    // Words that cannot be computed may be what is asked for.
    for word in words.iter().take(TRIES) {
        fate = both.shown(fate, unknown(entry, space, word, own));
    }
    fate
}

/// Where a pattern meets what other rules and tiers say, and what tells its rule from those beside it.
fn meeting(
    entry: &Entry<'_>,
    typed: Option<Language>,
    space: Space,
    both: &Both<'_, '_>,
) -> Vec<Language> {
    let Some(typed) = typed else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for side in both.sides() {
        let rules = &side.rules;
        for by in rules.near(entry, |_| true) {
            let By::Entry(at) = by else { continue };
            let Some(near) = rules.entries.get(at) else {
                continue;
            };
            out.extend(rules.beside(near).into_iter().map(|(is, dfa)| {
                let mut own = typed.clone();
                let list = if is { &mut own.is } else { &mut own.not };
                list.push(dfa);
                own
            }));
            if near.spaces().contains(&space) {
                let sampled = rules.sampled(near, space).into_iter();
                out.extend(sampled.map(|own| typed.clone().and(&own)));
            }
        }
        if space == Space::Tool {
            let verdicts = [Verdict::Allow, Verdict::Ask, Verdict::Deny].into_iter();
            let names = verdicts.flat_map(|verdict| rules.tier_names(verdict));
            out.extend(names.map(|own| typed.clone().and(&own)));
        }
    }
    out.truncate(MOST_MEETINGS);
    out
}

/// The calls of a word, with any tool and facts that turn a rule on.
pub fn calls(
    entry: &Entry<'_>,
    space: Space,
    word: &str,
    own: &Side<'_>,
    both: &Both<'_, '_>,
) -> Vec<Witness> {
    let (rule, rules) = (&entry.compiled.rule, &own.rules);
    // The facts that changed rules ask for tell them apart.
    let facts = match &both.facts {
        Some(facts) if !own.is_same(entry) => facts.clone(),
        _ => situation::combinations(rules.matcher, [rule].into_iter())
            .unwrap_or_else(|| vec![Facts::new()]),
    };
    let on = |tool: &str| -> Vec<&Facts> {
        let facts = facts.iter();
        facts
            .filter(|facts| rules.is_on(rule, space, tool, facts))
            .collect()
    };
    let mut out = Vec::new();
    for tool in rules.tools(entry, space).iter().take(8) {
        for needs in each_operand(&entry.needs) {
            let call = |facts: &Facts| {
                rules
                    .scene
                    .call(rules.matcher, space, word, tool, facts, &needs)
            };
            let calls = on(tool).into_iter().filter_map(call);
            out.extend(calls.flat_map(|call| call.with_each(&needs)));
        }
    }
    let shells = rules.tools(entry, Space::Commands).into_iter();
    for (shell, line) in rules.scene.lines(shells, space, word, &[]) {
        let call = |facts: &Facts| rules.scene.line(rules.matcher, &line, &shell, facts);
        out.extend(on(&shell).into_iter().filter_map(call));
    }
    out
}

/// What a rule needs, with one of its operands at a time.
fn each_operand<'m>(needs: &[Need<'m>]) -> Vec<Vec<Need<'m>>> {
    let all = needs.iter().find_map(|need| match need {
        Need::Operands(all) => Some(*all),
        _ => None,
    });
    let Some(all) = all else {
        return vec![needs.to_vec()];
    };
    let with = |one: &'m [PathPattern]| {
        let needs = needs.iter().map(|need| match need {
            Need::Operands(_) => Need::Operands(one),
            other => other.clone(),
        });
        needs.collect()
    };
    all.chunks(1).take(8).map(with).collect()
}

/// Lines of the words of a command, one of them not to be computed.
fn unknown(entry: &Entry<'_>, space: Space, word: &str, own: &Side<'_>) -> Vec<Witness> {
    let rules = &own.rules;
    if space != Space::Commands {
        return Vec::new();
    }
    let words: Vec<String> = word.split(BREAK).skip(1).map(quoted).collect();
    let ends = (1..words.len().max(2)).filter_map(|at| words.get(..at));
    let lines: Vec<String> = ends
        .map(|some| format!("{} \"$X\"", some.join(" ")))
        .collect();
    let tools = rules.tools(entry, space).into_iter().take(8);
    tools
        .flat_map(|tool| lines.iter().map(move |line| (tool.clone(), line)))
        .filter_map(|(tool, line)| rules.scene.line(rules.matcher, line, &tool, &Facts::new()))
        .collect()
}
