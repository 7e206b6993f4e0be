//! A condition on an argument that the tools of its rule surely call something else: it never holds.
//!
//! Tools have arguments that no declaration names. Told is only what is near a declared one, or another agent's word for it.

use super::{Room, names};
use crate::finding::{Finding, Severity};
use crate::policy::near;
use crate::policy::rule::{Rule, Verdict};

const CODE: &str = "unknown-argument";

/// Looks at `args`.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for compiled in room.rules() {
        let rule = &compiled.rule;
        let Some(declared) = declared(room, rule) else {
            continue;
        };
        for condition in &rule.args {
            let Some(name) = condition.path.first() else { continue };
            if declared.contains(name) {
                continue;
            }
            let Some(meant) = meant(name, &declared) else { continue };
            let mut finding = Finding::lint(
                CODE,
                format!("the tools of this rule have no argument `{name}`: the condition never holds"),
                &rule.place.source,
                condition.span,
            )
            .label("an absent argument matches nothing")
            .help(format!("did you mean `{meant}`?"));
            if rule.action == Verdict::Deny {
                finding.severity = Severity::Deny;
            }
            found.push(finding);
        }
    }
    found
}

/// The arguments that the tools of a rule declare, the first part of each; none where a tool is not known.
fn declared(room: &Room<'_>, rule: &Rule) -> Option<Vec<String>> {
    if rule.tools.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    for glob in &rule.tools {
        let tool = room.matcher.declaration(glob.as_literal()?)?;
        out.extend(tool.arguments.iter().map(|argument| {
            let end = argument.path.find(['.', '[']).unwrap_or(argument.path.len());
            argument.path.get(..end).unwrap_or_default().to_owned()
        }));
    }
    Some(out)
}

/// The declared argument that was meant.
fn meant(name: &str, declared: &[String]) -> Option<String> {
    let all = || declared.iter().map(String::as_str);
    let other = names::argument(name).filter(|own| all().any(|declared| declared == *own));
    // Two short names are near by chance.
    let near = || near::nearest(name, all()).filter(|near| near.chars().count() > 3);
    other.or_else(near).map(str::to_owned)
}
