//! What a substitution prints, where the shape of that is known: `$(pwd)`, `$(mktemp)`, `$(git merge-base a b)`.
//!
//! In: the pipeline inside. Out: one word, of which no part is anything at all. Whatever else is printed gives none.

use super::env::Env;
use super::names::{self, Stage};
use crate::call::word::{Listed, Piece, Pieces, Word};
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
        ["git", "branch", "--show-current"] | ["git", "rev-parse", "--abbrev-ref", "HEAD"] => {
            reference(env)
        }
        ["git", "describe", options @ ..]
            if options
                .iter()
                .all(|own| matches!(*own, "--tags" | "--abbrev=0" | "--always" | "HEAD")) =>
        {
            reference(env)
        }
        ["dirname", path] if is_plain(path, env) => known(folder_of(path)),
        ["basename", path] if is_plain(path, env) => known(name_of(path)),
        ["basename", path, end] if is_plain(path, env) => {
            let name = name_of(path);
            known(
                name.strip_suffix(end)
                    .filter(|rest| !rest.is_empty())
                    .unwrap_or(name),
            )
        }
        ["mktemp"] | ["mktemp", "-d"] => scratch("/tmp/tmp.XXXXXXXXXX", env),
        ["mktemp", template] | ["mktemp", "-d", template] => scratch(template, env),
        ["date", options @ .., format] if are_of_date(options) && env.changed.is_empty() => {
            date(format.strip_prefix('+')?)
        }
        _ => None,
    }
}

/// `-u`, `-d yesterday`: which time it prints, not how.
fn are_of_date(options: &[&str]) -> bool {
    match options {
        [] => true,
        ["-u", rest @ ..] | ["-d", _, rest @ ..] => are_of_date(rest),
        [first, rest @ ..] => first.starts_with("--date=") && are_of_date(rest),
    }
}

/// `%F`, `%Y%m%d-%H%M`: digits, and signs of which none parts words.
fn date(format: &str) -> Option<Word> {
    let mut pieces = Pieces::default();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter.is_ascii_alphanumeric() || "-_.:".contains(letter) {
            pieces.text(letter.encode_utf8(&mut [0; 4]));
            continue;
        }
        let (numbers, between) = match letters.next().filter(|_| letter == '%')? {
            'F' => (3, "-"),
            'T' => (3, ":"),
            'R' => (2, ":"),
            own if "sNYmdHMSjyuwV".contains(own) => (1, ""),
            _ => return None,
        };
        for number in 0..numbers {
            if number > 0 {
                pieces.text(between);
            }
            pieces.push(Piece::Digits);
        }
    }
    Some(Word::of(pieces.finish(), Span::default()))
}

/// The name of an object, or nothing where there is none.
fn hash() -> Option<Word> {
    Some(Word::of([Piece::Hash], Span::default()))
}

/// Who prints the name of a branch or a tag.
pub(super) const REFERENCE: &str = "git branch";

/// The name of a branch or a tag, or nothing where there is none: no part of it is `..`, no letter of it parts words.
fn reference(env: &Env) -> Option<Word> {
    let names = Listed {
        by: REFERENCE,
        gone: true,
        ..Listed::default()
    };
    let word = Word::of([Piece::Below(names)], Span::default());
    env.changed.is_empty().then_some(word)
}

/// Whether a path is cut as it stands.
fn is_plain(path: &str, env: &Env) -> bool {
    env.changed.is_empty() && !path.is_empty() && !path.starts_with('-') && !path.contains('\n')
}

/// The folder of a path, as `dirname` says it.
fn folder_of(path: &str) -> &str {
    let bare = path.trim_end_matches('/');
    match bare.rfind('/') {
        _ if bare.is_empty() => "/",
        None => ".",
        Some(slash) => match bare.get(..slash).unwrap_or_default().trim_end_matches('/') {
            "" => "/",
            folder => folder,
        },
    }
}

/// The last part of a path, as `basename` says it.
fn name_of(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit('/').next() {
        None | Some("") => "/",
        Some(name) => name,
    }
}

/// A new file. Its template stands for its name: only the letters at the end are others.
fn scratch(template: &str, env: &Env) -> Option<Word> {
    let known = template.starts_with('/') && template.ends_with("XXX") && !env.touched("TMPDIR");
    known.then(|| Word::known(template, Span::default()))
}
