//! An explanation → what a person reads in a terminal: verdict first, then the rule that decided with its text, the
//! command line with everything marked in it, every reason with what would clear it, and what lost.
//!
//! Short for an allow, complete for a deny and an ask. What is to be typed stands alone on its line, unbroken.

use super::human::snippet;
use super::picture::{Paint, draw, shortened, wrapped};
use super::wording::{
    at, cleared_by, does, first_line, ground, json, laid, listed, lookalike, place, quoted, rule,
    said, typed, what, why,
};
use crate::decision::{Basis, DecidedBy, Reason, Stage};
use crate::explanation::{Explanation, Outcome, Pointed, Voucher, Way};
use crate::finding::Label;
use crate::policy::rule::{Judges, Verdict};
use crate::source::Span;
use crate::text::printable;
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
                if decision.cleared.is_empty() {
                    self.prose(0, 2, &format!("allowed by {}", ground(told, only)));
                }
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
        self.near(told);
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
        let with = pointed.with.iter().map(|span| label(*span, "with this"));
        let labels: Vec<Label> = labels.into_iter().chain(with).collect();
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
            let column = column.max(option.width() + 2);
            let start = indent + column;
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
        let (marks, listed) = laid(told);
        if let Some(line) = told.decision.line.as_ref().filter(|_| !marks.is_empty()) {
            self.heading("the command line");
            let picture = draw(line, &marks, self.width, self.paint);
            self.out.push_str(&picture);
        }
        self.lookalikes(told);
        if listed.is_empty() {
            return;
        }
        self.heading("the call");
        for own in listed {
            let verdict = own.verdict;
            let head = format!("{:<5} ", verdict.name());
            let text = format!("{}{}: {}", head, does(told, own), why(told, own));
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

    /// The rules that would let an access pass, but for a condition.
    fn near(&mut self, told: &Explanation<'_>) {
        let mut said: Vec<String> = Vec::new();
        for own in &told.accesses {
            for near in &own.near {
                let rule = rule(near.rule);
                let text = format!("{rule} does not cover `{}`: {}", own.subject, near.why);
                if !said.contains(&text) {
                    said.push(text);
                }
            }
        }
        // Beside a deny no allow matters, unless the deny is only a section's default.
        let lifted = |reason: &Reason| {
            let rule = told.rule(&reason.key);
            reason.action != Verdict::Deny
                || rule.is_some_and(|own| matches!(own.rule.judges, Judges::Rest(_)))
        };
        if said.is_empty() || !told.decision.reasons.iter().all(lifted) {
            return;
        }
        self.heading("what nearly allows it");
        let more = said.len().saturating_sub(MOST_LOST);
        for text in said.iter().take(MOST_LOST) {
            self.prose(2, 4, text);
        }
        self.more(more);
    }

    fn more(&mut self, more: usize) {
        if more > 0 {
            let text = format!("and {more} more; `--format json` has them all");
            self.prose(2, 4, &text);
        }
    }

    fn lost(&mut self, told: &Explanation<'_>) {
        // Many rules lose for one reason: it is told once. So are the entries of one list.
        let mut groups: Vec<(String, Vec<(String, Vec<String>)>)> = Vec::new();
        let mut add = |why: String, list: String, who: String| {
            let at = groups.iter().position(|own| own.0 == why);
            let at = at.unwrap_or_else(|| {
                groups.push((why, Vec::new()));
                groups.len() - 1
            });
            let Some((_, all)) = groups.get_mut(at) else {
                return;
            };
            match all.iter_mut().find(|own| own.0 == list) {
                Some((_, entries)) if entries.contains(&who) => {}
                Some((_, entries)) => entries.push(who),
                None => all.push((list, vec![who])),
            }
        };
        for met in told.accesses.iter().flat_map(|own| &own.rules) {
            if let Outcome::Lost(why) = &met.outcome {
                let key = &met.rule.key;
                let list = match met.rule.rule.id {
                    Some(_) => key.as_str(),
                    None => key.split('[').next().unwrap_or(key),
                };
                add(why.clone(), list.to_owned(), rule(met.rule));
            }
        }
        for reason in &told.decision.overtaken {
            if reason.kind != Basis::Rule {
                let key = shortened(&reason.key, 60);
                add(
                    "a deny is final".into(),
                    key.clone(),
                    format!("`{key}` (ask)"),
                );
            }
        }
        if groups.is_empty() {
            return;
        }
        self.heading("what else matched, and lost");
        let more = groups.len().saturating_sub(MOST_LOST);
        for (why, who) in groups.iter().take(MOST_LOST) {
            let who: Vec<String> = who
                .iter()
                .map(|(list, entries)| match entries.as_slice() {
                    [only] => only.clone(),
                    all => format!("{} entries of `{list}`", all.len()),
                })
                .collect();
            self.prose(2, 4, &format!("{}: {why}", listed(&who)));
        }
        self.more(more);
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
            Some(at) => format!(" (`{}`, {})", tier.address, place(at)),
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
            let why = match file.changed {
                true => "it changed since it was trusted, and loosens nothing until it is again",
                false => "it came with the repository and is not trusted to loosen; to trust it",
            };
            let file = &file.file;
            self.prose(
                0,
                2,
                &format!("{count} entr{s} of {file} {are} left out, for {why}: `acl trust`"),
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
            let trust = match (file.trusted, file.changed) {
                (true, _) => "",
                (_, true) => ", changed since it was trusted",
                _ => ", not trusted",
            };
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
