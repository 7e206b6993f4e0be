//! `first-match`: earlier rules decide all that a later one is about, one of them or several together.
//!
//! Graver where the later rule denies and an earlier one does not: that deny is not there.

use super::Room;
use super::room::By;
use crate::finding::{Finding, Severity};
use crate::language::{Answer, Entry, Hidden};
use crate::policy::rule::Verdict;

const CODE: &str = "shadowed-rule";

/// Looks at each entry and those above it.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let rules = room.languages();
    let entries = rules.entries().iter().enumerate();
    let ordered = entries.filter(|(_, entry)| room.is_ordered(entry.compiled));
    let found = ordered.filter_map(|(at, entry)| match rules.hidden(at) {
        Answer::Yes(hidden) => Some(told(room, entry, &hidden)),
        Answer::Unknown => Some(room.undecided(CODE, entry, "is ever reached")),
        Answer::No => None,
    });
    found.collect()
}

fn told(room: &Room<'_>, entry: &Entry<'_>, hidden: &Hidden) -> Finding {
    let later = &entry.compiled.rule;
    let by: Vec<By<'_>> = room.by(hidden);
    let (verb, which) = if by.len() > 1 { ("decide", "together ") } else { ("decides", "") };
    let message = format!(
        "the {} of {} comes too late: {} above it {which}{verb} first{}",
        later.action,
        room.named(entry),
        room.listed(&by),
        if hidden.in_workspace { ", inside the workspace" } else { "" },
    );
    let same = by.iter().all(|own| own.action == later.action);
    let mut finding = room
        .at(CODE, message, entry)
        .label("never reached")
        .help(if same {
            "drop it: the rule above says the same"
        } else {
            "move it above the wider rule"
        })
        .witness(hidden.witness.json(), &hidden.witness);
    for own in by.iter().take(3) {
        let text = format!("this {} is tried first", own.action);
        finding = finding.also(&own.place.source, own.place.span, text);
    }
    let open = by.iter().any(|own| own.action != Verdict::Deny);
    if later.action == Verdict::Deny && open {
        finding.severity = Severity::Deny;
    }
    finding
}
