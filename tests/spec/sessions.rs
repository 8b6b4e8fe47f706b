//! What needs a session is refused: by name, with the reason, and with what to do instead.

use edge_mcp::server::{McpServer, SessionRequired};
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

/// And so do the calls in Rust that a server with sessions would have.
#[test]
fn rust_calls_say_why() {
    let server = McpServer::builder("s", "1").build().expect("a server");
    for (result, feature) in [
        (server.notify_updated("a://b"), SessionRequired::ResourceUpdated),
        (server.notify_list_changed(), SessionRequired::ListChanged),
        (server.session_id().map(|_| ()), SessionRequired::SessionId),
        (server.start_stdio(), SessionRequired::Stdio),
        (server.start_sse(), SessionRequired::HttpSse),
    ] {
        assert_eq!(result, Err(feature));
        assert!(feature.to_string().contains("this server is serverless"), "{feature}");
    }
}
