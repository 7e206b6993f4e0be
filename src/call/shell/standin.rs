//! A few programs, so that the walker can be tried without the table of facts.

use super::effects::{Effect, Outcome, Starts, What};
use crate::call::access::{Mode, Reach, Role};
use crate::call::word::Word;

/// What one command's words do.
pub(super) fn outcome(words: &[Word], _piped: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let Some(first) = words.first() else {
        return outcome;
    };
    outcome.roles = (0..words.len())
        .map(|index| {
            if index == 0 {
                Role::Program
            } else {
                Role::Operand
            }
        })
        .collect();
    let text = |index: usize| words.get(index).and_then(Word::text).unwrap_or_default();
    let name = first
        .text()
        .unwrap_or_default()
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let from = |mut from: usize| {
        while text(from).starts_with('-') {
            from += 1;
        }
        vec![Starts::Words {
            from,
            end: words.len(),
            more: name == "xargs",
        }]
    };
    outcome.known = true;
    match name {
        "sudo" if text(1) == "-u" => outcome.starts = from(3),
        "sudo" | "nice" | "nohup" | "command" | "builtin" | "exec" if words.len() > 1 => {
            outcome.starts = from(1)
        }
        "timeout" => outcome.starts = from(2),
        "xargs" => outcome.starts = from(1),
        "env" => {
            let mut at = 1;
            while text(at).contains('=') || text(at).starts_with('-') {
                at += 1;
            }
            outcome.starts = from(at);
        }
        "find" => {
            if let Some(at) = words
                .iter()
                .position(|word| matches!(word.text(), Some("-exec" | "-execdir")))
            {
                outcome.starts.push(Starts::Words {
                    from: at + 1,
                    end: words.len() - 1,
                    more: true,
                });
            }
        }
        "bash" | "sh" | "zsh" | "dash" => {
            outcome.starts = vec![if text(1).starts_with('-') && text(1).ends_with('c') {
                Starts::Script {
                    word: 2,
                    args: Some(3),
                }
            } else if words.len() > 1 && !text(1).starts_with('-') {
                Starts::File { word: 1 }
            } else {
                Starts::Stdin
            }];
        }
        "source" | "." => outcome.starts = vec![Starts::File { word: 1 }],
        "cat" | "rm" => {
            for word in words
                .iter()
                .skip(1)
                .filter(|word| !word.prefix().starts_with('-'))
            {
                outcome.effects.push(Effect {
                    what: What::Path {
                        mode: if name == "cat" {
                            Mode::Read
                        } else {
                            Mode::Write
                        },
                        reach: Reach::Itself,
                        certain: true,
                    },
                    value: word.clone(),
                    naming: None,
                });
            }
        }
        "echo" | "cd" | "ls" | "git" => {}
        _ => outcome.known = false,
    }
    outcome
}
