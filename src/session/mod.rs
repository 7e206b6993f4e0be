//! What is kept between calls: grants, and a log of what was decided. A decision knows nothing of it: who asks for one
//! hands in the grants that hold.
//!
//! In: the text of a file, a time. Out: grants, lines, recorded calls. No file is touched here, and no clock: that is `cli/state.rs` and
//! `cli/audit.rs`.

pub mod audit;
#[cfg(feature = "gateway")]
pub mod gateway;
pub mod grants;
pub mod log;
pub mod recorded;
pub mod secrets;
pub mod time;
