//! `unknown = "default"` under `default = "allow"`: a tool that nobody has heard of runs.

use super::Room;
use crate::finding::Finding;
use crate::policy::rule::Verdict;

const CODE: &str = "unknown-tool-allowed";

/// Looks at the tiers of each file; what is not stated comes from what the file extends.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for layer in &room.matcher.policy.layers {
        let mut files = layer.files.iter();
        let stated = files.find_map(|file| Some((file, file.unknown_is_default.as_ref()?)));
        let mut files = layer.files.iter();
        let default = files.find_map(|file| Some((file, file.tier_default.as_ref()?)));
        let (Some((file, unknown)), Some((other, default))) = (stated, default) else {
            continue;
        };
        if unknown.value && default.value == Verdict::Allow {
            found.push(
                Finding::lint(
                    CODE,
                    "a tool that nobody declared or listed is allowed",
                    &file.source,
                    unknown.span,
                )
                .label("it takes the default tier")
                .also(&other.source, default.span, "which is `allow`")
                .help("write `unknown = \"deny\"` and list the tools that there are, or `default = \"ask\"`"),
            );
        }
    }
    found
}
