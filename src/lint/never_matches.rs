//! A pattern that no call ever meets: a path that is never spelled so, a tool that takes no such thing.
//!
//! Graver in a deny: what it should keep closed is open.

use super::Room;
use super::room::{Pattern, written};
use crate::finding::{Finding, Severity};
use crate::policy::patterns::{self, PathPattern, WordPattern};
use crate::call::tools::Holds;
use crate::policy::rule::{Judges, Paths, Rule, Verdict};
use crate::call::access::Mode;

const CODE: &str = "never-matches";

/// Looks at paths of rules and protected files, at tool names, and at rules for the wrong tools.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for compiled in room.rules() {
        let rule = &compiled.rule;
        let grave = rule.action == Verdict::Deny;
        for own in written(rule) {
            let faults: Option<Vec<Fault>> = own
                .patterns
                .iter()
                .map(|pattern| match pattern {
                    Pattern::Path(path) => path_fault(path),
                    Pattern::Command(command) => match command.words.first() {
                        Some(WordPattern::Word(glob)) => program_fault(&patterns::spell(glob)),
                        _ => None,
                    },
                    _ => None,
                })
                .collect();
            if let Some(fault) = faults.and_then(|faults| faults.into_iter().next()) {
                let span = room.spot_of(rule, &own);
                found.push(told(&own.text, fault, &rule.place.source, span, grave));
            }
        }
        found.extend(excepts(room, rule));
        found.extend(wrong_tools(room, rule));
    }
    found.extend(nothing_left(room));
    for set in &room.matcher.protected {
        for path in set.paths.patterns.iter().chain(&set.paths.except) {
            if let Some(fault) = path_fault(path) {
                let source = &set.place.source;
                let span = room.spot_of_file(set, &path.text);
                found.push(told(&path.text, fault, source, span, true));
            }
        }
    }
    for (glob, verdict, source, span) in room.tool_patterns() {
        let text = patterns::spell(&glob);
        if is_no_name(&text) {
            let fault = Fault {
                why: "no tool has such a name".into(),
                help: match text.contains(',') {
                    true => "write one entry for each tool".into(),
                    false => format!("write `{}`", text.trim()),
                },
            };
            found.push(told(&text, fault, &source, span, verdict == Verdict::Deny));
        }
    }
    found
}

/// Entries that carve out, or ask for, all that they could take.
fn nothing_left(room: &Room<'_>) -> Vec<Finding> {
    let rules = room.languages();
    let carves = |rule: &Rule| match &rule.judges {
        Judges::Commands(own) => {
            !own.except.is_empty() || !own.without.is_empty() || (own.exact && !own.with.is_empty())
        }
        Judges::Paths(own) => !own.except.is_empty(),
        Judges::Hosts(own) => !own.except.is_empty(),
        _ => false,
    };
    let entries = rules.entries().iter().enumerate();
    let entries = entries.filter(|(_, entry)| carves(&entry.compiled.rule));
    let entries = entries.filter(|(_, entry)| room.tells(&entry.compiled.rule.place.source));
    let empty = entries.filter(|(at, _)| rules.is_empty(*at));
    empty
        .map(|(_, entry)| {
            let fault = Fault {
                why: "its own conditions leave nothing of it".into(),
                help: "narrow its `except` or `without`, or drop it".into(),
            };
            let place = room.place(entry);
            let grave = entry.action() == Verdict::Deny;
            let mut finding = told(&entry.written.text, fault, &place.source, place.span, grave);
            // What denies or asks also meets words that cannot be computed, which nothing surely carves out.
            if entry.action() != Verdict::Allow {
                finding.message = finding.message.replace("never matches", "surely matches nothing");
            }
            finding
        })
        .collect()
}

fn excepts(room: &Room<'_>, rule: &Rule) -> Vec<Finding> {
    let Judges::Paths(own) = &rule.judges else {
        return Vec::new();
    };
    let faults = own.except.iter().filter_map(|path| Some((path, path_fault(path)?)));
    faults
        .map(|(path, fault)| {
            let span = room.spot(rule, &path.text);
            told(&path.text, fault, &rule.place.source, span, false)
        })
        .collect()
}

struct Fault {
    why: String,
    help: String,
}

fn told(
    text: &str,
    fault: Fault,
    source: &std::sync::Arc<crate::source::Source>,
    span: crate::source::Span,
    grave: bool,
) -> Finding {
    let message = format!("`{text}` never matches: {}", fault.why);
    let mut finding = Finding::lint(CODE, message, source, span)
        .label("matches nothing")
        .help(fault.help);
    if grave {
        finding.severity = Severity::Deny;
    }
    finding
}

/// Why no path is ever spelled so.
fn path_fault(path: &PathPattern) -> Option<Fault> {
    let text: &str = &path.text;
    let fault = |why: &str, help: String| {
        Some(Fault {
            why: why.into(),
            help,
        })
    };
    let literal = WordPattern::literal;
    let words: Vec<Option<&str>> = path.components.iter().map(literal).collect();
    let has = |part: &str| words.contains(&Some(part));
    if let Some(rest) = text.strip_prefix("//") {
        let drive = rest.split_once('/').filter(|(name, _)| name.len() == 1);
        return match drive {
            Some((drive, rest)) => fault(
                "`//` with a drive letter is another system's spelling, and a path here has no empty part",
                match rest.starts_with("mnt/") {
                    true => format!("write `/{rest}`"),
                    false => format!("write `/mnt/{drive}/{rest}`, if that is where the drive is"),
                },
            ),
            None => fault(
                "a path has one slash in front, not two",
                format!("write `/{}`", rest.trim_start_matches('/')),
            ),
        };
    }
    if let Some(plain) = unescaped(text) {
        return fault(
            "a backslash escapes the character after it",
            format!("write `{plain}`: parts of a path are separated by `/`"),
        );
    }
    if has("") {
        return fault(
            "it has an empty part, and paths are compared without",
            format!("write `{}`", single_slashes(text)),
        );
    }
    if has("..") {
        return fault(
            "paths are compared after `..` is taken out",
            "write where it leads: an absolute path, or one from a root under `[workspace]`".into(),
        );
    }
    if has(".") {
        return fault(
            "paths are compared after `.` is taken out",
            match text.trim_end_matches('/') {
                "." => "write `**` for everything in the workspace".into(),
                _ => format!("write `{}`", text.replace("/./", "/")),
            },
        );
    }
    let first = words.first().and_then(Option::as_deref).unwrap_or_default();
    let mut letters = first.chars();
    if let (Some(drive), Some(':')) = (letters.next(), letters.next())
        && drive.is_ascii_alphabetic() && (first.len() == 2 || !text.contains('/')) {
            return fault(
                "a path here has no drive letter",
                format!("write it as it is mounted, such as `/mnt/{}/…`", drive.to_ascii_lowercase()),
            );
        }
    if first.starts_with('$') || first.starts_with('%') {
        return fault(
            "variables are not looked up in a pattern",
            "write `~/…` for the home folder, or the path itself".into(),
        );
    }
    let ends = |word: &&str| word.trim() != *word;
    if let Some(part) = words.iter().flatten().copied().find(ends) {
        return fault(
            "it asks for a name with a blank at its end",
            format!("write `{}`", text.replace(part, part.trim())),
        );
    }
    if text.trim() != text {
        return fault("it asks for a name with a blank at its end", format!("write `{}`", text.trim()));
    }
    None
}

/// The path with slashes, where it has backslashes that escape nothing that needs it.
fn unescaped(text: &str) -> Option<String> {
    let mut chars = text.chars().peekable();
    let mut plain = String::new();
    let mut found = false;
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(next)) if next.is_alphanumeric() || *next == '_' => {
                found = true;
                plain.push('/');
            }
            ('\\', Some('*')) if text.contains(r"\**") => {
                found = true;
                plain.push('/');
            }
            ('\\', Some(_)) => {
                plain.push(c);
                plain.extend(chars.next());
            }
            (c, _) => plain.push(c),
        }
    }
    found.then_some(plain)
}

fn single_slashes(text: &str) -> String {
    let mut out = text.to_owned();
    while out.contains("//") {
        out = out.replace("//", "/");
    }
    out
}

/// Why no program is ever called so.
fn program_fault(program: &str) -> Option<Fault> {
    if program.is_empty() {
        return Some(Fault {
            why: "a program has a name".into(),
            help: "write the program, or `*` for any".into(),
        });
    }
    if !program.contains('/') || program.contains("**") {
        return None;
    }
    let read = patterns::paths(program).ok()?;
    path_fault(read.first()?)
}

/// A rule about commands, paths or hosts only through tools that take none.
fn wrong_tools(room: &Room<'_>, rule: &Rule) -> Option<Finding> {
    let (does, what): (&[Holds], &str) = match &rule.judges {
        Judges::Commands(_) => (&[Holds::Shell, Holds::Argv], "runs a command"),
        Judges::Paths(paths) => (path_holds(paths), "takes such a path"),
        Judges::Hosts(_) => (&[Holds::Url, Holds::Shell, Holds::Argv], "contacts a host"),
        _ => return None,
    };
    let names: Option<Vec<&str>> = rule.tools.iter().map(|tool| tool.as_literal()).collect();
    let names = names.filter(|names| !names.is_empty())?;
    let idle = names.iter().all(|name| {
        room.matcher.declaration(name).is_some_and(|declared| {
            let mut arguments = declared.arguments.iter();
            !arguments.any(|argument| does.contains(&argument.holds))
        })
    });
    idle.then(|| {
        let named = names.join("`, `");
        let fault = Fault {
            why: format!("nothing that `{named}` does {what}"),
            help: "name a tool that does, or declare the tool's argument under `[tools]`".into(),
        };
        let text = rule.id.as_deref().unwrap_or(&rule.address);
        let grave = rule.action == Verdict::Deny;
        told(text, fault, &rule.place.source, rule.place.span, grave)
    })
}

fn path_holds(paths: &Paths) -> &'static [Holds] {
    match paths.modes.as_slice() {
        // Whatever writes a file may read it too.
        [Mode::Write] => &[Holds::Write, Holds::Patch, Holds::Shell, Holds::Argv],
        _ => &[Holds::Read, Holds::Write, Holds::Patch, Holds::Shell, Holds::Argv],
    }
}

/// Whether no tool can have such a name.
pub fn is_no_name(name: &str) -> bool {
    name.trim() != name || name.contains(',')
}
