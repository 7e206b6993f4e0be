//! A policy being written: entries with where they come from → its text.
//!
//! In: what rules match, as patterns of the policy language. Out: TOML that a person reads, one entry a line with its
//! origin behind it. Texts of the agent's file never end a comment or a string.

use crate::agents::carry::plain;
use crate::call::tools::canonical;
use crate::policy::rule::Verdict;
use crate::presets;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What an entry judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The tier of a tool.
    Tier(String),
    /// The calls of its tools as such.
    Tool,
    /// Commands.
    Commands(Vec<String>),
    /// Paths that are read.
    Reads(Vec<String>),
    /// Paths that are written.
    Writes(Vec<String>),
    /// Hosts.
    Hosts(Vec<String>),
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub verdict: Verdict,
    pub what: What,
    /// Only through these tools; none: all.
    pub tools: Vec<String>,
    /// Conditions on arguments: name and TOML value.
    pub args: Vec<(String, String)>,
    /// Conditions on facts: name and text.
    pub when: Vec<(String, String)>,
    pub exact: bool,
    pub reason: Option<String>,
    /// What it must match, and must not.
    pub examples: [Vec<String>; 2],
    /// Where it comes from.
    pub from: String,
}

impl Entry {
    pub(super) fn new(verdict: Verdict, what: What) -> Self {
        Self {
            verdict,
            what,
            tools: Vec::new(),
            args: Vec::new(),
            when: Vec::new(),
            exact: false,
            reason: None,
            examples: [Vec::new(), Vec::new()],
            from: String::new(),
        }
    }

    pub(super) fn through(mut self, tools: &[&str]) -> Self {
        self.tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        self
    }

    /// Whether it says the same, wherever it comes from.
    fn is(&self, other: &Self) -> bool {
        let from = other.from.clone();
        *other
            == Self {
                from,
                ..self.clone()
            }
    }

    /// Whether a call may be one of both: no only where that is sure.
    pub(super) fn reaches(&self, other: &Self) -> bool {
        let tools = |own: &Self| match &own.what {
            _ if !own.tools.is_empty() => Some(own.tools.clone()),
            What::Tier(name) => Some(vec![name.clone()]),
            What::Commands(_) => Some(vec!["bash".to_owned()]),
            _ => None,
        };
        let plain = |own: &[String]| own.iter().all(|name| canonical(name).is_some());
        let apart = match (tools(self), tools(other)) {
            (Some(own), Some(others)) if plain(&own) && plain(&others) => {
                own.iter().all(|name| !others.contains(name))
            }
            _ => false,
        };
        let programs = |own: &Self| -> Option<Vec<String>> {
            let What::Commands(texts) = &own.what else {
                return None;
            };
            let first = |text: &String| {
                let word = text.split(' ').next().unwrap_or_default();
                let plain = word
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
                plain.then(|| word.to_owned())
            };
            texts.iter().map(first).collect()
        };
        let others = match (programs(self), programs(other)) {
            (Some(own), Some(others)) => own.iter().all(|name| !others.contains(name)),
            _ => false,
        };
        !apart && !others
    }
}

/// What stands in every policy that is made: what agents keep their hands off by themselves, and what acl rests on.
struct Kept {
    about: &'static str,
    verdict: Verdict,
    id: &'static str,
    /// The rules of `acl:floor` whose patterns these are.
    floor: &'static [&'static str],
    /// Why; none: that of the floor.
    reason: Option<&'static str>,
    /// Folders that are kept as a whole, wherever they lie, and names.
    more: [&'static [&'static str]; 2],
    /// What they are patterns of, with what goes with it.
    keys: (&'static str, &'static str),
}

const KEPT: &[Kept] = &[
    Kept {
        about: "who may edit the rules has no rules",
        verdict: Verdict::Deny,
        id: "acl-policy",
        floor: &["acl-policy"],
        reason: None,
        more: [&[], &[]],
        keys: ("paths", "access = \"write\"\n"),
    },
    Kept {
        about: "trust and grants are the user's to give",
        verdict: Verdict::Deny,
        id: "self-approval",
        floor: &["self-approval"],
        reason: None,
        more: [&[], &[]],
        keys: ("commands", ""),
    },
    Kept {
        about: "agents protect these by themselves: what stands there runs, or decides what runs",
        verdict: Verdict::Ask,
        id: "protected-folders",
        floor: &["agent-settings", "git-hooks", "shell-startup"],
        reason: Some("what stands there runs, or decides what runs"),
        more: [
            &[
                ".git",
                ".vscode",
                ".idea",
                ".husky",
                ".claude",
                ".codex",
                ".gemini",
                ".cursor",
                ".opencode",
            ],
            &[".gitmodules", ".gitconfig"],
        ],
        keys: ("paths", "access = \"write\"\n"),
    },
];

impl Kept {
    /// The rule as a policy writes it; where order decides, a question in front would take the place of a refusal behind it.
    fn text(&self, ordered: bool) -> String {
        let Self {
            about, id, keys, ..
        } = self;
        let verdict = if ordered { Verdict::Deny } else { self.verdict };
        let (key, more) = keys;
        let mut out =
            format!("\n[[rules]]    # {about}\naction = \"{verdict}\"\nid = \"{id}\"\n{key} = [\n");
        let [folders, names] = self.more;
        let mut own = Vec::new();
        if !folders.is_empty() {
            own = vec![
                format!("/**/{{{}}}/**", folders.join(",")),
                format!("{{{}}}", names.join(",")),
            ];
        }
        let covered = |text: &String| {
            let below = |folder: &&str| {
                text.strip_prefix("/**/")
                    .is_some_and(|rest| rest.starts_with(&format!("{folder}/")))
            };
            folders.iter().any(below)
                || names
                    .iter()
                    .any(|name| text.strip_prefix("~/") == Some(name))
        };
        let rules = self
            .floor
            .iter()
            .filter_map(|id| presets::rule("floor", id));
        let (mut lists, reasons): (Vec<Vec<String>>, Vec<String>) = rules.unzip();
        lists
            .iter_mut()
            .for_each(|list| list.retain(|text| !covered(text)));
        for list in std::iter::once(own)
            .chain(lists)
            .filter(|list| !list.is_empty())
        {
            let _ = writeln!(out, "  {},", joined(&list));
        }
        let reason = self
            .reason
            .or(reasons.first().map(String::as_str))
            .map(quoted)
            .unwrap_or_default();
        let _ = writeln!(out, "]\n{more}reason = {reason}");
        out
    }
}

/// What the report says of them.
pub(in crate::agents::carry) const KEPT_NOTE: &str = "every policy that is made asks about writes to `.git`, to folders of editors and agents and to startup files, whatever allows edits (where order decides, it denies them), and denies those to acl's own policy (rules `protected-folders`, `acl-policy`, `self-approval`)";

/// A policy being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// What the file is, one line of a comment each.
    pub head: Vec<String>,
    /// Order decides: the first entry that matches.
    pub ordered: bool,
    pub roots: Vec<String>,
    pub outside: Option<Verdict>,
    /// Name, and what it tells.
    pub facts: Vec<(String, String)>,
    /// What the agent lets pass of itself.
    pub passes: Vec<&'static str>,
    pub entries: Vec<Entry>,
    /// Lines of a comment at the end: what is not in force.
    pub left_out: Vec<String>,
    /// Without what stands in every policy that is made: to try an entry alone.
    pub bare: bool,
}

impl Draft {
    /// Adds an entry and says its address. One that is there already is not added again.
    pub(super) fn add(&mut self, entry: Entry) -> String {
        let same = |own: &Entry| own.what == entry.what && own.is(&entry);
        let at = self.entries.iter().position(same).unwrap_or_else(|| {
            self.entries.push(entry);
            self.entries.len() - 1
        });
        self.address(at)
    }

    /// The place of an entry in the list it will stand in.
    fn address(&self, at: usize) -> String {
        let list = |own: &Entry| self.list(own);
        let Some(own) = self.entries.get(at).map(list) else {
            return String::new();
        };
        let before = self.entries.iter().take(at);
        let mut count = before.filter(|entry| list(entry) == own).count();
        if own == "tiers.allow" && !self.passes.is_empty() {
            count += self.passes.len();
        }
        if own == "rules" {
            count += KEPT.len();
        }
        format!("{own}[{count}]")
    }

    fn list(&self, entry: &Entry) -> String {
        let section = match entry.what {
            What::Tier(_) => "tiers",
            _ if self.ordered || !entry.when.is_empty() => return "rules".to_owned(),
            What::Tool => return "rules".to_owned(),
            What::Commands(_) => "commands",
            What::Reads(_) => "paths.read",
            What::Writes(_) => "paths.write",
            What::Hosts(_) => "hosts",
        };
        format!("{section}.{}", entry.verdict)
    }

    /// The policy.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for line in &self.head {
            let _ = writeln!(out, "# {}", plain(line));
        }
        out += "\nversion = 1\n";
        if self.ordered {
            out += "resolution = \"first-match\"    # the order of the rules below decides\n";
        }
        let outside = self.outside.unwrap_or(Verdict::Ask);
        let roots: Vec<String> = self.roots.iter().map(|root| quoted(root)).collect();
        let _ = write!(out, "\n[workspace]\n");
        if !roots.is_empty() {
            let _ = writeln!(out, "roots   = [{}]", roots.join(", "));
        }
        let _ = writeln!(out, "outside = \"{outside}\"");
        if !self.facts.is_empty() {
            out += "\n[facts]\n";
            for (name, about) in &self.facts {
                let _ = writeln!(out, "{name} = {{ about = {} }}", quoted(about));
            }
        }
        let tools = self.tools();
        if !tools.is_empty() {
            out += "\n[tools]    # which of their arguments is what nobody has said yet\n";
            for tool in tools {
                let _ = writeln!(out, "{} = {{}}", quoted(tool));
            }
        }
        // A name of another script is that name there too: told, not refused.
        let other = |entry: &Entry| {
            !entry
                .matched()
                .1
                .unwrap_or_default()
                .iter()
                .all(|text| text.is_ascii())
        };
        if self.entries.iter().any(other) {
            out += "\n[lints]\nlook-alike-characters = \"warn\"\n";
        }
        out += "\n[tiers]\n";
        for verdict in [Verdict::Allow, Verdict::Ask, Verdict::Deny] {
            let passes = match verdict {
                Verdict::Allow => self.passes.as_slice(),
                _ => &[],
            };
            self.write(
                &mut out,
                &format!("tiers.{verdict}"),
                verdict.name(),
                passes,
            );
        }
        out += "unknown = \"default\"    # the agent asks about a tool that no rule names\n";
        for section in ["commands", "paths.read", "paths.write", "hosts"] {
            let lists = [Verdict::Allow, Verdict::Ask, Verdict::Deny];
            let lists = lists.map(|verdict| (format!("{section}.{verdict}"), verdict));
            let there = |list: &str| self.entries.iter().any(|own| self.list(own) == list);
            if !lists.iter().any(|(list, _)| there(list)) {
                continue;
            }
            let _ = writeln!(out, "\n[{section}]");
            for (list, verdict) in &lists {
                self.write(&mut out, list, verdict.name(), &[]);
            }
        }
        for kept in KEPT.iter().filter(|_| !self.bare) {
            out += &kept.text(self.ordered);
        }
        for entry in self.entries.iter().filter(|own| self.list(own) == "rules") {
            let _ = writeln!(out, "\n[[rules]]    # from {}", plain(&entry.from));
            let _ = writeln!(out, "action = \"{}\"", entry.verdict);
            let (key, texts) = entry.matched();
            if let Some(texts) = texts {
                let key = if key.is_empty() { "paths" } else { key };
                let _ = writeln!(out, "{key} = {}", listed(texts));
            }
            match entry.what {
                What::Reads(_) => out += "access = \"read\"\n",
                What::Writes(_) => out += "access = \"write\"\n",
                _ => {}
            }
            for field in entry.fields() {
                out += &field;
                out.push('\n');
            }
        }
        if !self.left_out.is_empty() {
            out += "\n# Not in force there, nor here:\n";
            for line in &self.left_out {
                let _ = writeln!(out, "#   {}", plain(line));
            }
        }
        out
    }

    /// The agent's tools that acl has no name for.
    fn tools(&self) -> BTreeSet<&str> {
        let named = self.entries.iter().flat_map(|entry| {
            let tier = match &entry.what {
                What::Tier(name) => Some(name),
                _ => None,
            };
            entry.tools.iter().chain(tier).map(String::as_str)
        });
        let other =
            |name: &&str| !name.starts_with("mcp__") && !name.contains(['*', '?', '[', '{']);
        named
            .filter(other)
            .filter(|name| canonical(name).is_none())
            .collect()
    }

    /// A list of a section.
    fn write(&self, out: &mut String, list: &str, name: &str, passes: &[&str]) {
        let own: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|own| self.list(own) == list)
            .collect();
        if own.is_empty() && passes.is_empty() {
            return;
        }
        let _ = writeln!(out, "{name} = [");
        if !passes.is_empty() {
            let passes: Vec<String> = passes.iter().map(|tool| quoted(tool)).collect();
            let _ = writeln!(
                out,
                "  {},    # the agent asks nobody about these",
                passes.join(", ")
            );
        }
        for entry in own {
            let _ = writeln!(out, "  {},    # from {}", entry.short(), plain(&entry.from));
        }
        out.push_str("]\n");
    }
}

impl Entry {
    /// The key of the long form, and what it matches.
    fn matched(&self) -> (&'static str, Option<&[String]>) {
        match &self.what {
            What::Tier(name) => ("tools", Some(std::slice::from_ref(name))),
            What::Tool => ("", None),
            What::Commands(texts) => ("commands", Some(texts)),
            What::Reads(texts) | What::Writes(texts) => ("paths", Some(texts)),
            What::Hosts(texts) => ("hosts", Some(texts)),
        }
    }

    /// The fields besides what it matches, one line each.
    fn fields(&self) -> Vec<String> {
        let mut fields = Vec::new();
        if !self.tools.is_empty() {
            fields.push(format!("tools = {}", listed(&self.tools)));
        }
        let table = |pairs: &[(String, String)]| {
            let pairs: Vec<String> = pairs
                .iter()
                .map(|(name, value)| format!("{} = {value}", quoted(name)))
                .collect();
            format!("{{ {} }}", pairs.join(", "))
        };
        if !self.args.is_empty() {
            fields.push(format!("args = {}", table(&self.args)));
        }
        if !self.when.is_empty() {
            fields.push(format!("when = {}", table(&self.when)));
        }
        if self.exact {
            fields.push("exact = true".to_owned());
        }
        if let Some(reason) = &self.reason {
            fields.push(format!("reason = {}", quoted(reason)));
        }
        let [matching, other] = &self.examples;
        let examples = [("match", matching), ("no_match", other)];
        let examples: Vec<String> = examples
            .iter()
            .filter(|(_, lines)| !lines.is_empty())
            .map(|(key, lines)| format!("{key} = [{}]", joined(lines)))
            .collect();
        if !examples.is_empty() {
            fields.push(format!("examples = {{ {} }}", examples.join(", ")));
        }
        fields
    }

    /// The entry of a list.
    fn short(&self) -> String {
        let (_, texts) = self.matched();
        let texts = texts.map(listed).unwrap_or_default();
        let fields = self.fields();
        if fields.is_empty() && !texts.starts_with('[') || matches!(self.what, What::Tier(_)) {
            return texts;
        }
        let fields: Vec<String> = std::iter::once(format!("match = {texts}"))
            .chain(fields)
            .collect();
        format!("{{ {} }}", fields.join(", "))
    }
}

/// One text, or a list of them.
fn listed(texts: &[String]) -> String {
    match texts {
        [one] => quoted(one),
        _ => format!("[{}]", joined(texts)),
    }
}

fn joined(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    texts.join(", ")
}

/// A TOML string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_comment_or_a_string() {
        let mut draft = Draft::default();
        let mut entry = Entry::new(Verdict::Deny, What::Commands(vec!["a\"]\nx = 1 #".into()]));
        entry.from = "a\n]\n[tiers]\nallow = [\"*\"]".into();
        draft.add(entry);
        let text = draft.text();
        let source =
            std::sync::Arc::new(crate::source::Source::new("a.toml", text.clone(), None).unwrap());
        assert_eq!(crate::source::read(&source).findings, [], "{text}");
        assert!(!text.contains("\n[tiers]\nallow"), "{text}");
    }
}
