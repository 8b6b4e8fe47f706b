//! Limits: requests at each limit and past it.

use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::host::{BodyError, Host, Request};
use edge_mcp::http::Body;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, Endpoint, Limits, McpServer, Prompt, Resource, StaticTokens, Tool};
use futures::channel::oneshot;
use futures::executor::LocalPool;
use futures::future::LocalBoxFuture;
use futures::task::LocalSpawnExt;
use futures::{FutureExt, StreamExt};
use http::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{at_second, legacy, modern, on, post};

#[derive(Deserialize, JsonSchema)]
struct Length {
    /// Length of the text
    bytes: usize,
}

fn endpoint(change: impl Fn(&mut Limits)) -> Endpoint {
    let mut limits = Limits::default();
    change(&mut limits);
    testing::endpoint(|_| {
        let text = |Length { bytes }: Length| async move { "x".repeat(bytes) };
        McpServer::builder("s", "1")
            .tool(Tool::new("text", "Returns a text.", text).argument_limit(20))
            .resource(Resource::new("test://text", || async { "x".repeat(2000) }))
            .prompt(Prompt::new("text", || async { "x".repeat(2000) }))
            .build()
    })
    .limits(limits)
}

const TOKENS: &str = r#"[{"token": "ada", "subject": "ada", "scopes": []}]"#;

/// Returns the parameters of a call whose result has a text of this length.
fn text_of(bytes: usize) -> Value {
    json!({ "name": "text", "arguments": { "bytes": bytes } })
}

/// A response that exceeds the output limit is replaced by an error, which is an error result for a tool.
#[test]
fn responses_have_a_length_limit() {
    let length = |bytes: usize| {
        let answer = legacy("tools/call", text_of(bytes)).ask_at(&endpoint(|_| ()));
        answer.body.expect("a body").to_string().len()
    };
    let around = length(0);
    for (bytes, passes) in [(1000, true), (1001, false), (50_000_000, false)] {
        let answer = legacy("tools/call", text_of(bytes)).ask_at(&endpoint(|limits| limits.output = around + 1000));
        let (text, is_error) = answer.tool_text();
        assert_eq!(is_error, !passes, "{bytes}");
        let says = format!("The answer must have at most {} bytes (got {}).", around + 1000, around + bytes);
        assert!(passes || text.starts_with(&says), "{text}");
    }
    for (method, params) in
        [("resources/read", json!({ "uri": "test://text" })), ("prompts/get", json!({ "name": "text" }))]
    {
        let rejected = modern(method, params.clone()).ask_at(&endpoint(|limits| limits.output = 2000));
        assert_eq!(rejected.refusal(), (200, -32603), "{method}");
        assert!(rejected.message().contains("The answer must have at most 2000 bytes"), "{rejected:?}");
        modern(method, params).ask_at(&endpoint(|limits| limits.output = 3000)).result();
    }
}

/// A tool can limit the length of its arguments further.
#[test]
fn a_tool_can_limit_the_length_of_its_arguments() {
    for (arguments, passes) in
        [("{\"bytes\":10000000000}", false), ("{\"bytes\":1         }", true), ("{\"bytes\":1          }", false)]
    {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"text","arguments":{arguments}}}}}"#
        );
        let answer = post(message).header("MCP-Protocol-Version", "2025-11-25").ask_at(&endpoint(|_| ()));
        let (text, is_error) = answer.tool_text();
        assert_eq!(is_error, !passes, "{arguments}");
        let says = format!("- the arguments have {} bytes (limit: 20)", arguments.len());
        assert!(passes || text.ends_with(&says), "{text}");
    }
}

/// A header that is too long gets 431. It is not treated as a missing header.
#[test]
fn headers_have_a_length_limit() {
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
                endpoint.auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"))
            } else {
                endpoint
            };
            modern("tools/call", text_of(1)).replace(name, value).ask_at(&endpoint)
        };
        let long = ask(201);
        assert_eq!(long.refusal(), (431, -32600), "{name}");
        let says = format!("The header {} is longer than the limit of 200 bytes.", name.to_ascii_lowercase());
        assert!(long.message().to_ascii_lowercase().contains(&says.to_ascii_lowercase()), "{long:?}");
        assert_ne!(ask(200).status, 431, "{name}");
    }
}

/// A handler cannot read a header that is too long. The log has one warning about it.
#[test]
fn handlers_cannot_read_headers_beyond_the_limit() {
    let endpoint = Endpoint::new(|_| {
        let show = |cx: Context| async move { format!("{:?}", cx.header("X-Tenant").map(|value| value.len())) };
        McpServer::builder("s", "1").tool(Tool::new("show", "Shows a header.", show)).build()
    });
    let mut limits = Limits::default();
    limits.header = 200;
    let endpoint = endpoint.without_auth().without_rate_limit().limits(limits);
    let host = TestHost::new();
    for (length, seen) in [(200, "Some(200)"), (201, "None"), (201, "None")] {
        let ask = modern("tools/call", json!({ "name": "show" })).header("X-Tenant", "x".repeat(length));
        assert_eq!(ask.ask_on(&endpoint, &host).tool_text(), (seen, false), "{length}");
    }
    let warnings: Vec<_> = host.log().into_iter().filter(|line| line["event"] == "header").collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0]["problem"].as_str().is_some_and(|problem| problem.contains("X-Tenant")), "{warnings:?}");
}

/// At most `Limits::concurrent` messages of a batch run at the same time. The messages of a batch share the output limit.
#[test]
fn messages_of_a_batch_run_concurrently() {
    for (concurrent, most) in [(1, 1), (3, 3), (100, 8)] {
        let (working, seen) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let endpoint = {
            let (working, seen) = (working.clone(), seen.clone());
            let mut limits = Limits::default();
            limits.concurrent = concurrent;
            testing::endpoint(move |_| {
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
                McpServer::builder("s", "1").tool(Tool::new("work", "Works.", work)).build()
            })
            .limits(limits)
        };
        let call =
            |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "work" } });
        let batch = Value::from((0..8).map(call).collect::<Vec<_>>());
        let answer = post(batch.to_string()).header("MCP-Protocol-Version", "2025-03-26").ask_at(&endpoint);
        let ids: Vec<_> =
            answer.body.as_ref().and_then(Value::as_array).into_iter().flatten().map(|one| &one["id"]).collect();
        assert_eq!(ids, (0..8).collect::<Vec<_>>(), "the responses have the order of the requests");
        assert_eq!(seen.get(), most, "with a limit of {concurrent}");
    }
    let both = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": text_of(600) },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": text_of(6) },
    ]);
    let ask = post(both.to_string()).header("MCP-Protocol-Version", "2025-03-26");
    let answer = ask.ask_at(&endpoint(|limits| limits.output = 1000));
    let is_error = |index: usize| answer.body.as_ref().map(|body| body[index]["result"]["isError"] == true);
    assert_eq!((is_error(0), is_error(1)), (Some(true), Some(false)));
}

/// A request whose body arrives when the test sends it.
struct SlowRequest {
    head: http::request::Parts,
    arrives: Cell<Option<oneshot::Receiver<Vec<u8>>>>,
    is_read: Rc<Cell<bool>>,
}

impl Request for SlowRequest {
    fn method(&self) -> String {
        self.head.method()
    }

    fn url(&self) -> String {
        self.head.url()
    }

    fn header(&self, name: &str) -> Option<String> {
        self.head.header(name)
    }

    fn client_address(&self) -> Option<IpAddr> {
        Some(IpAddr::from([127, 0, 0, 1]))
    }

    async fn body(&self, _: usize) -> Result<Vec<u8>, BodyError> {
        self.is_read.set(true);
        let arrives = self.arrives.take().expect("the body is read once");
        arrives.await.map_err(|_| BodyError::Broken("the client has disconnected".to_owned()))
    }
}

/// A request that the endpoint handles, whose body has not arrived yet.
struct PendingRequest {
    send: oneshot::Sender<Vec<u8>>,
    is_read: Rc<Cell<bool>>,
    answer: LocalBoxFuture<'static, Response<Body>>,
}

impl PendingRequest {
    fn new(endpoint: &Rc<Endpoint>, host: &Rc<dyn Host>, announced: Option<usize>) -> Self {
        let request = http::Request::post("http://localhost/mcp").header("Content-Type", "application/json");
        let request = announced.iter().fold(request, |request, length| request.header("Content-Length", *length));
        let (head, ()) = request.body(()).expect("a request").into_parts();
        let (send, arrives) = oneshot::channel();
        let is_read = Rc::<Cell<bool>>::default();
        let request = SlowRequest { head, arrives: Cell::new(Some(arrives)), is_read: is_read.clone() };
        let (endpoint, host) = (endpoint.clone(), host.clone());
        let answer = async move { endpoint.handle(request, &host).await }.boxed_local();
        Self { send, is_read, answer }
    }

    /// Returns whether the server reads the body. If it does not, the response must be a 503.
    fn is_read(&mut self) -> bool {
        let answer = (&mut self.answer).now_or_never();
        if let Some(answer) = &answer {
            assert_eq!(answer.status(), 503);
            assert_eq!(answer.headers()["Retry-After"], "1");
            let Body::Bytes(body) = answer.body() else { panic!("the body is a stream") };
            let body: Value = serde_json::from_slice(body).expect("JSON");
            assert_eq!((&body["jsonrpc"], &body["error"]["code"]), (&json!("2.0"), &json!(-32603)), "{body}");
        }
        assert_eq!(self.is_read.get(), answer.is_none());
        answer.is_none()
    }

    /// Sends the body, and returns the status of the response.
    fn finish(self, body: &str) -> u16 {
        self.send.send(body.as_bytes().to_vec()).expect("the body is read");
        self.answer.now_or_never().expect("an answer").status().as_u16()
    }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn limited(body: usize, in_flight: usize) -> Rc<Endpoint> {
    Rc::new(endpoint(|limits| (limits.body, limits.in_flight) = (body, in_flight)))
}

/// The bodies of concurrent requests share a memory limit. A body of unknown length reserves the maximum. A body that does not fit is
/// not read.
#[test]
fn concurrent_bodies_share_a_memory_limit() {
    assert_eq!(Limits::default().in_flight, 64 << 20);
    let endpoint = limited(100, 250);
    let host = on(&LocalPool::new(), &TestHost::new());
    let begin = |announced| PendingRequest::new(&endpoint, &host, announced);
    let (mut first, mut second) = (begin(None), begin(None));
    assert!(first.is_read() && second.is_read());
    assert!(!begin(None).is_read(), "300 of 250 bytes");
    assert!(!begin(Some(51)).is_read(), "251 of 250 bytes");
    let mut third = begin(Some(50));
    assert!(third.is_read(), "250 of 250 bytes");
    assert_eq!(first.finish(PING), 200);
    let mut fourth = begin(None);
    assert!(fourth.is_read(), "an answered request has released its memory");
    assert!(!begin(Some(1)).is_read());
    drop((second, third));
    assert!(begin(None).is_read(), "a request whose client has disconnected has released its memory");
    assert_eq!(fourth.finish("{"), 400);
    let (mut first, mut second) = (begin(None), begin(None));
    assert!(first.is_read() && second.is_read(), "a rejected request has released its memory");
}

/// A waiting call no longer holds its body, so its reservation shrinks to the data that it keeps: its id and its `_meta`.
#[test]
fn a_waiting_call_releases_the_memory_of_its_body() {
    let mut limits = Limits::default();
    (limits.body, limits.in_flight) = (1000, 1500);
    let endpoint = Endpoint::new(|_| {
        let wait = std::future::pending::<String>;
        McpServer::builder("s", "1").tool(Tool::new("wait", "Waits.", wait)).build()
    });
    let endpoint = Rc::new(endpoint.without_auth().without_rate_limit().limits(limits));
    let mut pool = LocalPool::new();
    let host = on(&pool, &TestHost::new());
    let mut wait = |id: Value, meta: &Value| {
        let params = json!({ "name": "wait", "_meta": meta });
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string();
        let ask = post(format!("{message:<900}")).header("MCP-Protocol-Version", "2025-11-25");
        let (endpoint, host) = (endpoint.clone(), host.clone());
        let answer = async move { ask.raw(&endpoint, &host).await };
        let answer = pool.spawner().spawn_local_with_handle(answer).expect("a task");
        pool.run_until_stalled();
        answer
    };
    let waiting: Vec<_> = (0..20).map(|id| wait(json!(id), &json!({}))).collect();
    assert!(
        PendingRequest::new(&endpoint, &host, Some(1000)).is_read(),
        "20 calls of 900 bytes reserve less than 500 bytes"
    );
    let with_long_data =
        (wait(json!("i".repeat(300)), &json!({})), wait(json!(21), &json!({ "example.com/x": "x".repeat(300) })));
    assert!(!PendingRequest::new(&endpoint, &host, Some(1000)).is_read(), "ids and `_meta` are kept");
    drop((with_long_data, waiting));
    pool.run_until_stalled();
    let mut body = PendingRequest::new(&endpoint, &host, Some(1000));
    assert!(
        body.is_read() && PendingRequest::new(&endpoint, &host, Some(500)).is_read(),
        "dropped calls have released their memory"
    );
}

/// An answer on a stream waits for its client, and holds memory until then. If the answers of all calls exceed the limit, an error replaces
/// the last one.
#[test]
fn answers_that_wait_for_their_clients_hold_memory() {
    let endpoint = testing::endpoint(|_| {
        let text = |Length { bytes }: Length, cx: Context| async move {
            cx.progress(1.0, None, "half");
            "x".repeat(bytes)
        };
        McpServer::builder("s", "1").tool(Tool::new("text", "Returns a text.", text)).build()
    });
    let endpoint = Rc::new(endpoint);
    let mut pool = LocalPool::new();
    let host = on(&pool, &TestHost::new());
    let mut call = |is_read: bool| {
        let params = json!({ "name": "text", "arguments": { "bytes": 10 << 20 }, "_meta": { "progressToken": 1 } });
        let ask = legacy("tools/call", params).header("Accept", "application/json, text/event-stream");
        let (endpoint, host) = (endpoint.clone(), host.clone());
        let work = async move {
            let Body::Stream(mut events) = ask.raw(&endpoint, &host).await.into_body() else { panic!("a stream") };
            let first = events.next().await;
            let last = if is_read { events.next().await } else { None };
            (first.is_some(), last.map(|event| String::from_utf8(event).expect("UTF-8")), events)
        };
        let task = pool.spawner().spawn_local_with_handle(work).expect("a task");
        pool.run_until_stalled();
        task.now_or_never().expect("the call has ended")
    };
    let is_result = |last: Option<String>| last.is_some_and(|event| event.contains("\"result\""));
    let unread: Vec<_> = (0..3).map(|_| call(false)).collect();
    let (_, last, _) = call(true);
    let last = last.expect("an answer");
    assert!(last.contains("-32603") && last.contains("The memory of this server for answers is full"), "{last}");
    let direct = legacy("tools/call", text_of(9 << 20)).ask_at(&endpoint);
    assert_eq!(direct.tool_text().0.len(), 9 << 20, "an answer that does not wait is not affected");
    drop(unread);
    assert!(
        (0..5).all(|_| is_result(call(true).1)),
        "an answer that its client has read holds no memory, and neither does that of a client that has left"
    );
}

/// A single body within its own limit is always read, even if the shared limit is lower.
#[test]
fn a_single_body_is_always_read() {
    let host = on(&LocalPool::new(), &TestHost::new());
    let endpoint = limited(1000, 10);
    let mut alone = PendingRequest::new(&endpoint, &host, Some(1000));
    assert!(alone.is_read());
    assert!(!PendingRequest::new(&endpoint, &host, Some(1)).is_read());
    assert_eq!(alone.finish(PING), 200);
}

/// A body that does not arrive within 30 s gets 408, and its reservation ends.
#[test]
fn a_body_must_arrive_in_time() {
    let (clock, endpoint) = (TestHost::new(), limited(1000, 1000));
    let host = on(&LocalPool::new(), &clock);
    let mut slow = PendingRequest::new(&endpoint, &host, None);
    assert!(slow.is_read());
    clock.advance(Duration::from_secs(30));
    let answer = slow.answer.now_or_never().expect("the time limit has passed");
    assert_eq!(answer.status(), 408);
    assert!(PendingRequest::new(&endpoint, &host, Some(1000)).is_read(), "the reservation has ended");
}

/// A platform may stop a request without dropping it. Its reservation lapses after 5 to 10 minutes.
#[test]
fn the_reservation_of_a_stopped_request_lapses() {
    let endpoint = limited(100, 100);
    let host_at = |minute: u64| on(&LocalPool::new(), &at_second(minute * 60));
    let mut stopped = PendingRequest::new(&endpoint, &host_at(50), None);
    assert!(stopped.is_read());
    std::mem::forget(stopped);
    for (minute, is_read) in
        [(50, false), (54, false), (55, false), (59, false), (60, true), (61, true), (40, true), (890, true)]
    {
        assert_eq!(PendingRequest::new(&endpoint, &host_at(minute), Some(1)).is_read(), is_read, "minute {minute}");
    }
    let mut slow = PendingRequest::new(&endpoint, &host_at(894), Some(60));
    let mut other = PendingRequest::new(&endpoint, &host_at(895), Some(40));
    assert!(slow.is_read() && other.is_read() && !PendingRequest::new(&endpoint, &host_at(895), Some(1)).is_read());
    assert_eq!(slow.finish(PING), 200);
    assert!(
        PendingRequest::new(&endpoint, &host_at(895), Some(60)).is_read(),
        "a request of an earlier period releases its reservation"
    );
    drop(other);
    let mut late = PendingRequest::new(&endpoint, &host_at(900), None);
    assert!(late.is_read());
    assert!(PendingRequest::new(&endpoint, &host_at(911), None).is_read(), "the reservation has lapsed");
    assert_eq!(late.finish(PING), 200, "the late request is answered nevertheless");
    let mut again = PendingRequest::new(&endpoint, &host_at(911), None);
    assert!(
        again.is_read() && !PendingRequest::new(&endpoint, &host_at(911), Some(1)).is_read(),
        "a lapsed reservation is not released twice"
    );
}
