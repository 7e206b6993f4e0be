//! Paths as text: absolute, normalised, without looking at any file.

use super::word::{Piece, Word};

/// An absolute path without `.`, `..` and doubled slashes; `..` at the top stays at the top.
pub fn normal(path: &str) -> String {
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

fn is_normal(path: &str) -> bool {
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
    if word.prefix().starts_with('/') || matches!(word.pieces.first(), Some(Piece::Unknown(_))) {
        return word.clone();
    }
    let mut pieces = match folder {
        Some(folder) => vec![Piece::Text(format!("{}/", folder.trim_end_matches('/')))],
        None => vec![
            Piece::Unknown("the working directory".into()),
            Piece::Text("/".into()),
        ],
    };
    for piece in &word.pieces {
        match (pieces.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(text),
            _ => pieces.push(piece.clone()),
        }
    }
    Word {
        pieces,
        span: word.span,
        splits: word.splits,
    }
}

/// A word split at its slashes.
pub fn components(word: &Word) -> Vec<Word> {
    let mut out: Vec<Vec<Piece>> = vec![Vec::new()];
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) => {
                for (index, part) in text.split('/').enumerate() {
                    if index > 0 {
                        out.push(Vec::new());
                    }
                    if let Some(last) = out.last_mut() {
                        last.push(Piece::Text(part.to_owned()));
                    }
                }
            }
            piece => {
                if let Some(last) = out.last_mut() {
                    last.push(piece.clone());
                }
            }
        }
    }
    out.into_iter()
        .map(|pieces| Word::of(pieces, word.span))
        .collect()
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
        ] {
            assert_eq!(super::normal(path), want, "{path}");
        }
    }
}
