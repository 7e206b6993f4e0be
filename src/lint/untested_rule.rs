//! A rule that no example shows at work, and by which no case of the policy's case file decides.
//!
//! Off unless asked for. Which rules cases decide by is found out by whoever opens files (`acl check` does, where the
//! case file stands beside the policy).

use super::Room;
use crate::finding::Finding;
use crate::policy::rule::Judges;

const CODE: &str = "untested-rule";

/// Looks at the rules of the layers' own files.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for compiled in room.rules() {
        let rule = &compiled.rule;
        let shown = !rule.examples.matching.is_empty() || room.decided.contains(&compiled.key);
        if shown || matches!(rule.judges, Judges::Rest(_)) {
            continue;
        }
        found.push(
            Finding::lint(
                CODE,
                format!("no example and no case decides by `{}`", compiled.key),
                &rule.place.source,
                rule.place.span,
            )
            .label("a slip in it would not be noticed")
            .help("add `examples = { match = [\"…\"] }`, or a case to the `.cases.toml` beside the policy"),
        );
    }
    found
}
