//! Whether git meets a repository that anybody may have laid out: a bare one, with its settings beside its `HEAD`.
//!
//! In: the folder and the words of a git command, what the line wrote before. Out: yes or no. Such settings
//! name programs that git runs at once (`core.fsmonitor`), and no rule for `.git/config` guards them.

use super::script::Walker;
use crate::call::access::{Kind, Mode, Opt};
use crate::call::path;
use crate::call::word::Word;
use crate::source::Span;

/// So many folders upwards are looked at.
const DEEPEST: usize = 64;

impl Walker<'_> {
    /// Whether git, started in a folder, may take it or one above for a bare repository.
    pub(super) fn meets_bare(&self, cwd: Option<&str>, options: &[Opt]) -> bool {
        let made = self.out.iter().any(|access| match &access.kind {
            Kind::Path(path) => {
                let text = path.path.text().unwrap_or_default();
                path.mode == Mode::Write && path::last(text) == "HEAD"
            }
            _ => false,
        });
        if made {
            return true;
        }
        let Some(cwd) = cwd else {
            return false;
        };
        let mut at = cwd.to_owned();
        for option in options {
            let elsewhere = option.names.iter().any(|name| name == "-C");
            if let Some(folder) = option.value.as_ref().filter(|_| elsewhere) {
                let Some(folder) = folder.text() else {
                    return false;
                };
                at = path::normal(&path::join(&at, folder));
            }
        }
        for _ in 0..DEEPEST {
            let is_folder = |name: &str| self.is_folder(&path::join(&at, name)) == Some(true);
            if is_folder(".git") {
                // Such a file in a main repository sends git elsewhere for its settings.
                let common = Word::known(path::join(&at, ".git/commondir"), Span::default());
                return (self.scene.glob)(&common, None).is_some_and(|found| !found.is_empty());
            }
            if is_folder("objects") && is_folder("refs") {
                return true;
            }
            match at.rfind('/') {
                Some(slash) if at.len() > 1 => at.truncate(slash.max(1)),
                _ => return false,
            }
        }
        false
    }
}
