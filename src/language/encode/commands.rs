//! A command pattern → the words that it takes.

use super::super::shape::Shape;
use super::globs::{glob, word};
use crate::policy::glob::Glob;
use crate::policy::patterns::{Anchor, CommandPattern, PathPattern, WordPattern};

/// The words that a pattern takes.
pub fn command(own: &CommandPattern, tightens: bool, exact: bool, sure: bool) -> Option<Shape> {
    let (first, rest) = own.words.split_first()?;
    let WordPattern::Word(first) = first else {
        return None;
    };
    let mut all = vec![Shape::Break, program(first, own.path(), tightens, sure)?];
    for part in rest {
        match part {
            WordPattern::Any => all.push(Shape::parts()),
            WordPattern::Word(glob) => {
                // Deny and ask look past other options for the option they write.
                if tightens && !sure && glob.begins("-") {
                    all.push(Shape::parts());
                }
                all.push(word(glob, false)?);
            }
        }
    }
    if !exact {
        all.push(Shape::parts());
    }
    Some(Shape::Seq(all))
}

/// Whether a pattern writes its program as a path.
pub fn writes_path(command: &CommandPattern) -> bool {
    match command.words.first() {
        Some(WordPattern::Word(glob)) => glob.holds('/'),
        _ => false,
    }
}

fn program(own: &Glob, path: &[PathPattern], tightens: bool, sure: bool) -> Option<Shape> {
    if own.holds('/') {
        let paths = path.iter().map(|path| program_path(path, tightens));
        let paths: Vec<Shape> = paths.collect::<Option<_>>()?;
        return (!paths.is_empty()).then_some(Shape::Any(paths));
    }
    let name = glob(own, false, Some('/'))?;
    if !tightens {
        return Some(if own.is_star() {
            Shape::char().many()
        } else {
            name
        });
    }
    let folders = Shape::Seq(vec![Shape::char().many(), Shape::text("/")]).optional();
    Some(Shape::Seq(vec![folders, name, version(own, sure)]))
}

/// A program as its pattern writes it, `./` before what is relative.
fn program_path(path: &PathPattern, fold: bool) -> Option<Shape> {
    let start = match path.anchor {
        Anchor::Root | Anchor::Name => "./",
        Anchor::Home => "~/",
        Anchor::Absolute => "/",
    };
    let mut all = vec![Shape::text(start)];
    let mut components = path.components.iter().peekable();
    while let Some(component) = components.next() {
        match component {
            WordPattern::Any => all.push(Shape::char().many()),
            WordPattern::Word(own) => {
                all.push(glob(own, fold, Some('/'))?);
                if components.peek().is_some() {
                    all.push(Shape::text("/"));
                }
            }
        }
    }
    Some(Shape::Seq(all))
}

/// `python3.12` is `python3` and `python` to what denies or asks.
fn version(name: &Glob, sure: bool) -> Shape {
    let none = Shape::Seq(Vec::new());
    // In plain spelling it goes by the name of the pattern.
    let last = match name.as_literal().filter(|_| sure) {
        Some(text) => text.chars().last(),
        None => return none,
    };
    let marks = Shape::One {
        negated: false,
        chars: vec!['-', '.'],
    };
    let digit = Shape::One {
        negated: false,
        chars: ('0'..='9').collect(),
    };
    let digits = Shape::Seq(vec![digit.clone(), digit.many()]);
    let more = Shape::Seq(vec![marks.clone().many(), digits.clone()]).many();
    match last {
        Some('.' | '-') => none,
        Some('0'..='9') => Shape::Seq(vec![marks.clone(), marks.many(), digits, more]).optional(),
        _ => more,
    }
}

/// A command in its plain spelling.
pub fn plain_command(by_path: bool) -> Shape {
    let one = Shape::One {
        negated: true,
        chars: if by_path { Vec::new() } else { vec!['/'] },
    };
    let word = vec![Shape::Break, Shape::char(), Shape::char().many()];
    Shape::Seq(vec![
        Shape::Break,
        one.clone(),
        one.many(),
        Shape::Seq(word).many(),
    ])
}
