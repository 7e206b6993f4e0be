//! What one call does, taken apart: paths read and written, commands run, hosts contacted, the tool itself.
//!
//! In: nothing; these are the values that `call/` makes and `decision/` judges.
//! Whatever is not understood is an [`Kind::Opaque`] access, never nothing.

use super::word::Word;
use crate::source::Span;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// One thing that a call does.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// What it is.
    pub kind: Kind,
    /// The bytes of the command line it came from; none for a tool's own arguments.
    pub span: Option<Span>,
    /// How we got there, outermost first: `sudo`, `bash -c`, `$(…)`, `loop body` ….
    pub via: Via,
}

/// The way to an access: one list for all that were reached by it, and none where it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Via(Option<Arc<Vec<SmolStr>>>);

impl Via {
    /// One step further.
    pub fn push(&mut self, step: impl Into<SmolStr>) {
        Arc::make_mut(self.0.get_or_insert_default()).push(step.into());
    }

    /// One step back.
    pub fn pop(&mut self) {
        self.0 = self.0.take().filter(|steps| steps.len() > 1);
        if let Some(steps) = &mut self.0 {
            Arc::make_mut(steps).pop();
        }
    }
}

impl Deref for Via {
    type Target = [SmolStr];

    fn deref(&self) -> &[SmolStr] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl Access {
    /// The tool as such.
    pub const fn of_tool() -> Self {
        Self {
            kind: Kind::Tool,
            span: None,
            via: Via(None),
        }
    }
}

/// The kinds of access.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The tool as such: nothing else is known of the call.
    Tool,
    /// A command, at one level: `sudo rm x` is two accesses, `sudo` and `rm x`.
    Command(Box<Command>),
    /// A path is read or written.
    Path(Box<PathAccess>),
    /// A host is contacted.
    Host(Box<HostAccess>),
    /// Something that is not understood.
    Opaque(Box<Opaque>),
}

/// Something that is not understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opaque {
    /// Why.
    pub why: String,
    /// Words that nobody reads any more, one list for each stretch between what parts commands.
    pub unread: Vec<Vec<String>>,
    /// It runs code that is not written in the call: what is typed into it, or what another command writes.
    pub open: bool,
}

/// One command at one level of launchers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// Its words, program first, up to the end of the simple command (those of a launched command too).
    pub words: Vec<Word>,
    /// What each word is to the program: as long as `words`.
    pub roles: Vec<Role>,
    /// Other names of a word that chooses what the program does, with its index: `npm i` is `npm install`.
    pub names: Vec<(usize, &'static str)>,
    /// Other words for some of them.
    pub spellings: Vec<Spelling>,
    /// What a word comes to, with its index, for deny and ask: `HEAD:refs/heads/main` is a push to `main`.
    pub aims: Vec<(usize, String)>,
    /// The options found, clusters taken apart.
    pub options: Vec<Opt>,
    /// Assignments before the program.
    pub assignments: Vec<Assignment>,
    /// Where the words of the command that this one starts begin (`sudo -u bob` → 3), if it starts one by words.
    pub rest: Option<usize>,
    /// Index of the access that this launcher starts by words (`sudo rm`), filled in by the script walker.
    pub inner: Option<usize>,
    /// Index of the command access that starts this one, by words or by script (`bash -c`).
    pub launcher: Option<usize>,
    /// A launcher that needs no cover of its own where it starts something.
    pub transparent: bool,
    /// The table of facts knows the program.
    pub known: bool,
    /// What it does beyond what an allow of its words covers.
    pub escalations: Vec<Escalation>,
    /// Everything it does is reading (or nothing at all): what `only = "read"` asks.
    pub only_reads: bool,
    /// The folder it runs in, absolute; none where it cannot be computed.
    pub cwd: Option<SmolStr>,
    /// Below a folder it leaves out what `.gitignore` names, and follows no links.
    pub gitignore: bool,
    /// Below a folder it leaves out what `.dockerignore` names.
    pub dockerignore: bool,
    /// Below a folder it goes where links lead.
    pub follows: bool,
    /// How all names end that it touches below a folder; none where any name may be.
    pub ends: Vec<Cow<'static, str>>,
    /// Globs of the names that it leaves out below a folder, a star at one end perhaps.
    pub left_out: Vec<String>,
    /// It has nothing to do but what is typed into it: a bare shell or interpreter.
    pub open: bool,
    /// It is a script that its launcher runs as a program (`bash ./deploy.sh`): only deny and ask look at it.
    pub scripted: bool,
}

/// Other words that mean the same in the place of some: `docker rmi` for `docker image rm`.
#[derive(Clone, Debug, PartialEq)]
pub struct Spelling {
    /// Index of the first word that they stand for.
    pub from: usize,
    /// Index of the last.
    pub to: usize,
    /// The other words.
    pub words: Vec<Word>,
}

/// What a word is to its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The program.
    Program,
    /// A leading word that chooses what the program does (`push` in `git push`).
    Subcommand,
    /// An option, or a cluster of them.
    Option,
    /// The value of an option, in a word of its own.
    Value,
    /// An operand.
    Operand,
    /// A global option before the subcommand, a launcher's own option or skipped word, or their values: not counted in a pattern.
    Skipped,
    /// A word of the command that this one starts.
    Rest,
}

/// An option as the program will read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Opt {
    /// Every spelling that means this option: `-r`, `-R`, `--recursive`. The one that was typed comes first.
    pub names: Vec<Cow<'static, str>>,
    /// Its value, where it takes one.
    pub value: Option<Word>,
    /// Index of the word.
    pub at: usize,
    /// Whether it surely is this option; a guess (a cluster of an unknown program) is not.
    pub sure: bool,
    /// A long option that nobody listed as it was typed: it may be the beginning of another (`--forc`).
    pub open: bool,
    /// An option behind it takes it back (`--staged --no-staged`).
    pub undone: bool,
}

/// `NAME=value` before a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Word,
    /// It changes what programs run or read (`PATH`, `LD_PRELOAD`, …): cancels an allow that does not write it.
    pub dangerous: bool,
}

/// An effect that the pattern's words must name before an allow covers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escalation {
    /// What happens, in words: "writes its operand in place".
    pub what: String,
    /// What triggers it.
    pub at: Trigger,
    /// The option that does it, one of several in its word perhaps (`-Ssx`).
    pub option: Option<&'static str>,
    /// What to write instead, where something else does the same without it.
    pub instead: Option<String>,
}

/// What triggers an escalation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The word with this index.
    Word(usize),
    /// The assignment with this index.
    Assignment(usize),
    /// Not nameable by a pattern (code on standard input).
    Unnamed,
}

/// Reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mode {
    /// Its content is read.
    Read,
    /// It is written, created, changed or deleted.
    Write,
}

/// How far an access to a path goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// The path itself.
    Itself,
    /// All that lies below (`grep -r`, `rm -r`). `hidden`: files with a leading dot too.
    Below {
        /// Dot files are reached as well.
        hidden: bool,
    },
    /// Unknown names below it (extraction of an archive).
    SomethingBelow,
}

/// A path is read or written.
#[derive(Clone, Debug, PartialEq)]
pub struct PathAccess {
    /// Reading or writing.
    pub mode: Mode,
    /// The path as given.
    pub path: Word,
    /// The folder that a relative path starts from; none where it cannot be computed.
    pub cwd: Option<SmolStr>,
    /// How far it goes.
    pub reach: Reach,
    /// What covers it, where no path rule does.
    pub cover: Cover,
    /// Whether its content is surely touched.
    pub touches: Touches,
    /// What lies below it has the names of what lies below this folder: it was moved or copied.
    pub like: Option<String>,
}

/// Whether the content of a path is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touches {
    /// It is.
    Surely,
    /// An operand of an unknown program, which may be no path at all: only protected, deny and ask rules look at it.
    Perhaps,
    /// It is only named or listed (`ls`, `find`): only the workspace looks at it.
    Names,
}

/// A host is contacted.
#[derive(Clone, Debug, PartialEq)]
pub struct HostAccess {
    /// The URL or host as given.
    pub url: Word,
    /// What covers it, where no host rule does.
    pub cover: Cover,
    /// Written out in the call, not implied (a git remote, a registry).
    pub written: bool,
}

/// What covers an access that no rule of its own section names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// The tool's tier alone (a file tool's argument, a redirection that writes).
    Tool,
    /// An allow of the command at this index of the access list …
    Command {
        /// Index of the command access.
        at: usize,
        /// … whose words must also name this word, where there is one.
        naming: Option<usize>,
    },
}
