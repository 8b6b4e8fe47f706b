//! Hostile requests. Each gets a JSON-RPC message or an empty body, never a 5xx, with the request id if it can be read.
//!
//! `support` checks the invariants of every response.

use serde_json::json;

use crate::support::{Ask, NEWEST, legacy, modern, post};

/// Returns a call of `say` with these bytes as its arguments, as a legacy request and as a modern one.
fn calls(arguments: &[u8]) -> [Ask; 2] {
    let message = |meta: &str| {
        let head =
            format!(r#"{{"jsonrpc":"2.0","id":"n","method":"tools/call","params":{{{meta}"name":"say","arguments":"#);
        [head.as_bytes(), arguments, b"}}"].concat()
    };
    let envelope = format!(r#""_meta":{},"#, crate::support::envelope());
    let modern = [("MCP-Protocol-Version", NEWEST), ("Mcp-Method", "tools/call"), ("Mcp-Name", "say")];
    let modern = modern.into_iter().fold(post(message(&envelope)), |ask, (name, value)| ask.header(name, value));
    [post(message("")), modern]
}

/// Arguments that are not JSON, ambiguous or beyond the JSON limits get 400. Other arguments are checked by the schema of the tool.
#[test]
fn hostile_arguments_are_rejected() {
    let deep = |levels: usize| [b"{\"text\":".as_slice(), &b"[".repeat(levels), &b"]".repeat(levels), b"}"].concat();
    let wide = [b"{\"text\":[".as_slice(), &b"0,".repeat(99_999), b"0]}"].concat();
    let too_wide = [b"{\"text\":[".as_slice(), &b"0,".repeat(600_000), b"0]}"].concat();
    let cases: [(&str, Vec<u8>, u16); 19] = [
        ("invalid UTF-8", b"{\"text\":\"\xff\xfe\"}".to_vec(), 400),
        ("an overlong encoding", b"{\"text\":\"\xc0\xaf\"}".to_vec(), 400),
        ("truncated", b"{\"text\":".to_vec(), 400),
        ("128 levels", deep(128), 400),
        ("1 000 000 levels", deep(1_000_000), 400),
        ("90 levels", deep(90), 200),
        ("100 000 elements", wide, 200),
        ("600 000 elements", too_wide, 400),
        ("1e400", b"{\"text\":1e400}".to_vec(), 200),
        ("2^63", b"{\"text\":\"a\",\"times\":9223372036854775808}".to_vec(), 200),
        ("a number of 1000 digits", [b"{\"times\":".as_slice(), &b"9".repeat(1000), b"}"].concat(), 200),
        ("duplicate keys", b"{\"text\":\"a\",\"text\":\"b\"}".to_vec(), 400),
        ("duplicate keys, one escaped", b"{\"text\":\"a\",\"t\\u0065xt\":\"b\"}".to_vec(), 400),
        ("__proto__", b"{\"text\":\"a\",\"__proto__\":{\"times\":2}}".to_vec(), 200),
        ("constructor", b"{\"constructor\":{\"prototype\":{}}}".to_vec(), 200),
        ("a lone surrogate", b"{\"text\":\"\\ud800\"}".to_vec(), 400),
        ("NUL, escaped", b"{\"text\":\"a\\u0000b\"}".to_vec(), 200),
        ("NUL, raw", b"{\"text\":\"a\0b\"}".to_vec(), 400),
        ("a 100 KB string", [b"{\"text\":\"".as_slice(), &b"x".repeat(100_000), b"\"}"].concat(), 200),
    ];
    for (case, arguments, status) in &cases {
        for ask in calls(arguments) {
            let answer = ask.ask();
            assert_eq!(answer.status, *status, "{case}");
            let body = answer.body.as_ref().expect("an answer");
            if *status == 200 {
                assert!(body["result"]["isError"] == true || *case == "NUL, escaped", "{case}: {body}");
            }
            let says = body.to_string();
            assert!(says.len() < 2000, "{case}: the response repeats the input, {} bytes", says.len());
            assert!(!says.contains("serde") && !says.contains("src/"), "{case}: {says}");
        }
    }
}

/// Names, ids and URIs of any length and content get an error with the exact id.
#[test]
fn hostile_names_and_ids_get_an_error_with_the_id() {
    for name in [
        "x".repeat(100_000),
        "\0".into(),
        "__proto__".into(),
        "../../etc/passwd".into(),
        "é\u{202e}".into(),
        String::new(),
    ] {
        let id = json!(name);
        for (method, params) in [
            (name.as_str(), json!({})),
            ("tools/call", json!({ "name": name })),
            ("resources/read", json!({ "uri": name })),
            ("resources/read", json!({ "uri": format!("test://nothing/{name}") })),
            ("tools/list", json!({ "cursor": name })),
        ] {
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            let answer = post(message.to_string()).ask();
            assert_eq!((answer.status, &answer.body.as_ref().expect("an answer")["id"]), (200, &id));
            let length = answer.message().len();
            assert!(length < 1000, "the message repeats the input, {length} bytes");
        }
    }
}

/// Malformed and very long headers are rejected or ignored.
#[test]
fn hostile_headers_are_rejected_or_ignored() {
    let huge = "x".repeat(100_000);
    for (name, value, status) in [
        ("MCP-Protocol-Version", b"\xff\xfe".as_slice(), 400),
        ("MCP-Protocol-Version", b"".as_slice(), 400),
        ("Mcp-Method", b"\xe9".as_slice(), 400),
        ("Mcp-Method", b"".as_slice(), 400),
        ("Mcp-Name", b"\xff".as_slice(), 400),
        ("Mcp-Name", huge.as_bytes(), 431),
        ("Mcp-Name", b"=?base64?\xff?=".as_slice(), 400),
        ("Accept", b"\xff".as_slice(), 406),
        ("Content-Type", b"\xff".as_slice(), 415),
        ("Content-Length", b"\xff".as_slice(), 200),
        ("Origin", b"\xff".as_slice(), 403),
        ("Origin", b"http://localhost\xff".as_slice(), 403),
        ("Mcp-Session-Id", b"\xff".as_slice(), 200),
        ("Cookie", huge.as_bytes(), 200),
    ] {
        let answer = modern("tools/call", json!({ "name": "nothing" })).replace(name, value).ask();
        assert_eq!(answer.status, status, "{name}: {:?}", String::from_utf8_lossy(value.get(..20).unwrap_or(value)));
    }
}

/// A parameter of a wrong type gets 200 with a result or an error for the client, not an internal error.
#[test]
fn parameters_of_wrong_types_are_not_internal_errors() {
    for value in [json!(null), json!(true), json!(-1), json!("x"), json!([]), json!({})] {
        for (method, param) in [
            ("initialize", "protocolVersion"),
            ("initialize", "capabilities"),
            ("initialize", "clientInfo"),
            ("tools/list", "cursor"),
            ("tools/call", "name"),
            ("tools/call", "arguments"),
            ("resources/list", "cursor"),
            ("resources/templates/list", "cursor"),
            ("resources/read", "uri"),
            ("ping", "anything"),
        ] {
            let answer = legacy(method, json!({ param: value })).ask();
            assert_eq!(answer.status, 200, "{method} {param} {value}");
            let code = answer.body.as_ref().expect("an answer")["error"]["code"].as_i64();
            assert!(matches!(code, None | Some(-32602 | -32002)), "{method} {param} {value}: {code:?}");
        }
    }
}
