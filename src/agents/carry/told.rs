//! What became of rules that were carried over → text and JSON.

use super::{Carried, Fidelity, Report, plain};
use crate::report::table::table;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The report for people: a table, then what is to be said of single rules, then what holds for all.
pub fn human(report: &Report, width: usize) -> String {
    let rows: Vec<[String; 4]> = report
        .lines
        .iter()
        .map(|line| {
            let becomes = line.becomes.join(", ");
            [
                line.at.clone(),
                line.fidelity.name().to_owned(),
                plain(&line.rule),
                becomes,
            ]
        })
        .collect();
    let mut out = match rows.is_empty() {
        true => "there is no rule\n".to_owned(),
        false => table(["at", "carried", "rule", "becomes"], &rows, width),
    };
    let said = report.lines.iter().filter(|line| !line.says.is_empty());
    for (first, line) in said.enumerate() {
        let gap = if first == 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}{} {}: {}", line.at, brief(&line.rule), line.says);
    }
    if !report.notes.is_empty() {
        out += "\nfor all of them:\n";
        for note in &report.notes {
            let _ = writeln!(out, "- {note}");
        }
    }
    let count = |fidelity| {
        report
            .lines
            .iter()
            .filter(|line| line.fidelity == fidelity)
            .count()
    };
    let all = [
        Fidelity::Full,
        Fidelity::Partial,
        Fidelity::Dead,
        Fidelity::Not,
    ];
    let counts: Vec<String> = all
        .into_iter()
        .filter(|own| count(*own) > 0)
        .map(|own| format!("{} {}", count(own), own.name()))
        .collect();
    if !counts.is_empty() {
        let rules = if report.lines.len() == 1 {
            "rule"
        } else {
            "rules"
        };
        let _ = writeln!(
            out,
            "\n{} {rules}: {}",
            report.lines.len(),
            counts.join(", ")
        );
    }
    out
}

/// What was made and the report, for scripts; `what` names what was made.
pub fn json(carried: &Carried, what: &str) -> Value {
    let lines = carried.report.lines.iter().map(|line| {
        json!({
            "at": line.at,
            "rule": line.rule,
            "fidelity": line.fidelity.name(),
            "says": line.says,
            "becomes": line.becomes,
        })
    });
    json!({
        "version": 1,
        what: carried.text,
        "rules": lines.collect::<Vec<_>>(),
        "notes": carried.report.notes,
    })
}

/// The beginning of a rule, enough to know it by.
fn brief(rule: &str) -> String {
    const LONGEST: usize = 60;
    let rule = plain(rule);
    match rule.chars().count() > LONGEST {
        true => rule.chars().take(LONGEST).chain(['…']).collect(),
        false => rule,
    }
}
