//! Command lines, and the commands and redirections that stand in them: `tests/shell/corpus.jsonl`.

use acl::call::shell::outline;

fn strings(value: &serde_json::Value) -> Vec<String> {
    let mut all: Vec<String> = value
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item.as_str().unwrap().to_owned())
        .collect();
    all.sort();
    all
}

#[test]
fn corpus() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shell/corpus.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for row in text.lines().filter(|row| !row.trim().is_empty()) {
        let case: serde_json::Value = serde_json::from_str(row).unwrap();
        let line = case["line"].as_str().unwrap();
        let mut got = outline(line);
        got.commands.sort();
        got.redirects.sort();
        let valid = case["valid"].as_bool().unwrap();
        seen += 1;
        if got.valid != valid
            || valid
                && (got.commands != strings(&case["commands"])
                    || got.redirects != strings(&case["redirects"]))
        {
            wrong.push(format!("{row}\n    got {got:?}"));
        }
    }
    assert!(seen >= 149, "only {seen} cases");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
