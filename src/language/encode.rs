//! Rules as languages over accesses: what a pattern surely matches, and what it may match at most.
//!
//! A command is its words, the program first; a path its components from `/`; a host its scheme, port and labels from
//! the right; a tool its name. A command is spelled plainly here: by the bare name of its program unless the pattern
//! writes a path, its options as they are written. What a pattern asks that is no property of the words (`operands`,
//! `only`, arguments) is a [`Need`]: two rules that need the same need it of the same calls.

use super::dfa::Shape;
use super::written::{Pattern, Written};
use crate::call::access::Mode;
use crate::policy::glob::{Glob, Token};
use crate::policy::patterns::CommandPattern;
use crate::policy::patterns::{self, Anchor, HostName, HostPattern, PathPattern, WordPattern};
use crate::policy::rule::{Condition, Judges, Paths, Rule, Verdict};
use std::collections::BTreeSet;

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
    pub fn chars(&self, out: &mut BTreeSet<char>) {
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
            let first = glob.tokens().first();
            !matches!(first, Some(Token::Char(c)) if *c != '-')
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
        .flat_map(|own| &own.assignments)
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
                side.is.push(host(pattern));
                side.not.extend(own.except.iter().map(host));
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

// --- words

/// A glob; `but` is a character that its wildcards do not take. None where it has too many characters.
fn glob(glob: &Glob, fold: bool, but: Option<char>) -> Option<Shape> {
    let tokens = glob.tokens().iter();
    let free = || Shape::One {
        negated: true,
        chars: but.into_iter().collect(),
    };
    let shape = |token: &Token| {
        Some(match token {
            Token::Char(c) => Shape::One {
                negated: false,
                chars: cases(*c, fold).into_iter().collect(),
            },
            Token::One => free(),
            Token::Star => free().many(),
            Token::Class { negated, ranges } => {
                let mut chars = BTreeSet::new();
                for (from, to) in ranges {
                    for c in *from..=*to {
                        chars.extend(cases(c, fold));
                        if chars.len() > 200 {
                            return None;
                        }
                    }
                }
                if *negated {
                    chars.extend(but);
                }
                Shape::One {
                    negated: *negated,
                    chars: chars.into_iter().collect(),
                }
            }
        })
    };
    Some(Shape::Seq(tokens.map(shape).collect::<Option<_>>()?))
}

fn cases(c: char, fold: bool) -> BTreeSet<char> {
    let mut all = BTreeSet::from([c]);
    if fold {
        all.extend(c.to_lowercase().chain(c.to_uppercase()));
        // Letters that meet the Latin ones only in the other case.
        match c {
            's' | 'S' => all.extend(['ſ']),
            'k' | 'K' => all.extend(['\u{212a}']),
            _ => {}
        }
        all.retain(|other| crate::policy::glob::same_folded(c, *other));
    }
    all
}

fn word(own: &Glob, fold: bool) -> Option<Shape> {
    Some(Shape::Seq(vec![Shape::Break, glob(own, fold, None)?]))
}

// --- commands

fn command(own: &CommandPattern, tightens: bool, exact: bool, sure: bool) -> Option<Shape> {
    let (first, rest) = own.words.split_first()?;
    let WordPattern::Word(first) = first else {
        return None;
    };
    let mut all = vec![Shape::Break, program(first, tightens, sure)?];
    for word in rest {
        match word {
            WordPattern::Any => all.push(Shape::parts()),
            WordPattern::Word(glob) => {
                // Deny and ask look past other options for the option they write.
                if tightens && !sure && glob.tokens().first() == Some(&Token::Char('-')) {
                    all.push(Shape::parts());
                }
                all.push(self::word(glob, false)?);
            }
        }
    }
    if !exact {
        all.push(Shape::parts());
    }
    Some(Shape::Seq(all))
}

fn writes_path(command: &CommandPattern) -> bool {
    match command.words.first() {
        Some(WordPattern::Word(glob)) => glob.tokens().contains(&Token::Char('/')),
        _ => false,
    }
}

fn program(own: &Glob, tightens: bool, sure: bool) -> Option<Shape> {
    if own.tokens().contains(&Token::Char('/')) {
        let paths = patterns::paths(&patterns::spell(own)).ok()?;
        let paths = paths.iter().map(|path| program_path(path, tightens));
        return Some(Shape::Any(paths.collect::<Option<_>>()?));
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

// --- paths

fn components_of(folder: &[String]) -> Shape {
    let components = folder.iter();
    Shape::Seq(
        components
            .flat_map(|name| [Shape::Break, Shape::text(name)])
            .collect(),
    )
}

fn path(
    own: &PathPattern,
    tightens: bool,
    exact: bool,
    sure: bool,
    folders: &Folders,
) -> Option<Shape> {
    let mut components = own.components.as_slice();
    // What a pattern covers goes on below it: `**` at its end says nothing more.
    if let ([rest @ .., WordPattern::Any], false) = (components, exact || own.directory) {
        components = rest;
    }
    let mut body = Vec::new();
    for component in components {
        body.push(match component {
            WordPattern::Any => Shape::parts(),
            WordPattern::Word(glob) => word(glob, tightens)?,
        });
    }
    let below = Shape::Seq(vec![Shape::Break, Shape::char().many(), Shape::parts()]);
    body.push(match (exact, own.directory, sure) {
        (false, false, _) | (false, true, false) => Shape::parts(),
        (false, true, true) => below,
        (true, true, true) => Shape::Any(Vec::new()),
        (true, _, _) => Shape::Seq(Vec::new()),
    });
    let body = Shape::Seq(body);
    let from = |folder: &Vec<String>, between: Option<Shape>| {
        let mut all = vec![components_of(folder)];
        all.extend(between);
        all.push(body.clone());
        Shape::Seq(all)
    };
    let roots = folders.roots.iter();
    Some(match own.anchor {
        Anchor::Absolute => body,
        Anchor::Home => from(&folders.home, None),
        Anchor::Root => Shape::Any(roots.map(|root| from(root, None)).collect()),
        Anchor::Name => {
            let inside: Vec<Shape> = roots.map(|root| from(root, Some(Shape::parts()))).collect();
            let anywhere = Shape::Seq(vec![Shape::parts(), body.clone()]);
            // A name outside the roots counts for what tightens; one in the way to a root does not count inside it.
            let in_the_way = folders.roots.iter().flatten().any(|name| match components {
                [WordPattern::Word(glob), ..] => glob.matches_text(name, tightens),
                _ => true,
            });
            match (tightens, sure && in_the_way) {
                (true, false) => anywhere,
                _ => Shape::Any(inside),
            }
        }
    })
}

/// What an allow of a pattern takes below the roots, itself and not what lies below it.
pub fn name(own: &PathPattern, folders: &Folders) -> Option<Shape> {
    path(own, false, true, false, folders)
}

/// A path as it is compared: no empty component, no `.` or `..`.
pub fn plain_path() -> Shape {
    let but = |chars: &[char]| Shape::One {
        negated: true,
        chars: chars.to_vec(),
    };
    let name = Shape::Any(vec![
        Shape::Seq(vec![but(&['.', '/']), but(&['/']).many()]),
        Shape::Seq(vec![Shape::text("."), but(&['.', '/']), but(&['/']).many()]),
        Shape::Seq(vec![Shape::text(".."), but(&['/']), but(&['/']).many()]),
    ]);
    Shape::Seq(vec![Shape::Break, name]).many()
}

// --- hosts and tools

fn host(own: &HostPattern) -> Shape {
    let or_any = |text: Option<String>| match text {
        Some(text) => Shape::text(&text),
        None => Shape::char().many(),
    };
    let mut all = vec![
        Shape::Break,
        or_any(own.scheme.clone()),
        Shape::Break,
        or_any(own.port.map(|port| port.to_string())),
    ];
    match &own.host {
        HostName::Any => all.push(Shape::parts()),
        HostName::Exact(name) => all.push(labels(name)),
        HostName::Below(name) => all.extend([
            labels(name),
            Shape::Break,
            Shape::char().many(),
            Shape::parts(),
        ]),
    }
    Shape::Seq(all)
}

/// The labels of a name from the right; an address is one.
fn labels(name: &str) -> Shape {
    let parts: Vec<&str> = match is_address(name) {
        true => vec![name],
        false => name.rsplit('.').collect(),
    };
    Shape::Seq(
        parts
            .into_iter()
            .flat_map(|label| [Shape::Break, Shape::text(label)])
            .collect(),
    )
}

/// Whether a canonical host is an address.
pub fn is_address(name: &str) -> bool {
    name.starts_with('[') || name.parse::<std::net::Ipv4Addr>().is_ok()
}

/// A host that can be written out: with a scheme and port that the policy names, or as usual.
pub fn plain_host<'h>(patterns: impl Iterator<Item = &'h HostPattern>) -> Shape {
    let mut schemes = BTreeSet::from(["https".to_owned()]);
    let mut ports = BTreeSet::from(["443".to_owned()]);
    for pattern in patterns {
        schemes.extend(pattern.scheme.clone());
        ports.extend(pattern.port.map(|port| port.to_string()));
    }
    let texts =
        |all: BTreeSet<String>| Shape::Any(all.iter().map(|own| Shape::text(own)).collect());
    let letter = Shape::One {
        negated: false,
        chars: ('0'..='9').chain('a'..='z').collect(),
    };
    let more = Shape::One {
        negated: false,
        chars: ['-']
            .into_iter()
            .chain('0'..='9')
            .chain('a'..='z')
            .collect(),
    };
    let label = Shape::Seq(vec![Shape::Break, letter.clone(), more.many()]);
    let address = Shape::Seq(vec![
        Shape::Break,
        Shape::One {
            negated: false,
            chars: ['.', '[', ']', ':']
                .into_iter()
                .chain('0'..='9')
                .chain('a'..='f')
                .collect::<BTreeSet<char>>()
                .into_iter()
                .collect(),
        }
        .many(),
    ]);
    Shape::Seq(vec![
        Shape::Break,
        texts(schemes),
        Shape::Break,
        texts(ports),
        Shape::Any(vec![Shape::Seq(vec![label.clone(), label.many()]), address]),
    ])
}

/// The names that a pattern of tools takes.
pub fn tool(name: &Glob) -> Option<Shape> {
    word(name, false)
}

/// A tool's name.
pub fn plain_tool() -> Shape {
    let one = Shape::One {
        negated: true,
        chars: vec![' ', ','],
    };
    Shape::Seq(vec![Shape::Break, one.clone(), one.many()])
}
