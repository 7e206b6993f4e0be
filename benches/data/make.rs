//! Makes the policies that the benches load, always the same: `cargo run --example make-bench-policies`.
//!
//! Of 20 rules 8 are about commands, 7 about paths, 3 about hosts and 2 are tiers, with the shapes that real policies
//! have: many entries under few programs and folders, names, extensions, some tables with fields.

use std::fmt::Write;

fn main() -> std::io::Result<()> {
    for count in [10, 100, 1_000, 10_000] {
        let path = format!("{}/benches/data/{count}.toml", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, policy(count))?;
    }
    Ok(())
}

/// The lists of a policy, in the order of the file.
const LISTS: [(&str, &str, &str); 12] = [
    ("tiers", "allow", "\"read_file\""),
    ("tiers", "ask", "\"bash\""),
    ("tiers", "deny", ""),
    (
        "commands",
        "allow",
        "\"git {status,diff,log}\", \"ls\", \"wc\"",
    ),
    ("commands", "ask", ""),
    (
        "commands",
        "deny",
        "{ match = \"git push\", with = [\"-f|--force|+*\"], reason = \"rewrites shared history\" }",
    ),
    ("paths.read", "allow", "\"**\""),
    ("paths.read", "deny", ""),
    ("paths.write", "allow", "\"src/**\""),
    ("paths.write", "ask", ""),
    ("hosts", "allow", "\"docs.rs\""),
    ("hosts", "deny", ""),
];

fn policy(count: usize) -> String {
    let mut lists = LISTS.map(|(_, _, first)| first.to_owned());
    let own = 10;
    for rule in own..count {
        let (list, entry) = entry(rule);
        if let Some(text) = lists.get_mut(list) {
            let start = if text.is_empty() { "" } else { ",\n  " };
            let _ = write!(text, "{start}{entry}");
        }
    }
    let mut out = format!(
        "# Made by benches/data/make.rs: {count} rules.\nversion = 1\n\n[workspace]\nroots = [\"/work/shop\"]\n"
    );
    let mut section = "";
    for ((table, key, _), text) in LISTS.iter().zip(&lists) {
        if *table != section {
            let _ = write!(out, "\n[{table}]\n");
            section = table;
        }
        if !text.is_empty() {
            let _ = writeln!(out, "{key} = [\n  {text},\n]");
        }
    }
    out
}

/// The index of a list and an entry for it.
fn entry(rule: usize) -> (usize, String) {
    let round = rule / 20;
    let ten = round % 10;
    match rule % 20 {
        // A hundredth of all rules is about one program: `git`.
        0 if ten == 0 => (4, format!("\"git task{round}\"")),
        0 => (3, format!("\"tool{} run{ten}\"", round / 10)),
        1 => (3, format!("\"tool{} {{list,show}}{ten}\"", round / 10)),
        2 => (3, format!("\"build{round}\"")),
        3 => (
            3,
            format!("{{ match = \"run{round} test\", only = \"read\" }}"),
        ),
        4 => (4, format!("\"deploy{round} --env=*\"")),
        5 => (
            4,
            format!(
                "{{ match = \"tool{} push{ten}\", without = [\"--dry-run\"] }}",
                round / 10
            ),
        ),
        6 => (
            5,
            format!(
                "{{ match = \"drop{round}\", with = [\"-f|--force\"], reason = \"removes area {round}\", instead = \"archive it\" }}"
            ),
        ),
        7 => (5, format!("\"wipe{round}\"")),
        8 => (7, format!("\"area{}/secret{ten}/**\"", round / 10)),
        9 => (7, format!("\"*.key{round}\"")),
        10 => (7, format!("\"/srv/store{round}/**\"")),
        11 => (8, format!("\"area{}/part{ten}/**\"", round / 10)),
        12 => (
            8,
            format!(
                "{{ match = \"docs/book{round}/**\", except = [\"docs/book{round}/legal/**\"] }}"
            ),
        ),
        13 => (9, format!("\"generated{round}.rs\"")),
        14 => (9, format!("\"**/schema{round}/*.sql\"")),
        15 => (10, format!("\"host{round}.example.org\"")),
        16 => (10, format!("\"*.zone{round}.example.net\"")),
        17 => (11, format!("\"tracker{round}.example.com\"")),
        18 => (1, format!("\"mcp__server{}__task{ten}\"", round / 10)),
        _ => (2, format!("\"mcp__server{}__delete{ten}_*\"", round / 10)),
    }
}
