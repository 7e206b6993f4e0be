//! What acl says about a file: the one diagnostic type, the one miette impl.
//!
//! Made by every stage that reads a policy; rendered by `report/`. Codes are stable API, prose is not. An error's page,
//! the text of `acl check --explain CODE`, is `finding/errors/⟨code⟩.md`; its blocks are its test.

use crate::text::{Source, Span};
use serde_json::Value;
use std::fmt;
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

impl Severity {
    /// As `check --format json` and the rendered line call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Deny => "deny",
            Self::Error => "error",
        }
    }
}

impl From<Severity> for miette::Severity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Warn => Self::Warning,
            Severity::Deny | Severity::Error => Self::Error,
        }
    }
}

macro_rules! errors {
    ($($code:literal)*) => {
        /// The codes of errors, each with its page in Markdown, by the alphabet.
        pub static ERRORS: &[(&str, &str)] = &[
            $(($code, include_str!(concat!("finding/errors/", $code, ".md"))),)*
        ];
    };
}

errors! {
    "contradicting-options" "duplicate-id" "duplicate-key" "extends-cycle" "failing-example" "group-cycle"
    "invalid-pattern" "list-with-first-match" "missing-key" "syntax" "unknown-disable" "unknown-fact" "unknown-group"
    "unknown-key" "unknown-placeholder" "unknown-source" "unknown-verdict" "unreadable-file" "unsupported-version" "wrong-type"
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

/// A repair of a finding that is sure to be what was meant: other bytes in the file of its first label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The bytes that go.
    pub span: Span,
    /// What stands there instead.
    pub text: String,
    /// What it does, and what it changes about decisions.
    pub says: String,
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
    /// A call that shows it, as `acl decide` reads one; only what is about meaning has one.
    pub witness: Option<Box<Value>>,
    /// What `--fix` does about it.
    pub fix: Option<Box<Fix>>,
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
            witness: None,
            fix: None,
        }
    }

    /// A lint at one place, to be told only; the room of lints weighs it.
    pub fn lint(
        code: &'static str,
        message: impl Into<String>,
        source: &Arc<Source>,
        span: Span,
    ) -> Self {
        Self {
            severity: Severity::Warn,
            ..Self::error(code, message, source, span)
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

    /// The same finding with a repair.
    pub fn fix(mut self, span: Span, text: impl Into<String>, says: impl Into<String>) -> Self {
        self.fix = Some(Box::new(Fix {
            span,
            text: text.into(),
            says: says.into(),
        }));
        self
    }

    /// The same finding with advice.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// The same finding with a call that shows it, also in words.
    pub fn witness(mut self, call: Value, shown: impl fmt::Display) -> Self {
        let help = self
            .help
            .take()
            .map_or_else(String::new, |help| help + "; ");
        self.help = Some(format!("{help}for example: `{shown}`"));
        self.witness = Some(Box::new(call));
        self
    }
}

/// One more finding, for its label and help to be added where it stands.
pub(crate) fn pushed(findings: &mut Vec<Finding>, finding: Finding) -> &mut Finding {
    let at = findings.len();
    findings.push(finding);
    #[allow(
        clippy::indexing_slicing,
        reason = "the index is that of the element just pushed"
    )]
    &mut findings[at]
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Finding {}

impl miette::Diagnostic for Finding {
    fn code(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity.into())
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(self.help.as_ref()?))
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.labels
            .first()
            .map(|label| &*label.source as &dyn miette::SourceCode)
    }

    /// The places in the first label's file; those in others are [`related`](Self::related).
    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        let first = self.labels.first()?;
        let mut primary = true;
        let here = self
            .labels
            .iter()
            .filter(|label| label.source == first.source);
        Some(Box::new(here.map(move |label| {
            label.spanned(std::mem::take(&mut primary))
        })))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        let first = self.labels.first()?;
        let mut away = self
            .labels
            .iter()
            .filter(|label| label.source != first.source)
            .peekable();
        away.peek()?;
        Some(Box::new(away.map(|label| label as &dyn miette::Diagnostic)))
    }
}

impl Label {
    fn spanned(&self, primary: bool) -> miette::LabeledSpan {
        let text = (!self.text.is_empty()).then(|| self.text.clone());
        let range = (
            self.span.start,
            self.span.end.saturating_sub(self.span.start),
        );
        if primary {
            miette::LabeledSpan::new_primary_with_span(text, range)
        } else {
            miette::LabeledSpan::new_with_span(text, range)
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "see `{}`", self.source.name)
    }
}

impl std::error::Error for Label {}

impl miette::Diagnostic for Label {
    fn severity(&self) -> Option<miette::Severity> {
        Some(miette::Severity::Advice)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&*self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.spanned(true))))
    }
}

impl miette::SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &miette::SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        let inner = self.text.as_str().read_span(span, before, after)?;
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.name.clone(),
            inner.data(),
            *inner.span(),
            inner.line(),
            inner.column(),
            inner.line_count(),
        )))
    }
}
