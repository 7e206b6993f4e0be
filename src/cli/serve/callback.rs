//! Over HTTP: the host of a run that is gone runs the tool and goes on, called at the address that it gave with the call.
//!
//! Only addresses that `--callback` names are called: else whoever submits could have this server call anything. What
//! is sent: `{"type": "run" | "resume", "attempt", "call", …}`, with the token of `--callback-token`, so that the host knows
//! who calls. The answer of `run` is `{"result": TEXT}` or `{"error": TEXT}`.

use crate::call::Call;
use crate::session::gateway::runner::{Boxed, Orphan, ToolRunner, Unrun};
use crate::session::gateway::wire::Terminal;
use serde_json::{Value, json};
use std::time::Duration;
use ureq::Agent;
use url::Url;

/// How long a tool may take.
const LONGEST: Duration = Duration::from_secs(120);

/// How large its answer may be.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Who may be called, and how.
#[derive(Clone, Debug)]
pub struct Callbacks {
    prefixes: Vec<Url>,
    token: Option<String>,
    agent: Agent,
}

impl Callbacks {
    /// Those whose addresses start so.
    ///
    /// # Errors
    /// One is no address.
    pub fn new(prefixes: &[String], token: Option<String>) -> Result<Self, String> {
        let read = |text: &String| match Url::parse(text) {
            Ok(url) if url.scheme() == "http" && url.has_host() => Ok(url),
            _ => Err(format!(
                "`{text}` is no address: write `http://HOST:PORT/PATH`"
            )),
        };
        let agent = Agent::config_builder()
            .timeout_global(Some(LONGEST))
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .build();
        Ok(Self {
            prefixes: prefixes.iter().map(read).collect::<Result<_, _>>()?,
            token,
            agent: agent.into(),
        })
    }

    /// Whether an address may be called.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, text: &str) -> Result<(), String> {
        let wrong =
            || "`callback` is none of the addresses that `acl serve --callback` names".to_owned();
        let url = Url::parse(text).map_err(|_| wrong())?;
        let plain = url.username().is_empty() && url.password().is_none();
        let below = |prefix: &Url| {
            let path = prefix.path().trim_end_matches('/');
            let rest = url.path().strip_prefix(path);
            url.origin() == prefix.origin()
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match plain && self.prefixes.iter().any(below) {
            true => Ok(()),
            false => Err(wrong()),
        }
    }

    /// Says something to a host; its answer.
    async fn say(&self, orphan: &Orphan, body: Value) -> Result<Value, Unrun> {
        let Some(url) = orphan.callback.clone() else {
            return Err(Unrun::Unavailable("its host gave no address".to_owned()));
        };
        self.check(&url).map_err(Unrun::Unavailable)?;
        let own = self.clone();
        let said = tokio::task::spawn_blocking(move || own.post(&url, &body));
        said.await
            .unwrap_or_else(|_| Err(Unrun::Unsure("the host could not be called".to_owned())))
    }

    fn post(&self, url: &str, body: &Value) -> Result<Value, Unrun> {
        let mut request = self
            .agent
            .post(url)
            .header("Content-Type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let mut response = request.send(body.to_string()).map_err(|why| unrun(&why))?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(LARGEST);
        let text = text.read_to_string();
        match (status, text) {
            (200..=299, Ok(text)) => Ok(serde_json::from_str(&text).unwrap_or_default()),
            (404 | 410 | 501, _) => Err(Unrun::Unavailable(format!("its host answered {status}"))),
            (_, Err(why)) => Err(unrun(&why)),
            (_, Ok(_)) => Err(Unrun::Unsure(format!("its host answered {status}"))),
        }
    }
}

/// Who was not reached has run nothing; of all others one cannot know.
fn unrun(why: &ureq::Error) -> Unrun {
    let refused = matches!(
        why,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed
    ) || matches!(why, ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused);
    match refused {
        true => Unrun::Unavailable("its host cannot be reached".to_owned()),
        false => Unrun::Unsure(format!("its host did not answer: {why}")),
    }
}

fn said(call: &Call) -> Value {
    json!({
        "id": call.id, "session": call.session, "tool": call.tool, "args": super::shown::raw(call), "cwd": call.cwd,
    })
}

impl ToolRunner for Callbacks {
    fn run<'a>(&'a self, orphan: &'a Orphan) -> Boxed<'a, Result<String, Unrun>> {
        Box::pin(async move {
            let body = json!({
                "type": "run", "attempt": orphan.attempt, "call": said(&orphan.call), "decidedBy": orphan.decided_by,
            });
            let answer = self.say(orphan, body).await?;
            let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
            match (text("result"), text("error")) {
                (_, Some(error)) => Err(Unrun::Failed(error)),
                (Some(result), None) => Ok(result),
                (None, None) => Err(Unrun::Unsure("its host told no result".to_owned())),
            }
        })
    }

    fn resume<'a>(
        &'a self,
        orphan: &'a Orphan,
        terminal: &'a Terminal,
    ) -> Boxed<'a, Result<(), String>> {
        Box::pin(async move {
            let body = json!({
                "type": "resume", "attempt": orphan.attempt, "call": said(&orphan.call), "terminal": terminal,
            });
            match self.say(orphan, body).await {
                // Without an address there is nobody to go on.
                Ok(_) | Err(Unrun::Unavailable(_)) => Ok(()),
                Err(Unrun::Failed(why) | Unrun::Unsure(why)) => Err(why),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Callbacks;

    #[test]
    fn only_addresses_that_are_named() {
        let own = ["http://127.0.0.1:9000/hook".to_owned()];
        let callbacks = Callbacks::new(&own, None).unwrap();
        for good in [
            "http://127.0.0.1:9000/hook",
            "http://127.0.0.1:9000/hook/a?x=1",
        ] {
            assert!(callbacks.check(good).is_ok(), "{good}");
        }
        for bad in [
            "http://127.0.0.1:9000/hooks",
            "http://127.0.0.1:9001/hook",
            "http://127.0.0.1:9000/",
            "https://127.0.0.1:9000/hook",
            "http://127.0.0.1:9000@evil/hook",
            "http://u@127.0.0.1:9000/hook",
            "http://127.0.0.1:9000/hook/../x",
            "file:///etc/passwd",
            "",
        ] {
            assert!(callbacks.check(bad).is_err(), "{bad}");
        }
        assert!(Callbacks::new(&["nothing".to_owned()], None).is_err());
    }
}
