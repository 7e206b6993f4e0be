//! A shell text → its [`Tree`]: the grammar of bash, with what zsh and sh do otherwise read on the safe side.
//!
//! Never fails and never stops early: what cannot be understood becomes a flaw, and reading goes on
//! behind it, so that `rm -rf x; if` is `rm -rf x` and a flaw. Depth and effort are bounded.

use std::rc::Rc;

use super::lex::Until;
use super::syntax::{
    Arm, Assign, Command, Flaw, Heredoc, Item, Join, List, Origin, Part, Pipeline, Raw, Redirect,
    Shape, Target, Tree, Value,
};
use crate::source::Span;

/// How deep compound commands, substitutions and quotes may nest. Scripts that people write stay below
/// ten; in a debug build a level costs some 10 KiB of stack, and threads may have only 2 MiB.
pub(super) const DEEPEST: usize = 50;

/// Words that open a compound command.
const OPENERS: [&str; 10] = [
    "{", "if", "while", "until", "for", "function", "select", "case", "coproc", "[[",
];

/// Flaws kept: one is enough to make a line opaque, a few help to explain it.
const FLAWS: usize = 8;

/// Parses a text, `depth` levels already being used up.
pub(super) fn parse(text: &str, origin: Origin, depth: usize) -> Tree {
    let fuel = text.len().saturating_mul(16).saturating_add(4096);
    Parser::new(text, origin, depth, fuel).tree()
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
    heredocs: Vec<Heredoc>,
    flaws: Vec<Flaw>,
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
    fn new(text: &'t str, origin: Origin, depth: usize, fuel: usize) -> Self {
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

    fn tree(&mut self) -> Tree {
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
        if let Some(flaw) = tree.flaws.first() {
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

    fn starts_with(&self, text: &str) -> bool {
        self.text
            .as_bytes()
            .get(self.at..self.end)
            .is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    pub(super) fn flaw(&mut self, at: usize, why: &'static str) {
        if self.flaws.len() < FLAWS {
            self.flaws.push(Flaw { at, why });
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
                self.flaw(self.at, "nested too deeply");
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
            self.flaw(self.at, "too intricate to be read");
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
    fn blanks(&mut self) {
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
    fn newlines(&mut self) {
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

    fn at_keyword(&self, word: &str) -> bool {
        self.starts_with(word) && self.byte(self.at + word.len()).is_none_or(is_meta)
    }

    /// A token that can only end what is around it.
    fn at_closer(&self) -> bool {
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
    fn body(&mut self) -> List {
        let list = self.list();
        if list.0.is_empty() {
            self.flaw(self.at, "a command is missing");
        }
        list
    }

    fn item(&mut self) -> Item {
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
    fn operator(&mut self, two: &str) -> bool {
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

    fn pipeline(&mut self) -> Pipeline {
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

    fn at_split_or(&self) -> bool {
        let mut at = self.at + 1;
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at > self.at + 1 && self.byte(at) == Some(b'|')
    }

    /// `time`, `time -p`, `time --`; with any other option it is the program. Consumes it.
    fn is_time_keyword(&mut self) -> bool {
        let start = self.at;
        self.at += "time".len();
        self.blanks();
        if self.peek() == Some(b'-') && !self.keyword("-p") && !self.keyword("--") {
            self.at = start;
            return false;
        }
        true
    }

    fn command(&mut self) -> Option<Command> {
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

    fn skip_opener(&mut self) -> bool {
        if self.peek() == Some(b'(') {
            self.at += 1;
            return true;
        }
        let opener = OPENERS.iter().find(|word| self.at_keyword(word)).copied();
        self.at += opener.map_or(0, str::len);
        opener.is_some()
    }

    fn redirects(&mut self) -> Vec<Redirect> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => return redirects,
            }
        }
    }

    fn parenthesis(&mut self) -> Option<Shape> {
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

    fn expect(&mut self, close: &str, start: usize) {
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

    fn compound(&mut self) -> Option<Shape> {
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

    fn group(&mut self, start: usize) -> Shape {
        let list = self.body();
        self.expect("}", start);
        Shape::Group(list)
    }

    fn conditional(&mut self, start: usize) -> Shape {
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

    fn do_group(&mut self, start: usize) -> List {
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

    fn loop_over(&mut self, start: usize, select: bool) -> Shape {
        self.blanks();
        if !select && self.starts_with("((") {
            let open = self.at;
            self.at += 2;
            let head = self.parts(Until::Paren);
            let closed = self.starts_with("))");
            self.at = (self.at + 2).min(self.end);
            if !closed {
                self.flaw(start, "for (( is never closed");
            }
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

    fn separator(&mut self) {
        self.blanks();
        if self.peek() == Some(b';') && !self.at_closer() {
            self.at += 1;
        }
        self.newlines();
    }

    fn case(&mut self, start: usize) -> Shape {
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

    fn function_keyword(&mut self) -> Shape {
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

    fn function_body(&mut self, name: Span) -> Shape {
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

    fn coproc(&mut self) -> Shape {
        self.blanks();
        let start = self.at;
        // A name only before a compound command.
        let word = self.word();
        self.blanks();
        let named = word.span.end > word.span.start
            && is_name(word.span.of(self.text))
            && !is_opener(word.span.of(self.text))
            && (self.peek() == Some(b'(')
                || ["{", "if", "while", "until", "for", "case", "select", "[["]
                    .iter()
                    .any(|opener| self.at_keyword(opener)));
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
            name: named.then_some(word.span),
            body: Rc::new(body),
        }
    }

    /// `[[ … ]]`: what its operators mean does not matter here, only the words.
    fn test(&mut self, start: usize) -> Shape {
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

    fn simple(&mut self) -> Option<Command> {
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
                    if words.len() == 1 && assigns.is_empty() && redirects.is_empty() {
                        if let Some(command) = self.function(start, &words) {
                            return Some(command);
                        }
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
    fn function(&mut self, start: usize, words: &[Raw]) -> Option<Command> {
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
    fn assign(&mut self) -> Option<Assign> {
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
    fn elements(&mut self) -> Vec<Raw> {
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
    fn redirect(&mut self) -> Option<Redirect> {
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

    fn heredoc(&mut self, start: usize) -> Redirect {
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

    fn heredoc_body(&mut self, id: usize) {
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

fn is_opener(word: &str) -> bool {
    matches!(
        word,
        "if" | "while" | "until" | "for" | "case" | "select" | "function" | "coproc" | "time"
    )
}
