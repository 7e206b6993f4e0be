//! The parts of the table, as places in a few arrays.
//!
//! In: arrays that `build.rs` writes. Out: [`Text`], [`List`] and [`EntryRef`], which read as the `str`, the slice and the
//! [`Entry`] they stand for. They hold numbers: each pointer in a static is one for the loader to write at every start of
//! the process, and each page that it writes to is copied first. A place that is not there reads as nothing.

use super::{Does, ENTRIES, Entry, Start, Style, TEXT};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A text of the table.
#[derive(Clone, Copy)]
pub struct Text {
    start: u32,
    len: u16,
}

impl Text {
    pub(super) const fn at(start: u32, len: u16) -> Self {
        Self { start, len }
    }

    /// The text itself, which outlives this.
    pub fn as_str(self) -> &'static str {
        TEXT.get(self.place()).unwrap_or("")
    }

    /// Its bytes: what is looked for among many is compared by these.
    pub(super) fn as_bytes(self) -> &'static [u8] {
        TEXT.as_bytes().get(self.place()).unwrap_or_default()
    }

    fn place(self) -> std::ops::Range<usize> {
        let start = self.start as usize;
        start..start.saturating_add(usize::from(self.len))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(out)
    }
}

/// What lists of the table are made of; which types that is, `build.rs` says.
pub trait Pooled: Sized + 'static {
    /// All lists of such items, one after the other.
    fn pool() -> &'static [Self];
}

/// A list of the table.
pub struct List<T> {
    start: u32,
    len: u16,
    items: PhantomData<T>,
}

impl<T> List<T> {
    /// The list without items.
    pub const EMPTY: Self = Self::at(0, 0);

    pub(super) const fn at(start: u32, len: u16) -> Self {
        Self {
            start,
            len,
            items: PhantomData,
        }
    }
}

impl<T: Pooled> List<T> {
    /// The items themselves, which outlive this.
    pub fn as_slice(self) -> &'static [T] {
        let start = self.start as usize;
        let end = start.saturating_add(usize::from(self.len));
        T::pool().get(start..end).unwrap_or(&[])
    }
}

impl List<Text> {
    /// The texts themselves.
    pub fn texts(self) -> impl Iterator<Item = &'static str> {
        self.as_slice().iter().map(|text| text.as_str())
    }

    /// Whether the text is one of them.
    pub fn has(self, text: &str) -> bool {
        self.texts().any(|own| own == text)
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T: Pooled> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: Pooled> IntoIterator for List<T> {
    type Item = &'static T;
    type IntoIter = std::slice::Iter<'static, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}

impl<T: Pooled + fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(out)
    }
}

/// An entry of the table.
#[derive(Clone, Copy)]
pub struct EntryRef(u16);

impl EntryRef {
    pub(super) const fn at(index: u16) -> Self {
        Self(index)
    }

    /// The entry itself, which outlives this.
    pub fn as_entry(self) -> &'static Entry {
        ENTRIES.get(usize::from(self.0)).unwrap_or(&NOWHERE)
    }
}

impl Deref for EntryRef {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        self.as_entry()
    }
}

impl fmt::Debug for EntryRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_entry().fmt(out)
    }
}

/// In the place of an entry that is not there: nothing is known about it.
static NOWHERE: Entry = Entry {
    does: Some(Does::Runs),
    options: List::EMPTY,
    spellings: List::EMPTY,
    pairs: List::EMPTY,
    operands: None,
    subs: List::EMPTY,
    names: List::EMPTY,
    also: List::EMPTY,
    starts: Start::Opaque,
    skip: 0,
    transparent: false,
    assignments: false,
    style: Style::Gnu,
    strict: false,
    implied: false,
    into: false,
    optional: false,
    binaries: false,
    kinds: false,
    dashes: false,
    gitignore: false,
    pathspecs: false,
    interactive: false,
    dockerignore: false,
    follows: false,
    lands: false,
    links: false,
    unpacks: false,
    swaps: false,
    restores: false,
    stages: false,
    unsaved: false,
    caseless: false,
    unlisted: false,
    shortened: false,
    packages: false,
    compares: false,
    nopt: false,
    plants: false,
    glued: false,
    cross: false,
    chained: false,
    console: false,
    existing: false,
    harmless: List::EMPTY,
    commands: List::EMPTY,
    ends: List::EMPTY,
    settings: None,
    escalates: None,
};

#[cfg(test)]
mod tests {
    use super::super::Slot;
    use super::*;

    #[test]
    fn places_that_are_not_there() {
        assert_eq!(Text::at(u32::MAX, u16::MAX).as_str(), "");
        assert!(List::<Slot>::at(u32::MAX, 1).is_empty());
        assert_eq!(EntryRef::at(u16::MAX).starts, Start::Opaque);
    }
}
