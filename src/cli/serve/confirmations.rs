//! Confirmations: the list of what waits for a person, and the person's word.

use super::answer::{Query, Sent, Wrong, name};
use super::people::Person;
use super::{Shared, shown};
use crate::session::gateway::Word;
use crate::session::gateway::wire::{Path, Remember};
use axum::extract::State;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A person's word.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Said {
    thread_id: String,
    confirmation_id: String,
    approved: bool,
    #[serde(default)]
    remember: Option<Remember>,
}

/// How it got there.
#[derive(Serialize)]
pub struct Taken {
    path: Path,
}

/// `POST /ack/confirmation`
pub async fn decide(
    State(server): State<Shared>,
    Extension(person): Extension<Person>,
    Sent(said): Sent<Said>,
) -> Result<Json<Taken>, Wrong> {
    name("threadId", &said.thread_id)?;
    name("confirmationId", &said.confirmation_id)?;
    let word = Word {
        approved: said.approved,
        remember: said.remember.unwrap_or_default(),
        by: person.name,
    };
    let decided = server
        .gateway
        .decide(&said.thread_id, &said.confirmation_id, word);
    let path = decided.await?;
    server.metrics.word(said.approved, path);
    Ok(Json(Taken { path }))
}

/// Which confirmations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Which {
    thread_id: Option<String>,
    limit: Option<usize>,
}

/// How many are listed where nobody says.
const MOST: usize = 1000;

/// `GET /ack/confirmations`: the oldest first, and how many there are.
pub async fn list(
    State(server): State<Shared>,
    Query(which): Query<Which>,
) -> Result<Json<Value>, Wrong> {
    let session = which.thread_id.as_deref();
    session.map_or(Ok(()), |session| name("threadId", session))?;
    let limit = which.limit.unwrap_or(MOST).min(MOST);
    let (items, total) = server.gateway.pending(session, limit).await?;
    let items: Vec<Value> = items
        .iter()
        .map(|item| shown::item(&server.secrets, item))
        .collect();
    Ok(Json(json!({"items": items, "total": total})))
}
