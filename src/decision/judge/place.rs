//! What the patterns of the policy say of a path, whoever touches it: found out once for each that a call touches.
//!
//! In: a path access. Out: where it lies, and how protected files and path rules fit it. What they mean for an access
//! is said in `touched.rs`.

use super::touched::reads_all;
use super::{Judge, stance};
use crate::call::access::{Mode, PathAccess, Reach, Touches};
use crate::call::files::FileView;
use crate::call::word::{Piece, Word};
use crate::matcher::located::Located;
use crate::matcher::paths::{self, Stance};
use crate::policy::glob::Fit;
use crate::policy::rule::{Judges, Paths};
use std::rc::Rc;

/// A path, and how what the policy says of paths fits it.
pub struct Place {
    pub located: Located,
    /// Sets of protected files, by index, and what was found below the path.
    pub protected: Vec<(usize, Fit, Option<String>)>,
    /// Path rules, by index.
    pub rules: Vec<(usize, Fit)>,
}

/// What tells one path from another.
type Key<'a> = (Mode, Touches, Option<&'a str>, &'a [Piece]);

/// The places that were found.
pub type Places<'a> = crate::matcher::quick::HashMap<Key<'a>, Rc<Place>>;

impl<'a> Judge<'a> {
    /// The place of a path of the call.
    pub(super) fn place(&mut self, path: &'a PathAccess) -> Rc<Place> {
        // What lies below depends on who looks.
        if path.reach != Reach::Itself || path.like.is_some() || path.path.listed().is_some() {
            return Rc::new(self.looked_up(path));
        }
        let cwd = path.cwd.as_deref();
        let key: Key<'a> = (path.mode, path.touches, cwd, &path.path.pieces);
        if let Some(known) = self.places.get(&key) {
            return Rc::clone(known);
        }
        let place = Rc::new(self.looked_up(path));
        self.places.insert(key, Rc::clone(&place));
        place
    }

    pub(super) fn looked_up(&self, path: &PathAccess) -> Place {
        let located = Located::of(path, self.frame);
        self.fitted(path, located)
    }

    /// How protected files and rules fit a path that lies there.
    pub(super) fn fitted(&self, path: &PathAccess, located: Located) -> Place {
        let mut place = Place {
            located,
            protected: Vec::new(),
            rules: Vec::new(),
        };
        if path.touches != Touches::Names {
            place.protected = self.protecting(path, &place.located);
            place.rules = self.fitting(path, &place.located);
        }
        place
    }

    fn protecting(
        &self,
        path: &PathAccess,
        located: &Located,
    ) -> Vec<(usize, Fit, Option<String>)> {
        let mut all = Vec::new();
        for index in self.matcher.protected_index(path.mode).candidates(located) {
            let Some(set) = self.matcher.protected.get(index) else {
                continue;
            };
            let fit = paths::fit(&set.paths, located, Stance::Tightens);
            let (fit, found) = match fit {
                Fit::Must => (fit, None),
                Fit::MayPattern if self.lists_none(&set.paths, path) => continue,
                Fit::No if self.lists_none_inside(&set.paths, path) => continue,
                fit if fit == Fit::MayPattern && reads_all(path) => self
                    .lists(&set.paths, path, Fit::Must)
                    .map_or((fit, None), |found| (Fit::Must, Some(found))),
                fit => self
                    .below(&set.paths, path, located)
                    .map_or((fit, None), |(below, found)| (fit.max(below), found)),
            };
            if fit != Fit::No {
                all.push((index, fit, found));
            }
        }
        all
    }

    fn fitting(&self, path: &PathAccess, located: &Located) -> Vec<(usize, Fit)> {
        let mut all = Vec::new();
        for rule in self.matcher.path_rules(path.mode).candidates(located) {
            let Some(compiled) = self.rule(rule) else {
                continue;
            };
            let Judges::Paths(own) = &compiled.rule.judges else {
                continue;
            };
            let stance = stance(compiled.rule.action);
            if stance == Stance::Loosens && path.touches != Touches::Surely {
                continue;
            }
            let fit = match (stance, paths::fit(own, located, stance)) {
                (Stance::Loosens, fit) => fit,
                (Stance::Tightens, Fit::Must) => Fit::Must,
                (Stance::Tightens, Fit::MayPattern) if self.lists_none(own, path) => continue,
                (Stance::Tightens, Fit::No) if self.lists_none_inside(own, path) => continue,
                (Stance::Tightens, Fit::MayPattern)
                    if reads_all(path) && self.lists(own, path, Fit::Must).is_some() =>
                {
                    Fit::Must
                }
                (Stance::Tightens, fit) => {
                    self.below(own, path, located).map_or(fit, |(below, _)| {
                        let question = || self.brings_along(own, path, located);
                        fit.max(match below {
                            Fit::Must if question() => Fit::MayPattern,
                            below => below,
                        })
                    })
                }
            };
            if fit != Fit::No {
                all.push((rule, fit));
            }
        }
        all
    }

    /// `cp -r . ../backup`: what the same rule names in the folder that is copied comes along to a new one, where it is
    /// nobody's settings yet. That is a question, wherever it lies outside the workspace and in no hidden folder.
    fn brings_along(&self, own: &Paths, path: &PathAccess, located: &Located) -> bool {
        let real = located.real();
        let new = |view: &FileView| view.sees() && view.entry(real).is_none();
        let Some(folder) = path.like.as_ref() else {
            return false;
        };
        if located.inside() != Some(false)
            || real.contains("/.")
            || !self.frame.view.is_some_and(new)
        {
            return false;
        }
        let source = PathAccess {
            path: Word::known(folder.as_str(), path.path.span),
            like: None,
            ..path.clone()
        };
        let there = Located::of(&source, self.frame);
        let found = self.below(own, &source, &there);
        found.is_some_and(|(fit, found)| fit == Fit::Must && found.is_some())
    }
}
