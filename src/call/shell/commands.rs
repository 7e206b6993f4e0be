//! One simple command, at every level of what it starts: its access, its effects, its redirections.
//!
//! In: words as written and the environment. Out: accesses, and a changed environment. What a program's
//! words do comes from the table of facts ([`super::effects`]); what a shell's own commands change, from
//! `builtins.rs`.

use super::effects::{self, Effect, Outcome, Starts, Stdin, What};
use super::env::{Env, Value as Known};
use super::launch::{is_own, more_starts, place_of_names};
use super::numbers::is_number;
use super::parse::is_name;
use super::redirects::{device, may_fail};
use super::script::{Input, PATHS, Walker};
use super::syntax::{Assign, Command as Written, Origin, Part, Raw, Tree, Value};
use super::{evaluated, names, numbers, words};
use crate::call::access::{
    Assignment, Command, Cover, Escalation, HostAccess, Kind, Mode, PathAccess, Reach, Role,
    Touches, Trigger,
};
use crate::call::path;
use crate::call::programs;
use crate::call::word::{Piece, Word};
use crate::source::Span;
use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

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
            self.subscript(tree, assign.name, assign.subscript.as_deref(), env);
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
        let left = env.stdin.clone();
        let left = left
            .as_deref()
            .filter(|_| matches!(input, Input::Inherited));
        let fed = !matches!(input, Input::Inherited);
        let input = own.as_ref().or(left).unwrap_or(input);
        if !assigns.is_empty() && raws.is_empty() {
            self.assign(tree, assigns, env);
            self.push_redirects(touches, None, env);
            return;
        }
        let found = self.expanded(tree, raws, env);
        let assignments = self.prefixed(tree, assigns, env);
        let replaces = replaces_streams(&found);
        let alias = match raws.first().map(|raw| &*raw.parts) {
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
            let before = may_fail(tree, &command.redirects, &touches, self.closed)
                .then(|| Box::new(env.clone()));
            let at = self.run(found, assignments, env, input, level, redirected);
            self.unless_failed(before, env);
            at
        };
        let uncovered = self.placed.uncovered;
        self.push_redirects(touches, at, env);
        if self.placed.uncovered && !uncovered {
            self.placed.uncovered = !self.only_adds(tree, &command.redirects, at, own.as_ref());
        }
        if replaces && let Some(own) = own.as_ref() {
            env.stdin = Some(Rc::new(own.clone()));
            if fed {
                let span = tree.span(command.span);
                self.opaque("`exec` changes what the commands after it read", span);
            }
        }
        if let Some((name, value)) = alias {
            self.alias(tree, name, value, raws, command, env, input);
        }
    }

    pub(super) fn expanded(&mut self, tree: &Tree, raws: &[Raw], env: &mut Env) -> Vec<Word> {
        let mut found = Vec::with_capacity(raws.len());
        let mut declares = false;
        for (index, raw) in raws.iter().enumerate() {
            if declares && is_assignment(tree, raw) {
                // The arguments of `export` and its like are assignments: not split, no globs.
                let value = words::value(tree, raw, env, true);
                if let [.., Part::Array(all)] = &*raw.parts {
                    let name = value.prefix().split(['=', '+']).next().unwrap_or_default();
                    let mut options = found.iter().map(Word::prefix);
                    let keyed = env.is_keyed(name)
                        || options.any(|text| text.starts_with('-') && text.contains('A'));
                    for raw in all {
                        let element = words::value(tree, raw, env, false);
                        self.index(&element, keyed, env);
                    }
                }
                found.push(value);
                continue;
            }
            words::words(tree, raw, env, &mut found);
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
    pub(super) fn alias(
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
        // Within its own text it stands for itself, but for one that was defined meanwhile.
        let own = format!("{name}={value}");
        if self.aliasing.contains(&own) {
            return;
        }
        if value.replace("<<<", "").contains("<<") {
            self.opaque("a heredoc in an alias, which reads what follows it", span);
        }
        let from = raws.first().map_or(command.span.end, |raw| raw.span.end);
        let rest = tree.of(Span::new(from, command.span.end.max(from)));
        self.aliasing.push(own);
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
    pub(super) fn assign(&mut self, tree: &Tree, assigns: &[Assign], env: &mut Env) {
        self.harmless = true;
        for assign in assigns {
            let name = tree.of(assign.name);
            // What is `readonly` keeps its value, what is declared a number is one.
            let fixed = matches!(env.value(name), Known::Known(word) if word != numbers::number());
            let counts = evaluated::is_counter(name) || env.is_odd(name) && !fixed;
            self.arithmetic |= counts;
            let value = match &assign.value {
                Value::Scalar(raw) if assign.subscript.is_none() => {
                    let value = words::value(tree, raw, env, true);
                    self.kept(&value);
                    if counts {
                        self.expression(&value, env);
                    }
                    if assign.append {
                        let whole = appended(env, name, value);
                        if let Known::Known(word) = &whole {
                            self.kept(word);
                        }
                        whole
                    } else {
                        Known::Known(value)
                    }
                }
                Value::Scalar(raw) => {
                    let value = words::value(tree, raw, env, true);
                    self.kept(&value);
                    if counts {
                        self.expression(&value, env);
                    }
                    let held = matches!(env.value(name), Known::Known(word) if is_number(&word));
                    numbers_if(held && is_number(&value))
                }
                Value::Array(all) => {
                    let held = matches!(env.value(name), Known::Known(word) if is_number(&word));
                    let mut all_numbers = !assign.append || held;
                    for raw in all {
                        let value = words::value(tree, raw, env, false);
                        self.kept(&value);
                        all_numbers &= is_number(&value);
                        if counts {
                            self.expression(&value, env);
                        }
                        self.index(&value, env.is_keyed(name), env);
                    }
                    numbers_if(all_numbers)
                }
            };
            if let Known::Known(value) = &value {
                self.handed_over(name, value);
            }
            env.set(name, value);
        }
    }

    /// `([$x]=1)`: a subscript, which is evaluated unless it is a key.
    fn index(&mut self, element: &Word, keyed: bool, env: &Env) {
        if element.prefix().starts_with('[') && !keyed {
            self.expression(&numbers::subscript_of(element), env);
        }
    }

    /// A variable that another program takes for code.
    fn handed_over(&mut self, name: &str, value: &Word) {
        if matches!(name, "BASH_ENV" | "ENV") && device(value) {
            let why = format!("`{name}` runs what another command writes");
            self.opaque(why, value.span);
        }
        // A pager, an alias: what git's settings run.
        let setting = name == "GIT_CONFIG_PARAMETERS" || name.starts_with("GIT_CONFIG_VALUE_");
        let command = |text: &str| text.contains([' ', '!', ';', '|', '&', '$', '`']);
        if setting && value.text().is_none_or(command) {
            let why = format!("`{name}` may hold a command that git runs");
            self.opaque(why, value.span);
        }
    }

    /// Assignments before a command.
    pub(super) fn prefixed(
        &mut self,
        tree: &Tree,
        assigns: &[Assign],
        env: &Env,
    ) -> Vec<Assignment> {
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
            inner.hand_down(name, Known::Known(value.clone()));
            self.kept(&value);
            self.given(name, &value, env);
            self.handed_over(name, &value);
            if programs::runs_its_value(name) {
                self.prompt(name, &Known::Known(value.clone()), env);
            }
            all.push(Assignment {
                name: name.to_owned(),
                dangerous: programs::dangerous_setting(name, value.text()),
                value,
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
        let program = first.shared_text();
        let name = program.as_deref().unwrap_or_default();
        if matches!(name, "read" | "mapfile" | "readarray") && level.shell {
            self.reads = true;
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
        let outcome = effects::outcome(&found, stdin);
        let (found, mut outcome) =
            effects::severally(&found, &outcome, stdin).unwrap_or((found, outcome));
        self.dashed(&found, &mut outcome, env);
        self.modules(&mut outcome, env);
        outcome.starts.extend(more_starts(&found));
        self.reveal(&mut outcome);
        self.keeps(&found, &outcome, function.is_some(), input, level);
        if let Some(function) = function {
            let at = if outcome.known || !function.sure {
                if outcome.known {
                    self.opaque(
                        format!("a function stands in the place of the program `{name}`"),
                        span,
                    );
                }
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
            if function.several {
                self.opaque(format!("`{name}` may be one of several functions"), span);
            }
            if let Some(at) = at.filter(|_| !outcome.known) {
                self.effects(&outcome, at, env);
            }
            let before = (!function.sure).then(|| env.clone());
            let saved = temporary(env, &assignments);
            self.call(
                name,
                &function,
                found.get(1..).unwrap_or_default(),
                env,
                input,
            );
            restore(env, saved);
            if let Some(before) = before {
                *env = self.merge(before, env.clone());
            }
            for assignment in assignments.iter().filter(|assignment| assignment.dangerous) {
                env.change(&assignment.name);
            }
            return at;
        }
        let roles = std::mem::take(&mut outcome.roles);
        let own = level.shell && super::builtins::is_builtin(name);
        let starts = !outcome.starts.is_empty();
        let mark = starts
            .then(|| place_of_names(name, &outcome.options))
            .flatten();
        let listed = starts.then(|| names::found_by(&found, &outcome)).flatten();
        // Most commands start nothing and change nothing: their words move into the access.
        let kept = (own || starts).then(|| (found.clone(), assignments.clone()));
        let patch = super::patch::files(&found, input);
        let set = match outcome.backs_up {
            true => assignments.clone(),
            false => Vec::new(),
        };
        let given = assignments.iter();
        let given: Vec<(Word, bool)> = given
            .flat_map(|own| effects::files_of(&own.name, &own.value))
            .collect();
        let at = self.push_command(found, assignments, roles, &mut outcome, env, level, span);
        if outcome.lands {
            self.places(&outcome, at, env);
        }
        if outcome.compares {
            self.compared(&outcome, at, env);
        }
        self.effects(&outcome, at, env);
        if outcome.plants {
            self.plants(&outcome, env);
        }
        self.copies(&outcome, &set, at, env);
        for (file, certain) in given {
            let touches = match certain {
                true => Touches::Surely,
                false => Touches::Perhaps,
            };
            let cover = Cover::Command { at, naming: None };
            for mode in [Mode::Read, Mode::Write] {
                self.path(mode, &file, Reach::Itself, cover, touches, env);
            }
        }
        self.moves(&outcome, env);
        if let Some(files) = patch {
            self.patches(files, at, span, env);
        }
        // `env PS4='$(rm x)' bash -xc …`: the launcher sets it for what it starts.
        if let Some((found, _)) = &kept {
            for word in found.iter().skip(1) {
                let Some((name, _)) = word.prefix().split_once('=') else {
                    continue;
                };
                let value = effects::cut(word, name.len() + 1);
                self.handed_over(name, &value);
                if programs::runs_its_value(name) {
                    self.prompt(name, &Known::Known(value), env);
                }
            }
        }
        if let Some((found, assignments)) = kept {
            let starts = std::mem::take(&mut outcome.starts);
            let started = !starts.is_empty();
            // `IFS=x eval '$c'`: they hold while it runs.
            if level.shell && is_own(name) {
                for Assignment { name, value, .. } in &assignments {
                    env.hand_down(name, Known::Known(value.clone()));
                }
            }
            let mut elsewhere = outcome.folder.as_ref().map(|folder| {
                let mut there = env.clone();
                self.go(folder.text(), true, &mut there);
                there
            });
            for start in starts {
                self.start(
                    start,
                    &found,
                    &assignments,
                    elsewhere.as_mut().unwrap_or(&mut *env),
                    input,
                    level,
                    at,
                    listed.clone(),
                    mark.as_ref(),
                );
            }
            if own {
                self.builtin(name, &found, &assignments, env, input, started, redirected);
            }
            // `x=1 command export x` keeps it, as `export` does.
            if level.shell && matches!(name, "command" | "builtin") {
                for assignment in &assignments {
                    env.forget(&assignment.name);
                }
            }
        }
        Some(at)
    }

    /// Names that a program prints, of files whose own name is an option: `ls | xargs sort`.
    fn dashed(&self, found: &[Word], outcome: &mut Outcome, env: &Env) {
        if outcome.dashed.is_empty() {
            return;
        }
        // `ls a/b` prints names of that folder.
        const DEEP: usize = 3;
        let listed = outcome
            .dashed
            .iter()
            .filter_map(|at| found.get(*at)?.listed());
        let deep = listed.map(|listed| listed.deep).max().unwrap_or(0);
        // Where the files are not seen, nobody is held to be so unlucky.
        let sees = (self.scene.folder)("/").is_some();
        let none = |depth| {
            let folders = std::iter::repeat_n([Piece::Star, Piece::Text("/".into())], depth);
            let name = [Piece::Text("-".into()), Piece::Star];
            let glob = Word::of(folders.flatten().chain(name), Span::default());
            let names = (self.scene.glob)(&glob, env.folder());
            self.placed.made_like(&glob, env.folder()).next().is_none()
                && names.map_or(!sees, |names| names.is_empty())
        };
        let none = deep <= DEEP && (0..=deep).all(none);
        for at in outcome.dashed.iter().filter(|_| !none) {
            let shown = found.get(*at).map(Word::shown).unwrap_or_default();
            outcome.escalations.push(Escalation {
                option: None,
                what: format!("may take `{shown}` for an option: a name may begin with a dash"),
                instead: None,
                at: Trigger::Word(*at),
            });
        }
    }

    /// Names of Python's modules that are no test's of the project: what they lead to is called, whatever it is.
    fn modules(&self, outcome: &mut Outcome, env: &Env) {
        let own = |text: &str| {
            let name = text.split('.').next().unwrap_or_default();
            // Python has a `test` of its own.
            if name.starts_with("test") && name != "test" {
                return true;
            }
            [".py", "/__init__.py"].iter().any(|end| {
                let start = end.trim_end_matches('y');
                let start = Piece::Text(format!("{name}{start}").into());
                let glob = Word::of([start, Piece::Star], Span::default());
                let file = format!("{name}{end}");
                let names = (self.scene.glob)(&glob, env.folder()).unwrap_or_default();
                names.contains(&file)
            })
        };
        for (at, text) in &outcome.modules {
            // One that is only imported is not called.
            if text.contains('.') && !own(text) {
                outcome.escalations.push(Escalation {
                    option: None,
                    what: format!(
                        "imports and calls what `{text}` says, which is no module of this folder"
                    ),
                    instead: None,
                    at: Trigger::Word(*at),
                });
            }
        }
    }

    #[allow(clippy::too_many_arguments)] // the parts of one access
    pub(super) fn push_command(
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
        // The shell's own that start no program and read no file: no variable gives them another meaning.
        let inert = level.shell
            && matches!(
                found.first().and_then(Word::text),
                Some(":" | "true" | "false" | "echo" | "printf" | "test" | "[")
            );
        for name in env.changed.iter().filter(|_| !inert) {
            escalations.push(Escalation {
                option: None,
                what: format!("runs after {name} was changed"),
                instead: None,
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
        let name = found.first().and_then(Word::text).map(path::last);
        let git = name.is_some_and(|name| name == "git" || name.starts_with("git-"));
        if git && self.meets_bare(env, &outcome.options) {
            escalations.push(Escalation {
                option: None,
                what: "works on a repository whose settings lie open".to_owned(),
                instead: None,
                at: Trigger::Unnamed,
            });
        }
        let rest = outcome.starts.iter().find_map(|start| match start {
            Starts::Words { from, .. } => Some(*from),
            _ => None,
        });
        let mut ends = std::mem::take(&mut outcome.ends);
        let own = names::ends_of(&found, &outcome.options);
        ends.extend(own.into_iter().map(|end| end.to_owned().into()));
        let left_out = names::left_out(&found, &roles, &outcome.options);
        self.push(
            Kind::Command(Box::new(Command {
                words: found,
                roles,
                names: std::mem::take(&mut outcome.names),
                spellings: std::mem::take(&mut outcome.spellings),
                aims: std::mem::take(&mut outcome.aims),
                options: std::mem::take(&mut outcome.options),
                assignments,
                rest,
                inner: None,
                launcher: level.launcher,
                transparent: outcome.transparent,
                known: outcome.known,
                open: outcome.open,
                gitignore: outcome.gitignore,
                dockerignore: outcome.dockerignore,
                follows: outcome.follows,
                ends,
                left_out,
                escalations,
                only_reads,
                cwd,
                scripted: false,
            })),
            span,
        )
    }

    /// `mv src build; rm -rf build`: what may be deleted under a name is what stood there before the line.
    fn moves(&mut self, outcome: &Outcome, env: &Env) {
        let placed = |effect: &Effect| {
            let text = effect.value.text()?;
            Some(match env.folders.first() {
                Some(start) => path::normal(&path::join(start, text)),
                None => text.trim_end_matches('/').to_owned(),
            })
        };
        let written = |below: bool| {
            outcome.effects.iter().filter(move |effect| {
                matches!(effect.what, What::Path { mode: Mode::Write, certain: true, reach }
                    if matches!(reach, Reach::Below { .. }) == below)
            })
        };
        if outcome.lands {
            if written(true).next().is_some() {
                self.moved.extend(written(false).filter_map(placed));
            }
            return;
        }
        if self.moved.is_empty() {
            return;
        }
        for effect in written(true) {
            let Some(path) = placed(effect) else { continue };
            let below = format!("{path}/");
            let inside = self.moved.range(below.clone()..).next();
            if self.moved.contains(&path) || inside.is_some_and(|own| own.starts_with(&below)) {
                let why = format!(
                    "`{}` holds what the line has moved there",
                    effect.value.shown()
                );
                self.opaque(why, effect.value.span);
            }
        }
    }

    pub(super) fn effects(&mut self, outcome: &Outcome, at: usize, env: &Env) {
        // `cat a a a …`: where there are many, once is enough.
        const MANY: usize = 64;
        let many = outcome.effects.len() > MANY;
        let mut seen = HashSet::new();
        for effect in &outcome.effects {
            let again = |text| !seen.insert((text, effect.what, effect.naming));
            if many && effect.value.text().is_some_and(again) {
                continue;
            }
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
                    let touches = if certain {
                        Touches::Surely
                    } else {
                        Touches::Perhaps
                    };
                    let path = at_home(&effect.value, env);
                    self.path(mode, &path, reach, cover, touches, env);
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
        self.placed.unnamed.settle();
        if outcome.unsaved {
            self.unsaved(outcome, at, env);
        }
        if outcome.stages {
            self.stage(outcome, env);
        }
        if self.swaps(outcome, at, env) {
            self.swap(outcome, at, env);
        }
    }

    /// A path is touched: once for each folder that the shell may be in.
    pub(super) fn path(
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
        let from_top = from_top(path, env);
        let path = from_top.as_ref().unwrap_or(path);
        let several = !path.prefix().starts_with('/');
        let count = if several { env.folders.len().max(1) } else { 1 };
        for at in 0..count {
            self.paths += 1;
            if self.paths > PATHS {
                return self.beyond("more paths than are followed", &path.shown());
            }
            let access = PathAccess {
                mode,
                path: self.uncover(path),
                cwd: env.folders.get(at).cloned(),
                reach,
                cover,
                touches,
                like: None,
            };
            let also = self.follow(&access);
            for access in std::iter::once(access).chain(also) {
                self.push(Kind::Path(Box::new(access)), path.span);
            }
        }
    }

    /// Whether no further path of the line is followed.
    pub(super) fn is_full(&self) -> bool {
        self.paths > PATHS
    }
}

/// A path below `~`, which the table of facts may name, where the home folder is known.
fn at_home<'w>(path: &'w Word, env: &Env) -> Cow<'w, Word> {
    let home = match path.pieces.first() {
        Some(Piece::Unknown(home)) if home == "~" => env.value("HOME"),
        _ => return Cow::Borrowed(path),
    };
    match home {
        Known::Known(home) => {
            let rest = path.pieces.iter().skip(1);
            Cow::Owned(Word::of(home.pieces.iter().chain(rest).cloned(), path.span))
        }
        _ => Cow::Borrowed(path),
    }
}

/// A path from the top of the repository, where the shell is still in the folder whose repository is known, or at its top.
fn from_top(path: &Word, env: &Env) -> Option<Word> {
    let (first, rest) = path.pieces.split_first()?;
    let (start, top) = env.top.as_deref()?;
    let there = env.folder().is_some_and(|now| now == start || now == top);
    let from = matches!(first, Piece::Unknown(text) if text == effects::TOP) && there;
    let top = Piece::Text(top.trim_end_matches('/').into());
    from.then(|| Word::of(std::iter::once(top).chain(rest.iter().cloned()), path.span))
}

/// `exec` without a command: its redirections stay.
fn replaces_streams(found: &[Word]) -> bool {
    let mut words = found
        .iter()
        .map(|word| word.text())
        .skip_while(|text| matches!(text, Some("command" | "builtin" | "--")));
    words.next() == Some(Some("exec"))
        && words.all(|text| text.is_none_or(|text| text.starts_with('-')))
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

/// An array of numbers, or of what cannot be computed.
fn numbers_if(all: bool) -> Known {
    match all {
        true => Known::Known(numbers::number()),
        false => Known::Unknown,
    }
}

fn appended(env: &Env, name: &str, value: Word) -> Known {
    match env.value(name) {
        Known::Known(old) => {
            let splits = value.splits;
            let pieces = old.pieces.into_iter().chain(value.pieces);
            Known::Known(Word {
                splits,
                ..Word::of(pieces, value.span)
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

/// Git's own programs under their dashed names: `git-reset` is `git reset`.
fn undashed(mut found: Vec<Word>) -> Vec<Word> {
    let Some(first) = found.first() else {
        return found;
    };
    let Some(text) = first.text() else {
        return found;
    };
    // To zsh `=rm` is the path of `rm`.
    if let Some(name) = text.strip_prefix('=').filter(|name| !name.is_empty()) {
        let program = Word::known(name, first.span);
        found.splice(..1, [program]);
        return found;
    }
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
