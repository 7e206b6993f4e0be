//! The shipped policies, by the names that `extends = ["acl:NAME"]` uses.
//!
//! In: a name. Out: the policy's text, embedded. Adding one is a line here and a file in `policies/`.

use crate::policy::near;
use crate::source::{self, Format, Node, Source, Table};
use std::sync::Arc;

/// Name, text, spelling.
static PRESETS: &[(&str, &str, Format)] = &[
    (
        "recommended",
        include_str!("../policies/recommended.toml"),
        Format::Toml,
    ),
    (
        "strict",
        include_str!("../policies/strict.toml"),
        Format::Toml,
    ),
    (
        "readonly",
        include_str!("../policies/readonly.toml"),
        Format::Toml,
    ),
    ("ci", include_str!("../policies/ci.yaml"), Format::Yaml),
    (
        "floor",
        include_str!("../policies/floor.toml"),
        Format::Toml,
    ),
];

/// The names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _, _)| *name)
}

/// What a preset is for, in its own words.
pub fn about(name: &str) -> Option<String> {
    let tree = source::read(&find(name).ok()?);
    let about = tree.root.value.as_table()?.get("description")?;
    about.value.as_text().map(str::to_owned)
}

/// The patterns of a rule of a preset, as they are written, and its reason.
pub fn rule(name: &str, id: &str) -> Option<(Vec<String>, String)> {
    let tree = source::read(&find(name).ok()?);
    let rule = with_id(&tree.root, id)?;
    let text = |node: &Node| node.value.as_text().map(str::to_owned);
    let patterns = rule.get("match")?;
    let patterns = match patterns.value.as_list() {
        Some(all) => all.iter().filter_map(text).collect(),
        None => vec![text(patterns)?],
    };
    Some((patterns, text(rule.get("reason")?)?))
}

/// The table with this `id`, in whatever list it stands.
fn with_id<'t>(node: &'t Node, id: &str) -> Option<&'t Table> {
    if let Some(list) = node.value.as_list() {
        return list.iter().find_map(|node| with_id(node, id));
    }
    let table = node.value.as_table()?;
    let own = table.get("id").and_then(|node| node.value.as_text());
    let mut below = table.entries.iter();
    match own == Some(id) {
        true => Some(table),
        false => below.find_map(|entry| with_id(&entry.value, id)),
    }
}

/// A preset's text.
///
/// # Errors
/// A sentence that names the presets there are.
pub fn find(name: &str) -> Result<Arc<Source>, String> {
    let Some((_, text, format)) = PRESETS.iter().find(|(own, _, _)| *own == name) else {
        return Err(match near::nearest(name, names()) {
            Some(near) => format!("there is no preset `acl:{name}`; did you mean `acl:{near}`?"),
            None => {
                let known: Vec<String> = names().map(|name| format!("`acl:{name}`")).collect();
                format!(
                    "there is no preset `acl:{name}`; there are {}",
                    known.join(", ")
                )
            }
        });
    };
    Source::new(
        format!("acl:{name}"),
        text.as_bytes().to_vec(),
        Some(*format),
    )
    .map(Arc::new)
    .map_err(|finding| finding.message)
}
