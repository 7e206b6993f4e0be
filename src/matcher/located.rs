//! A path as rules see it: its spellings, where they stand to the roots, and what of them is known.
//!
//! In: a path access, the roots and the home folder of the call, a view of the files. Out: a [`Located`]:
//! the lexically normalised path and the path after symbolic links, each taken apart into components.
//! A component that cannot be computed makes all of the path uncertain, for it may hold `..`.

use crate::call::access::{PathAccess, Reach};
use crate::call::files::{Entry, FileView, Folders};
use crate::call::path::{self, components};
use crate::call::word::{Piece, Word};
use smol_str::SmolStr;

/// The folders that patterns and workspace are relative to.
#[derive(Clone, Debug, Default)]
pub struct Frame<'v> {
    /// The workspace roots, absolute and normalised, and after symbolic links.
    pub roots: Vec<Folder>,
    /// The home folder, likewise.
    pub home: Option<Folder>,
    /// How the files are seen.
    pub view: Option<&'v FileView>,
    /// Folders named by patterns that are, or lie behind, a symbolic link.
    pub linked: Vec<Folder>,
    /// The folders that were looked up.
    pub folders: Folders,
}

/// A folder in its two spellings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// As written, normalised.
    pub lexical: String,
    /// After symbolic links.
    pub resolved: String,
}

impl Folder {
    /// Looks a folder up.
    pub fn of(lexical: String, view: &FileView) -> Self {
        let resolved = match view {
            FileView::None => lexical.clone(),
            view => view.resolve(&lexical).unwrap_or_else(|| lexical.clone()),
        };
        Self { lexical, resolved }
    }
}

/// One part of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A component that is known text.
    Known(SmolStr),
    /// A component that is a shell glob.
    Pattern(Word),
    /// Any number of components, not one of them `..`: what lies below, names with a leading dot or not.
    Below {
        /// Names with a leading dot as well.
        hidden: bool,
    },
    /// Any number of components, whatever they are.
    Gap,
}

/// One spelling of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Spelling {
    /// The whole text, normalised; as shown where it is not known.
    pub text: String,
    /// Its components from `/`; where more is touched, what lies below them comes last.
    parts: Vec<Part>,
    /// How many of them are its own.
    own: usize,
    /// How many components lead to each root that it is in.
    pub roots: Vec<usize>,
    /// How many components lead to the home folder, if it is in it.
    pub home: Option<usize>,
}

/// A path with all its spellings.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The lexical spelling first; then the resolved one, where it differs; then aliases through linked folders.
    pub spellings: Vec<Spelling>,
    /// How many of the spellings are the path's own: an allow needs all of these; deny and ask look at all.
    pub own: usize,
    /// Whether every component of it is known.
    pub known: bool,
    /// Whether it is surely a folder (or surely not one), where the files tell.
    pub folder: Option<bool>,
    /// Surely nothing lies below it, as the files tell: it is none, or a file.
    pub leaf: bool,
    /// The links run in a circle, or cannot be followed: it counts as outside.
    pub unresolvable: bool,
    /// What lies below is touched as well.
    pub reach: Reach,
}

impl Located {
    /// Locates the path of an access.
    pub fn of(access: &PathAccess, frame: &Frame<'_>) -> Self {
        Self::locate(&access.path, access.cwd.as_deref(), access.reach, frame)
    }

    /// Locates a word as a path.
    pub fn locate(word: &Word, cwd: Option<&str>, reach: Reach, frame: &Frame<'_>) -> Self {
        let absolute = path::absolute(word, cwd);
        let view = frame.view.unwrap_or(&FileView::None);
        if let Some(text) = absolute.text() {
            return Self::known(text, reach, frame, view);
        }
        let (parts, known) = parts(&absolute);
        let spelling = Spelling::of(absolute.shown(), parts, reach, frame, |folder| {
            &folder.lexical
        });
        Self {
            spellings: vec![spelling],
            own: 1,
            known,
            folder: None,
            leaf: false,
            unresolvable: false,
            reach,
        }
    }

    fn known(text: &str, reach: Reach, frame: &Frame<'_>, view: &FileView) -> Self {
        let lexical = path::normal(text);
        let split = |text: &str| -> Vec<Part> {
            text.split('/')
                .filter(|part| !part.is_empty())
                .map(|part| Part::Known(part.into()))
                .collect()
        };
        let parts = split(&lexical);
        let mut spellings = vec![Spelling::of(lexical, parts, reach, frame, |folder| {
            &folder.lexical
        })];
        let mut folder = None;
        let mut leaf = false;
        let mut unresolvable = false;
        if view.sees() {
            match frame.folders.look(view, text) {
                Some((resolved, entry)) => {
                    leaf = matches!(entry, None | Some(Entry::File));
                    folder = entry.map(|entry| entry == Entry::Folder);
                    let own =
                        Spelling::of(resolved.clone(), split(&resolved), reach, frame, |folder| {
                            &folder.resolved
                        });
                    if spellings.first() != Some(&own) {
                        spellings.push(own);
                    }
                }
                None => unresolvable = true,
            }
        }
        let own = spellings.len();
        // A pattern that names a linked folder is met by the path behind the link too.
        for linked in &frame.linked {
            let aliases: Vec<String> = spellings
                .iter()
                .take(own)
                .filter_map(|spelling| {
                    let rest = spelling.text.strip_prefix(&linked.resolved)?;
                    (rest.is_empty() || rest.starts_with('/'))
                        .then(|| format!("{}{rest}", linked.lexical))
                })
                .collect();
            for alias in aliases {
                if !spellings.iter().any(|spelling| spelling.text == alias) {
                    let parts = split(&alias);
                    spellings.push(Spelling::of(alias, parts, reach, frame, |folder| {
                        &folder.lexical
                    }));
                }
            }
        }
        Self {
            spellings,
            own,
            known: true,
            folder,
            leaf,
            unresolvable,
            reach,
        }
    }

    /// The path as a person would see it.
    pub fn shown(&self) -> &str {
        self.spellings
            .first()
            .map_or("", |spelling| spelling.text.as_str())
    }

    /// The path where its files are to be looked for: the resolved spelling.
    pub fn real(&self) -> &str {
        self.spellings
            .get(self.own.saturating_sub(1))
            .map_or("", |spelling| spelling.text.as_str())
    }

    /// Whether it surely lies inside a root, by each of its own spellings; none where that cannot be told.
    pub fn inside(&self) -> Option<bool> {
        if self.unresolvable {
            return Some(false);
        }
        let mut all = Some(true);
        for spelling in self.spellings.iter().take(self.own) {
            if spelling.roots.is_empty() {
                match spelling.parts().contains(&Part::Gap) {
                    true => all = all.and(None),
                    false => return Some(false),
                }
            }
        }
        all
    }
}

impl Spelling {
    /// Its components.
    pub fn parts(&self) -> &[Part] {
        self.parts.get(..self.own).unwrap_or_default()
    }

    /// Its components and what is touched below them.
    pub fn with_below(&self) -> &[Part] {
        &self.parts
    }

    fn of(
        text: String,
        mut parts: Vec<Part>,
        reach: Reach,
        frame: &Frame<'_>,
        spelled: impl Fn(&Folder) -> &String,
    ) -> Self {
        let below = |folder: &Folder| {
            let mut count = 0;
            for component in spelled(folder)
                .split('/')
                .filter(|component| !component.is_empty())
            {
                match parts.get(count) {
                    Some(Part::Known(part)) if part == component => count += 1,
                    _ => return None,
                }
            }
            Some(count)
        };
        let roots = frame.roots.iter().filter_map(below).collect();
        let home = frame.home.as_ref().and_then(below);
        let own = parts.len();
        if reach != Reach::Itself {
            let hidden = reach != Reach::Below { hidden: false };
            parts.push(Part::Below { hidden });
        }
        Self {
            text,
            parts,
            own,
            roots,
            home,
        }
    }
}

/// The components of an absolute word that is not known text; and whether each is known or a shell glob.
fn parts(word: &Word) -> (Vec<Part>, bool) {
    let gap_first =
        !matches!(word.pieces.first(), Some(Piece::Text(text)) if text.starts_with('/'));
    if word.is_unknown() || gap_first {
        return (trailing(word), false);
    }
    let mut out: Vec<Part> = Vec::new();
    for component in components(word) {
        match component.text() {
            Some("" | ".") => {}
            Some("..") => {
                out.pop();
            }
            Some(text) => out.push(Part::Known(text.into())),
            // `.*` may be `..`: where it leads is open.
            None if matches!(component.prefix(), "." | "..") => {
                return (vec![Part::Gap], false);
            }
            None if component
                .pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Below(_))) =>
            {
                out.push(Part::Below { hidden: true });
                // `<find>.rs`: how the last name ends is known.
                let at = |piece: &Piece| matches!(piece, Piece::Below(_));
                let last = component.pieces.iter().rposition(at).unwrap_or_default();
                let end = component.pieces.get(last..).unwrap_or_default();
                if end.len() > 1 {
                    let end = Word::of(end.iter().cloned(), component.span);
                    out.push(Part::Pattern(end));
                }
            }
            None => out.push(Part::Pattern(component)),
        }
    }
    (out, false)
}

/// What is sure of a path with an unknown part: the components after it.
fn trailing(word: &Word) -> Vec<Part> {
    let last = word
        .pieces
        .iter()
        .rposition(|piece| matches!(piece, Piece::Unknown(_)))
        .map_or(0, |at| at + 1);
    let rest = Word::of(word.pieces.iter().skip(last).cloned(), word.span);
    let mut parts = vec![Part::Gap];
    for component in components(&rest).into_iter().skip(1) {
        match component.text() {
            Some("" | ".") => {}
            Some("..") => parts.truncate(1),
            Some(text) => parts.push(Part::Known(text.into())),
            None => parts.push(Part::Pattern(component)),
        }
    }
    parts
}
