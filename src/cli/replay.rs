//! `acl replay`: calls that were made before, decided anew: what becomes of them now, and what would spare questions.

mod suggest;

use super::given::Files;
use super::policies::{self, Which};
use super::{Answer, Exit, Stop, output};
use crate::agents::Prompts;
use crate::call::Call;
use crate::call::files::FileView;
use crate::decision::{Decision, decide};
use crate::matcher::Matcher;
use crate::policy::LayerKind;
use crate::policy::rule::Verdict;
use crate::report::table::table;
use crate::session::recorded::{Log, Made, Then, Told};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use suggest::Asks;

/// Options of `acl replay`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl replay ~/.claude/projects                 transcripts of Claude Code
  acl replay ~/.codex/sessions ~/.gemini/tmp    rollouts of Codex, chats of Gemini CLI
  acl replay ~/.local/state/acl/audit.jsonl     acl's own log
  acl replay calls.jsonl --policy new.toml --suggest

A transcript tells what ran and what was refused, not which calls somebody was asked about. Under a project's policy only
calls of that project count. Lines that cannot be read are counted.")]
pub struct Options {
    /// Logs, or folders of them; `-` is stdin
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// The smallest rules that would spare the most questions, and what else each would allow
    #[arg(long)]
    suggest: bool,
    /// How many lines of each kind are shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// How it is written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    /// Whether the real file system is looked at: it may be another by now
    #[arg(long, value_name = "VIEW", default_value = "real")]
    files: Files,
    #[command(flatten)]
    which: Which,
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
    let roots = options.which.roots()?;
    // A policy that was found counts for the project that it was found in.
    let project = roots
        .iter()
        .filter(|_| options.which.policy.is_none() && options.which.layer.is_empty())
        .find(|root| matches!(root.kind, LayerKind::Project | LayerKind::Local))
        .and_then(|root| root.folder.clone());
    let matcher = policies::compile(roots.clone())?;
    let mut replay = Replay {
        options,
        matcher: &matcher,
        project,
        workspace: options.which.workspace()?,
        home: std::env::var("HOME")
            .ok()
            .filter(|home| home.starts_with('/')),
        known: HashMap::new(),
        rows: Vec::new(),
        ids: HashMap::new(),
        asks: Asks::default(),
        wrong: BTreeMap::new(),
        masked: 0,
        elsewhere: 0,
        progress: Progress::new(),
    };
    for log in &options.logs {
        replay.log(log)?;
    }
    replay.progress.clear();
    for row in replay.rows.iter().filter(|row| row.then == Then::Refused) {
        replay.asks.refuse(row.call);
    }
    let suggestions = match options.suggest {
        true => Some(suggest::suggest(
            &replay.asks,
            &roots,
            options.files,
            options.top,
        )?),
        false => None,
    };
    match options.format {
        Format::Human => {
            match replay.rows.is_empty() {
                true => output::remark("the logs hold no call that counts"),
                false => output::result(&replay.human())?,
            }
            if let Some(suggestions) = suggestions.filter(|_| !replay.rows.is_empty()) {
                output::result(&suggest::human(&suggestions, replay.count(Verdict::Ask)))?;
            }
            replay.remarks();
        }
        Format::Json => {
            let mut value = replay.json();
            if let (Some(value), Some(own)) = (value.as_object_mut(), suggestions) {
                value.insert("suggestions".into(), suggest::json(&own));
            }
            output::result(&format!("{value:#}\n"))?;
        }
    }
    Ok(Exit::Good)
}

/// What became of a call then, and what becomes of it now.
#[derive(Clone, Copy, Debug)]
struct Row {
    then: Then,
    now: Verdict,
    /// Which of the different calls it is.
    call: usize,
}

struct Replay<'o> {
    options: &'o Options,
    matcher: &'o Matcher,
    /// Only calls of this folder count.
    project: Option<String>,
    workspace: Option<String>,
    home: Option<String>,
    /// What was decided of calls that are the same but for their id and session.
    known: HashMap<String, (Verdict, usize)>,
    rows: Vec<Row>,
    /// Id of a call → its row.
    ids: HashMap<String, usize>,
    asks: Asks,
    /// What is wrong with lines → how many, and the first.
    wrong: BTreeMap<String, (usize, String)>,
    masked: usize,
    elsewhere: usize,
    progress: Progress,
}

/// How long a line may be.
const LONGEST: u64 = 64 * 1024 * 1024;

/// How deep folders are looked through.
const DEEPEST: usize = 12;

impl Replay<'_> {
    fn log(&mut self, path: &Path) -> Result<(), Stop> {
        if path.as_os_str() == "-" {
            return self.lines("stdin", std::io::stdin().lock());
        }
        let unreadable = |why| Stop::told(policies::unreadable(path, &why));
        let found = std::fs::metadata(path).map_err(unreadable)?;
        if found.is_file() {
            return self.file(path);
        }
        let mut files = Vec::new();
        below(path, DEEPEST, &mut files).map_err(unreadable)?;
        files.sort();
        if files.is_empty() {
            return Err(Stop::told(format!(
                "`{}` holds no file that ends in .jsonl, and no chat",
                path.display()
            )));
        }
        files.iter().try_for_each(|file| self.file(file))
    }

    fn file(&mut self, path: &Path) -> Result<(), Stop> {
        let name = policies::shown(path);
        let unreadable = |why| Stop::told(policies::unreadable(path, &why));
        let file = File::open(path).map_err(unreadable)?;
        if path.extension().is_none_or(|ending| ending != "json") {
            return self.lines(&name, BufReader::new(file));
        }
        let mut text = Vec::new();
        let read = file.take(LONGEST).read_to_end(&mut text);
        read.map_err(unreadable)?;
        let mut log = Log::default();
        match log.document(&text) {
            Ok(messages) => {
                for (at, told) in messages.into_iter().enumerate() {
                    self.told(&name, at + 1, &log, told);
                }
                Ok(())
            }
            // Lines under another name.
            Err(_) => self.lines(&name, text.as_slice()),
        }
    }

    fn lines(&mut self, name: &str, mut from: impl BufRead) -> Result<(), Stop> {
        let mut log = Log::default();
        let mut line = Vec::new();
        let failed = |why: std::io::Error| Stop::told(format!("cannot read `{name}`: {why}"));
        for number in 1.. {
            line.clear();
            let read = from.by_ref().take(LONGEST).read_until(b'\n', &mut line);
            if read.map_err(failed)? == 0 {
                break;
            }
            if line.len() as u64 == LONGEST && line.last() != Some(&b'\n') {
                from.skip_until(b'\n').map_err(failed)?;
                self.told(name, number, &log, Err("it is too long".to_owned()));
                continue;
            }
            let text = line.trim_ascii();
            if !text.is_empty() {
                let told = log.line(text);
                self.told(name, number, &log, told);
            }
        }
        Ok(())
    }

    fn told(&mut self, name: &str, number: usize, log: &Log, told: Result<Told, String>) {
        let told = match told {
            Ok(told) => told,
            Err(why) => {
                // Where in the line it is differs from line to line.
                let why = why.split(" at line ").next().unwrap_or_default().to_owned();
                let first = || (0, format!("{name}:{number}"));
                self.wrong.entry(why).or_insert_with(first).0 += 1;
                return;
            }
        };
        for made in told.made {
            self.made(log, made);
        }
        for (id, then) in told.ends {
            if let Some(row) = self.ids.get(&id).and_then(|row| self.rows.get_mut(*row)) {
                row.then = then;
            }
        }
        self.progress.tell(name, self.rows.len());
    }

    fn made(&mut self, log: &Log, made: Made) {
        // A session that was taken up again repeats what it had said.
        if let (Some(_), Some(id)) = (made.agent, &made.id) {
            if self.ids.contains_key(id) {
                return;
            }
        }
        let Made {
            agent,
            mut asked,
            id,
            then,
            masked,
        } = made;
        for call in &mut asked.calls {
            let opened = log.opened().map(str::to_owned);
            if call.workspace.is_none() || self.workspace.is_some() {
                let own = || call.cwd.clone();
                call.workspace = self.workspace.clone().or(opened).or_else(own);
            }
            call.workspace = call.workspace.take().or_else(|| self.project.clone());
            call.cwd = call.cwd.take().or_else(|| call.workspace.clone());
            call.home = call.home.take().or_else(|| self.home.clone());
            call.session = None;
        }
        let inside = |call: &Call| match (&self.project, &call.workspace) {
            (Some(project), Some(own)) => Path::new(own).starts_with(project),
            _ => true,
        };
        if !asked.calls.iter().all(inside) {
            self.elsewhere += 1;
            return;
        }
        self.masked += usize::from(masked);
        let same: Vec<String> = asked.calls.iter().map(Call::digest).collect();
        let same = same.join(" ");
        let (now, call) = match self.known.get(&same) {
            Some(known) => *known,
            None => {
                let decided: Vec<(&Matcher, Decision)> = asked
                    .calls
                    .iter()
                    .map(|call| {
                        (
                            self.matcher,
                            decide(self.matcher, call, &view(call, self.options.files)),
                        )
                    })
                    .collect();
                // Whether somebody was there is not told: what is asked is asked.
                asked.prompts = Prompts::Yes;
                let now = match agent {
                    Some(agent) => agent.answer(&asked, true, &decided).verdict,
                    None => decided
                        .iter()
                        .map(|(_, own)| own.action)
                        .max()
                        .unwrap_or(Verdict::Deny),
                };
                let known = (now, self.known.len());
                if now == Verdict::Ask {
                    self.asks.add(
                        known.1,
                        asked.calls,
                        decided.into_iter().map(|(_, own)| own).collect(),
                    );
                }
                self.known.insert(same, known);
                known
            }
        };
        if now == Verdict::Ask {
            self.asks.again(call);
        }
        if let Some(id) = id {
            self.ids.insert(id, self.rows.len());
        }
        self.rows.push(Row { then, now, call });
    }

    fn count(&self, now: Verdict) -> usize {
        self.rows.iter().filter(|row| row.now == now).count()
    }

    /// Then → how many are allowed, asked about and denied now.
    fn counts(&self) -> BTreeMap<Then, [usize; 3]> {
        let mut out: BTreeMap<Then, [usize; 3]> = BTreeMap::new();
        for row in &self.rows {
            let [allow, ask, deny] = out.entry(row.then).or_default();
            *match row.now {
                Verdict::Allow => allow,
                Verdict::Ask => ask,
                Verdict::Deny => deny,
            } += 1;
        }
        out
    }

    fn human(&self) -> String {
        let different: HashSet<usize> = self.rows.iter().map(|row| row.call).collect();
        let mut out = format!(
            "calls: {}, different: {}\n\n",
            self.rows.len(),
            different.len()
        );
        let row = |name: &str, counts: [usize; 3]| {
            let [allow, ask, deny] = counts.map(|count| count.to_string());
            let all = counts.iter().sum::<usize>().to_string();
            [name.to_owned(), all, allow, ask, deny]
        };
        let counts = self.counts();
        let mut rows: Vec<[String; 5]> = counts
            .iter()
            .map(|(then, own)| row(then.name(), *own))
            .collect();
        if counts.len() > 1 {
            let all = [Verdict::Allow, Verdict::Ask, Verdict::Deny].map(|now| self.count(now));
            rows.push(row("all", all));
        }
        let width = output::width();
        out += &table(["then", "calls", "now allow", "ask", "deny"], &rows, width);
        let top = self.asks.top(self.options.top);
        if !top.is_empty() {
            out += "\nasked about most often\n\n";
            let rows: Vec<[String; 4]> = top
                .into_iter()
                .map(|own| [own.count.to_string(), own.tool, own.ground, own.subject])
                .collect();
            out += &table(["asks", "tool", "rule", "such as"], &rows, width);
        }
        out
    }

    fn remarks(&self) {
        if self.elsewhere > 0 {
            output::remark(&format!(
                "left out, as calls of other projects: {} (`--policy FILE` counts all)",
                self.elsewhere
            ));
        }
        if self.masked > 0 {
            output::remark(&format!(
                "judged without what was masked in them, or too long: {}",
                self.masked
            ));
        }
        for (why, (count, first)) in &self.wrong {
            output::remark(&format!("lines passed over: {count}, first {first}: {why}"));
        }
    }

    fn json(&self) -> serde_json::Value {
        let counts = self.counts().into_iter().map(|(then, [allow, ask, deny])| {
            json!({"then": then.name(), "allow": allow, "ask": ask, "deny": deny})
        });
        let top = self.asks.top(self.options.top).into_iter().map(|own| {
            json!({"asks": own.count, "tool": own.tool, "rule": own.ground, "such_as": own.subject})
        });
        let wrong: usize = self.wrong.values().map(|(count, _)| count).sum();
        json!({
            "version": 1,
            "calls": self.rows.len(),
            "counts": counts.collect::<Vec<_>>(),
            "asks": top.collect::<Vec<_>>(),
            "masked": self.masked,
            "elsewhere": self.elsewhere,
            "passed_over": wrong,
        })
    }
}

/// How a call sees the files: those that it brings along, the real ones, or none.
fn view(call: &Call, files: Files) -> FileView {
    match (&call.files, files) {
        (Some(fixture), _) => FileView::Fixture(fixture.clone()),
        (None, Files::Real) => FileView::Real,
        (None, Files::None) => FileView::None,
    }
}

/// The logs below a folder: lines of JSON, and the chats of Gemini CLI. Links are not followed.
fn below(folder: &Path, depth: usize, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let ending = path.extension().and_then(|ending| ending.to_str());
        let chat = folder.file_name().is_some_and(|name| name == "chats");
        match ending {
            _ if kind.is_dir() && depth > 0 => below(&path, depth - 1, out)?,
            Some("jsonl") if kind.is_file() => out.push(path),
            Some("json") if kind.is_file() && chat => out.push(path),
            _ => {}
        }
    }
    Ok(())
}

/// A line on the terminal that tells how far it is.
struct Progress {
    shown: bool,
    last: Instant,
    wanted: bool,
}

/// How long nothing is said, and how often something is.
const PACE: Duration = Duration::from_millis(300);

impl Progress {
    fn new() -> Self {
        Self {
            shown: false,
            last: Instant::now(),
            wanted: std::io::stderr().is_terminal() && !output::quiet(),
        }
    }

    fn tell(&mut self, name: &str, calls: usize) {
        if !self.wanted || self.last.elapsed() < PACE {
            return;
        }
        self.last = Instant::now();
        self.shown = true;
        let mut line = String::new();
        let _ = write!(line, "{calls} calls, {name}");
        let line: String = line
            .chars()
            .filter(|c| !c.is_control())
            .take(output::width() - 1)
            .collect();
        let _ = write!(std::io::stderr(), "\r\u{1b}[K{line}");
    }

    fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\u{1b}[K");
        }
    }
}
