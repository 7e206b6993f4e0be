//! Findings → the JSON of `acl check --format json`.
//!
//! Its own structs, version 1: what stands here is stable, however the insides of acl change.
//! Lines and columns count from 1, columns in characters; an end is one past the last character.

use crate::finding::{Finding, Label, Severity};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct Report<'f> {
    version: u8,
    findings: Vec<Told<'f>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Told<'f> {
    code: &'f str,
    severity: &'f str,
    message: &'f str,
    help: Option<&'f str>,
    /// Of the first label; all null for what has no place.
    #[serde(flatten)]
    place: Place<'f>,
    labels: Vec<Marked<'f>>,
    /// A call that shows what a lint says; only lints about meaning have one.
    witness: Option<&'f Value>,
}

#[derive(Serialize, Default)]
struct Place<'f> {
    file: Option<&'f str>,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
}

#[derive(Serialize)]
struct Marked<'f> {
    #[serde(flatten)]
    place: Place<'f>,
    text: &'f str,
}

#[derive(Serialize, Default)]
struct Summary {
    errors: usize,
    denied: usize,
    warnings: usize,
}

/// The findings as one JSON value.
pub fn findings(findings: &[Finding]) -> Value {
    let mut summary = Summary::default();
    for finding in findings {
        match finding.severity {
            Severity::Error => summary.errors += 1,
            Severity::Deny => summary.denied += 1,
            Severity::Warn => summary.warnings += 1,
        }
    }
    let report = Report {
        version: 1,
        findings: findings.iter().map(told).collect(),
        summary,
    };
    // Fails only on maps with keys that are not text, and there are none.
    serde_json::to_value(report).unwrap_or_default()
}

fn told(finding: &Finding) -> Told<'_> {
    Told {
        code: finding.code,
        severity: finding.severity.name(),
        message: &finding.message,
        help: finding.help.as_deref(),
        place: finding.labels.first().map(place).unwrap_or_default(),
        labels: finding
            .labels
            .iter()
            .map(|label| Marked {
                place: place(label),
                text: &label.text,
            })
            .collect(),
        witness: finding.witness.as_deref(),
    }
}

fn place(label: &Label) -> Place<'_> {
    let (line, column) = label.source.line_column(label.span.start);
    let (end_line, end_column) = label.source.line_column(label.span.end);
    Place {
        file: Some(&label.source.name),
        line: Some(line),
        column: Some(column),
        end_line: Some(end_line),
        end_column: Some(end_column),
    }
}

#[cfg(test)]
mod tests {
    use super::findings;
    use crate::finding::{Finding, Severity};
    use crate::source::{Source, Span};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn the_shape_is_stable() {
        let source = Arc::new(Source::new("p.toml", "ä = 1\nb = 2\n", None).unwrap());
        let mut lint = Finding::error("broad-allow", "all", &source, Span::new(7, 8))
            .help("less")
            .witness(json!({"tool": "bash"}), "ls");
        lint.severity = Severity::Deny;
        let lint = lint
            .label("here")
            .also(&source, Span::new(0, 2), "and here");
        let mut bare = Finding::error("unreadable-file", "gone", &source, Span::default());
        bare.labels.clear();
        let here = json!({"file": "p.toml", "line": 2, "column": 1, "end_line": 2,
            "end_column": 2, "text": "here"});
        let there = json!({"file": "p.toml", "line": 1, "column": 1, "end_line": 1,
            "end_column": 2, "text": "and here"});
        assert_eq!(
            findings(&[lint, bare]),
            json!({
                "version": 1,
                "findings": [
                    {"code": "broad-allow", "severity": "deny", "message": "all",
                     "help": "less; for example: `ls`",
                     "file": "p.toml", "line": 2, "column": 1, "end_line": 2, "end_column": 2,
                     "labels": [here, there], "witness": {"tool": "bash"}},
                    {"code": "unreadable-file", "severity": "error", "message": "gone",
                     "help": null, "file": null, "line": null, "column": null, "end_line": null,
                     "end_column": null, "labels": [], "witness": null},
                ],
                "summary": {"errors": 1, "denied": 1, "warnings": 0},
            })
        );
    }
}
