//! What a known program starts: the words after it, a script, a file, standard input.
//!
//! In: a [`Reading`] and what is fed to the command. Out: [`Starts`], pushed on the [`Judge`].
//! What cannot be followed is [`Starts::Opaque`], beside what was found.

use super::reading::{Found, Reading};
use super::values::Judge;
use super::{Escalation, Starts, Stdin};
use crate::call::access::Trigger;
use crate::call::programs::{Entry, Kind, Set, Slot, Start};
use crate::call::word::Word;

/// What the operands start.
pub(super) fn starts(
    reading: &Reading,
    entry: &Entry,
    words: &[Word],
    stdin: Stdin,
    judge: &mut Judge,
) {
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
    let computed = |at: &usize| words.get(*at).is_some_and(|word| word.text().is_none());
    let may_start = || {
        entry
            .subs
            .iter()
            .any(|(_, sub)| sub.starts != Start::Nothing)
    };
    if let Some(stray) = reading.stray.filter(computed)
        && may_start()
    {
        opaque(judge, stray);
    }
    if entry.console && stdin == Stdin::Fed && !reading.sets(Set::Stop) {
        fed(judge);
        judge.starts.push((0, Starts::Console));
    }
    match entry.starts {
        Start::Nothing => {
            if let Some(from) = rest.filter(|_| {
                !reading
                    .found
                    .iter()
                    .any(|found| found.spec.slot.kind == Kind::Module)
            }) {
                judge.starts.push((from, Starts::words(from, end)));
            }
        }
        Start::Opaque => {
            if operands.iter().any(|at| *at > 0) {
                opaque(judge, 0);
            }
        }
        Start::Words | Start::WordsMore => {
            let leader = reading
                .found
                .iter()
                .find(|found| found.spec.slot.kind == Kind::Leader);
            if let Some(value) = leader.and_then(|found| found.value.as_ref()) {
                judge.leads(&value.word, value.at, rest.unwrap_or(end));
            } else if let Some(word) = rest.filter(|_| reading.sets(Set::Script)) {
                let args = Some(word + 1).filter(|at| *at < end);
                judge.starts.push((word, Starts::Script { word, args }));
                // `pnpm -c exec rm -rf x`: some join the words.
                if args.is_some() {
                    judge.starts.push((word, joined(word, end, false)));
                }
            } else if let Some(from) = rest {
                let (more, package) = (entry.starts == Start::WordsMore, entry.packages);
                judge.starts.push((
                    from,
                    Starts::Words {
                        from,
                        end,
                        more,
                        package,
                    },
                ));
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
        Start::Own => {
            if let Some(from) = rest {
                judge.own_words(from);
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
                judge.value(Slot::of(Kind::Read), word, at, at, true);
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

/// What is fed to it is code.
pub(super) fn fed(judge: &mut Judge) {
    let new = Escalation {
        option: None,
        what: "runs code from standard input".to_owned(),
        instead: None,
        at: Trigger::Unnamed,
    };
    if !judge.escalations.contains(&new) {
        judge.escalations.push(new);
    }
}

/// Whether a shell or an interpreter has nothing to do but what is typed into it, now or in the end.
pub(super) fn open(
    reading: &Reading,
    entry: &Entry,
    words: &[Word],
    stdin: Stdin,
    starts: &[Starts],
) -> bool {
    let code = reading
        .found
        .iter()
        .any(|found| found.spec.sets.contains(&Set::End));
    let typed = |at: &usize| words.get(*at).is_some_and(|word| is_input(word.text()));
    let bare = stdin == Stdin::None
        && !code
        && !reading.sets(Set::NoFirst)
        && reading.operands.first().is_none_or(typed)
        && starts.iter().all(|start| *start == Starts::Stdin);
    let runs = matches!(entry.starts, Start::Shell | Start::Code);
    let fed = stdin == Stdin::Fed;
    let given = |found: &Found| {
        let kind = found.spec.slot.kind;
        matches!(
            kind,
            Kind::Script | Kind::Code | Kind::CodeFile | Kind::Console
        ) || found.spec.escalates.is_some()
    };
    let starts = starts
        .iter()
        .any(|start| !matches!(start, Starts::Opaque(_)));
    let waits = (entry.interactive || reading.sets(Set::Waits))
        && !(fed || starts || reading.sets(Set::Given))
        && !reading.found.iter().any(given);
    let asks = |found: &Found| {
        let text = found.value.as_ref().map(|value| value.word.shown());
        let kind = found.spec.slot.kind == Kind::Code;
        kind && text.is_some_and(|text| ASKS.iter().any(|name| text.contains(name)))
    };
    let asks = runs && !fed && reading.found.iter().any(asks);
    let opens = runs && bare || reading.sets(Set::Opens);
    !reading.sets(Set::Stop) && (opens || waits || asks)
}

/// What code names that goes on with what is typed into it.
const ASKS: &[&str] = &[
    "interact(",
    "stdin",
    "STDIN",
    "input(",
    "readline",
    "repl",
    "pty",
    "pdb",
    "breakpoint(",
    "embed(",
    "irb",
    "pry",
    "gets",
    "/dev/tty",
    "/dev/fd/0",
    "<>",
];

/// Whether a file is standard input by another name.
fn is_input(text: Option<&str>) -> bool {
    matches!(
        text,
        Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
    )
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
    // fish runs each value of `-c`, one after the other in one shell; what follows are their arguments.
    let mut scripts = reading.found.iter().filter(|found| {
        let own = found.spec.slot.kind == Kind::Script;
        own && found.spec.names.iter().any(|name| name == "-c")
    });
    if scripts.next().is_some() {
        if let Some(value) = scripts.next().and_then(|found| found.value.as_ref()) {
            let why = "one of several scripts begins where the last one ends".to_owned();
            judge.starts.push((value.at, Starts::Opaque(why)));
        }
        return 0;
    }
    let text = first.and_then(|at| words.get(at)).map(Word::text);
    match first {
        Some(at) if !reading.sets(Set::Stdin) && !text.is_some_and(is_input) => {
            if let Some(word) = words.get(at) {
                judge.value(Slot::of(Kind::Read), word, at, at, true);
            }
            judge.starts.push((at, Starts::File { word: at }));
            1
        }
        _ => {
            if stdin == Stdin::Fed || reading.sets(Set::Stdin) {
                judge.starts.push((0, Starts::Stdin));
            }
            usize::from(text.is_some_and(is_input))
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
    let replaced = reading.replaced();
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
            // `deno run https://…`: no file of this machine.
            Some((at, word))
                if word.prefix().contains("://")
                    || word.prefix().starts_with("npm:")
                    || word.prefix().starts_with("jsr:") =>
            {
                judge.escalate("runs code from elsewhere", at);
                judge.starts.push((at, Starts::Code { word: at }));
                taken = 1;
            }
            Some((at, word)) if word.text() != Some("-") && word.text() != Some("/dev/stdin") => {
                // `java @file` takes its words from the file.
                let own = entry.operands.and_then(|own| Some(own.first.first()?.kind));
                let kind = own.filter(|kind| *kind == Kind::Response);
                judge.value(Slot::of(kind.unwrap_or(Kind::Read)), word, at, at, true);
                judge.starts.push((at, Starts::Code { word: at }));
                taken = 1;
            }
            Some(_) => {
                fed(judge);
                taken = 1;
            }
            None if stdin == Stdin::Fed && entry.subs.is_empty() => {
                fed(judge);
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
            judge.value(Slot::of(Kind::Maybe), word, *at, *at, true);
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
            judge.value(Slot::of(Kind::Read), word, at, at, true);
            if begin == end {
                judge.starts.push((
                    at,
                    Starts::Opaque(format!("it runs the lines of `{}`", word.shown())),
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
            judge.value(Slot::of(Kind::Maybe), word, at, at, true);
        }
    }
}
