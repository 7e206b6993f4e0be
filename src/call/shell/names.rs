//! Names that a command prints for others to use: `find DIR`, `git ls-files`, `rg -l` and the like.
//!
//! In: the words of the stages of a pipeline. Out: one word that stands for the names: some path below a
//! folder. What prints anything else, or changes what it prints, gives none.

use super::effects::{self, Stdin, What};
use super::env::Env;
use super::expression::{self, End};
use super::syntax::{Body, Command, List, Part, Raw, Shape, Target, Tree};
use super::words;
use crate::call::access::{Mode, Opt, Reach, Role};
use crate::call::path;
use crate::call::word::{Links, Listed, Piece, Word};
use crate::source::Span;

/// Levels of substitutions whose output is computed. Each is looked at more than once, so that the work doubles
/// with every level.
const NESTED: usize = 3;

/// Whether these are names that end with a NUL: only what reads such names gets them.
pub(super) fn ends_with_nul(names: &Word) -> bool {
    names.listed().is_some_and(|listed| listed.nul)
}

/// A stage of a pipeline whose words can be computed.
pub(super) struct Stage {
    pub words: Vec<Word>,
    /// What it reads is what it is fed.
    fed: bool,
}

/// The stages of a list that is one pipeline; none for a stage whose words, or where they print, cannot be computed.
pub(super) fn stages(tree: &Tree, list: &List, env: &Env) -> Option<Vec<Option<Stage>>> {
    let List(items) = list;
    let [item] = items.as_slice() else {
        return None;
    };
    let one = item.rest.is_empty() && !item.background && !item.first.negated;
    let read = |command: &Command| reading(tree, command, env);
    one.then(|| item.first.stages.iter().map(|stage| read(stage)).collect())
}

/// The words of a pipeline that is one simple command.
pub(super) fn only(stages: &[Option<Stage>]) -> Option<&[Word]> {
    match stages {
        [Some(stage)] if stage.fed => Some(&stage.words),
        _ => None,
    }
}

/// The names that a pipeline prints, where it is a lister and filters.
pub(super) fn of_stages(stages: &[Option<Stage>]) -> Option<Word> {
    let (first, rest) = stages.split_first()?;
    let fed = |stage: &Option<Stage>| stage.as_ref().is_some_and(|stage| stage.fed);
    if !stages.iter().all(fed) {
        return None;
    }
    let mut names = listed(&first.as_ref()?.words)?;
    for stage in rest {
        names = filtered(&stage.as_ref()?.words, names)?;
    }
    Some(names)
}

/// The names that a process substitution prints, where it is all of a word: `< <(git ls-files)`.
pub(super) fn substituted(tree: &Tree, raw: &Raw, env: &Env) -> Option<Word> {
    let [Part::Command(substitution)] = &*raw.parts else {
        return None;
    };
    let own = tree.of(substitution.span).starts_with("<(");
    match &substitution.body {
        Body::Within(list) if own => of_stages(&stages(tree, list, env)?),
        Body::Apart(apart) if own => of_stages(&stages(apart, &apart.list, env)?),
        _ => None,
    }
}

/// What prints names, with some options or without.
const LISTERS: &[&str] = &[
    "find", "fd", "fdfind", "rg", "grep", "egrep", "fgrep", "git", "ls",
];

/// The names that one command prints by itself.
pub(super) fn listed(words: &[Word]) -> Option<Word> {
    let program = path::last(words.first()?.text()?);
    let program = *LISTERS.iter().find(|lister| **lister == program)?;
    let second = words.get(1).and_then(Word::text).unwrap_or_default();
    if program == "git" && matches!(second, "log" | "rev-list") {
        return commits(words);
    }
    let git = ["ls-files", "diff", "show", "grep"];
    if program == "git" && !git.contains(&second) {
        return None;
    }
    let outcome = effects::outcome(words, Stdin::None);
    if !outcome.known
        || !outcome.only_reads
        || !outcome.escalations.is_empty()
        || !outcome.starts.is_empty()
    {
        return None;
    }
    let has = |names: &[&str]| {
        outcome.options.iter().any(|option: &Opt| {
            option
                .names
                .iter()
                .any(|name| names.contains(&name.as_ref()))
        })
    };
    // Names that are cut, put together or replaced are no names of files any more.
    let other = [
        "--path-separator",
        "--base-directory",
        "--line-prefix",
        "--label",
    ];
    let moved = |option: &Opt| {
        option.value.is_some() && option.names.iter().any(|name| name == "--relative")
    };
    if has(&other) || outcome.options.iter().any(moved) {
        return None;
    }
    let prints = match program {
        "find" => !has(&["-printf", "-ls"]),
        "fd" | "fdfind" => !has(&["-l", "--list-details", "-a", "--absolute-path", "--format"]),
        "rg" => has(&[
            "-l",
            "--files-with-matches",
            "--files",
            "--files-without-match",
        ]),
        "grep" | "egrep" | "fgrep" => {
            has(&["-l", "--files-with-matches", "-L", "--files-without-match"])
        }
        "git" => match second {
            "ls-files" => !has(&["-s", "--stage", "--full-name", "--format"]),
            "diff" | "show" => has(&["--name-only"]),
            "grep" => has(&["-l", "--files-with-matches", "--name-only"]),
            _ => false,
        },
        // It prints names without their folder: they are looked up where they are used. What it is given by name it
        // prints as it is.
        "ls" => {
            let given = outcome.effects.iter().map(|effect| &effect.value);
            let given: Vec<String> = given.map(Word::shown).collect();
            let part = |test: fn(&str) -> bool| given.iter().any(|name| name.split('/').any(test));
            let unknown = |effect: &effects::Effect| effect.value.is_unknown();
            let away = |name: &String| name.starts_with(['/', '~']);
            if outcome.effects.iter().any(unknown)
                || given.iter().any(away)
                || part(|it| it == "..")
            {
                return None;
            }
            let all = has(&["-a", "-A", "-f", "--all", "--almost-all"]);
            let own = given
                .iter()
                .filter(|name| *name != "." && !has(&["-d", "--directory"]));
            let deep = |name: &String| {
                let name = name.trim_start_matches("./");
                match name.split('/').any(|part| part.starts_with('.')) {
                    true => usize::MAX,
                    false => name.matches('/').count() + 1,
                }
            };
            let names = Listed {
                by: program,
                deep: own.map(deep).max().unwrap_or(0),
                shown: !all && !part(|it| it.starts_with('.') && it != "."),
                ..Listed::default()
            };
            let other = ["-l", "-R", "--recursive", "--format", "-F", "--classify"];
            return (!has(&other)).then(|| below(".", names));
        }
        _ => false,
    };
    if !prints {
        return None;
    }
    let untracked = ["-o", "--others", "-i", "--ignored", "--no-index"];
    let follows = outcome.follows;
    let between = program == "git" && matches!(second, "diff" | "show");
    let tree = match second {
        "show" => Which::Another,
        "diff" => compared(words, &outcome),
        _ => with_tree(&outcome.options),
    };
    let mut names = match program {
        "rg" => Listed {
            by: "rg",
            // A type brings its hidden files with it.
            shown: !outcome.hidden && !has(&["--type"]),
            gitignore: outcome.gitignore,
            links: match follows {
                true => Links::Followed,
                false => Links::None,
            },
            ..Listed::default()
        },
        "fd" | "fdfind" => found(words, &outcome),
        // What git tracks and ignores all the same is looked up in its index.
        "git" => Listed {
            by: program,
            gitignore: tree != Which::Another && !has(&untracked),
            head: tree == Which::Head,
            gone: !has(&untracked),
            ..Listed::default()
        },
        "find" => found(words, &outcome),
        _ => Listed {
            by: program,
            links: match follows {
                true => Links::Followed,
                false => Links::None,
            },
            ..Listed::default()
        },
    };
    let end = match program {
        "find" | "fd" | "fdfind" | "rg" => chosen(words, &outcome.options),
        // Behind the revisions.
        "git" if between => match words.iter().position(|word| word.text() == Some("--")) {
            Some(at) => pathspec(words.get(at..)?, outcome.roles.get(at..)?).map(End::only),
            None => None,
        },
        _ => None,
    };
    let mut end = end.unwrap_or_default();
    // `rg -g '*.rs'`, `git grep -l x -- '*.rs'`: hidden and ignored ones of those are searched, too, and no others.
    let asked = outcome.effects.iter().filter_map(|own| asked(&own.value));
    let asked: Vec<(&str, &str)> = asked.collect();
    let searched = match program {
        "rg" => !has(&["--iglob", "--glob-case-insensitive", "--type-add"]),
        "git" => matches!(second, "grep" | "ls-files") && asked.len() == outcome.effects.len(),
        _ => false,
    };
    if searched && !asked.is_empty() {
        let ends = asked.iter().map(|(_, end)| End {
            text: end,
            caseless: false,
        });
        end = ends.collect();
        if program == "rg" {
            (names.shown, names.gitignore) = (false, false);
        }
    }
    let below = |folder: &str| ending(below(folder, names), &end);
    let mut folders: Vec<&str> = Vec::new();
    for effect in &outcome.effects {
        match effect.what {
            // A revision, or a path, perhaps a pattern.
            What::Path { certain, .. }
                if between && !(certain && effect.value.text().is_some()) =>
            {
                folders.push(".");
            }
            _ if (searched || program == "git")
                && let Some((folder, _)) = self::asked(&effect.value) =>
            {
                folders.push(folder);
            }
            What::Name { .. }
            | What::Path {
                mode: Mode::Read, ..
            } => folders.push(effect.value.text()?),
            _ => return None,
        }
    }
    match folders.as_slice() {
        [] => Some(below(".")),
        [only] => Some(below(only)),
        // Several folders are told by what holds them all: the one the shell is in.
        all if all.iter().all(|folder| {
            !folder.starts_with('/') && !folder.split('/').any(|part| part == "..")
        }) =>
        {
            Some(below("."))
        }
        _ => None,
    }
}

/// The folder of files that a search is asked for by a glob, and how their names end.
fn asked(files: &Word) -> Option<(&str, &str)> {
    let (start, end) = match &*files.pieces {
        [Piece::Below(_)] => ("", ""),
        [Piece::Below(_), Piece::Text(end)] => ("", end.as_str()),
        [Piece::Text(start), Piece::Below(_)] => (start.as_str(), ""),
        [Piece::Text(start), Piece::Below(_), Piece::Text(end)] => (start.as_str(), end.as_str()),
        _ => return None,
    };
    match start.rsplit_once('/') {
        Some(("", _)) => Some(("/", end)),
        Some((folder, _)) => Some((folder, end)),
        None => Some((".", end)),
    }
}

/// The commits that `git rev-list` prints, and `git log` where it is told to print nothing else.
fn commits(words: &[Word]) -> Option<Word> {
    let outcome = effects::outcome(words, Stdin::None);
    if !outcome.only_reads || !outcome.escalations.is_empty() || !outcome.starts.is_empty() {
        return None;
    }
    let texts: Vec<&str> = words.iter().map(Word::text).collect::<Option<_>>()?;
    let (sub, rest) = texts.get(1..)?.split_first()?;
    let names = |text: &str| matches!(text, "%H" | "%h" | "format:%H" | "format:%h");
    let formats = rest.iter().filter(|text| {
        let format = text
            .strip_prefix("--format=")
            .or_else(|| text.strip_prefix("--pretty="));
        format.is_some_and(names)
    });
    let formats = formats.count();
    let counts = |text: &str| {
        let count = text.trim_start_matches('-').trim_start_matches('n');
        text.starts_with('-')
            && !text.starts_with("--")
            && count.bytes().all(|b| b.is_ascii_digit())
    };
    let chooses = |text: &str| {
        const WHICH: &[&str] = &[
            "--",
            "--all",
            "--reverse",
            "--no-merges",
            "--merges",
            "--first-parent",
            "--since=",
            "--until=",
            "--after=",
            "--before=",
            "--author=",
            "--grep=",
            "--max-count=",
            "--skip=",
        ];
        !text.starts_with('-')
            || counts(text)
            || WHICH.iter().any(|known| match known.ends_with('=') {
                true => text.starts_with(known),
                false => text == *known,
            })
    };
    let others = rest.iter().filter(|text| chooses(text)).count();
    let wanted = usize::from(*sub == "log");
    (formats == wanted && formats + others == rest.len()).then(|| Word {
        splits: true,
        ..Word::of([Piece::Hash], Span::default())
    })
}

/// What is known of the names that `find` or `fd` finds.
fn found(words: &[Word], outcome: &effects::Outcome) -> Listed {
    let has = |name: &str| {
        let mut names = outcome.options.iter().flat_map(|option| &option.names);
        names.any(|own| own == name)
    };
    let program = words.first().and_then(Word::text).map(path::last);
    if matches!(program, Some("fd" | "fdfind")) {
        let sure = outcome.options.iter().all(|option| option.sure);
        return Listed {
            by: "fd",
            shown: sure && !outcome.hidden,
            gitignore: sure && outcome.gitignore,
            links: match outcome.follows {
                true => Links::Followed,
                false => Links::Themselves,
            },
            nul: has("-0") || has("--print0"),
            ..Listed::default()
        };
    }
    let mut types = words
        .windows(2)
        .filter(|pair| pair.first().and_then(Word::text) == Some("-type"))
        .filter_map(|pair| pair.last()?.text());
    let typed = types.next().is_some_and(|kind| !kind.contains('l')) && types.next().is_none();
    Listed {
        by: "find",
        shown: plainly(words) && leaves_out_hidden(words, outcome),
        links: match () {
            () if outcome.follows => Links::Followed,
            () if typed && plainly(words) => Links::None,
            () => Links::Themselves,
        },
        nul: has("-print0"),
        ..Listed::default()
    }
}

/// `find . -not -path '*/.*'` before anything is done with a name: none has a part with a leading dot.
fn leaves_out_hidden(words: &[Word], outcome: &effects::Outcome) -> bool {
    // `-name !` asks for a name.
    let value_of = |at: usize| {
        let mut options = outcome.options.iter();
        options.any(|option| option.at + 1 == at && option.value.is_some())
    };
    let is_not = |at: usize| {
        let text = words.get(at).and_then(Word::text);
        matches!(text, Some("!" | "-not")) && !value_of(at)
    };
    // What it is given by name it finds in any case.
    let shown = |effect: &effects::Effect| {
        let hidden = |part: &str| part.starts_with('.') && !matches!(part, "." | "..");
        let text = effect.value.text();
        text.is_some_and(|text| !text.split('/').any(hidden))
    };
    if !outcome.effects.iter().all(shown) {
        return false;
    }
    let acts = |option: &Opt| {
        let acts = ["-exec", "-ok", "-print", "-delete", "-f", "-ls"];
        option
            .names
            .iter()
            .any(|name| acts.iter().any(|act| name.starts_with(act)))
    };
    let mut before = outcome.options.iter().take_while(|option| !acts(option));
    before.any(|option| {
        let path = option
            .names
            .iter()
            .any(|name| matches!(name.as_ref(), "-path" | "-wholename"));
        let value = option.value.as_ref().and_then(Word::text);
        let last = option.at.checked_sub(1);
        path && matches!(value, Some("*/.*" | "*/\\.*"))
            && last.is_some_and(|at| is_not(at) && !at.checked_sub(1).is_some_and(is_not))
    })
}

/// The names that a command finds and hands to what it starts itself (`find DIR -exec`).
pub(super) fn found_by(words: &[Word], outcome: &effects::Outcome) -> Option<Word> {
    let mut below_of = outcome.effects.iter().filter(|effect| {
        matches!(
            effect.what,
            What::Name {
                reach: Reach::Below { .. } | Reach::SomethingBelow
            }
        )
    });
    let only = below_of.next()?;
    let end = chosen(words, &outcome.options).unwrap_or_default();
    match below_of.next() {
        None => {
            let folder = only.value.text()?;
            Some(ending(below(folder, found(words, outcome)), &end))
        }
        Some(_) => None,
    }
}

/// How all names end that a search is told to choose: `find -name '*.rs'`, `fd -e rs`, `rg -t rust`.
fn chosen<'c>(words: &'c [Word], options: &'c [Opt]) -> Option<Vec<End<'c>>> {
    let values = |name: &str| -> Vec<Option<&'c str>> {
        let named = |option: &&'c Opt| option.names.iter().any(|own| own == name);
        let own = options.iter().filter(named);
        own.map(|option| option.value.as_ref().and_then(Word::text))
            .collect()
    };
    let has = |name: &str| !values(name).is_empty();
    let program = words.first().and_then(Word::text).map(path::last)?;
    let sure = options.iter().all(|option| option.sure);
    let ends: Vec<End<'c>> = match program {
        "find" => return expression::ends(words, options),
        "fd" | "fdfind" if sure => {
            let letters = |end: &&str| end.bytes().all(|b| b.is_ascii_alphanumeric());
            let end = |text: Option<&'c str>| {
                let text = text.filter(letters)?;
                Some(End {
                    text,
                    caseless: true,
                })
            };
            values("--extension")
                .into_iter()
                .map(end)
                .collect::<Option<_>>()?
        }
        "rg" if sure && !has("--type-add") && !has("--type-clear") => {
            let known = |name: Option<&str>| TYPES.iter().find(|(own, _)| Some(*own) == name);
            let all: Vec<_> = values("--type")
                .into_iter()
                .map(known)
                .collect::<Option<_>>()?;
            let ends = all.iter().flat_map(|(_, ends)| ends.split(' '));
            ends.flat_map(End::only).collect()
        }
        _ => return None,
    };
    (!ends.is_empty()).then_some(ends)
}

/// Types of files that `rg` knows, and how all their names end (`rg --type-list`).
const TYPES: &[(&str, &str)] = &[
    ("rust", ".rs"),
    ("go", ".go"),
    ("py", ".py .pyi"),
    ("python", ".py .pyi"),
    ("ts", ".ts .tsx .cts .mts"),
    ("typescript", ".ts .tsx .cts .mts"),
    ("js", ".js .jsx .cjs .mjs .vue"),
    ("css", ".css .scss"),
    ("swift", ".swift"),
    ("kotlin", ".kt .kts"),
];

/// The name that `find -execdir` hands on, in the folder where it is.
pub(super) fn found_here() -> Word {
    let names = Listed {
        by: "find",
        ..Listed::default()
    };
    below(".", names)
}

/// Which of git's trees names may be of that the index has no more.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    /// None.
    Index,
    /// The last commit.
    Head,
    /// Any other: it may hold what is ignored here by now.
    Another,
}

impl Which {
    fn of(name: &str) -> Self {
        match name {
            "" | "HEAD" | "@" => Self::Head,
            _ => Self::Another,
        }
    }
}

/// The trees of the names that `git diff` prints. What is not among the deleted stands in the later one.
fn compared(words: &[Word], outcome: &effects::Outcome) -> Which {
    let called = |option: &Opt, names: &[&str]| {
        let mut own = option.names.iter();
        own.any(|own| names.contains(&own.as_ref()))
    };
    let has = |names: &[&str]| outcome.options.iter().any(|own| called(own, names));
    if has(&["-R"]) || !outcome.options.iter().all(|own| own.sure) {
        return Which::Another;
    }
    let filters = outcome.options.iter();
    let filters: Vec<_> = filters
        .filter(|own| called(own, &["--diff-filter"]))
        .collect();
    let stays = |option: &&Opt| {
        let kinds = option.value.as_ref().and_then(Word::text).unwrap_or("*");
        let some = kinds.contains(|c: char| c.is_ascii_uppercase());
        !kinds.contains(['D', '*']) && (some || kinds.contains('d'))
    };
    let stay = matches!(filters.as_slice(), [only] if stays(only));
    let operands = words
        .iter()
        .zip(&outcome.roles)
        .take_while(|(word, _)| word.text() != Some("--"))
        .filter(|(word, role)| **role == Role::Operand && !effects::is_pathspec(word));
    let operands = operands.map(|(word, _)| word.text().unwrap_or("?"));
    let operands: Vec<&str> = operands.filter(|text| !text.ends_with('/')).collect();
    let trees: Vec<&str> = match operands.as_slice() {
        [range] if range.contains("..") => {
            let (first, last) = range.split_once("..").unwrap_or_default();
            vec![first, last.trim_start_matches('.')]
        }
        all => all.to_vec(),
    };
    let head = trees.iter().all(|tree| Which::of(tree) == Which::Head);
    match trees.as_slice() {
        [] | [_] if stay => Which::Index,
        [] if !has(&["--cached", "--staged"]) => Which::Index,
        [_, last] if stay => Which::of(last),
        _ if head => Which::Head,
        _ => Which::Another,
    }
}

/// The tree that `git ls-files` adds to the index.
fn with_tree(options: &[Opt]) -> Which {
    let called = |option: &&Opt| option.names.iter().any(|own| own == "--with-tree");
    let tree = |option: &Opt| Which::of(option.value.as_ref().and_then(Word::text).unwrap_or("?"));
    let mut trees = options.iter().filter(called).map(tree);
    match (trees.next(), trees.next()) {
        (None, _) => Which::Index,
        (Some(tree), None) => tree,
        _ => Which::Another,
    }
}

/// How all names end that a command's own options leave of what lies below a folder; none where any may be.
pub(super) fn ends_of<'c>(words: &'c [Word], options: &'c [Opt]) -> Vec<&'c str> {
    let program = words.first().and_then(Word::text).unwrap_or_default();
    match path::last(program) {
        "find" => match expression::ends(words, options) {
            Some(ends) if ends.iter().all(|end| !end.caseless) => {
                ends.into_iter().map(|end| end.text).collect()
            }
            _ => Vec::new(),
        },
        "grep" | "egrep" | "fgrep" | "rgrep" => included(options).unwrap_or_default(),
        "rg" => globbed(options).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// `grep -r --include='*.rs'`: what no option names is left out, unless the first of them is an `--exclude`.
fn included(options: &[Opt]) -> Option<Vec<&str>> {
    let called = |option: &Opt, name: &str| option.names.iter().any(|own| own == name);
    let mut ends = Vec::new();
    for option in options {
        if !option.sure || called(option, "--exclude") || called(option, "--exclude-from") {
            return None;
        }
        if called(option, "--include") {
            ends.push(glob_end(option.value.as_ref()?.text()?)?);
        }
    }
    Some(ends)
}

/// `rg -uu -g '*.rs'`: where a glob asks for names, no other is searched.
fn globbed(options: &[Opt]) -> Option<Vec<&str>> {
    let called = |option: &Opt, name: &str| option.names.iter().any(|own| own == name);
    let mut ends = Vec::new();
    for option in options {
        let caseless = ["--iglob", "--glob-case-insensitive"];
        if !option.sure || caseless.iter().any(|name| called(option, name)) {
            return None;
        }
        if called(option, "--glob") {
            let glob = option.value.as_ref()?.text()?;
            if !glob.starts_with('!') {
                ends.push(glob_end(glob).filter(|end| !end.contains('}'))?);
            }
        }
    }
    Some(ends)
}

/// `grep -r --exclude='.env*'`, `tar --exclude=.env`: globs of names that are left out. An `--include` may let them in
/// again.
pub(super) fn left_out(words: &[Word], roles: &[Role], options: &[Opt]) -> Vec<String> {
    let called = |option: &Opt, name: &str| option.names.iter().any(|own| own == name);
    let program = words.first().and_then(Word::text).unwrap_or_default();
    // What stands behind the first name `tar` does not heed.
    let end = match path::last(program) {
        "grep" | "egrep" | "fgrep" => usize::MAX,
        "tar" | "gtar" => {
            let first = roles.iter().position(|role| *role == Role::Operand);
            first.unwrap_or(usize::MAX)
        }
        _ => return Vec::new(),
    };
    let others = [
        "--include",
        "--anchored",
        "--no-wildcards",
        "--no-anchored",
        "--wildcards",
    ];
    let changes = |option: &Opt| !option.sure || others.iter().any(|name| called(option, name));
    if options.iter().any(changes) {
        return Vec::new();
    }
    // One star at an end, and letters: read alike by all.
    let plain = |glob: &&str| {
        let bare = glob.strip_suffix('*').or_else(|| glob.strip_prefix('*'));
        let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let bare = bare.unwrap_or(glob);
        !bare.is_empty() && bare.chars().all(letter)
    };
    let excludes = options
        .iter()
        .filter(|option| called(option, "--exclude") && option.at < end);
    let globs = excludes.filter_map(|option| option.value.as_ref()?.text().filter(plain));
    globs.map(str::to_owned).collect()
}

/// Whether all that `find` asks of a name must hold. `! -path x` drops names; anything else in brackets, behind an `or`
/// or a `not`, may let others in.
fn plainly(words: &[Word]) -> bool {
    words
        .iter()
        .enumerate()
        .all(|(at, word)| match word.text() {
            None => false,
            Some("-o" | "-or" | "," | "(" | ")") => false,
            Some("!" | "-not") => words.get(at + 1).and_then(Word::text) == Some("-path"),
            Some(_) => true,
        })
}

/// The end of a glob that is only text.
pub(super) fn glob_end(glob: &str) -> Option<&str> {
    let end = glob.rsplit(['*', '?', ']', '/']).next()?;
    (!end.is_empty() && !end.contains(['\\', '['])).then_some(end)
}

/// Filters, and their options with which lines still come through as they are, or not at all.
const FILTERS: &[(&str, &str)] = &[
    ("cat", "-u"),
    ("head", "-n --lines -q --quiet --silent"),
    ("tail", "-n --lines -q --quiet --silent"),
    ("tac", ""),
    ("shuf", "-n --head-count"),
    (
        "sort",
        "-r -n -u -f -k -t -V -h -g -M -b -d -i -s -R --reverse --unique --key --version-sort",
    ),
    ("uniq", "-i -f -s -w -u -d --unique --repeated"),
    ("grep", GREP),
    ("egrep", GREP),
    ("fgrep", GREP),
];
const GREP: &str = "-v -i -y -E -F -G -P -w -x -e -m -s -a -h -A -B -C --invert-match --ignore-case --extended-regexp";

/// Whether an option is one of these, or a count of lines: `head -5`.
fn drops(option: &Opt, known: &str) -> bool {
    let count = |name: &str| {
        let digits = name.strip_prefix('-').unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is = |name: &str| count(name) || known.split(' ').any(|own| own == name);
    option.sure && option.names.iter().any(|name| is(name))
}

/// The names that come through a filter: it drops lines, it does not change them.
pub(super) fn filtered(words: &[Word], names: Word) -> Option<Word> {
    let outcome = effects::outcome(words, Stdin::Fed);
    let quiet = outcome.known
        && outcome.only_reads
        && outcome.escalations.is_empty()
        && outcome.starts.is_empty()
        && outcome.effects.iter().all(|effect| {
            matches!(
                effect.what,
                What::Path {
                    reach: Reach::Itself,
                    ..
                }
            ) && effect.value.text() == Some("-")
        });
    let keeps = FILTERS
        .iter()
        .find(|(name, _)| words.first().and_then(Word::text).map(path::last) == Some(*name))
        .is_some_and(|(_, options)| outcome.options.iter().all(|option| drops(option, options)));
    let end = match words {
        [program, pattern] if program.text() == Some("grep") => pattern.text().and_then(line_end),
        _ => None,
    };
    let end = end.map(End::only).unwrap_or_default();
    (quiet && keeps && !ends_with_nul(&names)).then(|| ending(names, &end))
}

/// How every name ends that `git ls-files '*.rs'` prints.
fn pathspec<'w>(words: &'w [Word], roles: &[Role]) -> Option<&'w str> {
    let mut operands = words
        .iter()
        .zip(roles)
        .filter(|(_, role)| **role == Role::Operand);
    let text = operands.next()?.0.text()?;
    let only = operands.next().is_none() && text.contains('*') && !text.starts_with(':');
    glob_end(text).filter(|_| only)
}

/// How every line ends that fits `\.rs$`.
fn line_end(pattern: &str) -> Option<&str> {
    let end = pattern.strip_suffix('$')?;
    if pattern.contains(['|', '\n']) {
        return None;
    }
    let (_, name) = end.rsplit_once("\\.")?;
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric());
    plain
        .then(|| end.get(end.len() - name.len() - 1..))
        .flatten()
}

/// Names of which the end is known too, unless it is already.
fn ending(mut names: Word, ends: &[End<'_>]) -> Word {
    if matches!(names.pieces.last(), Some(Piece::Below(_))) {
        for piece in expression::tail(ends) {
            names.pieces.add(piece);
        }
    }
    names
}

/// The words of a simple command whose output goes where it is looked for.
pub(super) fn plain(tree: &Tree, command: &Command, env: &Env) -> Option<Vec<Word>> {
    let stage = reading(tree, command, env)?;
    stage.fed.then_some(stage.words)
}

/// The program that words start, by its name as written: no function and no alias of that name stands before it.
pub(super) fn program<'t>(tree: &'t Tree, raws: &[Raw], env: &Env) -> Option<&'t str> {
    let [Part::Text(span)] = &*raws.first()?.parts else {
        return None;
    };
    let name = tree.of(*span);
    let shadowed = env.functions.contains_key(name) || env.aliases.contains_key(name);
    (!shadowed).then_some(name)
}

/// The same, wherever it reads from.
fn reading(tree: &Tree, command: &Command, env: &Env) -> Option<Stage> {
    if env.within >= NESTED {
        return None;
    }
    let Shape::Simple {
        assigns,
        words: raws,
    } = &command.shape
    else {
        return None;
    };
    let kept = command
        .redirects
        .iter()
        .all(|redirect| tree.of(redirect.span).starts_with(['2', '<']));
    program(tree, raws, env)?;
    if !assigns.is_empty() || !kept || raws.len() > 64 {
        return None;
    }
    let mut inner = env.clone();
    inner.within += 1;
    let mut found = Vec::with_capacity(raws.len());
    for raw in raws {
        words::words(tree, raw, &mut inner, &mut found);
    }
    let fed = command.redirects.iter().all(|redirect| {
        tree.of(redirect.span).starts_with('2')
            && !matches!(redirect.what, Target::From(_) | Target::Read(_))
    });
    Some(Stage { words: found, fed })
}

/// Some path below a folder.
fn below(folder: &str, names: Listed) -> Word {
    let start = Piece::Text(format!("{}/", folder.trim_end_matches('/')).into());
    let mut word = Word::of([start, Piece::Below(names)], Span::default());
    word.splits = true;
    word
}
