//! An element of a list → the bytes that go with it, when it is taken out of the file.
//!
//! In: a file, its tree, the place of an element. Out: a span without which the list lacks this element and nothing else
//! is changed; none where the element is the list's only one. Comments stay, unless they stand on a line that goes.

use super::{Format, Node, Source, Span, Value};

/// The bytes to take out.
pub fn element(source: &Source, root: &Node, span: Span) -> Option<Span> {
    let (list, at) = holder(root, span)?;
    let text = source.text.as_str();
    let before = at.checked_sub(1).and_then(|at| list.get(at));
    let after = list.get(at + 1);
    if before.is_none() && after.is_none() {
        return None;
    }
    let line = source.line(source.line_column(span.start).0);
    let head = Span::new(line.start, span.start).of(text).trim();
    let rest = Span::new(span.end, line.end).of(text);
    let whole = |end: usize| {
        Span::new(
            line.start,
            end.max(source.line(source.line_column(end).0 + 1).start),
        )
    };
    if source.format == Format::Yaml && head == "-" {
        let alone = rest.trim_start();
        return (span.end <= line.end && (alone.is_empty() || alone.starts_with('#')))
            .then(|| whole(line.end));
    }
    let comma = rest
        .find(',')
        .filter(|comma| rest.get(..*comma).is_some_and(|gap| gap.trim().is_empty()));
    let Some(comma) = comma else {
        // The last one, without a comma behind it: the one before it goes with it.
        let gap = Span::new(before?.span.end, span.start);
        return match gap.of(text).contains('#') || !gap.of(text).contains(',') {
            true => None,
            false => Some(Span::new(gap.start, span.end)),
        };
    };
    let end = span.end + comma + 1;
    let behind = Span::new(end, line.end).of(text);
    Some(match (head.is_empty(), behind.trim().is_empty()) {
        (true, true) => whole(line.end),
        _ => Span::new(span.start, end + behind.len() - behind.trim_start().len()),
    })
}

/// The list that an element stands in, and where.
fn holder(node: &Node, span: Span) -> Option<(&[Node], usize)> {
    match &node.value {
        Value::List(list) => {
            let own = list.iter().position(|element| element.span == span);
            own.map(|at| (list.as_slice(), at))
                .or_else(|| list.iter().find_map(|element| holder(element, span)))
        }
        Value::Table(table) => table
            .entries
            .iter()
            .find_map(|entry| holder(&entry.value, span)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_rest_stays_as_it_is() {
        let rows = [
            (
                "a.toml",
                "a = [\"x\", \"y\", \"z\"] # c\n",
                "\"y\"",
                "a = [\"x\", \"z\"] # c\n",
            ),
            ("a.toml", "a = [\"x\", \"y\"]\n", "\"y\"", "a = [\"x\"]\n"),
            (
                "a.toml",
                "a = [\"x\", \"y\", ]\n",
                "\"y\"",
                "a = [\"x\", ]\n",
            ),
            (
                "a.toml",
                "a = [\n  \"x\",\n  \"y\",\n  # c\n  \"z\"\n]\n",
                "\"y\"",
                "a = [\n  \"x\",\n  # c\n  \"z\"\n]\n",
            ),
            (
                "a.toml",
                "a = [\n  \"x\", # c\n  \"y\", # d\n]\n",
                "\"y\"",
                "a = [\n  \"x\", # c\n  # d\n]\n",
            ),
            (
                "a.toml",
                "a = [\n  \"x\",\n  \"y\"\n]\n",
                "\"y\"",
                "a = [\n  \"x\"\n]\n",
            ),
            (
                "a.yaml",
                "a:\n  - x\n  - y # c\n  - z\n",
                "y",
                "a:\n  - x\n  - z\n",
            ),
            ("a.yaml", "a: [x, y]\n", "y", "a: [x]\n"),
        ];
        for (name, text, place, wanted) in rows {
            let source = Arc::new(Source::new(name, text, None).unwrap());
            let tree = super::super::read(&source);
            let start = text.find(place).unwrap();
            let gone = element(&source, &tree.root, Span::new(start, start + place.len())).unwrap();
            let left = format!("{}{}", &text[..gone.start], &text[gone.end..]);
            assert_eq!(left, wanted, "{text}");
        }
        for text in ["a = [\"y\"]\n", "a = [\"x\", # why\n \"y\"]\n"] {
            let source = Arc::new(Source::new("a.toml", text, None).unwrap());
            let tree = super::super::read(&source);
            let start = text.find("\"y\"").unwrap();
            assert_eq!(
                element(&source, &tree.root, Span::new(start, start + 3)),
                None,
                "{text}"
            );
        }
    }
}
