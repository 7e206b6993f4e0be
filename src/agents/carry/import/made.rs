//! What becomes of one rule of an agent: entries of a policy, and what is to be said of them.
//!
//! In: a rule's text in the agent's spelling. Out: a [`Made`]. What cannot be said exactly is said more strictly: an allow
//! is left out, a question or a refusal goes to the words in front of the trouble, or to the whole tool.

use super::draft::{Draft, Entry, What};
use super::stars::{self, Trouble, Words};
use crate::agents::carry::{Carried, Fidelity, Line, Report};
use crate::agents::tools::Tool;
use crate::call::tools;
use crate::matcher::Matcher;
use crate::policy::glob::Glob;
use crate::policy::rule::Verdict;
use crate::policy::{LayerKind, Root, Trust, load, patterns};
use crate::source::{Format, Source, Span};
use std::fmt::Write as _;
use std::sync::Arc;

/// What becomes of one rule.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub entries: Vec<Entry>,
    pub fidelity: Fidelity,
    pub says: Vec<String>,
    /// It goes with another rule, whose line in the report tells of it.
    pub beside: bool,
}

impl Made {
    pub(super) fn full(entries: impl IntoIterator<Item = Entry>) -> Self {
        Self {
            entries: entries.into_iter().collect(),
            fidelity: Fidelity::Full,
            says: Vec::new(),
            beside: false,
        }
    }

    pub(super) fn not(why: impl Into<String>) -> Self {
        Self {
            entries: Vec::new(),
            fidelity: Fidelity::Not,
            says: vec![why.into()],
            beside: false,
        }
    }

    /// The agent never looks at it: a refusal or a question is carried as it was meant.
    pub(super) fn dead(why: impl Into<String>, meant: Option<Self>) -> Self {
        let meant = meant.unwrap_or_else(|| Self::full([]));
        let tightens = |entry: &Entry| entry.verdict != Verdict::Allow;
        let entries: Vec<Entry> = meant.entries.into_iter().filter(tightens).collect();
        let mut says = vec![why.into()];
        if !entries.is_empty() {
            says.push("here it holds as it was meant".to_owned());
            says.extend(meant.says);
        }
        Self {
            entries,
            fidelity: Fidelity::Dead,
            says,
            beside: false,
        }
    }

    /// The same, with what differs.
    pub(super) fn but(mut self, why: impl Into<String>) -> Self {
        if self.fidelity == Fidelity::Full {
            self.fidelity = Fidelity::Partial;
        }
        self.says.push(why.into());
        self
    }

    /// The same, with something that makes no difference.
    pub(super) fn said(mut self, what: impl Into<String>) -> Self {
        self.says.push(what.into());
        self
    }

    /// The same entries, changed.
    pub(super) fn each(mut self, change: impl Fn(&mut Entry)) -> Self {
        self.entries.iter_mut().for_each(change);
        self
    }

    /// The same, with nothing in it that no policy can say: an allow of that is left out, of the others the whole tool is
    /// meant.
    fn sayable(mut self, draft: &Draft) -> Self {
        let (good, bad): (Vec<Entry>, Vec<Entry>) = self
            .entries
            .into_iter()
            .partition(|entry| holds_alone(entry, draft));
        self.entries = good;
        for mut entry in bad {
            // Of several names those that no policy can say are left out.
            let alone = |name: &String| {
                let tools = vec![name.clone()];
                holds_alone(
                    &Entry {
                        tools,
                        ..entry.clone()
                    },
                    draft,
                )
            };
            let tools: Vec<String> = entry
                .tools
                .iter()
                .filter(|name| alone(name))
                .cloned()
                .collect();
            if entry.what == What::Tool && !tools.is_empty() {
                entry.tools = tools;
                self.entries.push(entry);
                continue;
            }
            let whole = match &entry.what {
                What::Commands(_) => &["bash"][..],
                What::Reads(_) => &["read", "search", "list"],
                What::Writes(_) => &["edit", "write"],
                What::Hosts(_) => &["fetch"],
                What::Tier(_) | What::Tool => &[],
            };
            let why = "acl has no words for it";
            if whole.is_empty() || entry.verdict == Verdict::Allow {
                self = self.but(format!("{why}: it is left to the tier"));
                continue;
            }
            let as_a_whole = Entry {
                reason: entry.reason,
                when: entry.when,
                ..Entry::new(entry.verdict, What::Tool).through(whole)
            };
            self.entries.push(as_a_whole);
            self = self.but(format!(
                "{why}: all of {} is {}",
                whole.join(", "),
                done(entry.verdict)
            ));
        }
        if self.entries.is_empty() && self.fidelity == Fidelity::Partial {
            self.fidelity = Fidelity::Not;
        }
        self
    }

    /// Writes it down.
    pub(super) fn record(
        self,
        line: usize,
        rule: String,
        source: &Source,
        draft: &mut Draft,
        report: &mut Report,
    ) {
        let made = self.sayable(draft);
        let name = source.name.rsplit('/').next().unwrap_or_default();
        let from = format!("{name}:{line}: {rule}");
        let says = made.says.join("; ");
        if made.entries.is_empty() && matches!(made.fidelity, Fidelity::Dead | Fidelity::Not) {
            draft
                .left_out
                .push(format!("{from} ({}: {says})", made.fidelity.name()));
        }
        let becomes = made.entries.into_iter().map(|entry| {
            draft.add(Entry {
                from: from.clone(),
                ..entry
            })
        });
        let becomes = becomes.collect();
        if made.beside {
            return;
        }
        report.lines.push(Line {
            at: line.to_string(),
            rule,
            fidelity: made.fidelity,
            says,
            becomes,
        });
    }
}

/// Writes down rules whose order decides, and after them those that come to nothing; the report goes by the file's lines.
pub(super) fn in_order(
    mut all: Vec<(usize, String, Made)>,
    others: Vec<(usize, String, Made)>,
    source: &Source,
    mut draft: Draft,
    mut report: Report,
    notes: &[&str],
) -> Carried {
    refusals_first(&mut all);
    for (line, shown, made) in all.into_iter().chain(others) {
        made.record(line, shown, source, &mut draft, &mut report);
    }
    report
        .lines
        .sort_by_key(|line| line.at.parse::<usize>().unwrap_or_default());
    report.notes = notes.iter().map(|note| (*note).to_owned()).collect();
    Carried {
        text: draft.text(),
        report,
    }
}

/// Where order decides: a question that reaches further than the agent's must not stand before a refusal that it reaches.
fn refusals_first(all: &mut Vec<(usize, String, Made)>) {
    let mut at = 0;
    while let Some((_, _, wide)) = all.get(at) {
        let asks = |entry: &Entry| entry.verdict == Verdict::Ask;
        if matches!(wide.fidelity, Fidelity::Partial | Fidelity::Dead)
            && wide.entries.iter().any(asks)
        {
            let wide = wide.entries.clone();
            let hidden = |(_, _, made): &(usize, String, Made)| {
                let reached = |own: &Entry| {
                    own.verdict == Verdict::Deny && wide.iter().any(|ask| ask.reaches(own))
                };
                made.entries.iter().any(reached)
            };
            let (before, behind): (Vec<_>, Vec<_>) =
                all.split_off(at).into_iter().partition(hidden);
            at += before.len();
            all.extend(before.into_iter().chain(behind));
        }
        at += 1;
    }
}

/// acl's names of the tools that an agent's pattern of names stands for; an allow reaches no tool by way of another, nor
/// by a star what is acl's own name of another.
pub(super) fn names(tools: &[Tool], name: &str, prefix: &str, verdict: Verdict) -> Vec<String> {
    let mut names = mcp(name, prefix);
    if verdict != Verdict::Allow {
        let globs = Glob::parse(name).unwrap_or_default();
        let fits = |tool: &&Tool| {
            globs
                .iter()
                .any(|glob| glob.matches_text(tool.native, false))
        };
        names.extend(
            tools
                .iter()
                .filter(fits)
                .map(|tool| tool.canonical.to_owned()),
        );
        names.dedup();
    } else {
        names.retain(|name| !reaches_own(name));
    }
    names
}

/// Whether stars in a name reach what is acl's own name of a tool.
pub(super) fn reaches_own(name: &str) -> bool {
    let globs = Glob::parse(name).unwrap_or_default();
    let fits = |own| globs.iter().any(|glob| glob.matches_text(own, false));
    name.contains(['*', '?']) && tools::names().any(fits)
}

/// The line of a place in a file.
pub(super) fn line(source: &Source, span: Span) -> usize {
    source.line_column(span.start).0
}

/// A tool as such: an allow is its tier, a refusal too; a question is a rule, which no other rule lifts.
pub(super) fn tool(verdict: Verdict, names: &[&str], ordered: bool) -> Made {
    Made::full(names.iter().map(|name| match verdict {
        Verdict::Allow | Verdict::Deny if !ordered => {
            Entry::new(verdict, What::Tier((*name).to_owned()))
        }
        _ => Entry::new(verdict, What::Tool).through(&[name]),
    }))
}

/// A rule about command lines. `one`: `?` stands for any character.
pub(super) fn commands(verdict: Verdict, text: &str, one: bool, ordered: bool) -> Made {
    let read = stars::commands(text, one).and_then(|words| match matches(&words) {
        true => Ok(words),
        false => Err(Trouble {
            why: "acl reads these words otherwise".into(),
            before: None,
            several: false,
        }),
    });
    let trouble = match read {
        Ok(words) => {
            let mut entry = Entry::new(verdict, What::Commands(words.patterns));
            entry.exact = words.exact;
            return Made::full([entry]);
        }
        Err(trouble) => trouble,
    };
    let Trouble {
        why,
        before,
        several,
    } = trouble;
    if verdict == Verdict::Allow {
        return Made::not(format!("{why}: it is left to the tier, which asks"));
    }
    // What the agent never sees as one text it never refuses either.
    let verdict = if several { Verdict::Ask } else { verdict };
    match before {
        Some(before) => {
            let says = format!("{why}: `{before}` as a whole is {}", done(verdict));
            Made::full([Entry::new(verdict, What::Commands(vec![before]))]).but(says)
        }
        None => tool(verdict, &["bash"], ordered)
            .but(format!("{why}: every command line is {}", done(verdict))),
    }
}

/// `asked about`, `denied`.
pub(super) const fn done(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allowed",
        Verdict::Ask => "asked about",
        Verdict::Deny => "denied",
    }
}

/// Whether the patterns match a line that the agent's text does: what acl skips in front of a command may be its words.
fn matches(words: &Words) -> bool {
    let list: Vec<String> = words
        .patterns
        .iter()
        .map(|own| super::draft::quoted(own))
        .collect();
    let mut text = String::from("version = 1\n[[commands.deny]]\n");
    let sample = super::draft::quoted(&words.sample);
    let _ = write!(
        text,
        "match = [{}]\nexact = {}\nexamples = {{ match = [{sample}] }}\n",
        list.join(", "),
        words.exact
    );
    holds(text)
}

/// Whether a pattern of literal words matches them.
pub(super) fn matches_itself(pattern: &str) -> bool {
    matches(&Words {
        patterns: vec![pattern.to_owned()],
        exact: false,
        sample: pattern.to_owned(),
    })
}

/// Whether a policy of this entry alone loads, and its examples hold.
pub(super) fn holds_alone(entry: &Entry, of: &Draft) -> bool {
    let mut draft = Draft {
        ordered: of.ordered,
        facts: of.facts.clone(),
        bare: true,
        ..Draft::default()
    };
    draft.add(entry.clone());
    holds(draft.text())
}

/// Whether a policy loads, and its examples hold.
fn holds(text: String) -> bool {
    let Ok(source) = Source::new("made.toml", text, Some(Format::Toml)) else {
        return false;
    };
    let root = Root {
        kind: LayerKind::User,
        source: Arc::new(source),
        folder: None,
        trusted: Trust::Yes,
    };
    match load(vec![root], &|name, _| {
        Err(format!("`{name}` is not to be read"))
    }) {
        Ok(policy) => Matcher::compile(policy).check_examples().is_empty(),
        Err(_) => false,
    }
}

/// A rule about paths, in patterns of the policy language; through these tools where it allows.
pub(super) fn paths(verdict: Verdict, what: What, tools: &[&str], ordered: bool) -> Made {
    let mut what = what;
    let (What::Reads(texts) | What::Writes(texts)) = &mut what else {
        return Made::not("it names no path");
    };
    // At the beginning it would name a group.
    for text in texts.iter_mut().filter(|text| text.starts_with('@')) {
        text.insert(0, '\\');
    }
    let wrong = texts.iter().find_map(|text| patterns::paths(text).err());
    if let Some((why, _)) = wrong {
        return match verdict {
            Verdict::Allow => Made::not(why),
            _ => tool(verdict, tools, ordered)
                .but(format!("{why}: all of the tool is {}", done(verdict))),
        };
    }
    let entry = Entry::new(verdict, what);
    Made::full([match verdict {
        // Where order decides, a question for other tools too could stand before a refusal of theirs.
        Verdict::Ask if ordered => entry.through(tools),
        Verdict::Allow => entry.through(tools),
        _ => entry,
    }])
}

/// A rule about the host of a fetched page.
pub(super) fn host(verdict: Verdict, text: &str, ordered: bool) -> Made {
    match patterns::host(text) {
        Ok(_) => {
            let entry = Entry::new(verdict, What::Hosts(vec![text.to_owned()]));
            Made::full([match verdict {
                Verdict::Ask if ordered => entry.through(&["fetch"]),
                Verdict::Allow => entry.through(&["fetch"]),
                _ => entry,
            }])
        }
        Err((why, _)) if verdict == Verdict::Allow => Made::not(why),
        Err((why, _)) => tool(verdict, &["fetch"], ordered)
            .but(format!("{why}: every fetch is {}", done(verdict))),
    }
}

/// The names of an MCP tool that an agent calls `server_tool`: it does not tell where the server's name ends.
pub(super) fn mcp(name: &str, prefix: &str) -> Vec<String> {
    if name.starts_with("mcp__") {
        return vec![name.to_owned()];
    }
    let Some(rest) = name
        .strip_prefix(prefix)
        .filter(|rest| rest.contains(['_', '*']))
    else {
        return vec![name.to_owned()];
    };
    let ends = rest.match_indices('_').map(|(at, _)| rest.split_at(at));
    let of = |(server, tool): (&str, &str)| {
        let tool = tool.trim_start_matches('_');
        (!server.is_empty() && !tool.is_empty()).then(|| format!("mcp__{server}__{tool}"))
    };
    let mut names: Vec<String> = ends.take(16).filter_map(of).collect();
    names.dedup();
    if !rest.contains('_') {
        names.push(format!("mcp__{rest}"));
    }
    if prefix.is_empty() {
        // It may be a tool of another kind.
        names.push(name.to_owned());
    }
    names
}
