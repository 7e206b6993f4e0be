//! An explanation → what a person reads in a terminal: verdict first, then the rule that decided with its text, the
//! command line with everything marked in it, every reason with what would clear it, and what lost.
//!
//! Short for an allow, complete for a deny and an ask. What is to be typed stands alone on its line, unbroken.

use super::human::{printable, snippet};
use super::picture::{Mark, Paint, draw, shortened, wrapped};
use crate::call::Grant;
use crate::call::access::{Kind, Mode, Reach, Touches};
use crate::decision::{Basis, Cleared, DecidedBy, Reason, Stage, texts};
use crate::explanation::{
    Because, BecauseOf, CoveredBy, Explained, Explanation, Lookalike, Outcome, Pointed, Voucher,
    Way,
};
use crate::finding::Label;
use crate::matcher::Compiled;
use crate::policy::rule::{Place, Verdict};
use crate::source::Span;
use unicode_width::UnicodeWidthStr;

/// How many rules that lost are told.
const MOST_LOST: usize = 12;

/// How many reasons are shown with the text of their rule.
const MOST_SNIPPETS: usize = 3;

/// The explanation, for a terminal of `width` columns; with the stages where `trace` is asked for.
pub fn explanation(told: &Explanation<'_>, width: usize, color: bool, trace: bool) -> String {
    let mut page = Page {
        out: String::new(),
        width: width.max(40),
        paint: Paint(color),
    };
    page.headline(told);
    match told.decision.action {
        Verdict::Allow => page.allowed(told),
        Verdict::Ask | Verdict::Deny => page.stopped(told),
    }
    if trace {
        page.trace(told);
    }
    page.out
}

struct Page {
    out: String,
    width: usize,
    paint: Paint,
}

impl Page {
    // --- lines

    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// A blank line, but never two.
    fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn heading(&mut self, text: &str) {
        self.gap();
        let text = self.paint.bold(text);
        self.line(&text);
    }

    /// Prose, indented; rows after the first `hang` columns further.
    fn prose(&mut self, indent: usize, hang: usize, text: &str) {
        let room = self.width.saturating_sub(indent);
        let rows = wrapped(&printable(text), room, room.saturating_sub(hang));
        for (index, row) in rows.iter().enumerate() {
            let indent = if index == 0 { indent } else { indent + hang };
            self.line(&format!("{:indent$}{row}", ""));
        }
    }

    // --- parts

    fn headline(&mut self, told: &Explanation<'_>) {
        let action = told.decision.action;
        let tool = printable(&told.call.tool);
        let start = action.name().len() + 2 + tool.width() + 2;
        let what = shortened(&what(told), self.width.saturating_sub(start).max(16));
        let word = self.paint.verdict(action, action.name());
        let tool = self.paint.bold(&tool);
        self.line(&format!("{word}  {tool}  {what}"));
    }

    fn allowed(&mut self, told: &Explanation<'_>) {
        let decision = told.decision;
        self.line("");
        for cleared in &decision.cleared {
            self.prose(0, 2, &format!("`{}` {}", cleared.key, cleared_by(cleared)));
        }
        match told.accesses.as_slice() {
            [only] => {
                self.prose(0, 2, &format!("allowed by {}", ground(told, only)));
                self.lookalikes(told);
            }
            _ => {
                if decision.cleared.is_empty() {
                    let by = decision.decided_by.as_ref();
                    let by =
                        by.map_or_else(|| "nothing objects".to_owned(), |by| self.by(told, by));
                    self.prose(0, 2, &format!("allowed: {by}"));
                }
                self.accesses(told);
            }
        }
    }

    fn by(&self, told: &Explanation<'_>, by: &DecidedBy) -> String {
        let at = by.place.as_ref().map(at).unwrap_or_default();
        match told.rule(&by.rule) {
            Some(rule) => format!(
                "every part is covered, first by the rule `{}`{at}",
                rule.key
            ),
            None => format!("the tier of `{}` says so{at}", told.call.tool),
        }
    }

    fn stopped(&mut self, told: &Explanation<'_>) {
        let decision = told.decision;
        let single = decision.reasons.len() == 1;
        for (index, reason) in decision.reasons.iter().enumerate() {
            self.gap();
            self.reason(
                told,
                reason,
                (!single).then_some(index + 1),
                index < MOST_SNIPPETS,
            );
        }
        if decision.basis == Basis::Mode && decision.action == Verdict::Deny && self.asks(told) {
            self.gap();
            self.prose(
                0,
                2,
                "the mode is non-interactive: nobody can be asked, so the call is refused",
            );
        }
        self.accesses(told);
        self.lost(told);
        self.tier(told);
        self.missing(told);
        self.unused(told);
        self.left_out(told);
        if decision
            .reasons
            .iter()
            .any(|reason| reason.action == Verdict::Deny)
        {
            self.gap();
            self.prose(
                0,
                2,
                "nothing clears a deny: change the call, or the policy",
            );
        }
    }

    fn asks(&self, told: &Explanation<'_>) -> bool {
        let reasons = &told.decision.reasons;
        reasons.iter().all(|reason| reason.action == Verdict::Ask)
    }

    fn reason(
        &mut self,
        told: &Explanation<'_>,
        reason: &Reason,
        number: Option<usize>,
        shown: bool,
    ) {
        let number = number
            .map(|number| format!("{number}. "))
            .unwrap_or_default();
        let indent = number.len();
        self.prose(0, indent.max(2), &format!("{number}{}", said(told, reason)));
        if let Some(pointed) = told.pointed(reason) {
            match shown {
                true => self.snippet(&pointed, reason),
                false => self.prose(indent, 2, &format!("at {}", place(pointed.place))),
            }
        }
        if reason.forced && reason.action == Verdict::Ask {
            let why = "forced: only a fresh approval of this very call will do";
            self.prose(indent.max(2), 2, why);
        }
        if let Some(instead) = &reason.instead {
            self.prose(indent.max(2), 9, &format!("instead: {instead}"));
        }
        let ways = told
            .obligations
            .iter()
            .find(|own| std::ptr::eq(own.reason, reason));
        if let Some(obligation) = ways {
            self.ways(&obligation.ways, indent.max(2));
        }
        if reason.kind == Basis::UnknownTool {
            let tool = &told.call.tool;
            self.prose(
                indent.max(2),
                6,
                &format!("help: list it in the policy, as in `[tiers]` `ask = [\"{tool}\"]`, or declare what its arguments mean under `[tools]`"),
            );
        }
    }

    fn snippet(&mut self, pointed: &Pointed<'_>, reason: &Reason) {
        let source = &pointed.place.source;
        let label = |span, text: &str| Label {
            source: std::sync::Arc::clone(source),
            span,
            text: text.to_owned(),
        };
        let decides = match reason.action {
            Verdict::Deny => "this denies it",
            _ => "this asks",
        };
        let whole = first_line(pointed.place);
        let line = |span: Span| source.line_column(span.start).0;
        let labels = match pointed.pattern {
            Some(pattern) if line(pattern) == line(whole) => vec![label(pattern, decides)],
            Some(pattern) => vec![label(pattern, "this matches"), label(whole, decides)],
            None => vec![label(whole, decides)],
        };
        let picture = snippet(&labels, self.width, self.paint.0);
        self.out.push_str(&picture);
    }

    fn ways(&mut self, ways: &[Way], indent: usize) {
        let typed: Vec<(String, &str)> = ways.iter().filter_map(typed).collect();
        let head = if typed.len() == 1 {
            "to clear it:"
        } else {
            "to clear it, one of:"
        };
        self.prose(indent, 2, head);
        let widest = typed
            .iter()
            .map(|(option, _)| option.width())
            .filter(|width| *width <= 44);
        let column = widest.max().unwrap_or(0) + 2;
        for (option, what) in typed {
            let indent = indent + 2;
            let start = indent + column.max(option.width() + 2);
            match start + what.width() <= self.width {
                true => {
                    let what = self.paint.dim(what);
                    self.line(&format!("{:indent$}{option:<column$}{what}", ""));
                }
                false => self.line(&format!("{:indent$}{option}", "")),
            }
        }
    }

    /// The call as a picture, or as a list where it is no command line.
    fn accesses(&mut self, told: &Explanation<'_>) {
        if told.accesses.is_empty() {
            return;
        }
        let mut listed: Vec<&Explained<'_>> = told.accesses.iter().collect();
        if let Some(line) = &told.decision.line {
            let mut marks: Vec<Marked> = Vec::new();
            listed.retain(|own| {
                let span = own.judged.access.span;
                let Some(span) = span.filter(|span| span.start <= line.len()) else {
                    return true;
                };
                let mark = Marked::of(told, own, span, line);
                match marks.iter_mut().find(|other| other.is_like(&mark)) {
                    Some(other) => other.does.extend(mark.does),
                    None => marks.push(mark),
                }
                false
            });
            if !marks.is_empty() {
                self.heading("the command line");
                let marks: Vec<Mark> = marks.iter().map(Marked::mark).collect();
                let picture = draw(line, &marks, self.width, self.paint);
                self.out.push_str(&picture);
            }
        }
        self.lookalikes(told);
        if listed.is_empty()
            || matches!(listed.as_slice(), [one] if matches!(one.judged.access.kind, Kind::Tool))
        {
            return;
        }
        self.heading("the call");
        for own in listed {
            let verdict = own.verdict;
            let head = format!("{:<5} ", verdict.name());
            let text = format!("{}{}: {}", head, does(own), why(told, own));
            let from = self.out.len();
            self.prose(2, 6, &text);
            // Coloured once the rows are measured.
            if self.paint.0 {
                let coloured = self.paint.verdict(verdict, verdict.name());
                let start = from + 2;
                self.out
                    .replace_range(start..start + verdict.name().len(), &coloured);
            }
        }
    }

    fn lookalikes(&mut self, told: &Explanation<'_>) {
        for own in &told.accesses {
            if let Some(found) = &own.lookalike {
                self.gap();
                self.prose(0, 2, &lookalike(found));
            }
        }
    }

    fn lost(&mut self, told: &Explanation<'_>) {
        // Many rules lose for one reason: it is told once.
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        let mut add = |why: String, who: String| match groups.iter_mut().find(|own| own.0 == why) {
            Some((_, all)) if all.contains(&who) => {}
            Some((_, all)) => all.push(who),
            None => groups.push((why, vec![who])),
        };
        for met in told.accesses.iter().flat_map(|own| &own.rules) {
            if let Outcome::Lost(why) = &met.outcome {
                add(why.clone(), rule(met.rule));
            }
        }
        for reason in &told.decision.overtaken {
            if reason.kind != Basis::Rule {
                add(
                    "a deny is final".into(),
                    format!("`{}` (ask)", shortened(&reason.key, 60)),
                );
            }
        }
        if groups.is_empty() {
            return;
        }
        self.heading("what else matched, and lost");
        let more = groups.len().saturating_sub(MOST_LOST);
        for (why, who) in groups.iter().take(MOST_LOST) {
            self.prose(2, 4, &format!("{}: {why}", listed(who)));
        }
        if more > 0 {
            self.prose(
                2,
                4,
                &format!("and {more} more; `--format json` has them all"),
            );
        }
    }

    fn tier(&mut self, told: &Explanation<'_>) {
        let Some(tier) = &told.decision.tier else {
            return;
        };
        // A tier that gave a reason was shown as one.
        if told
            .decision
            .reasons
            .iter()
            .any(|reason| reason.kind == Basis::Tier)
        {
            return;
        }
        self.gap();
        let stated = match &tier.place {
            Some(place) => format!(" (`{}`, {})", tier.address, self::place(place)),
            None => " (no policy states one)".to_owned(),
        };
        self.prose(
            0,
            2,
            &format!("tier of `{}`: {}{stated}", told.call.tool, tier.verdict),
        );
    }

    fn missing(&mut self, told: &Explanation<'_>) {
        if told.inputs.missing.is_empty() {
            return;
        }
        self.gap();
        let names: Vec<String> = told
            .inputs
            .missing
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let (s, are) = if names.len() == 1 {
            ("", "is")
        } else {
            ("s", "are")
        };
        self.prose(
            0,
            2,
            &format!(
                "the fact{s} {} {are} not given, which counts against the call; to give {}:",
                names.join(", "),
                if names.len() == 1 { "it" } else { "them" }
            ),
        );
        for name in &told.inputs.missing {
            self.line(&format!("    --fact {}", quoted(&format!("{name}=VALUE"))));
        }
    }

    fn unused(&mut self, told: &Explanation<'_>) {
        if told.unused.is_empty() {
            return;
        }
        self.heading("given, and of no effect");
        for unused in &told.unused {
            let given = match unused.given {
                Voucher::Approval(key) => format!("the approval of `{key}`"),
                Voucher::Session(tool) => format!("the session approval of `{tool}`"),
                Voucher::Grant(grant) => format!("the grant {}", json(grant)),
                Voucher::Endorsement(name) => format!("the endorsement of `{name}`"),
            };
            self.prose(2, 2, &format!("{given}: {}", unused.why));
        }
    }

    fn left_out(&mut self, told: &Explanation<'_>) {
        for file in told
            .inputs
            .files
            .iter()
            .filter(|file| !file.ignored.is_empty())
        {
            self.gap();
            let count = file.ignored.len();
            let (s, are) = if count == 1 {
                ("y", "is")
            } else {
                ("ies", "are")
            };
            self.prose(
                0,
                2,
                &format!("{count} entr{s} of {} {are} left out, for it came with the repository and is not trusted to loosen; to trust it: `acl trust`", file.file),
            );
        }
    }

    fn trace(&mut self, told: &Explanation<'_>) {
        self.heading("stages");
        let widest = Stage::ALL
            .iter()
            .map(|(_, name)| name.len())
            .max()
            .unwrap_or(0);
        for step in &told.trace {
            let head = format!(
                "{:<widest$}  {:<11}  ",
                step.stage.name(),
                step.state.name()
            );
            let room = self.width.saturating_sub(head.len() + 2);
            let notes = if step.notes.is_empty() {
                vec![String::new()]
            } else {
                step.notes.clone()
            };
            let mut head = head;
            for note in notes {
                for row in wrapped(&printable(&note), room, room) {
                    self.line(&format!("  {head}{row}"));
                    head = " ".repeat(head.len());
                }
            }
        }
        self.heading("inputs");
        let inputs = &told.inputs;
        let mut rows = Vec::new();
        for file in &inputs.files {
            let trust = if file.trusted { "" } else { ", not trusted" };
            rows.push(("policy", format!("{} ({}{trust})", file.file, file.layer)));
        }
        rows.push(("", inputs.policy.clone()));
        rows.push(("call", inputs.call.clone()));
        rows.push(("mode", inputs.mode.to_owned()));
        for fact in &inputs.facts {
            let from = if fact.given { "given" } else { "by default" };
            rows.push(("fact", format!("{} = {} ({from})", fact.name, fact.value)));
        }
        rows.extend(
            inputs
                .missing
                .iter()
                .map(|name| ("fact", format!("{name} is missing"))),
        );
        rows.extend(inputs.now.map(|now| ("now", now.to_string())));
        for (name, value) in rows {
            self.line(&format!("  {name:<6} {}", printable(&value)));
        }
    }
}

// --- words

/// What the call is about, in a few words.
fn what(told: &Explanation<'_>) -> String {
    if let Some(line) = &told.decision.line {
        let mut lines = line.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next().unwrap_or_default().trim();
        return match lines.next() {
            Some(_) => format!("{first} …"),
            None => first.to_owned(),
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
fn said(told: &Explanation<'_>, reason: &Reason) -> String {
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

fn cleared_by(cleared: &Cleared) -> String {
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
fn does(own: &Explained<'_>) -> String {
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
        Some(real) if subject.starts_with('/') && real != subject => {
            format!("{text}, which is `{real}`")
        }
        Some(real) if !real.ends_with(subject.trim_start_matches("./")) => {
            format!("{text}, which is `{real}`")
        }
        _ => text,
    }
}

/// What is said of a part of a command line: of several accesses, where a loop makes them of one text.
struct Marked {
    span: Span,
    verdict: Verdict,
    offends: bool,
    via: Vec<String>,
    does: Vec<String>,
    why: String,
}

impl Marked {
    fn of(told: &Explanation<'_>, own: &Explained<'_>, span: Span, line: &str) -> Self {
        let access = &own.judged.access;
        // A command stands above its words already; other things say what they are.
        let plain = match &access.kind {
            Kind::Command(_) => own.subject == span.of(line),
            Kind::Opaque(_) => true,
            _ => false,
        };
        Self {
            span,
            verdict: own.verdict,
            offends: told.decision.action != Verdict::Allow && own.open().next().is_some(),
            via: access.via.clone(),
            does: if plain { Vec::new() } else { vec![does(own)] },
            why: why(told, own),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.span, self.verdict, self.offends) == (other.span, other.verdict, other.offends)
            && self.via == other.via
            && self.why == other.why
    }

    fn mark(&self) -> Mark {
        let mut said = Vec::new();
        if !self.does.is_empty() {
            said.push(listed(&self.does));
        }
        if !self.via.is_empty() {
            let via: Vec<String> = self.via.iter().map(|via| format!("`{via}`")).collect();
            said.push(format!("via {}", via.join(", ")));
        }
        let said = match said.is_empty() {
            true => String::new(),
            false => format!(" {}:", said.join(", ")),
        };
        Mark {
            span: self.span,
            verdict: self.verdict,
            offends: self.offends,
            text: format!("{}:{said} {}", self.verdict, self.why),
        }
    }
}

/// Why an access has its verdict.
fn why(told: &Explanation<'_>, own: &Explained<'_>) -> String {
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
            Kind::Opaque(what) => ("not understood: ", what.clone()),
            _ => ("", "not understood".into()),
        },
        BecauseOf::Unresolved => ("", "cannot be computed before it runs".into()),
        BecauseOf::Tier => (
            "no rule allows it, so it goes by the tier of ",
            format!("`{}`", told.call.tool),
        ),
        BecauseOf::Mode => ("not in the mode ", format!("`{}`", told.call.mode.name())),
    }
}

/// A list in words, its end counted.
fn listed(all: &[String]) -> String {
    const MOST: usize = 4;
    let shown: Vec<&str> = all.iter().take(MOST).map(String::as_str).collect();
    match all.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// What lets an access pass.
fn ground(told: &Explanation<'_>, own: &Explained<'_>) -> String {
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

fn rule(rule: &Compiled) -> String {
    format!(
        "`{}` ({}, {})",
        rule.key,
        rule.rule.action,
        place(&rule.rule.place)
    )
}

fn at(place: &Place) -> String {
    format!(" ({})", self::place(place))
}

fn place(place: &Place) -> String {
    let (line, column) = place.source.line_column(place.span.start);
    format!("{}:{line}:{column}", place.source.name)
}

/// An entry's first line, for an underline that runs over a whole table says nothing.
fn first_line(place: &Place) -> Span {
    let text = place.span.of(&place.source.text);
    let line = text.lines().next().unwrap_or_default();
    Span::new(place.span.start, place.span.start + line.trim_end().len())
}

fn lookalike(found: &Lookalike) -> String {
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
fn typed(way: &Way) -> Option<(String, &'static str)> {
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

fn json(grant: &Grant) -> String {
    serde_json::to_string(grant).unwrap_or_default()
}

/// A word for the shell: quoted where it must be, and so that a terminal shows all of it.
fn quoted(word: &str) -> String {
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
