//! The text of a file, and places in it.
//!
//! In: text and the name it goes by. Out: a [`Source`], which turns bytes into lines and columns for messages.
//! Nothing is read or parsed here; a [`Span`] that does not fit its text stands for nothing.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::OnceLock;

/// A range of bytes in a text.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes `start..end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The text under this span; empty where the span does not fit the text.
    pub fn of<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// Whether `other` lies wholly within this span.
    pub const fn covers(&self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The nearest span that fits `text`: in bounds, in order, on character boundaries.
    pub(crate) fn fit(self, text: &str) -> Self {
        let start = floor_boundary(text, self.start);
        let end = floor_boundary(text, self.end).max(start);
        Self { start, end }
    }
}

/// The last character boundary at or before `offset`.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// What a terminal may be given for a character: nothing that moves, hides or reorders text.
pub(crate) fn visible(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => '\u{fffd}',
        c => c,
    }
}

/// The same for a text; its line breaks stay.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c == '\n' { c } else { visible(c) })
        .collect()
}

/// Which of the two spellings a policy is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.1.
    Toml,
    /// YAML 1.2.
    Yaml,
}

impl Format {
    /// The spelling a file name stands for: YAML for `.yaml` and `.yml`, else TOML.
    pub fn of_name(name: &str) -> Self {
        match Path::new(name).extension() {
            Some(e) if e.eq_ignore_ascii_case("yaml") || e.eq_ignore_ascii_case("yml") => {
                Self::Yaml
            }
            _ => Self::Toml,
        }
    }
}

/// A policy file as read: its name for messages, its text, its spelling.
#[derive(Debug)]
pub struct Source {
    /// The path as the user would write it.
    pub name: String,
    /// The whole text. A byte-order mark stays in, so that spans fit the file.
    pub text: String,
    /// Its spelling.
    pub format: Format,
    /// Where each line starts; counted when the first message needs it.
    lines: OnceLock<Vec<usize>>,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.format == other.format && self.name == other.name && self.text == other.text
    }
}

impl Eq for Source {}

impl Source {
    /// The file `name` with this text.
    pub(crate) const fn of(name: String, text: String, format: Format) -> Self {
        Self {
            name,
            text,
            format,
            lines: OnceLock::new(),
        }
    }

    /// Line and column of a byte, both from 1; the column counts characters.
    ///
    /// A byte-order mark is no character; an offset past the end is the end.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let offset = floor_boundary(&self.text, offset);
        let line = self.line_number(offset);
        let start = self.line(line).start;
        let before = Span::new(start, offset).of(&self.text);
        (
            line,
            before.trim_start_matches('\u{feff}').chars().count() + 1,
        )
    }

    /// The bytes of a line counted from 1, without its line break; empty where there is none.
    pub fn line(&self, number: usize) -> Span {
        let starts = self.line_starts();
        let Some(start) = number.checked_sub(1).and_then(|i| starts.get(i)).copied() else {
            return Span::new(self.text.len(), self.text.len());
        };
        let end = starts.get(number).copied().unwrap_or(self.text.len());
        let text = Span::new(start, end).of(&self.text);
        let text = text
            .strip_suffix('\n')
            .map_or(text, |t| t.strip_suffix('\r').unwrap_or(t));
        Span::new(start, start + text.len())
    }

    /// The line of a byte, from 1.
    pub(crate) fn line_number(&self, offset: usize) -> usize {
        self.line_starts().partition_point(|start| *start <= offset)
    }

    fn line_starts(&self) -> &[usize] {
        self.lines.get_or_init(|| {
            let breaks = self.text.match_indices('\n');
            std::iter::once(0)
                .chain(breaks.map(|(at, _)| at + 1))
                .collect()
        })
    }
}
