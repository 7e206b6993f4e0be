//! What is claimed holds: unions, facts, conditions, invariants, differences; each with a call that shows it.

use super::*;
use crate::matcher::Matcher;
use crate::policy::{LayerKind, Root, Trust, load};
use crate::source::Source;
use std::sync::Arc;

pub fn matcher(text: &str) -> Matcher {
    let source = Source::new("p.toml", format!("version = 1\n{text}"), None).unwrap();
    let root = Root {
        kind: LayerKind::User,
        source: Arc::new(source),
        folder: None,
        trusted: Trust::Yes,
    };
    let policy = load(vec![root], &|name, _| Err(format!("no file `{name}`")));
    Matcher::compile(policy.unwrap_or_else(|findings| panic!("{text}: {findings:?}")))
}

/// What hides the last entry, or without order the one that allows most: how many, and the call that shows it.
fn hidden(text: &str) -> Option<(usize, String)> {
    let matcher = matcher(text);
    let rules = Rules::of(&matcher);
    let mut entries = rules.entries().iter().enumerate();
    let own = match text.contains("first-match") {
        true => entries.next_back(),
        false => entries.min_by_key(|(_, entry)| entry.action()),
    };
    let hidden = rules.hidden(own?.0).yes()?;
    Some((hidden.by.len(), hidden.witness.to_string()))
}

#[test]
fn what_is_hidden() {
    let first = |rules: &str| {
        let mut text = "resolution = \"first-match\"\n".to_owned();
        for rule in rules.split(';') {
            text.push_str(&format!("[[rules]]\n{}\n", rule.trim().replace(", ", "\n")));
        }
        hidden(&text)
    };
    let facts = "[facts]\nlive = { default = false }\nenv = { values = [\"dev\", \"prod\"] }\n";
    let rows = [
        (
            first(
                "action = 'allow', commands = ['git *']; action = 'deny', commands = ['git push']",
            ),
            Some((1, "git push")),
        ),
        // Only together: the first lines are one word long, or longer.
        (
            first(
                "action = 'ask', commands = ['rm'], exact = true; action = 'allow', commands = ['rm *']; action = 'deny', commands = ['rm']",
            ),
            Some((2, "rm")),
        ),
        (
            first("action = 'ask', commands = ['rm x']; action = 'deny', commands = ['rm']"),
            None,
        ),
        (
            hidden("[commands]\nallow = ['ls -l']\nask = ['ls']"),
            Some((1, "ls -l")),
        ),
        (
            hidden("[paths.read]\nallow = ['src/**']\n[protected.s]\nfiles = ['src']"),
            Some((1, "read src")),
        ),
        (
            hidden(&format!(
                "{facts}[[rules]]\naction = 'deny'\ncommands = ['make']\nwhen = {{ live = true }}\n[[rules]]\naction = 'deny'\ncommands = ['make']\nunless = {{ live = true }}\n[[rules]]\naction = 'ask'\ncommands = ['make x']"
            )),
            Some((2, "make x")),
        ),
        (
            hidden(&format!(
                "{facts}[[rules]]\naction = 'deny'\ncommands = ['make']\nwhen = {{ env = 'prod' }}\n[[rules]]\naction = 'ask'\ncommands = ['make x']"
            )),
            None,
        ),
        // A carve-out opens what it names.
        (
            hidden(
                "[commands]\nallow = ['git push']\ndeny = [{ match = 'git', except = ['git push'] }]",
            ),
            None,
        ),
        // With a word and without it is all that there is; not to an allow, which counts what is taken back as neither.
        (
            hidden(
                "[commands]\nask = ['git push']\ndeny = [{ match = 'git push', with = ['-f|--force'] }, { match = 'git push', without = ['-f'] }]",
            ),
            Some((2, "git push")),
        ),
        (
            hidden(
                "[commands]\nask = ['git push']\ndeny = [{ match = 'git push', with = ['-f'] }, { match = 'git push', without = ['-f|-n'] }]",
            ),
            None,
        ),
        (
            first(
                "action = 'allow', commands = ['git push'], with = ['-f']; action = 'allow', commands = ['git push'], without = ['-f']; action = 'deny', commands = ['git push']",
            ),
            None,
        ),
        (
            hidden(
                "[commands]\nallow = ['rm x']\ndeny = [{ match = 'rm', with = ['-r', '-f'] }, { match = 'rm', without = ['-f'] }, { match = 'rm', without = ['-r'] }]",
            ),
            Some((3, "rm x")),
        ),
    ];
    for (at, (got, want)) in rows.into_iter().enumerate() {
        let got = got.as_ref().map(|(by, shown)| (*by, shown.as_str()));
        match (got, want) {
            (Some((by, shown)), Some((fewest, call))) => {
                assert!(
                    by == fewest && shown.starts_with(call),
                    "{at}: {got:?}, not {want:?}"
                );
            }
            (got, want) => assert_eq!(got.is_some(), want.is_some(), "{at}: {got:?}"),
        }
    }
}

#[test]
fn what_is_redundant() {
    let redundant = |text: &str| {
        let matcher = matcher(&format!("[commands]\ndeny = [{text}]"));
        Rules::of(&matcher)
            .redundant(0, |_, _| true)
            .yes()
            .is_some()
    };
    assert!(redundant("'a x', 'a'"));
    assert!(redundant("{ match = 'a', with = ['-x'] }, 'a'"));
    // Each may take `$X`, and neither surely does.
    assert!(!redundant("'a *', 'a [a-m]*', 'a [!a-m]*'"));
    assert!(!redundant("'a x', { match = 'a', except = ['a y'] }"));
}

#[test]
fn invariants() {
    let rows = [
        ("", "tools = ['fetch']", "holds"),
        ("[tiers]\nallow = ['f*']", "tools = ['fetch']", "broken"),
        (
            "[tiers]\nallow = ['f*']\ndeny = ['fetch']",
            "tools = ['fetch']",
            "holds",
        ),
        (
            "[commands]\nallow = ['git push origin']",
            "commands = ['git push']",
            "broken",
        ),
        (
            "[commands]\nallow = ['git']\nask = [{ match = 'git push', with = ['-f'] }, { match = 'git push', without = ['-f'] }]",
            "commands = ['git push']",
            "holds",
        ),
        (
            "[commands]\nallow = ['git']\nask = ['git push']",
            "commands = ['git push']",
            "holds",
        ),
        (
            "[tiers]\nallow = ['write']",
            "paths = ['.git/**']\naccess = 'write'",
            "broken",
        ),
        (
            "[tiers]\nallow = ['write']\n[paths.write]\ndeny = ['.git']",
            "paths = ['.git/**']\naccess = 'write'",
            "holds",
        ),
        (
            "[commands]\nallow = ['cp']",
            "paths = ['.git/**']\naccess = 'write'",
            "broken",
        ),
        (
            "[commands]\nallow = ['x']",
            "paths = ['.git/**']\naccess = 'write'",
            "unknown",
        ),
        // A tool passes by what rules say of its arguments too.
        (
            "[hosts]\nallow = ['docs.rs']",
            "tools = ['fetch']",
            "broken",
        ),
        ("[commands]\nallow = ['ls']", "tools = ['bash']", "broken"),
        (
            "[commands]\nallow = ['ls']\n[[rules]]\naction = 'ask'\ntools = ['bash']",
            "tools = ['bash']",
            "holds",
        ),
        // A port and a scheme are a part of the host.
        (
            "[tiers]\nallow = ['*']\n[hosts]\ndeny = ['e.com:443']",
            "hosts = ['e.com']",
            "broken",
        ),
        (
            "[tiers]\nallow = ['*']\n[hosts]\ndeny = ['https://e.com']",
            "hosts = ['e.com']",
            "broken",
        ),
        (
            "[tiers]\nallow = ['*']\n[hosts]\ndeny = [{ match = '*.e.com', except = ['http://a.e.com'] }]",
            "hosts = ['*.e.com']",
            "broken",
        ),
        (
            "[tiers]\nallow = ['*']\n[hosts]\ndeny = ['e.com']",
            "hosts = ['https://e.com:8443']",
            "holds",
        ),
        // An authority that endorses a call lifts the ask of its tier.
        (
            "sources = [{ name = 's' }]\n[tiers]\nask = ['bash']",
            "commands = ['rm']",
            "broken",
        ),
        ("[tiers]\nask = ['bash']", "commands = ['rm']", "holds"),
        (
            "sources = [{ name = 's', on_error = 'deny' }]\n[tiers]\nallow = ['bash']",
            "commands = ['rm']",
            "broken",
        ),
        (
            "[paths.read]\ndefault = 'allow'",
            "paths = ['.env']\naccess = 'read'",
            "broken",
        ),
        // Started by another command, left out by a deny, by another path.
        (
            "[commands]\nallow = ['sudo rm']",
            "commands = ['rm']",
            "broken",
        ),
        (
            "[commands]\nallow = ['find ** -exec *']",
            "commands = ['rm']",
            "broken",
        ),
        (
            "[tiers]\nallow = ['bash']\n[commands]\ndeny = [{ match = 'rm', without = ['-n'] }]",
            "commands = ['rm']",
            "broken",
        ),
        (
            "[tiers]\nallow = ['bash']\n[commands]\ndeny = ['/bin/rm']",
            "commands = ['rm']",
            "broken",
        ),
    ];
    for (policy, never, want) in rows {
        let never = never.replace('\n', ", ");
        let matcher = matcher(&format!(
            "{policy}\n[[invariants]]\nid = 'i'\nnever_allow = {{ {never} }}"
        ));
        let rules = Rules::of(&matcher);
        let invariant = rules::invariants(&matcher).next().unwrap();
        let proof = rules.invariant(invariant);
        let got = match &proof {
            Proof::Holds => "holds",
            Proof::Broken(_) => "broken",
            Proof::Unknown => "unknown",
        };
        assert_eq!(got, want, "{policy}: {never}: {proof:?}");
    }
}

#[test]
fn differences() {
    let rows = [
        (
            "[commands]\nask = ['git push']",
            "[commands]\nallow = ['git push']",
            "loosened",
        ),
        (
            "[commands]\nallow = ['ls']",
            "[commands]\nallow = ['ls', 'ls -l']",
            "equivalent",
        ),
        (
            "[commands]\nallow = ['ls']",
            "[commands]\nallow = ['ls']\ndeny = ['ls -l']",
            "tightened",
        ),
        (
            "[commands]\ndeny = ['a', 'b']",
            "[commands]\ndeny = ['{a,b}']",
            "equivalent",
        ),
        (
            "[paths.read]\ndeny = ['x/y/**']",
            "[paths.read]\ndeny = ['x/y']",
            "equivalent",
        ),
        ("[protected.s]\nfiles = ['.env']", "", "loosened"),
        (
            "[tiers]\nask = ['bash']",
            "[tiers]\ndeny = ['bash']",
            "tightened",
        ),
        (
            "[hosts]\ndefault = 'ask'",
            "[hosts]\ndefault = 'deny'",
            "tightened",
        ),
        (
            "[commands]\ndeny = [{ match = 'rm', with = ['-r'] }]\nallow = ['rm']",
            "[commands]\ndeny = [{ match = 'rm', with = ['-r', '-f'] }]\nallow = ['rm']",
            "loosened",
        ),
        // What is tightened hides nothing that is loosened.
        (
            "[tiers]\nallow = ['mcp__git__*']\n[[rules]]\naction = 'ask'\ntools = ['mcp__*']",
            "[tiers]\nallow = ['mcp__git__*']",
            "loosened",
        ),
        (
            "[facts]\nenv = {}\nrole = {}\n[[rules]]\naction = 'deny'\ncommands = ['a']\nwhen = { env = 'p' }",
            "[facts]\nenv = {}\nrole = {}\n[[rules]]\naction = 'deny'\ncommands = ['a', 'b']\nwhen = { env = 'p', role = 'i' }",
            "loosened",
        ),
        (
            "[commands]\ndeny = [{ match = 'git push', without = ['--dry'] }]",
            "[commands]\ndeny = [{ match = ['git push', 'git pull'], without = ['--dry|--tags'] }]",
            "loosened",
        ),
        (
            "[tiers]\nallow = ['t*']\n[[rules]]\naction = 'deny'\ntools = ['ta']\nargs = { q = ['u', 'v'] }",
            "[tiers]\nallow = ['t*']\n[[rules]]\naction = 'deny'\ntools = ['ta', 'tb']\nargs = { q = 'u' }",
            "loosened",
        ),
        // A port and a scheme are a part of the host.
        (
            "[hosts]\nallow = ['https://e.com']",
            "[hosts]\nallow = ['e.com']",
            "loosened",
        ),
        (
            "[hosts]\ndeny = ['e.com']",
            "[hosts]\ndeny = ['e.com:443']",
            "loosened",
        ),
        (
            "[hosts]\ndeny = ['*']",
            "[hosts]\ndeny = ['*:443']",
            "loosened",
        ),
        (
            "[hosts]\ndeny = ['https://e.com']",
            "[hosts]\ndeny = ['https://e.com', 'https://e.com:8443']",
            "equivalent",
        ),
        // Without any rule about hosts what covers a command covers its connections.
        (
            "[commands]\nallow = ['curl']\n[hosts]\nallow = ['docs.rs']",
            "[commands]\nallow = ['curl']",
            "loosened",
        ),
        (
            "[tiers]\nallow = ['bash']",
            "[tiers]\nallow = ['bash']\n[commands]\ndefault = 'ask'",
            "tightened",
        ),
        (
            "[paths.write]\ndefault = 'ask'",
            "[paths.write]\ndefault = 'allow'",
            "loosened",
        ),
        // What cannot be computed may be any of two, and is surely neither.
        (
            "[commands]\ndeny = ['a *', 'a [a-m]*', 'a [!a-m]*']",
            "[commands]\ndeny = ['a [a-m]*', 'a [!a-m]*']",
            "loosened",
        ),
        (
            "[paths.read]\nask = [{ match = './p', except = ['./p'] }]",
            "[paths.read]\nask = [{ match = './p', except = ['*'] }]",
            "unknown",
        ),
        // A question keeps off the stricter default of its section.
        (
            "[commands]\ndefault = 'deny'",
            "[commands]\ndefault = 'deny'\nask = ['a']",
            "loosened",
        ),
        (
            "[commands]\ndeny = [{ match = 'rm', operands = ['keep/**'] }]",
            "",
            "loosened",
        ),
        (
            "[commands]\ndeny = [{ match = 'rm', operands = ['keep/**', 'tmp/**'] }]",
            "[commands]\ndeny = [{ match = 'rm', operands = ['keep/**'] }]",
            "loosened",
        ),
        (
            "resolution = 'first-match'\n[[rules]]\naction = 'deny'\ncommands = ['git push']\n[[rules]]\naction = 'allow'\ncommands = ['git']",
            "resolution = 'first-match'\n[[rules]]\naction = 'allow'\ncommands = ['git']\n[[rules]]\naction = 'deny'\ncommands = ['git push']",
            "loosened",
        ),
        (
            "resolution = 'first-match'\n[[rules]]\naction = 'deny'\ncommands = ['rm']\n[[rules]]\naction = 'allow'\ntools = ['bash']",
            "resolution = 'first-match'\n[[rules]]\naction = 'allow'\ntools = ['bash']\n[[rules]]\naction = 'deny'\ncommands = ['rm']",
            "loosened",
        ),
        // An authority that must speak is let speak.
        (
            "sources = [{ name = 's', on_error = 'deny' }]\n[tiers]\nallow = ['bash']\n[commands]\ndeny = ['a', 'b']",
            "sources = [{ name = 's', on_error = 'deny' }]\n[tiers]\nallow = ['bash']\n[commands]\ndeny = ['a']",
            "loosened",
        ),
        // Only the shell is open.
        (
            "[tiers]\nallow = ['bash']\ndeny = ['fetch']\n[hosts]\ndeny = ['e.com', 'f.com']",
            "[tiers]\nallow = ['bash']\ndeny = ['fetch']\n[hosts]\ndeny = ['e.com']",
            "loosened",
        ),
        (
            "[commands]\nask = [{ match = 'a', id = 'x' }]",
            "[commands]\nask = [{ match = 'a', id = 'y' }]",
            "equivalent",
        ),
        // Whatever a pattern takes, the same pattern takes it too.
        (
            "[commands]\ndeny = ['rm -rf', 'shred', 'rm -rf']",
            "[commands]\ndeny = ['rm -rf', 'shred']",
            "equivalent",
        ),
        (
            "[facts]\nx = {}\n[[rules]]\naction = 'ask'\ncommands = ['rm -rf', 'b']\nwhen = { x = true }",
            "[facts]\nx = {}\n[[rules]]\naction = 'ask'\ncommands = ['b', 'rm -rf']\nwhen = { x = true }",
            "equivalent",
        ),
        (
            "[facts]\nx = {}\n[[rules]]\naction = 'deny'\ncommands = ['rm -rf', 'b']\nwhen = { x = true }",
            "[facts]\nx = {}\n[[rules]]\naction = 'deny'\ncommands = ['b', 'rm -rf']\nwhen = { x = false }",
            "loosened",
        ),
    ];
    for (old, new, want) in rows {
        let (old_matcher, new_matcher) = (matcher(old), matcher(new));
        let changes = changed(&old_matcher, &new_matcher);
        let first = changes.first().map(|change| match change.fate.told() {
            Told::Loosened => "loosened",
            Told::Tightened => "tightened",
            Told::Equivalent => "equivalent",
            Told::Unknown | Told::NotLoosened => "unknown",
        });
        assert_eq!(first, Some(want), "{old} → {new}: {changes:#?}");
        assert!(changed(&old_matcher, &old_matcher).is_empty(), "{old}");
    }
}

#[test]
fn what_differs_besides_rules() {
    let rows = [
        (
            "[tiers]\nallow = ['read']",
            "[tiers]\nallow = ['read']\n[workspace]\noutside = 'allow'",
            "workspace.outside",
            true,
        ),
        (
            "[paths.read]\nallow = ['**']",
            "[paths.read]\nallow = ['**']\n[workspace]\nroots = ['/a']",
            "workspace.roots",
            true,
        ),
        (
            "[tools]\nt = { reads = 'p' }\n[tiers]\nallow = ['t']\n[paths.read]\ndeny = ['.env']",
            "[tools]\nt = {}\n[tiers]\nallow = ['t']\n[paths.read]\ndeny = ['.env']",
            "tools.t",
            true,
        ),
        (
            "[facts]\na = { default = false }\n[commands]\ndeny = [{ match = 'ls', when = { a = true } }]",
            "[facts]\na = { default = true }\n[commands]\ndeny = [{ match = 'ls', when = { a = true } }]",
            "facts.a",
            true,
        ),
        (
            "[facts]\na = { default = false }",
            "[facts]\na = { default = true }",
            "facts.a",
            false,
        ),
        (
            "sources = [{ name = 's' }]\n[tiers]\nallow = ['read']",
            "[tiers]\nallow = ['read']",
            "sources",
            true,
        ),
        (
            "sources = [{ name = 's', on_error = 'abstain' }]",
            "",
            "sources",
            true,
        ),
        (
            "[tiers]\nallow = ['bash']",
            "[commands]\nopaque = 'deny'\n[tiers]\nallow = ['bash']",
            "commands.opaque",
            true,
        ),
        ("", "[tiers]\ndefault = 'deny'", "tiers.default", true),
        ("", "[tiers]\nunknown = 'default'", "tiers.unknown", true),
        (
            "[[rules]]\naction = 'allow'\ncommands = ['ls']\n[[rules]]\naction = 'deny'\ncommands = ['ls']",
            "resolution = 'first-match'\n[[rules]]\naction = 'allow'\ncommands = ['ls']\n[[rules]]\naction = 'deny'\ncommands = ['ls']",
            "resolution",
            true,
        ),
        (
            "[tiers]\nallow = ['a?', 'ax']",
            "[tiers]\nallow = ['a*', 'ax']",
            "tiers: a",
            true,
        ),
        (
            "[[rules]]\naction = 'ask'\ntools = ['t']\ncommands = ['ls']\n[commands]\nask = ['ls']",
            "[commands]\nask = ['ls']",
            "tiers: t",
            true,
        ),
        (
            "[[commands.ask]]\nmatch = 'ls'",
            "[[commands.ask]]\nmatch = 'ls'\nforced = true",
            "commands.ask[0]",
            true,
        ),
    ];
    for (old, new, what, shown) in rows {
        let changes = changed(&matcher(old), &matcher(new));
        let change = changes.iter().find(|change| change.what == what);
        let shows = |fate: &Fate| fate.loosened.shown().or(fate.tightened.shown()).is_some();
        let fate = change.map(|change| shows(&change.fate));
        assert_eq!(fate, Some(shown), "{old} → {new}: {changes:#?}");
    }
    // What says nothing of any call is no change.
    let texts = "name = 'n'\ndescription = 'd'\n[messages]\ndenied = 'm'\n[lints]\nbroad-allow = 'deny'\n[[commands.deny]]\nmatch = 'ls'\nreason = 'r'\ninstead = 'i'\nexamples = { match = ['ls'] }";
    assert!(changed(&matcher("[[commands.deny]]\nmatch = 'ls'"), &matcher(texts)).is_empty());
}

#[test]
fn whose_a_policy_is_differs() {
    let text = "version = 1\n[commands]\ndeny = ['ls']";
    let of = |kind, trusted| {
        let source = Arc::new(Source::new("p.toml", text, None).unwrap());
        let root = Root {
            kind,
            source,
            folder: None,
            trusted,
        };
        Matcher::compile(load(vec![root], &|_, _| Err(String::new())).unwrap())
    };
    for other in [
        of(LayerKind::Managed, Trust::Yes),
        of(LayerKind::User, Trust::No),
    ] {
        let changes = changed(&of(LayerKind::User, Trust::Yes), &other);
        let own = changes.iter().find(|change| change.what == "layers");
        assert!(own.unwrap().fate.told() == Told::Unknown, "{changes:#?}");
    }
}

#[test]
fn a_rule_given_up_differs() {
    let base = Arc::new(
        Source::new(
            "base.toml",
            "version = 1\n[[commands.deny]]\nid = 'no-ls'\nmatch = 'ls'",
            None,
        )
        .unwrap(),
    );
    let of = |more: &str| {
        let text =
            format!("version = 1\nextends = ['base.toml']\n{more}\n[commands]\nallow = ['ls']");
        let source = Arc::new(Source::new("p.toml", text, None).unwrap());
        let root = Root {
            kind: LayerKind::User,
            source,
            folder: None,
            trusted: Trust::Yes,
        };
        Matcher::compile(load(vec![root], &|_, _| Ok(Arc::clone(&base))).unwrap())
    };
    let changes = changed(&of(""), &of("disable = ['no-ls']"));
    let own = changes
        .iter()
        .find(|change| change.what == "disable: no-ls")
        .unwrap();
    assert!(own.fate.told() == Told::Loosened, "{changes:#?}");
}
