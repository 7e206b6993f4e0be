//! What nobody can name comes to stand somewhere: `find . -name hk -exec cp -a {} q \;`.
//!
//! In: a command that copies, moves or links what only a pattern or a variable names, and what the line touches later.
//! Out: writes of the places where it may land; and whether a path leads through one of them. What stands there may be
//! a link, or a folder with links and settings in it, so that what is touched through it may be anything.

use super::effects::{Outcome, What};
use super::env::Env;
use super::placed::Place;
use super::script::Walker;
use crate::call::access::{Mode, PathAccess, Reach, Touches};
use crate::call::path;
use crate::call::word::{Piece, Word};
use std::collections::BTreeMap;
use std::ops::Bound;

/// Absolute names under which something stands that nobody knows.
#[derive(Default)]
pub(super) struct Unnamed {
    names: BTreeMap<String, Vec<Stand>>,
    /// Those of the command that is walked: it does not touch what it puts there.
    fresh: Vec<(String, Stand)>,
}

/// Where it stands.
#[derive(Clone, Debug, PartialEq)]
enum Stand {
    /// Under that name.
    There,
    /// In the folder of that name, and its own name ends so.
    Inside(String),
    /// Anywhere below that folder, and its own name ends so.
    Below(String),
}

impl Unnamed {
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The command is done: what comes later meets what it has put somewhere.
    pub fn settle(&mut self) {
        for (name, stand) in self.fresh.drain(..) {
            let known = self.names.entry(name).or_default();
            if !known.contains(&stand) {
                known.push(stand);
            }
        }
    }

    /// Whether an absolute path may lead through what nobody knows.
    pub fn leads(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(end, _)| end).skip(1);
        !self.is_empty()
            && ends.chain([path.len()]).any(|end| {
                let (head, rest) = path.split_at(end);
                let mut names = rest.split('/').skip(1);
                let stands = self.names.get(head).into_iter().flatten();
                stands.into_iter().any(|stand| match stand {
                    Stand::There => true,
                    Stand::Inside(end) => names.clone().take(1).any(|name| name.ends_with(end)),
                    Stand::Below(end) => names.any(|name| name.ends_with(end)),
                })
            })
    }

    /// The same of a pattern that starts so.
    fn may_lead(&self, start: &str) -> bool {
        let mut from = self
            .names
            .range::<str, _>((Bound::Included(start), Bound::Unbounded));
        let folder = start.rsplit_once('/').map_or("", |(folder, _)| folder);
        from.next().is_some_and(|(name, _)| name.starts_with(start))
            || self.names.contains_key(folder)
            || self.leads(folder)
    }
}

impl Walker<'_> {
    /// Something that a word names, though not in so many letters, comes to stand at a name, or in the folder of that name.
    pub(super) fn lands_unnamed(
        &mut self,
        place: &Place,
        source: &Word,
        inside: bool,
        kept: bool,
        env: &Env,
    ) {
        let named = |part: &str| part.starts_with('.') && !matches!(part, "." | "..");
        let hidden = place.landing.split('/').any(named);
        let mut own = path::components(source).pop().unwrap_or_default();
        for piece in own.pieces.iter_mut() {
            // What is found elsewhere need not be here; where all is seen, that tells what may be replaced.
            if hidden && matches!(piece, Piece::Below(_)) {
                *piece = Piece::Star;
            }
        }
        if inside {
            let folder = Piece::Text(format!("{}/", place.landing.trim_end_matches('/')).into());
            let pieces = std::iter::once(folder).chain(own.pieces.iter().cloned());
            let reach = match place.below && hidden {
                true => Reach::Below { hidden: true },
                false => Reach::Itself,
            };
            self.lands_at(&Word::of(pieces, place.span), reach, place, env);
        } else if place.below && hidden {
            let landing = Word::known(place.landing, place.span);
            self.lands_at(&landing, Reach::SomethingBelow, place, env);
        }
        if !kept {
            return;
        }
        let stand = match inside {
            true => Stand::Inside(end_of(&own)),
            false => Stand::There,
        };
        self.stands(place.landing, stand, env);
    }

    /// A link, or a folder with links in it, comes to stand where only a pattern says: `find . -name q -exec cp -a hk {} \;`.
    pub(super) fn lands_anywhere(&mut self, target: &Word, env: &Env) {
        let start = target.prefix();
        let folder = start.rfind('/').and_then(|slash| start.get(..=slash));
        if !target.is_unknown() {
            self.stands(folder.unwrap_or("."), Stand::Below(end_of(target)), env);
        }
    }

    /// Links come to lie below what a command writes: `python -m venv x` makes `x/bin/python`.
    pub(super) fn plants(&mut self, outcome: &Outcome, env: &Env) {
        for effect in &outcome.effects {
            let written = matches!(
                effect.what,
                What::Path {
                    mode: Mode::Write,
                    certain: true,
                    ..
                }
            );
            if let Some(text) = effect.value.text().filter(|_| written) {
                self.stands(text, Stand::Below(String::new()), env);
            }
        }
        self.placed.unnamed.settle();
    }

    fn stands(&mut self, at: &str, stand: Stand, env: &Env) {
        let names = Self::full(at, env).into_iter();
        let fresh = names.map(|name| (name, stand.clone()));
        self.placed.unnamed.fresh.extend(fresh);
    }

    /// What an access touches through such a name, which may be anything.
    pub(super) fn through_unnamed(&self, access: &PathAccess) -> Option<PathAccess> {
        if self.placed.unnamed.is_empty() || access.touches == Touches::Names {
            return None;
        }
        let folder = access.cwd.as_deref().unwrap_or("/");
        let full = |text: &str| path::normal(&path::join(folder, text));
        let leads = match access.path.text() {
            Some(text) => self.placed.unnamed.leads(&full(text)),
            None if access.path.is_unknown() => false,
            None => {
                let (folder, start) = match access.path.prefix().rsplit_once('/') {
                    Some((folder, start)) => (full(&format!("{folder}/")), start),
                    None => (full("."), access.path.prefix()),
                };
                let start = format!("{}/{start}", folder.trim_end_matches('/'));
                self.placed.unnamed.may_lead(&start)
            }
        };
        leads.then(|| PathAccess {
            path: Word::unknown(access.path.shown(), access.path.span, false),
            reach: match access.mode {
                Mode::Read => access.reach,
                Mode::Write => Reach::Itself,
            },
            ..access.clone()
        })
    }
}

/// The text that a name ends with.
fn end_of(word: &Word) -> String {
    match word.pieces.last() {
        Some(Piece::Text(text)) => path::last(text).to_owned(),
        _ => String::new(),
    }
}
