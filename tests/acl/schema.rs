//! The reader and the schema say the same of every policy: of the shipped ones, of the cases, and of thousands made
//! from them by spoiling one place. The few words of draft-07 that the generator writes are interpreted here, since a
//! full validator takes minutes to build; `schema/validator/` runs one over the same files.

use crate::generated::{at, text};
use acl::policy::File;
use acl::source::{self, Format, Node, Source};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Codes for what a schema can see.
const SHAPE: &[&str] = &[
    "unknown-key",
    "wrong-type",
    "missing-key",
    "unknown-verdict",
    "unsupported-version",
];

#[test]
fn valid_policies_fit_the_schema() {
    let schema = acl::report::schema::policy();
    for folder in ["tests/policies/valid", "policies"] {
        for (name, policy) in policies(folder) {
            assert_eq!(fits(&schema, &policy, &schema), Ok(()), "{name}");
        }
    }
}

#[test]
fn policies_of_the_wrong_shape_do_not() {
    let schema = acl::report::schema::policy();
    let mut seen = 0;
    for (name, policy) in policies("tests/policies/invalid") {
        let code = name.split('.').next().unwrap_or_default();
        if SHAPE.contains(&code) {
            seen += 1;
            assert!(fits(&schema, &policy, &schema).is_err(), "{name}");
        }
    }
    assert!(seen > 10, "{seen} files are too few");
}

#[test]
fn reader_and_schema_agree_on_spoiled_policies() {
    let schema = acl::report::schema::policy();
    let mut tried = 0;
    for (name, policy) in policies("tests/policies/valid") {
        for (how, spoiled) in spoiled(&policy) {
            let found = shape_findings(&spoiled);
            let fit = fits(&schema, &spoiled, &schema);
            assert_eq!(
                found.is_empty(),
                fit.is_ok(),
                "{name}, {how}\nreader: {found:?}\nschema: {fit:?}"
            );
            tried += 1;
        }
    }
    assert!(tried > 2_000, "{tried} policies are too few");
}

#[test]
fn defaults_and_examples_have_the_shape_they_stand_at() {
    fn walk(schema: &Value, root: &Value, seen: &mut usize) {
        let examples = schema
            .get("examples")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        if schema.get("description").is_some_and(Value::is_string) {
            for value in examples.chain(schema.get("default")) {
                assert_eq!(fits(schema, value, root), Ok(()), "{value}");
                *seen += 1;
            }
        }
        match schema {
            Value::Object(map) => map.values().for_each(|inner| walk(inner, root, seen)),
            Value::Array(list) => list.iter().for_each(|inner| walk(inner, root, seen)),
            _ => {}
        }
    }
    let schema = acl::report::schema::policy();
    let mut seen = 0;
    walk(&schema, &schema, &mut seen);
    assert!(seen > 40, "{seen} are too few");
}

/// The policies of a folder, with their names; cases and what cannot be read are none.
fn policies(folder: &str) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(at(folder)).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let policy = [".toml", ".yaml"].iter().any(|end| name.ends_with(end));
        if policy
            && !name.contains(".cases.")
            && !name.starts_with("syntax.")
            && !name.starts_with("duplicate-key.")
        {
            let source = Source::new(&name, text(&format!("{folder}/{name}")), None).unwrap();
            out.push((name, json_of(&source::read(&Arc::new(source)).root)));
        }
    }
    out.sort_by(|(one, _), (other, _)| one.cmp(other));
    out
}

fn json_of(node: &Node) -> Value {
    match &node.value {
        source::Value::Text(text) => text.as_str().into(),
        source::Value::Bool(value) => (*value).into(),
        source::Value::Integer(value) => (*value).into(),
        source::Value::Float(value) => (*value).into(),
        source::Value::List(nodes) => nodes.iter().map(json_of).collect(),
        source::Value::Table(table) => {
            let entries = table
                .entries
                .iter()
                .map(|entry| (entry.key.name.clone(), json_of(&entry.value)));
            Value::Object(entries.collect())
        }
        _ => Value::Null,
    }
}

/// What the reader says of the shape. JSON is YAML, so it reads what was spoiled as it reads any file.
fn shape_findings(policy: &Value) -> Vec<String> {
    let source = Source::new("spoiled.yaml", policy.to_string(), Some(Format::Yaml)).unwrap();
    let (_, findings) = File::read(&Arc::new(source));
    let findings = findings
        .into_iter()
        .filter(|finding| SHAPE.contains(&finding.code));
    findings.map(|finding| finding.message).collect()
}

/// The policy with one place changed: a key renamed, taken out or added, a value of another kind.
fn spoiled(policy: &Value) -> Vec<(String, Value)> {
    let mut pointers = Vec::new();
    places(policy, String::new(), &mut pointers);
    let mut out = Vec::new();
    for pointer in &pointers {
        for other in [
            json!(7),
            json!("deny"),
            json!(["read"]),
            json!({ "match": "x" }),
        ] {
            let mut copy = policy.clone();
            if let Some(place) = copy.pointer_mut(pointer) {
                *place = other.clone();
            }
            out.push((format!("{pointer} = {other}"), copy));
        }
        let Some(Value::Object(map)) = policy.pointer(pointer) else {
            continue;
        };
        let mut edit = |how: String, change: &dyn Fn(&mut Map<String, Value>)| {
            let mut copy = policy.clone();
            if let Some(Value::Object(map)) = copy.pointer_mut(pointer) {
                change(map);
            }
            out.push((how, copy));
        };
        for name in map.keys() {
            edit(format!("{pointer} without {name}"), &|map| {
                drop(map.remove(name))
            });
        }
        for (name, value) in [
            ("typo", json!("x")),
            ("forced", json!(true)),
            ("only", json!("read")),
            ("with", json!(["-f"])),
            ("except", json!(["x"])),
            ("exact", json!(true)),
            ("access", json!("both")),
            ("paths", json!(["x"])),
            ("hosts", json!(["x.org"])),
        ] {
            edit(format!("{pointer} with {name}"), &|map| {
                drop(map.insert(name.into(), value.clone()))
            });
        }
    }
    out
}

fn places(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| {
            let name = name.replace('~', "~0").replace('/', "~1");
            places(value, format!("{at}/{name}"), out);
        }),
        // The first ones of a list stand for the others: the shape is the same.
        Value::Array(list) => list
            .iter()
            .take(3)
            .enumerate()
            .for_each(|(index, value)| places(value, format!("{at}/{index}"), out)),
        _ => {}
    }
    out.push(at);
}

/// Whether a value fits a schema: the words of draft-07 that the generator and SARIF write, and no others.
pub fn fits(schema: &Value, value: &Value, root: &Value) -> Result<(), String> {
    let Value::Object(words) = schema else {
        return if schema == &json!(false) {
            Err("nothing may stand here".into())
        } else {
            Ok(())
        };
    };
    for (word, asks) in words {
        let list = || asks.as_array().into_iter().flatten();
        let map = || asks.as_object().into_iter().flatten();
        let object = value.as_object();
        match word.as_str() {
            "$schema" | "$id" | "title" | "description" | "default" | "examples"
            | "definitions" => {}
            "minItems" => {
                let least = asks.as_u64().unwrap_or_default();
                if value
                    .as_array()
                    .is_some_and(|own| (own.len() as u64) < least)
                {
                    return Err(format!("fewer than {least}"));
                }
            }
            "uniqueItems" => {
                let own = value.as_array().map(Vec::as_slice).unwrap_or_default();
                let twice = |(at, item): (usize, &Value)| own[..at].contains(item);
                if asks == &json!(true) && own.iter().enumerate().any(twice) {
                    return Err(format!("{value} holds one twice"));
                }
            }
            "minimum" | "maximum" => {
                let (own, limit) = (value.as_f64(), asks.as_f64().unwrap());
                let beyond = |own: f64| {
                    if word == "minimum" {
                        own < limit
                    } else {
                        own > limit
                    }
                };
                if own.is_some_and(beyond) {
                    return Err(format!("{value} is beyond {asks}"));
                }
            }
            "format" => {
                let text = value.as_str().unwrap_or_default();
                let plain = |c: char| c.is_ascii_graphic() && !"<>\"{}|\\^`".contains(c);
                let absolute = asks != &json!("uri") || url::Url::parse(text).is_ok();
                if value.is_string() && !(absolute && text.chars().all(plain)) {
                    return Err(format!("{value} is no {asks}"));
                }
            }
            "oneOf" => {
                if list()
                    .filter(|asks| fits(asks, value, root).is_ok())
                    .count()
                    != 1
                {
                    return Err(format!("{value} is not just one of several"));
                }
            }
            // Sizes, whose reader is to agree with it.
            "pattern" if asks == "^[1-9][0-9]{0,8}[KMG]?$" => {
                if value
                    .as_str()
                    .is_some_and(|text| acl::policy::audit::size(text).is_err())
                {
                    return Err(format!("{value} is no size"));
                }
            }
            // Of texts that acl does not write: dates, identifiers, languages.
            "pattern" => return Err(format!("{value} would have to fit {asks}")),
            "$ref" => {
                let name = asks
                    .as_str()
                    .and_then(|name| name.strip_prefix('#'))
                    .ok_or("a foreign reference")?;
                fits(root.pointer(name).ok_or(format!("no {name}"))?, value, root)?;
            }
            "type" => {
                let known = |name: &Value| match name.as_str() {
                    Some("object") => value.is_object(),
                    Some("array") => value.is_array(),
                    Some("string") => value.is_string(),
                    Some("boolean") => value.is_boolean(),
                    Some("number") => value.is_number(),
                    Some("integer") => value.is_i64() || value.is_u64(),
                    other => panic!("the type {other:?}"),
                };
                let one = asks.is_string() && known(asks);
                if !one && !list().any(known) {
                    return Err(format!("{value} is no {asks}"));
                }
            }
            "enum" => {
                if !list().any(|word| word == value) {
                    return Err(format!("{value} is none of {asks}"));
                }
            }
            "items" => value
                .as_array()
                .into_iter()
                .flatten()
                .try_for_each(|item| fits(asks, item, root))?,
            "properties" => map().try_for_each(|(name, asks)| {
                value.get(name).map_or(Ok(()), |value| {
                    fits(asks, value, root).map_err(|why| format!("{name}: {why}"))
                })
            })?,
            "additionalProperties" => {
                let known = words.get("properties").and_then(Value::as_object);
                for (name, value) in object.into_iter().flatten() {
                    if known.is_none_or(|known| !known.contains_key(name)) {
                        fits(asks, value, root).map_err(|why| format!("{name}: {why}"))?;
                    }
                }
            }
            "required" => {
                if let Some(lacks) = list()
                    .filter_map(Value::as_str)
                    .find(|name| object.is_some_and(|own| !own.contains_key(*name)))
                {
                    return Err(format!("lacks {lacks}"));
                }
            }
            "dependencies" => {
                for (_, asks) in map().filter(|(name, _)| value.get(name).is_some()) {
                    fits(asks, value, root)?;
                }
            }
            "anyOf" => {
                if !list().any(|asks| fits(asks, value, root).is_ok()) {
                    return Err(format!("{value} is none of several"));
                }
            }
            "allOf" => list().try_for_each(|asks| fits(asks, value, root))?,
            "not" => {
                if fits(asks, value, root).is_ok() {
                    return Err(format!("{value} fits what it must not"));
                }
            }
            other => panic!("the generator writes `{other}`, and this test does not know it"),
        }
    }
    Ok(())
}
