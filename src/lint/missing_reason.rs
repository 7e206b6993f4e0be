//! A deny without `reason`: the model is told that a rule refuses, and not why.
//!
//! Off unless asked for: a list of plain programs needs no reasons.

use super::Room;
use crate::finding::Finding;
use crate::policy::rule::{Judges, Verdict};

const CODE: &str = "missing-reason";

/// Looks at deny rules.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for compiled in room.rules() {
        let rule = &compiled.rule;
        let bare = rule.action == Verdict::Deny
            && rule.reason.is_none()
            && !matches!(rule.judges, Judges::Rest(_));
        if bare {
            found.push(
                Finding::lint(
                    CODE,
                    format!("the deny `{}` gives no reason", compiled.key),
                    &rule.place.source,
                    rule.place.span,
                )
                .label("the model is told only that it is refused")
                .help("add `reason = \"…\"`, and `instead = \"…\"` where there is another way"),
            );
        }
    }
    for set in room.matcher.protected.iter().filter(|set| set.reason.is_none()) {
        found.push(
            Finding::lint(
                CODE,
                format!("the protected set `{}` gives no reason", set.name),
                &set.place.source,
                set.place.span,
            )
            .label("the model is told only that it is refused")
            .help("add `reason = \"…\"`"),
        );
    }
    found
}
