//! `first-match`: an allow and a deny that meet while neither lies inside the other: which of them decides there is
//! nothing but their order.

use super::Room;
use crate::finding::Finding;
use crate::language::{Answer, Entry};
use crate::policy::rule::Verdict;
use std::collections::BTreeSet;

const CODE: &str = "conflicting-rules";

/// Looks at the entries that may meet, two by two.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let rules = room.languages();
    let mut found = Vec::new();
    let mut told = BTreeSet::new();
    for (at, entry) in rules.entries().iter().enumerate() {
        if !room.is_ordered(entry.compiled) {
            continue;
        }
        for other in rules.meeting(at) {
            let Some(met) = rules.entries().get(other) else {
                continue;
            };
            let (first, second, one, two) = match entry.rule < met.rule {
                true => (at, other, entry, met),
                false => (other, at, met, entry),
            };
            if !opposed(one, two) || !told.insert((one.rule, two.rule)) {
                continue;
            }
            match rules.conflict(first, second) {
                Answer::Yes(witness) => {
                    let message = format!(
                        "the {} of {} and the {} of {} meet: the first of them decides there",
                        one.action(),
                        room.named(one),
                        two.action(),
                        room.named(two)
                    );
                    let (verdict, place) = (one.action(), room.place(one));
                    found.push(
                        room.at(CODE, message, two)
                            .label("loses where both match")
                            .also(&place.source, place.span, format!("this {verdict} is tried first"))
                            .help("say which is meant: narrow one, or take the call out of it with `except`")
                            .witness(witness.json(), &witness),
                    );
                }
                // Another text of the two rules may meet.
                Answer::No => {
                    told.remove(&(one.rule, two.rule));
                }
                Answer::Unknown => found.push(room.undecided(CODE, two, "meets a rule above it")),
            }
        }
    }
    found
}

fn opposed(one: &Entry<'_>, two: &Entry<'_>) -> bool {
    let verdicts = [one.action(), two.action()];
    one.rule != two.rule
        && one.compiled.layer == two.compiled.layer
        && verdicts.contains(&Verdict::Allow)
        && verdicts.contains(&Verdict::Deny)
}
