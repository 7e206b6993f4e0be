//! Where the line itself puts files: what lands in a folder, which new name is another's file, how copies are called.
//!
//! In: what a command does, and what the line did before. Out: a write for every place where something comes to stand,
//! and a memory of it: what is touched later under a new name is touched under the old one too, where a link leads
//! from one to the other. What is there already tells the files below a folder, as far as a view of them reaches.

use super::effects::{Effect, Outcome, What};
use super::env::{Env, Value as Known};
use super::script::{Input, Walker};
use super::syntax::{Redirect, Target, Tree};
use super::unnamed::Unnamed;
use crate::call::access::{Assignment, Cover, Kind, Mode, PathAccess, Reach, Touches};
use crate::call::path;
use crate::call::programs::Linked;
use crate::call::word::{Piece, Word};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// The longest path that is followed, in bytes, as on Linux.
const LONGEST: usize = 4096;
/// So many files are remembered for one new name, and so many are looked at for one path.
const MOST_NAMES: usize = 8;
const MOST_ORIGINS: usize = 32;
/// So many names that cannot be computed are compared with links that the line made.
const MOST_LINKS: usize = 16;

/// Files that say what is left out below a folder: who changes them changes what `rg` reads and `git add` takes.
const IGNORES: &[&str] = &[
    ".gitignore",
    ".ignore",
    ".rgignore",
    ".fdignore",
    ".dockerignore",
    ".agignore",
    ".prettierignore",
    ".eslintignore",
];

/// What the line has put where.
#[derive(Default)]
pub(super) struct Placed {
    /// What was written by its name, absolute.
    written: BTreeSet<String>,
    /// Folders that got names which nobody knows.
    filled: BTreeSet<String>,
    /// New names, absolute, and what stands there now.
    names: BTreeMap<String, Vec<Origin>>,
    /// Some of them are links.
    links: bool,
    /// What stands there that nobody knows.
    pub unnamed: Unnamed,
    /// A file was changed that says what is left out.
    pub uncovered: bool,
    /// Git may have put another in its place. It never names a hidden file that was hidden.
    pub swapped: bool,
    /// So it did outside of the repository that the line starts in.
    pub swapped_elsewhere: bool,
    /// What the line has staged.
    pub staged: Vec<(Word, Reach)>,
    /// Folders whose repository has lost its changes.
    pub restored: BTreeSet<String>,
}

/// What stands under a new name.
#[derive(Clone, Debug, PartialEq)]
struct Origin {
    path: String,
    /// It is the same file.
    link: bool,
    /// It was moved, or copied with the links in it as links.
    kept: bool,
}

impl Placed {
    /// What the line made by a name that a glob may stand for, as the glob writes it.
    pub(super) fn made_like<'p>(
        &'p self,
        glob: &'p Word,
        folder: Option<&'p str>,
    ) -> impl Iterator<Item = &'p str> {
        let start = glob.prefix();
        let end = match glob.pieces.last() {
            Some(Piece::Text(text)) => &**text,
            _ => "",
        };
        let depth = glob.shown().matches('/').count();
        self.written.iter().filter_map(move |path| {
            let name = match start.starts_with('/') {
                true => path.as_str(),
                false => path.strip_prefix(folder?)?.strip_prefix('/')?,
            };
            let fits = name.starts_with(start) && name.ends_with(end);
            let shown = !path::last(name).starts_with('.') || path::last(start).starts_with('.');
            (fits && shown && name.matches('/').count() == depth).then_some(name)
        })
    }

    /// What a path comes to through all names that the line has given; not all, where there are too many.
    fn origins(&self, path: &str) -> (Vec<Origin>, bool) {
        let mut found: Vec<Origin> = Vec::new();
        if self.names.is_empty() || path.len() > LONGEST {
            return (found, true);
        }
        let mut todo = vec![(path.to_owned(), false, false)];
        while let Some((at, link, kept)) = todo.pop() {
            let ends = at.match_indices('/').map(|(end, _)| end).skip(1);
            for end in ends.chain([at.len()]) {
                let (head, rest) = at.split_at(end);
                for origin in self.names.get(head).into_iter().flatten() {
                    let path = format!("{}{rest}", origin.path);
                    if found.iter().any(|known| known.path == path) {
                        continue;
                    }
                    if found.len() == MOST_ORIGINS || path.len() > LONGEST {
                        return (found, false);
                    }
                    let (link, kept) =
                        (link || origin.link, kept || origin.kept || !rest.is_empty());
                    todo.push((path.clone(), link, kept));
                    found.push(Origin { path, link, kept });
                }
            }
        }
        (found, true)
    }

    /// What was written below a folder, from there on.
    fn below(&self, folder: &str) -> Vec<String> {
        let start = format!("{}/", folder.trim_end_matches('/'));
        let range = self
            .written
            .range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
        let below = range.map_while(|path| path.strip_prefix(&start));
        below.map(str::to_owned).collect()
    }

    /// Whether names that nobody knows may have come to lie below a folder.
    fn is_filled(&self, folder: &str) -> bool {
        let start = format!("{}/", folder.trim_end_matches('/'));
        let mut above = start.match_indices('/').map(|(end, _)| end.max(1));
        let below = self
            .filled
            .range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded))
            .next();
        above.any(|end| {
            start
                .get(..end)
                .is_some_and(|head| self.filled.contains(head))
        }) || below.is_some_and(|own| own.starts_with(&start))
    }
}

impl Walker<'_> {
    /// What a command leaves out by files that the line has changed it does not leave out for sure.
    pub(super) fn reveal(&self, outcome: &mut Outcome) {
        let placed = &self.placed;
        let changed = placed.uncovered || placed.swapped;
        if !changed || !(outcome.gitignore || outcome.dockerignore) {
            return;
        }
        (outcome.gitignore, outcome.dockerignore) = (false, false);
        for effect in outcome.effects.iter_mut().filter(|_| placed.uncovered) {
            if let What::Path {
                reach: Reach::Below { hidden },
                ..
            }
            | What::Name {
                reach: Reach::Below { hidden },
            } = &mut effect.what
            {
                *hidden = true;
            }
        }
    }

    /// The same of names that a program prints. Git prints those that it tracks, whatever is ignored.
    pub(super) fn uncover(&self, path: &Word) -> Word {
        let mut word = path.clone();
        let (uncovered, swapped) = (self.placed.uncovered, self.placed.swapped);
        for piece in word.pieces.iter_mut() {
            if let Piece::Below(listed) = piece
                && listed.by != "git"
            {
                listed.gitignore &= !uncovered && !swapped;
                listed.shown &= !uncovered;
            }
        }
        word
    }

    /// Whether redirections only add lines to files, and none that lets in what was left out: `echo dist >> .gitignore`.
    pub(super) fn only_adds(
        &self,
        tree: &Tree,
        redirects: &[Redirect],
        at: Option<usize>,
        own: Option<&Input>,
    ) -> bool {
        let adds = redirects.iter().all(|redirect| match &redirect.what {
            Target::Write(_) => tree.of(redirect.span).contains(">>"),
            Target::Both(_) => false,
            _ => true,
        });
        let plain = |text: &str| !text.contains('!') && !text.replace("\\n", "").contains('\\');
        let Some(Kind::Command(command)) = at
            .and_then(|at| self.out.get(at))
            .map(|access| &access.kind)
        else {
            return false;
        };
        let texts: Option<Vec<&str>> = command.words.iter().map(Word::text).collect();
        adds && match (texts.as_deref(), own) {
            (Some(["echo" | "printf", rest @ ..]), _) => rest.iter().all(|text| plain(text)),
            (
                Some(["cat"]),
                Some(Input::Text {
                    text, sure: true, ..
                }),
            ) => !text.contains('!'),
            _ => false,
        }
    }

    /// The absolute path of a text, for each folder that the shell may be in.
    pub(super) fn full(text: &str, env: &Env) -> Vec<String> {
        let long = |path: &String| path.len() <= LONGEST;
        if text.starts_with('/') {
            return Some(path::normal(text)).filter(long).into_iter().collect();
        }
        let folders = env
            .folders
            .iter()
            .map(|folder| path::normal(&path::join(folder, text)));
        folders.filter(long).collect()
    }

    /// Whether a folder stands at a path, or at what the line has put there; none where that is not seen.
    pub(super) fn is_folder(&self, path: &str) -> Option<bool> {
        let own = (self.scene.folder)(path);
        let (origins, _) = self.placed.origins(path);
        let mut all = origins
            .iter()
            .filter_map(|origin| (self.scene.folder)(&origin.path));
        match all.any(|folder| folder) {
            true => Some(true),
            false => own,
        }
    }

    /// Whether a file is seen at a path, and none that says what is left out.
    pub(super) fn is_file(&self, path: &str) -> bool {
        let seen = (self.scene.folder)(path) == Some(false) && self.is_there(path);
        seen && !IGNORES.contains(&path::last(path))
    }

    /// Whether something is seen at a path.
    pub(super) fn is_there(&self, path: &str) -> bool {
        let word = Word::known(path, Span::default());
        (self.scene.glob)(&word, None).is_some_and(|found| !found.is_empty())
    }

    /// Remembers what a path access does, and says what it touches under other names.
    pub(super) fn follow(&mut self, access: &PathAccess) -> Vec<PathAccess> {
        let unnamed = self.through_unnamed(access);
        let swapped = self.through_swapped(access);
        let mut also = self.under_others(access);
        also.extend(unnamed.or(swapped));
        also
    }

    fn under_others(&mut self, access: &PathAccess) -> Vec<PathAccess> {
        let elsewhere = |path: String| PathAccess {
            path: Word::known(path, access.path.span),
            ..access.clone()
        };
        let writes = access.mode == Mode::Write && access.touches == Touches::Surely;
        if self.placed.names.is_empty() && !writes {
            return Vec::new();
        }
        let Some(text) = access.path.text() else {
            if !self.placed.links {
                return Vec::new();
            }
            // `cp -s acl.toml q; tee q?`.
            let folder = access.cwd.as_deref().unwrap_or("/");
            let start = path::normal(&path::join(folder, access.path.prefix()));
            let names = self
                .placed
                .names
                .iter()
                .filter(|(name, _)| access.path.is_unknown() || name.starts_with(&start));
            let links = names
                .flat_map(|(_, origins)| origins)
                .filter(|origin| origin.link);
            return links
                .take(MOST_LINKS)
                .map(|origin| elsewhere(origin.path.clone()))
                .collect();
        };
        let full = match (text.starts_with('/'), &access.cwd) {
            (true, _) => path::normal(text),
            (false, Some(folder)) => path::normal(&path::join(folder, text)),
            (false, None) => text.to_owned(),
        };
        let (origins, all) = self.placed.origins(&full);
        if !all {
            self.opaque("files get too many names to be followed", access.path.span);
        }
        if writes && full.len() <= LONGEST {
            let name = path::last(&full);
            self.placed.uncovered |= IGNORES.contains(&name) || full.ends_with("/info/exclude");
            match access.reach {
                Reach::SomethingBelow => self.placed.filled.insert(full),
                _ => self.placed.written.insert(full),
            };
        }
        let led = |origin: &Origin| origin.link || origin.kept && (self.scene.leads)(&origin.path);
        origins
            .into_iter()
            .filter(led)
            .map(|origin| elsewhere(origin.path))
            .collect()
    }

    /// Files that a command copies, moves or links come to stand somewhere.
    ///
    /// In a folder they land under their own name: `cp evil/config .git` writes `.git/config`. A folder that gets another
    /// name takes along all below it: `mv gh .github` writes `.github/hooks/x` where `gh/hooks/x` is.
    pub(super) fn places(&mut self, outcome: &Outcome, at: usize, env: &Env) {
        let touched = |wanted: Mode| {
            let certain = move |what: What| matches!(what, What::Path { mode, certain: true, .. } if mode == wanted);
            outcome
                .effects
                .iter()
                .filter(move |effect| certain(effect.what))
        };
        let is_below = |effect: &Effect| {
            matches!(
                effect.what,
                What::Path {
                    reach: Reach::Below { .. },
                    ..
                }
            )
        };
        let (mut options, mut program) = (BTreeSet::new(), String::new());
        if let Some(Kind::Command(command)) = self.out.get(at).map(|access| &access.kind) {
            let names = command.options.iter().flat_map(|option| &option.names);
            options = names.map(|name| name.to_string()).collect();
            program = command
                .words
                .first()
                .and_then(Word::text)
                .map(path::last)
                .unwrap_or_default()
                .to_owned();
        }
        // `rsync` puts a folder into another, and calls other things `-T` and `-t`.
        let nests = program == "rsync";
        let has = |name: &str| !nests && options.contains(name);
        let (onto, parents) = (has("-T"), has("--parents"));
        let sources: Vec<&Effect> = touched(Mode::Read).collect();
        let moves = touched(Mode::Write).any(is_below);
        let here = Effect {
            what: What::Host,
            value: Word::known(".", Span::default()),
            naming: None,
        };
        let mut targets: Vec<&Effect> = touched(Mode::Write)
            .filter(|effect| !is_below(effect))
            .collect();
        // `ln -s a/b` makes `b` here.
        if targets.is_empty() && outcome.links.is_some() {
            targets.push(&here);
        }
        if outcome.links == Some(Linked::Hard) {
            for source in &sources {
                let reach = if is_below(source) {
                    Reach::Below { hidden: true }
                } else {
                    Reach::Itself
                };
                let cover = Cover::Command {
                    at,
                    naming: source.naming,
                };
                self.path(
                    Mode::Write,
                    &source.value,
                    reach,
                    cover,
                    Touches::Surely,
                    env,
                );
            }
        }
        let (link, kept) = (outcome.links.is_some(), moves || outcome.keeps);
        for target in targets {
            let Some(folder) = target.value.text() else {
                if link || kept {
                    self.lands_anywhere(&target.value, env);
                }
                continue;
            };
            let full = Self::full(folder, env);
            let seen = full.first().and_then(|full| self.is_folder(full));
            let made = full.iter().any(|full| self.placed.written.contains(full));
            let name = folder.rsplit('/').next().unwrap_or_default();
            let surely = sources.len() > 1 || matches!(name, "" | "." | "..") || has("-t");
            // Where it is not seen, a hidden name is rather a folder's than a file's.
            let likely = path::last(folder).starts_with('.');
            let is_folder = parents || surely || made || seen.unwrap_or(likely);
            for source in &sources {
                let cover = Cover::Command {
                    at,
                    naming: target.naming,
                };
                let Some(text) = source.value.text() else {
                    let place = Place {
                        landing: folder,
                        named: !is_folder,
                        source: "",
                        below: is_below(source) || link,
                        span: target.value.span,
                        cover,
                    };
                    let inside = is_folder && !onto;
                    self.lands_unnamed(&place, &source.value, inside, link || kept, env);
                    continue;
                };
                let contents = nests && text.ends_with('/');
                let inside = is_folder || nests && is_below(source);
                let landing = match path::last(text) {
                    // `cp --parents a/b d` writes `d/a/b`.
                    _ if parents => path::join(folder, text.trim_start_matches('/')),
                    name if onto || contents || !inside || matches!(name, "" | "." | "..") => {
                        folder.to_owned()
                    }
                    name => path::join(folder, name),
                };
                let below = is_below(source) || outcome.links.is_some();
                let place = Place {
                    landing: &landing,
                    named: landing == folder,
                    source: text,
                    below,
                    span: target.value.span,
                    cover,
                };
                self.lands(&place, env);
                let own = Self::full(&landing, env);
                let mut from = Self::full(text, env);
                if outcome.links == Some(Linked::Symbolic) {
                    let beside = |own: &String| {
                        own.rsplit_once('/')
                            .map(|(folder, _)| path::normal(&path::join(folder, text)))
                    };
                    from.extend(own.iter().filter_map(beside));
                }
                self.placed.links |= link;
                // Where a part of a repository goes, the rest may come.
                if below && from.iter().any(|folder| self.is_headed(folder)) {
                    self.headed.get_or_insert(self.out.len());
                }
                for own in own {
                    let known = self.placed.names.entry(own.clone()).or_default();
                    for path in &from {
                        let origin = Origin {
                            path: path.clone(),
                            link,
                            kept,
                        };
                        if *path != own && !known.contains(&origin) {
                            known.push(origin);
                        }
                    }
                    if known.len() > MOST_NAMES {
                        known.truncate(MOST_NAMES);
                        self.opaque(
                            "a name is given to too many files to be followed",
                            target.value.span,
                        );
                    }
                }
            }
        }
    }

    /// One file, or a folder with all below it, comes to stand under a name.
    fn lands(&mut self, place: &Place, env: &Env) {
        if self.is_full() {
            return;
        }
        let sources = Self::full(place.source, env);
        let mut folders = Vec::new();
        for source in &sources {
            let (origins, _) = self.placed.origins(source);
            let all = std::iter::once(source.clone())
                .chain(origins.into_iter().map(|origin| origin.path));
            folders.extend(all.filter(|path| (self.scene.folder)(path) == Some(true)));
        }
        let made: Vec<String> = sources
            .iter()
            .flat_map(|source| self.placed.below(source))
            .collect();
        let known = !folders.is_empty()
            || !made.is_empty()
            || sources
                .iter()
                .any(|source| self.is_there(source) || self.placed.written.contains(source));
        let hidden =
            path::last(place.landing).len() > 1 && path::last(place.landing).starts_with('.');
        let unknown =
            place.below && (!known || sources.iter().any(|source| self.placed.is_filled(source)));
        let reach = match () {
            () if unknown && hidden => Some(Reach::SomethingBelow),
            () if place.named => None,
            // What is there already tells what may be replaced.
            () if place.below => Some(Reach::Below { hidden: true }),
            () => Some(Reach::Itself),
        };
        let landing = Word::known(place.landing, place.span);
        if let Some(reach) = reach {
            self.lands_at(&landing, reach, place, env);
        }
        if !place.below {
            return;
        }
        for folder in folders {
            let reach = Reach::Below { hidden: true };
            let from = self.out.len();
            self.lands_at(&landing, reach, place, env);
            for access in self.out.iter_mut().skip(from) {
                if let Kind::Path(path) = &mut access.kind {
                    path.like = Some(folder.clone());
                }
            }
        }
        for rest in made {
            if self.is_full() {
                break;
            }
            let word = Word::known(path::join(place.landing, &rest), place.span);
            self.lands_at(&word, Reach::Itself, place, env);
        }
    }

    pub(super) fn lands_at(&mut self, path: &Word, reach: Reach, place: &Place, env: &Env) {
        self.path(Mode::Write, path, reach, place.cover, Touches::Surely, env);
    }

    /// What a command replaces it keeps under another name: `sed -i.bak s/a/b/ x` writes `x.bak` as well, whatever it is.
    pub(super) fn copies(&mut self, outcome: &Outcome, given: &[Assignment], at: usize, env: &Env) {
        let mut names = outcome.copies.clone();
        if outcome.backs_up && names.is_empty() {
            let own = given
                .iter()
                .rev()
                .find(|own| own.name == SUFFIX)
                .map(|own| own.value.clone());
            let set = || match env.value(SUFFIX) {
                Known::Known(word) => Some(word),
                Known::Unknown if env.touched(SUFFIX) => {
                    Some(Word::unknown(format!("${SUFFIX}"), Span::default(), false))
                }
                _ => None,
            };
            names.push((
                own.or_else(set)
                    .unwrap_or_else(|| Word::known("~", Span::default())),
                false,
            ));
        }
        if names.is_empty() && !outcome.unpacks {
            return;
        }
        let own = |cover: Cover| matches!(cover, Cover::Command { at: own, .. } if own == at);
        let written: Vec<PathAccess> = self
            .out
            .iter()
            .skip(at)
            .filter_map(|access| match &access.kind {
                Kind::Path(path)
                    if path.mode == Mode::Write
                        && path.reach != Reach::SomethingBelow
                        && own(path.cover) =>
                {
                    Some((**path).clone())
                }
                _ => None,
            })
            .collect();
        for path in written {
            let push = |walker: &mut Self, word: Word| {
                if !walker.is_full() {
                    walker.path(
                        Mode::Write,
                        &word,
                        Reach::Itself,
                        path.cover,
                        path.touches,
                        env,
                    );
                }
            };
            for (name, before) in &names {
                for word in called(&path.path, name, *before) {
                    push(self, word);
                }
            }
            if let Some((stem, end)) = path
                .path
                .text()
                .and_then(|text| text.rsplit_once('.'))
                .filter(|_| outcome.unpacks)
                && !end.contains('/')
            {
                push(self, Word::known(stem, path.path.span));
            }
        }
    }
}

/// The variable that says how copies are called.
const SUFFIX: &str = "SIMPLE_BACKUP_SUFFIX";

/// A file that comes to stand under a name.
pub(super) struct Place<'p> {
    pub landing: &'p str,
    /// The command writes that name itself.
    named: bool,
    source: &'p str,
    /// All below it comes along.
    pub below: bool,
    pub span: Span,
    cover: Cover,
}

/// How the copy of a file may be called: `*` is the file's own name, and a slash leads to another folder.
fn called(file: &Word, name: &Word, before: bool) -> Vec<Word> {
    let join = |parts: &[&Word]| {
        Word::of(
            parts.iter().flat_map(|part| part.pieces.iter().cloned()),
            file.span,
        )
    };
    let (folder, own) = match file.text() {
        Some(text) => text.split_at(text.rfind('/').map_or(0, |slash| slash + 1)),
        None => ("", ""),
    };
    let known = |text: String| Word::known(text, file.span);
    let beside = |name: &Word| {
        Word::of(
            [Piece::Text(folder.into())]
                .into_iter()
                .chain(name.pieces.iter().cloned()),
            file.span,
        )
    };
    match name.text() {
        Some(text) if !before && text.contains('*') => {
            let name = known(text.replace('*', own));
            vec![beside(&name), name]
        }
        _ if before => {
            let own = join(&[name, &known(own.to_owned())]);
            vec![beside(&own), join(&[name, file])]
        }
        _ => vec![join(&[file, name])],
    }
}
