//! What went into a decision: policies, call, facts, mode. Equal inputs give equal decisions.
//!
//! In: matcher, call, decision. Out: digests and values to compare two decisions by.

use crate::call::{Call, digest};
use crate::decision::Decision;
use crate::matcher::Matcher;
use serde_json::Value;

/// What went into a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// Over layer, trust and text of every policy file in order, not their names: a copy of a policy is the same policy.
    pub policy: String,
    /// The policy files, most trusted layer first, each followed by what it extends.
    pub files: Vec<PolicyFile>,
    /// The call's digest, as approvals are bound to it.
    pub call: String,
    /// Facts that rules which met the call asked for, and their values.
    pub facts: Vec<UsedFact>,
    /// Facts that such rules asked for and nobody gave.
    pub missing: Vec<String>,
    /// The mode's name.
    pub mode: &'static str,
    /// The time, in milliseconds since 1970, where it was given.
    pub now: Option<i64>,
}

/// A policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// Its layer's name.
    pub layer: &'static str,
    /// The file.
    pub file: String,
    /// Whether it may loosen.
    pub trusted: bool,
    /// It was trusted, and says something else now.
    pub changed: bool,
    /// Keys and rules of it that were left out because it is not trusted.
    pub ignored: Vec<String>,
}

/// A fact that took part.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedFact {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// The host gave it; else it is the declared default.
    pub given: bool,
}

/// What identifies a policy: layer, trust and text of all its files.
pub fn policy(matcher: &Matcher) -> String {
    let layers = matcher.policy.layers.iter();
    let identity = layers.flat_map(|layer| {
        let one = |text| serde_json::json!([layer.kind.name(), layer.trusted, text]);
        layer.files.iter().map(move |file| one(&file.source.text))
    });
    digest(Value::from_iter(identity).to_string().as_bytes())
}

pub fn inputs(matcher: &Matcher, call: &Call, decision: &Decision) -> Inputs {
    let mut files = Vec::new();
    for layer in &matcher.policy.layers {
        for file in &layer.files {
            let ignored = file.ignored.iter().filter(|_| !file.is_shipped());
            files.push(PolicyFile {
                layer: layer.kind.name(),
                file: file.source.name.clone(),
                trusted: layer.trusted,
                changed: layer.changed,
                ignored: ignored.map(|placed| placed.value.clone()).collect(),
            });
        }
    }
    let mut facts: Vec<UsedFact> = Vec::new();
    let met = decision.judged.iter().flat_map(|judged| &judged.matched);
    let rules = met.filter_map(|matched| matcher.rules.get(matched.rule));
    for condition in rules.flat_map(|own| own.rule.when.iter().chain(&own.rule.unless)) {
        let name = condition.path.join(".");
        let Some(value) = matcher.fact(&name, &call.facts) else {
            continue;
        };
        if !facts.iter().any(|fact| fact.name == name) {
            facts.push(UsedFact {
                value: value.clone(),
                given: call.facts.get(&name) == Some(value),
                name,
            });
        }
    }
    facts.sort_by(|a, b| a.name.cmp(&b.name));
    Inputs {
        policy: policy(matcher),
        files,
        call: call.digest(),
        facts,
        missing: decision.missing_facts.clone(),
        mode: call.mode.name(),
        now: call.now,
    }
}
