//! One value of a command, by what the table says it is.
//!
//! In: a word and its [`Slot`]. Out: effects, escalations and started scripts, gathered in a [`Judge`].
//! A value that cannot be computed stays in the effect as it is: who judges it sees that it may be anything.

mod code;
mod consoles;
mod hosts;
mod modules;
mod paths;
mod sent;
mod started;
mod variables;
mod wanted;

pub(in crate::call::shell) use consoles::{named, shelled};
pub(super) use paths::{join, outside};
pub(super) use started::starts_as_module;
pub(in crate::call::shell) use variables::files_of;
pub use wanted::asked_for;

use super::reading::cut;
use super::{Effect, Escalation, Starts, What, pathspecs};
use crate::call::access::{Mode, Reach, Trigger};
use crate::call::programs::{Kind, List, Slot, Text};
use crate::call::shell::numbers::is_number;
use crate::call::word::{Piece, Word};
use crate::source::Span;
use hosts::{colon, fetches, holds_code, is_url};
use paths::null;

/// Gathers what a command does.
pub(super) struct Judge<'w> {
    words: &'w [Word],
    /// The folder that relative operands start from.
    pub dir: Option<Word>,
    harmless: List<Text>,
    /// Operands of the innermost subcommand that need no judgement.
    pub own: List<Text>,
    /// Keys whose value is a command.
    pub commands: List<Text>,
    /// Paths are reached with all below them.
    pub below: bool,
    /// Dot files are reached too.
    pub hidden: bool,
    /// Effects, each with the word it came from.
    pub effects: Vec<(usize, Effect)>,
    pub escalations: Vec<Escalation>,
    /// The option that is being judged.
    pub option: Option<&'static str>,
    pub starts: Vec<(usize, Starts)>,
    /// Globs of files that are read, whatever else is left out.
    pub wanted: Vec<(usize, Word)>,
    /// How copies of what is replaced are called, and whether that stands before the name.
    pub copies: Vec<(Word, bool)>,
    /// Paths among the operands are git's own patterns.
    pub pathspecs: bool,
    /// It leaves out what git ignores.
    pub gitignore: bool,
    /// It runs code of the project, or loads some by options that nobody listed.
    pub loads: bool,
    /// Words that name what is imported and called.
    pub modules: Vec<(usize, String)>,
    /// It puts other files in the place of those that git tracks.
    pub swaps: bool,
}

impl<'w> Judge<'w> {
    pub fn new(words: &'w [Word], dir: Option<Word>, harmless: List<Text>) -> Self {
        Self {
            words,
            dir,
            harmless,
            own: List::EMPTY,
            commands: List::EMPTY,
            below: false,
            hidden: false,
            effects: Vec::new(),
            escalations: Vec::new(),
            option: None,
            starts: Vec::new(),
            wanted: Vec::new(),
            copies: Vec::new(),
            pathspecs: false,
            gitignore: false,
            loads: false,
            modules: Vec::new(),
            swaps: false,
        }
    }

    pub fn escalate(&mut self, what: &str, at: usize) {
        self.escalate_unless(what, at, None);
    }

    /// The same, where something else may be written instead.
    pub fn escalate_unless(&mut self, what: &str, at: usize, instead: Option<String>) {
        let new = Escalation {
            what: what.to_owned(),
            at: Trigger::Word(at),
            option: self.option,
            instead,
        };
        // The same word says the same soon, or never.
        if !self
            .escalations
            .iter()
            .rev()
            .take(16)
            .any(|old| *old == new)
        {
            self.escalations.push(new);
        }
    }

    /// Where a word stands.
    pub fn span(&self, at: usize) -> Span {
        self.words.get(at).map(|word| word.span).unwrap_or_default()
    }

    /// A path effect. `dir` is not applied.
    pub fn path(
        &mut self,
        word: &Word,
        at: usize,
        naming: Option<usize>,
        mode: Mode,
        reach: Reach,
        certain: bool,
    ) {
        if word.text().is_some_and(null) {
            return;
        }
        let what = What::Path {
            mode,
            reach,
            certain,
        };
        self.effects.push((
            at,
            Effect {
                what,
                value: word.clone(),
                naming,
            },
        ));
    }

    fn placed(&self, word: &Word) -> Word {
        match &self.dir {
            Some(dir) if !word.text().is_some_and(null) => join(dir, word),
            _ => word.clone(),
        }
    }

    fn reach(&self, below: bool, hidden: bool) -> Reach {
        if below || self.below {
            Reach::Below {
                hidden: hidden || self.hidden,
            }
        } else {
            Reach::Itself
        }
    }

    /// Judges `word`, which is or lies in the word `at`; `naming` is the word that an allow must name where it must.
    pub fn value(&mut self, slot: Slot, word: &Word, at: usize, naming: usize, whole: bool) {
        let named = slot.named.then_some(naming);
        let spec = match slot.kind {
            Kind::ReadBelow => Some((Some(Mode::Read), true)),
            Kind::WriteBelow => Some((Some(Mode::Write), true)),
            Kind::NameBelow => Some((None, true)),
            Kind::Revision if pathspecs::is_sure(word) => Some((Some(Mode::Read), false)),
            Kind::Tracked if pathspecs::is_sure(word) || word.prefix().starts_with(['.', '/']) => {
                Some((Some(Mode::Read), true))
            }
            Kind::Tree if pathspecs::is_sure(word) || word.prefix().starts_with(':') => {
                Some((Some(Mode::Write), true))
            }
            _ => None,
        };
        if let Some((mode, below)) = spec.filter(|_| self.pathspecs) {
            return self.pathspec(word, at, named, mode, below);
        }
        let path = |judge: &mut Self, mode, reach| {
            let word = judge.placed(word);
            judge.path(&word, at, named, mode, reach, true);
        };
        // `helm template -f https://…`, `pip-audit --osv-url https://…`: many that take a file fetch one, too.
        if fetches(slot.kind) && is_url(word.prefix()) {
            self.host(word, at, named);
        }
        // `mocha --import data:…`, `bun test npm:x`: no file of this machine.
        if self.loads && fetches(slot.kind) && holds_code(word.prefix()) {
            self.escalate("takes code from no file", naming);
        }
        match slot.kind {
            Kind::Text => {
                if slot.named {
                    self.escalate(&format!("acts on `{}`", word.shown()), naming);
                }
            }
            Kind::Maybe => self.maybe(word, at),
            Kind::Read => path(self, Mode::Read, self.reach(false, true)),
            Kind::ReadBelow => path(self, Mode::Read, self.reach(true, true)),
            Kind::ReadShown => path(self, Mode::Read, self.reach(true, false)),
            Kind::Backup | Kind::BackupPrefix => {
                if !word.pieces.is_empty() {
                    self.copies
                        .push((word.clone(), slot.kind == Kind::BackupPrefix));
                }
                if word.text().is_some_and(|text| !text.contains(['/', '*'])) {
                    return;
                }
                self.escalate("names its copies in a way of its own", naming);
                if let Some((folder, _)) = word.prefix().rsplit_once('/') {
                    let folder = if folder.is_empty() { "/" } else { folder };
                    let folder = Word::known(folder, word.span);
                    self.path(
                        &folder,
                        at,
                        Some(naming),
                        Mode::Write,
                        Reach::SomethingBelow,
                        true,
                    );
                }
            }
            Kind::Names => {
                path(self, Mode::Read, Reach::Itself);
                let names = format!("<names in {}>", word.shown());
                self.path(
                    &Word::unknown(names, word.span, true),
                    at,
                    named,
                    Mode::Read,
                    Reach::Itself,
                    true,
                );
            }
            // `psql -o '|rm x'`.
            Kind::Write if word.prefix().starts_with('|') => {
                self.escalate("runs a command that gets what it writes", naming);
                self.script(&cut(word, 1), at, false);
            }
            Kind::Write => path(self, Mode::Write, self.reach(false, true)),
            Kind::WriteNumbered => {
                let mut pieces = Vec::new();
                for piece in word.pieces.iter() {
                    match piece {
                        Piece::Text(text) if text.contains('#') => {
                            let start = text.split('#').next().unwrap_or_default();
                            pieces.push(Piece::Text(start.into()));
                            pieces.push(Piece::Unknown("#1".into()));
                        }
                        other => pieces.push(other.clone()),
                    }
                }
                let filled = Word::of(pieces, word.span);
                self.path(&filled, at, named, Mode::Write, Reach::Itself, true);
            }
            Kind::WriteStart => {
                let start = self.placed(word);
                let names = Word::of(start.pieces.iter().cloned().chain([Piece::Star]), word.span);
                self.path(&names, at, named, Mode::Write, Reach::Itself, true);
            }
            Kind::WriteBelow => path(self, Mode::Write, self.reach(true, true)),
            Kind::WriteInto => path(self, Mode::Write, Reach::SomethingBelow),
            Kind::Both | Kind::BothBelow if self.pathspecs => {
                for mode in [Mode::Read, Mode::Write] {
                    self.pathspec(word, at, named, Some(mode), slot.kind == Kind::BothBelow);
                }
            }
            Kind::Both | Kind::BothBelow => {
                let reach = self.reach(slot.kind == Kind::BothBelow, true);
                path(self, Mode::Read, reach);
                path(self, Mode::Write, reach);
            }
            Kind::Plus => {
                if !word.prefix().starts_with('+') {
                    self.escalate(&format!("sets what it shows to `{}`", word.shown()), at);
                }
            }
            Kind::Name | Kind::NameBelow => {
                let reach = self.reach(slot.kind == Kind::NameBelow, true);
                let value = self.placed(word);
                self.effects.push((
                    at,
                    Effect {
                        what: What::Name { reach },
                        value,
                        naming: named,
                    },
                ));
            }
            Kind::Dir => {
                // What a program finds there it reads, and often runs: `make -C`, `git -C`.
                self.path(word, at, named, Mode::Read, Reach::Itself, true);
            }
            Kind::Host => self.host(word, at, named),
            Kind::Url => {
                let scheme = word.prefix().split_once("://").map(|(scheme, _)| scheme);
                let sends = [
                    "gopher", "gophers", "telnet", "dict", "smtp", "smtps", "imap", "imaps",
                    "pop3", "pop3s", "ldap", "ldaps", "mqtt", "mqtts", "rtsp", "rtmp", "tftp",
                    "smb", "smbs", "ws", "wss",
                ];
                if scheme
                    .is_some_and(|scheme| sends.contains(&scheme.to_ascii_lowercase().as_str()))
                {
                    self.escalate("speaks a protocol that sends what the URL says", at);
                }
                self.host(word, at, named);
            }
            Kind::RemoteRead | Kind::RemoteWrite => {
                self.remote(word, at, named, slot.kind == Kind::RemoteWrite)
            }
            Kind::BoxedRead | Kind::BoxedWrite => {
                if colon(word).is_none() {
                    let mode = if slot.kind == Kind::BoxedRead {
                        Mode::Read
                    } else {
                        Mode::Write
                    };
                    let reach = if mode == Mode::Read {
                        Reach::Below { hidden: true }
                    } else {
                        Reach::SomethingBelow
                    };
                    path(self, mode, reach);
                }
            }
            Kind::Volume => self.volume(word, at, naming),
            Kind::Revision => self.revision(word, at),
            Kind::Tracked => self.tracked(word, at),
            Kind::Tree => match word.text() {
                Some(text)
                    if text != "."
                        && !text.starts_with(['/', ':'])
                        && !text.starts_with("./")
                        && !text.starts_with("..") =>
                {
                    self.maybe(word, at);
                    // A branch or a revision: git writes and removes what differs there.
                    self.swaps |= text != "HEAD" && self.own.texts().any(|known| known == text);
                    if !self.own.texts().any(|known| known == text) {
                        let here = Word::known(".", word.span);
                        self.path(&here, at, None, Mode::Write, Reach::SomethingBelow, true);
                    }
                }
                _ => path(self, Mode::Write, self.reach(true, true)),
            },
            Kind::Start => {
                let own = |text: &str| self.own.texts().any(|known| known == text);
                if !word.text().is_some_and(own) {
                    self.escalate(&format!("starts from `{}`", word.shown()), naming);
                }
            }
            Kind::Script => self.script(word, at, whole),
            Kind::Split => {
                // `\_` is a blank to `env -S`, `\t` a tab, and `>` a word like any other.
                let own = [
                    '\\', '<', '>', '|', '&', ';', '(', ')', '`', '*', '?', '[', '{', '~', '#',
                    '\n',
                ];
                let read = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(own));
                if word.pieces.iter().any(read) {
                    let why = "`env -S` reads words in a way of its own";
                    self.starts.push((at, Starts::Opaque(why.to_owned())));
                }
                self.split(word, at, whole);
            }
            Kind::Binding => {
                let command = word.prefix().find(':').map_or(0, |colon| colon + 1);
                self.escalate("runs a command on a key", naming);
                self.script(&cut(word, command), at, false);
            }
            Kind::Leader => self.escalate("starts another program", naming),
            Kind::Refspec => {}
            Kind::Page => self.page(word, at),
            Kind::Program => {
                self.escalate("runs a command that is given in an option", naming);
                self.script(word, at, whole);
            }
            Kind::Command => {}
            Kind::Code => {
                self.escalate("runs code that is given in an option", naming);
                self.shell_calls(word, at);
            }
            Kind::CodeFile => {
                path(self, Mode::Read, Reach::Itself);
                self.escalate(&format!("runs the code in `{}`", word.shown()), naming);
                if word.prefix().starts_with("/dev/fd/") || word.text() == Some("/dev/stdin") {
                    let why = "runs what another command writes";
                    self.starts.push((at, Starts::Opaque(why.to_owned())));
                }
            }
            Kind::Sed => self.sed(word, at),
            Kind::Awk => self.awk(word, at),
            Kind::Data => self.data(word, at, naming),
            Kind::Header => {
                if word.prefix().starts_with('@') {
                    self.data(word, at, naming);
                } else if word.shown().contains("%output{") {
                    self.escalate("writes a file that its format names", naming);
                }
            }
            Kind::Form => self.form(word, at, naming),
            Kind::Sends => {
                self.escalate("sends data", naming);
                path(self, Mode::Read, Reach::Itself);
            }
            Kind::Item => self.item(word, at, naming),
            Kind::Wanted => self.wanted.push((at, word.clone())),
            Kind::Typed => match word.prefix().split_once(':') {
                // Files of the types that it has anyway.
                Some((_, rest)) if rest.starts_with("include:") => {}
                Some((name, _)) => self.wanted.push((at, cut(word, name.len() + 1))),
                None => self.escalate("has a type of files that cannot be computed", at),
            },
            Kind::Response | Kind::ResponseBelow | Kind::ResponseText => {
                match word.prefix().starts_with('@') {
                    true => {
                        self.escalate("takes its options from a file", naming);
                        let file = self.placed(&cut(word, 1));
                        self.path(&file, at, None, Mode::Read, Reach::Itself, true);
                    }
                    false if slot.kind == Kind::ResponseText => {}
                    false => {
                        let below = slot.kind == Kind::ResponseBelow;
                        path(self, Mode::Read, self.reach(below, true));
                    }
                }
            }
            Kind::Assign => self.assign(word, naming),
            Kind::Variable => self.variable(word, naming),
            Kind::Key => self.key(word, naming),
            Kind::Module => self.module(word, at, whole),
            Kind::Tests => self.tests(word, at),
            // `make -j $(nproc)`: a number chooses nothing.
            Kind::Verb | Kind::Goal if is_number(word) => {}
            Kind::Verb => {
                self.sets(word, at);
                // `jest src/a.test.js` of a runner whose first operand may be a path.
                if !word.prefix().contains('=')
                    && (word.shown().contains(['/', '.']) || word.text().is_none())
                {
                    self.value(Slot::of(Kind::Maybe), word, at, naming, whole);
                }
            }
            Kind::Goal => self.goal(word, at),
            Kind::Console => self.console(word, at, naming),
            Kind::Target => self.target(word, at),
            Kind::Package => self.package(word, at, whole),
            Kind::Repository => self.repository(word, at, named),
            Kind::Image => self.image(word, at),
            Kind::Source => self.source(word, at),
            Kind::Database => self.database(word, at),
            Kind::Own => self.own_words_in(word, at),
            Kind::Format => self.format(word, at),
            Kind::Keys => self.keys(word, at),
            Kind::Edited => {
                let kind = match word.prefix().starts_with('!') {
                    true => Kind::Console,
                    false => Kind::Both,
                };
                self.value(Slot::of(kind), word, at, naming, whole);
            }
            Kind::Lookup => self.lookup(word, at),
            Kind::Query => self.query(word, at),
            Kind::BuildFlags => {
                if !word.text().is_some_and(is_harmless) {
                    self.escalate("has flags that may run a program, or write", naming);
                }
            }
        }
    }
}

/// Whether flags that go hands on to its compiler and linker say only what comes out: less of it, other texts in it.
fn is_harmless(flags: &str) -> bool {
    let mut rest = flags.trim_start();
    // `all=-N`: for which packages.
    if let Some((packages, own)) = rest
        .split_once('=')
        .filter(|(own, _)| !own.contains(['-', ' ']))
    {
        rest = if packages.is_empty() { rest } else { own };
    }
    let mut sets = false;
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let (word, after) = match quote {
            Some(quote) => rest.get(1..).and_then(|rest| rest.split_once(quote)),
            None => Some(rest.split_once(char::is_whitespace).unwrap_or((rest, ""))),
        }
        .unwrap_or(("?", ""));
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let known = matches!(
            name.trim_start_matches('-'),
            "s" | "w" | "N" | "l" | "m" | "S" | "race" | "X"
        );
        if !(sets || known && word.starts_with('-')) {
            return false;
        }
        // The text that it sets is the next word.
        sets = !sets && name.ends_with('X') && value.is_empty();
        rest = after.trim_start();
    }
    true
}
