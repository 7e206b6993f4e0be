//! What a shell's own commands change in the shell: variables, folder, aliases, options, the way it takes.
//!
//! In: the command's words, as values. Out: a changed [`Env`]. A name that is set to what cannot be
//! computed becomes unknown.

use std::rc::Rc;

use super::dialect::Dialect;
use super::effects;
use super::env::{Env, Value};
use super::names;
use super::numbers::is_number;
use super::parse::is_name;
use super::script::{Input, Walker};
use super::syntax::Origin;
use crate::call::access::Assignment;
use crate::call::path;
use crate::call::programs;
use crate::call::word::Word;
use crate::source::Span;

/// Whether a shell's own command changes anything here.
pub(super) fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "cd" | "chdir"
            | "pushd"
            | "popd"
            | "export"
            | "readonly"
            | "declare"
            | "typeset"
            | "local"
            | "unset"
            | "read"
            | "mapfile"
            | "readarray"
            | "getopts"
            | "wait"
            | "vared"
            | "printf"
            | "let"
            | "test"
            | "["
            | "set"
            | "shift"
            | "alias"
            | "hash"
            | "shopt"
            | "setopt"
            | "unsetopt"
            | "emulate"
            | "enable"
            | "exit"
            | "return"
            | "break"
            | "continue"
            | "eval"
            | "source"
            | "."
            | "trap"
            | ":"
            | "exec"
            | "times"
    )
}

impl Walker<'_> {
    #[allow(clippy::too_many_arguments)] // what is known of the command
    pub(super) fn builtin(
        &mut self,
        name: &str,
        found: &[Word],
        assignments: &[Assignment],
        env: &mut Env,
        input: &Input,
        started: bool,
        redirected: bool,
    ) {
        let args = found.get(1..).unwrap_or_default();
        let span = found.first().map_or_else(Span::default, |word| {
            Span::new(
                word.span.start,
                found
                    .last()
                    .map_or(word.span.end, |last| last.span.end.max(word.span.end)),
            )
        });
        match name {
            "cd" | "chdir" => self.change_folder(args, env),
            "pushd" => match args {
                [to] if to.prefix().starts_with(['+', '-']) => env.go(None),
                [to] => self.go(to.text(), false, env),
                _ => env.go(None),
            },
            "popd" => env.go(None),
            // dash splits what is assigned, and has not all of them.
            "export" | "readonly" | "declare" | "typeset" | "local"
                if env.dialect == Dialect::Posix && !is_plain(name, args) =>
            {
                self.declare(name, args, env);
                env.lost = true;
            }
            "export" | "readonly" | "declare" | "typeset" | "local" => {
                self.declare(name, args, env)
            }
            "unset" => {
                let mut letters = String::new();
                for word in args {
                    self.element(word, false, env);
                    match word.text() {
                        Some(text) if is_name(text) => self.unset(text, &letters, env),
                        Some(text) if text.starts_with('-') => letters.push_str(text),
                        Some(text) => {
                            set_name(env, text);
                            env.lost = true;
                        }
                        None => env.set_some(),
                    }
                }
            }
            "wait" if args.iter().all(is_number) => {}
            "read" | "mapfile" | "readarray" | "getopts" | "wait" | "vared" => {
                if name == "wait" {
                    self.optional(args, "-p");
                }
                self.names(name, args, env);
                // Each line is a name below a folder, and so is the variable. Without `-r` its backslashes go.
                if let (Input::Names(word), "read") = (input, name)
                    && let Some(variable) = one_line(args, names::ends_with_nul(word))
                    && parts_at_blanks(assignments, env)
                {
                    let word = Word {
                        splits: false,
                        ..word.clone()
                    };
                    let mut texts = args.iter().filter_map(Word::text);
                    let raw = texts.any(|text| matches!(text, "-r" | "-rd"));
                    env.set(variable, Value::Known(word.split(!raw)));
                }
            }
            "printf" => self.prints(args, env),
            "let" => {
                env.lost |= env.dialect == Dialect::Posix;
                self.arithmetic = true;
                for word in args {
                    self.expression(word, env);
                    match word.text() {
                        Some(text) => self.assigned_by(text, true, env),
                        None => env.set_some(),
                    }
                }
            }
            "test" | "[" => self.tested(
                args.split_last()
                    .filter(|_| name == "[")
                    .map_or(args, |(_, rest)| rest),
                false,
                env,
            ),
            "set" => {
                self.recalls(args, span);
                set_options(args, env);
            }
            "shift" => {
                let count = match args {
                    [] => Some(1),
                    [word] => word.text().and_then(|text| text.parse::<usize>().ok()),
                    _ => None,
                };
                env.positional = match (env.positional.take(), count) {
                    (Some(all), Some(count)) if count <= all.len() => {
                        Some(Rc::new(all.get(count..).unwrap_or_default().to_vec()))
                    }
                    _ => None,
                };
            }
            "alias" => self.define_aliases(args, env),
            "unalias" => {}
            "hash" => self.hash(args, env, span),
            "shopt"
                if args.iter().all(|word| {
                    matches!(word.text(), Some("-s" | "-u" | "-q")) || keeps_globs(word)
                }) => {}
            "shopt" | "setopt" | "unsetopt" | "emulate" => {
                self.recalls(args, span);
                env.wild = true;
                env.physical = true;
            }
            "enable"
                if args
                    .iter()
                    .any(|word| word.prefix().starts_with('-') || word.text().is_none()) =>
            {
                self.opaque("`enable` changes what a command's name means", span);
            }
            "exit" if quits(args) && !redirected => {
                self.exited = true;
                env.dead = true;
            }
            "return" if quits(args) && !redirected => {
                let state = env.clone();
                match self.calls.pop() {
                    Some(mut call) => {
                        call.returned = Some(match call.returned.take() {
                            Some(before) => self.merge(before, state),
                            None => state,
                        });
                        self.calls.push(call);
                    }
                    None => self.exited = true,
                }
                env.dead = true;
            }
            "break" | "continue" if !self.rounds.is_empty() && !redirected => {
                self.leave_loop(name, args, env)
            }
            "eval" if !started => {
                let shown: Vec<String> = args.iter().map(Word::shown).collect();
                if shown.is_empty() {
                    return;
                }
                let text = shown.join(" ");
                let known = args.iter().all(|word| word.text().is_some());
                let origin = match args {
                    [only] => self.origin(only, &text),
                    _ => Origin::Computed(span),
                };
                if !known {
                    self.opaque("`eval` runs a text that cannot be computed", span);
                }
                self.via.push("eval");
                self.script(&text, origin, env, input);
                self.via.pop();
                env.lost |= !known;
            }
            "source" | "." if !started => {
                self.opaque(format!("`{name}` runs a file in this shell"), span);
                env.lost = true;
            }
            "trap" => self.trap(args, env, started),
            _ => {}
        }
        // POSIX shells keep the assignments before a special builtin; bash's `x=1 declare -r x` sets the shell's own.
        let special = matches!(
            name,
            ":" | "."
                | "declare"
                | "typeset"
                | "local"
                | "eval"
                | "exec"
                | "exit"
                | "export"
                | "readonly"
                | "return"
                | "set"
                | "shift"
                | "source"
                | "times"
                | "trap"
                | "unset"
        );
        if special {
            for assignment in assignments {
                env.forget(&assignment.name);
            }
        }
    }

    /// `printf -v name`, `printf -vname`, as often as they like.
    fn prints(&mut self, args: &[Word], env: &mut Env) {
        let mut rest = args;
        while let [first, after @ ..] = rest
            && first.prefix().starts_with("-v")
        {
            let (word, name, after) = match (first.text(), after) {
                (Some("-v"), [name, after @ ..]) => (name, name.text(), after),
                (Some("-v"), []) => {
                    env.lost = true;
                    return;
                }
                (text, after) => (first, text.and_then(|text| text.get(2..)), after),
            };
            self.named(word, env);
            match name {
                Some(name) => {
                    let bare = name.split('[').next().unwrap_or_default();
                    for value in after {
                        self.given(bare, value, env);
                    }
                    set_name(env, name);
                }
                None => env.set_some(),
            }
            rest = after;
        }
        self.optional(rest.get(..1).unwrap_or_default(), "-v");
    }

    /// A name is set to what is read; a subscript makes no difference.
    fn takes(&mut self, name: &str, span: Span, env: &mut Env) {
        let bare = name.split('[').next().unwrap_or_default();
        self.given(bare, &Word::unknown(bare, span, false), env);
        set_name(env, bare);
    }

    /// `unset -f x` leaves the variable alone, `unset x` in a function may uncover what the call or a function above has
    /// hidden, and a function goes only where there is no variable of its name.
    fn unset(&mut self, name: &str, letters: &str, env: &mut Env) {
        let surely = match self.calls.split_last() {
            Some((own, above)) => own.has(name) && !above.iter().any(|call| call.has(name)),
            None => true,
        };
        match letters {
            "-f" => {}
            "" | "-v" if surely => env.set(name, Value::Unset),
            _ => self.unhide(name, env),
        }
        if let Some(function) = Rc::make_mut(&mut env.functions).get_mut(name) {
            function.sure = false;
        }
    }

    /// What holds under a name is unknown, here and where the functions that are being called have hidden it.
    fn unhide(&mut self, name: &str, env: &mut Env) {
        env.forget(name);
        let all = self.calls.iter_mut().flat_map(|call| &mut call.locals);
        for (_, var) in all.filter(|(own, _)| own == name) {
            *var = env.var(name);
        }
    }

    /// With history expansion, the lines that follow are not what is written: `!!:gs/x/y/` is another command.
    pub(super) fn recalls(&mut self, options: &[Word], span: Span) {
        let turns_on = |text: &str| {
            matches!(text, "histexpand" | "history" | "banghist")
                || (text.starts_with('-') && !text.starts_with("--") && text.contains('H'))
        };
        if options.iter().filter_map(Word::text).any(turns_on) {
            self.opaque("history expansion changes the lines after it", span);
        }
    }

    fn declare(&mut self, name: &str, args: &[Word], env: &mut Env) {
        let mut letters = String::new();
        let mut operands = Vec::new();
        for word in args {
            match word.text() {
                Some(text) if text.starts_with(['-', '+']) && operands.is_empty() => {
                    letters.push_str(text)
                }
                _ => operands.push(word),
            }
        }
        let has = |letter: char| letters.contains(letter);
        if has('n') && name != "export" {
            // A name that stands for another: nothing that is assigned can be followed any more.
            env.lost = true;
            for word in &operands {
                match after_equals(word).text() {
                    Some(text) => set_name(env, text),
                    None => env.set_some(),
                }
            }
        }
        self.arithmetic |= has('i') || has('n');
        if has('f') {
            if name == "export" || has('x') {
                for text in operands.iter().filter_map(|word| word.text()) {
                    if let Some(function) = Rc::make_mut(&mut env.functions).get_mut(text) {
                        function.exported = true;
                    }
                }
            }
            return;
        }
        let local = name == "local" || (matches!(name, "declare" | "typeset") && !has('g'));
        for word in operands {
            let written = after_equals(word).shown();
            if written.starts_with('(') && written.contains(['$', '`']) {
                // `declare -a 'x=($(rm y))'`: a text in parentheses is read again.
                self.again(&written, word.span, env);
            }
            // `export` wants plain names.
            if !matches!(name, "export" | "readonly") {
                self.named(word, env);
            }
            if has('n') {
                self.named(&after_equals(word), env);
            }
            if has('i') {
                self.expression(&after_equals(word), env);
            }
            let prefix = word.prefix();
            let (target, value) = match prefix.split_once('=') {
                Some((target, _)) => (target, Some(after_equals(word))),
                None => (prefix, None),
            };
            let append = target.ends_with('+');
            let target = target.strip_suffix('+').unwrap_or(target);
            let bare = target.split('[').next().unwrap_or_default();
            if !is_name(bare) || (value.is_none() && word.text().is_none()) {
                match word.text() {
                    Some(_) => env.lost = true,
                    None => env.set_some(),
                }
                continue;
            }
            if let Some(value) = value.as_ref().filter(|_| !has('i')) {
                self.given(bare, value, env);
            }
            // It holds no text from before: that would stay.
            let mut fresh = value.is_some() || !env.touched(bare);
            if local && let Some(call) = self.calls.last_mut() {
                call.locals.push((bare.to_owned(), env.var(bare)));
                // dash's keeps what was there, `-I` too, and bash what the call was given.
                if value.is_none() {
                    env.forget(bare);
                }
            }
            if has('g') && self.calls.iter().any(|call| call.has(bare)) {
                self.unhide(bare, env);
            } else if name == "local" && self.calls.is_empty() {
                // Outside of a function bash refuses, and zsh does not.
                env.forget(bare);
            } else if has('l') || has('u') || has('c') || has('i') {
                fresh |= matches!(env.value(bare), Value::Known(word) if is_number(&word));
                env.set_odd(bare);
                if letters == "-i" && fresh {
                    env.count(bare);
                }
            } else if let Some(value) = value {
                let value = if append || bare != target || has('a') || has('A') {
                    Value::Unknown
                } else {
                    Value::Known(value)
                };
                env.set(bare, value);
            } else if has('a') || has('A') {
                env.forget(bare);
            }
            env.key(bare, has('A'));
            if name == "readonly" || has('r') {
                env.freeze(bare);
            }
            if name == "export" || has('x') {
                env.export(bare);
                let value = match env.value(bare) {
                    Value::Known(word) => word.text().map(str::to_owned),
                    _ => None,
                };
                if programs::dangerous_setting(bare, value.as_deref()) {
                    env.change(bare);
                }
            }
        }
    }

    /// `read`, `mapfile`, `getopts`: their operands are names.
    fn names(&mut self, name: &str, args: &[Word], env: &mut Env) {
        let default = match name {
            "read" => "REPLY",
            "mapfile" | "readarray" => "MAPFILE",
            _ => "OPTARG",
        };
        let span = args.first().map_or_else(Span::default, |word| word.span);
        self.takes(default, span, env);
        if name == "getopts" {
            set_name(env, "OPTIND");
        }
        self.arithmetic |= name == "getopts";
        for (at, word) in args.iter().enumerate() {
            let option = at
                .checked_sub(1)
                .and_then(|at| args.get(at))
                .map(Word::prefix);
            let taken = option.is_some_and(|text| text.starts_with('-') && text.ends_with(TAKES));
            match name {
                "read" | "mapfile" | "readarray" if !taken => self.named(word, env),
                _ => drop(self.evaluated(word, env)),
            }
            match word.text() {
                // `read -raname`: wherever the options end, the rest may be a name.
                Some(text) if text.starts_with('-') && text.len() < 64 => {
                    for at in 2..text.len() {
                        self.takes(text.get(at..).unwrap_or_default(), word.span, env);
                    }
                }
                // Values of options may look like names: making one more name unknown does no harm.
                Some(text) => self.takes(text, word.span, env),
                None => env.set_some(),
            }
        }
    }

    fn define_aliases(&mut self, args: &[Word], env: &mut Env) {
        for word in args {
            let Some((name, _)) = word.prefix().split_once('=') else {
                if word.text().is_none() {
                    self.opaque("an alias that cannot be computed", word.span);
                }
                continue;
            };
            if name.starts_with('-') || word.text().is_none() {
                self.opaque("an alias that cannot be computed", word.span);
            }
            let value = after_equals(word).text().map(str::to_owned);
            Rc::make_mut(&mut env.aliases).insert(name.to_owned(), value);
        }
        // zsh: `alias -g`, `alias -s`.
        if args
            .iter()
            .any(|word| matches!(word.text(), Some("-g" | "-s")))
        {
            let span = args.first().map_or_else(Span::default, |word| word.span);
            self.opaque("an alias that stands anywhere in a line", span);
        }
    }

    /// `hash -p /bin/rm wipe`: from here on `wipe` is `/bin/rm`.
    fn hash(&mut self, args: &[Word], env: &mut Env, span: Span) {
        match args {
            [option, path, names @ ..] if option.text() == Some("-p") => {
                for name in names {
                    match name.text() {
                        Some(name) => {
                            Rc::make_mut(&mut env.aliases)
                                .insert(name.to_owned(), path.text().map(str::to_owned));
                        }
                        None => self.opaque("`hash` changes what a program's name means", span),
                    }
                }
            }
            [] => {}
            _ if args
                .iter()
                .all(|word| matches!(word.text(), Some("-r" | "-l" | "-t"))) => {}
            _ if args
                .iter()
                .any(|word| word.prefix().starts_with('-') || word.text().is_none()) =>
            {
                self.opaque("`hash` changes what a program's name means", span);
            }
            _ => {}
        }
    }

    fn change_folder(&self, args: &[Word], env: &mut Env) {
        let option = |word: &&Word| matches!(word.text(), Some("-L" | "-P" | "-e" | "-Pe" | "--"));
        let (options, operands): (Vec<&Word>, Vec<&Word>) = args.iter().partition(option);
        let physical = options.iter().any(|word| word.prefix().starts_with("-P"));
        match operands.as_slice() {
            [] => match env.value("HOME") {
                Value::Known(home) => self.go(home.text(), physical, env),
                _ => env.go(None),
            },
            [to] => match to.text() {
                Some("-") => match env.value("OLDPWD") {
                    Value::Known(old) => self.go(old.text(), physical, env),
                    _ => env.go(None),
                },
                Some("") => {}
                // With CDPATH, a plain name may lead anywhere.
                Some(text) if env.touched("CDPATH") && !text.starts_with(['/', '.']) => {
                    env.go(None)
                }
                text => self.go(text, physical, env),
            },
            _ => env.go(None),
        }
    }

    /// Moves as `cd` does: by names alone, or `physical`, where links lead: `cd -P link/..` is the folder above its target.
    pub(super) fn go(&self, to: Option<&str>, physical: bool, env: &mut Env) {
        match physical || env.physical {
            true => env.go_by(to, &|folder, to| {
                (self.scene.links)(&path::join(folder, to))
            }),
            false => env.go(to),
        }
    }

    fn leave_loop(&mut self, name: &str, args: &[Word], env: &mut Env) {
        let levels = match args {
            [] => Some(1),
            [word] => word.text().and_then(|text| text.parse::<usize>().ok()),
            _ => None,
        };
        let mut state = env.clone();
        state.settle();
        let count = levels.unwrap_or(self.rounds.len()).min(self.rounds.len());
        let mut rounds = std::mem::take(&mut self.rounds);
        let from = rounds.len() - count;
        for round in rounds.iter_mut().skip(from) {
            let slot = if name == "break" || count > 1 {
                &mut round.broke
            } else {
                &mut round.continued
            };
            *slot = Some(match slot.take() {
                Some(before) => self.merge(before, state.clone()),
                None => state.clone(),
            });
        }
        self.rounds = rounds;
        env.dead = true;
    }
}

fn set_options(args: &[Word], env: &mut Env) {
    let mut rest = args;
    while let [first, after @ ..] = rest {
        let Some(text) = first.text() else {
            env.positional = None;
            return;
        };
        rest = match text {
            "--" => return arguments(after, env),
            _ if text.starts_with(['-', '+']) && text.len() > 1 => {
                let named = text.contains('o');
                switches(text, after, env);
                after.get(usize::from(named)..).unwrap_or_default()
            }
            _ => return arguments(rest, env),
        };
    }
}

fn arguments(words: &[Word], env: &mut Env) {
    let whole = words.iter().all(|word| !word.splits);
    env.positional = whole.then(|| Rc::new(words.to_vec()));
}

/// The words of a shell's own options, before its script.
pub(super) fn own_options(found: &[Word]) -> &[Word] {
    let mut end = 1;
    let mut named = false;
    for text in found.iter().skip(1).map_while(Word::text) {
        let option = text.starts_with(['-', '+']);
        if !option && !named {
            break;
        }
        named = option && text.ends_with(['o', 'O']);
        end += 1;
    }
    found.get(1..end).unwrap_or_default()
}

/// What the options change that a shell is started with: `bash -O dotglob -k -c …`.
pub(super) fn started_with(found: &[Word], env: &mut Env) {
    let mut rest = found.get(1..).unwrap_or_default();
    while let [first, after @ ..] = rest {
        let Some(text) = first.text() else {
            env.wild = true;
            return;
        };
        let takes = match text {
            "--" | "-" => return,
            "--rcfile" | "--init-file" => 1,
            _ if text.starts_with("--") => 0,
            _ if text.starts_with(['-', '+']) => {
                // These say where the script comes from, and what it may do.
                let own = |c: char| matches!(c, 'c' | 's' | 'i' | 'l' | 'r' | 'p' | 'D' | 'n');
                switches(&text.replace(own, ""), after, env);
                text.matches(['o', 'O']).count()
            }
            _ => return,
        };
        rest = after.get(takes..).unwrap_or_default();
    }
}

/// The letters of a word of options, the names that they take in the words after it.
fn switches(text: &str, names: &[Word], env: &mut Env) {
    let on = text.starts_with('-');
    let mut names = names.iter();
    for letter in text.chars().skip(1) {
        match letter {
            'e' => env.errexit = on,
            'u' | 'x' | 'v' | 'C' | 'h' | 'b' | 'm' => {}
            'a' => env.lost = true,
            'P' => env.physical = on,
            // Every `NAME=value` among the words is then an assignment.
            'k' if on => env.set_some(),
            'o' => match names.next().and_then(Word::text) {
                Some("errexit") => env.errexit = on,
                Some("pipefail" | "nounset" | "xtrace" | "verbose" | "noclobber") => {}
                Some("allexport") => env.lost = true,
                Some("keyword") if on => env.set_some(),
                Some("physical") => env.physical = on,
                _ => (env.wild, env.physical) = (true, true),
            },
            'O' => env.wild |= !names.next().is_some_and(keeps_globs),
            _ => (env.wild, env.physical) = (true, true),
        }
    }
}

/// Whether every shell takes this for the same: `export A=b`.
fn is_plain(name: &str, args: &[Word]) -> bool {
    let plain = |word: &Word| {
        let letter = |c: char| c.is_alphanumeric() || "_=./:-,@%+".contains(c);
        word.text().is_some_and(|text| text.chars().all(letter))
    };
    matches!(name, "export" | "readonly" | "local") && args.iter().all(plain)
}

/// Options of `shopt` that change nothing about what a glob means.
fn keeps_globs(word: &Word) -> bool {
    matches!(
        word.text(),
        Some("expand_aliases" | "inherit_errexit" | "lastpipe" | "histappend")
    )
}

/// The letters of `read` and `mapfile` whose value is the next word.
const TAKES: &[char] = &['p', 't', 'n', 'N', 'd', 'u', 'i', 's', 'O', 'c', 'C'];

/// `exit 1 2` is refused, and the shell goes on.
fn quits(args: &[Word]) -> bool {
    match args {
        [] => true,
        [word] => !word.splits,
        _ => false,
    }
}

/// Whether `read` takes nothing but blanks for the ends of words: with `IFS=x` it cuts `.envx`.
fn parts_at_blanks(assignments: &[Assignment], env: &Env) -> bool {
    let blank = |word: &Word| word.text().is_some_and(|text| text.trim().is_empty());
    let mut own = assignments.iter().rev().filter(|own| own.name == "IFS");
    match (own.next(), env.value("IFS")) {
        (Some(own), _) => blank(&own.value),
        (None, Value::Known(word)) => blank(&word),
        (None, _) => !env.touched("IFS"),
    }
}

/// A name is set to what cannot be computed; a subscript makes no difference.
fn set_name(env: &mut Env, name: &str) {
    let bare = name.split('[').next().unwrap_or_default();
    if is_name(bare) {
        env.forget(bare);
    }
}

/// What follows the first `=` of a word.
fn after_equals(word: &Word) -> Word {
    let text = word.prefix();
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    effects::cut(word, (name.len() + 1).min(text.len()))
}

/// The only variable of a `read` that takes a whole line, or all up to a NUL: `read -r f`, `read -rd '' f`.
fn one_line(args: &[Word], nul: bool) -> Option<&str> {
    let mut until_nul = false;
    let mut texts = args.iter().map(Word::text);
    while let Some(text) = texts.next() {
        let text = text?;
        match text.strip_prefix('-') {
            Some("r") => {}
            Some("d" | "rd") if texts.next()? == Some("") => until_nul = true,
            Some(_) => return None,
            None => {
                return (is_name(text) && texts.next().is_none() && until_nul == nul)
                    .then_some(text);
            }
        }
    }
    None
}
