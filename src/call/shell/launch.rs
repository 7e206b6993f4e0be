//! What a command starts in its turn: by words, by a text, by standard input, by a file.
//!
//! In: a [`Starts`] of the table of facts. Out: the accesses of what is started, with the way there in `via`.

use super::builtins::{own_options, started_with};
use super::commands::Level;
use super::dialect::Dialect;
use super::effects::{self, Starts, Stdin, named, shelled};
use super::env::{Env, Value as Known};
use super::names;
use super::parse::is_name;
use super::redirects::device;
use super::script::{Input, LAUNCHED, Walker};
use super::syntax::Origin;
use crate::call::access::{Assignment, Command, Cover, Kind, Mode, Opt, Reach, Role, Touches};
use crate::call::few::Few;
use crate::call::path;
use crate::call::programs::Start;
use crate::call::word::{Piece, Word};
use crate::source::Span;
use smol_str::SmolStr;
use std::rc::Rc;

/// Lines of a console that are looked at.
const CONSOLE: usize = 64;

impl Walker<'_> {
    #[allow(clippy::too_many_arguments)] // what is known of the command that starts it
    pub(super) fn start(
        &mut self,
        start: Starts,
        found: &[Word],
        assignments: &[Assignment],
        env: &mut Env,
        input: &Input,
        level: Level,
        at: usize,
        listed: Option<Word>,
        mark: Option<&Word>,
    ) {
        let program = found.first().map(Word::shown).unwrap_or_default();
        let name = path::last(&program).to_owned();
        let span = found.first().map_or_else(Span::default, |word| {
            Span::new(
                word.span.start,
                found
                    .last()
                    .map_or(word.span.end, |last| last.span.end.max(word.span.end)),
            )
        });
        if crate::call::programs::find(&name).is_some_and(|it| it.entry.starts == Start::Shell) {
            self.recalls(own_options(found), span);
        }
        match start {
            Starts::Opaque(why) => match found.first().is_some_and(|word| self.is_fed(word)) {
                true => self.opaque_code(why, span),
                false => self.opaque(why, span),
            },
            Starts::Words {
                from,
                end,
                more,
                package,
            } => {
                let mut inner: Vec<Word> = found
                    .get(from..end.min(found.len()))
                    .unwrap_or_default()
                    .to_vec();
                // Deny and ask know it without its version; an allow means what it writes.
                if let Some((first, rest)) = inner.split_first().filter(|_| package)
                    && let Some(name) = unversioned(first.prefix())
                {
                    let named = Word::known(name, first.span);
                    let words = std::iter::once(named).chain(rest.iter().cloned());
                    let words: Vec<Word> = words.collect();
                    // `npx pnpm@9 exec rm x`: what that starts in turn is met as without its version.
                    let known = crate::call::programs::find(name).is_some();
                    let starts = known && !effects::outcome(&words, Stdin::None).starts.is_empty();
                    if starts && self.depth < super::parse::DEEPEST && self.launched <= LAUNCHED {
                        self.launched += words.len();
                        self.depth += 1;
                        self.via.push(name);
                        let level = Level {
                            launcher: Some(at),
                            shell: false,
                            functions: false,
                        };
                        self.run(words, Vec::new(), &mut env.clone(), input, level, true);
                        self.via.pop();
                        self.depth -= 1;
                    } else {
                        self.scripted(words, env, at);
                    }
                }
                let before = from.checked_sub(1).and_then(|at| found.get(at));
                let apart = before
                    .and_then(Word::text)
                    .is_some_and(|text| matches!(text, "-execdir" | "-okdir"));
                // What xargs starts has an input of its own, which is empty.
                let empty = self.via.iter().any(|via| via == "xargs");
                let fed = match input {
                    Input::Text { text, sure, .. }
                        if more && *sure && name == "xargs" && !empty =>
                    {
                        fed(found.get(1..from).unwrap_or_default(), &inner, text, span)
                    }
                    _ => None,
                };
                if more && fed.is_none() {
                    // Names that `find` prints, or finds itself, lie below a folder.
                    let nul = || {
                        found.iter().filter_map(Word::text).any(|word| {
                            word == "--null" || (word.starts_with('-') && word.ends_with('0'))
                        })
                    };
                    // `xargs -d '\n'` takes each line for one name, `xargs -d x` cuts names.
                    let own = |letter| (name == "xargs").then(|| option(found, letter)).flatten();
                    let delimiter = own("-d");
                    let line = |word: &Word| matches!(word.text(), Some("\\n" | "\n" | "\\0"));
                    let cut =
                        delimiter.as_ref().is_some_and(|word| !line(word)) || own("-a").is_some();
                    let whole = || nul() || delimiter.is_some();
                    let names = match (input, &listed) {
                        _ if apart => names::found_here(),
                        _ if empty || cut => Word::unknown("…", Span::default(), true),
                        (_, Some(word)) => word.clone(),
                        (Input::Names(word), None) if !names::ends_with_nul(word) || nul() => {
                            word.clone().split(!whole())
                        }
                        _ => Word::unknown("…", Span::default(), true),
                    };
                    let place = Span::new(span.end, span.end);
                    let mark = mark.map(|word| (word, word.text()));
                    if let Some((word, None)) = mark {
                        self.opaque("where names are put in cannot be computed", word.span);
                    }
                    let mark = mark.and_then(|(_, text)| text).unwrap_or_default();
                    let mut filled = !mark.is_empty() && fill(&mut inner, mark, &names);
                    // Parts of a name: `fd x -x cat .{/}`.
                    if matches!(path::last(&name), "fd" | "fdfind") {
                        let part = Word::unknown("…", Span::default(), false);
                        for mark in ["{/}", "{//}", "{.}", "{/.}"] {
                            filled |= fill(&mut inner, mark, &part);
                        }
                    }
                    // `find` puts names in the place of `{}` and nowhere else.
                    if !filled && path::last(&name) != "find" {
                        inner.push(Word {
                            span: place,
                            ..names
                        });
                    }
                }
                if inner.is_empty() {
                    return;
                }
                let level = Level {
                    launcher: Some(at),
                    shell: level.shell && matches!(name.as_str(), "command" | "builtin" | "exec"),
                    functions: false,
                };
                for inner in fed.unwrap_or_else(|| vec![inner]) {
                    self.launched += inner.len();
                    if self.depth >= super::parse::DEEPEST || self.launched > LAUNCHED {
                        self.opaque("nested too deeply", span);
                        let words: Vec<String> = inner.iter().map(Word::shown).collect();
                        self.beyond("nested too deeply", &super::quoted(&words));
                        return;
                    }
                    self.via.push(name.as_str());
                    self.depth += 1;
                    let inside = if apart {
                        // It runs in the folder of what is found.
                        let mut there = env.clone();
                        there.folders = Rc::default();
                        self.run(inner, Vec::new(), &mut there, input, level, true)
                    } else {
                        self.run(inner, Vec::new(), env, input, level, true)
                    };
                    self.depth -= 1;
                    self.via.pop();
                    self.link(at, inside);
                }
            }
            Starts::Script { word, args } => {
                let Some(script) = found.get(word) else {
                    return;
                };
                let option = word.checked_sub(1).and_then(|before| found.get(before));
                let via = match option.and_then(Word::text) {
                    Some(option) if option.starts_with('-') && word > 1 => {
                        format!("{name} {option}")
                    }
                    _ => name.clone(),
                };
                let mut inner = self.inner(&name, found, assignments, env, level);
                if let Some(args) = args {
                    inner.zero = found.get(args).cloned();
                    let rest = found.get(args + 1..).unwrap_or_default();
                    inner.positional = rest
                        .iter()
                        .all(|word| !word.splits)
                        .then(|| Rc::new(rest.to_vec()));
                }
                let before = self.out.len();
                self.code(script, &via, &name, &mut inner, env, input, level);
                self.link_only(at, before, word);
            }
            Starts::Joined { from, end, more } => {
                let words = found.get(from..end.min(found.len())).unwrap_or_default();
                let mut pieces = Vec::new();
                for (index, word) in words.iter().enumerate() {
                    if index > 0 {
                        pieces.push(Piece::Text(" ".into()));
                    }
                    pieces.extend(word.pieces.iter().cloned());
                }
                if more {
                    pieces.push(Piece::Unknown(" …".into()));
                }
                let script = match words {
                    [only] if !more => only.clone(),
                    _ => Word::of(pieces, span),
                };
                if script.pieces.is_empty() {
                    return;
                }
                let mut inner = self.inner(&name, found, assignments, env, level);
                let before = self.out.len();
                self.code(&script, &name.clone(), &name, &mut inner, env, input, level);
                self.link_only(at, before, from);
            }
            Starts::Value { script, at: word } => {
                let option = found.get(word).map(Word::shown).unwrap_or_default();
                let via = format!("{name} {}", option.split('=').next().unwrap_or_default());
                let mut inner = self.inner(&name, found, assignments, env, level);
                self.code(&script, &via, &name, &mut inner, env, input, level);
            }
            Starts::Code { word } => {
                self.scripted(found.get(word..).unwrap_or_default().to_vec(), env, at);
            }
            Starts::Stdin => {
                let mut inner = self.inner(&name, found, assignments, env, level);
                self.standard_input(&name, span, &mut inner, input, at);
            }
            Starts::Console => {
                if let Input::Text { text, .. } = input {
                    let mut inner = self.inner(&name, found, assignments, env, level);
                    let cover = Cover::Command { at, naming: None };
                    for line in text.lines().take(CONSOLE) {
                        let Some(script) = shelled(line) else {
                            for file in named(line) {
                                let file = Word::known(file, span);
                                for mode in [Mode::Read, Mode::Write] {
                                    let touches = Touches::Perhaps;
                                    self.path(mode, &file, Reach::Itself, cover, touches, env);
                                }
                            }
                            continue;
                        };
                        let script = Word::known(script.trim(), span);
                        self.code(&script, "its console", &name, &mut inner, env, input, level);
                    }
                    if text.lines().nth(CONSOLE).is_some() {
                        self.opaque("its console gets more lines than are followed", span);
                    }
                }
            }
            Starts::File { word } => {
                self.file(word, &name, found, assignments, env, input, level, at)
            }
        }
    }

    /// The environment in which a shell that a command starts begins.
    pub(super) fn inner(
        &self,
        name: &str,
        found: &[Word],
        assignments: &[Assignment],
        env: &Env,
        level: Level,
    ) -> Env {
        if level.shell && is_own(name) {
            return env.clone();
        }
        let mut inner = env.child();
        // What is no shell itself hands its scripts to `sh`.
        inner.dialect = Dialect::Posix;
        if crate::call::programs::find(name).is_some_and(|it| it.entry.starts == Start::Shell) {
            started_with(found, &mut inner);
            inner.dialect = Dialect::of(name);
        }
        // Without the name by which the shell came here, the one it starts asks the system: `env -i bash -c 'cd ..'`.
        let launching = self.launching(level);
        let bare = |word: &Word| word.prefix().starts_with('-') || word.prefix().starts_with("PWD");
        inner.physical |= env.touched("PWD") || launching.iter().any(bare);
        if name != "bash" || level.launcher.is_some() {
            // Other shells do not take functions over, `sudo` and its like do not hand them down.
            for function in Rc::make_mut(&mut inner.functions).values_mut() {
                function.sure = false;
            }
        }
        for assignment in assignments {
            inner.hand_down(&assignment.name, Known::Known(assignment.value.clone()));
            inner.export(&assignment.name);
        }
        // `env X=1 bash -c '$X'`: the launcher's words are not followed, what they may set is not known.
        for word in found.iter().chain(self.launching(level)) {
            if let Some((name, _)) = word
                .prefix()
                .split_once('=')
                .filter(|(name, _)| is_name(name))
            {
                inner.hand_down(name, Known::Unknown);
            }
        }
        inner
    }

    pub(super) fn launching(&self, level: Level) -> &[Word] {
        match level
            .launcher
            .and_then(|at| self.out.get(at))
            .map(|access| &access.kind)
        {
            Some(Kind::Command(command)) => &command.words,
            _ => &[],
        }
    }

    /// A text in a word is run as a script.
    #[allow(clippy::too_many_arguments)] // what is known of the command that starts it
    pub(super) fn code(
        &mut self,
        script: &Word,
        via: &str,
        name: &str,
        inner: &mut Env,
        env: &mut Env,
        input: &Input,
        level: Level,
    ) {
        if script.text().is_none() {
            let told = format!("`{name}` runs a text that cannot be computed");
            let nothing = !script
                .pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Text(_)));
            match nothing || self.is_fed(script) {
                true => self.opaque_code(told, script.span),
                false => self.opaque(told, script.span),
            }
            if nothing {
                if level.shell && is_own(name) {
                    env.lost = true;
                }
                return;
            }
        }
        // The text of a trap runs later: `traps.rs`.
        if level.shell && name == "trap" {
            return;
        }
        let text = script.shown();
        let origin = self.origin(script, &text);
        self.via.push(via);
        if level.shell && is_own(name) {
            self.script(&text, origin, env, input);
            env.lost |= script.text().is_none();
        } else {
            let calls = std::mem::take(&mut self.rounds);
            self.script(&text, origin, inner, input);
            self.rounds = calls;
        }
        self.via.pop();
    }

    /// Whether a word may hold what the call is fed: another command prints it, or a builtin has read it.
    fn is_fed(&self, word: &Word) -> bool {
        let printed = |text: &str| text.contains("$(") || text.contains('`');
        word.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Unknown(text) if self.reads || printed(text)))
    }

    /// A script on standard input.
    pub(super) fn standard_input(
        &mut self,
        name: &str,
        span: Span,
        inner: &mut Env,
        input: &Input,
        at: usize,
    ) {
        match input {
            Input::Text {
                text,
                origin,
                sure,
                what,
            } => {
                if !sure {
                    self.opaque_code(
                        format!("`{name}` runs a text that cannot be computed"),
                        span,
                    );
                }
                self.via.push(if *what == "pipe" {
                    format!("pipe into {name}")
                } else {
                    (*what).to_owned()
                });
                self.script(text, *origin, inner, &Input::Unknown);
                self.via.pop();
            }
            Input::File(word) => {
                let told = format!("`{name}` runs what it reads from a file");
                match device(word) {
                    true => self.opaque_code(told, span),
                    false => self.opaque(told, span),
                }
                self.scripted(vec![word.clone()], inner, at);
            }
            Input::Inherited | Input::Names(_) | Input::Unknown => {
                self.opaque_code(
                    format!("`{name}` runs what it reads from standard input"),
                    span,
                );
            }
        }
    }

    /// A script in a file.
    #[allow(clippy::too_many_arguments)] // what is known of the command that starts it
    pub(super) fn file(
        &mut self,
        word: usize,
        name: &str,
        found: &[Word],
        assignments: &[Assignment],
        env: &mut Env,
        input: &Input,
        level: Level,
        at: usize,
    ) {
        let Some(script) = found.get(word) else {
            return;
        };
        let own = level.shell && is_own(name);
        let span = script.span;
        if matches!(
            script.text(),
            Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "-")
        ) {
            if own {
                // What it sets and where it goes stays.
                self.standard_input(name, span, env, input, at);
                env.lost = true;
            } else {
                let mut inner = self.inner(name, found, assignments, env, level);
                self.standard_input(name, span, &mut inner, input, at);
            }
            return;
        }
        if device(script) {
            self.opaque_code(format!("`{name}` runs what another command writes"), span);
            env.lost |= own;
            return;
        }
        let cover = Cover::Command { at, naming: None };
        let told = self.out.get(at..).unwrap_or_default().iter().any(|access| {
            matches!(&access.kind, Kind::Path(path) if path.mode == Mode::Read && path.path == *script)
        });
        if !told {
            self.path(
                Mode::Read,
                script,
                Reach::Itself,
                cover,
                Touches::Surely,
                env,
            );
        }
        self.scripted(found.get(word..).unwrap_or_default().to_vec(), env, at);
        if script.text().is_none() {
            self.opaque(
                format!("`{name}` runs a file that cannot be computed"),
                span,
            );
        } else if own && self.activates(script, env) {
            // It runs no more than a test does, and leads to the programs beside it.
            let set = [
                "PATH",
                "PS1",
                "PYTHONHOME",
                "VIRTUAL_ENV",
                "VIRTUAL_ENV_PROMPT",
            ];
            env.unsettle(set.map(str::to_owned).to_vec(), false);
            return;
        } else if own {
            self.opaque(format!("`{name}` runs a file in this shell"), span);
        }
        env.lost |= own;
    }

    /// Whether a script is that of a virtual environment of Python, which lies there and is not touched by the line.
    fn activates(&self, script: &Word, env: &Env) -> bool {
        let untouched = |folder: &str| {
            !self.placed.swapped
                && self.placed.unnamed.is_empty()
                && !self.out.iter().any(|access| match &access.kind {
                    Kind::Path(path) if path.mode == Mode::Write => {
                        path.path.text().is_none_or(|text| {
                            let at = path.cwd.as_deref().unwrap_or("/");
                            let full = super::env::normal(at, text);
                            full.starts_with(folder) || folder.starts_with(&full)
                        })
                    }
                    _ => false,
                })
        };
        let activates = |full: &String| {
            let folder = full.strip_suffix("/bin/activate");
            folder.is_some_and(|folder| {
                self.is_there(&format!("{folder}/pyvenv.cfg"))
                    && self.is_there(full)
                    && untouched(folder)
            })
        };
        let full = script
            .text()
            .map(|text| Self::full(text, env))
            .unwrap_or_default();
        !full.is_empty() && full.iter().all(activates)
    }

    /// A file that an interpreter runs is judged as a program too.
    pub(super) fn scripted(&mut self, found: Vec<Word>, env: &Env, at: usize) {
        let Some(first) = found.first() else { return };
        let span = first.span;
        let roles = (0..found.len())
            .map(|index| {
                if index == 0 {
                    Role::Program
                } else {
                    Role::Operand
                }
            })
            .collect();
        self.push(
            Kind::Command(Box::new(Command {
                words: found,
                roles,
                launcher: Some(at),
                cwd: env.folder().map(SmolStr::new),
                scripted: true,
                ..Command::default()
            })),
            span,
        );
    }

    /// A launcher whose words are a script of one command goes on in that command, as if it were started by words:
    /// a pattern may then cover both (`ssh * uptime`).
    fn link_only(&mut self, outer: usize, before: usize, rest: usize) {
        let started = self.out.get(before..).unwrap_or_default();
        let mut commands =
            started
                .iter()
                .enumerate()
                .filter_map(|(index, access)| match &access.kind {
                    Kind::Command(command) if command.launcher.is_none() => Some(before + index),
                    _ => None,
                });
        let (Some(inner), None) = (commands.next(), commands.next()) else {
            return;
        };
        let opaque = started
            .iter()
            .any(|access| matches!(access.kind, Kind::Opaque(_)));
        if opaque {
            return;
        }
        if let Some(Kind::Command(command)) = self.out.get_mut(inner).map(|access| &mut access.kind)
        {
            command.launcher = Some(outer);
        }
        if let Some(Kind::Command(command)) = self.out.get_mut(outer).map(|access| &mut access.kind)
        {
            command.inner = Some(inner);
            command.rest = Some(rest);
            for role in command.roles.iter_mut().skip(rest) {
                *role = Role::Rest;
            }
        }
    }

    pub(super) fn link(&mut self, outer: usize, inner: Option<usize>) {
        let reads =
            inner.is_some_and(
                |inner| match self.out.get(inner).map(|access| &access.kind) {
                    Some(Kind::Command(command)) => command.only_reads,
                    _ => false,
                },
            );
        if let Some(Kind::Command(command)) = self.out.get_mut(outer).map(|access| &mut access.kind)
        {
            if command.inner.is_none() {
                command.inner = inner;
            }
            command.only_reads &= reads;
        }
    }

    /// Where a word's text stands verbatim in the line, if it does.
    pub(super) fn origin(&self, word: &Word, text: &str) -> Origin {
        let written = word.span.of(self.line);
        let inside = |open: &str, close: char| {
            written
                .strip_prefix(open)
                .and_then(|rest| rest.strip_suffix(close))
                .is_some_and(|inner| inner == text)
        };
        if written == text {
            Origin::Verbatim(word.span.start)
        } else if inside("'", '\'') || inside("\"", '"') {
            Origin::Verbatim(word.span.start + 1)
        } else {
            Origin::Computed(word.span)
        }
    }
}

/// The name of a package that has its version behind it: `vercel@latest`, `ruff==0.4`, `x@npm:vercel@1`.
fn unversioned(package: &str) -> Option<&str> {
    if package.starts_with(['.', '/']) || package.contains("://") {
        return None;
    }
    let scope = usize::from(package.starts_with('@'));
    let end = package
        .get(scope..)?
        .find(['@', '=', '<', '>', '~', '[', '!'])?
        + scope;
    let (name, version) = package.split_at(end);
    match version.strip_prefix("@npm:") {
        Some(other) => Some(unversioned(other).unwrap_or(other)),
        None => Some(name).filter(|name| !name.is_empty()),
    }
}

/// What a command starts that the table of facts does not say.
pub(super) fn more_starts(found: &[Word]) -> Vec<Starts> {
    let program = found.first().and_then(Word::text).unwrap_or_default();
    match path::last(program) {
        "bash" | "sh" | "dash" | "ash" | "zsh" | "ksh" | "ksh93" | "mksh" | "rbash" => {
            plus_c(found).into_iter().collect()
        }
        "git" => git_settings(found),
        _ => Vec::new(),
    }
}

/// `bash +c 'rm x'` runs the text as `-c` does; other shells take it for a file's name, which the table says.
fn plus_c(found: &[Word]) -> Option<Starts> {
    let mut seen = false;
    let mut at = 1;
    while let Some(text) = found.get(at).and_then(Word::text) {
        if !text.starts_with(['-', '+']) || text.len() < 2 {
            break;
        }
        at += 1;
        if text == "--" {
            break;
        }
        if !text.starts_with("--") {
            seen |= text.starts_with('+') && text.contains('c');
            at += text.matches(['o', 'O']).count();
        }
    }
    seen.then_some(Starts::Script {
        word: at,
        args: Some(at + 1),
    })
}

/// Git's settings whose value is a command: `git -c core.pager='rm x' log`, `git config alias.x '!rm x'`.
fn git_settings(found: &[Word]) -> Vec<Starts> {
    let mut starts = Vec::new();
    let Some(git) = crate::call::programs::find("git") else {
        return starts;
    };
    let config = found.iter().position(|word| word.text() == Some("config"));
    for (at, pair) in found.windows(2).enumerate() {
        let [first, second] = pair else { continue };
        let config_option = matches!(first.text(), Some("-c" | "--config"));
        let (key, value, at) = if config_option {
            let Some((key, _)) = second.prefix().split_once('=') else {
                continue;
            };
            (key, super::effects::cut(second, key.len() + 1), at + 1)
        } else if config.is_some_and(|config| config < at) && first.prefix().contains('.') {
            (first.prefix(), second.clone(), at)
        } else {
            continue;
        };
        let key = key.to_ascii_lowercase();
        let text = value.shown();
        let runs = git
            .entry
            .commands
            .texts()
            .any(|known| crate::call::programs::fits(known, &key));
        let script = match text.strip_prefix('!') {
            Some(script) => script.to_owned(),
            None if key.starts_with("alias.") => format!("git {text}"),
            None if runs && !super::effects::only_shows(&text) => text.clone(),
            None => continue,
        };
        let script = match value.text() {
            Some(_) => Word::known(script, second.span),
            None => Word::unknown(script, second.span, false),
        };
        starts.push(Starts::Value { script, at });
    }
    starts
}

/// The text in whose place a launcher puts names: `xargs` has none unless it is told.
pub(super) fn place_of_names(program: &str, options: &[Opt]) -> Option<Word> {
    let braces = || Word::known("{}", Span::default());
    if path::last(program) != "xargs" {
        return Some(braces());
    }
    let told = options.iter().rev().find(|option| {
        let is = |name: &std::borrow::Cow<'static, str>| {
            matches!(name.as_ref(), "-I" | "-J" | "-i" | "--replace")
        };
        option.names.iter().any(is)
    })?;
    Some(told.value.clone().unwrap_or_else(braces))
}

/// The value of an option of a command.
fn option(found: &[Word], name: &str) -> Option<Word> {
    let options = effects::outcome(found, Stdin::Fed).options;
    let is = |option: &&Opt| option.names.iter().any(|own| own == name);
    options.iter().rev().find(is)?.value.clone()
}

/// Puts the names, or an unknown, in the place of each mark; false where there is none.
fn fill(inner: &mut [Word], mark: &str, names: &Word) -> bool {
    let mut found = false;
    for word in inner {
        if word.text() == Some(mark) && names.text().is_none() && !names.is_unknown() {
            word.pieces.clone_from(&names.pieces);
            found = true;
        } else if word.text().is_some_and(|text| text.contains(mark)) {
            let mut pieces = Few::default();
            let text = word.shown();
            for (index, part) in text.split(mark).enumerate() {
                if index > 0 {
                    pieces.push(Piece::Unknown(mark.into()));
                }
                if !part.is_empty() {
                    pieces.push(Piece::Text(part.into()));
                }
            }
            word.pieces = pieces;
            found = true;
        }
    }
    found
}

/// The commands that `xargs` makes of a text, where it takes it as plain words: with all of them, or `-n` at a time.
fn fed(options: &[Word], command: &[Word], text: &str, span: Span) -> Option<Vec<Vec<Word>>> {
    const MOST: usize = 64;
    let mut each = usize::MAX;
    let mut options = options.iter().map(Word::text);
    while let Some(option) = options.next() {
        each = match option?.strip_prefix("-n")? {
            "" => options.next()??.parse().ok()?,
            count => count.parse().ok()?,
        };
    }
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if text.contains(['\\', '\'', '"']) || words.is_empty() || words.len() > MOST || each == 0 {
        return None;
    }
    let place = Span::new(span.end, span.end);
    let whole = |some: &[&str]| {
        let fed = some.iter().map(|word| Word::known(*word, place));
        command.iter().cloned().chain(fed).collect()
    };
    Some(words.chunks(each.min(MOST)).map(whole).collect())
}

/// A builtin that runs its text in the shell itself.
pub(super) fn is_own(name: &str) -> bool {
    matches!(name, "eval" | "source" | "." | "trap")
}
