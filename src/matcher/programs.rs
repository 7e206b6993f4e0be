//! Finds the command rules worth trying: by the program that they name, then by the words after it.
//!
//! In: command patterns, each with what it belongs to. Out: for a command, what the patterns belong to that may meet it.
//! With 10,000 patterns a known command tries a handful.

use super::commands::{Item, Spelled, names};
use super::quick::HashMap;
use crate::call::access::Opt;
use crate::call::few::Few;
use crate::policy::patterns::{CommandPattern, WordPattern};
use crate::policy::prefixes::Prefixes;
use smol_str::SmolStr;
use std::sync::OnceLock;

/// So many candidates are tried without a look at their further words.
const FEW: usize = 4;

/// Finds the patterns that may meet a command without trying all: by their literal first words.
#[derive(Debug, Default)]
pub struct ProgramIndex {
    /// By program.
    programs: HashMap<SmolStr, Program>,
    /// A program that is a glob.
    globs: Vec<usize>,
    all: Vec<usize>,
}

/// What the patterns of one program belong to.
#[derive(Debug, Default)]
struct Program {
    owners: Few<usize>,
    /// Where these are more than a few, by the literal words after the program. Made when first looked into: a call
    /// names some of the programs of a policy.
    further: OnceLock<Box<Further>>,
}

/// Literal words after a program, joined by NUL, and what the patterns belong to that go on so.
#[derive(Debug, Default)]
struct Further {
    prefixes: HashMap<String, Few<usize>>,
    /// The words of the longest.
    longest: usize,
}

impl Further {
    /// Of the patterns of a program.
    fn of<'a>(patterns: impl Iterator<Item = (usize, &'a CommandPattern)>) -> Self {
        let mut further = Self::default();
        for (owner, pattern) in patterns {
            let mut key = String::new();
            let mut length = 0;
            let after = pattern.words.iter().skip(1);
            for word in after.map_while(WordPattern::literal) {
                key.push('\0');
                key.push_str(word);
                length += 1;
            }
            further.longest = further.longest.max(length);
            push(further.prefixes.entry(key).or_default(), owner);
        }
        further
    }
}

impl ProgramIndex {
    /// Adds what these patterns belong to.
    pub fn add(&mut self, patterns: &Prefixes, owner: usize) {
        self.all.push(owner);
        // The alternatives of one pattern mostly name one program.
        let mut before = None;
        for program in patterns.programs() {
            if before == Some(program) {
                continue;
            }
            before = Some(program);
            let Some(program) = program else {
                if self.globs.last() != Some(&owner) {
                    self.globs.push(owner);
                }
                continue;
            };
            match self.programs.get_mut(program) {
                Some(known) => push(&mut known.owners, owner),
                None => {
                    let (owners, further) = (Few::One(owner), OnceLock::new());
                    let known = Program { owners, further };
                    self.programs.insert(program.into(), known);
                }
            }
        }
    }

    /// Whether there is any command rule.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What the patterns belong to whose program goes by this name.
    pub fn starting_with(&self, program: &str) -> Vec<usize> {
        let own = names(program).filter_map(|name| self.programs.get(name));
        own.flat_map(|own| own.owners.iter().copied()).collect()
    }

    /// What the patterns belong to whose program is a glob.
    pub fn starting_anyhow(&self) -> impl Iterator<Item = usize> {
        self.globs.iter().copied()
    }

    /// What the patterns that may meet the command belong to, each once, in order. `patterns` tells those of one.
    pub(super) fn candidates<'a>(
        &self,
        command: &Spelled<'_>,
        patterns: impl Fn(usize) -> Option<&'a Prefixes>,
    ) -> Vec<usize> {
        let mut found = self.globs.clone();
        for sequence in command.sequences() {
            let Some(program) = sequence.first() else {
                continue;
            };
            let Some(text) = program.word.text() else {
                return self.all.clone();
            };
            for name in names(text) {
                self.look(name, sequence, &patterns, &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn look<'a>(
        &self,
        name: &str,
        sequence: &[Item<'_>],
        patterns: &impl Fn(usize) -> Option<&'a Prefixes>,
        found: &mut Vec<usize>,
    ) {
        let Some(known) = self.programs.get(name) else {
            return;
        };
        let all = &*known.owners;
        if all.len() <= FEW {
            return found.extend_from_slice(all);
        }
        let further = known.further.get_or_init(|| {
            let own = |owner: &usize| {
                let own = patterns(*owner).into_iter();
                let own = own.flat_map(|own| own.of(|program| program == Some(name)));
                let own = own.filter(|own| own.program() == Some(name));
                own.map(|pattern| (*owner, pattern)).collect::<Vec<_>>()
            };
            Box::new(Further::of(all.iter().flat_map(own)))
        });
        let mut keys = vec![String::new()];
        let mut add = |key: &str| {
            found.extend(
                further
                    .prefixes
                    .get(key)
                    .into_iter()
                    .flat_map(|own| own.iter()),
            )
        };
        keys.iter().for_each(|key| add(key));
        for item in sequence.iter().skip(1).take(further.longest) {
            let text = item.word.text();
            let shortened = |option: &Opt| {
                let mut others = option.names.iter().skip(1);
                let typed = option.names.first();
                option.open
                    || typed.is_some_and(|typed| others.any(|name| name.starts_with(&**typed)))
            };
            let Some(text) = text.filter(|_| !item.options().any(shortened)) else {
                return found.extend_from_slice(all);
            };
            let longer = |key: &String| {
                let names = std::iter::once(text).chain(item.names());
                names
                    .map(|name| format!("{key}\0{name}"))
                    .collect::<Vec<_>>()
            };
            keys = keys.iter().flat_map(longer).collect();
            keys.iter().for_each(|key| add(key));
        }
    }
}

fn push(owners: &mut Few<usize>, owner: usize) {
    if owners.last() != Some(&owner) {
        owners.push(owner);
    }
}
