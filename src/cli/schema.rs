//! `acl schema`: what editors complete, explain and underline in a policy.

use super::{Answer, Exit, output};
use crate::report::schema;
use clap::Args;

/// Options of `acl schema`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  acl schema > acl-policy.schema.json

Then name it in the first line of a policy:
  #:schema ./acl-policy.schema.json                           TOML (Taplo, Even Better TOML, Tombi)
  # yaml-language-server: $schema=./acl-policy.schema.json    YAML

The schema knows keys and types; `acl check` also knows patterns, names and what rules mean together.")]
pub struct Options {}

/// Runs it.
pub fn run(_: &Options) -> Answer {
    output::result(&format!("{:#}\n", schema::policy()))?;
    Ok(Exit::Good)
}
