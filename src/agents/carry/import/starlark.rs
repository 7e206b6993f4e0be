//! The subset of Starlark that rule files are written in: calls with named arguments, of texts and lists.
//!
//! In: the text of a `.rules` file. Out: its calls, each with its line; names given to texts and lists, and `+`, are
//! worked out. A `def`, a loop, a condition or a `load` is an error in its place: what it would add or take is not guessed.

use crate::finding::Finding;
use crate::source::{Source, Span};
use std::collections::BTreeMap;
use std::sync::Arc;
use winnow::Parser;
use winnow::ascii::digit1;
use winnow::combinator::{
    alt, cut_err, delimited, fail, opt, peek, preceded, repeat, separated, terminated,
};
use winnow::error::{ContextError, ErrMode, StrContext};
use winnow::stream::{LocatingSlice, Location, Stateful};
use winnow::token::{any, literal, one_of, take_while};

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Value>),
    Flag(bool),
    Number(String),
    None,
}

impl Value {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }
}

/// A call, with its arguments in order; one without a name has an empty one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Called {
    pub name: String,
    pub args: Vec<(String, Value)>,
    pub span: Span,
}

/// The state: names that were given a value, and how deep lists nest.
#[derive(Clone, Debug, Default)]
struct Known {
    names: BTreeMap<String, Value>,
    depth: usize,
}

type Input<'t> = Stateful<LocatingSlice<&'t str>, Known>;
type Failed = ErrMode<ContextError>;
type Read<T> = Result<T, Failed>;

enum Statement {
    Call(Called),
    Name(String, Value),
    Nothing,
}

/// How deep lists and parentheses may nest.
const DEEPEST: usize = 16;

/// The calls of a file.
pub(super) fn read(source: &Arc<Source>) -> Result<Vec<Called>, Vec<Finding>> {
    let text = source.text.trim_start_matches('\u{feff}');
    let shift = source.text.len() - text.len();
    let mut input = Input {
        input: LocatingSlice::new(text),
        state: Known::default(),
    };
    let mut calls = Vec::new();
    loop {
        let start = input.current_token_start();
        let read = preceded(space(true), statement).parse_next(&mut input);
        match read {
            Ok(Statement::Call(call)) => calls.push(Called {
                span: Span::new(call.span.start + shift, call.span.end + shift),
                ..call
            }),
            Ok(Statement::Name(name, value)) => {
                input.state.names.insert(name, value);
            }
            Ok(Statement::Nothing) => return Ok(calls),
            Err(why) => {
                let at = input.current_token_start().max(start) + shift;
                let told = why.into_inner().map(|inner| {
                    let told = inner.context().find_map(|own| match own {
                        StrContext::Label(label) => Some((*label).to_owned()),
                        _ => None,
                    });
                    told.unwrap_or_default()
                });
                let told = told.unwrap_or_default();
                let why = match told.as_str() {
                    "" => "this is no call with named arguments of texts and lists",
                    told => told,
                };
                return Err(vec![
                    Finding::error("syntax", why, source, Span::new(at, at + 1))
                        .help("acl reads the plain form of rules: `prefix_rule(pattern = [\"git\", \"push\"], decision = \"prompt\")`; it runs no program"),
                ]);
            }
        }
    }
}

fn told<T>(input: &mut Input<'_>, why: &'static str) -> Read<T> {
    fail.context(StrContext::Label(why))
        .parse_next(input)
        .map_err(ErrMode::cut)
}

/// Blanks and comments; line breaks too, where they separate nothing.
fn space<'t>(breaks: bool) -> impl Parser<Input<'t>, (), Failed> {
    move |input: &mut Input<'t>| {
        loop {
            let blank =
                |c: char| c == ' ' || c == '\t' || (breaks && matches!(c, '\n' | '\r' | ';'));
            take_while(0.., blank).void().parse_next(input)?;
            let comment =
                opt(('#', take_while(0.., |c: char| c != '\n')).void()).parse_next(input)?;
            let joined = opt(alt(("\\\n", "\\\r\n")).void()).parse_next(input)?;
            if comment.is_none() && joined.is_none() {
                return Ok(());
            }
        }
    }
}

fn name(input: &mut Input<'_>) -> Read<String> {
    let start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (one_of(start), take_while(0.., rest))
        .take()
        .map(str::to_owned)
        .parse_next(input)
}

fn statement(input: &mut Input<'_>) -> Read<Statement> {
    let start = input.current_token_start();
    if opt(any).parse_next(&mut input.clone())?.is_none() {
        return Ok(Statement::Nothing);
    }
    // A text alone is a comment.
    if opt(peek(one_of(['"', '\'']))).parse_next(input)?.is_some() {
        let value = cut_err(expression).parse_next(input)?;
        end(input)?;
        return Ok(Statement::Name(String::new(), value));
    }
    let name = name(input)?;
    if [
        "def", "for", "if", "load", "while", "return", "lambda", "pass",
    ]
    .contains(&name.as_str())
    {
        return told(
            input,
            "a file of rules with a `def`, a loop, a condition or a `load` is a program",
        );
    }
    space(false).parse_next(input)?;
    let next = opt(one_of(['(', '='])).parse_next(input)?;
    let read = match next {
        Some('(') => {
            let args = arguments(input)?;
            let span = Span::new(start, input.previous_token_end());
            Statement::Call(Called { name, args, span })
        }
        Some(_) => Statement::Name(
            name,
            preceded(space(false), cut_err(expression)).parse_next(input)?,
        ),
        None => return told(input, "a name here is called, or given a value with `=`"),
    };
    end(input)?;
    Ok(read)
}

/// A statement ends with its line.
fn end(input: &mut Input<'_>) -> Read<()> {
    space(false).parse_next(input)?;
    let next = opt(peek(any)).parse_next(input)?;
    match next {
        None | Some('\n' | '\r' | ';') => Ok(()),
        Some(_) => told(input, "a statement ends with its line"),
    }
}

fn arguments(input: &mut Input<'_>) -> Read<Vec<(String, Value)>> {
    let named = |input: &mut Input<'_>| -> Read<(String, Value)> {
        let key = opt(terminated(name, (space(true), '=', space(true)))).parse_next(input)?;
        let value = expression(input)?;
        Ok((key.unwrap_or_default(), value))
    };
    let list = separated(0.., preceded(space(true), named), (space(true), ','));
    cut_err(terminated(list, (space(true), opt(','), space(true), ')'))).parse_next(input)
}

/// Values joined with `+`.
fn expression(input: &mut Input<'_>) -> Read<Value> {
    let mut value = single(input)?;
    while opt((space(true), '+', space(true)))
        .parse_next(input)?
        .is_some()
    {
        value = match (value, cut_err(single).parse_next(input)?) {
            (Value::Text(left), Value::Text(right)) => Value::Text(left + &right),
            (Value::List(mut left), Value::List(right)) => {
                left.extend(right);
                Value::List(left)
            }
            _ => return told(input, "`+` joins two texts or two lists"),
        };
    }
    Ok(value)
}

fn single(input: &mut Input<'_>) -> Read<Value> {
    let first = peek(any).parse_next(input)?;
    match first {
        '[' | '(' => nested(input, first),
        '"' | '\'' => text(input).map(Value::Text),
        'r' if opt(peek(alt(("r\"", "r'")))).parse_next(input)?.is_some() => {
            text(input).map(Value::Text)
        }
        '-' | '0'..='9' => (opt('-'), digit1)
            .take()
            .map(|digits: &str| Value::Number(digits.to_owned()))
            .parse_next(input),
        _ => {
            let start = input.clone();
            let name = name(input)?;
            match name.as_str() {
                "True" => Ok(Value::Flag(true)),
                "False" => Ok(Value::Flag(false)),
                "None" => Ok(Value::None),
                _ => match input.state.names.get(&name) {
                    Some(value) => Ok(value.clone()),
                    None => {
                        *input = start;
                        told(input, "this name was given no value")
                    }
                },
            }
        }
    }
}

/// A list, a tuple, or a value in parentheses.
fn nested(input: &mut Input<'_>, opener: char) -> Read<Value> {
    if input.state.depth >= DEEPEST {
        return told(input, "lists nest too deep");
    }
    input.state.depth += 1;
    let closer = if opener == '[' { ']' } else { ')' };
    let items = separated(0.., preceded(space(true), expression), (space(true), ','));
    let inside = (items, space(true), opt(','), space(true));
    let read: Read<(Vec<Value>, (), Option<char>, ())> =
        cut_err(delimited(any, inside, closer)).parse_next(input);
    input.state.depth -= 1;
    let (mut items, (), comma, ()) = read?;
    match (opener, items.len(), comma) {
        ('(', 1, None) => Ok(items.remove(0)),
        _ => Ok(Value::List(items)),
    }
}

/// A text in quotes, its escapes undone.
fn text(input: &mut Input<'_>) -> Read<String> {
    let raw = opt('r').parse_next(input)?.is_some();
    let quote = alt(("\"\"\"", "'''", "\"", "'")).parse_next(input)?;
    let long = quote.len() == 3;
    let mut out = String::new();
    loop {
        if opt(literal(quote)).parse_next(input)?.is_some() {
            return Ok(out);
        }
        let Some(c) = opt(any).parse_next(input)? else {
            return told(input, "this text is never closed");
        };
        match c {
            '\n' if !long => return told(input, "a text ends within its line"),
            '\\' if raw => {
                out.push(c);
                out.push(cut_err(any).parse_next(input)?);
            }
            '\\' => escape(input, &mut out)?,
            c => out.push(c),
        }
    }
}

fn escape(input: &mut Input<'_>, out: &mut String) -> Read<()> {
    let c = cut_err(any).parse_next(input)?;
    let digits = match c {
        'n' | 't' | 'r' | '\\' | '\'' | '"' => {
            out.push(match c {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                c => c,
            });
            return Ok(());
        }
        '\n' => return Ok(()),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return told(input, "this escape is not known"),
    };
    let hex: Read<&str> = repeat::<_, _, (), _, _>(digits, one_of(|c: char| c.is_ascii_hexdigit()))
        .take()
        .parse_next(input);
    let number = hex.ok().and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let Some(c) = number.and_then(char::from_u32) else {
        return told(input, "this escape stands for no character");
    };
    out.push(c);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(text: &str) -> Result<Vec<Called>, String> {
        let source = Arc::new(Source::new("x.rules", text, None).unwrap());
        read(&source).map_err(|findings| {
            let (line, column) = source.line_column(findings[0].labels[0].span.start);
            format!("{line}:{column} {}", findings[0].message)
        })
    }

    #[test]
    fn what_is_read() {
        let text = "# a comment\nGIT = [\"git\"]\nprefix_rule(\n  pattern = GIT + ['push', (\"a\")], # why\n  decision=\"prompt\",\n)\n\nx(r'\\d', 1, True, None, [])\n";
        let read = calls(text).unwrap();
        let texts = |all: &[&str]| {
            Value::List(
                all.iter()
                    .map(|own| Value::Text((*own).to_owned()))
                    .collect(),
            )
        };
        assert_eq!(
            read[0].args,
            [
                ("pattern".into(), texts(&["git", "push", "a"])),
                ("decision".into(), Value::Text("prompt".into()))
            ]
        );
        assert_eq!(read[0].span.of(text).lines().count(), 4);
        assert_eq!(read[1].args[0].1, Value::Text("\\d".into()));
        assert_eq!(calls("").unwrap(), []);
        assert_eq!(
            calls("x('\\x41\\u00e9')").unwrap()[0].args[0].1,
            Value::Text("Aé".into())
        );
    }

    #[test]
    fn what_is_refused() {
        for (text, why) in [
            ("for x in [1]: y(x)", "program"),
            ("x(a=b)", "no value"),
            ("x(", "no call"),
            ("x() y()", "ends with its line"),
            ("x('a\n')", "within its line"),
            ("x('a", "never closed"),
            ("x('\\q')", "escape"),
            ("x('a' + [1])", "joins"),
            ("x", "called"),
            ("x([y for y in z])", "no value"),
        ] {
            let told = calls(text).unwrap_err();
            assert!(told.contains(why), "{text}: {told}");
        }
        assert!(calls(&format!("x({})", "[".repeat(100_000))).is_err());
    }
}
