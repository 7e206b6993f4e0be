//! One glob dialect for tool names, command words, path components and fact values.
//!
//! In: the text of one word or component. Out: its [`Glob`]s, one for each brace alternative.
//! `*` any characters, `?` one, `[a-z]` and `[!a-z]` one of a set, `{a,b}` alternatives (nesting), backslash escapes.
//! Refuses `**` inside a word, open brackets and braces, extglob and what is plainly a regular expression.
//! What a word may be is told by its pieces: [`Glob::matches`] answers [`Fit::No`], `May…` or `Must`.

use super::word::{Piece, Word};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::sync::Arc;

/// How a pattern and a word relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// No value of the word matches.
    No,
    /// A part that cannot be computed may make it match.
    MayUnknown,
    /// A shell glob may stand for a name that matches.
    MayPattern,
    /// Every value of the word matches.
    Must,
}

impl Fit {
    /// The fit of two conditions that must both hold.
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// The fit of two conditions of which one must hold.
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }

    /// Whether it may match at all.
    pub fn may(self) -> bool {
        self != Self::No
    }
}

impl From<bool> for Fit {
    fn from(yes: bool) -> Self {
        if yes { Self::Must } else { Self::No }
    }
}

/// A parsed glob without braces. Copies share what they hold: a policy has thousands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Glob(Form);

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Form {
    /// No wildcard: nearly all words of a policy.
    Literal(SmolStr),
    /// At least one token that is no character.
    Wild(Arc<[Token]>),
}

/// One character of a pattern, or a wildcard.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Token {
    /// This character.
    Char(char),
    /// One character.
    One,
    /// Any characters.
    Star,
    /// One of a set of ranges, or none of them.
    Class {
        /// Matches what is in none of the ranges.
        negated: bool,
        /// Inclusive ranges.
        ranges: Vec<(char, char)>,
    },
}

impl Token {
    /// The character that it stands for alone.
    pub fn char(&self) -> Option<char> {
        match self {
            Self::Char(c) => Some(*c),
            _ => None,
        }
    }

    fn accepts(&self, c: char, fold: bool) -> bool {
        match self {
            Self::Char(own) => *own == c || (fold && same_folded(*own, c)),
            Self::One | Self::Star => true,
            Self::Class { negated, ranges } => {
                let has = |c: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
                let inside =
                    has(c) || (fold && (c.to_lowercase().any(has) || c.to_uppercase().any(has)));
                inside != *negated
            }
        }
    }
}

/// Whether two characters are the same but for letter case.
pub fn same_folded(a: char, b: char) -> bool {
    if a.is_ascii() && b.is_ascii() {
        return a.eq_ignore_ascii_case(&b);
    }
    a == b || a.to_lowercase().eq(b.to_lowercase()) || a.to_uppercase().eq(b.to_uppercase())
}

impl Glob {
    /// The glob that matches this text and nothing else.
    pub fn literal(text: &str) -> Self {
        Self(Form::Literal(text.into()))
    }

    /// The glob of a word in which every character stands for itself: nearly all of a policy.
    pub fn plain(text: &str) -> Option<Self> {
        (is_plain(text) && !text.contains(['{', '}'])).then(|| Self::literal(text))
    }

    /// Reads a word or component; one glob for each brace alternative. The error says what is wrong.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        if let Some(plain) = Self::plain(text) {
            return Ok(vec![plain]);
        }
        if is_plain(text) {
            if let Some(all) = Self::one_brace(text) {
                return Ok(all);
            }
            return Ok(expand(text.as_bytes(), &|byte, c| *byte == c as u8)?
                .iter()
                .map(|own| Self::literal(&String::from_utf8_lossy(own)))
                .collect());
        }
        let chars: Vec<(char, bool)> = unescape(text)?;
        Self::parse_marked(&chars)
    }

    /// The alternatives of `a{b,c}d`, and of nothing else that has braces: what [`expand`] makes of it, at a tenth.
    fn one_brace(text: &str) -> Option<Vec<Self>> {
        let (before, rest) = text.split_once('{')?;
        let (inside, after) = rest.split_once('}')?;
        let further = |part: &str| part.contains(['{', '}']);
        let parts = inside.bytes().filter(|byte| *byte == b',').count() + 1;
        if !(2..=MOST_ALTERNATIVES).contains(&parts)
            || [before, inside, after].into_iter().any(further)
        {
            return None;
        }
        let mut out = Vec::with_capacity(parts);
        let mut word = String::with_capacity(text.len());
        for part in inside.split(',') {
            word.clear();
            word.extend([before, part, after]);
            out.push(Self::literal(&word));
        }
        Some(out)
    }

    /// Reads characters that are marked `true` where they stand for themselves (they were quoted or escaped).
    pub fn parse_marked(chars: &[(char, bool)]) -> Result<Vec<Self>, String> {
        foreign_syntax(chars)?;
        expand(chars, &|own, c| *own == (c, false))?
            .iter()
            .map(|chars| {
                let wild = chars.iter().any(|c| matches!(c, ('*' | '?' | '[', false)));
                if wild {
                    return tokens(chars).map(Self::of);
                }
                let text: String = chars.iter().map(|(c, _)| *c).collect();
                Ok(Self::literal(&text))
            })
            .collect()
    }

    fn of(tokens: Vec<Token>) -> Self {
        let literal: Option<String> = tokens.iter().map(Token::char).collect();
        Self(match literal {
            Some(text) => Form::Literal(text.into()),
            None => Form::Wild(tokens.into()),
        })
    }

    /// Whether its literal start begins with this text.
    pub fn begins(&self, start: &str) -> bool {
        match &self.0 {
            Form::Literal(text) => text.starts_with(start),
            Form::Wild(tokens) => {
                let mut tokens = tokens.iter();
                start
                    .chars()
                    .all(|c| tokens.next().and_then(Token::char) == Some(c))
            }
        }
    }

    /// Whether this character is written in it.
    pub fn holds(&self, c: char) -> bool {
        match &self.0 {
            Form::Literal(text) => text.contains(c),
            Form::Wild(tokens) => tokens.contains(&Token::Char(c)),
        }
    }

    /// The shell glob that a word is: what cannot be computed of it is `*`.
    pub fn of_shell(word: &Word) -> Self {
        let mut out = Vec::new();
        for unit in Unit::of(word) {
            match unit {
                Unit::Char(c) => out.push(Token::Char(c)),
                Unit::Single => out.push(Token::One),
                Unit::Class(class) => out.extend(class),
                Unit::NoSlash | Unit::Digits | Unit::Number | Unit::Hash | Unit::Any => {
                    out.push(Token::Star)
                }
            }
        }
        out.dedup_by(|a, b| *a == Token::Star && *b == Token::Star);
        Self::of(out)
    }

    /// The tokens, for whoever reasons about languages.
    pub fn tokens(&self) -> Cow<'_, [Token]> {
        match &self.0 {
            Form::Literal(text) => text.chars().map(Token::Char).collect(),
            Form::Wild(tokens) => Cow::Borrowed(tokens),
        }
    }

    /// The text, where the glob has no wildcard.
    pub fn as_literal(&self) -> Option<&str> {
        match &self.0 {
            Form::Literal(text) => Some(text),
            Form::Wild(_) => None,
        }
    }

    /// The literal text at its start (`id_*` → `id_`).
    pub fn literal_start(&self) -> String {
        self.tokens().iter().map_while(Token::char).collect()
    }

    /// The literal text at its end (`*.pem` → `.pem`).
    pub fn literal_end(&self) -> String {
        let tokens = self.tokens();
        let end: Vec<char> = tokens.iter().rev().map_while(Token::char).collect();
        end.into_iter().rev().collect()
    }

    /// How many characters are literal: the more, the more specific.
    pub fn literal_count(&self) -> usize {
        self.tokens().iter().filter_map(Token::char).count()
    }

    /// Whether it is `*` alone.
    pub fn is_star(&self) -> bool {
        matches!(&self.0, Form::Wild(tokens) if matches!(**tokens, [Token::Star]))
    }

    /// Whether the whole text matches; `fold` ignores letter case.
    pub fn matches_text(&self, text: &str, fold: bool) -> bool {
        let tokens = match &self.0 {
            Form::Literal(own) => {
                return match fold {
                    false => **own == *text,
                    true if own.eq_ignore_ascii_case(text) => true,
                    true if own.is_ascii() && text.is_ascii() => false,
                    true => {
                        let (mut own, mut text) = (own.chars(), text.chars());
                        loop {
                            match (own.next(), text.next()) {
                                (None, None) => return true,
                                (Some(a), Some(b)) if same_folded(a, b) => {}
                                _ => return false,
                            }
                        }
                    }
                };
            }
            Form::Wild(tokens) => tokens,
        };
        // The classic two-pointer walk: only the last star is ever retried, so time is |pattern| × |text| at worst.
        let mut rest = text.chars();
        let mut at = 0;
        let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            match tokens.get(at) {
                Some(Token::Star) => {
                    at += 1;
                    if at == tokens.len() {
                        return true;
                    }
                    retry = Some((at, rest.clone()));
                    continue;
                }
                Some(token) => {
                    let mut ahead = rest.clone();
                    match ahead.next() {
                        Some(c) if token.accepts(c, fold) => {
                            rest = ahead;
                            at += 1;
                            continue;
                        }
                        None => return false,
                        Some(_) => {}
                    }
                }
                None if rest.as_str().is_empty() => return true,
                None => {}
            }
            match &mut retry {
                Some((after, from)) => {
                    if from.next().is_none() {
                        return false;
                    }
                    at = *after;
                    rest = from.clone();
                }
                None => return false,
            }
        }
    }

    /// How the pattern and a word relate.
    pub fn matches(&self, word: &Word, fold: bool) -> Fit {
        if let Some(text) = word.text() {
            return self.matches_text(text, fold).into();
        }
        // Any text at all.
        if let [Piece::Unknown(_)] = &*word.pieces {
            return match self.is_star() {
                true => Fit::Must,
                false => Fit::MayUnknown,
            };
        }
        let end = match word.pieces.last() {
            Some(Piece::Text(text)) => text,
            _ => "",
        };
        if !self.may_start(word.prefix(), fold) || !self.may_end(end, fold) {
            return Fit::No;
        }
        let units = Unit::of(word);
        let tokens = self.tokens();
        if meet(&tokens, &units, fold, Asking::Must) {
            Fit::Must
        } else if meet(&tokens, &units, fold, Asking::May) {
            if word.is_unknown() {
                Fit::MayUnknown
            } else {
                Fit::MayPattern
            }
        } else {
            Fit::No
        }
    }

    /// Whether what starts with `text` may match: the literal start of the pattern tells most words apart.
    fn may_start(&self, text: &str, fold: bool) -> bool {
        let mut start = text.chars();
        match &self.0 {
            Form::Literal(own) => alike(own.chars(), start, fold),
            Form::Wild(tokens) => tokens
                .iter()
                .take_while(|token| **token != Token::Star)
                .all(|token| start.next().is_none_or(|c| token.accepts(c, fold))),
        }
    }

    /// Whether what ends with `text` may match.
    fn may_end(&self, text: &str, fold: bool) -> bool {
        let mut end = text.chars().rev();
        match &self.0 {
            Form::Literal(own) => alike(own.chars().rev(), end, fold),
            Form::Wild(tokens) => tokens
                .iter()
                .rev()
                .take_while(|token| **token != Token::Star)
                .all(|token| end.next().is_none_or(|c| token.accepts(c, fold))),
        }
    }

    /// Whether every text that `other` matches is matched by this one too. Sound, not complete.
    pub fn covers(&self, other: &Self) -> bool {
        if let Some(text) = other.as_literal() {
            return self.matches_text(text, false);
        }
        if self == other {
            return true;
        }
        let tokens = other.tokens();
        let units: Vec<Unit> = tokens
            .iter()
            .map(|token| match token {
                Token::Char(c) => Unit::Char(*c),
                Token::One | Token::Class { .. } => Unit::Single,
                Token::Star => Unit::Any,
            })
            .collect();
        meet(&self.tokens(), &units, false, Asking::Must)
    }
}

/// Whether two texts are the same as far as both go.
fn alike(own: impl Iterator<Item = char>, other: impl Iterator<Item = char>, fold: bool) -> bool {
    own.zip(other)
        .all(|(a, b)| a == b || (fold && same_folded(a, b)))
}

/// Whether no character of a text means anything but itself, or alternatives.
pub fn is_plain(text: &str) -> bool {
    let plain = |c: u8| {
        c.is_ascii_alphanumeric()
            || matches!(
                c,
                b'-' | b'_' | b'/' | b':' | b'=' | b'.' | b',' | b'@' | b'%' | b'~' | b'{' | b'}'
            )
    };
    text.bytes().all(plain)
}

/// One unit of a word's value.
#[derive(Clone, Debug)]
pub(crate) enum Unit {
    /// This character.
    Char(char),
    /// One character that is not `/`.
    Single,
    /// One character of a shell class.
    Class(Vec<Token>),
    /// Any characters but `/`.
    NoSlash,
    /// One or more digits.
    Digits,
    /// Any number of digits and minus signs.
    Number,
    /// Any number of hexadecimal digits.
    Hash,
    /// Any characters.
    Any,
}

impl Unit {
    pub(crate) fn of(word: &Word) -> Vec<Self> {
        let mut units = Vec::new();
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => units.extend(text.chars().map(Self::Char)),
                Piece::Star => units.push(Self::NoSlash),
                Piece::One => units.push(Self::Single),
                Piece::Class(text) => {
                    let marked: Vec<(char, bool)> = text.chars().map(|c| (c, false)).collect();
                    match tokens(&marked) {
                        Ok(class) => units.push(Self::Class(class)),
                        Err(_) => units.push(Self::Single),
                    }
                }
                Piece::Digits => units.push(Self::Digits),
                Piece::Number => units.push(Self::Number),
                Piece::Hash => units.push(Self::Hash),
                Piece::Below(_) => {
                    // `find x` names `x` itself as well.
                    if units.len() > 1 {
                        units.pop_if(|unit| matches!(unit, Self::Char('/')));
                    }
                    units.push(Self::Any);
                }
                Piece::Unknown(_) => units.push(Self::Any),
            }
        }
        units
    }

    fn repeats(&self) -> bool {
        matches!(
            self,
            Self::NoSlash | Self::Digits | Self::Number | Self::Hash | Self::Any
        )
    }

    /// Whether some character is accepted by both.
    fn meets(&self, token: &Token, fold: bool) -> bool {
        match self {
            Self::Char(c) => token.accepts(*c, fold),
            Self::Any => true,
            Self::Single | Self::NoSlash => !matches!(token, Token::Char('/')),
            Self::Digits => ('0'..='9').any(|c| token.accepts(c, false)),
            Self::Number => "-0123456789".chars().any(|c| token.accepts(c, fold)),
            Self::Hash => "0123456789abcdef".chars().any(|c| token.accepts(c, fold)),
            Self::Class(class) => match token {
                Token::Char(c) => class.first().is_some_and(|own| own.accepts(*c, fold)),
                _ => true,
            },
        }
    }
}

/// Which question [`meet`] answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// Is there a value that matches?
    May,
    /// Does every value match? (Sound, not complete: what the word leaves open only a `*` or `?` takes.)
    Must,
}

/// Walks both sequences at once, over the set of positions in the pattern that are still alive.
pub(crate) fn meet(pattern: &[Token], units: &[Unit], fold: bool, asking: Asking) -> bool {
    let close = |set: &mut Vec<bool>| {
        for at in 0..pattern.len() {
            if set.get(at) == Some(&true) && matches!(pattern.get(at), Some(Token::Star)) {
                set_true(set, at + 1);
            }
        }
    };
    let mut alive = vec![false; pattern.len() + 1];
    set_true(&mut alive, 0);
    close(&mut alive);
    let mut next = vec![false; pattern.len() + 1];
    for unit in units {
        next.fill(false);
        if asking == Asking::Must {
            for (at, token) in pattern
                .iter()
                .enumerate()
                .filter(|(at, _)| alive.get(*at) == Some(&true))
            {
                match (unit, token) {
                    (_, Token::Star) => set_true(&mut next, at),
                    (Unit::Char(c), token) if token.accepts(*c, fold) => {
                        set_true(&mut next, at + 1)
                    }
                    (Unit::Single | Unit::Class(_), Token::One) => set_true(&mut next, at + 1),
                    _ => {}
                }
            }
        } else {
            // A repeating unit takes no character, or one and is tried again (digits: at least one).
            let mut reach = alive.clone();
            let mut changed = true;
            while changed {
                changed = false;
                for (at, token) in pattern.iter().enumerate() {
                    if reach.get(at) == Some(&true) && unit.meets(token, fold) {
                        let to = if matches!(token, Token::Star) {
                            at
                        } else {
                            at + 1
                        };
                        if next.get(to) == Some(&false) {
                            set_true(&mut next, to);
                            close(&mut next);
                            changed = unit.repeats();
                        }
                    }
                }
                if unit.repeats() {
                    for (reached, new) in reach.iter_mut().zip(&next) {
                        *reached |= *new;
                    }
                }
            }
            if unit.repeats() && !matches!(unit, Unit::Digits) {
                for (new, old) in next.iter_mut().zip(&alive) {
                    *new |= *old;
                }
            }
        }
        close(&mut next);
        std::mem::swap(&mut alive, &mut next);
    }
    alive.last() == Some(&true)
}

fn set_true(set: &mut [bool], at: usize) {
    if let Some(place) = set.get_mut(at) {
        *place = true;
    }
}

/// Characters, with those that a backslash protects marked.
fn unescape(text: &str) -> Result<Vec<(char, bool)>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            match chars.next() {
                Some(next) => out.push((next, true)),
                None => return Err("the backslash at the end escapes nothing".into()),
            }
        } else {
            out.push((c, false));
        }
    }
    Ok(out)
}

/// Names what belongs to another pattern language.
fn foreign_syntax(chars: &[(char, bool)]) -> Result<(), String> {
    let plain = |at: usize, c: char| chars.get(at) == Some(&(c, false));
    for at in 0..chars.len() {
        let opens = matches!(chars.get(at), Some(('@' | '+' | '!' | '?' | '*', false)))
            && plain(at + 1, '(');
        if opens {
            return Err("extglob such as `@(a|b)` is not supported: write `{a,b}`".into());
        }
        if plain(at, '(')
            && (plain(at + 1, '?') || chars.iter().skip(at).any(|c| *c == ('|', false)))
        {
            return Err(
                "this looks like a regular expression: a pattern is a glob, write `{a,b}`".into(),
            );
        }
    }
    if chars.len() > 1 && plain(0, '^') {
        return Err("`^` looks like a regular expression: a pattern is a glob and always matches from the start".into());
    }
    if chars.len() > 1 && plain(chars.len() - 1, '$') {
        return Err("`$` looks like a regular expression: a pattern is a glob".into());
    }
    if chars
        .windows(2)
        .any(|pair| matches!(pair, [('.', false), ('+', false)]))
    {
        return Err("`.+` looks like a regular expression: a glob writes `?*`".into());
    }
    Ok(())
}

/// How many alternatives the braces of one word may make.
const MOST_ALTERNATIVES: usize = 256;

/// Braces expanded: one sequence of characters for each alternative.
fn expand<T: Copy>(chars: &[T], is: &impl Fn(&T, char) -> bool) -> Result<Vec<Vec<T>>, String> {
    let closes = |chars: &[T]| chars.iter().any(|c| is(c, '}'));
    let Some(open) = chars.iter().position(|c| is(c, '{')) else {
        return match closes(chars) {
            true => Err("a `}` without its `{` (a literal one is written `\\}`)".into()),
            false => Ok(vec![chars.to_vec()]),
        };
    };
    let (before, rest) = chars.split_at(open);
    if closes(before) {
        return Err("a `}` without its `{` (a literal one is written `\\}`)".into());
    }
    let rest = rest.get(1..).unwrap_or_default();
    let mut depth = 0usize;
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, c) in rest.iter().enumerate() {
        if is(c, '{') {
            depth += 1;
            if depth > 8 {
                return Err("braces nest too deep".into());
            }
        } else if is(c, '}') && depth > 0 {
            depth -= 1;
        } else if is(c, ',') && depth == 0 {
            parts.push(rest.get(from..at).unwrap_or_default());
            from = at + 1;
        } else if is(c, '}') {
            parts.push(rest.get(from..at).unwrap_or_default());
            let tail = rest.get(at + 1..).unwrap_or_default();
            if parts.len() == 1 {
                return Err("braces with one alternative (a literal `{` is written `\\{`)".into());
            }
            let tails = expand(tail, is)?;
            let mut out = Vec::with_capacity(parts.len().min(MOST_ALTERNATIVES));
            for part in parts {
                let inner = part.iter().any(|c| is(c, '{') || is(c, '}'));
                let middles = if inner { expand(part, is)? } else { Vec::new() };
                let middles = middles.iter().map(Vec::as_slice);
                for middle in middles.chain((!inner).then_some(part)) {
                    out.extend(tails.iter().map(|tail| [before, middle, tail].concat()));
                    if out.len() > MOST_ALTERNATIVES {
                        return Err(format!(
                            "more than {MOST_ALTERNATIVES} alternatives in braces"
                        ));
                    }
                }
            }
            return Ok(out);
        }
    }
    Err("a `{` without its `}` (a literal one is written `\\{`)".into())
}

fn tokens(chars: &[(char, bool)]) -> Result<Vec<Token>, String> {
    let mut out: Vec<Token> = Vec::with_capacity(chars.len());
    let mut at = 0;
    while let Some((c, quoted)) = chars.get(at) {
        at += 1;
        match (c, quoted) {
            ('*', false) => {
                if matches!(out.last(), Some(Token::Star)) {
                    return Err(
                        "`**` must stand alone: it is any number of whole words or path components"
                            .into(),
                    );
                }
                out.push(Token::Star);
            }
            ('?', false) => out.push(Token::One),
            ('[', false) => {
                let (class, next) = class(chars, at)?;
                out.push(class);
                at = next;
            }
            (c, _) => out.push(Token::Char(*c)),
        }
    }
    Ok(out)
}

/// A `[…]` whose first character is at `from`; and where it ends.
fn class(chars: &[(char, bool)], from: usize) -> Result<(Token, usize), String> {
    let mut at = from;
    let negated = matches!(chars.get(at), Some(('!' | '^', false)));
    if negated {
        at += 1;
    }
    let mut ranges = Vec::new();
    let first = at;
    while let Some((c, quoted)) = chars.get(at) {
        if *c == ']' && !quoted && at > first {
            return Ok((Token::Class { negated, ranges }, at + 1));
        }
        if *c == '[' && !quoted && matches!(chars.get(at + 1), Some((':' | '.' | '=', false))) {
            return Err(
                "named classes such as `[[:digit:]]` are not supported: write `[0-9]`".into(),
            );
        }
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some(('-', false)), Some((end, end_quoted))) if *end != ']' || *end_quoted => {
                if end < c {
                    return Err(format!("the range `{c}-{end}` runs backwards"));
                }
                ranges.push((*c, *end));
                at += 3;
            }
            _ => {
                ranges.push((*c, *c));
                at += 1;
            }
        }
    }
    let open: String = chars
        .iter()
        .skip(from.saturating_sub(1))
        .map(|(c, _)| *c)
        .collect();
    Err(format!(
        "`{open}` opens a set of characters that is never closed (a literal `[` is written `\\[`)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let rows = [
            ("bash", "bash", true),
            ("bash", "bash_tool", false),
            ("mcp__*", "mcp__a/b", true),
            ("?ash", "ash", false),
            ("[!b]ash", "bash", false),
            ("[!b]ash", "cash", true),
            ("{list,get}_*", "get_x", true),
            ("a{b,c{d,e}}f", "acef", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            (r"\*x", "*x", true),
            ("[]x]", "]", true),
            ("", "", true),
            ("*", "", true),
        ];
        for (pattern, text, want) in rows {
            let globs = Glob::parse(pattern).unwrap();
            assert_eq!(
                globs.iter().any(|glob| glob.matches_text(text, false)),
                want,
                "{pattern} on {text}"
            );
        }
    }

    #[test]
    fn refused() {
        for pattern in [
            "a**b", "{a", "a}", "[a", "[z-a]", "@(a|b)", "^ls", "a.+b", "x\\", "{a}", "(a|b)",
        ] {
            assert!(Glob::parse(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn words_that_are_not_known() {
        let word = |pieces: &[Piece]| Word {
            pieces: pieces.iter().cloned().collect(),
            ..Word::default()
        };
        let text = |text: &str| Piece::Text(text.into());
        let unknown = || Piece::Unknown("$X".into());
        let rows = [
            ("*.env", word(&[text("a"), Piece::Star]), Fit::MayPattern),
            ("a*", word(&[text("a"), Piece::Star]), Fit::Must),
            (
                "/tmp/work-*",
                word(&[text("/tmp/work-"), Piece::Digits]),
                Fit::Must,
            ),
            (
                "work-[0-9]",
                word(&[text("work-"), Piece::Digits]),
                Fit::MayPattern,
            ),
            ("work-x", word(&[text("work-"), Piece::Digits]), Fit::No),
            ("rm", word(&[unknown()]), Fit::MayUnknown),
            ("rm", word(&[text("l"), unknown()]), Fit::No),
            ("*", word(&[unknown()]), Fit::Must),
            ("a/b", word(&[text("a"), Piece::Star]), Fit::No),
            ("a/b", word(&[text("a"), unknown()]), Fit::MayUnknown),
        ];
        for (pattern, word, want) in rows {
            let glob = Glob::parse(pattern).unwrap().remove(0);
            assert_eq!(
                glob.matches(&word, false),
                want,
                "{pattern} on {}",
                word.shown()
            );
        }
    }
}
