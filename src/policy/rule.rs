//! A rule as written, and the other entries of a policy file, each with its place.
//!
//! These are values only: `file.rs` makes them, `matcher/` compiles them.

use super::glob::Glob;
use super::kept;
use super::patterns::{HostPattern, PathPattern};
use super::prefixes::Prefixes;
use crate::call::access::Mode;
use crate::source::{Source, Span};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What a rule or a decision says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// The call passes.
    Allow,
    /// A human decides.
    Ask,
    /// The call is refused.
    Deny,
}

impl Verdict {
    /// `allow`, `ask`, `deny`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// Reads a verdict; `confirm` is accepted for `ask`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "allow" => Some(Self::Allow),
            "ask" | "confirm" => Some(Self::Ask),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A place in a policy file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    #[serde(skip, default = "kept::source")]
    pub source: Arc<Source>,
    /// The bytes.
    pub span: Span,
}

impl Place {
    /// The file and the line, as editors read them: `acl.toml:12`.
    pub fn line(&self) -> String {
        let (line, _) = self.source.line_column(self.span.start);
        format!("{}:{line}", self.source.name)
    }
}

/// Something with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed<T> {
    /// The thing.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

/// A rule: list entries and `[[rules]]` elements alike.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// Where it stands in the policy: `commands.deny[1]`, `rules[0]`, `paths.write.default`.
    pub address: String,
    /// Its id, where it has one.
    pub id: Option<String>,
    /// Its verdict.
    pub action: Verdict,
    /// What it judges.
    pub judges: Judges,
    /// Only calls of these tools; none: any.
    pub tools: Vec<Glob>,
    /// Conditions on the tool's own arguments.
    pub args: Vec<Condition>,
    /// On only while these facts hold.
    pub when: Vec<Condition>,
    /// Off while all these facts hold.
    pub unless: Vec<Condition>,
    /// Only a fresh human decision satisfies it.
    pub forced: bool,
    /// Why.
    pub reason: Option<String>,
    /// What to do instead.
    pub instead: Option<String>,
    /// Examples that the rule must match, and must not.
    #[serde(skip)]
    pub examples: Examples,
    /// Where it stands.
    pub place: Place,
}

impl Rule {
    /// A rule about the tool as such, without conditions.
    pub fn bare(address: String, action: Verdict, place: Place) -> Self {
        Self {
            address,
            id: None,
            action,
            judges: Judges::Tool,
            tools: Vec::new(),
            args: Vec::new(),
            when: Vec::new(),
            unless: Vec::new(),
            forced: false,
            reason: None,
            instead: None,
            examples: Examples::default(),
            place,
        }
    }
}

/// What a rule judges.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Judges {
    /// The tool as such.
    Tool,
    /// Commands.
    Commands(Box<Commands>),
    /// Paths.
    Paths(Box<Paths>),
    /// Hosts.
    Hosts(Box<Hosts>),
    /// Whatever of a section no rule of the file's layer names: its `default`.
    Rest(Section),
}

/// The sections that judge accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Section {
    /// `[commands]`.
    Commands,
    /// `[paths.read]`, `[paths.write]`.
    Paths(Mode),
    /// `[hosts]`.
    Hosts,
}

/// The command part of a rule.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Commands {
    /// Any of these prefixes.
    pub patterns: Prefixes,
    /// None of these prefixes.
    pub except: Prefixes,
    /// Words that must be present: each an alternative of spellings.
    pub with: Vec<Vec<Glob>>,
    /// Words that must not be present.
    pub without: Vec<Vec<Glob>>,
    /// Patterns for the operands.
    pub operands: Vec<PathPattern>,
    /// No further words.
    pub exact: bool,
    /// Allow only while everything the command does is reading.
    pub only_read: bool,
}

/// The path part of a rule.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Paths {
    /// Reading, writing or both.
    pub modes: Vec<Mode>,
    /// Any of these.
    pub patterns: Vec<PathPattern>,
    /// None of these.
    pub except: Vec<PathPattern>,
    /// Itself, not what lies below.
    pub exact: bool,
}

/// The host part of a rule.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Hosts {
    /// Any of these.
    pub patterns: Vec<HostPattern>,
    /// None of these.
    pub except: Vec<HostPattern>,
}

/// A condition: a dotted path or a fact's name, and what its value must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The path, dots taken apart.
    pub path: Vec<String>,
    /// Any of these.
    pub any: Vec<Test>,
    /// Where it stands.
    pub span: Span,
}

/// What a value must be; types never mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Test {
    /// Text that matches any of the alternatives.
    Text(Vec<Glob>),
    /// This truth value.
    Bool(bool),
    /// This number.
    Number(f64),
}

impl Test {
    /// Whether a JSON value is of the type that is asked for.
    pub const fn is_of_type(&self, value: &serde_json::Value) -> bool {
        matches!(
            (self, value),
            (Self::Text(_), serde_json::Value::String(_))
                | (Self::Bool(_), serde_json::Value::Bool(_))
                | (Self::Number(_), serde_json::Value::Number(_))
        )
    }

    /// Whether a JSON value passes; a value of another type never does.
    pub fn holds(&self, value: &serde_json::Value) -> bool {
        match (self, value) {
            (Self::Text(globs), serde_json::Value::String(text)) => {
                globs.iter().any(|glob| glob.matches_text(text, false))
            }
            (Self::Bool(own), serde_json::Value::Bool(value)) => own == value,
            (Self::Number(own), serde_json::Value::Number(value)) => value.as_f64() == Some(*own),
            _ => false,
        }
    }
}

/// Examples of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examples {
    /// Each must be matched.
    pub matching: Vec<Placed<String>>,
    /// None may be matched.
    pub other: Vec<Placed<String>>,
}

/// `[protected.NAME]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Protected {
    /// Its name.
    pub name: String,
    /// The files.
    pub paths: Paths,
    /// Why.
    pub reason: Option<String>,
    /// What to do instead.
    pub instead: Option<String>,
    /// Examples.
    #[serde(skip)]
    pub examples: Examples,
    /// Where it stands.
    pub place: Place,
}

/// A tool pattern in a tier.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TierEntry {
    /// The tier.
    pub verdict: Verdict,
    /// The alternatives of the pattern.
    pub names: Vec<Glob>,
    /// `tiers.allow[0]`.
    pub address: String,
    /// Where it stands.
    pub span: Span,
}

/// What `[facts]` says of one fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactDecl {
    /// Its name.
    pub name: String,
    /// Its value where the host gives none.
    #[serde(with = "kept::json")]
    pub default: Option<serde_json::Value>,
    /// All values it can have; empty: any.
    #[serde(with = "kept::json")]
    pub values: Vec<serde_json::Value>,
    /// Where it stands.
    pub span: Span,
}

/// `[[sources]]`: an outside authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority {
    /// Its name; empty for an anonymous one.
    pub name: String,
    /// What an error counts as; none: abstain.
    pub on_error: Option<Verdict>,
    /// Where that is said; none where it is the default.
    pub said: Option<Span>,
    /// Where it stands.
    pub place: Place,
}

/// `[[invariants]]`: what no call may be allowed to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Invariant {
    /// Its name.
    pub id: String,
    /// What it judges, and when.
    pub never: Rule,
}
