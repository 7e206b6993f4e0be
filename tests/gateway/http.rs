//! `acl serve` itself, over HTTP: its roles, its bounds, a call's way through it, and `acl hook` handing its asks over.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const POLICY: &str = r#"
version = 1
[tiers]
allow = ["note"]
ask = ["bash", "mail", "write"]
deny = ["nuke"]
[commands]
allow = ["ls"]
"#;

/// A server in a folder of its own.
struct Server {
    child: Child,
    folder: PathBuf,
    address: String,
    lines: Mutex<Receiver<String>>,
    link: String,
}

impl Server {
    fn start(name: &str, options: &[&str]) -> Self {
        let folder = folder(name);
        std::fs::write(folder.join("acl.toml"), POLICY).unwrap();
        let mut child = acl(&folder)
            .args(["serve", "--listen", "127.0.0.1:0", "--policy", "acl.toml"])
            .args(options)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let err = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in err.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut server = Self {
            child,
            folder,
            address: String::new(),
            lines: Mutex::new(lines),
            link: String::new(),
        };
        let told = server.line("listening on http://");
        server.address = told.split("http://").nth(1).unwrap().to_owned();
        if !options.contains(&"--tokens") {
            server.link = server
                .line("#code=")
                .split("#code=")
                .nth(1)
                .unwrap()
                .to_owned();
        }
        server
    }

    /// The next line of its stderr that holds this.
    fn line(&self, part: &str) -> String {
        let lines = self.lines.lock().unwrap();
        let mut all = Vec::new();
        while let Ok(line) = lines.recv_timeout(Duration::from_secs(20)) {
            if line.contains(part) {
                return line;
            }
            all.push(line);
        }
        panic!("`{part}` was not told: {all:?}");
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // A server that refuses by the head need not read on.
        let _ = stream.write_all(body.as_bytes());
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let all = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
        Answer {
            status: head
                .split(' ')
                .nth(1)
                .and_then(|word| word.parse().ok())
                .unwrap_or(0),
            head: head.to_lowercase(),
            body: serde_json::from_str(body).unwrap_or_else(|_| Value::from(body)),
        }
    }

    fn ask(&self, method: &str, path: &str, token: Option<&str>, body: &Value) -> Answer {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let mut headers = Vec::new();
        if let Some(bearer) = &bearer {
            headers.push(("Authorization", bearer.as_str()));
        }
        let text = match body {
            Value::Null => String::new(),
            body => {
                headers.push(("Content-Type", "application/json"));
                body.to_string()
            }
        };
        self.send(method, path, &headers, &text)
    }

    /// A page's token.
    fn enter(&mut self) -> String {
        let entered = self.ask("POST", "/v1/session", None, &json!({"token": self.link}));
        self.link = self
            .line("#code=")
            .split("#code=")
            .nth(1)
            .unwrap()
            .to_owned();
        entered.body["token"].as_str().unwrap().to_owned()
    }

    fn submit(&self, id: &str, tool: &str, args: Value) -> Answer {
        self.ask(
            "POST",
            "/v1/calls",
            None,
            &json!({"id": id, "session": "s", "tool": tool, "args": args}),
        )
    }

    fn decide(&self, token: &str, id: &str, approved: bool) -> Answer {
        let word = json!({"threadId": "s", "confirmationId": id, "approved": approved});
        self.ask("POST", "/ack/confirmation", Some(token), &word)
    }

    fn pending(&self, token: &str) -> Vec<Value> {
        let listed = self.ask("GET", "/ack/confirmations", Some(token), &Value::Null);
        listed.body["items"].as_array().unwrap().clone()
    }

    /// Waits until that many calls wait for a person.
    fn until_pending(&self, token: &str, count: usize) -> Vec<Value> {
        let started = Instant::now();
        loop {
            let items = self.pending(token);
            if items.len() == count {
                return items;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "{items:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Value,
}

impl Answer {
    fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{self:?}");
        if status >= 400 {
            assert!(self.body["error"]["message"].is_string(), "{self:?}");
        }
        self
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("serve")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn acl(folder: &Path) -> Command {
    let mut acl = Command::new(env!("CARGO_BIN_EXE_acl"));
    acl.current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null());
    acl
}

const NOTHING: &Value = &Value::Null;

#[test]
fn a_call_is_asked_about_decided_and_ends() {
    let mut server = Server::start("lifecycle", &["--audit", "log.jsonl"]);
    let token = server.enter();
    let allowed = server.submit("a", "note", json!({}));
    assert_eq!(allowed.is(200).body["basis"], "tier");
    let denied = server.submit("d", "nuke", json!({}));
    assert_eq!(denied.is(200).body["allowed"], false);
    let asked = server.submit("1", "mail", json!({"to": "x", "password": "hunter2"}));
    assert_eq!(asked.is(202).body["arguments"]["password"], "***");

    let [item] = &server.pending(&token)[..] else {
        panic!("one waits")
    };
    assert_eq!((&item["live"], &item["masked"]), (&json!(true), &json!(1)));
    assert!(!item.to_string().contains("hunter2"), "{item}");
    let whole = server.ask(
        "GET",
        "/v1/calls/1?session=s&unmasked=true",
        Some(&token),
        NOTHING,
    );
    assert_eq!(whole.is(200).body["arguments"]["password"], "hunter2");
    server
        .ask("GET", "/v1/calls/1?session=s&unmasked=true", None, NOTHING)
        .is(403);

    std::thread::scope(|scope| {
        let waits =
            scope.spawn(|| server.ask("GET", "/v1/calls/1?session=s&wait=20s", None, NOTHING));
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(
            server.decide(&token, "1", true).is(200).body,
            json!({"path": "live"})
        );
        let end = waits.join().unwrap();
        assert_eq!(
            (&end.is(200).body["allowed"], &end.body["decidedBy"]),
            (&json!(true), &json!("user"))
        );
    });
    server.decide(&token, "1", false).is(404);

    server.submit("2", "mail", json!({})).is(202);
    let canceled = server.ask("DELETE", "/v1/calls/2?session=s", None, NOTHING);
    assert_eq!(canceled.is(200).body["basis"], "canceled");
    server
        .ask("GET", "/v1/calls/9?session=s", None, NOTHING)
        .is(404);

    let metrics = server.ask("GET", "/metrics", None, NOTHING);
    let metrics = metrics.is(200).body.as_str().unwrap();
    for line in [
        "acl_gateway_words_total{approved=\"true\",path=\"live\"} 1",
        "acl_gateway_ends_total{allowed=\"false\",basis=\"canceled\"} 1",
        "acl_gateway_pending 0",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    server.ask("GET", "/healthz", None, NOTHING).is(200);
    let stopped = Command::new("kill")
        .arg(server.child.id().to_string())
        .status();
    assert!(stopped.unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let log = std::fs::read_to_string(server.folder.join("log.jsonl")).unwrap();
    assert!(
        log.lines().count() >= 4 && !log.contains("hunter2"),
        "{log}"
    );
}

#[test]
fn nobody_approves_who_only_submits() {
    let mut server = Server::start("roles", &[]);
    server.submit("1", "mail", json!({})).is(202);
    let decide: [(&str, &str, Value); 6] = [
        (
            "POST",
            "/ack/confirmation",
            json!({"threadId": "s", "confirmationId": "1", "approved": true}),
        ),
        ("GET", "/ack/confirmations", Value::Null),
        ("GET", "/v1/events", Value::Null),
        ("GET", "/v1/grants", Value::Null),
        ("DELETE", "/v1/grants?id=1", Value::Null),
        ("POST", "/v1/policy/reload", Value::Null),
    ];
    for (method, path, body) in &decide {
        server.ask(method, path, None, body).is(401);
        server.ask(method, path, Some("0000"), body).is(401);
        server.ask(method, path, Some(&server.link), body).is(401);
    }
    let token = server.enter();
    server
        .ask(
            "POST",
            "/v1/calls",
            Some(&token),
            &json!({"id": "2", "session": "s", "tool": "mail"}),
        )
        .is(403);
    // What a host vouches for has no place in a call.
    for more in [
        json!({"approvals": ["tool:mail"]}),
        json!({"session_approvals": ["mail"]}),
        json!({"grants": [{"tool": "mail"}]}),
        json!({"files": {}}),
        json!({"now": 1}),
        json!({"mode": "bypass"}),
        json!({"facts": {"x": true}}),
        json!({"verdicts": {"x": "allow"}}),
        json!({"callback": "http://127.0.0.1:1/"}),
    ] {
        let mut call = json!({"id": "3", "session": "s", "tool": "mail"});
        call.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        server.ask("POST", "/v1/calls", None, &call).is(400);
    }
    // The same id, another call.
    let other = server.submit("1", "mail", json!({"to": "somebody else"}));
    assert_eq!(other.is(200).body["allowed"], false);
    server
        .ask("DELETE", "/v1/session", Some(&token), NOTHING)
        .is(204);
    server
        .ask("GET", "/v1/grants", Some(&token), NOTHING)
        .is(401);
}

#[cfg(unix)]
#[test]
fn tokens_are_private_and_have_one_role() {
    use std::os::unix::fs::PermissionsExt;
    let (submit, decide) = ("submit-0123456789abcdef", "decide-0123456789abcdef");
    let scratch = folder("tokens-file");
    std::fs::write(scratch.join("acl.toml"), POLICY).unwrap();
    let file = scratch.join("tokens");
    let fails = |text: &str, mode: u32, more: &[&str], why: &str| {
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let out = acl(&scratch)
            .args(["serve", "--policy", "acl.toml"])
            .args(more)
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{err}");
        assert!(err.contains(why), "{err}");
    };
    let good = format!("submit ci {submit}\ndecide ann {decide}\n");
    fails(&good, 0o644, &["--tokens", "tokens"], "others can read");
    fails(
        &format!("submit ci {submit}\ndecide ann {submit}\n"),
        0o600,
        &["--tokens", "tokens"],
        "twice",
    );
    fails(&good, 0o600, &["--listen", "0.0.0.0:0"], "--tokens FILE");

    std::fs::write(&file, good).unwrap();
    let server = Server::start("tokens", &["--tokens", file.to_str().unwrap()]);
    let call = json!({"id": "1", "session": "s", "tool": "mail"});
    server.ask("POST", "/v1/calls", None, &call).is(401);
    server.ask("POST", "/v1/calls", Some(decide), &call).is(403);
    server.ask("POST", "/v1/calls", Some(submit), &call).is(202);
    server.ask("GET", "/metrics", None, NOTHING).is(401);
    server.ask("GET", "/metrics", Some(submit), NOTHING).is(200);
    let word = json!({"threadId": "s", "confirmationId": "1", "approved": false});
    server
        .ask("POST", "/ack/confirmation", Some(submit), &word)
        .is(403);
    server
        .ask("POST", "/v1/session", None, &json!({"token": submit}))
        .is(401);
    let entered = server.ask("POST", "/v1/session", None, &json!({"token": decide}));
    let page = entered.is(200).body["token"].as_str().unwrap();
    server
        .ask("POST", "/ack/confirmation", Some(page), &word)
        .is(200);
    let end = server.ask(
        "GET",
        "/v1/calls/1?session=s&wait=5s",
        Some(submit),
        NOTHING,
    );
    assert_eq!(end.is(200).body["decidedBy"], "ann");
}

#[test]
fn what_is_no_request_of_ours_is_refused() {
    let server = Server::start(
        "bounds",
        &["--most-pending", "2", "--most-pending-of-session", "1"],
    );
    let json = ("Content-Type", "application/json");
    let call = r#"{"id":"1","session":"s","tool":"mail"}"#;
    let send =
        |headers: &[(&str, &str)], body: &str| server.send("POST", "/v1/calls", headers, body);
    send(&[json, ("Host", "evil.example")], call).is(421);
    send(&[json, ("Origin", "http://evil.example")], call).is(403);
    send(&[json, ("Origin", "http://localhost:1")], call).is(403);
    send(&[json, ("Origin", "null")], call).is(403);
    send(&[("Content-Type", "text/plain")], call).is(415);
    send(&[], call).is(415);
    for wrong in [
        "",
        "{",
        "[]",
        "null",
        r#"{"id":"1","id":"2","session":"s","tool":"t"}"#,
        r#"{"id":"","session":"s","tool":"t"}"#,
        r#"{"id":"\u0000","session":"s","tool":"t"}"#,
        r#"{"id":"1","session":"s","tool":"t","cwd":"x"}"#,
        r#"{"id":"1","session":"s","tool":"t","timeout":"soon"}"#,
    ] {
        send(&[json], wrong).is(400);
    }
    send(&[json], &"[".repeat(100_000)).is(400);
    let large = format!(
        r#"{{"id":"1","session":"s","tool":"mail","args":{{"x":"{}"}}}}"#,
        "x".repeat(5 << 20)
    );
    let refused = send(&[json], &large);
    assert!([0, 413].contains(&refused.status), "{}", refused.head);
    send(&[json, ("X-Long", &"x".repeat(64 << 10))], call).is_any_of(&[0, 431]);
    let method = server.send("PUT", "/v1/calls", &[json], call);
    assert!(method.is(405).head.contains("allow: post"));
    server.send("GET", "/nothing", &[], "").is(404);
    server.send("GET", "/v1/calls/1", &[], "").is(400);
    server
        .send("GET", "/v1/calls/%ff?session=s", &[], "")
        .is(400);
    server
        .send("GET", "/v1/calls/1?session=s&wait=x", &[], "")
        .is(400);

    send(&[json], call).is(202);
    send(&[json], r#"{"id":"2","session":"s","tool":"mail"}"#).is(429);
    send(&[json], r#"{"id":"1","session":"t","tool":"mail"}"#).is(202);
    send(&[json], r#"{"id":"1","session":"u","tool":"mail"}"#).is(429);
    // The page, and what it may do.
    let page = server.send("GET", "/", &[], "");
    assert!(
        page.is(200)
            .head
            .contains("content-security-policy: default-src 'none'; script-src 'sha256-")
    );
}

impl Answer {
    fn is_any_of(&self, statuses: &[u16]) {
        assert!(statuses.contains(&self.status), "{self:?}");
    }
}

#[test]
fn a_policy_that_does_not_load_changes_nothing() {
    let mut server = Server::start("reload", &[]);
    let token = server.enter();
    let reload = || server.ask("POST", "/v1/policy/reload", Some(&token), NOTHING);
    let policy = server.folder.join("acl.toml");
    std::fs::write(
        &policy,
        POLICY.replace("ask = [\"bash\"", "asks = [\"bash\""),
    )
    .unwrap();
    let kept = reload();
    assert_eq!(kept.is(422).body["reloaded"], false);
    assert_eq!(kept.body["findings"][0]["code"], "unknown-key", "{kept:?}");
    server.submit("1", "mail", json!({})).is(202);
    std::fs::write(
        &policy,
        POLICY
            .replace("\"mail\", ", "")
            .replace("[\"nuke\"", "[\"nuke\", \"mail\""),
    )
    .unwrap();
    reload().is(200);
    let denied = server.submit("2", "mail", json!({}));
    assert_eq!(denied.is(200).body["allowed"], false);
    // An approval counts under the policy as it is by then.
    std::thread::scope(|scope| {
        let waits =
            scope.spawn(|| server.ask("GET", "/v1/calls/1?session=s&wait=20s", None, NOTHING));
        server.decide(&token, "1", true).is(200);
        assert_eq!(waits.join().unwrap().is(200).body["allowed"], false);
    });
}

#[test]
fn who_waits_is_let_go_when_the_server_ends() {
    let mut server = Server::start("ending", &[]);
    let token = server.enter();
    server.submit("1", "mail", json!({})).is(202);
    let id = server.child.id().to_string();
    std::thread::scope(|scope| {
        let waits =
            scope.spawn(|| server.ask("GET", "/v1/calls/1?session=s&wait=60s", None, NOTHING));
        let events = scope.spawn(|| server.ask("GET", "/v1/events", Some(&token), NOTHING));
        std::thread::sleep(Duration::from_millis(300));
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        let events = events.join().unwrap();
        assert!(
            events
                .is(200)
                .body
                .as_str()
                .unwrap()
                .contains(r#""confirmationId":"1""#)
        );
        waits.join().unwrap().is(202);
    });
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

/// What `acl hook claude-code` says to a command, with these options.
fn hook(server: &Server, command: &str, options: &[&str]) -> Value {
    let mut child = acl(&server.folder)
        .args(["hook", "claude-code", "--policy", "acl.toml"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = json!({
        "session_id": "s", "tool_use_id": command, "cwd": server.folder, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "permission_mode": "default",
    });
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.to_string().as_bytes())
        .unwrap();
    let out = child.wait_with_output().unwrap();
    let said: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
    said["hookSpecificOutput"].clone()
}

#[test]
fn a_hook_hands_its_asks_over() {
    let mut server = Server::start("hook", &[]);
    let token = server.enter();
    let address = format!("http://{}", server.address);
    let options = ["--gateway", &address, "--wait", "20s"];
    let decided = |command: &str, approved: bool| {
        std::thread::scope(|scope| {
            let said = scope.spawn(|| hook(&server, command, &options));
            let items = server.until_pending(&token, 1);
            let id = items[0]["confirmationId"].as_str().unwrap();
            server.decide(&token, id, approved).is(200);
            said.join().unwrap()
        })
    };
    assert_eq!(decided("make one", true)["permissionDecision"], "allow");
    let refused = decided("make two", false);
    assert_eq!(refused["permissionDecision"], "deny");
    assert!(
        refused["permissionDecisionReason"]
            .as_str()
            .unwrap()
            .contains("not retry"),
        "{refused}"
    );
    // What needs no person is not handed over.
    assert_eq!(
        hook(&server, "ls", &["--gateway", "http://127.0.0.1:1"])["permissionDecision"],
        "allow"
    );
    // Nobody decides: it is taken back there, and the agent asks.
    let late = hook(
        &server,
        "make three",
        &["--gateway", &address, "--wait", "1s"],
    );
    assert_eq!(late["permissionDecision"], "ask");
    server.until_pending(&token, 0);
    // Nobody is there.
    let alone = hook(&server, "make four", &["--gateway", "http://127.0.0.1:1"]);
    assert_eq!(alone["permissionDecision"], "ask");
}

#[test]
fn a_run_that_is_gone_is_taken_up_by_its_host() {
    let host = TcpListener::bind("127.0.0.1:0").unwrap();
    let callback = format!("http://{}/run", host.local_addr().unwrap());
    let secret = folder("callback").join("token");
    std::fs::write(&secret, "a-token-of-the-host\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let (sender, heard) = channel();
    std::thread::spawn(move || {
        for mut stream in host.incoming().map_while(Result::ok) {
            let mut request = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                request.read_line(&mut line).unwrap();
                if let Some(count) = line.to_lowercase().strip_prefix("content-length:") {
                    length = count.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
                head += &line;
            }
            let mut body = vec![0; length];
            request.read_exact(&mut body).unwrap();
            let answer = r#"{"result":"sent"}"#;
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}", answer.len()).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let _ = sender.send((head, body));
        }
    });
    let options = [
        "--callback",
        &callback,
        "--callback-token",
        secret.to_str().unwrap(),
    ];
    let mut server = Server::start("recovery", &options);
    let token = server.enter();
    let call = json!({"id": "1", "session": "s", "tool": "mail", "args": {"to": "x"}, "callback": callback});
    server.ask("POST", "/v1/calls", None, &call).is(202);
    // Its run says nothing more; after a while it is taken for gone.
    let started = Instant::now();
    while server.pending(&token)[0]["live"] == true {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "its run stays live"
        );
        std::thread::sleep(Duration::from_millis(500));
    }
    assert_eq!(
        server.decide(&token, "1", true).is(200).body["path"],
        "recovery"
    );
    let (head, run) = heard.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(head.contains("Bearer a-token-of-the-host"), "{head}");
    assert_eq!(
        (&run["type"], &run["call"]["args"]["to"]),
        (&json!("run"), &json!("x"))
    );
    let (_, resume) = heard.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(
        (&resume["type"], &resume["terminal"]["result"]),
        (&json!("resume"), &json!("sent"))
    );
    let end = server.ask("GET", "/v1/calls/1?session=s", None, NOTHING);
    assert_eq!(
        (&end.is(200).body["path"], &end.body["result"]),
        (&json!("recovery"), &json!("sent"))
    );
}
