//! A `disable` of a rule whose work another rule still does: nothing changes.
//!
//! Told only where every pattern of the rule lies inside one that is at least as strict, or, for an allow, that allows.

use super::Room;
use super::inside;
use super::room::written;
use crate::finding::Finding;
use crate::matcher::Compiled;
use crate::policy::Resolution;
use crate::policy::rule::{Rule, Verdict};

const CODE: &str = "unused-disable";

/// Looks at the rules that were taken out.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for layer in &room.matcher.policy.layers {
        if layer.resolution == Resolution::FirstMatch {
            continue;
        }
        for gone in &layer.disabled {
            let Some(left) = still(room, gone) else { continue };
            let named = |name: &str| gone.id.as_deref() == Some(name) || gone.address == name;
            let entry = layer.files.iter().find_map(|file| {
                let mut entries = file.disable.iter();
                Some((file, entries.find(|entry| named(&entry.value))?))
            });
            let Some((file, entry)) = entry else { continue };
            let other = left.rule.id.as_ref().unwrap_or(&left.rule.address);
            let help = match std::sync::Arc::ptr_eq(&left.rule.place.source, &file.source) {
                true => "drop that rule, or this".to_owned(),
                false => format!("disable `{other}` too, or drop this"),
            };
            found.push(
                Finding::lint(
                    CODE,
                    format!("disabling `{}` changes nothing: `{}` says the same", entry.value, left.key),
                    &file.source,
                    entry.span,
                )
                .label("has no effect")
                .also(&left.rule.place.source, left.rule.place.span, "still in force")
                .help(help),
            );
        }
    }
    found
}

/// A rule in force that takes all that the other took.
fn still<'m>(room: &Room<'m>, gone: &Rule) -> Option<&'m Compiled> {
    let texts = written(gone);
    room.rules().filter(|_| !texts.is_empty()).find(|own| {
        let verdicts = match gone.action {
            Verdict::Allow => own.rule.action == Verdict::Allow,
            strict => own.rule.action >= strict && (own.rule.forced || !gone.forced),
        };
        let same = std::mem::discriminant(&own.rule.judges) == std::mem::discriminant(&gone.judges);
        verdicts
            && same
            && !room.is_ordered(own)
            && texts
                .iter()
                .flat_map(|text| &text.patterns)
                .all(|pattern| inside::covers(&own.rule, gone, *pattern).is_some())
    })
}
