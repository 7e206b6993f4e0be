//! `decide(&Matcher, &Call, &FileView) → Decision`: pure and total.
//!
//! In: a compiled policy, a call with what the host vouches for, a view of the files. Out: allow, ask or deny, every
//! reason, and what was judged on the way. No clock, environment, network or prompt; the same inputs give the same
//! bytes. `judge.rs` judges one access, `below.rs` looks below a folder, `satisfy.rs` clears obligations, `record.rs` is the JSON, `texts.rs` the prose.

mod below;
mod judge;
pub mod record;
mod satisfy;
pub mod texts;
mod tracked;

use crate::call::access::{Access, Kind};
use crate::call::accesses;
use crate::call::files::{FileView, Folders};
use crate::call::{Call, Mode, Said};
use crate::matcher::located::{Folder, Frame};
use crate::matcher::{Matcher, Tier};
use crate::policy::near;
use crate::policy::rule::{Place, Verdict};
use judge::Judge;

pub use judge::{Covered, Judged, Matched};

/// What was decided, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Allow, ask or deny.
    pub action: Verdict,
    /// What it rests on.
    pub basis: Basis,
    /// The rule, tier or authority that decided.
    pub decided_by: Option<DecidedBy>,
    /// Every reason of an ask or a deny, in order; empty on allow.
    pub reasons: Vec<Reason>,
    /// What would have been asked, had not something denied the call.
    pub overtaken: Vec<Reason>,
    /// Obligations that were cleared, and by what.
    pub cleared: Vec<Cleared>,
    /// The accesses, each as it was judged.
    pub judged: Vec<Judged>,
    /// The command line that the spans point into.
    pub line: Option<String>,
    /// The tool's tier, where the decision got that far.
    pub tier: Option<Tier>,
    /// Facts that rules asked for and the host did not give.
    pub missing_facts: Vec<String>,
    /// Approvals that were given for another call, and so did not count.
    pub misplaced: Vec<String>,
    /// The stage that ended the decision early, if one did.
    pub stopped_at: Option<Stage>,
}

/// The stages of a decision, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Text → JSON object, declared arguments there and of the right type.
    Arguments,
    /// Somebody covers the tool.
    Coverage,
    /// The call is taken apart.
    Accesses,
    /// Protected files.
    Protected,
    /// Paths outside the roots.
    Workspace,
    /// Rules.
    Rules,
    /// The tool's tier.
    Tier,
    /// Outside authorities.
    Sources,
    /// Obligations are cleared.
    Satisfy,
    /// Allow or ask.
    Resolve,
    /// The mode.
    Mode,
}

impl Stage {
    /// All stages with their names.
    pub const ALL: [(Self, &'static str); 11] = [
        (Self::Arguments, "arguments"),
        (Self::Coverage, "coverage"),
        (Self::Accesses, "accesses"),
        (Self::Protected, "protected"),
        (Self::Workspace, "workspace"),
        (Self::Rules, "rules"),
        (Self::Tier, "tier"),
        (Self::Sources, "sources"),
        (Self::Satisfy, "satisfy"),
        (Self::Resolve, "resolve"),
        (Self::Mode, "mode"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(stage, _)| *stage == self)
            .map_or("", |(_, name)| name)
    }
}

/// What a decision rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
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
    /// The tool's tier.
    Tier,
    /// An outside authority's refusal.
    Verdict,
    /// The mode.
    Mode,
    /// Only a fresh human decision will do.
    Forced,
    /// An approval cleared the last obligation.
    Approval,
    /// A session approval did.
    Session,
    /// A grant did.
    Grant,
    /// An endorsement did.
    Endorsement,
}

impl Basis {
    /// All there are.
    pub const ALL: [Self; 15] = [
        Self::Arguments,
        Self::UnknownTool,
        Self::Protected,
        Self::Workspace,
        Self::Rule,
        Self::Opaque,
        Self::Unresolved,
        Self::Tier,
        Self::Verdict,
        Self::Mode,
        Self::Forced,
        Self::Approval,
        Self::Session,
        Self::Grant,
        Self::Endorsement,
    ];

    /// Its name in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::UnknownTool => "unknown-tool",
            Self::Protected => "protected",
            Self::Workspace => "workspace",
            Self::Rule => "rule",
            Self::Opaque => "opaque",
            Self::Unresolved => "unresolved",
            Self::Tier => "tier",
            Self::Verdict => "verdict",
            Self::Mode => "mode",
            Self::Forced => "forced",
            Self::Approval => "approval",
            Self::Session => "session",
            Self::Grant => "grant",
            Self::Endorsement => "endorsement",
        }
    }
}

/// Who decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecidedBy {
    /// The rule's key, or `tool:NAME`, `source:NAME`, `protected.NAME`.
    pub rule: String,
    /// Its address in the policy.
    pub address: Option<String>,
    /// Where it stands.
    pub place: Option<Place>,
    /// The outside authority, where one decided and has a name.
    pub source: Option<String>,
}

/// Why a call is refused or asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The obligation's key, or the refusal's.
    pub key: String,
    /// Ask or deny.
    pub action: Verdict,
    /// What kind of reason it is.
    pub kind: Basis,
    /// Only a fresh human decision clears it.
    pub forced: bool,
    /// Index of the access, where it is about one.
    pub access: Option<usize>,
    /// What it is about: a command, a path, a host, the tool.
    pub subject: String,
    /// Why, for human and model.
    pub text: String,
    /// What to do instead.
    pub instead: Option<String>,
    /// The address in the policy.
    pub address: Option<String>,
    /// Where it stands in the policy.
    pub place: Option<Place>,
    /// Its order among its kind.
    pub(crate) order: usize,
}

/// An obligation that was cleared.
#[derive(Clone, Debug, PartialEq)]
pub struct Cleared {
    /// Its key.
    pub key: String,
    /// By what.
    pub by: Basis,
    /// The authority that endorsed, where it has a name.
    pub source: Option<String>,
    /// `session` or `global`, for a grant.
    pub scope: Option<&'static str>,
    /// It was forced: an approval of this very call cleared it.
    pub forced: bool,
}

impl Decision {
    /// What of the call runs code that is not written in it: a shell, an interpreter or a console that stays open for
    /// what is typed into it, or runs what another command writes.
    pub fn left_open(&self) -> Option<String> {
        let open = |access: &&Access| match &access.kind {
            Kind::Command(own) => own.open,
            Kind::Opaque(own) => own.open,
            _ => false,
        };
        let mut accesses = self.judged.iter().map(|judged| &judged.access);
        accesses.find(open).map(|access| match &access.kind {
            Kind::Opaque(own) => format!("{}: that is not written in the call", own.why),
            _ => format!(
                "`{}` waits for what is typed into it",
                texts::subject(access, "")
            ),
        })
    }

    fn refused(
        call: &Call,
        stage: Stage,
        basis: Basis,
        texts: impl IntoIterator<Item = (String, Option<String>)>,
    ) -> Self {
        let reasons = texts
            .into_iter()
            .map(|(text, instead)| Reason {
                key: basis.name().into(),
                action: Verdict::Deny,
                kind: basis,
                forced: false,
                access: None,
                subject: call.tool.clone(),
                text,
                instead,
                address: None,
                place: None,
                order: 0,
            })
            .collect();
        Self {
            action: Verdict::Deny,
            basis,
            decided_by: None,
            reasons,
            overtaken: Vec::new(),
            cleared: Vec::new(),
            judged: Vec::new(),
            line: None,
            tier: None,
            missing_facts: Vec::new(),
            misplaced: Vec::new(),
            stopped_at: Some(stage),
        }
    }
}

/// Decides a call.
pub fn decide(matcher: &Matcher, call: &Call, view: &FileView) -> Decision {
    let args = match call.args.object() {
        Ok(args) => args,
        Err(fault) => {
            return Decision::refused(
                call,
                Stage::Arguments,
                Basis::Arguments,
                [(fault.to_owned(), None)],
            );
        }
    };
    let unknown = !matcher.covers(&call.tool);
    if unknown && !matcher.refuses_by_name(&call.tool) {
        return unknown_tool(matcher, call);
    }
    let declaration = matcher.declaration(&call.tool);
    let taken = match accesses::taken(call, args, declaration, view) {
        Ok(taken) => taken,
        Err(faults) => {
            let texts = faults.into_iter().map(|fault| (fault, None));
            return Decision::refused(call, Stage::Arguments, Basis::Arguments, texts);
        }
    };
    let frame = frame(matcher, call, view, &taken.accesses);
    let tier = matcher.tier(&call.tool);
    let mut judge = Judge::new(matcher, call, args, &frame, &tier, &taken.accesses);
    judge.accesses();
    judge.tier();
    let endorser = sources(matcher, call, &mut judge.reasons);
    let Judge {
        mut reasons,
        mut judged,
        missing_facts,
        ..
    } = judge;
    for (judged, access) in judged.iter_mut().zip(taken.accesses) {
        judged.access = access;
    }
    if unknown && !reasons.iter().any(|reason| reason.action == Verdict::Deny) {
        return unknown_tool(matcher, call);
    }
    let mut decision = Decision {
        action: Verdict::Allow,
        basis: Basis::Tier,
        decided_by: None,
        reasons: Vec::new(),
        overtaken: Vec::new(),
        cleared: Vec::new(),
        judged,
        line: taken.line,
        tier: Some(tier),
        missing_facts,
        misplaced: Vec::new(),
        stopped_at: None,
    };
    if reasons.iter().any(|reason| reason.action == Verdict::Deny) {
        let (mut reasons, mut overtaken): (Vec<Reason>, Vec<Reason>) = reasons
            .into_iter()
            .partition(|reason| reason.action == Verdict::Deny);
        reasons.sort_by_key(|reason| (deny_order(reason.kind), reason.order));
        overtaken.sort_by_key(|reason| (ask_order(reason), reason.order));
        decision.overtaken = overtaken;
        decision.action = Verdict::Deny;
        decision.basis = reasons.first().map_or(Basis::Rule, |reason| reason.kind);
        decision.decided_by = reasons.first().map(DecidedBy::of);
        decision.reasons = reasons;
        return decision;
    }
    reasons.sort_by_key(|reason| (ask_order(reason), reason.order));
    satisfy::satisfy(call, reasons, endorser.as_deref(), &mut decision);
    match decision.reasons.first() {
        None => {
            decision.action = Verdict::Allow;
            let (basis, by) = judge::ground(matcher, &decision, &call.tool);
            decision.basis = decision.cleared.last().map_or(basis, |cleared| cleared.by);
            decision.decided_by = by;
        }
        Some(first) => {
            decision.action = Verdict::Ask;
            decision.basis = if first.forced {
                Basis::Forced
            } else {
                first.kind
            };
            decision.decided_by = Some(DecidedBy::of(first));
        }
    }
    mode(call, &mut decision);
    decision
}

/// The refusal of a tool that nobody knows.
fn unknown_tool(matcher: &Matcher, call: &Call) -> Decision {
    let tool = &call.tool;
    let shown = texts::short(tool);
    let mut text = format!("no declaration, tier or rule covers the tool `{shown}`");
    if let Some(near) = near::nearest(tool, matcher.tool_names()) {
        text.push_str(&format!("; there is `{near}`"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    if shown.chars().all(plain) {
        text.push_str(&format!(
            "; to have it asked about: `[tiers] ask = [\"{tool}\"]` in the policy"
        ));
    }
    Decision::refused(call, Stage::Coverage, Basis::UnknownTool, [(text, None)])
}

impl DecidedBy {
    fn of(reason: &Reason) -> Self {
        Self {
            rule: reason.key.clone(),
            address: reason.address.clone(),
            place: reason.place.clone(),
            source: reason
                .key
                .strip_prefix("source:")
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
        }
    }
}

/// A deny's reasons by the stage that denied.
const fn deny_order(kind: Basis) -> u8 {
    match kind {
        Basis::Protected => 0,
        Basis::Workspace => 1,
        Basis::Rule => 2,
        Basis::Opaque => 3,
        Basis::Tier => 4,
        _ => 5,
    }
}

/// An ask's reasons: forced, rules, workspace, opaque, unresolved, tier.
const fn ask_order(reason: &Reason) -> u8 {
    if reason.forced {
        return 0;
    }
    match reason.kind {
        Basis::Rule => 1,
        Basis::Workspace => 2,
        Basis::Opaque => 3,
        Basis::Unresolved => 4,
        _ => 5,
    }
}

/// The folders that patterns are relative to, for this call.
pub(crate) fn frame<'v>(
    matcher: &Matcher,
    call: &Call,
    view: &'v FileView,
    accesses: &[Access],
) -> Frame<'v> {
    use crate::call::access::Kind;
    let paths = accesses
        .iter()
        .any(|access| !matches!(access.kind, Kind::Tool | Kind::Host(_)));
    if !paths {
        return Frame::default();
    }
    let own = call.workspace.as_deref().or(call.cwd.as_deref());
    let roots: Vec<String> = match &matcher.roots {
        Some((roots, folder)) => roots
            .iter()
            .filter_map(|root| {
                let absolute = match root.strip_prefix('~') {
                    Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                        format!("{}{rest}", call.home.as_deref()?)
                    }
                    _ if root.starts_with('/') => return Some(crate::call::path::normal(root)),
                    _ => crate::call::path::join(folder.as_deref().or(own)?, root),
                };
                Some(crate::call::path::normal(&absolute))
            })
            .collect(),
        None => matcher
            .folder
            .as_deref()
            .or(own)
            .map(crate::call::path::normal)
            .into_iter()
            .collect(),
    };
    let roots = roots
        .into_iter()
        .map(|root| Folder::of(root, view))
        .collect();
    let home = call
        .home
        .as_deref()
        .map(|home| Folder::of(crate::call::path::normal(home), view));
    let mut frame = Frame {
        roots,
        home,
        view: Some(view),
        linked: Vec::new(),
        folders: Folders::default(),
    };
    if view.sees() {
        frame.linked = judge::linked(matcher, &frame, view);
    }
    frame
}

/// Outside authorities in their order; the first that endorses is returned.
fn sources(matcher: &Matcher, call: &Call, reasons: &mut Vec<Reason>) -> Option<String> {
    let mut endorser = None;
    let mut denied = false;
    let known = matcher
        .sources
        .iter()
        .map(|source| (source.name.as_str(), source.on_error, Some(&source.place)));
    // An authority that the policy does not know may refuse and ask, but not endorse.
    let strange = call
        .verdicts
        .keys()
        .filter(|name| !matcher.sources.iter().any(|source| source.name == **name))
        .map(|name| (name.as_str(), Some(Verdict::Ask), None));
    for (order, (name, on_error, place)) in known.chain(strange).enumerate() {
        let said = call.verdicts.get(name).copied();
        let shown = if name.is_empty() {
            "an outside authority".to_owned()
        } else {
            format!("`{name}`")
        };
        let (action, text) = match (said, on_error) {
            (Some(Said::Abstain), _) => continue,
            (Some(Said::Allow), _) => {
                if place.is_some() && endorser.is_none() {
                    endorser = Some(name.to_owned());
                }
                continue;
            }
            (Some(Said::Deny), _) => (Verdict::Deny, format!("{shown} refuses this call")),
            (Some(Said::Ask), _) => (Verdict::Ask, format!("{shown} wants a human to decide")),
            (Some(Said::Error) | None, None) => continue,
            (Some(Said::Error), Some(on_error)) => {
                (on_error, format!("{shown} could not be reached"))
            }
            (None, Some(on_error)) => (on_error, format!("{shown} gave no verdict")),
        };
        if action == Verdict::Deny && std::mem::replace(&mut denied, true) {
            continue;
        }
        reasons.push(Reason {
            key: format!("source:{name}"),
            action,
            kind: Basis::Verdict,
            forced: action == Verdict::Ask,
            access: None,
            subject: call.tool.clone(),
            text,
            instead: None,
            address: place.map(|_| "sources".to_owned()),
            place: place.cloned(),
            // After the rules that force a decision.
            order: usize::MAX / 2 + order,
        });
    }
    endorser
}

/// What the mode makes of it.
fn mode(call: &Call, decision: &mut Decision) {
    match call.mode {
        Mode::NonInteractive if decision.action == Verdict::Ask => {
            decision.action = Verdict::Deny;
            decision.basis = Basis::Mode;
        }
        Mode::Plan => {
            let accesses = decision.judged.iter().map(|judged| &judged.access);
            let first = accesses
                .enumerate()
                .find(|(_, access)| !judge::only_reads(access));
            if let Some((at, subject)) =
                first.map(|(at, access)| (at, texts::subject(access, &call.tool)))
            {
                let reason = Reason {
                    key: "mode:plan".into(),
                    action: Verdict::Deny,
                    kind: Basis::Mode,
                    forced: false,
                    access: Some(at),
                    subject,
                    text: "not available in planning mode: only reading is".into(),
                    instead: Some(
                        "finish the plan first, and do this when it is carried out".into(),
                    ),
                    address: None,
                    place: None,
                    order: 0,
                };
                decision.action = Verdict::Deny;
                decision.basis = Basis::Mode;
                decision.decided_by = None;
                decision.reasons.insert(0, reason);
            }
        }
        _ => {}
    }
}
