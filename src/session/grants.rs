//! The grants of a state folder: adding, revoking, and which of them hold now.
//!
//! In: the text of `grants.json`. Out: grants, or why the text is none: then there are no grants, not some of them.

use crate::call::Grant;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the file.
const VERSION: u32 = 1;

/// Remembered approvals, in the order they were given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    version: u32,
    grants: Vec<Grant>,
}

impl Default for Grants {
    fn default() -> Self {
        Self {
            version: VERSION,
            grants: Vec::new(),
        }
    }
}

/// What a grant is for: the tier of a tool, or a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matter {
    /// `tool:NAME`
    Tool(String),
    /// `rule:KEY`
    Rule(String),
}

impl Matter {
    /// Reads `tool:NAME` or `rule:KEY`; none where it is written without its kind.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':').filter(|(_, name)| !name.is_empty())?;
        match kind {
            "tool" => Some(Self::Tool(name.to_owned())),
            "rule" => Some(Self::Rule(name.to_owned())),
            _ => None,
        }
    }

    /// What a grant is for. One for a rule through one tool is for the rule.
    pub fn of(grant: &Grant) -> Option<Self> {
        match (&grant.rule, &grant.tool) {
            (Some(rule), _) => Some(Self::Rule(rule.clone())),
            (None, Some(tool)) => Some(Self::Tool(tool.clone())),
            (None, None) => None,
        }
    }

    /// Whether a person means this: `tool:bash`, or `bash` alone.
    pub fn is_meant(&self, text: &str) -> bool {
        let (Self::Tool(name) | Self::Rule(name)) = self;
        name == text || self.to_string() == text
    }
}

impl fmt::Display for Matter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(name) => write!(f, "tool:{name}"),
            Self::Rule(name) => write!(f, "rule:{name}"),
        }
    }
}

impl Grants {
    /// Reads the file.
    ///
    /// # Errors
    /// Why it holds no grants.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let read: Self = serde_json::from_slice(bytes).map_err(|why| why.to_string())?;
        match read.version {
            VERSION => Ok(read),
            other => Err(format!(
                "it is of version {other}, and this acl reads {VERSION}"
            )),
        }
    }

    /// The file's text.
    pub fn text(&self) -> String {
        // Grants are texts and numbers: they can always be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// All of them.
    pub fn all(&self) -> &[Grant] {
        &self.grants
    }

    /// Adds one, in place of the one that is for the same and for the same user and session.
    pub fn add(&mut self, grant: Grant) {
        let identity = |grant: &Grant| {
            (
                grant.user.clone(),
                grant.session.clone(),
                grant.tool.clone(),
                grant.rule.clone(),
            )
        };
        let added = identity(&grant);
        self.grants.retain(|own| identity(own) != added);
        self.grants.push(grant);
    }

    /// Takes those away that are meant; returns them.
    pub fn revoke(&mut self, meant: impl Fn(&Grant) -> bool) -> Vec<Grant> {
        let (revoked, kept) = std::mem::take(&mut self.grants)
            .into_iter()
            .partition(meant);
        self.grants = kept;
        revoked
    }

    /// Those that hold now for calls of this user in this session: the only ones a decision needs to know.
    pub fn holding(&self, user: Option<&str>, session: Option<&str>, now: i64) -> Vec<Grant> {
        let serves = |grant: &&Grant| {
            grant.user.as_deref() == user
                && (grant.session.is_none() || grant.session.as_deref() == session)
                && grant.alive(Some(now))
        };
        self.grants.iter().filter(serves).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Grants, Matter};
    use crate::call::Grant;

    fn grant(tool: &str, session: Option<&str>, expires_at: Option<i64>) -> Grant {
        Grant {
            user: None,
            session: session.map(str::to_owned),
            tool: Some(tool.to_owned()),
            rule: None,
            created_by: None,
            created_at: Some(10),
            expires_at,
        }
    }

    #[test]
    fn what_holds_now() {
        let mut grants = Grants::default();
        grants.add(grant("bash", None, None));
        grants.add(grant("edit", Some("s1"), None));
        grants.add(grant("write", None, Some(20)));
        let holding = |user, session, now| {
            let held = grants.holding(user, session, now);
            let names = held.iter().filter_map(|grant| grant.tool.clone());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(holding(None, Some("s1"), 15), "bash edit write");
        assert_eq!(holding(None, Some("s2"), 15), "bash write");
        assert_eq!(holding(None, None, 20), "bash");
        assert_eq!(holding(None, Some("s1"), 9), "", "not given yet");
        assert_eq!(holding(Some("eve"), Some("s1"), 15), "");
    }

    #[test]
    fn the_same_again_takes_its_place() {
        let mut grants = Grants::default();
        grants.add(grant("bash", None, Some(20)));
        grants.add(grant("bash", Some("s1"), None));
        grants.add(grant("bash", None, Some(90)));
        assert_eq!(grants.all().len(), 2);
        assert_eq!(Grants::parse(grants.text().as_bytes()), Ok(grants.clone()));
        let meant = |grant: &Grant| Matter::of(grant).is_some_and(|own| own.is_meant("tool:bash"));
        assert_eq!(grants.revoke(meant).len(), 2);
        assert!(grants.all().is_empty());
    }

    #[test]
    fn half_a_file_holds_none() {
        let text = Grants::default().text();
        for wrong in [
            "",
            text.get(..9).unwrap(),
            "[]",
            r#"{"version":2,"grants":[]}"#,
            r#"{"version":1,"grants":[{"tol":"bash"}]}"#,
        ] {
            assert!(Grants::parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
