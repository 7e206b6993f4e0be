//! Secrets in the arguments of a call, masked for the log: shapes, names, headers, URLs, private keys.
//!
//! In: a text, or arguments. Out: the same with `***` in the place of what looks like a secret, and how many there were.
//! The table is `secrets.toml`. It errs towards masking, but it knows only what it knows: a log is not for everybody's eyes.
//! One pass from left to right: what is read ahead is read once more at most.

use crate::call::glob::Glob;
use crate::text::Span;
use serde_json::{Map, Value};

include!(concat!(env!("OUT_DIR"), "/secrets.rs"));

/// What stands in the place of a secret.
const MASK: &str = "***";

/// How long a text of an argument may be in the log, in bytes.
const LONGEST: usize = 16 * 1024;

/// What is masked: the table, and more of one's own.
#[derive(Clone, Debug)]
pub struct Secrets {
    shapes: Vec<(Glob, usize)>,
    names: Vec<String>,
    off: bool,
}

impl Secrets {
    /// The table with more: `PIN` is a name whose value is secret, `acme_*` the shape of a secret word. `off` masks nothing.
    ///
    /// # Errors
    /// A shape that cannot be read.
    pub fn with(more: &[String]) -> Result<Self, String> {
        let mut all = Self {
            shapes: Vec::new(),
            names: NAMES.iter().map(|name| (*name).to_owned()).collect(),
            off: false,
        };
        for (shape, least) in SHAPES {
            all.shape(shape, least)?;
        }
        for word in more {
            match word.as_str() {
                "off" => all.off = true,
                shape if shape.contains(['*', '?', '[']) => all.shape(shape, 0)?,
                name => all.names.push(plain(name)),
            }
        }
        Ok(all)
    }

    fn shape(&mut self, shape: &str, least: usize) -> Result<(), String> {
        let globs = Glob::parse(shape).map_err(|why| format!("`{shape}`: {why}"))?;
        self.shapes
            .extend(globs.into_iter().map(|glob| (glob, least)));
        Ok(())
    }

    /// The arguments of a call as they may be logged, and how many places were masked or cut.
    pub fn arguments(&self, args: &Map<String, Value>) -> (Map<String, Value>, usize) {
        let mut args = args.clone();
        let mut count = 0;
        for (name, value) in &mut args {
            self.member(name, value, &mut count);
        }
        (args, count)
    }

    fn member(&self, name: &str, value: &mut Value, count: &mut usize) {
        if !self.off && !matches!(value, Value::Null | Value::Bool(_)) && self.is_secret(name) {
            *value = MASK.into();
            *count += 1;
        } else {
            self.value(value, count);
        }
    }

    fn value(&self, value: &mut Value, count: &mut usize) {
        match value {
            Value::String(text) => *text = self.text(text, count),
            Value::Array(values) => {
                // A list of words: the one behind an option is its value.
                let mut option: Option<String> = None;
                for value in values {
                    let word = value.as_str().filter(|word| word.starts_with('-'));
                    let word = word.map(str::to_owned);
                    match option.take() {
                        Some(option) if word.is_none() => self.member(&option, value, count),
                        _ => self.value(value, count),
                    }
                    option = word;
                }
            }
            Value::Object(map) => {
                // `{"name": "API_TOKEN", "value": "x"}`, as lists of variables are written.
                let named = ["name", "key"]
                    .iter()
                    .find_map(|key| map.get(*key)?.as_str());
                let secret = named.is_some_and(|name| self.is_secret(name));
                if let Some(value) = map.get_mut("value").filter(|value| {
                    !self.off && secret && !matches!(value, Value::Null | Value::Bool(_))
                }) {
                    *value = MASK.into();
                    *count += 1;
                }
                for (name, value) in map {
                    self.member(name, value, count);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A text as it may be logged; counts what was masked or cut.
    pub fn text(&self, text: &str, count: &mut usize) -> String {
        // What is cut off is looked at for a while, so that no half of a secret is left that nothing knows.
        let seen = start(text, 2 * LONGEST);
        let mut out = String::new();
        let mut kept = 0;
        let masked = self.places(seen);
        for place in &masked {
            out += seen.get(kept..place.start).unwrap_or_default();
            out += MASK;
            kept = place.end;
        }
        out += seen.get(kept..).unwrap_or_default();
        *count += masked.len();
        if text.len() > LONGEST {
            out = format!("{}… of {} bytes", start(&out, LONGEST), text.len());
            *count += 1;
        }
        out
    }

    /// Where the secrets of a text are, in order.
    pub fn places(&self, text: &str) -> Vec<Span> {
        let mut scan = Scan {
            secrets: self,
            text,
            at: 0,
            quote: None,
            masked: Vec::new(),
            met: [0; COMMANDS.len()],
        };
        if !self.off {
            scan.run();
        }
        scan.masked
    }

    /// How much of a text is shown: its end, in bytes.
    pub fn shown_to(&self, text: &str) -> usize {
        start(text, LONGEST).len()
    }

    /// Whether the value of this name is a secret.
    fn is_secret(&self, name: &str) -> bool {
        if name.len() > 128 {
            return false;
        }
        let last = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let last = last.rsplit(['_', '-', '.']).next().unwrap_or(last);
        let plain = plain(name);
        PARTS.iter().any(|part| last.eq_ignore_ascii_case(part))
            || HEADERS
                .iter()
                .any(|header| header.eq_ignore_ascii_case(name))
            || self.names.iter().any(|own| plain.ends_with(own.as_str()))
    }
}

/// The start of a text, whole characters.
fn start(text: &str, longest: usize) -> &str {
    let mut end = longest.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// A name without case, separators and a number at its end.
fn plain(name: &str) -> String {
    let kept = name.chars().filter(|c| !['_', '-', '.'].contains(c));
    let plain: String = kept.map(|c| c.to_ascii_lowercase()).collect();
    plain
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .to_owned()
}

/// One pass over a text.
struct Scan<'t> {
    secrets: &'t Secrets,
    text: &'t str,
    at: usize,
    /// The quotes that `at` is within, as far as one can tell: they end with the line.
    quote: Option<char>,
    masked: Vec<Span>,
    /// How many words of each row of the table this command has.
    met: [usize; COMMANDS.len()],
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || ['_', '-', '.'].contains(&c)
}

impl<'t> Scan<'t> {
    fn run(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            if is_word(c) {
                self.word();
            } else if self.rest().starts_with("://") {
                self.at += 3;
                self.authority();
            } else {
                if ";|&(\n".contains(c) {
                    self.met = [0; COMMANDS.len()];
                }
                match (c, self.quote) {
                    ('\n', _) => self.quote = None,
                    ('\'' | '"', None) => self.quote = Some(c),
                    (c, Some(quote)) if c == quote => self.quote = None,
                    _ => {}
                }
                self.at += c.len_utf8();
            }
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Masks from here so many bytes.
    fn mask(&mut self, length: usize) {
        if length > 0 {
            self.masked.push(Span::new(self.at, self.at + length));
            self.at += length;
        }
    }

    fn word(&mut self) {
        let rest = self.rest();
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.starts_with("-----BEGIN") {
            return self.key(rest, end);
        }
        if let Some(before) = BEFORE.iter().find(|before| rest.starts_with(**before)) {
            self.at += before.len();
            let secret = self.value(false);
            return self.mask(secret);
        }
        let shape =
            |(glob, least): &(Glob, usize)| word.len() >= *least && glob.matches_text(word, false);
        if self.secrets.shapes.iter().any(shape) {
            return self.mask(end);
        }
        if let Some(skip) = self.told_by_command(word, after) {
            self.at += skip;
            let secret = self.value(false);
            return self.mask(secret);
        }
        self.at += end;
        let option = word.starts_with('-');
        if let Some(attached) = pair(word, after) {
            self.at += usize::from(!attached);
            let value = self.value(false);
            let text = self.rest().get(..value).unwrap_or_default();
            let name = text
                .find(':')
                .filter(|at| text.get(*at..).is_some_and(|url| !url.starts_with("://")));
            if let Some(name) = name {
                self.at += name + 1;
                self.mask(value - name - 1);
            }
            return;
        }
        if !self.secrets.is_secret(word) {
            return;
        }
        let header = HEADERS
            .iter()
            .any(|header| header.eq_ignore_ascii_case(word));
        if let Some(sign) = assigned(after) {
            self.at += sign;
            if after.get(..sign).is_some_and(|sign| sign.contains('\n')) {
                self.quote = None;
            }
            let (head, block) = block(self.rest());
            self.at += head;
            let value = if head > 0 { block } else { self.value(header) };
            self.mask(value);
        } else if option && after.starts_with([' ', '\t']) {
            self.at += after.len() - after.trim_start_matches([' ', '\t']).len();
            if !self.rest().starts_with('-') {
                let value = self.value(false);
                self.mask(value);
            }
        }
    }

    /// How far off the secret is that the words of a command announce, where this is the last of them.
    fn told_by_command(&mut self, word: &str, after: &str) -> Option<usize> {
        let secrets = self.secrets;
        for (row, met) in COMMANDS.iter().zip(&mut self.met) {
            let mut left = row.split(' ').skip(*met);
            let (Some(next), behind) = (left.next(), left.next()) else {
                continue;
            };
            if let Some(option) = next.strip_suffix('*') {
                if word.starts_with(option) && word != option {
                    return Some(option.len());
                }
                continue;
            }
            if next != word && !(next == "@" && secrets.is_secret(word)) {
                continue;
            }
            let blanks = after.len() - after.trim_start_matches([' ', '\t']).len();
            if behind != Some("*") {
                *met += 1;
            } else if after.starts_with('=') && next.starts_with('-') {
                return Some(word.len() + 1);
            } else if blanks > 0 && !after.trim_start_matches([' ', '\t']).starts_with('-') {
                return Some(word.len() + blanks);
            }
        }
        None
    }

    /// A private key: all up to its end.
    fn key(&mut self, rest: &str, end: usize) {
        // No kind of key has a long name: a long line of such beginnings is not read to its end for each.
        let line = start(rest, 80).lines().next().unwrap_or_default();
        if !line.contains("PRIVATE KEY") {
            self.at += end;
            return;
        }
        // Its line break may be written `\\n`, and then its end stands in the same line.
        let named = line.find("PRIVATE KEY").unwrap_or_default();
        let dashes = line.get(named..).and_then(|behind| behind.find("-----"));
        let head = dashes.map_or(end, |at| (named + at + 5).max(end));
        self.at += head;
        let body = rest.get(head..).unwrap_or_default();
        let body = body.find("-----END").unwrap_or(body.len());
        self.mask(body);
    }

    /// `user:secret@` of a URL; on the web a name alone is a token.
    fn authority(&mut self) {
        let rest = self.rest();
        let before = self.text.get(..self.at).unwrap_or_default();
        let web = ["http://", "https://"].iter().any(|scheme| {
            let from = before.len().checked_sub(scheme.len());
            from.and_then(|at| before.get(at..))
                .is_some_and(|own| own.eq_ignore_ascii_case(scheme))
        });
        let end = rest
            .find(|c: char| c.is_whitespace() || "/?#'\"`<>\\".contains(c))
            .unwrap_or(rest.len());
        let authority = rest.get(..end).unwrap_or_default();
        let Some((user, _)) = authority.rsplit_once('@') else {
            return;
        };
        match user.split_once(':') {
            None | Some((_, "" | "x-oauth-basic")) if web => {
                self.mask(user.find(':').unwrap_or(user.len()));
            }
            None => {}
            Some((name, secret)) => {
                self.at += name.len() + 1;
                self.mask(secret.len());
            }
        }
    }

    /// How long the value is that starts here. One that only names a variable or a command is none.
    fn value(&self, header: bool) -> usize {
        let rest = self.rest();
        if is_reference(rest.strip_prefix('"').unwrap_or(rest)) {
            return 0;
        }
        if header {
            let stop =
                |c| c == '\n' || self.quote.map_or(c == '"' || c == '\'', |quote| c == quote);
            return rest.find(stop).unwrap_or(rest.len());
        }
        let mut within = None;
        let mut escaped = false;
        for (at, c) in rest.char_indices() {
            let ends = match within {
                _ if escaped => {
                    escaped = false;
                    false
                }
                Some(quote) => {
                    escaped = c == '\\' && quote == '"';
                    if c == quote {
                        within = None;
                    }
                    false
                }
                None if c == '\\' => {
                    escaped = true;
                    false
                }
                // The quotes that all of this stands in end here, unless they open the value.
                None if (c == '"' || c == '\'') && (at == 0 || self.quote != Some(c)) => {
                    within = Some(c);
                    false
                }
                None => c.is_whitespace() || "\"'`&;|<>(),}".contains(c),
            };
            if ends {
                return at;
            }
        }
        rest.len()
    }
}

/// Whether an option takes `user:secret`, and then whether that is attached to it: `-uME:x`, `-su ME:x`, `--user=ME:x`.
fn pair(word: &str, after: &str) -> Option<bool> {
    let apart = after.starts_with([' ', '=']);
    if PAIRS.contains(&word) && apart {
        return Some(false);
    }
    let letters = word.strip_prefix('-').filter(|own| !own.starts_with('-'))?;
    let short = |pair: &&&str| pair.len() == 2;
    PAIRS.iter().filter(short).find_map(|pair| {
        let letter = pair.get(1..)?;
        let clustered = letters.ends_with(letter) && letters.len() < 6 && after.starts_with(' ');
        let attached = letters.starts_with(letter) && after.starts_with(':');
        (clustered || attached).then_some(attached)
    })
}

/// A block of YAML, `|` and the lines below: how far off its first line is, and how long it is.
fn block(rest: &str) -> (usize, usize) {
    let none = (0, 0);
    let Some((mark, lines)) = rest
        .strip_prefix(['|', '>'])
        .and_then(|rest| rest.split_once('\n'))
    else {
        return none;
    };
    if !mark.trim_end().chars().all(|c| "+-123456789".contains(c)) {
        return none;
    }
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let first = depth(lines);
    let mut length = 0;
    for line in lines.split_inclusive('\n') {
        if first == 0 || !line.trim().is_empty() && depth(line) < first {
            break;
        }
        length += line.len();
    }
    let length = lines.get(..length).unwrap_or_default().trim_end().len();
    (mark.len() + 2, length)
}

/// How long the sign of an assignment is, with what stands around it: `=`, `: `, `": `, ` => `.
fn assigned(after: &str) -> Option<usize> {
    let rest = after.trim_start_matches('\\');
    let quoted = rest.strip_prefix(['"', '\'']);
    // In JSON the value may stand in the next line.
    if let Some(value) = quoted.and_then(|rest| rest.trim_start().strip_prefix(':')) {
        return Some(after.len() - value.trim_start().len());
    }
    let rest = quoted.unwrap_or(rest);
    if let Some(value) = rest
        .strip_prefix('=')
        .filter(|value| !value.starts_with(['=', '~', '>']))
    {
        return Some(after.len() - value.len());
    }
    let rest = rest.trim_start_matches([' ', '\t']);
    let value = [":=", "=>", ":", "= "]
        .into_iter()
        .find_map(|sign| rest.strip_prefix(sign))?;
    Some(after.len() - value.trim_start_matches([' ', '\t']).len())
}

/// `$NAME`, `${NAME}`, `$(command)`.
fn is_reference(value: &str) -> bool {
    let name = value.strip_prefix('$').and_then(|rest| rest.chars().next());
    name.is_some_and(|c| c == '{' || c == '(' || c == '_' || c.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::{EXAMPLES, Secrets};
    use proptest::prelude::*;
    use serde_json::json;

    fn masked(text: &str) -> String {
        Secrets::with(&[]).unwrap().text(text, &mut 0)
    }

    #[test]
    fn the_examples_of_the_table() {
        let wrong: Vec<String> = EXAMPLES
            .iter()
            .filter(|(text, want)| masked(text) != *want)
            .map(|(text, want)| format!("{text}\n  wanted {want}\n  got    {}", masked(text)))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn by_the_names_of_arguments() {
        let args = json!({
            "command": "x --token a", "apiKey": "k", "nested": [{"password": 7, "max_tokens": 5}],
            "argv": ["x", "--token", "a", "--verbose", "b"], "secret": null, "token": {"value": "x"},
            "secret_value": {"v": "x"},
        });
        let (args, count) = Secrets::with(&[])
            .unwrap()
            .arguments(args.as_object().unwrap());
        assert_eq!(
            serde_json::Value::Object(args),
            json!({
                "command": "x --token ***", "apiKey": "***", "nested": [{"password": "***", "max_tokens": 5}],
                "argv": ["x", "--token", "***", "--verbose", "b"], "secret": null, "token": "***",
                "secret_value": "***",
            })
        );
        assert_eq!(count, 6);
    }

    #[test]
    fn more_and_off() {
        let with = |more: &[&str], text: &str| {
            let more: Vec<String> = more.iter().map(|word| (*word).to_owned()).collect();
            Secrets::with(&more).unwrap().text(text, &mut 0)
        };
        assert_eq!(
            with(&["acme_*", "TAN"], "acme_1 MY_TAN=4 x"),
            "*** MY_TAN=*** x"
        );
        assert_eq!(with(&["off"], "TOKEN=a"), "TOKEN=a");
        assert!(Secrets::with(&["[".to_owned()]).is_err());
    }

    #[test]
    fn a_long_text_is_cut() {
        let mut count = 0;
        let text = Secrets::with(&[])
            .unwrap()
            .text(&"ü ".repeat(20_000), &mut count);
        assert!(text.len() < 17_000 && text.ends_with("… of 60000 bytes"));
        assert_eq!(count, 1);
    }

    proptest! {
        #[test]
        fn a_secret_behind_its_name_never_shows(
            before in "[a-z '\"\\\\]{0,12}", quote in "['\"]?", secret in "QZ[a-zA-Z0-9]{6,12}", after in "[a-z '\"&]{0,12}",
        ) {
            let text = format!("{before} API_TOKEN={quote}{secret}{quote} {after}");
            prop_assert!(!masked(&text).contains(&secret), "{text}: {}", masked(&text));
        }

        #[test]
        fn any_text_can_be_masked(text in "(token|--password|://|:|=|@|'|\"|\\\\| |-----BEGIN PRIVATE KEY|[a-zü$]|\n){0,40}") {
            masked(&text);
        }
    }
}
