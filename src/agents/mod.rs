//! The agents whose hooks call acl: what each asks, in its own terms, and how it is answered.
//!
//! In: what an agent writes to its hook. Out: an [`Asked`], whose calls `decision/` decides; and of an [`Answer`] the
//! [`Reply`] that this agent understands: output, errors and exit code. What cannot be read is refused, with the
//! agent's event where that is known. One file an agent. No file, environment or clock is looked at here.

#[cfg(feature = "cli")]
pub mod carry;
mod claude_code;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod gemini_cli;
mod input;
mod opencode;
mod settings;
mod tools;

pub use input::{Asked, Prompts, Unread};
pub use opencode::{PLUGIN, plugin, plugs};
pub use settings::{Entries, Settings, behind, closes, program, switched_off};
pub use tools::Tool;

use crate::decision::{Basis, Decision, texts};
use crate::matcher::Matcher;
use crate::policy::rule::Verdict;
use crate::text::printable;
use input::Given;

/// The agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Anthropic's.
    ClaudeCode,
    /// OpenAI's.
    Codex,
    /// Google's.
    GeminiCli,
    /// GitHub's.
    Copilot,
    /// Anysphere's editor.
    Cursor,
    /// Answered through a plugin that acl brings.
    Opencode,
    /// Charm's.
    Crush,
}

static AGENTS: &[(Agent, &Terms)] = &[
    (Agent::ClaudeCode, &claude_code::TERMS),
    (Agent::Codex, &codex::TERMS),
    (Agent::GeminiCli, &gemini_cli::TERMS),
    (Agent::Copilot, &copilot::TERMS),
    (Agent::Cursor, &cursor::TERMS),
    (Agent::Opencode, &opencode::TERMS),
    (Agent::Crush, &crush::TERMS),
];

/// What is to be known of one agent.
#[derive(Debug)]
pub struct Terms {
    /// Its name on the command line, and in a call.
    pub name: &'static str,
    /// Its name.
    pub title: &'static str,
    /// The variables in which it tells its hooks the project's folder.
    pub project: &'static [&'static str],
    /// Its tools under their own names.
    pub tools: &'static [Tool],
    /// The key under which it names the event, and the events that acl answers. Without a key there is only one.
    pub events: (&'static str, &'static [&'static str]),
    /// It leaves programs running and types into them, unseen by any hook.
    pub types: bool,
    /// Why an ask reaches nobody, where that is so.
    pub silent: &'static str,
    /// What it writes for each event, for the self-test.
    pub samples: &'static [Sample],
    /// What the self-test cannot see.
    pub beware: &'static str,
    /// Where its hooks are told, and how.
    pub settings: Settings,
    read: fn(&Given<'_>) -> Result<Asked, String>,
    write: fn(&'static str, &Answer) -> Reply,
    hears: fn(&Reply) -> Heard,
}

/// What an agent writes to its hook, with `CALL` in the place of what differs, and `FOLDER` in that of its project.
#[derive(Debug)]
pub struct Sample {
    /// The event.
    pub event: &'static str,
    /// The text.
    pub text: &'static str,
    /// What stands for `CALL`, under the policy of the self-test: allowed, asked about, denied.
    pub calls: [&'static str; 3],
}

/// What acl says of a call, before it is put into an agent's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Allow, ask or deny.
    pub verdict: Verdict,
    /// Why, for the model; never empty.
    pub model: String,
    /// Why, for the person at the agent; short, and never empty.
    pub user: String,
}

/// What a hook's process gives back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The exit code: 0 or 2.
    pub exit: u8,
}

/// What an agent makes of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The call runs.
    Runs,
    /// A person is asked.
    Asks,
    /// The agent goes on as if there were no hook: its own settings decide.
    Own,
    /// The call does not run, and the model is told why.
    Stops,
}

impl Agent {
    /// All agents.
    pub fn all() -> impl Iterator<Item = Self> {
        AGENTS.iter().map(|(agent, _)| *agent)
    }

    /// The agent of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|agent| agent.terms().name == name)
    }

    /// What is to be known of it.
    pub fn terms(self) -> &'static Terms {
        let own = AGENTS.iter().find(|(agent, _)| *agent == self);
        own.map_or(&claude_code::TERMS, |(_, terms)| terms)
    }

    /// Reads what it writes to its hook.
    ///
    /// # Errors
    /// What is wrong with it, and the event it is about, where that can be told.
    pub fn read(self, text: &[u8]) -> Result<Asked, Unread> {
        input::read(self.terms(), text)
    }

    /// The answer in its terms.
    pub fn write(self, event: &'static str, answer: &Answer) -> Reply {
        // What a model wrote stands in it: nothing of that may move, hide or reorder what a person reads.
        let answer = Answer {
            verdict: answer.verdict,
            model: printable(&answer.model),
            user: printable(&answer.user),
        };
        (self.terms().write)(event, &answer)
    }

    /// A refusal in its terms. Where the event is not known: exit code 2 with the reason on stderr, which every agent
    /// takes for a refusal.
    pub fn refuse(self, event: Option<&'static str>, why: &str) -> Reply {
        let answer = Answer::refusal(why);
        match event {
            Some(event) => self.write(event, &answer),
            None => Reply::blocked(&answer.model),
        }
    }

    /// What it makes of a reply.
    pub fn hears(self, reply: &Reply) -> Heard {
        (self.terms().hears)(reply)
    }

    /// What is said of the call that was asked about: the strictest of the decisions on what it comes to.
    pub fn answer(
        self,
        asked: &Asked,
        interactive: bool,
        decided: &[(&Matcher, Decision)],
    ) -> Answer {
        let terms = self.terms();
        let strictest = decided.iter().rev().max_by_key(|(_, own)| own.action);
        let Some((matcher, decision)) = strictest else {
            return Answer::refusal("the call names nothing that could be judged");
        };
        if terms.types && decision.action != Verdict::Deny {
            if let Some(open) = decided.iter().find_map(|(_, own)| own.left_open()) {
                return Answer::kept_closed(terms, &asked.tool, &open);
            }
        }
        let mut answer = Answer::of(matcher, decision, &asked.tool);
        let changed = decided.iter().find_map(|(matcher, _)| changed(matcher));
        if let (Verdict::Allow, Some(why)) = (answer.verdict, changed) {
            // What it denied when it was trusted may be what was changed.
            answer = Answer::asks(&asked.tool, &why);
        }
        if let (Verdict::Allow, Some(doubt)) = (answer.verdict, &asked.doubt) {
            answer = Answer::asks(&asked.tool, doubt);
        }
        answer.where_nobody_is_asked(asked.prompts, interactive, terms)
    }
}

impl Answer {
    /// What a decision says.
    fn of(matcher: &Matcher, decision: &Decision, tool: &str) -> Self {
        let by = decided_by(decision);
        let first = decision.reasons.first().map(|reason| &reason.text);
        let changed = changed(matcher).map_or_else(String::new, |why| format!("; {why}"));
        let user = match (decision.action, first) {
            (Verdict::Allow, _) => format!("acl allows this call{by}"),
            (Verdict::Ask, Some(why)) => format!("acl asks{by}: {why}{changed}"),
            (Verdict::Ask, None) => format!("acl asks{by}{changed}"),
            (Verdict::Deny, Some(why)) => format!("acl denies this call{by}: {why}"),
            (Verdict::Deny, None) => format!("acl denies this call{by}"),
        };
        let model = match decision.action {
            Verdict::Allow => user.clone(),
            Verdict::Ask => format!("{}{by}{changed}", texts::for_model(matcher, decision, tool)),
            Verdict::Deny => format!("{}{by}", texts::for_model(matcher, decision, tool)),
        };
        Self {
            verdict: decision.action,
            model,
            user,
        }
    }

    /// acl could not do its work.
    pub fn refusal(why: &str) -> Self {
        let why = why.trim_end().trim_end_matches('.');
        Self {
            verdict: Verdict::Deny,
            model: format!(
                "This call was refused, because acl could not judge it: {why}. Do not retry it; tell the user."
            ),
            user: format!("acl could not judge this call: {why}"),
        }
    }

    /// Something that no rule says is left to a person.
    pub fn asks(tool: &str, why: &str) -> Self {
        Self {
            verdict: Verdict::Ask,
            model: format!("This call of {tool} needs a human decision: {why}."),
            user: format!("acl asks: {why}"),
        }
    }

    /// A shell or an interpreter without anything to do stays open, and what is typed into it passes no hook.
    fn kept_closed(terms: &Terms, tool: &str, open: &str) -> Self {
        let why = format!("{open}, and {} shows that to no hook", terms.title);
        Self {
            verdict: Verdict::Deny,
            model: format!(
                "This call of {tool} was refused: {why}. Instead: give it its work in the same call, as a script file or on standard input. Do not retry the same call."
            ),
            user: format!("acl denies this call: {why}"),
        }
    }

    /// An ask that reaches nobody is a deny that says how to get approval.
    #[must_use]
    pub fn where_nobody_is_asked(self, prompts: Prompts, interactive: bool, terms: &Terms) -> Self {
        let reaches = match prompts {
            Prompts::Yes => true,
            Prompts::AtATerminal => interactive,
            Prompts::No => false,
        };
        if reaches || self.verdict != Verdict::Ask {
            return self;
        }
        let how = format!(
            "{}, so it was refused. Do not retry the same call: tell the user, who can do it, allow it in the policy, or let you go on without it",
            terms.silent
        );
        Self {
            verdict: Verdict::Deny,
            model: format!("{} {how}.", self.model),
            user: format!("{}. {how}", self.user),
        }
    }
}

impl Reply {
    /// JSON, and exit code 0.
    fn json(value: &serde_json::Value) -> Self {
        Self {
            out: format!("{value}\n"),
            ..Self::default()
        }
    }

    /// Exit code 2, and the reason on stderr.
    pub fn blocked(why: &str) -> Self {
        Self {
            err: format!("{}\n", printable(why)),
            exit: 2,
            ..Self::default()
        }
    }

    /// Its output as JSON; null where it is none.
    fn value(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }

    /// It is a refusal by exit code, which every agent but the one that reads no exit codes understands.
    fn blocks(&self) -> bool {
        self.exit == 2 && !self.err.trim().is_empty()
    }
}

/// That a policy says something else than when it was trusted.
fn changed(matcher: &Matcher) -> Option<String> {
    let mut layers = matcher.policy.layers.iter();
    let file = layers.find(|layer| layer.changed)?.files.first()?;
    let name = &file.source.name;
    Some(format!(
        "{name} changed since it was trusted, and allows nothing until `acl trust`"
    ))
}

/// Who decided, and where that stands: ` (rule `git-publish`, acl.toml:12)`.
fn decided_by(decision: &Decision) -> String {
    let Some(by) = &decision.decided_by else {
        return String::new();
    };
    // A grant that cleared what would have been asked says more than the tier that is left.
    let granted = decision.cleared.iter().find(|own| own.by == Basis::Grant);
    if let (Verdict::Allow, Some(granted)) = (decision.action, granted) {
        return format!(" (grant of `{}`)", granted.key);
    }
    let who = match by.rule.split_once(':') {
        Some(("tool", tool)) => format!("tier of `{tool}`"),
        Some(("source", _)) => "an outside authority".to_owned(),
        Some(_) => "the workspace".to_owned(),
        None => match decision.reasons.first().map(|reason| reason.kind) {
            Some(Basis::Opaque | Basis::Unresolved | Basis::UnknownTool) => return String::new(),
            Some(Basis::Protected) => format!("`{}`", by.rule),
            _ => format!("rule `{}`", by.rule),
        },
    };
    let at = by.place.as_ref().map_or_else(String::new, |place| {
        let (line, _) = place.source.line_column(place.span.start);
        format!(", {}:{line}", place.source.name)
    });
    format!(" ({who}{at})")
}
