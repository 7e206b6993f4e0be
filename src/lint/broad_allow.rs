//! An allow that lets nearly everything pass: `*`, a shell tool as a whole, an interpreter, `sudo`, `rm`, `docker run`.
//!
//! An allow that is narrowed (`exact`, `only`, `operands`, `with`, conditions) is left alone.

use super::room::{Pattern, written};
use super::{Room, names};
use crate::call::path;
use crate::call::shell;
use crate::matcher::commands;
use crate::matcher::located::{Folder, Frame};
use crate::matcher::paths::Stance;
use crate::policy::glob::Fit;
use crate::finding::Finding;
use crate::language;
use crate::policy::File;
use crate::policy::glob::Glob;
use crate::policy::patterns::{self, Anchor, CommandPattern, PathPattern, WordPattern};
use crate::call::tools::Holds;
use crate::policy::rule::{Commands, Judges, Rule, Section, TierEntry, Verdict};
use crate::call::access::Mode;

const CODE: &str = "broad-allow";

/// Looks at tiers and at allow rules.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, entry) in room.tiers().filter(|(_, own)| own.verdict == Verdict::Allow) {
        found.extend(tier(room, file, entry));
    }
    for compiled in room.rules() {
        let rule = &compiled.rule;
        let narrowed = !rule.args.is_empty() || !rule.when.is_empty() || !rule.unless.is_empty();
        if rule.action != Verdict::Allow || narrowed {
            continue;
        }
        if matches!(rule.judges, Judges::Tool) {
            found.extend(tool_rule(room, rule));
            continue;
        }
        for own in written(rule) {
            let wide = own.patterns.iter().find_map(|pattern| match (pattern, &rule.judges) {
                (Pattern::Command(command), Judges::Commands(own)) => command_width(command, own),
                (Pattern::Path(path), Judges::Paths(own)) => {
                    path_width(room, path, &own.modes).filter(|_| own.except.is_empty())
                }
                _ => None,
            });
            if let Some((why, help)) = wide {
                found.push(
                    room.lint(CODE, format!("the allow of `{}` {why}", own.text), rule, &own)
                    .label("allowed as a whole")
                    .help(help),
                );
            }
        }
    }
    found
}

// --- tools

fn tier(room: &Room<'_>, file: &File, entry: &TierEntry) -> Option<Finding> {
    let source = &file.source;
    if let Some(wide) = entry.names.iter().find_map(all_tools) {
        return Some(
            Finding::lint(CODE, format!("the tier `allow` lets {wide} pass"), source, entry.span)
                .label("also those that are added later")
                .help("name the tools that may run; the others take `tiers.default`"),
        );
    }
    let shells = room.tools_that(&[Holds::Shell, Holds::Argv]);
    let (shell, _) = shells.iter().find(|(name, _)| {
        let mut names = entry.names.iter();
        names.any(|glob| glob.matches_text(name, false))
    })?;
    // Where the commands have a default, or all of them are denied or asked, the tier decides nothing.
    let stated = room.rules().any(|compiled| {
        compiled.rule.action != Verdict::Allow && rest_of_commands(&compiled.rule)
    });
    if stated {
        return None;
    }
    let denies = room
        .command_rules()
        .map(|(rule, _)| rule)
        .find(|rule| rule.action == Verdict::Deny);
    let mut finding = Finding::lint(
        CODE,
        format!("the tier `allow` lets every command of `{shell}` pass that no rule names"),
        source,
        entry.span,
    )
    .label("a shell, as a whole");
    finding = match denies {
        Some(deny) => {
            let shown = written(deny).into_iter().next().map_or_else(String::new, |own| own.text);
            let shell_list = closes_shells(deny);
            finding
                .also(
                    &deny.place.source,
                    deny.place.span,
                    match shell_list {
                        true => format!("`{shown}` is left by a copy, or by another shell"),
                        false => "a list of what is denied does not name what it has not thought of".into(),
                    },
                )
                .help(format!(
                    "list the commands that may run under `[commands] allow`, and say `default = \"ask\"` there, or move `{shell}` to the tier `ask`: denying programs by name is advice, not protection"
                ))
        }
        None => finding.help(format!(
            "move `{shell}` to the tier `ask` and list the commands that may run under `[commands] allow`"
        )),
    };
    Some(finding)
}

/// What of all tools a glob takes, where it is about all of something.
fn all_tools(glob: &Glob) -> Option<&'static str> {
    match patterns::spell(glob).as_str() {
        "*" => Some("every tool"),
        "mcp__*" | "mcp__*__*" => Some("every tool of every MCP server"),
        _ => None,
    }
}

fn rest_of_commands(rule: &Rule) -> bool {
    let unconditional = rule.tools.is_empty() && rule.when.is_empty() && rule.unless.is_empty();
    unconditional
        && match &rule.judges {
            Judges::Rest(section) => *section == Section::Commands,
            Judges::Commands(own) => {
                let star = |pattern: &CommandPattern| {
                    matches!(pattern.words.as_slice(), [WordPattern::Word(glob)] if glob.is_star())
                };
                own.with.is_empty() && own.patterns.iter().any(star)
            }
            _ => false,
        }
}

fn closes_shells(rule: &Rule) -> bool {
    let Judges::Commands(own) = &rule.judges else {
        return false;
    };
    own.patterns.iter().any(|pattern| match pattern.words.as_slice() {
        [WordPattern::Word(glob)] => glob
            .as_literal()
            .is_some_and(|name| names::SHELLS.contains(&name)),
        _ => false,
    })
}

fn tool_rule(room: &Room<'_>, rule: &Rule) -> Option<Finding> {
    let wide = match rule.tools.is_empty() {
        true => Some("every tool"),
        false => rule.tools.iter().find_map(all_tools),
    };
    let shells = room.tools_that(&[Holds::Shell, Holds::Argv]);
    let shell = shells.iter().find(|(name, _)| {
        let mut tools = rule.tools.iter();
        tools.any(|glob| glob.matches_text(name, false))
    });
    let message = match (wide, shell) {
        (Some(wide), _) => format!("this allow lets {wide} pass"),
        (None, Some((name, _))) => format!("this allow lets every command of `{name}` pass that no rule names"),
        (None, None) => return None,
    };
    Some(
        Finding::lint(CODE, message, &rule.place.source, rule.place.span)
            .label("allowed as a whole")
            .help("name the tools that may run, and for a shell the commands: `commands = […]`"),
    )
}

// --- commands

fn command_width(command: &CommandPattern, rule: &Commands) -> Option<(String, String)> {
    let narrowed = rule.exact
        || rule.only_read
        || !rule.operands.is_empty()
        || !rule.with.is_empty();
    let (first, rest) = command.words.split_first()?;
    let WordPattern::Word(glob) = first else {
        return None;
    };
    // A star, or any words, after the program narrow next to nothing.
    let open = |word: &WordPattern| match word {
        WordPattern::Any => true,
        WordPattern::Word(glob) => glob.is_star(),
    };
    let all = rest.iter().all(open);
    if narrowed {
        return None;
    }
    if glob.is_star() {
        let what = match all {
            true => "lets every command pass",
            false => "lets any program run, as long as these words come first",
        };
        return Some((
            what.into(),
            "name the programs that may run; a pattern is a prefix, so `git log` covers its options"
                .into(),
        ));
    }
    let name = glob.as_literal()?;
    let name = path::last(name);
    let named = |list: &[&str]| list.contains(&name);
    let second = rest.first().and_then(WordPattern::literal);
    if named(names::INTERPRETERS) {
        let code = second.is_some_and(|word| {
            ["-c", "-e", "-r", "-p", "--eval", "--print", "-lc", "-ic", "-"].contains(&word)
        });
        if all || code {
            return Some((
                format!("lets any program of `{name}` pass, also one that was written a moment ago"),
                format!("name what may run, such as `{name} scripts/check` or `{name} --version`"),
            ));
        }
    }
    if let Some(line) = rest.last().filter(|last| open(last)).and_then(|_| starts_anything(command, rule)) {
        return Some((
            format!("lets any program pass that it starts, as in `{line}`"),
            "name the program too: `xargs grep`, for instance, covers `xargs -0 grep x` and no more".into(),
        ));
    }
    let lends = names::LENDERS.iter().find(|(lender, _)| *lender == name);
    if let Some((_, what)) = lends.filter(|_| rest.is_empty()) {
        return Some((
            format!("lets whatever else is allowed run {what}"),
            format!("name what it may start: `{name} …` up to the program covers that and no more"),
        ));
    }
    let image = names::IMAGES
        .iter()
        .any(|(program, word)| *program == name && second == Some(*word));
    if image && rest.iter().skip(1).all(open) {
        return Some((
            "lets any image run".into(),
            "name the options and the image".into(),
        ));
    }
    // `rm -rf` narrows `rm` by nothing that matters; `kill -l` does.
    let forces = |word: &WordPattern| match word {
        WordPattern::Word(glob) => glob
            .as_literal()
            .is_some_and(|text| text.starts_with('-') && !["--help", "--version"].contains(&text)),
        WordPattern::Any => true,
    };
    let forced = name == "rm" && rest.iter().all(|word| open(word) || forces(word));
    if named(names::DESTROYERS) && (all || forced) {
        return Some((
            format!("lets `{name}` have anything that the path rules leave open"),
            format!("say what it may be pointed at: `{{ match = \"{name}\", operands = [\"build/**\"] }}`"),
        ));
    }
    None
}

/// A line by which the pattern lets a program pass that it does not name.
fn starts_anything(pattern: &CommandPattern, rule: &Commands) -> Option<String> {
    // By this pattern alone: a long list would be tried once for each of its own.
    let alone = Commands {
        patterns: vec![pattern.clone()].into(),
        except: rule.except.clone(),
        without: rule.without.clone(),
        ..Commands::default()
    };
    let folder = |text: &str| Folder {
        lexical: text.into(),
        resolved: text.into(),
    };
    let frame = Frame {
        roots: vec![folder("/workspace")],
        home: Some(folder("/home/user")),
        ..Frame::default()
    };
    let scene = shell::Scene {
        cwd: Some("/workspace".into()),
        home: Some("/home/user".into()),
        ..shell::Scene::default()
    };
    let start = language::sample(pattern, |word| match word {
        WordPattern::Word(glob) => !glob.is_star(),
        WordPattern::Any => false,
    });
    // Before the program may stand a host, a container, a time limit.
    ["", "5 ", "box ", "box -- "].into_iter().find_map(|between| {
        let line = format!("{start} {between}some-program a b");
        let accesses = shell::accesses(&line, &scene);
        let started = accesses.iter().enumerate().filter_map(|(at, _)| {
            let command = commands::command(&accesses, at)?;
            let program = command.words.first()?.text()?;
            (program == "some-program").then_some(at)
        });
        let started: Vec<usize> = started.collect();
        let covers = (0..accesses.len()).any(|at| {
            let fitted = commands::fit(&alone, &accesses, at, Stance::Loosens, &frame);
            fitted.fit == Fit::Must
                && commands::uncovered(&accesses, &fitted).is_none()
                && started.iter().any(|inner| fitted.levels.contains(inner))
        });
        covers.then_some(line)
    })
}

// --- paths

fn path_width(room: &Room<'_>, path: &PathPattern, modes: &[Mode]) -> Option<(String, String)> {
    let everything = path.components.as_slice() == [WordPattern::Any];
    let all = match path.anchor {
        Anchor::Absolute => everything || path.components.is_empty(),
        Anchor::Home => everything || path.components.is_empty(),
        _ => false,
    };
    let what = if path.anchor == Anchor::Home {
        "the whole home folder"
    } else {
        "the whole file system"
    };
    if !all {
        return None;
    }
    if modes.contains(&Mode::Write) {
        return Some((
            format!("lets {what} be written"),
            "name the folders; `**` is everything inside the workspace".into(),
        ));
    }
    // Reading everything is what some are for, as long as somebody thought of the secrets.
    let minded = room
        .matcher
        .protected
        .iter()
        .any(|set| set.paths.modes.contains(&Mode::Read))
        || room.rules().any(|compiled| {
            compiled.rule.action != Verdict::Allow
                && matches!(&compiled.rule.judges, Judges::Paths(own) if own.modes.contains(&Mode::Read))
        });
    (!minded).then(|| {
        (
            format!("lets {what} be read, keys and tokens included"),
            "name the folders, or protect what must stay closed: `extends = [\"acl:floor\"]`".into(),
        )
    })
}

