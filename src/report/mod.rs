//! What was found or decided → text: for people, for scripts, for other tools.
//!
//! In: findings, or an explanation. Out: a string or JSON value; who asked for it writes it. One file a format and
//! subject; those of a check are in the table below, one line each. Refuses nothing.

#[cfg(feature = "gateway")]
pub mod card;
#[cfg(feature = "cli")]
pub mod difference;
#[cfg(feature = "cli")]
mod github;
#[cfg(feature = "cli")]
pub mod human;
#[cfg(feature = "cli")]
pub mod human_explanation;
pub mod json;
pub mod json_explanation;
#[cfg(feature = "cli")]
pub mod junit;
#[cfg(feature = "cli")]
mod picture;
#[cfg(feature = "cli")]
mod sarif;
pub mod schema;
#[cfg(feature = "cli")]
pub mod table;
#[cfg(feature = "cli")]
mod wording;

#[cfg(feature = "cli")]
pub use check::{Checked, FORMATS, Format};

#[cfg(feature = "cli")]
mod check {
    use super::{github, human, json, junit, sarif};
    use crate::finding::{Finding, Severity};

    /// What a check came to.
    pub struct Checked<'f> {
        /// The policies that were looked at, as they were named.
        pub policies: &'f [String],
        /// What is told.
        pub told: &'f [Finding],
        /// What comments keep back, with the reasons they give.
        pub kept: &'f [(Finding, String)],
        /// The page of a code.
        pub page: fn(&str) -> Option<&'static str>,
        /// Warnings fail the check too.
        pub warnings_fail: bool,
        /// How wide pictures may be, in columns.
        pub width: usize,
        /// Whether pictures are coloured.
        pub color: bool,
    }

    impl Checked<'_> {
        /// Whether a finding fails the check.
        pub fn fails(&self, finding: &Finding) -> bool {
            finding.severity > Severity::Warn || self.warnings_fail
        }

        /// How many findings there are of a severity.
        pub fn count(&self, severity: Severity) -> usize {
            let own = self.told.iter();
            own.filter(|finding| finding.severity == severity).count()
        }
    }

    /// A format of `acl check`.
    #[derive(Debug)]
    pub struct Format {
        /// What `--format` calls it.
        pub name: &'static str,
        /// Whom it is for.
        pub about: &'static str,
        /// Writes it.
        pub write: fn(&Checked<'_>) -> String,
    }

    const fn format(
        name: &'static str,
        about: &'static str,
        write: fn(&Checked<'_>) -> String,
    ) -> Format {
        Format { name, about, write }
    }

    /// All of them.
    pub static FORMATS: &[Format] = &[
        format("human", "For people", |own| {
            human::findings(own.told, own.width, own.color)
        }),
        format("json", "For scripts", |own| {
            format!("{:#}\n", json::findings(own.told))
        }),
        format("sarif", "For code scanning: SARIF 2.1.0", sarif::write),
        format("github", "For GitHub Actions: annotations", github::write),
        format("junit", "For test reports: JUnit XML", junit::findings),
    ];
}
