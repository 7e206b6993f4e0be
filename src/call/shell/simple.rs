//! Simple commands as written: assignments, words, redirections, heredocs; and `name() …`.

use super::lex::Until;
use super::parse::{Parser, is_name_byte, is_name_start};
use super::syntax::{Assign, Command, Heredoc, Part, Raw, Redirect, Shape, Target, Value};
use crate::source::Span;

impl Parser<'_> {
    pub(super) fn redirects(&mut self) -> Vec<Redirect> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => return redirects,
            }
        }
    }

    pub(super) fn simple(&mut self) -> Option<Command> {
        let start = self.at;
        let mut last = start;
        let mut assigns = Vec::new();
        let mut words: Vec<Raw> = Vec::new();
        let mut redirects = Vec::new();
        let mut declares = false;
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect() {
                redirects.push(redirect);
            } else if let Some(assign) = words.is_empty().then(|| self.assign()).flatten() {
                assigns.push(assign);
            } else {
                let mut word = self.word();
                if word.span.start == word.span.end {
                    if self.peek() != Some(b'(') || words.is_empty() {
                        break;
                    }
                    if words.len() == 1
                        && assigns.is_empty()
                        && redirects.is_empty()
                        && let Some(command) = self.function(start, &words)
                    {
                        return Some(command);
                    }
                    break;
                }
                if declares
                    && self.peek() == Some(b'(')
                    && word.span.of(self.text).ends_with('=')
                    && self.enter()
                {
                    let elements = self.elements();
                    self.leave();
                    word.parts.push(Part::Array(elements));
                    word.span.end = self.at;
                }
                if words.is_empty() {
                    declares = matches!(
                        word.span.of(self.text),
                        "declare" | "typeset" | "local" | "export" | "readonly"
                    );
                }
                words.push(word);
            }
            last = self.at;
        }
        if words.is_empty() && assigns.is_empty() && redirects.is_empty() {
            return None;
        }
        Some(Command {
            span: Span::new(start, last),
            shape: Shape::Simple { assigns, words },
            redirects,
        })
    }

    /// `name() …`, the cursor on its parenthesis.
    pub(super) fn function(&mut self, start: usize, words: &[Raw]) -> Option<Command> {
        let open = self.at;
        self.at += 1;
        self.blanks();
        if self.peek() != Some(b')') || !self.enter() {
            self.at = open;
            return None;
        }
        self.at += 1;
        let name = words.first()?.span;
        let shape = self.function_body(name);
        self.leave();
        Some(Command {
            span: Span::new(start, self.at),
            shape,
            redirects: Vec::new(),
        })
    }

    /// `NAME=value`, `NAME+=value`, `NAME[i]=value`, `NAME=(…)`; nothing is consumed where none stands here.
    pub(super) fn assign(&mut self) -> Option<Assign> {
        let start = self.at;
        if !self.peek().is_some_and(is_name_start) {
            return None;
        }
        let mut at = start;
        while self.byte(at).is_some_and(is_name_byte) {
            at += 1;
        }
        let name = Span::new(start, at);
        let subscript = match self.byte(at) {
            Some(b'=') => None,
            Some(b'+') if self.byte(at + 1) == Some(b'=') => None,
            Some(b'[') if self.fuel > 0 && self.enter() => {
                let mark = self.mark();
                let flaws = self.flaws.len();
                self.at = at + 1;
                let parts = self.parts(Until::Bracket);
                self.leave();
                let after = (self.byte(self.at + 1), self.byte(self.at + 2));
                let assigns = matches!(after, (Some(b'='), _) | (Some(b'+'), Some(b'=')));
                if self.peek() != Some(b']') || !assigns {
                    // A glob such as `a[bc]`, or half a bracket: a word after all.
                    let read = self.at - start;
                    self.reset(mark);
                    self.flaws.truncate(flaws);
                    self.at = start;
                    let _ = self.spend(read);
                    return None;
                }
                at = self.at + 1;
                Some(parts)
            }
            _ => return None,
        };
        let append = self.byte(at) == Some(b'+');
        self.at = at + 1 + usize::from(append);
        let value = if self.peek() == Some(b'(') && self.enter() {
            let elements = self.elements();
            self.leave();
            Value::Array(elements)
        } else {
            Value::Scalar(self.word())
        };
        Some(Assign {
            name,
            subscript,
            append,
            value,
        })
    }

    /// `(a b c)`, the cursor on its parenthesis.
    pub(super) fn elements(&mut self) -> Vec<Raw> {
        let start = self.at;
        self.at += 1;
        let mut words = Vec::new();
        loop {
            self.newlines();
            if self.peek() == Some(b')') {
                self.at += 1;
                return words;
            }
            let word = self.word();
            if word.span.start == word.span.end {
                self.flaw(start, "an array is never closed");
                return words;
            }
            words.push(word);
        }
    }

    /// A redirection at the cursor, with its descriptor; nothing is consumed where none stands here.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let start = self.at;
        let at = match self.peek()? {
            b'<' | b'>' => start,
            b'&' if self.byte(start + 1) == Some(b'>') => start,
            b'0'..=b'9' => {
                let mut at = start;
                while self.byte(at).is_some_and(|byte| byte.is_ascii_digit()) {
                    at += 1;
                }
                at
            }
            b'{' => {
                let mut at = start + 1;
                if !self.byte(at).is_some_and(is_name_start) {
                    return None;
                }
                while self.byte(at).is_some_and(is_name_byte) {
                    at += 1;
                }
                if self.byte(at) != Some(b'}') {
                    return None;
                }
                at + 1
            }
            _ => return None,
        };
        let next = (self.byte(at)?, self.byte(at + 1), self.byte(at + 2));
        let (width, make): (usize, fn(Raw) -> Target) = match next {
            // A process substitution is a word.
            (b'<' | b'>', Some(b'('), _) => return None,
            (b'&', Some(b'>'), Some(b'>')) => (3, Target::Write),
            (b'&', Some(b'>'), _) if at == start => (2, Target::Write),
            (b'>', Some(b'>' | b'|'), _) => (2, Target::Write),
            (b'>', Some(b'&'), _) => (2, Target::Duplicate),
            (b'>', _, _) => (1, Target::Write),
            (b'<', Some(b'<'), Some(b'<')) => (3, Target::HereString),
            (b'<', Some(b'<'), _) => {
                self.at = at + 2;
                return Some(self.heredoc(start));
            }
            (b'<', Some(b'>'), _) => (2, Target::Both),
            (b'<', Some(b'&'), _) => (2, Target::From),
            (b'<', _, _) => (1, Target::Read),
            _ => return None,
        };
        self.at = at + width;
        if self.peek() == Some(b'!') {
            self.flaw(start, "`>!` is a redirection to what follows it in zsh");
        }
        self.blanks();
        let word = self.word();
        if word.span.start == word.span.end {
            self.flaw(start, "a redirection without a target");
        }
        Some(Redirect {
            span: Span::new(start, self.at),
            what: make(word),
        })
    }

    pub(super) fn heredoc(&mut self, start: usize) -> Redirect {
        let strip_tabs = self.peek() == Some(b'-');
        self.at += usize::from(strip_tabs);
        self.blanks();
        let word = self.word();
        if word.span.start == word.span.end {
            self.flaw(start, "a heredoc without its delimiter");
        }
        let (delimiter, quoted) = delimiter(&word, self.text);
        self.pending.push(self.heredocs.len());
        self.heredocs.push(Heredoc {
            quoted,
            strip_tabs,
            delimiter,
            body: Span::new(self.at, self.at),
            parts: Vec::new(),
        });
        Redirect {
            span: Span::new(start, self.at),
            what: Target::Heredoc(self.heredocs.len() - 1),
        }
    }

    pub(super) fn heredoc_body(&mut self, id: usize) {
        let Some(heredoc) = self.heredocs.get(id) else {
            return;
        };
        let start = self.at;
        let mut line = start;
        let mut continued = false;
        let (end, next) = loop {
            if line >= self.end {
                break (self.end, None);
            }
            let rest = self.text.get(line..self.end).unwrap_or_default();
            let length = rest.find('\n').unwrap_or(rest.len());
            let text = rest.get(..length).unwrap_or_default();
            let shown = if heredoc.strip_tabs {
                text.trim_start_matches('\t')
            } else {
                text
            };
            if shown == heredoc.delimiter && !continued {
                break (line, Some((line + length + 1).min(self.end)));
            }
            let slashes = text.bytes().rev().take_while(|&byte| byte == b'\\').count();
            continued = !heredoc.quoted && slashes % 2 == 1;
            line += length + 1;
        };
        let quoted = heredoc.quoted;
        if next.is_none() {
            self.flaw(start, "a heredoc without its end");
        }
        let parts = if quoted || !self.enter() {
            Vec::new()
        } else {
            let outer = std::mem::replace(&mut self.end, end);
            let pending = std::mem::take(&mut self.pending);
            let literal = std::mem::take(&mut self.literal_quotes);
            let parts = self.parts(Until::Heredoc);
            self.literal_quotes = literal;
            self.pending = pending;
            self.end = outer;
            self.leave();
            parts
        };
        self.at = next.unwrap_or(self.end);
        if let Some(heredoc) = self.heredocs.get_mut(id) {
            heredoc.body = Span::new(start, end);
            heredoc.parts = parts;
        }
    }

    /// Heredocs whose line is over without a newline have no body.
    pub(super) fn give_up_heredocs(&mut self) {
        if !self.pending.is_empty() {
            self.pending.clear();
            self.flaw(self.at, "a heredoc without its body");
        }
    }
}

/// A heredoc's delimiter, quotes removed, and whether any part of it was quoted.
fn delimiter(word: &Raw, text: &str) -> (String, bool) {
    let mut out = String::new();
    let mut quoted = false;
    let mut stack: Vec<&Part> = word.parts.iter().rev().collect();
    while let Some(part) = stack.pop() {
        match part {
            Part::Text(span) => out.push_str(span.of(text)),
            Part::Escaped(span) | Part::Single(span) => {
                quoted = true;
                out.push_str(span.of(text));
            }
            Part::Ansi(decoded) => {
                quoted = true;
                out.push_str(decoded);
            }
            Part::Double(parts) => {
                quoted = true;
                stack.extend(parts.iter().rev());
            }
            // Not expanded: a delimiter is taken as it is written.
            Part::Parameter(parameter) => out.push_str(parameter.span.of(text)),
            Part::Command(substitution) => out.push_str(substitution.span.of(text)),
            Part::Arithmetic(_, span) | Part::Extended(_, span) => out.push_str(span.of(text)),
            Part::Array(_) => {}
        }
    }
    (out, quoted)
}
