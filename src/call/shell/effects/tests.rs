//! The examples of every entry, tricky lines, and what the table must hold.
//!
//! An expectation lists what a line does, in order: `read a`, `write! a` (must be named), `read a/**` (all below,
//! `a/*` without dot files), `write a/?` (unknown names below), `read? a` (may be a path), `name a`, `host h`,
//! `! -x` (an escalation at that word, `! stdin` for one that cannot be named), `run a b` (with `…`: words are
//! added), `script s`, `joined a b`, `stdin`, `file f`, `code f`, `opaque`; `changes` where something else than
//! files changes; `nothing`.

use super::*;
use crate::call::access::Trigger;
use crate::call::programs::{self, examples};
use crate::call::word::Piece;

/// A line's words, as far as tests need: quotes, `$X` (unknown, several words), `"$X"` (one), globs.
fn split(line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    let mut word: Option<Word> = None;
    let text = |word: &mut Option<Word>, c: char| {
        let word = word.get_or_insert_with(Word::default);
        word.pieces.add(Piece::Text(c.to_string().into()));
    };
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => {
                word.get_or_insert_with(Word::default);
                for c in chars.by_ref().take_while(|c| *c != '\'') {
                    text(&mut word, c);
                }
            }
            '"' => {
                word.get_or_insert_with(Word::default);
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => text(&mut word, chars.next().unwrap()),
                        '$' => {
                            let mut name = "$".to_owned();
                            while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric()) {
                                name.push(c);
                            }
                            word.get_or_insert_with(Word::default)
                                .pieces
                                .push(Piece::Unknown(name.into()));
                        }
                        c => text(&mut word, c),
                    }
                }
            }
            '\\' => text(&mut word, chars.next().unwrap()),
            '*' => word
                .get_or_insert_with(Word::default)
                .pieces
                .push(Piece::Star),
            '$' => {
                let mut name = "$".to_owned();
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric()) {
                    name.push(c);
                }
                let word = word.get_or_insert_with(Word::default);
                word.pieces.push(Piece::Unknown(name.into()));
                word.splits = true;
            }
            c => text(&mut word, c),
        }
    }
    words.extend(word);
    words
}

fn run(line: &str) -> (Vec<Word>, Outcome) {
    let (line, stdin) = match line.strip_prefix("| ") {
        Some(line) => (line, Stdin::Fed),
        None => (line, Stdin::None),
    };
    let words = split(line);
    let out = outcome(&words, stdin);
    (words, out)
}

fn shown(line: &str) -> String {
    let (words, out) = run(line);
    let at = |index: usize| words.get(index).map(Word::shown).unwrap_or_default();
    let join = |from: usize, end: usize, more: bool| {
        let words: Vec<String> = (from..end).map(at).collect();
        words.join(" ") + if more { " …" } else { "" }
    };
    let mut all = Vec::new();
    for effect in &out.effects {
        let bang = if effect.naming.is_some() { "!" } else { "" };
        let end = |reach: Reach| match reach {
            Reach::Itself => "",
            Reach::Below { hidden: true } => "/**",
            Reach::Below { hidden: false } => "/*",
            Reach::SomethingBelow => "/?",
        };
        let value = effect.value.shown();
        all.push(match effect.what {
            What::Path {
                mode: Mode::Write,
                certain: false,
                ..
            } => continue,
            What::Path {
                mode,
                reach,
                certain,
            } => {
                let verb = if mode == Mode::Read { "read" } else { "write" };
                format!(
                    "{verb}{}{bang} {value}{}",
                    if certain { "" } else { "?" },
                    end(reach)
                )
            }
            What::Name { reach } => format!("name{bang} {value}{}", end(reach)),
            What::Host => format!("host{bang} {value}"),
        });
    }
    for escalation in &out.escalations {
        all.push(match escalation.at {
            Trigger::Word(index) => format!("! {}", at(index)),
            Trigger::Assignment(_) => "! assignment".to_owned(),
            Trigger::Unnamed => "! stdin".to_owned(),
        });
    }
    for starts in &out.starts {
        all.push(match starts {
            Starts::Words {
                from, end, more, ..
            } => format!("run {}", join(*from, *end, *more)),
            Starts::Joined { from, end, more } => format!("joined {}", join(*from, *end, *more)),
            Starts::Script { word, .. } => format!("script {}", at(*word)),
            Starts::Value { script, .. } => format!("script {}", script.shown()),
            Starts::Stdin => "stdin".to_owned(),
            Starts::Console => "console".to_owned(),
            Starts::File { word } => format!("file {}", at(*word)),
            Starts::Code { word } => format!("code {}", at(*word)),
            Starts::Opaque(_) => "opaque".to_owned(),
        });
    }
    let writes = |effect: &Effect| {
        matches!(
            effect.what,
            What::Path {
                mode: Mode::Write,
                certain: true,
                ..
            }
        )
    };
    let explained =
        out.effects.iter().any(writes) || !out.escalations.is_empty() || !out.starts.is_empty();
    if out.known && !out.only_reads && !explained {
        all.push("changes".to_owned());
    }
    if all.is_empty() {
        "nothing".to_owned()
    } else {
        all.join(", ")
    }
}

fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(line, expected)| (line, expected, shown(line)))
        .filter(|(_, expected, found)| expected != &found)
        .map(|(line, expected, found)| {
            format!("{line}\n    expected {expected}\n    found    {found}")
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} wrong:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn examples_of_every_entry() {
    check(examples::ALL);
}

/// Options that are shortened, clustered, attached or unknown; words that cannot be computed; names in all spellings.
#[test]
fn tricky_lines() {
    check(&[
        ("", "nothing"),
        ("$X a", "read? a, opaque"),
        (
            "frobnicate .env --file=x -I/y --no",
            "read? .env, read? x, read? /y",
        ),
        ("frobnicate -- -x", "read? -x"),
        ("/usr/bin/rm x", "write x"),
        ("/proc/self/root/bin/rm -rf x", "write x/**"),
        ("./sed s/a/b/ x", "read x, changes"),
        ("python3.12 -c x", "! -c"),
        ("g++-12 a.cc", "read a.cc, changes"),
        ("git-push -f", "changes"),
        ("git-frob x", "read? x"),
        ("rm --forc --recur x", "write x/**"),
        ("rm -r -- --help", "write --help/**"),
        ("rm -rf$X y", "write y/**, ! -rf$X"),
        ("cp $X b", "read $X, write b"),
        ("cp a $X", "read a, read $X, write $X"),
        ("cp a \"$X\"", "read a, write $X"),
        ("sort --output b a", "write! b, read a"),
        ("sort -bo b a", "write! b, read a"),
        ("cat -- -o", "read -o"),
        ("tee /dev/null /dev/stderr x", "write x"),
        ("sed -n -e p -e 'w a' x", "write! a, read x"),
        ("sed 's|a|b|;s#x#y#w out' f", "write! out, read f"),
        ("sed 's/[/]w/x/' f", "read f"),
        ("sed 'y/abc/xyz/;/^#/d;$!{N;D}' f", "read f"),
        ("sed ':a;N;$!ba;s/\\n/ /g' f", "read f"),
        ("sed '/a/,/b/{s/x/y/;p}' f", "read f"),
        ("sed '1~2d;0,/x/s//y/;2q5' f", "read f"),
        ("sed 'a hello w' f", "read f"),
        ("sed 'e' f", "read f, ! e, opaque"),
        ("sed 's/x/w/w  .env' f", "write! .env, read f"),
        ("sed 1W.env f", "write! .env, read f"),
        ("sed '1,3~k' f", "read f, ! 1,3~k"),
        ("sed --expression='w x' f", "write! x, read f"),
        ("sed -ne p -s --in-place f", "read! f, write! f"),
        (
            "awk 'BEGIN{\"date\" | getline d}' f",
            "read f, ! BEGIN{\"date\" | getline d}, script date",
        ),
        ("awk '{print $1 > $2}' f", "read f, ! {print $1 > $2}"),
        ("awk '{printf(\"%s\", $1) > \"o\"}' f", "write! o, read f"),
        ("awk '{print \"a > b\"} # > x' f", "read f"),
        ("awk '/x>y/{n++} END{print n}' f", "read f"),
        ("awk '{print $1; if ($2 > 3) next}' f", "read f"),
        ("awk '{print a[$1 > 2]}' f", "read f"),
        (
            "awk '@load \"filefuncs\"; {print}' f",
            "read f, ! @load \"filefuncs\"; {print}",
        ),
        ("awk '{ print > \"/dev/stderr\" }' f", "read f"),
        ("awk \"{print $X}\" f", "read f, ! {print $X}"),
        ("env -S$X ls", "! -S$X, script $X ls, run ls"),
        ("env A=$X ls", "run ls"),
        ("env $X ls", "run $X ls, opaque"),
        ("env BASH_ENV=x bash y", "! BASH_ENV=x, run bash y"),
        ("sudo $X rm y", "run $X rm y, opaque"),
        ("sudo --frob x rm y", "opaque, run x rm y"),
        ("timeout $T rm x", "opaque, run rm x"),
        ("timeout 5s nice -n 3 rm x", "run nice -n 3 rm x"),
        ("xargs -I% sh -c 'rm %'", "run sh -c rm % …"),
        ("find $D -delete", "write! $D/**"),
        (
            "find . -exec sh -c 'rm $0' {} ';' -print",
            "name ./**, run sh -c rm $0 {} …",
        ),
        ("find . -name $X -delete", "write! ./**"),
        ("grep -rf pats .", "read pats, read ./**"),
        ("grep --recursive x", "read ./**"),
        ("grep -e a -e b f", "read f"),
        ("grep -nA5 x f", "read f"),
        ("grep \"process\\.env\" a.ts", "read a.ts"),
        ("bash -c", "changes"),
        ("bash -c ls -x a", "read? -x, read? a, script ls"),
        ("bash -- x.sh", "read x.sh, file x.sh"),
        ("| bash /dev/stdin", "stdin"),
        ("sh -c'ls'", "changes"),
        ("git -C a -C b diff -- x", "read a, read b, read a/b/x"),
        ("git --no-pager log", "nothing"),
        ("git $X foo", "read? foo, changes"),
        ("git commit -m 'rm -rf x' --amend", "changes"),
        ("git commit -m$X", "changes"),
        ("git diff --output=$F", "write! $F"),
        ("git diff --ou$X", "! --ou$X"),
        ("git branch -v", "nothing"),
        ("git branch -D a", "! -D"),
        ("git branch topic main", "! topic"),
        ("git tag -n5", "nothing"),
        ("git stash push -m x", "changes"),
        (
            "git clone -u 'rm x' a b",
            "read a, write b, ! -u, script rm x",
        ),
        ("git -c alias.x='!rm' x", "! -c"),
        ("curl -sSf -Lo /dev/null -w x https://h", "host https://h"),
        ("curl -dx=@f https://h", "host https://h, ! -dx=@f"),
        ("curl --data @.env h", "read! .env, host h, ! --data"),
        ("curl -d@.env h", "read! .env, host h, ! -d@.env"),
        ("curl -F 'a=<b;type=x' h", "read! b, host h, ! -F"),
        ("curl -XPOST -d @- h", "host h, ! -XPOST, ! -d"),
        (
            "tar -x -f a --one-top-level -C /p",
            "read a, read /p, write /p/?",
        ),
        ("tar cvf - src", "read src/**, changes"),
        ("tar --create --file=a b", "write a, read b/**"),
        ("dd bs=1 of=/dev/sda", "write /dev/sda"),
        ("python -Wd -c x", "! -c"),
        (
            "python -u x.py -c y",
            "read x.py, read? -c, read? y, code x.py",
        ),
        ("| python -m x", "changes"),
        ("node --eval=1", "! --eval=1"),
        ("perl -le 'print 1'", "! -le"),
        ("perl -i.bak -pe s/a/b/ f", "read! f, write! f, ! -pe"),
        ("docker --context c run x", "! --context"),
        (
            "docker run -it --rm -v $PWD:/w x ls",
            "read! $PWD/**, write! $PWD/**, run ls",
        ),
        ("kubectl -n x exec p -- sh -c 'rm y'", "run sh -c rm y"),
        ("ssh -T h -- rm x", "host h, joined rm x"),
        ("scp -P 22 h:a .", "host h, write ."),
        ("command -- rm x", "run rm x"),
        ("exec -cl rm x", "run rm x"),
        ("xxd -r a", "read a"),
        ("yq -i .a=1 f", "read! f, write! f"),
        ("date -u", "nothing"),
        ("date --set=x", "! --set=x"),
        ("uniq -f 1 a b", "read a, write! b"),
        ("npm --silent run build", "changes"),
        ("npx --package=x -- rm y", "! --package=x, run rm y"),
        ("uv run --extra a rm y", "run rm y"),
        ("terraform --chdir=x show", "read x"),
        ("chmod -R $X a", "write a/**, ! $X"),
        ("kubectl --frob get delete x", "! --frob"),
        ("kubectl --frob x delete pod", "! --frob"),
        ("npm --frob ls publish", "! --frob"),
        ("cargo -q --locked tree", "changes"),
        ("sort --frob=.env a", "read? .env, read a"),
        ("git -c pager.log=false log", "nothing"),
        ("curl --head https://h", "host https://h"),
        ("git diff --text a", "read? a"),
        ("rsync --checksum a b", "read a, write b"),
        ("patch --version", "changes"),
        ("ls $X", "name $X"),
        ("echo *", "nothing"),
        ("mv *.rs out", "read *.rs/**, write *.rs/**, write out"),
    ]);
}

/// All of GNU coreutils, findutils, diffutils, the archivers and the launchers that people hide commands in.
#[test]
fn programs_that_must_be_known() {
    let names = "[ arch b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd df dir \
        dircolors dirname du echo env expand expr factor false fmt fold groups head hostid hostname id install join kill link ln logname ls \
        md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink realpath \
        rm rmdir runcon seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail \
        tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink uptime users vdir wc who whoami yes \
        find xargs locate updatedb grep egrep fgrep diff cmp diff3 sdiff tar gzip gunzip zip unzip zcat sed awk gawk mawk \
        bash sh zsh dash sudo doas su time setsid command builtin exec parallel watch strace ltrace flock unshare nsenter systemd-run tmux \
        screen script expect socat busybox ld-linux-x86-64.so.2 eval source . type which git gh curl wget ssh scp rsync docker podman kubectl npm \
        pnpm yarn bun npx bunx uvx pip uv cargo go make cmake ninja python python3 python3.12 node perl ruby php jq yq rg fd systemctl terraform \
        psql sqlite3 openssl xxd iconv [[ ionice taskset chrt";
    let missing: Vec<&str> = names
        .split_whitespace()
        .filter(|name| programs::find(name).is_none())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(
        programs::all().len() >= 150,
        "{} entries",
        programs::all().len()
    );
}

/// Every entry that stands alone shows what it does.
#[test]
fn every_entry_has_an_example() {
    let first = |line: &str| {
        split(line.strip_prefix("| ").unwrap_or(line))
            .first()
            .map(Word::shown)
            .unwrap_or_default()
    };
    let shown: Vec<&str> = examples::ALL
        .iter()
        .filter_map(|(line, _)| programs::find(&first(line)))
        .map(|program| program.name.as_str())
        .collect();
    let missing: Vec<&str> = programs::all()
        .iter()
        .map(|program| program.name.as_str())
        .filter(|name| !shown.contains(name) && !name.starts_with('-'))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Roles: what the words of a pattern are compared with.
#[test]
fn roles_of_words() {
    use Role::{Operand, Option, Program, Rest, Skipped, Subcommand, Value};
    let roles = |line: &str| run(line).1.roles;
    assert_eq!(
        roles("git -C d push -f o"),
        [Program, Skipped, Skipped, Subcommand, Option, Operand]
    );
    assert_eq!(
        roles("docker container rm x"),
        [Program, Subcommand, Subcommand, Operand]
    );
    assert_eq!(
        roles("make -C x -j 4 -s all"),
        [
            Program, Skipped, Skipped, Skipped, Skipped, Skipped, Subcommand
        ]
    );
    assert_eq!(
        roles("aws --profile x s3 --region y rm a"),
        [
            Program, Skipped, Skipped, Subcommand, Skipped, Skipped, Subcommand, Operand
        ]
    );
    assert_eq!(
        roles("docker compose -f x up"),
        [Program, Subcommand, Skipped, Skipped, Subcommand]
    );
    assert_eq!(
        roles("timeout -k 5 10 rm x"),
        [Program, Skipped, Skipped, Skipped, Rest, Rest]
    );
    assert_eq!(roles("ssh box1 uptime"), [Program, Operand, Rest]);
    assert_eq!(roles("sort -o b a"), [Program, Option, Value, Operand]);
    assert_eq!(
        roles("find . -exec rm {} + -print"),
        [Program, Operand, Option, Rest, Rest, Option, Option]
    );
    assert_eq!(roles("bash -c ls"), [Program, Option, Operand]);
}

/// What the words that choose may be written as.
#[test]
fn other_spellings() {
    let others = |line: &str| {
        let (words, out) = run(line);
        let mut all: Vec<String> = out
            .names
            .iter()
            .map(|(at, name)| format!("{}:{name}", words[*at].shown()))
            .collect();
        all.extend(out.spellings.iter().map(|own| {
            let shown =
                |words: &[Word]| words.iter().map(Word::shown).collect::<Vec<_>>().join(" ");
            format!(
                "{} => {}",
                shown(&words[own.from..=own.to]),
                shown(&own.words)
            )
        }));
        all.join(", ")
    };
    for (line, want) in [
        ("cargo t", "t:test"),
        (
            "npm run-script x",
            "run-script:run, run-script:rum, run-script:urn",
        ),
        ("docker rmi x", "rmi => image rm, rmi => image remove"),
        (
            "docker image rm x",
            "image rm => rmi, image rm => image remove",
        ),
        (
            "docker container rm x",
            "container rm => rm, container rm => container remove",
        ),
        ("yarn run build", "run => "),
        ("yarn build", "yarn => yarn run"),
        ("yarn run install", ""),
        ("git commit", ""),
    ] {
        assert_eq!(others(line), want, "{line}");
    }
}

/// Options carry all their spellings, the typed one first.
#[test]
fn options_know_their_spellings() {
    let names = |line: &str| -> Vec<Vec<std::borrow::Cow<'static, str>>> {
        run(line)
            .1
            .options
            .into_iter()
            .map(|option| option.names)
            .collect()
    };
    assert_eq!(
        names("rm -rf x"),
        [vec!["-r", "-R", "--recursive"], vec!["-f", "--force"]]
    );
    assert_eq!(names("rm --forc x"), [vec!["--force", "-f"]]);
    assert_eq!(
        names("git push -fu o"),
        [vec!["-f", "--force"], vec!["-u", "--set-upstream"]]
    );
    assert!(run("frob -abc").1.options.iter().all(|option| !option.sure));
}

proptest::proptest! {
    /// Any words give an outcome whose indices fit them: nothing is lost by a panic, nothing points past the end.
    #[test]
    fn any_words_give_an_outcome(line in "(rm|git|find|sudo|env|tar|bash|xargs|parallel|sed|awk|curl|docker|ssh|timeout|python|npm|dd|go|x)( (-[a-zA-Z]{0,3}|--[a-z]{0,6}(=[a-z@/:]{0,3})?|[a-z/@:;+={}]{1,4}|push|exec|run|\\$X|\"\\$Y\"|\\*|:::)){0,6}") {
        let (words, out) = run(&line);
        assert_eq!(out.roles.len(), words.len());
        let fits = |at: usize| at < words.len();
        assert!(out.options.iter().all(|option| fits(option.at)));
        assert!(out.effects.iter().all(|effect| effect.naming.is_none_or(fits)));
        for starts in &out.starts {
            match starts {
                Starts::Words { from, end, .. } => assert!(from <= end && *end <= words.len()),
                Starts::Joined { from, end, .. } => assert!(from < end && *end <= words.len()),
                Starts::Script { word, .. } | Starts::File { word } | Starts::Code { word } => assert!(fits(*word)),
                Starts::Value { at, .. } => assert!(fits(*at)),
                Starts::Stdin | Starts::Console | Starts::Opaque(_) => {}
            }
        }
    }

    /// A script of any text is scanned to its end.
    #[test]
    fn any_script_is_scanned(text in "\\PC{0,40}", tail in "[swyaice/{};\\\\\\[\\]|>\"$0-9~, \n]{0,30}") {
        for script in [&text, &tail] {
            scripts::sed(script);
            scripts::awk(script);
        }
    }
}

#[test]
fn a_known_program_takes_microseconds() {
    let lines = [
        "git -C d push -f origin main",
        "grep -rn x src",
        "rm -rf x",
        "curl -sSL https://h/x",
        "sort -k2 a",
    ];
    let words: Vec<Vec<Word>> = lines.iter().map(|line| split(line)).collect();
    // The best of many short batches: other work on the machine disturbs most of them.
    let batch = || {
        let start = std::time::Instant::now();
        for words in words.iter().cycle().take(100) {
            std::hint::black_box(outcome(std::hint::black_box(words), Stdin::None));
        }
        start.elapsed() / 100
    };
    let best = (0..100).map(|_| batch()).min().unwrap_or_default();
    // Optimised it is one or two; without optimisation some twenty.
    assert!(best < std::time::Duration::from_micros(100), "{best:?}");
}
