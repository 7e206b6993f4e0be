//! The key table as JSON Schema, draft-07: what editors complete, explain and underline.
//!
//! In: the table in `policy/keys.rs`. Out: one JSON value. It says what a policy looks like; whether patterns can be
//! read and names exist, only `acl check` knows. Draft-07 because that is what the editors of TOML and YAML speak.

use crate::policy::keys::{self, Key, Shape};
use crate::policy::rule::Verdict;
use serde_json::{Map, Value, json};

/// The schema's name. No address: it is found as a file, or printed by `acl schema`.
const ID: &str = "urn:acl:policy:1";

/// The lists of a section, and the verdicts they stand for.
const LISTS: [(&str, Verdict); 4] = [
    ("allow", Verdict::Allow),
    ("ask", Verdict::Ask),
    ("confirm", Verdict::Ask),
    ("deny", Verdict::Deny),
];

/// The schema of policy files.
pub fn policy() -> Value {
    let mut out = Generator::default();
    let mut schema = Map::new();
    schema.insert(
        "$schema".into(),
        "http://json-schema.org/draft-07/schema#".into(),
    );
    schema.insert("$id".into(), ID.into());
    schema.insert("title".into(), "acl policy".into());
    schema.insert(
        "description".into(),
        "Which tool calls of AI agents are allowed, asked about or denied.".into(),
    );
    schema.extend(out.table(keys::POLICY, None));
    schema.insert("definitions".into(), out.definitions.into());
    schema.into()
}

/// Collects the shapes that several keys share.
#[derive(Default)]
struct Generator {
    definitions: Map<String, Value>,
}

impl Generator {
    fn table(&mut self, table: &'static [Key], list: Option<Verdict>) -> Map<String, Value> {
        let table: Vec<&'static Key> = table.iter().filter(|key| stands(key, list)).collect();
        let mut properties = Map::new();
        for key in &table {
            let schema = match keys::COMMON.iter().any(|common| same(common, key)) {
                true => self.shared(key.name, |out| out.key(key, None)),
                false => self.key(
                    key,
                    LISTS
                        .iter()
                        .find(|(name, _)| *name == key.name)
                        .map(|(_, verdict)| *verdict),
                ),
            };
            properties.insert(key.name.into(), schema);
        }
        let has = |name: &str| table.iter().any(|key| key.name == name);
        let mut out = object();
        out.insert("properties".into(), properties.into());
        let required: Vec<&str> = table
            .iter()
            .filter(|key| key.required)
            .map(|key| key.name)
            .collect();
        if !required.is_empty() {
            out.insert("required".into(), json!(required));
        }
        out.insert("additionalProperties".into(), false.into());
        // A long rule says itself what it judges, so some of its keys ask for another.
        if keys::TARGETS.iter().all(|target| has(target)) && !has("version") {
            self.long_rule(&has, &mut out);
        }
        out
    }

    fn long_rule(&self, has: &dyn Fn(&str) -> bool, out: &mut Map<String, Value>) {
        let [commands, paths, hosts] = keys::TARGETS;
        let both = [[commands, paths], [commands, hosts], [paths, hosts]];
        let both = both.map(|pair| json!({ "required": pair }));
        out.insert("not".into(), json!({ "anyOf": both }));
        let mut needs = Map::new();
        for (name, targets) in keys::NEEDS.into_iter().filter(|(name, _)| has(name)) {
            let any: Vec<Value> = targets
                .iter()
                .map(|target| json!({ "required": [target] }))
                .collect();
            needs.insert(name.into(), json!({ "anyOf": any }));
        }
        for (name, verdict) in keys::UNDER.into_iter().filter(|(name, _)| has(name)) {
            let words: Vec<&str> = keys::VERDICTS
                .iter()
                .copied()
                .filter(|word| Verdict::parse(word) == Some(verdict))
                .collect();
            let action = json!({ "properties": { "action": { "enum": words } } });
            match needs.get_mut(name).and_then(Value::as_object_mut) {
                Some(own) => own.extend(action.as_object().cloned().unwrap_or_default()),
                None => drop(needs.insert(name.into(), action)),
            }
        }
        out.insert("dependencies".into(), needs.into());
    }

    /// One key: what it holds, and the texts about it.
    fn key(&mut self, key: &'static Key, list: Option<Verdict>) -> Value {
        let mut out = self.shape(&key.shape, list);
        // Next to a `$ref` draft-07 reads nothing else.
        if out.contains_key("$ref") {
            let reference = std::mem::take(&mut out);
            out.insert("allOf".into(), json!([reference]));
        }
        out.insert("description".into(), key.about.into());
        // Both are JSON by the tests below.
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        if let Some(default) = key.default {
            out.insert("default".into(), parsed(default));
        }
        if !key.examples.is_empty() {
            let examples: Vec<Value> = key.examples.iter().copied().map(parsed).collect();
            out.insert("examples".into(), examples.into());
        }
        out.into()
    }

    fn shape(&mut self, shape: &'static Shape, list: Option<Verdict>) -> Map<String, Value> {
        let schema = match shape {
            Shape::Version => json!({ "type": "integer", "enum": [1] }),
            Shape::Text => json!({ "type": "string" }),
            Shape::Bool => json!({ "type": "boolean" }),
            Shape::Verdict => json!({ "type": "string", "enum": keys::VERDICTS }),
            Shape::Choice(words) => json!({ "type": "string", "enum": words }),
            Shape::Count => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
            Shape::Size => json!({ "type": "string", "pattern": "^[1-9][0-9]{0,8}[KMG]?$" }),
            Shape::Scalar => json!({ "type": ["string", "number", "boolean"] }),
            Shape::List(inner) => json!({ "type": "array", "items": self.shape(inner, list) }),
            Shape::OneOrMany(Shape::Text) => self.shared("texts", |_| {
                json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
            }),
            Shape::OneOrMany(inner) => {
                let inner = self.shape(inner, list);
                json!({ "anyOf": [inner, { "type": "array", "items": inner }] })
            }
            Shape::Table(table) => match shared_name(table) {
                Some(name) => self.shared(name, |out| out.table(table, None).into()),
                None => self.table(table, None).into(),
            },
            Shape::Map(inner) => {
                let mut map = object();
                map.insert("additionalProperties".into(), self.shape(inner, list).into());
                map.into()
            }
            Shape::Conditions => self.shared("conditions", |_| {
                json!({ "type": "object", "additionalProperties": { "$ref": "#/definitions/condition" } })
            }),
            Shape::Entry(table) => {
                let name = shared_name(table).unwrap_or("entry");
                let name = match list {
                    Some(verdict) => format!("{name}_{verdict}"),
                    None => name.to_owned(),
                };
                self.shared(&name, |out| {
                    json!({ "anyOf": [{ "type": "string" }, out.table(table, list)] })
                })
            }
            Shape::Argument(table) => {
                let name = shared_name(table).unwrap_or("argument");
                self.shared(name, |out| {
                    let texts = out.shape(&Shape::OneOrMany(&Shape::Text), None);
                    json!({ "anyOf": [texts, out.table(table, None)] })
                })
            }
        };
        if matches!(shape, Shape::Conditions) {
            self.shared("condition", |_| {
                json!({ "anyOf": [
                    { "type": ["string", "number", "boolean"] },
                    { "type": "array", "items": { "type": ["string", "number", "boolean"] } },
                    { "$ref": "#/definitions/conditions" },
                ] })
            });
        }
        match schema {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// A reference to a definition, which is made when it is first asked for.
    fn shared(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.definitions.contains_key(name) {
            let schema = make(self);
            self.definitions.insert(name.to_owned(), schema);
        }
        json!({ "$ref": format!("#/definitions/{name}") })
    }
}

fn object() -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("type".into(), "object".into());
    out
}

/// Whether a key of an entry has a meaning in a list of this verdict.
fn stands(key: &Key, list: Option<Verdict>) -> bool {
    let under = keys::UNDER.iter().find(|(name, _)| *name == key.name);
    match (under, list) {
        (Some((_, verdict)), Some(list)) => *verdict == list,
        _ => true,
    }
}

fn same(one: &Key, other: &Key) -> bool {
    one.name == other.name && one.about == other.about
}

fn shared_name(table: &'static [Key]) -> Option<&'static str> {
    keys::SHARED
        .iter()
        .find(|(_, own)| std::ptr::eq(*own, table))
        .map(|(name, _)| *name)
}
