//! An extended file that lets every tool pass which nothing names, and that the extending file does not narrow.
//!
//! What the extending file itself says so plainly is its own decision; what it takes over unseen is told.

use super::Room;
use crate::finding::Finding;
use crate::policy::{File, Verdict, patterns};
use crate::source::Span;

const CODE: &str = "allow-all-preset";

/// Looks at what each layer's own file extends.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for layer in &room.matcher.policy.layers {
        let Some((own, extended)) = layer.files.split_first() else {
            continue;
        };
        // The nearest file that states it decides.
        let restated = own.tier_default.is_some();
        let wide = extended.iter().find_map(|file| Some((file, opens(file, restated)?)));
        let (Some((file, (span, what))), Some(entry)) = (wide, own.extends.first()) else {
            continue;
        };
        // Where it came by a way of several files, the first entry stands for the way.
        let last = crate::call::path::last(&file.source.name);
        let mut named = own.extends.iter();
        let entry = named.find(|entry| entry.value.ends_with(last)).unwrap_or(entry);
        found.push(
            Finding::lint(
                CODE,
                format!("`{}` lets every tool pass that nothing names", entry.value),
                &own.source,
                entry.span,
            )
            .label("taken over with all it allows")
            .also(&file.source, span, what)
            .help("say `default = \"ask\"` under `[tiers]` here, or extend a file that lists what it allows"),
        );
    }
    found
}

/// Where a file opens everything, and in which words.
fn opens(file: &File, restated: bool) -> Option<(Span, &'static str)> {
    let stated = file.tier_default.as_ref().filter(|stated| stated.value == Verdict::Allow && !restated);
    let all = file.tiers.iter().find(|entry| {
        entry.verdict == Verdict::Allow && entry.names.iter().any(|name| patterns::spell(name) == "*")
    });
    let default = stated.map(|stated| (stated.span, "a tool that no tier lists is allowed"));
    default.or_else(|| all.map(|entry| (entry.span, "every tool is allowed")))
}
