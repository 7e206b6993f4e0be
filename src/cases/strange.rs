//! A case and the policies it is decided under → what it names that they do not declare.
//!
//! A host may tell more than a policy asks, and a stranger may refuse. But in a case such a name is a slip of the pen: the
//! case would hold or fail for another reason than it says.

use super::Case;
use crate::finding::Finding;
use crate::matcher::Matcher;
use crate::policy::near;
use crate::policy::rule::Placed;

/// What a policy declares for others to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `[facts]`.
    Fact,
    /// `[[sources]]`.
    Source,
}

/// A name in a case.
#[derive(Clone, Debug)]
pub struct Name {
    /// What it is the name of.
    pub kind: Kind,
    /// The name, and where the case writes it.
    pub name: Placed<String>,
}

impl Case {
    /// The facts and sources it names that the policy does not declare.
    pub fn strange(&self, matcher: &Matcher) -> Vec<Finding> {
        let facts: Vec<&str> = matcher.declared_facts().collect();
        let sources: Vec<&str> = matcher.sources.iter().map(|own| &*own.name).collect();
        let told = self.names.iter().filter_map(|own| {
            let Name { kind, name } = own;
            let own = &name.value;
            let (code, what, known, declare) = match kind {
                Kind::Fact => (
                    "unknown-fact",
                    "fact",
                    &facts,
                    format!("`{own} = {{}}` under `[facts]`"),
                ),
                Kind::Source => (
                    "unknown-source",
                    "source",
                    &sources,
                    format!("`name = \"{own}\"` under `[[sources]]`"),
                ),
            };
            if known.contains(&own.as_str()) {
                return None;
            }
            let message = format!("the policy of this case declares no {what} `{own}`");
            let help = match near::nearest(own, known.iter().copied().filter(|own| !own.is_empty()))
            {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it in the policy: {declare}"),
            };
            let finding = Finding::error(code, message, &self.place.source, name.span);
            Some(finding.label("the policy does not know it").help(help))
        });
        told.collect()
    }
}
