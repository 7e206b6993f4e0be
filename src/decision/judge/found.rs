//! The first entry below a folder that a tightening pattern names.
//!
//! In: patterns, a [`Listing`], which of its entries count. Out: a path. A pattern that names an entry names it, or a folder
//! above it, by its last word: so the names in a listing tell which entries to look at, and a large folder costs little more than
//! reading it.

use super::{Judge, Looked};
use crate::call::access::Reach;
use crate::call::files::Entry;
use crate::call::programs;
use crate::call::word::Word;
use crate::decision::below::Listing;
use crate::matcher::located::{Folder, Frame, Located};
use crate::matcher::paths::{self, Stance};
use crate::policy::glob::Fit;
use crate::policy::patterns::{PathPattern, WordPattern};
use crate::policy::rule::Paths;
use crate::source::Span;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

impl Judge<'_> {
    /// The first entry of a listing that counts and fits well enough. The listing starts at a real path, so only a link among its
    /// entries leads elsewhere; what heeds `.gitignore` does not follow links.
    pub(super) fn find_below(
        &self,
        own: &Paths,
        listing: &Listing,
        (start, ends, left_out, inside): (&str, &[Cow<'_, str>], &[String], bool),
        enough: Fit,
    ) -> Option<String> {
        let address = |it: *const ()| it as usize;
        let looked: Looked = (
            address(std::ptr::from_ref(own).cast()),
            address(std::ptr::from_ref(listing).cast()),
            format!(
                "{inside}{start}\0{}\0\0{}",
                ends.join("\0"),
                left_out.join("\0")
            ),
            enough,
        );
        if let Some(found) = self.found.borrow().get(&looked) {
            return found.clone();
        }
        let counts = |path: &str| {
            let named = |path: &str| ends.iter().any(|end| path.ends_with(&**end));
            let mut above = path.match_indices('/').map(|(at, _)| at);
            let end = ends.is_empty()
                || named(path)
                || inside && above.any(|at| at >= start.len() && path.get(..at).is_some_and(named));
            let name = path.rsplit('/').next().unwrap_or(path);
            let left = || left_out.iter().any(|glob| programs::fits(glob, name));
            end && path.starts_with(start) && !left()
        };
        let plain = self.plain_frame();
        let fits = |path: &str, entry: Entry| {
            let frame = match entry {
                Entry::Link => self.frame,
                _ => &plain,
            };
            let found = located(path, frame);
            counts(path) && paths::fit(own, &found, Stance::Tightens) >= enough
        };
        let found = match self.likely(own, listing, &plain) {
            Some(likely) => first_of(&likely, listing, fits),
            None => listing
                .paths
                .iter()
                .find(|(path, entry)| fits(path, *entry))
                .map(|(path, _)| path.clone()),
        };
        self.found.borrow_mut().insert(looked, found.clone());
        found
    }

    /// The frame for real paths, which lead nowhere else.
    fn plain_frame(&self) -> Frame<'static> {
        let real = |folder: &Folder| Folder {
            lexical: folder.resolved.clone(),
            resolved: folder.resolved.clone(),
        };
        Frame {
            roots: self.frame.roots.iter().map(real).collect(),
            home: self.frame.home.as_ref().map(real),
            view: None,
            linked: self.frame.linked.clone(),
            ..Frame::default()
        }
    }

    /// The entries that the patterns may name by their last words; none where every entry may be meant: what they name is the
    /// folder itself or one above it, or another spelling of a folder below.
    fn likely(&self, own: &Paths, listing: &Listing, plain: &Frame<'_>) -> Option<BTreeSet<usize>> {
        let top = located(&listing.folder, plain);
        let inside = |path: &str| {
            path.strip_prefix(&*listing.folder)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        let spelled_otherwise = plain.linked.iter().any(|linked| inside(&linked.resolved));
        let named = |pattern: &PathPattern| {
            let all = std::slice::from_ref(pattern);
            let mut spellings = top.spellings.iter();
            spellings.any(|own| paths::any(all, own, &top, Stance::Tightens, false).may())
        };
        if spelled_otherwise || own.patterns.iter().any(named) {
            return None;
        }
        let names = listing.names();
        let mut likely: BTreeSet<usize> = names.links.iter().copied().collect();
        for pattern in &own.patterns {
            let mut words = pattern.components.iter().rev();
            match words.find(|word| **word != WordPattern::Any)? {
                WordPattern::Word(glob) => names.of(glob, |all| likely.extend(all)),
                WordPattern::Any => return None,
            }
        }
        Some(likely)
    }
}

fn located(path: &str, frame: &Frame<'_>) -> Located {
    Located::locate(
        &Word::known(path, Span::default()),
        None,
        Reach::Itself,
        frame,
    )
}

/// The first entry that fits: one of the likely ones, or what lies below one of these.
fn first_of(
    likely: &BTreeSet<usize>,
    listing: &Listing,
    fits: impl Fn(&str, Entry) -> bool,
) -> Option<String> {
    let mut first = listing.paths.len();
    let mut open: HashSet<&str> = HashSet::new();
    for at in likely {
        let Some((path, entry)) = listing.paths.get(*at) else {
            continue;
        };
        if fits(path, *entry) {
            first = *at;
            break;
        }
        if *entry == Entry::Folder {
            open.insert(path);
        }
    }
    let is_below = |path: &str| {
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        above.into_iter().any(|folder| open.contains(folder))
    };
    let mut before = listing
        .paths
        .iter()
        .take(first)
        .filter(|_| !open.is_empty());
    let below = before.find(|(path, entry)| is_below(path) && fits(path, *entry));
    below
        .or_else(|| listing.paths.get(first))
        .map(|(path, _)| path.clone())
}
