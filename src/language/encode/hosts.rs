//! A host pattern → scheme, port and labels from the right; a tool's name → itself.

use super::super::shape::Shape;
use super::globs::word;
use crate::matcher::hosts::PLAIN;
use crate::policy::glob::Glob;
use crate::policy::patterns::{HostName, HostPattern};
use std::collections::BTreeSet;

/// The hosts that a pattern takes; with `sure` only where the host of a URL is surely read.
pub fn host(own: &HostPattern, sure: bool) -> Shape {
    let any = || Shape::char().many();
    let scheme = match &own.scheme {
        Some(scheme) if readable(scheme) || !sure || own.host == HostName::Any => {
            Shape::text(&padded(scheme, "https"))
        }
        Some(_) => Shape::Any(Vec::new()),
        None if sure && own.host != HostName::Any => {
            let schemes = PLAIN.iter().copied().chain([""]);
            Shape::Any(
                schemes
                    .map(|own| Shape::text(&padded(own, "https")))
                    .collect(),
            )
        }
        None => any(),
    };
    let port = own.port.map(|port| padded(&port.to_string(), "443"));
    let mut all = vec![
        Shape::Break,
        scheme,
        Shape::Break,
        port.map_or_else(any, |port| Shape::text(&port)),
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

/// A scheme or port in a word, or that there is none: the usual one is the shortest, and so found first; none the last.
fn padded(text: &str, usual: &str) -> String {
    let more = match text {
        "" => 24,
        text if text == usual => 0,
        _ => 12,
    };
    format!("{text}{}", "-".repeat(more))
}

/// The scheme or port that a word says; empty where there is none.
pub fn unpadded(text: &str) -> &str {
    text.trim_end_matches('-')
}

fn readable(scheme: &str) -> bool {
    PLAIN.contains(&scheme) || scheme.starts_with("git+")
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

/// A host that can be written out: with a scheme and a port that a policy names, with others, and without.
pub fn plain_host<'h>(patterns: impl Iterator<Item = &'h HostPattern>) -> Shape {
    let mut schemes = BTreeSet::from(["https", "http"]);
    let mut ports = BTreeSet::from([443, 80]);
    let mut addresses = BTreeSet::new();
    for pattern in patterns {
        if let HostName::Exact(name) = &pattern.host {
            addresses.extend(Some(name.as_str()).filter(|own| is_address(own)));
        }
        schemes.extend(pattern.scheme.as_deref());
        ports.extend(pattern.port);
    }
    let other = PLAIN.iter().find(|own| !schemes.contains(*own)).copied();
    schemes.extend(other);
    ports.extend((8000..=u16::MAX).find(|own| !ports.contains(own)));
    // A port that goes without saying is none where no scheme says which.
    let without = |scheme: &&&str| {
        let url = url::Url::parse(&format!("{scheme}://x"));
        url.is_ok_and(|url| url.port_or_known_default().is_none())
    };
    let portless: Vec<&str> = schemes
        .iter()
        .filter(without)
        .copied()
        .chain([""])
        .collect();
    let bare: Vec<u16> = ports.iter().copied().filter(|own| *own != 80).collect();
    let scheme = |all: &mut dyn Iterator<Item = &str>| {
        Shape::Any(all.map(|own| Shape::text(&padded(own, "https"))).collect())
    };
    let port = |all: &mut dyn Iterator<Item = u16>| {
        let texts = all.map(|own| Shape::text(&padded(&own.to_string(), "443")));
        Shape::Any(texts.collect())
    };
    let ends =
        |scheme: Shape, port: Shape| Shape::Seq(vec![Shape::Break, scheme, Shape::Break, port]);
    let ends = Shape::Any(vec![
        ends(
            scheme(&mut schemes.iter().copied()),
            port(&mut ports.iter().copied()),
        ),
        ends(
            scheme(&mut portless.into_iter()),
            Shape::text(&padded("", "443")),
        ),
        ends(
            Shape::text(&padded("", "https")),
            port(&mut bare.into_iter()),
        ),
    ]);
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
    addresses.insert("192.0.2.1");
    let addresses = addresses.iter().map(|own| Shape::text(own));
    let address = Shape::Seq(vec![Shape::Break, Shape::Any(addresses.collect())]);
    Shape::Seq(vec![
        ends,
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
