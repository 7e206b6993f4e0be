//! Command patterns against the levels of a command line.
//!
//! In: command rules, the accesses of a call, one command among them. Out: how a rule fits, and, for an allow,
//! which levels it covers and which words it names. Which rules are worth trying is told by `programs`.

use super::located::{Frame, Located};
use super::paths::{self, Stance};
use crate::call::access::{
    Access, Command, Cover, Kind, Opt, PathAccess, Reach, Role, Spelling, Trigger,
};
use crate::call::few::Few;
use crate::call::path;
use crate::call::word::Word;
use crate::policy::glob::{Fit, Glob, Token};
use crate::policy::patterns::{CommandPattern, PathPattern, WordPattern};
use crate::policy::rule::Commands;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// One word of the sequence that patterns are compared with: where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    pub(super) word: &'a Word,
    /// Index of the command access.
    level: usize,
    /// Index of the word in it.
    at: usize,
    /// Its command, unless it is a word in another spelling.
    command: Option<&'a Command>,
}

impl Item<'_> {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.command.map_or(&[][..], |command| &command.names);
        let own = all.iter().filter(|(at, _)| *at == self.at);
        own.map(|(_, name)| *name)
    }

    /// How a word of a pattern fits it, under any of its names, and for deny and ask by what it comes to.
    fn fit(&self, glob: &Glob, stance: Stance) -> Fit {
        let typed = glob.matches(self.word, false);
        let fits = |name: &str| glob.matches_text(name, false);
        let aims = self.command.map_or(&[][..], |command| &command.aims);
        let mut aims = aims.iter().filter(|(at, _)| *at == self.at);
        let named = || self.names().any(fits);
        let tightens = stance == Stance::Tightens;
        let aimed = tightens && aims.any(|(_, aim)| fits(aim));
        match typed == Fit::No {
            true if aimed || named() => Fit::Must,
            true if tightens && glob.begins("-") => self.unshortened(glob),
            _ => typed,
        }
    }

    /// The options in it.
    pub(super) fn options(&self) -> impl Iterator<Item = &Opt> {
        let all = self.command.map_or(&[][..], |command| &command.options);
        let from = all.partition_point(|option| option.at < self.at);
        let own = all.get(from..).unwrap_or_default();
        own.iter().take_while(|option| option.at == self.at)
    }

    /// An option as a rule may write it: `--har` is `--hard`, and one that nobody listed may be any that begins so.
    fn unshortened(&self, glob: &Glob) -> Fit {
        let value = self.word.prefix().split_once('=');
        let fits = |option: &Opt| {
            let typed = option.names.first().filter(|typed| typed.starts_with("--"));
            let Some(typed) = typed else { return Fit::No };
            let all = option.names.iter().skip(1);
            let mut longer = all.filter(|name| name.starts_with(&**typed));
            let written = |name: &str| {
                glob.matches_text(name, false)
                    || value
                        .is_some_and(|(_, own)| glob.matches_text(&format!("{name}={own}"), false))
            };
            match longer.any(|name| written(name)) {
                true => Fit::Must,
                false if option.open && glob.begins(typed) => Fit::MayPattern,
                false => Fit::No,
            }
        };
        self.options().map(fits).max().unwrap_or(Fit::No)
    }

    /// Its text, where nothing but that very text fits it.
    fn plain(&self) -> Option<&str> {
        let command = self.command;
        let aims = command.is_some_and(|command| command.aims.iter().any(|(at, _)| *at == self.at));
        let more = aims || self.word.splits || self.names().next().is_some();
        self.word.text().filter(|_| !more)
    }

    /// Whether it is an option or its value, which deny and ask look past for the option they write (`psql -d x -c y`).
    fn passed(&self, glob: &Glob, stance: Stance) -> bool {
        let role = self.command.and_then(|command| command.roles.get(self.at));
        stance == Stance::Tightens
            && matches!(role, Some(Role::Option | Role::Value))
            && glob.begins("-")
    }
}

/// How a rule fits one command.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// How surely.
    pub fit: Fit,
    /// The words that the rule names: level and word.
    pub named: Vec<(usize, usize)>,
    /// The levels whose words it reaches, outermost first; never empty where the rule fits.
    pub levels: Vec<usize>,
    /// The assignments that the pattern writes, before its program.
    pub assigned: Vec<String>,
    /// The first words that make the fit unsure, for the message.
    pub unsure: Option<Arc<str>>,
}

const NOTHING: Fitted = Fitted {
    fit: Fit::No,
    named: Vec::new(),
    levels: Vec::new(),
    assigned: Vec::new(),
    unsure: None,
};

/// Folders whose programs are the system's: a bare name may stand for one of theirs.
const SYSTEM: &[&str] = &[
    "/bin",
    "/usr/bin",
    "/sbin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
];

/// A command with the sequences of words that patterns are compared with: made once, tried with many rules.
pub struct Spelled<'a> {
    accesses: &'a [Access],
    at: usize,
    command: &'a Command,
    sequences: Few<Vec<Item<'a>>>,
    paths: Cow<'a, [&'a PathAccess]>,
    unsure: OnceCell<Option<Arc<str>>>,
}

impl<'a> Spelled<'a> {
    /// The command at an index; none where the access is no command.
    pub fn of(accesses: &'a [Access], at: usize) -> Option<Self> {
        let paths = paths_of(accesses).filter(|(owner, _)| *owner == at);
        let paths: Vec<_> = paths.map(|(_, path)| path).collect();
        Self::touching(accesses, at, paths.into())
    }

    /// The same, where the paths that it touches are at hand.
    pub fn touching(
        accesses: &'a [Access],
        at: usize,
        paths: Cow<'a, [&'a PathAccess]>,
    ) -> Option<Self> {
        Some(Self {
            accesses,
            at,
            command: command(accesses, at)?,
            sequences: sequences(accesses, at),
            paths,
            unsure: OnceCell::new(),
        })
    }

    /// The sequences of words that patterns are compared with.
    pub(super) fn sequences(&self) -> &[Vec<Item<'a>>] {
        &self.sequences
    }

    /// Its words that cannot be computed, if there are any.
    fn unsure(&self) -> Option<Arc<str>> {
        let found = || {
            let all = sequence(self.accesses, self.at, true, None);
            let unsure = all.iter().filter(|item| item.word.text().is_none());
            let mut shown: Vec<String> = unsure
                .map(|item| format!("`{}`", item.word.shown()))
                .collect();
            shown.dedup();
            (!shown.is_empty()).then(|| shown.join(", ").into())
        };
        self.unsure.get_or_init(found).clone()
    }
}

/// The paths that commands touch, each with the index of its command.
pub fn paths_of(accesses: &[Access]) -> impl Iterator<Item = (usize, &PathAccess)> {
    accesses.iter().filter_map(|access| match &access.kind {
        Kind::Path(path) => match path.cover {
            Cover::Command { at, .. } => Some((at, &**path)),
            Cover::Tool => None,
        },
        _ => None,
    })
}

/// How a command rule fits the command at `at`.
pub fn fit(
    rule: &Commands,
    accesses: &[Access],
    at: usize,
    stance: Stance,
    frame: &Frame<'_>,
) -> Fitted {
    match Spelled::of(accesses, at) {
        Some(spelled) => fit_spelled(rule, &spelled, stance, frame),
        None => NOTHING,
    }
}

/// How a command rule fits a command.
pub fn fit_spelled(
    rule: &Commands,
    spelled: &Spelled<'_>,
    stance: Stance,
    frame: &Frame<'_>,
) -> Fitted {
    let Spelled {
        at,
        command,
        ref sequences,
        ..
    } = *spelled;
    let mut best = NOTHING;
    for sequence in sequences {
        let name = sequence.first().and_then(|start| start.word.text());
        let name = name.map(|name| path::last(name).as_bytes());
        let second = sequence.get(1).and_then(Item::plain);
        // Most patterns of a rule name other programs, and their first letter tells, or go on with another word.
        let called = |own: Option<&str>| {
            name.zip(own.map(str::as_bytes))
                .is_none_or(|(name, own)| name.first() == own.first() && name.starts_with(own))
        };
        let named = |pattern: &&CommandPattern| {
            let word = |at: usize| pattern.words.get(at).and_then(WordPattern::literal);
            let other = |(own, given): (&str, &str)| own != given && !own.starts_with('-');
            (called(word(0)) || !pattern.path().is_empty())
                && !word(1).zip(second).is_some_and(other)
        };
        for pattern in rule.patterns.of(called).filter(named) {
            let mut fitted = prefix(pattern, sequence, command, stance, frame, rule.exact);
            if fitted.fit == Fit::No {
                continue;
            }
            if excepted(rule, spelled, stance, frame) {
                continue;
            }
            let mut found = Vec::new();
            for alternatives in &rule.with {
                let (fit, own) = present(alternatives, command, stance);
                found.extend(own);
                fitted.fit = fitted.fit.and(fit);
            }
            let named = found.iter().filter(|own| is_named(own, &found, command));
            fitted.named.extend(named.map(|own| (at, own.0)));
            for alternatives in &rule.without {
                fitted.fit =
                    fitted
                        .fit
                        .and(match (present(alternatives, command, stance).0, stance) {
                            (Fit::Must, _) => Fit::No,
                            (fit, Stance::Loosens) if fit.may() => Fit::No,
                            _ => Fit::Must,
                        });
            }
            if !rule.operands.is_empty() {
                fitted.fit = fitted
                    .fit
                    .and(operands(&rule.operands, spelled, stance, frame));
            }
            if rule.only_read && !command.only_reads {
                fitted.fit = Fit::No;
            }
            let covers = |own: &Fitted| (own.fit, own.named.len(), own.assigned.len());
            if covers(&fitted) > covers(&best) {
                best = fitted;
            }
        }
    }
    if best.fit.may() && best.fit != Fit::Must {
        best.unsure = spelled.unsure();
    }
    best
}

/// Whether a carve-out holds. What is carved out of an allow is kept as a deny would keep it: any spelling, and what
/// only may be it. What is carved out of a deny or an ask must surely be it.
fn excepted(rule: &Commands, spelled: &Spelled<'_>, stance: Stance, frame: &Frame<'_>) -> bool {
    if rule.except.is_empty() {
        return false;
    }
    let (other, enough) = match stance {
        Stance::Loosens => (Stance::Tightens, Fit::MayUnknown),
        Stance::Tightens => (Stance::Loosens, Fit::Must),
    };
    spelled.sequences.iter().any(|sequence| {
        let holds =
            |except| prefix(except, sequence, spelled.command, other, frame, false).fit >= enough;
        rule.except.iter().any(holds)
    })
}

/// What of a covered level an allow leaves open: escalations that its words do not name, dangerous assignments.
pub fn uncovered(accesses: &[Access], fitted: &Fitted) -> Option<String> {
    for (depth, level) in fitted.levels.iter().enumerate() {
        let Some(command) = command(accesses, *level) else {
            continue;
        };
        // The pattern was compared with the assignments of the outermost level only.
        let writes = |name: &String| depth == 0 && fitted.assigned.contains(name);
        for escalation in &command.escalations {
            let covered = match escalation.at {
                Trigger::Word(word) => fitted.named.contains(&(*level, word)),
                Trigger::Assignment(index) => command
                    .assignments
                    .get(index)
                    .is_some_and(|own| writes(&own.name)),
                Trigger::Unnamed => false,
            };
            if !covered {
                return Some(escalation.what.clone());
            }
        }
        for assignment in command
            .assignments
            .iter()
            .filter(|assignment| assignment.dangerous)
        {
            if !writes(&assignment.name) {
                return Some(format!("sets `{}`", assignment.name));
            }
        }
        // A value that cannot be computed is no constant: an allow does not cover it.
        if let Some(open) = command
            .assignments
            .iter()
            .find(|own| own.value.is_unknown() && !writes(&own.name))
        {
            return Some(format!(
                "sets `{}` to a value that cannot be computed",
                open.name
            ));
        }
    }
    None
}

/// The command access at an index.
pub fn command(accesses: &[Access], at: usize) -> Option<&Command> {
    match &accesses.get(at)?.kind {
        Kind::Command(command) => Some(command),
        _ => None,
    }
}

/// The words that patterns are compared with: those of this level, then those of the command it starts. First without
/// the words that count for nothing, then with them, then in the other spellings of its words and theirs.
fn sequences(accesses: &[Access], at: usize) -> Few<Vec<Item<'_>>> {
    let mut all = Few::One(sequence(accesses, at, false, None));
    let mut others = Vec::new();
    let mut skips = false;
    for level in levels(accesses, at) {
        let Some(command) = command(accesses, level) else {
            continue;
        };
        skips |= command.roles.contains(&Role::Skipped);
        let spelled = command.spellings.iter().map(|own| Some((level, own)));
        others.extend(spelled.map(|own| sequence(accesses, at, false, own)));
    }
    if skips {
        all.push(sequence(accesses, at, true, None));
    }
    all.extend(others);
    all
}

/// A command and those that it starts by words, one the other.
fn levels(accesses: &[Access], at: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(at), |level| {
        // Each step goes to a later access, so this ends.
        let inner = command(accesses, *level)?.inner?;
        (inner > *level).then_some(inner)
    })
}

fn sequence<'a>(
    accesses: &'a [Access],
    at: usize,
    full: bool,
    spelled: Option<(usize, &'a Spelling)>,
) -> Vec<Item<'a>> {
    let words = command(accesses, at).map_or(0, |command| command.words.len());
    let mut out = Vec::with_capacity(words);
    for index in levels(accesses, at) {
        let Some(command) = command(accesses, index) else {
            break;
        };
        let other = spelled.filter(|(own, _)| *own == index);
        let mut push = |word: &'a Word, at: usize, command: Option<&'a Command>| {
            out.push(Item {
                word,
                level: index,
                at,
                command,
            });
        };
        for (at, word) in command.words.iter().enumerate() {
            match (command.roles.get(at), other) {
                (Some(Role::Rest), _) if command.inner.is_some() => break,
                (_, Some((_, other))) if at == other.to => {
                    for word in &other.words {
                        push(word, at, None);
                    }
                }
                (_, Some((_, other))) if at >= other.from && at < other.to => {}
                (Some(Role::Skipped), _) if !full => {}
                _ => push(word, at, Some(command)),
            }
        }
    }
    out
}

/// How a pattern fits the start of a sequence.
fn prefix(
    pattern: &CommandPattern,
    sequence: &[Item<'_>],
    command: &Command,
    stance: Stance,
    frame: &Frame<'_>,
    exact: bool,
) -> Fitted {
    let Some(start) = sequence.first() else {
        return NOTHING;
    };
    let Some((first, rest)) = pattern.words.split_first() else {
        return match stance {
            Stance::Loosens => NOTHING,
            Stance::Tightens => Fitted {
                fit: Fit::Must,
                levels: vec![start.level],
                ..NOTHING
            },
        };
    };
    let path = pattern.path();
    let mut fit = program(first, path, start.word, command, stance, frame);
    for (name, value) in pattern.assignments() {
        let given = command
            .assignments
            .iter()
            .rev()
            .find(|own| own.name == *name);
        fit = fit.and(given.map_or(Fit::No, |own| value.matches(&own.value, false)));
    }
    if fit == Fit::No {
        return NOTHING;
    }
    let mut taken = Vec::new();
    let Some((words, end)) = words(rest, sequence, 1, exact, stance, &mut taken) else {
        return NOTHING;
    };
    if stance == Stance::Loosens && words != Fit::Must {
        return NOTHING;
    }
    let named: Vec<(usize, usize)> = std::iter::once(0)
        .chain(taken)
        .filter_map(|at| sequence.get(at))
        .map(|item| (item.level, item.at))
        .collect();
    let mut levels: Vec<usize> = sequence.iter().take(end).map(|item| item.level).collect();
    levels.dedup();
    Fitted {
        fit: fit.and(words),
        named,
        levels,
        assigned: pattern
            .assignments()
            .iter()
            .map(|(name, _)| name.clone())
            .collect(),
        unsure: None,
    }
}

/// The words after the program: the best fit, and how many words of the sequence it takes. A table of
/// pattern × sequence, so that a long line and many `**` take no longer than their product.
fn words(
    pattern: &[WordPattern],
    sequence: &[Item<'_>],
    start: usize,
    exact: bool,
    stance: Stance,
    taken: &mut Vec<usize>,
) -> Option<(Fit, usize)> {
    let count = sequence.len();
    // Words that stand for one each against a pattern that passes over none are the common case: no table is needed.
    let plain = |word: &WordPattern| match word {
        WordPattern::Any => false,
        WordPattern::Word(glob) => !glob.begins("-"),
    };
    let simple = !exact && pattern.iter().all(plain);
    let given = sequence.get(start..).unwrap_or_default();
    if simple
        && !given
            .iter()
            .take(pattern.len())
            .any(|item| item.word.splits)
    {
        if given.len() < pattern.len() {
            return None;
        }
        let mut fit = Fit::Must;
        for (word, item) in pattern.iter().zip(given) {
            if let WordPattern::Word(glob) = word {
                fit = fit.and(item.fit(glob, stance));
            }
            if fit == Fit::No {
                return None;
            }
        }
        taken.extend(start..start + pattern.len());
        return Some((fit, start + pattern.len()));
    }
    let ended: Vec<Fit> = (0..=count)
        .map(|at| match exact && at < count {
            // What is left may be no word at all, where each may vanish.
            true if sequence.iter().skip(at).all(|item| item.word.splits) => Fit::MayUnknown,
            true => Fit::No,
            false => Fit::Must,
        })
        .collect();
    let mut table = vec![ended];
    for word in pattern.iter().rev() {
        let after = table.last().map(Vec::as_slice).unwrap_or_default();
        let mut fits = vec![Fit::No; count + 1];
        for at in (start..=count).rev() {
            let next = |fits: &[Fit], at: usize| fits.get(at).copied().unwrap_or(Fit::No);
            let fit = match (word, sequence.get(at)) {
                (WordPattern::Any, _) => next(after, at).max(next(&fits, at + 1)),
                (WordPattern::Word(_), None) => Fit::No,
                // It may be several words, or none: all that comes after may match.
                (WordPattern::Word(_), Some(item)) if item.word.splits => Fit::MayUnknown,
                (WordPattern::Word(glob), Some(item)) => {
                    let fit = item.fit(glob, stance).and(next(after, at + 1));
                    match item.passed(glob, stance) {
                        true => fit.max(next(&fits, at + 1)),
                        false => fit,
                    }
                }
            };
            if let Some(place) = fits.get_mut(at) {
                *place = fit;
            }
        }
        table.push(fits);
    }
    // `table[n]` is for the last n words of the pattern: walk the best way forward.
    let fit_at = |left: usize, at: usize| {
        table
            .get(left)
            .and_then(|fits| fits.get(at))
            .copied()
            .unwrap_or(Fit::No)
    };
    let fit = fit_at(pattern.len(), start);
    if fit == Fit::No {
        return None;
    }
    let mut at = start;
    for (index, word) in pattern.iter().enumerate() {
        let left = pattern.len() - index;
        match word {
            WordPattern::Any => {
                while at < count && fit_at(left - 1, at) < fit_at(left, at) {
                    at += 1;
                }
            }
            WordPattern::Word(_) if sequence.get(at).is_some_and(|item| item.word.splits) => {
                return Some((fit, count));
            }
            WordPattern::Word(glob) => {
                let passed = |at: usize| {
                    let item = sequence.get(at);
                    item.is_some_and(|item| item.passed(glob, stance))
                };
                while passed(at) && fit_at(left, at + 1) >= fit_at(left, at) {
                    at += 1;
                }
                taken.push(at);
                at += 1;
            }
        }
    }
    Some((fit, at))
}

/// How the program of a pattern fits the program of a command.
fn program(
    pattern: &WordPattern,
    path: &[PathPattern],
    word: &Word,
    command: &Command,
    stance: Stance,
    frame: &Frame<'_>,
) -> Fit {
    let WordPattern::Word(glob) = pattern else {
        return Fit::No;
    };
    let Some(text) = word.text() else {
        return match stance {
            Stance::Loosens => Fit::No,
            Stance::Tightens => glob.matches(word, false),
        };
    };
    if !path.is_empty() {
        return path_program(glob, path, text, command, stance, frame);
    }
    match stance {
        Stance::Loosens => {
            let name = match text.rsplit_once('/') {
                None => text,
                Some((folder, name)) if SYSTEM.contains(&folder) => name,
                // `*` names any program, wherever it stands.
                Some(_) if glob.is_star() => text,
                Some(_) => return Fit::No,
            };
            glob.matches_text(name, false).into()
        }
        Stance::Tightens => names(text)
            .any(|name| glob.matches_text(name, false))
            .into(),
    }
}

/// A pattern that writes a path: compared with where the program resolves to.
fn path_program(
    glob: &Glob,
    path: &[PathPattern],
    text: &str,
    command: &Command,
    stance: Stance,
    frame: &Frame<'_>,
) -> Fit {
    // A script that an interpreter runs is looked for where it runs, not in PATH.
    if !text.contains('/') && !command.scripted {
        // A bare name is looked up in PATH: it may be the system's program that a deny writes out.
        return (stance == Stance::Tightens && is_of_system(glob, text)).into();
    }
    // The very spelling of the pattern, where no folder is known to resolve it.
    if frame.roots.is_empty() && glob.matches_text(text, false) {
        return Fit::Must;
    }
    let located = Located::locate(
        &Word::known(text, word_span()),
        command.cwd.as_deref(),
        Reach::Itself,
        frame,
    );
    let one = |spelling| paths::any(path, spelling, &located, stance, true);
    match stance {
        Stance::Tightens => located.spellings.iter().map(one).max().unwrap_or(Fit::No),
        // The link may lead anywhere: an allow names the program as it is called.
        Stance::Loosens => located.spellings.first().map_or(Fit::No, one),
    }
}

/// Whether a pattern writes out the system's program of this name.
fn is_of_system(glob: &Glob, name: &str) -> bool {
    SYSTEM.iter().any(|folder| {
        let slashes = folder.matches('/').count() + 1;
        let tokens = glob.tokens();
        let own = tokens.iter().filter(|token| **token == Token::Char('/'));
        glob.begins(&format!("{folder}/"))
            && own.count() == slashes
            && glob.matches_text(&format!("{folder}/{name}"), false)
    })
}

const fn word_span() -> crate::source::Span {
    crate::source::Span::new(0, 0)
}

/// The names that a deny or ask knows a program by: its base name, without a version, and `git-push` as `git`.
pub fn names(program: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path::last(program)), |name| {
        let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
        // `python3.12` → `python3` → `python`; `gcc-12` → `gcc`.
        let shorter = digits.trim_end_matches(['.', '-']);
        (digits.len() < name.len() && !shorter.is_empty()).then_some(shorter)
    })
}

/// A word that is there, and the option in it that is meant.
type Found<'c> = (usize, Option<&'c Opt>);

/// Whether each option in a word is meant that does more than an allow covers: `-Ssx` is more than `-S`.
fn is_named(own: &Found<'_>, found: &[Found<'_>], command: &Command) -> bool {
    let meant = |name: &str| {
        let mut same = found.iter().filter(|other| other.0 == own.0);
        same.any(|(_, option)| option.is_none_or(|option| option.names.iter().any(|it| it == name)))
    };
    let here = command.escalations.iter();
    let mut here = here.filter(|escalation| escalation.at == Trigger::Word(own.0));
    here.all(|escalation| escalation.option.is_none_or(meant))
}

/// Whether a word that `with` or `without` names is present, and which words that are.
fn present<'c>(
    alternatives: &[Glob],
    command: &'c Command,
    stance: Stance,
) -> (Fit, Vec<Found<'c>>) {
    let mut best = Fit::No;
    let mut found = Vec::new();
    let mut note = |fit: Fit, at: usize, option: Option<&'c Opt>| {
        if fit == Fit::Must {
            found.push((at, option));
        }
        best = best.max(fit);
    };
    let undone: BTreeSet<usize> = match stance {
        Stance::Loosens => {
            let undone = command.options.iter().filter(|option| option.undone);
            undone.map(|option| option.at).collect()
        }
        Stance::Tightens => BTreeSet::new(),
    };
    for glob in alternatives {
        for option in &command.options {
            let may_be = || {
                option
                    .names
                    .iter()
                    .any(|name| glob.matches_text(name, false))
            };
            // What a later option takes back is not surely there.
            if option.undone && stance == Stance::Loosens {
                if may_be() {
                    note(Fit::MayUnknown, option.at, None);
                }
                continue;
            }
            // `--forc` may be the `--force` that the rule means.
            let typed = option.names.first().filter(|_| option.open);
            if let Some(typed) = typed
                && glob.begins(typed)
            {
                note(Fit::MayPattern, option.at, None);
            }
            if !option.sure && stance == Stance::Loosens {
                if may_be() {
                    note(Fit::MayUnknown, option.at, None);
                }
                continue;
            }
            let valued = |name: &str| {
                let value = option.value.as_ref().and_then(Word::text);
                value.is_some_and(|value| glob.matches_text(&format!("{name}={value}"), false))
            };
            if option
                .names
                .iter()
                .any(|name| glob.matches_text(name, false) || valued(name))
            {
                note(Fit::Must, option.at, Some(option));
            }
        }
        let mut operands_only = false;
        for (at, word) in command.words.iter().enumerate().skip(1) {
            let role = command.roles.get(at).copied().unwrap_or(Role::Operand);
            if role == Role::Value || (role == Role::Rest && stance == Stance::Loosens) {
                continue;
            }
            if undone.contains(&at) {
                continue;
            }
            let text = word.text();
            if text == Some("--") {
                operands_only = true;
                if glob.as_literal() == Some("--") {
                    note(Fit::Must, at, None);
                }
                continue;
            }
            // An option is found by its name above: its word is compared as a whole only for what is no option name.
            let fit = match (text, operands_only) {
                (Some(text), true) if text.starts_with('-') => Fit::No,
                _ => glob.matches(word, false),
            };
            let may_be_option = word.is_unknown()
                && !operands_only
                && matches!(word.prefix().chars().next(), None | Some('-'));
            note(fit, at, None);
            if fit == Fit::No
                && may_be_option
                && (word.splits || role != Role::Operand || word.prefix().is_empty())
            {
                note(Fit::MayUnknown, at, None);
            }
        }
    }
    (best, found)
}

/// How the operands of a command fit path patterns.
fn operands(
    patterns: &[PathPattern],
    spelled: &Spelled<'_>,
    stance: Stance,
    frame: &Frame<'_>,
) -> Fit {
    let command = spelled.command;
    let located: Vec<Located> = {
        let named: Vec<&Word> = command
            .words
            .iter()
            .zip(&command.roles)
            .filter(|(word, role)| **role == Role::Operand && word.text() != Some("--"))
            .map(|(word, _)| word)
            .collect();
        // The operands that are paths, where the program is known: `grep PATTERN file` has one.
        let paths: Vec<Located> = spelled
            .paths
            .iter()
            .filter(|path| command.known || named.iter().any(|word| word.span == path.path.span))
            .map(|path| Located::of(path, frame))
            .collect();
        match paths.is_empty() {
            false => paths,
            true => named
                .iter()
                .map(|word| Located::locate(word, command.cwd.as_deref(), Reach::Itself, frame))
                .collect(),
        }
    };
    let one = |located: &Located| {
        let spelled = located
            .spellings
            .iter()
            .map(|spelling| paths::any(patterns, spelling, located, stance, false));
        match stance {
            Stance::Tightens => spelled.max(),
            Stance::Loosens => spelled.min(),
        }
        .unwrap_or(Fit::No)
    };
    match stance {
        Stance::Tightens => located.iter().map(one).max().unwrap_or(Fit::No),
        Stance::Loosens => {
            let open = command
                .words
                .iter()
                .zip(&command.roles)
                .any(|(word, role)| word.splits && *role != Role::Rest);
            match open {
                true => Fit::No,
                false => located.iter().map(one).min().unwrap_or(Fit::No),
            }
        }
    }
}
