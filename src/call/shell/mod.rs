//! A command line → accesses: `parse.rs`, `words.rs`, `script.rs`, `effects.rs`.
//!
//! The reader of command lines is not here yet: every line is opaque.

pub mod effects;

use super::access::{Access, Kind};
use super::files::FileView;
use crate::source::Span;

/// Where a command line runs.
#[derive(Clone, Debug)]
pub struct Scene<'v> {
    /// Its working directory.
    pub cwd: Option<String>,
    /// The home folder.
    pub home: Option<String>,
    /// The files.
    pub view: &'v FileView,
}

/// What a command line does.
pub fn accesses(line: &str, _: &Scene<'_>) -> Vec<Access> {
    let kind = Kind::Opaque("command lines are not read yet".into());
    vec![Access {
        kind,
        span: Some(Span::new(0, line.len())),
        via: Vec::new(),
    }]
}
