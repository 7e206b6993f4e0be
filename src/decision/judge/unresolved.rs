//! The one question about what cannot be computed before the call runs: words, and names that a program chooses.
//!
//! In: what of an access is unknown, and what of the policy it may be. Out: the obligation `unresolved`, or none.

use crate::call::access::{PathAccess, Reach};
use crate::decision::{Basis, Reason, texts};
use crate::matcher::quick::HashMap;
use crate::policy::rule::Verdict;
use std::collections::BTreeSet;

/// So many words, and so many of what they may be, are shown.
const SHOWN: usize = 8;

/// What is unknown and may matter.
#[derive(Default)]
pub struct Unresolved<'a> {
    /// Words, as they are shown, each once.
    words: Vec<String>,
    /// Folders below which names are touched that nobody knows.
    folders: Vec<String>,
    /// The accesses that they are of.
    pub accesses: BTreeSet<usize>,
    /// The first of these that was met.
    first: Option<usize>,
    /// Only a fresh human decision will do.
    forced: bool,
    /// One of the words is not quoted.
    splits: bool,
    protected: BTreeSet<&'a str>,
    denied: HashMap<&'a str, ()>,
    outside: bool,
}

/// What an unknown may be.
#[derive(Clone, Copy)]
pub enum What<'a> {
    /// A file of these protected ones.
    Protected(&'a str),
    /// What the rule with this key denies.
    Denied(&'a str),
    /// A path outside the workspace.
    Outside,
}

impl<'a> Unresolved<'a> {
    /// Notes words that cannot be computed.
    pub fn add(&mut self, at: usize, what: What<'a>, shown: impl FnOnce() -> String) {
        // Every rule that the words of one access may meet says the same of it.
        if self.note(at, what) && self.words.len() < SHOWN {
            push(&mut self.words, shown());
        }
    }

    /// Notes a path that cannot be computed, or names below it.
    pub fn add_path(&mut self, at: usize, what: What<'a>, path: &PathAccess) {
        // A program that writes whatever names it likes may write a denied file as well as a protected one.
        self.forced |= names_unknown(path) && !matches!(what, What::Outside);
        self.splits |= path.path.splits && path.path.is_unknown();
        if path.reach != Reach::SomethingBelow || path.path.is_unknown() {
            self.add(at, what, || path.path.shown());
        } else if self.note(at, what) && self.folders.len() < SHOWN {
            push(&mut self.folders, path.path.shown());
        }
    }

    /// Whether the access was not met before.
    fn note(&mut self, at: usize, what: What<'a>) -> bool {
        self.first.get_or_insert(at);
        match what {
            What::Protected(name) => {
                self.forced = true;
                self.protected.insert(name);
            }
            What::Denied(key) => {
                self.denied.insert(key, ());
            }
            What::Outside => self.outside = true,
        }
        // Rule after rule says so of the same access.
        self.accesses.last() != Some(&at) && self.accesses.insert(at)
    }

    /// One obligation for all of it.
    pub fn reason(&self) -> Option<Reason> {
        let mut unknown = self.words.clone();
        let mut instead = Vec::new();
        if !self.words.is_empty() {
            instead.push(match self.splits {
                true => "write the value out, or quote it where it is one word",
                false => "write the value out",
            });
        }
        if !self.folders.is_empty() {
            unknown.push(format!(
                "what the call touches below {}",
                self.folders.join(", ")
            ));
            instead.push("name the files where the program can, or let it write to a new folder");
        }
        let mut may = Vec::new();
        if !self.protected.is_empty() {
            may.push(format!("a protected file ({})", listed(&self.protected)));
        }
        if self.outside {
            may.push("outside the workspace".into());
        }
        if !self.denied.is_empty() {
            let denied = self.denied.keys().copied().collect();
            let verb = match self.denied.len() {
                1 => "denies",
                _ => "deny",
            };
            may.push(format!("what {} {verb}", listed(&denied)));
        }
        let subjects: Vec<&str> = [&self.words, &self.folders]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        Some(Reason {
            key: "unresolved".into(),
            action: Verdict::Ask,
            kind: Basis::Unresolved,
            forced: self.forced,
            access: Some(self.first?),
            subject: texts::short(&subjects.join(", ")),
            text: format!(
                "{} cannot be computed before the call runs, and may be {}",
                texts::joined(&unknown, "and"),
                texts::joined(&may, "or"),
            ),
            instead: Some(instead.join("; ")),
            address: None,
            place: None,
            order: usize::MAX,
        })
    }
}

/// Whether the names are unknown that an access touches below a folder.
pub fn names_unknown(path: &PathAccess) -> bool {
    match path.reach {
        Reach::Itself => false,
        Reach::Below { .. } => path.path.is_unknown(),
        Reach::SomethingBelow => true,
    }
}

fn push(all: &mut Vec<String>, shown: String) {
    let shown = match shown.starts_with('`') {
        true => shown,
        false => format!("`{}`", texts::short(&shown)),
    };
    if !all.contains(&shown) {
        all.push(shown);
    }
}

fn listed(all: &BTreeSet<&str>) -> String {
    let mut shown: Vec<String> = all
        .iter()
        .take(SHOWN)
        .map(|key| format!("`{key}`"))
        .collect();
    if all.len() > SHOWN {
        shown.push("and more".into());
    }
    shown.join(", ")
}
