//! Host patterns against URLs, and the index that finds the patterns worth trying.
//!
//! In: host rules, the URL of an access. Out: how they fit. Names are compared in punycode, addresses in their one spelling.

use super::paths::Stance;
use super::quick::HashMap;
use crate::call::word::Word;
use crate::policy::glob::Fit;
use crate::policy::patterns::{HostName, HostPattern, canonical_host};
use crate::policy::rule::Hosts;

/// Schemes of which the host is what is contacted.
pub const PLAIN: [&str; 9] = [
    "http", "https", "ws", "wss", "ftp", "ftps", "sftp", "ssh", "git",
];

/// Those of databases: there the rest of the URL, or a comma, may name other hosts.
const DATABASES: [&str; 6] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "redis",
    "rediss",
];

/// What of a URL the rules look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contacted {
    /// Scheme, where one is given.
    pub scheme: Option<String>,
    /// The canonical host; none where it cannot be computed or read.
    pub host: Option<String>,
    /// Port: given, or the scheme's own.
    pub port: Option<u16>,
    /// As given.
    pub shown: String,
}

impl Contacted {
    /// Reads a URL, or a bare host with or without port.
    pub fn of(word: &Word) -> Self {
        let shown = word.shown();
        let nothing = Self {
            scheme: None,
            host: None,
            port: None,
            shown: shown.clone(),
        };
        let text = match word.text() {
            Some(text) => text.trim().to_owned(),
            // The host of `https://docs.rs/$crate` is known although the rest is not.
            None => match host_before_unknown(word) {
                Some(text) => text,
                None => return nothing,
            },
        };
        // Programs do not agree on a backslash before the path: it ends the host for some, and is part of a user name
        // for others.
        let authority = text
            .split(['/', '?', '#'])
            .find(|part| !part.is_empty() && !part.ends_with(':'));
        if authority.is_some_and(|part| part.contains('\\')) {
            return nothing;
        }
        let has_scheme = text.contains("://");
        let whole = if has_scheme {
            text
        } else {
            format!("http://{}", text.trim_start_matches("//"))
        };
        let Ok(url) = url::Url::parse(&whole) else {
            return nothing;
        };
        // Schemes that carry raw bytes or name no host say nothing about what an allow of the host means.
        let alone = !whole.contains([',', '?', '#', '%']);
        let plain = PLAIN.contains(&url.scheme()) || DATABASES.contains(&url.scheme()) && alone;
        let host = url
            .host_str()
            .filter(|_| plain || url.scheme().starts_with("git+"))
            .and_then(|host| canonical_host(host).ok());
        Self {
            scheme: has_scheme.then(|| url.scheme().to_owned()),
            host,
            port: if has_scheme {
                url.port_or_known_default()
            } else {
                url.port()
            },
            shown,
        }
    }
}

/// The text up to the end of the host, where an unknown part comes after it.
fn host_before_unknown(word: &Word) -> Option<String> {
    let prefix = word.prefix();
    let after = prefix.find("://").map(|at| at + 3)?;
    let end = prefix.get(after..)?.find(['/', '?', '#'])? + after;
    // What stands before an `@` is no host, and an `@` may still come only before the path.
    prefix.get(..end).map(str::to_owned)
}

/// How patterns with exceptions fit a host.
pub fn fit(hosts: &Hosts, contacted: &Contacted, stance: Stance) -> Fit {
    let best = any(&hosts.patterns, contacted);
    let excepted = any(&hosts.except, contacted);
    match (stance, excepted) {
        (_, Fit::Must) => Fit::No,
        (Stance::Loosens, fit) if fit.may() => Fit::No,
        _ => best,
    }
}

fn any(patterns: &[HostPattern], contacted: &Contacted) -> Fit {
    patterns
        .iter()
        .map(|pattern| one(pattern, contacted))
        .max()
        .unwrap_or(Fit::No)
}

fn one(pattern: &HostPattern, contacted: &Contacted) -> Fit {
    let name = match (&pattern.host, &contacted.host) {
        (HostName::Any, _) => Fit::Must,
        (_, None) => Fit::MayUnknown,
        (HostName::Exact(own), Some(host)) => (own == host).into(),
        (HostName::Below(own), Some(host)) => host
            .strip_suffix(own.as_str())
            .is_some_and(|rest| rest.ends_with('.'))
            .into(),
    };
    let same = |own: bool, given: bool, equal: bool| match (own, given) {
        (false, _) => Fit::Must,
        (true, false) => Fit::MayUnknown,
        (true, true) => equal.into(),
    };
    let scheme = same(
        pattern.scheme.is_some(),
        contacted.scheme.is_some(),
        pattern.scheme == contacted.scheme,
    );
    let port = same(
        pattern.port.is_some(),
        contacted.port.is_some(),
        pattern.port == contacted.port,
    );
    name.and(scheme).and(port)
}

/// Finds the patterns that may meet a host without trying all.
#[derive(Debug, Default)]
pub struct HostIndex {
    exact: HashMap<String, Vec<usize>>,
    below: HashMap<String, Vec<usize>>,
    any: Vec<usize>,
    all: Vec<usize>,
}

impl HostIndex {
    /// Adds what these patterns belong to.
    pub fn add(&mut self, patterns: &[HostPattern], owner: usize) {
        self.all.push(owner);
        for pattern in patterns {
            match &pattern.host {
                HostName::Exact(name) => self.exact.entry(name.clone()).or_default().push(owner),
                HostName::Below(name) => self.below.entry(name.clone()).or_default().push(owner),
                HostName::Any => self.any.push(owner),
            }
        }
    }

    /// Whether there is any host rule.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What the patterns that may meet the host belong to, each once, in order.
    pub fn candidates(&self, contacted: &Contacted) -> Vec<usize> {
        let Some(host) = &contacted.host else {
            return self.all.clone();
        };
        let mut found = self.any.clone();
        found.extend(self.exact.get(host).into_iter().flatten());
        for (at, _) in host.match_indices('.') {
            found.extend(
                self.below
                    .get(host.get(at + 1..).unwrap_or_default())
                    .into_iter()
                    .flatten(),
            );
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::patterns;
    use crate::source::Span;

    #[test]
    fn hosts() {
        let rows = [
            (
                "*.internal.example",
                "https://a.b.internal.example/x",
                Fit::Must,
            ),
            ("*.internal.example", "https://internal.example/x", Fit::No),
            ("example.com", "example.com", Fit::Must),
            ("example.com", "EXAMPLE.com:8080/x", Fit::Must),
            ("example.com", "https://example.com./", Fit::Must),
            ("example.com", "https://user@evil.com/example.com", Fit::No),
            ("evil.com", "https://example.com@evil.com/", Fit::Must),
            ("apple.example", "https://аpple.example/", Fit::No),
            ("127.0.0.1", "http://2130706433/", Fit::Must),
            ("127.0.0.1", "http://[::ffff:127.0.0.1]/", Fit::Must),
            ("127.0.0.1", "[::FFFF:7f00:1]:80", Fit::Must),
            ("[::ffff:127.0.0.1]", "http://127.0.0.1/", Fit::Must),
            ("127.0.0.1", "http://[::1]/", Fit::No),
            ("https://docs.rs", "http://docs.rs/", Fit::No),
            ("docs.rs:443", "https://docs.rs/", Fit::Must),
            ("https://docs.rs", "docs.rs", Fit::MayUnknown),
            ("docs.rs", r"https://docs.rs\@evil.com/", Fit::MayUnknown),
            (
                "docs.rs",
                "gopher://docs.rs:6379/_FLUSHALL",
                Fit::MayUnknown,
            ),
            ("docs.rs", r"https://docs.rs/a\b", Fit::Must),
        ];
        for (pattern, url, want) in rows {
            let pattern = patterns::host(pattern).unwrap();
            assert_eq!(
                one(&pattern, &Contacted::of(&Word::known(url, Span::default()))),
                want,
                "{} on {url}",
                pattern.text
            );
        }
    }
}
