//! Policies and data of the repository, by their paths from its root.

use acl::finding::Finding;
use acl::lint::{self, Levels};
use acl::matcher::Matcher;
use acl::policy::{self, LayerKind, Policy, Root, Trust};
use acl::source::{Node, Source, Value};
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

/// The files of a folder whose names pass, sorted; with those below it.
pub fn files(folder: &str, wanted: impl Fn(&str) -> bool + Copy) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![PathBuf::from(folder)];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                todo.push(path);
            } else if wanted(&name) {
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// What a program says that is given `input`.
pub fn fed(program: &mut Command, input: impl AsRef<[u8]>) -> Output {
    let piped = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // One that fails early reads nothing.
    let _ = stdin.write_all(input.as_ref());
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// Whether a name is that of a policy.
pub fn is_policy(name: &str) -> bool {
    !name.contains(".cases.") && (name.ends_with(".toml") || name.ends_with(".yaml"))
}

/// A path relative to a file, without `..`.
pub fn beside(file: &str, name: &str) -> String {
    let mut out = PathBuf::new();
    for component in Path::new(file).parent().unwrap().join(name).components() {
        match component {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out.to_str().unwrap().to_owned()
}

/// A policy by its path or as `acl:NAME`.
pub fn source(name: &str) -> Result<Arc<Source>, String> {
    match name.strip_prefix("acl:") {
        Some(preset) => acl::presets::find(preset),
        None => {
            let bytes = std::fs::read(name).map_err(|why| match why.kind() {
                // Told by the system in words of its own, which are not those of every system.
                std::io::ErrorKind::NotFound => {
                    format!("cannot read `{name}`: there is no such file")
                }
                _ => format!("cannot read `{name}`: it is a folder"),
            })?;
            Source::new(name, bytes, None)
                .map(Arc::new)
                .map_err(|finding| finding.message)
        }
    }
}

/// Loads policies with what they extend.
pub fn load(roots: Vec<Root>) -> Result<Policy, Vec<Finding>> {
    policy::load(roots, &|name, from| match name.strip_prefix("acl:") {
        Some(_) => source(name),
        None => source(&beside(&from.name, name)),
    })
}

/// A root file that stands in no folder.
pub fn root(kind: LayerKind, source: Arc<Source>) -> Root {
    Root {
        kind,
        source,
        folder: None,
        trusted: Trust::Yes,
    }
}

/// What a check says of policies: their errors, or what the lints say.
pub fn checked(policy: Result<Policy, Vec<Finding>>) -> Vec<Finding> {
    let matcher = match policy {
        Ok(policy) => Matcher::compile(policy),
        Err(findings) => return findings,
    };
    match matcher.check_examples() {
        errors if errors.is_empty() => {
            lint::run(&matcher, &Levels::default(), &Default::default()).told
        }
        errors => errors,
    }
}

/// A policy's text, compiled.
pub fn compile(name: &str, text: &str) -> Matcher {
    let source = Arc::new(Source::new(name, text, None).unwrap());
    match load(vec![root(LayerKind::User, source)]) {
        Ok(policy) => Matcher::compile(policy),
        Err(findings) => panic!(
            "{text}\n{}",
            acl::report::human::findings(&findings, 100, false)
        ),
    }
}

/// A tree in the other spelling: JSON is YAML, and with `=` for `:` its tables are TOML's inline tables.
pub fn spelled(node: &Node, toml: bool) -> String {
    match &node.value {
        Value::Table(table) if toml => {
            let entry = |name: &str, node: &Node| format!("{name:?} = {}", inline(node, " = "));
            let entries: Vec<String> = table
                .entries
                .iter()
                .map(|own| entry(&own.key.name, &own.value))
                .collect();
            entries.join("\n")
        }
        _ => inline(node, ": "),
    }
}

fn inline(node: &Node, between: &str) -> String {
    match &node.value {
        Value::Null => "null".into(),
        Value::Bool(bool) => bool.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Text(text) | Value::Datetime(text) => serde_json::json!(text).to_string(),
        Value::List(nodes) => {
            let items: Vec<String> = nodes.iter().map(|node| inline(node, between)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let entries: Vec<String> = table
                .entries
                .iter()
                .map(|own| {
                    let name = serde_json::json!(own.key.name);
                    format!("{name}{between}{}", inline(&own.value, between))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
