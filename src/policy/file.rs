//! One policy file's tree → a [`File`]: everything it says, each with its place.
//!
//! In: a [`Source`]. Out: the file, and all its errors at once; what is wrong is left out of the file and
//! named, so that one fault does not hide another. Files are joined in `layers.rs`.

use super::audit::{self, Audit};
use super::glob::Glob;
use super::patterns::{self, PathPattern};
use super::rule::{
    Authority, Commands, Condition, Examples, FactDecl, Hosts, Invariant, Judges, Paths, Place,
    Placed, Protected, Rule, Section, Test, TierEntry, Verdict,
};
use super::{kept, keys, near};
use crate::call::access::Mode;
use crate::call::tools::{Argument, Holds, ToolDecl};
use crate::finding::{Finding, pushed};
use crate::source::{self, Node, Source, Span, Table, Value};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How rules combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resolution {
    /// deny > ask > allow; order never matters.
    #[default]
    Strictest,
    /// The first matching `[[rules]]` element decides.
    FirstMatch,
}

/// `[workspace]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// The folders, as written.
    pub roots: Option<Vec<Placed<String>>>,
    /// Verdict for a path in none of them.
    pub outside: Option<Placed<Verdict>>,
}

/// What one policy file says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct File {
    /// The file.
    #[serde(skip, default = "kept::source")]
    pub source: Arc<Source>,
    /// Its name for people.
    pub name: Option<String>,
    /// Files it builds on.
    pub extends: Vec<Placed<String>>,
    /// Rules of those files that do not hold.
    pub disable: Vec<Placed<String>>,
    /// How its rules combine.
    pub resolution: Option<Placed<Resolution>>,
    /// Where the agent works.
    pub workspace: Option<Workspace>,
    /// Declared tools.
    pub tools: Vec<Placed<ToolDecl>>,
    /// Names of its groups, and whether each is used.
    #[serde(skip)]
    pub groups: Vec<(Placed<String>, bool)>,
    /// Declared facts.
    pub facts: Vec<FactDecl>,
    /// Tools by tier.
    pub tiers: Vec<TierEntry>,
    /// Verdict for a declared tool that no tier lists.
    pub tier_default: Option<Placed<Verdict>>,
    /// Whether an unknown tool takes the default tier.
    pub unknown_is_default: Option<Placed<bool>>,
    /// What becomes of a line that is not understood.
    pub opaque: Option<Placed<Verdict>>,
    /// All rules, in the order of the file.
    pub rules: Vec<Rule>,
    /// Protected files.
    pub protected: Vec<Protected>,
    /// Outside authorities.
    pub sources: Vec<Authority>,
    /// Texts for the model.
    pub messages: BTreeMap<String, String>,
    /// Where decisions are logged, where they are.
    pub audit: Option<Placed<Audit>>,
    /// Severities of lints.
    #[serde(skip)]
    pub lints: Vec<(Placed<String>, String)>,
    /// Statements that must hold for all calls.
    pub invariants: Vec<Invariant>,
    /// The top-level keys that are there, with their places (`acl where` names those that are ignored).
    pub sections: Vec<Placed<String>>,
    /// Comments, for suppressions.
    #[serde(skip)]
    pub comments: Vec<Span>,
    /// What it may not say while its layer is not trusted, left out.
    pub ignored: Vec<Placed<String>>,
}

impl File {
    /// Whether it comes with acl.
    pub fn is_shipped(&self) -> bool {
        self.source.name.starts_with("acl:")
    }

    /// Reads a file. The findings are all errors; with any, the file is not to be used.
    pub fn read(source: &Arc<Source>) -> (Self, Vec<Finding>) {
        let tree = source::read(source);
        let mut findings = tree.findings;
        let broken = !findings.is_empty();
        let empty = Table::default();
        let root = match &tree.root.value {
            Value::Table(table) => table,
            _ => &empty,
        };
        let mut shape = keys::check(source, &tree.root);
        if broken {
            // A file with a syntax error lacks what stands behind the error: that is no second fault.
            shape.retain(|finding| finding.code != "missing-key");
        }
        findings.append(&mut shape);
        let mut reader = Reader {
            source,
            groups: BTreeMap::new(),
            findings,
        };
        let mut file = reader.file(root, tree.comments);
        file.rules.sort_by_key(|rule| rule.place.span.start);
        (file, reader.findings)
    }
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    groups: BTreeMap<String, Group<'a>>,
    findings: Vec<Finding>,
}

struct Group<'a> {
    members: Vec<(&'a str, Span)>,
    key: Span,
    used: bool,
}

/// What a pattern reader answers.
type Parsed<T> = Result<Vec<T>, (String, Option<String>)>;

impl<'a> Reader<'a> {
    fn file(&mut self, root: &'a Table, comments: Vec<Span>) -> File {
        self.read_groups(root);
        let mut file = File {
            source: Arc::clone(self.source),
            name: text_of(root, "name"),
            extends: self.plain_texts(root.get("extends")),
            disable: self.plain_texts(root.get("disable")),
            resolution: root.get("resolution").and_then(|node| {
                let value = match text(node)? {
                    "first-match" => Resolution::FirstMatch,
                    _ => Resolution::Strictest,
                };
                Some(Placed {
                    value,
                    span: node.span,
                })
            }),
            workspace: root
                .get("workspace")
                .and_then(table)
                .map(|table| Workspace {
                    roots: table.get("roots").map(|node| self.plain_texts(Some(node))),
                    outside: verdict(table.get("outside")),
                }),
            tools: self.tools(root),
            groups: Vec::new(),
            facts: self.facts(root),
            tiers: Vec::new(),
            tier_default: None,
            unknown_is_default: None,
            opaque: None,
            rules: Vec::new(),
            protected: Vec::new(),
            sources: self.sources(root),
            messages: self.messages(root),
            audit: self.audit(root),
            lints: Vec::new(),
            invariants: Vec::new(),
            sections: root
                .entries
                .iter()
                .map(|entry| Placed {
                    value: entry.key.name.clone(),
                    span: entry.key.span,
                })
                .collect(),
            comments,
            ignored: Vec::new(),
        };
        if let Some(tiers) = root.get("tiers").and_then(table) {
            for (key, list_verdict) in LISTS {
                file.tiers.extend(self.tier(tiers, key, list_verdict));
            }
            file.tier_default = verdict(tiers.get("default"));
            file.unknown_is_default = tiers.get("unknown").and_then(|node| {
                text(node).map(|text| Placed {
                    value: text == "default",
                    span: node.span,
                })
            });
        }
        self.sections(root, &mut file);
        if let Some(Value::List(rules)) = root.get("rules").map(|node| &node.value) {
            for (index, node) in rules.iter().enumerate() {
                file.rules
                    .extend(table(node).and_then(|table| self.long_rule(table, node.span, index)));
            }
        }
        if let Some(sets) = root.get("protected").and_then(table) {
            file.protected = sets
                .entries
                .iter()
                .filter_map(|entry| {
                    self.protected(&entry.key.name, entry.key.span, table(&entry.value)?)
                })
                .collect();
        }
        if let Some(lints) = root.get("lints").and_then(table) {
            file.lints = lints
                .entries
                .iter()
                .filter_map(|entry| {
                    let code = Placed {
                        value: entry.key.name.clone(),
                        span: entry.key.span,
                    };
                    Some((code, text(&entry.value)?.to_owned()))
                })
                .collect();
        }
        if let Some(Value::List(nodes)) = root.get("invariants").map(|node| &node.value) {
            file.invariants = nodes
                .iter()
                .filter_map(|node| self.invariant(table(node)?, node.span))
                .collect();
        }
        self.same_ids(&file);
        file.groups = self
            .groups
            .iter()
            .map(|(name, group)| {
                (
                    Placed {
                        value: name.clone(),
                        span: group.key,
                    },
                    group.used,
                )
            })
            .collect();
        file
    }

    fn error(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
    ) -> &mut Finding {
        let finding = Finding::error(code, message, self.source, span);
        pushed(&mut self.findings, finding)
    }

    // --- lists and groups

    fn read_groups(&mut self, root: &'a Table) {
        let Some(groups) = root.get("groups").and_then(table) else {
            return;
        };
        for entry in &groups.entries {
            let Value::List(nodes) = &entry.value.value else {
                continue;
            };
            let members = nodes
                .iter()
                .filter_map(|node| Some((text(node)?, node.span)))
                .collect();
            self.groups.insert(
                entry.key.name.clone(),
                Group {
                    members,
                    key: entry.key.span,
                    used: false,
                },
            );
        }
        // Every cycle is told once, from its first name in the order of the alphabet.
        let names: Vec<String> = self.groups.keys().cloned().collect();
        let mut told: Vec<String> = Vec::new();
        for name in &names {
            if !told.contains(name) {
                if let Some((path, span)) = self.cycle(name) {
                    let shown = path.join("` → `@");
                    self.error(
                        "group-cycle",
                        format!("the group `@{name}` contains itself: `@{shown}`"),
                        span,
                    )
                    .help = Some("take one of these names out of its group".into());
                    told.extend(path);
                }
            }
        }
    }

    /// A way from a group back to itself, and the place of its first step.
    fn cycle(&self, start: &str) -> Option<(Vec<String>, Span)> {
        let mut stack: Vec<(Vec<String>, Option<Span>)> = vec![(vec![start.to_owned()], None)];
        let mut seen: Vec<String> = Vec::new();
        while let Some((path, first)) = stack.pop() {
            let last = path.last()?;
            for (member, span) in self
                .groups
                .get(last)
                .map(|group| group.members.as_slice())
                .unwrap_or_default()
            {
                let Some(name) = member.strip_prefix('@') else {
                    continue;
                };
                let first = first.or(Some(*span));
                if name == start {
                    let mut path = path.clone();
                    path.push(start.to_owned());
                    return Some((path, first.unwrap_or(*span)));
                }
                if !seen.iter().any(|seen| seen == name) {
                    seen.push(name.to_owned());
                    let mut longer = path.clone();
                    longer.push(name.to_owned());
                    stack.push((longer, first));
                }
            }
        }
        None
    }

    /// The texts of a list (or of one text), groups left alone.
    fn plain_texts(&self, node: Option<&Node>) -> Vec<Placed<String>> {
        let nodes = node.map_or(&[][..], listed);
        nodes
            .iter()
            .filter_map(|node| {
                Some(Placed {
                    value: text(node)?.to_owned(),
                    span: node.span,
                })
            })
            .collect()
    }

    /// The texts of a list (or of one text), groups replaced by what they hold.
    fn texts<'n>(&mut self, node: Option<&'n Node>) -> Vec<Placed<Cow<'n, str>>> {
        let Some(node) = node else { return Vec::new() };
        let nodes = listed(node);
        let mut out = Vec::with_capacity(nodes.len());
        for node in nodes {
            let Some(written) = text(node) else { continue };
            match written.strip_prefix('@') {
                Some(name) => self.members(name, node.span, &mut Vec::new(), &mut out),
                None => out.push(Placed {
                    value: Cow::Borrowed(written),
                    span: node.span,
                }),
            }
        }
        out
    }

    fn members(
        &mut self,
        name: &str,
        asked: Span,
        path: &mut Vec<String>,
        out: &mut Vec<Placed<Cow<'_, str>>>,
    ) {
        if path.iter().any(|seen| seen == name) {
            return; // a cycle, already told
        }
        let Some(group) = self.groups.get_mut(name) else {
            let near =
                near::nearest(name, self.groups.keys().map(String::as_str)).map(str::to_owned);
            let help = match near {
                Some(near) => format!("did you mean `@{near}`?"),
                None => format!("declare it: `{name} = [\"…\"]` under `[groups]`"),
            };
            let message = format!("there is no group `@{name}`");
            // The same group may be asked for by several lists that share one entry: tell it once a place.
            let told = self.findings.iter().any(|finding| {
                finding.code == "unknown-group"
                    && finding
                        .labels
                        .first()
                        .is_some_and(|label| label.span == asked)
            });
            if !told {
                self.error("unknown-group", message, asked).help = Some(help);
            }
            return;
        };
        group.used = true;
        let members = group.members.clone();
        path.push(name.to_owned());
        for (member, span) in members {
            match member.strip_prefix('@') {
                Some(inner) => {
                    let inner = inner.to_owned();
                    self.members(&inner, span, path, out);
                }
                None => out.push(Placed {
                    value: Cow::Owned(member.to_owned()),
                    span,
                }),
            }
        }
        path.pop();
    }

    /// Reads each text as a pattern; what cannot be read is an error with its place.
    fn patterns<T>(
        &mut self,
        texts: &[Placed<Cow<'_, str>>],
        parse: impl Fn(&str) -> Parsed<T>,
    ) -> Vec<T> {
        let mut out = Vec::with_capacity(texts.len());
        for entry in texts {
            match parse(&entry.value) {
                Ok(patterns) => out.extend(patterns),
                Err((why, help)) => self.invalid(&why, help, entry),
            }
        }
        out
    }

    fn invalid(&mut self, why: &str, help: Option<String>, entry: &Placed<Cow<'_, str>>) {
        let told = self.findings.iter().any(|finding| {
            finding.code == "invalid-pattern"
                && finding.message == why
                && finding
                    .labels
                    .first()
                    .is_some_and(|label| label.span == entry.span)
        });
        if !told {
            let label = "in this pattern".to_owned();
            let finding = self.error("invalid-pattern", why, entry.span);
            finding.help = help;
            if let Some(first) = finding.labels.first_mut() {
                first.text = label;
            }
        }
    }

    fn globs(&mut self, node: Option<&Node>) -> Vec<Glob> {
        let texts = self.texts(node);
        self.patterns(&texts, patterns::tool_names)
    }

    fn path_patterns(&mut self, node: Option<&Node>) -> Vec<PathPattern> {
        let texts = self.texts(node);
        self.patterns(&texts, patterns::paths)
    }

    // --- sections

    fn tools(&mut self, root: &Table) -> Vec<Placed<ToolDecl>> {
        let Some(tools) = root.get("tools").and_then(table) else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for entry in &tools.entries {
            let Some(decl) = table(&entry.value) else {
                continue;
            };
            let mut arguments = Vec::new();
            for (key, holds) in [
                ("reads", Holds::Read),
                ("writes", Holds::Write),
                ("shell", Holds::Shell),
                ("argv", Holds::Argv),
                ("url", Holds::Url),
                ("patch", Holds::Patch),
            ] {
                let Some(node) = decl.get(key) else { continue };
                let (names, default) = match table(node) {
                    Some(table) => (
                        self.plain_texts(table.get("arg")),
                        text_of(table, "default"),
                    ),
                    None => (self.plain_texts(Some(node)), None),
                };
                for name in names {
                    let optional = default.is_some();
                    arguments.push(Argument {
                        holds,
                        path: name.value,
                        default: default.clone(),
                        optional,
                    });
                }
            }
            let recursive = flag(decl, "recursive");
            let value = ToolDecl {
                name: entry.key.name.clone(),
                arguments,
                recursive,
            };
            out.push(Placed {
                value,
                span: entry.key.span,
            });
        }
        out
    }

    fn facts(&mut self, root: &Table) -> Vec<FactDecl> {
        let Some(facts) = root.get("facts").and_then(table) else {
            return Vec::new();
        };
        facts
            .entries
            .iter()
            .filter_map(|entry| {
                let decl = table(&entry.value)?;
                let values = match decl.get("values").map(|node| &node.value) {
                    Some(Value::List(nodes)) => nodes.iter().filter_map(json).collect(),
                    _ => Vec::new(),
                };
                let default = decl.get("default").and_then(json);
                Some(FactDecl {
                    name: entry.key.name.clone(),
                    default,
                    values,
                    span: entry.key.span,
                })
            })
            .collect()
    }

    fn sources(&mut self, root: &Table) -> Vec<Authority> {
        let Some(Value::List(nodes)) = root.get("sources").map(|node| &node.value) else {
            return Vec::new();
        };
        let mut out: Vec<Authority> = Vec::new();
        for node in nodes {
            let Some(decl) = table(node) else { continue };
            let on_error = match text_of(decl, "on_error").as_deref() {
                Some("abstain") => None,
                Some(other) => Verdict::parse(other),
                None => Some(Verdict::Ask),
            };
            let name = text_of(decl, "name").unwrap_or_default();
            let span = decl.get("name").map_or(node.span, |node| node.span);
            let first = out
                .iter()
                .find(|source| !name.is_empty() && source.name == name)
                .map(|source| source.place.span);
            if let Some(first) = first {
                let source = Arc::clone(self.source);
                let finding = self.error(
                    "duplicate-id",
                    format!("two sources are called `{name}`"),
                    span,
                );
                *finding = finding.clone().label("named again here").also(
                    &source,
                    first,
                    "first named here",
                );
            }
            out.push(Authority {
                name,
                on_error,
                said: decl.get("on_error").map(|node| node.span),
                place: self.place(span),
            });
        }
        out
    }

    fn audit(&mut self, root: &Table) -> Option<Placed<Audit>> {
        let entry = root.entry("audit")?;
        let own = table(&entry.value)?;
        let keep = own.get("keep").and_then(|node| match node.value {
            Value::Integer(count) => u32::try_from(count).ok(),
            _ => None,
        });
        if let Some(node) = own.get("file") {
            if let Err(why) = audit::file(text(node).unwrap_or_default()) {
                self.error("invalid-pattern", why, node.span).help = Some(
                    "name a file of its own: `audit.jsonl`, `/var/log/acl.jsonl`, `~/acl.jsonl`"
                        .into(),
                );
            }
        }
        let mask = self.texts(own.get("mask"));
        let masked = |text: &str| audit::mask(text).map(|()| vec![text.to_owned()]);
        Some(Placed {
            value: Audit {
                file: text_of(own, "file"),
                size: own
                    .get("size")
                    .and_then(|node| audit::size(text(node)?).ok()),
                keep,
                mask: self.patterns(&mask, masked),
            },
            span: entry.key.span,
        })
    }

    fn messages(&mut self, root: &Table) -> BTreeMap<String, String> {
        let mut out = BTreeMap::new();
        let Some(messages) = root.get("messages").and_then(table) else {
            return out;
        };
        for entry in &messages.entries {
            let Some(value) = text(&entry.value) else {
                continue;
            };
            for (at, _) in value.match_indices('{') {
                let inside = value
                    .get(at + 1..)
                    .and_then(|rest| rest.split_once('}'))
                    .map(|(name, _)| name);
                let name = inside.unwrap_or_default();
                if !["tool", "reason", "instead"].contains(&name) {
                    let near = near::nearest(name, ["tool", "reason", "instead"]);
                    self.error(
                        "unknown-placeholder",
                        format!("there is no placeholder `{{{name}}}`"),
                        entry.value.span,
                    )
                    .help = Some(match near {
                        Some(near) => format!("did you mean `{{{near}}}`?"),
                        None => "a text may hold `{tool}`, `{reason}` and `{instead}`".into(),
                    });
                }
            }
            out.insert(entry.key.name.clone(), value.to_owned());
        }
        out
    }

    fn tier(&mut self, tiers: &Table, key: &str, verdict: Verdict) -> Vec<TierEntry> {
        let Some(Value::List(nodes)) = tiers.get(key).map(|node| &node.value) else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let names = self.globs(Some(node));
            if !names.is_empty() {
                out.push(TierEntry {
                    verdict,
                    names,
                    address: format!("tiers.{key}[{index}]"),
                    span: node.span,
                });
            }
        }
        out
    }

    fn sections(&mut self, root: &Table, file: &mut File) {
        let first_match = matches!(
            &file.resolution,
            Some(Placed {
                value: Resolution::FirstMatch,
                ..
            })
        );
        let mut sections: Vec<(&str, Section, &Table, Span)> = Vec::new();
        if let Some((node, section)) = root
            .get("commands")
            .and_then(|node| Some((node, table(node)?)))
        {
            sections.push(("commands", Section::Commands, section, node.span));
            file.opaque = verdict(section.get("opaque"));
        }
        if let Some(paths) = root.get("paths").and_then(table) {
            for (key, address, mode) in [
                ("read", "paths.read", Mode::Read),
                ("write", "paths.write", Mode::Write),
            ] {
                if let Some((node, section)) =
                    paths.get(key).and_then(|node| Some((node, table(node)?)))
                {
                    sections.push((address, Section::Paths(mode), section, node.span));
                }
            }
        }
        if let Some((node, section)) = root
            .get("hosts")
            .and_then(|node| Some((node, table(node)?)))
        {
            sections.push(("hosts", Section::Hosts, section, node.span));
        }
        for (address, section, lists, _) in sections {
            for (key, verdict) in LISTS {
                let Some(node) = lists.get(key) else { continue };
                let Value::List(nodes) = &node.value else {
                    continue;
                };
                if first_match {
                    let span = lists
                        .entries
                        .iter()
                        .find(|entry| entry.key.name == key)
                        .map_or(node.span, |e| e.key.span);
                    let finding = self.error(
                        "list-with-first-match",
                        format!(
                            "`{address}.{key}` is a list, and a list has no order to be first in"
                        ),
                        span,
                    );
                    finding.help = Some(
                        "under `resolution = \"first-match\"` write these as `[[rules]]`, in the order that counts".into(),
                    );
                    continue;
                }
                for (index, node) in nodes.iter().enumerate() {
                    file.rules.extend(self.entry(
                        node,
                        section,
                        verdict,
                        format!("{address}.{key}[{index}]"),
                    ));
                }
            }
            if let Some(default) = verdict(lists.get("default")) {
                file.rules.push(Rule {
                    judges: Judges::Rest(section),
                    ..self.bare_rule(format!("{address}.default"), default.value, default.span)
                });
            }
        }
    }

    // --- rules

    fn place(&self, span: Span) -> Place {
        Place {
            source: Arc::clone(self.source),
            span,
        }
    }

    fn bare_rule(&self, address: String, action: Verdict, span: Span) -> Rule {
        Rule::bare(address, action, self.place(span))
    }

    /// A list entry: a pattern, or a table with `match`.
    fn entry(
        &mut self,
        node: &Node,
        section: Section,
        action: Verdict,
        address: String,
    ) -> Option<Rule> {
        let empty = Table::default();
        let (matched, fields) = match &node.value {
            Value::Text(_) => (Some(node), &empty),
            Value::Table(fields) => (fields.get("match"), fields),
            _ => return None,
        };
        let texts = self.texts(matched);
        let judges = self.judges(section, None, &texts, fields)?;
        Some(self.rule(judges, fields, address, action, node.span))
    }

    /// An element of `[[rules]]`.
    fn long_rule(&mut self, fields: &Table, span: Span, index: usize) -> Option<Rule> {
        let action = fields.get("action").and_then(text).and_then(Verdict::parse);
        let targets: Vec<&str> = keys::TARGETS
            .into_iter()
            .filter(|key| fields.get(key).is_some())
            .collect();
        if targets.len() > 1 {
            let place = key_span(fields, targets.get(1).copied().unwrap_or_default(), span);
            self.error(
                "unknown-key",
                format!(
                    "a rule judges one thing, not `{}` at once",
                    targets.join("` and `")
                ),
                place,
            )
            .help = Some("write one rule for each; they may share `when` and `reason`".into());
        }
        let target = targets.first().copied();
        for (key, needs) in keys::NEEDS {
            if fields.get(key).is_some() && target.is_none_or(|target| !needs.contains(&target)) {
                let belongs = match key {
                    "access" => "a rule with `paths`",
                    "exact" => "a rule with `commands` or `paths`",
                    "except" => "a rule with `commands`, `paths` or `hosts`",
                    _ => "a rule with `commands`",
                };
                self.error(
                    "unknown-key",
                    format!("`{key}` belongs to {belongs}"),
                    key_span(fields, key, span),
                );
            }
        }
        let texts = self.texts(target.and_then(|target| fields.get(target)));
        let judges = match target {
            None => {
                self.no_empty_lists(fields);
                Judges::Tool
            }
            Some("commands") => self.judges(Section::Commands, None, &texts, fields)?,
            Some("hosts") => self.judges(Section::Hosts, None, &texts, fields)?,
            Some(_) => {
                let modes = match text_of(fields, "access").as_deref() {
                    Some("read") => vec![Mode::Read],
                    Some("write") => vec![Mode::Write],
                    _ => vec![Mode::Read, Mode::Write],
                };
                self.judges(Section::Paths(Mode::Read), Some(modes), &texts, fields)?
            }
        };
        Some(self.rule(judges, fields, format!("rules[{index}]"), action?, span))
    }

    fn judges(
        &mut self,
        section: Section,
        modes: Option<Vec<Mode>>,
        texts: &[Placed<Cow<'_, str>>],
        fields: &Table,
    ) -> Option<Judges> {
        let except = self.texts(fields.get("except"));
        self.no_empty_lists(fields);
        Some(match section {
            Section::Commands => {
                let with = self.option_words(fields.get("with"));
                let without = self.option_words(fields.get("without"));
                self.contradictions(fields, &with, &without);
                Judges::Commands(Box::new(Commands {
                    patterns: some(self.patterns(texts, patterns::commands))?.into(),
                    except: self.patterns(&except, patterns::commands).into(),
                    with,
                    without,
                    operands: self.path_patterns(fields.get("operands")),
                    exact: flag(fields, "exact"),
                    only_read: fields.get("only").is_some(),
                }))
            }
            Section::Paths(mode) => Judges::Paths(Box::new(Paths {
                modes: modes.unwrap_or_else(|| vec![mode]),
                patterns: some(self.patterns(texts, patterns::paths))?,
                except: self.patterns(&except, patterns::paths),
                exact: flag(fields, "exact"),
            })),
            Section::Hosts => {
                let host = |text: &str| patterns::host(text).map(|pattern| vec![pattern]);
                Judges::Hosts(Box::new(Hosts {
                    patterns: some(self.patterns(texts, host))?,
                    except: self.patterns(&except, host),
                }))
            }
        })
    }

    /// An empty list is never what was meant: it would match nothing, or drop a condition without a word.
    fn no_empty_lists(&mut self, fields: &Table) {
        let lists = [
            "match", "commands", "paths", "hosts", "tools", "files", "from", "with", "without",
            "operands", "except",
        ];
        for entry in &fields.entries {
            let list = matches!(entry.value.value, Value::List(_))
                && lists.contains(&entry.key.name.as_str());
            if list && !names_one(&entry.value) && self.texts(Some(&entry.value)).is_empty() {
                let told = self.findings.iter().any(|finding| {
                    finding.labels.iter().any(|label| {
                        entry.value.span.start <= label.span.start
                            && label.span.end <= entry.value.span.end
                    })
                });
                if !told {
                    let message = format!("`{}` is an empty list", entry.key.name);
                    self.error("invalid-pattern", message, entry.value.span)
                        .help = Some("name at least one, or leave the key out".into());
                }
            }
        }
    }

    /// `with` and `without`: each entry is a list of alternatives.
    fn option_words(&mut self, node: Option<&Node>) -> Vec<Vec<Glob>> {
        let texts = self.texts(node);
        let mut out = Vec::new();
        for entry in &texts {
            match patterns::option_words(&entry.value) {
                Ok(words) => out.push(words),
                Err((why, help)) => self.invalid(&why, help, entry),
            }
        }
        out
    }

    fn contradictions(&mut self, fields: &Table, with: &[Vec<Glob>], without: &[Vec<Glob>]) {
        let both = with
            .iter()
            .flatten()
            .find(|glob| without.iter().flatten().any(|other| other == *glob));
        if let (Some(both), Some(node)) = (both, fields.get("without")) {
            let word = patterns::spell(both);
            let message =
                format!("`{word}` must be present and must not: the rule can never match");
            let source = Arc::clone(self.source);
            let with = fields.get("with").map_or(node.span, |node| node.span);
            let finding = self.error("contradicting-options", message, node.span);
            *finding = finding
                .clone()
                .label("forbidden here")
                .also(&source, with, "demanded here")
                .help(format!("take `{word}` out of `with` or out of `without`"));
        }
    }

    fn rule(
        &mut self,
        judges: Judges,
        fields: &Table,
        address: String,
        action: Verdict,
        span: Span,
    ) -> Rule {
        let forced = flag(fields, "forced");
        if action != Verdict::Ask && fields.get("forced").is_some() {
            self.error(
                "unknown-key",
                "`forced` belongs to a rule that asks",
                key_span(fields, "forced", span),
            )
            .help = Some("a deny is final anyway, and an allow asks nobody".into());
        }
        if action != Verdict::Allow && fields.get("only").is_some() {
            self.error(
                "unknown-key",
                "`only` belongs to a rule that allows",
                key_span(fields, "only", span),
            );
        }
        Rule {
            judges,
            id: text_of(fields, "id"),
            tools: self.globs(fields.get("tools")),
            args: self.conditions(fields.get("args"), true),
            when: self.conditions(fields.get("when"), false),
            unless: self.conditions(fields.get("unless"), false),
            forced,
            reason: text_of(fields, "reason"),
            instead: text_of(fields, "instead"),
            examples: self.examples(fields),
            ..self.bare_rule(address, action, span)
        }
    }

    fn protected(&mut self, name: &str, key: Span, fields: &Table) -> Option<Protected> {
        let modes: Vec<Mode> = match fields.get("from") {
            None => vec![Mode::Read, Mode::Write],
            Some(node) => {
                let named: Vec<String> = self
                    .plain_texts(Some(node))
                    .into_iter()
                    .map(|text| text.value)
                    .collect();
                [("read", Mode::Read), ("write", Mode::Write)]
                    .into_iter()
                    .filter(|(word, _)| named.iter().any(|name| name == word))
                    .map(|(_, mode)| mode)
                    .collect()
            }
        };
        self.no_empty_lists(fields);
        let patterns = some(self.path_patterns(fields.get("files")))?;
        let except = self.path_patterns(fields.get("except"));
        Some(Protected {
            name: name.to_owned(),
            paths: Paths {
                modes,
                patterns,
                except,
                exact: false,
            },
            reason: text_of(fields, "reason"),
            instead: text_of(fields, "instead"),
            examples: self.examples(fields),
            place: self.place(key),
        })
    }

    fn invariant(&mut self, fields: &Table, span: Span) -> Option<Invariant> {
        let id = text_of(fields, "id")?;
        let never = fields.get("never_allow").and_then(table)?;
        let mut rule = Table {
            entries: Vec::new(),
        };
        rule.entries.extend(never.entries.iter().cloned());
        rule.entries.extend(
            fields
                .entries
                .iter()
                .filter(|entry| entry.key.name != "never_allow")
                .cloned(),
        );
        rule.entries.push(crate::source::Entry {
            key: crate::source::Key {
                name: "action".into(),
                span,
            },
            value: Node {
                span,
                value: Value::Text("deny".into()),
            },
        });
        let never = self.long_rule(&rule, span, 0)?;
        Some(Invariant { id, never })
    }

    fn examples(&mut self, fields: &Table) -> Examples {
        match fields.get("examples").and_then(table) {
            Some(lists) => Examples {
                matching: self.plain_texts(lists.get("match")),
                other: self.plain_texts(lists.get("no_match")),
            },
            None => Examples::default(),
        }
    }

    /// Conditions on arguments (`dotted`) or on facts.
    fn conditions(&mut self, node: Option<&Node>, dotted: bool) -> Vec<Condition> {
        let mut out = Vec::new();
        if let Some(fields) = node.and_then(table) {
            self.conditions_below(fields, &[], dotted, &mut out);
        }
        out
    }

    fn conditions_below(
        &mut self,
        fields: &Table,
        above: &[String],
        dotted: bool,
        out: &mut Vec<Condition>,
    ) {
        for entry in &fields.entries {
            let mut path = above.to_vec();
            match dotted {
                true => path.extend(entry.key.name.split('.').map(str::to_owned)),
                false => path.push(entry.key.name.clone()),
            }
            if let Some(inner) = table(&entry.value) {
                self.conditions_below(inner, &path, dotted, out);
                continue;
            }
            let nodes = match &entry.value.value {
                Value::List(nodes) => nodes.as_slice(),
                _ => std::slice::from_ref(&entry.value),
            };
            let mut any = Vec::new();
            for node in nodes {
                any.extend(match &node.value {
                    Value::Bool(value) => Some(Test::Bool(*value)),
                    #[allow(
                        clippy::cast_precision_loss,
                        reason = "JSON numbers are compared as JSON compares them"
                    )]
                    Value::Integer(value) => Some(Test::Number(*value as f64)),
                    Value::Float(value) => Some(Test::Number(*value)),
                    Value::Text(_) => {
                        let texts = self.texts(Some(node));
                        Some(Test::Text(self.patterns(&texts, |text| {
                            Glob::parse(text).map_err(|why| (why, None))
                        })))
                    }
                    _ => None,
                });
            }
            if !dotted {
                path = vec![path.join(".")];
            }
            out.push(Condition {
                path,
                any,
                span: entry.key.span,
            });
        }
    }

    fn same_ids(&mut self, file: &File) {
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        for rule in &file.rules {
            let Some(id) = rule.id.as_deref() else {
                continue;
            };
            if let Some(other) = file.rules.iter().find(|other| other.address == id) {
                let source = Arc::clone(self.source);
                let finding = self.error(
                    "duplicate-id",
                    format!("the id `{id}` is the address of a rule"),
                    rule.place.span,
                );
                *finding = finding
                    .clone()
                    .label("so named here")
                    .also(&source, other.place.span, "this rule has that address")
                    .help("an id names one rule: approvals and grants go by it");
            }
            if let Some(first) = seen.insert(id, rule.place.span) {
                let source = Arc::clone(self.source);
                let finding = self.error(
                    "duplicate-id",
                    format!("two rules are called `{id}`"),
                    rule.place.span,
                );
                *finding = finding
                    .clone()
                    .label("named again here")
                    .also(&source, first, "first named here")
                    .help("rename one of them: approvals and grants find a rule by its id");
            }
        }
    }
}

/// The lists of a section and their verdicts.
const LISTS: [(&str, Verdict); 4] = [
    ("allow", Verdict::Allow),
    ("ask", Verdict::Ask),
    ("confirm", Verdict::Ask),
    ("deny", Verdict::Deny),
];

fn some<T>(patterns: Vec<T>) -> Option<Vec<T>> {
    (!patterns.is_empty()).then_some(patterns)
}

/// The entries of a list; what is none stands alone.
fn listed(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(nodes) => nodes,
        _ => std::slice::from_ref(node),
    }
}

/// Whether a list surely holds something: a text that is no group.
fn names_one(list: &Node) -> bool {
    let Value::List(nodes) = &list.value else {
        return false;
    };
    let mut texts = nodes.iter().filter_map(text);
    texts.any(|text| !text.starts_with('@'))
}

fn text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn table(node: &Node) -> Option<&Table> {
    match &node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn text_of(table: &Table, key: &str) -> Option<String> {
    table.get(key).and_then(text).map(str::to_owned)
}

fn flag(table: &Table, key: &str) -> bool {
    matches!(
        table.get(key).map(|node| &node.value),
        Some(Value::Bool(true))
    )
}

fn verdict(node: Option<&Node>) -> Option<Placed<Verdict>> {
    let node = node?;
    Some(Placed {
        value: Verdict::parse(text(node)?)?,
        span: node.span,
    })
}

fn key_span(table: &Table, key: &str, otherwise: Span) -> Span {
    table
        .entries
        .iter()
        .find(|entry| entry.key.name == key)
        .map_or(otherwise, |entry| entry.key.span)
}

fn json(node: &Node) -> Option<serde_json::Value> {
    Some(match &node.value {
        Value::Bool(value) => (*value).into(),
        Value::Integer(value) => (*value).into(),
        Value::Float(value) => (*value).into(),
        Value::Text(value) => value.clone().into(),
        _ => return None,
    })
}
