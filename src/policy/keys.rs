//! The key table: every key of the language, what it holds, what it means.
//!
//! The single source of the reader's checks ([`check`]), the JSON Schema (`report/schema.rs`) and the reference
//! table in the README. Adding a key is adding a line here and reading it in `policy/file.rs`.

use super::rule::Verdict;
use super::{audit, near};
use crate::finding::{Finding, Fix, pushed};
use crate::source::{Key as Written, Node, Source, Span, Table, Value};
use std::sync::Arc;

/// What a value must look like.
#[derive(Debug)]
pub enum Shape {
    /// The language version, `1`.
    Version,
    /// Text.
    Text,
    /// True or false.
    Bool,
    /// `allow`, `ask` (or `confirm`), `deny`.
    Verdict,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Text, a number, true or false.
    Scalar,
    /// How many: a whole number that is not negative.
    Count,
    /// How many bytes, as text: `500K`, `10M`, `1G`.
    Size,
    /// A list of these.
    List(&'static Shape),
    /// One of these, or a list of them.
    OneOrMany(&'static Shape),
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table with any keys, each holding this.
    Map(&'static Shape),
    /// Conditions: any keys; each a scalar, a list of scalars, or conditions below it.
    Conditions,
    /// Text, or a table with these keys: a list entry.
    Entry(&'static [Key]),
    /// Text, a list of text, or a table with these keys: a tool's argument.
    Argument(&'static [Key]),
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether it must be there.
    pub required: bool,
    /// What it means: the hover text and the reference.
    pub about: &'static str,
    /// What holds where it is left out, as JSON; none: nothing, or what `about` says.
    pub default: Option<&'static str>,
    /// Values to copy from, as JSON.
    pub examples: &'static [&'static str],
}

const fn key(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key {
        name,
        shape,
        required: false,
        about,
        default: None,
        examples: &[],
    }
}

const fn required(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key {
        required: true,
        ..key(name, shape, about)
    }
}

impl Key {
    /// What holds where it is left out.
    const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// Values to copy from.
    const fn like(mut self, examples: &'static [&'static str]) -> Self {
        self.examples = examples;
        self
    }
}

/// The verdicts that a policy may write; `confirm` is `ask`.
pub const VERDICTS: &[&str] = &["allow", "ask", "deny", "confirm"];

/// What a rule can judge: a rule has at most one of these keys.
pub const TARGETS: [&str; 3] = ["commands", "paths", "hosts"];

/// Keys of a rule that need one of these targets beside them.
pub const NEEDS: [(&str, &[&str]); 7] = [
    ("except", &TARGETS),
    ("with", &["commands"]),
    ("without", &["commands"]),
    ("operands", &["commands"]),
    ("exact", &["commands", "paths"]),
    ("only", &["commands"]),
    ("access", &["paths"]),
];

/// Keys of a rule that have a meaning under one verdict alone.
pub const UNDER: [(&str, Verdict); 2] = [("forced", Verdict::Ask), ("only", Verdict::Allow)];

/// The tables that several keys hold, with a name for one of them.
pub static SHARED: &[(&str, &[Key])] = &[
    ("argument", ARGUMENT),
    ("command", COMMAND_ENTRY),
    ("path", PATH_ENTRY),
    ("host", HOST_ENTRY),
    ("path_lists", PATH_LISTS),
];

/// The keys that rules of every spelling have in common.
pub static COMMON: &[Key] = &[
    TOOLS, ARGS, WHEN, UNLESS, EXCEPT, WITH, WITHOUT, OPERANDS, EXACT, ONLY, FORCED, ID, REASON,
    INSTEAD, EXAMPLES, MATCH, ACCESS,
];

/// The whole language.
pub static POLICY: &[Key] = &[
    required(
        "version",
        Shape::Version,
        "The version of the policy language: 1.",
    ),
    key(
        "name",
        Shape::Text,
        "A name for people; it stands in messages and before addresses of rules that two files share.",
    )
    .like(&[r#""web-shop""#]),
    key("description", Shape::Text, "What the policy is for."),
    key(
        "extends",
        Shape::OneOrMany(&Shape::Text),
        "Policy files this one builds on, relative to it, or `acl:NAME` for a shipped preset. They are mine to adjust: I may `disable` their rules by id, and my tier for a tool replaces theirs.",
    )
    .like(&[r#"["acl:recommended"]"#, r#"["../team.toml"]"#]),
    key(
        "disable",
        Shape::List(&Shape::Text),
        "Ids (or addresses) of rules of the extended files that do not hold here.",
    )
    .like(&[r#"["no-force-push"]"#]),
    key(
        "resolution",
        Shape::Choice(&["strictest", "first-match"]),
        "How rules combine. `strictest`: order never matters, and deny wins over ask, ask over allow. `first-match`: the first `[[rules]]` element that matches decides; the lists of `commands`, `paths` and `hosts` may not be used then, as a list has no order to be first in.",
    )
    .or(r#""strictest""#),
    key(
        "workspace",
        Shape::Table(WORKSPACE),
        "Where the agent works: relative path patterns hold there.",
    ),
    key(
        "tools",
        Shape::Map(&Shape::Table(TOOL)),
        "Which argument of a tool is what, by the tool's name. The agents' own tools (bash, read, write, edit, search, list, fetch, websearch, skill, agent, own) are built in.",
    )
    .like(&[r#"{"move_file": {"reads": "source", "writes": ["source", "destination"]}}"#]),
    key(
        "groups",
        Shape::Map(&Shape::List(&Shape::Text)),
        "Named lists, used as `@name` in any list of the same file, of whatever that list holds. Groups may name groups.",
    )
    .like(&[r#"{"search": ["grep", "glob"]}"#]),
    key(
        "facts",
        Shape::Map(&Shape::Table(FACT)),
        "What the host tells about a call, for `when` and `unless`. Declared, so that a typo is found. The tool's arguments can never set one.",
    )
    .like(&[r#"{"environment": {"values": ["development", "production"]}}"#]),
    key(
        "tiers",
        Shape::Table(TIERS),
        "A tool's verdict where no rule names what the call does.",
    ),
    key(
        "commands",
        Shape::Table(COMMANDS),
        "Command rules: program, then leading words (`git {status,diff}`). Judged for every simple command of a line, whatever pipes, quotes and launchers stand around it.",
    ),
    key(
        "paths",
        Shape::Table(PATHS),
        "Path rules, gitignore-like, for whatever tool or command touches a path.",
    ),
    key(
        "hosts",
        Shape::Table(HOSTS),
        "Host rules, for every host that a call writes out: `docs.rs`, `*.example.org` (anything below it, not itself), `https://host:8443`.",
    ),
    key(
        "protected",
        Shape::Map(&Shape::Table(PROTECTED)),
        "Files that nothing opens, in sets with a name: no rule, grant, mode, layer or human lifts it.",
    )
    .like(&[r#"{"secrets": {"files": [".env", "*.pem"], "reason": "holds credentials"}}"#]),
    key(
        "rules",
        Shape::List(&Shape::Table(RULE)),
        "Rules in the long form, for all that a list cannot say: conditions on facts, rules about a tool as such, an order.",
    ),
    key(
        "sources",
        Shape::List(&Shape::Table(SOURCE)),
        "Outside authorities (risk control, a ticket system) that the host consults on each call; it hands their verdicts in.",
    ),
    key(
        "messages",
        Shape::Table(MESSAGES),
        "Texts for the model, in place of the built-in ones. They may hold {tool}, {reason} and {instead}.",
    ),
    key(
        "audit",
        Shape::Table(AUDIT),
        "Each decision of `acl hook`, `acl decide` and `acl serve` is logged, secrets masked; `--audit FILE` on their command line wins. Of several layers the most trusted one that says so counts.",
    )
    .like(&["{}", r#"{"file": "web.jsonl", "keep": 20}"#]),
    key(
        "lints",
        Shape::Map(&Shape::Choice(&["allow", "warn", "deny"])),
        "How severe a lint of `acl check` is, by its code: `allow` silences it, `warn` reports it, `deny` fails the check.",
    )
    .like(&[r#"{"broad-allow": "deny"}"#]),
    key(
        "invariants",
        Shape::List(&Shape::Table(INVARIANT)),
        "Statements that must hold for all calls, whatever the rules say; `acl check` looks for a call that breaks one.",
    ),
];

static AUDIT: &[Key] = &[
    key(
        "file",
        Shape::Text,
        "The log: below acl's state folder, or `/absolute`, or `~/…`. Left out: `audit.jsonl` there.",
    )
    .or(r#""audit.jsonl""#),
    key(
        "size",
        Shape::Size,
        "How large it may get before it becomes FILE.1: bytes, `500K`, `10M` or `1G`.",
    )
    .or(r#""10M""#),
    key("keep", Shape::Count, "How many such older logs are kept.").or("5"),
    key(
        "mask",
        Shape::List(&Shape::Text),
        "What is masked besides what acl takes for a secret: `PIN` for the values of such names, `acme_*` for such words. That of every layer counts, whatever the command line says.",
    )
    .like(&[r#"["PIN", "acme_*"]"#]),
];

static WORKSPACE: &[Key] = &[
    key(
        "roots",
        Shape::OneOrMany(&Shape::Text),
        "Folders the agent works in, relative to the policy file. Without them: the policy's own folder for a project or local file, else the workspace of the call.",
    )
    .like(&[r#"["."]"#]),
    key(
        "outside",
        Shape::Verdict,
        "Verdict for a path in none of the roots. An allow anchored with `/` or `~` settles an ask, not a deny.",
    )
    .or(r#""ask""#),
];

static TOOL: &[Key] = &[
    key(
        "reads",
        Shape::Argument(ARGUMENT),
        "The argument that holds a path the tool reads: its name, a list of names, a dotted path such as `input.files[]`, or { arg, default }. In a call it must be there and be text.",
    )
    .like(&[r#""path""#, r#"{"arg": "path", "default": "."}"#]),
    key(
        "writes",
        Shape::Argument(ARGUMENT),
        "The argument that holds a path the tool writes, creates or deletes.",
    )
    .like(&[r#""path""#]),
    key(
        "shell",
        Shape::Argument(ARGUMENT),
        "The argument that holds a command line.",
    )
    .like(&[r#""command""#]),
    key(
        "argv",
        Shape::Argument(ARGUMENT),
        "The argument that holds a command as a list of words.",
    )
    .like(&[r#""argv""#]),
    key(
        "url",
        Shape::Argument(ARGUMENT),
        "The argument that holds a URL: its host is contacted.",
    )
    .like(&[r#""url""#]),
    key(
        "patch",
        Shape::Argument(ARGUMENT),
        "The argument that holds an apply_patch envelope; every file in it is written.",
    ),
    key(
        "recursive",
        Shape::Bool,
        "The tool reads or writes all below its paths.",
    )
    .or("false"),
    key("about", Shape::Text, "What the tool does, for people."),
];

static ARGUMENT: &[Key] = &[
    required(
        "arg",
        Shape::OneOrMany(&Shape::Text),
        "The name of the argument, a list of names, or a dotted path; `[]` after a name goes through a list.",
    )
    .like(&[r#""path""#, r#""input.files[]""#]),
    key(
        "default",
        Shape::Text,
        "Its value where the call leaves it out. Without a default the argument must be there.",
    )
    .like(&[r#"".""#]),
];

static FACT: &[Key] = &[
    key(
        "default",
        Shape::Scalar,
        "Its value where the host gives none. Without a default a missing fact counts against the call: it turns ask and deny rules on and allow rules off.",
    ),
    key(
        "values",
        Shape::List(&Shape::Scalar),
        "All values it can have; another one counts as missing. Left out: any.",
    ),
    key("about", Shape::Text, "What it tells, for people."),
];

static TIERS: &[Key] = &[
    key(
        "allow",
        Shape::List(&Shape::Text),
        "Tools whose calls pass: names, globs (`mcp__git__*`) or groups (`@search`). Of two patterns the more specific counts.",
    )
    .like(&[r#"["read_file", "@search"]"#]),
    key(
        "ask",
        Shape::List(&Shape::Text),
        "Tools whose calls need a human, unless an allow rule covers all that a call does.",
    )
    .like(&[r#"["bash", "mcp__*"]"#]),
    key("confirm", Shape::List(&Shape::Text), "The same as `ask`."),
    key(
        "deny",
        Shape::List(&Shape::Text),
        "Tools that are refused, always: no allow rule lifts a denied tool.",
    )
    .like(&[r#"["mcp__*__delete_*"]"#]),
    key(
        "default",
        Shape::Verdict,
        "Verdict for a declared tool that no tier lists.",
    )
    .or(r#""ask""#),
    key(
        "unknown",
        Shape::Choice(&["deny", "default"]),
        "What becomes of a tool that nobody declared or listed: `deny`, or `default` for the default tier.",
    )
    .or(r#""deny""#),
];

static COMMANDS: &[Key] = &[
    key(
        "allow",
        Shape::List(&Shape::Entry(COMMAND_ENTRY)),
        "Commands that may run: prefixes of words. Every part of a line must be covered.",
    )
    .like(&[r#"["git {status,diff,log}", "cargo {build,check,test}", "ls"]"#]),
    key(
        "ask",
        Shape::List(&Shape::Entry(COMMAND_ENTRY)),
        "Commands that need a human.",
    )
    .like(&[r#"["git push", {"match": "npm publish", "forced": true}]"#]),
    key(
        "confirm",
        Shape::List(&Shape::Entry(COMMAND_ENTRY)),
        "The same as `ask`.",
    ),
    key(
        "deny",
        Shape::List(&Shape::Entry(COMMAND_ENTRY)),
        "Commands that are refused, wherever in a line they stand.",
    )
    .like(&[
        r#"["sudo", {"match": "rm", "with": ["-r", "-f"], "reason": "recursive forced delete", "instead": "move it to .trash/"}]"#,
    ]),
    key(
        "default",
        Shape::Verdict,
        "Verdict for a command that no rule names, in place of the tool's tier.",
    ),
    key(
        "opaque",
        Shape::Choice(&["ask", "deny", "confirm"]),
        "What becomes of a command line, or a part of one, that is not understood.",
    )
    .or(r#""ask""#),
];

static PATHS: &[Key] = &[
    key("read", Shape::Table(PATH_LISTS), "What may be read."),
    key(
        "write",
        Shape::Table(PATH_LISTS),
        "What may be written, created or deleted.",
    ),
];

static PATH_LISTS: &[Key] = &[
    key(
        "allow",
        Shape::List(&Shape::Entry(PATH_ENTRY)),
        "Paths that are open. A relative pattern holds inside the workspace roots only; `**` is everything there.",
    )
    .like(&[r#"["src/**", {"match": "docs/**", "except": ["docs/legal/**"]}]"#]),
    key(
        "ask",
        Shape::List(&Shape::Entry(PATH_ENTRY)),
        "Paths that need a human.",
    )
    .like(&[r#"["*.lock", ".github/**"]"#]),
    key(
        "confirm",
        Shape::List(&Shape::Entry(PATH_ENTRY)),
        "The same as `ask`.",
    ),
    key(
        "deny",
        Shape::List(&Shape::Entry(PATH_ENTRY)),
        "Paths that are closed. A name without a slash matches at any depth, outside the workspace too.",
    )
    .like(&[r#"["/etc/**", "~/.ssh/**"]"#]),
    key(
        "default",
        Shape::Verdict,
        "Verdict for a path that no rule names, in place of the tool's tier.",
    ),
];

static HOSTS: &[Key] = &[
    key(
        "allow",
        Shape::List(&Shape::Entry(HOST_ENTRY)),
        "Hosts that may be contacted.",
    )
    .like(&[r#"["docs.rs", "*.rust-lang.org"]"#]),
    key(
        "ask",
        Shape::List(&Shape::Entry(HOST_ENTRY)),
        "Hosts that need a human. For all others use `default`: `*` would ask about the allowed ones too.",
    ),
    key(
        "confirm",
        Shape::List(&Shape::Entry(HOST_ENTRY)),
        "The same as `ask`.",
    ),
    key(
        "deny",
        Shape::List(&Shape::Entry(HOST_ENTRY)),
        "Hosts that are closed.",
    )
    .like(&[r#"["169.254.169.254"]"#]),
    key(
        "default",
        Shape::Verdict,
        "Verdict for a host that no rule names, in place of the tool's tier.",
    ),
];

const TOOLS: Key = key(
    "tools",
    Shape::OneOrMany(&Shape::Text),
    "Tool names (globs, groups): only calls of these tools.",
)
.like(&[r#"["bash"]"#]);
const ARGS: Key = key(
    "args",
    Shape::Conditions,
    "Conditions on the tool's own arguments: dotted path → value, glob or list of them. Types never mix: true is not \"true\". An absent argument matches nothing.",
)
.like(&[r#"{"force": true, "branch": ["main", "release/*"]}"#]);
const WHEN: Key = key(
    "when",
    Shape::Conditions,
    "On only while all these facts hold: fact → value, glob or list of them. Facts are declared under `[facts]`.",
)
.like(&[r#"{"environment": "production"}"#]);
const UNLESS: Key = key(
    "unless",
    Shape::Conditions,
    "Off while all these facts hold.",
)
.like(&[r#"{"role": "sre"}"#]);
const EXCEPT: Key = key(
    "except",
    Shape::OneOrMany(&Shape::Text),
    "Carve-outs, spelled like what the rule matches.",
);
const WITH: Key = key(
    "with",
    Shape::OneOrMany(&Shape::Text),
    "Words that must all be present, wherever they stand after the program; `|` separates spellings of one. Options are understood: `-r` is found in `-rf`.",
)
.like(&[r#"["-r|--recursive", "-f"]"#]);
const WITHOUT: Key = key(
    "without",
    Shape::OneOrMany(&Shape::Text),
    "Words that must not be present, spelled as in `with`.",
)
.like(&[r#"["--dry-run"]"#]);
const OPERANDS: Key = key(
    "operands",
    Shape::OneOrMany(&Shape::Text),
    "Path patterns for the files and folders that the command names. Allow: there is at least one, and every one matches. Ask and deny: any matches.",
)
.like(&[r#"["target/**"]"#]);
const EXACT: Key = key(
    "exact",
    Shape::Bool,
    "A command: no further words. A path: itself, not what lies below.",
)
.or("false");
const ONLY: Key = key(
    "only",
    Shape::Choice(&["read"]),
    "Allow rules: only while everything the command does is reading.",
);
const FORCED: Key = key(
    "forced",
    Shape::Bool,
    "Ask rules: only a fresh human decision satisfies it, never a grant, endorsement or mode.",
)
.or("false");
const ID: Key = key(
    "id",
    Shape::Text,
    "The rule's name in decisions, approvals, grants and `disable`. Without one it is known by its address, such as `commands.deny[1]`.",
)
.like(&[r#""no-force-push""#]);
const REASON: Key = key(
    "reason",
    Shape::Text,
    "Why; shown to the human and to the model.",
);
const INSTEAD: Key = key(
    "instead",
    Shape::Text,
    "What the model should do instead: one that is told so stops trying.",
);
const EXAMPLES: Key = key(
    "examples",
    Shape::Table(EXAMPLE_LISTS),
    "Examples in the section's own spelling (a command line, a path, a host, a tool), tried whenever the policy is checked: a failing one is an error.",
);
const MATCH: Key = required(
    "match",
    Shape::OneOrMany(&Shape::Text),
    "The pattern, or several (any of them matches).",
);
const ACCESS: Key = key(
    "access",
    Shape::Choice(&["read", "write", "both"]),
    "With `paths`: reading, writing or both.",
)
.or(r#""both""#);

static EXAMPLE_LISTS: &[Key] = &[
    key(
        "match",
        Shape::List(&Shape::Text),
        "Each must be matched by the rule.",
    ),
    key(
        "no_match",
        Shape::List(&Shape::Text),
        "None may be matched by the rule.",
    ),
];

static COMMAND_ENTRY: &[Key] = &[
    MATCH, TOOLS, ARGS, WHEN, UNLESS, EXCEPT, WITH, WITHOUT, OPERANDS, EXACT, ONLY, FORCED, ID,
    REASON, INSTEAD, EXAMPLES,
];
static PATH_ENTRY: &[Key] = &[
    MATCH, TOOLS, ARGS, WHEN, UNLESS, EXCEPT, EXACT, FORCED, ID, REASON, INSTEAD, EXAMPLES,
];
static HOST_ENTRY: &[Key] = &[
    MATCH, TOOLS, ARGS, WHEN, UNLESS, EXCEPT, FORCED, ID, REASON, INSTEAD, EXAMPLES,
];

static RULE: &[Key] = &[
    required(
        "action",
        Shape::Verdict,
        "The verdict: `allow`, `ask` or `deny`.",
    ),
    TOOLS,
    key(
        "commands",
        Shape::OneOrMany(&Shape::Text),
        "Command patterns. At most one of `commands`, `paths`, `hosts`; none of them: the rule judges the tool as such.",
    )
    .like(&[r#"["kubectl {apply,delete}"]"#]),
    key(
        "paths",
        Shape::OneOrMany(&Shape::Text),
        "Path patterns; `access` says for what.",
    )
    .like(&[r#"["infra/**"]"#]),
    ACCESS,
    key("hosts", Shape::OneOrMany(&Shape::Text), "Host patterns.").like(&[r#"["*.internal"]"#]),
    ARGS,
    WHEN,
    UNLESS,
    EXCEPT,
    WITH,
    WITHOUT,
    OPERANDS,
    EXACT,
    ONLY,
    FORCED,
    ID,
    REASON,
    INSTEAD,
    EXAMPLES,
];

static PROTECTED: &[Key] = &[
    required(
        "files",
        Shape::OneOrMany(&Shape::Text),
        "Path patterns; a name without a slash matches at any depth, inside the workspace and out of it.",
    )
    .like(&[r#"[".env", ".env.*", "*.pem", "id_{rsa,ed25519}"]"#]),
    EXCEPT,
    key(
        "from",
        Shape::OneOrMany(&Shape::Choice(&["read", "write"])),
        "What they are protected from.",
    )
    .or(r#"["read", "write"]"#),
    REASON,
    INSTEAD,
    EXAMPLES,
];

static SOURCE: &[Key] = &[
    key(
        "name",
        Shape::Text,
        "Its name in the `verdicts` of a call; a source without a name is consulted last.",
    )
    .like(&[r#""risk""#]),
    key(
        "on_error",
        Shape::Choice(&["ask", "confirm", "deny", "abstain"]),
        "What an error, or no answer, counts as; `abstain`: nothing.",
    )
    .or(r#""ask""#),
    key("about", Shape::Text, "Who it is, for people."),
];

static MESSAGES: &[Key] = &[
    key(
        "denied",
        Shape::Text,
        "A rule, a protected file, the workspace, the mode or an unknown tool refuses the call.",
    ),
    key(
        "disabled",
        Shape::Text,
        "The tool's tier or an outside verdict refuses the call.",
    ),
    key(
        "arguments",
        Shape::Text,
        "The arguments are not what the tool declares.",
    ),
    key("asked", Shape::Text, "The call needs a human."),
    key("refused_by_human", Shape::Text, "A human refused the call."),
    key(
        "canceled",
        Shape::Text,
        "Nobody decided in time, or the run was cancelled.",
    ),
    key(
        "persist_failed",
        Shape::Text,
        "The question could not be stored, so nobody was asked.",
    ),
    key("unavailable", Shape::Text, "The tool is no longer there."),
];

/// The names that `[messages]` knows.
pub fn message_names() -> impl Iterator<Item = &'static str> {
    MESSAGES.iter().map(|key| key.name)
}

static INVARIANT: &[Key] = &[
    required("id", Shape::Text, "Its name, told where it is broken.")
        .like(&[r#""prod-is-closed""#]),
    required(
        "never_allow",
        Shape::Table(NEVER_ALLOW),
        "What no call may be allowed to do: spelled as in a rule.",
    ),
    WHEN,
    REASON,
];

static NEVER_ALLOW: &[Key] = &[
    TOOLS,
    key(
        "commands",
        Shape::OneOrMany(&Shape::Text),
        "Command patterns.",
    ),
    key("paths", Shape::OneOrMany(&Shape::Text), "Path patterns."),
    ACCESS,
    key("hosts", Shape::OneOrMany(&Shape::Text), "Host patterns."),
];

/// Compares a tree with the key table; everything that does not fit is a finding, and the rest goes on.
pub fn check(source: &Arc<Source>, root: &Node) -> Vec<Finding> {
    let mut checker = Checker {
        source,
        findings: Vec::new(),
    };
    checker.table(root, POLICY, At::Policy);
    checker.findings
}

/// Where the checker stands, for messages: written out only where one is told.
#[derive(Clone, Copy)]
enum At<'a> {
    Policy,
    Rule,
    /// A key, by its address as far as that can be said in one: `protected.secrets`.
    Key(&'a At<'a>, &'a str),
    Entry(&'a At<'a>),
}

impl std::fmt::Display for At<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Policy => f.write_str("the policy"),
            Self::Rule => f.write_str("the rule"),
            Self::Entry(list) => write!(f, "an entry of {list}"),
            Self::Key(..) => {
                f.write_str("`")?;
                self.address(f)?;
                f.write_str("`")
            }
        }
    }
}

impl At<'_> {
    fn address(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Key(outer, name) = self else {
            return Ok(());
        };
        if matches!(outer, Self::Key(..)) {
            outer.address(f)?;
            f.write_str(".")?;
        }
        f.write_str(name)
    }
}

struct Checker<'a> {
    source: &'a Arc<Source>,
    findings: Vec<Finding>,
}

impl Checker<'_> {
    fn error(&mut self, code: &'static str, span: Span, message: String) -> &mut Finding {
        let finding = Finding::error(code, message, self.source, span);
        pushed(&mut self.findings, finding)
    }

    fn wrong_type(&mut self, node: &Node, at: At<'_>, wanted: &str) {
        let message = format!("{at} takes {wanted}, not {}", node.value.kind());
        let label = match &node.value {
            Value::Table(table) => match table.entries.first() {
                Some(entry) => format!("this is a table that holds `{}`", entry.key.name),
                None => "this is an empty table".to_owned(),
            },
            value => format!("this is {}", value.kind()),
        };
        if let Some(first) = self
            .error("wrong-type", node.span, message)
            .labels
            .first_mut()
        {
            first.text = label;
        }
    }

    /// What to type, for the error just told.
    fn advise(&mut self, help: String) {
        if let Some(last) = self.findings.last_mut() {
            last.help = Some(help);
        }
    }

    fn table(&mut self, node: &Node, keys: &'static [Key], at: At<'_>) {
        let Value::Table(table) = &node.value else {
            return self.wrong_type(node, at, "a table");
        };
        for entry in &table.entries {
            let name = entry.key.name.as_str();
            match keys.iter().find(|key| key.name == name) {
                Some(key) => self.value(&entry.value, &key.shape, At::Key(&at, name)),
                None => self.unknown_key(&entry.key, table, keys, at),
            }
        }
        for key in keys
            .iter()
            .filter(|key| key.required && table.get(key.name).is_none())
        {
            // A whole policy or section is too long to underline: point at its start.
            let span = Span::new(node.span.start, node.span.end.min(node.span.start + 1));
            let message = format!("{at} lacks `{}`", key.name);
            let help = match key.name {
                "version" => "write `version = 1` at the top".to_owned(),
                name => {
                    // The table speaks in sentences; advice does not.
                    let mut about = key.about.trim_end_matches('.').chars();
                    let first = about.next().map(|c| c.to_ascii_lowercase());
                    let about: String = first.into_iter().chain(about).collect();
                    format!("add `{name}`: {about}")
                }
            };
            let span = if matches!(at, At::Policy) {
                span
            } else {
                node.span
            };
            self.error("missing-key", span, message).help = Some(help);
        }
    }

    fn unknown_key(&mut self, key: &Written, table: &Table, keys: &'static [Key], at: At<'_>) {
        let name = key.name.as_str();
        let near = near::nearest(name, keys.iter().map(|key| key.name));
        let elsewhere = POLICY.iter().any(|key| key.name == name) && !matches!(at, At::Policy);
        let help = match (near, moved(name)) {
            (None, None) if elsewhere => {
                format!(
                    "`{name}` is a key of the whole policy: in TOML, move it above the first `[table]`"
                )
            }
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, Some(hint)) => hint.to_owned(),
            (None, None) => {
                format!("{at} knows {}", list(keys.iter().map(|key| key.name)))
            }
        };
        let message = format!("{at} has no key `{name}`");
        // A key that stands in several places, as in headers, is one table only as long as all say the same.
        let text = &self.source.text;
        let once = || text.match_indices(name).nth(1).is_none();
        let meant = near::only(name, keys.iter().map(|key| key.name));
        let fix = meant
            .filter(|meant| once() && table.get(meant).is_none())
            .map(|meant| Fix {
                span: key.span,
                text: meant.to_owned(),
                says: format!("`{name}` becomes `{meant}`: the policy did not load before"),
            });
        let finding = self.error("unknown-key", key.span, message);
        finding.help = Some(help);
        finding.fix = fix.map(Box::new);
    }

    fn value(&mut self, node: &Node, shape: &'static Shape, at: At<'_>) {
        match shape {
            Shape::Version => match &node.value {
                Value::Integer(1) => {}
                Value::Integer(other) => {
                    let message = format!("version {other} of the policy language is not known");
                    self.error("unsupported-version", node.span, message).help =
                        Some("this acl reads `version = 1`; a newer acl may read more".into());
                }
                _ => self.wrong_type(node, at, "the number 1"),
            },
            Shape::Text => {
                if !matches!(node.value, Value::Text(_)) {
                    self.wrong_type(node, at, "text");
                }
            }
            Shape::Bool => {
                if !matches!(node.value, Value::Bool(_)) {
                    self.wrong_type(node, at, "true or false");
                    if matches!(node.value, Value::Text(_)) {
                        self.advise("write `true` or `false`, without quotes".into());
                    }
                }
            }
            Shape::Verdict => self.choice(node, VERDICTS, "unknown-verdict", at),
            Shape::Choice(words) => {
                let code = if words.contains(&"deny") {
                    "unknown-verdict"
                } else {
                    "wrong-type"
                };
                self.choice(node, words, code, at);
            }
            Shape::Count => {
                if !matches!(node.value, Value::Integer(count) if u32::try_from(count).is_ok()) {
                    self.error(
                        "wrong-type",
                        node.span,
                        format!("{at} takes a whole number, 0 or more"),
                    );
                }
            }
            Shape::Size => match node.value.as_text().map(audit::size) {
                None => self.wrong_type(node, at, "a size as text"),
                Some(Ok(_)) => {}
                Some(Err(why)) => {
                    self.error("wrong-type", node.span, why);
                }
            },
            Shape::Scalar => self.scalar(node, at, "text, a number, true or false"),
            Shape::List(inner) => match &node.value {
                Value::List(nodes) => nodes
                    .iter()
                    .for_each(|node| self.value(node, inner, At::Entry(&at))),
                Value::Text(text) => {
                    self.wrong_type(node, at, "a list");
                    self.advise(format!("write `[\"{text}\"]`"));
                }
                _ => self.wrong_type(node, at, "a list"),
            },
            Shape::OneOrMany(inner) => match &node.value {
                Value::List(nodes) => nodes
                    .iter()
                    .for_each(|node| self.value(node, inner, At::Entry(&at))),
                _ => self.value(node, inner, at),
            },
            Shape::Table(keys) => self.table(node, keys, at),
            Shape::Map(inner) => match &node.value {
                Value::Table(table) => {
                    for entry in &table.entries {
                        self.value(&entry.value, inner, At::Key(&at, &entry.key.name));
                    }
                }
                _ => self.wrong_type(node, at, "a table"),
            },
            Shape::Conditions => match &node.value {
                Value::Table(table) => table
                    .entries
                    .iter()
                    .for_each(|entry| self.condition(&entry.value, &entry.key.name)),
                _ => self.wrong_type(node, at, "a table of conditions"),
            },
            Shape::Entry(keys) => match &node.value {
                Value::Text(_) => {}
                Value::Table(_) => self.table(node, keys, At::Rule),
                _ => self.wrong_type(node, at, "a pattern or a table with `match`"),
            },
            Shape::Argument(keys) => match &node.value {
                Value::Text(_) => {}
                Value::List(nodes) => nodes
                    .iter()
                    .for_each(|node| self.value(node, &Shape::Text, at)),
                Value::Table(_) => self.table(node, keys, at),
                _ => self.wrong_type(
                    node,
                    at,
                    "the name of an argument, a list of names, or a table with `arg`",
                ),
            },
        }
    }

    fn condition(&mut self, node: &Node, name: &str) {
        let own = At::Key(&At::Rule, name);
        match &node.value {
            Value::List(nodes) => nodes
                .iter()
                .for_each(|node| self.scalar(node, At::Entry(&own), "a value")),
            Value::Table(table) => table
                .entries
                .iter()
                .for_each(|entry| self.condition(&entry.value, &entry.key.name)),
            _ => self.scalar(node, own, "a value or a list of values"),
        }
    }

    fn scalar(&mut self, node: &Node, at: At<'_>, wanted: &str) {
        if !matches!(
            node.value,
            Value::Text(_) | Value::Bool(_) | Value::Integer(_) | Value::Float(_)
        ) {
            self.wrong_type(node, at, wanted);
        }
    }

    fn choice(
        &mut self,
        node: &Node,
        words: &'static [&'static str],
        code: &'static str,
        at: At<'_>,
    ) {
        let wanted = || {
            let words = words.iter().copied();
            joined(words.filter(|word| *word != "confirm"), "or")
        };
        let Value::Text(text) = &node.value else {
            return self.wrong_type(node, at, &wanted());
        };
        if !words.contains(&text.as_str()) {
            let wanted = wanted();
            let near = near::nearest(text, words.iter().copied());
            let message = format!("{at} is {wanted}, not `{text}`");
            let finding = self.error(code, node.span, message);
            let near = near.or_else(|| meant(text).filter(|word| words.contains(word)));
            finding.help = near.map(|near| format!("did you mean `{near}`?"));
        }
    }
}

/// Keys of other systems, and where their content belongs.
fn moved(name: &str) -> Option<&'static str> {
    Some(match name {
        "permissions" | "permission" => {
            "tool verdicts stand under `[tiers]`, command patterns under `[commands]`, paths under `[paths.read]` and `[paths.write]`"
        }
        "default_policy" | "defaultPolicy" => {
            "the verdict of tools that no tier lists is `tiers.default`"
        }
        "rule" => "rules stand under `[[rules]]`",
        "case" | "cases" => "this looks like a case file: run it with `acl test FILE`",
        "allow" | "ask" | "deny" => {
            "tools stand under `[tiers]`, commands under `[commands]`, paths under `[paths.read]` and `[paths.write]`, hosts under `[hosts]`"
        }
        "block" | "blocked" | "forbidden" => "refusals stand in `deny` lists",
        "hooks" => "acl is the hook: hooks are set in the agent's own settings",
        _ => return None,
    })
}

/// Verdicts of other systems.
fn meant(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "block" | "blocked" | "forbid" | "forbidden" | "never" | "refuse" | "reject"
        | "disallow" => "deny",
        "prompt" | "approve" | "approval" | "review" | "on-request" => "ask",
        "accept" | "always" | "permit" | "pass" | "yes" => "allow",
        "ignore" | "skip" | "none" => "abstain",
        _ => return None,
    })
}

/// "`a`, `b` and `c`".
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    joined(names, "and")
}

fn joined<'a>(names: impl Iterator<Item = &'a str>, word: &str) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => "no keys".into(),
    }
}
