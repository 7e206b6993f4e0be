//! What a case wants, compared with what was decided.
//!
//! In: an [`Expect`] and a decision. Out: every difference, each of its own kind, so that a wrong verdict, a missing
//! reason, an unexpected one and a changed order read differently.

use crate::decision::{Basis, Decision, Reason};
use crate::policy::rule::Verdict;
use std::fmt;

/// What must become of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// The verdict; all that follows describes a decision with this one.
    pub action: Verdict,
    /// Verdicts that are as good; with one of them nothing else is compared.
    pub also: Vec<Verdict>,
    /// The key or address of the rule that decides.
    pub rule: Option<String>,
    /// What the decision rests on.
    pub basis: Option<Basis>,
    /// The outside authority that decided or endorsed.
    pub source: Option<String>,
    /// The reach of the grant that answered: `session` or `global`.
    pub grant_scope: Option<String>,
    /// All reasons in order, each by key, by kind, or by a part of its text (`~part`).
    pub reasons: Option<Vec<String>>,
    /// The keys of all reasons, in order.
    pub keys: Option<Vec<String>>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Another verdict.
    Verdict {
        /// Those that would do.
        wanted: Vec<Verdict>,
        /// The one there is.
        got: Verdict,
    },
    /// Another rule decided.
    Rule {
        /// The rule.
        wanted: String,
        /// What decided, where something with a name did.
        got: Option<String>,
        /// Where the wanted rule stands among the reasons, if it is one.
        at: Option<usize>,
    },
    /// Basis, source or grant are others.
    Other {
        /// `basis`, `source`, `grant_scope`.
        what: &'static str,
        /// The wanted one.
        wanted: String,
        /// The one there is.
        got: Option<String>,
    },
    /// No reason is the wanted one.
    Missing {
        /// `reasons` or `keys`.
        list: &'static str,
        /// Its index in that list.
        index: usize,
        /// As written.
        wanted: String,
    },
    /// A reason that nobody wanted.
    Extra {
        /// `reasons` or `keys`.
        list: &'static str,
        /// Its index in the decision.
        index: usize,
        /// Its key.
        key: String,
        /// Its text.
        text: String,
    },
    /// All are there, in another order.
    Order {
        /// `reasons` or `keys`.
        list: &'static str,
        /// The first index that differs.
        index: usize,
        /// What is wanted there.
        wanted: String,
        /// Where that stands in the decision.
        found: usize,
    },
}

impl Expect {
    /// A verdict, and nothing else.
    pub const fn verdict(action: Verdict) -> Self {
        Self {
            action,
            also: Vec::new(),
            rule: None,
            basis: None,
            source: None,
            grant_scope: None,
            reasons: None,
            keys: None,
        }
    }

    /// Every difference between this and a decision.
    pub fn compare(&self, decision: &Decision) -> Vec<Failure> {
        if decision.action != self.action {
            if self.also.contains(&decision.action) {
                return Vec::new();
            }
            // The rest would only repeat it.
            let mut wanted = vec![self.action];
            wanted.extend(&self.also);
            return vec![Failure::Verdict {
                wanted,
                got: decision.action,
            }];
        }
        let mut failures = Vec::new();
        let by = decision.decided_by.as_ref();
        if let Some(wanted) = &self.rule {
            let own = by.is_some_and(|by| {
                by.rule == *wanted || by.address.as_ref().is_some_and(|own| own == wanted)
            });
            if !own {
                failures.push(Failure::Rule {
                    wanted: wanted.clone(),
                    got: by.map(|by| by.rule.clone()),
                    at: decision
                        .reasons
                        .iter()
                        .position(|reason| reason.key == *wanted),
                });
            }
        }
        let mut other = |what, wanted: Option<&str>, got: Option<&str>| {
            if wanted.is_some() && wanted != got {
                failures.push(Failure::Other {
                    what,
                    wanted: wanted.unwrap_or_default().to_owned(),
                    got: got.map(str::to_owned),
                });
            }
        };
        other(
            "basis",
            self.basis.map(Basis::name),
            Some(decision.basis.name()),
        );
        let endorser = decision
            .cleared
            .iter()
            .find_map(|cleared| cleared.source.as_deref());
        let source = by.and_then(|by| by.source.as_deref()).or(endorser);
        other("source", self.source.as_deref(), source);
        let scope = decision
            .cleared
            .iter()
            .filter(|cleared| cleared.by == Basis::Grant)
            .find_map(|cleared| cleared.scope);
        other("grant_scope", self.grant_scope.as_deref(), scope);
        if let Some(wanted) = &self.reasons {
            reasons("reasons", wanted, &decision.reasons, meets, &mut failures);
        }
        if let Some(wanted) = &self.keys {
            let same = |wanted: &str, reason: &Reason| reason.key == wanted;
            reasons("keys", wanted, &decision.reasons, same, &mut failures);
        }
        failures
    }
}

/// Whether a reason is the one that `wanted` means: its key, its kind, or `~` and a part of its text.
fn meets(wanted: &str, reason: &Reason) -> bool {
    match wanted.strip_prefix('~') {
        Some(part) => reason.text.contains(part),
        None => reason.key == wanted || reason.kind.name() == wanted,
    }
}

fn reasons(
    list: &'static str,
    wanted: &[String],
    got: &[Reason],
    meets: impl Fn(&str, &Reason) -> bool,
    failures: &mut Vec<Failure>,
) {
    let in_order = wanted.len() == got.len()
        && wanted
            .iter()
            .zip(got)
            .all(|(wanted, got)| meets(wanted, got));
    if in_order {
        return;
    }
    // Each wanted reason takes one of the decision's: its own place first, so that only what moved is told.
    let mut taken = vec![false; got.len()];
    let mut found: Vec<Option<usize>> = Vec::with_capacity(wanted.len());
    for (index, want) in wanted.iter().enumerate() {
        let own = std::iter::once(index).chain(0..got.len()).find(|at| {
            taken.get(*at) == Some(&false) && got.get(*at).is_some_and(|got| meets(want, got))
        });
        if let Some(place) = own.and_then(|at| taken.get_mut(at)) {
            *place = true;
        }
        found.push(own);
    }
    for (index, want) in wanted.iter().enumerate() {
        if found.get(index) == Some(&None) {
            failures.push(Failure::Missing {
                list,
                index,
                wanted: want.clone(),
            });
        }
    }
    for (index, reason) in got.iter().enumerate() {
        if taken.get(index) == Some(&false) {
            failures.push(Failure::Extra {
                list,
                index,
                key: reason.key.clone(),
                text: reason.text.clone(),
            });
        }
    }
    let places: Vec<(usize, usize)> = found
        .iter()
        .enumerate()
        .filter_map(|(index, at)| Some((index, (*at)?)))
        .collect();
    let mut least = 0;
    for (index, at) in &places {
        let later = places
            .iter()
            .any(|(other, there)| other > index && there < at);
        if *at < least || later {
            failures.push(Failure::Order {
                list,
                index: *index,
                wanted: wanted.get(*index).cloned().unwrap_or_default(),
                found: *at,
            });
            break;
        }
        least = *at;
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verdict { wanted, got } => {
                let wanted: Vec<&str> = wanted.iter().map(|verdict| verdict.name()).collect();
                write!(f, "wanted {}, got {got}", wanted.join(" or "))
            }
            Self::Rule { wanted, got, at } => {
                write!(f, "wanted the rule `{wanted}` to decide, ")?;
                match got {
                    Some(got) => write!(f, "but `{got}` did")?,
                    None => f.write_str("but no rule did")?,
                }
                at.map_or(Ok(()), |at| write!(f, "; it is reasons[{at}]"))
            }
            Self::Other { what, wanted, got } => {
                write!(f, "wanted {what} `{wanted}`, got ")?;
                match got {
                    Some(got) => write!(f, "`{got}`"),
                    None => f.write_str("none"),
                }
            }
            Self::Missing {
                list,
                index,
                wanted,
            } => match wanted.strip_prefix('~') {
                Some(part) => write!(
                    f,
                    "{list}[{index}] is missing: no further reason says `{part}`"
                ),
                None => write!(
                    f,
                    "{list}[{index}] is missing: no further reason is `{wanted}`"
                ),
            },
            Self::Extra {
                list,
                index,
                key,
                text,
            } => write!(
                f,
                "the decision's reason [{index}] is not in `{list}`: `{key}` ({text})"
            ),
            Self::Order {
                list,
                index,
                wanted,
                found,
            } => write!(
                f,
                "the order changed: {list}[{index}] is `{wanted}`, which now stands at [{found}]"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(key: &str, text: &str) -> Reason {
        Reason {
            key: key.into(),
            action: Verdict::Ask,
            kind: Basis::Rule,
            forced: false,
            access: None,
            subject: String::new(),
            text: text.into(),
            instead: None,
            address: None,
            place: None,
            order: 0,
        }
    }

    #[test]
    fn reasons_missing_extra_and_moved_are_told_apart() {
        let got = [
            reason("a", "would overwrite"),
            reason("b", "uses a service"),
        ];
        let rows: [(&[&str], &[&str]); 6] = [
            (&["a", "~service"], &[]),
            (&["rule", "rule"], &[]),
            (
                &["b", "a"],
                &["the order changed: reasons[0] is `b`, which now stands at [1]"],
            ),
            (
                &["a"],
                &["the decision's reason [1] is not in `reasons`: `b` (uses a service)"],
            ),
            (
                &["a", "b", "~gone"],
                &["reasons[2] is missing: no further reason says `gone`"],
            ),
            (
                &["c", "a"],
                &[
                    "reasons[0] is missing: no further reason is `c`",
                    "the decision's reason [1] is not in `reasons`: `b` (uses a service)",
                ],
            ),
        ];
        for (wanted, told) in rows {
            let wanted: Vec<String> = wanted.iter().map(|&want| want.to_owned()).collect();
            let mut failures = Vec::new();
            reasons("reasons", &wanted, &got, meets, &mut failures);
            let failures: Vec<String> = failures.iter().map(ToString::to_string).collect();
            assert_eq!(failures, told, "{wanted:?}");
        }
    }
}
