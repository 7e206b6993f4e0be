//! A glob → a shape.

use super::super::shape::Shape;
use crate::policy::glob::{Glob, Token};
use std::collections::BTreeSet;

/// A glob; `but` is a character that its wildcards do not take. None where it has too many characters.
pub fn glob(glob: &Glob, fold: bool, but: Option<char>) -> Option<Shape> {
    let free = || Shape::One {
        negated: true,
        chars: but.into_iter().collect(),
    };
    let shape = |token: &Token| {
        Some(match token {
            Token::Char(c) if !fold => Shape::Text(c.to_string()),
            Token::Char(c) => Shape::One {
                negated: false,
                chars: cases(*c, fold).into_iter().collect(),
            },
            Token::One => free(),
            Token::Star => free().many(),
            Token::Class { negated, ranges } => {
                let mut chars = BTreeSet::new();
                for (from, to) in ranges {
                    for c in *from..=*to {
                        chars.extend(cases(c, fold));
                        if chars.len() > 200 {
                            return None;
                        }
                    }
                }
                if *negated {
                    chars.extend(but);
                }
                Shape::One {
                    negated: *negated,
                    chars: chars.into_iter().collect(),
                }
            }
        })
    };
    let mut all: Vec<Shape> = Vec::new();
    for token in glob.tokens().iter() {
        match (all.last_mut(), token) {
            (Some(Shape::Text(text)), Token::Char(c)) if !fold => text.push(*c),
            _ => all.push(shape(token)?),
        }
    }
    Some(Shape::Seq(all))
}

fn cases(c: char, fold: bool) -> BTreeSet<char> {
    let mut all = BTreeSet::from([c]);
    if fold {
        all.extend(c.to_lowercase().chain(c.to_uppercase()));
        // Letters that meet the Latin ones only in the other case.
        match c {
            's' | 'S' => all.extend(['ſ']),
            'k' | 'K' => all.extend(['\u{212a}']),
            _ => {}
        }
        all.retain(|other| crate::policy::glob::same_folded(c, *other));
    }
    all
}

/// One part that a glob takes.
pub fn word(own: &Glob, fold: bool) -> Option<Shape> {
    Some(Shape::Seq(vec![Shape::Break, glob(own, fold, None)?]))
}
