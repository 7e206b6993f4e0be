//! How much the gateway bears on loopback: calls that wait at once, then submissions at a fixed rate beside them.
//!
//! `cargo run --release --features gateway --example gateway-load -- target/release/acl [WAITING] [PER_SECOND] [SECONDS]`
//!
//! Starts a server of its own, on SQLite in a scratch folder. Times count from when a request was due, not from when it
//! could be sent: a server that falls behind shows. The limits of the issue are the defaults.

#![allow(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a measurement for developers; JSON values are not slices"
)]

use serde_json::{Value, json};
use std::io::BufRead;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How many connections carry the submissions.
const LINES: usize = 64;

/// What the p99 of an allow may be.
const LIMIT: Duration = Duration::from_millis(5);

/// A connection that is kept.
struct Line {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Line {
    async fn to(host: &str) -> Outcome<Self> {
        let stream = TcpStream::connect(host).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            host: host.to_owned(),
        })
    }

    async fn ask(
        &mut self,
        method: &str,
        path: &str,
        token: &str,
        body: &Value,
    ) -> Outcome<(u16, Value)> {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.host);
        if !token.is_empty() {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        let length = body.len();
        head +=
            &format!("Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
        self.stream.get_mut().write_all(head.as_bytes()).await?;
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).await?;
            let line = line.trim().to_lowercase();
            if let Some(rest) = line.strip_prefix("http/1.1 ") {
                status = rest.split(' ').next().unwrap_or_default().parse()?;
            } else if let Some(rest) = line.strip_prefix("content-length:") {
                length = rest.trim().parse()?;
            } else if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }
}

fn call(id: String, session: String, tool: &str) -> Value {
    json!({"id": id, "session": session, "tool": tool, "args": {"path": "src/main.rs", "text": "x".repeat(200)}})
}

/// So many calls wait, each with its run on the line; all are decided, and every run hears of it.
async fn waiting(host: &str, token: &str, count: usize) -> Outcome<()> {
    let started = Instant::now();
    let mut runs = Vec::new();
    for number in 0..count {
        let host = host.to_owned();
        runs.push(tokio::spawn(async move {
            let mut line = Line::to(&host).await?;
            let (id, session) = (format!("w{number}"), format!("s{}", number % 50));
            let path = format!("/v1/calls/{id}?session={session}&wait=60s");
            let (status, _) = line
                .ask("POST", "/v1/calls", "", &call(id, session, "asks"))
                .await?;
            if status != 202 {
                return Err(format!("a call that asks got {status}").into());
            }
            loop {
                let (status, end) = line.ask("GET", &path, "", &Value::Null).await?;
                match status {
                    200 => return Ok(end["allowed"] == true),
                    202 => {}
                    other => return Err(format!("a run that waits got {other}").into()),
                }
            }
        }));
    }
    let mut line = Line::to(host).await?;
    loop {
        let (_, list) = line
            .ask("GET", "/ack/confirmations?limit=0", token, &Value::Null)
            .await?;
        if list["total"] == count {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    println!("{count} calls wait at once after {:.2?}", started.elapsed());
    let listed = Instant::now();
    line.ask("GET", "/ack/confirmations?limit=100", token, &Value::Null)
        .await?;
    println!(
        "the page's list of 100 of them takes {:.2?}",
        listed.elapsed()
    );
    decide(&mut line, token, count).await?;
    let mut allowed = 0;
    for run in runs {
        let run: Outcome<bool> = run.await?;
        allowed += usize::from(run?);
    }
    println!("{allowed} of them were approved, and their runs heard of it");
    Ok(())
}

async fn decide(line: &mut Line, token: &str, count: usize) -> Outcome<()> {
    let started = Instant::now();
    for number in 0..count {
        let word = json!({"threadId": format!("s{}", number % 50), "confirmationId": format!("w{number}"), "approved": true});
        let (status, _) = line.ask("POST", "/ack/confirmation", token, &word).await?;
        if status != 200 {
            return Err(format!("a word got {status}").into());
        }
    }
    println!(
        "{count} words one after another take {:.2?}",
        started.elapsed()
    );
    Ok(())
}

/// Submissions of calls that pass, at a fixed rate; how long each took.
async fn rate(host: &str, per_second: usize, seconds: usize) -> Outcome<Vec<Duration>> {
    let next = Arc::new(AtomicUsize::new(0));
    let start = Instant::now() + Duration::from_millis(200);
    let total = per_second * seconds;
    let mut lines = Vec::new();
    for _ in 0..LINES {
        let (host, next) = (host.to_owned(), Arc::clone(&next));
        lines.push(tokio::spawn(async move {
            let mut line = Line::to(&host).await?;
            let mut took = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= total {
                    return Outcome::Ok(took);
                }
                let due = start
                    + Duration::from_secs(1) * u32::try_from(number)? / u32::try_from(per_second)?;
                sleep_until(due).await;
                let body = call(format!("r{number}"), format!("t{}", number % 20), "passes");
                let (status, end) = line.ask("POST", "/v1/calls", "", &body).await?;
                if status != 200 || end["allowed"] != true {
                    return Err(format!("a call that passes got {status}: {end}").into());
                }
                took.push(due.elapsed());
            }
        }));
    }
    let mut took = Vec::new();
    for line in lines {
        took.extend(line.await??);
    }
    println!(
        "{total} submissions in {:.2?}, {per_second} a second",
        start.elapsed()
    );
    Ok(took)
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let acl = words.first().map_or("target/release/acl", String::as_str);
    let number = |at: usize, usual: usize| words.get(at).map_or(Ok(usual), |word| word.parse());
    let (count, per_second, seconds) = (number(1, 1000)?, number(2, 500)?, number(3, 30)?);

    let folder = std::env::temp_dir().join(format!("acl-load-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let policy = folder.join("acl.toml");
    std::fs::write(
        &policy,
        "version = 1\n[tiers]\nallow = [\"passes\"]\nask = [\"asks\"]\n",
    )?;
    let mut server = Command::new(acl)
        .args(["serve", "--listen", "127.0.0.1:0", "--policy"])
        .arg(&policy)
        .env("HOME", &folder)
        .env("XDG_STATE_HOME", folder.join("state"))
        .stderr(Stdio::piped())
        .spawn()?;
    let err = server.stderr.take().ok_or("no stderr")?;
    let mut told = std::io::BufReader::new(err).lines().map_while(Result::ok);
    let mut after = |part: &str| {
        let found = told.find_map(|line| Some(line.split_once(part)?.1.to_owned()));
        found.ok_or("the server did not start")
    };
    let host = after("listening on http://")?;
    let code = after("#code=")?;
    std::thread::spawn(move || told.for_each(drop));

    let ran = measure(&host, &code, count, per_second, seconds).await;
    server.kill()?;
    server.wait()?;
    std::fs::remove_dir_all(&folder)?;
    ran
}

async fn measure(
    host: &str,
    code: &str,
    count: usize,
    per_second: usize,
    seconds: usize,
) -> Outcome<()> {
    let mut line = Line::to(host).await?;
    let (_, entered) = line
        .ask("POST", "/v1/session", "", &json!({"token": code}))
        .await?;
    let token = entered["token"].as_str().ok_or("no token")?;
    waiting(host, token, count).await?;
    let mut took = rate(host, per_second, seconds).await?;
    took.sort_unstable();
    let at = |share: usize| {
        took.get((took.len() * share / 1000).min(took.len().saturating_sub(1)))
            .copied()
            .unwrap_or_default()
    };
    let p99 = at(990);
    println!(
        "an allow takes {:.2?} (p50), {:.2?} (p90), {p99:.2?} (p99), {:.2?} (p99.9), {:.2?} at most",
        at(500),
        at(900),
        at(999),
        at(1000)
    );
    match p99 <= LIMIT {
        true => Ok(()),
        false => Err(format!("p99 is above {LIMIT:?}").into()),
    }
}
