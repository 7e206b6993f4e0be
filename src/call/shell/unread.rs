//! What is left out where a limit is met → words, so that deny and ask rules still see them.
//!
//! In: the texts that nobody reads any more. Out: their words, one list for each stretch between what parts commands.
//! Quotes and backslashes are taken away, and what stood between quotes is read once more, for it may be a script.
//! Each byte costs the same, however they are put together.

/// Quotes within quotes that are taken away.
const LAYERS: usize = 8;

/// The words of a text, parted where commands may part.
pub(super) fn stretches(text: &str) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    read(text, LAYERS, &mut out);
    out
}

fn read(text: &str, layers: usize, out: &mut Vec<Vec<String>>) {
    let mut stretch: Vec<String> = Vec::new();
    let mut word = String::new();
    // Scripts that may stand between quotes.
    let mut inside: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    let mut end = |word: &mut String, stretch: &mut Vec<String>| {
        if word.contains(|c: char| c.is_whitespace() || parts(c) && !matches!(c, '{' | '}')) {
            inside.push(word.clone());
        }
        if !word.is_empty() {
            stretch.push(std::mem::take(word));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '\'' => word.extend(chars.by_ref().take_while(|c| *c != '\'')),
            '"' => {
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    match c {
                        '\\' => word.extend(chars.next()),
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.extend(chars.next().filter(|c| *c != '\n')),
            // `{ rm x; }`, not `{a,b}`.
            '{' | '}' if !word.is_empty() || chars.peek().is_some_and(|c| !c.is_whitespace()) => {
                word.push(c);
            }
            c if c != '\n' && c.is_whitespace() => end(&mut word, &mut stretch),
            c if parts(c) => {
                end(&mut word, &mut stretch);
                if !stretch.is_empty() {
                    out.push(std::mem::take(&mut stretch));
                }
            }
            c => word.push(c),
        }
    }
    end(&mut word, &mut stretch);
    if !stretch.is_empty() {
        out.push(stretch);
    }
    for text in inside {
        if let Some(layers) = layers.checked_sub(1) {
            read(&text, layers, out);
        }
    }
}

/// Whether a character ends a command, or what a command is given.
const fn parts(c: char) -> bool {
    matches!(
        c,
        ';' | '|' | '&' | '(' | ')' | '<' | '>' | '`' | '\n' | '{' | '}'
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_of_any_text() {
        let shown = |text: &str| {
            let all = super::stretches(text);
            let all: Vec<String> = all.iter().map(|own| own.join(" ")).collect();
            all.join(" / ")
        };
        for (text, want) in [
            ("", ""),
            ("git push -f", "git push -f"),
            ("'g'it pu\\sh; cat<.env", "git push / cat / .env"),
            (
                "sh -c 'git push \"-f\"'",
                "sh -c git push \"-f\" / git push -f",
            ),
            ("{ rm a; } {b,c}", "rm a / {b,c}"),
            ("don't; git push", "dont; git push / dont / git push"),
        ] {
            assert_eq!(shown(text), want, "{text}");
        }
    }
}
