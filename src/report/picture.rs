//! A command line or script, drawn with what stands under each of its parts, as a compiler draws source.
//!
//! In: a text and marks on it. Out: lines of at most `width` columns. One row for each mark, because parts of a
//! command line contain one another; long lines are folded, long scripts shown where something is marked.
//! Nothing of the text reaches the terminal raw.

use crate::policy::rule::Verdict;
use crate::source::Span;
use crate::text::{printable, visible};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A text of no more lines than this is shown whole.
const WHOLE: usize = 26;

/// No more lines than this are shown of any text.
const MOST_LINES: usize = 32;

/// How narrow the words beside an underline may get before they go below it.
const NARROWEST: usize = 36;

/// A part of the text and what is to be said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The bytes.
    pub span: Span,
    /// What was decided of it.
    pub verdict: Verdict,
    /// Whether it is in the way: drawn first, and with `^`.
    pub offends: bool,
    /// A few words.
    pub text: String,
}

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub struct Paint(pub bool);

impl Paint {
    /// In the colour of a verdict.
    pub fn verdict(self, verdict: Verdict, text: &str) -> String {
        let code = match verdict {
            Verdict::Allow => "32",
            Verdict::Ask => "33",
            Verdict::Deny => "31",
        };
        self.sgr(code, text)
    }

    /// For headings.
    pub fn bold(self, text: &str) -> String {
        self.sgr("1", text)
    }

    /// For what is beside the point.
    pub fn dim(self, text: &str) -> String {
        self.sgr("2", text)
    }

    fn sgr(self, code: &str, text: &str) -> String {
        match self.0 {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}

/// A character as it is shown: its place in the text, and its columns.
#[derive(Debug)]
struct Cell {
    at: usize,
    shown: String,
    width: usize,
}

/// Draws the text.
pub fn draw(text: &str, marks: &[Mark], width: usize, paint: Paint) -> String {
    let lines = lines(text);
    let digits = lines.len().to_string().len();
    let room = width.saturating_sub(digits + 5).max(NARROWEST);
    let wanted = wanted(&lines, marks);
    let mut out = String::new();
    let mut last = None;
    for &number in &wanted {
        let Some(&line) = lines.get(number) else {
            continue;
        };
        if last.map_or(number > 0, |last: usize| last + 1 < number) {
            out.push_str(&paint.dim(&format!("  {:>digits$} ⋮\n", "")));
        }
        last = Some(number);
        let cells = cells(text, line);
        let folded = fold(&cells, room);
        let count = folded.len();
        for (index, part) in folded.into_iter().enumerate() {
            let shown: String = part.iter().map(|cell| cell.shown.as_str()).collect();
            let number = if index == 0 {
                (number + 1).to_string()
            } else {
                String::new()
            };
            let row = format!("  {} {}", paint.dim(&format!("{number:>digits$} │")), shown);
            out.push_str(row.trim_end());
            out.push('\n');
            let end = match part.last() {
                Some(cell) if index + 1 < count => cell.at + 1,
                // Something may be marked behind the last character.
                _ => line.end + 1,
            };
            let start = part.first().map_or(line.start, |cell| cell.at);
            let mut here: Vec<&Mark> = marks
                .iter()
                .filter(|mark| (start..end).contains(&mark.span.start))
                .collect();
            here.sort_by_key(|mark| {
                let weight = (mark.offends, mark.verdict);
                (std::cmp::Reverse(weight), mark.span.start, mark.span.end)
            });
            for mark in here {
                let gutter = format!("  {} ", paint.dim(&format!("{:>digits$} ·", "")));
                under(&mut out, &gutter, part, mark, room, paint);
            }
        }
    }
    let left = lines.len() - wanted.last().map_or(0, |last| last + 1);
    if left > 0 && !text.is_empty() {
        let s = if left == 1 { "" } else { "s" };
        out.push_str(&paint.dim(&format!("  {:>digits$} ⋮ {left} more line{s}\n", "")));
    }
    out
}

/// The rows under a part of a line for one mark.
fn under(out: &mut String, gutter: &str, part: &[Cell], mark: &Mark, room: usize, paint: Paint) {
    let columns = |offset: usize| -> usize {
        let before = part.iter().filter(|cell| cell.at < offset);
        before.map(|cell| cell.width).sum()
    };
    let from = columns(mark.span.start);
    let length = columns(mark.span.end).saturating_sub(from).max(1);
    let sign = if mark.offends { "^" } else { "-" };
    let line = paint.verdict(mark.verdict, &sign.repeat(length));
    let beside = from + length + 1;
    out.push_str(gutter);
    out.push_str(&" ".repeat(from));
    out.push_str(&line);
    let text = printable(&mark.text);
    let needs = NARROWEST.min(text.width());
    // Beside the underline, unless that takes more rows than below it.
    let below = from.min(room.saturating_sub(text.width().min(48)));
    let rows = |indent: usize| wrapped(&text, room - indent, room - indent).len();
    let (indent, mut first) = if room >= beside + needs && rows(beside) <= rows(below) + 1 {
        out.push(' ');
        (beside, true)
    } else {
        out.push('\n');
        (below, false)
    };
    for row in wrapped(&text, room - indent, room - indent) {
        if !std::mem::take(&mut first) {
            out.push_str(gutter);
            out.push_str(&" ".repeat(indent));
        }
        out.push_str(&row);
        out.push('\n');
    }
}

/// The lines of a text: their bytes without the break.
fn lines(text: &str) -> Vec<Span> {
    let mut out = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        out.push(Span::new(start, start + line.len()));
        start += line.len() + 1;
    }
    // The break at the end of a text starts no line.
    if out.len() > 1 && out.last().is_some_and(|line| line.start == line.end) {
        out.pop();
    }
    out
}

/// The lines worth showing: those with marks, what offends first where there are too many.
fn wanted(lines: &[Span], marks: &[Mark]) -> Vec<usize> {
    if lines.len() <= WHOLE {
        return (0..lines.len()).collect();
    }
    let line_of = |mark: &Mark| lines.partition_point(|line| line.end < mark.span.start);
    let mut wanted: Vec<(bool, usize)> = marks
        .iter()
        .map(|mark| (!mark.offends, line_of(mark)))
        .collect();
    wanted.sort_unstable();
    // Where something is in the way, the other lines would only hide it.
    let offending = wanted.first().is_some_and(|(passes, _)| !passes);
    let mut out: Vec<usize> = Vec::new();
    for (_, number) in wanted
        .into_iter()
        .filter(|(passes, _)| !(offending && *passes))
    {
        if number < lines.len() && out.len() < MOST_LINES && !out.contains(&number) {
            out.push(number);
        }
    }
    if out.is_empty() {
        return (0..WHOLE).collect();
    }
    out.sort_unstable();
    out
}

fn cells(text: &str, line: Span) -> Vec<Cell> {
    let chars = line.of(text).char_indices();
    chars
        .map(|(at, c)| {
            let shown = match c {
                '\t' => "    ".to_owned(),
                c => visible(c).to_string(),
            };
            Cell {
                at: line.start + at,
                width: shown.chars().filter_map(UnicodeWidthChar::width).sum(),
                shown,
            }
        })
        .collect()
}

/// A line cut into parts of at most `room` columns, behind a blank where there is one.
fn fold(cells: &[Cell], room: usize) -> Vec<&[Cell]> {
    let mut out = Vec::new();
    let mut rest = cells;
    loop {
        let mut columns = 0;
        let fits = rest
            .iter()
            .take_while(|cell| {
                columns += cell.width;
                columns <= room
            })
            .count();
        if fits == rest.len() {
            out.push(rest);
            return out;
        }
        let fits = fits.max(1);
        let blank = rest
            .iter()
            .take(fits)
            .rposition(|cell| cell.shown == " ")
            .map(|at| at + 1)
            .filter(|at| *at > fits / 2);
        let (part, behind) = rest.split_at(blank.unwrap_or(fits));
        out.push(part);
        rest = behind;
    }
}

/// Prose cut into rows: the first of `first` columns, the others of `others`. A word that is longer is cut.
pub fn wrapped(text: &str, first: usize, others: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for paragraph in text.split('\n') {
        let mut row = String::new();
        for word in paragraph.split(' ') {
            let mut word = word.to_owned();
            loop {
                let room = if rows.is_empty() { first } else { others }.max(8);
                let between = usize::from(!row.is_empty());
                if row.width() + between + word.width() <= room {
                    if between == 1 {
                        row.push(' ');
                    }
                    row.push_str(&word);
                    break;
                }
                if row.is_empty() {
                    let cut = cut_at(&word, room);
                    let rest = word.split_off(cut);
                    rows.push(word);
                    word = rest;
                } else {
                    rows.push(std::mem::take(&mut row));
                }
            }
        }
        rows.push(row);
    }
    rows
}

/// Where a word of more than `room` columns is cut: behind at least one character.
fn cut_at(word: &str, room: usize) -> usize {
    let mut columns = 0;
    let mut at = 0;
    for c in word.chars() {
        columns += c.width().unwrap_or(0);
        if columns > room && at > 0 {
            break;
        }
        at += c.len_utf8();
    }
    at
}

/// The start of a text that fits `room` columns, with `…` where it was cut; on one line.
pub fn shortened(text: &str, room: usize) -> String {
    let line: String = text
        .chars()
        .map(|c| if c == '\n' { ' ' } else { visible(c) })
        .collect();
    if line.width() <= room {
        return line;
    }
    let cut = cut_at(&line, room.saturating_sub(1).max(1));
    format!("{}…", line.get(..cut).unwrap_or_default().trim_end())
}

#[cfg(test)]
mod tests {
    use super::{Mark, Paint, draw, shortened, wrapped};
    use crate::policy::rule::Verdict;
    use crate::source::Span;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    fn mark(text: &str, part: &str, verdict: Verdict, says: &str) -> Mark {
        let start = text.find(part).unwrap();
        Mark {
            span: Span::new(start, start + part.len()),
            verdict,
            offends: verdict != Verdict::Allow,
            text: says.into(),
        }
    }

    #[test]
    fn every_part_has_its_row() {
        let line = "sudo rm -rf 漢字 && cat <x\t| git push";
        let marks = [
            mark(line, "sudo", Verdict::Allow, "allow: a launcher"),
            mark(line, "rm -rf 漢字", Verdict::Deny, "deny: rule `no-rm`"),
            mark(line, "漢字", Verdict::Allow, "allow: writes it"),
            mark(
                line,
                "git push",
                Verdict::Ask,
                "ask: a rule whose name is a good deal too long for the rest",
            ),
        ];
        insta::assert_snapshot!(draw(line, &marks, 60, Paint(false)), @r"
          1 │ sudo rm -rf 漢字 && cat <x    | git push
            ·      ^^^^^^^^^^^ deny: rule `no-rm`
            ·                                 ^^^^^^^^
            ·       ask: a rule whose name is a good deal too long
            ·       for the rest
            · ---- allow: a launcher
            ·             ---- allow: writes it
        ");
    }

    #[test]
    fn long_lines_are_folded_and_long_scripts_are_cut() {
        let line = format!("echo {} && git push", "word ".repeat(15));
        let mut script: String = (1..30).map(|n| format!("echo {n}\n")).collect();
        script.push_str("rm x\necho end\n");
        let push = [mark(&line, "git push", Verdict::Ask, "ask: rule `push`")];
        let rm = [mark(&script, "rm x", Verdict::Deny, "deny: rule `rm`")];
        let both = draw(&line, &push, 60, Paint(false)) + &draw(&script, &rm, 60, Paint(false));
        insta::assert_snapshot!(both, @r"
          1 │ echo word word word word word word word word word
            │ word word word word word word  && git push
            ·                                   ^^^^^^^^
            ·                                   ask: rule `push`
             ⋮
          30 │ rm x
             · ^^^^ deny: rule `rm`
             ⋮ 1 more line
        ");
    }

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        let line = "a\u{1b}[31m\u{202e}b\rc\u{9b}d";
        let shown = draw(
            line,
            &[mark(line, "b", Verdict::Deny, "\u{1b}x\u{202e}")],
            60,
            Paint(false),
        );
        assert!(
            !shown.contains(['\u{1b}', '\u{202e}', '\r', '\u{9b}']),
            "{shown}"
        );
        assert_eq!(shortened("a\u{1b}\nb", 80), "a␛ b");
    }

    proptest! {
        #[test]
        fn anything_can_be_drawn(
            text in "([a-z ä😀漢]|\\PC|\r|\n|\t|\u{1b}){0,200}",
            spans in prop::collection::vec((0usize..210, 0usize..210), 0..5),
            width in 0usize..100,
        ) {
            let marks: Vec<Mark> = spans.iter().map(|(a, b)| Mark {
                span: Span::new(*a.min(b), *a.max(b)),
                verdict: Verdict::Ask,
                offends: true,
                text: "words that are said of it".into(),
            }).collect();
            let shown = draw(&text, &marks, width, Paint(false));
            if width >= 60 {
                prop_assert!(shown.lines().all(|line| line.width() <= width), "{}", shown);
            }
        }

        #[test]
        fn prose_keeps_its_words(text in "([a-z]{0,9} ?){0,30}", width in 8usize..40) {
            let rows = wrapped(&text, width, width);
            prop_assert!(rows.iter().all(|row| row.width() <= width));
            let join = |text: String| text.split_whitespace().collect::<Vec<_>>().join("");
            prop_assert_eq!(join(rows.join(" ")), join(text));
        }
    }
}
