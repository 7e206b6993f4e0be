//! The reference tables of the README, made from the key table.

use acl::policy::keys::{COMMON, Key, NEEDS, POLICY, Shape, TARGETS, UNDER, VERDICTS};
use std::fmt::Write;

/// Both tables: the keys of a policy, and the fields of a rule.
pub fn tables() -> String {
    let mut rows = Vec::new();
    keys("", POLICY, &mut rows);
    let mut out = String::from(
        "\n<details>\n<summary><b>Reference: every key of a policy</b></summary>\n\n| key | holds | |\n|---|---|---|\n",
    );
    for (name, holds, about) in rows {
        writeln!(out, "| `{name}` | {holds} | {about} |").unwrap();
    }
    out.push_str("\nAn entry of a list is a pattern, or a table with `match` and these fields; an element of `[[rules]]` has the same fields, and says\n");
    out.push_str(
        "`action` and what it judges.\n\n| field | holds | where | |\n|---|---|---|---|\n",
    );
    for key in COMMON {
        let place = match (key.name, NEEDS.iter().find(|(name, _)| *name == key.name)) {
            ("match", _) => "list entries".to_owned(),
            ("access", _) => "`[[rules]]`".to_owned(),
            (_, Some((_, targets))) if targets.len() < TARGETS.len() => targets.join(", "),
            _ => "all".to_owned(),
        };
        let place = match UNDER.iter().find(|(name, _)| *name == key.name) {
            Some((_, verdict)) if place == "all" => verdict.to_string(),
            Some((_, verdict)) => format!("{place}, {verdict}"),
            None => place,
        };
        writeln!(
            out,
            "| `{}` | {} | {place} | {} |",
            key.name,
            holds(&key.shape),
            about(key)
        )
        .unwrap();
    }
    out.push_str("\n</details>\n\n");
    out
}

fn keys(above: &str, table: &'static [Key], rows: &mut Vec<(String, String, String)>) {
    for key in table
        .iter()
        .filter(|key| !common(key) && key.name != "confirm")
    {
        let name = format!("{above}{}", key.name);
        let below = match &key.shape {
            Shape::Table(table) => Some((format!("{name}."), *table)),
            Shape::Map(Shape::Table(table)) => Some((format!("{name}.NAME."), *table)),
            Shape::List(Shape::Table(table)) => Some((format!("{name}[]."), *table)),
            Shape::Argument(table) if key.name == "reads" => Some((format!("{name}."), *table)),
            _ => None,
        };
        rows.push((name, holds(&key.shape), about(key)));
        if let Some((above, table)) = below {
            // Reading and writing paths have the same lists.
            if above != "paths.write." {
                keys(&above, table, rows);
            }
        }
    }
}

fn common(key: &Key) -> bool {
    COMMON
        .iter()
        .any(|common| common.name == key.name && common.about == key.about)
}

fn about(key: &Key) -> String {
    let mut text = key.about.replace('|', "\\|");
    if let Some(default) = key.default {
        write!(text, " Default: `{}`.", default.trim_matches('"')).unwrap();
    }
    match key.required {
        true => format!("**Required.** {text}"),
        false => text,
    }
}

fn holds(shape: &Shape) -> String {
    let words = |words: &[&str]| {
        let words: Vec<String> = words
            .iter()
            .filter(|word| **word != "confirm")
            .map(|word| format!("`{word}`"))
            .collect();
        words.join(" \\| ")
    };
    match shape {
        Shape::Version => "`1`".into(),
        Shape::Text => "text".into(),
        Shape::Bool => "true, false".into(),
        Shape::Verdict => words(VERDICTS),
        Shape::Choice(choice) => words(choice),
        Shape::Count => "number".into(),
        Shape::Size => "size".into(),
        Shape::Scalar => "text, number, true, false".into(),
        Shape::List(Shape::Entry(_)) => "list of entries".into(),
        Shape::List(Shape::Table(_)) => "list of tables".into(),
        Shape::List(inner) => format!("list of {}", holds(inner)),
        Shape::OneOrMany(inner) => format!("{}, or a list", holds(inner)),
        Shape::Table(_) => "table".into(),
        Shape::Map(inner) => format!("NAME = {}", holds(inner)),
        Shape::Conditions => "table of conditions".into(),
        Shape::Entry(_) => "text or table".into(),
        Shape::Argument(_) => "text, a list, or a table".into(),
    }
}
