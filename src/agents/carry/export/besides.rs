//! Whether an agent that compares words may allow what a pattern of commands matches.
//!
//! In: a compiled policy and a pattern that allows. Out: whether acl judges something besides the words in a line that
//! begins with them: a path, a host, what an option runs or does beyond. Lines are tried with what the table of programs
//! knows of their options and subcommands; an agent that would let one pass is not told.

use super::wishes;
use crate::call::Call;
use crate::call::access::{Kind, Mode};
use crate::call::files::FileView;
use crate::call::programs::{self, Entry, Spec, Takes};
use crate::call::tools::{Holds, canonical};
use crate::decision::{Judged, decide};
use crate::matcher::Matcher;
use crate::policy::patterns::{CommandPattern, WordPattern};
use crate::policy::rule::{Judges, Rule, Verdict};
use serde_json::json;

/// What may stand behind the words of a pattern.
const BEHIND: &[&str] = &[
    "/elsewhere/x",
    "https://elsewhere.example/",
    "x",
    ".env",
    "x:y",
    "x=/elsewhere/x",
    "@/elsewhere/x",
    "+x",
    "--elsewhere=/elsewhere/x",
];

/// How deep subcommands are tried.
const DEEPEST: usize = 4;

/// Whether acl judges more than the words of what a pattern matches.
pub(super) fn judged(matcher: &Matcher, pattern: &CommandPattern, exact: bool) -> bool {
    let (literal, whole) = wishes::literal(pattern);
    let mut words = literal.clone();
    for word in pattern.words.iter().skip(literal.len()) {
        match word {
            WordPattern::Word(_) => words.push("x".to_owned()),
            // Which an agent cannot say anyway.
            WordPattern::Any => return false,
        }
    }
    let tried = Tried { matcher };
    let line = words.join(" ");
    let alone = tried.of(&line);
    if alone.iter().any(|own| own.verdict != Verdict::Allow) {
        return true;
    }
    if exact && whole {
        return false;
    }
    let stem = match whole {
        true => line,
        false => literal.join(" "),
    };
    let mut entries = Vec::new();
    if let Some((program, rest)) = literal.split_first() {
        let mut entry = programs::find(program).map(|program| program.entry.as_entry());
        entries.extend(entry);
        for word in rest {
            entry = entry.and_then(|entry| entry.sub(word));
            entries.extend(entry);
        }
    }
    let known = alone.iter().map(|own| &own.access.kind).collect::<Vec<_>>();
    tried.behind(&stem, &known)
        || entries
            .iter()
            .flat_map(|entry| entry.options.iter().chain(entry.pairs.iter()))
            .any(|option| tried.option(&stem, option, &known))
        || entries
            .last()
            .is_some_and(|entry| tried.below(&stem, entry, &known, 0))
}

struct Tried<'m> {
    matcher: &'m Matcher,
}

impl Tried<'_> {
    fn of(&self, line: &str) -> Vec<Judged> {
        let call = Call {
            cwd: Some("/workspace".to_owned()),
            home: Some("/home/user".to_owned()),
            workspace: Some("/workspace".to_owned()),
            ..Call::new("bash", json!({ "command": line }))
        };
        decide(self.matcher, &call, &FileView::None).judged
    }

    /// Whether a line comes to more than words, the accesses aside that its beginning has by itself.
    fn more(&self, line: &str, known: &[&Kind]) -> bool {
        self.of(line).iter().any(|own| match &own.access.kind {
            Kind::Tool => false,
            Kind::Command(_) => own.verdict != Verdict::Allow && !self.told(own),
            kind => !known.contains(&kind),
        })
    }

    /// A rule about words refuses or asks: that the agent is told for itself.
    fn told(&self, own: &Judged) -> bool {
        let rules = own.matched.iter().filter(|matched| matched.lost.is_none());
        let mut rules = rules.filter_map(|matched| self.matcher.rules.get(matched.rule));
        rules.any(|own| {
            own.rule.action != Verdict::Allow && matches!(own.rule.judges, Judges::Commands(_))
        })
    }

    fn behind(&self, stem: &str, known: &[&Kind]) -> bool {
        let mut behind = BEHIND.iter();
        behind.any(|word| self.more(&format!("{stem} {word}"), known))
    }

    fn option(&self, stem: &str, option: &Spec, known: &[&Kind]) -> bool {
        let Some(name) = option.names.iter().next() else {
            return false;
        };
        let name = name.as_str();
        let long = name.starts_with("--");
        let values = ["/elsewhere/x", "https://elsewhere.example/"];
        match option.takes {
            Takes::Nothing => self.more(&format!("{stem} {name}"), known),
            Takes::Attached if long => values
                .iter()
                .any(|value| self.more(&format!("{stem} {name}={value}"), known)),
            Takes::Attached => values
                .iter()
                .any(|value| self.more(&format!("{stem} {name}{value}"), known)),
            Takes::Two => self.more(&format!("{stem} {name} x /elsewhere/x"), known),
            _ => values
                .iter()
                .any(|value| self.more(&format!("{stem} {name} {value}"), known)),
        }
    }

    /// What its subcommands do.
    fn below(&self, stem: &str, entry: &'static Entry, known: &[&Kind], depth: usize) -> bool {
        if depth == DEEPEST {
            return true;
        }
        entry.subs.iter().any(|(name, sub)| {
            let stem = format!("{stem} {}", name.as_str());
            let sub = sub.as_entry();
            self.more(&stem, known)
                || self.behind(&stem, known)
                || sub
                    .options
                    .iter()
                    .any(|option| self.option(&stem, option, known))
                || self.below(&stem, sub, known, depth + 1)
        })
    }
}

pub(super) const MORE: &str = "acl judges which files and hosts such a call names, and what a command line does: the agent asks";

/// Whether acl judges more of a tool's calls than its name, and an agent that can name paths and hosts of the tools in
/// `told` would let all of it pass.
pub(super) fn narrowed(matcher: &Matcher, told: &[&str], tool: &str) -> bool {
    let Some(declared) = matcher.declaration(tool) else {
        return false;
    };
    let own = canonical(tool).is_some();
    declared.arguments.iter().any(|argument| {
        let paths = match argument.holds {
            // Lines that nobody understands are not the only ones that ask.
            Holds::Shell | Holds::Argv => return true,
            _ if !own => return true,
            _ if told.contains(&tool) => return false,
            Holds::Read => Some(Mode::Read),
            Holds::Write | Holds::Patch => Some(Mode::Write),
            Holds::Url => None,
        };
        let guarded = matcher.protected.iter();
        let mut guarded = guarded.filter_map(|set| Some(set.paths.modes.contains(&paths?)));
        let stricter = |rule: &Rule| {
            rule.action != Verdict::Allow
                && match (&rule.judges, paths) {
                    (Judges::Paths(own), Some(mode)) => own.modes.contains(&mode),
                    (Judges::Hosts(_), None) => true,
                    _ => false,
                }
        };
        guarded.any(|set| set) || matcher.rules.iter().any(|own| stricter(&own.rule))
    })
}
