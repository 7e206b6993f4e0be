//! Best-first search for the shortest word that one language takes and none of some others does.
//!
//! The states of all are walked side by side, never one automaton of their union, which explodes. What can take no word
//! any more is dropped; where one of the others takes every word that starts so, the search turns back. It goes on
//! after a word was found, so that one that proves nothing can be passed over. Its budget is fixed: it may give up.

use super::dfa::{Dfa, FAR, State};
use super::shape::Alphabet;
use super::words::Language;
use crate::matcher::quick::SetMap;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::rc::Rc;

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

/// Symbols by what automata take them for, numbered as they come.
struct Classes {
    of: Vec<usize>,
    count: usize,
}

impl Classes {
    fn of(symbols: usize) -> Self {
        Self {
            of: vec![0; symbols],
            count: 1,
        }
    }

    fn refine(&mut self, dfa: &Dfa) {
        if self.count == self.of.len() {
            return;
        }
        let mut known = vec![usize::MAX; self.count * dfa.width()];
        let mut count = 0;
        for (symbol, class) in self.of.iter_mut().enumerate() {
            let at = *class * dfa.width() + usize::from(dfa.column(symbol));
            if let Some(fresh) = known.get_mut(at) {
                if *fresh == usize::MAX {
                    *fresh = count;
                    count += 1;
                }
                *class = *fresh;
            }
        }
        self.count = count;
    }
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
    seen: SetMap<Rc<[State]>, ()>,
    /// Of what is entered, what is alive.
    alive: Vec<State>,
    taking: BTreeSet<usize>,
    spent: usize,
    came: usize,
    /// The states after one more symbol.
    stepped: Vec<State>,
}

impl<'a> Search<'a> {
    /// Begins.
    pub fn new(alphabet: &'a Alphabet, wanted: Language, others: Vec<Rc<Language>>) -> Self {
        let mut classes = Classes::of(alphabet.symbols().len());
        wanted.all().for_each(|dfa| classes.refine(dfa));
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); classes.count];
        let by_wanted = classes.of.clone();
        // Symbols that are the same to all who walk lead to the same place: one of them will do.
        let all = others.iter().flat_map(|other| other.all());
        all.for_each(|dfa| classes.refine(dfa));
        let mut next = 0;
        for (symbol, (group, class)) in by_wanted.iter().zip(&classes.of).enumerate() {
            if *class == next {
                next += 1;
                groups
                    .get_mut(*group)
                    .into_iter()
                    .for_each(|own| own.push(symbol));
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
            groups,
            nodes: Vec::new(),
            queue: BinaryHeap::new(),
            seen: SetMap::default(),
            alive: Vec::new(),
            taking: BTreeSet::new(),
            spent: 0,
            came: usize::MAX,
            stepped: Vec::new(),
        };
        search.enter(usize::MAX, 0, 0, &states);
        search
    }

    /// How many steps it took so far.
    pub const fn spent(&self) -> usize {
        self.spent
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
        let mut states = std::mem::take(&mut self.stepped);
        states.clear();
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
        self.stepped = states;
    }

    /// Takes a node in, unless nothing can come of it.
    fn enter(&mut self, parent: usize, symbol: usize, depth: u32, states: &[State]) {
        let (wanted, mut rest) = states.split_at(self.wanted.width());
        if self.wanted.is_dead(wanted) {
            return;
        }
        let is_word = self.wanted.accepts(wanted);
        self.alive.clear();
        self.alive.extend_from_slice(wanted);
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
            self.alive.push(*index);
            self.alive.extend_from_slice(own);
        }
        if self.seen.contains_key(self.alive.as_slice()) {
            return;
        }
        let states: Rc<[State]> = self.alive.as_slice().into();
        self.seen.insert(Rc::clone(&states), ());
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
        let mut word = Vec::new();
        let mut at = node;
        while let Some(node) = self.nodes.get(at).filter(|node| node.depth > 0) {
            word.push(node.symbol);
            at = node.parent;
        }
        word.reverse();
        self.alphabet.text(&word)
    }
}
