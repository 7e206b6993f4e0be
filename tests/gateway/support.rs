//! What the tests share: policies, a clock that is set by hand, a runner and an observer that write down what they saw.

use acl::call::{Args, Call};
use acl::matcher::Matcher;
use acl::policy::{self, LayerKind, Root, Trust};
use acl::session::gateway::runner::{Boxed, Orphan, ToolRunner, Unrun};
use acl::session::gateway::wire::{PermissionEvent, Terminal};
use acl::session::gateway::{Clock, Observer, Submission, Submitted};
use acl::source::{Format, Source};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A policy.
pub fn matcher(text: &str) -> Matcher {
    let source = Source::new("policy.toml", text, Some(Format::Toml)).expect("TOML");
    let root = Root {
        kind: LayerKind::User,
        source: Arc::new(source),
        folder: None,
        trusted: Trust::Yes,
    };
    let policy = policy::load(vec![root], &|name, _| Err(format!("there is no `{name}`")));
    Matcher::compile(policy.unwrap_or_else(|findings| panic!("{findings:?}")))
}

/// A call of a tool.
pub fn call(session: &str, id: &str, tool: &str, args: Value) -> Call {
    Call {
        id: Some(id.into()),
        session: Some(session.into()),
        user: Some("u1".into()),
        ..Call::new(tool, Args::from(args))
    }
}

/// A submission of a call.
pub fn submission(call: Call) -> Submission {
    Submission {
        call,
        ..Submission::default()
    }
}

/// What became of a call, in a few words.
pub fn words(submitted: &Submitted) -> String {
    match submitted {
        Submitted::Pending(_) => "pending".into(),
        Submitted::Settled(end) => ended(end),
    }
}

/// An end in a few words: `allow approval live`, `deny verdict risk`.
pub fn ended(end: &Terminal) -> String {
    let allowed = if end.allowed { "allow" } else { "deny" };
    let mut words = format!("{allowed} {}", word(end.basis));
    for more in [end.source.clone(), end.path.map(word)]
        .into_iter()
        .flatten()
    {
        words.push(' ');
        words.push_str(&more);
    }
    words
}

/// The wire's word of a value.
pub fn word(value: impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).expect("JSON");
    value.as_str().expect("a word").to_owned()
}

/// A clock that is set by hand.
#[derive(Clone, Debug)]
pub struct Hands(Arc<AtomicI64>);

impl Hands {
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_700_000_000_000)))
    }

    pub fn clock(&self) -> Clock {
        let at = Arc::clone(&self.0);
        Arc::new(move || at.load(Ordering::SeqCst))
    }

    pub fn forward(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).expect("not that long");
        self.0.fetch_add(by, Ordering::SeqCst);
    }
}

/// Runs tools and starts continuations by writing down that it did.
#[derive(Debug, Default)]
pub struct Notebook {
    /// Each run: the call's id.
    pub runs: Mutex<Vec<String>>,
    /// Each continuation: the call's id, and what its run is told.
    pub resumed: Mutex<Vec<(String, Terminal)>>,
    /// Tools that it does not have.
    pub missing: Mutex<BTreeSet<String>>,
    /// Another run is active.
    pub active: AtomicBool,
    /// A run does not say whether it took place.
    pub unsure: AtomicBool,
    /// Continuations cannot be started.
    pub deaf: AtomicBool,
    /// A run does not end before this is false.
    pub stuck: AtomicBool,
}

impl ToolRunner for Notebook {
    fn active<'a>(&'a self, _: &'a Orphan) -> Boxed<'a, bool> {
        Box::pin(async { self.active.load(Ordering::SeqCst) })
    }

    fn run<'a>(&'a self, orphan: &'a Orphan) -> Boxed<'a, Result<String, Unrun>> {
        Box::pin(async {
            if self.missing.lock().unwrap().contains(&orphan.call.tool) {
                return Err(Unrun::Unavailable("nobody here has it".into()));
            }
            let id = orphan.call.id.clone().unwrap();
            self.runs.lock().unwrap().push(id);
            if self.unsure.load(Ordering::SeqCst) {
                return Err(Unrun::Unsure("the line broke".into()));
            }
            while self.stuck.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            Ok("done".into())
        })
    }

    fn resume<'a>(
        &'a self,
        orphan: &'a Orphan,
        end: &'a Terminal,
    ) -> Boxed<'a, Result<(), String>> {
        Box::pin(async {
            if self.deaf.load(Ordering::SeqCst) {
                return Err("nobody answers".into());
            }
            let id = orphan.call.id.clone().unwrap();
            self.resumed.lock().unwrap().push((id, end.clone()));
            Ok(())
        })
    }
}

/// Writes down ends that nobody's word brought about.
#[derive(Debug, Default)]
pub struct Witness {
    pub ended: Mutex<Vec<(PermissionEvent, Terminal)>>,
    pub failed: Mutex<Vec<String>>,
    /// Panics after it has written down.
    pub panics: AtomicBool,
}

impl Observer for Witness {
    fn ended(&self, event: &PermissionEvent, end: &Terminal) {
        self.ended
            .lock()
            .unwrap()
            .push((event.clone(), end.clone()));
        assert!(!self.panics.load(Ordering::SeqCst), "as it was told to");
    }

    fn failed(&self, why: &str) {
        self.failed.lock().unwrap().push(why.to_owned());
    }
}
