//! A command line → accesses: what it runs, reads, writes and contacts, in the order of the text.

pub mod effects;
mod lex;
mod outline;
mod parse;
mod syntax;

pub use outline::{Outline, outline};
