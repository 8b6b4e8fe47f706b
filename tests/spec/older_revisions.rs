//! Results for older revisions. Parts that an older client would reject are converted, and the rest is unchanged.

use serde_json::{Value, json};

use crate::support::{legacy, modern};

fn call(version: &str, tool: &str) -> Value {
    let answer = legacy("tools/call", json!({ "name": tool })).replace("MCP-Protocol-Version", version).ask();
    answer.result().clone()
}

/// A content block that a revision does not have is converted to the closest block of that revision.
#[test]
fn content_blocks_are_converted_for_older_revisions() {
    for (version, types) in [
        ("2024-11-05", ["resource", "text"]),
        ("2025-03-26", ["audio", "text"]),
        ("2025-06-18", ["audio", "resource_link"]),
        ("2025-11-25", ["audio", "resource_link"]),
    ] {
        let result = call(version, "media");
        assert_eq!(
            [&result["content"][0]["type"], &result["content"][1]["type"]],
            types.map(|kind| json!(kind)).each_ref(),
            "{version}"
        );
    }
    assert_eq!(call("2025-03-26", "media")["content"][1]["text"], "[Text](test://text)");
    let newest = modern("tools/call", json!({ "name": "media" })).ask();
    let link = json!({ "type": "resource_link", "uri": "test://text", "name": "text", "title": "Text", "size": 5 });
    assert_eq!(newest.result()["content"][1], link);
}

/// Rule 60: for older revisions, structured content that is not an object is wrapped in one, and so is its schema.
#[test]
fn structured_content_is_wrapped_for_older_revisions() {
    let schema_of = |list: &Value| {
        let tools = list["tools"].as_array().expect("tools");
        tools.iter().find(|tool| tool["name"] == "count").expect("listed")["outputSchema"].clone()
    };
    let newest = modern("tools/call", json!({ "name": "count" })).ask();
    assert_eq!(newest.result()["structuredContent"], json!([1, 2, 3]));
    assert_eq!(schema_of(modern("tools/list", json!({})).ask().result())["type"], "array");
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let result = call(version, "count");
        assert_eq!(result["structuredContent"], json!({ "result": [1, 2, 3] }), "{version}");
        assert_eq!(result["content"][0]["text"], "[1,2,3]", "{version}");
        let list = legacy("tools/list", json!({})).replace("MCP-Protocol-Version", version).ask();
        let schema = schema_of(list.result());
        assert_eq!((&schema["type"], &schema["required"]), (&json!("object"), &json!(["result"])), "{version}");
        assert_eq!(schema["properties"]["result"]["type"], "array", "{version}");
    }
    let object = legacy("tools/call", json!({ "name": "say", "arguments": { "text": "a" } })).ask();
    assert_eq!(object.result()["structuredContent"], json!({ "said": "a" }), "an object is not wrapped");
}

/// In revisions that have titles only in the annotations, the title of a tool is there too.
#[test]
fn titles_are_copied_to_annotations_for_older_revisions() {
    for (version, expected) in [("2025-03-26", json!("Count")), ("2025-06-18", Value::Null)] {
        let list = legacy("tools/list", json!({})).replace("MCP-Protocol-Version", version).ask();
        let tools = list.result()["tools"].as_array().expect("tools").clone();
        let count = tools.iter().find(|tool| tool["name"] == "count").expect("listed");
        assert_eq!((&count["annotations"]["title"], &count["title"]), (&expected, &json!("Count")), "{version}");
    }
}
