//! Policies with one fault each, which the check must find in its place; and sensible ones, in which it finds nothing.
//!
//! `tests/policies/planted/`: the first line says `# finds CODE at LINE`. What else is told of such a policy must not be
//! graver than a warning. `tests/policies/sensible/`: no finding at all.

use crate::disk;
use acl::finding::{Finding, Severity};
use acl::policy::LayerKind;

fn check(file: &str) -> Vec<Finding> {
    let root = disk::root(LayerKind::User, disk::source(file).unwrap());
    disk::checked(disk::load(vec![root]))
}

fn line(finding: &Finding) -> usize {
    let label = finding.labels.first().unwrap();
    label.source.line_column(label.span.start).0
}

fn told(findings: &[&Finding]) -> String {
    let rows = findings.iter().map(|own| {
        let severity = own.severity.name();
        format!(
            "    {severity}[{}] at {}: {}\n",
            own.code,
            line(own),
            own.message
        )
    });
    rows.collect()
}

#[test]
fn planted_faults_are_found() {
    let files = disk::files("tests/policies/planted", disk::is_policy);
    let mut wrong = String::new();
    let mut codes = std::collections::BTreeSet::new();
    for file in files.iter().filter(|file| !file.contains("/with/")) {
        let text = std::fs::read_to_string(file).unwrap();
        let words: Vec<&str> = text.lines().next().unwrap().split(' ').collect();
        let ["#", "finds", code, "at", at] = words[..] else {
            panic!("{file} does not say what is to be found");
        };
        codes.insert(code.to_owned());
        let findings = check(file);
        let wanted = |own: &&Finding| own.code == code && line(own) == at.parse::<usize>().unwrap();
        let (found, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(wanted);
        let grave = others.iter().any(|own| own.severity > Severity::Warn);
        if found.is_empty() || grave {
            wrong.push_str(&format!("{file}: wanted {code} at {at}\n{}", told(&others)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(codes.len() >= 30, "only {} kinds", codes.len());
}

#[test]
fn sensible_policies_have_no_finding() {
    let files = disk::files("tests/policies/sensible", disk::is_policy);
    assert!(files.len() >= 20);
    let mut wrong = String::new();
    for file in files {
        let findings = check(&file);
        if !findings.is_empty() {
            wrong.push_str(&format!(
                "{file}\n{}",
                told(&findings.iter().collect::<Vec<_>>())
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
