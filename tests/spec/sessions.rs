//! Features that need a session are rejected. The error names the feature, the reason and an alternative.

use serde_json::json;

use crate::support::{legacy, modern, post};

/// Rule 68: the error of a method that needs a session names the reason and an alternative.
#[test]
fn methods_that_need_a_session_are_rejected_with_a_reason() {
    for (method, feature) in [
        ("resources/subscribe", "resources/subscribe"),
        ("resources/unsubscribe", "resources/unsubscribe"),
        ("logging/setLevel", "logging/setLevel"),
    ] {
        for (answer, status) in [(legacy(method, json!({})).ask(), 200), (modern(method, json!({})).ask(), 404)] {
            assert_eq!(answer.refusal(), (status, -32601), "{method}");
            assert!(answer.message().contains(&format!("{method} needs a session")));
            assert!(answer.message().contains("Instead") && !answer.message().contains("ttlMs"));
            let data = &answer.error()["data"];
            assert_eq!((&data["feature"], &data["mode"]), (&json!(feature), &json!("serverless")), "{method}");
            assert!(data["reason"].is_string() && data["alternative"].is_string(), "{method}");
        }
    }
}

/// The methods of tasks need a store. The error says so, and names an alternative.
#[test]
fn methods_of_tasks_are_rejected_with_a_reason() {
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result"] {
        for (answer, status) in [(legacy(method, json!({})).ask(), 200), (modern(method, json!({})).ask(), 404)] {
            assert_eq!(answer.refusal(), (status, -32601), "{method}");
            assert!(answer.message().contains("store") && answer.message().contains("Instead"), "{method}");
            assert_eq!(answer.error()["data"]["feature"], "tasks", "{method}");
        }
    }
}

/// Rule 92: the error for `GET` and `DELETE`, which need a session, has the feature in its data.
#[test]
fn http_methods_of_sessions_are_rejected_with_a_reason() {
    for verb in ["GET", "DELETE"] {
        let answer = post("").verb(verb).header("Last-Event-ID", "7").ask();
        assert_eq!(answer.refusal(), (405, -32600));
        assert_eq!(answer.error()["data"]["feature"], verb);
    }
}
