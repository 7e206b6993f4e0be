//! `acl where`: layers and what they extend, in order; files that look like policies but are not loaded; what is kept
//! between calls; the agents that ask acl.

use super::policies::{self, Which};
use super::state::{Folder, clock};
use super::{Answer, Exit, Stop, audit, grant, init, output};
use crate::policy::LayerKind;
use clap::Args;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Options of `acl where`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  acl where --workspace ~/src/web-shop")]
pub struct Options {
    #[command(flatten)]
    which: Which,
}

/// Names that look like policies; only some of them, in some places, are.
const LOOKALIKES: &[&str] = &[
    "acl.yaml",
    "acl.yml",
    ".acl.toml",
    ".acl.yaml",
    "acl.policy.toml",
    "policy.acl.toml",
    ".acl/acl.toml",
    ".acl/policy.yml",
    ".acl/config.toml",
    "acl.local.yaml",
    ".acl/policy.local.toml",
];

/// Runs it.
pub fn run(options: &Options) -> Answer {
    let roots = match options.which.roots() {
        Ok(roots) => roots,
        Err(Stop::Told(text, help)) => {
            let start = options.which.start()?;
            for (path, why) in lookalikes(Path::new(&start), &[]) {
                output::result(&format!("not loaded: {} ({why})\n", policies::shown(&path)))?;
            }
            output::result(&around(Path::new(&start)))?;
            return Err(Stop::Told(text, help));
        }
        Err(stop) => return Err(stop),
    };
    let current = std::env::current_dir().unwrap_or_default();
    let loaded: Vec<PathBuf> = roots
        .iter()
        .map(|root| current.join(&root.source.name))
        .collect();
    let policy = policies::load(roots).map_err(Stop::Found)?;
    let mut out = String::new();
    for layer in &policy.layers {
        let Some((root, extended)) = layer.files.split_first() else {
            continue;
        };
        let trust = match (layer.kind, layer.trusted) {
            _ if layer.changed => {
                ", CHANGED since it was trusted: it only tightens until `acl trust`"
            }
            (LayerKind::Project | LayerKind::Local, false) => {
                ", not trusted: it only tightens until `acl trust`"
            }
            (LayerKind::Project | LayerKind::Local, true) => ", trusted as it stands",
            _ => "",
        };
        let _ = writeln!(out, "{}: {}{trust}", layer.kind.name(), root.source.name);
        for file in extended {
            let tightens = match layer.trusted {
                true => "",
                false => ", of which only what tightens counts",
            };
            let _ = writeln!(out, "  extends {}{tightens}", file.source.name);
        }
        for file in layer.files.iter().filter(|file| !file.is_shipped()) {
            for key in &file.ignored {
                let (line, _) = file.source.line_column(key.span.start);
                let at = match std::ptr::eq(file, root) {
                    true => format!("line {line}"),
                    false => format!("{}:{line}", file.source.name),
                };
                let _ = writeln!(out, "  ignored: {} ({at})", key.value);
            }
        }
        for rule in &layer.disabled {
            let name = rule.id.as_ref().unwrap_or(&rule.address);
            let _ = writeln!(out, "  disables {name}");
        }
    }
    if let Some((own, file)) = audit::stated(&policy) {
        let path = audit::place(own.file.as_deref().unwrap_or(audit::USUAL));
        let path = path.map_or_else(|| "nowhere".to_owned(), |path| path.display().to_string());
        let _ = writeln!(
            out,
            "audit: decisions are logged to {path} ({})",
            file.source.name
        );
    }
    let start = options.which.start()?;
    for (path, why) in lookalikes(Path::new(&start), &loaded) {
        let _ = writeln!(out, "not loaded: {} ({why})", policies::shown(&path));
    }
    out += &around(Path::new(&start));
    output::result(&out)?;
    Ok(Exit::Good)
}

/// What is kept between calls, and who asks acl.
fn around(project: &Path) -> String {
    let mut out = String::new();
    if let Some(folder) = Folder::own() {
        let _ = writeln!(out, "state: {}", folder.file("").display());
        let _ = match grant::count(&folder, clock()) {
            Ok((0, 0)) => writeln!(out, "  grants: none"),
            Ok((all, holding)) => writeln!(out, "  grants: {all}, of which {holding} hold now"),
            Err(why) => writeln!(out, "  grants: none counts: {why}"),
        };
        let log = folder.file(audit::USUAL);
        let _ = match std::fs::metadata(&log) {
            Ok(found) => writeln!(
                out,
                "  audit log: {} ({} KiB)",
                log.display(),
                found.len().div_ceil(1024)
            ),
            Err(_) => writeln!(out, "  audit log: none"),
        };
    }
    let hooks = init::installed(project);
    if hooks.is_empty() {
        out += "hooks: none here (`acl init` puts them there)\n";
    }
    for hook in hooks {
        let gone = match (hook.starts(), hook.is_closed()) {
            (true, true) => "",
            (true, false) => {
                "; where acl is gone or killed, the agent goes on (`acl init --remove`, then `acl init`, closes that)"
            }
            (false, true) => ", which is NOT THERE: every call is refused",
            (false, false) => ", which is NOT THERE: the agent goes on without it",
        };
        let (title, path) = (hook.agent.terms().title, policies::shown(&hook.path));
        let _ = writeln!(out, "hook of {title}: {path} runs `{}`{gone}", hook.command);
        if let Some(policy) = hook.policy() {
            let _ = writeln!(out, "  it judges by `{policy}`, as if you had written that");
        }
        for doubt in &hook.doubts {
            let _ = writeln!(out, "  it may not be asked: {doubt}");
        }
    }
    out
}

/// Names that are looked for, nearest folder first.
const LOOKED_FOR: &[&str] = &[
    "acl.toml",
    "acl.local.toml",
    ".acl/policy.toml",
    ".acl/policy.yaml",
];

/// Files near the workspace that look like policies and are not loaded, and why not.
fn lookalikes(start: &Path, loaded: &[PathBuf]) -> Vec<(PathBuf, &'static str)> {
    let strange = LOOKALIKES
        .iter()
        .map(|name| (name, "its name is not one that acl looks for"));
    let passed = LOOKED_FOR
        .iter()
        .map(|name| (name, "another policy, or an option, takes its place"));
    let folders: Vec<&Path> = start.ancestors().collect();
    strange
        .chain(passed)
        .flat_map(|(name, why)| folders.iter().map(move |folder| (folder.join(name), why)))
        .filter(|(path, _)| path.is_file() && !loaded.contains(path))
        .collect()
}
