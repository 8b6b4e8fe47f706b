//! Sizes: each at its limit, and one past it.

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::auth::StaticTokens;
use edge_mcp::http::{Endpoint, Limits};
use edge_mcp::{McpServer, Prompt, Resource, Tool};
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Lines, legacy, modern, post};

#[derive(Deserialize, JsonSchema)]
struct Much {
    /// How much of it
    bytes: usize,
}

fn endpoint(change: impl Fn(&mut Limits)) -> Endpoint {
    let mut limits = Limits::default();
    change(&mut limits);
    Endpoint::new(|_| {
        let much = |Much { bytes }: Much| async move { "x".repeat(bytes) };
        McpServer::builder("s", "1")
            .tool(Tool::new("much", much).description("Says much.").argument_limit(20))
            .resource(Resource::new("test://much", || async { "x".repeat(2000) }))
            .prompt(Prompt::new("much", || async { "x".repeat(2000) }))
            .build()
    })
    .without_auth()
    .without_rate_limit()
    .limits(limits)
}

const TOKENS: &str = r#"[{"token": "ada", "subject": "ada", "scopes": []}]"#;

fn much(bytes: usize) -> Value {
    json!({ "name": "much", "arguments": { "bytes": bytes } })
}

/// An answer that is longer than what is sent is replaced by one that says so: for a tool it is a result.
#[test]
fn answers_are_no_longer_than_the_limit() {
    let length = |bytes: usize| {
        let answer = legacy("tools/call", much(bytes)).ask_at(&endpoint(|_| ()));
        answer.body.expect("a body").to_string().len()
    };
    let around = length(0);
    for (bytes, passes) in [(1000, true), (1001, false), (50_000_000, false)] {
        let answer = legacy("tools/call", much(bytes)).ask_at(&endpoint(|limits| limits.output = around + 1000));
        let (text, is_error) = answer.tool_text();
        assert_eq!(is_error, !passes, "{bytes}");
        let says = format!("The answer has {} bytes; at most {} are sent.", around + bytes, around + 1000);
        assert!(passes || text.starts_with(&says), "{text}");
    }
    for (method, params) in
        [("resources/read", json!({ "uri": "test://much" })), ("prompts/get", json!({ "name": "much" }))]
    {
        let refused = modern(method, params.clone()).ask_at(&endpoint(|limits| limits.output = 2000));
        assert_eq!(refused.refusal(), (200, -32603), "{method}");
        assert!(refused.message().contains("at most 2000 are sent. Ask for less"), "{refused:?}");
        modern(method, params).ask_at(&endpoint(|limits| limits.output = 3000)).result();
    }
}

/// A tool may take less than a body may have.
#[test]
fn arguments_are_no_longer_than_their_tool_takes() {
    for (arguments, passes) in
        [("{\"bytes\":10000000000}", false), ("{\"bytes\":1         }", true), ("{\"bytes\":1          }", false)]
    {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"much","arguments":{arguments}}}}}"#
        );
        let answer = post(message).header("MCP-Protocol-Version", "2025-11-25").ask_at(&endpoint(|_| ()));
        let (text, is_error) = answer.tool_text();
        assert_eq!(is_error, !passes, "{arguments}");
        let says = format!("- they have {} bytes; it takes at most 20", arguments.len());
        assert!(passes || text.ends_with(&says), "{text}");
    }
}

/// A header that is too long is not taken for one that is not there.
#[test]
fn headers_are_no_longer_than_the_limit() {
    for (name, prefix) in [
        ("Authorization", "Bearer "),
        ("Accept", "application/json,"),
        ("Origin", "http://localhost/"),
        ("Content-Type", "application/json;"),
        ("MCP-Protocol-Version", ""),
        ("Mcp-Name", ""),
    ] {
        let ask = |length: usize| {
            let value = format!("{prefix}{}", "x".repeat(length - prefix.len()));
            let endpoint = endpoint(|limits| limits.header = 200);
            let endpoint = if name == "Authorization" {
                endpoint.auth(StaticTokens::from_json("T", Some(TOKENS)))
            } else {
                endpoint
            };
            modern("tools/call", much(1)).replace(name, value).ask_at(&endpoint)
        };
        let long = ask(201);
        assert_eq!(long.refusal(), (431, -32600), "{name}");
        let says = format!("The header {} is longer than the 200 bytes", name.to_ascii_lowercase());
        assert!(long.message().to_ascii_lowercase().contains(&says.to_ascii_lowercase()), "{long:?}");
        assert_ne!(ask(200).status, 431, "{name}");
    }
}

/// So many messages of a batch are worked on at once, and no more; they share what may be sent.
#[test]
fn a_batch_is_worked_on_together() {
    for (concurrent, most) in [(1, 1), (3, 3), (100, 8)] {
        let (working, seen) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let endpoint = {
            let (working, seen) = (working.clone(), seen.clone());
            let mut limits = Limits::default();
            limits.concurrent = concurrent;
            Endpoint::new(move |_| {
                let (working, seen) = (working.clone(), seen.clone());
                let work = move || {
                    let (working, seen) = (working.clone(), seen.clone());
                    async move {
                        working.set(working.get() + 1);
                        seen.set(seen.get().max(working.get()));
                        let mut pauses = 3;
                        std::future::poll_fn(move |cx| {
                            pauses -= 1;
                            cx.waker().wake_by_ref();
                            if pauses == 0 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
                        })
                        .await;
                        working.set(working.get() - 1);
                        "done"
                    }
                };
                McpServer::builder("s", "1").tool(Tool::new("work", work).description("Works.")).build()
            })
            .without_auth()
            .without_rate_limit()
            .limits(limits)
        };
        let call =
            |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "work" } });
        let batch = Value::from((0..8).map(call).collect::<Vec<_>>());
        let mut pool = LocalPool::new();
        let host = Lines::default().host(&pool);
        let answer = pool.spawner().spawn_local_with_handle(async move {
            post(batch.to_string()).header("MCP-Protocol-Version", "2025-03-26").send(&endpoint, &host).await
        });
        let answer = pool.run_until(answer.expect("a task"));
        let ids: Vec<_> =
            answer.body.as_ref().and_then(Value::as_array).into_iter().flatten().map(|one| &one["id"]).collect();
        assert_eq!(ids, (0..8).collect::<Vec<_>>(), "in their order");
        assert_eq!(seen.get(), most, "{concurrent} at once");
    }
    let both = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": much(600) },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": much(6) },
    ]);
    let ask = post(both.to_string()).header("MCP-Protocol-Version", "2025-03-26");
    let answer = ask.ask_at(&endpoint(|limits| limits.output = 1000));
    let is_error = |index: usize| answer.body.as_ref().map(|body| body[index]["result"]["isError"] == true);
    assert_eq!((is_error(0), is_error(1)), (Some(true), Some(false)));
}
