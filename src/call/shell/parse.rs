//! A shell text → its [`Tree`]: the grammar of bash, with what zsh and sh do otherwise read on the safe side.
//!
//! Never fails and never stops early: what cannot be understood becomes a flaw, and reading goes on
//! behind it, so that `rm -rf x; if` is `rm -rf x` and a flaw. Depth and effort are bounded.

use std::rc::Rc;

use super::lex::Until;
use super::syntax::{Command, Flaw, Heredoc, Item, Join, List, Origin, Pipeline, Shape, Tree};
use crate::source::Span;

/// How deep compound commands, substitutions and quotes may nest. Scripts that people write stay below
/// ten; in a debug build a level costs some 10 KiB of stack, and threads may have only 2 MiB.
pub(super) const DEEPEST: usize = 50;

/// Flaws kept: one is enough to make a line opaque, a few help to explain it.
const FLAWS: usize = 8;

/// Parses a text, `depth` levels already being used up.
pub(super) fn parse(text: &str, origin: Origin, depth: usize) -> Tree {
    let fuel = text.len().saturating_mul(16).saturating_add(4096);
    Parser::new(text, origin, depth, fuel).tree()
}

/// Parses a text that is no script but is expanded, as a heredoc is: its parts are those of its one heredoc.
pub(super) fn template(text: &str, origin: Origin, depth: usize) -> Tree {
    let fuel = text.len().saturating_mul(16).saturating_add(4096);
    let mut parser = Parser::new(text, origin, depth, fuel);
    let parts = parser.parts(Until::Heredoc);
    let mut tree = Tree {
        text: text.into(),
        origin,
        list: List::default(),
        heredocs: std::mem::take(&mut parser.heredocs),
        flaws: std::mem::take(&mut parser.flaws),
    };
    tree.heredocs.push(Heredoc {
        quoted: false,
        strip_tabs: false,
        delimiter: String::new(),
        body: Span::new(0, text.len()),
        parts,
    });
    tree
}

/// A place to come back to.
pub(super) struct Mark {
    pending: usize,
    heredocs: usize,
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) origin: Origin,
    /// The next byte.
    pub(super) at: usize,
    /// One past the last byte to read.
    pub(super) end: usize,
    /// Heredocs whose body comes after this line.
    pub(super) pending: Vec<usize>,
    /// A double quote was never closed: from here on they are letters.
    pub(super) literal_quotes: bool,
    /// No single quote closes before the end.
    pub(super) no_more_single: bool,
    pub(super) heredocs: Vec<Heredoc>,
    pub(super) flaws: Vec<Flaw>,
    depth: usize,
    /// Bytes that may still be read a second time.
    pub(super) fuel: usize,
    /// Unclosed double quotes that may still be read again as letters.
    pub(super) retries: usize,
    /// Where nesting went too deep.
    overflow: Option<usize>,
    /// What lies behind that is read flat: openers only part commands.
    flat: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, origin: Origin, depth: usize, fuel: usize) -> Self {
        Self {
            text,
            origin,
            at: 0,
            end: text.len(),
            pending: Vec::new(),
            literal_quotes: false,
            no_more_single: false,
            heredocs: Vec::new(),
            flaws: Vec::new(),
            depth,
            fuel,
            retries: 8,
            overflow: None,
            flat: false,
        }
    }

    pub(super) fn tree(&mut self) -> Tree {
        let mut list = self.whole();
        self.give_up_heredocs();
        if let Some(at) = self.overflow {
            // Nothing nests any more, so this ends: the words are seen, if not how they hang together.
            self.flat = true;
            self.at = at;
            list.0.append(&mut self.whole().0);
            self.give_up_heredocs();
        }
        let mut flaws = std::mem::take(&mut self.flaws);
        flaws.sort_by_key(|flaw| flaw.at);
        Tree {
            text: self.text.into(),
            origin: self.origin,
            list,
            heredocs: std::mem::take(&mut self.heredocs),
            flaws,
        }
    }

    /// A text of its own inside this one, on what is left of depth and fuel.
    pub(super) fn nested(&mut self, text: &str, origin: Origin) -> Tree {
        let mut inner = Parser::new(text, origin, self.depth, self.fuel);
        let tree = inner.tree();
        self.fuel = inner.fuel;
        if let Some(flaw) = tree.flaws.iter().find(|flaw| flaw.limit) {
            self.limit(flaw.why);
        } else if let Some(flaw) = tree.flaws.first() {
            self.flaw(self.at, flaw.why);
        }
        tree
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        if at < self.end {
            self.text.as_bytes().get(at).copied()
        } else {
            None
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.byte(self.at)
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.text
            .as_bytes()
            .get(self.at..self.end)
            .is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    pub(super) fn flaw(&mut self, at: usize, why: &'static str) {
        if self.flaws.len() < FLAWS {
            self.flaws.push(Flaw {
                at,
                why,
                limit: false,
            });
        }
    }

    /// A flaw of the reader, not of the text.
    fn limit(&mut self, why: &'static str) {
        self.flaw(self.at, why);
        // It counts more than those before it.
        match self.flaws.last_mut() {
            Some(last) if last.why != why => {
                *last = Flaw {
                    at: self.at,
                    why,
                    limit: true,
                }
            }
            Some(last) => last.limit = true,
            None => {}
        }
    }

    /// Goes one level deeper, where that is still safe. If not, all that is open ends here, and what
    /// follows is read flat.
    pub(super) fn enter(&mut self) -> bool {
        if self.flat {
            return false;
        }
        if self.depth >= DEEPEST {
            if self.overflow.is_none() {
                self.limit("nested too deeply");
                self.overflow = Some(self.at);
            }
            self.at = self.end;
            return false;
        }
        self.depth += 1;
        true
    }

    pub(super) const fn overflowed(&self) -> bool {
        self.overflow.is_some()
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Pays for reading bytes more than once; false when there has been too much of it.
    pub(super) fn spend(&mut self, bytes: usize) -> bool {
        if self.fuel < bytes {
            self.fuel = 0;
            self.limit("too intricate to be read");
            return false;
        }
        self.fuel -= bytes;
        true
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            pending: self.pending.len(),
            heredocs: self.heredocs.len(),
        }
    }

    pub(super) fn reset(&mut self, mark: Mark) {
        self.pending.truncate(mark.pending);
        self.heredocs.truncate(mark.heredocs);
    }

    /// Blanks, line continuations and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(byte) if is_blank(byte) => self.at += 1,
                Some(b'\\') if self.byte(self.at + 1) == Some(b'\n') => self.at += 2,
                Some(b'#') => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Blanks, comments and newlines; a newline brings the bodies of the heredocs before it.
    pub(super) fn newlines(&mut self) {
        loop {
            self.blanks();
            if self.peek() != Some(b'\n') {
                return;
            }
            self.at += 1;
            for id in std::mem::take(&mut self.pending) {
                self.heredoc_body(id);
            }
        }
    }

    /// Whether the keyword stands at the cursor, as a word of its own; consumes it.
    pub(super) fn keyword(&mut self, word: &str) -> bool {
        let found = self.at_keyword(word);
        if found {
            self.at += word.len();
        }
        found
    }

    pub(super) fn at_keyword(&self, word: &str) -> bool {
        self.starts_with(word) && self.byte(self.at + word.len()).is_none_or(is_meta)
    }

    /// A token that can only end what is around it.
    pub(super) fn at_closer(&self) -> bool {
        match self.peek() {
            Some(b')') => true,
            Some(b';') => matches!(self.byte(self.at + 1), Some(b';' | b'&')),
            Some(b'}') => self.at_keyword("}"),
            Some(b't') => self.at_keyword("then"),
            Some(b'd') => self.at_keyword("do") || self.at_keyword("done"),
            Some(b'f') => self.at_keyword("fi"),
            Some(b'e') => {
                self.at_keyword("else") || self.at_keyword("elif") || self.at_keyword("esac")
            }
            _ => false,
        }
    }

    /// Steps over a closer that closes nothing.
    pub(super) fn skip_unexpected(&mut self) {
        self.flaw(self.at, "something is closed that was never opened");
        match self.peek() {
            Some(byte) if byte.is_ascii_alphabetic() => {
                while self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
                    self.at += 1;
                }
            }
            Some(b';') => self.at += 2,
            _ => self.at += 1,
        }
    }

    /// Everything up to the end of the text.
    pub(super) fn whole(&mut self) -> List {
        let mut list = self.list();
        while self.peek().is_some() {
            self.skip_unexpected();
            list.0.append(&mut self.list().0);
        }
        list
    }

    /// Everything up to a closing parenthesis, which is left.
    pub(super) fn enclosed(&mut self) -> List {
        let mut list = self.list();
        while self.peek().is_some_and(|byte| byte != b')') {
            self.skip_unexpected();
            list.0.append(&mut self.list().0);
        }
        list
    }

    /// Commands up to the next closer.
    pub(super) fn list(&mut self) -> List {
        let mut items = Vec::new();
        loop {
            self.newlines();
            if self.peek().is_none() || self.at_closer() {
                return List(items);
            }
            let before = self.at;
            let mut item = self.item();
            self.blanks();
            match self.peek() {
                Some(b';') if !self.at_closer() => self.at += 1,
                Some(b'&') => {
                    self.at += 1;
                    item.background = true;
                }
                None | Some(b'\n') => {}
                _ if self.at_closer() => {}
                _ => self.flaw(self.at, "a command is followed by what cannot follow one"),
            }
            items.push(item);
            if self.at == before {
                self.flaw(self.at, "an unexpected character");
                self.at += self
                    .text
                    .get(self.at..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(1, char::len_utf8);
            }
        }
    }

    /// A list that must not be empty.
    pub(super) fn body(&mut self) -> List {
        let list = self.list();
        if list.0.is_empty() {
            self.flaw(self.at, "a command is missing");
        }
        list
    }

    pub(super) fn item(&mut self) -> Item {
        let first = self.pipeline();
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let join = if self.operator("&&") {
                Join::And
            } else if self.operator("||") {
                Join::Or
            } else {
                return Item {
                    first,
                    rest,
                    background: false,
                };
            };
            self.newlines();
            rest.push((join, self.pipeline()));
        }
    }

    /// `&&` and `||`, which a line continuation may part.
    pub(super) fn operator(&mut self, two: &str) -> bool {
        if self.starts_with(two) {
            self.at += 2;
            return true;
        }
        let mut chars = two.bytes();
        let (first, second) = (chars.next(), chars.next());
        if self.peek() == first {
            let mut at = self.at + 1;
            while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
                at += 2;
            }
            if at > self.at + 1 && self.byte(at) == second {
                self.at = at + 1;
                return true;
            }
        }
        false
    }

    pub(super) fn pipeline(&mut self) -> Pipeline {
        let mut pipeline = Pipeline::default();
        let mut prefixed = false;
        loop {
            self.blanks();
            if self.keyword("!") {
                pipeline.negated = !pipeline.negated;
                prefixed = true;
            } else if self.at_keyword("time") && self.is_time_keyword() {
                prefixed = true;
            } else {
                break;
            }
        }
        loop {
            match self.command() {
                Some(command) => pipeline.stages.push(Rc::new(command)),
                // `time` and `!` alone are commands to bash.
                None if prefixed && pipeline.stages.is_empty() && self.peek() != Some(b'|') => {}
                None => self.flaw(self.at, "a command is missing"),
            }
            self.blanks();
            if self.peek() != Some(b'|')
                || self.byte(self.at + 1) == Some(b'|')
                || self.at_split_or()
            {
                return pipeline;
            }
            self.at += 1;
            if self.peek() == Some(b'&') {
                self.at += 1;
            }
            self.newlines();
        }
    }

    pub(super) fn at_split_or(&self) -> bool {
        let mut at = self.at + 1;
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at > self.at + 1 && self.byte(at) == Some(b'|')
    }

    /// `time`, `time -p`, `time --`; with any other option it is the program. Consumes it.
    pub(super) fn is_time_keyword(&mut self) -> bool {
        let start = self.at;
        self.at += "time".len();
        self.blanks();
        if self.peek() == Some(b'-') && !self.keyword("-p") && !self.keyword("--") {
            self.at = start;
            return false;
        }
        true
    }

    pub(super) fn command(&mut self) -> Option<Command> {
        while self.flat && self.skip_opener() {
            self.blanks();
        }
        let start = self.at;
        let shape = match self.peek()? {
            b'(' => self.parenthesis(),
            b'{' | b'i' | b'w' | b'u' | b'f' | b's' | b'c' | b'[' => self.compound(),
            _ => None,
        };
        let Some(shape) = shape else {
            return self.simple();
        };
        let redirects = if matches!(shape, Shape::Function { .. } | Shape::Coproc { .. }) {
            Vec::new()
        } else {
            self.redirects()
        };
        Some(Command {
            span: Span::new(start, self.at),
            shape,
            redirects,
        })
    }
}

pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

const fn is_meta(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
    )
}

pub(super) const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(super) const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) const fn is_special_parameter(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}

/// Whether a text is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(is_name_start) && text.bytes().all(is_name_byte)
}
