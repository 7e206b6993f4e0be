//! JSON, comments and a comma at the end allowed → tree: what agents' settings are written in.
//!
//! In: a [`Source`]. Out: a [`Tree`]. Refuses what other readers of JSON may take for something else: a key given twice,
//! a name without quotes, a missing comma.

use super::{Entry, Key, MAX_DEPTH, Node, Source, Span, Table, Tree, Value};
use crate::finding::Finding;
use jsonc_parser::ast;
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads JSON; an empty text is an empty table.
pub fn read(source: &Arc<Source>) -> Tree {
    let mut reader = Reader {
        source,
        findings: Vec::new(),
    };
    let mut root = Node {
        span: Span::new(0, source.text.len()),
        value: Value::Table(Table::default()),
    };
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(&source.text, &CollectOptions::default(), &options) {
        Ok(parsed) => {
            if let Some(value) = parsed.value {
                root = reader.node(&value, 0);
            }
            if root.value.as_table().is_none() {
                reader.error("wrong-type", "this file is no JSON object", root.span);
                root.value = Value::Table(Table::default());
            }
        }
        Err(why) => {
            let text = why.kind().to_string();
            let mut letters = text.chars();
            let first = letters.next().map(|c| c.to_ascii_lowercase());
            let text: String = first.into_iter().chain(letters).collect();
            reader.error("syntax", text, span(source, why.range()));
        }
    }
    Tree {
        root,
        findings: reader.findings,
        comments: Vec::new(),
        shared: Vec::new(),
    }
}

struct Reader<'s> {
    source: &'s Arc<Source>,
    findings: Vec<Finding>,
}

fn span(source: &Source, range: Range) -> Span {
    Span::new(range.start, range.end).fit(&source.text)
}

impl Reader<'_> {
    fn error(&mut self, code: &'static str, text: impl Into<String>, span: Span) {
        self.findings
            .push(Finding::error(code, text, self.source, span));
    }

    fn node(&mut self, value: &ast::Value<'_>, depth: usize) -> Node {
        let span = span(self.source, value.range());
        let value = match value {
            ast::Value::Array(_) | ast::Value::Object(_) if depth > MAX_DEPTH => {
                let text = format!("tables and lists nest deeper than {MAX_DEPTH}");
                self.error("syntax", text, span);
                Value::Null
            }
            ast::Value::StringLit(text) => Value::Text(text.value.to_string()),
            ast::Value::NumberLit(number) => match number.value.parse() {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::Float(number.value.parse().unwrap_or(f64::NAN)),
            },
            ast::Value::BooleanLit(flag) => Value::Bool(flag.value),
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::Array(list) => Value::List(
                list.elements
                    .iter()
                    .map(|item| self.node(item, depth + 1))
                    .collect(),
            ),
            ast::Value::Object(object) => Value::Table(self.table(object, depth)),
        };
        Node { span, value }
    }

    fn table(&mut self, object: &ast::Object<'_>, depth: usize) -> Table {
        let mut table = Table::default();
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        for own in &object.properties {
            let span = span(self.source, own.name.range());
            if let Some(first) = seen.insert(own.name.as_str(), span) {
                let text = format!("the key `{}` is given twice", own.name.as_str());
                self.findings.push(
                    Finding::error("duplicate-key", text, self.source, span)
                        .label("given again here")
                        .also(self.source, first, "first given here")
                        .help("readers differ on which of the two counts: keep one"),
                );
                continue;
            }
            table.entries.push(Entry {
                key: Key {
                    name: own.name.as_str().to_owned(),
                    span,
                },
                value: self.node(&own.value, depth + 1),
            });
        }
        table
    }
}
