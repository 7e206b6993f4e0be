//! Words as written: quotes, expansions and what stands inside them.
//!
//! In: the bytes at the parser's cursor. Out: [`Part`]s that cover every byte read. A quote that never
//! closes is reported, and then read as an ordinary character, so that the commands behind it are still seen.

use std::rc::Rc;

use super::parse::{Parser, is_blank, is_name_byte, is_name_start, is_special_parameter};
use super::syntax::{Body, List, Operator, Origin, Parameter, Part, Raw, Substitution};
use crate::call::few::Few;
use crate::source::Span;

/// Where a run of parts ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// At a blank or an operator.
    Word,
    /// At a blank outside parentheses: the right side of `=~`.
    Regex,
    /// At `"`.
    Double,
    /// At the end of the text: a heredoc's body.
    Heredoc,
    /// At `}`. `single`: single quotes quote.
    Brace { single: bool },
    /// At the `)` that closes.
    Paren,
    /// At the `]` that closes.
    Bracket,
    /// At the `)` of an extended glob.
    Extended,
}

impl Until {
    /// As inside double quotes: single quotes are text, backslash escapes few characters.
    const fn doubled(self) -> bool {
        matches!(self, Self::Double | Self::Heredoc | Self::Paren)
    }

    const fn single_quotes(self) -> bool {
        match self {
            Self::Word | Self::Regex | Self::Extended | Self::Bracket => true,
            Self::Brace { single } => single,
            Self::Double | Self::Heredoc | Self::Paren => false,
        }
    }

    /// Which brackets nest.
    const fn nests(self) -> Option<(u8, u8)> {
        match self {
            Self::Paren | Self::Regex | Self::Extended => Some((b'(', b')')),
            Self::Bracket => Some((b'[', b']')),
            _ => None,
        }
    }
}

impl Parser<'_> {
    /// A word at the cursor; its parts are empty where none stands there.
    pub(super) fn word(&mut self) -> Raw {
        self.raw(Until::Word)
    }

    pub(super) fn raw(&mut self, until: Until) -> Raw {
        let start = self.at;
        let parts = self.few(until);
        Raw {
            span: Span::new(start, self.at),
            parts,
        }
    }

    /// Reads parts up to what ends them, which is left at the cursor.
    pub(super) fn parts(&mut self, until: Until) -> Vec<Part> {
        self.few(until).into()
    }

    fn few(&mut self, until: Until) -> Few<Part> {
        let mut parts = Few::default();
        let mut text = self.at;
        let mut nested = 0_usize;
        while let Some(byte) = self.peek() {
            let begin = self.at;
            let part = match byte {
                b'\\' => {
                    if self.byte(self.at + 1) == Some(b'\n') {
                        self.flush(&mut parts, text);
                        self.at += 2;
                        text = self.at;
                        continue;
                    }
                    self.backslash(until)
                }
                b'\'' if until.single_quotes() => self.single_quoted(),
                b'\'' if until == (Until::Brace { single: false }) => self.quotes_in_quotes(),
                b'"' if until == Until::Double => break,
                b'"' if until != Until::Heredoc => self.double_quoted(),
                b'$' => self.dollar(until),
                b'`' => self.backquoted(until),
                b'<' | b'>'
                    if matches!(until, Until::Word | Until::Extended)
                        && self.byte(self.at + 1) == Some(b'(') =>
                {
                    self.process()
                }
                b'}' if matches!(until, Until::Brace { .. }) => break,
                b'?' | b'*' | b'+' | b'@' | b'!'
                    if until == Until::Word && self.byte(self.at + 1) == Some(b'(') =>
                {
                    self.extended()
                }
                b' ' | b'\t' | b'\n' if until == Until::Word => break,
                b' ' | b'\t' | b'\n' if until == Until::Regex && nested == 0 => break,
                b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' if until == Until::Word => break,
                _ => {
                    if let Some((open, close)) = until.nests() {
                        if byte == open {
                            nested += 1;
                        } else if byte == close {
                            if nested == 0 {
                                break;
                            }
                            nested -= 1;
                        }
                    }
                    self.at += 1;
                    None
                }
            };
            if let Some(part) = part {
                self.flush_to(&mut parts, text, begin);
                parts.push(part);
                text = self.at;
            }
        }
        self.flush(&mut parts, text);
        parts
    }

    fn flush(&self, parts: &mut Few<Part>, from: usize) {
        self.flush_to(parts, from, self.at);
    }

    fn flush_to(&self, parts: &mut Few<Part>, from: usize, to: usize) {
        if to > from {
            parts.push(Part::Text(Span::new(from, to)));
        }
    }

    fn backslash(&mut self, until: Until) -> Option<Part> {
        let start = self.at + 1;
        let Some(next) = self.byte(start) else {
            // A lone backslash at the end is a backslash to bash; a line that stops there is unfinished to us.
            self.flaw(self.at, "a backslash at the very end");
            self.at += 1;
            return None;
        };
        let escapes = match until {
            Until::Double | Until::Paren => matches!(next, b'$' | b'`' | b'"' | b'\\'),
            Until::Brace { single: false } => matches!(next, b'$' | b'`' | b'"' | b'\\' | b'}'),
            Until::Heredoc => matches!(next, b'$' | b'`' | b'\\'),
            _ => true,
        };
        let length = self
            .text
            .get(start..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8);
        self.at = start + length;
        escapes.then(|| Part::Escaped(Span::new(start, start + length)))
    }

    fn single_quoted(&mut self) -> Option<Part> {
        let start = self.at + 1;
        if !self.no_more_single {
            if let Some(end) = self.find(start, b'\'') {
                self.at = end + 1;
                return Some(Part::Single(Span::new(start, end)));
            }
            self.no_more_single = true;
        }
        self.flaw(self.at, "a single quote is never closed");
        self.at += 1;
        None
    }

    /// Single quotes after `:-` inside double quotes: bash looks for the `}` behind them, and then takes them for
    /// text. Other shells take them for text at once.
    fn quotes_in_quotes(&mut self) -> Option<Part> {
        let start = self.at;
        let close = match self.no_more_single {
            true => None,
            false => self.find(start + 1, b'\''),
        };
        let Some(close) = close else {
            self.no_more_single = true;
            self.at += 1;
            return None;
        };
        let inside = Span::new(start + 1, close).of(self.text);
        if inside.contains(['"', '}', '\\', '`']) {
            self.flaw(start, "quotes within quotes, which shells read differently");
        }
        let end = std::mem::replace(&mut self.end, close + 1);
        let parts = self.parts(Until::Heredoc);
        self.end = end;
        self.at = close + 1;
        Some(Part::Double(parts))
    }

    fn double_quoted(&mut self) -> Option<Part> {
        let start = self.at;
        if self.literal_quotes || !self.enter() {
            self.step();
            return None;
        }
        let mark = self.mark();
        self.at += 1;
        let parts = self.parts(Until::Double);
        self.leave();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Some(Part::Double(parts));
        }
        self.flaw(start, "a double quote is never closed");
        if self.retries > 0 && !self.overflowed() && self.spend(self.end - start) {
            self.retries -= 1;
            // Read what follows again as if the quote were a letter: the words behind it matter.
            self.reset(mark);
            self.literal_quotes = true;
            self.at = start + 1;
            return None;
        }
        Some(Part::Double(parts))
    }

    fn dollar(&mut self, until: Until) -> Option<Part> {
        let start = self.at;
        match self.byte(start + 1) {
            Some(b'\'') if until.single_quotes() => {
                self.at += 1;
                self.ansi(start)
            }
            Some(b'"') if !until.doubled() => {
                self.at += 1;
                self.double_quoted()
            }
            Some(b'(') => {
                if self.byte(start + 2) == Some(b'(') && self.is_arithmetic(start + 1) {
                    if self.enter() {
                        self.at = start + 3;
                        let parts = self.parts(Until::Paren);
                        self.leave();
                        self.close(b')', start, "$(( is never closed");
                        self.close(b')', start, "$(( is never closed");
                        return Some(Part::Arithmetic(parts, Span::new(start, self.at)));
                    }
                } else if self.enter() {
                    self.at = start + 2;
                    return Some(self.substitution(start, b')'));
                }
                self.step();
                None
            }
            Some(b'[') if self.enter() => {
                self.at = start + 2;
                let parts = self.parts(Until::Bracket);
                self.leave();
                self.close(b']', start, "$[ is never closed");
                Some(Part::Arithmetic(parts, Span::new(start, self.at)))
            }
            Some(b'{') if self.enter() => {
                let part = self.braced(start, until);
                self.leave();
                Some(part)
            }
            Some(byte) if is_name_start(byte) => {
                self.at += 1;
                self.name();
                Some(self.plain_parameter(start))
            }
            Some(byte) if byte.is_ascii_digit() || is_special_parameter(byte) => {
                self.at += 2;
                Some(self.plain_parameter(start))
            }
            Some(b'=' | b'~' | b'^')
                if self.byte(start + 2).is_some_and(is_name_start)
                    && !matches!(until, Until::Heredoc | Until::Regex) =>
            {
                self.flaw(start, "`$=x` is the value of a variable in zsh");
                self.step();
                None
            }
            _ => {
                self.step();
                None
            }
        }
    }

    /// One byte on, unless nesting too deep has ended the text.
    fn step(&mut self) {
        self.at = (self.at + 1).min(self.end);
    }

    fn plain_parameter(&self, start: usize) -> Part {
        Part::Parameter(Box::new(Parameter {
            span: Span::new(start, self.at),
            name: Span::new(start + 1, self.at),
            length: false,
            indirect: false,
            subscript: None,
            operator: Operator::None,
            operand: Vec::new(),
        }))
    }

    /// `${…}`, the cursor on its dollar sign.
    fn braced(&mut self, start: usize, until: Until) -> Part {
        self.at = start + 2;
        if self
            .peek()
            .is_some_and(|byte| is_blank(byte) || matches!(byte, b'\n' | b'|'))
        {
            // bash 5.3 and ksh: `${ command; }` and `${|command; }` run commands.
            if self.peek() == Some(b'|') {
                self.at += 1;
            }
            let list = self.closed_by_brace(start);
            return Part::Command(Box::new(Substitution {
                span: Span::new(start, self.at),
                body: Body::Within(list),
            }));
        }
        let mut parameter = Parameter {
            span: Span::new(start, start),
            name: Span::new(self.at, self.at),
            length: false,
            indirect: false,
            subscript: None,
            operator: Operator::None,
            operand: Vec::new(),
        };
        if self.peek() == Some(b'#') && self.byte(self.at + 1) != Some(b'}') {
            // `${#}` is a parameter, and `${#-x}`, `${#:-x}` are operators on it; anything else is a length.
            let next = self.byte(self.at + 1);
            if next.is_some_and(|byte| {
                is_name_byte(byte) || matches!(byte, b'@' | b'*' | b'!' | b'?' | b'$')
            }) {
                parameter.length = true;
                self.at += 1;
            }
        } else if self.peek() == Some(b'!')
            && self
                .byte(self.at + 1)
                .is_some_and(|byte| is_name_byte(byte) || matches!(byte, b'@' | b'*' | b'#'))
        {
            parameter.indirect = true;
            self.at += 1;
        }
        let name = self.at;
        match self.peek() {
            Some(byte) if is_name_start(byte) => self.name(),
            Some(byte) if byte.is_ascii_digit() => {
                while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                    self.at += 1;
                }
            }
            Some(byte) if is_special_parameter(byte) => self.at += 1,
            _ => self.flaw(start, "${ is followed by no name"),
        }
        parameter.name = Span::new(name, self.at);
        if self.peek() == Some(b'[') {
            self.at += 1;
            parameter.subscript = Some(self.parts(Until::Bracket));
            self.close(b']', start, "a subscript is never closed");
        }
        let (operator, width, single) = match (self.peek(), self.byte(self.at + 1)) {
            (Some(b':'), Some(b'-')) => (Operator::Default { colon: true }, 2, false),
            (Some(b':'), Some(b'=')) => (Operator::Assign { colon: true }, 2, false),
            (Some(b':'), Some(b'+')) => (Operator::Alternate { colon: true }, 2, false),
            (Some(b':'), Some(b'?')) => (Operator::Require { colon: true }, 2, false),
            (Some(b'-'), _) => (Operator::Default { colon: false }, 1, false),
            (Some(b'='), _) => (Operator::Assign { colon: false }, 1, false),
            (Some(b'+'), _) => (Operator::Alternate { colon: false }, 1, false),
            (Some(b'?'), _) => (Operator::Require { colon: false }, 1, false),
            (Some(b'@'), Some(b'P')) => (Operator::Prompt, 2, false),
            (Some(b':' | b'#' | b'%' | b'/' | b'^' | b',' | b'@' | b'*'), _) => {
                (Operator::Other, 1, true)
            }
            (Some(b'}') | None, _) => (Operator::None, 0, true),
            _ => {
                self.flaw(start, "${…} with an operator that bash does not have");
                (Operator::Other, 0, true)
            }
        };
        self.at += width;
        parameter.operator = operator;
        // Inside double quotes a single quote is text after `:-` and its like: `"${y:-'$(yes)'}"` runs `yes`.
        let single = single || !(until.doubled() || until == (Until::Brace { single: false }));
        parameter.operand = self.parts(Until::Brace { single });
        self.close(b'}', start, "${ is never closed");
        parameter.span = Span::new(start, self.at);
        Part::Parameter(Box::new(parameter))
    }

    /// `$(…)`, `<(…)`: the cursor behind its opener; a level was entered for it.
    fn substitution(&mut self, start: usize, close: u8) -> Part {
        let outer = std::mem::take(&mut self.pending);
        // What stands inside is code of its own: its quotes are quotes again.
        let literal = std::mem::take(&mut self.literal_quotes);
        let list = self.enclosed();
        self.literal_quotes |= literal;
        self.leave();
        self.give_up_heredocs();
        self.pending = outer;
        self.close(close, start, "a substitution is never closed");
        let span = Span::new(start, self.at.min(self.end));
        if self.byte(start + 2) == Some(b'(') && span.of(self.text).contains("$'") {
            // bash 5.2 takes it for arithmetic first, and loses these quotes when it reads it again.
            self.flaw(start, "quotes within quotes, which shells read differently");
        }
        Part::Command(Box::new(Substitution {
            span: Span::new(start, self.at),
            body: Body::Within(list),
        }))
    }

    fn process(&mut self) -> Option<Part> {
        let start = self.at;
        if !self.enter() {
            self.step();
            return None;
        }
        self.at += 2;
        Some(self.substitution(start, b')'))
    }

    fn extended(&mut self) -> Option<Part> {
        let start = self.at;
        if !self.enter() {
            self.step();
            return None;
        }
        self.at += 2;
        let parts = self.parts(Until::Extended);
        self.leave();
        self.close(b')', start, "an extended glob is never closed");
        Some(Part::Extended(parts, Span::new(start, self.at)))
    }

    fn backquoted(&mut self, until: Until) -> Option<Part> {
        let start = self.at;
        let mut end = start + 1;
        let mut escaped = false;
        let limit = start.saturating_add(self.fuel);
        let close = loop {
            match self.byte(end) {
                _ if end > limit => break None,
                None => break None,
                Some(b'`') => break Some(end),
                Some(b'\\') => {
                    escaped = true;
                    end += 2;
                }
                Some(_) => end += 1,
            }
        };
        let inside = Span::new(start + 1, close.unwrap_or(self.end));
        if close.is_none() {
            // Read on as if it were a letter, so that the rest is still seen.
            self.flaw(start, "a backquote is never closed");
            let _ = self.spend(end - start);
        }
        let Some(close) = close else {
            self.at += 1;
            return None;
        };
        if !self.spend(inside.end - inside.start) || !self.enter() {
            self.step();
            return None;
        }
        let body = if escaped {
            let text = unescape(inside.of(self.text), until == Until::Double);
            Body::Apart(Rc::new(self.nested(
                &text,
                Origin::Computed(self.origin.outer(Span::new(start, close + 1))),
            )))
        } else {
            let end = std::mem::replace(&mut self.end, inside.end);
            let outer = std::mem::take(&mut self.pending);
            let literal = std::mem::take(&mut self.literal_quotes);
            let no_more_single = std::mem::take(&mut self.no_more_single);
            self.at = inside.start;
            let list = self.whole();
            self.give_up_heredocs();
            self.no_more_single = no_more_single;
            self.literal_quotes = literal;
            self.pending = outer;
            self.end = end;
            Body::Within(list)
        };
        self.leave();
        self.at = close + 1;
        Some(Part::Command(Box::new(Substitution {
            span: Span::new(start, close + 1),
            body,
        })))
    }

    /// `$'…'`, the cursor on its quote.
    fn ansi(&mut self, start: usize) -> Option<Part> {
        let mut end = self.at + 1;
        let limit = start.saturating_add(self.fuel);
        loop {
            match self.byte(end).filter(|_| end <= limit) {
                None => {
                    self.flaw(start, "$' is never closed");
                    self.at += 1;
                    let _ = self.spend(end - start);
                    return None;
                }
                Some(b'\'') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
            }
        }
        let inside = Span::new(self.at + 1, end);
        self.at = end + 1;
        Some(Part::Ansi(decode(inside.of(self.text))))
    }

    fn name(&mut self) {
        while self.peek().is_some_and(is_name_byte) {
            self.at += 1;
        }
    }

    pub(super) fn close(&mut self, byte: u8, start: usize, why: &'static str) {
        if self.peek() == Some(byte) {
            self.at += 1;
        } else {
            self.flaw(start, why);
        }
    }

    /// Whether `((` at `open` starts arithmetic: its inner parenthesis closes right before another `)`.
    /// Looking ahead flatly, as bash does, decides once; trying both readings would double at each level.
    pub(super) fn is_arithmetic(&mut self, open: usize) -> bool {
        let mut at = open + 2;
        let mut nested = 0_usize;
        let limit = open.saturating_add(self.fuel);
        while let Some(byte) = self.byte(at).filter(|_| at <= limit) {
            match byte {
                b'\\' => at += 1,
                // A single quote that never closes was told before.
                b'\'' if self.no_more_single => {}
                b'\'' | b'"' => match self.find_quote(at + 1, byte) {
                    Some(end) => at = end,
                    None => {
                        at = self.end;
                        break;
                    }
                },
                b'(' => nested += 1,
                b')' if nested == 0 => {
                    return self.spend(at - open) && self.byte(at + 1) == Some(b')');
                }
                b')' => nested -= 1,
                _ => {}
            }
            at += 1;
        }
        let _ = self.spend(at - open);
        false
    }

    fn find_quote(&self, from: usize, quote: u8) -> Option<usize> {
        if quote == b'\'' {
            return self.find(from, quote);
        }
        let mut at = from;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'"' => return Some(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        None
    }

    fn find(&self, from: usize, byte: u8) -> Option<usize> {
        self.text
            .as_bytes()
            .get(from..self.end)?
            .iter()
            .position(|&b| b == byte)
            .map(|offset| from + offset)
    }

    /// The lists up to a `}` in command position.
    fn closed_by_brace(&mut self, start: usize) -> List {
        let mut list = self.list();
        loop {
            if self.keyword("}") {
                return list;
            }
            if self.peek().is_none() {
                self.flaw(start, "${ is never closed");
                return list;
            }
            self.skip_unexpected();
            list.0.append(&mut self.list().0);
        }
    }
}

/// The text that backquotes with backslashes in them run.
fn unescape(text: &str, in_double_quotes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(next @ ('$' | '`' | '\\')) => out.push(next),
            Some('"') if in_double_quotes => out.push('"'),
            Some(next) => {
                out.push('\\');
                out.push(next);
            }
            None => out.push('\\'),
        }
    }
    out
}

/// What `$'…'` means.
pub(super) fn decode(text: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let mut buffer = [0; 4];
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        let Some(next) = chars.next() else {
            out.push(b'\\');
            break;
        };
        let mut number = |radix: u32, most: usize, mut value: u32| {
            let mut seen = 0;
            while seen < most {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
                    break;
                };
                value = value.wrapping_mul(radix).wrapping_add(digit);
                chars.next();
                seen += 1;
            }
            (value, seen)
        };
        let byte = match next {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '\'' | '"' | '?' => next as u8,
            '0'..='7' => (number(8, 2, next as u32 - '0' as u32).0 & 0xff) as u8,
            'x' => match number(16, 2, 0) {
                (_, 0) => {
                    out.extend_from_slice(b"\\x");
                    continue;
                }
                (value, _) => (value & 0xff) as u8,
            },
            'u' | 'U' => {
                let (value, seen) = number(16, if next == 'u' { 4 } else { 8 }, 0);
                if seen == 0 {
                    out.extend_from_slice(if next == 'u' { b"\\u" } else { b"\\U" });
                } else {
                    let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                    if c == '\0' {
                        break;
                    }
                    out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                }
                continue;
            }
            'c' => match chars.next() {
                Some(control) => (control as u32 & 0x1f) as u8,
                None => b'\\',
            },
            other => {
                out.push(b'\\');
                out.extend_from_slice(other.encode_utf8(&mut buffer).as_bytes());
                continue;
            }
        };
        // A NUL ends the string, as in C.
        if byte == 0 {
            break;
        }
        out.push(byte);
    }
    String::from_utf8(out)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
