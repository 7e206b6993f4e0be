//! Case files: calls, each with what must become of it.
//!
//! In: the source of a case file. Out: [`Cases`], or every error at once; and for a case and a matcher, [`Ran`]: the
//! decision and how it differs from what was wanted. `read.rs` reads, `expect.rs` compares, `snapshot.rs` is the text
//! of whole decisions, `strange.rs` says what a case names that no policy declares, `mutants.rs` what no case holds. Opens no file: whoever runs a case loads the policies it names.

mod expect;
pub mod mutants;
mod read;
pub mod snapshot;
mod strange;

use crate::call::Call;
use crate::call::files::FileView;
use crate::decision::{self, Covered, Decision};
use crate::matcher::Matcher;
use crate::policy::rule::{Place, Placed};
use crate::policy::{LayerKind, Root, Trust};
use crate::source::Source;
use std::collections::BTreeSet;
use std::sync::Arc;

pub use expect::{Expect, Failure};
pub use read::read;
pub use strange::{Kind, Name};

/// Where a case is set that does not say it: its working directory, and so its workspace. Never the machine's own.
pub const WORKSPACE: &str = "/workspace";

/// The home folder of a case that does not say it.
pub const HOME: &str = "/home/user";

/// A case file as read.
#[derive(Clone, Debug)]
pub struct Cases {
    /// The file.
    pub source: Arc<Source>,
    /// Its cases, in its order.
    pub cases: Vec<Case>,
}

/// One call and what must become of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name; unlike any other of its file.
    pub name: String,
    /// A remark for people.
    pub note: Option<String>,
    /// The call, its folders filled in.
    pub call: Call,
    /// The policies it is decided under.
    pub under: Placed<Under>,
    /// What must become of it; none: a snapshot says so.
    pub expect: Option<Expect>,
    /// The facts and sources it names.
    pub names: Vec<Name>,
    /// Where it stands.
    pub place: Place,
}

/// The policies of a case, as written: a path relative to the case file, or `acl:NAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Under {
    /// One policy.
    Policy(String),
    /// One policy a layer.
    Layers(Vec<(LayerKind, String)>),
}

impl Under {
    /// The root file of each layer, found by `find`.
    ///
    /// All are trusted, as those are that `--policy` and `--layer` name. None has a folder: relative paths of the
    /// policy start from the workspace of the case, so that a case gives the same decision on every machine.
    ///
    /// # Errors
    /// The first error of `find`.
    pub fn roots<E>(&self, find: impl Fn(&str) -> Result<Arc<Source>, E>) -> Result<Vec<Root>, E> {
        let root = |kind, name: &str| {
            Ok(Root {
                kind,
                source: find(name)?,
                folder: None,
                trusted: Trust::Yes,
            })
        };
        match self {
            Self::Policy(name) => Ok(vec![root(LayerKind::User, name)?]),
            Self::Layers(layers) => layers
                .iter()
                .map(|(kind, name)| root(*kind, name))
                .collect(),
        }
    }
}

/// What became of a case.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The decision.
    pub decision: Decision,
    /// How it differs from what was wanted; empty where it does not, and where nothing was wanted.
    pub failures: Vec<Failure>,
}

impl Case {
    /// Decides the call. Without `files` no file is seen: paths are judged as they are written.
    pub fn run(&self, matcher: &Matcher) -> Ran {
        let view = match &self.call.files {
            Some(fixture) => FileView::Fixture(fixture.clone()),
            None => FileView::None,
        };
        let decision = decision::decide(matcher, &self.call, &view);
        let failures = self
            .expect
            .as_ref()
            .map(|expect| expect.compare(&decision))
            .unwrap_or_default();
        Ran { decision, failures }
    }

    /// The line it stands on, from 1.
    pub fn line(&self) -> usize {
        self.place.source.line_column(self.place.span.start).0
    }
}

/// The keys of the rules that a decision rests on: what it refuses or asks by, cleared or not, and what allows its parts.
pub fn rules(decision: &Decision, matcher: &Matcher) -> BTreeSet<String> {
    let reasons = decision.reasons.iter().chain(&decision.overtaken);
    let mut keys: BTreeSet<String> = reasons.map(|reason| reason.key.clone()).collect();
    keys.extend(decision.decided_by.iter().map(|by| by.rule.clone()));
    for judged in &decision.judged {
        keys.extend(judged.because.iter().map(|(key, _)| key.to_string()));
        if let Covered::Rule(rule) = judged.covered {
            keys.extend(matcher.rules.get(rule).map(|own| own.key.clone()));
        }
    }
    keys
}

/// A call in one line: `bash(command="git push") facts={"x":true} mode=plan`. Folders are left out.
pub fn one_line(call: &Call) -> String {
    let args = match call.args.object() {
        Ok(args) => args
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(", "),
        Err(fault) => format!("‹{fault}›"),
    };
    let mut line = format!("{}({args})", call.tool);
    let mut say = |name: &str, value: String| line.push_str(&format!(" {name}={value}"));
    if let Some(user) = &call.user {
        say("user", user.clone());
    }
    if let Some(session) = &call.session {
        say("session", session.clone());
    }
    if !call.facts.is_empty() {
        say("facts", serde_json::json!(call.facts).to_string());
    }
    if !call.approvals.is_empty() {
        let keys: Vec<&str> = call.approvals.iter().map(|own| own.key.as_str()).collect();
        say("approvals", keys.join(","));
    }
    if !call.session_approvals.is_empty() {
        say("session_approvals", call.session_approvals.join(","));
    }
    if !call.grants.is_empty() {
        say("grants", serde_json::json!(call.grants).to_string());
    }
    for (source, said) in &call.verdicts {
        say(source, format!("{said:?}").to_lowercase());
    }
    if call.mode != crate::call::Mode::default() {
        say("mode", call.mode.name().to_owned());
    }
    // A name or a path may hold anything; one line stays one line.
    line.chars()
        .map(|c| if c.is_control() { '�' } else { c })
        .collect()
}
