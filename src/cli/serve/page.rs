//! The page: one file, and what it may do is said by a header: its own script and style, by their digests, and requests
//! to this server. Nothing else, from nowhere.
//!
//! Its token is kept in the tab (`sessionStorage`) and sent as a header. A cookie would go to every port of this machine, so
//! also to whatever an agent serves on another one, and would be sent by itself.

use super::Shared;
use super::answer::{Sent, Wrong};
use super::people::print_link;
use super::routes::token;
use crate::cli::output;
use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The file.
const PAGE: &str = include_str!("page.html");

/// What the page may do.
pub fn policy() -> String {
    let digest = |tag: &str| {
        let inner = PAGE
            .split_once(&format!("<{tag}>"))
            .and_then(|(_, rest)| rest.split_once(&format!("</{tag}>")))
            .map_or("", |(inner, _)| inner);
        STANDARD.encode(Sha256::digest(inner.as_bytes()))
    };
    let (script, style) = (digest("script"), digest("style"));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    )
}

/// `GET /`
pub async fn page(State(server): State<Shared>) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, server.page_policy.as_str()),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    (headers, PAGE).into_response()
}

/// A link's code, or a token of the role `decide`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    token: String,
}

/// `POST /v1/session`: a token for one page.
pub async fn open(
    State(server): State<Shared>,
    Sent(entry): Sent<Entry>,
) -> Result<Json<Value>, Wrong> {
    let opened = server.people.open_page(&entry.token);
    let failed = |_| Wrong::new(StatusCode::SERVICE_UNAVAILABLE, "random", "no random bytes");
    let Some((token, person, by_link)) = opened.map_err(failed)? else {
        let text = "this link or token does not count: take the newest link that `acl serve` printed, or a token of the role `decide`";
        return Err(Wrong::new(StatusCode::UNAUTHORIZED, "unauthorized", text));
    };
    if by_link {
        match server.people.link() {
            Ok(Some(code)) => print_link(&server.address, &code, true),
            Ok(None) => {}
            Err(_) => output::warn("no further link can be made: restart acl serve"),
        }
    }
    Ok(Json(json!({"token": token, "name": person.name})))
}

/// `DELETE /v1/session`
pub async fn close(State(server): State<Shared>, headers: HeaderMap) -> StatusCode {
    if let Some(token) = token(&headers) {
        server.people.close_page(token);
    }
    StatusCode::NO_CONTENT
}

#[cfg(test)]
mod tests {
    use super::{PAGE, policy};

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        assert_eq!(PAGE.matches("<script").count(), 1);
        assert_eq!(PAGE.matches("<style").count(), 1);
        for foreign in [
            "http://",
            "https://",
            "innerHTML",
            "insertAdjacent",
            " style=",
            "onclick=\"",
        ] {
            let own = PAGE.replace("http://www.w3.org/2000/svg", "");
            assert!(!own.contains(foreign), "{foreign}");
        }
        assert!(policy().contains("script-src 'sha256-"));
    }
}
