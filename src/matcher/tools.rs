//! Which tier a tool is in, and whether anybody covers it.
//!
//! In: the tiers and rules of all layers. Out: for a tool's name its tier, where that stands, and which layers list it.

use super::quick::HashMap;
use crate::policy::glob::{Glob, Token};
use crate::policy::rule::{TierEntry, Verdict};

/// Tool name patterns, by exact name and by literal start.
#[derive(Debug, Default)]
pub struct NameIndex {
    exact: HashMap<String, Vec<usize>>,
    /// The literal start of a glob → the glob and what it belongs to.
    starts: HashMap<String, Vec<(Glob, usize)>>,
    lengths: Vec<usize>,
}

impl NameIndex {
    /// Adds a pattern.
    pub fn add(&mut self, glob: &Glob, owner: usize) {
        if let Some(name) = glob.as_literal() {
            return self.exact.entry(name.to_owned()).or_default().push(owner);
        }
        let start: String = glob.tokens().iter().map_while(Token::char).collect();
        if !self.lengths.contains(&start.len()) {
            self.lengths.push(start.len());
        }
        self.starts
            .entry(start)
            .or_default()
            .push((glob.clone(), owner));
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.starts.is_empty()
    }

    /// What the patterns that match the name belong to, with how specific each is: exact names are the most.
    pub fn find(&self, name: &str) -> Vec<(usize, Specific)> {
        let mut found: Vec<(usize, Specific)> = self
            .exact
            .get(name)
            .into_iter()
            .flatten()
            .map(|owner| {
                (
                    *owner,
                    Specific {
                        exact: true,
                        literal: name.chars().count(),
                    },
                )
            })
            .collect();
        for length in &self.lengths {
            let globs = name.get(..*length).and_then(|start| self.starts.get(start));
            for (glob, owner) in globs.into_iter().flatten() {
                if glob.matches_text(name, false) {
                    found.push((
                        *owner,
                        Specific {
                            exact: false,
                            literal: glob.literal_count(),
                        },
                    ));
                }
            }
        }
        found.sort_unstable();
        found
    }
}

/// How specific a pattern is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Specific {
    exact: bool,
    literal: usize,
}

/// The tiers of one file.
#[derive(Debug, Default)]
pub struct FileTiers {
    entries: Vec<(Verdict, usize)>,
    index: NameIndex,
}

impl FileTiers {
    /// Compiles the entries of a file.
    pub fn of(entries: &[TierEntry]) -> Self {
        let mut tiers = Self::default();
        for (at, entry) in entries.iter().enumerate() {
            tiers.entries.push((entry.verdict, at));
            for glob in &entry.names {
                tiers.index.add(glob, at);
            }
        }
        tiers
    }

    /// The tier of a tool and the entry that says so: deny always wins; between allow and ask the more specific
    /// pattern wins, and a tie is ask.
    pub fn of_tool(&self, tool: &str) -> Option<(Verdict, usize)> {
        self.index
            .find(tool)
            .into_iter()
            .filter_map(|(at, specific)| Some((self.entries.get(at)?.0, specific, at)))
            .max_by_key(|(verdict, specific, at)| {
                (
                    *verdict == Verdict::Deny,
                    *specific,
                    *verdict == Verdict::Ask,
                    std::cmp::Reverse(*at),
                )
            })
            .map(|(verdict, _, at)| (verdict, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    #[test]
    fn the_more_specific_wins() {
        let entry = |verdict, name: &str| TierEntry {
            verdict,
            names: Glob::parse(name).unwrap(),
            address: String::new(),
            span: Span::default(),
        };
        let tiers = FileTiers::of(&[
            entry(Verdict::Allow, "mcp__*"),
            entry(Verdict::Ask, "mcp__git__*"),
            entry(Verdict::Deny, "*_delete"),
            entry(Verdict::Allow, "bash"),
            entry(Verdict::Ask, "ba?h"),
            entry(Verdict::Allow, "x*"),
            entry(Verdict::Ask, "*x"),
        ]);
        for (tool, want) in [
            ("mcp__a", Some(Verdict::Allow)),
            ("mcp__git__push", Some(Verdict::Ask)),
            ("mcp__git_delete", Some(Verdict::Deny)),
            ("bash", Some(Verdict::Allow)),
            ("bath", Some(Verdict::Ask)),
            ("xx", Some(Verdict::Ask)),
            ("other", None),
        ] {
            assert_eq!(
                tiers.of_tool(tool).map(|(verdict, _)| verdict),
                want,
                "{tool}"
            );
        }
    }
}
