//! What would clear an obligation, and why what was given did not.
//!
//! In: a decision and what the host vouched for. Out: the ways of the table in the documentation of decisions, each
//! with the exact value to give. A forced obligation has one way: an approval bound to this very call.

use crate::call::{Call, Grant, Mode, Said};
use crate::decision::{Basis, Decision, Reason};
use crate::matcher::Matcher;
use crate::policy::rule::Verdict;

/// One way to clear an obligation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// A human approves it by its key; a forced one is bound to the call.
    Approval {
        /// The obligation's key.
        key: String,
        /// The call's digest, where it must be bound.
        call: Option<String>,
    },
    /// This authority endorses the call; the name is empty for an anonymous one.
    Endorsement(String),
    /// The tool is approved for the session.
    Session(String),
    /// A remembered approval.
    Grant(Grant),
    /// The mode that clears what a tier asks.
    Bypass,
}

/// Something the host vouched for that did not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused<'a> {
    /// What was given.
    pub given: Voucher<'a>,
    /// Why it did not count.
    pub why: String,
}

/// What a host may vouch for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voucher<'a> {
    /// An approval, by its key.
    Approval(&'a str),
    /// A session approval of a tool.
    Session(&'a str),
    /// A grant.
    Grant(&'a Grant),
    /// An authority's endorsement.
    Endorsement(&'a str),
}

/// What would clear an obligation, in the order in which it is tried.
pub fn ways(matcher: &Matcher, call: &Call, decision: &Decision, reason: &Reason) -> Vec<Way> {
    let approval = Way::Approval {
        key: reason.key.clone(),
        call: reason.forced.then(|| call.digest()),
    };
    if reason.forced {
        return vec![approval];
    }
    let mut ways = vec![approval];
    let grant = |session: Option<&String>| {
        let tier = reason.kind == Basis::Tier;
        Grant {
            user: call.user.clone(),
            session: session.cloned(),
            tool: tier.then(|| call.tool.clone()),
            rule: (!tier).then(|| reason.key.clone()),
            created_by: None,
            created_at: None,
            expires_at: None,
        }
    };
    if reason.kind == Basis::Tier {
        if !is_forced(decision) {
            let known = matcher.sources.iter();
            ways.extend(known.map(|source| Way::Endorsement(source.name.clone())));
        }
        ways.push(Way::Session(call.tool.clone()));
    }
    if matches!(reason.kind, Basis::Tier | Basis::Rule) {
        if call.session.is_some() {
            ways.push(Way::Grant(grant(call.session.as_ref())));
        }
        ways.push(Way::Grant(grant(None)));
    }
    if reason.kind == Basis::Tier && call.mode == Mode::Interactive {
        ways.push(Way::Bypass);
    }
    ways
}

/// Whether some obligation, left or cleared, was forced: then no endorsement counts.
fn is_forced(decision: &Decision) -> bool {
    decision.reasons.iter().any(|reason| reason.forced)
        || decision.cleared.iter().any(|cleared| cleared.forced)
}

/// What was given and did not count. Where the call passes, nobody needs to know.
pub fn unused<'a>(matcher: &Matcher, call: &'a Call, decision: &Decision) -> Vec<Unused<'a>> {
    if decision.action == Verdict::Allow {
        return Vec::new();
    }
    let refused = decision
        .reasons
        .iter()
        .any(|reason| reason.action == Verdict::Deny)
        .then(|| "nothing clears a deny".to_owned());
    let mut out = Vec::new();
    let mut add = |given, why: Option<String>| {
        if let Some(why) = refused.clone().or(why) {
            out.push(Unused { given, why });
        }
    };
    let cleared = |by: Basis| decision.cleared.iter().any(move |cleared| cleared.by == by);
    let digest = call.digest();
    for approval in &call.approvals {
        let key = &approval.key;
        let left = decision.reasons.iter().find(|reason| reason.key == *key);
        let why = match (&approval.call, left) {
            (Some(bound), _) if *bound != digest => Some("it was given for another call"),
            (None, Some(reason)) if reason.forced => {
                Some("the obligation is forced: only an approval of this very call counts")
            }
            _ if decision.cleared.iter().any(|cleared| cleared.key == *key) => None,
            _ => Some("this call has no such obligation"),
        };
        add(Voucher::Approval(key), why.map(str::to_owned));
    }
    for tool in &call.session_approvals {
        let why = match tool {
            tool if *tool != call.tool => Some(format!("the call is one of `{}`", call.tool)),
            _ if cleared(Basis::Session) => None,
            _ => Some(TIER_ONLY.to_owned()),
        };
        add(Voucher::Session(tool), why);
    }
    for grant in &call.grants {
        add(Voucher::Grant(grant), grant_lost(call, decision, grant));
    }
    for (name, _) in call
        .verdicts
        .iter()
        .filter(|(_, said)| **said == Said::Allow)
    {
        let why = match name {
            name if !matcher.sources.iter().any(|source| source.name == *name) => {
                Some("the policy does not know this authority".to_owned())
            }
            _ if is_forced(decision) => {
                Some("no endorsement counts where a decision is forced".to_owned())
            }
            _ if cleared(Basis::Endorsement) => None,
            _ => Some(TIER_ONLY.to_owned()),
        };
        add(Voucher::Endorsement(name), why);
    }
    out
}

const TIER_ONLY: &str = "it clears only what the tool's tier asks";

/// Why a grant cleared nothing.
fn grant_lost(call: &Call, decision: &Decision, grant: &Grant) -> Option<String> {
    if grant.user != call.user {
        return Some(match &grant.user {
            Some(user) => format!("it was given to `{user}`"),
            None => "it was given to nobody by name, and this call is done for somebody".into(),
        });
    }
    if grant.session.is_some() && grant.session != call.session {
        return Some("it was given for another session".into());
    }
    match (grant.expires_at, call.now) {
        (Some(_), None) => return Some("it expires, and the time is not given".into()),
        (Some(end), Some(now)) if now >= end => return Some("it has expired".into()),
        _ => {}
    }
    if let Some(tool) = grant.tool.as_ref().filter(|tool| **tool != call.tool) {
        return Some(format!("it is for `{tool}`"));
    }
    if decision
        .cleared
        .iter()
        .any(|cleared| cleared.by == Basis::Grant)
    {
        return None;
    }
    Some(match &grant.rule {
        Some(rule) if decision.reasons.iter().any(|r| r.key == *rule && r.forced) => {
            "the obligation is forced: no grant clears it".into()
        }
        Some(rule) => format!("no rule `{rule}` asks here"),
        None if grant.tool.is_some() => TIER_ONLY.into(),
        None => "it names neither a tool nor a rule".into(),
    })
}
