//! Handlers that panic in a program that unwinds. Only the result of the panicking handler is lost.

use edge_mcp::testing;
use edge_mcp::{Context, Endpoint, McpServer, Prompt, Resource, Tool};
use futures::future::LocalBoxFuture;
use serde_json::json;

use crate::support::{Answer, at_second, legacy, modern_as, post};

const BOTH: &str = "application/json, text/event-stream";

fn breaks(why: &str) -> LocalBoxFuture<'static, String> {
    let why = why.to_owned();
    Box::pin(async move { panic!("{why}") })
}

fn endpoint() -> Endpoint {
    testing::endpoint(|_| {
        let tells = |cx: Context| {
            cx.progress(1.0, None, "started");
            breaks("a tool that tells")
        };
        McpServer::builder("s", "1")
            .tool(Tool::new("whole", "Is whole.", || async { "whole" }))
            .tool(Tool::new("breaks", "Breaks.", || breaks("a tool")))
            .tool(Tool::new("tells", "Tells, and breaks.", tells))
            .resource(Resource::new("test://breaks", || breaks("a resource")))
            .prompt(Prompt::new("breaks", || breaks("a prompt")))
            .build()
    })
}

fn assert_internal_error(answer: &Answer) {
    assert_eq!((answer.status, answer.error()["code"].as_i64()), (200, Some(-32603)), "{answer:?}");
    assert_eq!(answer.message(), "The server failed to answer this request. Its log says why.");
}

#[test]
fn a_panic_is_an_internal_error_with_one_log_line() {
    for (method, params) in [
        ("tools/call", json!({ "name": "breaks" })),
        ("resources/read", json!({ "uri": "test://breaks" })),
        ("prompts/get", json!({ "name": "breaks" })),
    ] {
        let host = at_second(0);
        let answer = modern_as(&json!("b"), method, params.clone()).ask_on(&endpoint(), &host);
        assert_internal_error(&answer);
        assert_eq!(answer.body.as_ref().map(|body| body["id"].clone()), Some(json!("b")), "{method}");
        assert_eq!((host.log().len(), host.log()[0]["error"].clone()), (1, json!(-32603)), "{method}");
        assert_internal_error(&legacy(method, params).ask_at(&endpoint()));
    }
}

#[test]
fn other_messages_of_a_batch_are_answered() {
    let call =
        |id: u8, name: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } });
    let batch = json!([call(1, "whole"), call(2, "breaks"), call(3, "whole")]);
    let answer = post(batch.to_string()).ask_at(&endpoint());
    let answers = answer.body.expect("a body");
    for (n, id) in [(0, 1), (2, 3)] {
        assert_eq!((&answers[n]["id"], &answers[n]["result"]["content"][0]["text"]), (&json!(id), &json!("whole")));
    }
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!(2), &json!(-32603)));
}

#[test]
fn a_stream_of_a_panicking_handler_ends_with_an_error() {
    let params = json!({ "name": "tells", "_meta": { "progressToken": "p" } });
    let answer = legacy("tools/call", params).header("Accept", BOTH).ask_at(&endpoint());
    assert_eq!(answer.notifications.len(), 1, "{answer:?}");
    assert_internal_error(&answer);
}
