//! What is known of the shell while a script is walked: variables, folder, functions, aliases, options.
//!
//! A name that was never assigned belongs to the host and is unknown. Where two ways through the script
//! meet, [`Env::merge`] keeps what both agree on.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::dialect::Dialect;
use super::numbers;
use super::script::Input;
use super::syntax::{Command, Tree};
use crate::call::programs;
use crate::call::word::Word;
use smol_str::SmolStr;

/// Folders that the shell may be in at one point; beyond that its folder is unknown.
const FOLDERS: usize = 4;
/// Longest value and longest folder worth following, in bytes.
const LONGEST: usize = 8 * 1024;
const LONGEST_FOLDER: usize = 1024;

#[derive(Clone, Debug)]
pub(super) struct Env {
    vars: Rc<BTreeMap<Rc<str>, Var>>,
    /// `$1`, `$2` …; none where they cannot be known.
    pub positional: Option<Rc<Vec<Word>>>,
    /// `$0`.
    pub zero: Option<Word>,
    /// The folders that the shell may be in, the likeliest first; empty where that is unknown.
    pub folders: Rc<Vec<SmolStr>>,
    /// The folder the shell starts in, and the top of the git repository that holds it.
    pub top: Option<Rc<(String, String)>>,
    /// The folders it is in if the last command failed, where that differs: a `cd`.
    pub failed: Option<Rc<Vec<SmolStr>>>,
    pub functions: Rc<BTreeMap<String, Function>>,
    /// Values of aliases; none where the value cannot be computed.
    pub aliases: Rc<BTreeMap<String, Option<String>>>,
    /// Variables assigned so far that change what programs mean: `PATH`, `LD_PRELOAD` ….
    pub changed: Rc<Vec<String>>,
    /// Values just given to variables whose text the shell expands or runs by itself: `PS4`. Judged, and
    /// taken out, when the command that set them is over.
    pub prompts: Vec<(String, Value)>,
    /// What `exec <file` made the standard input of the commands after it.
    pub stdin: Option<Rc<Input>>,
    /// Names that a trap may set at any time.
    trapped: Rc<BTreeSet<String>>,
    /// A trap may change the folder and the arguments at any time.
    adrift: bool,
    /// No variable is known any more.
    pub lost: bool,
    /// Globs do not mean what they usually do (`shopt -s dotglob`).
    pub wild: bool,
    /// `cd` goes where links lead before it goes up: `set -P`.
    pub physical: bool,
    /// The shell that reads the script.
    pub dialect: Dialect,
    /// Levels of substitutions whose output is being computed.
    pub within: usize,
    /// `set -e`.
    pub errexit: bool,
    /// Something was started in the background, so that `$!` is a number.
    pub background: bool,
    /// This way through the script has ended: `exit`, `return`, `break`.
    pub dead: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Function {
    pub tree: Rc<Tree>,
    pub body: Rc<Command>,
    /// It surely stands here; else the name may still be that of a program.
    pub sure: bool,
    /// Another one may stand here in its place.
    pub several: bool,
    /// A bash that is started has it too.
    pub exported: bool,
}

impl Function {
    fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.body, &other.body)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Var {
    pub value: Value,
    pub exported: bool,
    /// An attribute (`declare -i`, `-l`, `readonly`) makes assignments do something else.
    pub odd: bool,
    /// An array with keys (`declare -A`): its subscripts are texts.
    pub keyed: bool,
}

impl Var {
    /// Whether it says no more of the name than that nobody has assigned it. Of the shell's own, which have capital
    /// letters, that would say something.
    fn is_as_if_unseen(&self, name: &str) -> bool {
        let own = !name.bytes().any(|byte| byte.is_ascii_lowercase());
        !own && self.value == Value::Unknown && !self.exported && !self.odd && !self.keyed
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Known(Word),
    Unset,
    Unknown,
}

impl Env {
    pub fn new(folder: Option<String>, home: Option<String>, host: &[(String, String)]) -> Self {
        let mut vars = BTreeMap::new();
        let known = host
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .chain(home.map(|home| ("HOME".to_owned(), home)));
        for (name, value) in known {
            let value = Value::Known(Word::known(value, crate::source::Span::default()));
            vars.insert(
                name.into(),
                Var {
                    value,
                    exported: true,
                    odd: false,
                    keyed: false,
                },
            );
        }
        Self {
            vars: Rc::new(vars),
            positional: None,
            zero: None,
            folders: Rc::new(folder.into_iter().map(SmolStr::from).collect()),
            top: None,
            failed: None,
            functions: Rc::default(),
            aliases: Rc::default(),
            changed: Rc::default(),
            prompts: Vec::new(),
            stdin: None,
            trapped: Rc::default(),
            adrift: false,
            lost: false,
            wild: false,
            physical: false,
            dialect: Dialect::Bash,
            within: 0,
            errexit: false,
            background: false,
            dead: false,
        }
    }

    /// The arguments, where they are known.
    pub fn arguments(&self) -> Option<&Rc<Vec<Word>>> {
        self.positional.as_ref().filter(|_| !self.adrift)
    }

    /// From here on these names, and the folder and the arguments if it is `adrift`, may change at any time.
    pub fn unsettle(&mut self, names: Vec<String>, adrift: bool) {
        if !names.is_empty() {
            Rc::make_mut(&mut self.trapped).extend(names);
        }
        if adrift {
            self.adrift = true;
            self.folders = Rc::default();
            self.failed = None;
        }
    }

    /// The same shell without any variable, to see what a text sets.
    pub fn blank(&self) -> Self {
        let word = Word::unknown("$1", crate::source::Span::default(), true);
        Self {
            vars: Rc::default(),
            positional: Some(Rc::new(vec![word])),
            // No `cd` leads here.
            folders: Rc::new(vec!["/.".into()]),
            failed: None,
            prompts: Vec::new(),
            trapped: Rc::default(),
            adrift: false,
            lost: false,
            dead: false,
            ..self.clone()
        }
    }

    /// All names that are set or unset.
    pub fn names(&self) -> Vec<String> {
        self.vars
            .keys()
            .map(|name| &**name)
            .chain(self.trapped.iter().map(String::as_str))
            .map(str::to_owned)
            .collect()
    }

    /// Whether the folder or the arguments changed since.
    pub fn moved_from(&self, before: &Self) -> bool {
        let kept = match (&self.positional, &before.positional) {
            (Some(ours), Some(theirs)) => Rc::ptr_eq(ours, theirs),
            _ => false,
        };
        !kept || self.adrift || self.failed.is_some() || self.folders != before.folders
    }

    /// The one folder the shell is in, where it is known.
    pub fn folder(&self) -> Option<&str> {
        match self.folders.as_slice() {
            [folder] => Some(folder),
            _ => None,
        }
    }

    pub fn value(&self, name: &str) -> Value {
        if self.lost || self.trapped.contains(name) {
            return Value::Unknown;
        }
        match self.vars.get(name) {
            Some(var) => var.value.clone(),
            None => match (name, self.folder()) {
                ("PWD", Some(folder)) => {
                    Value::Known(Word::known(folder, crate::source::Span::default()))
                }
                _ => Value::Unknown,
            },
        }
    }

    /// Whether the script itself has assigned or unset the name.
    pub fn touched(&self, name: &str) -> bool {
        self.lost || self.vars.contains_key(name) || self.trapped.contains(name)
    }

    /// Whether an attribute makes assignments to it do something else.
    pub fn is_odd(&self, name: &str) -> bool {
        self.vars.get(name).is_some_and(|var| var.odd)
    }

    pub fn var(&self, name: &str) -> Option<Var> {
        self.vars.get(name).cloned()
    }

    /// An assignment, however it comes about; attributes stay. What it changes of the meaning of later
    /// commands is noted here, so that no way of setting a name is forgotten.
    pub fn set(&mut self, name: &str, value: Value) {
        self.note(name, &value);
        self.hand_down(name, value);
    }

    fn note(&mut self, name: &str, value: &Value) {
        let known = match value {
            Value::Known(word) => word.text(),
            _ => None,
        };
        // What is not handed on reaches no program.
        if programs::dangerous_variable(name) && programs::dangerous_setting(name, known) {
            self.change(name);
            if programs::runs_its_value(name) && *value != Value::Unset && self.prompts.len() < 16 {
                self.prompts.push((name.to_owned(), value.clone()));
            }
        }
    }

    /// Some variable is set, and which one cannot be known.
    pub fn set_some(&mut self) {
        self.lost = true;
        self.change("a variable");
    }

    /// A variable that a program is started with: the command that starts it is judged for it.
    pub fn hand_down(&mut self, name: &str, value: Value) {
        let old = self.vars.get(name);
        let odd = old.is_some_and(|var| var.odd);
        let keyed = old.is_some_and(|var| var.keyed);
        let exported = old.is_some_and(|var| var.exported);
        let long = match &value {
            Value::Known(word) => {
                word.text().is_some_and(|text| text.len() > LONGEST) || word.pieces.len() > 64
            }
            _ => false,
        };
        // What is declared to be a number stays one, until it is unset.
        let counts =
            |old: &Var| matches!(&old.value, Value::Known(word) if *word == numbers::number());
        let value = match value {
            _ if odd && value != Value::Unset && old.is_some_and(counts) => {
                Value::Known(numbers::number())
            }
            _ if odd || long => Value::Unknown,
            // Where a value was written does not tell it from another.
            Value::Known(word) => Value::Known(Word {
                span: crate::source::Span::default(),
                ..word
            }),
            value => value,
        };
        self.put(
            name,
            Some(Var {
                value,
                exported,
                odd,
                keyed,
            }),
        );
    }

    /// No variable is known any more, and none is followed: this keeps what is too long cheap.
    pub fn lose(&mut self) {
        self.lost = true;
        if !self.vars.is_empty() {
            self.vars = Rc::default();
        }
    }

    pub fn forget(&mut self, name: &str) {
        self.set(name, Value::Unknown);
    }

    pub fn export(&mut self, name: &str) {
        if let Some(var) = Rc::make_mut(&mut self.vars).get_mut(name) {
            var.exported = true;
        }
    }

    /// From here on the name holds what cannot be known, whatever is assigned to it.
    pub fn set_odd(&mut self, name: &str) {
        self.note(name, &Value::Unknown);
        let exported = self.vars.get(name).is_some_and(|var| var.exported);
        let value = Value::Unknown;
        self.put(
            name,
            Some(Var {
                value,
                exported,
                odd: true,
                keyed: false,
            }),
        );
    }

    /// Whether it surely is an array with keys.
    pub fn is_keyed(&self, name: &str) -> bool {
        !self.lost && self.vars.get(name).is_some_and(|var| var.keyed)
    }

    /// Whether its subscripts are keys from here on.
    pub fn key(&mut self, name: &str, keyed: bool) {
        if let Some(var) = Rc::make_mut(&mut self.vars).get_mut(name) {
            var.keyed = keyed;
        }
    }

    /// From here on the name holds a number, whatever is assigned to it.
    pub fn count(&mut self, name: &str) {
        if let Some(var) = Rc::make_mut(&mut self.vars).get_mut(name) {
            var.value = Value::Known(numbers::number());
        }
    }

    /// The value stays, assignments to it fail or not.
    pub fn freeze(&mut self, name: &str) {
        let unseen = Var {
            value: Value::Unknown,
            exported: false,
            odd: true,
            keyed: false,
        };
        match Rc::make_mut(&mut self.vars).get_mut(name) {
            Some(var) => var.odd = true,
            None => self.put(name, Some(unseen)),
        }
    }

    pub fn put(&mut self, name: &str, var: Option<Var>) {
        if self.lost && name != "IFS" && name != "CDPATH" {
            return;
        }
        let vars = Rc::make_mut(&mut self.vars);
        match var {
            Some(var) => {
                vars.insert(name.into(), var);
            }
            None => {
                vars.remove(name);
            }
        }
    }

    /// The environment of a program that is itself a shell: only exported variables and functions reach it.
    pub fn child(&self) -> Self {
        let mut child = self.clone();
        if self.vars.values().any(|var| !var.exported) {
            for var in Rc::make_mut(&mut child.vars).values_mut() {
                if !var.exported {
                    var.value = Value::Unknown;
                }
            }
        }
        if !child.functions.is_empty() {
            let exported = |(_, function): &(&String, &Function)| function.exported;
            let all = self.functions.iter().filter(exported);
            child.functions = Rc::new(
                all.map(|(name, function)| (name.clone(), function.clone()))
                    .collect(),
            );
        }
        child.failed = None;
        child.positional = None;
        child.zero = None;
        child.errexit = false;
        child.background = false;
        child.dead = false;
        child
    }

    /// Whether another round through a loop would start from what this one started from.
    pub fn same(&self, other: &Self) -> bool {
        let unseen = |name: &str| !other.vars.contains_key(name);
        let new = |(name, var): &(&Rc<str>, &Var)| !(unseen(name) && var.is_as_if_unseen(name));
        let same = || self.vars.iter().filter(new).eq(other.vars.iter());
        (self.lost && other.lost || Rc::ptr_eq(&self.vars, &other.vars) || same())
            && self.lost == other.lost
            && self.folders == other.folders
            && self.positional == other.positional
            && self.changed == other.changed
            && self.wild == other.wild
            && self.physical == other.physical
            && self.background == other.background
            && self.trapped == other.trapped
            && self.adrift == other.adrift
            && self.means_the_same(other)
    }

    /// Whether nothing has changed since it was the other, without a look at what is in it.
    pub fn is(&self, other: &Self) -> bool {
        let positional = match (&self.positional, &other.positional) {
            (Some(ours), Some(theirs)) => Rc::ptr_eq(ours, theirs),
            (None, None) => true,
            _ => false,
        };
        positional
            && Rc::ptr_eq(&self.vars, &other.vars)
            && Rc::ptr_eq(&self.folders, &other.folders)
            && Rc::ptr_eq(&self.functions, &other.functions)
            && Rc::ptr_eq(&self.aliases, &other.aliases)
            && self.failed == other.failed
            && self.changed == other.changed
            && self.stdin == other.stdin
            && (self.lost, self.wild, self.physical) == (other.lost, other.wild, other.physical)
    }

    /// Whether functions, aliases and standard input are the same.
    pub fn means_the_same(&self, other: &Self) -> bool {
        self.stdin == other.stdin
            && self.functions.len() == other.functions.len()
            && self.functions.iter().zip(other.functions.iter()).all(
                |((name, ours), (other, theirs))| {
                    name == other
                        && ours.is(theirs)
                        && (ours.sure, ours.several, ours.exported)
                            == (theirs.sure, theirs.several, theirs.exported)
                },
            )
            && self.aliases == other.aliases
    }

    /// How much there is to compare in a merge.
    pub fn size(&self) -> usize {
        self.vars.len() + self.functions.len() + self.aliases.len()
    }

    /// What is known where two ways meet.
    pub fn merge(self, other: Self) -> Self {
        if self.dead && !other.dead {
            return other;
        }
        if other.dead && !self.dead {
            return self;
        }
        let mut merged = self;
        if !Rc::ptr_eq(&merged.vars, &other.vars) && *merged.vars != *other.vars {
            let vars = Rc::make_mut(&mut merged.vars);
            for (name, theirs) in other.vars.iter() {
                match vars.get_mut(name) {
                    Some(ours) => {
                        if ours.value != theirs.value {
                            ours.value = match (&ours.value, &theirs.value) {
                                (Value::Known(a), Value::Known(b))
                                    if numbers::is_number(a) && numbers::is_number(b) =>
                                {
                                    Value::Known(numbers::number())
                                }
                                _ => Value::Unknown,
                            };
                        }
                        ours.odd |= theirs.odd;
                        ours.keyed &= theirs.keyed;
                        ours.exported &= theirs.exported;
                    }
                    None => {
                        let unknown = Var {
                            value: Value::Unknown,
                            ..theirs.clone()
                        };
                        vars.insert(name.clone(), unknown);
                    }
                }
            }
            for (name, ours) in vars.iter_mut() {
                if !other.vars.contains_key(name) {
                    ours.value = Value::Unknown;
                }
            }
        }
        if merged.positional != other.positional {
            merged.positional = None;
        }
        if merged.zero != other.zero {
            merged.zero = None;
        }
        merged.folders = join_folders(&merged.folders, &other.folders);
        merged.failed = match (merged.failed, other.failed) {
            (None, None) => None,
            (Some(a), Some(b)) => Some(join_folders(&a, &b)),
            (Some(one), None) | (None, Some(one)) => Some(join_folders(&merged.folders, &one)),
        };
        if !Rc::ptr_eq(&merged.functions, &other.functions) {
            let functions = Rc::make_mut(&mut merged.functions);
            for (name, function) in functions.iter_mut() {
                let theirs = other.functions.get(name);
                function.sure &= theirs.is_some_and(|theirs| theirs.sure);
                function.exported |= theirs.is_some_and(|theirs| theirs.exported);
                function.several |=
                    theirs.is_some_and(|theirs| theirs.several || !theirs.is(function));
            }
            for (name, function) in other.functions.iter() {
                functions.entry(name.clone()).or_insert_with(|| Function {
                    sure: false,
                    ..function.clone()
                });
            }
        }
        if !Rc::ptr_eq(&merged.aliases, &other.aliases) {
            let aliases = Rc::make_mut(&mut merged.aliases);
            for (name, value) in other.aliases.iter() {
                let ours = aliases.entry(name.clone()).or_insert_with(|| value.clone());
                if ours != value {
                    *ours = None;
                }
            }
        }
        for name in other.changed.iter() {
            merged.change(name);
        }
        if merged.stdin != other.stdin {
            merged.stdin = Some(Rc::new(Input::Unknown));
        }
        merged.prompts.extend(other.prompts);
        if !Rc::ptr_eq(&merged.trapped, &other.trapped) {
            let all = other.trapped.iter().cloned();
            Rc::make_mut(&mut merged.trapped).extend(all);
        }
        if other.adrift {
            merged.unsettle(Vec::new(), true);
        }
        merged.lost |= other.lost;
        merged.wild |= other.wild;
        merged.physical |= other.physical;
        merged.errexit &= other.errexit;
        merged.background &= other.background;
        merged
    }

    /// Notes that a variable which changes what programs mean was assigned.
    pub fn change(&mut self, name: &str) {
        if self.changed.len() < 8 && !self.changed.iter().any(|known| known == name) {
            Rc::make_mut(&mut self.changed).push(name.to_owned());
        }
    }

    /// Moves to a folder that is a constant, or to an unknown one. `cd` may fail: then it stays.
    pub fn go(&mut self, to: Option<&str>) {
        self.go_by(to, &|folder, to| Some(normal(folder, to)));
    }

    /// The same, with a way of its own to join the two.
    pub fn go_by(&mut self, to: Option<&str>, join: &dyn Fn(&str, &str) -> Option<String>) {
        let before = self.folders.clone();
        let mut folders: Vec<SmolStr> = Vec::new();
        if let Some(to) = to.filter(|_| !self.adrift) {
            let all: Option<Vec<SmolStr>> = if to.starts_with('/') {
                join("/", to).map(|folder| vec![folder.into()])
            } else {
                let joined = before.iter().map(|folder| join(folder, to));
                joined.map(|folder| folder.map(SmolStr::from)).collect()
            };
            for folder in all.into_iter().flatten() {
                if folder.len() > LONGEST_FOLDER {
                    folders.clear();
                    break;
                }
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        self.put(
            "OLDPWD",
            Some(Var {
                value: match before.as_slice() {
                    [folder] => {
                        Value::Known(Word::known(folder.as_str(), crate::source::Span::default()))
                    }
                    _ => Value::Unknown,
                },
                exported: true,
                odd: false,
                keyed: false,
            }),
        );
        // A script that has assigned PWD itself gets it back.
        self.put("PWD", None);
        self.folders = Rc::new(folders);
        self.failed = Some(before);
    }

    /// What is known where it is unknown whether the last command failed.
    pub fn settle(&mut self) {
        if let Some(failed) = self.failed.take() {
            self.folders = join_folders(&self.folders, &failed);
        }
    }

    /// The state in which the last command surely succeeded, and the one in which it failed.
    pub fn split(mut self) -> (Self, Self) {
        let failed = self.failed.take();
        let mut failure = self.clone();
        if let Some(folders) = failed {
            failure.folders = folders;
        }
        (self, failure)
    }
}

fn join_folders(a: &Rc<Vec<SmolStr>>, b: &Rc<Vec<SmolStr>>) -> Rc<Vec<SmolStr>> {
    if Rc::ptr_eq(a, b) || a == b {
        return a.clone();
    }
    if a.is_empty() || b.is_empty() {
        return Rc::default();
    }
    let mut all = (**a).clone();
    for folder in b.iter() {
        if !all.contains(folder) {
            all.push(folder.clone());
        }
    }
    if all.len() > FOLDERS {
        all.clear();
    }
    Rc::new(all)
}

/// A path joined to a folder, dots resolved by text alone, as `cd` does.
pub(super) fn normal(folder: &str, path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { folder };
    for name in base.split('/').chain(path.split('/')) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    let mut out = String::with_capacity(folder.len() + path.len() + 1);
    for name in names {
        out.push('/');
        out.push_str(name);
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}
