//! A `disable` of a rule whose work another rule still does: nothing changes.
//!
//! Told only where every pattern of the rule stands in one that is at least as strict, or, for an allow, that allows.

use super::Room;
use super::room::{Pattern, Written, written};
use crate::finding::Finding;
use crate::matcher::Compiled;
use crate::policy::Resolution;
use crate::policy::patterns::{HostPattern, PathPattern};
use crate::policy::prefixes::Prefixes;
use crate::policy::rule::{Judges, Rule, Verdict};

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

/// A rule in force that has all patterns of the other, under the same conditions.
fn still<'m>(room: &Room<'m>, gone: &Rule) -> Option<&'m Compiled> {
    let texts = written(gone);
    room.rules().filter(|_| !texts.is_empty()).find(|own| {
        let verdicts = match gone.action {
            Verdict::Allow => own.rule.action == Verdict::Allow,
            strict => own.rule.action >= strict && (own.rule.forced || !gone.forced),
        };
        let same = std::mem::discriminant(&own.rule.judges) == std::mem::discriminant(&gone.judges);
        let theirs: Vec<String> = written(&own.rule).iter().flat_map(meanings).collect();
        verdicts
            && same
            && !room.is_ordered(own)
            && conditions(&own.rule) == conditions(gone)
            && texts.iter().flat_map(meanings).all(|own| theirs.contains(&own))
    })
}

/// The patterns of a text, however they are written.
fn meanings(text: &Written<'_>) -> Vec<String> {
    let patterns = text.patterns.iter();
    let meaning = |pattern: &Pattern<'_>| match pattern {
        Pattern::Command(own) => {
            format!("{:?}", (&own.words, own.assignments(), own.path()))
        }
        Pattern::Path(own) => {
            format!("{:?}", PathPattern { text: "".into(), ..(*own).clone() })
        }
        Pattern::Host(own) => {
            format!("{:?}", HostPattern { text: String::new(), ..(*own).clone() })
        }
        Pattern::Tool(own) => format!("{own:?}"),
    };
    patterns.map(meaning).collect()
}

/// All that narrows a rule besides its patterns.
fn conditions(rule: &Rule) -> String {
    let mut judges = rule.judges.clone();
    match &mut judges {
        Judges::Commands(own) => own.patterns = Prefixes::default(),
        Judges::Paths(own) => own.patterns.clear(),
        Judges::Hosts(own) => own.patterns.clear(),
        Judges::Tool | Judges::Rest(_) => {}
    }
    let tools = match judges {
        Judges::Tool => &[],
        _ => rule.tools.as_slice(),
    };
    format!("{judges:?} {tools:?} {:?} {:?} {:?}", rule.args, rule.when, rule.unless)
}
