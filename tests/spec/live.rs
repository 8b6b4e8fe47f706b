//! Answers that become streams: progress, log messages, and a client that goes away.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use edge_mcp::host::Host;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{
    Body, Context, Endpoint, EventStream, HandlerError, Json, Limits, LogLevel, McpServer, Prompt, Resource,
    ResourceTemplate, StateKeys, Tool,
};
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

/// Tells of everything at once.
fn chatty() -> Endpoint {
    server(|cx| {
        async move {
            for (progress, message) in [(0.0, "begun"), (50.0, ""), (50.0, "again"), (20.0, "back"), (100.0, "done")] {
                cx.progress(progress, Some(100.0), message);
            }
            cx.log(LogLevel::Info, "a detail");
            cx.log(LogLevel::Error, json!({ "code": 7 }));
            "worked".to_owned()
        }
        .boxed_local()
    })
}

fn new_call(meta: Value) -> Ask {
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

fn old_call(meta: Value) -> Ask {
    legacy("tools/call", json!({ "name": "work", "_meta": meta })).header("Accept", BOTH)
}

fn told(answer: &Answer, method: &str) -> Vec<Value> {
    let of_method = answer.notifications.iter().filter(|notification| notification["method"] == method);
    of_method.map(|notification| notification["params"].clone()).collect()
}

/// Rules 39, 42, 43 and 82: whoever gives a token is told of progress, with that token, as long as it grows; the response
/// ends the stream.
#[test]
fn progress_is_told() {
    for token in [json!("p1"), json!(7), json!("")] {
        for ask in [new_call(json!({ "progressToken": token })), old_call(json!({ "progressToken": token }))] {
            let answer = ask.ask_at(&chatty());
            assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
            assert_eq!(answer.header("cache-control"), Some("no-cache, no-transform"));
            assert_eq!(answer.header("x-accel-buffering"), Some("no"));
            let expected = [
                json!({ "progressToken": token, "progress": 0.0, "total": 100.0, "message": "begun" }),
                json!({ "progressToken": token, "progress": 50.0, "total": 100.0 }),
                json!({ "progressToken": token, "progress": 100.0, "total": 100.0, "message": "done" }),
            ];
            assert_eq!(told(&answer, "notifications/progress"), expected);
            assert_eq!(answer.result()["content"][0]["text"], "worked");
        }
    }
}

/// Rule 83: log messages from the level on that the request names; in older revisions, that the server names.
#[test]
fn log_messages_are_sent() {
    let level = |level: &str| json!({ "io.modelcontextprotocol/logLevel": level });
    let error = json!({ "level": "error", "logger": "worker", "data": { "code": 7 } });
    let info = json!({ "level": "info", "logger": "worker", "data": "a detail" });
    for (ask, expected) in [
        (new_call(level("info")), vec![info, error.clone()]),
        (new_call(level("error")), vec![error.clone()]),
        (new_call(level("critical")), vec![]),
        (new_call(json!({})), vec![]),
        (old_call(json!({})), vec![error.clone()]),
        (old_call(level("debug")), vec![error]),
    ] {
        assert_eq!(told(&ask.clone().ask_at(&chatty()), "notifications/message"), expected, "{ask:?}");
    }
    let silent = Endpoint::new(|_| {
        let talk = |cx: Context| async move { cx.log(LogLevel::Emergency, "unasked") };
        McpServer::builder("s", "1").tool(Tool::new("work", "d", talk)).build()
    });
    let answer = new_call(level("debug")).ask_at(&silent.without_auth().without_rate_limit());
    assert_eq!(answer.header("content-type"), Some("application/json"), "a server that declares no logging sends none");
}

/// Rule 39: who takes no stream, has nothing to be told, or is told nothing, gets JSON.
#[test]
fn others_get_json() {
    let token = || json!({ "progressToken": 1 });
    let quiet = server(|_| async { "worked".to_owned() }.boxed_local());
    for (ask, endpoint) in [
        (new_call(json!({})), chatty()),
        (new_call(token()).replace("Accept", "application/json"), chatty()),
        (new_call(token()).replace("Accept", "*/*"), chatty()),
        (new_call(token()).replace("Accept", "application/json, text/event-stream;q=0"), chatty()),
        (new_call(token()).without("Accept"), chatty()),
        (new_call(token()), chatty().json_only()),
        (new_call(token()), quiet),
        (new_call(json!({ "progressToken": 1.5 })), chatty()),
        (new_call(json!({ "progressToken": null })), chatty()),
    ] {
        let answer = ask.clone().ask_at(&endpoint);
        assert_eq!(answer.header("content-type"), Some("application/json"), "{ask:?}");
        assert_eq!(answer.result()["content"][0]["text"], "worked", "{ask:?}");
    }
}

/// An endpoint whose handler tells that it has begun, and then waits for the test.
struct Paused {
    endpoint: Endpoint,
    go_on: Rc<RefCell<Option<oneshot::Sender<()>>>>,
    /// What the handler has done.
    ended: Rc<Cell<&'static str>>,
}

fn paused(watches: bool) -> Paused {
    let go_on: Rc<RefCell<Option<oneshot::Sender<()>>>> = Rc::default();
    let ended: Rc<Cell<&'static str>> = Rc::default();
    let (to_go_on, at_end) = (go_on.clone(), ended.clone());
    let endpoint = server(move |cx| {
        let (sender, receiver) = oneshot::channel();
        to_go_on.borrow_mut().replace(sender);
        let at_end = at_end.clone();
        async move {
            cx.progress(1.0, None, "begun");
            let waiting = Dropped(at_end.clone());
            if watches {
                futures::future::select(receiver, cx.cancelled().boxed_local()).await;
            } else {
                receiver.await.expect("the test goes on");
            }
            std::mem::forget(waiting);
            at_end.set("finished");
            "worked".to_owned()
        }
        .boxed_local()
    });
    Paused { endpoint, go_on, ended }
}

/// Notes that a handler was dropped where it waited.
struct Dropped(Rc<Cell<&'static str>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.set("dropped");
    }
}

/// The stream of an answer, whose handler waits.
fn open(pool: &mut LocalPool, host: &Rc<dyn Host>, ask: &Ask, endpoint: &Endpoint) -> EventStream {
    match pool.run_until(ask.clone().raw(endpoint, host)).into_body() {
        Body::Stream(stream) => stream,
        Body::Bytes(bytes) => panic!("no stream: {}", String::from_utf8_lossy(&bytes)),
    }
}

/// Notifications come as they are sent, not when the handler is done.
#[test]
fn notifications_come_at_once() {
    let Paused { endpoint, go_on, ended } = paused(false);
    let mut pool = LocalPool::new();
    let host = on(&pool, &TestHost::new());
    let ask = new_call(json!({ "progressToken": 1 }));
    let mut stream = open(&mut pool, &host, &ask, &endpoint);
    let first = pool.run_until(stream.next()).expect("an event");
    assert_eq!(events(&first)[0]["params"]["message"], "begun");
    assert_eq!(ended.get(), "", "it has not ended");
    go_on.borrow_mut().take().expect("it waits").send(()).expect("it listens");
    let rest = pool.run_until(stream.concat());
    assert_eq!(events(&rest)[0]["result"]["content"][0]["text"], "worked");
    assert_eq!(ended.get(), "finished");
}

/// Rules 44 and 96: in 2026-07-28 a closed stream cancels, in older revisions it does not.
#[test]
fn a_closed_stream_cancels() {
    let token = || json!({ "progressToken": 1 });
    for (ask, watches, expected) in
        [(new_call(token()), false, "dropped"), (new_call(token()), true, "finished"), (old_call(token()), false, "")]
    {
        let Paused { endpoint, go_on, ended } = paused(watches);
        let mut pool = LocalPool::new();
        let host = on(&pool, &TestHost::new());
        drop(open(&mut pool, &host, &ask, &endpoint));
        pool.run_until_stalled();
        assert_eq!(ended.get(), expected, "{ask:?}, watching: {watches}");
        if expected.is_empty() {
            go_on.borrow_mut().take().expect("it waits").send(()).expect("it listens");
            pool.run_until_stalled();
            assert_eq!(ended.get(), "finished", "an older client may come back for other reasons");
        }
    }
}

/// Rule 43: a stream on which nothing happens is kept open by comments, but is not begun by one.
#[test]
fn silence_is_filled() {
    let Paused { endpoint, go_on, .. } = paused(false);
    let (mut pool, clock) = (LocalPool::new(), TestHost::new());
    let host = on(&pool, &clock);
    let ask = new_call(json!({ "progressToken": 1 }));
    let mut stream = open(&mut pool, &host, &ask, &endpoint);
    let first = pool.run_until(stream.next()).expect("an event");
    assert!(first.starts_with(b"event: message"), "the stream begins with what was told");
    for seconds in [4, 1] {
        assert!(stream.next().now_or_never().is_none(), "nothing comes before its time");
        clock.advance(Duration::from_secs(seconds));
        pool.run_until_stalled();
    }
    assert_eq!(pool.run_until(stream.next()).as_deref(), Some(b": keep-alive\n\n".as_slice()));
    go_on.borrow_mut().take().expect("it waits").send(()).expect("it listens");
    assert_eq!(events(&pool.run_until(stream.concat())).len(), 1);
}

/// A handler that is not done in time is dropped where it waits, and the caller is told: after 30 s, or what the tool says,
/// which is never more than 300 s.
#[test]
fn a_deadline_passes() {
    for (said, seconds) in [(None, 30), (Some(2), 2), (Some(300), 300), (Some(301), 300)] {
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
            let tool = said.into_iter().fold(tool, |tool, seconds| tool.deadline(Duration::from_secs(seconds)));
            McpServer::builder("s", "1").tool(tool).build()
        });
        let host = TestHost::new();
        let answer = new_call(json!({})).ask_on(&endpoint, &host);
        assert_eq!(host.waits(), [Duration::from_secs(seconds)]);
        let (text, is_error) = answer.tool_text();
        assert!(is_error && text.contains(&format!("within {seconds} s")), "{text}");
        assert_eq!(ended.get(), "dropped");
    }
}

/// Prompts, resources and templates have deadlines as tools do.
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

/// Rules 84 and 86: listening is acknowledged first, with nothing in it, and completes at once; every message names the
/// subscription.
#[test]
fn listening_completes_at_once() {
    for id in [json!("listen-1"), json!(7)] {
        let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["a://b"] });
        let ask = modern_as(&id, "subscriptions/listen", json!({ "notifications": filter }));
        let answer = ask.clone().header("Accept", BOTH).ask_at(&chatty());
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
        assert_eq!(answer.notifications.len(), 1);
        assert_eq!(answer.notifications[0]["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(answer.notifications[0]["params"], json!({ "_meta": meta, "notifications": {} }));
        assert_eq!(answer.result()["resultType"], "complete");
        assert_eq!(answer.result()["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        assert_eq!(ask.ask_at(&chatty().json_only()).refusal(), (404, -32601));
    }
    let listen = modern("subscriptions/listen", json!({ "notifications": {} }));
    let mut message: Value = serde_json::from_slice(&listen.body).expect("JSON");
    message["id"] = json!("ID");
    // More digits than any type of number has; still few enough to be read back as one here.
    let message = message.to_string().replace("\"ID\"", &"9".repeat(50));
    let answer = listen.with_body(message).header("Accept", BOTH).ask_at(&chatty());
    let id = &answer.result()["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert!(id.is_number() && answer.body.as_ref().and_then(|body| body.get("id")) == Some(id), "{id}");
    assert_eq!(answer.notifications[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], *id);
    for params in [json!({}), json!({ "notifications": null }), json!({ "notifications": [] })] {
        assert_eq!(modern("subscriptions/listen", params).ask_at(&chatty()).refusal(), (200, -32602));
    }
    assert_eq!(
        legacy("subscriptions/listen", json!({ "notifications": {} })).ask_at(&chatty()).refusal(),
        (200, -32601)
    );
}

/// Older clients set a level as soon as log messages are declared: it is checked.
#[test]
fn a_log_level_is_checked() {
    let ask = |level: Value| legacy("logging/setLevel", json!({ "level": level })).ask_at(&chatty());
    assert_eq!(ask(json!("debug")).result(), &json!({}));
    for level in [json!("loud"), json!(7), json!(null)] {
        assert_eq!(ask(level).refusal(), (200, -32602));
    }
}

/// The one log line of a streamed answer is written when it ends.
#[test]
fn a_stream_is_logged_once() {
    let host = TestHost::new();
    new_call(json!({ "progressToken": 1 })).ask_on(&chatty(), &host);
    let expected = json!({ "event": "request", "method": "tools/call", "target": "work", "era": "modern", "status": 200, "ms": 0, "id": "7" });
    assert_eq!(host.log(), [expected]);
}

/// Rule 39: notifications repeat the token, so that its length is bounded, in whatever form the answer would come.
#[test]
fn a_long_progress_token_is_refused() {
    for (token, length) in
        [(json!("x".repeat(254)), 256), (json!("x".repeat(255)), 257), (json!("\u{1}".repeat(43)), 260)]
    {
        for ask in [new_call(json!({ "progressToken": token })), old_call(json!({ "progressToken": token }))] {
            for (ask, endpoint) in [
                (ask.clone(), chatty()),
                (ask.clone(), chatty().json_only()),
                (ask.replace("Accept", "application/json"), chatty()),
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

/// A server whose tool logs `count` texts of `bytes`, waits for the test, and logs once more.
fn talkative(count: usize, bytes: usize, go_on: &Rc<RefCell<Option<oneshot::Sender<()>>>>) -> Endpoint {
    let go_on = go_on.clone();
    server(move |cx| {
        let (sender, receiver) = oneshot::channel();
        go_on.borrow_mut().replace(sender);
        async move {
            for _ in 0..count {
                cx.log(LogLevel::Error, "x".repeat(bytes));
            }
            receiver.await.expect("the test goes on");
            cx.log(LogLevel::Error, "last");
            "worked".to_owned()
        }
        .boxed_local()
    })
}

/// The notifications of a stream, before and after the handler went on, and the response.
fn told_before_and_after(count: usize, bytes: usize, reads: bool) -> (usize, usize, Value) {
    let go_on = Rc::default();
    let endpoint = talkative(count, bytes, &go_on);
    let mut pool = LocalPool::new();
    let host = on(&pool, &TestHost::new());
    let mut stream = open(&mut pool, &host, &old_call(json!({})), &endpoint);
    let mut before = 0;
    while reads && stream.next().now_or_never().flatten().is_some() {
        before += 1;
    }
    go_on.borrow_mut().take().expect("it waits").send(()).expect("it listens");
    pool.run_until_stalled();
    let rest = events(&pool.run_until(stream.concat()));
    let (response, after) = rest.split_last().expect("a response");
    (before, after.len(), response["result"].clone())
}

/// A handler cannot wait for its client. What the client does not read is bounded; the response comes in any case.
#[test]
fn notifications_that_wait_to_be_read_are_bounded() {
    for (count, bytes, waiting) in
        [(1000, 1, 1000), (1024, 1, 1024), (5000, 1, 1024), (50, 100_000, 10), (3, 2_000_000, 1)]
    {
        let (before, after, result) = told_before_and_after(count, bytes, true);
        assert_eq!((before, after), (waiting, 1), "{count} of {bytes}: there is room again for what comes later");
        assert_eq!(result["content"][0]["text"], "worked");
        let (_, after, result) = told_before_and_after(count, bytes, false);
        // The notification that has opened the stream has left room for one.
        assert_eq!(after, waiting + 1, "{count} of {bytes}: nothing else is read before the end");
        assert_eq!(result["content"][0]["text"], "worked");
    }
}

/// Progress that was dropped counts as not sent: what follows it, and is more than what was sent, comes.
#[test]
fn progress_goes_on_after_some_was_dropped() {
    let go_on: Rc<RefCell<Option<oneshot::Sender<()>>>> = Rc::default();
    let to_go_on = go_on.clone();
    let endpoint = server(move |cx| {
        let (sender, receiver) = oneshot::channel();
        to_go_on.borrow_mut().replace(sender);
        async move {
            for done in 0..2000 {
                cx.progress(f64::from(done), None, "");
            }
            receiver.await.expect("the test goes on");
            cx.progress(1500.0, None, "");
            "worked".to_owned()
        }
        .boxed_local()
    });
    let mut pool = LocalPool::new();
    let host = on(&pool, &TestHost::new());
    let mut stream = open(&mut pool, &host, &old_call(json!({ "progressToken": 1 })), &endpoint);
    let mut sent = Vec::new();
    while let Some(event) = stream.next().now_or_never().flatten() {
        sent.extend(events(&event).iter().map(|event| event["params"]["progress"].as_f64()));
    }
    assert_eq!((sent.len(), sent.last()), (1024, Some(&Some(1023.0))));
    go_on.borrow_mut().take().expect("it waits").send(()).expect("it listens");
    let rest = events(&pool.run_until(stream.concat()));
    assert_eq!(rest[0]["params"]["progress"], 1500.0);
}

/// All notifications of a call together are no longer than a response may be. The log says once that some were dropped.
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
        let answer = old_call(json!({})).ask_on(&endpoint.limits(limits), &host);
        assert_eq!(answer.tool_text(), ("y".repeat(400).as_str(), false), "the response has room of its own");
        let is_drop = |line: &&Value| line["subject"] == "notifications";
        let drops = host.log().iter().filter(is_drop).map(|line| line["cause"].clone()).collect::<Vec<_>>();
        (answer.notifications.iter().map(|told| told.to_string().len()).sum::<usize>(), drops)
    };
    let (one, drops) = call(1, 1000);
    assert!(drops.is_empty());
    assert_eq!(call(5, 5 * one), (5 * one, vec![]), "at the limit");
    let limit = 5 * one - 1;
    let cause = format!("further notifications are dropped: together they exceed the output limit of {limit} bytes");
    assert_eq!(call(5, limit), (4 * one, vec![json!(cause)]), "one byte past it");
    assert_eq!(call(100, limit), (4 * one, vec![json!(cause)]), "it is logged once");
}

/// Structured content that is JSON already.
#[derive(Serialize, JsonSchema)]
struct Given {
    #[schemars(with = "BTreeMap<String, u32>")]
    json: Box<RawValue>,
}

/// JSON that a handler has not written itself may have line breaks between its tokens. An event is one line of data all the same.
#[test]
fn line_breaks_in_given_json_do_not_end_an_event() {
    let text = "{\n\n\"a\":\r\n1,\r\r\"b\\n\":\t2\n}";
    let endpoint = Endpoint::new(move |_| {
        let given = || serde_json::from_str::<Box<RawValue>>(text).expect("JSON");
        let work = move |cx: Context| async move {
            cx.log(LogLevel::Error, given());
            Json(Given { json: given() })
        };
        let tool = Tool::new("work", "Gives JSON.", work);
        McpServer::builder("s", "1").tool(tool).logging(LogLevel::Debug).build()
    });
    let endpoint = endpoint.without_auth().without_rate_limit();
    for ask in [old_call(json!({})), new_call(json!({ "io.modelcontextprotocol/logLevel": "debug" }))] {
        let mut pool = LocalPool::new();
        let host = on(&pool, &TestHost::new());
        let stream = open(&mut pool, &host, &ask, &endpoint);
        let stream = String::from_utf8(pool.run_until(stream.concat())).expect("UTF-8");
        // As the specification of event streams reads it: a line ends at each CR, LF or CRLF, and a blank one ends the event.
        let lines: Vec<&str> = stream.split(['\n', '\r']).collect();
        let shape: Vec<_> = lines.iter().map(|line| line.split(':').next().unwrap_or_default()).collect();
        assert_eq!(shape, ["event", "data", "", "event", "data", "", ""], "{stream}");
        let messages = events(stream.as_bytes());
        let expected = json!({ "a": 1, "b\n": 2 });
        assert_eq!(messages[0]["params"]["data"], expected);
        assert_eq!(messages[1]["result"]["structuredContent"]["json"], expected);
    }
}

/// A handler that has waited before it asks has no request any more, and can still ask: the answer comes back with a state that is
/// valid for the call, and for no other.
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
        let ask = new_call(meta);
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
