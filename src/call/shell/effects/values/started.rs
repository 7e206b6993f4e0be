//! What is run: a script, a module, a program that stands in a value.
//!
//! In: the value that holds it. Out: [`Starts`], to be judged in its turn.

use super::Judge;
use crate::call::shell;
use crate::call::shell::effects::Starts;
use crate::call::word::{Piece, Word};

impl Judge<'_> {
    pub(super) fn script(&mut self, word: &Word, at: usize, whole: bool) {
        // `trap - EXIT`, an empty script.
        if matches!(word.text(), Some("" | "-")) {
            return;
        }
        let starts = if whole {
            Starts::Script {
                word: at,
                args: None,
            }
        } else {
            Starts::Value {
                script: word.clone(),
                at,
            }
        };
        self.starts.push((at, starts));
    }

    /// `env -S 'rm -rf' x`: the words behind it go on where it ends, and options in it are those of `env`.
    pub(super) fn split(&mut self, word: &Word, at: usize, whole: bool) {
        let own = word.prefix().trim_start().starts_with('-');
        let rest = self.words.get(at + 1..).unwrap_or_default();
        if !own && rest.is_empty() {
            return self.script(word, at, whole);
        }
        let env = own.then(|| Piece::Text("env ".into()));
        let mut pieces: Vec<Piece> = env.into_iter().chain(word.pieces.iter().cloned()).collect();
        for word in rest {
            pieces.push(Piece::Text(" ".into()));
            match word.text() {
                Some(text) => pieces.push(Piece::Text(shell::quoted(&[text]).into())),
                None => pieces.extend(word.pieces.iter().cloned()),
            }
        }
        let script = Word::of(pieces, word.span);
        self.starts.push((at, Starts::Value { script, at }));
    }

    /// `python -m pip`: the module is a program that the table knows.
    pub(super) fn module(&mut self, word: &Word, at: usize, whole: bool) {
        if !word.text().is_some_and(starts_as_module) {
            return;
        }
        if whole {
            let starts = Starts::words(at, self.words.len());
            return self.starts.push((at, starts));
        }
        // `python -mpip install x`: the program is no word of its own.
        self.leads(word, at, at + 1);
    }

    /// A program that is started with the words from `rest` on, and stands elsewhere.
    pub fn leads(&mut self, word: &Word, at: usize, rest: usize) {
        let rest = self.words.get(rest..).unwrap_or_default();
        let words: Option<Vec<String>> = std::iter::once(word)
            .chain(rest)
            .map(|word| Some(format!("'{}'", word.text()?.replace('\'', "'\\''"))))
            .collect();
        let starts = match words {
            Some(words) => Starts::Value {
                script: Word::known(words.join(" "), word.span),
                at,
            },
            None => Starts::Opaque(format!(
                "the words of `{}` cannot be computed",
                word.shown()
            )),
        };
        self.starts.push((at, starts));
    }
}

/// A module of Python, or a tool of `cmake -E`, that is a program of the table.
pub(in crate::call::shell::effects) fn starts_as_module(name: &str) -> bool {
    matches!(
        name,
        "pip"
            | "pip3"
            | "ensurepip"
            | "uv"
            | "pipx"
            | "poetry"
            | "pytest"
            | "mypy"
            | "ruff"
            | "black"
            | "isort"
            | "flake8"
            | "pylint"
            | "rm"
            | "env"
            | "time"
    )
}
