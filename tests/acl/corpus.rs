//! What other agents' policies got wrong, in public: each row is a bug or a test of a peer, under a policy of ours.
//!
//! `tests/corpus/*.exec.jsonl`: a call with its verdict, or a policy with what a check must say of it.

use crate::disk;
use acl::cases;
use acl::finding::{Finding, Severity};
use acl::matcher::Matcher;
use acl::policy::{LayerKind, Policy};
use acl::source::Source;
use serde_json::Value;
use std::sync::Arc;

/// The policy of a row: a file, a text, or one text a layer.
fn load(row: &Value) -> Result<Policy, Vec<Finding>> {
    let text = |text: &Value| {
        let format = row["format"].as_str().unwrap_or("toml");
        let name = format!("policy.{format}");
        Arc::new(Source::new(name, text.as_str().unwrap(), None).unwrap())
    };
    let roots = match (&row["policies"], row["policy_file"].as_str()) {
        (Value::Object(layers), _) => layers
            .iter()
            .map(|(kind, policy)| disk::root(LayerKind::parse(kind).unwrap(), text(policy)))
            .collect(),
        (_, Some(file)) => {
            let source = disk::source(&format!("tests/corpus/{file}")).unwrap();
            vec![disk::root(LayerKind::User, source)]
        }
        _ => vec![disk::root(LayerKind::User, text(&row["policy"]))],
    };
    disk::load(roots)
}

/// What is wrong with a row of a call.
fn decided(row: &Value) -> Option<String> {
    let mut case = row["call"].clone();
    case["name"] = row["id"].clone();
    case["policy"] = "given".into();
    case["expect"] = row["expect"].clone();
    if let Some(files) = row.get("files") {
        case["files"] = files.clone();
    }
    let source = Source::new("row.jsonl", case.to_string(), None).unwrap();
    let case = cases::read(&Arc::new(source)).unwrap().cases.remove(0);
    let matcher = Matcher::compile(load(row).unwrap());
    let failures = case.run(&matcher).failures;
    let told: Vec<String> = failures.iter().map(ToString::to_string).collect();
    (!told.is_empty()).then(|| format!("{}: {}", cases::one_line(&case.call), told.join("; ")))
}

/// What is wrong with a row of a check: some finding of that weight must stand on the line and name the words.
fn checked(row: &Value) -> Option<String> {
    let findings = disk::checked(load(row));
    let wanted = &row["expect"];
    let meets = |finding: &Finding| {
        let weight = match finding.severity {
            Severity::Error => "error",
            Severity::Deny | Severity::Warn => "warning",
        };
        let mut said = format!(
            "{} {}",
            finding.message,
            finding.help.as_deref().unwrap_or("")
        );
        for label in &finding.labels {
            said.push_str(&format!(
                " {} {}",
                label.text,
                label.span.of(&label.source.text)
            ));
        }
        let said = said.to_lowercase();
        let mentions = wanted["mentions"].as_array().into_iter().flatten();
        let lines = finding
            .labels
            .iter()
            .map(|label| label.source.line_column(label.span.start).0 as u64);
        wanted["check"] == weight
            && mentions
                .into_iter()
                .all(|word| said.contains(&word.as_str().unwrap().to_lowercase()))
            && wanted["line"]
                .as_u64()
                .is_none_or(|line| lines.into_iter().any(|own| own == line))
    };
    (!findings.iter().any(meets)).then(|| {
        let told: Vec<String> = findings
            .iter()
            .map(|finding| {
                format!(
                    "{}[{}]: {}",
                    finding.severity.name(),
                    finding.code,
                    finding.message
                )
            })
            .collect();
        format!("wanted {wanted}, got {told:?}")
    })
}

#[test]
fn what_went_wrong_elsewhere() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for file in disk::files("tests/corpus", |name| name.ends_with(".jsonl")) {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            seen += 1;
            let fault = match row.get("call") {
                Some(_) => decided(&row),
                None => checked(&row),
            };
            wrong.extend(fault.map(|fault| format!("{file}: {}: {fault}", row["id"])));
        }
    }
    assert!(seen >= 414, "only {seen} rows");
    assert!(
        wrong.is_empty(),
        "{} of {seen}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
