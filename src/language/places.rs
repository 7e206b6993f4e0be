//! A shape → the places where it takes one character, and which of them may follow which.

use super::shape::Shape;

/// Places of one pattern.
const MOST_PLACES: usize = 4096;

/// A set of places.
pub type Set = Box<[u64]>;

/// Adds a set to another.
pub fn unite(into: &mut [u64], other: &[u64]) {
    into.iter_mut()
        .zip(other)
        .for_each(|(own, other)| *own |= other);
}

/// The places of a set.
pub fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    let words = set.iter().enumerate();
    words.flat_map(|(at, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (bit < 64).then_some(at * 64 + bit)
        })
    })
}

/// Where a part of a pattern begins and ends.
pub struct Ends {
    /// Where it begins.
    pub first: Set,
    /// Where it ends.
    pub last: Set,
    /// It may take nothing.
    pub empty: bool,
}

/// What a place takes.
enum Take<'s> {
    Break,
    Char(char),
    One(bool, &'s [char]),
}

/// The places of a pattern, each with what it takes, and those that may follow it.
pub struct Places<'s> {
    words: usize,
    takes: Vec<Take<'s>>,
    /// What may follow each.
    pub after: Vec<Set>,
}

impl<'s> Places<'s> {
    /// Takes a pattern apart; none where it has too many places.
    pub fn of(shape: &'s Shape) -> Option<(Self, Ends)> {
        let count = shape.places();
        if count > MOST_PLACES {
            return None;
        }
        let mut places = Self {
            words: count.div_ceil(64).max(1),
            takes: Vec::with_capacity(count),
            after: Vec::with_capacity(count),
        };
        let ends = places.read(shape);
        Some((places, ends))
    }

    /// The set of none.
    pub fn none(&self) -> Set {
        vec![0; self.words].into()
    }

    fn nothing(&self, empty: bool) -> Ends {
        Ends {
            first: self.none(),
            last: self.none(),
            empty,
        }
    }

    fn read(&mut self, shape: &'s Shape) -> Ends {
        match shape {
            Shape::Break => self.place(Take::Break),
            Shape::One { negated, chars } => self.place(Take::One(*negated, chars)),
            Shape::Text(text) => {
                let (from, mut to) = (self.takes.len(), self.takes.len());
                for c in text.chars() {
                    to = self.takes.len();
                    let own = self.place(Take::Char(c));
                    if let Some(before) =
                        self.after.get_mut(to.wrapping_sub(1)).filter(|_| to > from)
                    {
                        *before = own.first;
                    }
                }
                let mut ends = self.nothing(text.is_empty());
                if !text.is_empty() {
                    insert(&mut ends.first, from);
                    insert(&mut ends.last, to);
                }
                ends
            }
            Shape::Seq(all) => {
                let mut ends = self.nothing(true);
                for own in all {
                    let own = self.read(own);
                    self.follow(&ends.last, &own.first);
                    if ends.empty {
                        unite(&mut ends.first, &own.first);
                    }
                    if own.empty {
                        unite(&mut ends.last, &own.last);
                    } else {
                        ends.last = own.last;
                    }
                    ends.empty &= own.empty;
                }
                ends
            }
            Shape::Any(all) => {
                let mut ends = self.nothing(false);
                for own in all {
                    let own = self.read(own);
                    unite(&mut ends.first, &own.first);
                    unite(&mut ends.last, &own.last);
                    ends.empty |= own.empty;
                }
                ends
            }
            Shape::Many(own) => {
                let own = self.read(own);
                self.follow(&own.last, &own.first);
                Ends { empty: true, ..own }
            }
        }
    }

    fn place(&mut self, take: Take<'s>) -> Ends {
        let mut one = self.none();
        insert(&mut one, self.takes.len());
        self.takes.push(take);
        self.after.push(self.none());
        Ends {
            first: one.clone(),
            last: one,
            empty: false,
        }
    }

    fn follow(&mut self, last: &[u64], first: &[u64]) {
        for place in members(last) {
            if let Some(after) = self.after.get_mut(place) {
                unite(after, first);
            }
        }
    }

    /// For a break, for a character that the pattern does not name, and for each that it names: which places take it.
    pub fn takers(&self, named: &[char]) -> [Vec<Set>; 2] {
        let mut usual = vec![self.none(); 2];
        for (place, take) in self.takes.iter().enumerate() {
            let column = match take {
                Take::Break => usual.first_mut(),
                Take::One(true, _) => usual.last_mut(),
                _ => None,
            };
            if let Some(column) = column {
                insert(column, place);
            }
        }
        let other = usual.last().cloned().unwrap_or_default();
        let mut all = vec![other; named.len()];
        for (place, take) in self.takes.iter().enumerate() {
            let (negated, chars) = match take {
                Take::Break => continue,
                Take::Char(c) => (&false, std::slice::from_ref(c)),
                Take::One(negated, chars) => (negated, *chars),
            };
            for c in chars {
                let at = named.binary_search(c).ok();
                if let Some(takers) = at.and_then(|at| all.get_mut(at)) {
                    match negated {
                        true => remove(takers, place),
                        false => insert(takers, place),
                    }
                }
            }
        }
        [usual, all]
    }
}

fn insert(set: &mut [u64], place: usize) {
    if let Some(word) = set.get_mut(place / 64) {
        *word |= 1 << (place % 64);
    }
}

/// Whether a place is in a set.
pub fn contains(set: &[u64], place: usize) -> bool {
    let word = set.get(place / 64).copied().unwrap_or(0);
    word >> (place % 64) & 1 == 1
}

fn remove(set: &mut [u64], place: usize) {
    if let Some(word) = set.get_mut(place / 64) {
        *word &= !(1 << (place % 64));
    }
}
