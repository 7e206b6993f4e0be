//! A list of what is allowed, where the tier of every tool it is about allows all: the list restricts nothing.
//!
//! Left alone: a list in a section with a `default`, one that opens everything anyway, one whose entries settle more
//! than the tier does (paths outside the roots, a command's own writes), and all where some tool is not in the tier.

use super::Room;
use super::room::{Pattern, Written, written};
use crate::call::access::Mode;
use crate::call::tools::Holds;
use crate::finding::Finding;
use crate::policy::patterns::{Anchor, HostName, WordPattern};
use crate::policy::rule::{Judges, Rule, Section, Verdict};

const CODE: &str = "allow-list-over-allow-tier";

/// Looks at the allow lists of paths and hosts, the first entry of each.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut told: Vec<(Section, usize)> = Vec::new();
    for compiled in room.rules() {
        let rule = &compiled.rule;
        let Some(section) = section(rule) else { continue };
        if told.contains(&(section, compiled.layer)) || room.matcher.rest(section).next().is_some() {
            continue;
        }
        let Some(tools) = open_tools(room, rule, section) else {
            continue;
        };
        // Where all is opened in so many words, the list is not meant to restrict.
        let opened = |other: &Rule| self::section(other) == Some(section) && written(other).iter().any(opens_all);
        if room.rules().any(|other| other.layer == compiled.layer && opened(&other.rule)) {
            continue;
        }
        let narrow = written(rule).into_iter().find(|own| own.patterns.iter().all(restricts));
        let Some(own) = narrow else { continue };
        told.push((section, compiled.layer));
        let (name, what) = match section {
            Section::Paths(Mode::Read) => ("paths.read", "reads"),
            Section::Paths(Mode::Write) => ("paths.write", "writes"),
            _ => ("hosts", "contacts"),
        };
        found.push(
            room.lint(CODE, format!("the allow of `{}` restricts nothing: the tier of `{tools}` lets it pass whatever it {what}", own.text), rule, &own)
            .label("allowed already, and so is all the rest")
            .help(format!(
                "say what becomes of the rest, `default = \"ask\"` under `[{name}]`, or drop the list"
            )),
        );
    }
    found
}

/// The section of an allow without conditions.
fn section(rule: &Rule) -> Option<Section> {
    let plain = rule.args.is_empty() && rule.when.is_empty() && rule.unless.is_empty();
    if rule.action != Verdict::Allow || !plain {
        return None;
    }
    match &rule.judges {
        Judges::Paths(own) => match own.modes.as_slice() {
            [mode] => Some(Section::Paths(*mode)),
            _ => None,
        },
        Judges::Hosts(_) => Some(Section::Hosts),
        _ => None,
    }
}

/// The tools whose calls the rule may judge, where the tier of all of them allows.
fn open_tools(room: &Room<'_>, rule: &Rule, section: Section) -> Option<String> {
    let kinds: &[Holds] = match section {
        Section::Paths(Mode::Read) => &[Holds::Read],
        Section::Paths(Mode::Write) => &[Holds::Write, Holds::Patch],
        _ => &[Holds::Url],
    };
    let named = |name: &str| rule.tools.is_empty() || rule.tools.iter().any(|glob| glob.matches_text(name, false));
    let own: Vec<(String, Verdict)> = room.tools_that(kinds).into_iter().filter(|(name, _)| named(name)).collect();
    // A command that is allowed reads, writes and contacts as well, and there the list may be what covers it.
    let commands = room.command_rules().any(|(rule, _)| rule.action == Verdict::Allow);
    let shells = room.tools_that(&[Holds::Shell, Holds::Argv]);
    let by_shell = commands && shells.iter().any(|(name, verdict)| named(name) && *verdict != Verdict::Allow);
    let open = !own.is_empty() && own.iter().all(|(_, verdict)| *verdict == Verdict::Allow) && !by_shell;
    let names: Vec<String> = own.into_iter().map(|(name, _)| name).collect();
    open.then(|| names.join("`, `"))
}

/// Whether a text takes everything.
fn opens_all(text: &Written<'_>) -> bool {
    text.patterns.iter().any(|pattern| match pattern {
        Pattern::Path(path) => path.components.as_slice() == [WordPattern::Any],
        Pattern::Host(host) => host.host == HostName::Any,
        _ => false,
    })
}

/// Whether a pattern reads as if it left something closed, and settles nothing that the tier does not.
fn restricts(pattern: &Pattern<'_>) -> bool {
    match pattern {
        Pattern::Path(path) => {
            let anchored = matches!(path.anchor, Anchor::Absolute | Anchor::Home);
            !anchored && path.components.as_slice() != [WordPattern::Any]
        }
        Pattern::Host(host) => host.host != HostName::Any,
        _ => false,
    }
}
