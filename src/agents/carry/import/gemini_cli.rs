//! Gemini CLI: policy files, TOML with `[[rule]]`.
//!
//! The rule of the highest priority that matches decides; so the policy made of it goes by order. A condition that acl
//! cannot see is dropped from a question or a refusal, and an allow that has one is left out: what comes after it in
//! order is never laxer.

use super::draft::{Draft, Entry, What};
use super::made::{self, Made};
use crate::agents::carry::{Carried, Fidelity, Report};
use crate::agents::gemini_cli::TOOLS;
use crate::finding::Finding;
use crate::policy::rule::Verdict;
use crate::source::{self, Node, Source, Table, Value};
use std::sync::Arc;

/// What Gemini CLI lets pass by the policy it brings.
const PASSES: &[&str] = &["read", "search", "list", "own"];

const NOTES: &[&str] = &[
    "the rules stand in the order of their priority, and the first that matches decides; of equal ones the strictest stands first",
    "acl judges what a command does, however it is spelled; Gemini CLI compares texts",
    "what no rule names asks here, but for the tools that only look",
];

const KEYS: &[&str] = &[
    "toolName",
    "decision",
    "priority",
    "commandPrefix",
    "commandRegex",
    "argsPattern",
    "mcpName",
    "modes",
    "interactive",
    "allowRedirection",
    "denyMessage",
    "name",
    "description",
];

pub(in crate::agents::carry) fn import(source: &Arc<Source>) -> Result<Carried, Vec<Finding>> {
    let tree = source::read(source);
    let mut findings = tree.findings;
    let mut draft = Draft {
        head: vec![
            format!("Made by `acl import gemini-cli` from {}.", source.name),
            "Every entry names the rule it comes from; what differs is in the report of the import.".to_owned(),
        ],
        ordered: true,
        passes: PASSES.to_vec(),
        ..Draft::default()
    };
    let mut report = Report::default();
    let mut rules: Vec<(usize, Rule<'_>)> = Vec::new();
    let root = tree.root.value.as_table();
    for entry in root.map(|root| root.entries.as_slice()).unwrap_or_default() {
        if entry.key.name != "rule" {
            let at = made::line(source, entry.key.span);
            let made = Made::not("it is no rule about calls: keep it in Gemini CLI's settings");
            made.record(at, entry.key.name.clone(), source, &mut draft, &mut report);
            continue;
        }
        let nodes = entry.value.value.as_list().unwrap_or_default();
        if entry.value.value.as_list().is_none() {
            findings.push(Finding::error(
                "wrong-type",
                "rules are written as `[[rule]]`",
                source,
                entry.value.span,
            ));
        }
        for node in nodes {
            match Rule::read(node, source) {
                Ok(rule) => rules.push((rules.len(), rule)),
                Err(finding) => findings.push(*finding),
            }
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    rules.sort_by_key(|(at, rule)| (-rule.priority, std::cmp::Reverse(rule.verdict), *at));
    // In the workspace's own folder nothing of this is in force.
    let ignored = source.name.contains(".gemini/policies/")
        && !source.name.starts_with('/')
        && !source.name.starts_with('~');
    let sorted: Vec<&Rule<'_>> = rules.iter().map(|(_, rule)| rule).collect();
    let mut all = Vec::new();
    for (at, (_, rule)) in rules.iter().enumerate() {
        let made = rule.made();
        let before = sorted.iter().take(at).find(|other| other.covers(rule));
        let made = match before {
            _ if ignored => Made::dead(
                "Gemini CLI ignores policies in the workspace: move the file to `~/.gemini/policies`",
                Some(made),
            ),
            _ if rule.needs_shell() => Made::dead(
                "`commandPrefix` and `commandRegex` count only for `run_shell_command`",
                Some(made),
            ),
            Some(other) => Made::dead(
                format!(
                    "the rule of line {} has a higher priority, and matches all that this one does",
                    other.line
                ),
                None,
            ),
            None => made,
        };
        all.push((rule.line, rule.shown(source), made));
    }
    Ok(made::in_order(
        all,
        Vec::new(),
        source,
        draft,
        report,
        NOTES,
    ))
}

struct Rule<'t> {
    table: &'t Table,
    line: usize,
    verdict: Verdict,
    priority: i64,
    /// Names of tools; none: any.
    tools: Vec<&'t str>,
    prefixes: Vec<&'t str>,
}

impl<'t> Rule<'t> {
    fn read(node: &'t Node, source: &Arc<Source>) -> Result<Self, Box<Finding>> {
        let wrong = |why: String, node: &Node| {
            Box::new(Finding::error("wrong-type", why, source, node.span))
        };
        let Some(table) = node.value.as_table() else {
            return Err(wrong("a rule is a table".to_owned(), node));
        };
        let verdict = match table
            .get("decision")
            .map(|node| (node, node.value.as_text()))
        {
            Some((_, Some("allow"))) => Verdict::Allow,
            Some((_, Some("ask_user"))) => Verdict::Ask,
            Some((_, Some("deny"))) => Verdict::Deny,
            Some((node, _)) => {
                return Err(wrong(
                    "`decision` is `allow`, `ask_user` or `deny`".to_owned(),
                    node,
                ));
            }
            None => return Err(wrong("this rule has no `decision`".to_owned(), node)),
        };
        let priority = match table.get("priority").map(|node| (node, &node.value)) {
            Some((_, Value::Integer(number @ 0..=999))) => *number,
            Some((node, _)) => {
                return Err(wrong(
                    "`priority` is a number from 0 to 999".to_owned(),
                    node,
                ));
            }
            None => return Err(wrong("this rule has no `priority`".to_owned(), node)),
        };
        let texts = |key: &str| match table.get(key).map(|node| (node, &node.value)) {
            None => Ok(Vec::new()),
            Some((_, Value::Text(text))) => Ok(vec![text.as_str()]),
            Some((node, Value::List(nodes))) => {
                let texts: Option<Vec<&str>> =
                    nodes.iter().map(|node| node.value.as_text()).collect();
                texts.ok_or_else(|| wrong(format!("`{key}` is a text, or a list of texts"), node))
            }
            Some((node, _)) => Err(wrong(
                format!("`{key}` is a text, or a list of texts"),
                node,
            )),
        };
        Ok(Self {
            table,
            line: made::line(source, node.span),
            verdict,
            priority,
            tools: texts("toolName")?,
            prefixes: texts("commandPrefix")?,
        })
    }

    fn text(&self, key: &str) -> Option<&'t str> {
        self.table.get(key)?.value.as_text()
    }

    fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// It speaks of commands, though not of the tool that runs them.
    fn needs_shell(&self) -> bool {
        let shell = self.tools.is_empty() || self.tools.contains(&"run_shell_command");
        (self.has("commandPrefix") || self.has("commandRegex")) && !shell
    }

    /// A key that lists nothing: then nothing matches.
    fn lists_nothing(&self) -> Option<&'static str> {
        let empty = |key: &&str| {
            self.table
                .get(key)
                .is_some_and(|node| node.value.as_list().is_some_and(<[_]>::is_empty))
        };
        ["toolName", "commandPrefix"].into_iter().find(empty)
    }

    /// A tool's name with a star that Gemini CLI does not know.
    fn odd_star(&self) -> Option<&'t str> {
        self.tools.iter().copied().find(|tool| !is_known_star(tool))
    }

    /// Whether this rule, where it stands in front, leaves nothing to the other.
    fn covers(&self, other: &Self) -> bool {
        // What narrows it narrows the other no less.
        let no_narrower = self.table.entries.iter().all(|entry| {
            let key = entry.key.name.as_str();
            match key {
                "toolName" | "decision" | "priority" | "allowRedirection" | "denyMessage"
                | "name" | "description" => true,
                "commandPrefix" => {
                    !other.prefixes.is_empty()
                        && other.prefixes.iter().all(|prefix| self.begins(prefix))
                }
                "mcpName" if self.text(key) == Some("*") => other.is_of_servers(),
                _ => other
                    .table
                    .get(key)
                    .is_some_and(|own| same(&own.value, &entry.value.value)),
            }
        });
        let names = |tool: &&str| self.tools.contains(tool) || self.tools.contains(&"*");
        let counts =
            self.lists_nothing().is_none() && self.odd_star().is_none() && !self.needs_shell();
        counts
            && no_narrower
            && self.has("mcpName") == other.is_of_servers()
            && (self.tools.is_empty() || !other.tools.is_empty() && other.tools.iter().all(names))
    }

    /// Whether it speaks of tools of MCP servers only.
    fn is_of_servers(&self) -> bool {
        let named =
            !self.tools.is_empty() && self.tools.iter().all(|tool| tool.starts_with("mcp_"));
        self.has("mcpName") || named
    }

    /// Whether every command with that prefix has one of this rule's.
    fn begins(&self, prefix: &str) -> bool {
        let rest = self
            .prefixes
            .iter()
            .filter_map(|own| prefix.strip_prefix(own));
        rest.into_iter()
            .any(|rest| rest.is_empty() || rest.starts_with(' '))
    }

    /// The keys on one line.
    fn shown(&self, source: &Source) -> String {
        let of = |node: &Node| {
            node.span
                .of(&source.text)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        let keys = self
            .table
            .entries
            .iter()
            .map(|entry| format!("{} = {}", entry.key.name, of(&entry.value)));
        keys.collect::<Vec<_>>().join(", ")
    }

    fn made(&self) -> Made {
        if let Some(key) = self.lists_nothing() {
            return Made::dead(format!("`{key}` lists nothing, so nothing matches"), None);
        }
        let listed = self
            .table
            .get("commandPrefix")
            .is_some_and(|node| node.value.as_list().is_some());
        if listed && self.prefixes.iter().any(|prefix| prefix.trim().is_empty()) {
            let why =
                "an empty `commandPrefix` in a list stands for commands that begin with a blank";
            return match self.verdict {
                Verdict::Allow => Made::not(format!("{why}: it is left to what comes after it")),
                _ => made::tool(self.verdict, &["bash"], true).but(format!(
                    "{why}: every command line is {}",
                    made::done(self.verdict)
                )),
            };
        }
        match self.odd_star() {
            Some(tool) => Made::dead(
                format!(
                    "Gemini CLI knows `*`, `mcp_*` and `mcp_SERVER_*`: `{tool}` is taken as it stands, and no tool has that name"
                ),
                Some(self.meant()),
            ),
            None => self.meant(),
        }
    }

    fn meant(&self) -> Made {
        let mut unseen = Vec::new();
        for (key, what) in [
            ("modes", "acl has no such modes"),
            ("interactive", "acl hears nothing of a terminal"),
        ] {
            if self.has(key) {
                unseen.push(format!("`{key}`: {what}"));
            }
        }
        for entry in &self.table.entries {
            let key = entry.key.name.as_str();
            if !KEYS.contains(&key) {
                unseen.push(format!("acl does not know `{key}`"));
            }
        }
        let made = match (self.text("commandRegex"), self.text("argsPattern")) {
            _ if !self.prefixes.is_empty() => self.all(self.prefixes.iter().map(|prefix| {
                let text = format!("{} *", literal(prefix));
                made::commands(self.verdict, &text, false, true)
            })),
            (Some(regex), _) => self.regex(regex),
            (None, Some(pattern)) => match pattern.strip_prefix("\"command\":\"") {
                Some(regex) => self.regex(regex),
                None => {
                    unseen.push("`argsPattern`: acl compares no texts of arguments".to_owned());
                    self.tool()
                }
            },
            (None, None) => self.tool(),
        };
        let message = self
            .text("denyMessage")
            .filter(|_| self.verdict == Verdict::Deny);
        let mut made = made.each(|entry| entry.reason = message.map(str::to_owned));
        if !unseen.is_empty() {
            let why = unseen.join("; ");
            made = match self.verdict {
                Verdict::Allow => Made::not(format!("{why}: it is left to what comes after it")),
                _ => made.but(format!("{why}: it holds without that")),
            };
        }
        if self
            .table
            .get("allowRedirection")
            .is_some_and(|node| node.value == Value::Bool(true))
        {
            made = made.but("where a redirection leads is judged by `[paths.write]` here");
        }
        made
    }

    fn all(&self, made: impl Iterator<Item = Made>) -> Made {
        let mut all = Made::full([]);
        for made in made {
            if made.fidelity != crate::agents::carry::Fidelity::Full {
                all.fidelity = crate::agents::carry::Fidelity::Partial;
            }
            all.entries.extend(made.entries);
            all.says.extend(made.says);
        }
        if all.entries.is_empty() {
            all.fidelity = crate::agents::carry::Fidelity::Not;
        }
        all
    }

    fn regex(&self, regex: &str) -> Made {
        match stars(regex, self.verdict == Verdict::Allow) {
            Ok(texts) => self.all(
                texts
                    .iter()
                    .map(|text| made::commands(self.verdict, text, false, true)),
            ),
            Err(why) if self.verdict == Verdict::Allow => {
                Made::not(format!("{why}: it is left to what comes after it"))
            }
            Err(why) => made::tool(self.verdict, &["bash"], true).but(format!(
                "{why}: every command line is {}",
                made::done(self.verdict)
            )),
        }
    }

    /// The tools as such.
    fn tool(&self) -> Made {
        let server = self.text("mcpName").map(|own| own.replace(['"', '\\'], ""));
        let mut names: Vec<String> = Vec::new();
        let mut says = Vec::new();
        if let Some(server) = &server {
            let tools = if self.tools.is_empty() {
                vec!["*"]
            } else {
                self.tools.clone()
            };
            names.extend(tools.iter().map(|tool| match (server.as_str(), *tool) {
                ("*", "*") => "mcp__*".to_owned(),
                (server, tool) => format!("mcp__{server}__{tool}"),
            }));
        } else if self.tools.is_empty() {
            names.push("*".to_owned());
        }
        for name in self.tools.iter().filter(|_| server.is_none()) {
            let Some(tool) = TOOLS.iter().find(|tool| tool.native == *name) else {
                match all_of(name).filter(|_| self.verdict == Verdict::Allow) {
                    Some(server) => names.push(format!("mcp__{server}__*")),
                    None => names.extend(made::names(TOOLS, name, "mcp_", self.verdict)),
                }
                continue;
            };
            let own: Vec<&str> = TOOLS
                .iter()
                .filter(|own| own.canonical == tool.canonical)
                .map(|own| own.native)
                .collect();
            let shares = own.iter().any(|own| !self.tools.contains(own));
            if shares && self.verdict == Verdict::Allow {
                says.push(format!(
                    "acl knows {} as one tool, `{}`: it is left to the tier",
                    own.join(", "),
                    tool.canonical
                ));
                continue;
            }
            if shares && self.verdict != Verdict::Allow {
                says.push(format!(
                    "acl knows {} as one tool, `{}`",
                    own.join(", "),
                    tool.canonical
                ));
            }
            names.push(tool.canonical.to_owned());
        }
        names.dedup();
        let entry = Entry {
            tools: names.clone(),
            ..Entry::new(self.verdict, What::Tool)
        };
        let made = match names.is_empty() {
            true => Made {
                fidelity: Fidelity::Not,
                ..Made::full([])
            },
            false => Made::full([entry]),
        };
        says.into_iter().fold(made, Made::but)
    }
}

/// The server of which a name means all tools: `mcp_SERVER_*`.
fn all_of(name: &str) -> Option<&str> {
    let server = name.strip_prefix("mcp_")?.strip_suffix("_*")?;
    (!server.contains('*')).then_some(server)
}

/// Whether a tool's name has no star, or one that Gemini CLI knows.
fn is_known_star(name: &str) -> bool {
    !name.contains('*') || ["*", "mcp_*"].contains(&name) || all_of(name).is_some()
}

/// Whether two values say the same, wherever they stand.
fn same(own: &Value, other: &Value) -> bool {
    match (own, other) {
        (Value::List(own), Value::List(others)) => {
            own.len() == others.len()
                && own
                    .iter()
                    .zip(others)
                    .all(|(own, other)| same(&own.value, &other.value))
        }
        _ => own == other,
    }
}

/// A literal text among stars.
fn literal(text: &str) -> String {
    text.replace('*', "\\*")
}

/// The texts with stars of a regular expression over a command, which starts where the command does.
fn stars(regex: &str, allow: bool) -> Result<Vec<String>, String> {
    let mut all = vec![String::new()];
    let mut chars = regex.chars().peekable();
    let mut end = false;
    while let Some(c) = chars.next() {
        if end {
            return Err("what follows the end of its text is never there".into());
        }
        let more = match c {
            '.' => match chars.next_if(|next| matches!(next, '*' | '+')) {
                Some(_) => "*".to_owned(),
                None => return Err("`.` for one character is no word".into()),
            },
            '\\' => match chars.next() {
                Some('s') => {
                    chars.next_if(|next| matches!(next, '+' | '*'));
                    " ".to_owned()
                }
                Some('b') if chars.peek().is_none() => {
                    end = true;
                    if allow {
                        " *".to_owned()
                    } else {
                        "*".to_owned()
                    }
                }
                Some(c) if !c.is_alphanumeric() && c != '*' => format!("\\{c}"),
                _ => return Err("this regular expression is more than words and stars".into()),
            },
            '(' => {
                // Of groups with a mark only those that say nothing more: `(?i)` changes what the rest matches.
                if chars.next_if_eq(&'?').is_some() && chars.next_if_eq(&':').is_none() {
                    return Err("this regular expression is more than words and stars".into());
                }
                let inside: String = chars.by_ref().take_while(|c| *c != ')').collect();
                let plain = |c: char| c.is_alphanumeric() || "-_/|. ".contains(c) && c != '.';
                if !inside.chars().all(plain) || matches!(chars.peek(), Some('*' | '+' | '?' | '{'))
                {
                    return Err("this regular expression is more than words and stars".into());
                }
                all = all
                    .iter()
                    .flat_map(|own| inside.split('|').map(move |more| format!("{own}{more}")))
                    .collect();
                continue;
            }
            '^' | '$' if allow => {
                return Err(format!(
                    "`{c}` is compared within the arguments, where it is never true"
                ));
            }
            '^' => continue,
            '$' => {
                end = true;
                continue;
            }
            '*' | '+' | '?' | '[' | ']' | '{' | '}' | ')' | '|' => {
                return Err("this regular expression is more than words and stars".into());
            }
            c => c.to_string(),
        };
        if matches!(chars.peek(), Some('*' | '+' | '?' | '{')) {
            return Err("this regular expression is more than words and stars".into());
        }
        all.iter_mut().for_each(|own| own.push_str(&more));
    }
    if !end {
        // It says nothing of what follows.
        all.iter_mut().for_each(|own| own.push('*'));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    #[test]
    fn regular_expressions() {
        let read = |regex| super::stars(regex, false).unwrap_or_default();
        assert_eq!(read("git (status|diff)"), ["git status*", "git diff*"]);
        assert_eq!(read("rm\\s+-rf.*"), ["rm -rf**"]);
        assert_eq!(read("git (?:status|diff)"), ["git status*", "git diff*"]);
        for more in [
            "npm run [a-z]+",
            "(?i)rm -rf",
            "(?i:rm) -rf",
            "(?=rm)",
            "(::a)",
        ] {
            assert_eq!(read(more), [""; 0], "{more}");
        }
        assert_eq!(
            super::stars("git status\\b", true).unwrap(),
            ["git status *"]
        );
        assert!(super::stars("^git", true).is_err());
    }
}
