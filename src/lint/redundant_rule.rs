//! An entry that wider ones of the same verdict already cover, or an ask inside a deny: without it nothing changes.
//!
//! Only within one file: what a file says again of what it extends may be meant. An allow that names more words than the
//! wider one may cover more (`git branch *` next to `git branch`) and is then left alone.

use super::Room;
use crate::finding::Finding;
use crate::language::{Answer, By, Entry, Hidden};
use crate::policy::rule::{Judges, Rule};
use std::collections::BTreeSet;
use std::sync::Arc;

const CODE: &str = "redundant-rule";

/// Looks at every entry of every list.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let rules = room.languages();
    let mut found = Vec::new();
    // What is to be dropped covers nothing else: else two that cover each other would both go.
    let mut dropped = BTreeSet::new();
    for (at, entry) in rules.entries().iter().enumerate() {
        if room.is_ordered(entry.compiled) || !room.tells(&entry.compiled.rule.place.source) {
            continue;
        }
        let counts = |other: usize, wide: &Entry<'_>| {
            !dropped.contains(&other) && counts(wide, entry)
        };
        match rules.redundant(at, counts) {
            Answer::Yes(hidden) => {
                let again = |by: &By| match by {
                    By::Entry(other) => rules.inside(*other, at),
                    By::Protected(_) => false,
                };
                // Two that cover each other are duplicates, which is said elsewhere.
                if !hidden.by.iter().any(again) {
                    dropped.insert(at);
                    found.push(told(room, entry, &hidden));
                }
            }
            Answer::Unknown => found.push(room.undecided(CODE, entry, "changes anything")),
            Answer::No => {}
        }
    }
    found
}

/// Whether another entry of the file may make one superfluous: not itself, and not where that one tells or demands more.
fn counts(wide: &Entry<'_>, narrow: &Entry<'_>) -> bool {
    let (outer, inner): (&Rule, &Rule) = (&wide.compiled.rule, &narrow.compiled.rule);
    let says = |own: &Option<String>, other: &Option<String>| own.is_some() && own != other;
    let tells = outer.action == inner.action
        && (says(&inner.reason, &outer.reason)
            || says(&inner.instead, &outer.instead)
            || (inner.forced && !outer.forced));
    let same_kind = std::mem::discriminant(&outer.judges) == std::mem::discriminant(&inner.judges);
    same_kind
        && Arc::ptr_eq(&outer.place.source, &inner.place.source)
        && !tells
        && !(wide.rule == narrow.rule && wide.written.text == narrow.written.text)
}

fn told(room: &Room<'_>, entry: &Entry<'_>, hidden: &Hidden) -> Finding {
    let by = room.by(hidden);
    let narrow = &entry.compiled.rule;
    let same = by.iter().all(|own| own.action == narrow.action);
    let (named, others) = (room.named(entry), room.listed(&by));
    let cover = if by.len() > 1 { "together cover" } else { "already covers" };
    let (message, help) = match same {
        true => (
            format!("{named} changes nothing: {others} {cover} it"),
            match narrow.judges {
                Judges::Commands(_) => {
                    "drop it: a command pattern is a prefix, and covers what goes on after it"
                }
                Judges::Paths(_) => "drop it: a path pattern covers all that lies below it",
                _ => "drop it",
            },
        ),
        false => (
            format!("{named} never asks: {others} comes first"),
            "drop it, or carve it out of the deny with `except`",
        ),
    };
    let mut finding = room
        .at(CODE, message, entry)
        .label("covered already")
        .help(help)
        .witness(hidden.witness.json(), &hidden.witness);
    for own in by.iter().take(3) {
        finding = finding.also(&own.place.source, own.place.span, "by this one");
    }
    finding
}
