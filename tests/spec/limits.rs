//! Sizes: each at its limit, and one past it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::host::{BodyError, Host, Request};
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Body, Context, Endpoint, Limits, McpServer, Prompt, Resource, StaticTokens, Tool};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::executor::LocalPool;
use futures::future::LocalBoxFuture;
use futures::task::LocalSpawnExt;
use http::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{at_second, legacy, modern, on, post};

#[derive(Deserialize, JsonSchema)]
struct Much {
    /// How much of it
    bytes: usize,
}

fn endpoint(change: impl Fn(&mut Limits)) -> Endpoint {
    let mut limits = Limits::default();
    change(&mut limits);
    testing::endpoint(|_| {
        let much = |Much { bytes }: Much| async move { "x".repeat(bytes) };
        McpServer::builder("s", "1")
            .tool(Tool::new("much", "Says much.", much).argument_limit(20))
            .resource(Resource::new("test://much", || async { "x".repeat(2000) }))
            .prompt(Prompt::new("much", || async { "x".repeat(2000) }))
            .build()
    })
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
        let says = format!("The answer must have at most {} bytes (got {}).", around + 1000, around + bytes);
        assert!(passes || text.starts_with(&says), "{text}");
    }
    for (method, params) in
        [("resources/read", json!({ "uri": "test://much" })), ("prompts/get", json!({ "name": "much" }))]
    {
        let refused = modern(method, params.clone()).ask_at(&endpoint(|limits| limits.output = 2000));
        assert_eq!(refused.refusal(), (200, -32603), "{method}");
        assert!(refused.message().contains("The answer must have at most 2000 bytes"), "{refused:?}");
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
        let says = format!("- the arguments have {} bytes (limit: 20)", arguments.len());
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
                endpoint.auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"))
            } else {
                endpoint
            };
            modern("tools/call", much(1)).replace(name, value).ask_at(&endpoint)
        };
        let long = ask(201);
        assert_eq!(long.refusal(), (431, -32600), "{name}");
        let says = format!("The header {} is longer than the limit of 200 bytes.", name.to_ascii_lowercase());
        assert!(long.message().to_ascii_lowercase().contains(&says.to_ascii_lowercase()), "{long:?}");
        assert_ne!(ask(200).status, 431, "{name}");
    }
}

/// A handler does not see a header that is too long, and the log says so once.
#[test]
fn a_handler_does_not_see_a_long_header() {
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

/// So many messages of a batch are worked on at once, and no more; they share what may be sent.
#[test]
fn a_batch_is_worked_on_together() {
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

/// A request whose body arrives when the test lets it.
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

    async fn body(&self, _: usize) -> Result<Vec<u8>, BodyError> {
        self.is_read.set(true);
        let arrives = self.arrives.take().expect("the body is read once");
        arrives.await.map_err(|_| BodyError::Broken("the client has gone away".to_owned()))
    }
}

/// A request whose body has not come yet.
struct Begun {
    send: oneshot::Sender<Vec<u8>>,
    is_read: Rc<Cell<bool>>,
    answer: LocalBoxFuture<'static, Response<Body>>,
}

impl Begun {
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

    /// Whether the server reads the body. What it does not read it refuses at once.
    fn is_read(&mut self) -> bool {
        let answer = (&mut self.answer).now_or_never();
        if let Some(answer) = &answer {
            assert_eq!(answer.status(), 503);
            assert_eq!(answer.headers()["Retry-After"], "1");
            let Body::Bytes(body) = answer.body() else { panic!("a stream") };
            let body: Value = serde_json::from_slice(body).expect("JSON");
            assert_eq!((&body["jsonrpc"], &body["error"]["code"]), (&json!("2.0"), &json!(-32603)), "{body}");
        }
        assert_eq!(self.is_read.get(), answer.is_none());
        answer.is_none()
    }

    /// Sends the body, and gives the status of the answer.
    fn finish(self, body: &str) -> u16 {
        self.send.send(body.as_bytes().to_vec()).expect("the body is read");
        self.answer.now_or_never().expect("an answer").status().as_u16()
    }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn limited(body: usize, in_flight: usize) -> Rc<Endpoint> {
    Rc::new(endpoint(|limits| (limits.body, limits.in_flight) = (body, in_flight)))
}

/// Without a length a body counts as the longest that is read. A body for which there is no room is not read.
#[test]
fn bodies_that_are_read_have_a_common_limit() {
    assert_eq!(Limits::default().in_flight, 64 << 20);
    let endpoint = limited(100, 250);
    let host = on(&LocalPool::new(), &TestHost::new());
    let begin = |announced| Begun::new(&endpoint, &host, announced);
    let (mut first, mut second) = (begin(None), begin(None));
    assert!(first.is_read() && second.is_read());
    assert!(!begin(None).is_read(), "300 of 250 bytes");
    assert!(!begin(Some(51)).is_read(), "251 of 250 bytes");
    let mut third = begin(Some(50));
    assert!(third.is_read(), "250 of 250 bytes");
    assert_eq!(first.finish(PING), 200);
    let mut fourth = begin(None);
    assert!(fourth.is_read(), "an answered request holds nothing");
    assert!(!begin(Some(1)).is_read());
    drop((second, third));
    assert!(begin(None).is_read(), "nor does one whose client has gone away");
    assert_eq!(fourth.finish("{"), 400);
    let (mut first, mut second) = (begin(None), begin(None));
    assert!(first.is_read() && second.is_read(), "nor one that was refused");
}

/// A call that waits has dropped its body, and so leaves room for others; it still counts with what it keeps of the request.
#[test]
fn a_waiting_call_leaves_room_for_other_bodies() {
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
    assert!(Begun::new(&endpoint, &host, Some(1000)).is_read(), "20 calls of 900 bytes hold less than 500");
    let keeping =
        (wait(json!("i".repeat(300)), &json!({})), wait(json!(21), &json!({ "example.com/x": "x".repeat(300) })));
    assert!(!Begun::new(&endpoint, &host, Some(1000)).is_read(), "ids and `_meta` are kept");
    drop((keeping, waiting));
    pool.run_until_stalled();
    let mut body = Begun::new(&endpoint, &host, Some(1000));
    assert!(
        body.is_read() && Begun::new(&endpoint, &host, Some(500)).is_read(),
        "calls that were dropped hold nothing"
    );
}

/// One body that is within its own limit always has room in an isolate that holds no other.
#[test]
fn a_single_body_always_has_room() {
    let host = on(&LocalPool::new(), &TestHost::new());
    let endpoint = limited(1000, 10);
    let mut alone = Begun::new(&endpoint, &host, Some(1000));
    assert!(alone.is_read());
    assert!(!Begun::new(&endpoint, &host, Some(1)).is_read());
    assert_eq!(alone.finish(PING), 200);
}

/// A body that is sent slowly must not keep the room of others.
#[test]
fn a_body_must_arrive_in_time() {
    let (clock, endpoint) = (TestHost::new(), limited(1000, 1000));
    let host = on(&LocalPool::new(), &clock);
    let mut slow = Begun::new(&endpoint, &host, None);
    assert!(slow.is_read());
    clock.advance(Duration::from_secs(30));
    let answer = slow.answer.now_or_never().expect("the time is over");
    assert_eq!(answer.status(), 408);
    assert!(Begun::new(&endpoint, &host, Some(1000)).is_read(), "there is room again");
}

/// A platform may stop a request without dropping it. Its reservation lapses after 5 to 10 minutes.
#[test]
fn the_reservation_of_a_stopped_request_lapses() {
    let endpoint = limited(100, 100);
    let host_at = |minute: u64| on(&LocalPool::new(), &at_second(minute * 60));
    let mut stopped = Begun::new(&endpoint, &host_at(50), None);
    assert!(stopped.is_read());
    std::mem::forget(stopped);
    for (minute, is_read) in
        [(50, false), (54, false), (55, false), (59, false), (60, true), (61, true), (40, true), (890, true)]
    {
        assert_eq!(Begun::new(&endpoint, &host_at(minute), Some(1)).is_read(), is_read, "minute {minute}");
    }
    let mut slow = Begun::new(&endpoint, &host_at(894), Some(60));
    let mut other = Begun::new(&endpoint, &host_at(895), Some(40));
    assert!(slow.is_read() && other.is_read() && !Begun::new(&endpoint, &host_at(895), Some(1)).is_read());
    assert_eq!(slow.finish(PING), 200);
    assert!(Begun::new(&endpoint, &host_at(895), Some(60)).is_read(), "what an earlier period reserved is given back");
    drop(other);
    let mut late = Begun::new(&endpoint, &host_at(900), None);
    assert!(late.is_read());
    assert!(Begun::new(&endpoint, &host_at(911), None).is_read(), "it has lapsed");
    assert_eq!(late.finish(PING), 200, "and is answered all the same");
    let mut again = Begun::new(&endpoint, &host_at(911), None);
    assert!(
        again.is_read() && !Begun::new(&endpoint, &host_at(911), Some(1)).is_read(),
        "nothing was given back twice"
    );
}
