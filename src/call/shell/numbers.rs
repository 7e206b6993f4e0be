//! What arithmetic may evaluate without running what nobody saw: numbers, and names and texts that lead to numbers.
//!
//! Bash takes the text of a value for an expression, and a subscript in it is expanded: a value that cannot be computed
//! may hold `a[$(rm x)]`. In: a word or an expression, and what is known of the shell. Out: whether all of it is known.

use super::env::{Env, Value};
use super::names::{self, Stage};
use super::parse::is_name;
use crate::call::word::{Piece, Word};
use crate::source::Span;

/// Names that one expression may lead to.
const NAMES: usize = 64;

/// A number that cannot be computed.
pub(super) fn number() -> Word {
    Word::of([Piece::Number], Span::default())
}

/// Whether the word is a number, known or not.
pub(super) fn is_number(word: &Word) -> bool {
    let digits = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    !word.pieces.is_empty()
        && word.pieces.iter().all(|piece| match piece {
            Piece::Digits | Piece::Number => true,
            Piece::Text(text) => digits(text),
            _ => false,
        })
}

/// Whether everything that arithmetic evaluates of this word is known.
pub(super) fn is_settled(word: &Word, env: &Env) -> bool {
    settled(word, env, &mut { NAMES })
}

fn settled(word: &Word, env: &Env, left: &mut usize) -> bool {
    word.pieces.iter().all(|piece| match piece {
        Piece::Digits | Piece::Number => true,
        Piece::Text(text) => {
            !text.contains(['$', '`'])
                && names_in(text).all(|name| name_is_settled(name, env, left))
        }
        _ => false,
    })
}

fn name_is_settled(name: &str, env: &Env, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    match env.value(name) {
        _ if *left == 0 => false,
        Value::Known(word) => settled(&word, env, left),
        Value::Unset => true,
        // What nobody assigns here is unset, or came with the shell: no text that this line has made.
        Value::Unknown => !env.touched(name),
    }
}

/// The names in an expression; not the digits of `0x1f` and `16#ff`.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '#'))
        .filter(|name| is_name(name))
}

/// Whether everything that an expression evaluates is known: what it assigns first is a number from there on.
pub(super) fn is_settled_expression(word: &Word, env: &Env) -> bool {
    let Some(text) = word.text().filter(|text| text.contains('=')) else {
        return is_settled(word, env);
    };
    let mut env = env.clone();
    text.split([',', ';']).all(|clause| {
        let (name, rest) = match clause.split_once('=') {
            Some((name, rest)) if !rest.starts_with('=') => (name.trim(), rest),
            _ => ("", clause),
        };
        let target = is_name(name);
        let rest = if target { rest } else { clause };
        let settled = is_settled(&Word::known(rest, word.span), &env);
        if target {
            env.hand_down(name, Value::Known(number()));
        }
        settled
    })
}

/// What stands in the brackets that a word begins with: `[$x]=1`.
pub(super) fn subscript_of(word: &Word) -> Word {
    let mut pieces = Vec::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) => match text.split_once(']') {
                Some((inside, _)) => {
                    pieces.push(Piece::Text(inside.into()));
                    break;
                }
                None => pieces.push(piece.clone()),
            },
            piece => pieces.push(piece.clone()),
        }
    }
    Word::of(pieces, word.span)
}

/// The names that an expression assigns, and whether it surely does.
pub(super) fn assigned(text: &str) -> (Vec<&str>, bool) {
    let mut all = Vec::new();
    let mut at = 0;
    for name in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let end = at + name.len();
        let (before, after) = (text.get(..at).unwrap_or(""), text.get(end..).unwrap_or(""));
        at = end + after.chars().next().map_or(0, char::len_utf8);
        if !is_name(name) {
            continue;
        }
        let (before, after) = (before.trim_end(), after.trim_start());
        let operator = after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
        let sets = operator.starts_with('=') && !operator.starts_with("==");
        let steps = ["++", "--"];
        let stepped = |text: &str| steps.iter().any(|step| text.starts_with(step));
        if sets || stepped(after) || steps.iter().any(|step| before.ends_with(step)) {
            all.push(name);
        }
    }
    (all, !text.contains(['?', '&', '|']))
}

/// Whether a pipeline surely prints one number, or numbers alone: `wc -l`, `$(seq 5)`.
pub(super) fn prints_number(stages: &[Option<Stage>], env: &Env) -> bool {
    let mut is = false;
    for stage in stages.iter().filter(|_| env.changed.is_empty()) {
        let words = stage.as_ref().map_or(&[][..], |stage| &stage.words);
        let texts: Vec<Option<&str>> = words.iter().map(Word::text).collect();
        is = counts(words, &texts) || (is && passes(&texts));
    }
    is
}

/// Whether what prints a number prints exactly one, whatever there is: `$(nproc)` is one word.
pub(super) fn prints_one(stages: &[Option<Stage>]) -> bool {
    let one = |words: &[Word]| {
        let texts: Option<Vec<&str>> = words.iter().map(Word::text).collect();
        match texts.as_deref() {
            Some(["nproc"] | ["getconf", _] | ["id", "-u" | "-g"]) => true,
            Some(["date", format]) => format.matches(['%', ' ']).count() == 1,
            _ => false,
        }
    };
    names::only(stages).is_some_and(one)
}

/// What a stage leaves of a number: itself.
fn passes(words: &[Option<&str>]) -> bool {
    matches!(
        words,
        [Some("tr"), Some("-d"), Some(_)]
            | [Some("xargs" | "sort" | "cat")]
            | [Some("head" | "tail"), Some(_)]
    )
}

/// Whether a command prints numbers and nothing else, whatever it is given.
fn counts(words: &[Word], texts: &[Option<&str>]) -> bool {
    let Some((Some(program), rest)) = texts.split_first() else {
        return false;
    };
    let known: Option<Vec<&str>> = rest.iter().copied().collect();
    match (*program, known.as_deref().unwrap_or_default()) {
        ("nproc", _) => rest.is_empty(),
        ("tput", ["cols" | "lines"]) | ("id", ["-u" | "-g"]) => true,
        ("printf", _) => matches!(rest, [Some("%d" | "%i" | "%d\\n"), ..]),
        ("getconf", [name]) => name.starts_with("_NPROCESSORS_"),
        ("sysctl", ["-n", name]) => name.ends_with("cpu"),
        // With a file it prints its name as well.
        ("wc", [flags]) => letters(flags, "lwcm"),
        // With several files it prints their names as well.
        ("grep" | "egrep" | "fgrep", _) => match rest {
            [Some(flags), Some(_), file @ ..] => {
                let one = file.len() < 2 && words.last().is_some_and(one_word);
                flags.contains('c') && letters(flags, "civwxEFsn") && one
            }
            _ => false,
        },
        ("expr", _) => matches!(rest, [_, Some("+" | "-" | "*" | "/" | "%"), _]),
        ("date", _) => rest.iter().flatten().any(|word| {
            word.strip_prefix('+')
                .is_some_and(|format| directives(format, "sNYmdHMSjyuwVe"))
        }),
        ("stat", _) => match rest {
            [Some("-c" | "-f" | "--format"), Some(format), ..] => {
                directives(format, "sYXZWigubBhdza")
            }
            _ => false,
        },
        // Options end at the first number.
        ("seq", _) => {
            matches!(rest, [Some(first), ..] if first.bytes().all(|byte| byte.is_ascii_digit()))
        }
        ("git", ["rev-list", "--count", ..]) => true,
        ("git", ["log", "-1", "--format=%ct" | "--format=%at"]) => true,
        ("git", ["log", "--format=%ct" | "--format=%at", "-1"]) => true,
        ("jq", ["-r" | "-n", filter, ..] | [filter, ..]) => {
            let last = filter.rsplit('|').next().unwrap_or("");
            last.trim() == "length" && !filter.starts_with('-')
        }
        ("awk" | "gawk", [program, ..]) => program.replace(' ', "") == "END{printNR}",
        ("curl", all) => only_status(all),
        _ => false,
    }
}

fn one_word(word: &Word) -> bool {
    let glob = |piece: &Piece| matches!(piece, Piece::Star | Piece::One | Piece::Class(_));
    !word.splits && !word.pieces.iter().any(glob)
}

/// `-lw` of these letters.
fn letters(flags: &str, known: &str) -> bool {
    let flags = flags.strip_prefix('-').unwrap_or("");
    !flags.is_empty() && flags.chars().all(|c| known.contains(c))
}

/// `%s%N` of these letters.
fn directives(format: &str, known: &str) -> bool {
    let Some(rest) = format.strip_prefix('%') else {
        return false;
    };
    rest.split('%').all(|part| {
        let after = part.get(1..).unwrap_or("x");
        part.starts_with(|c| known.contains(c)) && after.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `curl -s -o /dev/null -w '%{http_code}' URL`: the status, and nothing else.
fn only_status(words: &[&str]) -> bool {
    let (mut quiet, mut status, mut others) = (false, false, 0);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "-o" => quiet = words.next() == Some(&"/dev/null"),
            "-w" => status = matches!(words.next(), Some(&("%{http_code}" | "%{response_code}"))),
            "-m" | "--max-time" | "--connect-timeout" => drop(words.next()),
            flags if letters(flags, "sSLkf") => {}
            _ => others += 1,
        }
    }
    quiet && status && others == 1
}
