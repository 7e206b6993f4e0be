//! A call → its accesses: each path, command and host that its arguments name, or the tool itself.
//!
//! In: a call, its tool's declaration, a view of the files. Out: the accesses, or every fault of the arguments.

use super::access::{Access, Cover, HostAccess, Kind, Mode, PathAccess, Reach, Touches, Via};
use super::files::{FileView, MOST_LISTED, Unsaved};
use super::tools::{Argument, Holds, ToolDecl};
use super::word::{Piece, Word};
use super::{Call, path, shell, under};
use crate::source::Span;
use serde_json::{Map, Value};
use smol_str::SmolStr;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a call does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taken {
    /// The accesses; never empty.
    pub accesses: Vec<Access>,
    /// The command line that the spans of the accesses point into, if the tool is a shell.
    pub line: Option<String>,
}

/// Takes a call apart.
///
/// # Errors
/// Every declared argument that is missing or of the wrong type, one sentence each.
pub fn taken(
    call: &Call,
    args: &Map<String, Value>,
    tool: Option<&ToolDecl>,
    view: &FileView,
) -> Result<Taken, Vec<String>> {
    let mut taken = Taken::default();
    let mut faults = Vec::new();
    let mut named = 0;
    let arguments = tool
        .map(|tool| tool.arguments.as_slice())
        .unwrap_or_default();
    let recursive = tool.is_some_and(|tool| tool.recursive);
    let globs = match recursive && call.gitignore {
        true => wanted(args.get("glob")),
        false => None,
    };
    for argument in arguments {
        match values(argument, args) {
            Ok(values) => {
                named += values.len();
                if let Some(globs) = globs.as_ref().filter(|_| argument.holds == Holds::Read) {
                    for value in &values {
                        if let Given::Text(text) = value {
                            search(call, text, globs, view, &mut taken);
                        }
                    }
                    continue;
                }
                for value in values {
                    if let Err(fault) =
                        argument_accesses(call, argument, value, recursive, view, &mut taken)
                    {
                        faults.push(fault);
                    }
                }
            }
            Err(fault) => faults.push(fault),
        }
    }
    // A tool whose arguments may all be left out must still name something.
    if faults.is_empty()
        && named == 0
        && arguments
            .iter()
            .any(|argument| argument.optional && argument.default.is_none())
    {
        let names: Vec<String> = arguments
            .iter()
            .map(|argument| format!("`{}`", argument.path))
            .collect();
        faults.push(format!("one of {} must be given", names.join(", ")));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    if taken.accesses.is_empty() {
        taken.accesses.push(Access {
            kind: Kind::Tool,
            span: None,
            via: Via::default(),
        });
    }
    Ok(taken)
}

/// An argument's value: text, or for `argv` a list of words.
enum Given<'v> {
    Text(&'v str),
    Words(Vec<&'v str>),
}

fn values<'v>(
    argument: &'v Argument,
    args: &'v Map<String, Value>,
) -> Result<Vec<Given<'v>>, String> {
    let path: Vec<&str> = argument.path.split('.').collect();
    let (kind, wanted) = match argument.holds {
        Holds::Read | Holds::Write => ("a file path", "a string"),
        Holds::Shell => ("a command", "a non-empty string"),
        Holds::Argv => ("a command", "a non-empty list of strings"),
        Holds::Url => ("a URL", "a non-empty string"),
        Holds::Patch => ("a patch", "a non-empty string"),
    };
    let name = &argument.path;
    let mut out = Vec::new();
    for value in under(args, &path) {
        match (value, argument.holds) {
            (None, _) => match (&argument.default, argument.optional) {
                (Some(default), _) => out.push(Given::Text(default)),
                (None, true) => {}
                (None, false) => {
                    return Err(format!("`{name}` is missing: {kind} must be {wanted}"));
                }
            },
            (Some(Value::String(text)), Holds::Read | Holds::Write) if text.contains('\0') => {
                return Err(format!("`{name}` holds a NUL character, which no path can"));
            }
            (Some(Value::String(text)), Holds::Read | Holds::Write) => out.push(Given::Text(text)),
            (Some(Value::String(text)), Holds::Shell | Holds::Url | Holds::Patch)
                if !text.trim().is_empty() =>
            {
                out.push(Given::Text(text));
            }
            (Some(Value::Array(words)), Holds::Argv) if !words.is_empty() => {
                let texts: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
                match texts {
                    Some(texts) => out.push(Given::Words(texts)),
                    None => return Err(format!("`{name}`: {kind} must be {wanted}")),
                }
            }
            _ => return Err(format!("`{name}`: {kind} must be {wanted}")),
        }
    }
    Ok(out)
}

fn argument_accesses(
    call: &Call,
    argument: &Argument,
    value: Given<'_>,
    recursive: bool,
    view: &FileView,
    taken: &mut Taken,
) -> Result<(), String> {
    match (argument.holds, value) {
        (Holds::Read, Given::Text(text)) => paths(call, text, Mode::Read, recursive, view, taken),
        (Holds::Write, Given::Text(text)) => paths(call, text, Mode::Write, recursive, view, taken),
        (Holds::Url, Given::Text(text)) if file_url(text).is_some() => {
            paths(
                call,
                &file_url(text).unwrap_or_default(),
                Mode::Read,
                false,
                view,
                taken,
            );
        }
        (Holds::Url, Given::Text(text)) => taken.accesses.push(Access {
            kind: Kind::Host(Box::new(HostAccess {
                url: Word::known(text, Span::default()),
                cover: Cover::Tool,
                written: true,
            })),
            span: None,
            via: Via::default(),
        }),
        (Holds::Patch, Given::Text(text)) => {
            let files = patched(text)
                .ok_or_else(|| format!("`{}` holds no apply_patch envelope", argument.path))?;
            for file in files {
                paths(call, file, Mode::Write, false, view, taken);
            }
        }
        (Holds::Shell, Given::Text(text)) => shell_line(call, text.to_owned(), view, taken),
        (Holds::Argv, Given::Words(words)) => shell_line(call, shell::quoted(&words), view, taken),
        // `values` gives lists of words for `argv` and text for all else.
        (_, Given::Words(_)) | (Holds::Argv, Given::Text(_)) => {}
    }
    Ok(())
}

fn shell_line(call: &Call, line: String, view: &FileView, taken: &mut Taken) {
    let globs = Globs::default();
    // A line may ask many times.
    let unsaved: RefCell<BTreeMap<String, Option<Rc<Unsaved>>>> = RefCell::default();
    let scene = shell::Scene {
        cwd: call.cwd.clone(),
        home: call.home.clone(),
        vars: Vec::new(),
        top: call.cwd.as_deref().and_then(|cwd| repository(cwd, view)),
        glob: &|word, folder| globs.names(word, folder, view),
        folder: &|path| match view.is_folder(path) {
            None if view.sees() => Some(false),
            seen => seen,
        },
        unsaved: &|folder| {
            let mut known = unsaved.borrow_mut();
            let look = || match repository(folder, view) {
                Some(top) => view.unsaved(&top).map(Rc::new),
                None => Some(Rc::default()),
            };
            known.entry(folder.to_owned()).or_insert_with(look).clone()
        },
        links: &|path| view.resolve(path).filter(|_| view.sees()),
        leads: &|path| view.sees() && view.resolve(path).is_none_or(|real| real != path),
    };
    taken.accesses.extend(shell::accesses(&line, &scene));
    taken.line = Some(line);
}

/// The globs of one line: each is looked up once, and what they stand for is bounded.
struct Globs {
    known: RefCell<BTreeMap<String, Option<Vec<String>>>>,
    left: Cell<usize>,
}

impl Default for Globs {
    fn default() -> Self {
        Self {
            known: RefCell::default(),
            left: Cell::new(MOST_LISTED),
        }
    }
}

impl Globs {
    fn names(&self, word: &Word, folder: Option<&str>, view: &FileView) -> Option<Vec<String>> {
        let mut known = self.known.borrow_mut();
        let key = format!("{folder:?} {:?}", word.pieces);
        let names = known
            .entry(key)
            .or_insert_with(|| view.expand(word, folder, &self.left));
        let count = names.as_ref()?.len();
        // What is not there is cheap to say again.
        let left = self.left.get().checked_sub(count)?;
        self.left.set(left);
        names.clone()
    }
}

/// The top of the git repository that holds a folder, links aside: where one is on the way, git prints another path.
fn repository(folder: &str, view: &FileView) -> Option<String> {
    if !view.sees() || view.resolve(folder).as_deref() != Some(folder) {
        return None;
    }
    let above = std::path::Path::new(folder).ancestors();
    above
        .filter_map(std::path::Path::to_str)
        .find(|at| view.entry(&path::join(at, ".git")).is_some())
        .map(str::to_owned)
}

/// The path of a `file:` URL, whatever host it gives.
fn file_url(text: &str) -> Option<String> {
    let url = url::Url::parse(text.trim())
        .ok()
        .filter(|url| url.scheme() == "file")?;
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(url.path()).collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A path argument. A literal `~` or `$` may be expanded by the tool or not: both readings are judged, unless the
/// files show that nothing of the literal name is there.
fn paths(call: &Call, text: &str, mode: Mode, recursive: bool, view: &FileView, taken: &mut Taken) {
    let mut push = |word: Word, touches: Touches| {
        taken.accesses.push(Access {
            kind: Kind::Path(Box::new(PathAccess {
                mode,
                path: word,
                cwd: call.cwd.as_deref().map(SmolStr::new),
                reach: if recursive {
                    Reach::Below { hidden: true }
                } else {
                    Reach::Itself
                },
                cover: Cover::Tool,
                touches,
                like: None,
            })),
            span: None,
            via: Via::default(),
        });
    };
    let literal = Word::known(text, Span::default());
    if let Some(same) = same_elsewhere(text) {
        push(Word::known(same, Span::default()), Touches::Perhaps);
    }
    let Some(expanded) = expanded(call, text) else {
        return push(literal, Touches::Surely);
    };
    let there = call
        .cwd
        .as_deref()
        .map(|cwd| path::join(cwd, text))
        .and_then(|path| view.entry(&path));
    if !view.sees() || there.is_some() {
        push(literal, Touches::Surely);
    }
    push(expanded, Touches::Surely);
}

/// The globs that a search asks for, ignored or not; none where it asks for none.
fn wanted(glob: Option<&Value>) -> Option<Vec<String>> {
    let any = || Some(vec!["?*".to_owned()]);
    let glob = match glob? {
        Value::Null => return None,
        Value::String(glob) => glob.trim(),
        _ => return any(),
    };
    let braces = glob.contains('{');
    match () {
        () if glob.is_empty() => None,
        // Several in one text.
        () if glob.contains(char::is_whitespace) || glob.contains(',') && !braces => any(),
        () if glob.starts_with('!') => None,
        () => Some(vec![glob.to_owned()]),
    }
}

/// A search below a path for names that fit a glob, or in the file that it is.
fn search(call: &Call, text: &str, globs: &[String], view: &FileView, taken: &mut Taken) {
    let before = taken.accesses.len();
    paths(call, text, Mode::Read, false, view, taken);
    let found: Vec<Access> = taken.accesses.get(before..).unwrap_or_default().to_vec();
    for access in found {
        let Kind::Path(own) = access.kind else {
            continue;
        };
        for glob in globs {
            let (folder, name) = glob.rsplit_once('/').unwrap_or(("", glob));
            // Which folders fit is not looked at: the names count below all.
            let name = match folder.is_empty() || folder == "**" {
                true => name,
                false => glob,
            };
            for word in shell::asked_for(&own.path, name) {
                let path = PathAccess {
                    path: word,
                    ..(*own).clone()
                };
                taken.accesses.push(Access {
                    kind: Kind::Path(Box::new(path)),
                    span: None,
                    via: Via::default(),
                });
            }
        }
    }
}

/// The path that a tool which trims its argument, or another file system, takes this one for, where it is another:
/// ` .env`, `.git\config`, `.git./config`, `.env::$DATA`, `git~1/config`, and letters that HFS+ ignores.
fn same_elsewhere(text: &str) -> Option<String> {
    let ignored = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen: String = text
        .chars()
        .filter(|c| !ignored(*c))
        .map(|c| if c == '\\' { '/' } else { c })
        .collect();
    let name = |part: &str| -> String {
        let part = match part.find(':') {
            Some(at) if at > 1 => part.get(..at).unwrap_or(part),
            _ => part,
        };
        match part.trim_end_matches(['.', ' ']) {
            "" => part.to_owned(),
            short if short.eq_ignore_ascii_case("git~1") => ".git".to_owned(),
            short => short.to_owned(),
        }
    };
    let parts: Vec<String> = seen.trim().split('/').map(name).collect();
    let same = parts.join("/");
    (same != text && !same.is_empty()).then_some(same)
}

/// The path with `~` and variables expanded, where it has any.
fn expanded(call: &Call, text: &str) -> Option<Word> {
    let home = || match &call.home {
        Some(home) => Piece::Text(home.into()),
        None => Piece::Unknown("the home folder".into()),
    };
    let mut pieces = Vec::new();
    let mut rest = text;
    if let Some(after) = text.strip_prefix('~') {
        let (user, below) = after.split_at(after.find('/').unwrap_or(after.len()));
        pieces.push(if user.is_empty() {
            home()
        } else {
            Piece::Unknown(format!("~{user}").into())
        });
        rest = below;
    }
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        let name_at = from.get(1..).unwrap_or_default();
        let (name, length) = match name_at
            .strip_prefix('{')
            .and_then(|inside| inside.split_once('}'))
        {
            Some((name, _)) => (name, name.len() + 3),
            None => {
                let end = name_at
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(name_at.len());
                (name_at.get(..end).unwrap_or_default(), end + 1)
            }
        };
        if !before.is_empty() {
            pieces.push(Piece::Text(before.into()));
        }
        pieces.push(match name {
            "HOME" => home(),
            "PWD" if call.cwd.is_some() => {
                Piece::Text(call.cwd.as_deref().unwrap_or_default().into())
            }
            "" => Piece::Text("$".into()),
            _ => Piece::Unknown(from.get(..length).unwrap_or(from).into()),
        });
        rest = from.get(length..).unwrap_or_default();
    }
    if pieces.is_empty() {
        return None;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.into()));
    }
    Some(Word::of(pieces, Span::default()))
}

/// The files that an apply_patch envelope adds, updates, deletes or moves to; none where it names no file.
pub fn patched(text: &str) -> Option<Vec<&str>> {
    let mut files = Vec::new();
    let mut begun = false;
    for line in text.lines().map(str::trim) {
        let Some(header) = line.strip_prefix("***") else {
            continue;
        };
        match header.trim() {
            "Begin Patch" => begun = true,
            "End Patch" | "End of File" => {}
            header => {
                let heads = ["Add File:", "Update File:", "Delete File:", "Move to:"];
                // A header that is not known may be one to the tool: nothing of the patch is then sure.
                let name = heads
                    .iter()
                    .find_map(|head| header.strip_prefix(head))?
                    .trim();
                if name.is_empty() {
                    return None;
                }
                files.push(name);
            }
        }
    }
    if !begun {
        return None;
    }
    (!files.is_empty()).then_some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches() {
        let text = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n*** Delete File: c\n*** End Patch";
        assert_eq!(patched(text), Some(vec!["a.rs", "b.rs", "c"]));
        assert_eq!(patched("*** Begin Patch\n*** End Patch"), None);
        assert_eq!(patched("hello"), None);
    }

    #[test]
    fn readings() {
        let call = Call {
            home: Some("/home/u".into()),
            cwd: Some("/w".into()),
            ..Call::default()
        };
        for (text, want) in [
            ("a.md", None),
            ("~/a.md", Some("/home/u/a.md")),
            ("$HOME/a", Some("/home/u/a")),
            ("${HOME}/a", Some("/home/u/a")),
            ("$PWD/a", Some("/w/a")),
            ("x/$FOO/y", Some("x/$FOO/y")),
        ] {
            assert_eq!(
                expanded(&call, text).map(|word| word.shown()).as_deref(),
                want,
                "{text}"
            );
        }
    }
}
