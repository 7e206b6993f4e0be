//! Policies that are right load without a finding; each that is broken gets the findings its name says, in words
//! that suffice to mend it: those are snapshots, beside the files.

use crate::disk;
use acl::cases::{self, Case};
use acl::finding::Finding;
use acl::matcher::Matcher;
use acl::policy::LayerKind;
use acl::report::human;
use acl::source::Source;
use std::collections::BTreeSet;
use std::sync::Arc;

fn check(file: &str) -> Vec<Finding> {
    let bytes = std::fs::read(file).unwrap();
    let source = match Source::new(file, bytes, None) {
        Ok(source) => Arc::new(source),
        Err(finding) => return vec![finding],
    };
    if file.contains(".cases.") {
        return match cases::read(&source) {
            Ok(cases) => cases
                .cases
                .iter()
                .flat_map(|case| strange(file, case))
                .collect(),
            Err(findings) => findings,
        };
    }
    match disk::load(vec![disk::root(LayerKind::User, source)]) {
        Ok(policy) => Matcher::compile(policy).check_examples(),
        Err(findings) => findings,
    }
}

/// What a case names that its policy does not declare.
fn strange(file: &str, case: &Case) -> Vec<Finding> {
    let roots = case
        .under
        .value
        .roots(|name| disk::source(&disk::beside(file, name)));
    case.strange(&Matcher::compile(disk::load(roots.unwrap()).unwrap()))
}

#[test]
fn invalid() {
    let files: Vec<String> = disk::files("tests/policies/invalid", |name| name.ends_with("ml"))
        .into_iter()
        .filter(|file| !file.contains("/with/"))
        .collect();
    assert!(files.len() >= 58);
    let mut wrong = Vec::new();
    for file in files {
        let findings = check(&file);
        let codes: BTreeSet<&str> = findings.iter().map(|finding| finding.code).collect();
        let name = file.rsplit('/').next().unwrap();
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        let wanted: BTreeSet<&str> = match name.starts_with("several-faults") {
            true => text
                .lines()
                .next()
                .unwrap()
                .split_whitespace()
                .skip(1)
                .collect(),
            false => name.split('.').take(1).collect(),
        };
        if codes != wanted {
            wrong.push(format!("{file}: wanted {wanted:?}, got {codes:?}"));
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../policies/invalid/rendered");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| {
            let rendered = human::findings(&findings, 80, false);
            insta::assert_snapshot!(name, rendered);
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn valid() {
    let mut files = disk::files("tests/policies/valid", disk::is_policy);
    files.extend(disk::files("policies", disk::is_policy));
    files.extend(disk::files("tests/decisions/policies", disk::is_policy));
    let wrong: Vec<String> = files
        .iter()
        .map(|file| human::findings(&check(file), 80, false))
        .filter(|findings| !findings.is_empty())
        .collect();
    assert!(files.len() > 60);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn layers() {
    let layer = |kind, file: &str| disk::root(kind, disk::source(file).unwrap());
    let roots = vec![
        layer(
            LayerKind::Managed,
            "tests/policies/valid/layer-managed.toml",
        ),
        layer(
            LayerKind::Project,
            "tests/policies/valid/layer-project.yaml",
        ),
    ];
    let findings = disk::load(roots).map(|policy| Matcher::compile(policy).check_examples());
    assert_eq!(findings.unwrap(), []);
}
