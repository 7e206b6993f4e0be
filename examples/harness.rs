//! An agent's loop with acl at its gate: parse, decide, ask, run. `cargo run --example harness`
//!
//! The model proposes calls; each is judged by itself, before anything runs, and each gets a result under its own id: what the
//! tool said, or why it did not run. A refusal is text for the model, no error of the program: the loop goes on, and the model
//! can choose another way. What may be asked about is asked; nothing but a yes is a yes.
//!
//! With `--features gateway` and `-- --gateway http://127.0.0.1:7878` a person is asked at a gateway in place of the terminal:
//! `acl serve --policy policies/harness.toml`, started in the same folder.

use acl::call::files::FileView;
use acl::call::{Approval, Args, Call};
use acl::decision::{decide, texts};
use acl::matcher::Matcher;
use acl::policy::{self, LayerKind, Root, Trust, Verdict};
use acl::source::{Format, Source};
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Write};
use std::sync::Arc;

/// The policy: reads pass, writes and most commands are asked about, six programs and the outside are denied.
const POLICY: &str = include_str!("../policies/harness.toml");

/// How often the model may go on.
pub const STEPS: usize = 8;

/// A call as the model writes it: its arguments are a text, which may be anything.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// Its id.
    pub id: &'static str,
    /// The name of a tool, perhaps of none.
    pub tool: &'static str,
    /// What should be a JSON object.
    pub arguments: Option<&'static str>,
}

/// Proposes calls.
pub trait Model {
    /// The next ones, given what was said so far; none: it is done.
    fn turn(&mut self, messages: &[Value]) -> Vec<Proposed>;
}

/// Answers questions: a terminal, a dialog, a ticket.
pub trait Person {
    /// The answer; none where nobody is there.
    fn answer(&mut self, question: &str) -> Option<String>;
}

/// Does the work.
pub trait Tools {
    /// What a tool says, or why it failed.
    fn run(&mut self, tool: &str, arguments: &Map<String, Value>) -> Result<String, String>;
}

/// Where a person decides who is not at the terminal.
pub trait Gateway {
    /// None: the call may run; else what the model is told.
    fn ask(&self, call: &Call) -> Result<Option<String>, String>;
}

/// The gate: what a call must pass before it runs.
pub struct Gate {
    matcher: Matcher,
    /// Who is asked before the terminal.
    pub gateway: Option<Box<dyn Gateway>>,
    /// The folder that the agent works in.
    folder: String,
    /// What happened, in order: `parse`, `decide`, `ask`, `run`.
    pub events: Vec<&'static str>,
}

impl Gate {
    /// The gate of an agent that works in this folder.
    pub fn new(folder: &str) -> Result<Self, String> {
        let told = |finding: acl::finding::Finding| finding.message;
        let source = Source::new("harness.toml", POLICY, Some(Format::Toml)).map_err(told)?;
        let root = Root {
            kind: LayerKind::User,
            source: Arc::new(source),
            folder: Some(folder.to_owned()),
            trusted: Trust::Yes,
        };
        let policy = policy::load(vec![root], &|name, _| Err(format!("there is no `{name}`")));
        let policy = policy.map_err(|mut findings| told(findings.remove(0)))?;
        Ok(Self {
            matcher: Matcher::compile(policy),
            gateway: None,
            folder: folder.to_owned(),
            events: Vec::new(),
        })
    }

    /// The result of a call: what the tool says, or why it did not run.
    pub fn result(
        &mut self,
        proposed: &Proposed,
        person: &mut dyn Person,
        tools: &mut dyn Tools,
    ) -> String {
        self.events.push("parse");
        let args = Args::text(proposed.arguments.unwrap_or_default());
        let arguments = match args.object() {
            Ok(arguments) => arguments.clone(),
            Err(fault) => return format!("Error: {fault}."),
        };
        let tool = proposed.tool;
        let mut call = Call {
            id: Some(proposed.id.to_owned()),
            cwd: Some(self.folder.clone()),
            workspace: Some(self.folder.clone()),
            ..Call::new(tool, args)
        };
        self.events.push("decide");
        let mut decision = decide(&self.matcher, &call, &FileView::Real);
        if decision.action == Verdict::Ask {
            self.events.push("ask");
            match self.gateway.as_ref().map(|gateway| gateway.ask(&call)) {
                Some(Ok(None)) => return self.run(tool, &arguments, tools),
                Some(Ok(Some(text))) => return text,
                // Whoever is at the terminal is asked instead.
                Some(Err(why)) => eprintln!("the gateway: {why}"),
                None => {}
            }
            let reasons: Vec<&str> = decision
                .reasons
                .iter()
                .map(|own| own.text.as_str())
                .collect();
            let reasons = reasons.join("; ");
            let shown = serde_json::to_string_pretty(&arguments).unwrap_or_default();
            let question = format!(
                "Permission required\nTool: {tool}\nReason: {reasons}\nArguments: {shown}\nAllow this action? [y/N] "
            );
            let answer = person.answer(&question).unwrap_or_default();
            if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
                return texts::message(&self.matcher, "refused_by_human", tool, &reasons, None);
            }
            // The yes is for this very call, and for what was asked: acl decides once more.
            let digest = call.digest();
            let approved = decision.reasons.iter().map(|reason| Approval {
                key: reason.key.clone(),
                call: Some(digest.clone()),
            });
            call.approvals = approved.collect();
            decision = decide(&self.matcher, &call, &FileView::Real);
        }
        if decision.action != Verdict::Allow {
            return texts::for_model(&self.matcher, &decision, tool);
        }
        self.run(tool, &arguments, tools)
    }

    fn run(&mut self, tool: &str, arguments: &Map<String, Value>, tools: &mut dyn Tools) -> String {
        self.events.push("run");
        match tools.run(tool, arguments) {
            Ok(said) => said,
            Err(why) => format!("Error: tool {tool} failed - {why}"),
        }
    }
}

/// The loop: every call of a turn gets its result, in order, whatever became of those before it.
pub fn work(
    task: &str,
    gate: &mut Gate,
    model: &mut dyn Model,
    person: &mut dyn Person,
    tools: &mut dyn Tools,
) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": task})];
    for _ in 0..STEPS {
        let turn = model.turn(&messages);
        if turn.is_empty() {
            messages.push(json!({"role": "assistant", "content": "done"}));
            return messages;
        }
        for proposed in turn {
            let content = gate.result(&proposed, person, tools);
            messages.push(json!({"role": "tool", "tool_call_id": proposed.id, "content": content}));
        }
    }
    messages.push(json!({"role": "assistant", "content": "step limit reached, task not finished"}));
    messages
}

/// In the place of a model: turns that were written down.
pub struct Script(pub Vec<Vec<Proposed>>);

impl Model for Script {
    fn turn(&mut self, _: &[Value]) -> Vec<Proposed> {
        match self.0.is_empty() {
            true => Vec::new(),
            false => self.0.remove(0),
        }
    }
}

/// A person at a terminal.
struct Terminal;

impl Person for Terminal {
    fn answer(&mut self, question: &str) -> Option<String> {
        let mut out = io::stdout().lock();
        write!(out, "\n{question}")
            .and_then(|()| out.flush())
            .ok()?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line).ok()?;
        (read > 0).then_some(line)
    }
}

/// Tools that only say what they would do.
struct Pretend;

impl Tools for Pretend {
    fn run(&mut self, tool: &str, arguments: &Map<String, Value>) -> Result<String, String> {
        match tool {
            "list_dir" | "read_file" | "write_file" | "edit_file" | "bash" => Ok(format!(
                "({tool} would run with {})",
                Value::Object(arguments.clone())
            )),
            _ => Err("there is no such tool".to_owned()),
        }
    }
}

/// `acl serve`, over HTTP: the call is handed in, then waited for.
#[cfg(feature = "gateway")]
mod remote {
    use super::{Call, Gateway, json};
    use acl::session::gateway::Submitted;

    /// Its address, and this run's session.
    pub struct Remote(pub String, pub String);

    impl Gateway for Remote {
        fn ask(&self, call: &Call) -> Result<Option<String>, String> {
            let Self(address, session) = self;
            let told = |why: ureq::Error| why.to_string();
            let id = call.id.as_deref().unwrap_or_default();
            let body = json!({
                "id": id, "session": session, "tool": call.tool, "args": call.args.object()?, "cwd": call.cwd, "timeout": "10m",
            });
            let calls = format!("{address}/v1/calls");
            let sent = ureq::post(&calls)
                .header("Content-Type", "application/json")
                .send(body.to_string());
            let mut answer = sent.map_err(told)?;
            loop {
                let text = answer.body_mut().read_to_string().map_err(told)?;
                let said = serde_json::from_str(&text).map_err(|why| why.to_string())?;
                if let Submitted::Settled(end) = said {
                    let text = || end.result.clone().or(end.text.clone()).unwrap_or_default();
                    return Ok((!end.to_run()).then(text));
                }
                let waited = ureq::get(format!("{calls}/{id}"))
                    .query("session", session)
                    .query("wait", "30s")
                    .call();
                answer = waited.map_err(told)?;
            }
        }
    }
}

/// The gateway that the command line names.
#[allow(dead_code, reason = "a test reads this file as a module")]
fn gateway() -> Result<Option<Box<dyn Gateway>>, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [] => Ok(None),
        #[cfg(feature = "gateway")]
        [option, address] if option == "--gateway" => {
            let session = format!("harness-{}", std::process::id());
            Ok(Some(Box::new(remote::Remote(address.clone(), session))))
        }
        _ => Err("write `--features gateway --example harness -- --gateway URL`".to_owned()),
    }
}

/// A call of the script.
pub const fn call(id: &'static str, tool: &'static str, arguments: &'static str) -> Proposed {
    Proposed {
        id,
        tool,
        arguments: Some(arguments),
    }
}

#[allow(dead_code, reason = "a test reads this file as a module")]
fn main() -> Result<(), String> {
    let folder = std::env::current_dir().map_err(|why| why.to_string())?;
    let mut gate = Gate::new(&folder.to_string_lossy())?;
    gate.gateway = gateway()?;
    let mut model = Script(vec![
        vec![
            call("1", "read_file", r#"{"path": "README.md"}"#),
            call("2", "bash", r#"{"command": "git status && rm -rf target"}"#),
        ],
        vec![call(
            "3",
            "write_file",
            r#"{"path": "notes.txt", "content": "x"}"#,
        )],
        vec![
            call("4", "read_file", r#"{"path": "../secret"}"#),
            call("5", "deploy", "{}"),
        ],
    ]);
    let messages = work(
        "tidy up",
        &mut gate,
        &mut model,
        &mut Terminal,
        &mut Pretend,
    );
    let mut out = io::stdout().lock();
    for message in messages {
        writeln!(out, "{message}").map_err(|why| why.to_string())?;
    }
    Ok(())
}
