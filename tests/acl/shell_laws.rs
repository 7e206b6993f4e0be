//! Laws of command lines, for generated ones: whatever stands around a command or however it is spelled, it is judged
//! no looser, and no word of it is lost.
//!
//! `ACL_LAWS_SEED=n` starts elsewhere, `ACL_LAWS_LINES=n` looks further.

use crate::disk;
use crate::lines::{Lines, Rng, quoted};
use acl::call::Call;
use acl::call::access::Kind;
use acl::call::files::FileView;
use acl::call::shell::{Scene, accesses};
use acl::decision::decide;
use acl::matcher::Matcher;
use acl::policy::rule::Verdict;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

fn lines() -> Lines {
    Lines::new(number("ACL_LAWS_SEED", 11))
}

fn count() -> u64 {
    number("ACL_LAWS_LINES", 100)
}

/// Policies that deny, ask and allow some of what the lines do.
fn policies() -> Vec<Matcher> {
    [
        "[tiers]\nallow = [\"bash\"]\n[commands]\ndeny = [\"p1\", { match = \"rm\", with = [\"-x\"] }]\nask = [\"git a\"]\n",
        "[tiers]\nask = [\"bash\"]\n[commands]\nallow = [\"p1\", \"p2 a\", \"rm\", \"cat\", \"echo\", \"printf\", \"true\"]\n",
        "[tiers]\nask = [\"bash\"]\n[commands]\nallow = [\"*\"]\ndeny = [\"p3\", \"* --long=v\"]\n[paths.write]\nallow = [\"d/**\"]\n",
        "[tiers]\nallow = [\"bash\"]\n[commands]\nopaque = \"deny\"\ndeny = [\"git ** b\"]\n[protected.own]\nfiles = [\"f1\"]\n",
    ]
    .into_iter()
    .map(|text| disk::compile("policy.toml", &format!("version = 1\n{text}")))
    .collect()
}

fn judged(matcher: &Matcher, line: &str) -> Verdict {
    let mut call = Call::new("bash", serde_json::json!({"command": line}));
    call.cwd = Some("/w".into());
    call.workspace = Some("/w".into());
    call.home = Some("/home/dev".into());
    decide(matcher, &call, &FileView::None).action
}

fn scene() -> Scene<'static> {
    Scene {
        cwd: Some("/w".into()),
        home: Some("/home/dev".into()),
        ..Scene::default()
    }
}

/// A line with a command in it. What only assigns leans on the tool's tier, and with `:` or `eval` on nothing.
fn line(lines: &mut Lines) -> String {
    loop {
        let line = lines.line();
        let found = accesses(&line, &scene());
        if found
            .iter()
            .any(|access| matches!(access.kind, Kind::Command(_)))
        {
            return line;
        }
    }
}

fn never_looser(matchers: &[Matcher], alone: &str, around: &str) {
    for (index, matcher) in matchers.iter().enumerate() {
        let (was, is) = (judged(matcher, alone), judged(matcher, around));
        assert!(
            is >= was,
            "policy {index}: {was} is {alone:?}\n{is} is {around:?}\n{around}"
        );
    }
}

/// What is put around a line that runs in the same shell, or in a copy of it.
const AROUND: &[&str] = &[
    "(@\n)",
    "{ @\n}",
    "! { @\n}",
    "if true; then @\nfi",
    "if false; then :; else @\nfi",
    "if @\nthen :; fi",
    "true && { @\n}",
    "{ @\n} || true",
    "{ @\n} | cat",
    "true | { @\n}",
    "{ @\n} &",
    "time { @\n}",
    "echo $(@\n)",
    "echo \"$(@\n)\"",
    "cat <(@\n)",
    "X9=$(@\n)",
    "[[ -n $(@\n) ]]",
    "case a in a) @\n;; esac",
    "true; @",
    "@\ntrue",
    "coproc { @\n}",
    "echo \"${X9:-$(@\n)}\"",
    "cat <<E9\n$(@\n)\nE9",
];

#[test]
fn a_structure_around_a_line_never_loosens() {
    let (mut lines, matchers) = (lines(), policies());
    for _ in 0..count() {
        let line = line(&mut lines);
        for _ in 0..3 {
            let around = lines.rng.pick(AROUND).replace('@', &line);
            never_looser(&matchers, &line, &around);
        }
    }
}

#[test]
fn a_script_in_a_word_never_loosens() {
    let (mut lines, matchers) = (lines(), policies());
    for _ in 0..count() {
        let line = line(&mut lines);
        let word = quoted(&mut lines.rng, &line);
        never_looser(&matchers, &line, &format!("eval {word}"));
        // Another shell has other parameters.
        if !line.contains(['$', '`']) {
            for around in [
                "bash -c @",
                "sh -c @",
                "env bash -c @",
                "timeout 5 bash -c @",
                "bash <<< @",
            ] {
                never_looser(&matchers, &line, &around.replace('@', &word));
            }
        }
    }
}

#[test]
fn a_launcher_never_loosens() {
    let (mut lines, matchers) = (lines(), policies());
    for _ in 0..count() * 3 {
        let words = lines.plain();
        // `eval` reads its words again: quotes are gone by then.
        let words: Vec<&str> = words
            .into_iter()
            .filter(|word| word.chars().all(char::is_alphanumeric))
            .collect();
        let command = lines.spelled(&words);
        let mut around = command.clone();
        if lines.rng.percent(50) {
            around = lines.launched(&around, true);
        }
        around = lines.launched(&around, false);
        never_looser(&matchers, &command, &around);
    }
}

#[test]
fn quoting_changes_nothing() {
    let (mut lines, matchers) = (lines(), policies());
    let shown = |line: &str| -> Vec<Vec<String>> {
        let words = |access: &acl::call::access::Access| match &access.kind {
            Kind::Command(command) => command.words.iter().map(|word| word.shown()).collect(),
            kind => vec![format!("{:?}", std::mem::discriminant(kind))],
        };
        accesses(line, &scene()).iter().map(words).collect()
    };
    for _ in 0..count() * 3 {
        let words = lines.plain();
        let (one, other) = (lines.spelled(&words), lines.spelled(&words));
        assert_eq!(shown(&one), shown(&other), "{one}\n{other}");
        for matcher in &matchers {
            assert_eq!(
                judged(matcher, &one),
                judged(matcher, &other),
                "{one}\n{other}"
            );
        }
    }
}

/// Every command's own word lies in the span of some access.
#[test]
fn no_word_is_lost() {
    let mut lines = lines();
    for _ in 0..count() * 3 {
        let line = lines.marked();
        let found = accesses(&line, &scene());
        for number in 1.. {
            let mark = format!(" w{number}");
            let ends = |at: usize| {
                !line[at + mark.len()..].starts_with(|next: char| next.is_ascii_digit())
            };
            let Some((at, _)) = line.match_indices(&mark).find(|(at, _)| ends(*at)) else {
                break;
            };
            let spans = || found.iter().filter_map(|access| access.span);
            assert!(
                spans().any(|span| span.start <= at + 1 && at + mark.len() <= span.end),
                "{mark} of {line:?}\n{line}\n{found:#?}"
            );
        }
    }
}

/// An option in all its spellings: one letter, long names (abbreviated too), a value.
struct Option {
    short: &'static str,
    long: &'static [&'static str],
    value: &'static str,
}

const fn flag(short: &'static str, long: &'static [&'static str]) -> Option {
    Option {
        short,
        long,
        value: "",
    }
}

const fn value(short: &'static str, long: &'static [&'static str], value: &'static str) -> Option {
    Option { short, long, value }
}

/// Programs, their options, and their operands.
const PROGRAMS: &[(&str, &[Option], &[&str])] = &[
    (
        "rm",
        &[
            flag("r", &["recursive", "recurs", "r"]),
            flag("f", &["force", "fo", "f"]),
            flag("v", &["verbose", "verb"]),
        ],
        &["a", "d/b"],
    ),
    (
        "cp",
        &[
            flag("r", &["recursive", "rec"]),
            flag("v", &["verbose"]),
            value("t", &["target-directory", "target"], "d"),
        ],
        &["a", "f1"],
    ),
    (
        "sort",
        &[
            flag("r", &["reverse", "rev"]),
            flag("u", &["unique", "uni"]),
            value("o", &["output", "out", "o"], "f1"),
            value("k", &["key"], "2"),
        ],
        &["a"],
    ),
    (
        "sed",
        &[
            flag("n", &["quiet", "silent"]),
            flag("E", &["regexp-extended"]),
            flag("i", &["in-place", "in-p"]),
            value("e", &["expression", "expr"], "p"),
        ],
        &["f1"],
    ),
    (
        "grep",
        &[
            flag("r", &["recursive"]),
            flag("i", &["ignore-case"]),
            flag("l", &["files-with-matches"]),
            value("e", &["regexp", "regex"], "x"),
            value("f", &["file"], "f1"),
        ],
        &["d"],
    ),
    (
        "curl",
        &[
            flag("s", &["silent"]),
            flag("L", &["location"]),
            value("o", &["output"], "f1"),
            value("d", &["data"], "x=1"),
        ],
        &["https://example.org/"],
    ),
    (
        "tar",
        &[
            flag("x", &["extract", "get"]),
            flag("v", &["verbose"]),
            value("C", &["directory", "direc"], "d"),
            value("f", &["file"], "a.tar"),
        ],
        &["b"],
    ),
    (
        "git push",
        &[
            flag("f", &["force"]),
            flag("v", &["verbose"]),
            flag("n", &["dry-run"]),
        ],
        &["origin", "main"],
    ),
    (
        "mv",
        &[
            flag("f", &["force"]),
            flag("v", &["verbose", "verb"]),
            value("t", &["target-directory"], "d"),
        ],
        &["a"],
    ),
    (
        "ln",
        &[
            flag("s", &["symbolic", "sym"]),
            flag("f", &["force", "fo"]),
            flag("v", &["verbose"]),
        ],
        &["a", "b"],
    ),
    (
        "mkdir",
        &[
            flag("p", &["parents", "par"]),
            flag("v", &["verbose"]),
            value("m", &["mode"], "700"),
        ],
        &["b"],
    ),
    (
        "ls",
        &[
            flag("a", &["all"]),
            flag("R", &["recursive", "recu"]),
            flag("h", &["human-readable", "human"]),
        ],
        &["d"],
    ),
    (
        "uniq",
        &[
            flag("c", &["count"]),
            flag("d", &["repeated"]),
            value("f", &["skip-fields"], "1"),
        ],
        &["a"],
    ),
    (
        "tee",
        &[
            flag("a", &["append", "app"]),
            flag("i", &["ignore-interrupts"]),
        ],
        &["b"],
    ),
    (
        "head",
        &[
            flag("q", &["quiet", "silent"]),
            flag("v", &["verbose"]),
            value("n", &["lines", "li"], "1"),
        ],
        &["a"],
    ),
    (
        "tail",
        &[
            flag("q", &["quiet", "silent"]),
            value("n", &["lines"], "1"),
            value("c", &["bytes"], "9"),
        ],
        &["a"],
    ),
    (
        "du",
        &[
            flag("s", &["summarize"]),
            flag("h", &["human-readable"]),
            flag("a", &["all"]),
        ],
        &["d"],
    ),
    (
        "wc",
        &[
            flag("l", &["lines"]),
            flag("w", &["words"]),
            flag("c", &["bytes"]),
        ],
        &["a"],
    ),
    (
        "diff",
        &[
            flag("r", &["recursive"]),
            flag("q", &["brief"]),
            flag("i", &["ignore-case"]),
        ],
        &["a", "b"],
    ),
    (
        "gzip",
        &[
            flag("d", &["decompress", "uncompress"]),
            flag("k", &["keep"]),
            flag("f", &["force"]),
        ],
        &["a"],
    ),
    (
        "chown",
        &[flag("R", &["recursive"]), flag("v", &["verbose"])],
        &["u", "d"],
    ),
    (
        "chmod",
        &[flag("R", &["recursive"]), flag("v", &["verbose"])],
        &["700", "d"],
    ),
    (
        "wget",
        &[
            flag("q", &["quiet"]),
            value("O", &["output-document"], "f1"),
            value("P", &["directory-prefix"], "d"),
        ],
        &["https://example.org/"],
    ),
];

impl Option {
    /// One of its spellings as words.
    fn spelled(&self, rng: &mut Rng) -> Vec<String> {
        let long = rng.percent(50);
        match (long, self.value) {
            (false, "") => vec![format!("-{}", self.short)],
            (true, "") => vec![format!("--{}", rng.pick(self.long))],
            (false, value) if rng.percent(50) => vec![format!("-{}{value}", self.short)],
            (false, value) => vec![format!("-{}", self.short), value.to_owned()],
            (true, value) if rng.percent(50) => vec![format!("--{}={value}", rng.pick(self.long))],
            (true, value) => vec![format!("--{}", rng.pick(self.long)), value.to_owned()],
        }
    }
}

fn respelled(program: &str, options: &[&Option], operands: &[&str], rng: &mut Rng) -> String {
    let mut left: Vec<&Option> = options.to_vec();
    let mut words: Vec<Vec<String>> = Vec::new();
    if rng.percent(50) {
        // Letters in one cluster, one with a value at its end.
        let (with, mut letters): (Vec<&Option>, Vec<&Option>) =
            left.drain(..).partition(|option| !option.value.is_empty());
        if !letters.is_empty() {
            let by = rng.below(letters.len());
            letters.rotate_left(by);
            let mut cluster: String = letters.iter().map(|option| option.short).collect();
            cluster.insert(0, '-');
            let mut own = vec![cluster];
            left = with;
            // `sed -ni` is a cluster, `sed -in` is not.
            if program == "sed" && own[0].contains('i') && !own[0].ends_with('i') {
                own = letters
                    .iter()
                    .map(|option| format!("-{}", option.short))
                    .collect();
            } else if let Some(last) = left.pop().filter(|_| program != "sed") {
                own[0].push_str(last.short);
                match rng.percent(50) {
                    true => own[0].push_str(last.value),
                    false => own.push(last.value.to_owned()),
                }
            } else {
                left = options
                    .iter()
                    .filter(|option| !option.value.is_empty())
                    .copied()
                    .collect();
            }
            words.push(own);
        } else {
            left = with;
        }
    }
    while !left.is_empty() {
        let option = left.remove(rng.below(left.len()));
        words.push(option.spelled(rng));
    }
    // The first word of `tar` may be options without a dash.
    let at = match program {
        "tar" => words.len(),
        _ => rng.below(words.len() + 1),
    };
    let last = words.split_off(at);
    let all: Vec<String> = words
        .into_iter()
        .flatten()
        .chain(operands.iter().map(|operand| (*operand).to_owned()))
        .chain(last.into_iter().flatten())
        .collect();
    let quoted: Vec<String> = all.iter().map(|word| quoted(rng, word)).collect();
    format!("{program} {}", quoted.join(" "))
}

#[test]
fn how_an_option_is_spelled_changes_nothing() {
    let mut rng = Rng(number("ACL_LAWS_SEED", 11));
    let mut wrong = std::collections::BTreeMap::new();
    for (program, options, operands) in PROGRAMS {
        let mut matchers = policies();
        for option in *options {
            let longs = option.long.first().unwrap();
            for name in [format!("-{}", option.short), format!("--{longs}")] {
                let deny = format!(
                    "version = 1\n[tiers]\nallow = [\"bash\"]\n[commands]\ndeny = [{{ match = {program:?}, with = [{name:?}] }}]\n"
                );
                matchers.push(disk::compile("policy.toml", &deny));
                let allow = format!(
                    "version = 1\n[tiers]\nask = [\"bash\"]\n[commands]\nallow = [{{ match = {program:?}, without = [{name:?}] }}]\n"
                );
                matchers.push(disk::compile("policy.toml", &allow));
            }
        }
        for _ in 0..count() / 10 {
            let chosen: Vec<&Option> = options.iter().filter(|_| rng.percent(60)).collect();
            let (one, other) = (
                respelled(program, &chosen, operands, &mut rng),
                respelled(program, &chosen, operands, &mut rng),
            );
            for (index, matcher) in matchers.iter().enumerate() {
                if judged(matcher, &one) != judged(matcher, &other) {
                    wrong
                        .entry((*program, index))
                        .or_insert((one.clone(), other.clone()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
