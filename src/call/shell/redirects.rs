//! Redirections: the files they read and write, and what they put on standard input.
//!
//! In: redirections as written. Out: what is touched, kept until its command has its place in the list, and
//! the [`Input`] that the command finds.

use super::env::Env;
use super::script::{Input, Walker};
use super::syntax::{Heredoc, Origin, Part, Raw, Redirect, Target, Tree};
use super::{names, words};
use crate::call::access::{Cover, HostAccess, Kind, Mode, Reach, Touches};
use crate::call::word::{Piece, Word};
use std::rc::Rc;

/// A redirection's effect, kept until its command has a place in the list.
pub(super) enum Touch {
    Path(Mode, Word),
    Host(Word),
}

impl Walker<'_> {
    /// What redirections touch, and what they put on standard input.
    pub(super) fn redirects(
        &mut self,
        tree: &Rc<Tree>,
        redirects: &[Redirect],
        env: &mut Env,
    ) -> (Vec<Touch>, Option<Input>) {
        self.harmless |= !redirects.is_empty();
        let mut touches = Vec::new();
        let mut input = None;
        for redirect in redirects {
            // `3<file` is not standard input.
            let stdin = tree.of(redirect.span).starts_with(['<', '0']);
            // `{name}>file` puts the descriptor's number into a variable.
            if let Some((name, _)) = tree
                .of(redirect.span)
                .strip_prefix('{')
                .and_then(|rest| rest.split_once('}'))
            {
                env.forget(name);
            }
            match &redirect.what {
                Target::Read(raw) => {
                    let word = self.target(tree, raw, env);
                    if stdin {
                        let names = names::substituted(tree, raw, env);
                        input = Some(match device(&word) {
                            true => names.map_or(Input::Unknown, Input::Names),
                            false => Input::File(word.clone()),
                        });
                    }
                    touches.push(touch(Mode::Read, word));
                }
                Target::Write(raw) => {
                    let word = self.target(tree, raw, env);
                    touches.push(touch(Mode::Write, word));
                }
                Target::Both(raw) => {
                    let word = self.target(tree, raw, env);
                    if stdin {
                        input = Some(Input::Unknown);
                    }
                    let read = touch(Mode::Read, word.clone());
                    if matches!(read, Touch::Path(..)) {
                        touches.push(read);
                    }
                    touches.push(touch(Mode::Write, word));
                }
                Target::Duplicate(raw) => {
                    let word = self.target(tree, raw, env);
                    self.closed |= closes(tree.of(redirect.span), &word);
                    let descriptor = match &*word.pieces {
                        [Piece::Text(text)] => {
                            text == "-"
                                || text
                                    .trim_end_matches('-')
                                    .bytes()
                                    .all(|byte| byte.is_ascii_digit())
                        }
                        [Piece::Digits] => true,
                        _ => false,
                    };
                    if !descriptor {
                        touches.push(touch(Mode::Write, word));
                    }
                }
                Target::From(raw) => {
                    let word = self.target(tree, raw, env);
                    self.closed |= closes(tree.of(redirect.span), &word);
                    if stdin {
                        input = Some(Input::Unknown);
                    }
                }
                Target::HereString(raw) => {
                    self.parts(tree, &raw.parts, env);
                    let word = words::value(tree, raw, env, false);
                    if stdin {
                        let text = word.shown();
                        input = Some(Input::Text {
                            origin: self.origin(&word, &text),
                            sure: word.text().is_some(),
                            text,
                            what: "here-string",
                        });
                    }
                }
                Target::Heredoc(id) => {
                    let Some(heredoc) = tree.heredocs.get(*id) else {
                        continue;
                    };
                    self.via.push("heredoc");
                    self.parts(tree, &heredoc.parts, env);
                    self.via.pop();
                    if stdin {
                        input = Some(self.heredoc(tree, heredoc, env));
                    }
                }
            }
        }
        (touches, input)
    }

    pub(super) fn heredoc(&self, tree: &Tree, heredoc: &Heredoc, env: &mut Env) -> Input {
        let body = tree.of(heredoc.body);
        let span = tree.span(heredoc.body);
        let mut sure = true;
        let mut text = if heredoc.quoted {
            body.to_owned()
        } else {
            let word = words::heredoc(tree, &heredoc.parts, heredoc.body, env);
            sure = word.text().is_some();
            word.shown()
        };
        if heredoc.strip_tabs {
            text = text
                .split_inclusive('\n')
                .map(|line| line.trim_start_matches('\t'))
                .collect();
        }
        let origin = match tree.origin {
            Origin::Verbatim(_) if text == body => Origin::Verbatim(span.start),
            _ => Origin::Computed(span),
        };
        Input::Text {
            text,
            origin,
            sure,
            what: "heredoc",
        }
    }

    pub(super) fn target(&mut self, tree: &Rc<Tree>, raw: &Raw, env: &mut Env) -> Word {
        self.parts(tree, &raw.parts, env);
        let mut found = Vec::new();
        words::words(tree, raw, env, &mut found);
        match (found.pop(), found.is_empty()) {
            (Some(word), true) => word,
            // None, or several: bash refuses, others write somewhere.
            _ => Word::unknown(tree.of(raw.span), tree.span(raw.span), false),
        }
    }

    pub(super) fn push_redirects(&mut self, touches: Vec<Touch>, at: Option<usize>, env: &Env) {
        for touch in touches {
            match touch {
                Touch::Path(mode, word) => {
                    let cover = match (mode, at) {
                        (Mode::Read, Some(at)) => Cover::Command { at, naming: None },
                        _ => Cover::Tool,
                    };
                    self.path(mode, &word, Reach::Itself, cover, Touches::Surely, env);
                }
                Touch::Host(url) => {
                    let span = url.span;
                    self.push(
                        Kind::Host(Box::new(HostAccess {
                            url,
                            cover: Cover::Tool,
                            written: true,
                        })),
                        span,
                    );
                }
            }
        }
    }
}

pub(super) fn touch(mode: Mode, word: Word) -> Touch {
    match word
        .prefix()
        .strip_prefix("/dev/tcp/")
        .or_else(|| word.prefix().strip_prefix("/dev/udp/"))
    {
        Some(_) => {
            let shown = word.shown();
            let rest = shown.get("/dev/tcp/".len()..).unwrap_or_default();
            let url = match (word.text(), rest.split_once('/')) {
                (Some(_), Some((host, port))) => Word::known(format!("{host}:{port}"), word.span),
                (Some(_), None) => Word::known(rest, word.span),
                (None, _) => Word::unknown(rest, word.span, false),
            };
            Touch::Host(url)
        }
        None => Touch::Path(mode, word),
    }
}

/// Whether a redirection may fail, with what it redirects: a file may be missing, a folder, or another's, a descriptor closed.
/// `closed`: one of the three that are open from the start may be so.
pub(super) fn may_fail(
    tree: &Tree,
    redirects: &[Redirect],
    touches: &[Touch],
    closed: bool,
) -> bool {
    let open = |raw: &Raw| match &*raw.parts {
        [Part::Text(span)] => match tree.of(*span) {
            "0" | "1" | "2" => !closed,
            text => text == "-",
        },
        _ => false,
    };
    !touches.is_empty()
        || redirects.iter().any(|own| match &own.what {
            Target::Duplicate(raw) | Target::From(raw) => !open(raw),
            _ => false,
        })
}

/// Whether a redirection may close one of the three descriptors that are open from the start: `1>&-`, `3>&1-`.
fn closes(redirect: &str, to: &Word) -> bool {
    let first = |text: &str| matches!(text.trim_start_matches('0'), "" | "1" | "2");
    let digits = |c: char| c.is_ascii_digit();
    let own = redirect.trim_start_matches(digits);
    let own = redirect.strip_suffix(own).unwrap_or_default();
    match to.text().map(|text| text.strip_suffix('-')) {
        Some(Some("")) => first(own) && !redirect.starts_with('{'),
        Some(Some(moved)) => first(moved),
        Some(None) => false,
        None => true,
    }
}

/// A path that is no file: `/dev/null`, a terminal, a descriptor.
pub(super) fn device(path: &Word) -> bool {
    if let [Piece::Text(folder), Piece::Digits] = &*path.pieces {
        return folder == "/dev/fd/";
    }
    match path.text() {
        Some(
            "/dev/null" | "/dev/zero" | "/dev/full" | "/dev/tty" | "/dev/stdin" | "/dev/stdout"
            | "/dev/stderr" | "/dev/random" | "/dev/urandom",
        ) => true,
        Some(text) => text
            .strip_prefix("/dev/fd/")
            .or_else(|| text.strip_prefix("/proc/self/fd/"))
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())),
        None => false,
    }
}
