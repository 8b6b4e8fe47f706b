//! What every request has to show, and what it is told where it does not.

use edge_mcp::testing::{self, TestHost};
use edge_mcp::{ConfigError, Endpoint, Presented, Principal, ProtectedResource, StaticTokens, TokenRefusal};
use futures::future::join;
use serde_json::json;

use crate::support::{NOW, legacy, modern, modern_as, post, server};

fn guarded() -> Endpoint {
    let tokens = format!(
        r#"[{{"token":"good","subject":"ada","scopes":[]}},
            {{"token":"late","subject":"eve","scopes":[],"expires":{NOW}}},
            {{"token":"soon","subject":"bob","scopes":[],"expires":{}}}]"#,
        NOW + 1
    );
    Endpoint::new(server)
        .auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(&tokens)).expect("tokens"))
        .without_rate_limit()
}

/// A challenge with this error, and what is said of it.
fn challenge(error: &str, message: &str) -> String {
    format!("Bearer error=\"{error}\", error_description=\"{message}\"")
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
            let says = if token == "late" { "has expired." } else { "is not valid for this server." };
            let expected = challenge("invalid_token", &format!("The access token {says}"));
            assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some(&*expected)), "{token} {ask:?}");
            assert!(answer.message().ends_with(says), "{}", answer.message());
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
        let expected = challenge("invalid_request", answer.message());
        assert_eq!((answer.status, answer.header("www-authenticate")), (400, Some(&*expected)), "{header}");
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

/// Rule 103: a token in the query is refused, also beside a good one in the header, and is not repeated.
#[test]
fn the_query_carries_no_token() {
    for query in
        ["access_token=good", "a=b&access_token=good", "access%5Ftoken=good", "access_token", "access_token=%ff"]
    {
        for ask in [legacy("ping", json!({})), legacy("ping", json!({})).bearer("good")] {
            let host = TestHost::new();
            let answer = ask.at(&format!("/mcp?{query}")).ask_on(&guarded(), &host);
            assert_eq!(answer.status, 400, "{query}");
            assert!(!format!("{answer:?}{}", host.log_text()).contains("good"), "{query}");
        }
    }
    let about = legacy("ping", json!({})).bearer("good").at("/mcp?q=access_token&Access_Token=x#access_token=y");
    assert_eq!(about.ask_at(&guarded()).status, 200);
}

/// Of all that is wrong, the first is told: present, valid, expired, audience, scopes.
#[test]
fn checks_have_an_order() {
    async fn judge(presented: Presented<'_>) -> Result<Principal, TokenRefusal> {
        let mut principal = Principal::new("ada");
        for fault in presented.token().split('.') {
            match fault {
                "invalid" => return Err(TokenRefusal::Invalid("as asked".into())),
                "expired" => principal.expires = Some(NOW - 60),
                "audience" => principal.audience = vec!["https://other.example/mcp".into()],
                "scoped" => principal.scopes = vec!["write".into()],
                _ => {}
            }
        }
        Ok(principal)
    }
    let tool = || edge_mcp::Tool::new("write", "Writes.", || async { "done" }).scopes(["write"]);
    let endpoint = Endpoint::new(move |_| edge_mcp::McpServer::builder("s", "1").tool(tool()).build())
        .auth(judge)
        .without_rate_limit();
    for (token, status, says) in [
        ("", 401, "needs an access token"),
        ("invalid.expired.audience", 401, "is not valid"),
        ("expired.audience", 401, "has expired"),
        ("audience", 401, "for another server"),
        ("none", 403, "write"),
        ("scoped", 200, ""),
    ] {
        let ask = modern("tools/call", json!({ "name": "write" }));
        let ask = if token.is_empty() { ask } else { ask.bearer(token) };
        let answer = ask.ask_at(&endpoint);
        assert_eq!(answer.status, status, "{token}");
        assert!(status == 200 || answer.message().contains(says), "{token}: {}", answer.message());
    }
}

/// What needs no caller asks for none: other paths, other verbs, preflights.
#[test]
fn what_needs_no_caller_asks_for_none() {
    for (verb, path, status) in [
        ("GET", "/mcp", 405),
        ("DELETE", "/mcp", 405),
        ("PUT", "/mcp", 405),
        ("OPTIONS", "/mcp", 204),
        ("POST", "/mcpfoo", 404),
        ("POST", "/", 404),
        ("GET", "/.well-known/oauth-protected-resource", 404),
    ] {
        let answer = post("").verb(verb).at(path).header("Origin", "http://localhost:1").ask_at(&guarded());
        assert_eq!((answer.status, answer.header("www-authenticate")), (status, None), "{verb} {path}");
    }
}

/// CVE-2026-25536: two requests at the same time, with one id and two callers, get each their own answer.
#[test]
fn answers_are_not_mixed_up() {
    let endpoint = guarded();
    let host = TestHost::new();
    let whoami = |token| modern_as(&json!("same"), "tools/call", json!({ "name": "whoami" })).bearer(token);
    let both = join(whoami("good").send(&endpoint, &host), whoami("soon").send(&endpoint, &host));
    let (ada, bob) = testing::run(both);
    assert_eq!((ada.tool_text(), bob.tool_text()), (("ada", false), ("bob", false)));
}

/// Pages of the server's own URL may call, whatever a request says of its host.
#[test]
fn its_own_pages_may_call() {
    let resource = ProtectedResource::at("https://KB.example.com/mcp").expect("a URL");
    let endpoint = guarded().resource(resource);
    for (origin, status) in [
        ("https://kb.example.com", 200),
        ("https://kb.example.com:8443", 403),
        ("http://kb.example.com", 403),
        ("https://evil.example", 403),
    ] {
        let ask = legacy("ping", json!({})).bearer("good").header("Origin", origin).header("Host", "evil.example");
        assert_eq!(ask.at("https://evil.example/mcp").ask_at(&endpoint).status, status, "{origin}");
    }
}

/// A page that is refused for its token can read why.
#[test]
fn a_page_can_read_the_challenge() {
    let answer = legacy("ping", json!({})).header("Origin", "http://localhost:1").ask_at(&guarded());
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (401, Some("http://localhost:1")));
    assert!(answer.header("access-control-expose-headers").is_some_and(|names| names.contains("WWW-Authenticate")));
}

fn static_tokens(text: Option<&str>) -> Endpoint {
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", text);
    tokens.map(|tokens| Endpoint::new(server).auth(tokens)).into()
}

/// A wrong configuration serves nothing, names the variable, and quotes no value.
#[test]
fn a_wrong_configuration_is_503() {
    for endpoint in [
        static_tokens(None),
        static_tokens(Some("[\"s3cret\"]")),
        Endpoint::misconfigured(ConfigError::new("MCP_STATIC_TOKENS", "is odd")),
    ] {
        let host = TestHost::new();
        let answer = modern("tools/list", json!({})).bearer("s3cret").ask_on(&endpoint, &host);
        assert_eq!(answer.refusal(), (503, -32603));
        assert!(answer.message().contains("MCP_STATIC_TOKENS"), "{}", answer.message());
        assert!(host.log_text().contains("MCP_STATIC_TOKENS"));
        assert!(!format!("{answer:?}{}", host.log_text()).contains("s3cret"));
        assert_eq!(post("").verb("GET").ask_at(&endpoint).status, 405, "this needs no configuration");
    }
}

/// Without authentication, only the own machine is served, unless it is said by name.
#[test]
fn nobody_is_asked_on_localhost_alone() {
    let closed = || Endpoint::new(server).without_auth().without_rate_limit();
    for (url, serves) in [
        ("http://localhost:8787/mcp", true),
        ("http://127.0.0.1/mcp", true),
        ("http://[::1]:1/mcp", true),
        ("https://kb.example.com/mcp", false),
        ("http://localhost.evil.example/mcp", false),
        ("http://192.168.1.7:8787/mcp", false),
    ] {
        let ping = || legacy("ping", json!({})).at(url);
        let answer = ping().ask_at(&closed());
        assert_eq!(answer.status, if serves { 200 } else { 503 }, "{url}");
        assert!(serves || answer.message().contains("MCP_ALLOW_PUBLIC"), "{url}");
        assert_eq!(ping().ask_at(&closed().open_to_the_public()).status, 200, "{url}");
    }
}

/// Any client can send `Host: localhost`. Without authentication, a request from another machine is refused all the same.
#[test]
fn localhost_in_the_url_does_not_open_the_server_to_other_machines() {
    let closed = || Endpoint::new(server).without_auth().without_rate_limit();
    for (address, serves) in [
        ("127.0.0.1", true),
        ("127.8.9.10", true),
        ("::1", true),
        ("::ffff:127.0.0.1", true),
        ("192.0.2.1", false),
        ("10.0.0.1", false),
        ("0.0.0.0", false),
        ("::", false),
        ("2001:db8::1", false),
        ("fe80::1", false),
        ("::ffff:192.0.2.1", false),
    ] {
        for (verb, path) in [("POST", "/mcp"), ("GET", "/server.json"), ("GET", "/")] {
            let ask =
                || legacy("ping", json!({})).verb(verb).at(path).header("Accept", "text/html, */*").address(address);
            let expected = if serves { 200 } else { 503 };
            assert_eq!(ask().document(&closed()).status(), expected, "{address} {verb} {path}");
            assert_eq!(ask().document(&closed().open_to_the_public()).status(), 200, "{address} {verb} {path}");
        }
        let elsewhere = legacy("ping", json!({})).at("https://kb.example.com/mcp").address(address);
        assert_eq!(elsewhere.ask_at(&closed()).status, 503, "{address} and a public URL");
    }
    // Where the host does not know the address, the URL decides, and no header stands for the address.
    let unknown = legacy("ping", json!({})).header("CF-Connecting-IP", "192.0.2.1");
    assert_eq!(unknown.ask_at(&closed()).status, 200);
}

/// An endpoint that nobody decided about serves nothing.
#[test]
fn an_undecided_endpoint_is_closed() {
    let answer = modern("tools/list", json!({})).ask_at(&Endpoint::new(server));
    assert_eq!(answer.refusal(), (503, -32603));
    assert!(answer.message().contains("without_auth"), "{}", answer.message());
}
