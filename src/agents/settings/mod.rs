//! An agent's settings file, edited as text: what acl adds, and takes out again. All else stays byte for byte.
//!
//! In: the text, and the [`Entries`] that are to be there. Out: the new text, or a sentence about why it cannot be had.
//! What is there already is left alone; what is put in comes out as it went in. The files themselves are `cli/`'s.

mod doubts;
mod json;

pub use doubts::switched_off;

use crate::text::Span;
use json::{Child, Document, Kind, Node};
use serde_json::Value;

/// Where an agent keeps its hooks, and what acl puts there.
#[derive(Debug)]
pub struct Settings {
    /// Names below a project or a home that tell that the agent is in use.
    pub signs: &'static [&'static str],
    /// The file of a project.
    pub project: &'static str,
    /// The file of a user, below their home.
    pub user: &'static str,
    /// Files besides, below a project, in which a switch may turn all hooks off.
    pub also: &'static [&'static str],
    /// What is to stand in it, as JSON with `COMMAND` for the hook's command; none: the file is the plugin.
    pub entries: Option<&'static str>,
    /// Options that the hook is installed with.
    pub options: &'static str,
    /// It takes comments in that file.
    pub comments: bool,
}

/// What is to stand in a settings file.
pub struct Entries<'e> {
    /// The agent's name on the command line.
    pub agent: &'static str,
    /// The settings.
    pub settings: &'static Settings,
    /// The command of the hook.
    pub command: &'e str,
    /// Whether a command that is there already can be started.
    pub starts: &'e dyn Fn(&str) -> bool,
}

/// The program of a command that runs acl's hook of an agent; none where it does something else.
pub fn program<'c>(command: &'c str, agent: &str) -> Option<&'c str> {
    let (before, after) = command.split_once(" hook ")?;
    let named = after.split_whitespace().next() == Some(agent);
    let before = before.trim();
    let quoted = |quote: char| before.strip_prefix(quote)?.strip_suffix(quote);
    // Words in front of it make it another program's word: `echo acl hook …`.
    let program = match quoted('\'').or_else(|| quoted('"')) {
        Some(program) => program,
        None => Some(before).filter(|before| !before.contains(char::is_whitespace))?,
    };
    let name = program.rsplit(['/', '\\']).next()?;
    (named && matches!(name, "acl" | "acl.exe")).then_some(program)
}

/// What stands behind the words of a command: other commands, or where its output goes.
pub fn behind(command: &str) -> &str {
    let mut quote = None;
    for (at, c) in command.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if "|&;<>\n".contains(c) => {
                let words = command.get(..at).unwrap_or_default();
                let words = words.trim_end_matches(|c: char| c.is_ascii_digit());
                return command.get(words.len()..).unwrap_or_default().trim();
            }
            None => {}
        }
    }
    ""
}

/// Whether what stands behind a command makes a refusal of its failure.
pub fn closes(behind: &str) -> bool {
    behind.starts_with("||") && behind.trim_end_matches(['\'', '"']).ends_with("exit 2")
}

/// How many steps an edit may take: a step changes one entry.
const MOST: usize = 256;

impl Entries<'_> {
    /// The text with the entries; the same where they are there.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn added(&self, text: &str) -> Result<String, String> {
        let wanted = self.wanted()?;
        let root = json::read(&wanted)?.root;
        if text.trim().trim_start_matches('\u{feff}').is_empty() {
            return Ok(expanded(&wanted, &root, "", "  ") + "\n");
        }
        self.edited(text, |text, own| self.add(text, own, &wanted, &root, ""))
    }

    /// The text without whatever runs acl's hook, and without what holds nothing else.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn removed(&self, text: &str) -> Result<String, String> {
        let wanted = self.wanted()?;
        let root = json::read(&wanted)?.root;
        self.edited(text, |text, own| {
            Ok(match self.remove(text, own, &root) {
                Removal::Nothing => None,
                Removal::Edit(edits) => Some(edits),
                Removal::All => Some(vec![(own.span, "{}".to_owned())]),
            })
        })
    }

    /// The commands in a text that run acl's hook.
    pub fn commands(&self, text: &str) -> Vec<String> {
        let mut out = Vec::new();
        if let Ok(document) = json::read(text) {
            self.collect(&document.root, &mut out);
        }
        out
    }

    fn collect(&self, node: &Node, out: &mut Vec<String>) {
        out.extend(node.text().filter(|text| self.is_ours(text)).cloned());
        for child in node.children() {
            self.collect(&child.node, out);
        }
    }

    fn wanted(&self) -> Result<String, String> {
        let entries = self.settings.entries.ok_or("its hook is a plugin")?;
        let command = Value::from(self.command).to_string();
        Ok(entries.replace("\"COMMAND\"", &command))
    }

    /// Takes one step after the other, until there is none left.
    fn edited(
        &self,
        text: &str,
        step: impl Fn(&str, &Node) -> Result<Option<Vec<Edit>>, String>,
    ) -> Result<String, String> {
        let mut text = text.to_owned();
        for _ in 0..MOST {
            let Document { root, beyond } = json::read(&text)?;
            if let Some((line, what)) = beyond.filter(|_| !self.settings.comments) {
                return Err(format!("line {line}: {what}, which is no JSON"));
            }
            match step(&text, &root)? {
                None => return Ok(text),
                Some(edits) => text = applied(&text, edits),
            }
        }
        Err("it holds too many hooks".to_owned())
    }

    fn is_ours(&self, text: &str) -> bool {
        program(text, self.agent).is_some()
    }

    /// It runs acl's hook and nothing else.
    fn runs_ours(&self, node: &Node) -> bool {
        match &node.kind {
            Kind::Plain(_) => false,
            Kind::Array(items) => {
                !items.is_empty() && items.iter().all(|item| self.runs_ours(&item.node))
            }
            Kind::Object(members) => {
                let itself = members.iter().filter_map(|own| own.node.text());
                let mut lists = members.iter().filter(|own| is_list(&own.node)).peekable();
                itself.into_iter().any(|text| self.is_ours(text))
                    || (lists.peek().is_some() && lists.all(|own| self.runs_ours(&own.node)))
            }
        }
    }

    /// It says the same, with whatever command of acl that can be started.
    fn same(&self, own: &Node, wanted: &Node) -> bool {
        match (&own.kind, &wanted.kind) {
            (Kind::Plain(Value::String(own)), Kind::Plain(Value::String(wanted))) => {
                let program = program(own, self.agent);
                let heard = behind(own).is_empty() || closes(behind(own));
                let starts = program.is_some_and(|own| (self.starts)(own));
                own == wanted || (self.is_ours(wanted) && starts && heard)
            }
            (Kind::Plain(own), Kind::Plain(wanted)) => own == wanted,
            (Kind::Object(own), Kind::Object(all)) => {
                own.len() == all.len()
                    && all.iter().all(|member| {
                        let mut own = own.iter();
                        own.any(|own| own.key == member.key && self.same(&own.node, &member.node))
                    })
            }
            (Kind::Array(own), Kind::Array(all)) => {
                let mut pairs = own.iter().zip(all);
                own.len() == all.len() && pairs.all(|(own, all)| self.same(&own.node, &all.node))
            }
            _ => false,
        }
    }

    /// The next step towards what is wanted.
    fn add(
        &self,
        text: &str,
        own: &Node,
        from: &str,
        wanted: &Node,
        path: &str,
    ) -> Result<Option<Vec<Edit>>, String> {
        let no = |what: &str| match path {
            "" => format!("it is no {what}"),
            path => format!("`{path}` is no {what}"),
        };
        match (&own.kind, &wanted.kind) {
            (Kind::Object(_), Kind::Object(members)) => {
                for member in members {
                    let key = member.key.as_deref().unwrap_or_default();
                    let step = match own.member(key) {
                        None => Some(appended(text, own, from, member)),
                        Some((_, child)) => {
                            let path = match path {
                                "" => key.to_owned(),
                                path => format!("{path}.{key}"),
                            };
                            self.add(text, &child.node, from, &member.node, &path)?
                        }
                    };
                    if step.is_some() {
                        return Ok(step);
                    }
                }
                Ok(None)
            }
            (Kind::Array(items), Kind::Array(all)) => {
                let missing = all.iter().find(|wanted| {
                    let mut items = items.iter();
                    !items.any(|item| self.same(&item.node, &wanted.node))
                });
                let Some(missing) = missing else {
                    return Ok(None);
                };
                // What runs acl otherwise makes room.
                let other = self.own_in(text, own);
                Ok(Some(
                    other.unwrap_or_else(|| appended(text, own, from, missing)),
                ))
            }
            (_, Kind::Object(_)) => Err(no("object")),
            (_, Kind::Array(_)) => Err(no("list")),
            (_, Kind::Plain(value)) if self.same(own, wanted) || value.is_null() => Ok(None),
            (_, Kind::Plain(value)) => Err(format!(
                "`{path}` is {}, and acl knows only {value}",
                own.span.of(text)
            )),
        }
    }

    /// Takes one hook of acl out of a list, however deep it stands there.
    fn own_in(&self, text: &str, list: &Node) -> Option<Vec<Edit>> {
        let children = list.children();
        if is_list(list) {
            let ours = |child: &Child| self.runs_ours(&child.node);
            if let Some(at) = children.iter().position(ours) {
                return Some(without(text, list, at));
            }
        }
        let mut children = children.iter();
        children.find_map(|child| self.own_in(text, &child.node))
    }

    /// The next step towards there being none of acl, in the places where it is put.
    fn remove(&self, text: &str, own: &Node, wanted: &Node) -> Removal {
        match (&own.kind, &wanted.kind) {
            (Kind::Object(members), Kind::Object(all)) => {
                for (at, child, inner) in all.iter().filter_map(|wanted| {
                    let (at, child) = own.member(wanted.key.as_deref()?)?;
                    Some((at, child, &wanted.node))
                }) {
                    match self.remove(text, &child.node, inner) {
                        Removal::Nothing => {}
                        Removal::All if members.len() == 1 => return Removal::All,
                        Removal::All => return Removal::Edit(without(text, own, at)),
                        edit @ Removal::Edit(_) => return edit,
                    }
                }
                Removal::Nothing
            }
            (Kind::Array(items), Kind::Array(_)) if !items.is_empty() => {
                match items.iter().all(|item| self.runs_ours(&item.node)) {
                    true => Removal::All,
                    false => match self.own_in(text, own) {
                        Some(edits) => Removal::Edit(edits),
                        None => Removal::Nothing,
                    },
                }
            }
            _ => Removal::Nothing,
        }
    }
}

enum Removal {
    Nothing,
    Edit(Vec<Edit>),
    /// There is nothing else in it.
    All,
}

/// What stands under a span makes room for a text.
type Edit = (Span, String);

const fn is_list(node: &Node) -> bool {
    matches!(node.kind, Kind::Array(_))
}

fn applied(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(span, _)| *span);
    let mut out = String::new();
    let mut at = 0;
    for (span, put) in edits {
        out += text.get(at..span.start).unwrap_or_default();
        out += &put;
        at = span.end;
    }
    out + text.get(at..).unwrap_or_default()
}

/// The blanks that end where this place is.
fn blank_before(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.trim_end_matches([' ', '\t', '\r', '\n']).len()
}

/// The blanks that a line begins with, and whether the place is the first on its line.
fn indent(text: &str, at: usize) -> (&str, bool) {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.get(line..).unwrap_or_default();
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    (line.get(..blank).unwrap_or_default(), blank == line.len())
}

/// What a text indents by.
fn unit(text: &str) -> &str {
    let mut lines = text.lines().map(|line| {
        let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
        line.get(..blank).unwrap_or_default()
    });
    let first = lines.find(|blank| !blank.is_empty());
    first.filter(|blank| blank.len() <= 8).unwrap_or("  ")
}

/// Puts a part of another text at the end of a list or an object.
fn appended(text: &str, own: &Node, from: &str, part: &Child) -> Vec<Edit> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let close = own.span.end.saturating_sub(1);
    let end = blank_before(text, close).max(own.span.start + 1);
    let (outer, _) = indent(text, own.span.start);
    let unit = unit(text);
    let key = part.key.as_ref().map_or_else(String::new, |key| {
        format!("{}: ", Value::from(key.as_str()))
    });
    let lines = |indent: &str| {
        let body = expanded(from, &part.node, indent, unit).replace('\n', newline);
        format!("{newline}{indent}{key}{body}")
    };
    let Some(last) = own.children().last() else {
        let inner = lines(&format!("{outer}{unit}"));
        let put = format!("{inner}{newline}{outer}");
        return vec![(Span::new(end, close), put)];
    };
    let after = last.node.span.end;
    let comma = last.comma.is_none();
    let between = text.get(after..close).unwrap_or_default();
    let put = match between.contains('\n') {
        true => match indent(text, last.start) {
            (indent, true) => lines(indent),
            _ => lines(&format!("{outer}{unit}")),
        },
        false => format!(" {key}{}", inline(from, &part.node)),
    };
    // The comma stays behind its value, before a comment.
    let put = if comma { put } else { put + "," };
    let mut edits = vec![(Span::new(end, end), put)];
    if comma {
        match after == end {
            true => {
                edits = edits
                    .into_iter()
                    .map(|(at, put)| (at, format!(",{put}")))
                    .collect()
            }
            false => edits.push((Span::new(after, after), ",".to_owned())),
        }
    }
    edits
}

/// Takes a part out of a list or an object, with its comma and its line.
fn without(text: &str, own: &Node, at: usize) -> Vec<Edit> {
    let children = own.children();
    let Some(child) = children.get(at) else {
        return Vec::new();
    };
    let end = child.comma.map_or(child.node.span.end, |comma| comma + 1);
    let gone = |from, to| (Span::new(from, to), String::new());
    if at + 1 < children.len() {
        let rest = text.get(end..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        let (before, first) = indent(text, child.start);
        let ends = rest.get(blank..).is_some_and(|rest| rest.starts_with('\n'));
        return vec![match first && ends {
            true => gone(child.start - before.len(), end + blank + 1),
            false => gone(child.start, end + blank),
        }];
    }
    // A comment before it may go to the end of its line: the line must end somewhere.
    let rest = text.get(end..own.span.end).unwrap_or_default();
    let ends = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let last = at.checked_sub(1).and_then(|at| children.get(at));
    let start = match blank_before(text, child.start) {
        blank if ends || last.is_some_and(|last| last.comma.is_some_and(|at| at + 1 == blank)) => {
            blank
        }
        _ => child.start,
    };
    let mut edits = vec![gone(start, end)];
    let comma = last
        .and_then(|last| last.comma)
        .filter(|_| child.comma.is_none());
    edits.extend(comma.map(|comma| gone(comma, comma + 1)));
    edits
}

/// A value over several lines; what holds no list and no object stands on one.
fn expanded(text: &str, node: &Node, indent: &str, unit: &str) -> String {
    let (open, close) = match &node.kind {
        Kind::Plain(_) => return inline(text, node),
        Kind::Object(_) => ('{', '}'),
        Kind::Array(_) => ('[', ']'),
    };
    let children = node.children();
    if children.iter().all(|own| own.node.children().is_empty()) {
        return inline(text, node);
    }
    let inner = format!("{indent}{unit}");
    let lines = children.iter().map(|own| {
        let key = own.key.as_ref().map_or_else(String::new, |key| {
            format!("{}: ", Value::from(key.as_str()))
        });
        format!("{inner}{key}{}", expanded(text, &own.node, &inner, unit))
    });
    let lines = lines.collect::<Vec<_>>().join(",\n");
    format!("{open}\n{lines}\n{indent}{close}")
}

/// A value on one line.
fn inline(text: &str, node: &Node) -> String {
    let parts = node.children().iter().map(|own| {
        let key = own.key.as_ref().map_or_else(String::new, |key| {
            format!("{}: ", Value::from(key.as_str()))
        });
        key + &inline(text, &own.node)
    });
    let parts = parts.collect::<Vec<_>>().join(", ");
    match &node.kind {
        Kind::Plain(_) => node.span.of(text).to_owned(),
        Kind::Object(_) if parts.is_empty() => "{}".to_owned(),
        Kind::Object(_) => format!("{{ {parts} }}"),
        Kind::Array(_) => format!("[{parts}]"),
    }
}

#[cfg(test)]
mod tests;
