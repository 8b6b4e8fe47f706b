//! JSON-RPC: messages, ids, errors.

use serde_json::json;

use crate::support::{NEWEST, envelope, legacy, modern, modern_as, post};

/// Rules 1, 4 and 39: the response to every request is one JSON-RPC message. `support` also checks its form.
#[test]
fn every_response_is_one_json_rpc_message() {
    for method in
        ["initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/read", "prompts/get", "x"]
    {
        for params in [json!({}), json!({ "name": "nothing" }), json!({ "uri": "test://text" })] {
            for ask in [legacy(method, params.clone()), modern(method, params.clone())] {
                let body = ask.ask().body.expect("a body");
                assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(1)), "{method}: {body}");
                assert!(body.get("result").is_some() != body.get("error").is_some(), "{method}: {body}");
            }
        }
    }
}

/// Rule 2: a response has the id of its request, with the same value and type.
#[test]
fn responses_have_the_id_of_their_request() {
    for id in [json!(1), json!("1"), json!("a/ü"), json!(""), json!(0), json!(-5), json!(9_007_199_254_740_991_i64)] {
        let answer = modern_as(&id, "tools/list", json!({})).ask();
        assert_eq!(answer.body.expect("an answer")["id"], id);
    }
    // These bodies are text, because the number types of this test would round the ids.
    for id in ["18446744073709551616", "-9223372036854775809", r#""\u00e9""#, "1.0"] {
        let answer = post(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).ask();
        assert_eq!(answer.status, 200, "{id}");
        assert!(String::from_utf8_lossy(answer.body()).contains(&format!(r#""id":{id},"#)), "{id}");
    }
}

/// A parameter that is `null` is an absent one, and so are the parameters as a whole. Clients of languages with optional values send it.
#[test]
fn null_parameters_are_absent_ones() {
    for (method, params) in [
        ("ping", "null"),
        ("tools/list", r#"{"cursor":null,"_meta":null}"#),
        ("tools/call", r#"{"name":"nothing","arguments":null,"_meta":null}"#),
        ("prompts/list", "null"),
    ] {
        let answer = post(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)).ask();
        assert!(answer.result().is_object(), "{method}");
    }
    for ask in [modern, legacy] {
        let required = ask("tools/call", json!({ "name": "say", "arguments": null })).ask();
        assert!(required.tool_text().0.contains("`text` is required"));
    }
    assert!(legacy("tools/call", json!({ "name": null })).ask().message().contains("`params.name` is missing"));
}

/// Rules 3 and 7: JSON that is not a message gets 400 with -32600, and its id if it has a valid one.
#[test]
fn json_that_is_not_a_message_is_rejected() {
    for (body, id) in [
        ("null", None),
        ("7", None),
        ("\"x\"", None),
        ("{}", None),
        (r#"{"foo":1}"#, None),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, Some(json!(1))),
        (r#"{"id":1,"method":"ping"}"#, Some(json!(1))),
        (r#"{"jsonrpc":2.0,"id":"a","method":"ping"}"#, Some(json!("a"))),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Some(json!(1))),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, Some(json!(1))),
        (r#"{"jsonrpc":"2.0","id":1}"#, Some(json!(1))),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1e2,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, None),
    ] {
        let answer = post(body).ask();
        assert_eq!(answer.refusal(), (400, -32600), "{body}");
        assert_eq!(answer.body.expect("an answer").get("id"), id.as_ref(), "{body}");
    }
}

/// Rules 6 and 7: a body that cannot be parsed gets 400 with -32700, without an id.
#[test]
fn a_body_that_is_not_json_is_rejected() {
    for body in ["", "{", "nonsense", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", "\u{feff}{}"] {
        let answer = post(body).ask();
        assert_eq!(answer.refusal(), (400, -32700), "{body}");
        assert!(answer.body.expect("an answer").get("id").is_none(), "{body}");
    }
}

/// Rule 6: an error has the id of the message if the id can be read, even if the rest of the message is invalid.
#[test]
fn an_error_has_the_id_if_it_can_be_read() {
    let bodies = [
        r#"{"jsonrpc":"2.0","id":"x","method":"ping","params":{"a":1,"a":2}}"#.into(),
        format!(r#"{{"jsonrpc":"2.0","params":{}{},"id":"x","method":"ping"}}"#, "[".repeat(5000), "]".repeat(5000)),
        r#"{"jsonrpc":"2.0","method":"server/discover","id":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}}"#.into(),
    ];
    for body in bodies {
        let answer = post(body.as_str()).ask();
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.body.expect("an answer")["id"], "x", "{body}");
    }
}

/// Rules 5, 40 and 96: every notification gets 202 without a body, even if its method is unknown or its parameters are malformed.
#[test]
fn notifications_get_202_without_a_body() {
    for message in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }),
        json!({ "jsonrpc": "2.0", "method": "no/such" }),
        json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": 7 } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": { "_meta": envelope() } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": { "_meta": { "io.modelcontextprotocol/protocolVersion": 7 } } }),
    ] {
        for version in [None, Some("2025-11-25"), Some(NEWEST)] {
            let ask = post(message.to_string());
            let answer =
                version.into_iter().fold(ask, |ask, version| ask.header("MCP-Protocol-Version", version)).ask();
            assert_eq!((answer.status, &answer.body), (202, &None), "{message} {version:?}");
        }
    }
}

/// Rule 45: the server sends no requests, so it expects no responses. Older revisions ignore a response, and 2026-07-28 rejects it.
#[test]
fn responses_are_ignored_or_rejected_by_revision() {
    for message in
        [json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), json!({ "jsonrpc": "2.0", "id": 1, "error": {} })]
    {
        let answer = post(message.to_string()).ask();
        assert_eq!((answer.status, answer.body), (202, None));
        let answer = post(message.to_string()).header("MCP-Protocol-Version", NEWEST).ask();
        assert_eq!(answer.refusal(), (400, -32600));
    }
}

/// Rules 8, 9 and 97: error codes below -32000 are codes of the specification.
#[test]
fn error_codes_are_those_of_the_specification() {
    let asks = [
        modern("no/such", json!({})),
        modern("tools/call", json!({ "name": "no-such" })),
        modern("resources/read", json!({ "uri": "test://no-such" })),
        modern("resources/read", json!({ "uri": "test://broken" })),
        modern("tools/list", json!({ "cursor": 1 })),
        modern("tools/list", json!({})).replace("Mcp-Method", "x"),
        legacy("no/such", json!({})),
        post("{").verb("GET"),
        post("{").header("Origin", "https://evil.example"),
    ];
    for ask in asks {
        let (_, code) = ask.clone().ask().refusal();
        assert!([-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022].contains(&code), "{code} for {ask:?}");
    }
}
