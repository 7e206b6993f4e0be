//! Gateways that are killed at random moments: nothing is lost, and nothing runs twice without a person's second word.
//!
//! A gateway is a process of its own: this test program, started for its test [`child`]. Hosts and people live here and
//! outlive it; they speak to it in lines of JSON. Its tools write a line into a file, as it runs them. `ACL_CRASH_HISTORIES` histories
//! (20) on each store; `ACL_CRASH_SEED` begins with another.

use crate::stores::kinds;
use crate::support::{call, matcher, submission};
use acl::session::gateway::runner::{Boxed, Orphan, ToolRunner, Unrun};
use acl::session::gateway::wire::{Basis, Path, Remember, Terminal};
use acl::session::gateway::{Fault, Gateway, Options, Submitted, Word, open};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const POLICY: &str = "version = 1\n[tiers]\nask = [\"t\"]\nallow = [\"u\"]\ndeny = [\"v\"]\n";
const CALLS: usize = 8;

// The gateway that is killed.

/// Runs a tool by writing a line, and taking its time.
#[derive(Debug)]
struct Journal(String);

impl Journal {
    fn line(&self, line: &str) {
        let file = OpenOptions::new().append(true).create(true).open(&self.0);
        // One write: it is there whole, or not at all.
        file.unwrap()
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }
}

impl ToolRunner for Journal {
    fn run<'a>(&'a self, orphan: &'a Orphan) -> Boxed<'a, Result<String, Unrun>> {
        Box::pin(async {
            let id = orphan.call.id.clone().unwrap();
            self.line(&format!("run {id} {}", orphan.attempt));
            tokio::time::sleep(Duration::from_millis(40)).await;
            Ok("done".into())
        })
    }

    fn resume<'a>(
        &'a self,
        orphan: &'a Orphan,
        end: &'a Terminal,
    ) -> Boxed<'a, Result<(), String>> {
        Box::pin(async {
            let id = orphan.call.id.clone().unwrap();
            self.line(&format!(
                "resume {id} {}",
                serde_json::to_string(end).unwrap()
            ));
            Ok(())
        })
    }
}

/// The gateway: a line of JSON in, a line of JSON out, on the standard error, which the test runner leaves alone.
#[test]
#[ignore = "is started by `killed`"]
fn child() {
    let Ok(address) = std::env::var("ACL_CRASH_STORE") else {
        return;
    };
    let journal = std::env::var("ACL_CRASH_JOURNAL").unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let gateway = runtime.block_on(async {
        let store = open(&address).await.unwrap();
        let options = Options {
            lease: Duration::from_millis(300),
            ..Options::default()
        };
        let gateway = Gateway::new(store, matcher(POLICY), options);
        gateway.bind(Arc::new(Journal(journal)));
        gateway.recover().await.unwrap();
        gateway
    });
    for line in std::io::stdin().lines() {
        let Ok(line) = line else { return };
        let gateway = gateway.clone();
        runtime.spawn(async move {
            let asked: Value = serde_json::from_str(&line).unwrap();
            let said = answer(&gateway, &asked).await;
            let said = json!({"n": asked["n"], "said": said});
            std::io::stderr()
                .write_all(format!("{said}\n").as_bytes())
                .unwrap();
        });
    }
}

async fn answer(gateway: &Gateway, asked: &Value) -> Value {
    let text = |name: &str| asked[name].as_str().unwrap_or_default();
    let (session, id) = (text("session"), text("id"));
    let became = |became: Result<Submitted, Fault>| match became {
        Ok(became) => serde_json::to_value(became).unwrap(),
        Err(why) => json!({"fault": format!("{why:?}")}),
    };
    match text("do") {
        "submit" => became(
            gateway
                .submit(submission(call(session, id, text("tool"), json!({}))))
                .await,
        ),
        "wait" => became(gateway.wait(session, id, Duration::from_millis(150)).await),
        "look" => became(gateway.look(session, id).await),
        "cancel" => became(gateway.cancel(session, id).await.map(Submitted::Settled)),
        "decide" => {
            let word = Word {
                approved: asked["approved"] == true,
                remember: Remember::None,
                by: None,
            };
            match gateway.decide(session, id, word).await {
                Ok(path) => json!({"path": path}),
                Err(why) => json!({"fault": format!("{why:?}")}),
            }
        }
        _ => match gateway
            .pending(None, usize::MAX)
            .await
            .map(|(listed, _)| listed)
        {
            Ok(listed) => {
                let ids = listed.iter().map(|one| {
                    json!([
                        one.confirmation.session_id,
                        one.confirmation.confirmation_id
                    ])
                });
                ids.collect()
            }
            Err(why) => json!({"fault": format!("{why:?}")}),
        },
    }
}

// Who is left.

/// Small, and the same again from the same seed.
#[derive(Clone, Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % sides
    }

    fn sleep(&mut self, most: u64) {
        thread::sleep(Duration::from_millis(self.roll(most)));
    }
}

type Waiting = Arc<Mutex<Option<BTreeMap<u64, mpsc::Sender<Value>>>>>;

/// A gateway that lives.
#[derive(Debug)]
struct Process {
    child: Child,
    stdin: ChildStdin,
    /// Who waits for an answer; none once it is dead.
    waiting: Waiting,
}

impl Process {
    fn start(address: &str, journal: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "crash::child", "--nocapture"])
            .env("ACL_CRASH_STORE", address)
            .env("ACL_CRASH_JOURNAL", journal)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let waiting: Waiting = Arc::new(Mutex::new(Some(BTreeMap::new())));
        let (told, heard) = (Arc::clone(&waiting), child.stderr.take().unwrap());
        thread::spawn(move || {
            for line in BufReader::new(heard).lines().map_while(Result::ok) {
                let Ok(said) = serde_json::from_str::<Value>(&line) else {
                    eprintln!("the gateway says: {line}");
                    continue;
                };
                let mut told = told.lock().unwrap();
                let asker = told
                    .as_mut()
                    .and_then(|all| all.remove(&said["n"].as_u64()?));
                if let Some(asker) = asker {
                    let _ = asker.send(said["said"].clone());
                }
            }
            // Whoever waits hears that nothing comes any more.
            told.lock().unwrap().take();
        });
        let stdin = child.stdin.take().unwrap();
        Self {
            child,
            stdin,
            waiting,
        }
    }
}

/// The line to whichever gateway lives.
#[derive(Debug)]
struct Line {
    process: Mutex<Process>,
    count: AtomicU64,
    done: AtomicBool,
}

impl Line {
    /// Asks; none: it died before it answered, and may or may not have done it.
    fn once(&self, mut asked: Value) -> Option<Value> {
        let n = self.count.fetch_add(1, Ordering::SeqCst);
        asked["n"] = n.into();
        let (sender, receiver) = mpsc::channel();
        {
            let mut process = self.process.lock().unwrap();
            process.waiting.lock().unwrap().as_mut()?.insert(n, sender);
            process
                .stdin
                .write_all(format!("{asked}\n").as_bytes())
                .ok()?;
        }
        receiver.recv().ok()
    }

    /// Asks until one answers.
    fn surely(&self, asked: &Value) -> Value {
        let started = Instant::now();
        loop {
            if let Some(said) = self.once(asked.clone()) {
                return said;
            }
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "nobody answers {asked}"
            );
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Kills it, and starts another.
    fn kill(&self, address: &str, journal: &str) {
        let mut process = self.process.lock().unwrap();
        process.child.kill().unwrap();
        process.child.wait().unwrap();
        *process = Process::start(address, journal);
    }
}

/// What a host did and heard.
#[derive(Debug, Default)]
struct Host {
    ends: Vec<Terminal>,
    runs: usize,
    /// It went away while it waited.
    left: bool,
    cancelled: bool,
    wrong: Option<String>,
}

fn of(id: usize) -> (&'static str, String) {
    (["s0", "s1", "s2"][id % 3], format!("c{id}"))
}

fn host(line: &Line, id: usize, mut dice: Dice) -> Host {
    let mut host = Host::default();
    let (session, name) = of(id);
    let tool = match id {
        6 => "u",
        7 => "v",
        _ => "t",
    };
    dice.sleep(60);
    let mut asked = json!({"do": "submit", "session": session, "id": name, "tool": tool});
    loop {
        let said = line.surely(&asked);
        match serde_json::from_value::<Submitted>(said.clone()) {
            Ok(Submitted::Settled(end)) => {
                // Twice is not asked for here: whoever repeats a question after a crash is told what became of it.
                host.runs += usize::from(end.to_run() && host.ends.is_empty());
                host.ends.push(end);
                return host;
            }
            Ok(Submitted::Pending(_)) => {}
            Err(_) => {
                host.wrong = Some(said.to_string());
                return host;
            }
        }
        match dice.roll(10) {
            0..3 => {
                host.left = true;
                return host;
            }
            3 if !host.cancelled => {
                host.cancelled = true;
                asked = json!({"do": "cancel", "session": session, "id": name});
                // A recovery that is under way cannot be cancelled: it waits for it, then.
                let said = line.surely(&asked);
                if let Ok(Submitted::Settled(end)) = serde_json::from_value(said) {
                    host.runs += usize::from(end.to_run());
                    host.ends.push(end);
                    return host;
                }
            }
            _ => {}
        }
        asked = json!({"do": "wait", "session": session, "id": name});
    }
}

/// Each word that counted, or may have: the gateway died before it said so.
type Words = Mutex<Vec<(String, bool)>>;

fn person(line: &Line, words: &Words, mut dice: Dice) {
    while !line.done.load(Ordering::SeqCst) {
        dice.sleep(25);
        let Some(Value::Array(listed)) = line.once(json!({"do": "pending"})) else {
            continue;
        };
        if listed.is_empty() {
            continue;
        }
        let at = usize::try_from(dice.roll(listed.len() as u64)).unwrap();
        let approved = dice.roll(4) > 0;
        let (session, id) = (&listed[at][0], &listed[at][1]);
        let word = json!({"do": "decide", "session": session, "id": id, "approved": approved});
        let said = line.once(word);
        if said.is_none_or(|said| said.get("path").is_some()) {
            let id = id.as_str().unwrap().to_owned();
            words.lock().unwrap().push((id, approved));
        }
    }
}

#[derive(Debug, Default)]
struct Tally {
    kills: usize,
    live: usize,
    recovered: usize,
    asked_twice: usize,
}

fn history(address: &str, journal: &str, seed: u64) -> Result<Tally, String> {
    let mut dice = Dice(seed);
    let line = Line {
        process: Mutex::new(Process::start(address, journal)),
        count: AtomicU64::new(1),
        done: AtomicBool::new(false),
    };
    let words: Words = Mutex::default();
    let kills = usize::try_from(2 + dice.roll(4)).unwrap();
    let hosts: Vec<Host> = thread::scope(|scope| {
        let hosts: Vec<_> = (0..CALLS)
            .map(|id| {
                let dice = Dice(seed.wrapping_mul(31).wrapping_add(id as u64));
                scope.spawn({
                    let line = &line;
                    move || host(line, id, dice)
                })
            })
            .collect();
        for person in 0..2 {
            let dice = Dice(seed.wrapping_mul(37).wrapping_add(person));
            let (line, words) = (&line, &words);
            scope.spawn(move || self::person(line, words, dice));
        }
        for _ in 0..kills {
            // While it starts, or while it works.
            if dice.roll(4) > 0 {
                line.surely(&json!({"do": "pending"}));
            }
            dice.sleep(250);
            line.kill(address, journal);
        }
        // Everything comes to its end now.
        let hosts: Vec<Host> = hosts.into_iter().map(|host| host.join().unwrap()).collect();
        let started = Instant::now();
        let open = |id: usize| {
            let (session, name) = of(id);
            let said = line.surely(&json!({"do": "look", "session": session, "id": name}));
            said["state"] == "pending"
        };
        while (0..CALLS).any(open) && started.elapsed() < Duration::from_secs(30) {
            thread::sleep(Duration::from_millis(20));
        }
        // A continuation starts after the end is stored; one that was interrupted, after a lease.
        thread::sleep(Duration::from_millis(1000));
        line.done.store(true, Ordering::SeqCst);
        hosts
    });
    let ran = std::fs::read_to_string(journal).unwrap_or_default();
    let mut tally = Tally {
        kills,
        ..Tally::default()
    };
    let mut attempts = std::collections::BTreeSet::new();
    for run in ran.lines().filter(|line| line.starts_with("run ")) {
        if !attempts.insert(run) {
            return Err(format!("one word ran it twice: {run}"));
        }
    }
    for (id, host) in hosts.iter().enumerate() {
        let (session, name) = of(id);
        let said = line.surely(&json!({"do": "look", "session": session, "id": name}));
        let Ok(Submitted::Settled(end)) = serde_json::from_value::<Submitted>(said.clone()) else {
            return Err(format!("{name} has no end: {said}; {host:?}"));
        };
        let lines = |what: &str| ran.lines().filter(|line| line.starts_with(what)).count();
        let runs = lines(&format!("run {name} "));
        let resumed = lines(&format!("resume {name} "));
        let words = words.lock().unwrap();
        let said = |yes: bool| {
            words
                .iter()
                .filter(|word| **word == (name.clone(), yes))
                .count()
        };
        let wrong = |what: &str| {
            Err(format!(
                "{name}: {what}: {end:?}; {runs} runs, {} by its host, {} yes, {} no, {resumed} continuations; {host:?}",
                host.runs,
                said(true),
                said(false)
            ))
        };
        if host.wrong.is_some() {
            return wrong("its host was not understood");
        }
        for other in &host.ends {
            let same = Terminal {
                basis: end.basis,
                ..other.clone()
            };
            if same != end || (other.basis != end.basis && other.basis != Basis::Duplicate) {
                return wrong("it had two ends");
            }
        }
        let asked = !matches!(id, 6 | 7);
        if asked && runs + host.runs > said(true) {
            return wrong("it ran more often than somebody said yes");
        }
        tally.asked_twice += usize::from(runs + host.runs > 1);
        match end.path {
            Some(Path::Recovery) => {
                tally.recovered += 1;
                if end.allowed && runs == 0 {
                    return wrong("it was approved and did not run");
                }
                if resumed == 0 {
                    return wrong("no continuation");
                }
            }
            Some(Path::Live) => {
                tally.live += 1;
                if host.left || host.ends.is_empty() {
                    return wrong("its run was gone");
                }
                if end.allowed && host.runs != 1 {
                    return wrong("it was approved and did not run");
                }
            }
            None => {}
        }
        if resumed > 0 && end.path != Some(Path::Recovery) {
            return wrong("a continuation");
        }
        let fits = match (id, end.basis) {
            (6, Basis::Tier) => end.allowed && host.runs == 1,
            (7, Basis::Tier) => !end.allowed,
            (0..6, Basis::Approval) => end.allowed && said(true) > 0,
            (0..6, Basis::Refusal) => !end.allowed && said(false) > 0,
            (0..6, Basis::Canceled) => !end.allowed && host.cancelled,
            _ => false,
        };
        if !fits {
            return wrong("it does not fit what was said");
        }
    }
    let mut process = line.process.into_inner().unwrap();
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    Ok(tally)
}

fn number(name: &str, usual: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn killed() {
    let (count, first) = (
        number("ACL_CRASH_HISTORIES", 20),
        number("ACL_CRASH_SEED", 1),
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for kind in kinds() {
        let next = AtomicU64::new(first);
        let (sum, wrong) = (Mutex::new(Tally::default()), Mutex::new(Vec::new()));
        let lived = AtomicUsize::new(0);
        // Mostly they wait for leases.
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::SeqCst);
                        if seed >= first + count {
                            return;
                        }
                        let place = runtime.block_on(kind.address());
                        let journal = std::env::temp_dir().join(format!(
                            "acl-crash-{}-{seed}-{}",
                            std::process::id(),
                            kind.name()
                        ));
                        let lived_one = history(&place.address, &journal.to_string_lossy(), seed);
                        match lived_one {
                            Ok(tally) => {
                                lived.fetch_add(1, Ordering::SeqCst);
                                let mut sum = sum.lock().unwrap();
                                sum.kills += tally.kills;
                                sum.live += tally.live;
                                sum.recovered += tally.recovered;
                                sum.asked_twice += tally.asked_twice;
                                let _ = std::fs::remove_file(&journal);
                                runtime.block_on(place.remove());
                            }
                            Err(why) => wrong.lock().unwrap().push(format!(
                                "seed {seed}: {why} ({}, {})",
                                place.address,
                                journal.display()
                            )),
                        }
                    }
                });
            }
        });
        let (sum, wrong) = (sum.into_inner().unwrap(), wrong.into_inner().unwrap());
        eprintln!(
            "{}: {} histories of {CALLS} calls, {} kills: {} decided live, {} recovered, {} run again on a second word",
            kind.name(),
            lived.into_inner(),
            sum.kills,
            sum.live,
            sum.recovered,
            sum.asked_twice
        );
        assert!(wrong.is_empty(), "{}: {}", kind.name(), wrong.join("\n"));
    }
}
