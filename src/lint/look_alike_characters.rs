//! Characters that look like others, or like nothing: a Cyrillic `а`, a typographic dash, a zero-width space.
//!
//! Looks at what is compared with calls. A word wholly in another script is somebody's language and is left alone.

use super::Room;
use crate::finding::{Finding, Severity};
use crate::source::{Node, Source, Value};
use std::sync::Arc;

const CODE: &str = "look-alike-characters";

/// Keys whose text is for people.
const PROSE: &[&str] = &["about", "description", "instead", "messages", "name", "reason"];

/// Walks every text and key that is no prose.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in room.files() {
        if let Some(root) = room.tree(&file.source) {
            walk(root, false, &file.source, &mut found);
        }
    }
    found
}

fn walk(node: &Node, denies: bool, source: &Arc<Source>, found: &mut Vec<Finding>) {
    match &node.value {
        Value::Text(text) => {
            if let Some((what, help)) = fault(text) {
                let mut finding = Finding::lint(CODE, what, source, node.span)
                    .label("not what it looks like")
                    .help(help);
                if denies {
                    finding.severity = Severity::Deny;
                }
                found.push(finding);
            }
        }
        Value::List(nodes) => nodes
            .iter()
            .for_each(|node| walk(node, denies, source, found)),
        Value::Table(table) => {
            for entry in &table.entries {
                let key = &entry.key.name;
                if !PROSE.contains(&key.as_str()) {
                    let denies = denies || key == "deny" || key == "protected";
                    walk(&entry.value, denies, source, found);
                }
            }
        }
        _ => {}
    }
}

fn fault(text: &str) -> Option<(String, String)> {
    for c in text.chars() {
        let code = u32::from(c);
        let (what, plain) = match c {
            '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' => ("is invisible", None),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => ("turns the direction of the text", None),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => ("is no ordinary blank", Some(' ')),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => ("is no hyphen", Some('-')),
            '\u{2018}' | '\u{2019}' => ("is no plain quote", Some('\'')),
            '\u{201c}' | '\u{201d}' => ("is no plain quote", Some('"')),
            '\u{2044}' | '\u{2215}' => ("is no slash", Some('/')),
            '\u{2217}' | '\u{ff0a}' => ("is no star", Some('*')),
            '\u{ff01}'..='\u{ff5e}' => ("is a wide letter", char::from_u32(code - 0xfee0)),
            _ => continue,
        };
        let help = match plain {
            Some(plain) => format!("write `{plain}`"),
            None => "take it out".to_owned(),
        };
        return Some((format!("`{}` holds U+{code:04X}, which {what}", shown(text)), help));
    }
    mixed(text)
}

/// A word of Latin letters with one of another script that looks the same.
fn mixed(text: &str) -> Option<(String, String)> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| word.chars().any(|c| c.is_ascii_alphabetic())) {
        for c in word.chars() {
            let Some(latin) = latin(c) else { continue };
            return Some((
                format!("`{}` holds U+{:04X}, which looks like the letter `{latin}` and is another", shown(text), u32::from(c)),
                format!("write `{latin}`"),
            ));
        }
    }
    // A word of look-alikes only may be a word of its language, but not where all of it reads as Latin.
    let all = text.split(['/', '.', ' ']).find(|word| {
        word.chars().count() > 1 && word.chars().all(|c| latin(c).is_some())
    })?;
    let read: String = all.chars().filter_map(latin).collect();
    Some((
        format!("`{}` reads as `{read}` and is written in other letters", shown(text)),
        format!("write `{read}`"),
    ))
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

/// The Latin letter that a Cyrillic or Greek one looks like.
fn latin(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' => 'a',
        'с' => 'c',
        'ԁ' => 'd',
        'е' => 'e',
        'һ' => 'h',
        'і' | 'ι' => 'i',
        'ј' => 'j',
        'ӏ' => 'l',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ѕ' => 's',
        'υ' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'у' => 'y',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'С' => 'C',
        'Е' | 'Ε' => 'E',
        'Н' | 'Η' => 'H',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'Т' | 'Τ' => 'T',
        'Х' | 'Χ' => 'X',
        _ => return None,
    })
}
