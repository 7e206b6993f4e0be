//! The files that `acl init` changes: read whole, replaced whole, and remembered, so that it can take itself back.
//!
//! What a file was is kept in the user's state folder, with the digest of what it became: one that nobody has touched since
//! becomes what it was, to the byte.

use super::super::state::Folder;
use super::super::{Stop, policies};
use crate::call::digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file that becomes another; none: it is not there.
#[derive(Debug)]
pub struct Change {
    /// The file itself, behind links to it.
    pub path: PathBuf,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A file as it stands, and where it is behind links to it.
pub fn look(path: &Path) -> Result<(PathBuf, Option<String>), Stop> {
    let unreadable = |why| Stop::told(policies::unreadable(path, &why));
    match fs::symlink_metadata(path) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok((real(path), None)),
        Err(why) => return Err(unreadable(why)),
        Ok(_) => {}
    }
    // One that leads nowhere is for the user to mend.
    let real = fs::canonicalize(path).map_err(unreadable)?;
    let found = fs::metadata(&real).map_err(unreadable)?;
    let no = |what: &str| Stop::told(format!("`{}` {what}", path.display()));
    if !found.is_file() {
        return Err(no("is no file"));
    }
    let bytes = policies::bounded(&real).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| no("is no text in UTF-8"))?;
    Ok((real, Some(text)))
}

/// Where a file that is not there would be, behind links in its path.
fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|folder| {
        let real = fs::canonicalize(folder).ok()?;
        Some(real.join(path.strip_prefix(folder).ok()?))
    });
    there.unwrap_or_else(|| path.to_path_buf())
}

/// What acl made of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The digest of what it became.
    after: String,
    /// The file of the state folder that holds what it was; none: it was not there.
    backup: Option<String>,
    /// The folders that were made for it.
    made: Vec<PathBuf>,
}

impl Record {
    /// Whether the file is as acl left it.
    pub fn is_untouched(&self, text: &str) -> bool {
        self.after == digest(text.as_bytes())
    }

    /// It was not there.
    pub const fn was_new(&self) -> bool {
        self.backup.is_none()
    }

    /// What it was.
    pub fn before(&self, state: &Folder) -> Result<Option<String>, Stop> {
        let Some(name) = &self.backup else {
            return Ok(None);
        };
        let bytes = state.read(name).map_err(Stop::told)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        match text {
            Some(text) => Ok(Some(text)),
            None => Err(Stop::told(format!(
                "`{}`, which holds what was there before, is gone",
                state.file(name).display()
            ))),
        }
    }
}

/// Path → what acl made of it.
type Records = BTreeMap<PathBuf, Record>;

const FILE: &str = "init.json";

/// What acl made of files.
pub fn records(state: &Folder) -> Result<Records, Stop> {
    parse(state.read(FILE).map_err(Stop::told)?.as_deref())
}

fn parse(bytes: Option<&[u8]>) -> Result<Records, Stop> {
    let Some(bytes) = bytes else {
        return Ok(Records::new());
    };
    serde_json::from_slice(bytes).map_err(|why| {
        Stop::helped(
            format!("`{FILE}` of the state folder cannot be read: {why}"),
            "move it away; acl then no longer knows what files were before it changed them",
        )
    })
}

fn remember(state: &Folder, with: impl FnOnce(&mut Records)) -> Result<(), Stop> {
    state.change(FILE, |bytes| {
        let mut records = parse(bytes.as_deref())?;
        with(&mut records);
        let text = serde_json::to_string_pretty(&records).unwrap_or_default();
        Ok((text + "\n", ()))
    })
}

impl Change {
    /// Whether it would fail: better said before anything is changed.
    pub fn check(&self) -> Result<(), Stop> {
        let read_only = |path: &Path| {
            let found = fs::metadata(path);
            found.is_ok_and(|found| found.permissions().readonly())
        };
        let parent = self.path.ancestors().skip(1).find(|path| path.exists());
        let wrong = [Some(self.path.as_path()), parent];
        match wrong.into_iter().flatten().find(|path| read_only(path)) {
            Some(path) => Err(Stop::helped(
                format!("`{}` is read-only: nothing was changed", path.display()),
                "make it writable, or put the change there yourself",
            )),
            None => Ok(()),
        }
    }

    /// Makes it so, and remembers what was there. Answers where that is kept.
    pub fn put(&self, state: &Folder) -> Result<Option<PathBuf>, Stop> {
        let Some(after) = &self.after else {
            return Ok(None);
        };
        let old = records(state)?.remove(&self.path);
        let known = old.filter(|old| {
            let before = self.before.as_ref();
            before.is_some_and(|before| old.is_untouched(before))
        });
        let record = match known {
            Some(known) => known,
            None => self.kept(state)?,
        };
        let backup = record.backup.as_ref().map(|name| state.file(name));
        let record = Record {
            after: digest(after.as_bytes()),
            ..record
        };
        remember(state, |records| {
            records.insert(self.path.clone(), record);
        })?;
        self.write(after)?;
        Ok(backup)
    }

    /// Keeps what was there.
    fn kept(&self, state: &Folder) -> Result<Record, Stop> {
        let folders = self.path.ancestors().skip(1);
        let made = folders.take_while(|folder| !folder.exists());
        let made = made.map(Path::to_path_buf).collect();
        let backup = match &self.before {
            Some(text) => {
                let mark = digest(self.path.to_string_lossy().as_bytes());
                let mark = mark.get(7..19).unwrap_or_default();
                let name = self.path.file_name().unwrap_or_default().to_string_lossy();
                let name = format!("before-{mark}-{name}");
                state.change(&name, |_| Ok((text.clone(), ())))?;
                Some(name)
            }
            None => None,
        };
        Ok(Record {
            after: String::new(),
            backup,
            made,
        })
    }

    /// Makes it so, and forgets what was there. Answers the folders that were made for it.
    pub fn take_back(&self, state: &Folder) -> Result<Vec<PathBuf>, Stop> {
        match &self.after {
            Some(after) => self.write(after)?,
            None => fs::remove_file(&self.path).map_err(|why| self.failed(&why))?,
        }
        let mut record: Option<Record> = None;
        remember(state, |records| record = records.remove(&self.path))?;
        let backup = record
            .as_ref()
            .and_then(|record: &Record| record.backup.as_ref());
        if let Some(name) = backup {
            let _ = fs::remove_file(state.file(name));
        }
        Ok(record.map(|record| record.made).unwrap_or_default())
    }

    fn failed(&self, why: &std::io::Error) -> Stop {
        Stop::told(format!("cannot write `{}`: {why}", self.path.display()))
    }

    /// Whoever reads it meanwhile sees the old text or the new one.
    fn write(&self, text: &str) -> Result<(), Stop> {
        let failed = |why: std::io::Error| self.failed(&why);
        let folder = self.path.parent().unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        let mut name = std::ffi::OsString::from(".");
        name.push(self.path.file_name().unwrap_or_default());
        name.push(format!(".acl-{}", std::process::id()));
        let beside = folder.join(name);
        let written = fs::File::create_new(&beside).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            if let Ok(found) = fs::metadata(&self.path) {
                file.set_permissions(found.permissions())?;
            }
            file.sync_all()?;
            fs::rename(&beside, &self.path)
        });
        written.map_err(|why| {
            let _ = fs::remove_file(&beside);
            failed(why)
        })
    }
}
