//! `docker:*` is another product's way to say "and whatever follows": here a colon is a character like any other.
//!
//! Script runners have tasks with a colon (`npm run test:*`); after their name it is left alone.

use super::Room;
use super::room::{Pattern, written};
use crate::call::path;
use crate::finding::{Finding, Severity};
use crate::policy::patterns::{CommandPattern, WordPattern, spell};
use crate::policy::rule::Verdict;

const CODE: &str = "colon-star-in-the-middle";

/// Programs whose tasks may have a colon in their name.
const RUNNERS: &[&str] = &[
    "bun", "deno", "grunt", "gulp", "invoke", "just", "make", "mix", "moon", "npm", "npx", "nx",
    "pnpm", "poe", "rake", "task", "turbo", "yarn", "gradle", "gradlew", "mvn", "composer", "artisan",
];

/// Looks at every word of every command pattern.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (rule, _) in room.command_rules() {
        for own in written(rule) {
            let word = own.patterns.iter().find_map(|pattern| match pattern {
                Pattern::Command(command) => colon_word(command),
                _ => None,
            });
            let Some(word) = word else { continue };
            let mut finding = room.lint(CODE, format!("`{}` asks for a word that holds a colon: `{word}` is no “and whatever follows” here", own.text), rule, &own)
            .label(format!("`{word}` matches no `{}`", word.trim_end_matches(":*")))
            .help(format!(
                "write `{}`: a command pattern is a prefix anyway",
                own.text.replace(":*", "")
            ));
            if rule.action == Verdict::Deny {
                finding.severity = Severity::Deny;
            }
            found.push(finding);
        }
    }
    found
}

fn colon_word(command: &CommandPattern) -> Option<String> {
    let mut words = command.words.iter().map(|word| match word {
        WordPattern::Word(glob) => spell(glob),
        WordPattern::Any => "**".to_owned(),
    });
    let program = words.next()?;
    let base = path::last(&program);
    if program.ends_with(":*") {
        return Some(program);
    }
    if RUNNERS.contains(&base) {
        return None;
    }
    words.find(|word| word.ends_with(":*") && word.len() > 2)
}
