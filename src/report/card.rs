//! An explanation → what a person is shown who decides about a call elsewhere than in a terminal: what it is about, why
//! it is asked, its command line with marks, what else it does.
//!
//! Owned texts, as they are: who sends them masks secrets, and who shows them makes strange characters visible.

use super::picture::Mark;
use super::wording::{does, laid, lookalike, place, said, what, why};
use crate::call::access::Kind;
use crate::explanation::{Explanation, Way};
use crate::policy::rule::Verdict;
use crate::source::Span;

/// What is shown of a call.
#[derive(Clone, Debug)]
pub struct Card {
    /// Ask, or what became of it since.
    pub verdict: Verdict,
    /// What the call is about, in a few words.
    pub what: String,
    /// The command line, where it has one.
    pub line: Option<String>,
    /// What stands under its parts; what is in the way first.
    pub marks: Vec<Marked>,
    /// Why it is not simply allowed.
    pub reasons: Vec<Reason>,
    /// What else it does, and why each part has its verdict.
    pub accesses: Vec<Access>,
    /// Programs whose names look like others.
    pub lookalikes: Vec<String>,
    /// The folder that it is made in.
    pub cwd: Option<String>,
    /// Whether a yes for the session would answer all that is asked.
    pub session_would_do: bool,
}

/// A part of the command line.
#[derive(Clone, Debug)]
pub struct Marked {
    /// Its bytes, never beyond the line.
    pub span: Span,
    /// What was decided of it.
    pub verdict: Verdict,
    /// Whether it is in the way.
    pub offends: bool,
    /// What is said of it.
    pub text: String,
}

/// One reason.
#[derive(Clone, Debug)]
pub struct Reason {
    /// Its key.
    pub key: String,
    /// Ask or deny.
    pub verdict: Verdict,
    /// The sentence.
    pub text: String,
    /// What to do instead.
    pub instead: Option<String>,
    /// Only a fresh yes to this very call will do.
    pub forced: bool,
    /// `FILE:LINE:COLUMN` of the rule.
    pub place: Option<String>,
}

/// Something the call does, beside its command line.
#[derive(Clone, Debug)]
pub struct Access {
    /// What was decided of it.
    pub verdict: Verdict,
    /// What it is, and why.
    pub text: String,
}

/// The card of a call.
pub fn card(told: &Explanation<'_>) -> Card {
    let decision = told.decision;
    let (mut marks, listed) = laid(told);
    marks.sort_by_key(|mark| (!mark.offends, mark.span.start));
    let by_session = |way: &Way| match way {
        Way::Session(_) => true,
        Way::Grant(grant) => grant.session.is_some() || told.call.session.is_none(),
        _ => false,
    };
    let line = decision.line.clone();
    let longest = line.as_ref().map_or(0, String::len);
    Card {
        verdict: decision.action,
        what: what(told),
        marks: marks
            .into_iter()
            .map(|mark| marked(mark, longest))
            .collect(),
        line,
        reasons: decision
            .reasons
            .iter()
            .map(|reason| Reason {
                key: reason.key.clone(),
                verdict: reason.action,
                text: said(told, reason),
                instead: reason.instead.clone(),
                forced: reason.forced,
                place: told.pointed(reason).map(|pointed| place(pointed.place)),
            })
            .collect(),
        accesses: listed
            .iter()
            .map(|own| Access {
                verdict: own.verdict,
                text: format!("{}: {}", does(told, own), why(told, own)),
            })
            .collect(),
        lookalikes: told
            .accesses
            .iter()
            .filter(|own| matches!(own.judged.access.kind, Kind::Command(_)))
            .filter_map(|own| own.lookalike.as_ref().map(lookalike))
            .collect(),
        cwd: told.call.cwd.clone(),
        session_would_do: !told.obligations.is_empty()
            && told
                .obligations
                .iter()
                .all(|own| own.ways.iter().any(by_session)),
    }
}

fn marked(mark: Mark, longest: usize) -> Marked {
    Marked {
        span: Span::new(mark.span.start.min(longest), mark.span.end.min(longest)),
        verdict: mark.verdict,
        offends: mark.offends,
        text: mark.text,
    }
}
