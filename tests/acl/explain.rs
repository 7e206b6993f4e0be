//! What a person sees of a decision: explanations of calls as text of 80 columns, and one as JSON.
//!
//! Run through the library, with the files written down in the calls, so that they read alike on every machine.

use acl::call::Call;
use acl::call::files::FileView;
use acl::decision::{Decision, decide};
use acl::explanation::Explanation;
use acl::matcher::Matcher;
use acl::policy::{self, LayerKind, Root, Trust};
use acl::report::{human_explanation, json_explanation};
use acl::source::Source;
use serde_json::{Value, json};
use std::sync::Arc;

const POLICY: &str = r#"version = 1

[tiers]
allow = ["read", "search"]
ask   = ["bash", "write", "fetch", "mcp__*"]

[facts]
branch = {}

[[sources]]
name = "review"
on_error = "abstain"

[protected.secrets]
files  = [".env", "*.pem"]
reason = "holds credentials"

[paths.write]
allow = ["src/**", "~/notes/**"]

[[commands.allow]]
id    = "look"
match = ["ls", "cat", "git {status,diff,log}", "echo", "sed"]

[[commands.allow]]
id    = "clean"
match = "rm"
operands = ["target", "dist"]

[[commands.ask]]
id     = "publish"
match  = ["cargo publish", "npm publish"]
forced = true
reason = "changes what others install"

[[commands.ask]]
id     = "push"
match  = "git push"
unless = { branch = "scratch" }
reason = "others will see it"

[[commands.deny]]
id      = "force-push"
match   = "git push"
with    = ["-f|--force"]
reason  = "rewrites history that others have"
instead = "git push --force-with-lease"
"#;

fn root(kind: LayerKind, name: &str, text: &str, trusted: bool) -> Root {
    Root {
        kind,
        source: Arc::new(Source::new(name, text, None).unwrap()),
        folder: None,
        trusted: if trusted { Trust::Yes } else { Trust::No },
    }
}

fn matcher(roots: Vec<Root>) -> Matcher {
    let policy = policy::load(roots, &|name, _| Err(format!("no {name}")));
    Matcher::compile(policy.unwrap_or_else(|findings| panic!("{findings:?}")))
}

fn call(fields: Value) -> Call {
    let mut whole = json!({ "cwd": "/w", "workspace": "/w", "home": "/home/me", "files": {} });
    let whole_fields = whole.as_object_mut().unwrap();
    for (name, value) in fields.as_object().unwrap() {
        whole_fields.insert(name.clone(), value.clone());
    }
    serde_json::from_value(whole).unwrap()
}

fn decided(matcher: &Matcher, call: &Call) -> Decision {
    decide(
        matcher,
        call,
        &FileView::Fixture(call.files.clone().unwrap()),
    )
}

fn shown_by(matcher: &Matcher, fields: Value, trace: bool) -> String {
    let call = call(fields);
    let decision = decided(matcher, &call);
    let told = Explanation::of(matcher, &call, &decision);
    let shown = human_explanation::explanation(&told, 80, false, trace);
    for line in shown.lines() {
        // What is to be typed is never broken.
        let typed = line.trim_start().starts_with("--");
        assert!(typed || line.chars().count() <= 80, "{line}");
    }
    let colour = human_explanation::explanation(&told, 80, true, trace);
    assert_eq!(plain(&colour), shown, "colour changes nothing but colour");
    shown
}

/// A text without colours.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    out
}

fn shown(fields: Value) -> String {
    let roots = vec![root(LayerKind::User, "acl.toml", POLICY, true)];
    shown_by(&matcher(roots), fields, false)
}

fn bash(line: &str) -> Value {
    json!({ "tool": "bash", "args": { "command": line } })
}

fn with(mut fields: Value, more: Value) -> Value {
    let own = fields.as_object_mut().unwrap();
    own.extend(more.as_object().unwrap().clone());
    fields
}

#[test]
fn allowed() {
    let rule = shown(bash("git status"));
    let tier = shown(json!({ "tool": "read", "args": { "path": "README.md" } }));
    let parts = shown(bash("ls && git log | cat"));
    let given = json!({ "session_approvals": ["bash"], "approvals": ["push"], "facts": { "branch": "main" } });
    let cleared = shown(with(bash("git push && make"), given));
    insta::assert_snapshot!([rule, tier, parts, cleared].join("\n────\n"));
}

#[test]
fn several_obligations() {
    let line = "cargo publish && git push && cat /etc/motd && make";
    insta::assert_snapshot!(shown(with(
        bash(line),
        json!({ "user": "ann", "session": "s1" })
    )));
}

#[test]
fn denied_by_a_rule() {
    insta::assert_snapshot!(shown(bash("git -C web push -f origin main; git push")));
}

#[test]
fn protected_through_a_link() {
    let files = json!({ "files": { "/w/conf": { "symlink": "/w/.env" }, "/w/.env": {} } });
    insta::assert_snapshot!(shown(with(bash("cat conf > copy && cat conf"), files)));
}

#[test]
fn outside_the_workspace() {
    let fields = json!({ "tool": "write", "args": { "path": "../other/a.txt" } });
    insta::assert_snapshot!(shown(fields));
}

#[test]
fn not_a_call_of_a_known_tool() {
    let fault = shown(json!({ "tool": "write", "args": { "path": 7 } }));
    let text = shown(json!({ "tool": "bash", "args": "{\"command\": " }));
    let near = shown(json!({ "tool": "raed", "args": { "path": "a" } }));
    insta::assert_snapshot!([fault, text, near].join("\n────\n"));
}

#[test]
fn first_match() {
    let text = r#"version = 1
resolution = "first-match"

[tiers]
ask = ["bash"]

[[rules]]
id      = "dry"
action  = "allow"
commands = "cargo publish"
with    = ["--dry-run"]

[[rules]]
id      = "no-publish"
action  = "deny"
commands = "cargo publish"
reason  = "releases are made by CI"

[[rules]]
id      = "cargo"
action  = "allow"
commands = "cargo"
"#;
    let matcher = matcher(vec![root(LayerKind::User, "acl.toml", text, true)]);
    let dry = shown_by(
        &matcher,
        bash("cargo publish --dry-run && cargo test"),
        false,
    );
    let real = shown_by(&matcher, bash("cargo publish"), false);
    insta::assert_snapshot!([dry, real].join("\n────\n"));
}

#[test]
fn layers() {
    let managed =
        "version = 1\n[tiers]\nask = [\"bash\"]\n[commands]\nask = [\"terraform apply\"]\n";
    let user = "version = 1\n[commands]\nallow = [\"terraform\", \"ls\"]\n";
    let project = "version = 1\n[commands]\nallow = [\"make\"]\ndeny = [\"terraform destroy\"]\n";
    let matcher = matcher(vec![
        root(LayerKind::Managed, "/etc/acl/policy.toml", managed, true),
        root(LayerKind::User, "me.toml", user, true),
        root(LayerKind::Project, "acl.toml", project, false),
    ]);
    let asked = shown_by(&matcher, bash("terraform apply && ls"), false);
    let denied = shown_by(&matcher, bash("terraform destroy"), false);
    insta::assert_snapshot!([asked, denied].join("\n────\n"));
}

#[test]
fn a_fact_is_missing() {
    let missing = shown(bash("git push"));
    let off = shown(with(
        bash("git push"),
        json!({ "facts": { "branch": "scratch" } }),
    ));
    insta::assert_snapshot!([missing, off].join("\n────\n"));
}

/// An allow that would cover the call, but for one of its conditions, is named with that condition.
#[test]
fn nearly_allowed() {
    let policy = r#"version = 1

[tiers]
ask = ["bash", "write"]

[commands]
allow = [
  "sed",
  { match = "rm", operands = ["target"] },
  { match = "git clean", with = ["-n|--dry-run"] },
  { match = "make", exact = true },
  { match = "git push", without = ["-f|--force"], except = ["git push ** main"] },
  { match = "find", only = "read" },
  "apt update",
]

[paths.write]
allow = [{ match = "docs/**", except = ["docs/legal/**"] }]

[hosts]
allow   = [{ match = "*.example.org", except = ["ads.example.org"] }]
default = "ask"
"#;
    let matcher = matcher(vec![root(LayerKind::User, "acl.toml", policy, true)]);
    let line = "rm src && git clean -f && make all && git push -f origin main && find . -delete && sudo apt update && \
                sed -i s/a/b/ x && echo a > docs/legal/x && curl https://ads.example.org";
    let page = shown_by(&matcher, bash(line), false);
    let (_, near) = page.split_once("what nearly allows it").unwrap_or_default();
    insta::assert_snapshot!(near);
}

#[test]
fn what_was_given_and_did_not_count() {
    let given = json!({
        "user": "ann",
        "approvals": ["publish", "pushh", { "key": "push", "call": "sha256:0" }],
        "session_approvals": ["bash"],
        "grants": [{ "tool": "bash" }, { "rule": "push", "user": "ann", "expires_at": 1 }],
        "verdicts": { "review": "allow" },
        "now": 2,
    });
    insta::assert_snapshot!(shown(with(bash("npm publish && git push"), given)));
}

#[test]
fn modes() {
    let nobody = shown(with(bash("git push"), json!({ "mode": "non-interactive" })));
    let plan = shown(with(bash("ls && rm -r target"), json!({ "mode": "plan" })));
    insta::assert_snapshot!([nobody, plan].join("\n────\n"));
}

#[test]
fn scripts() {
    let mut line: String = (1..12).map(|n| format!("echo step {n}\n")).collect();
    line.push_str("for d in a b; do\n\tsudo -u bob rm -rf \"$d\"\ndone\n");
    line.push_str("cat <<EOF\nkey: $(cat server.pem)\nEOF\n");
    line.push_str("sed -i s/a/b/ a.txt\nbash -c 'cd /tmp && rm x'\n");
    insta::assert_snapshot!(shown(bash(&line)));
}

/// Every part of a script has its row: what, through what, why; what passes in one row with what it touches.
#[test]
fn a_script_of_twenty_lines() {
    let script = r#"#!/bin/bash
set -e
cat > src/version.rs <<RS
pub const BUILT: &str = "$(git log -1 --format=%cd)";
RS

for f in src/*.rs $EXTRA; do
  echo "checking $f" | cat
  sed -i s/a/b/ "$f"
done

bash <<'INNER'
  git status && rm -rf target
  git push --force origin main
INNER

sudo -u deploy bash -c 'cd /srv && ls'
echo "KEY=1" >> .env
f=docs/a.md; cp "$f" "src/${f##*/}"
"#;
    let files = json!({ "files": { "/w/src/a.rs": {}, "/w/src/b.rs": {}, "/w/.env": {} } });
    insta::assert_snapshot!(shown(with(bash(script), files)));
}

#[test]
fn names_that_are_not_what_they_seem() {
    let lookalike = shown(bash("\u{ff47}it status\u{202e}\u{1b}[2K"));
    let words = shown(bash("cat \"$DIR/a\" .e*"));
    insta::assert_snapshot!([lookalike, words].join("\n────\n"));
}

#[test]
fn stages() {
    let roots = vec![root(LayerKind::User, "acl.toml", POLICY, true)];
    let matcher = matcher(roots);
    let facts = json!({ "facts": { "branch": "main" }, "approvals": ["push"] });
    let asked = shown_by(&matcher, with(bash("git push && make"), facts), true);
    let denied = shown_by(&matcher, bash("cat .env"), true);
    let unknown = shown_by(&matcher, json!({ "tool": "jump" }), true);
    insta::assert_snapshot!([asked, denied, unknown].join("\n────\n"));
}

#[test]
fn as_json() {
    let matcher = matcher(vec![root(LayerKind::User, "acl.toml", POLICY, true)]);
    let call = call(with(
        bash("ls\ncat < a.txt && git push"),
        json!({ "id": "c1" }),
    ));
    let decision = decided(&matcher, &call);
    let told = Explanation::of(&matcher, &call, &decision);
    let told = json_explanation::explanation(&told);
    insta::assert_snapshot!(format!("{told:#}"));
}
