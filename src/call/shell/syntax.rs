//! What a shell text is made of: lists, pipelines, commands, words as written.
//!
//! Made by `parse.rs` and `lex.rs`, walked by `script.rs`. Every span is in bytes of the [`Tree`]'s own
//! text; [`Tree::span`] carries it back to the outermost command line.

use std::rc::Rc;

use crate::call::few::Few;
use crate::source::Span;

/// One text, parsed.
#[derive(Debug)]
pub(super) struct Tree {
    pub text: Box<str>,
    pub origin: Origin,
    pub list: List,
    pub heredocs: Vec<Heredoc>,
    /// What could not be understood, first to last. What stands around it is in the tree all the same.
    pub flaws: Vec<Flaw>,
}

/// Where a text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It stands verbatim in the outermost line, from this byte on.
    Verbatim(usize),
    /// It was computed from these bytes of the outermost line.
    Computed(Span),
}

#[derive(Debug)]
pub(super) struct Flaw {
    pub at: usize,
    pub why: &'static str,
    /// A limit of the reader: what lies behind is not read as it is meant.
    pub limit: bool,
}

impl Origin {
    /// A span of the text, in bytes of the outermost line.
    pub const fn outer(self, span: Span) -> Span {
        match self {
            Self::Verbatim(base) => Span::new(base + span.start, base + span.end),
            Self::Computed(whole) => whole,
        }
    }
}

impl Tree {
    /// A span of this text, in bytes of the outermost line.
    pub fn span(&self, span: Span) -> Span {
        self.origin.outer(span)
    }

    /// The text under a span.
    pub fn of(&self, span: Span) -> &str {
        span.of(&self.text)
    }
}

#[derive(Debug, Default)]
pub(super) struct List(pub Vec<Item>);

/// `a && b || c`, ended by `;`, a newline or `&`.
#[derive(Debug)]
pub(super) struct Item {
    pub first: Pipeline,
    pub rest: Vec<(Join, Pipeline)>,
    pub background: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
}

#[derive(Debug, Default)]
pub(super) struct Pipeline {
    pub negated: bool,
    pub stages: Few<Rc<Command>>,
}

#[derive(Debug)]
pub(super) struct Command {
    pub span: Span,
    pub shape: Shape,
    pub redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(super) enum Shape {
    Simple {
        assigns: Vec<Assign>,
        words: Vec<Raw>,
    },
    Group(List),
    Subshell(List),
    If {
        arms: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    /// `while` and `until`.
    While {
        condition: List,
        body: List,
    },
    /// `for` and `select`; no words: the positional parameters.
    For {
        name: Span,
        words: Option<Vec<Raw>>,
        body: List,
        select: bool,
    },
    ArithmeticFor {
        head: Vec<Part>,
        span: Span,
        body: List,
    },
    Case {
        word: Raw,
        arms: Vec<Arm>,
    },
    Arithmetic(Vec<Part>, Span),
    /// `[[ … ]]`: its words, operators left out.
    Test(Vec<Raw>),
    Function {
        name: Span,
        body: Rc<Command>,
    },
    Coproc {
        name: Option<Span>,
        body: Rc<Command>,
    },
}

#[derive(Debug)]
pub(super) struct Arm {
    pub patterns: Vec<Raw>,
    pub body: List,
    /// Ended by `;&` or `;;&`: the next arm may run after it.
    pub falls: bool,
}

#[derive(Debug)]
pub(super) struct Assign {
    pub name: Span,
    pub subscript: Option<Vec<Part>>,
    pub append: bool,
    pub value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    Scalar(Raw),
    Array(Vec<Raw>),
}

#[derive(Debug)]
pub(super) struct Redirect {
    /// Operator and target.
    pub span: Span,
    pub what: Target,
}

#[derive(Debug)]
pub(super) enum Target {
    Read(Raw),
    Write(Raw),
    Both(Raw),
    /// `>&word`: a file, unless the word turns out to be a number or `-`.
    Duplicate(Raw),
    /// `<&word`: a descriptor.
    From(Raw),
    HereString(Raw),
    /// Index into the tree's heredocs.
    Heredoc(usize),
}

#[derive(Debug)]
pub(super) struct Heredoc {
    /// The delimiter was quoted: the body is data.
    pub quoted: bool,
    pub strip_tabs: bool,
    pub delimiter: String,
    pub body: Span,
    /// The parts of an unquoted body.
    pub parts: Vec<Part>,
}

/// A word as written.
#[derive(Debug)]
pub(super) struct Raw {
    pub span: Span,
    pub parts: Few<Part>,
}

#[derive(Debug)]
pub(super) enum Part {
    /// Text as it stands. Unquoted, it may hold globs, braces and a tilde.
    Text(Span),
    /// The one character after a backslash.
    Escaped(Span),
    /// What stands between single quotes.
    Single(Span),
    /// `$'…'`, decoded.
    Ansi(String),
    /// What stands between double quotes (`$"…"` too).
    Double(Vec<Part>),
    Parameter(Box<Parameter>),
    Command(Box<Substitution>),
    /// `$((…))`, `$[…]`.
    Arithmetic(Vec<Part>, Span),
    /// An extended glob: `?(…)`.
    Extended(Vec<Part>, Span),
    /// `name=(…)` as an argument of `declare` and its like.
    Array(Vec<Raw>),
}

#[derive(Debug)]
pub(super) struct Substitution {
    /// From `$(`, `` ` ``, `<(` to its end.
    pub span: Span,
    pub body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    /// It stands in the same text.
    Within(List),
    /// Backquotes with backslashes in them: a text of its own.
    Apart(Rc<Tree>),
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub span: Span,
    pub name: Span,
    /// `${#x}`.
    pub length: bool,
    /// `${!x}`.
    pub indirect: bool,
    pub subscript: Option<Vec<Part>>,
    pub operator: Operator,
    pub operand: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    None,
    /// `-` or `:-`.
    Default {
        colon: bool,
    },
    /// `=` or `:=`.
    Assign {
        colon: bool,
    },
    /// `+` or `:+`.
    Alternate {
        colon: bool,
    },
    /// `?` or `:?`: the value, or the shell stops.
    Require {
        colon: bool,
    },
    /// `@P`: the value is expanded as a prompt, commands included.
    Prompt,
    /// Any other.
    Other,
}
