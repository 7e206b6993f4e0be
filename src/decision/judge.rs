//! One access after another against the policy: protected files, workspace, rules, section defaults, cover, tier.
//!
//! In: the accesses of a call. Out: reasons to refuse and to ask, and for each access how it was judged: what
//! matched, what lost, what it rests on.

use super::below::{Listing, Skips};
use super::texts::{self, subject};
use super::{Basis, DecidedBy, Decision, Reason};
use crate::call::Call;
use crate::call::access::{Access, Cover, Kind, Mode, PathAccess, Reach, Touches};
use crate::call::files::{Entry, FileView};
use crate::call::programs;
use crate::call::word::{Piece, Word};
use crate::matcher::commands::{self, Fitted};
use crate::matcher::hosts::{self, Contacted};
use crate::matcher::located::{Folder, Frame, Located};
use crate::matcher::paths::{self, Stance};
use crate::matcher::{Compiled, Matcher, Tier};
use crate::policy::Resolution;
use crate::policy::glob::Fit;
use crate::policy::patterns::{Anchor, PathPattern};
use crate::policy::rule::{Judges, Paths, Section, Verdict};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

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
    pub because: Vec<(String, Verdict)>,
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
    pub lost: Option<String>,
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
    because: Vec<(String, Verdict)>,
    /// Where the path that is being judged lies.
    real: Option<String>,
    /// Words that cannot be computed and may matter: subject, access, may be a protected file.
    unresolved: Vec<(String, usize, bool)>,
    /// What lies below folders, as far as it was looked up.
    listings: RefCell<BTreeMap<(String, Skips), Rc<Listing>>>,
}

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
            because: Vec::new(),
            real: None,
            unresolved: Vec::new(),
            listings: RefCell::default(),
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
                lost: self.off(rule),
            })
            .collect();
        let on = tool_rules.iter().filter(|matched| matched.lost.is_none());
        self.tier_rule = on.map(|matched| matched.rule).find(|rule| {
            self.rule(*rule).is_some_and(|own| {
                own.rule.action == Verdict::Allow
                    && self.matcher.resolution(own.layer) == Resolution::Strictest
            }) && self.lifts_tier(*rule)
        });
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
            self.because.clear();
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
                    if own.iter().any(|matched| {
                        matched.lost.is_none()
                            && matched.fit == Fit::MayUnknown
                            && self.action(matched.rule) == Some(Verdict::Deny)
                    }) {
                        self.unresolved.push((contacted.shown.clone(), at, false));
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
                Kind::Opaque(why) => {
                    let matched = self.settle(at, Vec::new(), &tool_rules, None);
                    let action = self.matcher.opaque;
                    self.note(
                        Basis::Opaque,
                        "opaque".into(),
                        action,
                        at,
                        format!("not understood: {why}"),
                    );
                    (matched, Covered::Nothing)
                }
            };
            let mut because = std::mem::take(&mut self.because);
            if self.unresolved.iter().any(|(_, own, _)| *own == at) {
                because.push(("unresolved".into(), Verdict::Ask));
            }
            if covered == Covered::Tier && self.tier.verdict != Verdict::Allow {
                because.push((format!("tool:{}", self.call.tool), self.tier.verdict));
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
        self.unresolved_reason();
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
                instead: None,
                address: Some(tier.address.clone()),
                place: tier.place.clone(),
                order: 0,
            });
        }
    }

    /// The accesses that lean on the tier, in words.
    fn leaning(&self) -> Option<String> {
        let mut subjects: Vec<String> = Vec::new();
        let judged = self.judged.iter().zip(self.accesses);
        for (_, access) in judged.filter(|(judged, _)| judged.covered == Covered::Tier) {
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
        let more = subjects.len().saturating_sub(3);
        subjects.truncate(3);
        let mut text = subjects.join(", ");
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        Some(text)
    }

    // --- rules

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
            let defaults: Vec<usize> = self.matcher.rest(section).collect();
            for default in defaults {
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
                    let text = "a pattern in the call may stand for what this rule denies";
                    self.rule_reason(rule, at, Verdict::Ask, true, Some(text));
                }
                (Some(Verdict::Ask), fit) if fit.may() => {
                    let forced = self.rule(rule).is_some_and(|compiled| compiled.rule.forced);
                    self.rule_reason(rule, at, Verdict::Ask, forced, None);
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
        let key = compiled.key.clone();
        self.because.push((key.clone(), action));
        if self
            .reasons
            .iter()
            .any(|reason| reason.key == key && reason.action == action)
        {
            return;
        }
        let access = self.accesses.get(at);
        let mut reason = Reason {
            key,
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

    fn note(&mut self, kind: Basis, key: String, action: Verdict, at: usize, text: String) {
        self.because.push((key.clone(), action));
        if let Some(reason) = self
            .reasons
            .iter_mut()
            .find(|reason| reason.key == key && reason.action == action)
        {
            if !reason.text.contains(&text) && reason.text.len() < 400 {
                reason.text.push_str("; ");
                reason.text.push_str(&text);
            }
            return;
        }
        let access = self.accesses.get(at);
        self.reasons.push(Reason {
            key,
            action,
            kind,
            forced: false,
            access: Some(at),
            subject: access
                .map(|access| subject(access, &self.call.tool))
                .unwrap_or_default(),
            text,
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
        if matched.iter().any(|matched| {
            matched.lost.is_none()
                && matched.fit.may()
                && self.action(matched.rule) != Some(Verdict::Allow)
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

    // --- commands

    /// The rules that meet a command; what its allows cover is kept.
    fn command(&mut self, at: usize) -> Vec<Matched> {
        let mut matched = Vec::new();
        if self.matcher.command_rules().is_empty() {
            return matched;
        }
        let candidates = self.matcher.command_rules().candidates(self.accesses, at);
        for rule in candidates {
            let Some(compiled) = self.rule(rule) else {
                continue;
            };
            let Judges::Commands(own) = &compiled.rule.judges else {
                continue;
            };
            let stance = stance(compiled.rule.action);
            if stance == Stance::Loosens && self.launcher_of_script(at).is_some() {
                continue;
            }
            let fitted = commands::fit(own, self.accesses, at, stance, self.frame);
            if fitted.fit == Fit::No {
                continue;
            }
            if let Some(lost) = self.out(rule, stance, fitted.fit, fitted.unsure.as_deref()) {
                matched.push(Matched {
                    rule,
                    fit: fitted.fit,
                    lost: Some(lost),
                });
                continue;
            }
            if stance == Stance::Tightens {
                if fitted.fit == Fit::MayUnknown && compiled.rule.action == Verdict::Deny {
                    let words = fitted
                        .unsure
                        .clone()
                        .unwrap_or_else(|| "the command".into());
                    self.unresolved.push((words, at, false));
                }
                matched.push(Matched {
                    rule,
                    fit: fitted.fit,
                    lost: None,
                });
                continue;
            }
            match commands::uncovered(self.accesses, &fitted, own) {
                Some(what) => {
                    let lost = Some(format!("it does not cover a command that {what}"));
                    matched.push(Matched {
                        rule,
                        fit: fitted.fit,
                        lost,
                    });
                }
                None => {
                    matched.push(Matched {
                        rule,
                        fit: fitted.fit,
                        lost: None,
                    });
                    for level in &fitted.levels {
                        if let Some(cover) = self.cover.get_mut(*level) {
                            cover.push((rule, fitted.clone()));
                        }
                    }
                }
            }
        }
        matched
    }

    /// Why a rule that fits takes no part: it is off, or it allows and only may fit.
    fn out(
        &mut self,
        rule: usize,
        stance: Stance,
        fit: Fit,
        unsure: Option<&str>,
    ) -> Option<String> {
        let off = self.off(rule);
        if off.is_some() || stance == Stance::Tightens || fit == Fit::Must {
            return off;
        }
        Some(format!(
            "an allow must be sure, and {} may be something else",
            unsure.unwrap_or("the command")
        ))
    }

    fn transparent(&self, at: usize) -> bool {
        commands::command(self.accesses, at)
            .is_some_and(|command| command.transparent && command.escalations.is_empty())
    }

    /// The interpreter of a script that is judged as a program: its allow covers the script.
    fn launcher_of_script(&self, at: usize) -> Option<usize> {
        commands::command(self.accesses, at)
            .filter(|command| command.scripted)?
            .launcher
    }

    fn command_cover(&self, at: usize, matched: &[Matched]) -> Covered {
        if let Some(launcher) = self.launcher_of_script(at) {
            return Covered::Command(launcher);
        }
        let cover = self.cover.get(at).map(Vec::as_slice).unwrap_or_default();
        let mut by = cover
            .iter()
            .map(|(rule, _)| *rule)
            .filter(|rule| self.lifts_tier(*rule));
        // A rule that lost (under first-match) covers nothing.
        let lost = |rule: &usize| {
            matched
                .iter()
                .any(|matched| matched.rule == *rule && matched.lost.is_some())
        };
        if let Some(rule) = by.find(|rule| !lost(rule)) {
            return Covered::Rule(rule);
        }
        let rest = self.covered(matched, Cover::Tool);
        match rest {
            Covered::Tier if self.transparent(at) && self.plain_assignments(at) => {
                Covered::Transparent
            }
            rest => rest,
        }
    }

    /// A transparent launcher covers harmless assignments only.
    fn plain_assignments(&self, at: usize) -> bool {
        commands::command(self.accesses, at).is_some_and(|command| {
            command
                .assignments
                .iter()
                .all(|own| !own.dangerous && !own.value.is_unknown())
        })
    }

    /// Whether the allow of a command covers an effect of it, whose word it must name.
    fn command_covers(&self, at: usize, naming: Option<usize>) -> bool {
        let cover = self.cover.get(at).map(Vec::as_slice).unwrap_or_default();
        cover
            .iter()
            .filter(|(rule, _)| self.lifts_tier(*rule))
            .any(|(_, fitted)| naming.is_none_or(|word| fitted.named.contains(&(at, word))))
            || (naming.is_none()
                && cover.is_empty()
                && self.transparent(at)
                && self.plain_assignments(at))
    }

    // --- paths

    fn path(
        &mut self,
        at: usize,
        path: &PathAccess,
        tool_rules: &[Matched],
    ) -> (Vec<Matched>, Covered) {
        let located = Located::of(path, self.frame);
        self.real = located.known.then(|| located.real().to_owned());
        if path.touches == Touches::Names {
            self.outside(at, path, &located, &[]);
            return (Vec::new(), cover_of(path.cover));
        }
        let certain = path.touches == Touches::Surely;
        self.protected(at, path, &located);
        let own = self.path_rules(at, path, &located);
        if certain {
            self.outside(at, path, &located, &own);
        }
        let section = certain.then_some(Section::Paths(path.mode));
        let written = path.mode == Mode::Read
            && !own.iter().any(|m| m.lost.is_none())
            && self.also_written(path);
        let matched = match written {
            // A write allow covers the same call's reading of that path: the default of reading does not come up.
            true => self.settle(at, own, tool_rules, None),
            false => self.settle(at, own, tool_rules, section),
        };
        if !certain {
            let tightened = matched.iter().any(|matched| {
                matched.lost.is_none() && self.action(matched.rule) != Some(Verdict::Allow)
            });
            return (
                matched,
                if tightened {
                    Covered::Nothing
                } else {
                    cover_of(path.cover)
                },
            );
        }
        let covered = match self.covered(&matched, path.cover) {
            Covered::Tier if written => self.write_allow(path).map_or(Covered::Tier, Covered::Rule),
            covered => covered,
        };
        (matched, covered)
    }

    fn protected(&mut self, at: usize, path: &PathAccess, located: &Located) {
        let candidates = self.matcher.protected_index(path.mode).candidates(located);
        for index in candidates {
            let Some(set) = self.matcher.protected.get(index) else {
                continue;
            };
            let fit = paths::fit(&set.paths, located, Stance::Tightens);
            let (fit, found) = match fit {
                Fit::Must => (fit, None),
                Fit::MayPattern if self.lists_none(&set.paths, path) => continue,
                fit => self
                    .below(&set.paths, path, located)
                    .map_or((fit, None), |(below, found)| (fit.max(below), found)),
            };
            let (action, forced) = match fit {
                Fit::No => continue,
                Fit::Must => (Verdict::Deny, false),
                Fit::MayPattern => (Verdict::Ask, true),
                Fit::MayUnknown => {
                    self.unresolved.push((path.path.shown(), at, true));
                    continue;
                }
            };
            let key = format!("protected.{}", set.name);
            self.because.push((key.clone(), action));
            if self
                .reasons
                .iter()
                .any(|reason| reason.key == key && reason.action == action)
            {
                continue;
            }
            let shown = found.unwrap_or_else(|| located.shown().to_owned());
            let mut text = set.reason.clone().map_or_else(
                || format!("`{shown}` is protected"),
                |why| format!("`{shown}` is protected: {why}"),
            );
            if forced {
                text = format!(
                    "`{}` may stand for, or reach, a protected file{}",
                    path.path.shown(),
                    set.reason
                        .as_ref()
                        .map(|why| format!(": {why}"))
                        .unwrap_or_default()
                );
            }
            self.reasons.push(Reason {
                key: key.clone(),
                action,
                kind: Basis::Protected,
                forced,
                access: Some(at),
                subject: texts::short(&shown),
                text,
                instead: set.instead.clone(),
                address: Some(key),
                place: Some(set.place.clone()),
                order: index,
            });
        }
    }

    fn path_rules(&mut self, at: usize, path: &PathAccess, located: &Located) -> Vec<Matched> {
        let mut matched = Vec::new();
        for rule in self.matcher.path_rules(path.mode).candidates(located) {
            let Some(compiled) = self.rule(rule) else {
                continue;
            };
            let Judges::Paths(own) = &compiled.rule.judges else {
                continue;
            };
            let stance = stance(compiled.rule.action);
            let fit = match (stance, paths::fit(own, located, stance)) {
                (Stance::Loosens, fit) if path.touches == Touches::Surely => fit,
                (Stance::Loosens, _) => continue,
                (Stance::Tightens, Fit::Must) => Fit::Must,
                (Stance::Tightens, Fit::MayPattern) if self.lists_none(own, path) => {
                    continue;
                }
                (Stance::Tightens, fit) => self
                    .below(own, path, located)
                    .map_or(fit, |(below, _)| fit.max(below)),
            };
            if fit == Fit::No {
                continue;
            }
            let shown = format!("`{}`", path.path.shown());
            if let Some(lost) = self.out(rule, stance, fit, Some(&shown)) {
                matched.push(Matched {
                    rule,
                    fit,
                    lost: Some(lost),
                });
                continue;
            }
            if fit == Fit::MayUnknown && compiled.rule.action == Verdict::Deny {
                self.unresolved.push((path.path.shown(), at, false));
            }
            matched.push(Matched {
                rule,
                fit,
                lost: None,
            });
        }
        matched
    }

    /// What of a tightening pattern lies below a path that is touched with all below it: surely found, or maybe.
    fn below(
        &self,
        own: &Paths,
        path: &PathAccess,
        located: &Located,
    ) -> Option<(Fit, Option<String>)> {
        let fit = paths::fit_below(own, located);
        if fit == Fit::No {
            return None;
        }
        let Reach::Below { hidden } = located.reach else {
            return Some((fit, None));
        };
        let Some(listing) = self.listing(located, self.skips(path, hidden)) else {
            return Some((fit, None));
        };
        match self.find_below(own, &listing, |fit| fit == Fit::Must) {
            Some(path) => Some((Fit::Must, Some(path))),
            None if listing.complete => None,
            None => Some((fit, None)),
        }
    }

    /// Whether a path is a name that `find DIR` or its like prints, and nothing below `DIR` fits the patterns. Such a
    /// name exists, so for reading what is there now tells; what is written may be new.
    fn lists_none(&self, own: &Paths, path: &PathAccess) -> bool {
        let printed = matches!(path.path.pieces.as_slice(), [Piece::Below(_)])
            || matches!(path.path.pieces.as_slice(), [Piece::Text(folder), Piece::Below(_)] if folder.ends_with('/'));
        if !printed || path.mode != Mode::Read {
            return false;
        }
        let folder = Word::of(
            path.path
                .pieces
                .iter()
                .take(path.path.pieces.len() - 1)
                .cloned(),
            path.path.span,
        );
        let folder = Located::locate(&folder, path.cwd.as_deref(), Reach::Itself, self.frame);
        let listing = self.listing(
            &folder,
            Skips {
                hidden: false,
                ignored: false,
            },
        );
        folder.known
            && listing.is_some_and(|listing| {
                listing.complete && self.find_below(own, &listing, Fit::may).is_none()
            })
    }

    /// What a command that goes below a folder skips by itself.
    fn skips(&self, path: &PathAccess, hidden: bool) -> Skips {
        let owner = match path.cover {
            Cover::Command { at, .. } => commands::command(self.accesses, at),
            Cover::Tool => None,
        };
        Skips {
            hidden: !hidden,
            ignored: owner.is_some_and(programs::heeds_gitignore),
        }
    }

    /// What lies below a known folder, looked up once.
    fn listing(&self, located: &Located, skips: Skips) -> Option<Rc<Listing>> {
        let view = self
            .frame
            .view
            .filter(|view| view.sees() && located.known)?;
        let folder = located.real().to_owned();
        let mut listings = self.listings.borrow_mut();
        Some(Rc::clone(
            listings
                .entry((folder, skips))
                .or_insert_with_key(|(folder, skips)| Rc::new(Listing::of(view, folder, *skips))),
        ))
    }

    /// The first entry of a listing that fits well enough. The listing starts at a real path, so only a link among its
    /// entries leads elsewhere; what heeds `.gitignore` does not follow links.
    fn find_below(
        &self,
        own: &Paths,
        listing: &Listing,
        enough: impl Fn(Fit) -> bool,
    ) -> Option<String> {
        let real = |folder: &Folder| Folder {
            lexical: folder.resolved.clone(),
            resolved: folder.resolved.clone(),
        };
        let plain = Frame {
            roots: self.frame.roots.iter().map(real).collect(),
            home: self.frame.home.as_ref().map(real),
            view: None,
            linked: self.frame.linked.clone(),
        };
        listing.paths.iter().find_map(|(path, entry)| {
            let frame = if *entry == Entry::Link {
                self.frame
            } else {
                &plain
            };
            let word = Word::known(path.as_str(), crate::source::Span::default());
            let found = Located::locate(&word, None, Reach::Itself, frame);
            enough(paths::fit(own, &found, Stance::Tightens)).then(|| path.clone())
        })
    }

    /// Whether an allow is anchored with `/` or `~`: it settles an ask of `workspace.outside`.
    fn settles_outside(&self, matched: &Matched, located: &Located) -> bool {
        let Some(compiled) = self
            .rule(matched.rule)
            .filter(|own| own.rule.action == Verdict::Allow)
        else {
            return false;
        };
        let Judges::Paths(own) = &compiled.rule.judges else {
            return false;
        };
        let anchored =
            |pattern: &&PathPattern| matches!(pattern.anchor, Anchor::Absolute | Anchor::Home);
        let own = Paths {
            patterns: own.patterns.iter().filter(anchored).cloned().collect(),
            ..(**own).clone()
        };
        paths::fit(&own, located, Stance::Loosens) == Fit::Must
    }

    fn outside(&mut self, at: usize, path: &PathAccess, located: &Located, own: &[Matched]) {
        let (verdict, place) = &self.matcher.outside;
        if *verdict == Verdict::Allow
            || (self.frame.roots.is_empty() && self.matcher.roots.is_none())
        {
            return;
        }
        let settled = || {
            own.iter()
                .any(|matched| matched.lost.is_none() && self.settles_outside(matched, located))
        };
        match located.inside() {
            Some(true) => {}
            _ if *verdict == Verdict::Ask && settled() => {}
            None => self.unresolved.push((path.path.shown(), at, false)),
            Some(false) => {
                let shown = located.shown().to_owned();
                let key = format!("outside-workspace:{shown}");
                self.because.push((key.clone(), *verdict));
                if self.reasons.iter().any(|reason| reason.key == key) {
                    return;
                }
                self.reasons.push(Reason {
                    key,
                    action: *verdict,
                    kind: Basis::Workspace,
                    forced: false,
                    access: Some(at),
                    subject: texts::short(&shown),
                    text: format!("`{shown}` is outside the workspace"),
                    instead: None,
                    address: Some("workspace.outside".into()),
                    place: place.clone(),
                    order: at,
                });
            }
        }
    }

    /// Whether the same call writes the path that it reads.
    fn also_written(&self, path: &PathAccess) -> bool {
        self.accesses.iter().any(|access| {
            matches!(&access.kind, Kind::Path(other)
                if other.mode == Mode::Write && other.path.pieces == path.path.pieces && other.cwd == path.cwd && other.touches == Touches::Surely)
        }) && self.write_allow(path).is_some()
    }

    fn write_allow(&self, path: &PathAccess) -> Option<usize> {
        let located = Located::of(path, self.frame);
        self.matcher
            .path_rules(Mode::Write)
            .candidates(&located)
            .into_iter()
            .find(|rule| {
                self.rule(*rule).is_some_and(|own| match &own.rule.judges {
                    Judges::Paths(paths) => {
                        own.rule.action == Verdict::Allow
                            && self.lifts_tier(*rule)
                            && paths::fit(paths, &located, Stance::Loosens) == Fit::Must
                            && self
                                .matcher
                                .is_on(&own.rule, &self.call.tool, self.args, &self.call.facts)
                                .0
                    }
                    _ => false,
                })
            })
    }

    // --- hosts

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
            let shown = format!("`{}`", contacted.shown);
            let lost = self.out(rule, stance, fit, Some(&shown));
            matched.push(Matched { rule, fit, lost });
        }
        matched
    }

    /// One obligation for all words that cannot be computed and may matter.
    fn unresolved_reason(&mut self) {
        let Some((_, at, _)) = self.unresolved.first() else {
            return;
        };
        let at = *at;
        let forced = self.unresolved.iter().any(|(_, _, protected)| *protected);
        let mut words: Vec<String> = Vec::new();
        for (word, _, _) in &self.unresolved {
            let shown = if word.starts_with('`') {
                word.clone()
            } else {
                format!("`{word}`")
            };
            if !words.contains(&shown) && words.len() < 8 {
                words.push(shown);
            }
        }
        let may = if forced {
            "may be a protected file"
        } else {
            "may be something that the policy refuses or asks about"
        };
        self.reasons.push(Reason {
            key: "unresolved".into(),
            action: Verdict::Ask,
            kind: Basis::Unresolved,
            forced,
            access: Some(at),
            subject: texts::short(&words.join(", ")),
            text: format!(
                "{} cannot be computed before the call runs, and {may}",
                texts::short(&words.join(", "))
            ),
            instead: Some("write the value out".into()),
            address: None,
            place: None,
            order: usize::MAX,
        });
    }
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

/// The folders that anchored patterns name and that a symbolic link leads through.
pub fn linked(matcher: &Matcher, frame: &Frame<'_>, view: &FileView) -> Vec<Folder> {
    let rules = matcher
        .rules
        .iter()
        .filter_map(|compiled| match &compiled.rule.judges {
            Judges::Paths(paths) if compiled.rule.action != Verdict::Allow => Some(&paths.patterns),
            _ => None,
        });
    let patterns = rules
        .chain(matcher.protected.iter().map(|set| &set.paths.patterns))
        .flatten();
    let mut seen = std::collections::BTreeSet::new();
    let mut out: Vec<Folder> = Vec::new();
    for pattern in patterns {
        let starts: Vec<&str> = match pattern.anchor {
            Anchor::Absolute => vec![""],
            Anchor::Home => frame
                .home
                .iter()
                .map(|folder| folder.lexical.trim_end_matches('/'))
                .collect(),
            Anchor::Root => frame
                .roots
                .iter()
                .map(|folder| folder.lexical.trim_end_matches('/'))
                .collect(),
            Anchor::Name => continue,
        };
        for start in starts {
            let mut at = start.to_owned();
            for word in &pattern.components {
                let crate::policy::patterns::WordPattern::Word(glob) = word else {
                    break;
                };
                let Some(name) = glob.as_literal() else { break };
                at = format!("{at}/{name}");
                if seen.insert(at.clone()) && view.entry(&at) == Some(Entry::Link) {
                    let folder = Folder::of(at.clone(), view);
                    if folder.lexical != folder.resolved {
                        out.push(folder);
                    }
                }
            }
        }
    }
    out
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
