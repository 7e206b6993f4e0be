//! What waits for a person, as a list shows it: each with the reasons that the policy has now.
//!
//! In: records. Out: [`Listed`], secrets masked. A line with a secret is shown masked and without its marks, whose
//! places would not be true any more.

use super::judge::{self, Matter};
use super::lifecycle::Inner;
use super::record::{Record, State};
use super::wire::{Listed, Mark, Why};
use super::{Fault, Granted};
use crate::call::Call;
use crate::call::files::FileView;
use crate::decision::{Decision, decide, texts};
use crate::matcher::Matcher;
use crate::session::secrets::Secrets;
use std::sync::Arc;

impl Inner {
    pub async fn pending(self: &Arc<Self>, session: Option<&str>) -> Result<Vec<Listed>, Fault> {
        let mut records = self.store.unsettled(session).await?;
        records.retain(|record| record.state == State::Pending);
        let grants = match self.options.grants && !records.is_empty() {
            true => self.store.grants().await?,
            false => Vec::new(),
        };
        let waited = self.waited();
        let (inner, now) = (Arc::clone(self), self.now());
        let listed = tokio::task::spawn_blocking(move || {
            let matcher = inner.matcher();
            let secrets = inner.options.secrets.as_deref();
            let shown = records.iter().map(|record| Listed {
                live: record.live_until > now || waited.contains(&record.key),
                ..listed(&matcher, record, &grants, secrets, now)
            });
            shown.collect()
        });
        listed
            .await
            .map_err(|_| Fault::Store("the list could not be made".into()))
    }
}

fn listed(
    matcher: &Matcher,
    record: &Record,
    grants: &[Granted],
    secrets: Option<&Secrets>,
    now: i64,
) -> Listed {
    let mut listed = Listed {
        confirmation: record.confirmation(secrets),
        live: false,
        expires_at: record.due.unwrap_or(i64::MAX),
        note: record.held.note.clone(),
        reasons: Vec::new(),
        line: None,
        marks: Vec::new(),
        remembers: Vec::new(),
    };
    // Without a table of secrets nothing of the arguments is shown.
    let (Ok(call), Some(secrets)) = (record.call(), secrets) else {
        return listed;
    };
    let serves = |granted: &&Granted| {
        granted.grant.user == call.user
            && (granted.grant.session.is_none() || granted.grant.session == call.session)
    };
    let grants = grants.iter().filter(serves);
    let call = Call {
        grants: grants.map(|granted| granted.grant.clone()).collect(),
        now: Some(now),
        ..call
    };
    let decision = decide(matcher, &call, &FileView::Real);
    let masked = |text: &str| secrets.text(text, &mut 0);
    listed.reasons = decision
        .reasons
        .iter()
        .map(|reason| Why {
            key: masked(&reason.key),
            action: reason.action.name(),
            forced: reason.forced,
            subject: masked(&reason.subject),
            text: masked(&reason.text),
            instead: reason.instead.as_deref().map(masked),
            at: reason.place.as_ref().map(crate::policy::rule::Place::line),
        })
        .collect();
    if let Some(line) = &decision.line {
        let shown = masked(line);
        if shown == *line {
            listed.marks = marks(&decision, &call.tool);
        }
        listed.line = Some(shown);
    }
    let matters = judge::matters(matcher, &decision);
    listed.remembers = matters
        .into_iter()
        .map(|matter| match matter {
            Matter::Tool => format!("tool:{}", call.tool),
            Matter::Rule(key) => format!("rule:{key}"),
        })
        .collect();
    listed
}

/// The parts of a command line, in order.
fn marks(decision: &Decision, tool: &str) -> Vec<Mark> {
    let marked = decision.judged.iter().filter_map(|judged| {
        let span = judged.access.span.as_ref()?;
        Some(Mark {
            start: span.start,
            end: span.end,
            verdict: judged.verdict.name(),
            text: format!(
                "{} {}",
                texts::kind(&judged.access),
                texts::subject(&judged.access, tool)
            ),
        })
    });
    marked.collect()
}
