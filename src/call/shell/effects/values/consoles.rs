//! Lines that are typed into something: a console, a multiplexer, another run of the same program.
//!
//! In: such a line. Out: what it hands to a shell, followed as a script; other words of it may be paths.

use super::Judge;
use crate::call::programs;
use crate::call::shell::effects::Starts;
use crate::call::word::Word;

/// Lines of a console, and words of each, that are looked at.
pub(super) const CONSOLE: usize = 64;

impl Judge<'_> {
    /// `!rm x`, `:!rm x`, `.shell rm x`, `\\! rm x`: lines that go to a shell. Other words may be paths.
    pub(super) fn console(&mut self, word: &Word, at: usize, naming: usize) {
        self.escalate("runs code that is given in an option", naming);
        let shown = word.shown();
        for line in shown.lines().take(CONSOLE) {
            match shelled(line) {
                Some(script) => self.script(&Word::known(script.trim(), word.span), at, false),
                None => {
                    let ends = |c: char| c.is_whitespace() || "'\"(),;".contains(c);
                    let words = line.split(ends).filter(|text| text.contains(['.', '/']));
                    for text in words.take(CONSOLE) {
                        self.maybe(&Word::known(text, word.span), at);
                    }
                }
            }
        }
    }

    /// The words from here on are the same program's: one is a command line of its own, several are its words.
    pub fn own_words(&mut self, from: usize) {
        match self.words.get(from..).unwrap_or_default() {
            [only] => self.own_words_in(&only.clone(), from),
            [] => {}
            _ => {
                let program = self.words.first().cloned().unwrap_or_default();
                self.leads(&program, from, from);
            }
        }
    }

    pub(super) fn own_words_in(&mut self, word: &Word, at: usize) {
        let program = self.words.first().map(Word::shown).unwrap_or_default();
        let text = |word: &Word| {
            word.text()
                .map(|text| text.trim_matches(['{', '}', ' ']).to_owned())
        };
        let starts = match text(word) {
            Some(text) => Starts::Value {
                script: Word::known(
                    format!("{program} {}", text.replace(" ; ", " \\; ")),
                    word.span,
                ),
                at,
            },
            None => Starts::Opaque(format!("`{}` cannot be computed", word.shown())),
        };
        self.starts.push((at, starts));
    }

    /// `#(COMMAND)` in a format.
    pub(super) fn format(&mut self, word: &Word, at: usize) {
        let shown = word.shown();
        for call in shown.split("#(").skip(1).take(CONSOLE) {
            self.escalate("has a format that runs a command", at);
            let script = call.rsplit_once(')').map_or(call, |(script, _)| script);
            self.script(&Word::known(script, word.span), at, false);
        }
    }

    /// What is typed into another shell: a word that is a command line there is followed, the names of keys are not.
    pub(super) fn keys(&mut self, word: &Word, at: usize) {
        let line = |text: &str| text.contains(' ') || programs::find(text).is_some();
        if word.text().is_none_or(line) {
            self.script(word, at, true);
        }
    }
}

/// What a line of a console hands to a shell: `!rm x`, `w !rm x`, `select 1 \! rm x`, `.sh rm x`, `copy t to program 'rm x'`.
pub(in crate::call::shell) fn shelled(line: &str) -> Option<&str> {
    let bang = line.match_indices('!').find(|(at, _)| {
        let before = line.get(..*at).unwrap_or("");
        let after = line.get(at + 1..).unwrap_or("");
        // `q!`, `a != b`.
        !before.ends_with(|c: char| c.is_ascii_alphabetic()) && !after.starts_with('=')
    });
    let named = || {
        let line = line.trim_start_matches([':', ' ', '\t', '%']);
        let (word, rest) = line.split_once([' ', '\t'])?;
        // What begins with a dot may be shortened.
        let short = word.strip_prefix('.').filter(|name| name.len() > 1);
        let is = |name: &&str| *name == word || short.is_some_and(|own| name.starts_with(own));
        ["shell", "system"].iter().any(is).then_some(rest)
    };
    let program = || {
        let lower = line.to_ascii_lowercase();
        let at = lower.find("program")? + "program".len();
        let rest = line.get(at..)?.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        rest.get(1..)?.split(quote).next()
    };
    let piped = || line.split_once('|').map(|(_, after)| after);
    bang.and_then(|(at, _)| line.get(at + 1..))
        .or_else(named)
        .or_else(program)
        .or_else(piped)
}
