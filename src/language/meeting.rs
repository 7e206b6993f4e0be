//! Two languages → whether they meet: an entry with itself ([empty](Rules::is_empty)), with another
//! ([conflict](Rules::conflict)), with the names of protected files.

use super::dfa::Dfa;
use super::encode;
use super::encode::Space;
use super::entry::Part;
use super::hidden::{By, fits};
use super::search::{Found, Search};
use super::witness::Witness;
use super::words::Language;
use super::{Answer, Pattern, Rules, TRIES};
use crate::call::access::Mode;
use crate::decision::Decision;
use crate::policy::patterns::PathPattern;
use crate::policy::rule::{Judges, Protected};
use std::rc::Rc;

impl<'m> Rules<'m> {
    /// Whether no access at all is what an entry asks for.
    pub fn is_empty(&self, own: usize) -> bool {
        let Some(entry) = self.entries.get(own) else {
            return false;
        };
        let spaces = entry.spaces();
        !entry.is_whole(&self.scene)
            && !spaces.is_empty()
            && !entry.parts.is_empty()
            && spaces.iter().all(|space| {
                entry.parts.iter().all(|part| {
                    let drawn = |part: &&Part| self.drawn(part, *space).is_none();
                    let part = part.as_ref().filter(drawn);
                    let wanted = part.and_then(|part| self.wanted(part, *space));
                    wanted.is_some_and(|wanted| {
                        let mut search = Search::new(&self.alphabet, wanted, Vec::new());
                        matches!(search.next(), Found::Nothing(_))
                    })
                })
            })
    }

    /// Whether two entries of which neither lies inside the other meet, where the first is tried before the second: a
    /// call that both take and that the first decides.
    pub fn conflict(&self, first: usize, second: usize) -> Answer<Witness> {
        let (Some(one), Some(other)) = (self.entries.get(first), self.entries.get(second)) else {
            return Answer::No;
        };
        let mut apart = None;
        for space in one
            .spaces()
            .into_iter()
            .filter(|space| other.spaces().contains(space))
        {
            let others = self.sampled(other, space);
            for (a, b) in self
                .sampled(one, space)
                .iter()
                .flat_map(|a| others.iter().map(move |b| (a, b)))
            {
                let mut search = Search::new(&self.alphabet, a.clone().and(b), Vec::new());
                for _ in 0..TRIES {
                    let word = match search.next() {
                        Found::Word(word) => word,
                        Found::Nothing(_) => break,
                        Found::GaveUp => return Answer::Unknown,
                    };
                    // That they meet is the rare case: whether one lies inside the other is asked only then.
                    if !*apart.get_or_insert_with(|| {
                        !self.inside(first, second) && !self.inside(second, first)
                    }) {
                        return Answer::No;
                    }
                    let shows = |decision: &Decision| {
                        decision.judged.iter().any(|judged| {
                            fits(judged, one.rule) == Some(false)
                                && fits(judged, other.rule) == Some(true)
                        })
                    };
                    if let Some(witness) = self.tried(one, space, &word, &[other], &shows) {
                        return Answer::Yes(witness);
                    }
                }
            }
        }
        Answer::No
    }

    /// A protected set, and a name of its list that an allow for paths takes wherever it stands below the roots, while
    /// the set does not take all of the allow.
    pub fn names_protected(&self, own: usize) -> Option<(&'m Protected, String)> {
        let entry = self.entries.get(own)?;
        let Judges::Paths(paths) = &entry.compiled.rule.judges else {
            return None;
        };
        let itself = |path: &PathPattern| {
            let shape = encode::name(path, &self.scene.folders)?;
            self.dfa(&shape)
        };
        let allowed: Option<Vec<Rc<Dfa>>> = entry
            .written
            .patterns
            .iter()
            .map(|pattern| match pattern {
                Pattern::Path(path) => itself(path),
                _ => None,
            })
            .collect();
        let one = |dfa: &Rc<Dfa>| Language {
            is: vec![Rc::clone(dfa)],
            not: paths.except.iter().filter_map(itself).collect(),
        };
        let allowed: Vec<Rc<Language>> = allowed?.iter().map(|dfa| Rc::new(one(dfa))).collect();
        let sets = self.matcher.protected.iter().enumerate();
        let mut sets = sets.filter(|(at, set)| {
            let mut modes = paths.modes.iter();
            modes.any(|mode| set.paths.modes.contains(mode))
                && !matches!(self.takes(entry, &[By::Protected(*at)]), Answer::Yes(some) if !some.is_empty())
        });
        sets.find_map(|(_, set)| {
            let mut files = set.paths.patterns.iter();
            let file = files.find(|file| {
                itself(file).is_some_and(|dfa| {
                    let wanted = Language {
                        is: vec![dfa],
                        not: Vec::new(),
                    };
                    let plain = self
                        .plain(false, Space::Paths(Mode::Read))
                        .unwrap_or_default();
                    let mut search =
                        Search::new(&self.alphabet, wanted.and(&plain), allowed.clone());
                    matches!(search.next(), Found::Nothing(some) if !some.is_empty())
                })
            })?;
            Some((set, file.text.to_string()))
        })
    }

    /// The entries that may meet an entry.
    pub fn meeting(&self, own: usize) -> Vec<usize> {
        let Some(entry) = self.entries.get(own) else {
            return Vec::new();
        };
        let entries = self.near(entry, |_| true).into_iter();
        entries
            .filter_map(|by| match by {
                By::Entry(at) if at != own => Some(at),
                _ => None,
            })
            .collect()
    }
}
