//! The table of routes, and what every request must pass before it reaches one: whom it talks to, where it comes from,
//! whose token it carries.
//!
//! A page of another site may reach this address, by its name or by one that was turned to it. So the name in `Host`
//! must be one of ours, and an `Origin`, where a browser tells one, this very address.

use super::answer::{Wrong, no_such_method, no_such_path};
use super::people::{Person, Role};
use super::{Shared, calls, confirmations, events, page, upkeep};
use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use std::net::IpAddr;

/// Whose token a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nobody's.
    Nothing,
    /// Of the role `submit`; none at all, where there are no tokens.
    Submit,
    /// Of the role `decide`.
    Decide,
    /// Of either.
    Either,
}

/// A route.
pub struct Route {
    /// `GET`, …
    pub method: &'static str,
    /// Its path, a name in braces.
    pub path: &'static str,
    /// Whose token it needs.
    pub needs: Needs,
    handler: fn() -> MethodRouter<Shared>,
}

/// All of them. `schema/acl-gateway.openapi.json` describes each; a test compares.
pub const ROUTES: &[Route] = &[
    route("GET", "/", Needs::Nothing, || get(page::page)),
    route("GET", "/healthz", Needs::Nothing, || get(upkeep::health)),
    route("GET", "/v1/openapi.json", Needs::Nothing, || {
        get(upkeep::openapi)
    }),
    route("GET", "/metrics", Needs::Either, || get(upkeep::metrics)),
    route("POST", "/v1/session", Needs::Nothing, || post(page::open)),
    route("DELETE", "/v1/session", Needs::Decide, || {
        delete(page::close)
    }),
    route("POST", "/v1/calls", Needs::Submit, || post(calls::submit)),
    route("GET", "/v1/calls/{id}", Needs::Either, || get(calls::wait)),
    route("DELETE", "/v1/calls/{id}", Needs::Submit, || {
        delete(calls::cancel)
    }),
    route("POST", "/ack/confirmation", Needs::Decide, || {
        post(confirmations::decide)
    }),
    route("GET", "/ack/confirmations", Needs::Decide, || {
        get(confirmations::list)
    }),
    route("GET", "/v1/events", Needs::Decide, || get(events::events)),
    route("GET", "/v1/grants", Needs::Decide, || get(upkeep::grants)),
    route("DELETE", "/v1/grants", Needs::Decide, || {
        delete(upkeep::revoke)
    }),
    route("POST", "/v1/policy/reload", Needs::Decide, || {
        post(upkeep::reload)
    }),
];

const fn route(
    method: &'static str,
    path: &'static str,
    needs: Needs,
    handler: fn() -> MethodRouter<Shared>,
) -> Route {
    Route {
        method,
        path,
        needs,
        handler,
    }
}

fn get<H: Handler<T, Shared>, T: 'static>(handler: H) -> MethodRouter<Shared> {
    on(MethodFilter::GET, handler)
}

fn post<H: Handler<T, Shared>, T: 'static>(handler: H) -> MethodRouter<Shared> {
    on(MethodFilter::POST, handler)
}

fn delete<H: Handler<T, Shared>, T: 'static>(handler: H) -> MethodRouter<Shared> {
    on(MethodFilter::DELETE, handler)
}

/// The table as a service.
pub fn router(server: Shared) -> Router {
    let mut router = Router::new();
    for (at, own) in ROUTES.iter().enumerate() {
        let same = |other: &&Route| other.path == own.path;
        if ROUTES.iter().take(at).any(|other| same(&other)) {
            continue;
        }
        let of_path: Vec<&Route> = ROUTES.iter().filter(same).collect();
        let methods: Vec<&'static str> = of_path.iter().map(|route| route.method).collect();
        let mut all = MethodRouter::new();
        for route in of_path {
            let state = (server.clone(), route.needs);
            all = all.merge((route.handler)().route_layer(from_fn_with_state(state, known)));
        }
        let all = all.fallback(move || async move { no_such_method(&methods) });
        router = router.route(own.path, all);
    }
    router
        .fallback(no_such_path)
        .layer(from_fn_with_state(server.clone(), addressed))
        .with_state(server)
}

/// Lets pass what is meant for this server, and comes from no other page; closes what it answers to browsers.
async fn addressed(State(server): State<Shared>, request: Request, next: Next) -> Response {
    let mut response = match server.hosts.check(&request) {
        Ok(()) => next.run(request).await,
        Err(wrong) => wrong.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in CLOSED {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

const CLOSED: [(HeaderName, &str); 5] = [
    (CACHE_CONTROL, "no-store"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// Lets pass who may use the route.
async fn known(
    State((server, needs)): State<(Shared, Needs)>,
    mut request: Request,
    next: Next,
) -> Response {
    match who(&server, needs, request.headers()) {
        Ok(person) => {
            request.extensions_mut().insert(person);
            next.run(request).await
        }
        Err(wrong) => wrong.into_response(),
    }
}

fn who(server: &Shared, needs: Needs, headers: &HeaderMap) -> Result<Person, Wrong> {
    let nobody = Person {
        role: Role::Submit,
        name: None,
    };
    if needs == Needs::Nothing {
        return Ok(nobody);
    }
    let person = match headers.get(AUTHORIZATION) {
        None if needs == Needs::Decide || server.people.are_named() => {
            return Err(Wrong::unknown());
        }
        None => nobody,
        Some(_) => token(headers)
            .and_then(|token| server.people.person(token))
            .ok_or_else(Wrong::unknown)?,
    };
    match (needs, person.role) {
        (Needs::Submit, Role::Decide) => Err(Wrong::forbidden(
            "this token decides: submitting needs one of the role `submit`",
        )),
        (Needs::Decide, Role::Submit) => Err(Wrong::forbidden(
            "this token submits: deciding needs one of the role `decide`",
        )),
        _ => Ok(person),
    }
}

/// The token that a request carries.
pub fn token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim())
        .filter(|token| !token.is_empty())
}

/// The names that this server goes by.
#[derive(Clone, Debug)]
pub struct Hosts {
    address: IpAddr,
    names: Vec<String>,
}

impl Hosts {
    /// Those of the address that is listened on, and more.
    pub fn new(address: IpAddr, names: &[String]) -> Self {
        Self {
            address,
            names: names.iter().map(|name| name.to_ascii_lowercase()).collect(),
        }
    }

    fn check(&self, request: &Request) -> Result<(), Wrong> {
        let wrong = |text: &str| {
            Wrong::new(
                StatusCode::MISDIRECTED_REQUEST,
                "host",
                format!("{text}: see `acl serve --host`"),
            )
        };
        let headers = request.headers();
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(wrong("one `Host` is needed"));
        };
        let host = host.to_str().unwrap_or_default().to_ascii_lowercase();
        let same = |authority: &str| authority.eq_ignore_ascii_case(&host);
        if !self.knows(&host)
            || request
                .uri()
                .authority()
                .is_some_and(|own| !same(own.as_str()))
        {
            return Err(wrong("this server does not go by that name"));
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let own = |origin: &HeaderValue| {
            let origin = origin.to_str().unwrap_or_default();
            let rest = origin.strip_prefix("http://");
            rest.or_else(|| origin.strip_prefix("https://"))
                .is_some_and(same)
        };
        match origins.all(own) {
            true => Ok(()),
            false => Err(Wrong::forbidden(
                "this request comes from another page than this server's own",
            )),
        }
    }

    /// Whether a `Host` is ours. An address that is written as one can be no name that somebody turned to us.
    fn knows(&self, host: &str) -> bool {
        let (name, port) = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').unwrap_or_default(),
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        if !(port.is_empty() || port.strip_prefix(':').is_some_and(digits)) {
            return false;
        }
        if name == "localhost" {
            return true;
        }
        let named = |own: &String| own == host || own == name;
        self.names.iter().any(named)
            || name.parse::<IpAddr>().is_ok_and(|own| {
                own == self.address || own.is_loopback() || self.address.is_unspecified()
            })
    }
}

#[cfg(test)]
mod tests {
    use super::{Hosts, Needs, ROUTES};
    use axum::body::Body;
    use axum::extract::Request;
    use serde_json::Value;
    use std::collections::BTreeSet;

    #[test]
    fn the_document_describes_every_route() {
        let document: Value = serde_json::from_str(super::upkeep::OPENAPI).unwrap();
        let scheme = |needs| match needs {
            Needs::Nothing => vec![],
            Needs::Submit => vec!["submit"],
            Needs::Decide => vec!["decide"],
            Needs::Either => vec!["submit", "decide"],
        };
        let table: BTreeSet<(String, String, Vec<&str>)> = ROUTES
            .iter()
            .map(|own| {
                (
                    own.path.to_owned(),
                    own.method.to_lowercase(),
                    scheme(own.needs),
                )
            })
            .collect();
        let mut described = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let needs = operation["security"].as_array().unwrap().iter();
                let needs =
                    needs.map(|own| own.as_object().unwrap().keys().next().unwrap().as_str());
                described.insert((path.clone(), method.clone(), needs.collect()));
            }
        }
        assert_eq!(described, table);
    }

    #[test]
    fn only_our_names_and_our_own_page() {
        let hosts = Hosts::new(
            "127.0.0.1".parse().unwrap(),
            &["acl.example.org".to_owned()],
        );
        let passes = |host: &str, origin: Option<&str>| {
            let mut request = Request::builder().uri("/").header("host", host);
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            hosts.check(&request.body(Body::empty()).unwrap()).is_ok()
        };
        for host in [
            "127.0.0.1:7878",
            "localhost:7878",
            "[::1]:7878",
            "acl.example.org",
            "ACL.example.org:443",
        ] {
            assert!(passes(host, None), "{host}");
            assert!(passes(host, Some(&format!("http://{host}"))), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1:7878",
            "localhost.evil.example",
            "",
            "[::1].x",
        ] {
            assert!(!passes(host, None), "{host}");
        }
        for origin in [
            "http://evil.example",
            "http://localhost:3000",
            "null",
            "http://127.0.0.1:7878.evil.example",
        ] {
            assert!(!passes("127.0.0.1:7878", Some(origin)), "{origin}");
        }
    }
}
