//! The texts of a rule's list: each with the patterns that its braces make.

use crate::policy::glob::Glob;
use crate::policy::patterns::{self, CommandPattern, HostPattern, PathPattern};
use crate::policy::rule::{Judges, Rule};

/// One pattern of a rule, of whatever it judges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern<'r> {
    /// Of `commands`.
    Command(&'r CommandPattern),
    /// Of `paths`.
    Path(&'r PathPattern),
    /// Of `hosts`.
    Host(&'r HostPattern),
    /// Of `tools`, where the rule judges the tool as such.
    Tool(&'r Glob),
}

/// A text of a rule's list: one pattern, or one for each brace alternative.
#[derive(Clone, Debug)]
pub struct Written<'r> {
    /// As written.
    pub text: String,
    /// How often the same text stands before it in the rule.
    pub nth: usize,
    /// Its alternatives.
    pub patterns: Vec<Pattern<'r>>,
}

impl Written<'_> {
    /// Of a rule about every tool, which writes none.
    pub const fn of_every_tool() -> Self {
        Self {
            text: String::new(),
            nth: 0,
            patterns: Vec::new(),
        }
    }
}

/// The patterns of a rule, those of one text together.
pub fn written(rule: &Rule) -> Vec<Written<'_>> {
    match &rule.judges {
        Judges::Commands(own) => {
            grouped(own.patterns.iter().map(|p| (&*p.text, Pattern::Command(p))))
        }
        Judges::Paths(own) => grouped(own.patterns.iter().map(|p| (&*p.text, Pattern::Path(p)))),
        Judges::Hosts(own) => grouped(own.patterns.iter().map(|p| (&*p.text, Pattern::Host(p)))),
        Judges::Tool => {
            let texts: Vec<String> = rule.tools.iter().map(patterns::spell).collect();
            let pairs = texts
                .iter()
                .map(String::as_str)
                .zip(rule.tools.iter().map(Pattern::Tool));
            grouped(pairs)
        }
        Judges::Rest(_) => Vec::new(),
    }
}

fn grouped<'t, 'r>(pairs: impl Iterator<Item = (&'t str, Pattern<'r>)>) -> Vec<Written<'r>> {
    let mut out: Vec<Written<'r>> = Vec::new();
    for (text, pattern) in pairs {
        let nth = out.iter().filter(|before| before.text == text).count();
        // The alternatives of one text differ: the same again is the same text again.
        let same = |last: &&mut Written<'r>| last.text == text && !last.patterns.contains(&pattern);
        match out.last_mut().filter(same) {
            Some(last) => last.patterns.push(pattern),
            None => out.push(Written {
                text: text.to_owned(),
                nth,
                patterns: vec![pattern],
            }),
        }
    }
    out
}
