//! A [`Policy`] compiled and indexed: a [`Matcher`]. The last stage that can fail.
//!
//! In: a policy. Out: everything a decision looks up, by tool name, by command, by path, by host. Nothing here
//! looks at a call's meaning: it only finds the rules worth trying and says how one rule fits one access.

pub mod commands;
mod examples;
pub mod heads;
pub mod hosts;
pub mod located;
pub mod paths;
pub mod programs;
pub mod quick;
pub mod tools;

use crate::call::access::Mode;
use crate::call::path;
use crate::call::tools::{self as canonical, ToolDecl};
use crate::policy::patterns::{Anchor, PathPattern};
use crate::policy::rule::{
    Authority, Condition, FactDecl, Judges, Place, Protected, Rule, Section, Verdict,
};
use crate::policy::{LayerKind, Policy, Resolution};
use commands::Spelled;
use heads::Heads;
use hosts::HostIndex;
use paths::PathIndex;
use programs::ProgramIndex;
use quick::HashMap;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use tools::{FileTiers, NameIndex};

/// A compiled policy.
#[derive(Debug)]
pub struct Matcher {
    /// The policy, its rules and protected files moved out.
    pub policy: Policy,
    /// All rules of all layers, in declaration order.
    pub rules: Vec<Compiled>,
    /// All protected files.
    pub protected: Vec<Protected>,
    /// Outside authorities, the anonymous ones last.
    pub sources: Vec<Authority>,
    /// Texts for the model.
    pub messages: BTreeMap<String, String>,
    /// What becomes of a line that is not understood.
    pub opaque: Verdict,
    /// Verdict for a path outside the roots, and where that is stated.
    pub outside: (Verdict, Option<Place>),
    /// The workspace roots as written, where they are stated, and the folder they are relative to.
    pub roots: Option<(Vec<String>, Option<String>)>,
    /// The folder of a project or local policy, which is the root where none is stated.
    pub folder: Option<String>,
    layers: Vec<LayerTiers>,
    declared: HashMap<String, ToolDecl>,
    facts: HashMap<String, FactDecl>,
    covering: NameIndex,
    refusing: NameIndex,
    tool_rules: NameIndex,
    any_tool_rules: Vec<usize>,
    command_rules: ProgramIndex,
    path_rules: ByMode<PathIndex>,
    protected_index: ByMode<PathIndex>,
    host_rules: HostIndex,
    heads: BTreeMap<Anchor, Heads>,
    rest: Vec<(Section, usize)>,
    default: (Verdict, Option<Place>, bool),
    unknown_is_default: bool,
}

/// A rule, with what only the whole policy tells about it.
#[derive(Debug)]
pub struct Compiled {
    /// The rule.
    pub rule: Rule,
    /// Index of its layer.
    pub layer: usize,
    /// Its name in decisions, approvals and grants: unique in the policy.
    pub key: String,
}

#[derive(Debug)]
struct LayerTiers {
    kind: LayerKind,
    resolution: Resolution,
    files: Vec<FileTiers>,
}

/// Which lists have rules without an id in several files: such an address alone would not say which rule it is.
#[derive(Default)]
struct Lists {
    /// List → how many layers have it in their own file, and how many extended files have it.
    of: HashMap<String, (usize, usize)>,
    /// Layer → how many of its kind there are: a folder of policies makes one of each file.
    kinds: BTreeMap<LayerKind, usize>,
}

impl Lists {
    fn of(policy: &Policy) -> Self {
        let mut lists = Self::default();
        for layer in &policy.layers {
            *lists.kinds.entry(layer.kind).or_default() += 1;
            for (at, file) in layer.files.iter().enumerate() {
                let rules = file.rules.iter().filter(|rule| rule.id.is_none());
                let named: BTreeSet<&str> = rules.map(|rule| list(&rule.address)).collect();
                for name in named {
                    let (own, extended) = lists.of.entry(name.to_owned()).or_default();
                    *(if at == 0 { own } else { extended }) += 1;
                }
            }
        }
        lists
    }

    /// An address, with its layer or its file before it where another file has rules in the same list.
    fn key(&self, address: &str, kind: LayerKind, file: &str, extended: bool) -> String {
        let (own, others) = self.of.get(list(address)).copied().unwrap_or_default();
        let alone = self.kinds.get(&kind) == Some(&1);
        match extended {
            false if own < 2 => address.to_owned(),
            false if alone => format!("{}:{address}", kind.name()),
            true if own + others < 2 => address.to_owned(),
            _ => format!("{file}:{address}"),
        }
    }
}

/// The list that an address is in: `commands.deny` of `commands.deny[1]`.
fn list(address: &str) -> &str {
    address.split('[').next().unwrap_or(address)
}

/// A tool's tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Its verdict.
    pub verdict: Verdict,
    /// `tiers.ask[0]`, `tiers.default`.
    pub address: String,
    /// Where it stands; none for the built-in default.
    pub place: Option<Place>,
    /// The administrator's layer says so: only its rules lift it.
    pub managed: bool,
}

impl Matcher {
    /// Compiles a policy. Its patterns were read before, so this cannot fail; examples are checked by [`Self::check_examples`].
    pub fn compile(mut policy: Policy) -> Self {
        let mut matcher = Self {
            rules: Vec::new(),
            protected: Vec::new(),
            sources: Vec::new(),
            messages: BTreeMap::new(),
            opaque: Verdict::Ask,
            outside: (Verdict::Ask, None),
            roots: None,
            folder: None,
            layers: Vec::new(),
            declared: HashMap::default(),
            facts: HashMap::default(),
            covering: NameIndex::default(),
            refusing: NameIndex::default(),
            tool_rules: NameIndex::default(),
            any_tool_rules: Vec::new(),
            command_rules: ProgramIndex::default(),
            path_rules: Default::default(),
            protected_index: Default::default(),
            host_rules: HostIndex::default(),
            heads: BTreeMap::new(),
            rest: Vec::new(),
            default: (Verdict::Ask, None, false),
            unknown_is_default: false,
            policy: Policy::default(),
        };
        let mut keys = HashMap::default();
        let lists = Lists::of(&policy);
        let mut unknown: Option<bool> = None;
        let mut default: Option<(Verdict, Place, bool)> = None;
        for (index, layer) in policy.layers.iter_mut().enumerate() {
            let managed = layer.kind == LayerKind::Managed;
            if let Some(workspace) = layer
                .workspace()
                .filter(|_| matcher.roots.is_none() && matcher.outside.1.is_none())
            {
                matcher.roots = workspace.roots.map(|roots| {
                    (
                        roots.into_iter().map(|root| root.value).collect(),
                        layer.folder.clone(),
                    )
                });
                let stated = layer.files.iter().find(|file| {
                    let own = file.workspace.as_ref();
                    own.is_some_and(|own| own.outside.is_some())
                });
                if let (Some(outside), Some(file)) = (workspace.outside, stated) {
                    let place = Place {
                        source: std::sync::Arc::clone(&file.source),
                        span: outside.span,
                    };
                    matcher.outside = (outside.value, Some(place));
                }
            }
            if matches!(layer.kind, LayerKind::Project | LayerKind::Local)
                && matcher.folder.is_none()
            {
                matcher.folder.clone_from(&layer.folder);
            }
            let stated =
                |pick: fn(&crate::policy::File) -> Option<bool>| layer.files.iter().find_map(pick);
            if let Some(is_default) =
                stated(|file| file.unknown_is_default.as_ref().map(|placed| placed.value))
            {
                unknown = Some(unknown.unwrap_or(true) && is_default);
            }
            let tier_default = layer.files.iter().find_map(|file| {
                let placed = file.tier_default.as_ref()?;
                Some((
                    placed.value,
                    Place {
                        source: std::sync::Arc::clone(&file.source),
                        span: placed.span,
                    },
                ))
            });
            if let Some((verdict, place)) = tier_default {
                default = Some(match default.take() {
                    Some((other, other_place, other_managed)) if other >= verdict => (
                        other,
                        other_place,
                        other_managed || (managed && other == verdict),
                    ),
                    _ => (verdict, place, managed),
                });
            }
            for file in &layer.files {
                if let Some(opaque) = &file.opaque {
                    matcher.opaque = matcher.opaque.max(opaque.value);
                    break;
                }
            }
            for (at, file) in layer.files.iter_mut().enumerate() {
                for (name, text) in &file.messages {
                    matcher
                        .messages
                        .entry(name.clone())
                        .or_insert_with(|| text.clone());
                }
                for tool in &file.tools {
                    matcher
                        .declared
                        .entry(tool.value.name.clone())
                        .or_insert_with(|| tool.value.clone());
                }
                for fact in &file.facts {
                    matcher
                        .facts
                        .entry(fact.name.clone())
                        .or_insert_with(|| fact.clone());
                }
                for source in &file.sources {
                    match matcher
                        .sources
                        .iter_mut()
                        .find(|other| !source.name.is_empty() && other.name == source.name)
                    {
                        Some(other) => other.on_error = other.on_error.max(source.on_error),
                        None => matcher.sources.push(source.clone()),
                    }
                }
                for glob in file.tiers.iter().flat_map(|entry| &entry.names) {
                    matcher.covering.add(glob, 0);
                }
                for set in std::mem::take(&mut file.protected) {
                    matcher.add_protected(set);
                }
                let own = file.name.clone();
                let own = own.unwrap_or_else(|| path::last(&file.source.name).to_owned());
                let name = (own.as_str(), at > 0);
                for rule in std::mem::take(&mut file.rules) {
                    matcher.add_rule(rule, index, layer.kind, name, &lists, &mut keys);
                }
            }
            matcher.layers.push(LayerTiers {
                kind: layer.kind,
                resolution: layer.resolution,
                files: layer
                    .files
                    .iter()
                    .map(|file| FileTiers::of(&file.tiers))
                    .collect(),
            });
        }
        if let Some((verdict, place, managed)) = default {
            matcher.default = (verdict, Some(place), managed);
        }
        matcher.unknown_is_default = unknown.unwrap_or(false);
        matcher.sources.sort_by_key(|source| source.name.is_empty());
        matcher.policy = policy;
        matcher
    }

    fn add_protected(&mut self, set: Protected) {
        let owner = self.protected.len();
        for mode in &set.paths.modes {
            self.protected_index
                .of_mut(*mode)
                .add(&set.paths.patterns, owner);
        }
        self.add_heads(&set.paths.patterns);
        self.protected.push(set);
    }

    fn add_heads(&mut self, patterns: &[PathPattern]) {
        for pattern in patterns {
            if pattern.anchor != Anchor::Name {
                self.heads.entry(pattern.anchor).or_default().add(pattern);
            }
        }
    }

    fn add_rule(
        &mut self,
        rule: Rule,
        layer: usize,
        kind: LayerKind,
        (file, extended): (&str, bool),
        lists: &Lists,
        keys: &mut HashMap<String, usize>,
    ) {
        let owner = self.rules.len();
        match &rule.judges {
            Judges::Tool if rule.tools.is_empty() => self.any_tool_rules.push(owner),
            Judges::Tool => rule
                .tools
                .iter()
                .for_each(|glob| self.tool_rules.add(glob, owner)),
            Judges::Commands(commands) => self.command_rules.add(&commands.patterns, owner),
            Judges::Paths(paths) => {
                for mode in &paths.modes {
                    self.path_rules.of_mut(*mode).add(&paths.patterns, owner);
                }
                if rule.action != Verdict::Allow {
                    self.add_heads(&paths.patterns);
                }
            }
            Judges::Hosts(hosts) => self.host_rules.add(&hosts.patterns, owner),
            Judges::Rest(section) => self.rest.push((*section, owner)),
        }
        // A refusal more must not loosen: were a tool known by the deny rules that name it, what they leave would ask.
        let named = match rule.action {
            Verdict::Deny => &mut self.refusing,
            Verdict::Allow | Verdict::Ask => &mut self.covering,
        };
        for glob in &rule.tools {
            named.add(glob, owner);
        }
        // An approval clears one obligation, so no two rules may share a key.
        let mut key = match &rule.id {
            Some(id) if keys.contains_key(id) => format!("{}:{id}", kind.name()),
            Some(id) => id.clone(),
            None => lists.key(&rule.address, kind, file, extended),
        };
        while keys.contains_key(&key) {
            key.push('\'');
        }
        keys.insert(key.clone(), owner);
        self.rules.push(Compiled { rule, layer, key });
    }

    /// The declaration of a tool: the policy's, or that of a canonical tool.
    pub fn declaration(&self, tool: &str) -> Option<&ToolDecl> {
        self.declared
            .get(tool)
            .or_else(|| canonical::canonical(tool))
    }

    /// Whether a declaration, tier, or rule that allows or asks covers the tool, or the policy takes unknown tools by the default tier.
    pub fn covers(&self, tool: &str) -> bool {
        self.unknown_is_default
            || self.declared.contains_key(tool)
            || canonical::names().any(|name| name == tool)
            || !self.covering.find(tool).is_empty()
    }

    /// Whether a deny rule names the tool: it does not make the tool known, but what it says is told.
    pub fn refuses_by_name(&self, tool: &str) -> bool {
        !self.refusing.find(tool).is_empty()
    }

    /// The names that the policy knows tools by, for "did you mean".
    pub fn tool_names(&self) -> Vec<&str> {
        let declared = self.declared.keys().map(String::as_str);
        declared
            .chain(canonical::names().map(|name| -> &str { name }))
            .collect()
    }

    /// The tier of a tool: the strictest of the layers that list it, else the default.
    pub fn tier(&self, tool: &str) -> Tier {
        let mut strictest: Option<Tier> = None;
        for (layer, files) in self.layers.iter().zip(&self.policy.layers) {
            // Within a layer the nearest file that lists the tool decides: what I extend is mine to adjust.
            let found = layer
                .files
                .iter()
                .zip(&files.files)
                .find_map(|(tiers, file)| Some((tiers.of_tool(tool)?, file)));
            let Some(((verdict, at), file)) = found else {
                continue;
            };
            let managed = layer.kind == LayerKind::Managed;
            match &mut strictest {
                Some(tier) if tier.verdict > verdict => {}
                Some(tier) if tier.verdict == verdict => tier.managed |= managed,
                _ => {
                    let entry = file.tiers.get(at);
                    strictest = Some(Tier {
                        verdict,
                        address: entry.map(|entry| entry.address.clone()).unwrap_or_default(),
                        place: entry.map(|entry| Place {
                            source: std::sync::Arc::clone(&file.source),
                            span: entry.span,
                        }),
                        managed,
                    });
                }
            }
        }
        strictest.unwrap_or_else(|| Tier {
            verdict: self.default.0,
            address: "tiers.default".into(),
            place: self.default.1.clone(),
            managed: self.default.2,
        })
    }

    /// The verdict for tools that no tier lists, and whether only the administrator's rules lift it.
    pub const fn default_verdict(&self) -> (Verdict, bool) {
        (self.default.0, self.default.2)
    }

    /// Whether a tool that nobody declares has the default tier.
    pub const fn takes_unknown(&self) -> bool {
        self.unknown_is_default
    }

    /// How the rules of a layer combine.
    pub fn resolution(&self, layer: usize) -> Resolution {
        self.layers
            .get(layer)
            .map_or(Resolution::Strictest, |layer| layer.resolution)
    }

    /// Whether a rule's layer is the administrator's.
    pub fn is_managed(&self, rule: usize) -> bool {
        let layer = self
            .rules
            .get(rule)
            .and_then(|compiled| self.layers.get(compiled.layer));
        layer.is_some_and(|layer| layer.kind == LayerKind::Managed)
    }

    /// The rules that judge the tool as such and whose names match, in order.
    pub fn tool_rules(&self, tool: &str) -> Vec<usize> {
        let mut found = self.any_tool_rules.clone();
        if !self.tool_rules.is_empty() {
            found.extend(
                self.tool_rules
                    .find(tool)
                    .into_iter()
                    .map(|(owner, _)| owner),
            );
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// The index of command rules.
    pub fn command_rules(&self) -> &ProgramIndex {
        &self.command_rules
    }

    /// The command rules that may meet a command, each once, in order.
    pub fn command_candidates(&self, command: &Spelled<'_>) -> Vec<usize> {
        let patterns = |owner: usize| match self.rules.get(owner).map(|own| &own.rule.judges) {
            Some(Judges::Commands(own)) => Some(&own.patterns),
            _ => None,
        };
        self.command_rules.candidates(command, patterns)
    }

    /// The index of path rules for reading or writing.
    pub fn path_rules(&self, mode: Mode) -> &PathIndex {
        self.path_rules.of(mode)
    }

    /// The folders that what refuses, asks or protects names, by where its patterns start.
    pub fn heads(&self, anchor: Anchor) -> Option<&Heads> {
        self.heads.get(&anchor)
    }

    /// The index of protected files, from reading or writing.
    pub fn protected_index(&self, mode: Mode) -> &PathIndex {
        self.protected_index.of(mode)
    }

    /// The index of host rules.
    pub fn host_rules(&self) -> &HostIndex {
        &self.host_rules
    }

    /// The section defaults of a section, one for each layer that states one.
    pub fn rest(&self, section: Section) -> impl Iterator<Item = usize> {
        let layer = |owner: usize| self.rules.get(owner).map(|compiled| compiled.layer);
        let own = self.rest.iter().filter(move |(own, _)| *own == section);
        let own = own.map(|(_, owner)| *owner);
        let before = own.clone();
        own.enumerate().filter_map(move |(at, owner)| {
            // The nearest file of a layer states it.
            let stated = before
                .clone()
                .take(at)
                .any(|other| layer(other) == layer(owner));
            (!stated).then_some(owner)
        })
    }

    /// Whether a rule is on for this tool, these arguments and these facts; and the facts that were missing.
    pub fn is_on(
        &self,
        rule: &Rule,
        tool: &str,
        args: &Map<String, Value>,
        facts: &BTreeMap<String, Value>,
    ) -> (bool, Vec<String>) {
        let mut missing = Vec::new();
        if !rule.tools.is_empty() && !rule.tools.iter().any(|glob| glob.matches_text(tool, false)) {
            return (false, missing);
        }
        if !rule
            .args
            .iter()
            .all(|condition| argument_holds(condition, args))
        {
            return (false, missing);
        }
        let on = self.facts_hold(rule, facts, &mut missing);
        (on, missing)
    }

    /// Whether the conditions of a rule on facts hold; the names of those that were missing are added.
    pub fn facts_hold(
        &self,
        rule: &Rule,
        facts: &BTreeMap<String, Value>,
        missing: &mut Vec<String>,
    ) -> bool {
        if rule.when.is_empty() && rule.unless.is_empty() {
            return true;
        }
        // A fact that nobody gave counts against the call.
        let tightens = rule.action != Verdict::Allow;
        let mut holds = |condition: &Condition, otherwise: bool| {
            let name = condition.path.join(".");
            match self.fact(&name, facts) {
                Some(value) if condition.any.iter().any(|test| test.is_of_type(value)) => {
                    condition.any.iter().any(|test| test.holds(value))
                }
                _ => {
                    missing.push(name);
                    otherwise
                }
            }
        };
        let mut on = true;
        for condition in &rule.when {
            on &= holds(condition, tightens);
        }
        if !rule.unless.is_empty() {
            let mut off = true;
            for condition in &rule.unless {
                off &= holds(condition, !tightens);
            }
            on &= !off;
        }
        on
    }

    /// What the policy says of a fact.
    pub fn fact_declaration(&self, name: &str) -> Option<&FactDecl> {
        self.facts.get(name)
    }

    /// The names of the facts that the policy declares.
    pub fn declared_facts(&self) -> impl Iterator<Item = &str> {
        self.facts.keys().map(String::as_str)
    }

    /// The value of a fact: the one given, else the declared default. One that is given and cannot be (none of the
    /// declared values, or of another type than the default) is no value at all: it counts against the call.
    pub fn fact<'v>(&'v self, name: &str, facts: &'v BTreeMap<String, Value>) -> Option<&'v Value> {
        let fact = self.facts.get(name);
        let default = fact.and_then(|fact| fact.default.as_ref());
        let Some(given) = facts.get(name) else {
            return default;
        };
        let values = fact.map(|fact| fact.values.as_slice()).unwrap_or_default();
        let possible = match (values, default) {
            ([], None) => true,
            ([], Some(default)) => std::mem::discriminant(default) == std::mem::discriminant(given),
            (values, _) => values.contains(given),
        };
        possible.then_some(given)
    }

    /// Why a rule is off, in words; none where it is on.
    pub fn why_off(
        &self,
        rule: &Rule,
        tool: &str,
        args: &Map<String, Value>,
        facts: &BTreeMap<String, Value>,
    ) -> Option<String> {
        if self.is_on(rule, tool, args, facts).0 {
            return None;
        }
        if !rule.tools.is_empty() && !rule.tools.iter().any(|glob| glob.matches_text(tool, false)) {
            return Some(format!("it is not about the tool `{tool}`"));
        }
        if let Some(condition) = rule
            .args
            .iter()
            .find(|condition| !argument_holds(condition, args))
        {
            let name = condition.path.join(".");
            return Some(format!(
                "its condition on the argument `{name}` does not hold"
            ));
        }
        let told = |condition: &Condition| {
            let name = condition.path.join(".");
            match self.fact(&name, facts) {
                Some(value) => format!("the fact `{name}` is {value}"),
                None => format!("the fact `{name}` is not given"),
            }
        };
        let off = rule.when.iter().find(|condition| {
            let value = self.fact(&condition.path.join("."), facts);
            !value.is_some_and(|value| condition.any.iter().any(|test| test.holds(value)))
                && (value.is_some() || rule.action == Verdict::Allow)
        });
        let told: Vec<String> = match off {
            Some(condition) => vec![told(condition)],
            None => rule.unless.iter().map(told).collect(),
        };
        let keyword = if off.is_some() { "when" } else { "unless" };
        Some(format!("its `{keyword}` turns it off: {}", told.join(", ")))
    }
}

/// Whether some value under the path passes.
fn argument_holds(condition: &Condition, args: &Map<String, Value>) -> bool {
    let path: Vec<&str> = condition.path.iter().map(String::as_str).collect();
    crate::call::under(args, &path)
        .into_iter()
        .flatten()
        .any(|value| condition.any.iter().any(|test| test.holds(value)))
}

/// One for reading, one for writing.
#[derive(Debug, Default)]
struct ByMode<T> {
    read: T,
    write: T,
}

impl<T> ByMode<T> {
    const fn of(&self, mode: Mode) -> &T {
        match mode {
            Mode::Read => &self.read,
            Mode::Write => &self.write,
        }
    }

    const fn of_mut(&mut self, mode: Mode) -> &mut T {
        match mode {
            Mode::Read => &mut self.read,
            Mode::Write => &mut self.write,
        }
    }
}
