//! The confirmation gateway: a call that asks is held until a person decides, also across a restart.
//!
//! In: calls, and people's words. Out: exactly one end for each call, an event or a settlement, never both. What is
//! asked is stored before anybody is asked; what cannot be stored is denied. Every approval is judged again under the
//! policy as it then is. Who has won is the store's word: several gateways may share one.

mod inner;
mod judge;
mod lifecycle;
mod listed;
mod postgres;
pub mod record;
mod recovery;
pub mod runner;
mod sql;
mod sqlite;
pub mod store;
mod submission;
pub mod wire;

use crate::call::{Call, Grant};
use crate::decision::Decision;
use crate::matcher::Matcher;
use crate::session::secrets::Secrets;
use inner::Inner;
use record::Key;
use runner::ToolRunner;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::broadcast;
use wire::{Confirmation, Listed, Path, PermissionEvent, Remember, Terminal};

pub use store::{Store, open};

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

    /// The store or the runner failed where nobody is there to be told: the gateway tries again, or has denied the call.
    fn failed(&self, why: &str) {
        let _ = why;
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
    /// How many of them of one session: it must not take the room of all others.
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
            clock: Arc::new(clock),
        }
    }
}

fn clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// The gateway. A clone is the same gateway.
#[derive(Clone)]
pub struct Gateway(Arc<Inner>);

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").finish_non_exhaustive()
    }
}

impl Gateway {
    /// A gateway of a store, under a policy. Nothing is done in the background before [`Gateway::recover`].
    pub fn new(store: Arc<dyn Store>, matcher: Matcher, options: Options) -> Self {
        Self(Arc::new(Inner::new(store, matcher, options)))
    }

    /// Binds who takes the place of runs that are gone.
    pub fn bind(&self, runner: Arc<dyn ToolRunner>) {
        self.0.bind(runner);
    }

    /// Takes up what a former process left, and looks after time-outs and runs that are gone from then on, until the
    /// last clone is dropped. Returns how many confirmations are pending.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn recover(&self) -> Result<usize, Fault> {
        recovery::start(&self.0).await
    }

    /// Looks once after time-outs and runs that are gone, as is done in the background after [`Gateway::recover`].
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn tick(&self) -> Result<(), Fault> {
        recovery::tick(&self.0).await
    }

    /// Hands in a call: its end, or a person is asked. A call of an id that was there replays what became of the first.
    ///
    /// # Errors
    /// The call has no id or session, or too many are pending. A store that does not answer is no fault but a deny.
    pub async fn submit(&self, submission: Submission) -> Result<Submitted, Fault> {
        let inner = Arc::clone(&self.0);
        whole(async move { inner.submit(submission).await }).await
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
        self.0.wait(&key(session, id)?, at_most).await
    }

    /// Looks at a call, as somebody else than its run.
    ///
    /// # Errors
    /// There is no such call, or the store does not answer.
    pub async fn look(&self, session: &str, id: &str) -> Result<Submitted, Fault> {
        self.0.look(&key(session, id)?).await
    }

    /// A person's word. On the recovery path what follows from it goes on after this returns.
    ///
    /// # Errors
    /// Nothing of that id is pending, or its run is gone and nobody can take its place.
    pub async fn decide(&self, session: &str, id: &str, word: Word) -> Result<Path, Fault> {
        let (inner, key) = (Arc::clone(&self.0), key(session, id)?);
        whole(async move { inner.decide(&key, word).await }).await
    }

    /// The run does not want the call any more. What was decided or settled before stays so.
    ///
    /// # Errors
    /// There is no such call, its recovery is under way, or the store does not answer.
    pub async fn cancel(&self, session: &str, id: &str) -> Result<Terminal, Fault> {
        let (inner, key) = (Arc::clone(&self.0), key(session, id)?);
        whole(async move { inner.cancel(&key).await }).await
    }

    /// What waits for a person, the oldest of it, and how much there is.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn pending(
        &self,
        session: Option<&str>,
        at_most: usize,
    ) -> Result<(Vec<Listed>, usize), Fault> {
        self.0.pending(session, at_most).await
    }

    /// How much waits for a person.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn pending_count(&self) -> Result<usize, Fault> {
        let (pending, _) = self.0.store.count("").await?;
        Ok(pending)
    }

    /// A call as it was submitted, nothing masked.
    ///
    /// # Errors
    /// There is no such call, or the store does not answer.
    pub async fn call(&self, session: &str, id: &str) -> Result<Call, Fault> {
        let found = self.0.store.find(&key(session, id)?).await?;
        let call = found.ok_or(Fault::NotFound)?.call();
        call.map_err(Fault::Store)
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.0.events.subscribe()
    }

    /// All grants, oldest first.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn grants(&self) -> Result<Vec<Granted>, Fault> {
        self.0.store.grants().await
    }

    /// Takes a grant away.
    ///
    /// # Errors
    /// There is none of that id, or the store does not answer.
    pub async fn revoke(&self, id: &str) -> Result<Granted, Fault> {
        self.0.store.revoke(id).await?.ok_or(Fault::NotFound)
    }

    /// The policy from now on: every later judgement is under it.
    pub fn reload(&self, matcher: Matcher) {
        self.0.reload(matcher);
    }

    /// The policy as it is.
    pub fn matcher(&self) -> Arc<Matcher> {
        self.0.matcher()
    }
}

/// Does something to its end, even if nobody waits for that any more: what the store has heard is then told, too.
async fn whole<T: Send + 'static>(
    work: impl Future<Output = Result<T, Fault>> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|_| Err(Fault::Store("the gateway was stopped".into())))
}

/// How long an id may be, in bytes: it has to fit into a notification.
const LONGEST: usize = 512;

fn key(session: &str, id: &str) -> Result<Key, Fault> {
    for (name, text) in [("session", session), ("id", id)] {
        if text.is_empty() || text.len() > LONGEST || text.contains(char::is_control) {
            return Err(Fault::Invalid(format!(
                "a call's {name} has 1 to {LONGEST} bytes and no control characters"
            )));
        }
    }
    Ok(Key {
        session: session.to_owned(),
        id: id.to_owned(),
    })
}
