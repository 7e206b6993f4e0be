//! Which obligations are cleared, and by what.
//!
//! In: the obligations of a call that nothing denies, and what the host vouches for. Out: those that are left, and
//! those that were cleared. One approval clears one obligation; a tool-wide grant never silences a rule that asks.

use super::{Basis, Cleared, Decision, Reason};
use crate::call::{Call, Grant, Mode};

/// Clears what can be cleared; what is left stays as the decision's reasons.
pub fn satisfy(
    call: &Call,
    obligations: Vec<Reason>,
    endorser: Option<&str>,
    decision: &mut Decision,
) {
    let forced = obligations.iter().any(|obligation| obligation.forced);
    // The digest is worth computing only where something is bound to it.
    let digest = call
        .approvals
        .iter()
        .any(|approval| approval.call.is_some())
        .then(|| call.digest());
    for obligation in obligations {
        match cleared(
            call,
            &obligation,
            endorser.filter(|_| !forced),
            digest.as_deref(),
        ) {
            Some((by, source, scope)) => {
                decision.cleared.push(Cleared {
                    forced: obligation.forced,
                    key: obligation.key,
                    by,
                    source,
                    scope,
                });
            }
            None => decision.reasons.push(obligation),
        }
    }
    for approval in &call.approvals {
        if approval.call.is_some() && approval.call != digest {
            decision.misplaced.push(approval.key.clone());
        }
    }
}

type By = (Basis, Option<String>, Option<&'static str>);

fn cleared(
    call: &Call,
    obligation: &Reason,
    endorser: Option<&str>,
    digest: Option<&str>,
) -> Option<By> {
    let approved = call
        .approvals
        .iter()
        .filter(|approval| approval.key == obligation.key)
        .any(|approval| match approval.call.as_deref() {
            Some(bound) => Some(bound) == digest,
            None => !obligation.forced,
        });
    if approved {
        return Some((Basis::Approval, None, None));
    }
    if obligation.forced {
        return None;
    }
    let tier = obligation.kind == Basis::Tier;
    if tier {
        if let Some(source) = endorser {
            return Some((
                Basis::Endorsement,
                Some(source.to_owned()).filter(|name| !name.is_empty()),
                None,
            ));
        }
        if call.session_approvals.contains(&call.tool) {
            return Some((Basis::Session, None, Some("session")));
        }
    }
    let serves = |grant: &&Grant| {
        let of_tool = grant.tool.as_deref().is_none_or(|tool| tool == call.tool);
        let matter = match (&grant.rule, &grant.tool) {
            (Some(rule), _) => obligation.kind == Basis::Rule && *rule == obligation.key,
            (None, Some(_)) => tier,
            (None, None) => false,
        };
        of_tool && matter && grant.user == call.user && grant.alive(call.now)
    };
    let session = |grant: &Grant| grant.session.is_some() && grant.session == call.session;
    if call.grants.iter().filter(serves).any(session) {
        return Some((Basis::Grant, None, Some("session")));
    }
    if call
        .grants
        .iter()
        .filter(serves)
        .any(|grant| grant.session.is_none())
    {
        return Some((Basis::Grant, None, Some("global")));
    }
    (tier && call.mode == Mode::Bypass).then_some((Basis::Mode, None, None))
}
