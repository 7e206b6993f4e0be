//! What is claimed over all calls agrees with trying calls: small policies at random, and every call of a table.

#![cfg(test)]

use super::tests::matcher as matcher_of;
use super::{Proof, Rules, changed, hidden, rules};
use crate::call::files::FileView;
use crate::call::{Call, Said};
use crate::decision::decide;
use crate::finding::Finding;
use crate::lint;
use crate::matcher::Matcher;
use crate::policy::Verdict;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Statements by the list they stand in. A policy is some of them.
const STATEMENTS: &[(&str, &str)] = &[
    ("commands allow", "'git branch'"),
    ("commands allow", "'git branch *'"),
    ("commands allow", "'git push'"),
    ("commands allow", "'git push -f'"),
    ("commands allow", "'ls'"),
    ("commands allow", "'ls -l'"),
    ("commands allow", "'cat'"),
    ("commands allow", "'echo'"),
    ("commands allow", "{ match = 'rm', without = ['-r'] }"),
    ("commands allow", "{ match = 'rm', when = { live = true } }"),
    ("commands allow", "{ match = 'ls', only = 'read' }"),
    ("commands ask", "'git'"),
    ("commands ask", "{ match = 'git', forced = true }"),
    ("commands ask", "{ match = 'ls', unless = { live = true } }"),
    ("commands deny", "'rm'"),
    ("commands deny", "{ match = 'rm', with = ['-r'] }"),
    ("commands deny", "{ match = 'git', except = ['git push'] }"),
    ("commands deny", "{ match = 'ls', tools = ['bash'] }"),
    ("paths.read allow", "'**'"),
    ("paths.read allow", "'src/**'"),
    ("paths.read allow", "'/etc/**'"),
    ("paths.read ask", "'src/a'"),
    ("paths.read deny", "'.env'"),
    ("paths.read deny", "'src/.env'"),
    ("paths.read deny", "'src/a/**'"),
    ("paths.write allow", "'src/**'"),
    ("paths.write deny", "{ match = 'src', except = ['src/a'] }"),
    ("paths.write deny", "'src/a'"),
    ("hosts allow", "'docs.rs'"),
    ("hosts allow", "'*.docs.rs'"),
    ("hosts deny", "'a.docs.rs'"),
    ("hosts deny", "'https://docs.rs'"),
    ("hosts deny", "'docs.rs:443'"),
    (
        "hosts deny",
        "{ match = '*.docs.rs', except = ['http://a.docs.rs'] }",
    ),
    ("hosts ask", "'*:8443'"),
    (
        "hosts allow",
        "{ match = 'http://*', except = ['docs.rs:80'] }",
    ),
    ("commands ask", "{ match = 'ls', except = ['ls'] }"),
    ("commands deny", "{ match = 'rm -r', except = ['rm * x'] }"),
    ("commands deny", "{ match = 'rm', operands = ['src/**'] }"),
    (
        "commands deny",
        "{ match = 'git push', without = ['-f|--dry'] }",
    ),
    ("commands deny", "'rm [a-m]*'"),
    ("commands deny", "'rm [!a-m]*'"),
    ("commands allow", "'curl'"),
    ("rules", "{ action = 'ask', tools = ['mcp__*'] }"),
    (
        "rules",
        "{ action = 'deny', tools = ['mcp__?'], args = { p = ['x', '.env'] } }",
    ),
    (
        "rules",
        "{ action = 'ask', tools = ['*'], unless = { live = true } }",
    ),
    (
        "rules",
        "{ action = 'deny', commands = ['rm'], when = { live = true } }",
    ),
    (
        "rules",
        "{ action = 'ask', hosts = ['docs.rs'], forced = true }",
    ),
    ("tiers allow", "'f*'"),
    ("tiers allow", "'bash'"),
    ("tiers allow", "'mcp__*'"),
    ("tiers ask", "'foo'"),
    ("tiers deny", "'mcp__a'"),
    ("tiers deny", "'fetch'"),
    ("tiers default", "'deny'"),
    ("tiers unknown", "'default'"),
    ("workspace outside", "'allow'"),
    ("workspace roots", "['src']"),
    ("commands opaque", "'deny'"),
    ("commands default", "'deny'"),
    ("paths.read default", "'allow'"),
    ("hosts default", "'deny'"),
    ("protected.one files", "'.env'"),
    ("protected.two files", "'src/b'"),
    ("tools mcp__a", "{ reads = 'p' }"),
    ("tools foo", "{ writes = 'p' }"),
    ("facts live", "{ default = true }"),
    ("facts live", "{ default = false }"),
    ("sources", "{ name = 's' }"),
    ("sources", "{ name = 's', on_error = 'abstain' }"),
];

/// Rules that are tried in order.
const RULES: &[&str] = &[
    "action = 'allow'\ncommands = ['git']",
    "action = 'deny'\ncommands = ['git push']",
    "action = 'allow'\ncommands = ['git push']",
    "action = 'ask'\ncommands = ['git push -f']",
    "action = 'deny'\ncommands = ['rm']",
    "action = 'allow'\ncommands = ['rm']\nwhen = { live = true }",
    "action = 'allow'\ncommands = ['rm x']",
    "action = 'allow'\npaths = ['**']",
    "action = 'deny'\npaths = ['src/a']",
    "action = 'ask'\npaths = ['src/**']\naccess = 'write'",
    "action = 'allow'\npaths = ['src']",
    "action = 'deny'\ntools = ['foo']",
    "action = 'allow'\ntools = ['f*']",
];

/// What invariants say is never allowed.
const NEVER: &[&str] = &[
    "commands = ['rm']",
    "commands = ['git push']",
    "commands = ['rm -r', 'ls']",
    "hosts = ['docs.rs']",
    "hosts = ['*.docs.rs']",
    "hosts = ['http://docs.rs']",
    "paths = ['.env']",
    "paths = ['src/a/**'], access = 'write'",
    "tools = ['fetch']",
    "tools = ['mcp__*']",
];

const LINES: &[&str] = &[
    "git",
    "git push",
    "git push -f",
    "git push x",
    "git branch",
    "git branch x",
    "git branch -D x",
    "git -C a push",
    "ls",
    "ls -l",
    "ls src/a",
    "ls -R src",
    "cat .env",
    "cat /etc/x",
    "cat src/b",
    "echo x",
    "echo x > src/a",
    "echo x > y",
    "rm x",
    "rm -r x",
    "env rm x",
    "sudo ls",
    "'",
    "eval \"$x\"",
    "curl https://docs.rs/",
    "curl http://docs.rs/",
    "curl $X",
    "curl https://evil.com/",
    "rm $X",
    "rm -r $X",
    "ls $X",
    "ls *",
    "git $X",
    "git push $X",
    "git push --dry",
    "$X push",
    "ls | xargs rm",
    "rm src/a",
    "/tmp/rm x",
    "cat $X",
    "curl https://a.docs.rs/",
];

const PATHS: &[&str] = &[
    "x",
    "src",
    "src/a",
    "src/a/b",
    "src/b",
    "src/b/c",
    "src/x",
    ".env",
    "src/.env",
    "/etc/x",
    "/elsewhere/x",
];

fn calls() -> Vec<Call> {
    let mut all: Vec<(&str, Value)> = Vec::new();
    all.extend(
        LINES
            .iter()
            .map(|line| ("bash", json!({ "command": line }))),
    );
    for tool in ["read", "write", "search", "edit"] {
        all.extend(PATHS.iter().map(|path| (tool, json!({ "path": path }))));
    }
    for host in ["docs.rs", "a.docs.rs", "b.docs.rs", "example.org"] {
        let urls = [
            format!("https://{host}/"),
            format!("http://{host}/"),
            format!("https://{host}:8443/"),
            format!("http://{host}:443/"),
            format!("ssh://{host}/"),
            host.to_owned(),
        ];
        all.extend(urls.map(|url| ("fetch", json!({ "url": url }))));
    }
    for tool in ["mcp__a", "mcp__b", "foo", "fox", "some_tool"] {
        all.extend(["x", ".env", "/elsewhere/x"].map(|path| (tool, json!({ "p": path }))));
    }
    let mut out = Vec::new();
    for (tool, args) in all {
        let plain = Call {
            cwd: Some("/workspace".into()),
            home: Some("/home/user".into()),
            ..Call::new(tool, args)
        };
        out.extend([true, false].map(|live| {
            let mut call = plain.clone();
            call.facts.insert("live".into(), json!(live));
            call
        }));
        out.extend([Said::Allow, Said::Error].map(|said| {
            let mut call = plain.clone();
            call.verdicts.insert("s".into(), said);
            call
        }));
        out.push(plain);
    }
    out
}

/// The text of a policy of some statements; of two that cannot stand together the first counts.
fn policy(of: &[bool]) -> String {
    let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for ((list, text), on) in STATEMENTS.iter().zip(of) {
        if *on {
            lists.entry(list).or_default().push(text);
        }
    }
    let mut facts = "{}";
    let mut tables: BTreeMap<&str, String> = BTreeMap::new();
    for (list, texts) in lists {
        let all = texts.join(", ");
        if list == "rules" {
            *tables.entry("").or_default() += &format!("rules = [{all}]\n");
            continue;
        }
        match list.split_once(' ') {
            None => *tables.entry("").or_default() += &format!("{list} = [{}]\n", texts[0]),
            Some(("facts", _)) => facts = texts[0],
            Some((table, key @ ("allow" | "ask" | "deny" | "files"))) => {
                *tables.entry(table).or_default() += &format!("{key} = [{all}]\n");
            }
            Some((table, key)) => {
                *tables.entry(table).or_default() += &format!("{key} = {}\n", texts[0]);
            }
        }
    }
    let mut out = tables.remove("").unwrap_or_default();
    out += &format!("[facts]\nlive = {facts}\n");
    for (table, text) in tables {
        out += &format!("[{table}]\n{text}");
    }
    out
}

fn ordered(of: &[usize]) -> String {
    let rules = of.iter().filter_map(|at| RULES.get(*at));
    let rules: String = rules.map(|rule| format!("[[rules]]\n{rule}\n")).collect();
    format!("resolution = 'first-match'\n[facts]\nlive = {{}}\n{rules}")
}

fn verdict(matcher: &Matcher, call: &Call) -> (Verdict, bool) {
    let decision = decide(matcher, call, &FileView::None);
    let forced = decision.reasons.iter().any(|reason| reason.forced);
    (decision.action, forced && decision.action == Verdict::Ask)
}

/// What `changed` says of two policies holds for all calls of the table.
fn differ(old: &str, new: &str) -> Result<(), TestCaseError> {
    let (before, after) = (matcher_of(old), matcher_of(new));
    let changes = changed(&before, &after);
    for change in &changes {
        for (way, loosened) in [
            (&change.fate.loosened, true),
            (&change.fate.tightened, false),
        ] {
            let Some(moved) = way.shown() else { continue };
            let call = Call::from_json(moved.witness.json().to_string().as_bytes()).unwrap();
            let (old_says, new_says) = (verdict(&before, &call), verdict(&after, &call));
            prop_assert!(old_says != new_says, "{change:?}\n{old}\n---\n{new}");
            prop_assert_eq!(loosened, new_says < old_says);
        }
    }
    // What no change may do no call shows.
    let mut fates = changes.iter().map(|change| &change.fate);
    let loosens = fates.clone().any(|fate| fate.loosened.may());
    let tightens = fates.any(|fate| fate.tightened.may());
    for call in calls().iter().filter(|_| !loosens || !tightens) {
        let (old_says, new_says) = (verdict(&before, call), verdict(&after, call));
        let fits = (loosens || new_says >= old_says) && (tightens || new_says <= old_says);
        let told: Vec<_> = changes
            .iter()
            .map(|own| (&own.what, own.fate.told()))
            .collect();
        prop_assert!(fits, "{call:?}: {told:?}\n{old}\n---\n{new}");
    }
    Ok(())
}

/// Of an invariant that is proved no call of the table is an instance.
fn holds(text: &str) -> Result<(), TestCaseError> {
    let never = NEVER
        .iter()
        .enumerate()
        .map(|(at, never)| format!("[[invariants]]\nid = 'i{at}'\nnever_allow = {{ {never} }}\n"));
    let text = format!("{text}{}", never.collect::<String>());
    let matcher = matcher_of(&text);
    let own = Rules::of(&matcher);
    for invariant in rules::invariants(&matcher) {
        if own.invariant(invariant) == Proof::Holds {
            for call in calls() {
                prop_assert!(
                    !own.is_broken_by(invariant, &call),
                    "{}: {call:?}\n{text}",
                    invariant.id
                );
            }
        }
    }
    Ok(())
}

/// What the lints say of a policy is so: the call that a finding prints shows it.
fn findings(text: &str) -> Result<(), TestCaseError> {
    let matcher = matcher_of(text);
    for finding in lint::run(&matcher, &Default::default(), &Default::default()).told {
        let Some(json) = &finding.witness else {
            continue;
        };
        let call = Call::from_json(json.to_string().as_bytes()).unwrap();
        let decision = decide(&matcher, &call, &FileView::None);
        let told = || format!("{}: {json}: {decision:?}\n{text}", finding.message);
        let fits = own_rule(&matcher, &finding).map(|rule| {
            let mut judged = decision.judged.iter();
            judged.any(|judged| hidden::fits(judged, rule).is_some())
        });
        match finding.code {
            "unreachable-allow" => prop_assert!(decision.action > Verdict::Allow, "{}", told()),
            "unproved-invariant" | "broad-allow" => {
                prop_assert_eq!(decision.action, Verdict::Allow, "{}", told())
            }
            "shadowed-rule" => prop_assert!(
                fits == Some(true)
                    && decision
                        .decided_by
                        .as_ref()
                        .is_none_or(|by| Some(&by.rule) != key(&matcher, &finding)),
                "{}",
                told()
            ),
            "redundant-rule" => {
                prop_assert_eq!(fits, Some(true), "{}", told());
                let without = matcher_of(&without(&finding));
                for call in calls() {
                    let same = verdict(&matcher, &call) == verdict(&without, &call);
                    prop_assert!(same, "{call:?}\n{}", told());
                }
            }
            "conflicting-rules" => prop_assert_eq!(fits, Some(true), "{}", told()),
            _ => {}
        }
    }
    Ok(())
}

/// The policy with a pattern that takes no call of the table, in the place of the one that a finding is about.
fn without(finding: &Finding) -> String {
    let label = &finding.labels[0];
    let (before, rest) = label.source.text.split_at(label.span.start);
    let after = &rest[label.span.end - label.span.start..];
    let text = format!("{before}'zzzz'{after}");
    text.trim_start_matches("version = 1\n").to_owned()
}

/// The rule that a finding is about.
fn own_rule(matcher: &Matcher, finding: &Finding) -> Option<usize> {
    let at = finding.labels.first()?.span.start;
    let rules = matcher.rules.iter().enumerate();
    let before = rules.filter(|(_, own)| own.rule.place.span.start <= at);
    before
        .max_by_key(|(_, own)| own.rule.place.span.start)
        .map(|own| own.0)
}

fn key<'m>(matcher: &'m Matcher, finding: &Finding) -> Option<&'m String> {
    matcher
        .rules
        .get(own_rule(matcher, finding)?)
        .map(|own| &own.key)
}

fn some() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(prop::bool::weighted(0.3), STATEMENTS.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn changes_agree_with_trying_calls(of in some(), turned in prop::collection::vec(0..STATEMENTS.len(), 1..4)) {
        let mut other = of.clone();
        turned.iter().for_each(|at| other[*at] = !other[*at]);
        differ(&policy(&of), &policy(&other))?;
    }

    #[test]
    fn changes_of_one_statement_agree(at in 0..STATEMENTS.len(), of in some()) {
        // Few others, so that the one has an effect.
        let mut of: Vec<bool> = of.iter().enumerate().map(|(other, on)| *on && other % 3 == at % 3).collect();
        let one = policy(&of);
        of[at] = !of[at];
        differ(&one, &policy(&of))?;
    }

    #[test]
    fn changes_of_order_agree(
        of in prop::collection::vec(0..RULES.len(), 1..6),
        other in prop::collection::vec(0..RULES.len(), 1..6),
        (from, to) in (0usize..6, 0usize..6),
    ) {
        differ(&ordered(&of), &ordered(&other))?;
        let mut moved = of.clone();
        moved.swap(from % of.len(), to % of.len());
        differ(&ordered(&of), &ordered(&moved))?;
    }

    #[test]
    fn proved_invariants_hold(of in some(), order in prop::collection::vec(0..RULES.len(), 1..7)) {
        holds(&policy(&of))?;
        holds(&ordered(&order))?;
    }

    #[test]
    fn findings_show_what_they_say(of in some(), order in prop::collection::vec(0..RULES.len(), 1..7)) {
        findings(&policy(&of))?;
        findings(&ordered(&order))?;
    }
}
