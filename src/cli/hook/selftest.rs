//! `acl hook AGENT --selftest`: the agent's own input through the same path, and what that agent would make of the answer.
//!
//! In: the samples of the agent. Out: a table. One policy is built in, one is broken, and one is the policy found.

use super::{Answer, Exit, Options, found, output, why};
use crate::agents::{Agent, Asked, Heard, Prompts, Reply, Sample};
use crate::matcher::Matcher;
use crate::policy::rule::Verdict;
use crate::policy::{self, LayerKind, Root, Trust};
use crate::source::{Format, Source};
use std::fmt::Write;
use std::sync::Arc;

/// The policy of the self-test: one call of each sample is allowed, one asked about, one denied.
const POLICY: &str = r#"
version = 1
[workspace]
roots = ["/project"]
[tiers]
ask = ["bash", "read", "mcp__notes__send"]
allow = ["mcp__notes__list"]
deny = ["mcp__notes__delete"]
[commands]
allow = ["ls"]
ask = ["git push"]
deny = [{ match = "rm", with = ["-r", "-f"], reason = "recursive forced delete" }]
[paths.read]
allow = ["notes.txt"]
[protected.secrets]
files = [".env"]
"#;

/// Runs it.
pub fn run(options: &Options) -> Answer {
    let terms = options.agent.terms();
    let mut table = Table {
        out: format!("{}: what it hears when acl answers\n", terms.title),
        good: true,
    };
    let matcher = matcher(POLICY).map_err(super::Stop::told)?;
    // No call is made: none is logged. A mode and the grants of the user count under the user's policy.
    let mut options = options.clone();
    options.audit = super::Audit::default();
    let options = &options;
    let mut plain = options.clone();
    plain.given.mode = None;
    plain.given.state = None;
    for sample in terms.samples {
        let _ = writeln!(
            table.out,
            "\n{}, under a policy made for this test",
            sample.event
        );
        for (call, verdict) in sample.calls.into_iter().zip(VERDICTS) {
            table.row(&plain, sample, call, verdict, &matcher);
        }
        table.refusals(options, sample);
    }
    table.own(options);
    if !terms.beware.is_empty() {
        let _ = writeln!(table.out, "\nNote: {}", terms.beware);
    }
    let _ = writeln!(
        table.out,
        "\n{}",
        match table.good {
            true => "All as it should be.",
            false => "Something is NOT as it should be: do not rely on this hook.",
        }
    );
    output::result(&table.out)?;
    Ok(match table.good {
        true => Exit::Good,
        false => Exit::Bad,
    })
}

/// The project of the test's own policy.
const FOLDER: &str = "/project";

fn filled(sample: &Sample, call: &str, folder: &str) -> String {
    let quoted = serde_json::Value::from(folder).to_string();
    let folder = quoted.trim_matches('"');
    sample.text.replace("CALL", call).replace("FOLDER", folder)
}

const VERDICTS: [Verdict; 3] = [Verdict::Allow, Verdict::Ask, Verdict::Deny];

struct Table {
    out: String,
    good: bool,
}

impl Table {
    fn line(&mut self, call: &str, verdict: &str, reply: &Reply, good: bool) {
        self.good &= good;
        let mark = if good { "ok" } else { "WRONG" };
        let heard = match (reply.exit, reply.out.trim()) {
            (0, out) => short(out),
            (exit, _) => format!("exit {exit}: {}", short(reply.err.trim())),
        };
        let _ = writeln!(self.out, "  {mark:5} {call:20} {verdict:22} {heard}");
    }

    fn row(
        &mut self,
        options: &Options,
        sample: &Sample,
        call: &str,
        verdict: Verdict,
        matcher: &Matcher,
    ) {
        let text = filled(sample, call, FOLDER);
        let told = options.agent.read(text.as_bytes());
        let Ok(mut asked) = told else {
            return self.line(call, "cannot be read", &Reply::default(), false);
        };
        let reply = match options.under(matcher, &mut asked, &options.which, None) {
            Ok(said) => options.agent.write(asked.event, &said),
            Err(stop) => options.agent.refuse(Some(asked.event), &why(stop)),
        };
        let heard = options.agent.hears(&reply);
        let wanted = wanted(options, &asked, verdict);
        let says = format!("{}: {}", verdict.name(), says(heard));
        self.line(call, &says, &reply, wanted.contains(&heard));
    }

    /// What must be refused, whatever the policy says.
    fn refusals(&mut self, options: &Options, sample: &Sample) {
        let agent = options.agent;
        let broken = matcher("version = 1\nbroken").err().unwrap_or_default();
        let twice = filled(sample, "x", FOLDER).replacen('{', "{\"cwd\":\"/\",\"cwd\":\"/\",", 1);
        let replies = [
            ("a broken policy", agent.refuse(Some(sample.event), &broken)),
            ("no JSON", options.reply(b"{")),
            ("nothing", options.reply(b"")),
            ("a key given twice", options.reply(twice.as_bytes())),
        ];
        for (what, reply) in replies {
            let heard = agent.hears(&reply);
            let says = format!("refused: {}", says(heard));
            self.line(what, &says, &reply, heard == Heard::Stops);
        }
    }

    /// The same calls under the policy that is found: told, and heard as it is told.
    fn own(&mut self, options: &Options) {
        let _ = writeln!(self.out, "\nUnder the policy that is found");
        let matcher = match options.which.found() {
            Ok(roots) if roots.is_empty() => {
                let _ = writeln!(
                    self.out,
                    "  there is none: every call is asked about (`acl init`)"
                );
                return;
            }
            Ok(roots) => super::policies::compile(roots),
            Err(stop) => Err(stop),
        };
        let matcher = match matcher {
            Ok(matcher) => matcher,
            Err(stop) => {
                let reply = options.agent.refuse(None, &why(stop));
                return self.line("the policy", "every call is refused", &reply, false);
            }
        };
        let folder = options.which.start().unwrap_or_default();
        for sample in options.agent.terms().samples {
            for call in sample.calls {
                let text = filled(sample, call, &folder);
                let Ok(mut asked) = options.agent.read(text.as_bytes()) else {
                    continue;
                };
                let Ok(said) = options.under(&matcher, &mut asked, &options.which, None) else {
                    continue;
                };
                let reply = options.agent.write(asked.event, &said);
                let heard = options.agent.hears(&reply);
                let good = wanted(options, &asked, said.verdict).contains(&heard);
                let says = format!("{}: {}", said.verdict.name(), says(heard));
                self.line(call, &says, &reply, good);
            }
        }
    }
}

/// What an agent may hear where acl decides so.
fn wanted(options: &Options, asked: &Asked, verdict: Verdict) -> &'static [Heard] {
    let asks = match asked.prompts {
        Prompts::Yes => true,
        Prompts::AtATerminal => options.interactive,
        Prompts::No => false,
    };
    match verdict {
        // Where it has no word for it, its own settings go on.
        Verdict::Allow if options.agent == Agent::Codex => &[Heard::Runs, Heard::Own],
        Verdict::Allow => &[Heard::Runs],
        Verdict::Ask if asks => &[Heard::Asks, Heard::Own],
        Verdict::Ask | Verdict::Deny => &[Heard::Stops],
    }
}

const fn says(heard: Heard) -> &'static str {
    match heard {
        Heard::Runs => "it runs",
        Heard::Asks => "a person is asked",
        Heard::Own => "its own settings",
        Heard::Stops => "stopped",
    }
}

/// A policy given as text; what is wrong with it in one line.
fn matcher(text: &str) -> Result<Matcher, String> {
    let source = Source::new("selftest.toml", text, Some(Format::Toml)).map(Arc::new);
    let source = source.map_err(|finding| finding.message)?;
    let root = Root {
        kind: LayerKind::User,
        source,
        folder: Some("/".to_owned()),
        trusted: Trust::Yes,
    };
    let policy = policy::load(vec![root], &|name, _| Err(format!("there is no `{name}`")));
    policy
        .map(Matcher::compile)
        .map_err(|findings| found(&findings))
}

/// As much of an answer as fits beside it.
fn short(text: &str) -> String {
    const MOST: usize = 90;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
