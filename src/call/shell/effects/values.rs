//! One value of a command, by what the table says it is.
//!
//! In: a word and its [`Slot`]. Out: effects, escalations and started scripts, gathered in a [`Judge`].
//! A value that cannot be computed stays in the effect as it is: who judges it sees that it may be anything.

use super::reading::cut;
use super::{Effect, Escalation, Starts, What, pathspecs, scripts};
use crate::call::access::{Mode, Reach, Trigger};
use crate::call::few::Few;
use crate::call::path;
use crate::call::programs::{self, Kind, List, Slot, Text};
use crate::call::shell::{self, numbers::is_number};
use crate::call::word::{Links, Listed, Piece, Word};
use crate::source::Span;

/// Lines of a console, and words of each, that are looked at.
const CONSOLE: usize = 64;

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
    pub starts: Vec<(usize, Starts)>,
    /// Globs of files that are read, whatever else is left out.
    pub wanted: Vec<(usize, Word)>,
    /// How copies of what is replaced are called, and whether that stands before the name.
    pub copies: Vec<(Word, bool)>,
    /// Paths among the operands are git's own patterns.
    pub pathspecs: bool,
    /// It leaves out what git ignores.
    pub gitignore: bool,
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
            starts: Vec::new(),
            wanted: Vec::new(),
            copies: Vec::new(),
            pathspecs: false,
            gitignore: false,
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
            Kind::Write => path(self, Mode::Write, self.reach(false, true)),
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
                let shown = word.shown();
                let runs = [
                    "-ext",
                    "-plugin",
                    "-load",
                    "-wrapper",
                    "-specs",
                    "-toolexec",
                    "-B",
                ];
                if word.is_unknown() || runs.iter().any(|flag| shown.contains(flag)) {
                    self.escalate("has flags that may run another program", naming);
                }
            }
        }
    }

    /// The files that globs ask for below the folders that are searched: `rg -g .env x` reads what it leaves out else.
    pub fn wants(&mut self) {
        // Folders and globs that are told apart.
        const MOST: usize = 64;
        let searched = |(_, effect): &(usize, Effect)| match effect.what {
            What::Path {
                mode: Mode::Read,
                reach: Reach::Below { .. },
                certain: true,
            } => Some(effect.value.clone()),
            _ => None,
        };
        let folders: Vec<Word> = self.effects.iter().filter_map(searched).collect();
        let wanted = std::mem::take(&mut self.wanted);
        if wanted.len() * folders.len() > MOST {
            self.escalate("asks for files in too many ways to be followed", 0);
        }
        for (at, glob) in wanted.iter().take(MOST) {
            let text = glob.shown();
            if glob.is_unknown() {
                self.escalate("asks for files by a glob that cannot be computed", *at);
            }
            if text.starts_with('!') {
                continue;
            }
            // With a slash in it, it starts at the folder that the shell is in.
            let (folder, name) = text.rsplit_once('/').unwrap_or(("", text.as_str()));
            let plain = |part: &&str| !part.contains(['*', '?', '[', '{', '\\', '.']);
            let start: Vec<&str> = folder.split('/').take_while(plain).collect();
            let start = start.join("/");
            let here = Word::known(format!("./{}", start.trim_matches('/')), glob.span);
            let folders = match folder.is_empty() || start.is_empty() {
                true => folders.get(..folders.len().min(MOST)).unwrap_or_default(),
                false => std::slice::from_ref(&here),
            };
            for folder in folders {
                for files in asked_for(folder, name) {
                    self.path(&files, *at, None, Mode::Read, Reach::Itself, true);
                }
            }
        }
    }

    /// What may be a path, and then may be read or written.
    fn maybe(&mut self, word: &Word, at: usize) {
        if word.pieces.is_empty() {
            return;
        }
        for path in parts(word) {
            let placed = self.placed(&path);
            for mode in [Mode::Read, Mode::Write] {
                self.path(&placed, at, None, mode, Reach::Itself, false);
            }
        }
    }

    /// The files that a variable names which is handed to a program.
    fn hands(&mut self, name: &str, value: &Word, at: usize) {
        for (file, certain) in files_of(name, value) {
            for mode in [Mode::Read, Mode::Write] {
                self.path(&file, at, None, mode, Reach::Itself, certain);
            }
        }
    }

    /// A page by name, or a file: `.so` in it includes any other.
    fn page(&mut self, word: &Word, at: usize) {
        if word.prefix().contains('/') || word.text() == Some("-") || word.is_unknown() {
            self.escalate("formats a file that may include any other", at);
        }
        let kind = match outside(word) {
            true => Kind::Read,
            false => Kind::Maybe,
        };
        self.value(Slot::of(kind), word, at, at, true);
    }

    fn host(&mut self, word: &Word, at: usize, naming: Option<usize>) {
        if word.pieces.is_empty() {
            return;
        }
        if let Some(path) = file_of(word) {
            return self.path(&path, at, naming, Mode::Read, Reach::Itself, true);
        }
        // A socket of this machine.
        let prefix = word.prefix();
        if prefix.starts_with('/') && !prefix.starts_with("//") {
            return self.maybe(word, at);
        }
        // `user@host` without a scheme, as `ssh` takes it.
        let user = prefix
            .split_once('@')
            .map(|(user, _)| user)
            .filter(|user| !user.contains(['/', ':']));
        let value = match user {
            Some(user) => cut(word, user.len() + 1),
            None => word.clone(),
        };
        self.effects.push((
            at,
            Effect {
                what: What::Host,
                value,
                naming,
            },
        ));
    }

    /// `host:path` or a path (`scp`, `rsync`).
    fn remote(&mut self, word: &Word, at: usize, naming: Option<usize>, write: bool) {
        if word.prefix().contains("://") {
            return self.host(word, at, naming);
        }
        if let Some(end) = colon(word) {
            let host = word.prefix().get(..end).unwrap_or("");
            let host = host.rsplit('@').next().unwrap_or(host);
            return self.host(&Word::known(host, word.span), at, naming);
        }
        let reach = self.reach(false, true);
        let mode = if write { Mode::Write } else { Mode::Read };
        let reach = match (write, reach) {
            (true, Reach::Below { .. }) => Reach::SomethingBelow,
            (_, reach) => reach,
        };
        let word = self.placed(word);
        self.path(&word, at, naming, mode, reach, true);
    }

    /// `SOURCE:TARGET[:ro]`, `type=bind,source=SOURCE,…`: a folder of this machine is handed over.
    fn volume(&mut self, word: &Word, at: usize, naming: usize) {
        let shown = word.shown();
        let read_only =
            shown.ends_with(":ro") || shown.contains(",ro") || shown.contains("readonly");
        let fields = shown.split(',').find_map(|field| {
            field
                .strip_prefix("source=")
                .or_else(|| field.strip_prefix("src="))
        });
        let source = match fields {
            Some(source) => Some(Word::known(source, word.span)),
            None if shown.contains("type=") => None,
            None if word.text().is_none() => Some(before_colon(word)),
            None => shown
                .split(':')
                .next()
                .filter(|_| shown.contains(':'))
                .map(|source| Word::known(source, word.span)),
        };
        let Some(source) = source else { return };
        if source
            .text()
            .is_some_and(|text| !text.contains('/') && !text.starts_with(['.', '~']))
        {
            return; // a named volume
        }
        self.path(
            &source,
            at,
            Some(naming),
            Mode::Read,
            Reach::Below { hidden: true },
            true,
        );
        if !read_only {
            self.path(
                &source,
                at,
                Some(naming),
                Mode::Write,
                Reach::Below { hidden: true },
                true,
            );
        }
    }

    /// A revision, `REV:path`, or a path: only protected, deny and ask rules look at it.
    fn revision(&mut self, word: &Word, at: usize) {
        if word.pieces.is_empty() {
            return;
        }
        let prefix = word.prefix();
        // `:/path` from the top, `:0:path` of the index, `:function:path`, `REV:path`.
        let skipped = match prefix.strip_prefix(':') {
            Some(rest) if rest.starts_with('/') => 2,
            Some(rest) => rest.find(':').map_or(1, |end| end + 2),
            None => prefix.find(':').map_or(0, |end| end + 1),
        };
        let value = cut(word, skipped);
        if value.pieces.is_empty() {
            return;
        }
        // No revision is spelled like a path that leaves the folder: `git diff /a /b` compares files.
        let certain = outside(&value);
        let value = self.placed(&value);
        self.path(&value, at, None, Mode::Read, Reach::Itself, certain);
    }

    /// A path as git reads it: touched so, or only named.
    pub fn pathspec(
        &mut self,
        word: &Word,
        at: usize,
        naming: Option<usize>,
        mode: Option<Mode>,
        below: bool,
    ) {
        let spec = pathspecs::read(word, self.gitignore);
        // What is left is asked for by another; where there is none, it is all.
        let all = spec.excludes || spec.value.pieces.is_empty();
        if all && !below {
            return;
        }
        let value = match all {
            true => Word::known(".", word.span),
            false => spec.value,
        };
        let value = self.placed(&value);
        let reach = self.reach(below && (all || !spec.pattern), true);
        match mode {
            Some(mode) => self.path(&value, at, naming, mode, reach, true),
            None => self.effects.push((
                at,
                Effect {
                    what: What::Name { reach },
                    value,
                    naming,
                },
            )),
        }
    }

    fn script(&mut self, word: &Word, at: usize, whole: bool) {
        // `trap - EXIT`, an empty script.
        if matches!(word.text(), Some("" | "-")) {
            return;
        }
        let starts = if whole {
            Starts::Script {
                word: at,
                args: None,
            }
        } else {
            Starts::Value {
                script: word.clone(),
                at,
            }
        };
        self.starts.push((at, starts));
    }

    /// `env -S 'rm -rf' x`: the words behind it go on where it ends, and options in it are those of `env`.
    fn split(&mut self, word: &Word, at: usize, whole: bool) {
        let own = word.prefix().trim_start().starts_with('-');
        let rest = self.words.get(at + 1..).unwrap_or_default();
        if !own && rest.is_empty() {
            return self.script(word, at, whole);
        }
        let env = own.then(|| Piece::Text("env ".to_owned()));
        let mut pieces: Vec<Piece> = env.into_iter().chain(word.pieces.iter().cloned()).collect();
        for word in rest {
            pieces.push(Piece::Text(" ".to_owned()));
            match word.text() {
                Some(text) => pieces.push(Piece::Text(shell::quoted(&[text]))),
                None => pieces.extend(word.pieces.iter().cloned()),
            }
        }
        let script = Word::of(pieces, word.span);
        self.starts.push((at, Starts::Value { script, at }));
    }

    fn sed(&mut self, word: &Word, at: usize) {
        match numbered(word) {
            Some(text) => self.touches(scripts::sed(&text), word, at),
            None => self.escalate(
                "runs a script that cannot be computed, and may write files or run commands",
                at,
            ),
        }
    }

    fn awk(&mut self, word: &Word, at: usize) {
        match numbered(word) {
            Some(text) => self.touches(scripts::awk(&text), word, at),
            None => self.escalate(
                "runs a program that cannot be computed, and may write files or run commands",
                at,
            ),
        }
    }

    fn touches(&mut self, touches: Vec<scripts::Touch>, word: &Word, at: usize) {
        for touch in touches {
            match touch {
                scripts::Touch::File(mode, name) => {
                    // Reading is what its program does by itself; writing must be named.
                    let naming = (mode == Mode::Write).then_some(at);
                    self.path(
                        &Word::known(name, word.span),
                        at,
                        naming,
                        mode,
                        Reach::Itself,
                        true,
                    );
                }
                scripts::Touch::Feeds(script) => {
                    // `print | "sort -rn"` is judged as what it is.
                    if !super::only_reads(&script) {
                        self.escalate("has a script that runs a command", at);
                    }
                    self.script(&Word::known(script, word.span), at, false);
                }
                scripts::Touch::Runs(script) => {
                    self.escalate("has a script that runs a command", at);
                    if script.is_none() {
                        let why = "has a script that runs a command that cannot be computed";
                        self.starts.push((at, Starts::Opaque(why.to_owned())));
                    }
                    if let Some(script) = script {
                        self.starts.push((
                            at,
                            Starts::Value {
                                script: Word::known(script, word.span),
                                at,
                            },
                        ));
                    }
                }
                scripts::Touch::Unclear(what) => self.escalate(what, at),
            }
        }
    }

    /// `text` or `@file`: sent.
    fn data(&mut self, word: &Word, at: usize, naming: usize) {
        self.escalate("sends data", naming);
        let prefix = word.prefix();
        if let Some(mark) = prefix.find('@').filter(|mark| {
            *mark == 0
                || !prefix
                    .get(..*mark)
                    .unwrap_or("")
                    .contains(['=', '&', '{', ' '])
        }) {
            let file = self.placed(&cut(word, mark + 1));
            self.path(
                &file,
                at,
                Some(naming),
                Mode::Read,
                Reach::Itself,
                mark == 0,
            );
        } else if word.text().is_none() && prefix.is_empty() {
            self.maybe(word, at);
        }
    }

    /// `name=@file`, `name=<file`, `name=value`: sent.
    fn form(&mut self, word: &Word, at: usize, naming: usize) {
        self.escalate("sends data", naming);
        let prefix = word.prefix();
        let Some((name, value)) = prefix.split_once('=') else {
            return;
        };
        if value.starts_with(['@', '<']) {
            let rest = cut(word, name.len() + 2);
            // `@file;type=text/plain`, `@a,b`.
            let files = match rest.text() {
                Some(text) => text
                    .split(';')
                    .next()
                    .unwrap_or("")
                    .split(',')
                    .map(|file| Word::known(file, word.span))
                    .collect(),
                None => vec![rest],
            };
            for file in files {
                let file = self.placed(&file);
                self.path(&file, at, Some(naming), Mode::Read, Reach::Itself, true);
            }
        }
    }

    /// `name=value`, `name=@file`, `name:=@file`, `name@file`; a URL is none.
    fn item(&mut self, word: &Word, at: usize, naming: usize) {
        let prefix = word.prefix();
        if prefix.contains("://") {
            return self.host(word, at, None);
        }
        if prefix.contains(['=', '@']) || word.is_unknown() {
            self.escalate("sends data", naming);
        }
        if let Some(mark) = prefix.find('@') {
            let file = self.placed(&cut(word, mark + 1));
            self.path(&file, at, Some(naming), Mode::Read, Reach::Itself, true);
        }
    }

    /// Bash expands an index once more: `unset 'a[$(rm x)]'` runs `rm x`.
    fn variable(&mut self, word: &Word, at: usize) {
        let shown = word.text().unwrap_or("");
        let index = shown.split_once('[').map_or("", |(_, index)| index);
        if index.contains("$(") || index.contains('`') {
            self.escalate("runs the command in the index of a variable", at);
        }
    }

    fn assign(&mut self, word: &Word, at: usize) {
        self.variable(word, at);
        let prefix = word.prefix();
        let name = prefix.split_once('=').map_or(prefix, |(name, _)| name);
        let name = name.trim_end_matches('+');
        let unclear = word.text().is_none() && !prefix.contains('=');
        let value = cut(word, prefix.find('=').map_or(0, |at| at + 1));
        // A shell's own variables are handed to nobody before they are exported.
        let own = self.words.first().and_then(Word::text);
        let kept = matches!(own, Some("declare" | "typeset" | "local" | "readonly"));
        if prefix.contains('=') && !kept {
            self.hands(name, &value, at);
        }
        if unclear {
            self.escalate("sets a variable that cannot be computed", at);
        } else if prefix.contains('=') && programs::dangerous_setting(name, value.text()) {
            self.escalate(
                &format!("sets `{name}`, which changes what programs run or read"),
                at,
            );
        }
    }

    /// A variable of a build, whose value is expanded there: `make 'X!=rm y'`, `make 'X=$(shell rm y)'`.
    fn sets(&mut self, word: &Word, at: usize) {
        let prefix = word.prefix();
        let Some((name, value)) = prefix.split_once('=') else {
            return self.assign(word, at);
        };
        let plain = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']);
        if word.text().is_none() || name.ends_with('!') || value.contains('$') {
            self.escalate(&format!("sets `{plain}` to what is expanded or run"), at);
            match name.ends_with('!') {
                true => self.script(&Word::known(value, word.span), at, false),
                false => self.shell_calls(word, at),
            }
        }
        // `make SHELL=rm`.
        if programs::command_variable(plain) && !value.is_empty() {
            self.script(&Word::known(value, word.span), at, false);
        }
        self.assign(&Word::known(format!("{plain}={value}"), word.span), at);
    }

    /// The commands of a makefile's `$(shell rm x)`.
    fn shell_calls(&mut self, word: &Word, at: usize) {
        let shown = word.shown();
        for call in shown.split("$(shell ").skip(1).take(CONSOLE) {
            let mut open = 1;
            let end = call.find(|c| {
                open += i32::from(c == '(') - i32::from(c == ')');
                open == 0
            });
            let script = call.get(..end.unwrap_or(call.len())).unwrap_or(call);
            self.script(&Word::known(script, word.span), at, false);
        }
    }

    fn key(&mut self, word: &Word, at: usize) {
        let text = word.text().map(str::to_ascii_lowercase);
        let key = |text: &str| text.split(['=', ' ']).next().unwrap_or("").to_owned();
        let harmless = text.as_deref().is_some_and(|text| {
            self.harmless.iter().any(|known| match known.contains('=') {
                true => programs::fits(known, text),
                false => programs::fits(known, &key(text)),
            })
        });
        // `user.name=$NAME`: the key alone decides.
        let prefix = word.prefix().to_ascii_lowercase();
        let by_key = prefix.contains('=')
            && self
                .harmless
                .iter()
                .any(|known| !known.contains('=') && programs::fits(known, &key(&prefix)));
        if !harmless && !by_key {
            self.escalate(&format!("sets `{}`", key(&word.shown())), at);
        }
        // `ssh -o 'ProxyCommand=rm x'`; what git's keys run is followed where they are known (`launch.rs`).
        let shown = word.shown();
        if let Some((_, command)) = shown.split_once(['=', ' ']).filter(|(name, _)| {
            let name = name.trim().to_ascii_lowercase();
            !name.contains('.') && self.commands.texts().any(|known| known == name)
        }) {
            self.script(&Word::known(command.trim(), word.span), at, false);
        }
        // `hg --config alias.x=!rm`.
        let value = shown.split_once('=').map_or("", |(_, value)| value);
        if let Some(command) = value.strip_prefix('!').filter(|_| self.commands.is_empty()) {
            self.script(&Word::known(command, word.span), at, false);
        }
    }

    /// `python -m pip`: the module is a program that the table knows.
    fn module(&mut self, word: &Word, at: usize, whole: bool) {
        if !word.text().is_some_and(starts_as_module) {
            return;
        }
        if whole {
            let starts = Starts::words(at, self.words.len());
            return self.starts.push((at, starts));
        }
        // `python -mpip install x`: the program is no word of its own.
        self.leads(word, at, at + 1);
    }

    /// A program that is started with the words from `rest` on, and stands elsewhere.
    pub fn leads(&mut self, word: &Word, at: usize, rest: usize) {
        let rest = self.words.get(rest..).unwrap_or_default();
        let words: Option<Vec<String>> = std::iter::once(word)
            .chain(rest)
            .map(|word| Some(format!("'{}'", word.text()?.replace('\'', "'\\''"))))
            .collect();
        let starts = match words {
            Some(words) => Starts::Value {
                script: Word::known(words.join(" "), word.span),
                at,
            },
            None => Starts::Opaque(format!(
                "the words of `{}` cannot be computed",
                word.shown()
            )),
        };
        self.starts.push((at, starts));
    }

    fn goal(&mut self, word: &Word, at: usize) {
        self.sets(word, at);
        let shown = word.shown();
        let last = shown.rsplit(':').next().unwrap_or("");
        let known = |known: &str| programs::fits(known, last);
        if !shown.contains('=') && !self.harmless.is_empty() && !self.harmless.texts().any(known) {
            self.escalate(&format!("also does `{shown}`"), at);
        }
    }

    /// `!rm x`, `:!rm x`, `.shell rm x`, `\\! rm x`: lines that go to a shell. Other words may be paths.
    fn console(&mut self, word: &Word, at: usize, naming: usize) {
        self.escalate("runs code that is given in an option", naming);
        let shown = word.shown();
        for line in shown.lines().take(CONSOLE) {
            match shelled(line) {
                Some(script) => self.script(&Word::known(script.trim(), word.span), at, false),
                None => {
                    let ends = |c: char| c.is_whitespace() || "'\"(),;".contains(c);
                    let words = line.split(ends).filter(|text| text.contains(['.', '/']));
                    for text in words.take(CONSOLE) {
                        self.maybe(&Word::known(text, word.span), at);
                    }
                }
            }
        }
    }

    /// A path of the project, or code from elsewhere.
    fn target(&mut self, word: &Word, at: usize) {
        let shown = word.shown();
        if elsewhere(&shown) {
            return self.escalate("runs code from elsewhere", at);
        }
        match outside(word) {
            true => {
                let word = self.placed(word);
                self.path(&word, at, None, Mode::Read, Reach::Itself, true);
            }
            false => self.maybe(word, at),
        }
    }

    /// A remote's name says nothing; a URL, `host:path` and a path do.
    fn repository(&mut self, word: &Word, at: usize, naming: Option<usize>) {
        let prefix = word.prefix();
        // `ext::sh -c …` runs a command.
        if prefix.contains("::") {
            if prefix.starts_with("ext::") {
                self.script(&cut(word, "ext::".len()), at, false);
            }
            return self.escalate("uses a remote helper, which may run a command", at);
        }
        let path = prefix.starts_with(['/', '.', '~']);
        if prefix.contains("://") || colon(word).is_some() || path {
            self.remote(word, at, naming, false);
        }
    }

    /// A registry or a forge may stand before a name, or a URL in its place (`gh -R`). Who goes to one of its own accord
    /// goes nowhere else when it is written out.
    fn image(&mut self, word: &Word, at: usize) {
        let prefix = word.prefix();
        if is_url(prefix) {
            return self.contact(word, at);
        }
        let Some((first, _)) = prefix.split_once('/') else {
            return;
        };
        if first == "localhost" || first.contains(['.', ':']) {
            self.contact(&Word::known(first, word.span), at);
        }
    }

    /// A host that is contacted, unless the program contacts it by itself.
    fn contact(&mut self, word: &Word, at: usize) {
        let prefix = word.prefix();
        let rest = prefix.split_once("://").map_or(prefix, |(_, rest)| rest);
        let end = rest.find(['/', ':', '?', '#']);
        let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
        let whole = end.is_some() || word.text().is_some();
        if !(whole && self.harmless.has(name)) {
            self.host(word, at, None);
        }
    }

    /// What is fetched: `x`, `https://h/x`, `x @ git+ssh://h/x`, `./x`.
    fn source(&mut self, word: &Word, at: usize) {
        let prefix = word.prefix();
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let scheme = prefix.find("://").map(|end| {
            let start = prefix.get(..end).unwrap_or("").trim_end_matches(part);
            start.len()
        });
        let git = prefix
            .find("git@")
            .filter(|at| prefix.get(*at..).is_some_and(|rest| rest.contains(':')));
        match scheme.or(git) {
            Some(start) => {
                let url = cut(word, start);
                match file_of(&url) {
                    Some(path) => self.maybe(&path, at),
                    None if is_url(url.prefix()) => self.contact(&url, at),
                    None => {}
                }
            }
            None if prefix.starts_with(['.', '/', '~']) => self.maybe(word, at),
            None => {}
        }
    }

    /// A database by its name, by a URL, or by `host=h dbname=x`.
    fn database(&mut self, word: &Word, at: usize) {
        if is_url(word.prefix()) {
            return self.host(word, at, None);
        }
        let shown = word.shown();
        for part in shown.split_whitespace().take(CONSOLE) {
            let hosts = ["host=", "hostaddr="];
            let Some(names) = hosts.iter().find_map(|key| part.strip_prefix(key)) else {
                continue;
            };
            for name in names.trim_matches('\'').split(',') {
                self.host(&Word::known(name, word.span), at, None);
            }
        }
    }

    /// The words from here on are the same program's: one is a command line of its own, several are its words.
    pub fn own_words(&mut self, from: usize) {
        match self.words.get(from..).unwrap_or_default() {
            [only] => self.own_words_in(&only.clone(), from),
            [] => {}
            _ => {
                let program = self.words.first().cloned().unwrap_or_default();
                self.leads(&program, from, from);
            }
        }
    }

    fn own_words_in(&mut self, word: &Word, at: usize) {
        let program = self.words.first().map(Word::shown).unwrap_or_default();
        let text = |word: &Word| {
            word.text()
                .map(|text| text.trim_matches(['{', '}', ' ']).to_owned())
        };
        let starts = match text(word) {
            Some(text) => Starts::Value {
                script: Word::known(
                    format!("{program} {}", text.replace(" ; ", " \\; ")),
                    word.span,
                ),
                at,
            },
            None => Starts::Opaque(format!("`{}` cannot be computed", word.shown())),
        };
        self.starts.push((at, starts));
    }

    /// `#(COMMAND)` in a format.
    fn format(&mut self, word: &Word, at: usize) {
        let shown = word.shown();
        for call in shown.split("#(").skip(1).take(CONSOLE) {
            self.escalate("has a format that runs a command", at);
            let script = call.rsplit_once(')').map_or(call, |(script, _)| script);
            self.script(&Word::known(script, word.span), at, false);
        }
    }

    /// What is typed into another shell: a word that is a command line there is followed, the names of keys are not.
    fn keys(&mut self, word: &Word, at: usize) {
        let line = |text: &str| text.contains(' ') || programs::find(text).is_some();
        if word.text().is_none_or(line) {
            self.script(word, at, true);
        }
    }

    /// `@server`, a name; `+short` and a type such as `MX` are none.
    fn lookup(&mut self, word: &Word, at: usize) {
        let prefix = word.prefix();
        if prefix.starts_with('@') {
            return self.host(&cut(word, 1), at, None);
        }
        let kind = !prefix.is_empty()
            && prefix
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
        let word_of_dig = prefix.starts_with('+') || (kind && word.text().is_some());
        if !word_of_dig {
            self.host(word, at, None);
        }
    }

    /// Files that a filter of `jq` (`import "x" as y;`) or `yq` (`load("x")`) reads.
    fn query(&mut self, word: &Word, at: usize) {
        if word.is_unknown() && word.prefix().trim().is_empty() {
            return self.escalate(
                "has a filter that cannot be computed, and may read files",
                at,
            );
        }
        let shown = word.shown();
        if reads_environment(&shown) {
            self.escalate("has a filter that reads the environment", at);
        }
        let start = shown.trim_start();
        if ["import", "include", "module"].iter().any(|word| {
            start
                .strip_prefix(word)
                .is_some_and(|rest| rest.trim_start().starts_with(['"', '{']))
        }) {
            self.escalate("has a filter that loads other files", at);
        }
        let mut rest = shown.as_str();
        while let Some(found) = rest.find("load") {
            rest = rest.get(found + "load".len()..).unwrap_or("");
            let name = match rest.starts_with('_') {
                true => rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'),
                false => rest,
            };
            let Some(argument) = name.trim_start().strip_prefix('(') else {
                continue;
            };
            let literal = argument
                .trim_start()
                .strip_prefix('"')
                .and_then(|text| text.split_once('"'))
                .filter(|(file, after)| {
                    !file.contains(['\\', '$']) && after.trim_start().starts_with(')')
                });
            match literal {
                Some((file, _)) => {
                    let file = self.placed(&Word::known(file, word.span));
                    self.path(&file, at, None, Mode::Read, Reach::Itself, true);
                }
                None => self.escalate("has a filter that loads a file which cannot be named", at),
            }
        }
    }
}

/// A module of Python, or a tool of `cmake -E`, that is a program of the table.
pub(super) fn starts_as_module(name: &str) -> bool {
    matches!(
        name,
        "pip"
            | "pip3"
            | "ensurepip"
            | "uv"
            | "pipx"
            | "poetry"
            | "pytest"
            | "mypy"
            | "ruff"
            | "black"
            | "isort"
            | "flake8"
            | "pylint"
            | "rm"
            | "env"
            | "time"
    )
}

/// What a line of a console hands to a shell: `!rm x`, `w !rm x`, `select 1 \! rm x`, `.sh rm x`, `copy t to program 'rm x'`.
pub(in crate::call::shell) fn shelled(line: &str) -> Option<&str> {
    let bang = line.match_indices('!').find(|(at, _)| {
        let before = line.get(..*at).unwrap_or("");
        let after = line.get(at + 1..).unwrap_or("");
        // `q!`, `a != b`.
        !before.ends_with(|c: char| c.is_ascii_alphabetic()) && !after.starts_with('=')
    });
    let named = || {
        let line = line.trim_start_matches([':', ' ', '\t', '%']);
        let (word, rest) = line.split_once([' ', '\t'])?;
        // What begins with a dot may be shortened.
        let short = word.strip_prefix('.').filter(|name| name.len() > 1);
        let is = |name: &&str| *name == word || short.is_some_and(|own| name.starts_with(own));
        ["shell", "system"].iter().any(is).then_some(rest)
    };
    let program = || {
        let lower = line.to_ascii_lowercase();
        let at = lower.find("program")? + "program".len();
        let rest = line.get(at..)?.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        rest.get(1..)?.split(quote).next()
    };
    let piped = || line.split_once('|').map(|(_, after)| after);
    bang.and_then(|(at, _)| line.get(at + 1..))
        .or_else(named)
        .or_else(program)
        .or_else(piped)
}

/// Code that is fetched: a URL, `npm:x`, `package@version`.
pub(super) fn elsewhere(text: &str) -> bool {
    text.contains("://")
        || ["npm:", "jsr:", "git+", "data:", "node:"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
        || text.find('@').is_some_and(|at| at > 0)
        || text.matches(':').count() > 1
}

/// How the names end that a glob fits, as far as it is text: `*.rs`, `*.{ts,tsx}`.
fn ends(glob: &str) -> Vec<String> {
    let any = || vec![String::new()];
    let (start, alternatives) = match glob.strip_suffix('}').and_then(|it| it.rsplit_once('{')) {
        Some((start, inside)) => (start, inside.split(',').collect()),
        None => (glob, vec![""]),
    };
    let open = ['*', '?', '[', ']', '{', '}', '\\'];
    let end = start.rsplit(open).next().unwrap_or("");
    let odd = start.contains(['{', '\\']) || alternatives.iter().any(|it| it.contains(open));
    match odd || alternatives.len() > 16 {
        true => any(),
        false => alternatives.iter().map(|it| format!("{end}{it}")).collect(),
    }
}

/// The files below a folder that a search reads for a glob without a slash: one name, or all that end so.
pub fn asked_for(folder: &Word, glob: &str) -> Vec<Word> {
    let own = || folder.pieces.iter().cloned();
    let slash = || Piece::Text("/".to_owned());
    let wild = |text: &str| text.contains(['*', '?', '[', ']', '{', '}', '\\']);
    let below = |all: bool| {
        Piece::Below(Listed {
            by: "rg",
            links: Links::None,
            all,
            ..Listed::default()
        })
    };
    if !wild(glob) && !glob.is_empty() {
        let name = Piece::Text(format!("/{glob}"));
        let here = Word::of(own().chain([name.clone()]), folder.span);
        return vec![
            here,
            Word::of(own().chain([slash(), below(false), name]), folder.span),
        ];
    }
    // Nothing but `*` before the end: each of these names is read.
    let all = glob.starts_with('*')
        && !wild(
            glob.trim_start_matches('*')
                .split('{')
                .next()
                .unwrap_or_default(),
        );
    let named = |end: String| {
        Word::of(
            own().chain([slash(), below(all), Piece::Text(end)]),
            folder.span,
        )
    };
    ends(glob).into_iter().map(named).collect()
}

/// Whether who takes such a value may fetch it, where it is a URL.
const fn fetches(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Maybe
            | Kind::Read
            | Kind::ReadBelow
            | Kind::ReadShown
            | Kind::Names
            | Kind::Both
            | Kind::BothBelow
            | Kind::Write
            | Kind::WriteInto
            | Kind::Response
            | Kind::ResponseBelow
            | Kind::CodeFile
            | Kind::Dir
            | Kind::Sends
    )
}

/// What is written like a URL, and names no host.
const HOSTLESS: &[&str] = &[
    "file",
    "s3",
    "gs",
    "az",
    "abfs",
    "abfss",
    "wasb",
    "wasbs",
    "hdfs",
    "npm",
    "pkg",
    "package",
    "docker-daemon",
    "containers-storage",
    "sqlite",
    "sqlite3",
    "duckdb",
    "jdbc",
];

/// Whether a text begins as a URL with a host, or as git writes one: `https://h`, `git+ssh://h`, `git@h:`.
fn is_url(text: &str) -> bool {
    let named = |scheme: &str| {
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(part)
            && !HOSTLESS
                .iter()
                .any(|known| scheme.eq_ignore_ascii_case(known))
    };
    match text.split_once("://") {
        Some((scheme, rest)) => named(scheme) && !rest.is_empty(),
        None => text
            .strip_prefix("git@")
            .is_some_and(|rest| rest.contains(':')),
    }
}

/// A word that may name a path, and what in it may: `--config=path`, `key=path`, `lcov:path`.
fn parts(word: &Word) -> impl Iterator<Item = Word> {
    let prefix = word.prefix();
    let marks = [
        prefix.find('='),
        prefix.find(':').filter(|_| !prefix.contains("://")),
    ];
    let after = marks
        .into_iter()
        .flatten()
        .map(|at| (at, cut(word, at + 1)));
    // `localhost:8080` ends in no path.
    let path = |at: usize, part: &Word| {
        prefix.get(at..=at) == Some("=") || part.shown().contains(['/', '.'])
    };
    let after = after.filter(move |(at, part)| !part.pieces.is_empty() && path(*at, part));
    std::iter::once(word.clone()).chain(after.map(|(_, part)| part))
}

/// The paths in the value of a variable that a program is started with. What lies elsewhere surely is one where the
/// name says so (`LLVM_PROFILE_FILE`): `BASE_PATH=/api` is none.
pub(in crate::call::shell) fn files_of(name: &str, value: &Word) -> Vec<(Word, bool)> {
    if value.text().is_none_or(|text| text.contains("://")) || programs::dangerous_variable(name) {
        return Vec::new();
    }
    let file = programs::file_variable(name);
    let path = |part: &Word| {
        let text = part.prefix();
        file || text.contains('/') || text.starts_with('.')
    };
    let paths = parts(value).filter(path);
    paths
        .map(|part| {
            let certain = file && outside(&part);
            (part, certain)
        })
        .collect()
}

/// Surely a path, and one that leaves the folder.
pub(super) fn outside(word: &Word) -> bool {
    let prefix = word.prefix();
    prefix.starts_with('/')
        || prefix.starts_with("~/")
        || prefix.starts_with("../")
        || word.text() == Some("..")
}

/// A script, some number in the place of those that cannot be computed.
fn numbered(word: &Word) -> Option<String> {
    let texts = word.pieces.iter().map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Digits | Piece::Number => Some("1"),
        _ => None,
    });
    texts.collect()
}

/// `env.X` and `$ENV` of `jq`, `env(X)` and `strenv(X)` of `yq`; not `.env`, `"env"`, `{env: …}`.
fn reads_environment(filter: &str) -> bool {
    filter.match_indices("env").any(|(at, _)| {
        let (before, after) = (
            filter.get(..at).unwrap_or(""),
            filter.get(at + 3..).unwrap_or(""),
        );
        let before = before.strip_suffix("str").unwrap_or(before);
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        !before.ends_with(|c| name(c) || matches!(c, '.' | '"' | '$'))
            && (!after.starts_with(|c| name(c) || c == '"') || after.starts_with("subst"))
            && !after.trim_start().starts_with(':')
    }) || filter.contains("$ENV")
}

/// The file that a URL names: `file:///a`, `FILE://localhost/%61`, `file:/a`. Braces and brackets stand for several.
fn file_of(word: &Word) -> Option<Word> {
    let prefix = word.prefix();
    let scheme = prefix
        .get(..5)
        .filter(|scheme| scheme.eq_ignore_ascii_case("file:"))?;
    let rest = prefix.get(scheme.len()..).unwrap_or("");
    let host = match rest.strip_prefix("//") {
        Some(after) => 2 + after.find('/').unwrap_or(after.len()),
        None => 0,
    };
    let path = cut(word, scheme.len() + host);
    let Some(text) = path.text() else {
        return Some(path);
    };
    if text.contains(['{', '[']) {
        return Some(Word::unknown(text, word.span, false));
    }
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
    Some(Word::known(decoded, word.span))
}

/// A path seen from a folder.
pub(super) fn join(dir: &Word, word: &Word) -> Word {
    let prefix = word.prefix();
    if prefix.starts_with('/') || prefix.starts_with('~') || dir.pieces.is_empty() {
        return word.clone();
    }
    if path::is_too_long(dir) {
        return path::too_long(word);
    }
    let mut pieces = dir.pieces.clone();
    let mut push = |piece: Piece| match (pieces.last_mut(), piece) {
        (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
        (_, piece) => pieces.push(piece),
    };
    push(Piece::Text("/".to_owned()));
    for piece in &word.pieces {
        push(piece.clone());
    }
    Word {
        pieces,
        span: word.span,
        splits: dir.splits || word.splits,
    }
}

/// The word up to its first colon.
fn before_colon(word: &Word) -> Word {
    let mut out = Word {
        pieces: Few::default(),
        span: word.span,
        splits: word.splits,
    };
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) if text.contains(':') => {
                let start = text.split(':').next().unwrap_or("");
                if !start.is_empty() {
                    out.pieces.push(Piece::Text(start.to_owned()));
                }
                break;
            }
            piece => out.pieces.push(piece.clone()),
        }
    }
    out
}

/// Where the colon of `host:path` stands: before any slash, behind more than a drive letter.
fn colon(word: &Word) -> Option<usize> {
    let prefix = word.prefix();
    prefix
        .find([':', '/'])
        .filter(|at| *at > 0 && prefix.get(*at..*at + 1) == Some(":"))
}

/// Devices and streams that hold no data of anyone's.
fn null(path: &str) -> bool {
    matches!(
        path,
        "" | "-"
            | "/dev/null"
            | "/dev/zero"
            | "/dev/full"
            | "/dev/random"
            | "/dev/urandom"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/tty"
    ) || path
        .strip_prefix("/dev/fd/")
        .is_some_and(|fd| !fd.is_empty() && fd.bytes().all(|b| b.is_ascii_digit()))
}
