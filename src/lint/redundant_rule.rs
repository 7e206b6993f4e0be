//! An entry that a wider one of the same verdict already covers, or an ask inside a deny: without it nothing changes.
//!
//! Only within one file: what a file says again of what it extends may be meant. An allow that names more words than the
//! wider one may cover more (`git branch *` next to `git branch`) and is then left alone.

use super::Room;
use super::inside;
use super::room::{Pattern, Written, written};
use crate::finding::Finding;
use crate::matcher::Compiled;
use crate::policy::rule::{Judges, Rule, Verdict};
use std::collections::HashMap;
use std::sync::Arc;

const CODE: &str = "redundant-rule";

/// Looks at every pattern of every list.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let index = Index::new(room);
    for narrow in room.rules().filter(|own| !room.is_ordered(own)) {
        for own in written(&narrow.rule) {
            if let Some((wide, text)) = index.wider(narrow, &own) {
                found.push(finding(room, &narrow.rule, &own, wide, &text));
            }
        }
    }
    found
}

fn finding(room: &Room<'_>, narrow: &Rule, own: &Written<'_>, wide: &Rule, text: &str) -> Finding {
    let place = &narrow.place;
    let (message, help) = match narrow.action == wide.action {
        true => (
            format!("`{}` changes nothing: `{text}` already covers it", own.text),
            match narrow.judges {
                Judges::Commands(_) => "drop it: a command pattern is a prefix, and covers what goes on after it",
                Judges::Paths(_) => "drop it: a path pattern covers all that lies below it",
                _ => "drop it",
            },
        ),
        false => (
            format!("`{}` never asks: the deny of `{text}` comes first", own.text),
            "drop it, or carve it out of the deny with `except`",
        ),
    };
    Finding::lint(CODE, message, &place.source, room.spot_of(narrow, own))
        .label("covered already")
        .also(&wide.place.source, room.spot(wide, text), "by this one")
        .help(help)
}

/// The rules by the literal program of their patterns, so that long lists are not compared all with all.
struct Index<'m> {
    by_program: HashMap<String, Vec<&'m Compiled>>,
    others: Vec<&'m Compiled>,
}

impl<'m> Index<'m> {
    fn new(room: &Room<'m>) -> Self {
        let mut index = Self {
            by_program: HashMap::new(),
            others: Vec::new(),
        };
        for compiled in room.rules().filter(|own| !room.is_ordered(own)) {
            let Judges::Commands(commands) = &compiled.rule.judges else {
                index.others.push(compiled);
                continue;
            };
            let mut wild = false;
            let mut programs = Vec::new();
            for pattern in &commands.patterns {
                match program(Pattern::Command(pattern)) {
                    Some(name) => programs.push(name),
                    None => wild = true,
                }
            }
            if wild {
                index.others.push(compiled);
                continue;
            }
            programs.sort_unstable();
            programs.dedup();
            for name in programs {
                index.by_program.entry(name).or_default().push(compiled);
            }
        }
        index
    }

    /// The rule that covers all of a text, and by which pattern.
    fn wider(&self, narrow: &'m Compiled, own: &Written<'_>) -> Option<(&'m Rule, String)> {
        let first = own.patterns.first().copied()?;
        let named = program(first).and_then(|name| self.by_program.get(&name));
        let candidates = named.into_iter().flatten().chain(&self.others);
        candidates
            .copied()
            .find_map(|wide| Some((&wide.rule, within(wide, narrow, own)?)))
    }
}

fn program(pattern: Pattern<'_>) -> Option<String> {
    match pattern {
        Pattern::Command(command) => match command.words.first()? {
            crate::policy::patterns::WordPattern::Word(glob) => glob.as_literal(),
            crate::policy::patterns::WordPattern::Any => None,
        },
        _ => None,
    }
}

/// The pattern of `wide` that covers every alternative of the text.
fn within(wide: &Compiled, narrow: &Compiled, own: &Written<'_>) -> Option<String> {
    let (outer, inner) = (&wide.rule, &narrow.rule);
    let verdicts = outer.action == inner.action
        || (outer.action == Verdict::Deny && inner.action == Verdict::Ask);
    let same_kind = std::mem::discriminant(&outer.judges) == std::mem::discriminant(&inner.judges);
    let same_file = Arc::ptr_eq(&outer.place.source, &inner.place.source);
    let itself = std::ptr::eq(wide, narrow);
    // What the narrower one tells, or demands, is its use.
    let says = |own: &Option<String>, other: &Option<String>| own.is_some() && own != other;
    let tells = outer.action == inner.action
        && (says(&inner.reason, &outer.reason)
            || says(&inner.instead, &outer.instead)
            || (inner.forced && !outer.forced));
    if !verdicts || !same_kind || !same_file || (tells && !itself) {
        return None;
    }
    if !inside::conditions(outer, inner) {
        return None;
    }
    let wides = written(outer).into_iter();
    let mut wides = wides.filter(|other| !(itself && other.text == own.text));
    // Two that cover each other are duplicates, which is said elsewhere.
    let mutual = |other: &Written<'_>| outer.action == inner.action && same(inner, own, outer, other);
    wides
        .find(|other| takes(outer, other, inner, own) && !mutual(other))
        .map(|other| other.text)
}

/// Whether one text takes all that another takes, and an allow by the latter covers no more.
fn takes(outer: &Rule, wide: &Written<'_>, inner: &Rule, narrow: &Written<'_>) -> bool {
    narrow.patterns.iter().all(|pattern| {
        wide.patterns.iter().any(|by| {
            inside::by(outer, *by, inner, *pattern)
                && match (*by, *pattern) {
                    (Pattern::Command(by), Pattern::Command(pattern)) => {
                        inner.action != Verdict::Allow || !inside::names_more(by, pattern)
                    }
                    _ => true,
                }
        })
    })
}

/// Whether two texts of two rules take the same.
pub fn same(one: &Rule, text: &Written<'_>, other: &Rule, again: &Written<'_>) -> bool {
    one.action == other.action
        && inside::conditions(one, other)
        && inside::conditions(other, one)
        && takes(one, text, other, again)
        && takes(other, again, one, text)
}
