//! One access after another against the policy: protected files, workspace, rules, section defaults, cover, tier.
//!
//! In: the accesses of a call. Out: reasons to refuse and to ask, and for each access how it was judged: what
//! matched, what lost, what it rests on. `cover.rs` judges commands and what their allows cover, `place.rs` and
//! `touched.rs` paths, `unread.rs` what lies beyond a limit,
//! `unresolved.rs` asks about what cannot be computed.

mod cover;
mod found;
mod place;
mod touched;
mod unread;
mod unresolved;

pub use touched::linked;

use super::below::{Listing, MOST_ENTRIES, Skips};
use super::texts::{self, subject};
use super::{Basis, DecidedBy, Decision, Reason};
use crate::call::Call;
use crate::call::access::{Access, Cover, Kind, Mode, PathAccess, Touches};
use crate::call::few::Few;
use crate::matcher::commands::{self, Fitted};
use crate::matcher::hosts::{self, Contacted};
use crate::matcher::located::Frame;
use crate::matcher::paths::Stance;
use crate::matcher::quick;
use crate::matcher::{Compiled, Matcher, Tier};
use crate::policy::Resolution;
use crate::policy::glob::Fit;
use crate::policy::rule::{Judges, Section, Verdict};
use serde_json::{Map, Value};
use smol_str::{SmolStr, format_smolstr};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use unresolved::{Unresolved, What};

/// How one access was judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The access.
    pub access: Access,
    /// Its verdict.
    pub verdict: Verdict,
    /// The rules that met it, in order, and what became of each.
    pub matched: Vec<Matched>,
    /// What it rests on where it passes.
    pub covered: Covered,
    /// The reasons that it has, its own or shared with an earlier access: key and action.
    pub because: Few<(SmolStr, Verdict)>,
    /// For a path: where it lies, absolute, links followed; none where that cannot be computed.
    pub real: Option<String>,
}

/// A rule that met an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Index of the rule in the matcher.
    pub rule: usize,
    /// How surely.
    pub fit: Fit,
    /// Why it did not decide; none where it took part.
    pub lost: Option<Arc<str>>,
}

/// What an access rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Covered {
    /// This rule allows it.
    Rule(usize),
    /// A launcher that needs no cover of its own.
    Transparent,
    /// The allow of the command at this index covers it.
    Command(usize),
    /// The tool's tier.
    Tier,
    /// Nothing: it has reasons of its own.
    Nothing,
}

pub struct Judge<'a> {
    matcher: &'a Matcher,
    call: &'a Call,
    args: &'a Map<String, Value>,
    frame: &'a Frame<'a>,
    tier: &'a Tier,
    accesses: &'a [Access],
    pub reasons: Vec<Reason>,
    pub judged: Vec<Judged>,
    pub missing_facts: Vec<String>,
    /// Whether an allow rule stands in for the tier.
    tier_rule: Option<usize>,
    /// For each command level: the rules that cover it, with the words they name.
    cover: Vec<Vec<(usize, Fitted)>>,
    /// The reasons of the access that is being judged.
    because: Few<(SmolStr, Verdict)>,
    /// Where the path that is being judged lies.
    real: Option<String>,
    /// Words that cannot be computed and may matter.
    unresolved: Unresolved<'a>,
    /// The paths that are surely written, as they are shown.
    written: BTreeMap<String, Vec<&'a PathAccess>>,
    /// The paths that each command touches, by the index of its access.
    touched: quick::HashMap<usize, Vec<&'a PathAccess>>,
    /// What the patterns of the policy say of paths.
    places: place::Places<'a>,
    /// Paths outside the workspace that are among the reasons.
    told: HashSet<String>,
    /// What lies below folders, as far as it was looked up.
    listings: RefCell<BTreeMap<(String, Skips), Rc<Listing>>>,
    /// Entries that may still be looked at.
    left: Cell<usize>,
    /// What was found in them: for the patterns and the listing by address, the ends of names, how well it fits.
    found: RefCell<BTreeMap<Looked, Option<String>>>,
}

/// What was looked for: patterns, in which listing, names with which start and ends, and how well they must fit.
type Looked = (usize, usize, String, Fit);

impl<'a> Judge<'a> {
    pub fn new(
        matcher: &'a Matcher,
        call: &'a Call,
        args: &'a Map<String, Value>,
        frame: &'a Frame<'a>,
        tier: &'a Tier,
        accesses: &'a [Access],
    ) -> Self {
        Self {
            matcher,
            call,
            args,
            frame,
            tier,
            accesses,
            reasons: Vec::new(),
            judged: Vec::with_capacity(accesses.len()),
            missing_facts: Vec::new(),
            tier_rule: None,
            cover: vec![Vec::new(); accesses.len()],
            because: Few::default(),
            real: None,
            unresolved: Unresolved::default(),
            written: written(accesses),
            touched: touched_by(accesses),
            places: place::Places::default(),
            told: HashSet::new(),
            listings: RefCell::default(),
            left: Cell::new(MOST_ENTRIES),
            found: RefCell::default(),
        }
    }

    /// Judges all accesses.
    pub fn accesses(&mut self) {
        let tool_rules: Vec<Matched> = self
            .matcher
            .tool_rules(&self.call.tool)
            .into_iter()
            .map(|rule| Matched {
                rule,
                fit: Fit::Must,
                lost: self.off(rule).map(Arc::from),
            })
            .collect();
        let on = tool_rules.iter().filter(|matched| matched.lost.is_none());
        self.tier_rule = on.map(|matched| matched.rule).find(|rule| {
            self.rule(*rule).is_some_and(|own| {
                own.rule.action == Verdict::Allow
                    && self.matcher.resolution(own.layer) == Resolution::Strictest
            }) && self.lifts_tier(*rule)
        });
        let tier = format_smolstr!("tool:{}", self.call.tool);
        // What covers a command must be known before the paths it touches are judged.
        let mut command_matches: Vec<Vec<Matched>> = vec![Vec::new(); self.accesses.len()];
        for (at, access) in self.accesses.iter().enumerate() {
            if matches!(access.kind, Kind::Command(_)) {
                let matches = self.command(at);
                if let Some(place) = command_matches.get_mut(at) {
                    *place = matches;
                }
            }
        }
        for (at, access) in self.accesses.iter().enumerate() {
            self.because = Few::default();
            let (mut matched, covered) = match &access.kind {
                Kind::Command(_) => {
                    let own = command_matches
                        .get_mut(at)
                        .map(std::mem::take)
                        .unwrap_or_default();
                    let section = self
                        .launcher_of_script(at)
                        .is_none()
                        .then_some(Section::Commands);
                    let matched = self.settle(at, own, &tool_rules, section);
                    let covered = self.command_cover(at, &matched);
                    (matched, covered)
                }
                Kind::Path(path) => self.path(at, path, &tool_rules),
                Kind::Host(host) => {
                    let contacted = Contacted::of(&host.url);
                    // Hosts that are not written out are covered by the command's allow.
                    let own = if host.written {
                        self.host(&contacted)
                    } else {
                        Vec::new()
                    };
                    for matched in &own {
                        let may = matched.lost.is_none() && matched.fit == Fit::MayUnknown;
                        let rule = self.rule(matched.rule).filter(|_| may);
                        if let Some(own) = rule.filter(|own| own.rule.action == Verdict::Deny) {
                            let what = What::Denied(&own.key);
                            self.unresolved.add(at, what, || contacted.shown.clone());
                        }
                    }
                    let section = host.written.then_some(Section::Hosts);
                    let matched = self.settle(at, own, &tool_rules, section);
                    let cover = match host.written && !self.matcher.host_rules().is_empty() {
                        true => Cover::Tool,
                        false => host.cover,
                    };
                    let covered = self.covered(&matched, cover);
                    (matched, covered)
                }
                Kind::Tool => {
                    let matched = self.settle(at, Vec::new(), &tool_rules, None);
                    let covered = self.covered(&matched, Cover::Tool);
                    (matched, covered)
                }
                Kind::Opaque(own) => {
                    let beyond = self.unread(at, &own.unread);
                    let matched = self.settle(at, beyond, &tool_rules, None);
                    self.opaque(at, &own.why);
                    (matched, Covered::Nothing)
                }
            };
            let mut because = std::mem::take(&mut self.because);
            if self.unresolved.accesses.contains(&at) {
                because.push(("unresolved".into(), Verdict::Ask));
            }
            if covered == Covered::Tier && self.tier.verdict != Verdict::Allow {
                because.push((tier.clone(), self.tier.verdict));
            }
            let verdict = because
                .iter()
                .map(|(_, action)| *action)
                .max()
                .unwrap_or(Verdict::Allow);
            if verdict != Verdict::Allow {
                for matched in &mut matched {
                    let allow =
                        self.action(matched.rule) == Some(Verdict::Allow) && matched.lost.is_none();
                    if allow && verdict == Verdict::Deny {
                        matched.lost = Some("a deny is final".into());
                    } else if allow && covered != Covered::Tier {
                        matched.lost = Some("an allow does not lift a rule that asks".into());
                    } else if allow && !self.lifts_tier(matched.rule) {
                        matched.lost = Some(
                            "only the administrator's rules lift the administrator's tier".into(),
                        );
                    }
                }
            }
            self.judged.push(Judged {
                // The access itself is moved in when all are judged: a copy would be most of the cost.
                access: Access::of_tool(),
                verdict,
                matched,
                covered,
                because,
                real: self.real.take(),
            });
        }
        self.reasons.extend(self.unresolved.reason());
    }

    /// The tool's tier: a deny always, an ask where an access leans on it.
    pub fn tier(&mut self) {
        let tier = self.tier;
        let leans = tier.verdict == Verdict::Ask
            && self
                .judged
                .iter()
                .any(|judged| judged.covered == Covered::Tier);
        if tier.verdict == Verdict::Deny || leans {
            let tool = &self.call.tool;
            let text = match tier.verdict {
                Verdict::Deny => format!("the policy refuses every call of `{tool}`"),
                _ => match self.leaning() {
                    Some(what) => format!("no rule allows {what}, and `{tool}` asks"),
                    None => format!("`{tool}` asks"),
                },
            };
            self.reasons.push(Reason {
                key: format!("tool:{tool}"),
                action: tier.verdict,
                kind: Basis::Tier,
                forced: false,
                access: None,
                subject: tool.clone(),
                text,
                instead: self.instead(),
                address: Some(tier.address.clone()),
                place: tier.place.clone(),
                order: 0,
            });
        }
    }

    /// What may be written in the place of a command that leans on the tier.
    fn instead(&self) -> Option<String> {
        let mut all = self.accesses.iter().zip(&self.judged);
        all.find_map(|(access, judged)| match &access.kind {
            Kind::Command(command) if judged.covered == Covered::Tier => command
                .escalations
                .iter()
                .find_map(|own| own.instead.clone()),
            _ => None,
        })
    }

    /// The accesses that lean on the tier, in words.
    fn leaning(&self) -> Option<String> {
        let mut subjects: Vec<String> = Vec::new();
        let mut more = 0;
        let leans = |at: usize| {
            let judged = self.judged.get(at);
            judged.is_some_and(|judged| judged.covered == Covered::Tier)
        };
        for (at, access) in self.accesses.iter().enumerate() {
            // What would cover a command covers what it does with it.
            let of_leaning = match &access.kind {
                Kind::Path(path) => path.cover,
                Kind::Host(host) => host.cover,
                _ => Cover::Tool,
            };
            if !leans(at) || matches!(of_leaning, Cover::Command { at, naming: None } if leans(at))
            {
                continue;
            }
            if subjects.len() == 3 {
                more += 1;
                continue;
            }
            let shown = match &access.kind {
                Kind::Tool => return None,
                Kind::Path(path) if path.mode == Mode::Write => {
                    format!("writing `{}`", subject(access, ""))
                }
                Kind::Path(_) => format!("reading `{}`", subject(access, "")),
                _ => format!("`{}`", subject(access, "")),
            };
            if !subjects.contains(&shown) {
                subjects.push(shown);
            }
        }
        let mut text = subjects.join(", ");
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        Some(text)
    }

    fn rule(&self, rule: usize) -> Option<&'a Compiled> {
        self.matcher.rules.get(rule)
    }

    fn action(&self, rule: usize) -> Option<Verdict> {
        self.rule(rule).map(|compiled| compiled.rule.action)
    }

    fn is_on(&mut self, rule: usize) -> bool {
        let Some(compiled) = self.rule(rule) else {
            return false;
        };
        let (on, missing) =
            self.matcher
                .is_on(&compiled.rule, &self.call.tool, self.args, &self.call.facts);
        for name in missing {
            if !self.missing_facts.contains(&name) {
                self.missing_facts.push(name);
            }
        }
        on
    }

    /// Why a rule that fits is off, if it is.
    fn off(&mut self, rule: usize) -> Option<String> {
        if self.is_on(rule) {
            return None;
        }
        let own = &self.rule(rule)?.rule;
        self.matcher
            .why_off(own, &self.call.tool, self.args, &self.call.facts)
    }

    /// Whether an allow of this rule may lift the tier: only the administrator's lifts the administrator's.
    fn lifts_tier(&self, rule: usize) -> bool {
        !(self.tier.managed && self.tier.verdict != Verdict::Allow) || self.matcher.is_managed(rule)
    }

    /// The rules in effect for one access, their reasons noted. Section defaults are the last rules of their layer.
    fn settle(
        &mut self,
        at: usize,
        own: Vec<Matched>,
        tool_rules: &[Matched],
        section: Option<Section>,
    ) -> Vec<Matched> {
        let mut matched: Vec<Matched> = own;
        matched.extend(tool_rules.iter().cloned());
        matched.sort_by_key(|matched| matched.rule);
        choose(self.matcher, &mut matched);
        if let Some(section) = section {
            let matcher = self.matcher;
            for default in matcher.rest(section) {
                let layer = self.rule(default).map(|compiled| compiled.layer);
                // What a rule only may mean it does not name: else a deny that may fit would turn a default deny into an ask.
                let named = matched
                    .iter()
                    .filter(|matched| matched.lost.is_none() && matched.fit == Fit::Must)
                    .any(|matched| {
                        self.rule(matched.rule).is_some_and(|own| {
                            Some(own.layer) == layer && !matches!(own.rule.judges, Judges::Tool)
                        })
                    });
                if !named && self.is_on(default) && !self.transparent(at) {
                    matched.push(Matched {
                        rule: default,
                        fit: Fit::Must,
                        lost: None,
                    });
                }
            }
        }
        for index in 0..matched.len() {
            let Some(one) = matched.get(index).filter(|one| one.lost.is_none()) else {
                continue;
            };
            let (rule, fit) = (one.rule, one.fit);
            match (self.action(rule), fit) {
                (Some(Verdict::Deny), Fit::Must) => {
                    self.rule_reason(rule, at, Verdict::Deny, false, None)
                }
                (Some(Verdict::Deny), Fit::MayPattern) => {
                    let text = match self.accesses.get(at).map(|access| &access.kind) {
                        Some(Kind::Path(path)) if path.path.text().is_some() => {
                            "what lies below may be what this rule denies"
                        }
                        _ => "a pattern in the call may stand for what this rule denies",
                    };
                    self.rule_reason(rule, at, Verdict::Ask, true, Some(text));
                }
                (Some(Verdict::Ask), fit) if fit.may() => {
                    let forced = self.rule(rule).is_some_and(|compiled| compiled.rule.forced);
                    let why =
                        (fit != Fit::Must).then_some("the call may do what this rule asks about");
                    self.rule_reason(rule, at, Verdict::Ask, forced, why);
                }
                _ => {}
            }
        }
        matched
    }

    fn rule_reason(
        &mut self,
        rule: usize,
        at: usize,
        action: Verdict,
        forced: bool,
        why: Option<&str>,
    ) {
        let Some(compiled) = self.rule(rule) else {
            return;
        };
        self.because.push((compiled.key.as_str().into(), action));
        if self
            .reasons
            .iter()
            .any(|reason| reason.key == compiled.key && reason.action == action)
        {
            return;
        }
        let access = self.accesses.get(at);
        let mut reason = Reason {
            key: compiled.key.clone(),
            action,
            kind: Basis::Rule,
            forced,
            access: Some(at),
            subject: access
                .map(|access| subject(access, &self.call.tool))
                .unwrap_or_default(),
            text: String::new(),
            instead: compiled.rule.instead.clone(),
            address: Some(compiled.rule.address.clone()),
            place: Some(compiled.rule.place.clone()),
            order: self.order(rule),
        };
        reason.text = match (&compiled.rule.reason, why) {
            (Some(text), None) => text.clone(),
            (Some(text), Some(why)) => format!("{text} ({why})"),
            (None, why) => {
                let text = texts::unreasoned(&reason);
                why.map_or(text.clone(), |why| format!("{text} ({why})"))
            }
        };
        self.reasons.push(reason);
    }

    /// The order of declaration; a section's default is its last rule, wherever it is written.
    fn order(&self, rule: usize) -> usize {
        match self.rule(rule).map(|compiled| &compiled.rule.judges) {
            Some(Judges::Rest(_)) => self.matcher.rules.len() + rule,
            _ => rule,
        }
    }

    /// One reason for all of a call that is not understood.
    fn opaque(&mut self, at: usize, why: &str) {
        let action = self.matcher.opaque;
        self.because.push(("opaque".into(), action));
        let noted = self
            .reasons
            .iter_mut()
            .find(|reason| reason.kind == Basis::Opaque);
        if let Some(reason) = noted {
            if !reason.text.contains(why) && reason.text.len() < 400 {
                reason.text.push_str("; ");
                reason.text.push_str(why);
            }
            return;
        }
        self.reasons.push(Reason {
            key: "opaque".into(),
            action,
            kind: Basis::Opaque,
            forced: false,
            access: Some(at),
            subject: texts::short(why),
            text: format!("not understood: {why}"),
            instead: None,
            address: None,
            place: None,
            order: at,
        });
    }

    /// What covers an access that may lean on the tier.
    fn covered(&self, matched: &[Matched], cover: Cover) -> Covered {
        if let Some(rule) = self.allowed_by(matched) {
            return Covered::Rule(rule);
        }
        // A deny that only may fit takes no ask's place: with its own question answered, the access still needs cover.
        if matched.iter().any(|matched| {
            matched.lost.is_none()
                && match self.action(matched.rule) {
                    Some(Verdict::Deny) => matched.fit == Fit::Must,
                    Some(Verdict::Ask) => matched.fit.may(),
                    Some(Verdict::Allow) | None => false,
                }
        }) {
            return Covered::Nothing;
        }
        if let Cover::Command { at, naming } = cover {
            if self.command_covers(at, naming) {
                return Covered::Command(at);
            }
        }
        match self.tier_rule {
            Some(rule) => Covered::Rule(rule),
            None => Covered::Tier,
        }
    }

    /// The allow rule in effect that lets an access pass. Under `strictest` a rule about the tool stands in for the
    /// tier and comes last; under `first-match` it decides like any other.
    fn allowed_by(&self, matched: &[Matched]) -> Option<usize> {
        matched
            .iter()
            .filter(|matched| {
                matched.lost.is_none() && matched.fit == Fit::Must && self.lifts_tier(matched.rule)
            })
            .map(|matched| matched.rule)
            .find(|rule| {
                self.rule(*rule).is_some_and(|own| {
                    own.rule.action == Verdict::Allow
                        && (!matches!(own.rule.judges, Judges::Tool)
                            || self.matcher.resolution(own.layer) == Resolution::FirstMatch)
                })
            })
    }

    fn host(&mut self, contacted: &Contacted) -> Vec<Matched> {
        let mut matched = Vec::new();
        for rule in self.matcher.host_rules().candidates(contacted) {
            let Some(compiled) = self.rule(rule) else {
                continue;
            };
            let Judges::Hosts(own) = &compiled.rule.judges else {
                continue;
            };
            let stance = stance(compiled.rule.action);
            let fit = hosts::fit(own, contacted, stance);
            if fit == Fit::No {
                continue;
            }
            let unsure = || cover::may_be_else(&format!("`{}`", contacted.shown));
            let lost = self.out(rule, stance, fit, unsure);
            matched.push(Matched { rule, fit, lost });
        }
        matched
    }
}

fn written(accesses: &[Access]) -> BTreeMap<String, Vec<&PathAccess>> {
    let mut all = BTreeMap::<String, Vec<&PathAccess>>::new();
    for access in accesses {
        if let Kind::Path(path) = &access.kind {
            if path.mode == Mode::Write && path.touches == Touches::Surely {
                all.entry(path.path.shown()).or_default().push(path);
            }
        }
    }
    all
}

fn touched_by(accesses: &[Access]) -> quick::HashMap<usize, Vec<&PathAccess>> {
    let mut all = quick::HashMap::<usize, Vec<&PathAccess>>::default();
    for (owner, path) in commands::paths_of(accesses) {
        all.entry(owner).or_default().push(path);
    }
    all
}

const fn cover_of(cover: Cover) -> Covered {
    match cover {
        Cover::Command { at, .. } => Covered::Command(at),
        Cover::Tool => Covered::Transparent,
    }
}

const fn stance(action: Verdict) -> Stance {
    match action {
        Verdict::Allow => Stance::Loosens,
        Verdict::Ask | Verdict::Deny => Stance::Tightens,
    }
}

/// The one place where `resolution` is decided: under `first-match` a layer's rules after its first sure match lose.
/// A rule that only may match takes part, and so does what comes after it.
fn choose(matcher: &Matcher, matched: &mut [Matched]) {
    let mut decided: Vec<usize> = Vec::new();
    for one in matched.iter_mut() {
        let Some(layer) = matcher.rules.get(one.rule).map(|compiled| compiled.layer) else {
            continue;
        };
        if matcher.resolution(layer) != Resolution::FirstMatch || one.lost.is_some() {
            continue;
        }
        if decided.contains(&layer) {
            one.lost = Some("an earlier rule matched first".into());
        } else if one.fit == Fit::Must {
            decided.push(layer);
        }
    }
}

/// Whether an access is reading or nothing at all; a tool's own URL goes as its tier says.
pub fn only_reads(access: &Access) -> bool {
    match &access.kind {
        Kind::Path(path) => path.mode == Mode::Read || path.touches == Touches::Perhaps,
        Kind::Host(host) => host.cover == Cover::Tool,
        Kind::Command(command) => command.only_reads,
        Kind::Tool | Kind::Opaque(_) => false,
    }
}

/// What an allow rests on: the rule where every access has one, else the tier.
pub fn ground(matcher: &Matcher, decision: &Decision, tool: &str) -> (Basis, Option<DecidedBy>) {
    let leans = decision
        .judged
        .iter()
        .any(|judged| judged.covered == Covered::Tier);
    let rule = decision
        .judged
        .iter()
        .find_map(|judged| match judged.covered {
            Covered::Rule(rule) => matcher.rules.get(rule),
            _ => None,
        });
    match (leans, rule) {
        (false, Some(compiled)) => (
            Basis::Rule,
            Some(DecidedBy {
                rule: compiled.key.clone(),
                address: Some(compiled.rule.address.clone()),
                place: Some(compiled.rule.place.clone()),
                source: None,
            }),
        ),
        _ => {
            let by = decision.tier.as_ref().map(|tier| DecidedBy {
                rule: format!("tool:{tool}"),
                address: Some(tier.address.clone()),
                place: tier.place.clone(),
                source: decision
                    .cleared
                    .iter()
                    .find_map(|cleared| cleared.source.clone()),
            });
            (Basis::Tier, by)
        }
    }
}
