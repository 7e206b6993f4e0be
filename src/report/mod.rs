//! What was found or decided → text: for people, for scripts, for other tools.
//!
//! In: findings. Out: a string or JSON value; who asked for it writes it. One file a format, chosen
//! in `cli/`. Refuses nothing.

#[cfg(feature = "cli")]
pub mod human;
pub mod json;
pub mod schema;
