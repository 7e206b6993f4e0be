//! Best-first search for the shortest word that one language takes and none of some others does.
//!
//! The states of all are walked side by side, never one automaton of their union, which explodes. What can take no word
//! any more is dropped; where one of the others takes every word that starts so, the search turns back. It goes on
//! after a word was found, so that one that proves nothing can be passed over. Its budget is fixed: it may give up.

use super::dfa::{Alphabet, Dfa, FAR, State};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};
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

    fn all(&self) -> impl Iterator<Item = &Rc<Dfa>> {
        self.is.iter().chain(&self.not)
    }

    fn width(&self) -> usize {
        self.is.len() + self.not.len()
    }

    fn step(&self, states: &[State], symbol: usize, out: &mut Vec<State>) {
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

    fn accepts(&self, states: &[State]) -> bool {
        self.every(states, |sign, dfa, state| dfa.accepts(state) == sign)
    }

    fn takes_all(&self, states: &[State]) -> bool {
        self.every(states, |sign, dfa, state| match sign {
            true => dfa.takes_all(state),
            false => dfa.is_dead(state),
        })
    }

    fn is_dead(&self, states: &[State]) -> bool {
        !self.every(states, |sign, dfa, state| match sign {
            true => !dfa.is_dead(state),
            false => !dfa.takes_all(state),
        })
    }

    fn distance(&self, states: &[State]) -> u32 {
        let each = self.is.iter().zip(states);
        each.map(|(dfa, state)| dfa.distance(*state))
            .max()
            .unwrap_or(0)
    }
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The next word, the shortest first.
    Word(String),
    /// There is none (any more). The others that take what the language takes, by their index.
    Nothing(BTreeSet<usize>),
    /// The budget is spent.
    GaveUp,
}

/// How many steps of one automaton a search may take.
pub const BUDGET: usize = 1_000_000;

struct Node {
    parent: usize,
    symbol: usize,
    depth: u32,
    /// The states of what is wanted; then, for each of the others that is alive, its index and its states.
    states: Rc<[State]>,
}

/// What stands in the queue: a word, or a way on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// The node itself.
    Word,
    /// The symbol at this place of this group.
    On(usize, usize),
}

/// One search.
pub struct Search<'a> {
    alphabet: &'a Alphabet,
    wanted: Language,
    others: Vec<Rc<Language>>,
    /// Symbols that are the same to the language that is wanted.
    groups: Vec<Vec<usize>>,
    nodes: Vec<Node>,
    /// Least possible length, order of coming counted down, node, way.
    queue: BinaryHeap<Reverse<(u32, usize, usize, Way)>>,
    seen: HashSet<Rc<[State]>>,
    taking: BTreeSet<usize>,
    spent: usize,
    came: usize,
}

impl<'a> Search<'a> {
    /// Begins.
    pub fn new(alphabet: &'a Alphabet, wanted: Language, others: Vec<Rc<Language>>) -> Self {
        let mut groups: Vec<(Vec<u8>, Vec<usize>)> = Vec::new();
        for symbol in 0..alphabet.symbols().len() {
            let columns: Vec<u8> = wanted.all().map(|dfa| dfa.column(symbol)).collect();
            match groups.iter_mut().find(|(own, _)| *own == columns) {
                Some((_, symbols)) => symbols.push(symbol),
                None => groups.push((columns, vec![symbol])),
            }
        }
        let mut states = vec![0; wanted.width()];
        for (index, other) in others.iter().enumerate() {
            states.push(State::try_from(index).unwrap_or(State::MAX));
            states.resize(states.len() + other.width(), 0);
        }
        let mut search = Self {
            alphabet,
            wanted,
            others,
            groups: groups.into_iter().map(|(_, symbols)| symbols).collect(),
            nodes: Vec::new(),
            queue: BinaryHeap::new(),
            seen: HashSet::new(),
            taking: BTreeSet::new(),
            spent: 0,
            came: usize::MAX,
        };
        search.enter(usize::MAX, 0, 0, &states);
        search
    }

    /// The next word.
    pub fn next(&mut self) -> Found {
        while let Some(Reverse((least, came, at, way))) = self.queue.pop() {
            if self.spent > BUDGET {
                return Found::GaveUp;
            }
            let Way::On(group, index) = way else {
                return Found::Word(self.word(at));
            };
            let symbols = self.groups.get(group);
            let Some(symbol) = symbols.and_then(|own| own.get(index)).copied() else {
                continue;
            };
            self.queue
                .push(Reverse((least, came, at, Way::On(group, index + 1))));
            self.go_on(at, symbol);
        }
        Found::Nothing(std::mem::take(&mut self.taking))
    }

    fn go_on(&mut self, parent: usize, symbol: usize) {
        let Some(from) = self.nodes.get(parent) else {
            return;
        };
        let depth = from.depth + 1;
        let (own, mut rest) = from.states.split_at(self.wanted.width());
        let mut states = Vec::with_capacity(from.states.len());
        self.wanted.step(own, symbol, &mut states);
        while let [index, more @ ..] = rest {
            let Some(other) = self.others.get(*index as usize) else {
                break;
            };
            let (own, later) = more.split_at(other.width().min(more.len()));
            states.push(*index);
            other.step(own, symbol, &mut states);
            rest = later;
        }
        self.spent += states.len();
        self.enter(parent, symbol, depth, &states);
    }

    /// Takes a node in, unless nothing can come of it.
    fn enter(&mut self, parent: usize, symbol: usize, depth: u32, states: &[State]) {
        let (wanted, mut rest) = states.split_at(self.wanted.width());
        if self.wanted.is_dead(wanted) {
            return;
        }
        let is_word = self.wanted.accepts(wanted);
        let mut alive = wanted.to_vec();
        let mut by = None;
        while let [index, more @ ..] = rest {
            let Some(other) = self.others.get(*index as usize) else {
                break;
            };
            let (own, later) = more.split_at(other.width().min(more.len()));
            rest = later;
            if other.is_dead(own) {
                continue;
            }
            if other.takes_all(own) {
                self.taking.insert(*index as usize);
                return;
            }
            if is_word && by.is_none() && other.accepts(own) {
                by = Some(*index as usize);
            }
            alive.push(*index);
            alive.extend_from_slice(own);
        }
        let states: Rc<[State]> = alive.into();
        if !self.seen.insert(Rc::clone(&states)) {
            return;
        }
        self.taking.extend(by);
        let at = self.nodes.len();
        let (wanted, _) = states.split_at(self.wanted.width());
        let mut next = Vec::with_capacity(wanted.len());
        // What comes later is tried first among equals: straight on, not level by level.
        for (group, symbols) in self.groups.iter().enumerate().rev() {
            let Some(symbol) = symbols.first() else {
                continue;
            };
            next.clear();
            self.wanted.step(wanted, *symbol, &mut next);
            let far = self.wanted.distance(&next);
            if far != FAR && !self.wanted.is_dead(&next) {
                self.came -= 1;
                let least = (depth + 1).saturating_add(far);
                self.queue
                    .push(Reverse((least, self.came, at, Way::On(group, 0))));
            }
        }
        if is_word && by.is_none() {
            self.came -= 1;
            self.queue.push(Reverse((depth, self.came, at, Way::Word)));
        }
        self.spent += self.groups.len();
        self.nodes.push(Node {
            parent,
            symbol,
            depth,
            states,
        });
    }

    fn word(&self, node: usize) -> String {
        let mut out: Vec<&char> = Vec::new();
        let mut at = node;
        while let Some(node) = self.nodes.get(at).filter(|node| node.depth > 0) {
            out.extend(self.alphabet.symbols().get(node.symbol));
            at = node.parent;
        }
        out.into_iter().rev().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::dfa::{BREAK, Shape};
    use super::*;
    use proptest::prelude::*;

    /// The ends of what a shape takes from a place on, by trying all ways.
    fn ends(shape: &Shape, word: &[char], from: usize) -> BTreeSet<usize> {
        match shape {
            Shape::Break => match word.get(from) {
                Some(&BREAK) => [from + 1].into(),
                _ => [].into(),
            },
            Shape::One { negated, chars } => match word.get(from) {
                Some(c) if *c != BREAK && chars.contains(c) != *negated => [from + 1].into(),
                _ => [].into(),
            },
            Shape::Seq(all) => all.iter().fold([from].into(), |at: BTreeSet<usize>, own| {
                at.iter().flat_map(|at| ends(own, word, *at)).collect()
            }),
            Shape::Any(all) => all.iter().flat_map(|own| ends(own, word, from)).collect(),
            Shape::Many(own) => {
                let mut all = BTreeSet::from([from]);
                loop {
                    let more: BTreeSet<usize> =
                        all.iter().flat_map(|at| ends(own, word, *at)).collect();
                    let before = all.len();
                    all.extend(more);
                    if all.len() == before {
                        return all;
                    }
                }
            }
        }
    }

    fn takes(shape: &Shape, word: &[char]) -> bool {
        ends(shape, word, 0).contains(&word.len())
    }

    fn shapes() -> impl Strategy<Value = Shape> {
        let one = |negated, chars: &[char]| Shape::One {
            negated,
            chars: chars.to_vec(),
        };
        let leaf = prop_oneof![
            Just(Shape::Break),
            Just(one(false, &['a'])),
            Just(one(false, &['b'])),
            Just(one(true, &['a'])),
            Just(one(true, &[])),
            Just(Shape::parts()),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Shape::Seq),
                prop::collection::vec(inner.clone(), 0..3).prop_map(Shape::Any),
                inner.prop_map(Shape::many),
            ]
        })
    }

    fn words(symbols: &[char]) -> Vec<Vec<char>> {
        let mut all = vec![Vec::new()];
        let mut last: Vec<Vec<char>> = all.clone();
        for _ in 0..5 {
            last = last
                .iter()
                .flat_map(|word| {
                    symbols.iter().map(move |c| {
                        let mut word = word.clone();
                        word.push(*c);
                        word
                    })
                })
                .collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn agrees_with_trying_all_words_and_with_the_union(
            is in shapes(),
            not in shapes(),
            others in prop::collection::vec(shapes(), 0..4),
        ) {
            let alphabet = Alphabet::of(['a', 'b'].into());
            let dfa = |shape: &Shape| Rc::new(Dfa::of(shape, &alphabet).unwrap());
            let wanted = Language { is: vec![dfa(&is)], not: vec![dfa(&not)] };
            let language = |shape: &Shape| Rc::new(Language { is: vec![dfa(shape)], not: Vec::new() });
            let mut search = Search::new(&alphabet, wanted.clone(), others.iter().map(language).collect());
            let good = |word: &[char]| {
                takes(&is, word) && !takes(&not, word) && !others.iter().any(|own| takes(own, word))
            };
            let shortest = words(alphabet.symbols()).into_iter().find(|word| good(word));
            let first = search.next();
            match (&first, &shortest) {
                (Found::Word(word), Some(shortest)) => {
                    prop_assert_eq!(word.chars().count(), shortest.len());
                }
                (Found::Word(word), None) => prop_assert!(word.chars().count() > 5),
                (_, shortest) => prop_assert_eq!(shortest, &None),
            }
            let union = language(&Shape::Any(others.clone()));
            let by_union = Search::new(&alphabet, wanted, vec![union]).next();
            match (&first, &by_union) {
                (Found::Word(one), Found::Word(other)) => prop_assert_eq!(one.len(), other.len()),
                (Found::Nothing(_), Found::Nothing(_)) => {}
                both => prop_assert!(false, "{:?}", both),
            }
            let mut found = first;
            for _ in 0..8 {
                let Found::Word(word) = &found else { break };
                let word: Vec<char> = word.chars().collect();
                prop_assert!(good(&word), "{:?}", word);
                found = search.next();
            }
        }
    }
}
