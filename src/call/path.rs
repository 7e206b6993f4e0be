//! Paths as text: absolute, normalised, without looking at any file.

use super::few::Few;
use super::word::{Piece, Word};
use smol_str::{SmolStrBuilder, format_smolstr};

/// The longest path that Linux takes, in bytes (`limits.h`).
const PATH_MAX: usize = 4096;
/// Globs and expansions in one path that are worth following.
const PIECES: usize = 256;
/// Folders within folders that are worth following: more costs more for every rule, and nobody has them.
const FOLDERS: usize = 128;

/// The last name of a path, slashes at its end aside; empty for `/`.
pub fn last(path: &str) -> &str {
    // Byte by byte: most are short, and have no slash at all.
    let bytes = path.as_bytes();
    let end = bytes
        .iter()
        .rposition(|byte| *byte != b'/')
        .map_or(0, |at| at + 1);
    let own = bytes.get(..end).unwrap_or_default();
    let start = own
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |at| at + 1);
    path.get(start..end).unwrap_or_default()
}

/// An absolute path without `.`, `..` and doubled slashes; `..` at the top stays at the top. The kernel's other names
/// for `/` (`/proc/self/root`) are `/`.
pub fn normal(path: &str) -> String {
    let mut out = plain(path);
    while let Some(rest) = beyond_root_link(&out) {
        out = match rest {
            "" => "/".to_owned(),
            rest => rest.to_owned(),
        };
    }
    out
}

/// What stands behind `/proc/self/root`, `/proc/thread-self/root` or `/proc/PID/root`.
fn beyond_root_link(path: &str) -> Option<&str> {
    let (process, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    let rest = match process {
        "self" | "thread-self" => rest,
        _ if process.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => return None,
    };
    let rest = match rest.strip_prefix("task/") {
        Some(task) => task.split_once('/')?.1,
        None => rest,
    };
    rest.strip_prefix("root")
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn plain(path: &str) -> String {
    if is_normal(path) {
        return path.to_owned();
    }
    let mut out = String::with_capacity(path.len());
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            name => {
                out.push('/');
                out.push_str(name);
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// Whether an absolute path has no `.`, `..` or doubled slash in it, and none at its end.
pub fn is_normal(path: &str) -> bool {
    path == "/"
        || path.strip_prefix('/').is_some_and(|rest| {
            rest.split('/')
                .all(|component| !matches!(component, "" | "." | ".."))
        })
}

/// A path joined to the folder it starts from, not normalised; an absolute one stands alone.
pub fn join(folder: &str, path: &str) -> String {
    match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("{}/{path}", folder.trim_end_matches('/')),
    }
}

/// A word as an absolute path: known text is joined to the folder; where the folder is not known, or the
/// start of the word is not, the start is unknown.
pub fn absolute(word: &Word, folder: Option<&str>) -> Word {
    if is_too_long(word) || folder.is_some_and(|folder| folder.matches('/').count() > FOLDERS) {
        return too_long(word);
    }
    if word.prefix().starts_with('/') || matches!(word.pieces.first(), Some(Piece::Unknown(_))) {
        return word.clone();
    }
    let mut pieces = match folder {
        Some(folder) => {
            let folder = folder.trim_end_matches('/');
            let mut text = SmolStrBuilder::new();
            for part in [folder, "/", word.prefix()] {
                text.push_str(part);
            }
            Few::One(Piece::Text(text.finish()))
        }
        None => Few::List(vec![
            Piece::Unknown("the working directory".into()),
            Piece::Text(format_smolstr!("/{}", word.prefix())),
        ]),
    };
    let text = matches!(word.pieces.first(), Some(Piece::Text(_)));
    pieces.extend(word.pieces.iter().skip(usize::from(text)).cloned());
    Word {
        pieces,
        span: word.span,
        splits: word.splits,
    }
}

/// What stands for a word that is too long for a path.
pub fn too_long(word: &Word) -> Word {
    Word::unknown("a path longer than is followed", word.span, false)
}

/// Whether no system call takes the word as a path, or nobody writes one like it. What a program makes of it is
/// anybody's guess: it may shorten it first.
pub fn is_too_long(word: &Word) -> bool {
    let text = |piece: &Piece| match piece {
        Piece::Text(text) | Piece::Class(text) => (text.len(), text.matches('/').count()),
        _ => (1, 0),
    };
    let all = word.pieces.iter().map(text);
    let (bytes, folders) = all.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    word.pieces.len() > PIECES || bytes > PATH_MAX || folders > FOLDERS
}

/// A word split at its slashes.
pub fn components(word: &Word) -> Vec<Word> {
    let mut out = Vec::new();
    let mut last = Word {
        span: word.span,
        ..Word::default()
    };
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) => {
                for (index, part) in text.split('/').enumerate() {
                    if index > 0 {
                        let next = Word {
                            span: word.span,
                            ..Word::default()
                        };
                        out.push(std::mem::replace(&mut last, next));
                    }
                    last.pieces.add(Piece::Text(part.into()));
                }
            }
            piece => last.pieces.push(piece.clone()),
        }
    }
    out.push(last);
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn normalised() {
        for (path, want) in [
            ("/", "/"),
            ("/a/b", "/a/b"),
            ("/a/./b//c/", "/a/b/c"),
            ("/a/../../b", "/b"),
            ("/..", "/"),
            ("//a", "/a"),
            ("/proc/self/root/etc/shadow", "/etc/shadow"),
            ("/proc/self/../self/root/proc/1/root/a", "/a"),
            ("/proc/self/root", "/"),
            ("/proc/self/rooted", "/proc/self/rooted"),
            ("/proc/self/cwd/a", "/proc/self/cwd/a"),
        ] {
            assert_eq!(super::normal(path), want, "{path}");
        }
    }
}
