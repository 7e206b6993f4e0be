//! `acl check`: load, validate, lint.

use super::policies::{self, Which};
use super::{Answer, Exit, output};
use crate::finding::{Finding, Severity};
use crate::matcher::Matcher;
use crate::policy::{LayerKind, Root};
use crate::report::{human, json};
use clap::{Args, ValueEnum};

/// Options of `acl check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl check acl.toml
  acl check --format json policies/*.toml
  acl check --layer user=me.toml --layer project=acl.toml

Exit codes: 0 clean or warnings, 1 findings of severity deny, 2 a policy cannot be loaded.")]
pub struct Options {
    /// Policy files, each checked by itself; `-` is stdin (default: the policies on the search path)
    files: Vec<String>,
    #[command(flatten)]
    which: Which,
    /// How findings are written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    /// Warnings fail the check too
    #[arg(long)]
    deny_warnings: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Human,
    /// For scripts.
    Json,
}

/// Runs it.
pub fn run(options: &Options) -> Answer {
    let mut findings = Vec::new();
    let mut checked = 0;
    for file in &options.files {
        match policies::read_root(LayerKind::User, file, true) {
            Ok(root) => findings.extend(check(vec![root])),
            // The other files are checked all the same.
            Err(finding) => findings.push(*finding),
        }
        checked += 1;
    }
    if options.files.is_empty() {
        let mut roots = options.which.roots()?;
        checked = roots.len();
        // What is checked is what the files say, trusted or not.
        roots.iter_mut().for_each(|root| root.trusted = true);
        findings.extend(check(roots));
    }
    let count = |severity| {
        findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    };
    let (errors, denied, warnings) = (
        count(Severity::Error),
        count(Severity::Deny),
        count(Severity::Warn),
    );
    match options.format {
        Format::Json => output::result(&format!("{:#}\n", json::findings(&findings)))?,
        Format::Human => {
            output::result(&human::findings(
                &findings,
                output::width(),
                output::color(),
            ))?;
            let files = if checked == 1 {
                "1 policy".to_owned()
            } else {
                format!("{checked} policies")
            };
            let told = [
                (errors, "error"),
                (denied, "denied lint"),
                (warnings, "warning"),
            ];
            let told: Vec<String> = told
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }))
                .collect();
            let told = if told.is_empty() {
                "no findings".to_owned()
            } else {
                told.join(", ")
            };
            output::remark(&format!("{files} checked: {told}"));
        }
    }
    Ok(match (errors, denied, warnings) {
        (1.., _, _) => Exit::Failed,
        (0, 1.., _) => Exit::Bad,
        (0, 0, 1..) if options.deny_warnings => Exit::Bad,
        _ => Exit::Good,
    })
}

fn check(roots: Vec<Root>) -> Vec<Finding> {
    match policies::load(roots) {
        Ok(policy) => Matcher::compile(policy).check_examples(),
        Err(findings) => findings,
    }
}
