//! What git tracks, whatever `.gitignore` says: a file that was added before it was named there.
//!
//! In: a view of the files and a folder. Out: the names in the index of the repository around it, from its top, and
//! what may be missing there of the last commit. An index that is not there, is larger than is looked at or is not
//! understood tracks nothing.

use crate::call::files::FileView;
use crate::call::index::Index;

/// The names of one index.
#[derive(Debug, Default)]
pub struct Tracked {
    top: String,
    index: Option<Index>,
}

impl Tracked {
    /// The index of the repository that holds the folder.
    pub fn around(view: &FileView, folder: &str) -> Self {
        let mut at = folder;
        loop {
            if let Some(index) = view.tracked(at) {
                return Self {
                    top: at.to_owned(),
                    index: Some(index),
                };
            }
            match at.rsplit_once('/') {
                Some((parent, _)) => at = parent,
                None => return Self::default(),
            }
        }
    }

    /// Whether git tracks the file at an absolute path, or one below it. `head`: or the last commit may have it.
    pub fn has(&self, path: &str, is_folder: bool, head: bool) -> bool {
        let name = path
            .strip_prefix(&self.top)
            .map(|rest| rest.trim_start_matches('/'));
        let (Some(name), Some(index)) = (name, &self.index) else {
            return false;
        };
        let start = match is_folder {
            true => format!("{name}/"),
            false => name.to_owned(),
        };
        let files = &index.files;
        let at = files.partition_point(|own| own.path.as_str() < start.as_str());
        let tracked = files.get(at).is_some_and(|own| match is_folder {
            true => own.path.starts_with(&start),
            false => own.path == start,
        });
        let folder = match is_folder {
            true => name,
            false => name.rsplit_once('/').map_or("", |(folder, _)| folder),
        };
        tracked || head && index.lacks(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::index::{self, tests};

    #[test]
    fn what_is_in_the_index_or_may_have_been() {
        let files = ["a.rs", "build.rs", "build/k/.env", "z"];
        let files: Vec<_> = files
            .iter()
            .map(|name| tests::entry(0x81a4, 0, &[], name))
            .collect();
        let mut bytes = tests::index(2, &files);
        let trees = b"\0-1 2\nbuild\x001 0\n....................gone\0-1 0\n";
        bytes.extend(b"TREE");
        bytes.extend((trees.len() as u32).to_be_bytes());
        bytes.extend(trees);
        bytes.extend([0; 20]);
        let tracked = Tracked {
            top: "/w".into(),
            index: index::read(&bytes),
        };
        for (path, folder, now, before) in [
            ("/w/a.rs", false, true, true),
            ("/w/.env", false, false, true),
            ("/w/build", true, true, true),
            ("/w/build/.env", false, false, false),
            ("/w/build/k/.env", false, true, true),
            ("/w/gone", true, false, true),
            ("/w/gone/.env", false, false, true),
            ("/w/never", true, false, false),
            ("/w/never/.env", false, false, false),
        ] {
            assert_eq!(tracked.has(path, folder, false), now, "{path}");
            assert_eq!(tracked.has(path, folder, true), before, "{path}");
        }
    }
}
