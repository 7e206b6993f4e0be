//! What a substitution prints, where the shape of that is known: `$(pwd)`, `$(mktemp)`, `$(git merge-base a b)`.
//!
//! In: the pipeline inside. Out: one word, of which no part is anything at all. Whatever else is printed gives none.

use super::env::Env;
use super::names::{self, Stage};
use crate::call::word::{Piece, Word};
use crate::source::Span;

/// The word that a pipeline prints, where it is one command of those known here.
pub(super) fn of_stages(stages: &[Option<Stage>], env: &Env) -> Option<Word> {
    let words = names::only(stages)?;
    let texts: Vec<&str> = words.iter().map(Word::text).collect::<Option<_>>()?;
    let known = |text: &str| Some(Word::known(text, Span::default()));
    match texts.as_slice() {
        ["pwd"] => known(env.folder()?),
        ["git", "rev-parse", "--show-toplevel"] => {
            let (folder, top) = env.top.as_deref()?;
            let untouched = !env.touched("GIT_DIR") && !env.touched("GIT_WORK_TREE");
            known(top).filter(|_| untouched && env.folder() == Some(folder.as_str()))
        }
        // Anything but a revision it prints as it is.
        ["git", "rev-parse", "HEAD"] | ["git", "rev-parse", "--short" | "--verify", "HEAD"] => {
            hash()
        }
        [
            "git",
            "rev-list",
            "-n1" | "-1" | "--max-count=1" | "--max-parents=0",
            ends @ ..,
        ]
        | ["git", "rev-list", "-n", "1", ends @ ..]
        | [
            "git",
            "log",
            "-n1" | "-1",
            "--format=%H" | "--format=%h" | "--pretty=%H" | "--pretty=%h",
            ends @ ..,
        ] if ends
            .iter()
            .take_while(|end| **end != "--")
            .all(|end| !end.starts_with('-')) =>
        {
            hash()
        }
        ["git", "merge-base", ends @ ..] if ends.iter().all(|end| !end.starts_with('-')) => hash(),
        ["date", format] | ["date", "-u", format] => date(format),
        ["mktemp"] | ["mktemp", "-d"] => scratch("/tmp/tmp.XXXXXXXXXX", env),
        ["mktemp", template] | ["mktemp", "-d", template] => scratch(template, env),
        _ => None,
    }
}

/// The name of an object, or nothing where there is none.
fn hash() -> Option<Word> {
    Some(Word::of([Piece::Hash], Span::default()))
}

/// A new file. Its template stands for its name: only the letters at the end are others.
fn scratch(template: &str, env: &Env) -> Option<Word> {
    let known = template.starts_with('/') && template.ends_with("XXX") && !env.touched("TMPDIR");
    known.then(|| Word::known(template, Span::default()))
}

/// What `date` prints, where nothing but numbers and letters is asked of it: `+%F`, `+%Y-%m-%d_%H%M`.
fn date(format: &str) -> Option<Word> {
    let mut pieces = Vec::new();
    let mut letters = format.strip_prefix('+')?.chars();
    while let Some(letter) = letters.next() {
        let shape = match letter {
            '%' => match letters.next()? {
                'F' => "0-0-0",
                'T' => "0:0:0",
                'R' => "0:0",
                'Y' | 'm' | 'd' | 'H' | 'M' | 'S' | 's' | 'j' | 'y' | 'N' | 'V' | 'u' => "0",
                _ => return None,
            },
            '-' | '_' | '.' | ':' | 'T' | 'Z' => {
                pieces.push(Piece::Text(letter.to_string().into()));
                continue;
            }
            _ => return None,
        };
        let piece = |letter| match letter {
            '0' => Piece::Digits,
            other => Piece::Text(other.to_string().into()),
        };
        pieces.extend(shape.chars().map(piece));
    }
    (!pieces.is_empty()).then(|| Word::of(pieces, Span::default()))
}
