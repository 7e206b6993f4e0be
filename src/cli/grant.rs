//! `acl grant` and `acl grants`: yes to a tool's tier or to a rule that asks, remembered.
//!
//! Kept in the user's state folder, for `acl decide`, `acl explain` and the hook. What cannot be believed there grants
//! nothing: [`holding`] says so and answers none. A grant that could never count is refused when it is given.

use super::policies::Which;
use super::state::{Folder, clock};
use super::{Answer, Exit, Stop, output};
use crate::call::{Call, Grant};
use crate::matcher::Matcher;
use crate::policy::near;
use crate::policy::rule::Verdict;
use crate::report::table::table;
use crate::session::grants::{Grants, Matter};
use crate::session::time;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const FILE: &str = "grants.json";

/// Options of `acl grant`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl grant git-publish --for 2h                the rule `git-publish` asks no more, for two hours
  acl grant web_fetch --session 5f0c            a tool, for one session of an agent
  acl grant tool:bash rule:docs                 by kind, whatever the policy found here says

A grant answers what a tool's tier or a rule asks. It never meets a deny, nor a rule that is `forced`.")]
pub struct Options {
    /// A tool, or the id of a rule
    #[arg(required = true, value_name = "TOOL|RULE")]
    what: Vec<String>,
    /// Only in this session of an agent (default: in all)
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    session: Option<String>,
    /// How long it holds, such as 30m, 2h or 7d (default: until it is revoked)
    #[arg(long = "for", value_name = "TIME", value_parser = time::duration)]
    lasts: Option<i64>,
    /// Only for calls that are made for this user (default: those that name none)
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Who gives it (default: $USER)
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    kept: Kept,
    #[command(flatten)]
    which: Which,
}

/// Options of `acl grants`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  acl grants
  acl grants --revoke git-publish tool:bash
  acl grants --revoke --all --session 5f0c
  acl grants --expire")]
pub struct List {
    /// Take back the grants of these tools and rules
    #[arg(long, value_name = "TOOL|RULE", num_args = 0..)]
    revoke: Option<Vec<String>>,
    /// With --revoke: all of them
    #[arg(long, requires = "revoke")]
    all: bool,
    /// Forget those whose time is over
    #[arg(long)]
    expire: bool,
    /// Only those of this session of an agent
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    session: Option<String>,
    /// How they are written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    #[command(flatten)]
    kept: Kept,
}

/// Where grants are kept, and the time.
#[derive(Debug, Args)]
struct Kept {
    /// Folder they are kept in (default: the user's state folder)
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// The time, in milliseconds since 1970 (default: the clock's)
    #[arg(long, value_name = "MS")]
    now: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Human,
    /// For scripts.
    Json,
}

impl Kept {
    fn folder(&self) -> Result<Folder, Stop> {
        Folder::of(self.state.as_deref())
    }

    fn now(&self) -> i64 {
        self.now.unwrap_or_else(clock)
    }
}

/// The grants of a state folder that hold now for the calls of a user in a session.
pub fn holding(folder: &Folder, user: Option<&str>, session: Option<&str>, now: i64) -> Vec<Grant> {
    match read(folder) {
        Ok(grants) => grants.holding(user, session, now),
        Err(why) => {
            output::warn(&format!("{why}; no grant of it holds"));
            Vec::new()
        }
    }
}

/// Gives a call the grants that hold for it, and the time that they hold at.
pub fn give(folder: &Folder, call: &mut Call) {
    let now = *call.now.get_or_insert_with(clock);
    let held = holding(folder, call.user.as_deref(), call.session.as_deref(), now);
    call.grants.extend(held);
}

/// How many grants there are, and how many of them hold now.
pub fn count(folder: &Folder, now: i64) -> Result<(usize, usize), String> {
    let grants = read(folder)?;
    let holding = grants.all().iter().filter(|own| own.alive(Some(now)));
    Ok((grants.all().len(), holding.count()))
}

fn read(folder: &Folder) -> Result<Grants, String> {
    parse(folder, folder.read(FILE)?.as_deref())
}

fn parse(folder: &Folder, bytes: Option<&[u8]>) -> Result<Grants, String> {
    let Some(bytes) = bytes else {
        return Ok(Grants::default());
    };
    Grants::parse(bytes).map_err(|why| {
        let file = folder.file(FILE);
        format!("`{}` holds no grants: {why}", file.display())
    })
}

fn change<T>(folder: &Folder, with: impl FnOnce(&mut Grants) -> T) -> Result<T, Stop> {
    folder.change(FILE, |bytes| {
        let mut grants = parse(folder, bytes.as_deref())
            .map_err(|why| Stop::helped(why, "delete it, and grant again what you grant"))?;
        let answer = with(&mut grants);
        Ok((grants.text(), answer))
    })
}

/// Remembers.
pub fn grant(options: &Options) -> Answer {
    let now = options.kept.now();
    let expires_at = match options.lasts {
        Some(lasts) => Some(
            now.checked_add(lasts)
                .ok_or_else(|| Stop::told("`--for`: that is too long"))?,
        ),
        None => None,
    };
    let by = || std::env::var("USER").ok().filter(|name| !name.is_empty());
    let created_by = options.by.clone().or_else(by);
    let mut given = Vec::new();
    let mut matcher = None;
    for what in &options.what {
        let matter = match Matter::parse(what) {
            Some(matter) => matter,
            None => {
                let matcher = match &matcher {
                    Some(matcher) => matcher,
                    None => matcher.insert(options.which.matcher()?),
                };
                meant(matcher, what)?
            }
        };
        let (tool, rule) = match &matter {
            Matter::Tool(name) => {
                one_tool(name)?;
                (Some(name.clone()), None)
            }
            Matter::Rule(key) => {
                placed(key)?;
                (None, Some(key.clone()))
            }
        };
        let grant = Grant {
            user: options.user.clone(),
            session: options.session.clone(),
            tool,
            rule,
            created_by: created_by.clone(),
            created_at: Some(now),
            expires_at,
        };
        given.push((matter, grant));
    }
    change(&options.kept.folder()?, |grants| {
        for (_, grant) in &given {
            grants.add(grant.clone());
        }
    })?;
    for (matter, grant) in &given {
        let scope = match &grant.session {
            Some(session) => format!("in session {session}"),
            None => "in every session".to_owned(),
        };
        let until = until(grant, now);
        output::result(&format!("{matter}: granted {scope}, {until}\n"))?;
    }
    Ok(Exit::Good)
}

/// A grant is for a tool as it is called.
fn one_tool(name: &str) -> Result<(), Stop> {
    match name.contains(['*', '?', '[', '{']) {
        false => Ok(()),
        true => Err(Stop::helped(
            format!("`{name}` stands for many tools, and a grant is for one"),
            "name the tool as it is called; the policy says more: `[tiers] allow = [\"mcp__server__*\"]`",
        )),
    }
}

/// What a name stands for under a policy; refused where a grant of it could never count.
fn meant(matcher: &Matcher, name: &str) -> Result<Matter, Stop> {
    placed(name)?;
    one_tool(name)?;
    let set = name.strip_prefix("protected.");
    if set.is_some_and(|set| matcher.protected.iter().any(|own| own.name == set)) {
        return Err(Stop::helped(
            format!("`{name}` is a set of protected files, and nothing lifts that"),
            "change the policy",
        ));
    }
    let tool = matcher.tool_names().contains(&name);
    let rule = matcher.rules.iter().find(|own| own.key == name);
    if tool && rule.is_some() {
        return Err(Stop::helped(
            format!("`{name}` is a tool, and a rule has that id"),
            format!("write `tool:{name}` or `rule:{name}`"),
        ));
    }
    if let Some(own) = rule {
        return match own.rule.action {
            Verdict::Deny => Err(Stop::helped(
                format!("the rule `{name}` denies, and nothing lifts a deny"),
                "change the policy",
            )),
            Verdict::Allow => Err(Stop::told(format!(
                "the rule `{name}` allows: there is nothing to grant"
            ))),
            Verdict::Ask if own.rule.forced => Err(Stop::told(format!(
                "the rule `{name}` is `forced`: it takes a fresh approval of each call"
            ))),
            Verdict::Ask => Ok(Matter::Rule(name.to_owned())),
        };
    }
    if !tool && !matcher.covers(name) {
        let ids = matcher.rules.iter().filter(|own| own.rule.id.is_some());
        let known = ids.map(|own| own.key.as_str()).chain(matcher.tool_names());
        let help = match near::nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write `tool:{name}` or `rule:{name}` for another policy's"),
        };
        return Err(Stop::helped(
            format!("no tool and no rule is called `{name}`"),
            help,
        ));
    }
    match matcher.tier(name).verdict {
        Verdict::Deny => Err(Stop::told(format!(
            "the tier of `{name}` is deny, and nothing lifts that"
        ))),
        Verdict::Allow => Err(Stop::told(format!(
            "the tier of `{name}` is allow: there is nothing to grant"
        ))),
        Verdict::Ask => Ok(Matter::Tool(name.to_owned())),
    }
}

/// A place in a list is another rule's after the next change of the policy.
fn placed(key: &str) -> Result<(), Stop> {
    match key.contains('[') {
        false => Ok(()),
        true => Err(Stop::helped(
            format!("`{key}` is a place: the grant would be for whatever rule stands there later"),
            "give the rule an `id`, and name that",
        )),
    }
}

fn until(grant: &Grant, now: i64) -> String {
    match grant.expires_at {
        None => "until it is revoked".to_owned(),
        Some(end) if end <= now => format!("until {} UTC: over", time::shown(end)),
        Some(end) => format!("until {} UTC", time::shown(end)),
    }
}

/// Lists, or takes back.
pub fn list(options: &List) -> Answer {
    let folder = options.kept.folder()?;
    let now = options.kept.now();
    let of_session = |grant: &Grant| {
        let session = options.session.as_ref();
        session.is_none_or(|session| grant.session.as_ref() == Some(session))
    };
    if let Some(names) = &options.revoke {
        if names.is_empty() != options.all {
            return Err(Stop::helped(
                "`--revoke` takes back the grants that it names, or all of them",
                "write `--revoke TOOL|RULE…` or `--revoke --all`",
            ));
        }
        let is = |grant: &Grant, name: &str| {
            Matter::of(grant).is_some_and(|matter| matter.is_meant(name))
        };
        let (revoked, missing) = change(&folder, |grants| {
            let there = |name: &&String| {
                grants
                    .all()
                    .iter()
                    .any(|own| is(own, name) && of_session(own))
            };
            let missing: Vec<&String> = names.iter().filter(|name| !there(name)).collect();
            let named = |own: &Grant| options.all || names.iter().any(|name| is(own, name));
            let revoked = grants.revoke(|own| of_session(own) && named(own));
            (revoked, missing)
        })?;
        told(&revoked, "revoked")?;
        let missing: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        return match missing.is_empty() {
            true => Ok(Exit::Good),
            false => Err(Stop::helped(
                format!("there is no grant of {}", missing.join(", ")),
                "`acl grants` lists them",
            )),
        };
    }
    if options.expire {
        let over = |grant: &Grant| grant.expires_at.is_some_and(|end| end <= now);
        let gone = change(&folder, |grants| {
            grants.revoke(|own| of_session(own) && over(own))
        })?;
        told(&gone, "its time was over")?;
        return Ok(Exit::Good);
    }
    let grants = read(&folder).map_err(Stop::told)?;
    let shown: Vec<&Grant> = grants.all().iter().filter(|own| of_session(own)).collect();
    if options.format == Format::Json {
        let json = serde_json::to_string_pretty(&shown)
            .map_err(|why| Stop::told(format!("the grants cannot be written: {why}")))?;
        output::result(&(json + "\n"))?;
    } else if shown.is_empty() {
        output::remark("there are no grants");
    } else {
        let rows: Vec<[String; 5]> = shown.iter().map(|grant| row(grant, now)).collect();
        let head = ["grant", "session", "given", "by", "until"];
        output::result(&table(head, &rows, output::width()))?;
    }
    Ok(Exit::Good)
}

fn row(grant: &Grant, now: i64) -> [String; 5] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let what = Matter::of(grant).map(|matter| match &grant.user {
        Some(user) => format!("{matter} for {user}"),
        None => matter.to_string(),
    });
    [
        or_dash(what),
        grant.session.clone().unwrap_or_else(|| "all".to_owned()),
        or_dash(grant.created_at.map(time::shown)),
        or_dash(grant.created_by.clone()),
        match grant.expires_at {
            None => "until revoked".to_owned(),
            Some(end) if end <= now => "over".to_owned(),
            Some(end) => time::shown(end),
        },
    ]
}

fn told(grants: &[Grant], what: &str) -> Result<(), Stop> {
    for grant in grants {
        let name =
            Matter::of(grant).map_or_else(|| "a grant".to_owned(), |matter| matter.to_string());
        let session = grant.session.as_ref();
        let session = session.map_or_else(String::new, |session| format!(" in session {session}"));
        output::result(&format!("{name}{session}: {what}\n"))?;
    }
    Ok(())
}
