//! The memory that a call holds while its handler waits. The allocator counts for the whole process, so this file has only one test.

// Tests and their helpers may panic when an assumption fails.
#![allow(
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::struct_field_names,
    clippy::arithmetic_side_effects
)]

#[cfg(feature = "gateway")]
mod lists;

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use edge_mcp::call::ToolEvent;
use edge_mcp::host::Host;
use edge_mcp::http::Body;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Completion, Context, Endpoint, HandlerError, McpServer, Prompt, Tool};
use edge_mcp_test_support::{Ask, NEWEST, envelope, modern, on, post};
use futures::channel::oneshot;
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use futures::{FutureExt, StreamExt};
use peak_alloc::PeakAlloc;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The bytes of an argument that the handlers do not read.
const PADDING: usize = 1_000_000;
/// The limit of the bytes that a call holds while its handler waits.
const MAX_HELD: usize = 64 << 10;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The only argument that the handlers read
    n: u32,
    #[serde(default, rename = "padding")]
    #[schemars(with = "String")]
    _padding: IgnoredAny,
}

/// Arguments that are not kept.
#[derive(Deserialize)]
struct Ignored {
    #[serde(rename = "a")]
    _a: IgnoredAny,
}

/// The values that a handler asks the client for.
#[derive(Deserialize, JsonSchema)]
struct Number {
    #[serde(rename = "n")]
    _n: u32,
}

/// A channel for each waiting handler. A message makes the handler continue.
type Waiting = Rc<RefCell<Vec<oneshot::Sender<()>>>>;

/// Returns an endpoint whose handlers wait until the test sends a message to their channels.
fn endpoint(waiting: &Waiting) -> Endpoint {
    let waiting = waiting.clone();
    testing::endpoint(move |_| {
        let wait = {
            let waiting = waiting.clone();
            move || {
                let (sender, receiver) = oneshot::channel();
                waiting.borrow_mut().push(sender);
                receiver.map(|sent| sent.expect("the test sends a message"))
            }
        };
        let (waits, reports, asks, prompts, completes) = (wait.clone(), wait.clone(), wait.clone(), wait.clone(), wait);
        let waits = move |Arguments { n, .. }: Arguments| waits().map(move |()| n.to_string());
        let reports = move |Arguments { n, .. }: Arguments, cx: Context| {
            cx.progress(1.0, None, "begun");
            reports().map(move |()| n.to_string())
        };
        let asks = move |_: Arguments, cx: Context| {
            let waits = asks();
            async move {
                waits.await;
                cx.elicit::<Number>("n", "How many?").await?;
                Ok::<_, HandlerError>("answered")
            }
        };
        let outer = |_: Arguments, cx: Context| async move {
            cx.call_tool("waits", padded(json!({ "n": 7 }))).await.map(|it| it.text())
        };
        let prompt = move |Arguments { n, .. }: Arguments| prompts().map(move |()| n.to_string());
        let complete = move |_, _| completes().map(|()| vec!["done".to_owned()]);
        McpServer::builder("s", "1")
            .tool(Tool::new("waits", "Waits.", waits))
            .tool(Tool::new("reports", "Reports progress, and waits.", reports))
            .tool(Tool::new("asks", "Waits, and asks the client.", asks))
            .tool(Tool::new("outer", "Calls another tool, which waits.", outer))
            .prompt(Prompt::new("waits", prompt).complete("n", Completion::with(complete)))
            .build()
    })
}

fn padded(mut arguments: Value) -> Value {
    arguments["padding"] = "x".repeat(PADDING).into();
    arguments
}

fn call(version: &str, method: &str, name: &str, arguments: Value, progress: bool) -> Ask {
    let mut meta = if version == NEWEST { envelope() } else { json!({}) };
    if version == NEWEST {
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "form": {} } });
    }
    if progress {
        meta["progressToken"] = json!("p");
    }
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let ask = post(message.to_string()).header("MCP-Protocol-Version", version);
    ask.header("Mcp-Method", method).header("Mcp-Name", name).header("Accept", "application/json, text/event-stream")
}

/// Returns the bytes that the call holds while its handler waits, and the last message of its answer.
fn measure(endpoint: &Rc<Endpoint>, waiting: &Waiting, ask: impl FnOnce() -> Ask) -> (usize, Value) {
    let mut pool = LocalPool::new();
    let host = on(&pool, &TestHost::new());
    let before = MEMORY.current_usage();
    let (ask, at) = (ask(), endpoint.clone());
    let answer = async move {
        match ask.raw(&at, &host).await.into_body() {
            Body::Bytes(bytes) => bytes,
            Body::Stream(events) => events.concat().await,
        }
    };
    let answer = pool.spawner().spawn_local_with_handle(answer).expect("the pool exists");
    pool.run_until_stalled();
    let held = MEMORY.current_usage().saturating_sub(before);
    let handlers = std::mem::take(&mut *waiting.borrow_mut());
    assert!(
        !handlers.is_empty(),
        "no handler waits: {:?}",
        answer.now_or_never().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    );
    for handler in handlers {
        handler.send(()).expect("the handler waits");
    }
    let answer = String::from_utf8(pool.run_until(answer)).expect("UTF-8");
    let last = answer.trim_end().rsplit("data: ").next().map(serde_json::from_str);
    (held, last.expect("a message").expect("JSON"))
}

#[test]
fn the_memory_of_a_call_is_bounded() {
    a_waiting_call_holds_neither_its_body_nor_its_document();
    arguments_for_hooks_take_bounded_memory();
    #[cfg(feature = "gateway")]
    lists::the_lists_of_many_servers_take_bounded_memory();
}

/// Hooks get the arguments as a JSON value, which may take many times the memory of the body. Beyond the limit, the call is rejected.
fn arguments_for_hooks_take_bounded_memory() {
    for (name, item, count, is_accepted) in [
        ("a long text", format!("\"{}\"", "x".repeat(4_000_000)), 1, true),
        ("numbers", "0".to_owned(), 200_000, true),
        ("more numbers", "0".to_owned(), 490_000, false),
        ("small objects", r#"{"a":0}"#.to_owned(), 40_000, true),
        ("more small objects", r#"{"a":0}"#.to_owned(), 160_000, false),
        ("empty objects", "{}".to_owned(), 490_000, false),
        ("nested arrays", "[[[0]]]".to_owned(), 120_000, false),
    ] {
        let endpoint = testing::endpoint(|_| {
            let tool = Tool::with_schema("t", "T.", &json!({ "type": "object" }), None, |_: Ignored| async { "done" });
            McpServer::builder("s", "1")
                .tool(tool)
                .hook(|_: Cow<'static, str>, _: ToolEvent, _: Context| async { Ok(()) })
                .build()
        });
        let arguments = format!(r#"{{"a":[{}]}}"#, vec![item; count].join(","));
        let params = format!(r#"{{"name":"t","arguments":{arguments}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let length = body.len();
        let ask = post(body).header("MCP-Protocol-Version", "2025-11-25");
        let host: Rc<dyn Host> = Rc::new(TestHost::new());
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let answer = testing::run(ask.raw(&endpoint, &host)).into_body();
        let peak = MEMORY.peak_usage().saturating_sub(before);
        let Body::Bytes(answer) = answer else { panic!("{name}: a stream") };
        let answer = String::from_utf8(answer).expect("UTF-8");
        let expected = if is_accepted { r#""text":"done""# } else { "bytes of memory (limit: 16777216)" };
        assert!(answer.contains(expected), "{name}: {answer}");
        // The bound of docs/limits.md.
        assert!(peak < 4 * (4 << 20) + (16 << 20), "{name}: {peak} bytes for a body of {length} bytes");
    }
}

fn a_waiting_call_holds_neither_its_body_nor_its_document() {
    let waiting = Waiting::default();
    let endpoint = Rc::new(endpoint(&waiting));
    let small = || json!({ "n": 7 });
    let text = |answer: &Value| answer["result"]["content"][0]["text"].clone();
    for version in ["2025-11-25", NEWEST] {
        for (name, progress) in [("waits", false), ("waits", true), ("reports", true), ("outer", false)] {
            let ask = |arguments| call(version, "tools/call", name, arguments, progress);
            // The first call fills caches, such as the compiled schemas.
            measure(&endpoint, &waiting, || ask(small()));
            let (held, answer) = measure(&endpoint, &waiting, || ask(padded(small())));
            assert!(held < MAX_HELD, "{name} in {version}, progress {progress}: {held} bytes");
            assert_eq!(text(&answer), "7", "{answer}");
        }
        let ask = |arguments| call(version, "prompts/get", "waits", arguments, false);
        let of_strings = || json!({ "n": "7" });
        measure(&endpoint, &waiting, || ask(of_strings()));
        let (held, answer) = measure(&endpoint, &waiting, || ask(padded(of_strings())));
        assert!(held < MAX_HELD, "a prompt in {version}: {held} bytes");
        assert_eq!(answer["result"]["messages"][0]["content"]["text"], "7", "{answer}");
    }
    for progress in [false, true] {
        let (held, answer) =
            measure(&endpoint, &waiting, || call(NEWEST, "tools/call", "asks", padded(small()), progress));
        assert!(held < MAX_HELD, "asks, progress {progress}: {held} bytes");
        assert!(answer["result"]["requestState"].is_string(), "the handler can still ask the client: {answer}");
    }
    let complete = || {
        let argument = json!({ "name": "n", "value": "7", "padding": "x".repeat(PADDING) });
        let mut ask = modern("completion/complete", json!({}));
        let mut message: Value = serde_json::from_slice(&ask.body).expect("JSON");
        message["params"]["ref"] = json!({ "type": "ref/prompt", "name": "waits" });
        message["params"]["argument"] = argument;
        ask.body = message.to_string().into_bytes();
        ask
    };
    let (held, answer) = measure(&endpoint, &waiting, complete);
    assert!(held < MAX_HELD, "a completion: {held} bytes");
    assert_eq!(answer["result"]["completion"]["values"], json!(["done"]), "{answer}");
    let batch = || {
        let call = |id: u8, arguments| {
            let params = json!({ "name": "waits", "arguments": arguments });
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
        };
        post(json!([call(1, padded(small())), call(2, small())]).to_string())
            .header("MCP-Protocol-Version", "2025-03-26")
    };
    let (held, answer) = measure(&endpoint, &waiting, batch);
    assert!(held < MAX_HELD, "a batch: {held} bytes");
    assert_eq!((text(&answer[0]), text(&answer[1])), (json!("7"), json!("7")), "{answer}");
}
