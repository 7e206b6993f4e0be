//! What the arguments of a tool mean, and the canonical tools, which every agent has under some name.
//!
//! In: a name. Out: a declaration. An agent's tool names map to the canonical ones, so that one policy serves all.
//! A policy may declare others, or declare one of these anew.

use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// What is known of one tool: by the table below, or by `[tools]` in a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDecl {
    /// Its name.
    pub name: String,
    /// Its arguments that name something.
    pub arguments: Vec<Argument>,
    /// It touches all below its paths.
    pub recursive: bool,
}

/// An argument of a tool that names something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// What it names.
    pub holds: Holds,
    /// Its dotted path: `input.files[]`.
    pub path: String,
    /// Its value where the call leaves it out.
    pub default: Option<String>,
    /// The call may leave it out.
    pub optional: bool,
}

/// What an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holds {
    /// A path that is read.
    Read,
    /// A path that is written.
    Write,
    /// A command line.
    Shell,
    /// A command as a list of words.
    Argv,
    /// A URL.
    Url,
    /// An apply_patch envelope.
    Patch,
}

/// One canonical tool: its name, its arguments, whether it goes below its paths.
type Row = (
    &'static str,
    &'static [(Holds, &'static str, Option<&'static str>, bool)],
    bool,
);

/// Name, arguments (what it holds, name, default, may be left out), recursive.
static TOOLS: &[Row] = &[
    ("bash", &[(Holds::Shell, "command", None, false)], false),
    ("read", &[(Holds::Read, "path", None, false)], false),
    ("write", &[(Holds::Write, "path", None, false)], false),
    (
        "edit",
        &[
            (Holds::Write, "path", None, true),
            (Holds::Patch, "patch", None, true),
        ],
        false,
    ),
    ("search", &[(Holds::Read, "path", Some("."), true)], true),
    ("list", &[(Holds::Read, "path", Some("."), true)], false),
    ("fetch", &[(Holds::Url, "url", None, false)], false),
    // A search of the web, through a host that nobody names; and instructions that the agent takes up, with what stands in
    // them to be run. Neither has an argument that can be judged: a tier has to allow them.
    ("websearch", &[], false),
    ("skill", &[], false),
    // A sub-agent, whose calls are judged one by one; and what stays within the agent: its lists, questions to its user,
    // a look at what it has started.
    ("agent", &[], false),
    ("own", &[], false),
];

/// The names of the canonical tools.
pub fn names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|(name, _, _)| *name)
}

/// The declaration of a canonical tool.
pub fn canonical(name: &str) -> Option<&'static ToolDecl> {
    static DECLARED: OnceLock<Vec<ToolDecl>> = OnceLock::new();
    let declared = DECLARED.get_or_init(|| TOOLS.iter().map(declaration).collect());
    declared.iter().find(|tool| tool.name == name)
}

fn declaration((name, arguments, recursive): &Row) -> ToolDecl {
    let arguments = arguments
        .iter()
        .map(|(holds, path, default, optional)| Argument {
            holds: *holds,
            path: (*path).to_owned(),
            default: default.map(str::to_owned),
            optional: *optional,
        })
        .collect();
    ToolDecl {
        name: (*name).to_owned(),
        arguments,
        recursive: *recursive,
    }
}
