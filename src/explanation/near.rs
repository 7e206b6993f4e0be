//! The allow rules that nearly let an access pass, each with what of it does not hold.
//!
//! In: an access that leans on its tier or on a section's default. Out: rules whose patterns fit it and whose
//! conditions do not. Each condition is tried alone, so that all that stand in the way are named. Files are not looked at.

use crate::call::access::{Access, Cover, Kind, PathAccess, Touches};
use crate::call::files::FileView;
use crate::call::glob::Glob;
use crate::call::{Call, word::Word};
use crate::decision::{self, Covered, Decision, Judged, texts};
use crate::matcher::commands::{self, Spelled};
use crate::matcher::hosts::{self, Contacted};
use crate::matcher::located::{Frame, Located};
use crate::matcher::paths::{self, Stance};
use crate::matcher::{Compiled, Matcher};
use crate::policy::glob::Fit;
use crate::policy::patterns;
use crate::policy::rule::{Commands, Hosts, Judges, Paths, Verdict};

/// So many are told of one access.
const MOST: usize = 4;

/// An allow rule that nearly covers an access.
#[derive(Debug)]
pub struct Near<'a> {
    /// The rule.
    pub rule: &'a Compiled,
    /// What does not hold.
    pub why: String,
}

/// Finds what nearly covers the accesses of one decision.
pub struct Finder<'a> {
    matcher: &'a Matcher,
    decision: &'a Decision,
    accesses: Vec<Access>,
    frame: Frame<'static>,
}

impl<'a> Finder<'a> {
    pub fn new(matcher: &'a Matcher, call: &Call, decision: &'a Decision) -> Self {
        let judged = decision.judged.iter();
        let accesses: Vec<Access> = judged.map(|judged| judged.access.clone()).collect();
        Self {
            frame: decision::frame(matcher, call, &FileView::None, &accesses),
            matcher,
            decision,
            accesses,
        }
    }

    /// The rules that nearly cover the access at an index.
    pub fn near(&self, at: usize, judged: &Judged) -> Vec<Near<'a>> {
        if !self.leans(judged) {
            return Vec::new();
        }
        let mut found = match &judged.access.kind {
            Kind::Command(_) => self.command(at),
            Kind::Path(path) if path.touches == Touches::Surely => {
                let mut found = Vec::from_iter(self.unnamed(path.cover));
                // What would cover the command covers this with it: that is told of the command.
                if !self.of_uncovered_command(path.cover) {
                    found.extend(self.path(path));
                }
                found
            }
            Kind::Host(host) => {
                let mut found = Vec::from_iter(self.unnamed(host.cover));
                found.extend(self.host(&host.url));
                found
            }
            Kind::Path(_) | Kind::Tool | Kind::Opaque(_) => Vec::new(),
        };
        // What met the access and lost is told as such.
        found.retain(|near| {
            let mut met = judged.matched.iter();
            !met.any(|met| {
                self.matcher
                    .rules
                    .get(met.rule)
                    .is_some_and(|own| own.key == near.rule.key)
            })
        });
        found.truncate(MOST);
        found
    }

    /// Whether an allow would have let the access pass: only its tier or a section's default stands in the way.
    fn leans(&self, judged: &Judged) -> bool {
        let stops = |own: &&decision::Matched| {
            let action = self.matcher.rules.get(own.rule).map(|own| own.rule.action);
            own.lost.is_none() && action != Some(Verdict::Allow)
        };
        let rest = |own: &decision::Matched| {
            let rule = self.matcher.rules.get(own.rule);
            rule.is_some_and(|own| matches!(own.rule.judges, Judges::Rest(_)))
        };
        let tier = self.decision.tier.as_ref().map(|tier| tier.verdict);
        match judged.matched.iter().find(stops) {
            Some(own) => rest(own),
            None => judged.covered == Covered::Tier && tier == Some(Verdict::Ask),
        }
    }

    fn allows(&self, rules: Vec<usize>) -> impl Iterator<Item = &'a Compiled> {
        let rules = rules
            .into_iter()
            .filter_map(|rule| self.matcher.rules.get(rule));
        rules.filter(|own| own.rule.action == Verdict::Allow)
    }

    fn of_uncovered_command(&self, cover: Cover) -> bool {
        let Cover::Command { at, .. } = cover else {
            return false;
        };
        let command = self.decision.judged.get(at);
        command.is_some_and(|own| own.covered == Covered::Tier)
    }

    /// The rule that covers a command but not this effect of it, whose word it does not name.
    fn unnamed(&self, cover: Cover) -> Option<Near<'a>> {
        let Cover::Command { at, naming } = cover else {
            return None;
        };
        let Covered::Rule(rule) = self.decision.judged.get(at)?.covered else {
            return None;
        };
        let word = commands::command(&self.accesses, at)?.words.get(naming?)?;
        Some(Near {
            rule: self.matcher.rules.get(rule)?,
            why: format!("its words do not name `{}`", word.shown()),
        })
    }

    /// The rule that covers what a launcher starts, and not the launcher.
    fn inner(&self, at: usize) -> Option<Near<'a>> {
        let command = commands::command(&self.accesses, at)?;
        let inner = command.inner?;
        let Covered::Rule(rule) = self.decision.judged.get(inner)?.covered else {
            return None;
        };
        let covers = texts::subject(self.accesses.get(inner)?, "");
        let launcher = command.words.first()?.shown();
        Some(Near {
            rule: self.matcher.rules.get(rule)?,
            why: format!("it covers `{covers}`, and not the `{launcher}` before it"),
        })
    }

    fn command(&self, at: usize) -> Vec<Near<'a>> {
        let Some(spelled) = Spelled::of(&self.accesses, at) else {
            return Vec::new();
        };
        let fits = |own: &Commands| {
            commands::fit_spelled(own, &spelled, Stance::Loosens, &self.frame).fit == Fit::Must
        };
        let mut found = Vec::new();
        found.extend(self.inner(at));
        for rule in self.allows(self.matcher.command_candidates(&spelled)) {
            let Judges::Commands(own) = &rule.rule.judges else {
                continue;
            };
            let bare = Commands {
                patterns: own.patterns.clone(),
                ..Commands::default()
            };
            if !fits(&bare) {
                continue;
            }
            let mut why = Vec::new();
            if own.exact
                && !fits(&Commands {
                    exact: true,
                    ..bare.clone()
                })
            {
                why.push("it is `exact`, and there are further words".to_owned());
            }
            for except in &own.except {
                let alone = Commands {
                    except: vec![except.clone()].into(),
                    ..bare.clone()
                };
                if !fits(&alone) {
                    let text = &except.text;
                    why.push(format!("its `except` takes out `{text}`"));
                }
            }
            for with in &own.with {
                if !fits(&Commands {
                    with: vec![with.clone()],
                    ..bare.clone()
                }) {
                    why.push(format!("its `with` asks for `{}`", spellings(with)));
                }
            }
            for without in &own.without {
                if !fits(&Commands {
                    without: vec![without.clone()],
                    ..bare.clone()
                }) {
                    why.push(format!("its `without` excludes `{}`", spellings(without)));
                }
            }
            if !own.operands.is_empty()
                && !fits(&Commands {
                    operands: own.operands.clone(),
                    ..bare.clone()
                })
            {
                why.push("its `operands` do not cover every operand".to_owned());
            }
            if own.only_read
                && !fits(&Commands {
                    only_read: true,
                    ..bare
                })
            {
                why.push("it is `only = \"read\"`, and this does more than read".to_owned());
            }
            found.extend(near(rule, why));
        }
        found
    }

    fn path(&self, path: &PathAccess) -> Vec<Near<'a>> {
        let located = Located::of(path, &self.frame);
        let fits = |own: &Paths| paths::fit(own, &located, Stance::Loosens) == Fit::Must;
        let mut found = Vec::new();
        for rule in self.allows(self.matcher.path_rules(path.mode).candidates(&located)) {
            let Judges::Paths(own) = &rule.rule.judges else {
                continue;
            };
            let bare = Paths {
                except: Vec::new(),
                exact: false,
                ..(**own).clone()
            };
            if !fits(&bare) {
                continue;
            }
            let mut why = Vec::new();
            if own.exact
                && !fits(&Paths {
                    exact: true,
                    ..bare.clone()
                })
            {
                why.push("it is `exact`, and this lies below it".to_owned());
            }
            for except in &own.except {
                let alone = vec![except.clone()];
                if !fits(&Paths {
                    except: alone,
                    ..bare.clone()
                }) {
                    why.push(format!("its `except` takes out `{}`", except.text));
                }
            }
            found.extend(near(rule, why));
        }
        found
    }

    fn host(&self, url: &Word) -> Vec<Near<'a>> {
        let contacted = Contacted::of(url);
        let fits = |own: &Hosts| hosts::fit(own, &contacted, Stance::Loosens) == Fit::Must;
        let mut found = Vec::new();
        for rule in self.allows(self.matcher.host_rules().candidates(&contacted)) {
            let Judges::Hosts(own) = &rule.rule.judges else {
                continue;
            };
            let bare = Hosts {
                except: Vec::new(),
                ..(**own).clone()
            };
            if !fits(&bare) {
                continue;
            }
            let mut why = Vec::new();
            for except in &own.except {
                let alone = vec![except.clone()];
                if !fits(&Hosts {
                    except: alone,
                    ..bare.clone()
                }) {
                    why.push(format!("its `except` takes out `{}`", except.text));
                }
            }
            found.extend(near(rule, why));
        }
        found
    }
}

fn near(rule: &Compiled, why: Vec<String>) -> Option<Near<'_>> {
    (!why.is_empty()).then(|| Near {
        rule,
        why: texts::joined(&why, "and"),
    })
}

fn spellings(all: &[Glob]) -> String {
    let all: Vec<String> = all.iter().map(patterns::spell).collect();
    all.join("|")
}
