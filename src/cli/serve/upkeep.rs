//! What keeps the server going: its health, its counters, its description, its grants, its policy.

use super::Shared;
use super::answer::{Query, Wrong, name};
use crate::cli::policies;
use crate::cli::{Stop, output};
use crate::explanation;
use crate::finding::Finding;
use crate::report::json;
use crate::session::gateway::Granted;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

/// The routes, for programs.
pub const OPENAPI: &str = include_str!("../../../schema/acl-gateway.openapi.json");

/// `GET /healthz`: whether the store answers.
pub async fn health(State(server): State<Shared>) -> Result<Json<Value>, Wrong> {
    server.gateway.pending_count().await?;
    Ok(Json(json!({"status": "ok"})))
}

/// `GET /v1/openapi.json`
pub async fn openapi() -> Response {
    ([(CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

/// `GET /metrics`
pub async fn metrics(State(server): State<Shared>) -> Result<Response, Wrong> {
    let pending = server.gateway.pending_count().await?;
    let text = server.metrics.text(pending);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(CONTENT_TYPE, kind)], text).into_response())
}

/// `GET /v1/grants`
pub async fn grants(State(server): State<Shared>) -> Result<Json<Value>, Wrong> {
    let grants = server.gateway.grants().await?;
    Ok(Json(json!({"items": grants})))
}

/// Which grant.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    id: String,
}

/// `DELETE /v1/grants?id=`
pub async fn revoke(
    State(server): State<Shared>,
    Query(which): Query<Which>,
) -> Result<Json<Granted>, Wrong> {
    name("id", &which.id)?;
    Ok(Json(server.gateway.revoke(&which.id).await?))
}

/// `POST /v1/policy/reload`: the policy as its files are now. One that does not load changes nothing.
pub async fn reload(State(server): State<Shared>) -> Response {
    let own = server.clone();
    // Reading and compiling would keep other requests waiting.
    let loaded = tokio::task::spawn_blocking(move || own.which.roots().and_then(policies::compile));
    let (status, message, findings) = match loaded.await {
        Ok(Ok(matcher)) => {
            let failing = matcher.check_examples();
            if failing.is_empty() {
                let digest = explanation::policy(&matcher);
                if let Err(stop) = server.logs.renew(&server.audit, &matcher) {
                    output::warn(&format!("the log keeps the old policy's name: {stop:?}"));
                }
                server.gateway.reload(matcher);
                output::remark(&format!("acl: the policy was loaded anew: {digest}"));
                return Json(json!({"reloaded": true, "policy": digest})).into_response();
            }
            let text = "an example of the policy fails".to_owned();
            (StatusCode::UNPROCESSABLE_ENTITY, text, failing)
        }
        Ok(Err(Stop::Found(findings))) => {
            let text = "the policy does not load".to_owned();
            (StatusCode::UNPROCESSABLE_ENTITY, text, findings)
        }
        Ok(Err(Stop::Told(text, _))) => (StatusCode::UNPROCESSABLE_ENTITY, text, Vec::new()),
        Ok(Err(Stop::Gone)) | Err(_) => {
            let text = "the policy could not be read".to_owned();
            (StatusCode::UNPROCESSABLE_ENTITY, text, Vec::new())
        }
    };
    kept(status, &message, &findings)
}

fn kept(status: StatusCode, message: &str, findings: &[Finding]) -> Response {
    output::warn(&format!("{message}: the policy stays as it was"));
    let findings = json::findings(findings);
    let body = json!({
        "reloaded": false,
        "error": {"code": "policy", "message": format!("{message}; the policy stays as it was")},
        "findings": findings.get("findings").cloned().unwrap_or_default(),
    });
    (status, Json(body)).into_response()
}
