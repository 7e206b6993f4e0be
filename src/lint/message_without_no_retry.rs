//! A text for the model that does not say whether to try again: models then repeat the call.
//!
//! Looks for English words; a text in another script is left alone.

use super::Room;
use crate::finding::Finding;

const CODE: &str = "message-without-no-retry";

/// Looks at the texts for refusals.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in room.files() {
        for (name, text) in &file.messages {
            let lower = text.to_lowercase();
            let says = ["retry", "retrie", "again", "repeat"];
            if !text.is_ascii() || says.iter().any(|word| lower.contains(word)) {
                continue;
            }
            let address = format!("messages.{name}");
            let Some(node) = room.node(&file.source, &address) else {
                continue;
            };
            found.push(
                Finding::lint(
                    CODE,
                    format!("the message `{name}` does not say whether to try again"),
                    &file.source,
                    node.span,
                )
                .label("models repeat a call that only failed")
                .help("add `Do not retry this call.`"),
            );
        }
    }
    found
}
