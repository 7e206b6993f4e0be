//! A call from its submission to its end: submitted, waited for, decided, cancelled.
//!
//! In: what hosts and people say. Out: steps of records. A step is told to whoever waits and watches only after the
//! store has it; one that another gateway was faster with is read again.

use super::judge::{self, Judgement};
use super::record::{Given, Key, Record, State};
use super::runner::ToolRunner;
use super::store::Store;
use super::wire::{Basis, Confirmation, Path, Terminal};
use super::{Event, Fault, Granted, Options, Submission, Submitted, Word, key, recovery, whole};
use crate::call::{Call, digest};
use crate::matcher::Matcher;
use crate::policy::Verdict;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{Notify, broadcast};
use tokio::time::{Instant, sleep_until};

/// How many ends that could not be stored are remembered until they can be.
const MOST_UNSAID: usize = 10_000;

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

/// The word of a person, after the call was judged again.
enum Outcome {
    /// The call's end, and what is granted with it.
    End(Box<Terminal>, Vec<Granted>),
    /// The policy asks about more than was approved.
    Again(Judgement),
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

    fn unsaid(&self) -> MutexGuard<'_, BTreeMap<Key, Record>> {
        self.unsaid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<Key, (usize, Arc<Notify>)>> {
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
    fn so_far(&self, record: Record) -> Submitted {
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
    async fn judge(&self, call: Call) -> Judgement {
        let (matcher, options) = (self.matcher(), self.options.clone());
        let judged =
            tokio::task::spawn_blocking(move || judge::judge(&matcher, &call, &options)).await;
        judged.unwrap_or_else(|_| Judgement::impossible("acl failed"))
    }

    /// The call with the grants and the time that count for it.
    async fn granted(&self, call: Call) -> Result<Call, Fault> {
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

    pub async fn submit(&self, submission: Submission) -> Result<Submitted, Fault> {
        let Submission {
            call,
            callback,
            timeout,
        } = submission;
        let needed = |text: &Option<String>| text.clone().unwrap_or_default();
        let key = key(&needed(&call.session), &needed(&call.id))?;
        call.check().map_err(Fault::Invalid)?;
        if call
            .user
            .as_ref()
            .is_some_and(|user| user.contains(char::is_control))
        {
            return Err(Fault::Invalid("a user has no control characters".into()));
        }
        // What only the gateway knows, a submission does not say.
        let call = Call {
            approvals: Vec::new(),
            session_approvals: Vec::new(),
            grants: Vec::new(),
            files: None,
            now: Some(self.now()),
            ..call
        };
        let told = self.unsaid().get(&key).cloned();
        if let Some(told) = told {
            return self.replay(told, &call).await;
        }
        let window = millis(timeout.unwrap_or(self.options.timeout));
        let record = Record::new(key.clone(), &call, callback, window, self.now());
        match self.first(&record, &call).await {
            Ok(Some(Ok(ended))) => Ok(ended),
            Ok(Some(Err(there))) => self.replay(there, &call).await,
            Ok(None) => Err(Fault::Full),
            Err(why) => {
                self.failed(&why.to_string());
                Ok(Submitted::Settled(self.unkept(record)))
            }
        }
    }

    /// Judges and stores a call that may be new: what became of it, or the record that was there; none: there is no room.
    async fn first(
        &self,
        record: &Record,
        call: &Call,
    ) -> Result<Option<Result<Submitted, Record>>, Fault> {
        let mut judged = self.judge(call.clone()).await;
        // Only what a grant could change needs them looked up.
        if judged.grantable && self.options.grants {
            let call = self.granted(call.clone()).await?;
            if !call.grants.is_empty() {
                judged = self.judge(call).await;
            }
        }
        let mut record = record.clone();
        self.name.clone_into(&mut record.writer);
        record = match judged.action {
            Verdict::Ask => {
                let (all, own) = self.store.count(&record.key.session).await?;
                let options = &self.options;
                if all >= options.most_pending || own >= options.most_pending_of_session {
                    return Ok(self.store.find(&record.key).await?.map(Err));
                }
                record.live_until = self.live();
                record.asking(judged.asked, self.now())
            }
            _ => {
                let end = judged.end(&record.key, &call.tool);
                record.settled(end, self.now(), None)
            }
        };
        match self.store.add(&record).await {
            Ok(None) => {
                self.happened(&record, true);
                Ok(Some(Ok(self.so_far(record))))
            }
            Ok(Some(there)) => Ok(Some(Err(there))),
            // A refusal stands, stored or not.
            Err(why) => match record.held.terminal.clone() {
                Some(end) if !end.allowed => {
                    self.failed(&why.to_string());
                    self.remember(record.clone());
                    self.happened(&record, true);
                    Ok(Some(Ok(Submitted::Settled(end))))
                }
                _ => Err(why),
            },
        }
    }

    /// The end of a call whose question, or whose end, could not be stored: nobody is asked.
    fn unkept(&self, mut record: Record) -> Terminal {
        self.name.clone_into(&mut record.writer);
        let end = judge::told(&self.matcher(), &record, Basis::PersistFailed, "");
        let record = record.settled(end.clone(), self.now(), None);
        self.remember(record.clone());
        self.happened(&record, true);
        end
    }

    /// Keeps an end that was told until it can be stored.
    fn remember(&self, record: Record) {
        let mut unsaid = self.unsaid();
        if unsaid.len() < MOST_UNSAID {
            unsaid.insert(record.key.clone(), record);
        }
    }

    /// Stores what could not be stored. What the store holds in its place was never heard of by anybody.
    pub async fn say(&self) -> Result<(), Fault> {
        let all: Vec<Record> = self.unsaid().values().cloned().collect();
        for record in all {
            if let Some(there) = self.store.add(&record).await? {
                let ours = there.version == 0
                    && there.writer == self.name
                    && there.held.digest == record.held.digest
                    && there.held.terminal != record.held.terminal;
                if ours {
                    let next = Record {
                        version: 0,
                        ..record.clone()
                    };
                    self.store.replace(&next.next(&self.name), &[]).await?;
                }
            }
            self.unsaid().remove(&record.key);
        }
        Ok(())
    }

    /// What a call of an id that was there gets: what the first got, if it is the same call.
    async fn replay(&self, there: Record, call: &Call) -> Result<Submitted, Fault> {
        if there.held.digest != call.digest() {
            let end = judge::conflict(&self.matcher(), &there.key, call);
            return Ok(Submitted::Settled(end));
        }
        if let Some(first) = there.held.terminal {
            return Ok(Submitted::Settled(Terminal {
                basis: Basis::Duplicate,
                ..first
            }));
        }
        // Its run is back.
        let keys = [there.key.clone()];
        self.store
            .renew(&keys, State::Pending.name(), self.live())
            .await?;
        Ok(self.so_far(there))
    }

    pub async fn look(&self, key: &Key) -> Result<Submitted, Fault> {
        match self.store.find(key).await? {
            Some(record) => Ok(self.so_far(record)),
            None => self.untold(key),
        }
    }

    /// The end of a call that could not be stored.
    fn untold(&self, key: &Key) -> Result<Submitted, Fault> {
        let told = self.unsaid().get(key).cloned();
        told.map(|record| self.so_far(record))
            .ok_or(Fault::NotFound)
    }

    pub async fn wait(self: &Arc<Self>, key: &Key, at_most: Duration) -> Result<Submitted, Fault> {
        let now = Instant::now();
        // A year is for ever.
        let ever = Duration::from_secs(365 * 24 * 60 * 60);
        let deadline = now + at_most.min(ever);
        let seat = Seat::taken(self, key);
        loop {
            let mut woken = pin!(seat.notify.notified());
            // From here on nothing is missed that happens after the record was read.
            woken.as_mut().enable();
            let Some(record) = self.store.find(key).await? else {
                return self.untold(key);
            };
            let mut until = deadline;
            match record.state {
                State::Settled => return Ok(self.so_far(record)),
                State::Decided => {
                    let inner = Arc::clone(self);
                    whole(async move { inner.settle(record, Path::Live).await }).await?;
                    continue;
                }
                State::Pending => {
                    let left = record.due.unwrap_or(i64::MAX).saturating_sub(self.now());
                    let Some(left) = u64::try_from(left).ok().filter(|left| *left > 0) else {
                        let inner = Arc::clone(self);
                        whole(async move { inner.end(record).await }).await?;
                        continue;
                    };
                    let left = Duration::from_millis(left).min(ever);
                    until = deadline.min(Instant::now() + left);
                    if record.live_until < self.now().saturating_add(self.lease() / 2) {
                        let keys = [key.clone()];
                        self.store
                            .renew(&keys, State::Pending.name(), self.live())
                            .await?;
                    }
                }
                State::Running => {}
            }
            if Instant::now() >= deadline {
                return Ok(self.so_far(record));
            }
            tokio::select! {
                () = woken => {}
                () = sleep_until(until) => {}
            }
        }
    }

    pub async fn decide(self: &Arc<Self>, key: &Key, word: Word) -> Result<Path, Fault> {
        let record = self.store.find(key).await?.ok_or(Fault::NotFound)?;
        if record.state != State::Pending {
            return Err(Fault::NotFound);
        }
        let now = self.now();
        if record.due.is_some_and(|due| due <= now) {
            self.end(record).await?;
            return Err(Fault::NotFound);
        }
        let live = record.live_until > now || self.seats().contains_key(key);
        let path = if live { Path::Live } else { Path::Recovery };
        if !live {
            self.free(&record).await?;
        }
        let given = Given {
            approved: word.approved,
            remember: word.remember,
            by: word
                .by
                .filter(|by| !by.is_empty())
                .unwrap_or_else(|| self.options.identity.clone()),
            path,
            attempt: nonce(),
        };
        // Whoever is to take it up gets a lease to do so; then it is anybody's.
        let decided = self.step(record.decided(given, self.live()), &[]).await?;
        let decided = decided.ok_or(Fault::NotFound)?;
        if !live {
            recovery::take_up(self, decided);
        }
        Ok(path)
    }

    /// Whether somebody can take the place of a run that is gone: bound, and no other run in its session.
    async fn free(&self, record: &Record) -> Result<(), Fault> {
        let runner = self.runner().ok_or(Fault::NotBound)?;
        let now = self.now();
        let session = &record.key.session;
        let others = self.store.unsettled(Some(session)).await?;
        let recovered = |other: &Record| {
            let path = other.held.word.as_ref().map(|word| word.path);
            other.state == State::Running
                || (other.state == State::Decided && path == Some(Path::Recovery))
        };
        if others
            .iter()
            .any(|other| other.live_until > now && recovered(other))
        {
            return Err(Fault::RunActive);
        }
        let orphan = record.orphan().map_err(Fault::Store)?;
        match runner.active(&orphan).await {
            true => Err(Fault::RunActive),
            false => Ok(()),
        }
    }

    pub async fn cancel(&self, key: &Key) -> Result<Terminal, Fault> {
        loop {
            let Some(record) = self.store.find(key).await? else {
                return match self.untold(key)? {
                    Submitted::Settled(end) => Ok(end),
                    Submitted::Pending(_) => Err(Fault::NotFound),
                };
            };
            match record.state {
                State::Settled => return record.held.terminal.ok_or(Fault::NotFound),
                State::Pending => drop(self.end(record).await?),
                State::Decided => drop(self.settle(record, Path::Live).await?),
                State::Running => return Err(Fault::RunActive),
            }
        }
    }

    /// Ends a pending call that was cancelled, or that nobody decided in time; none where another was faster.
    pub async fn end(&self, record: Record) -> Result<Option<Record>, Fault> {
        let end = judge::told(&self.matcher(), &record, Basis::Canceled, "");
        self.step(record.settled(end, self.now(), None), &[]).await
    }

    /// Makes of a word what follows from it: the call's end, or, where a tool has to be run in the place of a run that is
    /// gone, that it runs. None where another was faster, or where a person must be asked again.
    pub async fn settle(&self, record: Record, path: Path) -> Result<Option<Record>, Fault> {
        let now = self.now();
        match self.outcome(&record).await? {
            Outcome::Again(judged) => {
                let mut again = record.asking(judged.asked, now);
                again.held.note =
                    Some("It was approved, but by now the policy asks about more.".into());
                if path == Path::Recovery {
                    again.live_until = 0;
                }
                self.step(again, &[]).await?;
                Ok(None)
            }
            Outcome::End(end, grants) if path == Path::Recovery && end.allowed => {
                self.step(record.running(self.live()), &grants).await
            }
            Outcome::End(end, grants) => {
                let by = record.held.word.as_ref().map(|word| word.by.clone());
                let end = judge::settled(*end, &by.unwrap_or_default(), path);
                // Whoever makes the step starts the continuation; should it die, another does after a lease.
                let resume = (path == Path::Recovery).then(|| self.live());
                self.step(record.settled(end, now, resume), &grants).await
            }
        }
    }

    async fn outcome(&self, record: &Record) -> Result<Outcome, Fault> {
        let end = |end: Terminal| Outcome::End(Box::new(end), Vec::new());
        let matcher = self.matcher();
        let Some(word) = record.held.word.as_ref().filter(|word| word.approved) else {
            let mut reasons = record.reasons();
            if !reasons.is_empty() && !reasons.ends_with(['.', '!', '?']) {
                reasons.push('.');
            }
            return Ok(end(judge::told(&matcher, record, Basis::Refusal, &reasons)));
        };
        let call = match record.approved() {
            Ok(call) if call.digest() == record.held.digest => call,
            Ok(_) => {
                let judged = Judgement::impossible("what is stored is not what was submitted");
                return Ok(end(judged.end(&record.key, record.tool())));
            }
            Err(why) => {
                return Ok(end(
                    Judgement::impossible(&why).end(&record.key, record.tool())
                ));
            }
        };
        let call = self.granted(call).await?;
        let judged = self.judge(call.clone()).await;
        if judged.action == Verdict::Ask {
            return Ok(Outcome::Again(judged));
        }
        let grants = match (judged.action, self.options.grants) {
            (Verdict::Allow, true) => {
                let (remember, by) = (word.remember, word.by.as_str());
                judge::remembered(&judged.grants, &call, remember, by, self.now())
            }
            _ => Vec::new(),
        };
        let mut terminal = judged.end(&record.key, record.tool());
        if terminal.allowed {
            terminal.basis = Basis::Approval;
            terminal.source = None;
        }
        Ok(Outcome::End(Box::new(terminal), grants))
    }
}

/// Somebody waits for a call, until this is dropped.
struct Seat<'i> {
    inner: &'i Inner,
    key: &'i Key,
    notify: Arc<Notify>,
}

impl<'i> Seat<'i> {
    fn taken(inner: &'i Inner, key: &'i Key) -> Self {
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
fn nonce() -> String {
    // Keys of the hash are random in each process, and differ from one to the next.
    let random = [RandomState::new(), RandomState::new()];
    let random = random.map(|state| state.hash_one(std::process::id()));
    let text = digest(format!("{random:?} {:?}", std::time::Instant::now()).as_bytes());
    text.chars().skip("sha256:".len()).take(24).collect()
}
