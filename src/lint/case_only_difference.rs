//! Two names of one list that differ in letter case only: one of them is probably a slip.
//!
//! Tools, programs and allowed paths are compared with case, so the two do not mean the same.

use super::Room;
use super::room::{Pattern, written};
use crate::finding::Finding;
use crate::policy::rule::Verdict;
use crate::source::{Source, Span};
use std::collections::HashMap;
use std::sync::Arc;

const CODE: &str = "case-only-difference";

/// What is compared with what: the kind and the file.
type Kind = (&'static str, usize);

/// Looks at declared tools, command patterns, allowed paths and facts.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen: HashMap<(Kind, String), (String, Arc<Source>, Span)> = HashMap::new();
    let mut look = |kind: Kind, name: &str, source: &Arc<Source>, span: Span| {
        let folded = name.to_lowercase();
        match seen.get(&(kind, folded.clone())) {
            Some((first, other, at)) if first != name => found.push(
                Finding::lint(
                    CODE,
                    format!("`{name}` and `{first}` differ in letter case only, and are two {}", kind.0),
                    source,
                    span,
                )
                .label("this one")
                .also(other, *at, "and this one")
                .help("keep the one that is meant"),
            ),
            Some(_) => {}
            None => {
                seen.insert((kind, folded), (name.to_owned(), Arc::clone(source), span));
            }
        }
    };
    for (at, file) in room.files().enumerate() {
        for tool in &file.tools {
            look(("tools", at), &tool.value.name, &file.source, tool.span);
        }
        for fact in &file.facts {
            look(("facts", at), &fact.name, &file.source, fact.span);
        }
        let own = |source: &Arc<Source>| Arc::ptr_eq(source, &file.source);
        for compiled in room.rules().filter(|own_rule| own(&own_rule.rule.place.source)) {
            let rule = &compiled.rule;
            for text in written(rule) {
                let kind = match text.patterns.first() {
                    // Options differ by case and mean it: `git branch -d`, `-D`.
                    Some(Pattern::Command(_)) if !text.text.contains(" -") => "commands",
                    Some(Pattern::Path(_)) if rule.action == Verdict::Allow => "paths",
                    _ => continue,
                };
                let span = room.spot_of(rule, &text);
                look((kind, at), &text.text, &rule.place.source, span);
            }
        }
    }
    found
}
