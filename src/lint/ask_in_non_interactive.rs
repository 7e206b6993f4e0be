//! An ask on top of `acl:ci`, which is made for where nobody can be asked: there an ask is a deny.
//!
//! Only such a policy says by itself where it is used; what mode a call is made in is not known here.

use super::Room;
use crate::finding::Finding;
use crate::policy::rule::{Place, Verdict};
use crate::policy::{File, Layer};
use std::sync::Arc;

const CODE: &str = "ask-in-non-interactive";

/// The preset for where nobody can be asked.
const UNATTENDED: &str = "acl:ci";

/// Looks at the own files of layers that build on that preset.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, layer) in room.matcher.policy.layers.iter().enumerate() {
        let Some((at, entry)) = builds_on(layer) else { continue };
        let own = layer.files.iter().filter(|file| !file.source.name.starts_with("acl:"));
        let mut asks: Vec<(Place, String)> = own.flat_map(of_file).collect();
        let rules = room.rules().filter(|own| own.layer == index && own.rule.action == Verdict::Ask);
        asks.extend(rules.map(|own| (own.rule.place.clone(), format!("`{}` asks", own.key))));
        for (place, what) in asks {
            found.push(
                Finding::lint(
                    CODE,
                    format!("{what}, and where `{UNATTENDED}` is for nobody can be asked"),
                    &place.source,
                    place.span,
                )
                .label("a deny, there")
                .also(&at.source, entry, "built on this")
                .help("allow it or deny it; where somebody can be asked, build on `acl:recommended`"),
            );
        }
    }
    found
}

/// The file that names the preset, and where.
fn builds_on(layer: &Layer) -> Option<(&File, crate::source::Span)> {
    layer.files.iter().find_map(|file| {
        let mut entries = file.extends.iter();
        let entry = entries.find(|entry| entry.value == UNATTENDED)?;
        Some((file, entry.span))
    })
}

/// What asks in a file beside its rules.
fn of_file(file: &File) -> Vec<(Place, String)> {
    let place = |span| Place {
        source: Arc::clone(&file.source),
        span,
    };
    let asking = |stated: &Option<crate::policy::rule::Placed<Verdict>>, what: &str| {
        let stated = stated.as_ref().filter(|stated| stated.value == Verdict::Ask)?;
        Some((place(stated.span), format!("`{what}` asks")))
    };
    let tiers = file.tiers.iter().filter(|entry| entry.verdict == Verdict::Ask);
    let mut out: Vec<(Place, String)> = tiers
        .map(|entry| (place(entry.span), format!("`{}` asks", entry.address)))
        .collect();
    out.extend(asking(&file.tier_default, "tiers.default"));
    out.extend(asking(&file.opaque, "commands.opaque"));
    let outside = file.workspace.as_ref().and_then(|own| own.outside.clone());
    out.extend(asking(&outside, "workspace.outside"));
    out
}
