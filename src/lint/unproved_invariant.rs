//! An invariant that some call breaks, or that nothing proves: an invariant says what no call may be allowed to do.
//!
//! Graver where a call breaks it: what it promises is not so.

use super::Room;
use crate::finding::{Finding, Severity};
use crate::language::Proof;

const CODE: &str = "unproved-invariant";

/// Looks at the invariants of every file.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for invariant in room.files().flat_map(|file| &file.invariants) {
        let place = &invariant.never.place;
        if !room.tells(&place.source) {
            continue;
        }
        let lint = |message| Finding::lint(CODE, message, &place.source, place.span);
        let id = &invariant.id;
        found.push(match room.languages().invariant(invariant) {
            Proof::Holds => continue,
            Proof::Broken(witness) => {
                let mut finding = lint(format!("the invariant `{id}` does not hold: a call that breaks it is allowed"))
                    .label("never allowed, it says")
                    .help("add a deny rule that says the same")
                    .witness(witness.json(), &*witness);
                finding.severity = Severity::Deny;
                finding
            }
            Proof::Unknown => lint(format!("the invariant `{id}` is neither proved nor refuted"))
                .label("nothing shows that this holds")
                .help("add a deny rule that says the same: it proves it"),
        });
    }
    found
}
