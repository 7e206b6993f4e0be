//! Rules of an agent → a policy; one file an agent.

pub(super) mod claude_code;
pub(super) mod codex;
mod draft;
pub(super) mod gemini_cli;
mod made;
pub(super) mod opencode;
mod starlark;
mod stars;

pub(super) use draft::KEPT_NOTE;
