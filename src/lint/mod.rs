//! Policy + matcher → what probably does not say what its author means.
//!
//! One lint, one place: `⟨name⟩.rs` (one function), `⟨name⟩.md` beside it (the page, the text of `--explain`, and the
//! test), one line in the table below. What a rule takes of all calls `language/` says; `room.rs` is what a lint looks at,
//! `spellings.rs` types a command otherwise, `levels.rs` weighs findings and `suppressions.rs` reads `# acl: allow(code) reason`.

mod levels;
mod names;
mod room;
mod spellings;
mod suppressions;

pub use levels::{Level, Levels};
pub use room::Room;

use crate::finding::{ERRORS, Finding, Severity};
use crate::matcher::Matcher;
use crate::policy::near;
use std::collections::BTreeSet;

/// A lint: its code, how much it weighs where nobody says, what it finds, its page.
#[derive(Debug)]
pub struct Lint {
    /// A kebab-case name that reads as "allow ⟨name⟩": stable.
    pub code: &'static str,
    /// Where neither the policy nor the command line says.
    pub level: Level,
    /// Its page, in Markdown.
    pub page: &'static str,
    check: fn(&Room<'_>) -> Vec<Finding>,
}

macro_rules! lints {
    ($($name:ident $code:literal $level:ident,)*) => {
        $(mod $name;)*

        /// All lints, by the alphabet.
        pub static LINTS: &[Lint] = &[$(Lint {
            code: $code,
            level: Level::$level,
            page: include_str!(concat!(stringify!($name), ".md")),
            check: $name::check,
        },)*];
    };
}

lints! {
    allow_all_preset "allow-all-preset" Warn,
    allow_covers_protected "allow-covers-protected" Warn,
    allow_list_over_allow_tier "allow-list-over-allow-tier" Warn,
    ask_in_non_interactive "ask-in-non-interactive" Warn,
    broad_allow "broad-allow" Warn,
    case_only_difference "case-only-difference" Warn,
    colon_star_in_the_middle "colon-star-in-the-middle" Warn,
    conflicting_rules "conflicting-rules" Warn,
    duplicate_rule "duplicate-rule" Warn,
    escalation_allowed "escalation-allowed" Warn,
    exact_deny_of_bare_name "exact-deny-of-bare-name" Warn,
    fail_open_source "fail-open-source" Warn,
    layer_without_effect "layer-without-effect" Warn,
    look_alike_characters "look-alike-characters" Warn,
    message_without_no_retry "message-without-no-retry" Warn,
    missing_bare_form "missing-bare-form" Warn,
    missing_reason "missing-reason" Allow,
    never_matches "never-matches" Warn,
    no_workspace "no-workspace" Warn,
    path_glob_in_command "path-glob-in-command" Warn,
    prefix_bleeds "prefix-bleeds" Warn,
    redundant_rule "redundant-rule" Warn,
    requirement_without_key "requirement-without-key" Allow,
    shadowed_rule "shadowed-rule" Warn,
    shell_keyword_as_program "shell-keyword-as-program" Warn,
    spelling_bypass "spelling-bypass" Warn,
    tool_name_as_command "tool-name-as-command" Warn,
    undeclared_tool "undeclared-tool" Warn,
    unknown_argument "unknown-argument" Warn,
    unknown_lint "unknown-lint" Warn,
    unknown_tool_allowed "unknown-tool-allowed" Warn,
    unknown_tool_name "unknown-tool-name" Warn,
    unproved_invariant "unproved-invariant" Warn,
    unreachable_allow "unreachable-allow" Warn,
    untested_rule "untested-rule" Allow,
    unused_disable "unused-disable" Warn,
    unused_fact "unused-fact" Warn,
    unused_group "unused-group" Warn,
    unused_suppression "unused-suppression" Warn,
    wide_host "wide-host" Warn,
    words_as_alternatives "words-as-alternatives" Warn,
}

/// The page of a lint or an error by its code.
///
/// # Errors
/// What to say to a person, with the nearest code.
pub fn page(code: &str) -> Result<&'static str, String> {
    let lints = LINTS.iter().map(|lint| (lint.code, lint.page));
    let pages = lints.chain(ERRORS.iter().copied());
    if let Some((_, page)) = pages.clone().find(|(own, _)| *own == code) {
        return Ok(page);
    }
    Err(match near::nearest(code, pages.map(|(own, _)| own)) {
        Some(near) => format!("there is no code `{code}`; did you mean `{near}`?"),
        None => format!("there is no code `{code}`"),
    })
}

/// Whether there is such a code.
pub fn is_code(code: &str) -> bool {
    LINTS.iter().any(|lint| lint.code == code)
}

/// The code that was meant.
pub fn nearest(code: &str) -> Option<&'static str> {
    let known = LINTS.iter().map(|lint| lint.code);
    near::nearest(code, known)
}

/// What the lints found.
#[derive(Debug, Default)]
pub struct Found {
    /// What is told, in the order of the files.
    pub told: Vec<Finding>,
    /// What a comment keeps back, with the reason it gives.
    pub kept: Vec<(Finding, String)>,
}

impl Found {
    /// Findings, none of them kept back.
    pub const fn of(told: Vec<Finding>) -> Self {
        Self {
            told,
            kept: Vec::new(),
        }
    }

    /// Adds what was found elsewhere.
    pub fn join(&mut self, other: Self) {
        self.told.extend(other.told);
        self.kept.extend(other.kept);
    }
}

/// Runs all lints over a policy without errors. `decided`: the keys of the rules that cases are known to decide by.
pub fn run(matcher: &Matcher, levels: &Levels, decided: &BTreeSet<String>) -> Found {
    let room = Room::new(matcher, decided);
    let mut found = Found::default();
    // Whether a suppression was of use is known only after all others ran.
    let (last, others): (Vec<&Lint>, Vec<&Lint>) = LINTS
        .iter()
        .partition(|lint| lint.code == "unused-suppression");
    for lint in others.into_iter().chain(last) {
        for mut finding in (lint.check)(&room) {
            let kept = room.suppresses(&finding);
            if !room.is_own(&finding) {
                continue;
            }
            finding.severity = match levels.of(lint, &room, &finding) {
                Level::Allow => continue,
                Level::Warn => Severity::Warn,
                Level::Deny => Severity::Deny,
            };
            match kept {
                Some(reason) => found.kept.push((finding, reason)),
                None => found.told.push(finding),
            }
        }
    }
    let place = |finding: &Finding| {
        let label = finding.labels.first();
        label.map(|label| (room.order(&label.source), label.span.start))
    };
    found.told.sort_by_key(place);
    found.told.dedup();
    found.kept.sort_by_key(|(finding, _)| place(finding));
    found
}

#[cfg(test)]
mod tests;
