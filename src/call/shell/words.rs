//! A word as written → [`Word`] values, as far as they can be computed in an environment.
//!
//! Quotes, backslashes, `~`, braces, variables, `${…}`, arithmetic on constants, globs, field splitting.
//! What cannot be computed stays in the word as an unknown piece in its spelling.

use super::constructs::is_modified;
use super::dialect::Dialect;
use super::env::{Env, Value};
use super::parse::is_name;
use super::syntax::{Body, Operator, Parameter, Part, Raw, Substitution, Tree};
use super::{arithmetic, names, numbers, printed};
use crate::call::few::Few;
use crate::call::word::{Listed, Piece, Pieces, Word};
use crate::source::Span;

/// Longest text of one word worth computing, in bytes, and most words from one.
const LONGEST: usize = 64 * 1024;
const MOST: usize = 256;
/// Longest spelling of a number in `{1..3}`: its zeros are in each element.
const NUMBER: usize = 64;
/// Opening braces in one word.
const BRACES: usize = 32;

/// Adds the words that one word of a command becomes.
pub(super) fn words(tree: &Tree, raw: &Raw, env: &mut Env, all: &mut Vec<Word>) {
    // Most words are plain text.
    if let [Part::Text(span)] = &*raw.parts {
        let text = tree.of(*span);
        if !text
            .bytes()
            .any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{' | b'~'))
        {
            return all.push(Word::known(text, tree.span(raw.span)));
        }
    }
    let mut expander = Expander::new(tree, env, raw);
    expander.most = all.len() + MOST;
    expander.done = std::mem::take(all);
    match braces(tree, &raw.parts) {
        Braces::None => expander.all(raw.parts.iter().map(Bit::Part)),
        Braces::Words(alternatives) => {
            for bits in alternatives {
                expander.all(bits.into_iter());
            }
        }
        Braces::TooMany => {
            let text = tree.of(raw.span);
            match text
                .bytes()
                .all(|byte| matches!(byte, b'{' | b'}' | b'.' | b'-' | b'0'..=b'9'))
            {
                true => expander.piece(Piece::Number),
                false => expander.unknown(text, false),
            }
            expander.splits = true;
            expander.finish();
        }
    }
    *all = expander.done;
}

/// The one word that an assigned value, a here-string, a `case` subject becomes: no splitting, no globs.
pub(super) fn value(tree: &Tree, raw: &Raw, env: &mut Env, assigned: bool) -> Word {
    let mut expander = Expander::new(tree, env, raw);
    expander.splitting = false;
    expander.assigned = assigned;
    expander.started = true;
    for (index, part) in raw.parts.iter().enumerate() {
        expander.part(part, index == 0);
    }
    expander.take()
}

/// The text of a heredoc.
pub(super) fn heredoc(tree: &Tree, parts: &[Part], span: Span, env: &mut Env) -> Word {
    let raw = Raw {
        span,
        parts: Few::default(),
    };
    let mut expander = Expander::new(tree, env, &raw);
    expander.started = true;
    for part in parts {
        expander.quoted(part);
    }
    expander.take()
}

/// A part of a word after brace expansion.
#[derive(Clone, Debug)]
enum Bit<'p> {
    Part(&'p Part),
    Text(&'p str),
    Made(String),
    Brace(u8),
}

struct Expander<'e> {
    tree: &'e Tree,
    env: &'e mut Env,
    span: Span,
    done: Vec<Word>,
    /// How many words there may be.
    most: usize,
    pieces: Pieces,
    size: usize,
    /// How many pieces and bytes there were when a listed name had been put in.
    listed: Option<(usize, usize)>,
    started: bool,
    splits: bool,
    /// Fields are split and globs seen.
    splitting: bool,
    /// A tilde counts after `=` and `:` too.
    assigned: bool,
    /// A `[` in one part may be closed in another.
    brackets: bool,
}

impl<'e> Expander<'e> {
    fn new(tree: &'e Tree, env: &'e mut Env, raw: &Raw) -> Self {
        let brackets = raw.parts.len() > 1
            && raw
                .parts
                .iter()
                .any(|part| matches!(part, Part::Text(span) if tree.of(*span).contains(']')));
        Self {
            tree,
            env,
            span: tree.span(raw.span),
            done: Vec::new(),
            most: MOST,
            pieces: Pieces::default(),
            size: 0,
            listed: None,
            started: false,
            splits: false,
            splitting: true,
            assigned: false,
            brackets,
        }
    }

    fn all<'p>(&mut self, bits: impl Iterator<Item = Bit<'p>>) {
        for (index, bit) in bits.enumerate() {
            match bit {
                Bit::Part(part) => self.part(part, index == 0),
                Bit::Text(text) => self.literal(text, index == 0),
                Bit::Made(text) => self.text(&text),
                Bit::Brace(byte) => self.text(match byte {
                    b'{' => "{",
                    b'}' => "}",
                    _ => ",",
                }),
            }
        }
        self.finish();
    }

    fn take(&mut self) -> Word {
        // `find f` prints `f` itself too: with text behind it, that is no name below `f`.
        let end = (self.pieces.count(), self.size);
        let mut pieces = self.pieces.finish();
        if self.listed.take().is_some_and(|listed| listed != end) {
            pieces = Few::One(Piece::Unknown("…".into()));
        }
        self.size = 0;
        self.started = false;
        Word {
            pieces,
            span: self.span,
            splits: std::mem::take(&mut self.splits),
        }
    }

    fn finish(&mut self) {
        if self.started {
            if self.done.len() < self.most {
                let word = self.take();
                self.done.push(word);
            } else if let Some(last) = self.done.last_mut() {
                *last = Word::unknown("…", self.span, true);
            }
        }
        self.pieces.finish();
        self.started = false;
        self.splits = false;
        self.size = 0;
    }

    /// Known text, taken as it is.
    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.started = true;
        self.size += text.len();
        if self.size > LONGEST {
            self.piece(Piece::Unknown("…".into()));
            return;
        }
        self.pieces.text(text);
    }

    fn piece(&mut self, piece: Piece) {
        self.started = true;
        if self.pieces.last() != Some(&piece) || piece == Piece::One {
            self.pieces.push(piece);
        }
    }

    fn unknown(&mut self, spelling: &str, quoted: bool) {
        self.started = true;
        self.pieces.push(Piece::Unknown(spelling.into()));
        self.splits |= !quoted && self.splitting;
    }

    /// Unquoted text of the script: a tilde in front, globs.
    fn literal(&mut self, text: &str, first: bool) {
        let mut rest = text;
        if first {
            rest = self.tilde(rest, true);
            let assigns = if self.assigned {
                None
            } else {
                rest.split_once('=').filter(|(name, _)| is_name(name))
            };
            if let Some((name, value)) = assigns
                && value.starts_with('~')
            {
                // bash expands `dd of=~/x` as well.
                self.text(name);
                self.text("=");
                rest = self.tilde(value, true);
            }
        }
        while self.assigned {
            let Some(at) = rest.find(":~") else { break };
            let (before, after) = rest.split_at(at + 1);
            self.text(before);
            let left = self.tilde(after, true);
            if left.len() == after.len() {
                self.text("~");
                rest = after.get(1..).unwrap_or_default();
            } else {
                rest = left;
            }
        }
        self.globs(rest);
    }

    /// Expands a tilde prefix; returns what follows it.
    fn tilde<'p>(&mut self, text: &'p str, wanted: bool) -> &'p str {
        if !wanted || !text.starts_with('~') {
            return text;
        }
        let stop = if self.assigned {
            &['/', ':'][..]
        } else {
            &['/'][..]
        };
        let end = text.find(stop).unwrap_or(text.len());
        let (prefix, rest) = text.split_at(end);
        let value = match prefix {
            "~" => self.env.value("HOME"),
            "~+" => self.env.value("PWD"),
            "~-" => self.env.value("OLDPWD"),
            _ => Value::Unknown,
        };
        match value {
            Value::Known(word) => self.pieces_of(&word),
            _ => self.unknown(prefix, true),
        }
        rest
    }

    fn pieces_of(&mut self, word: &Word) {
        self.started = true;
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => self.text(text),
                other => self.pieces.push(other.clone()),
            }
        }
        self.splits |= word.splits && self.splitting;
        self.list(word);
    }

    fn list(&mut self, word: &Word) {
        let mut pieces = word.pieces.iter();
        let is_listed =
            |piece: &Piece| matches!(piece, Piece::Below(it) if it.by != super::printed::REFERENCE);
        if self.listed.is_none() && pieces.any(is_listed) {
            self.listed = Some((self.pieces.count(), self.size));
        }
    }

    /// Text whose globs count.
    fn globs(&mut self, text: &str) {
        if !self.splitting || !text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[')) {
            self.text(text);
            return;
        }
        let mut rest = text;
        while let Some(at) = rest.find(['*', '?', '[']) {
            let (before, from) = rest.split_at(at);
            self.text(before);
            let (piece, width) = match from.as_bytes().first() {
                Some(b'*') => (Piece::Star, 1),
                Some(b'?') => (Piece::One, 1),
                _ => match class_end(from) {
                    Some(end) => (
                        Piece::Class(from.get(..end).unwrap_or_default().into()),
                        end,
                    ),
                    None if self.brackets => (Piece::Unknown("[".into()), 1),
                    None => (Piece::Text("[".into()), 1),
                },
            };
            match piece {
                Piece::Text(text) => self.text(&text),
                Piece::Class(class) if self.is_set(&class) => self.unknown(&class, false),
                _ if self.env.wild => {
                    self.unknown(from.get(..width).unwrap_or_default(), false);
                }
                piece => self.piece(piece),
            }
            rest = from.get(width..).unwrap_or_default();
        }
        self.text(rest);
    }

    /// To dash `[^v]` is a set of two letters.
    fn is_set(&self, class: &str) -> bool {
        self.env.dialect == Dialect::Posix && class.starts_with("[^")
    }

    fn part(&mut self, part: &Part, first: bool) {
        match part {
            Part::Text(span) => self.literal(self.tree.of(*span), first),
            Part::Escaped(span) | Part::Single(span) => {
                self.started = true;
                self.text(self.tree.of(*span));
            }
            Part::Ansi(decoded) => {
                self.started = true;
                self.text(decoded);
            }
            Part::Double(parts) => {
                // `"$@"` without parameters is no word at all.
                let only_all = matches!(parts.as_slice(), [Part::Parameter(parameter)]
                    if self.tree.of(parameter.name) == "@" && parameter.operator == Operator::None);
                self.started |= !only_all;
                for part in parts {
                    self.quoted(part);
                }
            }
            Part::Parameter(parameter) => self.parameter(parameter, false),
            Part::Command(substitution) => self.command(substitution, false),
            Part::Arithmetic(parts, span) => self.arithmetic(parts, *span),
            Part::Extended(_, span) => self.unknown(self.tree.of(*span), false),
            Part::Array(_) => self.unknown("(…)", true),
        }
    }

    /// A part inside double quotes.
    fn quoted(&mut self, part: &Part) {
        match part {
            Part::Text(span) | Part::Escaped(span) | Part::Single(span) => {
                self.text(self.tree.of(*span))
            }
            Part::Ansi(decoded) => self.text(decoded),
            Part::Double(parts) => {
                for part in parts {
                    self.quoted(part);
                }
            }
            Part::Parameter(parameter) => self.parameter(parameter, true),
            Part::Command(substitution) => self.command(substitution, true),
            Part::Arithmetic(parts, span) => self.arithmetic(parts, *span),
            Part::Extended(_, span) => self.text(self.tree.of(*span)),
            Part::Array(_) => {}
        }
    }

    fn command(&mut self, substitution: &Substitution, quoted: bool) {
        let spelling = self.tree.of(substitution.span);
        let (tree, list) = match &substitution.body {
            Body::Within(list) => (self.tree, list),
            Body::Apart(tree) => (&**tree, &tree.list),
        };
        let reads = !spelling.starts_with(['<', '>']);
        let stages = reads.then(|| names::stages(tree, list, self.env)).flatten();
        let stages = stages.as_deref().unwrap_or_default();
        let names = || names::of_stages(stages).filter(|names| !names::ends_with_nul(names));
        if let Some(word) = printed::of_stages(stages, self.env) {
            self.known(&word, quoted, spelling);
            self.splits |= self.splitting && !quoted && matches!(&*word.pieces, [Piece::Hash]);
        } else if let Some(names) = names() {
            for piece in names.split(self.splitting && !quoted).pieces {
                self.piece(piece);
            }
            self.splits |= self.splitting && !quoted;
        } else if spelling.starts_with("<(") || spelling.starts_with(">(") {
            // A process substitution becomes the path of a pipe.
            self.text("/dev/fd/");
            self.piece(Piece::Digits);
        } else if numbers::prints_number(stages, self.env) {
            self.piece(Piece::Number);
            self.splits |= self.splitting && !quoted && !numbers::prints_one(stages);
        } else {
            self.unknown(spelling, quoted);
        }
    }

    fn arithmetic(&mut self, parts: &[Part], span: Span) {
        let raw = Raw {
            span,
            parts: Few::default(),
        };
        let inner = {
            let mut inner = Expander::new(self.tree, self.env, &raw);
            for part in parts {
                inner.quoted(part);
            }
            inner.take()
        };
        match inner
            .text()
            .and_then(|text| arithmetic::evaluate(text, self.env))
        {
            Some(number) => self.text(&number.to_string()),
            None => self.piece(Piece::Number),
        }
    }

    fn parameter(&mut self, parameter: &Parameter, quoted: bool) {
        let spelling = self.tree.of(parameter.span);
        let name = self.tree.of(parameter.name);
        if matches!(parameter.operator, Operator::Assign { .. }) {
            // `${!x:=v}` sets the variable that `x` names, `${x[0]:=v}` sets `x`.
            match (parameter.indirect, self.lookup(name)) {
                (true, Value::Known(word)) if word.text().is_some_and(is_name) => {
                    self.env.forget(word.text().unwrap_or_default());
                }
                (true, _) => self.env.set_some(),
                (false, _) if parameter.subscript.is_some() => self.env.forget(name),
                _ => {}
            }
        }
        if let Some(text) = self.cut(parameter) {
            return self.known(&Word::known(text, self.span), quoted, spelling);
        }
        if parameter.indirect || matches!(parameter.operator, Operator::Other | Operator::Prompt) {
            // The indices of an array: numbers, unless it has keys.
            let indices = parameter.indirect && parameter.subscript.is_some();
            if indices && self.env.touched(name) && !self.env.is_keyed(name) {
                self.piece(Piece::Number);
                self.splits |= self.splitting;
                return;
            }
            // `${!x*}` and `${x[@]:1}` may be many words, quoted or not.
            self.unknown(spelling, quoted);
            self.splits |= self.splitting && spelling.contains('@');
            return;
        }
        if parameter.subscript.is_some() {
            let elements = || match self.env.value(name) {
                Value::Known(word) => numbers::is_number(&word) && word.text().is_none(),
                _ => false,
            };
            if parameter.length {
                self.piece(Piece::Digits);
            } else if elements() && parameter.operator == Operator::None {
                self.piece(Piece::Number);
                self.splits |= self.splitting && spelling.contains(['@', '*']);
            } else {
                self.unknown(spelling, quoted);
                self.splits |= self.splitting && spelling.contains('@');
            }
            return;
        }
        if matches!(name, "@" | "*") && !parameter.length && parameter.operator == Operator::None {
            self.all_parameters(name == "@", quoted, spelling);
            return;
        }
        let value = self.lookup(name);
        if parameter.length {
            match value {
                Value::Known(word) => match word.text() {
                    Some(text) => self.text(&text.chars().count().to_string()),
                    None => self.piece(Piece::Digits),
                },
                _ => self.piece(Piece::Digits),
            }
            return;
        }
        let empty = matches!(&value, Value::Known(word) if word.pieces.is_empty());
        let unset = value == Value::Unset;
        let unknown = value == Value::Unknown;
        // `Y="$X"; ${Y:+echo}`: it holds something only if `X` does.
        let open = |piece: &Piece| matches!(piece, Piece::Unknown(_) | Piece::Hash);
        let hollow = matches!(&value, Value::Known(word) if word.pieces.iter().all(open)) && !empty;
        match parameter.operator {
            Operator::Default { colon }
            | Operator::Assign { colon }
            | Operator::Alternate { colon }
                if unknown || colon && hollow =>
            {
                self.unknown(spelling, quoted);
                if matches!(parameter.operator, Operator::Assign { .. }) {
                    self.env.forget(name);
                }
            }
            Operator::Default { colon } if unset || (colon && empty) => {
                self.operand(&parameter.operand, quoted)
            }
            Operator::Assign { colon } if unset || (colon && empty) => {
                let raw = Raw {
                    span: parameter.span,
                    parts: Few::default(),
                };
                let word = {
                    let mut inner = Expander::new(self.tree, self.env, &raw);
                    inner.splitting = false;
                    inner.operand(&parameter.operand, quoted);
                    inner.take()
                };
                self.env.set(name, Value::Known(word.clone()));
                self.known(&word, quoted, spelling);
            }
            Operator::Alternate { colon } => {
                if !(unset || (colon && empty)) {
                    self.operand(&parameter.operand, quoted);
                }
            }
            _ => match value {
                // The shell of a plain line may be zsh.
                Value::Known(_)
                    if self.env.dialect != Dialect::Posix && is_modified(self.tree, parameter) =>
                {
                    self.unknown(spelling, quoted);
                }
                Value::Known(word) => self.known(&word, quoted, spelling),
                Value::Unset => {}
                Value::Unknown => self.unknown(spelling, quoted),
            },
        }
    }

    /// `${x%.md}`, `${x##*/}` of a known text: what a plain pattern, or one with a `*` at its far end, leaves of it.
    fn cut(&self, parameter: &Parameter) -> Option<String> {
        if parameter.indirect || parameter.subscript.is_some() || parameter.length {
            return None;
        }
        let name = self.tree.of(parameter.name);
        let Value::Known(value) = self.env.value(name) else {
            return None;
        };
        let text = value.text()?;
        let rest = self.tree.of(parameter.span).strip_prefix("${")?;
        let rest = rest.strip_prefix(name)?.strip_suffix('}')?;
        let sign = rest
            .chars()
            .next()
            .filter(|sign| matches!(sign, '%' | '#'))?;
        let pattern = rest.trim_start_matches(sign);
        let (longest, open) = match rest.len() - pattern.len() {
            1 => (false, pattern.strip_prefix('*')),
            2 => (true, pattern.strip_prefix('*')),
            _ => return None,
        };
        let open = match sign {
            '#' => open,
            _ => pattern.strip_suffix('*'),
        };
        let fixed = open.unwrap_or(pattern);
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:,@+".contains(c);
        if fixed.is_empty() || !fixed.chars().all(plain) {
            return None;
        }
        let left = match (sign, open.is_some(), longest) {
            ('#', false, _) => text.strip_prefix(fixed),
            ('#', true, false) => text.split_once(fixed).map(|(_, after)| after),
            ('#', true, true) => text.rsplit_once(fixed).map(|(_, after)| after),
            (_, false, _) => text.strip_suffix(fixed),
            (_, true, false) => text.rsplit_once(fixed).map(|(before, _)| before),
            (_, true, true) => text.split_once(fixed).map(|(before, _)| before),
        };
        Some(left.unwrap_or(text).to_owned())
    }

    fn operand(&mut self, parts: &[Part], quoted: bool) {
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text(span) if !quoted && self.splitting => {
                    // Unlike other text of the script, a default is split.
                    let text = self.tree.of(*span);
                    let text = if index == 0 {
                        self.tilde(text, true)
                    } else {
                        text
                    };
                    self.split(text, text);
                }
                part if quoted => self.quoted(part),
                part => self.part(part, index == 0),
            }
        }
    }

    fn lookup(&self, name: &str) -> Value {
        let digits = |env: &Env, name: &str| {
            // An assigned RANDOM is still no constant.
            if env.touched(name) {
                Value::Unknown
            } else {
                Value::Known(Word {
                    pieces: Few::One(Piece::Digits),
                    ..Word::default()
                })
            }
        };
        match name {
            "#" => match self.env.arguments() {
                Some(all) => Value::Known(Word::known(all.len().to_string(), self.span)),
                None => digits(self.env, name),
            },
            // No job, no word.
            "!" if !self.env.background => Value::Unknown,
            // Nobody can assign these.
            "$" | "?" | "!" => Value::Known(Word {
                pieces: [Piece::Digits].into_iter().collect(),
                ..Word::default()
            }),
            "PPID" => digits(self.env, name),
            // Others have no such variables.
            "UID" | "EUID" | "RANDOM" | "SECONDS" | "LINENO"
                if matches!(self.env.dialect, Dialect::Bash | Dialect::Zsh) =>
            {
                digits(self.env, name)
            }
            "" => Value::Unknown,
            "0" => self.env.zero.clone().map_or(Value::Unknown, Value::Known),
            _ if name.bytes().all(|byte| byte.is_ascii_digit()) => match self.env.arguments() {
                Some(all) => match name
                    .parse::<usize>()
                    .ok()
                    .and_then(|index| all.get(index.checked_sub(1)?))
                {
                    Some(word) => Value::Known(word.clone()),
                    None => Value::Unset,
                },
                None => Value::Unknown,
            },
            _ => self.env.value(name),
        }
    }

    fn all_parameters(&mut self, apart: bool, quoted: bool, spelling: &str) {
        let Some(all) = self.env.arguments().cloned() else {
            self.unknown(spelling, false);
            return;
        };
        for (index, word) in all.iter().enumerate() {
            if index > 0 {
                if self.splitting && (apart || !quoted) {
                    self.finish();
                } else {
                    self.text(" ");
                }
            }
            if quoted {
                self.pieces_of(word);
            } else {
                self.known(word, false, spelling);
            }
        }
    }

    fn known(&mut self, word: &Word, quoted: bool, spelling: &str) {
        if quoted || !self.splitting {
            self.pieces_of(word);
            return;
        }
        for piece in &word.pieces {
            match piece {
                // zsh splits no value, and looks for no names in it.
                Piece::Text(text)
                    if self.env.dialect == Dialect::Zsh
                        && text.contains([' ', '\t', '\n', '*', '?', '[']) =>
                {
                    self.unknown(spelling, false);
                }
                Piece::Text(text) => self.split(text, spelling),
                Piece::Unknown(_) => {
                    self.pieces.push(piece.clone());
                    self.started = true;
                    self.splits = true;
                }
                Piece::Below(listed) => self.piece(Piece::Below(Listed {
                    split: true,
                    ..*listed
                })),
                other => self.piece(other.clone()),
            }
        }
        self.list(word);
    }

    /// An unquoted value: fields end at blanks, globs count.
    fn split(&mut self, text: &str, spelling: &str) {
        if self.env.touched("IFS") {
            self.unknown(spelling, false);
            return;
        }
        for (index, field) in text.split([' ', '\t', '\n']).enumerate() {
            if index > 0 {
                self.finish();
            }
            self.globs(field);
        }
    }
}

/// Where a class that starts the text ends: one past its bracket.
fn class_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    if matches!(bytes.get(at), Some(b'!' | b'^')) {
        at += 1;
    }
    if bytes.get(at) == Some(&b']') {
        at += 1;
    }
    // Bounded, or `[[[[…` would be quadratic.
    let limit = (at + 64).min(bytes.len());
    while at < limit {
        match bytes.get(at)? {
            b']' => return Some(at + 1),
            b'/' => return None,
            b'[' if matches!(bytes.get(at + 1), Some(b':' | b'.' | b'=')) => {
                let kind = *bytes.get(at + 1)?;
                let rest = bytes.get(at + 2..limit)?;
                let close = rest.windows(2).position(|pair| pair == [kind, b']'])?;
                at += 2 + close + 2;
            }
            _ => at += 1,
        }
    }
    None
}

enum Braces<'p> {
    None,
    Words(Vec<Vec<Bit<'p>>>),
    TooMany,
}

/// Whether bash makes several words of one.
pub(super) fn has_braces(tree: &Tree, parts: &[Part]) -> bool {
    match braces(tree, parts) {
        Braces::None => false,
        Braces::Words(all) => all.len() > 1,
        Braces::TooMany => true,
    }
}

fn braces<'p>(tree: &'p Tree, parts: &'p [Part]) -> Braces<'p> {
    let texts = || {
        parts.iter().filter_map(|part| match part {
            Part::Text(span) => Some(tree.of(*span)),
            _ => None,
        })
    };
    let opens = texts().map(|text| text.matches('{').count()).sum::<usize>();
    if opens == 0 || !texts().any(|text| text.contains(',') || text.contains("..")) {
        return Braces::None;
    }
    if opens > BRACES {
        return Braces::TooMany;
    }
    let mut bits = Vec::new();
    for part in parts {
        let Part::Text(span) = part else {
            bits.push(Bit::Part(part));
            continue;
        };
        let mut rest = tree.of(*span);
        while let Some(at) = rest.find(['{', ',', '}']) {
            let (before, from) = rest.split_at(at);
            if !before.is_empty() {
                bits.push(Bit::Text(before));
            }
            bits.push(Bit::Brace(from.bytes().next().unwrap_or(b',')));
            rest = from.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            bits.push(Bit::Text(rest));
        }
    }
    match alternatives(&bits) {
        None => Braces::TooMany,
        Some(all) => Braces::Words(all),
    }
}

/// The words that braces make; none where they are too many.
fn alternatives<'p>(bits: &[Bit<'p>]) -> Option<Vec<Vec<Bit<'p>>>> {
    for (open, bit) in bits.iter().enumerate() {
        if !matches!(bit, Bit::Brace(b'{')) {
            continue;
        }
        let Some((choices, close)) = choices(bits.get(open + 1..)?) else {
            continue;
        };
        let before = bits.get(..open)?;
        let after = alternatives(bits.get(open + 1 + close + 1..)?)?;
        let mut middle: Vec<Vec<Bit<'p>>> = Vec::new();
        match choices {
            Choices::Lists(lists) => {
                for list in lists {
                    middle.extend(alternatives(list)?);
                    if middle.len() > MOST {
                        return None;
                    }
                }
            }
            Choices::Made(all) if all.is_empty() => return None,
            Choices::Made(all) => middle.extend(all.into_iter().map(|text| vec![Bit::Made(text)])),
        }
        if middle.len() * after.len() > MOST {
            return None;
        }
        let mut all = Vec::with_capacity(middle.len() * after.len());
        for choice in &middle {
            for tail in &after {
                let mut word = before.to_vec();
                word.extend(choice.iter().cloned());
                word.extend(tail.iter().cloned());
                all.push(word);
            }
        }
        return Some(all);
    }
    Some(vec![bits.to_vec()])
}

enum Choices<'b, 'p> {
    Lists(Vec<&'b [Bit<'p>]>),
    Made(Vec<String>),
}

/// What stands between an opening brace and its close, and where that is.
fn choices<'b, 'p>(bits: &'b [Bit<'p>]) -> Option<(Choices<'b, 'p>, usize)> {
    let mut depth = 0_usize;
    let mut lists = Vec::new();
    let mut from = 0;
    for (index, bit) in bits.iter().enumerate() {
        match bit {
            Bit::Brace(b'{') => depth += 1,
            Bit::Brace(b'}') if depth > 0 => depth -= 1,
            Bit::Brace(b',') if depth == 0 => {
                lists.push(bits.get(from..index)?);
                from = index + 1;
            }
            Bit::Brace(b'}') => {
                if lists.is_empty() {
                    let [Bit::Text(text)] = bits.get(..index)? else {
                        return None;
                    };
                    return Some((Choices::Made(sequence(text)?), index));
                }
                lists.push(bits.get(from..index)?);
                return Some((Choices::Lists(lists), index));
            }
            _ => {}
        }
    }
    None
}

/// `1..3`, `a..e..2`.
fn sequence(text: &str) -> Option<Vec<String>> {
    let mut fields = text.split("..");
    let (first, last, step) = (fields.next()?, fields.next()?, fields.next());
    if fields.next().is_some() {
        return None;
    }
    let step = match step {
        Some(step) => step.parse::<i64>().ok()?.unsigned_abs().max(1),
        None => 1,
    };
    let letter = |text: &str| {
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if c.is_ascii_alphabetic() => Some(i64::from(c as u32)),
            _ => None,
        }
    };
    let (from, to, letters) = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(from), Ok(to)) => (from, to, false),
        _ => (letter(first)?, letter(last)?, true),
    };
    // All of the numbers that 64 bits hold are one more than 64 bits count.
    let count = (from.abs_diff(to) / step).saturating_add(1);
    if count > MOST as u64 || first.len().max(last.len()) > NUMBER {
        // Too many or too long to name: no element says so.
        return Some(Vec::new());
    }
    let padded = |text: &str| text.trim_start_matches('-').starts_with('0') && text.len() > 1;
    let width = if !letters && (padded(first) || padded(last)) {
        first.len().max(last.len())
    } else {
        0
    };
    let mut all = Vec::new();
    let mut at = from;
    for _ in 0..count {
        all.push(if letters {
            char::from_u32(u32::try_from(at).ok()?)?.to_string()
        } else {
            format!("{at:0width$}")
        });
        // Past the last element there may be no number any more.
        let next = match from <= to {
            true => at.checked_add_unsigned(step),
            false => at.checked_sub_unsigned(step),
        };
        let Some(next) = next else { break };
        at = next;
    }
    Some(all)
}
