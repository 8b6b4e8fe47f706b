//! Resources and templates: listing and reading them.

use serde_json::{Value, json};

use crate::support::{Answer, Lines, SECRET, endpoint, legacy, modern};

fn read(uri: &str) -> Answer {
    modern("resources/read", json!({ "uri": uri })).ask()
}

/// Rule 65: what a client is told of each resource, and of those that a template lists.
#[test]
fn resources_are_described() {
    let answer = modern("resources/list", json!({})).ask();
    let resources = answer.result()["resources"].as_array().expect("resources");
    assert_eq!(resources[0], json!({ "uri": "test://text", "name": "text", "mimeType": "text/plain", "size": 5 }));
    assert_eq!(resources[1], json!({ "uri": "test://bytes", "name": "test://bytes", "mimeType": "image/png" }));
    assert_eq!(resources.last(), Some(&json!({ "uri": "test://items/1", "name": "item 1" })));
    let answer = modern("resources/templates/list", json!({})).ask();
    assert_eq!(
        answer.result()["resourceTemplates"],
        json!([{
            "uriTemplate": "test://items/{id}",
            "name": "item",
            "annotations": { "priority": 1.0, "lastModified": "2026-07-28T00:00:00Z" },
        }])
    );
}

/// Rules 65 and 67: text or base64, with its URI and media type; several contents if there are several.
#[test]
fn resources_are_read() {
    for (uri, contents) in [
        ("test://text", json!([{ "uri": "test://text", "mimeType": "text/plain", "text": "plain" }])),
        ("test://bytes", json!([{ "uri": "test://bytes", "mimeType": "image/png", "blob": "AP8=" }])),
        (
            "test://several",
            json!([{ "uri": "test://several/1", "text": "1" }, { "uri": "test://several/2", "text": "2" }]),
        ),
        ("test://items/a%20b", json!([{ "uri": "test://items/a b", "mimeType": "text/x-item", "text": "a b" }])),
    ] {
        assert_eq!(read(uri).result()["contents"], contents);
        assert_eq!(legacy("resources/read", json!({ "uri": uri })).ask().result()["contents"], contents);
    }
}

/// Rule 66: what is not there is an error of its own in older revisions, -32602 in 2026-07-28, both with the URI.
#[test]
fn what_is_not_there_is_an_error() {
    for uri in [
        "test://no-such",
        "test://gone",
        "test://items/0",
        "test://items/",
        "test://items/..",
        "test://items/%2e%2e",
        "test://items/a%00",
        "test://items/%zz",
        "TEST://text",
        "",
        "no uri at all",
    ] {
        let old = legacy("resources/read", json!({ "uri": uri })).ask();
        for (answer, code) in [(read_unless_empty(uri), -32602), (old, -32002)] {
            assert_eq!(answer.refusal(), (200, code), "{uri}");
            assert_eq!(answer.error()["data"], json!({ "uri": uri }));
        }
    }
}

/// A header cannot be told from none when it is empty, so that the empty URI travels in its marked form.
fn read_unless_empty(uri: &str) -> Answer {
    let ask = modern("resources/read", json!({ "uri": uri }));
    if uri.is_empty() { ask.replace("Mcp-Name", "=?base64??=").ask() } else { ask.ask() }
}

/// Rule 66: a failure, and a handler that gives nothing, are the server's fault; the cause is in the log alone.
#[test]
fn a_failing_resource_says_nothing_of_its_inside() {
    for (uri, cause) in [("test://broken", SECRET), ("test://empty", "no contents")] {
        let lines = Lines::default();
        let answer = modern("resources/read", json!({ "uri": uri })).ask_logging(&endpoint(), &lines);
        assert_eq!(answer.refusal(), (200, -32603), "{uri}");
        assert!(!format!("{answer:?}").contains(cause), "{answer:?}");
        assert!(lines.text().contains(cause), "{}", lines.text());
    }
}

#[test]
fn parameters_are_checked() {
    for params in [json!({}), json!({ "uri": 7 }), json!({ "uri": null }), json!({ "uri": ["test://text"] })] {
        let answer = legacy("resources/read", params.clone()).ask();
        assert_eq!(answer.refusal(), (200, -32602), "{params}");
        assert!(answer.message().contains("params.uri"), "{}", answer.message());
    }
    assert!(
        read("test://text").result()["contents"]
            .as_array()
            .is_some_and(|contents| contents.iter().all(Value::is_object))
    );
}
