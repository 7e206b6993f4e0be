//! A policy file's bytes become one tree with a span on every key and value.
//!
//! In: a [`Source`] (name, text, spelling). Out: a [`Tree`] and every syntax error as a [`Finding`].
//! TOML and YAML give the same tree. The only user of the two parsers.
//! Refuses: bytes that are not UTF-8, duplicate keys, alias bombs, nesting beyond [`MAX_DEPTH`].

#[cfg(feature = "cli")]
pub mod json;
mod mend;
mod remove;
mod toml;
mod yaml;

use crate::finding::Finding;
use std::sync::Arc;

pub use crate::text::{Format, Source, Span};
pub use remove::element;

/// How deep tables and lists may nest.
pub const MAX_DEPTH: usize = 64;

/// How many findings of one file are told; more would bury the first.
const MAX_FINDINGS: usize = 100;

impl Source {
    /// The file `name` with these bytes; the format follows from the name where none is given.
    ///
    /// # Errors
    /// A `syntax` finding where the bytes are not UTF-8. Its label shows the text with U+FFFD in
    /// place of what could not be read.
    pub fn new(
        name: impl Into<String>,
        bytes: impl Into<Vec<u8>>,
        format: Option<Format>,
    ) -> Result<Self, Finding> {
        let name = name.into();
        let format = format.unwrap_or_else(|| Format::of_name(&name));
        let made = |text| Self::of(name, text, format);
        match String::from_utf8(bytes.into()) {
            Ok(text) => Ok(made(text)),
            Err(error) => {
                // Up to the first bad byte the lossy text equals the file, so its offset holds.
                let at = error.utf8_error().valid_up_to();
                let byte = error.as_bytes().get(at).copied().unwrap_or_default();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let source = Arc::new(made(text));
                let (line, _) = source.line_column(at);
                Err(Finding::error(
                    "syntax",
                    format!("line {line} is not UTF-8: byte 0x{byte:02x} at offset {at}"),
                    &source,
                    Span::new(at, at + char::REPLACEMENT_CHARACTER.len_utf8()),
                )
                .label("this byte")
                .help("save the file as UTF-8"))
            }
        }
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Text in quotes: with the quotes. A TOML section: its header. A YAML alias: the alias, while
    /// what is inside the copy keeps the place where it is written and can be mended.
    pub span: Span,
    /// What stands there.
    pub value: Value,
}

/// What both spellings can say.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// YAML's `null`, `~` or nothing at all; TOML has none.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction or exponent, infinite, or no number.
    Float(f64),
    /// Text, quotes and escapes undone.
    Text(String),
    /// A date, a time or both, as TOML writes it. In YAML these are text.
    Datetime(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

impl Value {
    /// What a person calls it, with its article: `a table`, `text`, `a number`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::Datetime(_) => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// The text, where it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entries, where it is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The table, where it is one.
    pub const fn as_table(&self) -> Option<&Table> {
        match self {
            Self::Table(table) => Some(table),
            _ => None,
        }
    }
}

/// Keys and their values, in file order; no key stands twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// In file order.
    pub entries: Vec<Entry>,
}

impl Table {
    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// A key with its value.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.name == name)
    }
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// Its value.
    pub value: Node,
}

/// A key as it reads, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Quotes and escapes undone.
    pub name: String,
    /// With its quotes, if it has any.
    pub span: Span,
}

/// A file as read.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Always a table. Where `findings` is not empty, what could not be read is missing here: then
    /// an absent key proves nothing.
    pub root: Node,
    /// In file order. Codes: `syntax`, `duplicate-key`, `wrong-type`.
    pub findings: Vec<Finding>,
    /// From `#` to the end of the line, in file order.
    pub comments: Vec<Span>,
    /// What YAML aliases say again elsewhere: another text there means something else in more than one place.
    pub shared: Vec<Span>,
}

/// Reads a source, to its end and whatever stands in it.
pub fn read(source: &Arc<Source>) -> Tree {
    let mut tree = match source.format {
        Format::Toml => toml::read(source),
        Format::Yaml => yaml::read(source),
    };
    tree.findings
        .sort_by_key(|finding| finding.labels.first().map(|label| label.span.start));
    if tree.findings.len() > MAX_FINDINGS {
        let more = tree.findings.len() - MAX_FINDINGS;
        tree.findings.truncate(MAX_FINDINGS);
        let end = Span::new(source.text.len(), source.text.len());
        tree.findings.push(Finding::error(
            "syntax",
            format!("{more} more errors in this file are not shown"),
            source,
            end,
        ));
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn source(name: &str, text: &str) -> Arc<Source> {
        Arc::new(Source::new(name, text, None).unwrap())
    }

    /// What is found in a text: `line:column code message`, one a finding.
    pub(super) fn told(name: &str, text: &str) -> String {
        let source = source(name, text);
        let told = |finding: &Finding| {
            let (line, column) = source.line_column(finding.labels[0].span.start);
            format!("{line}:{column} {} {}", finding.code, finding.message)
        };
        let lines: Vec<_> = read(&source).findings.iter().map(told).collect();
        lines.join("\n")
    }

    /// All spans of a tree fit its text; children of a list or inline table come in order.
    fn check_spans(source: &Source, tree: &Tree) {
        fn node(text: &str, value: &Node) {
            assert!(
                text.get(value.span.start..value.span.end).is_some(),
                "{value:?}"
            );
            match &value.value {
                Value::List(items) => items.iter().for_each(|item| node(text, item)),
                Value::Table(table) => {
                    for entry in &table.entries {
                        let span = entry.key.span;
                        assert!(text.get(span.start..span.end).is_some(), "{entry:?}");
                        node(text, &entry.value);
                    }
                }
                _ => {}
            }
        }
        let text = &source.text;
        node(text, &tree.root);
        let labels = tree
            .findings
            .iter()
            .flat_map(|f| f.labels.iter().map(|l| l.span));
        for span in labels.chain(tree.comments.iter().copied()) {
            assert!(
                text.get(span.start..span.end).is_some(),
                "{span:?} in {text:?}"
            );
        }
    }

    /// The data without the places; numbers as text, so that not-a-number equals itself.
    fn data(node: &Node) -> String {
        match &node.value {
            Value::List(items) => {
                format!("[{}]", items.iter().map(data).collect::<Vec<_>>().join(","))
            }
            Value::Table(table) => {
                let entry = |e: &Entry| format!("{:?}:{}", e.key.name, data(&e.value));
                format!(
                    "{{{}}}",
                    table
                        .entries
                        .iter()
                        .map(entry)
                        .collect::<Vec<_>>()
                        .join(",")
                )
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn lines_and_columns_count_characters() {
        let source = source("a.toml", "\u{feff}ab\r\nüß=1\n");
        for (offset, place) in [
            (0, (1, 1)),
            (3, (1, 1)),
            (4, (1, 2)),
            (7, (2, 1)),
            (9, (2, 2)),
            (10, (2, 2)),
            (11, (2, 3)),
            (14, (3, 1)),
            (99, (3, 1)),
        ] {
            assert_eq!(source.line_column(offset), place, "{offset}");
        }
        assert_eq!(source.line(1).of(&source.text), "\u{feff}ab");
        assert_eq!(source.line(2).of(&source.text), "üß=1");
        assert_eq!(source.line(9).of(&source.text), "");
    }

    #[test]
    fn bytes_that_are_no_text_are_shown() {
        let finding = Source::new("a.toml", &b"a = 1\nb = \"x\xffy\"\n"[..], None).unwrap_err();
        assert_eq!(finding.code, "syntax");
        assert_eq!(
            finding.message,
            "line 2 is not UTF-8: byte 0xff at offset 12"
        );
        assert_eq!(
            finding.labels[0].span.of(&finding.labels[0].source.text),
            "\u{fffd}"
        );
    }

    #[test]
    fn the_name_tells_the_format() {
        for (name, format) in [
            ("p.yaml", Format::Yaml),
            ("a/p.YML", Format::Yaml),
            ("p.toml", Format::Toml),
            ("yaml", Format::Toml),
            ("-", Format::Toml),
        ] {
            assert_eq!(Format::of_name(name), format, "{name}");
        }
    }

    #[test]
    fn both_spellings_give_the_same_tree() {
        for (toml, yaml) in [
            ("", ""),
            ("# only a comment", "# only a comment"),
            ("", "---\n"),
            ("version = 1\nname = \"shop\"", "version: 1\nname: shop\n"),
            (
                "[commands]\nallow = [\"ls\", { match = \"rm\", with = [\"-r\"] }]\n",
                "commands:\n  allow:\n    - ls\n    - match: rm\n      with: [-r]\n",
            ),
            (
                "[[rules]]\nid = \"a\"\nforced = true\n[[rules]]\nid = \"b\"\n[rules.when]\nx = 1.5\n",
                "rules:\n- {id: a, forced: true}\n- id: b\n  when:\n    x: 1.5\n",
            ),
            ("a.b.c = 0x10\na.b.d = -7", "a: {b: {c: 0x10, d: -7}}"),
            ("x = \"a\\tb\"\ny = 'c\\d'", "x: \"a\\tb\"\ny: 'c\\d'"),
            ("x = \"\"\"\na\nb\n\"\"\"", "x: |\n  a\n  b\n"),
            ("x = [inf, -inf, nan]", "x: [.inf, -.inf, .nan]"),
            ("\u{feff}a = \"x\"\r\nb = 2\r\n", "\u{feff}a: x\r\nb: 2\r\n"),
            ("\"a b\" = []\nc = {}", "a b: []\nc: {}"),
        ] {
            let (toml, yaml) = (source("a.toml", toml), source("a.yaml", yaml));
            let (left, right) = (read(&toml), read(&yaml));
            assert_eq!(left.findings, [], "{toml:?}");
            assert_eq!(right.findings, [], "{yaml:?}");
            assert_eq!(data(&left.root), data(&right.root));
            check_spans(&toml, &left);
            check_spans(&yaml, &right);
        }
    }

    /// A value as both spellings would write it on one line.
    fn value() -> impl Strategy<Value = (String, String)> {
        let both = |s: String| (s.clone(), s);
        let text = "[ -~äß😀]{0,8}".prop_map(|s| {
            let quoted = format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\""));
            (quoted.clone(), quoted)
        });
        let leaf = prop_oneof![
            any::<i64>().prop_map(move |n| both(n.to_string())),
            any::<bool>().prop_map(move |b| both(b.to_string())),
            (-1000i32..1000).prop_map(move |n| both(format!("{n}.5"))),
            text,
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            let entry = ("[a-z]{1,4}", inner.clone());
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(|items| {
                    let (toml, yaml): (Vec<_>, Vec<_>) = items.into_iter().unzip();
                    (
                        format!("[{}]", toml.join(", ")),
                        format!("[{}]", yaml.join(", ")),
                    )
                }),
                prop::collection::vec(entry, 0..5).prop_map(|mut entries| {
                    entries.sort_by(|a, b| a.0.cmp(&b.0));
                    entries.dedup_by(|a, b| a.0 == b.0);
                    let toml: Vec<_> = entries
                        .iter()
                        .map(|(k, v)| format!("{k} = {}", v.0))
                        .collect();
                    let yaml: Vec<_> = entries
                        .iter()
                        .map(|(k, v)| format!("\"{k}\": {}", v.1))
                        .collect();
                    (
                        format!("{{{}}}", toml.join(", ")),
                        format!("{{{}}}", yaml.join(", ")),
                    )
                }),
            ]
        })
    }

    /// Pieces that make up files, so that random text comes near to real ones.
    fn soup() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a = [\n",
            "  \"x\",\n",
            "]\n",
            "{ m = 1 }",
            "k = ",
            "'y'",
            "[",
            "]",
            "{",
            "}",
            "\"",
            "'",
            "\"\"\"",
            "'''",
            "=",
            ",",
            ".",
            "#",
            "\n",
            "\r\n",
            "\r",
            " ",
            "\t",
            "a",
            "b = ",
            "[a]\n",
            "[[a]]\n",
            "a.b",
            "\\",
            "\\u00e4",
            "ä",
            "😀",
            "1",
            "0x",
            "-",
            "- ",
            ": ",
            "a: ",
            "? ",
            "&x ",
            "*x",
            "<<: ",
            "!!str ",
            "!t ",
            "|\n",
            ">-\n",
            "---\n",
            "...\n",
            "%YAML 1.2\n",
            "true",
            "null",
            "\u{feff}",
            "\u{0}",
            "\u{85}",
            "\u{2028}",
            "  ",
            "1979-05-27",
        ]);
        prop_oneof![
            any::<String>(),
            prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_text_is_too_strange(text in soup()) {
            for name in ["a.toml", "a.yaml"] {
                let source = source(name, &text);
                check_spans(&source, &read(&source));
            }
        }

        /// The mending changes what is told, never what is accepted.
        #[test]
        fn a_file_is_good_where_the_parser_says_so(text in soup()) {
            let (_, errors) = ::toml::de::DeTable::parse_recoverable(&text);
            let tree = read(&source("a.toml", &text));
            prop_assert_eq!(errors.is_empty(), tree.findings.is_empty(), "{:?}", tree.findings);
        }

        #[test]
        fn the_same_data_read_the_same((toml, yaml) in value()) {
            let toml = source("a.toml", &format!("x = {toml}"));
            let yaml = source("a.yaml", &format!("x: {yaml}"));
            let (left, right) = (read(&toml), read(&yaml));
            prop_assert_eq!(&left.findings, &[]);
            prop_assert_eq!(&right.findings, &[]);
            prop_assert_eq!(data(&left.root), data(&right.root));
        }
    }
}
