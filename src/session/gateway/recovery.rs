//! What goes on without anybody asking: time-outs, runs that are gone, what a former process left, other gateways.
//!
//! In: the store. Out: steps. A word that no run took up is taken up here; a tool that a gateway began to run and whose
//! end nobody heard is asked about again, never run again by itself.

use super::Fault;
use super::inner::Inner;
use super::judge;
use super::record::{Key, Record, State};
use super::runner::{ToolRunner, Unrun};
use super::store::Change;
use super::wire::{Basis, Path};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// How often what is settled for long is forgotten, in milliseconds.
const PRUNING: i64 = 60 * 60 * 1000;

/// How many calls are renewed at a time.
const SOME: usize = 64;

/// How often the end of a tool is offered to a store that does not answer.
const TRIES: usize = 40;

/// What is going on in the background.
#[derive(Debug, Default)]
pub struct Background {
    started: AtomicBool,
    renewed: AtomicI64,
    pruned: AtomicI64,
    /// Whose continuations are being started here.
    resuming: Mutex<HashSet<Key>>,
}

impl Background {
    fn resuming(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.resuming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts it; how many are pending.
pub async fn start(inner: &Arc<Inner>) -> Result<usize, Fault> {
    tick(inner).await?;
    let (pending, _) = inner.store.count("").await?;
    if inner.background.started.swap(true, Ordering::SeqCst) {
        return Ok(pending);
    }
    if let Some(changes) = inner.store.changes().await? {
        listen(inner, changes);
    }
    let period = (inner.options.lease / 4).clamp(Duration::from_millis(10), Duration::from_secs(1));
    let weak = Arc::downgrade(inner);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(period).await;
            let Some(inner) = weak.upgrade() else { return };
            if let Err(why) = tick(&inner).await {
                inner.failed(&why.to_string());
            }
        }
    });
    Ok(pending)
}

/// Hears what other gateways do.
fn listen(inner: &Arc<Inner>, mut changes: mpsc::Receiver<Change>) {
    let weak = Arc::downgrade(inner);
    tokio::spawn(async move {
        while let Some(change) = changes.recv().await {
            let Some(inner) = weak.upgrade() else { return };
            match change {
                Change::Step { writer, .. } if writer == inner.name => {}
                Change::Step { key, .. } => match inner.store.find(&key).await {
                    Ok(Some(record)) => inner.happened(&record, false),
                    Ok(None) => {}
                    // Who waits looks for himself.
                    Err(_) => inner.wake(&key),
                },
                Change::Missed => {
                    for key in inner.waited() {
                        inner.wake(&key);
                    }
                }
            }
        }
    });
}

/// Looks once after everything.
pub async fn tick(inner: &Arc<Inner>) -> Result<(), Fault> {
    inner.say().await?;
    renew(inner).await?;
    let bound = inner.runner();
    for record in inner.store.due(inner.now(), bound.is_some()).await? {
        match (record.state, &bound) {
            (State::Pending, _) => {
                inner.end(record).await?;
            }
            (State::Running, _) => {
                inner.step(record.unsure(inner.now()), &[]).await?;
            }
            (State::Decided, Some(_)) => {
                let keys = [record.key.clone()];
                let name = State::Decided.name();
                inner.store.renew(&keys, name, inner.live()).await?;
                take_up(inner, record);
            }
            (State::Settled, Some(runner)) => {
                let (inner, runner) = (Arc::clone(inner), Arc::clone(runner));
                tokio::spawn(async move { resume(&inner, record, runner).await });
            }
            _ => {}
        }
    }
    let pruned = inner.background.pruned.load(Ordering::SeqCst);
    if inner.now().saturating_sub(pruned) > PRUNING {
        inner.background.pruned.store(inner.now(), Ordering::SeqCst);
        let keep = super::inner::millis(inner.options.keep);
        inner.store.prune(inner.now().saturating_sub(keep)).await?;
    }
    Ok(())
}

/// Says of the calls that are waited for here that their runs are there; those that are not pending any more are woken,
/// should a notification have been lost.
async fn renew(inner: &Arc<Inner>) -> Result<(), Fault> {
    let renewed = inner.background.renewed.load(Ordering::SeqCst);
    if inner.now().saturating_sub(renewed) < inner.lease() / 4 {
        return Ok(());
    }
    inner
        .background
        .renewed
        .store(inner.now(), Ordering::SeqCst);
    let waited = inner.waited();
    if waited.is_empty() {
        return Ok(());
    }
    let mut renewed = HashSet::new();
    // Some at a time, so that other writers get their turn.
    for some in waited.chunks(SOME) {
        let pending = State::Pending.name();
        renewed.extend(inner.store.renew(some, pending, inner.live()).await?);
    }
    for key in waited {
        if !renewed.contains(&key) {
            inner.wake(&key);
        }
    }
    Ok(())
}

/// Takes up a word in the place of a run that is gone, and goes on without being waited for.
pub fn take_up(inner: &Arc<Inner>, record: Record) {
    let inner = Arc::clone(inner);
    tokio::spawn(async move {
        if let Err(why) = taken_up(&inner, record).await {
            inner.failed(&why.to_string());
        }
    });
}

async fn taken_up(inner: &Arc<Inner>, record: Record) -> Result<(), Fault> {
    let Some(runner) = inner.runner() else {
        return Ok(());
    };
    let Some(mut record) = inner.settle(record, Path::Recovery).await? else {
        return Ok(());
    };
    if record.state == State::Running {
        match run(inner, record, Arc::clone(&runner)).await? {
            Some(ended) => record = ended,
            None => return Ok(()),
        }
    }
    if record.state == State::Settled {
        resume(inner, record, runner).await;
    }
    Ok(())
}

/// Runs an approved call; its record with its end, or none where it may have run and is asked about again.
async fn run(
    inner: &Arc<Inner>,
    record: Record,
    runner: Arc<dyn ToolRunner>,
) -> Result<Option<Record>, Fault> {
    let orphan = record.orphan().map_err(Fault::Store)?;
    let mut tool = tokio::spawn(async move { runner.run(&orphan).await });
    let keys = [record.key.clone()];
    let said = loop {
        tokio::select! {
            said = &mut tool => break said,
            () = tokio::time::sleep(inner.options.lease / 4) => {
                let renewed = inner.store.renew(&keys, State::Running.name(), inner.live()).await;
                if let Err(why) = renewed {
                    inner.failed(&why.to_string());
                }
            }
        }
    };
    let by = record.held.word.as_ref().map(|word| word.by.clone());
    let by = by.unwrap_or_default();
    let ran = |result: String| {
        let mut end = judge::told(&inner.matcher(), &record, Basis::Approval, "");
        end.allowed = true;
        end.text = None;
        end.result = Some(result);
        end
    };
    let end = match said {
        Ok(Ok(result)) => ran(result),
        Ok(Err(Unrun::Failed(why))) => ran(format!("Error: tool {} failed - {why}", record.tool())),
        Ok(Err(Unrun::Unavailable(why))) => {
            judge::told(&inner.matcher(), &record, Basis::Unavailable, &why)
        }
        Ok(Err(Unrun::Unsure(_))) | Err(_) => {
            inner.step(record.unsure(inner.now()), &[]).await?;
            return Ok(None);
        }
    };
    let end = judge::settled(end, &by, Path::Recovery);
    let attempt = record.held.word.as_ref().map(|word| word.attempt.clone());
    let key = record.key.clone();
    let mut from = record;
    for _ in 0..TRIES {
        let settled = from
            .clone()
            .settled(end.clone(), inner.now(), Some(inner.live()));
        match inner.step(settled, &[]).await {
            Ok(Some(settled)) => return Ok(Some(settled)),
            // It was taken for lost and is asked about again: nobody has to be asked, now that its end is known.
            Ok(None) => match inner.store.find(&key).await? {
                Some(there)
                    if there.state == State::Pending
                        && there.held.word.as_ref().map(|word| &word.attempt)
                            == attempt.as_ref() =>
                {
                    from = there;
                }
                _ => return Ok(None),
            },
            Err(why) => {
                inner.failed(&why.to_string());
                tokio::time::sleep(inner.options.lease / 4).await;
            }
        }
    }
    Ok(None)
}

/// Starts the continuation of a run that is gone, unless somebody else does.
async fn resume(inner: &Arc<Inner>, record: Record, runner: Arc<dyn ToolRunner>) {
    let key = record.key.clone();
    if !inner.background.resuming().insert(key.clone()) {
        return;
    }
    if let Err(why) = resumed(inner, record, runner).await {
        inner.failed(&why);
    }
    inner.background.resuming().remove(&key);
}

/// What cannot be started is tried again, each time after twice as long; while it is being started, nobody else does.
async fn resumed(
    inner: &Arc<Inner>,
    mut record: Record,
    runner: Arc<dyn ToolRunner>,
) -> Result<(), String> {
    let told = |why: Fault| why.to_string();
    let orphan = record.orphan()?;
    let end = record.held.terminal.clone().ok_or("it has no end")?;
    let due = Some(inner.live());
    if !inner.store.put_off(&record, due).await.map_err(told)? {
        return Ok(());
    }
    record.due = due;
    let mut started = tokio::spawn(async move { runner.resume(&orphan, &end).await });
    let started = loop {
        tokio::select! {
            started = &mut started => break started,
            () = tokio::time::sleep(inner.options.lease / 4) => {
                let due = Some(inner.live());
                match inner.store.put_off(&record, due).await {
                    Ok(true) => record.due = due,
                    Ok(false) => {}
                    Err(why) => inner.failed(&why.to_string()),
                }
            }
        }
    };
    let failed = match started {
        Ok(Ok(())) => {
            // It has started, whoever put it off meanwhile.
            if !inner.store.put_off(&record, None).await.map_err(told)?
                && let Some(there) = inner.store.find(&record.key).await.map_err(told)?
            {
                inner.store.put_off(&there, None).await.map_err(told)?;
            }
            return Ok(());
        }
        Ok(Err(why)) => why,
        Err(_) => "starting a continuation failed".into(),
    };
    let again = Some(again(inner, &record));
    inner.store.put_off(&record, again).await.map_err(told)?;
    Err(failed)
}

fn again(inner: &Inner, record: &Record) -> i64 {
    let now = inner.now();
    let since = now.saturating_sub(record.settled_at.unwrap_or(now));
    now.saturating_add(since.max(inner.lease()))
}
