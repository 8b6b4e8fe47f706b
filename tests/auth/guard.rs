//! The guard: the checks of the token in each request, and the responses to rejected requests.

use edge_mcp::auth::{PresentedToken, Principal, ProtectedResource, TokenRefusal};
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{ConfigError, Endpoint, StaticTokens};
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

/// Returns the challenge with this error and this description.
fn challenge(error: &str, message: &str) -> String {
    format!("Bearer error=\"{error}\", error_description=\"{message}\"")
}

/// Rules 101 and 107: the guard rejects every request without a valid token, in both eras and for every method.
#[test]
fn every_request_needs_a_token() {
    let initialize = || legacy("initialize", json!({ "protocolVersion": "2025-11-25" }));
    let note = || post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
    let requests = [
        modern("server/discover", json!({})),
        modern("tools/list", json!({})),
        initialize(),
        note(),
        post("{"),
        post(""),
    ];
    for ask in requests {
        let answer = ask.clone().ask_at(&guarded());
        assert_eq!((answer.refusal(), answer.header("www-authenticate")), ((401, -32600), Some("Bearer")), "{ask:?}");
        for token in ["bad", "late", "GOOD", "good="] {
            let answer = ask.clone().bearer(token).ask_at(&guarded());
            let problem = if token == "late" { "has expired." } else { "is not valid for this server." };
            let expected = challenge("invalid_token", &format!("The access token {problem}"));
            assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some(&*expected)), "{token} {ask:?}");
            assert!(answer.message().ends_with(problem), "{}", answer.message());
        }
        assert_ne!(ask.clone().bearer("good").ask_at(&guarded()).status, 401, "{ask:?}");
    }
    for (token, subject) in [("good", "ada"), ("soon", "bob")] {
        let answer = modern("tools/call", json!({ "name": "whoami" })).bearer(token).ask_at(&guarded());
        assert_eq!(answer.tool_text(), (subject, false));
    }
}

/// Rule 106: the guard rejects a malformed header with 400. A header with another scheme counts as a missing token.
#[test]
fn a_malformed_authorization_header_is_400() {
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
    assert_eq!(ask("bearer good").status, 200, "the scheme is case-insensitive");
    assert_eq!(
        legacy("ping", json!({}))
            .header("Authorization", format!("Bearer {}", "a".repeat(10_000)))
            .ask_at(&guarded())
            .status,
        401
    );
}

/// Rule 103: the guard rejects a token in the query, even if the header has a valid token. Neither the answer nor the log repeats it.
#[test]
fn a_token_in_the_query_is_rejected() {
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
    let similar = legacy("ping", json!({})).bearer("good").at("/mcp?q=access_token&Access_Token=x#access_token=y");
    assert_eq!(similar.ask_at(&guarded()).status, 200);
}

/// The response reports the first failed check. The checks run in this order: presence, validity, expiry, audience, scopes.
#[test]
fn the_first_failed_check_is_reported() {
    async fn validate(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        let mut principal = Principal::new("ada");
        for fault in presented.token().split('.') {
            match fault {
                "invalid" => return Err(TokenRefusal::Invalid("the test needs this".into())),
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
        .auth(validate)
        .without_rate_limit();
    for (token, status, problem) in [
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
        assert!(status == 200 || answer.message().contains(problem), "{token}: {}", answer.message());
    }
}

/// Requests with other paths or other HTTP methods, and preflight requests, get no challenge.
#[test]
fn only_a_post_to_the_endpoint_needs_a_token() {
    for (verb, path, status) in [
        ("GET", "/mcp", 405),
        ("DELETE", "/mcp", 405),
        ("PUT", "/mcp", 405),
        ("OPTIONS", "/mcp", 204),
        ("POST", "/mcpfoo", 404),
        ("POST", "/", 308),
        ("GET", "/.well-known/oauth-protected-resource", 404),
    ] {
        let answer = post("").verb(verb).at(path).header("Origin", "http://localhost:1").ask_at(&guarded());
        assert_eq!((answer.status, answer.header("www-authenticate")), (status, None), "{verb} {path}");
    }
}

/// CVE-2026-25536: two callers send concurrent requests with the same id. Each caller gets its own answer.
#[test]
fn concurrent_requests_with_the_same_id_get_separate_answers() {
    let endpoint = guarded();
    let host = TestHost::new();
    let whoami = |token| modern_as(&json!("same"), "tools/call", json!({ "name": "whoami" })).bearer(token);
    let both = join(whoami("good").send(&endpoint, &host), whoami("soon").send(&endpoint, &host));
    let (ada, bob) = testing::run(both);
    assert_eq!((ada.tool_text(), bob.tool_text()), (("ada", false), ("bob", false)));
}

/// Web pages from the origin of the configured URL may call. The host in the request does not matter.
#[test]
fn pages_from_the_configured_origin_may_call() {
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

/// The CORS headers of a 401 let a web page read the challenge.
#[test]
fn a_web_page_can_read_the_challenge() {
    let answer = legacy("ping", json!({})).header("Origin", "http://localhost:1").ask_at(&guarded());
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (401, Some("http://localhost:1")));
    assert!(answer.header("access-control-expose-headers").is_some_and(|names| names.contains("WWW-Authenticate")));
}

fn static_tokens(text: Option<&str>) -> Endpoint {
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", text);
    tokens.map(|tokens| Endpoint::new(server).auth(tokens)).into()
}

/// With a wrong configuration, the endpoint answers 503. The answer and the log name the variable and do not quote its value.
#[test]
fn a_wrong_configuration_is_503() {
    for endpoint in [
        static_tokens(None),
        static_tokens(Some("[\"s3cret\"]")),
        Endpoint::misconfigured(ConfigError::new("MCP_STATIC_TOKENS", "is wrong")),
    ] {
        let host = TestHost::new();
        let answer = modern("tools/list", json!({})).bearer("s3cret").ask_on(&endpoint, &host);
        assert_eq!(answer.refusal(), (503, -32603));
        assert!(answer.message().contains("MCP_STATIC_TOKENS"), "{}", answer.message());
        assert!(host.log_text().contains("MCP_STATIC_TOKENS"));
        assert!(!format!("{answer:?}{}", host.log_text()).contains("s3cret"));
        assert_eq!(post("").verb("GET").ask_at(&endpoint).status, 405, "a GET needs no configuration");
    }
}

/// Without authentication, the endpoint serves only URLs on localhost, unless `open_to_the_public` is set.
#[test]
fn without_authentication_only_localhost_is_served() {
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

/// Any client can send `Host: localhost`. Without authentication, the endpoint still rejects requests from other machines.
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
    // The endpoint does not read the address from a header.
    let local = legacy("ping", json!({})).header("CF-Connecting-IP", "192.0.2.1");
    assert_eq!(local.ask_at(&closed()).status, 200);
}

/// Without authentication, the endpoint rejects a request if its host does not know the address of the client, or if a proxy has passed the
/// request on: the address is then that of the proxy.
#[test]
fn an_unknown_address_or_a_proxy_closes_a_server_without_authentication() {
    let closed = || Endpoint::new(server).without_auth().without_rate_limit();
    let unknown = || legacy("ping", json!({})).without_address();
    let answer = unknown().ask_at(&closed());
    assert_eq!((answer.status, answer.message().contains("MCP_ALLOW_PUBLIC")), (503, true));
    assert_eq!(unknown().ask_at(&closed().open_to_the_public()).status, 200);
    for header in ["Forwarded", "X-Forwarded-For", "x-real-ip", "Via"] {
        for value in ["127.0.0.1", "", "1.1 proxy"] {
            let passed_on = || legacy("ping", json!({})).address("127.0.0.1").header(header, value);
            assert_eq!(passed_on().ask_at(&closed()).status, 503, "{header}: {value}");
            assert_eq!(passed_on().ask_at(&closed().open_to_the_public()).status, 200, "{header}: {value}");
        }
    }
}

/// Until the program configures authentication or calls `without_auth`, the endpoint answers 503.
#[test]
fn an_endpoint_without_an_authentication_setting_is_closed() {
    let answer = modern("tools/list", json!({})).ask_at(&Endpoint::new(server));
    assert_eq!(answer.refusal(), (503, -32603));
    assert!(answer.message().contains("without_auth"), "{}", answer.message());
}
