//! What differs between two policies: for every rule that is not in both, a call that shows it, or that there is none.
//!
//! Rules are paired by what they say (`side.rs`). What a rule that only one of the two has may do to a call is one way or
//! the other by its verdict; it does nothing where a rule of the other policy meets whatever it meets, as surely and as
//! strictly (`fate.rs`). Each way is ruled out so, or shown by a call that the two decide differently, by the real
//! matcher; else nothing is known of it. What is no rule (`beyond.rs`, `tiers.rs`) goes the same two ways.

mod beyond;
mod calls;
mod fate;
mod side;
mod tiers;

use super::Entry;
use super::shape::{Alphabet, Chars};
use super::situation::{self, Facts};
use super::witness::{Scene, Witness};
use crate::call::Call;
use crate::call::files::FileView;
use crate::decision::{Decision, decide};
use crate::matcher::Matcher;
use crate::policy::rule::{Place, Verdict};
use side::Side;

/// A rule that is not the same in both policies, or another key.
#[derive(Clone, Debug)]
pub struct Change {
    /// What changed, by its key or name: `no-force-push`, `protected.secrets`, `tiers: mcp__git__push`, `commands.opaque`.
    pub what: String,
    /// Where it stands in the old policy; none for what is new.
    pub old: Option<Place>,
    /// Where it stands in the new policy; none for what is gone.
    pub new: Option<Place>,
    /// What comes of it.
    pub fate: Fate,
}

/// What is known of one direction.
#[derive(Clone, Debug, Default)]
pub enum Way {
    /// No call goes that way.
    #[default]
    No,
    /// Nothing shows either.
    Unknown,
    /// This call does.
    Shown(Box<Moved>),
}

impl Way {
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (own @ Self::Shown(_), _) | (_, own @ Self::Shown(_)) => own,
            (Self::No, Self::No) => Self::No,
            _ => Self::Unknown,
        }
    }

    /// Whether a call may go that way.
    pub const fn may(&self) -> bool {
        !matches!(self, Self::No)
    }

    /// The call that shows it.
    pub fn shown(&self) -> Option<&Moved> {
        match self {
            Self::Shown(moved) => Some(moved),
            _ => None,
        }
    }
}

/// What comes of a change: what it loosens and what it tightens, each shown, ruled out, or neither.
#[derive(Clone, Debug, Default)]
pub struct Fate {
    /// Whether a call is decided less strictly.
    pub loosened: Way,
    /// Whether a call is decided more strictly.
    pub tightened: Way,
    /// The keys that answer its question in the old and in the new policy, where they are not the same.
    pub keys: Option<[Option<String>; 2]>,
}

/// A fate in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Told {
    /// A call is decided less strictly.
    Loosened,
    /// None was found, and no proof that there is none.
    Unknown,
    /// None is, but a call is decided more strictly.
    Tightened,
    /// No call is decided less strictly; whether one is decided more strictly is not known.
    NotLoosened,
    /// No call is decided differently.
    Equivalent,
}

impl Fate {
    /// That such calls may be there.
    const fn open(loosens: bool, tightens: bool) -> Self {
        const fn way(open: bool) -> Way {
            if open { Way::Unknown } else { Way::No }
        }
        Self {
            loosened: way(loosens),
            tightened: way(tightens),
            keys: None,
        }
    }

    /// What a call shows.
    pub fn shown(moved: Moved) -> Self {
        let loosened = moved.loosened();
        let mut own = Self::default();
        *(if loosened {
            &mut own.loosened
        } else {
            &mut own.tightened
        }) = Way::Shown(Box::new(moved));
        own
    }

    /// In one word.
    pub const fn told(&self) -> Told {
        match (&self.loosened, &self.tightened) {
            (Way::Shown(_), _) => Told::Loosened,
            (Way::Unknown, _) => Told::Unknown,
            (Way::No, Way::Shown(_)) => Told::Tightened,
            (Way::No, Way::Unknown) => Told::NotLoosened,
            (Way::No, Way::No) => Told::Equivalent,
        }
    }

    /// Of two fates all that they say.
    pub fn or(self, other: Self) -> Self {
        Self {
            loosened: self.loosened.or(other.loosened),
            tightened: self.tightened.or(other.tightened),
            keys: self.keys.or(other.keys),
        }
    }

    /// Whether a call could still say more.
    const fn is_open(&self) -> bool {
        matches!(self.loosened, Way::Unknown) || matches!(self.tightened, Way::Unknown)
    }

    /// Takes a call as shown where it goes a way that is open: else another change moved it.
    fn learn(&mut self, moved: Moved) {
        let way = match moved.loosened() {
            true => &mut self.loosened,
            false => &mut self.tightened,
        };
        if matches!(way, Way::Unknown) {
            *way = Way::Shown(Box::new(moved));
        }
    }
}

/// A call that two policies decide differently.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The call.
    pub witness: Witness,
    /// What the old policy says, and by which rule.
    pub old: Decision,
    /// What the new policy says, and by which rule.
    pub new: Decision,
}

impl Moved {
    /// Whether the new policy is less strict.
    pub fn loosened(&self) -> bool {
        strictness(&self.new) < strictness(&self.old)
    }
}

/// The verdict, and whether only a fresh human decision will do.
fn strictness(decision: &Decision) -> (Verdict, bool) {
    let forced = decision.reasons.iter().any(|reason| reason.forced);
    (decision.action, decision.action == Verdict::Ask && forced)
}

/// The two policies.
struct Both<'p, 'm> {
    old: &'p Side<'m>,
    new: &'p Side<'m>,
    /// Rules that say the same may mean something else: roots or orders differ.
    shaken: bool,
    /// The combinations of facts that tell the changed rules apart, unless there are too many.
    facts: Option<Vec<Facts>>,
}

impl<'p, 'm> Both<'p, 'm> {
    const fn sides(&self) -> [&'p Side<'m>; 2] {
        [self.old, self.new]
    }

    /// The calls that the two decide differently: this one, or with authorities that let others speak.
    fn moved(&self, witness: Witness) -> impl Iterator<Item = Moved> {
        let decide =
            |side: &Side<'_>, call: &Call| decide(side.rules.matcher, call, &FileView::None);
        let sources = self.sides().into_iter();
        let sources = sources.flat_map(|side| &side.rules.matcher.sources);
        let heard = witness
            .heard(sources.map(|own| own.name.as_str()))
            .into_iter();
        heard.filter_map(move |witness| {
            let call = &witness.call;
            let (old, new) = (decide(self.old, call), decide(self.new, call));
            (strictness(&old) != strictness(&new)).then_some(Moved { witness, old, new })
        })
    }

    /// What calls show of what is open.
    fn shown(&self, mut fate: Fate, calls: impl IntoIterator<Item = Witness>) -> Fate {
        for call in calls {
            if !fate.is_open() {
                break;
            }
            self.moved(call).for_each(|moved| fate.learn(moved));
        }
        fate
    }
}

/// Every change between two policies, what is loosened first.
pub fn changed(old: &Matcher, new: &Matcher) -> Vec<Change> {
    let scene = Scene::of(&[old, new]);
    let sets = [old, new].map(side::sets);
    let [before, after] = &sets;
    let mut before = Side::of(old, &scene, before);
    let mut after = Side::of(new, &scene, after);
    let mut chars = Chars::default();
    for side in [&before, &after] {
        side.rules
            .alphabet
            .symbols()
            .iter()
            .for_each(|c| chars.insert(*c));
    }
    let alphabet = Alphabet::of(&chars);
    before.rules.alphabet = alphabet.clone();
    after.rules.alphabet = alphabet;
    side::pair(&mut before, &mut after);
    let both = Both {
        old: &before,
        new: &after,
        shaken: beyond::shakes(old, new),
        facts: situation::combinations(
            old,
            [&before, &after].into_iter().flat_map(|side| {
                let entries = side.rules.entries.iter();
                let changed = entries.filter(|own| !side.is_same(own));
                changed.map(|own| &own.compiled.rule)
            }),
        ),
    };
    let mut out: Vec<Change> = Vec::new();
    for (own, other) in [(both.old, both.new), (both.new, both.old)] {
        for (key, entries) in own.changed() {
            let place = entries
                .first()
                .map(|entry| entry.compiled.rule.place.clone());
            let mut fate = fate::fate(&entries, own, other, &both);
            fate.keys = lone_key(&entries, own, &both);
            match out.iter_mut().find(|change| change.what == key) {
                Some(change) => {
                    change.new = place;
                    change.fate = change.fate.clone().or(fate);
                }
                None => out.push(Change {
                    what: key,
                    old: place.clone().filter(|_| std::ptr::eq(own, both.old)),
                    new: place.filter(|_| std::ptr::eq(own, both.new)),
                    fate,
                }),
            }
        }
    }
    out.extend(rekeyed(&both));
    out.extend(tiers::tiers(&both));
    let beyond = beyond::beyond(&both, &out);
    out.extend(beyond);
    out.sort_by_key(|change| change.fate.told());
    out
}

/// The key of a rule that asks, where only one of the policies has it.
fn lone_key(
    entries: &[&Entry<'_>],
    own: &Side<'_>,
    both: &Both<'_, '_>,
) -> Option<[Option<String>; 2]> {
    let compiled = entries.first()?.compiled;
    let is_old = std::ptr::eq(own, both.old);
    let other = if is_old { both.new } else { both.old };
    let mut keys = other.rules.matcher.rules.iter().map(|own| &own.key);
    let lone = compiled.rule.action == Verdict::Ask
        && compiled.rule.id.is_some()
        && !keys.any(|key| *key == compiled.key);
    lone.then(|| [true, false].map(|old| (old == is_old).then(|| compiled.key.clone())))
}

/// Rules that ask the same in both, and that an approval of another key answers.
fn rekeyed(both: &Both<'_, '_>) -> Vec<Change> {
    let rule = |side: &Side<'_>, at: &usize| {
        let own = side.rules.matcher.rules.get(*at)?;
        Some((own.key.clone(), own.rule.clone()))
    };
    let pairs = both.old.same.iter().filter_map(|(old, new)| {
        let ((old_key, old), (new_key, new)) = (rule(both.old, old)?, rule(both.new, new)?);
        let differ = old_key != new_key && (old.id.is_some() || new.id.is_some());
        (differ && old.action == Verdict::Ask).then(|| Change {
            what: old_key.clone(),
            old: Some(old.place),
            new: Some(new.place),
            fate: Fate {
                keys: Some([Some(old_key), Some(new_key)]),
                ..Fate::default()
            },
        })
    });
    pairs.collect()
}
