//! An allow that names an option by which a program that otherwise reads does more, and leaves open with what.
//!
//! In words: `sort -o` writes any file, `find -exec` starts any program. An allow that goes on (`find -exec grep`, or a
//! value, or `operands`) is left alone, as is a program that writes anyway.

use super::room::{Pattern, written};
use super::Room;
use crate::call::access::{Cover, Kind, Mode, Trigger};
use crate::call::shell;
use crate::finding::Finding;
use crate::language;
use crate::policy::patterns::{CommandPattern, WordPattern};
use crate::policy::rule::{Commands, Section, Verdict};

const CODE: &str = "escalation-allowed";

/// Looks at allow rules for commands.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // What no rule names is then decided by that, whatever a command allows.
    let writes_judged = room.matcher.rest(Section::Paths(Mode::Write)).next().is_some();
    for (rule, commands) in room.command_rules() {
        let narrowed = !rule.args.is_empty() || !rule.when.is_empty() || !rule.unless.is_empty();
        if rule.action != Verdict::Allow || writes_judged || narrowed || is_narrow(commands) {
            continue;
        }
        for own in written(rule) {
            let named = own.patterns.iter().find_map(|pattern| match pattern {
                Pattern::Command(command) => escalation(command),
                _ => None,
            });
            let Some((option, what)) = named else { continue };
            found.push(
                room.lint(CODE, format!("the allow of `{}` names `{option}`: {what}", own.text), rule, &own)
                .label("more than reading, and with whatever follows")
                .help(format!(
                    "leave `{option}` out, or go on to what it may be used with: its value, the program it starts, or `operands`, or state a `default` under `[paths.write]`"
                )),
            );
        }
    }
    found
}

fn is_narrow(own: &Commands) -> bool {
    own.exact || own.only_read || !own.operands.is_empty() || !own.with.is_empty()
}

/// The option that a pattern ends in and what it does, where the program without it only reads.
fn escalation(pattern: &CommandPattern) -> Option<(String, String)> {
    let star = |word: &WordPattern| match word {
        WordPattern::Word(glob) => glob.is_star(),
        WordPattern::Any => true,
    };
    let words: Vec<&WordPattern> = pattern.words.iter().collect();
    let end = words.iter().rposition(|word| !star(word))?;
    let WordPattern::Word(last) = words.get(end)? else {
        return None;
    };
    let option = last.as_literal().filter(|text| text.starts_with('-') && !text.contains('='))?;
    let bare = pattern.clone().shortened(end);
    let before = language::sample(&bare, |word| !star(word));
    let reads = effects(&before).is_some_and(|(reads, more)| reads && more.is_none());
    // What it does may only show with a value behind it.
    [format!("{before} {option}"), format!("{before} {option} x"), format!("{before} {option} x y")]
        .iter()
        .filter(|_| reads)
        .find_map(|line| Some((option.to_owned(), effects(line)?.1?)))
}

/// Whether the first command of a line only reads, and what it does that an allow has to name.
fn effects(line: &str) -> Option<(bool, Option<String>)> {
    let scene = shell::Scene {
        cwd: Some("/workspace".into()),
        home: Some("/home/user".into()),
        ..shell::Scene::default()
    };
    let accesses = shell::accesses(line, &scene);
    let reads = accesses.iter().find_map(|access| match &access.kind {
        Kind::Command(command) => Some(command.only_reads),
        _ => None,
    })?;
    let named = |cover: Cover| matches!(cover, Cover::Command { naming: Some(_), .. });
    let more = accesses.iter().find_map(|access| match &access.kind {
        Kind::Command(command) => command.escalations.iter().find_map(|own| match own.at {
            Trigger::Word(_) => Some(own.what.clone()),
            _ => None,
        }),
        Kind::Path(path) if named(path.cover) && path.mode == Mode::Write => {
            Some("it writes whatever file the path rules leave open".to_owned())
        }
        _ => None,
    });
    Some((reads, more))
}
