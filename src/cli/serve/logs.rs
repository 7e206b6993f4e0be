//! The audit log of a server: written by a thread of its own, as another process may hold its lock for a while.

use super::super::audit::{Audit, Log};
use super::super::{Stop, output};
use super::metrics::Metrics;
use crate::call::Call;
use crate::decision::Decision;
use crate::matcher::Matcher;
use crate::session::gateway::Observer;
use crate::session::gateway::wire::{PermissionEvent, Terminal};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// How many lines may wait to be written; then decisions wait.
const MOST: usize = 4096;

struct Line {
    log: Arc<Log>,
    call: Call,
    decision: Decision,
    took: Duration,
}

/// The log, where one is wanted.
#[derive(Default)]
pub struct Logs {
    /// Names the policy that decides now.
    log: RwLock<Option<Arc<Log>>>,
    writer: Mutex<Option<(SyncSender<Line>, JoinHandle<()>)>>,
}

impl Logs {
    /// The log of what this policy decides.
    pub fn new(audit: &Audit, matcher: &Matcher) -> Result<Self, Stop> {
        let logs = Self::default();
        logs.renew(audit, matcher)?;
        let (sender, lines) = sync_channel::<Line>(MOST);
        let written = std::thread::Builder::new().spawn(move || {
            for line in lines {
                line.log.write(&line.call, &line.decision, line.took);
            }
        });
        let thread = written.map_err(|why| Stop::told(format!("no thread for the log: {why}")))?;
        *logs.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some((sender, thread));
        Ok(logs)
    }

    /// From now on another policy decides.
    pub fn renew(&self, audit: &Audit, matcher: &Matcher) -> Result<(), Stop> {
        let log = audit.log(Some(matcher))?.map(Arc::new);
        *self.log.write().unwrap_or_else(PoisonError::into_inner) = log;
        Ok(())
    }

    /// Waits until all is written.
    pub fn end(&self) {
        let writer = self
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some((sender, thread)) = writer {
            drop(sender);
            let _ = thread.join();
        }
    }

    fn write(&self, call: &Call, decision: &Decision, took: Duration) {
        let log = self
            .log
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let Some(log) = log else {
            return;
        };
        let sender = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = sender.as_ref().map(|(sender, _)| sender.clone());
        if let Some(sender) = sender {
            let _ = sender.send(Line {
                log,
                call: call.clone(),
                decision: decision.clone(),
                took,
            });
        }
    }
}

/// Counts and logs what the gateway does.
pub struct Watcher {
    /// The counters.
    pub metrics: Arc<Metrics>,
    /// The log.
    pub logs: Arc<Logs>,
}

impl Observer for Watcher {
    fn ended(&self, event: &PermissionEvent, _: &Terminal) {
        self.metrics.end(event);
    }

    fn failed(&self, why: &str) {
        output::warn(why);
    }

    fn judged(&self, call: &Call, decision: &Decision, took: Duration) {
        self.metrics.decision(decision, took);
        self.logs.write(call, decision, took);
    }
}
