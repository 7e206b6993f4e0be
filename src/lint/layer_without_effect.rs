//! An entry of a layer that a more trusted one overrules, whatever the call: layers only tighten each other.
//!
//! Looks at what has one value for all layers: the workspace, the tier defaults, and the tier of a tool named in full.

use super::Room;
use crate::finding::Finding;
use crate::policy::rule::{Place, Verdict};
use crate::policy::{File, Layer, patterns};
use crate::source::Span;
use std::sync::Arc;

const CODE: &str = "layer-without-effect";

/// Looks at each layer's own file, next to the other layers.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let layers = &room.matcher.policy.layers;
    let mut found = Vec::new();
    for (index, layer) in layers.iter().enumerate() {
        let Some(own) = layer.files.first() else { continue };
        // That a less trusted layer is stricter is how it tightens.
        let others = layers.get(..index).unwrap_or_default();
        found.extend(workspace(own, others));
        if let Some(said) = &own.tier_default {
            let stricter = others.iter().filter_map(|other| {
                other.files.iter().find_map(|file| {
                    let stated = file.tier_default.as_ref()?;
                    Some((stated.value, place(file, stated.span)))
                })
            });
            found.extend(weaker(own, "`tiers.default`", said.value, said.span, stricter));
        }
        for entry in own.tiers.iter().filter(|entry| entry.verdict != Verdict::Deny) {
            // A pattern may say something of a tool that the other layer does not list.
            let [name] = entry.names.as_slice() else { continue };
            let Some(tool) = name.as_literal() else { continue };
            let stricter = others.iter().filter_map(|other| tier(other, tool));
            let what = format!("the tier of `{}`", patterns::spell(name));
            found.extend(weaker(own, &what, entry.verdict, entry.span, stricter));
        }
    }
    found
}

fn place(file: &File, span: Span) -> Place {
    Place {
        source: Arc::clone(&file.source),
        span,
    }
}

/// `[workspace]` is the most trusted layer's that states it.
fn workspace(own: &File, before: &[Layer]) -> Option<Finding> {
    own.workspace.as_ref()?;
    let mut files = before.iter().flat_map(|layer| &layer.files);
    let (file, other) = files.find_map(|file| {
        file.workspace.as_ref()?;
        Some((file, key(file)?))
    })?;
    Some(
        Finding::lint(CODE, "another layer says where the workspace is: this is not looked at", &own.source, key(own)?)
            .label("has no effect")
            .also(&file.source, other, "this counts")
            .help("drop it, or change it there"),
    )
}

fn key(file: &File) -> Option<Span> {
    let mut keys = file.sections.iter();
    keys.find(|key| key.value == "workspace").map(|key| key.span)
}

/// A verdict that a stricter one of another layer outweighs.
fn weaker(
    own: &File,
    what: &str,
    said: Verdict,
    span: Span,
    others: impl Iterator<Item = (Verdict, Place)>,
) -> Option<Finding> {
    let (verdict, other) = others.filter(|(verdict, _)| *verdict > said).max_by_key(|(verdict, _)| *verdict)?;
    Some(
        Finding::lint(
            CODE,
            format!("{what} is `{verdict}` by another layer: `{said}` here changes nothing"),
            &own.source,
            span,
        )
        .label("of two layers the stricter counts")
        .also(&other.source, other.span, "this counts")
        .help("drop it, or loosen it there"),
    )
}

/// What a layer says of a tool by its name in full: the nearest file that lists it.
fn tier(layer: &Layer, tool: &str) -> Option<(Verdict, Place)> {
    layer.files.iter().find_map(|file| {
        let named = file.tiers.iter().filter(|entry| {
            let mut names = entry.names.iter();
            names.any(|name| name.as_literal() == Some(tool))
        });
        let strictest = named.max_by_key(|entry| entry.verdict)?;
        Some((strictest.verdict, place(file, strictest.span)))
    })
}
