//! Whole decisions as text that a person reviews in a diff: one file beside a case file, one entry a case.
//!
//! In: a case and its decision, or the text of a `.snap` file. Out: an entry's text, or the entries. The form is its
//! own and stable; no prose that is made for the model, no place of a policy file, nothing of the machine.

use super::{Case, one_line};
use crate::decision::{Basis, Decision};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The first line of every file.
const HEAD: &str =
    "# decisions of acl test: review a change here as you would a change of the policy";

/// What an entry's name stands behind. No line of an entry can begin so: those begin with a word or a dash.
const MARK: &str = "## ";

/// The entries of a `.snap` file: name → text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshots {
    entries: Vec<(String, String)>,
}

impl Snapshots {
    /// Reads a file's text; what stands before the first name is left out.
    pub fn read(text: &str) -> Self {
        let mut entries: Vec<(String, String)> = Vec::new();
        for line in text.lines() {
            if let Some(name) = line.strip_prefix(MARK) {
                entries.push((name.to_owned(), String::new()));
            } else if let Some((_, entry)) = entries.last_mut() {
                entry.push_str(line);
                entry.push('\n');
            }
        }
        for (_, entry) in &mut entries {
            entry.truncate(entry.trim_end().len());
            entry.push('\n');
        }
        Self { entries }
    }

    /// The text of a case's entry.
    pub fn get(&self, name: &str) -> Option<&str> {
        let name = plain(name);
        self.entries
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, entry)| entry.as_str())
    }

    /// Sets the text of a case's entry.
    pub fn set(&mut self, name: &str, text: &str) {
        let name = plain(name);
        match self.entries.iter_mut().find(|(own, _)| *own == name) {
            Some((_, entry)) => text.clone_into(entry),
            None => self.entries.push((name, text.to_owned())),
        }
    }

    /// Takes out the entries whose cases are gone, and names them.
    pub fn take_stale(&mut self, cases: &[Case]) -> Vec<String> {
        let (kept, stale): (Vec<_>, Vec<_>) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|(name, _)| {
                cases
                    .iter()
                    .any(|case| case.expect.is_none() && plain(&case.name) == *name)
            });
        self.entries = kept;
        stale.into_iter().map(|(name, _)| name).collect()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The file's text, its entries in the order of the cases.
    pub fn text(&self, cases: &[Case]) -> String {
        let order: BTreeMap<String, usize> = cases
            .iter()
            .enumerate()
            .map(|(at, case)| (plain(&case.name), at))
            .collect();
        let mut entries: Vec<&(String, String)> = self.entries.iter().collect();
        entries.sort_by_key(|(name, _)| order.get(name).copied().unwrap_or(usize::MAX));
        let mut out = format!("{HEAD}\n");
        for (name, entry) in entries {
            out.push_str(&format!("\n{MARK}{name}\n{entry}"));
        }
        out
    }
}

/// A case's decision, as its entry says it.
pub fn entry(case: &Case, decision: &Decision) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "call: {}", one_line(&case.call));
    let _ = writeln!(out, "action: {}", decision.action);
    let _ = writeln!(out, "basis: {}", decision.basis.name());
    if let Some(by) = &decision.decided_by {
        let _ = match by.address.as_ref().filter(|address| **address != by.rule) {
            Some(address) => writeln!(out, "decided by: {} ({address})", plain(&by.rule)),
            None => writeln!(out, "decided by: {}", plain(&by.rule)),
        };
    }
    if !decision.reasons.is_empty() {
        out.push_str("reasons:\n");
    }
    for reason in &decision.reasons {
        let forced = if reason.forced { " (forced)" } else { "" };
        let _ = writeln!(
            out,
            "- {}{forced} {}: {}",
            reason.action,
            plain(&reason.key),
            plain(&reason.text)
        );
    }
    if !decision.cleared.is_empty() {
        out.push_str("cleared:\n");
    }
    for cleared in &decision.cleared {
        let by = match (&cleared.source, cleared.scope) {
            (Some(source), _) => format!("{} of {}", cleared.by.name(), plain(source)),
            (None, Some(scope)) if cleared.by == Basis::Grant => {
                format!("{} ({scope})", cleared.by.name())
            }
            _ => cleared.by.name().to_owned(),
        };
        let _ = writeln!(out, "- {} by {by}", plain(&cleared.key));
    }
    out
}

/// A text on one line.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '�' } else { c })
        .collect()
}
