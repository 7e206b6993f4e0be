//! What little languages do: `sed`, `awk`, the filters of `jq` and `yq`.
//!
//! In: the text of such a program. Out: the files it reads and writes, the commands it runs. One that cannot be
//! computed may do either, and says so.

use super::Judge;
use crate::call::access::{Mode, Reach};
use crate::call::shell::effects::{Starts, scripts};
use crate::call::word::{Piece, Word};

impl Judge<'_> {
    pub(super) fn sed(&mut self, word: &Word, at: usize) {
        match numbered(word) {
            Some(text) => self.touches(scripts::sed(&text), word, at),
            None => self.escalate(
                "runs a script that cannot be computed, and may write files or run commands",
                at,
            ),
        }
    }

    pub(super) fn awk(&mut self, word: &Word, at: usize) {
        match numbered(word) {
            Some(text) => self.touches(scripts::awk(&text), word, at),
            None => self.escalate(
                "runs a program that cannot be computed, and may write files or run commands",
                at,
            ),
        }
    }

    pub(super) fn touches(&mut self, touches: Vec<scripts::Touch>, word: &Word, at: usize) {
        for touch in touches {
            match touch {
                scripts::Touch::File(mode, name) => {
                    // Reading is what its program does by itself; writing must be named.
                    let naming = (mode == Mode::Write).then_some(at);
                    self.path(
                        &Word::known(name, word.span),
                        at,
                        naming,
                        mode,
                        Reach::Itself,
                        true,
                    );
                }
                scripts::Touch::Feeds(script) => {
                    // `print | "sort -rn"` is judged as what it is.
                    if !crate::call::shell::effects::only_reads(&script) {
                        self.escalate("has a script that runs a command", at);
                    }
                    self.script(&Word::known(script, word.span), at, false);
                }
                scripts::Touch::Runs(script) => {
                    self.escalate("has a script that runs a command", at);
                    if script.is_none() {
                        let why = "has a script that runs a command that cannot be computed";
                        self.starts.push((at, Starts::Opaque(why.to_owned())));
                    }
                    if let Some(script) = script {
                        self.starts.push((
                            at,
                            Starts::Value {
                                script: Word::known(script, word.span),
                                at,
                            },
                        ));
                    }
                }
                scripts::Touch::Unclear(what) => self.escalate(what, at),
            }
        }
    }

    /// Files that a filter of `jq` (`import "x" as y;`) or `yq` (`load("x")`) reads.
    pub(super) fn query(&mut self, word: &Word, at: usize) {
        if word.is_unknown() && word.prefix().trim().is_empty() {
            return self.escalate(
                "has a filter that cannot be computed, and may read files",
                at,
            );
        }
        let shown = word.shown();
        if reads_environment(&shown) {
            self.escalate("has a filter that reads the environment", at);
        }
        let start = shown.trim_start();
        if ["import", "include", "module"].iter().any(|word| {
            start
                .strip_prefix(word)
                .is_some_and(|rest| rest.trim_start().starts_with(['"', '{']))
        }) {
            self.escalate("has a filter that loads other files", at);
        }
        let mut rest = shown.as_str();
        while let Some(found) = rest.find("load") {
            rest = rest.get(found + "load".len()..).unwrap_or("");
            let name = match rest.starts_with('_') {
                true => rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'),
                false => rest,
            };
            let Some(argument) = name.trim_start().strip_prefix('(') else {
                continue;
            };
            let literal = argument
                .trim_start()
                .strip_prefix('"')
                .and_then(|text| text.split_once('"'))
                .filter(|(file, after)| {
                    !file.contains(['\\', '$']) && after.trim_start().starts_with(')')
                });
            match literal {
                Some((file, _)) => {
                    let file = self.placed(&Word::known(file, word.span));
                    self.path(&file, at, None, Mode::Read, Reach::Itself, true);
                }
                None => self.escalate("has a filter that loads a file which cannot be named", at),
            }
        }
    }
}

/// A script, some number in the place of those that cannot be computed.
pub(super) fn numbered(word: &Word) -> Option<String> {
    let texts = word.pieces.iter().map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Digits | Piece::Number => Some("1"),
        _ => None,
    });
    texts.collect()
}

/// `env.X` and `$ENV` of `jq`, `env(X)` and `strenv(X)` of `yq`; not `.env`, `"env"`, `{env: …}`.
pub(super) fn reads_environment(filter: &str) -> bool {
    filter.match_indices("env").any(|(at, _)| {
        let (before, after) = (
            filter.get(..at).unwrap_or(""),
            filter.get(at + 3..).unwrap_or(""),
        );
        let before = before.strip_suffix("str").unwrap_or(before);
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        !before.ends_with(|c| name(c) || matches!(c, '.' | '"' | '$'))
            && (!after.starts_with(|c| name(c) || c == '"') || after.starts_with("subst"))
            && !after.trim_start().starts_with(':')
    }) || filter.contains("$ENV")
}
