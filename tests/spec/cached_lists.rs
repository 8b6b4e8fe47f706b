//! Cached lists of a server that is built once.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::rc::Rc;

use edge_mcp::{
    Endpoint, Limits, McpServer, McpServerBuilder, Prompt, RequestInfo, Resource, ResourceDescription,
    ResourceTemplate, StaticTokens, Tool,
};
use serde_json::{Value, json};

use crate::support::{Ask, legacy, modern, server};

const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
    ("prompts/list", "prompts"),
];

const TOKENS: &str = r#"[
    {"token": "ada-token", "subject": "ada", "scopes": ["write"]},
    {"token": "bob-token", "subject": "bob", "scopes": []}
]"#;

fn request() -> RequestInfo {
    let (head, ()) = http::Request::new(()).into_parts();
    RequestInfo::new(Rc::new(head), None)
}

fn shared(server: McpServer) -> Endpoint {
    Endpoint::of(server).open_to_the_public().without_rate_limit()
}

fn asks(method: &str) -> [Ask; 3] {
    let older = legacy(method, json!({})).replace("MCP-Protocol-Version", "2024-11-05");
    [legacy(method, json!({})), modern(method, json!({})), older]
}

/// A cached list equals the list of a server that is built for the request, in every revision.
#[test]
fn a_cached_list_equals_a_fresh_one() {
    let shared = shared(server(&request()).expect("a server"));
    for (method, _) in LISTS {
        for ask in asks(method) {
            let fresh = ask.clone().ask();
            for _ in 0..3 {
                assert_eq!(ask.clone().ask_at(&shared).result(), fresh.result(), "{method}");
            }
        }
    }
}

/// The list of a caller has only the items that this caller can see. Requests of other callers do not change it.
#[test]
fn callers_do_not_get_the_list_of_another_caller() {
    let text = || async { "text" };
    let is_ada = |request: &RequestInfo| request.caller().is_some_and(|caller| caller.subject == "ada");
    // A scope or a function hides the items that only Ada can see.
    let server = |by_scope: bool| {
        macro_rules! hidden {
            ($item:expr) => {
                if by_scope { $item.scopes(["write"]) } else { $item.visible_if(is_ada) }
            };
        }
        let template = ResourceTemplate::new("a://{b}", |_: BTreeMap<String, String>| async { "text" });
        McpServer::builder("s", "1")
            .tool(hidden!(Tool::new("write", "Writes.", text)))
            .tool(Tool::new("read", "Reads.", text))
            .resource(hidden!(Resource::new("a://1", text)))
            .resource(Resource::new("a://2", text))
            .resource_template(hidden!(template))
            .prompt(hidden!(Prompt::new("write", text)))
            .build()
            .expect("a server")
    };
    for by_scope in [true, false] {
        for order in [["ada-token", "bob-token"], ["bob-token", "ada-token"]] {
            let tokens = StaticTokens::from_json("T", Some(TOKENS)).expect("tokens");
            let endpoint = Endpoint::of(server(by_scope)).auth(tokens).without_rate_limit();
            for (method, member) in LISTS {
                for token in [order, order].concat() {
                    let answer = legacy(method, json!({})).bearer(token).ask_at(&endpoint);
                    let count = match answer.json()["error"]["code"].as_i64() {
                        // All items of this kind are hidden.
                        Some(-32601) => 0,
                        _ => answer.result()[member].as_array().expect("a list").len(),
                    };
                    let all = if matches!(method, "tools/list" | "resources/list") { 2 } else { 1 };
                    let expected = if token == "ada-token" { all } else { all - 1 };
                    assert_eq!(count, expected, "{method} {token} {order:?}");
                }
            }
        }
    }
}

/// Pages, cursors and functions that list resources work in the same way as on an endpoint that builds its server for each request.
#[test]
fn lists_that_vary_between_requests_are_not_cached() {
    let tools = |builder: McpServerBuilder| {
        ["a", "b", "c"].into_iter().fold(builder, |builder, name| builder.tool(Tool::new(name, "Works.", || async {})))
    };
    let paged = tools(McpServer::builder("s", "1")).page_size(NonZeroUsize::MIN).build().expect("a server");
    let paged = shared(paged);
    for _ in 0..2 {
        let (mut cursor, mut seen) = (None::<Value>, Vec::new());
        while seen.len() < 4 {
            let params = cursor.take().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let answer = legacy("tools/list", params).ask_at(&paged);
            seen.push(answer.result()["tools"][0]["name"].clone());
            let Some(next) = answer.result().get("nextCursor") else { break };
            cursor = Some(next.clone());
        }
        assert_eq!(seen, ["a", "b", "c"]);
    }
    let whole = shared(tools(McpServer::builder("s", "1")).build().expect("a server"));
    for cursor in [None, Some("abc"), None] {
        let answer =
            legacy("tools/list", cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }))).ask_at(&whole);
        assert_eq!(answer.json().get("error").is_some(), cursor.is_some());
    }
    let count = Rc::new(Cell::new(0));
    let template = ResourceTemplate::new("a://{b}", |_: BTreeMap<String, String>| async { "text" });
    let template = template.list(move || {
        count.set(count.get() + 1);
        let uri = format!("a://{}", count.get());
        async move { vec![ResourceDescription::new(uri.clone(), uri)] }
    });
    let listing = McpServer::builder("s", "1").resource_template(template).build().expect("a server");
    let listing = shared(listing);
    for nth in 1..4 {
        let answer = legacy("resources/list", json!({})).ask_at(&listing);
        assert_eq!(answer.result()["resources"][0]["uri"], format!("a://{nth}"));
    }
}

/// A list that exceeds the output limit gets an error at each request.
#[test]
fn the_output_limit_applies_to_cached_lists() {
    let mut limits = Limits::default();
    limits.output = 1000;
    let shared = shared(server(&request()).expect("a server")).limits(limits);
    for _ in 0..3 {
        let answer = legacy("tools/list", json!({})).ask_at(&shared);
        assert_eq!(answer.refusal(), (200, -32603));
    }
}
