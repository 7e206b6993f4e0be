//! What a stage of a pipeline writes to the next, where that can be computed: `echo`, `printf`, `cat`.

use super::env::Env;
use super::script::{Input, Walker};
use super::syntax::{Command as Written, Origin, Shape, Target, Tree};
use super::{names, words};
use crate::call::word::Word;
use crate::source::Span;

impl Walker<'_> {
    /// What a stage of a pipeline writes to the next, where that can be computed.
    pub(super) fn output(&self, tree: &Tree, command: &Written, env: &Env, input: &Input) -> Input {
        match (self.text_output(tree, command, env, input), input) {
            (Input::Unknown, Input::Names(word)) => names::plain(tree, command, env)
                .and_then(|words| names::filtered(&words, word.clone())),
            (Input::Unknown, _) => {
                names::plain(tree, command, env).and_then(|words| names::listed(&words))
            }
            (known, _) => return known,
        }
        .map_or(Input::Unknown, Input::Names)
    }

    /// What a stage writes, where that is text.
    fn text_output(&self, tree: &Tree, command: &Written, env: &Env, input: &Input) -> Input {
        let Shape::Simple { words: raws, .. } = &command.shape else {
            return Input::Unknown;
        };
        let program = names::program(tree, raws, env).filter(|_| raws.len() <= 64);
        let Some(program @ ("cat" | "echo" | "printf")) = program else {
            return Input::Unknown;
        };
        let mut inner = env.clone();
        let mut feed = None;
        for redirect in &command.redirects {
            match &redirect.what {
                Target::HereString(raw) => {
                    let word = words::value(tree, raw, &mut inner, false);
                    let text = word.shown();
                    feed = Some(Input::Text {
                        origin: self.origin(&word, &text),
                        sure: word.text().is_some(),
                        text,
                        what: "here-string",
                    });
                }
                Target::Heredoc(id) => {
                    if let Some(heredoc) = tree.heredocs.get(*id) {
                        feed = Some(self.heredoc(tree, heredoc, &mut inner));
                    }
                }
                Target::From(_) | Target::Read(_) => return Input::Unknown,
                // Errors to a file or to the pipe change nothing, output to a file does.
                _ if tree.of(redirect.span).starts_with('2') => {}
                _ => return Input::Unknown,
            }
        }
        let mut args: Vec<Word> = Vec::new();
        for raw in raws.iter().skip(1) {
            words::words(tree, raw, &mut inner, &mut args);
        }
        match program {
            "cat" if args.iter().all(|word| word.text() == Some("-")) => {
                match feed.as_ref().unwrap_or(input) {
                    text @ Input::Text { .. } => pipe(text.clone()),
                    _ => Input::Unknown,
                }
            }
            "echo" => {
                let mut sure = true;
                while let Some(option) = args.first().and_then(Word::text) {
                    let Some(letters) = option
                        .strip_prefix('-')
                        .filter(|letters| !letters.is_empty())
                    else {
                        break;
                    };
                    if !letters
                        .bytes()
                        .all(|byte| matches!(byte, b'n' | b'e' | b'E'))
                    {
                        break;
                    }
                    args.remove(0);
                }
                sure &= args
                    .iter()
                    .all(|word| word.text().is_some_and(|text| !text.contains('\\')));
                self.text_of(&args, sure)
            }
            "printf" => {
                let format = args.first().and_then(Word::text).unwrap_or("%").to_owned();
                let bare = format.strip_suffix("\\n").unwrap_or(&format);
                if !bare.contains(['%', '\\']) && args.len() == 1 {
                    let word = args
                        .first()
                        .map(|word| Word::known(bare, word.span))
                        .unwrap_or_default();
                    return self.text_of(&[word], true);
                }
                let args = args.get(1..).unwrap_or_default();
                // `printf '%s\n' a b`: each on a line of its own.
                let lines: Option<Vec<&str>> = args.iter().map(Word::text).collect();
                if let (Some(lines), Some(first), Some(last)) = (lines, args.first(), args.last())
                    && format == "%s\\n"
                    && args.len() > 1
                {
                    let span = Span::new(first.span.start, last.span.end.max(first.span.start));
                    return self.text_of(&[Word::known(lines.join("\n"), span)], true);
                }
                let sure = args.len() == 1
                    && (bare == "%s" || bare == "%b")
                    && args.iter().all(|word| {
                        word.text()
                            .is_some_and(|text| bare == "%s" || !text.contains('\\'))
                    });
                self.text_of(args, sure)
            }
            _ => Input::Unknown,
        }
    }

    pub(super) fn text_of(&self, args: &[Word], sure: bool) -> Input {
        let Some(first) = args.first() else {
            return Input::Unknown;
        };
        let (text, origin) = match args {
            [only] => {
                let text = only.shown();
                let origin = self.origin(only, &text);
                (text, origin)
            }
            _ => {
                let shown: Vec<String> = args.iter().map(Word::shown).collect();
                let end = args.last().map_or(first.span.end, |word| word.span.end);
                let span = Span::new(first.span.start, end.max(first.span.start));
                let text = shown.join(" ");
                let origin = if span.of(self.line) == text {
                    Origin::Verbatim(span.start)
                } else {
                    Origin::Computed(span)
                };
                (text, origin)
            }
        };
        Input::Text {
            text,
            origin,
            sure,
            what: "pipe",
        }
    }
}

pub(super) fn pipe(input: Input) -> Input {
    match input {
        Input::Text {
            text, origin, sure, ..
        } => Input::Text {
            text,
            origin,
            sure,
            what: "pipe",
        },
        other => other,
    }
}
