//! What acl says about a file: the one diagnostic type, the one miette impl.
//!
//! Made by every stage that reads a policy; rendered by `report/`. Codes are stable API, prose is not.

use crate::source::{Source, Span};
use std::sync::Arc;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A lint that is only told.
    Warn,
    /// A lint that fails the check.
    Deny,
    /// The policy cannot be loaded.
    Error,
}

/// A place in a file, with what is to be seen there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The file.
    pub source: Arc<Source>,
    /// The bytes.
    pub span: Span,
    /// A few words; may be empty.
    pub text: String,
}

/// One thing acl has to say about a policy: an error or a lint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A kebab-case name, stable.
    pub code: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// What is wrong, lower case, no full stop; the user's words in backticks.
    pub message: String,
    /// Where: the first is the place, the others are places that meet it.
    pub labels: Vec<Label>,
    /// What to type instead.
    pub help: Option<String>,
}

impl Finding {
    /// An error at one place.
    pub fn error(
        code: &'static str,
        message: impl Into<String>,
        source: &Arc<Source>,
        span: Span,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: vec![Label {
                source: Arc::clone(source),
                span,
                text: String::new(),
            }],
            help: None,
        }
    }

    /// The same finding with the words under its first label.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        if let Some(first) = self.labels.first_mut() {
            first.text = text.into();
        }
        self
    }

    /// The same finding with one more place.
    pub fn also(mut self, source: &Arc<Source>, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            source: Arc::clone(source),
            span,
            text: text.into(),
        });
        self
    }

    /// The same finding with advice.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}
