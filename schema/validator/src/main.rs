//! The checked-in schema through a full JSON Schema validator, over every policy of this repository.
//!
//! `tests/acl/schema.rs` interprets the schema with a few lines of its own; this proves that those lines read it as
//! others do. Ends with 1 where a validator and the names of the files disagree.

use acl::source::{self, Node, Source};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Codes for what a schema can see.
const SHAPE: &[&str] = &["unknown-key", "wrong-type", "missing-key", "unknown-verdict", "unsupported-version"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let schema = std::fs::read_to_string(root.join("schema/acl-policy.schema.json"))?;
    let schema: Value = serde_json::from_str(&schema)?;
    jsonschema::draft7::meta::validate(&schema).map_err(|why| why.to_string())?;
    let validator = jsonschema::draft7::new(&schema).map_err(|why| why.to_string())?;
    let (mut right, mut wrong) = (0, 0);
    for (folder, valid) in [("policies", true), ("tests/policies/valid", true), ("tests/policies/invalid", false)] {
        for entry in std::fs::read_dir(root.join(folder))? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let policy = name.ends_with(".toml") || name.ends_with(".yaml");
            let code = name.split('.').next().unwrap_or_default();
            if !policy || name.contains(".cases.") || !(valid || SHAPE.contains(&code)) {
                continue;
            }
            let source = Source::new(name, std::fs::read_to_string(&path)?, None).map_err(|why| format!("{why:?}"))?;
            let policy = json(&source::read(&Arc::new(source)).root);
            let errors: Vec<String> = validator.iter_errors(&policy).map(|why| format!("{}: {why}", why.instance_path)).collect();
            match errors.is_empty() == valid {
                true => right += 1,
                false => {
                    wrong += 1;
                    println!("{folder}/{name}: {}", if valid { errors.join("; ") } else { "fits, and should not".into() });
                }
            }
        }
    }
    println!("{right} passed, {wrong} failed");
    if wrong > 0 {
        std::process::exit(1);
    }
    Ok(())
}

fn json(node: &Node) -> Value {
    match &node.value {
        source::Value::Text(text) => text.as_str().into(),
        source::Value::Bool(value) => (*value).into(),
        source::Value::Integer(value) => (*value).into(),
        source::Value::Float(value) => (*value).into(),
        source::Value::List(nodes) => nodes.iter().map(json).collect(),
        source::Value::Table(table) => {
            let entries = table.entries.iter().map(|entry| (entry.key.name.clone(), json(&entry.value)));
            Value::Object(entries.collect())
        }
        _ => Value::Null,
    }
}
