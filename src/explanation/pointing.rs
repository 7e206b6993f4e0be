//! Which of an entry's patterns meets an access, and where it stands: lists in policies are long.
//!
//! In: a rule or a protected set, an access it met. Out: the bytes of the pattern in the policy file. Files are not
//! looked at again: what is only found below a folder points at the whole entry.

use super::{Explained, Explanation};
use crate::call::access::{Access, Kind};
use crate::call::files::FileView;
use crate::call::word::Word;
use crate::decision;
use crate::matcher::Compiled;
use crate::matcher::commands;
use crate::matcher::hosts::{self, Contacted};
use crate::matcher::located::Located;
use crate::matcher::paths::{self, Stance};
use crate::policy::patterns;
use crate::policy::rule::{Commands, Hosts, Judges, Paths, Place};
use crate::source::Span;

/// The first pattern that meets the access alone.
pub fn pattern(
    explanation: &Explanation<'_>,
    place: &Place,
    rule: Option<&Compiled>,
    key: &str,
    access: &Explained<'_>,
) -> Option<Span> {
    let text = match rule.map(|compiled| &compiled.rule.judges) {
        Some(Judges::Commands(own)) => command(explanation, own, access)?,
        Some(Judges::Paths(own)) => path(explanation, own, access)?,
        Some(Judges::Hosts(own)) => host(own, access)?,
        Some(Judges::Tool | Judges::Rest(_)) => return None,
        None => {
            let name = key.strip_prefix("protected.")?;
            let set = explanation
                .matcher
                .protected
                .iter()
                .find(|set| set.name == name)?;
            path(explanation, &set.paths, access)?
        }
    };
    let entry = entry(explanation, place);
    // In a table the pattern is one of several strings; a list entry is the pattern itself.
    let at = place.span.start + string(entry, &text).or_else(|| entry.find(&text))?;
    Some(Span::new(at, at + text.len()))
}

/// The words under `with` that the command has, as far as they stand in the entry as they are read.
pub fn with(
    explanation: &Explanation<'_>,
    place: &Place,
    rule: &Compiled,
    access: &Explained<'_>,
) -> Vec<Span> {
    let Judges::Commands(own) = &rule.rule.judges else {
        return Vec::new();
    };
    let entry = entry(explanation, place);
    let mut found = Vec::new();
    for group in &own.with {
        let names: Vec<String> = group.iter().map(patterns::spell).collect();
        let Some(start) = string(entry, &names.join("|")) else {
            continue;
        };
        let mut at = place.span.start + start;
        for (glob, name) in group.iter().zip(&names) {
            let alone = Commands {
                with: vec![vec![glob.clone()]],
                ..(**own).clone()
            };
            if command(explanation, &alone, access).is_some() {
                found.push(Span::new(at, at + name.len()));
                break;
            }
            at += name.len() + 1;
        }
    }
    found
}

fn entry<'p>(explanation: &Explanation<'_>, place: &'p Place) -> &'p str {
    Span::new(place.span.start, end(explanation, place)).of(&place.source.text)
}

/// Where a string of this text starts, behind its quote.
fn string(entry: &str, text: &str) -> Option<usize> {
    let quotes = ['"', '\''];
    let mut quotes = quotes.iter();
    quotes.find_map(|quote| Some(entry.find(&format!("{quote}{text}{quote}"))? + 1))
}

/// Where an entry ends at the latest: the place of a table is its header, and its keys follow.
fn end(explanation: &Explanation<'_>, place: &Place) -> usize {
    let matcher = explanation.matcher;
    let rules = matcher.rules.iter().map(|compiled| &compiled.rule.place);
    let protected = matcher.protected.iter().map(|set| &set.place);
    let text = &place.source.text;
    let next = rules
        .chain(protected)
        .filter(|other| std::sync::Arc::ptr_eq(&other.source, &place.source))
        .map(|other| other.span.start)
        .filter(|start| *start > place.span.start)
        .min()
        .unwrap_or(text.len());
    // A header of something that is no rule ends it too.
    let header = text
        .get(place.span.end..)
        .and_then(|rest| rest.find("\n["))
        .map_or(text.len(), |at| place.span.end + at);
    next.min(header).max(place.span.end)
}

fn accesses(explanation: &Explanation<'_>) -> Vec<Access> {
    let judged = explanation.decision.judged.iter();
    judged.map(|judged| judged.access.clone()).collect()
}

fn command(
    explanation: &Explanation<'_>,
    own: &Commands,
    access: &Explained<'_>,
) -> Option<String> {
    let accesses = accesses(explanation);
    let at = explanation
        .decision
        .judged
        .iter()
        .position(|judged| std::ptr::eq(judged, access.judged))?;
    let frame = decision::frame(
        explanation.matcher,
        explanation.call,
        &FileView::None,
        &accesses,
    );
    let found = own.patterns.iter().find(|pattern| {
        let alone = Commands {
            patterns: vec![(*pattern).clone()].into(),
            ..own.clone()
        };
        commands::fit(&alone, &accesses, at, Stance::Tightens, &frame)
            .fit
            .may()
    });
    found.map(|pattern| pattern.text.to_string())
}

fn path(explanation: &Explanation<'_>, own: &Paths, access: &Explained<'_>) -> Option<String> {
    let Kind::Path(path) = &access.judged.access.kind else {
        return None;
    };
    let accesses = accesses(explanation);
    let frame = decision::frame(
        explanation.matcher,
        explanation.call,
        &FileView::None,
        &accesses,
    );
    let find = |located: &Located| {
        let found = own.patterns.iter().find(|pattern| {
            let alone = Paths {
                patterns: vec![(*pattern).clone()],
                ..own.clone()
            };
            paths::fit(&alone, located, Stance::Tightens).may()
                || paths::fit_below(&alone, located).may()
        });
        found.map(|pattern| pattern.text.to_string())
    };
    // As it is written first; else as the links lead.
    find(&Located::of(path, &frame)).or_else(|| {
        let real = Word::known(access.judged.real.as_ref()?, Span::default());
        find(&Located::locate(&real, None, path.reach, &frame))
    })
}

fn host(own: &Hosts, access: &Explained<'_>) -> Option<String> {
    let Kind::Host(host) = &access.judged.access.kind else {
        return None;
    };
    let contacted = Contacted::of(&host.url);
    let found = own.patterns.iter().find(|pattern| {
        let alone = Hosts {
            patterns: vec![(*pattern).clone()],
            ..own.clone()
        };
        hosts::fit(&alone, &contacted, Stance::Tightens).may()
    });
    found.map(|pattern| pattern.text.clone())
}
