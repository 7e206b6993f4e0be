//! Examples inside rules: each must be matched by its rule, or must not.
//!
//! In: a matcher. Out: a finding for every example that fails. Conditions on facts and arguments are left aside:
//! an example shows what the pattern means.

use super::Matcher;
use super::commands;
use super::hosts::{self, Contacted};
use super::located::{Folder, Frame, Located};
use super::paths::{self, Stance};
use crate::call::access::Reach;
use crate::call::shell;
use crate::call::word::Word;
use crate::finding::Finding;
use crate::policy::rule::{Examples, Judges, Place, Rule, Verdict};
use crate::source::Span;

/// Where examples are set: a workspace and a home that no pattern is likely to name.
const WORKSPACE: &str = "/workspace";
const HOME: &str = "/home/user";

impl Matcher {
    /// Checks every example of every rule.
    pub fn check_examples(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for compiled in &self.rules {
            let rule = &compiled.rule;
            check(
                &rule.examples,
                &rule.place,
                &compiled.key,
                &mut findings,
                |example| matches(rule, example),
            );
        }
        for set in &self.protected {
            let key = format!("protected.{}", set.name);
            check(&set.examples, &set.place, &key, &mut findings, |example| {
                paths::fit(&set.paths, &located(example), Stance::Tightens).may()
            });
        }
        findings
    }
}

fn check(
    examples: &Examples,
    place: &Place,
    key: &str,
    findings: &mut Vec<Finding>,
    matches: impl Fn(&str) -> bool,
) {
    let lists = [(&examples.matching, true), (&examples.other, false)];
    for (example, wanted) in lists
        .into_iter()
        .flat_map(|(list, wanted)| list.iter().map(move |example| (example, wanted)))
    {
        if matches(&example.value) != wanted {
            let message = match wanted {
                true => format!(
                    "the rule `{key}` does not match its example `{}`",
                    example.value
                ),
                false => format!(
                    "the rule `{key}` matches `{}`, which it must not",
                    example.value
                ),
            };
            let label = if wanted {
                "this should match"
            } else {
                "this should not match"
            };
            let finding = Finding::error("failing-example", message, &place.source, example.span)
                .label(label)
                .help("change the pattern, or the example");
            // A rule on one line holds its examples: there is no other place to show.
            let around =
                place.span.start <= example.span.start && example.span.end <= place.span.end;
            findings.push(match around {
                true => finding,
                false => finding.also(&place.source, place.span, "by this rule"),
            });
        }
    }
}

fn frame() -> Frame<'static> {
    let folder = |text: &str| Folder {
        lexical: text.into(),
        resolved: text.into(),
    };
    Frame {
        roots: vec![folder(WORKSPACE)],
        home: Some(folder(HOME)),
        ..Frame::default()
    }
}

fn located(text: &str) -> Located {
    let expanded = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{HOME}{rest}"),
        _ => text.to_owned(),
    };
    Located::locate(
        &Word::known(expanded, Span::default()),
        Some(WORKSPACE),
        Reach::Itself,
        &frame(),
    )
}

fn matches(rule: &Rule, example: &str) -> bool {
    let stance = match rule.action {
        Verdict::Allow => Stance::Loosens,
        Verdict::Ask | Verdict::Deny => Stance::Tightens,
    };
    let counts = |fit: crate::policy::glob::Fit| match stance {
        Stance::Loosens => fit == crate::policy::glob::Fit::Must,
        Stance::Tightens => fit.may(),
    };
    match &rule.judges {
        Judges::Tool => rule
            .tools
            .iter()
            .any(|glob| glob.matches_text(example, false)),
        Judges::Rest(_) => true,
        Judges::Paths(own) => counts(paths::fit(own, &located(example), stance)),
        Judges::Hosts(own) => counts(hosts::fit(
            own,
            &Contacted::of(&Word::known(example, Span::default())),
            stance,
        )),
        Judges::Commands(own) => {
            let scene = shell::Scene {
                cwd: Some(WORKSPACE.into()),
                home: Some(HOME.into()),
                ..shell::Scene::default()
            };
            let accesses = shell::accesses(example, &scene);
            let frame = frame();
            (0..accesses.len()).any(|at| {
                let fitted = commands::fit(own, &accesses, at, stance, &frame);
                counts(fitted.fit)
                    && (stance == Stance::Tightens
                        || commands::uncovered(&accesses, &fitted).is_none())
            })
        }
    }
}
