//! A policy file's bytes become one tree with a span on every key and value.
//!
//! In: a [`Source`] (name, text, spelling). Out: a [`Node`] and every syntax error as a [`Finding`].
//! TOML and YAML give the same tree. The only user of the two parsers.
//! Refuses: bytes that are not UTF-8, duplicate keys, alias bombs, nesting beyond [`MAX_DEPTH`].

mod toml;
mod yaml;

use crate::finding::Finding;
use std::sync::Arc;

/// How deep tables and lists may nest.
pub const MAX_DEPTH: usize = 64;

/// A range of bytes in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
}

/// Which of the two spellings a policy is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.1.
    Toml,
    /// YAML 1.2.
    Yaml,
}

/// A policy file as read: its name for messages, its text, its spelling.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The path as the user would write it.
    pub name: String,
    /// The whole text. A byte-order mark stays in, so that spans fit the file.
    pub text: String,
    /// Its spelling.
    pub format: Format,
}
