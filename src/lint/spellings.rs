//! Other ways to type the same command: what somebody tries whom a rule is in the way of.
//!
//! In: the words of a command, and its options as the table of programs reads them. Out: lines that do the same. One row
//! a spelling, with its example. What would change the meaning (an option that another does not stand for) gives no line.

use super::names::SHELLS;
use crate::call::access::{Command, Kind, Opt, Role};
use crate::call::programs::{self, Style};
use crate::call::shell;
use crate::language::quoted;
use std::collections::BTreeSet;

/// A command to be typed otherwise.
#[derive(Clone, Debug)]
pub struct Typed {
    /// Assignments before it, as typed.
    pub assignments: Vec<String>,
    /// Its words, program first.
    pub words: Vec<String>,
}

/// A row of the table.
pub struct Spelling {
    /// What it is called.
    pub name: &'static str,
    how: How,
    /// A command, and how it is typed this way.
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "the examples are the table's tests")
    )]
    example: (&'static str, &'static str),
}

enum How {
    /// The line stands in the place of `{}`.
    Around(&'static str),
    /// The line in single quotes stands in the place of `{}`.
    Quoted(&'static str),
    /// The program is typed so.
    Program(fn(&str) -> Option<String>),
    /// The options are typed so.
    Options(fn(&Options) -> Option<Vec<String>>),
}

use How::{Around, Options as InOptions, Program, Quoted};

const fn row(name: &'static str, how: How, from: &'static str, to: &'static str) -> Spelling {
    Spelling {
        name,
        how,
        example: (from, to),
    }
}

/// The table.
pub static SPELLINGS: &[Spelling] = &[
    row("options apart", InOptions(apart), "rm -rf x", "rm -r -f x"),
    row(
        "options in one word",
        InOptions(joined),
        "rm -r -f x",
        "rm -rf x",
    ),
    row(
        "options in another order",
        InOptions(reversed),
        "rm -rf x",
        "rm -f -r x",
    ),
    row(
        "long options",
        InOptions(long),
        "git push -f x",
        "git push --force x",
    ),
    row(
        "short options",
        InOptions(short),
        "git push --force x",
        "git push -f x",
    ),
    row(
        "a value and its option in one word",
        InOptions(attached),
        "curl -X POST x",
        "curl -XPOST x",
    ),
    row(
        "options at the end",
        InOptions(last),
        "rm -rf x",
        "rm x -rf",
    ),
    row(
        "the program's path",
        Program(path),
        "rm -rf x",
        "/usr/bin/rm -rf x",
    ),
    row("quotes", Program(in_quotes), "rm -rf x", "'rm' -rf x"),
    row(
        "quotes inside",
        Program(quotes_inside),
        "rm -rf x",
        "r''m -rf x",
    ),
    row("a backslash", Program(backslash), "rm -rf x", r"\rm -rf x"),
    row(
        "an assignment before it",
        Around("A=b {}"),
        "rm -rf x",
        "A=b rm -rf x",
    ),
    row(
        "command",
        Around("command {}"),
        "rm -rf x",
        "command rm -rf x",
    ),
    row("exec", Around("exec {}"), "rm -rf x", "exec rm -rf x"),
    row("env", Around("env {}"), "rm -rf x", "env rm -rf x"),
    row(
        "env with an assignment",
        Around("env A=b {}"),
        "rm -rf x",
        "env A=b rm -rf x",
    ),
    row("sudo", Around("sudo {}"), "rm -rf x", "sudo rm -rf x"),
    row(
        "nice",
        Around("nice -n 5 {}"),
        "rm -rf x",
        "nice -n 5 rm -rf x",
    ),
    row("nohup", Around("nohup {}"), "rm -rf x", "nohup rm -rf x"),
    row(
        "timeout",
        Around("timeout 5 {}"),
        "rm -rf x",
        "timeout 5 rm -rf x",
    ),
    row("time", Around("time {}"), "rm -rf x", "time rm -rf x"),
    row("setsid", Around("setsid {}"), "rm -rf x", "setsid rm -rf x"),
    row(
        "xargs",
        Around("echo x | xargs {}"),
        "rm -rf x",
        "echo x | xargs rm -rf x",
    ),
    row(
        "find -exec",
        Around(r"find . -exec {} \;"),
        "rm -rf x",
        r"find . -exec rm -rf x \;",
    ),
    row(
        "bash -c",
        Quoted("bash -c {}"),
        "rm -rf x",
        "bash -c 'rm -rf x'",
    ),
    row("sh -c", Quoted("sh -c {}"), "rm -rf x", "sh -c 'rm -rf x'"),
    row("eval", Quoted("eval {}"), "rm -rf x", "eval 'rm -rf x'"),
    row("a subshell", Around("({})"), "rm -rf x", "(rm -rf x)"),
    row("$(…)", Around("echo $({})"), "rm -rf x", "echo $(rm -rf x)"),
    row(
        "backquotes",
        Around("echo `{}`"),
        "rm -rf x",
        "echo `rm -rf x`",
    ),
    row(
        "a list",
        Around("true && {}"),
        "rm -rf x",
        "true && rm -rf x",
    ),
    row("a pipe", Around("{} | cat"), "rm -rf x", "rm -rf x | cat"),
    row("the background", Around("{} &"), "rm -rf x", "rm -rf x &"),
    row(
        "a condition",
        Around("if {}; then true; fi"),
        "rm -rf x",
        "if rm -rf x; then true; fi",
    ),
    row(
        "a loop",
        Around("for i in 1; do {}; done"),
        "rm -rf x",
        "for i in 1; do rm -rf x; done",
    ),
];

impl Typed {
    /// As a line.
    pub fn line(&self) -> String {
        let words = self.words.iter().map(|word| quoted(word));
        let all = self.assignments.iter().cloned().chain(words);
        all.collect::<Vec<_>>().join(" ")
    }

    fn with(&self, words: Vec<String>) -> Self {
        Self {
            assignments: self.assignments.clone(),
            words,
        }
    }
}

/// The line in every spelling that there is for it, by the name of the spelling.
pub fn all(typed: &Typed) -> Vec<(&'static str, String)> {
    let line = typed.line();
    let options = Options::of(typed);
    let mut out: Vec<(&'static str, String)> = Vec::new();
    for spelling in SPELLINGS {
        let spelled = match spelling.how {
            // Assignments are words of a launcher, not of the shell.
            Around(frame) if typed.assignments.is_empty() => Some(frame.replace("{}", &line)),
            Around(_) => None,
            Quoted(frame) => {
                let script = format!("'{}'", line.replace('\'', r"'\''"));
                Some(frame.replace("{}", &script))
            }
            Program(how) => program(typed, how),
            InOptions(how) => options.as_ref().and_then(|options| {
                let other = typed.with(how(options)?);
                (read(&other)?.1 == options.means).then(|| other.line())
            }),
        };
        let new = spelled
            .filter(|spelled| *spelled != line && out.iter().all(|(_, known)| known != spelled));
        out.extend(new.map(|spelled| (spelling.name, spelled)));
    }
    out
}

fn program(typed: &Typed, how: fn(&str) -> Option<String>) -> Option<String> {
    let (program, rest) = typed.words.split_first()?;
    let words = std::iter::once(how(program)?).chain(rest.iter().map(|word| quoted(word)));
    let all = typed.assignments.iter().cloned().chain(words);
    Some(all.collect::<Vec<_>>().join(" "))
}

// --- the program

fn bare(program: &str) -> Option<&str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (program.len() > 1 && program.chars().all(plain)).then_some(program)
}

fn path(program: &str) -> Option<String> {
    // A builtin has no path.
    bare(program)
        .filter(|program| !BUILTINS.contains(program))
        .map(|program| format!("/usr/bin/{program}"))
}

/// What only the shell itself can run.
const BUILTINS: &[&str] = &[
    "cd", "eval", "exec", "export", "set", "source", "trap", "ulimit", "umask", "unset",
];

fn in_quotes(program: &str) -> Option<String> {
    bare(program).map(|program| format!("'{program}'"))
}

fn quotes_inside(program: &str) -> Option<String> {
    let (first, rest) = bare(program)?.split_at_checked(1)?;
    Some(format!("{first}''{rest}"))
}

fn backslash(program: &str) -> Option<String> {
    bare(program).map(|program| format!(r"\{program}"))
}

// --- the options

/// The words of a command without its options, and these, clusters taken apart, as `with` takes them; none where the
/// table does not know the program.
pub fn parted(typed: &Typed) -> Option<(Vec<String>, Vec<String>)> {
    let options = Options::of(typed)?;
    let named = |own: &Opt| {
        // `with` compares a value where it stands behind `=`.
        let value = own.value.as_ref().and_then(|value| value.text());
        let long = own.names.iter().find(|name| name.starts_with("--"));
        match (long, value) {
            (Some(long), Some(value)) => Some(format!("{long}={value}")),
            _ => typed_name(own),
        }
    };
    let names = options.options.iter().filter_map(named).collect();
    Some((options.others().0, names))
}

/// The options of a command whose program the table knows.
struct Options {
    words: Vec<String>,
    options: Vec<Opt>,
    /// All spellings of each: what the words mean, however they are typed.
    means: BTreeSet<Vec<String>>,
    /// They may stand behind operands.
    mixes: bool,
    /// Some have a value.
    valued: bool,
}

/// A command as the table reads it, and what its options mean, however they are typed: all spellings of each, and its value.
fn read(typed: &Typed) -> Option<(Command, BTreeSet<Vec<String>>)> {
    let command =
        command(&typed.line()).filter(|own| own.known && own.words.len() == typed.words.len())?;
    let means = command.options.iter().map(|own| {
        let mut names: Vec<String> = own.names.iter().map(|name| name.to_string()).collect();
        names.sort();
        names.dedup();
        let value = own.value.as_ref().and_then(|value| value.text());
        names.extend(value.map(str::to_owned));
        names
    });
    let means = means.collect();
    Some((command, means))
}

impl Options {
    fn of(typed: &Typed) -> Option<Self> {
        let program = typed.words.first()?;
        // Shells share an entry, and not all their options.
        if SHELLS.contains(&program.as_str()) {
            return None;
        }
        let (command, means) = read(typed)?;
        // A value is read in a word of its own, so that it can be moved.
        let apart = |own: &Opt| match &own.value {
            None => true,
            Some(value) => {
                let typed = |at: usize| typed.words.get(at).map(String::as_str);
                typed(own.at) == own.names.first().map(|name| &**name)
                    && typed(own.at + 1) == value.text()
            }
        };
        // What stands before a subcommand is read by rules of its own.
        let global = |own: &Opt| command.roles.get(own.at) == Some(&Role::Skipped);
        let plain = |own: &Opt| own.sure && !own.open && !own.undone && !global(own) && apart(own);
        let any = !command.options.is_empty() && command.options.iter().all(plain);
        let valued = command.options.iter().any(|own| own.value.is_some());
        any.then(|| Self {
            mixes: programs::find(program)
                .is_some_and(|own| own.entry.as_entry().style == Style::Gnu),
            words: typed.words.clone(),
            means,
            options: command.options,
            valued,
        })
    }

    /// Whether a word is an option or the value of one.
    fn held(&self, at: usize) -> bool {
        let mut options = self.options.iter();
        options.any(|own| own.at == at || (own.value.is_some() && own.at + 1 == at))
    }

    /// The words, each that holds options replaced by what is made of these.
    fn each(&self, how: impl Fn(&[&Opt]) -> Option<Vec<String>>) -> Option<Vec<String>> {
        let mut out = Vec::new();
        for (at, word) in self.words.iter().enumerate() {
            let own: Vec<&Opt> = self.options.iter().filter(|own| own.at == at).collect();
            match own.is_empty() {
                true => out.push(word.clone()),
                false => out.extend(how(&own)?),
            }
        }
        Some(out)
    }

    /// The words without options, and where the first option stood.
    fn others(&self) -> (Vec<String>, usize) {
        let others = self
            .words
            .iter()
            .enumerate()
            .filter(|(at, _)| !self.held(*at));
        let first = self
            .options
            .iter()
            .map(|own| own.at)
            .min()
            .unwrap_or_default();
        (others.map(|(_, word)| word.clone()).collect(), first)
    }
}

fn typed_name(own: &Opt) -> Option<String> {
    own.names.first().map(|name| name.to_string())
}

fn letter(own: &Opt) -> Option<String> {
    let name = typed_name(own)?;
    is_letter(&name).then_some(name)
}

fn apart(options: &Options) -> Option<Vec<String>> {
    options.each(|own| own.iter().map(|own| typed_name(own)).collect())
}

fn joined(options: &Options) -> Option<Vec<String>> {
    if options.valued {
        return None;
    }
    let letters: Option<Vec<String>> = options.options.iter().map(letter).collect();
    let letters: String = letters?.iter().filter_map(|name| name.get(1..)).collect();
    let (mut words, first) = options.others();
    words.insert(first.min(words.len()), format!("-{letters}"));
    Some(words)
}

fn reversed(options: &Options) -> Option<Vec<String>> {
    if options.valued {
        return None;
    }
    let names: Option<Vec<String>> = options.options.iter().rev().map(typed_name).collect();
    let (mut words, first) = options.others();
    let first = first.min(words.len());
    words.splice(first..first, names?);
    Some(words)
}

fn named(options: &Options, wanted: fn(&str) -> bool) -> Option<Vec<String>> {
    let other = |own: &&Opt| {
        // Two letters may be two strengths of one thing (`git branch -d`, `-D`).
        let mut names = own
            .names
            .iter()
            .map(|name| &**name)
            .collect::<BTreeSet<&str>>();
        names.retain(|name| is_letter(name));
        let other = own
            .names
            .iter()
            .find(|name| wanted(name) && names.len() == 1)
            .or(own.names.first());
        other.map(|name| name.to_string())
    };
    options.each(|own| own.iter().map(other).collect())
}

fn long(options: &Options) -> Option<Vec<String>> {
    named(options, |name| name.starts_with("--"))
}

fn short(options: &Options) -> Option<Vec<String>> {
    named(options, is_letter)
}

fn is_letter(name: &str) -> bool {
    name.len() == 2 && name.starts_with('-')
}

/// Behind everything else, an operand among it.
fn last(options: &Options) -> Option<Vec<String>> {
    // `kill -9 x` is not `kill x -9`.
    let number = |own: &Opt| {
        own.names
            .iter()
            .any(|name| name.contains(|c: char| c.is_ascii_digit()))
    };
    if !options.mixes || options.options.iter().any(number) {
        return None;
    }
    let (mut words, first) = options.others();
    if first >= words.len() {
        words.push("x".to_owned());
    }
    let own = options.words.iter().enumerate();
    let held = own.filter(|(at, _)| options.held(*at));
    words.extend(held.map(|(_, word)| word.clone()));
    Some(words)
}

/// Each value in the word of its option.
fn attached(options: &Options) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut words = options.words.iter().enumerate();
    while let Some((at, word)) = words.next() {
        let mut own = options.options.iter().filter(|own| own.at == at);
        let between = if is_letter(word) { "" } else { "=" };
        match own
            .find(|own| own.value.is_some())
            .and(words.clone().next())
        {
            Some((_, value)) => {
                out.push(format!("{word}{between}{value}"));
                words.next();
            }
            None => out.push(word.clone()),
        }
    }
    options.valued.then_some(out)
}

/// The first command of a line.
fn command(line: &str) -> Option<Command> {
    let scene = shell::Scene {
        cwd: Some("/workspace".into()),
        home: Some("/home/user".into()),
        ..shell::Scene::default()
    };
    shell::accesses(line, &scene)
        .into_iter()
        .find_map(|access| match access.kind {
            Kind::Command(command) => Some(*command),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples() {
        for row in SPELLINGS {
            let (from, to) = row.example;
            let typed = Typed {
                assignments: Vec::new(),
                words: from.split(' ').map(str::to_owned).collect(),
            };
            let made = all(&typed);
            assert!(
                made.contains(&(row.name, to.to_owned())),
                "{}: {made:#?}",
                row.name
            );
        }
    }
}
