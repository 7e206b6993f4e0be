//! What the command line vouches for: facts, approvals, grants, verdicts, mode.
//!
//! In: options. Out: a [`Call`] with them filled in where it does not say otherwise itself.

use super::policies::Which;
use super::state::Folder;
use super::{Stop, grant};
use crate::call::files::FileView;
use crate::call::{Approval, Call, Grant, Mode, Said};
use crate::matcher::Matcher;
use crate::policy::near;
use clap::{Args, ValueEnum};
use serde_json::Value;
use std::path::PathBuf;

/// What the command line vouches for.
#[derive(Clone, Debug, Default, Args)]
pub struct Given {
    /// A fact about the call; the value is JSON, or text (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub fact: Vec<String>,
    /// Approve an obligation by its key; KEY@DIGEST binds it to one call (repeatable)
    #[arg(long, value_name = "KEY")]
    pub approve: Vec<String>,
    /// A tool approved for the session (repeatable)
    #[arg(long, value_name = "TOOL")]
    pub session_allow: Vec<String>,
    /// A remembered approval, as JSON (repeatable)
    #[arg(long, value_name = "JSON")]
    pub grant: Vec<String>,
    /// What an outside authority said: allow, ask, deny, abstain or error (repeatable)
    #[arg(long, value_name = "SOURCE=VERDICT")]
    pub verdict: Vec<String>,
    /// Whether somebody can be asked: interactive, non-interactive, plan or bypass
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub mode: Option<Mode>,
    /// Who it is done for
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// The session it belongs to
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// The time, in milliseconds since 1970
    #[arg(long, value_name = "MS")]
    pub now: Option<i64>,
    /// Grants kept in a folder count (without DIR: in the user's state folder), at the clock's time unless --now is given
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    pub state: Option<Option<PathBuf>>,
    /// Whether the real file system is looked at
    #[arg(long, value_name = "VIEW", default_value = "real")]
    pub files: Files,
}

/// Whether the real file system is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Files {
    /// It is.
    #[default]
    Real,
    /// It is not: paths are judged as they are written.
    None,
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::ALL
        .iter()
        .find(|(name, _)| *name == text)
        .map(|(_, mode)| *mode)
        .ok_or_else(|| {
            let names: Vec<&str> = Mode::ALL.iter().map(|(name, _)| *name).collect();
            format!("modes are {}", names.join(", "))
        })
}

impl Given {
    /// The call with what the command line vouches for, where the call does not say itself.
    pub fn fill(&self, which: &Which, call: &mut Call) -> Result<(), Stop> {
        if call.cwd.is_none() {
            call.cwd = Some(which.cwd()?);
        }
        if call.home.is_none() {
            call.home = std::env::var("HOME")
                .ok()
                .filter(|home| home.starts_with('/'));
        }
        if call.workspace.is_none() {
            call.workspace = which.workspace()?;
        }
        for fact in &self.fact {
            let (name, value) = pair("--fact", fact)?;
            let value =
                serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            call.facts.entry(name.to_owned()).or_insert(value);
        }
        for approval in &self.approve {
            let (key, digest) = match approval.split_once("@sha256:") {
                Some((key, digest)) => (key, Some(format!("sha256:{digest}"))),
                None => (approval.as_str(), None),
            };
            call.approvals.push(Approval {
                key: key.to_owned(),
                call: digest,
            });
        }
        call.session_approvals
            .extend(self.session_allow.iter().cloned());
        for grant in &self.grant {
            let grant: Grant = serde_json::from_str(grant).map_err(|why| {
                Stop::helped(
                    format!("`--grant {grant}` is no grant: {why}"),
                    "write `--grant '{\"tool\":\"bash\"}'`",
                )
            })?;
            call.grants.push(grant);
        }
        for verdict in &self.verdict {
            let (source, said) = pair("--verdict", verdict)?;
            let said = Said::parse(said).ok_or_else(|| {
                Stop::helped(
                    format!("`{said}` is no verdict"),
                    "a source says allow, ask, deny, abstain or error",
                )
            })?;
            call.verdicts.entry(source.to_owned()).or_insert(said);
        }
        if let Some(mode) = self.mode.filter(|_| call.mode == Mode::Interactive) {
            call.mode = mode;
        }
        call.user = call.user.take().or_else(|| self.user.clone());
        call.session = call.session.take().or_else(|| self.session.clone());
        call.now = call.now.or(self.now);
        if let Some(folder) = &self.state {
            grant::give(&Folder::of(folder.as_deref())?, call);
        }
        Ok(())
    }

    /// Whether the policy declares every fact and source that is given: a slip would only be overlooked.
    pub fn declared(&self, matcher: &Matcher) -> Result<(), Stop> {
        let facts: Vec<&str> = matcher.declared_facts().collect();
        let sources: Vec<&str> = matcher.sources.iter().map(|own| &*own.name).collect();
        let all = [
            ("--fact", &self.fact, "fact", facts),
            ("--verdict", &self.verdict, "source", sources),
        ];
        for (option, given, what, known) in all {
            for text in given {
                let (name, value) = pair(option, text)?;
                if known.contains(&name) {
                    continue;
                }
                let help = match near::nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{option} {near}={value}`?"),
                    None if what == "fact" => {
                        format!("declare what the host tells: `{name} = {{}}` under `[facts]`")
                    }
                    None => {
                        format!("declare who is asked: `name = \"{name}\"` under `[[sources]]`")
                    }
                };
                return Err(Stop::helped(
                    format!("`{option} {text}`: the policy declares no {what} `{name}`"),
                    help,
                ));
            }
        }
        Ok(())
    }

    /// How the call sees the files: its own, the real ones, or none.
    pub fn view(&self, call: &Call) -> FileView {
        match (&call.files, self.files) {
            (Some(fixture), _) => FileView::Fixture(fixture.clone()),
            (None, Files::Real) => FileView::Real,
            (None, Files::None) => FileView::None,
        }
    }
}

fn pair<'t>(option: &str, text: &'t str) -> Result<(&'t str, &'t str), Stop> {
    text.split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| {
            Stop::helped(
                format!("`{option} {text}` has no value"),
                format!("write `{option} NAME=VALUE`"),
            )
        })
}
