//! Git's pathspecs: a path with magic before it (`:(top)a`, `:/a`, `:!a`), and wildcards of git's own.
//!
//! In: a word. Out: the path that it stands for, as seen from the folder or from [`TOP`]. Quoted or not, git expands
//! `*`, `?` and `[…]` itself, and they reach dot files and cross slashes: such a path is some name below the folder
//! before the first of them. Magic that widens what fits, or that is not known, leaves nothing of the path but that.

use super::cut;
use crate::call::few::Few;
use crate::call::word::{Listed, Piece, Word};

/// What stands for the top of the repository at the start of a path, where it may be another folder than the shell's.
pub const TOP: &str = "<the top of the repository>";

/// What git itself reads into a path.
const SPECIAL: [char; 4] = ['*', '?', '[', '\\'];

/// A pathspec, read.
pub struct Pathspec {
    /// The path; the empty word where it is all of the folder.
    pub value: Word,
    /// It is a pattern: whole names fit it, or do not.
    pub pattern: bool,
    /// It leaves out what it names, and stands for all else where no other is given.
    pub excludes: bool,
}

/// Whether git surely takes the word for a pathspec, and for no revision: it has wildcards, or magic in words.
pub fn is_sure(word: &Word) -> bool {
    let prefix = word.prefix();
    let wild = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(SPECIAL));
    // `HEAD^{/fix.*}` finds a commit by its message.
    let before = prefix.split(SPECIAL).next().unwrap_or_default();
    let searches = before.contains("^{") || before.contains("@{");
    prefix.starts_with(":(") || word.pieces.iter().any(wild) && !searches
}

/// Reads a pathspec; `gitignore`: the command leaves out what git ignores.
pub fn read(word: &Word, gitignore: bool) -> Pathspec {
    let magic = Magic::of(word.prefix());
    let rest = cut(word, magic.length);
    let (mut value, pattern) = match () {
        () if magic.wide => (some(Few::default(), "", gitignore), true),
        () if magic.literal => (rest, false),
        () => expanded(rest, magic.length > 0, gitignore),
    };
    if magic.top {
        let top = [Piece::Unknown(TOP.into()), Piece::Text("/".into())];
        value = Word::of(top.into_iter().chain(value.pieces), word.span);
    }
    value.span = word.span;
    Pathspec {
        value,
        pattern,
        excludes: magic.excludes,
    }
}

/// What stands before a path.
#[derive(Default)]
struct Magic {
    /// Its bytes.
    length: usize,
    top: bool,
    excludes: bool,
    literal: bool,
    /// More than the path's own letters fit, or nobody knows what does.
    wide: bool,
}

impl Magic {
    fn of(prefix: &str) -> Self {
        let mut magic = Self::default();
        let Some(rest) = prefix.strip_prefix(':') else {
            return magic;
        };
        if let Some(inside) = rest.strip_prefix('(') {
            let (names, length) = match inside.split_once(')') {
                Some((names, _)) => (names, names.len() + 3),
                None => ("?", prefix.len()),
            };
            magic.length = length;
            for name in names.split(',') {
                match name.trim() {
                    "top" => magic.top = true,
                    "exclude" => magic.excludes = true,
                    "literal" => magic.literal = true,
                    "" | "glob" => {}
                    name if name.starts_with("attr:") => {}
                    _ => magic.wide = true,
                }
            }
            return magic;
        }
        magic.length = 1;
        for letter in rest.chars() {
            match letter {
                '/' => magic.top = true,
                '!' | '^' => magic.excludes = true,
                ':' => {
                    magic.length += 1;
                    break;
                }
                _ => break,
            }
            magic.length += 1;
        }
        magic
    }
}

/// The path with its wildcards taken for what they are; `whole`: those that the shell may have left are git's too.
fn expanded(value: Word, whole: bool, gitignore: bool) -> (Word, bool) {
    let own = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(SPECIAL));
    let left = |piece: &Piece| matches!(piece, Piece::Star | Piece::One | Piece::Class(_));
    let any = value
        .pieces
        .iter()
        .any(|piece| own(piece) || whole && left(piece));
    if !any {
        return (value, false);
    }
    let shown = value.shown();
    let before = shown.find(SPECIAL).and_then(|at| shown.get(..at));
    let start = Piece::Text(before.unwrap_or_default().into());
    let mut pieces = Few::default();
    pieces.add(start);
    let plain = |piece: &Piece| matches!(piece, Piece::Text(_)) || left(piece);
    if !value.pieces.iter().all(plain) {
        pieces.push(Piece::Unknown(shown.into()));
        return (Word { pieces, ..value }, true);
    }
    let end = shown.rsplit(['*', '?', '[', ']', '\\', '/']).next();
    (some(pieces, end.unwrap_or_default(), gitignore), true)
}

/// Some name below a folder, of which the start and the end are known.
fn some(mut pieces: Few<Piece>, end: &str, gitignore: bool) -> Word {
    pieces.push(Piece::Below(Listed {
        by: "git",
        gitignore,
        // What heeds that file may write one anew (`git checkout`); `git rm` and `git mv` touch what is there.
        gone: gitignore,
        ..Listed::default()
    }));
    pieces.add(Piece::Text(end.into()));
    Word {
        pieces,
        ..Word::default()
    }
}
