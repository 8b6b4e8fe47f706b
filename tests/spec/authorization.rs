//! Who may call.

use edge_mcp::auth::{ConfigError, StaticTokens};
use edge_mcp::http::Endpoint;
use serde_json::json;

use crate::support::{Lines, NOW, legacy, modern, post, server};

fn guarded() -> Endpoint {
    let tokens = format!(
        r#"[{{"token":"good","subject":"ada","scopes":[]}},
            {{"token":"late","subject":"eve","scopes":[],"expires":{NOW}}},
            {{"token":"soon","subject":"bob","scopes":[],"expires":{}}}]"#,
        NOW + 1
    );
    Endpoint::new(server).auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(&tokens)))
}

/// Rules 101 and 107: no request passes without a good token, whatever its era or method.
#[test]
fn every_request_needs_a_token() {
    let initialize = || legacy("initialize", json!({ "protocolVersion": "2025-11-25" }));
    let note = || post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
    let asks = [
        modern("server/discover", json!({})),
        modern("tools/list", json!({})),
        initialize(),
        note(),
        post("{"),
        post(""),
    ];
    for ask in asks {
        let answer = ask.clone().ask_at(&guarded());
        assert_eq!((answer.refusal(), answer.header("www-authenticate")), ((401, -32600), Some("Bearer")), "{ask:?}");
        for token in ["bad", "late", "GOOD", "good="] {
            let answer = ask.clone().bearer(token).ask_at(&guarded());
            let challenge = answer.header("www-authenticate");
            assert_eq!((answer.status, challenge), (401, Some("Bearer error=\"invalid_token\"")), "{token} {ask:?}");
            let says = if token == "late" { "has expired" } else { "is not valid" };
            assert!(answer.message().contains(says), "{}", answer.message());
        }
        assert_ne!(ask.clone().bearer("good").ask_at(&guarded()).status, 401, "{ask:?}");
    }
    for (token, subject) in [("good", "ada"), ("soon", "bob")] {
        let answer = modern("tools/call", json!({ "name": "whoami" })).bearer(token).ask_at(&guarded());
        assert_eq!(answer.tool_text(), (subject, false));
    }
}

/// Rule 106: a malformed header is 400; another scheme is no token at all.
#[test]
fn a_malformed_header_is_told_apart() {
    let ask = |header: &str| legacy("ping", json!({})).header("Authorization", header).ask_at(&guarded());
    for header in ["Bearer", "Bearer ", "Bearer a b", "Bearer good, Bearer good", "Bearer \u{e9}"] {
        let answer = ask(header);
        assert_eq!(
            (answer.status, answer.header("www-authenticate")),
            (400, Some("Bearer error=\"invalid_request\"")),
            "{header}"
        );
    }
    for header in ["", "Basic Z29vZA==", "good", "Bearergood"] {
        assert_eq!((ask(header).status, ask(header).header("www-authenticate")), (401, Some("Bearer")), "{header}");
    }
    let twice = legacy("ping", json!({})).bearer("good").bearer("good").ask_at(&guarded());
    assert_eq!(twice.status, 400, "two headers");
    assert_eq!(ask("bearer good").status, 200, "the scheme has any case");
    assert_eq!(
        legacy("ping", json!({}))
            .header("Authorization", format!("Bearer {}", "a".repeat(10_000)))
            .ask_at(&guarded())
            .status,
        401
    );
}

/// A token in the query is no token.
#[test]
fn the_query_carries_no_token() {
    assert_eq!(legacy("ping", json!({})).at("/mcp?access_token=good").ask_at(&guarded()).status, 401);
}

/// A page that is refused for its token can read why.
#[test]
fn a_page_can_read_the_challenge() {
    let answer = legacy("ping", json!({})).header("Origin", "http://localhost:1").ask_at(&guarded());
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (401, Some("http://localhost:1")));
    assert!(answer.header("access-control-expose-headers").is_some_and(|names| names.contains("WWW-Authenticate")));
}

/// A wrong configuration serves nothing, names the variable, and quotes no value.
#[test]
fn a_wrong_configuration_is_503() {
    for endpoint in [
        Endpoint::new(server).auth(StaticTokens::from_json("MCP_STATIC_TOKENS", None)),
        Endpoint::new(server).auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some("[\"s3cret\"]"))),
        Endpoint::misconfigured(ConfigError::new("MCP_STATIC_TOKENS", "is odd")),
    ] {
        let lines = Lines::default();
        let answer = modern("tools/list", json!({})).bearer("s3cret").ask_logging(&endpoint, &lines);
        assert_eq!(answer.refusal(), (503, -32603));
        assert!(answer.message().contains("MCP_STATIC_TOKENS"), "{}", answer.message());
        assert!(lines.text().contains("MCP_STATIC_TOKENS"));
        assert!(!format!("{answer:?}{}", lines.text()).contains("s3cret"));
        assert_eq!(post("").verb("GET").ask_at(&endpoint).status, 405, "this needs no configuration");
    }
}

/// An endpoint that nobody decided about serves nothing.
#[test]
fn an_undecided_endpoint_is_closed() {
    let answer = modern("tools/list", json!({})).ask_at(&Endpoint::new(server));
    assert_eq!(answer.refusal(), (503, -32603));
    assert!(answer.message().contains("without_auth"), "{}", answer.message());
}
