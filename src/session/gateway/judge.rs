//! A call judged for the gateway: under the policy as it is, with the approvals and grants that hold now.
//!
//! In: a policy, a call. Out: a [`Judgement`]: the end that it would come to, or what is asked. The files of this
//! machine are looked at each time.

use super::record::{Asked, Key, Record};
use super::wire::{Basis, Path, Remember, Terminal};
use super::{Granted, Options};
use crate::call::files::FileView;
use crate::call::{Call, Grant, digest};
use crate::decision::{self, Basis as Of, Decision, Reason, decide, texts};
use crate::matcher::Matcher;
use crate::policy::Verdict;
use std::time::Instant;

/// What became of a call that was judged.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Allow, ask or deny.
    pub action: Verdict,
    /// What that rests on.
    pub basis: Basis,
    /// The outside authority, where one has a name.
    pub source: Option<String>,
    /// What the model is told where it may not run.
    pub text: String,
    /// What is asked.
    pub asked: Vec<Asked>,
    /// What a remembered approval would grant: of a tool, or of a rule.
    pub grants: Vec<Matter>,
    /// A grant could change it.
    pub grantable: bool,
}

/// What a remembered approval grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matter {
    /// What the tool's tier asks.
    Tool,
    /// What this rule asks.
    Rule(String),
}

/// Judges.
pub fn judge(matcher: &Matcher, call: &Call, options: &Options) -> Judgement {
    let started = Instant::now();
    let decision = decide(matcher, call, &FileView::Real);
    if let Some(observer) = &options.observer {
        let told = std::panic::AssertUnwindSafe(|| {
            observer.judged(call, &decision, started.elapsed());
        });
        // Whatever becomes of who is told, the call goes on.
        let _ = std::panic::catch_unwind(told);
    }
    let asked = decision.reasons.iter();
    let asked = asked.filter(|reason| reason.action == Verdict::Ask);
    Judgement {
        action: decision.action,
        basis: decision.basis.into(),
        source: source(&decision),
        text: texts::for_model(matcher, &decision, &call.tool),
        asked: asked
            .clone()
            .map(|reason| Asked {
                key: reason.key.clone(),
                text: reason.text.clone(),
            })
            .collect(),
        grants: matters(matcher, &decision),
        grantable: asked.clone().next().is_some() && asked.clone().all(|reason| !reason.forced),
    }
}

/// What of a decision a grant could clear: what is open, and what an approval of this call has cleared.
pub fn matters(matcher: &Matcher, decision: &Decision) -> Vec<Matter> {
    let open = decision.reasons.iter().filter_map(of_reason);
    let cleared = decision.cleared.iter();
    let cleared = cleared.filter(|cleared| cleared.by == Of::Approval && !cleared.forced);
    let of_rule = |key: &String| matcher.rules.iter().any(|rule| rule.key == *key);
    let cleared = cleared.filter_map(|cleared| match &cleared.key {
        key if of_rule(key) => Some(Matter::Rule(key.clone())),
        key if key.starts_with("tool:") => Some(Matter::Tool),
        _ => None,
    });
    let mut all: Vec<Matter> = Vec::new();
    for matter in open.chain(cleared) {
        if !all.contains(&matter) {
            all.push(matter);
        }
    }
    all
}

fn of_reason(reason: &Reason) -> Option<Matter> {
    if reason.forced || reason.action != Verdict::Ask {
        return None;
    }
    match reason.kind {
        Of::Tier => Some(Matter::Tool),
        Of::Rule => Some(Matter::Rule(reason.key.clone())),
        _ => None,
    }
}

/// The authority behind an end, where it has a name.
fn source(decision: &Decision) -> Option<String> {
    let named = match decision.basis {
        decision::Basis::Verdict => decision.decided_by.as_ref()?.source.as_ref(),
        decision::Basis::Endorsement => decision.cleared.last()?.source.as_ref(),
        _ => None,
    };
    named.filter(|name| !name.is_empty()).cloned()
}

impl Judgement {
    /// The judgement of a call that could not be judged.
    pub fn impossible(why: &str) -> Self {
        Self {
            action: Verdict::Deny,
            basis: Basis::Opaque,
            source: None,
            text: format!(
                "This call was refused: it could not be judged ({why}). Do not retry the same call."
            ),
            asked: Vec::new(),
            grants: Vec::new(),
            grantable: false,
        }
    }

    /// The end that it comes to by itself.
    pub fn end(self, key: &Key, tool: &str) -> Terminal {
        let allowed = self.action == Verdict::Allow;
        Terminal {
            call: key.id.clone(),
            session: key.session.clone(),
            tool: tool.to_owned(),
            allowed,
            basis: self.basis,
            source: self.source,
            text: (!allowed).then_some(self.text),
            decided_by: None,
            path: None,
            result: None,
        }
    }
}

/// The end of a record that no judgement of a call gives, with a text of the policy.
pub fn told(matcher: &Matcher, record: &Record, basis: Basis, detail: &str) -> Terminal {
    let name = match basis {
        Basis::Refusal => "refused_by_human",
        Basis::PersistFailed => "persist_failed",
        Basis::Unavailable => "unavailable",
        _ => "canceled",
    };
    let mut text = texts::message(matcher, name, record.tool(), detail, None);
    if record.held.may_have_run {
        text.push_str(" It may have run already, when it was approved before.");
    }
    Terminal {
        call: record.key.id.clone(),
        session: record.key.session.clone(),
        tool: record.tool().to_owned(),
        allowed: false,
        basis,
        source: None,
        text: Some(text),
        decided_by: None,
        path: None,
        result: None,
    }
}

/// Why a call of another's id is refused.
pub fn conflict(matcher: &Matcher, key: &Key, call: &Call) -> Terminal {
    let reason = format!("another call of this session has the id `{}`", key.id);
    Terminal {
        call: key.id.clone(),
        session: key.session.clone(),
        tool: call.tool.clone(),
        allowed: false,
        basis: Basis::Duplicate,
        source: None,
        text: Some(texts::message(matcher, "denied", &call.tool, &reason, None)),
        decided_by: None,
        path: None,
        result: None,
    }
}

/// The settlement of a word: an end with who decided and how that reached the run.
pub fn settled(terminal: Terminal, by: &str, path: Path) -> Terminal {
    Terminal {
        decided_by: Some(by.to_owned()),
        path: Some(path),
        ..terminal
    }
}

/// The grants that an approval is remembered by.
pub fn remembered(
    matters: &[Matter],
    call: &Call,
    remember: Remember,
    by: &str,
    now: i64,
) -> Vec<Granted> {
    let session = match remember {
        Remember::None => return Vec::new(),
        Remember::Session => call.session.clone(),
        Remember::Global => None,
    };
    let granted = matters.iter().map(|matter| {
        let rule = match matter {
            Matter::Tool => None,
            Matter::Rule(key) => Some(key.clone()),
        };
        let grant = Grant {
            user: call.user.clone(),
            session: session.clone(),
            tool: Some(call.tool.clone()),
            rule,
            created_by: Some(by.to_owned()),
            created_at: Some(now),
            expires_at: None,
        };
        let identity = serde_json::json!([grant.user, grant.session, grant.tool, grant.rule]);
        let id = digest(identity.to_string().as_bytes());
        Granted {
            // What grants the same takes the place of what was there: the id is what it grants.
            id: id.chars().skip("sha256:".len()).take(24).collect(),
            grant,
        }
    });
    granted.collect()
}
