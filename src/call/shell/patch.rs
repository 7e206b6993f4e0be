//! What `apply_patch` writes: every file that its patch names.
//!
//! In: the words of a command and what it is fed. Out: a write for each file; a patch that cannot be computed or read is
//! opaque. Some agents read such a line themselves, in the place of a shell.

use super::env::Env;
use super::script::{Input, Walker};
use crate::call::access::{Cover, Mode, Reach, Touches};
use crate::call::accesses::patched;
use crate::call::path;
use crate::call::word::Word;
use crate::source::Span;

/// The files of a command's patch, if it is one that applies patches; none where they cannot be told.
pub(super) fn files(found: &[Word], input: &Input) -> Option<Option<Vec<String>>> {
    let program = found.first().and_then(Word::text)?;
    if !matches!(path::last(program), "apply_patch" | "applypatch") {
        return None;
    }
    let text = match (found, input) {
        ([_, patch], _) => patch.text(),
        (
            [_],
            Input::Text {
                text, sure: true, ..
            },
        ) => Some(text.as_str()),
        _ => None,
    };
    let files = text.and_then(patched);
    Some(files.map(|files| files.into_iter().map(str::to_owned).collect()))
}

impl Walker<'_> {
    /// The files of a patch are written by the command at this index.
    pub(super) fn patches(&mut self, files: Option<Vec<String>>, at: usize, span: Span, env: &Env) {
        let Some(files) = files else {
            return self.opaque(
                "which files the patch changes cannot be computed".to_owned(),
                span,
            );
        };
        let cover = Cover::Command { at, naming: None };
        for file in files {
            let word = Word::known(file, span);
            self.path(
                Mode::Write,
                &word,
                Reach::Itself,
                cover,
                Touches::Surely,
                env,
            );
        }
    }
}
