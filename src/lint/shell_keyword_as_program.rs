//! `if`, `for`, `then`: words of the shell, not programs. What stands between them is judged command by command.

use super::Room;
use super::room::{Pattern, written};
use crate::finding::{Finding, Severity};
use crate::policy::rule::Verdict;

const CODE: &str = "shell-keyword-as-program";

/// The shell's own words.
const KEYWORDS: &[&str] = &[
    "!", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select",
    "then", "until", "while", "{", "}",
];

/// Looks at the program of every command pattern.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (rule, _) in room.command_rules() {
        for own in written(rule) {
            let keyword = own.patterns.iter().find_map(|pattern| match pattern {
                Pattern::Command(command) => {
                    command.words.first()?.literal().filter(|name| KEYWORDS.contains(name))
                }
                _ => None,
            });
            let Some(keyword) = keyword else { continue };
            let mut finding = room.lint(CODE, format!("`{keyword}` is a word of the shell, not a program: nothing is called so"), rule, &own)
            .label("matches no command")
            .help("write the commands that stand inside it: each is judged by itself");
            if rule.action == Verdict::Deny {
                finding.severity = Severity::Deny;
            }
            found.push(finding);
        }
    }
    found
}
