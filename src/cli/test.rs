//! `acl test`.

use super::{Answer, Stop};
use clap::Args;

/// Options of `acl test`.
#[derive(Debug, Args)]
pub struct Options {}

/// Runs it.
pub fn run(_: &Options) -> Answer {
    Err(Stop::told("being built"))
}
