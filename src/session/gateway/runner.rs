//! Who takes the place of a run that is gone: runs what was approved, and starts a continuation.
//!
//! In: the call, and what became of it. Out: what the tool said, or why it did not run. A host implements it; over HTTP
//! it is the host's callback.

use super::wire::Terminal;
use crate::call::Call;
use std::pin::Pin;

/// A future in a box: traits of async functions that are used as objects.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A call whose run is gone.
#[derive(Clone, Debug)]
pub struct Orphan {
    /// The call, as it was submitted.
    pub call: Call,
    /// Where its host wants to be called.
    pub callback: Option<String>,
    /// Who decided.
    pub decided_by: Option<String>,
    /// Differs for each time that a person decided this call: what a host goes by that must not run one word twice.
    pub attempt: String,
}

/// Why a tool said nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unrun {
    /// Nobody has it: it did not run, for certain.
    Unavailable(String),
    /// It ran and failed.
    Failed(String),
    /// It may have run: it is asked about again.
    Unsure(String),
}

/// Takes the place of runs that are gone.
pub trait ToolRunner: Send + Sync + 'static {
    /// Whether another run is active in the call's session, so that no continuation can start.
    fn active<'a>(&'a self, orphan: &'a Orphan) -> Boxed<'a, bool> {
        let _ = orphan;
        Box::pin(async { false })
    }

    /// Runs an approved call.
    fn run<'a>(&'a self, orphan: &'a Orphan) -> Boxed<'a, Result<String, Unrun>>;

    /// Starts the continuation of the run, with what became of the call; its end is not waited for.
    /// Where it cannot be started, or the gateway dies meanwhile, it is tried again: go by the call's id.
    ///
    /// # Errors
    /// Why it could not be started.
    fn resume<'a>(
        &'a self,
        orphan: &'a Orphan,
        terminal: &'a Terminal,
    ) -> Boxed<'a, Result<(), String>>;
}
