//! Data for the response after a crash. The host keeps it while a request runs.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::host::{CrashAnswer, Host, Level, NoRandomness};
use edge_mcp::{Endpoint, McpServer, Tool};
use futures::executor::LocalPool;
use futures::future::LocalBoxFuture;
use http::HeaderMap;
use serde_json::{Value, json};

use crate::support::{Ask, post};

/// The data that a host keeps for one request.
#[derive(Default)]
struct Kept {
    ids: Vec<String>,
    is_batch: bool,
    log_line: String,
    headers: HeaderMap,
}

#[derive(Default)]
struct KeepingHost(RefCell<Kept>);

impl Host for KeepingHost {
    fn now_ms(&self) -> u64 {
        0
    }

    fn sleep(&self, _: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn spawn(&self, _: LocalBoxFuture<'static, ()>) {}

    fn fill_random(&self, _: &mut [u8]) -> Result<(), NoRandomness> {
        Err(NoRandomness)
    }

    fn log(&self, _: Level, _: &str) {}

    fn keep_crash_headers(&self, headers: &HeaderMap) {
        self.0.borrow_mut().headers = headers.clone();
    }

    fn keep_crash_answer(&self, CrashAnswer { ids, is_batch, log_line }: CrashAnswer<'_>) {
        let mut kept = self.0.borrow_mut();
        kept.ids = ids.iter().map(|&id| id.to_owned()).collect();
        kept.is_batch = is_batch;
        kept.log_line = String::from_utf8_lossy(log_line).into_owned();
    }
}

/// Sends a request, and returns the data that the host has kept.
fn kept(ask: Ask) -> Kept {
    let endpoint =
        Endpoint::new(|_| McpServer::builder("s", "1").tool(Tool::new("say", "Says it.", || async { "said" })).build());
    let endpoint = endpoint.without_auth().without_rate_limit();
    let keeper = Rc::new(KeepingHost::default());
    let host: Rc<dyn Host> = keeper.clone();
    LocalPool::new().run_until(ask.raw(&endpoint, &host));
    keeper.0.take()
}

fn call(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"say"}}}}"#)
}

fn legacy(body: impl Into<Vec<u8>>) -> Ask {
    post(body.into()).header("MCP-Protocol-Version", "2025-03-26")
}

#[test]
fn the_host_keeps_each_id_as_it_was_sent() {
    for id in ["9007199254740993", r#""\u0061\/é""#, "\"\""] {
        let kept = kept(legacy(call(id)));
        assert_eq!((kept.ids, kept.is_batch), (vec![id.to_owned()], false));
    }
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let batch = format!("[{},{notification},{}]", call("18446744073709551616"), call(r#""b""#));
    let kept = kept(legacy(batch));
    assert_eq!((kept.ids, kept.is_batch), (vec!["18446744073709551616".to_owned(), r#""b""#.to_owned()], true));
}

#[test]
fn the_host_keeps_at_most_16_kib_of_ids() {
    let id = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
    assert_eq!(kept(legacy(call(&id(16 << 10)))).ids.len(), 1);
    assert!(kept(legacy(call(&id((16 << 10) + 1)))).ids.is_empty());
    let batch = format!("[{},{}]", call(&id(16 << 10)), call("1"));
    assert!(kept(legacy(batch)).ids.is_empty());
}

#[test]
fn the_host_keeps_the_beginning_of_the_log_line() {
    let kept = kept(legacy(call("7")));
    let line: Value = serde_json::from_str(&format!(r#"{},"status":503}}"#, kept.log_line)).expect("JSON");
    let expected = json!({ "event": "request", "method": "tools/call", "target": "say", "id": "7", "era": "legacy", "status": 503 });
    assert_eq!(line, expected);
}

#[test]
fn the_host_keeps_cors_headers_only_for_allowed_origins() {
    let headers = |origin: &str| kept(legacy(call("1")).header("Origin", origin)).headers;
    let allowed = headers("http://localhost:5173");
    assert_eq!(allowed.get("access-control-allow-origin").expect("the header"), "http://localhost:5173");
    assert_eq!(allowed.get("vary").expect("the header"), "Origin");
    assert!(allowed.contains_key("access-control-expose-headers"));
    assert!(headers("https://evil.example").is_empty());
    assert!(kept(legacy(call("1"))).headers.is_empty());
}

#[test]
fn the_host_keeps_nothing_of_a_rejected_message() {
    for body in ["{", "[]", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#] {
        let kept = kept(legacy(body));
        assert!(kept.ids.is_empty() && kept.log_line.is_empty(), "{body}");
    }
}

/// The request of a client within a call does not replace the data of the outer request.
#[cfg(feature = "client")]
#[test]
fn the_host_keeps_the_data_of_the_outer_request() {
    use edge_mcp::client::{InProcess, McpClient, Upstream};
    use edge_mcp::protocol::Revision;
    use edge_mcp::{Context, HandlerError};

    let inner = Endpoint::new(|_| {
        McpServer::builder("inner", "1").tool(Tool::new("track", "Tracks it.", || async { "tracked" })).build()
    });
    let inner = InProcess::new(inner.without_auth().without_rate_limit());
    let upstream = Upstream::via("http://localhost/mcp", inner).expect("a URL").revision(Revision::V2026_07_28);
    let client = McpClient::builder("outer", "1").server("inner", upstream).build().expect("a client");
    let endpoint = Endpoint::new(move |_| {
        let client = client.clone();
        let say = move |cx: Context| {
            let client = client.clone();
            async move { Ok::<_, HandlerError>(client.connect(&cx).call("inner_track", json!({}))?.await?.text()) }
        };
        McpServer::builder("outer", "1").tool(Tool::new("say", "Says it.", say)).build()
    });
    let endpoint = endpoint.without_auth().without_rate_limit();
    let keeper = Rc::new(KeepingHost::default());
    let host: Rc<dyn Host> = keeper.clone();
    let ask = legacy(call("7")).header("Origin", "http://localhost:5173");
    let answer = LocalPool::new().run_until(ask.raw(&endpoint, &host));
    assert_eq!(answer.status(), 200);
    let kept = keeper.0.take();
    assert_eq!(kept.ids, ["7"]);
    assert!(kept.log_line.contains(r#""target":"say""#), "{}", kept.log_line);
    assert!(kept.headers.contains_key("access-control-allow-origin"));
}
