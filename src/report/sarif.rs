//! Findings → SARIF 2.1.0, which code scanning reads: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/>.
//!
//! The rules are the codes that occur, with their pages as help. What a comment keeps back is a result as well, with its
//! suppression. A finding's fingerprint holds no line number, so that it stays itself when lines above it change.

use super::Checked;
use crate::finding::{Finding, Label, Severity};
use crate::source::{Source, Span};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

/// What may stand in a path of a URI.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_')
    .remove(b'~');

/// The log, with a line break at its end.
pub fn write(checked: &Checked<'_>) -> String {
    let told = checked.told.iter().map(|finding| (finding, None));
    let kept = checked
        .kept
        .iter()
        .map(|(finding, reason)| (finding, Some(reason)));
    let all: Vec<(&Finding, Option<&String>)> = told.chain(kept).collect();
    let codes: BTreeMap<&str, Severity> = all
        .iter()
        .map(|(finding, _)| (finding.code, finding.severity))
        .collect();
    let rules: Vec<Value> = codes
        .iter()
        .map(|(code, severity)| rule(code, *severity, (checked.page)(code)))
        .collect();
    let mut seen = HashMap::new();
    let results: Vec<Value> = all
        .iter()
        .map(|(finding, reason)| {
            let index = codes.keys().position(|code| *code == finding.code);
            result(finding, index, *reason, &mut seen)
        })
        .collect();
    let log = json!({
        "$schema": "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "acl",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Warn => "warning",
        Severity::Deny | Severity::Error => "error",
    }
}

fn rule(code: &str, severity: Severity, page: Option<&str>) -> Value {
    let mut rule = json!({
        "id": code,
        "defaultConfiguration": { "level": level(severity) },
    });
    if let (Some(page), Value::Object(rule)) = (page, &mut rule) {
        // Behind the title, the first paragraph says what it is.
        let paragraph = page.split("\n\n").nth(1).unwrap_or(code);
        let short = paragraph.replace('\n', " ");
        rule.insert("shortDescription".into(), json!({ "text": short }));
        rule.insert("help".into(), json!({ "text": page, "markdown": page }));
    }
    rule
}

fn result(
    finding: &Finding,
    rule: Option<usize>,
    reason: Option<&String>,
    seen: &mut HashMap<String, usize>,
) -> Value {
    let text = match &finding.help {
        Some(help) => format!("{}\nhelp: {help}", finding.message),
        None => finding.message.clone(),
    };
    let locations: Vec<Value> = finding.labels.first().map(location).into_iter().collect();
    let related: Vec<Value> = finding.labels.iter().skip(1).map(location).collect();
    let suppressions: Vec<Value> = reason
        .map(|reason| match reason.is_empty() {
            true => json!({ "kind": "inSource" }),
            false => json!({ "kind": "inSource", "justification": reason }),
        })
        .into_iter()
        .collect();
    json!({
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": level(finding.severity),
        "message": { "text": text },
        "locations": locations,
        "relatedLocations": related,
        "partialFingerprints": { "aclFinding/v1": fingerprint(finding, seen) },
        "suppressions": suppressions,
        "fixes": fixes(finding),
    })
}

fn fixes(finding: &Finding) -> Vec<Value> {
    let fix = finding.fix.as_ref().zip(finding.labels.first());
    let fix = fix.map(|(fix, label)| {
        json!({
            "description": { "text": fix.says },
            "artifactChanges": [{
                "artifactLocation": { "uri": uri(&label.source.name) },
                "replacements": [{
                    "deletedRegion": region(&label.source, fix.span),
                    "insertedContent": { "text": fix.text },
                }],
            }],
        })
    });
    fix.into_iter().collect()
}

fn region(source: &Source, span: Span) -> Value {
    let (line, column) = source.line_column(span.start);
    let (end_line, end_column) = source.line_column(span.end);
    json!({
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
    })
}

fn location(label: &Label) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&label.source.name) },
            "region": region(&label.source, label.span),
        },
    });
    if let (false, Value::Object(own)) = (label.text.is_empty(), &mut location) {
        own.insert("message".into(), json!({ "text": label.text }));
    }
    location
}

/// A path as a URI; that of a shipped policy is one already.
fn uri(name: &str) -> String {
    if let Some(preset) = name.strip_prefix("acl:") {
        return format!("acl:{}", utf8_percent_encode(preset, PATH));
    }
    let path = utf8_percent_encode(name, PATH);
    match name.starts_with('/') {
        true => format!("file://{path}"),
        false => path.to_string(),
    }
}

/// What a finding is about, and which of several that are alike it is.
fn fingerprint(finding: &Finding, seen: &mut HashMap<String, usize>) -> String {
    let mut about = finding.code.to_owned();
    if let Some(label) = finding.labels.first() {
        let source = &label.source;
        let line = source.line(source.line_column(label.span.start).0);
        for part in [
            source.name.as_str(),
            line.of(&source.text).trim(),
            label.span.of(&source.text),
        ] {
            about.push('\0');
            about.push_str(part);
        }
    }
    let nth = seen.entry(about.clone()).or_default();
    about.push_str(&format!("\0{nth}"));
    *nth += 1;
    let digest = Sha256::digest(about.as_bytes());
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
