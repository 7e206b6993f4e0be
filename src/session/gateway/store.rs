//! Where records and grants are kept: the only state that outlives a gateway.
//!
//! In: steps of calls, grants. Out: whether a step counted. A step is one replacement of a record whose version is
//! still the one before: of two that come from the same version, one counts, and that is the database's word.

use super::record::{Key, Record};
use super::runner::Boxed;
use super::{Fault, Granted, postgres, sqlite};
use crate::call::Grant;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A store's answer.
pub type Answer<'a, T> = Boxed<'a, Result<T, Fault>>;

/// What another gateway did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A step of a call.
    Step {
        /// Which call.
        key: Key,
        /// The gateway that made it.
        writer: String,
    },
    /// Some steps may have gone unheard.
    Missed,
}

/// Keeps records and grants. Each function is one step: it counts whole, or not at all.
pub trait Store: Send + Sync + 'static {
    /// Adds a record, unless there is one of its key: then that one comes back.
    fn add<'a>(&'a self, record: &'a Record) -> Answer<'a, Option<Record>>;

    /// The record of a key.
    fn find<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Record>>;

    /// Puts a record in the place of the version before it, and adds the grants; false where that is not the one stored.
    /// A later `live_until` that is stored stays, unless the record's is 0: nobody has it any more.
    fn replace<'a>(&'a self, record: &'a Record, grants: &'a [Granted]) -> Answer<'a, bool>;

    /// Puts off the time until which those of the keys that are in this state count as live; returns which they are.
    fn renew<'a>(
        &'a self,
        keys: &'a [Key],
        state: &'static str,
        until: i64,
    ) -> Answer<'a, Vec<Key>>;

    /// What has no end yet, of a session or of all, oldest first.
    fn unsettled<'a>(&'a self, session: Option<&'a str>) -> Answer<'a, Vec<Record>>;

    /// How many are pending: of all, and of a session.
    fn count<'a>(&'a self, session: &'a str) -> Answer<'a, (usize, usize)>;

    /// Some of what somebody must look after at a time: questions that nobody answered, tools whose gateway is gone;
    /// and, where somebody could, words that no run took up and continuations that did not start.
    fn due(&self, now: i64, bound: bool) -> Answer<'_, Vec<Record>>;

    /// Puts off when a continuation of a settled call is due, or says that it is none any more; false where somebody else did.
    fn put_off<'a>(&'a self, record: &'a Record, due: Option<i64>) -> Answer<'a, bool>;

    /// Forgets calls that got their end before a time.
    fn prune(&self, before: i64) -> Answer<'_, u64>;

    /// The grants of a user, for all sessions and for this one; perhaps those of a user without a name, where there is none.
    fn holding<'a>(&'a self, user: Option<&'a str>, session: &'a str) -> Answer<'a, Vec<Grant>>;

    /// All grants, oldest first.
    fn grants(&self) -> Answer<'_, Vec<Granted>>;

    /// Takes a grant away; none: there is none of that id.
    fn revoke<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Granted>>;

    /// What other gateways do from now on, where the store can tell.
    fn changes(&self) -> Answer<'_, Option<mpsc::Receiver<Change>>>;
}

/// Opens the store of an address: `sqlite:PATH`, `sqlite::memory:` or `postgres://…`.
///
/// # Errors
/// Why it cannot be opened; no secret is in the text.
pub async fn open(address: &str) -> Result<Arc<dyn Store>, Fault> {
    if address.starts_with("postgres://") || address.starts_with("postgresql://") {
        return Ok(Arc::new(postgres::Postgres::open(address).await?));
    }
    match address.strip_prefix("sqlite:") {
        Some(path) => Ok(Arc::new(sqlite::Sqlite::open(path).await?)),
        // The address may hold a password: it is not repeated.
        None => Err(Fault::Invalid(
            "a store is `sqlite:PATH` or `postgres://USER@HOST/DATABASE`".into(),
        )),
    }
}
