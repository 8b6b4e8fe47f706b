//! The event stream of a session, on which legacy servers ask questions.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use edge_mcp::FormAnswer;
use edge_mcp::client::{ClientError, Failure, Transport, Upstream};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use futures::channel::{mpsc, oneshot};
use futures::future::{LocalBoxFuture, join_all, pending, ready};
use futures::{FutureExt, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Method, Request};
use serde_json::{Value, json};

use crate::calls::{client, context};

/// The answer of a server to the request for the stream.
#[derive(Clone, Copy, Default)]
enum Stream {
    /// A stream with questions.
    #[default]
    Open,
    /// A stream that ends before the first message.
    Ended,
    /// Status 405.
    Refused,
    /// A page.
    Page,
    /// No head arrives.
    Silent,
}

/// A legacy server that asks during each call, on the stream of the session. Clones are the same server.
#[derive(Clone, Default)]
struct Depot(Rc<State>);

#[derive(Default)]
struct State {
    stream: Stream,
    /// The number of questions in each call.
    questions: usize,
    requests: RefCell<Vec<Request<String>>>,
    events: RefCell<Option<mpsc::UnboundedSender<String>>>,
    /// The calls that wait for answers, each with the number of its answers.
    calls: RefCell<VecDeque<(oneshot::Sender<()>, usize)>>,
}

impl Depot {
    fn new(stream: Stream, questions: usize) -> Self {
        Self(Rc::new(State { stream, questions, ..State::default() }))
    }

    fn upstream(&self) -> Upstream {
        let upstream = Upstream::via("https://parcels.example/mcp", self.clone()).expect("a URL");
        upstream.revision(Revision::V2025_06_18)
    }

    /// Returns the requests: of a message, its method, otherwise the method of HTTP.
    fn requests(&self) -> Vec<String> {
        let requests = self.0.requests.borrow();
        let name = |request: &Request<String>| match serde_json::from_str::<Value>(request.body()) {
            Ok(message) => message["method"].as_str().unwrap_or("a response").to_owned(),
            Err(_) => request.method().to_string(),
        };
        requests.iter().map(name).collect()
    }

    fn answer(&self, request: &Request<String>) -> LocalBoxFuture<'static, Opened> {
        let message: Value = serde_json::from_str(request.body()).unwrap_or_default();
        let result = |result: Value| json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
        match (request.method(), message["method"].as_str()) {
            (&Method::GET, _) => self.stream(),
            (_, Some("initialize")) => {
                let result = result(json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
                ready(opened(200, &[("content-type", "application/json"), ("mcp-session-id", "s-1")], result))
                    .boxed_local()
            }
            (_, Some("tools/call")) => {
                let result = result(json!({ "content": [{ "type": "text", "text": "in Lyon" }] }));
                let events = self.0.events.borrow();
                let Some(events) = events.as_ref().filter(|events| !events.is_closed()) else {
                    return ready(opened(200, &[("content-type", "application/json")], result)).boxed_local();
                };
                for _ in 0..self.0.questions {
                    events.unbounded_send(question()).expect("a stream");
                }
                let (done, waits) = oneshot::channel();
                self.0.calls.borrow_mut().push_back((done, self.0.questions));
                waits.map(|_| opened(200, &[("content-type", "application/json")], result)).boxed_local()
            }
            (&Method::POST, None) => {
                let mut calls = self.0.calls.borrow_mut();
                let (_, left) = calls.front_mut().expect("a call that asked");
                *left -= 1;
                if *left == 0 {
                    let (call, _) = calls.pop_front().expect("a call");
                    call.send(()).expect("a call that waits");
                }
                ready(opened(202, &[], "")).boxed_local()
            }
            _ => ready(opened(202, &[], "")).boxed_local(),
        }
    }

    fn stream(&self) -> LocalBoxFuture<'static, Opened> {
        let (sender, receiver) = mpsc::unbounded();
        match self.0.stream {
            Stream::Open => {
                self.0.events.replace(Some(sender));
                let mut stream = opened(200, &[("content-type", "text/event-stream")], "");
                stream.body = receiver.map(|event: String| Ok(event.into_bytes())).boxed_local();
                ready(stream).boxed_local()
            }
            Stream::Ended => ready(opened(200, &[("content-type", "text/event-stream")], ": hello\n\n")).boxed_local(),
            Stream::Refused => ready(opened(405, &[], "")).boxed_local(),
            Stream::Page => ready(opened(200, &[("content-type", "text/html")], "<p>")).boxed_local(),
            Stream::Silent => pending().boxed_local(),
        }
    }
}

fn question() -> String {
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string", "default": "Lyon" } } });
    let params = json!({ "message": "Where to?", "requestedSchema": schema });
    let question = json!({ "jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": params });
    format!("data: {question}\n\n")
}

fn opened(status: u16, headers: &[(&'static str, &'static str)], body: impl Into<Vec<u8>>) -> Opened {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value"))).collect();
    Opened::new(status, headers, body)
}

impl Transport for Depot {
    fn open(&self, request: Outbound, _: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let request = Request::try_from(request).expect("a request");
        let answer = self.answer(&request);
        self.0.requests.borrow_mut().push(request);
        answer.map(Ok).boxed_local()
    }
}

/// Makes calls in one connection, side by side, and returns their outcomes.
fn calls(upstream: Upstream, count: usize) -> Vec<Result<String, ClientError>> {
    let host = TestHost::new();
    let connection = client(upstream).connect(&context(&host));
    let outcomes = testing::run(host.run(async move {
        let peer = connection.server("parcels").expect("a server");
        let call = |nth| {
            let call = peer.call("track", json!({ "number": nth }));
            async move { call.await.map(|result| result.text()) }
        };
        join_all((0..count).map(call)).await
    }));
    outcomes.expect("the calls end")
}

fn answering(upstream: Upstream) -> Upstream {
    upstream.on_elicitation(|_, _| async { Ok(FormAnswer::Accepted(json!({}))) })
}

/// C35: a server with the official TypeScript SDK 1.x asks on the stream of the session.
#[test]
fn questions_on_the_stream_of_a_session_are_answered() {
    let depot = Depot::new(Stream::Open, 1);
    let outcomes = calls(answering(depot.upstream()), 1);
    assert_eq!(outcomes[0].as_deref().expect("a result"), "in Lyon");
    let expected = ["initialize", "notifications/initialized", "GET", "tools/call", "a response", "DELETE"];
    assert_eq!(depot.requests(), expected);
    let requests = depot.0.requests.borrow();
    let answer: Value = serde_json::from_str(requests[4].body()).expect("JSON");
    assert_eq!(
        answer,
        json!({ "jsonrpc": "2.0", "id": 0, "result": { "action": "accept", "content": { "city": "Lyon" } } })
    );
    let headers = requests[2].headers();
    assert_eq!((&headers[ACCEPT], headers.get(CONTENT_TYPE)), (&"text/event-stream".parse().expect("a value"), None));
    assert_eq!(
        (&headers["mcp-session-id"], &headers["mcp-protocol-version"]),
        (&"s-1".parse().expect("a value"), &"2025-06-18".parse().expect("a value"))
    );
}

/// Parallel calls share the stream: when the call that reads it has ended, another call continues.
#[test]
fn parallel_calls_share_the_stream() {
    let depot = Depot::new(Stream::Open, 1);
    for outcome in calls(answering(depot.upstream()), 3) {
        assert_eq!(outcome.expect("a result"), "in Lyon");
    }
    let count = |name: &str| depot.requests().iter().filter(|request| *request == name).count();
    assert_eq!((count("GET"), count("tools/call"), count("a response")), (1, 3, 3));
}

#[test]
fn a_call_continues_without_the_stream() {
    for stream in [Stream::Refused, Stream::Page, Stream::Ended, Stream::Silent] {
        let depot = Depot::new(stream, 1);
        assert_eq!(calls(answering(depot.upstream()), 1)[0].as_deref().expect("a result"), "in Lyon");
        assert!(depot.requests().contains(&"GET".to_owned()));
    }
}

/// A program that answers no questions does not open the stream.
#[test]
fn the_stream_is_opened_only_for_questions() {
    let depot = Depot::new(Stream::Open, 1);
    assert_eq!(calls(depot.upstream(), 1)[0].as_deref().expect("a result"), "in Lyon");
    assert_eq!(depot.requests(), ["initialize", "notifications/initialized", "tools/call", "DELETE"]);
}

/// The hostile case 41: the questions of the stream count as those of the call.
#[test]
fn the_questions_on_the_stream_are_limited() {
    let depot = Depot::new(Stream::Open, 50);
    let outcomes = calls(answering(depot.upstream()), 1);
    let error = outcomes[0].as_ref().expect_err("a failure");
    assert_eq!(error.failure(), &Failure::LimitExceeded("the server asks too many questions"));
}
