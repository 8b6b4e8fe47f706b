//! Streamable HTTP: verbs, paths, media types, origins, and headers that mirror the body.

use edge_mcp::{AllowedOrigins, Endpoint};
use serde_json::json;

use crate::support::{NEWEST, endpoint, legacy, modern, post, server};

/// Rules 41 and 92: there is no stream to open and no session to end; that is said at once, to anyone.
#[test]
fn only_post_is_served() {
    let guarded = Endpoint::new(server);
    for verb in ["GET", "DELETE", "PUT", "PATCH", "HEAD", "TRACE", "post", "BREW"] {
        for endpoint in [&endpoint(), &guarded] {
            let answer = post("").verb(verb).ask_at(endpoint);
            assert_eq!(answer.refusal(), (405, -32600), "{verb}");
            assert_eq!(answer.header("allow"), Some("POST, OPTIONS"), "{verb}");
        }
    }
}

/// Rule 27: one endpoint, at one path.
#[test]
fn another_path_is_404() {
    for path in ["/", "/mcp/", "/mcpfoo", "/MCP", "//mcp", "/%6dcp", "/x?/mcp"] {
        assert_eq!(post("{}").at(path).ask().status, 404, "{path}");
    }
    assert_eq!(legacy("ping", json!({})).at("/mcp?x=1").ask().status, 200);
    let elsewhere = endpoint().path("/tools");
    assert_eq!(legacy("ping", json!({})).at("/tools").ask_at(&elsewhere).status, 200);
    assert_eq!(legacy("ping", json!({})).ask_at(&elsewhere).status, 404);
}

/// A body that is not declared as JSON is 415; an answer that may not be JSON is 406.
#[test]
fn media_types_are_json() {
    for content_type in ["text/plain", "application/json-patch+json", "multipart/form-data", ""] {
        let answer = legacy("ping", json!({})).replace("Content-Type", content_type).ask();
        assert_eq!(answer.refusal(), (415, -32600), "{content_type:?}");
    }
    assert_eq!(legacy("ping", json!({})).without("Content-Type").ask().status, 415);
    assert_eq!(legacy("ping", json!({})).header("Content-Type", "text/plain").ask().status, 415, "two of them");
    assert_eq!(legacy("ping", json!({})).replace("Content-Type", "application/json; charset=utf-8").ask().status, 200);
    for accept in ["*/*", "application/json", "application/json, text/event-stream", "text/html, */*;q=0.1"] {
        assert_eq!(legacy("ping", json!({})).header("Accept", accept).ask().status, 200, "{accept}");
    }
    assert_eq!(legacy("ping", json!({})).header("Accept", "text/html").ask().refusal(), (406, -32600));
}

/// Rule 28: a page that may not call is refused before anything else is looked at.
#[test]
fn a_foreign_page_is_refused() {
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

/// Rule 28: a page that may call can also read what it gets, errors included.
#[test]
fn an_allowed_page_can_read_the_answer() {
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
        "no page, no header"
    );
}

/// A browser asks what it may send; it is told without having to say who it is.
#[test]
fn preflights_are_answered() {
    let guarded = Endpoint::new(server);
    let answer = post("").verb("OPTIONS").header("Origin", "http://localhost:5173").ask_at(&guarded);
    assert_eq!((answer.status, &answer.body), (204, &None));
    assert_eq!(answer.header("access-control-allow-methods"), Some("POST, OPTIONS"));
    let allowed = answer.header("access-control-allow-headers").expect("there").to_ascii_lowercase();
    for name in ["content-type", "authorization", "mcp-protocol-version", "mcp-method", "mcp-name", "accept"] {
        assert!(allowed.split(", ").any(|allowed| allowed == name), "{name}");
    }
    assert_eq!(post("").verb("OPTIONS").ask().status, 204);
}

/// Rules 30, 31 and 32: every header that mirrors the body must be there and say the same; the value's case counts.
#[test]
fn headers_mirror_the_body() {
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
    assert_eq!(modern("tools/list", json!({})).ask().status, 200, "no name where there is none to mirror");
}

/// Rules 33 and 34: the header's name has any case, space around its value does not count, marked values are decoded.
#[test]
fn headers_are_compared_by_what_they_mean() {
    let call = || modern("tools/call", json!({ "name": "nothing" })).without("Mcp-Name").without("Mcp-Method");
    for (method, name) in [("mcp-method", "mcp-name"), ("MCP-METHOD", "MCP-NAME")] {
        for value in ["nothing", " nothing\t", "=?base64?bm90aGluZw==?="] {
            let answer = call().header(method, "\ttools/call ").header(name, value).ask();
            assert_eq!(answer.status, 200, "{name}: {value}");
        }
    }
    let read =
        |name: &str| modern("resources/read", json!({ "uri": "test://items/=?é" })).replace("Mcp-Name", name).ask();
    assert_eq!(read("=?base64?dGVzdDovL2l0ZW1zLz0/w6k=?=").refusal(), (200, -32602), "it mirrors; nothing is there");
    for bad in
        ["=?base64?dGVzdDovL2l0ZW1zLz0/w6k?=", "=?base64?*?=", "=?base64?/w==?=", "=?BASE64?dGVzdDovL2l0ZW1zLz0/w6k=?="]
    {
        assert_eq!(read(bad).refusal(), (400, -32020), "{bad}");
    }
}

/// Rule 41: what belongs to sessions is ignored.
#[test]
fn session_headers_are_ignored() {
    for ask in [modern("tools/list", json!({})), legacy("tools/list", json!({}))] {
        let answer = ask.header("Mcp-Session-Id", "8f3b").header("Last-Event-ID", "7").ask();
        assert_eq!(answer.status, 200);
    }
}

/// The limit counts the bytes that came. What Content-Length says can only lower the trouble of reading them.
#[test]
fn a_body_has_a_limit() {
    let limits = edge_mcp::Limits::default();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let padded = |length: usize| format!("{ping}{}", " ".repeat(length - ping.len()));
    assert_eq!(limits.body, 4 * 1024 * 1024);
    assert_eq!(post(padded(limits.body)).ask().status, 200, "at the limit");
    assert_eq!(post(padded(limits.body + 1)).ask().refusal(), (413, -32600), "one past it");
    assert_eq!(post(padded(limits.body + 1)).header("Content-Length", "40").ask().status, 413, "whatever it says");
    assert_eq!(post(ping).header("Content-Length", "4194304").ask().status, 200, "it announces what is read");
    assert_eq!(post(ping).header("Content-Length", "4194305").ask().status, 413, "it announces too much");
    assert_eq!(post(ping).header("Content-Length", "99999999999999999999999").ask().status, 200, "it is no number");
}

/// Answers are for the one who asked.
#[test]
fn answers_are_not_cached() {
    assert_eq!(modern("tools/list", json!({})).ask().header("cache-control"), Some("no-store"));
}
