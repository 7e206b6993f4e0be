//! Policy files joined: `extends` within a layer, layers side by side.
//!
//! In: the root file of each layer, and a loader for what they extend. Out: a [`Policy`], or every error at once.
//! What an untrusted layer may not say is taken out here, and named.

use super::file::{File, Resolution, Workspace};
use super::near;
use super::rule::{Condition, FactDecl, Judges, Placed, Rule, Test, Verdict};
use crate::call::digest;
use crate::finding::Finding;
use crate::source::{Source, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whose policy it is, most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// The administrator's.
    Managed,
    /// The user's own, or one given by hand.
    User,
    /// The user's, for this project only.
    Local,
    /// The repository's.
    Project,
}

impl LayerKind {
    /// `managed`, `user`, `local`, `project`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Local => "local",
            Self::Project => "project",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Managed, Self::User, Self::Local, Self::Project]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// The root file of a layer.
#[derive(Clone, Debug)]
pub struct Root {
    /// Whose it is.
    pub kind: LayerKind,
    /// The file.
    pub source: Arc<Source>,
    /// The folder it stands in, absolute; none for a text without a folder.
    pub folder: Option<String>,
    /// Whether it may loosen.
    pub trusted: Trust,
}

/// Whether a layer may loosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It may.
    Yes,
    /// It only tightens.
    No,
    /// It may while its files say what they said then: their [`Layer::digest`].
    Texts(String),
}

/// One layer: a root file and what it extends, nearest first.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Whose it is.
    pub kind: LayerKind,
    /// Whether it may loosen.
    pub trusted: bool,
    /// It was trusted, and its files say something else now.
    pub changed: bool,
    /// The folder of its root file.
    pub folder: Option<String>,
    /// How its rules combine.
    pub resolution: Resolution,
    /// Its files: the root, then what it extends, depth first.
    pub files: Vec<File>,
    /// The rules that its files disable, taken out.
    pub disabled: Vec<Rule>,
}

impl Layer {
    /// What its files say, in one digest; the shipped ones, which come with acl, apart. The order of the texts follows
    /// from what they extend, and with it their names.
    pub fn digest(&self) -> String {
        let own = self.files.iter().enumerate();
        let own = own.filter(|(at, file)| *at == 0 || !file.is_shipped());
        let texts: Vec<&str> = own.map(|(_, file)| file.source.text.as_str()).collect();
        match texts.as_slice() {
            [alone] => digest(alone.as_bytes()),
            all => {
                let told = all.iter().map(|text| format!("{}:{text}", text.len()));
                digest(told.collect::<String>().as_bytes())
            }
        }
    }

    /// Takes out whatever loosens.
    fn only_tighten(&mut self) {
        self.resolution = Resolution::Strictest;
        for rule in self.disabled.drain(..) {
            let source = &rule.place.source;
            let mut files = self.files.iter_mut();
            if let Some(file) = files.find(|file| Arc::ptr_eq(&file.source, source)) {
                file.rules.push(rule);
                file.rules.sort_by_key(|rule| rule.place.span.start);
            }
        }
        self.files.iter_mut().for_each(restrict);
    }

    /// All its rules, the root file's first.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.files.iter().flat_map(|file| &file.rules)
    }

    /// The nearest file's `[workspace]`, key by key.
    pub fn workspace(&self) -> Option<Workspace> {
        let mut stated: Option<Workspace> = None;
        for workspace in self.files.iter().filter_map(|file| file.workspace.as_ref()) {
            let merged = stated.get_or_insert_default();
            merged.roots = merged.roots.take().or_else(|| workspace.roots.clone());
            merged.outside = merged.outside.take().or_else(|| workspace.outside.clone());
        }
        stated
    }
}

/// All layers, most trusted first.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The layers.
    pub layers: Vec<Layer>,
}

/// Finds the text of an extended file: its name as written, and the file that names it.
/// The error is a sentence for the user.
pub type Loader<'l> = dyn Fn(&str, &Source) -> Result<Arc<Source>, String> + 'l;

/// A file that cannot be read, with what may be named instead.
fn unreadable(finding: Finding, name: &str) -> Finding {
    if name.starts_with("acl:") {
        finding
    } else {
        finding.help("name a policy file, relative to this one; `acl:NAME` is a shipped preset")
    }
}

/// How deep `extends` may nest.
const MOST_EXTENDS: usize = 32;

/// Reads one file, with its errors: [`File::read`], or what was kept of it.
pub type Reading<'r> = dyn Fn(&Arc<Source>) -> (File, Vec<Finding>) + 'r;

/// Reads the layers. With any error nothing is loaded: a layer that fails to load fails the whole load.
pub fn load(roots: Vec<Root>, loader: &Loader<'_>) -> Result<Policy, Vec<Finding>> {
    load_with(roots, loader, &File::read)
}

/// Reads the layers, each file in a way of one's own.
pub fn load_with(
    roots: Vec<Root>,
    loader: &Loader<'_>,
    reading: &Reading<'_>,
) -> Result<Policy, Vec<Finding>> {
    let mut findings = Vec::new();
    let mut layers: Vec<Layer> = Vec::new();
    for root in roots {
        layers.push(layer(root, loader, reading, &mut findings));
    }
    layers.sort_by_key(|layer| layer.kind);
    declared_differently(&layers, &mut findings);
    unknown_facts(&layers, &mut findings);
    match findings.is_empty() {
        true => Ok(Policy { layers }),
        false => Err(findings),
    }
}

fn layer(
    root: Root,
    loader: &Loader<'_>,
    reading: &Reading<'_>,
    findings: &mut Vec<Finding>,
) -> Layer {
    let Root {
        kind,
        source,
        folder,
        trusted,
    } = root;
    let (file, errors) = reading(&source);
    findings.extend(errors);
    let mut layer = Layer {
        kind,
        trusted: true,
        changed: false,
        folder,
        resolution: file
            .resolution
            .as_ref()
            .map_or(Resolution::Strictest, |placed| placed.value),
        files: Vec::new(),
        disabled: Vec::new(),
    };
    let mut path = vec![source.name.clone()];
    extend(file, loader, reading, &mut path, &mut layer, findings);
    layer.trusted = match trusted {
        Trust::Yes => true,
        Trust::No => false,
        Trust::Texts(digest) => {
            layer.changed = layer.digest() != digest;
            !layer.changed
        }
    };
    if !layer.trusted {
        layer.only_tighten();
    }
    if layer.resolution == Resolution::FirstMatch {
        for file in layer.files.iter().skip(1) {
            lists_under_first_match(file, findings);
        }
    }
    layer
}

/// Adds a file and what it extends; what it disables is taken out of the latter.
fn extend(
    file: File,
    loader: &Loader<'_>,
    reading: &Reading<'_>,
    path: &mut Vec<String>,
    layer: &mut Layer,
    findings: &mut Vec<Finding>,
) {
    let extends = file.extends.clone();
    let disable = file.disable.clone();
    let source = Arc::clone(&file.source);
    layer.files.push(file);
    let below = layer.files.len();
    for entry in &extends {
        let error = |code, message: String| Finding::error(code, message, &source, entry.span);
        let extended = match loader(&entry.value, &source) {
            Ok(extended) => extended,
            Err(why) => {
                findings.push(unreadable(error("unreadable-file", why), &entry.value));
                continue;
            }
        };
        if path.contains(&extended.name) {
            let way = path
                .iter()
                .chain([&extended.name])
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(" → ");
            findings.push(
                error("extends-cycle", format!("the file extends itself: {way}"))
                    .help("take one of these out of its `extends`"),
            );
            continue;
        }
        if path.len() > MOST_EXTENDS {
            findings.push(error(
                "extends-cycle",
                format!("more than {MOST_EXTENDS} files extend one another"),
            ));
            continue;
        }
        if layer
            .files
            .iter()
            .any(|file| file.source.name == extended.name)
        {
            continue; // reached twice by different ways: once is enough
        }
        let (file, errors) = reading(&extended);
        findings.extend(errors);
        path.push(extended.name.clone());
        extend(file, loader, reading, path, layer, findings);
        path.pop();
    }
    for entry in &disable {
        let before = layer.disabled.len();
        for file in layer.files.iter_mut().skip(below) {
            let gone = file.rules.extract_if(.., |rule| {
                rule.id.as_ref() == Some(&entry.value) || rule.address == entry.value
            });
            layer.disabled.extend(gone);
        }
        if layer.disabled.len() == before {
            findings.push(unknown_disable(
                entry,
                &source,
                layer.files.get(below..).unwrap_or_default(),
            ));
        }
    }
}

fn unknown_disable(entry: &Placed<String>, source: &Arc<Source>, below: &[File]) -> Finding {
    let name = &entry.value;
    let finding = Finding::error(
        "unknown-disable",
        format!("no extended file has a rule `{name}`"),
        source,
        entry.span,
    );
    if below
        .iter()
        .flat_map(|file| &file.protected)
        .any(|set| format!("protected.{}", set.name) == *name || set.name == *name)
    {
        return finding.help("protected files cannot be disabled: nothing lifts them");
    }
    if below.is_empty() {
        return finding.help("`disable` takes rules of extended files: this file extends none");
    }
    let known = below
        .iter()
        .flat_map(|file| &file.rules)
        .map(|rule| rule.id.as_deref().unwrap_or(&rule.address));
    match near::nearest(name, known) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => {
            finding.help("name the rule by its id, or by its address such as `commands.deny[0]`")
        }
    }
}

fn lists_under_first_match(file: &File, findings: &mut Vec<Finding>) {
    for rule in &file.rules {
        if !rule.address.starts_with("rules[") && !matches!(rule.judges, Judges::Rest(_)) {
            findings.push(
                Finding::error(
                    "list-with-first-match",
                    format!("`{}` stands in a list, and a list has no order to be first in", rule.address),
                    &rule.place.source,
                    rule.place.span,
                )
                .help("the extending file says `resolution = \"first-match\"`: write this as `[[rules]]`"),
            );
        }
    }
}

/// What a file that came with the repository may say before it is trusted: it only tightens.
fn restrict(file: &mut File) {
    let mut ignored = Vec::new();
    let kept = [
        "version",
        "name",
        "description",
        "extends",
        "groups",
        "tiers",
        "commands",
        "paths",
        "hosts",
        "protected",
        "rules",
    ];
    ignored.extend(
        file.sections
            .iter()
            .filter(|key| !kept.contains(&key.value.as_str()))
            .cloned(),
    );
    for rule in file
        .rules
        .iter()
        .filter(|rule| rule.action == Verdict::Allow)
    {
        ignored.push(Placed {
            value: rule.address.clone(),
            span: rule.place.span,
        });
    }
    file.rules.retain(|rule| rule.action != Verdict::Allow);
    for entry in file
        .tiers
        .iter()
        .filter(|entry| entry.verdict == Verdict::Allow)
    {
        ignored.push(Placed {
            value: entry.address.clone(),
            span: entry.span,
        });
    }
    file.tiers.retain(|entry| entry.verdict != Verdict::Allow);
    let mut drop = |name: &str, span: Option<Span>| {
        ignored.extend(span.map(|span| Placed {
            value: name.to_owned(),
            span,
        }));
    };
    drop(
        "tiers.default",
        file.tier_default.take().map(|placed| placed.span),
    );
    drop(
        "tiers.unknown",
        file.unknown_is_default.take().map(|placed| placed.span),
    );
    if file
        .opaque
        .as_ref()
        .is_some_and(|placed| placed.value != Verdict::Deny)
    {
        drop(
            "commands.opaque",
            file.opaque.take().map(|placed| placed.span),
        );
    }
    file.disable.clear();
    file.resolution = None;
    file.workspace = None;
    file.tools.clear();
    // The names stay known, so that its rules still load; a missing fact counts against the call.
    for fact in &mut file.facts {
        fact.default = None;
    }
    file.sources.clear();
    file.messages.clear();
    file.audit = None;
    file.lints.clear();
    file.invariants.clear();
    ignored.sort_by_key(|placed| placed.span.start);
    file.ignored = ignored;
}

/// A tool or a fact that two layers declare differently.
fn declared_differently(layers: &[Layer], findings: &mut Vec<Finding>) {
    let mut tools = BTreeMap::new();
    let mut facts: BTreeMap<&str, (usize, &FactDecl, &Arc<Source>)> = BTreeMap::new();
    for (index, layer) in layers.iter().enumerate() {
        for file in &layer.files {
            for tool in &file.tools {
                match tools.get(tool.value.name.as_str()) {
                    None => {
                        tools.insert(tool.value.name.as_str(), (index, tool, &file.source));
                    }
                    Some((other, first, source))
                        if *other != index && first.value != tool.value =>
                    {
                        findings.push(different(
                            "tool",
                            &tool.value.name,
                            &file.source,
                            tool.span,
                            source,
                            first.span,
                        ));
                    }
                    Some(_) => {}
                }
            }
            for fact in file.facts.iter().filter(|_| layer.trusted) {
                match facts.get(fact.name.as_str()) {
                    None => {
                        facts.insert(&fact.name, (index, fact, &file.source));
                    }
                    Some((other, first, source))
                        if *other != index
                            && (&first.default, &first.values) != (&fact.default, &fact.values) =>
                    {
                        findings.push(different(
                            "fact",
                            &fact.name,
                            &file.source,
                            fact.span,
                            source,
                            first.span,
                        ));
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

fn different(
    what: &str,
    name: &str,
    source: &Arc<Source>,
    span: Span,
    other: &Arc<Source>,
    first: Span,
) -> Finding {
    Finding::error(
        "duplicate-key",
        format!("the {what} `{name}` is declared differently in two layers"),
        source,
        span,
    )
    .label("declared here")
    .also(other, first, "and differently here")
    .help("take one declaration out, or make them the same")
}

/// Conditions on facts that no file declares, or on values that a fact cannot have.
fn unknown_facts(layers: &[Layer], findings: &mut Vec<Finding>) {
    let mut facts: BTreeMap<&str, &FactDecl> = BTreeMap::new();
    for fact in layers
        .iter()
        .flat_map(|layer| &layer.files)
        .flat_map(|file| &file.facts)
    {
        facts.entry(&fact.name).or_insert(fact);
    }
    for layer in layers {
        for file in &layer.files {
            let invariants = file.invariants.iter().map(|invariant| &invariant.never);
            for rule in file.rules.iter().chain(invariants) {
                for condition in rule.when.iter().chain(&rule.unless) {
                    findings.extend(unknown_fact(condition, &facts, &rule.place.source));
                }
            }
        }
    }
}

fn unknown_fact(
    condition: &Condition,
    facts: &BTreeMap<&str, &FactDecl>,
    source: &Arc<Source>,
) -> Option<Finding> {
    let name = condition.path.join(".");
    let Some(fact) = facts.get(name.as_str()) else {
        let finding = Finding::error(
            "unknown-fact",
            format!("there is no fact `{name}`"),
            source,
            condition.span,
        );
        return Some(match near::nearest(&name, facts.keys().copied()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help(format!(
                "declare what the host tells: `{name} = {{}}` under `[facts]`"
            )),
        });
    };
    if fact.values.is_empty() {
        return None;
    }
    let possible = |test: &Test| fact.values.iter().any(|value| test.holds(value));
    condition.any.iter().find(|test| !possible(test)).map(|_| {
        let values = fact
            .values
            .iter()
            .map(|value| format!("`{value}`"))
            .collect::<Vec<_>>()
            .join(", ");
        Finding::error(
            "unknown-fact",
            format!("the fact `{name}` never has this value"),
            source,
            condition.span,
        )
        .help(format!("its values are {values}"))
    })
}
