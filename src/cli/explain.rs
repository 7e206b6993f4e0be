//! `acl explain`: what becomes of one call, and why.
//!
//! In: a call, named in exactly one way, and what is vouched for. Out: the explanation; the verdict is the exit code.

use super::given::Given;
use super::policies::{self, Which};
use super::{Answer, Exit, Stop, output};
use crate::call::{Args as CallArgs, Call};
use crate::decision;
use crate::explanation::Explanation;
use crate::policy::rule::Verdict;
use crate::report::{human_explanation, json_explanation};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::Read;
use std::path::Path;

/// Options of `acl explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl explain --policy acl:recommended --command 'git push -f origin main'
  acl explain --policy acl:recommended --command 'cargo publish && git push'
  acl explain --write /etc/hosts --trace
  acl explain --url https://docs.rs/serde --format json
  acl explain --tool mcp__jira__create --args '{\"title\":\"x\"}'
  acl explain --call call.json
  acl explain --command 'git push' --approve git-publish

Exit codes: 0 allow, 1 deny, 3 ask, 2 acl could not decide.")]
pub struct Options {
    /// The tool that is called
    #[arg(long, value_name = "TOOL", help_heading = "The call, named in one way")]
    tool: Option<String>,
    /// Its arguments, as JSON
    #[arg(long, value_name = "JSON", help_heading = "The call, named in one way")]
    args: Option<String>,
    /// A command line, as the tool `bash` would run it
    #[arg(
        long,
        value_name = "LINE",
        allow_hyphen_values = true,
        help_heading = "The call, named in one way"
    )]
    command: Option<String>,
    /// A file to read
    #[arg(long, value_name = "PATH", help_heading = "The call, named in one way")]
    read: Option<String>,
    /// A file to write
    #[arg(long, value_name = "PATH", help_heading = "The call, named in one way")]
    write: Option<String>,
    /// A URL to fetch
    #[arg(long, value_name = "URL", help_heading = "The call, named in one way")]
    url: Option<String>,
    /// A file with one call as JSON, as `acl decide` reads it; `-` is stdin
    #[arg(long, value_name = "FILE", help_heading = "The call, named in one way")]
    call: Option<String>,
    /// How it is written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    /// Stage by stage, too
    #[arg(long)]
    trace: bool,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    given: Given,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Human,
    /// For scripts.
    Json,
}

/// Runs it.
pub fn run(options: &Options) -> Answer {
    let mut call = options.call()?;
    let matcher = options.which.matcher()?;
    let failing = matcher.check_examples();
    if !failing.is_empty() {
        return Err(Stop::Found(failing));
    }
    options.given.declared(&matcher)?;
    options.given.fill(&options.which, &mut call)?;
    let decision = decision::decide(&matcher, &call, &options.given.view(&call));
    let explanation = Explanation::of(&matcher, &call, &decision);
    output::result(&match options.format {
        Format::Json => format!("{:#}\n", json_explanation::explanation(&explanation)),
        Format::Human => human_explanation::explanation(
            &explanation,
            output::width(),
            output::color(),
            options.trace,
        ),
    })?;
    Ok(match decision.action {
        Verdict::Allow => Exit::Good,
        Verdict::Deny => Exit::Bad,
        Verdict::Ask => Exit::Ask,
    })
}

const HOW: &str = "name it in one way, such as `--command 'git status'`, `--read PATH`, `--write PATH`, `--url URL`, `--tool NAME --args '{…}'` or `--call FILE`";

impl Options {
    /// The call that is meant.
    fn call(&self) -> Result<Call, Stop> {
        let ways = [
            ("--tool", &self.tool),
            ("--command", &self.command),
            ("--read", &self.read),
            ("--write", &self.write),
            ("--url", &self.url),
            ("--call", &self.call),
        ];
        let named: Vec<(&str, &String)> = ways
            .iter()
            .filter_map(|(name, value)| Some((*name, value.as_ref()?)))
            .collect();
        let (way, value) = match named.as_slice() {
            [one] => *one,
            [] if self.args.is_some() => {
                return Err(Stop::helped(
                    "`--args` needs the tool that they are for",
                    "write `--tool NAME --args '{…}'`",
                ));
            }
            [] => return Err(Stop::helped("no call is given", HOW)),
            many => {
                let names: Vec<String> = many.iter().map(|(name, _)| format!("`{name}`")).collect();
                return Err(Stop::helped(
                    format!("{} name more than one call", names.join(" and ")),
                    HOW,
                ));
            }
        };
        if self.args.is_some() && way != "--tool" {
            return Err(Stop::helped(
                format!("`{way}` brings its own arguments, so `--args` has no place beside it"),
                "write `--tool NAME --args '{…}'`, or leave `--args` out",
            ));
        }
        Ok(match way {
            "--command" => Call::new("bash", json!({ "command": value })),
            "--read" => Call::new("read", json!({ "path": value })),
            "--write" => Call::new("write", json!({ "path": value })),
            "--url" => Call::new("fetch", json!({ "url": value })),
            "--call" => self.read_call(value)?,
            _ => Call::new(
                value.as_str(),
                CallArgs::text(self.args.as_deref().unwrap_or_default()),
            ),
        })
    }

    fn read_call(&self, file: &str) -> Result<Call, Stop> {
        let mut bytes = Vec::new();
        if file == "-" {
            if self.which.policy.as_deref() == Some("-") {
                return Err(Stop::helped(
                    "stdin cannot be both the call and the policy",
                    "give one of them as a file",
                ));
            }
            std::io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|why| Stop::told(format!("cannot read the call from stdin: {why}")))?;
        } else {
            let path = Path::new(file);
            bytes =
                std::fs::read(path).map_err(|why| Stop::told(policies::unreadable(path, &why)))?;
        }
        let shown = match file {
            "-" => "stdin".to_owned(),
            file => format!("`{file}`"),
        };
        Call::from_json(&bytes).map_err(|why| {
            Stop::helped(
                format!("{shown} holds no call: {why}"),
                "a call is one object such as `{\"tool\":\"bash\",\"args\":{\"command\":\"ls\"}}`",
            )
        })
    }
}
