//! The integration tests: one binary, its cases are data.

mod shell;
