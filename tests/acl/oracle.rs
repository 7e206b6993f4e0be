//! Bash as the judge: random lines are run, and every program that was really started must have been found.
//!
//! Each line runs in an empty folder of its own, with a PATH that holds stubs only: a program writes its folder, name
//! and arguments to descriptor 9; a launcher does too, and then runs the real thing, under the same PATH. Names
//! are relative and standard input is empty, so that nothing else is touched.
//!
//! `ACL_ORACLE_SECONDS=3600 cargo test --test acl oracle -- --nocapture` runs for an hour, from a random seed.
//! `ACL_ORACLE_SEED=n` takes that seed; `ACL_ORACLE_LINE='…'` runs and prints one line.

#![allow(
    clippy::print_stdout,
    reason = "by hand, what is found is wanted as it is found"
)]

use crate::disk;
use crate::lines::{Lines, PROGRAMS};
use acl::call::Call;
use acl::call::access::{Access, Kind, Mode};
use acl::call::files::FileView;
use acl::call::path::normal;
use acl::call::shell::{Scene, accesses};
use acl::call::word::{Piece, Word};
use acl::decision::decide;
use acl::matcher::Matcher;
use acl::policy::rule::Verdict;
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const LINES: usize = 400;
const SEED: u64 = 20_250_601;
/// Lines of one bash.
const BATCH: usize = 100;
/// How long a line may take before its bash is killed.
const PATIENCE: Duration = Duration::from_secs(10);
/// Levels above the folder of a line, for its `cd ..`.
const ABOVE: &str = "1/2/3/4/5/6/7/8/9";

/// Reads lines that end with NUL, runs each, and prints what its programs wrote to descriptor 9. That all of
/// them have ended is seen by that descriptor's end.
const DRIVER: &str = r#"
command_not_found_handle() { printf '%s\037' "$PWD" "${@//$'\n'/$'\034'}" $'\036' >&9; return 127; }
export -f command_not_found_handle
unset OLDPWD
while IFS= read -r -d '' __line <&8; do
    IFS= read -r -d '' __at <&8
    builtin cd "$__at"
    unset OLDPWD
    __out=$( { eval "$__line"; } 9>&1 >/dev/null 2>&1 </dev/null 8<&- )
    printf '%s\035' "$__out"
done
"#;

const RECORD: &str = r#"command printf '%s\037' "$PWD" "${0##*/}" "$@" "$(printf '\036')" >&9"#;

/// In bash, which writes line by line: a newline would let others write in between.
const RECORD_LINES: &str =
    r#"builtin printf '%s\037' "$PWD" "${0##*/}" "${@//$'\n'/$'\034'}" $'\036' >&9"#;

/// Launchers and other programs that really run: what stands behind the recording.
fn stubs() -> Vec<(&'static str, String)> {
    let mut all: Vec<(&str, String)> = PROGRAMS.iter().map(|name| (*name, String::new())).collect();
    // Words of the generator that may come to stand where a program does.
    all.extend(["a", "b", "c", "f1", "f", "g", "q", "-x", "7"].map(|name| (name, String::new())));
    for name in [
        "env", "nohup", "timeout", "nice", "stdbuf", "setsid", "xargs", "find", "ionice",
        "setarch", "cat", "tee", "echo", "printf", "true", "false", "test",
    ] {
        if let Some(real) = real(name) {
            all.push((name, format!("command exec {real} \"$@\"")));
        }
    }
    let shell = |name: &str| {
        // A function that is exported and starts a shell that calls it would never end.
        format!(
            "[ \"${{SHLVL:-0}}\" -lt 6 ] || exit\ncommand exec -a {name} {} \"$@\"",
            real("bash").unwrap()
        )
    };
    all.push(("bash", shell("bash")));
    all.push(("sh", shell("sh")));
    all.push((
        "sudo",
        "while :; do case $1 in -u) shift 2;; --) shift; break;; -*) shift;; *=*) export \"$1\"; shift;; *) break;; esac; done\n\
         [ $# = 0 ] || command exec \"$@\""
            .to_owned(),
    ));
    all.push((
        "busybox",
        "case $1 in sh|env|nice|nohup|timeout|xargs|find|cat|rm|setsid|tee|echo) command exec \"$@\";; esac".to_owned(),
    ));
    all
}

fn real(name: &str) -> Option<String> {
    ["/usr/bin", "/bin"]
        .iter()
        .map(|folder| format!("{folder}/{name}"))
        .find(|path| Path::new(path).exists())
}

/// Whether there is a bash that the analysis speaks of.
pub fn has_bash() -> bool {
    let version = Command::new("bash")
        .args(["--norc", "-c", "echo ${BASH_VERSINFO[0]}"])
        .output();
    let fit = version.is_ok_and(|out| {
        String::from_utf8_lossy(&out.stdout)
            .trim()
            .parse()
            .is_ok_and(|major: u32| major >= 5)
    });
    if !fit {
        println!("no bash of version 5 or newer: nothing to compare with");
    }
    fit
}

/// How long to look, and from where.
#[derive(Clone, Copy)]
pub struct By {
    pub seed: u64,
    /// `ACL_ORACLE_SECONDS` are given.
    pub hand: bool,
    start: Instant,
    time: Duration,
}

impl By {
    /// What the environment says, else this seed.
    pub fn hand(seed: u64) -> Self {
        let number = |name: &str| {
            std::env::var(name)
                .ok()
                .map(|text| text.parse::<u64>().unwrap())
        };
        let seconds = number("ACL_ORACLE_SECONDS");
        let now = || {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.unwrap().as_nanos() as u64
        };
        let seed = match (number("ACL_ORACLE_SEED"), seconds) {
            (Some(seed), _) => seed,
            (None, Some(_)) => now(),
            (None, None) => seed,
        };
        Self {
            seed,
            hand: seconds.is_some(),
            start: Instant::now(),
            time: Duration::from_secs(seconds.unwrap_or_default()),
        }
    }

    /// Whether there is more to look at after so many.
    pub fn more(&self, seen: usize, enough: usize) -> bool {
        match self.hand {
            true => self.start.elapsed() < self.time,
            false => seen < enough,
        }
    }
}

/// A program that was started.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Started {
    folder: String,
    words: Vec<String>,
}

/// What a line did.
#[derive(Debug)]
struct Run {
    line: String,
    /// Where it ran.
    folder: String,
    started: BTreeSet<Started>,
    /// Files that it made, absolute.
    made: Vec<String>,
    /// It did not come to an end.
    hung: bool,
}

/// A folder to run lines in, removed at the end.
struct Ground(PathBuf);

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Ground {
    fn new(name: &str) -> Self {
        let base = std::env::temp_dir().canonicalize().unwrap();
        let root = base.join(format!("acl-oracle-{}-{name}", std::process::id()));
        std::fs::create_dir_all(root.join("stubs")).unwrap();
        std::fs::create_dir_all(root.join("home")).unwrap();
        for (name, rest) in stubs() {
            let path = root.join("stubs").join(name);
            // What goes on is bash, which hands exported functions down.
            let (interpreter, record) = match rest.is_empty() {
                true => ("/bin/sh".to_owned(), RECORD),
                false => (real("bash").unwrap(), RECORD_LINES),
            };
            std::fs::write(&path, format!("#!{interpreter}\n{record}\n{rest}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(root)
    }

    fn home(&self) -> String {
        self.0.join("home").to_str().unwrap().to_owned()
    }

    fn run(&self, lines: &[String]) -> Vec<Run> {
        let mut runs = Vec::new();
        while runs.len() < lines.len() {
            self.run_some(&lines[runs.len()..], &mut runs);
        }
        runs
    }

    /// Runs lines until the end or the first that hangs.
    fn run_some(&self, lines: &[String], runs: &mut Vec<Run>) {
        let root = self.0.join("lines");
        let _ = std::fs::remove_dir_all(&root);
        let folder = |index: usize| root.join(index.to_string()).join(ABOVE).join("w");
        let mut text = String::new();
        for (index, line) in lines.iter().enumerate() {
            std::fs::create_dir_all(folder(index).join("d")).unwrap();
            std::fs::write(folder(index).join("f1"), "").unwrap();
            std::fs::write(folder(index).join("d/f2"), "").unwrap();
            text.push_str(&format!("{line}\0{}\0", folder(index).to_str().unwrap()));
        }
        let script = self.0.join("driver");
        let input = self.0.join("input");
        std::fs::write(&script, DRIVER).unwrap();
        std::fs::write(&input, text).unwrap();
        let mut bash = Command::new(real("bash").unwrap())
            .args(["--norc", "--noprofile", "-c", ". ../driver 8<../input"])
            .env_clear()
            .env("PATH", self.0.join("stubs"))
            .env("HOME", self.home())
            .env("FUNCNEST", "5")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.0.join("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let mut out = BufReader::new(bash.stdout.take().unwrap());
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let mut record = Vec::new();
            while out.read_until(0o35, &mut record).is_ok_and(|read| read > 0) {
                let _ = send.send(String::from_utf8_lossy(&record).into_owned());
                record.clear();
            }
        });
        for (index, line) in lines.iter().enumerate() {
            let record = receive.recv_timeout(PATIENCE);
            let hung = record.is_err();
            let record = record.unwrap_or_default();
            let folder = folder(index);
            let mut made = Vec::new();
            new_files(&root.join(index.to_string()), &folder, &mut made);
            runs.push(Run {
                line: line.clone(),
                folder: folder.to_str().unwrap().to_owned(),
                started: started(&record),
                made,
                hung,
            });
            if hung {
                break;
            }
        }
        let _ = Command::new("kill")
            .args(["-9", "--", &format!("-{}", bash.id())])
            .stderr(Stdio::null())
            .status();
        let _ = bash.wait();
    }
}

fn started(record: &str) -> BTreeSet<Started> {
    let mut all = BTreeSet::new();
    let mut words: Vec<String> = Vec::new();
    for word in record.split('\u{1f}') {
        if word == "\u{1e}" {
            let mut own = std::mem::take(&mut words).into_iter();
            let folder = own.next().unwrap_or_default();
            all.insert(Started {
                folder,
                words: own.collect(),
            });
        } else {
            words.push(word.replace('\u{1c}', "\n"));
        }
    }
    all
}

/// Files below a folder that were not there at first.
fn new_files(at: &Path, folder: &Path, made: &mut Vec<String>) {
    for entry in std::fs::read_dir(at).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            new_files(&path, folder, made);
        } else if path != folder.join("f1") && path != folder.join("d/f2") {
            made.push(path.to_string_lossy().into_owned());
        }
    }
}

/// Whether a word may be this text.
fn word_may(pieces: &[Piece], text: &str) -> bool {
    let Some((first, rest)) = pieces.split_first() else {
        return text.is_empty();
    };
    let ends = || text.char_indices().map(|(at, _)| at).chain([text.len()]);
    match first {
        Piece::Text(own) => {
            text.strip_prefix(own.as_str()).is_some_and(|text| word_may(rest, text))
                // `find x` names `x` itself as well.
                || matches!(rest, [Piece::Below(_)]) && own.strip_suffix('/') == Some(text)
        }
        Piece::One => text
            .chars()
            .next()
            .is_some_and(|char| word_may(rest, &text[char.len_utf8()..])),
        Piece::Class(own) => {
            text.strip_prefix(own.as_str())
                .is_some_and(|text| word_may(rest, text))
                || text
                    .chars()
                    .next()
                    .is_some_and(|char| word_may(rest, &text[char.len_utf8()..]))
        }
        Piece::Digits | Piece::Hash => ends()
            .filter(|at| *at > 0 && text[..*at].bytes().all(|byte| byte.is_ascii_hexdigit()))
            .any(|at| word_may(rest, &text[at..])),
        Piece::Number => ends()
            .filter(|at| {
                text[..*at]
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'-')
            })
            .any(|at| word_may(rest, &text[at..])),
        Piece::Star | Piece::Below(_) | Piece::Unknown(_) => {
            ends().any(|at| word_may(rest, &text[at..]))
        }
    }
}

/// Whether words may be these: an expansion that splits is any number of them, a glob at least one.
fn words_may(words: &[Word], texts: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return texts.is_empty();
    };
    if first.splits {
        return (0..=texts.len()).any(|count| words_may(rest, &texts[count..]));
    }
    let glob = first.pieces.iter().any(|piece| {
        matches!(
            piece,
            Piece::Star | Piece::One | Piece::Class(_) | Piece::Below(_)
        )
    }) || *first.pieces == [Piece::Unknown("{}".into())];
    let most = if glob {
        texts.len()
    } else {
        texts.len().min(1)
    };
    (1..=most)
        .take_while(|count| word_may(&first.pieces, &texts[count - 1]))
        .any(|count| words_may(rest, &texts[count..]))
}

/// Judges runs; keeps the policies it has made.
#[derive(Default)]
struct Judge {
    matchers: HashMap<String, Matcher>,
    /// Lines that were understood to the end.
    clear: usize,
    /// Programs that were started.
    started: usize,
}

impl Judge {
    /// What the analysis missed of a run.
    fn missed(&mut self, run: &Run, home: &str) -> Vec<String> {
        let scene = Scene {
            cwd: Some(run.folder.clone()),
            home: Some(home.to_owned()),
            ..Scene::default()
        };
        let found = accesses(&run.line, &scene);
        let opaque = found
            .iter()
            .any(|access| matches!(access.kind, Kind::Opaque(_)));
        self.clear += usize::from(!opaque);
        let folders = found.iter().filter_map(|access| match &access.kind {
            Kind::Command(command) => command.cwd.as_ref(),
            Kind::Path(path) => path.cwd.as_ref(),
            _ => None,
        });
        let folders: BTreeSet<String> = folders
            .map(|folder| normal(folder))
            .chain([run.folder.clone()])
            .collect();
        let mut missed = Vec::new();
        for started in run.started.iter().filter(|started| !passed(started)) {
            self.started += 1;
            let (Some(program), first) = (started.words.first(), started.words.get(1)) else {
                continue;
            };
            if !opaque && !found.iter().any(|access| runs(access, started, &folders)) {
                missed.push(format!(
                    "not found: {:?} in {}",
                    started.words, started.folder
                ));
            }
            let name = |word: &str| {
                !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
            };
            if name(program) {
                if self.allowed(program, run) {
                    missed.push(format!(
                        "allowed in spite of deny {program:?}: {:?}",
                        started.words
                    ));
                }
                if let Some(first) = first.filter(|first| name(first)) {
                    // A launcher's first word may be one that does not count.
                    let deny = format!("{program} {first}");
                    if PROGRAMS.contains(&program.as_str()) && self.allowed(&deny, run) {
                        missed.push(format!(
                            "allowed in spite of deny {deny:?}: {:?}",
                            started.words
                        ));
                    }
                }
            }
        }
        for file in &run.made {
            if !opaque && !found.iter().any(|access| writes(access, file)) {
                missed.push(format!("not written: {file}"));
            }
        }
        missed
    }

    fn allowed(&mut self, deny: &str, run: &Run) -> bool {
        let matcher = self.matchers.entry(deny.to_owned()).or_insert_with(|| {
            let policy = format!(
                "version = 1\n[tiers]\nallow = [\"bash\"]\n[commands]\ndeny = [{deny:?}]\n"
            );
            disk::compile("policy.toml", &policy)
        });
        let mut call = Call::new("bash", serde_json::json!({"command": run.line}));
        call.cwd = Some(run.folder.clone());
        decide(matcher, &call, &FileView::None).action == Verdict::Allow
    }
}

/// What is run and of no concern.
fn passed(started: &Started) -> bool {
    match started.words.first().map(String::as_str) {
        // `xargs` without a command prints what it reads.
        Some("echo") => true,
        // bash 5.2 reads a `coproc` within `"$(…)"` as one with a name, and then runs that name.
        Some("COPROC") => true,
        // A keyword in bash, a program in its posix mode: what it starts is found.
        Some("time") => true,
        _ => false,
    }
}

fn runs(access: &Access, started: &Started, folders: &BTreeSet<String>) -> bool {
    let Kind::Command(command) = &access.kind else {
        return false;
    };
    words_may(&command.words, &started.words)
        && command
            .cwd
            .as_ref()
            // Where a `cd` may fail the command names the folder it would lead to; its paths are judged in all.
            .is_none_or(|cwd| normal(cwd) == started.folder || folders.contains(&started.folder))
}

fn writes(access: &Access, file: &str) -> bool {
    let Kind::Path(path) = &access.kind else {
        return false;
    };
    if path.mode != Mode::Write {
        return false;
    }
    let Some(text) = path.path.text() else {
        return true;
    };
    match &path.cwd {
        Some(cwd) if !text.starts_with('/') => normal(&format!("{cwd}/{text}")) == file,
        _ => file.rsplit('/').next() == text.rsplit('/').next(),
    }
}

/// A line with what was run and found, as a person reads it.
fn told(run: &Run, home: &str) -> String {
    let short = |text: &str| text.replace(&run.folder, "/w").replace(home, "~");
    let mut out = format!(
        "  line: {}\n        {:?}\n",
        run.line.replace('\n', "\n        "),
        run.line
    );
    for started in &run.started {
        out.push_str(&format!(
            "  ran in {}: {:?}\n",
            short(&started.folder),
            started.words
        ));
    }
    for file in &run.made {
        out.push_str(&format!("  made {}\n", short(file)));
    }
    let scene = Scene {
        cwd: Some("/w".into()),
        home: Some("/home/dev".into()),
        ..Scene::default()
    };
    for access in accesses(&run.line, &scene) {
        out.push_str(&format!(
            "  found {}\n",
            crate::shell::shown(&access, &run.line)
        ));
    }
    out
}

/// Runs lines of a seed, and tells what was missed.
fn examine(seed: u64, count: usize, ground: &Ground, judge: &mut Judge) -> (usize, Vec<String>) {
    let mut lines = Lines::new(seed);
    let lines: Vec<String> = (0..count).map(|_| lines.line()).collect();
    let home = ground.home();
    let (mut hung, mut wrong) = (0, Vec::new());
    for (index, run) in ground.run(&lines).iter().enumerate() {
        hung += usize::from(run.hung);
        let missed = judge.missed(run, &home);
        if !missed.is_empty() {
            let missed = missed.join("\n  ").replace(&run.folder, "/w");
            wrong.push(format!(
                "seed {seed}, line {index}\n  {missed}\n{}",
                told(run, &home)
            ));
        }
    }
    (hung, wrong)
}

#[test]
fn every_program_that_runs_is_found() {
    if !has_bash() {
        return;
    }
    if let Ok(line) = std::env::var("ACL_ORACLE_LINE") {
        let ground = Ground::new("line");
        for run in ground.run(&[line]) {
            let missed = Judge::default().missed(&run, &ground.home());
            println!("{}{}", told(&run, &ground.home()), missed.join("\n"));
        }
        return;
    }
    let by = By::hand(SEED);
    let workers: Vec<_> = (0..2_u64)
        .map(|worker| {
            std::thread::spawn(move || {
                let ground = Ground::new(&worker.to_string());
                let mut judge = Judge::default();
                let (mut seen, mut hung, mut wrong) = (0, 0, Vec::new());
                let mut seed = by.seed.wrapping_add(worker << 32);
                while by.more(seen, LINES / 2) {
                    let (stuck, missed) = examine(seed, BATCH, &ground, &mut judge);
                    seen += BATCH;
                    hung += stuck;
                    if by.hand {
                        for missed in &missed {
                            println!("{missed}");
                        }
                        let _ = std::io::stdout().flush();
                    }
                    wrong.extend(missed);
                    seed += 1;
                }
                (seen, hung, wrong, judge.clear, judge.started)
            })
        })
        .collect();
    let (mut seen, mut hung, mut wrong, mut clear, mut started) = (0, 0, Vec::new(), 0, 0);
    for worker in workers {
        let own = worker.join().unwrap();
        seen += own.0;
        hung += own.1;
        wrong.extend(own.2);
        clear += own.3;
        started += own.4;
    }
    println!(
        "seed {}: {seen} lines, {started} programs started, {clear} lines clear, {hung} hung, {:?}",
        by.seed,
        by.start.elapsed()
    );
    assert!(
        wrong.is_empty(),
        "{} of {seen}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(hung * 100 <= seen, "{hung} of {seen} lines hung");
    assert!(
        clear * 5 >= seen,
        "only {clear} of {seen} lines are understood to the end"
    );
    assert!(
        started >= seen,
        "only {started} programs were started by {seen} lines"
    );
}
