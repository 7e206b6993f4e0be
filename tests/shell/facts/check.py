#!/usr/bin/env python3
"""Compares the table of facts about programs with what the programs on this machine say of themselves.

In: src/call/programs/*.toml, and for each program that is installed its `--help`, else its manual page.
Out: one line a difference. It is no test: what is installed differs, and a help text is no grammar, so each
line is for a person to judge. `check.py [PROGRAM …]`; `--flags` also names flags that the table leaves out.

  value     the program says that the option takes a value, the table does not: what follows is misread
  no-value  the table says that it takes a value, the program does not
  attached  the value must be attached says one, it may be the next word says the other
  begins    the table does not have the option, and would take it for a longer one that begins so
  unknown   the table has an option that the program does not name
  sub       a subcommand that the table does not have
  flag      a flag of a launcher that the table does not have: what follows is uncertain
"""

import os, re, shutil, subprocess, sys, tempfile, tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "src/call/programs"
# They act, wait, or read `--help` as an operand.
SKIP = set("gcloud gsutil echo true false yes test [ printf : init telinit sensible-browser reset clear newgrp vipw acl".split())
LISTS = ("nothing", "reads", "connects", "writes", "changes", "runs")
HOME = tempfile.mkdtemp()


def run(*command):
    env = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", HOME), "TERM": "dumb", "MANWIDTH": "200", "MANPAGER": "cat",
           "PAGER": "cat", "GIT_PAGER": "cat", "COLUMNS": "200", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=8, cwd=HOME, env=env, start_new_session=True)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    text = done.stdout.decode("utf-8", "replace")
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|.\x08", "", text)


SPELLING = r"-{1,2}[A-Za-z0-9?@#+][\w.+-]*"
VALUE = r"(\[?[= ]?\[?=?(?:<[^>]*>|\{[^}]*\}|[A-Z][A-Z0-9_\-|:,=.]*(?:\.\.\.)?|\"[^\"]*\")\]?\]?(?:\.\.\.)?)"
COBRA = r" (string\w*|int\w*|uint\w*|bytes|duration|list|float\w*|filter|mount|ulimit|network|port|map|key=value|secret|gpu-request|decimal|command|stringArray|file|count|host|tmpfs|name|node|pid|uid|gid)(?=\s{2,}|$)"


def options(text):
    """Spelling → 'none', 'value', 'attached', as the help text says; None where it says both."""
    found = {}
    for line in text.splitlines():
        start = re.match(r"\s{0,24}(?:\[ ?)?(?=-)", line)
        if not start or re.match(r"\s*-{3,}|\s*-\s", line):
            continue
        rest, takes, names = line[start.end():], "none", []
        while match := re.match(r"(?:--\[no-\]|--\[no\])?" + SPELLING if not rest.startswith("--[") else r"--\[no-?\](" + r"[\w-]+)", rest):
            name = match.group(0)
            if name.startswith("--["):
                bare = match.group(1)
                names += ["--" + bare, "--no-" + bare]
            else:
                names.append(name)
            rest = rest[match.end():]
            value = re.match(COBRA, rest) or re.match(VALUE, rest) or re.match(r"(\[?=\[?[\w<][^\s,]*)", rest)
            if value:
                spelled = value.group(0)
                takes = "attached" if re.match(r"\[", spelled) or re.match(r"=?\[", spelled) else "value"
                rest = rest[value.end():]
            gap = re.match(r" ?(?:,|\||/| or) ?| (?=--?\w)", rest)
            if not gap:
                break
            rest = rest[gap.end():]
        for name in names:
            if name.startswith("--no-"):
                found.setdefault(name, "none")
                continue
            kind = takes
            if found.get(name, kind) != kind:
                kind = None
            found[name] = kind
    return found


def commands(text):
    """Subcommands that a help text lists under a heading."""
    found, inside = [], False
    for line in text.splitlines():
        if re.match(r"\s*[\w '/-]*(?:commands?|subcommands|verbs)[\w '/()-]*:?\s*$", line, re.I) and "options" not in line.lower():
            inside = True
        elif line.strip() and not line[0].isspace():
            inside = False
        elif inside and (match := re.match(r"\s{1,8}((?:[a-z][\w-]*\*?(?:, ?|\|)?)+)(?:\s\s|\s*$| [\[<])", line)):
            found += [name.rstrip("*") for name in re.split(r", ?|\|", match.group(1)) if name]
    return found


class Level:
    """An entry of the table: its own options and those of the levels above that are read here."""

    def __init__(self, table, above=None, beside=None):
        if like := table.get("like"):
            model = next(value for key, value in beside.items() if like in re.split(r"[|/]", key) and isinstance(value, dict))
            merged = dict(model)
            for key, value in table.items():
                if key == "options":
                    value = value + model.get(key, [])
                if key in ("values", "flags"):
                    value = value + " " + model.get(key, "")
                merged[key] = value
            table = merged
        self.table, self.above = table, above
        self.style = table.get("style", above.style if above and above.style == "single" else "gnu")
        self.specs = []
        for key, takes in (("flags", "none"), ("values", "value")):
            self.specs += [(names.split("|"), takes) for names in table.get(key, "").split()]
        for line in table.get("options", []):
            names, *tokens = line.split(" ! ")[0].split()
            kinds = [kind for token in tokens for mark, kind in (("==", "value"), ("=>", "value"), ("=", "value"), ("?", "attached"))
                     if token.startswith(mark)]
            self.specs.append((names.split("|"), kinds[0] if kinds else "none"))
        self.subs = {}
        for key, child in table.items():
            if isinstance(child, dict):
                self.subs |= {name: child for name in re.split(r"[|/]", key)}
        for key in LISTS:
            if isinstance(table.get(key), str):
                for name in re.split(r"[\s/]+", table[key].strip()):
                    self.subs.setdefault(name, {})
        # The names that are a subcommand of the level above stand there.
        self.same = {name for token in table.get("same", "").split() for name in token.split("=")[0].split("/")}

    def levels(self):
        yield self
        level = self.above
        while level:
            if not level.table.get("strict"):
                yield level
            level = level.above

    def takes(self, name):
        for level in self.levels():
            for names, takes in level.specs:
                if name in names or (self.style == "single" and (name[1:] in names or "-" + name in names)):
                    return takes
        return None

    def begins(self, name):
        if not name.startswith("--") or self.style == "single":
            return None
        fitting = [spec for level in self.levels() for spec in level.specs if any(own.startswith(name) for own in spec[0])]
        return fitting[0] if len(fitting) == 1 else None


def compare(words, text, level, flags):
    told = options(text)
    if not told:
        return
    launches = level.table.get("starts", "") in ("words", "words-more", "joined", "parallel", "shell")
    for name, says in sorted(told.items()):
        have = level.takes(name)
        if says is None:
            continue
        if have is None:
            if name in ("--help", "--version"):
                continue
            if says == "value":
                yield f"value    {' '.join(words)}: {name}"
            elif (spec := level.begins(name)) and len(name) > 2:
                yield f"begins   {' '.join(words)}: {name} ({'|'.join(spec[0])})"
            elif (launches or flags) and says == "none":
                yield f"flag     {' '.join(words)}: {name}"
        elif have != says:
            kind = "value" if have == "none" else "no-value" if says == "none" else "attached"
            if have == "none" and says == "attached":
                continue  # without a value of its own it reads the same
            yield f"{kind:8} {' '.join(words)}: {name} (table: {have}, help: {says})"
    everything = set(re.findall(SPELLING, text.replace("[no-]", ""))) | set(told)
    letters = "".join(re.findall(r"\[-([A-Za-z0-9]+)\]", text))
    for names, takes in level.specs:
        if not any(name in everything or "-" + name in everything or (len(name) == 2 and name[1] in letters) or name == "+" for name in names):
            yield f"unknown  {' '.join(words)}: {'|'.join(names)}"


def check(program, words, level, flags, seen):
    if program == "git" and len(words) > 1:
        text = run(*words, "-h") + run("man", "-P", "cat", "git-" + words[1])
    else:
        text = run(*words, "--help")
        if len(options(text)) < 3:
            text += run(*words, "-h") if program in ("psql", "tmux") else ""
            text += run("man", "-P", "cat", "-".join(words))
    if text in seen:
        return
    seen.add(text)
    if options(text):
        STATS[0] += 1
        STATS[1].add(program)
    yield from compare(words, text, level, flags)
    if level.subs:
        listed = run("git", "--list-cmds=main,others").split() if words == ["git"] else commands(text)
        for name in listed:
            if name not in level.subs and name not in level.same and name != "help":
                yield f"sub      {' '.join(words)}: {name}"
        for name, child in sorted(level.subs.items()):
            if not level.table.get("starts"):
                yield from check(program, [*words, name], Level(child, level, level.table), flags, seen)


STATS = [0, set()]


def main():
    flags = "--flags" in sys.argv
    wanted = [word for word in sys.argv[1:] if not word.startswith("--")]
    work = []
    for file in sorted(FOLDER.glob("*.toml")):
        for name, table in tomllib.loads(file.read_text()).items():
            for program in [name, *table.get("aliases", "").split()]:
                skipped = program in SKIP or not shutil.which(program) or table.get("style") == "plain"
                if not skipped and (not wanted or program in wanted):
                    work.append((program, [program], Level(table), flags, set()))
    with ThreadPoolExecutor(8) as pool:
        for done in as_completed([pool.submit(lambda one: list(check(*one)), one) for one in work]):
            print(*sorted(done.result()), sep="\n", end="\n" if done.result() else "", flush=True)
    print(f"{len(STATS[1])} programs, {STATS[0]} help texts", file=sys.stderr)


main()
