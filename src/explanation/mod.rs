//! Decision → [`Explanation`]: which rule, where, why the others lost, and what would clear what is left.
//!
//! In: the matcher, the call and the decision made of them. Out: values only; `report/` words and draws them.
//! It decides nothing anew: what it says of an access is what `decide` recorded while judging it. Only which pattern it
//! was (`pointing.rs`), and which allow rule nearly fits (`near.rs`), is looked up again.

mod clearing;
mod inputs;
mod lookalike;
mod near;
mod pointing;
mod trace;

use crate::call::Call;
use crate::call::access::{Access, Kind, Touches};
use crate::call::word::Word;
use crate::decision::{Covered, Decision, Judged, Reason, texts};
use crate::matcher::{Compiled, Matcher};
use crate::policy::glob::Fit;
use crate::policy::rule::{Place, Verdict};
use crate::source::Span;

pub use clearing::{Unused, Voucher, Way};
pub use inputs::{Inputs, PolicyFile, UsedFact, policy};
pub use lookalike::{Letter, Lookalike};
pub use near::Near;
pub use trace::{State, Step};

/// Why a call was decided as it was.
#[derive(Debug)]
pub struct Explanation<'a> {
    /// The policy.
    pub matcher: &'a Matcher,
    /// The call.
    pub call: &'a Call,
    /// What was decided.
    pub decision: &'a Decision,
    /// What the call does, each access with what became of it.
    pub accesses: Vec<Explained<'a>>,
    /// What is left to be cleared, and what would do so; empty unless a human is or would be asked.
    pub obligations: Vec<Obligation<'a>>,
    /// What the host vouched for that did not count, and why.
    pub unused: Vec<Unused<'a>>,
    /// Stage by stage.
    pub trace: Vec<Step>,
    /// What went in.
    pub inputs: Inputs,
}

/// One access and what became of it.
#[derive(Debug)]
pub struct Explained<'a> {
    /// As it was judged.
    pub judged: &'a Judged,
    /// What became of it, the mode included.
    pub verdict: Verdict,
    /// What it is about, in a few words.
    pub subject: String,
    /// How much of it is known before the call runs.
    pub certainty: Certainty,
    /// The rules that met it.
    pub rules: Vec<Met<'a>>,
    /// The allow rules that nearly cover it, where one would have let it pass.
    pub near: Vec<Near<'a>>,
    /// Why it does not simply pass.
    pub because: Vec<Because<'a>>,
    /// What lets it pass, where something does.
    pub cover: Option<CoveredBy<'a>>,
    /// Its program's name is not what it looks like.
    pub lookalike: Option<Lookalike>,
}

impl Explained<'_> {
    /// What is still in the way of this access.
    pub fn open(&self) -> impl Iterator<Item = &Because<'_>> {
        self.because.iter().filter(|because| !because.cleared)
    }
}

/// How much of an access is known before the call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// All of it.
    Known,
    /// A shell pattern stands in it.
    Pattern,
    /// Something in it cannot be computed.
    Unknown,
    /// It may be no path at all: an operand of a program nobody knows.
    MaybeNoPath,
}

impl Certainty {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Pattern => "pattern",
            Self::Unknown => "unknown",
            Self::MaybeNoPath => "maybe-no-path",
        }
    }
}

/// A rule that met an access.
#[derive(Debug)]
pub struct Met<'a> {
    /// The rule.
    pub rule: &'a Compiled,
    /// How surely.
    pub fit: Fit,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a rule that met an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The access has its verdict from it, perhaps from others too.
    Decided,
    /// It says the same as what decided.
    Agreed,
    /// It did not count, and why.
    Lost(String),
}

impl Outcome {
    /// Its name in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Decided => "decided",
            Self::Agreed => "agreed",
            Self::Lost(_) => "lost",
        }
    }
}

/// Why an access does not simply pass.
#[derive(Debug)]
pub struct Because<'a> {
    /// The key of the reason.
    pub key: &'a str,
    /// Ask or deny.
    pub action: Verdict,
    /// What is behind the key.
    pub source: BecauseOf<'a>,
    /// The obligation was cleared.
    pub cleared: bool,
}

/// What is behind a reason's key.
#[derive(Debug)]
pub enum BecauseOf<'a> {
    /// A rule.
    Rule(&'a Compiled),
    /// The protected files of this name.
    Protected(&'a str),
    /// A path outside the roots.
    Outside,
    /// A line that is not understood.
    Opaque,
    /// Words that cannot be computed.
    Unresolved,
    /// The tool's tier.
    Tier,
    /// The mode.
    Mode,
}

/// What lets an access pass.
#[derive(Debug)]
pub enum CoveredBy<'a> {
    /// A rule allows it.
    Rule(&'a Compiled),
    /// A launcher needs no cover of its own.
    Transparent,
    /// It is what the command at this index does, and this rule, where one does, allows that.
    Command(usize, Option<&'a Compiled>),
    /// The tool's tier.
    Tier,
}

/// A reason that a human, a grant or an authority may clear.
#[derive(Debug)]
pub struct Obligation<'a> {
    /// The reason.
    pub reason: &'a Reason,
    /// What would clear it, in the order in which it is tried.
    pub ways: Vec<Way>,
}

/// The place in a policy that a reason or decision points at, narrowed to the pattern that matched.
#[derive(Clone, Debug)]
pub struct Pointed<'a> {
    /// The whole entry.
    pub place: &'a Place,
    /// The pattern in it, where it could be told.
    pub pattern: Option<Span>,
    /// The words under `with` that are there.
    pub with: Vec<Span>,
}

impl<'a> Explanation<'a> {
    /// Explains a decision that was made of this matcher and this call.
    pub fn of(matcher: &'a Matcher, call: &'a Call, decision: &'a Decision) -> Self {
        let near = near::Finder::new(matcher, call, decision);
        let accesses: Vec<Explained<'a>> = decision
            .judged
            .iter()
            .enumerate()
            .map(|(at, judged)| Explained {
                near: near.near(at, judged),
                ..explained(matcher, call, decision, at, judged)
            })
            .collect();
        let obligations = decision
            .reasons
            .iter()
            .filter(|reason| reason.action == Verdict::Ask)
            .map(|reason| Obligation {
                reason,
                ways: clearing::ways(matcher, call, decision, reason),
            })
            .collect();
        Self {
            trace: trace::steps(matcher, call, decision, &accesses),
            unused: clearing::unused(matcher, call, decision),
            inputs: inputs::inputs(matcher, call, decision),
            matcher,
            call,
            decision,
            accesses,
            obligations,
        }
    }

    /// The place a reason points at.
    pub fn pointed(&self, reason: &'a Reason) -> Option<Pointed<'a>> {
        let place = reason.place.as_ref()?;
        let access = reason.access.and_then(|at| self.accesses.get(at));
        let rule = self.rule(&reason.key);
        Some(Pointed {
            place,
            pattern: access
                .and_then(|access| pointing::pattern(self, place, rule, &reason.key, access)),
            with: match (rule, access) {
                (Some(rule), Some(access)) => pointing::with(self, place, rule, access),
                _ => Vec::new(),
            },
        })
    }

    /// The rule with this key.
    pub fn rule(&self, key: &str) -> Option<&'a Compiled> {
        self.matcher
            .rules
            .iter()
            .find(|compiled| compiled.key == key)
    }
}

fn explained<'a>(
    matcher: &'a Matcher,
    call: &'a Call,
    decision: &'a Decision,
    at: usize,
    judged: &'a Judged,
) -> Explained<'a> {
    let rules = judged
        .matched
        .iter()
        .filter_map(|matched| {
            let rule = matcher.rules.get(matched.rule)?;
            let outcome = match (&matched.lost, rule.rule.action) {
                (Some(why), _) => Outcome::Lost(why.to_string()),
                (None, Verdict::Allow) if judged.covered == Covered::Rule(matched.rule) => {
                    Outcome::Decided
                }
                (None, Verdict::Allow) => Outcome::Agreed,
                (None, Verdict::Ask) if judged.verdict == Verdict::Deny => {
                    Outcome::Lost("a deny is final".into())
                }
                (None, _) => Outcome::Decided,
            };
            Some(Met {
                rule,
                fit: matched.fit,
                outcome,
            })
        })
        .collect();
    let mut because: Vec<Because<'a>> = Vec::new();
    let own = judged
        .because
        .iter()
        .map(|(key, action)| (key.as_str(), *action));
    // A planning mode refuses an access after it was judged.
    let late = decision
        .reasons
        .iter()
        .filter(|reason| reason.access == Some(at) && reason.key == "mode:plan")
        .map(|reason| (reason.key.as_str(), reason.action));
    for (key, action) in own.chain(late) {
        if because.iter().any(|other| other.key == key) {
            continue;
        }
        because.push(Because {
            key,
            action,
            source: behind(matcher, key),
            cleared: decision.cleared.iter().any(|cleared| cleared.key == key),
        });
    }
    let rule = |index: usize| matcher.rules.get(index);
    let cover = match judged.covered {
        // What covered an access that something else refuses or asks about has lost.
        Covered::Rule(_) if judged.verdict != Verdict::Allow => None,
        Covered::Rule(index) => rule(index).map(CoveredBy::Rule),
        Covered::Transparent => Some(CoveredBy::Transparent),
        Covered::Command(command) => Some(CoveredBy::Command(
            command,
            match decision.judged.get(command).map(|judged| &judged.covered) {
                Some(Covered::Rule(index)) => rule(*index),
                _ => None,
            },
        )),
        Covered::Tier => Some(CoveredBy::Tier),
        Covered::Nothing => None,
    };
    Explained {
        judged,
        verdict: because
            .iter()
            .map(|because| because.action)
            .fold(judged.verdict, Verdict::max),
        subject: texts::subject(&judged.access, &call.tool),
        certainty: certainty(&judged.access),
        rules,
        near: Vec::new(),
        because,
        cover,
        lookalike: match &judged.access.kind {
            Kind::Command(command) => command
                .words
                .first()
                .and_then(Word::text)
                .and_then(lookalike::find),
            _ => None,
        },
    }
}

/// What is behind a reason's key. A rule may have any id, so rules come first.
fn behind<'a>(matcher: &'a Matcher, key: &'a str) -> BecauseOf<'a> {
    if let Some(rule) = matcher.rules.iter().find(|compiled| compiled.key == key) {
        return BecauseOf::Rule(rule);
    }
    match key.split_once(['.', ':']) {
        Some(("protected", name)) => BecauseOf::Protected(name),
        Some(("outside-workspace", _)) => BecauseOf::Outside,
        Some(("tool", _)) => BecauseOf::Tier,
        Some(("mode", _)) => BecauseOf::Mode,
        _ if key == "opaque" => BecauseOf::Opaque,
        _ => BecauseOf::Unresolved,
    }
}

fn certainty(access: &Access) -> Certainty {
    let words: Vec<&Word> = match &access.kind {
        Kind::Tool => return Certainty::Known,
        Kind::Opaque(_) => return Certainty::Unknown,
        Kind::Path(path) if path.touches == Touches::Perhaps => return Certainty::MaybeNoPath,
        Kind::Path(path) => vec![&path.path],
        Kind::Host(host) => vec![&host.url],
        Kind::Command(command) => command.words.iter().collect(),
    };
    if words.iter().any(|word| word.is_unknown()) {
        Certainty::Unknown
    } else if words.iter().any(|word| word.text().is_none()) {
        Certainty::Pattern
    } else {
        Certainty::Known
    }
}
