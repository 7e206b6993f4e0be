//! A decision stage by stage: what each did, with those that had nothing to do and those that were not reached.
//!
//! In: matcher, call, decision, its explained accesses. Out: one step for each stage, in order.

use super::{BecauseOf, Explained};
use crate::call::{Call, Mode, Said};
use crate::decision::{Basis, Decision, Reason, Stage, texts};
use crate::matcher::Matcher;
use crate::policy::rule::Verdict;

/// What one stage did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The stage.
    pub stage: Stage,
    /// What came of it.
    pub state: State,
    /// What it did, a phrase each; for a stage that was not reached, why.
    pub notes: Vec<String>,
}

/// What came of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It had nothing to do.
    Nothing,
    /// It let the call go on.
    Passed,
    /// It left something to ask.
    Asked,
    /// It refused the call.
    Denied,
    /// It was not reached.
    NotReached,
}

impl State {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Passed => "passed",
            Self::Asked => "asked",
            Self::Denied => "denied",
            Self::NotReached => "not-reached",
        }
    }
}

impl From<Verdict> for State {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Passed,
            Verdict::Ask => Self::Asked,
            Verdict::Deny => Self::Denied,
        }
    }
}

pub fn steps(
    matcher: &Matcher,
    call: &Call,
    decision: &Decision,
    accesses: &[Explained<'_>],
) -> Vec<Step> {
    let tracer = Tracer {
        matcher,
        call,
        decision,
        accesses,
    };
    let steps = Stage::ALL.iter().map(|(stage, _)| {
        let (state, notes) = match tracer.skipped(*stage) {
            Some(why) => (State::NotReached, vec![why]),
            None => tracer.step(*stage),
        };
        Step {
            stage: *stage,
            state,
            notes,
        }
    });
    steps.collect()
}

struct Tracer<'t> {
    matcher: &'t Matcher,
    call: &'t Call,
    decision: &'t Decision,
    accesses: &'t [Explained<'t>],
}

impl Tracer<'_> {
    /// Why a stage was not reached.
    fn skipped(&self, stage: Stage) -> Option<String> {
        match self.decision.stopped_at {
            Some(stop) if stage > stop => {
                return Some(format!("the call was refused at `{}`", stop.name()));
            }
            Some(_) => return None,
            None => {}
        }
        // The mode refuses last; any other deny ends the decision before obligations are looked at.
        let denied = self.decision.action == Verdict::Deny && self.decision.basis != Basis::Mode;
        (denied && stage >= Stage::Satisfy).then(|| "a deny is final".to_owned())
    }

    fn step(&self, stage: Stage) -> (State, Vec<String>) {
        if self.decision.stopped_at == Some(stage) {
            let texts = self.decision.reasons.iter();
            return (State::Denied, texts.map(|own| own.text.clone()).collect());
        }
        match stage {
            Stage::Arguments => self.arguments(),
            Stage::Coverage => self.coverage(),
            Stage::Accesses => self.taken_apart(),
            Stage::Protected => self.found(
                |source| matches!(source, BecauseOf::Protected(_)),
                &[(
                    "the policy protects no files",
                    self.matcher.protected.is_empty(),
                )],
            ),
            Stage::Workspace => {
                let allowed = self.matcher.outside.0 == Verdict::Allow;
                self.found(
                    |source| matches!(source, BecauseOf::Outside),
                    &[("`workspace.outside` is allow", allowed)],
                )
            }
            Stage::Rules => self.rules(),
            Stage::Tier => self.tier(),
            Stage::Sources => self.sources(),
            Stage::Satisfy => self.satisfy(),
            Stage::Resolve => match self.left() {
                0 => (State::Passed, vec!["no obligation is left".into()]),
                count => {
                    let s = if count == 1 {
                        "obligation is"
                    } else {
                        "obligations are"
                    };
                    (State::Asked, vec![format!("{count} {s} left")])
                }
            },
            Stage::Mode => self.mode(),
        }
    }

    fn arguments(&self) -> (State, Vec<String>) {
        let names: Vec<String> = match self.call.args.object() {
            Ok(args) => args.keys().map(|name| format!("`{name}`")).collect(),
            Err(_) => Vec::new(),
        };
        match names.is_empty() {
            true => (State::Nothing, vec!["the call has no arguments".into()]),
            false => (State::Passed, vec![format!("given: {}", names.join(", "))]),
        }
    }

    fn coverage(&self) -> (State, Vec<String>) {
        let tool = &self.call.tool;
        let note = match self.matcher.declaration(tool) {
            Some(_) => format!("`{tool}` is declared"),
            None => format!("a tier, a rule or the default covers `{tool}`"),
        };
        (State::Passed, vec![note])
    }

    fn taken_apart(&self) -> (State, Vec<String>) {
        let notes = self.accesses.iter().map(|own| {
            let access = &own.judged.access;
            let via = match &*access.via {
                [] => String::new(),
                via => format!(", via {}", quoted(via)),
            };
            format!("{} `{}`{via}", texts::kind(access), own.subject)
        });
        (State::Passed, notes.collect())
    }

    /// What a stage found, told by the reasons of the accesses.
    fn found(
        &self,
        wanted: impl Fn(&BecauseOf<'_>) -> bool,
        idle: &[(&str, bool)],
    ) -> (State, Vec<String>) {
        let mut strictest = None;
        let mut notes = Vec::new();
        for own in self.accesses {
            for because in own.because.iter().filter(|because| wanted(&because.source)) {
                strictest = strictest.max(Some(because.action));
                notes.push(format!(
                    "{} `{}`: `{}`",
                    verb(because.action),
                    own.subject,
                    because.key
                ));
            }
        }
        match strictest {
            Some(verdict) => (verdict.into(), notes),
            None => {
                let why = idle.iter().find(|(_, holds)| *holds);
                (
                    State::Nothing,
                    why.map(|(note, _)| (*note).to_owned())
                        .into_iter()
                        .collect(),
                )
            }
        }
    }

    fn rules(&self) -> (State, Vec<String>) {
        let (mut state, mut notes) = self.found(
            |source| {
                matches!(
                    source,
                    BecauseOf::Rule(_) | BecauseOf::Opaque | BecauseOf::Unresolved
                )
            },
            &[],
        );
        for own in self.accesses {
            if let Some(super::CoveredBy::Rule(rule)) = &own.cover {
                notes.push(format!("allows `{}`: `{}`", own.subject, rule.key));
                if state == State::Nothing {
                    state = State::Passed;
                }
            }
        }
        let met = self.accesses.iter().any(|own| !own.rules.is_empty());
        if notes.is_empty() && !met {
            notes.push("no rule meets this call".into());
        }
        (state, notes)
    }

    fn tier(&self) -> (State, Vec<String>) {
        let Some(tier) = &self.decision.tier else {
            return (State::Nothing, Vec::new());
        };
        let leaning = self
            .accesses
            .iter()
            .filter(|own| matches!(own.cover, Some(super::CoveredBy::Tier)))
            .count();
        let stated = match tier.place {
            Some(_) => format!("`{}` says {}", tier.address, tier.verdict),
            None => format!("no policy states a tier: the default is {}", tier.verdict),
        };
        if tier.verdict == Verdict::Deny {
            return (State::Denied, vec![stated]);
        }
        match leaning {
            0 => (State::Nothing, vec![stated, "no access leans on it".into()]),
            1 => (
                tier.verdict.into(),
                vec![stated, "1 access leans on it".into()],
            ),
            count => (
                tier.verdict.into(),
                vec![stated, format!("{count} accesses lean on it")],
            ),
        }
    }

    fn sources(&self) -> (State, Vec<String>) {
        let declared = self
            .matcher
            .sources
            .iter()
            .map(|source| source.name.as_str());
        let given = self.call.verdicts.keys().map(String::as_str);
        let strange =
            given.filter(|name| !self.matcher.sources.iter().any(|own| own.name == **name));
        let mut notes = Vec::new();
        for name in declared.chain(strange) {
            let said = match self.call.verdicts.get(name) {
                Some(Said::Allow) => "endorses the call",
                Some(Said::Ask) => "wants a human to decide",
                Some(Said::Deny) => "refuses the call",
                Some(Said::Abstain) => "has no opinion",
                Some(Said::Error) => "could not be reached",
                None => "gave no verdict",
            };
            let name = if name.is_empty() {
                "an outside authority"
            } else {
                name
            };
            notes.push(format!("`{name}` {said}"));
        }
        let own = |reason: &&Reason| reason.kind == Basis::Verdict;
        let reasons = self.decision.reasons.iter().chain(&self.decision.overtaken);
        let cleared = self
            .decision
            .cleared
            .iter()
            .any(|own| own.key.starts_with("source:"));
        let strictest = reasons.filter(own).map(|reason| reason.action).max();
        match strictest.or(cleared.then_some(Verdict::Ask)) {
            Some(verdict) => (verdict.into(), notes),
            None if notes.is_empty() => (
                State::Nothing,
                vec!["the policy asks no outside authority".into()],
            ),
            None => (State::Passed, notes),
        }
    }

    /// How many obligations were left.
    fn left(&self) -> usize {
        let reasons = self.decision.reasons.iter();
        reasons
            .filter(|reason| reason.action == Verdict::Ask)
            .count()
    }

    fn satisfy(&self) -> (State, Vec<String>) {
        let cleared = self.decision.cleared.iter().map(|cleared| {
            let by = match &cleared.source {
                Some(source) => format!("{} of `{source}`", cleared.by.name()),
                None => cleared.by.name().to_owned(),
            };
            format!("`{}` is cleared by {by}", cleared.key)
        });
        let left = self.decision.reasons.iter();
        let left = left.filter(|reason| reason.action == Verdict::Ask);
        let notes: Vec<String> = cleared
            .chain(left.map(|reason| format!("`{}` is left", reason.key)))
            .collect();
        match (notes.is_empty(), self.left()) {
            (true, _) => (State::Nothing, vec!["there is no obligation".into()]),
            (false, 0) => (State::Passed, notes),
            (false, _) => (State::Asked, notes),
        }
    }

    fn mode(&self) -> (State, Vec<String>) {
        let refused = self.decision.basis == Basis::Mode && self.decision.action == Verdict::Deny;
        let note = match (self.call.mode, refused) {
            (Mode::Interactive, _) => "interactive: a human can be asked",
            (Mode::NonInteractive, true) => {
                "non-interactive: nobody can be asked, so an ask is a deny"
            }
            (Mode::NonInteractive, false) => "non-interactive: nothing is to be asked",
            (Mode::Plan, true) => "plan: only reading is allowed",
            (Mode::Plan, false) => "plan: the call only reads",
            (Mode::Bypass, _) => "bypass: what the tier asks passes",
        };
        let state = match refused {
            true => State::Denied,
            false if self.call.mode == Mode::Interactive => State::Nothing,
            false => State::Passed,
        };
        (state, vec![note.to_owned()])
    }
}

const fn verb(action: Verdict) -> &'static str {
    match action {
        Verdict::Allow => "allows",
        Verdict::Ask => "asks about",
        Verdict::Deny => "denies",
    }
}

fn quoted(words: &[impl std::fmt::Display]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
