//! `first-match`: an earlier, wider rule decides all that a later one is about.
//!
//! Graver where the later rule denies and the earlier one does not: that deny is not there.

use super::Room;
use super::inside;
use super::room::{Pattern, Written, written};
use crate::finding::{Finding, Severity};
use crate::matcher::Compiled;
use crate::policy::glob::Glob;
use crate::policy::patterns::{Anchor, PathPattern};
use crate::call::tools::Holds;
use crate::policy::rule::{Judges, Rule, Verdict};

const CODE: &str = "shadowed-rule";

/// Looks at each rule and those above it.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let ordered: Vec<&Compiled> = room.rules().filter(|own| room.is_ordered(own)).collect();
    for (at, later) in ordered.iter().enumerate() {
        let above: Vec<&Compiled> = ordered
            .iter()
            .take(at)
            .filter(|earlier| earlier.layer == later.layer)
            .copied()
            .collect();
        let texts = match &later.rule.judges {
            // A rule for any tool has no pattern: it is hidden only by another such rule.
            Judges::Tool if later.rule.tools.is_empty() => {
                found.extend(any_tool(&above, &later.rule));
                continue;
            }
            Judges::Rest(_) => continue,
            _ => written(&later.rule),
        };
        for own in &texts {
            found.extend(text(room, &above, &later.rule, own));
        }
    }
    found
}

fn text(
    room: &Room<'_>,
    above: &[&Compiled],
    later: &Rule,
    own: &Written<'_>,
) -> Option<Finding> {
    let mut hiders: Vec<(&Rule, String)> = Vec::new();
    for pattern in &own.patterns {
        let hider = above.iter().find_map(|earlier| {
            Some((&earlier.rule, hides(room, &earlier.rule, later, *pattern)?))
        })?;
        if !hiders.iter().any(|known| std::ptr::eq(known.0, hider.0)) {
            hiders.push(hider);
        }
    }
    let (first, wide) = hiders.first()?;
    let denies = later.action == Verdict::Deny && hiders.iter().any(|(rule, _)| rule.action != Verdict::Deny);
    let message = format!(
        "the {} of `{}` comes too late: the {} of `{wide}` above it decides first",
        later.action, own.text, first.action
    );
    let place = &later.place;
    let mut finding = Finding::lint(CODE, message, &place.source, room.spot_of(later, own))
        .label("never reached")
        .help(if first.action == later.action {
            "drop it: the rule above says the same"
        } else {
            "move it above the wider rule"
        });
    for (rule, wide) in hiders.iter().take(3) {
        let span = room.spot(rule, wide);
        finding = finding.also(&rule.place.source, span, format!("this {} is tried first", rule.action));
    }
    if denies {
        finding.severity = Severity::Deny;
    }
    Some(finding)
}

fn any_tool(above: &[&Compiled], later: &Rule) -> Option<Finding> {
    let everything = |rule: &Rule| {
        matches!(rule.judges, Judges::Tool)
            && (rule.tools.is_empty() || rule.tools.iter().any(Glob::is_star))
    };
    let open = Rule {
        tools: Vec::new(),
        ..later.clone()
    };
    let first = above.iter().map(|earlier| &earlier.rule).find(|rule| {
        let bare = Rule {
            tools: Vec::new(),
            ..(*rule).clone()
        };
        everything(rule) && inside::conditions(&bare, &open)
    })?;
    let message = format!(
        "this {} comes too late: the {} of every tool above it decides first",
        later.action, first.action
    );
    let place = &later.place;
    let mut finding = Finding::lint(CODE, message, &place.source, place.span)
        .label("never reached")
        .also(&first.place.source, first.place.span, "this is tried first")
        .help("move it above the wider rule");
    if later.action == Verdict::Deny && first.action != Verdict::Deny {
        finding.severity = Severity::Deny;
    }
    Some(finding)
}

/// By which of its patterns an earlier rule takes all that a later one takes by this one.
fn hides(room: &Room<'_>, earlier: &Rule, later: &Rule, pattern: Pattern<'_>) -> Option<String> {
    if let (Judges::Tool, false, false) = (
        &earlier.judges,
        matches!(later.judges, Judges::Tool),
        earlier.tools.is_empty(),
    ) {
        return by_tools(room, earlier, later);
    }
    if let (Judges::Commands(own), Pattern::Command(narrow)) = (&earlier.judges, pattern) {
        // What the words of an allow do not name it leaves to the rules below it.
        let leaves = |wide: &&crate::policy::patterns::CommandPattern| {
            earlier.action == Verdict::Allow && inside::names_more(wide, narrow) && !plainly(narrow)
        };
        let by = inside::covers(earlier, later, pattern)?;
        let leaving = own.patterns.iter().find(|own| own.text == by).filter(leaves);
        return leaving.is_none().then_some(by);
    }
    inside::covers(earlier, later, pattern).or_else(|| {
        // A name without a slash is denied outside the roots too: inside them it is hidden all the same.
        let Pattern::Path(path) = pattern else { return None };
        let inside_roots = PathPattern {
            anchor: Anchor::Root,
            components: std::iter::once(crate::policy::patterns::WordPattern::Any)
                .chain(path.components.iter().cloned())
                .collect(),
            ..path.clone()
        };
        (path.anchor == Anchor::Name)
            .then(|| inside::covers(earlier, later, Pattern::Path(&inside_roots)))
            .flatten()
    })
}

/// A pattern whose words are no options: what they name is hardly an escalation of the wider one.
fn plainly(pattern: &crate::policy::patterns::CommandPattern) -> bool {
    pattern.assignments.is_empty()
        && pattern.words.iter().skip(1).all(|word| match word {
            crate::policy::patterns::WordPattern::Word(glob) => {
                glob.as_literal().is_some_and(|text| !text.starts_with('-'))
            }
            crate::policy::patterns::WordPattern::Any => false,
        })
}

/// A rule about tools meets every access of theirs: it hides a later one for the same tools, or where no other tool of
/// the policy does such a thing.
fn by_tools(room: &Room<'_>, earlier: &Rule, later: &Rule) -> Option<String> {
    let bare = Rule {
        tools: Vec::new(),
        ..earlier.clone()
    };
    if !inside::conditions(&bare, later) {
        return None;
    }
    let named = |name: &str| {
        let mut tools = earlier.tools.iter();
        tools.any(|tool| tool.matches_text(name, false))
    };
    let all = match later.tools.is_empty() {
        false => later
            .tools
            .iter()
            .all(|tool| earlier.tools.iter().any(|wide| wide.covers(tool))),
        true => {
            let does: &[Holds] = match later.judges {
                Judges::Commands(_) => &[Holds::Shell, Holds::Argv],
                Judges::Hosts(_) => &[Holds::Url, Holds::Shell, Holds::Argv],
                _ => &[Holds::Read, Holds::Write, Holds::Patch, Holds::Shell, Holds::Argv],
            };
            let tools = room.tools_that(does);
            earlier.tools.iter().any(Glob::is_star) || tools.iter().all(|(name, _)| named(name))
        }
    };
    let first = earlier.tools.first().map(crate::policy::patterns::spell)?;
    all.then_some(first)
}
