//! `acl check`: load, validate, lint.

use super::policies::{self, Which};
use super::{Answer, Exit, Stop, beside, fix, output};
use crate::finding::{ERRORS, Severity};
use crate::lint::{self, Found, Level, Levels};
use crate::matcher::Matcher;
use crate::policy::{LayerKind, Root, Trust};
use crate::report::{Checked, FORMATS, Format};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::Path;
use std::sync::Arc;

/// Options of `acl check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl check acl.toml
  acl check --format json acl.toml
  acl check --layer user=me.toml --layer project=acl.toml
  acl check --deny broad-allow --allow redundant-rule acl.toml
  acl check --explain unreachable-allow
  acl check --fix acl.toml
  acl check --format sarif acl.toml > acl.sarif

Exit codes: 0 clean or warnings, 1 findings of severity deny, 2 a policy cannot be loaded.")]
pub struct Options {
    /// Policy files, each checked by itself; `-` is stdin (default: the policies on the search path)
    files: Vec<String>,
    #[command(flatten)]
    which: Which,
    /// How findings are written
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = formats())]
    format: &'static Format,
    /// Tell a lint, whatever the policy's `[lints]` says (repeatable)
    #[arg(long, value_name = "CODE")]
    warn: Vec<String>,
    /// A lint fails the check (repeatable)
    #[arg(long, value_name = "CODE")]
    deny: Vec<String>,
    /// Do not tell a lint (repeatable)
    #[arg(long, value_name = "CODE")]
    allow: Vec<String>,
    /// Warnings fail the check too
    #[arg(long)]
    deny_warnings: bool,
    /// Repair what can only have been meant otherwise: TOML in place, YAML as a patch to look at
    #[arg(long, requires = "files", conflicts_with = "format")]
    fix: bool,
    /// Print what a lint or an error is about, with policies that have it and policies that have not
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,
}

/// Runs it.
pub fn run(options: &Options) -> Answer {
    if let Some(code) = &options.explain {
        let page = lint::page(code).map_err(|why| Stop::helped(why, known_pages()))?;
        output::result(page)?;
        return Ok(Exit::Good);
    }
    let levels = options.levels()?;
    let mut policies = Vec::new();
    let mut found = Found::default();
    for file in options.files.iter().filter(|_| options.fix) {
        let fixed = fix::file(file, |source| {
            let root = policies::rooted(LayerKind::User, Arc::clone(source));
            check(vec![root], &levels, None).told
        })?;
        let what = if fixed.patch.is_some() {
            "to fix"
        } else {
            "fixed"
        };
        for line in &fixed.told {
            output::remark(&format!("{what} {line}"));
        }
        if let Some(patch) = &fixed.patch {
            output::result(patch)?;
        }
    }
    for file in &options.files {
        policies.push(file.clone());
        found.join(match policies::read_root(LayerKind::User, file) {
            Ok(root) => check(vec![root], &levels, Some(Path::new(file))),
            // The other files are checked all the same.
            Err(finding) => Found::of(vec![*finding]),
        });
    }
    if options.files.is_empty() {
        let mut roots = options.which.roots()?;
        policies.extend(roots.iter().map(|root| root.source.name.clone()));
        // What is checked is what the files say, trusted or not.
        roots.iter_mut().for_each(|root| root.trusted = Trust::Yes);
        found.join(check(roots, &levels, None));
    }
    let checked = Checked {
        policies: &policies,
        told: &found.told,
        kept: &found.kept,
        page: |code| lint::page(code).ok(),
        warnings_fail: options.deny_warnings,
        width: output::width(),
        color: output::color(),
    };
    output::result(&(options.format.write)(&checked))?;
    output::remark(&summary(&checked));
    let fails = checked.told.iter().any(|finding| checked.fails(finding));
    Ok(match (checked.count(Severity::Error), fails) {
        (1.., _) => Exit::Failed,
        (0, true) => Exit::Bad,
        (0, false) => Exit::Good,
    })
}

/// How many findings there are, in a sentence.
fn summary(checked: &Checked<'_>) -> String {
    let files = match checked.policies.len() {
        1 => "1 policy".to_owned(),
        count => format!("{count} policies"),
    };
    let [errors, denied, warnings] =
        [Severity::Error, Severity::Deny, Severity::Warn].map(|severity| checked.count(severity));
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
    let told = match told.is_empty() {
        true => "no findings".to_owned(),
        false => told.join(", "),
    };
    let mut notes = Vec::new();
    if checked.warnings_fail && errors + denied == 0 && warnings > 0 {
        notes.push("`--deny-warnings`: they fail the check".to_owned());
    }
    match checked
        .told
        .iter()
        .filter(|finding| finding.fix.is_some())
        .count()
    {
        0 => {}
        count => notes.push(format!("`--fix` mends {count}")),
    }
    let notes = match notes.is_empty() {
        true => String::new(),
        false => format!(" ({})", notes.join("; ")),
    };
    format!("{files} checked: {told}{notes}")
}

/// The formats, for the command line.
fn formats() -> impl TypedValueParser<Value = &'static Format> {
    let names = FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name).help(format.about));
    let named = |name: String| FORMATS.iter().find(|format| format.name == name);
    PossibleValuesParser::new(names)
        .try_map(move |name| named(name).ok_or("there is no such format"))
}

impl Options {
    /// What the command line says of lints.
    fn levels(&self) -> Result<Levels, Stop> {
        let mut levels = Levels::default();
        let said = [
            ("warn", Level::Warn, &self.warn),
            ("deny", Level::Deny, &self.deny),
            ("allow", Level::Allow, &self.allow),
        ];
        for (option, level, codes) in said {
            for code in codes {
                if ERRORS.iter().any(|(error, _)| error == code) {
                    return Err(Stop::helped(
                        format!("`--{option} {code}`: this is an error, not a lint"),
                        format!("an error is mended: `acl check --explain {code}` tells how"),
                    ));
                }
                if !lint::is_code(code) {
                    return Err(Stop::helped(
                        format!("`--{option} {code}`: there is no such lint"),
                        match lint::nearest(code) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => known(),
                        },
                    ));
                }
                levels.set(code, level);
            }
        }
        Ok(levels)
    }
}

fn known() -> String {
    let codes: Vec<&str> = lint::LINTS.iter().map(|lint| lint.code).collect();
    format!("lints are {}", codes.join(", "))
}

fn known_pages() -> String {
    let codes: Vec<&str> = ERRORS.iter().map(|(code, _)| *code).collect();
    format!("{}; errors are {}", known(), codes.join(", "))
}

fn check(roots: Vec<Root>, levels: &Levels, file: Option<&Path>) -> Found {
    let mut found = found(roots, levels, file);
    fix::withdraw(&mut found.told);
    found
}

/// Loads, tries the examples, and, where nothing is wrong, lints.
fn found(roots: Vec<Root>, levels: &Levels, file: Option<&Path>) -> Found {
    let matcher = match policies::load(roots) {
        Ok(policy) => Matcher::compile(policy),
        Err(findings) => return Found::of(findings),
    };
    match matcher.check_examples() {
        errors if errors.is_empty() => {
            // Running all cases takes longer than all lints together.
            let file = file.filter(|_| levels.may_tell(&matcher, "untested-rule"));
            let decided = file.map(beside::decided).unwrap_or_default();
            lint::run(&matcher, levels, &decided)
        }
        errors => Found::of(errors),
    }
}
