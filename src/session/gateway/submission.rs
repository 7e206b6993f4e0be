//! A call is handed in: judged, stored, and only then is anybody asked.
//!
//! In: a submission. Out: the call's end, or that a person is asked. What cannot be stored is denied, and stored as that
//! later; a call whose id was there gets what the first got.

use super::inner::{Inner, millis};
use super::judge;
use super::record::{Key, Record, State};
use super::wire::{Basis, Terminal};
use super::{Fault, Submission, Submitted, key};
use crate::call::Call;
use crate::policy::Verdict;

/// How many ends that could not be stored are remembered until they can be.
const MOST_UNSAID: usize = 10_000;

impl Inner {
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

    /// The end of a call that could not be stored.
    pub fn untold(&self, key: &Key) -> Result<Submitted, Fault> {
        let told = self.unsaid().get(key).cloned();
        told.map(|record| self.so_far(record))
            .ok_or(Fault::NotFound)
    }
}
