//! An explanation → the JSON of `acl explain --format json`: the record of `decide`, with accesses, stages and inputs.
//!
//! Its own structs, of the record's version. Lines and columns count from 1, columns in characters, offsets in bytes of
//! the command line; an end is one past the last.

use crate::call::Grant;
use crate::call::access::{Kind, Mode};
use crate::decision::record::{At, Record};
use crate::decision::texts;
use crate::explanation::{CoveredBy, Explained, Explanation, Met, Outcome, Voucher, Way};
use crate::source::Span;
use serde::Serialize;
use serde_json::Value;
use smol_str::SmolStr;

#[derive(Serialize)]
struct Told<'e> {
    #[serde(flatten)]
    record: Record<'e>,
    /// The command line that spans point into.
    line: Option<&'e str>,
    tier: Option<Tier<'e>>,
    accesses: Vec<Access<'e>>,
    /// What would clear each reason that asks.
    obligations: Vec<Obligation<'e>>,
    /// What would have been asked, had the call not been refused.
    overtaken: Vec<Overtaken<'e>>,
    unused: Vec<Unused<'e>>,
    trace: Vec<Step<'e>>,
    inputs: Inputs<'e>,
}

#[derive(Serialize)]
struct Tier<'e> {
    action: &'static str,
    address: &'e str,
    #[serde(flatten)]
    at: Option<At<'e>>,
}

#[derive(Serialize)]
struct Access<'e> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    subject: &'e str,
    /// Where a path lies, links followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    real: Option<&'e str>,
    span: Option<Place>,
    via: &'e [SmolStr],
    certainty: &'static str,
    verdict: &'static str,
    because: Vec<Because<'e>>,
    rules: Vec<Rule<'e>>,
    /// Allow rules that would cover it, but for what `why` says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    near: Vec<Near<'e>>,
    covered_by: Option<Cover<'e>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    looks_like: Option<&'e str>,
}

#[derive(Serialize)]
struct Place {
    start: usize,
    end: usize,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
struct Because<'e> {
    key: &'e str,
    action: &'static str,
    cleared: bool,
}

#[derive(Serialize)]
struct Rule<'e> {
    rule: &'e str,
    address: &'e str,
    action: &'static str,
    /// `must`: it surely fits; `may`: what is not known may make it fit.
    fit: &'static str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'e str>,
    #[serde(flatten)]
    at: At<'e>,
}

#[derive(Serialize)]
struct Near<'e> {
    rule: &'e str,
    address: &'e str,
    why: &'e str,
    #[serde(flatten)]
    at: At<'e>,
}

#[derive(Serialize)]
struct Cover<'e> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'e str>,
    /// Index of the command's access.
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<usize>,
}

#[derive(Serialize)]
struct Obligation<'e> {
    key: &'e str,
    forced: bool,
    clear_with: Vec<Clear<'e>>,
}

#[derive(Serialize)]
#[serde(tag = "by", rename_all = "lowercase")]
enum Clear<'e> {
    Approval {
        key: &'e str,
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<&'e str>,
    },
    Endorsement {
        source: &'e str,
    },
    Session {
        tool: &'e str,
    },
    Grant {
        grant: &'e Grant,
    },
    Mode {
        mode: &'static str,
    },
}

#[derive(Serialize)]
struct Overtaken<'e> {
    key: &'e str,
    kind: &'static str,
    forced: bool,
    subject: &'e str,
    text: &'e str,
}

#[derive(Serialize)]
struct Unused<'e> {
    kind: &'static str,
    given: Value,
    why: &'e str,
}

#[derive(Serialize)]
struct Step<'e> {
    stage: &'static str,
    state: &'static str,
    notes: &'e [String],
}

#[derive(Serialize)]
struct Inputs<'e> {
    policy: &'e str,
    files: Vec<PolicyFile<'e>>,
    call: &'e str,
    facts: serde_json::Map<String, Value>,
    missing_facts: &'e [String],
    mode: &'static str,
    now: Option<i64>,
}

#[derive(Serialize)]
struct PolicyFile<'e> {
    layer: &'static str,
    file: &'e str,
    trusted: bool,
    ignored: &'e [String],
}

/// The explanation as one JSON value.
pub fn explanation(told: &Explanation<'_>) -> Value {
    let decision = told.decision;
    let out = Told {
        record: Record::of(told.matcher, told.call, decision),
        line: decision.line.as_deref(),
        tier: decision.tier.as_ref().map(|tier| Tier {
            action: tier.verdict.name(),
            address: &tier.address,
            at: tier.place.as_ref().map(At::of),
        }),
        accesses: told
            .accesses
            .iter()
            .map(|own| access(own, decision.line.as_deref().unwrap_or_default()))
            .collect(),
        obligations: told
            .obligations
            .iter()
            .map(|own| Obligation {
                key: &own.reason.key,
                forced: own.reason.forced,
                clear_with: own.ways.iter().map(clear).collect(),
            })
            .collect(),
        overtaken: decision
            .overtaken
            .iter()
            .map(|reason| Overtaken {
                key: &reason.key,
                kind: reason.kind.name(),
                forced: reason.forced,
                subject: &reason.subject,
                text: &reason.text,
            })
            .collect(),
        unused: told
            .unused
            .iter()
            .map(|own| {
                let (kind, given) = match own.given {
                    Voucher::Approval(key) => ("approval", key.into()),
                    Voucher::Session(tool) => ("session", tool.into()),
                    Voucher::Endorsement(name) => ("endorsement", name.into()),
                    Voucher::Grant(grant) => {
                        ("grant", serde_json::to_value(grant).unwrap_or_default())
                    }
                };
                Unused {
                    kind,
                    given,
                    why: &own.why,
                }
            })
            .collect(),
        trace: told
            .trace
            .iter()
            .map(|step| Step {
                stage: step.stage.name(),
                state: step.state.name(),
                notes: &step.notes,
            })
            .collect(),
        inputs: Inputs {
            policy: &told.inputs.policy,
            files: told
                .inputs
                .files
                .iter()
                .map(|file| PolicyFile {
                    layer: file.layer,
                    file: &file.file,
                    trusted: file.trusted,
                    ignored: &file.ignored,
                })
                .collect(),
            call: &told.inputs.call,
            facts: told
                .inputs
                .facts
                .iter()
                .map(|fact| (fact.name.clone(), fact.value.clone()))
                .collect(),
            missing_facts: &told.inputs.missing,
            mode: told.inputs.mode,
            now: told.inputs.now,
        },
    };
    // Fails only on maps with keys that are not text, and there are none.
    serde_json::to_value(out).unwrap_or_default()
}

fn access<'e>(own: &'e Explained<'_>, line: &str) -> Access<'e> {
    let access = &own.judged.access;
    Access {
        kind: match &access.kind {
            Kind::Path(_) => "path",
            _ => texts::kind(access),
        },
        mode: match &access.kind {
            Kind::Path(path) => Some(match path.mode {
                Mode::Read => "read",
                Mode::Write => "write",
            }),
            _ => None,
        },
        subject: &own.subject,
        real: own.judged.real.as_deref(),
        span: access.span.map(|span| place(span, line)),
        via: &access.via,
        certainty: own.certainty.name(),
        verdict: own.verdict.name(),
        because: own
            .because
            .iter()
            .map(|because| Because {
                key: because.key,
                action: because.action.name(),
                cleared: because.cleared,
            })
            .collect(),
        rules: own.rules.iter().map(rule).collect(),
        near: own
            .near
            .iter()
            .map(|near| Near {
                rule: &near.rule.key,
                address: &near.rule.rule.address,
                why: &near.why,
                at: At::of(&near.rule.rule.place),
            })
            .collect(),
        covered_by: own.cover.as_ref().map(|cover| match cover {
            CoveredBy::Rule(rule) => Cover {
                kind: "rule",
                rule: Some(&rule.key),
                access: None,
            },
            CoveredBy::Transparent => Cover {
                kind: "transparent",
                rule: None,
                access: None,
            },
            CoveredBy::Command(at, rule) => Cover {
                kind: "command",
                rule: rule.map(|rule| rule.key.as_str()),
                access: Some(*at),
            },
            CoveredBy::Tier => Cover {
                kind: "tier",
                rule: None,
                access: None,
            },
        }),
        looks_like: own.lookalike.as_ref().map(|own| own.looks_like.as_str()),
    }
}

fn rule<'e>(met: &'e Met<'_>) -> Rule<'e> {
    Rule {
        rule: &met.rule.key,
        address: &met.rule.rule.address,
        action: met.rule.rule.action.name(),
        fit: match met.fit {
            crate::policy::glob::Fit::Must => "must",
            _ => "may",
        },
        outcome: met.outcome.name(),
        why: match &met.outcome {
            Outcome::Lost(why) => Some(why),
            Outcome::Decided | Outcome::Agreed => None,
        },
        at: At::of(&met.rule.rule.place),
    }
}

fn clear(way: &Way) -> Clear<'_> {
    match way {
        Way::Approval { key, call } => Clear::Approval {
            key,
            call: call.as_deref(),
        },
        Way::Endorsement(source) => Clear::Endorsement { source },
        Way::Session(tool) => Clear::Session { tool },
        Way::Grant(grant) => Clear::Grant { grant },
        Way::Bypass => Clear::Mode { mode: "bypass" },
    }
}

fn place(span: Span, line: &str) -> Place {
    let at = |offset: usize| {
        let before = line.get(..offset).unwrap_or(line);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(start..).unwrap_or_default().chars().count() + 1;
        (before.matches('\n').count() + 1, column)
    };
    let (start, end) = (at(span.start), at(span.end));
    Place {
        start: span.start,
        end: span.end,
        line: start.0,
        column: start.1,
        end_line: end.0,
        end_column: end.1,
    }
}
