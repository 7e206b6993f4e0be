//! The sentences of an explanation: what an access does, why it has its verdict, what to type.
//!
//! In: parts of an explanation. Out: words, not yet made safe for a terminal; `human_explanation.rs` lays them out.

use super::picture::Mark;
use crate::call::Grant;
use crate::call::access::{Cover, Kind, Mode, Reach, Touches, Via};
use crate::decision::{Basis, Cleared, Reason, texts};
use crate::explanation::{Because, BecauseOf, CoveredBy, Explained, Explanation, Lookalike, Way};
use crate::matcher::Compiled;
use crate::policy::rule::{Place, Verdict};
use crate::source::Span;
use crate::text::printable;

/// What the call is about, in a few words.
pub(super) fn what(told: &Explanation<'_>) -> String {
    if let Some(line) = &told.decision.line {
        let lines: Vec<&str> = line.trim_end().lines().collect();
        let says = |line: &&&str| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#') && !line.starts_with("set -")
        };
        let first = lines
            .iter()
            .find(says)
            .or(lines.first())
            .map_or("", |line| line.trim());
        return match lines.len() {
            0 | 1 => first.to_owned(),
            count => format!("{first} … ({count} lines)"),
        };
    }
    let subjects: Vec<&str> = told
        .accesses
        .iter()
        .filter(|own| !matches!(own.judged.access.kind, Kind::Tool))
        .map(|own| own.subject.as_str())
        .collect();
    if !subjects.is_empty() {
        return subjects.join(", ");
    }
    match told.call.args.object() {
        Ok(args) if !args.is_empty() => serde_json::to_string(args).unwrap_or_default(),
        _ => String::new(),
    }
}

/// A reason in a sentence.
pub(super) fn said(told: &Explanation<'_>, reason: &Reason) -> String {
    let subject = &reason.subject;
    let text = &reason.text;
    let past = match reason.action {
        Verdict::Deny => "denied",
        Verdict::Ask | Verdict::Allow => "asked",
    };
    let verb = match reason.action {
        Verdict::Deny => "denies",
        Verdict::Ask | Verdict::Allow => "asks about",
    };
    match reason.kind {
        Basis::Rule => {
            let who = match told.rule(&reason.key) {
                Some(own) if own.rule.id.is_none() => format!("`{}`", reason.key),
                _ => format!("the rule `{}`", reason.key),
            };
            // A rule without a reason of its own is told by its text; what is said of the fit stays.
            let plain = texts::unreasoned(reason);
            match text.strip_prefix(&plain).map(str::trim) {
                Some("") => format!("{who} {verb} `{subject}`"),
                Some(rest) => format!("{who} {verb} `{subject}` {rest}"),
                None => format!("{who} {verb} `{subject}`: {text}"),
            }
        }
        Basis::Protected => format!("{past} by `{}`: {text}", reason.key),
        _ => format!("{past}: {text}"),
    }
}

pub(super) fn cleared_by(cleared: &Cleared) -> String {
    let by = match (cleared.by, cleared.scope) {
        (Basis::Approval, _) => "an approval".to_owned(),
        (Basis::Session, _) => "the tool's session approval".to_owned(),
        (Basis::Grant, Some(scope)) => format!("a {scope} grant"),
        (Basis::Endorsement, _) => match &cleared.source {
            Some(source) => format!("the endorsement of `{source}`"),
            None => "an endorsement".to_owned(),
        },
        (Basis::Mode, _) => "the mode `bypass`".to_owned(),
        (other, _) => other.name().to_owned(),
    };
    format!("would ask, and was cleared by {by}")
}

/// What an access does, in words.
pub(super) fn does(told: &Explanation<'_>, own: &Explained<'_>) -> String {
    let subject = &own.subject;
    let text = match &own.judged.access.kind {
        Kind::Tool => "uses the tool".to_owned(),
        Kind::Command(_) => format!("runs `{subject}`"),
        Kind::Path(path) => {
            let verb = match (path.touches, path.mode) {
                (Touches::Perhaps, _) => "may touch",
                (Touches::Names, _) => "names",
                (Touches::Surely, Mode::Read) => "reads",
                (Touches::Surely, Mode::Write) => "writes",
            };
            let reach = match path.reach {
                Reach::Itself => "",
                Reach::Below { .. } => " all below",
                Reach::SomethingBelow => " something below",
            };
            format!("{verb}{reach} `{subject}`")
        }
        Kind::Host(_) => format!("contacts `{subject}`"),
        Kind::Opaque(_) => "is not understood".to_owned(),
    };
    match &own.judged.real {
        Some(real) if subject == "." && told.call.cwd.as_ref() == Some(real) => text,
        Some(real) if subject.starts_with('/') && real != subject => {
            format!("{text}, which is `{real}`")
        }
        Some(real) if !real.ends_with(subject.trim_start_matches("./")) => {
            format!("{text}, which is `{real}`")
        }
        _ => text,
    }
}

/// The command line's parts with what is said of them, and the accesses that are told beside it. A call that only uses
/// its tool has nothing to tell.
pub(super) fn laid<'t>(told: &'t Explanation<'_>) -> (Vec<Mark>, Vec<&'t Explained<'t>>) {
    let mut listed: Vec<&Explained<'_>> = told.accesses.iter().collect();
    let mut marks: Vec<Marked> = Vec::new();
    if let Some(line) = &told.decision.line {
        // Access → its mark.
        let mut of: Vec<Option<usize>> = Vec::new();
        listed.retain(|own| {
            of.push(None);
            let cover = match &own.judged.access.kind {
                Kind::Path(path) => Some(path.cover),
                Kind::Host(host) => Some(host.cover),
                _ => None,
            };
            if let Some(Cover::Command { at, .. }) = cover
                && let Some(mark) = of.get(at).copied().flatten()
                && marks
                    .get_mut(mark)
                    .is_some_and(|mark| mark.takes(told, own))
            {
                return false;
            }
            let span = own.judged.access.span;
            let Some(span) = span.filter(|span| span.start <= line.len()) else {
                return true;
            };
            let mark = Marked::of(told, own, span, line);
            let at = marks
                .iter()
                .position(|other| other.is_like(&mark))
                .unwrap_or(marks.len());
            match marks.get_mut(at) {
                Some(other) => other.joins(mark),
                None => marks.push(mark),
            }
            if let Some(last) = of.last_mut() {
                *last = Some(at);
            }
            false
        });
    }
    if matches!(listed.as_slice(), [one] if matches!(one.judged.access.kind, Kind::Tool)) {
        listed.clear();
    }
    (marks.iter().map(Marked::mark).collect(), listed)
}

/// What is said of a part of a command line: of several accesses, where a loop makes them of one text, and of what
/// a command touches, where that passes as it does.
struct Marked {
    span: Span,
    verdict: Verdict,
    offends: bool,
    via: Via,
    /// What is done, and why each has the verdict: what is said alike is said once.
    said: Vec<(Vec<String>, String)>,
    /// What lets pass → what the command touches.
    touches: Vec<(String, Vec<String>)>,
}

impl Marked {
    fn of(told: &Explanation<'_>, own: &Explained<'_>, span: Span, line: &str) -> Self {
        let access = &own.judged.access;
        // A command stands above its words already, its quotes aside; other things say what they are.
        let bare = |text: &str| text.replace(['\'', '"', '\\', ' ', '\n'], "");
        let plain = match &access.kind {
            Kind::Command(_) => bare(&own.subject) == bare(span.of(line)),
            Kind::Opaque(_) => true,
            _ => false,
        };
        Self {
            span,
            verdict: own.verdict,
            offends: told.decision.action != Verdict::Allow && own.open().next().is_some(),
            via: access.via.clone(),
            said: vec![(
                if plain {
                    Vec::new()
                } else {
                    vec![does(told, own)]
                },
                why(told, own),
            )],
            touches: Vec::new(),
        }
    }

    /// Takes over what the command of this mark touches, where that passes as well: one row tells of both.
    fn takes(&mut self, told: &Explanation<'_>, own: &Explained<'_>) -> bool {
        let passes = own.verdict == Verdict::Allow && self.verdict == Verdict::Allow;
        if !passes || self.offends || own.judged.access.via != self.via {
            return false;
        }
        let by = match &own.cover {
            Some(CoveredBy::Rule(_) | CoveredBy::Tier) => format!(" ({})", ground(told, own)),
            _ => String::new(),
        };
        let does = does(told, own);
        match self.touches.iter_mut().find(|(other, _)| *other == by) {
            Some((_, all)) if all.contains(&does) => {}
            Some((_, all)) => all.push(does),
            None => self.touches.push((by, vec![does])),
        }
        true
    }

    /// Whether one row can tell of both.
    fn is_like(&self, other: &Self) -> bool {
        (self.span, self.verdict, self.offends) == (other.span, other.verdict, other.offends)
            && self.via == other.via
    }

    /// Takes over what is said of another mark that is like this one.
    fn joins(&mut self, other: Self) {
        for (does, why) in other.said {
            match self.said.iter_mut().find(|(_, own)| *own == why) {
                Some((all, _)) => all.extend(does),
                None => self.said.push((does, why)),
            }
        }
    }

    fn mark(&self) -> Mark {
        let via: Vec<String> = self.via.iter().map(|via| way(via)).collect();
        let via = match via.is_empty() {
            true => String::new(),
            false => format!("via {}", via.join(", ")),
        };
        let mut said = Vec::new();
        for (does, why) in &self.said {
            let mut once: Vec<String> = Vec::new();
            for own in does {
                if !once.contains(own) {
                    once.push(own.clone());
                }
            }
            let mut head = match once.is_empty() {
                true => Vec::new(),
                false => vec![listed(&once)],
            };
            if said.is_empty() && !via.is_empty() {
                head.push(via.clone());
            }
            said.push(match head.is_empty() {
                true => why.clone(),
                false => format!("{}: {why}", head.join(", ")),
            });
        }
        let touches = self
            .touches
            .iter()
            .map(|(by, all)| format!("; {}{by}", listed(all)));
        let touches: String = touches.collect();
        Mark {
            span: self.span,
            verdict: self.verdict,
            offends: self.offends,
            text: format!("{}: {}{touches}", self.verdict, said.join("; ")),
        }
    }
}

/// What a command was reached through, in words.
fn way(via: &str) -> String {
    match via {
        "loop body" => "the loop".to_owned(),
        "heredoc" | "here-string" | "trap" | "coproc" => format!("the {via}"),
        _ => match via.split_once("pipe into ") {
            Some(("", shell)) => format!("the pipe into `{shell}`"),
            _ => format!("`{via}`"),
        },
    }
}

/// Why an access has its verdict.
pub(super) fn why(told: &Explanation<'_>, own: &Explained<'_>) -> String {
    let verdict = own.verdict;
    // What is said alike is said once, with all it is said of.
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    let counts = |because: &&Because<'_>| {
        because.action == verdict || matches!(because.source, BecauseOf::Mode)
    };
    for because in own.because.iter().filter(counts) {
        let (said, of) = because_of(told, own, because);
        let of = match because.cleared {
            true => format!("{of} (cleared)"),
            false => of,
        };
        match groups.iter_mut().find(|(other, _)| *other == said) {
            Some((_, all)) => all.push(of),
            None => groups.push((said, vec![of])),
        }
    }
    if groups.is_empty() {
        return ground(told, own);
    }
    let told: Vec<String> = groups
        .into_iter()
        .map(|(said, all)| format!("{said}{}", listed(&all)))
        .collect();
    told.join("; ")
}

/// What is said of an access, and of whom.
fn because_of(
    told: &Explanation<'_>,
    own: &Explained<'_>,
    because: &Because<'_>,
) -> (&'static str, String) {
    let key = format!("`{}`", because.key);
    match &because.source {
        BecauseOf::Rule(own)
            if own.rule.action == Verdict::Deny && because.action == Verdict::Ask =>
        {
            ("may be what is denied by ", key)
        }
        BecauseOf::Rule(own) if own.rule.id.is_some() => ("rule ", key),
        BecauseOf::Rule(_) => ("", key),
        BecauseOf::Protected(_) if because.action == Verdict::Ask => ("may be a file of ", key),
        BecauseOf::Protected(_) => ("", key),
        BecauseOf::Outside => ("", "outside the workspace".into()),
        BecauseOf::Opaque => match &own.judged.access.kind {
            Kind::Opaque(own) => ("not understood: ", own.why.clone()),
            _ => ("", "not understood".into()),
        },
        BecauseOf::Unresolved => match &own.judged.access.kind {
            Kind::Path(path) if path.reach == Reach::SomethingBelow && !path.path.is_unknown() => {
                ("", "which names is not known before it runs".into())
            }
            _ => ("", "cannot be computed before it runs".into()),
        },
        BecauseOf::Tier => (
            "no rule allows it, so it goes by the tier of ",
            format!("`{}`", told.call.tool),
        ),
        BecauseOf::Mode => ("not in the mode ", format!("`{}`", told.call.mode.name())),
    }
}

/// A list in words, its end counted.
pub(super) fn listed(all: &[String]) -> String {
    const MOST: usize = 4;
    let shown: Vec<&str> = all.iter().take(MOST).map(String::as_str).collect();
    match all.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// What lets an access pass.
pub(super) fn ground(told: &Explanation<'_>, own: &Explained<'_>) -> String {
    let with_place = |rule: &Compiled| {
        // In a picture with many marks the place would drown the name.
        match told.accesses.len() {
            1 => format!("{}{}", name(rule), at(&rule.rule.place)),
            _ => name(rule),
        }
    };
    match &own.cover {
        Some(CoveredBy::Rule(rule)) => with_place(rule),
        Some(CoveredBy::Transparent) => match own.judged.access.kind {
            Kind::Command(_) => "it only starts the other command".into(),
            _ => "nothing objects".into(),
        },
        Some(CoveredBy::Command(_, Some(rule))) => format!("{}, with its command", name(rule)),
        Some(CoveredBy::Command(at, None)) => match told.accesses.get(*at) {
            Some(command) => format!("part of `{}`", command.subject),
            None => "part of its command".into(),
        },
        Some(CoveredBy::Tier) => {
            let tier = told.decision.tier.as_ref();
            let place = tier
                .and_then(|tier| tier.place.as_ref())
                .map(at)
                .unwrap_or_default();
            let place = if told.accesses.len() == 1 {
                place
            } else {
                String::new()
            };
            format!("the tier of `{}`{place}", told.call.tool)
        }
        None => "nothing objects".into(),
    }
}

/// `the rule `x``, or the address of a rule without a name.
fn name(rule: &Compiled) -> String {
    match rule.rule.id {
        Some(_) => format!("rule `{}`", rule.key),
        None => format!("`{}`", rule.key),
    }
}

pub(super) fn rule(rule: &Compiled) -> String {
    format!(
        "`{}` ({}, {})",
        rule.key,
        rule.rule.action,
        place(&rule.rule.place)
    )
}

pub(super) fn at(place: &Place) -> String {
    format!(" ({})", self::place(place))
}

pub(super) fn place(place: &Place) -> String {
    let (line, column) = place.source.line_column(place.span.start);
    format!("{}:{line}:{column}", place.source.name)
}

/// An entry's first line, for an underline that runs over a whole table says nothing.
pub(super) fn first_line(place: &Place) -> Span {
    let text = place.span.of(&place.source.text);
    let line = text.lines().next().unwrap_or_default();
    Span::new(place.span.start, place.span.start + line.trim_end().len())
}

pub(super) fn lookalike(found: &Lookalike) -> String {
    let mut letters: Vec<String> = Vec::new();
    for letter in &found.letters {
        let code = u32::from(letter.is);
        let text = match letter.looks_like {
            Some(other) => format!("U+{code:04X} in place of `{other}`"),
            None => format!("U+{code:04X}, which is not seen"),
        };
        if !letters.contains(&text) {
            letters.push(text);
        }
    }
    format!(
        "the program `{}` looks like `{}`, and is another: it has {}",
        found.name,
        found.looks_like,
        letters.join(", ")
    )
}

/// What to type, and what it is; none where it has no spelling on the command line.
pub(super) fn typed(way: &Way) -> Option<(String, &'static str)> {
    Some(match way {
        Way::Approval { key, call: None } => (
            format!("--approve {}", quoted(key)),
            "approve it for this call",
        ),
        Way::Approval {
            key,
            call: Some(digest),
        } => (
            format!("--approve {}", quoted(&format!("{key}@{digest}"))),
            "approve this very call",
        ),
        Way::Endorsement(name) if name.is_empty() => return None,
        Way::Endorsement(name) => (
            format!("--verdict {}", quoted(&format!("{name}=allow"))),
            "an authority endorses the call",
        ),
        Way::Session(tool) => (
            format!("--session-allow {}", quoted(tool)),
            "approve the tool for the session",
        ),
        Way::Grant(grant) => (
            format!("--grant {}", quoted(&json(grant))),
            match grant.session {
                Some(_) => "remember it for the session",
                None => "remember it",
            },
        ),
        Way::Bypass => ("--mode bypass".to_owned(), "let every tier's ask pass"),
    })
}

pub(super) fn json(grant: &Grant) -> String {
    serde_json::to_string(grant).unwrap_or_default()
}

/// A word for the shell: quoted where it must be, and so that a terminal shows all of it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word == printable(word) && !word.contains('\n') {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut out = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c if u32::from(c) < 0x80 => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push('\'');
    out
}
