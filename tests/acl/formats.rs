//! The formats of `acl check`, each as it is written for the same two policies, and SARIF against its published schema.

use crate::disk;
use crate::schema::fits;
use acl::finding::Finding;
use acl::lint::{self, Levels};
use acl::matcher::Matcher;
use acl::policy::LayerKind;
use acl::report::{Checked, FORMATS};
use acl::source::Source;
use serde_json::Value;
use std::sync::Arc;

/// Findings of every weight, on one line and over several, one kept back, with what each format must escape.
const POLICY: &str = r#"version = 1

[hosts]
allow = ["*"] # acl: allow(wide-host) a "sandbox" & <nothing> else

[paths.write]
allow = ["/**"]

[commands]
deny = [
  { match = "rm, 100%: \"x\"", exact = true },
  { match = ["rm", "-rf"] },
]
"#;

const BROKEN: &str = "version = 1\n[commands]\nalow = [\"ls\"]\n";

fn checked<T>(run: impl Fn(&Checked<'_>) -> T) -> T {
    let root = |name: &str, text: &str| {
        let source = Source::new(name, text, None).unwrap();
        vec![disk::root(LayerKind::User, Arc::new(source))]
    };
    let matcher = Matcher::compile(disk::load(root("a dir/päge,1.toml", POLICY)).unwrap());
    let mut found = lint::run(&matcher, &Levels::default(), &Default::default());
    found
        .told
        .extend(disk::load(root("broken.toml", BROKEN)).unwrap_err());
    let policies = ["a dir/päge,1.toml", "broken.toml", "clean.toml"].map(str::to_owned);
    run(&Checked {
        policies: &policies,
        told: &found.told,
        kept: &found.kept,
        page: |code| lint::page(code).ok(),
        warnings_fail: false,
        width: 80,
        color: false,
    })
}

#[test]
fn each() {
    for format in FORMATS {
        let text = checked(|own| (format.write)(own));
        let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!(format.name, text);
    }
}

fn written(name: &str, own: &Checked<'_>) -> String {
    let format = FORMATS.iter().find(|format| format.name == name).unwrap();
    (format.write)(own)
}

#[test]
fn sarif_fits_its_schema() {
    let schema = std::fs::read_to_string("tests/data/sarif-schema-2.1.0.json").unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let log: Value = serde_json::from_str(&checked(|own| written("sarif", own))).unwrap();
    assert_eq!(fits(&schema, &log, &schema), Ok(()));
    let mut spoiled = log.clone();
    spoiled["runs"][0]["results"][0]["level"] = "grave".into();
    assert!(fits(&schema, &spoiled, &schema).is_err());
    // Each result points at its rule, has a fingerprint of its own, and says whether it is kept back.
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let mut prints: Vec<&Value> = Vec::new();
    for result in results {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["text"].as_str().unwrap().starts_with("# "));
        let print = &result["partialFingerprints"]["aclFinding/v1"];
        assert!(print.is_string() && !prints.contains(&print));
        prints.push(print);
    }
    let kept = results
        .iter()
        .filter(|own| own["suppressions"] != Value::Array(Vec::new()));
    assert_eq!(kept.count(), 1);
}

#[test]
fn annotations_end_where_a_step_stops_showing_them() {
    let source = Arc::new(Source::new("p.toml", "a = 1\n", None).unwrap());
    let finding = |code, severity| {
        let mut finding = Finding::lint(code, "x", &source, acl::source::Span::new(0, 1));
        finding.severity = severity;
        finding
    };
    let mut told = vec![finding("warned", acl::finding::Severity::Warn); 14];
    told.push(finding("denied", acl::finding::Severity::Deny));
    let text = checked(|own| {
        let own = Checked {
            told: &told,
            kept: &[],
            ..*own
        };
        written("github", &own)
    });
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 12, "{text}");
    assert!(lines[0].starts_with("::error ") && lines[1].starts_with("::warning "));
    assert!(lines[11].starts_with("::notice title=acl::4 more findings"));
}
