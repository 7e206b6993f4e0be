//! An entry that a wider one of the same verdict already covers, or an ask inside a deny: without it nothing changes.
//!
//! Only within one file: what a file says again of what it extends may be meant. An allow that names more words than the
//! wider one may cover more (`git branch *` next to `git branch`) and is then left alone.

use super::Room;
use super::index::{Entry, Index};
use super::inside;
use super::room::{Pattern, Written};
use crate::finding::Finding;
use crate::policy::rule::{Judges, Rule, Verdict};
use std::sync::Arc;

const CODE: &str = "redundant-rule";

/// Looks at every pattern of every list.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let index = Index::of(room, |own| !room.is_ordered(own));
    let mut found = Vec::new();
    for own in &index.entries {
        let Some(first) = own.written.patterns.first() else {
            continue;
        };
        if let Some(wide) = index.candidates(*first).find(|wide| within(wide, own)) {
            let (narrow, outer) = (&own.compiled.rule, &wide.compiled.rule);
            found.push(finding(room, narrow, &own.written, outer, &wide.written));
        }
    }
    found
}

fn finding(room: &Room<'_>, narrow: &Rule, own: &Written<'_>, wide: &Rule, by: &Written<'_>) -> Finding {
    let text = &by.text;
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
        .also(&wide.place.source, room.spot_of(wide, by), "by this one")
        .help(help)
}

/// Whether one text covers another without being the same again, and the other has no use of its own.
fn within(wide: &Entry<'_>, narrow: &Entry<'_>) -> bool {
    let (outer, inner) = (&wide.compiled.rule, &narrow.compiled.rule);
    let verdicts = outer.action == inner.action
        || (outer.action == Verdict::Deny && inner.action == Verdict::Ask);
    let same_kind = std::mem::discriminant(&outer.judges) == std::mem::discriminant(&inner.judges);
    let same_file = Arc::ptr_eq(&outer.place.source, &inner.place.source);
    let itself = std::ptr::eq(outer, inner);
    // What the narrower one tells, or demands, is its use.
    let says = |own: &Option<String>, other: &Option<String>| own.is_some() && own != other;
    let tells = outer.action == inner.action
        && (says(&inner.reason, &outer.reason)
            || says(&inner.instead, &outer.instead)
            || (inner.forced && !outer.forced));
    verdicts
        && same_kind
        && same_file
        && !tells
        && !(itself && wide.written.text == narrow.written.text)
        && inside::conditions(outer, inner)
        && takes(outer, &wide.written, inner, &narrow.written)
        // Two that cover each other are duplicates, which is said elsewhere.
        && !same(inner, &narrow.written, outer, &wide.written)
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
