//! One text of a rule's list → an [`Entry`]: the languages of its patterns, and what it is found by.

use super::encode::{self, Encoded, Need, Shapes, Space};
use super::shape::{BREAK, Chars, Shape};
use super::witness::Scene;
use super::words::Language;
use super::{Pattern, Written};
use crate::matcher::Compiled;
use crate::matcher::commands::names;
use crate::policy::glob::Token;
use crate::policy::patterns::{Anchor, HostName, WordPattern};
use crate::policy::rule::{Judges, Verdict};
use std::cell::OnceCell;
use std::rc::Rc;

/// One text of a rule's list.
#[derive(Debug)]
pub struct Entry<'m> {
    /// Index of the rule.
    pub rule: usize,
    /// The rule.
    pub compiled: &'m Compiled,
    /// The text; empty for a rule about every tool.
    pub written: Written<'m>,
    pub(super) needs: Vec<Need<'m>>,
    /// The words right after the programs, where all are literal.
    seconds: Option<Vec<String>>,
    /// One for each pattern; none where what it takes cannot be said.
    pub(super) parts: Vec<Option<Part>>,
}

/// One pattern of an entry.
#[derive(Debug)]
pub struct Part {
    /// What it takes.
    pub encoded: Encoded,
    /// What it is found by.
    pub keys: Option<Vec<Key>>,
    /// What no word goes without that it takes, where its start says nothing.
    pub mark: Option<Mark>,
    /// What it takes at most.
    pub over: OnceCell<Option<Rc<Language>>>,
    /// What it takes at least.
    pub under: OnceCell<Option<Rc<Language>>>,
}

impl<'m> Entry<'m> {
    /// Reads it.
    pub fn of(rule: usize, compiled: &'m Compiled, written: Written<'m>, scene: &Scene) -> Self {
        let own = &compiled.rule;
        let needs = encode::needs(own, &written);
        let part = |encoded, keys, mark| Part {
            encoded,
            keys,
            mark,
            over: OnceCell::new(),
            under: OnceCell::new(),
        };
        let patterns = written.patterns.iter();
        let mut parts: Vec<Option<Part>> = patterns
            .map(|pattern| {
                let encoded = encode::encode(own, pattern, &needs, &scene.folders)?;
                let keys = keys(pattern, scene, false);
                let mark = if keys.is_none() {
                    Mark::of(pattern)
                } else {
                    None
                };
                Some(part(encoded, keys, mark))
            })
            .collect();
        if written.patterns.is_empty() && matches!(own.judges, Judges::Tool) {
            let every = Shapes {
                is: vec![Shape::parts()],
                not: Vec::new(),
            };
            let encoded = Encoded {
                over: every.clone(),
                under: every,
                by_path: false,
            };
            parts.push(Some(part(encoded, None, None)));
        }
        let seconds = encode::commands_of(&written).into_iter().map(|command| {
            let word = command.words.get(1)?.literal()?;
            // What denies or asks looks past other words for the option it writes.
            (own.action == Verdict::Allow || !word.starts_with('-')).then_some(word)
        });
        let seconds: Option<Vec<&str>> = seconds.collect();
        Self {
            rule,
            compiled,
            needs,
            seconds: seconds
                .filter(|own| !own.is_empty())
                .map(|own| own.into_iter().map(str::to_owned).collect()),
            written,
            parts,
        }
    }

    /// The verdict of its rule.
    pub fn action(&self) -> Verdict {
        self.compiled.rule.action
    }

    /// Whether a literal word after the program tells the two apart.
    pub fn goes_on_otherwise(&self, other: &Self) -> bool {
        match (&self.seconds, &other.seconds) {
            (Some(own), Some(other)) => !own.iter().any(|word| other.contains(word)),
            _ => false,
        }
    }

    /// Whether its exceptions are about other programs, so that they take nothing away.
    pub fn is_whole(&self, scene: &Scene) -> bool {
        let Judges::Commands(own) = &self.compiled.rule.judges else {
            return false;
        };
        if !own.with.is_empty() || !own.without.is_empty() {
            return false;
        }
        let except = own.except.iter().map(Pattern::Command);
        let except: Option<Vec<_>> = except.map(|own| keys(&own, scene, false)).collect();
        let Some(except) = except.map(|own| own.concat()) else {
            return false;
        };
        let mut patterns = self
            .written
            .patterns
            .iter()
            .filter_map(|own| keys(own, scene, true));
        patterns.any(|own| !own.iter().any(|key| except.contains(key)))
    }

    /// Whether the two may take the same: a literal start tells most apart.
    pub fn may_meet(&self, other: &Self, scene: &Scene) -> bool {
        let all = |own: &Self, looks| -> Option<Vec<Key>> {
            let patterns = own.written.patterns.iter();
            let keys: Option<Vec<_>> = patterns
                .map(|pattern| keys(pattern, scene, looks))
                .collect();
            keys.map(|keys| keys.concat())
        };
        // One host may lie below the other, whichever is looked for.
        matches!(self.compiled.rule.judges, Judges::Hosts(_))
            || match (all(self, false), all(other, true)) {
                (Some(own), Some(other)) if !own.is_empty() && !other.is_empty() => {
                    own.iter().any(|key| other.contains(key))
                }
                _ => true,
            }
    }

    /// The characters that its languages tell apart.
    pub fn chars(&self, out: &mut Chars) {
        for part in self.parts.iter().flatten() {
            part.encoded.over.chars(out);
            part.encoded.under.chars(out);
        }
        for need in &self.needs {
            for shape in [need.shape(true), need.shape(false)].iter().flatten() {
                shape.chars(out);
            }
        }
    }

    /// The kinds of access that it judges as such.
    pub fn spaces(&self) -> Vec<Space> {
        encode::spaces(&self.compiled.rule)
    }
}

/// What an entry is found by.
pub type Key = (char, String);

/// What a pattern is found by, or with `looks` finds others by: its literal start. None: it is compared with all.
pub fn keys(pattern: &Pattern<'_>, scene: &Scene, looks: bool) -> Option<Vec<Key>> {
    let keys = match pattern {
        Pattern::Command(command) => {
            let program = command.words.first().and_then(WordPattern::literal);
            let program = program.filter(|own| !own.contains('/'))?;
            // Its own name comes first.
            let named = names(program).take(if looks { usize::MAX } else { 1 });
            named.map(|name| ('c', name.to_owned())).collect()
        }
        Pattern::Path(path) => {
            let first = path.components.first()?.literal()?.to_lowercase();
            let folders = scene.folders.roots.iter().chain([&scene.folders.home]);
            let mut leads = folders.filter_map(|folder| folder.first());
            vec![match path.anchor {
                Anchor::Root => ('r', first),
                Anchor::Home => ('~', first),
                Anchor::Absolute if !leads.any(|lead| lead.to_lowercase() == first) => ('a', first),
                Anchor::Absolute | Anchor::Name => return None,
            }]
        }
        Pattern::Host(host) => match &host.host {
            HostName::Any => return None,
            HostName::Exact(name) | HostName::Below(name) if looks => {
                let dots = name.match_indices('.').map(|(at, _)| at + 1);
                let ends = std::iter::once(0).chain(dots);
                ends.filter_map(|at| Some(('h', name.get(at..)?.to_owned())))
                    .collect()
            }
            HostName::Exact(name) | HostName::Below(name) => vec![('h', name.clone())],
        },
        Pattern::Tool(_) => return None,
    };
    Some(keys)
}

/// A part of a path that every word of a pattern has somewhere, letter case apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// A component.
    Component(String),
    /// What stands after the last dot of a component.
    Extension(String),
}

impl Mark {
    fn of(pattern: &Pattern<'_>) -> Option<Self> {
        let Pattern::Path(path) = pattern else {
            return None;
        };
        let mut words = path.components.iter().rev();
        if let Some(component) = words.find_map(WordPattern::literal) {
            return Some(Self::Component(component.to_lowercase()));
        }
        let mut globs = path.components.iter().rev().filter_map(|word| match word {
            WordPattern::Word(glob) => Some(glob),
            WordPattern::Any => None,
        });
        globs.find_map(|glob| {
            let mut end = String::new();
            for token in glob.tokens().iter().rev() {
                match token {
                    Token::Char('.') => return Some(Self::Extension(end.to_lowercase())),
                    Token::Char(c) => end.insert(0, *c),
                    _ => return None,
                }
            }
            None
        })
    }

    /// Whether a word of a path has it, written small.
    pub fn is_in(&self, small: &str) -> bool {
        let mut parts = small.split(BREAK);
        parts.any(|part| match self {
            Self::Component(own) => part == own,
            Self::Extension(own) => part.rsplit_once('.').is_some_and(|(_, end)| end == own),
        })
    }
}
