//! A command's words, read, become an outcome.
//!
//! In: a [`Reading`]. Out: an [`Outcome`]: each operand and value judged by what the table says it is,
//! the escalations, what is started. A program that the table does not know: [`unknown`].

use super::reading::{Found, Reading};
use super::values::Judge;
use super::{Effect, Escalation, Opt, Outcome, Role, Starts, Stdin, What};
use crate::call::access::{Mode, Reach, Trigger};
use crate::call::programs::{Does, Entry, Kind, Set, Signature, Slot, Start, Style, Takes};
use crate::call::word::Word;

const TEXT: Slot = Slot {
    kind: Kind::Text,
    named: false,
};

/// What a program that the table does not know may do: its clusters are guesses, its operands may be paths.
pub(super) fn unknown(words: &[Word]) -> Outcome {
    let mut out = Outcome {
        roles: vec![Role::Operand; words.len()],
        ..Outcome::default()
    };
    let mut judge = Judge::new(words, None, None, &[]);
    let mut ended = false;
    for (at, word) in words.iter().enumerate() {
        let prefix = word.prefix();
        let role = if at == 0 {
            Role::Program
        } else if !ended && prefix.starts_with('-') && prefix.len() > 1 {
            ended = prefix == "--" && word.text().is_some();
            Role::Option
        } else {
            Role::Operand
        };
        if let Some(slot) = out.roles.get_mut(at) {
            *slot = role;
        }
        match role {
            Role::Operand => judge.value(
                Slot {
                    kind: Kind::Maybe,
                    named: false,
                },
                word,
                at,
                at,
                true,
            ),
            Role::Option if !ended => {
                if let Some(value) = guess(word, at, &mut out.options) {
                    judge.value(
                        Slot {
                            kind: Kind::Maybe,
                            named: false,
                        },
                        &value,
                        at,
                        at,
                        false,
                    );
                }
            }
            _ => {}
        }
    }
    out.effects = judge
        .effects
        .into_iter()
        .map(|(_, effect)| effect)
        .collect();
    out
}

/// The options that a word of an unknown program may be; the value after its `=`, which may be a path.
fn guess(word: &Word, at: usize, options: &mut Vec<Opt>) -> Option<Word> {
    let prefix = word.prefix();
    let (name, value) = match prefix.split_once('=') {
        Some((name, _)) => (name, Some(super::reading::cut(word, name.len() + 1))),
        None => (prefix, None),
    };
    let sure = word.text().is_some() || value.is_some();
    let long = name.starts_with("--") || name.len() == 2;
    options.push(Opt {
        names: vec![name.to_owned()],
        value: value.clone(),
        at,
        sure: sure && long,
    });
    if !long {
        for letter in name.chars().skip(1).filter(|c| c.is_ascii_alphanumeric()) {
            options.push(Opt {
                names: vec![format!("-{letter}")],
                value: None,
                at,
                sure: false,
            });
        }
        // `-I/path`, `-ofile`.
        return value.or_else(|| Some(super::reading::cut(word, 2)));
    }
    value
}

/// What a known program does.
pub(super) fn known(reading: Reading, words: &[Word], stdin: Stdin) -> Outcome {
    let Some(entry) = reading.entry() else {
        return Outcome::default();
    };
    let mut out = Outcome {
        known: true,
        ..Outcome::default()
    };

    let below = reading.sets(Set::Below);
    let hidden = reading.sets(Set::Hidden);
    let dir = folder(&reading);
    let harmless = reading
        .entries
        .iter()
        .rev()
        .map(|entry| entry.harmless)
        .find(|list| !list.is_empty());
    let mut judge = Judge::new(words, None, dir, harmless.unwrap_or(&[]));
    judge.below = below;
    judge.hidden = hidden;

    for (level, (entry, at)) in reading.entries.iter().zip(&reading.chosen).enumerate() {
        if let (Some(what), true) = (entry.escalates, level > 0) {
            judge.escalate(what, *at);
        }
    }
    for found in &reading.found {
        value_of(&reading, found, entry, &mut judge);
    }
    for at in &reading.assignments {
        if let Some(word) = words.get(*at) {
            judge.value(
                Slot {
                    kind: Kind::Assign,
                    named: true,
                },
                word,
                *at,
                *at,
                true,
            );
        }
    }
    let paths = operands(&reading, entry, words, &mut judge);
    implied(&reading, entry, words, paths, stdin, &mut judge);
    for (from, end) in &reading.commands {
        judge.starts.push((
            *from,
            Starts::Words {
                from: *from,
                end: *end,
                more: true,
            },
        ));
    }
    starts(&reading, entry, words, stdin, &mut judge);

    let Judge {
        mut effects,
        escalations,
        mut starts,
        ..
    } = judge;
    effects.sort_by_key(|(at, _)| *at);
    starts.sort_by_key(|(at, _)| *at);
    out.effects = effects.into_iter().map(|(_, effect)| effect).collect();
    out.escalations = escalations;
    out.starts = starts.into_iter().map(|(_, starts)| starts).collect();
    let opaque = out.starts.iter().any(|starts| {
        matches!(
            starts,
            Starts::Opaque(_) | Starts::File { .. } | Starts::Code { .. }
        )
    });
    out.transparent =
        entry.transparent && !out.starts.is_empty() && !opaque && out.escalations.is_empty();
    out.only_reads = only_reads(&reading, &out);
    out.roles = reading.roles;
    out.options = reading.options;
    out
}

/// The value of an option, and what the option does beyond it.
fn value_of(reading: &Reading, found: &Found, entry: &Entry, judge: &mut Judge) {
    let spec = found.spec;
    let value = found.value.as_ref();
    let text = value.and_then(|value| value.word.text());
    if text.is_some_and(|text| spec.harmless.contains(&text)) {
        return;
    }
    if let Some(what) = spec.escalates {
        judge.escalate(what, found.at);
    }
    let Some(value) = value else { return };
    // Another option may say what this value is: `tar -x` reads the file of `-f`, `tar -c` writes it.
    let other = |(name, slot): (&'static str, Slot)| spec.names.contains(&name).then_some(slot);
    let slot = reading
        .found
        .iter()
        .flat_map(|found| found.spec.sets)
        .find_map(|set| match set {
            Set::Value(name, slot) => other((name, *slot)),
            _ => None,
        });
    let (inside, below) = (judge.dir.clone(), std::mem::take(&mut judge.below));
    if entry.style == Style::Bundle {
        judge.dir = None;
    }
    judge.value(
        slot.unwrap_or(spec.slot),
        &value.word,
        value.at,
        found.at,
        value.whole && spec.takes != Takes::Attached,
    );
    (judge.dir, judge.below) = (inside, below);
}

/// The folder that relative operands start from (`git -C`, `tar -C`, `make -C`).
fn folder(reading: &Reading) -> Option<Word> {
    let folders = reading
        .found
        .iter()
        .filter(|found| found.spec.slot.kind == Kind::Dir);
    folders
        .filter_map(|found| found.value.as_ref())
        .map(|value| value.word.clone())
        .reduce(|base, next| super::values::join(&base, &next))
}

/// The operands, each as the entry says; returns how many were paths.
fn operands(reading: &Reading, entry: &Entry, words: &[Word], judge: &mut Judge) -> usize {
    let started = match entry.starts {
        // Script, code and their arguments: see `starts`.
        Start::Shell | Start::Code | Start::Source => return 0,
        _ => reading.rest.is_some(),
    };
    let default = Slot {
        kind: if reading.stray.is_some() {
            Kind::Maybe
        } else {
            Kind::Text
        },
        named: false,
    };
    let signature = entry.operands.unwrap_or(Signature {
        first: &[],
        rest: default,
        last: &[],
    });
    let replaced = reading.found.iter().find_map(|found| {
        found.spec.sets.iter().find_map(|set| match set {
            Set::Rest(slot) => Some((*slot, found.at)),
            _ => None,
        })
    });
    let first = if reading.sets(Set::NoFirst) {
        &[]
    } else {
        signature.first
    };
    let last = if replaced.is_some() || reading.sets(Set::NoLast) {
        &[]
    } else {
        signature.last
    };
    let count = reading.operands.len();
    let from_last = count.saturating_sub(last.len()).max(first.len());
    // With `--` before it a revision is surely a path.
    let dashes = words
        .iter()
        .position(|word| word.text() == Some("--"))
        .unwrap_or(usize::MAX);
    let below = judge.below;
    let mut paths = 0;
    for (nth, at) in reading.operands.iter().enumerate() {
        let Some(word) = words.get(*at) else { continue };
        if let Some(pair) = pair(entry, word) {
            judge.value(pair.0, &pair.1, *at, *at, false);
            paths += 1;
            continue;
        }
        let (mut slot, mut naming) = (signature.rest, *at);
        judge.below = below;
        if let Some(kind) = first.get(nth) {
            slot = *kind;
            judge.below = false;
        } else if nth >= from_last
            && (count > last.len() || !last.is_empty() && count == 1 && first.is_empty())
            && !last.is_empty()
        {
            slot = last.get(nth - from_last).copied().unwrap_or(TEXT);
            if count <= last.len() {
                slot = signature.rest;
            }
            judge.below = false;
            // `cp a *`: the last of several names is written, the others are read.
            if word.text().is_none() && started_as_rest(word) {
                judge.value(signature.rest, word, *at, *at, true);
            }
        } else if let Some((kind, option)) = replaced {
            (slot, naming) = (kind, option);
        }
        if *at > dashes {
            slot.kind = match slot.kind {
                Kind::Revision => Kind::Read,
                Kind::Tree => Kind::WriteBelow,
                kind => kind,
            };
        }
        // A word before this one may be an option that takes the place of the text: `grep $X .env`.
        if slot.kind == Kind::Text
            && !slot.named
            && nth < first.len()
            && reading.doubt.is_some_and(|doubt| doubt < *at)
        {
            slot.kind = Kind::Maybe;
        }
        paths += usize::from(!matches!(slot.kind, Kind::Text | Kind::Sed | Kind::Awk));
        if !(started && entry.transparent && slot.kind == Kind::Text) {
            judge.value(slot, word, *at, naming, true);
        }
    }
    judge.below = below;
    paths
}

/// Whether the word may stand for several.
fn started_as_rest(word: &Word) -> bool {
    word.splits || !word.is_unknown()
}

/// `of=FILE` of `dd`.
fn pair(entry: &Entry, word: &Word) -> Option<(Slot, Word)> {
    let (name, _) = word.prefix().split_once('=')?;
    let spec = entry.pairs.iter().find(|spec| spec.names.contains(&name))?;
    Some((spec.slot, super::reading::cut(word, name.len() + 1)))
}

/// Works on `.` where no path is given, and writes unknown names where an archive is unpacked.
fn implied(
    reading: &Reading,
    entry: &Entry,
    words: &[Word],
    paths: usize,
    stdin: Stdin,
    judge: &mut Judge,
) {
    let here = || words.first().map(|word| Word::known(".", word.span));
    if paths == 0 && (entry.implied || reading.sets(Set::Implied)) {
        let Some(here) = here() else { return };
        let replaced = reading.found.iter().find_map(|found| {
            found.spec.sets.iter().find_map(|set| match set {
                Set::Rest(slot) => Some((*slot, found.at)),
                _ => None,
            })
        });
        let (slot, naming) =
            replaced.unwrap_or((entry.operands.map_or(TEXT, |operands| operands.rest), 0));
        // `rg x` searches what is fed to it, where something is.
        if slot.kind != Kind::ReadShown || stdin == Stdin::None {
            judge.value(slot, &here, words.len(), naming, false);
        }
    }
    for found in &reading.found {
        for set in found.spec.sets {
            if let (Set::Here(slot), Some(here)) = (set, here()) {
                judge.value(*slot, &here, words.len(), found.at, false);
            }
        }
    }
    if (entry.into || reading.sets(Set::Into)) && !reading.sets(Set::Stop) {
        let Some(here) = here() else { return };
        let dir = judge.dir.clone();
        let value = dir.unwrap_or(here);
        judge.path(
            &value,
            words.len(),
            None,
            Mode::Write,
            Reach::SomethingBelow,
            true,
        );
    }
}

/// What the operands start.
fn starts(reading: &Reading, entry: &Entry, words: &[Word], stdin: Stdin, judge: &mut Judge) {
    let operands = &reading.operands;
    let rest = reading.rest;
    let end = words.len();
    let opaque = |judge: &mut Judge, at: usize| {
        let shown = words.get(at).map(Word::shown).unwrap_or_default();
        judge.starts.push((
            at,
            Starts::Opaque(format!(
                "what `{shown}` makes of the words after it cannot be computed"
            )),
        ));
    };
    // `docker $X alpine`: it may be a subcommand that starts something.
    if let Some(stray) = reading
        .stray
        .filter(|stray| words.get(*stray).is_some_and(|word| word.text().is_none()))
    {
        if entry
            .subs
            .iter()
            .any(|(_, sub)| sub.starts != Start::Nothing)
        {
            opaque(judge, stray);
        }
    }
    match entry.starts {
        Start::Nothing => {}
        Start::Opaque => {
            if operands.iter().any(|at| *at > 0) {
                opaque(judge, 0);
            }
        }
        Start::Words | Start::WordsMore => {
            if let Some(from) = rest {
                let more = entry.starts == Start::WordsMore;
                judge.starts.push((from, Starts::Words { from, end, more }));
            }
            if let (Some(doubt), false) = (reading.doubt, reading.sets(Set::Stop)) {
                opaque(judge, doubt);
            }
        }
        Start::Joined => {
            if let Some(from) = rest {
                judge.starts.push((from, joined(from, end, false)));
            }
            if let (Some(doubt), false) = (reading.doubt, reading.sets(Set::Stop)) {
                opaque(judge, doubt);
            }
        }
        Start::Parallel => parallel(rest, words, stdin, judge),
        Start::Shell => {
            let arguments = shell(reading, words, stdin, judge);
            // A script that cannot be computed is opaque by itself: `bash -c "$X"`.
            let script = operands.first().filter(|_| reading.sets(Set::Script));
            let splits = |at: usize| words.get(at).is_some_and(|word| word.splits);
            if let Some(doubt) = reading
                .doubt
                .filter(|doubt| script != Some(doubt) || splits(*doubt))
            {
                opaque(judge, doubt);
            }
            maybe(operands, arguments, words, judge);
        }
        Start::Source => {
            if let Some((at, word)) = operands.first().and_then(|at| Some((*at, words.get(*at)?))) {
                judge.value(
                    Slot {
                        kind: Kind::Read,
                        named: false,
                    },
                    word,
                    at,
                    at,
                    true,
                );
                judge.starts.push((at, Starts::File { word: at }));
                maybe(operands, 1, words, judge);
            }
        }
        Start::Code => {
            let arguments = code(reading, entry, words, stdin, judge);
            maybe(operands, arguments, words, judge);
        }
    }
}

/// A shell: `-c SCRIPT`, `-s`, a script file or standard input. Returns how many operands it took.
fn shell(reading: &Reading, words: &[Word], stdin: Stdin, judge: &mut Judge) -> usize {
    let first = reading.operands.first().copied();
    if reading.sets(Set::Stop) {
        return 0;
    }
    if reading.sets(Set::Script) {
        if let Some(word) = first {
            let args = reading.operands.get(1).copied();
            judge.starts.push((word, Starts::Script { word, args }));
        }
        return 1;
    }
    let input = |text: Option<&str>| {
        matches!(
            text,
            Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
        )
    };
    let text = first.and_then(|at| words.get(at)).map(Word::text);
    match first {
        Some(at) if !reading.sets(Set::Stdin) && !text.is_some_and(input) => {
            if let Some(word) = words.get(at) {
                judge.value(
                    Slot {
                        kind: Kind::Read,
                        named: false,
                    },
                    word,
                    at,
                    at,
                    true,
                );
            }
            judge.starts.push((at, Starts::File { word: at }));
            1
        }
        _ => {
            if stdin == Stdin::Fed || reading.sets(Set::Stdin) {
                judge.starts.push((0, Starts::Stdin));
            }
            usize::from(text.is_some_and(input))
        }
    }
}

/// An interpreter: code in an option, a file of code, or standard input. Returns how many operands it took.
fn code(
    reading: &Reading,
    entry: &Entry,
    words: &[Word],
    stdin: Stdin,
    judge: &mut Judge,
) -> usize {
    let replaced = reading.found.iter().find_map(|found| {
        found.spec.sets.iter().find_map(|set| match set {
            Set::Rest(slot) => Some((*slot, found.at)),
            _ => None,
        })
    });
    let first = reading
        .operands
        .first()
        .and_then(|at| Some((*at, words.get(*at)?)));
    let skips = reading.sets(Set::NoFirst)
        || reading.sets(Set::Stop)
        || reading
            .found
            .iter()
            .any(|found| found.spec.sets.contains(&Set::End));
    let mut taken = 0;
    if !skips {
        match first {
            Some((at, word)) if word.text() != Some("-") && word.text() != Some("/dev/stdin") => {
                judge.value(
                    Slot {
                        kind: Kind::Read,
                        named: false,
                    },
                    word,
                    at,
                    at,
                    true,
                );
                judge.starts.push((at, Starts::Code { word: at }));
                taken = 1;
            }
            Some(_) => {
                judge.escalations.push(Escalation {
                    what: "runs code from standard input".to_owned(),
                    at: Trigger::Unnamed,
                });
                taken = 1;
            }
            None if stdin == Stdin::Fed && entry.subs.is_empty() => {
                judge.escalations.push(Escalation {
                    what: "runs code from standard input".to_owned(),
                    at: Trigger::Unnamed,
                });
            }
            None => {}
        }
    }
    if let Some((slot, option)) = replaced {
        for at in reading.operands.iter().skip(taken) {
            if let Some(word) = words.get(*at) {
                judge.value(slot, word, *at, option, true);
            }
        }
        return reading.operands.len();
    }
    taken
}

/// The arguments of a script: what it does with them is not known.
fn maybe(operands: &[usize], from: usize, words: &[Word], judge: &mut Judge) {
    for at in operands.iter().skip(from) {
        if let Some(word) = words.get(*at) {
            judge.value(
                Slot {
                    kind: Kind::Maybe,
                    named: false,
                },
                word,
                *at,
                *at,
                true,
            );
        }
    }
}

/// One word is a script; several are one joined by blanks.
fn joined(from: usize, end: usize, more: bool) -> Starts {
    if end == from + 1 && !more {
        Starts::Script {
            word: from,
            args: None,
        }
    } else {
        Starts::Joined { from, end, more }
    }
}

/// `parallel CMD ::: a b`: the command, then arguments, which are commands themselves where there is none.
fn parallel(rest: Option<usize>, words: &[Word], stdin: Stdin, judge: &mut Judge) {
    let begin = rest.unwrap_or(words.len());
    let mark = |word: &Word| {
        word.text()
            .is_some_and(|text| matches!(text, ":::" | ":::+" | "::::" | "::::+"))
    };
    let end = words
        .iter()
        .enumerate()
        .skip(begin)
        .find(|(_, word)| mark(word))
        .map_or(words.len(), |(at, _)| at);
    if begin < end {
        judge.starts.push((begin, joined(begin, end, true)));
    } else if stdin == Stdin::Fed && end == words.len() {
        judge.starts.push((begin, Starts::Stdin));
    }
    let mut files = false;
    for (at, word) in words.iter().enumerate().skip(end) {
        if mark(word) {
            files = word.text().is_some_and(|text| text.starts_with("::::"));
        } else if files {
            judge.value(
                Slot {
                    kind: Kind::Read,
                    named: false,
                },
                word,
                at,
                at,
                true,
            );
            if begin == end {
                judge.starts.push((
                    at,
                    Starts::Opaque(format!("runs the lines of `{}`", word.shown())),
                ));
            }
        } else if begin == end {
            judge.starts.push((
                at,
                Starts::Script {
                    word: at,
                    args: None,
                },
            ));
        } else {
            judge.value(
                Slot {
                    kind: Kind::Maybe,
                    named: false,
                },
                word,
                at,
                at,
                true,
            );
        }
    }
}

/// Whether everything the command does by itself is reading.
fn only_reads(reading: &Reading, out: &Outcome) -> bool {
    let own = reading.entries.iter().rev().find_map(|entry| entry.does);
    let set = reading
        .found
        .iter()
        .flat_map(|found| found.spec.sets)
        .filter_map(|set| match set {
            Set::Does(does) => Some(*does),
            _ => None,
        });
    let does = set.last().or(own).unwrap_or(Does::Reads);
    let writes = |effect: &Effect| {
        matches!(
            effect.what,
            What::Path {
                mode: Mode::Write,
                certain: true,
                ..
            }
        )
    };
    let runs = |starts: &Starts| {
        !matches!(
            starts,
            Starts::Words { .. } | Starts::Script { .. } | Starts::Joined { .. }
        )
    };
    matches!(does, Does::Nothing | Does::Reads | Does::Connects)
        && reading.stray.is_none()
        && !out.effects.iter().any(writes)
        && out.escalations.is_empty()
        && !out.starts.iter().any(runs)
}
