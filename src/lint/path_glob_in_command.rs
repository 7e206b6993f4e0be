//! A path pattern among the words of a command says little about where it goes: `rm scratch/*` also takes
//! `rm scratch/a src`, and a deny of `rm /etc/*` is left by `rm x /etc/passwd`. `operands` looks at all of them.

use super::Room;
use super::room::{Pattern, written};
use crate::finding::Finding;
use crate::policy::glob::{Glob};
use crate::policy::patterns::{self, CommandPattern, WordPattern};
use crate::policy::rule::Verdict;

const CODE: &str = "path-glob-in-command";

/// Looks at the words after the program.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (rule, commands) in room.command_rules() {
        if commands.exact || !commands.operands.is_empty() {
            continue;
        }
        for own in written(rule) {
            let word = own.patterns.iter().find_map(|pattern| match pattern {
                Pattern::Command(command) => path_word(command, rule.action),
                _ => None,
            });
            let Some((program, word)) = word else { continue };
            let message = match rule.action {
                Verdict::Allow => format!(
                    "`{}` compares one word only: `{program} {} anything/else` is allowed too",
                    own.text,
                    word.replace('*', "a")
                ),
                verdict => format!(
                    "`{}` compares one word only: `{program} other {}` is left by this {verdict}",
                    own.text,
                    word.replace('*', "a")
                ),
            };
            found.push(
                room.lint(CODE, message, rule, &own)
                    .label("a path among the words of a command")
                    .help(format!(
                        "write `{{ match = \"{program}\", operands = [\"{word}\"] }}`, which looks at every operand"
                    )),
            );
        }
    }
    found
}

/// The words up to the first that looks like a path with a wildcard, and that one.
fn path_word(command: &CommandPattern, action: Verdict) -> Option<(String, String)> {
    let mut before = Vec::new();
    for (at, word) in command.words.iter().enumerate() {
        match word {
            // After `**` it is looked for everywhere, which is what a deny wants.
            WordPattern::Any if action != Verdict::Allow => return None,
            WordPattern::Any => before.push("**".to_owned()),
            WordPattern::Word(glob) => {
                let text = patterns::spell(glob);
                if at > 0 && is_path(glob, &text) {
                    return Some((before.join(" "), text));
                }
                before.push(text);
            }
        }
    }
    None
}

fn is_path(glob: &Glob, text: &str) -> bool {
    glob.as_literal().is_none() && text.contains('/') && !text.starts_with('-') && !text.contains("://") && !text.contains('=')
}
