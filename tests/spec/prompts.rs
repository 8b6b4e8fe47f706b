//! Prompts: their descriptions, versions, arguments and messages.

use edge_mcp::testing::TestHost;
use serde_json::{Value, json};

use crate::support::{Answer, SECRET, endpoint, legacy, modern};

fn get(params: Value) -> Answer {
    modern("prompts/get", params).ask()
}

/// Rule 69: each name is listed once, with the description of its last version and the names of all versions.
#[test]
fn prompts_list_describes_each_prompt_once() {
    let answer = modern("prompts/list", json!({})).ask();
    let prompts = answer.result()["prompts"].as_array().expect("prompts");
    let names: Vec<_> = prompts.iter().map(|prompt| prompt["name"].clone()).collect();
    assert_eq!(names, ["analyze", "greet", "pair", "refuse", "break"]);
    assert_eq!(
        prompts[0],
        json!({
            "name": "analyze",
            "title": "Analyze code",
            "description": "The second.",
            "icons": [{ "src": "https://example.com/i.png", "mimeType": "image/png" }],
            "_meta": { "example.com/kind": "code", "edge-mcp/versions": ["v1", "v2"] },
            "arguments": [
                { "name": "code", "description": "The code", "required": true },
                { "name": "lines", "title": "Line count", "description": "Number of lines", "required": false },
                { "name": "deep", "required": false },
            ],
        })
    );
    assert_eq!(prompts[1], json!({ "name": "greet", "arguments": [{ "name": "tone", "required": false }] }));
}

/// A parameter or a suffix of the name selects a version. The default is the version that was added last.
#[test]
fn a_version_can_be_selected() {
    let code = json!({ "code": "x" });
    for (params, text) in [
        (json!({ "name": "analyze", "arguments": code }), "x/None/None"),
        (json!({ "name": "analyze", "version": "v1", "arguments": code }), "Analyze x"),
        (json!({ "name": "analyze", "version": "v2", "arguments": code }), "x/None/None"),
        (json!({ "name": "analyze@v1", "arguments": code }), "Analyze x"),
        (json!({ "name": "analyze@v1", "version": "v1", "arguments": code }), "Analyze x"),
    ] {
        for answer in [modern("prompts/get", params.clone()).ask(), legacy("prompts/get", params.clone()).ask()] {
            assert_eq!(answer.result()["messages"][0]["content"]["text"], text, "{params}");
        }
    }
    let described = get(json!({ "name": "analyze@v1", "arguments": code }));
    assert_eq!(described.result()["description"], "The first.");
}

/// Rule 69: the error names the unknown prompt or version, and the available versions.
#[test]
fn unknown_prompts_and_versions_are_rejected() {
    for (params, says) in [
        (json!({ "name": "no-such" }), "no-such"),
        (json!({ "name": "analyze", "version": "v9" }), "v1, v2"),
        (json!({ "name": "analyze@v9" }), "v1, v2"),
        (json!({ "name": "analyze@" }), "v1, v2"),
        (json!({ "name": "analyze@v1", "version": "v2" }), "differ"),
        (json!({ "name": "greet", "version": "v1" }), "it has no versions"),
        (json!({ "name": "no-such@v1" }), "Unknown prompt"),
        (json!({}), "params.name"),
        (json!({ "name": 7 }), "params.name"),
        (json!({ "name": "greet", "version": 7 }), "params.version"),
        (json!({ "name": "greet", "arguments": [] }), "params.arguments"),
        (json!({ "name": "greet", "arguments": { "tone": 7 } }), "params.arguments.tone"),
    ] {
        let answer = legacy("prompts/get", params.clone()).ask();
        assert_eq!(answer.refusal(), (200, -32602), "{params}");
        assert!(answer.message().contains(says), "{} for {params}", answer.message());
    }
    let unknown = get(json!({ "name": "analyze@v9" }));
    assert_eq!(unknown.error()["data"], json!({ "versions": ["v1", "v2"] }));
}

/// Rule 69: one error names all missing arguments. Arguments of a wrong type are rejected, and unknown arguments are ignored.
#[test]
fn missing_and_invalid_arguments_are_rejected() {
    for (params, says) in [
        (json!({ "name": "pair" }), vec!["`first`", "`second`"]),
        (json!({ "name": "pair", "arguments": { "second": "" } }), vec!["`first`."]),
        (json!({ "name": "analyze", "arguments": { "lines": "3" } }), vec!["`code`"]),
        (
            json!({ "name": "analyze", "arguments": { "code": "x".repeat(11) } }),
            vec!["`code` must have at most 10 characters (got 11)"],
        ),
        (
            json!({ "name": "analyze", "arguments": { "code": "x", "lines": "many" } }),
            vec!["`lines` must be an integer"],
        ),
        (json!({ "name": "analyze", "arguments": { "code": "x", "lines": "-1" } }), vec!["`lines` must be at least"]),
        (json!({ "name": "analyze", "arguments": { "code": "x", "deep": "yes" } }), vec!["`deep` must be a boolean"]),
    ] {
        let answer = get(params.clone());
        assert_eq!(answer.refusal(), (200, -32602), "{params}");
        assert!(says.iter().all(|part| answer.message().contains(part)), "{} for {params}", answer.message());
    }
    let typed = json!({ "code": "12", "lines": "3", "deep": "true", "unknown": "ignored" });
    let answer = get(json!({ "name": "analyze", "arguments": typed }));
    assert_eq!(answer.result()["messages"][0]["content"]["text"], "12/Some(3)/Some(true)");
    let mapped = get(json!({ "name": "pair", "arguments": { "first": "1", "second": "2" } }));
    assert_eq!(mapped.result()["messages"][0]["content"]["text"], r#"{"first": "1", "second": "2"}"#);
}

/// Messages keep their roles and their content, of every kind.
#[test]
fn messages_keep_their_roles_and_content() {
    let picture = json!({
        "type": "image", "data": "cG5n", "mimeType": "image/png", "annotations": { "audience": ["user"], "priority": 0.5 },
    });
    let note = json!({ "uri": "test://note", "mimeType": "text/plain", "text": "2026-07-28" });
    assert_eq!(
        get(json!({ "name": "greet" })).result()["messages"],
        json!([
            { "role": "user", "content": picture },
            { "role": "assistant", "content": { "type": "resource", "resource": note } },
        ])
    );
}

/// Rule 69: a prompt can reject its arguments. The cause of a failure is only in the log.
#[test]
fn the_cause_of_a_failed_prompt_is_only_in_the_log() {
    let rejected = get(json!({ "name": "refuse" }));
    assert_eq!((rejected.refusal(), rejected.message()), ((200, -32602), "Not that one."));
    let host = TestHost::new();
    let broken = modern("prompts/get", json!({ "name": "break" })).ask_on(&endpoint(), &host);
    assert_eq!(broken.refusal(), (200, -32603));
    assert!(!format!("{broken:?}").contains(SECRET), "{broken:?}");
    assert!(host.log_text().contains(SECRET));
}
