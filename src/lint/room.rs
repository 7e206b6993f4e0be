//! What a lint looks at: the matcher, the trees of the files, and where exactly something stands.
//!
//! In: a matcher. Out: rules with the place of each pattern, tools by what they do, and whose a finding is. A lint says
//! nothing of files that its policy only extends, unless it is about that file alone.

use super::levels::Level;
use super::suppressions::{self, Suppression};
use crate::call::tools::Holds;
use crate::finding::Finding;
use crate::language::{self, Entry, Hidden, Rules};
pub use crate::language::{Pattern, Written, written};
use crate::matcher::quick::HashMap;
use crate::matcher::{Compiled, Matcher};
use crate::policy::File;
use crate::policy::Resolution;
use crate::policy::glob::Glob;
use crate::policy::patterns;
use crate::policy::rule::{Commands, Judges, Place, Protected, Rule, TierEntry, Verdict};
use crate::source::{self, Node, Source, Span, Tree, Value};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a lint looks at.
#[derive(Debug)]
pub struct Room<'m> {
    /// The compiled policy.
    pub matcher: &'m Matcher,
    /// All suppressions of all files.
    pub suppressions: Vec<Suppression>,
    /// Which of them are about a line of a file.
    about: HashMap<(*const Source, usize), Vec<usize>>,
    /// The keys of the rules that cases decide by, as far as somebody found out.
    pub decided: &'m BTreeSet<String>,
    trees: Vec<(Arc<Source>, Tree)>,
    languages: OnceCell<Rules<'m>>,
}

/// What hides an entry, or covers it.
#[derive(Debug)]
pub struct By<'m> {
    /// In a sentence: ``the deny of `git push` ``.
    pub what: String,
    /// Its verdict.
    pub action: Verdict,
    /// Where it stands.
    pub place: Place,
    /// The rule, where it is one.
    pub rule: Option<&'m Compiled>,
    /// The protected files, where it is these.
    pub set: Option<&'m Protected>,
}

impl<'m> Room<'m> {
    /// Opens the room.
    pub fn new(matcher: &'m Matcher, decided: &'m BTreeSet<String>) -> Self {
        let files = || matcher.policy.layers.iter().flat_map(|layer| &layer.files);
        let suppressions: Vec<Suppression> = files().flat_map(suppressions::read).collect();
        let mut about: HashMap<_, Vec<usize>> = HashMap::default();
        for (at, own) in suppressions.iter().enumerate() {
            for line in [Some(own.line), own.below].into_iter().flatten() {
                let here = (Arc::as_ptr(&own.source), line);
                about.entry(here).or_default().push(at);
            }
        }
        Self {
            matcher,
            decided,
            suppressions,
            about,
            trees: files()
                .map(|file| (Arc::clone(&file.source), source::read(&file.source)))
                .collect(),
            languages: OnceCell::new(),
        }
    }

    /// The rules as languages.
    pub fn languages(&self) -> &Rules<'m> {
        self.languages.get_or_init(|| Rules::of(self.matcher))
    }

    /// All files, the root of each layer before what it extends.
    pub fn files(&self) -> impl Iterator<Item = &'m File> {
        let layers = self.matcher.policy.layers.iter();
        layers.flat_map(|layer| &layer.files)
    }

    /// All rules.
    pub fn rules(&self) -> impl Iterator<Item = &'m Compiled> {
        self.matcher.rules.iter()
    }

    /// All command rules.
    pub fn command_rules(&self) -> impl Iterator<Item = (&'m Rule, &'m Commands)> {
        self.rules()
            .filter_map(|compiled| match &compiled.rule.judges {
                Judges::Commands(commands) => Some((&compiled.rule, &**commands)),
                _ => None,
            })
    }

    /// All entries of all tiers, with their files.
    pub fn tiers(&self) -> impl Iterator<Item = (&'m File, &'m TierEntry)> {
        self.files()
            .flat_map(|file| file.tiers.iter().map(move |entry| (file, entry)))
    }

    /// Every tool name pattern of tiers and rules, as written and read, and where it stands.
    pub fn tool_patterns(&self) -> Vec<(Glob, Verdict, Arc<Source>, Span)> {
        let mut out = Vec::new();
        for (file, entry) in self.tiers() {
            for glob in &entry.names {
                let text = patterns::spell(glob);
                let span = self
                    .in_address(&file.source, &entry.address, &text, 0)
                    .unwrap_or(entry.span);
                out.push((glob.clone(), entry.verdict, Arc::clone(&file.source), span));
            }
        }
        for compiled in self.rules() {
            let rule = &compiled.rule;
            for glob in &rule.tools {
                let span = self.spot(rule, &patterns::spell(glob));
                let source = Arc::clone(&rule.place.source);
                out.push((glob.clone(), rule.action, source, span));
            }
        }
        out
    }

    /// Whether rules of this rule's layer are tried in order.
    pub fn is_ordered(&self, compiled: &Compiled) -> bool {
        self.matcher.resolution(compiled.layer) == Resolution::FirstMatch
    }

    /// The tools that are known to do one of these, with the verdict of their tier.
    pub fn tools_that(&self, does: &[Holds]) -> Vec<(String, Verdict)> {
        let mut names: Vec<&str> = self.matcher.tool_names();
        names.sort_unstable();
        names.dedup();
        names
            .into_iter()
            .filter(|name| {
                let declared = self.matcher.declaration(name);
                declared.is_some_and(|declared| {
                    let mut arguments = declared.arguments.iter();
                    arguments.any(|argument| does.contains(&argument.holds))
                })
            })
            .map(|name| (name.to_owned(), self.matcher.tier(name).verdict))
            .collect()
    }

    // --- entries

    /// A finding at an entry.
    pub fn at(&self, code: &'static str, message: String, entry: &Entry<'_>) -> Finding {
        let place = self.place(entry);
        Finding::lint(code, message, &place.source, place.span)
    }

    /// That the search for calls gave up.
    pub fn undecided(&self, code: &'static str, entry: &Entry<'_>, what: &str) -> Finding {
        let message = format!(
            "whether {} {what} is unknown: the search gave up",
            self.named(entry)
        );
        self.at(code, message, entry)
            .label("too many wildcards meet here")
            .help("write fewer `**` and `*`, or split the rule")
    }

    /// Where an entry stands.
    pub fn place(&self, entry: &Entry<'_>) -> Place {
        let rule = &entry.compiled.rule;
        let span = match entry.written.patterns.is_empty() {
            true => rule.place.span,
            false => self.spot_of(rule, &entry.written),
        };
        Place {
            span,
            ..rule.place.clone()
        }
    }

    /// An entry as a sentence names it.
    pub fn named(&self, entry: &Entry<'_>) -> String {
        match entry.written.patterns.is_empty() {
            true => "every tool".to_owned(),
            false => format!("`{}`", entry.written.text),
        }
    }

    /// What hides an entry.
    pub fn by(&self, hidden: &Hidden) -> Vec<By<'m>> {
        let rules = self.languages();
        let by = hidden.by.iter().filter_map(|by| match by {
            language::By::Entry(at) => {
                let entry = rules.entries().get(*at)?;
                Some(By {
                    what: format!("the {} of {}", entry.action(), self.named(entry)),
                    action: entry.action(),
                    place: self.place(entry),
                    rule: Some(entry.compiled),
                    set: None,
                })
            }
            language::By::Protected(at) => {
                let set = self.matcher.protected.get(*at)?;
                Some(By {
                    what: format!("the protected set `{}`", set.name),
                    action: Verdict::Deny,
                    place: set.place.clone(),
                    rule: None,
                    set: Some(set),
                })
            }
        });
        by.collect()
    }

    /// Several in a sentence.
    pub fn listed(&self, by: &[By<'_>]) -> String {
        let some: Vec<&str> = by.iter().take(3).map(|own| own.what.as_str()).collect();
        match (some.as_slice(), by.len()) {
            (_, 4..) => format!("{} and {} more", some.join(", "), by.len() - 3),
            ([first @ .., last], _) if !first.is_empty() => {
                format!("{} and {last}", first.join(", "))
            }
            _ => some.join(", "),
        }
    }

    // --- places

    /// Where a text of a rule stands; the rule's own place where that cannot be told.
    pub fn spot(&self, rule: &Rule, text: &str) -> Span {
        self.in_address(&rule.place.source, &rule.address, text, 0)
            .unwrap_or(rule.place.span)
    }

    /// Where a text of a rule stands that may stand there more than once.
    pub fn spot_of(&self, rule: &Rule, written: &Written<'_>) -> Span {
        let (source, text) = (&rule.place.source, &written.text);
        self.in_address(source, &rule.address, text, written.nth)
            .unwrap_or(rule.place.span)
    }

    /// A finding about a text of a rule.
    pub fn lint(
        &self,
        code: &'static str,
        message: String,
        rule: &Rule,
        own: &Written<'_>,
    ) -> Finding {
        Finding::lint(code, message, &rule.place.source, self.spot_of(rule, own))
    }

    /// Where a text of a protected set stands.
    pub fn spot_of_file(&self, set: &Protected, text: &str) -> Span {
        let address = format!("protected.{}", set.name);
        self.in_address(&set.place.source, &address, text, 0)
            .unwrap_or(set.place.span)
    }

    fn in_address(
        &self,
        source: &Arc<Source>,
        address: &str,
        text: &str,
        nth: usize,
    ) -> Option<Span> {
        let mut found = Vec::new();
        stands(self.node(source, address)?, text, &mut found);
        found.get(nth).or(found.last()).copied()
    }

    /// The tree of a file.
    pub fn tree(&self, source: &Arc<Source>) -> Option<&Node> {
        let known = self.trees.iter().find(|(own, _)| Arc::ptr_eq(own, source));
        known.map(|(_, tree)| &tree.root)
    }

    /// What stands at an address such as `commands.deny[1]`, `rules[0]` or `protected.keys`.
    pub fn node(&self, source: &Arc<Source>, address: &str) -> Option<&Node> {
        let mut node = self.tree(source)?;
        if let Some(name) = address.strip_prefix("protected.") {
            return node.value.as_table()?.get("protected").and_then(|sets| {
                let sets = sets.value.as_table()?;
                sets.get(name)
            });
        }
        for step in address.split('.') {
            let (key, index) = match step.split_once('[') {
                Some((key, rest)) => (key, rest.trim_end_matches(']').parse::<usize>().ok()),
                None => (step, None),
            };
            node = node.value.as_table()?.get(key)?;
            if let Some(index) = index {
                node = node.value.as_list()?.get(index)?;
            }
        }
        Some(node)
    }

    // --- whose a finding is

    /// Whether a finding is to be told here: not what a shipped preset says, nor what an extended file says in
    /// view of the file that extends it, which is how one adjusts it.
    pub fn is_own(&self, finding: &Finding) -> bool {
        let Some(first) = finding.labels.first() else {
            return true;
        };
        let layers = &self.matcher.policy.layers;
        let is_root = layers
            .iter()
            .filter_map(|layer| layer.files.first())
            .any(|file| Arc::ptr_eq(&file.source, &first.source));
        let alone = finding
            .labels
            .iter()
            .all(|label| Arc::ptr_eq(&label.source, &first.source));
        is_root || (alone && !first.source.name.starts_with("acl:"))
    }

    /// Whether anything is to be told that is wrong in a file: not in a preset that is only extended.
    pub fn tells(&self, source: &Arc<Source>) -> bool {
        let layers = &self.matcher.policy.layers;
        let mut roots = layers.iter().filter_map(|layer| layer.files.first());
        !source.name.starts_with("acl:") || roots.any(|file| Arc::ptr_eq(&file.source, source))
    }

    /// The reason of the comment that keeps the finding back, if one does; the comment counts as used.
    pub fn suppresses(&self, finding: &Finding) -> Option<String> {
        let label = finding.labels.first()?;
        let (line, _) = label.source.line_column(label.span.start);
        let mut kept = None;
        let about = self.about.get(&(Arc::as_ptr(&label.source), line));
        let about = about.into_iter().flatten();
        for own in about.filter_map(|at| self.suppressions.get(*at)) {
            let mut codes = own.codes.iter();
            if let Some((_, used)) = codes.find(|(code, _)| code == finding.code) {
                used.set(true);
                kept.get_or_insert_with(|| own.reason.clone());
            }
        }
        kept
    }

    /// What `[lints]` says: the nearest file of the layer that the finding is in.
    pub fn stated_level(&self, code: &str, finding: &Finding) -> Option<Level> {
        let first = finding.labels.first();
        let layer = self.matcher.policy.layers.iter().find(|layer| {
            first.is_none_or(|label| {
                let mut files = layer.files.iter();
                files.any(|file| Arc::ptr_eq(&file.source, &label.source))
            })
        })?;
        let mut said = layer.files.iter().flat_map(|file| &file.lints);
        said.find(|(own, _)| own.value == code)
            .and_then(|(_, level)| Level::parse(level))
    }

    /// Where a file stands among the others.
    pub fn order(&self, source: &Arc<Source>) -> usize {
        let mut known = self.trees.iter();
        known
            .position(|(own, _)| Arc::ptr_eq(own, source))
            .unwrap_or(usize::MAX)
    }
}

/// A text as it is typed at a place, with another in its stead: in the same quotes; none where it is typed otherwise.
pub fn retyped(source: &Source, span: Span, text: &str, other: &str) -> Option<String> {
    let typed = span.of(&source.text);
    let quote = typed
        .get(..1)
        .filter(|quote| ["'", "\""].contains(quote))
        .unwrap_or("");
    let plain = !other.contains(['\'', '"', '\\']);
    (plain && typed == format!("{quote}{text}{quote}")).then(|| format!("{quote}{other}{quote}"))
}

/// The places below a node that read so.
fn stands(node: &Node, text: &str, out: &mut Vec<Span>) {
    match &node.value {
        Value::Text(own) if own == text => out.push(node.span),
        Value::List(nodes) => nodes.iter().for_each(|node| stands(node, text, out)),
        Value::Table(table) => table
            .entries
            .iter()
            .filter(|entry| {
                !["reason", "instead", "id", "examples", "except"].contains(&&*entry.key.name)
            })
            .for_each(|entry| stands(&entry.value, text, out)),
        _ => {}
    }
}
