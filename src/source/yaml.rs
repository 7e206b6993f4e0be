//! YAML text → tree.
//!
//! In: a [`Source`]. Out: a [`Tree`], the same as from TOML. Scalars follow the core schema of YAML
//! 1.2, so `yes` and `on` are text. Refuses: keys that are not text, keys given twice, merge keys,
//! tags but the plain ones, more than one document, and aliases that expand beyond [`MAX_COPIED`].
//! The parser stops at its first syntax error: what stands before it is still in the tree.

use super::mend::too_deep;
use super::toml::{given_twice, too_large};
use super::{Entry, Key, MAX_DEPTH, Node, Source, Span, Table, Tree, Value};
use crate::finding::Finding;
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Tag, options};
use std::collections::HashMap;
use std::sync::Arc;

/// How many nodes anchors and aliases may copy in all.
const MAX_COPIED: usize = 100_000;

/// How many bytes of text anchors and aliases may copy in all.
const MAX_COPIED_BYTES: usize = 8 << 20;

/// Reads YAML.
pub(super) fn read(source: &Arc<Source>) -> Tree {
    let mut reader = Reader {
        source,
        frames: Vec::new(),
        root: None,
        anchors: HashMap::new(),
        copied: Size::default(),
        findings: Vec::new(),
        comments: Vec::new(),
        shared: Vec::new(),
    };
    reader.run();
    let text = &source.text;
    let whole = Span::new(0, text.len());
    let root = match reader.root.take() {
        Some(Node {
            value: Value::Table(table),
            span,
        }) => Node {
            value: Value::Table(table),
            span,
        },
        other => {
            // After a syntax error, what there is may be a part of what was meant.
            let whole_read = reader.findings.is_empty();
            if let Some(node) = other.filter(|node| whole_read && node.value != Value::Null) {
                reader.findings.push(
                    Finding::error(
                        "wrong-type",
                        format!("a policy is a table, this is {}", node.value.kind()),
                        source,
                        node.span,
                    )
                    .help("start with `version: 1`"),
                );
            }
            Node {
                span: whole,
                value: Value::Table(Table::default()),
            }
        }
    };
    Tree {
        root,
        findings: reader.findings,
        comments: reader.comments,
        shared: reader.shared,
    }
}

/// What an anchored node weighs.
#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
    height: usize,
}

struct Anchored {
    /// None while the node is still being read.
    node: Option<Node>,
    size: Size,
}

/// A collection being read.
struct Frame {
    start: usize,
    /// Flow collections have brackets, and so an end of their own.
    flow: bool,
    end: usize,
    anchor: usize,
    body: Body,
}

enum Body {
    List(Vec<Node>),
    Table { entries: Vec<Entry>, key: Waiting },
}

/// What the next node of a table is.
enum Waiting {
    Key,
    Value(Key),
    /// The key was refused; its value goes with it.
    Refused,
}

/// Nothing more can be read.
struct Stop;

struct Reader<'s> {
    source: &'s Arc<Source>,
    frames: Vec<Frame>,
    root: Option<Node>,
    anchors: HashMap<usize, Anchored>,
    copied: Size,
    findings: Vec<Finding>,
    comments: Vec<Span>,
    shared: Vec<Span>,
}

impl Reader<'_> {
    fn run(&mut self) {
        let options = options! {
            emit_unresolved_aliases: true,
            max_buffered_comment_events: usize::MAX,
            flow_nesting_limit: MAX_DEPTH + 1,
            block_nesting_limit: MAX_DEPTH + 1,
        };
        let mut documents = 0;
        for event in Parser::new_from_str_with_options(&self.source.text, options) {
            let stop = match event {
                Err(error) => {
                    let finding = self.in_words(&error);
                    self.findings.push(finding);
                    break;
                }
                Ok((Event::DocumentStart(..), span)) => {
                    documents += 1;
                    if documents > 1 {
                        let span = self.span(&span);
                        self.findings.push(
                            Finding::error("syntax", "more than one document", self.source, span)
                                .label("a second one starts here")
                                .help("a policy is one document: remove `---` or split the file"),
                        );
                        break;
                    }
                    Ok(())
                }
                Ok((event, span)) => self.event(event, &span),
            };
            if stop.is_err() {
                break;
            }
        }
        // After an error: keep what there is.
        while !self.frames.is_empty() {
            if self.end(None).is_err() {
                break;
            }
        }
    }

    fn span(&self, span: &granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or_default();
        Span::new(range.start, range.end).fit(&self.source.text)
    }

    fn event(&mut self, event: Event<'_>, at: &granit_parser::Span) -> Result<(), Stop> {
        let span = self.span(at);
        match event {
            Event::Comment(..) => {
                self.comments.push(span);
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let tag_span = at.tag_span().map_or(span, |tag| self.span(&tag));
                let node = self.scalar(&text, style, tag.as_deref(), span, tag_span);
                self.keep_anchor(anchor, node.as_ref())?;
                self.push(node)
            }
            Event::SequenceStart(style, anchor, tag) => {
                let body = Body::List(Vec::new());
                self.collection_tag(tag.as_deref(), "seq", at);
                self.start(
                    span,
                    style == granit_parser::StructureStyle::Flow,
                    anchor,
                    body,
                )
            }
            Event::MappingStart(style, anchor, tag) => {
                let body = Body::Table {
                    entries: Vec::new(),
                    key: Waiting::Key,
                };
                self.collection_tag(tag.as_deref(), "map", at);
                self.start(
                    span,
                    style == granit_parser::StructureStyle::Flow,
                    anchor,
                    body,
                )
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(Some(span)),
            Event::Alias(id) => self.alias(id, span),
            Event::UnresolvedAlias(name) => {
                let message = format!("no anchor `&{name}` stands before this");
                let finding = Finding::error("syntax", message, self.source, span)
                    .label("a `*` in front is a reference")
                    .help(format!(
                        "put a pattern that starts with `*` in quotes: `\"*{name}\"`"
                    ));
                self.findings.push(finding);
                self.push(None)
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, span: Span, flow: bool, anchor: usize, body: Body) -> Result<(), Stop> {
        if self.frames.len() >= MAX_DEPTH {
            self.findings.push(too_deep(self.source, span));
            return Err(Stop);
        }
        if anchor != 0 {
            self.anchors.insert(
                anchor,
                Anchored {
                    node: None,
                    size: Size::default(),
                },
            );
        }
        self.frames.push(Frame {
            start: span.start,
            flow,
            end: span.end,
            anchor,
            body,
        });
        Ok(())
    }

    /// Closes the innermost collection; `span` is that of its bracket, if it has one.
    fn end(&mut self, span: Option<Span>) -> Result<(), Stop> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let end = match span {
            Some(span) if frame.flow => span.end,
            // The parser notices the end of a block only at what follows it.
            _ => frame.end,
        };
        let value = match frame.body {
            Body::List(items) => Value::List(items),
            Body::Table { entries, .. } => Value::Table(self.table(entries)),
        };
        let node = Node {
            span: Span::new(frame.start, end.max(frame.start)),
            value,
        };
        let copied = if span.is_some() {
            self.keep_anchor(frame.anchor, Some(&node))
        } else {
            Ok(())
        };
        self.push(Some(node))?;
        copied
    }

    /// Entries without those whose key stood before.
    fn table(&mut self, entries: Vec<Entry>) -> Table {
        let mut order: Vec<_> = entries
            .iter()
            .enumerate()
            .map(|(i, e)| (&e.key.name, i))
            .collect();
        order.sort();
        let mut again = Vec::new();
        let mut first: Option<(&String, usize)> = None;
        for (name, index) in order {
            match first {
                Some((known, at)) if known == name => again.push((index, at)),
                _ => first = Some((name, index)),
            }
        }
        if again.is_empty() {
            return Table { entries };
        }
        let place = |index: usize| entries.get(index).map(|entry| entry.key.span);
        for (second, first) in &again {
            if let Some(second) = place(*second) {
                self.findings
                    .push(given_twice(self.source, second, place(*first)));
            }
        }
        again.sort_unstable();
        let kept = entries.into_iter().enumerate().filter(|(index, _)| {
            again
                .binary_search_by_key(index, |(second, _)| *second)
                .is_err()
        });
        Table {
            entries: kept.map(|(_, entry)| entry).collect(),
        }
    }

    /// Puts a node where it belongs; nothing stands for a node that was refused.
    fn push(&mut self, node: Option<Node>) -> Result<(), Stop> {
        let Some(frame) = self.frames.last_mut() else {
            self.root = node;
            return Ok(());
        };
        if let Some(node) = &node {
            frame.end = frame.end.max(node.span.end);
        }
        match &mut frame.body {
            Body::List(items) => items.extend(node),
            Body::Table { entries, key } => match std::mem::replace(key, Waiting::Key) {
                Waiting::Key => {
                    let node = node.map(|node| as_key(self.source, node));
                    *key = match node {
                        Some(Ok(key)) => Waiting::Value(key),
                        Some(Err(finding)) => {
                            self.findings.push(finding);
                            Waiting::Refused
                        }
                        None => Waiting::Refused,
                    };
                }
                Waiting::Value(key) => {
                    if let Some(value) = node {
                        entries.push(Entry { key, value });
                    }
                }
                Waiting::Refused => {}
            },
        }
        Ok(())
    }

    /// Keeps a copy of an anchored node for its aliases.
    fn keep_anchor(&mut self, anchor: usize, node: Option<&Node>) -> Result<(), Stop> {
        let Some(node) = node.filter(|_| anchor != 0) else {
            return Ok(());
        };
        let size = size(node);
        self.copy(size, node.span)?;
        self.anchors.insert(
            anchor,
            Anchored {
                node: Some(node.clone()),
                size,
            },
        );
        Ok(())
    }

    /// Counts a copy, and stops where there are too many.
    fn copy(&mut self, size: Size, at: Span) -> Result<(), Stop> {
        self.copied.nodes += size.nodes;
        self.copied.bytes += size.bytes;
        if self.copied.nodes > MAX_COPIED || self.copied.bytes > MAX_COPIED_BYTES {
            self.findings.push(
                Finding::error(
                    "syntax",
                    format!("the aliases of this file expand to more than {MAX_COPIED} values"),
                    self.source,
                    at,
                )
                .label("too much from here")
                .help("write the values out, or name them in `groups`"),
            );
            return Err(Stop);
        }
        Ok(())
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<(), Stop> {
        let Some(anchored) = self.anchors.get(&id) else {
            // The anchored node was refused, and that has been said.
            return self.push(None);
        };
        let size = anchored.size;
        let Some(node) = &anchored.node else {
            let name = span.of(&self.source.text);
            let message = format!("`{name}` stands within what it refers to");
            self.findings
                .push(Finding::error("syntax", message, self.source, span));
            return self.push(None);
        };
        let copy = Node {
            span,
            value: node.value.clone(),
        };
        self.shared.push(node.span);
        if self.frames.len() + size.height > MAX_DEPTH {
            self.findings.push(too_deep(self.source, span));
            return Err(Stop);
        }
        self.copy(size, span)?;
        self.push(Some(copy))
    }

    fn collection_tag(&mut self, tag: Option<&Tag>, kind: &str, at: &granit_parser::Span) {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema_tag(kind)) {
            let span = at.tag_span().unwrap_or(*at);
            let finding = refused_tag(self.source, tag, self.span(&span));
            self.findings.push(finding);
        }
    }

    /// Plain text that goes on over lines may have swallowed an entry or a key that is indented by one blank too many:
    /// a deny would be gone without a word.
    fn runs_on(&mut self, span: Span) {
        let written = span.of(&self.source.text);
        let swallowed = written
            .lines()
            .skip(1)
            .map(str::trim)
            .any(|line| line.starts_with("- ") || line.contains(": ") || line.ends_with(':'));
        if swallowed {
            let finding = Finding::error("syntax", "this text goes on over the next line, and swallows what looks like an entry of its own", self.source, span)
                .label("all of this is one text")
                .help("align the lines that belong to one list or table; put text that really goes on in quotes");
            self.findings.push(finding);
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
        tag_span: Span,
    ) -> Option<Node> {
        let is_str =
            tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str") || tag.original() == "!");
        if style == ScalarStyle::Plain {
            self.runs_on(span);
        }
        let value = if style == ScalarStyle::Plain && !is_str {
            match plain(text) {
                Some(value) => value,
                None => {
                    self.findings.push(too_large(self.source, span));
                    return None;
                }
            }
        } else {
            Value::Text(text.into())
        };
        if let Some(tag) = tag.filter(|_| !is_str) {
            let agrees = match &value {
                Value::Null => tag.is_yaml_core_schema_tag("null"),
                Value::Bool(_) => tag.is_yaml_core_schema_tag("bool"),
                Value::Integer(_) => tag.is_yaml_core_schema_tag("int"),
                Value::Float(_) => tag.is_yaml_core_schema_tag("float"),
                _ => false,
            };
            if !agrees {
                self.findings.push(refused_tag(self.source, tag, tag_span));
                return None;
            }
        }
        Some(Node { span, value })
    }

    /// An error within brackets, which is often that they were not closed.
    fn in_brackets(&self, message: &str, span: Span) -> Finding {
        let finding = Finding::error("syntax", message, self.source, span);
        match self.frames.iter().rev().find(|frame| frame.flow) {
            Some(frame) => {
                let open = Span::new(frame.start, frame.start + 1).fit(&self.source.text);
                finding.also(self.source, open, "this is still open")
            }
            None => finding,
        }
    }

    /// The parser's error as a person would say it.
    fn in_words(&self, error: &ScanError) -> Finding {
        let text = &self.source.text;
        let at = error.marker().byte_offset().unwrap_or_default();
        let span = Span::new(at, at).fit(text);
        let next = text.get(span.start..).and_then(|rest| rest.chars().next());
        let end = next.filter(|c| !c.is_control()).map_or(0, char::len_utf8);
        let span = Span::new(span.start, span.start + end);
        let finding = |message: &str| Finding::error("syntax", message, self.source, span);
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => too_deep(self.source, span),
            ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart => {
                let line = self.source.line(self.source.line_number(span.start));
                let body = line.of(text).trim_start_matches([' ', '\t']).len();
                let span = Span::new(line.start, line.end - body);
                Finding::error("syntax", "a tab indents this line", self.source, span)
                    .help("YAML is indented with spaces only")
            }
            ErrorKind::UnclosedQuotedScalar => finding("text is not closed")
                .label("opened here, with no closing quote up to the end of the file"),
            ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
                finding(&format!("`{open}` is closed by `{close}`")).label("opened here")
            }
            ErrorKind::UnclosedFlowCollection { open } => {
                finding(&format!("`{open}` is not closed")).label("opened here")
            }
            ErrorKind::MisplacedFlowCollectionEnd => finding("this bracket closes nothing"),
            ErrorKind::UnknownQuotedScalarEscape => {
                // The parser tells where the text starts.
                let rest = text.get(span.start..).unwrap_or_default();
                let (at, letter) = bad_escape(rest).unwrap_or_default();
                let start = span.start + at;
                let span = Span::new(start, start + 1 + letter.len_utf8()).fit(text);
                Finding::error("syntax", format!("`\\{letter}` is no escape"), self.source, span)
                    .help("write `\\\\` for a backslash, or use single quotes: nothing is escaped in them")
            }
            ErrorKind::ExpectedFlowSequenceSeparator => {
                self.in_brackets("expected `,` or `]`", span)
            }
            ErrorKind::ExpectedFlowMappingSeparator => {
                self.in_brackets("expected `,` or `}`", span)
            }
            ErrorKind::InvalidColonPlacement => self.in_brackets("a key cannot stand here", span),
            ErrorKind::InvalidTrailingSingleQuotedScalar
            | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
                finding("more text after the closing quote")
            }
            ErrorKind::ExpectedBlockMappingKey => {
                finding("expected a key, indented as those above")
            }
            ErrorKind::ExpectedBlockSequenceEntry => {
                finding("expected `-`, indented as those above")
            }
            ErrorKind::SimpleKeyExpected => finding("expected `:` after a key"),
            ErrorKind::MappingValueNotAllowed => finding("a `key: value` cannot stand here")
                .help("text with `: ` in it must stand in quotes"),
            ErrorKind::MappingKeyNotAllowed => finding("a key cannot stand here"),
            ErrorKind::BlockSequenceEntryNotAllowed | ErrorKind::BlockEntryInFlowCollection => {
                finding("a `-` entry cannot stand here")
            }
            ErrorKind::InvalidIndentation => finding("this line is indented unlike those above"),
            ErrorKind::UnexpectedCharacter { character } => finding(&format!(
                "text cannot start with `{}`",
                character.escape_default()
            ))
            .help("put it in quotes"),
            ErrorKind::UnexpectedEof
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::UnexpectedEofBlockSequence
            | ErrorKind::UnexpectedEofBlockMapping => finding("the file ends too early"),
            kind => {
                let message = kind.to_string().replace('\'', "`").replace("``", "`'`");
                let message = message.trim_end_matches('.');
                let message = match message.split_once(", ") {
                    Some((place, fault)) if place.starts_with("while ") => fault,
                    _ => message,
                };
                let mut chars = message.chars();
                let first = chars
                    .next()
                    .map(|c| c.to_lowercase().to_string())
                    .unwrap_or_default();
                finding(&format!("{first}{}", chars.as_str()))
            }
        }
    }
}

/// The first escape in double quotes that YAML does not know, with its offset.
fn bad_escape(text: &str) -> Option<(usize, char)> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            let (_, letter) = chars.next()?;
            if !"0abtnvfre \"/\\N_LPxuU\t\r\n".contains(letter) {
                return Some((at, letter));
            }
        }
    }
    None
}

fn refused_tag(source: &Arc<Source>, tag: &Tag, span: Span) -> Finding {
    Finding::error(
        "syntax",
        format!("the tag `{}` is not supported", tag.original()),
        source,
        span,
    )
    .label("remove it")
}

/// A node as a key, which must be text.
fn as_key(source: &Arc<Source>, node: Node) -> Result<Key, Finding> {
    let span = node.span;
    let written = span.of(&source.text);
    match node.value {
        // Quoted, it is a key like any other.
        Value::Text(name) if name == "<<" && written == "<<" => Err(Finding::error(
            "syntax",
            "merge keys (`<<`) are not supported",
            source,
            span,
        )
        .help("write the keys out; the file then says all that holds")),
        Value::Text(name) => Ok(Key { name, span }),
        value => {
            let finding = Finding::error(
                "wrong-type",
                format!("a key must be text, this is {}", value.kind()),
                source,
                span,
            );
            let simple = !matches!(value, Value::List(_) | Value::Table(_)) && !written.is_empty();
            Err(if simple {
                finding.help(format!("write `\"{written}\"`"))
            } else {
                finding
            })
        }
    }
}

/// What a node and all below it weigh. A key counts as a node.
fn size(node: &Node) -> Size {
    let mut total = Size {
        nodes: 1,
        bytes: 0,
        height: 0,
    };
    let mut add = |inner: Size| {
        total.nodes += inner.nodes;
        total.bytes += inner.bytes;
        total.height = total.height.max(inner.height);
    };
    match &node.value {
        Value::Text(text) => add(Size {
            nodes: 0,
            bytes: text.len(),
            height: 0,
        }),
        Value::List(items) => items.iter().for_each(|item| add(size(item))),
        Value::Table(table) => {
            for entry in &table.entries {
                add(Size {
                    nodes: 1,
                    bytes: entry.key.name.len(),
                    height: 0,
                });
                add(size(&entry.value));
            }
        }
        _ => {}
    }
    if matches!(node.value, Value::List(_) | Value::Table(_)) {
        total.height += 1;
    }
    total
}

/// A plain scalar by the core schema; none where it is an integer beyond 64 bits.
fn plain(text: &str) -> Option<Value> {
    let number = |digits: &str, radix| i64::from_str_radix(digits, radix).ok().map(Value::Integer);
    let all = |digits: &str, good: fn(&u8) -> bool| {
        !digits.is_empty() && digits.as_bytes().iter().all(good)
    };
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return Some(Value::Float(f64::NAN)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
        return Some(Value::Float(sign * f64::INFINITY));
    }
    if let Some(digits) = text
        .strip_prefix("0o")
        .filter(|d| all(d, |b| matches!(b, b'0'..=b'7')))
    {
        return number(digits, 8);
    }
    if let Some(digits) = text
        .strip_prefix("0x")
        .filter(|d| all(d, u8::is_ascii_hexdigit))
    {
        return number(digits, 16);
    }
    if all(unsigned, u8::is_ascii_digit) {
        return number(text, 10);
    }
    Some(match as_float(text, unsigned) {
        Some(number) => Value::Float(number),
        None => Value::Text(text.into()),
    })
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, and nothing else Rust would take for one.
fn as_float(text: &str, unsigned: &str) -> Option<f64> {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    let fits = digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent_fits;
    if fits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::plain;
    use crate::source::{Source, Tree, Value, read};
    use std::sync::Arc;

    fn tree(text: &str) -> (Arc<Source>, Tree) {
        let source = Arc::new(Source::new("p.yaml", text, None).unwrap());
        let tree = read(&source);
        (source, tree)
    }

    fn told(text: &str) -> String {
        crate::source::tests::told("p.yaml", text)
    }

    #[test]
    fn scalars_follow_the_core_schema() {
        let text = |s: &str| Some(Value::Text(s.into()));
        for (written, value) in [
            ("yes", text("yes")),
            ("on", text("on")),
            ("0o17", Some(Value::Integer(15))),
            ("017", Some(Value::Integer(17))),
            ("0x1F", Some(Value::Integer(31))),
            ("0xg", text("0xg")),
            ("-12", Some(Value::Integer(-12))),
            ("+12", Some(Value::Integer(12))),
            ("1_000", text("1_000")),
            ("1.", Some(Value::Float(1.0))),
            (".5", Some(Value::Float(0.5))),
            ("1e3", Some(Value::Float(1000.0))),
            ("1e", text("1e")),
            (".", text(".")),
            ("-", text("-")),
            ("inf", text("inf")),
            ("nan", text("nan")),
            ("-.inf", Some(Value::Float(f64::NEG_INFINITY))),
            ("~", Some(Value::Null)),
            ("True", Some(Value::Bool(true))),
            ("tRUE", text("tRUE")),
            ("1.2.3", text("1.2.3")),
            ("9223372036854775808", None),
            ("-9223372036854775808", Some(Value::Integer(i64::MIN))),
        ] {
            assert_eq!(plain(written), value, "{written}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, expected) in [
            ("a: 1\na: 2\n", "2:1 duplicate-key `a` is given twice"),
            (
                "a: {b: 1, c: 2, b: 3}\n",
                "1:17 duplicate-key `b` is given twice",
            ),
            (
                "1: x\ntrue: y\n",
                "1:1 wrong-type a key must be text, this is a number\n2:1 wrong-type a key must be text, this is true or false",
            ),
            (
                "? [a]\n: x\n",
                "1:3 wrong-type a key must be text, this is a list",
            ),
            ("a: 1\n---\nb: 2\n", "2:1 syntax more than one document"),
            (
                "- a\n",
                "1:1 wrong-type a policy is a table, this is a list",
            ),
            ("text\n", "1:1 wrong-type a policy is a table, this is text"),
            (
                "a: &x {b: 1}\nc:\n  <<: *x\n",
                "3:3 syntax merge keys (`<<`) are not supported",
            ),
            (
                "a: *x\nb: *y\n",
                "1:4 syntax no anchor `&x` stands before this\n2:4 syntax no anchor `&y` stands before this",
            ),
            (
                "a: &x [*x]\n",
                "1:8 syntax `*x` stands within what it refers to",
            ),
            ("a: !foo b\n", "1:4 syntax the tag `!foo` is not supported"),
            (
                "a: !!binary aGk=\n",
                "1:4 syntax the tag `!!binary` is not supported",
            ),
            (
                "a: 99999999999999999999\n",
                "1:4 wrong-type this number is too large",
            ),
            ("a:\n\tb: 1\n", "2:1 syntax a tab indents this line"),
            ("a: [1, 2}\n", "1:4 syntax `[` is closed by `}`"),
            ("a: [1, 2\n", "1:4 syntax `[` is not closed"),
            ("a: \"x\nb: 1\n", "1:4 syntax text is not closed"),
            ("a: \"\\d\"\n", "1:5 syntax `\\d` is no escape"),
            ("a: b: c\n", "1:5 syntax a `key: value` cannot stand here"),
            ("a: [b\nc: 1\n", "2:2 syntax a key cannot stand here"),
            (
                "a: \"x\" y\n",
                "1:8 syntax more text after the closing quote",
            ),
            ("a: @x\n", "1:4 syntax text cannot start with `@`"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn aliases_are_copies() {
        let (source, tree) = tree("a: &x [one, two]\nb: *x\nc: !!str 1\n\"<<\": 1\n");
        assert_eq!(tree.findings, []);
        let table = tree.root.value.as_table().unwrap();
        let b = table.get("b").unwrap();
        assert_eq!(b.span.of(&source.text), "*x");
        assert_eq!(b.value.as_list().unwrap()[1].span.of(&source.text), "two");
        assert_eq!(table.get("c").unwrap().value.as_text(), Some("1"));
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..20 {
            let inner = vec![format!("*a{}", n - 1); 10].join(", ");
            text.push_str(&format!("a{n}: &a{n} [{inner}]\n"));
        }
        let told = told(&text);
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.contains("expand to more than"), "{told:?}");
    }

    #[test]
    fn spans_fit_the_bytes() {
        let text = "\u{feff}# top\r\nä: \"ö\" # side\r\nlist:\r\n  - {k: v}\r\n  - |\r\n    x\r\n";
        let (source, tree) = tree(text);
        assert_eq!(tree.findings, []);
        let comments: Vec<_> = tree.comments.iter().map(|span| span.of(text)).collect();
        assert_eq!(comments, ["# top", "# side"]);
        let table = tree.root.value.as_table().unwrap();
        assert_eq!(table.entries[0].key.span.of(text), "ä");
        assert_eq!(table.get("ä").unwrap().span.of(&source.text), "\"ö\"");
        let list = table.get("list").unwrap();
        assert_eq!(list.value.as_list().unwrap()[0].span.of(text), "{k: v}");
        assert_eq!(
            list.value.as_list().unwrap()[1].value.as_text(),
            Some("x\n")
        );
        assert!(
            list.span.of(text).starts_with("- {k: v}"),
            "{:?}",
            list.span.of(text)
        );
    }

    #[test]
    fn depth_is_bounded() {
        let nest = |n: usize| format!("a: {}{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(told(&nest(63)), "");
        for text in [
            nest(64),
            nest(100_000),
            format!("a: {}", "{a: ".repeat(100_000)),
            format!("a:\n{}x", "- ".repeat(100_000)),
            (0..500).map(|n| format!("{}a:\n", " ".repeat(n))).collect(),
        ] {
            let told = told(&text);
            assert_eq!(told.lines().count(), 1, "{told}");
            assert!(told.contains("nest deeper than 64"), "{told:?}");
        }
    }
}
