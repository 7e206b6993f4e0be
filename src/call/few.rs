//! A list that nearly always holds one item, and then asks for no memory: the pieces of a word, the stages of a pipeline.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// One item, or any number.
#[derive(Clone)]
pub enum Few<T> {
    /// One.
    One(T),
    /// Any number.
    List(Vec<T>),
}

impl<T> Few<T> {
    /// Adds one at the end.
    pub fn push(&mut self, item: T) {
        match self {
            Self::List(list) if list.is_empty() => *self = Self::One(item),
            Self::List(list) => list.push(item),
            Self::One(_) => {
                let mut list = Vec::with_capacity(4);
                list.extend(std::mem::take(self));
                list.push(item);
                *self = Self::List(list);
            }
        }
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::List(list) => list,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::One(item) => std::slice::from_mut(item),
            Self::List(list) => list,
        }
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Few<T> {}

impl<T: fmt::Debug> fmt::Debug for Few<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

impl<T> Extend<T> for Few<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, all: I) {
        all.into_iter().for_each(|item| self.push(item));
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut few = Self::default();
        few.extend(all);
        few
    }
}

impl<T> From<Few<T>> for Vec<T> {
    fn from(few: Few<T>) -> Self {
        match few {
            Few::One(item) => vec![item],
            Few::List(list) => list,
        }
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, list) = match self {
            Self::One(item) => (Some(item), Vec::new()),
            Self::List(list) => (None, list),
        };
        one.into_iter().chain(list)
    }
}

impl<'f, T> IntoIterator for &'f Few<T> {
    type Item = &'f T;
    type IntoIter = std::slice::Iter<'f, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
