//! Who is contacted: hosts, URLs, remotes, images, databases.
//!
//! In: a value that names another machine, or may. Out: the host, or the file where the URL names one. A name without
//! a host in it (a remote, an image, a package) says nothing.

use super::Judge;
use super::consoles::CONSOLE;
use crate::call::access::{Mode, Reach};
use crate::call::programs::Kind;
use crate::call::shell::effects::reading::cut;
use crate::call::shell::effects::{Effect, What};
use crate::call::word::Word;

/// What is written like a URL, and names no host.
const HOSTLESS: &[&str] = &[
    "file",
    "s3",
    "gs",
    "az",
    "abfs",
    "abfss",
    "wasb",
    "wasbs",
    "hdfs",
    "npm",
    "pkg",
    "package",
    "docker-daemon",
    "containers-storage",
    "sqlite",
    "sqlite3",
    "duckdb",
    "jdbc",
];

impl Judge<'_> {
    pub(super) fn host(&mut self, word: &Word, at: usize, naming: Option<usize>) {
        if word.pieces.is_empty() {
            return;
        }
        if let Some(path) = file_of(word) {
            return self.path(&path, at, naming, Mode::Read, Reach::Itself, true);
        }
        // A socket of this machine.
        let prefix = word.prefix();
        if prefix.starts_with('/') && !prefix.starts_with("//") {
            return self.maybe(word, at);
        }
        // `user@host` without a scheme, as `ssh` takes it.
        let user = prefix
            .split_once('@')
            .map(|(user, _)| user)
            .filter(|user| !user.contains(['/', ':']));
        let value = match user {
            Some(user) => cut(word, user.len() + 1),
            None => word.clone(),
        };
        self.effects.push((
            at,
            Effect {
                what: What::Host,
                value,
                naming,
            },
        ));
    }

    /// `host:path` or a path (`scp`, `rsync`).
    pub(super) fn remote(&mut self, word: &Word, at: usize, naming: Option<usize>, write: bool) {
        if word.prefix().contains("://") {
            return self.host(word, at, naming);
        }
        if let Some(end) = colon(word) {
            let host = word.prefix().get(..end).unwrap_or("");
            let host = host.rsplit('@').next().unwrap_or(host);
            return self.host(&Word::known(host, word.span), at, naming);
        }
        let reach = self.reach(false, true);
        let mode = if write { Mode::Write } else { Mode::Read };
        let reach = match (write, reach) {
            (true, Reach::Below { .. }) => Reach::SomethingBelow,
            (_, reach) => reach,
        };
        let word = self.placed(word);
        self.path(&word, at, naming, mode, reach, true);
    }

    /// A remote's name says nothing; a URL, `host:path` and a path do.
    pub(super) fn repository(&mut self, word: &Word, at: usize, naming: Option<usize>) {
        let prefix = word.prefix();
        // `ext::sh -c …` runs a command.
        if prefix.contains("::") {
            if prefix.starts_with("ext::") {
                self.script(&cut(word, "ext::".len()), at, false);
            }
            return self.escalate("uses a remote helper, which may run a command", at);
        }
        let path = prefix.starts_with(['/', '.', '~']);
        if prefix.contains("://") || colon(word).is_some() || path {
            self.remote(word, at, naming, false);
        }
    }

    /// A registry or a forge may stand before a name, or a URL in its place (`gh -R`). Who goes to one of its own accord
    /// goes nowhere else when it is written out.
    pub(super) fn image(&mut self, word: &Word, at: usize) {
        let prefix = word.prefix();
        if is_url(prefix) {
            return self.contact(word, at);
        }
        let Some((first, _)) = prefix.split_once('/') else {
            return;
        };
        if first == "localhost" || first.contains(['.', ':']) {
            self.contact(&Word::known(first, word.span), at);
        }
    }

    /// A host that is contacted, unless the program contacts it by itself.
    pub(super) fn contact(&mut self, word: &Word, at: usize) {
        let prefix = word.prefix();
        let rest = prefix.split_once("://").map_or(prefix, |(_, rest)| rest);
        let end = rest.find(['/', ':', '?', '#']);
        let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
        let whole = end.is_some() || word.text().is_some();
        if !(whole && self.harmless.has(name)) {
            self.host(word, at, None);
        }
    }

    /// What is fetched: `x`, `https://h/x`, `x @ git+ssh://h/x`, `./x`.
    pub(super) fn source(&mut self, word: &Word, at: usize) {
        let prefix = word.prefix();
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let scheme = prefix.find("://").map(|end| {
            let start = prefix.get(..end).unwrap_or("").trim_end_matches(part);
            start.len()
        });
        let git = prefix
            .find("git@")
            .filter(|at| prefix.get(*at..).is_some_and(|rest| rest.contains(':')));
        match scheme.or(git) {
            Some(start) => {
                let url = cut(word, start);
                match file_of(&url) {
                    Some(path) => self.maybe(&path, at),
                    None if is_url(url.prefix()) => self.contact(&url, at),
                    None => {}
                }
            }
            None if prefix.starts_with(['.', '/', '~']) => self.maybe(word, at),
            None => {}
        }
    }

    /// A database by its name, by a URL, or by `host=h dbname=x`.
    pub(super) fn database(&mut self, word: &Word, at: usize) {
        if is_url(word.prefix()) {
            return self.host(word, at, None);
        }
        let shown = word.shown();
        for part in shown.split_whitespace().take(CONSOLE) {
            let hosts = ["host=", "hostaddr="];
            let Some(names) = hosts.iter().find_map(|key| part.strip_prefix(key)) else {
                continue;
            };
            for name in names.trim_matches('\'').split(',') {
                self.host(&Word::known(name, word.span), at, None);
            }
        }
    }

    /// `@server`, a name; `+short` and a type such as `MX` are none.
    pub(super) fn lookup(&mut self, word: &Word, at: usize) {
        let prefix = word.prefix();
        if prefix.starts_with('@') {
            return self.host(&cut(word, 1), at, None);
        }
        let kind = !prefix.is_empty()
            && prefix
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
        let word_of_dig = prefix.starts_with('+') || (kind && word.text().is_some());
        if !word_of_dig {
            self.host(word, at, None);
        }
    }
}

/// Whether who takes such a value may fetch it, where it is a URL.
pub(super) const fn fetches(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Maybe
            | Kind::Read
            | Kind::ReadBelow
            | Kind::ReadShown
            | Kind::Names
            | Kind::Both
            | Kind::BothBelow
            | Kind::Write
            | Kind::WriteInto
            | Kind::Response
            | Kind::ResponseBelow
            | Kind::CodeFile
            | Kind::Dir
            | Kind::Sends
    )
}

/// Whether a text begins as a URL with a host, or as git writes one: `https://h`, `git+ssh://h`, `git@h:`.
pub(super) fn is_url(text: &str) -> bool {
    let named = |scheme: &str| {
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(part)
            && !HOSTLESS
                .iter()
                .any(|known| scheme.eq_ignore_ascii_case(known))
    };
    match text.split_once("://") {
        Some((scheme, rest)) => named(scheme) && !rest.is_empty(),
        None => text
            .strip_prefix("git@")
            .is_some_and(|rest| rest.contains(':')),
    }
}

/// Whether a text is an address that holds code, or says where a package of it comes from.
pub(super) fn holds_code(text: &str) -> bool {
    // `npm test -- --import=data:…`.
    let value = text.split_once('=').filter(|_| text.starts_with('-'));
    let text = value.map_or(text, |(_, value)| value);
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let known = ["data", "blob", "npm", "jsr"];
    known.iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// The file that a URL names: `file:///a`, `FILE://localhost/%61`, `file:/a`. Braces and brackets stand for several.
pub(super) fn file_of(word: &Word) -> Option<Word> {
    let prefix = word.prefix();
    let scheme = prefix
        .get(..5)
        .filter(|scheme| scheme.eq_ignore_ascii_case("file:"))?;
    let rest = prefix.get(scheme.len()..).unwrap_or("");
    let host = match rest.strip_prefix("//") {
        Some(after) => 2 + after.find('/').unwrap_or(after.len()),
        None => 0,
    };
    let path = cut(word, scheme.len() + host);
    let Some(text) = path.text() else {
        return Some(path);
    };
    if text.contains(['{', '[']) {
        return Some(Word::unknown(text, word.span, false));
    }
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
    Some(Word::known(decoded, word.span))
}

/// Where the colon of `host:path` stands: before any slash, behind more than a drive letter.
pub(super) fn colon(word: &Word) -> Option<usize> {
    let prefix = word.prefix();
    prefix
        .find([':', '/'])
        .filter(|at| *at > 0 && prefix.get(*at..*at + 1) == Some(":"))
}
