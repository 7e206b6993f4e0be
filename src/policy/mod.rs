//! A tree becomes a [`Policy`]: rules as written, spanned; the key table; extends and layers.
//!
//! In: policy files by layer, and a loader for what they extend. Out: a [`Policy`], or every error at once.
//! Nothing is compiled here and no call is looked at.

mod file;
pub mod glob;
pub mod keys;
mod layers;
pub mod near;
pub mod patterns;
pub mod rule;

pub use file::{File, Resolution, Workspace};
pub use layers::{Layer, LayerKind, Loader, Policy, Root, load};
pub use rule::Verdict;
