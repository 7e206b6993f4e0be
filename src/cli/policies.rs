//! Which policies are meant, and loading them.
//!
//! In: `--policy`, `--layer`, or neither: the search path. Out: a matcher, or the findings shown.

use super::{Stop, output, trust};
use crate::finding::Finding;
use crate::matcher::Matcher;
use crate::policy::patterns::{self, PathPattern};
use crate::policy::rule::{Judges, Verdict};
use crate::policy::{self, File, LayerKind, Policy, Reading, Root, Trust};
use crate::presets;
use crate::source::{self, Format, Source, Span};
use clap::Args;
use std::cell::LazyCell;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which policies are meant.
#[derive(Clone, Debug, Default, Args)]
pub struct Which {
    /// Policy file, in place of those on the search path; `-` is stdin, `acl:NAME` a shipped preset
    #[arg(long, value_name = "FILE")]
    pub policy: Option<String>,
    /// A layer's policy file: managed, user, project or local (repeatable)
    #[arg(long, value_name = "NAME=FILE")]
    pub layer: Vec<String>,
    /// Folder the agent works in
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Folder that relative paths of the call start from
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
}

impl Which {
    /// The folder that calls start from.
    pub fn cwd(&self) -> Result<String, Stop> {
        let current = std::env::current_dir()
            .map_err(|why| Stop::told(format!("the working directory cannot be found: {why}")))?;
        match &self.cwd {
            Some(cwd) => folder("--cwd", &current.join(cwd)),
            None => Ok(current.to_string_lossy().into_owned()),
        }
    }

    /// The workspace, where one is given.
    pub fn workspace(&self) -> Result<Option<String>, Stop> {
        let Some(workspace) = &self.workspace else {
            return Ok(None);
        };
        let current = std::env::current_dir()
            .map_err(|why| Stop::told(format!("the working directory cannot be found: {why}")))?;
        folder("--workspace", &current.join(workspace)).map(Some)
    }

    /// The root files of the layers that are meant: at least one.
    pub fn roots(&self) -> Result<Vec<Root>, Stop> {
        let roots = self.found()?;
        for gone in self.missing()? {
            output::warn(&gone);
        }
        if roots.is_empty() {
            let start = self.start()?;
            return Err(Stop::helped(
                format!("no policy was found for {start}"),
                "`acl init` writes one, to acl.toml; or give `--policy FILE`",
            ));
        }
        Ok(roots)
    }

    /// The folder that the search for policies starts from.
    pub fn start(&self) -> Result<String, Stop> {
        self.workspace()?.map_or_else(|| self.cwd(), Ok)
    }

    /// The root files of the layers that are meant, or none where the search finds none.
    pub fn found(&self) -> Result<Vec<Root>, Stop> {
        let mut roots = Vec::new();
        if let Some(file) = &self.policy {
            roots.push(root(LayerKind::User, file)?);
        }
        for layer in &self.layer {
            let (name, file) = layer.split_once('=').ok_or_else(|| {
                Stop::helped(
                    format!("`--layer {layer}` names no file"),
                    "write `--layer user=policy.toml`",
                )
            })?;
            let kind = LayerKind::parse(name).ok_or_else(|| {
                Stop::helped(
                    format!("there is no layer `{name}`"),
                    "layers are managed, user, project and local",
                )
            })?;
            roots.push(root(kind, file)?);
        }
        if !roots.is_empty() {
            return Ok(roots);
        }
        let start = self.start()?;
        // Read once, and only where some file needs it.
        let trusted = LazyCell::new(trust::Trusted::load);
        for found in search(Path::new(&start)) {
            let mut root = found.root()?;
            if found.came_with_a_project() {
                root.trusted = trusted.of(&found);
            }
            roots.push(root);
        }
        Ok(roots)
    }

    /// What is to be said of policies that were trusted here, and are in force no more.
    pub fn missing(&self) -> Result<Vec<String>, Stop> {
        if self.policy.is_some() || !self.layer.is_empty() {
            return Ok(Vec::new());
        }
        let start = self.start()?;
        let trusted = trust::Trusted::read().unwrap_or_default();
        Ok(trusted.told(Path::new(&start)))
    }

    /// The policies, compiled. The process ends after its answer: taking a large policy
    /// apart again would be a good part of a short run.
    pub fn matcher(&self) -> Result<ManuallyDrop<Matcher>, Stop> {
        compile(self.roots()?).map(ManuallyDrop::new)
    }
}

/// A folder that an option names: a misspelt one would change the answer unseen.
fn folder(option: &str, path: &Path) -> Result<String, Stop> {
    match path.is_dir() {
        true => Ok(path.to_string_lossy().into_owned()),
        false => Err(Stop::told(format!(
            "`{option}`: there is no folder `{}`",
            path.display()
        ))),
    }
}

/// Loads and compiles, to decide by.
pub fn compile(roots: Vec<Root>) -> Result<Matcher, Stop> {
    compile_with(roots, &File::read)
}

/// The same, each file read in a way of one's own.
pub fn compile_with(roots: Vec<Root>, reading: &Reading<'_>) -> Result<Matcher, Stop> {
    match load_with(roots, reading) {
        Ok(policy) => Ok(Matcher::compile(guarded(policy))),
        Err(findings) => Err(Stop::Found(findings)),
    }
}

/// Loads policies, with what they extend.
pub fn load(roots: Vec<Root>) -> Result<Policy, Vec<Finding>> {
    load_with(roots, &File::read)
}

/// Loads policies in a way of one's own.
pub fn load_with(roots: Vec<Root>, reading: &Reading<'_>) -> Result<Policy, Vec<Finding>> {
    let loader = |name: &str, from: &Source| match name.strip_prefix("acl:") {
        Some(preset) => presets::find(preset),
        None => {
            let folder = Path::new(&from.name)
                .parent()
                .unwrap_or_else(|| Path::new(""))
                .to_path_buf();
            if from.name.starts_with("acl:") || from.name == "<stdin>" {
                return Err(format!(
                    "`{name}`: a policy without a folder can only extend presets (`acl:NAME`)"
                ));
            }
            // What else lies there is shown in no finding.
            let ends = |ending: &&str| name.ends_with(ending);
            if ![".toml", ".yaml", ".yml", ".json"].iter().any(ends) {
                return Err(format!(
                    "`{name}`: the name of a policy ends in `.toml` or `.yaml`"
                ));
            }
            let path = normal(&folder.join(name));
            // No file goes by the name of a shipped policy.
            match path.to_string_lossy().starts_with("acl:") {
                true => read(&Path::new(".").join(path)).map(Arc::new),
                false => read(&path).map(Arc::new),
            }
        }
    };
    policy::load_with(roots, &loader, reading)
}

/// The rule that keeps an agent's hands off its policy; it knows the names that policies have, not what they extend.
const GUARD: &str = "acl-policy";

/// The policy, whose files are the user's to change whatever their names, and so is the log that it states.
fn guarded(mut policy: Policy) -> Policy {
    let current = std::env::current_dir().unwrap_or_default();
    let files = policy.layers.iter().flat_map(|layer| &layer.files);
    let names = files.map(|file| file.source.name.as_str());
    let own = |name: &&str| !name.starts_with("acl:") && *name != "<stdin>";
    let names = names.filter(own).map(PathBuf::from);
    let log = super::audit::stated(&policy);
    let log = log.and_then(|(own, _)| super::audit::place(own.file.as_deref()?));
    // Wherever the state folder lies, grants and trust are the user's to give.
    let state = super::state::Folder::own().map(|folder| folder.file(""));
    let paths = names.chain(log).chain(state).map(|name| {
        let path = normal(&current.join(name));
        let plain = path
            .to_string_lossy()
            .chars()
            .fold(String::new(), |mut text, c| {
                if "*?[]{}\\!".contains(c) {
                    text.push('\\');
                }
                text.push(c);
                text
            });
        patterns::paths(&plain).unwrap_or_default()
    });
    let paths: Vec<PathPattern> = paths.flatten().collect();
    if paths.is_empty() {
        return policy;
    }
    let layers = policy.layers.iter_mut();
    let rules = layers
        .flat_map(|layer| &mut layer.files)
        .flat_map(|file| &mut file.rules);
    for rule in rules.filter(|rule| rule.id.as_deref() == Some(GUARD)) {
        if let (Judges::Paths(own), Verdict::Deny) = (&mut rule.judges, rule.action) {
            own.patterns.extend(paths.iter().cloned());
        }
    }
    policy
}

/// A root file, read.
pub fn root(kind: LayerKind, file: &str) -> Result<Root, Stop> {
    read_root(kind, file).map_err(|finding| match finding.code {
        "unreadable-file" => Stop::told(finding.message),
        _ => Stop::Found(vec![*finding]),
    })
}

/// A root file, read: a file, `-` for stdin, or `acl:NAME`.
pub fn read_root(kind: LayerKind, file: &str) -> Result<Root, Box<Finding>> {
    let unreadable = |why: String| {
        let nothing = Source::new(file, Vec::new(), None).map_err(Box::new)?;
        Err(Box::new(Finding::error(
            "unreadable-file",
            why,
            &Arc::new(nothing),
            Span::default(),
        )))
    };
    if let Some(preset) = file.strip_prefix("acl:") {
        return match presets::find(preset) {
            Ok(source) => Ok(Root {
                kind,
                source,
                folder: None,
                trusted: Trust::Yes,
            }),
            Err(why) => unreadable(why),
        };
    }
    let mut bytes = Vec::new();
    let name = if file == "-" {
        if let Err(why) = std::io::stdin().read_to_end(&mut bytes) {
            return unreadable(format!("cannot read the policy from stdin: {why}"));
        }
        "<stdin>"
    } else {
        let path = Path::new(file);
        bytes = match bounded(path) {
            Ok(bytes) => bytes,
            Err(why) => return unreadable(self::unreadable(path, &why)),
        };
        file
    };
    let source = match file {
        "-" => unnamed(name, bytes)?,
        _ => Source::new(name, bytes, None)
            .map(Arc::new)
            .map_err(Box::new)?,
    };
    Ok(rooted(kind, source))
}

/// A root file with the folder it stands in.
pub fn rooted(kind: LayerKind, source: Arc<Source>) -> Root {
    let current = std::env::current_dir().ok();
    let path = current
        .filter(|_| source.name != "<stdin>")
        .map(|current| current.join(&source.name));
    let folder = path.as_deref().and_then(Path::parent);
    Root {
        kind,
        folder: folder.map(|folder| folder.to_string_lossy().into_owned()),
        source,
        trusted: Trust::Yes,
    }
}

/// A text without a name that tells its spelling: the one it has fewer faults in; TOML where they are equal.
pub(super) fn unnamed(name: &str, bytes: Vec<u8>) -> Result<Arc<Source>, Box<Finding>> {
    let spelled = |format, bytes| {
        Source::new(name, bytes, Some(format))
            .map(Arc::new)
            .map_err(Box::new)
    };
    let toml = spelled(Format::Toml, bytes.clone())?;
    let yaml = spelled(Format::Yaml, bytes)?;
    let faults = |source: &Arc<Source>| source::read(source).findings.len();
    Ok(if faults(&yaml) < faults(&toml) {
        yaml
    } else {
        toml
    })
}

/// How large a policy may be: a device or a log named by mistake is not read to its end.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Nothing that hangs or never ends stands in the place of a policy. (What a command line names may be a pipe: `<(…)`.)
fn regular(path: &Path) -> std::io::Result<()> {
    match std::fs::metadata(path)? {
        found if found.is_file() => Ok(()),
        found if found.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        _ => Err(std::io::Error::other("it is no file")),
    }
}

pub(super) fn bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    if let Ok(size) = file.metadata().map(|found| found.len().min(LARGEST)) {
        bytes.reserve(usize::try_from(size).unwrap_or_default() + 1);
    }
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(std::io::Error::other("it is larger than 16 MiB")),
        false => Ok(bytes),
    }
}

/// Why a file cannot be read, naming it.
pub fn unreadable(path: &Path, why: &std::io::Error) -> String {
    let what = match why.kind() {
        std::io::ErrorKind::NotFound => match std::fs::read_link(path) {
            Ok(to) => format!("it is a link to `{}`, which is not there", to.display()),
            Err(_) => "there is no such file".to_owned(),
        },
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => why.to_string(),
    };
    format!("cannot read `{}`: {what}", path.display())
}

/// A policy by its path or as `acl:NAME`, for a case.
pub fn found(name: &str) -> Result<Arc<Source>, String> {
    match name.strip_prefix("acl:") {
        Some(preset) => presets::find(preset),
        None => read(Path::new(name)).map(Arc::new),
    }
}

fn read(path: &Path) -> Result<Source, String> {
    let bytes = regular(path).and_then(|()| bounded(path));
    let bytes = bytes.map_err(|why| unreadable(path, &why))?;
    Source::new(path.to_string_lossy(), bytes, None).map_err(|finding| finding.message)
}

/// A path as a person would write it: relative to the working directory, where it lies below it.
pub fn shown(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&current)
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}

/// The path without `.` and `..` in the middle, so that one file has one name.
pub fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// A policy found on the search path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whose it is.
    pub kind: LayerKind,
    /// The file.
    pub path: PathBuf,
    /// The folder that its paths are relative to.
    pub folder: PathBuf,
}

impl Found {
    /// It came with a project, or lies in one.
    pub const fn came_with_a_project(&self) -> bool {
        matches!(self.kind, LayerKind::Project | LayerKind::Local)
    }

    /// The file, read.
    pub fn root(&self) -> Result<Root, Stop> {
        regular(&self.path).map_err(|why| Stop::told(unreadable(&self.path, &why)))?;
        let mut root = root(self.kind, &shown(&self.path))?;
        if self.came_with_a_project() {
            root.folder = Some(self.folder.to_string_lossy().into_owned());
        }
        Ok(root)
    }
}

/// The names a project's policy may have, in its folder; and that of the user's own for it.
pub const PROJECT: &[&str] = &["acl.toml", ".acl/policy.toml", ".acl/policy.yaml"];
pub const LOCAL: &str = "acl.local.toml";

/// Whether something has this name, a file or not: a policy that something else stands in for is missed, not passed over.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The policies on the search path, most trusted first.
pub fn search(start: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let mut add = |kind, path: PathBuf, folder: &Path| {
        if is_there(&path) {
            found.push(Found {
                kind,
                path,
                folder: folder.to_path_buf(),
            });
        }
    };
    let etc = Path::new("/etc/acl");
    add(LayerKind::Managed, etc.join("policy.toml"), etc);
    if let Ok(entries) = std::fs::read_dir(etc.join("policy.d")) {
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        paths.sort();
        for path in paths.into_iter().filter(|path| is_policy_name(path)) {
            add(LayerKind::Managed, path, etc);
        }
    }
    if let Some(config) = config_folder() {
        add(LayerKind::User, config.join("policy.toml"), &config);
    }
    for folder in start.ancestors() {
        let project = PROJECT
            .iter()
            .map(|name| folder.join(name))
            .find(|path| is_there(path));
        let local = folder.join(LOCAL);
        if project.is_some() || is_there(&local) {
            add(LayerKind::Local, local, folder);
            if let Some(project) = project {
                add(LayerKind::Project, project, folder);
            }
            break;
        }
    }
    found
}

/// `$XDG_CONFIG_HOME/acl`, or `~/.config/acl`.
pub fn config_folder() -> Option<PathBuf> {
    let absolute = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path: &PathBuf| path.is_absolute())
    };
    absolute("XDG_CONFIG_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".config")))
        .map(|config| config.join("acl"))
}

/// `$XDG_STATE_HOME/acl`, or `~/.local/state/acl`.
pub fn state_folder() -> Option<PathBuf> {
    let absolute = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path: &PathBuf| path.is_absolute())
    };
    absolute("XDG_STATE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local/state")))
        .map(|state| state.join("acl"))
}

/// Whether a name ends as policies do.
pub fn is_policy_name(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "toml" || extension == "yaml" || extension == "yml")
}
