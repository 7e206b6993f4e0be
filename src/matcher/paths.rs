//! Path patterns against located paths, and the index that finds the patterns worth trying.
//!
//! In: patterns of rules, a [`Located`] path. Out: how they fit. Deny, ask and protected fold letter case and are
//! met by any spelling; an allow needs all. With 10,000 patterns a known path tries a handful.

use super::located::{Located, Part, Spelling};
use super::quick::HashMap;
use crate::call::access::Reach;
use crate::call::word::Piece;
use crate::policy::glob::{Fit, Glob};
use crate::policy::patterns::{Anchor, PathPattern, WordPattern};
use crate::policy::rule::Paths;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Whether a rule loosens or tightens: that decides what counts as a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// An allow: exact letter case, every spelling, inside the roots for what is relative.
    Loosens,
    /// Deny, ask, protected: case folded, any spelling, a name without a slash anywhere.
    Tightens,
}

impl Stance {
    const fn fold(self) -> bool {
        matches!(self, Self::Tightens)
    }
}

/// How patterns with exceptions fit a path.
pub fn fit(paths: &Paths, located: &Located, stance: Stance) -> Fit {
    fit_of(paths, located, stance, |_| true)
}

/// How those of the patterns fit that count.
pub fn fit_of(
    paths: &Paths,
    located: &Located,
    stance: Stance,
    counts: impl Fn(&PathPattern) -> bool,
) -> Fit {
    if stance == Stance::Loosens && !paths.except.is_empty() {
        // What is carved out of an allow is kept as a deny would keep it: letter case folded, any spelling, what only
        // may be it, and what lies below a folder that is allowed with all below it.
        let kept = |spelling: &Spelling| {
            let own = any(&paths.except, spelling, located, Stance::Tightens, false);
            let inside = match below(located) {
                true => any_below(&paths.except, spelling, located, false),
                false => Fit::No,
            };
            own.or(inside).may()
        };
        if located.spellings.iter().any(kept) {
            return Fit::No;
        }
    }
    let one = |spelling: &Spelling| {
        let own = paths.patterns.iter().filter(|pattern| counts(pattern));
        let best = best(
            own,
            spelling.parts(),
            spelling,
            located,
            stance,
            paths.exact,
        );
        if best == Fit::No {
            return Fit::No;
        }
        match (stance, any(&paths.except, spelling, located, stance, false)) {
            (Stance::Tightens, Fit::Must) => Fit::No,
            _ => best,
        }
    };
    match stance {
        Stance::Tightens => located.spellings.iter().map(one).max().unwrap_or(Fit::No),
        Stance::Loosens => located
            .spellings
            .iter()
            .take(located.own)
            .map(one)
            .min()
            .unwrap_or(Fit::No),
    }
}

/// How tightening patterns may fit something below a path that is touched with all below it; the path itself apart.
pub fn fit_below(paths: &Paths, located: &Located) -> Fit {
    if !below(located) {
        return Fit::No;
    }
    let one = |spelling: &Spelling| any_below(&paths.patterns, spelling, located, paths.exact);
    located
        .spellings
        .iter()
        .map(one)
        .max()
        .unwrap_or(Fit::No)
        .min(Fit::MayPattern)
}

fn below(located: &Located) -> bool {
    located.reach != Reach::Itself
}

/// The best fit of any pattern with one spelling.
pub fn any(
    patterns: &[PathPattern],
    spelling: &Spelling,
    located: &Located,
    stance: Stance,
    exact: bool,
) -> Fit {
    let patterns = patterns.iter();
    best(patterns, spelling.parts(), spelling, located, stance, exact)
}

fn any_below(patterns: &[PathPattern], spelling: &Spelling, located: &Located, exact: bool) -> Fit {
    let (patterns, parts) = (patterns.iter(), spelling.with_below());
    best(patterns, parts, spelling, located, Stance::Tightens, exact)
}

fn best<'p>(
    patterns: impl Iterator<Item = &'p PathPattern>,
    parts: &[Part],
    spelling: &Spelling,
    located: &Located,
    stance: Stance,
    exact: bool,
) -> Fit {
    let mut best = Fit::No;
    for pattern in patterns {
        best = best.max(one(pattern, parts, spelling, located, stance, exact));
        if best == Fit::Must {
            break;
        }
    }
    best
}

fn one(
    pattern: &PathPattern,
    parts: &[Part],
    spelling: &Spelling,
    located: &Located,
    stance: Stance,
    exact: bool,
) -> Fit {
    // The kind of the last component; what lies below it is not it.
    let folder = if parts.len() == spelling.parts().len() {
        located.folder
    } else {
        None
    };
    let asks = Asks {
        directory: pattern.directory,
        exact,
        folder,
        fold: stance.fold(),
    };
    let from = |count: usize| parts.get(count..).unwrap_or_default();
    match pattern.anchor {
        Anchor::Absolute => walk(&pattern.components, parts, &asks),
        Anchor::Home => match (spelling.home, parts.first()) {
            (Some(count), _) => walk(&pattern.components, from(count), &asks),
            (None, Some(Part::Gap)) => walk(&pattern.components, parts, &asks).min(Fit::MayUnknown),
            _ => Fit::No,
        },
        Anchor::Root => {
            let inside = spelling
                .roots
                .iter()
                .map(|count| walk(&pattern.components, from(*count), &asks))
                .max();
            match (inside, parts.first()) {
                (Some(fit), _) => fit,
                (None, Some(Part::Gap)) => {
                    walk(&pattern.components, parts, &asks).min(Fit::MayUnknown)
                }
                _ => Fit::No,
            }
        }
        Anchor::Name => {
            let inside = spelling
                .roots
                .iter()
                .map(|count| name(pattern, from(*count), &asks))
                .max();
            match (inside, stance) {
                (Some(fit), _) => fit,
                (None, Stance::Tightens) => name(pattern, parts, &asks),
                (None, Stance::Loosens) => Fit::No,
            }
        }
    }
}

/// What a pattern asks besides its components.
struct Asks {
    directory: bool,
    exact: bool,
    folder: Option<bool>,
    fold: bool,
}

impl Asks {
    /// The pattern ended with `left` components to go.
    fn ended(&self, left: usize) -> Fit {
        match (left, self.directory) {
            (0, false) => Fit::Must,
            (0, true) => self.folder.map_or(Fit::MayPattern, Fit::from),
            (_, _) => (!self.exact).into(),
        }
    }
}

/// A name at any depth.
fn name(pattern: &PathPattern, parts: &[Part], asks: &Asks) -> Fit {
    (0..parts.len())
        .map(|at| {
            walk(
                &pattern.components,
                parts.get(at..).unwrap_or_default(),
                asks,
            )
        })
        .max()
        .unwrap_or(Fit::No)
}

/// Parts of a path for which no memory is asked.
const FEW: usize = 16;

/// Components of a pattern against parts of a path; the pattern covers what lies below where it ends.
fn walk(pattern: &[WordPattern], parts: &[Part], asks: &Asks) -> Fit {
    // What a pattern covers goes on below it: `**` at its end says nothing more.
    let pattern = match pattern {
        [rest @ .., WordPattern::Any] if !asks.exact && !asks.directory => rest,
        all => all,
    };
    let gaps = pattern.iter().any(|word| matches!(word, WordPattern::Any));
    // Known parts against patterns without `**` are the common case: no table is needed.
    if !gaps && parts.iter().all(|part| matches!(part, Part::Known(_))) {
        if pattern.len() > parts.len() {
            return Fit::No;
        }
        let all = pattern
            .iter()
            .zip(parts)
            .all(|(word, part)| component(word, part, asks.fold) == Fit::Must);
        return match all {
            true => asks.ended(parts.len() - pattern.len()),
            false => Fit::No,
        };
    }
    // An unknown start may be all that the pattern names, and what is known lies below it. No more can be said, for a
    // word of the pattern has to be in it.
    let unknown = matches!(parts.first(), Some(Part::Gap));
    if unknown && !gaps && !pattern.is_empty() && !asks.exact {
        return Fit::MayUnknown;
    }
    // fits[j]: the fit of pattern[i..] with parts[j..], filled from the end of the pattern to its start.
    let ends = parts.len();
    let (mut short, mut long) = ([Fit::No; 2 * FEW], Vec::new());
    let both = if ends < FEW {
        &mut short[..]
    } else {
        long.resize(2 * (ends + 1), Fit::No);
        &mut long[..]
    };
    let (fits, next) = both.split_at_mut(both.len() / 2);
    let mut fits = fits.get_mut(..=ends).unwrap_or_default();
    let mut next = next.get_mut(..=ends).unwrap_or_default();
    for (at, fit) in fits.iter_mut().enumerate() {
        let rest = parts.get(at..).unwrap_or_default();
        let open = |part: &Part| matches!(part, Part::Below { .. } | Part::Gap);
        *fit = match !rest.is_empty() && rest.iter().all(open) {
            // An open part may be no component at all, or some.
            true if asks.ended(0) == asks.ended(1) => asks.ended(0),
            true => open_fit(rest),
            false => asks.ended(rest.len()),
        };
    }
    for word in pattern.iter().rev() {
        for at in (0..=ends).rev() {
            let here = fits.get(at).copied().unwrap_or(Fit::No);
            let ahead = fits.get(at + 1).copied().unwrap_or(Fit::No);
            let later = next.get(at + 1).copied().unwrap_or(Fit::No);
            let best = match (word, parts.get(at)) {
                (WordPattern::Any, _) => here.max(later),
                (WordPattern::Word(_), None) => Fit::No,
                (WordPattern::Word(glob), Some(part @ (Part::Below { .. } | Part::Gap))) => {
                    // It stands for no component, for this one alone, or for this one and more to come.
                    let fit = match *part == (Part::Below { hidden: false }) && starts_hidden(glob)
                    {
                        true => Fit::No,
                        false => open_fit(std::slice::from_ref(part)),
                    };
                    later
                        .min(open_fit(std::slice::from_ref(part)))
                        .max(ahead.min(fit))
                        .max(here.min(fit))
                }
                (WordPattern::Word(_), Some(part)) => component(word, part, asks.fold).and(ahead),
            };
            if let Some(place) = next.get_mut(at) {
                *place = best;
            }
        }
        std::mem::swap(&mut fits, &mut next);
    }
    fits.first().copied().unwrap_or(Fit::No)
}

fn open_fit(parts: &[Part]) -> Fit {
    if parts.contains(&Part::Gap) {
        Fit::MayUnknown
    } else {
        Fit::MayPattern
    }
}

fn starts_hidden(glob: &Glob) -> bool {
    glob.begins(".")
}

fn component(word: &WordPattern, part: &Part, fold: bool) -> Fit {
    let WordPattern::Word(glob) = word else {
        return Fit::Must;
    };
    match part {
        Part::Known(text) => glob.matches_text(text, fold).into(),
        Part::Pattern(word) => {
            // A shell glob that starts with a wildcard matches no name with a leading dot.
            let hidden = starts_hidden(glob);
            let listed = matches!(word.pieces.first(), Some(Piece::Below(_)));
            match hidden && word.prefix().is_empty() && !listed {
                true => Fit::No,
                false => glob.matches(word, fold),
            }
        }
        Part::Below { .. } => Fit::MayPattern,
        Part::Gap => Fit::MayUnknown,
    }
}

/// Finds the patterns that may meet a known path without trying all.
#[derive(Debug, Default)]
pub struct PathIndex {
    /// Names without a slash, and last names after a leading `**`: folded → what they belong to.
    names: HashMap<String, Vec<usize>>,
    /// `*.ext` names: the text from the last dot on.
    extensions: HashMap<String, Vec<usize>>,
    /// Other names by the letter that they end with, or else begin with: `*_history`, `id_*`.
    ends: HashMap<String, Vec<usize>>,
    starts: HashMap<String, Vec<usize>>,
    /// Anchored patterns by their literal first components, folded.
    absolute: HashMap<String, Vec<usize>>,
    root: HashMap<String, Vec<usize>>,
    home: HashMap<String, Vec<usize>>,
    /// All others.
    rest: Vec<usize>,
    /// Everything, for paths that are not known.
    all: Vec<usize>,
}

impl PathIndex {
    /// Adds what these patterns belong to.
    pub fn add(&mut self, patterns: &[PathPattern], owner: usize) {
        self.all.push(owner);
        for pattern in patterns {
            let (bucket, key) = bucket(pattern);
            let map = match bucket {
                Bucket::Names => &mut self.names,
                Bucket::Extensions => &mut self.extensions,
                Bucket::Ends => &mut self.ends,
                Bucket::Starts => &mut self.starts,
                Bucket::Start(Anchor::Home) => &mut self.home,
                Bucket::Start(Anchor::Root) => &mut self.root,
                Bucket::Start(_) => &mut self.absolute,
                Bucket::Rest => {
                    push(&mut self.rest, owner);
                    continue;
                }
            };
            push(map.entry(key).or_default(), owner);
        }
    }

    /// What the patterns that may meet the path belong to, each once, in order.
    pub fn candidates(&self, located: &Located) -> Vec<usize> {
        if self.all.is_empty() || !located.known || located.reach != Reach::Itself {
            return self.all.clone();
        }
        let mut found: Vec<usize> = Vec::with_capacity(self.rest.len() + 8);
        found.extend_from_slice(&self.rest);
        let mut look = |map: &HashMap<String, Vec<usize>>, key: &str| {
            if let Some(owners) = map.get(key) {
                found.extend_from_slice(owners);
            }
        };
        for spelling in &located.spellings {
            let folded = folded(&spelling.text);
            // Where its components end: the text begins with a slash.
            let mut ends: SmallVec<[usize; 16]> = SmallVec::new();
            let slashes = folded.bytes().enumerate().filter(|(_, byte)| *byte == b'/');
            slashes.for_each(|(at, _)| ends.push(at));
            ends.push(folded.len());
            let root_counts = spelling.roots.iter().map(|count| (&self.root, *count));
            let home_count = spelling.home.iter().map(|count| (&self.home, *count));
            for (map, count) in std::iter::once((&self.absolute, 0))
                .chain(root_counts)
                .chain(home_count)
            {
                if map.is_empty() {
                    continue;
                }
                look(map, "");
                let mut further = ends.iter().skip(count);
                let from = further.next().map_or(folded.len(), |slash| slash + 1);
                for end in further {
                    look(map, folded.get(from..*end).unwrap_or_default());
                }
            }
            let mut from = 0;
            for end in &ends {
                let name = folded.get(from..*end).unwrap_or_default();
                from = end + 1;
                if name.is_empty() {
                    continue;
                }
                look(&self.names, name);
                if let Some(dot) = name.bytes().rposition(|byte| byte == b'.') {
                    look(&self.extensions, name.get(dot..).unwrap_or_default());
                }
                look(&self.ends, name.get(name.len() - 1..).unwrap_or_default());
                look(&self.starts, name.get(..1).unwrap_or_default());
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Where a pattern is found again.
enum Bucket {
    Names,
    Extensions,
    Ends,
    Starts,
    Start(Anchor),
    Rest,
}

/// The bucket of a pattern, and its key there.
fn bucket(pattern: &PathPattern) -> (Bucket, String) {
    let literal = |word: &WordPattern| match word {
        WordPattern::Word(glob) => glob.as_literal().map(fold),
        WordPattern::Any => None,
    };
    if pattern.anchor == Anchor::Name {
        return name_bucket(pattern.components.first());
    }
    let first: Vec<String> = pattern.components.iter().map_while(literal).collect();
    if !first.is_empty() || pattern.components.is_empty() {
        return (Bucket::Start(pattern.anchor), first.join("/"));
    }
    match pattern.components.as_slice() {
        // `**/name`: by a name that surely occurs.
        [WordPattern::Any, rest @ ..] => {
            let mut words = rest.iter().rev();
            let known = words.clone().find(|word| literal(word).is_some());
            name_bucket(known.or_else(|| words.find(|word| **word != WordPattern::Any)))
        }
        _ => (Bucket::Rest, String::new()),
    }
}

fn name_bucket(word: Option<&WordPattern>) -> (Bucket, String) {
    let Some(WordPattern::Word(glob)) = word else {
        return (Bucket::Rest, String::new());
    };
    if let Some(text) = glob.as_literal() {
        return (Bucket::Names, fold(text));
    }
    let end = glob.literal_end();
    if let Some(dot) = end.rfind('.') {
        return (Bucket::Extensions, fold(end.get(dot..).unwrap_or_default()));
    }
    // Letters that are one in any case are one byte, whatever case they are typed in.
    let letter = |own: Option<char>| own.filter(char::is_ascii).map(|own| fold(&own.to_string()));
    let start = || letter(glob.literal_start().chars().next());
    match letter(end.chars().last()) {
        Some(last) => (Bucket::Ends, last),
        None => start().map_or((Bucket::Rest, String::new()), |first| {
            (Bucket::Starts, first)
        }),
    }
}

fn push(owners: &mut Vec<usize>, owner: usize) {
    if owners.last() != Some(&owner) {
        owners.push(owner);
    }
}

fn fold(text: &str) -> String {
    folded(text).into_owned()
}

/// Without the difference between letter cases.
pub fn folded(text: &str) -> Cow<'_, str> {
    match text
        .bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
    {
        true => Cow::Borrowed(text),
        // Through upper case, so that letters that meet only there (`ſ`, `S`) are one.
        false => Cow::Owned(text.to_uppercase().to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::located::{Folder, Frame};
    use super::*;
    use crate::call::word::{Listed, Piece, Word};
    use crate::policy::patterns;
    use crate::source::Span;

    fn frame() -> Frame<'static> {
        let folder = |text: &str| Folder {
            lexical: text.into(),
            resolved: text.into(),
        };
        Frame {
            roots: vec![folder("/w")],
            home: Some(folder("/home/u")),
            ..Frame::default()
        }
    }

    fn paths(pattern: &str) -> Paths {
        Paths {
            patterns: patterns::paths(pattern).unwrap(),
            ..Paths::default()
        }
    }

    #[test]
    fn known_paths() {
        // pattern, path, as a deny, as an allow
        let rows = [
            (".env", "/w/.env", true, true),
            (".env", "/w/server/.ENV", true, false),
            (".env", "/etc/.env", true, false),
            (".env", "/w/.env/x", true, true),
            (".env*", "/w/.envrc", true, true),
            ("*", "/w/src/a.txt", true, true),
            ("*", "/etc/passwd", true, false),
            ("**", "/w", true, true),
            ("**", "/w/a", true, true),
            ("**", "/etc/passwd", false, false),
            ("/**", "/etc/passwd", true, true),
            ("src/**", "/w/src", true, true),
            ("src/**", "/w/src/a/b", true, true),
            ("src/**", "/w/srcs/a", false, false),
            ("src", "/w/src/a", true, true),
            ("/etc/passwd", "/etc/passwd", true, true),
            ("/etc/*", "/etc/a/b", true, true),
            ("**/x/**", "/w/a/x/b", true, true),
            ("**/.env*", "/w/.env", true, true),
            ("**/x", "/w/a/b/x", true, true),
            ("a/**/b", "/w/a/b", true, true),
            ("a/**/b", "/w/a/x/y/b", true, true),
            ("a/**/b", "/w/a/x/y/c", false, false),
            ("~/.ssh/**", "/home/u/.ssh/id", true, true),
            ("~/.ssh/**", "/home/u/.SSH/id", true, false),
            ("id_{rsa,ed25519}", "/home/u/.ssh/id_rsa", true, false),
            ("token/", "/w/token/a", true, true),
            ("Public/**", "/w/public/a", true, false),
        ];
        for (pattern, path, deny, allow) in rows {
            let located = Located::locate(
                &Word::known(path, Span::default()),
                None,
                Reach::Itself,
                &frame(),
            );
            let paths = paths(pattern);
            assert_eq!(
                fit(&paths, &located, Stance::Tightens) == Fit::Must,
                deny,
                "deny {pattern} on {path}"
            );
            assert_eq!(
                fit(&paths, &located, Stance::Loosens) == Fit::Must,
                allow,
                "allow {pattern} on {path}"
            );
            // The index finds at least what the scan finds.
            let mut index = PathIndex::default();
            index.add(&paths.patterns, 7);
            assert!(
                !deny || index.candidates(&located) == [7],
                "index misses {pattern} on {path}"
            );
        }
    }

    #[test]
    fn open_paths() {
        let text = |text: &str| Piece::Text(text.into());
        let unknown = || Piece::Unknown("$X".into());
        let rows = [
            (".env", vec![text("*").clone()], Fit::No),
            (".env", vec![Piece::Star], Fit::No),
            ("*.pem", vec![Piece::Star], Fit::MayPattern),
            ("*.pem", vec![Piece::Star, text(".rs")], Fit::No),
            (".env", vec![unknown()], Fit::MayUnknown),
            (".env", vec![text(".e"), Piece::Star], Fit::MayPattern),
            (".env", vec![text("."), Piece::Star], Fit::MayUnknown),
            ("src/**", vec![text("src/"), Piece::Star], Fit::Must),
            ("src/**", vec![text("src/"), unknown()], Fit::MayUnknown),
            ("/**", vec![unknown()], Fit::Must),
            (
                "src/**",
                vec![text("src/"), Piece::Below(Listed::default())],
                Fit::Must,
            ),
            (
                "docs/**",
                vec![text("src/"), Piece::Below(Listed::default())],
                Fit::No,
            ),
            (
                ".env",
                vec![text("src/"), Piece::Below(Listed::default())],
                Fit::MayPattern,
            ),
        ];
        for (pattern, pieces, want) in rows {
            let word = Word::of(pieces, Span::default());
            let located = Located::locate(&word, Some("/w"), Reach::Itself, &frame());
            assert_eq!(
                fit(&paths(pattern), &located, Stance::Tightens),
                want,
                "{pattern} on {}",
                word.shown()
            );
        }
    }

    #[test]
    fn below() {
        for (pattern, path, want) in [
            (".env", "/w/src", Fit::MayPattern),
            ("/etc/**", "/w/src", Fit::No),
            ("/w/src/x/**", "/w/src", Fit::MayPattern),
            ("docs/**", "/w/src", Fit::No),
        ] {
            let reach = Reach::Below { hidden: true };
            let located =
                Located::locate(&Word::known(path, Span::default()), None, reach, &frame());
            assert_eq!(
                fit_below(&paths(pattern), &located),
                want,
                "{pattern} below {path}"
            );
        }
    }
}
