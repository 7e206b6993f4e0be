//! How well cases hold a policy: the rules that none decides by, and the changes of a rule that none notices.
//!
//! In: a policy, and the cases that are decided under it. Out: [`unused`] rules, and [`survivors`]: a rule taken out, or
//! its verdict turned, after which every case is still decided as before; each with the call that would be the missing
//! case, or the proof that there is none. What a preset brings along is not looked at: it has cases of its own.

use super::{Case, rules, snapshot};
use crate::decision::Decision;
use crate::language::{Fate, changed};
use crate::matcher::Matcher;
use crate::policy::Policy;
use crate::policy::rule::{Place, Verdict};
use std::collections::BTreeSet;

/// A rule, or a set of protected files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its key: `no-force-push`, `commands.deny[1]`, `protected.secrets`.
    pub key: String,
    /// Where it stands.
    pub place: Place,
}

/// What was done to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// It was taken out.
    Removed,
    /// Its verdict was made this.
    Turned(Verdict),
}

/// A mutation that no case notices.
#[derive(Clone, Debug)]
pub struct Survivor {
    /// What was changed.
    pub part: Part,
    /// How.
    pub mutation: Mutation,
    /// The call that would have noticed, or that there is none.
    pub fate: Fate,
}

/// The parts of a policy that no decision rests on.
pub fn unused<'d>(matcher: &Matcher, decisions: impl Iterator<Item = &'d Decision>) -> Vec<Part> {
    let used: BTreeSet<String> = decisions.flat_map(|own| rules(own, matcher)).collect();
    let mut parts = parts(matcher);
    parts.retain(|part| !used.contains(&part.key));
    parts
}

/// Every part that the policy's own files write.
fn parts(matcher: &Matcher) -> Vec<Part> {
    let rules = matcher.rules.iter().map(|own| Part {
        key: own.key.clone(),
        place: own.rule.place.clone(),
    });
    let sets = matcher.protected.iter().map(|own| Part {
        key: format!("protected.{}", own.name),
        place: own.place.clone(),
    });
    rules
        .chain(sets)
        .filter(|part| is_own(&part.place))
        .collect()
}

fn is_own(place: &Place) -> bool {
    !place.source.name.starts_with("acl:")
}

/// The mutations of a policy that no case notices: `matcher` is the policy, compiled, `cases` what it decides.
pub fn survivors(policy: &Policy, matcher: &Matcher, cases: &[(Case, Decision)]) -> Vec<Survivor> {
    let mut out = Vec::new();
    for part in parts(matcher) {
        for mutation in mutations(policy, &part) {
            let mutant = Matcher::compile(mutated(policy, &part, mutation));
            let noticed = |(case, before): &(Case, Decision)| {
                let ran = case.run(&mutant);
                let told = |decision| snapshot::entry(case, decision);
                match &case.expect {
                    Some(_) => !ran.failures.is_empty(),
                    None => told(&ran.decision) != told(before),
                }
            };
            if cases.iter().any(noticed) {
                continue;
            }
            let fates = changed(matcher, &mutant)
                .into_iter()
                .map(|change| change.fate);
            out.push(Survivor {
                part: part.clone(),
                mutation,
                fate: fates.fold(Fate::default(), Fate::or),
            });
        }
    }
    out
}

/// A rule is taken out, and turned into its opposite; protected files are only taken out.
fn mutations(policy: &Policy, part: &Part) -> Vec<Mutation> {
    let rules = policy.layers.iter().flat_map(|layer| layer.rules());
    let mut own = rules.filter(|rule| rule.place == part.place);
    let turned = own.next().map(|rule| match rule.action {
        Verdict::Allow => Verdict::Deny,
        Verdict::Ask | Verdict::Deny => Verdict::Allow,
    });
    std::iter::once(Mutation::Removed)
        .chain(turned.map(Mutation::Turned))
        .collect()
}

fn mutated(policy: &Policy, part: &Part, mutation: Mutation) -> Policy {
    let mut policy = policy.clone();
    for file in policy.layers.iter_mut().flat_map(|layer| &mut layer.files) {
        match mutation {
            Mutation::Removed => {
                file.rules.retain(|rule| rule.place != part.place);
                file.protected.retain(|set| set.place != part.place);
            }
            Mutation::Turned(verdict) => {
                let own = file.rules.iter_mut();
                for rule in own.filter(|rule| rule.place == part.place) {
                    rule.action = verdict;
                    rule.forced = false;
                }
            }
        }
    }
    policy
}
