//! The confirmation gateway: a call that asks is held until a person decides, also across a restart.
//!
//! In: calls, and people's words. Out: exactly one end for each call, an event or a settlement, never both. What is
//! asked is stored before anybody is asked; what cannot be stored is denied. Every approval is judged again under the
//! policy as it then is. Who has won is the store's word: several gateways may share one.

pub mod runner;
pub mod wire;

use crate::call::{Call, Grant};
use crate::decision::Decision;
use crate::matcher::Matcher;
use crate::session::secrets::Secrets;
use runner::ToolRunner;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use wire::{Confirmation, Listed, Path, PermissionEvent, Remember, Terminal};

/// A call that is handed in.
///
/// Approvals, grants and the time that it brings along are dropped: those are the gateway's. Facts, verdicts, user and
/// mode count: whoever hands in calls of others must have seen to them.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// The call. Its id and session are needed.
    pub call: Call,
    /// Where its host wants to be called, should its run be gone when somebody decides.
    pub callback: Option<String>,
    /// How long to wait for a person; none: [`Options::timeout`].
    pub timeout: Option<Duration>,
}

/// What became of a call so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Submitted {
    /// Its end.
    Settled(Terminal),
    /// A person is asked.
    Pending(Confirmation),
}

/// A person's word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Yes, or no.
    pub approved: bool,
    /// What a yes is remembered for.
    pub remember: Remember,
    /// Who says so; none: [`Options::identity`].
    pub by: Option<String>,
}

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No confirmation of that id is pending: unknown, decided, cancelled, or another was faster.
    NotFound,
    /// The run is gone, and nobody is bound who could take its place.
    NotBound,
    /// Another run is active in the session; the confirmation stays pending.
    RunActive,
    /// The id belongs to another call.
    Conflict,
    /// As many are pending as may be.
    Full,
    /// What is asked for is not valid, and why.
    Invalid(String),
    /// The store does not answer; no secret is in the text.
    Store(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("no such confirmation is pending"),
            Self::NotBound => {
                f.write_str("its run is gone, and nobody can run the tool in its place")
            }
            Self::RunActive => f.write_str("another run is active in its session"),
            Self::Conflict => f.write_str("the id belongs to another call"),
            Self::Full => f.write_str("too many confirmations are pending"),
            Self::Invalid(why) => f.write_str(why),
            Self::Store(why) => write!(f, "the store: {why}"),
        }
    }
}

impl std::error::Error for Fault {}

/// What happens, for whoever watches: also at other gateways of the same store, but for ends that nobody was asked about.
#[derive(Clone, Debug)]
pub enum Event {
    /// A person is asked.
    Pending(Confirmation),
    /// A person has decided.
    Decided(Confirmation),
    /// A call has its end.
    Settled(Terminal),
}

/// A grant of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// Its id, by which it is revoked.
    pub id: String,
    /// The grant.
    #[serde(flatten)]
    pub grant: Grant,
}

/// Is told; changes nothing, even if it panics.
pub trait Observer: Send + Sync + 'static {
    /// An end that nobody's word brought about: once for each such call, at the gateway that settled it.
    fn ended(&self, event: &PermissionEvent, terminal: &Terminal) {
        let _ = (event, terminal);
    }

    /// A call was judged: at its submission, and again when it was approved.
    fn judged(&self, call: &Call, decision: &Decision, took: Duration) {
        let _ = (call, decision, took);
    }
}

/// The time, in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// How a gateway is set up.
#[derive(Clone)]
pub struct Options {
    /// Who has decided, where nobody says who.
    pub identity: String,
    /// How long a person has.
    pub timeout: Duration,
    /// How long a run counts as waiting after it last asked; a gateway that runs a tool renews its own.
    pub lease: Duration,
    /// How many may be pending at once.
    pub most_pending: usize,
    /// How many of one session.
    pub most_pending_of_session: usize,
    /// Whether grants are read, and approvals remembered.
    pub grants: bool,
    /// How long settled calls are kept, so that their ids replay.
    pub keep: Duration,
    /// What is masked in what people are shown; none: arguments are not shown.
    pub secrets: Option<Arc<Secrets>>,
    /// Who is told.
    pub observer: Option<Arc<dyn Observer>>,
    /// The clock.
    pub clock: Clock,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").finish_non_exhaustive()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            identity: "user".to_owned(),
            timeout: Duration::from_secs(600),
            lease: Duration::from_secs(20),
            most_pending: 10_000,
            most_pending_of_session: 1_000,
            grants: true,
            keep: Duration::from_secs(30 * 24 * 60 * 60),
            secrets: Secrets::with(&[]).ok().map(Arc::new),
            observer: None,
            clock: Arc::new(|| 0),
        }
    }
}

/// The gateway. A clone is the same gateway.
#[derive(Clone, Debug)]
pub struct Gateway {
    events: broadcast::Sender<Event>,
    matcher: Arc<Matcher>,
}

impl Gateway {
    /// A gateway of a store, under a policy. Nothing is done in the background before [`Gateway::recover`].
    pub fn new(store: Arc<dyn Store>, matcher: Matcher, options: Options) -> Self {
        let _ = (store, options);
        Self {
            matcher: Arc::new(matcher),
            events: broadcast::channel(4096).0,
        }
    }

    /// Binds who takes the place of runs that are gone.
    pub fn bind(&self, runner: Arc<dyn ToolRunner>) {
        let _ = runner;
    }

    /// Takes up what a former process left, and looks after time-outs and runs that are gone from then on, until the
    /// last clone is dropped. Returns how many confirmations are pending.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn recover(&self) -> Result<usize, Fault> {
        unfinished()
    }

    /// Hands in a call: its end, or a person is asked. A call of an id that was there replays what became of the first.
    ///
    /// # Errors
    /// The call has no id or session, or too many are pending. A store that does not answer is no fault but a deny.
    pub async fn submit(&self, submission: Submission) -> Result<Submitted, Fault> {
        let _ = submission;
        unfinished()
    }

    /// Waits for a call's end. Its run counts as live meanwhile, and for a lease after.
    ///
    /// # Errors
    /// There is no such call, or the store does not answer.
    pub async fn wait(
        &self,
        session: &str,
        id: &str,
        at_most: Duration,
    ) -> Result<Submitted, Fault> {
        let _ = (session, id, at_most);
        unfinished()
    }

    /// Looks at a call, as somebody else than its run.
    ///
    /// # Errors
    /// There is no such call, or the store does not answer.
    pub async fn look(&self, session: &str, id: &str) -> Result<Submitted, Fault> {
        let _ = (session, id);
        unfinished()
    }

    /// A person's word. On the recovery path what follows from it goes on after this returns.
    ///
    /// # Errors
    /// Nothing of that id is pending, or its run is gone and nobody can take its place.
    pub async fn decide(&self, session: &str, id: &str, word: Word) -> Result<Path, Fault> {
        let _ = (session, id, word);
        unfinished()
    }

    /// The run does not want the call any more. What was decided or settled before stays so.
    ///
    /// # Errors
    /// There is no such call, its recovery is under way, or the store does not answer.
    pub async fn cancel(&self, session: &str, id: &str) -> Result<Terminal, Fault> {
        let _ = (session, id);
        unfinished()
    }

    /// What waits for a person, oldest first.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn pending(
        &self,
        session: Option<&str>,
        at_most: usize,
    ) -> Result<(Vec<Listed>, usize), Fault> {
        let _ = (session, at_most);
        unfinished()
    }

    /// How many.
    ///
    /// # Errors
    /// x
    pub async fn pending_count(&self) -> Result<usize, Fault> {
        unfinished()
    }

    /// The call.
    ///
    /// # Errors
    /// x
    pub async fn call(&self, session: &str, id: &str) -> Result<Call, Fault> {
        let _ = (session, id);
        unfinished()
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// All grants, oldest first.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn grants(&self) -> Result<Vec<Granted>, Fault> {
        unfinished()
    }

    /// Takes a grant away.
    ///
    /// # Errors
    /// There is none of that id, or the store does not answer.
    pub async fn revoke(&self, id: &str) -> Result<Granted, Fault> {
        let _ = id;
        unfinished()
    }

    /// The policy from now on: every later judgement is under it.
    pub fn reload(&self, matcher: Matcher) {
        let _ = matcher;
    }

    /// The policy as it is.
    pub fn matcher(&self) -> Arc<Matcher> {
        Arc::clone(&self.matcher)
    }
}

fn unfinished<T>() -> Result<T, Fault> {
    Err(Fault::Store("unfinished".into()))
}

/// Where calls and grants are kept.
pub trait Store: Send + Sync + 'static {}

/// Opens the store of an address: `sqlite:PATH`, `sqlite::memory:` or `postgres://…`.
///
/// # Errors
/// Why it cannot be opened; no secret is in the text.
pub async fn open(address: &str) -> Result<Arc<dyn Store>, Fault> {
    let _ = address;
    unfinished()
}
