//! The cases that stand beside a policy: which of its rules they decide by.
//!
//! In: a policy file. Out: the keys of the rules at work in the cases of `⟨name⟩.cases.*`. What cannot be read or loaded
//! counts as no case: `acl test` tells of it.

use super::policies;
use crate::cases::{self, Under};
use crate::matcher::Matcher;
use crate::source::Source;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The keys of the rules that cases decide by.
pub fn decided(policy: &Path) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for ending in ["toml", "yaml", "yml", "jsonl"] {
        let path = policy.with_extension(format!("cases.{ending}"));
        let Ok(bytes) = std::fs::read(&path) else {
            continue;
        };
        let source = Source::new(path.to_string_lossy(), bytes, None).map(Arc::new);
        let Some(cases) = source.ok().and_then(|source| cases::read(&source).ok()) else {
            continue;
        };
        // Cases that name other policies as well have keys of their own.
        let here = |name: &str| path.parent().unwrap_or_else(|| Path::new("")).join(name);
        let own = |under: &Under| match under {
            Under::Policy(name) => policies::normal(&here(name)) == policies::normal(policy),
            Under::Layers(_) => false,
        };
        let mut own = cases
            .cases
            .iter()
            .filter(|case| own(&case.under.value))
            .peekable();
        let Some(first) = own.peek() else { continue };
        let place = |name: &str| here(name).to_string_lossy().into_owned();
        let roots = first
            .under
            .value
            .roots(|name| policies::found(&place(name)));
        let Some(policy) = roots.ok().and_then(|roots| policies::load(roots).ok()) else {
            continue;
        };
        let matcher = Matcher::compile(policy);
        for case in own {
            keys.extend(cases::rules(&case.run(&matcher).decision, &matcher));
        }
    }
    keys
}
