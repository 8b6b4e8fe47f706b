//! Revision 2026-07-28: the request envelope, versions, discovery, and the envelope of results.

use serde_json::{Value, json};

use crate::support::{LEGACY, NEWEST, complete, envelope, legacy, modern, post};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Returns a `tools/list` request with this `_meta` and the headers of a valid request.
fn with_meta(meta: &Value) -> crate::support::Ask {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    post(message.to_string()).header("MCP-Protocol-Version", NEWEST).header("Mcp-Method", "tools/list")
}

/// Rule 13: a request whose envelope lacks a key, or has one of a wrong type, gets 400 with -32602. The message names the key.
#[test]
fn a_request_with_a_malformed_envelope_is_rejected() {
    let without_params = post(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string());
    for (ask, key) in [
        (without_params.header("MCP-Protocol-Version", NEWEST), VERSION),
        (with_meta(&json!({})), VERSION),
        (with_meta(&json!(7)), VERSION),
        (with_meta(&json!({ CAPABILITIES: {} })), VERSION),
        (with_meta(&json!({ VERSION: 20_260_728, CAPABILITIES: {} })), VERSION),
        (with_meta(&json!({ VERSION: null, CAPABILITIES: {} })), VERSION),
        (with_meta(&json!({ VERSION: NEWEST })), CAPABILITIES),
        (with_meta(&json!({ VERSION: NEWEST, CAPABILITIES: [] })), CAPABILITIES),
        (with_meta(&json!({ VERSION: NEWEST, CAPABILITIES: null })), CAPABILITIES),
        (with_meta(&json!({ VERSION: NEWEST, CAPABILITIES: {}, CLIENT: "me" })), CLIENT),
        (with_meta(&json!({ VERSION: NEWEST, CAPABILITIES: {}, CLIENT: { "name": "me" } })), CLIENT),
        (with_meta(&json!({ VERSION: NEWEST, CAPABILITIES: {}, CLIENT: { "name": 1, "version": "1" } })), CLIENT),
        (with_meta(&json!({ VERSION: NEWEST, CAPABILITIES: {}, LOG_LEVEL: "loud" })), LOG_LEVEL),
        (with_meta(&json!({ VERSION: NEWEST, CAPABILITIES: {}, LOG_LEVEL: 3 })), LOG_LEVEL),
    ] {
        let answer = ask.clone().ask();
        assert_eq!(answer.refusal(), (400, -32602), "{ask:?}");
        assert!(answer.message().contains(key), "{} for {ask:?}", answer.message());
    }
}

/// Rule 14: `clientInfo` is optional. Handlers can read it if it is present.
#[test]
fn client_info_is_optional() {
    let ask = |client: Option<Value>| {
        let mut meta = envelope();
        meta.as_object_mut().expect("an object").extend(client.map(|client| (CLIENT.to_owned(), client)));
        let params = json!({ "_meta": meta, "name": "client" });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let ask = post(message.to_string()).header("MCP-Protocol-Version", NEWEST);
        ask.header("Mcp-Method", "tools/call").header("Mcp-Name", "client").ask()
    };
    assert_eq!(ask(None).tool_text(), ("unnamed", false));
    assert_eq!(ask(Some(json!({ "name": "me", "version": "1", "icons": [] }))).tool_text(), ("me", false));
}

/// Rules 15, 16 and 46: an unsupported version gets 400 with -32022. A header that contradicts the body takes precedence.
#[test]
fn unsupported_versions_are_rejected() {
    let discovered = modern("server/discover", json!({})).ask();
    for version in ["v999.0.0", "2027-01-01", "1999-01-01", "", LEGACY[0], LEGACY[3]] {
        let meta = json!({ VERSION: version, CAPABILITIES: {} });
        for header in [Some(version), None] {
            let ask = with_meta(&meta).without("MCP-Protocol-Version");
            let ask = header.into_iter().fold(ask, |ask, version| ask.header("MCP-Protocol-Version", version));
            let answer = ask.ask();
            assert_eq!(answer.refusal(), (400, -32022), "{version:?} {header:?}");
            assert_eq!(answer.error()["data"]["requested"], version);
            assert_eq!(answer.error()["data"]["supported"], discovered.result()["supportedVersions"]);
        }
        assert_eq!(with_meta(&meta).ask().refusal(), (400, -32020), "{version:?} with the header {NEWEST}");
    }
}

/// Rules 17, 18, 52 and 85: discovery needs no earlier request, and declares the capabilities that the server has.
#[test]
fn discovery_declares_the_capabilities_of_the_server() {
    let answer = modern("server/discover", json!({})).ask();
    let result = answer.result();
    assert_eq!(result["supportedVersions"], json!([NEWEST]));
    assert_eq!(result["capabilities"], json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} }));
    assert_eq!(result["instructions"], "Say it once.");
    assert!(result.get("serverInfo").is_none(), "`serverInfo` is in `_meta`");
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        assert_eq!(modern(method, json!({})).ask().status, 200, "{method} is declared");
    }
}

/// Rule 25: an extension of the server is declared with its settings. A name without a prefix is rejected.
#[test]
fn extensions_are_declared() {
    let build =
        |name: &'static str, settings: Value| edge_mcp::McpServer::builder("s", "1").extension(name, settings).build();
    let endpoint = edge_mcp::Endpoint::new(move |_| build("example.com/search", json!({ "depth": 2 }))).without_auth();
    let answer = modern("server/discover", json!({})).ask_at(&endpoint);
    assert_eq!(answer.result()["capabilities"], json!({ "extensions": { "example.com/search": { "depth": 2 } } }));
    for (name, settings) in
        [("search", json!({})), ("/search", json!({})), ("example.com/", json!({})), ("example.com/x", json!(7))]
    {
        assert!(build(name, settings).is_err(), "{name}");
    }
}

/// Rule 25: an extension that only the client declares has no effect.
#[test]
fn extensions_of_the_client_have_no_effect() {
    let extensions = json!({ "extensions": { "example.com/x": { "deep": [1] } } });
    let answer = with_meta(&json!({ VERSION: NEWEST, CAPABILITIES: extensions, "example.com/key": 7 })).ask();
    assert_eq!(answer.result(), modern("tools/list", json!({})).ask().result());
}

/// Rules 10, 11 and 47: each result has `resultType` and `serverInfo`. Only cacheable results have a cache hint.
#[test]
fn results_have_their_envelope() {
    for (method, params, cacheable) in [
        ("server/discover", json!({}), true),
        ("tools/list", json!({}), true),
        ("tools/call", json!({ "name": "nothing" }), false),
        ("tools/call", json!({ "name": "refuse" }), false),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("resources/read", json!({ "uri": "test://text" }), true),
        ("prompts/list", json!({}), true),
        ("prompts/get", json!({ "name": "greet" }), false),
        ("completion/complete", complete("greet", "tone", ""), false),
    ] {
        let answer = modern(method, params).ask();
        let result = answer.result();
        assert_eq!(result["resultType"], "complete", "{method}");
        let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(
            info,
            &json!({ "name": "specimen", "version": "1.2.3", "title": "Specimen", "description": "One of everything.",
            "icons": [{ "src": "data:,", "sizes": ["any"], "theme": "dark" }], "websiteUrl": "https://example.com" }),
            "{method}"
        );
        assert_eq!(result["ttlMs"].is_u64(), cacheable, "{method}");
        assert_eq!(result["cacheScope"] == "private", cacheable, "{method}");
    }
}

/// Rule 12: results of older revisions have no envelope. Some clients require exactly `{}` for an empty result.
#[test]
fn results_of_older_revisions_have_no_envelope() {
    assert_eq!(legacy("ping", json!({})).ask().result(), &json!({}));
    for (method, params) in [
        ("initialize", json!({ "protocolVersion": "2025-11-25" })),
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "nothing" })),
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": "test://text" })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "greet" })),
        ("completion/complete", complete("greet", "tone", "")),
    ] {
        let answer = legacy(method, params).ask();
        for member in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            assert!(answer.result().get(member).is_none(), "{member} of {method}");
        }
    }
}

/// Rule 38: a method that 2026-07-28 does not have gets 404 with -32601, even if older revisions have it.
#[test]
fn unknown_methods_get_404() {
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/get",
        "unknown/method",
        "",
    ] {
        assert_eq!(modern(method, json!({})).ask().refusal(), (404, -32601), "{method}");
    }
}

/// Rule 26: the server sends only the `_meta` keys of the specification.
#[test]
fn meta_keys_are_those_of_the_specification() {
    let answer = modern("tools/list", json!({})).ask();
    let keys: Vec<_> = answer.result()["_meta"].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["io.modelcontextprotocol/serverInfo"]);
}
