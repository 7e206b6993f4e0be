//! A command line → accesses: `parse.rs`, `words.rs`, `script.rs`, `effects.rs`.

pub mod effects;
