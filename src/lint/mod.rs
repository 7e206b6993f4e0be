//! Policy + matcher → what probably does not say what its author means.
//!
//! One lint, one place: `⟨name⟩.rs` (one function), `⟨name⟩.md` beside it (the page, the text of `--explain`, and the
//! test), one line in the table below. What a rule takes of all calls `language/` says; `room.rs` is what a lint looks at,
//! `levels.rs` weighs findings and `suppressions.rs` reads `# acl: allow(code) reason`.

mod levels;
mod names;
mod room;
mod suppressions;

pub use levels::{Level, Levels};
pub use room::Room;

use crate::finding::{ERRORS, Finding, Severity};
use crate::matcher::Matcher;
use crate::policy::near;

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
    allow_covers_protected "allow-covers-protected" Warn,
    broad_allow "broad-allow" Warn,
    case_only_difference "case-only-difference" Warn,
    colon_star_in_the_middle "colon-star-in-the-middle" Warn,
    conflicting_rules "conflicting-rules" Warn,
    duplicate_rule "duplicate-rule" Warn,
    exact_deny_of_bare_name "exact-deny-of-bare-name" Warn,
    fail_open_source "fail-open-source" Warn,
    look_alike_characters "look-alike-characters" Warn,
    message_without_no_retry "message-without-no-retry" Warn,
    missing_bare_form "missing-bare-form" Warn,
    missing_reason "missing-reason" Allow,
    never_matches "never-matches" Warn,
    no_workspace "no-workspace" Warn,
    path_glob_in_command "path-glob-in-command" Warn,
    prefix_bleeds "prefix-bleeds" Warn,
    redundant_rule "redundant-rule" Warn,
    shadowed_rule "shadowed-rule" Warn,
    shell_keyword_as_program "shell-keyword-as-program" Warn,
    tool_name_as_command "tool-name-as-command" Warn,
    undeclared_tool "undeclared-tool" Warn,
    unknown_lint "unknown-lint" Warn,
    unknown_tool_allowed "unknown-tool-allowed" Warn,
    unknown_tool_name "unknown-tool-name" Warn,
    unproved_invariant "unproved-invariant" Warn,
    unreachable_allow "unreachable-allow" Warn,
    unused_fact "unused-fact" Warn,
    unused_group "unused-group" Warn,
    unused_suppression "unused-suppression" Warn,
    wide_host "wide-host" Warn,
    words_as_alternatives "words-as-alternatives" Warn,
}

/// Codes that may be set and suppressed although nothing here finds them: other commands do, or a later stage.
const ELSEWHERE: &[&str] = &[
    "allow-all-preset",
    "allow-list-over-allow-tier",
    "ask-in-non-interactive",
    "escalation-allowed",
    "layer-without-effect",
    "requirement-without-key",
    "spelling-bypass",
    "unknown-argument",
    "untested-rule",
    "unused-disable",
];

/// The page of a lint or an error by its code.
///
/// # Errors
/// What to say to a person, with the nearest code.
pub fn page(code: &str) -> Result<&'static str, String> {
    let lints = LINTS.iter().map(|lint| (lint.code, lint.page));
    let mut pages = lints.chain(ERRORS.iter().copied());
    if let Some((_, page)) = pages.clone().find(|(own, _)| *own == code) {
        return Ok(page);
    }
    let known = pages.by_ref().map(|(own, _)| own);
    Err(
        match (
            is_code(code),
            near::nearest(code, known.chain(ELSEWHERE.iter().copied())),
        ) {
            (true, _) => format!("`{code}` has no page yet"),
            (false, Some(near)) => format!("there is no code `{code}`; did you mean `{near}`?"),
            (false, None) => format!("there is no code `{code}`"),
        },
    )
}

/// Whether there is such a code.
pub fn is_code(code: &str) -> bool {
    LINTS.iter().any(|lint| lint.code == code) || ELSEWHERE.contains(&code)
}

/// The code that was meant.
pub fn nearest(code: &str) -> Option<&'static str> {
    let known = LINTS.iter().map(|lint| lint.code);
    near::nearest(code, known.chain(ELSEWHERE.iter().copied()))
}

/// Runs all lints over a policy without errors; the findings stand in the order of the files.
pub fn run(matcher: &Matcher, levels: &Levels) -> Vec<Finding> {
    let room = Room::new(matcher);
    let mut found = Vec::new();
    // Whether a suppression was of use is known only after all others ran.
    let (last, others): (Vec<&Lint>, Vec<&Lint>) = LINTS
        .iter()
        .partition(|lint| lint.code == "unused-suppression");
    for lint in others.into_iter().chain(last) {
        let level = |finding: &Finding| levels.of(lint, &room, finding);
        for mut finding in (lint.check)(&room) {
            if !room.is_own(&finding) || room.suppresses(&finding) {
                continue;
            }
            match level(&finding) {
                Level::Allow => continue,
                Level::Warn => finding.severity = Severity::Warn,
                Level::Deny => finding.severity = Severity::Deny,
            }
            found.push(finding);
        }
    }
    found.sort_by_key(|finding| {
        let label = finding.labels.first();
        label.map(|label| (room.order(&label.source), label.span.start))
    });
    found.dedup();
    found
}

#[cfg(test)]
mod tests;
