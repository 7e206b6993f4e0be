//! What git tracks, whatever `.gitignore` says: a file that was added before it was named there.
//!
//! In: a view of the files and a folder. Out: the names in the index of the repository around it, from its top. An
//! index that is not there, is larger than is looked at or is not understood tracks nothing.

use crate::call::files::FileView;
use std::collections::HashSet;

/// The names of one index.
#[derive(Debug, Default)]
pub struct Tracked {
    top: String,
    names: HashSet<Vec<u8>>,
}

impl Tracked {
    /// The index of the repository that holds the folder.
    pub fn around(view: &FileView, folder: &str) -> Self {
        let mut at = folder;
        loop {
            if let Some(index) = view.bytes(&format!("{at}/.git/index")) {
                let names = names(&index).unwrap_or_default();
                let top = at.to_owned();
                return Self { top, names };
            }
            match at.rsplit_once('/') {
                Some((parent, _)) => at = parent,
                None => return Self::default(),
            }
        }
    }

    /// Whether git tracks the file at an absolute path.
    pub fn has(&self, path: &str) -> bool {
        let name = path
            .strip_prefix(&self.top)
            .map(|rest| rest.trim_start_matches('/'));
        name.is_some_and(|name| self.names.contains(name.as_bytes()))
    }
}

/// The names in an index of version 2, 3 or 4, see gitformat-index(5).
fn names(index: &[u8]) -> Option<HashSet<Vec<u8>>> {
    // What stands before a name: times, numbers, the object's name of 20 bytes, flags.
    const FIXED: usize = 62;
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let version = number(4)?;
    if !index.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let (mut names, mut at) = (HashSet::new(), 12);
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..number(8)? {
        let extended = index.get(at + FIXED - 2)? & 0x40 != 0;
        let mut start = at + FIXED + if extended { 2 } else { 0 };
        if version == 4 {
            // So many bytes of the name before go.
            let (mut gone, mut byte) = (0, *index.get(start)?);
            loop {
                start += 1;
                gone = (gone << 7) + usize::from(byte & 0x7f);
                if byte & 0x80 == 0 {
                    break;
                }
                gone += 1;
                byte = *index.get(start)?;
                if gone > index.len() {
                    return None;
                }
            }
            name.truncate(name.len().checked_sub(gone)?);
        } else {
            name.clear();
        }
        let length = index.get(start..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(index.get(start..start + length)?);
        names.insert(name.clone());
        let end = start + length;
        at = match version {
            4 => end + 1,
            // Padded with NULs to a multiple of eight bytes, one at least.
            _ => at + (end - at + 8) / 8 * 8,
        };
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index with these names, each with the bytes of its name that the one before it shares.
    fn index(version: u8, all: &[(&str, u8)]) -> Vec<u8> {
        let mut out = b"DIRC\0\0\0".to_vec();
        out.extend([version, 0, 0, 0, all.len() as u8]);
        let mut before = 0;
        for (name, shared) in all {
            let start = out.len();
            out.extend([0; 62]);
            if version == 4 {
                out.push(before - shared);
            }
            let skipped = if version == 4 { *shared } else { 0 };
            out.extend(name.bytes().skip(usize::from(skipped)));
            out.push(0);
            while version != 4 && !(out.len() - start).is_multiple_of(8) {
                out.push(0);
            }
            before = name.len() as u8;
        }
        out
    }

    #[test]
    fn names_of_an_index_are_read() {
        let all = [(".env", 0), (".envrc", 4), ("src/a.rs", 0), ("src/b.rs", 4)];
        for version in [2, 3, 4] {
            let found = names(&index(version, &all)).unwrap();
            let wanted = all.iter().map(|(name, _)| name.as_bytes().to_vec());
            assert_eq!(found, wanted.collect(), "{version}");
        }
        let whole = index(2, &all);
        for end in 0..whole.len() - 8 {
            assert_eq!(names(whole.get(..end).unwrap()), None, "{end}");
        }
    }
}
