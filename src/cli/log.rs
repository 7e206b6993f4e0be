//! `acl log`: what was decided, from an audit log: a table, counts by rule, or the lines themselves.
//!
//! The older logs beside the file are read first. A line that is no entry is told and passed over.

use super::policies::Which;
use super::state::{Folder, clock};
use super::{Answer, Exit, Stop, audit, output, policies};
use crate::report::table::table;
use crate::session::audit::Entry;
use crate::session::log::{Counts, Filter};
use crate::session::time;
use clap::{Args, ValueEnum};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Options of `acl log`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl log audit.jsonl --verdict deny --since 2h
  acl log audit.jsonl --counts
  acl log audit.jsonl --rule git-publish --format json

A log is written by `acl hook --audit default`, which `acl init` installs, and `acl decide --audit FILE`. Times are UTC.")]
pub struct Options {
    /// The log; `-` is stdin (default: the one that the policy of this folder states, else audit.jsonl in the user's state folder)
    file: Option<PathBuf>,
    /// Only these verdicts (repeatable)
    #[arg(long, value_name = "VERDICT")]
    verdict: Vec<Verdict>,
    /// Only calls of this tool (repeatable)
    #[arg(long, value_name = "TOOL")]
    tool: Vec<String>,
    /// Only what this rule decided, was a reason for, or asked until something cleared it (repeatable)
    #[arg(long, value_name = "RULE")]
    rule: Vec<String>,
    /// Only calls of this agent (repeatable)
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,
    /// Only calls of this session (repeatable)
    #[arg(long, value_name = "ID")]
    session: Vec<String>,
    /// Only from then on: 2h, 2026-01-02, 2026-01-02T03:04
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// How many calls each rule decided
    #[arg(long)]
    counts: bool,
    /// How it is written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    /// The time that --since counts back from, in milliseconds since 1970 (default: the clock's)
    #[arg(long, value_name = "MS")]
    now: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Human,
    /// For scripts: the lines as they are, or a list of counts.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Verdict {
    Allow,
    Ask,
    Deny,
}

impl Verdict {
    fn name(self) -> String {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
        .to_owned()
    }
}

/// How long a line may be: one that is longer is none of ours.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Runs it.
pub fn run(options: &Options) -> Answer {
    let since = options.since.as_ref().map(|since| {
        let now = options.now.unwrap_or_else(clock);
        time::moment(since, now).map_err(|why| Stop::told(format!("`--since`: {why}")))
    });
    let filter = Filter {
        verdicts: options
            .verdict
            .iter()
            .map(|verdict| verdict.name())
            .collect(),
        tools: options.tool.clone(),
        rules: options.rule.clone(),
        agents: options.agent.clone(),
        sessions: options.session.clone(),
        since: since.transpose()?,
    };
    let mut counts = Counts::default();
    let mut rows: Vec<[String; 5]> = Vec::new();
    let mut each = |entry: Entry, line: &[u8]| {
        if !filter.wants(&entry) {
            return Ok(());
        }
        if options.counts {
            counts.add(&entry);
        } else if options.format == Format::Json {
            output::result(&(String::from_utf8_lossy(line).into_owned() + "\n"))?;
        } else {
            // What no column could show is not kept.
            let subject = entry.subject().chars().take(4 * output::width()).collect();
            rows.push([
                time::shown(entry.time),
                entry.verdict().to_owned(),
                entry.tool.clone(),
                entry.ground().to_owned(),
                subject,
            ]);
        }
        Ok(())
    };
    let path = match &options.file {
        Some(path) => path.clone(),
        None => stated().map_or_else(|| Ok(Folder::of(None)?.file(audit::USUAL)), Ok)?,
    };
    if path.as_os_str() == "-" {
        lines("stdin", std::io::stdin().lock(), &mut each)?;
    } else {
        let unreadable = |why| Stop::told(policies::unreadable(&path, &why));
        let files = audit::files(&path).map_err(unreadable)?;
        if files.is_empty() {
            return Err(Stop::helped(
                format!("there is no log `{}`", path.display()),
                "`acl hook AGENT --audit FILE` and `acl decide --audit FILE` write one",
            ));
        }
        for (path, file) in files {
            lines(
                &policies::shown(Path::new(&path)),
                BufReader::new(file),
                &mut each,
            )?;
        }
    }
    match (options.counts, options.format) {
        (true, Format::Json) => {
            let json = serde_json::to_string_pretty(&counts.sorted());
            let json =
                json.map_err(|why| Stop::told(format!("the counts cannot be written: {why}")))?;
            output::result(&(json + "\n"))?;
        }
        (true, Format::Human) => {
            let rows = counts.sorted().into_iter().map(|count| {
                let numbers = [count.calls, count.allow, count.ask, count.deny];
                let [calls, allow, ask, deny] = numbers.map(|number| number.to_string());
                [count.rule, calls, allow, ask, deny, time::shown(count.last)]
            });
            let rows: Vec<[String; 6]> = rows.collect();
            let head = ["rule", "calls", "allow", "ask", "deny", "last"];
            shown(table(head, &rows, output::width()), rows.is_empty())?;
        }
        (false, Format::Human) => {
            let head = ["time", "verdict", "tool", "rule", "call"];
            shown(table(head, &rows, output::width()), rows.is_empty())?;
        }
        (false, Format::Json) => {}
    }
    Ok(Exit::Good)
}

/// The log that the policy of this folder states, once something was written to it.
fn stated() -> Option<PathBuf> {
    let roots = Which::default().found().ok()?;
    let policy = policies::load(roots).ok()?;
    let (own, _) = audit::stated(&policy)?;
    audit::place(own.file.as_deref()?).filter(|log| log.exists())
}

fn shown(table: String, empty: bool) -> Result<(), Stop> {
    match empty {
        true => output::remark("no call of the log is meant"),
        false => output::result(&table)?,
    }
    Ok(())
}

/// Hands on each line that is an entry; tells of the others.
fn lines(
    name: &str,
    mut from: impl BufRead,
    each: &mut impl FnMut(Entry, &[u8]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = from.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if read.map_err(|why| Stop::told(format!("cannot read `{name}`: {why}")))? == 0 {
            break;
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        match Entry::parse(line) {
            Ok(entry) => each(entry, line)?,
            Err(why) => output::warn(&format!(
                "{name}:{number}: this line is no entry, and is passed over: {why}"
            )),
        }
    }
    Ok(())
}
