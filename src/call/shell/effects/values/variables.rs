//! What is set: variables of the shell, of a build, keys of a configuration.
//!
//! In: `NAME=value`. Out: an escalation where what is set changes what runs, the command in it, the files it names.

use super::Judge;
use super::consoles::CONSOLE;
use super::paths::{outside, parts};
use crate::call::access::{Mode, Reach};
use crate::call::programs;
use crate::call::shell::effects::reading::cut;
use crate::call::word::Word;

impl Judge<'_> {
    /// The files that a variable names which is handed to a program.
    pub(super) fn hands(&mut self, name: &str, value: &Word, at: usize) {
        for (file, certain) in files_of(name, value) {
            for mode in [Mode::Read, Mode::Write] {
                self.path(&file, at, None, mode, Reach::Itself, certain);
            }
        }
    }

    /// Bash expands an index once more: `unset 'a[$(rm x)]'` runs `rm x`.
    pub(super) fn variable(&mut self, word: &Word, at: usize) {
        let shown = word.text().unwrap_or("");
        let index = shown.split_once('[').map_or("", |(_, index)| index);
        if index.contains("$(") || index.contains('`') {
            self.escalate("runs the command in the index of a variable", at);
        }
    }

    pub(super) fn assign(&mut self, word: &Word, at: usize) {
        self.variable(word, at);
        let prefix = word.prefix();
        let name = prefix.split_once('=').map_or(prefix, |(name, _)| name);
        let name = name.trim_end_matches('+');
        let unclear = word.text().is_none() && !prefix.contains('=');
        let value = cut(word, prefix.find('=').map_or(0, |at| at + 1));
        // A shell's own variables are handed to nobody before they are exported.
        let own = self.words.first().and_then(Word::text);
        let kept = matches!(own, Some("declare" | "typeset" | "local" | "readonly"));
        if prefix.contains('=') && !kept {
            self.hands(name, &value, at);
        }
        if unclear {
            self.escalate("sets a variable that cannot be computed", at);
        } else if prefix.contains('=') && programs::dangerous_setting(name, value.text()) {
            self.escalate(
                &format!("sets `{name}`, which changes what programs run or read"),
                at,
            );
        }
    }

    /// A variable of a build, whose value is expanded there: `make 'X!=rm y'`, `make 'X=$(shell rm y)'`.
    pub(super) fn sets(&mut self, word: &Word, at: usize) {
        let prefix = word.prefix();
        let Some((name, value)) = prefix.split_once('=') else {
            return self.assign(word, at);
        };
        let plain = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']);
        if word.text().is_none() || name.ends_with('!') || value.contains('$') {
            self.escalate(&format!("sets `{plain}` to what is expanded or run"), at);
            match name.ends_with('!') {
                true => self.script(&Word::known(value, word.span), at, false),
                false => self.shell_calls(word, at),
            }
        }
        // `make SHELL=rm`.
        if programs::command_variable(plain) && !value.is_empty() {
            self.script(&Word::known(value, word.span), at, false);
        }
        self.assign(&Word::known(format!("{plain}={value}"), word.span), at);
    }

    /// The commands of a makefile's `$(shell rm x)`.
    pub(super) fn shell_calls(&mut self, word: &Word, at: usize) {
        let shown = word.shown();
        for call in shown.split("$(shell ").skip(1).take(CONSOLE) {
            let mut open = 1;
            let end = call.find(|c| {
                open += i32::from(c == '(') - i32::from(c == ')');
                open == 0
            });
            let script = call.get(..end.unwrap_or(call.len())).unwrap_or(call);
            self.script(&Word::known(script, word.span), at, false);
        }
    }

    pub(super) fn key(&mut self, word: &Word, at: usize) {
        let text = word.text().map(str::to_ascii_lowercase);
        let key = |text: &str| text.split(['=', ' ']).next().unwrap_or("").to_owned();
        let harmless = text.as_deref().is_some_and(|text| {
            self.harmless.iter().any(|known| match known.contains('=') {
                true => programs::fits(known, text),
                false => programs::fits(known, &key(text)),
            })
        });
        // `user.name=$NAME`: the key alone decides.
        let prefix = word.prefix().to_ascii_lowercase();
        let by_key = prefix.contains('=')
            && self
                .harmless
                .iter()
                .any(|known| !known.contains('=') && programs::fits(known, &key(&prefix)));
        if !harmless && !by_key {
            self.escalate(&format!("sets `{}`", key(&word.shown())), at);
        }
        // `ssh -o 'ProxyCommand=rm x'`; what git's keys run is followed where they are known (`launch.rs`).
        let shown = word.shown();
        if let Some((_, command)) = shown.split_once(['=', ' ']).filter(|(name, _)| {
            let name = name.trim().to_ascii_lowercase();
            !name.contains('.') && self.commands.texts().any(|known| known == name)
        }) {
            self.script(&Word::known(command.trim(), word.span), at, false);
        }
        // `hg --config alias.x=!rm`.
        let value = shown.split_once('=').map_or("", |(_, value)| value);
        if let Some(command) = value.strip_prefix('!').filter(|_| self.commands.is_empty()) {
            self.script(&Word::known(command, word.span), at, false);
        }
    }

    pub(super) fn goal(&mut self, word: &Word, at: usize) {
        self.sets(word, at);
        let shown = word.shown();
        let listed = |goal: &str| {
            let mut not = self
                .harmless
                .texts()
                .filter_map(|own| own.strip_prefix('!'));
            let fits = self.harmless.texts().any(|own| programs::fits(own, goal));
            self.harmless.texts().any(|own| own == goal)
                || fits && !not.any(|own| programs::fits(own, goal))
        };
        // `tox -e py,lint`.
        let known = |goal: &str| listed(goal.rsplit(':').next().unwrap_or(""));
        let all = known(&shown) || shown.split(',').all(known);
        if !shown.contains('=') && !self.harmless.is_empty() && !all {
            self.escalate(&format!("also does `{shown}`"), at);
        }
    }
}

/// The paths in the value of a variable that a program is started with. What lies elsewhere surely is one where the
/// name says so (`LLVM_PROFILE_FILE`): `BASE_PATH=/api` is none.
pub(in crate::call::shell) fn files_of(name: &str, value: &Word) -> Vec<(Word, bool)> {
    let file = programs::file_variable(name);
    let judged = programs::dangerous_variable(name) && !file;
    if value.text().is_none_or(|text| text.contains("://")) || judged {
        return Vec::new();
    }
    let path = |part: &Word| {
        let text = part.prefix();
        file || text.contains('/') || text.starts_with('.')
    };
    let paths = parts(value).filter(path);
    paths
        .map(|part| {
            let certain = file && outside(&part);
            (part, certain)
        })
        .collect()
}
