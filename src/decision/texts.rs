//! The prose of a decision: for the model, and for the reasons.
//!
//! A denial is a tool result: what was refused, why, what to do instead, and not to retry the same call. It speaks
//! of this call, never of this tool. `[messages]` may replace each text.

use super::{Basis, Decision, Reason};
use crate::call::access::{Access, Kind};
use crate::call::word::{Piece, Word};
use crate::matcher::Matcher;
use crate::policy::rule::Verdict;
use std::borrow::Cow;
use std::collections::HashSet;

/// The built-in texts, by the names that `[messages]` uses.
pub const DEFAULTS: &[(&str, &str)] = &[
    (
        "denied",
        "This call of {tool} was refused: {reason}. {instead}Do not retry the same call; adjust the plan, or ask the user how to go on.",
    ),
    (
        "disabled",
        "This call of {tool} was refused: {reason}. {instead}Do not retry it; go on without it, or ask the user.",
    ),
    (
        "arguments",
        "This call of {tool} was refused because its arguments are not valid: {reason}. Do not retry the same call; correct the arguments first.",
    ),
    (
        "asked",
        "This call of {tool} needs a human decision: {reason}. {instead}",
    ),
    (
        "refused_by_human",
        "A human refused this call of {tool}. {reason} Do not retry the same call; ask what to do instead.",
    ),
    (
        "canceled",
        "This call of {tool} was not decided in time, or the run was cancelled. Do not retry the same call on your own.",
    ),
    (
        "persist_failed",
        "This call of {tool} was refused because the question could not be stored. Do not retry the same call on your own.",
    ),
    (
        "unavailable",
        "This call of {tool} was approved, but the tool is no longer available: {reason}. Do not retry the same call.",
    ),
];

/// A text of the policy, or the built-in one, its placeholders filled.
pub fn message(
    matcher: &Matcher,
    name: &str,
    tool: &str,
    reason: &str,
    instead: Option<&str>,
) -> String {
    let builtin = DEFAULTS
        .iter()
        .find(|(own, _)| *own == name)
        .map_or("", |(_, text)| text);
    let text = matcher.messages.get(name).map_or(builtin, String::as_str);
    let instead = instead
        .map(|instead| format!("Instead: {}. ", instead.trim_end_matches('.')))
        .unwrap_or_default();
    let mut out = String::with_capacity(text.len() + reason.len());
    let mut rest = text;
    // One pass: what is filled in is never read for placeholders again.
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let filled = [
            ("{tool}", tool),
            ("{reason}", reason),
            ("{instead}", instead.as_str()),
        ];
        match filled.iter().find(|(name, _)| from.starts_with(name)) {
            Some((name, value)) => {
                out.push_str(value);
                rest = from.get(name.len()..).unwrap_or_default();
            }
            None => {
                out.push('{');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out.trim_end().to_owned()
}

/// What the model is told; empty on allow.
pub fn for_model(matcher: &Matcher, decision: &Decision, tool: &str) -> String {
    let name = match (decision.action, decision.basis) {
        (Verdict::Allow, _) => return String::new(),
        (Verdict::Ask, _) => "asked",
        (Verdict::Deny, Basis::Arguments) => "arguments",
        (Verdict::Deny, Basis::Tier | Basis::Verdict) => "disabled",
        (Verdict::Deny, _) => "denied",
    };
    let reasons = decision.reasons.iter().map(|reason| reason.text.as_str());
    let instead = decision.reasons.iter();
    let instead = each_once(instead.filter_map(|reason| reason.instead.as_deref()));
    let mut reason = each_once(reasons).join("; ");
    if decision.basis == Basis::Mode
        && decision
            .reasons
            .first()
            .is_some_and(|reason| reason.action == Verdict::Ask)
    {
        reason.push_str("; nobody can be asked here");
    }
    let instead = (!instead.is_empty()).then(|| instead.join("; "));
    message(
        matcher,
        name,
        tool,
        reason.trim_end_matches('.'),
        instead.as_deref(),
    )
}

fn each_once<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut seen = HashSet::new();
    texts.filter(|text| seen.insert(*text)).collect()
}

/// What an access is about, in a few words.
pub fn subject(access: &Access, tool: &str) -> String {
    match &access.kind {
        Kind::Tool => tool.to_owned(),
        Kind::Command(command) => {
            let mut line = String::with_capacity(64);
            let mut before = None;
            for word in &command.words {
                // What the shell may split off a word is written once.
                if before.replace(word.span) == Some(word.span) && word.splits {
                    continue;
                }
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(&spelled(word));
                // No more of it is shown.
                if line.len() > 4 * (MOST + 1) {
                    break;
                }
            }
            short(&line)
        }
        Kind::Path(path) => short(&path.path.shown()),
        Kind::Host(host) => short(&host.url.shown()),
        Kind::Opaque(own) => short(&own.why),
    }
}

/// The word for the kind of an access, in the record.
pub const fn kind(access: &Access) -> &'static str {
    match &access.kind {
        Kind::Tool => "tool",
        Kind::Command(_) => "command",
        Kind::Path(path) => match path.mode {
            crate::call::access::Mode::Read => "read",
            crate::call::access::Mode::Write => "write",
        },
        Kind::Host(_) => "host",
        Kind::Opaque(_) => "opaque",
    }
}

/// A word as a shell would read it again: quoted where it must be.
fn spelled(word: &Word) -> Cow<'_, str> {
    if let Some(text) = word.text() {
        return quoted(text);
    }
    let globs = |piece: &Piece| matches!(piece, Piece::Star | Piece::One | Piece::Class(_));
    // What stays one word was quoted, and is all it holds but for globs.
    if word.splits || word.pieces.iter().any(globs) {
        return word.shown().into();
    }
    format!("\"{}\"", word.shown()).into()
}

fn quoted(word: &str) -> Cow<'_, str> {
    let asks = |c: char| c.is_whitespace() || "'\"\\`$;&|<>()*?#!".contains(c);
    match word.is_empty() || word.contains(asks) {
        true => format!("'{}'", word.replace('\'', "'\\''")).into(),
        false => word.into(),
    }
}

/// A list in words: `a, b or c`.
pub fn joined(all: &[String], last: &str) -> String {
    match all.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        Some((end, _)) => end.clone(),
        None => String::new(),
    }
}

/// Letters of a text that are shown.
const MOST: usize = 200;

/// Long texts are cut: a record names its subject, it does not repeat a file.
pub fn short(text: &str) -> String {
    if text.len() <= MOST && !text.contains(char::is_control) {
        return text.to_owned();
    }
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    match plain.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", plain.get(..at).unwrap_or_default()),
        None => plain,
    }
}

/// The reason's text, where its rule gives none.
pub fn unreasoned(reason: &Reason) -> String {
    let subject = &reason.subject;
    match (reason.action, reason.kind) {
        (Verdict::Deny, Basis::Protected) => format!("`{subject}` is protected"),
        (Verdict::Deny, _) => format!("the policy does not allow `{subject}`"),
        (_, _) => format!("the policy asks about `{subject}`"),
    }
}
