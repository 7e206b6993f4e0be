//! The example of an agent's loop: what each call gets for a result, in which order things happen, what is asked.

use crate::harness::{Gate, Person, Proposed, STEPS, Script, Tools, call, work};
use serde_json::{Map, Value};

/// A person with one answer, who keeps the questions.
struct Says(Option<&'static str>, Vec<String>);

impl Person for Says {
    fn answer(&mut self, question: &str) -> Option<String> {
        self.1.push(question.to_owned());
        self.0.map(str::to_owned)
    }
}

/// Tools that keep what they ran.
#[derive(Default)]
struct Ran(Vec<String>);

impl Tools for Ran {
    fn run(&mut self, tool: &str, arguments: &Map<String, Value>) -> Result<String, String> {
        self.0.push(tool.to_owned());
        match arguments.get("path").and_then(Value::as_str) {
            Some("gone") => Err("there is no such file".to_owned()),
            _ => Ok("ran".to_owned()),
        }
    }
}

/// The result of one call, what was asked, and what happened.
fn result(proposed: &Proposed, answer: Option<&'static str>) -> (String, Vec<String>, String) {
    let mut gate = Gate::new("/w").unwrap();
    let (mut person, mut tools) = (Says(answer, Vec::new()), Ran::default());
    let result = gate.result(proposed, &mut person, &mut tools);
    assert_eq!(tools.0.is_empty(), !gate.events.contains(&"run"));
    (result, person.1, gate.events.join(" "))
}

#[test]
fn arguments_are_read_before_anything_else() {
    for arguments in ["null", "[1]", "3", "\"x\""] {
        let (told, asked, events) = result(&call("1", "write_file", arguments), Some("y"));
        assert_eq!(
            told, "Error: tool arguments must be a JSON object.",
            "{arguments}"
        );
        assert!(asked.is_empty() && events == "parse", "{events}");
    }
    let (told, _, events) = result(&call("1", "read_file", "{bad"), Some("y"));
    assert!(told.starts_with("Error: invalid JSON arguments - ") && events == "parse");
    for arguments in [None, Some(""), Some("{}")] {
        let proposed = Proposed {
            id: "1",
            tool: "list_dir",
            arguments,
        };
        assert_eq!(result(&proposed, None).0, "ran", "{arguments:?}");
    }
}

#[test]
fn what_runs_and_what_does_not() {
    let denied = "Error: permission denied. ";
    let wrong = "because its arguments are not valid";
    let (ran, refused, asked) = ("parse decide run", "parse decide", "parse decide ask run");
    for (tool, arguments, says, events) in [
        ("read_file", r#"{"path":"x"}"#, "ran", ran),
        ("read_file", r#"{"path":"src/../x"}"#, "ran", ran),
        (
            "read_file",
            r#"{"path":"gone"}"#,
            "tool read_file failed",
            ran,
        ),
        ("read_file", r#"{"path":"../x"}"#, denied, refused),
        ("read_file", r#"{"path":7}"#, wrong, refused),
        ("write_file", r#"{"path":"/etc/x"}"#, denied, refused),
        ("bash", r#"{"command":"git status && pwd"}"#, "ran", ran),
        ("bash", r#"{"command":"rm -rf ."}"#, denied, refused),
        (
            "bash",
            r#"{"command":"echo hi && sudo ls"}"#,
            denied,
            refused,
        ),
        ("bash", r#"{"command":"  "}"#, wrong, refused),
        ("deploy", "{}", denied, refused),
        ("write_file", r#"{"path":"a"}"#, "ran", asked),
        ("bash", r#"{"command":"cargo test"}"#, "ran", asked),
    ] {
        let (told, _, happened) = result(&call("1", tool, arguments), Some(" YES "));
        assert!(told.contains(says), "{tool} {arguments}: {told}");
        assert_eq!(happened, events, "{tool} {arguments}");
        assert_eq!(events == refused, told.contains("Do not re"), "{told}");
    }
}

#[test]
fn nothing_but_a_yes_is_a_yes() {
    let write = call("1", "write_file", r#"{"path":"写.txt"}"#);
    for answer in [None, Some(""), Some("n"), Some("ok"), Some("yep")] {
        let (told, asked, events) = result(&write, answer);
        assert!(
            told.starts_with("Error: user denied permission. "),
            "{answer:?}: {told}"
        );
        assert_eq!(events, "parse decide ask");
        let [asked] = asked.as_slice() else {
            panic!("{asked:?}")
        };
        for part in [
            "Permission required",
            "Tool: write_file",
            "Reason: ",
            "写.txt",
            "[y/N]",
        ] {
            assert!(asked.contains(part), "{asked}");
        }
    }
    for answer in ["y", "yes", "Y\n", " YES "] {
        assert_eq!(result(&write, Some(answer)).0, "ran", "{answer}");
    }
}

#[test]
fn each_call_of_a_turn_has_a_result_of_its_own() {
    let turn = vec![
        call("a", "read_file", r#"{"path":"x"}"#),
        call("b", "bash", r#"{"command":"sudo x"}"#),
        call("c", "read_file", r#"{"path":"y"}"#),
    ];
    let (mut person, mut tools) = (Says(None, Vec::new()), Ran::default());
    let mut gate = Gate::new("/w").unwrap();
    let messages = work(
        "go",
        &mut gate,
        &mut Script(vec![turn.clone()]),
        &mut person,
        &mut tools,
    );
    let told: Vec<(&str, bool)> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| {
            let ran = message["content"] == "ran";
            (message["tool_call_id"].as_str().unwrap(), ran)
        })
        .collect();
    assert_eq!(told, [("a", true), ("b", false), ("c", true)]);
    assert_eq!(messages.last().unwrap()["content"], "done");
    // It ends, whatever the model wants.
    let mut model = Script(vec![turn; STEPS + 1]);
    let messages = work("go", &mut gate, &mut model, &mut person, &mut tools);
    let last = messages.last().unwrap()["content"].as_str().unwrap();
    assert_eq!(last, "step limit reached, task not finished");
    assert_eq!(
        messages.iter().filter(|own| own["role"] == "tool").count(),
        3 * STEPS
    );
}
