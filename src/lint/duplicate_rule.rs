//! The same entry twice: the later one changes nothing.
//!
//! Compared by what they match, not by their letters: `git {a,b}` next to `git {b,a}` is the same again.

use super::Room;
use super::room::Written;
use crate::finding::Finding;
use crate::language::Entry;
use crate::policy::patterns;
use crate::source::{self, Span};
use std::collections::HashMap;
use std::sync::Arc;

const CODE: &str = "duplicate-rule";

/// Looks at the entries of lists and tiers.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let rules = room.languages();
    let mut found = Vec::new();
    let mut seen: HashMap<(usize, u64), Vec<(usize, &Entry<'_>)>> = HashMap::new();
    for (at, entry) in rules.entries().iter().enumerate() {
        if room.is_ordered(entry.compiled) || entry.written.patterns.is_empty() {
            continue;
        }
        let alike = seen.entry(key(&entry.written)).or_default();
        let first = alike.iter().find(|(other, first)| {
            // The same letters in one rule need no proof.
            let again = first.rule == entry.rule && first.written.patterns == entry.written.patterns;
            let alike = || rules.inside(*other, at) && rules.inside(at, *other);
            comparable(first, entry) && (again || alike())
        });
        let Some((_, first)) = first else {
            alike.push((at, entry));
            continue;
        };
        let place = room.place(first);
        let finding = room
            .at(CODE, format!("{} stands here twice", room.named(entry)), entry)
            .label("the same again")
            .also(&place.source, place.span, "first here")
            .help("drop one of the two");
        found.push(dropped(room, finding, &entry.written.text, room.place(entry).span));
    }
    found.extend(tiers(room));
    found
}

/// Whether two entries would say the same, were they about the same.
fn comparable(one: &Entry<'_>, other: &Entry<'_>) -> bool {
    let (first, rule) = (&one.compiled.rule, &other.compiled.rule);
    Arc::ptr_eq(&first.place.source, &rule.place.source)
        && first.action == rule.action
        && std::mem::discriminant(&first.judges) == std::mem::discriminant(&rule.judges)
        && (one.rule == other.rule
            || (rule.reason == first.reason
                && rule.instead == first.instead
                && rule.forced == first.forced))
}

/// The finding, with its entry taken out as a repair, where the entry is one text of a list.
fn dropped(room: &Room<'_>, finding: Finding, text: &str, span: Span) -> Finding {
    let gone = finding.labels.first().and_then(|label| {
        let typed = label.span.of(&label.source.text).trim_matches(['"', '\'']);
        let root = room.tree(&label.source).filter(|_| typed == text)?;
        source::element(&label.source, root, span)
    });
    match gone {
        Some(gone) => finding.fix(
            gone,
            "",
            format!("the second `{text}` is gone; entries after it move up by one place"),
        ),
        None => finding,
    }
}

/// What two texts share that take the same: how many alternatives, and which letters however ordered.
fn key(text: &Written<'_>) -> (usize, u64) {
    let letters = text.text.chars().filter(|c| c.is_alphanumeric());
    // Far apart for each letter: sums of others must not meet by chance.
    let mixed = |c: char| (c as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_pow(3);
    let sum = letters.fold(0u64, |sum, c| sum.wrapping_add(mixed(c)));
    (text.patterns.len(), sum)
}

fn tiers(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in room.files() {
        for (at, entry) in file.tiers.iter().enumerate() {
            let before = file.tiers.iter().take(at);
            let first = before
                .filter(|other| other.verdict == entry.verdict)
                .find(|other| entry.names.iter().all(|name| other.names.contains(name)));
            if let (Some(first), Some(name)) = (first, entry.names.first()) {
                let name = patterns::spell(name);
                let finding = Finding::lint(
                    CODE,
                    format!("`{name}` stands in the tier `{}` twice", entry.verdict),
                    &file.source,
                    entry.span,
                )
                .label("the same again")
                .also(&file.source, first.span, "first here")
                .help("drop one of the two");
                found.push(dropped(room, finding, &name, entry.span));
            }
        }
    }
    found
}
