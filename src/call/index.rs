//! What git's index says of the work tree: which files git tracks, and how it last saw them.
//!
//! In: the bytes of an index, versions 2 to 4 with names of objects as SHA-1. Out: for each file its path from the top,
//! its size and when it was changed, as git last saw it. No object is read: whether the last commit has it so is not
//! known. What cannot be read as an index says nothing.

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

/// So many files are read.
const MOST: usize = 100_000;

/// Length of what stands before a path: ten numbers, the name of the object, the flags.
const FIXED: usize = 10 * 4 + 20 + 2;

/// The files of an index; none where it cannot be read.
pub fn read(bytes: &[u8]) -> Option<Vec<Tracked>> {
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
    Some(all)
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
mod tests {
    use super::*;

    /// An entry: its mode, its flags, what stands between them and the name, the name.
    fn entry(mode: u32, flags: u16, more: &[u8], name: &str) -> Vec<u8> {
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

    fn index(version: u32, entries: &[Vec<u8>]) -> Vec<u8> {
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
        let all = read(bytes)?;
        assert!(
            all.iter()
                .all(|own| own.size == 10 && own.changed == (3, 4))
        );
        let seen = all.into_iter().filter(|own| own.seen);
        Some(seen.map(|own| own.path).collect())
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
