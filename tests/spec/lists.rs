//! Lists: their order and their cursors.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::auth::{PresentedToken, Principal, TokenRefusal};
use edge_mcp::cache::CacheHint;
use edge_mcp::cache::Cacheable;
use edge_mcp::testing;
use edge_mcp::{McpServer, Resource, ResourceDescription, ResourceTemplate};
use serde_json::json;

use crate::support::{legacy, modern};

const LISTS: [&str; 4] = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];

/// Rules 49 and 50: a list has the order of registration. Calls between two requests do not change it.
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

/// Rule 51: a cursor that the server did not issue is rejected. The last page has no cursor.
#[test]
fn cursors_that_were_not_issued_are_rejected() {
    for method in LISTS {
        assert!(modern(method, json!({})).ask().result().get("nextCursor").is_none(), "{method}");
        for cursor in [json!("abc"), json!(""), json!(7), json!({})] {
            let params = json!({ "cursor": cursor });
            for answer in [modern(method, params.clone()).ask(), legacy(method, params.clone()).ask()] {
                assert_eq!(answer.refusal(), (200, -32602), "{method} {cursor}");
                assert!(answer.message().contains("cursor"), "{}", answer.message());
            }
        }
    }
}

/// The list function of a template runs only for callers with the scopes of the template, even with `list_all`. A list with results
/// of such a function is private.
#[test]
fn a_template_lists_only_for_callers_with_its_scopes() {
    async fn scopes_from_token(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        Ok(Principal::new("ada").with_scopes([presented.token()]))
    }
    let calls = Rc::new(Cell::new(0));
    let endpoint = |scopes: &'static [&'static str], lists: bool| {
        let calls = calls.clone();
        let server = move |_: &_| {
            let text = |_: BTreeMap<String, String>| async { "text" };
            let template = ResourceTemplate::new("kb://documents/{slug}", text).scopes(scopes.iter().copied());
            let calls = calls.clone();
            let list = move || {
                calls.set(calls.get() + 1);
                async { vec![ResourceDescription::new("kb://documents/x", "Plan to lay off Bob")] }
            };
            McpServer::builder("s", "1")
                .list_all()
                .cache_of(Cacheable::Resources, CacheHint::public(Duration::from_mins(1)))
                .resource(Resource::new("kb://motd", || async { "Hello" }))
                .resource_template(if lists { template.list(list) } else { template })
                .build()
        };
        testing::endpoint(server).auth(scopes_from_token)
    };
    for (scopes, lists, token, count, called, scope) in [
        (&["read"][..], true, "nothing", 1, 0, "private"),
        (&["read"], true, "read", 2, 1, "private"),
        (&[], true, "nothing", 2, 1, "private"),
        (&["read"], false, "nothing", 1, 0, "public"),
    ] {
        calls.set(0);
        let answer = modern("resources/list", json!({})).bearer(token).ask_at(&endpoint(scopes, lists));
        let result = answer.result();
        assert_eq!(result["resources"].as_array().map(Vec::len), Some(count), "{scopes:?} {token}");
        assert_eq!(calls.get(), called, "{scopes:?} {token}");
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(60_000), &json!(scope)), "{scopes:?} {token}");
    }
    let templates = modern("resources/templates/list", json!({})).bearer("nothing").ask_at(&endpoint(&["read"], true));
    assert_eq!(
        templates.result()["resourceTemplates"].as_array().map(Vec::len),
        Some(1),
        "the template itself is listed"
    );
}
