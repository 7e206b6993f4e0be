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
    names: HashSet<String>,
}

impl Tracked {
    /// The index of the repository that holds the folder.
    pub fn around(view: &FileView, folder: &str) -> Self {
        let mut at = folder;
        loop {
            if let Some(tracked) = view.tracked(at) {
                let names = tracked.into_iter().map(|own| own.path).collect();
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
        name.is_some_and(|name| self.names.contains(name))
    }
}
