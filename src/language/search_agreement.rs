//! The search agrees with trying all words of a small alphabet, and with the automaton of the union.

use super::dfa::Dfa;
use super::search::{Found, Search};
use super::shape::{Alphabet, BREAK, Chars, Shape};
use super::words::Language;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The ends of what a shape takes from a place on, by trying all ways.
fn ends(shape: &Shape, word: &[char], from: usize) -> BTreeSet<usize> {
    match shape {
        Shape::Text(text) => {
            let text: Vec<char> = text.chars().collect();
            match word.get(from..).is_some_and(|rest| rest.starts_with(&text)) {
                true => [from + text.len()].into(),
                false => [].into(),
            }
        }
        Shape::Break => match word.get(from) {
            Some(&BREAK) => [from + 1].into(),
            _ => [].into(),
        },
        Shape::One { negated, chars } => match word.get(from) {
            Some(c) if *c != BREAK && chars.contains(c) != *negated => [from + 1].into(),
            _ => [].into(),
        },
        Shape::Seq(all) => all.iter().fold([from].into(), |at: BTreeSet<usize>, own| {
            at.iter().flat_map(|at| ends(own, word, *at)).collect()
        }),
        Shape::Any(all) => all.iter().flat_map(|own| ends(own, word, from)).collect(),
        Shape::Many(own) => {
            let mut all = BTreeSet::from([from]);
            loop {
                let more: BTreeSet<usize> =
                    all.iter().flat_map(|at| ends(own, word, *at)).collect();
                let before = all.len();
                all.extend(more);
                if all.len() == before {
                    return all;
                }
            }
        }
    }
}

fn takes(shape: &Shape, word: &[char]) -> bool {
    ends(shape, word, 0).contains(&word.len())
}

fn shapes() -> impl Strategy<Value = Shape> {
    let one = |negated, chars: &[char]| Shape::One {
        negated,
        chars: chars.to_vec(),
    };
    let leaf = prop_oneof![
        Just(Shape::Break),
        Just(one(false, &['a'])),
        Just(one(false, &['b'])),
        Just(Shape::text("ab")),
        Just(Shape::text("")),
        Just(one(true, &['a'])),
        Just(one(true, &[])),
        Just(Shape::parts()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Shape::Seq),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Shape::Any),
            inner.prop_map(Shape::many),
        ]
    })
}

fn words(symbols: &[char]) -> Vec<Vec<char>> {
    let mut all = vec![Vec::new()];
    let mut last: Vec<Vec<char>> = all.clone();
    for _ in 0..5 {
        last = last
            .iter()
            .flat_map(|word| {
                symbols.iter().map(move |c| {
                    let mut word = word.clone();
                    word.push(*c);
                    word
                })
            })
            .collect();
        all.extend(last.iter().cloned());
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn agrees_with_trying_all_words_and_with_the_union(
        is in shapes(),
        not in shapes(),
        others in prop::collection::vec(shapes(), 0..4),
    ) {
        let alphabet = {
            let mut chars = Chars::default();
            for c in ['a', 'b'] {
                chars.insert(c);
            }
            Alphabet::of(&chars)
        };
        let dfa = |shape: &Shape| Rc::new(Dfa::of(shape, &alphabet).unwrap());
        let wanted = Language { is: vec![dfa(&is)], not: vec![dfa(&not)] };
        let language = |shape: &Shape| Rc::new(Language { is: vec![dfa(shape)], not: Vec::new() });
        let mut search = Search::new(&alphabet, wanted.clone(), others.iter().map(language).collect());
        let good = |word: &[char]| {
            takes(&is, word) && !takes(&not, word) && !others.iter().any(|own| takes(own, word))
        };
        let shortest = words(alphabet.symbols()).into_iter().find(|word| good(word));
        let first = search.next();
        match (&first, &shortest) {
            (Found::Word(word), Some(shortest)) => {
                prop_assert_eq!(word.chars().count(), shortest.len());
            }
            (Found::Word(word), None) => prop_assert!(word.chars().count() > 5),
            (_, shortest) => prop_assert_eq!(shortest, &None),
        }
        let union = language(&Shape::Any(others.clone()));
        let by_union = Search::new(&alphabet, wanted, vec![union]).next();
        match (&first, &by_union) {
            (Found::Word(one), Found::Word(other)) => prop_assert_eq!(one.len(), other.len()),
            (Found::Nothing(_), Found::Nothing(_)) => {}
            both => prop_assert!(false, "{:?}", both),
        }
        if let Some(sample) = is.sample(&alphabet) {
            let sample: Vec<char> = alphabet.text(&sample).chars().collect();
            prop_assert!(takes(&is, &sample), "{:?}", sample);
        }
        for word in words(alphabet.symbols()) {
            prop_assert_eq!(is.takes(&word), takes(&is, &word), "{:?}", word);
        }
        let mut found = first;
        for _ in 0..8 {
            let Found::Word(word) = &found else { break };
            let word: Vec<char> = word.chars().collect();
            prop_assert!(good(&word), "{:?}", word);
            found = search.next();
        }
    }
}
