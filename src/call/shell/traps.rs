//! What `trap` leaves behind: a text that runs later, and names that it may set at any time.
//!
//! In: the words of `trap`. Out: the text, walked when all else is, and a changed [`Env`]. A trap on anything
//! but the shell's exit may run between any two commands: what it sets is unknown from there on, and it
//! finds whatever the commands around it have set.

use std::rc::Rc;

use super::env::Env;
use super::script::{Input, Later, Walker};
use super::syntax::Origin;
use crate::call::access::{Access, Kind};
use crate::call::word::Word;
use crate::source::Span;

impl Walker<'_> {
    pub(super) fn trap(&mut self, args: &[Word], env: &mut Env, started: bool) {
        let rest = match args.first().and_then(Word::text) {
            Some("--") => args.get(1..).unwrap_or_default(),
            _ => args,
        };
        let Some((word, signals)) = rest.split_first() else {
            return;
        };
        if word.prefix().starts_with('-') || signals.is_empty() {
            return;
        }
        if word.text().is_none() && !started {
            self.opaque("`trap` runs a text that cannot be computed", word.span);
        }
        let text = word.shown();
        let origin = self.origin(word, &text);
        // In zsh the exit of a function is one.
        let any_time = !signals.iter().all(is_exit) || !self.calls.is_empty();
        let mut then = self.deferring(env);
        if any_time {
            then.lost = true;
            then.folders = Rc::default();
            self.unsettle(&text, origin, word.text().is_some(), word.span, env);
        }
        if self.since.is_none() {
            self.since = Some((then.clone(), env.clone()));
        }
        self.later.push(Later::Trap {
            text,
            origin,
            env: then,
        });
    }

    /// What the text sets may be set at any time: it is walked once for that alone.
    fn unsettle(&mut self, text: &str, origin: Origin, known: bool, span: Span, env: &mut Env) {
        if self.unsettling {
            env.unsettle(Vec::new(), true);
            env.lost = true;
            return;
        }
        let mut inner = env.blank();
        let before = inner.clone();
        let (calls, rounds) = (
            std::mem::take(&mut self.calls),
            std::mem::take(&mut self.rounds),
        );
        let (mark, exited, since) = (self.out.len(), self.exited, self.since.take());
        self.unsettling = true;
        self.script(text, origin, &mut inner, &Input::Inherited);
        self.unsettling = false;
        (self.calls, self.rounds, self.exited) = (calls, rounds, exited);
        self.since = since;
        let unclear = !known || self.out.drain(mark..).any(|access| may_set(&access));
        self.told_again();
        if !inner.means_the_same(&before) {
            self.opaque("a trap changes what commands mean", span);
        }
        for name in inner.changed.iter() {
            env.change(name);
        }
        env.wild |= inner.wild;
        env.lost |= unclear || inner.lost;
        env.unsettle(inner.names(), unclear || inner.moved_from(&before));
    }
}

/// Whether a command may set something that was not seen: it may be a function that is defined later.
fn may_set(access: &Access) -> bool {
    match &access.kind {
        Kind::Opaque(_) => true,
        Kind::Command(command) => {
            let name = command.words.first().and_then(Word::text);
            !command.known && command.launcher.is_none() && name.is_none_or(|it| !it.contains('/'))
        }
        _ => false,
    }
}

fn is_exit(signal: &Word) -> bool {
    let name = signal.text().unwrap_or_default();
    name == "0" || name.eq_ignore_ascii_case("exit") || name.eq_ignore_ascii_case("sigexit")
}
