//! Paths: protected files, path rules, what lies below, the workspace.

use super::cover::may_be_else;
use super::unresolved::{What, names_unknown};
use super::{Covered, Judge, Matched, cover_of, stance};
use crate::call::access::{Cover, Mode, PathAccess, Reach, Touches};
use crate::call::files::{Entry, FileView};
use crate::call::programs;
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
        (!ends.iter().any(|end| end.contains('/'))).then_some(Self {
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

    fn skips(&self) -> Skips {
        Skips {
            hidden: self.listed.shown,
            ignored: self.listed.gitignore,
            docker: false,
            links: self.listed.links == Links::None,
        }
    }
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
            Piece::Text(text) => vec![text.clone()],
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

impl Judge<'_> {
    /// Judges a path, and where links lead from below it.
    pub(super) fn path(
        &mut self,
        at: usize,
        path: &PathAccess,
        tool_rules: &[Matched],
    ) -> (Vec<Matched>, Covered) {
        if self.comes_apart(path) {
            let word = Word::unknown(path.path.shown(), path.path.span, true);
            let words = PathAccess {
                path: word,
                ..path.clone()
            };
            return self.one_path(at, &words, tool_rules);
        }
        let (mut matched, mut covered) = self.one_path(at, path, tool_rules);
        let real = self.real.take();
        for behind in self.behind_links(at, path) {
            let (more, also) = self.one_path(at, &behind, tool_rules);
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
        tool_rules: &[Matched],
    ) -> (Vec<Matched>, Covered) {
        let located = Located::of(path, self.frame);
        self.real = located.known.then(|| located.real().to_owned());
        if path.touches == Touches::Names {
            let settles = self.lets_read(&located);
            self.outside(at, path, &located, &settles);
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

    pub(super) fn protected(&mut self, at: usize, path: &PathAccess, located: &Located) {
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
            let key = format!("protected.{}", set.name);
            let (action, forced) = match fit {
                Fit::No => continue,
                Fit::Must => (Verdict::Deny, false),
                Fit::MayPattern if !names_unknown(path) => (Verdict::Ask, true),
                Fit::MayPattern | Fit::MayUnknown => {
                    let what = What::Protected(&set.name);
                    self.unresolved.add_path(at, what, path);
                    continue;
                }
            };
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
                let may = match path.path.text() {
                    Some(text) => format!("something below `{text}` may be a protected file"),
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
                subject: texts::short(&shown),
                text,
                instead: set.instead.clone(),
                address: Some(key),
                place: Some(set.place.clone()),
                order: index,
            });
        }
    }

    pub(super) fn path_rules(
        &mut self,
        at: usize,
        path: &PathAccess,
        located: &Located,
    ) -> Vec<Matched> {
        let mut matched = Vec::new();
        // A path that may be anything is so to all rules alike.
        let mut unsure = None;
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
            // Names that nobody knows are one question, not one for each rule that they may meet.
            let fit = match fit {
                Fit::MayPattern if names_unknown(path) => Fit::MayUnknown,
                fit => fit,
            };
            if fit == Fit::No {
                continue;
            }
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
        let fit = paths::fit_below(own, located);
        let unseen = (fit != Fit::No).then_some((fit, None));
        let Reach::Below { hidden } = located.reach else {
            return unseen;
        };
        // What leaves out hidden names still looks into those that an ignore file names with `!`.
        if hidden && unseen.is_none() {
            return None;
        }
        let Some(listing) = self.listing(located, self.skips(path, hidden)) else {
            return unseen;
        };
        let owner = match path.cover {
            Cover::Command { at, .. } => commands::command(self.accesses, at),
            Cover::Tool => None,
        };
        let ends = owner.map_or(&[][..], |command| &command.ends);
        let left_out = owner.map_or(&[][..], |command| &command.left_out);
        match self.find_below(own, &listing, ("", ends, left_out), Fit::Must) {
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
        let Some(listing) = listing.filter(|found| found.complete) else {
            return false;
        };
        let start = format!("{}/{}", folder.real().trim_end_matches('/'), names.start);
        self.find_below(own, &listing, (&start, &names.ends, &[]), Fit::MayUnknown)
            .is_none()
    }

    /// Whether names that a program prints may be other words than those names: one is called `a /etc/passwd`, and
    /// whoever reads it splits it at blanks. Where the files are not seen, only writing is held to be so unlucky.
    fn comes_apart(&self, path: &PathAccess) -> bool {
        let Some(names) = Names::of(path).filter(|names| names.listed.split) else {
            return false;
        };
        let odd = |name: &str| name.contains(|c: char| c.is_whitespace() || "'\"\\".contains(c));
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
                            Piece::Text(format!("{target}/")),
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

    /// The first entry of a listing that counts and fits well enough. The listing starts at a real path, so only a link among its
    /// entries leads elsewhere; what heeds `.gitignore` does not follow links.
    pub(super) fn find_below(
        &self,
        own: &Paths,
        listing: &Listing,
        (start, ends, left_out): (&str, &[Cow<'_, str>], &[String]),
        enough: Fit,
    ) -> Option<String> {
        let address = |it: *const ()| it as usize;
        let looked = (
            address(std::ptr::from_ref(own).cast()),
            address(std::ptr::from_ref(listing).cast()),
            format!("{start}\0{}\0\0{}", ends.join("\0"), left_out.join("\0")),
            enough,
        );
        if let Some(found) = self.found.borrow().get(&looked) {
            return found.clone();
        }
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
        let counts = |path: &str| {
            let end = ends.is_empty() || ends.iter().any(|end| path.ends_with(&**end));
            let name = path.rsplit('/').next().unwrap_or(path);
            let left = || left_out.iter().any(|glob| programs::fits(glob, name));
            end && path.starts_with(start) && !left()
        };
        let found = listing.paths.iter().find_map(|(path, entry)| {
            if !counts(path) {
                return None;
            }
            let frame = if *entry == Entry::Link {
                self.frame
            } else {
                &plain
            };
            let word = Word::known(path.as_str(), crate::source::Span::default());
            let found = Located::locate(&word, None, Reach::Itself, frame);
            (paths::fit(own, &found, Stance::Tightens) >= enough).then(|| path.clone())
        });
        self.found.borrow_mut().insert(looked, found.clone());
        found
    }

    /// Whether an allow is anchored with `/` or `~`: it settles an ask of `workspace.outside`.
    pub(super) fn settles_outside(&self, matched: &Matched, located: &Located) -> bool {
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

    pub(super) fn outside(
        &mut self,
        at: usize,
        path: &PathAccess,
        located: &Located,
        own: &[Matched],
    ) {
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
            None => self.unresolved.add_path(at, What::Outside, path),
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

    /// The rules that let the path be read, and so its name be listed.
    fn lets_read(&self, located: &Located) -> Vec<Matched> {
        let lets = |rule: &usize| {
            self.rule(*rule).is_some_and(|own| match &own.rule.judges {
                Judges::Paths(paths) => {
                    own.rule.action == Verdict::Allow
                        && self.lifts_tier(*rule)
                        && paths::fit(paths, located, Stance::Loosens) == Fit::Must
                        && self
                            .matcher
                            .is_on(&own.rule, &self.call.tool, self.args, &self.call.facts)
                            .0
                }
                _ => false,
            })
        };
        let rules = self.matcher.path_rules(Mode::Read).candidates(located);
        let matched = |rule| Matched {
            rule,
            fit: Fit::Must,
            lost: None,
        };
        rules.into_iter().filter(lets).map(matched).collect()
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
