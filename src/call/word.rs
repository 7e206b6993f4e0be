//! A word of a command line, or an argument, as far as it can be computed.
//!
//! A word is **known** (constant text), a **pattern** (a shell glob: a set of names) or **unknown**
//! (an expansion nobody can compute, with its literal fragments kept).

use super::few::Few;
use crate::source::Span;
use smol_str::{SmolStr, format_smolstr};

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Constant text, quotes removed.
    Text(SmolStr),
    /// A shell `*`: any characters but `/`.
    Star,
    /// A shell `?`: one character but `/`.
    One,
    /// A shell `[…]`, as written.
    Class(SmolStr),
    /// `$$`, `$UID`, `$?` …: one or more digits.
    Digits,
    /// What arithmetic comes to: digits, a minus before them perhaps.
    Number,
    /// The name of a git object: hexadecimal digits, or nothing where there is none.
    Hash,
    /// Some path below what stands before it, without `..`: a name that `find DIR` or `git ls-files` prints.
    Below(Listed),
    /// What cannot be computed: any text at all. Holds its spelling (`$DIR`, `$(date)`).
    Unknown(SmolStr),
}

/// A name that a program prints for others, and what is known of such names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Listed {
    /// Who prints it, as it is shown.
    pub by: &'static str,
    /// None has a part with a leading dot.
    pub shown: bool,
    /// None is named by `.gitignore`.
    pub gitignore: bool,
    /// But some may be that the last commit has, and the index no more.
    pub head: bool,
    /// What it names may be gone.
    pub gone: bool,
    /// Which links may be among them.
    pub links: Links,
    /// Each of them is read that ends as the word does.
    pub all: bool,
    /// Each ends with a NUL.
    pub nul: bool,
    /// Who reads them splits them at blanks, so that one name may be several words.
    pub split: bool,
    /// So many folders down they lie, at most, without which they are printed (`ls a/b`: 2).
    pub deep: usize,
}

/// Which links are among names that are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Links {
    /// None.
    None,
    /// Links, and nothing behind them.
    #[default]
    Themselves,
    /// Links, and what lies below the folders they lead to.
    Followed,
}

impl Few<Piece> {
    /// Adds one at the end: an empty text is none, and adjacent texts are one.
    pub fn add(&mut self, piece: Piece) {
        match (self.last_mut(), piece) {
            (_, Piece::Text(text)) if text.is_empty() => {}
            (Some(Piece::Text(before)), Piece::Text(text)) => {
                *before = format_smolstr!("{before}{text}");
            }
            (_, piece) => self.push(piece),
        }
    }
}

/// Pieces that are put together: adjacent texts are one, each copied once however many they are.
#[derive(Debug, Default)]
pub struct Pieces {
    done: Few<Piece>,
    text: String,
}

impl Pieces {
    /// Adds one at the end.
    pub fn add(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) => self.text(&text),
            piece => self.push(piece),
        }
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds what is no text.
    pub fn push(&mut self, piece: Piece) {
        self.settle();
        self.done.push(piece);
    }

    /// The last of them.
    pub fn last(&mut self) -> Option<&Piece> {
        self.settle();
        self.done.last()
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.done.len() + usize::from(!self.text.is_empty())
    }

    /// All of them; none are left.
    pub fn finish(&mut self) -> Few<Piece> {
        self.settle();
        std::mem::take(&mut self.done)
    }

    fn settle(&mut self) {
        if !self.text.is_empty() {
            self.done.push(Piece::Text(SmolStr::new(&self.text)));
            self.text.clear();
        }
    }
}

/// A word: its pieces and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The parts, in order; adjacent texts are merged, no text is empty. No parts: the empty word.
    pub pieces: Few<Piece>,
    /// Its bytes in the outermost command line (empty span for a tool's argument).
    pub span: Span,
    /// An unquoted expansion nobody can compute stands in it: it may become several words, or none.
    pub splits: bool,
}

impl Word {
    /// A constant.
    pub fn known(text: impl Into<SmolStr>, span: Span) -> Self {
        let text = text.into();
        let pieces = match text.is_empty() {
            true => Few::default(),
            false => Few::One(Piece::Text(text)),
        };
        Self {
            pieces,
            span,
            splits: false,
        }
    }

    /// A word of these parts; adjacent texts are merged, empty ones dropped.
    pub fn of(parts: impl IntoIterator<Item = Piece>, span: Span) -> Self {
        let mut pieces = Pieces::default();
        parts.into_iter().for_each(|part| pieces.add(part));
        let pieces = pieces.finish();
        Self {
            pieces,
            span,
            splits: false,
        }
    }

    /// Something that cannot be computed, shown as `spelling`.
    pub fn unknown(spelling: impl Into<SmolStr>, span: Span, splits: bool) -> Self {
        Self {
            pieces: Few::One(Piece::Unknown(spelling.into())),
            span,
            splits,
        }
    }

    /// The constant text, where the word is known.
    pub fn text(&self) -> Option<&str> {
        match &*self.pieces {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The same, to be kept.
    pub fn shared_text(&self) -> Option<SmolStr> {
        match &*self.pieces {
            [Piece::Text(text)] => Some(text.clone()),
            _ => self.text().map(SmolStr::new),
        }
    }

    /// Whether any part cannot be computed (as opposed to known text and shell globs).
    pub fn is_unknown(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Unknown(_)))
    }

    /// The literal text the word surely starts with.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// The name of a program's listing that stands in it.
    pub fn listed(&self) -> Option<&Listed> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Below(listed) => Some(listed),
            _ => None,
        })
    }

    /// The same word, where whoever reads the names splits them at blanks, or does not.
    pub fn split(mut self, at_blanks: bool) -> Self {
        for piece in self.pieces.iter_mut() {
            if let Piece::Below(listed) = piece {
                listed.split = at_blanks;
            }
        }
        self
    }

    /// The word as a person would write it: text as it is, globs and expansions in their spelling.
    pub fn shown(&self) -> String {
        if let Some(text) = self.text() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(32);
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) | Piece::Class(text) | Piece::Unknown(text) => out.push_str(text),
                Piece::Below(listed) => out.extend(["<", listed.by, ">"]),
                Piece::Star => out.push('*'),
                Piece::One => out.push('?'),
                Piece::Digits => out.push_str("$$"),
                Piece::Number => out.push_str("<number>"),
                Piece::Hash => out.push_str("<hash>"),
            }
        }
        out
    }
}
