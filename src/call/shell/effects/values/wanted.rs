//! The files that a search asks for by a glob: `rg -g .env` reads what it leaves out else.
//!
//! In: the globs and the folders that are searched. Out: the files, named or by the end of their names.

use super::Judge;
use crate::call::access::{Mode, Reach};
use crate::call::shell::effects::{Effect, What};
use crate::call::word::{Links, Listed, Piece, Word};

impl Judge<'_> {
    /// The files that globs ask for below the folders that are searched: `rg -g .env x` reads what it leaves out else.
    pub fn wants(&mut self) {
        // Folders and globs that are told apart.
        const MOST: usize = 64;
        let searched = |(_, effect): &(usize, Effect)| match effect.what {
            What::Path {
                mode: Mode::Read,
                reach: Reach::Below { .. },
                certain: true,
            } => Some(effect.value.clone()),
            _ => None,
        };
        let folders: Vec<Word> = self.effects.iter().filter_map(searched).collect();
        let wanted = std::mem::take(&mut self.wanted);
        if wanted.len() * folders.len() > MOST {
            self.escalate("asks for files in too many ways to be followed", 0);
        }
        for (at, glob) in wanted.iter().take(MOST) {
            let text = glob.shown();
            if glob.is_unknown() {
                self.escalate("asks for files by a glob that cannot be computed", *at);
            }
            if text.starts_with('!') {
                continue;
            }
            // With a slash in it, it starts at the folder that the shell is in.
            let (folder, name) = text.rsplit_once('/').unwrap_or(("", text.as_str()));
            let plain = |part: &&str| !part.contains(['*', '?', '[', '{', '\\', '.']);
            let start: Vec<&str> = folder.split('/').take_while(plain).collect();
            let start = start.join("/");
            let here = Word::known(format!("./{}", start.trim_matches('/')), glob.span);
            let folders = match folder.is_empty() || start.is_empty() {
                true => folders.get(..folders.len().min(MOST)).unwrap_or_default(),
                false => std::slice::from_ref(&here),
            };
            for folder in folders {
                for files in asked_for(folder, name) {
                    self.path(&files, *at, None, Mode::Read, Reach::Itself, true);
                }
            }
        }
    }
}

/// How the names end that a glob fits, as far as it is text: `*.rs`, `*.{ts,tsx}`.
pub(super) fn ends(glob: &str) -> Vec<String> {
    let any = || vec![String::new()];
    let (start, alternatives) = match glob.strip_suffix('}').and_then(|it| it.rsplit_once('{')) {
        Some((start, inside)) => (start, inside.split(',').collect()),
        None => (glob, vec![""]),
    };
    let open = ['*', '?', '[', ']', '{', '}', '\\'];
    let end = start.rsplit(open).next().unwrap_or("");
    let odd = start.contains(['{', '\\']) || alternatives.iter().any(|it| it.contains(open));
    match odd || alternatives.len() > 16 {
        true => any(),
        false => alternatives.iter().map(|it| format!("{end}{it}")).collect(),
    }
}

/// The files below a folder that a search reads for a glob without a slash: one name, or all that end so.
pub fn asked_for(folder: &Word, glob: &str) -> Vec<Word> {
    let own = || folder.pieces.iter().cloned();
    let slash = || Piece::Text("/".into());
    let wild = |text: &str| text.contains(['*', '?', '[', ']', '{', '}', '\\']);
    let below = |all: bool| {
        Piece::Below(Listed {
            by: "rg",
            links: Links::None,
            all,
            ..Listed::default()
        })
    };
    if !wild(glob) && !glob.is_empty() {
        let name = Piece::Text(format!("/{glob}").into());
        let here = Word::of(own().chain([name.clone()]), folder.span);
        return vec![
            here,
            Word::of(own().chain([slash(), below(false), name]), folder.span),
        ];
    }
    // Nothing but `*` before the end: each of these names is read.
    let all = glob.starts_with('*')
        && !wild(
            glob.trim_start_matches('*')
                .split('{')
                .next()
                .unwrap_or_default(),
        );
    let named = |end: String| {
        Word::of(
            own().chain([slash(), below(all), Piece::Text(end.into())]),
            folder.span,
        )
    };
    ends(glob).into_iter().map(named).collect()
}
