//! What is stored of a call, and the steps that it can take: pending → decided → running → settled.
//!
//! In: a record, and what happened. Out: the record after it. Nothing here knows the time or the store: a step counts
//! once the store has put it in the place of the version before it.

use super::runner::Orphan;
use super::wire::{Confirmation, Path, Remember, Status, Terminal};
use crate::call::{Approval, Call};
use crate::session::secrets::Secrets;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Which call: its id counts within its session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The session.
    pub session: String,
    /// The call's id.
    pub id: String,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A person is asked.
    Pending,
    /// A person has decided; neither has the run taken it up, nor a gateway in its place.
    Decided,
    /// A gateway has the tool run in the place of the run.
    Running,
    /// It has its end.
    Settled,
}

impl State {
    /// All of them, with their names in the store.
    const ALL: [(Self, &'static str); 4] = [
        (Self::Pending, "pending"),
        (Self::Decided, "decided"),
        (Self::Running, "running"),
        (Self::Settled, "settled"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(state, _)| *state == self);
        named.map_or("", |(_, name)| name)
    }

    /// The state of a name.
    pub fn parse(text: &str) -> Option<Self> {
        let named = Self::ALL.iter().find(|(_, name)| *name == text);
        named.map(|(state, _)| *state)
    }
}

/// What is stored of a call. Times are in milliseconds since 1970.
#[derive(Clone, Debug)]
pub struct Record {
    /// Which call.
    pub key: Key,
    /// Goes up by one with each step: a step from an older version does not count.
    pub version: i64,
    /// How far it has come.
    pub state: State,
    /// Until when whoever has it counts as there: its run, or the gateway that runs it; 0: nobody has it.
    pub live_until: i64,
    /// When somebody must look after it: a question nobody answers, a continuation that did not start.
    pub due: Option<i64>,
    /// When it was submitted.
    pub created_at: i64,
    /// When it got its end.
    pub settled_at: Option<i64>,
    /// The gateway that made the last step.
    pub writer: String,
    /// The rest.
    pub held: Held,
}

/// What only the gateway reads of a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Held {
    /// The call, as [`Call::from_json`] reads it.
    call: Value,
    /// Its digest.
    pub digest: String,
    /// Where its host wants to be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
    /// How long a person has, in milliseconds.
    #[serde(default)]
    pub window: i64,
    /// What is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Asked>,
    /// What whoever decides must know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// It may have run already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_have_run: bool,
    /// The word that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<Given>,
    /// The end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<Terminal>,
}

/// One thing that is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The obligation's key.
    pub key: String,
    /// Why.
    pub text: String,
}

/// A person's word, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Yes, or no.
    pub approved: bool,
    /// What a yes is remembered for.
    pub remember: Remember,
    /// Who.
    pub by: String,
    /// How it was to reach the run.
    pub path: Path,
    /// Differs for each word.
    pub attempt: String,
}

impl Record {
    /// A call that was just submitted; it has yet to be told how far it has come.
    pub fn new(key: Key, call: &Call, callback: Option<String>, window: i64, now: i64) -> Self {
        Self {
            key,
            version: 0,
            state: State::Pending,
            live_until: 0,
            due: None,
            created_at: now,
            settled_at: None,
            writer: String::new(),
            held: Held {
                call: written(call),
                digest: call.digest(),
                callback,
                window,
                asked: Vec::new(),
                note: None,
                may_have_run: false,
                word: None,
                terminal: None,
            },
        }
    }

    /// A person is asked about this from now on.
    #[must_use]
    pub fn asking(mut self, asked: Vec<Asked>, now: i64) -> Self {
        self.state = State::Pending;
        self.due = Some(now.saturating_add(self.held.window));
        self.held.asked = asked;
        self.held.word = None;
        self
    }

    /// The same is asked again, as it may have run already: only a second word has it run.
    #[must_use]
    pub fn unsure(mut self, now: i64) -> Self {
        self.held.may_have_run = true;
        self.live_until = 0;
        self.held.note =
            Some("It may have run already: the gateway that ran it did not hear its end.".into());
        let asked = std::mem::take(&mut self.held.asked);
        let last = self.held.word.take();
        let mut next = self.asking(asked, now);
        // Should its end be heard after all, it is known by this.
        next.held.word = last;
        next
    }

    /// A word was given.
    #[must_use]
    pub fn decided(mut self, word: Given, live_until: i64) -> Self {
        self.state = State::Decided;
        self.due = None;
        self.live_until = self.live_until.max(live_until);
        self.held.word = Some(word);
        self
    }

    /// A gateway runs it.
    #[must_use]
    pub fn running(mut self, live_until: i64) -> Self {
        self.state = State::Running;
        self.live_until = self.live_until.max(live_until);
        self
    }

    /// It has its end; where the run is gone, a continuation is due at a time.
    #[must_use]
    pub fn settled(mut self, terminal: Terminal, now: i64, resume: Option<i64>) -> Self {
        self.state = State::Settled;
        self.due = resume;
        self.settled_at = Some(now);
        self.held.terminal = Some(terminal);
        self
    }

    /// The step that follows this version, made by a gateway.
    #[must_use]
    pub fn next(mut self, writer: &str) -> Self {
        self.version = self.version.saturating_add(1);
        writer.clone_into(&mut self.writer);
        self
    }

    /// The call. Its own JSON can be read, unless somebody wrote in the store.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn call(&self) -> Result<Call, String> {
        serde_json::from_value(self.held.call.clone()).map_err(|why| why.to_string())
    }

    /// The call, with the approvals of what was asked.
    ///
    /// # Errors
    /// As [`Record::call`].
    pub fn approved(&self) -> Result<Call, String> {
        let approvals = self.held.asked.iter().map(|asked| Approval {
            key: asked.key.clone(),
            call: Some(self.held.digest.clone()),
        });
        Ok(Call {
            approvals: approvals.collect(),
            ..self.call()?
        })
    }

    /// The name of its tool.
    pub fn tool(&self) -> &str {
        let tool = self.held.call.get("tool");
        tool.and_then(Value::as_str).unwrap_or_default()
    }

    /// The call for whoever takes the place of its run.
    ///
    /// # Errors
    /// As [`Record::call`].
    pub fn orphan(&self) -> Result<Orphan, String> {
        let word = self.held.word.as_ref();
        Ok(Orphan {
            call: self.call()?,
            callback: self.held.callback.clone(),
            decided_by: word.map(|word| word.by.clone()),
            attempt: word.map(|word| word.attempt.clone()).unwrap_or_default(),
        })
    }

    /// What was asked, in one text.
    pub fn reasons(&self) -> String {
        let mut texts: Vec<&str> = Vec::new();
        for asked in &self.held.asked {
            if !texts.contains(&asked.text.as_str()) {
                texts.push(&asked.text);
            }
        }
        texts.join("; ")
    }

    /// As others are shown it, secrets masked.
    pub fn confirmation(&self, secrets: Option<&Secrets>) -> Confirmation {
        let args = self.held.call.get("args").and_then(Value::as_object);
        let word = self
            .held
            .word
            .as_ref()
            .filter(|_| self.state != State::Pending);
        let status = match (&self.held.terminal, word) {
            (Some(terminal), _) if terminal.allowed => Status::Approved,
            (None, Some(word)) if word.approved => Status::Approved,
            (None, None) => Status::Pending,
            _ => Status::Denied,
        };
        Confirmation {
            confirmation_id: self.key.id.clone(),
            tool_call_id: self.key.id.clone(),
            tool_name: self.tool().to_owned(),
            arguments: args
                .zip(secrets)
                .map(|(args, secrets)| secrets.arguments(args).0),
            session_id: self.key.session.clone(),
            status,
            decided_by: word.map(|word| word.by.clone()),
            created_at: self.created_at,
        }
    }
}

/// A call as JSON that reads back as the same call, without what is not its host's to say.
fn written(call: &Call) -> Value {
    let verdicts = call.verdicts.iter();
    let verdicts: Value = verdicts
        .map(|(name, said)| (name.clone(), Value::from(said.name())))
        .collect();
    json!({
        "id": call.id,
        "tool": call.tool,
        // What is no object is denied at once, and never read again.
        "args": call.args.object().ok(),
        "cwd": call.cwd,
        "home": call.home,
        "workspace": call.workspace,
        "user": call.user,
        "session": call.session,
        "agent": call.agent,
        "mode": call.mode.name(),
        "facts": call.facts,
        "verdicts": verdicts,
    })
}
