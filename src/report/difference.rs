//! What differs between two policies → text for people, JSON for scripts.
//!
//! In: the changes that [`changed`](crate::language::changed) found, and recorded calls that the two decide differently.
//! Out: one block a change, what is loosened first, with the call that shows it and both deciding rules.

use crate::decision::Decision;
use crate::language::{Change, Fate, Moved};
use crate::policy::rule::{Place, Verdict};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What is said of a change: stable words.
fn word(fate: &Fate) -> &'static str {
    match fate {
        Fate::Moved(moved) if moved.loosened() => "loosened",
        Fate::Moved(_) => "tightened",
        Fate::Equivalent => "equivalent",
        Fate::Unknown => "unknown",
    }
}

/// How many changes have each fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// A call is decided less strictly.
    pub loosened: usize,
    /// A call is decided more strictly.
    pub tightened: usize,
    /// Neither a call nor a proof that there is none was found.
    pub unknown: usize,
    /// No call is decided differently.
    pub equivalent: usize,
}

impl Count {
    /// Counts.
    pub fn of<'c>(changes: impl IntoIterator<Item = &'c Change>) -> Self {
        let mut count = Self::default();
        for change in changes {
            *match &change.fate {
                Fate::Moved(moved) if moved.loosened() => &mut count.loosened,
                Fate::Moved(_) => &mut count.tightened,
                Fate::Unknown => &mut count.unknown,
                Fate::Equivalent => &mut count.equivalent,
            } += 1;
        }
        count
    }
}

/// For people.
pub fn human(changes: &[Change], color: bool) -> String {
    let mut out = String::new();
    for change in changes {
        let word = word(&change.fate);
        let (on, off) = match (color, word) {
            (true, "loosened") => ("\u{1b}[1;31m", "\u{1b}[0m"),
            (true, "tightened") => ("\u{1b}[1;32m", "\u{1b}[0m"),
            (true, "unknown") => ("\u{1b}[1;33m", "\u{1b}[0m"),
            _ => ("", ""),
        };
        let what = super::human::printable(&change.what);
        let _ = writeln!(out, "{on}{word}{off}: {what}{}", whence(change));
        match &change.fate {
            Fate::Moved(moved) => {
                let shown = moved.witness.to_string();
                let _ = writeln!(out, "  call  {}", super::human::printable(&shown));
                let _ = writeln!(out, "  old   {}", decided(&moved.old));
                let _ = writeln!(out, "  new   {}", decided(&moved.new));
            }
            Fate::Equivalent => out.push_str("  no call is decided differently\n"),
            Fate::Unknown => {
                out.push_str("  no call that shows a difference was found, and no proof that there is none\n");
            }
        }
    }
    out
}

/// Where it stands in either policy.
fn whence(change: &Change) -> String {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => format!(" ({}, now {})", old.line(), new.line()),
        (Some(old), None) => format!(" ({}, gone)", old.line()),
        (None, Some(new)) => format!(" ({}, new)", new.line()),
        (None, None) => String::new(),
    }
}

/// The verdict, and what it rests on.
fn decided(decision: &Decision) -> String {
    let by = match &decision.decided_by {
        Some(by) => match &by.place {
            Some(place) => format!("by `{}` ({})", by.rule, place.line()),
            None => format!("by `{}`", by.rule),
        },
        None => format!("by {}", decision.basis.name()),
    };
    // What only a fresh decision clears is more than an ask.
    let forced = decision.action == Verdict::Ask && decision.reasons.iter().any(|own| own.forced);
    let action = match forced {
        true => "ask (forced)".to_owned(),
        false => decision.action.to_string(),
    };
    format!("{action:<5}  {}", super::human::printable(&by))
}

/// For scripts.
pub fn json(changes: &[Change], recorded: &[(usize, Moved)]) -> Value {
    let count = Count::of(changes);
    json!({
        "version": 1,
        "changes": changes.iter().map(told).collect::<Vec<_>>(),
        "calls": recorded.iter().map(|(line, moved)| {
            let mut told = shown(moved);
            if let Some(told) = told.as_object_mut() {
                told.insert("line".into(), json!(line));
            }
            told
        }).collect::<Vec<_>>(),
        "summary": {
            "loosened": count.loosened,
            "tightened": count.tightened,
            "unknown": count.unknown,
            "equivalent": count.equivalent,
        },
    })
}

fn told(change: &Change) -> Value {
    let mut told = match &change.fate {
        Fate::Moved(moved) => shown(moved),
        _ => json!({}),
    };
    if let Some(told) = told.as_object_mut() {
        told.insert("fate".into(), json!(word(&change.fate)));
        told.insert("what".into(), json!(change.what));
        told.insert("old_place".into(), json!(change.old.as_ref().map(spot)));
        told.insert("new_place".into(), json!(change.new.as_ref().map(spot)));
    }
    told
}

fn spot(place: &Place) -> Value {
    let (line, column) = place.source.line_column(place.span.start);
    json!({"file": place.source.name, "line": line, "column": column})
}

fn shown(moved: &Moved) -> Value {
    let side = |decision: &Decision| {
        let by = decision.decided_by.as_ref();
        json!({
            "action": decision.action.to_string(),
            "forced": decision.reasons.iter().any(|own| own.forced),
            "basis": decision.basis.name(),
            "rule": by.map(|by| &by.rule),
            "place": by.and_then(|by| by.place.as_ref()).map(spot),
        })
    };
    json!({
        "witness": moved.witness.json(),
        "shown": moved.witness.to_string(),
        "old": side(&moved.old),
        "new": side(&moved.new),
    })
}
