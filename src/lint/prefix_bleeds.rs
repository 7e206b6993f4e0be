//! A `*` right after a name also takes longer names: `mcp__git*` also `mcp__github__…`, `.env*` also `.environment`.
//!
//! Told for MCP servers, for names of hidden files, and for programs of an allow; elsewhere such a star is mostly meant.

use super::Room;
use super::room::{Pattern, written};
use crate::finding::Finding;
use crate::policy::glob::{Glob, Token};
use crate::policy::patterns::{self, PathPattern, WordPattern};
use crate::policy::rule::Verdict;

const CODE: &str = "prefix-bleeds";

/// Looks at tool names, names of files, and programs.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (glob, _, source, span) in room.tool_patterns() {
        if let Some(server) = bleeding_server(&glob) {
            let message = format!(
                "`{}` also covers the tools of every other server whose name starts with `{server}`",
                patterns::spell(&glob)
            );
            found.push(
                Finding::lint(CODE, message, &source, span)
                    .label(format!("also `mcp__{server}hub__…`"))
                    .help(format!("write `mcp__{server}__*` for the tools of `{server}`")),
            );
        }
    }
    for compiled in room.rules() {
        let rule = &compiled.rule;
        for own in written(rule) {
            for pattern in &own.patterns {
                let name = match pattern {
                    Pattern::Path(path) => hidden_name(path),
                    Pattern::Command(command) if rule.action == Verdict::Allow => {
                        match command.words.first() {
                            Some(WordPattern::Word(glob)) => bleeding(glob),
                            _ => None,
                        }
                    }
                    _ => None,
                };
                if let Some(name) = name {
                    let span = room.spot_of(rule, &own);
                    let finding = told(&own.text, &name, &rule.place.source, span);
                    found.push(match pattern {
                        Pattern::Command(_) => finding.help(format!("name each program as it is called: `{name}`")),
                        _ => finding,
                    });
                    break;
                }
            }
        }
    }
    for set in &room.matcher.protected {
        for path in &set.paths.patterns {
            if let Some(name) = hidden_name(path) {
                let span = room.spot_of_file(set, &path.text);
                found.push(told(&path.text, &name, &set.place.source, span));
            }
        }
    }
    found
}

fn told(
    text: &str,
    name: &str,
    source: &std::sync::Arc<crate::source::Source>,
    span: crate::source::Span,
) -> Finding {
    Finding::lint(
        CODE,
        format!("`{text}` also covers longer names that only start with `{name}`"),
        source,
        span,
    )
    .label(format!("also `{name}{}`", if name == ".env" { "ironment" } else { "x" }))
    .help(format!("write two patterns, `{name}` and `{name}.*`"))
}

/// The literal text before a star at the very end, where it ends in a letter or digit.
fn bleeding(glob: &Glob) -> Option<String> {
    let tokens = glob.tokens();
    let (last, before) = tokens.split_last()?;
    if *last != Token::Star || before.is_empty() {
        return None;
    }
    let name: Option<String> = before.iter().map(Token::char).collect();
    name.filter(|name| name.ends_with(char::is_alphanumeric) && !name.contains('/'))
}

fn hidden_name(path: &PathPattern) -> Option<String> {
    let last = path.components.iter().rev().find_map(|word| match word {
        WordPattern::Word(glob) => Some(glob),
        WordPattern::Any => None,
    })?;
    bleeding(last).filter(|name| name.starts_with('.') && !name.get(1..).unwrap_or_default().contains('.'))
}

/// The server of `mcp__git*`; none for `mcp__git__*` and for `mcp__*`.
fn bleeding_server(glob: &Glob) -> Option<String> {
    let tokens = glob.tokens();
    let start: String = tokens.iter().map_while(Token::char).collect();
    let next = tokens.get(start.chars().count());
    let server = start.strip_prefix("mcp__")?;
    let name = server.trim_end_matches('_');
    let bleeds = next == Some(&Token::Star) && !name.is_empty() && !server.contains("__");
    bleeds.then(|| name.to_owned())
}
