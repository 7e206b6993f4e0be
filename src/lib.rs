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
//! use acl::policy::{self, LayerKind, Root, Verdict};
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
//! let root = Root { kind: LayerKind::User, source, folder: None, trusted: true };
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
