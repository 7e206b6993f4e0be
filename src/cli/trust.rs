//! `acl trust` and `acl untrust`: whether the policy that came with a repository may loosen.
//!
//! What is trusted is the file's digest, kept in the user's state folder: a changed file must be trusted again.
//! A store that cannot be read trusts nothing.

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

type Store = BTreeMap<String, String>;

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
    let mut store = load();
    let mut any = false;
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
        let said = with(&mut store, name(&found.path), &text);
        output::result(&format!("{}: {said}\n", policies::shown(&found.path)))?;
        any = true;
    }
    if !any {
        return Err(Stop::helped(
            format!("no policy was found for {}", start.display()),
            "a project's policy is acl.toml or .acl/policy.toml",
        ));
    }
    save(&store)?;
    Ok(Exit::Good)
}

/// Whether this very text of the file was trusted.
pub fn is_trusted(path: &Path, text: &str) -> bool {
    load()
        .get(&name(path))
        .is_some_and(|trusted| *trusted == digest(text.as_bytes()))
}

fn name(path: &Path) -> String {
    std::fs::canonicalize(path)
        .unwrap_or_else(|_| path.to_path_buf())
        .to_string_lossy()
        .into_owned()
}

fn file() -> Option<PathBuf> {
    Some(policies::state_folder()?.join("trust.json"))
}

fn load() -> Store {
    file()
        .and_then(|file| std::fs::read(file).ok())
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

fn save(store: &Store) -> Result<(), Stop> {
    let file = file().ok_or_else(|| {
        Stop::helped("there is no state folder", "set `HOME` or `XDG_STATE_HOME`")
    })?;
    let failed =
        |why: std::io::Error| Stop::told(format!("cannot write `{}`: {why}", file.display()));
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let text = serde_json::to_string_pretty(store).unwrap_or_default();
    // Written beside and moved into place, so that a reader never sees half a file.
    let beside = file.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, &file))
        .map_err(failed)
}
