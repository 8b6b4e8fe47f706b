//! Prompts: their descriptions, versions and arguments, and getting them.

use edge_mcp::testing::TestHost;
use serde_json::{Value, json};

use crate::support::{Answer, SECRET, endpoint, legacy, modern};

fn get(params: Value) -> Answer {
    modern("prompts/get", params).ask()
}

/// Rule 69: each name is listed once, as its last version describes it, with the versions that there are.
#[test]
fn prompts_are_described() {
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
                { "name": "lines", "title": "Line count", "description": "How many lines", "required": false },
                { "name": "deep", "required": false },
            ],
        })
    );
    assert_eq!(prompts[1], json!({ "name": "greet", "arguments": [{ "name": "tone", "required": false }] }));
}

/// A version is chosen by a parameter or in the name; without one it is the last that was added.
#[test]
fn versions_select() {
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

/// Rule 69: what is not there is named, and so is what is.
#[test]
fn what_is_not_there_is_an_error() {
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

/// Rule 69: all that is missing is named at once; what does not fit its type is told; what is unknown is ignored.
#[test]
fn arguments_are_checked() {
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

/// Messages have roles, and content of every kind.
#[test]
fn messages_keep_their_content() {
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

/// Rule 69: a prompt may refuse what it is given; a failure says nothing of its inside.
#[test]
fn a_failing_prompt_says_what_it_may() {
    let refused = get(json!({ "name": "refuse" }));
    assert_eq!((refused.refusal(), refused.message()), ((200, -32602), "Not that one."));
    let host = TestHost::new();
    let broken = modern("prompts/get", json!({ "name": "break" })).ask_on(&endpoint(), &host);
    assert_eq!(broken.refusal(), (200, -32603));
    assert!(!format!("{broken:?}").contains(SECRET), "{broken:?}");
    assert!(host.log_text().contains(SECRET));
}
