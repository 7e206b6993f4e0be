//! The file system as a decision may see it.
//!
//! In: an absolute path. Out: what stands there, and where symbolic links lead. [`FileView::None`] knows nothing:
//! then the lexical path is the real one. [`FileView::Fixture`] is a file system written down in a test or a call.

use super::glob::Glob;
use super::index::{self, Index};
use super::path;
use super::word::{Piece, Word};
use serde::Deserialize;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

/// How a decision sees the file system.
#[derive(Clone, Debug, Default)]
pub enum FileView {
    /// Not at all.
    #[default]
    None,
    /// The real one.
    Real,
    /// One that is written down.
    Fixture(Fixture),
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file, or something that is no folder.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
}

/// A file system written down: absolute path → what it is. A name that ends in `/` is a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, Written>")]
pub struct Fixture {
    entries: BTreeMap<String, Written>,
}

impl TryFrom<BTreeMap<String, Written>> for Fixture {
    type Error = String;

    fn try_from(entries: BTreeMap<String, Written>) -> Result<Self, String> {
        match entries.keys().find(|name| !name.starts_with('/')) {
            Some(name) => Err(format!(
                "`{name}` in `files` is no absolute path: write it from `/` on"
            )),
            None => Ok(Self { entries }),
        }
    }
}

/// What a path is: a file, with its text where that counts (`.gitignore`), a folder, or a link to another path.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    symlink: Option<String>,
    #[serde(default)]
    text: Option<String>,
    /// Git tracks it, and it is not as git last saw it.
    #[serde(default)]
    changed: bool,
    /// Git tracks it, and it may be staged.
    #[serde(default)]
    staged: bool,
}

/// Files of a work tree, absolute, of which the last commit may know nothing.
#[derive(Clone, Debug, Default)]
pub struct Unsaved {
    /// They are not as git last saw them, or gone.
    pub changed: Vec<String>,
    /// They may be staged.
    pub staged: Vec<String>,
}

/// How many links may follow one another, as on Linux.
const MOST_LINKS: usize = 40;

/// How many names one glob may stand for.
const MOST_NAMES: usize = 1000;

/// How many names the globs of one call may be compared with.
pub const MOST_LISTED: usize = 50_000;

impl FileView {
    /// Whether anything is seen at all.
    pub const fn sees(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// What stands at an absolute path, the last link not followed.
    pub fn entry(&self, path: &str) -> Option<Entry> {
        match self {
            Self::None => None,
            Self::Real => {
                let kind = std::fs::symlink_metadata(path).ok()?.file_type();
                Some(match () {
                    () if kind.is_symlink() => Entry::Link,
                    () if kind.is_dir() => Entry::Folder,
                    () => Entry::File,
                })
            }
            Self::Fixture(fixture) => fixture.entry(path),
        }
    }

    /// Whether a path is a folder, links followed; none where nothing is seen of it.
    pub fn is_folder(&self, path: &str) -> Option<bool> {
        match self {
            Self::Real => Some(std::fs::metadata(path).ok()?.is_dir()),
            _ => Some(self.entry(&self.resolve(path)?)? == Entry::Folder),
        }
    }

    /// The text of a small file; none where it cannot be seen or is none.
    pub fn text(&self, path: &str) -> Option<String> {
        const LARGEST: u64 = 256 * 1024;
        match self {
            Self::Real => {
                let kind = std::fs::symlink_metadata(path).ok()?;
                (kind.is_file() && kind.len() <= LARGEST)
                    .then(|| std::fs::read_to_string(path).ok())?
            }
            Self::Fixture(fixture) => fixture.entries.get(path)?.text.clone(),
            Self::None => None,
        }
    }

    /// What git tracks of the work tree at a folder; none where no index lies there, an empty one where it is too large
    /// or not understood.
    pub fn tracked(&self, top: &str) -> Option<Index> {
        Some(self.index(top)?.unwrap_or_default())
    }

    /// The same; none within where it is too large or not understood.
    fn index(&self, top: &str) -> Option<Option<Index>> {
        const LARGEST: u64 = 64 * 1024 * 1024;
        let git = path::join(top, ".git");
        // A second work tree has its index elsewhere.
        let elsewhere = self.text(&git);
        let led = elsewhere
            .as_deref()
            .and_then(|it| it.strip_prefix("gitdir: "));
        let git = led.map_or(git, |led| path::join(top, led.trim_end()));
        let file = path::join(&git, "index");
        let bytes = match self {
            Self::Real => {
                let kind = std::fs::metadata(&file).ok()?;
                match kind.is_file() && kind.len() <= LARGEST {
                    true => std::fs::read(&file).ok(),
                    false => None,
                }
            }
            _ => Some(self.text(&file)?.into_bytes()),
        };
        Some(bytes.and_then(|bytes| index::read(&bytes)))
    }

    /// The files of a work tree that git tracks and that the last commit may not have so; none where an index is there
    /// that cannot be read.
    pub fn unsaved(&self, top: &str) -> Option<Unsaved> {
        let full = |name: &str| path::join(top, name);
        match self {
            Self::None => Some(Unsaved::default()),
            Self::Real => {
                let mut unsaved = Unsaved::default();
                let index = match self.index(top) {
                    Some(index) => index?,
                    None => return Some(unsaved),
                };
                for own in index.files.iter().filter(|own| own.seen) {
                    let path = full(&own.path);
                    if !is_as_seen(&path, own) {
                        unsaved.changed.push(path);
                    } else if index.is_staged(own.folder()) {
                        unsaved.staged.push(path);
                    }
                }
                Some(unsaved)
            }
            Self::Fixture(fixture) => {
                let below =
                    |path: &str| path.strip_prefix(top).is_some_and(|it| it.starts_with('/'));
                if self.index(top).is_some_and(|index| index.is_none()) {
                    return None;
                }
                let of = |is: fn(&Written) -> bool| {
                    let own = fixture.entries.iter();
                    let own = own.filter(|(path, own)| is(own) && below(path));
                    own.map(|(path, _)| path.clone()).collect()
                };
                Some(Unsaved {
                    changed: of(|own| own.changed),
                    staged: of(|own| own.staged),
                })
            }
        }
    }

    /// The names in a folder with what they are, sorted; none where it cannot be read.
    pub fn list(&self, folder: &str) -> Option<Vec<(String, Entry)>> {
        match self {
            Self::None => None,
            Self::Real => {
                let mut names: Vec<(String, Entry)> = std::fs::read_dir(folder)
                    .ok()?
                    .filter_map(|entry| {
                        let entry = entry.ok()?;
                        let kind = entry.file_type().ok()?;
                        let kind = match () {
                            () if kind.is_symlink() => Entry::Link,
                            () if kind.is_dir() => Entry::Folder,
                            () => Entry::File,
                        };
                        Some((entry.file_name().to_string_lossy().into_owned(), kind))
                    })
                    .collect();
                names.sort();
                Some(names)
            }
            Self::Fixture(fixture) => fixture.list(folder),
        }
    }

    /// An absolute path after all symbolic links, as the kernel follows them (`link/..` is the target's parent).
    /// What does not exist is kept as it is. None: the links run in a circle, or the path cannot be followed.
    pub fn resolve(&self, path: &str) -> Option<String> {
        match self {
            Self::None => Some(path::normal(path)),
            Self::Real => {
                let resolved = soft_canonicalize::soft_canonicalize(path).ok()?;
                Some(resolved.to_string_lossy().into_owned())
            }
            Self::Fixture(fixture) => fixture.resolve(path),
        }
    }
}

/// Where folders lie after symbolic links, each looked up once in a decision: of many paths most are in the same few.
#[derive(Clone, Debug, Default)]
pub struct Folders(RefCell<HashMap<String, Option<String>>>);

impl Folders {
    /// An absolute path after all symbolic links, and what stands there; none where [`FileView::resolve`] says so.
    pub fn look(&self, view: &FileView, path: &str) -> Option<(String, Option<Entry>)> {
        if let Some(found) = self.in_folder(view, path) {
            return Some(found);
        }
        let resolved = view.resolve(path)?;
        let entry = view.entry(&resolved);
        Some((resolved, entry))
    }

    /// The same of a name in a folder, where the name is no link: none where there is more to it.
    fn in_folder(&self, view: &FileView, path: &str) -> Option<(String, Option<Entry>)> {
        // Elsewhere a file may be found by another spelling of its name.
        if !matches!(view, FileView::Real) || !cfg!(target_os = "linux") || !path::is_normal(path) {
            return None;
        }
        let (folder, name) = path.rsplit_once('/').filter(|(own, _)| !own.is_empty())?;
        let mut known = self.0.borrow_mut();
        let real = match known.get(folder) {
            Some(real) => real.as_deref(),
            None => {
                let real = view.resolve(folder);
                known.entry(folder.to_owned()).or_insert(real).as_deref()
            }
        };
        // A name that is no text is not the folder's, and links of the kernel's own lead where no text says.
        let real = real.filter(|real| !real.starts_with("/proc") && !real.contains('\u{fffd}'))?;
        let there = path::join(real, name);
        match std::fs::symlink_metadata(&there) {
            Ok(seen) if seen.is_symlink() => None,
            Ok(seen) if seen.is_dir() => Some((there, Some(Entry::Folder))),
            Ok(_) => Some((there, Some(Entry::File))),
            Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Some((there, None)),
            Err(_) => None,
        }
    }
}

impl FileView {
    /// The names that a shell glob stands for, spelled as the shell would; none where nothing is seen, too much
    /// would be, or a part of the word cannot be computed. No match at all is an empty list. `left`: how many names
    /// may still be compared.
    pub fn expand(
        &self,
        word: &Word,
        folder: Option<&str>,
        left: &Cell<usize>,
    ) -> Option<Vec<String>> {
        if !self.sees()
            || word.pieces.iter().any(|piece| {
                matches!(
                    piece,
                    Piece::Unknown(_)
                        | Piece::Below(_)
                        | Piece::Digits
                        | Piece::Number
                        | Piece::Hash
                )
            })
        {
            return None;
        }
        let absolute = word.prefix().starts_with('/');
        // What is typed so far, and the folder it leads to.
        let mut found: Vec<String> = vec![if absolute { "/".into() } else { String::new() }];
        for component in path::components(word)
            .into_iter()
            .filter(|component| !component.pieces.is_empty())
        {
            let mut next = Vec::new();
            for typed in &found {
                if let Some(text) = component.text() {
                    next.push(format!("{typed}{text}/"));
                    continue;
                }
                let at = match absolute {
                    true => typed.clone(),
                    false => path::join(folder?, typed),
                };
                // What is spent is spent: the next glob may be anything.
                if left.get() == 0 {
                    return None;
                }
                let Some(names) = self.list(&self.resolve(&at)?) else {
                    continue;
                };
                left.set(left.get().saturating_sub(names.len()));
                let hidden = component.prefix().starts_with('.');
                let globs = Glob::of_shell(&component);
                let fitting = names.into_iter().filter(|(name, _)| {
                    (hidden || !name.starts_with('.')) && globs.matches_text(name, false)
                });
                next.extend(fitting.map(|(name, _)| format!("{typed}{name}/")));
                if next.len() > MOST_NAMES {
                    return None;
                }
            }
            found = next;
        }
        // `*/` stands for folders only.
        let slash = word
            .pieces
            .last()
            .is_some_and(|piece| matches!(piece, Piece::Text(text) if text.ends_with('/')));
        let there = |typed: &String| {
            let at = if absolute {
                typed.clone()
            } else {
                path::join(folder.unwrap_or("/"), typed)
            };
            let at = path::normal(&at);
            match slash {
                true => self.is_folder(&at) == Some(true),
                false => self.entry(&at).is_some(),
            }
        };
        Some(
            found
                .into_iter()
                .map(|typed| typed.trim_end_matches('/').to_owned())
                .filter(there)
                .collect(),
        )
    }
}

/// Whether a file has the size and the time at which git last saw it.
fn is_as_seen(path: &str, own: &index::Tracked) -> bool {
    let Ok(seen) = std::fs::symlink_metadata(path) else {
        return false;
    };
    let since = seen.modified().ok();
    let time = since.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let same = |time: std::time::Duration| {
        let (seconds, nanos) = own.changed;
        time.as_secs() as u32 == seconds && (nanos == 0 || time.subsec_nanos() == nanos)
    };
    seen.len() as u32 == own.size && time.is_some_and(same)
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (*self as u8).cmp(&(*other as u8))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Fixture {
    fn entry(&self, path: &str) -> Option<Entry> {
        if path == "/" {
            return Some(Entry::Folder);
        }
        if let Some(written) = self.entries.get(path) {
            return Some(if written.symlink.is_some() {
                Entry::Link
            } else {
                Entry::File
            });
        }
        let below = format!("{path}/");
        let first = self.entries.range(below.clone()..).next();
        first
            .filter(|(name, _)| name.starts_with(&below))
            .map(|_| Entry::Folder)
    }

    fn list(&self, folder: &str) -> Option<Vec<(String, Entry)>> {
        if self.entry(folder)? != Entry::Folder {
            return None;
        }
        let below = if folder == "/" {
            "/".to_owned()
        } else {
            format!("{folder}/")
        };
        let mut names: Vec<(String, Entry)> = Vec::new();
        for (path, _) in self.entries.range(below.clone()..) {
            let Some(rest) = path.strip_prefix(&below) else {
                break;
            };
            let name = rest.split('/').next().unwrap_or_default();
            if name.is_empty() || names.last().is_some_and(|(last, _)| last == name) {
                continue;
            }
            if let Some(entry) = self.entry(&format!("{below}{name}")) {
                names.push((name.to_owned(), entry));
            }
        }
        names.sort();
        names.dedup();
        Some(names)
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let mut todo: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut at = String::new();
        let mut links = 0;
        while let Some(component) = todo.pop() {
            match component.as_str() {
                "" | "." => {}
                ".." => at.truncate(at.rfind('/').unwrap_or(0)),
                name => {
                    let next = format!("{at}/{name}");
                    match self
                        .entries
                        .get(&next)
                        .and_then(|written| written.symlink.as_deref())
                    {
                        Some(target) => {
                            links += 1;
                            if links > MOST_LINKS {
                                return None;
                            }
                            if target.starts_with('/') {
                                at.clear();
                            }
                            todo.extend(target.split('/').rev().map(str::to_owned));
                        }
                        None => at = next,
                    }
                }
            }
        }
        Some(if at.is_empty() { "/".into() } else { at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_looked_up_once_says_the_same() {
        let folders = Folders::default();
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
        let none = concat!(env!("CARGO_MANIFEST_DIR"), "/none/of/it");
        let inside = format!("{own}/below");
        for path in [
            own,
            none,
            &inside,
            "/",
            "/tmp",
            "/tmp/",
            "//tmp",
            "/bin",
            "/bin/sh",
            "/bin/none",
            "/dev/stdin",
            "/dev/fd/none",
            "/proc/self/exe",
            "/proc/self/root/etc",
            "/proc/self/cwd/src",
            "/etc/../bin/sh",
            "/a\0b",
        ] {
            let view = FileView::Real;
            let want = view.resolve(path).map(|it| (view.entry(&it), it));
            for _ in 0..2 {
                let found = folders.look(&view, path).map(|(it, entry)| (entry, it));
                assert_eq!(found, want, "{path}");
            }
        }
    }

    #[test]
    fn fixture_follows_links_as_the_kernel_does() {
        let fixture: Fixture = serde_json::from_str(
            r#"{"/w/a.txt": {}, "/w/sub/": {}, "/w/link": {"symlink": "/etc"}, "/w/rel": {"symlink": "sub/../a.txt"},
                "/w/x": {"symlink": "y"}, "/w/y": {"symlink": "x"}, "/etc/passwd": {}}"#,
        )
        .unwrap();
        let view = FileView::Fixture(fixture);
        assert_eq!(
            view.resolve("/w/link/passwd").as_deref(),
            Some("/etc/passwd")
        );
        assert_eq!(view.resolve("/w/link/../x.txt").as_deref(), Some("/x.txt"));
        assert_eq!(view.resolve("/w/rel").as_deref(), Some("/w/a.txt"));
        assert_eq!(view.resolve("/w/x"), None);
        assert_eq!(view.resolve("/w/new/file").as_deref(), Some("/w/new/file"));
        assert_eq!(view.is_folder("/w/link"), Some(true));
        assert_eq!(view.is_folder("/w/sub"), Some(true));
        assert_eq!(view.is_folder("/w/none"), None);
        let names: Vec<String> = view
            .list("/w")
            .unwrap()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["a.txt", "link", "rel", "sub", "x", "y"]);
        let word =
            |pieces: &[Piece]| Word::of(pieces.iter().cloned(), crate::source::Span::default());
        let text = |text: &str| Piece::Text(text.into());
        for (pieces, want) in [
            (vec![Piece::Star, text(".txt")], Some(vec!["a.txt"])),
            (vec![text("/w/"), Piece::One], Some(vec!["/w/x", "/w/y"])),
            (vec![text("s"), Piece::Star], Some(vec!["sub"])),
            (vec![text("no"), Piece::Star], Some(vec![])),
            (vec![Piece::Unknown("$X".into()), Piece::Star], None),
        ] {
            let want: Option<Vec<String>> =
                want.map(|names| names.into_iter().map(str::to_owned).collect());
            let left = Cell::new(MOST_LISTED);
            assert_eq!(view.expand(&word(&pieces), Some("/w"), &left), want);
        }
    }
}
