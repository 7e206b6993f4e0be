//! An agent's tools under their own names → calls of the canonical ones, so that one policy serves all agents.
//!
//! In: a table, a name and arguments. Out: one call, or several where an argument names several things. What the table
//! does not name is kept as it is; a tool that it does not name keeps its name.

use crate::call::tools::canonical;
use crate::call::{Args, Call, Mode, path};
use serde_json::{Map, Value};

/// A tool of an agent.
#[derive(Debug)]
pub struct Tool {
    /// The agent's name for it.
    pub native: &'static str,
    /// The canonical one.
    pub canonical: &'static str,
    /// The agent's names for arguments, each with what it is.
    pub args: &'static [(&'static str, Means)],
    /// It searches with `ripgrep`, which leaves out what ignore files name.
    pub gitignore: bool,
}

/// What an argument of an agent's tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// The argument of this name.
    Is(&'static str),
    /// The folder that the call starts from.
    Folder,
    /// A glob, in the folder that `path` names: where it looks is what stands before its first wildcard.
    Glob,
    /// A list of paths and globs: all below each is read.
    Each,
    /// A text with URLs in it: each is fetched.
    Urls,
}

/// A row of a table.
pub(super) const fn tool(
    native: &'static str,
    canonical: &'static str,
    args: &'static [(&'static str, Means)],
) -> Tool {
    Tool {
        native,
        canonical,
        args,
        gitignore: false,
    }
}

/// A row for a tool that searches below a folder with `ripgrep`.
pub(super) const fn ripgrep(native: &'static str, args: &'static [(&'static str, Means)]) -> Tool {
    Tool {
        gitignore: true,
        ..tool(native, "search", args)
    }
}

/// A tool that does nothing by itself: what it starts is judged on its own, or it stays within the agent.
pub(super) const fn inner(native: &'static str, canonical: &'static str) -> Tool {
    tool(native, canonical, &[])
}

/// More things than any agent names in one call.
const MOST: usize = 64;

/// The calls that one call of an agent's tool comes to; all that is known besides is as in `base`.
///
/// # Errors
/// A sentence about arguments of which it cannot be said what they name.
pub(super) fn calls(
    tools: &[Tool],
    name: &str,
    args: Args,
    base: &Call,
) -> Result<Vec<Call>, String> {
    let named = |tool: &str, args: Args| Call {
        tool: tool.to_owned(),
        args,
        // To plan is to keep lists and to ask.
        mode: match (base.mode, tool) {
            (Mode::Plan, "agent" | "own") => Mode::Interactive,
            (mode, _) => mode,
        },
        ..base.clone()
    };
    let Some(tool) = tools.iter().find(|tool| tool.native == name) else {
        // Of the same name as a canonical one, but not known to be it.
        let other = canonical(name).and(base.agent.as_ref());
        let name = other.map_or_else(|| name.to_owned(), |agent| format!("{agent}:{name}"));
        return Ok(vec![named(&name, args)]);
    };
    // Arguments that are no object are refused where the call is decided.
    let Ok(given) = args.object() else {
        return Ok(vec![named(tool.canonical, args)]);
    };
    let mut map = Map::new();
    let mut cwd = base.cwd.clone();
    let (mut glob, mut folder) = (None, None);
    let mut several: Vec<(&str, String)> = Vec::new();
    for (key, value) in given {
        let means = tool.args.iter().find(|(own, _)| own == key);
        let text = |what: &str| {
            let text = value.as_str().map(str::to_owned);
            text.ok_or_else(|| format!("`{key}` of {name} is no {what}"))
        };
        match means.map(|(_, means)| *means) {
            // An argument that is null is left out.
            Some(_) if value.is_null() => {}
            Some(Means::Folder) if value.as_str() == Some("") => {}
            Some(Means::Folder) => {
                if folder.replace(text("folder")?).is_some() {
                    return Err(format!("{name} names two folders to start from"));
                }
            }
            Some(Means::Glob) => {
                glob = Some(text("text")?);
                keep(&mut map, name, key, key, value)?;
            }
            Some(Means::Each) => {
                let items = value.as_array().map(|items| {
                    let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                    texts.collect::<Option<Vec<String>>>()
                });
                let items = items
                    .flatten()
                    .ok_or_else(|| format!("`{key}` of {name} is no list of texts"))?;
                let folders = items.iter().flat_map(|item| places(item));
                several.extend(folders.map(|item| ("path", item)));
            }
            Some(Means::Urls) => {
                several.extend(urls(&text("text")?).into_iter().map(|url| ("url", url)));
            }
            Some(Means::Is(own)) => keep(&mut map, name, own, key, value)?,
            None => keep(&mut map, name, key, key, value)?,
        }
    }
    if let Some(glob) = glob {
        let folder = map.get("path").and_then(Value::as_str).unwrap_or(".");
        let mut all: Vec<String> = places(&glob)
            .iter()
            .map(|place| path::join(folder, place))
            .collect();
        match all.as_slice() {
            [_] => {
                let place = all.pop().map(Value::String);
                map.extend(place.map(|place| ("path".to_owned(), place)));
            }
            _ => {
                map.remove("path");
                several.extend(all.into_iter().map(|place| ("path", place)));
            }
        }
    }
    if let Some(folder) = folder {
        cwd = Some(cwd.map_or(folder.clone(), |cwd| path::join(&cwd, &folder)));
    }
    if several.len() > MOST {
        return Err(format!("{name} names more than {MOST} things at once"));
    }
    let of = |map: Map<String, Value>| Call {
        cwd: cwd.clone(),
        gitignore: tool.gitignore,
        ..named(tool.canonical, Args::from(Value::Object(map)))
    };
    // What is missing where nothing is named is told where the call is decided.
    let alone = several
        .first()
        .is_none_or(|(key, _)| map.contains_key(*key));
    let mut calls: Vec<Call> = several
        .into_iter()
        .map(|(key, item)| {
            let mut map = map.clone();
            map.insert(key.to_owned(), Value::String(item));
            of(map)
        })
        .collect();
    if alone {
        calls.push(of(map));
    }
    Ok(calls)
}

/// Two arguments that come to the same one would leave open which of them the tool goes by.
fn keep(
    map: &mut Map<String, Value>,
    tool: &str,
    own: &str,
    key: &str,
    value: &Value,
) -> Result<(), String> {
    match map.insert(own.to_owned(), value.clone()) {
        None => Ok(()),
        Some(_) => Err(format!(
            "{tool} has two arguments for `{own}`, one is `{key}`"
        )),
    }
}

/// The folders that a glob looks in, one for each of the words that its braces make.
fn places(glob: &str) -> Vec<String> {
    let mut all = vec![glob.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = all.pop() {
        match braces(&text) {
            None => done.extend(ways(&text).map(|text| fixed(&text))),
            Some(words) if done.len() + all.len() + words.len() <= MOST => all.extend(words),
            // Too many to tell where they look.
            Some(words) => {
                return words
                    .into_iter()
                    .chain(all)
                    .chain(done)
                    .cycle()
                    .take(MOST + 1)
                    .collect();
            }
        }
    }
    done.sort();
    done.dedup();
    done
}

/// A glob, and where `..` stands behind a wildcard, what it comes to: `src/*/../a/*` looks in `src/a`.
fn ways(glob: &str) -> impl Iterator<Item = String> {
    let leads_up = glob.split('/').any(|part| part == "..");
    let come_to = |parts: &mut dyn Iterator<Item = &str>| {
        let mut out: Vec<&str> = Vec::new();
        for part in parts {
            match (part, out.last()) {
                ("..", Some(last)) if !matches!(*last, "" | "..") => drop(out.pop()),
                _ => out.push(part),
            }
        }
        out.join("/")
    };
    let none = |part: &&str| *part != "**";
    let others = leads_up.then(|| {
        [
            come_to(&mut glob.split('/')),
            come_to(&mut glob.split('/').filter(none)),
        ]
    });
    std::iter::once(glob.to_owned()).chain(others.into_iter().flatten())
}

/// The words that the first braces of a text make; none where it has none that hold several.
fn braces(text: &str) -> Option<Vec<String>> {
    let (start, rest) = text.split_once('{')?;
    let (mut depth, mut from, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in rest.char_indices() {
        match (c, depth) {
            ('{', _) => depth += 1,
            ('}', 0) => {
                parts.push(rest.get(from..at)?);
                let end = rest.get(at + 1..)?;
                return Some(
                    parts
                        .iter()
                        .map(|part| format!("{start}{part}{end}"))
                        .collect(),
                );
            }
            ('}', _) => depth -= 1,
            (',', 0) => {
                parts.push(rest.get(from..at)?);
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// The folder that a glob looks in: the components before the first one with a wildcard, and as many above it as `..`
/// stand behind. A path without one is itself.
fn fixed(glob: &str) -> String {
    let wild = |part: &&str| part.contains(['*', '?', '[', '{', '\\', '!', '(']);
    let Some(first) = glob.split('/').find(wild) else {
        return glob.to_owned();
    };
    let at = glob
        .split('/')
        .take_while(|part| *part != first)
        .map(|part| part.len() + 1)
        .sum::<usize>();
    let folder = match glob.get(..at) {
        Some("/") => "/",
        Some("") | None => ".",
        Some(folder) => folder.trim_end_matches('/'),
    };
    let behind = glob.get(at..).unwrap_or_default();
    let ups = behind.matches("..").count();
    match behind.split('/').any(|part| part.contains("..")) {
        true => format!("{folder}{}", "/..".repeat(ups)),
        false => folder.to_owned(),
    }
}

/// The URLs in a text: every `scheme://` up to the next blank, marks of the sentence at its end aside. One inside another
/// counts too: who reads the text may take either.
fn urls(text: &str) -> Vec<String> {
    let in_word = |word: &str| -> Vec<String> {
        let word = word.trim_end_matches(|c: char| ")>]}\"'`,.;!".contains(c));
        let marks = word.match_indices("://").take(MOST + 1);
        let from = |(mark, _): (usize, &str)| {
            let before = word.get(..mark).unwrap_or_default();
            let scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            let start = before.trim_end_matches(scheme).len();
            word.get(start..).unwrap_or_default().to_owned()
        };
        marks.map(from).collect()
    };
    let all = text.split_whitespace().flat_map(in_word);
    all.take(MOST + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_globs_look() {
        for (glob, folder) in [
            ("*.txt", "."),
            ("src/**/*.ts", "src"),
            ("/etc/**", "/etc"),
            ("/*", "/"),
            ("../../x/*", "../../x"),
            ("a/b.rs", "a/b.rs"),
            ("a/{b,../../c}/d", "a/../.."),
            ("src/*/../../.env", "src/../.."),
            ("src/**/../.env", "src/.."),
            ("", ""),
        ] {
            assert_eq!(fixed(glob), folder, "{glob}");
        }
    }

    #[test]
    fn braces_are_several_places() {
        for (glob, folders) in [
            ("**/*.{ts,tsx}", &["."][..]),
            ("{src,../home/.ssh}/*", &["../home/.ssh", "src"]),
            ("a/../b", &["a/../b", "b"]),
            ("src/{a.rs,../.env}", &[".env", "src/../.env", "src/a.rs"]),
            (
                "src/*/../../../home/.ssh/*",
                &["../home/.ssh", "src/../../.."],
            ),
            ("src/**/../.env", &[".env", "src/..", "src/.env"]),
            ("src/{a,{b,../c}}", &["c", "src/../c", "src/a", "src/b"]),
            ("{/etc,src}/*", &["/etc", "src"]),
            ("a{b", &["."]),
        ] {
            assert_eq!(places(glob), folders, "{glob}");
        }
    }

    #[test]
    fn urls_in_a_text() {
        for (text, all) in [
            (
                "read http://a/b and (https://c.d).",
                vec!["http://a/b", "https://c.d"],
            ),
            ("none", vec![]),
            (
                "http://a/,https://b",
                vec!["http://a/,https://b", "https://b"],
            ),
            ("://", vec!["://"]),
            ("http://[::1]:80/", vec!["http://[::1]:80/"]),
        ] {
            assert_eq!(urls(text), all, "{text}");
        }
    }
}
