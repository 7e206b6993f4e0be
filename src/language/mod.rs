//! Side road: rules as automata. Which accesses a rule takes, reasoned over all of them and not by comparing strings.
//!
//! ```text
//! Matcher ─ written ─► texts ─ entry ─► entries ─ encode ─► shapes ─ dfa ─► automata ─┐
//!                                                                                     ├─ search ─► word, or none
//!    claim over all accesses: hidden, meeting, invariant, changed ─ rules ─► who meets ┘              │
//!                                                                                                    │
//!                       answer ◄─ the real matcher confirms ◄─ situation: tool, facts ◄─ witness ◄───┘
//! ```
//!
//! In: one [`Matcher`](crate::matcher::Matcher), or two. Out: answers about its entries (an entry is one text of a rule's
//! list): whether others [hide](Rules::hidden) it, whether it is [redundant](Rules::redundant), [empty](Rules::is_empty),
//! in [conflict](Rules::conflict) with another, whether an [invariant](Rules::invariant) holds, what [`changed`].
//! What two automata show is shown of words that are written out in plain spelling: calls are found with them, each
//! [`Witness`] confirmed by the real matcher. That no call at all tells two rules apart is shown by their patterns
//! (`covers.rs`).

mod changed;
mod covers;
mod dfa;
mod encode;
mod entry;
mod hidden;
mod invariant;
mod meeting;
mod places;
mod rules;
mod sample;
mod search;
mod shape;
mod situation;
mod witness;
mod words;
mod written;

pub use changed::{Change, Fate, Moved, Told, Way, changed};
pub use encode::Space;
pub use entry::Entry;
pub use hidden::{By, Hidden};
pub use invariant::Proof;
pub use rules::Rules;
pub use sample::sample;
pub use witness::{Witness, quoted, text_of};
pub use written::{Pattern, Written, written};

/// An answer about all accesses.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<T> {
    /// It is not so, or nothing shows it.
    No,
    /// The search gave up.
    Unknown,
    /// It is so, and this shows it.
    Yes(T),
}

impl<T> Answer<T> {
    /// What shows it.
    pub fn yes(self) -> Option<T> {
        match self {
            Self::Yes(own) => Some(own),
            _ => None,
        }
    }
}

/// How many words are tried as witnesses.
const TRIES: usize = 6;

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod search_agreement;
#[cfg(test)]
mod tests;
