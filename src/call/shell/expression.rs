//! The expression of `find`: how the names end that it prints or hands on.
//!
//! In: the words of a `find` and its options. Out: the ends of which every such name has one; none where any name may
//! come, or where the expression is not understood.

use super::names::glob_end;
use crate::call::access::Opt;
use crate::call::word::{Piece, Word};
use std::collections::BTreeSet;

/// Words that are looked at, and brackets within brackets.
const WORDS: usize = 256;
const DEEP: usize = 16;

/// How a name ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End<'c> {
    pub text: &'c str,
    /// In capital letters too (`-iname`).
    pub caseless: bool,
}

impl<'c> End<'c> {
    pub fn only(text: &'c str) -> Vec<Self> {
        vec![Self {
            text,
            caseless: false,
        }]
    }
}

/// Ends of which a name has one; none: it may have any.
type Bound<'c> = Option<BTreeSet<End<'c>>>;

/// How all names end that `find` prints, or hands to what it starts.
pub(super) fn ends<'c>(words: &'c [Word], options: &'c [Opt]) -> Option<Vec<End<'c>>> {
    if words.len() > WORDS {
        return None;
    }
    let mut reader = Reader {
        words,
        options,
        at: 1,
        acts: Vec::new(),
    };
    let whole = reader.either(&None, 0)?;
    if reader.at < words.len() {
        return None;
    }
    // Where something is done of its own, nothing is printed unasked.
    let bound = match reader.acts.is_empty() {
        true => whole,
        false => reader.acts.into_iter().reduce(union).flatten(),
    };
    bound.map(|ends| ends.into_iter().collect())
}

/// What a name has that has one of these ends: the end itself, or the letters that may stand at each place of it.
pub(super) fn tail(ends: &[End<'_>]) -> Vec<Piece> {
    if let [end] = ends
        && !end.caseless
    {
        return vec![Piece::Text(end.text.into())];
    }
    let shortest = ends.iter().map(|end| end.text.len()).min().unwrap_or(0);
    let mut pieces = Vec::new();
    for back in 1..=shortest {
        let mut letters = BTreeSet::new();
        for end in ends {
            let letter = end.text.bytes().rev().nth(back - 1).unwrap_or_default();
            letters.insert(char::from(letter));
            if end.caseless {
                letters.insert(char::from(letter.to_ascii_lowercase()));
                letters.insert(char::from(letter.to_ascii_uppercase()));
            }
        }
        let plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_');
        if !letters.iter().all(plain) {
            break;
        }
        let text: String = letters.iter().collect();
        pieces.push(match letters.len() {
            1 => Piece::Text(text.into()),
            _ => Piece::Class(format!("[{text}]").into()),
        });
    }
    pieces.reverse();
    pieces
}

fn union<'c>(a: Bound<'c>, b: Bound<'c>) -> Bound<'c> {
    Some(&a? | &b?)
}

struct Reader<'c> {
    words: &'c [Word],
    options: &'c [Opt],
    at: usize,
    /// What is known of a name where something is done with it, for each thing that is done.
    acts: Vec<Bound<'c>>,
}

impl<'c> Reader<'c> {
    /// `a -o b`: what holds of a name for which it is true. `known` holds of all that come here.
    fn either(&mut self, known: &Bound<'c>, depth: usize) -> Option<Bound<'c>> {
        let mut all = self.each(known, depth)?;
        while let Some("-o" | "-or") = self.peek() {
            self.at += 1;
            all = union(all, self.each(known, depth)?);
        }
        Some(all)
    }

    /// `a b`, `a -a b`: the first that says how a name ends is believed.
    fn each(&mut self, known: &Bound<'c>, depth: usize) -> Option<Bound<'c>> {
        let (mut known, mut own) = (known.clone(), None);
        while !matches!(self.peek(), Some("-o" | "-or" | ")")) && self.at < self.words.len() {
            let bound = self.one(&known, depth)?;
            own = own.or_else(|| bound.clone());
            known = known.or(bound);
        }
        Some(own)
    }

    fn one(&mut self, known: &Bound<'c>, depth: usize) -> Option<Bound<'c>> {
        let word = self.peek()?;
        let at = self.at;
        self.at += 1;
        match word {
            "(" if depth < DEEP => {
                let inner = self.either(known, depth + 1)?;
                (self.peek() == Some(")")).then(|| self.at += 1)?;
                Some(inner)
            }
            "(" | "," => None,
            "!" | "-not" if depth < DEEP => {
                self.one(known, depth + 1)?;
                Some(None)
            }
            "!" | "-not" => None,
            word if word.starts_with('-') => self.test(word, at, known),
            // A folder to start from.
            _ => Some(None),
        }
    }

    fn test(&mut self, word: &'c str, at: usize, known: &Bound<'c>) -> Option<Bound<'c>> {
        let acts = [
            "-exec", "-ok", "-print", "-ls", "-fprint", "-fls", "-delete",
        ];
        if acts.iter().any(|act| word.starts_with(act)) {
            self.acts.push(known.clone());
        }
        if word.starts_with("-exec") || word.starts_with("-ok") {
            let mut before = "";
            while let Some(word) = self.peek() {
                self.at += 1;
                if word == ";" || word == "+" && before == "{}" {
                    break;
                }
                before = word;
            }
            return Some(None);
        }
        let option = self.options.iter().find(|option| option.at == at)?;
        let value = option.value.as_ref();
        self.at += usize::from(value.is_some() && option.sure);
        let end = match word {
            "-name" | "-iname" => glob_end(value?.text()?),
            _ => None,
        };
        Some(end.map(|text| {
            BTreeSet::from([End {
                text,
                caseless: word == "-iname",
            }])
        }))
    }

    /// The word at hand, where it is known.
    fn peek(&self) -> Option<&'c str> {
        self.words.get(self.at)?.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::shell::effects::{Stdin, outcome};
    use crate::source::Span;

    fn of(line: &str) -> Option<String> {
        let words = line
            .split(' ')
            .map(|text| Word::known(text, Span::default()));
        let words: Vec<Word> = words.collect();
        let outcome = outcome(&words, Stdin::None);
        let ends = ends(&words, &outcome.options)?;
        Some(Word::of(tail(&ends), Span::default()).shown())
    }

    #[test]
    fn names_end_as_the_expression_says() {
        for (line, end) in [
            ("find . -name *.rs", Some(".rs")),
            ("find . -iname *.md", Some(".[Mm][Dd]")),
            ("find . ( -name *.ts -o -name *.tsx )", Some("[.t][st][sx]")),
            ("find . -path ./x -prune -o -name *.ts -print", Some(".ts")),
            ("find . -path ./x -prune -o -name *.ts", None),
            (
                "find . -name *.ts -o -name *.rs -exec cat {} ;",
                Some(".rs"),
            ),
            ("find . -name *.ts -print -o -print", None),
            ("find . ! -name *.ts", None),
            ("find . -type f ! -name x.ts -name *.ts", Some(".ts")),
            ("find . -print -name *.ts", None),
            ("find . -name *.ts , -name x", None),
            ("find . ( -name *.ts", None),
            ("find . -name .env* -o -name *.ts", None),
        ] {
            assert_eq!(of(line).as_deref(), end, "{line}");
        }
    }
}
