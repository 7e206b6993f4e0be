//! A fact that no condition looks at.

use super::Room;
use crate::finding::Finding;
use crate::policy::rule::{Condition, Rule};

const CODE: &str = "unused-fact";

/// Looks at `[facts]`, against all layers: a fact of one may be what another's rules ask.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let asks = |rule: &Rule, name: &str| {
        let named = |condition: &Condition| condition.path.join(".") == name;
        rule.when.iter().chain(&rule.unless).any(named)
    };
    let used = |name: &str| {
        room.rules().any(|own| asks(&own.rule, name))
            || room
                .files()
                .flat_map(|file| &file.invariants)
                .any(|own| asks(&own.never, name))
    };
    let mut found = Vec::new();
    for file in room.files() {
        for fact in file.facts.iter().filter(|fact| !used(&fact.name)) {
            found.push(
                Finding::lint(
                    CODE,
                    format!("no rule looks at the fact `{}`", fact.name),
                    &file.source,
                    fact.span,
                )
                .label("declared here")
                .help(format!("use it, as in `when = {{ {} = … }}`, or drop it", fact.name)),
            );
        }
    }
    found
}
