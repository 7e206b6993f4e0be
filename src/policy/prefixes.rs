//! The command patterns of a rule: [`Prefixes`]. One command names few of the programs of a policy, so where a file was
//! kept, the patterns of a program are made of their text when a call names it.
//!
//! In: patterns, or texts that were read before. Out: all of them, or those of some programs.

use super::patterns::{self, CommandPattern};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Command patterns, in their order. Reads as the list of all.
#[derive(Clone, Default)]
pub struct Prefixes {
    all: OnceLock<Vec<CommandPattern>>,
    /// What they were written as, where nobody has read them yet.
    written: Vec<Written>,
}

/// One entry of a list.
#[derive(Clone, Serialize, Deserialize)]
struct Written {
    text: SmolStr,
    /// The programs of its alternatives, one after another, NUL between: nothing for one that is a glob.
    programs: SmolStr,
    #[serde(skip)]
    made: OnceLock<Vec<CommandPattern>>,
}

impl Written {
    fn programs(&self) -> impl Iterator<Item = Option<&str>> {
        let all = self.programs.split('\0');
        all.map(|program| (!program.is_empty()).then_some(program))
    }

    /// A text that was read before is read again; were it not, it would be a pattern that cannot be told.
    fn made(&self) -> &[CommandPattern] {
        self.made
            .get_or_init(|| match patterns::commands(&self.text) {
                Ok(made) => made,
                Err(_) => vec![CommandPattern::unread(&self.text)],
            })
    }
}

impl Prefixes {
    /// The programs that they name, without their folders; none for a glob. One may come several times.
    pub fn programs(&self) -> impl Iterator<Item = Option<&str>> {
        let made = self.all.get().map_or(&[][..], Vec::as_slice);
        let written = self.written.iter().filter(|_| self.all.get().is_none());
        let made = made.iter().map(CommandPattern::program);
        made.chain(written.flat_map(Written::programs))
    }

    /// At least those whose program passes, and those written as a path, which may lead to any. None stands for a glob.
    pub fn of<'p>(
        &'p self,
        passes: impl Fn(Option<&str>) -> bool + 'p,
    ) -> impl Iterator<Item = &'p CommandPattern> {
        let made = self.all.get().map_or(&[][..], Vec::as_slice);
        let written = self.written.iter().filter(|_| self.all.get().is_none());
        let called = move |own: &&Written| own.text.contains('/') || own.programs().any(&passes);
        let written = written.filter(called);
        made.iter().chain(written.flat_map(Written::made))
    }
}

impl Deref for Prefixes {
    type Target = [CommandPattern];

    fn deref(&self) -> &[CommandPattern] {
        let all = || self.written.iter().flat_map(Written::made).cloned();
        self.all.get_or_init(|| all().collect())
    }
}

impl<'p> IntoIterator for &'p Prefixes {
    type Item = &'p CommandPattern;
    type IntoIter = std::slice::Iter<'p, CommandPattern>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Vec<CommandPattern>> for Prefixes {
    fn from(all: Vec<CommandPattern>) -> Self {
        Self {
            all: all.into(),
            written: Vec::new(),
        }
    }
}

impl fmt::Debug for Prefixes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Serialize for Prefixes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // The alternatives of one entry stand one after another, and share its text.
        let entries = self.chunk_by(|one, next| Arc::ptr_eq(&one.text, &next.text));
        let written = entries.map(|entry| {
            let programs = entry.iter().map(|own| own.program().unwrap_or_default());
            let mut programs: Vec<&str> = programs.collect();
            programs.dedup();
            let text: &str = entry.first().map_or("", |own| &own.text);
            Written {
                text: text.into(),
                programs: programs.join("\0").into(),
                made: OnceLock::new(),
            }
        });
        let written: Vec<Written> = written.collect();
        let read = written.iter().flat_map(Written::made);
        match read.eq(self.iter()) {
            true => written.serialize(to),
            false => Err(serde::ser::Error::custom(
                "these patterns are not their text",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Prefixes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = Vec::deserialize(from)?;
        let all = OnceLock::new();
        Ok(Self { all, written })
    }
}
