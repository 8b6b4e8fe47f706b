//! Revisions up to 2025-11-25, served without a session.

use serde_json::json;

use crate::support::{LEGACY, NEWEST, envelope, legacy, modern, post};

/// Rules 87 and 88: `initialize` accepts each legacy revision. For any other version it offers the newest legacy revision.
#[test]
fn initialize_agrees_on_a_revision() {
    let cases = LEGACY.map(|version| (version, version));
    let others = ["1999-01-01", "2024-10-07", NEWEST, "next", ""].map(|version| (version, "2025-11-25"));
    for (requested, agreed) in cases.into_iter().chain(others) {
        let params =
            json!({ "protocolVersion": requested, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        let answer = legacy("initialize", params).without("MCP-Protocol-Version").ask();
        assert_eq!(
            answer.result(),
            &json!({
                "protocolVersion": agreed,
                "capabilities": { "tools": {}, "resources": {}, "prompts": {}, "completions": {} },
                "serverInfo": {
                    "name": "specimen",
                    "version": "1.2.3",
                    "title": "Specimen",
                    "description": "One of everything.",
                    "icons": [{ "src": "data:,", "sizes": ["any"], "theme": "dark" }],
                    "websiteUrl": "https://example.com",
                },
                "instructions": "Say it once.",
            }),
            "{requested}"
        );
    }
}

#[test]
fn initialize_checks_its_parameters() {
    for (params, field) in [
        (json!({}), "protocolVersion"),
        (json!({ "protocolVersion": 1 }), "protocolVersion"),
        (json!({ "protocolVersion": "2025-11-25", "capabilities": [] }), "capabilities"),
        (json!({ "protocolVersion": "2025-11-25", "clientInfo": "me" }), "clientInfo"),
        (json!({ "protocolVersion": "2025-11-25", "clientInfo": {} }), "clientInfo"),
    ] {
        let answer = legacy("initialize", params.clone()).ask();
        assert_eq!(answer.refusal(), (200, -32602), "{params}");
        assert!(answer.message().contains(field), "{}", answer.message());
    }
}

/// Rule 99: `initialize` with the header of a modern revision is a header mismatch. With the envelope of that revision, it is an
/// unknown method.
#[test]
fn initialize_is_a_method_of_older_revisions_only() {
    let params = json!({ "protocolVersion": "2025-11-25" });
    let answer = legacy("initialize", params).replace("MCP-Protocol-Version", NEWEST).ask();
    assert_eq!(answer.refusal(), (400, -32020));
    let claims = json!({ "protocolVersion": NEWEST, "_meta": envelope() });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": claims });
    let ask = post(message.to_string()).header("MCP-Protocol-Version", NEWEST).header("Mcp-Method", "initialize");
    assert_eq!(ask.ask().refusal(), (404, -32601));
    // A legacy revision in `_meta` does not make the request modern. Before `initialize` no revision is agreed, so the header is
    // not checked.
    let odd = json!({ "protocolVersion": "2025-06-18", "_meta": { "io.modelcontextprotocol/protocolVersion": "2025-06-18" } });
    let answer = legacy("initialize", odd).replace("MCP-Protocol-Version", "2020-01-01").ask();
    assert_eq!(answer.result()["protocolVersion"], "2025-06-18");
}

/// Rules 89 and 91: a request needs no handshake. The version header is optional.
#[test]
fn requests_need_no_handshake() {
    for version in LEGACY.into_iter().map(Some).chain([None]) {
        let ask = legacy("tools/list", json!({})).without("MCP-Protocol-Version");
        let answer = version.into_iter().fold(ask, |ask, version| ask.header("MCP-Protocol-Version", version)).ask();
        assert!(answer.result()["tools"].is_array(), "{version:?}");
    }
}

/// Rule 91: an unsupported version in the header gets 400. The message names the supported versions.
#[test]
fn an_unknown_version_header_is_rejected() {
    for version in ["2020-01-01", "2024-10-07", "1", "", "2025-11-25, 2025-11-25"] {
        let answer = legacy("tools/list", json!({})).replace("MCP-Protocol-Version", version).ask();
        assert_eq!(answer.refusal(), (400, -32600), "{version:?}");
        assert!(LEGACY.iter().all(|known| answer.message().contains(known)), "{}", answer.message());
    }
}

/// Rule 99: a modern version header without the envelope gets an error that a modern client recognizes.
#[test]
fn a_modern_header_requires_the_envelope() {
    for version in [NEWEST, "2031-01-01", "v999"] {
        let answer = legacy("tools/list", json!({})).replace("MCP-Protocol-Version", version).ask();
        assert_eq!(answer.refusal(), (400, -32602), "{version}");
    }
}

/// Rule 90: the result of `ping` is `{}` in each legacy revision.
#[test]
fn ping_is_answered() {
    for version in LEGACY {
        assert_eq!(legacy("ping", json!({})).replace("MCP-Protocol-Version", version).ask().result(), &json!({}));
    }
}

/// Rules 68 and 95: an unknown method gets 200 with -32601. So do methods that need a session.
#[test]
fn unknown_methods_get_200_with_an_error() {
    for method in
        ["no/such", "resources/subscribe", "resources/unsubscribe", "tasks/list", "server/discover", "Tools/list"]
    {
        assert_eq!(legacy(method, json!({})).ask().refusal(), (200, -32601), "{method}");
    }
}

/// Rule 100: an endpoint serves requests of both eras in any order.
#[test]
fn requests_of_both_eras_can_alternate() {
    for _ in 0..2 {
        assert!(legacy("tools/list", json!({})).ask().result().get("resultType").is_none());
        assert_eq!(modern("tools/list", json!({})).ask().result()["resultType"], "complete");
    }
}
