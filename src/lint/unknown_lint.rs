//! A code under `[lints]` or in a suppression that no lint has.

use super::Room;
use crate::finding::Finding;
use crate::source::{Source, Span};
use std::sync::Arc;

const CODE: &str = "unknown-lint";

/// Looks at `[lints]` and at suppressions.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in room.files() {
        for (code, _) in &file.lints {
            found.extend(unknown(&code.value, &file.source, code.span));
        }
    }
    for own in &room.suppressions {
        for code in own.codes.iter().map(|(code, _)| code).filter(|code| !code.is_empty()) {
            found.extend(unknown(code, &own.source, own.span));
        }
    }
    found
}

fn unknown(code: &str, source: &Arc<Source>, span: Span) -> Option<Finding> {
    if super::is_code(code) {
        return None;
    }
    let help = match super::nearest(code) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "a code is what stands in brackets in a finding; an error cannot be set or suppressed".into(),
    };
    Some(
        Finding::lint(CODE, format!("there is no lint `{code}`"), source, span)
            .label("has no effect")
            .help(help),
    )
}
