//! Automata → a [`Language`]: the words that some take and some others do not, walked side by side.

use super::dfa::{Dfa, State};
use super::shape::Alphabet;
use std::rc::Rc;

/// The words that are in all of some automata and in none of some others.
#[derive(Clone, Debug, Default)]
pub struct Language {
    /// In all of these.
    pub is: Vec<Rc<Dfa>>,
    /// In none of these.
    pub not: Vec<Rc<Dfa>>,
}

impl Language {
    /// What is in both.
    pub fn and(mut self, other: &Self) -> Self {
        self.is.extend(other.is.iter().cloned());
        self.not.extend(other.not.iter().cloned());
        self
    }

    /// All its automata.
    pub fn all(&self) -> impl Iterator<Item = &Rc<Dfa>> {
        self.is.iter().chain(&self.not)
    }

    /// Which automata it is made of: equal patterns share theirs.
    pub fn automata(&self) -> (Vec<*const Dfa>, usize) {
        (self.all().map(Rc::as_ptr).collect(), self.is.len())
    }

    /// How many states it walks in.
    pub const fn width(&self) -> usize {
        self.is.len() + self.not.len()
    }

    /// Its states after one more symbol.
    pub fn step(&self, states: &[State], symbol: usize, out: &mut Vec<State>) {
        let both = self.all().zip(states);
        out.extend(both.map(|(dfa, state)| dfa.step(*state, symbol)));
    }

    fn every(&self, states: &[State], test: impl Fn(bool, &Dfa, State) -> bool) -> bool {
        let (is, not) = states.split_at(self.is.len().min(states.len()));
        let mut is = self.is.iter().zip(is);
        let mut not = self.not.iter().zip(not);
        is.all(|(dfa, state)| test(true, dfa, *state))
            && not.all(|(dfa, state)| test(false, dfa, *state))
    }

    /// Whether the word so far is in it.
    pub fn accepts(&self, states: &[State]) -> bool {
        self.every(states, |sign, dfa, state| dfa.accepts(state) == sign)
    }

    /// Whether every word that starts so is.
    pub fn takes_all(&self, states: &[State]) -> bool {
        self.every(states, |sign, dfa, state| match sign {
            true => dfa.takes_all(state),
            false => dfa.is_dead(state),
        })
    }

    /// Whether no word that starts so is.
    pub fn is_dead(&self, states: &[State]) -> bool {
        !self.every(states, |sign, dfa, state| match sign {
            true => !dfa.is_dead(state),
            false => !dfa.takes_all(state),
        })
    }

    /// A shortest word, where each step goes straight to an end; none where that leads nowhere.
    pub fn straight(&self, alphabet: &Alphabet) -> Option<Vec<usize>> {
        let mut states = vec![0; self.width()];
        let mut word = Vec::new();
        let mut next = Vec::new();
        while !self.accepts(&states) {
            let far = self.distance(&states);
            let symbols = 0..alphabet.symbols().len();
            let nearer = symbols.into_iter().find(|symbol| {
                next.clear();
                self.step(&states, *symbol, &mut next);
                self.distance(&next) < far && !self.is_dead(&next)
            })?;
            std::mem::swap(&mut states, &mut next);
            word.push(nearer);
        }
        Some(word)
    }

    /// Whether a word is in it.
    pub fn takes(&self, word: &[usize]) -> bool {
        let ends = |dfa: &Dfa| {
            word.iter()
                .fold(0, |state, symbol| dfa.step(state, *symbol))
        };
        let accepts = |dfa: &Rc<Dfa>| dfa.accepts(ends(dfa));
        self.is.iter().all(accepts) && !self.not.iter().any(accepts)
    }

    /// How many more symbols it takes at least.
    pub fn distance(&self, states: &[State]) -> u32 {
        let each = self.is.iter().zip(states);
        each.map(|(dfa, state)| dfa.distance(*state))
            .max()
            .unwrap_or(0)
    }
}
