//! Whether git meets a repository that anybody may have laid out: a bare one, with its settings beside its `HEAD`.
//!
//! In: the folder and the words of a git command, what the line wrote before. Out: yes or no. Such settings
//! name programs that git runs at once (`core.fsmonitor`), and no rule for `.git/config` guards them. And whether git
//! changes what says which files are left out.

use super::effects::{Effect, Outcome, What};
use super::env::Env;
use super::script::Walker;
use crate::call::access::{Kind, Mode, Opt, Reach};
use crate::call::path;
use crate::call::word::Word;
use crate::source::Span;
use smol_str::SmolStr;

/// So many folders upwards are looked at.
const DEEPEST: usize = 64;

impl Walker<'_> {
    /// Whether git may take a folder that it is started in, or one above, for a bare repository.
    pub(super) fn meets_bare(&self, env: &Env, options: &[Opt]) -> bool {
        let made = self.headed.is_some();
        // `find -execdir`, `cd` to a name that was printed: the line leads where nobody knows.
        let lost = env.folders.is_empty() && self.scene.cwd.is_some();
        let mut folders: Vec<String> = env.folders.iter().map(SmolStr::to_string).collect();
        for option in options {
            // Git's own: that of a subcommand has other names too (`git commit -C`).
            let elsewhere = option.names.iter().all(|name| name == "-C");
            if let Some(folder) = option.value.as_ref().filter(|_| elsewhere) {
                let Some(folder) = folder.text() else {
                    return true;
                };
                for at in &mut folders {
                    *at = path::normal(&path::join(at, folder));
                }
            }
        }
        made || lost || folders.into_iter().any(|at| self.is_bare(at))
    }

    /// Whether git meets such a repository from a folder upwards, before one with a `.git`.
    fn is_bare(&self, mut at: String) -> bool {
        if self.placed.unnamed.leads(&at) {
            return true;
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

    /// Whether git puts other files in the place of those in the folder, some of which say what is left out.
    pub(super) fn swaps(&self, outcome: &Outcome, at: usize, env: &Env) -> bool {
        let Some(Kind::Command(command)) = self.out.get(at).map(|access| &access.kind) else {
            return false;
        };
        let program = command.words.first().and_then(Word::text);
        if program.map(path::last) != Some("git") {
            return false;
        }
        // `git checkout src/a.rs`: a file is no branch.
        let is_file = |word: &Word| {
            let full = word.text().map(|text| Self::full(text, env));
            full.is_some_and(|full| full.iter().all(|path| self.is_file(path)))
        };
        let of_file = |span: Span| {
            let mut there = command
                .words
                .iter()
                .filter(|word| word.span == span)
                .peekable();
            there.peek().is_some() && there.all(is_file)
        };
        let around = |effect: &Effect| {
            let full = effect.value.text().map(|text| Self::full(text, env));
            let holds = |path: &String| env.folders.iter().any(|own| is_within(own, path));
            full.is_none_or(|full| full.iter().any(holds))
        };
        outcome.swaps
            || outcome.effects.iter().any(|effect| match effect.what {
                What::Path {
                    mode: Mode::Write,
                    reach: Reach::SomethingBelow | Reach::Below { .. },
                    certain: true,
                } => around(effect) && !of_file(effect.value.span),
                _ => false,
            })
    }
}

/// Whether a folder is another, or below it.
fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
