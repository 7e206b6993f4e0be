//! Compound commands as written: `( )`, `{ }`, `if`, loops, `case`, `[[ ]]`, `function`, `coproc`.

use super::lex::Until;
use super::parse::{Parser, is_blank, is_name, is_name_byte};
use super::syntax::{Arm, Command, List, Shape};
use crate::source::Span;
use std::rc::Rc;

/// Words that open a compound command.
const OPENERS: [&str; 10] = [
    "{", "if", "while", "until", "for", "function", "select", "case", "coproc", "[[",
];

impl Parser<'_> {
    pub(super) fn skip_opener(&mut self) -> bool {
        if self.peek() == Some(b'(') {
            self.at += 1;
            return true;
        }
        let opener = OPENERS.iter().find(|word| self.at_keyword(word)).copied();
        self.at += opener.map_or(0, str::len);
        opener.is_some()
    }

    pub(super) fn parenthesis(&mut self) -> Option<Shape> {
        let start = self.at;
        if !self.enter() {
            return None;
        }
        let shape = if self.byte(start + 1) == Some(b'(') && self.is_arithmetic(start) {
            self.at += 2;
            let parts = self.parts(Until::Paren);
            self.close(b')', start, "(( is never closed");
            self.close(b')', start, "(( is never closed");
            Shape::Arithmetic(parts, Span::new(start, self.at))
        } else {
            self.at += 1;
            let list = self.enclosed();
            if list.0.is_empty() {
                self.flaw(start, "a command is missing");
            }
            self.expect(")", start);
            Shape::Subshell(list)
        };
        self.leave();
        Some(shape)
    }

    pub(super) fn expect(&mut self, close: &str, start: usize) {
        let found = if close == ")" {
            let found = self.peek() == Some(b')');
            self.at += usize::from(found);
            found
        } else {
            self.keyword(close)
        };
        if !found {
            self.flaw(
                start,
                match close {
                    ")" => "( is never closed",
                    "}" => "{ is never closed",
                    "fi" => "`if` without its `fi`",
                    "then" => "`if` without its `then`",
                    "done" => "a loop without its `done`",
                    "esac" => "`case` without its `esac`",
                    _ => "a compound command is not complete",
                },
            );
        }
    }

    pub(super) fn compound(&mut self) -> Option<Shape> {
        let word = *OPENERS.iter().find(|word| self.at_keyword(word))?;
        if !self.enter() {
            return None;
        }
        let start = self.at;
        self.at += word.len();
        let shape = match word {
            "{" => self.group(start),
            "if" => self.conditional(start),
            "while" | "until" => {
                let condition = self.body();
                let body = self.do_group(start);
                Shape::While { condition, body }
            }
            "for" | "select" => self.loop_over(start, word == "select"),
            "case" => self.case(start),
            "function" => self.function_keyword(),
            "coproc" => self.coproc(),
            _ => self.test(start),
        };
        self.leave();
        Some(shape)
    }

    pub(super) fn group(&mut self, start: usize) -> Shape {
        let list = self.body();
        self.expect("}", start);
        Shape::Group(list)
    }

    pub(super) fn conditional(&mut self, start: usize) -> Shape {
        let mut arms = Vec::new();
        loop {
            let condition = self.body();
            self.expect("then", start);
            let body = self.body();
            arms.push((condition, body));
            if !self.keyword("elif") {
                break;
            }
        }
        let otherwise = self.keyword("else").then(|| self.body());
        self.expect("fi", start);
        Shape::If { arms, otherwise }
    }

    pub(super) fn do_group(&mut self, start: usize) -> List {
        self.newlines();
        if self.keyword("{") {
            // `for x in a; { …; }`, which bash has always taken.
            let list = self.body();
            self.expect("}", start);
            return list;
        }
        self.expect("do", start);
        let list = self.body();
        self.expect("done", start);
        list
    }

    pub(super) fn loop_over(&mut self, start: usize, select: bool) -> Shape {
        self.blanks();
        if !select && self.starts_with("((") {
            let open = self.at;
            self.at += 2;
            let head = self.parts(Until::Paren);
            self.close(b')', start, "for (( is never closed");
            self.close(b')', start, "for (( is never closed");
            let span = Span::new(open, self.at);
            self.separator();
            let body = self.do_group(start);
            return Shape::ArithmeticFor { head, span, body };
        }
        let raw = self.word();
        if !is_name(raw.span.of(self.text)) {
            self.flaw(raw.span.start, "a loop over what is no name");
        }
        self.newlines();
        let words = if self.keyword("in") {
            let mut words = Vec::new();
            loop {
                self.blanks();
                let word = self.word();
                if word.span.start == word.span.end {
                    break;
                }
                words.push(word);
            }
            if !matches!(self.peek(), Some(b';' | b'\n')) {
                self.flaw(self.at, "a loop without its body");
            }
            Some(words)
        } else {
            None
        };
        self.separator();
        let body = self.do_group(start);
        Shape::For {
            name: raw.span,
            words,
            body,
            select,
        }
    }

    pub(super) fn separator(&mut self) {
        self.blanks();
        if self.peek() == Some(b';') && !self.at_closer() {
            self.at += 1;
        }
        self.newlines();
    }

    pub(super) fn case(&mut self, start: usize) -> Shape {
        self.blanks();
        let word = self.word();
        self.newlines();
        self.expect("in", start);
        let mut arms = Vec::new();
        loop {
            self.newlines();
            if self.keyword("esac") {
                return Shape::Case { word, arms };
            }
            let before = self.at;
            if self.peek() == Some(b'(') {
                self.at += 1;
            }
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                let pattern = self.word();
                if pattern.span.start == pattern.span.end {
                    self.flaw(self.at, "a pattern is missing");
                }
                patterns.push(pattern);
                self.blanks();
                if self.peek() != Some(b'|') {
                    break;
                }
                self.at += 1;
            }
            if self.peek() == Some(b')') {
                self.at += 1;
            } else {
                self.flaw(self.at, "a pattern without its parenthesis");
            }
            let body = self.list();
            let (ended, falls) = if self.starts_with(";;&") {
                self.at += 3;
                (true, true)
            } else if self.starts_with(";;") || self.starts_with(";&") {
                self.at += 2;
                (true, self.text.as_bytes().get(self.at - 1) == Some(&b'&'))
            } else {
                (self.at_keyword("esac") && self.at > before, false)
            };
            arms.push(Arm {
                patterns,
                body,
                falls,
            });
            if !ended {
                self.flaw(start, "`case` without its `esac`");
                return Shape::Case { word, arms };
            }
        }
    }

    pub(super) fn function_keyword(&mut self) -> Shape {
        self.blanks();
        let name = self.word();
        if name.span.start == name.span.end {
            self.flaw(self.at, "a function without a name");
        }
        self.blanks();
        if self.peek() == Some(b'(') {
            let mut at = self.at + 1;
            while self.byte(at).is_some_and(is_blank) {
                at += 1;
            }
            if self.byte(at) == Some(b')') {
                self.at = at + 1;
            }
        }
        self.function_body(name.span)
    }

    pub(super) fn function_body(&mut self, name: Span) -> Shape {
        self.newlines();
        let start = self.at;
        // zsh takes a simple command here, bash refuses one: it is walked as a body, and flawed.
        let body = self.command().unwrap_or_else(|| Command {
            span: Span::new(start, start),
            shape: Shape::Group(List::default()),
            redirects: Vec::new(),
        });
        if matches!(
            body.shape,
            Shape::Simple { .. } | Shape::Function { .. } | Shape::Coproc { .. }
        ) || body.span.start == body.span.end
        {
            self.flaw(start, "a function without a body");
        }
        Shape::Function {
            name,
            body: Rc::new(body),
        }
    }

    pub(super) fn coproc(&mut self) -> Shape {
        self.blanks();
        let start = self.at;
        // A name only before a compound command. Looked at byte by byte: parsing it and coming back would
        // double the work at each level.
        while self.peek().is_some_and(is_name_byte) {
            self.at += 1;
        }
        let word = Span::new(start, self.at);
        let apart = self
            .peek()
            .is_some_and(|byte| is_blank(byte) || byte == b'(');
        self.blanks();
        let text = word.of(self.text);
        let named = apart
            && is_name(text)
            && !is_opener(text)
            && (self.peek() == Some(b'(') || OPENERS.iter().any(|opener| self.at_keyword(opener)));
        if !named {
            self.at = start;
        }
        let body = self.command().unwrap_or_else(|| {
            self.flaw(start, "coproc without a command");
            Command {
                span: Span::new(start, start),
                shape: Shape::Group(List::default()),
                redirects: Vec::new(),
            }
        });
        Shape::Coproc {
            name: named.then_some(word),
            body: Rc::new(body),
        }
    }

    /// `[[ … ]]`: what its operators mean does not matter here, only the words.
    pub(super) fn test(&mut self, start: usize) -> Shape {
        let mut words = Vec::new();
        loop {
            self.newlines();
            if self.keyword("]]") {
                if words.is_empty() {
                    self.flaw(start, "an empty test");
                }
                return Shape::Test(words);
            }
            match self.peek() {
                None => break,
                Some(b'(' | b')' | b'<' | b'>')
                    if self.byte(self.at + 1) != Some(b'(') || self.peek() == Some(b'(') =>
                {
                    self.at += 1;
                }
                Some(b'&') if self.starts_with("&&") => self.at += 2,
                Some(b'|') if self.starts_with("||") => self.at += 2,
                Some(b';' | b'&' | b'|') => break,
                _ => {
                    let word = self.word();
                    if word.span.start == word.span.end {
                        break;
                    }
                    let regex = word.span.of(self.text) == "=~";
                    words.push(word);
                    if regex {
                        self.blanks();
                        words.push(self.raw(Until::Regex));
                    }
                }
            }
        }
        self.flaw(start, "[[ is never closed");
        Shape::Test(words)
    }
}

fn is_opener(word: &str) -> bool {
    matches!(
        word,
        "if" | "while" | "until" | "for" | "case" | "select" | "function" | "coproc" | "time"
    )
}
