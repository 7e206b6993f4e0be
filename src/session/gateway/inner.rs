//! What the clones of a gateway share: its store, its policy, who waits here, who watches.
//!
//! In: steps of records. Out: the same, told to whoever waits and watches, after the store has them.

use super::judge::{self, Judgement};
use super::record::{Key, Record, State};
use super::runner::ToolRunner;
use super::store::Store;
use super::wire::Confirmation;
use super::{Event, Fault, Granted, Options, Submitted, recovery};
use crate::call::{Call, digest};
use crate::matcher::Matcher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{Notify, broadcast};

/// How many events wait for a slow watcher.
const MOST_EVENTS: usize = 4096;

/// What the clones of a gateway share.
pub struct Inner {
    pub store: Arc<dyn Store>,
    pub options: Options,
    /// Which gateway this is, among those of its store.
    pub name: String,
    pub events: broadcast::Sender<Event>,
    matcher: RwLock<Arc<Matcher>>,
    runner: RwLock<Option<Arc<dyn ToolRunner>>>,
    /// Who waits here: how many for a call, and how they are woken.
    seats: Mutex<HashMap<Key, (usize, Arc<Notify>)>>,
    /// Ends that were told, and could not be stored.
    unsaid: Mutex<BTreeMap<Key, Record>>,
    pub background: recovery::Background,
}

impl Inner {
    pub fn new(store: Arc<dyn Store>, matcher: Matcher, options: Options) -> Self {
        Self {
            store,
            options,
            name: nonce(),
            events: broadcast::channel(MOST_EVENTS).0,
            matcher: RwLock::new(Arc::new(matcher)),
            runner: RwLock::new(None),
            seats: Mutex::default(),
            unsaid: Mutex::default(),
            background: recovery::Background::default(),
        }
    }

    pub fn now(&self) -> i64 {
        (self.options.clock)()
    }

    pub fn lease(&self) -> i64 {
        millis(self.options.lease)
    }

    /// Until when something counts as there that is there now.
    pub fn live(&self) -> i64 {
        self.now().saturating_add(self.lease())
    }

    pub fn matcher(&self) -> Arc<Matcher> {
        let matcher = self.matcher.read();
        Arc::clone(&matcher.unwrap_or_else(PoisonError::into_inner))
    }

    pub fn reload(&self, matcher: Matcher) {
        let mut held = self.matcher.write().unwrap_or_else(PoisonError::into_inner);
        *held = Arc::new(matcher);
    }

    pub fn bind(&self, runner: Arc<dyn ToolRunner>) {
        let mut held = self.runner.write().unwrap_or_else(PoisonError::into_inner);
        *held = Some(runner);
    }

    pub fn runner(&self) -> Option<Arc<dyn ToolRunner>> {
        let runner = self.runner.read();
        runner.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn unsaid(&self) -> MutexGuard<'_, BTreeMap<Key, Record>> {
        self.unsaid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn seats(&self) -> MutexGuard<'_, HashMap<Key, (usize, Arc<Notify>)>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which calls are waited for here.
    pub fn waited(&self) -> Vec<Key> {
        self.seats().keys().cloned().collect()
    }

    /// Wakes who waits for a call.
    pub fn wake(&self, key: &Key) {
        if let Some((_, notify)) = self.seats().get(key) {
            notify.notify_waiters();
        }
    }

    /// Tells that something went wrong where nobody hears it otherwise.
    pub fn failed(&self, why: &str) {
        if let Some(observer) = &self.options.observer {
            let _ = catch_unwind(AssertUnwindSafe(|| observer.failed(why)));
        }
    }

    pub fn shown(&self, record: &Record) -> Confirmation {
        record.confirmation(self.options.secrets.as_deref())
    }

    /// The end of a record, or that somebody is asked.
    pub fn so_far(&self, record: Record) -> Submitted {
        match record.held.terminal {
            Some(terminal) => Submitted::Settled(terminal),
            None => Submitted::Pending(self.shown(&record)),
        }
    }

    /// Makes a step; none where another was faster.
    pub async fn step(&self, record: Record, grants: &[Granted]) -> Result<Option<Record>, Fault> {
        let record = record.next(&self.name);
        match self.store.replace(&record, grants).await? {
            true => {
                self.happened(&record, true);
                Ok(Some(record))
            }
            false => Ok(None),
        }
    }

    /// Tells of a step that the store has. Ends that nobody's word brought about are told to the observer, where they were made.
    pub fn happened(&self, record: &Record, here: bool) {
        self.wake(&record.key);
        // Nobody watching is no fault.
        let _ = match (record.state, &record.held.terminal) {
            (State::Pending, _) => self.events.send(Event::Pending(self.shown(record))),
            (State::Decided, _) => self.events.send(Event::Decided(self.shown(record))),
            (State::Settled, Some(terminal)) => {
                if let (true, Some(observer), Some(event)) =
                    (here, &self.options.observer, terminal.event())
                {
                    let _ = catch_unwind(AssertUnwindSafe(|| observer.ended(&event, terminal)));
                }
                self.events.send(Event::Settled(terminal.clone()))
            }
            _ => Ok(0),
        };
    }

    /// Judges away from the threads that answer: a judgement looks at files.
    pub async fn judge(&self, call: Call) -> Judgement {
        let (matcher, options) = (self.matcher(), self.options.clone());
        let judged =
            tokio::task::spawn_blocking(move || judge::judge(&matcher, &call, &options)).await;
        judged.unwrap_or_else(|_| Judgement::impossible("acl failed"))
    }

    /// The call with the grants and the time that count for it.
    pub async fn granted(&self, call: Call) -> Result<Call, Fault> {
        let grants = match (self.options.grants, &call.session) {
            (true, Some(session)) => self.store.holding(call.user.as_deref(), session).await?,
            _ => Vec::new(),
        };
        Ok(Call {
            grants,
            now: Some(self.now()),
            ..call
        })
    }
}

/// Somebody waits for a call, until this is dropped.
pub struct Seat<'i> {
    inner: &'i Inner,
    key: &'i Key,
    pub notify: Arc<Notify>,
}

impl<'i> Seat<'i> {
    pub fn taken(inner: &'i Inner, key: &'i Key) -> Self {
        let mut seats = inner.seats();
        let (count, notify) = seats.entry(key.clone()).or_default();
        *count += 1;
        let notify = Arc::clone(notify);
        drop(seats);
        Self { inner, key, notify }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut seats = self.inner.seats();
        if let Some((count, _)) = seats.get_mut(self.key) {
            *count -= 1;
            if *count == 0 {
                seats.remove(self.key);
            }
        }
    }
}

pub fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// A name that nothing else has.
pub fn nonce() -> String {
    // Keys of the hash are random in each process, and differ from one to the next.
    let random = [RandomState::new(), RandomState::new()];
    let random = random.map(|state| state.hash_one(std::process::id()));
    let text = digest(format!("{random:?} {:?}", std::time::Instant::now()).as_bytes());
    text.chars().skip("sha256:".len()).take(24).collect()
}
