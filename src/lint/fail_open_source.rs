//! An outside authority whose failure counts as no opinion: when it is down, its refusals are gone.

use super::Room;
use crate::finding::Finding;

const CODE: &str = "fail-open-source";

/// Looks at `on_error`.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in room.files() {
        for own in file.sources.iter().filter(|own| own.on_error.is_none()) {
            let name = if own.name.is_empty() { "the anonymous source".to_owned() } else { format!("`{}`", own.name) };
            found.push(
                Finding::lint(
                    CODE,
                    format!("when {name} fails, calls go on as if it had said nothing"),
                    &file.source,
                    own.said.unwrap_or(own.place.span),
                )
                .label("`abstain` releases what it would have refused")
                .help("write `on_error = \"ask\"`, or `\"deny\"` where nobody can be asked"),
            );
        }
    }
    found
}
