//! What waits for a person, as a list shows it: each with what the policy says of it now.
//!
//! In: records. Out: [`Listed`]: its arguments masked, its card not, which is for whoever writes it out.

use super::inner::Inner;
use super::judge::{self, Matter};
use super::record::{Record, State};
use super::wire::Listed;
use super::{Fault, Granted};
use crate::call::Call;
use crate::call::files::FileView;
use crate::decision::decide;
use crate::explanation::Explanation;
use crate::matcher::Matcher;
use crate::report::card::card;
use crate::session::secrets::Secrets;
use std::sync::Arc;

impl Inner {
    pub async fn pending(
        self: &Arc<Self>,
        session: Option<&str>,
        at_most: usize,
    ) -> Result<(Vec<Listed>, usize), Fault> {
        let mut records = self.store.unsettled(session).await?;
        records.retain(|record| record.state == State::Pending);
        let total = records.len();
        records.truncate(at_most);
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
            (shown.collect(), total)
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
        remembers: Vec::new(),
        card: None,
        masked: None,
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
    let matters = judge::matters(matcher, &decision);
    listed.remembers = matters
        .into_iter()
        .map(|matter| match matter {
            Matter::Tool => format!("tool:{}", call.tool),
            Matter::Rule(key) => format!("rule:{key}"),
        })
        .collect();
    let masked = call
        .args
        .object()
        .map_or(0, |args| secrets.arguments(args).1);
    listed.masked = Some(masked).filter(|count| *count > 0);
    listed.card = Some(card(&Explanation::of(matcher, &call, &decision)));
    listed
}
