//! One of the two policies, and what of it is in the other too.

use super::super::witness::Scene;
use super::super::{Entry, Rules, Space, written};
use crate::matcher::{Compiled, Matcher};
use crate::policy::Resolution;
use crate::policy::rule::{Commands, Condition, Hosts, Judges, Paths, Rule, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Protected files as deny rules, so that they are searched like those.
pub fn sets(matcher: &Matcher) -> Vec<Compiled> {
    let sets = matcher.protected.iter();
    sets.map(|set| Compiled {
        key: format!("protected.{}", set.name),
        layer: usize::MAX,
        rule: Rule {
            judges: Judges::Paths(Box::new(set.paths.clone())),
            ..Rule::bare(
                format!("protected.{}", set.name),
                Verdict::Deny,
                set.place.clone(),
            )
        },
    })
    .collect()
}

/// One of the two policies.
pub struct Side<'m> {
    /// Its rules.
    pub rules: Rules<'m>,
    /// Protected files as entries.
    pub sets: Vec<Entry<'m>>,
    /// The rules that the other policy has too, by their index: there under that index.
    pub same: BTreeMap<usize, usize>,
    /// The protected files that the other has too.
    pub same_sets: BTreeSet<usize>,
}

impl<'m> Side<'m> {
    /// The entries of rules about that kind of access.
    pub fn within(&self, space: Space) -> impl Iterator<Item = &Entry<'m>> {
        let entries = self.rules.entries.iter();
        entries.filter(move |own| own.spaces().contains(&space))
    }

    /// Reads it.
    pub fn of(matcher: &'m Matcher, scene: &Scene, sets: &'m [Compiled]) -> Self {
        let mut entries = Vec::new();
        for (at, set) in sets.iter().enumerate() {
            let texts = written(&set.rule).into_iter();
            entries.extend(texts.map(|text| Entry::of(at, set, text, scene)));
        }
        Self {
            rules: Rules::set(matcher, scene.clone()),
            sets: entries,
            same: BTreeMap::new(),
            same_sets: BTreeSet::new(),
        }
    }

    /// The entries that the other policy has not, by the key of their rule.
    pub fn changed(&self) -> BTreeMap<String, Vec<&Entry<'m>>> {
        let mut out: BTreeMap<String, Vec<&Entry<'m>>> = BTreeMap::new();
        let rules = self
            .rules
            .entries
            .iter()
            .filter(|own| !self.same.contains_key(&own.rule));
        let sets = self
            .sets
            .iter()
            .filter(|own| !self.same_sets.contains(&own.rule));
        for entry in rules.chain(sets) {
            out.entry(entry.compiled.key.clone())
                .or_default()
                .push(entry);
        }
        out
    }

    /// Whether the other policy has the rule too.
    pub fn is_same(&self, entry: &Entry<'_>) -> bool {
        match entry.compiled.layer {
            usize::MAX => self.same_sets.contains(&entry.rule),
            _ => self.same.contains_key(&entry.rule),
        }
    }

    /// Whether the first that matches decides.
    pub fn is_ordered(&self, entry: &Entry<'_>) -> bool {
        entry.compiled.layer != usize::MAX
            && self.rules.matcher.resolution(entry.compiled.layer) == Resolution::FirstMatch
    }
}

/// What a rule says, places and texts apart.
pub fn meaning(compiled: &Compiled, kind: &str) -> String {
    let patterns = match &compiled.rule.judges {
        Judges::Tool | Judges::Rest(_) => String::new(),
        Judges::Commands(own) => format!("{:?}", own.patterns),
        Judges::Paths(own) => format!("{:?}", own.patterns),
        Judges::Hosts(own) => format!("{:?}", own.patterns),
    };
    let rule = &compiled.rule;
    format!("{kind} {patterns} {:?} {}", rule.tools, besides(rule))
}

/// What a rule says besides its patterns and tools.
pub fn besides(rule: &Rule) -> String {
    let conditions = |all: &[Condition]| {
        let all: Vec<_> = all.iter().map(|own| (&own.path, &own.any)).collect();
        format!("{all:?}")
    };
    let judges = match &rule.judges {
        Judges::Tool => "tool".to_owned(),
        Judges::Rest(section) => format!("{section:?}"),
        Judges::Commands(own) => {
            let Commands {
                patterns: _,
                except,
                with,
                without,
                operands,
                exact,
                only_read,
            } = &**own;
            format!("commands {except:?}{with:?}{without:?}{operands:?}{exact}{only_read}")
        }
        Judges::Paths(own) => {
            let Paths {
                modes,
                patterns: _,
                except,
                exact,
            } = &**own;
            format!("paths {modes:?}{except:?}{exact}")
        }
        Judges::Hosts(own) => {
            let Hosts {
                patterns: _,
                except,
            } = &**own;
            format!("hosts {except:?}")
        }
    };
    format!(
        "{} {judges} {} {} {} {}",
        rule.action,
        conditions(&rule.args),
        conditions(&rule.when),
        conditions(&rule.unless),
        rule.forced
    )
}

/// Finds the rules that both have. Under `first-match` they must stand in the same order: those that moved are not.
pub fn pair(old: &mut Side<'_>, new: &mut Side<'_>) {
    let kind = |side: &Side<'_>, own: &Compiled| {
        let layer = side.rules.matcher.policy.layers.get(own.layer);
        format!("{:?}", layer.map(|layer| layer.kind))
    };
    let mut known: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, own) in new.rules.matcher.rules.iter().enumerate().rev() {
        known
            .entry(meaning(own, &kind(new, own)))
            .or_default()
            .push(at);
    }
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, own) in old.rules.matcher.rules.iter().enumerate() {
        let ordered = old.rules.matcher.resolution(own.layer) == Resolution::FirstMatch;
        let found = known.get_mut(&meaning(own, &kind(old, own)));
        let last = last.entry(own.layer).or_default();
        let Some(twin) = found
            .and_then(Vec::pop)
            .filter(|twin| !ordered || *twin >= *last)
        else {
            continue;
        };
        *last = twin;
        old.same.insert(at, twin);
        new.same.insert(twin, at);
    }
    for (at, own) in old.rules.matcher.protected.iter().enumerate() {
        let twin = new
            .rules
            .matcher
            .protected
            .iter()
            .position(|other| format!("{:?}", own.paths) == format!("{:?}", other.paths));
        if let Some(twin) = twin {
            old.same_sets.insert(at);
            new.same_sets.insert(twin);
        }
    }
}
