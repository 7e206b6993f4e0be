//! The record of a decision: JSON, version 1. Keys, codes and field names are API; prose is not.
//!
//! In: a decision. Out: structs of their own, so that a change inside never changes the record.

use super::{Basis, Decision, Reason, texts};
use crate::call::Call;
use crate::matcher::Matcher;
use crate::policy::rule::{Place, Verdict};
use serde::Serialize;

/// The version of the record; it moves on a breaking change.
pub const VERSION: u32 = 1;

/// A decision as JSON.
#[derive(Debug, Serialize)]
pub struct Record<'d> {
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'d str>,
    tool: &'d str,
    action: &'static str,
    basis: &'static str,
    decided_by: Option<By<'d>>,
    reasons: Vec<RecordedReason<'d>>,
    cleared: Vec<RecordedCleared<'d>>,
    model_text: String,
}

#[derive(Debug, Serialize)]
struct By<'d> {
    rule: &'d str,
    address: Option<&'d str>,
    #[serde(flatten)]
    at: Option<At<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'d str>,
}

/// A place in a policy file: lines and columns from 1, columns in characters.
#[derive(Debug, Serialize)]
pub struct At<'d> {
    file: &'d str,
    line: usize,
    column: usize,
}

impl<'d> At<'d> {
    /// The start of a place.
    pub fn of(place: &'d Place) -> Self {
        let (line, column) = place.source.line_column(place.span.start);
        Self {
            file: &place.source.name,
            line,
            column,
        }
    }
}

#[derive(Debug, Serialize)]
struct RecordedReason<'d> {
    key: &'d str,
    action: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    forced: bool,
    access: &'static str,
    subject: &'d str,
    text: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<&'d str>,
    #[serde(flatten)]
    at: Option<At<'d>>,
    /// What a human's approval of this obligation must say; a forced one is bound to the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    approve_with: Option<ApproveWith<'d>>,
}

#[derive(Debug, Serialize)]
struct ApproveWith<'d> {
    key: &'d str,
    call: String,
}

#[derive(Debug, Serialize)]
struct RecordedCleared<'d> {
    key: &'d str,
    by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
}

impl<'d> Record<'d> {
    /// The record of a decision.
    pub fn of(matcher: &Matcher, call: &'d Call, decision: &'d Decision) -> Self {
        let reason = |reason: &'d Reason| RecordedReason {
            key: &reason.key,
            action: reason.action.name(),
            kind: reason.kind.name(),
            forced: reason.forced,
            access: reason
                .access
                .and_then(|at| decision.judged.get(at))
                .map_or("tool", |judged| texts::kind(&judged.access)),
            subject: &reason.subject,
            text: &reason.text,
            instead: reason.instead.as_deref(),
            at: reason.place.as_ref().map(At::of),
            approve_with: (reason.forced && decision.action == Verdict::Ask).then(|| ApproveWith {
                key: &reason.key,
                call: call.digest(),
            }),
        };
        Self {
            version: VERSION,
            id: call.id.as_deref(),
            tool: &call.tool,
            action: decision.action.name(),
            basis: decision.basis.name(),
            decided_by: decision.decided_by.as_ref().map(|by| By {
                rule: &by.rule,
                address: by.address.as_deref(),
                at: by.place.as_ref().map(At::of),
                source: by.source.as_deref(),
            }),
            reasons: decision.reasons.iter().map(reason).collect(),
            cleared: decision
                .cleared
                .iter()
                .map(|cleared| RecordedCleared {
                    key: &cleared.key,
                    by: cleared.by.name(),
                    source: cleared.source.as_deref(),
                    scope: if cleared.by == Basis::Grant {
                        cleared.scope
                    } else {
                        None
                    },
                })
                .collect(),
            model_text: texts::for_model(matcher, decision, &call.tool),
        }
    }
}
