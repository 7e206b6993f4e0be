//! How much a finding weighs: the table, then `[lints]` of the policy it is in, then the command line.
//!
//! In: a lint and one of its findings. Out: allow, warn or deny. A finding that comes out graver than its lint (a deny
//! rule that never matches) keeps that unless somebody says otherwise.

use super::{Lint, Room};
use crate::finding::{Finding, Severity};
use crate::matcher::Matcher;

/// How much a lint weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Not told.
    Allow,
    /// Told.
    Warn,
    /// Fails the check.
    Deny,
}

impl Level {
    /// Reads `allow`, `warn`, `deny`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "allow" => Some(Self::Allow),
            "warn" => Some(Self::Warn),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

/// What the command line says: the last word.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    said: Vec<(String, Level)>,
}

impl Levels {
    /// Sets the level of a lint; of two the graver counts.
    pub fn set(&mut self, code: &str, level: Level) {
        self.said.push((code.to_owned(), level));
    }

    /// Whether a lint that is off where nobody says otherwise may be told of a policy.
    pub fn may_tell(&self, matcher: &Matcher, code: &str) -> bool {
        let files = matcher.policy.layers.iter().flat_map(|layer| &layer.files);
        let stated = files.flat_map(|file| &file.lints);
        let named = self
            .said
            .iter()
            .any(|(own, level)| own == code && *level > Level::Allow);
        named
            || stated
                .into_iter()
                .any(|(own, level)| own.value == code && level != "allow")
    }

    /// The level of a finding.
    pub fn of(&self, lint: &Lint, room: &Room<'_>, finding: &Finding) -> Level {
        let said = self
            .said
            .iter()
            .filter(|(code, _)| code == lint.code)
            .map(|(_, level)| *level)
            .max();
        said.or_else(|| room.stated_level(lint.code, finding))
            .unwrap_or(match (lint.level, finding.severity) {
                (Level::Warn, Severity::Deny | Severity::Error) => Level::Deny,
                (level, _) => level,
            })
    }
}
