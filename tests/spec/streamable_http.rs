//! Streamable HTTP: HTTP methods, paths, media types, origins, and headers that mirror the body.

use edge_mcp::Endpoint;
use edge_mcp::http::AllowedOrigins;
use serde_json::json;

use crate::support::{NEWEST, endpoint, legacy, modern, post, server};

/// Rules 41 and 92: every method other than POST and OPTIONS gets 405, because there are no streams to open and no sessions to end.
/// Authentication is not required for this response.
#[test]
fn methods_other_than_post_get_405() {
    let guarded = Endpoint::new(server);
    for verb in ["GET", "DELETE", "PUT", "PATCH", "HEAD", "TRACE", "post", "BREW"] {
        for endpoint in [&endpoint(), &guarded] {
            let answer = post("").verb(verb).ask_at(endpoint);
            assert_eq!(answer.refusal(), (405, -32600), "{verb}");
            assert_eq!(answer.header("allow"), Some("POST, OPTIONS"), "{verb}");
        }
    }
}

/// Rule 27: the endpoint has one path, also with a slash at its end. Other paths get 404.
#[test]
fn other_paths_get_404() {
    for path in ["/mcp//", "/mcpfoo", "/MCP", "//mcp", "/%6dcp", "/x?/mcp"] {
        assert_eq!(post("{}").at(path).ask().status, 404, "{path}");
    }
    for path in ["/mcp?x=1", "/mcp/", "/mcp/?x=1"] {
        assert_eq!(legacy("ping", json!({})).at(path).ask().status, 200, "{path}");
    }
    let guarded = Endpoint::new(server);
    assert_eq!(
        legacy("ping", json!({})).at("/mcp/").ask_at(&guarded).status,
        legacy("ping", json!({})).ask_at(&guarded).status
    );
    let elsewhere = endpoint().path("/tools");
    assert_eq!(legacy("ping", json!({})).at("/tools").ask_at(&elsewhere).status, 200);
    assert_eq!(legacy("ping", json!({})).ask_at(&elsewhere).status, 404);
}

/// A client that was given only the host is redirected to the endpoint, and keeps its method and body.
#[test]
fn a_post_to_the_host_is_redirected_to_the_endpoint() {
    let answer = legacy("ping", json!({})).at("/?x=1").header("Origin", "http://localhost:5173").ask();
    assert_eq!((answer.status, answer.header("location")), (308, Some("/mcp")));
    assert!(answer.header("access-control-allow-origin").is_some());
    assert_eq!(legacy("ping", json!({})).at("/").header("Origin", "https://evil.example").ask().status, 403);
}

/// A client that accepts event streams only gets the answer as one event. Errors of HTTP are JSON.
#[test]
fn a_client_that_accepts_streams_only_gets_an_event() {
    for ask in [legacy, modern] {
        for (method, status) in [("tools/list", 200), ("subscriptions/listen", 200)] {
            let answer = ask(method, json!({})).replace("Accept", "text/event-stream").ask();
            assert_eq!((answer.status, answer.header("content-type")), (status, Some("text/event-stream")), "{method}");
        }
    }
    let unknown = modern("no/such", json!({})).replace("Accept", "text/event-stream").ask();
    assert_eq!((unknown.status, unknown.header("content-type")), (404, Some("application/json")));
    let accepted =
        post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).replace("Accept", "text/event-stream");
    assert_eq!(accepted.ask().status, 202);
}

/// A body that is not declared as JSON gets 415. A client that does not accept JSON gets 406.
#[test]
fn other_media_types_than_json_are_rejected() {
    for content_type in ["text/plain", "application/json-patch+json", "multipart/form-data", ""] {
        let answer = legacy("ping", json!({})).replace("Content-Type", content_type).ask();
        assert_eq!(answer.refusal(), (415, -32600), "{content_type:?}");
    }
    assert_eq!(legacy("ping", json!({})).without("Content-Type").ask().status, 415);
    assert_eq!(
        legacy("ping", json!({})).header("Content-Type", "text/plain").ask().status,
        415,
        "two `Content-Type` headers"
    );
    assert_eq!(legacy("ping", json!({})).replace("Content-Type", "application/json; charset=utf-8").ask().status, 200);
    for accept in ["*/*", "application/json", "application/json, text/event-stream", "text/html, */*;q=0.1"] {
        assert_eq!(legacy("ping", json!({})).header("Accept", accept).ask().status, 200, "{accept}");
    }
    assert_eq!(legacy("ping", json!({})).header("Accept", "text/html").ask().refusal(), (406, -32600));
}

/// Rule 28: a request from an origin that is not allowed gets 403 before any other check.
#[test]
fn origins_that_are_not_allowed_get_403() {
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", "nonsense", ""] {
        for ask in [
            modern("tools/list", json!({})),
            legacy("tools/list", json!({})),
            post("").verb("GET"),
            post("").verb("OPTIONS"),
        ] {
            let answer = ask.header("Origin", origin).ask();
            assert_eq!(answer.refusal(), (403, -32600), "{origin:?}");
            assert!(answer.header("access-control-allow-origin").is_none(), "{origin:?}");
        }
    }
}

/// Rule 28: a page of an allowed origin can read each response, including errors.
#[test]
fn pages_of_allowed_origins_can_read_responses() {
    let endpoint = endpoint().allowed_origins(AllowedOrigins::local().and("app.example.com"));
    for origin in ["http://localhost:5173", "https://app.example.com"] {
        let asks = [modern("tools/list", json!({})), modern("no/such", json!({})), post("{"), post("").verb("GET")];
        for ask in asks {
            let answer = ask.header("Origin", origin).ask_at(&endpoint);
            assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
            assert!(
                answer.header("access-control-expose-headers").is_some_and(|names| names.contains("WWW-Authenticate"))
            );
            assert_eq!(answer.header("vary"), Some("Origin"));
        }
    }
    assert!(
        modern("tools/list", json!({})).ask().header("access-control-allow-origin").is_none(),
        "a request without `Origin` gets no CORS header"
    );
}

/// A CORS preflight gets 204 without authentication.
#[test]
fn preflights_are_answered() {
    let guarded = Endpoint::new(server);
    let answer = post("").verb("OPTIONS").header("Origin", "http://localhost:5173").ask_at(&guarded);
    assert_eq!((answer.status, &answer.body), (204, &None));
    assert_eq!(answer.header("access-control-allow-methods"), Some("POST, OPTIONS"));
    let allowed = answer.header("access-control-allow-headers").expect("the header").to_ascii_lowercase();
    for name in ["content-type", "authorization", "mcp-protocol-version", "mcp-method", "mcp-name", "accept"] {
        assert!(allowed.split(", ").any(|allowed| allowed == name), "{name}");
    }
    assert_eq!(post("").verb("OPTIONS").ask().status, 204);
}

/// Rules 30, 31 and 32: each header that mirrors the body is required and must have the value of the body, in the same letter case.
#[test]
fn headers_must_match_the_body() {
    let call = || modern("tools/call", json!({ "name": "nothing" }));
    let read = || modern("resources/read", json!({ "uri": "test://text" }));
    for ask in [
        call().without("MCP-Protocol-Version"),
        call().replace("MCP-Protocol-Version", "2025-11-25"),
        call().replace("MCP-Protocol-Version", ""),
        call().header("MCP-Protocol-Version", NEWEST),
        call().without("Mcp-Method"),
        call().replace("Mcp-Method", "tools/list"),
        call().replace("Mcp-Method", "TOOLS/CALL"),
        call().replace("Mcp-Method", ""),
        call().without("Mcp-Name"),
        call().replace("Mcp-Name", "say"),
        call().replace("Mcp-Name", "NOTHING"),
        call().replace("Mcp-Name", ""),
        call().header("Mcp-Name", "nothing"),
        read().without("Mcp-Name"),
        read().replace("Mcp-Name", "test://other"),
        read().replace("Mcp-Name", "t\u{e9}st"),
        modern("tools/call", json!({ "arguments": {} })),
    ] {
        let answer = ask.clone().ask();
        assert_eq!(answer.refusal(), (400, -32020), "{ask:?}");
    }
    assert_eq!(modern("tools/list", json!({})).ask().status, 200, "a method without a name needs no `Mcp-Name`");
}

/// Rules 33 and 34: the letter case of a header name and the space around its value do not matter. Base64 values are decoded before
/// the comparison.
#[test]
fn headers_are_normalized_before_the_comparison() {
    let call = || modern("tools/call", json!({ "name": "nothing" })).without("Mcp-Name").without("Mcp-Method");
    for (method, name) in [("mcp-method", "mcp-name"), ("MCP-METHOD", "MCP-NAME")] {
        for value in ["nothing", " nothing\t", "=?base64?bm90aGluZw==?="] {
            let answer = call().header(method, "\ttools/call ").header(name, value).ask();
            assert_eq!(answer.status, 200, "{name}: {value}");
        }
    }
    let read =
        |name: &str| modern("resources/read", json!({ "uri": "test://items/=?é" })).replace("Mcp-Name", name).ask();
    assert_eq!(
        read("=?base64?dGVzdDovL2l0ZW1zLz0/w6k=?=").refusal(),
        (200, -32602),
        "the header matches, but the resource does not exist"
    );
    for bad in
        ["=?base64?dGVzdDovL2l0ZW1zLz0/w6k?=", "=?base64?*?=", "=?base64?/w==?=", "=?BASE64?dGVzdDovL2l0ZW1zLz0/w6k=?="]
    {
        assert_eq!(read(bad).refusal(), (400, -32020), "{bad}");
    }
}

/// Rule 41: the headers of sessions are ignored.
#[test]
fn session_headers_are_ignored() {
    for ask in [modern("tools/list", json!({})), legacy("tools/list", json!({}))] {
        let answer = ask.header("Mcp-Session-Id", "8f3b").header("Last-Event-ID", "7").ask();
        assert_eq!(answer.status, 200);
    }
}

/// The limit applies to the received bytes. A `Content-Length` above the limit is rejected without reading the body.
#[test]
fn the_length_of_a_body_is_limited() {
    let limits = edge_mcp::Limits::default();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let padded = |length: usize| format!("{ping}{}", " ".repeat(length - ping.len()));
    assert_eq!(limits.body, 4 * 1024 * 1024);
    assert_eq!(post(padded(limits.body)).ask().status, 200, "at the limit");
    assert_eq!(post(padded(limits.body + 1)).ask().refusal(), (413, -32600), "one byte past the limit");
    assert_eq!(
        post(padded(limits.body + 1)).header("Content-Length", "40").ask().status,
        413,
        "`Content-Length` is too low"
    );
    assert_eq!(post(ping).header("Content-Length", "4194304").ask().status, 200, "`Content-Length` is the limit");
    assert_eq!(post(ping).header("Content-Length", "4194305").ask().status, 413, "`Content-Length` is above the limit");
    assert_eq!(
        post(ping).header("Content-Length", "99999999999999999999999").ask().status,
        200,
        "`Content-Length` is not a valid number"
    );
}

/// Responses can depend on the caller, so caches must not store them.
#[test]
fn responses_are_not_stored_by_caches() {
    assert_eq!(modern("tools/list", json!({})).ask().header("cache-control"), Some("no-store"));
}
