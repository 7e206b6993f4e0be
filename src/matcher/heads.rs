//! The folders that path patterns begin with, each once, so that links among them are found in few looks.
//!
//! In: anchored patterns. Out: below a folder, the paths that they name. What lies below a name that is not there is
//! not looked at: ten thousand patterns below a folder that this machine lacks cost one look.

use crate::policy::patterns::{PathPattern, WordPattern};
use std::collections::BTreeSet;

/// Literal beginnings of patterns: `/etc`, `/etc/ssh`. NUL stands for `/`, so that what lies below a folder comes
/// right after it.
#[derive(Debug, Default)]
pub struct Heads(BTreeSet<String>);

impl Heads {
    /// Adds a pattern's: every folder that it names before its first glob, and what it names last.
    pub fn add(&mut self, pattern: &PathPattern) {
        let mut head = String::new();
        for component in &pattern.components {
            let WordPattern::Word(glob) = component else {
                break;
            };
            let Some(name) = glob.as_literal() else { break };
            head.push('\0');
            head.push_str(name);
            if !self.0.contains(&head) {
                self.0.insert(head.clone());
            }
        }
    }

    /// Visits what is named below `start`. `visit` says whether to go on below a path.
    pub fn below(&self, start: &str, mut visit: impl FnMut(&str) -> bool) {
        let mut next = self.0.iter().next();
        while let Some(head) = next {
            let path = format!("{start}{}", head.replace('\0', "/"));
            let after = if visit(&path) { '\0' } else { '\u{1}' };
            next = self.0.range(format!("{head}{after}")..).next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Heads;
    use crate::policy::patterns;

    #[test]
    fn what_lies_below_nothing_is_not_looked_at() {
        let mut heads = Heads::default();
        for pattern in ["/a/b/*.rs", "/a/b/c", "/a-b/x", "/a.d", "/a/{e,f}/g", "/**"] {
            for pattern in patterns::paths(pattern).unwrap() {
                heads.add(&pattern);
            }
        }
        let visited = |there: fn(&str) -> bool| {
            let mut seen = Vec::new();
            heads.below("/top", |path| {
                seen.push(path.strip_prefix("/top").unwrap().to_owned());
                there(path)
            });
            seen.join(" ")
        };
        assert_eq!(
            visited(|_| true),
            "/a /a/b /a/b/c /a/e /a/e/g /a/f /a/f/g /a-b /a-b/x /a.d"
        );
        assert_eq!(visited(|path| path != "/top/a"), "/a /a-b /a-b/x /a.d");
        assert_eq!(visited(|_| false), "/a /a-b /a.d");
    }
}
