//! `acl trust` and `acl untrust`: whether the policy that came with a repository may loosen.
//!
//! What is trusted is what the file and those that it extends say, under the name that it was found by: a changed one
//! must be trusted again, and a link does not bring another project's trust along. Kept in the user's state folder.
//! A store that cannot be read, or that others could have written, trusts nothing.

use super::policies::{self, Found};
use super::state::Folder;
use super::{Answer, Exit, Stop, output};
use crate::call::digest;
use crate::policy::{Layer, Trust};
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
    let start = options.start()?;
    let found: Vec<Found> = project(&start).collect();
    if found.is_empty() {
        return Err(Stop::helped(
            format!("no policy was found for {}", start.display()),
            "a project's policy is acl.toml or .acl/policy.toml",
        ));
    }
    let mut told = String::new();
    let mut digests = Vec::new();
    for found in &found {
        // What does not load would refuse every call: better said now.
        let layer = layer(found, Trust::Yes)?;
        told += &format!(
            "{}: trusted as it stands: `acl where` tells what it says\n",
            policies::shown(&found.path)
        );
        for file in layer.files.iter().skip(1) {
            told += &format!("  extends {}\n", file.source.name);
        }
        for file in self::layer(found, Trust::No)?.files {
            for key in file.ignored.iter().filter(|_| !file.is_shipped()) {
                let (line, _) = file.source.line_column(key.span.start);
                told += &format!(
                    "  now counts: {} ({}:{line})\n",
                    key.value, file.source.name
                );
            }
        }
        digests.push((name(found), layer.digest()));
    }
    stored(|store| {
        for (path, _) in Trusted(store.clone()).missing(&start) {
            store.remove(&path);
        }
        store.extend(digests);
    })?;
    output::result(&told)?;
    Ok(Exit::Good)
}

/// Forgets them, and those that are there no more.
pub fn untrust(options: &Options) -> Answer {
    let start = options.start()?;
    let told = stored(|store| {
        let mut told = String::new();
        for (path, shown) in Trusted(store.clone()).missing(&start) {
            store.remove(&path);
            told += &format!("{}: no longer trusted\n", policies::shown(&shown));
        }
        for found in project(&start) {
            let what = match store.remove(&name(&found)) {
                Some(_) => "no longer trusted",
                None => "was not trusted",
            };
            told += &format!("{}: {what}\n", policies::shown(&found.path));
        }
        told
    })?;
    if told.is_empty() {
        return Err(Stop::told(format!(
            "no policy was found for {}, and none was trusted there",
            start.display()
        )));
    }
    output::result(&told)?;
    Ok(Exit::Good)
}

impl Options {
    fn start(&self) -> Result<PathBuf, Stop> {
        let start = std::env::current_dir()
            .map_err(|why| Stop::told(format!("the working directory cannot be found: {why}")))?;
        Ok(match &self.dir {
            Some(dir) => start.join(dir),
            None => start,
        })
    }
}

/// The project's policies.
fn project(start: &Path) -> impl Iterator<Item = Found> {
    let found = policies::search(start).into_iter();
    found.filter(Found::came_with_a_project)
}

/// The layer of a policy.
fn layer(found: &Found, trusted: Trust) -> Result<Layer, Stop> {
    let mut root = found.root()?;
    root.trusted = trusted;
    let policy = policies::load(vec![root]).map_err(Stop::Found)?;
    let layer = policy.layers.into_iter().next();
    layer.ok_or_else(|| Stop::told("the policy has no layer"))
}

/// Path → digest.
type Store = BTreeMap<String, String>;

const FILE: &str = "trust.json";

/// Trusts a policy that extends none but shipped ones, as this text: no matter what stands in the file by now.
pub fn put(found: &Found, text: &str) -> Result<(), Stop> {
    stored(|store| {
        store.insert(name(found), digest(text.as_bytes()));
    })
}

/// No longer trusts a file, which may be gone.
pub fn forget(found: &Found) -> Result<(), Stop> {
    stored(|store| {
        store.remove(&name(found));
    })
}

/// Whether a policy that was found is trusted as it stands.
pub fn holds(found: &Found) -> bool {
    layer(found, Trusted::load().of(found)).is_ok_and(|layer| layer.trusted)
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

/// Which policies were trusted, and what they said.
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

    /// The same, where it is told elsewhere why there is none.
    pub fn read() -> Option<Self> {
        let bytes = Folder::own()?.read(FILE).ok()?;
        parse(bytes.as_deref()).ok().map(Self)
    }

    /// Whether a policy may loosen, and as what.
    pub fn of(&self, found: &Found) -> Trust {
        match self.0.get(&name(found)) {
            Some(digest) => Trust::Texts(digest.clone()),
            None => Trust::No,
        }
    }

    /// Policies that were trusted and that the search finds no more, gone or passed over: their names in the store, and
    /// their paths. What is further up than the policy that is found was never in force.
    pub fn missing(&self, start: &Path) -> Vec<(String, PathBuf)> {
        match self.0.is_empty() {
            true => Vec::new(),
            false => self.gone(start, &project(start).collect::<Vec<_>>()),
        }
    }

    /// What is to be told of policies that were trusted here, and are not in force.
    pub fn told(&self, start: &Path) -> Vec<String> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let found: Vec<Found> = project(start).collect();
        let gone = self.gone(start, &found).into_iter().map(|(_, path)| {
            let path = policies::shown(&path);
            format!("the policy `{path}` was trusted, and is not in force any more: put it back, or let go of it with `acl untrust`")
        });
        let hidden = self.hidden(&found).map(|(path, front)| {
            let (path, front) = (policies::shown(&path), policies::shown(front));
            format!("`{front}`, which is not trusted, stands in front of the policy `{path}`, which is: look at it, then `acl trust`, or take it away")
        });
        gone.chain(hidden).collect()
    }

    /// A trusted policy further up, and the one in front of it that was never trusted.
    fn hidden<'f>(&self, found: &'f [Found]) -> Option<(PathBuf, &'f Path)> {
        let trusted = found.iter().any(|found| self.0.contains_key(&name(found)));
        let front = found.first().filter(|_| !trusted)?;
        let names = || policies::PROJECT.iter().chain([&policies::LOCAL]);
        let above = front.folder.ancestors().skip(1);
        let mut files =
            above.flat_map(|folder| names().map(move |file| (folder, folder.join(file))));
        let (_, path) = files.find(|(folder, path)| self.0.contains_key(&named(folder, path)))?;
        Some((path, &front.path))
    }

    fn gone(&self, start: &Path, found: &[Found]) -> Vec<(String, PathBuf)> {
        let mut out = Vec::new();
        for folder in start.ancestors() {
            for file in policies::PROJECT.iter().chain([&policies::LOCAL]) {
                let path = folder.join(file);
                let name = named(folder, &path);
                if self.0.contains_key(&name) && found.iter().all(|found| found.path != path) {
                    out.push((name, path));
                }
            }
            if found.iter().any(|found| found.folder == folder) {
                break;
            }
        }
        out
    }
}

/// The name of a policy in the store.
fn name(found: &Found) -> String {
    named(&found.folder, &found.path)
}

/// The project's folder is where it really is; links inside it stay what they are.
fn named(folder: &Path, path: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path);
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    folder.join(below).to_string_lossy().into_owned()
}

fn parse(bytes: Option<&[u8]>) -> Result<Store, String> {
    match bytes {
        Some(bytes) => serde_json::from_slice(bytes)
            .map_err(|why| format!("`{FILE}` of the state folder cannot be read: {why}")),
        None => Ok(Store::new()),
    }
}
