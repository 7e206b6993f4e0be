//! `acl decide`: JSON lines of calls in, JSON lines of records out, in order.

use super::audit::Audit;
use super::given::Given;
use super::policies::Which;
use super::{Answer, Exit, Stop, output};
use crate::call::Call;
use crate::decision;
use crate::decision::record::Record;
use clap::Args;
use std::io::BufRead;
use std::time::Instant;

/// Options of `acl decide`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '{\"tool\":\"bash\",\"args\":{\"command\":\"git push\"},\"cwd\":\"/w\"}' | acl decide --policy acl:recommended
  acl decide --audit audit.jsonl --state < calls.jsonl

A line that is no call gives {\"version\":1,\"error\":{…}} in its place; the rest goes on, and the exit code is 2.

Exit codes: 0 every line has its record, whatever it says; 2 a line is no call, or a policy cannot be loaded.")]
pub struct Options {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    audit: Audit,
}

/// Runs it.
pub fn run(options: &Options) -> Answer {
    let matcher = options.which.matcher()?;
    options.given.declared(&matcher)?;
    let log = options.audit.log(Some(&matcher))?;
    let mut exit = Exit::Good;
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|why| Stop::told(format!("cannot read calls from stdin: {why}")))? == 0 {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let record = match Call::from_json(&line) {
            Ok(mut call) => {
                options.given.fill(&options.which, &mut call)?;
                let started = Instant::now();
                let decision = decision::decide(&matcher, &call, &options.given.view(&call));
                if let Some(log) = &log {
                    log.write(&call, &decision, started.elapsed());
                }
                serde_json::to_string(&Record::of(&matcher, &call, &decision))
            }
            Err(why) => {
                exit = Exit::Failed;
                serde_json::to_string(&Refused {
                    version: crate::decision::record::VERSION,
                    error: Wrong {
                        code: "call",
                        line: number,
                        message: format!("this line is no call: {why}"),
                    },
                })
            }
        };
        let record =
            record.map_err(|why| Stop::told(format!("a record cannot be written: {why}")))?;
        output::result(&(record + "\n"))?;
    }
    Ok(exit)
}

/// What stands in the place of a record, for a line that is no call.
#[derive(serde::Serialize)]
struct Refused {
    version: u32,
    error: Wrong,
}

#[derive(serde::Serialize)]
struct Wrong {
    code: &'static str,
    line: usize,
    message: String,
}
