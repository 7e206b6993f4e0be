//! What goes over the wire and into storage: words, and JSON of fixed field names.
//!
//! In: what became of a call. Out: the same as others read it. Words and fields are only ever added, never changed:
//! `tests/gateway/wire.rs` holds them.

use crate::decision;
use crate::policy::Verdict;
use crate::report::card::Card;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name of the event that carries a [`Confirmation`].
pub const EVENT: &str = "tool_confirmation";

/// Under which key a run's own state holds its pending confirmation, where a host keeps one.
pub const STATE_KEY: &str = "__pending_tool_confirmation__";

/// What became of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nobody has said anything yet.
    Pending,
    /// A person said yes.
    Approved,
    /// A person said no; or it was cancelled, or nobody answered in time.
    Denied,
}

/// How a person's word reaches its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Path {
    /// The run waits: it is woken, and runs the tool itself.
    Live,
    /// The run is gone: the gateway runs the tool, or refuses in its place, and starts one continuation.
    Recovery,
}

/// What an approval is remembered for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remember {
    /// Nothing.
    #[default]
    #[serde(rename = "", alias = "none")]
    None,
    /// The session.
    Session,
    /// Every session of the user.
    Global,
}

/// What a call's end rests on. A forced or a plain ask is no end: neither has a word here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The tool's tier.
    Tier,
    /// An outside authority refused.
    Verdict,
    /// An outside authority endorsed.
    Endorsement,
    /// A grant.
    Grant,
    /// The id was there before: the first outcome again.
    Duplicate,
    /// The run was cancelled, or nobody answered in time.
    Canceled,
    /// The question could not be stored.
    PersistFailed,
    /// A person said yes.
    Approval,
    /// A person said no.
    Refusal,
    /// A person said yes, and nobody there has the tool.
    Unavailable,
    /// The arguments are not what the tool declares.
    Arguments,
    /// Nobody covers the tool.
    UnknownTool,
    /// A protected file.
    Protected,
    /// The workspace.
    Workspace,
    /// A rule.
    Rule,
    /// A line, or a part of one, that is not understood.
    Opaque,
    /// Words that cannot be computed.
    Unresolved,
    /// The mode.
    Mode,
    /// A session approval.
    Session,
}

impl From<decision::Basis> for Basis {
    fn from(basis: decision::Basis) -> Self {
        use decision::Basis as Of;
        match basis {
            Of::Arguments => Self::Arguments,
            Of::UnknownTool => Self::UnknownTool,
            Of::Protected => Self::Protected,
            Of::Workspace => Self::Workspace,
            Of::Rule => Self::Rule,
            Of::Opaque => Self::Opaque,
            Of::Unresolved => Self::Unresolved,
            Of::Tier => Self::Tier,
            // A forced ask ends no call: only a refusal of its authority could.
            Of::Verdict | Of::Forced => Self::Verdict,
            Of::Mode => Self::Mode,
            Of::Approval => Self::Approval,
            Of::Session => Self::Session,
            Of::Grant => Self::Grant,
            Of::Endorsement => Self::Endorsement,
        }
    }
}

/// A question that waits for a person, or waited. Times are in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Confirmation {
    /// Its id: the call's.
    pub confirmation_id: String,
    /// The call's id.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// The arguments, what looks like a secret masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<String, Value>>,
    /// The session.
    pub session_id: String,
    /// What became of it.
    pub status: Status,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// When it was asked.
    pub created_at: i64,
}

/// A call's end: what the host does with it, and what the model is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terminal {
    /// The call's id.
    pub call: String,
    /// Its session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// Whether it may run, or has run: see [`Terminal::to_run`].
    pub allowed: bool,
    /// What that rests on.
    pub basis: Basis,
    /// The outside authority that refused or endorsed, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What the model is told, where it does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The person who decided, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// How the person's word reached the run; none: nobody's word settled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
    /// What the tool said, where the gateway had it run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl Terminal {
    /// Whether the host that waited runs the tool now: not where the gateway had it run already.
    pub fn to_run(&self) -> bool {
        self.allowed && self.path != Some(Path::Recovery)
    }

    /// The event of an end that nobody's word brought about; none for a settlement, which is no event.
    pub fn event(&self) -> Option<PermissionEvent> {
        self.path.is_none().then(|| PermissionEvent {
            call: self.call.clone(),
            allowed: self.allowed,
            basis: self.basis,
            source: self.source.clone(),
        })
    }
}

/// An end that nobody's word brought about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionEvent {
    /// The call's id.
    pub call: String,
    /// Whether it may run.
    pub allowed: bool,
    /// What that rests on.
    pub basis: Basis,
    /// The outside authority that refused or endorsed, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A call that does not run, as some hosts want its tool's result: `{"status":"denied","tool":"t","reason":"…"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRun {
    /// `denied`, or `approval_required`.
    pub status: String,
    /// The tool.
    pub tool: String,
    /// Why, where that is said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl NotRun {
    /// Of a verdict; none where it runs.
    pub fn of(verdict: Verdict, tool: &str, reason: &str) -> Option<Self> {
        let status = match verdict {
            Verdict::Allow => return None,
            Verdict::Ask => "approval_required",
            Verdict::Deny => "denied",
        };
        Some(Self {
            status: status.to_owned(),
            tool: tool.to_owned(),
            reason: reason.to_owned(),
        })
    }
}

/// A tool's result as the model is given it, a refusal as any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `tool`.
    pub role: String,
    /// The call's id.
    pub tool_call_id: String,
    /// What the tool said, or why it did not run.
    pub content: String,
}

impl Terminal {
    /// The result that the model is given; none where its host has yet to run the tool.
    pub fn message(&self) -> Option<Message> {
        let content = self.result.as_ref().or(self.text.as_ref())?;
        Some(Message {
            role: "tool".to_owned(),
            tool_call_id: self.call.clone(),
            content: content.clone(),
        })
    }
}

/// A pending confirmation as a list shows it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// The confirmation.
    #[serde(flatten)]
    pub confirmation: Confirmation,
    /// Whether its run waits.
    pub live: bool,
    /// When it is taken as refused.
    pub expires_at: i64,
    /// What whoever decides must know: that it may have run already, that it was asked before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What remembering an approval would grant: `tool:NAME`, `rule:KEY`.
    pub remembers: Vec<String>,
    /// What is said of it under the policy as it is now, nothing masked: for whoever writes it out.
    #[serde(skip)]
    pub card: Option<Card>,
    /// In how many places the arguments are masked or cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masked: Option<usize>,
}
