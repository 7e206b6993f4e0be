//! A call that somebody is asked about: waited for, decided, cancelled, and what its end rests on.
//!
//! In: what hosts and people say. Out: steps of records; one that another gateway was faster with is read again.

use super::inner::{Inner, Seat, nonce};
use super::judge::{self, Judgement};
use super::record::{Given, Key, Record, State};
use super::wire::{Basis, Path, Terminal};
use super::{Fault, Granted, Submitted, Word, recovery, whole};
use crate::policy::Verdict;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The word of a person, after the call was judged again.
enum Outcome {
    /// The call's end, and what is granted with it.
    End(Box<Terminal>, Vec<Granted>),
    /// The policy asks about more than was approved.
    Again(Judgement),
}

impl Inner {
    pub async fn look(&self, key: &Key) -> Result<Submitted, Fault> {
        match self.store.find(key).await? {
            Some(record) => Ok(self.so_far(record)),
            None => self.untold(key),
        }
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
