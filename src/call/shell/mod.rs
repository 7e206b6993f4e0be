//! A command line → accesses: what it runs, reads, writes and contacts, in the order of the text.
//!
//! Never loses a command, and what is not understood becomes an opaque access beside what was found.
//! Text → tree: `parse.rs`, `compound.rs`, `simple.rs`, `lex.rs`. Words → values: `words.rs`, `names.rs` (what `find` prints). Tree → accesses:
//! `script.rs` (structure), `commands.rs` (one command), `launch.rs` (what it starts), `placed.rs` (where
//! the line puts files), `builtins.rs` (what the shell's own commands change), `traps.rs`, `redirects.rs`.

mod arithmetic;
mod builtins;
mod commands;
mod compared;
mod compound;
mod constructs;
mod dialect;
pub mod effects;
mod env;
mod evaluated;
mod expression;
mod launch;
mod lex;
mod names;
mod numbers;
mod outline;
mod output;
mod parse;
mod patch;
mod placed;
mod printed;
mod redirects;
mod repository;
mod script;
mod simple;
mod syntax;
mod traps;
mod unnamed;
mod unread;
mod words;

use std::rc::Rc;

use crate::call::access::Access;
use crate::call::files::Unsaved;
use crate::call::word::Word;
use crate::source::Span;
pub use effects::asked_for;
use env::Env;
pub use outline::{Outline, outline};
use script::{Input, Walker};
use syntax::Origin;

/// Longest line that is read, in bytes.
const LONGEST: usize = 256 * 1024;

/// Longest word that is looked for where the line is cut.
const WORD: usize = 4096;

/// The names a glob stands for, from a folder; none where there is no view of the files.
pub type Folders<'s> = &'s dyn Fn(&str) -> Option<bool>;

/// Where an absolute path leads.
pub type Links<'s> = &'s dyn Fn(&str) -> Option<String>;
/// What the last commit may not have in the repository of a folder.
pub type Unsaveds<'s> = &'s dyn Fn(&str) -> Option<Rc<Unsaved>>;
/// Whether a link leads elsewhere.
pub type Leads<'s> = &'s dyn Fn(&str) -> bool;

/// The names that a glob stands for in a folder.
pub type Globs<'s> = &'s dyn Fn(&Word, Option<&str>) -> Option<Vec<String>>;

/// Where a command line is run.
pub struct Scene<'s> {
    /// The folder the shell starts in, absolute.
    pub cwd: Option<String>,
    /// The home folder of its user.
    pub home: Option<String>,
    /// Variables that the host vouches for.
    pub vars: Vec<(String, String)>,
    /// The top of the git repository that holds the folder.
    pub top: Option<String>,
    /// What globs stand for.
    pub glob: Globs<'s>,
    /// Whether an absolute path is a folder; none where that is not seen.
    pub folder: Folders<'s>,
    /// The files that git tracks in the repository of a folder and that were changed or staged since; none where that
    /// cannot be told.
    pub unsaved: Unsaveds<'s>,
    /// Where an absolute path leads when links are followed; none where that is not seen.
    pub links: Links<'s>,
    /// Whether a link on the way of an absolute path leads elsewhere.
    pub leads: Leads<'s>,
}

impl Default for Scene<'_> {
    fn default() -> Self {
        Self {
            cwd: None,
            home: None,
            vars: Vec::new(),
            top: None,
            glob: &|_, _| None,
            folder: &|_| None,
            unsaved: &|_| Some(Rc::default()),
            links: &|_| None,
            leads: &|_| false,
        }
    }
}

/// What a command line does.
///
/// Pure and total: any text, however broken, gives its accesses in time proportional to its length.
pub fn accesses(line: &str, scene: &Scene) -> Vec<Access> {
    let mut walker = Walker::new(scene, line);
    let mut text = line;
    if line.len() > LONGEST {
        let mut end = LONGEST;
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        text = line.get(..end).unwrap_or_default();
        // The last word may be cut in two.
        let whole = |at: &usize| {
            line.get(*at..)
                .is_some_and(|rest| rest.starts_with(char::is_whitespace))
        };
        let from = (end.saturating_sub(WORD)..end)
            .rev()
            .find(whole)
            .unwrap_or(end);
        walker.beyond("longer than 256 KiB", line.get(from..).unwrap_or_default());
    }
    if let Some(at) = text.find('\0') {
        walker.opaque(
            "a NUL byte, which shells drop or stop at",
            Span::new(at, at + 1),
        );
    }
    let mut env = Env::new(scene.cwd.clone(), scene.home.clone(), &scene.vars);
    env.top = scene.cwd.clone().zip(scene.top.clone()).map(Rc::new);
    let tree = Rc::new(parse::parse(text, Origin::Verbatim(0), 0));
    walker.tree(&tree, &mut env, &Input::Inherited);
    walker.later(&env);
    walker.trapped(&env);
    walker.finish();
    let all = Span::new(0, line.len());
    if walker.out.is_empty() && !walker.harmless && !is_comment(text) {
        walker.opaque("no command is found in it", all);
    }
    // A line of tests alone starts nothing, as `:` does.
    if walker.out.is_empty() && walker.tests && env.changed.is_empty() {
        let level = commands::Level {
            launcher: None,
            shell: true,
            functions: false,
        };
        let nothing = vec![Word::known(":", all)];
        walker.run(
            nothing,
            Vec::new(),
            &mut env,
            &Input::Inherited,
            level,
            false,
        );
    }
    walker.out
}

/// Blank, or nothing but comments.
fn is_comment(text: &str) -> bool {
    text.split('\n').all(|line| {
        let line = line.trim_start_matches([' ', '\t']);
        line.is_empty() || line.starts_with('#')
    })
}

/// Words as one line in which every word is quoted: read by the shell's reader, they are the same words again.
pub fn quoted(words: &[impl AsRef<str>]) -> String {
    let mut line = String::new();
    for word in words.iter().map(AsRef::as_ref) {
        if !line.is_empty() {
            line.push(' ');
        }
        let plain = !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_./,:@%+".contains(c));
        match plain {
            true => line.push_str(word),
            false => {
                line.push('\'');
                line.push_str(&word.replace('\'', "'\\''"));
                line.push('\'');
            }
        }
    }
    line
}
