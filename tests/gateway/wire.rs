//! Words and JSON that others rely on: only added to, never changed.

use crate::support::word;
use acl::policy::Verdict;
use acl::session::gateway::wire::{
    Basis, Confirmation, EVENT, NotRun, Path, PermissionEvent, Remember, STATE_KEY, Status,
    Terminal,
};
use acl::session::gateway::{Granted, Submitted};
use serde_json::json;

#[test]
fn constants() {
    assert_eq!(EVENT, "tool_confirmation");
    assert_eq!(STATE_KEY, "__pending_tool_confirmation__");
    let statuses = [Status::Pending, Status::Approved, Status::Denied].map(word);
    assert_eq!(statuses, ["pending", "approved", "denied"]);
    assert_eq!([Path::Live, Path::Recovery].map(word), ["live", "recovery"]);
    let remember = [Remember::None, Remember::Session, Remember::Global].map(word);
    assert_eq!(remember, ["", "session", "global"]);
}

/// What an end may rest on, and what never ends a call.
#[test]
fn vocabulary() {
    let words = [
        "tier",
        "verdict",
        "endorsement",
        "grant",
        "duplicate",
        "canceled",
        "persist-failed",
        "approval",
        "refusal",
        "unavailable",
        "arguments",
        "unknown-tool",
        "protected",
        "workspace",
        "rule",
        "opaque",
        "unresolved",
        "mode",
        "session",
    ];
    for text in words {
        let basis: Basis = serde_json::from_value(json!(text)).expect(text);
        assert_eq!(word(basis), text);
    }
    for internal in ["forced", "baseline"] {
        assert!(serde_json::from_value::<Basis>(json!(internal)).is_err());
    }
    for basis in acl::decision::Basis::ALL {
        assert!(words.contains(&word(Basis::from(basis)).as_str()));
    }
}

fn confirmation() -> Confirmation {
    Confirmation {
        confirmation_id: "c1".into(),
        tool_call_id: "c1".into(),
        tool_name: "delete_note".into(),
        arguments: json!({"id": "n2"}).as_object().cloned(),
        session_id: "s1".into(),
        status: Status::Approved,
        decided_by: Some("ada".into()),
        created_at: 1_700_000_000_000,
    }
}

#[test]
fn a_confirmation() {
    let whole = json!({
        "confirmationId": "c1", "toolCallId": "c1", "toolName": "delete_note", "arguments": {"id": "n2"},
        "sessionId": "s1", "status": "approved", "decidedBy": "ada", "createdAt": 1_700_000_000_000_i64,
    });
    assert_eq!(serde_json::to_value(confirmation()).unwrap(), whole);
    let bare = Confirmation {
        arguments: None,
        decided_by: None,
        status: Status::Pending,
        ..confirmation()
    };
    let bare = serde_json::to_value(bare).unwrap();
    let fields: Vec<&String> = bare.as_object().unwrap().keys().collect();
    let expected = [
        "confirmationId",
        "createdAt",
        "sessionId",
        "status",
        "toolCallId",
        "toolName",
    ];
    assert_eq!(fields, expected, "what is not there is left out");
}

#[test]
fn an_end() {
    let end = Terminal {
        call: "c1".into(),
        session: "s1".into(),
        tool: "delete_note".into(),
        allowed: true,
        basis: Basis::Approval,
        source: None,
        text: None,
        decided_by: Some("ada".into()),
        path: Some(Path::Recovery),
        result: Some("gone".into()),
    };
    assert!(!end.to_run(), "it ran already");
    assert_eq!(end.event(), None, "a person's word is no event");
    let json = json!({
        "call": "c1", "session": "s1", "tool": "delete_note", "allowed": true, "basis": "approval",
        "decidedBy": "ada", "path": "recovery", "result": "gone",
    });
    assert_eq!(serde_json::to_value(&end).unwrap(), json);
    let refused = Terminal {
        allowed: false,
        basis: Basis::Verdict,
        source: Some("risk".into()),
        text: Some("no".into()),
        decided_by: None,
        path: None,
        result: None,
        ..end
    };
    let event = PermissionEvent {
        call: "c1".into(),
        allowed: false,
        basis: Basis::Verdict,
        source: Some("risk".into()),
    };
    assert_eq!(refused.event(), Some(event.clone()));
    assert_eq!(
        serde_json::to_value(event).unwrap(),
        json!({"call": "c1", "allowed": false, "basis": "verdict", "source": "risk"})
    );
}

#[test]
fn what_became_of_a_call() {
    let pending = Submitted::Pending(confirmation());
    let json = serde_json::to_value(&pending).unwrap();
    assert_eq!(json["state"], "pending");
    assert_eq!(json["confirmationId"], "c1");
    assert_eq!(serde_json::from_value::<Submitted>(json).unwrap(), pending);
}

#[test]
fn a_grant() {
    let json = json!({
        "id": "x", "user": "u1", "session": "s1", "tool": "delete_note", "created_by": "ada",
        "created_at": 1_700_000_000_000_i64,
    });
    let granted: Granted = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(granted).unwrap(), json);
}

/// Of trpc-agent-go: "denied result shape", "ask result shape", "empty reason is omitted from the result".
#[test]
fn a_call_that_does_not_run() {
    let rows = [
        (
            Verdict::Deny,
            "no",
            json!({"status": "denied", "tool": "t", "reason": "no"}),
        ),
        (
            Verdict::Ask,
            "hm",
            json!({"status": "approval_required", "tool": "t", "reason": "hm"}),
        ),
        (Verdict::Deny, "", json!({"status": "denied", "tool": "t"})),
    ];
    for (verdict, reason, json) in rows {
        let shown = NotRun::of(verdict, "t", reason);
        assert_eq!(serde_json::to_value(shown).unwrap(), json);
    }
    assert_eq!(NotRun::of(Verdict::Allow, "t", ""), None);
}

/// "denial result carries role tool and the call id".
#[test]
fn a_message() {
    let end: Terminal = serde_json::from_value(json!({
        "call": "k1", "session": "s1", "tool": "x", "allowed": false, "basis": "tier", "text": "no",
    }))
    .unwrap();
    assert_eq!(
        serde_json::to_value(end.message()).unwrap(),
        json!({"role": "tool", "tool_call_id": "k1", "content": "no"})
    );
    let allowed = Terminal {
        allowed: true,
        text: None,
        ..end
    };
    assert_eq!(allowed.message(), None, "its host has yet to run it");
}
