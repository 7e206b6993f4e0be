//! JSON with the places of its parts, comments and commas at the end of a list included.
//!
//! In: text. Out: a [`Node`], and whether it is more than plain JSON; or a sentence about what is wrong, with its line.

use crate::text::Span;
use serde_json::Value;

/// A value, where it stands.
#[derive(Clone, Debug)]
pub struct Node {
    pub span: Span,
    pub kind: Kind,
}

/// What it is.
#[derive(Clone, Debug)]
pub enum Kind {
    Object(Vec<Child>),
    Array(Vec<Child>),
    Plain(Value),
}

/// A member of an object, or an element of a list.
#[derive(Clone, Debug)]
pub struct Child {
    /// Where it starts: at its key, where it has one.
    pub start: usize,
    pub key: Option<String>,
    pub node: Node,
    /// Where the comma after it stands.
    pub comma: Option<usize>,
}

/// A text, read.
#[derive(Clone, Debug)]
pub struct Document {
    pub root: Node,
    /// The line and the name of the first thing that plain JSON has not.
    pub beyond: Option<(usize, &'static str)>,
}

/// How deep lists and objects may stand in each other.
const DEEPEST: usize = 64;

/// Reads a text to its end.
pub fn read(text: &str) -> Result<Document, String> {
    let mut reader = Reader {
        text,
        at: text.len() - text.trim_start_matches('\u{feff}').len(),
        beyond: None,
    };
    let root = reader.value(0)?;
    reader.blank()?;
    match reader.peek() {
        None => Ok(Document {
            root,
            beyond: reader.beyond,
        }),
        Some(_) => Err(reader.wrong("something stands after its end")),
    }
}

impl Node {
    /// Its members or elements.
    pub fn children(&self) -> &[Child] {
        match &self.kind {
            Kind::Object(children) | Kind::Array(children) => children,
            Kind::Plain(_) => &[],
        }
    }

    /// The member of this name.
    pub fn member(&self, key: &str) -> Option<(usize, &Child)> {
        let mut children = self.children().iter().enumerate();
        children.find(|(_, child)| child.key.as_deref() == Some(key))
    }

    /// Its text, where it is one.
    pub const fn text(&self) -> Option<&String> {
        match &self.kind {
            Kind::Plain(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    beyond: Option<(usize, &'static str)>,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn line(&self) -> usize {
        let before = self.text.as_bytes().get(..self.at).unwrap_or_default();
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    fn wrong(&self, what: &str) -> String {
        format!("line {}: {what}", self.line())
    }

    fn is_beyond(&mut self, what: &'static str) {
        if self.beyond.is_none() {
            self.beyond = Some((self.line(), what));
        }
    }

    /// Passes blanks and comments.
    fn blank(&mut self) -> Result<(), String> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += blank;
            let rest = self.rest();
            let end = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                let close = rest.find("*/");
                close.ok_or_else(|| self.wrong("a comment without an end"))? + 2
            } else {
                return Ok(());
            };
            self.is_beyond("a comment");
            self.at += end;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, String> {
        self.blank()?;
        if depth > DEEPEST {
            return Err(self.wrong("it nests too deep"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.children(b'}', depth)?),
            Some(b'[') => Kind::Array(self.children(b']', depth)?),
            Some(_) => Kind::Plain(self.plain()?),
            None => return Err(self.wrong("it ends too early")),
        };
        let span = Span::new(start, self.at);
        Ok(Node { span, kind })
    }

    fn children(&mut self, close: u8, depth: usize) -> Result<Vec<Child>, String> {
        self.at += 1;
        let mut out: Vec<Child> = Vec::new();
        loop {
            self.blank()?;
            if self.peek() == Some(close) {
                if out.last().is_some_and(|last| last.comma.is_some()) {
                    self.is_beyond("a comma before the end of a list");
                }
                self.at += 1;
                return Ok(out);
            }
            if self.peek().is_none() {
                return Err(self.wrong("it ends too early"));
            }
            if out.last().is_some_and(|last| last.comma.is_none()) {
                return Err(self.wrong("a comma or the end of the list is missing"));
            }
            let start = self.at;
            let key = match close {
                b'}' => Some(self.key(&out)?),
                _ => None,
            };
            let node = self.value(depth + 1)?;
            self.blank()?;
            let comma = (self.peek() == Some(b',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            out.push(Child {
                start,
                key,
                node,
                comma,
            });
        }
    }

    fn key(&mut self, before: &[Child]) -> Result<String, String> {
        let key = match (self.peek(), self.plain()) {
            (Some(b'"'), Ok(Value::String(key))) => key,
            _ => return Err(self.wrong("a key in quotes is missing")),
        };
        if before.iter().any(|own| own.key.as_ref() == Some(&key)) {
            return Err(self.wrong(&format!("the key `{key}` stands there twice")));
        }
        self.blank()?;
        if self.peek() != Some(b':') {
            return Err(self.wrong(&format!("a colon after `{key}` is missing")));
        }
        self.at += 1;
        Ok(key)
    }

    /// A text, a number or a word.
    fn plain(&mut self) -> Result<Value, String> {
        let rest = self.rest();
        let end = match rest.strip_prefix('"') {
            Some(inner) => {
                let mut escaped = false;
                let close = inner.bytes().position(|byte| {
                    let closes = byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    closes
                });
                close.map_or(rest.len(), |close| close + 2)
            }
            None => {
                let ends = |c: char| c.is_whitespace() || ",:]}/\"[{".contains(c);
                rest.find(ends).unwrap_or(rest.len())
            }
        };
        let word = rest.get(..end).unwrap_or_default();
        match serde_json::from_str(word) {
            Ok(value) => {
                self.at += end;
                Ok(value)
            }
            Err(_) => Err(self.wrong("this is no JSON")),
        }
    }
}
