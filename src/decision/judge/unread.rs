//! Words that nobody reads any more, because a limit was met: deny and ask rules are tried wherever they may begin.
//!
//! In: stretches of words. Out: the rules that meet them, and the protected files among them. No cap softens a verdict:
//! past what is looked at closely, a rule whose program stands there counts as met.

use super::unresolved::What;
use super::{Judge, Matched};
use crate::call::access::{Cover, Kind, Mode, PathAccess, Reach, Touches};
use crate::call::few::Few;
use crate::call::programs;
use crate::call::shell;
use crate::call::word::Word;
use crate::matcher::commands::{self, Spelled};
use crate::matcher::located::{Frame, Located};
use crate::matcher::paths::Stance;
use crate::policy::glob::Fit;
use crate::policy::patterns::{CommandPattern, WordPattern};
use crate::policy::rule::{Judges, Verdict};
use crate::source::Span;
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Words of commands that are taken apart.
const WORDS: usize = 50_000;
/// Paths for which links are followed.
const LINKS: usize = 2_000;

impl Judge<'_> {
    /// The tightening rules that may meet any of the words, the paths' among them.
    pub(super) fn unread(&mut self, at: usize, stretches: &[Vec<String>]) -> Vec<Matched> {
        let mut met: BTreeMap<usize, Fit> = BTreeMap::new();
        let mut matched = Vec::new();
        let (mut commands, mut paths) = (BTreeSet::new(), HashSet::new());
        // The rules that may begin with a word.
        let mut begun: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut left = WORDS;
        let unseen = Frame {
            view: None,
            ..self.frame.clone()
        };
        for stretch in stretches {
            for (from, word) in stretch.iter().enumerate() {
                let value = word.split_once('=').map(|(_, value)| value);
                for path in [Some(word.as_str()), value].into_iter().flatten() {
                    if paths.insert(path) {
                        let frame = match paths.len() <= LINKS {
                            true => self.frame,
                            false => &unseen,
                        };
                        self.unread_path(at, path, frame, &mut matched);
                    }
                }
                let rules = begun.entry(word).or_insert_with(|| self.tightening(word));
                let known = |rule: &usize| met.get(rule) == Some(&Fit::Must);
                let words = stretch.get(from..).unwrap_or_default();
                if rules.iter().all(known) || left > 0 && !commands.insert(words) {
                    continue;
                }
                let fits = match left.checked_sub(words.len()) {
                    Some(rest) => {
                        left = rest;
                        self.unread_command(words, rules)
                    }
                    None => {
                        left = 0;
                        let named = self.matcher.command_rules().starting_with(word);
                        let sure = |rule: usize| match named.contains(&rule) {
                            true => Fit::Must,
                            false => Fit::MayUnknown,
                        };
                        rules.iter().map(|rule| (*rule, sure(*rule))).collect()
                    }
                };
                for (rule, fit) in fits {
                    let best = met.entry(rule).or_insert(fit);
                    *best = fit.max(*best);
                }
            }
        }
        for (rule, fit) in met {
            let lost = self.out(rule, Stance::Tightens, fit, || "".into());
            let denied = self.rule(rule).filter(|own| {
                lost.is_none() && fit == Fit::MayUnknown && own.rule.action == Verdict::Deny
            });
            if let Some(own) = denied {
                let words = || "what lies beyond a limit".to_owned();
                self.unresolved.add(at, What::Denied(&own.key), words);
            }
            matched.push(Matched { rule, fit, lost });
        }
        matched
    }

    /// The rules that deny or ask and may begin with this word.
    fn tightening(&self, program: &str) -> Vec<usize> {
        let index = self.matcher.command_rules();
        let mut all: Vec<usize> = index.starting_with(program);
        let anyhow = index.starting_anyhow();
        all.extend(anyhow.filter(|rule| self.may_begin(*rule, program)));
        all.retain(|rule| self.action(*rule) != Some(Verdict::Allow));
        all
    }

    /// Whether a rule whose program is a glob may begin with this word: a bare name that the table of facts does not know
    /// is that program and no other.
    fn may_begin(&self, rule: usize, word: &str) -> bool {
        let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let Some(Judges::Commands(own)) = self.rule(rule).map(|own| &own.rule.judges) else {
            return true;
        };
        let names: Few<&str> = commands::names(word).collect();
        let fits = |pattern: &CommandPattern| match pattern.words.first() {
            Some(WordPattern::Word(glob)) if pattern.path().is_empty() => {
                names.iter().any(|name| glob.matches_text(name, false))
            }
            _ => true,
        };
        !word.bytes().all(bare) || own.patterns.iter().any(fits) || programs::find(word).is_some()
    }

    /// How rules fit these words, taken for one command.
    fn unread_command(&self, words: &[String], rules: &[usize]) -> Vec<(usize, Fit)> {
        let scene = shell::Scene {
            cwd: self.call.cwd.clone(),
            home: self.call.home.clone(),
            ..shell::Scene::default()
        };
        let accesses = shell::accesses(&shell::quoted(words), &scene);
        let is_command = |own: &crate::call::access::Access| matches!(own.kind, Kind::Command(_));
        let first = accesses.iter().position(is_command);
        let Some(spelled) = first.and_then(|first| Spelled::of(&accesses, first)) else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for rule in rules {
            let Some(Judges::Commands(own)) = self.rule(*rule).map(|own| &own.rule.judges) else {
                continue;
            };
            let fit = commands::fit_spelled(own, &spelled, Stance::Tightens, self.frame).fit;
            if fit != Fit::No {
                out.push((*rule, fit));
            }
        }
        out
    }

    /// A word that may be a path.
    fn unread_path(
        &mut self,
        at: usize,
        text: &str,
        frame: &Frame<'_>,
        matched: &mut Vec<Matched>,
    ) {
        let mut path = PathAccess {
            mode: Mode::Read,
            path: Word::known(text, Span::default()),
            cwd: self.call.cwd.as_deref().map(SmolStr::new),
            reach: Reach::Itself,
            cover: Cover::Tool,
            touches: Touches::Perhaps,
            like: None,
        };
        let mut located = Located::of(&path, frame);
        for mode in [Mode::Read, Mode::Write] {
            path.mode = mode;
            let place = self.fitted(&path, located);
            self.protected(at, &path, &place);
            for own in self.path_rules(at, &path, &place) {
                if matched.iter().all(|known| known.rule != own.rule) {
                    matched.push(own);
                }
            }
            located = place.located;
        }
    }
}
