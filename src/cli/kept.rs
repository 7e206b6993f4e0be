//! Policy files as they were read, kept in the state folder: the next hook need not read them again.
//!
//! In: a text. Out: the file, with its errors. Only what has no error is kept, under the digest of the text, its name
//! and acl's own sources. What is missing, damaged or may be somebody else's is none: then the text is read.

use super::state::Folder;
use crate::call::digest_of;
use crate::finding::Finding;
use crate::policy::{File, kept};
use crate::source::Source;
use std::sync::Arc;

/// A text that is read as fast as a file is opened.
const SMALL: usize = 2 * 1024;

/// How many files are kept: those of some projects.
const MOST: usize = 32;

/// Where they are kept.
#[derive(Debug)]
pub struct Kept(Folder);

impl Kept {
    /// In a state folder.
    pub fn of(state: &Folder) -> Self {
        Self(state.below("read"))
    }

    /// Reads a file.
    pub fn read(&self, source: &Arc<Source>) -> (File, Vec<Finding>) {
        if source.text.len() < SMALL {
            return File::read(source);
        }
        let name = name(source);
        let found = self.0.read(&name).ok().flatten();
        if let Some(file) = found.and_then(|bytes| kept::decode(whole(&name, &bytes)?, source)) {
            return (file, Vec::new());
        }
        let (file, errors) = File::read(source);
        if errors.is_empty() {
            // Where nothing can be kept, it is read again.
            let _ = self.keep(&name, &file);
        }
        (file, errors)
    }

    fn keep(&self, name: &str, file: &File) -> std::io::Result<()> {
        let bytes = kept::encode(file).map_err(std::io::Error::other)?;
        self.0.made()?;
        let told = digest_of(&[name.as_bytes(), &bytes]);
        self.0.replace(name, &[told.as_bytes(), &bytes].concat())?;
        self.0.thin(MOST)
    }
}

/// The name that a text is kept under.
fn name(source: &Source) -> String {
    let (name, text) = (&source.name, &source.text);
    let head = format!("{} {:?} {} {name}", kept::READER, source.format, name.len());
    digest_of(&[head.as_bytes(), text.as_bytes()]).replace(':', "-")
}

/// What stands behind the digest of itself and its name.
fn whole<'b>(name: &str, bytes: &'b [u8]) -> Option<&'b [u8]> {
    let (told, bytes) = bytes.split_at_checked(name.len())?;
    (told == digest_of(&[name.as_bytes(), bytes]).as_bytes()).then_some(bytes)
}
