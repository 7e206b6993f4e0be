//! A word back to a call: one that a person could make, in a workspace and a home that no pattern is likely to name.

use super::encode::{self, Folders, Need, Space, is_address, unpadded};
use super::rules::invariants;
use super::shape::{BREAK, Shape};
use super::situation::Facts;
use crate::call::access::{Access, Cover, Kind, Mode, PathAccess, Reach, Touches};
use crate::call::files::FileView;
use crate::call::tools::{Argument, Holds, ToolDecl};
use crate::call::word::Word;
use crate::call::{Call, Said};
use crate::decision;
use crate::matcher::Matcher;
use crate::policy::glob::{Glob, Token};
use crate::policy::patterns::{Anchor, HostPattern, PathPattern, WordPattern};
use crate::policy::rule::{Condition, Judges, Test};
use crate::source::Span;
use serde_json::{Map, Value, json};

/// A call that shows what is said, confirmed by the real matcher.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The call.
    pub call: Call,
    /// In a few words: `git push -f`, `write src/x`, `fetch https://docs.rs/`.
    pub shown: String,
}

impl Witness {
    /// The call as `acl decide` reads it.
    pub fn json(&self) -> Value {
        let args = self.call.args.object().cloned().unwrap_or_default();
        let mut out = json!({"tool": self.call.tool, "args": args});
        let more = [("cwd", &self.call.cwd), ("home", &self.call.home)];
        if let Some(out) = out.as_object_mut() {
            for (key, value) in more {
                out.extend(value.iter().map(|own| (key.to_owned(), json!(own))));
            }
            if !self.call.facts.is_empty() {
                out.insert("facts".into(), json!(self.call.facts));
            }
            if !self.call.verdicts.is_empty() {
                let verdicts = self.call.verdicts.iter();
                let verdicts = verdicts.map(|(name, said)| (name.clone(), json!(said.name())));
                out.insert("verdicts".into(), Value::Object(verdicts.collect()));
            }
        }
        out
    }
}

impl Witness {
    /// The call while authorities are silent, while all abstain, and while the first of them endorses it.
    pub fn heard<'s>(self, sources: impl Iterator<Item = &'s str>) -> Vec<Self> {
        let sources: Vec<&str> = sources.collect();
        let mut out = vec![self];
        for first in [Said::Abstain, Said::Allow] {
            let said = sources.iter().enumerate().map(|(at, name)| {
                let said = if at == 0 { first } else { Said::Abstain };
                ((*name).to_owned(), said)
            });
            let heard = out
                .first()
                .filter(|own| own.call.verdicts.is_empty())
                .cloned();
            if let Some(mut heard) = heard.filter(|_| !sources.is_empty()) {
                heard.call.verdicts = said.collect();
                out.push(heard);
            }
        }
        out
    }

    /// The call, and with each other value that its arguments are asked to have.
    pub fn with_each(self, needs: &[Need<'_>]) -> Vec<Self> {
        let mut out = vec![self];
        for need in needs {
            let Need::Argument(condition) = need else {
                continue;
            };
            let Some(first) = out.first() else { break };
            let args = first.call.args.object().cloned().unwrap_or_default();
            let others = values(condition).skip(1).take(8).map(|value| {
                let mut args = args.clone();
                set(&mut args, &condition.path.join("."), value);
                let mut other = first.clone();
                other.call.args = Call::new("", Value::Object(args)).args;
                other
            });
            let others: Vec<Self> = others.collect();
            out.extend(others);
        }
        out
    }
}

impl std::fmt::Display for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)?;
        for (at, (name, value)) in self.call.facts.iter().enumerate() {
            let before = if at == 0 { " where " } else { ", " };
            write!(f, "{before}{name} = {value}")?;
        }
        for (name, said) in &self.call.verdicts {
            write!(f, ", source `{name}` says {}", said.name())?;
        }
        Ok(())
    }
}

/// Where witnesses are set.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The folder of the call.
    pub cwd: String,
    /// The home folder.
    pub home: String,
    /// The same by components, with the roots of the policy.
    pub folders: Folders,
    /// The hosts that can be written out.
    pub hosts: Shape,
}

impl Scene {
    /// Of all the policies at once, so that their words can be compared.
    pub fn of(matchers: &[&Matcher]) -> Self {
        let mut named: Vec<Glob> = Vec::new();
        for matcher in matchers {
            for path in paths(matcher) {
                if let (Anchor::Absolute, Some(WordPattern::Word(first))) =
                    (path.anchor, path.components.first())
                {
                    named.push(first.clone());
                }
            }
        }
        let is_named = |folder: &str| {
            let first = folder.split('/').nth(1).unwrap_or_default();
            let mut named = named.iter();
            named.any(|own| !own.is_star() && own.matches_text(first, true))
        };
        let free = |folders: &[&str]| {
            let found = folders.iter().find(|folder| !is_named(folder));
            (*found.or(folders.last()).unwrap_or(&"")).to_owned()
        };
        let workspace = free(&["/workspace", "/repository", "/checkout", "/w"]);
        let home = free(&["/home/user", "/Users/user", "/people/user", "/u/user"]);
        let mut call = Call {
            cwd: Some(workspace.clone()),
            home: Some(home.clone()),
            ..Call::default()
        };
        let access = Access {
            kind: Kind::Path(Box::new(PathAccess {
                mode: Mode::Read,
                path: Word::known("x", Span::default()),
                cwd: None,
                reach: Reach::Itself,
                cover: Cover::Tool,
                touches: Touches::Surely,
                like: None,
            })),
            ..Access::of_tool()
        };
        let split = |folder: &str| -> Vec<String> {
            let parts = folder.split('/').filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        };
        let mut roots = Vec::new();
        for matcher in matchers {
            let frame = decision::frame(
                matcher,
                &call,
                &FileView::None,
                std::slice::from_ref(&access),
            );
            let own: Vec<String> = frame.roots.into_iter().map(|root| root.lexical).collect();
            if !own.contains(&workspace) {
                call.cwd = own.first().cloned().or(call.cwd);
            }
            roots.extend(own);
        }
        Self {
            folders: Folders {
                roots: roots.iter().map(|root| split(root)).collect(),
                home: split(&home),
            },
            cwd: call.cwd.unwrap_or_default(),
            home,
            hosts: encode::plain_host(matchers.iter().flat_map(|own| hosts(own))),
        }
    }

    /// The call of a tool that does what a word says.
    pub fn call(
        &self,
        matcher: &Matcher,
        space: Space,
        word: &str,
        tool: &str,
        facts: &Facts,
        needs: &[Need<'_>],
    ) -> Option<Witness> {
        let parts: Vec<&str> = word.split(BREAK).skip(1).collect();
        let name = match space {
            Space::Tool => *parts.first()?,
            _ => tool,
        };
        let (given, shown) = match space {
            Space::Tool => (String::new(), name.to_owned()),
            Space::Commands => {
                let line = line(&parts, needs);
                (line.clone(), line)
            }
            Space::Paths(mode) => {
                let path = self.path(&parts);
                let verb = if mode == Mode::Read { "read" } else { "write" };
                (path.clone(), format!("{verb} {path}"))
            }
            Space::Hosts => {
                let url = url(&parts)?;
                (url.clone(), format!("fetch {url}"))
            }
        };
        let mut args = Map::new();
        if let Some(declared) = matcher.declaration(name) {
            let own = argument(declared, space);
            for argument in &declared.arguments {
                let is_own = own.is_some_and(|own| std::ptr::eq(own, argument));
                let alone = space == Space::Tool && args.is_empty();
                if is_own || alone || (!argument.optional && argument.default.is_none()) {
                    let text = if is_own {
                        given.as_str()
                    } else {
                        stand_in(argument.holds)
                    };
                    let value = match (argument.holds, is_own) {
                        (Holds::Argv, true) => json!(parts),
                        (Holds::Argv, false) => json!([text]),
                        _ => json!(text),
                    };
                    set(&mut args, &argument.path, value);
                }
            }
        }
        for need in needs {
            if let Need::Argument(condition) = need {
                let (path, value) = sample(condition)?;
                set(&mut args, &path, value);
            }
        }
        let shown = told(&shown, name, &args, &given);
        let call = Call {
            cwd: Some(self.cwd.clone()),
            home: Some(self.home.clone()),
            facts: facts.clone(),
            ..Call::new(name, Value::Object(args))
        };
        Some(Witness { call, shown })
    }

    /// The call of a shell with a line.
    pub fn line(
        &self,
        matcher: &Matcher,
        line: &str,
        tool: &str,
        facts: &Facts,
    ) -> Option<Witness> {
        let declared = matcher.declaration(tool)?;
        let own = declared
            .arguments
            .iter()
            .find(|own| own.holds == Holds::Shell)?;
        let mut args = Map::new();
        set(&mut args, &own.path, json!(line));
        Some(Witness {
            call: Call {
                cwd: Some(self.cwd.clone()),
                home: Some(self.home.clone()),
                facts: facts.clone(),
                ..Call::new(tool, Value::Object(args))
            },
            shown: line.to_owned(),
        })
    }

    /// Lines that do to a path or a host what a word says, each with its shell; `starts` are commands that may do it too.
    pub fn lines(
        &self,
        shells: impl Iterator<Item = String>,
        space: Space,
        word: &str,
        starts: &[String],
    ) -> Vec<(String, String)> {
        let usual = match space {
            Space::Paths(Mode::Read) => "cat",
            Space::Paths(Mode::Write) => "touch",
            _ => "curl",
        };
        let Some(what) = self.named(space, word).map(|own| quoted(&own)) else {
            return Vec::new();
        };
        let starts = std::iter::once(usual).chain(starts.iter().map(String::as_str));
        let lines: Vec<String> = starts.map(|own| format!("{own} {what}")).collect();
        shells
            .take(2)
            .flat_map(|shell| lines.iter().map(move |line| (shell.clone(), line.clone())))
            .collect()
    }

    /// The path or the URL that a word names.
    pub fn named(&self, space: Space, word: &str) -> Option<String> {
        let parts: Vec<&str> = word.split(BREAK).skip(1).collect();
        match space {
            Space::Paths(_) => Some(self.path(&parts)),
            Space::Hosts => url(&parts),
            Space::Tool | Space::Commands => None,
        }
    }

    fn path(&self, parts: &[&str]) -> String {
        let whole = format!("/{}", parts.join("/"));
        let inside = whole.strip_prefix(self.cwd.as_str());
        match inside.and_then(|rest| rest.strip_prefix('/')) {
            Some(rest) => rest.to_owned(),
            None => whole,
        }
    }
}

/// A call in a few words: its tool where these do not tell it, and the arguments that they do not name.
fn told(shown: &str, tool: &str, args: &Map<String, Value>, given: &str) -> String {
    let mut told = shown.to_owned();
    let usual = crate::call::tools::names().any(|own| own == tool);
    if !usual && shown != tool {
        told += &format!(" by `{tool}`");
    }
    let more = args
        .iter()
        .filter(|(_, value)| value.as_str() != Some(given));
    let more: Map<String, Value> = more
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !more.is_empty() && !more.values().any(Value::is_array) {
        told += &format!(" with {}", Value::Object(more));
    }
    told
}

/// All host patterns of a policy.
fn hosts(matcher: &Matcher) -> impl Iterator<Item = &HostPattern> {
    let rules = matcher.rules.iter().map(|own| &own.rule);
    let never = invariants(matcher).map(|own| &own.never);
    let all = rules.chain(never).filter_map(|rule| match &rule.judges {
        Judges::Hosts(own) => Some(own.patterns.iter().chain(&own.except)),
        _ => None,
    });
    all.flatten()
}

/// All path patterns of a policy.
fn paths(matcher: &Matcher) -> impl Iterator<Item = &PathPattern> {
    let rules = matcher
        .rules
        .iter()
        .filter_map(|own| match &own.rule.judges {
            Judges::Paths(paths) => Some(&**paths),
            _ => None,
        });
    let protected = matcher.protected.iter().map(|set| &set.paths);
    let all = rules.chain(protected);
    all.flat_map(|paths| paths.patterns.iter().chain(&paths.except))
}

/// The argument of a tool by which it makes such an access.
pub fn argument(tool: &ToolDecl, space: Space) -> Option<&Argument> {
    tool.arguments.iter().find(|argument| {
        matches!(
            (space, argument.holds),
            (Space::Commands, Holds::Shell | Holds::Argv)
                | (Space::Paths(Mode::Read), Holds::Read)
                | (Space::Paths(Mode::Write), Holds::Write)
                | (Space::Hosts, Holds::Url)
        )
    })
}

const fn stand_in(holds: Holds) -> &'static str {
    match holds {
        Holds::Read | Holds::Write => "x",
        Holds::Shell | Holds::Argv => "true",
        Holds::Url => "https://example.org/",
        Holds::Patch => "*** Begin Patch\n*** Add File: x\n+x\n*** End Patch",
    }
}

fn set(args: &mut Map<String, Value>, path: &str, value: Value) {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let name = first.trim_end_matches("[]");
    let value = match rest {
        None => value,
        Some(rest) => {
            let mut inner = Map::new();
            set(&mut inner, rest, value);
            Value::Object(inner)
        }
    };
    let value = if first.ends_with("[]") {
        json!([value])
    } else {
        value
    };
    args.insert(name.to_owned(), value);
}

/// A value that passes a condition on an argument.
fn sample(condition: &Condition) -> Option<(String, Value)> {
    Some((condition.path.join("."), values(condition).next()?))
}

/// The values that it asks for, one of each kind.
fn values(condition: &Condition) -> impl Iterator<Item = Value> {
    condition.any.iter().flat_map(|test| match test {
        Test::Bool(own) => vec![json!(own)],
        Test::Number(own) if own.fract() == 0.0 => vec![json!(*own as i64)],
        Test::Number(own) => vec![json!(own)],
        Test::Text(globs) => globs.iter().map(|glob| json!(text_of(glob))).collect(),
    })
}

/// A text that a glob takes.
pub fn text_of(glob: &Glob) -> String {
    let tokens = glob.tokens();
    tokens
        .iter()
        .map(|token| match token {
            Token::Char(c) => *c,
            Token::One | Token::Star => 'x',
            Token::Class { negated, ranges } => match ranges.first() {
                Some((from, _)) if !negated => *from,
                _ => 'x',
            },
        })
        .collect()
}

fn line(parts: &[&str], needs: &[Need<'_>]) -> String {
    let mut words = Vec::new();
    for need in needs {
        if let Need::Assigned(name, value) = need {
            words.push(format!("{name}={}", quoted(&text_of(value))));
        }
    }
    words.extend(parts.iter().enumerate().map(|(at, word)| match at {
        0 if word.starts_with("~/") => (*word).to_owned(),
        0 if word.contains('=') => format!("'{word}'"),
        _ => quoted(word),
    }));
    for need in needs {
        if let Need::Operands([first, ..]) = need {
            words.push(operand(first));
        }
    }
    words.join(" ")
}

/// A path that a pattern takes, as one would type it in a root.
fn operand(pattern: &PathPattern) -> String {
    let components = pattern.components.iter();
    let names: Vec<String> = components
        .map(|component| match component {
            WordPattern::Any => "x".to_owned(),
            WordPattern::Word(glob) => quoted(&text_of(glob)),
        })
        .collect();
    let start = match pattern.anchor {
        Anchor::Absolute => "/",
        Anchor::Home => "~/",
        Anchor::Root | Anchor::Name => "",
    };
    format!("{start}{}", names.join("/"))
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn url(parts: &[&str]) -> Option<String> {
    let [scheme, port, labels @ ..] = parts else {
        return None;
    };
    let mut labels = labels.to_vec();
    labels.reverse();
    let host = labels.join(".");
    // Digits in the place of a name would be read as an address.
    let numeric = labels
        .last()
        .is_some_and(|last| last.starts_with(|c: char| c.is_ascii_digit()));
    if numeric && !is_address(&host) {
        return None;
    }
    let scheme = match unpadded(scheme) {
        "" => String::new(),
        scheme => format!("{scheme}://"),
    };
    let port = match (scheme.as_str(), unpadded(port)) {
        (_, "") | ("https://", "443") | ("http://", "80") => String::new(),
        (_, port) => format!(":{port}"),
    };
    let end = if scheme.is_empty() { "" } else { "/" };
    Some(format!("{scheme}{host}{port}{end}"))
}
