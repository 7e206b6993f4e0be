//! A deny or ask of a command that ends weaker when the same command is typed otherwise.
//!
//! A command is made of the rule's pattern and decided by the whole policy, as it stands and in every spelling of the table
//! in `spellings.rs`. A rule that does not decide its own command is left alone: that is told elsewhere.

use super::room::{Pattern, written};
use super::spellings::{self, Typed};
use super::Room;
use crate::call::Call;
use crate::call::access::Access;
use crate::call::files::FileView;
use crate::call::shell;
use crate::call::tools::Holds;
use crate::cases;
use crate::decision::{self, Decision};
use crate::finding::Finding;
use crate::language;
use crate::matcher::commands;
use crate::matcher::located::Frame;
use crate::matcher::paths::Stance;
use crate::matcher::Compiled;
use crate::policy::glob::Fit;
use crate::policy::patterns::{Anchor, CommandPattern, PathPattern, WordPattern};
use crate::policy::rule::{Commands, Judges, Verdict};

const CODE: &str = "spelling-bypass";

/// How many spellings a finding lists.
const SHOWN: usize = 6;

/// How many commands are tried: beyond that the policy is a list that no person wrote.
const MOST: usize = 2000;

/// Looks at command rules that close something.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut tried = 0;
    for compiled in room.rules() {
        let rule = &compiled.rule;
        let Judges::Commands(own) = &rule.judges else { continue };
        // An `exact` one leaves whatever goes on, in any spelling: told by `exact-deny-of-bare-name`.
        if rule.action == Verdict::Allow || own.exact || !rule.args.is_empty() {
            continue;
        }
        let Some((tool, argument)) = tool(room, compiled) else {
            continue;
        };
        for text in written(rule) {
            let Some(Pattern::Command(pattern)) = text.patterns.first() else {
                continue;
            };
            tried += 1;
            if tried > MOST {
                found.push(unknown(room, compiled, &text.text));
                return found;
            }
            let Some(typed) = typed(pattern, own) else { continue };
            let trial = Trial { room, tool: &tool, argument: &argument, compiled, own };
            let (plain, weaker) = trial.weaker(&typed);
            if weaker.is_empty() {
                continue;
            }
            let more = match weaker.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!("\nand in {more} more spellings"),
            };
            let list: Vec<String> = weaker
                .iter()
                .take(SHOWN)
                .map(|own| format!("`{}`: {plain} → {} ({})", own.line, own.verdict, own.name))
                .collect();
            let first = weaker.first().map(|own| format!("`{}` is {}", own.line, past(own.verdict)));
            found.push(
                room.lint(CODE, format!(
                        "`{}` is {} as written, but {}",
                        typed.line(),
                        past(plain),
                        first.unwrap_or_default()
                    ), rule, &text)
                .label("the same command in other words gets by")
                .help(format!("{}:\n{}{more}", advice(&typed), list.join("\n"))),
            );
        }
    }
    found
}

const fn past(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allowed",
        Verdict::Ask => "asked about",
        Verdict::Deny => "denied",
    }
}

fn advice(typed: &Typed) -> String {
    let Some((words, options)) = spellings::parted(typed) else {
        return "write one pattern for each".to_owned();
    };
    let words: Vec<String> = words.iter().map(|word| language::quoted(word)).collect();
    let options: Vec<String> = options.iter().map(|name| format!("\"{name}\"")).collect();
    format!(
        "options belong under `with`, which knows their spellings: `{{ match = \"{}\", with = [{}] }}`",
        words.join(" "),
        options.join(", ")
    )
}

fn unknown(room: &Room<'_>, compiled: &Compiled, text: &str) -> Finding {
    let rule = &compiled.rule;
    Finding::lint(
        CODE,
        format!("the command rules from `{text}` on were not tried in other spellings"),
        &rule.place.source,
        room.spot(rule, text),
    )
    .label(format!("{MOST} were"))
    .help("split the policy, or turn the lint off for it")
}

// --- the command

/// A shell tool that the rule is about and whose tier does not refuse, and its argument.
fn tool(room: &Room<'_>, compiled: &Compiled) -> Option<(String, String)> {
    let tools = &compiled.rule.tools;
    let shells = room.tools_that(&[Holds::Shell]);
    let mut open = shells.into_iter().filter(|(name, verdict)| {
        *verdict != Verdict::Deny && (tools.is_empty() || tools.iter().any(|glob| glob.matches_text(name, false)))
    });
    let (name, _) = open.next()?;
    let declared = room.matcher.declaration(&name)?;
    match declared.arguments.as_slice() {
        [only] if !only.path.contains(['.', '[']) => Some((name, only.path.clone())),
        _ => None,
    }
}

/// A command that the pattern is about: stars are a word, the first spelling of each option, a path for `operands`.
fn typed(pattern: &CommandPattern, own: &Commands) -> Option<Typed> {
    let words = pattern.words.iter().filter_map(|word| match word {
        WordPattern::Word(glob) => Some(language::text_of(glob)),
        WordPattern::Any => None,
    });
    let mut words: Vec<String> = words.collect();
    // Launchers take such a program for an option of theirs.
    if words.first()?.starts_with('-') {
        return None;
    }
    for alternatives in &own.with {
        words.push(language::text_of(alternatives.first()?));
    }
    if let Some(operand) = own.operands.first() {
        words.push(path(operand));
    }
    let assignments = pattern.assignments().iter();
    let assignments = assignments.map(|(name, value)| format!("{name}={}", language::quoted(&language::text_of(value))));
    Some(Typed {
        assignments: assignments.collect(),
        words,
    })
}

fn path(pattern: &PathPattern) -> String {
    let components = pattern.components.iter().map(|component| match component {
        WordPattern::Word(glob) => language::text_of(glob),
        WordPattern::Any => "x".to_owned(),
    });
    let text = components.collect::<Vec<_>>().join("/");
    match pattern.anchor {
        Anchor::Absolute => format!("/{text}"),
        Anchor::Home => format!("{}/{text}", cases::HOME),
        Anchor::Name | Anchor::Root => text,
    }
}

// --- the trial

struct Trial<'t, 'm> {
    room: &'t Room<'m>,
    tool: &'t str,
    argument: &'t str,
    compiled: &'t Compiled,
    own: &'t Commands,
}

/// A spelling that gets a weaker verdict.
struct Weaker {
    name: &'static str,
    line: String,
    verdict: Verdict,
}

impl Trial<'_, '_> {
    /// The verdict of the command as typed, and the spellings that get a weaker one.
    fn weaker(&self, typed: &Typed) -> (Verdict, Vec<Weaker>) {
        let plain = self.decide(&typed.line());
        let mut reasons = plain.reasons.iter().chain(&plain.overtaken);
        if !reasons.any(|reason| reason.key == self.compiled.key) {
            return (plain.action, Vec::new());
        }
        let action = self.compiled.rule.action;
        let decides = plain.action == action && !self.room.is_ordered(self.compiled);
        let accesses: Vec<Access> = plain.judged.into_iter().map(|own| own.access).collect();
        let frame = decision::frame(self.room.matcher, &self.call(""), &FileView::None, &accesses);
        let spelled = spellings::all(typed).into_iter().filter_map(|(name, line)| {
            // What the rule surely meets is no weaker than the rule: the others need not be asked.
            if decides && self.meets(&line, &frame) {
                return None;
            }
            let verdict = self.decide(&line).action;
            (verdict < plain.action).then_some(Weaker { name, line, verdict })
        });
        (plain.action, spelled.collect())
    }

    /// Whether the rule surely meets a command of the line.
    fn meets(&self, line: &str, frame: &Frame<'_>) -> bool {
        let call = self.call("");
        let scene = shell::Scene {
            cwd: call.cwd,
            home: call.home,
            ..shell::Scene::default()
        };
        let accesses = shell::accesses(line, &scene);
        let fit = |at| commands::fit(self.own, &accesses, at, Stance::Tightens, frame).fit;
        (0..accesses.len()).any(|at| fit(at) == Fit::Must)
    }

    fn decide(&self, line: &str) -> Decision {
        decision::decide(self.room.matcher, &self.call(line), &FileView::None)
    }

    fn call(&self, line: &str) -> Call {
        let folder = Some(cases::WORKSPACE.to_owned());
        Call {
            tool: self.tool.to_owned(),
            args: serde_json::json!({ self.argument: line }).into(),
            cwd: folder.clone(),
            workspace: folder,
            home: Some(cases::HOME.to_owned()),
            ..Call::default()
        }
    }
}
