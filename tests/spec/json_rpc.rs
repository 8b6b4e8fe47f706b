//! JSON-RPC: messages, ids, errors.

use serde_json::json;

use crate::support::{NEWEST, envelope, legacy, modern, modern_as, post};

/// Rules 1, 4 and 39: whatever is asked, the answer is one JSON-RPC message: `support` checks its form as it comes in.
#[test]
fn every_answer_is_a_message() {
    for method in
        ["initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/read", "prompts/get", "x"]
    {
        for params in [json!({}), json!({ "name": "nothing" }), json!({ "uri": "test://text" })] {
            for ask in [legacy(method, params.clone()), modern(method, params.clone())] {
                let body = ask.ask().body.expect("an answer");
                assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(1)), "{method}: {body}");
                assert!(body.get("result").is_some() != body.get("error").is_some(), "{method}: {body}");
            }
        }
    }
}

/// Rule 2: the id comes back with its value and its type.
#[test]
fn ids_come_back_as_they_were() {
    for id in [json!(1), json!("1"), json!("a/ü"), json!(""), json!(0), json!(-5), json!(9_007_199_254_740_991_i64)] {
        let answer = modern_as(&id, "tools/list", json!({})).ask();
        assert_eq!(answer.body.expect("an answer")["id"], id);
    }
    // As text, so that no number type of this test rounds it.
    for id in ["18446744073709551616", "-9223372036854775809", r#""\u00e9""#] {
        let answer = post(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).ask();
        assert_eq!(answer.status, 200, "{id}");
    }
}

/// Rules 3 and 7: JSON that is no message is 400 with -32600, and carries the id where there is one.
#[test]
fn what_is_no_message_is_refused() {
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
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#, Some(json!(1))),
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

/// Rules 6 and 7: what cannot be parsed is 400 with -32700 and no id.
#[test]
fn what_is_no_json_is_refused() {
    for body in ["", "{", "nonsense", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", "\u{feff}{}"] {
        let answer = post(body).ask();
        assert_eq!(answer.refusal(), (400, -32700), "{body}");
        assert!(answer.body.expect("an answer").get("id").is_none(), "{body}");
    }
}

/// Rule 6: where the id can be read, an error carries it, whatever else is wrong with the message.
#[test]
fn an_error_carries_the_id_that_can_be_read() {
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

/// Rules 5, 40 and 96: a notification, known or not, well-formed or not, gets 202 and nothing else.
#[test]
fn notifications_get_no_answer() {
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

/// Rule 45: nothing was asked of the client. Older revisions let it pass, 2026-07-28 refuses it.
#[test]
fn a_response_is_nothing_to_answer() {
    for message in
        [json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), json!({ "jsonrpc": "2.0", "id": 1, "error": {} })]
    {
        let answer = post(message.to_string()).ask();
        assert_eq!((answer.status, answer.body), (202, None));
        let answer = post(message.to_string()).header("MCP-Protocol-Version", NEWEST).ask();
        assert_eq!(answer.refusal(), (400, -32600));
    }
}

/// Rules 8, 9 and 97: of the codes below -32000, only those of the specification are used, each where it belongs.
#[test]
fn codes_are_the_specifications() {
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
