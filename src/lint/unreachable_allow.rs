//! An allow wholly inside a deny, an ask or protected files: it never lets a call pass.
//!
//! Order does not matter where the strictest rule wins, so a narrow allow under a wide deny is no exception to it.

use super::Room;
use super::index::Index;
use super::inside::{self, Side};
use super::room::{Pattern, written};
use crate::call::access::Mode;
use crate::finding::Finding;
use crate::matcher::Compiled;
use crate::policy::patterns;
use crate::call::tools::Holds;
use crate::policy::rule::{Judges, Place, Verdict};

const CODE: &str = "unreachable-allow";

/// Looks at allow rules and at tiers.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let closing = Index::of(room, |own| own.rule.action != Verdict::Allow);
    for compiled in room.rules() {
        if compiled.rule.action == Verdict::Allow && !room.is_ordered(compiled) {
            found.extend(rule(room, &closing, compiled));
        }
    }
    found.extend(tiers(room));
    found.extend(closed_tools(room));
    found
}

/// What hides a pattern: its words, its verdict, its place.
struct Hider {
    text: String,
    what: String,
    label: String,
    place: Place,
    fix: String,
}

fn rule(room: &Room<'_>, closing: &Index<'_>, compiled: &Compiled) -> Vec<Finding> {
    let allow = &compiled.rule;
    let mut found = Vec::new();
    for own in written(allow) {
        let hiders: Option<Vec<Hider>> = own
            .patterns
            .iter()
            .map(|pattern| hider(room, closing, compiled, *pattern))
            .collect();
        let Some(mut hiders) = hiders else { continue };
        hiders.dedup_by(|one, other| one.place == other.place);
        let Some(first) = hiders.first() else { continue };
        let message = format!(
            "the allow of `{}` never applies: {} `{}` comes first, whatever the order",
            own.text, first.what, first.text
        );
        let place = &allow.place;
        let mut finding = Finding::lint(CODE, message, &place.source, room.spot_of(allow, &own))
            .label("allowed here")
            .help(first.fix.clone());
        for hider in hiders.iter().take(3) {
            finding = finding.also(&hider.place.source, hider.place.span, hider.label.clone());
        }
        found.push(finding);
    }
    found
}

fn hider(
    room: &Room<'_>,
    closing: &Index<'_>,
    allow: &Compiled,
    pattern: Pattern<'_>,
) -> Option<Hider> {
    let takes = |wide: &Compiled, by: &dyn Fn() -> bool| {
        wide.layer == allow.layer && inside::conditions(&wide.rule, &allow.rule) && by()
    };
    let any_tool = closing
        .any_tool
        .iter()
        .filter(|wide| takes(wide, &|| true))
        .map(|wide| (*wide, "every tool".to_owned(), wide.rule.place.span));
    let by_text = closing
        .candidates(pattern)
        .filter(|wide| {
            let outer = &wide.compiled.rule;
            takes(wide.compiled, &|| {
                let mut all = wide.written.patterns.iter();
                all.any(|by| inside::by(outer, *by, &allow.rule, pattern))
            })
        })
        .map(|wide| {
            let span = room.spot_of(&wide.compiled.rule, &wide.written);
            (wide.compiled, wide.written.text.clone(), span)
        });
    let by_rule = any_tool
        .chain(by_text)
        .max_by_key(|(wide, _, _)| wide.rule.action);
    if let Some((wide, text, span)) = by_rule {
        let verdict = wide.rule.action;
        let place = Place {
            span,
            ..wide.rule.place.clone()
        };
        let key = if matches!(wide.rule.judges, Judges::Tool) {
            "`unless`, or narrower `tools`,"
        } else {
            "`except`"
        };
        return Some(Hider {
            text,
            what: format!("the {verdict} of"),
            label: format!("the {verdict} that takes all of it"),
            place,
            fix: match std::sync::Arc::ptr_eq(
                &wide.rule.place.source,
                &allow.rule.place.source,
            ) {
                true => format!(
                    "carve it out of the {verdict} with {key}, narrow the {verdict}, or drop the allow"
                ),
                false => format!(
                    "give the {verdict} up with `disable = [\"{}\"]`, or drop the allow",
                    wide.rule.id.as_ref().unwrap_or(&wide.rule.address)
                ),
            },
        });
    }
    match (pattern, &allow.rule.judges) {
        (Pattern::Path(path), Judges::Paths(own)) => {
            room.matcher.protected.iter().find_map(|set| {
                let (outer, inner) = (
                    Side { tightens: true, exact: false },
                    Side { tightens: false, exact: own.exact },
                );
                let text = inside::paths(&set.paths, outer, own, inner, path)?;
                Some(Hider {
                    text,
                    what: format!("the protected set `{}` with", set.name),
                    label: "protected here".into(),
                    place: set.place.clone(),
                    fix: format!(
                        "nothing lifts protected files: name it under `except` of `protected.{}`, or drop the allow",
                        set.name
                    ),
                })
            })
        }
        (Pattern::Tool(tool), _) => room
            .tiers()
            .filter(|(_, entry)| entry.verdict == Verdict::Deny)
            .find_map(|(file, entry)| {
                let wide = entry.names.iter().find(|name| name.covers(tool))?;
                Some(Hider {
                    text: patterns::spell(wide),
                    what: "the denied tier of".into(),
                    label: "a denied tier".into(),
                    place: Place {
                        source: std::sync::Arc::clone(&file.source),
                        span: entry.span,
                    },
                    fix: "no rule lifts a denied tier: take the tool out of it, or drop the allow".into(),
                })
            }),
        _ => None,
    }
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
