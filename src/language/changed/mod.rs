//! What differs between two policies: for every rule that is not in both, a call that shows it, or that there is none.
//!
//! Rules are paired by what they say (`side.rs`). Only inside a rule that changed is searched, and there only where the
//! other policy does not surely say the same (`fate.rs`): a witness is a call that the two decide differently, by the
//! real matcher. Where the search ends without one the rules are equivalent; where it gives up, or what is left shows no
//! call, nothing is known. All that is no rule (`beyond.rs`, `tiers.rs`) is never said to be equivalent.

mod beyond;
mod fate;
mod side;
mod tiers;

use super::shape::{Alphabet, Chars};
use super::witness::{Scene, Witness};
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

/// What comes of a change.
#[derive(Clone, Debug)]
pub enum Fate {
    /// This call is decided differently.
    Moved(Box<Moved>),
    /// No call is.
    Equivalent,
    /// Nothing shows either.
    Unknown,
}

impl Fate {
    /// The graver comes first: loosened, tightened, unknown, equivalent.
    fn rank(&self) -> u8 {
        match self {
            Self::Moved(moved) if moved.loosened() => 0,
            Self::Moved(_) => 1,
            Self::Unknown => 2,
            Self::Equivalent => 3,
        }
    }

    /// Of two fates of one change the one that says more.
    fn or(self, other: Self) -> Self {
        if other.rank() < self.rank() {
            other
        } else {
            self
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
}

impl<'p, 'm> Both<'p, 'm> {
    const fn sides(&self) -> [&'p Side<'m>; 2] {
        [self.old, self.new]
    }

    /// A call, where the two decide it differently.
    fn moved(&self, witness: Witness) -> Option<Moved> {
        let decide = |side: &Side<'_>| decide(side.rules.matcher, &witness.call, &FileView::None);
        let (old, new) = (decide(self.old), decide(self.new));
        (strictness(&old) != strictness(&new)).then_some(Moved { witness, old, new })
    }

    /// The gravest that calls show.
    fn shown(&self, calls: impl IntoIterator<Item = Witness>) -> Fate {
        let mut fate = Fate::Unknown;
        for moved in calls.into_iter().filter_map(|call| self.moved(call)) {
            fate = fate.or(Fate::Moved(Box::new(moved)));
            if fate.rank() == 0 {
                break;
            }
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
    };
    let mut out: Vec<Change> = Vec::new();
    for (own, other) in [(both.old, both.new), (both.new, both.old)] {
        for (key, entries) in own.changed() {
            let place = entries
                .first()
                .map(|entry| entry.compiled.rule.place.clone());
            let fate = fate::fate(&entries, own, other, &both);
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
    out.extend(tiers::tiers(&both));
    let beyond = beyond::beyond(&both, &out);
    out.extend(beyond);
    out.sort_by_key(|change| change.fate.rank());
    out
}
