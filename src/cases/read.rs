//! The source of a case file → its cases.
//!
//! In: TOML, YAML (by `source::read`) or JSON lines. Out: the cases, or every error with its place. The three
//! spellings become one tree first; of a JSON line every place is the whole line.
//! Refuses: unknown keys, a case without a policy, two cases of one name, a file without cases.

use super::{Case, Cases, Expect, HOME, Kind, Name, Under, WORKSPACE, one_line};
use crate::call::{Call, strict_json};
use crate::decision::Basis;
use crate::finding::{Finding, pushed};
use crate::policy::rule::{Place, Placed, Verdict};
use crate::policy::{LayerKind, near};
use crate::source::{self, Entry, Key, Node, Source, Span, Table, Value};
use serde_json::{Map, Number};
use std::collections::HashMap;
use std::sync::Arc;

/// Keys of a file, of a case beside those of a call, of a call, of `expect`.
const FILE: &[&str] = &["policy", "layers", "case"];
const CASE: &[&str] = &["name", "note", "policy", "layers", "expect"];
const CALL: &[&str] = &[
    "id",
    "tool",
    "args",
    "cwd",
    "home",
    "workspace",
    "user",
    "session",
    "agent",
    "mode",
    "facts",
    "approvals",
    "session_approvals",
    "grants",
    "verdicts",
    "now",
    "files",
];
const EXPECT: &[&str] = &[
    "action",
    "also",
    "rule",
    "basis",
    "source",
    "grant_scope",
    "reasons",
    "keys",
];

/// Reads a case file.
///
/// # Errors
/// Every finding of the file.
pub fn read(source: &Arc<Source>) -> Result<Cases, Vec<Finding>> {
    let mut reader = Reader {
        source,
        findings: Vec::new(),
    };
    let cases = if source.name.to_ascii_lowercase().ends_with(".jsonl") {
        reader.lines()
    } else {
        reader.tree()
    };
    reader.same_names(&cases);
    if cases.is_empty() && reader.findings.is_empty() {
        let start = Span::new(0, source.line(1).end);
        reader
            .error("missing-key", "this file has no cases".into(), start)
            .help = Some("write `[[case]]`, with `tool`, `args` and `expect` below it".into());
    }
    if reader.findings.is_empty() {
        Ok(Cases {
            source: Arc::clone(source),
            cases,
        })
    } else {
        Err(reader.findings)
    }
}

struct Reader<'s> {
    source: &'s Arc<Source>,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn error(&mut self, code: &'static str, message: String, span: Span) -> &mut Finding {
        let finding = Finding::error(code, message, self.source, span);
        pushed(&mut self.findings, finding)
    }

    fn wrong_type(&mut self, node: &Node, name: &str, wanted: &str) {
        let message = format!("`{name}` takes {wanted}, not {}", node.value.kind());
        self.error("wrong-type", message, node.span);
    }

    fn unknown_key(&mut self, key: &Key, place: &str, known: &[&[&str]]) {
        let known: Vec<&str> = known.iter().copied().flatten().copied().collect();
        let help = match near::nearest(&key.name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("{place} knows `{}`", known.join("`, `")),
        };
        let message = format!("{place} has no key `{}`", key.name);
        self.error("unknown-key", message, key.span).help = Some(help);
    }

    // --- the three spellings

    fn tree(&mut self) -> Vec<Case> {
        let tree = source::read(self.source);
        let broken = !tree.findings.is_empty();
        self.findings.extend(tree.findings);
        let empty = Table::default();
        let root = tree.root.value.as_table().unwrap_or(&empty);
        for entry in &root.entries {
            if !FILE.contains(&entry.key.name.as_str()) {
                self.unknown_key(&entry.key, "a case file", &[FILE]);
            }
        }
        let under = self.under(root);
        let nodes = match root.get("case") {
            None => return Vec::new(),
            Some(node) => match node.value.as_list() {
                Some(nodes) => nodes,
                None => {
                    self.wrong_type(node, "case", "a list of cases");
                    return Vec::new();
                }
            },
        };
        nodes
            .iter()
            .filter_map(|node| self.case(node, under.as_ref(), broken))
            .collect()
    }

    fn lines(&mut self) -> Vec<Case> {
        let mut cases = Vec::new();
        let mut under = None;
        let mut first = true;
        for number in 1.. {
            let span = self.source.line(number);
            if span.start >= self.source.text.len() {
                break;
            }
            let text = span.of(&self.source.text).trim_start_matches('\u{feff}');
            if text.trim().is_empty() {
                continue;
            }
            let head = std::mem::replace(&mut first, false);
            let value = match strict_json::read(text) {
                Ok((value, twice)) if twice.is_empty() => value,
                Ok((_, twice)) => {
                    let message = format!("this line gives `{}` twice", twice.join("`, `"));
                    self.error("duplicate-key", message, span).help = Some(
                        "arguments that give a key twice are written as text: `\"args\": \"{…}\"`"
                            .into(),
                    );
                    continue;
                }
                Err(why) => {
                    let at = span.start + why.column().saturating_sub(1).min(text.len());
                    let message = format!("this line is not JSON: {}", unplaced(&why));
                    self.error("syntax", message, Span::new(at, (at + 1).min(span.end)));
                    continue;
                }
            };
            let node = tree_of(&value, span);
            let header = node.value.as_table().is_some_and(|table| {
                !table.entries.is_empty()
                    && table
                        .entries
                        .iter()
                        .all(|entry| matches!(entry.key.name.as_str(), "policy" | "layers"))
            });
            match (head && header, &node.value) {
                (true, Value::Table(table)) => under = self.under(table),
                _ => cases.extend(self.case(&node, under.as_ref(), false)),
            }
        }
        cases
    }

    // --- one case

    fn case(&mut self, node: &Node, under: Option<&Placed<Under>>, broken: bool) -> Option<Case> {
        let Some(table) = node.value.as_table() else {
            self.wrong_type(node, "case", "a table");
            return None;
        };
        let mut call = Map::new();
        for entry in &table.entries {
            let name = entry.key.name.as_str();
            if CALL.contains(&name) {
                let value = json(&entry.value);
                // Each alone first: so an error is about this key and stands at this key.
                let mut alone = Map::new();
                alone.insert("tool".into(), "".into());
                alone.insert(name.into(), value.clone());
                let read =
                    serde_json::from_value::<Call>(alone.into()).map_err(|why| why.to_string());
                match read.and_then(|call| call.check()) {
                    Ok(()) => {
                        call.insert(name.into(), value);
                    }
                    Err(why) => {
                        let message = format!("`{name}` is not what a call holds: {why}");
                        self.error("wrong-type", message, entry.value.span);
                    }
                }
            } else if !CASE.contains(&name) {
                self.unknown_key(&entry.key, "a case", &[CASE, CALL]);
            }
        }
        let name = self.text(table, "name");
        let note = self.text(table, "note");
        let expect = table.get("expect").map(|node| self.expect(node));
        let own = self.under(table);
        // Misspelt, it was told already.
        let misspelt = table
            .entries
            .iter()
            .any(|entry| near::nearest(&entry.key.name, ["tool"]).is_some());
        if table.get("tool").is_none() && !misspelt && !broken {
            self.error("missing-key", "a case needs `tool`".into(), node.span)
                .help =
                Some("write the call: `tool = \"bash\"`, `args = { command = \"ls\" }`".into());
        }
        let under = match own.or_else(|| under.cloned()) {
            Some(under) => under,
            None => {
                if table.get("policy").is_none() && table.get("layers").is_none() && !broken {
                    self.error("missing-key", "this case names no policy".into(), node.span)
                        .help = Some("write `policy = \"acl.toml\"` at the top of the file: a path relative to it, or `acl:NAME`".into());
                }
                return None;
            }
        };
        let mut call: Call = serde_json::from_value(call.into()).ok()?;
        call.cwd = call
            .cwd
            .or_else(|| call.workspace.clone())
            .or_else(|| Some(WORKSPACE.into()));
        call.home = call.home.or_else(|| Some(HOME.into()));
        Some(Case {
            name: name.unwrap_or_else(|| one_line(&call)),
            note,
            call,
            under,
            expect: match expect {
                Some(None) => return None,
                Some(expect) => expect,
                None => None,
            },
            names: names(table),
            place: Place {
                source: Arc::clone(self.source),
                span: node.span,
            },
        })
    }

    /// `policy` or `layers`, of the file or of a case.
    fn under(&mut self, table: &Table) -> Option<Placed<Under>> {
        if let (Some(_), Some(layers)) = (table.get("policy"), table.entry("layers")) {
            self.error(
                "contradicting-options",
                "`policy` and `layers` stand side by side".into(),
                layers.key.span,
            )
            .help = Some("keep one of them; `policy` is the user layer alone".into());
            return None;
        }
        if let Some(node) = table.get("policy") {
            let Some(name) = node.value.as_text() else {
                self.wrong_type(node, "policy", "a path or `acl:NAME`");
                return None;
            };
            return Some(Placed {
                value: Under::Policy(name.to_owned()),
                span: node.span,
            });
        }
        let node = table.get("layers")?;
        let Some(layers) = node.value.as_table() else {
            self.wrong_type(node, "layers", "a table: layer → policy");
            return None;
        };
        let mut out = Vec::new();
        for entry in &layers.entries {
            match (
                LayerKind::parse(&entry.key.name),
                entry.value.value.as_text(),
            ) {
                (Some(kind), Some(file)) => out.push((kind, file.to_owned())),
                (None, _) => {
                    let known: &[&str] = &["managed", "user", "local", "project"];
                    self.unknown_key(&entry.key, "`layers`", &[known]);
                }
                (_, None) => self.wrong_type(&entry.value, &entry.key.name, "a path or `acl:NAME`"),
            }
        }
        if layers.entries.is_empty() {
            self.error("missing-key", "`layers` names no policy".into(), node.span);
        }
        Some(Placed {
            value: Under::Layers(out),
            span: node.span,
        })
    }

    /// `expect`; none where it is wrong, which is told.
    fn expect(&mut self, node: &Node) -> Option<Expect> {
        let told = self.findings.len();
        let expect = match &node.value {
            Value::Text(_) => Expect::verdict(self.verdict(node, "expect")?),
            Value::Table(table) => {
                for entry in &table.entries {
                    if !EXPECT.contains(&entry.key.name.as_str()) {
                        self.unknown_key(&entry.key, "`expect`", &[EXPECT]);
                    }
                }
                let Some(action) = table.get("action") else {
                    self.error("missing-key", "`expect` needs `action`".into(), node.span)
                        .help = Some(
                        "write `action = \"deny\"`, or a verdict alone: `expect = \"deny\"`".into(),
                    );
                    return None;
                };
                let mut expect = Expect::verdict(self.verdict(action, "action")?);
                if let Some(also) = table.get("also") {
                    let nodes = also.value.as_list().unwrap_or(std::slice::from_ref(also));
                    expect.also = nodes
                        .iter()
                        .filter_map(|node| self.verdict(node, "also"))
                        .collect();
                }
                expect.rule = self.text(table, "rule");
                expect.source = self.text(table, "source");
                expect.basis = self
                    .choice(table, "basis", &Basis::ALL.map(Basis::name))
                    .and_then(|name| Basis::ALL.into_iter().find(|own| own.name() == name));
                expect.grant_scope = self.choice(table, "grant_scope", &["session", "global"]);
                expect.reasons = self.texts(table, "reasons");
                expect.keys = self.texts(table, "keys");
                expect
            }
            _ => {
                self.wrong_type(node, "expect", "a verdict or a table with `action`");
                return None;
            }
        };
        (self.findings.len() == told).then_some(expect)
    }

    fn verdict(&mut self, node: &Node, name: &str) -> Option<Verdict> {
        let Some(text) = node.value.as_text() else {
            self.wrong_type(node, name, "`allow`, `ask` or `deny`");
            return None;
        };
        let verdict = Verdict::parse(text);
        if verdict.is_none() {
            let near = near::nearest(text, ["allow", "ask", "deny"]);
            let message = format!("`{name}` is `allow`, `ask` or `deny`, not `{text}`");
            self.error("unknown-verdict", message, node.span).help =
                near.map(|near| format!("did you mean `{near}`?"));
        }
        verdict
    }

    fn text(&mut self, table: &Table, name: &str) -> Option<String> {
        let node = table.get(name)?;
        match node.value.as_text() {
            Some(text) => Some(text.to_owned()),
            None => {
                self.wrong_type(node, name, "text");
                None
            }
        }
    }

    fn texts(&mut self, table: &Table, name: &str) -> Option<Vec<String>> {
        let node = table.get(name)?;
        let Some(nodes) = node.value.as_list() else {
            self.wrong_type(node, name, "a list");
            return None;
        };
        let mut out = Vec::new();
        for node in nodes {
            match node.value.as_text() {
                Some(text) => out.push(text.to_owned()),
                None => self.wrong_type(node, name, "a list of texts"),
            }
        }
        Some(out)
    }

    fn choice(&mut self, table: &Table, name: &str, known: &[&str]) -> Option<String> {
        let text = self.text(table, name)?;
        if known.contains(&text.as_str()) {
            return Some(text);
        }
        let span = table.get(name).map(|node| node.span).unwrap_or_default();
        let help = match near::nearest(&text, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are `{}`", known.join("`, `")),
        };
        self.error("wrong-type", format!("there is no {name} `{text}`"), span)
            .help = Some(help);
        None
    }

    fn same_names(&mut self, cases: &[Case]) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for case in cases {
            match seen.get(case.name.as_str()) {
                None => {
                    seen.insert(&case.name, case.place.span);
                }
                Some(first) => {
                    // Its snapshot is found by its name, and so is the case by whoever reads of it.
                    let finding = Finding::error(
                        "duplicate-id",
                        format!("two cases are named `{}`", case.name),
                        self.source,
                        case.place.span,
                    )
                    .label("the second")
                    .also(self.source, *first, "the first")
                    .help("give one of them another `name`");
                    self.findings.push(finding);
                }
            }
        }
    }
}

/// The facts and sources that a case names.
fn names(case: &Table) -> Vec<Name> {
    let keys = |of: &str| {
        let table = case.get(of).and_then(|node| node.value.as_table());
        table.into_iter().flat_map(|table| &table.entries)
    };
    let named = |kind| {
        move |entry: &Entry| Name {
            kind,
            name: Placed {
                value: entry.key.name.clone(),
                span: entry.key.span,
            },
        }
    };
    let expect = case.get("expect").and_then(|node| node.value.as_table());
    let wanted = expect.and_then(|expect| {
        let node = expect.get("source")?;
        Some(Name {
            kind: Kind::Source,
            name: Placed {
                value: node.value.as_text()?.to_owned(),
                span: node.span,
            },
        })
    });
    let facts = keys("facts").map(named(Kind::Fact));
    let sources = keys("verdicts").map(named(Kind::Source));
    facts.chain(sources).chain(wanted).collect()
}

/// What serde_json says, without the place that the snippet shows.
fn unplaced(why: &serde_json::Error) -> String {
    let text = why.to_string();
    match text.rfind(" at line ") {
        Some(at) => text.get(..at).unwrap_or_default().to_owned(),
        None => text,
    }
}

/// JSON as a tree whose every place is one line.
fn tree_of(value: &serde_json::Value, span: Span) -> Node {
    use serde_json::Value as Json;
    let value = match value {
        Json::Null => Value::Null,
        Json::Bool(bool) => Value::Bool(*bool),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Integer(whole),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(|item| tree_of(item, span)).collect()),
        Json::Object(map) => Value::Table(Table {
            entries: map
                .iter()
                .map(|(name, value)| Entry {
                    key: Key {
                        name: name.clone(),
                        span,
                    },
                    value: tree_of(value, span),
                })
                .collect(),
        }),
    };
    Node { span, value }
}

/// A tree as JSON.
fn json(node: &Node) -> serde_json::Value {
    use serde_json::Value as Json;
    match &node.value {
        Value::Null => Json::Null,
        Value::Bool(bool) => Json::Bool(*bool),
        Value::Integer(number) => Json::Number((*number).into()),
        Value::Float(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Value::Text(text) | Value::Datetime(text) => Json::String(text.clone()),
        Value::List(nodes) => nodes.iter().map(json).collect(),
        Value::Table(table) => Json::Object(
            table
                .entries
                .iter()
                .map(|entry| (entry.key.name.clone(), json(&entry.value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(name: &str, text: &str) -> Vec<(&'static str, String)> {
        let source = Arc::new(Source::new(name, text, None).unwrap());
        match read(&source) {
            Ok(_) => Vec::new(),
            Err(findings) => findings
                .into_iter()
                .map(|finding| {
                    let label = &finding.labels[0];
                    (finding.code, label.span.of(&label.source.text).to_owned())
                })
                .collect(),
        }
    }

    #[test]
    fn the_keys_of_a_call_are_those_that_calls_have() {
        let why = serde_json::from_str::<Call>(r#"{"tool": "x", "nonsense": 1}"#).unwrap_err();
        let known: Vec<String> = why
            .to_string()
            .split('`')
            .skip(3)
            .step_by(2)
            .map(str::to_owned)
            .collect();
        assert_eq!(known, CALL);
    }

    #[test]
    fn errors_stand_where_they_are_and_come_together() {
        let toml = "policy = 'p.toml'\n[[case]]\ntool = 'bash'\ncwdd = '/w'\nmode = 'plann'\nexpect = 'denny'\n[[case]]\nname = 1\n";
        let wanted = [
            ("unknown-key", "cwdd"),
            ("wrong-type", "'plann'"),
            ("unknown-verdict", "'denny'"),
            ("wrong-type", "1"),
            ("missing-key", "[[case]]"),
        ];
        let found = codes("a.cases.toml", toml);
        let found: Vec<_> = found
            .iter()
            .map(|(code, at)| (*code, at.as_str()))
            .collect();
        assert_eq!(found, wanted);
        assert_eq!(codes("a.cases.toml", "")[0].0, "missing-key");
        let twice = "{\"policy\": \"p\"}\n{\"tool\": \"a\"}\n{\"tool\": \"a\"}\n";
        assert_eq!(codes("a.jsonl", twice)[0].0, "duplicate-id");
        let bad = "{\"policy\": \"p\"}\n{\"tool\": \"a\", \"tool\": \"b\"}\n{\"tool\": }\n";
        let found: Vec<_> = codes("a.jsonl", bad)
            .into_iter()
            .map(|(code, _)| code)
            .collect();
        assert_eq!(found, ["duplicate-key", "syntax"]);
    }

    #[test]
    fn layers_and_defaults() {
        let text =
            "case:\n- {tool: read, layers: {user: u.toml, project: p.yaml}, workspace: /w}\n";
        let source = Arc::new(Source::new("a.cases.yaml", text, None).unwrap());
        let case = read(&source).unwrap().cases.remove(0);
        let layers = vec![
            (LayerKind::User, "u.toml".to_owned()),
            (LayerKind::Project, "p.yaml".to_owned()),
        ];
        assert_eq!(case.under.value, Under::Layers(layers));
        assert_eq!(case.call.cwd.as_deref(), Some("/w"));
        assert_eq!(case.call.home.as_deref(), Some(HOME));
        assert_eq!((case.name.as_str(), case.line()), ("read()", 2));
    }
}
