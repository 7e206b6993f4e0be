//! TOML text → the same text with every quote and bracket closed, so that one slip stays one finding.
//!
//! In: the text. Out: [`Mended`]: text for the parser, what was amiss, comments, table headers.
//! The parser recovers line by line: a list left open swallows the rest of the file, and a wrong
//! bracket makes an error of every line after it. Refuses: nesting beyond [`MAX_DEPTH`], before the
//! parser recurses into it. Knows quotes, brackets, comments and nothing else of TOML.

use super::{MAX_DEPTH, Source, Span};
use crate::finding::Finding;
use std::borrow::Cow;
use std::sync::Arc;

/// How many lines below an open quote its closing quote is looked for.
const CONTINUED: usize = 20;

/// What ends a word, as the parser splits them.
const NO_WORD: &[u8] = b".=,[]{} \t#\r\n";

/// What the scan found out.
pub(super) struct Mended<'t> {
    /// For the parser.
    pub text: Cow<'t, str>,
    /// Quotes and brackets that do not match.
    pub findings: Vec<Finding>,
    /// In the original text.
    pub comments: Vec<Span>,
    /// `[a.b]` and `[[a.b]]`, in the original text.
    pub headers: Vec<Span>,
    /// Nests too deep: the parser must not see it.
    pub too_deep: bool,
    edits: Vec<Edit>,
    /// Where each edit begins in the mended text.
    begins: Vec<usize>,
}

impl Mended<'_> {
    /// Where a byte of the mended text stands in the original; what was put in has no length there.
    pub fn original(&self, offset: usize) -> usize {
        let last = self
            .begins
            .partition_point(|begin| *begin <= offset)
            .checked_sub(1);
        let known = last.and_then(|i| self.begins.get(i).zip(self.edits.get(i)));
        let Some((begin, edit)) = known else {
            return offset;
        };
        match (offset - begin).checked_sub(edit.put.len()) {
            Some(behind) => edit.at + edit.gone + behind,
            None => edit.at,
        }
    }

    /// Whether offsets of both texts are the same.
    pub fn is_intact(&self) -> bool {
        self.edits.is_empty()
    }
}

/// `gone` bytes at `at` make room for `put`.
struct Edit {
    at: usize,
    gone: usize,
    put: &'static str,
}

/// Mends a text.
pub(super) fn mend(source: &Arc<Source>) -> Mended<'_> {
    let mut scan = Scan {
        source,
        text: &source.text,
        at: 0,
        last_end: 0,
        statement: None,
        after_equals: false,
        after_word: false,
        odd: None,
        dots: 0,
        depth: 0,
        open: Vec::new(),
        mended: Mended {
            text: Cow::Borrowed(&source.text),
            findings: Vec::new(),
            comments: Vec::new(),
            headers: Vec::new(),
            too_deep: false,
            edits: Vec::new(),
            begins: Vec::new(),
        },
    };
    scan.run();
    let mut mended = scan.mended;
    if !mended.edits.is_empty() {
        mended.edits.sort_by_key(|edit| edit.at);
        let mut text = String::with_capacity(source.text.len() + mended.edits.len());
        let mut from = 0;
        for edit in &mended.edits {
            text.push_str(Span::new(from, edit.at).of(&source.text));
            mended.begins.push(text.len());
            text.push_str(edit.put);
            from = edit.at + edit.gone;
        }
        text.push_str(Span::new(from, source.text.len()).of(&source.text));
        mended.text = Cow::Owned(text);
    }
    mended
}

/// A bracket that waits for its other half.
struct Open {
    at: usize,
    close: u8,
    /// Part of a table header, which ends with its line in any case.
    header: bool,
    /// Tables made by the dots of the key before it, plus itself.
    levels: usize,
}

struct Scan<'t> {
    source: &'t Arc<Source>,
    text: &'t str,
    at: usize,
    /// End of the last token that is no blank or comment.
    last_end: usize,
    /// Where the statement began that is no header and stands in no bracket.
    statement: Option<usize>,
    /// Within a statement, its value has begun.
    after_equals: bool,
    /// The last token was a word or quoted text.
    after_word: bool,
    /// What no key or header can hold: the parser would skip the lines after it.
    odd: Option<usize>,
    /// Dots since the last separator: those of the key, once `=` comes.
    dots: usize,
    /// Of all that is open.
    depth: usize,
    open: Vec<Open>,
    mended: Mended<'t>,
}

impl<'t> Scan<'t> {
    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        while let Some(byte) = self.text.as_bytes().get(self.at).copied() {
            let start = self.at;
            self.at += 1;
            match byte {
                b' ' | b'\t' | b'\r' => continue,
                b'\n' => {
                    self.end_line();
                    self.new_line();
                    continue;
                }
                b'#' => {
                    let rest = self.text.get(start..).unwrap_or_default();
                    let end = start + rest.find(['\r', '\n']).unwrap_or(rest.len());
                    self.mended.comments.push(Span::new(start, end));
                    self.at = end;
                    continue;
                }
                _ => {}
            }
            let fresh = self.open.is_empty() && self.statement.is_none();
            if fresh {
                self.statement = Some(start);
            }
            let word = match byte {
                b'"' | b'\'' => {
                    self.string(start, byte);
                    true
                }
                b'[' | b'{' => {
                    self.opening(start, byte, fresh);
                    false
                }
                b']' | b'}' => {
                    self.closing(start, byte);
                    false
                }
                b'=' => {
                    self.equals(start);
                    false
                }
                b'.' => {
                    self.dots += 1;
                    false
                }
                b',' => {
                    self.dots = 0;
                    self.oddity(start);
                    false
                }
                _ => {
                    // The parser's words go on through quotes, in case the first was forgotten.
                    let rest = self.text.as_bytes().get(start..).unwrap_or_default();
                    let end = rest.iter().position(|byte| NO_WORD.contains(byte));
                    self.at = start + end.unwrap_or(rest.len());
                    true
                }
            };
            if word && self.after_word {
                self.oddity(start);
            }
            self.after_word = word;
            self.last_end = self.at;
            if self.mended.too_deep {
                return;
            }
        }
        self.leave_open(0, self.text.len());
        self.end_line();
    }

    /// Notes what cannot stand here, if this is a key or header.
    fn oddity(&mut self, at: usize) {
        let in_key = match self.open.last() {
            Some(open) => open.header,
            None => !self.after_equals,
        };
        if in_key {
            self.odd.get_or_insert(at);
        }
    }

    fn equals(&mut self, at: usize) {
        if self.open.is_empty() && !self.after_equals {
            if let (Some(start), Some(odd)) = (self.statement, self.odd.take()) {
                let word = self
                    .text
                    .get(start..)
                    .is_some_and(|t| t.starts_with(is_bare));
                self.replace(
                    Span::new(start, at),
                    "",
                    odd,
                    if word {
                        (
                            "a key with a blank in it needs quotes",
                            "expected `=` before this",
                        )
                    } else {
                        ("this is no key", "expected a key before `=`")
                    },
                );
            }
            self.after_equals = true;
        } else {
            self.oddity(at);
        }
        // These dots stay with the key until its value opens, or the next separator comes.
        if self.depth + self.dots > MAX_DEPTH {
            self.refuse(at);
        }
    }

    /// Takes a text from the parser's eyes, and tells why unless the line is known to be faulty.
    fn replace(&mut self, span: Span, put: &'static str, at: usize, why: (&str, &str)) {
        let known = self.mended.findings.last().and_then(|f| f.labels.first());
        if known.is_none_or(|label| label.span.start < span.start) {
            let length = self
                .text
                .get(at..)
                .and_then(|t| t.chars().next())
                .map_or(0, |c| if c.is_control() { 0 } else { c.len_utf8() });
            self.mended.findings.push(
                Finding::error("syntax", why.0, self.source, Span::new(at, at + length))
                    .label(why.1),
            );
        }
        while self
            .mended
            .edits
            .pop_if(|edit| edit.at >= span.start)
            .is_some()
        {}
        self.mended.edits.push(Edit {
            at: span.start,
            gone: span.end - span.start,
            put,
        });
    }

    /// At the end of a line: a header or a key without a value is over, whatever it lacks.
    fn end_line(&mut self) {
        if self.open.last().is_some_and(|open| open.header) {
            let start = self.open.first().map_or(0, |open| open.at);
            self.bad_header(Span::new(start, self.last_end), self.last_end);
        }
        if !self.open.is_empty() {
            return;
        }
        if let Some(start) = self.statement.take().filter(|_| !self.after_equals) {
            let span = Span::new(start, self.last_end);
            let text = self.text.get(start..).unwrap_or_default();
            if text.starts_with(|c| is_bare(c) || matches!(c, '"' | '\'')) {
                let why = ("a key without a value", "expected `=` and a value");
                self.replace(span, "", self.last_end, why);
            } else {
                let why = (
                    "this line is no `key = value` and no `[table]`",
                    "expected a key here",
                );
                self.replace(span, "", start, why);
            }
        }
        self.after_equals = false;
        self.after_word = false;
        self.odd = None;
        self.dots = 0;
    }

    /// The keys below a header that cannot be read must not fall to the table above.
    fn bad_header(&mut self, header: Span, at: usize) {
        let why = if at == self.last_end {
            ("a table header is not closed", "expected `]`")
        } else {
            ("this is no table header", "expected `]` before this")
        };
        self.replace(header, "[[\"\"]]", at, why);
        while self.open.last().is_some_and(|open| open.header) {
            self.pop();
        }
    }

    fn refuse(&mut self, at: usize) {
        if std::mem::replace(&mut self.mended.too_deep, true) {
            return;
        }
        self.mended
            .findings
            .push(too_deep(self.source, Span::new(at, at + 1)));
    }

    fn opening(&mut self, at: usize, byte: u8, fresh: bool) {
        let header = byte == b'['
            && match &self.open[..] {
                [] => fresh,
                [first] => first.header && first.at + 1 == at,
                _ => false,
            };
        if header {
            self.statement = None;
        } else {
            self.oddity(at);
            let in_header = self.open.last().is_some_and(|open| open.header);
            if in_header || self.open.is_empty() && !self.after_equals {
                // No value can start here.
                return;
            }
        }
        let levels = 1 + std::mem::take(&mut self.dots);
        self.depth += levels;
        self.open.push(Open {
            at,
            close: if byte == b'[' { b']' } else { b'}' },
            header,
            levels,
        });
        if self.depth > MAX_DEPTH {
            self.refuse(at);
        }
    }

    fn pop(&mut self) -> Option<Open> {
        let open = self.open.pop()?;
        self.depth -= open.levels;
        self.dots = 0;
        Some(open)
    }

    fn closing(&mut self, at: usize, byte: u8) {
        let Some(top) = self.open.last() else {
            self.oddity(at);
            return;
        };
        if top.close == byte {
            let dots = self.dots;
            let Some(open) = self.pop() else { return };
            if open.header && self.open.is_empty() {
                let header = Span::new(open.at, self.at);
                if dots >= MAX_DEPTH {
                    self.refuse(at);
                }
                match self.odd.take() {
                    Some(odd) => self.bad_header(header, odd),
                    None => self.mended.headers.push(header),
                }
                // What follows on this line is for the parser to refuse.
                self.statement = Some(open.at);
                self.after_equals = true;
            } else if open.header && self.text.as_bytes().get(self.at) != Some(&b']') {
                // `[[a] ]`
                self.oddity(at);
            }
            return;
        }
        if top.header {
            self.oddity(at);
            return;
        }
        let (top_at, wanted) = (top.at, top.close);
        let below = self
            .open
            .len()
            .checked_sub(2)
            .and_then(|i| self.open.get(i));
        // `[ {a = 1]` leaves `{` open, unless more entries follow: then `]` was a slip for `}`.
        let ends_all = self.open.len() == 2;
        let forgotten = below.is_some_and(|open| open.close == byte && !open.header)
            && !(ends_all && self.next_token(at + 1) == Some(b','));
        if forgotten {
            self.not_closed(top_at);
            self.mended.edits.push(Edit {
                at,
                gone: 0,
                put: closer(wanted),
            });
            self.pop();
            self.pop();
        } else {
            let (open, close) = (char::from(opener(wanted)), char::from(byte));
            self.mended.findings.push(
                Finding::error(
                    "syntax",
                    format!("`{open}` is closed by `{close}`"),
                    self.source,
                    Span::new(at, at + 1),
                )
                .label(format!("expected `{}`", char::from(wanted)))
                .also(self.source, Span::new(top_at, top_at + 1), "opened here"),
            );
            self.mended.edits.push(Edit {
                at,
                gone: 1,
                put: closer(wanted),
            });
            self.pop();
        }
    }

    fn next_token(&self, from: usize) -> Option<u8> {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        rest.iter()
            .copied()
            .find(|byte| !matches!(byte, b' ' | b'\t'))
    }

    /// After a line break: does this line show that something above was left open?
    fn new_line(&mut self) {
        let Some(top) = self.open.last() else {
            return;
        };
        let line = self.rest_of_line(self.at).trim();
        let after_separator = Span::new(0, self.last_end)
            .of(self.text)
            .ends_with(['{', ',']);
        if is_header(line) {
            self.leave_open(0, self.at);
        } else if is_assignment(line) {
            if top.close == b']' {
                // Back to the inline table that can hold this key, or all the way out.
                let keep = self.open.iter().rposition(|open| open.close == b'}');
                self.leave_open(keep.map_or(0, |i| i + 1), self.at);
            } else if !after_separator && !line.ends_with([',', '}', ']']) {
                self.leave_open(0, self.at);
            }
        }
    }

    /// Closes all but `keep` brackets before `at`, and tells of the innermost.
    fn leave_open(&mut self, keep: usize, at: usize) {
        let Some(top) = self.open.last().filter(|_| self.open.len() > keep) else {
            return;
        };
        if top.header {
            return;
        }
        self.not_closed(top.at);
        let text = Span::new(0, self.last_end).of(self.text);
        // Inside a table that goes on, the comma belongs behind what is closed here.
        let end = if keep > 0 && text.ends_with(',') {
            self.last_end - 1
        } else {
            self.last_end
        };
        let end = end.min(at);
        while self.open.len() > keep {
            let Some(open) = self.pop() else { break };
            self.mended.edits.push(Edit {
                at: end,
                gone: 0,
                put: closer(open.close),
            });
        }
        if self.open.is_empty() {
            self.end_line();
        }
    }

    fn not_closed(&mut self, at: usize) {
        let bracket = Span::new(at, at + 1);
        let text = bracket.of(self.text);
        self.mended.findings.push(
            Finding::error(
                "syntax",
                format!("`{text}` is not closed"),
                self.source,
                bracket,
            )
            .label("opened here"),
        );
    }

    fn rest_of_line(&self, from: usize) -> &'t str {
        let rest = self.text.get(from..).unwrap_or_default();
        rest.split_once('\n').map_or(rest, |(line, _)| line)
    }

    fn string(&mut self, start: usize, quote: u8) {
        let escapes = quote == b'"';
        let triple = if escapes { "\"\"\"" } else { "'''" };
        let rest = self.text.get(start..).unwrap_or_default();
        if rest.starts_with(triple) {
            return self.long_string(start, escapes, triple);
        }
        if let Some(end) = closing_quote(rest, 1, quote, escapes) {
            self.at = start + end;
            return;
        }
        let line = self.rest_of_line(start);
        let line = line.strip_suffix('\r').unwrap_or(line);
        self.at = start + line.len();
        if let Some(end) = self.continuation(start, line.len(), quote) {
            self.mended.findings.push(
                Finding::error(
                    "syntax",
                    "a line break in text with one-line quotes",
                    self.source,
                    Span::new(start, self.at),
                )
                .label("the line ends before the text does")
                .help(format!(
                    "write the text on one line, or start and end it with `{triple}`"
                )),
            );
            let inside = Span::new(self.at, end).of(self.text);
            for (at, byte) in inside.bytes().enumerate() {
                if matches!(byte, b'\n' | b'\r') {
                    self.mended.edits.push(Edit {
                        at: self.at + at,
                        gone: 1,
                        put: " ",
                    });
                }
            }
            self.at = end;
            return;
        }
        self.mended.findings.push(
            Finding::error(
                "syntax",
                "text is not closed on its line",
                self.source,
                Span::new(start, self.at),
            )
            .label(format!("no closing `{}`", char::from(quote))),
        );
        // In `["ls]` the bracket was most likely meant as one.
        let body = line.get(1..).unwrap_or_default();
        let kept = if self.open.is_empty() {
            body
        } else {
            body.trim_end_matches([' ', '\t', ',', ']', '}'])
        };
        self.at = start + 1 + kept.len();
        self.close_string(kept, escapes, if escapes { "\"" } else { "'" });
    }

    /// Puts a closing quote at `self.at`, behind `body`.
    fn close_string(&mut self, body: &str, escapes: bool, quote: &'static str) {
        let slashes = body.len() - body.trim_end_matches('\\').len();
        if escapes && slashes % 2 == 1 {
            self.mended.edits.push(Edit {
                at: self.at,
                gone: 0,
                put: "\\",
            });
        }
        self.mended.edits.push(Edit {
            at: self.at,
            gone: 0,
            put: quote,
        });
    }

    fn long_string(&mut self, start: usize, escapes: bool, triple: &'static str) {
        let rest = self.text.get(start..).unwrap_or_default();
        let mut from = triple.len();
        loop {
            let tail = rest.get(from..).unwrap_or_default();
            let found = if escapes {
                tail.find(['"', '\\'])
            } else {
                tail.find(triple)
            };
            let Some(found) = found else { break };
            from += found;
            let tail = rest.get(from..).unwrap_or_default();
            if tail.starts_with(triple) {
                // Up to two quotes right before the closing three are text.
                let quotes = tail
                    .bytes()
                    .take(5)
                    .take_while(|b| Some(*b) == triple.bytes().next());
                self.at = start + from + quotes.count();
                return;
            }
            let escaped = tail.starts_with("\\\\") || tail.starts_with("\\\"");
            from += if escaped { 2 } else { 1 };
        }
        self.mended.findings.push(
            Finding::error(
                "syntax",
                "text is not closed",
                self.source,
                Span::new(start, start + triple.len()),
            )
            .label(format!("no closing `{triple}` up to the end of the file")),
        );
        self.at = self.text.len();
        self.close_string(
            rest.get(triple.len()..).unwrap_or_default(),
            escapes,
            triple,
        );
    }

    /// The end of a text that runs over its line, if the next lines look like its rest.
    fn continuation(&self, start: usize, length: usize, quote: u8) -> Option<usize> {
        let mut at = start + length;
        for _ in 0..CONTINUED {
            at += self.text.get(at..)?.find('\n')? + 1;
            let line = self.rest_of_line(at);
            let trimmed = line.trim();
            let begins = trimmed.is_empty()
                || trimmed.starts_with(['[', '{', ']', '}', '#', '"', '\''])
                || is_assignment(trimmed);
            if begins {
                return None;
            }
            if let Some(end) = closing_quote(line, 0, quote, quote == b'"') {
                let next = line.get(end..)?.trim_start().bytes().next();
                return matches!(next, None | Some(b',' | b']' | b'}' | b'#')).then_some(at + end);
            }
        }
        None
    }
}

/// The error for what nests deeper than any policy needs to.
pub(super) fn too_deep(source: &Arc<Source>, span: Span) -> Finding {
    Finding::error(
        "syntax",
        format!("tables and lists nest deeper than {MAX_DEPTH} levels"),
        source,
        span,
    )
    .label("too deep from here")
}

/// One past the closing quote in the first line of `text`, looked for from `from`.
fn closing_quote(text: &str, from: usize, quote: u8, escapes: bool) -> Option<usize> {
    let mut bytes = text.as_bytes().get(from..)?.iter().copied().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\n' => return None,
            _ if byte == quote => return Some(from + at + 1),
            b'\\' if escapes => {
                let next = text.as_bytes().get(from + at + 1);
                if matches!(next, Some(b'\\' | b'"')) {
                    bytes.next();
                }
            }
            _ => {}
        }
    }
    None
}

/// `a.b = …`: inside a list, only a list left open explains this.
fn is_assignment(line: &str) -> bool {
    let key = line.trim_start_matches(|c: char| is_bare(c) || matches!(c, '.' | ' ' | '\t'));
    key.len() < line.len() && key.starts_with('=')
}

/// `[a.b]`, alone on its line; a nested list of numbers or quoted text is none.
fn is_header(line: &str) -> bool {
    let Some(inner) = line.strip_prefix('[') else {
        return false;
    };
    let inner = inner.strip_prefix('[').unwrap_or(inner).trim_start();
    let Some((path, after)) = inner.split_once(']') else {
        return false;
    };
    let after = after.strip_prefix(']').unwrap_or(after).trim_start();
    inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !["true", "false", "inf", "nan"].contains(&path.trim())
        && path
            .chars()
            .all(|c| is_bare(c) || matches!(c, '.' | ' ' | '"' | '\''))
        && (after.is_empty() || after.starts_with('#'))
}

fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

const fn opener(close: u8) -> u8 {
    if close == b']' { b'[' } else { b'{' }
}

const fn closer(close: u8) -> &'static str {
    if close == b']' { "]" } else { "}" }
}
