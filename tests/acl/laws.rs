//! The laws of deciding, each for generated policies and calls: what holds of all policies is not left to examples.

use crate::disk;
use acl::call::access::{Access, Kind};
use acl::call::files::FileView;
use acl::call::path::normal;
use acl::call::{Approval, Call, Grant, Mode, Said};
use acl::decision::record::Record;
use acl::decision::{Decision, decide};
use acl::matcher::hosts::{self, Contacted};
use acl::matcher::located::{Folder, Frame, Located};
use acl::matcher::paths::{self, Stance};
use acl::matcher::{Matcher, commands};
use acl::policy::rule::{Judges, Verdict};
use acl::policy::{LayerKind, Policy};
use acl::source::Source;
use proptest::collection::vec;
use proptest::option::of as maybe;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};
use std::sync::Arc;

// --- policies

const TOOLS: &[&str] = &[
    "read",
    "write",
    "fetch",
    "bash",
    "deploy",
    "mcp__fs__delete",
];
const GLOBS: &[&str] = &["read", "write", "fetch", "bash", "deploy", "mcp__*", "*"];
const PATHS: &[&str] = &[
    "**",
    "/**",
    "src/**",
    "*.rs",
    ".env",
    ".env*",
    "/etc/**",
    "~/.ssh/**",
    "docs/",
    "a.txt",
    "src/[a-m]*",
    "id_{rsa,ed25519}",
    "**/keys/*",
];
const HOSTS: &[&str] = &[
    "docs.rs",
    "*.docs.rs",
    "example.org",
    "*",
    "https://docs.rs:8443",
    "127.0.0.1",
];
const COMMANDS: &[&str] = &[
    "git",
    "git push",
    "git {status,log}",
    "rm",
    "ls",
    "cat",
    "echo",
    "curl",
    "sudo",
    "timeout",
    "bash",
    "xargs cat",
    "./run.sh",
    "*",
    "git ** main",
];

/// One `[[rules]]` element, without an id.
fn rule() -> impl Strategy<Value = Value> {
    let judges = prop_oneof![
        1 => select(GLOBS).prop_map(|tool| json!({"tools": [tool]})),
        3 => (subsequence(PATHS, 1..3), maybe(select(PATHS)), select(&["read", "write", "both"][..]), any::<bool>()).prop_map(
            |(paths, except, access, exact)| {
                let mut rule = json!({"paths": paths, "access": access});
                if exact {
                    rule["exact"] = json!(true);
                } else if let Some(except) = except {
                    rule["except"] = json!([except]);
                }
                rule
            }
        ),
        2 => subsequence(HOSTS, 1..3).prop_map(|hosts| json!({"hosts": hosts})),
        3 => (subsequence(COMMANDS, 1..3), maybe(select(&["-f|--force", "-r", "*main*"][..])), maybe(select(PATHS))).prop_map(
            |(commands, with, operands)| {
                let mut rule = json!({"commands": commands});
                if let Some(with) = with {
                    rule["with"] = json!([with]);
                }
                if let Some(operands) = operands {
                    rule["operands"] = json!([operands]);
                }
                rule
            }
        ),
    ];
    let condition = || {
        prop_oneof![
            any::<bool>().prop_map(|value| json!({"private": value})),
            select(&["dev", "prod"][..]).prop_map(|value| json!({"env": value})),
        ]
    };
    (
        select(&["allow", "ask", "deny"][..]),
        judges,
        maybe(subsequence(GLOBS, 1..3)),
        maybe(condition()),
        maybe(condition()),
        any::<bool>(),
    )
        .prop_map(|(action, mut rule, tools, when, unless, forced)| {
            rule["action"] = json!(action);
            if let (Some(tools), None) = (tools, rule.get("tools")) {
                rule["tools"] = json!(tools);
            }
            if let Some(when) = when {
                rule["when"] = when;
            }
            if let Some(unless) = unless {
                rule["unless"] = unless;
            }
            if action == "ask" && forced {
                rule["forced"] = json!(true);
            }
            rule
        })
}

fn tiers() -> impl Strategy<Value = Value> {
    (
        vec(0usize..4, GLOBS.len()),
        maybe(select(&["allow", "ask", "deny"][..])),
        any::<bool>(),
    )
        .prop_map(|(choices, default, unknown)| {
            let listed = |wanted| -> Vec<&str> {
                GLOBS
                    .iter()
                    .zip(&choices)
                    .filter(|(_, own)| **own == wanted)
                    .map(|(tool, _)| *tool)
                    .collect()
            };
            // Few tools are denied: else every call is.
            let mut tiers = json!({"allow": listed(0), "ask": listed(1)});
            if choices.iter().filter(|own| **own == 2).count() == 1 {
                tiers["deny"] = json!(listed(2));
            }
            if let Some(default) = default {
                tiers["default"] = json!(default);
            }
            if unknown {
                tiers["unknown"] = json!("default");
            }
            tiers
        })
}

fn policy(first_match: bool) -> impl Strategy<Value = Value> {
    (
        vec(rule(), 0..7),
        tiers(),
        maybe(select(&["allow", "ask", "deny"][..])),
        maybe((select(PATHS), select(&["read", "write"][..]))),
        maybe(select(&["ask", "deny", "abstain"][..])),
        maybe(select(&["allow", "ask", "deny"][..])),
    )
        .prop_map(
            move |(mut rules, tiers, outside, protected, on_error, default)| {
                name(&mut rules);
                let mut policy = json!({
                    "version": 1,
                    "facts": {"private": {"default": false}, "env": {"values": ["dev", "prod"]}},
                    "tiers": tiers,
                    "rules": rules,
                });
                if first_match {
                    policy["resolution"] = json!("first-match");
                } else if let Some(default) = default {
                    policy["paths"] = json!({"write": {"default": default}});
                    policy["hosts"] = json!({"default": default});
                }
                if let Some(outside) = outside {
                    policy["workspace"] = json!({"outside": outside});
                }
                if let Some((files, from)) = protected.filter(|(files, _)| !files.contains("**")) {
                    policy["protected"] = json!({"own": {"files": [files], "from": [from]}});
                }
                if let Some(on_error) = on_error {
                    policy["sources"] = json!([{"name": "risk", "on_error": on_error}]);
                }
                policy
            },
        )
}

fn any_policy() -> impl Strategy<Value = Value> {
    prop_oneof![3 => policy(false), 1 => policy(true)]
}

/// Every rule gets an id that stays with it wherever it is put.
fn name(rules: &mut [Value]) {
    for (at, rule) in rules.iter_mut().enumerate() {
        rule["id"] = json!(format!("r{at}"));
    }
}

fn with_rule(policy: &Value, rule: Value, at: usize) -> Value {
    let mut policy = policy.clone();
    let rules = policy["rules"].as_array_mut().unwrap();
    rules.insert(at.min(rules.len()), rule);
    policy
}

fn matcher(policy: &Value) -> Matcher {
    disk::compile("policy.yaml", &policy.to_string())
}

fn layered(layers: &[(LayerKind, &Value)]) -> Matcher {
    let roots = layers
        .iter()
        .map(|(kind, policy)| {
            let name = format!("{}.yaml", kind.name());
            disk::root(
                *kind,
                Arc::new(Source::new(name, policy.to_string(), None).unwrap()),
            )
        })
        .collect();
    let policy: Policy = disk::load(roots).unwrap_or_else(|findings| panic!("{findings:?}"));
    Matcher::compile(policy)
}

// --- calls

const TOUCHED: &[&str] = &[
    "a.txt",
    "src/a.rs",
    "src/z.rs",
    "SRC/A.RS",
    ".env",
    "src/.env.local",
    "/etc/passwd",
    "../other/x",
    "docs",
    "docs/x.md",
    "/home/dev/.ssh/id_rsa",
    "src/../.env",
    "/w/keys/k",
];
const URLS: &[&str] = &[
    "https://docs.rs/x",
    "https://api.docs.rs",
    "http://example.org",
    "https://docs.rs:8443/",
    "http://2130706433/",
    "nonsense",
];
const LINES: &[&str] = &[
    "ls",
    "ls -la src",
    "cat .env",
    "cat src/a.rs a.txt",
    "git status",
    "git push --force origin main",
    "git -C src log",
    "rm -rf src",
    "rm -r -f docs",
    "echo hi",
    "echo hi > a.txt",
    "curl https://docs.rs/x",
    "curl -o .env http://example.org",
    "sudo rm a.txt",
    "./run.sh",
    "cat $FILE",
    "$CMD x",
    "cat src/*",
    "grep -r x .",
    "find src -delete",
    "python3 -c 'print(1)'",
    "cp a.txt docs/x.md",
    "tee .env",
    "ssh box ls",
];

fn args() -> impl Strategy<Value = (String, Value)> {
    prop_oneof![
        3 => select(TOUCHED).prop_map(|path| ("read".to_owned(), json!({"path": path}))),
        3 => select(TOUCHED).prop_map(|path| ("write".to_owned(), json!({"path": path, "content": "x"}))),
        2 => select(URLS).prop_map(|url| ("fetch".to_owned(), json!({"url": url}))),
        3 => select(LINES).prop_map(|line| ("bash".to_owned(), json!({"command": line}))),
        1 => vec(select(LINES), 2..4).prop_map(|lines| ("bash".to_owned(), json!({"command": lines.join(" && ")}))),
        2 => select(TOOLS).prop_map(|tool| (tool.to_owned(), json!({}))),
    ]
}

const KEYS: &[&str] = &[
    "r0",
    "r1",
    "r2",
    "r3",
    "tool:read",
    "tool:write",
    "tool:bash",
    "tool:deploy",
    "source:risk",
    "unresolved",
    "opaque",
    "paths.write.default",
    "outside-workspace:/etc/passwd",
];

fn approvals() -> impl Strategy<Value = Vec<Approval>> {
    subsequence(KEYS, 0..5).prop_map(|keys| {
        keys.into_iter()
            .map(|key| Approval {
                key: key.to_owned(),
                call: None,
            })
            .collect()
    })
}

fn grant() -> impl Strategy<Value = Grant> {
    (
        maybe(select(TOOLS)),
        maybe(select(&["r0", "r1", "r2"][..])),
        any::<bool>(),
        maybe(0i64..20),
    )
        .prop_map(|(tool, rule, session, expires_at)| Grant {
            user: Some("u".into()),
            session: session.then(|| "s".into()),
            tool: tool.map(str::to_owned),
            rule: rule.map(str::to_owned),
            created_by: None,
            created_at: None,
            expires_at,
        })
}

const SAID: &[Said] = &[
    Said::Allow,
    Said::Ask,
    Said::Deny,
    Said::Abstain,
    Said::Error,
];

fn call() -> impl Strategy<Value = Call> {
    (
        args(),
        maybe(any::<bool>()),
        maybe(select(&["dev", "prod", "moon"][..])),
        approvals(),
        subsequence(TOOLS, 0..3),
        vec(grant(), 0..3),
        maybe(select(SAID)),
        select(&Mode::ALL[..]),
        any::<bool>(),
    )
        .prop_map(
            |((tool, args), private, env, approvals, session, grants, said, (_, mode), bound)| {
                let mut call = Call::new(tool, args);
                call.cwd = Some("/w".into());
                call.home = Some("/home/dev".into());
                call.workspace = Some("/w".into());
                call.user = Some("u".into());
                call.session = Some("s".into());
                call.now = Some(10);
                call.mode = mode;
                if let Some(private) = private {
                    call.facts.insert("private".into(), json!(private));
                }
                if let Some(env) = env {
                    call.facts.insert("env".into(), json!(env));
                }
                if let Some(said) = said {
                    call.verdicts.insert("risk".into(), said);
                }
                call.session_approvals = session.into_iter().map(str::to_owned).collect();
                call.grants = grants;
                call.approvals = approvals;
                if bound {
                    let digest = call.digest();
                    for approval in &mut call.approvals {
                        approval.call = Some(digest.clone());
                    }
                }
                call
            },
        )
}

fn decided(matcher: &Matcher, call: &Call) -> Decision {
    decide(matcher, call, &FileView::None)
}

/// A decision's reasons without their order.
fn reasons(decision: &Decision) -> Vec<(String, Verdict, &'static str, String)> {
    let mut reasons: Vec<_> = decision
        .reasons
        .iter()
        .map(|reason| {
            (
                reason.key.clone(),
                reason.action,
                reason.kind.name(),
                reason.text.clone(),
            )
        })
        .collect();
    reasons.sort();
    reasons
}

proptest! {
    // PROPTEST_CASES=5000 looks further.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Law 1, of rules and protected files.
    #[test]
    fn a_deny_more_never_loosens(policy in any_policy(), mut rule in rule(), at in 0usize..8, files in select(PATHS), calls in vec(call(), 6)) {
        rule["action"] = json!("deny");
        rule.as_object_mut().unwrap().remove("forced");
        rule["id"] = json!("more");
        let before = matcher(&policy);
        let denied = matcher(&with_rule(&policy, rule, at));
        let mut protected = policy.clone();
        protected["protected"]["more"] = json!({"files": [files]});
        let protected = matcher(&protected);
        for call in calls {
            let was = decided(&before, &call).action;
            prop_assert!(decided(&denied, &call).action >= was, "a rule: {call:?}");
            prop_assert!(decided(&protected, &call).action >= was, "a protected file: {call:?}");
        }
    }

    /// Law 1, of verdicts.
    #[test]
    fn a_refusal_more_never_loosens(policy in any_policy(), calls in vec(call(), 6)) {
        let matcher = matcher(&policy);
        for call in calls {
            let was = decided(&matcher, &call).action;
            for source in ["risk", "stranger"] {
                let mut refused = call.clone();
                refused.verdicts.insert(source.into(), Said::Deny);
                prop_assert!(decided(&matcher, &refused).action >= was);
            }
        }
    }

    /// Law 1, of layers: another layer's deny rule holds for every layer.
    #[test]
    fn a_deny_of_another_layer_never_loosens(own in any_policy(), mut other in any_policy(), rule in rule(), project in any::<bool>(), calls in vec(call(), 6)) {
        let kind = if project { LayerKind::Project } else { LayerKind::Managed };
        let mut deny = rule;
        deny["action"] = json!("deny");
        deny.as_object_mut().unwrap().remove("forced");
        deny["id"] = json!("more");
        for rule in other["rules"].as_array_mut().unwrap() {
            rule["id"] = json!(format!("o{}", rule["id"].as_str().unwrap()));
        }
        let before = layered(&[(LayerKind::User, &own), (kind, &other)]);
        let after = layered(&[(LayerKind::User, &own), (kind, &with_rule(&other, deny, 0))]);
        for call in calls {
            prop_assert!(decided(&after, &call).action >= decided(&before, &call).action, "{call:?}");
        }
    }

    /// Law 2.
    #[test]
    fn an_approval_more_never_tightens(policy in any_policy(), calls in vec(call(), 6), key in select(KEYS), grant in grant(), tool in select(TOOLS)) {
        let matcher = matcher(&policy);
        for call in calls {
            let was = decided(&matcher, &call).action;
            let mut more = call.clone();
            more.approvals.push(Approval { key: key.into(), call: None });
            prop_assert!(decided(&matcher, &more).action <= was, "approval {key}: {call:?}");
            let mut more = call.clone();
            more.approvals.push(Approval { key: key.into(), call: Some(call.digest()) });
            prop_assert!(decided(&matcher, &more).action <= was, "bound approval {key}: {call:?}");
            let mut more = call.clone();
            more.grants.push(grant.clone());
            prop_assert!(decided(&matcher, &more).action <= was, "grant {grant:?}: {call:?}");
            let mut more = call.clone();
            more.session_approvals.push(tool.into());
            prop_assert!(decided(&matcher, &more).action <= was, "session {tool}: {call:?}");
            if !matches!(call.verdicts.get("risk"), Some(Said::Ask | Said::Deny)) {
                let mut more = call.clone();
                more.verdicts.insert("risk".into(), Said::Allow);
                prop_assert!(decided(&matcher, &more).action <= was, "endorsement: {call:?}");
            }
        }
    }

    /// Law 3.
    #[test]
    fn the_order_of_rules_is_nothing(policy in policy(false), order in any::<prop::sample::Index>(), seed in any::<u64>(), calls in vec(call(), 6)) {
        let mut other = policy.clone();
        let rules = other["rules"].as_array_mut().unwrap();
        if !rules.is_empty() {
            let by = order.index(rules.len());
            rules.rotate_left(by);
            if seed % 2 == 0 {
                rules.reverse();
            }
        }
        let (one, other) = (matcher(&policy), matcher(&other));
        for call in calls {
            let (one, other) = (decided(&one, &call), decided(&other, &call));
            prop_assert_eq!(one.action, other.action, "{:?}", &call);
            prop_assert_eq!(reasons(&one), reasons(&other), "{:?}", &call);
        }
    }

    /// Laws 5, 6 and 10, and that a refusal never hides behind the mode.
    #[test]
    fn allow_has_no_reasons_and_nobody_is_asked_where_nobody_is(policy in any_policy(), calls in vec(call(), 6)) {
        let (one, again) = (matcher(&policy), matcher(&policy));
        for call in calls {
            let decision = decided(&one, &call);
            prop_assert_eq!(decision.action == Verdict::Allow, decision.reasons.is_empty(), "{:?}", &call);
            let mut alone = call.clone();
            alone.mode = Mode::NonInteractive;
            let there = decided(&one, &alone);
            prop_assert_ne!(there.action, Verdict::Ask);
            let mut asked = call.clone();
            asked.mode = Mode::Interactive;
            prop_assert_eq!(decided(&one, &asked).action == Verdict::Allow, there.action == Verdict::Allow);
            let record = serde_json::to_string(&Record::of(&one, &call, &decision)).unwrap();
            let other = decided(&again, &call);
            prop_assert_eq!(record, serde_json::to_string(&Record::of(&again, &call, &other)).unwrap());
        }
    }

    /// Law 7.
    #[test]
    fn what_is_absolute_survives_everything(policy in any_policy(), mut rule in rule(), one in call(), inputs in vec(call(), 6)) {
        let mut bare = one.clone();
        bare.facts.clear();
        bare.approvals.clear();
        bare.grants.clear();
        bare.session_approvals.clear();
        bare.mode = Mode::Interactive;
        rule["action"] = json!("allow");
        rule.as_object_mut().unwrap().remove("forced");
        rule["id"] = json!("more");
        let before = matcher(&policy);
        let decision = decided(&before, &bare);
        let absolute = decision.reasons.iter().any(|reason| {
            reason.action == Verdict::Deny && matches!(reason.kind.name(), "protected" | "tier" | "verdict")
        });
        if absolute {
            let after = matcher(&with_rule(&policy, rule, 0));
            for other in inputs {
                let mut call = other;
                call.tool.clone_from(&bare.tool);
                call.args = bare.args.clone();
                // A source's refusal is its own: what another source says does not take it back.
                call.verdicts.remove("risk");
                call.verdicts.extend(bare.verdicts.clone());
                prop_assert_eq!(decided(&before, &call).action, Verdict::Deny, "{:?}", &call);
                prop_assert_eq!(decided(&after, &call).action, Verdict::Deny, "{:?}", &call);
            }
        }
    }

    /// Law 8.
    #[test]
    fn toml_and_yaml_decide_alike(policy in any_policy(), calls in vec(call(), 6)) {
        let yaml = policy.to_string();
        let source = Arc::new(Source::new("policy.yaml", yaml.clone(), None).unwrap());
        let toml = disk::spelled(&acl::source::read(&source).root, true);
        let (yaml, toml) = (disk::compile("policy.yaml", &yaml), disk::compile("policy.toml", &toml));
        for call in calls {
            let (one, other) = (decided(&yaml, &call), decided(&toml, &call));
            prop_assert_eq!(one.action, other.action);
            prop_assert_eq!(one.basis, other.basis);
            prop_assert_eq!(reasons(&one), reasons(&other));
        }
    }

    /// Law 9: what the indexes leave out does not fit.
    #[test]
    fn the_index_leaves_out_nothing_that_fits(policy in any_policy(), calls in vec(call(), 6)) {
        let matcher = matcher(&policy);
        for call in calls {
            let accesses: Vec<Access> = decided(&matcher, &call).judged.into_iter().map(|judged| judged.access).collect();
            let view = FileView::None;
            let folder = |path: &str| Folder::of(normal(path), &view);
            let frame = Frame { roots: vec![folder("/w")], home: Some(folder("/home/dev")), view: Some(&view), ..Frame::default() };
            let named = matcher.tool_rules(&call.tool);
            for (index, compiled) in matcher.rules.iter().enumerate() {
                let stance = match compiled.rule.action {
                    Verdict::Allow => Stance::Loosens,
                    _ => Stance::Tightens,
                };
                if let Judges::Tool = &compiled.rule.judges {
                    let fits = compiled.rule.tools.is_empty() || compiled.rule.tools.iter().any(|glob| glob.matches_text(&call.tool, false));
                    prop_assert_eq!(fits, named.contains(&index), "{:?}", &call);
                }
                for (at, access) in accesses.iter().enumerate() {
                    match (&access.kind, &compiled.rule.judges) {
                        (Kind::Path(path), Judges::Paths(own)) if own.modes.contains(&path.mode) => {
                            let located = Located::of(path, &frame);
                            let fits = paths::fit(own, &located, stance).may() || paths::fit_below(own, &located).may();
                            let found = matcher.path_rules(path.mode).candidates(&located).contains(&index);
                            prop_assert!(found || !fits, "{index} {path:?}");
                        }
                        (Kind::Host(host), Judges::Hosts(own)) => {
                            let contacted = Contacted::of(&host.url);
                            let found = matcher.host_rules().candidates(&contacted).contains(&index);
                            prop_assert!(found || !hosts::fit(own, &contacted, stance).may(), "{index} {host:?}");
                        }
                        (Kind::Command(_), Judges::Commands(own)) => {
                            let fits = commands::fit(own, &accesses, at, stance, &frame).fit.may();
                            let found = matcher.command_candidates(&commands::Spelled::of(&accesses, at).unwrap()).contains(&index);
                            prop_assert!(found || !fits, "{index} {access:?}");
                        }
                        _ => {}
                    }
                }
            }
            for (index, set) in matcher.protected.iter().enumerate() {
                for access in &accesses {
                    let Kind::Path(path) = &access.kind else { continue };
                    if !set.paths.modes.contains(&path.mode) { continue }
                    let located = Located::of(path, &frame);
                    let fits = paths::fit(&set.paths, &located, Stance::Tightens).may() || paths::fit_below(&set.paths, &located).may();
                    let found = matcher.protected_index(path.mode).candidates(&located).contains(&index);
                    prop_assert!(found || !fits, "{index} {path:?}");
                }
            }
        }
    }

    /// Law 4: whatever stands around a command line, it is judged no looser than by itself.
    #[test]
    fn wrapping_never_loosens(policy in any_policy(), line in select(LINES), other in select(LINES), inputs in call()) {
        let matcher = matcher(&policy);
        wrapped(&matcher, line, other, &inputs)?;
    }

    /// Law 4, with the shipped policies.
    #[test]
    fn wrapping_never_loosens_the_shipped(at in any::<prop::sample::Index>(), line in select(LINES), other in select(LINES), inputs in call()) {
        wrapped(at.get(shipped()), line, other, &inputs)?;
    }
}

fn shipped() -> &'static [Matcher] {
    static SHIPPED: std::sync::OnceLock<Vec<Matcher>> = std::sync::OnceLock::new();
    SHIPPED.get_or_init(|| {
        let preset = |name| {
            let source = acl::presets::find(name).unwrap();
            let policy = disk::load(vec![disk::root(LayerKind::User, source)]).unwrap();
            Matcher::compile(policy)
        };
        acl::presets::names().map(preset).collect()
    })
}

fn wrapped(matcher: &Matcher, line: &str, other: &str, inputs: &Call) -> Result<(), TestCaseError> {
    let judged = |line: &str| {
        let mut call = inputs.clone();
        call.tool = "bash".into();
        call.args = json!({"command": line}).into();
        // An approval that is bound to a call is bound to its spelling.
        let digest = call.digest();
        for approval in &mut call.approvals {
            if approval.call.is_some() {
                approval.call = Some(digest.clone());
            }
        }
        decided(matcher, &call).action
    };
    let alone = judged(line);
    let simple = !line.contains(['\'', '$', '*', '>']);
    let mut spellings = vec![
        format!("{line} && {other}"),
        format!("{other}; {line}"),
        format!("{line} | {other}"),
        format!("{other} || {line}"),
        format!("({line})"),
        format!("{{ {line}; }}"),
        format!("$({line})"),
        format!("echo \"$({line})\""),
        format!("if true; then {line}; fi"),
        format!("while {line}; do :; done"),
        format!("f() {{ {line}; }}; f"),
        format!("! {line}"),
        format!("{line} &"),
        format!("echo `{line}`"),
    ];
    if simple {
        spellings.extend([
            format!("bash -c '{line}'"),
            format!("sh -c '{line}'"),
            format!("env X=1 {line}"),
            format!("timeout 5 {line}"),
            format!("nice {line}"),
            format!("X=1 {line}"),
            format!("eval '{line}'"),
        ]);
    }
    for spelling in spellings {
        prop_assert!(
            judged(&spelling) >= alone,
            "`{line}` is {alone}, `{spelling}` is {}",
            judged(&spelling)
        );
    }
    if simple {
        // Quoting a word changes nothing.
        let words: Vec<&str> = line.split(' ').collect();
        for at in 0..words.len() {
            for quote in ["'", "\""] {
                let quoted: Vec<String> = words
                    .iter()
                    .enumerate()
                    .map(|(index, word)| match index == at {
                        true => format!("{quote}{word}{quote}"),
                        false => (*word).to_owned(),
                    })
                    .collect();
                let quoted = quoted.join(" ");
                prop_assert_eq!(judged(&quoted), alone, "`{}` and `{}`", line, quoted);
            }
        }
    }
    Ok(())
}

/// What the generators make is of every kind: laws about nothing hold easily.
#[test]
fn what_is_generated_is_mixed() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..300 {
        let policy = any_policy().new_tree(&mut runner).unwrap().current();
        let matcher = matcher(&policy);
        for call in vec(call(), 6).new_tree(&mut runner).unwrap().current() {
            let decision = decided(&matcher, &call);
            *seen.entry(decision.action.name()).or_insert(0) += 1;
            *seen.entry(decision.basis.name()).or_insert(0) += 1;
        }
    }
    for (what, least) in [
        ("allow", 250),
        ("ask", 250),
        ("deny", 400),
        ("rule", 200),
        ("protected", 15),
        ("forced", 30),
        ("verdict", 20),
        ("tier", 100),
        ("mode", 50),
        ("workspace", 15),
        ("approval", 5),
        ("session", 5),
        ("grant", 5),
        ("endorsement", 3),
    ] {
        let times = seen.get(what).copied().unwrap_or(0);
        assert!(times >= least, "{what} came up {times} times: {seen:?}");
    }
}
