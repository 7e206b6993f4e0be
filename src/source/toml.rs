//! TOML text → tree.
//!
//! In: a [`Source`]. Out: a [`Tree`] in file order, all syntax errors in words for a person.
//! [`mend`](super::mend) goes first, so that the parser never recurses deep and one slip is not told
//! on every line after it. Refuses: integers beyond 64 bits, keys given twice.

use super::mend::{Mended, mend, too_deep};
use super::{Entry, Key, MAX_DEPTH, Node, Source, Span, Table, Tree, Value};
use crate::finding::Finding;
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use std::collections::HashSet;
use std::num::IntErrorKind;
use std::sync::Arc;

/// For how many double keys the first place is looked up, which costs a second parse each.
const LOOKED_UP: usize = 20;

/// Reads TOML.
pub(super) fn read(source: &Arc<Source>) -> Tree {
    let mut mended = mend(source);
    let mut reader = Reader {
        source,
        findings: std::mem::take(&mut mended.findings),
        mended,
    };
    let mut root = Node {
        span: Span::new(0, source.text.len()),
        value: Value::Table(Table::default()),
    };
    if !reader.mended.too_deep {
        let text = std::mem::take(&mut reader.mended.text);
        let (table, errors) = DeTable::parse_recoverable(&text);
        root.value = Value::Table(reader.table(table.into_inner(), 0));
        reader.errors(&errors, &root);
    }
    Tree {
        root,
        findings: reader.findings,
        comments: reader.mended.comments,
        shared: Vec::new(),
    }
}

struct Reader<'s> {
    source: &'s Arc<Source>,
    findings: Vec<Finding>,
    mended: Mended<'s>,
}

impl Reader<'_> {
    /// A span of the parser's as a span of the file.
    fn span(&self, span: std::ops::Range<usize>) -> Span {
        if self.mended.is_intact() {
            return Span::new(span.start, span.end).fit(&self.source.text);
        }
        Span::new(
            self.mended.original(span.start),
            self.mended.original(span.end),
        )
        .fit(&self.source.text)
    }

    fn table(&mut self, table: DeTable<'_>, depth: usize) -> Table {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let span = self.span(key.span());
            if span.start == span.end {
                // Made up, by the parser or the mending, for a key that is missing.
                continue;
            }
            if let Some(value) = self.node(value, depth + 1) {
                let key = Key {
                    name: key.into_inner().into_owned(),
                    span,
                };
                entries.push(Entry { key, value });
            }
        }
        // The parser sorts by name.
        entries.sort_by_key(|entry| entry.key.span.start);
        Table { entries }
    }

    /// The node, or nothing where the value could not be read and an error tells of it.
    fn node(&mut self, value: Spanned<DeValue<'_>>, depth: usize) -> Option<Node> {
        let range = value.span();
        let unread = range.is_empty();
        let span = self.span(range);
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Boolean(value) => Value::Bool(value),
            DeValue::Datetime(value) => Value::Datetime(value.to_string()),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => Value::Integer(number),
                    Err(error) => {
                        use IntErrorKind::{NegOverflow, PosOverflow};
                        if matches!(error.kind(), PosOverflow | NegOverflow) {
                            self.findings.push(too_large(self.source, span));
                        }
                        return None;
                    }
                }
            }
            DeValue::Float(number) => Value::Float(number.as_str().parse().ok()?),
            DeValue::Array(_) | DeValue::Table(_) if depth > MAX_DEPTH => {
                self.findings.push(too_deep(self.source, span));
                return None;
            }
            DeValue::Array(items) => Value::List(
                items
                    .into_iter()
                    .filter_map(|item| self.node(item, depth + 1))
                    .collect(),
            ),
            DeValue::Table(table) => Value::Table(self.table(table, depth)),
        };
        (!unread).then_some(Node { span, value })
    }

    fn errors(&mut self, errors: &[::toml::de::Error], root: &Node) {
        // Only the first fault of a line is told: the parser stumbles on over the rest of it.
        let mut faulty: HashSet<usize> = self
            .findings
            .iter()
            .filter_map(|finding| self.line_of(finding))
            .collect();
        let mut errors: Vec<_> = errors
            .iter()
            .map(|error| (self.span(error.span().unwrap_or_default()), error.message()))
            .collect();
        errors.sort_by_key(|(span, _)| span.start);
        // A header can be told as double when it opens and again when it ends.
        errors.dedup_by(|a, b| a.0 == b.0);
        let mut looked_up = 0;
        for (span, message) in errors {
            let line = self.source.line_number(span.start);
            if message == "duplicate key" || message.starts_with("cannot extend value") {
                looked_up += 1;
                let first = if looked_up > LOOKED_UP {
                    None
                } else {
                    self.first_place(span, root)
                };
                self.findings.push(given_twice(self.source, span, first));
                continue;
            }
            let follows = message.starts_with("missing comma") && faulty.contains(&(line - 1));
            if !follows && faulty.insert(line) {
                self.findings.push(self.in_words(span, message));
            }
        }
    }

    fn line_of(&self, finding: &Finding) -> Option<usize> {
        let label = finding
            .labels
            .first()
            .filter(|_| finding.code == "syntax")?;
        Some(self.source.line_number(label.span.start))
    }

    /// Where the key at `span` stood first. The parser knows, and does not tell.
    fn first_place(&self, span: Span, root: &Node) -> Option<Span> {
        let text = &self.source.text;
        let name = span.of(text);
        let headers = &self.mended.headers;
        let last = headers.partition_point(|header| header.start <= span.start);
        let header = last.checked_sub(1).and_then(|i| headers.get(i)).copied();
        let in_header = header.is_some_and(|header| header.covers(span));
        if !in_header && let Some(table) = innermost(root, span) {
            let mut keys = Vec::new();
            all_keys(table, &mut keys);
            let same = keys
                .iter()
                .filter(|key| key.start < span.start && key.of(text) == name);
            return same.max().copied();
        }
        // Read all before this statement, and walk the statement's own path in that.
        let statement = if in_header {
            header?.start
        } else {
            let before = text.get(..span.start)?;
            before.rfind('\n').map_or(0, |at| at + 1)
        };
        let path = if in_header {
            let open = text.get(statement..span.end)?;
            format!("{open}{}", if open.starts_with("[[") { "]]" } else { "]" })
        } else {
            let section = header.map(|header| header.of(text)).unwrap_or_default();
            format!("{section}\n{} = 0", text.get(statement..span.end)?)
        };
        let (path, _) = DeTable::parse_recoverable(&path);
        let (before, _) = DeTable::parse_recoverable(text.get(..statement)?);
        let (mut path, mut before) = (path.get_ref(), before.get_ref());
        loop {
            let (key, next) = path.iter().next()?;
            let (found, value) = before.get_key_value(key)?;
            match (last_table(next.get_ref()), last_table(value.get_ref())) {
                (Some(deeper), Some(table)) if !deeper.is_empty() => {
                    (path, before) = (deeper, table);
                }
                _ => {
                    let found = found.span();
                    return Some(Span::new(found.start, found.end).fit(text));
                }
            }
        }
    }

    /// Whether `=` follows: then a key has been taken for part of the value before it.
    fn assigned(&self, span: Span) -> bool {
        let after = self.source.text.get(span.end..).unwrap_or_default();
        after.trim_start_matches([' ', '\t']).starts_with('=')
    }

    /// The parser's error as a person would say it.
    fn in_words(&self, span: Span, message: &str) -> Finding {
        let text = &self.source.text;
        let (cause, expected) = message.split_once(", expected ").unwrap_or((message, ""));
        let after = text.get(span.start..).unwrap_or_default();
        let here = after.split(['\n', '\r']).next().unwrap_or_default();
        let written = if span.end > span.start {
            span.of(text)
        } else {
            here
        };
        let written = written.trim();
        let token = here
            .split([' ', '\t', ',', ']', '}', '='])
            .next()
            .unwrap_or_default();
        let error = |message: String| Finding::error("syntax", message, self.source, span);
        match cause {
            "string values must be quoted" if written.is_empty() || written.starts_with('#') => {
                error("a value is missing".into()).label("expected a value here")
            }
            "string values must be quoted" if self.assigned(span) => {
                error("two keys on one line".into()).label("expected one value here")
            }
            "string values must be quoted" => {
                let found = error(format!("`{}` is no value", shortened(written)));
                if written.contains(['"', '\\', '\n']) {
                    found.label("text must stand in quotes")
                } else {
                    found
                        .label("text must stand in quotes")
                        .help(format!("write `\"{}\"`", shortened(written)))
                }
            }
            "missing opening quote" => {
                error("an opening quote is missing".into()).label("expected a quote before this")
            }
            "missing value" => error("a value is missing".into()).label("expected a value here"),
            "unquoted keys cannot be empty" => {
                error("a key is missing".into()).label("expected a key here")
            }
            "invalid unquoted key" => error("a key with this character needs quotes".into())
                .label("not a letter, digit, `-` or `_`"),
            "missing escaped value" => {
                let letter = token.chars().next().map(String::from).unwrap_or_default();
                error(format!("`\\{letter}` is no escape"))
                    .label("after a backslash")
                    .help("write `\\\\` for a backslash, or use single quotes: nothing is escaped in them")
            }
            _ if cause.starts_with("invalid ") && cause.ends_with(" string") => {
                if expected == "newline" {
                    error("`\\` with blanks after it".into()).label("expected the end of the line")
                } else if here.starts_with(|c: char| c.is_control()) {
                    error("a control character in text".into())
                        .help("write it as an escape in double quotes, such as `\\u001b`")
                } else {
                    // The parser makes up an empty text where a value is missing.
                    error("a key without a value".into()).label("expected `=` and a value")
                }
            }
            "missing assignment between key-value pairs" => {
                error("a key without a value".into()).label("expected `=` before this")
            }
            "missing array opening" | "missing inline table opening" => {
                error("this bracket closes nothing".into())
            }
            "invalid comment character" => error("a control character in a comment".into()),
            "too few unicode value digits" | "invalid value" => {
                error("this escape names no character".into())
                    .label("expected `\\uXXXX` or `\\UXXXXXXXX` in hexadecimal")
            }
            "unexpected key or value" => error("more than one thing on a line".into())
                .label("expected the end of the line or a comment"),
            "missing comma between array elements" | "missing comma between key-value pairs" => {
                error("a comma is missing".into()).label("expected `,` before this")
            }
            "extra comma in array" | "extra comma in inline table" => {
                error("a comma too many".into()).label("expected an entry before this")
            }
            "recursion limit" | "cannot recurse further; max recursion depth met" => {
                too_deep(self.source, span)
            }
            _ if expected.is_empty() || expected == "nothing" => error(cause.into()),
            _ => error(cause.into()).label(format!("expected {expected}")),
        }
    }
}

/// The table a path goes on in: itself, or the last of a list of tables.
fn last_table<'v, 'i>(value: &'v DeValue<'i>) -> Option<&'v DeTable<'i>> {
    match value {
        DeValue::Table(table) => Some(table),
        DeValue::Array(items) => items.iter().last()?.get_ref().as_table(),
        _ => None,
    }
}

/// The innermost inline table around `at`. A section's span is its header, which holds no keys of it.
fn innermost(node: &Node, at: Span) -> Option<&Table> {
    let within = match &node.value {
        Value::List(items) => items.iter().find_map(|item| innermost(item, at)),
        Value::Table(table) => table
            .entries
            .iter()
            .find_map(|entry| innermost(&entry.value, at)),
        _ => None,
    };
    let is_root = node.span.start == 0;
    within.or_else(|| {
        node.value
            .as_table()
            .filter(|_| !is_root && node.span.covers(at))
    })
}

fn all_keys(table: &Table, keys: &mut Vec<Span>) {
    for entry in &table.entries {
        keys.push(entry.key.span);
        if let Value::Table(inner) = &entry.value.value {
            all_keys(inner, keys);
        }
    }
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.into(),
    }
}

/// The error for a key that stands twice, in both formats.
pub(super) fn given_twice(source: &Arc<Source>, second: Span, first: Option<Span>) -> Finding {
    let name = shortened(second.of(&source.text));
    let finding = Finding::error(
        "duplicate-key",
        format!("`{name}` is given twice"),
        source,
        second,
    )
    .label("again here")
    .help("keep one of them; what both say goes there");
    match first {
        Some(first) => finding.also(source, first, "first here"),
        None => finding,
    }
}

/// The error for an integer beyond 64 bits, in both formats.
pub(super) fn too_large(source: &Arc<Source>, span: Span) -> Finding {
    Finding::error("wrong-type", "this number is too large", source, span).label(format!(
        "whole numbers go from {} to {}",
        i64::MIN,
        i64::MAX
    ))
}

#[cfg(test)]
mod tests {
    use crate::source::{Source, Tree, read};
    use std::sync::Arc;

    fn tree(text: &str) -> (Arc<Source>, Tree) {
        let source = Arc::new(Source::new("p.toml", text, None).unwrap());
        let tree = read(&source);
        (source, tree)
    }

    fn told(text: &str) -> String {
        crate::source::tests::told("p.toml", text)
    }

    #[test]
    fn one_slip_is_one_finding() {
        for (text, expected) in [
            (
                "a = \"x\nb = 1\n",
                "1:5 syntax text is not closed on its line",
            ),
            (
                "a = 'x\nb = 1\n",
                "1:5 syntax text is not closed on its line",
            ),
            (
                "a = [\"x, \"y\"]\nb = 1\n",
                "1:11 syntax a comma is missing",
            ),
            (
                "a = [\n  \"x,\n  \"y\",\n]\nb = 1\n",
                "2:3 syntax text is not closed on its line",
            ),
            (
                "a = [{ m = \"x },\n  { m = \"y\" }]\n",
                "1:12 syntax text is not closed on its line",
            ),
            (
                "a = \"one\ntwo\"\nb = 1\n",
                "1:5 syntax a line break in text with one-line quotes",
            ),
            (
                "a = [\"one\r\n two\", 1]\nb = 1\n",
                "1:6 syntax a line break in text with one-line quotes",
            ),
            ("a = \"\"\"x\nb = 1\n", "1:5 syntax text is not closed"),
            (
                "a = [1, 2}\nb = 1\nc = 2\n",
                "1:10 syntax `[` is closed by `}`",
            ),
            (
                "a = [{ m = 1 ],\n { m = 2 }]\nb = 1\n",
                "1:14 syntax `{` is closed by `]`",
            ),
            (
                "a = [{ m = [\"x\" }]\nb = 1\n",
                "1:12 syntax `[` is not closed",
            ),
            (
                "a = [1,\nb = 1\n[c]\nd = 1\n",
                "1:5 syntax `[` is not closed",
            ),
            (
                "a = [\n \"x\",\n\n[c]\nd = 1\n",
                "1:5 syntax `[` is not closed",
            ),
            (
                "a = { b = 1\nc = 2\nd = 3\n",
                "1:5 syntax `{` is not closed",
            ),
            ("a = [{ b = 1, c = [ 2\n", "1:19 syntax `[` is not closed"),
            ("a\nb = 1\n", "1:2 syntax a key without a value"),
            ("a =\nb = 1\n", "1:4 syntax a value is missing"),
            ("a = x y\n", "1:5 syntax `x y` is no value"),
            ("a = \"\\d\"\n", "1:7 syntax `\\d` is no escape"),
            ("a = \"\\q\\w\\x\"\n", "1:7 syntax `\\q` is no escape"),
            ("a = {b}\n", "1:7 syntax a key without a value"),
            ("a = }\n", "1:5 syntax this bracket closes nothing"),
            ("a = \"\u{1}\"\n", "1:6 syntax a control character in text"),
            ("= 1\n", "1:1 syntax a key is missing"),
            ("[a\nb = 1\n", "1:3 syntax a table header is not closed"),
            ("a = [\"x\" \"y\"]\n", "1:10 syntax a comma is missing"),
            ("a = [1 2]\n", "1:6 syntax `1 2` is no value"),
            (
                "a b = 1\n",
                "1:3 syntax a key with a blank in it needs quotes",
            ),
            ("[a b]\nc = 1\n", "1:4 syntax this is no table header"),
            ("[[a]\nc = 1\n", "1:5 syntax a table header is not closed"),
            ("[a}\nc = 1\n", "1:4 syntax a table header is not closed"),
            ("[]\n", "1:2 syntax a key is missing"),
            ("} = 1\n", "1:1 syntax this is no key"),
            (
                ", x\n",
                "1:1 syntax this line is no `key = value` and no `[table]`",
            ),
            (
                "a = [x\", \"y\"]\n",
                "1:6 syntax an opening quote is missing",
            ),
            ("a = 1 b = 2\n", "1:5 syntax two keys on one line"),
            (
                "a = 9223372036854775808\n",
                "1:5 wrong-type this number is too large",
            ),
            (
                "a$ = 1\n",
                "1:2 syntax a key with this character needs quotes",
            ),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn faults_on_other_lines_are_told_too() {
        assert_eq!(
            told("a = \"x\nb = \"y\nc = [1}\nd = \"\\d\"\ne = 1\ne = 2\nf = q\n"),
            [
                "1:5 syntax text is not closed on its line",
                "2:5 syntax text is not closed on its line",
                "3:7 syntax `[` is closed by `}`",
                "4:7 syntax `\\d` is no escape",
                "6:1 duplicate-key `e` is given twice",
                "7:5 syntax `q` is no value",
            ]
            .join("\n")
        );
        // The parser alone would skip what comes after these.
        for start in [
            "k",
            "k l = 1",
            "[t",
            "[t u]",
            "k = [1",
            "} x",
            "k, = 1",
            "\"k\" \"l\"\n",
        ] {
            let told = told(&format!("{start}\nx = \"\\d\"\n"));
            assert_eq!(told.lines().count(), 2, "{start}: {told}");
        }
    }

    #[test]
    fn both_places_of_a_double_key() {
        for (text, first, second) in [
            ("a = 1\na = 2", 0, 6),
            ("[a]\nx = 1\n[b]\nx = 1\n[a]\n", 1, 21),
            ("[t]\na = [{ a = 1 }]\na = 2", 4, 20),
            ("x = { m = 1, n = 2, m = 3 }", 6, 20),
            ("r = [{ m = 1 }, { m = 1, m = 2 }]", 18, 25),
            ("[[r]]\na = 1\n[[r]]\na = 1\na = 2\n", 18, 24),
            ("a.b = 1\na.b = 2", 2, 10),
            ("a = 1\na.b = 2", 0, 6),
            ("a = 1\n[a.b]", 0, 7),
            ("a = 1\n[a]", 0, 7),
            ("\"a\" = 1\na = 2", 0, 8),
        ] {
            let (_, tree) = tree(text);
            let [finding] = &tree.findings[..] else {
                panic!("{text}: {:?}", tree.findings)
            };
            assert_eq!(finding.code, "duplicate-key", "{text}");
            let places: Vec<_> = finding
                .labels
                .iter()
                .map(|label| label.span.start)
                .collect();
            assert_eq!(places, [second, first], "{text}");
        }
    }

    #[test]
    fn comments_and_order() {
        let text = "#one\nz = \"# no\" # two\n[b] # three\ny = '''\n# no\n''' \n[a]\n";
        let (source, tree) = tree(text);
        assert_eq!(tree.findings, []);
        let comments: Vec<_> = tree
            .comments
            .iter()
            .map(|span| span.of(&source.text))
            .collect();
        assert_eq!(comments, ["#one", "# two", "# three"]);
        let table = tree.root.value.as_table().unwrap();
        let keys: Vec<_> = table.entries.iter().map(|entry| &entry.key.name).collect();
        assert_eq!(keys, ["z", "b", "a"]);
        assert_eq!(table.get("z").unwrap().span.of(text), "\"# no\"");
        assert_eq!(table.get("b").unwrap().span.of(text), "[b]");
    }

    #[test]
    fn depth_is_bounded() {
        let nest = |n: usize| format!("a = {}{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(told(&nest(64)), "");
        for text in [
            nest(65),
            nest(100_000),
            format!("a = {}", "[".repeat(100_000)),
            format!("a = {}", "{a=".repeat(100_000)),
            format!("{}a = 1", "a.".repeat(100_000)),
            format!("[{}a]", "a.".repeat(100_000)),
            format!("a = {}", format!("{{{}a = ", "b.".repeat(60)).repeat(60)),
        ] {
            let told = told(&text);
            assert_eq!(told.lines().count(), 1, "{told}");
            assert!(told.contains("nest deeper than 64"), "{told:?}");
        }
        for text in [
            "[".repeat(100_000),
            "]".repeat(100_000),
            "{".repeat(100_000),
        ] {
            assert!(!told(&text).is_empty());
        }
    }
}
