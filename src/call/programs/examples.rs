//! Every entry's examples, as the table gives them: a line, and what it does. `call/shell/effects/tests.rs` runs them.

/// Line and expectation.
pub const ALL: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/examples.rs"));
