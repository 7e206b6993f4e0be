//! Whether an entry meets whatever another one meets, as surely: words that cannot be computed, patterns and other
//! spellings included.
//!
//! In: two entries. Out: yes, where one pattern of the wide one takes the narrow one word by word, and it asks for nothing
//! else. Automata prove less: they are about words that are written out, and two rules that only together take every
//! word each may or may not take `$X`.

use super::encode::{self, Need, Space};
use super::written::Pattern;
use super::{Entry, Rules};
use crate::policy::glob::{Glob, Token};
use crate::policy::patterns::{
    self, Anchor, CommandPattern, HostName, HostPattern, PathPattern, WordPattern,
};
use crate::policy::rule::{Condition, Judges, Rule, Verdict};

/// Whether `wide` meets all that `narrow` meets by one of its patterns, wherever that one is on.
pub fn covers(
    wide: &Entry<'_>,
    narrow: &Entry<'_>,
    pattern: Option<&Pattern<'_>>,
    space: Space,
) -> bool {
    let (own, other) = (&wide.compiled.rule, &narrow.compiled.rule);
    // A deny meets more spellings than an allow of the same words: never the other way round.
    let loosens = |rule: &Rule| rule.action == Verdict::Allow;
    if loosens(own) && !loosens(other) {
        return false;
    }
    let crosses = loosens(own) != loosens(other);
    let asks = |need: &Need<'_>| {
        let spelled = crosses && matches!(need, Need::Without(_));
        need.follows(&narrow.needs) && !spelled
    };
    if !is_on(own, other) || !wide.needs.iter().all(asks) {
        return false;
    }
    match (&own.judges, &other.judges, pattern) {
        (Judges::Tool, Judges::Tool, pattern) => {
            own.tools.is_empty()
                || match pattern {
                    Some(Pattern::Tool(name)) => own.tools.iter().any(|tool| tool.covers(name)),
                    _ => false,
                }
        }
        (Judges::Tool, ..) => is_by_tools(own, other),
        (Judges::Commands(mine), Judges::Commands(theirs), Some(Pattern::Command(pattern))) => {
            let excepted = |except: &CommandPattern| {
                let mut all = theirs.except.iter();
                all.any(|other| command(other, except, false))
            };
            let takes = |own: &CommandPattern| {
                (!mine.exact || theirs.exact) && command(own, pattern, mine.exact)
            };
            is_by_tools(own, other)
                && mine.except.iter().all(excepted)
                && encode::commands_of(&wide.written).into_iter().any(takes)
        }
        (Judges::Paths(mine), Judges::Paths(theirs), Some(Pattern::Path(pattern))) => {
            let excepted = |except: &PathPattern| {
                let mut all = theirs.except.iter();
                all.any(|other| other.anchor == except.anchor && path(other, except, false))
            };
            let takes = |own: &PathPattern| match mine.exact {
                true => theirs.exact && own.anchor == pattern.anchor && same_path(own, pattern),
                false => path(own, pattern, loosens(other)),
            };
            let mut patterns = wide.written.patterns.iter();
            is_by_tools(own, other)
                && wide.spaces().contains(&space)
                && mine.except.iter().all(excepted)
                && patterns.any(|own| matches!(own, Pattern::Path(own) if takes(own)))
        }
        (Judges::Hosts(mine), Judges::Hosts(theirs), Some(Pattern::Host(pattern))) => {
            let excepted =
                |except: &HostPattern| theirs.except.iter().any(|other| host(other, except));
            let mut patterns = wide.written.patterns.iter();
            is_by_tools(own, other)
                && mine.except.iter().all(excepted)
                && patterns.any(|own| matches!(own, Pattern::Host(own) if host(own, pattern)))
        }
        _ => false,
    }
}

impl Rules<'_> {
    /// Whether each pattern of an entry is covered by one of these entries.
    pub(super) fn covered(&self, narrow: &Entry<'_>, by: &[&Entry<'_>]) -> bool {
        let each = |pattern: Option<&Pattern<'_>>| {
            narrow
                .spaces()
                .into_iter()
                .all(|space| by.iter().any(|wide| covers(wide, narrow, pattern, space)))
        };
        match narrow.written.patterns.is_empty() {
            true => each(None),
            false => narrow.written.patterns.iter().all(|own| each(Some(own))),
        }
    }
}

/// Whether a rule is on wherever another one is, tools apart.
fn is_on(wide: &Rule, narrow: &Rule) -> bool {
    let same = |a: &Condition, b: &Condition| a.path == b.path && a.any == b.any;
    let within = |few: &[Condition], many: &[Condition]| {
        let mut few = few.iter();
        few.all(|own| many.iter().any(|other| same(own, other)))
    };
    within(&wide.when, &narrow.when)
        && (wide.unless.is_empty()
            || (!narrow.unless.is_empty() && within(&narrow.unless, &wide.unless)))
}

/// Whether a rule is about all tools that another one is about.
fn is_by_tools(wide: &Rule, narrow: &Rule) -> bool {
    let mut tools = narrow.tools.iter();
    wide.tools.is_empty()
        || (!narrow.tools.is_empty()
            && tools.all(|tool| wide.tools.iter().any(|own| own.covers(tool))))
}

fn command(wide: &CommandPattern, narrow: &CommandPattern, exact: bool) -> bool {
    let ([WordPattern::Word(own), rest @ ..], [WordPattern::Word(other), more @ ..]) =
        (wide.words.as_slice(), narrow.words.as_slice())
    else {
        return false;
    };
    let by_path = |glob: &Glob| glob.tokens().contains(&Token::Char('/'));
    let program = match (by_path(own), by_path(other)) {
        (true, true) => own == other || program(own, other),
        (false, false) => own == other || own.covers(other),
        _ => own.is_star(),
    };
    // The narrow one may look past words for the option it writes: the wide one must look as far.
    let last = rest.len();
    let word = |at: usize, own: &Glob, other: &Glob| {
        let option = |glob: &Glob| glob.tokens().first() == Some(&Token::Char('-'));
        let open = own.is_star() && at + 1 == last && !exact;
        own.covers(other) && (!option(other) || option(own) || open)
    };
    program
        && wide
            .assignments()
            .iter()
            .all(|own| narrow.assignments().contains(own))
        && starts(rest, more, exact, word)
}

/// Whether a program that is written as a path is one that another path takes, part by part.
fn program(wide: &Glob, narrow: &Glob) -> bool {
    let read = |glob: &Glob| patterns::paths(&patterns::spell(glob)).ok();
    let (Some(wide), Some(narrow)) = (read(wide), read(narrow)) else {
        return false;
    };
    let ([wide], [narrow]) = (wide.as_slice(), narrow.as_slice()) else {
        return false;
    };
    let mut pairs = wide.components.iter().zip(&narrow.components);
    wide.anchor == narrow.anchor
        && wide.components.len() == narrow.components.len()
        && pairs.all(|pair| {
            matches!(pair, (WordPattern::Word(own), WordPattern::Word(other)) if own.covers(other))
        })
}

/// Whether what starts with the second starts with the first.
fn starts(
    wide: &[WordPattern],
    narrow: &[WordPattern],
    exact: bool,
    word: impl Fn(usize, &Glob, &Glob) -> bool,
) -> bool {
    // For each place in the narrow one whether the rest of the wide one takes what is left from there.
    let mut takes: Vec<bool> = (0..=narrow.len())
        .map(|at| !exact || at == narrow.len())
        .collect();
    for (at, own) in wide.iter().enumerate().rev() {
        let mut before = vec![false; narrow.len() + 1];
        for place in (0..=narrow.len()).rev() {
            let taken = |all: &[bool], place: usize| all.get(place).copied().unwrap_or(false);
            let here = match (own, narrow.get(place)) {
                (WordPattern::Any, _) => taken(&takes, place) || taken(&before, place + 1),
                (WordPattern::Word(own), Some(WordPattern::Word(other))) => {
                    word(at, own, other) && taken(&takes, place + 1)
                }
                _ => false,
            };
            if let Some(own) = before.get_mut(place) {
                *own = here;
            }
        }
        takes = before;
    }
    takes.first().copied().unwrap_or(false)
}

/// A pattern takes all below what it names: `**` at its end says nothing more.
fn body(own: &PathPattern) -> &[WordPattern] {
    match own.components.as_slice() {
        [rest @ .., WordPattern::Any] if !own.directory => rest,
        all => all,
    }
}

fn same_path(own: &PathPattern, other: &PathPattern) -> bool {
    own.components == other.components && (!own.directory || other.directory)
}

fn path(wide: &PathPattern, narrow: &PathPattern, loosens: bool) -> bool {
    if wide.directory {
        return wide.anchor == narrow.anchor && same_path(wide, narrow);
    }
    let (own, other) = (body(wide), body(narrow));
    let word = |_: usize, own: &Glob, other: &Glob| own.covers(other);
    match (wide.anchor, narrow.anchor) {
        (Anchor::Absolute, _) if own.is_empty() => true,
        (Anchor::Root, Anchor::Name) => loosens && own.is_empty(),
        (Anchor::Name, Anchor::Root | Anchor::Name) => other.iter().any(|part| {
            matches!((own, part), ([WordPattern::Word(own)], WordPattern::Word(part)) if own.covers(part))
        }),
        (own_anchor, anchor) => own_anchor == anchor && starts(own, other, false, word),
    }
}

fn host(wide: &HostPattern, narrow: &HostPattern) -> bool {
    let below = |own: &str, name: &str| {
        let rest = name.strip_suffix(own);
        rest.is_some_and(|rest| rest.ends_with('.'))
    };
    let name = match (&wide.host, &narrow.host) {
        (HostName::Any, _) => true,
        (HostName::Below(own), HostName::Below(name)) => own == name || below(own, name),
        (HostName::Below(own), HostName::Exact(name)) => below(own, name),
        (own, name) => own == name,
    };
    name && (wide.scheme.is_none() || wide.scheme == narrow.scheme)
        && (wide.port.is_none() || wide.port == narrow.port)
}
