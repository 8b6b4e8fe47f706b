//! Lists: order, cursors.

use serde_json::json;

use crate::support::{legacy, modern};

const LISTS: [&str; 4] = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];

/// Rules 49 and 50: a list is the same each time, in the order of registration, whatever was called in between.
#[test]
fn lists_keep_their_order() {
    for method in LISTS {
        let before = modern(method, json!({})).ask();
        modern("tools/call", json!({ "name": "nothing" })).ask();
        assert_eq!(before.result(), modern(method, json!({})).ask().result(), "{method}");
    }
    let answer = modern("tools/list", json!({})).ask();
    let names: Vec<_> =
        answer.result()["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["say", "whoami", "client", "nothing", "refuse", "break", "show", "count", "media", "chart"]);
}

/// Rule 51: a cursor that was never given is refused; the last page has none.
#[test]
fn cursors_are_checked() {
    for method in LISTS {
        assert!(modern(method, json!({})).ask().result().get("nextCursor").is_none(), "{method}");
        for cursor in [json!("abc"), json!(""), json!(7), json!(null), json!({})] {
            let params = json!({ "cursor": cursor });
            for answer in [modern(method, params.clone()).ask(), legacy(method, params.clone()).ask()] {
                assert_eq!(answer.refusal(), (200, -32602), "{method} {cursor}");
                assert!(answer.message().contains("cursor"), "{}", answer.message());
            }
        }
    }
}
