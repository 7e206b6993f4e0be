//! `acl init`: writes a policy, and has the agents in use ask acl before each call; `--remove` takes that back.
//!
//! All changes are worked out and shown first. One that cannot be made keeps all from being made.

mod files;

use super::policies::{self, Found, Which};
use super::state::Folder;
use super::{Answer, Exit, Stop, output, trust};
use crate::agents::{Agent, Entries, behind, closes, plugin, plugs, program, switched_off};
use crate::language::quoted;
use crate::policy::LayerKind;
use crate::presets;
use clap::Args;
use files::{Change, look};
use std::io::{BufRead, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `acl init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl init                              for the agents that are in use here
  acl init --agent claude-code --preset strict
  acl init --user                       a policy and hooks for all projects
  acl init --remove

Every change is shown first, and made after a yes. What files were is kept in the user's state folder.

Exit codes: 0 done, or there is nothing to do; 3 only shown, for want of a yes; 2 a file cannot be read or changed.")]
pub struct Options {
    /// The agent: claude-code, codex, gemini-cli, copilot, cursor, opencode or crush (repeatable; default: those in use)
    #[arg(long, value_name = "AGENT", value_parser = super::hook::agent)]
    agent: Vec<Agent>,
    /// The shipped policy that the new one extends (default: recommended)
    #[arg(long, value_name = "NAME", value_parser = preset)]
    preset: Option<String>,
    /// For all projects: in the home's settings, with a policy of the user
    #[arg(long)]
    user: bool,
    /// Make the changes without a question
    #[arg(short, long)]
    yes: bool,
    /// Take out what acl has put there
    #[arg(long)]
    remove: bool,
    /// The project (default: the working directory)
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

fn preset(name: &str) -> Result<String, String> {
    let name = name.trim_start_matches("acl:");
    presets::find(name).map(|_| name.to_owned())
}

/// Where it is installed.
#[derive(Debug)]
struct Place {
    /// The project.
    project: PathBuf,
    home: PathBuf,
    /// In the home, for all projects.
    user: bool,
    /// The program that hooks run: by its name, where that finds it.
    program: String,
    state: Folder,
}

/// Runs it.
pub fn run(options: &Options) -> Answer {
    let place = Place::of(options)?;
    match options.remove {
        true => remove(options, &place),
        false => add(options, &place),
    }
}

fn add(options: &Options, place: &Place) -> Answer {
    let agents = match options.agent.is_empty() {
        true => place.in_use(),
        false => options.agent.clone(),
    };
    let policy = place.policy(options.preset.as_deref())?;
    let mut changes = Vec::new();
    for agent in &agents {
        let path = place.settings(*agent);
        let (path, before) = look(&path)?;
        let after = place.with_hook(*agent, &path, before.as_deref())?;
        changes.push(Change {
            path,
            before,
            after: Some(after),
        });
    }
    changes.retain(|change| change.before != change.after);
    changes.extend(policy);
    if agents.is_empty() {
        let names: Vec<&str> = Agent::all().map(|agent| agent.terms().name).collect();
        output::remark(&format!(
            "no agent is in use here that acl knows; name one with `--agent`: {}",
            names.join(", ")
        ));
    }
    if changes.is_empty() && agents.is_empty() {
        return Ok(Exit::Good);
    }
    if changes.is_empty() {
        output::remark("everything is there already");
    } else if !agreed(options, &changes)? {
        return Ok(Exit::Ask);
    }
    for change in &changes {
        let kept = change.put(&place.state)?;
        let mut said = format!("{}: written", policies::shown(&change.path));
        if place.is_policy(&change.path) && !place.user {
            let text = change.after.as_deref().unwrap_or_default();
            trust::put(&place.own(&change.path), text)?;
            said += ", and trusted as it stands";
        }
        if let Some(kept) = kept {
            said += &format!(" (what it was: {})", kept.display());
        }
        output::result(&(said + "\n"))?;
    }
    let mut exit = Exit::Good;
    let installed = installed(&place.project);
    for agent in agents {
        let terms = agent.terms();
        let own = installed.iter().filter(|hook| hook.agent == agent);
        for doubt in own.flat_map(|hook| &hook.doubts) {
            exit = Exit::Failed;
            output::complain(
                &format!("{}: its hook may not be asked: {doubt}", terms.title),
                None,
            );
        }
        for hook in installed.iter().filter(|hook| hook.agent == agent) {
            if let Some(policy) = hook.policy() {
                output::remark(&format!(
                    "{}: its hook judges by `{policy}`, as if you had written that",
                    terms.title
                ));
            }
        }
        match place.proof(agent) {
            Ok(()) => output::result(&format!("{}: a denied call is denied\n", terms.title))?,
            Err(why) => {
                exit = Exit::Failed;
                output::complain(
                    &format!("{}: its hook does not work: {why}", terms.title),
                    Some(&format!("acl hook {} --selftest", terms.name)),
                );
            }
        }
        if !terms.beware.is_empty() {
            output::remark(&format!("  {}", terms.beware));
        }
    }
    if installed.is_empty() {
        output::remark(
            "next: nothing is guarded yet; `acl init --agent NAME` has an agent ask acl",
        );
        return Ok(exit);
    }
    output::remark(
        "next: start the agent anew, then\n  acl explain --command 'git push -f'     what becomes of a call, and why\n  acl where                               what is in force\n  acl log                                 what was decided",
    );
    Ok(exit)
}

fn remove(options: &Options, place: &Place) -> Answer {
    let records = files::records(&place.state)?;
    let agents = match options.agent.is_empty() {
        true => Agent::all().collect(),
        false => options.agent.clone(),
    };
    let mut changes = Vec::new();
    for agent in agents {
        let (path, Some(before)) = look(&place.settings(agent))? else {
            continue;
        };
        let record = records.get(&path);
        let after = match record.filter(|record| record.is_untouched(&before)) {
            Some(record) => record.before(&place.state)?,
            None => place.without_hook(agent, &path, &before, record)?,
        };
        changes.push(Change {
            path,
            before: Some(before),
            after,
        });
    }
    // The policy goes with the last hook.
    if options.agent.is_empty() {
        if let (path, Some(before)) = look(&place.policy_file()?)? {
            match records.get(&path) {
                Some(record) if record.is_untouched(&before) => changes.push(Change {
                    path,
                    before: Some(before),
                    after: None,
                }),
                Some(_) => output::remark(&format!(
                    "{}: left there, as it was changed",
                    policies::shown(&path)
                )),
                None => {}
            }
        }
    }
    changes.retain(|change| change.before != change.after);
    if changes.is_empty() {
        output::remark("nothing of acl is installed here");
        return Ok(Exit::Good);
    }
    if !agreed(options, &changes)? {
        return Ok(Exit::Ask);
    }
    let mut made = Vec::new();
    for change in &changes {
        made.extend(change.take_back(&place.state)?);
        let name = policies::shown(&change.path);
        if place.is_policy(&change.path) && !place.user {
            trust::forget(&place.own(&change.path))?;
        }
        output::result(&match change.after {
            Some(_) => format!("{name}: acl's part is taken out\n"),
            None => format!("{name}: deleted\n"),
        })?;
    }
    // The inner ones first; those that hold something stay.
    made.sort_by_key(|folder: &PathBuf| std::cmp::Reverse(folder.components().count()));
    for folder in made {
        let _ = std::fs::remove_dir(folder);
    }
    Ok(Exit::Good)
}

impl Place {
    fn of(options: &Options) -> Result<Self, Stop> {
        let which = Which {
            workspace: options.workspace.clone(),
            ..Which::default()
        };
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let home = home.filter(|home| home.is_absolute() && home.is_dir());
        let home = home.ok_or_else(|| Stop::helped("there is no home folder", "set `HOME`"))?;
        Ok(Self {
            project: policies::normal(Path::new(&which.start()?)),
            home,
            user: options.user,
            program: own_program()?,
            state: Folder::of(None)?,
        })
    }

    /// The agents whose settings lie in the project or the home.
    fn in_use(&self) -> Vec<Agent> {
        let used = |agent: &Agent| {
            let mut signs = agent.terms().settings.signs.iter();
            signs.any(|sign| self.home.join(sign).exists() || self.project.join(sign).exists())
        };
        Agent::all().filter(used).collect()
    }

    /// The settings file of an agent.
    fn settings(&self, agent: Agent) -> PathBuf {
        let settings = &agent.terms().settings;
        match self.user {
            true => self.home.join(settings.user),
            false => self.project.join(settings.project),
        }
    }

    /// The words of an agent's hook after the program.
    fn words(agent: Agent) -> Vec<&'static str> {
        let terms = agent.terms();
        let options = terms.settings.options.split_whitespace();
        let own = ["hook", terms.name].into_iter().chain(options);
        own.chain(["--audit", "default"]).collect()
    }

    /// The settings with acl's hook.
    fn with_hook(&self, agent: Agent, path: &Path, text: Option<&str>) -> Result<String, Stop> {
        let terms = agent.terms();
        let wrong = |why: String| {
            Stop::helped(
                format!(
                    "`{}` of {}: {why}; nothing was changed",
                    policies::shown(path),
                    terms.title
                ),
                format!("mend it, or name the others: `--agent {}`", other(agent)),
            )
        };
        if terms.settings.entries.is_none() {
            return match text {
                Some(text) if plugs(text).is_none() => {
                    Err(wrong("it is another plugin than acl's".to_owned()))
                }
                _ => Ok(plugin(&self.program)),
            };
        }
        let words = Self::words(agent).join(" ");
        let own = format!("{} {words}", quoted(&self.program));
        let entries = |command| Entries {
            agent: terms.name,
            settings: &terms.settings,
            command,
            starts: &starts,
        };
        let text = text.unwrap_or_default();
        // One that is there and can be started keeps its options, wherever it is moved to.
        let mut there: Vec<String> = Vec::new();
        for command in entries("acl").commands(text) {
            let words = command.get(..command.len() - behind(&command).len());
            let words = words.unwrap_or_default().trim_end().to_owned();
            let starts = program(&words, terms.name).is_some_and(starts);
            if starts && !there.contains(&words) {
                there.push(words);
            }
        }
        let command = match there.as_slice() {
            [] => own,
            [one] => {
                if *one != own {
                    output::remark(&format!("{}: its hook stays `{one}`", terms.title));
                }
                one.clone()
            }
            several => {
                let several: Vec<String> = several.iter().map(|own| format!("`{own}`")).collect();
                return Err(wrong(format!(
                    "it has several hooks of acl, {}: leave the one that is meant",
                    several.join(" and ")
                )));
            }
        };
        let command = format!("{command}{CLOSED}");
        entries(&command).added(text).map_err(wrong)
    }

    /// The settings without it; none where nothing else is left of what acl made.
    fn without_hook(
        &self,
        agent: Agent,
        path: &Path,
        text: &str,
        record: Option<&files::Record>,
    ) -> Result<Option<String>, Stop> {
        let terms = agent.terms();
        if terms.settings.entries.is_none() {
            let Some(runs) = plugs(text) else {
                return Ok(Some(text.to_owned()));
            };
            let own = program(&runs, terms.name).map(plugin);
            if own.as_deref() != Some(text) {
                output::remark(&format!(
                    "{}: left there, as it was changed",
                    policies::shown(path)
                ));
            }
            return Ok(Some(text.to_owned()).filter(|text| own.as_ref() != Some(text)));
        }
        let entries = Entries {
            agent: terms.name,
            settings: &terms.settings,
            command: "acl",
            starts: &starts,
        };
        if entries.commands(text).is_empty() {
            return Ok(Some(text.to_owned()));
        }
        let after = entries.removed(text).map_err(|why| {
            Stop::told(format!(
                "`{}` of {}: {why}; nothing was changed",
                policies::shown(path),
                terms.title
            ))
        })?;
        let left: serde_json::Value = serde_json::from_str(&after).unwrap_or_default();
        let empty = left
            .as_object()
            .is_some_and(|left| left.keys().all(|key| key == "version"));
        let gone = empty && record.is_some_and(files::Record::was_new);
        Ok((!gone).then_some(after))
    }

    /// Where the policy is written.
    fn policy_file(&self) -> Result<PathBuf, Stop> {
        match self.user {
            true => policies::config_folder()
                .map(|folder| folder.join("policy.toml"))
                .ok_or_else(|| Stop::helped("there is no configuration folder", "set `HOME`")),
            false => Ok(self.project.join("acl.toml")),
        }
    }

    fn is_policy(&self, path: &Path) -> bool {
        let file = self.policy_file().and_then(|file| look(&file));
        file.is_ok_and(|(file, _)| file == path)
    }

    /// The project's policy, as the search finds it.
    fn own(&self, path: &Path) -> Found {
        Found {
            kind: LayerKind::Project,
            path: path.to_path_buf(),
            folder: path.parent().unwrap_or(&self.project).to_path_buf(),
        }
    }

    /// The policy, where there is none.
    fn policy(&self, preset: Option<&str>) -> Result<Option<Change>, Stop> {
        let kind = match self.user {
            true => LayerKind::User,
            false => LayerKind::Project,
        };
        let found = policies::search(&self.project);
        if let Some(found) = found.iter().find(|found| found.kind == kind) {
            let shown = policies::shown(&found.path);
            output::remark(&format!("{shown}: left as it is"));
            if let Some(preset) = preset {
                output::remark(&format!(
                    "  `--preset` is for a new policy; in this one write `extends = [\"acl:{preset}\"]`"
                ));
            }
            if !self.user && !trust::holds(found) {
                output::remark("  it only tightens until you have read it and said `acl trust`");
            }
            return Ok(None);
        }
        let preset = preset.unwrap_or("recommended");
        let about = presets::about(preset).unwrap_or_default();
        let text = include_str!("start.toml");
        let text = text.replace("PRESET", preset).replace("ABOUT", &about);
        let text = match self.user {
            // Without roots the workspace is where each agent works.
            true => text.replace("in this project", "in all projects").replace(
                "[workspace]\nroots = [\".\"]                # where agents work; relative paths of rules hold there\n\n",
                "",
            ),
            false => text,
        };
        let (path, before) = look(&self.policy_file()?)?;
        Ok(Some(Change {
            path,
            before,
            after: Some(text),
        }))
    }

    /// Starts the hook as the agent would, for its self-test.
    fn proof(&self, agent: Agent) -> Result<(), String> {
        let told = Command::new(&self.program)
            .args(Self::words(agent))
            .arg("--selftest")
            .current_dir(&self.project)
            .output()
            .map_err(|why| format!("`{}` cannot be started: {why}", self.program))?;
        match told.status.success() {
            true => Ok(()),
            false => {
                let text = [told.stdout, told.stderr].concat();
                Err(String::from_utf8_lossy(&text).trim_end().to_owned())
            }
        }
    }
}

/// An agent for the example of a command line that leaves one out.
fn other(agent: Agent) -> &'static str {
    let mut names = Agent::all().map(|own| own.terms().name);
    names
        .find(|name| *name != agent.terms().name)
        .unwrap_or_default()
}

/// What stands behind a hook's command: agents go on where it cannot be started or is killed. Any shell reads it, fish too.
const CLOSED: &str = match cfg!(unix) {
    true => " || sh -c 'echo acl refused, or gave no answer >&2; exit 2'",
    false => "",
};

/// A hook of acl that stands in an agent's settings.
#[derive(Debug)]
pub struct Installed {
    /// The agent.
    pub agent: Agent,
    /// The settings.
    pub path: PathBuf,
    /// What it runs.
    pub command: String,
    /// What keeps it from being asked, or its answer from being heard.
    pub doubts: Vec<String>,
}

/// The hooks of acl in a project's settings and in the home's.
pub fn installed(project: &Path) -> Vec<Installed> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    let mut out: Vec<Installed> = Vec::new();
    for agent in Agent::all() {
        let terms = agent.terms();
        let own = project.join(terms.settings.project);
        let user = home.as_ref().map(|home| home.join(terms.settings.user));
        let both: Vec<PathBuf> = [Some(own), user].into_iter().flatten().collect();
        let also = terms.settings.also.iter().map(|path| project.join(path));
        let switches = both.iter().cloned().chain(also).filter_map(|path| {
            let (_, text) = look(&path).ok()?;
            let off = switched_off(&policies::shown(&path), &text?)?;
            Some((path, off))
        });
        let switches: Vec<(PathBuf, String)> = switches.collect();
        for path in both {
            let Ok((_, Some(text))) = look(&path) else {
                continue;
            };
            let entries = Entries {
                agent: terms.name,
                settings: &terms.settings,
                command: "acl",
                starts: &starts,
            };
            let commands = match terms.settings.entries {
                Some(_) => entries.commands(&text),
                None => plugs(&text).into_iter().collect(),
            };
            let mut doubts = match terms.settings.entries {
                Some(_) => entries.doubts(&text),
                None => Vec::new(),
            };
            let elsewhere = switches.iter().filter(|(own, _)| *own != path);
            doubts.extend(elsewhere.map(|(_, off)| off.clone()));
            for command in commands {
                let mut doubts = doubts.clone();
                if path.starts_with(project) {
                    doubts.extend(loosens(&command));
                }
                let mut known = out.iter();
                if !known.any(|own| own.path == path && own.command == command) {
                    let path = path.clone();
                    out.push(Installed {
                        agent,
                        path,
                        command,
                        doubts,
                    });
                }
            }
        }
    }
    out
}

/// What the command of a hook that came with a project must not say: then nothing is judged, or by others than the user.
fn loosens(command: &str) -> Option<String> {
    const OPTIONS: &[&str] = &[
        "--help",
        "-h",
        "--version",
        "--selftest",
        "--plugin",
        "--state",
        "--layer",
        "--session-allow",
        "--approve",
        "--grant",
        "--fact",
        "--now",
        "#",
    ];
    let words = command.strip_suffix(behind(command)).unwrap_or(command);
    let mut words = words.split_whitespace();
    let named = |word: &&str| {
        OPTIONS
            .iter()
            .any(|own| word.split('=').next() == Some(own) || *own == "#" && word.starts_with('#'))
    };
    let by = |word: &str| {
        format!("`{word}` in its command lets it judge nothing, or by what came with the project")
    };
    let bypass = command.contains("--mode bypass") || command.contains("--mode=bypass");
    words
        .find(named)
        .map(by)
        .or_else(|| bypass.then(|| by("--mode bypass")))
}

impl Installed {
    /// What it judges by in the place of what is found, where its command says so.
    pub fn policy(&self) -> Option<&str> {
        let mut words = self.command.split_whitespace();
        words
            .find_map(|word| word.strip_prefix("--policy"))
            .and_then(|rest| rest.strip_prefix('=').or_else(|| words.next()))
    }

    /// Whether the agent refuses where it gives no answer.
    pub fn is_closed(&self) -> bool {
        self.agent.terms().settings.entries.is_none() || closes(behind(&self.command))
    }

    /// Whether its program is there.
    pub fn starts(&self) -> bool {
        program(&self.command, self.agent.terms().name).is_some_and(starts)
    }
}

/// This program, as an agent's hook can start it: by its name, where the PATH finds it.
fn own_program() -> Result<String, Stop> {
    let own = std::env::current_exe().and_then(std::fs::canonicalize);
    let own = own.map_err(|why| Stop::told(format!("acl does not find itself: {why}")))?;
    if on_path("acl").and_then(|found| std::fs::canonicalize(found).ok()) == Some(own.clone()) {
        return Ok("acl".to_owned());
    }
    let name = own.to_str().map(str::to_owned);
    name.ok_or_else(|| Stop::told(format!("`{}` is no path in UTF-8", own.display())))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|file| file.is_absolute() && file.is_file())
}

/// Whether the program of a command that is installed is there.
fn starts(program: &str) -> bool {
    match program.contains('/') {
        true => Path::new(program).is_file(),
        false => on_path(program).is_some(),
    }
}

/// Shows the changes, and whether they are to be made.
fn agreed(options: &Options, changes: &[Change]) -> Result<bool, Stop> {
    for change in changes {
        output::result(&difference(change))?;
    }
    for change in changes {
        change.check()?;
    }
    if options.yes {
        return Ok(true);
    }
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        output::remark("nothing was changed: say `--yes` to make these changes");
        return Ok(false);
    }
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "Make these changes? [y/N] ");
    let _ = err.flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.map_err(|why| Stop::told(format!("cannot read an answer from stdin: {why}")))?;
    let yes = matches!(line.trim().to_lowercase().as_str(), "y" | "yes");
    if !yes {
        output::remark("nothing was changed");
    }
    Ok(yes)
}

/// A change as `diff -u` writes it.
fn difference(change: &Change) -> String {
    let name = policies::shown(&change.path);
    let side = |text: &Option<String>| match text {
        Some(_) => name.clone(),
        None => "/dev/null".to_owned(),
    };
    let [before, after] =
        [&change.before, &change.after].map(|text| text.as_deref().unwrap_or_default());
    let diff = similar::TextDiff::from_lines(before, after);
    let text = diff
        .unified_diff()
        .context_radius(3)
        .header(&side(&change.before), &side(&change.after))
        .to_string();
    if !output::color() {
        return text;
    }
    let colored = text.lines().map(|line| match line.as_bytes().first() {
        Some(b'-') => format!("\u{1b}[31m{line}\u{1b}[0m\n"),
        Some(b'+') => format!("\u{1b}[32m{line}\u{1b}[0m\n"),
        _ => format!("{line}\n"),
    });
    colored.collect()
}
