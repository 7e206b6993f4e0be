//! Every page is a test: its `fail` blocks yield the code, its `pass` blocks do not. And: files on disk = registry.

use super::*;
use crate::cases;
use crate::policy::{LayerKind, Policy, Root, Trust};
use crate::presets;
use crate::source::{Format, Source};
use std::path::Path;
use std::sync::Arc;

/// Machinery that is no lint.
const MACHINERY: &[&str] = &[
    "levels",
    "mod",
    "names",
    "room",
    "spellings",
    "suppressions",
    "tests",
];

fn root(kind: LayerKind, source: &Arc<Source>) -> Root {
    Root {
        kind,
        source: Arc::clone(source),
        folder: None,
        trusted: Trust::Yes,
    }
}

/// Loads a policy, which may extend files of the page, then files beside it.
fn load(roots: Vec<Root>, page: &[Block]) -> Result<Policy, Vec<Finding>> {
    crate::policy::load(roots, &|name, from| {
        if let Some(preset) = name.strip_prefix("acl:") {
            return presets::find(preset);
        }
        if let Some(block) = page
            .iter()
            .find(|block| block.role == Role::File(name.into()))
        {
            return Ok(block.source(name));
        }
        let path = Path::new(&from.name).parent().unwrap().join(name);
        let bytes = std::fs::read(&path).map_err(|why| why.to_string())?;
        Source::new(path.to_string_lossy(), bytes, None)
            .map(Arc::new)
            .map_err(|finding| finding.message)
    })
}

fn lints(source: Source, levels: &Levels) -> Vec<Finding> {
    lints_of(vec![root(LayerKind::User, &Arc::new(source))], &[], levels)
}

fn lints_of(roots: Vec<Root>, page: &[Block], levels: &Levels) -> Vec<Finding> {
    match load(roots, page) {
        Ok(policy) => run(&Matcher::compile(policy), levels, &BTreeSet::new()).told,
        Err(findings) => panic!("{findings:#?}"),
    }
}

/// What a block of a page is there for.
#[derive(Clone, Debug, PartialEq)]
enum Role {
    /// It has what the page is about.
    Fail,
    /// It has not.
    Pass,
    /// The others may extend it by this name.
    File(String),
    /// The user's own policy, beside which the others are a project's.
    User,
}

#[derive(Clone, Debug)]
struct Block {
    format: Format,
    role: Role,
    text: String,
}

impl Block {
    fn source(&self, name: &str) -> Arc<Source> {
        Arc::new(Source::new(name, self.text.as_bytes().to_vec(), Some(self.format)).unwrap())
    }
}

/// The blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else {
            continue;
        };
        let words: Vec<&str> = info.split_whitespace().collect();
        let format = match words.first() {
            Some(&"toml") => Format::Toml,
            Some(&"yaml") => Format::Yaml,
            _ => continue,
        };
        let role = match words.get(1..) {
            Some(["fail"]) => Role::Fail,
            Some(["pass"]) => Role::Pass,
            Some(["user"]) => Role::User,
            Some(["file", name]) => Role::File((*name).to_owned()),
            other => panic!("a block is `fail`, `pass`, `user` or `file NAME`, not {other:?}"),
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let text = body.join("\n") + "\n";
        out.push(Block { format, role, text });
    }
    out
}

/// The blocks that show a policy, and whether it fails.
fn shown(blocks: &[Block]) -> impl Iterator<Item = (&Block, bool)> {
    blocks.iter().filter_map(|block| match block.role {
        Role::Fail => Some((block, true)),
        Role::Pass => Some((block, false)),
        _ => None,
    })
}

fn drawing(text: &str, found: &[Finding]) -> String {
    #[cfg(feature = "cli")]
    let drawn = crate::report::human::findings(found, 100, false);
    #[cfg(not(feature = "cli"))]
    let drawn = format!("{found:?}");
    format!("{text}\n{drawn}\n\n")
}

#[test]
fn pages_are_true() {
    let mut wrong = Vec::new();
    for lint in LINTS {
        let blocks = blocks(lint.page);
        assert!(
            shown(&blocks).any(|(_, fails)| fails) && shown(&blocks).any(|(_, fails)| !fails),
            "{} shows no policy that fails, or none that passes",
            lint.code
        );
        assert!(
            lint.page.starts_with(&format!("# {}\n", lint.code)),
            "{}",
            lint.code
        );
        let mut levels = Levels::default();
        if lint.level == Level::Allow {
            levels.set(lint.code, Level::Warn);
        }
        let mut drawn = String::new();
        let user = blocks.iter().find(|block| block.role == Role::User);
        for (block, fails) in shown(&blocks) {
            let text = &block.text;
            let kind = user.map_or(LayerKind::User, |_| LayerKind::Project);
            let mut roots = vec![root(kind, &block.source("page"))];
            roots.extend(user.map(|user| root(LayerKind::User, &user.source("user"))));
            let found = lints_of(roots, &blocks, &levels);
            let told: Vec<&Finding> = found.iter().filter(|own| own.code == lint.code).collect();
            if fails {
                drawn.push_str(&drawing(text, &found));
            }
            if told.is_empty() == fails {
                wrong.push(format!("{} ({fails}):\n{text}{found:#?}", lint.code));
            }
            for finding in told {
                assert!(finding.help.is_some(), "{}: what to type?", lint.code);
                let first = finding.labels.first().expect("a place");
                assert!(!first.text.is_empty(), "{}: a label", lint.code);
                assert!(!finding.message.ends_with('.'), "{}", finding.message);
            }
        }
        insta::with_settings!({
            snapshot_path => "../../tests/lints",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(lint.code, drawn);
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a page's block is told, a policy or a case file; files that it extends are not there, but for itself.
fn errors(block: &Block, page: &[Block]) -> Vec<Finding> {
    let checked = |source: &Arc<Source>| {
        let root = root(LayerKind::User, source);
        let loaded = crate::policy::load(vec![root], &|name, _| match name.strip_prefix("acl:") {
            Some(preset) => presets::find(preset),
            None if name == "acl.toml" => Ok(Arc::clone(source)),
            None => Err("there is no such file".into()),
        });
        loaded.map(Matcher::compile)
    };
    if !block.text.contains("[[case]]") {
        return match checked(&block.source("acl.toml")) {
            Ok(matcher) => matcher.check_examples(),
            Err(findings) => findings,
        };
    }
    let cases = match cases::read(&block.source("acl.cases.toml")) {
        Ok(cases) => cases.cases,
        Err(findings) => return findings,
    };
    let strange = cases.iter().map(|case| {
        let cases::Under::Policy(name) = &case.under.value else {
            panic!("one policy is enough");
        };
        let named = |block: &&Block| block.role == Role::File(name.clone());
        let policy = page.iter().find(named).expect("the policy of the case");
        case.strange(&checked(&policy.source(name)).expect("a sound policy"))
    });
    strange.flatten().collect()
}

#[test]
fn pages_of_errors_are_true() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/finding/errors");
    let names = std::fs::read_dir(folder).unwrap();
    let mut pages: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    let codes = ERRORS.iter().map(|(code, _)| format!("{code}.md"));
    assert_eq!(pages, codes.collect::<Vec<_>>());
    // Every code that a broken policy of the tests is to have.
    let invalid = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policies/invalid");
    for entry in std::fs::read_dir(invalid).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let code = name.split('.').next().unwrap();
        let machinery = ["rendered", "with", "several-faults"].contains(&code);
        assert!(machinery || page(code).is_ok(), "{code} has no page");
    }
    for (code, page) in ERRORS {
        assert!(page.starts_with(&format!("# {code}\n")), "{code}");
        let blocks = blocks(page);
        assert!(shown(&blocks).any(|(_, fails)| fails), "{code}: fail");
        assert!(shown(&blocks).any(|(_, fails)| !fails), "{code}: pass");
        for (block, fails) in shown(&blocks) {
            let text = &block.text;
            let mut told: Vec<&str> = errors(block, &blocks).iter().map(|own| own.code).collect();
            told.dedup();
            let wanted = if fails { vec![*code] } else { Vec::new() };
            assert_eq!(told, wanted, "{text}");
        }
    }
}

#[test]
fn files_on_disk_are_the_registry() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lint");
    let mut rust = Vec::new();
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        match name.rsplit_once('.').unwrap() {
            (name, "rs") if !MACHINERY.contains(&name) => rust.push(name.replace('_', "-")),
            (name, "md") => pages.push(name.replace('_', "-")),
            _ => {}
        }
    }
    rust.sort();
    pages.sort();
    let codes: Vec<&str> = LINTS.iter().map(|lint| lint.code).collect();
    assert_eq!(rust, codes);
    assert_eq!(pages, codes);
}

#[test]
fn sound_policies_have_no_findings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut told = String::new();
    for folder in ["policies", "tests/policies/valid"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().contains(".cases.") {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let source = Source::new(path.to_string_lossy(), bytes, None).unwrap();
            for finding in lints(source, &Levels::default()) {
                let label = finding.labels.first().unwrap();
                let (line, _) = label.source.line_column(label.span.start);
                told.push_str(&format!(
                    "{}:{line}: {}: {}\n",
                    label.source.name, finding.code, finding.message
                ));
            }
        }
    }
    assert!(told.is_empty(), "{told}");
}

fn codes(text: &str, levels: &Levels) -> Vec<(&'static str, Severity)> {
    let source = Source::new("p.toml", text.as_bytes().to_vec(), None).unwrap();
    let found = lints(source, levels);
    found.iter().map(|own| (own.code, own.severity)).collect()
}

#[test]
fn levels_and_suppressions() {
    let policy = |lints: &str, comment: &str| {
        format!("version = 1\n{lints}\n[hosts]\nallow = [\n  {comment}\n  \"*\",\n]\n")
    };
    let none = Levels::default();
    let wide = |severity| vec![("wide-host", severity)];
    assert_eq!(codes(&policy("", ""), &none), wide(Severity::Warn));
    let denied = policy("[lints]\nwide-host = \"deny\"", "");
    assert_eq!(codes(&denied, &none), wide(Severity::Deny));
    let allowed = policy("[lints]\nwide-host = \"allow\"", "");
    assert_eq!(codes(&allowed, &none), []);
    let mut levels = Levels::default();
    levels.set("wide-host", Level::Warn);
    assert_eq!(codes(&denied, &levels), wide(Severity::Warn));
    let kept = policy("", "# acl: allow(wide-host) a sandbox without secrets");
    assert_eq!(codes(&kept, &none), []);
    let bare = policy("", "# acl: allow(wide-host)");
    assert_eq!(
        codes(&bare, &none),
        [("unused-suppression", Severity::Warn)]
    );
    let other = policy("", "# acl: allow(broad-allow) no");
    let want = [
        ("unused-suppression", Severity::Warn),
        ("wide-host", Severity::Warn),
    ];
    assert_eq!(codes(&other, &none), want);
    let half = policy("", "# acl: allow(wide-host, broad-allow) a sandbox");
    assert_eq!(
        codes(&half, &none),
        [("unused-suppression", Severity::Warn)]
    );
    for comment in [
        "#acl:allow(wide-host) x",
        "# acl: allow(wide-host): x",
        "# acl: allow( wide-host ) - x",
    ] {
        assert_eq!(codes(&policy("", comment), &none), [], "{comment}");
    }
    let unknown = policy("", "# acl: allow(wide-hots) no");
    let want = [
        ("unknown-lint", Severity::Warn),
        ("wide-host", Severity::Warn),
    ];
    assert_eq!(codes(&unknown, &none), want);
}

#[test]
fn suppressions_in_yaml() {
    let rows = [
        "hosts:\n  allow:\n    # acl: allow(wide-host) a sandbox\n    - \"*\"\n",
        "hosts:\n  allow:\n    - \"*\" # acl: allow(wide-host) a sandbox\n",
        "hosts: { allow: [\"*\"] } # acl: allow(wide-host) a sandbox\n",
        "hosts:\n  # acl: allow(wide-host) a sandbox,\n  # and a reason that goes on\n  allow: [\"*\"]\n",
    ];
    for text in rows {
        let text = format!("version: 1\n{text}");
        let found = |text: &str| {
            let source = Source::new("p.yaml", text.as_bytes().to_vec(), None).unwrap();
            let found = lints(source, &Levels::default());
            found.iter().map(|own| own.code).collect::<Vec<_>>()
        };
        assert_eq!(found(&text), [""; 0], "{text}");
        let without = text.replace("acl: allow", "acl");
        assert_eq!(found(&without), ["wide-host"], "{text}");
        let unused = text.replace("\"*\"", "docs.rs");
        assert_eq!(found(&unused), ["unused-suppression"], "{text}");
    }
}

#[test]
fn suppressions_of_an_extended_file_are_its_own_affair() {
    let page = blocks(
        "```toml file base.toml\nversion = 1\n[hosts]\n# acl: allow(wide-host) old\nallow = [\"docs.rs\"]\n```\n",
    );
    let text = "version = 1\nextends = [\"base.toml\"]\n";
    let source = Arc::new(Source::new("p.toml", text, None).unwrap());
    assert_eq!(
        lints_of(
            vec![root(LayerKind::User, &source)],
            &page,
            &Levels::default()
        ),
        []
    );
    let base = page[0].source("base.toml");
    let alone = lints_of(
        vec![root(LayerKind::User, &base)],
        &page,
        &Levels::default(),
    );
    assert_eq!(
        alone.iter().map(|own| own.code).collect::<Vec<_>>(),
        ["unused-suppression"]
    );
}

#[test]
fn names_of_lints() {
    assert!(page("broad-allow").is_ok());
    assert!(page("syntax").is_ok());
    assert!(page("broad-alow").unwrap_err().contains("`broad-allow`"));
    assert!(page("unknown-kye").unwrap_err().contains("`unknown-key`"));
}
