//! Arbitrary text as a command line: no crash, no hang, nothing found is nothing passed, and what is denied alone
//! stays denied behind it.
#![no_main]

use acl::call::access::Kind;
use acl::call::files::FileView;
use acl::call::{Args, Call};
use acl::decision::decide;
use acl::matcher::Matcher;
use acl::policy::{self, LayerKind, Root, Trust, Verdict};
use acl::source::{Format, Source};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, OnceLock};

const POLICY: &str = r#"
version = 1
[workspace]
roots = ["/w"]
[tiers]
allow = ["bash"]
[commands]
ask = ["git push", { match = "kill", with = ["-9"] }]
deny = ["sudo", { match = "rm", with = ["-r", "-f"] }]
[paths.read]
deny = ["*.pem", "~/.ssh/**"]
[paths.write]
ask = ["/w/vendor/**"]
[protected.secrets]
files = [".env"]
"#;

fn matcher() -> &'static Matcher {
    static MATCHER: OnceLock<Matcher> = OnceLock::new();
    MATCHER.get_or_init(|| {
        let source = Source::new("fuzz.toml", POLICY.as_bytes().to_vec(), Some(Format::Toml)).expect("utf-8");
        let root = Root { kind: LayerKind::User, source: Arc::new(source), folder: None, trusted: Trust::Yes };
        Matcher::compile(policy::load(vec![root], &|_, _| Err(String::new())).expect("it loads"))
    })
}

/// The verdict, and whether any command, path or host was found at all.
fn of(line: &str) -> (Verdict, bool) {
    let args = Args::from(serde_json::json!({ "command": line }));
    let call = Call { cwd: Some("/w".into()), home: Some("/home/u".into()), ..Call::new("bash", args) };
    let decision = decide(matcher(), &call, &FileView::None);
    assert_eq!(decision.action == Verdict::Allow, decision.reasons.is_empty());
    for judged in &decision.judged {
        if let Some(span) = judged.access.span {
            assert!(line.get(span.start..span.end).is_some(), "a span outside the line");
        }
    }
    let found = decision.judged.iter().any(|judged| !matches!(judged.access.kind, Kind::Opaque(_) | Kind::Tool));
    (decision.action, found)
}

fuzz_target!(|line: &str| {
    if line.trim().is_empty() {
        return; // a blank command is a fault of the arguments
    }
    let (alone, found) = of(line);
    // A line before it never loosens; where nothing is found alone, that is what asks.
    let (after, _) = of(&format!("true\n{line}"));
    assert!(after >= alone || !found, "{alone:?} alone, {after:?} after another line");
});
