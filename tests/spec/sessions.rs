//! What needs a session is refused: by name, with the reason, and with what to do instead.

use serde_json::json;

use crate::support::{legacy, modern, post};

/// Rule 68: methods that need a session say so, and none is declared.
#[test]
fn methods_say_why() {
    for (method, feature) in [
        ("resources/subscribe", "resources/subscribe"),
        ("resources/unsubscribe", "resources/subscribe"),
        ("logging/setLevel", "logging/setLevel"),
        ("tasks/get", "tasks"),
        ("tasks/result", "tasks"),
        ("tasks/list", "tasks"),
        ("tasks/cancel", "tasks"),
    ] {
        for (answer, status) in [(legacy(method, json!({})).ask(), 200), (modern(method, json!({})).ask(), 404)] {
            assert_eq!(answer.refusal(), (status, -32601), "{method}");
            assert!(answer.message().contains("needs a session") && answer.message().contains("Instead"));
            let data = &answer.error()["data"];
            assert_eq!((&data["feature"], &data["mode"]), (&json!(feature), &json!("serverless")), "{method}");
            assert!(data["reason"].is_string() && data["alternative"].is_string(), "{method}");
        }
    }
}

/// Rule 92: so do the verbs that belong to sessions.
#[test]
fn verbs_say_why() {
    for verb in ["GET", "DELETE"] {
        let answer = post("").verb(verb).header("Last-Event-ID", "7").ask();
        assert_eq!(answer.refusal(), (405, -32600));
        assert_eq!(answer.error()["data"]["feature"], verb);
    }
}
