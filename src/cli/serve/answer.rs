//! What the server answers where it does not do what is asked: one JSON object, a status of the 400s, and 503 where the
//! store cannot be reached. And the parts of a request, each read with such an answer in place of a fault.

use super::Shared;
use crate::session::gateway::Fault;
use crate::session::time;
use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::time::Duration;

/// How large a body may be: an agent that writes a file puts all of it into the call.
pub const LARGEST: usize = 4 * 1024 * 1024;

/// How long a body may take.
const SLOWEST: Duration = Duration::from_secs(15);

/// How long a name may be: of a session, a call, a tool, a person.
const LONGEST_NAME: usize = 256;

/// An error: its status, a stable code, a sentence.
#[derive(Debug)]
pub struct Wrong {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Wrong {
    /// Any other.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status,
            code,
            message,
        }
    }

    /// The request says something that cannot be.
    pub fn request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "request", message)
    }

    /// No token, or none that is known.
    pub fn unknown() -> Self {
        let text = "a token is needed: `Authorization: Bearer TOKEN`";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", text)
    }

    /// A token of the other role.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// Nothing is there.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", message)
    }
}

impl IntoResponse for Wrong {
    fn into_response(self) -> Response {
        let body = json!({"error": {"code": self.code, "message": self.message}});
        let mut response = (self.status, Json(body)).into_response();
        let header = match self.status {
            StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                Some((RETRY_AFTER, "5"))
            }
            _ => None,
        };
        if let Some((name, value)) = header {
            let value = HeaderValue::from_static(value);
            response.headers_mut().insert(name, value);
        }
        response
    }
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Self {
        let (status, code) = match &fault {
            Fault::NotFound => (StatusCode::NOT_FOUND, "not-found"),
            Fault::NotBound => (StatusCode::CONFLICT, "not-bound"),
            Fault::RunActive => (StatusCode::CONFLICT, "run-active"),
            Fault::Full => (StatusCode::TOO_MANY_REQUESTS, "full"),
            Fault::Invalid(_) => (StatusCode::BAD_REQUEST, "request"),
            Fault::Store(why) => {
                // What a database says may name hosts and users: it is for the log.
                crate::cli::output::warn(&format!("the store failed: {why}"));
                let text = "the store cannot be reached";
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, "store", text);
            }
        };
        Self::new(status, code, fault.to_string())
    }
}

/// The error of a path that is none.
pub async fn no_such_path() -> Wrong {
    Wrong::missing("there is no such path: see /v1/openapi.json")
}

/// The error of a method that a path does not have.
pub fn no_such_method(methods: &[&str]) -> Response {
    let allowed = methods.join(", ");
    let text = format!("this path has {allowed}");
    let wrong = Wrong::new(StatusCode::METHOD_NOT_ALLOWED, "method", text);
    let mut response = wrong.into_response();
    if let Ok(value) = HeaderValue::from_str(&allowed) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}

/// A JSON body.
pub struct Sent<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Shared> for Sent<T> {
    type Rejection = Wrong;

    async fn from_request(request: Request, _: &Shared) -> Result<Self, Wrong> {
        if !is_json(request.headers()) {
            let text = "the body must be JSON: `Content-Type: application/json`";
            return Err(Wrong::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "content-type",
                text,
            ));
        }
        let read = axum::body::to_bytes(request.into_body(), LARGEST);
        let bytes = match tokio::time::timeout(SLOWEST, read).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(_)) => {
                let text = format!("the body is cut off, or larger than {} MiB", LARGEST >> 20);
                return Err(Wrong::new(StatusCode::PAYLOAD_TOO_LARGE, "size", text));
            }
            Err(_) => {
                let text = "the body takes too long";
                return Err(Wrong::new(StatusCode::REQUEST_TIMEOUT, "time", text));
            }
        };
        let read = serde_json::from_slice(&bytes);
        read.map(Self)
            .map_err(|why| Wrong::request(format!("the body is not what is expected: {why}")))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(only), None) = (types.next(), types.next()) else {
        return false;
    };
    let text = only.to_str().unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

/// What stands behind the `?`.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Shared> for Query<T> {
    type Rejection = Wrong;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Wrong> {
        match axum::extract::Query::<T>::try_from_uri(&parts.uri) {
            Ok(read) => Ok(Self(read.0)),
            Err(why) => Err(Wrong::request(format!(
                "the query is not what is expected: {}",
                why.body_text()
            ))),
        }
    }
}

/// The name in a path.
pub struct Named(pub String);

impl FromRequestParts<Shared> for Named {
    type Rejection = Wrong;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, Wrong> {
        let read: Result<Path<String>, PathRejection> =
            Path::from_request_parts(parts, state).await;
        let Path(text) = read.map_err(|_| Wrong::request("the path is no text"))?;
        name("id", &text)?;
        Ok(Self(text))
    }
}

/// Whether a text can be a name: some characters, none that controls.
pub fn name(what: &str, text: &str) -> Result<(), Wrong> {
    match text {
        "" => Err(Wrong::request(format!("`{what}` is empty"))),
        text if text.len() > LONGEST_NAME => Err(Wrong::request(format!(
            "`{what}` is longer than {LONGEST_NAME} bytes"
        ))),
        text if text.chars().any(char::is_control) => {
            Err(Wrong::request(format!("`{what}` holds control characters")))
        }
        _ => Ok(()),
    }
}

/// `30s`, `10m`.
pub fn duration(what: &str, text: &str) -> Result<Duration, Wrong> {
    let millis = time::duration(text).map_err(|why| Wrong::request(format!("`{what}`: {why}")))?;
    Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}
