//! `diff a b` of two folders compares the files that both hold, and that of a file and a folder the one of its name there.
//!
//! In: what a command reads, as far as a view of the files tells folders apart. Out: those files, read too.

use std::collections::BTreeMap;

use super::effects::{Outcome, What};
use super::env::Env;
use super::script::Walker;
use crate::call::access::{Cover, Mode, Reach, Touches};
use crate::call::path;
use crate::call::word::{Piece, Word};

impl Walker<'_> {
    pub(super) fn compared(&mut self, outcome: &Outcome, at: usize, env: &Env) {
        let itself = |what: &What| {
            matches!(
                what,
                What::Path {
                    mode: Mode::Read,
                    reach: Reach::Itself,
                    certain: true
                }
            )
        };
        let read = outcome.effects.iter().filter(|effect| itself(&effect.what));
        let texts: Vec<(&Word, &str)> = read
            .filter_map(|effect| Some((&effect.value, effect.value.text()?)))
            .collect();
        let cover = Cover::Command { at, naming: None };
        let (mut folders, mut count) = (Vec::new(), BTreeMap::<String, usize>::new());
        for (word, text) in &texts {
            match self.held(text, env) {
                Held::File => *count.entry(path::last(text).to_owned()).or_default() += 1,
                Held::Unseen => folders.push((*word, *text, None)),
                Held::Names(names) => {
                    for name in &names {
                        *count.entry(name.clone()).or_default() += 1;
                    }
                    folders.push((*word, *text, Some(names)));
                }
            }
        }
        if texts.len() < 2 {
            return;
        }
        for (word, text, names) in folders {
            let Some(names) = names else {
                let reach = Reach::Below { hidden: true };
                self.path(Mode::Read, word, reach, cover, Touches::Surely, env);
                continue;
            };
            for name in names
                .iter()
                .filter(|name| outcome.lacking || count.get(*name) > Some(&1))
            {
                let file = Word::known(path::join(text, name), word.span);
                self.path(
                    Mode::Read,
                    &file,
                    Reach::Itself,
                    cover,
                    Touches::Surely,
                    env,
                );
            }
        }
    }

    /// What stands at a path: a file, or a folder with these names.
    fn held(&self, text: &str, env: &Env) -> Held {
        let seen = env.folder().map(|start| path::join(start, text));
        let seen = seen.filter(|_| !text.is_empty());
        let is_folder = seen.as_deref().and_then(|path| (self.scene.folder)(path));
        let likely = matches!(path::last(text), "" | "." | "..");
        match is_folder {
            Some(false) => return Held::File,
            None if !likely => return Held::File,
            None => return Held::Unseen,
            Some(true) => {}
        }
        let mut names = Vec::new();
        for start in ["", "."] {
            let start = Piece::Text(path::join(text, start).into());
            let word = Word::of([start, Piece::Star], crate::source::Span::default());
            let Some(found) = (self.scene.glob)(&word, env.folder()) else {
                return Held::Unseen;
            };
            names.extend(found.iter().map(|name| path::last(name).to_owned()));
        }
        Held::Names(names)
    }
}

enum Held {
    File,
    /// A folder, as far as its name tells, with anything in it.
    Unseen,
    Names(Vec<String>),
}
