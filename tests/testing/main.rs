//! Tests of `edge_mcp::testing`, the library for tests of servers.

// Tests may panic when an assumption fails.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod hosts;
mod questions;
mod waiting;

use edge_mcp::protocol::{LogLevel, Revision};
use edge_mcp::testing::{self, Client, call};
use edge_mcp::{
    Context, Endpoint, HandlerError, Json, McpServer, McpServerBuilder, Prompt, PromptMessage, Resource, StaticTokens,
    Tool,
};
use futures::executor::block_on;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema, Serialize)]
struct City {
    city: String,
}

/// Returns an endpoint whose server has the items that `add` adds.
fn serving(add: impl Fn(McpServerBuilder) -> McpServerBuilder + 'static) -> Endpoint {
    testing::endpoint(move |_| add(McpServer::builder("s", "1")).build())
}

fn cities() -> Endpoint {
    serving(|server| {
        let find = |City { city }: City| async move {
            if city == "none" { Err(HandlerError::new("There is no such city.")) } else { Ok(Json(City { city })) }
        };
        let ask = |City { city }: City| async move {
            vec![PromptMessage::user(format!("What about {city}?")), PromptMessage::assistant("Large.")]
        };
        server
            .tool(Tool::new("find", "Finds a city.", find))
            .resource(Resource::new("city://bern", || async { "Bern" }))
            .prompt(Prompt::new("ask", ask))
    })
}

#[test]
fn the_parts_of_an_answer_can_be_read() {
    block_on(async {
        let answer = call(&cities(), "find", json!({ "city": "Bern" })).await;
        assert_eq!((answer.status(), answer.is_error(), answer.error()), (200, false, None));
        assert_eq!((answer.text(), answer.structured()), (r#"{"city":"Bern"}"#, &json!({ "city": "Bern" })));
        assert_eq!(answer.json()["result"], *answer.result());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let failed = call(&cities(), "find", json!({ "city": "none" })).await;
        assert_eq!((failed.text(), failed.is_error(), failed.error()), ("There is no such city.", true, None));
        let unknown = call(&cities(), "lose", json!({})).await;
        assert_eq!(unknown.error(), Some((-32602, unknown.text())));
        assert!(unknown.is_error() && unknown.text().contains("`lose`"), "{unknown:?}");
        assert!(unknown.result().is_null() && unknown.structured().is_null());
    });
}

#[test]
fn resources_prompts_and_lists_can_be_read_in_every_revision() {
    let endpoint = cities();
    for revision in Revision::ALL {
        block_on(async {
            let client = Client::new(&endpoint).revision(revision);
            assert_eq!(client.read("city://bern").await.text(), "Bern", "{revision}");
            let prompt = client.prompt("ask", json!({ "city": "Köln" })).await;
            assert_eq!(prompt.text(), "What about Köln?\nLarge.", "{revision}");
            assert_eq!(client.list("tools").await.names(), ["find"], "{revision}");
            assert_eq!(client.list("resources").await.names(), ["city://bern"], "{revision}");
            assert_eq!(client.request("ping", json!({})).await.is_error(), revision == Revision::V2026_07_28);
        });
    }
}

#[test]
fn a_list_has_the_items_of_all_pages() {
    let of = |count: usize| {
        serving(move |server| {
            let tools = (0..count).map(|nth| Tool::new(format!("t{nth}"), "One of many.", || async {}));
            tools.fold(server, McpServerBuilder::tool).page_size(2.try_into().expect("not 0"))
        })
    };
    assert_eq!(block_on(Client::new(&of(5)).list("tools")).names(), ["t0", "t1", "t2", "t3", "t4"]);
    let long = block_on(Client::new(&of(100)).list("tools"));
    assert!(long.is_error() && long.text().contains("more than 16 pages"), "{}", long.text());
    let unknown = block_on(Client::new(&of(1)).list("toys"));
    assert_eq!(unknown.error().map(|(code, _)| code), Some(-32601));
}

/// The client encodes a name in the header `Mcp-Name` if the header cannot contain it unchanged.
#[test]
fn any_name_can_be_sent() {
    for name in ["bern", "köln", " a ", "=?base64?YQ==?="] {
        let answer = block_on(Client::new(&cities()).prompt(name, json!({})));
        assert_eq!(answer.error().map(|(code, _)| code), Some(-32602), "{name:?}: {}", answer.text());
    }
}

#[test]
fn tokens_headers_and_meta_are_sent() {
    let tokens = StaticTokens::from_json("T", Some(r#"[{"token": "s3cret", "subject": "ada", "scopes": []}]"#));
    let endpoint = serving(|server| {
        let who = |cx: Context| async move {
            cx.progress(1.0, None, "looking");
            cx.log(LogLevel::Info, "found");
            let subject = cx.caller().ok().map(|caller| caller.subject.clone());
            format!("{subject:?} {:?} {:?}", cx.header("X-Tenant"), cx.meta("example.com/x"))
        };
        server.tool(Tool::new("who", "Says who calls.", who)).logging(LogLevel::Info)
    });
    let endpoint = endpoint.auth(tokens.expect("a list"));
    let refused = block_on(call(&endpoint, "who", json!({})));
    assert_eq!((refused.status(), refused.is_error()), (401, true));
    let wrong = Client::new(&endpoint).token("guess");
    assert_eq!(block_on(wrong.call("who", json!({}))).status(), 401);
    let client = Client::new(&endpoint).token("s3cret").header("X-Tenant", "a").meta("example.com/x", json!(7));
    let answer = block_on(client.call("who", json!({})));
    assert_eq!(answer.text(), r#"Some("ada") Some("a") Some(Number(7))"#);
    assert!(answer.notifications().is_empty());
    let client = client.meta("progressToken", json!(1)).meta("io.modelcontextprotocol/logLevel", json!("info"));
    let answer = block_on(client.call("who", json!({})));
    let methods: Vec<_> = answer.notifications().iter().map(|notification| &notification["method"]).collect();
    assert_eq!(methods, ["notifications/progress", "notifications/message"]);
    assert_eq!(answer.text(), r#"Some("ada") Some("a") Some(Number(7))"#);
    let unsendable = block_on(client.header("X-Tenant", "a\nb").call("who", json!({})));
    assert_eq!((unsendable.status(), unsendable.is_error()), (0, true));
    assert!(unsendable.text().contains("cannot be sent"), "{}", unsendable.text());
}

#[test]
fn an_endpoint_is_configured_by_variables() {
    for (variables, status) in [
        (&[("MCP_AUTH", "none")][..], 200),
        (&[("MCP_AUTH", "none"), ("MCP_STATE_KEY", testing::STATE_KEY)], 200),
        (&[("MCP_AUTH", "sometimes")], 503),
        (&[], 503),
    ] {
        let server = |_: &_| McpServer::builder("s", "1").tool(Tool::new("t", "Does it.", || async {})).build();
        let endpoint = Endpoint::new(server).configured(&testing::variables(variables));
        assert_eq!(block_on(call(&endpoint, "t", json!({}))).status(), status, "{variables:?}");
    }
}
