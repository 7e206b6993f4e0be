//! A suppression that keeps nothing back, or gives no reason. Runs last: only then is it known.

use super::Room;
use crate::finding::Finding;

const CODE: &str = "unused-suppression";

/// Looks at the suppressions.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for own in &room.suppressions {
        let codes: Vec<&str> = own.codes.iter().map(String::as_str).filter(|code| !code.is_empty()).collect();
        // What no lint has is told as unknown; what is found elsewhere cannot be known to be unused.
        let known = |code: &&str| super::LINTS.iter().any(|lint| lint.code == *code);
        if !codes.is_empty() && !codes.iter().all(known) {
            continue;
        }
        let named = codes.join("`, `");
        let (message, help) = match (own.used.get(), own.reason.is_empty()) {
            (false, _) if codes.is_empty() => (
                "this suppression names no lint".to_owned(),
                "write `# acl: allow(code) reason`".to_owned(),
            ),
            (false, _) => (
                format!("nothing is found here that `{named}` would keep back"),
                "drop the comment, or move it to the line of the finding or right above it".to_owned(),
            ),
            (true, true) => (
                format!("the suppression of `{named}` gives no reason"),
                format!("say why: `# acl: allow({}) …`", codes.join(", ")),
            ),
            (true, false) => continue,
        };
        found.push(
            Finding::lint(CODE, message, &own.source, own.span)
                .label("this comment")
                .help(help),
        );
    }
    found
}
