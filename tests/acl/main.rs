//! The integration tests: one binary, its cases are data.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod explain;
mod shell;
mod shell_bounds;
mod transcripts;
