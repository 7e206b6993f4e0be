//! An allow whose pattern of names also takes names that are protected: those stay closed.
//!
//! Told where the allow is about names (`*.pem`, `.env*`), not where it opens a folder that holds a protected file:
//! that is how protecting works.

use super::Room;
use super::inside::{self, Side};
use super::room::{Pattern, written};
use crate::finding::Finding;
use crate::policy::patterns::{PathPattern, WordPattern};
use crate::policy::rule::{Judges, Paths, Verdict};

const CODE: &str = "allow-covers-protected";

/// Looks at allow rules for paths against protected files.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for compiled in room.rules() {
        let rule = &compiled.rule;
        let Judges::Paths(own) = &rule.judges else { continue };
        if rule.action != Verdict::Allow {
            continue;
        }
        for text in written(rule) {
            let mut paths = text.patterns.iter().filter_map(|pattern| match pattern {
                Pattern::Path(path) if is_name(path) => Some(*path),
                _ => None,
            });
            let met = paths.find_map(|path| {
                let mut sets = room.matcher.protected.iter();
                sets.find_map(|set| Some((set, covered(own, path, &set.paths)?)))
            });
            if let Some((set, file)) = met {
                found.push(
                    Finding::lint(
                        CODE,
                        format!("the allow of `{}` also names `{file}`, which stays protected", text.text),
                        &rule.place.source,
                        room.spot_of(rule, &text),
                    )
                    .label("allowed here")
                    .also(&set.place.source, room.spot_of_file(set, &file), "and protected here")
                    .help(format!(
                        "take it out with `except = [\"{file}\"]`, or, where it may be opened, name it under `except` of `protected.{}`",
                        set.name
                    )),
                );
            }
        }
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

/// The protected name that lies inside the allow, while the allow does not lie inside the protected set.
fn covered(own: &Paths, path: &PathPattern, set: &Paths) -> Option<String> {
    let exact = |tightens| Side {
        tightens,
        exact: true,
    };
    if !own.modes.iter().any(|mode| set.modes.contains(mode)) {
        return None;
    }
    if inside::paths(set, Side { exact: false, ..exact(true) }, own, exact(false), path).is_some() {
        return None;
    }
    let spared = |file: &PathPattern| {
        let mut except = own.except.iter();
        except.any(|by| inside::path(by, exact(true), file, exact(true)))
    };
    let mut files = set.patterns.iter();
    files
        .find(|file| inside::path(path, exact(false), file, exact(false)) && !spared(file))
        .map(|file| file.text.clone())
}
