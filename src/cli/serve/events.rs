//! Server-sent events, as AG-UI's front ends read them: `CUSTOM` events named `tool_confirmation`.
//!
//! Whoever connects is told what waits first, then what happens. Who reads too slowly to be told everything is told what
//! waits anew, after an event named `tool_confirmations`: what it has by then is not worth keeping.

use super::Shared;
use super::answer::Wrong;
use super::routes::token;
use crate::session::gateway::wire::EVENT;
use crate::session::gateway::{Event, Fault};
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use serde::Serialize;
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// The name of the event that begins a list of what waits.
const ANEW: &str = "tool_confirmations";

/// The name of the event of a call's end.
const END: &str = "tool_permission";

/// How often something is sent, so that a lost connection shows.
const PULSE: Duration = Duration::from_secs(15);

/// How many waiting calls are told of at the start.
const MOST: usize = 1000;

struct Reader {
    server: Shared,
    events: Receiver<Event>,
    ready: VecDeque<String>,
    /// Whose stream it is: it ends when the token counts no more.
    token: String,
}

/// `GET /v1/events`
pub async fn events(State(server): State<Shared>, headers: HeaderMap) -> Result<Response, Wrong> {
    // First the receiver, then the list: what happens between the two is told twice rather than never.
    let mut reader = Reader {
        events: server.gateway.events(),
        ready: VecDeque::new(),
        token: token(&headers).unwrap_or_default().to_owned(),
        server,
    };
    reader.anew().await?;
    let stream = unfold(reader, |mut reader| async move {
        let frame = reader.next().await?;
        Some((Ok::<_, Infallible>(frame), reader))
    });
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::from_stream(stream)).into_response())
}

impl Reader {
    /// What waits.
    async fn anew(&mut self) -> Result<(), Fault> {
        let (waiting, total) = self.server.gateway.pending(None, MOST).await?;
        self.ready.clear();
        self.ready.push_back(frame(ANEW, &json!({"total": total})));
        let all = waiting.iter();
        self.ready
            .extend(all.map(|own| frame(EVENT, &own.confirmation)));
        Ok(())
    }

    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            self.server.people.person(&self.token)?;
            tokio::select! {
                event = self.events.recv() => match event {
                    Ok(event) => self.ready.push_back(told(&event)),
                    Err(RecvError::Lagged(_)) => self.anew().await.ok()?,
                    Err(RecvError::Closed) => return None,
                },
                () = tokio::time::sleep(PULSE) => return Some(":\n\n".to_owned()),
                () = self.server.closed() => return None,
            }
        }
    }
}

fn told(event: &Event) -> String {
    match event {
        Event::Pending(own) | Event::Decided(own) => frame(EVENT, own),
        Event::Settled(end) => frame(END, end),
    }
}

fn frame(name: &str, value: &impl Serialize) -> String {
    let event = json!({"type": "CUSTOM", "name": name, "value": value});
    format!("data: {event}\n\n")
}
