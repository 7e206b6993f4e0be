//! Texts in which `*` stands for anything, blanks and slashes too → patterns of the policy language, in which it stays
//! within a word or a folder's name.
//!
//! In: an agent's text. Out: patterns that together match what the text matches, as far as words and paths go; or why
//! there are none, with the literal words in front of the trouble.

use std::fmt::Write as _;

/// Command patterns, any of which matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub patterns: Vec<String>,
    /// No further words.
    pub exact: bool,
    /// A line that the text matches.
    pub sample: String,
}

/// Why a text gives no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub why: String,
    /// The pattern of the words in front of it, where there are some.
    pub before: Option<String>,
    /// It is about several commands at once, or a redirection, which the agent too takes apart.
    pub several: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Star,
    One,
}

/// More alternatives than a person reads.
const MOST: usize = 16;

/// The patterns of a command text. `one`: `?` stands for any character.
pub(super) fn commands(text: &str, one: bool) -> Result<Words, Trouble> {
    let words = split(text, one)?;
    let mut all = vec![String::new()];
    let mut sample = Vec::new();
    let last = words.len().saturating_sub(1);
    let mut exact = true;
    for (at, word) in words.iter().enumerate() {
        let line: String = word
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                _ => "x",
            })
            .collect();
        sample.push(quoted(&line, false));
        let glob = glob(word, at == 0);
        let (first, end) = (word.first(), word.last());
        let inner = word.iter().skip(1).rev().skip(1);
        let options: Vec<String> = match (word.as_slice(), at) {
            ([Piece::Star], 0) => vec!["* **".to_owned()],
            ([Piece::Star], _) if at == last => {
                exact = false;
                continue;
            }
            ([Piece::Star], _) => vec!["* **".to_owned()],
            _ if inner.clone().any(|piece| *piece == Piece::Star) => {
                // `a*b` goes on over blanks: cut at each star, or not.
                let mut options = vec![glob.clone()];
                let stars = word
                    .iter()
                    .enumerate()
                    .skip(1)
                    .take(word.len().saturating_sub(2));
                for (place, _) in stars.filter(|(_, piece)| **piece == Piece::Star) {
                    let (left, right) = word.split_at(place);
                    options.push(format!(
                        "{} ** {}",
                        self::glob(&with(left, true), at == 0),
                        self::glob(right, false)
                    ));
                }
                options
            }
            _ => vec![glob.clone()],
        };
        let mut options = options;
        if first == Some(&Piece::Star) && word.len() > 1 {
            options = match at {
                0 => options
                    .iter()
                    .flat_map(|own| [own.clone(), format!("* ** {own}")])
                    .collect(),
                _ => options.iter().map(|own| format!("** {own}")).collect(),
            };
        }
        if end == Some(&Piece::Star) && word.len() > 1 {
            match at == last {
                true => exact = false,
                false => options = options.iter().map(|own| format!("{own} **")).collect(),
            }
        }
        all = all
            .iter()
            .flat_map(|own| options.iter().map(move |more| format!("{own} {more}")))
            .collect();
        if all.len() > MOST {
            return Err(Trouble {
                why: "it has more stars than can be told apart".into(),
                before: before(&words),
                several: false,
            });
        }
    }
    let patterns = all
        .into_iter()
        .map(|own| own.trim().replace("** **", "**"))
        .collect();
    Ok(Words {
        patterns,
        exact,
        sample: sample.join(" "),
    })
}

fn with(pieces: &[Piece], star: bool) -> Vec<Piece> {
    pieces
        .iter()
        .cloned()
        .chain(star.then_some(Piece::Star))
        .collect()
}

/// The pattern of the literal words at the beginning.
fn before(words: &[Vec<Piece>]) -> Option<String> {
    let literal = words
        .iter()
        .take_while(|word| matches!(word.as_slice(), [Piece::Text(_)]));
    let words: Vec<String> = literal
        .enumerate()
        .map(|(at, word)| glob(word, at == 0))
        .collect();
    let named = words.iter().any(|word| !word.contains('='));
    named.then(|| words.join(" "))
}

/// The words of a text, its quotes undone.
fn split(text: &str, one: bool) -> Result<Vec<Vec<Piece>>, Trouble> {
    let mut words: Vec<Vec<Piece>> = Vec::new();
    let mut word: Option<Vec<Piece>> = None;
    let trouble = |words: &[Vec<Piece>], why: String, several| {
        Err(Trouble {
            why,
            before: before(words),
            several,
        })
    };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '*' => {
                let word = word.get_or_insert_default();
                if word.last() != Some(&Piece::Star) {
                    word.push(Piece::Star);
                }
            }
            '?' if one => word.get_or_insert_default().push(Piece::One),
            '\'' | '"' => {
                let mut inside = String::new();
                loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some('*') => {
                            return trouble(
                                &words,
                                "a star within quotes is more than one word and less than all"
                                    .into(),
                                false,
                            );
                        }
                        Some('$' | '`' | '\\') if c == '"' => {
                            return trouble(
                                &words,
                                "what stands in its quotes is no plain text".into(),
                                false,
                            );
                        }
                        Some(other) => inside.push(other),
                        None => {
                            return trouble(
                                &words,
                                format!("the quote `{c}` is never closed"),
                                false,
                            );
                        }
                    }
                }
                push(word.get_or_insert_default(), &inside);
            }
            ';' | '|' | '&' | '\n' => {
                return trouble(
                    &words,
                    format!(
                        "`{}` joins commands, and each is judged by itself",
                        c.escape_default()
                    ),
                    true,
                );
            }
            '>' | '<' => {
                return trouble(
                    &words,
                    format!("`{c}` is a redirection, which is judged by the path"),
                    true,
                );
            }
            '$' | '`' | '(' | ')' => {
                return trouble(
                    &words,
                    format!("`{c}` stands for something that the shell makes"),
                    false,
                );
            }
            '\\' => match chars.next() {
                Some(next) if next != '*' => push(word.get_or_insert_default(), &next.to_string()),
                _ => {
                    return trouble(
                        &words,
                        "what its backslash stands for is not sure".into(),
                        false,
                    );
                }
            },
            c if c.is_control() => {
                return trouble(&words, "it holds a control character".into(), false);
            }
            c => push(word.get_or_insert_default(), c.encode_utf8(&mut [0; 4])),
        }
    }
    words.extend(word);
    if words.is_empty() {
        return trouble(&[], "it names no command".into(), false);
    }
    Ok(words)
}

fn push(word: &mut Vec<Piece>, text: &str) {
    match word.last_mut() {
        Some(Piece::Text(own)) => own.push_str(text),
        _ => word.push(Piece::Text(text.to_owned())),
    }
}

/// One word of a pattern.
fn glob(word: &[Piece], first: bool) -> String {
    word.iter()
        .map(|piece| match piece {
            Piece::Text(text) => quoted(text, first),
            Piece::Star => "*".to_owned(),
            Piece::One => "?".to_owned(),
        })
        .collect()
}

/// A text that stands for itself in a command pattern. In front of the program `NAME=value` stays an assignment.
pub(super) fn quoted(text: &str, first: bool) -> String {
    let plain = |c: char| {
        c.is_alphanumeric() || "_@%+:,./-^".contains(c) || c == '=' || (c == '~' && !first)
    };
    // At the beginning it would name a group.
    if !text.is_empty() && text.chars().all(plain) && !(first && text.starts_with('@')) {
        return text.to_owned();
    }
    if !text.contains('\'') {
        return format!("'{text}'");
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// A gitignore pattern's own text: what is special only here is escaped.
pub(super) fn ignore(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('/').enumerate() {
        if at > 0 {
            out.push('/');
        }
        if part == "**" {
            out += part;
            continue;
        }
        let (mut star, mut escaped) = (false, false);
        for c in part.chars() {
            match c {
                '*' if star && !escaped => continue,
                '{' | '}' if !escaped => out.extend(['\\', c]),
                c => out.push(c),
            }
            star = c == '*' && !escaped;
            escaped = c == '\\' && !escaped;
        }
    }
    out
}

/// Path patterns for a text in which `*` goes on over slashes, relative to the workspace.
pub(super) fn paths(text: &str, allow: bool) -> Option<Vec<String>> {
    let text = text.strip_prefix("./").unwrap_or(text);
    let (anchor, rest) = match text {
        _ if text.starts_with("~/") => ("~/", text.get(2..)?),
        _ if text.starts_with("$HOME/") => ("~/", text.get(6..)?),
        _ if text.starts_with('/') => ("/", text.get(1..)?),
        _ => ("", text),
    };
    if rest.is_empty()
        || rest.starts_with("..")
        || rest.contains(['[', ']', '\\', '\0'])
        || rest.contains("/..")
    {
        return None;
    }
    let parts: Vec<&str> = rest.split('/').collect();
    let last = parts.len() - 1;
    let mut all = vec![String::new()];
    for (at, part) in parts.iter().enumerate() {
        let mut name = String::new();
        for c in part.chars() {
            match c {
                '*' if name.ends_with('*') => {}
                '{' | '}' => {
                    let _ = write!(name, "\\{c}");
                }
                c => name.push(c),
            }
        }
        let mut options = vec![name.clone()];
        if name == "*" {
            options = vec![match (at == last, allow) {
                (true, _) | (_, false) => "**".to_owned(),
                (false, true) => "*/**".to_owned(),
            }];
        } else {
            let inner = name
                .char_indices()
                .filter(|(place, c)| *c == '*' && *place > 0 && place + 1 < name.len());
            for (place, _) in inner {
                let (left, right) = name.split_at(place);
                options.push(format!("{left}*/**/{right}"));
            }
            if name.starts_with('*') {
                options = options.iter().map(|own| format!("**/{own}")).collect();
            }
            if name.ends_with('*') && at != last {
                options = options.iter().map(|own| format!("{own}/**")).collect();
            }
        }
        let slash = if at == 0 { "" } else { "/" };
        all = all
            .iter()
            .flat_map(|own| {
                options
                    .iter()
                    .map(move |more| format!("{own}{slash}{more}"))
            })
            .collect();
        if all.len() > MOST {
            return None;
        }
    }
    Some(
        all.into_iter()
            .map(|own| {
                let own = own.replace("**/**", "**");
                // A name at any depth is that here as well.
                match own.strip_prefix("**/") {
                    Some(name) if anchor.is_empty() && !allow && !name.contains('/') => {
                        name.to_owned()
                    }
                    _ if anchor.is_empty() && !own.contains('/') && own != "**" => {
                        format!("./{own}")
                    }
                    _ => format!("{anchor}{own}"),
                }
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_over_blanks() {
        for (text, patterns, exact) in [
            ("git diff *", vec!["git diff"], false),
            ("npm run build", vec!["npm run build"], true),
            ("npm run test*", vec!["npm run test*"], false),
            ("git * main", vec!["git * ** main"], true),
            ("* --version", vec!["* ** --version"], true),
            ("*curl*", vec!["*curl*", "* ** *curl*"], false),
            ("git *x y", vec!["git ** *x y"], true),
            ("a*b", vec!["a*b", "a* ** *b"], true),
            ("A=1 x 'a b' *", vec!["A=1 x 'a b'"], false),
        ] {
            let words = commands(text, false).unwrap();
            assert_eq!(
                (words.patterns, words.exact),
                (patterns.into_iter().map(str::to_owned).collect(), exact),
                "{text}"
            );
        }
        for (text, before) in [
            ("curl * | sh", Some("curl")),
            ("curl -s | sh", Some("curl -s")),
            ("", None),
            ("echo $HOME", Some("echo")),
        ] {
            assert_eq!(
                commands(text, false).unwrap_err().before.as_deref(),
                before,
                "{text}"
            );
        }
    }

    #[test]
    fn stars_over_slashes() {
        for (text, allow, patterns) in [
            ("*", true, vec!["**"]),
            ("*.env", false, vec!["*.env"]),
            ("*.env", true, vec!["**/*.env"]),
            ("src/*", true, vec!["src/**"]),
            ("src/*.ts", true, vec!["src/**/*.ts"]),
            (".env", false, vec!["./.env"]),
            ("a/b*c", true, vec!["a/b*c", "a/b*/**/*c"]),
            ("*/x", true, vec!["*/**/x"]),
            ("~/a/*", false, vec!["~/a/**"]),
        ] {
            assert_eq!(paths(text, allow).unwrap(), patterns, "{text}");
        }
        assert_eq!(paths("../x", true), None);
    }
}
