//! `acl diff`: what a change of a policy loosens and tightens, each with a call that shows it.

use super::policies::{self, Which};
use super::{Answer, Exit, Stop, output};
use crate::call::Call;
use crate::call::files::FileView;
use crate::decision::decide;
use crate::finding::Finding;
use crate::language::{Change, Fate, Moved, Witness, changed};
use crate::matcher::Matcher;
use crate::policy::LayerKind;
use crate::report::difference::{self, Count};
use clap::{Args, ValueEnum};
use std::io::BufRead;

/// Options of `acl diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl diff old.toml acl.toml
  git show main:acl.toml | acl diff - acl.toml
  acl diff --fail-on any --format json old.toml acl.toml
  acl diff --calls calls.jsonl old.toml acl.toml

For every rule that is not the same in both, a call whose verdict changed, or that no call is decided differently.
Texts and names are not compared.

Exit codes: 0 nothing of what `--fail-on` names, 1 something, 2 a policy cannot be loaded.")]
pub struct Options {
    /// The policy as it was; `-` is stdin, `acl:NAME` a shipped preset
    old: String,
    /// The policy as it is to be; `-` is stdin, `acl:NAME` a shipped preset
    new: String,
    /// What fails: what is loosened or may be, what is tightened or may be, any of it, or nothing
    #[arg(long, value_name = "WHAT", default_value = "loosened")]
    fail_on: FailOn,
    /// Decide these recorded calls too, one JSON object a line as in `acl decide`; `-` is stdin
    #[arg(long, value_name = "FILE")]
    calls: Option<String>,
    /// How changes are written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// What fails the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A call is decided less strictly, or nobody knows.
    Loosened,
    /// A call is decided more strictly, or nobody knows.
    Tightened,
    /// A call is decided differently, or nobody knows.
    Any,
    /// Nothing.
    Never,
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
    if [&options.old, &options.new]
        .into_iter()
        .chain(&options.calls)
        .filter(|name| *name == "-")
        .count()
        > 1
    {
        return Err(Stop::helped(
            "`-` stands for stdin, which can be read only once",
            "write one of them to a file",
        ));
    }
    // What is wrong with either is told at once.
    let (old, new) = match (matcher(&options.old), matcher(&options.new)) {
        (Ok(old), Ok(new)) => (old, new),
        (old, new) => {
            let wrong = [old.err(), new.err()].into_iter().flatten().flatten();
            return Err(Stop::Found(wrong.collect()));
        }
    };
    let changes = changed(&old, &new);
    let recorded = match &options.calls {
        Some(file) => recorded(file, &old, &new)?,
        None => Vec::new(),
    };
    let calls: Vec<Change> = recorded.iter().map(as_change).collect();
    match options.format {
        Format::Json => {
            output::result(&format!("{:#}\n", difference::json(&changes, &recorded)))?;
        }
        Format::Human => {
            output::result(&difference::human(&changes, output::color()))?;
            output::result(&difference::human(&calls, output::color()))?;
            output::remark(&summary(options, &changes, calls.len()));
        }
    }
    // What is not ruled out counts.
    let fails = |fate: &Fate| match options.fail_on {
        FailOn::Loosened => fate.loosened.may(),
        FailOn::Tightened => fate.tightened.may(),
        FailOn::Any => fate.loosened.may() || fate.tightened.may(),
        FailOn::Never => false,
    };
    let fails = changes.iter().chain(&calls).any(|own| fails(&own.fate));
    Ok(if fails { Exit::Bad } else { Exit::Good })
}

fn matcher(file: &str) -> Result<Matcher, Vec<Finding>> {
    let mut root = policies::read_root(LayerKind::User, file).map_err(|wrong| vec![*wrong])?;
    // Where the file of either lies for the comparison is no difference.
    root.folder = None;
    let matcher = Matcher::compile(policies::load(vec![root])?);
    match matcher.check_examples() {
        wrong if wrong.is_empty() => Ok(matcher),
        wrong => Err(wrong),
    }
}

/// The recorded calls that are decided differently, with their lines.
fn recorded(file: &str, old: &Matcher, new: &Matcher) -> Result<Vec<(usize, Moved)>, Stop> {
    let input: Box<dyn BufRead> = match file {
        "-" => Box::new(std::io::stdin().lock()),
        _ => {
            let unreadable =
                |why| Stop::told(policies::unreadable(std::path::Path::new(file), &why));
            Box::new(std::io::BufReader::new(
                std::fs::File::open(file).map_err(unreadable)?,
            ))
        }
    };
    let cwd = Which::default().cwd()?;
    let mut moved = Vec::new();
    for (at, line) in input.split(b'\n').enumerate() {
        let at = at + 1;
        let line = line.map_err(|why| Stop::told(format!("{file}:{at}: {why}")))?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let mut call = Call::from_json(&line)
            .map_err(|why| Stop::told(format!("{file}:{at}: this line is no call: {why}")))?;
        call.cwd.get_or_insert_with(|| cwd.clone());
        // Files that a call does not bring along may be others by now.
        let view = call.files.clone().map_or(FileView::None, FileView::Fixture);
        let (was, is) = (decide(old, &call, &view), decide(new, &call, &view));
        if was.action != is.action {
            let witness = Witness {
                shown: shown(&call),
                call,
            };
            let (old, new) = (was, is);
            moved.push((at, Moved { witness, old, new }));
        }
    }
    Ok(moved)
}

/// A recorded call in a few words.
fn shown(call: &Call) -> String {
    let args = call.args.object().cloned().unwrap_or_default();
    match args.get("command").and_then(serde_json::Value::as_str) {
        Some(line) => line.to_owned(),
        None => format!("{} {}", call.tool, serde_json::Value::Object(args)),
    }
}

fn as_change((line, moved): &(usize, Moved)) -> Change {
    Change {
        what: format!("recorded call {line}"),
        old: None,
        new: None,
        fate: Fate::shown(moved.clone()),
    }
}

fn summary(options: &Options, changes: &[Change], calls: usize) -> String {
    let count = Count::of(changes);
    let told = [
        (count.loosened, "loosened"),
        (count.tightened, "tightened"),
        (count.unknown, "unknown"),
        (count.equivalent, "equivalent"),
    ];
    let told: Vec<String> = told
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let mut line = match told.is_empty() {
        true => format!(
            "`{}` and `{}` decide every call alike",
            options.old, options.new
        ),
        false => format!("changes: {}", told.join(", ")),
    };
    if options.calls.is_some() {
        line += &format!("; recorded calls decided differently: {calls}");
    }
    line
}
