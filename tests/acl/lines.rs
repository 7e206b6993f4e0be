//! Random command lines: what bash may meet, made from a seed, always the same for the same seed.
//!
//! They name only programs of [`PROGRAMS`] (and launchers) and only relative paths, so that they can be run.

/// A small generator of numbers (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Programs that do nothing but be seen.
pub const PROGRAMS: &[&str] = &["p1", "p2", "p3", "rm", "git"];

const WORDS: &[&str] = &[
    "a", "b", "c", "-x", "--long=v", "x y", "*", "f1", "d", "", "p1", "p2", "p3", "p1 a", "a b",
    "7", "a=b", "{}", "~", "p?", "$X", "x;y", "\\", "a\nb", "#", "!", "é",
];
const NAMES: &[&str] = &["X", "Y", "Z"];

/// Launchers before the words of a command. `@`: those words.
const LAUNCHERS: &[&str] = &[
    "env @",
    "env X=p1 @",
    "env -i @",
    "env -u X @",
    "command @",
    "command -p @",
    "exec @",
    "exec -a q @",
    "builtin command @",
    "nohup @",
    "timeout 5 @",
    "timeout -s KILL 5 @",
    "timeout --signal=KILL 5 @",
    "nice @",
    "nice -n 5 @",
    "nice -5 @",
    "stdbuf -o0 @",
    "setsid @",
    "sudo @",
    "sudo -u u @",
    "sudo -n -- @",
    "sudo X=p1 @",
    "busybox @",
    "xargs @",
    "xargs -r @",
    "echo a b | xargs -n1 @",
    "echo a | xargs -I{} @ {}",
    "printf 'a\\0b' | xargs -0 @",
    "find f1 -exec @ \\;",
    "find f1 -exec @ {} \\;",
    "find f1 d -exec @ {} +",
    "find f1 -execdir @ {} \\;",
    "time @",
    "time -p @",
    "! @",
    "coproc @",
    "eval @",
    "eval -- @",
    "echo p1 | xargs -i @",
    "ionice @",
    "setarch -R @",
];

/// Launchers that put something in the place of those words, or of parts of them.
const FILLERS: &[&str] = &[
    "xargs -I% @ %",
    "echo p2 | xargs -I% % @",
    "echo p2 | xargs -IX env X @",
    "echo p1 | xargs --replace=a @",
    "echo p1 | xargs -Ip2 @",
];

/// Ways to run a script that is given as one word. `@`: that word.
const SCRIPTED: &[&str] = &[
    "eval @",
    "bash -c @",
    "sh -c @",
    "bash -ec @",
    "bash -c -- @",
    "bash -o errexit -c @",
    "bash -c @ q p1 a",
    "sudo sh -c @",
    "env bash -c @",
    "busybox sh -c @",
    "env -S @",
    "bash <<< @",
    "sh -s <<< @",
    "{ read -n 2 X; sh; } <<< @",
    "while read -r X; do bash; done <<< @",
    "echo @ | { p1; bash; }",
    "bash -s p1 a <<< @",
    "echo @ | sh",
    "echo @ | bash",
    "printf '%s\\n' @ | bash",
    "printf %s @ | sh -s p1",
    "printf @ | sh",
    "echo -e @ | bash",
    "echo -n @ | cat | bash",
    "bash <(echo @)",
    ". <(echo @)",
    "source /dev/stdin <<< @",
    ". /dev/stdin <<< @",
    "trap @ EXIT",
    "trap -- @ 0",
    "trap @ DEBUG; :",
    "trap @ ERR; false",
    "X=@; eval \"$X\"",
    "X=@; $X",
    "X=@ eval '$X'",
    "printf -v X %s @; eval \"$X\"",
    "read -r X <<< @; eval \"$X\"",
    "find f1 -exec sh -c @ \\;",
    "find f1 -exec sh -c @ p1 {} +",
    "echo a | xargs sh -c @",
    "echo p1 | xargs -Ip2 sh -c @",
    "echo a | xargs -I{} sh -c @",
    "set -- @; eval \"$1\"",
    "f() { eval \"$1\"; }; f @",
    "A=(@); eval \"${A[0]}\"",
    "for X in @; do eval \"$X\"; done",
    "eval \"$(echo @)\"",
    "eval \"`echo @`\"",
    "$(echo @)",
    "bash -c \"$(cat <<< @)\"",
    "PROMPT_COMMAND=@",
    "mapfile -t A <<< @; eval \"${A[0]}\"",
    "xargs <<< @",
    "xargs -L1 env <<< @",
    "cat <<< @ | sh",
    "tee d/t <<< @ | sh",
    "timeout 5 bash -c @",
    "coproc eval @",
    "command eval @",
    "builtin eval @",
    "exec bash -c @",
    "shopt -s expand_aliases\nalias q=@\nq a",
    "alias q=@; shopt -s expand_aliases\nq",
];

/// Makes lines from random numbers.
pub struct Lines {
    pub rng: Rng,
    /// Heredocs whose bodies stand below the next newline.
    pending: Vec<String>,
    /// Levels left.
    depth: usize,
    /// Loops that count so far.
    loops: usize,
    /// Each command has a word of its own, and no text stands for code: `w1`, `w2` ….
    marked: Option<usize>,
}

impl Lines {
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng(seed),
            pending: Vec::new(),
            depth: 0,
            loops: 0,
            marked: None,
        }
    }

    /// A line.
    pub fn line(&mut self) -> String {
        self.depth = 2 + self.rng.below(3);
        self.script()
    }

    /// A line whose commands each have a word of their own: `w1`, `w2` …. Nothing in it is data or kept.
    pub fn marked(&mut self) -> String {
        self.marked = Some(0);
        let line = self.line();
        self.marked = None;
        line
    }

    /// The words of one simple command.
    pub fn plain(&mut self) -> Vec<&'static str> {
        let mut words = vec![*self.rng.pick(PROGRAMS)];
        for _ in 0..self.rng.below(4) {
            words.push(*self.rng.pick(WORDS));
        }
        words
    }

    /// Words as one command, each in one of the ways to quote it.
    pub fn spelled(&mut self, words: &[&str]) -> String {
        let all: Vec<String> = words
            .iter()
            .map(|word| quoted(&mut self.rng, word))
            .collect();
        all.join(" ")
    }

    /// Launched. `again`: by a program, as another launcher can start it.
    pub fn launched(&mut self, command: &str, again: bool) -> String {
        let program = |launcher: &str| {
            let name = launcher.split(' ').next().unwrap_or_default();
            !launcher.contains('|')
                && !matches!(
                    name,
                    "command" | "exec" | "builtin" | "time" | "!" | "coproc" | "eval" | "busybox"
                )
        };
        loop {
            let launcher = *self.rng.pick(LAUNCHERS);
            if !again || program(launcher) {
                return launcher.replace('@', command);
            }
        }
    }

    /// Commands with their heredocs, to the end.
    fn script(&mut self) -> String {
        let outer = std::mem::take(&mut self.pending);
        let mut out = self.list();
        self.flush(&mut out);
        self.pending = outer;
        out
    }

    fn flush(&mut self, out: &mut String) {
        if !self.pending.is_empty() {
            out.push('\n');
            let bodies = std::mem::take(&mut self.pending).concat();
            out.push_str(bodies.trim_end_matches('\n'));
        }
    }

    /// Commands one after the other, none with an end.
    fn list(&mut self) -> String {
        let count = [1, 1, 1, 2, 2, 3][self.rng.below(6)];
        let mut out = self.command();
        for _ in 1..count {
            match *self.rng.pick(&[
                "; ", "; ", "\n", " && ", " || ", " | ", " |& ", " & ", " &&\n",
            ]) {
                newline if newline.contains('\n') => {
                    out.push_str(newline.trim_end_matches('\n'));
                    self.flush(&mut out);
                    out.push('\n');
                }
                between => out.push_str(between),
            }
            out.push_str(&self.command());
        }
        out
    }

    /// A list one level deeper.
    fn inner(&mut self) -> String {
        self.depth = self.depth.saturating_sub(1);
        let out = self.list();
        self.depth += 1;
        out
    }

    /// A whole script one level deeper.
    fn within(&mut self) -> String {
        self.depth = self.depth.saturating_sub(1);
        let out = self.script();
        self.depth += 1;
        out
    }

    fn command(&mut self) -> String {
        if self.depth == 0 || self.rng.percent(35) {
            return self.simple();
        }
        let kind = match (self.rng.below(30), self.marked) {
            // These keep texts, or feed them to a program.
            (15 | 21..=26, Some(_)) => 17,
            (kind, _) => kind,
        };
        match kind {
            0 => format!("({}{})", self.apart(), self.inner()),
            1 => format!("{{ {}; }}", self.inner()),
            2 => {
                let (a, b) = (self.inner(), self.inner());
                format!("if {a}; then {b}; fi")
            }
            3 => {
                let (a, b, c) = (self.inner(), self.inner(), self.inner());
                format!("if {a}; then {b}; else {c}; fi")
            }
            4 => {
                let (a, b) = (self.inner(), self.inner());
                format!("while {a}; do {b}; break; done")
            }
            5 => {
                let (a, b) = (self.inner(), self.inner());
                format!("until ! {{ {a}; }}; do {b}; break; done")
            }
            6 | 7 => {
                let name = *self.rng.pick(NAMES);
                let words = self.words(3);
                let body = self.inner();
                format!("for {name} in{words}; do {body}; done")
            }
            8 => {
                let name = *self.rng.pick(NAMES);
                let body = self.inner();
                format!("for {name}; do {body}; done")
            }
            9 => {
                // A name of its own: a loop within that resets it would never end.
                self.loops += 1;
                let i = format!("i{}", self.loops);
                let body = self.inner();
                let end = *self.rng.pick(&["", "; break", "; continue"]);
                format!("for (({i}=0; {i}<2; {i}++)); do {body}{end}; done")
            }
            10 => {
                let word = self.word();
                let (a, b) = (self.inner(), self.inner());
                let (one, other) = (self.pattern(), self.pattern());
                let end = *self.rng.pick(&[";;", ";&", ";;&"]);
                format!("case {word} in {one}) {a}{end} ({other}|*) {b};; esac")
            }
            11 => {
                let word = self.words(2);
                let body = self.inner();
                format!("select X in{word}; do {body}; break; done <<< 1")
            }
            12 | 13 => self.function(),
            14 => {
                let (test, then) = (self.test(), self.simple());
                format!("{test} && {then}")
            }
            15 => {
                let body = self.within();
                let (quote, mark) =
                    *self
                        .rng
                        .pick(&[("", "E"), ("'", "E"), ("\"", "E F"), ("\\", "E")]);
                let quote_end = if quote == "\\" { "" } else { quote };
                let dash = *self.rng.pick(&["", "-"]);
                self.pending
                    .push(format!("{}\n{mark}\n", body.trim_end_matches('\n')));
                let to = *self.rng.pick(&[
                    "bash",
                    "sh",
                    "cat",
                    "bash -s p1",
                    "cat | sh",
                    "source /dev/stdin",
                    "bash /dev/stdin",
                    "p1",
                    "while read X; do $X; done",
                    "xargs p1",
                    "tee d/t",
                ]);
                match to.split_once(" | ").or(to.split_once("; ")) {
                    Some((first, rest)) if to.contains('|') => {
                        format!("{first} <<{dash}{quote}{mark}{quote_end} | {rest}")
                    }
                    _ => format!("{to} <<{dash}{quote}{mark}{quote_end}"),
                }
            }
            16..=20 => {
                let launcher = match self.rng.percent(10) {
                    true => *self.rng.pick(FILLERS),
                    false => *self.rng.pick(LAUNCHERS),
                };
                let words = self.command_words();
                launcher.replace('@', &words)
            }
            21..=26 => {
                let script = self.within();
                let word = quoted(&mut self.rng, &script);
                self.rng.pick(SCRIPTED).replace('@', &word)
            }
            27 => {
                let body = self.inner();
                let redirects = self.redirects();
                format!("{{ {body}; }}{redirects}")
            }
            28 => {
                let folder = *self.rng.pick(&[
                    "d", "..", ".", "d/..", "-", "nodir", "$X", "\"$PWD\"", "d/e",
                ]);
                let how = *self.rng.pick(&["cd", "cd", "pushd", "cd -P", "cd --"]);
                let back = *self.rng.pick(&["", "; popd", "; cd -"]);
                let join = *self.rng.pick(&["&&", ";", "||"]);
                let (a, b) = (self.simple(), self.simple());
                format!("{how} {folder} {join} {a}{back}; {b}")
            }
            _ => {
                let a = self.inner();
                format!("! {{ {a}; }}")
            }
        }
    }

    /// A blank, mostly: `((` is arithmetic, or two subshells.
    fn apart(&mut self) -> &'static str {
        match self.marked.is_none() && self.rng.percent(50) {
            true => "",
            false => " ",
        }
    }

    fn function(&mut self) -> String {
        // What is handed to a function is no access.
        let name = match self.marked {
            Some(_) => "h",
            None => *self.rng.pick(&["f", "g", "p1", "q", "cd", "echo"]),
        };
        let body = self.inner();
        let body = match self.rng.below(4) {
            0 => format!("({}{body})", self.apart()),
            1 => format!("{{ {body}; return; p3; }}"),
            2 => format!("{{ local X=p2; {body}; }}"),
            _ => format!("{{ {body}; }}"),
        };
        let head = *self.rng.pick(&["@() ", "function @ ", "function @() "]);
        let args = self.words(2);
        let call = *self.rng.pick(&[
            "@",
            "@",
            "$(@)",
            "X=@; $X",
            "command @",
            "env @",
            "\\@",
            "unset -f @; @",
            "export -f @; bash -c @",
            "bash -c @",
            "export -f @; sh -c @",
            "@ & @",
        ]);
        let call = call.replace('@', name);
        format!("{}{body}; {call}{args}", head.replace('@', name))
    }

    fn test(&mut self) -> String {
        let word = self.word();
        match self.rng.below(6) {
            0 => format!("[[ {word} == {} ]]", self.pattern()),
            1 => format!("[ -n {word} ]"),
            2 => format!("test {word}"),
            3 => "((X=1, 1))".to_owned(),
            4 => format!("[[ -n {word} || -e d ]]"),
            _ => "let X=1".to_owned(),
        }
    }

    fn pattern(&mut self) -> String {
        (*self.rng.pick(&[
            "a", "*", "p*", "[ab]", "'x y'", "$X", "\"$Y\"", "?", "@(a|b)",
        ]))
        .to_owned()
    }

    /// A simple command, with what may stand around its words.
    fn simple(&mut self) -> String {
        if self.marked.is_none() && self.rng.percent(22) {
            return self.setting();
        }
        let mut out = String::new();
        if self.rng.percent(10) {
            let assign = self.assignment();
            out.push_str(&assign);
            out.push(' ');
        }
        if self.rng.percent(4) {
            out.push_str("> d/o ");
        }
        out.push_str(&self.command_words());
        if self.rng.percent(15) {
            out.push_str(&self.redirects());
        }
        out
    }

    /// A program and its arguments.
    fn command_words(&mut self) -> String {
        let program = match self.rng.below(10) {
            0..=4 => {
                let program = *self.rng.pick(PROGRAMS);
                quoted(&mut self.rng, program)
            }
            5 => (*self.rng.pick(&[
                "$X",
                "$Y",
                "${X}",
                "\"$X\"",
                "\"$@\"",
                "$1",
                "$*",
                "${A[@]}",
                "\"${A[0]}\"",
                "${X:-p2}",
                "${Y:=p1}",
                "${X:+p3}",
                "${Z-p1 a}",
            ]))
            .to_owned(),
            6 => (*self.rng.pick(&["f", "g", "q"])).to_owned(),
            7 => (*self.rng.pick(&[
                "{p1,p2}",
                "{p1,}",
                "p{1,2}",
                "p{1..2}",
                "${X}p1",
                "p$((1))",
                "p${#X}",
                "p1$Y",
                "$'p\\x31'",
                "\"p\"1",
                "p\\1",
                "p?",
                "''p1",
                "$(echo p1)",
                "`echo p2 a`",
                "$(printf %s p1)",
                "$\"p1\"",
                "\\p1",
                "p\\\n1",
            ]))
            .to_owned(),
            8 => (*self.rng.pick(&[
                "echo",
                "echo",
                "printf %s",
                "cat",
                "cat f1",
                ":",
                "true",
                "false",
            ]))
            .to_owned(),
            _ => self.word(),
        };
        let mark = match &mut self.marked {
            Some(count) => {
                *count += 1;
                format!(" w{count}")
            }
            None => String::new(),
        };
        format!("{program}{mark}{}", self.words(3))
    }

    fn words(&mut self, most: usize) -> String {
        let mut out = String::new();
        for _ in 0..self.rng.below(most + 1) {
            out.push(' ');
            out.push_str(&self.word());
        }
        out
    }

    fn assignment(&mut self) -> String {
        let name = *self.rng.pick(NAMES);
        let value = match self.rng.below(8) {
            0 => format!("${}", self.rng.pick(NAMES)),
            1 => self.word(),
            _ => {
                let word = *self.rng.pick(WORDS);
                quoted(&mut self.rng, word)
            }
        };
        let plus = if self.rng.percent(10) { "+" } else { "" };
        format!("{name}{plus}={value}")
    }

    /// What changes the shell.
    fn setting(&mut self) -> String {
        let assign = self.assignment();
        let word = self.word();
        match self.rng.below(36) {
            0..=7 => assign,
            8 => format!("export {assign}"),
            9 => format!("declare {assign}"),
            10 => format!("local {assign}"),
            11 => format!("readonly {assign}"),
            12 | 13 => format!("set --{}", self.words(3)),
            14 => "shift".to_owned(),
            15 => "unset X".to_owned(),
            16 => "IFS=/".to_owned(),
            17 => format!("read X <<< {word}"),
            18 => format!("read -r X Y <<< {word}"),
            19 => format!("printf -v X %s {word}"),
            20 => format!("A=({word}{})", self.words(2)),
            21 => format!("A+=({word})"),
            22 => format!("A[1]={word}"),
            23 => "declare -n X=Y".to_owned(),
            24 => "((X=1))".to_owned(),
            25 => format!("X={word} Y=$X"),
            26 => format!("echo {word} | read X"),
            27 => format!("declare -i X={word}"),
            28 => format!("declare -u X={word}"),
            29 => (*self.rng.pick(&[
                "set -e",
                "set -f",
                "set -u",
                "shopt -s nullglob",
                "shopt -s lastpipe",
                "set -a",
                "set -k",
                "exit",
                "return",
                "break",
                "set -o noglob",
                "shopt -s extglob",
            ]))
            .to_owned(),
            30 => format!("X=(a p1); {assign}"),
            31 => "getopts ab X -a".to_owned(),
            32 => format!("mapfile -t A <<< {word}"),
            33 => format!("X=$({})", self.inner_line()),
            34 => "X=${X/p1/p2}".to_owned(),
            _ => format!("let X=1+1; {assign}"),
        }
    }

    fn inner_line(&mut self) -> String {
        match self.depth {
            0 => "echo p1".to_owned(),
            _ => self.within(),
        }
    }

    fn redirects(&mut self) -> String {
        let mut out = String::new();
        for _ in 0..1 + self.rng.below(2) {
            let file = match self.rng.below(8) {
                0 => "d/\"$X\"w".to_owned(),
                1 => "\"$Y\"w".to_owned(),
                2 => "d/{w,}".to_owned(),
                3 => "$X".to_owned(),
                4 => "w\\ x".to_owned(),
                _ => (*self.rng.pick(&["w", "d/w", "'w x'", "./w", "d/../v"])).to_owned(),
            };
            match self.rng.below(11) {
                0..=2 => out.push_str(&format!(" > {file}")),
                3 => out.push_str(&format!(" >> {file}")),
                4 => out.push_str(&format!(" &> {file}")),
                5 => out.push_str(&format!(" >| {file}")),
                6 => out.push_str(&format!(" 2>{file} >&2")),
                7 => out.push_str(&format!(" <> {file}")),
                8 => out.push_str(" < f1"),
                9 if self.depth > 0 => out.push_str(&format!(" > >({})", self.within())),
                _ => out.push_str(" 2>&1"),
            }
        }
        out
    }

    /// A word of an argument.
    fn word(&mut self) -> String {
        let text = *self.rng.pick(WORDS);
        match self.rng.below(20) {
            0..=7 => quoted(&mut self.rng, text),
            8..=9 => (*self.rng.pick(&[
                "a",
                "b",
                "*",
                "f?",
                "[a-f]1",
                "~",
                "d/*",
                "{a,b}",
                "{a,b}{1..2}",
                "a{,b}",
                "x{$X,p1}",
                "{a..c}",
                "\\{a,b}",
                "{a,'b c'}",
                "~+",
                "{1..3..2}",
                "{a}",
                "${X}{a,b}",
                "?1",
                "'*'",
                "a\\ b",
            ]))
            .to_owned(),
            10..=12 => (*self.rng.pick(&[
                "$X",
                "\"$X\"",
                "${Y}",
                "\"$@\"",
                "$*",
                "\"$*\"",
                "$1",
                "$#",
                "${A[@]}",
                "\"${A[@]}\"",
                "${A[1]}",
                "${#A[@]}",
                "$A",
                "\"${A[*]}\"",
                "${@:2}",
                "${*:1:1}",
                "x\"$@\"y",
                "${!X}",
                "$X$Y",
                "\"$X $Y\"",
                "x$X/*",
            ]))
            .to_owned(),
            13..=15 => (*self.rng.pick(&[
                "${X:-p2}",
                "${X:-\"a b\"}",
                "\"${X:-a b}\"",
                "${X-p1}",
                "${X:+p3}",
                "${X:=p1}",
                "\"${Y:+'a'}\"",
                "${X#p}",
                "${X%?}",
                "${X##*/}",
                "${X/a/b}",
                "${X//[ab]/c}",
                "${X^^}",
                "${X,}",
                "${X:1}",
                "${X:0:1}",
                "${X: -1}",
                "${#X}",
                "${X@Q}",
                "${X@U}",
                "${X:-$Y}",
                "${X:-$(echo p1)}",
                "${X:?}",
                "${X:-{a,b}}",
                "${X/#/p}",
                "${X/%/1}",
                "\"${X:-\"a  b\"}\"",
                "${X:-'a b'}",
                "\"${X:-'a b'}\"",
                "${X:-\\$Y}",
                "${X%%1*}",
            ]))
            .to_owned(),
            16 if self.depth > 0 => format!("$({})", self.within()),
            17 if self.depth > 0 => format!("\"$({})\"", self.within()),
            18 if self.depth > 0 => {
                let script = self.within();
                let mut out = String::from("`");
                for char in script.chars() {
                    if matches!(char, '`' | '\\' | '$') {
                        out.push('\\');
                    }
                    out.push(char);
                }
                out + "`"
            }
            19 if self.depth > 0 => format!("<({})", self.within()),
            _ => (*self.rng.pick(&[
                "$((1+1))",
                "$((X))",
                "\"$((X=2))\"",
                "$[1+2]",
                "$'a\\tb'",
                "$'\\''",
                "\"a\\$X\"",
                "\"a\\\nb\"",
                "a\\\nb",
                "\"\\a\\\"\"",
                "$$",
                "$?",
                "$-",
                "$!",
                "$0",
                "${#}",
                "$\"a\"",
                "-$X",
                "--l=\"$X\"",
                "a$'b'\"c\"d",
            ]))
            .to_owned(),
        }
    }
}

/// A text as one word, in one of the ways to quote it.
pub fn quoted(rng: &mut Rng, text: &str) -> String {
    let plain = !text.is_empty()
        && text.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'=')
        });
    match rng.below(if plain { 12 } else { 6 }) {
        0 => {
            let mut out = String::from("\"");
            for char in text.chars() {
                if matches!(char, '"' | '\\' | '$' | '`') {
                    out.push('\\');
                }
                out.push(char);
            }
            out + "\""
        }
        1 => {
            let mut out = String::from("$'");
            for char in text.chars() {
                match char {
                    '\'' | '\\' => out.extend(['\\', char]),
                    '\n' => out.push_str("\\n"),
                    '\t' if rng.percent(50) => out.push_str("\\t"),
                    char if char.is_ascii() && rng.percent(10) => {
                        // The width is full, so that no digit after it is taken in.
                        match rng.below(3) {
                            0 => out.push_str(&format!("\\x{:02x}", char as u32)),
                            1 => out.push_str(&format!("\\{:03o}", char as u32)),
                            _ => out.push_str(&format!("\\u{:04x}", char as u32)),
                        }
                    }
                    char => out.push(char),
                }
            }
            out + "'"
        }
        2 if !text.is_empty() && !text.contains('\n') => {
            let mut out = String::new();
            for char in text.chars() {
                if !char.is_ascii_alphanumeric() || rng.percent(20) {
                    out.push('\\');
                }
                out.push(char);
            }
            out
        }
        3 if text.chars().count() > 1 => {
            let at = text.char_indices().nth(1).map_or(0, |(at, _)| at);
            let (head, tail) = text.split_at(at);
            format!("{}{}", quoted(rng, head), quoted(rng, tail))
        }
        _ if plain && rng.percent(90) => text.to_owned(),
        _ => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
