//! Walks a script's structure: lists, pipelines, branches, loops, functions, substitutions.
//!
//! In: a [`Tree`] and what is known of the shell. Out: accesses, in the order of the text. A branch that
//! may not run, a loop that may run again: what they change is known afterwards only where all ways agree.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use super::env::{Env, Function, Value, Var};
use super::parse::{self, DEEPEST};
use super::placed::Placed;
use super::redirects::may_fail;
use super::syntax::{
    Arm, Body, Command, Item, Join, List, Operator, Origin, Part, Pipeline, Raw, Shape, Tree,
};
use super::{Scene, names, numbers, words};
use crate::call::access::{Access, Kind, Mode, Opaque, Via};
use crate::call::programs::{self, Start};
use crate::call::word::{Piece, Word};
use crate::source::Span;

/// Elements of a list that a loop is unrolled for.
const ELEMENTS: usize = 16;
/// Commands walked again: unrolled loops, called functions, second rounds.
const REPLAYS: usize = 600;
/// Bytes of texts that are run as scripts, over the whole line and four times its length.
const PARSED: usize = 32 * 1024;
/// Commands of a line that are looked at, each time that they are.
const COMMANDS: usize = 20_000;
/// Paths of a line that are judged.
pub(super) const PATHS: usize = 10_000;
/// Names compared where ways meet.
const WORK: usize = 300_000;
/// Letters that are shown of what lies beyond a limit.
const SHOWN: usize = 40;
/// Bytes of texts beyond a limit that are kept.
const MOST_UNREAD: usize = 2 * 1024 * 1024;
/// Levels of walking: those of the parser, and calls between them.
const LEVELS: usize = DEEPEST + 30;

/// What a command finds on its standard input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Input {
    /// Whatever the shell itself has.
    Inherited,
    /// This text.
    Text {
        text: String,
        origin: Origin,
        /// The text is surely all of it, exactly.
        sure: bool,
        what: &'static str,
    },
    /// A file.
    File(Word),
    /// Names below a folder, one a line.
    Names(Word),
    /// What another command writes.
    Unknown,
}

impl Input {
    /// What is left of a text when a command has run that may have read some of it.
    fn left(&self) -> Option<Self> {
        match self {
            Self::Text {
                text,
                origin,
                sure: true,
                what,
            } => Some(Self::Text {
                text: text.clone(),
                origin: *origin,
                sure: false,
                what,
            }),
            _ => None,
        }
    }
}

/// A function that is being called.
pub(super) struct Call {
    body: usize,
    general: bool,
    /// What `local` has hidden.
    pub locals: Vec<(String, Option<Var>)>,
    /// The state at its `return`s.
    pub returned: Option<Env>,
}

impl Call {
    /// Whether it has hidden what holds under a name elsewhere.
    pub fn has(&self, name: &str) -> bool {
        self.locals.iter().any(|(own, _)| own == name)
    }
}

/// A loop that is being walked: the states at its `break`s and `continue`s.
#[derive(Default)]
pub(super) struct Round {
    pub broke: Option<Env>,
    pub continued: Option<Env>,
}

/// Words that launchers may hand down, over the whole line.
pub(super) const LAUNCHED: usize = 20_000;

/// What runs later, if at all.
pub(super) enum Later {
    Function {
        name: String,
        function: Function,
        env: Env,
    },
    Trap {
        text: String,
        origin: Origin,
        env: Env,
    },
}

pub(super) struct Walker<'s> {
    pub scene: &'s Scene<'s>,
    /// The outermost line.
    pub line: &'s str,
    pub out: Vec<Access>,
    pub via: Via,
    pub calls: Vec<Call>,
    pub rounds: Vec<Round>,
    pub later: Vec<Later>,
    /// What holds in some state of the shell since a trap was set, and the last of them.
    pub since: Option<(Env, Env)>,
    /// Names, offsets or subscripts are evaluated somewhere: the text of a variable is then code.
    pub arithmetic: bool,
    /// Texts that the script keeps, with commands in them that arithmetic would run.
    pub traps: Vec<(String, Span)>,
    /// Those that were told where they are evaluated.
    pub told: Vec<String>,
    /// A builtin has read what it is fed into a variable.
    pub reads: bool,
    /// The first access that writes a file called `HEAD`.
    pub headed: Option<usize>,
    /// What the shell reads from or prints to may be closed: a copy of it fails.
    pub closed: bool,
    /// Where the line has moved something.
    pub moved: BTreeSet<String>,
    /// What the line has put where.
    pub placed: Placed,
    /// Inside a command substitution, whose output is kept.
    pub substituted: usize,
    /// Aliases being expanded.
    pub aliasing: Vec<String>,
    /// Inside a condition, where `set -e` does not count.
    pub guarded: usize,
    /// `exit` was seen.
    pub exited: bool,
    /// The text of a trap is walked for what it sets.
    pub unsettling: bool,
    /// A test, an assignment, arithmetic: something that is no access and yet no nothing.
    pub harmless: bool,
    /// There is a `[[ ]]` or a `(( ))`.
    pub tests: bool,
    pub depth: usize,
    called: BTreeSet<usize>,
    /// Functions among what runs later.
    deferred: BTreeSet<usize>,
    commands: usize,
    /// Paths that were touched, each time that they were.
    pub paths: usize,
    /// Words of launched commands: each level holds those of all below it.
    pub launched: usize,
    replaying: usize,
    replayed: usize,
    work: usize,
    parsed: usize,
    exhausted: bool,
    /// The limits that were met, and the texts that are not read because of them.
    limits: Vec<(&'static str, String)>,
    unread: HashSet<String>,
    unread_bytes: usize,
    unread_tree: Option<Rc<Tree>>,
}

impl<'s> Walker<'s> {
    pub fn new(scene: &'s Scene<'s>, line: &'s str) -> Self {
        Self {
            scene,
            line,
            out: Vec::new(),
            via: Via::default(),
            calls: Vec::new(),
            rounds: Vec::new(),
            later: Vec::new(),
            since: None,
            arithmetic: false,
            traps: Vec::new(),
            told: Vec::new(),
            reads: false,
            headed: None,
            closed: false,
            moved: BTreeSet::new(),
            placed: Placed::default(),
            substituted: 0,
            aliasing: Vec::new(),
            guarded: 0,
            exited: false,
            unsettling: false,
            harmless: false,
            tests: false,
            depth: 0,
            called: BTreeSet::new(),
            deferred: BTreeSet::new(),
            commands: 0,
            paths: 0,
            launched: 0,
            replaying: 0,
            replayed: 0,
            work: 0,
            parsed: 0,
            exhausted: false,
            limits: Vec::new(),
            unread: HashSet::new(),
            unread_bytes: 0,
            unread_tree: None,
        }
    }

    pub fn push(&mut self, kind: Kind, span: Span) -> usize {
        if let Kind::Path(path) = &kind {
            if path.mode == Mode::Write && (super::repository::breaks(path) || self.completes(path))
            {
                self.headed.get_or_insert(self.out.len());
            }
        }
        self.out.push(Access {
            kind,
            span: Some(span),
            via: self.via.clone(),
        });
        self.out.len() - 1
    }

    pub fn opaque(&mut self, why: impl Into<String>, span: Span) {
        let why = why.into();
        self.push(
            Kind::Opaque(Box::new(Opaque {
                why,
                ..Opaque::default()
            })),
            span,
        );
    }

    /// Runs code that is not written in the call.
    pub fn opaque_code(&mut self, why: impl Into<String>, span: Span) {
        let (why, open) = (why.into(), true);
        self.push(
            Kind::Opaque(Box::new(Opaque {
                why,
                open,
                ..Opaque::default()
            })),
            span,
        );
    }

    /// A limit is met, and this text is not read: told at the end, where its words are looked at once.
    pub fn beyond(&mut self, limit: &'static str, text: &str) {
        if self.limits.iter().all(|(known, _)| *known != limit) {
            let start: String = text.chars().take(SHOWN).collect();
            self.limits.push((limit, start));
        }
        let room = MOST_UNREAD.saturating_sub(self.unread_bytes);
        if text.len() <= room && self.unread.insert(text.to_owned()) {
            self.unread_bytes += text.len();
        }
        // All that is written is in the line; what is more came of repeating it.
        if text.len() > room && self.unread.insert(self.line.to_owned()) {
            self.unread_bytes = MOST_UNREAD;
        }
    }

    /// The same, where all of a text may have to do with it.
    fn beyond_tree(&mut self, limit: &'static str, tree: &Rc<Tree>) {
        if self
            .unread_tree
            .as_ref()
            .is_none_or(|last| !Rc::ptr_eq(last, tree))
        {
            self.beyond(limit, &tree.text);
            self.unread_tree = Some(Rc::clone(tree));
        }
    }

    /// Counts work; past the bound the rest is still walked once, with nothing known.
    fn spend(&mut self, work: usize) {
        self.work += work;
        if self.work > WORK {
            self.exhaust();
        }
    }

    fn exhaust(&mut self) {
        if !self.exhausted {
            self.exhausted = true;
            let span = Span::new(0, self.line.len());
            self.opaque("too much is repeated to be followed", span);
        }
    }

    /// A note that the line is too much may be among accesses that were dropped.
    pub fn told_again(&mut self) {
        if self.exhausted {
            self.exhausted = false;
            self.exhaust();
        }
    }

    pub fn merge(&mut self, a: Env, b: Env) -> Env {
        self.spend(a.size() + b.size());
        let (mut a, mut b) = (a, b);
        if self.exhausted {
            a.lose();
            b.lose();
            // One of them, whole: the line is opaque by now.
            if a.functions.len() < b.functions.len() {
                a.functions = b.functions.clone();
            } else {
                b.functions = a.functions.clone();
            }
        }
        a.merge(b)
    }

    /// A whole text: its commands, and its flaws.
    pub fn tree(&mut self, tree: &Rc<Tree>, env: &mut Env, input: &Input) {
        for flaw in &tree.flaws {
            let end = tree.text.len();
            let span = tree.span(Span::new(flaw.at.min(end), end));
            self.opaque(flaw.why, span);
            if flaw.limit {
                self.beyond(flaw.why, tree.text.get(flaw.at..).unwrap_or_default());
            }
        }
        self.otherwise(tree, env.dialect);
        self.list(tree, &tree.list, env, input);
    }

    /// A text that is run as a script.
    pub fn script(&mut self, text: &str, origin: Origin, env: &mut Env, input: &Input) {
        let span = match origin {
            Origin::Verbatim(base) => Span::new(base, base + text.len()),
            Origin::Computed(span) => span,
        };
        if self.depth >= DEEPEST {
            self.opaque("nested too deeply", span);
            self.beyond("nested too deeply", text);
            return;
        }
        self.parsed += text.len();
        if self.parsed > PARSED + 4 * self.line.len() {
            self.exhaust();
        }
        if self.exhausted {
            self.opaque("too much is repeated to be followed", span);
            self.beyond("too much is repeated to be followed", text);
            return;
        }
        let tree = Rc::new(parse::parse(text, origin, self.depth + 1));
        self.depth += 1;
        self.tree(&tree, env, input);
        self.depth -= 1;
    }

    /// Traps, and functions that nothing has called: they may run at any time.
    pub fn later(&mut self, last: &Env) {
        let mut rounds = 0;
        while !self.later.is_empty() && rounds < 64 {
            rounds += 1;
            let since = self.since.take().map(|(since, _)| since);
            for later in std::mem::take(&mut self.later) {
                let (env, last) = match &later {
                    Later::Function { env, .. } => (env, last),
                    // The shell may exit anywhere behind it: at `exit`, at what fails under `set -e`, in a subshell.
                    Later::Trap { env, .. } => (env, since.as_ref().unwrap_or(last)),
                };
                let mut env = self.merge(env.clone(), last.clone());
                env.dead = false;
                env.settle();
                match later {
                    Later::Function { name, function, .. } => {
                        env.lost |= self.exited;
                        if self.called.contains(&address(&function.body)) {
                            continue;
                        }
                        env.positional = None;
                        self.enter_function(&name, &function, &mut env, &Input::Unknown, true);
                    }
                    Later::Trap { text, origin, .. } => {
                        self.via.push("trap");
                        self.script(&text, origin, &mut env, &Input::Inherited);
                        self.via.pop();
                    }
                }
            }
        }
        if !self.later.is_empty() {
            self.beyond("too much runs later to be followed", self.line);
        }
    }

    pub fn list(&mut self, tree: &Rc<Tree>, list: &List, env: &mut Env, input: &Input) {
        let one = matches!(list.0.as_slice(), [item] if item.rest.is_empty());
        let left = (!one).then(|| input.left()).flatten();
        let left = left.as_ref().unwrap_or(input);
        for (index, item) in list.0.iter().enumerate() {
            let input = if index > 0 { left } else { input };
            if index > 0 {
                self.settle(env);
            }
            if item.background {
                let mut inner = env.clone();
                self.item(tree, item, &mut inner, input, left);
                env.background = true;
            } else {
                self.item(tree, item, env, input, left);
            }
        }
    }

    /// The next command runs whether or not the last one failed; under `set -e`, only if it did not.
    fn settle(&self, env: &mut Env) {
        if env.errexit && self.guarded == 0 {
            env.failed = None;
        } else {
            env.settle();
        }
    }

    fn item(&mut self, tree: &Rc<Tree>, item: &Item, env: &mut Env, input: &Input, left: &Input) {
        if item.rest.is_empty() {
            self.pipeline(tree, &item.first, env, input);
            return;
        }
        self.guarded += 1;
        self.pipeline(tree, &item.first, env, input);
        self.guarded -= 1;
        // Which state the next command finds depends on how the ones before it ended.
        let (mut success, mut failure) = env.clone().split();
        for (index, (join, pipeline)) in item.rest.iter().enumerate() {
            let last = index + 1 == item.rest.len();
            let mut state = match join {
                Join::And => success.clone(),
                Join::Or => failure.clone(),
            };
            state.dead = false;
            self.guarded += usize::from(!last);
            self.pipeline(tree, pipeline, &mut state, left);
            self.guarded -= usize::from(!last);
            let (succeeded, failed) = state.split();
            match join {
                Join::And => {
                    let unreachable = success.dead;
                    success = succeeded;
                    success.dead |= unreachable;
                    failure = self.merge(failure, failed);
                }
                Join::Or => {
                    let unreachable = failure.dead;
                    failure = failed;
                    failure.dead |= unreachable;
                    success = self.merge(success, succeeded);
                }
            }
        }
        let folders = (success.folders.clone(), failure.folders.clone());
        let both = !success.dead && !failure.dead;
        *env = self.merge(success, failure);
        if both && folders.0 != folders.1 {
            env.folders = folders.0;
            env.failed = Some(folders.1);
        }
    }

    fn pipeline(&mut self, tree: &Rc<Tree>, pipeline: &Pipeline, env: &mut Env, input: &Input) {
        self.guarded += usize::from(pipeline.negated);
        match &*pipeline.stages {
            [] => {}
            [only] => self.command(tree, only, env, input),
            stages => {
                // Each stage is a subshell; in zsh, and under lastpipe, the last one is not.
                let before = env.clone();
                let mut feed = input.clone();
                let mut last = None;
                // The last stage that looks at what it is fed: behind it nobody does.
                let looks = stages
                    .iter()
                    .rposition(|stage| !only_filters(tree, stage, &before));
                for (index, stage) in stages.iter().enumerate() {
                    let mut inner = before.clone();
                    let next = match looks.is_some_and(|looks| index < looks) {
                        true => self.output(tree, stage, &before, &feed),
                        false => Input::Unknown,
                    };
                    self.command(tree, stage, &mut inner, &feed);
                    inner.dead = false;
                    feed = next;
                    last = Some(inner);
                }
                if let Some(mut last) = last {
                    last.settle();
                    *env = self.merge(before, last);
                }
            }
        }
        self.guarded -= usize::from(pipeline.negated);
        if pipeline.negated {
            env.settle();
        }
    }

    pub fn command(&mut self, tree: &Rc<Tree>, command: &Command, env: &mut Env, input: &Input) {
        if self.replaying > 0 {
            self.replayed += 1;
            if self.replayed > REPLAYS {
                self.exhaust();
            }
        }
        self.commands += 1;
        if self.commands > COMMANDS {
            return self.beyond_tree("more commands than are followed", tree);
        }
        if self.depth >= LEVELS {
            let span = tree.span(command.span);
            self.opaque("nested too deeply", span);
            return self.beyond_tree("nested too deeply", tree);
        }
        self.depth += 1;
        match &command.shape {
            Shape::Simple { assigns, words } => {
                self.simple(tree, command, assigns, words, env, input);
            }
            shape => self.compound(tree, command, shape, env, input),
        }
        for (name, value) in std::mem::take(&mut env.prompts) {
            self.prompt(&name, &value, env);
        }
        self.pass(env);
        self.depth -= 1;
    }

    /// A state that a trap may find.
    pub fn pass(&mut self, env: &Env) {
        let Some((since, last)) = self.since.take() else {
            return;
        };
        self.since = Some(match last.is(env) {
            true => (since, last),
            false => {
                let mut now = env.clone();
                now.dead = false;
                now.settle();
                (self.merge(since, now), env.clone())
            }
        });
    }

    fn compound(
        &mut self,
        tree: &Rc<Tree>,
        command: &Command,
        shape: &Shape,
        env: &mut Env,
        input: &Input,
    ) {
        let (targets, own) = self.redirects(tree, &command.redirects, env);
        let input = own.as_ref().unwrap_or(input);
        self.kept_input(input);
        let before = may_fail(tree, &command.redirects, &targets, self.closed)
            .then(|| Box::new(env.clone()));
        self.push_redirects(targets, None, env);
        self.shaped(tree, command, shape, env, input);
        self.unless_failed(before, env);
    }

    /// Where the redirections of a command may fail, nothing of it may have run: `{ x=a; } < nofile`.
    #[inline(never)] // What is nested deeply has little of the stack.
    pub(super) fn unless_failed(&mut self, before: Option<Box<Env>>, env: &mut Env) {
        if let Some(before) = before {
            let after = std::mem::replace(env, (*before).clone());
            *env = self.merge(*before, after);
        }
    }

    /// The command without its redirections.
    fn shaped(
        &mut self,
        tree: &Rc<Tree>,
        command: &Command,
        shape: &Shape,
        env: &mut Env,
        input: &Input,
    ) {
        // A condition may have read of it, or a round before.
        let whole = matches!(shape, Shape::Group(_) | Shape::Subshell(_));
        let left = (!whole).then(|| input.left()).flatten();
        let input = left.as_ref().unwrap_or(input);
        match shape {
            Shape::Simple { .. } => {}
            Shape::Group(list) => self.list(tree, list, env, input),
            Shape::Subshell(list) => {
                let mut inner = env.clone();
                self.list(tree, list, &mut inner, input);
            }
            Shape::If { arms, otherwise } => {
                self.conditional(tree, arms, otherwise.as_ref(), env, input)
            }
            Shape::While { condition, body } => {
                self.repeat(env, |walker, env| {
                    walker.guarded += 1;
                    walker.list(tree, condition, env, input);
                    walker.guarded -= 1;
                    let (mut inside, outside) = env.clone().split();
                    walker.via.push("loop body");
                    walker.list(tree, body, &mut inside, input);
                    walker.via.pop();
                    *env = walker.merge(outside, inside);
                });
            }
            Shape::For {
                name,
                words,
                body,
                select,
            } => {
                // There bash 5.2 may read again what it printed, without the `;` of a body.
                if *select && self.via.iter().any(|via| via.ends_with("(…)")) {
                    let span = tree.span(command.span);
                    self.opaque("a menu in a substitution is misread by bash itself", span);
                }
                self.loop_over(
                    tree,
                    tree.of(*name),
                    words.as_deref(),
                    body,
                    *select,
                    env,
                    input,
                );
            }
            Shape::ArithmeticFor { head, span, body } => {
                self.parts(tree, head, env);
                self.computed(tree, head, *span, env);
                self.assigned_by(tree.of(*span), true, env);
                self.repeat(env, |walker, env| {
                    walker.assigned_by(tree.of(*span), true, env);
                    walker.via.push("loop body");
                    walker.list(tree, body, env, input);
                    walker.via.pop();
                });
            }
            Shape::Case { word, arms } => self.case(tree, word, arms, env, input),
            Shape::Arithmetic(parts, span) => {
                self.harmless = true;
                self.tests = true;
                // To dash these are two subshells.
                if self.bashism("`((…))`", env.dialect, tree.span(command.span)) {
                    let (text, origin) = (tree.of(*span), Origin::Computed(tree.span(*span)));
                    self.script(text, origin, &mut env.clone(), input);
                    env.lost = true;
                }
                self.parts(tree, parts, env);
                self.computed(tree, parts, *span, env);
                self.assigned_by(tree.of(*span), true, env);
            }
            Shape::Test(raws) => {
                self.harmless = true;
                self.tests = true;
                for raw in raws {
                    self.parts(tree, &raw.parts, env);
                }
                let mut found = Vec::with_capacity(raws.len());
                for raw in raws {
                    found.push(words::value(tree, raw, env, false));
                }
                self.tested(&found, true, env);
            }
            Shape::Function { name, body } => self.define(tree, *name, body, env),
            Shape::Coproc { name, body } => {
                let name = name.map_or("COPROC", |name| tree.of(name));
                env.forget(name);
                env.forget(&format!("{name}_PID"));
                let mut inner = env.clone();
                self.via.push("coproc");
                self.command(tree, body, &mut inner, &Input::Unknown);
                self.via.pop();
            }
        }
    }

    /// The state that something which runs later is given. What is shared with it is copied when the shell
    /// goes on and changes: that counts as work.
    pub fn deferring(&mut self, env: &Env) -> Env {
        self.spend(env.size());
        let mut env = env.clone();
        if self.exhausted {
            env.lose();
            env.functions = Rc::default();
        }
        env
    }

    /// What more there is to say when all is walked.
    /// Tells of the limits that were met, and of the words beyond them.
    pub fn finish(&mut self) {
        if self.limits.is_empty() {
            return;
        }
        let met = self.limits.iter();
        let told = met.map(|(limit, start)| format!("{limit}, at `{}`", start.trim()));
        let why = told.collect::<Vec<_>>().join("; ");
        let mut texts: Vec<String> = std::mem::take(&mut self.unread).into_iter().collect();
        texts.sort_unstable();
        let unread = texts.iter().flat_map(|text| super::unread::stretches(text));
        let opaque = Opaque {
            why,
            unread: unread.collect(),
            open: true,
        };
        self.push(
            Kind::Opaque(Box::new(opaque)),
            Span::new(0, self.line.len()),
        );
    }

    fn define(&mut self, tree: &Rc<Tree>, name: Span, body: &Rc<Command>, env: &mut Env) {
        let name = tree.of(name).to_owned();
        let function = Function {
            tree: tree.clone(),
            body: body.clone(),
            sure: true,
            several: false,
            exported: false,
        };
        let known = self.called.contains(&address(body)) || self.deferred.contains(&address(body));
        if !self.exhausted {
            Rc::make_mut(&mut env.functions).insert(name.clone(), function.clone());
        }
        if !known {
            self.deferred.insert(address(body));
            let env = self.deferring(env);
            self.later.push(Later::Function {
                name,
                function,
                env,
            });
        }
    }

    fn conditional(
        &mut self,
        tree: &Rc<Tree>,
        arms: &[(List, List)],
        otherwise: Option<&List>,
        env: &mut Env,
        input: &Input,
    ) {
        let mut rest = env.clone();
        let mut after: Option<Env> = None;
        for (condition, body) in arms {
            self.guarded += 1;
            self.list(tree, condition, &mut rest, input);
            self.guarded -= 1;
            let (mut inside, outside) = rest.split();
            self.list(tree, body, &mut inside, input);
            after = Some(self.join(after, inside));
            rest = outside;
        }
        if let Some(body) = otherwise {
            self.list(tree, body, &mut rest, input);
        }
        *env = self.join(after, rest);
    }

    fn join(&mut self, before: Option<Env>, env: Env) -> Env {
        match before {
            Some(before) => self.merge(before, env),
            None => env,
        }
    }

    fn case(&mut self, tree: &Rc<Tree>, word: &Raw, arms: &[Arm], env: &mut Env, input: &Input) {
        self.parts(tree, &word.parts, env);
        let before = env.clone();
        let mut after = env.clone();
        let mut falling: Option<Env> = None;
        for arm in arms {
            for pattern in &arm.patterns {
                self.parts(tree, &pattern.parts, env);
            }
            let mut inside = before.clone();
            if let Some(falling) = falling.take() {
                inside = self.merge(inside, falling);
            }
            self.list(tree, &arm.body, &mut inside, input);
            if arm.falls {
                falling = Some(inside.clone());
            }
            after = self.merge(after, inside);
        }
        *env = after;
    }

    #[allow(clippy::too_many_arguments)] // each is a part of the loop
    fn loop_over(
        &mut self,
        tree: &Rc<Tree>,
        name: &str,
        raws: Option<&[Raw]>,
        body: &List,
        select: bool,
        env: &mut Env,
        input: &Input,
    ) {
        let mut values: Vec<Word> = Vec::new();
        match raws {
            Some(raws) => {
                for raw in raws {
                    self.parts(tree, &raw.parts, env);
                }
                for raw in raws {
                    let mut own = Vec::new();
                    words::words(tree, raw, env, &mut own);
                    values.extend(self.globbed(own, env));
                }
            }
            None => match env.arguments() {
                Some(all) => values.extend(all.iter().cloned()),
                None => values.push(Word::unknown("$@", tree.span(body_span(body)), true)),
            },
        }
        for value in &values {
            self.kept(value);
            self.given(name, value, env);
        }
        self.via.push("loop body");
        // Names that `find` and its like print are each a name below the same folder.
        for value in &mut values {
            value.splits &= !matches!(&*value.pieces, [Piece::Text(_), Piece::Below(_), ..]);
        }
        let splits = values.iter().any(|word| word.splits);
        if select || splits || values.len() > ELEMENTS || values.is_empty() || self.exhausted {
            if select {
                let chosen = Word::unknown("REPLY", tree.span(body_span(body)), false);
                self.given("REPLY", &chosen, env);
                env.forget("REPLY");
            }
            let before = env.clone();
            // `for i in $(seq 9)`.
            let numbers = !values.is_empty() && values.iter().all(numbers::is_number);
            self.repeat(env, |walker, env| {
                match numbers {
                    true => env.set(name, Value::Known(numbers::number())),
                    false => env.forget(name),
                }
                walker.list(tree, body, env, input);
            });
            *env = self.merge(before, env.clone());
        } else {
            let mut broke: Option<Env> = None;
            for (index, value) in values.into_iter().enumerate() {
                let constant = value.text().is_some();
                env.set(name, Value::Known(value.clone()));
                self.replaying += usize::from(index > 0);
                if constant {
                    self.rounds.push(Round::default());
                    self.list(tree, body, env, input);
                    self.settle(env);
                    let round = self.rounds.pop().unwrap_or_default();
                    if let Some(state) = round.continued {
                        *env = self.merge(env.clone(), state);
                    }
                    if let Some(state) = round.broke {
                        broke = Some(self.join(broke, state));
                    }
                } else {
                    // A pattern stands for any number of names.
                    let before = env.clone();
                    self.repeat(env, |walker, env| {
                        env.set(name, Value::Known(value.clone()));
                        walker.list(tree, body, env, input);
                    });
                    *env = self.merge(before, env.clone());
                }
                self.replaying -= usize::from(index > 0);
                if env.dead {
                    break;
                }
            }
            if let Some(state) = broke {
                *env = self.merge(env.clone(), state);
            }
        }
        self.via.pop();
    }

    /// Walks what may run any number of times: until what it changes is unknown at its start.
    fn repeat(&mut self, env: &mut Env, mut round: impl FnMut(&mut Self, &mut Env)) {
        let mut start = env.clone();
        start.settle();
        let mut attempt = 0;
        loop {
            if self.exhausted || attempt == 2 {
                start.lose();
                start.folders = Rc::default();
            }
            let mark = self.out.len();
            let exhausted = self.exhausted;
            self.rounds.push(Round::default());
            let mut end = start.clone();
            self.replaying += usize::from(attempt > 0);
            round(self, &mut end);
            self.replaying -= usize::from(attempt > 0);
            let found = self.rounds.pop().unwrap_or_default();
            end.settle();
            if let Some(state) = found.continued {
                end = self.merge(end, state);
            }
            let joined = self.merge(start.clone(), end);
            if attempt == 2 || exhausted || joined.same(&start) {
                *env = match found.broke {
                    Some(state) => self.merge(joined, state),
                    None => joined,
                };
                return;
            }
            // The first round saw values that a later one does not have: once more, without them.
            self.out.truncate(mark);
            self.headed = self.headed.filter(|at| *at < mark);
            self.told_again();
            start = joined;
            attempt += 1;
        }
    }

    /// A call of a function of the script.
    pub fn call(
        &mut self,
        name: &str,
        function: &Function,
        args: &[Word],
        env: &mut Env,
        input: &Input,
    ) {
        let body = address(&function.body);
        let levels: Vec<bool> = self
            .calls
            .iter()
            .filter(|call| call.body == body)
            .map(|call| call.general)
            .collect();
        if levels.contains(&true) || self.exhausted {
            // Its body has been walked, or will be, for any arguments and any variables.
            env.lost = true;
            env.folders = Rc::default();
            return;
        }
        let general = !levels.is_empty();
        let positional = env.positional.take();
        if general {
            env.lost = true;
            env.folders = Rc::default();
        } else if args.iter().all(|word| !word.splits) {
            env.positional = Some(Rc::new(args.to_vec()));
        }
        self.enter_function(name, function, env, input, general);
        env.positional = positional;
    }

    fn enter_function(
        &mut self,
        name: &str,
        function: &Function,
        env: &mut Env,
        input: &Input,
        general: bool,
    ) {
        self.called.insert(address(&function.body));
        self.calls.push(Call {
            body: address(&function.body),
            general,
            locals: Vec::new(),
            returned: None,
        });
        let rounds = std::mem::take(&mut self.rounds);
        self.via.push(format!("function {name}"));
        self.replaying += 1;
        self.command(&function.tree, &function.body, env, input);
        self.replaying -= 1;
        self.via.pop();
        self.rounds = rounds;
        if let Some(call) = self.calls.pop() {
            if let Some(state) = call.returned {
                *env = self.merge(env.clone(), state);
            }
            for (name, var) in call.locals.into_iter().rev() {
                env.put(&name, var);
            }
        }
    }

    /// What the substitutions in a word run.
    pub fn parts(&mut self, tree: &Rc<Tree>, parts: &[Part], env: &mut Env) {
        for part in parts {
            match part {
                Part::Text(_) | Part::Escaped(_) | Part::Single(_) | Part::Ansi(_) => {}
                Part::Double(parts) | Part::Extended(parts, _) => self.parts(tree, parts, env),
                Part::Arithmetic(parts, span) => {
                    self.parts(tree, parts, env);
                    self.computed(tree, parts, *span, env);
                    // The words before it hold what was there, those behind it the number.
                    self.assigned_by(tree.of(*span), false, env);
                }
                Part::Array(raws) => {
                    for raw in raws {
                        self.parts(tree, &raw.parts, env);
                    }
                }
                Part::Parameter(parameter) => {
                    self.parts(
                        tree,
                        parameter.subscript.as_deref().unwrap_or_default(),
                        env,
                    );
                    self.parts(tree, &parameter.operand, env);
                    self.subscript(tree, parameter.name, parameter.subscript.as_deref(), env);
                    let spelling = tree.of(parameter.span);
                    let offset = parameter.operator == Operator::Other && spelling.contains(':');
                    self.arithmetic |= offset || parameter.indirect;
                    let before = tree.of(Span::new(parameter.span.start, parameter.name.end));
                    let rest = spelling.get(before.len()..).unwrap_or_default();
                    if offset && (rest.starts_with(':') || rest.contains("]:")) {
                        self.computed(tree, &parameter.operand, parameter.span, env);
                    }
                    if !offset && !parameter.operand.is_empty() && spelling.contains('[') {
                        // `${x:=text}`: what stands there may be kept.
                        let mut scratch = env.clone();
                        let span = parameter.span;
                        let word = words::heredoc(tree, &parameter.operand, span, &mut scratch);
                        self.kept(&Word {
                            span: tree.span(span),
                            ..word
                        });
                    }
                    if matches!(parameter.operator, Operator::Assign { .. }) {
                        let name = tree.of(parameter.name);
                        let held = env.value(name);
                        let target = match (&held, parameter.indirect) {
                            (Value::Known(word), true) => word.text().unwrap_or_default(),
                            _ => name,
                        };
                        let span = parameter.span;
                        let operand = &parameter.operand;
                        let value = words::heredoc(tree, operand, span, &mut env.clone());
                        self.given(target, &value, env);
                    }
                    if parameter.operator == Operator::Prompt {
                        let span = tree.span(parameter.span);
                        self.opaque("${…@P} runs the commands in a value", span);
                    }
                    if parameter.indirect && parameter.subscript.is_none() {
                        self.indirect(tree, parameter, env);
                    }
                }
                Part::Command(substitution) => {
                    let spelling = tree.of(substitution.span);
                    let via = match spelling.as_bytes() {
                        [b'`', ..] => "`…`",
                        [b'<', ..] => "<(…)",
                        [b'>', ..] => ">(…)",
                        _ => "$(…)",
                    };
                    let input = if via == ">(…)" {
                        Input::Unknown
                    } else {
                        Input::Inherited
                    };
                    self.via.push(via);
                    let mut inner = env.clone();
                    inner.failed = None;
                    self.substituted += 1;
                    match &substitution.body {
                        Body::Within(list) => self.list(tree, list, &mut inner, &input),
                        Body::Apart(apart) => self.list(apart, &apart.list, &mut inner, &input),
                    }
                    self.substituted -= 1;
                    self.via.pop();
                }
            }
        }
    }

    /// `x=1`, `i++` in arithmetic: what it assigns are numbers, where nothing of the same command looks at them.
    pub fn assigned_by(&mut self, text: &str, alone: bool, env: &mut Env) {
        let names = text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|name| parse::is_name(name));
        let number = |name: &str| {
            matches!(env.value(name), Value::Known(word)
                if word.text().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit())))
        };
        self.arithmetic |= !names.clone().all(number) || text.contains(['`', '{', '[']);
        let (assigned, surely) = numbers::assigned(text);
        for name in assigned {
            let kept = matches!(env.value(name), Value::Known(word) if numbers::is_number(&word));
            match surely && alone || kept {
                true => env.set(name, Value::Known(numbers::number())),
                false => env.forget(name),
            }
        }
    }

    /// Whether all that the line did so far is looking.
    fn only_looks(&self) -> bool {
        const MOST: usize = 64;
        self.out.len() < MOST
            && self.out.iter().all(|access| match &access.kind {
                Kind::Command(command) => command.only_reads,
                Kind::Path(path) => path.mode == Mode::Read,
                _ => false,
            })
    }

    /// Words whose globs a view of the files can name.
    pub fn globbed(&self, words: Vec<Word>, env: &Env) -> Vec<Word> {
        use crate::call::word::Piece;
        let is_glob = |word: &Word| {
            !word.is_unknown()
                && word
                    .pieces
                    .iter()
                    .any(|piece| matches!(piece, Piece::Star | Piece::One | Piece::Class(_)))
        };
        if !words.iter().any(is_glob) {
            return words;
        }
        let mut all = Vec::new();
        for word in words {
            // What git put in the place of files that were seen may have any name.
            let seen = is_glob(&word) && !self.placed.swapped;
            let names = seen.then(|| (self.scene.glob)(&word, env.folder()));
            match names.flatten() {
                // What fits nothing stands for itself, unless this line may have made something that fits.
                Some(names)
                    if names.is_empty() && !env.wild && stays(&word) && self.only_looks() =>
                {
                    all.push(Word::known(word.shown(), word.span));
                }
                Some(names) if !names.is_empty() => {
                    let made = self.placed.made_like(&word, env.folder());
                    let made = made.filter(|name| !names.iter().any(|known| known == name));
                    let made: Vec<String> = made.map(str::to_owned).collect();
                    let names = names.into_iter().chain(made);
                    all.extend(names.map(|name| Word::known(name, word.span)));
                }
                _ => all.push(word),
            }
        }
        all
    }
}

/// Whether a wildcard stands for a folder, or in an option: `src/**/*.rs`, `--include=*.rs`.
fn stays(word: &Word) -> bool {
    if word.prefix().starts_with('-') {
        return true;
    }
    let slash = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('/'));
    let wild = |piece: &Piece| matches!(piece, Piece::Star | Piece::One | Piece::Class(_));
    let first = word.pieces.iter().position(wild);
    first < word.pieces.iter().rposition(slash)
}

/// Whether a stage does the same whatever it is fed: `wc -l`, `head`.
fn only_filters(tree: &Tree, stage: &Command, env: &Env) -> bool {
    let Shape::Simple { words: raws, .. } = &stage.shape else {
        return false;
    };
    names::program(tree, raws, env)
        .filter(|name| !super::builtins::is_builtin(name))
        .and_then(programs::find)
        .is_some_and(|program| {
            let entry = program.entry;
            entry.starts == Start::Nothing && entry.subs.is_empty() && !entry.console
        })
}

fn address(body: &Rc<Command>) -> usize {
    Rc::as_ptr(body) as usize
}

fn body_span(body: &List) -> Span {
    body.0
        .first()
        .and_then(|item| item.first.stages.first())
        .map_or_else(Span::default, |command| command.span)
}
