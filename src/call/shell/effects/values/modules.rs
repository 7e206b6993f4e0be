//! Names of what is imported: `python -m unittest a.B.c`.
//!
//! In: such a name. Out: whether it says what tests are called by; one that does not may be any function there is,
//! which is called, and finds the other words of the line where a program has its own.

use super::Judge;
use super::paths::outside;
use crate::call::programs::{Kind, Slot};
use crate::call::word::{Piece, Word};

impl Judge<'_> {
    pub(super) fn tests(&mut self, word: &Word, at: usize) {
        let text = |piece: &Piece| matches!(piece, Piece::Text(text) if text.chars().all(plain));
        let known = |piece: &Piece| text(piece) || matches!(piece, Piece::Star | Piece::Below(_));
        let file = |piece: &Piece| matches!(piece, Piece::Text(text) if text.ends_with(".py"));
        let path = matches!(word.text(), Some("." | ".."))
            || word.prefix().contains('/')
            || word.pieces.last().is_some_and(file);
        if path && word.pieces.iter().all(known) {
            let kind = match outside(word) {
                true => Kind::Read,
                false => Kind::Maybe,
            };
            return self.value(Slot::of(kind), word, at, at, true);
        }
        match word.text().filter(|text| is_test(text)) {
            Some(name) => self.modules.push((at, name.to_owned())),
            None => {
                let what = format!("imports and calls what `{}` says", word.shown());
                self.escalate(&what, at);
            }
        }
    }
}

const fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-')
}

/// Whether a dotted name is one that tests have: what stands behind a module of tests is a class or a test, and nothing
/// that such a module has imported (`test_x.pdb.main`).
fn is_test(name: &str) -> bool {
    let identifier = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && !part.starts_with("__")
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let module = |part: &str| part.starts_with("test_") || part.ends_with("_test");
    let own =
        |part: &str| part.starts_with("test") || part.starts_with(|c: char| c.is_ascii_uppercase());
    let behind = |part: &&str| !module(part);
    name.split('.').all(identifier) && name.split('.').skip_while(behind).skip(1).all(own)
}
