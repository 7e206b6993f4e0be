//! A group that no list names.

use super::Room;
use crate::finding::Finding;

const CODE: &str = "unused-group";

/// Looks at `[groups]`.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in room.files() {
        for (name, _) in file.groups.iter().filter(|(_, used)| !used) {
            found.push(
                Finding::lint(
                    CODE,
                    format!("no list names the group `@{}`", name.value),
                    &file.source,
                    name.span,
                )
                .label("declared here")
                .help(format!("write `\"@{}\"` in the list that should hold it, or drop the group", name.value)),
            );
        }
    }
    found
}
