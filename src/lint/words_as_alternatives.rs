//! `match = ["git", "push"]` is two commands, not one of two words: a list in `match` holds alternatives.
//!
//! Told where an entry can be no program (`-rf`), or is a word that goes with the entry before it.

use super::Room;
use super::room::{Written, written};
use crate::finding::{Finding, Severity};
use crate::policy::rule::{Rule, Verdict};

const CODE: &str = "words-as-alternatives";

/// Programs and words that choose what they do and are no programs themselves.
const PAIRS: &[(&[&str], &[&str])] = &[
    (
        &["git", "gh", "glab", "hg", "jj"],
        &[
            "add", "branch", "checkout", "clean", "clone", "commit", "config", "fetch", "log", "merge",
            "pr", "pull", "push", "rebase", "reset", "show", "stash", "status", "switch", "tag",
        ],
    ),
    (
        &["npm", "pnpm", "yarn", "bun", "cargo", "pip", "uv", "poetry", "go", "gem", "mvn", "gradle"],
        &["add", "build", "check", "ci", "publish", "remove", "run", "uninstall", "update", "upgrade", "version"],
    ),
    (
        &["docker", "podman", "kubectl", "helm", "terraform", "tofu", "systemctl"],
        &[
            "apply", "build", "compose", "delete", "describe", "destroy", "disable", "enable", "exec",
            "get", "images", "logs", "plan", "push", "restart", "run", "start", "stop", "uninstall",
        ],
    ),
];

/// Looks at the texts of each rule, and of neighbouring entries of a list.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut before: Option<(&Rule, Written<'_>)> = None;
    for (rule, _) in room.command_rules() {
        for own in written(rule) {
            let previous = before.take().filter(|(other, _)| neighbours(other, rule));
            if let Some((other, first)) = &previous {
                if belongs(&first.text, &own.text) {
                    found.push(finding(room, rule, &own, Some((*other, first))));
                }
            } else if own.text.starts_with('-') {
                found.push(finding(room, rule, &own, None));
            }
            before = Some((rule, own));
        }
    }
    found
}

/// The same rule, or entries of one list, one after the other.
fn neighbours(one: &Rule, other: &Rule) -> bool {
    let list = |rule: &Rule| rule.address.split('[').next().map(str::to_owned);
    std::ptr::eq(one, other) || (list(one) == list(other) && !one.address.starts_with("rules["))
}

fn belongs(first: &str, second: &str) -> bool {
    let one_word = |text: &str| !text.contains(char::is_whitespace);
    second.starts_with('-')
        || (one_word(first)
            && one_word(second)
            && PAIRS
                .iter()
                .any(|(programs, words)| programs.contains(&first) && words.contains(&second)))
}

fn finding(
    room: &Room<'_>,
    rule: &Rule,
    own: &Written<'_>,
    first: Option<(&Rule, &Written<'_>)>,
) -> Finding {
    let source = &rule.place.source;
    let message = format!("`{}` is judged as a program of its own: entries of a list are alternatives", own.text);
    let mut finding = Finding::lint(CODE, message, source, room.spot_of(rule, own)).label("no program");
    if let Some((other, first)) = first {
        finding = finding
            .also(source, room.spot_of(other, first), format!("and all of `{}` is another", first.text))
            .help(format!("write one text for one command: `{} {}`", first.text, own.text));
    } else {
        finding = finding.help("write program and option in one text, such as `rm -r`");
    }
    if rule.action == Verdict::Deny {
        finding.severity = Severity::Deny;
    }
    finding
}
