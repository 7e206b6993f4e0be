//! The other ways to write what a command's words choose: `npm i` is `npm install`, `docker rmi` is `docker image rm`.
//!
//! In: a [`Reading`]. Out: other names of single words, and other words in the place of some. Patterns are compared
//! with each of them, so that a rule need not know which one was typed.

use super::reading::{Reading, kinds};
use super::{Role, Spelling};
use crate::call::programs::{Entry, Kind};
use crate::call::word::Word;

pub(super) fn of(reading: &Reading, words: &[Word]) -> (Vec<(usize, &'static str)>, Vec<Spelling>) {
    let (mut names, mut spellings) = (Vec::new(), Vec::new());
    let typed = |at: usize| words.get(at).and_then(Word::text).unwrap_or("");
    let instead = |from: usize, to: usize, text: &mut dyn Iterator<Item = &str>| Spelling {
        from,
        to,
        words: text
            .map(|text| {
                Word::known(
                    text,
                    words.get(to).map(|word| word.span).unwrap_or_default(),
                )
            })
            .collect(),
    };
    let levels: Vec<(&'static Entry, usize)> = reading
        .entries
        .iter()
        .copied()
        .zip(reading.chosen.iter().copied())
        .collect();
    for (level, (entry, at)) in levels.iter().enumerate().skip(1) {
        let before = level.checked_sub(1).and_then(|before| levels.get(before));
        // `npm pub` is `npm publish`.
        if let Some((above, _)) = before.filter(|(above, _)| above.sub(typed(*at)).is_none()) {
            names.extend(above.shortened(typed(*at)).map(|(name, _)| (*at, name)));
        }
        if entry.names.is_empty() {
            continue;
        }
        // `get pods,secrets` gets both.
        if let Some((above, _)) = before {
            let all = kinds(above, typed(*at)).flat_map(|kind| kind.names.texts());
            names.extend(all.map(|name| (*at, name)));
        }
        let own = before.map(|(_, from)| (*from, format!("{} {}", typed(*from), typed(*at))));
        match own {
            // `docker image rm` chose what `docker rmi` is.
            Some((from, own)) if entry.also.has(&own) => {
                let all = entry.names.texts().chain(entry.also.texts());
                let others = all.filter(|text| *text != own);
                spellings.extend(others.map(|text| instead(from, *at, &mut text.split(' '))));
            }
            _ => {
                let others = entry.names.texts().filter(|name| *name != typed(*at));
                names.extend(others.map(|name| (*at, name)));
                let also = entry.also.texts();
                spellings.extend(also.map(|text| instead(*at, *at, &mut text.split(' '))));
            }
        }
    }
    // `yarn run build` and `yarn build`, unless the name alone chooses something else.
    let verb = reading
        .roles
        .iter()
        .rposition(|role| *role == Role::Subcommand);
    let runs = reading.rest.or(verb);
    match (levels.as_slice(), runs) {
        ([.., (above, _), (entry, at)], Some(verb))
            if entry.optional && verb > *at && above.sub(typed(verb)).is_none() =>
        {
            spellings.push(instead(*at, *at, &mut std::iter::empty()));
        }
        ([(entry, _)], Some(_)) => {
            let mut subs = entry.subs.iter().map(|(_, sub)| sub.as_entry());
            if let Some(sub) = subs.find(|sub| sub.optional) {
                for name in sub.names.texts() {
                    spellings.push(instead(0, 0, &mut [typed(0), name].into_iter()));
                }
            }
        }
        _ => {}
    }
    (names, spellings)
}

/// Goals of one runner that deny and ask are tried on.
const GOALS: usize = 64;

/// The branch or tag that each refspec of a push goes to: its name, and the name in full.
pub(super) fn aims(reading: &Reading, words: &[Word]) -> Vec<(usize, String)> {
    let mut aims = Vec::new();
    let Some(operands) = reading.entry().and_then(|entry| entry.operands) else {
        return aims;
    };
    // `gradle build publish` does what `gradle publish` does, and so does `cargo hack publish`.
    if operands.rest.kind == Kind::Goal || operands.first.iter().any(|slot| slot.kind == Kind::Goal)
    {
        let sub = reading.chosen.last().copied().filter(|at| *at > 0);
        let first = sub.or_else(|| reading.operands.first().copied());
        let goals = reading
            .operands
            .iter()
            .filter(|at| Some(**at) != first)
            .take(GOALS);
        for at in goals {
            let text = words.get(*at).and_then(Word::text).unwrap_or("");
            let last = text.rsplit(':').next().unwrap_or(text);
            aims.extend(first.map(|first| (first, last.to_owned())));
        }
        return aims;
    }
    if operands.rest.kind != Kind::Refspec {
        return aims;
    }
    for at in reading.operands.iter().skip(operands.first.len()) {
        let text = words.get(*at).and_then(Word::text).unwrap_or("");
        let target = text.trim_start_matches('+');
        let target = target.split_once(':').map_or(target, |(_, target)| target);
        let short = target.strip_prefix("refs/heads/").unwrap_or(target);
        if !short.is_empty() {
            aims.push((*at, short.to_owned()));
            aims.push((*at, format!("refs/heads/{short}")));
        }
    }
    aims
}
