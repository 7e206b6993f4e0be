//! The audit log as a file: a line for each decision, by many processes at once.
//!
//! A line is one write at the end of the file, under a lock beside it; a line that a killed process left half written
//! stays as it is, and the next starts on a line of its own. A full file becomes `FILE.1`. What cannot be logged is told
//! and changes no decision.

use super::state::{Folder, clock, locked, private};
use super::{Stop, output};
use crate::call::Call;
use crate::decision::Decision;
use crate::explanation;
use crate::matcher::Matcher;
use crate::policy::audit::size;
use crate::policy::rule::Verdict;
use crate::policy::{self, Policy};
use crate::session::audit::Entry;
use crate::session::secrets::Secrets;
use clap::Args;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where and how decisions are logged.
#[derive(Clone, Debug, Default, Args)]
pub struct Audit {
    /// Log each decision to this file: a JSON object a line, secrets masked, for `acl log`; `default` is the log that
    /// the policy states under `[audit]`, else audit.jsonl in the user's state folder
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// How large the log may get before it becomes FILE.1 (default: what the policy states of its log, else 10M)
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "audit")]
    audit_size: Option<u64>,
    /// How many such older logs are kept (default: what the policy states of its log, else 5)
    #[arg(long, value_name = "N", requires = "audit")]
    audit_keep: Option<u32>,
    /// Mask more: PIN for the values of such names, acme_* for such words; `off` masks nothing (repeatable)
    #[arg(long, value_name = "WORD", requires = "audit")]
    audit_mask: Vec<String>,
}

impl Audit {
    /// To this file.
    pub fn to(file: String) -> Self {
        let audit = Some(file.into());
        Self {
            audit,
            ..Self::default()
        }
    }

    /// No file is named.
    pub const fn is_nowhere(&self) -> bool {
        self.audit.is_none()
    }
}

/// How each line of a log begins.
const LINE: &str = "{\"version\":";

/// How long to wait for another acl that writes.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a policy says of its log, and the file that says so: the most trusted layer's.
pub fn stated(policy: &Policy) -> Option<(&policy::Audit, &policy::File)> {
    let files = policy.layers.iter().flat_map(|layer| &layer.files);
    let mut stated = files.filter_map(|file| Some((&file.audit.as_ref()?.value, file)));
    stated.next()
}

/// Where a log lies that a policy names: what is not absolute and not in the home is below the state folder.
pub fn place(name: &str) -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    match name.strip_prefix("~/") {
        Some(below) => Some(home()?.join(below)),
        None if name.starts_with('/') => Some(PathBuf::from(name)),
        None => Some(Folder::own()?.file(name)),
    }
}

/// The same, to be written: then the state folder is there.
fn ready(name: &str) -> Option<PathBuf> {
    let below = !name.starts_with('/') && !name.starts_with("~/");
    if let Some(folder) = Folder::own().filter(|_| below) {
        // Where it cannot be made, the first line cannot be written, and that is told.
        let _ = folder.made();
    }
    place(name)
}

/// A log that is written to.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    size: u64,
    keep: u32,
    secrets: Secrets,
    policy: String,
}

/// What stands for the log that is not named.
const DEFAULT: &str = "default";

/// The log in a state folder.
pub const USUAL: &str = "audit.jsonl";

impl Audit {
    /// What is masked: more of it by the command line, and by the policy.
    pub fn secrets(&self, matcher: Option<&Matcher>) -> Result<Secrets, Stop> {
        let layers = matcher.iter().flat_map(|matcher| &matcher.policy.layers);
        let stated = layers
            .flat_map(|layer| &layer.files)
            .filter_map(|file| file.audit.as_ref());
        let more = stated.flat_map(|own| &own.value.mask);
        let more: Vec<String> = self.audit_mask.iter().chain(more).cloned().collect();
        Secrets::with(&more).map_err(|why| Stop::told(format!("`--audit-mask`: {why}")))
    }

    /// The log of what this policy decides, or of refusals without one, where a log is wanted.
    pub fn log(&self, matcher: Option<&Matcher>) -> Result<Option<Log>, Stop> {
        let stated = matcher.and_then(|matcher| stated(&matcher.policy));
        let named = self
            .audit
            .as_ref()
            .filter(|name| name.as_os_str() != DEFAULT);
        let stated = stated.map(|(own, _)| own).filter(|_| named.is_none());
        let path = match (named, stated) {
            (None, None) if self.audit.is_none() => return Ok(None),
            (None, None) => ready(USUAL),
            (Some(path), _) => Some(path.clone()),
            (None, Some(own)) => ready(own.file.as_deref().unwrap_or(USUAL)),
        };
        let Some(path) = path else {
            output::warn("decisions are not logged: there is no state folder, set `HOME`");
            return Ok(None);
        };
        Ok(Some(Log {
            path,
            size: self
                .audit_size
                .or(stated.and_then(|own| own.size))
                .unwrap_or(10 << 20),
            keep: self
                .audit_keep
                .or(stated.and_then(|own| own.keep))
                .unwrap_or(5),
            secrets: self.secrets(matcher)?,
            policy: matcher.map(explanation::policy).unwrap_or_default(),
        }))
    }
}

impl Log {
    /// Writes the line of a decision that took so long.
    pub fn write(&self, call: &Call, decision: &Decision, took: Duration) {
        self.write_answered(call, decision, took, decision.action);
    }

    /// The same, where something else was answered than was decided: an ask that reaches nobody is a deny.
    pub fn write_answered(
        &self,
        call: &Call,
        decision: &Decision,
        took: Duration,
        answered: Verdict,
    ) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let time = call.now.unwrap_or_else(clock);
        let entry = Entry::of(call, decision, &self.policy, &self.secrets, time, micros);
        self.put(&entry.answered(answered));
    }

    /// Writes the line of a call that no policy decided.
    pub fn write_undecided(&self, call: &Call, answered: Verdict, basis: &str, why: &str) {
        let time = call.now.unwrap_or_else(clock);
        self.put(&Entry::undecided(
            call,
            answered,
            basis,
            why,
            &self.secrets,
            time,
        ));
    }

    fn put(&self, entry: &Entry) {
        if let Err(why) = self.append(&entry.line()) {
            let path = self.path.display();
            output::warn(&format!("the decision was not logged to `{path}`: {why}"));
        }
    }

    fn append(&self, line: &str) -> std::io::Result<()> {
        // A named pipe would wait for a reader.
        if fs::metadata(&self.path).is_ok_and(|found| !found.is_file()) {
            return Err(std::io::Error::other("it is no regular file"));
        }
        let written = locked(&lock_of(&self.path), PATIENCE, || {
            self.rotate(line.len() as u64)?;
            add(&self.path, line)
        })?;
        // Somebody sleeps on the lock. An appended write is whole on its own.
        written.unwrap_or_else(|| add(&self.path, line))
    }

    /// Makes room for a line: `FILE` becomes `FILE.1`, `FILE.1` becomes `FILE.2`, and the last one goes.
    fn rotate(&self, more: u64) -> std::io::Result<()> {
        let full = fs::metadata(&self.path)
            .is_ok_and(|found| found.len() > 0 && found.len() + more > self.size);
        if !full {
            return Ok(());
        }
        be_log(&File::open(&self.path)?)?;
        let mut to = older(&self.path, self.keep);
        for number in (0..self.keep).rev() {
            let from = match number {
                0 => self.path.clone(),
                number => older(&self.path, number),
            };
            match fs::rename(&from, &to) {
                Err(why) if why.kind() != ErrorKind::NotFound => return Err(why),
                _ => to = from,
            }
        }
        match self.keep {
            0 => fs::remove_file(&self.path),
            _ => Ok(()),
        }
    }
}

/// A file is written to, or moved away, where it is empty or begins as a log does.
fn be_log(file: &File) -> std::io::Result<()> {
    let mut start = Vec::new();
    file.take(LINE.len() as u64).read_to_end(&mut start)?;
    match start.is_empty() || start == LINE.as_bytes() {
        true => Ok(()),
        false => Err(std::io::Error::other(
            "it is a file of another kind, and stays as it is",
        )),
    }
}

/// Adds a line, below what a killed process may have left.
fn add(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = private().read(true).append(true).create(true).open(path)?;
    be_log(&file)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    match last {
        [b'\n'] => file.write_all(line.as_bytes()),
        _ => file.write_all(format!("\n{line}").as_bytes()),
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn older(path: &Path, number: u32) -> PathBuf {
    beside(path, &format!(".{number}"))
}

fn lock_of(path: &Path) -> PathBuf {
    beside(path, ".lock")
}

/// The files of a log, the oldest first; opened at once, so that none is turned away meanwhile.
pub fn files(path: &Path) -> std::io::Result<Vec<(PathBuf, File)>> {
    let open = || {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let own = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
            + ".";
        let names = match fs::read_dir(folder) {
            Ok(names) => names.flatten().map(|entry| entry.file_name()),
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(why) => return Err(why),
        };
        let numbers = names.filter_map(|name| name.to_str()?.strip_prefix(&own)?.parse().ok());
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        let older = numbers.iter().rev().map(|number| older(path, *number));
        let mut files = Vec::new();
        for path in older.chain(std::iter::once(path.to_path_buf())) {
            match File::open(&path) {
                Ok(file) => files.push((path, file)),
                Err(why) if why.kind() == ErrorKind::NotFound => {}
                Err(why) => return Err(why),
            }
        }
        Ok(files)
    };
    // Who may only read the log has no lock to take.
    match fs::metadata(lock_of(path)) {
        Ok(_) => match locked(&lock_of(path), PATIENCE, open) {
            Ok(Some(files)) => files,
            _ => open(),
        },
        Err(_) => open(),
    }
}
