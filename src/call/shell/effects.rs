//! One command's words → what they do, by the table of facts about programs.
//!
//! In: the words of one simple command at one level, as values. Out: an [`Outcome`]: roles, options,
//! effects, and what the command starts in its turn. A program that the table does not know has no
//! known effects, and its operands may be paths.

use crate::call::access::{Escalation, Mode, Opt, Reach, Role};
use crate::call::word::Word;

/// What the words of one command do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What each word is to the program; as long as the words.
    pub roles: Vec<Role>,
    /// Options, clusters taken apart.
    pub options: Vec<Opt>,
    /// What it does, in the order of the words.
    pub effects: Vec<Effect>,
    /// What its words do beyond what an allow covers, and what cannot be an effect of its own (runs code, changes state).
    pub escalations: Vec<Escalation>,
    /// What it starts.
    pub starts: Vec<Starts>,
    /// Where it starts something, it needs no cover of its own.
    pub transparent: bool,
    /// The table knows the program.
    pub known: bool,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    },
    /// A shell script in one word (`bash -c`, `eval`, `watch`).
    Script {
        /// Index of the word.
        word: usize,
        /// Index of the first positional argument (`$0` for `-c`).
        args: Option<usize>,
    },
    /// A shell script on standard input (`bash`, `bash -s`).
    Stdin,
    /// A shell script in a file, read and run (`bash x.sh`, `source x`).
    File {
        /// Index of the word.
        word: usize,
    },
    /// Something that is not understood, and why.
    Opaque(String),
}
