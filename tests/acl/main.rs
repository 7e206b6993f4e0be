//! The integration tests: one binary, its cases are data.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by failing"
)]

mod agents;
mod carry;
mod carry_laws;
mod cases;
mod corpus;
#[cfg(unix)]
mod differential;
mod disk;
mod drawing;
mod everyday;
mod explain;
mod fixes;
mod formats;
mod generated;
#[path = "../../examples/harness.rs"]
mod harness;
mod harness_tests;
mod init;
mod kept;
mod laws;
mod lines;
#[cfg(unix)]
mod oracle;
mod planted;
mod policies;
mod reference;
mod schema;
mod shell;
mod shell_bounds;
mod shell_laws;
mod state;
mod transcripts;
mod trust;
