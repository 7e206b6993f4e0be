//! Lines that are typed into something: a console, a multiplexer, another run of the same program.
//!
//! In: such a line. Out: what it hands to a shell, followed as a script; other words of it may be paths.

use super::Judge;
use crate::call::shell::effects::Starts;
use crate::call::word::Word;

/// Lines of a console, and words of each, that are looked at.
pub(super) const CONSOLE: usize = 64;

/// First words of a line that names a file behind them, in consoles whose own commands have no mark.
const FILES: &[&str] = &["tee", "source", "load", "save", "r", "w", "e"];

impl Judge<'_> {
    /// `!rm x`, `:!rm x`, `.shell rm x`, `\\! rm x`: lines that go to a shell. Other words may be paths.
    pub(super) fn console(&mut self, word: &Word, at: usize, naming: usize) {
        self.escalate("runs code that is given in an option", naming);
        let shown = word.shown();
        for line in shown.lines().take(CONSOLE) {
            match shelled(line) {
                Some(script) => self.script(&Word::known(script.trim(), word.span), at, false),
                None => {
                    for text in named(line) {
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

    /// What is typed into another shell, where nothing stands between two words: those that name no key are followed.
    pub(super) fn keys(&mut self, word: &Word, at: usize) {
        if word.text().is_some_and(is_key) {
            return;
        }
        self.script(word, at, true);
        let rest = self.words.get(at..).unwrap_or_default();
        let typed: Option<Vec<&str>> = rest
            .iter()
            .map(Word::text)
            .take_while(|text| text.is_none_or(|text| !is_key(text) || text == "Space"))
            .take(CONSOLE)
            .map(|text| text.map(|text| if text == "Space" { " " } else { text }))
            .collect();
        match typed.as_deref() {
            Some([] | [_]) => {}
            Some(several) => {
                let script = Word::known(several.concat(), word.span);
                self.script(&script, at, false);
            }
            None if word.text().is_some() => {
                let why = "types words that cannot be computed into another shell";
                self.starts.push((at, Starts::Opaque(why.to_owned())));
            }
            None => {}
        }
    }
}

/// Whether a word names a key of a terminal: `Enter`, `C-c`, `M-x`, `F5`.
fn is_key(text: &str) -> bool {
    const KEYS: &[&str] = &[
        "Enter", "Escape", "Tab", "BTab", "Space", "BSpace", "Up", "Down", "Left", "Right", "Home",
        "End", "PageUp", "PageDown", "PgUp", "PgDn", "PPage", "NPage", "IC", "DC", "Insert",
        "Delete",
    ];
    let mut base = text;
    while let Some(rest) = ["C-", "M-", "S-", "^"]
        .iter()
        .find_map(|it| base.strip_prefix(it))
    {
        base = rest;
    }
    let function = base
        .strip_prefix('F')
        .is_some_and(|number| number.parse::<u8>().is_ok());
    KEYS.contains(&base) || function || (base.len() < text.len() && base.chars().count() == 1)
}

/// The words of a console's line that may be paths: those that look like one, all of a command of its own (`.output x`).
pub(in crate::call::shell) fn named(line: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || "'\"(),;".contains(c);
    let line = line.trim_start();
    let first = line.split(ends).next().unwrap_or("");
    let own =
        line.starts_with(['.', '\\']) || FILES.iter().any(|name| name.eq_ignore_ascii_case(first));
    line.split(ends)
        .filter(move |text| !text.is_empty() && (own || text.contains(['.', '/'])))
        .take(CONSOLE)
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
        ["shell", "system", "pager", "\\P"]
            .iter()
            .any(is)
            .then_some(rest)
    };
    // `\set x `rm y``: in a command of psql's own a shell runs what stands between.
    let quoted = || line.trim_start().strip_prefix('\\')?.split('`').nth(1);
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
        .or_else(quoted)
        .or_else(piped)
}
