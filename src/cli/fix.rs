//! `acl check --fix`: repairs that are sure to be what was meant, in the files that were named.
//!
//! In: a file, and what checks a text under its name. Out: the file written anew (TOML), or a patch to be looked at
//! (YAML), and what was done. Refuses a file that changed meanwhile, one that may not be written, and stdin.

use super::{Stop, policies};
use crate::finding::{Finding, Fix};
use crate::source::{self, Format, Source, Span};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often the outcome is looked at again: a repair may show the next fault.
const ROUNDS: usize = 10;

/// What was done about a file.
#[derive(Debug, Default)]
pub struct Fixed {
    /// A line for each repair: where, and what.
    pub told: Vec<String>,
    /// A patch, where nothing is written.
    pub patch: Option<String>,
}

/// Repairs a file; `check` finds what is wrong with a text in its place.
pub fn file(name: &str, check: impl Fn(&Arc<Source>) -> Vec<Finding>) -> Result<Fixed, Stop> {
    if name == "-" || name.starts_with("acl:") {
        return Err(Stop::told(format!(
            "`--fix` writes files, and `{name}` is none"
        )));
    }
    let path = Path::new(name);
    // What cannot be read, or is no text, is told by the check.
    let Ok(bytes) = policies::bounded(path) else {
        return Ok(Fixed::default());
    };
    let Ok(source) = Source::new(name, bytes.clone(), None) else {
        return Ok(Fixed::default());
    };
    let first = Arc::new(source);
    let (last, told) = repaired(&first, check);
    if last.text == first.text {
        return Ok(Fixed { told, patch: None });
    }
    if first.format == Format::Yaml {
        let patch = similar::TextDiff::from_lines(&first.text, &last.text)
            .unified_diff()
            .header(&format!("a/{name}"), &format!("b/{name}"))
            .to_string();
        return Ok(Fixed {
            told,
            patch: Some(patch),
        });
    }
    if policies::bounded(path).ok() != Some(bytes) {
        return Err(Stop::told(format!(
            "`{name}` changed while it was checked: nothing is written"
        )));
    }
    write(name, &last.text).map_err(|why| Stop::told(format!("cannot write `{name}`: {why}")))?;
    Ok(Fixed { told, patch: None })
}

/// The text with all repairs, and what they are. One that makes another error is not done.
fn repaired(
    first: &Arc<Source>,
    check: impl Fn(&Arc<Source>) -> Vec<Finding>,
) -> (Arc<Source>, Vec<String>) {
    let mut source = Arc::clone(first);
    let mut told = Vec::new();
    let mut findings = check(&source);
    for _ in 0..ROUNDS {
        let fixes = own(&source, &findings);
        if fixes.is_empty() {
            break;
        }
        let text = applied(&source.text, &fixes);
        let Ok(next) = Source::new(source.name.clone(), text, Some(source.format)) else {
            break;
        };
        let next = Arc::new(next);
        let after = check(&next);
        let worse = |finding: &Finding| {
            let same = |other: &Finding| other.code == finding.code;
            let broken = finding.severity == crate::finding::Severity::Error;
            broken
                && ["syntax", "duplicate-key"].contains(&finding.code)
                && !findings.iter().any(same)
        };
        if after.iter().any(worse) {
            break;
        }
        for fix in &fixes {
            let (line, _) = source.line_column(fix.span.start);
            told.push(format!("{}:{line}: {}", source.name, fix.says));
        }
        (source, findings) = (next, after);
    }
    (source, told)
}

/// Takes back the repairs of texts that YAML aliases say again: what is right for one place may open another.
pub fn withdraw(findings: &mut [Finding]) {
    let mut known: Vec<(Arc<Source>, Vec<Span>)> = Vec::new();
    for finding in findings.iter_mut().filter(|own| own.fix.is_some()) {
        let Some(source) = finding.labels.first().map(|label| &label.source) else {
            continue;
        };
        if !known.iter().any(|(own, _)| Arc::ptr_eq(own, source)) {
            known.push((Arc::clone(source), source::read(source).shared));
        }
        let mut shared = known
            .iter()
            .filter(|(own, _)| Arc::ptr_eq(own, source))
            .flat_map(|(_, spans)| spans);
        let meets = |fix: &Fix, span: &Span| fix.span.start < span.end && span.start < fix.span.end;
        let fix = &mut finding.fix;
        if shared.any(|span| fix.as_deref().is_some_and(|fix| meets(fix, span))) {
            *fix = None;
        }
    }
}

/// The repairs of this very file, in its order, none over another.
fn own<'f>(source: &Arc<Source>, findings: &'f [Finding]) -> Vec<&'f Fix> {
    let here = findings.iter().filter(|finding| {
        let first = finding.labels.first();
        first.is_some_and(|label| Arc::ptr_eq(&label.source, source))
    });
    let mut fixes: Vec<&Fix> = here.filter_map(|finding| finding.fix.as_deref()).collect();
    fixes.sort_by_key(|fix| fix.span);
    let mut end = 0;
    fixes.retain(|fix| {
        let free = fix.span.start >= end;
        if free {
            end = fix.span.end;
        }
        free
    });
    fixes
}

fn applied(text: &str, fixes: &[&Fix]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for fix in fixes {
        out.push_str(text.get(at..fix.span.start).unwrap_or_default());
        out.push_str(&fix.text);
        at = fix.span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Writes a file as a whole or not at all: a new one beside it takes its place, with its permissions.
fn write(name: &str, text: &str) -> std::io::Result<()> {
    // A link stays one.
    let path = std::fs::canonicalize(name)?;
    let permissions = std::fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    // Whoever may write the folder might replace a file that they may not write.
    std::fs::OpenOptions::new().write(true).open(&path)?;
    let mut beside = path.clone().into_os_string();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&beside)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.set_permissions(permissions)?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&beside, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}
