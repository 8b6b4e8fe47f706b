//! Batches. Only revision 2025-03-26 has them.

use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Json, McpServer, Tool};
use serde_json::{Value, json};

use crate::support::{Answer, NEWEST, envelope, post};

fn batch(messages: &Value) -> Answer {
    post(messages.to_string()).ask()
}

fn ping(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "ping" })
}

/// Rule 94: the response to a batch is an array with a response for each request, even if ids repeat. Notifications and responses
/// do not get one.
#[test]
fn each_request_of_a_batch_gets_a_response() {
    let list = json!({ "jsonrpc": "2.0", "id": "b", "method": "tools/list" });
    let unknown = json!({ "jsonrpc": "2.0", "id": 2, "method": "no/such" });
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let response = json!({ "jsonrpc": "2.0", "id": 9, "result": {} });
    let answer = batch(&json!([ping(1), note, list, response, unknown, ping(1)]));
    let answers = answer.body.as_ref().and_then(Value::as_array).expect("an array");
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!((answer.status, ids), (200, vec![json!(1), json!("b"), json!(2), json!(1)]));
    assert_eq!(answers[2]["error"]["code"], -32601);
    let one = batch(&json!([ping(1)]));
    assert_eq!(one.body, Some(json!([{ "jsonrpc": "2.0", "id": 1, "result": {} }])), "one message is still an array");
    let unanswered = batch(&json!([note, response]));
    assert_eq!((unanswered.status, unanswered.body), (202, None));
}

/// Rule 94: empty, nested and modern batches are rejected, and so are batches with an invalid message or `initialize`.
#[test]
fn invalid_batches_are_rejected() {
    let initialize =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-03-26" } });
    let modern = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": envelope() } });
    let modern_note = json!({ "jsonrpc": "2.0", "method": "x", "params": { "_meta": envelope() } });
    for messages in [
        json!([]),
        json!([ping(1), 7]),
        json!([[ping(1)]]),
        json!([ping(1), {}]),
        json!([ping(Value::Null)]),
        json!([initialize]),
        json!([ping(1), initialize]),
        json!([ping(1), modern]),
        json!([modern_note]),
    ] {
        assert_eq!(batch(&messages).refusal(), (400, -32600), "{messages}");
    }
}

/// Rules 45 and 94: only revision 2025-03-26 has batches. It is also the default for requests without a version header.
#[test]
fn only_revision_2025_03_26_has_batches() {
    for (version, status) in [
        ("2025-03-26", 200),
        ("2024-11-05", 400),
        ("2025-06-18", 400),
        ("2025-11-25", 400),
        (NEWEST, 400),
        ("nonsense", 400),
    ] {
        let answer = post(json!([ping(1)]).to_string()).header("MCP-Protocol-Version", version).ask();
        assert_eq!(answer.status, status, "{version}");
    }
}

#[test]
fn the_length_of_a_batch_is_limited() {
    let of = |length: i64| json!((0..length).map(ping).collect::<Vec<_>>());
    let answer = batch(&of(100));
    assert_eq!(answer.body.and_then(|body| body.as_array().map(Vec::len)), Some(100), "at the limit");
    assert_eq!(batch(&of(101)).refusal(), (400, -32600), "one message past the limit");
}

/// The messages of a batch share the steps for checks of arguments, and those for checks of results. Separate requests do not.
#[test]
fn the_messages_of_a_batch_share_the_steps_of_checks() {
    // The automaton of this pattern has a new state for nearly every character.
    let costly =
        json!({ "type": "object", "properties": { "n": { "type": "string", "pattern": "(a|b)*a(a|b){400}c" } } });
    let any = json!({ "type": "object" });
    let mut noise = 1_u32;
    let mut letter = || {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if noise & 0x1_0000 == 0 { 'a' } else { 'b' }
    };
    let text: String = (0..2_000).map(|_| letter()).collect();
    for (name, input, output) in [("arguments", &costly, &any), ("results", &any, &costly)] {
        let (input, output) = (input.clone(), output.clone());
        let endpoint = testing::endpoint(move |_| {
            let echo = |arguments: Value| async move { Json(arguments) };
            McpServer::builder("echo", "1").tool(Tool::with_schema("t", "T.", &input, Some(&output), echo)).build()
        });
        let params = json!({ "name": "t", "arguments": { "n": text } });
        let call = |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        // The caller sees the mistakes in arguments. Mistakes in results are in the log.
        let takes_too_long = |messages: Value| {
            let host = TestHost::new();
            let ask = post(messages.to_string()).header("MCP-Protocol-Version", "2025-03-26");
            let answer = ask.ask_on(&endpoint, &host).body.expect("a body");
            [answer.to_string(), host.log_text()].iter().any(|text| text.contains("this takes too long to check"))
        };
        assert!((0..3).all(|id| !takes_too_long(call(id))), "{name}");
        assert!(takes_too_long((0..30).map(call).collect()), "{name}");
    }
}
