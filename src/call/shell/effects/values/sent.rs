//! What is sent: texts, fields of a form, files behind `@`.
//!
//! In: the value of an option that sends. Out: an escalation, and the file that is read for it.

use super::Judge;
use crate::call::access::{Mode, Reach};
use crate::call::shell::effects::reading::cut;
use crate::call::word::Word;

impl Judge<'_> {
    /// `text` or `@file`: sent.
    pub(super) fn data(&mut self, word: &Word, at: usize, naming: usize) {
        self.escalate("sends data", naming);
        let prefix = word.prefix();
        if let Some(mark) = prefix.find('@').filter(|mark| {
            *mark == 0
                || !prefix
                    .get(..*mark)
                    .unwrap_or("")
                    .contains(['=', '&', '{', ' '])
        }) {
            let file = self.placed(&cut(word, mark + 1));
            self.path(
                &file,
                at,
                Some(naming),
                Mode::Read,
                Reach::Itself,
                mark == 0,
            );
        } else if word.text().is_none() && prefix.is_empty() {
            self.maybe(word, at);
        }
    }

    /// `name=@file`, `name=<file`, `name=value`: sent.
    pub(super) fn form(&mut self, word: &Word, at: usize, naming: usize) {
        self.escalate("sends data", naming);
        let prefix = word.prefix();
        let Some((name, value)) = prefix.split_once('=') else {
            return;
        };
        if value.starts_with(['@', '<']) {
            let rest = cut(word, name.len() + 2);
            // `@file;type=text/plain`, `@a,b`.
            let files = match rest.text() {
                Some(text) => text
                    .split(';')
                    .next()
                    .unwrap_or("")
                    .split(',')
                    .map(|file| Word::known(file, word.span))
                    .collect(),
                None => vec![rest],
            };
            for file in files {
                let file = self.placed(&file);
                self.path(&file, at, Some(naming), Mode::Read, Reach::Itself, true);
            }
        }
    }

    /// `name=value`, `name=@file`, `name:=@file`, `name@file`; a URL is none.
    pub(super) fn item(&mut self, word: &Word, at: usize, naming: usize) {
        let prefix = word.prefix();
        if prefix.contains("://") {
            return self.host(word, at, None);
        }
        if prefix.contains(['=', '@']) || word.is_unknown() {
            self.escalate("sends data", naming);
        }
        if let Some(mark) = prefix.find('@') {
            let file = self.placed(&cut(word, mark + 1));
            self.path(&file, at, Some(naming), Mode::Read, Reach::Itself, true);
        }
    }
}
