//! Who asks: tokens and their roles. An agent submits, a person decides, and no token does both.
//!
//! With `--tokens FILE` every request names a token of the file. Without, on loopback alone, submitting needs none; to
//! decide, a person opens the link that is printed to the terminal of `acl serve`. It counts once, and the page gets a
//! token for it that only memory knows: nothing an agent could read lies in a file, an argument or the environment.
//! Whoever uses a link is told there, and the next link with it, so that one that was used by somebody else is noticed.

use super::super::state::private_text;
use super::super::{Stop, output};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Asks: an agent's harness.
    Submit,
    /// Answers: a person.
    Decide,
}

impl Role {
    const ALL: [(&'static str, Self); 2] = [("submit", Self::Submit), ("decide", Self::Decide)];
}

/// Somebody who is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// What they may do.
    pub role: Role,
    /// What they are called.
    pub name: Option<String>,
}

/// A secret, as it is kept: its digest, so that comparing takes as long whatever is compared.
#[derive(Clone, Copy)]
struct Kept([u8; 32]);

impl Kept {
    fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// How short a token of the file may be.
const SHORTEST: usize = 16;

/// How long a page may be used without a new link or token.
const LASTS: Duration = Duration::from_secs(12 * 60 * 60);

/// How many pages may be open at once.
const MOST_PAGES: usize = 64;

/// All who are known.
pub struct People {
    /// None: there is no file.
    tokens: Option<Vec<(Kept, Person)>>,
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    link: Option<Kept>,
    open: Vec<(Kept, Person, Instant)>,
}

impl People {
    /// Those of a file, or whoever opens the link.
    pub fn new(file: Option<&Path>) -> Result<Self, Stop> {
        let tokens = match file {
            None => None,
            Some(path) => {
                let shown = path.display();
                let text = private_text(path).map_err(Stop::told)?;
                Some(tokens(&text).map_err(|why| {
                    Stop::helped(format!("`{shown}`: {why}"), "a line is `submit NAME TOKEN` or `decide NAME TOKEN`; `openssl rand -hex 24` makes a token")
                })?)
            }
        };
        Ok(Self {
            tokens,
            pages: Mutex::default(),
        })
    }

    /// Whether there is a file: then nothing goes without a token.
    pub fn are_named(&self) -> bool {
        self.tokens.is_some()
    }

    /// Whose token this is.
    pub fn person(&self, token: &str) -> Option<Person> {
        let given = Kept::of(token);
        let mut found = None;
        // All are compared, whichever it is.
        for (kept, person) in self.tokens.iter().flatten() {
            if kept.is(&given) {
                found = Some(person.clone());
            }
        }
        let mut pages = self.pages();
        pages.open.retain(|(_, _, since)| since.elapsed() < LASTS);
        for (kept, person, _) in &pages.open {
            if kept.is(&given) {
                found = Some(person.clone());
            }
        }
        found
    }

    /// A new link's code, where links are what a person decides by.
    pub fn link(&self) -> Result<Option<String>, Stop> {
        if self.are_named() {
            return Ok(None);
        }
        let code = secret()?;
        self.pages().link = Some(Kept::of(&code));
        Ok(Some(code))
    }

    /// The token of a page, for a link's code or for a token that decides; none where it is neither. `true`: the link
    /// was used up.
    pub fn open_page(&self, code_or_token: &str) -> Result<Option<(String, Person, bool)>, Stop> {
        let given = Kept::of(code_or_token);
        let known = self.person(code_or_token);
        let token = secret()?;
        let mut pages = self.pages();
        let by_link = pages.link.is_some_and(|link| link.is(&given));
        let person = match (by_link, known) {
            (true, _) => {
                pages.link = None;
                Person {
                    role: Role::Decide,
                    name: None,
                }
            }
            (false, Some(person)) if person.role == Role::Decide => person,
            (false, _) => return Ok(None),
        };
        if pages.open.len() >= MOST_PAGES {
            pages.open.remove(0);
        }
        pages
            .open
            .push((Kept::of(&token), person.clone(), Instant::now()));
        Ok(Some((token, person, by_link)))
    }

    /// Closes a page.
    pub fn close_page(&self, token: &str) {
        let given = Kept::of(token);
        self.pages().open.retain(|(kept, _, _)| !kept.is(&given));
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tokens of a file.
fn tokens(text: &str) -> Result<Vec<(Kept, Person)>, String> {
    let mut all: Vec<(Kept, Person)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [role, name, token] = words.as_slice() else {
            return Err(format!("line {number} is no token"));
        };
        let known = Role::ALL.iter().find(|(word, _)| word == role);
        let Some((_, role)) = known else {
            return Err(format!("line {number} names the role `{role}`"));
        };
        if token.len() < SHORTEST || !token.is_ascii() {
            return Err(format!(
                "the token of line {number} is shorter than {SHORTEST} characters, or not of ASCII"
            ));
        }
        let kept = Kept::of(token);
        if all.iter().any(|(other, _)| other.is(&kept)) {
            return Err(format!(
                "the token of line {number} stands there twice: one token, one role"
            ));
        }
        all.push((
            kept,
            Person {
                role: *role,
                name: Some((*name).to_owned()),
            },
        ));
    }
    let has = |role| all.iter().any(|(_, person)| person.role == role);
    match (has(Role::Submit), has(Role::Decide)) {
        (true, true) => Ok(all),
        (false, _) => Err("no token has the role `submit`".to_owned()),
        (true, false) => Err("no token has the role `decide`".to_owned()),
    }
}

/// 256 bits that nobody can guess.
fn secret() -> Result<String, Stop> {
    let mut bytes = [0; 32];
    getrandom::getrandom(&mut bytes)
        .map_err(|why| Stop::told(format!("the system gives no random bytes: {why}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Prints the link of a page to the terminal.
pub fn print_link(address: &str, code: &str, again: bool) {
    let what = match again {
        true => {
            "a page was opened with the link; if that was not you, stop acl serve. The next link"
        }
        false => "to decide, open this link (it counts once)",
    };
    output::always(&format!("{what}: {address}/#code={code}"));
}

#[cfg(test)]
mod tests {
    use super::{People, Role, tokens};

    fn faulty(text: &str) -> String {
        tokens(text).err().unwrap_or_default()
    }

    #[test]
    fn a_token_has_one_role() {
        let text = "# who\nsubmit ci 0123456789abcdef\ndecide ann fedcba9876543210\n";
        let known = tokens(text).unwrap();
        assert_eq!(known.len(), 2);
        let same = "submit ci 0123456789abcdef\ndecide ann 0123456789abcdef";
        assert!(faulty(same).contains("twice"));
        assert!(faulty("submit ci 0123456789abcdef").contains("`decide`"));
        assert!(faulty("decide ann fedcba9876543210").contains("`submit`"));
        assert!(faulty("submit ci short").contains("shorter"));
        assert!(faulty("admin ci 0123456789abcdef").contains("`admin`"));
        assert!(faulty("submit 0123456789abcdef").contains("line 1"));
    }

    #[test]
    fn a_link_counts_once() {
        let people = People::new(None).unwrap();
        let code = people.link().unwrap().unwrap();
        assert!(people.person(&code).is_none(), "a code is no token");
        assert!(people.open_page("nothing").unwrap().is_none());
        let (token, person, used) = people.open_page(&code).unwrap().unwrap();
        assert!(used && person.role == Role::Decide);
        assert_eq!(people.person(&token).unwrap().role, Role::Decide);
        assert!(people.open_page(&code).unwrap().is_none());
        people.close_page(&token);
        assert!(people.person(&token).is_none());
    }
}
