//! A deny (or ask) with `exact`: one more word, and it is left.
//!
//! `exact` narrows an allow. On what closes something it opens all but one spelling.

use super::Room;
use super::room::written;
use crate::finding::Finding;
use crate::policy::rule::Verdict;

const CODE: &str = "exact-deny-of-bare-name";

/// Looks at command rules that close something.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (rule, commands) in room.command_rules() {
        if rule.action == Verdict::Allow || !commands.exact {
            continue;
        }
        for own in written(rule) {
            let verdict = rule.action;
            found.push(
                room.lint(CODE, format!(
                        "the exact {verdict} of `{0}` is left by any further word: `{0} x` is not matched",
                        own.text
                    ), rule, &own)
                .label(format!("{verdict} of this very line"))
                .help(format!("drop `exact`: then `{}` covers whatever follows", own.text)),
            );
        }
    }
    found
}
