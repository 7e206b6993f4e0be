//! Paths: protected files, path rules, what lies below, the workspace.

use super::cover::may_be_else;
use super::place::Place;
use super::unresolved::{What, names_unknown};
use super::{Covered, Judge, Matched, cover_of, stance};
use crate::call::access::{Cover, Mode, PathAccess, Reach, Touches};
use crate::call::files::{Entry, FileView};
use crate::call::word::{Links, Listed, Piece, Word};
use crate::decision::below::{Listing, Skips};
use crate::decision::{Basis, Reason, texts};
use crate::matcher::located::{Folder, Frame, Located};
use crate::matcher::paths::{self, Stance};
use crate::matcher::{Matcher, commands};
use crate::policy::glob::Fit;
use crate::policy::patterns::{Anchor, PathPattern};
use crate::policy::rule::{Judges, Paths, Section, Verdict};
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

/// So many links that lead elsewhere are followed.
const MOST_LED: usize = 16;

/// The names below a folder that a program prints: the folder, what is known of them, how they start and end.
struct Names<'p> {
    folder: &'p str,
    start: &'p str,
    listed: &'p Listed,
    end: &'p [Piece],
    /// The same as texts, of which each name ends with one.
    ends: Vec<Cow<'p, str>>,
}

impl<'p> Names<'p> {
    fn of(path: &'p PathAccess) -> Option<Self> {
        let (folder, listed, end) = match &*path.path.pieces {
            [Piece::Below(listed), end @ ..] => ("", listed, end),
            [Piece::Text(folder), Piece::Below(listed), end @ ..] => (folder.as_str(), listed, end),
            _ => return None,
        };
        let ends = ends(end)?;
        let (folder, start) = folder.split_at(folder.rfind('/').map_or(0, |slash| slash + 1));
        // `/.env`: of all names that end so, those that are it.
        let nested = |end: &Cow<'_, str>| end.rfind('/').is_some_and(|slash| slash > 0);
        (!ends.iter().any(nested)).then_some(Self {
            folder,
            start,
            listed,
            end,
            ends,
        })
    }

    fn folder(&self, path: &PathAccess, frame: &Frame<'_>) -> Located {
        let folder = Word::known(self.folder, path.path.span);
        Located::locate(&folder, path.cwd.as_deref(), Reach::Itself, frame)
    }

    /// The names, in words.
    fn told(&self) -> String {
        let folder = match self.folder.trim_end_matches('/') {
            "" => ".",
            folder => folder,
        };
        let end = match self.ends.as_slice() {
            [end] if end.starts_with('/') => format!(" called `{}`", end.trim_start_matches('/')),
            [end] if !end.is_empty() => format!(" whose name ends in `{end}`"),
            _ => String::new(),
        };
        format!("a file below `{folder}`{end}")
    }

    /// Whether they are folders perhaps, and all below them is touched, too: `find . -name build -exec rm -r {} +`.
    fn inside(&self, path: &PathAccess) -> bool {
        path.reach != Reach::Itself && self.listed.by == "find"
    }

    /// Whether nothing lies below them. A module that git tracks is a folder, though none is called `x.rs`.
    fn are_files(&self) -> bool {
        match self.listed.by {
            "rg" | "grep" | "egrep" | "fgrep" => true,
            by => by == "git" && !self.end.is_empty(),
        }
    }

    fn skips(&self) -> Skips {
        Skips {
            hidden: self.listed.shown,
            ignored: self.listed.gitignore,
            head: self.listed.head,
            docker: false,
            links: self.listed.links == Links::None,
        }
    }
}

/// Whether each of the names is read that a program would print.
pub(super) fn reads_all(path: &PathAccess) -> bool {
    path.path.listed().is_some_and(|listed| listed.all)
}

/// The texts that pieces stand for, of which some are one letter of several; none where they may be anything.
fn ends(pieces: &[Piece]) -> Option<Vec<Cow<'_, str>>> {
    const MOST: usize = 64;
    if let [Piece::Text(end)] = pieces {
        return Some(vec![Cow::Borrowed(end)]);
    }
    let mut all = vec![Cow::Borrowed("")];
    for piece in pieces {
        let letters = match piece {
            Piece::Text(text) => vec![text.to_string()],
            Piece::Class(class) => {
                let inside = class.trim_start_matches('[').trim_end_matches(']');
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
                if !inside.chars().all(plain) || all.len() * inside.len() > MOST {
                    return Some(vec![Cow::Borrowed("")]);
                }
                inside.chars().map(String::from).collect()
            }
            _ => return None,
        };
        let longer = |end: &Cow<'_, str>| {
            let each = letters
                .iter()
                .map(|letter| Cow::Owned(format!("{end}{letter}")));
            each.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    Some(all)
}

impl<'a> Judge<'a> {
    /// Judges a path, and where links lead from below it.
    pub(super) fn path(
        &mut self,
        at: usize,
        path: &'a PathAccess,
        tool_rules: &[Matched],
    ) -> (Vec<Matched>, Covered) {
        if self.comes_apart(path) {
            let word = Word::unknown(path.path.shown(), path.path.span, true);
            let words = PathAccess {
                path: word,
                ..path.clone()
            };
            return self.one_path(at, &words, &self.looked_up(&words), tool_rules);
        }
        let place = self.place(path);
        let (mut matched, mut covered) = self.one_path(at, path, &place, tool_rules);
        let real = self.real.take();
        for behind in self.behind_links(at, path) {
            let place = self.looked_up(&behind);
            let (more, also) = self.one_path(at, &behind, &place, tool_rules);
            matched.extend(more);
            if covered != Covered::Nothing && matches!(also, Covered::Nothing | Covered::Tier) {
                covered = also;
            }
        }
        self.real = real;
        (matched, covered)
    }

    fn one_path(
        &mut self,
        at: usize,
        path: &PathAccess,
        place: &Place,
        tool_rules: &[Matched],
    ) -> (Vec<Matched>, Covered) {
        let located = &place.located;
        self.real = located.known.then(|| located.real().to_owned());
        if path.touches == Touches::Names {
            self.outside(at, path, located, |judge| judge.lets_read(located));
            return (Vec::new(), cover_of(path.cover));
        }
        let certain = path.touches == Touches::Surely;
        self.protected(at, path, place);
        let own = self.path_rules(at, path, place);
        if certain {
            self.outside(at, path, located, |judge| {
                let on = own.iter().filter(|matched| matched.lost.is_none());
                on.map(|matched| matched.rule)
                    .filter(|rule| judge.settles_outside(*rule, located))
                    .count()
                    > 0
            });
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

    pub(super) fn protected(&mut self, at: usize, path: &PathAccess, place: &Place) {
        for (index, fit, found) in &place.protected {
            let Some(set) = self.matcher.protected.get(*index) else {
                continue;
            };
            let key = format!("protected.{}", set.name);
            let (action, forced) = match *fit {
                Fit::No => continue,
                Fit::Must => (Verdict::Deny, false),
                Fit::MayPattern if !names_unknown(path) => (Verdict::Ask, true),
                Fit::MayPattern | Fit::MayUnknown => {
                    let what = What::Protected(&set.name);
                    self.unresolved.add_path(at, what, path);
                    continue;
                }
            };
            self.because.push((key.as_str().into(), action));
            if self
                .reasons
                .iter()
                .any(|reason| reason.key == key && reason.action == action)
            {
                continue;
            }
            let shown = found.as_deref().unwrap_or(place.located.shown());
            let mut text = set.reason.clone().map_or_else(
                || format!("`{shown}` is protected"),
                |why| format!("`{shown}` is protected: {why}"),
            );
            if forced {
                let listed = Names::of(path).map(|names| names.told());
                let may = match path.path.text() {
                    Some(text) => format!("something below `{text}` may be a protected file"),
                    None if listed.is_some() => {
                        format!("{} may be a protected file", listed.unwrap_or_default())
                    }
                    None => format!("`{}` may stand for a protected file", path.path.shown()),
                };
                text = match &set.reason {
                    Some(why) => format!("{may}: {why}"),
                    None => may,
                };
            }
            self.reasons.push(Reason {
                key: key.clone(),
                action,
                kind: Basis::Protected,
                forced,
                access: Some(at),
                subject: texts::short(shown),
                text,
                instead: set.instead.clone(),
                address: Some(key),
                place: Some(set.place.clone()),
                order: *index,
            });
        }
    }

    pub(super) fn path_rules(
        &mut self,
        at: usize,
        path: &PathAccess,
        place: &Place,
    ) -> Vec<Matched> {
        let mut matched = Vec::with_capacity(place.rules.len());
        // A path that may be anything is so to all rules alike.
        let mut unsure = None;
        for (rule, fit) in place.rules.iter().copied() {
            let Some(compiled) = self.rule(rule) else {
                continue;
            };
            let stance = stance(compiled.rule.action);
            // Names that nobody knows are one question, not one for each rule that they may meet.
            let fit = match fit {
                Fit::MayPattern if names_unknown(path) => Fit::MayUnknown,
                fit => fit,
            };
            let told = || {
                let told = || may_be_else(&format!("`{}`", path.path.shown()));
                Arc::clone(unsure.get_or_insert_with(told))
            };
            if let Some(lost) = self.out(rule, stance, fit, told) {
                matched.push(Matched {
                    rule,
                    fit,
                    lost: Some(lost),
                });
                continue;
            }
            if fit == Fit::MayUnknown && compiled.rule.action == Verdict::Deny {
                let what = What::Denied(&compiled.key);
                self.unresolved.add_path(at, what, path);
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
    pub(super) fn below(
        &self,
        own: &Paths,
        path: &PathAccess,
        located: &Located,
    ) -> Option<(Fit, Option<String>)> {
        let looked = matches!(located.reach, Reach::Below { .. }) && path.like.is_none();
        if located.reach == Reach::Itself || looked && located.leaf {
            return None;
        }
        let fit = paths::fit_below(own, located);
        let unseen = (fit != Fit::No).then_some((fit, None));
        let Reach::Below { hidden } = located.reach else {
            return unseen;
        };
        // What leaves out hidden names still looks into those that an ignore file names with `!`.
        if hidden && unseen.is_none() {
            return None;
        }
        let skips = self.skips(path, hidden);
        let listing = match &path.like {
            Some(folder) => self.listing_like(located, folder, skips),
            None => self.listing(located, skips),
        };
        let Some(listing) = listing else {
            return unseen;
        };
        let owner = match path.cover {
            Cover::Command { at, .. } => commands::command(self.accesses, at),
            Cover::Tool => None,
        };
        let ends = owner.map_or(&[][..], |command| &command.ends);
        let left_out = owner.map_or(&[][..], |command| &command.left_out);
        match self.find_below(own, &listing, ("", ends, left_out, false), Fit::Must) {
            Some(path) => Some((Fit::Must, Some(path))),
            None if listing.complete => None,
            None => unseen,
        }
    }

    /// Whether a path is a name that `find DIR` or its like prints, and nothing below `DIR` fits the patterns. Such a
    /// name exists, so what is there now tells. Git also prints the names of files that are gone: written, they are new.
    pub(super) fn lists_none(&self, own: &Paths, path: &PathAccess) -> bool {
        let Some(names) = Names::of(path) else {
            return false;
        };
        if path.mode == Mode::Write && names.listed.gone {
            return false;
        }
        let folder = names.folder(path, self.frame);
        let listing = self.listing(&folder, names.skips());
        listing.is_some_and(|found| found.complete)
            && self.lists(own, path, Fit::MayUnknown).is_none()
    }

    /// The same of all that lies below the names, where that is touched.
    pub(super) fn lists_none_inside(&self, own: &Paths, path: &PathAccess) -> bool {
        let looked = |names: Names<'_>| names.inside(path) || names.are_files();
        Names::of(path).is_some_and(looked) && self.lists_none(own, path)
    }

    /// A name among those that a program prints that fits the patterns well enough.
    pub(super) fn lists(&self, own: &Paths, path: &PathAccess, enough: Fit) -> Option<String> {
        let names = Names::of(path)?;
        let folder = names.folder(path, self.frame);
        let listing = self.listing(&folder, names.skips())?;
        let start = format!("{}/{}", folder.real().trim_end_matches('/'), names.start);
        let inside = names.inside(path);
        self.find_below(own, &listing, (&start, &names.ends, &[], inside), enough)
    }

    /// Whether names that a program prints may be other words than those names: one is called `a /etc/passwd`, and
    /// whoever reads it splits it at blanks, or takes it for a glob. Where the files are not seen, only writing is held to be so unlucky.
    fn comes_apart(&self, path: &PathAccess) -> bool {
        let Some(names) = Names::of(path).filter(|names| names.listed.split) else {
            return false;
        };
        let odd = |name: &str| name.contains(|c: char| c.is_whitespace() || "'\"\\*?".contains(c));
        if odd(names.folder) || self.written.keys().any(|name| odd(name)) {
            return true;
        }
        let folder = names.folder(path, self.frame);
        match self.listing(&folder, names.skips()) {
            Some(listing) if listing.complete => listing.paths.iter().any(|(path, _)| {
                let counts = names.ends.iter().any(|end| path.ends_with(&**end));
                counts && odd(path.get(folder.real().len()..).unwrap_or(path))
            }),
            _ => path.mode == Mode::Write,
        }
    }

    /// Where links lead that are reached below a folder, or are among the names that a program prints: what lies
    /// there is touched just so.
    fn behind_links(&mut self, at: usize, path: &PathAccess) -> Vec<PathAccess> {
        let names = Names::of(path);
        let owner = match path.cover {
            Cover::Command { at, .. } => commands::command(self.accesses, at),
            Cover::Tool => None,
        };
        let (first, skips, ends, follows) = match (&names, path.reach) {
            (Some(names), _) if names.listed.links != Links::None => (
                names.folder(path, self.frame),
                names.skips(),
                names.ends.as_slice(),
                names.listed.links == Links::Followed,
            ),
            (None, Reach::Below { hidden }) if owner.is_some_and(|own| own.follows) => {
                let skips = self.skips(path, hidden);
                (
                    Located::of(path, self.frame),
                    skips,
                    &[Cow::Borrowed("")][..],
                    true,
                )
            }
            _ => return Vec::new(),
        };
        let mut seen = vec![first.real().to_owned()];
        let (mut todo, mut out) = (vec![first], Vec::new());
        while let Some(folder) = todo.pop() {
            let Some(listing) = self.listing(&folder, skips) else {
                break;
            };
            for link in &listing.links {
                let word = Word::known(link.as_str(), path.path.span);
                let led = Located::locate(&word, None, Reach::Itself, self.frame);
                // A folder inside is reached anyway; a file by its own name, which may be another than the link's.
                let inside = |folder: &String| {
                    let rest = led.real().strip_prefix(folder.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                let is_folder = led.folder == Some(true);
                let counts =
                    (is_folder && follows) || ends.iter().any(|end| link.ends_with(&**end));
                if led.unresolvable || !counts || seen.iter().any(inside) {
                    continue;
                }
                if seen.len() == MOST_LED {
                    self.unresolved.add_path(at, What::Outside, path);
                    return out;
                }
                let target = led.real().to_owned();
                let below = match &names {
                    Some(names) if is_folder && follows => Word::of(
                        [
                            Piece::Text(format!("{target}/").into()),
                            Piece::Below(*names.listed),
                        ]
                        .into_iter()
                        .chain(names.end.iter().cloned()),
                        path.path.span,
                    ),
                    _ => Word::known(target.as_str(), path.path.span),
                };
                out.push(PathAccess {
                    path: below,
                    ..path.clone()
                });
                seen.push(target);
                if follows {
                    todo.push(led);
                }
            }
        }
        out
    }

    /// What a command that goes below a folder skips by itself.
    pub(super) fn skips(&self, path: &PathAccess, hidden: bool) -> Skips {
        let owner = match path.cover {
            Cover::Command { at, .. } => commands::command(self.accesses, at),
            Cover::Tool => None,
        };
        let searches = owner.is_none() && self.call.gitignore;
        Skips {
            hidden: !hidden,
            ignored: searches || owner.is_some_and(|command| command.gitignore),
            head: false,
            docker: owner.is_some_and(|command| command.dockerignore),
            links: searches || owner.is_some_and(|command| command.gitignore && !command.follows),
        }
    }

    /// What lies below a known folder, looked up once.
    pub(super) fn listing(&self, located: &Located, skips: Skips) -> Option<Rc<Listing>> {
        let view = self
            .frame
            .view
            .filter(|view| view.sees() && located.known)?;
        let folder = located.real().to_owned();
        let mut listings = self.listings.borrow_mut();
        Some(Rc::clone(
            listings
                .entry((folder, skips))
                .or_insert_with_key(|(folder, skips)| {
                    let mut left = self.left.get();
                    let listing = Listing::of(view, folder, *skips, &mut left);
                    self.left.set(left);
                    Rc::new(listing)
                }),
        ))
    }

    /// What lies below a folder, as it will below another.
    fn listing_like(&self, located: &Located, folder: &str, skips: Skips) -> Option<Rc<Listing>> {
        let word = Word::known(folder, crate::source::Span::default());
        let from = Located::locate(&word, None, Reach::Itself, self.frame);
        let found = self.listing(&from, skips).filter(|_| located.known)?;
        let (old, new) = (from.real(), located.real().trim_end_matches('/'));
        // No folder has a name with a NUL.
        let key = (format!("{new}\0{old}"), skips);
        if let Some(known) = self.listings.borrow().get(&key) {
            return Some(Rc::clone(known));
        }
        let rest = |path: &str| {
            path.get(old.trim_end_matches('/').len()..)
                .unwrap_or_default()
                .to_owned()
        };
        let paths = found
            .paths
            .iter()
            .map(|(path, entry)| (format!("{new}{}", rest(path)), *entry));
        let listing = Rc::new(Listing {
            folder: new.to_owned(),
            paths: paths.collect(),
            complete: found.complete,
            ..Listing::default()
        });
        self.listings.borrow_mut().insert(key, Rc::clone(&listing));
        Some(listing)
    }

    /// Whether an allow is anchored with `/` or `~`: it settles an ask of `workspace.outside`.
    pub(super) fn settles_outside(&self, rule: usize, located: &Located) -> bool {
        let Some(compiled) = self
            .rule(rule)
            .filter(|own| own.rule.action == Verdict::Allow)
        else {
            return false;
        };
        let Judges::Paths(own) = &compiled.rule.judges else {
            return false;
        };
        let anchored =
            |pattern: &PathPattern| matches!(pattern.anchor, Anchor::Absolute | Anchor::Home);
        paths::fit_of(own, located, Stance::Loosens, anchored) == Fit::Must
    }

    pub(super) fn outside(
        &mut self,
        at: usize,
        path: &PathAccess,
        located: &Located,
        settled: impl FnOnce(&Self) -> bool,
    ) {
        let (verdict, place) = &self.matcher.outside;
        if *verdict == Verdict::Allow
            || (self.frame.roots.is_empty() && self.matcher.roots.is_none())
        {
            return;
        }
        match located.inside() {
            Some(true) => {}
            _ if *verdict == Verdict::Ask && settled(self) => {}
            None => self.unresolved.add_path(at, What::Outside, path),
            Some(false) => {
                let shown = located.shown().to_owned();
                let key = format!("outside-workspace:{shown}");
                self.because.push((key.as_str().into(), *verdict));
                if !self.told.insert(shown.clone()) {
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
    pub(super) fn also_written(&self, path: &PathAccess) -> bool {
        if self.written.is_empty() {
            return false;
        }
        let same = self.written.get(&path.path.shown()).into_iter().flatten();
        let written = same
            .into_iter()
            .any(|other| other.path.pieces == path.path.pieces && other.cwd == path.cwd);
        written && self.write_allow(path).is_some()
    }

    /// Whether a rule for paths outside the workspace lets the path be read, and so its name be listed.
    fn lets_read(&self, located: &Located) -> bool {
        let lets = |rule: &usize| {
            self.rule(*rule).is_some_and(|own| {
                self.settles_outside(*rule, located)
                    && self.lifts_tier(*rule)
                    && self
                        .matcher
                        .is_on(&own.rule, &self.call.tool, self.args, &self.call.facts)
                        .0
            })
        };
        let rules = self.matcher.path_rules(Mode::Read).candidates(located);
        rules.iter().any(lets)
    }

    pub(super) fn write_allow(&self, path: &PathAccess) -> Option<usize> {
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
}

/// The folders that anchored patterns name and that a symbolic link leads through.
pub fn linked(matcher: &Matcher, frame: &Frame<'_>, view: &FileView) -> Vec<Folder> {
    let mut out: Vec<Folder> = Vec::new();
    let mut look = |anchor: Anchor, start: &str| {
        let Some(heads) = matcher.heads(anchor) else {
            return;
        };
        heads.below(start, |path| {
            let entry = view.entry(path);
            if entry == Some(Entry::Link) {
                let folder = Folder::of(path.to_owned(), view);
                if folder.lexical != folder.resolved {
                    out.push(folder);
                }
            }
            // What a fixture does not write down may still have something below it.
            entry.is_some() || !matches!(view, FileView::Real)
        });
    };
    look(Anchor::Absolute, "");
    if let Some(folder) = &frame.home {
        look(Anchor::Home, folder.lexical.trim_end_matches('/'));
    }
    for folder in &frame.roots {
        look(Anchor::Root, folder.lexical.trim_end_matches('/'));
    }
    out
}
