//! Findings, or cases, → JUnit XML, which most services that run builds read.
//!
//! A suite a file; a case each finding, or each case. What XML cannot hold is replaced.

use super::Checked;
use crate::finding::{Finding, Severity};
use std::fmt::Write;

/// What one file came to.
#[derive(Debug, Default)]
pub struct Suite {
    /// The file.
    pub name: String,
    /// What was tried in it.
    pub cases: Vec<Case>,
}

/// One thing that was tried.
#[derive(Debug)]
pub struct Case {
    /// What it is called.
    pub name: String,
    /// The line it stands on, from 1.
    pub line: Option<usize>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How it ended; the texts are for people.
#[derive(Debug)]
pub enum Outcome {
    /// Well.
    Passed,
    /// Well, with a remark.
    Remarked(String),
    /// It did not count, and why.
    Skipped(String),
    /// Badly: in short, and in full.
    Failed(String, String),
    /// It could not be tried.
    Broken(String, String),
}

/// The findings of a check: a policy without any is a case that passed.
pub fn findings(checked: &Checked<'_>) -> String {
    let mut suites: Vec<Suite> = Vec::new();
    for name in checked.policies {
        suite(&mut suites, name);
    }
    for finding in checked.told {
        let full = full(finding);
        let outcome = match (finding.severity, checked.fails(finding)) {
            (Severity::Error, _) => Outcome::Broken(finding.message.clone(), full),
            (_, true) => Outcome::Failed(finding.message.clone(), full),
            (_, false) => Outcome::Remarked(full),
        };
        add(&mut suites, finding, outcome);
    }
    for (finding, reason) in checked.kept {
        let why = match reason.is_empty() {
            true => "kept back by a comment".to_owned(),
            false => format!("kept back: {reason}"),
        };
        add(&mut suites, finding, Outcome::Skipped(why));
    }
    for suite in suites.iter_mut().filter(|suite| suite.cases.is_empty()) {
        suite.cases.push(Case {
            name: "no findings".into(),
            line: None,
            outcome: Outcome::Passed,
        });
    }
    write("acl check", &suites)
}

fn suite<'s>(suites: &'s mut Vec<Suite>, name: &str) -> Option<&'s mut Suite> {
    if suites.iter().all(|suite| suite.name != name) {
        suites.push(Suite {
            name: name.to_owned(),
            cases: Vec::new(),
        });
    }
    suites.iter_mut().find(|suite| suite.name == name)
}

fn add(suites: &mut Vec<Suite>, finding: &Finding, outcome: Outcome) {
    let label = finding.labels.first();
    let name = label.map_or("", |label| label.source.name.as_str());
    let line = label.map(|label| label.source.line_column(label.span.start).0);
    if let Some(suite) = suite(suites, name) {
        suite.cases.push(Case {
            name: match line {
                Some(line) => format!("{}:{line}", finding.code),
                None => finding.code.to_owned(),
            },
            line,
            outcome,
        });
    }
}

fn full(finding: &Finding) -> String {
    let mut out = finding.message.clone();
    for label in &finding.labels {
        let (line, column) = label.source.line_column(label.span.start);
        let _ = write!(out, "\n{}:{line}:{column}", label.source.name);
        if !label.text.is_empty() {
            let _ = write!(out, ": {}", label.text);
        }
    }
    if let Some(help) = &finding.help {
        let _ = write!(out, "\nhelp: {help}");
    }
    out
}

/// The suites as one document.
pub fn write(name: &str, suites: &[Suite]) -> String {
    let all = suites.iter().flat_map(|suite| &suite.cases);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"{}\" {}>",
        escaped(name),
        counts(all)
    );
    for suite in suites {
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" {}>",
            escaped(&suite.name),
            counts(suite.cases.iter())
        );
        for case in &suite.cases {
            write_case(&mut out, &suite.name, case);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn write_case(out: &mut String, file: &str, case: &Case) {
    let file = escaped(file);
    let _ = write!(
        out,
        "    <testcase name=\"{}\" classname=\"{file}\" file=\"{file}\"",
        escaped(&case.name)
    );
    if let Some(line) = case.line {
        let _ = write!(out, " line=\"{line}\"");
    }
    let inner = match &case.outcome {
        Outcome::Passed => {
            out.push_str("/>\n");
            return;
        }
        Outcome::Remarked(text) => format!("<system-out>{}</system-out>", escaped(text)),
        Outcome::Skipped(why) => format!("<skipped message=\"{}\"/>", escaped(why)),
        Outcome::Failed(short, full) => {
            format!(
                "<failure message=\"{}\">{}</failure>",
                escaped(short),
                escaped(full)
            )
        }
        Outcome::Broken(short, full) => {
            format!(
                "<error message=\"{}\">{}</error>",
                escaped(short),
                escaped(full)
            )
        }
    };
    let _ = writeln!(out, ">\n      {inner}\n    </testcase>");
}

fn counts<'c>(cases: impl Iterator<Item = &'c Case>) -> String {
    let (mut tests, mut failures, mut errors, mut skipped) = (0, 0, 0, 0);
    for case in cases {
        tests += 1;
        match case.outcome {
            Outcome::Failed(..) => failures += 1,
            Outcome::Broken(..) => errors += 1,
            Outcome::Skipped(_) => skipped += 1,
            Outcome::Passed | Outcome::Remarked(_) => {}
        }
    }
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
}

/// Text for an element or an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // An attribute would turn them into blanks.
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
