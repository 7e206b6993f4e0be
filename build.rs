//! The table of facts about programs, `src/call/programs/*.toml`, becomes static Rust arrays.
//!
//! In: those files, `src/call/variables.toml` and `src/session/secrets.toml`. Out: `programs.rs`, `secrets.rs` and, for the
//! tests, `examples.rs` in `OUT_DIR`; and `ACL_SOURCES`, a digest of all sources.
//! Refuses, naming file and entry: an unknown key, an option or operand that cannot be read, a name given twice.

#![allow(
    clippy::print_stdout,
    reason = "it is how a build script speaks to cargo"
)]

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};
use toml::{Table, Value};

type Result<T> = std::result::Result<T, String>;

fn main() {
    if let Err(why) = run() {
        eprintln!("error: {why}");
        std::process::exit(1);
    }
}

fn run() -> Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(|e| e.to_string())?);
    let out = PathBuf::from(env::var("OUT_DIR").map_err(|e| e.to_string())?);
    let folder = root.join("src/call/programs");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rustc-env=ACL_SOURCES={:016x}", sources(&root)?);
    let secrets = secrets(&read(&root.join("src/session/secrets.toml"))?)?;
    fs::write(out.join("secrets.rs"), secrets).map_err(|e| format!("secrets.rs: {e}"))?;

    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    let mut all = Tables::default();
    for file in &files {
        let table = read(file)?;
        for (name, value) in &table {
            let entry = value
                .as_table()
                .ok_or(format!("{}: `{name}` is no table", file.display()))?;
            all.program(name, entry)
                .map_err(|why| format!("{}: [{name}] {why}", file.display()))?;
        }
    }
    let variables = read(&root.join("src/call/variables.toml"))?;
    all.write(&out, &variables)
}

/// A digest of acl's own sources: what one build keeps of a policy, another one does not read.
fn sources(root: &Path) -> Result<u64> {
    let mut all = vec![root.join("Cargo.toml")];
    let mut folders = vec![root.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))? {
            let path = entry.map_err(|e| e.to_string())?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => all.push(path),
            }
        }
    }
    all.sort();
    let mut hasher = DefaultHasher::new();
    for path in all {
        let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        bytes.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn read(file: &Path) -> Result<Table> {
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    text.parse().map_err(|e| format!("{}: {e}", file.display()))
}

/// The table of what secrets look like.
fn secrets(table: &Table) -> Result<String> {
    let mut code = String::new();
    for (key, value) in table {
        let items = list(value, key)?;
        let pair = |item: &String, sign: &str| {
            let (left, right) = item.rsplit_once(sign)?;
            Some((left.to_owned(), right.to_owned()))
        };
        let wrong = |item: &String| format!("secrets.toml: `{item}` in `{key}` is not understood");
        let (kind, items) = match key.as_str() {
            "shapes" => {
                let one = |item: &String| {
                    let (shape, least) = pair(item, " ")?;
                    Some(format!("({shape:?}, {})", least.parse::<usize>().ok()?))
                };
                let all = items.iter().map(|item| one(item).ok_or(wrong(item)));
                ("(&str, usize)", all.collect::<Result<Vec<_>>>()?)
            }
            "examples" => {
                code += "#[cfg(test)]\n";
                let one = |item: &String| Some(format!("{:?}", pair(item, " => ")?));
                let all = items.iter().map(|item| one(item).ok_or(wrong(item)));
                ("(&str, &str)", all.collect::<Result<Vec<_>>>()?)
            }
            "names" | "parts" | "headers" | "pairs" | "before" | "commands" => {
                let all = items.iter().map(|item| format!("{item:?}"));
                ("&str", all.collect())
            }
            _ => return Err(format!("secrets.toml: unknown key `{key}`")),
        };
        code += &array(&key.to_uppercase(), kind, &items);
    }
    Ok(code)
}

#[derive(Default)]
struct Tables {
    programs: Vec<String>,
    entries: Vec<String>,
    places: BTreeMap<String, usize>,
    names: BTreeMap<String, usize>,
    pools: Pools,
    examples: String,
}

/// How a subcommand may be written.
#[derive(Default)]
struct Spelled<'a> {
    /// Its names.
    names: &'a [String],
    /// The words that are the same: `image rm` for `rmi`.
    also: Vec<String>,
    /// The subcommands of the level above, by name.
    beside: Option<&'a BTreeMap<String, String>>,
}

/// The keys of an entry that hold lists of subcommands, and what those do.
const LISTS: [(&str, &str); 6] = [
    ("nothing", "Nothing"),
    ("reads", "Reads"),
    ("connects", "Connects"),
    ("writes", "Writes"),
    ("changes", "Changes"),
    ("runs", "Runs"),
];

impl Tables {
    fn program(&mut self, name: &str, table: &Table) -> Result<()> {
        let aliases = words(table, "aliases")?;
        for name in std::iter::once(&name.to_owned()).chain(&aliases) {
            if self
                .names
                .insert(name.clone(), self.programs.len())
                .is_some()
            {
                return Err(format!("the name `{name}` is given twice"));
            }
        }
        let entry = self.entry(name, table, None, &[name.to_owned()], &Spelled::default())?;
        let (name, aliases) = (self.pools.text(name), self.pools.texts(&aliases));
        self.programs.push(format!(
            "Program {{ name: {name}, aliases: {aliases}, entry: {entry} }}"
        ));
        Ok(())
    }

    /// Adds one entry and those below it; returns its place.
    fn entry(
        &mut self,
        path: &str,
        table: &Table,
        above: Option<(Option<&str>, &str)>,
        chain: &[String],
        spelled: &Spelled<'_>,
    ) -> Result<String> {
        let err = |why: String| {
            if chain.len() > 1 {
                format!("{}: {why}", chain.join("."))
            } else {
                why
            }
        };
        let mut operands = None;
        let mut names = Vec::new();
        let (mut options, mut pairs, mut subs) = (Vec::new(), Vec::new(), BTreeMap::new());
        let inherited = if above.is_some_and(|(_, style)| style == "Single") {
            "Single"
        } else {
            "Gnu"
        };
        let (mut starts, mut style, mut skip) = ("Nothing".to_owned(), inherited.to_owned(), 0);
        let mut flags = [
            ("transparent", false),
            ("assignments", false),
            ("strict", false),
            ("implied", false),
            ("into", false),
            ("optional", false),
            ("binaries", false),
            ("kinds", false),
            ("dashes", false),
            ("gitignore", false),
            ("pathspecs", false),
            ("interactive", false),
            ("dockerignore", false),
            ("follows", false),
            ("lands", false),
            ("links", false),
            ("unpacks", false),
            ("swaps", false),
            ("restores", false),
            ("stages", false),
            ("unsaved", false),
            ("caseless", false),
            ("unlisted", false),
            ("shortened", false),
            ("packages", false),
            ("compares", false),
            ("nopt", false),
            ("plants", false),
            ("glued", false),
            ("cross", false),
            ("chained", false),
            ("console", false),
            ("existing", false),
        ];
        let own = match table.get("does") {
            Some(value) => Some(does(text(value, "does")?).map_err(err)?),
            None => None,
        };
        // Subcommands in the lists, and those with a table of their own, which says more about one that is listed.
        let (mut listed, mut tables) = (Vec::<(String, String)>::new(), Vec::new());
        for (key, value) in table {
            match key.as_str() {
                "aliases" | "does" | "escalates" | "harmless" | "commands" | "ends" | "like"
                | "same" | "settings" => {}
                "flags" => {
                    for flag in text(value, key)?.split_whitespace() {
                        options.push(self.pools.spec(flag, &mut names).map_err(err)?);
                    }
                }
                "values" => {
                    for spellings in text(value, key)?.split_whitespace() {
                        let line = format!("{spellings} =text");
                        options.push(self.pools.spec(&line, &mut names).map_err(err)?);
                    }
                }
                "options" | "pairs" => {
                    for item in list(value, key)? {
                        let (specs, names) = if key == "pairs" {
                            (&mut pairs, &mut Vec::new())
                        } else {
                            (&mut options, &mut names)
                        };
                        specs.push(self.pools.spec(&item, names).map_err(err)?);
                    }
                }
                "operands" => {
                    operands = Some(self.pools.signature(text(value, key)?).map_err(err)?)
                }
                "starts" => starts = one_of(text(value, key)?, &STARTS).map_err(err)?,
                "style" => style = one_of(text(value, key)?, &STYLES).map_err(err)?,
                "skip" => {
                    skip = value
                        .as_integer()
                        .ok_or_else(|| err("`skip` is no number".into()))?
                }
                "examples" => {
                    for line in list(value, key)? {
                        let (line, expected) = line
                            .split_once(" => ")
                            .ok_or_else(|| err(format!("the example `{line}` has no ` => `")))?;
                        let _ = writeln!(self.examples, "    ({line:?}, {:?}),", expected.trim());
                    }
                }
                key if flags.iter().any(|(name, _)| *name == key) => {
                    let on = value
                        .as_bool()
                        .ok_or_else(|| err(format!("`{key}` is neither true nor false")))?;
                    for flag in &mut flags {
                        flag.1 |= flag.0 == key && on;
                    }
                }
                key if LISTS.iter().any(|(name, _)| *name == key) && !value.is_table() => {
                    for names in text(value, key)?.split_whitespace() {
                        listed.push((names.to_owned(), key.to_owned()));
                    }
                }
                key => match value.as_table() {
                    Some(child) => tables.push((key.to_owned(), child.clone())),
                    None => return Err(err(format!("unknown key `{key}`"))),
                },
            }
        }
        for (names, child) in &mut tables {
            let (mine, others) = listed
                .into_iter()
                .partition(|(own, _)| names.split('|').any(|group| group == own));
            listed = others;
            let mine: Vec<(String, String)> = mine;
            if let (Some((_, does)), false) = (mine.last(), child.contains_key("does")) {
                child.insert("does".into(), Value::String(does.clone()));
            }
        }
        for (name, does) in listed {
            tables.push((
                name,
                Table::from_iter([("does".to_owned(), Value::String(does))]),
            ));
        }
        // What is the same as a subcommand of this level is built after it.
        tables.sort_by_key(|(_, child)| child.contains_key("same"));
        let mut also = BTreeMap::<String, Vec<String>>::new();
        for (names, child) in &tables {
            for (name, target) in same(child)? {
                for above in names.split(['|', '/']) {
                    also.entry(target.clone())
                        .or_default()
                        .push(format!("{above} {name}"));
                }
            }
        }
        for (name, target) in same(table)? {
            let entry = spelled
                .beside
                .and_then(|beside| beside.get(&target))
                .ok_or_else(|| err(format!("`same` names `{target}`, which is not there")))?;
            subs.insert(name, entry.clone());
        }
        for (names, child) in tables {
            let mut chain = chain.to_vec();
            chain.push(names.clone());
            let mut child = child;
            // `like = "diff"`: the options of a subcommand beside this one are options of this one.
            if let Some(like) = child.get("like").and_then(Value::as_str) {
                let model = table
                    .iter()
                    .find(|(key, _)| key.split(['|', '/']).any(|name| name == like));
                let model = model.and_then(|(_, value)| value.as_table()).cloned();
                let model = model
                    .ok_or_else(|| err(format!("`like` names `{like}`, which is not there")))?;
                for (key, value) in model {
                    match (child.get_mut(&key), key.as_str()) {
                        (_, "examples" | "like" | "escalates") => {}
                        (Some(Value::Array(mine)), "options") => {
                            if let Value::Array(theirs) = value {
                                mine.extend(theirs)
                            }
                        }
                        (Some(Value::String(mine)), "values" | "flags") => {
                            if let Value::String(theirs) = value {
                                *mine = format!("{mine} {theirs}")
                            }
                        }
                        (Some(_), _) => {}
                        (None, _) => {
                            child.insert(key, value);
                        }
                    }
                }
            }
            for group in names.split('|') {
                let names: Vec<String> = group.split('/').map(str::to_owned).collect();
                let also = names.iter().filter_map(|name| also.remove(name));
                let spelled = Spelled {
                    also: also.flatten().collect(),
                    names: &names,
                    beside: Some(&subs),
                };
                let path = format!("{path} {group}");
                let entry = self.entry(&path, &child, Some((own, &style)), &chain, &spelled)?;
                child.remove("examples");
                for name in names {
                    if subs.insert(name.clone(), entry.clone()).is_some() {
                        return Err(err(format!("the subcommand `{name}` is given twice")));
                    }
                }
            }
        }
        if operands.is_none() && subs.is_empty() {
            if chain.len() == 1 && starts == "Nothing" {
                return Err("says nothing about its operands".to_owned());
            }
            // `cargo deny init DIR`: of what a subcommand does that is only listed, its words may be paths.
            let open = starts == "Nothing" && matches!(own, Some("Runs" | "Writes" | "Changes"));
            operands = Some(self.pools.signature(if open { "maybe*" } else { "" })?);
        }
        // A subcommand that does more than the level above does by itself is not covered by an allow of that level.
        let tame = |does: &str| matches!(does, "Nothing" | "Reads" | "Connects");
        let escalates = match table.get("escalates") {
            Some(value) => Some(text(value, "escalates")?.to_owned()),
            None if above.and_then(|(does, _)| does).is_some_and(tame)
                && chain.len() > 2
                && own.is_some_and(|own| !tame(own)) =>
            {
                let verb = own.unwrap_or_default().to_lowercase();
                Some(match verb.as_str() {
                    "runs" => "runs code".to_owned(),
                    "writes" => "writes files or settings".to_owned(),
                    _ => "changes what it is about".to_owned(),
                })
            }
            None => None,
        };
        // The first of two equal names is meant; `like` puts a subcommand's own before those it takes over.
        names.sort_by(|a: &(String, usize), b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
        names.dedup_by(|later, first| later.0 == first.0);
        let pools = &mut self.pools;
        let names = pools.pairs("SPELLINGS", names);
        let subs = pools.pairs("SUBS", subs);
        let escalates = option(escalates.map(|why| pools.text(&why)));
        let settings = match table.get("settings") {
            Some(value) => Some(text(value, "settings")?),
            None => None,
        };
        let settings = option(settings.map(|file| pools.text(file)));
        let optional = flags.contains(&("optional", true));
        let several = spelled.names.len() > 1 || !spelled.also.is_empty() || optional;
        let spellings = pools.texts(if several { spelled.names } else { &[] });
        let also = pools.texts(&spelled.also);
        let code = format!(
            "Entry {{ does: {}, options: {}, spellings: {names}, pairs: {}, operands: {}, subs: {subs}, \
             names: {spellings}, also: {also}, starts: Start::{starts}, skip: {skip}, {}, style: Style::{style}, harmless: {}, commands: {}, ends: {}, settings: {settings}, escalates: {escalates} }}",
            option(own.map(|own| format!("Does::{own}"))),
            pools.list("SPECS", options),
            pools.list("SPECS", pairs),
            option(operands),
            flags.map(|(name, on)| format!("{name}: {on}")).join(", "),
            pools.texts(&words(table, "harmless")?),
            pools.texts(&words(table, "commands")?),
            pools.texts(&words(table, "ends")?),
        );
        // Equal entries are one, as lists are.
        let at = self.places.get(&code).copied().unwrap_or_else(|| {
            self.entries.push(format!("/* {path} */ {code}"));
            self.entries.len() - 1
        });
        self.places.insert(code, at);
        Ok(format!("EntryRef::at({at})"))
    }

    fn write(mut self, out: &Path, variables: &Table) -> Result<()> {
        let mut code = String::new();
        for key in variables.keys() {
            if ![
                "dangerous",
                "harmless",
                "values",
                "files",
                "prompts",
                "commands",
            ]
            .contains(&key.as_str())
            {
                return Err(format!("variables.toml: unknown key `{key}`"));
            }
        }
        for (name, key) in [
            ("DANGEROUS_VARIABLES", "dangerous"),
            ("HARMLESS_VARIABLES", "harmless"),
            ("HARMLESS_VALUES", "values"),
            ("FILE_VARIABLES", "files"),
            ("PROMPT_VARIABLES", "prompts"),
            ("COMMAND_VARIABLES", "commands"),
        ] {
            // By their first letter, or the last behind a `*`, so that a name is compared with few of them.
            let mut names = words(variables, key)?;
            names.sort_by_key(|name| {
                let star = name.starts_with('*').then(|| name.bytes().last());
                (name.bytes().next(), star, name.clone())
            });
            let list = self.pools.texts(&names);
            let _ = writeln!(code, "static {name}: List<Text> = {list};");
        }
        let names = self.names.iter();
        let names: Vec<String> = names
            .map(|(name, program)| format!("({}, {program})", self.pools.text(name)))
            .collect();
        code += &array("NAMES", "(Text, u16)", &names);
        code += &array("PROGRAMS", "Program", &self.programs);
        code += &array("ENTRIES", "Entry", &self.entries);
        code += &self.pools.code();
        let put = |name: &str, text: &str| {
            fs::write(out.join(name), text).map_err(|e| format!("{name}: {e}"))
        };
        put("programs.rs", &code)?;
        put("examples.rs", &format!("&[\n{}]", self.examples))
    }
}

/// The arrays that the parts of all entries go to, and the type of their items.
const POOLS: [(&str, &str); 6] = [
    ("TEXTS", "Text"),
    ("SPECS", "Spec"),
    ("SLOTS", "Slot"),
    ("SETS", "Set"),
    ("SPELLINGS", "(Text, u16)"),
    ("SUBS", "(Text, EntryRef)"),
];

/// Those arrays, filled, each item as Rust code; and the one text that all texts are parts of.
#[derive(Default)]
struct Pools {
    text: String,
    texts: BTreeMap<String, String>,
    items: BTreeMap<&'static str, Vec<String>>,
    lists: BTreeMap<(&'static str, Vec<String>), String>,
}

impl Pools {
    /// `rm` → `Text::at(120, 2)`; equal texts are one.
    fn text(&mut self, text: &str) -> String {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let code = format!("Text::at({}, {})", self.text.len(), text.len());
        self.text += text;
        self.texts.insert(text.to_owned(), code.clone());
        code
    }

    fn texts<T: AsRef<str>>(&mut self, texts: &[T]) -> String {
        let items = texts.iter().map(|text| self.text(text.as_ref())).collect();
        self.list("TEXTS", items)
    }

    /// Items of one of the [`POOLS`] → `List::at(40, 3)`; equal lists are one, but for options, which have an identity.
    fn list(&mut self, pool: &'static str, list: Vec<String>) -> String {
        if list.is_empty() {
            return "List::EMPTY".to_owned();
        }
        let key = (pool, list);
        if let Some(known) = self.lists.get(&key).filter(|_| pool != "SPECS") {
            return known.clone();
        }
        let items = self.items.entry(pool).or_default();
        let code = format!("List::at({}, {})", items.len(), key.1.len());
        items.extend_from_slice(&key.1);
        self.lists.insert(key, code.clone());
        code
    }

    /// Names, each with something.
    fn pairs<T: Display>(
        &mut self,
        pool: &'static str,
        pairs: impl IntoIterator<Item = (String, T)>,
    ) -> String {
        let pairs = pairs.into_iter();
        let items = pairs
            .map(|(name, other)| format!("({}, {other})", self.text(&name)))
            .collect();
        self.list(pool, items)
    }

    fn code(&self) -> String {
        let mut code = format!("static TEXT: &str = {:?};\n", self.text);
        for (name, item) in POOLS {
            let items = self.items.get(name).map_or(&[][..], Vec::as_slice);
            code += &array(name, item, items);
            let _ = writeln!(
                code,
                "impl Pooled for {item} {{ fn pool() -> &'static [Self] {{ &{name} }} }}"
            );
        }
        code
    }

    /// `-o|--output =write! below ! says why` → a `Spec`.
    fn spec(&mut self, line: &str, names: &mut Vec<(String, usize)>) -> Result<String> {
        let (line, why) = match line.split_once(" ! ") {
            Some((line, why)) => (line, Some(why.trim())),
            None => (line, None),
        };
        let mut tokens = line.split_whitespace();
        let at = names.last().map_or(0, |(_, at)| at + 1);
        let all = names;
        let names: Vec<&str> = tokens.next().ok_or("an empty option")?.split('|').collect();
        all.extend(names.iter().map(|name| ((*name).to_owned(), at)));
        let (mut takes, mut value, mut sets, mut harmless) =
            ("Nothing", slot("text")?, Vec::new(), Vec::new());
        for token in tokens {
            let (head, tail) = token.split_once(':').unwrap_or((token, ""));
            match head {
                "harmless" => harmless = tail.split(',').collect(),
                "rest" => sets.push(format!("Set::Rest({})", slot(tail)?)),
                "here" => sets.push(format!("Set::Here({})", slot(tail)?)),
                "does" => sets.push(format!("Set::Does(Does::{})", does(tail)?)),
                "gives" => sets.push(format!("Set::Gives({})", self.text(tail))),
                "hands" => sets.push(format!("Set::Hands({})", self.text(tail))),
                "reads" => sets.push(format!("Set::Reads({})", self.text(tail))),
                "settings" => sets.push(format!("Set::Settings({})", self.text(tail))),
                "value" => {
                    let (name, kind) = tail
                        .split_once(':')
                        .ok_or(format!("`{token}` is no `value:NAME:KIND`"))?;
                    sets.push(format!("Set::Value({}, {})", self.text(name), slot(kind)?));
                }
                "nofirst" | "nolast" | "below" | "lacking" | "hidden" | "ignored" | "follows"
                | "renamed" | "implied" | "into" | "stop" | "end" | "script" | "stdin"
                | "opens" | "waits" | "given" | "unsaved" | "symlinks" | "hardlinks" | "keeps"
                | "backups" => {
                    let name = match head {
                        "nofirst" => "NoFirst".to_owned(),
                        "nolast" => "NoLast".to_owned(),
                        _ => camel(head),
                    };
                    sets.push(format!("Set::{name}"));
                }
                _ => {
                    let (mark, kind) = [
                        ("==", "Two"),
                        ("=>", "Next"),
                        ("=", "Value"),
                        ("?", "Attached"),
                    ]
                    .into_iter()
                    .find_map(|(mark, takes)| token.strip_prefix(mark).map(|kind| (takes, kind)))
                    .ok_or(format!("`{line}`: `{token}` is not understood"))?;
                    takes = mark;
                    value = slot(kind)?;
                }
            }
        }
        let (names, harmless) = (self.texts(&names), self.texts(&harmless));
        let sets = self.list("SETS", sets);
        let why = option(why.map(|why| self.text(why)));
        Ok(format!(
            "Spec {{ names: {names}, takes: Takes::{takes}, slot: {value}, sets: {sets}, harmless: {harmless}, escalates: {why} }}"
        ))
    }

    /// `text read* write` → a `Signature`.
    fn signature(&mut self, line: &str) -> Result<String> {
        let (mut first, mut rest, mut last) = (Vec::new(), None, Vec::new());
        for token in line.split_whitespace() {
            match (token.strip_suffix('*'), rest.is_some()) {
                (Some(_), true) => return Err(format!("the operands `{line}` have two `*`")),
                (Some(kind), false) => rest = Some(slot(kind)?),
                (None, false) => first.push(slot(token)?),
                (None, true) => last.push(slot(token)?),
            }
        }
        let rest = match rest {
            Some(rest) => rest,
            None => slot("text")?,
        };
        let (first, last) = (self.list("SLOTS", first), self.list("SLOTS", last));
        Ok(format!(
            "Signature {{ first: {first}, rest: {rest}, last: {last} }}"
        ))
    }
}

fn array(name: &str, item: &str, items: &[String]) -> String {
    format!(
        "static {name}: [{item}; {}] = [\n    {}\n];\n",
        items.len(),
        items.join(",\n    ")
    )
}

const KINDS: [&str; 73] = [
    "text",
    "maybe",
    "read",
    "read-below",
    "read-shown",
    "names",
    "backup",
    "backup-prefix",
    "write",
    "write-start",
    "write-numbered",
    "both",
    "both-below",
    "plus",
    "write-below",
    "write-into",
    "name",
    "name-below",
    "dir",
    "host",
    "url",
    "remote-read",
    "remote-write",
    "boxed-read",
    "boxed-write",
    "volume",
    "revision",
    "tracked",
    "tree",
    "start",
    "script",
    "program",
    "command",
    "code",
    "code-file",
    "sed",
    "awk",
    "data",
    "form",
    "header",
    "sends",
    "item",
    "response",
    "response-below",
    "response-text",
    "wanted",
    "typed",
    "assign",
    "variable",
    "key",
    "module",
    "tests",
    "split",
    "verb",
    "goal",
    "console",
    "target",
    "package",
    "repository",
    "image",
    "lookup",
    "query",
    "build-flags",
    "leader",
    "binding",
    "refspec",
    "page",
    "source",
    "database",
    "own",
    "format",
    "keys",
    "edited",
];

/// `write!` → a `Slot`.
fn slot(token: &str) -> Result<String> {
    let kind = token.strip_suffix('!').unwrap_or(token);
    let kind = if kind.is_empty() { "text" } else { kind };
    if !KINDS.contains(&kind) {
        return Err(format!("`{token}` is no kind of value"));
    }
    Ok(format!(
        "Slot {{ kind: Kind::{}, named: {} }}",
        camel(kind),
        token.ends_with('!')
    ))
}

const STARTS: [&str; 10] = [
    "nothing",
    "words",
    "words-more",
    "joined",
    "shell",
    "source",
    "code",
    "parallel",
    "opaque",
    "own",
];
const STYLES: [&str; 6] = ["gnu", "single", "plain", "bundle", "letters", "posix"];

fn one_of(name: &str, known: &[&str]) -> Result<String> {
    if known.contains(&name) {
        Ok(camel(name))
    } else {
        Err(format!("`{name}` is none of {}", known.join(", ")))
    }
}

fn does(name: &str) -> Result<&'static str> {
    LISTS
        .iter()
        .find(|(key, _)| *key == name)
        .map(|(_, does)| *does)
        .ok_or(format!("`{name}` is nothing that a program does"))
}

/// `rm/remove=rmi build`: names, each with the subcommand of the level above that it is.
fn same(table: &Table) -> Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    for word in words(table, "same")? {
        let (names, target) = word.split_once('=').unwrap_or((&word, &word));
        all.extend(
            names
                .split('/')
                .map(|name| (name.to_owned(), target.to_owned())),
        );
    }
    Ok(all)
}

fn option(value: Option<String>) -> String {
    value.map_or("None".to_owned(), |value| format!("Some({value})"))
}

fn camel(name: &str) -> String {
    name.split('-')
        .map(|part| part.get(..1).unwrap_or("").to_uppercase() + part.get(1..).unwrap_or(""))
        .collect()
}

fn text<'v>(value: &'v Value, key: &str) -> Result<&'v str> {
    value.as_str().ok_or(format!("`{key}` is no text"))
}

fn list(value: &Value, key: &str) -> Result<Vec<String>> {
    let items = value.as_array().ok_or(format!("`{key}` is no list"))?;
    items
        .iter()
        .map(|item| text(item, key).map(str::to_owned))
        .collect()
}

/// Words separated by blanks.
fn words(table: &Table, key: &str) -> Result<Vec<String>> {
    match table.get(key) {
        Some(value) => Ok(text(value, key)?
            .split_whitespace()
            .map(str::to_owned)
            .collect()),
        None => Ok(Vec::new()),
    }
}
