//! Protected resource metadata and challenges, which clients read before they have a token.

use edge_mcp::auth::ProtectedResource;
use edge_mcp::{Endpoint, StaticTokens};
use serde_json::json;

use crate::issuer::RESOURCE;
use crate::support::{Answer, legacy, post, server};

const TOKENS: &str = r#"[{"token":"good","subject":"ada","scopes":[]}]"#;

fn endpoint(resource: ProtectedResource) -> Endpoint {
    Endpoint::new(server)
        .auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(TOKENS)).expect("tokens"))
        .resource(resource)
        .without_rate_limit()
}

fn at(url: &str) -> ProtectedResource {
    ProtectedResource::at(url)
        .and_then(|resource| resource.authorization_server("https://auth.example.com/tenant"))
        .and_then(|resource| resource.authorization_server("https://second.example"))
        .and_then(|resource| resource.scopes(["kb:read", "kb:write"]))
        .expect("valid values")
}

fn get(url: &str, resource: ProtectedResource) -> Answer {
    post("").verb("GET").at(url).ask_at(&endpoint(resource))
}

/// Rule 102: the endpoint serves the metadata at the well-known path and below it, to web pages of every origin. The metadata has exactly
/// the configured values.
#[test]
fn the_metadata_has_the_configured_values() {
    let expected = json!({
        "resource": RESOURCE,
        "authorization_servers": ["https://auth.example.com/tenant", "https://second.example"],
        "scopes_supported": ["kb:read", "kb:write"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Knowledge \"base\"",
        "resource_documentation": "https://example.com/kb",
    });
    let resource = || at(RESOURCE).name("Knowledge \"base\"").documentation("https://example.com/kb");
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        // The caller chooses the host of a request, so the metadata must not depend on it.
        let url = format!("https://evil.example{path}");
        let answer =
            post("").verb("GET").at(&url).header("Origin", "https://anyone.example").document(&endpoint(resource()));
        assert_eq!((answer.status, answer.body.as_ref()), (200, Some(&expected)), "{path}");
        for (name, value) in [
            ("content-type", "application/json"),
            ("cache-control", "public, max-age=3600"),
            ("access-control-allow-origin", "*"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        let head = post("").verb("HEAD").at(&url).document(&endpoint(resource()));
        assert_eq!((head.status, head.body.is_none()), (200, true));
        assert_eq!(head.header("content-type"), Some("application/json"));
        let preflight = post("")
            .verb("OPTIONS")
            .at(&url)
            .header("Origin", "https://anyone.example")
            .document(&endpoint(resource()));
        assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("*")));
        assert_eq!(preflight.header("access-control-allow-methods"), Some("GET, HEAD, OPTIONS"));
        for verb in ["POST", "DELETE", "PUT"] {
            let answer = post("").verb(verb).at(&url).ask_at(&endpoint(resource()));
            assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD, OPTIONS")), "{verb}");
        }
    }
}

/// `resource` is exactly the configured URL, because clients compare it with the URL that the user entered.
#[test]
fn resource_is_exactly_the_configured_url() {
    for (url, path) in [
        ("https://KB.example.com/mcp/", "/.well-known/oauth-protected-resource/mcp"),
        ("https://kb.example.com:8443/public/mcp", "/.well-known/oauth-protected-resource/public/mcp"),
        ("https://kb.example.com", "/.well-known/oauth-protected-resource"),
    ] {
        let answer = post("").verb("GET").at(path).document(&endpoint(at(url)));
        assert_eq!(answer.body.as_ref().map(|body| &body["resource"]), Some(&json!(url)));
    }
    let other = post("").verb("GET").at("/.well-known/oauth-protected-resource/other").ask_at(&endpoint(at(RESOURCE)));
    assert_eq!(other.status, 404);
}

/// On localhost, the resource is the URL of the request. Elsewhere, without a configured URL, there is no metadata, and calls get a 503.
#[test]
fn localhost_needs_no_url() {
    let local = || ProtectedResource::local().authorization_server("http://localhost:3000").expect("a URL");
    let path = "/.well-known/oauth-protected-resource";
    let answer = post("").verb("GET").at(&format!("http://127.0.0.1:8787{path}")).document(&endpoint(local()));
    assert_eq!(answer.body.as_ref().map(|body| &body["resource"]), Some(&json!("http://127.0.0.1:8787/mcp")));
    assert_eq!(get(&format!("https://kb.example.com{path}"), local()).status, 404);
    let answer = legacy("ping", json!({})).at("https://kb.example.com/mcp").bearer("good").ask_at(&endpoint(local()));
    assert_eq!(answer.status, 503);
    assert!(answer.message().contains("MCP_RESOURCE"), "{}", answer.message());
}

/// Rule 108: clients of 2025-03-26 request the authorization server metadata from this server. The endpoint redirects them.
#[test]
fn older_clients_are_redirected_to_the_authorization_server() {
    let answer = post("").verb("GET").at("/.well-known/oauth-authorization-server").document(&endpoint(at(RESOURCE)));
    let location = "https://auth.example.com/.well-known/oauth-authorization-server/tenant";
    assert_eq!((answer.status, answer.header("location")), (302, Some(location)));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
}

/// Without an authorization server, there is no metadata, and the challenge has no parameters.
#[test]
fn without_an_authorization_server_there_is_no_metadata() {
    let alone = || ProtectedResource::at(RESOURCE).and_then(|it| it.scopes(["kb:read"])).expect("a URL");
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server", "/.well-known/x"] {
        assert_eq!(get(path, alone()).status, 404, "{path}");
    }
    let answer = legacy("ping", json!({})).ask_at(&endpoint(alone()));
    assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")));
    assert_eq!(get("/.well-known/openid-configuration", at(RESOURCE)).status, 404);
}

/// Rule 101: the challenge has the URL of the metadata and the scopes. It has an error only if the request has a token.
#[test]
fn the_challenge_has_the_url_of_the_metadata() {
    let parameters = "scope=\"kb:read kb:write\", resource_metadata=\"https://kb.example.com/.well-known/oauth-protected-resource/mcp\"";
    let ask = || legacy("ping", json!({})).at("https://evil.example/mcp").header("Host", "evil.example");
    let plain = ask().ask_at(&endpoint(at(RESOURCE)));
    assert_eq!((plain.status, plain.header("www-authenticate")), (401, Some(&*format!("Bearer {parameters}"))));
    let refused = ask().bearer("bad").ask_at(&endpoint(at(RESOURCE)));
    let expected = format!("Bearer error=\"invalid_token\", error_description=\"{}\", {parameters}", refused.message());
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some(&*expected)));
}

/// `ProtectedResource` rejects URLs and scopes that cannot be in a header or in the metadata. Rule 105: it also rejects `offline_access`,
/// because a resource server should not ask for it.
#[test]
fn invalid_urls_and_scopes_are_rejected() {
    for url in [
        "",
        "mcp",
        "http://kb.example.com/mcp",
        "https://kb.example.com/mcp?x=1",
        "https://kb.example.com/mcp#x",
        "https://kb.example.com/\r\nX: y",
    ] {
        let error = ProtectedResource::at(url).expect_err("an error");
        assert_eq!(error.variable, "MCP_RESOURCE", "{url:?}");
        let error = ProtectedResource::local().authorization_server(url).expect_err("an error");
        assert_eq!(error.variable, "MCP_AUTHORIZATION_SERVERS", "{url:?}");
    }
    for scope in ["offline_access", "kb:read offline_access", "a\"b", "a\\b", "a\rb", "\u{e9}"] {
        assert_eq!(
            ProtectedResource::local().scopes([scope]).expect_err("an error").variable,
            "MCP_SCOPES",
            "{scope:?}"
        );
    }
}
