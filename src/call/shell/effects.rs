//! One command's words → what they do, by the table of facts about programs.
//!
//! In: the words of one simple command at one level, as values. Out: an [`Outcome`]: roles, options,
//! effects, and what the command starts in its turn. A program that the table does not know has no
//! known effects, and its operands may be paths. Where a word cannot be computed, what follows from
//! either reading is said; what cannot be followed at all becomes [`Starts::Opaque`].

mod judging;
mod pathspecs;
mod reading;
mod scripts;
mod several;
mod spellings;
mod starting;
#[cfg(test)]
mod tests;
mod values;

pub(super) use pathspecs::{TOP, is_sure as is_pathspec};
pub(super) use reading::cut;
pub(super) use several::{may_be_option, severally};
pub use values::asked_for;
pub(super) use values::{files_of, named, shelled};

use crate::call::access::{Escalation, Mode, Opt, Reach, Role, Spelling};
use crate::call::path;
use crate::call::programs::{self, Entry, Linked, List};
use crate::call::word::Word;
use std::borrow::Cow;

/// Whether something is fed to the command's standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing but what the shell itself has: a terminal, or nothing.
    #[default]
    None,
    /// A pipe, a heredoc, a here-string or a file.
    Fed,
}

/// Whether a text is the bare name of a program that reads what it is fed: `PAGER=cat`.
pub fn only_shows(text: &str) -> bool {
    let word = Word::known(text, crate::source::Span::default());
    let outcome = outcome(&[word], Stdin::Fed);
    outcome.known
        && outcome.only_reads
        && outcome.escalations.is_empty()
        && outcome.starts.is_empty()
}

/// Whether a command line is one program that reads what it is fed, or names, and does nothing else (`sort -rn`).
fn only_reads(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _./,:+-".contains(c);
    if !text.chars().all(plain) || text.len() > 256 {
        return false;
    }
    let words = text.split_whitespace();
    let words: Vec<Word> = words
        .map(|word| Word::known(word, crate::source::Span::default()))
        .collect();
    let outcome = outcome(&words, Stdin::Fed);
    outcome.known
        && outcome.only_reads
        && outcome.escalations.is_empty()
        && outcome.starts.is_empty()
}

/// What the words of one command do, program first. Total: any words give an outcome.
pub fn outcome(words: &[Word], stdin: Stdin) -> Outcome {
    let Some(program) = words.first() else {
        return Outcome::default();
    };
    let Some(name) = program.text() else {
        let mut out = judging::unknown(words);
        out.starts.push(Starts::Opaque(format!(
            "the program `{}` cannot be computed",
            program.shown()
        )));
        return out;
    };
    let base = path::last(name);
    // Git's own programs under their dashed names: `git-reset` is `git reset`.
    let dashed = || {
        let sub = base.strip_prefix("git-")?;
        let git = programs::find("git")?;
        Some((git.entry.as_entry(), Some(git.entry.sub(sub)?)))
    };
    let known = programs::find(base).map(|program| (program.entry.as_entry(), None));
    match known.or_else(dashed) {
        None => judging::unknown(words),
        Some((entry, sub)) => {
            let (own, next) = chained(entry, words);
            let mut out = judging::known(reading::read(&own, entry, sub), &own, stdin);
            if let Some(next) = next {
                out.roles.resize(words.len(), Role::Operand);
                let mut judge = values::Judge::new(words, None, List::EMPTY);
                judge.leads(program, next, next + 1);
                out.starts
                    .extend(judge.starts.into_iter().map(|(_, starts)| starts));
                (out.only_reads, out.transparent) = (false, false);
            }
            // A file of that name elsewhere need not be the program that the table means.
            out.only_reads &= name.len() == base.len() || system_folder(name);
            out
        }
    }
}

/// The words up to one that ends in `;`, where that ends them, and where it stands.
fn chained<'w>(entry: &Entry, words: &'w [Word]) -> (Cow<'w, [Word]>, Option<usize>) {
    let ends = |word: &Word| word.text().is_some_and(|text| text.ends_with(';'));
    let end = words
        .iter()
        .position(ends)
        .filter(|at| entry.chained && *at > 0);
    let Some(end) = end else {
        return (Cow::Borrowed(words), None);
    };
    let mut own = words.get(..=end).unwrap_or_default().to_vec();
    let last = own.pop().unwrap_or_default();
    let text = last.text().unwrap_or("").trim_end_matches(';');
    if !text.is_empty() {
        own.push(Word::known(text, last.span));
    }
    let next = Some(end).filter(|end| end + 1 < words.len());
    (Cow::Owned(own), next)
}

/// Whether the path lies in a folder that only the system's administrator fills.
fn system_folder(path: &str) -> bool {
    let path = path.strip_prefix("/proc/self/root").unwrap_or(path);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    matches!(
        folder,
        "/bin" | "/sbin" | "/usr/bin" | "/usr/sbin" | "/usr/local/bin" | "/usr/local/sbin"
    )
}

/// What the words of one command do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What each word is to the program; as long as the words.
    pub roles: Vec<Role>,
    /// Other names of the words that choose what it does.
    pub names: Vec<(usize, &'static str)>,
    /// Other words for them.
    pub spellings: Vec<Spelling>,
    /// What words come to, with their index.
    pub aims: Vec<(usize, String)>,
    /// Options, clusters taken apart.
    pub options: Vec<Opt>,
    /// What it does, in the order of the words.
    pub effects: Vec<Effect>,
    /// What its words do beyond what an allow covers, and what cannot be an effect of its own (runs code, changes state).
    pub escalations: Vec<Escalation>,
    /// What it starts.
    pub starts: Vec<Starts>,
    /// The folder that it starts it in, where that is another (`env -C`).
    pub folder: Option<Word>,
    /// Where it starts something, it needs no cover of its own.
    pub transparent: bool,
    /// Below a folder it leaves out what `.gitignore` names, and follows no links.
    pub gitignore: bool,
    /// It is told to look at names with a leading dot.
    pub hidden: bool,
    /// Below a folder it leaves out what `.dockerignore` names.
    pub dockerignore: bool,
    /// Below a folder it goes where links lead.
    pub follows: bool,
    /// Where what it writes is a folder, what it reads lands in it, under its own name.
    pub lands: bool,
    /// Of folders it compares the files that two of them hold.
    pub compares: bool,
    /// It compares with nothing what one of them lacks.
    pub lacking: bool,
    /// Links of names that nobody knows come to lie below what it writes.
    pub plants: bool,
    /// Words that name what is imported and called: a module of the folder it works in, or any function there is.
    pub modules: Vec<(usize, String)>,
    /// What it makes are links to what it reads.
    pub links: Option<Linked>,
    /// It copies links as links.
    pub keeps: bool,
    /// It keeps what it replaces under another name.
    pub backs_up: bool,
    /// How that is called: what is added to the name, and whether before it.
    pub copies: Vec<(Word, bool)>,
    /// What it writes loses the end of its name.
    pub unpacks: bool,
    /// It puts other files in the place of those that git tracks.
    pub swaps: bool,
    /// It puts back what the last commit has in the place of what was changed since.
    pub restores: bool,
    /// It puts into the index what the last commit may not have.
    pub stages: bool,
    /// It reads what was changed since git last looked.
    pub unsaved: bool,
    /// How all names end that it touches below a folder; none where any name may be.
    pub ends: Vec<Cow<'static, str>>,
    /// Words that name files, and stand where an option does more, if a file's name begins with a dash.
    pub dashed: Vec<usize>,
    /// It has nothing to do but what is typed into it.
    pub open: bool,
    /// The table knows the program.
    pub known: bool,
    /// Everything it does by itself is reading, or nothing at all; what it starts is judged in its turn.
    pub only_reads: bool,
}

/// One effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// What is done.
    pub what: What,
    /// The path, host or URL.
    pub value: Word,
    /// Index of the word that must be named by an allow before it covers this effect; none: covered by the program's words.
    pub naming: Option<usize>,
}

/// The kinds of effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A path is read or written; `certain` is false for an operand of an unknown program.
    Path {
        /// Reading or writing.
        mode: Mode,
        /// How far it goes.
        reach: Reach,
        /// It surely is a path.
        certain: bool,
    },
    /// A path is named or listed (`ls`, `find`, `stat`): its content is not touched, but what is below a
    /// folder may become words of a command (`find DIR -exec`, `find DIR | xargs`).
    Name {
        /// How far it goes.
        reach: Reach,
    },
    /// A host that is written out is contacted, or data is sent to it.
    Host,
}

/// What a command starts in its turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Starts {
    /// The words from this index on (`sudo -u bob rm x` → 3), up to and without the word at `end`.
    Words {
        /// First word.
        from: usize,
        /// One past the last word.
        end: usize,
        /// Unknown words are added at its end (`xargs`), or stand for `{}`.
        more: bool,
        /// The first of them may be a package, with a version behind its name.
        package: bool,
    },
    /// A shell script in one word (`bash -c`, `eval`, `watch`).
    Script {
        /// Index of the word.
        word: usize,
        /// Index of the first positional argument (`$0` for `-c`).
        args: Option<usize>,
    },
    /// The words from this index on, joined by blanks, are a shell script (`eval a b`, `ssh host a b`).
    Joined {
        /// First word.
        from: usize,
        /// One past the last word.
        end: usize,
        /// Unknown words are added at its end (`parallel`).
        more: bool,
    },
    /// A shell script in the value of an option, where it is no word of its own (`--info-script=…`).
    Value {
        /// The script.
        script: Word,
        /// Index of the word that holds it.
        at: usize,
    },
    /// A file of code in another language (`python x.py`): deny and ask judge it as a program too.
    Code {
        /// Index of the word.
        word: usize,
    },
    /// A shell script on standard input (`bash`, `bash -s`).
    Stdin,
    /// Lines of a console on standard input, some of which go to a shell (`sqlite3`, `ed`).
    Console,
    /// A shell script in a file, read and run (`bash x.sh`, `source x`).
    File {
        /// Index of the word.
        word: usize,
    },
    /// Something that is not understood, and why.
    Opaque(String),
}

impl Starts {
    /// The words from one index to another, as they stand.
    pub const fn words(from: usize, end: usize) -> Self {
        Self::Words {
            from,
            end,
            more: false,
            package: false,
        }
    }
}
