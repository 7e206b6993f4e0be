//! No text makes the shell analysis abort, panic or hang (the run itself would not end), and none makes it find
//! nothing. How fast it is, the benches show.

use crate::disk;
use acl::call::Call;
use acl::call::access::Kind;
use acl::call::files::FileView;
use acl::call::shell::{Scene, accesses, outline};
use acl::decision::decide;
use acl::matcher::Matcher;
use acl::policy::LayerKind;
use acl::policy::rule::Verdict;
use proptest::prelude::*;

const OPENERS: &[&str] = &[
    "(",
    "{ ",
    "$(",
    "`",
    "<(",
    ">(",
    "[[ ",
    "if ",
    "while ",
    "until ",
    "case x in a) ",
    "! ",
    "for x in a; do ",
    "((",
    "$((",
    "${x:-",
    "\"",
    "'",
    "\"$(",
    "\"${x:-",
    "f() { ",
    "function f { ",
    "function f ",
    "coproc ",
    "select x in a; do ",
    "$[",
    "[[ ( ",
    "a[",
    "a=(",
    "declare a=(",
    "?(",
    "time ",
    "if a; then ",
    "a && ",
    "a | ",
    "a || ",
    "x=$(",
    "cat <<E\n$(",
    "cat <<E\n",
    "$'",
    "for ((",
    "\\",
    "eval '",
    "bash -c \"",
    "sudo ",
    "env ",
    "timeout 1 ",
    "command ",
    "{a,",
    "{",
    "f() (",
    "case ",
    "${ ",
    "`\\`",
    "$\"",
    "# ",
    "<<<",
    "<<E ",
    "${x[",
    "${!",
    "[[ a =~ (",
    "a=${x:=",
    "((a); ",
    "$((a); (b",
    "\\\n",
    "~",
    "*",
    "[",
    "\n",
    ";",
    "&",
    "|",
    "\r",
    "\u{a0}",
    "é",
    "1>",
    "a b ",
];

fn scene() -> Scene<'static> {
    Scene {
        cwd: Some("/w".to_owned()),
        home: Some("/home/dev".to_owned()),
        ..Scene::default()
    }
}

fn check(line: &str) {
    let found = accesses(line, &scene());
    let head: String = line.chars().take(120).collect();
    for access in &found {
        let span = access.span.unwrap();
        assert!(
            line.get(span.start..span.end).is_some(),
            "{span:?} in {head:?}"
        );
    }
    if !outline(line).valid {
        let opaque = found
            .iter()
            .any(|access| matches!(access.kind, Kind::Opaque(_)));
        assert!(opaque, "not understood and yet not opaque: {head:?}");
    }
}

/// On a stack that is smaller than any thread's.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(1024 * 1024)
        .spawn(test)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn nested_openers() {
    on_small_stack(|| {
        for opener in OPENERS {
            let sizes: &[usize] = if cfg!(debug_assertions) {
                &[100, 2_000, 65_536]
            } else {
                &[100, 2_000, 65_536, 1 << 20]
            };
            for size in sizes {
                check(&opener.repeat(size / opener.len()));
            }
        }
    });
}

#[test]
fn alternating_openers() {
    on_small_stack(|| {
        for (i, a) in OPENERS.iter().enumerate() {
            for (j, b) in OPENERS.iter().enumerate() {
                // A debug build takes every seventh pair; a release build takes all.
                if cfg!(debug_assertions) && (i * 3 + j) % 7 != 0 {
                    continue;
                }
                let pair = format!("{a}{b}");
                check(&pair.repeat(800 / pair.len()));
                check(&format!("{}x{}", a.repeat(40), b.repeat(40)));
            }
        }
    });
}

#[test]
fn more_commands_than_are_followed() {
    let line = "a;".repeat(25_000) + "b";
    let found = accesses(&line, &scene());
    let told = found.iter().any(|access| {
        matches!(&access.kind, Kind::Opaque(own) if own.why.starts_with("more commands than are followed"))
    });
    assert!(told);
}

/// What is computed within what is computed stands in the outermost line.
#[test]
fn computed_within_computed() {
    check("abcé; bash -c \"`\\``\\`\"");
}

#[test]
fn growing_scripts() {
    on_small_stack(|| {
        let lines = [
            "X=1; ".repeat(10_000),
            "ls;".repeat(25_000),
            (0..8_000).map(|n| format!("f{n}(){{ a;}};")).collect(),
            (0..8_000).map(|n| format!("X{n}=1;f(){{ a;}};")).collect(),
            (0..8_000)
                .map(|n| format!("X{n}=1;trap 'rm $X{n}' 0;"))
                .collect(),
            (0..6_000)
                .map(|n| format!("X{n}={n}; if a; then X{n}=2; fi; "))
                .collect(),
            format!("X=aaaaaaaa; {}", "X=$X$X; ".repeat(4_000)),
            format!("X=a; {}", "for x in 1 2 3 4 5 6 7 8; do ".repeat(30))
                + "X=$X$x; rm $X; "
                + &"done; ".repeat(30),
            format!("X=a; {}", "while Y=$X; do ".repeat(30))
                + "X=$Y; rm $X; "
                + &"done; ".repeat(30),
            (0..40)
                .map(|n| format!("f{n}() {{ f{0}; f{0}; f{0}; }}; ", n + 1))
                .collect::<String>()
                + "f0",
            "f() { f; f; f; g; }; g() { f; g; f; }; f; g".to_owned(),
            format!("X='{}'; eval \"$X\"", "eval \"$X\"; ".repeat(50)),
            "cd a; ".repeat(10_000),
            "cd a && ".repeat(5_000) + "ls",
            format!("git {}status", "-C a ".repeat(5_000)),
            (0..2_000).fold(String::new(), |line, at| {
                format!("{line}mv a{at} a{};", at + 1)
            }),
            "alias a=b; alias b='a; a'; ".repeat(100) + "a",
            "cat <<A <<B <<C\n".repeat(2_000),
            "trap 'trap \"rm x\" EXIT; f' EXIT; f() { trap f EXIT; }; ".repeat(50),
            "echo x | ".repeat(8_000) + "bash",
            "wc|".repeat(20_000) + "wc",
            "{a,b}".repeat(1_000),
            format!("echo {}", "{1..9}".repeat(20)),
            format!(
                "set -- {}; {}",
                "a ".repeat(200),
                "set -- \"$@\" \"$@\"; ".repeat(40)
            ),
            "$(echo `echo \"$(echo ${x:-$((1+`a`))})\"`); ".repeat(1_000),
            "x() { if a; then return; fi; X=$1; x $X; }; ".repeat(500) + "x 1",
            "case a in a) b;; ".repeat(49),
            "'".to_owned() + &"\"a' ".repeat(20_000),
            "\"$(a \"".repeat(10_000),
            "a\\\n".repeat(20_000),
            "<<E\n".repeat(10_000) + "E\n",
            "bash -c '".to_owned() + &"bash -c \"a\"; ".repeat(3_000) + "'",
        ];
        for line in &lines {
            check(line);
        }
    });
}

/// Words, options and lists of 64 KiB are decided, and what no file system takes for a path is never allowed.
#[test]
fn long_words_and_lists() {
    on_small_stack(|| {
        let source = disk::source("policies/recommended.toml").unwrap();
        let policy = disk::load(vec![disk::root(LayerKind::User, source)]).unwrap();
        let matcher = Matcher::compile(policy);
        let decided = |line: &str| {
            let args = serde_json::json!({ "command": line });
            let call = Call {
                cwd: Some("/w".into()),
                ..Call::new("bash", args)
            };
            decide(&matcher, &call, &FileView::None).action
        };
        let full = |start: &str, text: &str| format!("{start}{}", text.repeat(65_536 / text.len()));
        for line in [
            full("cat ", "a/"),
            full("rm ", "a/"),
            full("cat ", "../"),
            full("cat /w", "/proc/self/root"),
            full("cat ", "a*"),
            full("tar -x ", "-C a -f b "),
            full("tar c ", "-C a b "),
            full(&format!("cd {}; cat ", "a/".repeat(400)), "x "),
        ] {
            assert_ne!(decided(&line), Verdict::Allow);
        }
        for line in [
            full("printf %s ", "a "),
            full("grep ", "-e a "),
            full("ls ", "-l "),
        ] {
            assert_eq!(decided(&line), Verdict::Allow);
        }
    });
}

fn fragments() -> impl Strategy<Value = String> {
    let closers = [
        ")",
        "}",
        "; }",
        "; fi",
        "; done",
        "; then ",
        "; do ",
        " esac",
        ";;",
        "]]",
        "))",
        "\"",
        "'",
        "`",
        "\nE\n",
        "]",
        " in ",
        "; else ",
        "; ",
        "rm -rf x",
        "git status",
        " > out",
        " < in",
        "X=1",
        "$X",
        "cd d",
        " 2>&1",
        "echo a",
        "source x",
        "alias a=b",
        "set -- a b",
        "$1",
        "local Y=2",
        "export PATH=/x",
        "break",
        "return",
        "exit",
        "read X",
        "*.rs",
        "\0",
        "'rm x'",
        "unset X",
        "trap 'a' EXIT",
        "f",
    ];
    let all: Vec<&'static str> = OPENERS.iter().copied().chain(closers).collect();
    prop::collection::vec(prop::sample::select(all), 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(line in any::<String>()) {
        check(&line);
    }

    #[test]
    fn any_fragments(line in fragments()) {
        check(&line);
    }

    /// Wrapping a command never loses it.
    #[test]
    fn wrapped(index in 0_usize..14) {
        let wraps = [
            "a && @", "a; @", "a | @", "(@)", "$(@)", "bash -c '@'", "env X=1 @", "timeout 5 @", "! @", "{ @; }",
            "if a; then @; fi", "echo \"$(@)\"", "f() { @; }; f", "eval '@'",
        ];
        let line = wraps[index].replace('@', "rm -rf x");
        let found = accesses(&line, &scene());
        let rm = found.iter().any(|access| match &access.kind {
            Kind::Command(command) => command.words.iter().map(|word| word.shown()).collect::<Vec<_>>() == ["rm", "-rf", "x"],
            _ => false,
        });
        prop_assert!(rm, "{line}");
    }

    /// Behind any broken text, a command on a line of its own is still seen, or the line is opaque.
    #[test]
    fn accounted(line in fragments()) {
        let line = format!("{line}\nrm -rf victim");
        let found = accesses(&line, &scene());
        let seen = found.iter().any(|access| match &access.kind {
            Kind::Command(command) => command.words.iter().any(|word| word.shown().contains("victim")),
            Kind::Opaque(_) => true,
            _ => false,
        });
        // A quote, a heredoc or a comment may have swallowed it, as in bash.
        let swallowed = ["'", "\"", "<<", "# ", "$'", "a=(", "case ", "\\", "for ", "select ", "[[ "].iter().any(|quote| line.contains(quote));
        prop_assert!(seen || swallowed, "{line:?}: {found:?}");
    }
}
