//! A command's words, read, become an outcome.
//!
//! In: a [`Reading`]. Out: an [`Outcome`]: each operand and value judged by what the table says it is,
//! the escalations, what is started. A program that the table does not know: [`unknown`].

use super::reading::{Found, Reading};
use super::values::Judge;
use super::{Effect, Escalation, Opt, Outcome, Role, Starts, Stdin, What};
use super::{spellings, starting};
use crate::call::access::{Mode, Reach, Trigger};
use crate::call::programs::{
    self, Does, Entry, Kind, Linked, List, Set, Signature, Slot, Start, Style, Takes, Text,
};
use crate::call::shell::numbers::is_number;
use crate::call::word::{Piece, Word};
use crate::source::Span;
use std::borrow::Cow;

const TEXT: Slot = Slot::of(Kind::Text);

/// What a program that the table does not know may do: its clusters are guesses, its operands may be paths.
pub(super) fn unknown(words: &[Word]) -> Outcome {
    let mut out = Outcome {
        roles: vec![Role::Operand; words.len()],
        ..Outcome::default()
    };
    let mut judge = Judge::new(words, None, List::EMPTY);
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
            Role::Operand => judge.value(Slot::of(Kind::Maybe), word, at, at, true),
            Role::Option if !ended => {
                if let Some(value) = guess(word, at, &mut out.options) {
                    judge.value(Slot::of(Kind::Maybe), &value, at, at, false);
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
        names: vec![name.to_owned().into()],
        value: value.clone(),
        at,
        sure: sure && long,
        open: name.starts_with("--"),
        undone: false,
    });
    if !long {
        for letter in name.chars().skip(1).filter(|c| c.is_ascii_alphanumeric()) {
            options.push(Opt {
                names: vec![format!("-{letter}").into()],
                value: None,
                at,
                sure: false,
                open: false,
                undone: false,
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
        .map(|entry| entry.harmless)
        .find(|list| !list.is_empty());
    let mut judge = Judge::new(words, dir.clone(), harmless.unwrap_or(List::EMPTY));
    judge.below = below;
    // `cargo +/opt/x build` takes the program itself from that folder.
    if let Some(toolchain) = words
        .get(1)
        .filter(|_| reading.roles.get(1) == Some(&Role::Skipped))
    {
        let chosen = toolchain.prefix().starts_with('+');
        if chosen && (toolchain.text().is_none() || toolchain.prefix().contains('/')) {
            judge.escalate("takes its program from another folder", 1);
        }
    }
    judge.hidden = hidden;
    let runs = does(&reading) == Some(Does::Runs);
    judge.loads = runs || reading.entries.iter().any(|entry| entry.unlisted);
    let any = |own: fn(&Entry) -> bool| reading.entries.iter().any(|entry| own(entry));
    judge.own = entry.harmless;
    judge.pathspecs = any(|entry| entry.pathspecs);
    judge.gitignore = any(|entry| entry.gitignore) && !reading.sets(Set::Ignored);
    judge.commands = reading
        .entries
        .first()
        .map_or(List::EMPTY, |entry| entry.commands);

    for (level, (entry, at)) in reading.entries.iter().zip(&reading.chosen).enumerate() {
        if let (Some(what), true) = (entry.escalates, level > 0) {
            judge.escalate(&what, *at);
        }
    }
    for found in &reading.found {
        judge.option = found.spec.names.texts().next();
        value_of(&reading, found, entry, &mut judge);
    }
    judge.option = None;
    for (at, value) in &reading.loose {
        let outside = super::values::outside(value);
        // What a runner takes from elsewhere by an option that nobody listed may be code.
        if runs && (outside || value.prefix().contains("://")) {
            judge.escalate("has an option that is not known and takes a path", *at);
        }
        let kind = if outside { Kind::Both } else { Kind::Maybe };
        judge.value(Slot::of(kind), value, *at, *at, false);
    }
    // `pytest --debug FILE`: who runs code, or has more options than the table, may have one that takes the word. Of
    // launchers and interpreters the table has them all.
    let unlisted = runs || reading.entries.iter().any(|entry| entry.unlisted);
    if unlisted && entry.starts == Start::Nothing {
        let behind = reading
            .behind
            .iter()
            .filter_map(|at| Some((*at, words.get(*at)?)));
        for (at, word) in behind.filter(|(_, word)| word.text().is_some() && !is_number(word)) {
            judge.value(Slot::of(Kind::Maybe), word, at, at, true);
        }
    }
    for option in reading.options.iter().filter(|option| !option.sure) {
        let computed = words.get(option.at).filter(|word| word.text().is_none());
        if computed.is_some_and(|word| reading.may_do_more(word.prefix(), &[])) {
            judge.escalate("an option that cannot be computed", option.at);
        }
    }
    if let Some(at) = reading.hidden {
        judge.escalate(
            "has an option that is not known and may take the subcommand for its value",
            at,
        );
    }
    // It may be another one, shortened: `tmux run-s x`.
    if let Some(at) = reading.stray.filter(|_| entry.chained) {
        judge.escalate("has a subcommand that is not known", at);
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
    out.dashed = may_be_options(&reading, words, &mut judge);
    if runs && entry.starts == Start::Nothing && judge.starts.is_empty() {
        handed_on(words, &mut judge);
    }
    implied(&reading, entry, words, paths, stdin, &mut judge);
    respond(&reading, entry, words, &mut judge);
    settings(&reading, words, &mut judge);
    judge.wants();
    for (from, end) in &reading.commands {
        judge.starts.push((
            *from,
            Starts::Words {
                from: *from,
                end: *end,
                more: true,
                package: false,
            },
        ));
    }
    starting::starts(&reading, entry, words, stdin, &mut judge);
    // `python -i -m pytest`, `pytest --trace`: it goes on with what is fed to it.
    if runs && stdin == Stdin::Fed && reading.sets(Set::Opens) && !reading.sets(Set::Stop) {
        starting::fed(&mut judge);
    }
    given(&reading, words, &mut judge);
    handed(&reading, &mut judge);

    // A name that git lists may be that of a file that is gone: who creates none leaves it so.
    if any(|entry| entry.existing) {
        let operands = judge
            .effects
            .iter_mut()
            .filter(|(at, _)| reading.operands.binary_search(at).is_ok());
        for piece in operands.flat_map(|(_, effect)| effect.value.pieces.iter_mut()) {
            if let Piece::Below(listed) = piece {
                listed.gone = false;
            }
        }
    }

    let Judge {
        mut effects,
        escalations,
        mut starts,
        gitignore,
        copies,
        swaps,
        modules,
        ..
    } = judge;
    out.modules = modules;
    effects.sort_by_key(|(at, _)| *at);
    starts.sort_by_key(|(at, _)| *at);
    out.effects = effects.into_iter().map(|(_, effect)| effect).collect();
    out.escalations = escalations;
    out.starts = starts.into_iter().map(|(_, starts)| starts).collect();
    out.folder = dir;
    let opaque = out.starts.iter().any(|starts| {
        matches!(
            starts,
            Starts::Opaque(_) | Starts::File { .. } | Starts::Code { .. }
        )
    });
    out.transparent =
        entry.transparent && !out.starts.is_empty() && !opaque && out.escalations.is_empty();
    out.only_reads = only_reads(&reading, &out);
    // `sqlite3 x.db < script`: what it would be told, it is fed. A pager shows it.
    if !out.only_reads
        && stdin == Stdin::Fed
        && starting::open(&reading, entry, words, Stdin::None, &out.starts)
    {
        let fed = |own: &Escalation| own.at == Trigger::Unnamed;
        if entry.interactive && !out.escalations.iter().any(fed) {
            out.escalations.push(Escalation {
                option: None,
                what: "takes commands from standard input".to_owned(),
                instead: None,
                at: Trigger::Unnamed,
            });
        }
    }
    out.open = starting::open(&reading, entry, words, stdin, &out.starts);
    out.gitignore = gitignore;
    out.hidden = hidden;
    out.lands = any(|entry| entry.lands);
    out.compares = any(|entry| entry.compares);
    out.lacking = reading.sets(Set::Lacking);
    out.plants = any(|entry| entry.plants);
    out.links = match () {
        () if reading.sets(Set::Symlinks) => Some(Linked::Symbolic),
        () if reading.sets(Set::Hardlinks) || any(|entry| entry.links) => Some(Linked::Hard),
        () => None,
    };
    out.keeps = reading.sets(Set::Keeps);
    out.backs_up = reading.sets(Set::Backups);
    out.copies = copies;
    out.swaps = swaps || reading.entries.last().is_some_and(|entry| entry.swaps);
    let paths = reading
        .found
        .iter()
        .any(|found| found.spec.slot.kind == Kind::Names);
    out.restores = reading.entries.last().is_some_and(|entry| entry.restores)
        && reading.operands.is_empty()
        && !paths;
    out.stages = any(|entry| entry.stages);
    out.unsaved = reading
        .entries
        .last()
        .is_some_and(|entry| match reading.sets(Set::Unsaved) {
            true => entry.unsaved || entry.stages,
            false => entry.unsaved && !reading.sets(Set::Stop),
        });
    out.unpacks = any(|entry| entry.unpacks);
    out.follows = any(|entry| entry.follows) || reading.sets(Set::Follows);
    out.dockerignore = any(|entry| entry.dockerignore) && !reading.sets(Set::Ignored);
    if !reading.sets(Set::Renamed) {
        let ends = reading.entries.iter().flat_map(|entry| entry.ends.texts());
        out.ends = ends.map(Cow::Borrowed).collect();
    }
    (out.names, out.spellings) = spellings::of(&reading, words);
    out.aims = spellings::aims(&reading, words);
    out.roles = reading.roles;
    out.options = reading.options;
    out
}

/// The program that gets the words behind `--`, and where that stands.
fn gives(reading: &Reading, words: &[Word]) -> Option<(Text, usize)> {
    let to = reading.settings.iter().find_map(|set| match set {
        Set::Gives(program) => Some(*program),
        _ => None,
    })?;
    let dashes = words.iter().position(|word| word.text() == Some("--"))?;
    Some((to, dashes))
}

/// The words behind `--` are another program's: what they do there is done here (`cmake --build d -- -f x`).
fn given(reading: &Reading, words: &[Word], judge: &mut Judge) {
    let Some((to, dashes)) = gives(reading, words) else {
        return;
    };
    // `make install` of its own accord names a goal; here each word is one more than those named before.
    let start = dashes.saturating_sub(1);
    let mut inner = words.get(start..).unwrap_or_default().to_vec();
    for (word, text) in inner.iter_mut().zip([to.as_str(), "all"]) {
        *word = Word::known(text, word.span);
    }
    done(super::outcome(&inner, Stdin::None), dashes, judge, |at| {
        at + start
    });
}

/// What another program does with words of this one is done here; `word` is where each of them stands.
fn done(out: Outcome, at: usize, judge: &mut Judge, word: impl Fn(usize) -> usize) {
    for effect in out.effects {
        let naming = effect.naming.map(&word);
        judge.effects.push((at, Effect { naming, ..effect }));
    }
    for escalation in out.escalations {
        match escalation.at {
            Trigger::Word(at) => judge.escalate(&escalation.what, word(at)),
            _ => judge.escalations.push(escalation),
        }
    }
}

/// The values that are handed on, each split at commas, are the words of another program (`gcc -Wl,-Map,x`).
fn handed(reading: &Reading, judge: &mut Judge) {
    let to = reading.settings.iter().filter_map(|set| match set {
        Set::Hands(program) => Some(*program),
        _ => None,
    });
    for program in to {
        let (mut inner, mut places) = (Vec::new(), Vec::new());
        let found = reading.found.iter();
        for found in found.filter(|found| found.spec.sets.contains(&Set::Hands(program))) {
            let Some(word) = found.value.as_ref().map(|value| &value.word) else {
                continue;
            };
            match word.text() {
                Some(text) => {
                    inner.extend(text.split(',').map(|text| Word::known(text, word.span)))
                }
                None => judge.escalate("hands on words that cannot be computed", found.at),
            }
            places.resize(inner.len(), found.at);
        }
        let (Some(first), Some(at)) = (inner.first(), places.first().copied()) else {
            continue;
        };
        let span = first.span;
        inner.insert(0, Word::known(program.as_str(), span));
        done(super::outcome(&inner, Stdin::None), at, judge, |word| {
            let own = word.checked_sub(1).and_then(|word| places.get(word));
            own.copied().unwrap_or(at)
        });
    }
}

/// The value of an option, and what the option does beyond it.
fn value_of(reading: &Reading, found: &Found, entry: &Entry, judge: &mut Judge) {
    let spec = found.spec;
    let value = found.value.as_ref();
    let text = value.and_then(|value| value.word.text());
    // `kubectl -o=json`.
    let harmless = |text: &str| {
        let text = text.strip_prefix('=').unwrap_or(text);
        spec.harmless
            .texts()
            .any(|known| match known.strip_prefix('!') {
                Some(grave) => !programs::fits(grave, text),
                None => programs::fits(known, text),
            })
    };
    // `vite --outDir dist`: what lies there may go, and it is written all the same.
    let written = matches!(spec.slot.kind, Kind::WriteBelow | Kind::WriteInto);
    let leaves = |text: &str| written && text.contains("..");
    let settled = text.is_some_and(|text| harmless(text) && !leaves(text));
    if settled && !written {
        return;
    }
    if let Some(what) = spec.escalates.filter(|_| !settled) {
        judge.escalate(&what, found.at);
    }
    let Some(value) = value else {
        // `xargs python -c`: the code comes later.
        if matches!(spec.slot.kind, Kind::Code | Kind::Program) && spec.takes != Takes::Attached {
            judge.escalate("runs code that is given in an option", found.at);
        }
        return;
    };
    // Another option may say what this value is: `tar -x` reads the file of `-f`, `tar -c` writes it.
    let other = |(name, slot): (&Text, Slot)| spec.names.has(name).then_some(slot);
    let slot = reading.settings.iter().find_map(|set| match set {
        Set::Value(name, slot) => other((name, *slot)),
        _ => None,
    });
    // `jest --clearCache --cacheDirectory d`: one option says where, the other that it goes.
    if slot.is_some_and(|slot| slot.named && slot.kind == Kind::WriteBelow) {
        judge.escalate("deletes what is in the folder", found.at);
    }
    let mut slot = slot.unwrap_or(spec.slot);
    slot.named &= !settled;
    if slot.kind == Kind::Maybe && super::values::outside(&value.word) {
        slot.kind = Kind::Read;
    }
    // `jest -c '{"globalSetup": …}'`: no file, what would stand in it.
    if slot.kind == Kind::Read && value.word.prefix().starts_with('{') {
        judge.escalate("gives settings in the place of a file", found.at);
    }
    let (inside, below) = (judge.dir.clone(), std::mem::take(&mut judge.below));
    if entry.style == Style::Bundle {
        judge.dir = None;
    }
    judge.value(
        slot,
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

/// What the program does by itself.
fn does(reading: &Reading) -> Option<Does> {
    reading.entries.iter().rev().find_map(|entry| entry.does)
}

/// The operands, each as the entry says; returns how many were paths.
fn operands(reading: &Reading, entry: &Entry, words: &[Word], judge: &mut Judge) -> usize {
    let started = match entry.starts {
        // Script, code and their arguments: see `starts`.
        Start::Shell | Start::Code | Start::Source => return 0,
        _ => reading.rest.is_some(),
    };
    let default = Slot::of(match reading.stray {
        Some(_) => Kind::Maybe,
        None => Kind::Text,
    });
    let signature = entry.operands.unwrap_or(Signature {
        first: List::EMPTY,
        rest: default,
        last: List::EMPTY,
    });
    let replaced = reading.replaced();
    let first = if reading.sets(Set::NoFirst) {
        List::EMPTY
    } else {
        signature.first
    };
    let last = if replaced.is_some() || reading.sets(Set::NoLast) {
        List::EMPTY
    } else {
        signature.last
    };
    let count = reading.operands.len();
    // With `--` before it a revision is surely a path.
    let dashes = words
        .iter()
        .position(|word| word.text() == Some("--"))
        .unwrap_or(usize::MAX);
    let below = judge.below;
    let given = gives(reading, words).map_or(usize::MAX, |(_, dashes)| dashes);
    let mut paths = 0;
    for (nth, at) in reading.operands.iter().enumerate() {
        let Some(word) = words.get(*at).filter(|_| *at < given) else {
            continue;
        };
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
        } else if nth + last.len() >= count && !last.is_empty() {
            // `cp a *`: the last of several names is written, the others are read.
            let several = may_be_several(word);
            let enough = count > first.len() + last.len();
            if several || !enough {
                judge.value(slot, word, *at, *at, true);
            }
            if !several && !enough {
                continue;
            }
            slot = last
                .get(nth + last.len() - count)
                .copied()
                .unwrap_or(signature.rest);
            judge.below = false;
        } else if let Some((kind, option)) = replaced {
            (slot, naming) = (kind, option);
        }
        let below = slot.kind == Kind::Tracked;
        if *at > dashes && (below || slot.kind == Kind::Revision) && judge.pathspecs {
            judge.pathspec(word, *at, None, Some(Mode::Read), below);
            paths += 1;
            continue;
        }
        // What is written of a revision is named behind `--`.
        if dashes != usize::MAX && slot.kind == Kind::Tree {
            slot.kind = match *at > dashes {
                true => Kind::WriteBelow,
                // `git checkout x --`.
                false if dashes + 1 == words.len() => Kind::Tree,
                false => Kind::Maybe,
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
        // What a program is given of another folder it reads, and often runs or changes.
        if slot.kind == Kind::Maybe && super::values::outside(word) {
            slot.kind = match does(reading) {
                Some(Does::Writes) => Kind::Both,
                _ => Kind::Read,
            };
        }
        paths += usize::from(!matches!(slot.kind, Kind::Text | Kind::Sed | Kind::Awk));
        if !(started && entry.transparent && slot.kind == Kind::Text) {
            judge.value(slot, word, *at, naming, true);
        }
    }
    judge.below = below;
    paths
}

/// `rg "$x"` may be `rg --pre=sh`: a word that is no path may as well be an option that does more. Returns those that
/// name files, which may begin with a dash or not.
fn may_be_options(reading: &Reading, words: &[Word], judge: &mut Judge) -> Vec<usize> {
    // What starts something says by itself that it cannot be followed.
    let starts = |entry: &Entry| entry.starts != Start::Nothing;
    if reading.open.is_empty()
        || reading.entry().is_none_or(starts)
        || !reading.may_do_more("", &[])
    {
        return Vec::new();
    }
    // Who only names a folder may as well name all below.
    let beyond = reading.may_do_more("", &[Set::Below]);
    let mut names = Vec::new();
    for at in &reading.open {
        let Some(word) = words.get(*at).filter(|_| reading.stray != Some(*at)) else {
            continue;
        };
        if word.listed().is_some() {
            names.push(*at);
            continue;
        }
        let mut own = judge.effects.iter().filter(|(own, _)| own == at);
        let enough = |(_, effect): &(usize, Effect)| is_path(effect) || !beyond;
        let told = |old: &Escalation| old.at == Trigger::Word(*at);
        if !own.any(enough) && !judge.escalations.iter().any(told) {
            let shown = word.shown();
            let what = format!("may take `{shown}` for an option");
            let instead = match does(reading) {
                // Who runs code hands on what stands behind a `--`.
                Some(Does::Runs) => "write the value out".to_owned(),
                _ => format!("write `{} \"{shown}\"`", before_operand(reading)),
            };
            judge.escalate_unless(&what, *at, Some(instead));
        }
    }
    names
}

/// What makes an operand of the word behind it: an option that takes the program's pattern, or `--`.
fn before_operand(reading: &Reading) -> &'static str {
    let mut specs = reading.entries.iter().flat_map(|entry| entry.options);
    let pattern = specs
        .find(|spec| spec.slot.kind == Kind::Text && spec.sets.contains(&Set::NoFirst))
        .and_then(|spec| spec.names.texts().next());
    pattern.unwrap_or("--")
}

fn is_path(effect: &Effect) -> bool {
    matches!(effect.what, What::Path { .. })
}

/// Who takes words from a file in the place of an operand does so in the place of any word: `nm -t @x`.
fn respond(reading: &Reading, entry: &Entry, words: &[Word], judge: &mut Judge) {
    let own = entry.operands.map(|own| own.rest);
    let Some(slot) = own.filter(|slot| matches!(slot.kind, Kind::Response | Kind::ResponseBelow))
    else {
        return;
    };
    for (at, word) in words.iter().enumerate() {
        let value = reading.roles.get(at) == Some(&Role::Value);
        if value && word.prefix().starts_with('@') {
            judge.value(slot, word, at, at, true);
        }
    }
}

/// `cargo test -- --logfile=FILE`: what stands behind `--` is for the code that runs.
fn handed_on(words: &[Word], judge: &mut Judge) {
    let end = words.iter().position(|word| word.text() == Some("--"));
    let handed = words
        .iter()
        .enumerate()
        .skip(end.map_or(words.len(), |end| end + 1));
    for (at, word) in handed {
        let known = judge.effects.iter().any(|(own, _)| *own == at);
        if word.is_unknown() && !known {
            judge.value(Slot::of(Kind::Maybe), word, at, at, true);
        }
        let Some(text) = word.text().filter(|_| !known) else {
            continue;
        };
        match text.rfind('=').filter(|_| text.starts_with('-')) {
            Some(equals) => {
                let value = super::reading::cut(word, equals + 1);
                judge.value(Slot::of(Kind::Maybe), &value, at, at, true);
            }
            None if text.starts_with('-') || is_number(word) => {}
            None => judge.value(Slot::of(Kind::Maybe), word, at, at, true),
        }
    }
}

/// Who does more than look at its settings writes the file that holds them: `git config a b`.
fn settings(reading: &Reading, words: &[Word], judge: &mut Judge) {
    let Some(own) = reading
        .entries
        .iter()
        .rev()
        .find_map(|entry| entry.settings)
    else {
        return;
    };
    let chosen = reading.chosen.last().copied().unwrap_or_default();
    let sets = |at: &Trigger| matches!(at, Trigger::Word(at) if *at >= chosen);
    let mut all = judge.escalations.iter().map(|own| own.at);
    let Some(Trigger::Word(at)) = all.find(sets) else {
        return;
    };
    let named = reading.found.iter().rev().find_map(|found| {
        let file = found.spec.sets.iter().find_map(|set| match set {
            Set::Settings(file) => Some(*file),
            _ => None,
        });
        file.map(|file| (file, found.value.as_ref()))
    });
    let slot = Slot::of(Kind::Write);
    match named {
        Some((file, Some(value))) if file.is_empty() => {
            judge.value(slot, &value.word, value.at, at, false);
        }
        // `git config user.name x`: what it says does no harm.
        _ if is_harmless_setting(reading, words) => {}
        named => {
            let file = named.map_or(own, |(file, _)| file);
            let span = judge.span(at);
            match file.starts_with(['~', '/']) {
                true => {
                    let file = in_home(file.as_str(), span);
                    judge.path(&file, at, None, Mode::Write, Reach::Itself, true);
                }
                false => judge.value(slot, &Word::known(file.as_str(), span), at, at, false),
            }
        }
    }
}

/// Whether one key is set, to a value that does no harm.
fn is_harmless_setting(reading: &Reading, words: &[Word]) -> bool {
    let text = |at: &usize| words.get(*at).and_then(Word::text);
    let [key, value] = reading.operands.as_slice() else {
        return false;
    };
    let (Some(key), Some(value)) = (text(key), text(value)) else {
        return false;
    };
    let key = key.to_ascii_lowercase();
    let said = format!("{key}={}", value.to_ascii_lowercase());
    let fits = |known: &str| match known.contains('=') {
        true => programs::fits(known, &said),
        false => programs::fits(known, &key),
    };
    let mut all = reading.entries.iter();
    all.any(|entry| entry.harmless.texts().any(fits))
}

/// Whether the word may stand for several.
fn may_be_several(word: &Word) -> bool {
    word.splits || (word.text().is_none() && !word.is_unknown())
}

/// `of=FILE` of `dd`.
fn pair(entry: &Entry, word: &Word) -> Option<(Slot, Word)> {
    let (name, _) = word.prefix().split_once('=')?;
    let spec = entry.pairs.iter().find(|spec| spec.names.has(name))?;
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
        let replaced = reading.replaced();
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
            if let (Set::Reads(file), Some(here)) = (set, here()) {
                let file = in_home(file.as_str(), here.span);
                judge.path(&file, found.at, None, Mode::Read, Reach::Itself, true);
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

/// A file as the table writes it: `~/.netrc`. The shell that is walked knows the home folder.
fn in_home(file: &str, span: Span) -> Word {
    let parts = match file.strip_prefix('~') {
        Some(rest) => vec![Piece::Unknown("~".into()), Piece::Text(rest.into())],
        None => vec![Piece::Text(file.into())],
    };
    Word::of(parts, span)
}

/// Whether everything the command does by itself is reading.
fn only_reads(reading: &Reading, out: &Outcome) -> bool {
    let own = does(reading);
    let mut set = reading
        .found
        .iter()
        .flat_map(|found| found.spec.sets.iter().map(|set| (set, found.undone)))
        .filter_map(|(set, undone)| match set {
            Set::Does(Does::Nothing | Does::Reads | Does::Connects) if undone => None,
            Set::Does(does) => Some(*does),
            _ => None,
        });
    let does = set.next_back().or(own).unwrap_or(Does::Reads);
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
