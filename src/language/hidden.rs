//! An entry → what [hides](Hidden) it: others that take all that it takes, and a call that shows it.
//!
//! What takes all is found by one search for each kind of access, tool and set of facts; most entries need none, since
//! the first word that they take is taken by no other.

use super::covers::covers;
use super::encode::{self, Need, Space};
use super::entry::{Entry, keys};
use super::search::{Found, Search};
use super::situation::{self, Facts};
use super::witness::Witness;
use super::words::Language;
use super::{Answer, Pattern, Rules, TRIES, sample};
use crate::call::files::FileView;
use crate::decision::{Decision, Judged, decide};
use crate::policy::Resolution;
use crate::policy::glob::Fit;
use crate::policy::patterns::Anchor;
use crate::policy::rule::{Judges, Verdict};
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

/// How many ways a call may go on that are told apart by the words it has.
const MOST_WAYS: usize = 8;

/// What takes the accesses of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// Another entry, by its index.
    Entry(usize),
    /// Protected files, by their index in the matcher.
    Protected(usize),
}

/// That all an entry takes is decided by others.
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    /// By these; more than one where only their union does.
    pub by: Vec<By>,
    /// A call that the entry takes and they decide.
    pub witness: Witness,
    /// Inside the workspace only: a name without a slash is refused outside it too.
    pub in_workspace: bool,
}

/// How a claim shows in a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// An earlier rule decided.
    Late,
    /// A stricter one did.
    Stricter,
    /// Another one says the same.
    Again,
}

impl<'m> Rules<'m> {
    /// Whether others decide all that an entry takes: under `first-match` those above it, else stricter ones and, for an
    /// allow, protected files.
    pub fn hidden(&self, own: usize) -> Answer<Hidden> {
        let Some(entry) = self.entries.get(own) else {
            return Answer::No;
        };
        let layer = entry.compiled.layer;
        let ordered = self.matcher.resolution(layer) == Resolution::FirstMatch;
        let hides = |other: &Entry<'_>| {
            other.compiled.layer == layer
                && match ordered {
                    true => other.rule < entry.rule,
                    false => other.action() > entry.action(),
                }
        };
        let mut by = self.near(entry, hides);
        if !ordered && entry.action() == Verdict::Allow {
            by.extend((0..self.protected.len()).map(By::Protected));
        }
        let claim = if ordered {
            Claim::Late
        } else {
            Claim::Stricter
        };
        let name = |pattern: &Pattern<'_>| matches!(pattern, Pattern::Path(path) if path.anchor == Anchor::Name);
        match self.taken(entry, by.clone(), claim, false) {
            Answer::No if ordered && entry.written.patterns.iter().any(name) => {
                self.taken(entry, by, claim, true)
            }
            answer => answer,
        }
    }

    /// Whether other entries that say the same take all that an entry takes; `among` tells which of them count.
    pub fn redundant(
        &self,
        own: usize,
        among: impl Fn(usize, &Entry<'m>) -> bool,
    ) -> Answer<Hidden> {
        let Some(entry) = self.entries.get(own) else {
            return Answer::No;
        };
        let by = self.near_at(entry, |at, other| {
            let (mine, theirs) = (entry.action(), other.action());
            let forced = entry.compiled.rule.forced;
            let says =
                theirs == mine || (mine == Verdict::Ask && theirs == Verdict::Deny && !forced);
            // Two that only together take every word each may or may not take one that cannot be computed.
            let patterns = entry.written.patterns.iter().map(Some);
            let mut patterns = patterns.chain(entry.written.patterns.is_empty().then_some(None));
            let mut spaces = entry.spaces().into_iter();
            at != own
                && says
                && among(at, other)
                && spaces.any(|space| patterns.any(|own| covers(other, entry, own, space)))
        });
        let entries = by.iter().filter_map(|by| match by {
            By::Entry(at) => self.entries.get(*at),
            By::Protected(_) => None,
        });
        match self.covered(entry, &entries.collect::<Vec<_>>()) {
            true => self.taken(entry, by, Claim::Again, false),
            false => Answer::No,
        }
    }

    /// Whether all that one entry takes is taken by another, conditions and all.
    pub fn inside(&self, narrow: usize, wide: usize) -> bool {
        let Some(entry) = self.entries.get(narrow) else {
            return false;
        };
        self.takes(entry, &[By::Entry(wide)]) == Answer::Yes(BTreeSet::from([By::Entry(wide)]))
    }

    /// Whether some of `by` take all that an entry takes, and a call that shows it.
    fn taken(
        &self,
        entry: &Entry<'_>,
        mut by: Vec<By>,
        claim: Claim,
        in_workspace: bool,
    ) -> Answer<Hidden> {
        loop {
            let taking = match self.takes_in(entry, &by, in_workspace) {
                Answer::Yes(taking) if !taking.is_empty() => {
                    self.fewest(entry, taking, in_workspace)
                }
                Answer::Unknown => return Answer::Unknown,
                _ => return Answer::No,
            };
            // An allow covers what its words name: a narrower one may cover more, and what it leaves goes on.
            let leaving: Vec<By> = taking
                .iter()
                .filter(|by| self.leaves(**by, entry, claim))
                .copied()
                .collect();
            if leaving.is_empty() {
                return match self.shown(entry, &taking, claim, in_workspace) {
                    Some(witness) => Answer::Yes(Hidden {
                        by: taking,
                        witness,
                        in_workspace,
                    }),
                    None => Answer::No,
                };
            }
            by.retain(|own| !leaving.contains(own));
        }
    }

    /// Which of `by` take part in taking all that an entry takes.
    pub(super) fn takes(&self, entry: &Entry<'_>, by: &[By]) -> Answer<BTreeSet<By>> {
        self.takes_in(entry, by, false)
    }

    /// Whether the first word of a pattern is one that no other takes: nearly always, and cheaply found.
    fn sticks_out(
        &self,
        entry: &Entry<'_>,
        given: &[Need<'_>],
        space: Space,
        by: &[By],
        in_workspace: bool,
    ) -> bool {
        let mut parts = entry.parts.iter().enumerate();
        parts.any(|(at, part)| {
            let Some(part) = part else { return false };
            let pattern = entry.written.patterns.get(at);
            let keys = pattern.and_then(|own| keys(own, &self.scene, true));
            let sticks = |word: Vec<usize>| {
                let text = self.alphabet.text(&word).to_lowercase();
                let marked = |by: &By| match by {
                    By::Entry(at) => self.entries.get(*at).is_some_and(|own| {
                        let mut parts = own.parts.iter().flatten();
                        parts.any(|part| part.mark.as_ref().is_none_or(|mark| mark.is_in(&text)))
                    }),
                    By::Protected(_) => true,
                };
                let takes = |by: &By| {
                    let languages = self.by(*by, space, given, keys.as_deref());
                    languages.iter().any(|own| own.takes(&word))
                };
                !by.iter().any(|by| marked(by) && takes(by))
            };
            let straight = || {
                let mut wanted = self.wanted(part, space)?;
                if in_workspace {
                    wanted.is.extend(self.inside_roots());
                }
                wanted.straight(&self.alphabet)
            };
            let drawn = self.drawn(part, space).filter(|_| !in_workspace);
            drawn.is_some_and(sticks) || straight().is_some_and(sticks)
        })
    }

    /// What is known of a call that an entry takes: its needs, and, where of what closes one asks for words that another
    /// asks not to be there, each of the two. What denies or asks counts no word as there that only may be.
    pub(super) fn given<'n>(&self, entry: &Entry<'n>, by: &[By]) -> Vec<Vec<Need<'n>>>
    where
        'm: 'n,
    {
        let strict = by.iter().filter_map(|by| match by {
            By::Entry(at) => self.entries.get(*at),
            By::Protected(_) => None,
        });
        let strict = strict.filter(|own| own.action() != Verdict::Allow);
        let needs: Vec<&Need<'n>> = strict.flat_map(|own| &own.needs).collect();
        let mut given = vec![entry.needs.clone()];
        for need in &needs {
            let Need::Without(globs) = need else { continue };
            let with = Need::With(globs);
            let known = |own: &Vec<Need<'n>>| own.contains(need) || own.contains(&with);
            let splits = needs
                .iter()
                .any(|own| own.follows(std::slice::from_ref(&with)));
            if !splits || given.iter().any(known) || given.len() > MOST_WAYS {
                continue;
            }
            let mut other = given.clone();
            given.iter_mut().for_each(|own| own.push(with.clone()));
            other.iter_mut().for_each(|own| own.push((*need).clone()));
            given.append(&mut other);
        }
        given
    }

    fn takes_in(&self, entry: &Entry<'_>, by: &[By], in_workspace: bool) -> Answer<BTreeSet<By>> {
        let mut taking = BTreeSet::new();
        for space in entry.spaces() {
            let by: Vec<By> = by
                .iter()
                .filter(|by| self.reaches(**by, space))
                .copied()
                .collect();
            if by.is_empty() {
                return Answer::No;
            }
            let given = self.given(entry, &by);
            let mut each = given.iter();
            if each.any(|given| self.sticks_out(entry, given, space, &by, in_workspace)) {
                return Answer::No;
            }
            let Some(sets) = self.sets(entry, space, &by) else {
                return Answer::Unknown;
            };
            let parts = entry.parts.iter().enumerate();
            for ((at, part), given) in
                parts.flat_map(|part| given.iter().map(move |own| (part, own)))
            {
                let wanted = part.as_ref().and_then(|part| self.wanted(part, space));
                let Some(mut wanted) = wanted else {
                    return Answer::No;
                };
                if in_workspace {
                    wanted.is.extend(self.inside_roots());
                }
                let pattern = entry.written.patterns.get(at);
                let keys = pattern.and_then(|own| keys(own, &self.scene, true));
                let all: Vec<(By, Rc<Language>)> = by
                    .iter()
                    .flat_map(|by| {
                        let own = self.by(*by, space, given, keys.as_deref()).into_iter();
                        own.map(|language| (*by, language))
                    })
                    .collect();
                for on in &sets {
                    let mut on: Vec<&(By, Rc<Language>)> =
                        all.iter().filter(|(by, _)| on.contains(by)).collect();
                    // What is written again takes nothing more.
                    let mut known = HashSet::new();
                    on.retain(|(_, own)| known.insert(own.automata()));
                    if on.is_empty() {
                        return Answer::No;
                    }
                    let others: Vec<Rc<Language>> =
                        on.iter().map(|(_, own)| Rc::clone(own)).collect();
                    match Search::new(&self.alphabet, wanted.clone(), others).next() {
                        Found::Nothing(some) => {
                            taking
                                .extend(some.iter().filter_map(|at| on.get(*at)).map(|own| own.0));
                        }
                        Found::Word(_) => return Answer::No,
                        Found::GaveUp => return Answer::Unknown,
                    }
                }
            }
        }
        Answer::Yes(taking)
    }

    /// As few as still take all: one, where one does.
    fn fewest(&self, entry: &Entry<'_>, taking: BTreeSet<By>, in_workspace: bool) -> Vec<By> {
        let mut left: Vec<By> = taking.into_iter().collect();
        let alone = left
            .iter()
            .find(|own| matches!(self.takes_in(entry, &[**own], in_workspace), Answer::Yes(some) if !some.is_empty()));
        if let Some(alone) = alone {
            return vec![*alone];
        }
        let mut at = 0;
        while at < left.len() && left.len() <= 16 {
            let mut fewer = left.clone();
            fewer.remove(at);
            match self.takes_in(entry, &fewer, in_workspace) {
                Answer::Yes(_) => left = fewer,
                _ => at += 1,
            }
        }
        left
    }

    pub(super) fn leaves(&self, by: By, entry: &Entry<'_>, claim: Claim) -> bool {
        let By::Entry(at) = by else { return false };
        let Some(wide) = self.entries.get(at) else {
            return false;
        };
        if wide.action() != Verdict::Allow
            || !matches!(wide.compiled.rule.judges, Judges::Commands(_))
        {
            return false;
        }
        let (wide, narrow) = (
            encode::commands_of(&wide.written),
            encode::commands_of(&entry.written),
        );
        narrow.iter().any(|narrow| {
            // What is no option is hardly an escalation of the wider one, where the question is who comes first.
            !(claim == Claim::Late && sample::plainly(narrow))
                && wide.iter().all(|wide| sample::names_more(wide, narrow))
        })
    }

    /// A call that shows a claim.
    fn shown(
        &self,
        entry: &Entry<'_>,
        by: &[By],
        claim: Claim,
        in_workspace: bool,
    ) -> Option<Witness> {
        let entries: Vec<&Entry<'m>> = by
            .iter()
            .filter_map(|by| match by {
                By::Entry(at) => self.entries.get(*at),
                By::Protected(_) => None,
            })
            .collect();
        let keys: Vec<String> = by
            .iter()
            .filter_map(|by| match by {
                By::Entry(at) => self.entries.get(*at).map(|own| own.compiled.key.clone()),
                By::Protected(at) => {
                    let set = self.matcher.protected.get(*at)?;
                    Some(format!("protected.{}", set.name))
                }
            })
            .collect();
        let shows = |decision: &Decision| {
            let mut judged = decision.judged.iter();
            judged.any(|judged| {
                let Some(lost) = fits(judged, entry.rule) else {
                    return false;
                };
                let others = || {
                    entries
                        .iter()
                        .any(|own| fits(judged, own.rule) == Some(false))
                };
                match claim {
                    Claim::Late => lost && others(),
                    Claim::Again => !lost && others(),
                    Claim::Stricter => {
                        judged.verdict > entry.action()
                            && judged
                                .because
                                .iter()
                                .any(|(own, _)| keys.iter().any(|key| key == own))
                    }
                }
            })
        };
        entry.spaces().into_iter().find_map(|space| {
            self.sampled(entry, space)
                .into_iter()
                .find_map(|mut sampled| {
                    if in_workspace {
                        sampled.is.extend(self.inside_roots());
                    }
                    let mut search = Search::new(&self.alphabet, sampled, Vec::new());
                    (0..TRIES).find_map(|_| match search.next() {
                        Found::Word(word) => self.tried(entry, space, &word, &entries, &shows),
                        _ => None,
                    })
                })
        })
    }

    /// A call of a word that the real matcher decides as it should, with any tool and facts that turn the rules on.
    pub(super) fn tried(
        &self,
        entry: &Entry<'_>,
        space: Space,
        word: &str,
        others: &[&Entry<'m>],
        shows: &dyn Fn(&Decision) -> bool,
    ) -> Option<Witness> {
        let own = &entry.compiled.rule;
        let rules = others.iter().map(|other| &other.compiled.rule).chain([own]);
        let facts =
            situation::combinations(self.matcher, rules).unwrap_or_else(|| vec![Facts::new()]);
        for tool in self.tools(entry, space).iter().take(8) {
            for facts in facts
                .iter()
                .filter(|facts| self.is_on(own, space, tool, facts))
            {
                let needs = &entry.needs;
                let call = self
                    .scene
                    .call(self.matcher, space, word, tool, facts, needs);
                if let Some(witness) = call
                    && shows(&decide(self.matcher, &witness.call, &FileView::None))
                {
                    return Some(witness);
                }
            }
        }
        None
    }
}

/// Whether a rule surely fits what was judged, and whether it lost.
pub fn fits(judged: &Judged, rule: usize) -> Option<bool> {
    let mut matched = judged.matched.iter();
    let own = matched.find(|own| own.rule == rule && own.fit == Fit::Must)?;
    Some(own.lost.is_some())
}
