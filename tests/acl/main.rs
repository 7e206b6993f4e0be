//! The integration tests: one binary, its cases are data.

mod cases;
mod disk;
mod laws;
mod policies;
mod shell;
mod shell_bounds;
mod transcripts;
