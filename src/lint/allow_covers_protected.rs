//! An allow whose pattern of names also takes names that are protected: those stay closed.
//!
//! Told where the allow is about names (`*.pem`, `.env*`), not where it opens a folder that holds a protected file:
//! that is how protecting works.

use super::Room;
use crate::finding::Finding;
use crate::language::Pattern;
use crate::policy::patterns::{PathPattern, WordPattern};
use crate::policy::rule::Verdict;

const CODE: &str = "allow-covers-protected";

/// Looks at allow rules for paths against protected files.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let rules = room.languages();
    let mut found = Vec::new();
    for (at, entry) in rules.entries().iter().enumerate() {
        let mut patterns = entry.written.patterns.iter();
        let names = patterns.any(|own| matches!(own, Pattern::Path(path) if is_name(path)));
        if entry.action() != Verdict::Allow || !names {
            continue;
        }
        let Some((set, file)) = rules.names_protected(at) else {
            continue;
        };
        let message = format!("the allow of {} also names `{file}`, which stays protected", room.named(entry));
        found.push(
            room.at(CODE, message, entry)
                .label("allowed here")
                .also(&set.place.source, room.spot_of_file(set, &file), "and protected here")
                .help(format!(
                    "take it out with `except = [\"{file}\"]`, or, where it may be opened, name it under `except` of `protected.{}`",
                    set.name
                )),
        );
    }
    found
}

/// A pattern whose last part is a name with a wildcard.
fn is_name(path: &PathPattern) -> bool {
    match path.components.last() {
        Some(WordPattern::Word(glob)) => !glob.is_star() && glob.as_literal().is_none(),
        _ => false,
    }
}
