//! The words of a known program, read as the program itself will read them.
//!
//! In: the words and the program's entry. Out: a [`Reading`]: roles, options with their values, operands,
//! the subcommand, where a started command begins. Says nothing about what any of it does.

use super::{Opt, Role};
use crate::call::few::Few;
use crate::call::programs::{self, Entry, Kind, Set, Slot, Spec, Start, Style, Takes};
use crate::call::shell::numbers::is_number;
use crate::call::word::{Piece, Word};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// An option of the table, found among the words.
pub(super) struct Found {
    pub spec: &'static Spec,
    /// Index of the word it stands in.
    pub at: usize,
    pub value: Option<Value>,
    /// A later option takes it back.
    pub undone: bool,
}

/// The value of an option.
pub(super) struct Value {
    pub word: Word,
    /// Index of the word that holds it.
    pub at: usize,
    /// It is all of that word.
    pub whole: bool,
}

/// A command's words, read.
pub(super) struct Reading {
    /// The program's entry and those of its subcommands, outermost first.
    pub entries: Few<&'static Entry>,
    /// The word that chose each of them; the program's own is 0.
    pub chosen: Few<usize>,
    pub roles: Vec<Role>,
    pub options: Vec<Opt>,
    pub found: Vec<Found>,
    /// What the options found set, each once.
    pub settings: Vec<Set>,
    pub operands: Vec<usize>,
    /// `NAME=value` operands before the started words.
    pub assignments: Vec<usize>,
    /// Commands inside the expression (`find -exec`): first word, one past the last.
    pub commands: Vec<(usize, usize)>,
    /// Where the words of the started command begin.
    pub rest: Option<usize>,
    /// A word that may be an option, or an option that the table does not list, stands here.
    pub doubt: Option<usize>,
    /// A subcommand that the table does not know.
    pub stray: Option<usize>,
    /// Values of options that the table does not list (`--file=x`).
    pub loose: Vec<(usize, Word)>,
    /// An option that the table does not list stands right before a word that is the subcommand, or its value.
    pub hidden: Option<usize>,
    /// Operands right behind an option that the table does not list: each may be its value.
    pub behind: Vec<usize>,
    /// Operands that may be an option: what they are cannot be computed, and no `--` stands before them.
    pub open: Vec<usize>,
}

impl Reading {
    /// The entry of the innermost subcommand.
    pub fn entry(&self) -> Option<&'static Entry> {
        self.entries.last().copied()
    }

    /// What an option makes of the operands, and where it stands.
    ///
    /// Of several the gravest counts, the first of equals: `git clean -n --no-dry-run` deletes.
    pub fn replaced(&self) -> Option<(Slot, usize)> {
        let all = self.found.iter().flat_map(|found| {
            found.spec.sets.iter().filter_map(|set| match set {
                Set::Rest(slot) => Some((*slot, found.at, found.undone)),
                _ => None,
            })
        });
        let writes = |slot: &Slot| {
            matches!(
                slot.kind,
                Kind::Write | Kind::WriteBelow | Kind::WriteInto | Kind::Both | Kind::BothBelow
            )
        };
        all.rev()
            .filter(|(slot, _, undone)| writes(slot) || !undone)
            .max_by_key(|(slot, _, _)| writes(slot))
            .map(|(slot, at, _)| (slot, at))
    }

    /// Whether a word that begins so, the rest unknown, may be an option that does more than the program by itself.
    /// Options that set nothing but these do no more.
    pub fn may_do_more(&self, prefix: &str, harmless: &[Set]) -> bool {
        let long = prefix.starts_with("--");
        let fits = |name: &str| match long {
            true => name.starts_with(prefix),
            // More letters of a cluster, or all of an option.
            false => name.len() == 2 || name.starts_with(prefix),
        };
        let depth = self.entries.len();
        let levels = self.entries.iter().enumerate();
        let levels = levels.filter(|(level, entry)| level + 1 == depth || !entry.strict);
        let mut specs = levels.flat_map(|(_, entry)| entry.options);
        specs.any(|spec| {
            let plain = spec.slot == Slot::of(Kind::Text) && spec.escalates.is_none();
            let sets = spec.sets.iter().any(|set| !harmless.contains(set));
            (!plain || sets) && spec.names.texts().any(fits)
        })
    }

    /// Marks what a later option takes back: `--check --no-check`, `--no-verify --verify`. Either may be shortened.
    fn take_back(&mut self) {
        let (mut yes, mut no): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mut undone = BTreeSet::new();
        for option in self.options.iter_mut().rev() {
            let long = || {
                option
                    .names
                    .iter()
                    .filter_map(|name| name.strip_prefix("--"))
            };
            let begins = |later: &[String], name: &str| {
                later.len() > TAKEN_BACK || later.iter().any(|typed| name.starts_with(typed))
            };
            option.undone = long().any(|name| match name.strip_prefix("no-") {
                Some(name) => begins(&yes, name),
                None => begins(&no, name),
            });
            if option.undone {
                undone.insert(option.at);
            }
            if let Some(typed) = long()
                .next()
                .filter(|_| yes.len().max(no.len()) <= TAKEN_BACK)
            {
                match typed.strip_prefix("no-") {
                    Some(typed) => no.push(typed.to_owned()),
                    None => yes.push(typed.to_owned()),
                }
            }
        }
        for found in &mut self.found {
            found.undone = undone.contains(&found.at);
        }
        let stops = |found: &Found| !found.undone && found.spec.sets.contains(&Set::Stop);
        if !self.found.iter().any(stops) {
            self.settings.retain(|set| *set != Set::Stop);
        }
    }

    /// Whether an option sets this.
    pub fn sets(&self, wanted: Set) -> bool {
        self.settings.contains(&wanted)
    }

    fn find(&mut self, found: Found) {
        for set in found.spec.sets {
            if !self.settings.contains(set) {
                self.settings.push(*set);
            }
        }
        self.found.push(found);
    }
}

/// Reads the words of a program; `sub` is a subcommand that its name already chose (`git-reset`).
pub(super) fn read(words: &[Word], entry: &'static Entry, sub: Option<&'static Entry>) -> Reading {
    let mut reading = Reading {
        entries: Few::One(entry),
        chosen: Few::One(0),
        roles: vec![Role::Operand; words.len()],
        options: Vec::new(),
        found: Vec::new(),
        settings: Vec::new(),
        operands: Vec::new(),
        assignments: Vec::new(),
        commands: Vec::new(),
        rest: None,
        doubt: None,
        stray: None,
        loose: Vec::new(),
        hidden: None,
        behind: Vec::new(),
        open: Vec::new(),
    };
    if let Some(sub) = sub {
        reading.entries.push(sub);
        reading.chosen.push(0);
    }
    Reader {
        words,
        at: 1,
        ended: false,
        choosing: 0,
        unlisted: None,
        optional: None,
        reading: &mut reading,
    }
    .run();
    reading.take_back();
    reading
}

/// Options that take others back, as far as they are told apart.
const TAKEN_BACK: usize = 64;

struct Reader<'w> {
    words: &'w [Word],
    at: usize,
    /// No further word is an option.
    ended: bool,
    /// Operands so far that may choose a subcommand.
    choosing: usize,
    /// The last option that the table does not list, without a value.
    unlisted: Option<usize>,
    /// The last one whose value may be left out, without it: some read the next word all the same.
    optional: Option<usize>,
    reading: &'w mut Reading,
}

impl Reader<'_> {
    fn run(mut self) {
        self.role(0, Role::Program);
        while let Some(word) = self.words.get(self.at) {
            let at = self.at;
            let style = self.style();
            let plain = self.ended || style == Style::Plain;
            let prefix = word.prefix();
            let pure = word.text().is_some();
            let shell = self
                .reading
                .entry()
                .is_some_and(|entry| entry.starts == Start::Shell);
            if plain {
                self.operand(at);
            } else if shell && matches!(word.text(), Some("-" | "+")) {
                // `bash -c - 'rm x'`: no more options.
                self.role(at, Role::Option);
                self.ended = true;
                self.at += 1;
            } else if prefix.starts_with("--") && style != Style::Single {
                if prefix == "--" && pure {
                    self.role(at, Role::Option);
                    self.ended = true;
                    self.at += 1;
                    // After `--` a launcher's command begins: no subcommand, no option.
                } else {
                    self.long(word, at);
                }
            } else if prefix.starts_with('-') && (prefix.len() > 1 || !pure) {
                if style == Style::Single {
                    self.long(word, at)
                } else {
                    self.cluster(word, at, 1)
                }
            } else if prefix.len() > 1
                && prefix.starts_with('+')
                && let Some(spec) = self.spec("+")
            {
                // `vim +COMMAND`.
                self.at = at + 1;
                self.role(at, Role::Option);
                let value = Value {
                    word: cut(word, 1),
                    at,
                    whole: false,
                };
                self.option(spec, "+", Some(value), at);
            } else if prefix.len() > 1
                && prefix.starts_with('+')
                && self.spec(prefix.get(..2).unwrap_or("")).is_some()
            {
                self.cluster(word, at, 1);
            } else if (at == 1 && style == Style::Bundle || style == Style::Letters)
                && !prefix.contains('/')
            {
                self.cluster(word, at, 0);
            } else {
                if prefix.is_empty() && !pure {
                    self.reading.doubt.get_or_insert(at);
                }
                if super::may_be_option(word) {
                    self.reading.open.push(at);
                }
                self.operand(at);
            }
            if self.reading.rest.is_some() {
                break;
            }
        }
    }

    fn role(&mut self, at: usize, role: Role) {
        if let Some(slot) = self.reading.roles.get_mut(at) {
            *slot = role;
        }
    }

    fn style(&self) -> Style {
        self.reading.entry().map_or(Style::Gnu, |entry| entry.style)
    }

    /// The entries whose options are read at this point: the innermost subcommand's, then those above it.
    fn levels(&self) -> impl Iterator<Item = &'static Entry> {
        let depth = self.reading.entries.len();
        let levels = self.reading.entries.iter().enumerate().rev();
        levels
            .filter(move |(level, entry)| level + 1 == depth || !entry.strict)
            .map(|(_, entry)| *entry)
    }

    fn spec(&self, name: &str) -> Option<&'static Spec> {
        self.levels().find_map(|entry| {
            if !entry.caseless {
                return entry.option(name);
            }
            let other = || {
                let known = |(known, _): &&(programs::Text, u16)| known.eq_ignore_ascii_case(name);
                entry.option(entry.spellings.iter().find(known)?.0.as_str())
            };
            entry.option(name).or_else(other)
        })
    }

    fn specs(&self) -> impl Iterator<Item = &'static Spec> {
        self.levels().flat_map(|entry| entry.options)
    }

    fn operand(&mut self, at: usize) {
        self.at = at + 1;
        let Some(word) = self.words.get(at) else {
            return;
        };
        let Some(entry) = self.reading.entry() else {
            return;
        };
        let text = word.text();
        let mut before = [self.unlisted, self.optional].into_iter().flatten();
        if before.any(|option| option + 1 == at) {
            self.reading.behind.push(at);
        }
        if entry.style == Style::Single && matches!(text, Some("(" | ")" | "!" | ",")) {
            return self.role(at, Role::Option);
        }
        if self.reading.operands.is_empty()
            && self.reading.stray.is_none()
            && !entry.subs.is_empty()
            && !self.ended
        {
            if let Some(sub) = text.and_then(|text| {
                let kind = kinds(entry, text).next();
                let exact = || kind.or_else(|| entry.sub(text));
                exact().or_else(|| entry.shortened(text).map(|(_, sub)| sub))
            }) {
                self.reading.entries.push(sub);
                self.reading.chosen.push(at);
                self.reading.hidden = self
                    .reading
                    .hidden
                    .or(self.unlisted.filter(|option| option + 1 == at));
                self.skip_before(at);
                return self.role(at, Role::Subcommand);
            }
            // `cargo +nightly build`.
            if at == 1 && text.is_some_and(|text| text.starts_with('+')) {
                return self.role(at, Role::Skipped);
            }
            if entry.operands.is_none() {
                // `kubectl --unlisted value delete x`: the subcommand comes after the value.
                if let Some(option) = self.unlisted.filter(|option| option + 1 == at) {
                    self.reading.hidden.get_or_insert(option);
                    return self.role(at, Role::Skipped);
                }
                self.reading.stray = Some(at);
                self.skip_before(at);
                return self.role(at, Role::Subcommand);
            }
        }
        let begins = match entry.starts {
            Start::Words | Start::WordsMore | Start::Joined | Start::Parallel | Start::Own => {
                !self.reading.sets(Set::Stop)
            }
            _ => false,
        };
        if begins {
            let name = match text {
                Some("-") => text, // `env -`: an empty environment
                _ => word.prefix().split_once('=').map(|(name, _)| name),
            };
            if entry.assignments
                && self.reading.operands.len() >= entry.skip
                && name.is_some_and(|name| !name.is_empty())
            {
                self.reading.assignments.push(at);
                return self.role(at, Role::Skipped);
            }
            if self.reading.operands.len() >= entry.skip && (self.ended || !entry.dashes) {
                return self.begin(at, entry);
            }
            self.reading.operands.push(at);
            if entry.transparent {
                self.role(at, Role::Skipped);
            }
            self.ended |= entry.style == Style::Posix;
            return;
        }
        // `make V=1 -s deploy`, `aws --profile x s3 rm`: what is before the word that chooses is none of its words.
        // An assignment chooses nothing, nor does the number of `-j 4`.
        let chooses = |word: &Word| {
            let prefix = word.prefix();
            !prefix.contains('=') && !is_number(word)
        };
        let nth = self.choosing;
        let verb = entry
            .operands
            .and_then(|signature| signature.first.as_slice().get(nth));
        if verb.is_some_and(|slot| slot.kind == Kind::Verb) && chooses(word) {
            self.reading.hidden = self
                .reading
                .hidden
                .or(self.unlisted.filter(|option| option + 1 == at));
            self.skip_before(at);
            self.role(at, Role::Subcommand);
            // `yarn eslint a` runs what the project has installed, unless a script has that name.
            let program = text.is_some_and(|text| programs::find(text).is_some());
            if nth == 0 && entry.binaries && program {
                return self.begin(at, entry);
            }
        }
        let script = entry.starts == Start::Code
            && self.reading.operands.is_empty()
            && ![Set::NoFirst, Set::Stop, Set::End]
                .iter()
                .any(|set| self.reading.sets(*set));
        if script {
            self.skip_before(at);
        }
        self.choosing += usize::from(chooses(word));
        self.reading.operands.push(at);
        if entry.style == Style::Posix
            || matches!(entry.starts, Start::Shell | Start::Code | Start::Source)
        {
            self.ended = true;
        }
    }

    /// The started command begins here.
    fn begin(&mut self, at: usize, entry: &Entry) {
        // `timeout 5 -- rm x`.
        let dashes = self
            .words
            .get(at)
            .is_some_and(|word| word.text() == Some("--"));
        let at = if dashes && at + 1 < self.words.len() {
            at + 1
        } else {
            at
        };
        self.reading.rest = Some(at);
        self.skip_before(at);
        if !self.ended && self.levels().any(|entry| entry.nopt) {
            self.own_behind(at);
        }
        // Who runs it, or where, stays a word that patterns see: `ssh * uptime`.
        if !entry.transparent {
            for at in self.reading.operands.clone() {
                self.role(at, Role::Operand);
            }
        }
        for at in at..self.words.len() {
            self.role(at, Role::Rest);
        }
        self.at = self.words.len();
    }

    /// `npm exec tsc --package=x`: its own options among the words that it starts, up to `--`.
    fn own_behind(&mut self, from: usize) {
        self.at = from + 1;
        while let Some(word) = self.words.get(self.at) {
            let (at, prefix) = (self.at, word.prefix());
            self.at += 1;
            if word.text() == Some("--") {
                break;
            }
            if super::may_be_option(word) {
                self.reading.doubt.get_or_insert(at);
            }
            if !prefix.starts_with('-') {
                continue;
            }
            let letters = prefix.trim_start_matches('-');
            match self.long_name(prefix) {
                Some(_) if prefix.starts_with("--") => self.long(word, at),
                None if prefix.starts_with("--") || !self.all_letters(letters) => {}
                _ => self.cluster(word, at, 1),
            }
        }
    }

    /// The long option that a word with one dash or two begins with, where the table has one.
    fn long_name(&self, prefix: &str) -> Option<String> {
        let name = prefix.trim_start_matches('-').split('=').next()?;
        let long = format!("--{name}");
        let own = || name.len() > 1 && !self.shortened(&long).is_empty();
        (!name.is_empty() && (self.spec(&long).is_some() || own())).then_some(long)
    }

    /// Whether all letters are options of their own.
    fn all_letters(&self, letters: &str) -> bool {
        !letters.is_empty()
            && letters
                .chars()
                .all(|letter| self.spec(&format!("-{letter}")).is_some())
    }

    /// Options and their values before this word are no words of the subcommand or the started command.
    fn skip_before(&mut self, end: usize) {
        for role in self.reading.roles.iter_mut().take(end) {
            if matches!(role, Role::Option | Role::Value | Role::Operand) {
                *role = Role::Skipped;
            }
        }
    }

    /// `--name`, `--name=value`; `-name` for a program with one dash.
    fn long(&mut self, word: &Word, at: usize) {
        self.at = at + 1;
        self.role(at, Role::Option);
        let prefix = word.prefix();
        let (name, tail) = match prefix.split_once('=') {
            Some((name, _)) => (name, Some(name.len() + 1)),
            None => (prefix, None),
        };
        if word.text().is_none() && tail.is_none() {
            // `--$X`, `--out*`: any option that begins so, with any value.
            self.reading.doubt.get_or_insert(at);
            self.seen(vec![word.shown().into()], None, at, false);
            return;
        }
        // `terraform --json` and `terraform -json` are the same; so are they for Go's and Java's programs.
        let single = self.style() == Style::Single;
        let name = if single {
            name.strip_prefix('-')
                .filter(|rest| rest.starts_with('-'))
                .unwrap_or(name)
        } else {
            name
        };
        // `-logger:x.dll`, as .NET's programs take it.
        let colon = name.split_once(':').map_or("", |(name, _)| name);
        let (name, tail) = match single && self.spec(name).is_none() && self.spec(colon).is_some() {
            true => (colon, prefix.find(':').map(|at| at + 1)),
            false => (name, tail),
        };
        let value = tail.map(|tail| cut(word, tail));
        // `gcc -MFx`, `-Wl,-Map=x`: all that stands behind the name is the value.
        let behind = single.then(|| self.glued(prefix)).flatten();
        let (spec, tail) = match (self.spec(name), behind) {
            (None, Some((spec, length))) => (Some(spec), Some(length)),
            (None, None) if single => (self.attached(name), tail),
            (spec, _) => (spec, tail),
        };
        let spec = match (spec, single) {
            (None, false) => match self.shortened(name).as_slice() {
                [] => None,
                [only] => Some(*only),
                several => return self.each(several, name, value, at),
            },
            (spec, _) => spec,
        };
        let Some(spec) = spec else {
            // `msbuild -pp:FILE`.
            let colon = || prefix.find(':').map(|at| cut(word, at + 1));
            let value = value.or_else(|| colon().filter(|_| single));
            return self.unlisted(name.to_owned(), value, at, true);
        };
        let value = tail.map(|tail| Value {
            word: cut(word, tail),
            at,
            whole: false,
        });
        let value = value.or_else(|| {
            match (
                single,
                spec.names.texts().find(|known| name.starts_with(known)),
            ) {
                (true, Some(known)) if known.len() < name.len() && !spec.names.has(name) => {
                    Some(Value {
                        word: cut(word, known.len()),
                        at,
                        whole: false,
                    })
                }
                _ => None,
            }
        });
        let known = spec
            .names
            .texts()
            .find(|known| *known == name)
            .or_else(|| spec.names.texts().find(|known| known.starts_with(name)));
        self.option(spec, known.unwrap_or(name), value, at);
    }

    /// The long options that begin so: `--forc`.
    fn shortened(&self, name: &str) -> Vec<&'static Spec> {
        let none = || !self.levels().any(|entry| entry.has_longer(name));
        if name.len() < 3 || matches!(name, "--help" | "--version") || none() {
            return Vec::new();
        }
        let begins = |known: &str| known.starts_with(name) && known.starts_with("--");
        let mut fitting: Vec<&'static Spec> = Vec::new();
        for spec in self.specs().filter(|spec| spec.names.texts().any(begins)) {
            if !fitting.iter().any(|known| std::ptr::eq(*known, spec)) {
                fitting.push(spec);
            }
        }
        fitting
    }

    /// Any of several options, one table serves more commands than one: it counts as each of them.
    fn each(&mut self, specs: &[&'static Spec], name: &str, value: Option<Word>, at: usize) {
        let takes = |spec: &&&Spec| matches!(spec.takes, Takes::Value | Takes::Next);
        let next = value.is_none() && specs.iter().all(|spec| takes(&spec));
        let (value, whole, from) = match self.words.get(self.at).filter(|_| next) {
            Some(next) => {
                let from = self.at;
                self.role(from, Role::Value);
                self.at += 1;
                (Some(next.clone()), true, from)
            }
            None => (value, false, at),
        };
        for spec in specs {
            let value = value.as_ref().map(|word| Value {
                word: word.clone(),
                at: from,
                whole,
            });
            self.reading.find(Found {
                spec,
                at,
                value: value.filter(|_| spec.takes != Takes::Nothing),
                undone: false,
            });
        }
        if !next && specs.iter().any(|spec| takes(&spec)) {
            self.reading.doubt.get_or_insert(at);
        }
        self.unlisted(name.to_owned(), value.filter(|_| !whole), at, true);
    }

    /// The option with the longest name that the word begins with, and where its value begins.
    fn glued(&self, word: &str) -> Option<(&'static Spec, usize)> {
        let dashes = usize::from(word.starts_with("--"));
        let word = word.get(dashes..)?;
        let levels = self.levels().filter(|entry| entry.glued);
        let specs = levels.flat_map(|entry| entry.options);
        let takes = specs.filter(|spec| spec.takes != Takes::Nothing);
        takes
            .flat_map(|spec| spec.names.texts().map(move |name| (spec, name.len())))
            .filter(|(spec, length)| {
                let typed = word.get(..*length);
                *length < word.len() && spec.names.texts().any(|name| Some(name) == typed)
            })
            .max_by_key(|(_, length)| *length)
            .map(|(spec, length)| (spec, length + dashes))
    }

    /// A one-letter option with its value attached, in a program with one dash: `-Olevel`, `-Dtree`.
    fn attached(&self, name: &str) -> Option<&'static Spec> {
        self.specs().find(|spec| {
            spec.takes == Takes::Attached
                && spec
                    .names
                    .texts()
                    .any(|known| known.len() == 2 && name.starts_with(known))
        })
    }

    /// `-abc`: options up to the first that takes a value.
    fn cluster(&mut self, word: &Word, at: usize, skip: usize) {
        self.at = at + 1;
        self.role(at, Role::Option);
        let prefix = word.prefix();
        let letters = prefix.get(skip..).unwrap_or("");
        let sign = if skip == 0 {
            "-"
        } else {
            prefix.get(..1).unwrap_or("-")
        };
        // `head -5`, `kill -9`, `git log -3`.
        if !letters.is_empty()
            && letters.bytes().all(|b| b.is_ascii_digit())
            && word.text().is_some()
            && self.spec(prefix.get(..2).unwrap_or("")).is_none()
        {
            self.seen(vec![prefix.to_owned().into()], None, at, true);
            return;
        }
        // A long option with one dash that the table lists as such (`-exec` of a GNU-style program).
        let whole = self.spec(prefix).filter(|_| letters.len() > 1);
        if let Some(spec) = whole {
            return self.option(spec, prefix, None, at);
        }
        // `npm test -script-shell=x`.
        if letters.len() > 1
            && self.levels().any(|entry| entry.nopt)
            && !self.all_letters(letters)
            && self.long_name(prefix).is_some()
        {
            let dash = std::iter::once(Piece::Text(format!("-{prefix}").into()));
            let pieces = dash.chain(word.pieces.iter().skip(1).cloned());
            return self.long(&Word::of(pieces, word.span), at);
        }
        let mut buffer = String::with_capacity(4);
        let mut strange = None;
        for (offset, letter) in letters.char_indices() {
            buffer.clear();
            buffer.push_str(sign);
            buffer.push(letter);
            let after = skip + offset + letter.len_utf8();
            // `ps e` is not `ps -e`.
            let bare = (skip == 0 && self.style() == Style::Letters)
                .then(|| self.spec(buffer.get(1..).unwrap_or("")))
                .flatten();
            let Some(spec) = bare.or_else(|| self.spec(&buffer)) else {
                strange = strange.or(Some(after).filter(|_| letter.is_ascii_alphanumeric()));
                self.unlisted(buffer.clone(), None, at, letter.is_ascii_alphanumeric());
                continue;
            };
            let tail = after < prefix.len() || word.pieces.len() > 1;
            match spec.takes {
                Takes::Nothing | Takes::Next => self.option(spec, &buffer, None, at),
                // In `tar xfz a b` each value is a word of its own, in order.
                Takes::Value | Takes::Two if skip == 0 => self.option(spec, &buffer, None, at),
                Takes::Value | Takes::Attached | Takes::Two if tail => {
                    let value = Value {
                        word: cut(word, after),
                        at,
                        whole: false,
                    };
                    return self.option(spec, &buffer, Some(value), at);
                }
                Takes::Value | Takes::Attached | Takes::Two => self.option(spec, &buffer, None, at),
            }
        }
        // `-I/opt/x`, `-opt=/opt/x`: letters that nobody listed may take the rest for their value.
        if let Some(after) = strange {
            let equals = prefix.find('=').map(|at| at + 1);
            let value = cut(word, equals.unwrap_or(after));
            let path = |text: &str| equals.is_some() || text.contains('/') || text.starts_with('.');
            if super::values::outside(&value) || value.text().is_some_and(path) {
                self.reading.loose.push((at, value));
            }
        }
        if word.text().is_none() {
            // `-r$X`: more letters, perhaps with a value.
            self.reading.doubt.get_or_insert(at);
            self.seen(vec![word.shown().into()], None, at, false);
        }
    }

    /// An option that the table does not list: it takes no value, for the table lists all that do.
    fn unlisted(&mut self, name: String, value: Option<Word>, at: usize, sure: bool) {
        let launches = self.reading.entry().is_some_and(|entry| {
            matches!(
                entry.starts,
                Start::Words
                    | Start::WordsMore
                    | Start::Joined
                    | Start::Shell
                    | Start::Parallel
                    | Start::Own
            )
        });
        if launches && value.is_none() && !matches!(name.as_str(), "--help" | "--version") {
            self.reading.doubt.get_or_insert(at);
        }
        match &value {
            Some(value) => self.reading.loose.push((at, value.clone())),
            None if !matches!(
                name.as_str(),
                "--help" | "-h" | "--version" | "-V" | "-v" | "--verbose" | "-q" | "--quiet"
            ) =>
            {
                self.unlisted = Some(at)
            }
            None => {}
        }
        self.seen(vec![name.into()], value, at, sure);
    }

    fn seen(&mut self, names: Vec<Cow<'static, str>>, value: Option<Word>, at: usize, sure: bool) {
        let typed = names.first();
        let open = matches!(typed, Some(Cow::Owned(name)) if name.starts_with("--"));
        self.reading.options.push(Opt {
            names,
            value,
            at,
            sure,
            open,
            undone: false,
        });
    }

    fn option(&mut self, spec: &'static Spec, typed: &str, value: Option<Value>, at: usize) {
        let mut value = value;
        let mut names = Vec::with_capacity(spec.names.len());
        names.push(match spec.names.texts().find(|name| *name == typed) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(typed.to_owned()),
        });
        names.extend(
            spec.names
                .texts()
                .filter(|name| *name != typed)
                .map(Cow::Borrowed),
        );
        if spec.slot.kind == Kind::Command {
            self.seen(names, None, at, true);
            self.reading.find(Found {
                spec,
                at,
                value: None,
                undone: false,
            });
            return self.command();
        }
        let wanted = match spec.takes {
            Takes::Value | Takes::Next if value.is_none() => 1,
            Takes::Two if value.is_none() => 2,
            Takes::Two => 1,
            _ => 0,
        };
        if spec.takes == Takes::Attached && value.is_none() {
            self.optional = Some(at);
        }
        for _ in 0..wanted {
            if let Some(next) = self.words.get(self.at) {
                value = Some(Value {
                    word: next.clone(),
                    at: self.at,
                    whole: true,
                });
                self.role(self.at, Role::Value);
                self.at += 1;
            }
        }
        self.seen(
            names,
            value.as_ref().map(|value| value.word.clone()),
            at,
            true,
        );
        if spec.sets.contains(&Set::End) {
            self.ended = true;
        }
        // `python -m pip install x`: the module is a program.
        let module = value
            .as_ref()
            .filter(|value| spec.slot.kind == Kind::Module && value.whole)
            .filter(|value| {
                value
                    .word
                    .text()
                    .is_some_and(super::values::starts_as_module)
            })
            .map(|value| value.at);
        // `python -m json.tool a b`, `cmake -E copy a b`: what such a module does is known as that of a subcommand.
        let text = value.as_ref().and_then(|value| value.word.text());
        let name = text.filter(|_| spec.slot.kind == Kind::Module);
        let known = name.and_then(|name| programs::find(&format!("{typed} {name}")));
        if let (Some(known), Some(value)) = (known, &value) {
            self.reading.entries.push(known.entry.as_entry());
            self.reading.chosen.push(value.at);
            self.ended = false;
        }
        self.reading.find(Found {
            spec,
            at,
            value,
            undone: false,
        });
        if let Some(module) = module {
            self.skip_before(at);
            self.reading.rest = Some(module);
            for at in module..self.words.len() {
                self.role(at, Role::Rest);
            }
            self.at = self.words.len();
        }
    }

    /// The words of `-exec` up to `;`, or to `+` after `{}`.
    fn command(&mut self) {
        let from = self.at;
        let mut before = "";
        while let Some(word) = self.words.get(self.at) {
            let text = word.text().unwrap_or("");
            if text == ";" || (text == "+" && before == "{}") {
                break;
            }
            before = text;
            self.role(self.at, Role::Rest);
            self.at += 1;
        }
        self.reading.commands.push((from, self.at));
        self.role(self.at, Role::Option);
        self.at += 1;
    }
}

/// The kinds that a word lists: `pods,Secret/x,secrets.v1.`.
pub(super) fn kinds(entry: &'static Entry, text: &str) -> impl Iterator<Item = &'static Entry> {
    let listed = entry.kinds.then(|| text.split(',')).into_iter().flatten();
    listed.filter_map(|kind| {
        let name = kind.split(['/', '.']).next().unwrap_or("");
        entry.sub(&name.to_ascii_lowercase())
    })
}

/// The word without its first bytes, which are text.
pub(in crate::call::shell) fn cut(word: &Word, bytes: usize) -> Word {
    let mut out = Word {
        pieces: Few::default(),
        span: word.span,
        splits: word.splits,
    };
    for (at, piece) in word.pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) if at == 0 => {
                let rest = text.get(bytes..).unwrap_or("");
                if !rest.is_empty() {
                    out.pieces.push(Piece::Text(rest.into()));
                }
            }
            piece => out.pieces.push(piece.clone()),
        }
    }
    out
}
