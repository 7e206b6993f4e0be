//! An ask without an id: its obligation goes by an address, which moves when an entry is put before it.
//!
//! Off unless asked for: only a host that stores approvals and grants by their key depends on it.

use super::Room;
use crate::finding::Finding;
use crate::policy::rule::{Judges, Verdict};

const CODE: &str = "requirement-without-key";

/// Looks at rules that ask. A `forced` one is left alone: its approval serves one call only.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let asks = room.rules().filter(|own| {
        let rule = &own.rule;
        let section_default = matches!(rule.judges, Judges::Rest(_));
        rule.action == Verdict::Ask && rule.id.is_none() && !rule.forced && !section_default
    });
    asks.map(|own| {
        Finding::lint(
            CODE,
            format!("what this rule asks goes by `{}`, its place in a list", own.key),
            &own.rule.place.source,
            own.rule.place.span,
        )
        .label("an entry put before it takes over its approvals and grants")
        .help("give it an `id = \"…\"`")
    })
    .collect()
}
