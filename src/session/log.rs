//! Which lines of an audit log are wanted, and how many there are of each rule.
//!
//! In: entries. Out: whether one is wanted; counts, the most frequent rule first.

use super::audit::Entry;
use std::collections::BTreeMap;

/// What is wanted; nothing said: all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Verdicts.
    pub verdicts: Vec<String>,
    /// Tools.
    pub tools: Vec<String>,
    /// Rules, or other keys, that decided, are among the reasons or were cleared.
    pub rules: Vec<String>,
    /// Agents.
    pub agents: Vec<String>,
    /// Sessions.
    pub sessions: Vec<String>,
    /// Not before this time.
    pub since: Option<i64>,
}

impl Filter {
    /// Whether an entry is wanted.
    pub fn wants(&self, entry: &Entry) -> bool {
        let is = |wanted: &[String], own: Option<&str>| {
            wanted.is_empty() || wanted.iter().any(|wanted| Some(wanted.as_str()) == own)
        };
        let keys = entry.reasons.iter().map(String::as_str);
        let cleared = entry.cleared.iter().map(|own| own.key.as_str());
        let mut grounds = std::iter::once(entry.ground())
            .chain(entry.rule.as_deref())
            .chain(keys)
            .chain(cleared);
        is(&self.verdicts, Some(entry.verdict()))
            && is(&self.tools, Some(&entry.tool))
            && is(&self.agents, entry.agent.as_deref())
            && is(&self.sessions, entry.session.as_deref())
            && (self.rules.is_empty() || grounds.any(|ground| is(&self.rules, Some(ground))))
            && self.since.is_none_or(|since| entry.time >= since)
    }
}

/// How many calls a rule decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    /// The rule, or what decisions without one rest on.
    pub rule: String,
    /// All of them.
    pub calls: usize,
    /// Those that were allowed.
    pub allow: usize,
    /// Those that were asked about.
    pub ask: usize,
    /// Those that were denied.
    pub deny: usize,
    /// The last one's time.
    pub last: i64,
}

/// Entries by what decided them.
#[derive(Clone, Debug, Default)]
pub struct Counts(BTreeMap<String, Count>);

impl Counts {
    /// Counts one more.
    pub fn add(&mut self, entry: &Entry) {
        let count = self.0.entry(entry.ground().to_owned()).or_default();
        count.calls += 1;
        match entry.verdict() {
            "allow" => count.allow += 1,
            "ask" => count.ask += 1,
            _ => count.deny += 1,
        }
        count.last = count.last.max(entry.time);
    }

    /// The most frequent first.
    pub fn sorted(self) -> Vec<Count> {
        let own = self
            .0
            .into_iter()
            .map(|(rule, count)| Count { rule, ..count });
        let mut own: Vec<Count> = own.collect();
        own.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.rule.cmp(&b.rule)));
        own
    }
}
