//! acl: policy files for the tool calls of AI agents.
//!
//! An agent proposes a call; acl says allow, ask or deny, and why. The pipeline, in the order of the modules:
//!
//! ```text
//! file ─ source ─→ tree ─ policy ─→ Policy ─ matcher ─→ Matcher ┐
//!                                                               ├─ decision ─→ Decision ─ explanation ─→ report
//! JSON ─ call ─────────────────────→ Call ─ accesses ───────────┘
//! ```
//!
//! A host embeds it in a few lines:
//!
//! ```
//! use acl::call::files::FileView;
//! use acl::call::{Args, Call};
//! use acl::decision::decide;
//! use acl::matcher::Matcher;
//! use acl::policy::{self, LayerKind, Root, Trust, Verdict};
//! use acl::source::{Format, Source};
//! use std::sync::Arc;
//!
//! let text = r#"
//! version = 1
//! [tiers]
//! ask = ["bash"]
//! [commands]
//! allow = ["git status"]
//! deny = [{ match = "rm", with = ["-r", "-f"], reason = "recursive forced delete" }]
//! "#;
//! let source = Source::new("policy.toml", text, Some(Format::Toml)).map(Arc::new)?;
//! let root = Root { kind: LayerKind::User, source, folder: None, trusted: Trust::Yes };
//! let policy = policy::load(vec![root], &|name, _| Err(format!("there is no file `{name}`")));
//! let matcher = Matcher::compile(policy.map_err(|mut findings| findings.remove(0))?);
//!
//! let args = Args::text(r#"{"command": "git status && sudo rm -fr build"}"#);
//! let call = Call { cwd: Some("/w".into()), ..Call::new("bash", args) };
//! let decision = decide(&matcher, &call, &FileView::None);
//! assert_eq!(decision.action, Verdict::Deny);
//! assert_eq!(decision.reasons[0].text, "recursive forced delete");
//! # Ok::<(), acl::finding::Finding>(())
//! ```
//!
//! # In an agent of your own
//!
//! A [`Matcher`](matcher::Matcher) is made once and shared by all threads; [`decide`](decision::decide) is pure: it asks nobody, keeps
//! nothing, and reads no file but through the [`FileView`](call::files::FileView) that it is given. What a host owes it:
//!
//! - **Before anything runs.** Every call of a turn is decided by itself, with the arguments as the model wrote them:
//!   [`Args::text`](call::Args::text) takes a text that may be anything. A call that is refused gets its reason as the tool's result,
//!   under its own id: [`texts::for_model`](decision::texts::for_model).
//! - **From the host alone** come [`cwd`](call::Call::cwd), [`facts`](call::Call::facts), [`verdicts`](call::Call::verdicts),
//!   [`approvals`](call::Call::approvals), [`grants`](call::Call::grants) and [`mode`](call::Call::mode). Nothing in the arguments sets one.
//! - **A yes is for one call.** The host shows the [`reasons`](decision::Decision::reasons) of an ask, and hands the answer in as approvals
//!   that carry the call's [`digest`](call::Call::digest); then it decides once more, and runs the tool only on an allow:
//!
//! ```
//! # use acl::call::files::FileView;
//! # use acl::policy::{self, LayerKind, Root, Trust};
//! # use acl::source::{Format, Source};
//! # use std::sync::Arc;
//! use acl::call::{Approval, Args, Call};
//! use acl::decision::{decide, texts};
//! use acl::matcher::Matcher;
//! use acl::policy::Verdict;
//!
//! # let text = "version = 1\n[tiers]\nask = [\"deploy\"]\n";
//! # let source = Source::new("policy.toml", text, Some(Format::Toml)).map(Arc::new)?;
//! # let root = Root { kind: LayerKind::User, source, folder: None, trusted: Trust::Yes };
//! # let policy = policy::load(vec![root], &|name, _| Err(format!("there is no file `{name}`")));
//! # let matcher = Matcher::compile(policy.map_err(|mut findings| findings.remove(0))?);
//! // With the policy `[tiers] ask = ["deploy"]`:
//! let mut call = Call::new("deploy", Args::text(r#"{"to": "production"}"#));
//! let asked = decide(&matcher, &call, &FileView::Real);
//! assert_eq!(asked.action, Verdict::Ask);
//! assert!(texts::for_model(&matcher, &asked, "deploy").contains("needs a human decision"));
//!
//! // Somebody said yes, to this very call.
//! let digest = call.digest();
//! let yes = |reason: &acl::decision::Reason| Approval { key: reason.key.clone(), call: Some(digest.clone()) };
//! call.approvals = asked.reasons.iter().map(yes).collect();
//! assert_eq!(decide(&matcher, &call, &FileView::Real).action, Verdict::Allow);
//! # Ok::<(), acl::finding::Finding>(())
//! ```
//!
//! `examples/harness.rs` is a whole agent's loop of that kind. Why a call was decided so, with the words of the line that count, is an
//! [`Explanation`](explanation::Explanation); what changed between two policies, [`language::changed`].
//!
//! Features: `cli` (the default) is the `acl` program; without it the library needs no terminal, no argument parser and no locks.

pub mod text;

pub mod finding;

pub mod source;

pub mod call;

pub mod policy;

pub mod presets;

pub mod matcher;

pub mod decision;

pub mod explanation;

pub mod language;

pub mod report;

pub mod agents;

pub mod cases;

pub mod lint;

pub mod session;

#[cfg(feature = "cli")]
pub mod cli;
