//! An agent's own rules → a policy, and a policy → an agent's own rules; what is lost on the way is told, rule by rule.
//!
//! In: a settings file, or a compiled policy. Out: the text of the other, and a [`Report`] with a line for each rule.
//! The policy that is made never lets through what the agent would not: what it cannot say exactly
//! it says more strictly, or leaves to the tier, which asks. A refusal that the agent overlooks is carried as it was meant.

mod export;
mod import;
pub mod told;

use super::Agent;
use crate::finding::Finding;
use crate::matcher::Matcher;
use crate::source::Source;
use export::wishes::Wishes;
use std::sync::Arc;

/// How much of a rule was carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// All of it.
    Full,
    /// Not exactly: what differs is said.
    Partial,
    /// Nothing: the agent accepts the rule and never looks at it. A refusal among these is carried as it was meant.
    Dead,
    /// Nothing: it cannot be said there.
    Not,
}

impl Fidelity {
    /// `full`, `partial`, `dead`, `not`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
            Self::Dead => "dead",
            Self::Not => "not",
        }
    }
}

/// What became of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it stands: the line in the agent's file, or the rule's key in the policy.
    pub at: String,
    /// The rule, as it is written.
    pub rule: String,
    /// How much was carried over.
    pub fidelity: Fidelity,
    /// What differs, why, or what to write instead; empty where there is nothing to say.
    pub says: String,
    /// What it became: addresses in the policy, or the agent's own rules.
    pub becomes: Vec<String>,
}

/// What became of all rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// One line a rule, in the order of the file.
    pub lines: Vec<Line>,
    /// What differs between the two whatever the rules say.
    pub notes: Vec<String>,
}

/// Rules carried over.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The policy, or the agent's settings.
    pub text: String,
    /// What became of each rule.
    pub report: Report,
}

/// Reads rules, and writes them.
#[derive(Clone, Copy)]
struct Carrier {
    agent: Agent,
    import: fn(&Arc<Source>) -> Result<Carried, Vec<Finding>>,
    export: fn(Wishes) -> Carried,
    /// The canonical tools whose paths and hosts its rules can name.
    names: &'static [&'static str],
}

/// The agents whose rules acl reads and writes.
static CARRIERS: &[Carrier] = &[
    Carrier {
        agent: Agent::ClaudeCode,
        import: import::claude_code::import,
        export: export::claude_code::export,
        names: &["read", "search", "list", "write", "edit", "fetch"],
    },
    Carrier {
        agent: Agent::Codex,
        import: import::codex::import,
        export: export::codex::export,
        names: &[],
    },
    Carrier {
        agent: Agent::GeminiCli,
        import: import::gemini_cli::import,
        export: export::gemini_cli::export,
        names: &[],
    },
    Carrier {
        agent: Agent::Opencode,
        import: import::opencode::import,
        export: export::opencode::export,
        names: &["read", "write", "edit", "fetch"],
    },
];

/// The agents whose rules acl reads and writes.
pub fn agents() -> impl Iterator<Item = Agent> {
    CARRIERS.iter().map(|own| own.agent)
}

fn carrier(agent: Agent) -> Option<Carrier> {
    CARRIERS.iter().find(|own| own.agent == agent).copied()
}

/// An agent's rules as a policy; nothing for an agent without rules of its own.
///
/// # Errors
/// What is wrong with the file, each in its place.
pub fn import(agent: Agent, source: &Arc<Source>) -> Option<Result<Carried, Vec<Finding>>> {
    let made = (carrier(agent)?.import)(source);
    Some(made.map(|mut carried| {
        carried.report.notes.push(import::KEPT_NOTE.to_owned());
        carried
    }))
}

/// A policy as an agent's rules; nothing for an agent without rules of its own.
pub fn export(agent: Agent, matcher: &Matcher) -> Option<Carried> {
    carrier(agent).map(|own| (own.export)(export::wishes::of(matcher, own.names)))
}

/// A text of somebody else in a comment or a report: on one line, and not too long.
fn plain(text: &str) -> String {
    const LONGEST: usize = 160;
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            out.push('…');
            break;
        }
        match hidden(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out
}
