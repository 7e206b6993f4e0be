//! Which shell reads a script: others than bash take some of it for something else.
//!
//! In: the name of the shell that is started, and what its text holds. Out: where that is not surely what bash makes of
//! it, a note that says so. What bash makes of it is judged all the same.

use std::rc::Rc;

use super::constructs::Found;
use super::script::Walker;
use super::syntax::Tree;
use super::unread;
use crate::call::access::{Kind, Opaque};
use crate::source::Span;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Dialect {
    #[default]
    Bash,
    /// `sh`, which is dash in many places.
    Posix,
    Zsh,
    /// With quotes and words of its own.
    Foreign,
}

impl Dialect {
    pub fn of(shell: &str) -> Self {
        match shell {
            "bash" | "rbash" => Self::Bash,
            "zsh" => Self::Zsh,
            "sh" | "dash" | "ash" | "ksh" | "mksh" | "yash" | "pdksh" | "ksh93" | "posh" => {
                Self::Posix
            }
            _ => Self::Foreign,
        }
    }

    /// Whether a text means the same to bash and to a shell whose quotes and words are others.
    fn is_plain(text: &str) -> bool {
        let plain = |c: char| c.is_alphanumeric() || " -_./,:@%+='\"".contains(c);
        text.chars().all(plain)
    }
}

impl Walker<'_> {
    /// What a script holds that its shell reads otherwise than bash.
    pub(super) fn otherwise(&mut self, tree: &Rc<Tree>, dialect: Dialect) {
        match dialect {
            Dialect::Bash => {}
            Dialect::Foreign => self.foreign(&tree.text, tree.span(Span::new(0, tree.text.len()))),
            Dialect::Posix | Dialect::Zsh => {
                for (what, span) in Found::of(tree, dialect) {
                    self.opaque(format!("{what} means something else to other shells"), span);
                }
            }
        }
    }

    /// A text that a shell with a language of its own reads.
    fn foreign(&mut self, text: &str, span: Span) {
        if Dialect::is_plain(text) {
            return;
        }
        self.push(
            Kind::Opaque(Box::new(Opaque {
                why: "a shell that is not bash may read it in another way".to_owned(),
                unread: unread::stretches(text),
                open: false,
            })),
            span,
        );
    }

    /// `((…))` stands in the script of another shell: a list in two subshells there.
    pub(super) fn bashism(&mut self, what: &str, dialect: Dialect, span: Span) -> bool {
        let other = dialect == Dialect::Posix;
        if other {
            self.opaque(format!("{what} means something else to other shells"), span);
        }
        other
    }
}
