//! Calls that were made before, from whatever wrote them down: transcripts of Claude Code, Codex and Gemini CLI, acl's
//! audit log, plain calls.
//!
//! In: a log, line by line. Out: each call as the hook of its agent would be asked about it, and what became of it then,
//! where the log tells. A transcript holds much besides calls, which is nothing here; what is no JSON, or a call that cannot
//! be read, is a sentence.

use super::audit::Entry;
use crate::agents::{Agent, Asked, Prompts};
use crate::call::{Args, Call, Mode};
use crate::language::quoted;
use serde_json::{Map, Value, json};

/// What became of a call then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Then {
    /// acl allowed it.
    Allow,
    /// acl asked.
    Ask,
    /// acl denied it.
    Deny,
    /// It ran: a transcript does not tell whether somebody was asked.
    Ran,
    /// A person said no.
    Refused,
    /// A rule or a hook stopped it.
    Blocked,
    /// The log does not tell.
    Unknown,
}

impl Then {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Ran => "ran",
            Self::Refused => "refused by a person",
            Self::Blocked => "blocked by a rule",
            Self::Unknown => "not known",
        }
    }
}

/// How results begin, or what they hold near their beginning, of calls that did not run.
const STOPPED: &[(&str, Then)] = &[
    // Claude Code
    (
        "The user doesn't want to proceed with this tool use",
        Then::Refused,
    ),
    (
        "The user doesn't want to take this action right now",
        Then::Refused,
    ),
    ("Permission to use ", Then::Blocked),
    ("Claude requested permissions to ", Then::Blocked),
    ("PreToolUse:", Then::Blocked),
    // Codex
    ("rejected by user", Then::Refused),
    ("blocked by PreToolUse hook", Then::Blocked),
    ("rejected by policy", Then::Blocked),
    // Gemini CLI
    ("Tool execution blocked", Then::Blocked),
    ("Tool execution denied by policy", Then::Blocked),
    // acl
    ("This call of ", Then::Blocked),
    ("This call was refused", Then::Blocked),
];

/// How much of a result is looked at.
const BEGINNING: usize = 300;

/// A call that was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// Its agent, where that is known.
    pub agent: Option<Agent>,
    /// As its hook would be asked.
    pub asked: Asked,
    /// Its id in the log.
    pub id: Option<String>,
    /// What became of it.
    pub then: Then,
    /// Its arguments are not as they were: secrets are masked, or it was too long.
    pub masked: bool,
}

/// What a line tells.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Calls.
    pub made: Vec<Made>,
    /// What became of earlier ones, by their ids.
    pub ends: Vec<(String, Then)>,
}

/// A log that is being read.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The folder that its session was opened in.
    opened: Option<String>,
    /// The folder that commands run in, where each does not say so.
    cwd: Option<String>,
    session: Option<String>,
}

impl Log {
    /// The folder that its session was opened in, where it tells.
    pub fn opened(&self) -> Option<&str> {
        self.opened.as_deref()
    }

    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn line(&mut self, line: &[u8]) -> Result<Told, String> {
        let value: Value = serde_json::from_slice(line).map_err(|why| format!("no JSON: {why}"))?;
        let Value::Object(map) = value else {
            return Err("no JSON object".to_owned());
        };
        if map.contains_key("basis") && map.contains_key("action") {
            return logged(Entry::parse(line)?).map(one);
        }
        if map.contains_key("tool") {
            let call = Call::from_json(line)?;
            return Ok(one(alone(call, Then::Unknown)));
        }
        self.object(&map)
    }

    /// Reads a file that is one document.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn document(&mut self, text: &[u8]) -> Result<Vec<Result<Told, String>>, String> {
        let value: Value = serde_json::from_slice(text).map_err(|why| format!("no JSON: {why}"))?;
        let messages = match &value {
            Value::Object(map) => {
                self.session = text_of(map, "sessionId").map(str::to_owned);
                map.get("messages").and_then(Value::as_array)
            }
            Value::Array(items) => Some(items),
            _ => None,
        };
        let messages = messages.ok_or("it holds no messages")?;
        let objects = messages.iter().filter_map(Value::as_object);
        Ok(objects.map(|message| self.object(message)).collect())
    }

    fn object(&mut self, map: &Map<String, Value>) -> Result<Told, String> {
        if let Some(payload) = map.get("payload").and_then(Value::as_object) {
            return self.codex(payload);
        }
        if let Some(calls) = map.get("toolCalls").and_then(Value::as_array) {
            return self.gemini(calls);
        }
        if map.contains_key("type") || map.contains_key("sessionId") {
            return self.claude(map);
        }
        Err("it is of no kind that acl knows".to_owned())
    }

    /// A transcript of Claude Code: `tool_use` of the assistant, `tool_result` of the user.
    fn claude(&mut self, map: &Map<String, Value>) -> Result<Told, String> {
        if let Some(cwd) = text_of(map, "cwd") {
            self.cwd = Some(cwd.to_owned());
            self.opened.get_or_insert_with(|| cwd.to_owned());
        }
        let mut told = Told::default();
        let message = map.get("message").and_then(Value::as_object);
        let content = message.and_then(|message| message.get("content"));
        for item in content.and_then(Value::as_array).into_iter().flatten() {
            match item.get("type").and_then(Value::as_str) {
                Some("tool_use") => {
                    let input = json!({
                        "hook_event_name": "PreToolUse",
                        "permission_mode": "default",
                        "session_id": map.get("sessionId"),
                        "cwd": self.cwd,
                        "tool_name": item.get("name"),
                        "tool_input": item.get("input"),
                        "tool_use_id": item.get("id"),
                    });
                    told.made.push(asked(Agent::ClaudeCode, &input)?);
                }
                Some("tool_result") => {
                    let Some(id) = item.get("tool_use_id").and_then(Value::as_str) else {
                        continue;
                    };
                    let failed = item.get("is_error").and_then(Value::as_bool) == Some(true);
                    let then = match failed {
                        true => ended(item.get("content")),
                        false => Then::Ran,
                    };
                    told.ends.push((id.to_owned(), then));
                }
                _ => {}
            }
        }
        Ok(told)
    }

    /// A rollout of Codex.
    fn codex(&mut self, payload: &Map<String, Value>) -> Result<Told, String> {
        if let Some(cwd) = text_of(payload, "cwd") {
            self.cwd = Some(cwd.to_owned());
            self.opened.get_or_insert_with(|| cwd.to_owned());
        }
        let text = |key| text_of(payload, key);
        let mut told = Told::default();
        match text("type") {
            Some("function_call") => {
                let arguments = text("arguments").unwrap_or_default();
                let arguments = serde_json::from_str(arguments)
                    .map_err(|why| format!("the arguments of a call are no JSON: {why}"))?;
                let name = text("name").unwrap_or_default();
                told.made.push(self.codex_call(name, &arguments, payload)?);
            }
            Some("custom_tool_call") => {
                let arguments = json!({"input": payload.get("input")});
                let name = text("name").unwrap_or_default();
                told.made.push(self.codex_call(name, &arguments, payload)?);
            }
            Some("local_shell_call") => {
                let action = payload.get("action").cloned().unwrap_or_default();
                told.made.push(self.codex_call("shell", &action, payload)?);
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                if let Some(id) = text("call_id") {
                    told.ends
                        .push((id.to_owned(), ended(payload.get("output"))));
                }
            }
            None if payload.contains_key("id") => {
                self.session = text("id").map(str::to_owned);
            }
            _ => {}
        }
        Ok(told)
    }

    /// A call as Codex shows it to its hook.
    fn codex_call(
        &self,
        name: &str,
        arguments: &Value,
        payload: &Map<String, Value>,
    ) -> Result<Made, String> {
        let given = |keys: &[&str]| keys.iter().find_map(|key| arguments.get(key)).cloned();
        let folder = given(&["workdir", "working_directory"]).filter(|folder| !folder.is_null());
        let (tool, input) = match name {
            "shell" | "shell_command" | "exec_command" | "local_shell" => {
                let command = match given(&["command", "cmd"]) {
                    Some(Value::Array(words)) => Value::from(line_of(&words)?),
                    other => other.unwrap_or_default(),
                };
                ("Bash", json!({"command": command, "workdir": folder}))
            }
            "apply_patch" => (
                "apply_patch",
                json!({"command": given(&["input", "patch"])}),
            ),
            "view_image" => ("view_image", arguments.clone()),
            name if name.starts_with("mcp__") => (name, arguments.clone()),
            _ => return Err(format!("Codex asks no hook about `{name}`")),
        };
        let input = json!({
            "hook_event_name": "PreToolUse",
            "permission_mode": "default",
            "session_id": self.session,
            "cwd": self.cwd,
            "tool_name": tool,
            "tool_input": input,
            "tool_use_id": payload.get("call_id"),
        });
        asked(Agent::Codex, &input)
    }

    /// The calls of a message in a chat of Gemini CLI.
    fn gemini(&self, calls: &[Value]) -> Result<Told, String> {
        let mut told = Told::default();
        for call in calls {
            let input = json!({
                "hook_event_name": "BeforeTool",
                "session_id": self.session,
                "tool_name": call.get("name"),
                "tool_input": call.get("args"),
            });
            let made = asked(Agent::GeminiCli, &input)?;
            let then = match call.get("status").and_then(Value::as_str) {
                Some("success") => Then::Ran,
                Some("cancelled") => Then::Refused,
                Some("error") => ended(call.get("result").or_else(|| call.get("resultDisplay"))),
                _ => Then::Unknown,
            };
            let id = call.get("id").and_then(Value::as_str).map(str::to_owned);
            told.made.push(Made { then, id, ..made });
        }
        Ok(told)
    }
}

fn text_of<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    map.get(key)?.as_str()
}

fn one(made: Made) -> Told {
    Told {
        made: vec![made],
        ends: Vec::new(),
    }
}

/// A call that no agent's terms stand around.
fn alone(call: Call, then: Then) -> Made {
    Made {
        agent: None,
        id: None,
        asked: Asked {
            event: "",
            tool: call.tool.clone(),
            calls: vec![call],
            prompts: Prompts::Yes,
            doubt: None,
            workspace: None,
        },
        then,
        masked: false,
    }
}

/// A line of acl's audit log.
fn logged(entry: Entry) -> Result<Made, String> {
    let then = match entry.verdict() {
        "allow" => Then::Allow,
        "ask" => Then::Ask,
        _ => Then::Deny,
    };
    if entry.tool.is_empty() {
        return Err("acl could not read this call".to_owned());
    }
    let mode = Mode::ALL.iter().find(|(name, _)| *name == entry.mode);
    let whole = entry.masked == 0 && entry.args.is_some();
    let call = Call {
        id: entry.id,
        tool: entry.tool,
        args: Args::from(Value::Object(entry.args.unwrap_or_default())),
        cwd: entry.cwd,
        workspace: entry.workspace,
        session: entry.session,
        user: entry.user,
        agent: entry.agent,
        mode: mode.map(|(_, mode)| *mode).unwrap_or_default(),
        ..Call::default()
    };
    call.check()?;
    Ok(Made {
        masked: !whole,
        ..alone(call, then)
    })
}

fn asked(agent: Agent, input: &Value) -> Result<Made, String> {
    let asked = agent.read(input.to_string().as_bytes());
    let asked = asked.map_err(|unread| unread.why)?;
    Ok(Made {
        agent: Some(agent),
        id: asked.calls.first().and_then(|call| call.id.clone()),
        asked,
        then: Then::Unknown,
        masked: false,
    })
}

/// A list of words as a command line; a script that it hands to a shell is that script.
fn line_of(words: &[Value]) -> Result<String, String> {
    let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
    let words = words.ok_or("the command of a call is no list of texts")?;
    Ok(match words.as_slice() {
        [
            "bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh" | "/bin/zsh",
            "-lc" | "-c",
            script,
        ] => (*script).to_owned(),
        words => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            words.join(" ")
        }
    })
}

/// What a result tells of its call.
fn ended(result: Option<&Value>) -> Then {
    let text = match result {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => return Then::Unknown,
    };
    let beginning: String = text.chars().take(BEGINNING).collect();
    let mut stopped = STOPPED.iter();
    let known = stopped.find(|(mark, _)| beginning.contains(mark));
    known.map_or(Then::Ran, |(_, then)| *then)
}

#[cfg(test)]
mod tests {
    use super::{Log, Then, ended, line_of};
    use serde_json::json;

    #[test]
    fn what_results_tell() {
        for (result, then) in [
            ("ok", Then::Ran),
            ("exec command rejected by user", Then::Refused),
            ("Command blocked by PreToolUse hook: no", Then::Blocked),
            ("This call of Bash was refused: no", Then::Blocked),
            ("connection was refused", Then::Ran),
        ] {
            assert_eq!(ended(Some(&json!(result))), then, "{result}");
        }
        assert_eq!(ended(None), Then::Unknown);
    }

    #[test]
    fn words_and_scripts() {
        for (words, line) in [
            (json!(["bash", "-lc", "ls | wc"]), "ls | wc"),
            (json!(["git", "commit", "-m", "a b"]), "git commit -m 'a b'"),
            (json!(["bash", "-lc", "ls", "x"]), "bash -lc ls x"),
        ] {
            let told = line_of(words.as_array().unwrap()).unwrap();
            assert_eq!(told, line);
        }
        assert!(line_of(&[json!(1)]).is_err());
    }

    #[test]
    fn parts_of_lines_are_told_and_nothing_more() {
        let lines = [
            r#"{"type":"assistant","cwd":"/w","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"ls"}}]}}"#,
            r#"{"payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"1"}}"#,
            r#"{"type":"gemini","toolCalls":[{"id":"1","name":"read_file","args":{"file_path":"x"},"status":"success"}]}"#,
            r#"{"tool":"bash","args":{"command":"ls"}}"#,
        ];
        for line in lines {
            let told = Log::default().line(line.as_bytes()).unwrap();
            assert_eq!(told.made.len(), 1, "{line}");
            for end in 0..line.len() {
                assert!(
                    Log::default().line(&line.as_bytes()[..end]).is_err(),
                    "{line}"
                );
            }
        }
        // What they hold may be anything.
        for line in [
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}"#,
            r#"{"type":"assistant","cwd":"w","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"x"}}]}}"#,
            r#"{"payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[1]}"}}"#,
            r#"{"type":"gemini","toolCalls":[1]}"#,
        ] {
            assert!(Log::default().line(line.as_bytes()).is_err(), "{line}");
        }
    }
}
