//! What happened, counted, as Prometheus reads it.

use crate::decision::Decision;
use crate::session::gateway::wire::{Path, PermissionEvent};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The bounds of the histogram, in microseconds.
const BOUNDS: [u64; 10] = [10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 25_000, 100_000];

/// The counters.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    decisions: BTreeMap<(&'static str, &'static str), u64>,
    ends: BTreeMap<(bool, String), u64>,
    words: BTreeMap<(bool, String), u64>,
    within: [u64; BOUNDS.len()],
    micros: u64,
    count: u64,
}

impl Metrics {
    /// A decision was made.
    pub fn decision(&self, decision: &Decision, took: Duration) {
        let basis = decision.basis.name();
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let mut counts = self.counts();
        *counts
            .decisions
            .entry((decision.action.name(), basis))
            .or_default() += 1;
        counts.count += 1;
        counts.micros = counts.micros.saturating_add(micros);
        for (bound, within) in BOUNDS.iter().zip(&mut counts.within) {
            *within += u64::from(micros <= *bound);
        }
    }

    /// A call has its end, by nobody's word.
    pub fn end(&self, event: &PermissionEvent) {
        let key = (event.allowed, word_of(&event.basis));
        *self.counts().ends.entry(key).or_default() += 1;
    }

    /// A person has decided.
    pub fn word(&self, approved: bool, path: Path) {
        let key = (approved, word_of(&path));
        *self.counts().words.entry(key).or_default() += 1;
    }

    /// All of it, and how many calls wait.
    pub fn text(&self, pending: usize) -> String {
        let counts = self.counts();
        let mut out = String::new();
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        let name = "acl_gateway_decisions_total";
        head(
            &mut out,
            name,
            "counter",
            "Decisions, by verdict and what it rests on.",
        );
        for ((verdict, basis), count) in &counts.decisions {
            let _ = writeln!(
                out,
                "{name}{{verdict=\"{verdict}\",basis=\"{basis}\"}} {count}"
            );
        }
        let name = "acl_gateway_ends_total";
        head(
            &mut out,
            name,
            "counter",
            "Calls that ended by nobody's word, by what that rests on.",
        );
        for ((allowed, basis), count) in &counts.ends {
            let _ = writeln!(
                out,
                "{name}{{allowed=\"{allowed}\",basis=\"{basis}\"}} {count}"
            );
        }
        let name = "acl_gateway_words_total";
        head(
            &mut out,
            name,
            "counter",
            "What people decided, and how it reached the run.",
        );
        for ((approved, path), count) in &counts.words {
            let _ = writeln!(
                out,
                "{name}{{approved=\"{approved}\",path=\"{path}\"}} {count}"
            );
        }
        let name = "acl_gateway_pending";
        head(&mut out, name, "gauge", "Calls that wait for a person.");
        let _ = writeln!(out, "{name} {pending}");
        let name = "acl_gateway_decision_seconds";
        head(&mut out, name, "histogram", "How long a decision takes.");
        for (bound, within) in BOUNDS.iter().zip(counts.within) {
            let _ = writeln!(out, "{name}_bucket{{le=\"{}\"}} {within}", seconds(*bound));
        }
        let _ = writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {}", counts.count);
        let _ = writeln!(out, "{name}_sum {}", seconds(counts.micros));
        let _ = writeln!(out, "{name}_count {}", counts.count);
        out
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A word of the wire.
fn word_of(word: &impl Serialize) -> String {
    let word = serde_json::to_value(word).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

fn seconds(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Metrics, seconds};
    use crate::session::gateway::wire::Path;

    #[test]
    fn counted() {
        assert_eq!(seconds(1_500_000), "1.5");
        assert_eq!(seconds(10), "0.00001");
        assert_eq!(seconds(0), "0");
        let metrics = Metrics::default();
        metrics.word(true, Path::Live);
        metrics.word(true, Path::Live);
        let text = metrics.text(3);
        assert!(text.contains("acl_gateway_words_total{approved=\"true\",path=\"live\"} 2\n"));
        assert!(text.contains("acl_gateway_pending 3\n"));
    }
}
