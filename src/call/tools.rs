//! The canonical tools: what the arguments of every agent's own tools mean.
//!
//! An agent's tool names map to these (see `agents/`), so that one policy serves all. A policy may declare
//! others, or declare one of these anew.

use crate::policy::rule::{Argument, Holds, ToolDecl};

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
];

/// The names of the canonical tools.
pub fn names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|(name, _, _)| *name)
}

/// The declaration of a canonical tool.
pub fn canonical(name: &str) -> Option<ToolDecl> {
    let (name, arguments, recursive) = TOOLS.iter().find(|(tool, _, _)| *tool == name)?;
    let arguments = arguments
        .iter()
        .map(|(holds, path, default, optional)| Argument {
            holds: *holds,
            path: (*path).to_owned(),
            default: default.map(str::to_owned),
            optional: *optional,
        })
        .collect();
    Some(ToolDecl {
        name: (*name).to_owned(),
        arguments,
        recursive: *recursive,
    })
}
