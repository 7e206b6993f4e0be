//! Rules as languages over accesses: what a pattern surely matches, and what it may match at most.
//!
//! A command is its words, the program first; a path its components from `/`; a host its scheme, port and labels from
//! the right; a tool its name. A command is spelled plainly here: by the bare name of its program unless the pattern
//! writes a path, its options as they are written. What a pattern asks that is no property of the words (`operands`,
//! `only`, arguments) is a [`Need`]: two rules that need the same need it of the same calls.

mod commands;
mod globs;
mod hosts;
mod paths;

pub use commands::plain_command;
pub use hosts::{is_address, plain_host, plain_tool, tool, unpadded};
pub use paths::{name, plain_path};

use super::shape::{Chars, Shape};
use super::written::{Pattern, Written};
use crate::call::access::Mode;
use crate::policy::glob::{Glob, Token};
use crate::policy::patterns::CommandPattern;
use crate::policy::patterns::{Anchor, PathPattern, WordPattern};
use crate::policy::rule::{Condition, Judges, Paths, Rule, Verdict};
use commands::{command, writes_path};
use globs::{glob, word};
use hosts::host;
use paths::{components_of, path};

/// What kind of access it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The tool as such.
    Tool,
    /// A command.
    Commands,
    /// A path that is read or written.
    Paths(Mode),
    /// A host.
    Hosts,
}

/// The folders that paths are relative to, by their components.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// The workspace roots.
    pub roots: Vec<Vec<String>>,
    /// The home folder.
    pub home: Vec<String>,
}

/// What a rule asks for besides what its patterns say of the words.
#[derive(Clone, Debug, PartialEq)]
pub enum Need<'m> {
    /// One of these words is present.
    With(&'m [Glob]),
    /// None of these words is.
    Without(&'m [Glob]),
    /// The operands.
    Operands(&'m [PathPattern]),
    /// All is reading.
    OnlyRead,
    /// An assignment before the program.
    Assigned(&'m str, &'m Glob),
    /// An argument of the tool.
    Argument(&'m Condition),
}

/// One side of a rule's language: in the first, in none of the others.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    /// In all of these.
    pub is: Vec<Shape>,
    /// In none of these.
    pub not: Vec<Shape>,
}

/// What one pattern of a rule takes. Patterns stay apart: an automaton of many with `**` explodes.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// At most.
    pub over: Shapes,
    /// At least, where all that the rule needs is given.
    pub under: Shapes,
    /// Its program is written as a path.
    pub by_path: bool,
}

impl Shapes {
    /// The characters that are told apart.
    pub fn chars(&self, out: &mut Chars) {
        let all = self.is.iter().chain(&self.not);
        all.for_each(|shape| shape.chars(out));
    }
}

impl Need<'_> {
    /// Whether it surely holds wherever all of some others hold.
    pub fn follows(&self, given: &[Need<'_>]) -> bool {
        let some_of = |few: &[Glob], many: &[Glob]| {
            let mut few = few.iter();
            few.all(|glob| many.iter().any(|other| other.covers(glob)))
        };
        given.iter().any(|given| match (self, given) {
            (Self::With(own), Need::With(other)) => some_of(other, own),
            (Self::Without(own), Need::Without(other)) => some_of(own, other),
            (Self::Operands(own), Need::Operands(other)) => {
                let within = |path: &PathPattern| own.iter().any(|wide| operand(wide, path));
                other.iter().all(within)
            }
            (own, other) => own == other,
        })
    }

    /// What it asks of the words, as far as these tell: surely enough, or surely too much where it is a `without`.
    pub fn shape(&self, strict: bool) -> Option<Shape> {
        let globs = match self {
            Self::With(globs) | Self::Without(globs) => globs,
            _ => return None,
        };
        let mut words: Option<Vec<Shape>> =
            globs.iter().map(|own| glob(own, false, None)).collect();
        let option = |glob: &Glob| {
            let first = glob.tokens().first().and_then(Token::char);
            first.is_none_or(|c| c == '-')
        };
        if !strict && globs.iter().any(option) {
            // An option has other spellings: `-rf`, `--force`.
            words
                .get_or_insert_default()
                .push(Shape::Seq(vec![Shape::text("-"), Shape::char().many()]));
        }
        Some(Shape::Seq(vec![
            Shape::Break,
            Shape::char().many(),
            Shape::parts(),
            Shape::Break,
            Shape::Any(words?),
            Shape::Any(vec![
                Shape::Seq(Vec::new()),
                Shape::Seq(vec![Shape::Break, Shape::char().many(), Shape::parts()]),
            ]),
        ]))
    }
}

/// Whether one operand pattern is the other, or a folder above it.
fn operand(wide: &PathPattern, narrow: &PathPattern) -> bool {
    let all = wide.components.strip_suffix(&[WordPattern::Any]);
    let wide_all = all.unwrap_or(&wide.components);
    wide.anchor == narrow.anchor
        && (!wide.directory || narrow.directory)
        && (wide.components == narrow.components
            || (wide.anchor != Anchor::Name && narrow.components.starts_with(wide_all)))
}

/// The kinds of access that a rule judges as such.
pub fn spaces(rule: &Rule) -> Vec<Space> {
    match &rule.judges {
        Judges::Tool => vec![Space::Tool],
        Judges::Commands(_) => vec![Space::Commands],
        Judges::Paths(own) => own.modes.iter().map(|mode| Space::Paths(*mode)).collect(),
        Judges::Hosts(_) => vec![Space::Hosts],
        Judges::Rest(_) => Vec::new(),
    }
}

/// Whether a rule judges such an access as such, or as any other of a tool.
pub fn reaches(rule: &Rule, space: Space) -> bool {
    match (&rule.judges, space) {
        (Judges::Tool, _)
        | (Judges::Commands(_), Space::Commands)
        | (Judges::Hosts(_), Space::Hosts) => true,
        (Judges::Paths(own), Space::Paths(mode)) => own.modes.contains(&mode),
        _ => false,
    }
}

/// What a rule needs besides.
pub fn needs<'m>(rule: &'m Rule, written: &Written<'m>) -> Vec<Need<'m>> {
    let mut needs: Vec<Need<'m>> = rule.args.iter().map(Need::Argument).collect();
    let Judges::Commands(own) = &rule.judges else {
        return needs;
    };
    // The same text has the same assignments in all its alternatives.
    let commands = commands_of(written);
    for (name, value) in commands
        .first()
        .into_iter()
        .flat_map(|own| own.assignments())
    {
        needs.push(Need::Assigned(name, value));
    }
    needs.extend(own.with.iter().map(|globs| Need::With(globs)));
    needs.extend(own.without.iter().map(|globs| Need::Without(globs)));
    if !own.operands.is_empty() {
        needs.push(Need::Operands(&own.operands));
    }
    if own.only_read {
        needs.push(Need::OnlyRead);
    }
    needs
}

/// What a pattern of a rule takes; none where that cannot be said.
pub fn encode(
    rule: &Rule,
    pattern: &Pattern<'_>,
    needs: &[Need<'_>],
    folders: &Folders,
) -> Option<Encoded> {
    let tightens = rule.action != Verdict::Allow;
    let mut by_path = false;
    let mut sides = [Shapes::default(), Shapes::default()];
    for (side, sure) in sides.iter_mut().zip([false, true]) {
        match (&rule.judges, pattern) {
            (Judges::Tool, Pattern::Tool(name)) => side.is.push(word(name, false)?),
            (Judges::Commands(own), Pattern::Command(pattern)) => {
                by_path = writes_path(pattern);
                side.is.push(command(pattern, tightens, own.exact, sure)?);
                for except in &own.except {
                    // What is carved out of an allow is kept as a deny would keep it, and the other way round.
                    side.not.push(command(except, !tightens, false, !sure)?);
                }
                for need in needs.iter().filter(|_| !sure) {
                    match need {
                        Need::With(_) => side.is.extend(need.shape(false)),
                        Need::Without(_) => side.not.extend(need.shape(true)),
                        _ => {}
                    }
                }
            }
            (Judges::Paths(own), Pattern::Path(pattern)) => {
                side.is
                    .push(path(pattern, tightens, own.exact, sure, folders)?);
                side.not = excepted(own, sure, folders)?;
            }
            (Judges::Hosts(own), Pattern::Host(pattern)) => {
                side.is.push(host(pattern, sure));
                side.not
                    .extend(own.except.iter().map(|own| host(own, !sure)));
            }
            _ => return None,
        }
    }
    let [over, under] = sides;
    Some(Encoded {
        over,
        under,
        by_path,
    })
}

/// What protected files take at least.
pub fn protected(paths: &Paths, folders: &Folders) -> Vec<Shapes> {
    let Some(not) = excepted(paths, true, folders) else {
        return Vec::new();
    };
    let patterns = paths.patterns.iter();
    let shape = |own| path(own, true, paths.exact, true, folders);
    let shapes = |is| Shapes {
        is: vec![is],
        not: not.clone(),
    };
    patterns.filter_map(shape).map(shapes).collect()
}

/// What lies in a root.
pub fn inside(folders: &Folders) -> Shape {
    let roots = folders.roots.iter();
    let below = |root: &Vec<String>| Shape::Seq(vec![components_of(root), Shape::parts()]);
    Shape::Any(roots.map(below).collect())
}

fn excepted(paths: &Paths, sure: bool, folders: &Folders) -> Option<Vec<Shape>> {
    let except = paths.except.iter();
    // Exceptions fold letter case whatever the rule does.
    except
        .map(|own| path(own, true, false, !sure, folders))
        .collect()
}

/// The command patterns of a text.
pub fn commands_of<'m>(written: &Written<'m>) -> Vec<&'m CommandPattern> {
    let patterns = written.patterns.iter();
    let command = |pattern: &Pattern<'m>| match pattern {
        Pattern::Command(command) => Some(*command),
        _ => None,
    };
    patterns.filter_map(command).collect()
}
