//! Finds the patterns that may cover a pattern, so that long lists are not compared all with all.
//!
//! In: the rules. Out: for a pattern, the texts worth comparing with it. A text without a literal start is always worth it.

use super::Room;
use super::room::{Pattern, Written, written};
use crate::matcher::Compiled;
use crate::matcher::commands::names;
use crate::policy::glob::Glob;
use crate::policy::patterns::{Anchor, HostName, WordPattern};
use crate::policy::rule::Judges;
use std::collections::HashMap;

/// A text of a rule.
#[derive(Debug)]
pub struct Entry<'m> {
    /// The rule.
    pub compiled: &'m Compiled,
    /// The text.
    pub written: Written<'m>,
}

/// What a text is found by.
type Key = (char, String);

/// The texts of all rules.
#[derive(Debug, Default)]
pub struct Index<'m> {
    /// All texts, in the order of the rules.
    pub entries: Vec<Entry<'m>>,
    /// Rules about whatever tool.
    pub any_tool: Vec<&'m Compiled>,
    keyed: HashMap<Key, Vec<usize>>,
    others: Vec<usize>,
}

impl<'m> Index<'m> {
    /// The texts of the rules that are wanted.
    pub fn of(room: &Room<'m>, wanted: impl Fn(&Compiled) -> bool) -> Self {
        let mut index = Self::default();
        for compiled in room.rules().filter(|compiled| wanted(compiled)) {
            if matches!(compiled.rule.judges, Judges::Tool) && compiled.rule.tools.is_empty() {
                index.any_tool.push(compiled);
            }
            for written in written(&compiled.rule) {
                let at = index.entries.len();
                let keys: Option<Vec<Key>> = written.patterns.iter().map(|own| key(*own)).collect();
                match keys {
                    Some(mut keys) => {
                        keys.sort_unstable();
                        keys.dedup();
                        for key in keys {
                            index.keyed.entry(key).or_default().push(at);
                        }
                    }
                    None => index.others.push(at),
                }
                index.entries.push(Entry { compiled, written });
            }
        }
        index
    }

    /// The texts that may cover a pattern, in the order of the rules.
    pub fn candidates(&self, pattern: Pattern<'_>) -> impl Iterator<Item = &Entry<'m>> {
        let mut found = self.others.clone();
        for key in keys(pattern) {
            found.extend(self.keyed.get(&key).into_iter().flatten());
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(|at| self.entries.get(at))
    }
}

/// What a pattern is found by: it covers only patterns that have this among their [`keys`]. None: it may cover any.
fn key(pattern: Pattern<'_>) -> Option<Key> {
    match pattern {
        Pattern::Command(command) => {
            let program = literal(command.words.first()?)?;
            (!program.contains('/')).then_some(('c', program))
        }
        Pattern::Path(path) => {
            let first = literal(path.components.first()?)?.to_lowercase();
            Some((anchor(path.anchor), first))
        }
        Pattern::Host(host) => match &host.host {
            HostName::Any => None,
            HostName::Exact(name) | HostName::Below(name) => Some(('h', name.clone())),
        },
        // A rule about tools meets what other rules are about.
        Pattern::Tool(_) => None,
    }
}

fn keys(pattern: Pattern<'_>) -> Vec<Key> {
    match pattern {
        Pattern::Command(command) => {
            let program = command.words.first().and_then(literal).unwrap_or_default();
            let named = names(&program).into_iter();
            named.map(|name| ('c', name.to_owned())).collect()
        }
        Pattern::Path(path) => {
            let mut out = Vec::new();
            for (at, word) in path.components.iter().enumerate() {
                let Some(name) = literal(word) else { continue };
                let name = name.to_lowercase();
                if at == 0 {
                    out.push((anchor(path.anchor), name.clone()));
                }
                out.push((anchor(Anchor::Name), name));
            }
            out
        }
        Pattern::Host(host) => match &host.host {
            HostName::Any => Vec::new(),
            HostName::Exact(name) | HostName::Below(name) => {
                let ends = name.match_indices('.').map(|(at, _)| at + 1);
                std::iter::once(0)
                    .chain(ends)
                    .filter_map(|at| Some(('h', name.get(at..)?.to_owned())))
                    .collect()
            }
        },
        Pattern::Tool(_) => Vec::new(),
    }
}

fn literal(word: &WordPattern) -> Option<String> {
    match word {
        WordPattern::Word(glob) => Glob::as_literal(glob),
        WordPattern::Any => None,
    }
}

const fn anchor(anchor: Anchor) -> char {
    match anchor {
        Anchor::Name => 'n',
        Anchor::Root => 'r',
        Anchor::Absolute => 'a',
        Anchor::Home => '~',
    }
}
