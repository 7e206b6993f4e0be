//! `# acl: allow(code) reason`: on the line of a finding, or in the comment right above it.
//!
//! In: the comments of a file. Out: its suppressions. What only looks like one is left to be a comment, except that a
//! suppression without a closing parenthesis or a code suppresses nothing and is therefore told as unused.

use crate::policy::File;
use crate::source::{Source, Span};
use std::cell::Cell;
use std::sync::Arc;

/// One suppression.
#[derive(Debug)]
pub struct Suppression {
    /// The file.
    pub source: Arc<Source>,
    /// The codes it names, and whether each kept a finding back.
    pub codes: Vec<(String, Cell<bool>)>,
    /// Why; may be empty.
    pub reason: String,
    /// The comment.
    pub span: Span,
    /// The line it stands on.
    pub line: usize,
    /// The line it is about, where it has a line of its own: the first below it that is no comment.
    pub below: Option<usize>,
}

/// The suppressions of a file.
pub fn read(file: &File) -> Vec<Suppression> {
    let source = &file.source;
    let own_line = |number: usize| {
        let text = source.line(number).of(&source.text);
        text.trim_start().starts_with('#')
    };
    // From the end, so that of many comments in a row each looks at the next one only.
    let mut known = (usize::MAX, 0);
    let mut found: Vec<Suppression> = file
        .comments
        .iter()
        .rev()
        .filter_map(|span| {
            let body = span.of(&source.text).trim_start_matches('#').trim();
            let rest = body.strip_prefix("acl:")?.trim_start();
            let rest = rest.strip_prefix("allow")?.trim_start().strip_prefix('(')?;
            let (codes, reason) = rest.split_once(')').unwrap_or((rest, ""));
            let (line, _) = source.line_column(span.start);
            let below = own_line(line).then(|| {
                let mut next = line + 1;
                while own_line(next) && next != known.0 {
                    next += 1;
                }
                if next == known.0 {
                    next = known.1;
                }
                known = (line, next);
                next
            });
            Some(Suppression {
                source: Arc::clone(source),
                codes: codes
                    .split(',')
                    .map(|code| (code.trim().to_owned(), Cell::new(false)))
                    .collect(),
                reason: reason.trim_matches([' ', ':', '-', '–']).to_owned(),
                span: *span,
                line,
                below,
            })
        })
        .collect();
    found.reverse();
    found
}
