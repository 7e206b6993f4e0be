//! A host pattern → scheme, port and labels from the right; a tool's name → itself.

use super::super::shape::Shape;
use super::globs::word;
use crate::policy::glob::Glob;
use crate::policy::patterns::{HostName, HostPattern};
use std::collections::BTreeSet;

/// The hosts that a pattern takes.
pub fn host(own: &HostPattern) -> Shape {
    // The usual one comes first: samples are drawn from it.
    let or_any = |text: Option<String>, usual| match text {
        Some(text) => Shape::text(&text),
        None => Shape::Any(vec![Shape::text(usual), Shape::char().many()]),
    };
    let mut all = vec![
        Shape::Break,
        or_any(own.scheme.clone(), "https"),
        Shape::Break,
        or_any(own.port.map(|port| port.to_string()), "443"),
    ];
    match &own.host {
        HostName::Any => all.push(Shape::parts()),
        HostName::Exact(name) => all.push(labels(name)),
        HostName::Below(name) => all.extend([
            labels(name),
            Shape::Break,
            Shape::char().many(),
            Shape::parts(),
        ]),
    }
    Shape::Seq(all)
}

/// The labels of a name from the right; an address is one.
fn labels(name: &str) -> Shape {
    let parts: Vec<&str> = match is_address(name) {
        true => vec![name],
        false => name.rsplit('.').collect(),
    };
    Shape::Seq(
        parts
            .into_iter()
            .flat_map(|label| [Shape::Break, Shape::text(label)])
            .collect(),
    )
}

/// Whether a canonical host is an address.
pub fn is_address(name: &str) -> bool {
    name.starts_with('[') || name.parse::<std::net::Ipv4Addr>().is_ok()
}

/// A host that can be written out: with a scheme and port that the policy names, or as usual.
pub fn plain_host<'h>(patterns: impl Iterator<Item = &'h HostPattern>) -> Shape {
    let mut schemes = BTreeSet::from(["https".to_owned()]);
    let mut ports = BTreeSet::from(["443".to_owned()]);
    for pattern in patterns {
        schemes.extend(pattern.scheme.clone());
        ports.extend(pattern.port.map(|port| port.to_string()));
    }
    let texts =
        |all: BTreeSet<String>| Shape::Any(all.iter().map(|own| Shape::text(own)).collect());
    let letter = Shape::One {
        negated: false,
        chars: ('0'..='9').chain('a'..='z').collect(),
    };
    let more = Shape::One {
        negated: false,
        chars: ['-']
            .into_iter()
            .chain('0'..='9')
            .chain('a'..='z')
            .collect(),
    };
    let label = Shape::Seq(vec![Shape::Break, letter.clone(), more.many()]);
    let address = Shape::Seq(vec![
        Shape::Break,
        Shape::One {
            negated: false,
            chars: ['.', '[', ']', ':']
                .into_iter()
                .chain('0'..='9')
                .chain('a'..='f')
                .collect::<BTreeSet<char>>()
                .into_iter()
                .collect(),
        }
        .many(),
    ]);
    Shape::Seq(vec![
        Shape::Break,
        texts(schemes),
        Shape::Break,
        texts(ports),
        Shape::Any(vec![Shape::Seq(vec![label.clone(), label.many()]), address]),
    ])
}

/// The names that a pattern of tools takes.
pub fn tool(name: &Glob) -> Option<Shape> {
    word(name, false)
}

/// A tool's name.
pub fn plain_tool() -> Shape {
    let one = Shape::One {
        negated: true,
        chars: vec![' ', ','],
    };
    Shape::Seq(vec![Shape::Break, one.clone(), one.many()])
}
