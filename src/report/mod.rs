//! What was found or decided → text: for people, for scripts, for other tools.
//!
//! In: findings, or an explanation. Out: a string or JSON value; who asked for it writes it. One file a format and
//! subject, chosen in `cli/`. Refuses nothing.

#[cfg(feature = "cli")]
pub mod difference;
#[cfg(feature = "cli")]
pub mod human;
#[cfg(feature = "cli")]
pub mod human_explanation;
pub mod json;
pub mod json_explanation;
#[cfg(feature = "cli")]
mod picture;
pub mod schema;
#[cfg(feature = "cli")]
mod wording;
