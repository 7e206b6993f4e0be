//! What others than bash do not have, or take for something else, construct by construct.
//!
//! In: a [`Tree`] as bash reads it, and whose script it is. Out: what of it that shell reads otherwise, and where. What is
//! an error that ends a script is told too where some shell goes on behind it.

use super::dialect::Dialect;
use super::syntax::{
    Body, Command, List, Operator, Parameter, Part, Pipeline, Raw, Redirect, Shape, Target, Tree,
    Value,
};
use super::words;
use crate::source::Span;

/// Who reads it otherwise than bash.
const POSIX: &[Dialect] = &[Dialect::Posix];
const ZSH: &[Dialect] = &[Dialect::Zsh];
const BOTH: &[Dialect] = &[Dialect::Posix, Dialect::Zsh];

type Fits = fn(&str) -> bool;

/// A word of a script, not between quotes, that others read otherwise.
const IN_WORDS: &[(Fits, &str, &[Dialect])] = &[
    // Only `!` negates there.
    (|text| text.contains("[^"), "`[^…]`", POSIX),
    (
        |text| text.starts_with("~+") || text.starts_with("~-"),
        "`~+`",
        POSIX,
    ),
    (|text| text.starts_with('='), "`=x`", ZSH),
    (|text| text.contains("**"), "`**`", ZSH),
    (|text| text.contains("(#"), "`(#…)`", ZSH),
];

/// Commands that others do not have, or that do something else there where a word starts so.
const COMMANDS: &[(&[&str], &[&str], &[Dialect])] = &[
    (
        &[
            "pushd",
            "popd",
            "dirs",
            "let",
            "declare",
            "typeset",
            "source",
            "shopt",
            "mapfile",
            "readarray",
            "builtin",
            "enable",
            "caller",
            "alias",
        ],
        &[""],
        POSIX,
    ),
    (&["printf"], &["-v"], POSIX),
    (&["echo"], &["-e", "-E"], POSIX),
    (
        &["read"],
        &[
            "-a", "-d", "-e", "-i", "-n", "-N", "-s", "-t", "-u", "-ra", "-rd", "-rn", "-rs", "-rt",
        ],
        POSIX,
    ),
    (
        &[
            "setopt",
            "unsetopt",
            "emulate",
            "zmodload",
            "autoload",
            "functions",
            "sched",
            "noglob",
            "nocorrect",
            "-",
        ],
        &[""],
        ZSH,
    ),
];

/// What is assigned before one of these stays so: `x=1 :`.
const KEEPERS: &[&str] = &[
    ":", ".", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set",
    "shift", "times", "trap", "unset",
];

/// Variables of zsh that are others under another name, or name a command.
const TIED: &[&str] = &[
    "path",
    "cdpath",
    "fpath",
    "argv",
    "status",
    "options",
    "aliases",
    "galiases",
    "saliases",
    "functions",
    "commands",
    "builtins",
    "parameters",
    "nameddirs",
    "module_path",
    "NULLCMD",
    "READNULLCMD",
    "FPATH",
    "STTY",
    "signals",
    "dirstack",
];

/// Functions that zsh calls by itself.
const HOOKS: &[&str] = &["chpwd", "precmd", "preexec", "periodic", "zshexit"];

/// What stands in a tree that a dialect reads otherwise than bash: what, and where.
pub(super) struct Found<'t> {
    tree: &'t Tree,
    dialect: Dialect,
    all: Vec<(&'static str, Span)>,
}

impl<'t> Found<'t> {
    pub fn of(tree: &'t Tree, dialect: Dialect) -> Vec<(&'static str, Span)> {
        let all = Vec::new();
        let mut found = Self { tree, dialect, all };
        found.list(&tree.list);
        found.all
    }

    /// Told once for each construct.
    fn tell(&mut self, what: &'static str, to: &[Dialect], span: Span) {
        if to.contains(&self.dialect) && self.all.iter().all(|(known, _)| *known != what) {
            self.all.push((what, self.tree.span(span)));
        }
    }

    fn list(&mut self, list: &List) {
        for item in &list.0 {
            self.pipeline(&item.first);
            for (_, pipeline) in &item.rest {
                self.pipeline(pipeline);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let Some(first) = pipeline.stages.first() {
            let before = self.tree.text.get(..first.span.start).unwrap_or_default();
            let mut before = before.trim_end_matches([' ', '\t']);
            for option in ["-p", "--"] {
                before = before
                    .strip_suffix(option)
                    .unwrap_or(before)
                    .trim_end_matches([' ', '\t']);
            }
            if before.ends_with("time") {
                self.tell("`time`", POSIX, first.span);
            }
        }
        let mut end = None;
        for command in &pipeline.stages {
            let between = end.map(|end| Span::new(end, command.span.start.max(end)));
            if between.is_some_and(|span| self.tree.of(span).contains("|&")) {
                self.tell("`|&`", POSIX, command.span);
            }
            self.command(command);
            end = Some(
                command
                    .redirects
                    .last()
                    .map_or(command.span.end, |last| last.span.end.max(command.span.end)),
            );
        }
    }

    fn command(&mut self, command: &Command) {
        let span = command.span;
        match &command.shape {
            Shape::Simple { assigns, words } => {
                for assign in assigns {
                    let name = self.tree.of(assign.name);
                    if assign.append {
                        self.tell("`+=`", POSIX, span);
                    }
                    if TIED.contains(&name) {
                        self.tell("what is tied to another variable", ZSH, span);
                    }
                    if let Some(subscript) = &assign.subscript {
                        self.tell("an array", BOTH, span);
                        self.parts(subscript, false);
                    }
                    match &assign.value {
                        Value::Scalar(raw) => self.raw(raw),
                        Value::Array(raws) => {
                            self.tell("an array", BOTH, span);
                            self.raws(raws);
                        }
                    }
                }
                self.named(!assigns.is_empty(), words, span);
                self.raws(words);
            }
            Shape::Group(list) | Shape::Subshell(list) => self.list(list),
            Shape::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.list(condition);
                    self.list(body);
                }
                if let Some(body) = otherwise {
                    self.list(body);
                }
            }
            Shape::While { condition, body } => {
                self.list(condition);
                self.list(body);
            }
            Shape::For {
                words,
                body,
                select,
                ..
            } => {
                if *select {
                    self.tell("`select`", POSIX, span);
                }
                self.raws(words.as_deref().unwrap_or_default());
                self.list(body);
            }
            Shape::ArithmeticFor { head, body, .. } => {
                self.tell("`for ((…))`", POSIX, span);
                self.parts(head, true);
                self.list(body);
            }
            Shape::Case { word, arms } => {
                self.raw(word);
                for arm in arms {
                    if arm.falls {
                        self.tell("`;&`", BOTH, span);
                    }
                    self.raws(&arm.patterns);
                    self.list(&arm.body);
                }
            }
            // `((` is told where it is walked.
            Shape::Arithmetic(parts, _) => self.parts(parts, true),
            Shape::Test(words) => {
                self.tell("`[[`", POSIX, span);
                self.raws(words);
            }
            Shape::Function { name, body } => {
                if self.tree.of(span).starts_with("function") {
                    self.tell("`function`", POSIX, span);
                }
                let name = self.tree.of(*name);
                if HOOKS.contains(&name) || name.starts_with("TRAP") {
                    self.tell("a function that is a hook", ZSH, span);
                }
                self.command(body);
            }
            Shape::Coproc { body, .. } => {
                self.tell("`coproc`", BOTH, span);
                self.command(body);
            }
        }
        for redirect in &command.redirects {
            self.redirect(redirect);
        }
    }

    /// The program of a simple command.
    fn named(&mut self, assigned: bool, words: &[Raw], span: Span) {
        let bare = |raw: &Raw| self.tree.of(raw.span).replace(['\'', '"', '\\'], "");
        let Some(name) = words.first().map(bare) else {
            return;
        };
        if assigned && (KEEPERS.contains(&name.as_str()) || name.contains(['$', '`'])) {
            self.tell("an assignment before a shell's own command", POSIX, span);
        }
        for (names, starts, to) in COMMANDS {
            let Some(known) = names.iter().find(|known| **known == name) else {
                continue;
            };
            let fits = |raw: &Raw| {
                let text = bare(raw);
                starts.iter().any(|start| text.starts_with(start))
            };
            if starts.contains(&"") || words.iter().skip(1).any(fits) {
                self.tell(known, to, span);
            }
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        let (span, text) = (redirect.span, self.tree.of(redirect.span));
        if text.starts_with('{') {
            self.tell("`{x}>`", POSIX, span);
        }
        if text.starts_with("&>") {
            self.tell("`&>`", POSIX, span);
        }
        match &redirect.what {
            Target::Duplicate(raw) => {
                let target = self.tree.of(raw.span);
                if target != "-" && !target.bytes().all(|byte| byte.is_ascii_digit()) {
                    self.tell("`>&x`", POSIX, span);
                }
                self.raw(raw);
            }
            Target::Read(raw) => {
                // `a<1-9>` is a pattern there.
                let range = |c: char| c.is_ascii_digit() || c == '-';
                let target = self.tree.of(raw.span);
                if target.contains('-') && target.chars().all(range) {
                    self.tell("`<1-9>`", ZSH, span);
                }
                self.raw(raw);
            }
            Target::Write(raw) | Target::Both(raw) | Target::From(raw) => self.raw(raw),
            Target::HereString(raw) => {
                self.tell("`<<<`", POSIX, span);
                self.raw(raw);
            }
            Target::Heredoc(id) => {
                let tree = self.tree;
                if let Some(heredoc) = tree.heredocs.get(*id) {
                    self.parts(&heredoc.parts, true);
                }
            }
        }
    }

    fn raws(&mut self, raws: &[Raw]) {
        for raw in raws {
            self.raw(raw);
        }
    }

    fn raw(&mut self, raw: &Raw) {
        let braces = words::has_braces(self.tree, &raw.parts);
        if braces {
            self.tell("`{a,b}`", POSIX, raw.span);
        }
        let text = self.tree.of(raw.span);
        if text.contains("$\"") {
            self.tell("`$\"…\"`", BOTH, raw.span);
        }
        // `{1..$n}`: bash looks at the braces first.
        if text.contains('{') && text.contains("..") && text.contains(['$', '`']) {
            self.tell("`{1..$x}`", ZSH, raw.span);
        }
        self.parts(&raw.parts, false);
    }

    fn parts(&mut self, parts: &[Part], quoted: bool) {
        for part in parts {
            match part {
                Part::Text(span) => {
                    let text = self.tree.of(*span);
                    for (fits, what, to) in IN_WORDS {
                        if !quoted && fits(text) {
                            self.tell(what, to, *span);
                        }
                    }
                }
                Part::Escaped(_) | Part::Single(_) => {}
                Part::Ansi(_) => {
                    // What is within its quotes is another thing there, and so is all behind it.
                    let all = Span::new(0, self.tree.text.len());
                    self.tell("`$'…'`", POSIX, all);
                }
                Part::Double(parts) => self.parts(parts, true),
                Part::Extended(parts, span) => {
                    self.tell("`*(…)`", BOTH, *span);
                    self.parts(parts, quoted);
                }
                Part::Arithmetic(parts, span) => {
                    let text = self.tree.of(*span);
                    let own = ["++", "--", "**", ",", "#"];
                    if text.starts_with("$[") || own.iter().any(|sign| text.contains(sign)) {
                        self.tell("arithmetic like this", BOTH, *span);
                    }
                    self.parts(parts, true);
                }
                Part::Array(raws) => {
                    self.raws(raws);
                    if let Some(first) = raws.first() {
                        self.tell("an array", BOTH, first.span);
                    }
                }
                Part::Parameter(parameter) => self.parameter(parameter, quoted),
                Part::Command(substitution) => {
                    if self.tree.of(substitution.span).starts_with(['<', '>']) {
                        self.tell("`<(…)`", POSIX, substitution.span);
                    }
                    match &substitution.body {
                        Body::Within(list) => self.list(list),
                        Body::Apart(tree) => {
                            for (what, _) in Found::of(tree, self.dialect) {
                                self.tell(what, BOTH, substitution.span);
                            }
                        }
                    }
                }
            }
        }
    }

    fn parameter(&mut self, parameter: &Parameter, quoted: bool) {
        let span = parameter.span;
        let name = self.tree.of(parameter.name);
        let rest = self.tree.text.get(parameter.name.end..).unwrap_or_default();
        let cuts = rest.starts_with(['#', '%']);
        if parameter.operator == Operator::Prompt
            || parameter.operator == Operator::Other && !cuts
            || parameter.indirect
        {
            self.tell("`${x/a/b}`", BOTH, span);
        }
        if let Some(subscript) = &parameter.subscript {
            self.tell("an array", BOTH, span);
            self.parts(subscript, false);
        }
        let more = is_modified(self.tree, parameter);
        let letter = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let length = name == "#" && !self.tree.of(span).starts_with("${") && letter;
        if more || length {
            self.tell("`$x:A`", ZSH, span);
        }
        self.parts(&parameter.operand, quoted);
    }
}

/// Whether what follows `$x` belongs to it in zsh: `$x:A`, `$x[1]`, between double quotes too.
pub(super) fn is_modified(tree: &Tree, parameter: &Parameter) -> bool {
    if tree.of(parameter.span).starts_with("${") {
        return false;
    }
    let rest = tree.text.get(parameter.span.end..).unwrap_or_default();
    match rest.as_bytes() {
        [b'[', ..] => true,
        [b':', letter, ..] => b"aAcehlPqQrtus&g".contains(letter),
        _ => false,
    }
}
