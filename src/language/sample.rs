//! A line of the words of a pattern, and what the reader of command lines says its words do.

use super::witness::{quoted, text_of};
use crate::call::access::{Access, Cover, Kind, Trigger};
use crate::call::shell;
use crate::policy::patterns::{CommandPattern, WordPattern};

/// Programs of which an allow by name covers all that their words can make them do.
const PLAIN: &[&str] = &[
    "basename", "cat", "cd", "dirname", "echo", "false", "head", "ls", "mkdir", "pwd", "stat",
    "tail", "touch", "true", "wc", "whoami",
];

/// Whether an allow of `narrow` lets pass more than one of `wide` although it lies inside: an allow covers what its
/// words name, so that `git branch *` covers making a branch and `git branch` does not.
pub fn names_more(wide: &CommandPattern, narrow: &CommandPattern) -> bool {
    let names = |pattern: &CommandPattern| -> Vec<String> {
        let assigned = pattern.assignments().iter();
        assigned.map(|(name, _)| name.clone()).collect()
    };
    if names(narrow).iter().any(|name| !names(wide).contains(name)) {
        return true;
    }
    let named = |pattern: &CommandPattern| {
        let words = pattern.words.iter();
        words.filter(|word| **word != WordPattern::Any).count()
    };
    if named(narrow) <= named(wide) && !narrow.words.contains(&WordPattern::Any) {
        return false;
    }
    let Some(WordPattern::Word(program)) = narrow.words.first() else {
        return true;
    };
    let program = program.as_literal().unwrap_or_default();
    if PLAIN.contains(&program) {
        return false;
    }
    let open = narrow.words.iter().skip(1).any(|word| match word {
        WordPattern::Any => true,
        WordPattern::Word(glob) => glob.as_literal().is_none(),
    });
    // Ask the reader of command lines what the words do, with more words after them and without.
    let line = sample(narrow, |_| true);
    for tail in ["", " x", " x y"] {
        match reads(&format!("{line}{tail}")) {
            Some(Reading { known, beyond }) if beyond || (open && known) => return true,
            Some(_) => {}
            // Nobody knows the line: only a program that the policy itself names by its path is surely no known one.
            None => return !program.contains('/'),
        }
    }
    false
}

struct Reading {
    known: bool,
    beyond: bool,
}

/// What the line's words make the program do beyond its name; none where the line cannot be read.
fn reads(line: &str) -> Option<Reading> {
    let scene = shell::Scene {
        cwd: Some("/workspace".into()),
        home: Some("/home/user".into()),
        ..shell::Scene::default()
    };
    let accesses: Vec<Access> = shell::accesses(line, &scene);
    let mut known = false;
    let mut commands = 0;
    let mut beyond = false;
    for access in &accesses {
        match &access.kind {
            Kind::Opaque(_) => return None,
            Kind::Command(command) => {
                commands += 1;
                known |= command.known;
                let mut escalations = command.escalations.iter();
                beyond |= escalations.any(|own| matches!(own.at, Trigger::Word(_)));
            }
            Kind::Path(path) => {
                beyond |= matches!(
                    path.cover,
                    Cover::Command {
                        naming: Some(_),
                        ..
                    }
                );
            }
            Kind::Host(host) => {
                beyond |= matches!(
                    host.cover,
                    Cover::Command {
                        naming: Some(_),
                        ..
                    }
                );
            }
            Kind::Tool => {}
        }
    }
    // A launcher: a pattern that goes on past it covers what it starts as well.
    (commands > 0).then_some(Reading {
        known,
        beyond: beyond || commands > 1,
    })
}

/// A line of the words of a pattern that are wanted.
pub fn sample(pattern: &CommandPattern, wanted: impl Fn(&WordPattern) -> bool) -> String {
    let word = |word: &WordPattern| match word {
        WordPattern::Any => None,
        WordPattern::Word(glob) => Some(quoted(&text_of(glob))),
    };
    let words = pattern.words.iter().filter(|word| wanted(word));
    words.filter_map(word).collect::<Vec<_>>().join(" ")
}

/// A pattern whose words are no options: what they name is hardly an escalation of the wider one.
pub fn plainly(pattern: &CommandPattern) -> bool {
    pattern.assignments().is_empty()
        && pattern.words.iter().skip(1).all(|word| match word {
            WordPattern::Word(glob) => glob.as_literal().is_some_and(|text| !text.starts_with('-')),
            WordPattern::Any => false,
        })
}
