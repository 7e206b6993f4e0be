//! `[audit]`: where decisions are logged.
//!
//! In: what a policy says, or a size as a person writes it. Out: values; the file itself is `cli/`'s.

use super::glob::Glob;
use serde::{Deserialize, Serialize};

/// Where and how decisions are logged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// The log; none: the usual one.
    pub file: Option<String>,
    /// How large it may get, in bytes.
    pub size: Option<u64>,
    /// How many older ones are kept.
    pub keep: Option<u32>,
    /// What is masked besides secrets that acl knows: names, and shapes of words.
    pub mask: Vec<String>,
}

/// Looks at what is to be masked.
///
/// # Errors
/// A sentence, and what to do, where it masks nothing.
pub fn mask(text: &str) -> Result<(), (String, Option<String>)> {
    match text {
        "off" => Err((
            "a policy masks more, never less".into(),
            Some("`--audit-mask off` on the command line turns masking off".into()),
        )),
        "" => Err(("an empty name masks nothing".into(), None)),
        shape => Glob::parse(shape)
            .map(|_| ())
            .map_err(|why| (format!("`{shape}`: {why}"), None)),
    }
}

/// Looks at the name of a log.
///
/// # Errors
/// A sentence, where it leads elsewhere or is a file that acl keeps for something else.
pub fn file(text: &str) -> Result<(), String> {
    const KEPT: &[&str] = &["trust.json", "grants.json", "lock", "gateway.db", "read"];
    let mut names = text.split('/');
    match text {
        "" => Err("a log has a name".into()),
        _ if names.clone().any(|name| name == "..") => {
            Err(format!("`{text}` leads out of its folder"))
        }
        _ if text.ends_with('/') => Err(format!("`{text}` is a folder")),
        _ if names.next().is_some_and(|name| KEPT.contains(&name)) => {
            Err(format!("acl keeps something else in `{text}`"))
        }
        _ => Ok(()),
    }
}

/// `500K`, `10M`, `1G`, or bytes.
///
/// # Errors
/// A sentence about another text.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(number) => (number, text.chars().next_back()),
        None => (text, None),
    };
    let unit: u64 = match unit {
        Some('K') => 1 << 10,
        Some('M') => 1 << 20,
        Some('G') => 1 << 30,
        _ => 1,
    };
    // As the schema says it, which counts digits.
    let plain = (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number
        .parse::<u64>()
        .ok()
        .filter(|_| plain && !number.starts_with('0'));
    number
        .map(|number| number * unit)
        .ok_or_else(|| format!("`{text}` is no size: write `500K`, `10M` or `1G`"))
}
