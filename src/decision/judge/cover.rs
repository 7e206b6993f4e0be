//! Commands: which rules meet them, and what an allow of theirs covers.

use super::unresolved::What;
use super::{Covered, Judge, Matched, stance};
use crate::call::access::Cover;
use crate::matcher::commands::{self, Spelled};
use crate::matcher::paths::Stance;
use crate::policy::glob::Fit;
use crate::policy::rule::{Judges, Verdict};
use std::sync::Arc;

impl Judge<'_> {
    /// The rules that meet a command; what its allows cover is kept.
    pub(super) fn command(&mut self, at: usize) -> Vec<Matched> {
        let mut matched = Vec::new();
        if self.matcher.command_rules().is_empty() {
            return matched;
        }
        let touched = self.touched.remove(&at).unwrap_or_default();
        let Some(spelled) = Spelled::touching(self.accesses, at, touched.into()) else {
            return matched;
        };
        let candidates = self.matcher.command_candidates(&spelled);
        for rule in candidates {
            let Some(compiled) = self.rule(rule) else {
                continue;
            };
            let Judges::Commands(own) = &compiled.rule.judges else {
                continue;
            };
            let stance = stance(compiled.rule.action);
            if stance == Stance::Loosens && self.launcher_of_script(at).is_some() {
                continue;
            }
            let fitted = commands::fit_spelled(own, &spelled, stance, self.frame);
            if fitted.fit == Fit::No {
                continue;
            }
            let unsure = || fitted.unsure.as_deref().unwrap_or("the command");
            if let Some(lost) = self.out(rule, stance, fitted.fit, || may_be_else(unsure())) {
                matched.push(Matched {
                    rule,
                    fit: fitted.fit,
                    lost: Some(lost),
                });
                continue;
            }
            if stance == Stance::Tightens {
                if fitted.fit == Fit::MayUnknown && compiled.rule.action == Verdict::Deny {
                    self.unresolved
                        .add(at, What::Denied(&compiled.key), || unsure().to_owned());
                }
                matched.push(Matched {
                    rule,
                    fit: fitted.fit,
                    lost: None,
                });
                continue;
            }
            match commands::uncovered(self.accesses, &fitted) {
                Some(what) => {
                    let lost = format!("it does not cover a command that {what}");
                    matched.push(Matched {
                        rule,
                        fit: fitted.fit,
                        lost: Some(lost.into()),
                    });
                }
                None => {
                    matched.push(Matched {
                        rule,
                        fit: fitted.fit,
                        lost: None,
                    });
                    for level in &fitted.levels {
                        if let Some(cover) = self.cover.get_mut(*level) {
                            cover.push((rule, fitted.clone()));
                        }
                    }
                }
            }
        }
        matched
    }

    /// Why a rule that fits takes no part: it is off, or it allows and only may fit, as the given text says.
    pub(super) fn out(
        &mut self,
        rule: usize,
        stance: Stance,
        fit: Fit,
        unsure: impl FnOnce() -> Arc<str>,
    ) -> Option<Arc<str>> {
        let off = self.off(rule).map(Arc::from);
        if off.is_some() || stance == Stance::Tightens || fit == Fit::Must {
            return off;
        }
        Some(unsure())
    }

    pub(super) fn transparent(&self, at: usize) -> bool {
        commands::command(self.accesses, at)
            .is_some_and(|command| command.transparent && command.escalations.is_empty())
    }

    /// The interpreter of a script that is judged as a program: its allow covers the script.
    pub(super) fn launcher_of_script(&self, at: usize) -> Option<usize> {
        commands::command(self.accesses, at)
            .filter(|command| command.scripted)?
            .launcher
    }

    pub(super) fn command_cover(&self, at: usize, matched: &[Matched]) -> Covered {
        if let Some(launcher) = self.launcher_of_script(at) {
            return Covered::Command(launcher);
        }
        let cover = self.cover.get(at).map(Vec::as_slice).unwrap_or_default();
        let mut by = cover
            .iter()
            .map(|(rule, _)| *rule)
            .filter(|rule| self.lifts_tier(*rule));
        // A rule that lost (under first-match) covers nothing.
        let lost = |rule: &usize| {
            matched
                .iter()
                .any(|matched| matched.rule == *rule && matched.lost.is_some())
        };
        if let Some(rule) = by.find(|rule| !lost(rule)) {
            return Covered::Rule(rule);
        }
        let rest = self.covered(matched, Cover::Tool);
        match rest {
            Covered::Tier if self.transparent(at) && self.plain_assignments(at) => {
                Covered::Transparent
            }
            rest => rest,
        }
    }

    /// A transparent launcher covers harmless assignments only.
    pub(super) fn plain_assignments(&self, at: usize) -> bool {
        commands::command(self.accesses, at).is_some_and(|command| {
            command
                .assignments
                .iter()
                .all(|own| !own.dangerous && !own.value.is_unknown())
        })
    }

    /// Whether the allow of a command covers an effect of it, whose word it must name.
    pub(super) fn command_covers(&self, at: usize, naming: Option<usize>) -> bool {
        let cover = self.cover.get(at).map(Vec::as_slice).unwrap_or_default();
        cover
            .iter()
            .filter(|(rule, _)| self.lifts_tier(*rule))
            .any(|(_, fitted)| naming.is_none_or(|word| fitted.named.contains(&(at, word))))
            || (naming.is_none()
                && cover.is_empty()
                && self.transparent(at)
                && self.plain_assignments(at))
    }
}

/// Why an allow that only may fit takes no part.
pub(super) fn may_be_else(what: &str) -> Arc<str> {
    format!("an allow must be sure, and {what} may be something else").into()
}
