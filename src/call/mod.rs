//! What the agent wants to do, agent-free: a call, taken apart into accesses.

pub mod access;
pub mod programs;
pub mod shell;
pub mod word;
