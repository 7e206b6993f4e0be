//! A call's arguments: JSON read strictly, so that nothing is lost without a word.
//!
//! In: a JSON value or raw text. Out: an object, or what is wrong. `serde_json` keeps the last of two equal keys;
//! an agent and the tool might disagree on which counts, so a key given twice is a fault.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::fmt;

/// Reads one JSON text to its end; and the keys that some object gives twice.
pub(crate) fn read(text: &str) -> serde_json::Result<(Value, Vec<String>)> {
    let twice = RefCell::new(Vec::new());
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict { twice: &twice }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok((value, twice.into_inner()))
}

/// The arguments of a call: an object, or what is wrong with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args(Result<Map<String, Value>, String>);

impl Args {
    /// The object.
    ///
    /// # Errors
    /// A sentence about what the arguments are instead.
    pub fn object(&self) -> Result<&Map<String, Value>, &str> {
        self.0.as_ref().map_err(String::as_str)
    }

    /// Reads raw text; blank text is an empty object.
    pub fn text(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::default();
        }
        match read(text) {
            Ok((value, twice)) => Self::of(value, &twice),
            Err(why) => Self(Err(format!("invalid JSON arguments - {why}"))),
        }
    }

    fn of(value: Value, twice: &[String]) -> Self {
        Self(match (value, twice) {
            (Value::Object(map), []) => Ok(map),
            (Value::Object(_), twice) => {
                let names: Vec<String> = twice.iter().map(|name| format!("`{name}`")).collect();
                Err(format!("the arguments give {} twice", names.join(", ")))
            }
            (_, _) => Err("tool arguments must be a JSON object".into()),
        })
    }
}

impl Default for Args {
    fn default() -> Self {
        Self(Ok(Map::new()))
    }
}

impl From<Value> for Args {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Self::text(&text),
            Value::Null => Self::default(),
            value => Self::of(value, &[]),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Args {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let twice = RefCell::new(Vec::new());
        let value = Strict { twice: &twice }.deserialize(deserializer)?;
        Ok(match value {
            Value::String(text) => Self::text(&text),
            Value::Null => Self::default(),
            value => Self::of(value, &twice.into_inner()),
        })
    }
}

/// Builds a value and notes every key that an object gives twice.
#[derive(Clone, Copy)]
struct Strict<'t> {
    twice: &'t RefCell<Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(value) = seq.next_element_seed(self)? {
            out.push(value);
        }
        Ok(Value::Array(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(self)?;
            if out.insert(key.clone(), value).is_some() {
                self.twice.borrow_mut().push(key);
            }
        }
        Ok(Value::Object(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_text() {
        let rows = [
            ("", Ok(())),
            ("  ", Ok(())),
            ("{}", Ok(())),
            ("{\"a\": [1, {\"b\": null}]}", Ok(())),
            ("null", Err("must be a JSON object")),
            ("[1]", Err("must be a JSON object")),
            ("\"x\"", Err("must be a JSON object")),
            ("{bad", Err("invalid JSON arguments - ")),
            ("{} {}", Err("invalid JSON arguments - ")),
            ("{\"a\":1,\"a\":2}", Err("`a` twice")),
            ("{\"x\":{\"a\":1,\"a\":2}}", Err("`a` twice")),
        ];
        for (text, want) in rows {
            match (Args::text(text).object(), want) {
                (Ok(_), Ok(())) => {}
                (Err(why), Err(part)) => assert!(why.contains(part), "{text}: {why}"),
                (got, _) => panic!("{text}: {got:?}"),
            }
        }
        assert!(Args::text(&"[".repeat(100_000)).object().is_err());
    }
}
