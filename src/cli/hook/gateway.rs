//! What is asked, handed to a gateway: a person decides there, whoever sits at the agent.
//!
//! In: a call that asks. Out: the person's yes or no; or nothing, where the gateway is not reached, or nobody decides in
//! time: then the call is taken back there, and the agent asks by itself, as far as it can. Blocking, one connection.

use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Which gateway, and for how long.
#[derive(Clone, Debug, Args)]
pub struct Handing {
    /// Hand what is asked to the gateway at this address (`acl serve`), where a person decides; needs an acl with the feature
    /// `gateway`
    #[arg(long = "gateway", value_name = "URL", value_parser = address)]
    pub address: Option<String>,
    /// How long a person has there; then the agent asks. The agent must give its hook longer: see `timeout` in its settings
    #[arg(long, value_name = "TIME", default_value = "40s", value_parser = time, requires = "address")]
    wait: Duration,
    /// File with the token of the role `submit`
    #[arg(long, value_name = "FILE", requires = "address")]
    gateway_token: Option<PathBuf>,
}

impl Default for Handing {
    fn default() -> Self {
        Self {
            address: None,
            wait: Duration::from_secs(40),
            gateway_token: None,
        }
    }
}

impl Handing {
    /// How much longer the hook may take.
    pub fn longer(&self) -> Duration {
        match self.address {
            Some(_) => self.wait + LEEWAY,
            None => Duration::ZERO,
        }
    }
}

/// How long handing in and taking back may take beside the waiting.
const LEEWAY: Duration = Duration::from_secs(5);

fn time(text: &str) -> Result<Duration, String> {
    let millis = crate::session::time::duration(text)?;
    Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}

fn address(text: &str) -> Result<String, String> {
    if cfg!(not(feature = "gateway")) {
        return Err(
            "this acl was built without gateways: `cargo install acl --features gateway`".into(),
        );
    }
    match url::Url::parse(text) {
        Ok(url) if url.scheme() == "http" && url.has_host() => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err(
            "write `http://127.0.0.1:7878`; acl speaks no TLS: tunnel to a gateway that is far"
                .into(),
        ),
    }
}

/// What a person said.
#[cfg(feature = "gateway")]
#[derive(Debug)]
pub enum Word {
    /// The call may run.
    Yes,
    /// It may not, and what the model is told.
    No(String),
    /// Nothing, and why.
    Nothing(String),
}

#[cfg(feature = "gateway")]
mod client {
    use super::{Handing, LEEWAY, Word};
    use crate::call::Call;
    use crate::cli::state::private_text;
    use serde_json::{Value, json};
    use std::time::{Duration, Instant};
    use ureq::Agent;
    use url::Url;

    /// How long one request waits: what lies between may cut longer ones.
    const AT_ONCE: Duration = Duration::from_secs(20);

    struct Client {
        agent: Agent,
        token: Option<String>,
    }

    impl Handing {
        /// Hands a call in, and waits for the person's word.
        pub fn ask(&self, call: &Call) -> Word {
            self.asked(call).unwrap_or_else(Word::Nothing)
        }

        fn asked(&self, call: &Call) -> Result<Word, String> {
            let base = self.address.as_deref().unwrap_or_default();
            let token = self.gateway_token.as_deref();
            let token = token.map(private_text).transpose()?;
            let agent = Agent::config_builder()
                .timeout_connect(Some(Duration::from_secs(2)))
                .timeout_global(Some(AT_ONCE + LEEWAY))
                .max_redirects(0)
                .http_status_as_error(false)
                .proxy(None)
                .build();
            let client = Client {
                agent: agent.into(),
                token: token.map(|text| text.trim().to_owned()),
            };
            let agent = call.agent.as_deref().unwrap_or("agent");
            let session = call.session.as_deref().unwrap_or(agent);
            // An agent that names no ids gets one for each try: two calls must never be taken for one.
            let id = call.id.clone().unwrap_or_else(unique);
            let body = json!({
                "id": id, "session": session, "tool": call.tool, "args": call.args.object().unwrap_or(&Default::default()),
                "cwd": call.cwd, "home": call.home, "workspace": call.workspace, "user": call.user, "agent": call.agent,
                "mode": call.mode.name(), "timeout": format!("{}s", (self.wait + LEEWAY).as_secs().max(1)),
            });
            let until = Instant::now() + self.wait;
            let mut answer = client.say("POST", &format!("{base}/v1/calls"), Some(&body))?;
            let mut own = Url::parse(base).map_err(|why| why.to_string())?;
            if let Ok(mut path) = own.path_segments_mut() {
                path.pop_if_empty().extend(["v1", "calls", &id]);
            }
            own.query_pairs_mut().append_pair("session", session);
            while !is_settled(&answer) {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    // Somebody may decide at this very moment: what counts is what the gateway says last.
                    let last = client.say("DELETE", own.as_str(), None)?;
                    return match last.get("basis").and_then(Value::as_str) {
                        Some("canceled") => Err("nobody decided there in time".to_owned()),
                        _ => word(&last),
                    };
                }
                let mut asked = own.clone();
                let wait = left.min(AT_ONCE).as_secs().max(1);
                asked
                    .query_pairs_mut()
                    .append_pair("wait", &format!("{wait}s"));
                answer = client.say("GET", asked.as_str(), None)?;
            }
            word(&answer)
        }
    }

    impl Client {
        fn say(&self, method: &str, url: &str, body: Option<&Value>) -> Result<Value, String> {
            let mut request = ureq::http::Request::builder().method(method).uri(url);
            if let Some(token) = &self.token {
                request = request.header("Authorization", format!("Bearer {token}"));
            }
            if body.is_some() {
                request = request.header("Content-Type", "application/json");
            }
            let text = body.map(Value::to_string).unwrap_or_default();
            let ran = match body {
                Some(_) => request.body(text).map(|own| self.agent.run(own)),
                None => request.body(()).map(|own| self.agent.run(own)),
            };
            let answered = ran.map_err(|why| why.to_string())?;
            let mut answered = answered.map_err(|why| format!("it is not reached: {why}"))?;
            let status = answered.status();
            let text = answered.body_mut().read_to_string();
            let text = text.map_err(|why| format!("its answer is not read: {why}"))?;
            let said: Value = serde_json::from_str(&text).unwrap_or_default();
            if status.is_success() {
                return Ok(said);
            }
            let why = said.pointer("/error/message").and_then(Value::as_str);
            Err(match why {
                Some(why) => format!("it answers {}: {why}", status.as_u16()),
                None => format!("it answers {}", status.as_u16()),
            })
        }
    }

    fn is_settled(answer: &Value) -> bool {
        answer.get("state").and_then(Value::as_str) != Some("pending")
    }

    /// An end, in so many words: anything else is none.
    fn word(end: &Value) -> Result<Word, String> {
        match end.get("allowed").and_then(Value::as_bool) {
            // Where the gateway had it run already, it must not run once more.
            Some(true) if end.get("path").and_then(Value::as_str) != Some("recovery") => {
                Ok(Word::Yes)
            }
            Some(true) => Ok(Word::No(
                "This call was run by the gateway already. Do not retry it.".to_owned(),
            )),
            Some(false) => {
                let text = end.get("text").and_then(Value::as_str);
                let text = text.unwrap_or("This call was refused. Do not retry it.");
                Ok(Word::No(text.to_owned()))
            }
            None => Err("its answer is no end of a call".to_owned()),
        }
    }

    fn unique() -> String {
        let mut bytes = [0; 16];
        // Without random bytes the process and the time must do.
        if getrandom::getrandom(&mut bytes).is_err() {
            return format!("hook-{}-{}", std::process::id(), crate::cli::state::clock());
        }
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("hook-{hex}")
    }
}
