//! What a pattern takes, as it is put together: parts, texts, sets of characters; and the alphabet of all patterns.

use crate::matcher::quick::HashMap;
use std::collections::BTreeSet;

/// What stands before each part of a word: no argument of a program holds it.
pub const BREAK: char = '\0';

/// A set of characters, nearly all of them ASCII.
#[derive(Clone, Debug, Default)]
pub struct Chars {
    ascii: u128,
    others: BTreeSet<char>,
}

impl Chars {
    /// Adds one.
    pub fn insert(&mut self, c: char) {
        match c.is_ascii() {
            true => self.ascii |= 1 << u32::from(c),
            false => drop(self.others.insert(c)),
        }
    }

    /// All of them, in order.
    pub fn sorted(&self) -> Vec<char> {
        let ascii = ('\0'..='\x7f').filter(|c| self.ascii >> u32::from(*c) & 1 == 1);
        ascii.chain(self.others.iter().copied()).collect()
    }
}

/// How a word is built.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A new part begins.
    Break,
    /// These characters, one after the other.
    Text(String),
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
        Self::Text(text.to_owned())
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
    pub fn chars(&self, out: &mut Chars) {
        match self {
            Self::Break => {}
            Self::Text(text) => text.chars().for_each(|c| out.insert(c)),
            Self::One { chars, .. } => chars.iter().for_each(|c| out.insert(*c)),
            Self::Seq(all) | Self::Any(all) => all.iter().for_each(|own| own.chars(out)),
            Self::Many(own) => own.chars(out),
        }
    }

    /// A word that it takes, by its symbols, each wildcard one character long; none where it takes none, or its
    /// characters are not of the alphabet.
    pub fn sample(&self, alphabet: &Alphabet) -> Option<Vec<usize>> {
        match self {
            Self::Break => Some(vec![alphabet.index(BREAK)?]),
            Self::Text(text) => text.chars().map(|c| alphabet.index(c)).collect(),
            Self::One { negated, chars } => {
                let takes = |c: &char| *c != BREAK && chars.contains(c) != *negated;
                let symbol = alphabet.symbols().iter().position(takes)?;
                Some(vec![symbol])
            }
            Self::Seq(all) => {
                let mut word = Vec::new();
                for own in all {
                    word.append(&mut own.sample(alphabet)?);
                }
                Some(word)
            }
            Self::Any(all) => all.iter().find_map(|own| own.sample(alphabet)),
            Self::Many(own) if matches!(**own, Self::One { .. }) => own.sample(alphabet),
            Self::Many(_) => Some(Vec::new()),
        }
    }

    /// Whether it takes a word: for one word, less work than an automaton.
    pub fn takes(&self, word: &[char]) -> bool {
        let mut from = vec![false; word.len() + 1];
        from.iter_mut().take(1).for_each(|start| *start = true);
        self.ends(word, &from).last() == Some(&true)
    }

    /// Where it may end in a word, having begun at any of some places.
    fn ends(&self, word: &[char], from: &[bool]) -> Vec<bool> {
        let one = |from: &[bool], takes: &dyn Fn(char) -> bool| {
            let after = word.iter().zip(from);
            let after = after.map(|(c, from)| *from && takes(*c));
            std::iter::once(false).chain(after).collect()
        };
        match self {
            Self::Break => one(from, &|c| c == BREAK),
            Self::Text(text) => text
                .chars()
                .fold(from.to_vec(), |from, own| one(&from, &|c| c == own)),
            Self::One { negated, chars } => {
                one(from, &|c| c != BREAK && chars.contains(&c) != *negated)
            }
            Self::Seq(all) => all
                .iter()
                .fold(from.to_vec(), |from, own| own.ends(word, &from)),
            Self::Any(all) => {
                let mut ends = vec![false; from.len()];
                for own in all {
                    join(&mut ends, &own.ends(word, from));
                }
                ends
            }
            Self::Many(own) => {
                let mut ends = from.to_vec();
                let mut more = own.ends(word, &ends);
                while join(&mut ends, &more) {
                    more = own.ends(word, &ends);
                }
                ends
            }
        }
    }

    /// How many places it has that take one character.
    pub fn places(&self) -> usize {
        match self {
            Self::Break | Self::One { .. } => 1,
            Self::Text(text) => text.chars().count(),
            Self::Seq(all) | Self::Any(all) => all.iter().map(Self::places).sum(),
            Self::Many(own) => own.places(),
        }
    }
}

/// Adds places to others; whether there were new ones.
fn join(to: &mut [bool], more: &[bool]) -> bool {
    let mut new = false;
    for (own, more) in to.iter_mut().zip(more) {
        new |= *more && !*own;
        *own |= *more;
    }
    new
}

/// The characters of all patterns, those first that read well in an example; and one that stands for all others.
#[derive(Clone, Debug)]
pub struct Alphabet {
    symbols: Vec<char>,
    index: HashMap<char, usize>,
}

impl Alphabet {
    /// Of these characters.
    pub fn of(chars: &Chars) -> Self {
        let mut chars: BTreeSet<char> = chars.sorted().into_iter().collect();
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
        let index = symbols.iter().enumerate().map(|(at, c)| (*c, at)).collect();
        Self { symbols, index }
    }

    /// The text of a word.
    pub fn text(&self, word: &[usize]) -> String {
        word.iter()
            .filter_map(|symbol| self.symbols.get(*symbol))
            .collect()
    }

    /// The place of a character.
    pub fn index(&self, c: char) -> Option<usize> {
        self.index.get(&c).copied()
    }

    /// The characters.
    pub fn symbols(&self) -> &[char] {
        &self.symbols
    }
}
