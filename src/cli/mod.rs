//! The command line: one file a subcommand, each reads like the pipeline.
//!
//! Only here are files, the environment and the terminal touched. Results go to stdout, diagnostics to stderr.

mod audit;
mod beside;
mod check;
mod complete;
mod decide;
mod diff;
mod explain;
mod export;
mod fix;
mod given;
mod grant;
mod hook;
mod import;
mod init;
mod kept;
mod log;
mod output;
mod policies;
mod replay;
mod schema;
#[cfg(feature = "gateway")]
mod serve;
mod state;
mod test;
mod trust;
mod whereabouts;

use crate::finding::Finding;
use clap::{Parser, Subcommand, ValueEnum};
use std::process::ExitCode;

/// What the exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Allow; clean; the tests pass.
    Good = 0,
    /// Deny; findings of severity deny; a test failed.
    Bad = 1,
    /// acl could not do the work: usage, unreadable or invalid policy.
    Failed = 2,
    /// Ask.
    Ask = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// What stopped a command: a sentence, or findings, both for stderr.
#[derive(Debug)]
pub enum Stop {
    /// Said here: what, and what to type.
    Told(String, Option<String>),
    /// What is wrong with a policy.
    Found(Vec<Finding>),
    /// The reader of the output went away.
    Gone,
}

impl Stop {
    /// A sentence.
    pub fn told(text: impl Into<String>) -> Self {
        Self::Told(text.into(), None)
    }

    /// A sentence with advice.
    pub fn helped(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Told(text.into(), Some(help.into()))
    }
}

/// What a command answers.
pub type Answer = Result<Exit, Stop>;

/// Policy files for the tool calls of AI agents: allow, ask or deny, and why.
#[derive(Debug, Parser)]
#[command(name = "acl", version, max_term_width = 100, after_help = AFTER)]
pub struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// `acl hook` by itself. An agent runs it before each call, and describing all the other commands takes longer than
/// reading its options.
#[derive(Debug, Parser)]
#[command(name = "acl", version, max_term_width = 100)]
struct Hooked {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: HookCommand,
}

#[derive(Debug, Subcommand)]
enum HookCommand {
    /// Answer a hook of an agent: its call on stdin, in its own terms on stdout
    Hook(Box<hook::Options>),
}

/// What every command takes.
#[derive(Debug, Default, clap::Args)]
struct Common {
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Say nothing but results
    #[arg(short, long, global = true)]
    quiet: bool,
}

impl Cli {
    /// What was typed.
    fn read() -> Result<Self, clap::Error> {
        let mut words = std::env::args_os().skip(1);
        if words.next().is_none_or(|word| word != "hook") {
            return Self::try_parse();
        }
        let words: Result<Vec<String>, _> = words.map(std::ffi::OsString::into_string).collect();
        let (common, options) = match words.ok().and_then(|words| hook::Options::usual(&words)) {
            Some(options) => (Common::default(), Box::new(options)),
            None => {
                let Hooked { common, command } = Hooked::try_parse()?;
                let HookCommand::Hook(options) = command;
                (common, options)
            }
        };
        let command = Command::Hook(options);
        Ok(Self { common, command })
    }
}

const AFTER: &str = "\
Examples:
  acl check policies/recommended.toml
  acl explain --policy policies/recommended.toml --command 'git push -f origin main'
  acl test policies/

Exit codes: 0 allow, clean or passed; 1 deny, findings or failed; 2 acl could not do the work; 3 ask.";

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Validate and lint policies
    Check(check::Options),
    /// Say what becomes of one call, and why
    Explain(Box<explain::Options>),
    /// Decide calls: JSON lines in, JSON lines out
    Decide(Box<decide::Options>),
    /// Say which calls two policies decide differently, with a call for every change
    Diff(diff::Options),
    /// Answer a hook of an agent: its call on stdin, in its own terms on stdout
    Hook(Box<hook::Options>),
    /// Write a policy, and have the agents in use ask acl before each call
    Init(init::Options),
    /// Make a policy of the rules in an agent's own settings, and say what became of each
    Import(import::Options),
    /// Make an agent's own settings of a policy, and say what became of each rule
    Export(export::Options),
    /// Run case files: expected verdicts and snapshots of whole decisions
    Test(test::Options),
    /// List the policies in use, in order, and files that look like policies but are not loaded
    Where(whereabouts::Options),
    /// Let the policy that came with a repository loosen, from now on, as it stands
    Trust(trust::Options),
    /// Take that back
    Untrust(trust::Options),
    /// Remember a yes to a tool's tier or to a rule that asks
    Grant(Box<grant::Options>),
    /// List such grants, or take them back
    Grants(grant::List),
    /// Show what was decided, from an audit log
    Log(log::Options),
    /// Hold calls that ask until a person decides, in a page or over HTTP
    #[cfg(feature = "gateway")]
    Serve(Box<serve::Options>),
    /// Decide calls anew that were made before, from transcripts and logs
    Replay(Box<replay::Options>),
    /// Print the JSON Schema of policy files
    Schema(schema::Options),
    /// Print a completion script for a shell
    Completions(complete::Completions),
    /// Print the manual page
    Man(complete::Man),
}

/// Runs the program.
pub fn main() -> ExitCode {
    // A bug must not look like a verdict: whatever happens, acl refuses to have decided.
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map(|at| format!(" at {}:{}", at.file(), at.line()))
            .unwrap_or_default();
        output::complain(
            &format!("a bug in acl{place}: {info}"),
            Some("nothing was decided; please report this"),
        );
    }));
    let ran = std::panic::catch_unwind(|| {
        let cli = match Cli::read() {
            Ok(cli) => cli,
            Err(usage) => {
                hook::drain_if_meant();
                let _ = usage.print();
                return if usage.use_stderr() {
                    Exit::Failed
                } else {
                    Exit::Good
                };
            }
        };
        output::configure(cli.common.color, cli.common.quiet);
        let answer = match cli.command {
            Command::Check(options) => check::run(&options),
            Command::Explain(options) => explain::run(&options),
            Command::Decide(options) => decide::run(&options),
            Command::Diff(options) => diff::run(&options),
            Command::Hook(options) => hook::run(&options),
            Command::Init(options) => init::run(&options),
            Command::Import(options) => import::run(&options),
            Command::Export(options) => export::run(&options),
            Command::Test(options) => test::run(&options),
            Command::Where(options) => whereabouts::run(&options),
            Command::Trust(options) => trust::trust(&options),
            Command::Untrust(options) => trust::untrust(&options),
            Command::Grant(options) => grant::grant(&options),
            Command::Grants(options) => grant::list(&options),
            Command::Log(options) => log::run(&options),
            Command::Replay(options) => replay::run(&options),
            Command::Schema(options) => schema::run(&options),
            #[cfg(feature = "gateway")]
            Command::Serve(options) => serve::run(&options),
            Command::Completions(options) => complete::completions(&options),
            Command::Man(options) => complete::man(&options),
        };
        match answer {
            Ok(exit) => exit,
            Err(Stop::Told(text, help)) => {
                output::complain(&text, help.as_deref());
                Exit::Failed
            }
            Err(Stop::Found(findings)) => {
                output::show(&findings);
                Exit::Failed
            }
            Err(Stop::Gone) => Exit::Good,
        }
    });
    ran.unwrap_or(Exit::Failed).into()
}

#[cfg(test)]
mod tests {
    use super::{HookCommand, Hooked, hook};
    use clap::Parser;

    #[test]
    fn the_usual_hook_is_read_as_any_other() {
        let read = |line: &str| {
            let HookCommand::Hook(options) = Hooked::try_parse_from(line.split(' ')).ok()?.command;
            Some(format!("{options:?}"))
        };
        let usual = |line: &str| {
            let words: Vec<String> = line.split(' ').skip(2).map(str::to_owned).collect();
            hook::Options::usual(&words).map(|options| format!("{options:?}"))
        };
        for line in [
            "acl hook claude-code",
            "acl hook codex --interactive",
            "acl hook opencode --policy p.toml",
            "acl hook cursor --audit default",
            "acl hook gemini-cli --interactive --policy acl:recommended",
        ] {
            assert!(usual(line).is_some(), "{line}");
            assert_eq!(usual(line), read(line), "{line}");
        }
        for line in [
            "acl hook",
            "acl hook x",
            "acl hook codex --policy",
            "acl hook codex --policy --interactive",
            "acl hook codex --help",
            "acl hook codex --policy -",
            "acl hook codex --audit a --audit b",
            "acl hook codex --interactive --interactive",
        ] {
            assert_eq!(usual(line), None, "{line}");
        }
    }
}
