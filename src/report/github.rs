//! Findings → workflow commands, which GitHub Actions shows as annotations in the files of a change.
//!
//! A step shows ten errors and ten warnings and drops the others without a word: the gravest come first, and a last line
//! says how many are left. See <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.

use super::Checked;
use crate::finding::{Finding, Severity};
use std::fmt::Write;

/// How many annotations of a kind a step shows.
const MOST: usize = 10;

/// The commands, one a line.
pub fn write(checked: &Checked<'_>) -> String {
    let mut findings: Vec<&Finding> = checked.told.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut out = String::new();
    let (mut shown, mut left) = ([0, 0], 0);
    for finding in findings {
        let kind = usize::from(finding.severity == Severity::Warn);
        match shown.get_mut(kind) {
            Some(count) if *count < MOST => *count += 1,
            _ => {
                left += 1;
                continue;
            }
        }
        let command = if kind == 0 { "error" } else { "warning" };
        let mut properties = String::new();
        if let Some(label) = finding.labels.first() {
            let (line, column) = label.source.line_column(label.span.start);
            let (end_line, end_column) = label.source.line_column(label.span.end);
            let _ = write!(
                properties,
                "file={},line={line},",
                property(&label.source.name)
            );
            // A column counts only within one line.
            let _ = match line == end_line {
                true => write!(
                    properties,
                    "col={column},endLine={end_line},endColumn={end_column},"
                ),
                false => write!(properties, "endLine={end_line},"),
            };
        }
        let title = property(&format!("acl {}", finding.code));
        let text = match &finding.help {
            Some(help) => data(&format!("{}\nhelp: {help}", finding.message)),
            None => data(&finding.message),
        };
        let _ = writeln!(out, "::{command} {properties}title={title}::{text}");
    }
    if left > 0 {
        let findings = if left == 1 { "finding" } else { "findings" };
        let _ = writeln!(
            out,
            "::notice title=acl::{left} more {findings}: a step shows {MOST} of a kind, `acl check` shows all"
        );
    }
    out
}

/// What would end the line, or start an escape.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// What would end a property, as well.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
