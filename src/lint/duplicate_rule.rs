//! The same entry twice: the later one changes nothing.
//!
//! Compared by what they match, not by their letters: `git {a,b}` next to `git {b,a}` is the same again.

use super::Room;
use super::redundant_rule::same;
use super::room::{Written, written};
use crate::finding::Finding;
use crate::policy::patterns;
use crate::policy::rule::Rule;
use crate::source::{self, Span};
use std::collections::HashMap;
use std::sync::Arc;

const CODE: &str = "duplicate-rule";

/// Looks at the entries of lists and tiers.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen: HashMap<(usize, usize), Vec<(&Rule, Written<'_>)>> = HashMap::new();
    for compiled in room.rules().filter(|own| !room.is_ordered(own)) {
        let rule = &compiled.rule;
        for own in written(rule) {
            let alike = seen.entry(key(&own)).or_default();
            let first = alike.iter().find(|(other, text)| {
                Arc::ptr_eq(&other.place.source, &rule.place.source)
                    && (std::ptr::eq(*other, rule)
                        || (rule.reason == other.reason
                            && rule.instead == other.instead
                            && rule.forced == other.forced))
                    && same(other, text, rule, &own)
            });
            let Some((other, text)) = first else {
                alike.push((rule, own));
                continue;
            };
            let source = &rule.place.source;
            let span = room.spot_of(rule, &own);
            let finding = Finding::lint(
                CODE,
                format!("`{}` stands here twice", own.text),
                source,
                span,
            )
            .label("the same again")
            .also(source, room.spot_of(other, text), "first here")
            .help("drop one of the two");
            found.push(dropped(room, finding, &own.text, span));
        }
    }
    found.extend(tiers(room));
    found
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
fn key(text: &Written<'_>) -> (usize, usize) {
    let letters = text.text.chars().filter(|c| c.is_alphanumeric());
    let sum = letters.fold(0usize, |sum, c| sum.wrapping_add((c as usize).wrapping_mul(c as usize)));
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
