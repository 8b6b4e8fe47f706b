//! Responses as event streams: progress, log messages, deadlines and clients that disconnect.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use edge_mcp::auth::StateKeys;
use edge_mcp::host::Host;
use edge_mcp::http::{Body, EventStream};
use edge_mcp::protocol::LogLevel;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, Endpoint, HandlerError, Json, Limits, McpServer, Prompt, Resource, ResourceTemplate, Tool};
use futures::channel::oneshot;
use futures::executor::LocalPool;
use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::{Answer, Ask, NEWEST, envelope, events, legacy, modern, modern_as, on, post};

const BOTH: &str = "application/json, text/event-stream";

fn server(handler: impl Fn(Context) -> LocalBoxFuture<'static, String> + Clone + 'static) -> Endpoint {
    testing::endpoint(move |_| {
        let tool = Tool::new("work", "Works.", handler.clone());
        McpServer::builder("worker", "1").tool(tool).logging(LogLevel::Warning).build()
    })
}

/// Returns an endpoint whose tool sends progress and log messages without waiting.
fn server_with_notifications() -> Endpoint {
    server(|cx| {
        async move {
            let steps = [(0.0, "started"), (50.0, ""), (50.0, "equal"), (20.0, "lower"), (100.0, "done")];
            for (progress, message) in steps {
                cx.progress(progress, Some(100.0), message);
            }
            cx.log(LogLevel::Info, "a detail");
            cx.log(LogLevel::Error, json!({ "code": 7 }));
            "worked".to_owned()
        }
        .boxed_local()
    })
}

/// Returns a call of the tool in revision 2026-07-28, whose client accepts streams.
fn modern_call(meta: Value) -> Ask {
    let mut all = envelope();
    all.as_object_mut().expect("an object").extend(meta.as_object().expect("an object").clone());
    let params = json!({ "name": "work", "_meta": all });
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    post(message.to_string())
        .header("MCP-Protocol-Version", NEWEST)
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "work")
        .header("Accept", BOTH)
}

/// Returns a call of the tool in revision 2025-11-25, whose client accepts streams.
fn legacy_call(meta: Value) -> Ask {
    legacy("tools/call", json!({ "name": "work", "_meta": meta })).header("Accept", BOTH)
}

/// Returns the parameters of all notifications of this method.
fn notifications_of(answer: &Answer, method: &str) -> Vec<Value> {
    let of_method = answer.notifications.iter().filter(|notification| notification["method"] == method);
    of_method.map(|notification| notification["params"].clone()).collect()
}

/// Rules 39, 42, 43 and 82: a request with a progress token gets progress notifications with this token. Progress that does not
/// increase is not sent. The response is the last message of the stream.
#[test]
fn progress_is_sent_to_requests_with_a_token() {
    for token in [json!("p1"), json!(7), json!("")] {
        for ask in [modern_call(json!({ "progressToken": token })), legacy_call(json!({ "progressToken": token }))] {
            let answer = ask.ask_at(&server_with_notifications());
            assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
            assert_eq!(answer.header("cache-control"), Some("no-cache, no-transform"));
            assert_eq!(answer.header("x-accel-buffering"), Some("no"));
            let expected = [
                json!({ "progressToken": token, "progress": 0.0, "total": 100.0, "message": "started" }),
                json!({ "progressToken": token, "progress": 50.0, "total": 100.0 }),
                json!({ "progressToken": token, "progress": 100.0, "total": 100.0, "message": "done" }),
            ];
            assert_eq!(notifications_of(&answer, "notifications/progress"), expected);
            assert_eq!(answer.result()["content"][0]["text"], "worked");
        }
    }
}

/// Rule 83: log messages are sent from the level that the request sets. In older revisions, the server sets the level.
#[test]
fn log_messages_are_sent() {
    let level = |level: &str| json!({ "io.modelcontextprotocol/logLevel": level });
    let error = json!({ "level": "error", "logger": "worker", "data": { "code": 7 } });
    let info = json!({ "level": "info", "logger": "worker", "data": "a detail" });
    for (ask, expected) in [
        (modern_call(level("info")), vec![info, error.clone()]),
        (modern_call(level("error")), vec![error.clone()]),
        (modern_call(level("critical")), vec![]),
        (modern_call(json!({})), vec![]),
        (legacy_call(json!({})), vec![error.clone()]),
        (legacy_call(level("debug")), vec![error]),
    ] {
        let answer = ask.clone().ask_at(&server_with_notifications());
        assert_eq!(notifications_of(&answer, "notifications/message"), expected, "{ask:?}");
    }
    let silent = Endpoint::new(|_| {
        let talk = |cx: Context| async move { cx.log(LogLevel::Emergency, "undeclared") };
        McpServer::builder("s", "1").tool(Tool::new("work", "d", talk)).build()
    });
    let answer = modern_call(level("debug")).ask_at(&silent.without_auth().without_rate_limit());
    assert_eq!(
        answer.header("content-type"),
        Some("application/json"),
        "a server that does not declare logging sends no log messages"
    );
}

/// Rule 39: the response is JSON if the client does not accept streams, if it requests no notifications, or if the handler does
/// not send any.
#[test]
fn responses_without_notifications_are_json() {
    let token = || json!({ "progressToken": 1 });
    let quiet = server(|_| async { "worked".to_owned() }.boxed_local());
    for (ask, endpoint) in [
        (modern_call(json!({})), server_with_notifications()),
        (modern_call(token()).replace("Accept", "application/json"), server_with_notifications()),
        (modern_call(token()).replace("Accept", "*/*"), server_with_notifications()),
        (
            modern_call(token()).replace("Accept", "application/json, text/event-stream;q=0"),
            server_with_notifications(),
        ),
        (modern_call(token()).without("Accept"), server_with_notifications()),
        (modern_call(token()), server_with_notifications().json_only()),
        (modern_call(token()), quiet),
        (modern_call(json!({ "progressToken": 1.5 })), server_with_notifications()),
        (modern_call(json!({ "progressToken": null })), server_with_notifications()),
    ] {
        let answer = ask.clone().ask_at(&endpoint);
        assert_eq!(answer.header("content-type"), Some("application/json"), "{ask:?}");
        assert_eq!(answer.result()["content"][0]["text"], "worked", "{ask:?}");
    }
}

/// An endpoint whose handler sends progress once, and then waits for the test.
struct Paused {
    endpoint: Endpoint,
    resume: Rc<RefCell<Option<oneshot::Sender<()>>>>,
    /// How the handler ended: `finished`, `dropped`, or an empty text while it waits.
    ended: Rc<Cell<&'static str>>,
}

/// Returns an endpoint whose handler waits. If `watches` is true, the handler ends when its call is cancelled.
fn paused(watches: bool) -> Paused {
    let resume: Rc<RefCell<Option<oneshot::Sender<()>>>> = Rc::default();
    let ended: Rc<Cell<&'static str>> = Rc::default();
    let (to_resume, at_end) = (resume.clone(), ended.clone());
    let endpoint = server(move |cx| {
        let (sender, receiver) = oneshot::channel();
        to_resume.borrow_mut().replace(sender);
        let at_end = at_end.clone();
        async move {
            cx.progress(1.0, None, "started");
            let waiting = Dropped(at_end.clone());
            if watches {
                futures::future::select(receiver, cx.cancelled().boxed_local()).await;
            } else {
                receiver.await.expect("the test resumes the handler");
            }
            std::mem::forget(waiting);
            at_end.set("finished");
            "worked".to_owned()
        }
        .boxed_local()
    });
    Paused { endpoint, resume, ended }
}

/// Records that a waiting handler was dropped.
struct Dropped(Rc<Cell<&'static str>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.set("dropped");
    }
}

/// Sends a request, and returns the stream of its response.
fn open(pool: &mut LocalPool, host: &Rc<dyn Host>, ask: &Ask, endpoint: &Endpoint) -> EventStream {
    match pool.run_until(ask.clone().raw(endpoint, host)).into_body() {
        Body::Stream(stream) => stream,
        Body::Bytes(bytes) => panic!("no stream: {}", String::from_utf8_lossy(&bytes)),
    }
}

/// Notifications reach the client at once, not only when the handler ends.
#[test]
fn notifications_reach_the_client_at_once() {
    let Paused { endpoint, resume, ended } = paused(false);
    let mut pool = LocalPool::new();
    let host = on(&pool, &TestHost::new());
    let ask = modern_call(json!({ "progressToken": 1 }));
    let mut stream = open(&mut pool, &host, &ask, &endpoint);
    let first = pool.run_until(stream.next()).expect("an event");
    assert_eq!(events(&first)[0]["params"]["message"], "started");
    assert_eq!(ended.get(), "", "the handler has not ended");
    resume.borrow_mut().take().expect("the handler waits").send(()).expect("the handler receives");
    let rest = pool.run_until(stream.concat());
    assert_eq!(events(&rest)[0]["result"]["content"][0]["text"], "worked");
    assert_eq!(ended.get(), "finished");
}

/// Rules 44 and 96: in 2026-07-28 a client cancels a request when it closes the stream. In older
/// revisions, a closed stream does not cancel the request.
#[test]
fn a_client_that_closes_the_stream_cancels_the_request() {
    let token = || json!({ "progressToken": 1 });
    for (ask, watches, expected) in [
        (modern_call(token()), false, "dropped"),
        (modern_call(token()), true, "finished"),
        (legacy_call(token()), false, ""),
    ] {
        let Paused { endpoint, resume, ended } = paused(watches);
        let mut pool = LocalPool::new();
        let host = on(&pool, &TestHost::new());
        drop(open(&mut pool, &host, &ask, &endpoint));
        pool.run_until_stalled();
        assert_eq!(ended.get(), expected, "{ask:?}, watching: {watches}");
        if expected.is_empty() {
            resume.borrow_mut().take().expect("the handler waits").send(()).expect("the handler receives");
            pool.run_until_stalled();
            assert_eq!(ended.get(), "finished", "in older revisions, a closed stream is not a cancellation");
        }
    }
}

/// Rule 43: an idle stream gets a comment every 5 s, which keeps it open. A stream does not start with a comment.
#[test]
fn idle_streams_get_keep_alive_comments() {
    let Paused { endpoint, resume, .. } = paused(false);
    let (mut pool, clock) = (LocalPool::new(), TestHost::new());
    let host = on(&pool, &clock);
    let ask = modern_call(json!({ "progressToken": 1 }));
    let mut stream = open(&mut pool, &host, &ask, &endpoint);
    let first = pool.run_until(stream.next()).expect("an event");
    assert!(first.starts_with(b"event: message"), "the stream starts with the notification");
    for seconds in [4, 1] {
        assert!(stream.next().now_or_never().is_none(), "no comment is sent before 5 s");
        clock.advance(Duration::from_secs(seconds));
        pool.run_until_stalled();
    }
    assert_eq!(pool.run_until(stream.next()).as_deref(), Some(b": keep-alive\n\n".as_slice()));
    resume.borrow_mut().take().expect("the handler waits").send(()).expect("the handler receives");
    assert_eq!(events(&pool.run_until(stream.concat())).len(), 1);
}

/// At its deadline a waiting handler is dropped, and the caller gets an error. The deadline is 30 s, or the time that the tool sets,
/// at most 300 s.
#[test]
fn a_handler_is_dropped_at_its_deadline() {
    for (configured, seconds) in [(None, 30), (Some(2), 2), (Some(300), 300), (Some(301), 300)] {
        let ended: Rc<Cell<&'static str>> = Rc::default();
        let at_end = ended.clone();
        let endpoint = testing::endpoint(move |_| {
            let at_end = at_end.clone();
            let wait = move || {
                let waiting = Dropped(at_end.clone());
                async move {
                    std::future::pending::<()>().await;
                    drop(waiting);
                }
            };
            let tool = Tool::new("work", "Waits.", wait);
            let tool = configured.into_iter().fold(tool, |tool, seconds| tool.deadline(Duration::from_secs(seconds)));
            McpServer::builder("s", "1").tool(tool).build()
        });
        let host = TestHost::new();
        let answer = modern_call(json!({})).ask_on(&endpoint, &host);
        assert_eq!(host.waits(), [Duration::from_secs(seconds)]);
        let (text, is_error) = answer.tool_text();
        assert!(is_error && text.contains(&format!("within {seconds} s")), "{text}");
        assert_eq!(ended.get(), "dropped");
    }
}

/// Prompts, resources and templates have the same deadlines as tools.
#[test]
fn every_handler_has_a_deadline() {
    async fn wait() -> &'static str {
        std::future::pending().await
    }
    let two = Duration::from_secs(2);
    let endpoint = testing::endpoint(move |_| {
        McpServer::builder("s", "1")
            .prompt(Prompt::new("short", wait).deadline(two))
            .prompt(Prompt::new("usual", wait))
            .resource(Resource::new("test://short", wait).deadline(two))
            .resource(Resource::new("test://usual", wait))
            .resource_template(
                ResourceTemplate::new("test://t/{x}", |_: BTreeMap<String, String>| wait()).deadline(two),
            )
            .build()
    });
    for (method, params, seconds) in [
        ("prompts/get", json!({ "name": "short" }), 2),
        ("prompts/get", json!({ "name": "usual" }), 30),
        ("resources/read", json!({ "uri": "test://short" }), 2),
        ("resources/read", json!({ "uri": "test://usual" }), 30),
        ("resources/read", json!({ "uri": "test://t/1" }), 2),
    ] {
        let answer = modern(method, params.clone()).ask_at(&endpoint);
        assert_eq!(answer.refusal(), (200, -32603), "{params}");
        assert!(answer.message().contains(&format!("within {seconds} s")), "{}", answer.message());
    }
}

/// Rules 84 and 86: `subscriptions/listen` is acknowledged with no subscriptions, and completes at once. Each message has the id of
/// the subscription.
#[test]
fn subscriptions_complete_at_once() {
    for id in [json!("listen-1"), json!(7)] {
        let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["a://b"] });
        let ask = modern_as(&id, "subscriptions/listen", json!({ "notifications": filter }));
        let answer = ask.clone().header("Accept", BOTH).ask_at(&server_with_notifications());
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
        assert_eq!(answer.notifications.len(), 1);
        assert_eq!(answer.notifications[0]["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(answer.notifications[0]["params"], json!({ "_meta": meta, "notifications": {} }));
        assert_eq!(answer.result()["resultType"], "complete");
        assert_eq!(answer.result()["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        assert_eq!(ask.ask_at(&server_with_notifications().json_only()).refusal(), (404, -32601));
    }
    let listen = modern("subscriptions/listen", json!({ "notifications": {} }));
    let mut message: Value = serde_json::from_slice(&listen.body).expect("JSON");
    message["id"] = json!("ID");
    // No number type holds this id exactly. The test can still parse it as a number.
    let message = message.to_string().replace("\"ID\"", &"9".repeat(50));
    let answer = listen.with_body(message).header("Accept", BOTH).ask_at(&server_with_notifications());
    let id = &answer.result()["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert!(id.is_number() && answer.body.as_ref().and_then(|body| body.get("id")) == Some(id), "{id}");
    assert_eq!(answer.notifications[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], *id);
    for params in [json!({}), json!({ "notifications": null }), json!({ "notifications": [] })] {
        let answer = modern("subscriptions/listen", params).ask_at(&server_with_notifications());
        assert_eq!(answer.refusal(), (200, -32602));
    }
    assert_eq!(
        legacy("subscriptions/listen", json!({ "notifications": {} })).ask_at(&server_with_notifications()).refusal(),
        (200, -32601)
    );
}

/// Clients of older revisions can set a log level if the server declares logging. An unknown level is rejected.
#[test]
fn unknown_log_levels_are_rejected() {
    let ask = |level: Value| legacy("logging/setLevel", json!({ "level": level })).ask_at(&server_with_notifications());
    assert_eq!(ask(json!("debug")).result(), &json!({}));
    for level in [json!("loud"), json!(7), json!(null)] {
        assert_eq!(ask(level).refusal(), (200, -32602));
    }
}

/// A streamed response has one log line.
#[test]
fn a_streamed_response_has_one_log_line() {
    let host = TestHost::new();
    modern_call(json!({ "progressToken": 1 })).ask_on(&server_with_notifications(), &host);
    let expected = json!({ "event": "request", "method": "tools/call", "target": "work", "era": "modern", "status": 200, "ms": 0, "id": "7" });
    assert_eq!(host.log(), [expected]);
}

/// Rule 39: each notification repeats the progress token, so its length is limited. The limit applies to JSON responses too.
#[test]
fn progress_tokens_have_a_length_limit() {
    for (token, length) in
        [(json!("x".repeat(254)), 256), (json!("x".repeat(255)), 257), (json!("\u{1}".repeat(43)), 260)]
    {
        for ask in [modern_call(json!({ "progressToken": token })), legacy_call(json!({ "progressToken": token }))] {
            for (ask, endpoint) in [
                (ask.clone(), server_with_notifications()),
                (ask.clone(), server_with_notifications().json_only()),
                (ask.replace("Accept", "application/json"), server_with_notifications()),
            ] {
                let answer = ask.ask_at(&endpoint);
                if length <= 256 {
                    assert_eq!(answer.tool_text(), ("worked", false));
                    continue;
                }
                assert_eq!(answer.refusal(), (200, -32602));
                let says = format!("`_meta.progressToken` must be at most 256 bytes of JSON (got {length})");
                assert_eq!(answer.message(), says);
            }
        }
    }
}

/// Returns an endpoint whose tool sends `count` log messages of `bytes` bytes, waits for the test, and sends one more.
fn server_with_log_messages(count: usize, bytes: usize, resume: &Rc<RefCell<Option<oneshot::Sender<()>>>>) -> Endpoint {
    let resume = resume.clone();
    server(move |cx| {
        let (sender, receiver) = oneshot::channel();
        resume.borrow_mut().replace(sender);
        async move {
            for _ in 0..count {
                cx.log(LogLevel::Error, "x".repeat(bytes));
            }
            receiver.await.expect("the test resumes the handler");
            cx.log(LogLevel::Error, "last");
            "worked".to_owned()
        }
        .boxed_local()
    })
}

/// Returns the number of notifications before and after the test resumes the handler, and the result. If `reads` is false, the client
/// does not read before that.
fn notifications_before_and_after(count: usize, bytes: usize, reads: bool) -> (usize, usize, Value) {
    let resume = Rc::default();
    let endpoint = server_with_log_messages(count, bytes, &resume);
    let mut pool = LocalPool::new();
    let host = on(&pool, &TestHost::new());
    let mut stream = open(&mut pool, &host, &legacy_call(json!({})), &endpoint);
    let mut before = 0;
    while reads && stream.next().now_or_never().flatten().is_some() {
        before += 1;
    }
    resume.borrow_mut().take().expect("the handler waits").send(()).expect("the handler receives");
    pool.run_until_stalled();
    let rest = events(&pool.run_until(stream.concat()));
    let (response, after) = rest.split_last().expect("a response");
    (before, after.len(), response["result"].clone())
}

/// A handler does not wait until its client reads. The number and the size of unread notifications are limited. The response is
/// always sent.
#[test]
fn unread_notifications_are_bounded() {
    for (count, bytes, waiting) in
        [(1000, 1, 1000), (1024, 1, 1024), (5000, 1, 1024), (50, 100_000, 10), (3, 2_000_000, 1)]
    {
        let (before, after, result) = notifications_before_and_after(count, bytes, true);
        assert_eq!((before, after), (waiting, 1), "{count} of {bytes} bytes: later notifications are sent again");
        assert_eq!(result["content"][0]["text"], "worked");
        let (_, after, result) = notifications_before_and_after(count, bytes, false);
        // The first notification opened the stream and left the queue, so there is room for one more.
        assert_eq!(after, waiting + 1, "{count} of {bytes} bytes: the client reads only at the end");
        assert_eq!(result["content"][0]["text"], "worked");
    }
}

/// Dropped progress counts as not sent. Later progress is sent if it exceeds the last progress that was sent.
#[test]
fn progress_continues_after_dropped_notifications() {
    let resume: Rc<RefCell<Option<oneshot::Sender<()>>>> = Rc::default();
    let to_resume = resume.clone();
    let endpoint = server(move |cx| {
        let (sender, receiver) = oneshot::channel();
        to_resume.borrow_mut().replace(sender);
        async move {
            for done in 0..2000 {
                cx.progress(f64::from(done), None, "");
            }
            receiver.await.expect("the test resumes the handler");
            cx.progress(1500.0, None, "");
            "worked".to_owned()
        }
        .boxed_local()
    });
    let mut pool = LocalPool::new();
    let host = on(&pool, &TestHost::new());
    let mut stream = open(&mut pool, &host, &legacy_call(json!({ "progressToken": 1 })), &endpoint);
    let mut sent = Vec::new();
    while let Some(event) = stream.next().now_or_never().flatten() {
        sent.extend(events(&event).iter().map(|event| event["params"]["progress"].as_f64()));
    }
    assert_eq!((sent.len(), sent.last()), (1024, Some(&Some(1023.0))));
    resume.borrow_mut().take().expect("the handler waits").send(()).expect("the handler receives");
    let rest = events(&pool.run_until(stream.concat()));
    assert_eq!(rest[0]["params"]["progress"], 1500.0);
}

/// The total length of the notifications of a call is limited to the output limit. The log has one line if some are dropped.
#[test]
fn notifications_beyond_the_output_limit_are_dropped() {
    let call = |count: u32, limit: usize| {
        let mut limits = Limits::default();
        limits.output = limit;
        let endpoint = server(move |cx| {
            async move {
                for _ in 0..count {
                    cx.log(LogLevel::Error, "x".repeat(100));
                }
                "y".repeat(400)
            }
            .boxed_local()
        });
        let host = TestHost::new();
        let answer = legacy_call(json!({})).ask_on(&endpoint.limits(limits), &host);
        assert_eq!(answer.tool_text(), ("y".repeat(400).as_str(), false), "the response has its own limit");
        let is_drop = |line: &&Value| line["subject"] == "notifications";
        let drops = host.log().iter().filter(is_drop).map(|line| line["cause"].clone()).collect::<Vec<_>>();
        (answer.notifications.iter().map(|sent| sent.to_string().len()).sum::<usize>(), drops)
    };
    let (one, drops) = call(1, 1000);
    assert!(drops.is_empty());
    assert_eq!(call(5, 5 * one), (5 * one, vec![]), "at the limit");
    let limit = 5 * one - 1;
    let cause = format!("further notifications are dropped: together they exceed the output limit of {limit} bytes");
    assert_eq!(call(5, limit), (4 * one, vec![json!(cause)]), "one byte past the limit");
    assert_eq!(call(100, limit), (4 * one, vec![json!(cause)]), "the drop is logged once");
}

/// Structured content from a JSON text.
#[derive(Serialize, JsonSchema)]
struct RawContent {
    #[schemars(with = "BTreeMap<String, u32>")]
    json: Box<RawValue>,
}

/// JSON from another source can have line breaks between its tokens. An event still has one data line.
#[test]
fn line_breaks_in_raw_json_do_not_end_an_event() {
    let text = "{\n\n\"a\":\r\n1,\r\r\"b\\n\":\t2\n}";
    let endpoint = Endpoint::new(move |_| {
        let raw = || serde_json::from_str::<Box<RawValue>>(text).expect("JSON");
        let work = move |cx: Context| async move {
            cx.log(LogLevel::Error, raw());
            Json(RawContent { json: raw() })
        };
        let tool = Tool::new("work", "Returns JSON.", work);
        McpServer::builder("s", "1").tool(tool).logging(LogLevel::Debug).build()
    });
    let endpoint = endpoint.without_auth().without_rate_limit();
    for ask in [legacy_call(json!({})), modern_call(json!({ "io.modelcontextprotocol/logLevel": "debug" }))] {
        let mut pool = LocalPool::new();
        let host = on(&pool, &TestHost::new());
        let stream = open(&mut pool, &host, &ask, &endpoint);
        let stream = String::from_utf8(pool.run_until(stream.concat())).expect("UTF-8");
        // In the specification of event streams, a line ends at CR, LF or CRLF, and a blank line ends the event.
        let lines: Vec<&str> = stream.split(['\n', '\r']).collect();
        let shape: Vec<_> = lines.iter().map(|line| line.split(':').next().unwrap_or_default()).collect();
        assert_eq!(shape, ["event", "data", "", "event", "data", "", ""], "{stream}");
        let messages = events(stream.as_bytes());
        let expected = json!({ "a": 1, "b\n": 2 });
        assert_eq!(messages[0]["params"]["data"], expected);
        assert_eq!(messages[1]["result"]["structuredContent"]["json"], expected);
    }
}

/// A handler that has waited no longer holds its request, and it can still ask a question. The state is valid only for this call.
#[test]
fn a_handler_that_has_waited_can_ask() {
    let endpoint = Endpoint::new(|_| {
        let work = |cx: Context| async move {
            let mut has_waited = false;
            std::future::poll_fn(|task| {
                task.waker().wake_by_ref();
                if std::mem::replace(&mut has_waited, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            let answer = cx.elicit::<Number>("n", "How many?").await?;
            Ok::<_, HandlerError>(answer.accepted().map_or("none".to_owned(), |Number { n }| n.to_string()))
        };
        McpServer::builder("s", "1").tool(Tool::new("work", "Waits, and asks.", work)).build()
    });
    let keys = StateKeys::from_text("MCP_STATE_KEY", Some("a-key-of-thirty-two-bytes-or-more")).expect("a key");
    let endpoint = endpoint.without_auth().without_rate_limit().state_keys(keys);
    let call = |token: bool, change: &dyn Fn(&mut Value)| {
        let mut meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } } });
        if token {
            meta["progressToken"] = json!("p");
        }
        let ask = modern_call(meta);
        let mut message: Value = serde_json::from_slice(&ask.body).expect("JSON");
        change(&mut message["params"]);
        ask.with_body(message.to_string()).ask_at(&endpoint)
    };
    for token in [false, true] {
        let asked = call(token, &|_| ());
        assert_eq!(asked.result()["resultType"], "input_required");
        let answer = |params: &mut Value| {
            params["requestState"] = asked.result()["requestState"].clone();
            params["inputResponses"] = json!({ "n": { "action": "accept", "content": { "n": 7 } } });
        };
        assert_eq!(call(token, &answer).tool_text(), ("7", false));
        let of_another = |params: &mut Value| {
            answer(params);
            params["other"] = json!(1);
        };
        assert_eq!(call(token, &of_another).error()["data"]["reason"], "invalid_request_state");
    }
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    n: u32,
}
