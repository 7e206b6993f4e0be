//! What leaves the server about a call: with secrets masked, as in the audit log, and counted, so that who decides knows
//! that there is more to see.
//!
//! A masked line keeps its marks: it is cut where marks and secrets begin and end, and each piece says what holds of it.

use crate::call::Call;
use crate::report::card::Card;
use crate::session::gateway::wire::Listed;
use crate::session::secrets::Secrets;
use crate::source::Span;
use serde_json::{Map, Value, json};

/// A waiting call, as a list shows it.
pub fn item(secrets: &Secrets, item: &Listed) -> Value {
    let mut out = serde_json::to_value(item).unwrap_or_default();
    put(
        &mut out,
        "card",
        item.card.as_ref().map(|own| card(secrets, own)),
    );
    out
}

/// Arguments as they are.
pub fn raw(call: &Call) -> Value {
    match call.args.object() {
        Ok(args) => Value::Object(args.clone()),
        Err(why) => Value::from(why),
    }
}

/// A card, masked.
fn card(secrets: &Secrets, card: &Card) -> Value {
    let masked = |text: &str| Value::from(secrets.text(text, &mut 0));
    let optional = |text: &Option<String>| text.as_deref().map(masked);
    let marks = card.marks.iter().map(
        |mark| json!({"verdict": mark.verdict.name(), "open": mark.offends, "text": masked(&mark.text)}),
    );
    let reasons = card.reasons.iter().map(|reason| {
        let mut out = json!({
            "key": masked(&reason.key), "verdict": reason.verdict.name(),
            "text": masked(&reason.text), "forced": reason.forced,
        });
        put(&mut out, "instead", optional(&reason.instead));
        put(&mut out, "place", optional(&reason.place));
        out
    });
    let accesses = card
        .accesses
        .iter()
        .map(|access| json!({"verdict": access.verdict.name(), "text": masked(&access.text)}));
    let mut out = json!({
        "verdict": card.verdict.name(),
        "what": masked(&card.what),
        "marks": marks.collect::<Vec<_>>(),
        "reasons": reasons.collect::<Vec<_>>(),
        "accesses": accesses.collect::<Vec<_>>(),
        "lookalikes": card.lookalikes.iter().map(|text| masked(text)).collect::<Vec<_>>(),
        "sessionWouldDo": card.session_would_do,
    });
    put(&mut out, "cwd", optional(&card.cwd));
    put(
        &mut out,
        "line",
        card.line.as_ref().map(|line| pieces(secrets, line, card)),
    );
    out
}

fn put(out: &mut Value, name: &str, value: Option<Value>) {
    if let (Value::Object(map), Some(value)) = (out, value) {
        map.insert(name.to_owned(), value);
    }
}

/// How many pieces a line is cut into: the rest follows as one.
const MOST: usize = 2000;

/// The line in pieces: `{text, marks?, masked?}`.
fn pieces(secrets: &Secrets, line: &str, card: &Card) -> Value {
    let hidden = secrets.places(line);
    let shown_to = secrets.shown_to(line);
    let spans = card.marks.iter().map(|mark| mark.span);
    let edges = spans.chain(hidden.iter().copied());
    let mut cuts: Vec<usize> = edges.flat_map(|span| [span.start, span.end]).collect();
    cuts.extend([0, shown_to]);
    cuts.retain(|cut| *cut <= shown_to && line.is_char_boundary(*cut));
    cuts.sort_unstable();
    cuts.dedup();
    if cuts.len() > MOST {
        cuts.truncate(MOST);
        cuts.push(shown_to);
    }
    let within = |span: &Span, from: usize, to: usize| span.start <= from && to <= span.end;
    let mut out: Vec<Value> = Vec::new();
    let pairs = cuts.iter().zip(cuts.iter().skip(1));
    for (&from, &to) in pairs {
        let meets = |span: &&Span| span.start < to && from < span.end;
        let mut piece = Map::new();
        match hidden.iter().find(meets) {
            Some(span) if span.start != from => continue,
            Some(_) => {
                piece.insert("text".into(), "***".into());
                piece.insert("masked".into(), true.into());
            }
            None => {
                let text = line.get(from..to).unwrap_or_default();
                piece.insert("text".into(), text.into());
            }
        }
        let marks = card.marks.iter().enumerate();
        let marks: Vec<usize> = marks
            .filter(|(_, mark)| within(&mark.span, from, to))
            .map(|(at, _)| at)
            .collect();
        if !marks.is_empty() {
            piece.insert("marks".into(), marks.into());
        }
        out.push(Value::Object(piece));
    }
    if shown_to < line.len() {
        out.push(json!({"text": format!("… of {} bytes", line.len()), "masked": true}));
    }
    Value::Array(out)
}

#[cfg(test)]
mod tests {
    use super::pieces;
    use crate::policy::rule::Verdict;
    use crate::report::card::{Card, Marked};
    use crate::session::secrets::Secrets;
    use crate::source::Span;
    use serde_json::json;

    fn card(marks: &[(usize, usize)]) -> Card {
        let marks = marks.iter().map(|(start, end)| Marked {
            span: Span::new(*start, *end),
            verdict: Verdict::Ask,
            offends: true,
            text: String::new(),
        });
        Card {
            verdict: Verdict::Ask,
            what: String::new(),
            line: None,
            marks: marks.collect(),
            reasons: Vec::new(),
            accesses: Vec::new(),
            lookalikes: Vec::new(),
            cwd: None,
            session_would_do: false,
        }
    }

    #[test]
    fn a_line_is_cut_at_marks_and_secrets() {
        let secrets = Secrets::with(&[]).unwrap();
        let line = "API_TOKEN=s3cretvalue git push && ls";
        let got = pieces(&secrets, line, &card(&[(0, 30), (34, 36)]));
        let want = json!([
            {"text": "API_TOKEN=", "marks": [0]},
            {"text": "***", "masked": true, "marks": [0]},
            {"text": " git push", "marks": [0]},
            {"text": " && "},
            {"text": "ls", "marks": [1]},
        ]);
        assert_eq!(got, want);
    }

    #[test]
    fn a_mark_within_a_secret_shows_nothing_of_it() {
        let secrets = Secrets::with(&[]).unwrap();
        let line = "x --password abcdefgh";
        let got = pieces(&secrets, line, &card(&[(15, 18), (0, 21)]));
        let text: String = got
            .as_array()
            .unwrap()
            .iter()
            .map(|piece| piece["text"].as_str().unwrap())
            .collect();
        assert_eq!(text, "x --password ***");
    }
}
