//! A pattern → a table of states: which words it takes, from which states all or none are taken, how far it still is.
//!
//! A word is a sequence of parts, each with [`BREAK`] before it. The automaton is made by `regex-automata` over bytes
//! that stand for the characters the pattern tells apart, one byte for all others. Refuses what grows too large.

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, Repetition};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// What stands before each part of a word: no argument of a program holds it.
pub const BREAK: char = '\0';

/// Bytes that one automaton, and the making of it, may take.
const MOST_BYTES: usize = 1 << 20;

/// How a word is built.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A new part begins.
    Break,
    /// One of these characters, or with `negated` one of all others; never [`BREAK`].
    One {
        /// All others.
        negated: bool,
        /// In order, each once.
        chars: Vec<char>,
    },
    /// One after the other.
    Seq(Vec<Shape>),
    /// Any of these.
    Any(Vec<Shape>),
    /// Any number of times.
    Many(Box<Shape>),
}

impl Shape {
    /// One character.
    pub fn char() -> Self {
        Self::One {
            negated: true,
            chars: Vec::new(),
        }
    }

    /// These characters, one after the other.
    pub fn text(text: &str) -> Self {
        let one = |c| Self::One {
            negated: false,
            chars: vec![c],
        };
        Self::Seq(text.chars().map(one).collect())
    }

    /// Any number of these.
    pub fn many(self) -> Self {
        Self::Many(Box::new(self))
    }

    /// Any number of parts, whatever they are.
    pub fn parts() -> Self {
        Self::Seq(vec![Self::Break, Self::char().many()]).many()
    }

    /// One or none.
    pub fn optional(self) -> Self {
        Self::Any(vec![self, Self::Seq(Vec::new())])
    }

    /// The characters that are told apart.
    pub fn chars(&self, out: &mut BTreeSet<char>) {
        match self {
            Self::Break => {}
            Self::One { chars, .. } => out.extend(chars),
            Self::Seq(all) | Self::Any(all) => all.iter().for_each(|own| own.chars(out)),
            Self::Many(own) => own.chars(out),
        }
    }

    fn hir(&self, letters: &Letters) -> Hir {
        match self {
            Self::Break => Hir::literal([0]),
            Self::One { negated, chars } => {
                let own = |c: &char| letters.of(*c);
                let bytes: Vec<u8> = match negated {
                    false => chars.iter().map(own).collect(),
                    true => {
                        let but: BTreeSet<u8> = chars.iter().map(own).collect();
                        let all = 1..=letters.last();
                        all.filter(|byte| !but.contains(byte)).collect()
                    }
                };
                let ranges = bytes.iter().map(|byte| ClassBytesRange::new(*byte, *byte));
                Hir::class(Class::Bytes(ClassBytes::new(ranges)))
            }
            Self::Seq(all) => Hir::concat(all.iter().map(|own| own.hir(letters)).collect()),
            Self::Any(all) => Hir::alternation(all.iter().map(|own| own.hir(letters)).collect()),
            Self::Many(own) => Hir::repetition(Repetition {
                min: 0,
                max: None,
                greedy: true,
                sub: Box::new(own.hir(letters)),
            }),
        }
    }
}

/// The bytes that stand for characters: 0 for a break, 1 for whatever the pattern does not name, then the named.
struct Letters(Vec<char>);

impl Letters {
    fn of(&self, c: char) -> u8 {
        match (c, self.0.binary_search(&c)) {
            (BREAK, _) => 0,
            (_, Ok(at)) => u8::try_from(at + 2).unwrap_or(1),
            (_, Err(_)) => 1,
        }
    }

    fn last(&self) -> u8 {
        u8::try_from(self.0.len() + 1).unwrap_or(u8::MAX)
    }
}

/// The characters of all patterns, those first that read well in an example; and one that stands for all others.
#[derive(Clone, Debug)]
pub struct Alphabet {
    symbols: Vec<char>,
}

impl Alphabet {
    /// Of these characters.
    pub fn of(mut chars: BTreeSet<char>) -> Self {
        chars.remove(&BREAK);
        let spare = "xyzwvabcdefghijklmnopqrstu0123456789".chars();
        let others = ('\u{e0}'..'\u{3ff}').chain('\u{4e00}'..'\u{9fff}');
        let other = spare
            .chain(others)
            .find(|c| c.is_alphanumeric() && !chars.contains(c));
        chars.extend(other);
        let mut symbols: Vec<char> = chars.into_iter().collect();
        symbols.sort_by_key(|c| match c {
            'x' => 0,
            'a'..='z' => 1,
            '0'..='9' => 2,
            c if c.is_alphabetic() => 3,
            '.' | '_' => 4,
            '-' => 5,
            '/' | '~' => 7,
            _ => 6,
        });
        symbols.push(BREAK);
        Self { symbols }
    }

    /// The characters.
    pub fn symbols(&self) -> &[char] {
        &self.symbols
    }
}

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
    next: Box<[State]>,
    accepts: Box<[bool]>,
    all: Box<[bool]>,
    distance: Box<[u32]>,
}

impl Dfa {
    /// Makes the automaton; none where it grows too large.
    pub fn of(shape: &Shape, alphabet: &Alphabet) -> Option<Self> {
        let mut chars = BTreeSet::new();
        shape.chars(&mut chars);
        let letters = Letters(chars.into_iter().filter(|c| *c != BREAK).collect());
        if letters.0.len() > 250 {
            return None;
        }
        let config = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MOST_BYTES));
        let nfa = thompson::Compiler::new()
            .configure(config)
            .build_from_hir(&shape.hir(&letters))
            .ok()?;
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::All)
            .accelerate(false)
            .dfa_size_limit(Some(MOST_BYTES))
            .determinize_size_limit(Some(MOST_BYTES));
        let dense = dense::Builder::new()
            .configure(config)
            .build_from_nfa(&nfa)
            .ok()?;
        Self::walked(&dense, &letters, alphabet)
    }

    /// Copies what can be reached, over the letters alone.
    fn walked<D: Automaton>(dense: &D, letters: &Letters, alphabet: &Alphabet) -> Option<Self> {
        let anchored = start::Config::new().anchored(Anchored::Yes);
        let start = dense.start_state(&anchored).ok()?;
        let width = usize::from(letters.last()) + 1;
        let mut numbers = HashMap::from([(start, 0)]);
        let mut states = vec![start];
        let mut next: Vec<State> = Vec::new();
        let mut accepts = Vec::new();
        let mut at = 0;
        while let Some(state) = states.get(at).copied() {
            at += 1;
            accepts.push(dense.is_match_state(dense.next_eoi_state(state)));
            for byte in 0..=letters.last() {
                let to = dense.next_state(state, byte);
                let fresh = State::try_from(states.len()).ok()?;
                let number = *numbers.entry(to).or_insert(fresh);
                if number == fresh {
                    states.push(to);
                }
                next.push(number);
            }
        }
        let columns = alphabet.symbols.iter().map(|c| letters.of(*c)).collect();
        let mut own = Self {
            columns,
            width,
            next: next.into_boxed_slice(),
            distance: Box::default(),
            all: Box::default(),
            accepts: accepts.into_boxed_slice(),
        };
        let before = own.before();
        own.distance = own.distances(&before, true);
        // From where no word that is not taken can be reached, all are.
        own.all = own
            .distances(&before, false)
            .iter()
            .map(|far| *far == FAR)
            .collect();
        Some(own)
    }

    fn before(&self) -> Vec<Vec<State>> {
        let mut before = vec![Vec::new(); self.accepts.len()];
        for (from, row) in self.next.chunks(self.width).enumerate() {
            for to in row {
                if let (Some(list), Ok(from)) =
                    (before.get_mut(*to as usize), State::try_from(from))
                    && list.last() != Some(&from)
                {
                    list.push(from);
                }
            }
        }
        before
    }

    /// How many symbols it takes from each state to one that accepts, or that does not.
    fn distances(&self, before: &[Vec<State>], accepting: bool) -> Box<[u32]> {
        let mut far = vec![FAR; self.accepts.len()];
        let mut queue = VecDeque::new();
        for (state, (far, accepts)) in far.iter_mut().zip(&self.accepts).enumerate() {
            if *accepts == accepting {
                *far = 0;
                queue.push_back(state);
            }
        }
        while let Some(state) = queue.pop_front() {
            let own = far.get(state).copied().unwrap_or(FAR);
            for from in before.get(state).into_iter().flatten() {
                if let Some(place) = far.get_mut(*from as usize).filter(|far| **far == FAR) {
                    *place = own.saturating_add(1);
                    queue.push_back(*from as usize);
                }
            }
        }
        far.into_boxed_slice()
    }

    /// The state after one more symbol, by its index in the alphabet.
    pub fn step(&self, state: State, symbol: usize) -> State {
        let at = state as usize * self.width + usize::from(self.column(symbol));
        self.next.get(at).copied().unwrap_or_default()
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
