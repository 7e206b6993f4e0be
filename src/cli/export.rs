//! `acl export`: a policy as the rules of an agent's own settings, and what became of each.

use super::import::{self, Format};
use super::policies::Which;
use super::{Answer, Stop};
use crate::agents::Agent;
use crate::agents::carry;
use clap::Args;
use std::path::PathBuf;

/// Options of `acl export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl export claude-code --policy acl.toml > settings.json
  acl export codex --output default.rules
  acl export opencode --policy acl:strict --format json

The settings are the result; the report, a line for each rule, goes to stderr: full, partial (what differs) or not (the agent
cannot say it). What an agent cannot say exactly is said more strictly. An agent compares texts: its rules stand beside
the hook, and do not replace it.

Exit codes: 0 every rule is in the settings, 1 some rule is not, 2 the policy cannot be loaded.")]
pub struct Options {
    /// For whose settings
    #[arg(value_parser = import::agents())]
    agent: Agent,
    #[command(flatten)]
    which: Which,
    /// Write the settings to a file that is not there yet
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How the report is written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// Runs it.
pub fn run(options: &Options) -> Answer {
    let matcher = options.which.matcher()?;
    match carry::export(options.agent, &matcher) {
        Some(carried) => import::write(
            &carried,
            options.output.as_deref(),
            options.format,
            "settings",
        ),
        None => Err(Stop::told("this agent has no rules of its own")),
    }
}
