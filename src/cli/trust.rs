//! `acl trust` and `acl untrust`: whether the policy that came with a repository may loosen.
//!
//! What is trusted is the file's digest, kept in the user's state folder: a changed file must be trusted again.
//! A store that cannot be read, or that others could have written, trusts nothing.

use super::state::Folder;
use super::{Answer, Exit, Stop, output, policies};
use crate::call::digest;
use crate::policy::LayerKind;
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Options of `acl trust` and `acl untrust`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  acl trust .\n  acl untrust ~/src/web-shop")]
pub struct Options {
    /// Folder of the repository (default: the working directory)
    dir: Option<PathBuf>,
}

/// Records the project's policies as they stand.
pub fn trust(options: &Options) -> Answer {
    change(options, |store, path, text| {
        store.insert(path, digest(text.as_bytes()));
        "trusted as it stands: `acl where` tells what it says"
    })
}

/// Forgets them.
pub fn untrust(options: &Options) -> Answer {
    change(options, |store, path, _| match store.remove(&path) {
        Some(_) => "no longer trusted",
        None => "was not trusted",
    })
}

/// Path → digest.
type Store = BTreeMap<String, String>;

const FILE: &str = "trust.json";

/// Trusts a file as it stands.
pub fn put(path: &Path, text: &str) -> Result<(), Stop> {
    stored(|store| {
        store.insert(name(path), digest(text.as_bytes()));
    })
}

/// No longer trusts a file, which may be gone.
pub fn forget(path: &Path) -> Result<(), Stop> {
    stored(|store| {
        store.remove(&name(path));
    })
}

fn stored<T>(with: impl FnOnce(&mut Store) -> T) -> Result<T, Stop> {
    Folder::of(None)?.change(FILE, |bytes| {
        let mut store = parse(bytes.as_deref())
            .map_err(|why| Stop::helped(why, "delete it, and trust again what you trust"))?;
        let answer = with(&mut store);
        Ok((
            serde_json::to_string_pretty(&store).unwrap_or_default(),
            answer,
        ))
    })
}

fn change(
    options: &Options,
    mut with: impl FnMut(&mut Store, String, &str) -> &'static str,
) -> Answer {
    let start = std::env::current_dir()
        .map_err(|why| Stop::told(format!("the working directory cannot be found: {why}")))?;
    let start = options
        .dir
        .as_ref()
        .map_or(start.clone(), |dir| start.join(dir));
    let found = policies::search(&start);
    let mut changes = Vec::new();
    for found in found
        .iter()
        .filter(|found| matches!(found.kind, LayerKind::Project | LayerKind::Local))
    {
        let text = std::fs::read_to_string(&found.path)
            .map_err(|why| Stop::told(policies::unreadable(&found.path, &why)))?;
        // What does not load would refuse every call: better said now.
        policies::compile(vec![policies::root(
            found.kind,
            &policies::shown(&found.path),
            true,
        )?])?;
        changes.push((&found.path, text));
    }
    if changes.is_empty() {
        return Err(Stop::helped(
            format!("no policy was found for {}", start.display()),
            "a project's policy is acl.toml or .acl/policy.toml",
        ));
    }
    let said = stored(|store| {
        let mut said = String::new();
        for (path, text) in &changes {
            let done = with(store, name(path), text);
            said += &format!("{}: {done}\n", policies::shown(path));
        }
        said
    })?;
    output::result(&said)?;
    Ok(Exit::Good)
}

/// Which texts of which files were trusted.
#[derive(Debug, Default)]
pub struct Trusted(Store);

impl Trusted {
    /// All that the state folder tells. What is not to be believed trusts nothing, and says so.
    pub fn load() -> Self {
        let Some(read) = Folder::own().map(|folder| folder.read(FILE)) else {
            return Self::default();
        };
        match read.and_then(|bytes| parse(bytes.as_deref())) {
            Ok(store) => Self(store),
            Err(why) => {
                output::warn(&format!("{why}; no repository's policy is trusted"));
                Self::default()
            }
        }
    }

    /// Whether this very text of the file was.
    pub fn covers(&self, path: &Path, text: &str) -> bool {
        let trusted = self.0.get(&name(path));
        trusted.is_some_and(|trusted| *trusted == digest(text.as_bytes()))
    }
}

fn name(path: &Path) -> String {
    std::fs::canonicalize(path)
        .unwrap_or_else(|_| path.to_path_buf())
        .to_string_lossy()
        .into_owned()
}

fn parse(bytes: Option<&[u8]>) -> Result<Store, String> {
    match bytes {
        Some(bytes) => serde_json::from_slice(bytes)
            .map_err(|why| format!("`{FILE}` of the state folder cannot be read: {why}")),
        None => Ok(Store::new()),
    }
}
