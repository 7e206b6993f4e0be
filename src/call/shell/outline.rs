//! What stands in a line, one parse level deep: programs as written, redirect targets, understood or not.
//!
//! For tests and tools that compare this parser with others; `decide` never asks.

use super::syntax::{Body, Command, List, Origin, Part, Pipeline, Raw, Shape, Target, Tree, Value};
use crate::source::Span;

/// The outline of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// All of it was understood.
    pub valid: bool,
    /// The program word of each simple command, as written, in the order of the text.
    pub commands: Vec<String>,
    /// The target of each redirection to or from a file, as written.
    pub redirects: Vec<String>,
}

/// What stands in a line.
pub fn outline(line: &str) -> Outline {
    let tree = super::parse::parse(line, Origin::Verbatim(0), 0);
    let mut found = Found::default();
    found.list(&tree, &tree.list);
    found.commands.sort_by_key(|(at, _)| *at);
    found.redirects.sort_by_key(|(at, _)| *at);
    Outline {
        valid: tree.flaws.is_empty() && !line.contains('\0'),
        commands: found.commands.into_iter().map(|(_, text)| text).collect(),
        redirects: found.redirects.into_iter().map(|(_, text)| text).collect(),
    }
}

#[derive(Default)]
struct Found {
    commands: Vec<(usize, String)>,
    redirects: Vec<(usize, String)>,
}

/// A word as written, without line continuations.
fn written(tree: &Tree, span: Span) -> String {
    tree.of(span).replace("\\\n", "")
}

impl Found {
    fn list(&mut self, tree: &Tree, list: &List) {
        for item in &list.0 {
            self.pipeline(tree, &item.first);
            for (_, pipeline) in &item.rest {
                self.pipeline(tree, pipeline);
            }
        }
    }

    fn pipeline(&mut self, tree: &Tree, pipeline: &Pipeline) {
        for command in &pipeline.stages {
            self.command(tree, command);
        }
    }

    fn command(&mut self, tree: &Tree, command: &Command) {
        match &command.shape {
            Shape::Simple { assigns, words } => {
                for assign in assigns {
                    self.parts(tree, assign.subscript.as_deref().unwrap_or_default());
                    match &assign.value {
                        Value::Scalar(raw) => self.parts(tree, &raw.parts),
                        Value::Array(raws) => self.raws(tree, raws),
                    }
                }
                if let Some(program) = words.first() {
                    self.commands
                        .push((tree.span(program.span).start, written(tree, program.span)));
                }
                self.raws(tree, words);
            }
            Shape::Group(list) | Shape::Subshell(list) => self.list(tree, list),
            Shape::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.list(tree, condition);
                    self.list(tree, body);
                }
                if let Some(body) = otherwise {
                    self.list(tree, body);
                }
            }
            Shape::While { condition, body } => {
                self.list(tree, condition);
                self.list(tree, body);
            }
            Shape::For { words, body, .. } => {
                self.raws(tree, words.as_deref().unwrap_or_default());
                self.list(tree, body);
            }
            Shape::ArithmeticFor { head, body, .. } => {
                self.parts(tree, head);
                self.list(tree, body);
            }
            Shape::Case { word, arms } => {
                self.parts(tree, &word.parts);
                for arm in arms {
                    self.raws(tree, &arm.patterns);
                    self.list(tree, &arm.body);
                }
            }
            Shape::Arithmetic(parts, _) => self.parts(tree, parts),
            Shape::Test(words) => self.raws(tree, words),
            Shape::Function { body, .. } | Shape::Coproc { body, .. } => self.command(tree, body),
        }
        for redirect in &command.redirects {
            match &redirect.what {
                Target::Read(raw) | Target::Write(raw) | Target::Both(raw) => {
                    self.target(tree, raw)
                }
                Target::Duplicate(raw) => {
                    let text = tree.of(raw.span);
                    if text != "-"
                        && !text
                            .trim_end_matches('-')
                            .bytes()
                            .all(|byte| byte.is_ascii_digit())
                    {
                        self.target(tree, raw);
                    } else {
                        self.parts(tree, &raw.parts);
                    }
                }
                Target::From(raw) | Target::HereString(raw) => self.parts(tree, &raw.parts),
                Target::Heredoc(id) => {
                    if let Some(heredoc) = tree.heredocs.get(*id) {
                        self.parts(tree, &heredoc.parts);
                    }
                }
            }
        }
    }

    fn target(&mut self, tree: &Tree, raw: &Raw) {
        let text = written(tree, raw.span);
        if !text.starts_with("<(") && !text.starts_with(">(") {
            self.redirects.push((tree.span(raw.span).start, text));
        }
        self.parts(tree, &raw.parts);
    }

    fn raws(&mut self, tree: &Tree, raws: &[Raw]) {
        for raw in raws {
            self.parts(tree, &raw.parts);
        }
    }

    fn parts(&mut self, tree: &Tree, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Double(parts) | Part::Arithmetic(parts, _) | Part::Extended(parts, _) => {
                    self.parts(tree, parts)
                }
                Part::Array(raws) => self.raws(tree, raws),
                Part::Parameter(parameter) => {
                    self.parts(tree, parameter.subscript.as_deref().unwrap_or_default());
                    self.parts(tree, &parameter.operand);
                }
                Part::Command(substitution) => match &substitution.body {
                    Body::Within(list) => self.list(tree, list),
                    Body::Apart(tree) => self.list(tree, &tree.list),
                },
                Part::Text(_) | Part::Escaped(_) | Part::Single(_) | Part::Ansi(_) => {}
            }
        }
    }
}
