//! Names that a command prints for others to use: `find DIR`, `git ls-files`, `rg -l` and the like.
//!
//! In: the words of the stages of a pipeline. Out: one word that stands for the names: some path below a
//! folder. What prints anything else, or changes what it prints, gives none.

use super::effects::{self, Stdin, What};
use super::env::Env;
use super::syntax::{Command, List, Part, Shape, Target, Tree};
use super::words;
use crate::call::access::{Mode, Opt, Reach, Role};
use crate::call::path;
use crate::call::word::{Piece, Word};
use crate::source::Span;

/// Levels of substitutions whose output is computed. Each is looked at more than once, so that the work doubles
/// with every level.
const NESTED: usize = 3;

/// What prints names that end with a NUL: only what reads such names gets them.
const NUL: &str = "find -print0";

/// Whether these are names that end with a NUL.
pub(super) fn ends_with_nul(names: &Word) -> bool {
    let label = format!("<{NUL}>");
    names.pieces.contains(&Piece::Below(label))
}

/// The words of a list that is one simple command.
pub(super) fn only(tree: &Tree, list: &List, env: &Env) -> Option<Vec<Word>> {
    let List(items) = list;
    let [item] = items.as_slice() else {
        return None;
    };
    match item.first.stages.as_slice() {
        [stage] if item.rest.is_empty() && !item.background && !item.first.negated => {
            plain(tree, stage, env)
        }
        _ => None,
    }
}

/// The names that a list prints, where it is one pipeline of a lister and filters.
pub(super) fn of_list(tree: &Tree, list: &List, env: &Env) -> Option<Word> {
    let List(items) = list;
    let [item] = items.as_slice() else {
        return None;
    };
    if !item.rest.is_empty() || item.background || item.first.negated {
        return None;
    }
    let (first, rest) = item.first.stages.split_first()?;
    let mut names = listed(tree, first, env)?;
    for stage in rest {
        names = filtered(tree, stage, env, names)?;
    }
    Some(names)
}

/// What prints names, with some options or without.
const LISTERS: &[&str] = &[
    "find", "fd", "fdfind", "rg", "grep", "egrep", "fgrep", "git", "ls",
];

/// The names that one command prints by itself.
pub(super) fn listed(tree: &Tree, command: &Command, env: &Env) -> Option<Word> {
    let words = plain(tree, command, env)?;
    let program = path::last(words.first()?.text()?);
    let second = words.get(1).and_then(Word::text).unwrap_or_default();
    let git = ["ls-files", "diff", "show", "grep"];
    if !LISTERS.contains(&program) || program == "git" && !git.contains(&second) {
        return None;
    }
    let outcome = effects::outcome(&words, Stdin::None);
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
        // It prints names without their folder: they are looked up where they are used.
        "ls" => {
            return (!has(&["-l", "-R", "--recursive", "--format"])).then(|| below(".", program));
        }
        _ => false,
    };
    if !prints {
        return None;
    }
    // What these skip by themselves is told by their name; a listing without that is told by another.
    let program = match program {
        "find" if has(&["-print0"]) => NUL,
        "rg" if has(&["-.", "--hidden", "-u", "--unrestricted", "-L", "--follow"]) => "rg …",
        "rg" if has(&["--no-ignore", "--no-ignore-vcs", "--no-ignore-parent"]) => "rg …",
        "fd" | "fdfind" if has(&["-H", "--hidden", "-u", "--unrestricted", "-L", "--follow"]) => {
            "fd …"
        }
        "fd" | "fdfind" if has(&["-I", "--no-ignore", "--no-ignore-vcs"]) => "fd …",
        "fdfind" => "fd",
        "git" if has(&["-o", "--others", "-i", "--ignored", "--no-index"]) => "git …",
        program => program,
    };
    let end = match program {
        "find" | NUL => find_end(&words, &outcome.options),
        "git" if second == "ls-files" => pathspec(&words, &outcome.roles),
        _ => None,
    };
    let below = |folder: &str, program: &str| ending(below(folder, program), end);
    let mut folders: Vec<&str> = Vec::new();
    for effect in &outcome.effects {
        match effect.what {
            What::Name { .. }
            | What::Path {
                mode: Mode::Read, ..
            } => folders.push(effect.value.text()?),
            _ => return None,
        }
    }
    match folders.as_slice() {
        [] => Some(below(".", program)),
        [only] => Some(below(only, program)),
        // Several folders are told by what holds them all: the one the shell is in.
        all if all.iter().all(|folder| {
            !folder.starts_with('/') && !folder.split('/').any(|part| part == "..")
        }) =>
        {
            Some(below(".", program))
        }
        _ => None,
    }
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
    let end = find_end(words, &outcome.options);
    match below_of.next() {
        None => {
            let folder = only.value.text()?;
            Some(ending(below(folder, "find"), end))
        }
        Some(_) => None,
    }
}

/// How all names end that a command's own options leave of what lies below a folder; none where any may be.
pub(super) fn ends_of<'c>(words: &'c [Word], options: &'c [Opt]) -> Vec<&'c str> {
    let program = words.first().and_then(Word::text).unwrap_or_default();
    match path::last(program) {
        "find" => find_end(words, options).into_iter().collect(),
        "grep" | "egrep" | "fgrep" | "rgrep" => included(options).unwrap_or_default(),
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

/// How every name ends that `find` prints or hands on: `-name '*.rs'`, where that must hold.
fn find_end<'c>(words: &'c [Word], options: &'c [Opt]) -> Option<&'c str> {
    let acts = |option: &&Opt| {
        let name = option.names.first().map_or("", AsRef::as_ref);
        let acts = [
            "-exec", "-ok", "-print", "-ls", "-fprint", "-fls", "-delete",
        ];
        acts.iter().any(|act| name.starts_with(act))
    };
    let first_act = options.iter().find(acts).map_or(words.len(), |act| act.at);
    // `! -path x` drops names; anything else in brackets, behind an `or` or a `not`, may let others in.
    let plain = words
        .iter()
        .enumerate()
        .all(|(at, word)| match word.text() {
            None => false,
            Some("-o" | "-or" | "," | "(" | ")") => false,
            Some("!" | "-not") => words.get(at + 1).and_then(Word::text) == Some("-path"),
            Some(_) => true,
        });
    let pattern = options
        .iter()
        .find(|option| option.at < first_act && option.names.iter().any(|name| name == "-name"))?;
    glob_end(pattern.value.as_ref()?.text()?).filter(|_| plain)
}

/// The end of a glob that is only text.
fn glob_end(glob: &str) -> Option<&str> {
    let end = glob.rsplit(['*', '?', ']', '/']).next()?;
    (!end.is_empty() && !end.contains(['\\', '['])).then_some(end)
}

/// The names that come through a filter: it drops lines, it does not change them.
pub(super) fn filtered(tree: &Tree, command: &Command, env: &Env, names: Word) -> Option<Word> {
    let words = plain(tree, command, env)?;
    let outcome = effects::outcome(&words, Stdin::Fed);
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
    let has = |names: &[&str]| {
        outcome.options.iter().any(|option| {
            option
                .names
                .iter()
                .any(|name| names.contains(&name.as_ref()))
        })
    };
    let keeps = match path::last(words.first()?.text()?) {
        "head" | "tail" | "tac" | "shuf" | "cat" => true,
        "sort" => !has(&["-z"]),
        "uniq" => !has(&["-c", "--count"]),
        "grep" | "egrep" | "fgrep" => !has(&[
            "-o",
            "--only-matching",
            "-c",
            "--count",
            "-n",
            "--line-number",
            "-b",
            "--byte-offset",
            "-l",
            "-L",
            "-H",
        ]),
        _ => false,
    };
    let end = match words.as_slice() {
        [program, pattern] if program.text() == Some("grep") => pattern.text().and_then(line_end),
        _ => None,
    };
    (quiet && keeps && !ends_with_nul(&names)).then(|| ending(names, end))
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
fn ending(names: Word, end: Option<&str>) -> Word {
    match (names.pieces.last(), end) {
        (Some(Piece::Below(_)), Some(end)) => Word {
            pieces: [names.pieces.as_slice(), &[Piece::Text(end.to_owned())]].concat(),
            ..names
        },
        _ => names,
    }
}

/// The words of a simple command whose output goes where it is looked for.
fn plain(tree: &Tree, command: &Command, env: &Env) -> Option<Vec<Word>> {
    let own = command.redirects.iter().all(|redirect| {
        tree.of(redirect.span).starts_with('2')
            && !matches!(redirect.what, Target::From(_) | Target::Read(_))
    });
    own.then(|| reading(tree, command, env)).flatten()
}

/// The same, wherever it reads from.
pub(super) fn reading(tree: &Tree, command: &Command, env: &Env) -> Option<Vec<Word>> {
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
    let Some([Part::Text(program)]) = raws.first().map(|raw| raw.parts.as_slice()) else {
        return None;
    };
    let program = tree.of(*program);
    if !assigns.is_empty()
        || !kept
        || raws.len() > 64
        || env.functions.contains_key(program)
        || env.aliases.contains_key(program)
    {
        return None;
    }
    let mut inner = env.clone();
    inner.within += 1;
    Some(
        raws.iter()
            .flat_map(|raw| words::words(tree, raw, &mut inner))
            .collect(),
    )
}

/// Some path below a folder.
pub(super) fn below(folder: &str, printed_by: &str) -> Word {
    let start = Piece::Text(format!("{}/", folder.trim_end_matches('/')));
    let mut word = Word::of(
        [start, Piece::Below(format!("<{printed_by}>"))],
        Span::default(),
    );
    word.splits = true;
    word
}
