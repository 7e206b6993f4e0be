//! A suppression that keeps nothing back, or gives no reason. Runs last: only then is it known.

use super::Room;
use super::suppressions::Suppression;
use crate::finding::Finding;
use std::sync::Arc;

const CODE: &str = "unused-suppression";

/// Looks at the suppressions of the layers' own files: those of an extended file may keep back what is found there alone.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let own = |own: &&Suppression| {
        let mut roots = room.matcher.policy.layers.iter().filter_map(|layer| layer.files.first());
        roots.any(|file| Arc::ptr_eq(&file.source, &own.source))
    };
    for own in room.suppressions.iter().filter(own) {
        let codes: Vec<&str> = own.codes.iter().map(|(code, _)| code.as_str()).filter(|code| !code.is_empty()).collect();
        // What no lint has is told as unknown; what is found elsewhere cannot be known to be unused.
        let known = |code: &str| super::LINTS.iter().any(|lint| lint.code == code);
        let unused: Vec<&str> = own
            .codes
            .iter()
            .filter(|(code, used)| !used.get() && known(code))
            .map(|(code, _)| code.as_str())
            .collect();
        let used = own.codes.iter().any(|(_, used)| used.get());
        let (message, help) = match (codes.is_empty(), unused.is_empty()) {
            (true, _) => (
                "this suppression names no lint".to_owned(),
                "write `# acl: allow(code) reason`".to_owned(),
            ),
            (false, false) => (
                format!("nothing is found here that `{}` would keep back", unused.join("`, `")),
                match used {
                    true => "take it out of the comment".to_owned(),
                    false => "drop the comment, or move it to the line of the finding or right above it".to_owned(),
                },
            ),
            (false, true) if used && own.reason.is_empty() => (
                format!("the suppression of `{}` gives no reason", codes.join("`, `")),
                format!("say why: `# acl: allow({}) …`", codes.join(", ")),
            ),
            (false, true) => continue,
        };
        found.push(
            Finding::lint(CODE, message, &own.source, own.span)
                .label("this comment")
                .help(help),
        );
    }
    found
}
