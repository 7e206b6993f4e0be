//! `acl test`: case files against the policies they name.
//!
//! In: case files, or folders to find them in. Out: every case that fails, and why; `.snap` files written on request.
//! A file that cannot be loaded is told and does not keep the others from running.

use super::policies;
use super::{Answer, Exit, Stop, output};
use crate::cases::mutants::{self, Mutation, Survivor};
use crate::cases::snapshot::{self, Snapshots};
use crate::cases::{self, Case, Cases, Ran, Under};
use crate::decision::Decision;
use crate::finding::Finding;
use crate::language::Told;
use crate::matcher::Matcher;
use crate::policy::rule::Verdict;
use crate::policy::{LayerKind, Policy};
use crate::report::junit::{self, Outcome, Suite};
use crate::source::Source;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options of `acl test`.
#[derive(Debug, Args)]
#[command(after_help = "\
A case file, `shop.cases.toml`:
  policy = \"shop.toml\"            # relative to this file, or acl:NAME

  [[case]]
  name = \"a push over others' work\"
  tool = \"bash\"
  args = { command = \"git push -f\" }
  expect = { action = \"deny\", rule = \"no-force-push\" }

  [[case]]                         # without `expect`, the whole decision is kept in shop.cases.toml.snap
  tool = \"read\"
  args = { path = \".env\" }

Unless a case says otherwise it is set in /workspace with the home /home/user, and sees no files but its own `files`.

Examples:
  acl test                         every *.cases.{toml,yaml,yml,jsonl} below the working directory
  acl test policies/ --filter push
  acl test shop.cases.toml --accept
  acl test --coverage --mutants    which rules no case decides by, and which could change unnoticed
  acl test --format junit > tests.xml

Exit codes: 0 passed, 1 a case failed, has no accepted snapshot, or is missing (--coverage, --mutants), 2 a case file or
policy cannot be loaded.
In CI (the variable CI is set) no snapshot is proposed: one that is missing or differs is a failure.")]
pub struct Options {
    /// Case files, or folders in which all *.cases.* files are run; `-` is stdin (default: the working directory)
    #[arg(value_name = "FILE|DIR")]
    files: Vec<PathBuf>,
    /// Run the cases whose name contains TEXT
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write missing and changed snapshots
    #[arg(long, conflicts_with = "review")]
    accept: bool,
    /// Show each missing or changed snapshot, and ask
    #[arg(long)]
    review: bool,
    /// Name the rules that no case decides by
    #[arg(long)]
    coverage: bool,
    /// Take each rule out, and turn its verdict: name what no case notices, with the call that would
    #[arg(long)]
    mutants: bool,
    /// How the outcome is written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: what did not pass, then how many
    Human,
    /// For test reports: JUnit XML
    Junit,
}

/// What a run came to.
#[derive(Clone, Debug, Default)]
struct Tally {
    passed: usize,
    failed: usize,
    pending: usize,
    skipped: usize,
    unloaded: usize,
}

/// What becomes of snapshots that are missing or differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Proposed: written to `.snap.new`.
    Propose,
    /// Written.
    Accept,
    /// Asked about.
    Review,
    /// Failures.
    Refuse,
}

/// Runs it.
pub fn run(options: &Options) -> Answer {
    let files = find(&options.files)?;
    let junit = options.format == Format::Junit;
    if junit && options.review {
        return Err(Stop::told(
            "`--review` asks on the terminal: it goes with `--format human` only",
        ));
    }
    let mut run = Run {
        suites: junit.then(Vec::new),
        manner: match (options.accept, options.review, in_ci()) {
            (true, _, _) => Manner::Accept,
            (_, true, _) => Manner::Review,
            (_, _, true) => Manner::Refuse,
            _ => Manner::Propose,
        },
        weighed: options.coverage || options.mutants,
        filter: options.filter.as_deref().unwrap_or_default(),
        loaded: BTreeMap::new(),
        tally: Tally::default(),
    };
    for file in &files {
        run.file(file)?;
    }
    let mut missing = 0;
    for under in run.loaded.values().flatten() {
        if options.coverage {
            missing += uncovered(under)?;
        }
        if options.mutants {
            missing += unnoticed(under)?;
        }
    }
    let Tally {
        passed,
        failed,
        pending,
        skipped,
        unloaded,
    } = run.tally.clone();
    let mut told = format!("{passed} passed, {failed} failed");
    let unaccepted = match pending {
        1 => "1 snapshot to review (acl test --review)".to_owned(),
        _ => format!("{pending} snapshots to review (acl test --review)"),
    };
    let filtered = format!("{skipped} filtered out");
    let broken = format!("{unloaded} not run: see above");
    for (count, text) in [
        (pending, unaccepted),
        (skipped, filtered),
        (unloaded, broken),
    ] {
        if count > 0 {
            told.push_str(", ");
            told.push_str(&text);
        }
    }
    match &run.suites {
        Some(suites) => {
            output::result(&junit::write("acl test", suites))?;
            output::remark(&told);
        }
        None => output::result(&(told + "\n"))?,
    }
    if skipped > 0 && passed + failed + pending + unloaded == 0 {
        return Err(Stop::told("no case has that in its name: nothing was run"));
    }
    Ok(match (unloaded, failed + pending + missing) {
        (1.., _) => Exit::Failed,
        (0, 1..) => Exit::Bad,
        (0, 0) => Exit::Good,
    })
}

/// Whether this is a machine that nobody watches: `CI` is set, and not to `false`.
fn in_ci() -> bool {
    std::env::var_os("CI")
        .is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
}

// --- which files

/// What a case file's name ends with.
const ENDINGS: &[&str] = &[".cases.toml", ".cases.yaml", ".cases.yml", ".cases.jsonl"];

fn find(given: &[PathBuf]) -> Result<Vec<PathBuf>, Stop> {
    let here = [PathBuf::from(".")];
    let given = if given.is_empty() { &here } else { given };
    let mut files = Vec::new();
    for path in given {
        if path == Path::new("-") {
            files.push(path.clone());
            continue;
        }
        let kind =
            std::fs::metadata(path).map_err(|why| Stop::told(policies::unreadable(path, &why)))?;
        let before = files.len();
        if kind.is_dir() {
            let path = if path == Path::new(".") {
                Path::new("")
            } else {
                path
            };
            below(path, &mut files)?;
            if files.len() == before {
                return Err(Stop::helped(
                    format!("there are no case files in {}", shown(path)),
                    "case files end in .cases.toml, .cases.yaml or .cases.jsonl; `acl test --help` shows one",
                ));
            }
        } else {
            files.push(path.clone());
        }
    }
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    Ok(files)
}

fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        "the working directory".to_owned()
    } else {
        format!("`{}`", path.display())
    }
}

/// The case files of a folder and of those below it, by name. What builds and tools leave behind is not looked into.
fn below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Stop> {
    let here = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries =
        std::fs::read_dir(here).map_err(|why| Stop::told(policies::unreadable(here, &why)))?;
    let mut entries: Vec<(String, bool)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            // Links to folders are not followed: they may run in a circle.
            let folder = entry.file_type().ok()?.is_dir();
            Some((entry.file_name().into_string().ok()?, folder))
        })
        .collect();
    entries.sort();
    for (name, is_folder) in entries {
        let left_out =
            (name.starts_with('.') && name != ".acl") || name == "target" || name == "node_modules";
        if is_folder && !left_out {
            below(&folder.join(&name), files)?;
        } else if !is_folder && ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            files.push(folder.join(name));
        }
    }
    Ok(())
}

// --- running them

/// Policies by the kind and path of each of their layers: loaded once; none where they cannot be.
type Loaded = BTreeMap<Vec<(LayerKind, String)>, Option<Decided>>;

/// A policy, and what was decided under it.
struct Decided {
    policy: Policy,
    matcher: Matcher,
    ran: Vec<(Case, Decision)>,
}

struct Run<'o> {
    manner: Manner,
    /// What is decided is kept: the cases themselves are weighed afterwards.
    weighed: bool,
    filter: &'o str,
    loaded: Loaded,
    tally: Tally,
    /// The outcomes, where they are written at the end and not as they come.
    suites: Option<Vec<Suite>>,
}

impl Run<'_> {
    /// Keeps the outcome of a case for the end.
    fn keep(&mut self, case: &Case, outcome: Outcome) {
        let file = &case.place.source.name;
        let Some(suites) = &mut self.suites else {
            return;
        };
        if suites.last().is_none_or(|last| last.name != *file) {
            suites.push(Suite {
                name: file.clone(),
                cases: Vec::new(),
            });
        }
        if let Some(suite) = suites.last_mut() {
            suite.cases.push(junit::Case {
                name: case.name.clone(),
                line: Some(case.line()),
                outcome,
            });
        }
    }

    fn passed(&mut self, case: &Case) {
        self.tally.passed += 1;
        self.keep(case, Outcome::Passed);
    }

    /// Tells of a case that did not pass.
    fn told(&mut self, case: &Case, what: &str, lines: &[String]) -> Result<(), Stop> {
        if self.suites.is_none() {
            return output::result(&report(case, what, lines));
        }
        let short = lines.first().map_or(what, String::as_str).to_owned();
        self.keep(case, Outcome::Failed(short, lines.join("\n")));
        Ok(())
    }

    /// What kept a file or a case from being tried was shown already.
    fn unloaded(&mut self, path: &Path) {
        self.tally.unloaded += 1;
        if let Some(suites) = &mut self.suites {
            let why = "the case file, or a policy that it names, cannot be loaded";
            suites.push(Suite {
                name: path.to_string_lossy().into_owned(),
                cases: vec![junit::Case {
                    name: "not run".into(),
                    line: None,
                    outcome: Outcome::Broken(why.into(), "what is wrong stands on stderr".into()),
                }],
            });
        }
    }

    fn file(&mut self, path: &Path) -> Result<(), Stop> {
        let stdin = path == Path::new("-");
        let bytes = match stdin {
            true => {
                let mut bytes = Vec::new();
                std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
            }
            false => std::fs::read(path),
        };
        let source = match bytes {
            Ok(bytes) if stdin => policies::unnamed("<stdin>", bytes).map_err(|finding| *finding),
            Ok(bytes) => Source::new(path.to_string_lossy(), bytes, None).map(Arc::new),
            Err(why) => {
                output::complain(&policies::unreadable(path, &why), None);
                self.unloaded(path);
                return Ok(());
            }
        };
        let read = source
            .map_err(|finding| vec![finding])
            .and_then(|source| cases::read(&source));
        let cases = match read {
            Ok(cases) => cases,
            Err(findings) => {
                output::show(&findings);
                self.unloaded(path);
                return Ok(());
            }
        };
        if stdin && cases.cases.iter().any(|case| case.expect.is_none()) {
            return Err(Stop::helped(
                "a case from stdin has no `expect`, and a snapshot needs a file beside which it is kept",
                "write `expect = \"allow\"`, or give the cases in a file",
            ));
        }
        let mut kept = Kept::of(path)?;
        let weighed = self.weighed;
        for case in &cases.cases {
            if !case.name.contains(self.filter) {
                self.tally.skipped += 1;
                continue;
            }
            let Some(under) = self.under(path, case) else {
                self.unloaded(path);
                continue;
            };
            let strange = case.strange(&under.matcher);
            if !strange.is_empty() {
                output::show(&strange);
                self.unloaded(path);
                continue;
            }
            let ran = case.run(&under.matcher);
            if weighed {
                under.ran.push((case.clone(), ran.decision.clone()));
            }
            if case.expect.is_some() {
                self.compared(case, &ran)?;
            } else {
                self.snapshot(case, &ran, &mut kept)?;
            }
        }
        kept.close(&cases, self.manner, self.filter.is_empty())
    }

    /// The policies of a case, compiled; those that cannot be are told once.
    fn under(&mut self, file: &Path, case: &Case) -> Option<&mut Decided> {
        let folder = file.parent().unwrap_or_else(|| Path::new(""));
        let place = |name: &str| match name.strip_prefix("acl:") {
            Some(_) => name.to_owned(),
            None => policies::normal(&folder.join(name))
                .to_string_lossy()
                .into_owned(),
        };
        let key: Vec<(LayerKind, String)> = match &case.under.value {
            Under::Policy(name) => vec![(LayerKind::User, place(name))],
            Under::Layers(layers) => layers
                .iter()
                .map(|(kind, name)| (*kind, place(name)))
                .collect(),
        };
        let entry = match self.loaded.entry(key) {
            Entry::Occupied(known) => return known.into_mut().as_mut(),
            Entry::Vacant(entry) => entry,
        };
        let findings = match case.under.value.roots(|name| policies::found(&place(name))) {
            Ok(roots) => policies::load(roots),
            Err(why) => Err(vec![
                Finding::error("unreadable-file", why, &case.place.source, case.under.span)
                    .label("named here")
                    .help("the path is relative to the case file"),
            ]),
        };
        let loaded = match findings {
            Ok(policy) => Some(Decided {
                matcher: Matcher::compile(policy.clone()),
                policy,
                ran: Vec::new(),
            }),
            Err(findings) => {
                output::show(&findings);
                None
            }
        };
        entry.insert(loaded).as_mut()
    }

    fn compared(&mut self, case: &Case, ran: &Ran) -> Result<(), Stop> {
        if ran.failures.is_empty() {
            self.passed(case);
            return Ok(());
        }
        self.tally.failed += 1;
        let mut lines: Vec<String> = ran.failures.iter().map(ToString::to_string).collect();
        lines.extend(grounds(ran));
        if let Some(note) = &case.note {
            lines.push(format!("note: {note}"));
        }
        self.told(case, "failed", &lines)
    }

    fn snapshot(&mut self, case: &Case, ran: &Ran, kept: &mut Kept) -> Result<(), Stop> {
        let new = snapshot::entry(case, &ran.decision);
        let old = kept.accepted.get(&case.name);
        if old == Some(new.as_str()) {
            self.passed(case);
            return Ok(());
        }
        let what = match old {
            None => "no snapshot",
            Some(_) => "snapshot differs",
        };
        let color = self.suites.is_none() && output::color();
        let change = difference(old.unwrap_or_default(), &new, color);
        let accept = match self.manner {
            Manner::Accept => true,
            Manner::Review => {
                output::result(&report(case, what, &change))?;
                match ask()? {
                    Asked::Accept => true,
                    Asked::Skip => false,
                    Asked::Reject => {
                        self.tally.failed += 1;
                        return Ok(());
                    }
                }
            }
            Manner::Propose | Manner::Refuse => {
                self.told(case, what, &change)?;
                false
            }
        };
        if accept {
            kept.accepted.set(&case.name, &new);
            kept.changed = true;
            self.passed(case);
        } else if self.manner == Manner::Refuse {
            self.tally.failed += 1;
        } else {
            kept.proposed.set(&case.name, &new);
            self.tally.pending += 1;
        }
        Ok(())
    }
}

/// Names the rules that no case decides by; how many those are.
fn uncovered(under: &Decided) -> Result<usize, Stop> {
    let decisions = under.ran.iter().map(|(_, decision)| decision);
    let parts = mutants::unused(&under.matcher, decisions);
    for part in &parts {
        output::result(&format!(
            "{}: no case decides by `{}`\n",
            part.place.line(),
            part.key
        ))?;
    }
    Ok(parts.len())
}

/// Names what could change without a case noticing; how many calls that leaves open.
fn unnoticed(under: &Decided) -> Result<usize, Stop> {
    let mut open = 0;
    for survivor in mutants::survivors(&under.policy, &under.matcher, &under.ran) {
        let Survivor {
            part,
            mutation,
            fate,
        } = &survivor;
        let changed = match mutation {
            Mutation::Removed => "were gone".to_owned(),
            Mutation::Turned(verdict) => format!("were {verdict}"),
        };
        let told = match (
            fate.loosened.shown().or(fate.tightened.shown()),
            fate.told(),
        ) {
            (Some(moved), _) => format!(
                "no case notices; one would be `{}`: {}, then {}",
                moved.witness, moved.old.action, moved.new.action
            ),
            (None, Told::Equivalent) => "no call would notice".to_owned(),
            (None, _) => "no case notices, and no call was found that does".to_owned(),
        };
        open += usize::from(fate.told() != Told::Equivalent);
        output::result(&format!(
            "{}: if `{}` {changed}, {told}\n",
            part.place.line(),
            part.key
        ))?;
    }
    Ok(open)
}

/// What the decision rests on, shortly.
fn grounds(ran: &Ran) -> Vec<String> {
    const MOST: usize = 4;
    let decision = &ran.decision;
    let basis = decision.basis.name();
    if decision.action == Verdict::Allow {
        let by = decision.decided_by.as_ref().map(|by| &by.rule);
        return vec![match by {
            Some(by) => format!("allowed by `{by}` ({basis})"),
            None => format!("allowed ({basis})"),
        }];
    }
    let mut lines: Vec<String> = decision
        .reasons
        .iter()
        .take(MOST)
        .map(|reason| format!("{} `{}`: {}", reason.action, reason.key, reason.text))
        .collect();
    if decision.reasons.len() > MOST {
        lines.push(format!("and {} more", decision.reasons.len() - MOST));
    }
    lines
}

/// A case that did not pass, with what there is to say.
fn report(case: &Case, what: &str, lines: &[String]) -> String {
    let (red, off) = if output::color() {
        ("\u{1b}[1;31m", "\u{1b}[0m")
    } else {
        ("", "")
    };
    let place = case.place.line();
    let call = cases::one_line(&case.call);
    let mut out = format!("{place}: {red}{what}{off}: {}\n", case.name);
    if call != case.name {
        out.push_str(&format!("    {call}\n"));
    }
    for line in lines {
        out.push_str(&format!("    {line}\n"));
    }
    out
}

/// An entry's lines, those that went behind `-`, those that came behind `+`.
fn difference(old: &str, new: &str, color: bool) -> Vec<String> {
    let (red, green, off) = if color {
        ("\u{1b}[31m", "\u{1b}[32m", "\u{1b}[0m")
    } else {
        ("", "", "")
    };
    let diff = similar::TextDiff::from_lines(old, new);
    diff.iter_all_changes()
        .map(|change| {
            let line = change.value().trim_end();
            match change.tag() {
                similar::ChangeTag::Equal => format!("  {line}"),
                similar::ChangeTag::Delete => format!("{red}- {line}{off}"),
                similar::ChangeTag::Insert => format!("{green}+ {line}{off}"),
            }
        })
        .collect()
}

enum Asked {
    Accept,
    Reject,
    Skip,
}

/// Asks what to do with a snapshot; the end of the input is "skip".
fn ask() -> Result<Asked, Stop> {
    let mut line = String::new();
    loop {
        let mut err = std::io::stderr().lock();
        let _ = write!(err, "  accept, reject or skip? [a/r/s] ");
        let _ = err.flush();
        line.clear();
        let read = std::io::stdin().lock().read_line(&mut line);
        if read.map_err(|why| Stop::told(format!("cannot read an answer from stdin: {why}")))? == 0
        {
            let _ = writeln!(err);
            return Ok(Asked::Skip);
        }
        match line.trim() {
            "a" | "accept" => return Ok(Asked::Accept),
            "r" | "reject" => return Ok(Asked::Reject),
            "s" | "skip" | "" => return Ok(Asked::Skip),
            _ => {}
        }
    }
}

// --- snapshots on disk

/// The snapshots beside a case file.
struct Kept {
    path: PathBuf,
    proposal: PathBuf,
    accepted: Snapshots,
    proposed: Snapshots,
    changed: bool,
}

impl Kept {
    fn of(file: &Path) -> Result<Self, Stop> {
        let beside = |ending: &str| {
            let mut name = file.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let path = beside(".snap");
        let accepted = match std::fs::read_to_string(&path) {
            Ok(text) => Snapshots::read(&text),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Snapshots::default(),
            Err(why) => return Err(Stop::told(policies::unreadable(&path, &why))),
        };
        Ok(Self {
            path,
            proposal: beside(".snap.new"),
            accepted,
            proposed: Snapshots::default(),
            changed: false,
        })
    }

    /// Writes what was accepted and what is proposed, and tells of entries whose cases are gone. Where not `all` cases
    /// were run, a proposal for the others stays.
    fn close(mut self, cases: &Cases, manner: Manner, all: bool) -> Result<(), Stop> {
        let kept = self.accepted.clone();
        let stale = self.accepted.take_stale(&cases.cases);
        for name in &stale {
            let rest = match manner {
                Manner::Accept => "taken out",
                _ => "`--accept` takes it out",
            };
            output::remark(&format!(
                "{}: no case without `expect` is named `{name}`: {rest}",
                self.path.display()
            ));
        }
        if manner == Manner::Accept {
            self.changed |= !stale.is_empty();
        } else {
            self.accepted = kept;
        }
        if self.changed {
            if self.accepted.is_empty() {
                remove(&self.path)?;
            } else {
                write(&self.path, &self.accepted.text(&cases.cases))?;
            }
        }
        match (manner, self.proposed.is_empty()) {
            (Manner::Refuse, _) => Ok(()),
            (_, true) if all => remove(&self.proposal),
            (_, true) => Ok(()),
            (_, false) => {
                // The whole file as it would be, so that a diff of the two files shows the change.
                let mut whole = self.accepted;
                for case in &cases.cases {
                    if let Some(entry) = self.proposed.get(&case.name) {
                        whole.set(&case.name, entry);
                    }
                }
                write(&self.proposal, &whole.text(&cases.cases))
            }
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Stop> {
    std::fs::write(path, text)
        .map_err(|why| Stop::told(format!("cannot write `{}`: {why}", path.display())))
}

fn remove(path: &Path) -> Result<(), Stop> {
    match std::fs::remove_file(path) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(Stop::told(format!(
            "cannot remove `{}`: {why}",
            path.display()
        ))),
        _ => Ok(()),
    }
}
