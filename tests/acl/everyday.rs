//! What a developer meets all day: few prompts for what is harmless, and never silence for what is not.
//!
//! `tests/decisions/everyday.txt` has the command lines, each with the verdict that a careful developer wants under
//! `policies/recommended.toml`. Nearly all must hold; the rest is marked there, each with its reason. `attacks.txt`
//! beside it has those that passed once and must not: all of them must hold.

use crate::disk;
use acl::call::Call;
use acl::call::files::FileView;
use acl::decision::decide;
use acl::matcher::Matcher;
use acl::policy::LayerKind;
use acl::policy::rule::Verdict;
use serde_json::json;

/// The project that the lines are about, below `/home/dev/shop`.
const FILES: &[&str] = &[
    ".env",
    ".env.example",
    ".git/config",
    ".git/hooks/pre-commit.sample",
    ".git/HEAD",
    ".gitignore",
    ".github/workflows/ci.yml",
    ".claude/settings.json",
    ".next/cache/x",
    ".venv/bin/activate",
    ".venv/bin/python",
    ".venv/pyvenv.cfg",
    "Cargo.toml",
    "Cargo.lock",
    "Dockerfile",
    "Makefile",
    "NOTES.md",
    "README.md",
    "acl.toml",
    "build/CTestTestfile.cmake",
    "crates/core/Cargo.toml",
    "crates/api/Cargo.toml",
    "crates/web/Cargo.toml",
    "data/a.json",
    "data/a.tgz",
    "data/a.zip",
    "data/b.json",
    "data/list.txt",
    "data/log.txt",
    "data/rows.csv",
    "dist/app.js",
    "dist/app.min.js",
    "docs/a.md",
    "docs/usage.md",
    "fix.patch",
    "go.mod",
    "hosts.txt",
    "image.iso",
    "jobs.txt",
    "kit/bare/HEAD",
    "kit/bare/objects/x",
    "kit/bare/refs/x",
    "kit/hooks/x.json",
    "kit/half/HEAD",
    "kit/half/config",
    "kit/half/refs/heads/x",
    "kit/mcp.json",
    "kit/settings.json",
    "kit/workflows/ci.yml",
    "logo.png",
    "node_modules/.bin/tsc",
    "node_modules/react/package.json",
    "package.json",
    "requirements.txt",
    "scripts/build.sh",
    "scripts/deploy.sh",
    "shop/app.py",
    "src/a.rs",
    "src/ui/app.ts",
    "src/auth.rs",
    "src/b.rs",
    "src/key.txt",
    "src/lib.rs",
    "src/login.test.ts",
    "src/main.rs",
    "src/old.rs",
    "src/legacy/x.rs",
    "target/debug/shop",
    "templates/base/x.html",
    "tests/test_api.py",
    "tests/integration.rs",
    "web/package.json",
    "web/src/App.tsx",
];

/// A command line, and what must become of it.
#[derive(Debug, Default)]
struct Case {
    /// Where it stands.
    number: usize,
    /// The verdicts that a careful developer wants.
    wanted: Vec<String>,
    line: String,
    /// What acl decides instead.
    instead: Option<String>,
}

fn read(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (index, row) in text.lines().enumerate() {
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        let (head, rest) = row.split_once(' ').unwrap_or((row, ""));
        if !head.is_empty() {
            cases.push(Case {
                number: index + 1,
                wanted: head.split('|').map(str::to_owned).collect(),
                line: rest.trim_start().to_owned(),
                instead: None,
            });
            continue;
        }
        let case = cases.last_mut().expect("a line before what follows it");
        let rest = rest.trim_start();
        if let Some(more) = rest.strip_prefix('|') {
            case.line.push('\n');
            case.line.push_str(more.strip_prefix(' ').unwrap_or(more));
        } else if let Some((verdict, why)) =
            rest.strip_prefix("! ").and_then(|it| it.split_once(": "))
        {
            assert!(!why.trim().is_empty(), "line {}: why?", index + 1);
            case.instead = Some(verdict.to_owned());
        } else {
            panic!(
                "line {}: `|` goes on, `! VERDICT: WHY` says what acl decides instead",
                index + 1
            );
        }
    }
    cases
}

fn call(line: &str) -> Call {
    let folder = "/home/dev/shop";
    let mut files = serde_json::Map::new();
    for file in FILES {
        files.insert(format!("{folder}/{file}"), json!({}));
    }
    let ignored =
        json!({ "text": ".env\n.next/\n.venv/\nbuild/\ndist/\nnode_modules/\ntarget/\n" });
    files.insert(format!("{folder}/.gitignore"), ignored);
    files.insert(
        format!("{folder}/.dockerignore"),
        json!({ "text": ".git\n.env\n" }),
    );
    for (name, target) in [("kit/l", "../.git/hooks"), ("kit/p.toml", "../acl.toml")] {
        files.insert(format!("{folder}/{name}"), json!({ "symlink": target }));
    }
    for file in [
        "/home/dev/.ssh/id_rsa",
        "/home/dev/.bashrc",
        "/tmp/server.log",
        "/etc/os-release",
        "/usr/local/bin/node",
    ] {
        files.insert(file.to_owned(), json!({}));
    }
    let call = json!({
        "tool": "bash", "args": { "command": line },
        "cwd": folder, "workspace": folder, "home": "/home/dev", "files": files,
    });
    serde_json::from_value(call).unwrap()
}

/// Decides the lines of a file; how many there are, and how many are known to be decided otherwise.
fn decided(file: &str) -> (usize, usize) {
    let policy = disk::root(
        LayerKind::User,
        disk::source("policies/recommended.toml").unwrap(),
    );
    let matcher = Matcher::compile(disk::load(vec![policy]).unwrap());
    let text = std::fs::read_to_string(file).unwrap();
    let cases = read(&text);
    let mut wrong = Vec::new();
    let mut known = 0;
    for case in &cases {
        for verdict in case.wanted.iter().chain(&case.instead) {
            assert!(
                Verdict::parse(verdict).is_some(),
                "line {}: `{verdict}`",
                case.number
            );
        }
        let call = call(&case.line);
        let files = FileView::Fixture(call.files.clone().unwrap());
        let decision = decide(&matcher, &call, &files);
        let got = decision.action.to_string();
        known += usize::from(case.instead.is_some());
        let right = match &case.instead {
            Some(instead) => got == *instead && !case.wanted.contains(&got),
            None => case.wanted.contains(&got),
        };
        let silent = got == "allow" && !case.wanted.contains(&got);
        if !right || silent {
            let reasons: Vec<String> = decision
                .reasons
                .iter()
                .map(|reason| format!("{} `{}` {}", reason.key, reason.subject, reason.text))
                .collect();
            wrong.push(format!(
                "{}: {got}, wanted {}: {}\n    {}",
                case.number,
                case.wanted.join("|"),
                case.line,
                reasons.join("\n    ")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
    (cases.len(), known)
}

#[test]
fn as_a_careful_developer_wants() {
    let (cases, known) = decided("tests/decisions/everyday.txt");
    assert!(cases > 600, "only {cases} lines");
    assert!(
        known * 100 <= cases * 3,
        "{known} of {cases} are not as wanted"
    );
}

#[test]
fn what_passed_once_never_does_again() {
    let (_, known) = decided("tests/decisions/attacks.txt");
    assert_eq!(known, 0);
}

#[test]
fn no_limit_softens_a_verdict() {
    let policy = disk::root(
        LayerKind::User,
        disk::source("policies/recommended.toml").unwrap(),
    );
    let matcher = Matcher::compile(disk::load(vec![policy]).unwrap());
    let names: Vec<String> = (0..10_000).map(|name| format!("f{name}")).collect();
    for line in [
        format!("{}git push -f", ":;".repeat(20_000)),
        format!("cat {}; cat .env", names.join(" ")),
        format!("# {}\ncat .env", "x".repeat(300_000)),
        format!("{}{}", " ".repeat(1024 * 1024), "git push --force"),
        format!("{}; git push --force", names.join("; ").repeat(20)),
    ] {
        let call = call(&line);
        let files = FileView::Fixture(call.files.clone().unwrap());
        let decision = decide(&matcher, &call, &files);
        let start: String = line.chars().take(20).collect();
        assert_eq!(decision.action, Verdict::Deny, "{start}");
    }
}

#[test]
fn a_search_leaves_out_what_ripgrep_does() {
    let policy = disk::root(
        LayerKind::User,
        disk::source("policies/recommended.toml").unwrap(),
    );
    let matcher = Matcher::compile(disk::load(vec![policy]).unwrap());
    let all = [
        (true, json!({"pattern": "x"}), true),
        (true, json!({"pattern": "x", "glob": "*.rs"}), true),
        (
            true,
            json!({"pattern": "x", "glob": "*.{ts,tsx}", "path": "src"}),
            true,
        ),
        (true, json!({"pattern": "x", "glob": "!*.md"}), true),
        (true, json!({"pattern": "x", "glob": ".env"}), false),
        (true, json!({"pattern": "x", "glob": "*.env"}), false),
        (true, json!({"pattern": "x", "glob": "Cargo.toml"}), true),
        (true, json!({"pattern": "x", "glob": ".e*"}), false),
        (true, json!({"pattern": "x", "glob": "*.rs,.env"}), false),
        (
            true,
            json!({"pattern": "x", "glob": "*.rs", "path": ".env"}),
            false,
        ),
        (false, json!({"pattern": "x", "glob": "*.rs"}), false),
    ];
    for (gitignore, args, allowed) in all {
        let shown = args.to_string();
        let mut call = call("");
        call.tool = "search".to_owned();
        call.args = acl::call::Args::from(args);
        call.gitignore = gitignore;
        let files = FileView::Fixture(call.files.clone().unwrap());
        let decision = decide(&matcher, &call, &files);
        assert_eq!(decision.action == Verdict::Allow, allowed, "{shown}");
    }
}
