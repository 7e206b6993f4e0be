//! acl: policy files for the tool calls of AI agents. A call is proposed; acl says allow, ask or deny, and why.

pub mod call;
pub mod finding; //    what acl says about a file
pub mod report;
pub mod source; // 1. file → tree with a span on every key and value // 4. what the agent wants to do, agent-free // 7. what was found or decided → text
