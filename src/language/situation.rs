//! Where rules are on: the tool, and the facts, which are free in a search.
//!
//! In: rules. Out: every combination of values that tells them apart: the declared ones, those that conditions name, one
//! that none names, and none at all. Where there are too many, there is no answer.

use crate::matcher::Matcher;
use crate::policy::glob::{Glob, Token};
use crate::policy::rule::{Rule, Test};
use serde_json::{Number, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Facts, by name.
pub type Facts = BTreeMap<String, Value>;

/// How many combinations are looked at.
const MOST: usize = 96;

/// The facts that a rule depends on.
pub fn facts_of(rule: &Rule) -> impl Iterator<Item = &[String]> {
    let conditions = rule.when.iter().chain(&rule.unless);
    conditions.map(|own| own.path.as_slice())
}

/// All combinations of facts that tell these rules apart; no fact given first. None where there are too many.
pub fn combinations<'r>(
    matcher: &Matcher,
    rules: impl Iterator<Item = &'r Rule>,
) -> Option<Vec<Facts>> {
    let mut tests: BTreeMap<String, Vec<&Test>> = BTreeMap::new();
    for rule in rules {
        for condition in rule.when.iter().chain(&rule.unless) {
            let own = tests.entry(condition.path.join(".")).or_default();
            own.extend(&condition.any);
        }
    }
    let mut all = vec![Facts::new()];
    for (name, tests) in tests {
        let values = values(matcher, &name, &tests);
        let mut more = all.clone();
        for facts in &all {
            more.extend(values.iter().map(|value| {
                let mut facts = facts.clone();
                facts.insert(name.clone(), value.clone());
                facts
            }));
        }
        all = more;
        if all.len() > MOST {
            return None;
        }
    }
    Some(all)
}

fn values(matcher: &Matcher, name: &str, tests: &[&Test]) -> Vec<Value> {
    let declared = matcher.fact_declaration(name);
    if let Some(values) = declared
        .map(|own| &own.values)
        .filter(|own| !own.is_empty())
    {
        return values.clone();
    }
    let mut texts = BTreeSet::new();
    let mut out: Vec<Value> = Vec::new();
    let mut add = |value: Value| {
        if !out.contains(&value) {
            out.push(value);
        }
    };
    for test in tests {
        match test {
            Test::Bool(_) => [true, false]
                .map(Value::Bool)
                .into_iter()
                .for_each(&mut add),
            Test::Number(own) => [*own, *own + 1.0]
                .into_iter()
                .filter_map(Number::from_f64)
                .map(Value::Number)
                .for_each(&mut add),
            Test::Text(globs) => texts.extend(globs.iter().flat_map(filled)),
        }
    }
    if !texts.is_empty() {
        let mut other = "other".to_owned();
        let taken = |text: &String| {
            tests
                .iter()
                .any(|test| test.holds(&Value::String(text.clone())))
        };
        while taken(&other) && other.len() < 16 {
            other.push('x');
        }
        texts.insert(other);
        texts.into_iter().map(Value::String).for_each(&mut add);
    }
    out
}

/// Texts that a glob takes: its stars empty, and not.
fn filled(glob: &Glob) -> [String; 2] {
    ["", "x"].map(|star| {
        let tokens = glob.tokens();
        tokens
            .iter()
            .map(|token| match token {
                Token::Char(c) => c.to_string(),
                Token::Star => star.to_owned(),
                Token::One => "x".to_owned(),
                Token::Class {
                    negated: false,
                    ranges,
                } => ranges.first().map_or('x', |range| range.0).to_string(),
                Token::Class { .. } => "x".to_owned(),
            })
            .collect()
    })
}
