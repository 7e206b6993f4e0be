//! A matcher → [`Rules`]: all its entries, their automata made when they are asked for, and which of them may meet.

use super::dfa::Dfa;
use super::encode::{self, Need, Shapes, Space};
use super::entry::{Entry, Key, Part, keys};
use super::hidden::By;
use super::shape::{Alphabet, BREAK, Chars, Shape};
use super::situation::{self, Facts};
use super::witness::{self, Scene};
use super::words::Language;
use super::{Written, written};
use crate::call::access::Mode;
use crate::matcher::quick::HashMap;
use crate::matcher::{Compiled, Matcher};
use crate::policy::rule::{Invariant, Judges, Protected as PolicySet, Rule};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The rules of a policy as languages.
#[derive(Debug)]
pub struct Rules<'m> {
    pub(super) matcher: &'m Matcher,
    pub(super) scene: Scene,
    pub(super) entries: Vec<Entry<'m>>,
    pub(super) protected: Vec<Vec<Protected>>,
    plain: BTreeMap<(Space, bool), Fixed>,
    /// What lies in a root.
    inside: Fixed,
    /// Every word.
    every: Fixed,
    pub(super) alphabet: Alphabet,
    made: RefCell<HashMap<Shape, Option<Rc<Dfa>>>>,
    /// Entries whose first words are literal, by these.
    keyed: HashMap<Key, Vec<usize>>,
    /// All others.
    loose: Vec<usize>,
}

/// A pattern of protected files, and what it takes at least.
#[derive(Debug)]
pub struct Protected {
    shapes: Shapes,
    made: OnceCell<Option<Rc<Language>>>,
}

/// A language that no rule changes.
#[derive(Debug)]
struct Fixed {
    shape: Shape,
    made: OnceCell<Option<Rc<Dfa>>>,
}

impl Fixed {
    const fn of(shape: Shape) -> Self {
        let made = OnceCell::new();
        Self { shape, made }
    }
}

impl<'m> Rules<'m> {
    /// The rules of a policy.
    pub fn of(matcher: &'m Matcher) -> Self {
        Self::set(matcher, Scene::of(&[matcher]))
    }

    /// The same in a scene that fits some policies at once.
    pub(super) fn set(matcher: &'m Matcher, scene: Scene) -> Self {
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
        let patterns = |set: &PolicySet| -> Vec<Protected> {
            let shapes = encode::protected(&set.paths, &scene.folders).into_iter();
            let made = OnceCell::new;
            shapes
                .map(|shapes| Protected {
                    shapes,
                    made: made(),
                })
                .collect()
        };
        let protected: Vec<Vec<Protected>> = sets.map(patterns).collect();
        let plain = BTreeMap::from([
            ((Space::Tool, false), encode::plain_tool()),
            ((Space::Commands, false), encode::plain_command(false)),
            ((Space::Commands, true), encode::plain_command(true)),
            ((Space::Paths(Mode::Read), false), encode::plain_path()),
            ((Space::Paths(Mode::Write), false), encode::plain_path()),
            ((Space::Hosts, false), scene.hosts.clone()),
        ]);
        let mut chars = Chars::default();
        chars.insert('-');
        entries.iter().for_each(|entry| entry.chars(&mut chars));
        plain.values().for_each(|shape| shape.chars(&mut chars));
        for own in protected.iter().flatten() {
            own.shapes.chars(&mut chars);
        }
        let inside = encode::inside(&scene.folders);
        inside.chars(&mut chars);
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
        let mut keyed: HashMap<Key, Vec<usize>> = HashMap::default();
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
            plain: plain
                .into_iter()
                .map(|(of, shape)| (of, Fixed::of(shape)))
                .collect(),
            inside: Fixed::of(inside),
            every: Fixed::of(Shape::parts()),
            alphabet: Alphabet::of(&chars),
            made: RefCell::default(),
            keyed,
            loose,
        }
    }

    /// All entries, in the order of the rules.
    pub fn entries(&self) -> &[Entry<'m>] {
        &self.entries
    }

    pub(super) fn dfa(&self, shape: &Shape) -> Option<Rc<Dfa>> {
        if let Some(known) = self.made.borrow().get(shape) {
            return known.clone();
        }
        let made = Dfa::of(shape, &self.alphabet).map(Rc::new);
        self.made.borrow_mut().insert(shape.clone(), made.clone());
        made
    }

    fn fixed(&self, own: &Fixed) -> Option<Rc<Dfa>> {
        own.made.get_or_init(|| self.dfa(&own.shape)).clone()
    }

    /// What lies in a root.
    pub(super) fn inside_roots(&self) -> Option<Rc<Dfa>> {
        self.fixed(&self.inside)
    }

    /// Every word.
    pub(super) fn everything(&self) -> Option<Rc<Dfa>> {
        self.fixed(&self.every)
    }

    pub(super) fn language(&self, shapes: &Shapes) -> Option<Language> {
        let all = |own: &[Shape]| -> Option<Vec<Rc<Dfa>>> {
            own.iter().map(|shape| self.dfa(shape)).collect()
        };
        Some(Language {
            is: all(&shapes.is)?,
            not: all(&shapes.not)?,
        })
    }

    pub(super) fn over(&self, part: &Part) -> Option<Rc<Language>> {
        let make = || self.language(&part.encoded.over).map(Rc::new);
        part.over.get_or_init(make).clone()
    }

    pub(super) fn under(&self, part: &Part) -> Option<Rc<Language>> {
        let make = || self.language(&part.encoded.under).map(Rc::new);
        part.under.get_or_init(make).clone()
    }

    /// All that a pattern may take, plainly spelled.
    pub(super) fn wanted(&self, part: &Part, space: Space) -> Option<Language> {
        let plain = self.plain(part.encoded.by_path, space)?;
        Some((*self.over(part)?).clone().and(&plain))
    }

    /// A word that a pattern takes, plainly spelled, as far as one is found without an automaton of the pattern.
    pub(super) fn drawn(&self, part: &Part, space: Space) -> Option<Vec<usize>> {
        let Shapes { is, not } = &part.encoded.over;
        let (shape, more) = is.split_first()?;
        let mut word = shape.sample(&self.alphabet)?;
        for need in more {
            // A word that is needed somewhere stands behind the others.
            let own = need.sample(&self.alphabet)?;
            let start = self.alphabet.index(BREAK)?;
            let at = own.iter().rposition(|symbol| *symbol == start)?;
            word.extend(own.get(at..)?);
        }
        let text: Vec<char> = self.alphabet.text(&word).chars().collect();
        if !more.iter().all(|own| own.takes(&text)) || not.iter().any(|own| own.takes(&text)) {
            return None;
        }
        let plain = self.plain(part.encoded.by_path, space)?;
        ((more.is_empty() || shape.takes(&text)) && plain.takes(&word)).then_some(word)
    }

    pub(super) fn plain(&self, by_path: bool, space: Space) -> Option<Language> {
        let fixed = self
            .plain
            .get(&(space, by_path && space == Space::Commands))?;
        Some(Language {
            is: vec![self.fixed(fixed)?],
            not: Vec::new(),
        })
    }

    /// What a pattern of an entry takes as it would be typed: the words that it needs are there.
    pub(super) fn typed(&self, entry: &Entry<'_>, part: &Part, space: Space) -> Option<Language> {
        let plain = self.plain(part.encoded.by_path, space)?;
        let mut own = (*self.under(part)?).clone().and(&plain);
        for need in &entry.needs {
            self.needed(need, &mut own);
        }
        Some(own)
    }

    /// The same with any options that are none of those that it must not have.
    pub(super) fn likely(&self, entry: &Entry<'_>, part: &Part, space: Space) -> Option<Language> {
        let plain = self.plain(part.encoded.by_path, space)?;
        let mut own = (*self.under(part)?).clone().and(&plain);
        for need in &entry.needs {
            let dfa = need.shape(true).and_then(|shape| self.dfa(&shape));
            match need {
                Need::Without(_) => own.not.extend(dfa),
                _ => own.is.extend(dfa),
            }
        }
        Some(own)
    }

    /// What every pattern of an entry takes as it would be typed.
    pub(super) fn sampled(&self, entry: &Entry<'_>, space: Space) -> Vec<Language> {
        let parts = entry.parts.iter().flatten();
        parts
            .filter_map(|part| self.typed(entry, part, space))
            .collect()
    }

    /// What turns an entry off: the words that it must not have, those that it must, left out, and what it carves out.
    pub(super) fn beside(&self, entry: &Entry<'_>) -> Vec<(bool, Rc<Dfa>)> {
        let needs = entry.needs.iter().filter_map(|need| {
            let dfa = self.dfa(&need.shape(true)?)?;
            Some((matches!(need, Need::Without(_)), dfa))
        });
        let parts = entry.parts.iter().flatten();
        let carved =
            parts.flat_map(|part| part.encoded.over.not.iter().chain(&part.encoded.under.not));
        let carved = carved.filter_map(|shape| Some((true, self.dfa(shape)?)));
        needs.chain(carved).collect()
    }

    /// Adds what a need asks of the words; false where these do not tell.
    pub(super) fn needed(&self, need: &Need<'_>, own: &mut Language) -> bool {
        let without = matches!(need, Need::Without(_));
        let shape = need.shape(!without).and_then(|shape| self.dfa(&shape));
        let list = if without { &mut own.not } else { &mut own.is };
        let told = shape.is_some();
        list.extend(shape);
        told
    }

    /// What the patterns of an entry surely take of what a pattern of another takes, of which these needs are known.
    pub(super) fn hiders(
        &self,
        entry: &Entry<'_>,
        given: &[Need<'_>],
        keys: Option<&[Key]>,
    ) -> Vec<Rc<Language>> {
        let near = |part: &&Part| match (&part.keys, keys) {
            (Some(own), Some(keys)) => own.iter().any(|key| keys.contains(key)),
            // What starts with a wildcard is never covered by what starts with this or that word.
            (Some(_), None) => false,
            (None, _) => true,
        };
        let mut parts = entry.parts.iter().flatten().filter(near).peekable();
        if parts.peek().is_none() {
            return Vec::new();
        }
        let needs = entry.needs.iter();
        let open: Vec<&Need<'_>> = needs.filter(|need| !need.follows(given)).collect();
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

    pub(super) fn by(
        &self,
        by: By,
        space: Space,
        given: &[Need<'_>],
        keys: Option<&[Key]>,
    ) -> Vec<Rc<Language>> {
        match by {
            By::Entry(at) => match self.entries.get(at) {
                // A rule about a tool meets every access of it, if what it needs is given.
                Some(own)
                    if matches!(own.compiled.rule.judges, Judges::Tool) && space != Space::Tool =>
                {
                    let on = own.needs.iter().all(|need| need.follows(given));
                    let every = self.everything().filter(|_| on);
                    let every = every.map(|dfa| Language {
                        is: vec![dfa],
                        not: Vec::new(),
                    });
                    every.map(Rc::new).into_iter().collect()
                }
                Some(own) => self.hiders(own, given, keys),
                None => Vec::new(),
            },
            By::Protected(at) => {
                let own = self.protected.get(at).into_iter().flatten();
                let make = |own: &Protected| self.language(&own.shapes).map(Rc::new);
                own.filter_map(|own| own.made.get_or_init(|| make(own)).clone())
                    .collect()
            }
        }
    }

    /// The entries worth comparing with an entry: a literal start tells most apart.
    pub(super) fn near(&self, entry: &Entry<'_>, wanted: impl Fn(&Entry<'m>) -> bool) -> Vec<By> {
        self.near_at(entry, |_, other| wanted(other))
    }

    pub(super) fn near_at(
        &self,
        entry: &Entry<'_>,
        wanted: impl Fn(usize, &Entry<'m>) -> bool,
    ) -> Vec<By> {
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
                    && !other.goes_on_otherwise(entry)
                    && wanted(*at, other)
            })
        });
        found.into_iter().map(By::Entry).collect()
    }

    pub(super) fn reaches(&self, by: By, space: Space) -> bool {
        match by {
            By::Entry(at) => self
                .entries
                .get(at)
                .is_some_and(|own| encode::reaches(&own.compiled.rule, space)),
            By::Protected(at) => self.matcher.protected.get(at).is_some_and(|set| {
                let mut modes = set.paths.modes.iter();
                modes.any(|mode| space == Space::Paths(*mode))
            }),
        }
    }

    /// For each tool and each combination of facts under which an entry is on: which of the others are. Equal ones once.
    pub(super) fn sets(
        &self,
        entry: &Entry<'_>,
        space: Space,
        by: &[By],
    ) -> Option<BTreeSet<BTreeSet<By>>> {
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
    pub(super) fn is_on(&self, rule: &Rule, space: Space, tool: &str, facts: &Facts) -> bool {
        let named = space == Space::Tool
            || rule.tools.is_empty()
            || rule.tools.iter().any(|own| own.matches_text(tool, false));
        named && self.matcher.facts_hold(rule, facts, &mut Vec::new())
    }

    /// The tools by which an access of an entry can be made, the plainest first.
    pub(super) fn tools(&self, entry: &Entry<'_>, space: Space) -> Vec<String> {
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
}

/// The tools that make such an access by an argument, the canonical ones first.
pub fn tools_that(matcher: &Matcher, space: Space) -> Vec<String> {
    let mut names = matcher.tool_names();
    names.sort_by_key(|name| (!crate::call::tools::names().any(|own| own == *name), *name));
    names.dedup();
    let does = |name: &&str| {
        let declared = matcher.declaration(name);
        declared.is_some_and(|own| witness::argument(own, space).is_some())
    };
    names.into_iter().filter(does).map(str::to_owned).collect()
}

/// The invariants of all files.
pub fn invariants(matcher: &Matcher) -> impl Iterator<Item = &Invariant> {
    let files = matcher.policy.layers.iter().flat_map(|layer| &layer.files);
    files.flat_map(|file| &file.invariants)
}

/// The entries of what an invariant says never is.
pub fn invariant_entries(invariant: &Invariant, scene: &Scene, mut look: impl FnMut(&Entry<'_>)) {
    let compiled = Compiled {
        rule: invariant.never.clone(),
        layer: usize::MAX,
        key: invariant.id.clone(),
    };
    for text in written(&compiled.rule) {
        look(&Entry::of(usize::MAX, &compiled, text, scene));
    }
}
