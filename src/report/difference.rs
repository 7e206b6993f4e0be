//! What differs between two policies → text for people, JSON for scripts.
//!
//! In: the changes that [`changed`](crate::language::changed) found, and recorded calls that the two decide differently.
//! Out: one block a change, what is loosened first, with the call that shows it and both deciding rules.

use crate::decision::Decision;
use crate::language::{Change, Fate, Moved, Told, Way};
use crate::policy::rule::{Place, Verdict};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What is said of a change: stable words.
const fn word(fate: &Fate) -> &'static str {
    match fate.told() {
        Told::Loosened => "loosened",
        Told::Tightened => "tightened",
        Told::Equivalent => "equivalent",
        Told::Unknown | Told::NotLoosened => "unknown",
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
            *match change.fate.told() {
                Told::Loosened => &mut count.loosened,
                Told::Tightened => &mut count.tightened,
                Told::Unknown | Told::NotLoosened => &mut count.unknown,
                Told::Equivalent => &mut count.equivalent,
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
        let what = crate::text::printable(&change.what);
        let _ = writeln!(out, "{on}{word}{off}: {what}{}", whence(change));
        if let Some(moved) = shown(&change.fate) {
            let call = moved.witness.to_string();
            let _ = writeln!(out, "  call  {}", crate::text::printable(&call));
            // An absolute path says little without the folder of the call.
            let absolute = call.split(' ').any(|word| word.starts_with('/'));
            if let Some(cwd) = moved.witness.call.cwd.as_ref().filter(|_| absolute) {
                let cwd = crate::text::printable(cwd);
                let _ = writeln!(out, "  in    {cwd}, as the folder of both policies");
            }
            let _ = writeln!(out, "  old   {}", decided(&moved.old));
            let _ = writeln!(out, "  new   {}", decided(&moved.new));
        }
        let [was, is] = change
            .fate
            .keys
            .as_ref()
            .map_or([&None, &None], |[was, is]| [was, is]);
        let key = match (was, is) {
            (Some(was), Some(is)) => {
                format!("its question is answered by `{is}`, no longer by `{was}`")
            }
            (Some(was), None) => format!("an approval of `{was}` answers nothing any more"),
            (None, Some(is)) => format!("its question has a key of its own, `{is}`"),
            (None, None) => String::new(),
        };
        if !key.is_empty() {
            let _ = writeln!(out, "  {}", crate::text::printable(&key));
        }
        let proof = match (change.fate.told(), &change.fate.tightened) {
            (Told::Equivalent, _) => "no call is decided differently",
            (Told::NotLoosened, _) => {
                "no call is loosened; none that is tightened was found, and no proof that there is none"
            }
            (Told::Unknown, Way::Shown(_)) => {
                "this call is tightened; none that is loosened was found, and no proof that there is none"
            }
            (Told::Unknown, Way::No) => {
                "no call is tightened; none that is loosened was found, and no proof that there is none"
            }
            (Told::Unknown, Way::Unknown) => {
                "no call that shows a difference was found, and no proof that there is none"
            }
            (Told::Loosened | Told::Tightened, _) => continue,
        };
        let _ = writeln!(out, "  {proof}");
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
    format!("{action:<5}  {}", crate::text::printable(&by))
}

/// For scripts.
pub fn json(changes: &[Change], recorded: &[(usize, Moved)]) -> Value {
    let count = Count::of(changes);
    json!({
        "version": 1,
        "changes": changes.iter().map(told).collect::<Vec<_>>(),
        "calls": recorded.iter().map(|(line, moved)| {
            let mut told = witnessed(moved);
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
    let mut told = shown(&change.fate).map_or_else(|| json!({}), witnessed);
    let way = |way: &Way| match way {
        Way::No => "no",
        Way::Unknown => "unknown",
        Way::Shown(_) => "shown",
    };
    if let Some(told) = told.as_object_mut() {
        told.insert("fate".into(), json!(word(&change.fate)));
        told.insert("loosens".into(), json!(way(&change.fate.loosened)));
        told.insert("tightens".into(), json!(way(&change.fate.tightened)));
        if let Some(keys) = &change.fate.keys {
            told.insert("keys".into(), json!(keys));
        }
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

/// The call that is told of a change: one that is loosened, where there is one.
fn shown(fate: &Fate) -> Option<&Moved> {
    fate.loosened.shown().or(fate.tightened.shown())
}

fn witnessed(moved: &Moved) -> Value {
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
