//! The drawing in the README is true: a module reads only values made above it, and nobody but `cli` a side road.

use crate::generated::{at, text};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn modules_read_only_what_stands_above_them() {
    let readme = text("README.md");
    let drawing = readme
        .split("<!-- drawing -->")
        .nth(1)
        .and_then(|rest| rest.split("```").nth(1));
    let lines = drawing
        .expect("a drawing")
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let drawn: Vec<(&str, bool)> = lines
        .filter_map(|line| {
            Some((
                line.split_whitespace()
                    .next()?
                    .trim_end_matches(['/'])
                    .trim_end_matches(".rs"),
                line.contains("side road"),
            ))
        })
        .collect();
    let there: BTreeSet<String> = std::fs::read_dir(at("src"))
        .unwrap()
        .map(|entry| name(&entry.unwrap().path()))
        .collect();
    let there: BTreeSet<&str> = there
        .iter()
        .map(String::as_str)
        .filter(|name| !["lib", "main"].contains(name))
        .collect();
    assert_eq!(
        drawn.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>(),
        there,
        "drawn, and there"
    );
    let mut wrong = Vec::new();
    for (at_line, (module, _)) in drawn.iter().enumerate() {
        let file = at(&format!("src/{module}.rs"));
        let root = if file.exists() {
            file
        } else {
            at(&format!("src/{module}"))
        };
        for (file, used) in uses(&root) {
            let place = drawn.iter().position(|(name, _)| *name == used);
            let side =
                place.is_some_and(|place| drawn[place].1) && *module != "cli" && !drawn[at_line].1;
            if place.is_none_or(|place| place > at_line) || side {
                wrong.push(format!("{file} reads `{used}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "not as drawn in the README: {wrong:#?}");
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// The modules that the files below use, their unit tests and comments apart.
fn uses(path: &Path) -> BTreeSet<(String, String)> {
    if path.is_dir() {
        return std::fs::read_dir(path)
            .unwrap()
            .flat_map(|entry| uses(&entry.unwrap().path()))
            .collect();
    }
    // What only tests read is no part of the drawing.
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("#![cfg(test)]", "#[cfg(test)]");
    let code = text
        .split("#[cfg(test)]")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let word = |rest: &str| {
        rest.split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    code.flat_map(|line| line.split("crate::").skip(1).map(word))
        .map(|used| (path.display().to_string(), used))
        .collect()
}
