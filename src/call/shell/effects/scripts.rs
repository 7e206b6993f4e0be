//! `sed` scripts and `awk` programs: the files they touch and the commands they run.
//!
//! In: the text of the script. Out: [`Touch`]es. No interpreter: it finds its way past addresses, strings and
//! regular expressions, and where it loses it, it says [`Touch::Unclear`] rather than nothing.

use crate::call::access::Mode;

/// What a script does besides printing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// Reads or writes this file.
    File(Mode, String),
    /// Runs a command; its text, where it is constant.
    Runs(Option<String>),
    /// Runs a command on what it prints.
    Feeds(String),
    /// Not understood, or computed: what may happen.
    Unclear(&'static str),
}

const LOST: Touch =
    Touch::Unclear("runs a script that is not understood, and may write files or run commands");

/// What a `sed` script does.
pub(super) fn sed(script: &str) -> Vec<Touch> {
    let mut out = Vec::new();
    let mut sed = Sed {
        rest: script,
        out: &mut out,
    };
    if sed.commands().is_none() {
        out.push(LOST);
    }
    out
}

struct Sed<'s> {
    rest: &'s str,
    out: &'s mut Vec<Touch>,
}

impl Sed<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn skip(&mut self, what: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(what);
    }

    /// The rest of the line.
    fn line(&mut self) -> String {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line.trim_start().to_owned()
    }

    /// None: it lost its way.
    fn commands(&mut self) -> Option<()> {
        loop {
            self.skip(|c| c.is_whitespace() || c == ';');
            let Some(c) = self.peek() else {
                return Some(());
            };
            if c == '#' {
                self.line();
                continue;
            }
            self.addresses()?;
            self.skip(|c| c.is_whitespace() || c == '!');
            self.command()?;
        }
    }

    fn addresses(&mut self) -> Option<()> {
        loop {
            self.skip(|c| c == ' ' || c == '\t');
            match self.peek()? {
                '/' => {
                    self.next();
                    self.delimited('/', true)?;
                    self.skip(|c| c == 'I' || c == 'M');
                }
                '\\' => {
                    self.next();
                    let mark = self.next()?;
                    self.delimited(mark, true)?;
                    self.skip(|c| c == 'I' || c == 'M');
                }
                '0'..='9' | '$' | '~' | '+' => {
                    self.skip(|c| c.is_ascii_digit() || matches!(c, '$' | '~' | '+'))
                }
                ',' => {
                    self.next();
                }
                _ => return Some(()),
            }
        }
    }

    /// Up to the next `mark`; backslashes and, in a regular expression, brackets hide it.
    fn delimited(&mut self, mark: char, regex: bool) -> Option<()> {
        loop {
            match self.next()? {
                c if c == mark => return Some(()),
                '\\' => {
                    self.next()?;
                }
                '[' if regex => {
                    self.skip_once('^');
                    self.skip_once(']');
                    loop {
                        match self.next()? {
                            ']' => break,
                            '[' => {
                                if let Some(kind) =
                                    self.peek().filter(|c| matches!(c, ':' | '.' | '='))
                                {
                                    self.next();
                                    let end = format!("{kind}]");
                                    let at = self.rest.find(&end)?;
                                    self.rest = self.rest.get(at + 2..)?;
                                }
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn skip_once(&mut self, c: char) {
        self.rest = self.rest.strip_prefix(c).unwrap_or(self.rest);
    }

    fn command(&mut self) -> Option<()> {
        match self.next()? {
            '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x'
            | 'F' | 'z' => {}
            'q' | 'Q' | 'l' | 'L' => self.skip(|c| c.is_ascii_digit() || c == ' '),
            // A label ends at a blank, and behind that of `:` the next command begins. A `#` ends it for some, and a
            // comment begins; for others it is a letter.
            ':' | 'b' | 't' | 'T' | 'v' => {
                self.skip(|c| c == ' ' || c == '\t');
                self.skip(|c| !c.is_whitespace() && !matches!(c, ';' | '}' | '#'));
                if self.peek() == Some('#') {
                    return None;
                }
            }
            'a' | 'i' | 'c' => loop {
                // Text: its lines go on while they end in a backslash.
                let line = self.line();
                if !line.ends_with('\\') || self.rest.is_empty() {
                    break;
                }
            },
            'r' | 'R' => self.file(Mode::Read),
            'w' | 'W' => self.file(Mode::Write),
            'e' => {
                let command = self.line();
                self.out.push(Touch::Runs(
                    Some(command).filter(|command| !command.is_empty()),
                ));
            }
            'y' => {
                let mark = self.next()?;
                self.delimited(mark, false)?;
                self.delimited(mark, false)?;
            }
            's' => {
                let mark = self.next()?;
                let old = self.rest;
                self.delimited(mark, true)?;
                // `s/.*/rm x/e`: nothing of the line is left beside what takes its place.
                let whole = [".*", "^.*", ".*$", "^.*$", "^.+$", "..*"]
                    .iter()
                    .any(|regex| {
                        old.strip_prefix(regex)
                            .is_some_and(|rest| rest.starts_with(mark))
                    });
                let from = self.rest;
                self.delimited(mark, false)?;
                // What takes the place of the match, without its closing mark.
                let length = from.len() - self.rest.len();
                let new = from
                    .get(..length.saturating_sub(mark.len_utf8()))
                    .unwrap_or_default();
                loop {
                    match self.peek() {
                        Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                            self.next();
                        }
                        Some('e') => {
                            self.next();
                            let constant =
                                whole && !new.contains(['&', '\\']) && !new.trim().is_empty();
                            self.out.push(Touch::Runs(constant.then(|| new.to_owned())));
                        }
                        Some('w') => {
                            self.next();
                            self.file(Mode::Write);
                            break;
                        }
                        _ => break,
                    }
                }
            }
            _ => return None,
        }
        // What follows a command: its end, a closing brace, a comment.
        self.skip(|c| c == ' ' || c == '\t' || c == '\r');
        match self.peek() {
            None | Some(';' | '\n' | '}' | '#') => Some(()),
            // After `{` the next command begins at once; after text and file names it is a new line.
            Some(_) => Some(()),
        }
    }

    fn file(&mut self, mode: Mode) {
        let name = self.line();
        if !matches!(
            name.as_str(),
            "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/null" | ""
        ) {
            self.out.push(Touch::File(mode, name));
        }
    }
}

/// What an `awk` program does.
pub(super) fn awk(program: &str) -> Vec<Touch> {
    let plain = Reading {
        brackets: Brackets::Whole,
        regex: false,
    };
    let (read, doubts) = tokens(program, plain);
    let mut out = touches(&read);
    let classes: &[Brackets] = match program.contains('[') {
        true => &[Brackets::Whole, Brackets::First, Brackets::Letters],
        false => &[Brackets::Whole],
    };
    for &brackets in classes {
        for regex in [false, true] {
            let reading = Reading { brackets, regex };
            if reading == plain || (regex && doubts == 0) {
                continue;
            }
            // An awk that reads it so and is left with an open string or expression refuses the program.
            let (read, _) = tokens(program, reading);
            if read.contains(&Token::Lost) {
                continue;
            }
            for touch in touches(&read) {
                if !out.contains(&touch) {
                    out.push(touch);
                }
            }
        }
    }
    if doubts > 1 {
        // Each may be read either way: that is more readings than are tried.
        out.push(LOST);
    }
    out
}

/// How an awk reads what awks read differently, or what only their grammar tells.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reading {
    brackets: Brackets,
    /// A slash that may begin a regular expression or divide does the former.
    regex: bool,
}

/// Where a bracket in a regular expression ends, which may hide a slash.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    /// As POSIX says: `[]/]`, `[[:alpha:]/]`.
    Whole,
    /// At the first closing bracket.
    First,
    /// Brackets hide nothing.
    Letters,
}

fn touches(tokens: &[Token]) -> Vec<Touch> {
    let mut out = Vec::new();
    // The depth of brackets where a `print` began: there a `>` is a redirection.
    let (mut depth, mut printing) = (0_i32, None);
    let substitutes = tokens
        .iter()
        .any(|token| matches!(token, Token::Name("sub" | "gsub")));
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            Token::End => printing = None,
            Token::Name("print" | "printf") => printing = Some(depth),
            Token::Name("system") => out.push(Touch::Runs(
                match (tokens.get(at + 2), tokens.get(at + 3)) {
                    (Some(Token::Text(command)), Some(Token::Close)) => Some(command.clone()),
                    _ => None,
                },
            )),
            Token::Name("ENVIRON" | "SYMTAB") => {
                out.push(Touch::Unclear("has a program that reads the environment"))
            }
            Token::Name("getline") => {}
            Token::Name("ARGV") if substitutes || chooses(tokens, at) => out.push(Touch::Unclear(
                "has a program that chooses the files it reads",
            )),
            Token::Pipe => {
                // `print | "cmd"`, `"cmd" | getline`.
                out.push(match (before, next) {
                    (Some(Token::Text(command)), Some(Token::Name("getline"))) => {
                        Touch::Runs(Some(command.clone()))
                    }
                    (_, Some(Token::Text(command))) => Touch::Feeds(command.clone()),
                    _ => Touch::Runs(None),
                });
            }
            Token::Less if reads(tokens, at) => {
                out.push(file(Mode::Read, next, tokens.get(at + 2)))
            }
            Token::More if printing == Some(depth) => {
                out.push(file(Mode::Write, next, tokens.get(at + 2)))
            }
            Token::Special => out.push(Touch::Unclear(
                "has a program that loads or calls other code",
            )),
            Token::Lost => out.push(LOST),
            _ => {}
        }
    }
    out.retain(|touch| !matches!(touch, Touch::File(_, name) if matches!(name.as_str(), "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/null" | "-")));
    out
}

/// Whether `ARGV` may be set here: anything but `in ARGV`, and an element that is only read.
fn chooses(tokens: &[Token], at: usize) -> bool {
    // As far as a statement is looked at; who writes longer ones around it has reasons.
    const STATEMENT: usize = 64;
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let after = tokens.get(at + 1..).unwrap_or_default();
    match (before, after.first()) {
        (Some(Token::Name("in")), _) => return false,
        (Some(Token::Name("getline")), _) => return true,
        (_, Some(Token::Open)) => {}
        _ => return true,
    }
    let end = after
        .iter()
        .take(STATEMENT)
        .position(|token| matches!(token, Token::End));
    let statement = after.get(..end.unwrap_or(after.len().min(STATEMENT)));
    let statement = statement.unwrap_or_default();
    let iterates = |pair: &[Token]| matches!(pair, [Token::Close, Token::Name("in")]);
    end.is_none() && after.len() > STATEMENT
        || statement.iter().any(|token| matches!(token, Token::Assign))
        || statement.windows(2).any(iterates)
}

/// Whether this `<` belongs to a `getline`.
fn reads(tokens: &[Token], at: usize) -> bool {
    tokens
        .iter()
        .take(at)
        .rev()
        .take_while(|token| !matches!(token, Token::End))
        .take(6)
        .any(|token| matches!(token, Token::Name("getline")))
}

/// The file of a redirection: constant, or anything.
fn file(mode: Mode, name: Option<&Token>, after: Option<&Token>) -> Touch {
    match (name, after) {
        (Some(Token::Text(name)), None | Some(Token::End | Token::Close))
            if !name.starts_with("/inet") && !name.contains('\\') =>
        {
            Touch::File(mode, name.clone())
        }
        _ if mode == Mode::Read => {
            Touch::Unclear("has a program that reads a file whose name it computes")
        }
        _ => Touch::Unclear("has a program that writes a file whose name it computes"),
    }
}

#[derive(Debug, PartialEq)]
enum Token<'s> {
    Name(&'s str),
    Text(String),
    Open,
    Close,
    /// A statement's end: `;`, a newline, a brace.
    End,
    Pipe,
    Less,
    More,
    Assign,
    /// `@include`, `@load`, an indirect call.
    Special,
    /// A number, an operator, a regular expression.
    Value,
    Operator,
    Lost,
}

/// The tokens, and how many slashes could be read in two ways.
fn tokens(program: &str, reading: Reading) -> (Vec<Token<'_>>, usize) {
    let mut out: Vec<Token> = Vec::new();
    // For each open bracket, whether it is the head of an `if` or a loop; and for the last that was closed.
    let (mut open, mut head) = (Vec::new(), false);
    let mut doubts = 0;
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or("");
        let second = after.chars().next();
        let (token, taken) = match c {
            ' ' | '\t' | '\r' => (None, 1),
            '\\' if second == Some('\n') => (None, 2),
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '"' => match string(after) {
                Some((text, len)) => (Some(Token::Text(text)), len + 1),
                None => (Some(Token::Lost), rest.len()),
            },
            '/' if regex_begins(out.last(), head, reading.regex, &mut doubts) => {
                match regex(after, reading.brackets) {
                    Some(len) => (Some(Token::Value), len + 1),
                    None => (Some(Token::Lost), rest.len()),
                }
            }
            '(' | '[' => {
                open.push(
                    c == '('
                        && matches!(
                            out.last(),
                            Some(Token::Name("if" | "while" | "for" | "switch"))
                        ),
                );
                (Some(Token::Open), 1)
            }
            ')' | ']' => {
                head = open.pop().unwrap_or_default();
                (Some(Token::Close), 1)
            }
            // `x++ / 2`: what stands before it is still a value.
            '+' | '-' if second == Some(c) => {
                let value = match out.last() {
                    Some(Token::Name(name)) => !is_keyword(name),
                    Some(Token::Close) => !head,
                    Some(Token::Value) => true,
                    _ => false,
                };
                let token = if value { Token::Value } else { Token::Operator };
                (Some(token), 2)
            }
            '{' | '}' | ';' | '\n' => (Some(Token::End), 1),
            '|' if second == Some('|') => (Some(Token::Operator), 2),
            '|' => (Some(Token::Pipe), if second == Some('&') { 2 } else { 1 }),
            '<' if second == Some('=') => (Some(Token::Operator), 2),
            '>' if second == Some('=') => (Some(Token::Operator), 2),
            '<' => (Some(Token::Less), 1),
            '>' => (Some(Token::More), if second == Some('>') { 2 } else { 1 }),
            '=' if second == Some('=') => (Some(Token::Operator), 2),
            '!' if second == Some('=') => (Some(Token::Operator), 2),
            '=' => (Some(Token::Assign), 1),
            '@' => (Some(Token::Special), 1),
            c if c.is_ascii_digit() || c == '.' => {
                let len = run(rest, |c| c.is_ascii_alphanumeric() || c == '.');
                let (number, behind) = rest.split_at(len);
                let token = if is_number(number, behind) {
                    Token::Value
                } else {
                    Token::Lost
                };
                (Some(token), len)
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let len = run(rest, |c| c.is_ascii_alphanumeric() || c == '_');
                (Some(Token::Name(rest.get(..len).unwrap_or(""))), len)
            }
            c => (Some(Token::Operator), c.len_utf8()),
        };
        out.extend(token);
        rest = rest.get(taken..).unwrap_or("");
    }
    (out, doubts)
}

/// Whether digits and letters are one number to every awk. `1system` is a number and a call, `0x1p3` is what it is to some.
fn is_number(text: &str, behind: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let signed = exponent.is_empty() && behind.starts_with(['+', '-']);
    mantissa.split('.').all(digits) && digits(exponent) && (!exponent.is_empty() || signed)
}

fn run(text: &str, of: impl Fn(char) -> bool) -> usize {
    text.find(|c| !of(c)).unwrap_or(text.len())
}

/// A `/` begins a regular expression where no value stands before it.
fn regex_begins(before: Option<&Token>, head: bool, either: bool, doubts: &mut usize) -> bool {
    match before {
        Some(Token::Name("getline")) => {
            *doubts += 1;
            either
        }
        Some(Token::Name(name)) => is_keyword(name),
        // `if (x) /y/` against `(x) / y`.
        Some(Token::Close) => head,
        Some(Token::Text(_) | Token::Value) => false,
        _ => true,
    }
}

/// Words after which a value begins.
fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "print" | "printf" | "return" | "in" | "case" | "else" | "do" | "exit" | "delete"
    )
}

/// A string's text and its length with the closing quote.
fn string(rest: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((text, at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                c @ ('"' | '\\' | '/') => text.push(c),
                // Octal and hexadecimal spellings: keep them, the name is then no constant that matches.
                c => text.extend(['\\', c]),
            },
            c => text.push(c),
        }
    }
    None
}

/// The length of a regular expression with its closing slash.
fn regex(rest: &str, brackets: Brackets) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut class = false;
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            b'/' if !class => return Some(at + 1),
            b'\\' => {
                bytes.get(at + 1)?;
                at += 1;
            }
            b'[' if !class && brackets != Brackets::Letters => {
                class = true;
                if brackets == Brackets::Whole {
                    at += usize::from(bytes.get(at + 1) == Some(&b'^'));
                    at += usize::from(bytes.get(at + 1) == Some(&b']'));
                }
            }
            b'[' if class
                && brackets == Brackets::Whole
                && matches!(bytes.get(at + 1), Some(b':' | b'.' | b'=')) =>
            {
                let kind = *bytes.get(at + 1)?;
                let inside = bytes.get(at + 2..)?;
                // `[:alpha:]`; without its end it is a bracket like any other character.
                let close = inside
                    .iter()
                    .take(16)
                    .zip(inside.iter().skip(1))
                    .position(|(&a, &b)| a == kind && b == b']');
                if let Some(close) = close {
                    at += close + 3;
                }
            }
            b']' => class = false,
            b'\n' => return None,
            _ => {}
        }
        at += 1;
    }
}
