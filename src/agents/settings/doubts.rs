//! What keeps a hook that stands in a settings file from being asked, or its answer from being heard.
//!
//! In: the settings, and what acl would put there. Out: sentences; none where nothing is in the way.

use super::json::{self, Kind, Node};
use super::{Entries, behind, closes};
use serde_json::Value;

/// How long a hook must be given at least, in parts of what acl asks for.
const LEAST: f64 = 0.5;

/// A switch that keeps all hooks from running.
const SWITCH: &str = "disableAllHooks";

/// What a file besides says of the hooks of others.
pub fn switched_off(name: &str, text: &str) -> Option<String> {
    let document = json::read(text).ok()?;
    is_set(&document.root).then(|| format!("`{SWITCH}` is set in `{name}`: no hook runs"))
}

fn is_set(root: &Node) -> bool {
    let switch = root.member(SWITCH);
    switch.is_some_and(|(_, own)| matches!(own.node.kind, Kind::Plain(Value::Bool(true))))
}

impl Entries<'_> {
    /// What is in the way of the hooks of acl in a text.
    pub fn doubts(&self, text: &str) -> Vec<String> {
        let Ok((document, wanted)) = json::read(text).and_then(|document| {
            let wanted = json::read(&self.wanted()?)?.root;
            Ok((document, wanted))
        }) else {
            return Vec::new();
        };
        let mut out = Vec::new();
        if is_set(&document.root) {
            out.push(format!("`{SWITCH}` is set: no hook runs"));
        }
        let hooks = |root: &Node| -> Vec<(String, bool)> {
            let hooks = root.member("hooks").map(|(_, hooks)| hooks.node.children());
            let own = |event: &json::Child| {
                (event.key.clone().unwrap_or_default(), self.has(&event.node))
            };
            hooks.unwrap_or_default().iter().map(own).collect()
        };
        let there = hooks(&document.root);
        for (event, _) in hooks(&wanted) {
            if !there.iter().any(|(own, ours)| *own == event && *ours) {
                out.push(format!("there is none under `{event}`"));
            }
        }
        let least = number(&wanted);
        self.inside(&document.root, least, &mut out);
        out.dedup();
        out
    }

    /// It holds a hook of acl.
    fn has(&self, node: &Node) -> bool {
        let mut commands = Vec::new();
        self.collect(node, &mut commands);
        !commands.is_empty()
    }

    /// What the objects say that a hook of acl stands in.
    fn inside(&self, node: &Node, least: Option<f64>, out: &mut Vec<String>) {
        if !self.has(node) {
            return;
        }
        for child in node.children() {
            let key = child.key.as_deref().unwrap_or_default();
            match &child.node.kind {
                Kind::Plain(Value::String(only)) if key == "matcher" => {
                    if !["", "*", ".*"].contains(&only.as_str()) {
                        out.push(format!("it is asked only about `{only}`"));
                    }
                }
                Kind::Plain(Value::Bool(true)) if key == "async" => {
                    out.push("`async`: nobody waits for its answer".to_owned());
                }
                Kind::Plain(Value::Number(given)) if key.starts_with("timeout") => {
                    let given = given.as_f64().unwrap_or_default();
                    if least.is_some_and(|least| given < least * LEAST) {
                        out.push(format!("`{key}` of {given} leaves it too little time"));
                    }
                }
                Kind::Plain(Value::String(command)) if self.is_ours(command) => {
                    let behind = behind(command);
                    if !behind.is_empty() && !closes(behind) {
                        out.push(format!("`{behind}` behind it may take its answer away"));
                    }
                }
                _ => self.inside(&child.node, least, out),
            }
        }
    }
}

/// The time that a hook is given.
fn number(node: &Node) -> Option<f64> {
    let mut children = node.children().iter();
    children.find_map(|child| match &child.node.kind {
        Kind::Plain(Value::Number(own)) if child.key.as_deref()?.starts_with("timeout") => {
            own.as_f64()
        }
        _ => number(&child.node),
    })
}
