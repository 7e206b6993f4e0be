//! `acl import`: the rules of an agent's own settings as a policy, and what became of each.

use super::{Answer, Exit, Stop, output, policies};
use crate::agents::Agent;
use crate::agents::carry::{self, Fidelity, told};
use crate::source::Source;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options of `acl import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl import claude-code .claude/settings.json --output acl.toml
  acl import codex ~/.codex/rules/default.rules > acl.toml
  acl import opencode opencode.jsonc --format json

The policy is the result; the report, a line for each rule, goes to stderr: full, partial (what differs), dead (the agent
accepts the rule and never looks at it) or not (it cannot be said). The policy lets through nothing that the agent would
not; where it cannot say a rule exactly it is stricter.

Exit codes: 0 every rule is in the policy, 1 some rule is not, 2 the file cannot be read.")]
pub struct Options {
    /// Whose settings
    #[arg(value_parser = agents())]
    agent: Agent,
    /// The settings: settings.json, a .rules file, a policy file, opencode.json; `-` is stdin
    file: String,
    /// Write the policy to a file that is not there yet
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How the report is written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people: on stderr.
    Human,
    /// For scripts: what is made and the report as one object on stdout.
    Json,
}

/// The agents with rules of their own, for the command line.
pub fn agents() -> impl TypedValueParser<Value = Agent> {
    let names = carry::agents().map(|agent| agent.terms().name);
    PossibleValuesParser::new(names)
        .try_map(|name| Agent::named(&name).ok_or("there is no such agent"))
}

/// Runs it.
pub fn run(options: &Options) -> Answer {
    let source = read(&options.file)?;
    let carried = match carry::import(options.agent, &source) {
        Some(Ok(carried)) => carried,
        Some(Err(findings)) => return Err(Stop::Found(findings)),
        None => return Err(Stop::told("this agent has no rules of its own")),
    };
    write(
        &carried,
        options.output.as_deref(),
        options.format,
        "policy",
    )
}

/// What was made and its report, where they belong.
pub fn write(carried: &carry::Carried, file: Option<&Path>, format: Format, what: &str) -> Answer {
    if let Some(path) = file {
        create(path, &carried.text)?;
    }
    match format {
        Format::Json => output::result(&format!("{:#}\n", told::json(carried, what)))?,
        Format::Human => {
            if file.is_none() {
                output::result(&carried.text)?;
            }
            output::remark(told::human(&carried.report, output::width()).trim_end());
        }
    }
    let lost = |line: &carry::Line| matches!(line.fidelity, Fidelity::Dead | Fidelity::Not);
    Ok(match carried.report.lines.iter().any(lost) {
        true => Exit::Bad,
        false => Exit::Good,
    })
}

fn read(file: &str) -> Result<Arc<Source>, Stop> {
    let mut bytes = Vec::new();
    let name = match file {
        "-" => {
            let read = std::io::stdin().read_to_end(&mut bytes);
            read.map_err(|why| Stop::told(format!("cannot read stdin: {why}")))?;
            "<stdin>"
        }
        _ => {
            let path = Path::new(file);
            let read = policies::bounded(path);
            bytes = read.map_err(|why| Stop::told(policies::unreadable(path, &why)))?;
            file
        }
    };
    let source = Source::new(name, bytes, None).map_err(|finding| Stop::Found(vec![finding]))?;
    Ok(Arc::new(source))
}

/// A new file: nothing that is there is overwritten.
fn create(path: &Path, text: &str) -> Result<(), Stop> {
    let shown = path.display();
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    match file.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Ok(()),
        Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => Err(Stop::helped(
            format!("`{shown}` is there already, and nothing is overwritten"),
            "name another file, and compare the two with `acl diff`",
        )),
        Err(why) => Err(Stop::told(format!("cannot write `{shown}`: {why}"))),
    }
}
