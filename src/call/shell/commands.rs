//! One simple command, at every level of what it starts: its access, its effects, its redirections.
//!
//! In: words as written and the environment. Out: accesses, and a changed environment. What a program's
//! words do comes from the table of facts ([`super::effects`]); what a shell's own commands change, from
//! `builtins.rs`.

use super::assignments::is_dangerous;
use super::effects::{self, Outcome, Starts, Stdin, What};
use super::env::{Env, Value as Known};
use super::parse::is_name;
use super::script::{Input, LAUNCHED, Later, Walker};
use super::syntax::{
    Assign, Command as Written, Origin, Part, Raw, Redirect, Shape, Target, Tree, Value,
};
use super::{names, words};
use crate::call::access::{
    Assignment, Command, Cover, Escalation, HostAccess, Kind, Mode, PathAccess, Reach, Role,
    Touches, Trigger,
};
use crate::call::programs;
use crate::call::word::{Piece, Word};
use crate::source::Span;
use std::rc::Rc;

/// A redirection's effect, kept until its command has a place in the list.
pub(super) enum Touch {
    Path(Mode, Word),
    Host(Word),
}

/// How a command was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// The access of the command that starts it.
    pub launcher: Option<usize>,
    /// The shell itself runs it: its builtins are builtins.
    pub shell: bool,
    /// Functions count.
    pub functions: bool,
}

impl Walker<'_> {
    pub(super) fn simple(
        &mut self,
        tree: &Rc<Tree>,
        command: &Written,
        assigns: &[Assign],
        raws: &[Raw],
        env: &mut Env,
        input: &Input,
    ) {
        for assign in assigns {
            self.parts(tree, assign.subscript.as_deref().unwrap_or_default(), env);
            match &assign.value {
                Value::Scalar(raw) => self.parts(tree, &raw.parts, env),
                Value::Array(all) => {
                    for raw in all {
                        self.parts(tree, &raw.parts, env);
                    }
                }
            }
        }
        for raw in raws {
            self.parts(tree, &raw.parts, env);
        }
        let (touches, own) = self.redirects(tree, &command.redirects, env);
        let input = own.as_ref().unwrap_or(input);
        if !assigns.is_empty() && raws.is_empty() {
            self.assign(tree, assigns, env);
            self.push_redirects(touches, None, env);
            return;
        }
        let found = self.expanded(tree, raws, env);
        let assignments = self.prefixed(tree, assigns, env);
        let alias = match raws.first().map(|raw| raw.parts.as_slice()) {
            Some([Part::Text(span)]) => env
                .aliases
                .get(tree.of(*span))
                .map(|value| (tree.of(*span), value.clone())),
            _ => None,
        };
        let level = Level {
            launcher: None,
            shell: true,
            functions: true,
        };
        let at = if found.is_empty() {
            // `$X` that is surely empty: the assignments are the shell's own.
            self.assign(tree, assigns, env);
            None
        } else {
            let redirected = !command.redirects.is_empty();
            self.run(found, assignments, env, input, level, redirected)
        };
        self.push_redirects(touches, at, env);
        if let Some((name, value)) = alias {
            self.alias(tree, name, value, raws, command, env, input);
        }
    }

    fn expanded(&mut self, tree: &Tree, raws: &[Raw], env: &mut Env) -> Vec<Word> {
        let mut found = Vec::with_capacity(raws.len());
        let mut declares = false;
        for (index, raw) in raws.iter().enumerate() {
            if declares && is_assignment(tree, raw) {
                // The arguments of `export` and its like are assignments: not split, no globs.
                found.push(words::value(tree, raw, env, true));
                continue;
            }
            found.append(&mut words::words(tree, raw, env));
            if index == 0 {
                declares = found.first().and_then(Word::text).is_some_and(|name| {
                    matches!(
                        name,
                        "declare" | "typeset" | "local" | "export" | "readonly" | "alias"
                    )
                });
            }
        }
        self.globbed(found, env)
    }

    /// An alias stands for its text and what follows it. Whether it is expanded at all depends on the shell
    /// and its options, so the command was judged as it stands as well.
    #[allow(clippy::too_many_arguments)] // the command's own parts
    fn alias(
        &mut self,
        tree: &Rc<Tree>,
        name: &str,
        value: Option<String>,
        raws: &[Raw],
        command: &Written,
        env: &mut Env,
        input: &Input,
    ) {
        let span = tree.span(command.span);
        let Some(value) = value else {
            self.opaque(
                format!("what the alias `{name}` stands for cannot be computed"),
                span,
            );
            return;
        };
        if self.aliasing.iter().any(|known| known == name) {
            return;
        }
        let from = raws.first().map_or(command.span.end, |raw| raw.span.end);
        let rest = tree.of(Span::new(from, command.span.end.max(from)));
        self.aliasing.push(name.to_owned());
        self.via.push(format!("alias {name}"));
        self.script(
            &format!("{value}{rest}"),
            Origin::Computed(span),
            env,
            input,
        );
        self.via.pop();
        self.aliasing.pop();
    }

    /// Assignments with no command after them.
    fn assign(&mut self, tree: &Tree, assigns: &[Assign], env: &mut Env) {
        self.harmless = true;
        for assign in assigns {
            let name = tree.of(assign.name);
            let value = match &assign.value {
                Value::Scalar(raw) if assign.subscript.is_none() => {
                    let value = words::value(tree, raw, env, true);
                    if assign.append {
                        appended(env, name, value)
                    } else {
                        Known::Known(value)
                    }
                }
                _ => Known::Unknown,
            };
            if is_dangerous(name) {
                env.change(name);
            }
            env.set(name, value);
        }
    }

    /// Assignments before a command.
    fn prefixed(&mut self, tree: &Tree, assigns: &[Assign], env: &Env) -> Vec<Assignment> {
        if assigns.is_empty() {
            return Vec::new();
        }
        let mut inner = env.clone();
        let mut all = Vec::with_capacity(assigns.len());
        for assign in assigns {
            let name = tree.of(assign.name);
            let span = tree.span(assign.name);
            let value = match &assign.value {
                Value::Scalar(raw) if assign.subscript.is_none() => {
                    let value = words::value(tree, raw, &mut inner, true);
                    match (assign.append, appended(&inner, name, value.clone())) {
                        (false, _) => value,
                        (true, Known::Known(value)) => value,
                        (true, _) => {
                            Word::unknown(format!("${name}{}", value.shown()), value.span, false)
                        }
                    }
                }
                _ => Word::unknown("(…)", span, false),
            };
            inner.set(name, Known::Known(value.clone()));
            all.push(Assignment {
                name: name.to_owned(),
                value,
                dangerous: is_dangerous(name),
            });
        }
        all
    }

    /// A command's words, at one level. Returns the place of its access, if it has one.
    pub(super) fn run(
        &mut self,
        found: Vec<Word>,
        mut assignments: Vec<Assignment>,
        env: &mut Env,
        input: &Input,
        level: Level,
        redirected: bool,
    ) -> Option<usize> {
        let found = undashed(found);
        let first = found.first()?;
        let span = Span::new(
            first.span.start,
            found
                .last()
                .map_or(first.span.end, |word| word.span.end.max(first.span.end)),
        );
        let program = first.text().map(str::to_owned);
        let name = program.as_deref().unwrap_or_default();
        if matches!(name, "read" | "mapfile" | "readarray") && level.shell {
            // IFS before `read` reaches nothing but `read`.
            for assignment in assignments
                .iter_mut()
                .filter(|assignment| assignment.name == "IFS")
            {
                assignment.dangerous = false;
            }
        }
        let function = match level.functions {
            true => env.functions.get(name).cloned(),
            false => None,
        };
        let stdin = match input {
            Input::Inherited => Stdin::None,
            _ => Stdin::Fed,
        };
        let mut outcome = effects::outcome(&found, stdin);
        if let Some(function) = function {
            let at = if outcome.known {
                self.opaque(
                    format!("a function stands in the place of the program `{name}`"),
                    span,
                );
                let roles = std::mem::take(&mut outcome.roles);
                Some(self.push_command(
                    found.clone(),
                    assignments.clone(),
                    roles,
                    &mut outcome,
                    env,
                    level,
                    span,
                ))
            } else {
                None
            };
            let saved = temporary(env, &assignments);
            self.call(
                name,
                &function,
                found.get(1..).unwrap_or_default(),
                env,
                input,
            );
            restore(env, saved);
            for assignment in assignments.iter().filter(|assignment| assignment.dangerous) {
                env.change(&assignment.name);
            }
            return at;
        }
        if program.is_none() {
            self.opaque("the program cannot be computed", span);
        }
        let roles = std::mem::take(&mut outcome.roles);
        let at = self.push_command(
            found.clone(),
            assignments.clone(),
            roles,
            &mut outcome,
            env,
            level,
            span,
        );
        self.effects(&outcome, at, env);
        let starts = std::mem::take(&mut outcome.starts);
        let started = !starts.is_empty();
        let listed = names::found_by(&outcome);
        for start in starts {
            self.start(
                start,
                &found,
                &assignments,
                env,
                input,
                level,
                at,
                listed.clone(),
            );
        }
        if level.shell {
            self.builtin(name, &found, &assignments, env, input, started, redirected);
        }
        Some(at)
    }

    #[allow(clippy::too_many_arguments)] // the parts of one access
    fn push_command(
        &mut self,
        found: Vec<Word>,
        assignments: Vec<Assignment>,
        mut roles: Vec<Role>,
        outcome: &mut Outcome,
        env: &Env,
        level: Level,
        span: Span,
    ) -> usize {
        if roles.len() != found.len() {
            roles = found.iter().map(|_| Role::Operand).collect();
            if let Some(first) = roles.first_mut() {
                *first = Role::Program;
            }
        }
        let mut escalations = std::mem::take(&mut outcome.escalations);
        let only_reads = outcome.only_reads && escalations.is_empty();
        for name in env.changed.iter() {
            escalations.push(Escalation {
                what: format!("{name} was changed before it"),
                at: Trigger::Unnamed,
            });
        }
        // A program named by a relative path is another one in another folder.
        let relative = found
            .first()
            .is_some_and(|word| word.prefix().contains('/') && !word.prefix().starts_with('/'));
        let cwd = match env.folders.as_slice() {
            [folder] => Some(folder.clone()),
            [folder, ..] if !relative => Some(folder.clone()),
            _ => None,
        };
        let rest = outcome.starts.iter().find_map(|start| match start {
            Starts::Words { from, .. } => Some(*from),
            _ => None,
        });
        self.push(
            Kind::Command(Box::new(Command {
                words: found,
                roles,
                options: std::mem::take(&mut outcome.options),
                assignments,
                rest,
                inner: None,
                launcher: level.launcher,
                transparent: outcome.transparent,
                known: outcome.known,
                escalations,
                only_reads,
                cwd,
                scripted: false,
            })),
            span,
        )
    }

    fn effects(&mut self, outcome: &Outcome, at: usize, env: &Env) {
        for effect in &outcome.effects {
            let cover = Cover::Command {
                at,
                naming: effect.naming,
            };
            match effect.what {
                What::Path {
                    mode,
                    reach,
                    certain,
                } => {
                    let touch = if certain {
                        Touches::Surely
                    } else {
                        Touches::Perhaps
                    };
                    self.path(mode, &effect.value, reach, cover, touch, env);
                }
                What::Name { reach } => {
                    self.path(Mode::Read, &effect.value, reach, cover, Touches::Names, env);
                }
                What::Host => {
                    let span = effect.value.span;
                    self.push(
                        Kind::Host(Box::new(HostAccess {
                            url: effect.value.clone(),
                            cover,
                            written: true,
                        })),
                        span,
                    );
                }
            }
        }
    }

    /// A path is touched: once for each folder that the shell may be in.
    fn path(
        &mut self,
        mode: Mode,
        path: &Word,
        reach: Reach,
        cover: Cover,
        touches: Touches,
        env: &Env,
    ) {
        if device(path) {
            return;
        }
        let mut folders: Vec<Option<String>> = env.folders.iter().cloned().map(Some).collect();
        if folders.is_empty() {
            folders.push(None);
        }
        if path.prefix().starts_with('/') {
            folders.truncate(1);
        }
        for cwd in folders {
            self.push(
                Kind::Path(Box::new(PathAccess {
                    mode,
                    path: path.clone(),
                    cwd,
                    reach,
                    cover,
                    touches,
                })),
                path.span,
            );
        }
    }

    #[allow(clippy::too_many_arguments)] // what is known of the command that starts it
    fn start(
        &mut self,
        start: Starts,
        found: &[Word],
        assignments: &[Assignment],
        env: &mut Env,
        input: &Input,
        level: Level,
        at: usize,
        listed: Option<Word>,
    ) {
        let program = found.first().map(Word::shown).unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default().to_owned();
        let span = found.first().map_or_else(Span::default, |word| {
            Span::new(
                word.span.start,
                found
                    .last()
                    .map_or(word.span.end, |last| last.span.end.max(word.span.end)),
            )
        });
        match start {
            Starts::Opaque(why) => self.opaque(why, span),
            Starts::Words { from, end, more } => {
                let mut inner: Vec<Word> = found
                    .get(from..end.min(found.len()))
                    .unwrap_or_default()
                    .to_vec();
                if more {
                    // Names that `find` prints, or finds itself, lie below a folder.
                    let names = match (input, &listed) {
                        (_, Some(word)) | (Input::Names(word), None) => word.clone(),
                        _ => Word::unknown("…", Span::default(), true),
                    };
                    let place = Span::new(span.end, span.end);
                    if !fill(&mut inner, &names) {
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
                self.launched += inner.len();
                if self.depth >= super::parse::DEEPEST || self.launched > LAUNCHED {
                    self.opaque("nested too deeply", span);
                    return;
                }
                self.via.push(name);
                self.depth += 1;
                let inside = self.run(inner, Vec::new(), env, input, level, true);
                self.depth -= 1;
                self.via.pop();
                self.link(at, inside);
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
                self.from_input(&name, span, &mut inner, input, at);
            }
            Starts::File { word } => {
                self.file(word, &name, found, assignments, env, input, level, at)
            }
        }
    }

    /// The environment in which a shell that a command starts begins.
    fn inner(
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
        for assignment in assignments {
            inner.set(&assignment.name, Known::Known(assignment.value.clone()));
            inner.export(&assignment.name);
        }
        // `env X=1 bash -c '$X'`: the launcher's words are not followed, what they may set is not known.
        for word in found.iter().chain(self.launching(level)) {
            if let Some((name, _)) = word
                .prefix()
                .split_once('=')
                .filter(|(name, _)| is_name(name))
            {
                inner.forget(name);
            }
        }
        inner
    }

    fn launching(&self, level: Level) -> &[Word] {
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
    fn code(
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
            self.opaque(
                format!("`{name}` runs a text that cannot be computed"),
                script.span,
            );
            if !script
                .pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Text(_)))
            {
                if level.shell && is_own(name) {
                    env.lost = true;
                }
                return;
            }
        }
        let text = script.shown();
        let origin = self.origin(script, &text);
        if level.shell && name == "trap" {
            self.later.push(Later::Trap {
                text,
                origin,
                env: env.clone(),
            });
            return;
        }
        self.via.push(via.to_owned());
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

    /// A script on standard input.
    fn from_input(&mut self, name: &str, span: Span, inner: &mut Env, input: &Input, at: usize) {
        match input {
            Input::Text {
                text,
                origin,
                sure,
                what,
            } => {
                if !sure {
                    self.opaque(
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
                self.opaque(format!("`{name}` runs what it reads from a file"), span);
                self.scripted(vec![word.clone()], inner, at);
            }
            Input::Inherited | Input::Names(_) | Input::Unknown => {
                self.opaque(
                    format!("`{name}` runs what it reads from standard input"),
                    span,
                );
            }
        }
    }

    /// A script in a file.
    #[allow(clippy::too_many_arguments)] // what is known of the command that starts it
    fn file(
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
            let mut inner = self.inner(name, found, assignments, env, level);
            self.from_input(name, span, &mut inner, input, at);
            env.lost |= own;
            return;
        }
        if device(script) {
            self.opaque(format!("`{name}` runs what another command writes"), span);
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
        } else if own {
            self.opaque(format!("`{name}` runs a file in this shell"), span);
        }
        env.lost |= own;
    }

    /// A file that an interpreter runs is judged as a program too.
    fn scripted(&mut self, found: Vec<Word>, env: &Env, at: usize) {
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
                cwd: env.folder().map(str::to_owned),
                scripted: true,
                ..Command::default()
            })),
            span,
        );
    }

    fn link(&mut self, outer: usize, inner: Option<usize>) {
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

    /// What redirections touch, and what they put on standard input.
    pub(super) fn redirects(
        &mut self,
        tree: &Rc<Tree>,
        redirects: &[Redirect],
        env: &mut Env,
    ) -> (Vec<Touch>, Option<Input>) {
        self.harmless |= !redirects.is_empty();
        let mut touches = Vec::new();
        let mut input = None;
        for redirect in redirects {
            // `3<file` is not standard input.
            let stdin = tree.of(redirect.span).starts_with(['<', '0']);
            match &redirect.what {
                Target::Read(raw) => {
                    let word = self.target(tree, raw, env);
                    if stdin {
                        input = Some(match device(&word) {
                            true => Input::Unknown,
                            false => Input::File(word.clone()),
                        });
                    }
                    touches.push(touch(Mode::Read, word));
                }
                Target::Write(raw) => {
                    let word = self.target(tree, raw, env);
                    touches.push(touch(Mode::Write, word));
                }
                Target::Both(raw) => {
                    let word = self.target(tree, raw, env);
                    if stdin {
                        input = Some(Input::Unknown);
                    }
                    let read = touch(Mode::Read, word.clone());
                    if matches!(read, Touch::Path(..)) {
                        touches.push(read);
                    }
                    touches.push(touch(Mode::Write, word));
                }
                Target::Duplicate(raw) => {
                    let word = self.target(tree, raw, env);
                    let descriptor = match word.pieces.as_slice() {
                        [Piece::Text(text)] => {
                            text == "-"
                                || text
                                    .trim_end_matches('-')
                                    .bytes()
                                    .all(|byte| byte.is_ascii_digit())
                        }
                        [Piece::Digits] => true,
                        _ => false,
                    };
                    if !descriptor {
                        touches.push(touch(Mode::Write, word));
                    }
                }
                Target::From(raw) => {
                    let _ = self.target(tree, raw, env);
                    if stdin {
                        input = Some(Input::Unknown);
                    }
                }
                Target::HereString(raw) => {
                    self.parts(tree, &raw.parts, env);
                    let word = words::value(tree, raw, env, false);
                    if stdin {
                        let text = word.shown();
                        input = Some(Input::Text {
                            origin: self.origin(&word, &text),
                            sure: word.text().is_some(),
                            text,
                            what: "here-string",
                        });
                    }
                }
                Target::Heredoc(id) => {
                    let Some(heredoc) = tree.heredocs.get(*id) else {
                        continue;
                    };
                    self.via.push("heredoc".to_owned());
                    self.parts(tree, &heredoc.parts, env);
                    self.via.pop();
                    if stdin {
                        input = Some(self.heredoc(tree, heredoc, env));
                    }
                }
            }
        }
        (touches, input)
    }

    fn heredoc(&self, tree: &Tree, heredoc: &super::syntax::Heredoc, env: &mut Env) -> Input {
        let body = tree.of(heredoc.body);
        let span = tree.span(heredoc.body);
        let mut sure = true;
        let mut text = if heredoc.quoted {
            body.to_owned()
        } else {
            let word = words::heredoc(tree, &heredoc.parts, heredoc.body, env);
            sure = word.text().is_some();
            word.shown()
        };
        if heredoc.strip_tabs {
            text = text
                .split_inclusive('\n')
                .map(|line| line.trim_start_matches('\t'))
                .collect();
        }
        let origin = match tree.origin {
            Origin::Verbatim(_) if text == body => Origin::Verbatim(span.start),
            _ => Origin::Computed(span),
        };
        Input::Text {
            text,
            origin,
            sure,
            what: "heredoc",
        }
    }

    fn target(&mut self, tree: &Rc<Tree>, raw: &Raw, env: &mut Env) -> Word {
        self.parts(tree, &raw.parts, env);
        let mut found = words::words(tree, raw, env);
        match (found.pop(), found.is_empty()) {
            (Some(word), true) => word,
            // None, or several: bash refuses, others write somewhere.
            _ => Word::unknown(tree.of(raw.span), tree.span(raw.span), false),
        }
    }

    pub(super) fn push_redirects(&mut self, touches: Vec<Touch>, at: Option<usize>, env: &Env) {
        for touch in touches {
            match touch {
                Touch::Path(mode, word) => {
                    let cover = match (mode, at) {
                        (Mode::Read, Some(at)) => Cover::Command { at, naming: None },
                        _ => Cover::Tool,
                    };
                    self.path(mode, &word, Reach::Itself, cover, Touches::Surely, env);
                }
                Touch::Host(url) => {
                    let span = url.span;
                    self.push(
                        Kind::Host(Box::new(HostAccess {
                            url,
                            cover: Cover::Tool,
                            written: true,
                        })),
                        span,
                    );
                }
            }
        }
    }

    /// What a stage of a pipeline writes to the next, where that can be computed.
    pub(super) fn output(&self, tree: &Tree, command: &Written, env: &Env, input: &Input) -> Input {
        match (self.text_output(tree, command, env, input), input) {
            (Input::Unknown, Input::Names(word)) => {
                names::filtered(tree, command, env, word.clone())
            }
            (Input::Unknown, _) => names::listed(tree, command, env),
            (known, _) => return known,
        }
        .map_or(Input::Unknown, Input::Names)
    }

    /// What a stage writes, where that is text.
    fn text_output(&self, tree: &Tree, command: &Written, env: &Env, input: &Input) -> Input {
        let Shape::Simple { words: raws, .. } = &command.shape else {
            return Input::Unknown;
        };
        let mut inner = env.clone();
        let mut feed = None;
        for redirect in &command.redirects {
            match &redirect.what {
                Target::HereString(raw) => {
                    let word = words::value(tree, raw, &mut inner, false);
                    let text = word.shown();
                    feed = Some(Input::Text {
                        origin: self.origin(&word, &text),
                        sure: word.text().is_some(),
                        text,
                        what: "here-string",
                    });
                }
                Target::Heredoc(id) => {
                    if let Some(heredoc) = tree.heredocs.get(*id) {
                        feed = Some(self.heredoc(tree, heredoc, &mut inner));
                    }
                }
                Target::From(_) | Target::Read(_) => return Input::Unknown,
                // Errors to a file or to the pipe change nothing, output to a file does.
                _ if tree.of(redirect.span).starts_with('2') => {}
                _ => return Input::Unknown,
            }
        }
        let Some([Part::Text(span)]) = raws.first().map(|raw| raw.parts.as_slice()) else {
            return Input::Unknown;
        };
        let program = tree.of(*span);
        if env.functions.contains_key(program)
            || env.aliases.contains_key(program)
            || raws.len() > 64
        {
            return Input::Unknown;
        }
        let mut args: Vec<Word> = Vec::new();
        for raw in raws.iter().skip(1) {
            args.append(&mut words::words(tree, raw, &mut inner));
        }
        match program {
            "cat" if args.iter().all(|word| word.text() == Some("-")) => {
                match feed.as_ref().unwrap_or(input) {
                    text @ Input::Text { .. } => pipe(text.clone()),
                    _ => Input::Unknown,
                }
            }
            "echo" => {
                let mut sure = true;
                while let Some(option) = args.first().and_then(Word::text) {
                    let Some(letters) = option
                        .strip_prefix('-')
                        .filter(|letters| !letters.is_empty())
                    else {
                        break;
                    };
                    if !letters
                        .bytes()
                        .all(|byte| matches!(byte, b'n' | b'e' | b'E'))
                    {
                        break;
                    }
                    args.remove(0);
                }
                sure &= args
                    .iter()
                    .all(|word| word.text().is_some_and(|text| !text.contains('\\')));
                self.text_of(&args, sure)
            }
            "printf" => {
                let format = args.first().and_then(Word::text).unwrap_or("%").to_owned();
                let bare = format.strip_suffix("\\n").unwrap_or(&format);
                if !bare.contains(['%', '\\']) && args.len() == 1 {
                    let word = args
                        .first()
                        .map(|word| Word::known(bare, word.span))
                        .unwrap_or_default();
                    return self.text_of(&[word], true);
                }
                let args = args.get(1..).unwrap_or_default();
                let sure = args.len() == 1
                    && (bare == "%s" || bare == "%b")
                    && args.iter().all(|word| {
                        word.text()
                            .is_some_and(|text| bare == "%s" || !text.contains('\\'))
                    });
                self.text_of(args, sure)
            }
            _ => Input::Unknown,
        }
    }

    fn text_of(&self, args: &[Word], sure: bool) -> Input {
        let Some(first) = args.first() else {
            return Input::Unknown;
        };
        let (text, origin) = match args {
            [only] => {
                let text = only.shown();
                let origin = self.origin(only, &text);
                (text, origin)
            }
            _ => {
                let shown: Vec<String> = args.iter().map(Word::shown).collect();
                let end = args.last().map_or(first.span.end, |word| word.span.end);
                let span = Span::new(first.span.start, end.max(first.span.start));
                let text = shown.join(" ");
                let origin = if span.of(self.line) == text {
                    Origin::Verbatim(span.start)
                } else {
                    Origin::Computed(span)
                };
                (text, origin)
            }
        };
        Input::Text {
            text,
            origin,
            sure,
            what: "pipe",
        }
    }
}

fn pipe(input: Input) -> Input {
    match input {
        Input::Text {
            text, origin, sure, ..
        } => Input::Text {
            text,
            origin,
            sure,
            what: "pipe",
        },
        other => other,
    }
}

fn touch(mode: Mode, word: Word) -> Touch {
    match word
        .prefix()
        .strip_prefix("/dev/tcp/")
        .or_else(|| word.prefix().strip_prefix("/dev/udp/"))
    {
        Some(_) => {
            let shown = word.shown();
            let rest = shown.get("/dev/tcp/".len()..).unwrap_or_default();
            let url = match (word.text(), rest.split_once('/')) {
                (Some(_), Some((host, port))) => Word::known(format!("{host}:{port}"), word.span),
                (Some(_), None) => Word::known(rest, word.span),
                (None, _) => Word::unknown(rest, word.span, false),
            };
            Touch::Host(url)
        }
        None => Touch::Path(mode, word),
    }
}

/// A path that is no file: `/dev/null`, a terminal, a descriptor.
fn device(path: &Word) -> bool {
    if let [Piece::Text(folder), Piece::Digits] = path.pieces.as_slice() {
        return folder == "/dev/fd/";
    }
    match path.text() {
        Some(
            "/dev/null" | "/dev/zero" | "/dev/full" | "/dev/tty" | "/dev/stdin" | "/dev/stdout"
            | "/dev/stderr" | "/dev/random" | "/dev/urandom",
        ) => true,
        Some(text) => text
            .strip_prefix("/dev/fd/")
            .or_else(|| text.strip_prefix("/proc/self/fd/"))
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())),
        None => false,
    }
}

/// Puts the names, or an unknown, in the place of each `{}`; false where there is none.
fn fill(inner: &mut [Word], names: &Word) -> bool {
    let mut found = false;
    for word in inner {
        if word.text() == Some("{}") && names.text().is_none() && !names.is_unknown() {
            word.pieces.clone_from(&names.pieces);
            found = true;
        } else if word.text().is_some_and(|text| text.contains("{}")) {
            let mut pieces = Vec::new();
            let text = word.shown();
            for (index, part) in text.split("{}").enumerate() {
                if index > 0 {
                    pieces.push(Piece::Unknown("{}".to_owned()));
                }
                if !part.is_empty() {
                    pieces.push(Piece::Text(part.to_owned()));
                }
            }
            word.pieces = pieces;
            found = true;
        }
    }
    found
}

/// Git's own programs under their dashed names: `git-reset` is `git reset`.
fn undashed(mut found: Vec<Word>) -> Vec<Word> {
    let Some(first) = found.first() else {
        return found;
    };
    let Some(text) = first.text() else {
        return found;
    };
    let (folder, name) = text.split_at(text.rfind('/').map_or(0, |at| at + 1));
    let Some(sub) = name
        .strip_prefix("git-")
        .filter(|_| programs::find(name).is_none())
    else {
        return found;
    };
    let known =
        programs::find("git").is_some_and(|git| git.entry.subs.iter().any(|(own, _)| *own == sub));
    if known {
        let (program, sub) = (
            Word::known(format!("{folder}git"), first.span),
            Word::known(sub, first.span),
        );
        found.splice(..1, [program, sub]);
    }
    found
}

/// A builtin that runs its text in the shell itself.
fn is_own(name: &str) -> bool {
    matches!(name, "eval" | "source" | "." | "trap")
}

fn is_assignment(tree: &Tree, raw: &Raw) -> bool {
    match raw.parts.first() {
        Some(Part::Text(span)) => tree
            .of(*span)
            .split_once('=')
            .is_some_and(|(name, _)| is_name(name.strip_suffix('+').unwrap_or(name))),
        _ => false,
    }
}

fn appended(env: &Env, name: &str, value: Word) -> Known {
    match env.value(name) {
        Known::Known(old) => {
            let mut pieces = old.pieces;
            for piece in value.pieces {
                match (pieces.last_mut(), piece) {
                    (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
                    (_, piece) => pieces.push(piece),
                }
            }
            Known::Known(Word {
                pieces,
                span: value.span,
                splits: value.splits,
            })
        }
        Known::Unset => Known::Known(value),
        Known::Unknown => Known::Unknown,
    }
}

/// Assignments before a function's name hold while it runs.
fn temporary(env: &mut Env, assignments: &[Assignment]) -> Vec<(String, Option<super::env::Var>)> {
    assignments
        .iter()
        .map(|assignment| {
            let old = env.var(&assignment.name);
            env.set(&assignment.name, Known::Known(assignment.value.clone()));
            (assignment.name.clone(), old)
        })
        .collect()
}

fn restore(env: &mut Env, saved: Vec<(String, Option<super::env::Var>)>) {
    for (name, old) in saved.into_iter().rev() {
        // Some shells keep them: what held before is known only where it was the same.
        let now = env.var(&name);
        env.put(&name, old.clone());
        if now != old {
            env.forget(&name);
        }
    }
}
