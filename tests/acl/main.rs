//! The integration tests: one binary, its cases are data.

mod explain;
mod shell;
mod shell_bounds;
mod transcripts;
