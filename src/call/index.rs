//! What git's index says of the work tree: which files git tracks, and how it last saw them.
//!
//! In: the bytes of an index, versions 2 to 4 with names of objects as SHA-1. Out: for each file its path from the top,
//! its size and when it was changed, as git last saw it. No object is read: whether the last commit has it so is not
//! known. But git keeps the names of the trees that the index would be committed as, and drops that of a folder, and of
//! those around it, as soon as something there is staged. What cannot be read as an index says nothing.

use std::collections::HashMap;

/// An index.
#[derive(Debug, Default)]
pub struct Index {
    /// The files, in the order of their paths as bytes.
    pub files: Vec<Tracked>,
    /// The folders, and whether git still knows their trees; none where it knows no tree at all.
    trees: Option<HashMap<String, bool>>,
}

impl Index {
    /// Whether something directly in a folder may be staged.
    pub fn is_staged(&self, folder: &str) -> bool {
        let trees = self.trees.as_ref();
        trees.and_then(|trees| trees.get(folder)) != Some(&true)
    }

    /// Whether something in a folder may have been taken out since: one that is new lacks nothing.
    pub fn lacks(&self, folder: &str) -> bool {
        let trees = self.trees.as_ref();
        trees.is_none_or(|trees| trees.get(folder) == Some(&false))
    }
}

/// A file that git tracks, as git last saw it.
#[derive(Debug, PartialEq, Eq)]
pub struct Tracked {
    /// From the top of the work tree.
    pub path: String,
    /// Its size, the lower 32 bits.
    pub size: u32,
    /// When it was changed: seconds, and nanoseconds where git knows them.
    pub changed: (u32, u32),
    /// A file, no module, and none that is left out of the work tree.
    pub seen: bool,
}

impl Tracked {
    /// The folder it lies in, from the top.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// So many files are read.
const MOST: usize = 100_000;

/// Length of what stands before a path: ten numbers, the name of the object, the flags.
const FIXED: usize = 10 * 4 + 20 + 2;

/// Reads an index; none where it cannot be.
pub fn read(bytes: &[u8]) -> Option<Index> {
    let number = |at: usize| {
        let four = bytes.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*four))
    };
    let (version, count) = (number(4)?, usize::try_from(number(8)?).ok()?);
    if !bytes.starts_with(b"DIRC") || !(2..=4).contains(&version) || count > MOST {
        return None;
    }
    let mut all = Vec::with_capacity(count.min(bytes.len() / FIXED));
    let (mut at, mut last) = (12, Vec::new());
    for _ in 0..count {
        let flags = u16::from_be_bytes(*bytes.get(at + FIXED - 2..)?.first_chunk::<2>()?);
        let extended = flags & 0x4000 != 0;
        let mut name = at + FIXED + if extended { 2 } else { 0 };
        // Files that are not checked out.
        let skipped = extended && bytes.get(at + FIXED)? & 0x40 != 0;
        if version == 4 {
            let (dropped, end) = offset(bytes, name)?;
            last.truncate(last.len().checked_sub(dropped)?);
            name = end;
        } else {
            last.clear();
        }
        let rest = bytes.get(name..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        last.extend_from_slice(rest.get(..length)?);
        let is_file = number(at + 24)? & 0xf000 != 0xe000;
        all.push(Tracked {
            path: String::from_utf8_lossy(&last).into_owned(),
            size: number(at + 36)?,
            changed: (number(at + 8)?, number(at + 12)?),
            seen: is_file && !skipped,
        });
        at = match version {
            4 => name + length + 1,
            // One to eight zeros behind the path.
            _ => at + (name + length - at) / 8 * 8 + 8,
        };
    }
    Some(Index {
        files: all,
        trees: extensions(bytes, at)?,
    })
}

/// The trees among what follows the files; none at all where another index holds the rest of them.
fn extensions(bytes: &[u8], mut at: usize) -> Option<Option<HashMap<String, bool>>> {
    const CHECKSUM: usize = 20;
    let mut folders = None;
    let end = bytes.len().saturating_sub(CHECKSUM);
    while let Some(head) = bytes.get(at..end).and_then(|rest| rest.first_chunk::<8>()) {
        let [name @ .., _, _, _, _] = head;
        let [.., a, b, c, d] = head;
        let size = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).ok()?;
        let body = bytes.get(at + 8..at.checked_add(8)?.checked_add(size)?)?;
        match name {
            b"TREE" => folders = Some(trees(body)),
            b"link" | b"sdir" => return None,
            _ => {}
        }
        at += 8 + size;
    }
    Some(folders)
}

/// Reads trees, each before those below it: name, NUL, how many files or `-1`, how many trees below, the object.
fn trees(mut body: &[u8]) -> HashMap<String, bool> {
    let mut folders = HashMap::new();
    const OBJECT: usize = 20;
    const LONGEST: usize = 4096;
    // The folders that are open, and how many are still to come in each.
    let mut open: Vec<(String, usize)> = Vec::new();
    let mut next = || -> Option<(String, i64, usize)> {
        let nul = body.iter().position(|byte| *byte == 0)?;
        let line = body.iter().position(|byte| *byte == b'\n')?;
        let name = String::from_utf8_lossy(body.get(..nul)?).into_owned();
        let (files, below) = std::str::from_utf8(body.get(nul + 1..line)?)
            .ok()?
            .split_once(' ')?;
        let files: i64 = files.parse().ok()?;
        body = body.get(line + 1 + if files < 0 { 0 } else { OBJECT }..)?;
        Some((name, files, below.parse().ok()?))
    };
    while let Some((name, files, below)) = next() {
        while open.last().is_some_and(|(_, left)| *left == 0) {
            open.pop();
        }
        let path = match open.last_mut() {
            Some((folder, left)) => {
                *left -= 1;
                let slash = if folder.is_empty() { "" } else { "/" };
                format!("{folder}{slash}{name}")
            }
            None => name,
        };
        if path.len() > LONGEST {
            break;
        }
        folders.insert(path.clone(), files >= 0);
        open.push((path, below));
    }
    folders
}

/// A number as packs write it, and where it ends.
fn offset(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut value = 0usize;
    for nth in 0..5 {
        let byte = *bytes.get(at)?;
        value = (value + usize::from(nth > 0)) << (if nth > 0 { 7 } else { 0 })
            | usize::from(byte & 0x7f);
        at += 1;
        if byte & 0x80 == 0 {
            return Some((value, at));
        }
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An entry: its mode, its flags, what stands between them and the name, the name.
    pub fn entry(mode: u32, flags: u16, more: &[u8], name: &str) -> Vec<u8> {
        let numbers = [1u32, 2, 3, 4, 5, 6, mode, 8, 9, 10];
        let mut out: Vec<u8> = numbers
            .iter()
            .flat_map(|number| number.to_be_bytes())
            .collect();
        out.extend([7; 20]);
        out.extend(flags.to_be_bytes());
        out.extend(more);
        out.extend(name.bytes());
        out
    }

    pub fn index(version: u32, entries: &[Vec<u8>]) -> Vec<u8> {
        let mut out = b"DIRC".to_vec();
        out.extend(version.to_be_bytes());
        out.extend((entries.len() as u32).to_be_bytes());
        for entry in entries {
            out.extend(entry);
            let zeros = if version == 4 { 1 } else { 8 - entry.len() % 8 };
            out.extend(std::iter::repeat_n(0, zeros));
        }
        out
    }

    fn paths(bytes: &[u8]) -> Option<Vec<String>> {
        let all = read(bytes)?.files;
        assert!(
            all.iter()
                .all(|own| own.size == 10 && own.changed == (3, 4))
        );
        let seen = all.into_iter().filter(|own| own.seen);
        Some(seen.map(|own| own.path).collect())
    }

    #[test]
    fn a_folder_without_its_tree_has_something_staged() {
        let files = ["a", "src/b", "src/ui/c", "tests/d", "x/e"];
        let all: Vec<Vec<u8>> = files
            .iter()
            .map(|name| entry(0x81a4, 0, &[], name))
            .collect();
        let staged = |extensions: &[(&[u8; 4], &[u8])]| {
            let mut bytes = index(2, &all);
            for (name, body) in extensions {
                bytes.extend(*name);
                bytes.extend((body.len() as u32).to_be_bytes());
                bytes.extend(*body);
            }
            bytes.extend([0; 20]);
            let index = read(&bytes)?;
            let found = index
                .files
                .iter()
                .filter(|own| index.is_staged(own.folder()));
            Some(found.map(|own| own.path.clone()).collect::<Vec<_>>())
        };
        let object = [b'\n'; 20];
        let tree = |parts: &[&[u8]]| parts.concat();
        let ui = tree(&[b"ui\x001 0\n", &object]);
        let tests = tree(&[b"tests\x001 0\n", &object]);
        let body = tree(&[b"\0-1 2\n", b"src\0-1 1\n", &ui, &tests]);
        assert_eq!(staged(&[(b"TREE", &body)]).unwrap(), ["a", "src/b", "x/e"]);
        assert_eq!(
            staged(&[(b"REUC", b"x"), (b"TREE", &body)]).unwrap().len(),
            3
        );
        assert_eq!(staged(&[]).unwrap(), files);
        assert_eq!(staged(&[(b"TREE", &body[..9])]).unwrap(), files);
        assert_eq!(staged(&[(b"link", b"")]), None);
        let mut bytes = index(2, &all);
        bytes.extend(b"TREE");
        bytes.extend((body.len() as u32).to_be_bytes());
        bytes.extend(&body);
        bytes.extend([0; 20]);
        let lacks = read(&bytes).unwrap();
        let folders = ["", "src", "src/ui", "tests", "x"];
        let lacking = folders.into_iter().filter(|folder| lacks.lacks(folder));
        assert_eq!(lacking.collect::<Vec<_>>(), ["", "src"]);
    }

    #[test]
    fn every_version_is_read() {
        let files = ["a", "ab/c.rs", "ab/cd.rs-12345", "z"];
        let all: Vec<Vec<u8>> = files
            .iter()
            .map(|name| entry(0x81a4, 0, &[], name))
            .collect();
        assert_eq!(paths(&index(2, &all)).unwrap(), files);
        let short: Vec<Vec<u8>> = [(0, "a"), (0, "b/c.rs"), (3, "d.rs-12345"), (14, "z")]
            .iter()
            .map(|(drop, name)| entry(0x81a4, 0, &[*drop], name))
            .collect();
        assert_eq!(paths(&index(4, &short)).unwrap(), files);
        // A module, and a file that is not checked out.
        let others = [
            entry(0xe000, 0, &[], "module"),
            entry(0x81a4, 0x4000, &[0x40, 0], "sparse"),
            entry(0x81a4, 0x4000, &[0x20, 0], "added"),
        ];
        assert_eq!(paths(&index(3, &others)).unwrap(), ["added"]);
        for end in 0..index(4, &short).len() - 1 {
            assert_eq!(paths(&index(4, &short)[..end]), None);
        }
        assert_eq!(paths(b"DIRC\0\0\0\x05\0\0\0\0"), None);
    }
}
