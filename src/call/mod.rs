//! What the agent wants to do, agent-free: a [`Call`], and what the host vouches for.
//!
//! In: one flat JSON object, or the struct. Out: a call, or what is wrong with the object.
//! Nothing in the arguments can set a fact, an approval or a grant. Taking a call apart is `accesses.rs`.

pub mod access;
pub mod accesses;
pub mod few;
pub mod files;
pub mod glob;
pub mod index;
pub mod path;
pub mod programs;
pub mod shell;
pub(crate) mod strict_json;
pub mod tools;
pub mod word;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub use strict_json::Args;

/// A proposed tool call and what the host knows about it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The call's id, repeated in the record.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The arguments: an object, or raw text that should hold one.
    #[serde(default)]
    pub args: Args,
    /// The folder that relative paths start from.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The user's home folder.
    #[serde(default)]
    pub home: Option<String>,
    /// The workspace folder, where the policy does not state one.
    #[serde(default)]
    pub workspace: Option<String>,
    /// Who it is done for.
    #[serde(default)]
    pub user: Option<String>,
    /// The session it belongs to.
    #[serde(default)]
    pub session: Option<String>,
    /// The agent that proposes it.
    #[serde(default)]
    pub agent: Option<String>,
    /// What it searches is searched by `ripgrep`, hidden names too: what ignore files name is left out.
    #[serde(skip)]
    pub gitignore: bool,
    /// Whether somebody can be asked, and what is wanted.
    #[serde(default)]
    pub mode: Mode,
    /// Facts: name → value.
    #[serde(default)]
    pub facts: BTreeMap<String, Value>,
    /// Obligations that a human approved.
    #[serde(default)]
    pub approvals: Vec<Approval>,
    /// Tools that a human approved for the session.
    #[serde(default)]
    pub session_approvals: Vec<String>,
    /// Remembered approvals.
    #[serde(default)]
    pub grants: Vec<Grant>,
    /// What outside authorities said.
    #[serde(default)]
    pub verdicts: BTreeMap<String, Said>,
    /// The time, in milliseconds since 1970; without it a grant that expires is taken as expired.
    #[serde(default)]
    pub now: Option<i64>,
    /// A file system written down, in place of the real one.
    #[serde(default)]
    pub files: Option<files::Fixture>,
}

/// Whether somebody can be asked, and what is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A human can be asked.
    #[default]
    Interactive,
    /// Nobody can be asked: an ask is a deny.
    NonInteractive,
    /// Only reading.
    Plan,
    /// What a tool's tier asks passes.
    Bypass,
}

impl Mode {
    /// All modes and their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("interactive", Self::Interactive),
        ("non-interactive", Self::NonInteractive),
        ("plan", Self::Plan),
        ("bypass", Self::Bypass),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, mode)| *mode == self)
            .map_or("interactive", |(name, _)| name)
    }
}

/// An approval of one obligation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// The obligation's key.
    pub key: String,
    /// The digest of the call it was given for; a forced obligation needs it.
    pub call: Option<String>,
}

impl<'de> Deserialize<'de> for Approval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "an approval is a key, or { key, call }")]
        enum Spelled {
            Key(String),
            Bound(Bound),
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Bound {
            key: String,
            #[serde(default)]
            call: Option<String>,
        }
        Ok(match Spelled::deserialize(deserializer)? {
            Spelled::Key(key) => Self { key, call: None },
            Spelled::Bound(Bound { key, call }) => Self { key, call },
        })
    }
}

/// A remembered approval, of a tool or of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Whom it was given to; it serves no other user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The session; none: every session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Who gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// When, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<i64>,
    /// Until when, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

impl Grant {
    /// Whether it holds at this time: one that expires does so only while the time is known, and before its end.
    pub fn alive(&self, now: Option<i64>) -> bool {
        let begun = match (self.created_at, now) {
            (Some(start), Some(now)) => start <= now,
            _ => true,
        };
        begun
            && match (self.expires_at, now) {
                (None, _) => true,
                (Some(end), Some(now)) => now < end,
                (Some(_), None) => false,
            }
    }
}

/// What an outside authority said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Said {
    /// It endorses the call.
    Allow,
    /// A human must decide.
    #[serde(alias = "confirm")]
    Ask,
    /// It refuses.
    Deny,
    /// It has no opinion.
    Abstain,
    /// It could not be reached.
    Error,
}

impl Said {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Abstain => "abstain",
            Self::Error => "error",
        }
    }

    /// Reads a word.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "allow" => Self::Allow,
            "ask" | "confirm" => Self::Ask,
            "deny" => Self::Deny,
            "abstain" => Self::Abstain,
            "error" => Self::Error,
            _ => return None,
        })
    }
}

impl Call {
    /// Reads one flat JSON object.
    ///
    /// # Errors
    /// A sentence about what it is instead, or about the key that is wrong.
    pub fn from_json(bytes: &[u8]) -> Result<Self, String> {
        match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{') => {}
            _ => return Err("a call is one JSON object: {\"tool\":\"bash\",\"args\":{…}}".into()),
        }
        let call: Self = serde_json::from_slice(bytes)
            .map_err(|why| why.to_string().replace("struct Call", "a call"))?;
        call.check().map(|()| call)
    }

    /// Whether its folders are absolute: anything else would be judged as another place than it is.
    ///
    /// # Errors
    /// A sentence about the first that is not.
    pub fn check(&self) -> Result<(), String> {
        let folders = [
            ("cwd", &self.cwd),
            ("home", &self.home),
            ("workspace", &self.workspace),
        ];
        for (name, folder) in folders {
            if folder
                .as_ref()
                .is_some_and(|folder| !folder.starts_with('/'))
            {
                return Err(format!(
                    "`{name}` is no absolute path: write it from `/` on"
                ));
            }
        }
        Ok(())
    }

    /// A call of a tool with these arguments, and nothing else known.
    pub fn new(tool: impl Into<String>, args: impl Into<Args>) -> Self {
        Self {
            tool: tool.into(),
            args: args.into(),
            ..Self::default()
        }
    }

    /// What identifies the operation, so that an approval cannot be used for another one:
    /// tool, arguments, folders, user and session.
    pub fn digest(&self) -> String {
        let args = match self.args.object() {
            Ok(map) => Value::Object(map.clone()),
            Err(fault) => Value::String(fault.to_owned()),
        };
        // `serde_json`'s map is sorted by key: the same arguments give the same bytes.
        let identity = serde_json::json!([
            self.tool,
            args,
            self.cwd,
            self.home,
            self.workspace,
            self.user,
            self.session
        ]);
        digest(identity.to_string().as_bytes())
    }
}

/// SHA-256, as `sha256:…`.
pub fn digest(bytes: &[u8]) -> String {
    digest_of(&[bytes])
}

/// SHA-256 of bytes that stand in parts.
pub fn digest_of(parts: &[&[u8]]) -> String {
    use sha2::Digest;
    use std::fmt::Write;
    let mut all = sha2::Sha256::new();
    parts.iter().for_each(|part| all.update(part));
    let mut out = String::from("sha256:");
    for byte in all.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// The value under a dotted path; `[]` after a name goes through a list, so there may be several.
pub fn under<'v>(map: &'v Map<String, Value>, path: &[&str]) -> Vec<Option<&'v Value>> {
    let Some((first, rest)) = path.split_first() else {
        return Vec::new();
    };
    if rest.is_empty() && !first.ends_with("[]") {
        return vec![map.get(*first)];
    }
    let (name, each) = match first.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (*first, false),
    };
    let Some(value) = map.get(name) else {
        return vec![None];
    };
    let values: Vec<&Value> = match (each, value) {
        (true, Value::Array(values)) => values.iter().collect(),
        // No list where one is declared: of the wrong type, whatever is asked of its elements.
        (true, _) => return vec![Some(&Value::Null)],
        (false, _) => vec![value],
    };
    if rest.is_empty() {
        return values.into_iter().map(Some).collect();
    }
    values
        .into_iter()
        .flat_map(|value| match value {
            Value::Object(inner) => under(inner, rest),
            _ => vec![Some(value)],
        })
        .collect()
}
