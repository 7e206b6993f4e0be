//! Codex: `.rules` files, `prefix_rule(pattern = […], decision = "allow|prompt|forbidden")`.
//!
//! The strictest of all rules that match counts. An element of a pattern is one word, or a list of alternatives. Any
//! expansion, redirection or subshell makes a script one command that no rule names.

use super::draft::{Draft, Entry, What, quoted};
use super::made::{self, Made};
use super::starlark::{self, Called, Value};
use super::stars;
use crate::agents::carry::{Carried, Fidelity, Report};
use crate::finding::Finding;
use crate::policy::rule::Verdict;
use crate::source::Source;
use std::fmt::Write as _;
use std::sync::Arc;

const NOTES: &[&str] = &[
    "acl looks into scripts that Codex takes for one command: expansions, redirections, subshells",
    "Codex has rules for commands only; edits ask here, and reads of its tools too",
];

pub(in crate::agents::carry) fn import(source: &Arc<Source>) -> Result<Carried, Vec<Finding>> {
    let calls = starlark::read(source)?;
    let mut draft = Draft {
        head: vec![
            format!("Made by `acl import codex` from {}.", source.name),
            "Every entry names the rule it comes from; what differs is in the report of the import.".to_owned(),
        ],
        ..Draft::default()
    };
    let mut report = Report::default();
    let mut findings = Vec::new();
    let mut all = Vec::new();
    for call in &calls {
        let at = made::line(source, call.span);
        let made = match call.name.as_str() {
            "prefix_rule" => prefix(call),
            "network_rule" => network(call),
            "host_executable" => Ok(Made::not(
                "acl knows programs by name, and takes a file of that name only from the system's folders",
            )),
            name => Err(format!("`{name}` is no rule that acl knows")),
        };
        match made {
            Ok(made) => all.push((at, call, made)),
            Err(why) => findings.push(Finding::error("syntax", why, source, call.span).help(
                "a rule is `prefix_rule(pattern = [\"git\", \"push\"], decision = \"prompt\")`",
            )),
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    let named: Vec<Named> = all
        .iter()
        .filter_map(|(at, _, made)| named(*at, made))
        .collect();
    for (at, call, made) in all {
        overruled(made, &named).record(at, shown(call), source, &mut draft, &mut report);
    }
    report.notes = NOTES.iter().map(|note| (*note).to_owned()).collect();
    Ok(Carried {
        text: draft.text(),
        report,
    })
}

/// The commands of a rule, its verdict and its line.
type Named = (Vec<String>, Verdict, usize);

fn named(at: usize, made: &Made) -> Option<Named> {
    match made.entries.first()? {
        Entry {
            verdict,
            what: What::Commands(patterns),
            ..
        } => Some((patterns.clone(), *verdict, at)),
        _ => None,
    }
}

/// A rule behind a stricter one that matches all that it does is never the one that counts.
fn overruled(mut made: Made, all: &[Named]) -> Made {
    let Some((patterns, verdict, _)) = named(0, &made).filter(|_| made.fidelity == Fidelity::Full)
    else {
        return made;
    };
    let by = |own: &String| {
        let over = |(others, strict, _): &&Named| {
            let before = |other: &String| own == other || own.starts_with(&format!("{other} "));
            *strict > verdict && others.iter().any(before)
        };
        all.iter().find(over).map(|(_, _, line)| *line)
    };
    let over: Option<Vec<usize>> = patterns.iter().map(by).collect();
    if let Some(line) = over.as_ref().and_then(|lines| lines.first()) {
        let why = format!("the stricter rule of line {line} matches all that it does");
        made = Made::dead(why, None);
    }
    made
}

/// The call on one line.
fn shown(call: &Called) -> String {
    let mut out = format!("{}(", call.name);
    for (at, (name, value)) in call.args.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let _ = match name.as_str() {
            "" => write!(out, "{comma}{}", spelled(value)),
            name => write!(out, "{comma}{name} = {}", spelled(value)),
        };
    }
    out + ")"
}

fn spelled(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(spelled).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Flag(true) => "True".to_owned(),
        Value::Flag(false) => "False".to_owned(),
        Value::Number(number) => number.clone(),
        Value::None => "None".to_owned(),
    }
}

/// The arguments of a call by name; those without a name in the order of those that are known.
fn args<'c>(
    call: &'c Called,
    known: &'static [&'static str],
) -> Result<impl Fn(&str) -> Option<&'c Value> + use<'c>, String> {
    let mut named: Vec<(&'static str, &'c Value)> = Vec::new();
    for (at, (name, value)) in call.args.iter().enumerate() {
        let own = known.iter().find(|own| *own == name);
        let own = own.or_else(|| known.get(at).filter(|_| name.is_empty()));
        let own =
            own.ok_or_else(|| format!("`{}` has no argument `{name}` that acl knows", call.name))?;
        if named.iter().any(|(name, _)| name == own) {
            return Err(format!("`{own}` is given twice"));
        }
        named.push((own, value));
    }
    Ok(move |wanted: &str| {
        let own = named.iter().find(|(own, _)| *own == wanted);
        own.map(|(_, value)| *value)
            .filter(|value| **value != Value::None)
    })
}

fn decision(value: Option<&Value>) -> Result<Verdict, String> {
    match value.map(Value::text) {
        None => Ok(Verdict::Allow),
        Some(Some("allow")) => Ok(Verdict::Allow),
        Some(Some("prompt")) => Ok(Verdict::Ask),
        Some(Some("forbidden" | "deny")) => Ok(Verdict::Deny),
        _ => Err("`decision` is `allow`, `prompt` or `forbidden`".to_owned()),
    }
}

fn prefix(call: &Called) -> Result<Made, String> {
    let arg = args(
        call,
        &["pattern", "decision", "justification", "match", "not_match"],
    )?;
    let verdict = decision(arg("decision"))?;
    let pattern = arg("pattern").and_then(Value::list);
    let pattern = pattern
        .filter(|own| !own.is_empty())
        .ok_or("`pattern` is a list of words, and not empty")?;
    let mut all = vec![String::new()];
    let mut dead = None;
    for (at, element) in pattern.iter().enumerate() {
        let words: Option<Vec<&str>> = match element {
            Value::List(words) => words.iter().map(Value::text).collect(),
            own => own.text().map(|word| vec![word]),
        };
        let words = words
            .filter(|words| !words.is_empty())
            .ok_or("an element of `pattern` is a text, or a list of texts")?;
        for word in &words {
            if ["|", "||", "&&", "&", ";", ">", ">>", "<", "<<"].contains(word) {
                dead = Some(format!(
                    "`{word}` is no word of a command: Codex takes the line apart there, or takes it whole"
                ));
            } else if at == 0 && word.contains('=') {
                return Ok(Made::dead(
                    format!(
                        "`{word}` is no program: Codex takes a line with an assignment whole, and finds no words in it"
                    ),
                    None,
                ));
            } else if at == 0 && word.contains([' ', '\t']) {
                dead = Some(format!(
                    "`{word}` is one word here, and no program has that name: write it as several"
                ));
            }
        }
        let more = |own: &String| {
            let words = words
                .iter()
                .map(|word| format!("{own} {}", stars::quoted(word, at == 0)));
            words.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(more).collect();
        if all.len() > 1024 {
            return Err("`pattern` has more than 1024 alternatives".to_owned());
        }
    }
    let patterns: Vec<String> = all
        .into_iter()
        .map(|own| own.trim_start().to_owned())
        .collect();
    if let Some(why) = dead {
        let line = patterns.first().cloned().unwrap_or_default();
        let words = pattern.first().and_then(Value::text).unwrap_or_default();
        let meant = match words.contains(' ') {
            true => made::commands(verdict, &format!("{words} *"), false, false),
            false => made::commands(verdict, &line.replace('\'', ""), false, false),
        };
        return Ok(Made::dead(why, Some(meant)));
    }
    let mut entry = Entry::new(verdict, What::Commands(patterns.clone()));
    entry.reason = arg("justification")
        .and_then(Value::text)
        .map(str::to_owned);
    let mut made = Made::full([]);
    if !patterns.iter().all(|pattern| made::matches_itself(pattern)) {
        return Ok(match verdict {
            Verdict::Allow => {
                Made::not("acl reads these words otherwise: it is left to the tier, which asks")
            }
            _ => {
                let program = patterns
                    .iter()
                    .filter_map(|own| own.split(' ').next())
                    .map(str::to_owned);
                let program: std::collections::BTreeSet<String> = program.collect();
                let entry = Entry::new(verdict, What::Commands(program.into_iter().collect()));
                Made::full([entry])
                    .but("acl reads these words otherwise: all of the program is meant")
            }
        });
    }
    let mut lost = 0;
    for (at, name) in ["match", "not_match"].into_iter().enumerate() {
        for example in arg(name).and_then(Value::list).unwrap_or_default() {
            let line = match example {
                Value::List(words) => {
                    let words = words
                        .iter()
                        .filter_map(Value::text)
                        .map(|word| stars::quoted(word, false));
                    words.collect::<Vec<_>>().join(" ")
                }
                own => own.text().unwrap_or_default().to_owned(),
            };
            let mut with = entry.clone();
            if let Some(list) = with.examples.get_mut(at) {
                list.push(line);
            }
            match made::holds_alone(&with, &Draft::default()) {
                true => entry = with,
                false => lost += 1,
            }
        }
    }
    if lost > 0 {
        made = made.said(format!(
            "examples not carried, because acl looks through more spellings: {lost}"
        ));
    }
    made.entries.push(entry);
    Ok(made)
}

fn network(call: &Called) -> Result<Made, String> {
    let arg = args(call, &["host", "protocol", "decision", "justification"])?;
    let verdict = decision(arg("decision"))?;
    let host = arg("host")
        .and_then(Value::text)
        .ok_or("`host` is a text")?;
    let text = match arg("protocol").and_then(Value::text) {
        Some(scheme @ ("http" | "https")) => format!("{scheme}://{host}"),
        Some(_) if verdict == Verdict::Allow => {
            return Ok(Made::not(
                "its protocol is none that acl sees in a command: it asks",
            ));
        }
        _ => host.to_owned(),
    };
    // A refusal is of the host, whatever it is spoken to with.
    let text = if verdict == Verdict::Allow {
        text
    } else {
        host.to_owned()
    };
    let reason = arg("justification").and_then(Value::text);
    let made = made::host(verdict, &text, false).each(|entry| {
        entry.reason = reason.map(str::to_owned);
        if verdict == Verdict::Allow {
            entry.tools = vec!["bash".to_owned()];
        }
    });
    Ok(made.but(
        "acl sees the hosts that a command line spells out, not those that a program contacts",
    ))
}
