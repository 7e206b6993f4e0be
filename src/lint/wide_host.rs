//! An allow of every host, of a whole top-level domain, or of names that anybody can register below.

use super::Room;
use super::room::{Pattern, written};
use crate::finding::Finding;
use crate::policy::patterns::HostName;
use crate::policy::rule::Verdict;

const CODE: &str = "wide-host";

/// Domains below which anybody gets a name of their own.
const SHARED: &[&str] = &[
    "amazonaws.com", "appspot.com", "azurewebsites.net", "blogspot.com", "cloudfront.net", "co.jp",
    "co.nz", "co.uk", "com.au", "com.br", "firebaseapp.com", "fly.dev", "github.io", "gitlab.io",
    "herokuapp.com", "netlify.app", "ngrok.app", "ngrok.io", "onrender.com", "org.uk", "pages.dev",
    "repl.co", "run.app", "trycloudflare.com", "vercel.app", "web.app", "workers.dev",
];

/// Looks at allow rules for hosts.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for compiled in room.rules() {
        let rule = &compiled.rule;
        if rule.action != Verdict::Allow {
            continue;
        }
        for own in written(rule) {
            let wide = own.patterns.iter().find_map(|pattern| match pattern {
                Pattern::Host(host) => width(&host.host),
                _ => None,
            });
            if let Some(wide) = wide {
                found.push(
                    room.lint(CODE, format!("the allow of `{}` {wide}", own.text), rule, &own)
                    .label("allowed here")
                    .help("name the hosts: `docs.rs`, or `*.example.org` for all below a domain of one owner"),
                );
            }
        }
    }
    found
}

fn width(host: &HostName) -> Option<&'static str> {
    match host {
        HostName::Any => Some("lets data go to any machine"),
        HostName::Below(name) if !name.contains('.') => Some("takes a whole top-level domain"),
        HostName::Below(name) if SHARED.contains(&name.as_str()) => {
            Some("takes names that anybody can get")
        }
        _ => None,
    }
}
