//! Whether an invariant holds: no call is allowed that it says never is.
//!
//! Each way in which such a call could be allowed is searched: a tool whose tier allows it, an allow rule, an allowed
//! command that touches the path or host. What no stricter rule surely takes is tried on the real matcher. Without any
//! such way left it is proved; where one is left that shows no call, nothing is known.

use super::encode::{self, Need, Space};
use super::entry::{self, Entry};
use super::rules::{invariant_entries, tools_that};
use super::search::{BUDGET, Found, Search};
use super::situation::{self, Facts};
use super::witness::{Witness, quoted};
use super::words::Language;
use super::{By, Rules, TRIES, sample};
use crate::call::access::{Access, Kind, Mode, Touches};
use crate::call::files::FileView;
use crate::call::tools::Holds;
use crate::decision::{self, decide};
use crate::matcher::located::Located;
use crate::matcher::paths::{self, Stance};
use crate::matcher::{commands, hosts};
use crate::policy::Resolution;
use crate::policy::glob::{Fit, Glob};
use crate::policy::rule::{Invariant, Judges, Section, Verdict};
use std::rc::Rc;

/// What is known of an invariant.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// No call breaks it.
    Holds,
    /// This call does, and is allowed.
    Broken(Box<Witness>),
    /// Neither is shown.
    Unknown,
}

impl Rules<'_> {
    /// Whether every call that an invariant is about is asked about or denied.
    pub fn invariant(&self, invariant: &Invariant) -> Proof {
        let mut proof = Proof::Holds;
        invariant_entries(invariant, &self.scene, |entry| {
            for space in entry.spaces() {
                if matches!(proof, Proof::Broken(_)) {
                    return;
                }
                match self.allowed(entry, space) {
                    Proof::Holds => {}
                    other => proof = other,
                }
            }
        });
        proof
    }

    /// Whether a call is allowed and surely does what an invariant says never is.
    #[cfg(test)]
    pub(super) fn is_broken_by(&self, invariant: &Invariant, call: &crate::call::Call) -> bool {
        let witness = Witness {
            call: call.clone(),
            shown: String::new(),
        };
        let mut broken = false;
        invariant_entries(invariant, &self.scene, |entry| {
            let mut spaces = entry.spaces().into_iter();
            broken |= spaces.any(|space| self.breaks(entry, space, &witness));
        });
        broken
    }

    fn allowed(&self, never: &Entry<'_>, space: Space) -> Proof {
        let rule = &never.compiled.rule;
        let mut tools = match space {
            // The name is the word.
            Space::Tool => vec![String::new()],
            _ => tools_that(self.matcher, space),
        };
        let shells = tools_that(self.matcher, Space::Commands);
        if matches!(space, Space::Paths(_) | Space::Hosts) {
            tools.extend(
                shells
                    .iter()
                    .filter(|own| !tools.contains(own))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
        }
        tools.retain(|own| {
            space == Space::Tool
                || rule.tools.is_empty()
                || rule.tools.iter().any(|glob| glob.matches_text(own, false))
        });
        let all = self
            .entries
            .iter()
            .map(|own| &own.compiled.rule)
            .chain([rule]);
        let mut strict = self.strict(space);
        let facts = situation::combinations(self.matcher, all).or_else(|| {
            // Too many: what depends on facts closes nothing for sure.
            strict.retain(|by| match by {
                By::Entry(at) => self
                    .entries
                    .get(*at)
                    .is_some_and(|own| situation::facts_of(&own.compiled.rule).next().is_none()),
                By::Protected(_) => true,
            });
            situation::combinations(self.matcher, [rule].into_iter())
        });
        let Some(facts) = facts else {
            return Proof::Unknown;
        };
        let mut proof = Proof::Holds;
        for tool in &tools {
            for facts in &facts {
                if !self.is_on(rule, space, tool, facts) || !self.may_pass(space, tool, &shells) {
                    continue;
                }
                match self.escapes(never, space, tool, facts, &strict) {
                    Proof::Holds => {}
                    Proof::Unknown => proof = Proof::Unknown,
                    broken => return broken,
                }
            }
        }
        proof
    }

    /// What asks or denies whatever it takes: under `first-match` only what no allow of its layer comes before.
    fn strict(&self, space: Space) -> Vec<By> {
        let mut layers_with_allow = Vec::new();
        let mut strict = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let layer = entry.compiled.layer;
            let ordered = self.matcher.resolution(layer) == Resolution::FirstMatch;
            let by = By::Entry(at);
            match entry.action() {
                Verdict::Allow if ordered && self.reaches(by, space) => {
                    layers_with_allow.push(layer)
                }
                Verdict::Ask | Verdict::Deny
                    if self.reaches(by, space) && !layers_with_allow.contains(&layer) =>
                {
                    strict.push(by);
                }
                _ => {}
            }
        }
        let protected = (0..self.protected.len()).map(By::Protected);
        strict.extend(protected.filter(|by| self.reaches(*by, space)));
        strict
    }

    /// Whether anything lets such an access of a tool pass: its tier, a rule about it, a rule about such accesses, or an
    /// allowed command that makes them.
    fn may_pass(&self, space: Space, tool: &str, shells: &[String]) -> bool {
        let tier = || self.lets_pass(self.matcher.tier(tool).verdict);
        let section = match space {
            Space::Paths(mode) => Some(Section::Paths(mode)),
            Space::Hosts => Some(Section::Hosts),
            Space::Tool | Space::Commands => None,
        };
        let commands = shells.iter().any(|own| own == tool);
        let sections = section
            .into_iter()
            .chain(commands.then_some(Section::Commands));
        let mut defaults = sections.flat_map(|section| self.matcher.rest(section));
        let by_default = defaults.any(|at| {
            let rule = self.matcher.rules.get(at);
            rule.is_some_and(|own| own.rule.action == Verdict::Allow)
        });
        space == Space::Tool
            || tier()
            || by_default
            || self.entries.iter().any(|entry| {
                entry.action() == Verdict::Allow
                    && match &entry.compiled.rule.judges {
                        Judges::Tool => true,
                        Judges::Commands(own) => {
                            // What only covers reading lets nothing be written.
                            let writes = !(own.only_read && space == Space::Paths(Mode::Write));
                            writes && shells.iter().any(|own| own == tool)
                        }
                        _ => entry.spaces().contains(&space),
                    }
            })
    }

    /// A call that no stricter rule takes, and that is allowed.
    fn escapes(
        &self,
        never: &Entry<'_>,
        space: Space,
        tool: &str,
        facts: &Facts,
        strict: &[By],
    ) -> Proof {
        let on = strict.iter().filter(|by| match by {
            By::Entry(at) => self
                .entries
                .get(*at)
                .is_some_and(|own| self.is_on(&own.compiled.rule, space, tool, facts)),
            By::Protected(_) => true,
        });
        let on: Vec<By> = on.copied().collect();
        let only = self.only_by_rule(space);
        let mut proof = Proof::Holds;
        let given = self.given(never, &on);
        let parts = never.parts.iter().enumerate();
        for ((at, part), given) in parts.flat_map(|part| given.iter().map(move |own| (part, own))) {
            let wanted = part.as_ref().and_then(|part| self.wanted(part, space));
            let Some(wanted) = wanted else {
                return Proof::Unknown;
            };
            let pattern = never.written.patterns.get(at);
            let keys = pattern.and_then(|own| entry::keys(own, &self.scene, true));
            let others = on
                .iter()
                .flat_map(|by| self.by(*by, space, given, keys.as_deref()));
            let mut others: Vec<Rc<Language>> = others.collect();
            others.extend(self.outside(space));
            if space == Space::Tool {
                others.extend(self.tier_names(Verdict::Deny));
            }
            let ways = match only {
                false => vec![wanted],
                true => match self.by_rule(space) {
                    Some(all) => all.iter().map(|own| wanted.clone().and(own)).collect(),
                    None => return Proof::Unknown,
                },
            };
            for way in ways {
                match self.escape(never, space, tool, facts, &way, &others) {
                    Proof::Holds => {}
                    Proof::Unknown => proof = Proof::Unknown,
                    broken => return broken,
                }
            }
        }
        proof
    }

    /// Whether a tier lets calls pass: an authority that endorses them lifts its ask.
    fn lets_pass(&self, tier: Verdict) -> bool {
        tier == Verdict::Allow || (tier == Verdict::Ask && !self.matcher.sources.is_empty())
    }

    /// Whether a section's default asks or denies all that no rule of it names; its command rules do not lift that.
    fn only_by_rule(&self, space: Space) -> bool {
        let section = match space {
            Space::Paths(mode) => Section::Paths(mode),
            Space::Hosts => Section::Hosts,
            // A tool that no tier lists has the default one.
            Space::Tool => return !self.lets_pass(self.matcher.tier("").verdict),
            Space::Commands => return false,
        };
        let mut rest = self
            .matcher
            .rest(section)
            .filter_map(|at| self.matcher.rules.get(at));
        rest.any(|own| {
            let rule = &own.rule;
            rule.action != Verdict::Allow
                && rule.tools.is_empty()
                && rule.args.is_empty()
                && rule.when.is_empty()
                && rule.unless.is_empty()
        })
    }

    /// What the allow rules of a section may take.
    fn by_rule(&self, space: Space) -> Option<Vec<Rc<Language>>> {
        let allows = self
            .entries
            .iter()
            .filter(|own| own.action() == Verdict::Allow);
        let allows = allows.filter(|own| own.spaces().contains(&space));
        let parts = allows.flat_map(|own| &own.parts);
        let rules: Option<Vec<Rc<Language>>> =
            parts.map(|part| self.over(part.as_ref()?)).collect();
        let mut all = rules?;
        if space == Space::Tool {
            let open = [Verdict::Allow, Verdict::Ask].into_iter();
            let open = open.filter(|own| self.lets_pass(*own));
            all.extend(open.flat_map(|own| self.tier_names(own)));
            all.extend(self.served());
        }
        Some(all)
    }

    /// The names of tools that may pass by what rules say of their arguments: a shell may also run what needs no rule.
    fn served(&self) -> Vec<Rc<Language>> {
        let allows = self.entries.iter().map(|own| &own.compiled.rule);
        let rules = self.matcher.rules.iter().map(|own| &own.rule);
        let defaults = rules.filter(|own| matches!(own.judges, Judges::Rest(_)));
        let allows: Vec<_> = allows
            .chain(defaults)
            .filter(|own| own.action == Verdict::Allow && !matches!(own.judges, Judges::Tool))
            .collect();
        let shells = tools_that(self.matcher, Space::Commands);
        let serves = |name: &&str| {
            let declared = self.matcher.declaration(name);
            let mut tools = allows.iter().map(|own| &own.tools);
            declared.is_some_and(|own| !own.arguments.is_empty())
                && (shells.iter().any(|own| own == name)
                    || tools.any(|own| {
                        own.is_empty() || own.iter().any(|glob| glob.matches_text(name, false))
                    }))
        };
        let names = self.matcher.tool_names().into_iter().filter(serves);
        let dfas = names.filter_map(|name| self.dfa(&encode::tool(&Glob::literal(name))?));
        dfas.map(|dfa| {
            Rc::new(Language {
                is: vec![dfa],
                not: Vec::new(),
            })
        })
        .collect()
    }

    /// Calls of what rules allow, by any tool.
    fn allowed_calls(&self, facts: &Facts) -> Vec<Witness> {
        let mut out = Vec::new();
        let allows = self.entries.iter();
        for entry in allows.filter(|own| own.action() == Verdict::Allow).take(64) {
            for space in entry.spaces() {
                let sampled = self.sampled(entry, space).into_iter();
                let words = sampled.filter_map(|own| {
                    match Search::new(&self.alphabet, own, Vec::new()).next() {
                        Found::Word(word) => Some(word),
                        _ => None,
                    }
                });
                for word in words.take(4) {
                    for tool in self.tools(entry, space) {
                        let needs = &entry.needs;
                        out.extend(self.scene.call(
                            self.matcher,
                            space,
                            &word,
                            &tool,
                            facts,
                            needs,
                        ));
                    }
                }
            }
        }
        out
    }

    fn escape(
        &self,
        never: &Entry<'_>,
        space: Space,
        tool: &str,
        facts: &Facts,
        way: &Language,
        others: &[Rc<Language>],
    ) -> Proof {
        let search = |way: Language| Search::new(&self.alphabet, way, others.to_vec());
        let mut all = search(way.clone());
        let mut words: Vec<String> = Vec::new();
        for _ in 0..TRIES {
            match all.next() {
                Found::Nothing(_) if words.is_empty() => return Proof::Holds,
                Found::Word(word) => words.push(word),
                Found::Nothing(_) | Found::GaveUp => break,
            }
        }
        // What an allow rule takes is the likeliest to pass. All of them share one budget.
        let mut spent = 0;
        let allows = self
            .entries
            .iter()
            .filter(|own| own.action() == Verdict::Allow);
        let allows =
            allows.filter(|own| own.spaces().contains(&space) && own.may_meet(never, &self.scene));
        let likely = allows
            .flat_map(|own| self.sampled(own, space))
            .map(|own| way.clone().and(&own))
            .filter(|own| {
                // Most do not meet at all, whatever the others take.
                let mut alone = Search::new(&self.alphabet, own.clone(), Vec::new());
                !matches!(alone.next(), Found::Nothing(_))
            })
            .filter_map(|own| {
                if spent > BUDGET {
                    return None;
                }
                let mut search = search(own);
                let found = search.next();
                spent += search.spent();
                match found {
                    Found::Word(word) => Some(word),
                    _ => None,
                }
            });
        let likely: Vec<String> = likely.take(64).collect();
        // What others leave out.
        let near = self
            .near(never, |own| own.action() != Verdict::Allow)
            .into_iter();
        let near = near.filter_map(|by| match by {
            By::Entry(at) => self.entries.get(at),
            By::Protected(_) => None,
        });
        let beside = near.flat_map(|own| self.beside(own)).take(16);
        let beside = beside.filter_map(|(is, dfa)| {
            let mut way = way.clone();
            let list = if is { &mut way.is } else { &mut way.not };
            list.push(dfa);
            match Search::new(&self.alphabet, way, Vec::new()).next() {
                Found::Word(word) => Some(word),
                _ => None,
            }
        });
        let beside: Vec<String> = beside.collect();
        let words = likely.iter().chain(&words).chain(&beside);
        let words = words.flat_map(|word| self.calls(space, word, tool, facts, &never.needs));
        let starts = self.started(never, space, tool, facts).into_iter();
        let sources = || self.matcher.sources.iter().map(|own| own.name.as_str());
        let mut calls = words.chain(starts).flat_map(|own| own.heard(sources()));
        match calls.find(|call| self.breaks(never, space, call)) {
            Some(broken) => Proof::Broken(Box::new(broken)),
            None => Proof::Unknown,
        }
    }

    /// The names of a tier.
    pub(super) fn tier_names(&self, verdict: Verdict) -> Vec<Rc<Language>> {
        let files = self
            .matcher
            .policy
            .layers
            .iter()
            .flat_map(|layer| &layer.files);
        let entries = files
            .flat_map(|file| &file.tiers)
            .filter(|own| own.verdict == verdict);
        let names = entries.flat_map(|own| &own.names).filter_map(encode::tool);
        let dfas = names.filter_map(|shape| self.dfa(&shape));
        dfas.map(|dfa| {
            Rc::new(Language {
                is: vec![dfa],
                not: Vec::new(),
            })
        })
        .collect()
    }

    /// What lies outside the workspace is asked about or denied, unless an allow from `/` or `~` settles it.
    fn outside(&self, space: Space) -> Option<Rc<Language>> {
        let (verdict, _) = self.matcher.outside;
        let has_roots = !self.scene.folders.roots.is_empty();
        if !matches!(space, Space::Paths(_)) || verdict == Verdict::Allow || !has_roots {
            return None;
        }
        let mut not = vec![self.inside_roots()?];
        if verdict == Verdict::Ask {
            for entry in self
                .entries
                .iter()
                .filter(|own| own.action() == Verdict::Allow)
            {
                if entry.spaces().contains(&space) {
                    for part in entry.parts.iter() {
                        not.extend(self.over(part.as_ref()?)?.is.first().cloned());
                    }
                }
            }
        }
        let is = vec![self.everything()?];
        Some(Rc::new(Language { is, not }))
    }

    /// Lines of allowed commands that start what an invariant says never is, and what it says by another path.
    fn started(&self, never: &Entry<'_>, space: Space, tool: &str, facts: &Facts) -> Vec<Witness> {
        match space {
            Space::Commands => {}
            Space::Tool => return self.allowed_calls(facts),
            _ => return Vec::new(),
        }
        let written = |own: &Entry<'_>| -> Vec<String> {
            let commands = encode::commands_of(&own.written).into_iter();
            commands.map(|own| sample(own, |_| true)).collect()
        };
        let allows = self
            .entries
            .iter()
            .filter(|own| own.action() == Verdict::Allow);
        let starts: Vec<String> = allows.flat_map(written).take(64).collect();
        let mut lines = starts.clone();
        for never in written(never) {
            lines.push(format!("./{never}"));
            for start in &starts {
                let short = start.rsplit_once(' ').map_or("", |(start, _)| start);
                lines.extend([
                    format!("{start} {never}"),
                    format!("{short} {never}"),
                    format!("{short} {never} x ';'"),
                ]);
            }
        }
        let calls = lines
            .iter()
            .map(|line| self.scene.line(self.matcher, line.trim(), tool, facts));
        calls.flatten().collect()
    }

    /// Calls that do what a word says: by the argument of a tool, or by a command.
    fn calls(
        &self,
        space: Space,
        word: &str,
        tool: &str,
        facts: &Facts,
        needs: &[Need<'_>],
    ) -> Vec<Witness> {
        let declared = self.matcher.declaration(tool);
        let holds = |wanted: Holds| {
            declared.is_some_and(|own| own.arguments.iter().any(|own| own.holds == wanted))
        };
        let plain = self
            .scene
            .call(self.matcher, space, word, tool, facts, needs);
        let direct = match space {
            Space::Paths(Mode::Read) => holds(Holds::Read),
            Space::Paths(Mode::Write) => holds(Holds::Write),
            Space::Hosts => holds(Holds::Url),
            _ => true,
        };
        let Some(plain) = plain else {
            return Vec::new();
        };
        if direct {
            return vec![plain];
        }
        let Some(what) = self.scene.named(space, word).map(|own| quoted(&own)) else {
            return Vec::new();
        };
        let allowed = self
            .entries
            .iter()
            .filter(|own| own.action() == Verdict::Allow);
        let commands = allowed.flat_map(|own| encode::commands_of(&own.written));
        let starts = commands.map(|own| sample(own, |_| true));
        let starts: Vec<String> = ["cat", "cp x", "touch", "curl"]
            .map(str::to_owned)
            .into_iter()
            .chain(starts.take(64))
            .collect();
        let forms: &[&str] = match space {
            Space::Paths(Mode::Write) => &[" ", " x ", " > "],
            _ => &[" ", " x ", " < "],
        };
        let lines = starts
            .iter()
            .flat_map(|start| forms.iter().map(move |form| (start, form)));
        lines
            .filter_map(|(start, form)| {
                let line = format!("{start}{form}{what}");
                self.scene.line(self.matcher, &line, tool, facts)
            })
            .collect()
    }

    /// Whether the real matcher allows a call that surely does what the invariant says never is.
    fn breaks(&self, never: &Entry<'_>, space: Space, witness: &Witness) -> bool {
        let call = &witness.call;
        let decision = decide(self.matcher, call, &FileView::None);
        if decision.action != Verdict::Allow {
            return false;
        }
        let accesses: Vec<Access> = decision
            .judged
            .iter()
            .map(|own| own.access.clone())
            .collect();
        let frame = decision::frame(self.matcher, call, &FileView::None, &accesses);
        let fit = |at: usize, access: &Access| match (&never.compiled.rule.judges, &access.kind) {
            (Judges::Tool, _) => Fit::from(
                never.compiled.rule.tools.is_empty()
                    || never
                        .compiled
                        .rule
                        .tools
                        .iter()
                        .any(|own| own.matches_text(&call.tool, false)),
            ),
            (Judges::Commands(own), Kind::Command(_)) => {
                commands::fit(own, &accesses, at, Stance::Tightens, &frame).fit
            }
            (Judges::Paths(own), Kind::Path(path))
                if space == Space::Paths(path.mode) && path.touches == Touches::Surely =>
            {
                paths::fit(own, &Located::of(path, &frame), Stance::Tightens)
            }
            (Judges::Hosts(own), Kind::Host(host)) => {
                hosts::fit(own, &hosts::Contacted::of(&host.url), Stance::Tightens)
            }
            _ => Fit::No,
        };
        let mut each = accesses.iter().enumerate();
        each.any(|(at, access)| fit(at, access) == Fit::Must)
    }
}
