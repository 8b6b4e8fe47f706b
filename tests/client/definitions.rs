//! The definitions of tools: the headers that they require, the results that they promise, and the hints that they give.

use edge_mcp::McpServer;
use edge_mcp::client::{CallResult, ClientError, Definition, Executed, Failure, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, TestHost};
use serde_json::{Value, json};

use crate::calls::{at, client, context, modern};
use crate::peer::{Answer, Peer, error, result};

fn pinned(peer: &Peer) -> Upstream {
    at(peer).revision(Revision::V2026_07_28)
}

fn listed(tool: Value) -> Definition {
    Definition::from_json(&json!({ "server": "parcels", "tool": tool }).to_string()).expect("a definition")
}

/// Calls the tool `track`, with this definition.
fn call(upstream: Upstream, definition: Option<&Definition>, arguments: Value) -> Result<CallResult, ClientError> {
    let host = TestHost::new();
    let connection = client(upstream).connect(&context(&host));
    let call = connection.call("parcels_track", arguments)?;
    let call = match definition {
        Some(definition) => call.definition(definition),
        None => call,
    };
    testing::run(host.run(async move { call.await })).expect("the call ends")
}

fn tools(tools: &[Value]) -> Answer {
    result(json!({ "tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private" }))
}

/// A tool whose arguments `region`, `weight` and `now` are repeated in headers.
fn marked() -> Value {
    json!({ "name": "track", "inputSchema": { "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
        "weight": { "type": "integer", "x-mcp-header": "Weight" },
        "at": { "type": "object", "properties": { "now": { "type": "boolean", "x-mcp-header": "Now" } } },
        "note": { "type": "string" },
    } } })
}

/// The values of the headers that repeat arguments.
fn param_headers(peer: &Peer, nth: usize) -> Vec<(String, String)> {
    let requests = peer.requests();
    let headers = requests[nth].headers().iter();
    let mut found: Vec<_> = headers
        .filter(|(name, _)| name.as_str().starts_with("mcp-param-"))
        .map(|(name, value)| (name.to_string(), value.to_str().expect("text").to_owned()))
        .collect();
    found.sort();
    found
}

/// C8, C9: each marked argument that is a string, a number or a boolean has its header.
#[test]
fn arguments_are_repeated_in_headers() {
    for (arguments, expected) in [
        (json!({ "region": "eu", "note": "x" }), vec![("mcp-param-region", "eu")]),
        (json!({ "weight": 42, "at": { "now": true } }), vec![("mcp-param-now", "true"), ("mcp-param-weight", "42")]),
        (json!({ "weight": 42.0, "region": null }), vec![("mcp-param-weight", "42")]),
        (json!({ "region": "" }), vec![("mcp-param-region", "=?base64??=")]),
        (json!({ "region": "日本" }), vec![("mcp-param-region", "=?base64?5pel5pys?=")]),
        (json!({ "region": "a\r\nb: c" }), vec![("mcp-param-region", "=?base64?YQ0KYjogYw==?=")]),
        (json!({ "region": ["eu"], "at": "now" }), vec![]),
        (json!({}), vec![]),
        (json!(null), vec![]),
    ] {
        let peer = Peer::new([modern("in Lyon")]);
        call(pinned(&peer), Some(&listed(marked())), arguments.clone()).expect("a result");
        let expected: Vec<_> = expected.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        assert_eq!(param_headers(&peer, 0), expected, "{arguments}");
    }
    let peer = Peer::new([]);
    let error =
        call(pinned(&peer), Some(&listed(marked())), json!({ "region": "x".repeat(5000) })).expect_err("too long");
    assert_eq!(
        error.to_string(),
        "The server `parcels` was not called: the arguments that headers must repeat are too long."
    );
    assert!(peer.requests().is_empty());
}

/// C9: a tool with an invalid mark is left out of the list, with the reason.
#[test]
fn a_tool_with_invalid_marks_is_left_out() {
    let with =
        |properties: Value| json!({ "name": "x", "inputSchema": { "type": "object", "properties": properties } });
    let many: serde_json::Map<_, _> = (0..17)
        .map(|nth| (format!("p{nth}"), json!({ "type": "string", "x-mcp-header": format!("P{nth}") })))
        .collect();
    let invalid = [
        with(json!({ "a": { "type": "string", "x-mcp-header": "" } })),
        with(json!({ "a": { "type": "string", "x-mcp-header": "a b" } })),
        with(json!({ "a": { "type": "string", "x-mcp-header": 7 } })),
        with(json!({ "a": { "type": "number", "x-mcp-header": "A" } })),
        with(json!({ "a": { "type": "array", "items": { "type": "string", "x-mcp-header": "A" } } })),
        with(json!({ "a": { "type": "string", "x-mcp-header": "A" }, "b": { "type": "string", "x-mcp-header": "a" } })),
        with(many.into()),
    ];
    for tool in invalid {
        let peer = Peer::new([tools(&[tool.clone(), marked()])]);
        let host = TestHost::new();
        let connection = client(pinned(&peer)).connect(&context(&host));
        let list = testing::run(host.run(connection.list_tools())).expect("the list ends");
        assert_eq!(list.items.iter().map(Definition::name).collect::<Vec<_>>(), ["track"], "{tool}");
        assert_eq!(list.left_out.len(), 1, "{tool}");
        assert!(
            list.left_out[0].starts_with("The tool `x` of the server `parcels` is not valid: "),
            "{:?}",
            list.left_out
        );
        assert!(list.left_out[0].contains("x-mcp-header"), "{:?}", list.left_out);
    }
    // An escape hides a mark from a search of the text.
    let hidden = r#"{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":"string","x\u002dmcp-header":"a b"}}}}"#;
    assert!(Definition::from_json(&format!(r#"{{"server":"parcels","tool":{hidden}}}"#)).is_err());
}

/// C10: a server that requires headers did not execute the call. The tools are listed, and the call is sent once more.
#[test]
fn a_call_without_required_headers_is_sent_once_more() {
    let mismatch = || error(400, -32_020, "missing header");
    let peer = Peer::new([mismatch(), tools(&[marked()]), modern("in Lyon")]);
    let answer = call(pinned(&peer), None, json!({ "region": "eu" })).expect("a result");
    assert_eq!(answer.text(), "in Lyon");
    assert_eq!(peer.methods(), ["tools/call", "tools/list", "tools/call"]);
    assert!(param_headers(&peer, 0).is_empty());
    assert_eq!(param_headers(&peer, 2), [("mcp-param-region".to_owned(), "eu".to_owned())]);

    let second = Peer::new([mismatch(), tools(&[marked()]), mismatch(), modern("in Lyon")]);
    let unlisted = Peer::new([mismatch(), tools(&[]), modern("in Lyon")]);
    let unreadable = Peer::new([mismatch(), Answer::new(401, "", ""), modern("in Lyon")]);
    for (peer, requests) in [(second, 3), (unlisted, 2), (unreadable, 2)] {
        let error = call(pinned(&peer), None, json!({ "region": "eu" })).expect_err("a mismatch");
        assert_eq!((error.failure(), error.executed()), (&Failure::HeaderMismatch, Executed::No));
        assert_eq!(peer.requests().len(), requests, "{:?}", peer.methods());
    }
}

/// C10: the tools are listed past the cache.
#[test]
fn a_mismatch_overrides_a_cached_list() {
    let cached = |tool: Value| {
        result(json!({ "tools": [tool], "resultType": "complete", "ttlMs": 60_000, "cacheScope": "private" }))
    };
    let old = cached(json!({ "name": "track", "inputSchema": {} }));
    let peer = Peer::new([old, error(400, -32_020, "no"), cached(marked()), modern("in Lyon"), modern("in Paris")]);
    let (client, host) = (client(pinned(&peer)), TestHost::new());
    let cx = context(&host);
    testing::run(host.run(async {
        client.connect(&cx).list_tools().await;
        for expected in ["in Lyon", "in Paris"] {
            let call = client.connect(&cx).call("parcels_track", json!({ "region": "eu" })).expect("a call");
            assert_eq!(call.await.expect("a result").text(), expected);
        }
    }))
    .expect("the calls end");
    // The second call finds the new list in the cache.
    assert_eq!(peer.methods(), ["tools/list", "tools/call", "tools/list", "tools/call", "tools/call"]);
    assert_eq!(
        (param_headers(&peer, 1).len(), param_headers(&peer, 3).len(), param_headers(&peer, 4).len()),
        (0, 1, 1)
    );
}

/// C9: a list of the same connection has the definitions for its calls.
#[test]
fn a_listed_tool_is_called_with_its_headers() {
    let peer = Peer::new([tools(&[marked()]), modern("in Lyon")]);
    let host = TestHost::new();
    let connection = client(pinned(&peer)).connect(&context(&host));
    testing::run(host.run(async {
        connection.list_tools().await;
        connection.only()?.call("track", json!({ "region": "eu" })).await
    }))
    .expect("the call ends")
    .expect("a result");
    assert_eq!(param_headers(&peer, 1), [("mcp-param-region".to_owned(), "eu".to_owned())]);
}

/// A tool that was listed earlier is called without listing, also by another program.
#[test]
fn a_definition_is_stored_and_read() {
    let peer = Peer::new([tools(&[marked()])]);
    let host = TestHost::new();
    let connection = client(pinned(&peer)).connect(&context(&host));
    let list = testing::run(host.run(connection.list_tools())).expect("the list ends");
    let stored = list.items[0].to_json();
    let tool = Definition::from_json(&stored).expect("a definition");
    assert_eq!((tool.server(), tool.name(), tool.full_name()), ("parcels", "track", "parcels_track"));
    assert_eq!((tool.raw(), tool.to_json()), (list.items[0].raw(), stored));

    let peer = Peer::new([modern("in Lyon")]);
    call(pinned(&peer), Some(&tool), json!({ "region": "eu" })).expect("a result");
    assert_eq!(param_headers(&peer, 0).len(), 1);

    let other = listed(json!({ "name": "lose", "inputSchema": {} }));
    let error = call(pinned(&peer), Some(&other), json!({})).expect_err("another tool");
    assert_eq!(error.to_string(), "The server `parcels` was not called: the definition belongs to another tool.");

    for text in
        ["", "[]", "{}", r#"{"server":"a"}"#, r#"{"server":"a","tool":{}}"#, r#"{"server":1,"tool":{"name":"a"}}"#]
    {
        assert!(Definition::from_json(text).is_err(), "{text}");
    }
}

/// C58: a definition keeps its text. No reference in it is resolved.
#[test]
fn a_definition_keeps_its_text() {
    let tool = r#"{"name": "track",  "inputSchema": {"$ref": "http://127.0.0.1/schema", "maximum": 1.00000000000000000000000001}, "x": 1e2}"#;
    let answer = format!(r#"{{"jsonrpc":"2.0","id":"$id","result":{{"resultType":"complete","tools":[{tool}]}}}}"#);
    let peer = Peer::new([Answer::new(200, "application/json", answer.clone())]);
    let host = TestHost::new();
    let connection = client(pinned(&peer)).connect(&context(&host));
    let list = testing::run(host.run(connection.list_tools())).expect("the list ends");
    assert_eq!((list.items[0].raw(), peer.requests().len(), host.requests().len()), (tool, 1, 0));
    let server = testing::endpoint(move |_| {
        let peer = Peer::new([Answer::new(200, "application/json", answer.clone())]);
        McpServer::builder("desk", "1.0.0").source(client(pinned(&peer)).tools(["parcels_track"])).build()
    });
    let published = testing::run(Client::new(&server).request("tools/list", json!({})));
    let published = String::from_utf8_lossy(published.body());
    assert!(published.contains("1.00000000000000000000000001"), "{published}");
}

/// The accessors return what was read: without hidden characters, and without the annotations that only look true.
#[test]
fn a_definition_is_read_once() {
    let tool = listed(json!({
        "name": "track", "title": "T\u{202e}rack", "description": "Finds\u{e0041} it.",
        "inputSchema": { "type": "object", "description": "a\u{200b}b" },
        "outputSchema": { "type": "object", "title": "c\u{200b}d" },
        "annotations": { "readOnlyHint": true, "idempotentHint": "true", "title": "x" },
    }));
    assert_eq!((tool.title(), tool.description()), (Some("Track"), "Finds it."));
    assert_eq!(tool.input_schema(), Some(r#"{"type":"object","description":"ab"}"#));
    assert_eq!(tool.output_schema(), Some(r#"{"type":"object","title":"cd"}"#));
    assert_eq!(["readOnlyHint", "idempotentHint", "title"].map(|hint| tool.has_hint(hint)), [true, false, false]);
    assert!(tool.raw().contains("T\u{202e}rack"), "{}", tool.raw());
    let empty = listed(json!({ "name": "track", "outputSchema": { "enum": ["a\u{200b}"] } }));
    assert_eq!((empty.title(), empty.description(), empty.input_schema()), (None, "", None));
    assert_eq!(empty.output_schema(), None, "a value cannot be cleaned");
}

/// The hostile case 60, C59: an output schema that this library can compile is enforced. The call was executed.
#[test]
fn an_output_schema_is_enforced() {
    let with = |schema: Value| listed(json!({ "name": "track", "inputSchema": {}, "outputSchema": schema }));
    let city = || json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let no_content = "has no structured content, but the tool has an output schema";
    let no_match = "has structured content that does not match the output schema of the tool";
    for (schema, members, expected) in [
        (city(), json!({ "structuredContent": { "city": "Lyon" } }), None),
        (city(), json!({ "structuredContent": { "city": "SECRET-4711".len() } }), Some(no_match)),
        (city(), json!({ "structuredContent": {} }), Some(no_match)),
        (city(), json!({}), Some(no_content)),
        (city(), json!({ "isError": true }), None),
        // These schemas cannot be compiled.
        (json!({ "$ref": "https://example.com/schema" }), json!({ "structuredContent": 7 }), None),
        (json!({ "type": "object", "pattern": "(?=x)" }), json!({ "structuredContent": {} }), None),
        (json!({ "type": 7 }), json!({}), None),
        (json!(true), json!({ "structuredContent": [] }), None),
    ] {
        let mut answer = json!({ "content": [], "resultType": "complete" });
        answer.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
        let peer = Peer::new([result(answer)]);
        let outcome = call(pinned(&peer), Some(&with(schema.clone())), json!({}));
        match expected {
            None => assert!(outcome.is_ok(), "{schema} {members}: {outcome:?}"),
            Some(problem) => {
                let error = outcome.expect_err(problem);
                assert_eq!((error.failure(), error.executed()), (&Failure::Malformed(problem), Executed::Yes));
                assert!(error.to_string().ends_with(" The call was executed."), "{error}");
            }
        }
    }
}

/// C52: a call of a tool that a trusted server declares as read-only or idempotent is repeated once.
#[test]
fn hints_of_trusted_servers_permit_a_second_call() {
    for (annotations, is_trusted, requests) in [
        (json!({ "readOnlyHint": true }), true, 2),
        (json!({ "idempotentHint": true }), true, 2),
        (json!({ "readOnlyHint": true }), false, 1),
        (json!({ "readOnlyHint": true, "destructiveHint": true }), true, 1),
        (json!({ "readOnlyHint": "true" }), true, 1),
        (json!({}), true, 1),
    ] {
        let peer = Peer::new([Answer::new(502, "", ""), modern("in Lyon")]);
        let upstream = if is_trusted { pinned(&peer).trusted() } else { pinned(&peer) };
        let tool = listed(json!({ "name": "track", "inputSchema": {}, "annotations": annotations }));
        let outcome = call(upstream, Some(&tool), json!({}));
        assert_eq!((peer.requests().len(), outcome.is_ok()), (requests, requests == 2), "{annotations} {is_trusted}");
    }
}

/// The URI identifies a resource or a template, and its name is for persons.
#[test]
fn a_resource_has_a_uri_and_a_name() {
    for (kind, key, uri) in [("resource", "uri", "text://motto"), ("resourceTemplate", "uriTemplate", "text://{name}")]
    {
        let item = json!({ key: uri, "name": "The \u{202e}motto" });
        let definition = Definition::from_json(&json!({ "server": "parcels", kind: item }).to_string());
        let definition = definition.expect("a definition");
        assert_eq!((definition.uri(), definition.name()), (Some(uri), uri));
        assert_eq!(definition.resource_name().as_deref(), Some("The motto"));
    }
    let tool = listed(json!({ "name": "track", "inputSchema": {} }));
    assert_eq!((tool.uri(), tool.name(), tool.resource_name()), (None, "track", None));
}
