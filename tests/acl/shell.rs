//! Command lines, and the commands and redirections that stand in them: `tests/shell/corpus.jsonl`.

use acl::call::shell::outline;

fn strings(value: &serde_json::Value) -> Vec<String> {
    let mut all: Vec<String> = value
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item.as_str().unwrap().to_owned())
        .collect();
    all.sort();
    all
}

#[test]
fn corpus() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shell/corpus.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for row in text.lines().filter(|row| !row.trim().is_empty()) {
        let case: serde_json::Value = serde_json::from_str(row).unwrap();
        let line = case["line"].as_str().unwrap();
        let mut got = outline(line);
        got.commands.sort();
        got.redirects.sort();
        let valid = case["valid"].as_bool().unwrap();
        seen += 1;
        if got.valid != valid
            || valid
                && (got.commands != strings(&case["commands"])
                    || got.redirects != strings(&case["redirects"]))
        {
            wrong.push(format!("{row}\n    got {got:?}"));
        }
    }
    assert!(seen >= 149, "only {seen} cases");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Spans are bytes of the line as it was given, through substitutions, scripts in quotes and heredocs.
#[test]
fn spans() {
    let scene = acl::call::shell::Scene::default();
    for line in [
        "é; rm -rf x",
        "écho \"日本 $(rm -rf x)\"",
        "bash -c 'a; rm -rf x'",
        "bash -c \"a && bash -c 'rm -rf x'\"",
        "eval 'é; rm -rf x'",
        "bash <<'E'\na\nrm -rf x\nE\n",
        "cat <<E\né $(rm -rf x)\nE\n",
        "echo 'rm -rf x' | sh",
        "a `rm -rf x`",
        "trap 'rm -rf x' EXIT",
        "f() { rm -rf x; }; f",
        "sudo env A=1 rm -rf x",
    ] {
        let found = acl::call::shell::accesses(line, &scene);
        let spans: Vec<&str> = found
            .iter()
            .filter(|access| shown(access, line).contains("run rm -rf x"))
            .map(|access| access.span.unwrap().of(line))
            .collect();
        assert!(
            !spans.is_empty() && spans.iter().all(|text| *text == "rm -rf x"),
            "{line}: {spans:?}"
        );
    }
}

/// An access in one line: what, and in brackets how we got there.
pub fn shown(access: &acl::call::access::Access, line: &str) -> String {
    use acl::call::access::{Kind, Mode, Touches, Trigger};
    let mut out = String::new();
    for via in access.via.iter() {
        out.push_str(&format!("[{via}] "));
    }
    match &access.kind {
        Kind::Tool => out.push_str("tool"),
        Kind::Command(command) => {
            out.push_str(if command.scripted { "script" } else { "run" });
            for assignment in &command.assignments {
                let mark = if assignment.dangerous { "!" } else { "" };
                out.push_str(&format!(
                    " {mark}{}={}",
                    assignment.name,
                    assignment.value.shown()
                ));
            }
            for word in &command.words {
                let text = match word.text() {
                    Some(text) if text.is_empty() || text.contains([' ', '\n', '*', '?', '<']) => {
                        format!("'{text}'")
                    }
                    Some(text) => text.to_owned(),
                    None if word.is_unknown() => format!("<{}>", word.shown()),
                    None => word.shown(),
                };
                out.push_str(&format!(" {text}{}", if word.splits { "…" } else { "" }));
            }
            match command.cwd.as_deref() {
                Some("/w") => {}
                Some(cwd) => out.push_str(&format!(" @{cwd}")),
                None => out.push_str(" @?"),
            }
            for escalation in &command.escalations {
                if escalation.at == Trigger::Unnamed {
                    out.push_str(&format!(" ^{}", escalation.what));
                }
            }
        }
        Kind::Path(path) => {
            let mode = match (path.touches, path.mode) {
                (Touches::Names, _) => "name",
                (Touches::Perhaps, Mode::Read) => "read?",
                (Touches::Perhaps, Mode::Write) => "write?",
                (Touches::Surely, Mode::Read) => "read",
                (Touches::Surely, Mode::Write) => "write",
            };
            let mark = if path.path.is_unknown() { "~" } else { "" };
            out.push_str(&format!("{mode} {mark}{}", path.path.shown()));
            match path.cwd.as_deref() {
                Some("/w") => {}
                Some(cwd) => out.push_str(&format!(" @{cwd}")),
                None => out.push_str(" @?"),
            }
        }
        Kind::Host(host) => out.push_str(&format!("host {}", host.url.shown())),
        Kind::Opaque(own) => out.push_str(&format!("opaque {}", own.why)),
    }
    let span = access.span.unwrap();
    assert!(
        line.get(span.start..span.end).is_some(),
        "{span:?} of {line:?}"
    );
    out
}

/// `> line` (with `\n` and `\t` for newlines and tabs), then its accesses, one a line.
#[test]
fn tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shell/accesses.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let scene = acl::call::shell::Scene {
        cwd: Some("/w".to_owned()),
        home: Some("/home/dev".to_owned()),
        ..acl::call::shell::Scene::default()
    };
    let mut fresh = String::new();
    for row in text.lines() {
        let Some(written) = row.strip_prefix("> ") else {
            if row.starts_with('#') || row.is_empty() {
                fresh.push_str(&format!("{row}\n"));
            }
            continue;
        };
        let line = written.replace("\\n", "\n").replace("\\t", "\t");
        fresh.push_str(&format!("> {written}\n"));
        for access in acl::call::shell::accesses(&line, &scene) {
            fresh.push_str(&format!(
                "{}\n",
                shown(&access, &line)
                    .replace('\n', "\\n")
                    .replace('\t', "\\t")
            ));
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &fresh).unwrap();
    }
    similar_lines(&text, &fresh);
}

fn similar_lines(want: &str, got: &str) {
    for (number, (want, got)) in want.lines().zip(got.lines()).enumerate() {
        assert_eq!(want, got, "line {}", number + 1);
    }
    assert_eq!(want.lines().count(), got.lines().count());
}
