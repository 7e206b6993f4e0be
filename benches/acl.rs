//! How fast acl loads a policy, decides a call, and starts: `cargo bench`.
//!
//! The policies in `benches/data/` are made by `make.rs` beside them. Decisions look at no files (`FileView::None`), so
//! that the engine is measured and not the disk. Wanted, at any size: a tool or path call in 1 µs, a short line in
//! 15 µs, a script of 2 KiB in 300 µs, one of 64 KiB in 20 ms, 10,000 rules loaded in 60 ms, and 100 rules decided by a
//! process within 1.5 ms of `/bin/true`. Checked: 100 rules in 20 ms, 1,000 in 150 ms, 10,000 in 5 s; what ten changed
//! rules among 1,000 change in 300 ms.

#![allow(
    clippy::expect_used,
    reason = "a bench that cannot go on says so by failing"
)]

use acl::call::Call;
use acl::call::files::FileView;
use acl::decision::{Decision, decide};
use acl::language;
use acl::lint::{self, Levels};
use acl::matcher::Matcher;
use acl::policy::{self, LayerKind, Root, Trust};
use acl::presets;
use acl::source::Source;
use divan::{Bencher, black_box};
use serde_json::{Value, json};
use std::sync::Arc;

const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];

const SCRIPT: &str = include_str!("data/script.sh");
const SHORT: &str = "git status && ls -la | wc -l";

fn main() {
    divan::main();
}

fn text(rules: usize) -> String {
    let path = format!("{}/benches/data/{rules}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a policy of that size")
}

fn compiled(text: String) -> Matcher {
    let source = Source::new("bench.toml", text, None).expect("UTF-8");
    let root = Root {
        kind: LayerKind::User,
        source: Arc::new(source),
        trusted: Trust::Yes,
        folder: None,
    };
    let preset = |name: &str, _: &Source| presets::find(name.trim_start_matches("acl:"));
    let policy = policy::load(vec![root], &preset).expect("a sound policy");
    Matcher::compile(policy)
}

fn call(tool: &str, args: Value) -> Call {
    Call {
        cwd: Some("/work/shop".into()),
        home: Some("/home/me".into()),
        ..Call::new(tool, args)
    }
}

fn decided(bencher: Bencher<'_, '_>, rules: usize, tool: &str, args: Value) {
    let matcher = compiled(text(rules));
    let call = call(tool, args);
    bencher.bench_local(|| -> Decision {
        decide(black_box(&matcher), black_box(&call), &FileView::None)
    });
}

/// Text → matcher.
#[divan::bench(args = SIZES)]
fn load(bencher: Bencher<'_, '_>, rules: usize) {
    bencher
        .with_inputs(|| text(rules))
        .bench_local_values(compiled);
}

/// A tool that a tier lists.
#[divan::bench(args = SIZES)]
fn decide_tool(bencher: Bencher<'_, '_>, rules: usize) {
    decided(bencher, rules, "read_file", json!({ "id": 7 }));
}

/// A file of the workspace is written.
#[divan::bench(args = SIZES)]
fn decide_path(bencher: Bencher<'_, '_>, rules: usize) {
    decided(
        bencher,
        rules,
        "write",
        json!({ "path": "src/cart/total.rs", "content": "" }),
    );
}

/// Three programs, one pipe.
#[divan::bench(args = SIZES)]
fn decide_short_line(bencher: Bencher<'_, '_>, rules: usize) {
    decided(bencher, rules, "bash", json!({ "command": SHORT }));
}

/// Fifty programs.
#[divan::bench(args = SIZES)]
fn decide_long_line(bencher: Bencher<'_, '_>, rules: usize) {
    let line: Vec<String> = (0..50)
        .map(|at| format!("git log -n {at} -- src/part{at}.rs"))
        .collect();
    decided(
        bencher,
        rules,
        "bash",
        json!({ "command": line.join(" && ") }),
    );
}

/// A script of 2 KB with functions, loops and heredocs, as a release is made.
#[divan::bench]
fn decide_script(bencher: Bencher<'_, '_>) {
    decided(bencher, 100, "bash", json!({ "command": SCRIPT }));
}

/// 64 KiB: of such scripts, and of the shortest commands there are.
#[divan::bench(args = ["script", "a;"])]
fn decide_64_kib(bencher: Bencher<'_, '_>, of: &str) {
    let text = if of == "script" { SCRIPT } else { of };
    let text = text.repeat(65_536 / text.len());
    decided(bencher, 100, "bash", json!({ "command": text }));
}

/// All lints.
#[divan::bench(args = SIZES, sample_count = 10)]
fn check(bencher: Bencher<'_, '_>, rules: usize) {
    let matcher = compiled(text(rules));
    bencher.bench_local(|| lint::run(black_box(&matcher), &Levels::default(), &Default::default()));
}

/// All lints of a policy that people use.
#[divan::bench(sample_count = 10)]
fn check_recommended(bencher: Bencher<'_, '_>) {
    let matcher = compiled(include_str!("../policies/recommended.toml").to_owned());
    bencher.bench_local(|| lint::run(black_box(&matcher), &Levels::default(), &Default::default()));
}

/// What differs where ten of 1,000 rules do.
#[divan::bench(sample_count = 10)]
fn diff_1000(bencher: Bencher<'_, '_>) {
    let old = text(1_000);
    let new = (1..11).fold(old.clone(), |text, at| {
        text.replace(&format!("\"wipe{at}\""), &format!("\"erase{at}\""))
    });
    let (old, new) = (compiled(old), compiled(new));
    bencher.bench_local(|| language::changed(black_box(&old), black_box(&new)));
}

/// What every process costs here.
#[divan::bench]
fn start_true() {
    run(std::process::Command::new("/bin/true"), "");
}

/// One call, 100 rules, from a new process.
#[cfg(feature = "cli")]
#[divan::bench]
fn start_acl_decide() {
    let mut acl = std::process::Command::new(env!("CARGO_BIN_EXE_acl"));
    acl.args(["decide", "--files", "none", "--policy"]);
    acl.arg(format!(
        "{}/benches/data/100.toml",
        env!("CARGO_MANIFEST_DIR")
    ));
    let line = json!({ "tool": "bash", "args": { "command": SHORT }, "cwd": "/work/shop" });
    run(acl, &line.to_string());
}

fn run(mut command: std::process::Command, input: &str) {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("a process");
    // A process that reads nothing may be gone already.
    let _ = child
        .stdin
        .take()
        .map(|mut stdin| stdin.write_all(input.as_bytes()));
    child.wait().expect("an end");
}
