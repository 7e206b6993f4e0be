//! A policy → what an agent is to be told of it, the strongest first.
//!
//! In: a compiled policy. Out: [`Wishes`]: rules and tiers without what no agent can say. A condition is dropped from a
//! question or a refusal, which makes it wider; an allow with one is left out, so that the agent asks.

use super::besides;
use crate::agents::carry::{Fidelity, Line};
use crate::call::access::Mode;
use crate::call::tools as canonical;
use crate::matcher::Matcher;
use crate::policy::Resolution;
use crate::policy::glob::{Glob, Token};
use crate::policy::patterns::{self, CommandPattern, HostPattern, PathPattern, WordPattern};
use crate::policy::rule::{Judges, Rule, Section, Verdict};

/// What a wish is about.
#[derive(Clone, Debug)]
pub(in crate::agents::carry) enum Said {
    /// The tier of a tool.
    Tier(String),
    /// The calls of tools as such.
    Tool(Vec<String>),
    Commands(Vec<CommandPattern>, bool),
    Paths(Vec<Mode>, Vec<PathPattern>, bool),
    Hosts(Vec<HostPattern>),
    /// Whatever no rule of a section names.
    Rest(Section),
    /// A path outside of the workspace.
    Outside,
}

/// One thing that an agent is to be told.
#[derive(Clone, Debug)]
pub(in crate::agents::carry) struct Wish {
    /// The rule's key in the policy.
    pub key: String,
    /// The rule, in short.
    pub shown: String,
    pub verdict: Verdict,
    pub said: Said,
    /// Only through these tools; none: all.
    pub tools: Vec<Glob>,
    /// What is lost already.
    pub lost: Vec<String>,
    pub reason: Option<String>,
}

/// All that an agent is to be told.
#[derive(Clone, Debug, Default)]
pub(in crate::agents::carry) struct Wishes {
    /// The strongest first.
    pub all: Vec<Wish>,
    /// Order decides among the rules.
    pub ordered: bool,
    /// What lies outside of the workspace is not allowed.
    pub confined: bool,
    /// What no agent can be told.
    pub lines: Vec<Line>,
}

impl Wishes {
    /// Whether an agent that knows no order says something else by them: order decides, and there is more than one rule.
    pub(super) fn lose_order(&self) -> bool {
        let rules = self.all.iter();
        let rules = rules.filter(|wish| !matches!(wish.said, Said::Tier(_)));
        self.ordered && rules.count() > 1
    }
}

impl Wish {
    /// Whether it holds through all of these tools.
    pub(super) fn through(&self, tools: &[&str]) -> bool {
        let named = |tool: &str| self.tools.iter().any(|glob| glob.matches_text(tool, false));
        match self.verdict {
            Verdict::Allow => self.tools.is_empty() || tools.iter().all(|tool| named(tool)),
            // A question or a refusal may reach further.
            _ => self.tools.is_empty() || tools.iter().any(|tool| named(tool)),
        }
    }

    /// What became of it.
    pub(super) fn line(&self, becomes: Vec<String>, mut says: Vec<String>, exact: bool) -> Line {
        let mut all = self.lost.clone();
        all.append(&mut says);
        let fidelity = match (
            becomes.is_empty() && !exact,
            all.is_empty() || exact && self.lost.is_empty(),
        ) {
            (true, _) => Fidelity::Not,
            (false, true) => Fidelity::Full,
            (false, false) => Fidelity::Partial,
        };
        Line {
            at: self.key.clone(),
            rule: self.shown.clone(),
            fidelity,
            says: all.join("; "),
            becomes,
        }
    }
}

/// What a policy wishes of an agent whose rules can name the paths and hosts of the tools in `names`.
pub(in crate::agents::carry) fn of(matcher: &Matcher, names: &[&str]) -> Wishes {
    let ordered = (0..matcher.policy.layers.len())
        .any(|layer| matcher.resolution(layer) == Resolution::FirstMatch);
    let mut wishes = Wishes {
        ordered,
        confined: matcher.outside.0 != Verdict::Allow,
        ..Wishes::default()
    };
    let not = |at: &str, rule: String, says: &str| Line {
        at: at.to_owned(),
        rule,
        fidelity: Fidelity::Not,
        says: says.to_owned(),
        becomes: Vec::new(),
    };
    for set in &matcher.protected {
        let mut lost = Vec::new();
        if !set.paths.except.is_empty() {
            lost.push("its exceptions are refused too".to_owned());
        }
        wishes.all.push(Wish {
            key: format!("protected.{}", set.name),
            shown: format!(
                "protected: {}",
                texts(set.paths.patterns.iter().map(|own| &*own.text))
            ),
            verdict: Verdict::Deny,
            said: Said::Paths(set.paths.modes.clone(), set.paths.patterns.clone(), false),
            tools: Vec::new(),
            lost,
            reason: set.reason.clone(),
        });
    }
    for compiled in &matcher.rules {
        let wish = rule(&compiled.rule, &compiled.key);
        let wish = wish.and_then(|wish| words_alone(matcher, wish));
        match wish.and_then(|wish| names_alone(matcher, names, wish)) {
            Ok(wish) => wishes.all.push(wish),
            Err(line) => wishes.lines.push(line),
        }
    }
    tiers(matcher, names, &mut wishes);
    if !ordered {
        // What is equally strong keeps its order.
        wishes
            .all
            .sort_by_key(|wish| match (&wish.said, wish.verdict) {
                (Said::Paths(..), Verdict::Deny) if wish.key.starts_with("protected.") => 0,
                (Said::Tier(_), Verdict::Deny) => 1,
                (Said::Rest(_), _) => 5,
                (Said::Tool(_), Verdict::Allow) => 6,
                (Said::Tier(_), _) => 7,
                (_, Verdict::Deny) => 2,
                (_, Verdict::Ask) => 3,
                (_, Verdict::Allow) => 4,
            });
    } else {
        wishes
            .all
            .sort_by_key(|wish| match (&wish.said, wish.verdict) {
                (Said::Tier(_), Verdict::Deny) => 1,
                (Said::Tier(_), _) => 3,
                _ if wish.key.starts_with("protected.") => 0,
                _ => 2,
            });
    }
    let (outside, place) = &matcher.outside;
    if place.is_some() || *outside != Verdict::Ask {
        wishes.all.push(Wish {
            key: "workspace.outside".to_owned(),
            shown: format!("{outside}: paths outside of the workspace"),
            verdict: *outside,
            said: Said::Outside,
            tools: Vec::new(),
            lost: Vec::new(),
            reason: None,
        });
    }
    if matcher
        .roots
        .as_ref()
        .is_some_and(|(roots, _)| roots.iter().any(|root| root != "."))
    {
        wishes.lines.push(not(
            "workspace.roots",
            "the folders of the workspace".into(),
            "the agent's workspace is the folder it is started in",
        ));
    }
    for source in &matcher.sources {
        wishes.lines.push(not(
            "sources",
            format!("source {}", source.name),
            "the agent consults nobody",
        ));
    }
    if matcher.opaque == Verdict::Deny {
        wishes.lines.push(not(
            "commands.opaque",
            "deny".into(),
            "the agent takes what it does not understand for text",
        ));
    }
    let files = matcher.policy.layers.iter().flat_map(|layer| &layer.files);
    for tool in files.flat_map(|file| &file.tools) {
        wishes.lines.push(not(
            &format!("tools.{}", tool.value.name),
            "which argument is what".into(),
            "the agent knows only its own tools",
        ));
    }
    wishes
}

/// A rule, unless no agent can be told of it.
fn rule(rule: &Rule, key: &str) -> Result<Wish, Line> {
    let mut lost: Vec<&str> = Vec::new();
    if !rule.args.is_empty() {
        lost.push("its conditions on arguments");
    }
    if !rule.when.is_empty() || !rule.unless.is_empty() {
        lost.push("its conditions on facts");
    }
    let (said, shown) = match &rule.judges {
        Judges::Tool => {
            let names: Vec<String> = rule.tools.iter().map(patterns::spell).collect();
            let names = if names.is_empty() {
                vec!["*".to_owned()]
            } else {
                names
            };
            let shown = texts(names.iter().map(String::as_str));
            (Said::Tool(names), shown)
        }
        Judges::Commands(own) => {
            let narrow = [
                (!own.except.is_empty(), "its exceptions"),
                (!own.with.is_empty(), "`with`"),
                (!own.without.is_empty(), "`without`"),
                (!own.operands.is_empty(), "`operands`"),
                (own.only_read, "`only`"),
                (
                    own.patterns.iter().any(|own| !own.assignments().is_empty()),
                    "its assignments",
                ),
            ];
            lost.extend(
                narrow
                    .iter()
                    .filter(|(there, _)| *there)
                    .map(|(_, what)| *what),
            );
            (
                Said::Commands(own.patterns.to_vec(), own.exact),
                texts(own.patterns.iter().map(|own| &*own.text)),
            )
        }
        Judges::Paths(own) => {
            if !own.except.is_empty() {
                lost.push("its exceptions");
            }
            (
                Said::Paths(own.modes.clone(), own.patterns.clone(), own.exact),
                texts(own.patterns.iter().map(|own| &*own.text)),
            )
        }
        Judges::Hosts(own) => {
            if !own.except.is_empty() {
                lost.push("its exceptions");
            }
            (
                Said::Hosts(own.patterns.clone()),
                texts(own.patterns.iter().map(|own| &*own.text)),
            )
        }
        Judges::Rest(section) => (Said::Rest(*section), "whatever no rule names".to_owned()),
    };
    let shown = format!("{}: {shown}", rule.action);
    let without = match lost.is_empty() {
        true => Vec::new(),
        false => vec![format!("without {}", lost.join(", "))],
    };
    if rule.action == Verdict::Allow && !without.is_empty() {
        return Err(Line {
            at: key.to_owned(),
            rule: shown,
            fidelity: Fidelity::Not,
            says: format!("it would allow more {}: the agent asks", without.join(", ")),
            becomes: Vec::new(),
        });
    }
    let mut lost = without;
    if rule.forced {
        lost.push("a remembered yes silences it".to_owned());
    }
    Ok(Wish {
        key: key.to_owned(),
        shown,
        verdict: rule.action,
        said,
        tools: match rule.judges {
            Judges::Tool => Vec::new(),
            _ => rule.tools.clone(),
        },
        lost,
        reason: rule.reason.clone(),
    })
}

/// An allow of commands without those where acl judges more than the words: an agent would let all of it pass.
fn words_alone(matcher: &Matcher, mut wish: Wish) -> Result<Wish, Line> {
    let Said::Commands(patterns, exact) = &mut wish.said else {
        return Ok(wish);
    };
    if wish.verdict != Verdict::Allow {
        return Ok(wish);
    }
    let all = std::mem::take(patterns);
    let (more, alone): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|own| besides::judged(matcher, own, *exact));
    *patterns = alone;
    if more.is_empty() {
        return Ok(wish);
    }
    let why = format!(
        "acl judges what {} would touch, run or reach besides: the agent asks",
        match more.as_slice() {
            [one] => format!("`{}`", one.text),
            [one, rest @ ..] => format!("`{}` and {} more", one.text, rest.len()),
            [] => String::new(),
        }
    );
    match patterns.is_empty() {
        true => Err(wish.line(Vec::new(), vec![why], false)),
        false => {
            wish.lost.push(why);
            Ok(wish)
        }
    }
}

/// An allow of tools as such without those of which acl judges more than the name.
fn names_alone(matcher: &Matcher, told: &[&str], mut wish: Wish) -> Result<Wish, Line> {
    let Said::Tool(all) = &mut wish.said else {
        return Ok(wish);
    };
    if wish.verdict != Verdict::Allow {
        return Ok(wish);
    }
    let judged = |name: &String| {
        let globs = Glob::parse(name).unwrap_or_default();
        let mut tools = matcher.tool_names().into_iter();
        tools.any(|tool| {
            globs.iter().any(|glob| glob.matches_text(tool, false))
                && besides::narrowed(matcher, told, tool)
        })
    };
    let (more, alone) = std::mem::take(all).into_iter().partition(judged);
    *all = alone;
    if more.is_empty() {
        return Ok(wish);
    }
    let more: Vec<String> = more;
    let why = format!(
        "{}: {}",
        texts(more.iter().map(String::as_str)),
        besides::MORE
    );
    match all.is_empty() {
        true => Err(wish.line(Vec::new(), vec![why], false)),
        false => {
            wish.lost.push(why);
            Ok(wish)
        }
    }
}

/// The tiers: of the canonical tools, and of those that are listed by other names.
fn tiers(matcher: &Matcher, told: &[&str], wishes: &mut Wishes) {
    let wish = |key: String, name: String, verdict| Wish {
        key,
        shown: format!("{verdict}: {name}"),
        verdict,
        said: Said::Tier(name),
        tools: Vec::new(),
        lost: Vec::new(),
        reason: None,
    };
    for name in canonical::names().filter(|name| *name != "own") {
        let tier = matcher.tier(name);
        let mut own = wish(tier.address, name.to_owned(), tier.verdict);
        // What no rule names has a verdict of its own, which the agent's tier must not undo.
        let stricter = match tier.verdict {
            Verdict::Allow if rest(matcher, name) => Some("a `default` of the policy is stricter"),
            Verdict::Allow if besides::narrowed(matcher, told, name) => Some(besides::MORE),
            _ => None,
        };
        if let Some(why) = stricter {
            own.verdict = Verdict::Ask;
            own.lost.push(why.to_owned());
        }
        wishes.all.push(own);
    }
    let unknown = match matcher.takes_unknown() {
        true => matcher.default_verdict().0,
        false => Verdict::Deny,
    };
    if unknown != Verdict::Ask {
        let own = wish(
            "tiers.unknown".to_owned(),
            "tools that nobody declared".to_owned(),
            unknown,
        );
        wishes.lines.push(own.line(
            Vec::new(),
            vec!["the agent asks, or lets them pass".to_owned()],
            false,
        ));
    }
    let files = || matcher.policy.layers.iter().flat_map(|layer| &layer.files);
    let declared: Vec<&str> = files()
        .flat_map(|file| &file.tools)
        .map(|tool| tool.value.name.as_str())
        .collect();
    let mut named: Vec<Wish> = Vec::new();
    for entry in files().flat_map(|file| &file.tiers) {
        for glob in &entry.names {
            let name = patterns::spell(glob);
            if canonical::canonical(&name).is_some() {
                continue;
            }
            let own = wish(entry.address.clone(), name.clone(), entry.verdict);
            let takes = entry.verdict == Verdict::Allow
                && declared.iter().any(|tool| glob.matches_text(tool, false));
            match takes || entry.verdict == Verdict::Allow && name.starts_with('*') {
                true => wishes.lines.push(own.line(
                    Vec::new(),
                    vec!["what its arguments are is not told to the agent: it asks".to_owned()],
                    false,
                )),
                false => named.push(own),
            }
        }
    }
    // Of two patterns the more specific counts.
    named.sort_by_key(|own| match &own.said {
        Said::Tier(name) => std::cmp::Reverse((!name.contains('*'), name.len())),
        _ => std::cmp::Reverse((false, 0)),
    });
    wishes.all.extend(named);
}

/// Whether what no rule names is judged more strictly than by the tier of a tool.
fn rest(matcher: &Matcher, tool: &str) -> bool {
    let sections = [
        (Section::Commands, &["bash"][..]),
        (
            Section::Paths(Mode::Read),
            &["bash", "read", "search", "list"],
        ),
        (Section::Paths(Mode::Write), &["bash", "edit", "write"]),
        (Section::Hosts, &["bash", "fetch"]),
    ];
    let strict = |at: usize| {
        matcher
            .rules
            .get(at)
            .is_some_and(|own| own.rule.action != Verdict::Allow)
    };
    let own = sections.iter().filter(|(_, tools)| tools.contains(&tool));
    own.flat_map(|(section, _)| matcher.rest(*section))
        .any(strict)
}

fn texts<'t>(all: impl Iterator<Item = &'t str>) -> String {
    let mut all: Vec<&str> = all.collect();
    all.dedup();
    all.join(", ")
}

/// The literal words a pattern begins with, and whether that is all of it.
pub(super) fn literal(pattern: &CommandPattern) -> (Vec<String>, bool) {
    let words = pattern.words.iter().map(|word| word.literal());
    let words: Vec<String> = words.map_while(|word| word.map(str::to_owned)).collect();
    let whole = words.len() == pattern.words.len();
    (words, whole)
}

/// Command patterns as texts with stars; `says` hears of those that cannot be said, or only wider. An allow is not said
/// wider. `one` as in [`starred`].
pub(super) fn all_starred(
    patterns: &[CommandPattern],
    exact: bool,
    one: bool,
    allow: bool,
    says: &mut Vec<String>,
) -> Vec<String> {
    let mut out = Vec::new();
    for pattern in patterns {
        match starred(pattern, exact, one) {
            Some((_, false)) if allow => {
                says.push(format!("`{}` would allow more: it asks", pattern.text));
            }
            None => says.push(format!("`{}` cannot be said", pattern.text)),
            Some((text, same)) => {
                if !same {
                    says.push(format!("`{text}` is wider"));
                }
                out.push(text);
            }
        }
    }
    out
}

/// A pattern as a text in which `*` stands for anything, and whether it matches no more than the pattern does. `one`: `?`
/// stands for one character. Nothing where not even its program can be said.
fn starred(pattern: &CommandPattern, exact: bool, one: bool) -> Option<(String, bool)> {
    let mut out = String::new();
    let mut same = true;
    let mut open = !exact;
    let last = pattern.words.len().saturating_sub(1);
    for (at, word) in pattern.words.iter().enumerate() {
        let WordPattern::Word(glob) = word else {
            // No word at all, or any number: neither of the blanks is sure.
            out.push('*');
            same = false;
            continue;
        };
        let mut text = String::new();
        let mut plain = true;
        for token in glob.tokens().iter() {
            match token {
                Token::Char(c) => {
                    plain &= c.is_alphanumeric() || "_@%+:,./-=^~".contains(*c);
                    text.push(*c);
                }
                Token::Star => text.push('*'),
                Token::One if one => text.push('?'),
                Token::One | Token::Class { .. } => {
                    same = false;
                    text.push(if one { '?' } else { '*' });
                }
            }
        }
        if !plain || text.is_empty() {
            // The words before it say more, and that is all that can be said.
            same = false;
            open = true;
            break;
        }
        // A star at the end of all goes on over blanks in both.
        let stars = text.matches('*').count();
        same &= stars == 0 || (at == last && at > 0 && !exact && stars == 1 && text.ends_with('*'));
        if !out.is_empty() && !out.ends_with('*')
            || out.ends_with('*')
                && at > 0
                && matches!(pattern.words.get(at - 1), Some(WordPattern::Word(_)))
        {
            out.push(' ');
        }
        out += &text;
    }
    if out.is_empty() || out.chars().all(|c| c == '*' || c == ' ') {
        return None;
    }
    if open && !out.ends_with('*') {
        out += " *";
    }
    Some((out, same))
}

/// The components of a path pattern, as they are written.
pub(super) fn components(pattern: &PathPattern) -> Vec<String> {
    let spell = |word: &WordPattern| match word {
        WordPattern::Any => "**".to_owned(),
        WordPattern::Word(glob) => patterns::spell(glob),
    };
    pattern.components.iter().map(spell).collect()
}
