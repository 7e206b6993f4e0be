//! A shape → a table of states: which words it takes, from which states all or none are taken, how far it still is.
//!
//! A state is the set of places of the pattern that may come next: made by hand, since these are small and many.
//! Characters that all places treat alike share a column. Refuses what grows too large.

use super::places::{Ends, Places, Set, contains, members, unite};
use super::shape::{Alphabet, BREAK, Chars, Shape};
use crate::matcher::quick::SetMap;

/// Entries of the table of one automaton.
const MOST_ENTRIES: usize = 1 << 18;

/// A state.
pub type State = u32;

/// No word is taken any more.
pub const FAR: u32 = u32::MAX;

/// An automaton over the symbols of an [`Alphabet`].
#[derive(Clone, Debug)]
pub struct Dfa {
    /// Symbol → column.
    columns: Box<[u8]>,
    width: usize,
    next: Vec<State>,
    accepts: Vec<bool>,
    all: Vec<bool>,
    distance: Vec<u32>,
}

impl Dfa {
    /// Makes the automaton; none where it grows too large.
    pub fn of(shape: &Shape, alphabet: &Alphabet) -> Option<Self> {
        let (places, ends) = Places::of(shape)?;
        let mut named = Chars::default();
        shape.chars(&mut named);
        let mut named = named.sorted();
        named.retain(|c| *c != BREAK);
        let [mut takers, all] = places.takers(&named);
        let mut columns = vec![1; alphabet.symbols().len()];
        if let Some(last) = columns.last_mut() {
            *last = 0;
        }
        for (c, own) in named.iter().zip(all) {
            let known = takers.iter().skip(1).position(|takers| *takers == own);
            let column = known.map_or(takers.len(), |at| at + 1);
            if known.is_none() {
                takers.push(own);
            }
            let symbol = alphabet.index(*c);
            if let Some(place) = symbol.and_then(|at| columns.get_mut(at)) {
                *place = u8::try_from(column).ok()?;
            }
        }
        let mut own = Self {
            columns: columns.into(),
            width: takers.len(),
            next: Vec::new(),
            accepts: Vec::new(),
            distance: Vec::new(),
            all: Vec::new(),
        };
        own.fill(&places, &ends, &takers)?;
        own.distance = own.distances(true);
        // From where no word that is not taken can be reached, all are.
        let far = own.distances(false);
        own.all = far.iter().map(|far| *far == FAR).collect();
        Some(own)
    }

    /// Walks all states: two in which the same places come next and that take the same are one.
    fn fill(&mut self, places: &Places<'_>, ends: &Ends, takers: &[Set]) -> Option<()> {
        let mut known: SetMap<(Set, bool), State> = SetMap::default();
        let mut states: Vec<Set> = vec![ends.first.clone()];
        known.insert((ends.first.clone(), ends.empty), 0);
        self.accepts.push(ends.empty);
        // Which state follows which places.
        let mut after: SetMap<Set, State> = SetMap::default();
        let mut dead = None;
        let mut taken = places.none();
        let mut at = 0;
        while let Some(state) = states.get(at).cloned() {
            at += 1;
            for takers in takers {
                for ((taken, own), takers) in taken.iter_mut().zip(&state).zip(takers) {
                    *taken = own & takers;
                }
                let is_dead = taken.iter().all(|word| *word == 0);
                let found = if is_dead {
                    dead
                } else {
                    after.get(&taken).copied()
                };
                if let Some(to) = found {
                    self.next.push(to);
                    continue;
                }
                let mut next = places.none();
                let mut accepts = false;
                for place in members(&taken) {
                    unite(&mut next, places.after.get(place)?);
                    accepts |= contains(&ends.last, place);
                }
                let fresh = State::try_from(states.len()).ok()?;
                let to = *known.entry((next.clone(), accepts)).or_insert(fresh);
                if to == fresh {
                    states.push(next);
                    self.accepts.push(accepts);
                }
                match is_dead {
                    true => dead = Some(to),
                    false => drop(after.insert(taken.clone(), to)),
                }
                self.next.push(to);
            }
            if self.next.len() > MOST_ENTRIES {
                return None;
            }
        }
        Some(())
    }

    /// How many symbols it takes from each state to one that accepts, or that does not.
    fn distances(&self, accepting: bool) -> Vec<u32> {
        let mut far: Vec<u32> = self
            .accepts
            .iter()
            .map(|own| if *own == accepting { 0 } else { FAR })
            .collect();
        // States are numbered on the way from the start: backwards, one pass does nearly all.
        let mut changed = true;
        while changed {
            changed = false;
            for (state, row) in self.next.chunks(self.width).enumerate().rev() {
                let next = row.iter().filter_map(|to| far.get(*to as usize));
                let least = next.min().map_or(FAR, |far| far.saturating_add(1));
                if let Some(own) = far.get_mut(state).filter(|own| **own > least) {
                    *own = least;
                    changed = true;
                }
            }
        }
        far
    }

    /// The state after one more symbol, by its index in the alphabet.
    pub fn step(&self, state: State, symbol: usize) -> State {
        let at = state as usize * self.width + usize::from(self.column(symbol));
        self.next.get(at).copied().unwrap_or_default()
    }

    /// How many columns there are.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// What the automaton takes the symbol for: symbols of one column are the same to it.
    pub fn column(&self, symbol: usize) -> u8 {
        self.columns.get(symbol).copied().unwrap_or(1)
    }

    /// Whether the word so far is taken.
    pub fn accepts(&self, state: State) -> bool {
        self.accepts.get(state as usize).copied().unwrap_or(false)
    }

    /// Whether every word that starts so is taken.
    pub fn takes_all(&self, state: State) -> bool {
        self.all.get(state as usize).copied().unwrap_or(false)
    }

    /// Whether no word that starts so is taken.
    pub fn is_dead(&self, state: State) -> bool {
        self.distance(state) == FAR
    }

    /// How many more symbols it takes at least.
    pub fn distance(&self, state: State) -> u32 {
        self.distance.get(state as usize).copied().unwrap_or(FAR)
    }
}
