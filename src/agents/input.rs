//! What an agent writes to its hook, read strictly.
//!
//! In: bytes. Out: an [`Asked`]; or what is wrong, with the event where that can be told. A key given twice is a fault
//! wherever it stands: the agent and acl might disagree on which counts.

use super::Terms;
use super::tools;
use crate::call::strict_json;
use crate::call::{Args, Call, Mode};
use serde_json::{Map, Value};

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The agent's event.
    pub event: &'static str,
    /// The tool, as the agent calls it.
    pub tool: String,
    /// What it comes to; the strictest decision counts.
    pub calls: Vec<Call>,
    /// Whether an ask reaches a person.
    pub prompts: Prompts,
    /// Why an allow is not sure, where it is not.
    pub doubt: Option<String>,
    /// The folder that the user has opened, where the agent tells it by itself.
    pub workspace: Option<String>,
}

/// Whether an ask reaches a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompts {
    /// It does, or the agent refuses by itself.
    Yes,
    /// Only where somebody sits at the agent's terminal, which it does not tell.
    AtATerminal,
    /// It does not.
    No,
}

/// Input that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The event, where it can be told.
    pub event: Option<&'static str>,
    /// What is wrong.
    pub why: String,
}

/// The fields of an input.
pub(super) struct Given<'m> {
    pub event: &'static str,
    pub terms: &'static Terms,
    pub map: &'m Map<String, Value>,
}

/// Reads the input of an agent's hook.
pub(super) fn read(terms: &'static Terms, text: &[u8]) -> Result<Asked, Unread> {
    let unread = |event, why: String| Unread { event, why };
    let text = std::str::from_utf8(text)
        .map_err(|_| unread(None, "its input is no text in UTF-8".into()))?;
    if text.trim().is_empty() {
        return Err(unread(None, "its input is empty".into()));
    }
    let (value, twice) = strict_json::read(text)
        .map_err(|why| unread(None, format!("its input is no JSON: {why}")))?;
    let Value::Object(map) = value else {
        return Err(unread(None, "its input is no JSON object".into()));
    };
    let event = event(terms, &map).map_err(|why| unread(None, why))?;
    if let Some(key) = twice.first() {
        let why = format!("its input gives the key `{key}` twice");
        return Err(unread(Some(event), why));
    }
    let given = Given {
        event,
        terms,
        map: &map,
    };
    let asked = (terms.read)(&given).and_then(|asked| {
        asked.calls.iter().try_for_each(Call::check)?;
        Ok(asked)
    });
    asked.map_err(|why| unread(Some(event), why))
}

fn event(terms: &'static Terms, map: &Map<String, Value>) -> Result<&'static str, String> {
    let (key, events) = terms.events;
    let known = |name: &str| events.iter().copied().find(|own| *own == name);
    let told = match key {
        "" => return Ok(events.first().copied().unwrap_or_default()),
        key => map.get(key),
    };
    let answers = || format!("acl answers {}", events.join(" and "));
    match told {
        Some(Value::String(name)) => known(name)
            .ok_or_else(|| format!("`{name}` is no event that acl judges: {}", answers())),
        _ => Err(format!("its input has no `{key}`: {}", answers())),
    }
}

impl Given<'_> {
    /// A text, where there is one.
    pub fn text(&self, key: &str) -> Result<Option<&str>, String> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{key}` of its input is no text")),
        }
    }

    /// A text that must be there.
    pub fn needed(&self, key: &str) -> Result<&str, String> {
        let text = self.text(key)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| format!("its input has no `{key}`"))
    }

    /// The arguments under a key: an object, or the text of one.
    pub fn args(&self, key: &str) -> Args {
        self.map
            .get(key)
            .cloned()
            .map_or_else(Args::default, Args::from)
    }

    /// A call with what nearly all inputs tell: folder, session, id.
    pub fn base(&self, session: &str, id: &str) -> Result<Call, String> {
        let owned = |key| Ok::<_, String>(self.text(key)?.map(str::to_owned));
        Ok(Call {
            id: owned(id)?,
            cwd: owned("cwd")?.filter(|cwd| !cwd.is_empty()),
            session: owned(session)?,
            agent: Some(self.terms.name.to_owned()),
            ..Call::default()
        })
    }

    /// What is asked by a tool with arguments.
    pub fn asked(&self, tool: &str, args: Args, base: &Call) -> Result<Asked, String> {
        Ok(Asked {
            event: self.event,
            tool: tool.to_owned(),
            calls: tools::calls(self.terms.tools, tool, args, base)?,
            prompts: Prompts::Yes,
            doubt: None,
            workspace: None,
        })
    }

    /// The shape that most agents share: `tool_name`, `tool_input`, `session_id`, `tool_use_id`.
    pub fn usual(&self, mode: Mode) -> Result<Asked, String> {
        let base = Call {
            mode,
            ..self.base("session_id", "tool_use_id")?
        };
        self.asked(self.needed("tool_name")?, self.args("tool_input"), &base)
    }
}
