//! A tree becomes a [`Policy`]: rules as written, spanned; the key table; extends and layers.
//!
//! In: policy files by layer, and a loader for what they extend. Out: a [`Policy`], or every error at once.
//! Nothing is compiled here and no call is looked at.

pub mod audit;
mod file;
pub mod kept;
pub mod keys;
mod layers;
pub mod near;
pub mod patterns;
pub mod prefixes;
pub mod rule;

// One dialect for patterns of rules and for what a shell makes of a word.
pub use crate::call::glob;
pub use audit::Audit;
pub use file::{File, Resolution, Workspace};
pub use layers::{Layer, LayerKind, Loader, Policy, Reading, Root, Trust, load, load_with};
pub use rule::Verdict;
