//! What an unquoted word may hold besides the first of its words: `sort -k $x` may be `sort -k 1 -o acl.toml`.
//!
//! In: the words of one command, and what they do as they stand. Out: the words again, each that the shell may split
//! followed by what it may split off. A path that cannot be computed needs no second word: it may be any already.

use super::{Outcome, Role, Stdin};
use crate::call::word::{Piece, Word};

/// The words with those that they may split into, and what all of them do; none where that makes no difference.
pub(in crate::call::shell) fn severally(
    words: &[Word],
    outcome: &Outcome,
    stdin: Stdin,
) -> Option<(Vec<Word>, Outcome)> {
    if !words.iter().any(may_split) {
        return None;
    }
    let role = |at: usize| outcome.roles.get(at).copied().unwrap_or(Role::Operand);
    let splits = |(at, word): (usize, &Word)| {
        let own = !matches!(role(at), Role::Program | Role::Rest);
        (own && may_split(word) && !is_any_path(word, outcome)).then(|| besides(word))
    };
    let more: Vec<Option<Word>> = words.iter().enumerate().map(splits).collect();
    if more.iter().all(Option::is_none) {
        return None;
    }
    // Who compares words knows that a word which is nothing else may be several.
    let mut both = words.iter().zip(&more).enumerate();
    let alone = both.all(|(at, (word, more))| {
        more.is_none() || role(at) == Role::Operand && word.prefix().is_empty()
    });
    let all = words.iter().cloned().zip(more);
    let all: Vec<Word> = all
        .flat_map(|(word, more)| std::iter::once(word).chain(more))
        .collect();
    let several = super::outcome(&all, stdin);
    let same = several.effects.len() == outcome.effects.len()
        && several.escalations.len() == outcome.escalations.len()
        && several.starts.len() == outcome.starts.len();
    (!alone || !same).then_some((all, several))
}

/// Whether a word that cannot be computed may begin with a dash. `find` alone writes the folder before each name.
pub(in crate::call::shell) fn may_be_option(word: &Word) -> bool {
    match (word.listed(), word.pieces.first()) {
        (Some(listed), _) => word.prefix() == "./" && listed.by != "find",
        (None, Some(Piece::Unknown(_))) => true,
        (None, _) => word.is_unknown() && word.prefix().starts_with('-'),
    }
}

/// Numbers and the names of objects have no blank, and are harmless as words of their own.
fn may_split(word: &Word) -> bool {
    let listed = word.listed();
    listed.is_some_and(|listed| listed.split)
        || word.splits && (listed.is_some() || word.is_unknown())
}

/// Whether all of it is the path, or the name, of an effect.
fn is_any_path(word: &Word, outcome: &Outcome) -> bool {
    let whole = word.listed().is_some() || word.prefix().is_empty();
    let mut effects = outcome.effects.iter().map(|effect| &effect.value);
    whole && effects.any(|value| value.span == word.span && value.pieces == word.pieces)
}

/// Words that end as it does: what stands before the first blank is gone.
fn besides(word: &Word) -> Word {
    let literal = |piece: &&Piece| word.listed().is_none() && matches!(piece, Piece::Text(_));
    let pieces = word.pieces.iter().skip_while(literal).cloned();
    Word {
        splits: true,
        ..Word::of(pieces, word.span)
    }
}
