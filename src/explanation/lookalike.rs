//! Program names that are not what they look like: `ｇit`, `сurl` with a Cyrillic first letter, `g\u{200b}it`.
//!
//! In: a program's name. Out: its letters that pass for others. Such a name never meets an allow; a person who reads
//! it would think it should. Names in another script that resemble nothing in ASCII are left alone.

/// A program name that is not what it looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookalike {
    /// The name as given.
    pub name: String,
    /// What it looks like.
    pub looks_like: String,
    /// The letters that make the difference, in order.
    pub letters: Vec<Letter>,
}

/// A letter that passes for another, or is not seen at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The letter.
    pub is: char,
    /// What it looks like; none: nothing.
    pub looks_like: Option<char>,
}

/// Letters of other scripts and what they pass for, from Unicode's confusables (UTS 39): those for a-z, A-Z, 0-9, `-`, `.`, `_`, `/`.
const PASSES_FOR: &[(&str, char)] = &[
    ("аαａɑ", 'a'),
    ("ЬƄ", 'b'),
    ("сϲᴄⅽ", 'c'),
    ("ԁⅾ", 'd'),
    ("еҽℯ", 'e'),
    ("ғſẝ", 'f'),
    ("ɡᶃց", 'g'),
    ("һհℎ", 'h'),
    ("іıɩιӏℹ", 'i'),
    ("јϳ", 'j'),
    ("κкᴋ", 'k'),
    ("ⅼӀاןℓ", 'l'),
    ("мⅿ", 'm'),
    ("ոռ", 'n'),
    ("оοօσоᴏ", 'o'),
    ("рρϱ", 'p'),
    ("ԛզ", 'q'),
    ("гᴦⲅ", 'r'),
    ("ѕꜱ", 's'),
    ("тτᴛ", 't'),
    ("υսʋ", 'u'),
    ("νѵᴠⅴ", 'v'),
    ("ԝѡա", 'w'),
    ("хχⅹ", 'x'),
    ("уγүʏ", 'y'),
    ("ᴢ", 'z'),
    ("‐‑‒–—−﹣", '-'),
    ("․。", '.'),
    ("⁄∕╱", '/'),
];

/// Looks at a name.
pub fn find(name: &str) -> Option<Lookalike> {
    if name.is_ascii() {
        return None;
    }
    let mut looks_like = String::with_capacity(name.len());
    let mut letters = Vec::new();
    for c in name.chars() {
        if c.is_ascii() {
            looks_like.push(c);
            continue;
        }
        let other = if is_invisible(c) {
            None
        } else {
            Some(passes_for(c)?)
        };
        looks_like.extend(other);
        letters.push(Letter {
            is: c,
            looks_like: other,
        });
    }
    Some(Lookalike {
        name: name.to_owned(),
        looks_like,
        letters,
    })
}

fn passes_for(c: char) -> Option<char> {
    let code = u32::from(c);
    match code {
        // Full-width forms of ASCII.
        0xff01..=0xff5e => char::from_u32(code - 0xfee0),
        // Mathematical letters: thirteen alphabets of 26 capitals and 26 small letters, then five sets of digits.
        0x1d400..=0x1d6a3 => {
            let at = u8::try_from((code - 0x1d400) % 52).ok()?;
            Some(char::from(if at < 26 { b'A' + at } else { b'a' + at - 26 }))
        }
        0x1d7ce..=0x1d7ff => {
            let at = u8::try_from((code - 0x1d7ce) % 10).ok()?;
            Some(char::from(b'0' + at))
        }
        _ => {
            let small = c.to_lowercase().next().unwrap_or(c);
            let found = PASSES_FOR
                .iter()
                .find(|(letters, _)| letters.contains(c) || letters.contains(small));
            found.map(|(_, other)| match small == c {
                true => *other,
                false => other.to_ascii_uppercase(),
            })
        }
    }
}

const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn names_that_pass_for_others() {
        let cases = [
            ("ｇｉｔ", Some("git")),
            ("сurl", Some("curl")),
            ("𝐫𝐦", Some("rm")),
            ("g\u{200b}it", Some("git")),
            ("СР", Some("CP")),
            ("rm", None),
            ("café", None),
            ("日本", None),
        ];
        for (name, looks_like) in cases {
            let found = find(name).map(|found| found.looks_like);
            assert_eq!(found.as_deref(), looks_like, "{name}");
        }
    }
}
