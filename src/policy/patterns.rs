//! What a rule judges, as written: command, path and host patterns, parsed but not compiled.
//!
//! In: the text of one list entry. Out: one pattern for each brace alternative, or what is wrong with it.
//! Matching is `matcher/`'s; nothing here looks at a call.

use super::glob::{self, Glob, Token};
use super::kept;
use crate::call::path;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// A command pattern: program, then leading words. A policy has thousands, so what few have takes no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPattern {
    /// As written.
    pub text: Arc<str>,
    /// Program first; empty only where the text could not be read: that may be any command.
    pub words: Words,
    /// What few have.
    pub(super) more: Option<Box<More>>,
}

/// The words of a pattern: seldom more than two.
pub type Words = SmallVec<[WordPattern; 2]>;

/// Of a command pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct More {
    assignments: Vec<(String, Glob)>,
    path: Vec<PathPattern>,
}

impl CommandPattern {
    fn new(text: Arc<str>, assignments: &[(String, Glob)], words: Words) -> Self {
        let path = program_path(&words);
        let more = (!assignments.is_empty() || !path.is_empty()).then(|| {
            let assignments = assignments.to_vec();
            Box::new(More { assignments, path })
        });
        Self { text, words, more }
    }

    /// One whose text nobody can read: it has no words.
    pub(super) fn unread(text: &str) -> Self {
        Self::new(text.into(), &[], Words::new())
    }

    /// The program that it names, without its folder; none where it is a glob.
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.literal().map(path::last)
    }

    /// Leading assignments: variable and value.
    pub fn assignments(&self) -> &[(String, Glob)] {
        self.more.as_ref().map_or(&[], |more| &more.assignments)
    }

    /// Where the program is written as a path, that path; empty too where it is none that can be.
    pub fn path(&self) -> &[PathPattern] {
        self.more.as_ref().map_or(&[], |more| &more.path)
    }

    /// Its first words alone.
    #[must_use]
    pub fn shortened(mut self, words: usize) -> Self {
        self.words.truncate(words);
        self
    }
}

/// One word of a command pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WordPattern {
    /// One word.
    Word(Glob),
    /// `**`: any number of words.
    Any,
}

impl WordPattern {
    /// The word, where it is written out.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Word(glob) => glob.as_literal(),
            Self::Any => None,
        }
    }
}

/// Where a path pattern starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Anchor {
    /// No slash: that name at any depth.
    Name,
    /// From the workspace roots.
    Root,
    /// From `/`.
    Absolute,
    /// From the home folder.
    Home,
}

/// A path pattern, gitignore-like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPattern {
    /// As written.
    #[serde(with = "kept::shared")]
    pub text: Arc<str>,
    /// Where it starts.
    pub anchor: Anchor,
    /// Its components; `Any` is `**`.
    pub components: Vec<WordPattern>,
    /// `name/`: directories only.
    pub directory: bool,
}

/// A host pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPattern {
    /// As written.
    pub text: String,
    /// Scheme, where one is given.
    pub scheme: Option<String>,
    /// The name.
    pub host: HostName,
    /// Port, where one is given.
    pub port: Option<u16>,
}

/// The name in a host pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostName {
    /// `*`.
    Any,
    /// This host (punycode, lower case; an address in its one spelling).
    Exact(String),
    /// `*.example.org`: any number of labels below it. Holds `example.org`.
    Below(String),
}

/// Reads a tool name pattern.
pub fn tool_names(text: &str) -> Result<Vec<Glob>, (String, Option<String>)> {
    if let Some((tool, rest)) = text.split_once('(') {
        let inside = rest.trim_end_matches(')');
        let inside = inside.strip_prefix("domain:").unwrap_or(inside);
        let section = match tool.to_lowercase().as_str() {
            "bash" | "shell" => "commands",
            "write" | "edit" | "multiedit" | "notebookedit" => "paths.write",
            "webfetch" | "fetch" | "websearch" => "hosts",
            _ => "paths.read",
        };
        return Err((
            format!("`{text}` is another product's form: a tool name has no argument"),
            Some(format!(
                "write the part in parentheses under `[{section}]`: `{inside}`"
            )),
        ));
    }
    if text.trim().is_empty() {
        return Err(("an empty name matches no tool".into(), None));
    }
    no_nul(text, "a tool's name")?;
    Glob::parse(text).map_err(|why| (why, None))
}

/// What stands in the parentheses of `Bash(…)`, `Read(…)` and the like: a rule as other products write it.
fn other_form(text: &str) -> Option<&str> {
    let (tool, rest) = text.split_once('(')?;
    let inside = rest.strip_suffix(')')?;
    let named = tool.chars().next().is_some_and(char::is_uppercase)
        && tool.chars().all(char::is_alphanumeric);
    named.then(|| inside.strip_prefix("domain:").unwrap_or(inside))
}

/// Reads a command pattern.
pub fn commands(text: &str) -> Result<Vec<CommandPattern>, (String, Option<String>)> {
    if let Some(inside) = other_form(text) {
        let prefix = inside
            .strip_suffix(":*")
            .or_else(|| inside.strip_suffix(" *"))
            .unwrap_or(inside);
        return Err((
            format!(
                "`{text}` is another product's form: a pattern here is a prefix of the command"
            ),
            Some(format!("write `{prefix}`")),
        ));
    }
    if let Some(words) = plain_words(text) {
        return Ok(vec![CommandPattern::new(text.into(), &[], words)]);
    }
    let (assignments, words) = match is_simple(text) {
        true => {
            let words = text.split(' ').filter(|word| !word.is_empty());
            (Vec::new(), words.map(word).collect::<Result<_, _>>()?)
        }
        false => any_words(text)?,
    };
    // Every word may have alternatives: the pattern is their product, the last word changing fastest.
    let all = words
        .iter()
        .try_fold(1usize, |all, options| all.checked_mul(options.len()));
    let Some(all) = all.filter(|all| *all <= MOST_ALTERNATIVES) else {
        return Err((
            format!("more than {MOST_ALTERNATIVES} alternatives in braces"),
            None,
        ));
    };
    if matches!(
        words.first().and_then(|options| options.first()),
        Some(WordPattern::Any)
    ) {
        return Err((
            "a command pattern starts with a program: `*` is any of them".into(),
            None,
        ));
    }
    let text: Arc<str> = text.into();
    let alternative = |number: usize| {
        let mut further = all;
        let one = |options: &Vec<WordPattern>| {
            further /= options.len().max(1);
            options
                .get(number / further.max(1) % options.len().max(1))
                .cloned()
        };
        words.iter().filter_map(one).collect()
    };
    Ok((0..all)
        .map(alternative)
        .map(|words| CommandPattern::new(Arc::clone(&text), &assignments, words))
        .collect())
}

/// How many alternatives the braces of one pattern may make.
const MOST_ALTERNATIVES: usize = 1024;

/// The words of a pattern in which every character stands for itself.
fn plain_words(text: &str) -> Option<Words> {
    let mut out = Words::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        // What holds a `=` in front is an assignment.
        if out.is_empty() && word.contains('=') {
            return None;
        }
        out.push(WordPattern::Word(Glob::plain(word)?));
    }
    (!out.is_empty()).then_some(out)
}

/// Whether a pattern is words and braces, nothing quoted, no glob, no assignment: nearly all are.
fn is_simple(text: &str) -> bool {
    let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
    words.peek().is_some_and(|first| !first.contains('=')) && words.all(glob::is_plain)
}

/// The alternatives of a word in which nothing is quoted.
fn word(text: &str) -> Result<Vec<WordPattern>, (String, Option<String>)> {
    let globs = Glob::parse(text).map_err(|why| (about(text, why), None))?;
    Ok(globs.into_iter().map(WordPattern::Word).collect())
}

/// The assignments in front of a program, and the alternatives of each word behind them.
type Read = (Vec<(String, Glob)>, Vec<Vec<WordPattern>>);

/// Reads any pattern.
fn any_words(text: &str) -> Result<Read, (String, Option<String>)> {
    no_nul(text, "a command")?;
    let mut words = split_words(text)?;
    let mut assignments = Vec::new();
    while let Some((name, value)) = words.first().and_then(assignment) {
        let value = Glob::parse_marked(&value).map_err(|why| (why, None))?;
        match value.as_slice() {
            [one] => assignments.push((name, one.clone())),
            _ => {
                return Err((
                    "braces in the value of an assignment are not supported".into(),
                    None,
                ));
            }
        }
        words.remove(0);
    }
    if words.is_empty() {
        return Err(match assignments.first() {
            Some((name, _)) => (
                format!("`{text}` names no program, only the variable `{name}`"),
                Some("put the program after it: `NAME=value program`".into()),
            ),
            None => (
                "this command pattern is empty".into(),
                Some("a pattern starts with a program: `git push`; `*` is any program".into()),
            ),
        });
    }
    let alternatives = |word: &Marked| {
        let plain: String = word.iter().map(|(c, _)| *c).collect();
        Ok(match plain.as_str() {
            "**" if word.iter().all(|(_, quoted)| !quoted) => vec![WordPattern::Any],
            "[" | "[[" => vec![WordPattern::Word(Glob::literal(&plain))],
            _ => Glob::parse_marked(word)
                .map_err(|why| (about(&plain, why), regex_help(&plain)))?
                .into_iter()
                .map(WordPattern::Word)
                .collect(),
        })
    };
    let words = words.iter().map(alternatives).collect::<Result<_, _>>()?;
    Ok((assignments, words))
}

fn program_path(words: &[WordPattern]) -> Vec<PathPattern> {
    match words.first() {
        Some(WordPattern::Word(glob)) if glob.holds('/') => paths(&spell(glob)).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Refuses NUL, which no argument of a program holds, and so nothing that is compared with a pattern.
fn no_nul(text: &str, what: &str) -> Result<(), (String, Option<String>)> {
    match text.contains('\0') {
        true => Err((format!("{what} cannot contain NUL"), None)),
        false => Ok(()),
    }
}

/// What is wrong with a word, the word in front where the sentence does not hold it.
fn about(word: &str, why: String) -> String {
    if why.contains(&format!("`{word}`")) {
        why
    } else {
        format!("`{word}`: {why}")
    }
}

/// Advice for a word that was written as a regular expression.
fn regex_help(word: &str) -> Option<String> {
    (word.starts_with('^') || word.ends_with('$')).then(|| {
        "write the words as they are typed: `rm` with `with = [\"-r\", \"-f\"]` is every order and spelling of the options"
            .into()
    })
}

fn unclosed(quote: char) -> (String, Option<String>) {
    (
        format!("the quote `{quote}` is never closed"),
        Some(format!(
            "close it, or write `\\{quote}` for the character itself"
        )),
    )
}

type Marked = Vec<(char, bool)>;

/// Splits as a shell would; characters that were quoted or escaped are marked.
fn split_words(text: &str) -> Result<Vec<Marked>, (String, Option<String>)> {
    let mut words: Vec<Marked> = Vec::new();
    let mut word: Option<Marked> = None;
    let mut chars = text.chars().peekable();
    let mut braces = 0usize;
    let operator = |operator: &str| {
        let help = match operator {
            "$" | "`" => "write the value itself, or `*` for any",
            ">" | "<" => "redirections are judged by `[paths.write]` and `[paths.read]`",
            _ => "every command of a line is judged by itself: write one pattern for each",
        };
        Err((
            format!("`{operator}` is a shell operator: a pattern is one simple command"),
            Some(help.to_owned()),
        ))
    };
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\n' | '\r' => return operator("line break"),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => word.push((c, true)),
                        None => return Err(unclosed('\'')),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') if matches!(chars.peek(), Some('"' | '\\' | '$' | '`')) => {
                            word.extend(chars.next().map(|c| (c, true)));
                        }
                        Some(c) => word.push((c, true)),
                        None => return Err(unclosed('"')),
                    }
                }
            }
            '\\' => match chars.next() {
                Some(c) => word.get_or_insert_default().push((c, true)),
                None => return Err(("the backslash at the end escapes nothing".into(), None)),
            },
            '&' | '|' | '>' | '<' if chars.peek() == Some(&c) => {
                return operator(&format!("{c}{c}"));
            }
            '&' | '|' | '>' | '<' | ';' | '`' => return operator(&c.to_string()),
            '(' | ')' if braces == 0 && !extglob_opener(word.as_deref()) && c == '(' => {
                return operator("(");
            }
            '$' if matches!(chars.peek(), Some(next) if next.is_alphanumeric() || matches!(next, '(' | '{' | '_')) =>
            {
                return operator("$");
            }
            _ => {
                match c {
                    '{' => braces += 1,
                    '}' => braces = braces.saturating_sub(1),
                    _ => {}
                }
                word.get_or_insert_default().push((c, false));
            }
        }
    }
    words.extend(word);
    Ok(words)
}

/// Whether the word so far ends as an extglob does before its parenthesis (the glob reader names that better).
fn extglob_opener(word: Option<&[(char, bool)]>) -> bool {
    matches!(
        word.and_then(<[_]>::last),
        Some(('@' | '+' | '!' | '?' | '*', false))
    )
}

fn assignment(word: &Marked) -> Option<(String, Marked)> {
    let at = word.iter().position(|c| *c == ('=', false))?;
    let name: String = word.iter().take(at).map(|(c, _)| *c).collect();
    let starts = name
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let valid = starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    valid.then(|| (name, word.iter().skip(at + 1).copied().collect()))
}

/// Reads the alternatives of a `with` or `without` entry: `-f|--force|+*`.
pub fn option_words(text: &str) -> Result<Vec<Glob>, (String, Option<String>)> {
    no_nul(text, "an option")?;
    let mut out = Vec::new();
    for part in text.split('|') {
        if part.is_empty() {
            return Err((format!("`{text}` has an empty alternative"), None));
        }
        if part.contains(char::is_whitespace) {
            return Err((
                format!("`{part}` holds a blank: one entry is one word"),
                Some("write two entries for two words".into()),
            ));
        }
        out.extend(Glob::parse(part).map_err(|why| (why, None))?);
    }
    Ok(out)
}

/// Reads a path pattern.
pub fn paths(text: &str) -> Result<Vec<PathPattern>, (String, Option<String>)> {
    if text.is_empty() {
        return Err(("an empty pattern matches no path".into(), None));
    }
    no_nul(text, "a path")?;
    if let Some(rest) = text.strip_prefix('!') {
        return Err((
            "a pattern that takes paths out again with `!` is not supported".into(),
            Some(format!(
                "write `except = [\"{rest}\"]` (a name that starts with `!` is written `\\!`)"
            )),
        ));
    }
    if let Some(inside) = other_form(text) {
        return Err((
            format!(
                "`{text}` is another product's form: the section says what is done with the path"
            ),
            Some(format!("write `{inside}`")),
        ));
    }
    if text.contains("://") {
        return Err((
            format!("`{text}` is a URL, not a path"),
            Some("hosts are judged under `[hosts]`".into()),
        ));
    }
    let shared: Arc<str> = text.into();
    expand_braces(text)?
        .iter()
        .map(|alternative| path(&shared, alternative))
        .collect()
}

/// Braces first, so that an alternative may hold slashes.
fn expand_braces(text: &str) -> Result<Vec<Cow<'_, str>>, (String, Option<String>)> {
    if !text.contains(['{', '}']) {
        return Ok(vec![Cow::Borrowed(text)]);
    }
    // The stars of `**` must not meet the word reader here: hide them behind a character no path holds.
    let hidden = text.replace("**", "\0");
    let globs = Glob::parse(&hidden).map_err(|why| (why.replace('\0', "**"), None))?;
    Ok(globs
        .iter()
        .map(|glob| spell(glob).replace('\0', "**").into())
        .collect())
}

/// A glob as it is written.
pub fn spell(glob: &Glob) -> String {
    let mut out = String::new();
    for token in glob.tokens().iter() {
        match token {
            Token::Char(c) if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') => {
                out.extend(['\\', *c])
            }
            Token::Char(c) => out.push(*c),
            Token::One => out.push('?'),
            Token::Star => out.push('*'),
            Token::Class { negated, ranges } => {
                out.push('[');
                if *negated {
                    out.push('!');
                }
                for (from, to) in ranges {
                    match from == to {
                        true => out.push(*from),
                        false => out.extend([*from, '-', *to]),
                    }
                }
                out.push(']');
            }
        }
    }
    out
}

fn path(text: &Arc<str>, alternative: &str) -> Result<PathPattern, (String, Option<String>)> {
    let (anchor, rest) = match alternative {
        "~" => (Anchor::Home, ""),
        _ if alternative.starts_with("~/") => {
            (Anchor::Home, alternative.get(2..).unwrap_or_default())
        }
        _ if alternative.starts_with('~') => {
            return Err((
                format!("`{alternative}`: only the own home folder is known"),
                Some(
                    "write `~/…`, an absolute path, or `\\~` for a name that starts with a tilde"
                        .into(),
                ),
            ));
        }
        _ if alternative.starts_with('/') => {
            (Anchor::Absolute, alternative.get(1..).unwrap_or_default())
        }
        _ => {
            let body = alternative.strip_suffix('/').unwrap_or(alternative);
            match body.contains('/') || body == "**" {
                true => (Anchor::Root, alternative),
                false => (Anchor::Name, alternative),
            }
        }
    };
    let directory = rest.ends_with('/') && !rest.is_empty();
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let mut components = Vec::with_capacity(4);
    if !rest.is_empty() {
        for component in rest.split('/') {
            if let Some(plain) = Glob::plain(component).filter(|_| component != ".") {
                components.push(WordPattern::Word(plain));
                continue;
            }
            match component {
                "**" => {
                    if components.last() != Some(&WordPattern::Any) {
                        components.push(WordPattern::Any);
                    }
                }
                "." if anchor == Anchor::Root => {}
                _ => match Glob::parse(component) {
                    Ok(globs) => components.extend(globs.into_iter().map(WordPattern::Word)),
                    Err(why) => return Err((about(component, why), None)),
                },
            }
        }
    }
    Ok(PathPattern {
        text: Arc::clone(text),
        anchor,
        components,
        directory,
    })
}

/// Reads a host pattern.
pub fn host(text: &str) -> Result<HostPattern, (String, Option<String>)> {
    let lower = text.to_lowercase();
    let (scheme, rest) = match lower.split_once("://") {
        Some((scheme, rest)) => (Some(scheme.to_owned()), rest),
        None => (None, lower.as_str()),
    };
    if let Some((host, path)) = rest.split_once('/').filter(|(_, path)| !path.is_empty()) {
        return Err((
            format!("a host pattern has no path: `/{path}`"),
            Some(format!("write `{host}`: a host is judged as a whole")),
        ));
    }
    let rest = rest.trim_end_matches('/');
    let (name, port) = split_port(rest)?;
    let host = match name {
        "*" => HostName::Any,
        _ => match name.strip_prefix("*.") {
            Some(below) => HostName::Below(canonical_host(below)?),
            None => HostName::Exact(canonical_host(name)?),
        },
    };
    Ok(HostPattern {
        text: text.to_owned(),
        scheme,
        host,
        port,
    })
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), (String, Option<String>)> {
    let bracket = text.rfind(']');
    match text
        .rfind(':')
        .filter(|at| bracket.is_none_or(|bracket| *at > bracket))
    {
        // A bare IPv6 address has more than one colon and no port.
        Some(at) if bracket.is_some() || text.matches(':').count() == 1 => {
            let (name, port) = text.split_at(at);
            match port.trim_start_matches(':').parse() {
                Ok(port) => Ok((name, Some(port))),
                Err(_) => Err((format!("`{port}` is no port"), None)),
            }
        }
        _ => Ok((text, None)),
    }
}

/// One spelling for one host: punycode, lower case, addresses normalised (an IPv4 address is one in IPv6, too), no dot at the end.
pub fn canonical_host(name: &str) -> Result<String, (String, Option<String>)> {
    let bare = name
        .trim_end_matches('.')
        .trim_start_matches('[')
        .trim_end_matches(']');
    if bare.is_empty() {
        return Err((
            "a host pattern names a host".into(),
            Some("`*` is any host".into()),
        ));
    }
    if bare.contains(['*', '?', '{', '}', '[']) {
        return Err((
            format!("`{name}`: a host is written out, or starts with `*.`"),
            Some("`*.example.org` is every name below example.org".into()),
        ));
    }
    let parsed = match bare.contains(':') {
        true => url::Host::parse(&format!("[{bare}]")),
        false => url::Host::parse(bare),
    };
    parsed
        // `[::ffff:10.0.0.1]` is the machine 10.0.0.1.
        .map(|host: url::Host| match host {
            url::Host::Ipv6(address) => match address.to_ipv4_mapped() {
                Some(address) => address.to_string(),
                None => host.to_string(),
            },
            host => host.to_string(),
        })
        .map_err(|why| {
            (
                format!("`{name}` is no host: {why}"),
                Some("write a name such as `example.org`, `*.example.org` for all names below it, or an address".into()),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_patterns() {
        let rows = [
            ("git {status,diff}", Ok(2)),
            ("PAGER=cat git log", Ok(1)),
            ("[", Ok(1)),
            ("[[", Ok(1)),
            ("git commit -m 'a b'", Ok(1)),
            ("SSH_AUTH_SOCK=*", Err("SSH_AUTH_SOCK")),
            ("* && *", Err("&&")),
            ("cat > /tmp/a.md", Err(">")),
            ("ls [a-", Err("[a-")),
            ("echo $(x)", Err("$")),
            ("ls @(a|b)", Err("|")),
            ("", Err("empty")),
            ("** x", Err("program")),
            ("a\nb", Err("line break")),
            ("kill ** [!0-9-]*", Ok(1)),
            ("docker:* --host tcp://demo", Ok(1)),
        ];
        for (text, want) in rows {
            match (commands(text), want) {
                (Ok(patterns), Ok(count)) => assert_eq!(patterns.len(), count, "{text}"),
                (Err((why, _)), Err(part)) => assert!(why.contains(part), "{text}: {why}"),
                (got, want) => panic!("{text}: {got:?}, not {want:?}"),
            }
        }
    }

    #[test]
    fn path_patterns() {
        use Anchor::*;
        let rows = [
            (".env", Name, 1, false),
            ("token/", Name, 1, true),
            ("src/**", Root, 2, false),
            ("**", Root, 1, false),
            ("./src", Root, 1, false),
            ("/**", Absolute, 1, false),
            ("/etc/passwd", Absolute, 2, false),
            ("~/.ssh/**", Home, 2, false),
            ("~", Home, 0, false),
        ];
        for (text, anchor, components, directory) in rows {
            let pattern = paths(text).unwrap().remove(0);
            assert_eq!(
                (pattern.anchor, pattern.components.len(), pattern.directory),
                (anchor, components, directory),
                "{text}"
            );
        }
        assert_eq!(paths("{src/**,docs}/x").unwrap().len(), 2);
        assert!(paths("~bob/x").is_err());
    }

    #[test]
    fn host_patterns() {
        let rows = [
            ("docs.rs", HostName::Exact("docs.rs".into())),
            ("*.Rust-Lang.org", HostName::Below("rust-lang.org".into())),
            ("*", HostName::Any),
            ("0x7f.1", HostName::Exact("127.0.0.1".into())),
            (
                "bücher.example",
                HostName::Exact("xn--bcher-kva.example".into()),
            ),
            ("[::1]:80", HostName::Exact("[::1]".into())),
        ];
        for (text, want) in rows {
            assert_eq!(host(text).unwrap().host, want, "{text}");
        }
        assert!(host("example.org/path").is_err());
        assert!(host("a*.example.org").is_err());
    }
}
