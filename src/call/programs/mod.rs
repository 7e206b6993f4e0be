//! The table of facts about programs: what their options, operands and subcommands do.
//!
//! In: `*.toml` beside this file, turned into static arrays by `build.rs`. Out: [`find`], a [`Program`] by its name.
//! How an entry is written stands in `README.md` here. What runs, and on which words, is decided in `call/shell/effects.rs`.
//! An entry's own `examples` are its tests.

#[cfg(test)]
pub(crate) mod examples;
mod pool;

use pool::Pooled;
pub use pool::{EntryRef, List, Text};

/// A program, as the table knows it.
#[derive(Debug)]
pub struct Program {
    /// The name of its entry.
    pub name: Text,
    /// Other names of the same program (`gawk` of `awk`, `python3` of `python`).
    pub aliases: List<Text>,
    /// What it does, its subcommands below.
    pub entry: EntryRef,
}

/// What a program or a subcommand does.
#[derive(Debug)]
pub struct Entry {
    /// The kind of thing it does by itself; none: as the level above.
    pub does: Option<Does>,
    /// Options that matter: all that take a value, all that do more than the program by itself.
    pub options: List<Spec>,
    /// Their spellings, sorted, each with the index of its option.
    pub spellings: List<(Text, u16)>,
    /// `NAME=value` operands (`dd`), spelled as options without a dash.
    pub pairs: List<Spec>,
    /// What the operands are; none: an entry that has subcommands only.
    pub operands: Option<Signature>,
    /// Subcommands, by name.
    pub subs: List<(Text, EntryRef)>,
    /// Where it is a subcommand that may be written in several ways: all its names.
    pub names: List<Text>,
    /// The words of the level above that mean the same: `image rm` for the `rmi` of `docker`.
    pub also: List<Text>,
    /// What it starts.
    pub starts: Start,
    /// Operands before the words that it starts.
    pub skip: usize,
    /// Where it starts something, it needs no cover of its own.
    pub transparent: bool,
    /// `NAME=value` operands before the started words are assignments.
    pub assignments: bool,
    /// How its words are read.
    pub style: Style,
    /// Options of this level are not read after a subcommand.
    pub strict: bool,
    /// Without a path operand it works on `.`.
    pub implied: bool,
    /// Unknown names are written below the folder it works in, unless an option says otherwise.
    pub into: bool,
    /// The word may be left out before one that it runs (`yarn run build`).
    pub optional: bool,
    /// The word that it runs may be a program that the project has installed (`yarn eslint`).
    pub binaries: bool,
    /// Its subcommands are kinds of things: in any case, several with commas, a name or a version behind them
    /// (`kubectl get pods,Secret/x`).
    pub kinds: bool,
    /// What it starts stands behind `--`.
    pub dashes: bool,
    /// Below a folder it leaves out what `.gitignore` names, and follows no links.
    pub gitignore: bool,
    /// Where it starts nothing by its words, it takes commands from who sits before it.
    pub interactive: bool,
    /// Paths among its operands are pathspecs: magic may stand before them, and their wildcards are its own.
    pub pathspecs: bool,
    /// Below a folder it leaves out what `.dockerignore` names.
    pub dockerignore: bool,
    /// Below a folder it goes where links lead.
    pub follows: bool,
    /// Where what it writes is a folder, what it reads lands in it, under its own name.
    pub lands: bool,
    /// What it makes are links to what it reads, hard ones unless an option says otherwise.
    pub links: bool,
    /// What it writes loses the end of its name (`gunzip a.gz`).
    pub unpacks: bool,
    /// It puts other files in the place of those that git tracks (`git stash`).
    pub swaps: bool,
    /// It puts back what the last commit has in the place of what was changed since (`git stash`).
    pub restores: bool,
    /// It puts into the index what the last commit may not have (`git add`).
    pub stages: bool,
    /// It reads what was changed since git last looked (`git diff`).
    pub unsaved: bool,
    /// Its long options are the same in capital letters (`tsc --OUTFILE`).
    pub caseless: bool,
    /// The value of an option may stand right behind its name, however long that is (`gcc -MFx`).
    pub glued: bool,
    /// It goes by the name of a machine, too, that it works for (`arm-none-eabi-gcc`).
    pub cross: bool,
    /// It creates no file that it is given by name (`sed -i`).
    pub existing: bool,
    /// What is fed to it are lines of its console (`sqlite3`, `ed`).
    pub console: bool,
    /// A word that is `;`, or ends in it, ends its words: what follows are its words once more (`tmux ls \; kill-server`).
    pub chained: bool,
    /// It has options with a value that are not listed here, though it runs no code of the project.
    pub unlisted: bool,
    /// The beginning of a subcommand's name stands for it where no other begins so (`npm pub`).
    pub shortened: bool,
    /// What it starts may be a package with a version behind its name (`npx vercel@latest`).
    pub packages: bool,
    /// Of folders it compares the files that two of them hold (`diff a b`).
    pub compares: bool,
    /// One dash does for two before its options, and they stand behind the words that it starts, too, up to `--` (`npm`).
    pub nopt: bool,
    /// Links of names that nobody knows come to lie below what it writes (`python -m venv`).
    pub plants: bool,
    /// Keys or names whose setting does no harm (`git -c color.ui=…`): a trailing `*` stands for anything.
    pub harmless: List<Text>,
    /// Keys whose value is a command that it runs (`git -c core.pager=…`).
    pub commands: List<Text>,
    /// How all names end that it touches below a folder.
    pub ends: List<Text>,
    /// The file that it changes where it does more than look, unless an option names another (`git config`).
    pub settings: Option<Text>,
    /// What this subcommand does beyond what an allow of the level above covers.
    pub escalates: Option<Text>,
}

impl Entry {
    /// The option of this spelling, at this level.
    pub fn option(&'static self, name: &str) -> Option<&'static Spec> {
        let at = self
            .spellings
            .binary_search_by(|(known, _)| known.as_bytes().cmp(name.as_bytes()))
            .ok()?;
        let (_, option) = self.spellings.get(at)?;
        self.options.get(usize::from(*option))
    }

    /// Whether an option begins so, at this level.
    pub fn has_longer(&'static self, start: &str) -> bool {
        let before = |(known, _): &(Text, u16)| known.as_bytes() < start.as_bytes();
        let first = self.spellings.get(self.spellings.partition_point(before));
        first.is_some_and(|(known, _)| known.starts_with(start))
    }

    /// The subcommand of this name.
    pub fn sub(&'static self, name: &str) -> Option<&'static Entry> {
        let at = self
            .subs
            .binary_search_by(|(known, _)| known.as_bytes().cmp(name.as_bytes()))
            .ok()?;
        self.subs.get(at).map(|(_, entry)| entry.as_entry())
    }

    /// The subcommand that a shorter name stands for, with its own: `npm pub`, `npm cleanInst`.
    pub fn shortened(&'static self, typed: &str) -> Option<(&'static str, &'static Entry)> {
        if !self.shortened || typed.is_empty() {
            return None;
        }
        let mut start = String::with_capacity(typed.len());
        for c in typed.chars() {
            if c.is_ascii_uppercase() {
                start.push('-');
            }
            start.push(c.to_ascii_lowercase());
        }
        let from = self
            .subs
            .partition_point(|(known, _)| known.as_bytes() < start.as_bytes());
        let fitting = self.subs.get(from..).unwrap_or_default();
        let mut fitting = fitting
            .iter()
            .take_while(|(known, _)| known.starts_with(start.as_str()));
        let (name, entry) = fitting.next()?;
        let only = fitting.next().is_none() || **name == *start;
        only.then(|| (name.as_str(), entry.as_entry()))
    }
}

/// The kinds of thing that a program does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Nothing that lasts (`echo`, `sleep`).
    Nothing,
    /// It reads.
    Reads,
    /// It contacts a host and reads from it.
    Connects,
    /// It changes files or settings.
    Writes,
    /// It changes something elsewhere: processes, services, a remote.
    Changes,
    /// It runs code of the project or of a package.
    Runs,
}

/// A new name for a file that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    /// One more name of the same file.
    Hard,
    /// A link that leads to it.
    Symbolic,
}

/// What a program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Nothing by its operands.
    Nothing,
    /// The command in the words after `skip` operands.
    Words,
    /// The same, with words added from its input (`xargs`).
    WordsMore,
    /// The words after `skip` operands, joined by blanks, are a shell script (`eval`, `ssh`, `watch`).
    Joined,
    /// A shell: a script file, or standard input.
    Shell,
    /// A script file that runs in the calling shell (`source`).
    Source,
    /// An interpreter of another language: a file of code, or standard input.
    Code,
    /// `parallel`: a command up to `:::`, then its arguments.
    Parallel,
    /// Something that cannot be followed (`socat`): always opaque.
    Opaque,
    /// Words of the same program (`tmux bind x run-shell y`).
    Own,
}

/// How a program reads its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `-abc` is a cluster, `--long` may be shortened, options and operands mix.
    Gnu,
    /// `-long` options, no clusters (`find`, `terraform`, `java`).
    Single,
    /// No word is an option (`echo`, `test`).
    Plain,
    /// As GNU, and the first word is a cluster without a dash (`tar xf`).
    Bundle,
    /// As GNU, and every word without a dash is a cluster, whose letters mean what they say without one (`ps aux`).
    Letters,
    /// As GNU, and options end at the first operand.
    Posix,
}

/// The operands, in order.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The leading ones.
    pub first: List<Slot>,
    /// The others.
    pub rest: Slot,
    /// The trailing ones, where there are more operands than `first` holds.
    pub last: List<Slot>,
}

/// What a value or an operand is, and whether an allow must name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What it is.
    pub kind: Kind,
    /// An allow covers it only where its words name it.
    pub named: bool,
}

impl Slot {
    /// A value that an allow covers unnamed.
    pub const fn of(kind: Kind) -> Self {
        Self { kind, named: false }
    }
}

/// What a value or an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text: no path, no host.
    Text,
    /// May be a path: only protected, deny and ask rules look at it.
    Maybe,
    /// A path that is read.
    Read,
    /// All below it is read, dot files too.
    ReadBelow,
    /// All below it but dot files is read.
    ReadShown,
    /// How copies are named (`sed -i.bak`): a `*` is the name, a slash leads to another folder.
    Backup,
    /// The same, before the name (`patch -B old/`).
    BackupPrefix,
    /// A file that names others: they are read too.
    Names,
    /// A path that is written, created, changed or deleted.
    Write,
    /// Files are written whose names begin so.
    WriteStart,
    /// A file that is written, `#1` in its name filled in (`curl -o`).
    WriteNumbered,
    /// A path that is read and written.
    Both,
    /// All below it is read and written.
    BothBelow,
    /// `+FORMAT`; anything else sets something (`date`).
    Plus,
    /// All below it is written.
    WriteBelow,
    /// Unknown names below it are written.
    WriteInto,
    /// A path that is named or listed, its content untouched.
    Name,
    /// All below it is named.
    NameBelow,
    /// The folder that relative operands start from.
    Dir,
    /// A host.
    Host,
    /// A URL, or a bare host.
    Url,
    /// `host:path`, else a path, with all below it: read.
    RemoteRead,
    /// `host:path`, else a path: written.
    RemoteWrite,
    /// `container:path`, else a path: read.
    BoxedRead,
    /// `container:path`, else a path: written.
    BoxedWrite,
    /// `SOURCE:TARGET` of a mount.
    Volume,
    /// A revision, `REV:path`, or a path.
    Revision,
    /// A revision, or a path below which the files are read that git tracks.
    Tracked,
    /// A revision, or paths of the work tree that are overwritten with all below them.
    Tree,
    /// A revision that a new branch starts from.
    Start,
    /// A shell script.
    Script,
    /// A command line that it runs on the side.
    Program,
    /// The words up to `;` are a command (`find -exec`).
    Command,
    /// Code of another language.
    Code,
    /// A file of code that it runs.
    CodeFile,
    /// A `sed` script.
    Sed,
    /// An `awk` program.
    Awk,
    /// `text` or `@file` (`curl -d`): sent.
    Data,
    /// `name=@file`, `name=<file` (`curl -F`): sent.
    Form,
    /// Text, `@file` (sent), or a format that may name a file (`curl -H`, `curl -w`).
    Header,
    /// A file whose content is sent.
    Sends,
    /// `name=value`, `name=@file`, `name@file`, or a URL (`http`): sent.
    Item,
    /// A path, or `@FILE`: the words of that file take its place.
    Response,
    /// The same, with all below the path.
    ResponseBelow,
    /// The same, where all else is text.
    ResponseText,
    /// A glob of files that are read, dot files and what is ignored too (`rg -g`).
    Wanted,
    /// The same behind a name (`rg --type-add 'web:*.ts'`).
    Typed,
    /// `NAME=value`: an assignment.
    Assign,
    /// A variable that a builtin sets or evaluates: an index may hold a command substitution (`a[$(rm x)]`).
    Variable,
    /// `key=value`: harmless keys are listed in the entry.
    Key,
    /// A module to run (`python -m`).
    Module,
    /// What a runner of tests imports by name, and calls where it is none (`python -m unittest`).
    Tests,
    /// A command line in one word, options of the same program added (`env -S`).
    Split,
    /// A word that chooses what a runner does: options before it are no words of a pattern (`make -s deploy`).
    Verb,
    /// One more word that chooses what a runner does (`gradle build publish`); `harmless` lists those that need no judgement.
    Goal,
    /// Code of a console, which hands lines to a shell (`!rm x`, `.shell rm x`).
    Console,
    /// What a runner builds or runs: a path, or code from elsewhere (`pkg@version`, `https://…`, `npm:…`).
    Target,
    /// A package, whose folder is listed; a version of it is fetched.
    Package,
    /// A remote by name, or written out: a host or a path (`git fetch https://…`).
    Repository,
    /// A container image: a host, where its first part looks like one (`registry.example:5000/a`).
    Image,
    /// A name that is looked up, or `@server` (`dig`).
    Lookup,
    /// A filter of `jq` or `yq`: it may read files.
    Query,
    /// Flags for a compiler or linker in one word (`go build -ldflags`).
    BuildFlags,
    /// The program that gets the words after the leading operands (`docker run --entrypoint`).
    Leader,
    /// `KEY: command` (`bind -x`).
    Binding,
    /// `[+]SOURCE:TARGET` of a push: deny and ask know it by its target.
    Refspec,
    /// What is fetched: a name, a URL, `name@URL`, a path (`pip install`).
    Source,
    /// A database: a name, a URL, or `host=…` (`psql -d`).
    Database,
    /// A command line of the same program in one word (`tmux if-shell x 'run-shell y'`).
    Own,
    /// Text, `#(COMMAND)` in which is run (`tmux display`).
    Format,
    /// A file that is read and written, or `!COMMAND` (`ed`).
    Edited,
    /// What is typed into another shell.
    Keys,
    /// A page by its name, or a file of its own where it has a slash: pages include other files (`man ./page`).
    Page,
}

/// An option.
#[derive(Debug)]
pub struct Spec {
    /// Every spelling.
    pub names: List<Text>,
    /// Whether it takes a value.
    pub takes: Takes,
    /// What the value is.
    pub slot: Slot,
    /// What it changes about the other words.
    pub sets: List<Set>,
    /// Values that need no judgement.
    pub harmless: List<Text>,
    /// What it does beyond what an allow covers.
    pub escalates: Option<Text>,
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// One, attached or in the next word.
    Value,
    /// One, attached only.
    Attached,
    /// One, always the next word, even in the middle of a cluster (`bash -oc`).
    Next,
    /// Two words: a name, then the value (`jq --slurpfile`).
    Two,
}

/// What an option changes about the other words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// The operands are all this, the leading ones aside.
    Rest(Slot),
    /// No leading operands.
    NoFirst,
    /// No trailing operands.
    NoLast,
    /// The value of that other option is this.
    Value(Text, Slot),
    /// Paths are read or written with all below them.
    Below,
    /// What one of two folders lacks is compared with nothing (`diff -N`).
    Lacking,
    /// Dot files are reached too.
    Hidden,
    /// What `.gitignore` names is reached too.
    Ignored,
    /// What links lead to is reached too.
    Follows,
    /// It touches names that end in another way, too.
    Renamed,
    /// Without a path operand it works on `.`.
    Implied,
    /// The folder it works in is this, too.
    Here(Slot),
    /// Unknown names are written below the folder it works in.
    Into,
    /// The program does this instead.
    Does(Does),
    /// That file is read, too.
    Reads(Text),
    /// What is set stands in that file; in the option's value, where it names none.
    Settings(Text),
    /// The words behind `--` are handed to that program.
    Gives(Text),
    /// What it makes are symbolic links to its sources (`cp -s`).
    Symlinks,
    /// What it makes are its sources, under one more name (`cp -l`).
    Hardlinks,
    /// A link is copied as a link (`cp -P`).
    Keeps,
    /// It keeps what it replaces under another name (`cp -b`).
    Backups,
    /// Its values, split at commas, are words of that program (`gcc -Wl,-Map,x`).
    Hands(Text),
    /// It goes on with what is typed into it (`python -i`, `git add -p`).
    Opens,
    /// It does so unless it has what it would ask for (`git tag -a`).
    Waits,
    /// It has that (`git commit -m`).
    Given,
    /// It reads what was changed since git last looked (`git commit -a`).
    Unsaved,
    /// Nothing is started (`command -v`), nothing unpacked (`unzip -l`), of what was changed only names are told.
    Stop,
    /// What follows are operands.
    End,
    /// The first operand is a shell script (`bash -c`).
    Script,
    /// Standard input is the script, whatever the operands (`bash -s`).
    Stdin,
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// A program by the last part of its path: `python3.12` is `python`, `gawk` is `awk`.
pub fn find(name: &str) -> Option<&'static Program> {
    let exact = |name: &str| {
        NAMES
            .binary_search_by(|(known, _)| known.as_bytes().cmp(name.as_bytes()))
            .ok()
            .and_then(|at| NAMES.get(at))
            .and_then(|(_, program)| PROGRAMS.get(usize::from(*program)))
    };
    // `arm-none-eabi-gcc`.
    let cross = |name: &str| {
        let (_, tool) = name.rsplit_once('-')?;
        // `save-as` may be anything.
        let machine =
            name.len() > tool.len() + 1 && (tool.len() > 2 || name.matches('-').count() > 1);
        exact(tool).filter(|program| machine && program.entry.cross)
    };
    if let Some(found) = exact(name).or_else(|| cross(name)) {
        return Some(found);
    }
    // `gcc-12`, `python3.12`, `clang-format-15`, `node20`; also `tool.exe`.
    let bare = name.strip_suffix(".exe").unwrap_or(name);
    let bare = bare.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let bare = bare.strip_suffix('-').unwrap_or(bare);
    let version = name.get(bare.len()..).unwrap_or("");
    let known = || exact(bare).or_else(|| cross(bare));
    let found = (!version.is_empty()).then(known).flatten()?;
    // `python3`, `node20`, but not `rm2`: that is some other program.
    let interpreter = matches!(found.entry.starts, Start::Code | Start::Shell);
    (interpreter || version.contains(['.', '-'])).then_some(found)
}

/// The names that a rule may know a program by: its own, then without its version (`python3.12`, `python3`, `python`).
pub fn names(name: &str) -> impl Iterator<Item = &str> {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    std::iter::successors(Some(name), |name| {
        let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let shorter = digits.strip_suffix(['.', '-']).unwrap_or(digits);
        (shorter.len() < name.len() && digits.len() < name.len() && !shorter.is_empty())
            .then_some(shorter)
    })
}

/// All programs of the table.
pub fn all() -> &'static [Program] {
    &PROGRAMS
}

/// Whether setting this variable changes what programs run, read or contact: it cancels an allow that does not write it.
pub fn dangerous_variable(name: &str) -> bool {
    listed(&DANGEROUS_VARIABLES, name) && !listed(&HARMLESS_VARIABLES, name)
}

/// The same of a variable and what it is set to, where that is known: `NODE_OPTIONS=--max-old-space-size=4096` does no harm.
pub fn dangerous_setting(name: &str, value: Option<&str>) -> bool {
    let harmless = |word: &str| listed(&HARMLESS_VALUES, &format!("{name}={word}"));
    let value = value.filter(|value| !value.trim().is_empty());
    match dangerous_variable(name) {
        true => !value.is_some_and(|value| value.split_whitespace().all(harmless)),
        false => value.is_some_and(speaks_shell) && !listed(&HARMLESS_VARIABLES, name),
    }
}

/// Whether a value holds what a shell reads as more than words: some programs paste variables into command lines.
fn speaks_shell(value: &str) -> bool {
    let joins = |c: char| matches!(c, ';' | '|' | '`' | '\n');
    // `&` joins the parameters of a URL too.
    value.contains(joins) || value.contains("$(") || value.contains('&') && !value.contains("://")
}

/// Whether the name of this variable says that programs write to the file in it.
pub fn file_variable(name: &str) -> bool {
    listed(&FILE_VARIABLES, name)
}

/// Whether the text in this variable is run: by the shell, which expands it, or by programs.
pub fn runs_its_value(name: &str) -> bool {
    PROMPT_VARIABLES.iter().any(|known| fits(known, name)) || command_variable(name)
}

/// Whether the value of this variable is a command that programs run.
pub fn command_variable(name: &str) -> bool {
    listed(&COMMAND_VARIABLES, name)
}

/// Whether one of the patterns fits the name; they stand by their first letter, and by the last behind a `*`, which
/// most of them give away.
fn listed(patterns: &[Text], name: &str) -> bool {
    let letters = |text: &[u8]| match text {
        [b'*', .., last] => (Some(b'*'), Some(*last)),
        _ => (text.first().copied(), None),
    };
    let near = |wanted: (Option<u8>, Option<u8>)| {
        let from = patterns.partition_point(|text| letters(text.as_bytes()) < wanted);
        let own = patterns.get(from..).unwrap_or_default();
        own.iter()
            .take_while(move |text| letters(text.as_bytes()) == wanted)
            .any(|pattern| fits(pattern, name))
    };
    let (first, last) = (name.bytes().next(), name.bytes().last());
    near((first, None)) || near((Some(b'*'), last)) || near((Some(b'*'), Some(b'*')))
}

/// Whether `name` fits `pattern`, where a `*` at either end, or one in the middle, stands for anything.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    // Most are told apart by their last letter.
    let (last, end) = (pattern.as_bytes().last(), name.as_bytes().last());
    if last != Some(&b'*') && last != end {
        return false;
    }
    let Some(star) = pattern.bytes().position(|byte| byte == b'*') else {
        return pattern == name;
    };
    let (start, end) = pattern.split_at(star);
    let end = end.get(1..).unwrap_or_default();
    match end.strip_suffix('*') {
        Some(middle) if start.is_empty() => name.contains(middle),
        _ => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_versions() {
        let all = |name| names(name).collect::<Vec<_>>();
        assert_eq!(all("python3.12"), ["python3.12", "python3", "python"]);
        assert_eq!(all("gcc-12"), ["gcc-12", "gcc"]);
        assert_eq!(all("rm"), ["rm"]);
        let known = |name| find(name).map(|program| program.name.as_str());
        assert_eq!(known("perl5.36.0"), Some("perl"));
        assert_eq!(known("clang-15"), Some("gcc"));
        assert_eq!(known("gawk"), Some("awk"));
        assert_eq!(known("x86_64-linux-gnu-g++-12"), Some("gcc"));
        assert_eq!(known("my-rm"), None);
        assert_eq!(known("7z"), Some("7z"));
        assert_eq!(known("rm2"), None);
        assert_eq!(known("12"), None);
        assert_eq!(known(""), None);
    }

    #[test]
    fn dangerous_variables_and_exceptions() {
        for name in "PATH LD_PRELOAD BASH_ENV GIT_SSH_COMMAND GIT_DIR GIT_PAGER PAGER MANPAGER EDITOR http_proxy https_proxy GH_HOST PYTHONPATH NODE_OPTIONS RIPGREP_CONFIG_PATH TAR_OPTIONS KUBECONFIG NPM_CONFIG_REGISTRY AWS_ENDPOINT_URL RUSTC_WRAPPER XDG_CONFIG_HOME IFS BASH_FUNC_f%%"
            .split(' ')
        {
            assert!(dangerous_variable(name), "{name}");
        }
        for name in "FOO X CI TZ LANG LC_ALL PYTHONUNBUFFERED DOCKER_BUILDKIT AWS_PROFILE DB_HOST RUST_BACKTRACE RUST_LOG GIT_AUTHOR_NAME NODE_ENV DEBUG CARGO_TERM_COLOR NO_COLOR GOOS TERM".split(' ') {
            assert!(!dangerous_variable(name), "{name}");
        }
    }
}
