//! A policy → `permission` of `opencode.json`.
//!
//! Of all patterns that match the last counts, so the weakest is written first, within each permission.

use super::wishes::{self, Said, Wish, Wishes};
use crate::agents::carry::{Carried, Report};
use crate::agents::opencode::TOOLS;
use crate::call::access::Mode;
use crate::call::glob::Token;
use crate::policy::patterns::{Anchor, HostName, PathPattern, WordPattern};
use crate::policy::rule::{Section, Verdict};
use std::fmt::Write as _;

const NOTES: &[&str] = &[
    "opencode compares texts: `git -C x push`, `bash -c 'git push'` and `/usr/bin/git push` are not `git push` to it. The hook judges what acl judges: `acl hook opencode`",
    "what no rule names opencode lets pass; `\"*\": \"ask\"` in the first line makes it ask",
];

/// Permission, pattern, verdict.
type Pair = (String, String, Verdict);

pub(in crate::agents::carry) fn export(wishes: Wishes) -> Carried {
    let notes = NOTES.iter().map(|note| (*note).to_owned()).collect();
    let mut report = Report {
        lines: wishes.lines,
        notes,
    };
    let mut pairs: Vec<Pair> = Vec::new();
    let behind = |wish: &Wish| {
        wish.verdict == Verdict::Deny
            && (wishes.ordered || matches!(wish.said, Said::Rest(Section::Commands)))
    };
    let redirected = match wishes.all.iter().any(behind) {
        true => Verdict::Deny,
        false => Verdict::Ask,
    };
    for wish in &wishes.all {
        let (own, says, exact) = told(wish);
        let becomes = own
            .iter()
            .map(|(key, pattern, _)| format!("{key}: {pattern}"))
            .collect();
        report.lines.push(wish.line(becomes, says, exact));
        // In front of all that is allowed stands what a redirection makes of it.
        let opens = own
            .iter()
            .any(|(key, _, verdict)| key == "bash" && *verdict == Verdict::Allow);
        let redirected = opens.then(|| ("bash".to_owned(), "*>*".to_owned(), redirected));
        // The strongest of equal patterns is told first.
        for pair in redirected.into_iter().chain(own) {
            if !pairs
                .iter()
                .any(|(key, pattern, _)| *key == pair.0 && *pattern == pair.1)
            {
                pairs.push(pair);
            }
        }
    }
    pairs.reverse();
    let mut keys: Vec<&str> = Vec::new();
    for (key, ..) in &pairs {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let mut text = String::from("{\n  \"permission\": {\n    \"*\": \"ask\"");
    for key in keys.into_iter().filter(|key| *key != "*") {
        let own: Vec<&Pair> = pairs.iter().filter(|(own, ..)| own == key).collect();
        let _ = write!(text, ",\n    {}: ", quoted(key));
        match own.as_slice() {
            [(_, pattern, verdict)] if pattern == "*" => {
                let _ = write!(text, "\"{verdict}\"");
            }
            _ => {
                let own: Vec<String> = own
                    .iter()
                    .map(|(_, pattern, verdict)| {
                        format!("      {}: \"{verdict}\"", quoted(pattern))
                    })
                    .collect();
                let _ = write!(text, "{{\n{}\n    }}", own.join(",\n"));
            }
        }
    }
    text += "\n  }\n}\n";
    Carried { text, report }
}

fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

fn told(wish: &Wish) -> (Vec<Pair>, Vec<String>, bool) {
    let not = |why: &str| (Vec::new(), vec![why.to_owned()], false);
    let allow = wish.verdict == Verdict::Allow;
    let pair = |key: &str, pattern: &str| (key.to_owned(), pattern.to_owned(), wish.verdict);
    let mut pairs = Vec::new();
    let mut says = Vec::new();
    match &wish.said {
        Said::Tier(name) => return tool(wish, std::slice::from_ref(name)),
        Said::Tool(names) => return tool(wish, names),
        Said::Commands(..) if !wish.through(&["bash"]) => return not("opencode has no such tool"),
        Said::Commands(patterns, exact) => {
            for text in wishes::all_starred(patterns, *exact, true, allow, &mut says) {
                // Older versions take `git push *` for at least one more word.
                if let Some(bare) = text.strip_suffix(" *").filter(|bare| !bare.ends_with('*')) {
                    pairs.push(pair("bash", bare));
                }
                pairs.push(pair("bash", &text));
            }
            if allow && !pairs.is_empty() {
                says.push("older versions of opencode do not see where a redirection leads: `*>*` is for newer ones".to_owned());
            }
        }
        Said::Paths(modes, patterns, exact) => {
            for mode in modes {
                let (key, tools): (_, &[&str]) = match mode {
                    Mode::Read => ("read", &["read"]),
                    _ => ("edit", &["edit", "write"]),
                };
                if !wish.through(tools) || *exact && allow {
                    says.push("opencode cannot say so little: it asks".to_owned());
                    continue;
                }
                for pattern in patterns {
                    match relative(pattern, allow) {
                        Some(texts) => pairs.extend(texts.iter().map(|text| pair(key, text))),
                        None => says.push(format!(
                            "`{}` cannot be said: opencode compares paths within the project",
                            pattern.text
                        )),
                    }
                }
            }
            says.push("for its tools `read` and `edit` only".to_owned());
        }
        Said::Hosts(patterns) => {
            for pattern in patterns {
                match (&pattern.host, &pattern.scheme) {
                    (HostName::Exact(host), Some(scheme)) if pattern.port.is_none() => {
                        pairs.push(pair("webfetch", &format!("{scheme}://{host}/*")))
                    }
                    (HostName::Exact(host), None) if pattern.port.is_none() => {
                        pairs.extend(
                            ["https", "http"]
                                .map(|scheme| pair("webfetch", &format!("{scheme}://{host}/*"))),
                        );
                    }
                    _ if allow => {
                        says.push(format!("`{}` would allow more: it asks", pattern.text))
                    }
                    _ => {
                        says.push(format!("`{}` is meant with every host", pattern.text));
                        pairs.push(pair("webfetch", "*"));
                    }
                }
            }
            says.push("for its fetch only, and not on another port".to_owned());
        }
        Said::Rest(_) if allow => return not("opencode is told to ask where no rule speaks"),
        Said::Rest(section) => {
            let keys: &[&str] = match section {
                Section::Commands => &["bash"],
                Section::Paths(Mode::Read) => &["read"],
                Section::Paths(Mode::Write) => &["edit"],
                Section::Hosts => &["webfetch"],
            };
            pairs.extend(keys.iter().map(|key| pair(key, "*")));
            says.push(
                "whatever a call of these tools does is meant, and not for command lines"
                    .to_owned(),
            );
        }
        Said::Outside => pairs.push(pair("external_directory", "*")),
    }
    (pairs, says, false)
}

/// Tools as such.
fn tool(wish: &Wish, names: &[String]) -> (Vec<Pair>, Vec<String>, bool) {
    let mut pairs = Vec::new();
    let mut says = Vec::new();
    for name in names {
        let keys: Vec<String> = match name.as_str() {
            "write" if wish.verdict == Verdict::Allow => {
                says.push("opencode asks `edit` for whatever edits files".to_owned());
                continue;
            }
            "edit" | "write" => vec!["edit".to_owned()],
            "agent" => vec!["task".to_owned()],
            "*" if wish.verdict == Verdict::Allow => {
                says.push("opencode is told to ask where no rule speaks".to_owned());
                continue;
            }
            "*" => TOOLS
                .iter()
                .map(|tool| tool.native.to_owned())
                .chain(["*_*".to_owned()])
                .collect(),
            // The names of its permissions have such letters too: `external_directory`.
            name if wish.verdict == Verdict::Allow && open(name) => {
                says.push(format!("`{name}` would allow more: it asks"));
                continue;
            }
            name => {
                let own: Vec<String> = TOOLS
                    .iter()
                    .filter(|tool| tool.canonical == name)
                    .map(|tool| tool.native.to_owned())
                    .collect();
                let mcp = name.strip_prefix("mcp__").map(|rest| match rest {
                    "*" => "*_*".to_owned(),
                    rest => rest.replacen("__", "_", 1),
                });
                if own.is_empty() {
                    vec![mcp.unwrap_or_else(|| name.to_owned())]
                } else {
                    own
                }
            }
        };
        if name == "edit" || name == "write" {
            says.push("`edit` is whatever edits files".to_owned());
        }
        pairs.extend(
            keys.into_iter()
                .map(|key| (key, "*".to_owned(), wish.verdict)),
        );
    }
    (pairs, says, false)
}

/// Whether a name may be another than that of a server's tool.
fn open(name: &str) -> bool {
    let server = name
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"));
    name.contains(['*', '?', '[']) && server.is_none_or(|(own, _)| own.contains(['*', '?', '[']))
}

/// Texts for a path below the project's folder.
fn relative(pattern: &PathPattern, allow: bool) -> Option<Vec<String>> {
    let literal = |word: &WordPattern| {
        word.literal()
            .is_some_and(|name| !name.contains(['*', '?', '[', '\\']))
    };
    let (last, front) = pattern.components.split_last()?;
    if allow {
        let plain = pattern.anchor == Anchor::Root && front.iter().all(literal);
        let names = wishes::components(pattern).join("/");
        return match last {
            _ if !plain => None,
            WordPattern::Any => Some(vec![names.replace("**", "*")]),
            word if literal(word) => Some(vec![names.clone(), format!("{names}/*")]),
            WordPattern::Word(_) => None,
        };
    }
    // It has no class of characters, and no way to write a star.
    let text = |word: &WordPattern| match word {
        WordPattern::Any => "**".to_owned(),
        WordPattern::Word(glob) => {
            let one = |token: &Token| match token {
                Token::Char('*' | '?' | '[' | '\\') | Token::One | Token::Class { .. } => '?',
                Token::Char(c) => *c,
                Token::Star => '*',
            };
            glob.tokens().iter().map(one).collect()
        }
    };
    let names: Vec<String> = pattern.components.iter().map(text).collect();
    let names = names
        .join("/")
        .replace("/**/", "/*")
        .replace("**/", "*")
        .replace("/**", "/*")
        .replace("**", "*");
    match pattern.anchor {
        Anchor::Name => Some(vec![
            names.clone(),
            format!("*/{names}"),
            format!("{names}/*"),
            format!("*/{names}/*"),
        ]),
        Anchor::Root if names.ends_with('*') => {
            Some(vec![names.trim_end_matches("/*").to_owned(), names.clone()])
        }
        Anchor::Root => Some(vec![names.clone(), format!("{names}/*")]),
        Anchor::Absolute | Anchor::Home => None,
    }
}
