//! The audit log's line for one decision: who, what, when, what became of it and why. JSON, version 1.
//!
//! In: a call, its decision, what is a secret. Out: an [`Entry`]. The names are those of the record where it has them.
//! Arguments are masked and long ones cut: `call` tells whether they are the ones that were decided.

use super::secrets::Secrets;
use crate::call::Call;
use crate::decision::Decision;
use crate::policy::rule::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of a line; it moves on a breaking change.
pub const VERSION: u32 = 1;

/// What a grant is called that cleared something.
const GRANT: &str = "grant";

/// How long the arguments may be together, in bytes.
const LONGEST: usize = 256 * 1024;

/// One decision. What is not known of the call is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// [`VERSION`].
    pub version: u32,
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// The agent that proposed the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whom it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The call's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool; empty where the agent's input did not tell.
    pub tool: String,
    /// The arguments, masked; none where they are no object, or too long.
    #[serde(default)]
    pub args: Option<Map<String, Value>>,
    /// How many places of the arguments are not as they were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub masked: usize,
    /// The digest of the call as it was.
    pub call: String,
    /// The folder that it was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The workspace, where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The mode.
    pub mode: String,
    /// The verdict.
    pub action: String,
    /// What the agent was told, where that is not the verdict: an ask that reaches nobody is a deny.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<String>,
    /// What it rests on.
    pub basis: String,
    /// The rule, tier or authority that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The keys of all reasons of an ask or a deny.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What was cleared, and by what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleared: Vec<Cleared>,
    /// Why no policy decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The policy's digest; empty where none decided.
    pub policy: String,
    /// How long deciding took, in microseconds.
    pub micros: u64,
}

/// An obligation that was cleared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleared {
    /// Its key.
    pub key: String,
    /// By what.
    pub by: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands in a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Entry {
    /// The entry of a decision that was made at a time, under a policy of that digest, and took so long.
    pub fn of(
        call: &Call,
        decision: &Decision,
        policy: &str,
        secrets: &Secrets,
        time: i64,
        micros: u64,
    ) -> Self {
        let mut entry = Self::bare(call, secrets, time);
        // A key may hold a path, and whatever stands in it.
        let mut masked = entry.masked;
        let mut key = |key: &str| secrets.text(key, &mut masked);
        let reasons = decision.reasons.iter();
        entry.reasons = reasons.map(|reason| key(&reason.key)).collect();
        let cleared = decision.cleared.iter().map(|cleared| Cleared {
            key: key(&cleared.key),
            by: cleared.by.name().to_owned(),
        });
        entry.cleared = cleared.collect();
        entry.rule = decision.decided_by.as_ref().map(|by| key(&by.rule));
        decision.action.name().clone_into(&mut entry.action);
        decision.basis.name().clone_into(&mut entry.basis);
        policy.clone_into(&mut entry.policy);
        Self {
            masked,
            micros,
            ..entry
        }
    }

    /// The entry of a call that no policy decided: what was answered, what that rests on, and why.
    pub fn undecided(
        call: &Call,
        answered: Verdict,
        basis: &str,
        why: &str,
        secrets: &Secrets,
        time: i64,
    ) -> Self {
        let mut entry = Self::bare(call, secrets, time);
        entry.error = Some(secrets.text(why, &mut entry.masked));
        answered.name().clone_into(&mut entry.action);
        basis.clone_into(&mut entry.basis);
        entry
    }

    /// With what the agent was told.
    #[must_use]
    pub fn answered(self, verdict: Verdict) -> Self {
        let other = (verdict.name() != self.action).then(|| verdict.name().to_owned());
        Self {
            answered: other,
            ..self
        }
    }

    /// What is known of a call itself.
    fn bare(call: &Call, secrets: &Secrets, time: i64) -> Self {
        let (args, masked) = match call.args.object() {
            Ok(args) => {
                let (args, masked) = secrets.arguments(args);
                let fits = serde_json::to_string(&args).is_ok_and(|text| text.len() <= LONGEST);
                match fits {
                    true => (Some(args), masked),
                    false => (None, masked + 1),
                }
            }
            Err(_) => (None, 0),
        };
        Self {
            version: VERSION,
            time,
            agent: call.agent.clone(),
            session: call.session.clone(),
            user: call.user.clone(),
            id: call.id.clone(),
            tool: call.tool.clone(),
            args,
            masked,
            call: call.digest(),
            cwd: call.cwd.clone(),
            workspace: call.workspace.clone(),
            mode: call.mode.name().to_owned(),
            action: String::new(),
            answered: None,
            basis: String::new(),
            rule: None,
            reasons: Vec::new(),
            cleared: Vec::new(),
            error: None,
            policy: String::new(),
            micros: 0,
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(line: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Of {
            version: u32,
        }
        let of: Of = serde_json::from_slice(line).map_err(|why| why.to_string())?;
        match of.version {
            VERSION => serde_json::from_slice(line).map_err(|why| why.to_string()),
            other => Err(format!(
                "it is of version {other}, and this acl reads {VERSION}"
            )),
        }
    }

    /// The line, with its end.
    pub fn line(&self) -> String {
        // Texts, numbers and JSON: it can always be written.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// What became of the call: what the agent was told.
    pub fn verdict(&self) -> &str {
        self.answered.as_deref().unwrap_or(&self.action)
    }

    /// What decided: a grant where one cleared what asked, or what the decision rests on where nothing has a name. Paths
    /// outside are one.
    pub fn ground(&self) -> &str {
        let granted = self.cleared.iter().find(|own| own.by == GRANT);
        let granted = granted.filter(|_| self.action == "allow");
        let rule = granted.map(|own| own.key.as_str()).or(self.rule.as_deref());
        let rule = rule.unwrap_or(&self.basis);
        match rule.split_once(':') {
            Some((ground @ "outside-workspace", _)) => ground,
            _ => rule,
        }
    }

    /// What the call was about, in one text: the command, path or URL, else all arguments.
    pub fn subject(&self) -> String {
        self.args.as_ref().map(subject).unwrap_or_default()
    }
}

/// What arguments are about, in one text: the command, path or URL, else all of them.
pub fn subject(args: &Map<String, Value>) -> String {
    let mut texts = args.values().filter_map(Value::as_str);
    let named = ["command", "path", "file_path", "filePath", "url"];
    let named = named.iter().find_map(|name| args.get(*name)?.as_str());
    match (named, texts.next(), args.len()) {
        (Some(text), _, _) | (None, Some(text), 1) => text.to_owned(),
        _ => serde_json::to_string(args).unwrap_or_default(),
    }
}
