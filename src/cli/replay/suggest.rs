//! Rules that would spare questions: few of them, each with what else it lets through.
//!
//! In: the calls that are asked about. Out: rules in the order of what each spares. A rule is told only where calls were
//! decided anew under it and then pass, and what it lets through besides is found by the same search as `acl diff`.

use super::super::given::Files;
use super::super::{Stop, policies};
use crate::call::Call;
use crate::call::access::{Access, Cover, Kind, Mode, Role};
use crate::call::programs::{self, Does, Start};
use crate::call::shell;
use crate::decision::{Basis, Decision, Judged, decide};
use crate::language::{Way, changed};
use crate::lint::{self, Levels};
use crate::matcher::Matcher;
use crate::policy::rule::Verdict;
use crate::policy::{Root, Trust};
use crate::session::audit::subject;
use crate::session::secrets::Secrets;
use crate::source::{Format, Source};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::LazyLock;

/// Where a rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum List {
    Commands,
    Read,
    Write,
    Hosts,
    Tools,
}

impl List {
    const ALL: [Self; 5] = [
        Self::Commands,
        Self::Read,
        Self::Write,
        Self::Hosts,
        Self::Tools,
    ];

    const fn section(self) -> &'static str {
        match self {
            Self::Commands => "commands",
            Self::Read => "paths.read",
            Self::Write => "paths.write",
            Self::Hosts => "hosts",
            Self::Tools => "rules",
        }
    }
}

/// A text in a list of what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Rule {
    list: List,
    text: String,
    /// It stands for nothing but the very words.
    exact: bool,
}

/// What a call lacks: one of these rules, the widest first.
type Need = Vec<Rule>;

/// One of the different calls that are asked about.
#[derive(Debug)]
struct Ask {
    count: usize,
    tool: String,
    ground: String,
    subject: String,
    calls: Vec<Call>,
    /// None: no rule that is suggested would spare the question.
    needs: Option<Vec<Need>>,
    /// A person said no to it: that is an answer, not a question to spare.
    refused: bool,
}

/// The calls that are asked about.
#[derive(Debug, Default)]
pub struct Asks(BTreeMap<usize, Ask>);

/// Calls of one kind that are asked about.
#[derive(Debug)]
pub struct Top {
    pub count: usize,
    pub tool: String,
    pub ground: String,
    pub subject: String,
}

impl Asks {
    /// One that was not there before.
    pub fn add(&mut self, number: usize, calls: Vec<Call>, decided: Vec<Decision>) {
        let asked = calls
            .iter()
            .zip(&decided)
            .find(|(_, own)| own.action == Verdict::Ask);
        let Some((call, decision)) = asked else {
            return;
        };
        let ground = decision
            .decided_by
            .as_ref()
            .map_or(decision.basis.name(), |by| &by.rule);
        let needs = calls
            .iter()
            .zip(&decided)
            .map(|(call, own)| needs(call, own));
        let needs: Option<Vec<Vec<Need>>> = needs.collect();
        let ask = Ask {
            count: 0,
            tool: call.tool.clone(),
            // Paths outside are one.
            ground: match ground.split_once(':') {
                Some((kind @ "outside-workspace", _)) => kind.to_owned(),
                _ => ground.to_owned(),
            },
            subject: call.args.object().map(subject).unwrap_or_default(),
            needs: needs.map(|needs| needs.into_iter().flatten().collect()),
            calls,
            refused: false,
        };
        self.0.insert(number, ask);
    }

    /// It is asked about once more.
    pub fn again(&mut self, number: usize) {
        if let Some(ask) = self.0.get_mut(&number) {
            ask.count += 1;
        }
    }

    /// A person refused it.
    pub fn refuse(&mut self, number: usize) {
        if let Some(ask) = self.0.get_mut(&number) {
            ask.refused = true;
        }
    }

    /// The most frequent kinds.
    pub fn top(&self, most: usize) -> Vec<Top> {
        let mut kinds: BTreeMap<(String, String, String), Top> = BTreeMap::new();
        for ask in self.0.values() {
            let first = ask.needs.as_ref().and_then(|needs| needs.first()?.first());
            let kind = first.map_or_else(String::new, |rule| rule.text.clone());
            let key = (ask.tool.clone(), ask.ground.clone(), kind);
            let top = kinds.entry(key).or_insert_with(|| Top {
                count: 0,
                tool: ask.tool.clone(),
                ground: ask.ground.clone(),
                subject: ask.subject.chars().take(400).collect(),
            });
            top.count += ask.count;
        }
        let mut kinds: Vec<Top> = kinds.into_values().collect();
        kinds.sort_by(|a, b| {
            b.count
                .cmp(&a.count)
                .then_with(|| a.subject.cmp(&b.subject))
        });
        kinds.truncate(most);
        kinds
    }
}

/// What would spare the question; none where only another decision of the user would.
fn needs(call: &Call, decision: &Decision) -> Option<Vec<Need>> {
    if decision.action == Verdict::Allow {
        return Some(Vec::new());
    }
    let tier = |own: &crate::decision::Reason| own.kind == Basis::Tier && !own.forced;
    if decision.action == Verdict::Deny || !decision.reasons.iter().all(tier) {
        return None;
    }
    let asked = decision
        .judged
        .iter()
        .filter(|judged| judged.verdict == Verdict::Ask);
    if part_of_another(decision) {
        return None;
    }
    let mut needs = Vec::new();
    let mut tool = false;
    for judged in asked {
        match need(call, judged) {
            Lacks::Rule(need) => needs.push(need),
            Lacks::Tool => tool = true,
            Lacks::Nothing => {}
            Lacks::Unknown => return None,
        }
    }
    if needs.is_empty() && tool {
        needs.push(vec![rule(List::Tools, call.tool.clone())]);
    }
    needs.sort();
    needs.dedup();
    // A secret belongs into no policy.
    static SECRETS: LazyLock<Option<Secrets>> = LazyLock::new(|| Secrets::with(&[]).ok());
    let secrets = SECRETS.as_ref()?;
    let open = needs
        .iter()
        .flatten()
        .all(|rule| secrets.places(&rule.text).is_empty());
    (!needs.is_empty() && open).then_some(needs)
}

/// A command that is asked about starts another one that is asked about too (`docker exec c sh`): no rule is about both
/// as a whole, and one about the inner command would let it pass anywhere.
fn part_of_another(decision: &Decision) -> bool {
    let asked =
        |own: &&Judged| own.verdict == Verdict::Ask && matches!(own.access.kind, Kind::Command(_));
    let asked: Vec<&Access> = decision
        .judged
        .iter()
        .filter(asked)
        .map(|own| &own.access)
        .collect();
    let inside = |outer: &Access, inner: &Access| {
        let span = outer.span.zip(inner.span);
        inner.via.len() > outer.via.len()
            && inner.via.starts_with(&outer.via)
            && span.is_none_or(|(outer, inner)| outer.covers(inner))
    };
    // Those that stand in others come after them; a long line of many is not compared each with each.
    asked.iter().enumerate().any(|(at, inner)| {
        let before = asked.iter().take(at).rev().take(NEAR);
        !inner.via.is_empty() && before.clone().any(|outer| inside(outer, inner))
    })
}

/// How many commands before one may be what starts it.
const NEAR: usize = 8;

enum Lacks {
    Rule(Need),
    /// A rule about the tool as such, where nothing else is lacking.
    Tool,
    /// What covers another access covers it.
    Nothing,
    Unknown,
}

const fn rule(list: List, text: String) -> Rule {
    Rule {
        list,
        text,
        exact: false,
    }
}

fn need(call: &Call, judged: &Judged) -> Lacks {
    match &judged.access.kind {
        Kind::Tool => Lacks::Tool,
        Kind::Command(_) => command(&judged.access).map_or(Lacks::Unknown, Lacks::Rule),
        Kind::Path(path) if path.cover == Cover::Tool => {
            let list = match path.mode {
                Mode::Read => List::Read,
                Mode::Write => List::Write,
            };
            let below = judged.real.as_deref().zip(call.workspace.as_deref());
            let below = below.and_then(|(real, top)| real.strip_prefix(top)?.strip_prefix('/'));
            let Some(below) = below.filter(|below| below.chars().all(is_plain)) else {
                return Lacks::Unknown;
            };
            // A name without a slash would be meant at any depth.
            let exact = match below.contains('/') {
                true => below.to_owned(),
                false => format!("./{below}"),
            };
            let folder = below
                .rsplit_once('/')
                .map(|(folder, _)| format!("{folder}/**"));
            let rules = folder.into_iter().chain([exact]);
            Lacks::Rule(rules.map(|text| rule(list, text)).collect())
        }
        Kind::Host(host) if host.cover == Cover::Tool => {
            let url = host.url.text().and_then(|url| url::Url::parse(url).ok());
            let name = url.as_ref().and_then(|url| url.host_str());
            match name.filter(|name| name.chars().all(is_plain)) {
                Some(name) => Lacks::Rule(vec![rule(List::Hosts, name.to_owned())]),
                None => Lacks::Unknown,
            }
        }
        Kind::Path(_) | Kind::Host(_) => Lacks::Nothing,
        Kind::Opaque(_) => Lacks::Unknown,
    }
}

/// It means itself in a pattern, and to a shell.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:=,%".contains(c)
}

/// How many words a rule has at most.
const WORDS: usize = 3;

/// The program with the words that choose what it does.
fn command(access: &Access) -> Option<Need> {
    let Kind::Command(command) = &access.kind else {
        return None;
    };
    let words = command.words.iter().map(|word| {
        let text = word.text().filter(|_| !word.splits)?;
        (!text.is_empty() && text.chars().all(is_plain)).then_some(text)
    });
    let known: Vec<&str> = words.clone().map_while(|word| word).collect();
    known.first()?;
    let chooses = |word: &&&str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    let chosen = known.iter().skip(1).take_while(chooses).count();
    let whole = known.len() == command.words.len();
    // `make` alone is every target, `python` every script. Where a word cannot be written, a program as a whole is too
    // much to spare one question.
    let least = 1 + usize::from(chosen > 0 || !whole);
    let prefixes = (least..=(1 + chosen).min(WORDS)).filter_map(|count| known.get(..count));
    let prefixes: Vec<String> = prefixes.map(|words| words.join(" ")).collect();
    // Where the words after it choose what it does, a rule names that there are such.
    let open = prefixes.first().filter(|_| chosen > 1);
    let open = open.map(|prefix| format!("{prefix} *"));
    let texts = open.into_iter().chain(prefixes.iter().cloned());
    let mut need: Need = texts.map(|text| rule(List::Commands, text)).collect();
    // What another command started is no line of its own.
    if whole && (access.via.is_empty() || need.is_empty()) {
        need.push(Rule {
            exact: true,
            ..rule(List::Commands, known.join(" "))
        });
    }
    (!need.is_empty()).then_some(need)
}

/// Rules that spare questions.
#[derive(Debug)]
pub struct Suggestion {
    rules: Vec<Rule>,
    /// How many questions they spare, beside those before them.
    spares: usize,
    /// What else they let through: none where nothing was found, and whether that is proved.
    besides: Option<String>,
    proved: bool,
    /// What lints say of them.
    beware: Vec<String>,
}

/// How many different calls are looked at: the most frequent.
const CALLS: usize = 1000;

/// How often rules may turn out to spare nothing.
const VAIN: usize = 20;

/// A call that is still asked about, and what it lacks.
struct Open<'a> {
    ask: &'a Ask,
    needs: Vec<Need>,
}

impl Open<'_> {
    /// Without rules that turned out not to do; whether others are left.
    fn strip(&mut self, rules: &[Rule]) -> bool {
        for need in &mut self.needs {
            need.retain(|rule| !rules.contains(rule));
        }
        !self.needs.iter().any(Vec::is_empty)
    }
}

/// The rules that spare the most, the best first.
pub fn suggest(
    asks: &Asks,
    roots: &[Root],
    files: Files,
    most: usize,
) -> Result<Vec<Suggestion>, Stop> {
    let lacking = asks.0.values().filter_map(|ask| {
        let needs = ask.needs.clone().filter(|_| !ask.refused)?;
        Some(Open { ask, needs })
    });
    let mut open: Vec<Open<'_>> = lacking.collect();
    open.sort_by_key(|own| std::cmp::Reverse(own.ask.count));
    open.truncate(CALLS);
    let mut refused: Vec<&Ask> = asks.0.values().filter(|ask| ask.refused).collect();
    refused.sort_by_key(|ask| std::cmp::Reverse(ask.count));
    refused.truncate(CALLS);
    let mut chosen: Vec<Rule> = Vec::new();
    let mut vain = 0;
    let mut out: Vec<Suggestion> = Vec::new();
    while out.len() < most && vain < VAIN {
        let Some(rules) = best(&open) else {
            break;
        };
        let with: Vec<Rule> = chosen.iter().chain(&rules).cloned().collect();
        let new = under(&with, roots)?;
        let now = |own: &Open<'_>| -> Option<Vec<Need>> {
            let calls = own.ask.calls.iter();
            let needs =
                calls.map(|call| needs(call, &decide(&new, call, &super::view(call, files))));
            Some(needs.collect::<Option<Vec<_>>>()?.concat())
        };
        let after: Vec<Option<Vec<Need>>> = open.iter().map(now).collect();
        let passes = |needs: &Option<Vec<Need>>| needs.as_ref().is_some_and(Vec::is_empty);
        let spared = open.iter().zip(&after).filter(|(_, needs)| passes(needs));
        let spared: Vec<&Ask> = spared.map(|(own, _)| own.ask).collect();
        let lets_pass = |ask: &&&Ask| {
            let mut calls = ask.calls.iter();
            calls.all(|call| decide(&new, call, &super::view(call, files)).action == Verdict::Allow)
        };
        let refused = refused.iter().any(|ask| lets_pass(&ask));
        let beware = beware(&new, &rules).filter(|_| !spared.is_empty() && !refused);
        let Some(beware) = beware else {
            vain += 1;
            open.retain_mut(|own| own.strip(&rules));
            continue;
        };
        let before: Vec<Rule> = chosen.iter().cloned().chain(exactly(&spared)).collect();
        let (besides, proved) = besides(&under(&before, roots)?, &new, &rules, &spared);
        out.push(Suggestion {
            spares: spared.iter().map(|ask| ask.count).sum(),
            besides,
            proved,
            beware,
            rules,
        });
        let left = open.iter().zip(after).filter_map(|(own, needs)| {
            let ask = own.ask;
            let needs = needs.filter(|needs| !needs.is_empty())?;
            let mut own = Open { ask, needs };
            own.strip(&with).then_some(own)
        });
        open = left.collect();
        chosen = with;
    }
    Ok(out)
}

/// The rules that would spare the most for each of them, were they all that is needed.
fn best(open: &[Open<'_>]) -> Option<Vec<Rule>> {
    let mut weights: HashMap<&Rule, usize> = HashMap::new();
    for own in open {
        for rule in own.needs.iter().flatten() {
            *weights.entry(rule).or_default() += own.ask.count;
        }
    }
    let weight = |rule: &Rule| weights.get(rule).copied().unwrap_or_default();
    let candidates = open.iter().map(|own| {
        // Of two that spare as much the narrower, which stands behind.
        let picked = own.needs.iter().filter_map(|need| {
            let best = need.iter().enumerate();
            best.max_by_key(|(at, rule)| (weight(rule), *at))
                .map(|(_, rule)| rule.clone())
        });
        picked.collect::<BTreeSet<Rule>>().into_iter().collect()
    });
    let candidates: BTreeSet<Vec<Rule>> = candidates.collect();
    let worth = |rules: &Vec<Rule>| {
        let met = |need: &Need| need.iter().any(|rule| rules.contains(rule));
        let spared = open.iter().filter(|own| own.needs.iter().all(met));
        let spared: usize = spared.map(|own| own.ask.count).sum();
        spared * 60 / rules.len().max(1)
    };
    let valued = candidates.into_iter().map(|rules| (worth(&rules), rules));
    let best = valued.max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)));
    best.map(|(_, rules)| rules)
}

/// Rules for these calls and no others, where their words can be written as such.
fn exactly(asks: &[&Ask]) -> Vec<Rule> {
    let needs = asks.iter().flat_map(|ask| ask.needs.iter().flatten());
    let last = needs.filter_map(|need| need.last());
    let only = |rule: &&Rule| {
        rule.exact || matches!(rule.list, List::Read | List::Write) && !rule.text.ends_with("**")
    };
    let mut rules: Vec<Rule> = last.filter(only).cloned().collect();
    rules.sort();
    rules.dedup();
    rules.truncate(200);
    rules
}

/// The name that the rules' file goes by.
const NAME: &str = "suggested.toml";

/// The policy with these rules besides.
fn under(rules: &[Rule], roots: &[Root]) -> Result<Matcher, Stop> {
    let text = format!("version = 1\nname = \"suggested\"\n{}", written(rules));
    let source = Source::new(NAME, text.into_bytes(), Some(Format::Toml));
    let source = source.map_err(|finding| Stop::Found(vec![finding]))?;
    let mut roots = roots.to_vec();
    let Some(last) = roots.last().cloned() else {
        return Err(Stop::told("there is no policy"));
    };
    roots.push(Root {
        source: Arc::new(source),
        trusted: Trust::Yes,
        ..last
    });
    policies::compile(roots)
}

/// Rules as a policy writes them.
fn written(rules: &[Rule]) -> String {
    let mut out = String::new();
    for list in List::ALL {
        let texts = rules.iter().filter(|rule| rule.list == list).map(|rule| {
            let text = Value::from(rule.text.as_str());
            match rule.exact {
                true => format!("{{ match = {text}, exact = true }}"),
                false => text.to_string(),
            }
        });
        let texts: Vec<String> = texts.collect();
        if texts.is_empty() {
            continue;
        }
        let texts = texts.join(", ");
        let _ = match list {
            List::Tools => write!(out, "\n[[rules]]\naction = \"allow\"\ntools = [{texts}]\n"),
            list => write!(out, "\n[{}]\nallow = [{texts}]\n", list.section()),
        };
    }
    out
}

/// A call that only the new policy lets through, and whether there being none is proved.
fn besides(
    old: &Matcher,
    new: &Matcher,
    rules: &[Rule],
    spared: &[&Ask],
) -> (Option<String>, bool) {
    let changes = changed(old, new);
    let ways = || changes.iter().map(|change| &change.fate.loosened);
    let shown = ways().filter_map(|way| match way {
        Way::Shown(moved) => Some(moved.witness.to_string()),
        Way::No | Way::Unknown => None,
    });
    let shown: Vec<String> = shown.collect();
    // The very line that was asked about says nothing new, nor do the words of the rule.
    let says = |call: &&String| {
        spared.iter().all(|ask| ask.subject != **call)
            && rules
                .iter()
                .all(|rule| rule.text.trim_end_matches(" *") != call.as_str())
    };
    let told = shown.iter().find(says).cloned();
    let more = || further(old, new, rules, spared);
    let told = match shown.is_empty() {
        true => None,
        false => told.or_else(more).or(shown.into_iter().next()),
    };
    (told, ways().all(|way| !matches!(way, Way::Unknown)))
}

/// What may stand behind the words of a rule, the worst first.
const BEHIND: &[&str] = &["-rf .", "--force x", "-f x", "src", "x"];

/// A call that a rule lets through with more than its own words.
fn further(old: &Matcher, new: &Matcher, rules: &[Rule], spared: &[&Ask]) -> Option<String> {
    let call = spared.first()?.calls.first()?;
    let passes = |matcher: &Matcher, line: &str| {
        let call = Call {
            args: crate::call::Args::from(json!({ "command": line })),
            ..call.clone()
        };
        decide(matcher, &call, &crate::call::files::FileView::None).action == Verdict::Allow
    };
    rules.iter().find_map(|rule| match rule.list {
        List::Tools => Some(format!("{} with any arguments", rule.text)),
        List::Commands if !rule.exact => {
            let words = rule.text.trim_end_matches(" *");
            let lines = BEHIND.iter().map(|more| format!("{words} {more}"));
            lines
                .into_iter()
                .find(|line| passes(new, line) && !passes(old, line))
        }
        _ => None,
    })
}

/// Lints about allow rules that let through more than they seem to: what one of them says is told, and what the other is
/// about is never suggested.
const TOLD: &str = "broad-allow";
const NEVER: &str = "escalation-allowed";

fn beware(matcher: &Matcher, rules: &[Rule]) -> Option<Vec<String>> {
    let found = lint::run(matcher, &Levels::default(), &BTreeSet::new());
    let mut said: Vec<String> = Vec::new();
    for finding in found.told {
        let about = finding.labels.first().is_some_and(|label| {
            let text = label.span.of(&label.source.text);
            label.source.name == NAME && rules.iter().any(|rule| text.contains(&rule.text))
        });
        match finding.code {
            NEVER if about => return None,
            TOLD if about && !said.contains(&finding.message) => said.push(finding.message),
            _ => {}
        }
    }
    let commands = rules.iter().filter(|rule| rule.list == List::Commands);
    said.extend(commands.filter_map(|rule| doubtful(&rule.text)));
    Some(said)
}

const REWRITABLE: &str = "runs what files of the project say, which the agent can rewrite";

/// Commands of which a rule is to be told apart from what their words seem to say.
const DOUBTFUL: &[(&str, &str)] = &[
    ("env", "prints the environment, and the secrets in it"),
    ("printenv", "prints the environment, and the secrets in it"),
    ("ln", LINKS),
    ("link", LINKS),
    ("cp -s", LINKS),
    ("cp -l", LINKS),
    (
        "git config",
        "sets what git runs, or where it connects to, at its next commands",
    ),
    (
        "acl check --fix",
        "rewrites the policy that judges the agent",
    ),
    ("docker compose", REWRITABLE),
    ("docker-compose", REWRITABLE),
    ("podman compose", REWRITABLE),
];

const LINKS: &str =
    "makes a link: what is written to it later is written where it leads, a policy too";

/// What is to be said of what a rule lets run: what the agent can write anew before it runs, and what lasts.
fn doubtful(text: &str) -> Option<String> {
    let scene = shell::Scene {
        cwd: Some("/workspace".to_owned()),
        ..shell::Scene::default()
    };
    let accesses = shell::accesses(text, &scene);
    let command = accesses.iter().find_map(|access| match &access.kind {
        Kind::Command(command) => Some(command),
        _ => None,
    })?;
    let words = |role: Role| {
        let own = command.words.iter().zip(&command.roles);
        own.filter(move |(_, own)| **own == role)
            .filter_map(|(word, _)| word.text())
    };
    let begins = |(start, _): &&(&str, &str)| {
        let rest = text.strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    if let Some((_, why)) = DOUBTFUL.iter().find(begins) {
        return Some(format!("`{text}` {why}"));
    }
    let first = text.split(' ').next()?;
    if first.contains('/') && !first.starts_with('/') {
        return Some(format!("`{first}` is a file that the agent can rewrite"));
    }
    let mut entry = programs::find(first)?.entry.as_entry();
    let mut does = entry.does;
    for sub in words(Role::Subcommand).filter_map(|word| entry.sub(word)) {
        entry = sub;
        does = entry.does.or(does);
    }
    let file = words(Role::Operand).next();
    match (entry.starts, does) {
        (Start::Shell | Start::Code | Start::Source, _) => {
            file.map(|file| format!("`{file}` is a file that the agent can rewrite"))
        }
        _ if entry.interactive => Some(format!("`{text}` waits for what is typed into it")),
        (_, Some(Does::Runs)) => Some(format!("`{text}` {REWRITABLE}")),
        _ => None,
    }
}

/// For people.
pub fn human(suggestions: &[Suggestion], asks: usize) -> String {
    let rules: Vec<Rule> = suggestions
        .iter()
        .flat_map(|own| own.rules.clone())
        .collect();
    if rules.is_empty() {
        return "\nno rule would spare a question\n".to_owned();
    }
    let spared: usize = suggestions.iter().map(|own| own.spares).sum();
    let count = match rules.len() {
        1 => "one rule spares".to_owned(),
        count => format!("{count} rules spare"),
    };
    let mut out = format!("\n{count} {spared} of {asks} questions\n\n");
    for own in suggestions {
        let names: Vec<String> = own.rules.iter().map(shown).collect();
        let _ = writeln!(out, "{:5}  {}", own.spares, names.join(" and "));
        let _ = match (&own.besides, own.proved) {
            (Some(call), _) => writeln!(out, "       lets through besides, for one: {call}"),
            (None, true) => writeln!(out, "       lets nothing else through"),
            (None, false) => writeln!(out, "       what else it lets through is not known"),
        };
        for text in &own.beware {
            let _ = writeln!(out, "       beware: {text}");
        }
    }
    let _ = write!(out, "\nin a policy:\n{}", written(&rules));
    out
}

fn shown(rule: &Rule) -> String {
    let exactly = if rule.exact { ", exactly" } else { "" };
    match rule.list {
        List::Tools => format!("the tool `{}`", rule.text),
        list => format!("{}: `{}`{exactly}", list.section(), rule.text),
    }
}

/// For scripts.
pub fn json(suggestions: &[Suggestion]) -> Value {
    let told = suggestions.iter().map(|own| {
        let rules = own.rules.iter().map(
            |rule| json!({"list": rule.list.section(), "text": rule.text, "exact": rule.exact}),
        );
        json!({
            "rules": rules.collect::<Vec<_>>(),
            "spares": own.spares,
            "besides": own.besides,
            "proved": own.proved,
            "beware": own.beware,
        })
    });
    Value::Array(told.collect())
}
