//! Findings → what a person reads in a terminal: message, snippet, advice.
//!
//! Drawn by miette, from an [`Excerpt`] and not from the file: miette hands control characters on to
//! the terminal, prints a line of any length, and panics on a lone carriage return.
//! A label that runs over several lines is shown on its first.

use crate::finding::{Finding, Label, Severity};
use crate::source::{Source, Span};
use crate::text::{printable, visible};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, SourceSpan};
use std::fmt;
use unicode_width::UnicodeWidthStr;

/// What the gutter takes of a line's width: number, bar and blanks.
const GUTTER: usize = 8;

/// What leads from a label to its text.
const LEADER: usize = 4;

/// How narrow a snippet may get.
const NARROWEST: usize = 24;

/// The findings one below the other, for a terminal of `width` columns.
pub fn findings(findings: &[Finding], width: usize, color: bool) -> String {
    let width = width.max(GUTTER + NARROWEST);
    let mut out = String::new();
    for finding in findings {
        if !out.is_empty() {
            out.push('\n');
        }
        finding_into(&mut out, finding, width, color);
    }
    out
}

/// The lines that labels are about, without a headline.
pub(super) fn snippet(labels: &[Label], width: usize, color: bool) -> String {
    let finding = Finding {
        code: "",
        severity: Severity::Error,
        message: String::new(),
        labels: labels.to_vec(),
        help: None,
        witness: None,
        fix: None,
    };
    let shown = findings(&[finding], width, color);
    shown
        .split_once('\n')
        .map_or_else(String::new, |(_, picture)| picture.to_owned())
}

fn finding_into(out: &mut String, finding: &Finding, width: usize, color: bool) {
    let mut theme = if color {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let (word, icon) = match finding.severity {
        Severity::Error => ("error", &mut theme.characters.error),
        Severity::Deny => ("deny", &mut theme.characters.error),
        Severity::Warn => ("warning", &mut theme.characters.warning),
    };
    *icon = format!("{word}[{}]:", finding.code);
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(width)
        .with_links(false)
        .without_cause_chain()
        .with_context_lines(1);
    let files = by_file(&finding.labels);
    let last = files.len().saturating_sub(1);
    for index in 0..=last {
        let excerpt = Excerpt::new(
            finding,
            files.get(index).map(Vec::as_slice).unwrap_or_default(),
            index == 0,
            index == last,
            width - GUTTER,
        );
        let mut text = String::new();
        if handler.render_report(&mut text, &excerpt).is_err() {
            // Without its snippet a finding still says what is wrong.
            text = format!(
                "  {word}[{}]: {}\n",
                finding.code,
                printable(&finding.message)
            );
        }
        let lines = if index == 0 {
            text.strip_prefix("  ").unwrap_or(&text)
        } else {
            // Only the first file has a headline.
            text.split_once('\n').map_or("", |(_, rest)| rest)
        };
        for line in lines.lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
}

/// The labels of each file, in the order in which the files come up.
fn by_file(labels: &[Label]) -> Vec<Vec<&Label>> {
    let mut files: Vec<Vec<&Label>> = Vec::new();
    for label in labels {
        let known = files
            .iter_mut()
            .find(|f| f.first().is_some_and(|l| l.source == label.source));
        match known {
            Some(file) => file.push(label),
            None => files.push(vec![label]),
        }
    }
    files
}

/// Lines between two labels that are shown.
const CLOSE: usize = 12;

/// The lines of one file that a finding is about, as they may be printed.
#[derive(Debug)]
struct Excerpt {
    message: String,
    severity: Severity,
    help: Option<String>,
    name: String,
    text: String,
    /// How many lines of the file come before the text.
    skipped: usize,
    marks: Vec<Mark>,
}

/// A label in an excerpt.
#[derive(Debug)]
struct Mark {
    span: Span,
    /// In the file, from 0.
    column: usize,
    text: String,
}

impl Excerpt {
    fn new(finding: &Finding, labels: &[&Label], head: bool, foot: bool, room: usize) -> Self {
        let mut excerpt = Self {
            message: if head {
                printable(&finding.message)
            } else {
                String::new()
            },
            severity: finding.severity,
            help: finding.help.as_deref().filter(|_| foot).map(printable),
            name: String::new(),
            text: String::new(),
            skipped: 0,
            marks: Vec::new(),
        };
        let Some(source) = labels.first().map(|label| &*label.source) else {
            return excerpt;
        };
        excerpt.name = printable(&source.name);
        let mut placed: Vec<(usize, usize, usize)> = labels
            .iter()
            .enumerate()
            .map(|(index, label)| {
                let (line, column) = source.line_column(label.span.start);
                (line, index, column - 1)
            })
            .collect();
        placed.sort_unstable();
        let (Some(first), Some(last)) = (placed.first(), placed.last()) else {
            return excerpt;
        };
        let (first, last) = (first.0.saturating_sub(1).max(1), last.0 + 1);
        excerpt.skipped = first - 1;
        for number in first..=last {
            let line = source.line(number);
            if number == last && line.start == source.text.len() {
                break;
            }
            // The picture leaves no gap between labels that are this close.
            let before = placed.iter().rev().find(|(at, ..)| *at <= number);
            let after = placed.iter().find(|(at, ..)| *at >= number);
            let between = matches!((before, after), (Some(a), Some(b)) if b.0 - a.0 <= CLOSE);
            let near = between || placed.iter().any(|(at, ..)| at.abs_diff(number) <= 1);
            let here = placed
                .iter()
                .filter(|(at, ..)| *at == number)
                .filter_map(|&(_, i, column)| labels.get(i).map(|label| (*label, column)));
            if near {
                excerpt.line(source, line, &here.collect::<Vec<_>>(), room);
            }
            excerpt.text.push('\n');
        }
        // The finding's own place comes first.
        let own = labels.first().map(|label| printable(&label.text));
        let column = placed
            .iter()
            .find(|(_, index, _)| *index == 0)
            .map(|placed| placed.2);
        if let Some(at) = excerpt
            .marks
            .iter()
            .position(|mark| Some(&mark.text) == own.as_ref() && Some(mark.column) == column)
        {
            excerpt.marks.swap(0, at);
        }
        excerpt
    }

    /// Adds a line, cut to `room` characters around its first label.
    fn line(&mut self, source: &Source, line: Span, labels: &[(&Label, usize)], room: usize) {
        let text = line.of(&source.text);
        let from = labels
            .first()
            .map_or(0, |(label, _)| label.span.start.saturating_sub(line.start));
        let shift = labels.iter().map(|(label, _)| {
            // What is said of a label starts under its middle.
            let before = label.span.start.saturating_sub(line.start);
            let before = text.get(..before).unwrap_or(text).chars().count();
            let length = label.span.of(&source.text).chars().count().min(room);
            (before + length / 2 + LEADER + label.text.width()).saturating_sub(room)
        });
        let window = window(text, from, room, shift.max().unwrap_or(0));
        let start = self.text.len();
        if window.start > 0 {
            self.text.push('…');
        }
        let mut offsets = Vec::with_capacity(window.end - window.start + 1);
        for c in window.of(text).chars() {
            offsets.extend(std::iter::repeat_n(self.text.len(), c.len_utf8()));
            match c {
                // A byte-order mark takes no room in an editor either.
                '\u{feff}' => {}
                '\t' => self.text.push_str("    "),
                c => self.text.push(visible(c)),
            }
        }
        let end = self.text.len();
        if window.end < text.len() {
            self.text.push('…');
        }
        for (label, column) in labels {
            let place = |offset: usize| match offset.checked_sub(line.start + window.start) {
                None => start,
                Some(at) if line.start + window.start + at >= line.start + window.end => end,
                Some(at) => offsets.get(at).copied().unwrap_or(end),
            };
            let (from, mut to) = (place(label.span.start), place(label.span.end));
            if to <= from {
                // Something to point at, also behind the last character and beyond the cut.
                let next = self.text.get(from..).and_then(|rest| rest.chars().next());
                if next.is_none() {
                    self.text.push(' ');
                }
                to = from + next.map_or(1, char::len_utf8);
            }
            self.marks.push(Mark {
                span: Span::new(from, to),
                column: *column,
                text: printable(&label.text),
            });
        }
    }
}

/// The part of a line to show: all of it, or `room` characters with `from` among them, and without its first ones
/// where what is said under the line asks for room.
fn window(text: &str, from: usize, room: usize, shift: usize) -> Span {
    let length = text.chars().count();
    if length <= room && shift == 0 {
        return Span::new(0, text.len());
    }
    let before = text.char_indices().take_while(|(at, _)| *at < from).count();
    // One column each for the marks of the cuts.
    let room = room - 2;
    let around = before.saturating_sub(room / 3);
    let first = around
        .min(length.saturating_sub(room))
        .max(shift + 2)
        .min(before);
    let offset = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    Span::new(offset(first), offset(first + room))
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Excerpt {}

impl miette::Diagnostic for Excerpt {
    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity.into())
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(self.help.as_ref()?))
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        (!self.marks.is_empty()).then_some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.marks.iter().enumerate().map(
            |(index, mark)| {
                let text = (!mark.text.is_empty()).then(|| mark.text.clone());
                let span = (mark.span.start, mark.span.end - mark.span.start);
                if index == 0 {
                    LabeledSpan::new_primary_with_span(text, span)
                } else {
                    LabeledSpan::new_with_span(text, span)
                }
            },
        )))
    }
}

impl miette::SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, MietteError> {
        let inner = self.text.as_str().read_span(span, before, after)?;
        // Asked for without context, it is for the place in the headline: that of the file.
        let mark = self
            .marks
            .iter()
            .find(|mark| before == 0 && mark.span.start == span.offset());
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.name.clone(),
            inner.data(),
            *inner.span(),
            inner.line() + self.skipped,
            mark.map_or(inner.column(), |mark| mark.column),
            inner.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::findings;
    use crate::finding::{Finding, Severity};
    use crate::source::{Source, Span, read};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn source(name: &str, text: &str) -> Arc<Source> {
        Arc::new(Source::new(name, text, None).unwrap())
    }

    fn place(source: &Source, text: &str) -> Span {
        let start = source.text.find(text).unwrap();
        Span::new(start, start + text.len())
    }

    #[test]
    fn a_finding_reads_like_a_compilers() {
        let policy = source("p.toml", "[commands]\nalow = [\"ls\"]\ndeny = []\n");
        let base = source("base.toml", "# a\n[groups]\nsearch = [\"grep\"]\n");
        let error = Finding::error(
            "unknown-key",
            "`alow` is no key of `commands`",
            &policy,
            place(&policy, "alow"),
        )
        .label("did you mean `allow`?")
        .also(&base, place(&base, "search"), "it meets this")
        .help("write `allow`");
        let mut warning = Finding::error("x", "far apart", &policy, place(&policy, "deny"));
        warning.severity = Severity::Warn;
        insta::assert_snapshot!(findings(&[error, warning], 80, false), @r#"
        error[unknown-key]: `alow` is no key of `commands`
           ╭─[p.toml:2:1]
         1 │ [commands]
         2 │ alow = ["ls"]
           · ──┬─
           ·   ╰── did you mean `allow`?
         3 │ deny = []
           ╰────
           ╭─[base.toml:3:1]
         2 │ [groups]
         3 │ search = ["grep"]
           · ───┬──
           ·    ╰── it meets this
           ╰────
          help: write `allow`

        warning[x]: far apart
           ╭─[p.toml:3:1]
         2 │ alow = ["ls"]
         3 │ deny = []
           · ────
           ╰────
        "#);
    }

    #[test]
    fn long_lines_are_cut_around_the_label() {
        let text = format!(
            "a = [{} \"x\", \"\\d\", {}]\n",
            "1, ".repeat(900),
            "2, ".repeat(900)
        );
        let policy = source("p.toml", &text);
        let shown = findings(&read(&policy).findings, 80, false);
        assert!(
            shown.lines().all(|line| line.chars().count() <= 80),
            "{shown}"
        );
        insta::assert_snapshot!(shown, @r#"
        error[syntax]: `\d` is no escape
           ╭─[p.toml:1:2714]
         1 │ …1, 1, 1, 1, 1,  "x", "\d", 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2…
           ·                         ┬
           ·                         ╰── after a backslash
           ╰────
          help: write `\\` for a backslash, or use single quotes: nothing is escaped
                in them
        "#);
    }

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        let policy = source("p\u{1b}.toml", "\u{feff}a\t= \"\u{1b}[31m\u{202e}\" b\r\n");
        let shown = findings(&read(&policy).findings, 80, false);
        assert!(
            !shown.contains(['\u{1b}', '\u{202e}', '\r', '\t']),
            "{shown}"
        );
        assert!(findings(&read(&policy).findings, 80, true).contains("\u{1b}["));
    }

    #[test]
    fn places_at_the_edges() {
        let policy = source("p.toml", "a = [\n\n");
        let end = policy.text.len();
        let finding = Finding::error("x", "m", &policy, Span::new(end, end)).label("end");
        let whole = Finding::error("x", "m", &policy, Span::new(0, end)).label("whole");
        let empty = source("e.toml", "");
        let nothing = Finding::error("x", "m", &empty, Span::default()).label("nothing");
        insta::assert_snapshot!(findings(&[finding, whole, nothing], 80, false), @r#"
        error[x]: m
           ╭─[p.toml:3:1]
         2 │
         3 │
           · ┬
           · ╰── end
           ╰────

        error[x]: m
           ╭─[p.toml:1:1]
         1 │ a = [
           · ──┬──
           ·   ╰── whole
         2 │
           ╰────

        error[x]: m
           ╭─[e.toml:1:1]
         1 │
           · ┬
           · ╰── nothing
           ╰────
        "#);
    }

    proptest! {
        #[test]
        fn anything_can_be_shown(
            text in "([a-zä😀]|\\PC|\r|\n|\t|\u{1b}){0,60}",
            spans in prop::collection::vec((0usize..70, 0usize..70), 1..4),
            width in 0usize..100,
        ) {
            let policy = source("p.toml", &text);
            let span = |(a, b): (usize, usize)| Span::new(a.min(b), a.max(b));
            let mut finding = Finding::error("x", "m", &policy, span(spans[0]));
            for at in &spans[1..] {
                finding = finding.also(&policy, span(*at), "also");
            }
            findings(&[finding], width, false);
        }
    }
}
