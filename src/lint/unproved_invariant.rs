//! An invariant that nothing proves: it is read and kept, but no call is looked for that breaks it.

use super::Room;
use crate::finding::Finding;

const CODE: &str = "unproved-invariant";

/// Looks at the invariants of every file.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let files = room.matcher.policy.layers.iter().flat_map(|layer| &layer.files);
    files
        .flat_map(|file| &file.invariants)
        .map(|invariant| {
            let message = format!("the invariant `{}` is neither proved nor enforced", invariant.id);
            let place = &invariant.never.place;
            Finding::lint(CODE, message, &place.source, place.span)
                .label("only read")
                .help("write it as a deny rule as well: `check` does not look for a call that breaks it")
        })
        .collect()
}
