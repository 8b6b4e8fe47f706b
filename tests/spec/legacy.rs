//! Revisions up to 2025-11-25, served without a session.

use serde_json::json;

use crate::support::{LEGACY, NEWEST, envelope, legacy, modern, post};

/// Rules 87 and 88: a legacy revision is agreed on as it was asked for; of others, the newest legacy one is offered.
#[test]
fn initialize_agrees_on_a_revision() {
    let cases = LEGACY.map(|version| (version, version));
    let others = ["1999-01-01", "2024-10-07", NEWEST, "next", ""].map(|version| (version, "2025-11-25"));
    for (asked, agreed) in cases.into_iter().chain(others) {
        let params =
            json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
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
            "{asked}"
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

/// Rule 99: `initialize` under a header that names a modern revision is told so; one that claims that revision itself is a
/// method it does not have.
#[test]
fn initialize_belongs_to_older_revisions() {
    let params = json!({ "protocolVersion": "2025-11-25" });
    let answer = legacy("initialize", params).replace("MCP-Protocol-Version", NEWEST).ask();
    assert_eq!(answer.refusal(), (400, -32020));
    let claims = json!({ "protocolVersion": NEWEST, "_meta": envelope() });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": claims });
    let ask = post(message.to_string()).header("MCP-Protocol-Version", NEWEST).header("Mcp-Method", "initialize");
    assert_eq!(ask.ask().refusal(), (404, -32601));
    // A claim of a legacy revision is no modern claim, and what the header says is not yet agreed.
    let odd = json!({ "protocolVersion": "2025-06-18", "_meta": { "io.modelcontextprotocol/protocolVersion": "2025-06-18" } });
    let answer = legacy("initialize", odd).replace("MCP-Protocol-Version", "2020-01-01").ask();
    assert_eq!(answer.result()["protocolVersion"], "2025-06-18");
}

/// Rules 89 and 91: no handshake is needed; the header names the revision, or is left out.
#[test]
fn requests_stand_alone() {
    for version in LEGACY.into_iter().map(Some).chain([None]) {
        let ask = legacy("tools/list", json!({})).without("MCP-Protocol-Version");
        let answer = version.into_iter().fold(ask, |ask, version| ask.header("MCP-Protocol-Version", version)).ask();
        assert!(answer.result()["tools"].is_array(), "{version:?}");
    }
}

/// Rule 91: a version that is not served is 400, and the answer says which are.
#[test]
fn an_unknown_version_header_is_refused() {
    for version in ["2020-01-01", "2024-10-07", "1", "", "2025-11-25, 2025-11-25"] {
        let answer = legacy("tools/list", json!({})).replace("MCP-Protocol-Version", version).ask();
        assert_eq!(answer.refusal(), (400, -32600), "{version:?}");
        assert!(LEGACY.iter().all(|known| answer.message().contains(known)), "{}", answer.message());
    }
}

/// Rule 99: a header that looks modern without the envelope is a mistake that a modern client recognizes.
#[test]
fn a_modern_header_asks_for_the_envelope() {
    for version in [NEWEST, "2031-01-01", "v999"] {
        let answer = legacy("tools/list", json!({})).replace("MCP-Protocol-Version", version).ask();
        assert_eq!(answer.refusal(), (400, -32602), "{version}");
    }
}

/// Rule 90.
#[test]
fn ping_is_answered() {
    for version in LEGACY {
        assert_eq!(legacy("ping", json!({})).replace("MCP-Protocol-Version", version).ask().result(), &json!({}));
    }
}

/// Rules 68 and 95: what is not served is -32601 in a 200, also what sessions are for.
#[test]
fn unknown_methods_are_errors_in_a_200() {
    for method in
        ["no/such", "resources/subscribe", "resources/unsubscribe", "tasks/list", "server/discover", "Tools/list"]
    {
        assert_eq!(legacy(method, json!({})).ask().refusal(), (200, -32601), "{method}");
    }
}

/// Rule 100: both eras are served side by side.
#[test]
fn eras_take_turns() {
    for _ in 0..2 {
        assert!(legacy("tools/list", json!({})).ask().result().get("resultType").is_none());
        assert_eq!(modern("tools/list", json!({})).ask().result()["resultType"], "complete");
    }
}
