//! Tools: their descriptions and their calls.

use edge_mcp::testing::TestHost;
use serde_json::json;

use crate::support::{SECRET, endpoint, legacy, modern};

/// Rules 53 and 57: `tools/list` describes each tool with its name, texts, schemas and annotations.
#[test]
fn tools_list_describes_each_tool() {
    let answer = modern("tools/list", json!({})).ask();
    let tools = answer.result()["tools"].as_array().expect("tools");
    assert_eq!(
        tools[0],
        json!({
            "name": "say",
            "title": "Say",
            "description": "Says it.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "text": { "type": "string", "description": "Text to say", "minLength": 1, "maxLength": 20 },
                    "times": {
                        "type": "integer", "description": "Repetitions", "default": 1, "minimum": 1, "maximum": 9,
                    },
                },
                "required": ["text"],
                "additionalProperties": false,
            },
            "outputSchema": {
                "type": "object",
                "properties": { "said": { "type": "string" } },
                "required": ["said"],
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": true, "destructiveHint": false },
        })
    );
    assert_eq!(
        tools[3],
        json!({
            "name": "nothing",
            "description": "Does nothing.",
            "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
        })
    );
}

/// Rule 60: structured content is also sent as text, for clients that support only text.
#[test]
fn structured_content_is_also_sent_as_text() {
    for ask in [modern, legacy] {
        let answer = ask("tools/call", json!({ "name": "say", "arguments": { "text": "ho", "times": 2 } })).ask();
        let result = answer.result();
        assert_eq!(result["structuredContent"], json!({ "said": "hoho" }));
        assert_eq!(result["content"], json!([{ "type": "text", "text": "{\"said\":\"hoho\"}" }]));
        assert_eq!(result["isError"], false);
    }
}

/// In JSON Schema a number without a fraction is an integer in every notation. Tools accept each of these notations.
#[test]
fn numbers_without_a_fraction_are_integers() {
    for (times, said) in [("2", "hoho"), ("2.0", "hoho"), ("2e0", "hoho"), ("0.2e1", "hoho")] {
        let arguments = format!(r#"{{"text":"ho","times":{times}}}"#);
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"say","arguments":{arguments}}}}}"#
        );
        let answer = crate::support::post(message).ask();
        assert_eq!(answer.result()["structuredContent"], json!({ "said": said }), "{times}");
    }
}

/// A handler can send its own content blocks beside structured content, in place of the JSON text.
#[test]
fn structured_content_can_have_other_blocks_than_its_json() {
    let answer = modern("tools/call", json!({ "name": "chart" })).ask();
    assert_eq!(answer.result()["structuredContent"], json!({ "said": "up" }));
    assert_eq!(answer.result()["content"], json!([{ "type": "text", "text": "It goes up." }]));
}

/// Rule 63: content blocks are sent in the form and order that the handler returns.
#[test]
fn content_blocks_are_sent_unchanged() {
    let answer = modern("tools/call", json!({ "name": "show" })).ask();
    let expected = json!([
        { "type": "image", "data": "cG5n", "mimeType": "image/png" },
        { "type": "text", "text": "a picture" },
    ]);
    assert_eq!(answer.result()["content"], expected);
    assert_eq!(modern("tools/call", json!({ "name": "nothing" })).ask().result()["content"], json!([]));
}

/// Rule 58: an unknown tool and parameters of a wrong type are protocol errors.
#[test]
fn unknown_tools_and_malformed_calls_are_protocol_errors() {
    for (params, field) in [
        (json!({ "name": "no-such" }), "no-such"),
        (json!({ "name": "__proto__" }), "__proto__"),
        (json!({ "name": "say ", "arguments": {} }), "say "),
        (json!({}), "params.name"),
        (json!({ "name": 7 }), "params.name"),
        (json!({ "name": "nothing", "arguments": [] }), "params.arguments"),
        (json!({ "name": "nothing", "arguments": "{}" }), "params.arguments"),
    ] {
        let answer = legacy("tools/call", params.clone()).ask();
        assert_eq!(answer.refusal(), (200, -32602), "{params}");
        assert!(answer.message().contains(field), "{} for {params}", answer.message());
    }
    assert_eq!(modern("tools/call", json!({ "name": "no-such" })).ask().refusal(), (200, -32602));
}

/// Rule 59: invalid arguments give an error result that names each mistake. The tool is not called.
#[test]
fn invalid_arguments_are_an_error_result() {
    for (tool, arguments, mistakes) in [
        ("say", json!({}), vec!["`text` is required"]),
        ("say", json!({ "text": 5 }), vec!["`text` must be a string (got 5)"]),
        ("say", json!({ "text": "" }), vec!["`text` must have at least 1 character (got 0)"]),
        ("say", json!({ "text": "é".repeat(21) }), vec!["`text` must have at most 20 characters (got 21)"]),
        ("say", json!({ "text": "a", "times": 0 }), vec!["`times` must be at least 1 (got 0)"]),
        ("say", json!({ "text": "a", "times": 1.5 }), vec!["`times` must be an integer (got 1.5)"]),
        ("say", json!({ "text": "a", "tmies": 2 }), vec!["`tmies` is not a known property"]),
        ("say", json!({ "text": [], "times": "x" }), vec!["`text` must be a string", "`times` must be an integer"]),
        ("nothing", json!({ "x": 1 }), vec!["`x` is not a known property"]),
    ] {
        for ask in [modern, legacy] {
            let answer = ask("tools/call", json!({ "name": tool, "arguments": arguments })).ask();
            let (text, is_error) = answer.tool_text();
            assert!(is_error, "{arguments}");
            assert!(mistakes.iter().all(|line| text.contains(line)), "{text} for {arguments}");
        }
    }
    let longest = json!({ "name": "say", "arguments": { "text": "é".repeat(20) } });
    assert!(!modern("tools/call", longest).ask().tool_text().1, "`maxLength` counts characters, not bytes");
}

/// Rule 61: a failure is a result. Its cause is only in the log.
#[test]
fn the_cause_of_a_failed_tool_is_only_in_the_log() {
    for (tool, says) in [("refuse", "Not on Sundays."), ("break", "The server failed to answer this request.")] {
        let host = TestHost::new();
        let answer = modern("tools/call", json!({ "name": tool })).ask_on(&endpoint(), &host);
        let (text, is_error) = answer.tool_text();
        assert!(is_error && text.contains(says), "{text}");
        assert!(!format!("{answer:?}").contains(SECRET), "{answer:?}");
        let fault = &host.log()[0];
        assert_eq!((&fault["event"], &fault["subject"]), (&json!("failure"), &json!(tool)));
        assert!(fault["cause"].as_str().is_some_and(|cause| cause.contains(SECRET)));
    }
}

/// Rule 64: `task` is ignored, because the server has no tasks.
#[test]
fn a_task_parameter_is_ignored() {
    let answer = legacy("tools/call", json!({ "name": "nothing", "task": { "ttl": 1 } })).ask();
    assert_eq!(answer.result()["isError"], false);
}
