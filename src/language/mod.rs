//! Side road: rules as automata. Which accesses a rule takes, reasoned over all of them and not by comparing strings.
//!
//! In: one [`Matcher`], or two. Out: answers about its entries (an entry is one text of a rule's list): whether others
//! [hide](Rules::hidden) it, whether it is [redundant](Rules::redundant), [empty](Rules::is_empty), in
//! [conflict](Rules::conflict) with another, whether an [invariant](Rules::invariant) holds.
//! Each pattern is an automaton over one encoding of an access (`encode.rs`, `dfa.rs`); a best-first search walks them
//! side by side (`search.rs`). A claim over all accesses rests on what one side matches at most and the other at least,
//! both in plain spelling, and is made only with a [`Witness`] that the real matcher confirms; else it is no claim.

mod changed;
mod dfa;
mod encode;
mod invariant;
mod sample;
mod search;
mod situation;
mod witness;
mod written;

pub use changed::{Change, Fate, Moved, changed};
pub use encode::Space;
pub use invariant::Proof;
pub use sample::sample;
pub use witness::{Witness, quoted, text_of};
pub use written::{Pattern, Written, written};

use crate::call::access::Mode;
use crate::call::files::FileView;
use crate::decision::{Decision, Judged, decide};
use crate::matcher::commands::names;
use crate::matcher::{Compiled, Matcher};
use crate::policy::Resolution;
use crate::policy::glob::{Fit, Glob};
use crate::policy::patterns::{Anchor, HostName, PathPattern, WordPattern};
use crate::policy::rule::{Invariant, Judges, Protected, Rule, Verdict};
use dfa::{Alphabet, Dfa, Shape};
use encode::{Encoded, Need, Shapes};
use search::{Found, Language, Search};
use situation::Facts;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use witness::Scene;

/// An answer about all accesses.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<T> {
    /// It is not so, or nothing shows it.
    No,
    /// The search gave up.
    Unknown,
    /// It is so, and this shows it.
    Yes(T),
}

impl<T> Answer<T> {
    /// What shows it.
    pub fn yes(self) -> Option<T> {
        match self {
            Self::Yes(own) => Some(own),
            _ => None,
        }
    }
}

/// What takes the accesses of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// Another entry, by its index.
    Entry(usize),
    /// Protected files, by their index in the matcher.
    Protected(usize),
}

/// That all an entry takes is decided by others.
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    /// By these; more than one where only their union does.
    pub by: Vec<By>,
    /// A call that the entry takes and they decide.
    pub witness: Witness,
    /// Inside the workspace only: a name without a slash is refused outside it too.
    pub in_workspace: bool,
}

/// One text of a rule's list.
#[derive(Debug)]
pub struct Entry<'m> {
    /// Index of the rule.
    pub rule: usize,
    /// The rule.
    pub compiled: &'m Compiled,
    /// The text; empty for a rule about every tool.
    pub written: Written<'m>,
    needs: Vec<Need<'m>>,
    /// One for each pattern; none where what it takes cannot be said.
    parts: Vec<Option<Part>>,
}

/// One pattern of an entry.
#[derive(Debug)]
struct Part {
    encoded: Encoded,
    /// What it is found by.
    keys: Option<Vec<Key>>,
    over: OnceCell<Option<Rc<Language>>>,
    under: OnceCell<Option<Rc<Language>>>,
}

impl<'m> Entry<'m> {
    fn of(rule: usize, compiled: &'m Compiled, written: Written<'m>, scene: &Scene) -> Self {
        let own = &compiled.rule;
        let needs = encode::needs(own, &written);
        let part = |encoded, keys| Part {
            encoded,
            keys,
            over: OnceCell::new(),
            under: OnceCell::new(),
        };
        let patterns = written.patterns.iter();
        let mut parts: Vec<Option<Part>> = patterns
            .map(|pattern| {
                let encoded = encode::encode(own, pattern, &needs, &scene.folders)?;
                Some(part(encoded, keys(pattern, scene, false)))
            })
            .collect();
        if written.patterns.is_empty() && matches!(own.judges, Judges::Tool) {
            let every = Shapes {
                is: vec![Shape::parts()],
                not: Vec::new(),
            };
            let encoded = Encoded {
                over: every.clone(),
                under: every,
                by_path: false,
            };
            parts.push(Some(part(encoded, None)));
        }
        Self {
            rule,
            compiled,
            needs,
            written,
            parts,
        }
    }

    /// The verdict of its rule.
    pub fn action(&self) -> Verdict {
        self.compiled.rule.action
    }

    fn chars(&self, out: &mut BTreeSet<char>) {
        for part in self.parts.iter().flatten() {
            part.encoded.over.chars(out);
            part.encoded.under.chars(out);
        }
        for need in &self.needs {
            for shape in [need.shape(true), need.shape(false)].iter().flatten() {
                shape.chars(out);
            }
        }
    }

    fn spaces(&self) -> Vec<Space> {
        encode::spaces(&self.compiled.rule)
    }
}

/// The rules of a policy as languages.
#[derive(Debug)]
pub struct Rules<'m> {
    matcher: &'m Matcher,
    scene: Scene,
    entries: Vec<Entry<'m>>,
    protected: Vec<Vec<Shapes>>,
    plain: BTreeMap<(Space, bool), Shape>,
    alphabet: Alphabet,
    made: RefCell<HashMap<Shape, Option<Rc<Dfa>>>>,
    /// Entries whose first words are literal, by these.
    keyed: HashMap<Key, Vec<usize>>,
    /// All others.
    loose: Vec<usize>,
}

/// What an entry is found by.
type Key = (char, String);

/// How a claim shows in a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// An earlier rule decided.
    Late,
    /// A stricter one did.
    Stricter,
    /// Another one says the same.
    Again,
}

/// How many words are tried as witnesses.
const TRIES: usize = 6;

impl<'m> Rules<'m> {
    /// The rules of a policy.
    pub fn of(matcher: &'m Matcher) -> Self {
        Self::set(matcher, Scene::of(&[matcher]))
    }

    /// The same in a scene that fits some policies at once.
    fn set(matcher: &'m Matcher, scene: Scene) -> Self {
        let mut entries: Vec<Entry<'m>> = Vec::new();
        for (rule, compiled) in matcher.rules.iter().enumerate() {
            let texts = match compiled.rule.judges {
                Judges::Tool if compiled.rule.tools.is_empty() => vec![Written::of_every_tool()],
                _ => written(&compiled.rule),
            };
            let texts = texts.into_iter();
            entries.extend(texts.map(|text| Entry::of(rule, compiled, text, &scene)));
        }
        let sets = matcher.protected.iter();
        let protected: Vec<Vec<Shapes>> = sets
            .map(|set| encode::protected(&set.paths, &scene.folders))
            .collect();
        let hosts = matcher.rules.iter().map(|own| &own.rule);
        let never = invariants(matcher).map(|own| &own.never);
        let hosts = hosts.chain(never).filter_map(|rule| match &rule.judges {
            Judges::Hosts(own) => Some(&own.patterns),
            _ => None,
        });
        let plain = BTreeMap::from([
            ((Space::Tool, false), encode::plain_tool()),
            ((Space::Commands, false), encode::plain_command(false)),
            ((Space::Commands, true), encode::plain_command(true)),
            ((Space::Paths(Mode::Read), false), encode::plain_path()),
            ((Space::Paths(Mode::Write), false), encode::plain_path()),
            ((Space::Hosts, false), encode::plain_host(hosts.flatten())),
        ]);
        let mut chars = BTreeSet::from(['-']);
        entries.iter().for_each(|entry| entry.chars(&mut chars));
        plain.values().for_each(|shape| shape.chars(&mut chars));
        for shapes in protected.iter().flatten() {
            shapes.chars(&mut chars);
        }
        encode::inside(&scene.folders).chars(&mut chars);
        let files = matcher.policy.layers.iter().flat_map(|layer| &layer.files);
        for name in files
            .flat_map(|file| &file.tiers)
            .flat_map(|own| &own.names)
        {
            encode::tool(name)
                .iter()
                .for_each(|shape| shape.chars(&mut chars));
        }
        for invariant in invariants(matcher) {
            invariant_entries(invariant, &scene, |entry| entry.chars(&mut chars));
        }
        let mut keyed: HashMap<Key, Vec<usize>> = HashMap::new();
        let mut loose = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let parts = entry.parts.iter().flatten();
            let keys: Option<BTreeSet<Key>> =
                parts
                    .map(|part| part.keys.clone())
                    .try_fold(BTreeSet::new(), |mut all, keys| {
                        all.extend(keys?);
                        Some(all)
                    });
            match keys {
                Some(keys) => keys
                    .into_iter()
                    .for_each(|key| keyed.entry(key).or_default().push(at)),
                None => loose.push(at),
            }
        }
        Self {
            matcher,
            scene,
            entries,
            protected,
            plain,
            alphabet: Alphabet::of(chars),
            made: RefCell::default(),
            keyed,
            loose,
        }
    }

    /// All entries, in the order of the rules.
    pub fn entries(&self) -> &[Entry<'m>] {
        &self.entries
    }

    // --- what the lints ask

    /// Whether others decide all that an entry takes: under `first-match` those above it, else stricter ones and, for an
    /// allow, protected files.
    pub fn hidden(&self, own: usize) -> Answer<Hidden> {
        let Some(entry) = self.entries.get(own) else {
            return Answer::No;
        };
        let layer = entry.compiled.layer;
        let ordered = self.matcher.resolution(layer) == Resolution::FirstMatch;
        let hides = |other: &Entry<'_>| {
            other.compiled.layer == layer
                && match ordered {
                    true => other.rule < entry.rule,
                    false => other.action() > entry.action(),
                }
        };
        let mut by = self.near(entry, hides);
        if !ordered && entry.action() == Verdict::Allow {
            by.extend((0..self.protected.len()).map(By::Protected));
        }
        let claim = if ordered {
            Claim::Late
        } else {
            Claim::Stricter
        };
        let name = |pattern: &Pattern<'_>| matches!(pattern, Pattern::Path(path) if path.anchor == Anchor::Name);
        match self.taken(entry, by.clone(), claim, false) {
            Answer::No if ordered && entry.written.patterns.iter().any(name) => {
                self.taken(entry, by, claim, true)
            }
            answer => answer,
        }
    }

    /// Whether other entries that say the same take all that an entry takes; `among` tells which of them count.
    pub fn redundant(
        &self,
        own: usize,
        among: impl Fn(usize, &Entry<'m>) -> bool,
    ) -> Answer<Hidden> {
        let Some(entry) = self.entries.get(own) else {
            return Answer::No;
        };
        let by = self.near_at(entry, |at, other| {
            let (mine, theirs) = (entry.action(), other.action());
            let says = theirs == mine || (mine == Verdict::Ask && theirs == Verdict::Deny);
            at != own && says && among(at, other)
        });
        self.taken(entry, by, Claim::Again, false)
    }

    /// Whether no access at all is what an entry asks for.
    pub fn is_empty(&self, own: usize) -> bool {
        let Some(entry) = self.entries.get(own) else {
            return false;
        };
        let spaces = entry.spaces();
        !spaces.is_empty()
            && !entry.parts.is_empty()
            && spaces.iter().all(|space| {
                entry.parts.iter().all(|part| {
                    let wanted = part.as_ref().and_then(|part| self.wanted(part, *space));
                    wanted.is_some_and(|wanted| {
                        let mut search = Search::new(&self.alphabet, wanted, Vec::new());
                        matches!(search.next(), Found::Nothing(_))
                    })
                })
            })
    }

    /// Whether all that one entry takes is taken by another, conditions and all.
    pub fn inside(&self, narrow: usize, wide: usize) -> bool {
        let Some(entry) = self.entries.get(narrow) else {
            return false;
        };
        self.takes(entry, &[By::Entry(wide)]) == Answer::Yes(BTreeSet::from([By::Entry(wide)]))
    }

    /// Whether two entries of which neither lies inside the other meet, where the first is tried before the second: a
    /// call that both take and that the first decides.
    pub fn conflict(&self, first: usize, second: usize) -> Answer<Witness> {
        let (Some(one), Some(other)) = (self.entries.get(first), self.entries.get(second)) else {
            return Answer::No;
        };
        let mut apart = None;
        for space in one
            .spaces()
            .into_iter()
            .filter(|space| other.spaces().contains(space))
        {
            let others = self.sampled(other, space);
            for (a, b) in self
                .sampled(one, space)
                .iter()
                .flat_map(|a| others.iter().map(move |b| (a, b)))
            {
                let mut search = Search::new(&self.alphabet, a.clone().and(b), Vec::new());
                for _ in 0..TRIES {
                    let word = match search.next() {
                        Found::Word(word) => word,
                        Found::Nothing(_) => break,
                        Found::GaveUp => return Answer::Unknown,
                    };
                    // That they meet is the rare case: whether one lies inside the other is asked only then.
                    if !*apart.get_or_insert_with(|| {
                        !self.inside(first, second) && !self.inside(second, first)
                    }) {
                        return Answer::No;
                    }
                    let shows = |decision: &Decision| {
                        decision.judged.iter().any(|judged| {
                            fits(judged, one.rule) == Some(false)
                                && fits(judged, other.rule) == Some(true)
                        })
                    };
                    if let Some(witness) = self.tried(one, space, &word, &[other], &shows) {
                        return Answer::Yes(witness);
                    }
                }
            }
        }
        Answer::No
    }

    /// A protected set, and a name of its list that an allow for paths takes wherever it stands below the roots, while
    /// the set does not take all of the allow.
    pub fn names_protected(&self, own: usize) -> Option<(&'m Protected, String)> {
        let entry = self.entries.get(own)?;
        let Judges::Paths(paths) = &entry.compiled.rule.judges else {
            return None;
        };
        let itself = |path: &PathPattern| {
            let shape = encode::name(path, &self.scene.folders)?;
            self.dfa(&shape)
        };
        let allowed: Option<Vec<Rc<Dfa>>> = entry
            .written
            .patterns
            .iter()
            .map(|pattern| match pattern {
                Pattern::Path(path) => itself(path),
                _ => None,
            })
            .collect();
        let one = |dfa: &Rc<Dfa>| Language {
            is: vec![Rc::clone(dfa)],
            not: paths.except.iter().filter_map(itself).collect(),
        };
        let allowed: Vec<Rc<Language>> = allowed?.iter().map(|dfa| Rc::new(one(dfa))).collect();
        let sets = self.matcher.protected.iter().enumerate();
        let mut sets = sets.filter(|(at, set)| {
            let mut modes = paths.modes.iter();
            modes.any(|mode| set.paths.modes.contains(mode))
                && !matches!(self.takes(entry, &[By::Protected(*at)]), Answer::Yes(some) if !some.is_empty())
        });
        sets.find_map(|(_, set)| {
            let mut files = set.paths.patterns.iter();
            let file = files.find(|file| {
                itself(file).is_some_and(|dfa| {
                    let wanted = Language {
                        is: vec![dfa],
                        not: Vec::new(),
                    };
                    let plain = self
                        .plain(false, Space::Paths(Mode::Read))
                        .unwrap_or_default();
                    let mut search =
                        Search::new(&self.alphabet, wanted.and(&plain), allowed.clone());
                    matches!(search.next(), Found::Nothing(some) if !some.is_empty())
                })
            })?;
            Some((set, file.text.clone()))
        })
    }

    /// The entries that may meet an entry.
    pub fn meeting(&self, own: usize) -> Vec<usize> {
        let Some(entry) = self.entries.get(own) else {
            return Vec::new();
        };
        let entries = self.near(entry, |_| true).into_iter();
        entries
            .filter_map(|by| match by {
                By::Entry(at) if at != own => Some(at),
                _ => None,
            })
            .collect()
    }

    // --- languages

    fn dfa(&self, shape: &Shape) -> Option<Rc<Dfa>> {
        if let Some(known) = self.made.borrow().get(shape) {
            return known.clone();
        }
        let made = Dfa::of(shape, &self.alphabet).map(Rc::new);
        self.made.borrow_mut().insert(shape.clone(), made.clone());
        made
    }

    fn language(&self, shapes: &Shapes) -> Option<Language> {
        let all = |own: &[Shape]| -> Option<Vec<Rc<Dfa>>> {
            own.iter().map(|shape| self.dfa(shape)).collect()
        };
        Some(Language {
            is: all(&shapes.is)?,
            not: all(&shapes.not)?,
        })
    }

    fn over(&self, part: &Part) -> Option<Rc<Language>> {
        let make = || self.language(&part.encoded.over).map(Rc::new);
        part.over.get_or_init(make).clone()
    }

    fn under(&self, part: &Part) -> Option<Rc<Language>> {
        let make = || self.language(&part.encoded.under).map(Rc::new);
        part.under.get_or_init(make).clone()
    }

    /// All that a pattern may take, plainly spelled.
    fn wanted(&self, part: &Part, space: Space) -> Option<Language> {
        let plain = self.plain(part.encoded.by_path, space)?;
        Some((*self.over(part)?).clone().and(&plain))
    }

    fn plain(&self, by_path: bool, space: Space) -> Option<Language> {
        let shape = self
            .plain
            .get(&(space, by_path && space == Space::Commands))?;
        Some(Language {
            is: vec![self.dfa(shape)?],
            not: Vec::new(),
        })
    }

    /// What the patterns of an entry take as it would be typed: the words that it needs are there.
    fn sampled(&self, entry: &Entry<'_>, space: Space) -> Vec<Language> {
        let sampled = |part: &Part| {
            let plain = self.plain(part.encoded.by_path, space)?;
            let mut own = (*self.under(part)?).clone().and(&plain);
            for need in &entry.needs {
                self.needed(need, &mut own);
            }
            Some(own)
        };
        entry.parts.iter().flatten().filter_map(sampled).collect()
    }

    /// Adds what a need asks of the words; false where these do not tell.
    fn needed(&self, need: &Need<'_>, own: &mut Language) -> bool {
        let without = matches!(need, Need::Without(_));
        let shape = need.shape(!without).and_then(|shape| self.dfa(&shape));
        let list = if without { &mut own.not } else { &mut own.is };
        let told = shape.is_some();
        list.extend(shape);
        told
    }

    /// What the patterns of an entry surely take of what a pattern of another takes.
    fn hiders(
        &self,
        entry: &Entry<'_>,
        narrow: &Entry<'_>,
        keys: Option<&[Key]>,
    ) -> Vec<Rc<Language>> {
        let open: Vec<&Need<'_>> = entry
            .needs
            .iter()
            .filter(|need| !need.follows(&narrow.needs))
            .collect();
        let near = |part: &&Part| match (&part.keys, keys) {
            (Some(own), Some(keys)) => own.iter().any(|key| keys.contains(key)),
            // What starts with a wildcard is never covered by what starts with this or that word.
            (Some(_), None) => false,
            (None, _) => true,
        };
        let parts = entry.parts.iter().flatten().filter(near);
        parts
            .filter_map(|part| {
                let under = self.under(part)?;
                if open.is_empty() {
                    return Some(under);
                }
                let mut under = (*under).clone();
                open.iter()
                    .all(|need| self.needed(need, &mut under))
                    .then(|| Rc::new(under))
            })
            .collect()
    }

    fn by(
        &self,
        by: By,
        space: Space,
        narrow: &Entry<'_>,
        keys: Option<&[Key]>,
    ) -> Vec<Rc<Language>> {
        match by {
            By::Entry(at) => match self.entries.get(at) {
                // A rule about a tool meets every access of it, if what it needs is given.
                Some(own)
                    if matches!(own.compiled.rule.judges, Judges::Tool) && space != Space::Tool =>
                {
                    let given = own.needs.iter().all(|need| need.follows(&narrow.needs));
                    let every = self.dfa(&Shape::parts()).filter(|_| given);
                    let every = every.map(|dfa| Language {
                        is: vec![dfa],
                        not: Vec::new(),
                    });
                    every.map(Rc::new).into_iter().collect()
                }
                Some(own) => self.hiders(own, narrow, keys),
                None => Vec::new(),
            },
            By::Protected(at) => {
                let shapes = self.protected.get(at).into_iter().flatten();
                let languages = shapes.filter_map(|own| self.language(own));
                languages.map(Rc::new).collect()
            }
        }
    }

    /// The entries worth comparing with an entry: a literal start tells most apart.
    fn near(&self, entry: &Entry<'_>, wanted: impl Fn(&Entry<'m>) -> bool) -> Vec<By> {
        self.near_at(entry, |_, other| wanted(other))
    }

    fn near_at(&self, entry: &Entry<'_>, wanted: impl Fn(usize, &Entry<'m>) -> bool) -> Vec<By> {
        let mut found = self.loose.clone();
        for pattern in &entry.written.patterns {
            for key in keys(pattern, &self.scene, true).into_iter().flatten() {
                found.extend(self.keyed.get(&key).into_iter().flatten());
            }
        }
        found.sort_unstable();
        found.dedup();
        let kind = std::mem::discriminant(&entry.compiled.rule.judges);
        found.retain(|at| {
            self.entries.get(*at).is_some_and(|other| {
                let judges = &other.compiled.rule.judges;
                (std::mem::discriminant(judges) == kind || matches!(judges, Judges::Tool))
                    && wanted(*at, other)
            })
        });
        found.into_iter().map(By::Entry).collect()
    }

    // --- claims

    /// Whether some of `by` take all that an entry takes, and a call that shows it.
    fn taken(
        &self,
        entry: &Entry<'_>,
        mut by: Vec<By>,
        claim: Claim,
        in_workspace: bool,
    ) -> Answer<Hidden> {
        loop {
            let taking = match self.takes_in(entry, &by, in_workspace) {
                Answer::Yes(taking) if !taking.is_empty() => {
                    self.fewest(entry, taking, in_workspace)
                }
                Answer::Unknown => return Answer::Unknown,
                _ => return Answer::No,
            };
            // An allow covers what its words name: a narrower one may cover more, and what it leaves goes on.
            let leaving: Vec<By> = taking
                .iter()
                .filter(|by| self.leaves(**by, entry, claim))
                .copied()
                .collect();
            if leaving.is_empty() {
                return match self.shown(entry, &taking, claim, in_workspace) {
                    Some(witness) => Answer::Yes(Hidden {
                        by: taking,
                        witness,
                        in_workspace,
                    }),
                    None => Answer::No,
                };
            }
            by.retain(|own| !leaving.contains(own));
        }
    }

    /// Which of `by` take part in taking all that an entry takes.
    fn takes(&self, entry: &Entry<'_>, by: &[By]) -> Answer<BTreeSet<By>> {
        self.takes_in(entry, by, false)
    }

    fn takes_in(&self, entry: &Entry<'_>, by: &[By], in_workspace: bool) -> Answer<BTreeSet<By>> {
        let mut taking = BTreeSet::new();
        for space in entry.spaces() {
            let by: Vec<By> = by
                .iter()
                .filter(|by| self.reaches(**by, space))
                .copied()
                .collect();
            if by.is_empty() {
                return Answer::No;
            }
            let Some(sets) = self.sets(entry, space, &by) else {
                return Answer::Unknown;
            };
            for (at, part) in entry.parts.iter().enumerate() {
                let wanted = part.as_ref().and_then(|part| self.wanted(part, space));
                let Some(mut wanted) = wanted else {
                    return Answer::No;
                };
                if in_workspace {
                    wanted
                        .is
                        .extend(self.dfa(&encode::inside(&self.scene.folders)));
                }
                let pattern = entry.written.patterns.get(at);
                let keys = pattern.and_then(|own| keys(own, &self.scene, true));
                let all: Vec<(By, Rc<Language>)> = by
                    .iter()
                    .flat_map(|by| {
                        let own = self.by(*by, space, entry, keys.as_deref()).into_iter();
                        own.map(|language| (*by, language))
                    })
                    .collect();
                for on in &sets {
                    let on: Vec<&(By, Rc<Language>)> =
                        all.iter().filter(|(by, _)| on.contains(by)).collect();
                    if on.is_empty() {
                        return Answer::No;
                    }
                    let others = on.iter().map(|(_, own)| Rc::clone(own)).collect();
                    match Search::new(&self.alphabet, wanted.clone(), others).next() {
                        Found::Nothing(some) => {
                            taking
                                .extend(some.iter().filter_map(|at| on.get(*at)).map(|own| own.0));
                        }
                        Found::Word(_) => return Answer::No,
                        Found::GaveUp => return Answer::Unknown,
                    }
                }
            }
        }
        Answer::Yes(taking)
    }

    fn reaches(&self, by: By, space: Space) -> bool {
        match by {
            By::Entry(at) => self.entries.get(at).is_some_and(|own| {
                matches!(own.compiled.rule.judges, Judges::Tool) || own.spaces().contains(&space)
            }),
            By::Protected(at) => self.matcher.protected.get(at).is_some_and(|set| {
                let mut modes = set.paths.modes.iter();
                modes.any(|mode| space == Space::Paths(*mode))
            }),
        }
    }

    /// For each tool and each combination of facts under which an entry is on: which of the others are. Equal ones once.
    fn sets(&self, entry: &Entry<'_>, space: Space, by: &[By]) -> Option<BTreeSet<BTreeSet<By>>> {
        let rule_of = |by: &By| match by {
            By::Entry(at) => self.entries.get(*at).map(|own| &own.compiled.rule),
            By::Protected(_) => None,
        };
        let own = &entry.compiled.rule;
        let all = by.iter().filter_map(rule_of).chain([own]);
        let free =
            |rule: &Rule| rule.tools.is_empty() && rule.when.is_empty() && rule.unless.is_empty();
        if all.clone().all(free) {
            return Some(BTreeSet::from([by.iter().copied().collect()]));
        }
        // Where the facts are too many, what depends on others than its own hides nothing for sure.
        let mut counted: Vec<By> = by.to_vec();
        let facts = situation::combinations(self.matcher, all).or_else(|| {
            let asked: BTreeSet<&[String]> = situation::facts_of(own).collect();
            let known = |rule: &Rule| situation::facts_of(rule).all(|fact| asked.contains(fact));
            counted.retain(|by| rule_of(by).is_none_or(known));
            let left = counted.iter().filter_map(rule_of).chain([own]);
            situation::combinations(self.matcher, left)
        })?;
        let mut sets = BTreeSet::new();
        for tool in self.tools(entry, space) {
            for facts in &facts {
                let on = |rule: &Rule| self.is_on(rule, space, &tool, facts);
                if on(own) {
                    let on = counted.iter().filter(|by| rule_of(by).is_none_or(on));
                    sets.insert(on.copied().collect());
                }
            }
        }
        Some(sets)
    }

    /// Whether a rule is on; what its patterns say of the tool, where that is the word, apart.
    fn is_on(&self, rule: &Rule, space: Space, tool: &str, facts: &Facts) -> bool {
        let named = space == Space::Tool
            || rule.tools.is_empty()
            || rule.tools.iter().any(|own| own.matches_text(tool, false));
        named && self.matcher.facts_hold(rule, facts, &mut Vec::new())
    }

    /// The tools by which an access of an entry can be made, the plainest first.
    fn tools(&self, entry: &Entry<'_>, space: Space) -> Vec<String> {
        if space == Space::Tool {
            return vec![String::new()];
        }
        let rule = &entry.compiled.rule;
        tools_that(self.matcher, space)
            .into_iter()
            .filter(|name| {
                rule.tools.is_empty() || rule.tools.iter().any(|own| own.matches_text(name, false))
            })
            .collect()
    }

    /// As few as still take all: one, where one does.
    fn fewest(&self, entry: &Entry<'_>, taking: BTreeSet<By>, in_workspace: bool) -> Vec<By> {
        let mut left: Vec<By> = taking.into_iter().collect();
        let alone = left
            .iter()
            .find(|own| matches!(self.takes_in(entry, &[**own], in_workspace), Answer::Yes(some) if !some.is_empty()));
        if let Some(alone) = alone {
            return vec![*alone];
        }
        let mut at = 0;
        while at < left.len() && left.len() <= 16 {
            let mut fewer = left.clone();
            fewer.remove(at);
            match self.takes_in(entry, &fewer, in_workspace) {
                Answer::Yes(_) => left = fewer,
                _ => at += 1,
            }
        }
        left
    }

    fn leaves(&self, by: By, entry: &Entry<'_>, claim: Claim) -> bool {
        let By::Entry(at) = by else { return false };
        let Some(wide) = self.entries.get(at) else {
            return false;
        };
        if wide.action() != Verdict::Allow
            || !matches!(wide.compiled.rule.judges, Judges::Commands(_))
        {
            return false;
        }
        let (wide, narrow) = (
            encode::commands_of(&wide.written),
            encode::commands_of(&entry.written),
        );
        narrow.iter().any(|narrow| {
            // What is no option is hardly an escalation of the wider one, where the question is who comes first.
            !(claim == Claim::Late && sample::plainly(narrow))
                && wide.iter().all(|wide| sample::names_more(wide, narrow))
        })
    }

    /// A call that shows a claim.
    fn shown(
        &self,
        entry: &Entry<'_>,
        by: &[By],
        claim: Claim,
        in_workspace: bool,
    ) -> Option<Witness> {
        let entries: Vec<&Entry<'m>> = by
            .iter()
            .filter_map(|by| match by {
                By::Entry(at) => self.entries.get(*at),
                By::Protected(_) => None,
            })
            .collect();
        let keys: Vec<String> = by
            .iter()
            .filter_map(|by| match by {
                By::Entry(at) => self.entries.get(*at).map(|own| own.compiled.key.clone()),
                By::Protected(at) => {
                    let set = self.matcher.protected.get(*at)?;
                    Some(format!("protected.{}", set.name))
                }
            })
            .collect();
        let shows = |decision: &Decision| {
            let mut judged = decision.judged.iter();
            judged.any(|judged| {
                let Some(lost) = fits(judged, entry.rule) else {
                    return false;
                };
                let others = || {
                    entries
                        .iter()
                        .any(|own| fits(judged, own.rule) == Some(false))
                };
                match claim {
                    Claim::Late => lost && others(),
                    Claim::Again => !lost && others(),
                    Claim::Stricter => {
                        judged.verdict > entry.action()
                            && judged.because.iter().any(|(key, _)| keys.contains(key))
                    }
                }
            })
        };
        entry.spaces().into_iter().find_map(|space| {
            self.sampled(entry, space)
                .into_iter()
                .find_map(|mut sampled| {
                    if in_workspace {
                        sampled
                            .is
                            .extend(self.dfa(&encode::inside(&self.scene.folders)));
                    }
                    let mut search = Search::new(&self.alphabet, sampled, Vec::new());
                    (0..TRIES).find_map(|_| match search.next() {
                        Found::Word(word) => self.tried(entry, space, &word, &entries, &shows),
                        _ => None,
                    })
                })
        })
    }

    /// A call of a word that the real matcher decides as it should, with any tool and facts that turn the rules on.
    fn tried(
        &self,
        entry: &Entry<'_>,
        space: Space,
        word: &str,
        others: &[&Entry<'m>],
        shows: &dyn Fn(&Decision) -> bool,
    ) -> Option<Witness> {
        let own = &entry.compiled.rule;
        let rules = others.iter().map(|other| &other.compiled.rule).chain([own]);
        let facts =
            situation::combinations(self.matcher, rules).unwrap_or_else(|| vec![Facts::new()]);
        for tool in self.tools(entry, space).iter().take(8) {
            for facts in facts
                .iter()
                .filter(|facts| self.is_on(own, space, tool, facts))
            {
                let needs = &entry.needs;
                let call = self
                    .scene
                    .call(self.matcher, space, word, tool, facts, needs);
                if let Some(witness) = call
                    && shows(&decide(self.matcher, &witness.call, &FileView::None))
                {
                    return Some(witness);
                }
            }
        }
        None
    }
}

/// Whether a rule surely fits what was judged, and whether it lost.
fn fits(judged: &Judged, rule: usize) -> Option<bool> {
    let mut matched = judged.matched.iter();
    let own = matched.find(|own| own.rule == rule && own.fit == Fit::Must)?;
    Some(own.lost.is_some())
}

/// The tools that make such an access by an argument, the canonical ones first.
fn tools_that(matcher: &Matcher, space: Space) -> Vec<String> {
    let mut names = matcher.tool_names();
    names.sort_by_key(|name| (!crate::call::tools::names().any(|own| own == *name), *name));
    names.dedup();
    let does = |name: &&str| {
        let declared = matcher.declaration(name);
        declared.is_some_and(|own| witness::argument(own, space).is_some())
    };
    names.into_iter().filter(does).map(str::to_owned).collect()
}

/// What a pattern is found by, or with `looks` finds others by: its literal start. None: it is compared with all.
fn keys(pattern: &Pattern<'_>, scene: &Scene, looks: bool) -> Option<Vec<Key>> {
    let keys = match pattern {
        Pattern::Command(command) => {
            let program = command.words.first().and_then(literal);
            let program = program.filter(|own| !own.contains('/'))?;
            let named = if looks {
                names(&program)
            } else {
                vec![program.as_str()]
            };
            named
                .into_iter()
                .map(|name| ('c', name.to_owned()))
                .collect()
        }
        Pattern::Path(path) => {
            let first = literal(path.components.first()?)?.to_lowercase();
            let folders = scene.folders.roots.iter().chain([&scene.folders.home]);
            let mut leads = folders.filter_map(|folder| folder.first());
            vec![match path.anchor {
                Anchor::Root => ('r', first),
                Anchor::Home => ('~', first),
                Anchor::Absolute if !leads.any(|lead| lead.to_lowercase() == first) => ('a', first),
                Anchor::Absolute | Anchor::Name => return None,
            }]
        }
        Pattern::Host(host) => match &host.host {
            HostName::Any => return None,
            HostName::Exact(name) | HostName::Below(name) if looks => {
                let dots = name.match_indices('.').map(|(at, _)| at + 1);
                let ends = std::iter::once(0).chain(dots);
                ends.filter_map(|at| Some(('h', name.get(at..)?.to_owned())))
                    .collect()
            }
            HostName::Exact(name) | HostName::Below(name) => vec![('h', name.clone())],
        },
        Pattern::Tool(_) => return None,
    };
    Some(keys)
}

fn literal(word: &WordPattern) -> Option<String> {
    match word {
        WordPattern::Word(glob) => Glob::as_literal(glob),
        WordPattern::Any => None,
    }
}

fn invariants(matcher: &Matcher) -> impl Iterator<Item = &Invariant> {
    let files = matcher.policy.layers.iter().flat_map(|layer| &layer.files);
    files.flat_map(|file| &file.invariants)
}

/// The entries of what an invariant says never is.
fn invariant_entries(invariant: &Invariant, scene: &Scene, mut look: impl FnMut(&Entry<'_>)) {
    let compiled = Compiled {
        rule: invariant.never.clone(),
        layer: usize::MAX,
        key: invariant.id.clone(),
    };
    for text in written(&compiled.rule) {
        look(&Entry::of(usize::MAX, &compiled, text, scene));
    }
}

#[cfg(test)]
mod tests;
