//! How much a finding weighs: the table, then `[lints]` of the policy it is in, then the command line.
//!
//! In: a lint and one of its findings. Out: allow, warn or deny. A finding that comes out graver than its lint (a deny
//! rule that never matches) keeps that unless somebody says otherwise.

use super::{Lint, Room};
use crate::finding::{Finding, Severity};

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
