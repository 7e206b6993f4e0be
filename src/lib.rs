//! acl: policy files for the tool calls of AI agents.
//!
//! An agent proposes a call; acl says allow, ask or deny, and why. The pipeline, in the order of the modules:
//!
//! ```text
//! file ─ source ─→ tree ─ policy ─→ Policy ─ matcher ─→ Matcher ┐
//!                                                               ├─ decision ─→ Decision ─ explanation ─→ report
//! JSON ─ call ─────────────────────→ Call ─ accesses ───────────┘
//! ```

pub mod call;
#[cfg(feature = "cli")]
pub mod cli;
pub mod decision;
pub mod explanation;
pub mod finding;
pub mod lint;
pub mod matcher;
pub mod policy;
pub mod presets;
pub mod report;
pub mod source;
