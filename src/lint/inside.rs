//! Whether all that one pattern matches lies inside another: by the patterns, word by word.
//!
//! In: two rules and patterns of theirs. Out: yes only where it is surely so. What this cannot see (a union of several
//! patterns, an option that `with` means in another spelling) the automata will.

use super::room::Pattern;
use crate::call::access::{Access, Cover, Kind, Trigger};
use crate::call::shell;
use crate::matcher::commands::names;
use crate::policy::glob::{Glob, Token};
use crate::policy::patterns::{
    self, Anchor, CommandPattern, HostName, HostPattern, PathPattern, WordPattern,
};
use crate::policy::rule::{Commands, Condition, Judges, Paths, Rule, Verdict};

/// One side of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Deny, ask, protected: any spelling, letter case folded, names anywhere.
    pub tightens: bool,
    /// `exact`: nothing after the last word, nothing below.
    pub exact: bool,
}

impl Side {
    fn of(rule: &Rule) -> Self {
        let exact = match &rule.judges {
            Judges::Commands(own) => own.exact,
            Judges::Paths(own) => own.exact,
            _ => false,
        };
        Self {
            tightens: rule.action != Verdict::Allow,
            exact,
        }
    }
}

/// The pattern of `wide` that takes every access that `narrow` takes by this pattern.
pub fn covers(wide: &Rule, narrow: &Rule, pattern: Pattern<'_>) -> Option<String> {
    if !conditions(wide, narrow) {
        return None;
    }
    let found = |text: Option<&String>| text.cloned();
    match &wide.judges {
        Judges::Tool if wide.tools.is_empty() => Some("every tool".to_owned()),
        Judges::Tool => {
            let mut tools = wide.tools.iter();
            let tool = tools.find(|own| by(wide, Pattern::Tool(own), narrow, pattern));
            tool.map(patterns::spell)
        }
        Judges::Commands(own) => {
            let mut all = own.patterns.iter();
            found(
                all.find(|own| by(wide, Pattern::Command(own), narrow, pattern))
                    .map(|own| &own.text),
            )
        }
        Judges::Paths(own) => {
            let mut all = own.patterns.iter();
            found(
                all.find(|own| by(wide, Pattern::Path(own), narrow, pattern))
                    .map(|own| &own.text),
            )
        }
        Judges::Hosts(own) => {
            let mut all = own.patterns.iter();
            found(
                all.find(|own| by(wide, Pattern::Host(own), narrow, pattern))
                    .map(|own| &own.text),
            )
        }
        Judges::Rest(_) => None,
    }
}

/// Whether one pattern of `wide` takes all that one pattern of `narrow` takes, conditions on facts and tools apart.
pub fn by(wide: &Rule, by: Pattern<'_>, narrow: &Rule, pattern: Pattern<'_>) -> bool {
    let (outer, inner) = (Side::of(wide), Side::of(narrow));
    match (&wide.judges, &narrow.judges, by, pattern) {
        (Judges::Tool, Judges::Tool, Pattern::Tool(by), Pattern::Tool(glob)) => by.covers(glob),
        // A rule about tools meets every access of theirs.
        (Judges::Tool, _, Pattern::Tool(by), _) => {
            !narrow.tools.is_empty() && narrow.tools.iter().all(|tool| by.covers(tool))
        }
        (
            Judges::Commands(own),
            Judges::Commands(other),
            Pattern::Command(by),
            Pattern::Command(pattern),
        ) => {
            command(by, outer, pattern, inner)
                && command_fields(own, other)
                && own.except.iter().all(|except| {
                    let inside = |by: &CommandPattern| command(by, FREE, except, FREE);
                    other.except.iter().any(inside) || words_apart(except, pattern)
                })
        }
        (Judges::Paths(own), Judges::Paths(other), Pattern::Path(by), Pattern::Path(pattern)) => {
            path(by, outer, pattern, inner) && path_fields(own, other, pattern)
        }
        (Judges::Hosts(own), Judges::Hosts(other), Pattern::Host(by), Pattern::Host(pattern)) => {
            host(by, pattern)
                && own.except.iter().all(|except| {
                    other.except.iter().any(|by| host(by, except)) || hosts_apart(except, pattern)
                })
        }
        _ => false,
    }
}

/// Exceptions are prefixes whatever the rule says.
const FREE: Side = Side {
    tightens: true,
    exact: false,
};

/// Whether `wide` is on wherever `narrow` is.
pub fn conditions(wide: &Rule, narrow: &Rule) -> bool {
    let tools = wide.tools.is_empty()
        || (!narrow.tools.is_empty()
            && narrow
                .tools
                .iter()
                .all(|tool| wide.tools.iter().any(|own| own.covers(tool))));
    // A fact that is missing turns a deny on and an allow off: an allow with conditions hides no deny for sure.
    let loosens = wide.action == Verdict::Allow && narrow.action != Verdict::Allow;
    let facts = match loosens {
        true => wide.when.is_empty() && wide.unless.is_empty(),
        false => {
            among(&wide.when, &narrow.when)
                && (wide.unless.is_empty()
                    || (among(&wide.unless, &narrow.unless) && among(&narrow.unless, &wide.unless)))
        }
    };
    tools && facts && among(&wide.args, &narrow.args)
}

fn among(some: &[Condition], all: &[Condition]) -> bool {
    some.iter().all(|own| {
        all.iter()
            .any(|other| own.path == other.path && own.any == other.any)
    })
}

/// Whether the words in the middle of a line that `wide` asks for are asked for by `narrow` too.
fn command_fields(wide: &Commands, narrow: &Commands) -> bool {
    let some_of = |few: &[Glob], many: &[Glob]| {
        few.iter()
            .all(|glob| many.iter().any(|other| other.covers(glob)))
    };
    let with = wide
        .with
        .iter()
        .all(|own| narrow.with.iter().any(|other| some_of(other, own)));
    let without = wide
        .without
        .iter()
        .all(|own| narrow.without.iter().any(|other| some_of(own, other)));
    let operands = wide.operands.is_empty()
        || (!narrow.operands.is_empty()
            && narrow.operands.iter().all(|operand| {
                wide.operands
                    .iter()
                    .any(|own| path(own, FREE, operand, FREE))
            }));
    with && without && operands && (!wide.only_read || narrow.only_read)
}

/// Whether every command that `narrow` matches is matched by `wide`.
pub fn command(wide: &CommandPattern, outer: Side, narrow: &CommandPattern, inner: Side) -> bool {
    let assigned = wide.assignments.iter().all(|(name, value)| {
        narrow
            .assignments
            .iter()
            .any(|(other, given)| name == other && value.covers(given))
    });
    let (Some((program, rest)), Some((other, more))) =
        (wide.words.split_first(), narrow.words.split_first())
    else {
        return false;
    };
    let (WordPattern::Word(program), WordPattern::Word(other)) = (program, other) else {
        return false;
    };
    assigned
        && self::program(program, outer, other, inner)
        && words(rest, outer.exact, more, inner.exact, false)
}

fn program(wide: &Glob, outer: Side, narrow: &Glob, inner: Side) -> bool {
    let slash = |glob: &Glob| glob.tokens().contains(&Token::Char('/'));
    match (slash(wide), slash(narrow)) {
        (false, false) => {
            takes(wide, narrow)
                || (outer.tightens
                    && matches!(narrow.tokens().last(), Some(Token::Char('0'..='9')))
                    && narrow.as_literal().is_some_and(|text| {
                        names(&text)
                            .iter()
                            .any(|name| wide.matches_text(name, false))
                    }))
        }
        // A deny looks at the base name; where an allow writes a path, that is its last component.
        (false, true) => {
            wide.is_star()
                || (outer.tightens
                    && !inner.tightens
                    && last_component(narrow).is_some_and(|last| wide.covers(&last)))
        }
        (true, false) => false,
        (true, true) => {
            let read = |glob: &Glob| patterns::paths(&patterns::spell(glob)).unwrap_or_default();
            let exact = |side: Side| Side {
                exact: true,
                ..side
            };
            let (wide, narrow) = (read(wide), read(narrow));
            !narrow.is_empty()
                && narrow.iter().all(|narrow| {
                    wide.iter()
                        .any(|wide| path(wide, exact(outer), narrow, exact(inner)))
                })
        }
    }
}

fn last_component(glob: &Glob) -> Option<Glob> {
    let text = patterns::spell(glob);
    let last = text.rsplit('/').next()?;
    Glob::parse(last).ok()?.into_iter().next()
}

/// Whether every sequence that starts as `narrow` says starts as `wide` says (or is just that, where exact).
pub fn words(
    wide: &[WordPattern],
    wide_exact: bool,
    narrow: &[WordPattern],
    narrow_exact: bool,
    fold: bool,
) -> bool {
    // inside[j]: narrow[j..] lies in wide[i..]; filled from the end of `wide` to its start.
    let count = narrow.len();
    let mut inside: Vec<bool> = (0..=count)
        .map(|at| !wide_exact || (narrow_exact && at == count))
        .collect();
    let mut is_last = true;
    for word in wide.iter().rev() {
        let mut next = vec![false; count + 1];
        for at in (0..=count).rev() {
            let here = inside.get(at) == Some(&true);
            let ahead = inside.get(at + 1) == Some(&true);
            let later = next.get(at + 1) == Some(&true);
            let fits = match (word, narrow.get(at)) {
                (WordPattern::Any, None) => here || is_last,
                (WordPattern::Any, Some(_)) => here || later,
                (WordPattern::Word(own), Some(WordPattern::Word(other))) => {
                    ahead && globs(own, other, fold)
                }
                (WordPattern::Word(_), _) => false,
            };
            if let Some(place) = next.get_mut(at) {
                *place = fits;
            }
        }
        inside = next;
        is_last = false;
    }
    inside.first() == Some(&true)
}

/// `Glob::covers`, with the common case first: text that is not the same text covers nothing else.
fn takes(wide: &Glob, narrow: &Glob) -> bool {
    let text = |glob: &Glob| {
        let mut tokens = glob.tokens().iter();
        tokens.all(|token| matches!(token, Token::Char(_)))
    };
    wide == narrow || (!text(wide) && wide.covers(narrow))
}

fn globs(wide: &Glob, narrow: &Glob, fold: bool) -> bool {
    if takes(wide, narrow) {
        return true;
    }
    let folded = |glob: &Glob| {
        let lower = patterns::spell(glob).to_lowercase();
        let read = Glob::parse(&lower).ok()?;
        read.into_iter().next()
    };
    fold && match (folded(wide), folded(narrow)) {
        (Some(wide), Some(narrow)) => wide.covers(&narrow),
        _ => false,
    }
}

/// Whether no command starts as both say. The program is left aside: a deny knows one by several names.
fn words_apart(one: &CommandPattern, other: &CommandPattern) -> bool {
    literals_differ(
        one.words.get(1..).unwrap_or_default(),
        other.words.get(1..).unwrap_or_default(),
    )
}

fn literals_differ(one: &[WordPattern], other: &[WordPattern]) -> bool {
    for pair in one.iter().zip(other) {
        let (WordPattern::Word(a), WordPattern::Word(b)) = pair else {
            return false;
        };
        if let (Some(a), Some(b)) = (a.as_literal(), b.as_literal())
            && a.to_lowercase() != b.to_lowercase()
        {
            return true;
        }
    }
    false
}

/// The pattern of a set of paths that takes every path that `narrow` takes by this one.
pub fn paths(
    wide: &Paths,
    outer: Side,
    narrow: &Paths,
    inner: Side,
    pattern: &PathPattern,
) -> Option<String> {
    let mut all = wide.patterns.iter();
    all.find(|by| path(by, outer, pattern, inner) && path_fields(wide, narrow, pattern))
        .map(|by| by.text.clone())
}

fn path_fields(wide: &Paths, narrow: &Paths, pattern: &PathPattern) -> bool {
    narrow.modes.iter().all(|mode| wide.modes.contains(mode))
        && wide.except.iter().all(|except| {
            let inside = |by: &PathPattern| path(by, FREE, except, FREE);
            narrow.except.iter().any(inside) || paths_apart(except, pattern)
        })
}

fn paths_apart(one: &PathPattern, other: &PathPattern) -> bool {
    one.anchor == other.anchor
        && one.anchor != Anchor::Name
        && literals_differ(&one.components, &other.components)
}

/// Whether every path that `narrow` matches is matched by `wide`.
pub fn path(wide: &PathPattern, outer: Side, narrow: &PathPattern, inner: Side) -> bool {
    let any = |components: &[WordPattern]| -> Vec<WordPattern> {
        let mut out = vec![WordPattern::Any];
        out.extend_from_slice(components);
        out
    };
    let fold = outer.tightens;
    let sits = |wide: &[WordPattern], narrow: &[WordPattern]| {
        // `name/` takes a folder and what lies below: of a pattern for any kind only the latter is sure.
        let narrow = match wide_only_below(wide, narrow, outer, inner) {
            true => return false,
            false => narrow,
        };
        words(wide, outer.exact, narrow, inner.exact, fold)
    };
    if wide.directory && !narrow.directory {
        let Some((_, above)) = narrow.components.split_last() else {
            return false;
        };
        let parent = PathPattern {
            components: above.to_vec(),
            directory: true,
            ..narrow.clone()
        };
        let below = Side {
            exact: false,
            ..inner
        };
        return !above.is_empty() && !outer.exact && path(wide, outer, &parent, below);
    }
    match (wide.anchor, narrow.anchor) {
        (Anchor::Name, Anchor::Name) => sits(&wide.components, &narrow.components),
        (Anchor::Name, Anchor::Root) => sits(&any(&wide.components), &narrow.components),
        // A root below the name would hide it from the pattern, but for the last component.
        (Anchor::Name, Anchor::Absolute | Anchor::Home) => match narrow.components.last() {
            Some(last) if outer.tightens => sits(&wide.components, std::slice::from_ref(last)),
            _ => false,
        },
        (Anchor::Root, Anchor::Name) => {
            !inner.tightens && sits(&wide.components, &any(&narrow.components))
        }
        // The folder in front of the pattern may be any.
        (Anchor::Absolute, Anchor::Root | Anchor::Name | Anchor::Home) => {
            sits(&wide.components, &any(&narrow.components))
        }
        (one, other) if one == other => sits(&wide.components, &narrow.components),
        _ => false,
    }
}

fn wide_only_below(wide: &[WordPattern], narrow: &[WordPattern], outer: Side, inner: Side) -> bool {
    // `exact` on the outside and not on the inside leaves what lies below.
    outer.exact && !inner.exact && wide.last() != Some(&WordPattern::Any) && !narrow.is_empty()
}

fn hosts_apart(one: &HostPattern, other: &HostPattern) -> bool {
    matches!(
        (&one.host, &other.host),
        (HostName::Exact(one), HostName::Exact(other)) if one != other
    )
}

/// Whether every host that `narrow` matches is matched by `wide`.
pub fn host(wide: &HostPattern, narrow: &HostPattern) -> bool {
    let below = |name: &str, of: &str| {
        name.strip_suffix(of)
            .is_some_and(|rest| rest.ends_with('.'))
    };
    let name = match (&wide.host, &narrow.host) {
        (HostName::Any, _) => true,
        (HostName::Exact(one), HostName::Exact(other)) => one == other,
        (HostName::Below(one), HostName::Exact(other)) => below(other, one),
        (HostName::Below(one), HostName::Below(other)) => one == other || below(other, one),
        (HostName::Exact(_), _) | (HostName::Below(_), HostName::Any) => false,
    };
    name && (wide.scheme.is_none() || wide.scheme == narrow.scheme)
        && (wide.port.is_none() || wide.port == narrow.port)
}

/// Programs of which an allow by name covers all that their words can make them do.
const PLAIN: &[&str] = &[
    "basename", "cat", "cd", "dirname", "echo", "false", "head", "ls", "mkdir", "pwd", "stat",
    "tail", "touch", "true", "wc", "whoami",
];

/// Whether an allow of `narrow` lets pass more than one of `wide` although it lies inside: an allow covers what its
/// words name, so that `git branch *` covers making a branch and `git branch` does not.
pub fn names_more(wide: &CommandPattern, narrow: &CommandPattern) -> bool {
    let names = |pattern: &CommandPattern| -> Vec<String> {
        let assigned = pattern.assignments.iter();
        assigned.map(|(name, _)| name.clone()).collect()
    };
    if names(narrow).iter().any(|name| !names(wide).contains(name)) {
        return true;
    }
    let named = |pattern: &CommandPattern| {
        let words = pattern.words.iter();
        words.filter(|word| **word != WordPattern::Any).count()
    };
    if named(narrow) <= named(wide) && !narrow.words.contains(&WordPattern::Any) {
        return false;
    }
    let Some(WordPattern::Word(program)) = narrow.words.first() else {
        return true;
    };
    let program = program.as_literal().unwrap_or_default();
    if PLAIN.contains(&program.as_str()) {
        return false;
    }
    let open = narrow.words.iter().skip(1).any(|word| match word {
        WordPattern::Any => true,
        WordPattern::Word(glob) => glob.as_literal().is_none(),
    });
    // Ask the reader of command lines what the words do, with more words after them and without.
    let line = sample(narrow, |_| true);
    for tail in ["", " x", " x y"] {
        match reads(&format!("{line}{tail}")) {
            Some(Reading { known, beyond }) if beyond || (open && known) => return true,
            Some(_) => {}
            // Nobody knows the line: only a program that the policy itself names by its path is surely no known one.
            None => return !program.contains('/'),
        }
    }
    false
}

struct Reading {
    known: bool,
    beyond: bool,
}

/// What the line's words make the program do beyond its name; none where the line cannot be read.
fn reads(line: &str) -> Option<Reading> {
    let scene = shell::Scene {
        cwd: Some("/workspace".into()),
        home: Some("/home/user".into()),
        ..shell::Scene::default()
    };
    let accesses: Vec<Access> = shell::accesses(line, &scene);
    let mut known = false;
    let mut commands = 0;
    let mut beyond = false;
    for access in &accesses {
        match &access.kind {
            Kind::Opaque(_) => return None,
            Kind::Command(command) => {
                commands += 1;
                known |= command.known;
                let mut escalations = command.escalations.iter();
                beyond |= escalations.any(|own| matches!(own.at, Trigger::Word(_)));
            }
            Kind::Path(path) => {
                beyond |= matches!(
                    path.cover,
                    Cover::Command {
                        naming: Some(_),
                        ..
                    }
                );
            }
            Kind::Host(host) => {
                beyond |= matches!(
                    host.cover,
                    Cover::Command {
                        naming: Some(_),
                        ..
                    }
                );
            }
            Kind::Tool => {}
        }
    }
    // A launcher: a pattern that goes on past it covers what it starts as well.
    (commands > 0).then_some(Reading {
        known,
        beyond: beyond || commands > 1,
    })
}

/// A line of the words of a pattern that are wanted.
pub fn sample(pattern: &CommandPattern, wanted: impl Fn(&WordPattern) -> bool) -> String {
    let words = pattern.words.iter().filter(|word| wanted(word));
    let texts = words.filter_map(|word| match word {
        WordPattern::Any => None,
        WordPattern::Word(glob) => Some(quoted(&sample_of(glob))),
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// A text that a glob matches.
pub fn sample_of(glob: &Glob) -> String {
    let tokens = glob.tokens().iter().map(|token| match token {
        Token::Char(c) => *c,
        Token::One | Token::Star => 'x',
        Token::Class { negated, ranges } => match ranges.first() {
            Some((from, _)) if !negated => *from,
            _ => 'x',
        },
    });
    tokens.collect()
}

/// A word as it is typed.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOW: Side = Side {
        tightens: false,
        exact: false,
    };
    const DENY: Side = Side {
        tightens: true,
        exact: false,
    };

    #[test]
    fn commands_inside_commands() {
        let rows = [
            ("ls", "ls *", true),
            ("ls *", "ls", false),
            ("*", "git status", true),
            ("git push", "git push --dry-run", true),
            ("git push", "git pull", false),
            ("bin/*", "bin/ci", true),
            ("bin/*", "bin/a/b", false),
            ("bin/*", "bin/test *", true),
            ("git reset ** --hard", "git reset --hard", true),
            ("git ** x", "git ** a x", true),
            ("git a ** x", "git ** x", false),
            ("python", "python3 x", true),
            ("rm", "./rm", true),
            ("A=1 x", "x", false),
            ("x", "A=1 x", true),
        ];
        for (wide, narrow, want) in rows {
            let read = |text| patterns::commands(text).unwrap().remove(0);
            assert_eq!(
                command(&read(wide), DENY, &read(narrow), ALLOW),
                want,
                "{narrow} in {wide}"
            );
        }
    }

    #[test]
    fn paths_inside_paths() {
        let rows = [
            ("clients/**", "clients/acme/**", true),
            ("clients", "clients/acme/**", true),
            ("clients/acme/**", "clients/**", false),
            ("**", "src/*.rs", true),
            ("**", ".env", true),
            ("**", "/etc/**", false),
            ("/**", "src/**", true),
            ("/**", "~/x", true),
            (".env", "config/.env", true),
            (".ENV", "config/.env", true),
            (".env", "~/.env", true),
            (".env", "**", false),
            ("src/", "src/a", true),
            ("src/", "src", false),
            ("src/x/", "src/x/", true),
            ("*.pem", "keys/*.pem", true),
            ("~/.ssh/**", "~/.ssh", true),
            ("/**/x", "a/x/b", true),
        ];
        for (wide, narrow, want) in rows {
            let read = |text| patterns::paths(text).unwrap().remove(0);
            assert_eq!(
                path(&read(wide), DENY, &read(narrow), ALLOW),
                want,
                "{narrow} in {wide}"
            );
        }
        let read = |text| patterns::paths(text).unwrap().remove(0);
        assert!(
            !path(&read("**"), ALLOW, &read(".env"), DENY),
            "outside the roots"
        );
    }

    #[test]
    fn hosts_inside_hosts() {
        let rows = [
            ("*", "docs.rs", true),
            ("*.example.org", "a.b.example.org", true),
            ("*.example.org", "example.org", false),
            ("*.org", "*.example.org", true),
            ("https://x.org", "x.org", false),
            ("x.org", "https://x.org:8443", true),
        ];
        for (wide, narrow, want) in rows {
            let read = |text| patterns::host(text).unwrap();
            assert_eq!(host(&read(wide), &read(narrow)), want, "{narrow} in {wide}");
        }
    }
}
