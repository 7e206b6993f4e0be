//! `acl hook`: answers a hook of an agent, in that agent's own terms.
//!
//! In: the call on stdin, as the agent writes it. Out: its answer, with exit code 0; or exit code 2 and the reason on
//! stderr, which every agent takes for a refusal. Whatever goes wrong is such a refusal: most agents let a call go on
//! when its hook fails, says nothing or takes too long.

mod gateway;
mod selftest;

use super::audit::{Audit, Log};
use super::given::Given;
use super::kept::Kept;
use super::policies::{self, Which};
use super::state::{Folder, clock};
use super::{Answer, Exit, Stop, output};
use crate::agents::{Agent, Answer as Said, Asked, PLUGIN, Prompts, Reply};
#[cfg(feature = "gateway")]
use crate::call::Approval;
use crate::call::{Call, Mode};
use crate::decision::{self, Decision};
use crate::finding::Finding;
use crate::matcher::Matcher;
use crate::policy::rule::Verdict;
use crate::policy::{File, Root};
use clap::Args;
use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Options of `acl hook`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Example, in `.claude/settings.json` of Claude Code:
  {\"hooks\": {\"PreToolUse\": [{\"matcher\": \"*\", \"hooks\": [{\"type\": \"command\", \"command\": \"acl hook claude-code\"}]}]}}

`acl init` puts it there.

Try it:
  acl hook claude-code --selftest
  acl hook opencode --plugin > .opencode/plugin/acl.js

The policy is the one of the folder that the agent works in, or `--policy FILE`. Without any, every call is asked about.
With `--gateway http://127.0.0.1:7878` what asks waits there for a person, for `--wait` at most; then the agent asks.
Whatever goes wrong is a refusal in the agent's own terms. The grants of the user's state folder count; `--state DIR` names another.

Exit codes: 0 the answer stands on stdout, whatever it says; 2 refused, the reason stands on stderr.")]
pub struct Options {
    /// The agent: claude-code, codex, gemini-cli, copilot, cursor, opencode or crush
    #[arg(value_name = "AGENT", value_parser = agent)]
    agent: Agent,
    /// A person is at the agent's terminal: it may ask, where it does not tell by itself
    #[arg(long)]
    interactive: bool,
    /// Feed the agent's own input through, and show that a denied call is denied
    #[arg(long)]
    selftest: bool,
    /// Print the plugin for opencode, which calls acl
    #[arg(long, conflicts_with = "selftest")]
    plugin: bool,
    #[command(flatten)]
    handing: gateway::Handing,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    audit: Audit,
}

impl Options {
    /// What agents call, as `acl init` writes it: an agent, and few options. To describe all options to the reader of
    /// command lines takes as long as a decision. Anything else is for that reader.
    pub fn usual(words: &[String]) -> Option<Self> {
        let (agent, words) = words.split_first()?;
        let mut options = Self {
            agent: Agent::named(agent)?,
            interactive: false,
            selftest: false,
            plugin: false,
            handing: gateway::Handing::default(),
            which: Which::default(),
            given: Given::default(),
            audit: Audit::default(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut file = || words.next().filter(|file| !file.starts_with('-')).cloned();
            match word.as_str() {
                "--interactive" if !options.interactive => options.interactive = true,
                "--policy" if options.which.policy.is_none() => {
                    options.which.policy = Some(file()?)
                }
                "--audit" if options.audit.is_nowhere() => options.audit = Audit::to(file()?),
                _ => return None,
            }
        }
        Some(options)
    }
}

/// What an answer rests on where acl itself refuses, and where it finds no policy.
const REFUSED: &str = "refusal";
const NO_POLICY: &str = "no-policy";

/// The agent of this name.
pub fn agent(name: &str) -> Result<Agent, String> {
    Agent::named(name).ok_or_else(|| {
        let names: Vec<&str> = Agent::all().map(|agent| agent.terms().name).collect();
        format!("agents are {}", names.join(", "))
    })
}

/// Runs it.
pub fn run(options: &Options) -> Answer {
    if options.plugin {
        return match options.agent {
            Agent::Opencode => output::result(PLUGIN).map(|()| Exit::Good),
            _ => Err(Stop::helped(
                format!("{} needs no plugin", options.agent.terms().title),
                "only opencode does: `acl hook opencode --plugin`",
            )),
        };
    }
    let mut options = options.clone();
    // Without a state folder there are no grants.
    if Folder::own().is_some() {
        options.given.state.get_or_insert(None);
    }
    if options.selftest {
        // Nobody is to be asked about its samples.
        options.handing.address = None;
        return selftest::run(&options);
    }
    if std::io::stdin().is_terminal() {
        return Err(Stop::helped(
            "an agent runs this, and writes its call to stdin",
            format!("try `acl hook {} --selftest`", options.agent.terms().name),
        ));
    }
    watch(LONGEST + options.handing.longer());
    let reply = match input() {
        Ok(text) => options.reply(&text),
        Err(why) => options.refuse(None, None, &why),
    };
    Ok(give(&reply))
}

impl Options {
    /// What is answered to an input.
    fn reply(&self, text: &[u8]) -> Reply {
        let mut asked = match self.agent.read(text) {
            Ok(asked) => asked,
            Err(unread) => return self.refuse(unread.event, None, &unread.why),
        };
        let event = asked.event;
        match self.judged(&mut asked) {
            Ok(said) => self.agent.write(event, &said),
            Err(stop) => self.refuse(Some(event), asked.calls.first(), &why(stop)),
        }
    }

    /// acl's own refusal, logged where it can be.
    fn refuse(&self, event: Option<&'static str>, call: Option<&Call>, why: &str) -> Reply {
        // What is wrong with how it is logged has been told as the refusal, or is no matter beside it.
        if let Ok(Some(log)) = self.audit.log(None) {
            let unknown = || Call {
                agent: Some(self.agent.terms().name.to_owned()),
                now: self.given.now,
                ..Call::default()
            };
            let call = call.cloned().unwrap_or_else(unknown);
            log.write_undecided(&call, Verdict::Deny, REFUSED, why);
        }
        self.agent.refuse(event, why)
    }

    fn judged(&self, asked: &mut Asked) -> Result<Said, Stop> {
        for call in &mut asked.calls {
            call.now = Some(self.given.now.unwrap_or_else(clock));
        }
        let which = self.which(asked)?;
        let roots = which.found()?;
        // What a policy that is gone would have said, nobody knows: a person is asked.
        let missing = which.missing()?.into_iter().next();
        if roots.is_empty() {
            let start = which.start()?;
            let why = missing.unwrap_or_else(|| format!(
                "no policy was found for {start}: `acl init` writes one, or name one with `--policy` where the hook is installed"
            ));
            let nobody = matches!(self.given.mode, Some(Mode::NonInteractive));
            let prompts = match nobody {
                true => Prompts::No,
                false => asked.prompts,
            };
            let said = Said::asks(&asked.tool, &why);
            let said = said.where_nobody_is_asked(prompts, self.interactive, self.agent.terms());
            if let (Some(log), Some(call)) = (self.audit.log(None)?, asked.calls.first()) {
                log.write_undecided(call, said.verdict, NO_POLICY, &why);
            }
            return Ok(said);
        }
        asked.doubt = asked.doubt.take().or(missing);
        // The process ends after its answer: taking a large policy apart again would cost more than the decision.
        let matcher = std::mem::ManuallyDrop::new(self.compiled(roots)?);
        self.given.declared(&matcher)?;
        let log = self.audit.log(Some(&matcher))?;
        self.under(&matcher, asked, &which, log.as_ref())
    }

    /// The policies, compiled: what was read of them before need not be read again.
    fn compiled(&self, roots: Vec<Root>) -> Result<Matcher, Stop> {
        let state = self.given.state.as_ref();
        let kept = state.and_then(|named| Folder::of(named.as_deref()).ok());
        let kept = kept.map(|folder| Kept::of(&folder));
        policies::compile_with(roots, &|source| match &kept {
            Some(kept) => kept.read(source),
            None => File::read(source),
        })
    }

    /// What is said under a policy.
    fn under(
        &self,
        matcher: &Matcher,
        asked: &mut Asked,
        which: &Which,
        log: Option<&Log>,
    ) -> Result<Said, Stop> {
        let mut decided = Vec::new();
        let mut took = Vec::new();
        for call in &mut asked.calls {
            // Where no policy names a root it is where the agent works, not where the call does: that the model chooses.
            call.workspace = Some(which.start()?);
            // The user's word counts more than the agent's, but for a mode that only tightens.
            if let Some(mode) = self.given.mode.filter(|_| call.mode != Mode::Plan) {
                call.mode = mode;
            }
            self.given.fill(which, call)?;
            let started = Instant::now();
            let decision = decision::decide(matcher, call, &self.given.view(call));
            took.push(started.elapsed());
            decided.push((matcher, decision));
        }
        let said = match self.refused_elsewhere(matcher, &asked.calls, &mut decided) {
            Some(refused) => refused,
            None => self.agent.answer(asked, self.interactive, &decided),
        };
        if let Some(log) = log {
            for ((call, (_, decision)), took) in asked.calls.iter().zip(&decided).zip(took) {
                log.write_answered(call, decision, took, said.verdict);
            }
        }
        Ok(said)
    }

    /// Has a person decide at the gateway, where nothing is denied and something asks: what is approved there is decided
    /// anew with that approval, and a refusal is the answer.
    #[cfg(feature = "gateway")]
    fn refused_elsewhere(
        &self,
        matcher: &Matcher,
        calls: &[Call],
        decided: &mut [(&Matcher, Decision)],
    ) -> Option<Said> {
        let denied = decided.iter().any(|(_, own)| own.action == Verdict::Deny);
        if self.handing.address.is_none() || denied {
            return None;
        }
        let asked = calls.iter().zip(decided);
        for (call, (_, decision)) in asked.filter(|(_, (_, own))| own.action == Verdict::Ask) {
            match self.handing.ask(call) {
                gateway::Word::Yes => {
                    let digest = call.digest();
                    let mut call = call.clone();
                    let keys = decision.reasons.iter().map(|reason| reason.key.clone());
                    call.approvals.extend(keys.map(|key| Approval {
                        key,
                        call: Some(digest.clone()),
                    }));
                    *decision = decision::decide(matcher, &call, &self.given.view(&call));
                }
                gateway::Word::No(text) => {
                    return Some(Said {
                        verdict: Verdict::Deny,
                        user: format!("the gateway: {text}"),
                        model: text,
                    });
                }
                gateway::Word::Nothing(why) => {
                    let _ = writeln!(std::io::stderr(), "acl: the gateway: {why}");
                    return None;
                }
            }
        }
        None
    }

    #[cfg(not(feature = "gateway"))]
    #[expect(clippy::unused_self, reason = "with the feature it has work to do")]
    fn refused_elsewhere(
        &self,
        _: &Matcher,
        _: &[Call],
        _: &mut [(&Matcher, Decision)],
    ) -> Option<Said> {
        None
    }

    /// Where policies are looked for: in the folder that is named, that the agent says is its project, or that the hook
    /// runs in. Never in the folder of the call.
    fn which(&self, asked: &Asked) -> Result<Which, Stop> {
        let mut which = self.which.clone();
        if which.workspace.is_some() {
            return Ok(which);
        }
        let told = self.agent.terms().project.iter();
        let told = told.filter_map(std::env::var_os).map(PathBuf::from);
        let opened = asked.workspace.as_ref().map(PathBuf::from);
        let project = opened.into_iter().chain(told).next();
        if let Some(project) = project {
            if !(project.is_absolute() && project.is_dir()) {
                return Err(Stop::told(format!(
                    "{} says that its project is `{}`, which is no folder",
                    self.agent.terms().title,
                    project.display()
                )));
            }
            which.workspace = Some(project);
        }
        Ok(which)
    }
}

/// What stopped acl, in one line.
fn why(stop: Stop) -> String {
    match stop {
        Stop::Told(text, Some(help)) => format!("{text}; {help}"),
        Stop::Told(text, None) => text,
        Stop::Found(findings) => found(&findings),
        Stop::Gone => "the reader of its output went away".to_owned(),
    }
}

fn found(findings: &[Finding]) -> String {
    let Some(first) = findings.first() else {
        return "the policy cannot be loaded".to_owned();
    };
    let at = first.labels.first().map_or_else(String::new, |label| {
        let (line, _) = label.source.line_column(label.span.start);
        format!("{}:{line}: ", label.source.name)
    });
    let more = match findings.len() {
        0 | 1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    format!(
        "the policy cannot be loaded: {at}{}{more} (`acl check` tells all)",
        first.message
    )
}

/// How large an input may be: an agent that writes a file puts all of it into the call.
const LARGEST: u64 = 32 * 1024 * 1024;

/// The input, to its end: an agent that cannot write all of it may take the hook for broken, and go on.
fn input() -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let mut stdin = std::io::stdin().lock();
    let read = stdin.by_ref().take(LARGEST).read_to_end(&mut text);
    read.map_err(|why| format!("its input cannot be read: {why}"))?;
    let left = std::io::copy(&mut stdin, &mut std::io::sink());
    match left {
        Ok(0) => Ok(text),
        Ok(_) => Err(format!("its input is larger than {} MiB", LARGEST >> 20)),
        Err(why) => Err(format!("its input cannot be read: {why}")),
    }
}

/// Takes in what an agent writes, where a usage error keeps `acl hook` from reading it.
pub fn drain_if_meant() {
    let meant = std::env::args_os().any(|word| word == "hook");
    if meant && !std::io::stdin().is_terminal() {
        watch(LONGEST);
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    }
}

/// How long an answer of acl's own may take. The shortest time that an agent gives a hook is 30 s; then most let the call
/// go on.
const LONGEST: Duration = Duration::from_secs(20);

/// Refuses when the time is over.
fn watch(longest: Duration) {
    let watching = std::thread::Builder::new().stack_size(64 * 1024);
    // Where no thread can be had, the agent's own limit is what is left.
    let _ = watching.spawn(move || {
        std::thread::sleep(longest);
        let why = "This call was refused, because acl could not judge it in time. Do not retry it; tell the user.";
        std::process::exit(give(&Reply::blocked(why)) as i32);
    });
}

/// Gives a reply to the agent. An answer that cannot be written is a refusal.
fn give(reply: &Reply) -> Exit {
    let _ = std::io::stderr().write_all(reply.err.as_bytes());
    if reply.exit != 0 {
        return Exit::Failed;
    }
    match stdout().and_then(|mut out| out.write_all(reply.out.as_bytes())) {
        Ok(()) => Exit::Good,
        Err(why) => {
            let refusal = Said::refusal(&format!("its answer cannot be written to stdout: {why}"));
            let _ = writeln!(std::io::stderr(), "{}", refusal.model);
            Exit::Failed
        }
    }
}

/// Standard output as a file: the library's own takes a closed one for written. It stands in for one by a device that
/// swallows all, and can be read besides.
#[cfg(unix)]
fn stdout() -> std::io::Result<std::fs::File> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;
    let own = std::io::stdout().as_fd().try_clone_to_owned()?;
    let mut file = std::fs::File::from(own);
    let device = file.metadata()?.file_type().is_char_device() && !file.is_terminal();
    match device && file.read(&mut [0]).is_ok() {
        true => Err(std::io::Error::other("it is closed")),
        false => Ok(file),
    }
}

#[cfg(not(unix))]
fn stdout() -> std::io::Result<std::io::Stdout> {
    Ok(std::io::stdout())
}
