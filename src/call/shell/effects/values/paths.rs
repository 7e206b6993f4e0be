//! Which paths are meant: words that may be one, volumes, revisions, git's own patterns.
//!
//! In: a value. Out: the paths in it, certain or not, as seen from the folder that the program works in.

use super::Judge;
use crate::call::access::{Mode, Reach};
use crate::call::few::Few;
use crate::call::path;
use crate::call::programs::{Kind, Slot};
use crate::call::shell::effects::reading::cut;
use crate::call::shell::effects::{Effect, What, pathspecs};
use crate::call::word::{Piece, Word};

impl Judge<'_> {
    /// What may be a path, and then may be read or written.
    pub(super) fn maybe(&mut self, word: &Word, at: usize) {
        if word.pieces.is_empty() {
            return;
        }
        for path in parts(word) {
            let placed = self.placed(&path);
            for mode in [Mode::Read, Mode::Write] {
                self.path(&placed, at, None, mode, Reach::Itself, false);
            }
        }
    }

    /// A page by name, or a file: `.so` in it includes any other.
    pub(super) fn page(&mut self, word: &Word, at: usize) {
        if word.prefix().contains('/') || word.text() == Some("-") || word.is_unknown() {
            self.escalate("formats a file that may include any other", at);
        }
        let kind = match outside(word) {
            true => Kind::Read,
            false => Kind::Maybe,
        };
        self.value(Slot::of(kind), word, at, at, true);
    }

    /// `SOURCE:TARGET[:ro]`, `type=bind,source=SOURCE,…`: a folder of this machine is handed over.
    pub(super) fn volume(&mut self, word: &Word, at: usize, naming: usize) {
        let shown = word.shown();
        let read_only =
            shown.ends_with(":ro") || shown.contains(",ro") || shown.contains("readonly");
        let fields = shown.split(',').find_map(|field| {
            field
                .strip_prefix("source=")
                .or_else(|| field.strip_prefix("src="))
        });
        let source = match fields {
            Some(source) => Some(Word::known(source, word.span)),
            None if shown.contains("type=") => None,
            None if word.text().is_none() => Some(before_colon(word)),
            None => shown
                .split(':')
                .next()
                .filter(|_| shown.contains(':'))
                .map(|source| Word::known(source, word.span)),
        };
        let Some(source) = source else { return };
        if source
            .text()
            .is_some_and(|text| !text.contains('/') && !text.starts_with(['.', '~']))
        {
            return; // a named volume
        }
        self.path(
            &source,
            at,
            Some(naming),
            Mode::Read,
            Reach::Below { hidden: true },
            true,
        );
        if !read_only {
            self.path(
                &source,
                at,
                Some(naming),
                Mode::Write,
                Reach::Below { hidden: true },
                true,
            );
        }
    }

    /// A revision, `REV:path`, or a path: only protected, deny and ask rules look at it.
    pub(super) fn revision(&mut self, word: &Word, at: usize) {
        if word.pieces.is_empty() {
            return;
        }
        let prefix = word.prefix();
        // `:/path` from the top, `:0:path` of the index, `:function:path`, `REV:path`.
        let skipped = match prefix.strip_prefix(':') {
            Some(rest) if rest.starts_with('/') => 2,
            Some(rest) => rest.find(':').map_or(1, |end| end + 2),
            None => prefix.find(':').map_or(0, |end| end + 1),
        };
        let value = cut(word, skipped);
        if value.pieces.is_empty() {
            return;
        }
        // No revision is spelled like a path that leaves the folder: `git diff /a /b` compares files.
        let certain = outside(&value);
        let value = self.placed(&value);
        self.path(&value, at, None, Mode::Read, Reach::Itself, certain);
    }

    /// What `git grep` searches: a path with all below it, or a revision, which holds what the work tree does.
    pub(super) fn tracked(&mut self, word: &Word, at: usize) {
        self.revision(word, at);
        let prefix = word.prefix();
        let reach = self.reach(true, true);
        if !prefix.contains(':') {
            let path = self.placed(word);
            self.path(&path, at, None, Mode::Read, reach, false);
        }
        let names = prefix.starts_with("HEAD") || prefix.contains(['@', '~', '^']);
        if word.is_unknown() || names {
            let here = self.placed(&Word::known(".", word.span));
            self.path(&here, at, None, Mode::Read, reach, false);
        }
    }

    /// A path as git reads it: touched so, or only named.
    pub fn pathspec(
        &mut self,
        word: &Word,
        at: usize,
        naming: Option<usize>,
        mode: Option<Mode>,
        below: bool,
    ) {
        let spec = pathspecs::read(word, self.gitignore);
        // What is left is asked for by another; where there is none, it is all.
        let all = spec.excludes || spec.value.pieces.is_empty();
        if all && !below {
            return;
        }
        let value = match all {
            true => Word::known(".", word.span),
            false => spec.value,
        };
        let value = self.placed(&value);
        let reach = self.reach(below && (all || !spec.pattern), true);
        match mode {
            Some(mode) => self.path(&value, at, naming, mode, reach, true),
            None => self.effects.push((
                at,
                Effect {
                    what: What::Name { reach },
                    value,
                    naming,
                },
            )),
        }
    }

    /// A package by its folder or its name: `go list h.x/a@v1` asks `h.x`.
    pub(super) fn package(&mut self, word: &Word, at: usize, whole: bool) {
        if elsewhere(&word.shown()) || word.is_unknown() {
            self.escalate("asks where the module comes from", at);
        }
        self.value(Slot::of(Kind::NameBelow), word, at, at, whole);
    }

    /// A path of the project, or code from elsewhere.
    pub(super) fn target(&mut self, word: &Word, at: usize) {
        let shown = word.shown();
        if elsewhere(&shown) {
            return self.escalate("runs code from elsewhere", at);
        }
        match outside(word) {
            true => {
                let word = self.placed(word);
                self.path(&word, at, None, Mode::Read, Reach::Itself, true);
            }
            false => self.maybe(word, at),
        }
    }
}

/// Code that is fetched: a URL, `npm:x`, `package@version`.
fn elsewhere(text: &str) -> bool {
    text.contains("://")
        || ["npm:", "jsr:", "git+", "data:", "node:"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
        || text.find('@').is_some_and(|at| at > 0)
        || text.matches(':').count() > 1
}

/// A word that may name a path, and what in it may: `--config=path`, `key=path`, `lcov:path`.
pub(super) fn parts(word: &Word) -> impl Iterator<Item = Word> {
    let prefix = word.prefix();
    let first = prefix.find('=');
    let marks = [
        first,
        prefix.rfind('=').filter(|last| Some(*last) != first),
        prefix.find(':').filter(|_| !prefix.contains("://")),
    ];
    let after = marks
        .into_iter()
        .flatten()
        .map(|at| (at, cut(word, at + 1)));
    // `localhost:8080` ends in no path.
    let path = |at: usize, part: &Word| {
        prefix.get(at..=at) == Some("=") || part.shown().contains(['/', '.'])
    };
    let after = after.filter(move |(at, part)| !part.pieces.is_empty() && path(*at, part));
    std::iter::once(word.clone()).chain(after.map(|(_, part)| part))
}

/// Surely a path, and one that leaves the folder.
pub(in crate::call::shell::effects) fn outside(word: &Word) -> bool {
    let prefix = word.prefix();
    prefix.starts_with('/')
        || prefix.starts_with("~/")
        || prefix.starts_with("../")
        || word.text() == Some("..")
}

/// A path seen from a folder.
pub(in crate::call::shell::effects) fn join(dir: &Word, word: &Word) -> Word {
    let prefix = word.prefix();
    if prefix.starts_with('/') || prefix.starts_with('~') || dir.pieces.is_empty() {
        return word.clone();
    }
    if path::is_too_long(dir) {
        return path::too_long(word);
    }
    let slash = Piece::Text("/".into());
    let pieces = dir.pieces.iter().chain([&slash]).chain(&word.pieces);
    Word {
        splits: dir.splits || word.splits,
        ..Word::of(pieces.cloned(), word.span)
    }
}

/// The word up to its first colon.
pub(super) fn before_colon(word: &Word) -> Word {
    let mut out = Word {
        pieces: Few::default(),
        span: word.span,
        splits: word.splits,
    };
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) if text.contains(':') => {
                let start = text.split(':').next().unwrap_or("");
                if !start.is_empty() {
                    out.pieces.push(Piece::Text(start.into()));
                }
                break;
            }
            piece => out.pieces.push(piece.clone()),
        }
    }
    out
}

/// Devices and streams that hold no data of anyone's.
pub(super) fn null(path: &str) -> bool {
    matches!(
        path,
        "" | "-"
            | "/dev/null"
            | "/dev/zero"
            | "/dev/full"
            | "/dev/random"
            | "/dev/urandom"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/tty"
    ) || path
        .strip_prefix("/dev/fd/")
        .is_some_and(|fd| !fd.is_empty() && fd.bytes().all(|b| b.is_ascii_digit()))
}
