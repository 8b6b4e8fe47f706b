//! Calls of mounted tools, reads and prompts.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::call::ToolEvent;
use edge_mcp::client::Upstream;
use edge_mcp::gateway::Mount;
use edge_mcp::protocol::{LogLevel, Revision};
use edge_mcp::testing::{self, Client, TestHost, call as plain_call};
use edge_mcp::{Context, Tool};
use futures::FutureExt;
use http::Request;
use serde_json::{Value, json};

use crate::peer::{Answer, End, json_answer};
use crate::servers::{Server, call, caller, complete, endpoint, gateway, serving, tool, with_scopes};

fn one_call(server: &Server) -> (Request<String>, Value) {
    let requests = server.requests();
    let [request] = &*requests else { panic!("{} requests", requests.len()) };
    (request.clone(), serde_json::from_str(request.body()).expect("JSON"))
}

/// C101, C104: a call is one request, in each revision of the caller. The arguments are the text that the caller wrote.
#[test]
fn a_call_is_one_request_with_the_same_arguments() {
    let of_modern =
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let arguments = r#"{"a": 1.50, "big": 123456789012345678901234567890, "e":1E+2,"s":"\u00e9\n" , "z":-0}"#;
    for revision in Revision::ALL {
        let server = Server::tools(["t"]);
        let endpoint = endpoint([("m", server.mount())]);
        let meta = if revision == Revision::V2026_07_28 { of_modern } else { "{}" };
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"m_t","arguments":{arguments},"_meta":{meta}}}}}"#
        );
        let request = Request::post("http://localhost/mcp")
            .extension(std::net::IpAddr::from([127, 0, 0, 1]))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", revision.name())
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", "m_t");
        let answer =
            testing::run(Client::new(&endpoint).send(request.body(Cell::new(body.into_bytes())).expect("a request")));
        assert_eq!(answer.status(), 200, "{answer:?}");
        let (sent, _) = one_call(&server);
        assert!(sent.body().contains(&format!(r#""arguments":{arguments}"#)), "{revision}: {}", sent.body());
        assert_eq!(sent.headers()["mcp-name"], "t");
    }
}

/// C103: a server gets only the headers and the members of `_meta` that the program names, and its own credential.
#[test]
fn a_server_gets_only_what_the_program_names() {
    let server = Server::tools(["t"]);
    let upstream = server.upstream().bearer("OWN-TOKEN").expect("a token").header("x-own", "1").expect("a header");
    let upstream = upstream.forward_header("x-tenant").expect("a header").forward_header("x-long").expect("a header");
    let upstream =
        upstream.forward_meta("example.com/tenant").expect("a name").forward_meta("example.com/long").expect("a name");
    let endpoint = endpoint([("m", Mount::new(upstream))]);
    let client = caller(&endpoint, &TestHost::new())
        .header("x-tenant", "blue")
        .header("x-long", "x".repeat(1025))
        .header("x-odd", "1")
        .meta("traceparent", json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
        .meta("example.com/tenant", json!({ "a": [1] }))
        .meta("example.com/long", json!("x".repeat(1025)));
    testing::run(client.call("m_t", json!({})));
    let (sent, message) = one_call(&server);
    let mut headers: Vec<_> = sent.headers().keys().map(http::HeaderName::as_str).collect();
    headers.sort_unstable();
    let expected = [
        "accept",
        "authorization",
        "content-type",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "user-agent",
        "x-own",
        "x-tenant",
    ];
    assert_eq!(headers, expected);
    assert_eq!(
        (&sent.headers()["authorization"], &sent.headers()["x-tenant"]),
        (&"Bearer OWN-TOKEN".parse().expect("a value"), &"blue".parse().expect("a value"))
    );
    let meta = message["params"]["_meta"].as_object().expect("an object");
    let mut members: Vec<_> = meta.keys().map(String::as_str).collect();
    members.sort_unstable();
    let of_protocol =
        ["clientCapabilities", "clientInfo", "protocolVersion"].map(|name| format!("io.modelcontextprotocol/{name}"));
    let expected: Vec<&str> = ["edge-mcp/via", "example.com/tenant"]
        .into_iter()
        .chain(of_protocol.iter().map(String::as_str))
        .chain(["traceparent"])
        .collect();
    assert_eq!(members, expected);
    assert_eq!((&meta["example.com/tenant"], &meta["edge-mcp/via"]), (&json!({ "a": [1] }), &json!(["edge"])));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "edge");
}

/// C103: headers and members of `_meta` that belong to the client, the runtime or the protocol cannot be passed on.
#[test]
fn reserved_headers_cannot_be_passed_on() {
    let upstream = || Upstream::at("https://a.example/mcp").expect("a URL");
    for name in ["authorization", "cookie", "host", "origin", "mcp-name", "content-type", "via", "a b", ""] {
        assert!(upstream().forward_header(name).is_err(), "{name}");
    }
    for name in
        ["progressToken", "io.modelcontextprotocol/clientCapabilities", "edge-mcp/via", "modelcontextprotocol.io/x"]
    {
        assert!(upstream().forward_meta(name).is_err(), "{name}");
    }
}

/// C105: content, structured content, `isError` and `_meta` pass as they are, without what the protocol says of the other server. A block of an unknown
/// type becomes a text.
#[test]
fn results_pass_as_they_are() {
    let server = Server::new(|_| {
        complete(json!({
            "content": [{ "type": "text", "text": "no" }, { "type": "odd", "x": 1 }],
            "structuredContent": [1, { "z": 1, "a": 2 }],
            "isError": true,
            "_meta": {
                "example.com/x": 1, "edge-mcp/approval": 1, "io.modelcontextprotocol/serverInfo": { "name": "SECRET-4711" },
                "io.modelcontextprotocol/related-task": 1,
            },
        }))
    });
    for (mount, tool) in [(server.mount(), "m_t"), (server.mount().as_is(), "t")] {
        let answer = call(&endpoint([("m", mount)]), tool, json!({}));
        let result = answer.result();
        let odd = r#"Content of the type `odd`: {"type":"odd","x":1}"#;
        assert_eq!(result["content"], json!([{ "type": "text", "text": "no" }, { "type": "text", "text": odd }]));
        assert_eq!((&result["structuredContent"], &result["isError"]), (&json!([1, { "z": 1, "a": 2 }]), &json!(true)));
        let of_gateway = json!({ "name": "edge", "version": "1.0.0" });
        assert_eq!(result["_meta"], json!({ "example.com/x": 1, "io.modelcontextprotocol/serverInfo": of_gateway }));
    }
}

/// C106: each failure of a server is a result with `isError` in a call, and an error in reads and prompts. It is never a status of ours, and
/// never the text of a body.
#[test]
fn failures_of_a_server_are_errors_of_the_call() {
    let rpc = |code: i64| {
        json_answer(
            200,
            json!({ "jsonrpc": "2.0", "id": "$id", "error": { "code": code, "message": "no \"such\" thing" } }),
        )
    };
    let secret = |status: u16| Answer::new(status, "text/plain", "SECRET-4711");
    for (answer, problem, is_not_found) in [
        (secret(500), "failed (status 500)", false),
        (secret(401), "requires a valid access token", false),
        (secret(403), "does not permit", false),
        (secret(404), "no MCP endpoint", false),
        (secret(429), "too many requests", false),
        (secret(503), "overloaded", false),
        (secret(307), "redirects", false),
        (Answer::new(200, "text/html", "SECRET-4711"), "web page", false),
        (Answer::new(200, "application/json", "{SECRET-4711"), "invalid answer", false),
        (Answer::new(200, "", "").end(End::NoHead), "cannot be reached", false),
        (rpc(-32_602), "no 'such' thing", true),
        (rpc(-32_002), "no 'such' thing", true),
        (rpc(-1), "no 'such' thing", false),
    ] {
        let server = Server::new(move |_| answer.clone());
        let (endpoint, host) = (endpoint([("m", server.mount())]), TestHost::new());
        let tool = testing::run(caller(&endpoint, &host).call("m_t", json!({})));
        assert_eq!((tool.status(), &tool.result()["isError"]), (200, &json!(true)), "{problem}: {tool:?}");
        assert!(
            tool.text().starts_with("The server `m` ") && tool.text().contains(problem),
            "{problem}: {}",
            tool.text()
        );
        let read = testing::run(caller(&self::endpoint([("m", server.mount())]), &host).read("m+file:///x"));
        let prompt = testing::run(caller(&self::endpoint([("m", server.mount())]), &host).prompt("m_p", json!({})));
        let code = if is_not_found { -32_602 } else { -32_603 };
        assert_eq!(read.error().map(|(code, _)| code), Some(code), "{problem}: {read:?}");
        if problem != "no 'such' thing" {
            assert!(read.text().contains(problem) && prompt.text().contains(problem), "{read:?} {prompt:?}");
            assert_eq!(prompt.error().map(|(code, _)| code), Some(-32_603), "{prompt:?}");
        }
        for answer in [&tool, &read, &prompt] {
            // The log may have the text of the platform for a connection that is lost.
            let log = if problem == "cannot be reached" { String::new() } else { host.log_text() };
            let text = format!("{}{log}", String::from_utf8_lossy(answer.body()));
            assert!(!text.contains("SECRET-4711"), "{text}");
        }
    }
}

fn events(messages: &[Value]) -> Answer {
    let text = messages.iter().map(|message| format!("data: {message}\n\n")).collect::<Vec<_>>().concat();
    Answer::new(200, "text/event-stream", text)
}

/// C107: the caller gets the progress of the server under its own token, if it asks for progress.
#[test]
fn progress_is_passed_on() {
    let server = Server::new(|message| {
        let token = &message["params"]["_meta"]["progressToken"];
        let progress = |done: u32| {
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": token, "progress": done, "total": 2, "message": format!("step {done}\u{200b}") } })
        };
        let foreign = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": "mine", "progress": 9 } });
        let done = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "resultType": "complete", "content": [{ "type": "text", "text": token.to_string() }] } });
        events(&[progress(1), foreign, progress(2), done])
    });
    let endpoint = endpoint([("m", server.mount())]);
    let answer =
        testing::run(caller(&endpoint, &TestHost::new()).meta("progressToken", json!("mine")).call("m_t", json!({})));
    assert_ne!(answer.text(), "\"mine\"", "the server gets a token of ours");
    let progress: Vec<_> = answer.notifications().iter().map(|it| it["params"].clone()).collect();
    let expected = |done: u32| json!({ "progressToken": "mine", "progress": f64::from(done), "total": 2.0, "message": format!("step {done}") });
    assert_eq!(progress, [expected(1), expected(2)]);
    let answer = testing::run(caller(&endpoint, &TestHost::new()).call("m_t", json!({})));
    assert_eq!((answer.text(), answer.notifications().len()), ("null", 0));
}

/// C107: log messages of a server are passed on only if the program says so, with the name of the mount, up to a number of bytes.
#[test]
fn log_messages_are_passed_on_if_the_program_says_so() {
    let server = Server::new(|message| {
        let log = |level: &str, logger: Value, data: Value| json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": level, "logger": logger, "data": data } });
        let done =
            json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "resultType": "complete", "content": [] } });
        let large = || log("error", json!("db"), "x".repeat(40 << 10).into());
        events(&[
            log("debug", json!("db"), json!("hidden")),
            log("warning", json!("other_m/db"), json!({ "a": 1 })),
            log("error", Value::Null, json!("plain")),
            large(),
            large(),
            done,
        ])
    });
    for (mount, expected) in
        [(server.mount(), vec![]), (server.mount().relay_logs(LogLevel::Warning), vec!["m/other_m/db", "m", "m/db"])]
    {
        let endpoint = serving(gateway([("m", mount)]), |it| it.logging(LogLevel::Debug));
        let client = caller(&endpoint, &TestHost::new()).meta("io.modelcontextprotocol/logLevel", json!("debug"));
        let answer = testing::run(client.call("m_t", json!({})));
        let loggers: Vec<_> =
            answer.notifications().iter().map(|it| it["params"]["logger"].as_str().unwrap_or_default()).collect();
        assert_eq!(loggers, expected, "{answer:?}");
    }
}

/// C108: if the caller leaves, the request to the server is dropped.
#[test]
fn the_request_is_dropped_if_the_caller_leaves() {
    let server = Server::silent();
    let endpoint = Rc::new(endpoint([("m", server.mount())]));
    let host = TestHost::new();
    let client = caller(&endpoint, &host);
    let mut call = Box::pin(client.call("m_t", json!({})));
    assert!((&mut call).now_or_never().is_none());
    assert_eq!(server.waiting(), 1);
    drop(call);
    assert_eq!(server.waiting(), 0);
}

/// C102: the settings of the program for a tool apply to a mounted one: scopes, hooks, approval and the deadline.
#[test]
fn the_settings_of_a_tool_apply_to_a_mounted_one() {
    let server = Server::tools(["merge", "read", "wait"]);
    let events = Rc::new(Cell::new(0));
    let seen = events.clone();
    let mount = server.mount().each_tool(move |tool| {
        let seen = seen.clone();
        match tool.name() {
            "m_merge" => tool.scopes(["merge"]),
            "m_read" => tool.hook(move |event: ToolEvent, _: Context| {
                let seen = seen.clone();
                async move {
                    if let ToolEvent::Output(_) = event {
                        seen.set(seen.get() + 1);
                    }
                    Ok(())
                }
            }),
            _ => tool.deadline(Duration::from_secs(1)),
        }
    });
    let guarded = with_scopes(endpoint([("m", mount)]), &[]);
    let refused = call(&guarded, "m_merge", json!({}));
    assert_eq!(refused.status(), 403);
    assert!(refused.header("www-authenticate").is_some_and(|it| it.contains("scope=\"merge\"")), "{refused:?}");
    assert!(server.take().is_empty());
    assert_eq!((call(&guarded, "m_read", json!({})).text(), events.get()), ("read {}", 1));
    let slow = Server::silent().mount().each_tool(|tool| tool.deadline(Duration::from_secs(1)));
    let host = TestHost::new();
    let late = testing::run(caller(&endpoint([("m", slow)]), &host).call("m_wait", json!({})));
    assert!(late.is_error() && host.waits() == [Duration::from_secs(1)], "{late:?}");
}

/// C102: a handler that calls a mounted tool needs the same scopes, and an approval asks the caller first.
#[test]
fn nested_calls_and_approvals_apply_to_mounted_tools() {
    let server = Server::tools(["merge"]);
    let nested = |cx: Context| async move { cx.call_tool("m_merge", json!({ "n": 1 })).await.map(|it| it.text()) };
    let add = move |it: edge_mcp::McpServerBuilder| it.tool(Tool::new("outer", "Calls another tool.", nested));
    let scoped = serving(gateway([("m", server.mount().scopes(["merge"]))]), add);
    let refused = call(&with_scopes(scoped, &[]), "outer", json!({}));
    assert!(refused.is_error() && refused.text().contains("needs the scope merge"), "{refused:?}");
    let approving =
        |tool: Tool| tool.requires_approval(|_: Value, _: Context| async { Ok(Some(Cow::from("Merge it?"))) });
    let endpoint = serving(gateway([("m", server.mount().each_tool(approving))]), add);
    for name in ["m_merge", "outer"] {
        assert!(server.take().is_empty());
        let declined =
            testing::run(caller(&endpoint, &TestHost::new()).decline("edge-mcp/approval").call(name, json!({})));
        assert!(declined.text().contains("was not approved") && server.take().is_empty(), "{declined:?}");
        let client = caller(&endpoint, &TestHost::new()).answer("edge-mcp/approval", json!({}));
        let accepted = testing::run(client.call(name, json!({})));
        assert!(accepted.text().starts_with("merge "), "{accepted:?}");
        assert_eq!(server.methods(), ["tools/call"]);
    }
}

/// C101: a hashed name needs the list, and another request for it.
#[test]
fn a_hashed_name_needs_the_list() {
    let long = "x".repeat(60);
    let server = Server::tools([&*long]);
    let endpoint = endpoint([("m", server.mount())]);
    let shown = crate::servers::names(&endpoint).pop().expect("a name");
    server.take();
    assert_eq!(call(&endpoint, &shown, json!({})).text(), format!("{long} {{}}"));
    assert_eq!(server.methods(), ["tools/list", "tools/call"]);
    let cached = Server::with(json!({ "tools": [tool(&long)], "ttlMs": 60_000 }));
    let endpoint = self::endpoint([("m", cached.mount())]);
    testing::run(async {
        for _ in 0..2 {
            plain_call(&endpoint, &shown, json!({})).await;
        }
    });
    assert_eq!(cached.methods(), ["tools/list", "tools/call", "tools/call"]);
}

/// The content of a server in an older revision, and of an older caller, have the form of their revisions.
#[test]
fn content_has_the_form_of_the_revision() {
    let audio = json!([{ "type": "audio", "data": "AA==", "mimeType": "audio/wav" }]);
    let server = Server::new(move |_| complete(json!({ "content": audio })));
    let endpoint = endpoint([("m", server.mount())]);
    let old = testing::run(caller(&endpoint, &TestHost::new()).revision(Revision::V2024_11_05).call("m_t", json!({})));
    assert_ne!(old.result()["content"][0]["type"], "audio", "{old:?}");
    let new = testing::run(caller(&endpoint, &TestHost::new()).call("m_t", json!({})));
    assert_eq!(new.result()["content"][0]["type"], "audio");
}
