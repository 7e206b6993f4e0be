//! Calls: handed in, waited for, cancelled.
//!
//! A body has no place for approvals, grants, the time or files: who hands in a call cannot vouch for it. Facts and the
//! verdicts of outside authorities count only under `--trust-facts`. What is said of folders, the user and the session
//! describes the call, and `--workspace` is above it.

use super::answer::{Named, Query, Sent, Wrong, duration, name};
use super::people::{Person, Role};
use super::{Shared, shown};
use crate::call::{Args, Call, Mode, Said};
use crate::session::gateway::wire::Terminal;
use crate::session::gateway::{Submission, Submitted};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// A call as it is handed in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handed {
    id: String,
    session: String,
    tool: String,
    #[serde(default)]
    args: Args,
    cwd: Option<String>,
    home: Option<String>,
    workspace: Option<String>,
    user: Option<String>,
    agent: Option<String>,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    facts: BTreeMap<String, Value>,
    #[serde(default)]
    verdicts: BTreeMap<String, Said>,
    callback: Option<String>,
    timeout: Option<String>,
}

impl Handed {
    fn submission(self, server: &Shared) -> Result<Submission, Wrong> {
        let names = [
            ("id", Some(&self.id)),
            ("session", Some(&self.session)),
            ("tool", Some(&self.tool)),
            ("user", self.user.as_ref()),
            ("agent", self.agent.as_ref()),
        ];
        for (what, text) in names {
            text.map_or(Ok(()), |text| name(what, text))?;
        }
        if self.mode == Mode::Bypass {
            return Err(Wrong::request("`mode` cannot be `bypass` here"));
        }
        if !(server.trust_facts || self.facts.is_empty() && self.verdicts.is_empty()) {
            let text = "`facts` and `verdicts` count only where `acl serve` has `--trust-facts`";
            return Err(Wrong::request(text));
        }
        if let Some(url) = &self.callback {
            server.callbacks.check(url).map_err(Wrong::request)?;
        }
        let timeout = self.timeout.as_deref();
        let timeout = timeout.map(|text| duration("timeout", text)).transpose()?;
        let call = Call {
            id: Some(self.id),
            session: Some(self.session),
            args: self.args,
            cwd: self.cwd.or_else(|| server.place.cwd.clone()),
            home: self.home.or_else(|| server.place.home.clone()),
            workspace: server
                .place
                .workspace
                .clone()
                .or(self.workspace)
                .or_else(|| server.place.cwd.clone()),
            user: self.user,
            agent: self.agent,
            mode: self.mode,
            facts: self.facts,
            verdicts: self.verdicts,
            ..Call::new(self.tool, Args::default())
        };
        call.check().map_err(Wrong::request)?;
        Ok(Submission {
            call,
            callback: self.callback,
            timeout: timeout.map(|own| own.min(server.longest)),
        })
    }
}

/// `POST /v1/calls`
pub async fn submit(
    State(server): State<Shared>,
    Sent(handed): Sent<Handed>,
) -> Result<Response, Wrong> {
    let submission = handed.submission(&server)?;
    Ok(told(server.gateway.submit(submission).await?))
}

/// How long one request may wait.
const LONGEST: Duration = Duration::from_secs(60);

/// Which call, and how long to wait for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    session: String,
    wait: Option<String>,
    #[serde(default)]
    unmasked: bool,
}

/// `GET /v1/calls/{id}`: for who submits, the end of the call, waited for; for who decides, how it stands.
pub async fn wait(
    State(server): State<Shared>,
    Extension(person): Extension<Person>,
    Named(id): Named,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    name("session", &asked.session)?;
    if person.role == Role::Decide {
        if asked.unmasked {
            let call = server.gateway.call(&asked.session, &id).await?;
            return Ok(Json(json!({"arguments": shown::raw(&call)})).into_response());
        }
        return Ok(told(server.gateway.look(&asked.session, &id).await?));
    }
    if asked.unmasked {
        return Err(Wrong::forbidden("only who decides sees what is masked"));
    }
    let at_most = match asked.wait.as_deref() {
        None | Some("0" | "0s") => Duration::ZERO,
        Some(text) => duration("wait", text)?.min(LONGEST),
    };
    let waited = server.gateway.wait(&asked.session, &id, at_most);
    tokio::select! {
        waited = waited => Ok(told(waited?)),
        // The host asks again, at whoever serves then.
        () = server.closed() => Ok(told(server.gateway.look(&asked.session, &id).await?)),
    }
}

/// Whose call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Of {
    session: String,
}

/// `DELETE /v1/calls/{id}`
pub async fn cancel(
    State(server): State<Shared>,
    Named(id): Named,
    Query(of): Query<Of>,
) -> Result<Json<Terminal>, Wrong> {
    name("session", &of.session)?;
    Ok(Json(server.gateway.cancel(&of.session, &id).await?))
}

/// An end, or 202 and the confirmation.
fn told(submitted: Submitted) -> Response {
    let status = match submitted {
        Submitted::Settled(_) => StatusCode::OK,
        Submitted::Pending(_) => StatusCode::ACCEPTED,
    };
    (status, Json(submitted)).into_response()
}
