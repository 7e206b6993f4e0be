//! Whether git meets a repository that anybody may have laid out: a bare one, with its settings beside its `HEAD`.
//!
//! In: the folder and the words of a git command, what the line wrote before. Out: yes or no. Such settings
//! name programs that git runs at once (`core.fsmonitor`), and no rule for `.git/config` guards them. And whether git
//! changes what says which files are left out.

use super::effects::{Effect, Outcome, What};
use super::env::Env;
use super::script::Walker;
use crate::call::access::{Cover, Kind, Mode, Opt, PathAccess, Reach, Touches};
use crate::call::path;
use crate::call::word::{Links, Piece, Word};
use crate::source::Span;
use smol_str::SmolStr;

/// So many files are told apart that git puts back.
const MOST_CHANGED: usize = 1000;
/// How long the name of a folder may be, in bytes.
const LONGEST: usize = 4096;

/// So many folders upwards are looked at.
const DEEPEST: usize = 64;

impl Walker<'_> {
    /// Whether git may take a folder that it is started in, or one above, for a bare repository.
    pub(super) fn meets_bare(&self, env: &Env, options: &[Opt]) -> bool {
        let made = self.headed.is_some();
        // `find -execdir`, `cd` to a name that was printed: the line leads where nobody knows.
        let lost = env.folders.is_empty() && self.scene.cwd.is_some();
        let folders = git_folders(env, options);
        made || lost || folders.is_none_or(|all| all.into_iter().any(|at| self.is_bare(at)))
    }

    /// Whether git meets such a repository from a folder upwards, before one with a whole `.git`. One beside that counts
    /// too: it takes its place as soon as a file of it is gone.
    fn is_bare(&self, mut at: String) -> bool {
        if self.placed.unnamed.leads(&at) {
            return true;
        }
        for _ in 0..DEEPEST {
            let is_folder = |name: &str| self.is_folder(&path::join(&at, name)) == Some(true);
            let is_there = |name: &str| self.is_there(&path::join(&at, name));
            let own = is_folder(".git");
            if is_folder("objects") && is_folder("refs") && (!own || is_there("HEAD")) {
                return true;
            }
            // Such a file in a main repository sends git elsewhere for its settings.
            if own && is_there(".git/commondir") {
                return true;
            }
            let whole =
                || is_there(".git/HEAD") && is_folder(".git/objects") && is_folder(".git/refs");
            if own && whole() {
                return false;
            }
            match at.rfind('/') {
                Some(slash) if at.len() > 1 => at.truncate(slash.max(1)),
                _ => return false,
            }
        }
        false
    }

    /// Whether writing a path may complete a repository that lies there in part.
    pub(super) fn completes(&self, access: &PathAccess) -> bool {
        let text = access.path.text().unwrap_or_default().trim_end_matches('/');
        let folder = || path::join(access.cwd.as_deref().unwrap_or("/"), text);
        let beside = |full: String| {
            full.rsplit_once('/')
                .is_some_and(|(at, _)| self.is_headed(at))
        };
        matches!(path::last(text), "objects" | "refs") && beside(path::normal(&folder()))
    }

    /// Whether a folder has a file as a repository has one.
    pub(super) fn is_headed(&self, folder: &str) -> bool {
        self.is_there(&path::join(folder, "HEAD"))
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

    /// Remembers that git has put other files in the place of those that were seen, and says which it surely does.
    pub(super) fn swap(&mut self, outcome: &Outcome, at: usize, env: &Env) {
        let options = match self.out.get(at).map(|access| &access.kind) {
            Some(Kind::Command(command)) => command.options.as_slice(),
            _ => &[],
        };
        let top = self.scene.top.as_deref();
        let inside = |own: &String| top.is_none_or(|top| is_within(own, top));
        let folders = git_folders(env, options);
        self.placed.swapped_elsewhere |= folders.as_ref().is_none_or(|all| !all.iter().all(inside));
        for folder in folders.into_iter().flatten().filter(|_| outcome.restores) {
            if self.placed.restored.insert(folder.clone()) {
                self.restore(&folder, at, env);
            }
        }
        self.placed.swapped = true;
    }

    /// What was changed in a repository since git last looked is put back.
    fn restore(&mut self, folder: &str, at: usize, env: &Env) {
        let span = self.out.get(at).and_then(|access| access.span);
        let word = |path: String| Word::known(path, span.unwrap_or_default());
        let known = (self.scene.unsaved)(folder)
            .filter(|own| own.changed.len() + own.staged.len() <= MOST_CHANGED);
        let cover = Cover::Command { at, naming: None };
        let staged = self.placed.staged.clone();
        let mut writes = |path: &Word, reach: Reach| {
            self.path(Mode::Write, path, reach, cover, Touches::Surely, env);
        };
        match known {
            Some(known) => {
                for path in known.changed.iter().cloned().map(word) {
                    writes(&path, Reach::Itself);
                }
                for path in known.staged.iter().cloned().map(word) {
                    writes(&perhaps(&path), Reach::Itself);
                }
            }
            None => writes(&word(folder.to_owned()), Reach::SomethingBelow),
        }
        for (path, reach) in staged {
            writes(&perhaps(&path), reach);
        }
    }

    /// Git reads what was changed since it last looked: all of that, or what lies below the paths that it is given.
    pub(super) fn unsaved(&mut self, outcome: &Outcome, at: usize, env: &Env) {
        let Some(Kind::Command(command)) = self.out.get(at).map(|access| &access.kind) else {
            return;
        };
        let span = self.out.get(at).and_then(|access| access.span);
        let Some(folders) = git_folders(env, &command.options) else {
            return;
        };
        // Of two trees git reads neither from a file.
        let (mut paths, mut trees, mut unsure) = (Vec::new(), 0, false);
        for effect in &outcome.effects {
            let What::Path {
                mode: Mode::Read,
                certain,
                ..
            } = effect.what
            else {
                continue;
            };
            let Some(text) = effect.value.text() else {
                unsure = true;
                continue;
            };
            let full = Self::full(text, env);
            match certain || full.iter().any(|path| self.is_there(path)) {
                true => paths.extend(full),
                false => trees += 1 + text.matches("..").count(),
            }
        }
        if trees > 1 && !unsure {
            return;
        }
        let cover = Cover::Command { at, naming: None };
        for folder in folders {
            let Some(known) = (self.scene.unsaved)(&folder) else {
                continue;
            };
            let all = unsure || paths.is_empty();
            let own = known.changed.iter();
            let own = own.filter(|own| all || paths.iter().any(|path| is_within(own, path)));
            let own: Vec<String> = own.take(MOST_CHANGED + 1).cloned().collect();
            let (paths, reach) = match own.len() > MOST_CHANGED {
                true => (vec![folder], Reach::SomethingBelow),
                false => (own, Reach::Itself),
            };
            for path in paths {
                let word = Word::known(path, span.unwrap_or_default());
                self.path(Mode::Read, &word, reach, cover, Touches::Surely, env);
            }
        }
    }

    /// Remembers what git has put into the index: it is gone where the last commit is put back that has none of it.
    pub(super) fn stage(&mut self, outcome: &Outcome, env: &Env) {
        for effect in &outcome.effects {
            let What::Path { reach, .. } = effect.what else {
                continue;
            };
            for folder in &*env.folders {
                let start = match effect.value.pieces.first() {
                    Some(Piece::Text(text)) if text.starts_with('/') => None,
                    Some(Piece::Unknown(_)) => None,
                    _ => Some(Piece::Text(format!("{folder}/").into())),
                };
                let pieces = start.into_iter().chain(effect.value.pieces.iter().cloned());
                let path = Word::of(pieces, effect.value.span);
                let file = path.text().is_some_and(|path| self.is_file(path));
                let reach = if file { Reach::Itself } else { reach };
                match self.placed.staged.len() < MOST_CHANGED {
                    true => self.placed.staged.push((path, reach)),
                    false => return,
                }
            }
        }
    }

    /// What is touched where nothing was seen, after git put other files there: it may be a link to anything.
    pub(super) fn through_swapped(&self, access: &PathAccess) -> Option<PathAccess> {
        if !self.placed.swapped || access.touches != Touches::Surely || access.path.is_unknown() {
            return None;
        }
        let folder = access.cwd.as_deref().unwrap_or("/");
        let start = path::normal(&path::join(folder, access.path.prefix()));
        let top = self.scene.top.as_deref();
        if !self.placed.swapped_elsewhere && !top.is_none_or(|top| is_within(&start, top)) {
            return None;
        }
        let seen = |path: &str| {
            let word = Word::known(path, access.path.span);
            (self.scene.glob)(&word, None).is_none_or(|found| !found.is_empty())
        };
        let known = match (access.path.text(), access.path.listed()) {
            (Some(_), _) => {
                let owner = match access.cover {
                    Cover::Command { at, .. } => self.out.get(at),
                    Cover::Tool => None,
                };
                let follows = owner.is_some_and(
                    |owner| matches!(&owner.kind, Kind::Command(command) if command.follows),
                );
                seen(&start) && !follows
            }
            (None, Some(listed)) => listed.links == Links::None,
            // Without a view of the files no name is looked up.
            (None, None) => (self.scene.folder)("/").is_none(),
        };
        (!known).then(|| PathAccess {
            path: Word::unknown(access.path.shown(), access.path.span, false),
            reach: match access.mode {
                Mode::Read => access.reach,
                Mode::Write => Reach::Itself,
            },
            ..access.clone()
        })
    }
}

/// The folders that git works in: its own `-C` leads elsewhere. None where one cannot be computed, or has a longer name
/// than a call to the system can hold.
fn git_folders(env: &Env, options: &[Opt]) -> Option<Vec<String>> {
    let mut folders: Vec<String> = env.folders.iter().map(SmolStr::to_string).collect();
    for option in options {
        // That of a subcommand has other names too (`git commit -C`).
        let elsewhere = option.names.iter().all(|name| name == "-C");
        if let Some(folder) = option.value.as_ref().filter(|_| elsewhere) {
            let folder = folder.text()?;
            for at in &mut folders {
                *at = path::normal(&path::join(at, folder));
            }
            if folders.iter().any(|at| at.len() > LONGEST) {
                return None;
            }
        }
    }
    Some(folders)
}

/// Whether writing a path may make or break a repository.
pub(super) fn breaks(path: &PathAccess) -> bool {
    let text = path.path.text().unwrap_or_default();
    let folder = path.cwd.as_deref().unwrap_or("/");
    let near = text.contains(".git") || folder.contains(".git");
    path::last(text) == "HEAD" || near && is_vital(&path::normal(&path::join(folder, text)))
}

/// Whether a repository is none, or another, without what stands at a path.
fn is_vital(path: &str) -> bool {
    const VITAL: &[&str] = &[
        "HEAD",
        "objects",
        "refs",
        "config",
        "config.worktree",
        "commondir",
    ];
    let mut names = path.split('/');
    let inside = names.any(|name| name == ".git");
    inside && names.next().is_none_or(|name| VITAL.contains(&name))
}

/// A path that may be touched or not: a glob that stands for it alone.
fn perhaps(path: &Word) -> Word {
    let glob = |text: &str| {
        let at = text.rfind(|c: char| c.is_ascii_alphanumeric())?;
        let (start, rest) = text.split_at_checked(at)?;
        let (letter, end) = rest.split_at_checked(1)?;
        let letter = Piece::Class(format!("[{letter}]").into());
        let text = |text: &str| Piece::Text(text.into());
        Some(Word::of([text(start), letter, text(end)], path.span))
    };
    let known = path.text().and_then(glob);
    known.unwrap_or_else(|| path.clone())
}

/// Whether a folder is another, or below it.
fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
