//! Texts that the shell takes for code although they stand in a variable or an argument.
//!
//! Arithmetic evaluates what a name holds, and in that text the subscript of `a[$(rm x)]` is expanded; so do
//! `test -v`, `printf -v`, `${x:n}`, `${!x}` and their like. Which variable such a text ends up in is not
//! followed: a text of that kind that the script keeps anywhere, and arithmetic on names anywhere in it, are
//! enough to say that it may run. `PS4` and `PROMPT_COMMAND` are expanded or run as they are.

use std::rc::Rc;

use super::commands::Level;
use super::effects::{self, Outcome, Starts, may_be_option};
use super::env::{Env, Value};
use super::numbers::{self, is_number};
use super::parse::{self, DEEPEST};
use super::script::{Input, Walker};
use super::syntax::{Operator, Origin, Parameter, Part, Tree};
use super::words;
use crate::call::programs;
use crate::call::word::{Piece, Word};
use crate::source::Span;

/// Texts that are told one by one.
const TRAPS: usize = 8;
/// Texts within texts that are looked into.
const TEMPLATES: usize = 4;

/// Whether the shell itself keeps a number in a variable: what it is given is evaluated.
pub(super) fn is_counter(name: &str) -> bool {
    matches!(
        name,
        "RANDOM" | "SRANDOM" | "SECONDS" | "LINENO" | "HISTCMD" | "OPTIND" | "BASHPID"
    )
}

impl Walker<'_> {
    /// A word is evaluated as it stands. Whether a command in it was told.
    pub fn evaluated(&mut self, word: &Word, env: &Env) -> bool {
        let text = spelled(word);
        let trap = is_trap(&text);
        if trap {
            self.opaque(
                "a value is evaluated, and there is a command in it",
                word.span,
            );
            self.template(&text, word.span, "arithmetic", env);
            if self.told.len() < TRAPS {
                self.told.push(text);
            }
        }
        trap
    }

    /// A word is an expression, or a name with a subscript: what it leads to is evaluated in its turn.
    pub fn expression(&mut self, word: &Word, env: &Env) {
        if !self.evaluated(word, env) {
            self.settled(word, env);
        }
    }

    fn settled(&mut self, word: &Word, env: &Env) {
        if !numbers::is_settled_expression(word, env) {
            let why = "arithmetic evaluates a value that cannot be computed";
            self.opaque(why, word.span);
        }
    }

    /// Arithmetic whose text is put together: `$((a[$x]))` where `x` holds `$(rm y)`.
    pub fn computed(&mut self, tree: &Tree, parts: &[Part], span: Span, env: &Env) {
        let word = words::heredoc(tree, parts, span, &mut env.clone());
        self.expression(&word, env);
    }

    /// The words of a test: some of its operators evaluate. Those of `[` want numbers as they are.
    pub fn tested(&mut self, words: &[Word], double: bool, env: &Env) {
        for (at, word) in words.iter().enumerate() {
            self.evaluated(word, env);
            if word.splits && !double && !is_number(word) {
                let why = "an unquoted word of a test may be `-v` and a subscript, which is evaluated: put it in quotes";
                self.opaque(why, word.span);
                continue;
            }
            let operator = word.text().unwrap_or_default();
            let compares = matches!(operator, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
            let looks = operator == "-v" || !double && may_begin(word, "-v");
            self.arithmetic |= compares || looks || operator.contains('[');
            let before = at.checked_sub(1).filter(|_| compares && double);
            let after = (looks || compares && double).then_some(at + 1);
            for at in before.into_iter().chain(after) {
                match words.get(at) {
                    Some(word) if compares => self.expression(word, env),
                    Some(word) => self.named(word, env),
                    None => {}
                }
            }
        }
    }

    /// The first words of `printf` and `wait` may be an option that sets a variable (`printf "$x"`), up to a `--`.
    pub fn optional(&mut self, words: &[Word], option: &str) {
        for word in words.iter().take_while(|word| word.text() != Some("--")) {
            if may_begin(word, option) && word.text().is_none() {
                let why = "a word that cannot be computed may be an option with a subscript, which is evaluated: write `--` before it";
                self.opaque(why, word.span);
            }
        }
    }

    /// What a variable is given that holds a number: it is evaluated, however it is given.
    pub fn given(&mut self, name: &str, value: &Word, env: &Env) {
        if is_counter(name) || env.is_odd(name) {
            self.arithmetic = true;
            self.expression(value, env);
        }
    }

    /// A name that a command sets or looks at may have a subscript.
    pub fn named(&mut self, word: &Word, env: &Env) {
        self.element(word, true, env);
    }

    /// The same; `unset` takes a key for an expression as well.
    pub fn element(&mut self, word: &Word, keys: bool, env: &Env) {
        self.arithmetic |= word.text().is_none_or(|text| text.contains('['));
        if self.evaluated(word, env) {
            return;
        }
        let prefix = word.prefix();
        let (name, assigns) = match prefix.split_once('=') {
            Some((name, _)) => (name, true),
            None => (prefix, word.text().is_some()),
        };
        match name.split_once('[') {
            Some((array, _)) if keys && env.is_keyed(array) => {}
            Some((_, index)) if assigns => self.settled(&Word::known(index, word.span), env),
            Some((array, _)) => self.settled(&effects::cut(word, array.len()), env),
            None if assigns || is_number(word) => {}
            None => {
                let why = "a name that cannot be computed may have a subscript, which is evaluated";
                self.opaque(why, word.span);
            }
        }
    }

    /// `${!x}`: the value is a name. `${!x*}` lists names that begin so.
    pub fn indirect(&mut self, tree: &Tree, parameter: &Parameter, env: &Env) {
        if matches!(parameter.operator, Operator::Other)
            && tree.of(parameter.span).ends_with(['*', '@', '}'])
            && parameter.operand.is_empty()
        {
            return;
        }
        let name = tree.of(parameter.name);
        let spelling = tree.of(parameter.span);
        let number = || name.parse::<usize>().ok()?.checked_sub(1);
        let held = match (number(), env.arguments()) {
            (Some(at), Some(all)) => all.get(at).cloned().map_or(Value::Unset, Value::Known),
            _ => env.value(name),
        };
        let span = tree.span(parameter.span);
        match held {
            Value::Known(word) => self.named(&Word { span, ..word }, env),
            Value::Unknown => self.named(&Word::unknown(spelling, span, false), env),
            Value::Unset => {}
        }
    }

    /// A subscript is evaluated unless it is a number, `@` or `*`, or the array has keys.
    pub fn subscript(&mut self, tree: &Tree, name: Span, parts: Option<&[Part]>, env: &Env) {
        let Some(parts @ [first, ..]) = parts else {
            return;
        };
        let plain = match (first, parts.len()) {
            (Part::Text(span), 1) => {
                let text = tree.of(*span);
                matches!(text, "@" | "*") || text.bytes().all(|byte| byte.is_ascii_digit())
            }
            _ => false,
        };
        self.arithmetic |= !plain;
        if !plain && !env.is_keyed(tree.of(name)) {
            self.computed(tree, parts, name, env);
        }
    }

    /// A word is kept in a variable, or handed to what may keep it.
    pub fn kept(&mut self, word: &Word) {
        // Most words are short and have no bracket.
        let bracket = word
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Text(text) if text.contains(['[', '\\'])));
        if bracket {
            self.kept_text(&spelled(word), word.span);
        }
    }

    pub fn kept_input(&mut self, input: &Input) {
        if let Input::Text { text, origin, .. } = input {
            let span = match origin {
                Origin::Verbatim(base) => Span::new(*base, base + text.len()),
                Origin::Computed(span) => *span,
            };
            for line in text.lines() {
                self.kept_text(line, span);
            }
        }
    }

    fn kept_text(&mut self, text: &str, span: Span) {
        if self.traps.len() <= TRAPS
            && is_trap(text)
            && !self.traps.iter().any(|(known, _)| known == text)
        {
            self.traps.push((text.to_owned(), span));
        }
    }

    /// The words of a command that may keep them: the shell's own, functions, `echo` in a substitution.
    pub fn keeps(
        &mut self,
        found: &[Word],
        outcome: &Outcome,
        function: bool,
        input: &Input,
        level: Level,
    ) {
        let name = found.first().and_then(Word::text).unwrap_or_default();
        // Their texts are scripts, and judged as such.
        if matches!(name, "eval" | "trap" | "alias") {
            return;
        }
        let own = level.shell && (super::builtins::is_builtin(name) || name == "echo");
        if !own && !function && outcome.starts.is_empty() && self.substituted == 0 {
            return;
        }
        if matches!(name, "read" | "mapfile" | "readarray") || self.substituted > 0 {
            self.kept_input(input);
        }
        let scripts = outcome.starts.iter().filter_map(|start| match start {
            Starts::Script { word, .. } | Starts::Value { at: word, .. } => Some(*word..*word + 1),
            Starts::Joined { from, end, .. } => Some(*from..*end),
            _ => None,
        });
        let scripts: Vec<_> = scripts.collect();
        for (index, word) in found.iter().enumerate().skip(1) {
            if !scripts.iter().any(|script| script.contains(&index)) {
                self.kept(word);
            }
        }
    }

    /// The end of the line: texts that were kept, and arithmetic that may meet them.
    pub fn trapped(&mut self, env: &Env) {
        if !self.arithmetic {
            return;
        }
        let traps = std::mem::take(&mut self.traps);
        for (text, span) in traps {
            if self.told.contains(&text) {
                continue;
            }
            self.opaque(
                "arithmetic may evaluate a value, and there is a command in it",
                span,
            );
            self.template(&text, span, "arithmetic", env);
        }
    }

    /// A variable was set whose text the shell expands or runs.
    pub fn prompt(&mut self, name: &str, value: &Value, env: &Env) {
        let command = programs::command_variable(name);
        let word = match value {
            // Setting it is dangerous as such.
            Value::Unknown if command => return,
            Value::Known(word) if command && effects::only_shows(&word.shown()) => return,
            Value::Known(word) => word,
            Value::Unset => return,
            Value::Unknown => {
                let span = Span::new(0, self.line.len());
                self.opaque(format!("{name} holds a text that is run"), span);
                return;
            }
        };
        let text = word.shown();
        if word.text().is_none() && !command {
            self.opaque(format!("{name} holds a text that is run"), word.span);
        }
        if command || name == "PROMPT_COMMAND" {
            let origin = self.origin(word, &text);
            self.via.push(name);
            self.script(&text, origin, &mut env.clone(), &Input::Inherited);
            self.via.pop();
        } else if text.contains(['$', '`']) {
            self.template(&text, word.span, name, env);
        }
    }

    /// A quoted text is read again by a command that declares arrays.
    pub fn again(&mut self, text: &str, span: Span, env: &Env) {
        self.opaque(
            "a quoted array is read again, and there is an expansion in it",
            span,
        );
        self.template(text, span, "declare", env);
    }

    /// What the substitutions in a text run that is expanded.
    fn template(&mut self, text: &str, span: Span, via: &str, env: &Env) {
        // Each may hold as many levels as a script may, and each level another text: few of them are enough.
        let depth = self.depth + DEEPEST / TEMPLATES;
        if depth >= DEEPEST {
            self.opaque("nested too deeply", span);
            self.beyond("nested too deeply", text);
            return;
        }
        let tree = Rc::new(parse::template(text, Origin::Computed(span), depth));
        for flaw in &tree.flaws {
            self.opaque(flaw.why, span);
        }
        let before = std::mem::replace(&mut self.depth, depth);
        self.via.push(via);
        let mut inner = env.clone();
        for heredoc in &tree.heredocs {
            self.parts(&tree, &heredoc.parts, &mut inner);
        }
        self.via.pop();
        self.depth = before;
    }
}

/// Whether a word may be this option, or begin with it.
fn may_begin(word: &Word, option: &str) -> bool {
    let prefix = word.prefix();
    match word.text() {
        Some(text) => text == option,
        None => may_be_option(word) && (option.starts_with(prefix) || prefix.starts_with(option)),
    }
}

/// A word's text, a name in the place of what cannot be computed.
fn spelled(word: &Word) -> String {
    word.pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Class(text) => text,
            _ => "a",
        })
        .collect()
}

/// Whether a text holds the element of an array with an expansion in its subscript. `printf` may make the
/// bracket out of a backslash.
fn is_trap(text: &str) -> bool {
    let expands = |rest: &str| rest.contains("$(") || rest.contains('`') || rest.contains("${");
    let after = |open: &str| {
        text.match_indices(open).find(|(at, _)| {
            at.checked_sub(1)
                .and_then(|before| text.as_bytes().get(before))
                .is_some_and(|&byte| parse::is_name_byte(byte))
        })
    };
    ["[", "\\x5b", "\\x5B", "\\133", "\\0133"]
        .into_iter()
        .any(|open| after(open).is_some_and(|(at, _)| text.get(at..).is_some_and(expands)))
}
