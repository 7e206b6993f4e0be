//! A policy → rules of an agent; one file an agent.

mod besides;
pub(super) mod claude_code;
pub(super) mod codex;
pub(super) mod gemini_cli;
pub(super) mod opencode;
pub(super) mod wishes;
