//! An allow wholly inside a deny, an ask or protected files: it never lets a call pass.
//!
//! Order does not matter where the strictest rule wins, so a narrow allow under a wide deny is no exception to it.

use super::Room;
use super::room::By;
use crate::call::access::Mode;
use crate::call::tools::Holds;
use crate::finding::Finding;
use crate::language::{Answer, Entry, Hidden, Pattern};
use crate::policy::patterns;
use crate::policy::rule::{Judges, Place, Verdict};
use std::sync::Arc;

const CODE: &str = "unreachable-allow";

/// Looks at allow rules and at tiers.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let rules = room.languages();
    let mut found = Vec::new();
    for (at, entry) in rules.entries().iter().enumerate() {
        let is_told = room.tells(&entry.compiled.rule.place.source);
        if entry.action() != Verdict::Allow || room.is_ordered(entry.compiled) || !is_told {
            continue;
        }
        match rules.hidden(at) {
            Answer::Yes(hidden) => found.push(told(room, entry, &hidden)),
            Answer::Unknown => found.push(room.undecided(CODE, entry, "ever applies")),
            Answer::No => found.extend(denied_tier(room, entry)),
        }
    }
    found.extend(tiers(room));
    found.extend(closed_tools(room));
    found
}

fn told(room: &Room<'_>, entry: &Entry<'_>, hidden: &Hidden) -> Finding {
    let by = room.by(hidden);
    let comes = if by.len() > 1 { "come" } else { "comes" };
    let message = format!(
        "the allow of {} never applies: {} {comes} first, whatever the order",
        room.named(entry),
        room.listed(&by)
    );
    let mut finding = room.at(CODE, message, entry).label("allowed here");
    if let Some(first) = by.first() {
        finding = finding.help(advice(first, entry));
    }
    for own in by.iter().take(3) {
        let text = match (own.set, by.len()) {
            (Some(_), _) => "protected here".to_owned(),
            (None, 1) => format!("the {} that takes all of it", own.action),
            (None, _) => format!("the {} that takes some of it", own.action),
        };
        finding = finding.also(&own.place.source, own.place.span, text);
    }
    finding.witness(hidden.witness.json(), &hidden.witness)
}

/// What to do about what hides an allow.
fn advice(by: &By<'_>, entry: &Entry<'_>) -> String {
    let verdict = by.action;
    match (by.rule, by.set) {
        (_, Some(set)) => format!(
            "nothing lifts protected files: name it under `except` of `protected.{}`, or drop the allow",
            set.name
        ),
        (Some(wide), _)
            if Arc::ptr_eq(&by.place.source, &entry.compiled.rule.place.source) =>
        {
            let key = if matches!(wide.rule.judges, Judges::Tool) {
                "`unless`, or narrower `tools`,"
            } else {
                "`except`"
            };
            format!("carve it out of the {verdict} with {key}, narrow the {verdict}, or drop the allow")
        }
        (wide, _) => {
            let rule = wide.map(|own| own.rule.id.as_ref().unwrap_or(&own.rule.address));
            format!(
                "give the {verdict} up with `disable = [\"{}\"]`, or drop the allow",
                rule.map_or("", String::as_str)
            )
        }
    }
}

/// An allow of a tool whose tier is denied.
fn denied_tier(room: &Room<'_>, entry: &Entry<'_>) -> Option<Finding> {
    let hides = |pattern: &Pattern<'_>| {
        let Pattern::Tool(tool) = pattern else { return None };
        let mut denied = room.tiers().filter(|(_, own)| own.verdict == Verdict::Deny);
        denied.find_map(|(file, own)| {
            let wide = own.names.iter().find(|name| name.covers(tool))?;
            let source = Arc::clone(&file.source);
            Some((patterns::spell(wide), Place { source, span: own.span }))
        })
    };
    let hiders: Option<Vec<_>> = entry.written.patterns.iter().map(hides).collect();
    let (text, place) = hiders?.into_iter().next()?;
    let message = format!(
        "the allow of {} never applies: the denied tier of `{text}` comes first, whatever the order",
        room.named(entry)
    );
    Some(
        room.at(CODE, message, entry)
            .label("allowed here")
            .also(&place.source, place.span, "a denied tier")
            .help("no rule lifts a denied tier: take the tool out of it, or drop the allow"),
    )
}

/// Within the tiers of a file deny always wins, and of an allow and an ask of one name the ask.
fn tiers(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in room.files() {
        for entry in file.tiers.iter().filter(|own| own.verdict != Verdict::Deny) {
            let hides = |name: &crate::policy::glob::Glob| {
                file.tiers.iter().find(|other| {
                    other.names.iter().any(|wide| match other.verdict {
                        Verdict::Deny => wide.covers(name),
                        Verdict::Ask => entry.verdict == Verdict::Allow && wide == name,
                        Verdict::Allow => false,
                    })
                })
            };
            let hiders: Option<Vec<_>> = entry.names.iter().map(hides).collect();
            let Some(first) = hiders.as_ref().and_then(|hiders| hiders.first()) else {
                continue;
            };
            let text = entry.span.of(&file.source.text).trim_matches(['"', '\'']);
            let (own, other) = (entry.verdict, first.verdict);
            let message = format!("`{text}` is never in the tier `{own}`: `{other}` has it too, and wins");
            found.push(
                Finding::lint(CODE, message, &file.source, entry.span)
                    .label(format!("listed under {own}"))
                    .also(&file.source, first.span, format!("and under {other}"))
                    .help("a tool stands in one tier: take it out of the other"),
            );
        }
    }
    found
}

/// Allow rules of a section where every tool that does such a thing is in a denied tier, which no rule lifts.
fn closed_tools(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut told: Vec<&[Holds]> = Vec::new();
    for compiled in room.rules() {
        let rule = &compiled.rule;
        let does: &[Holds] = match &rule.judges {
            Judges::Commands(_) => &[Holds::Shell, Holds::Argv],
            Judges::Paths(own) if own.modes == [Mode::Read] => {
                &[Holds::Read, Holds::Shell, Holds::Argv]
            }
            Judges::Paths(_) => &[Holds::Write, Holds::Patch, Holds::Shell, Holds::Argv],
            Judges::Hosts(_) => &[Holds::Url, Holds::Shell, Holds::Argv],
            _ => continue,
        };
        if rule.action != Verdict::Allow || !rule.tools.is_empty() || told.contains(&does) {
            continue;
        }
        let tools = room.tools_that(does);
        let Some((tool, _)) = tools.first() else { continue };
        if tools.iter().any(|(_, verdict)| *verdict != Verdict::Deny) {
            continue;
        }
        told.push(does);
        let section = rule.address.split('[').next().unwrap_or_default();
        let mut finding = Finding::lint(
            CODE,
            format!("nothing under `{section}` ever applies: every tool that could use it is denied by its tier"),
            &rule.place.source,
            rule.place.span,
        )
        .label("this allow, and those like it")
        .help(format!(
            "no rule lifts a denied tier: list `{tool}` under `[tiers] ask`; what no rule allows is denied with `default = \"deny\"` in the section"
        ));
        if let Some(place) = room.matcher.tier(tool).place {
            finding = finding.also(&place.source, place.span, format!("`{tool}` is denied here"));
        }
        found.push(finding);
    }
    found
}
