//! Legacy servers: streams that are resumed, requests that are cancelled, and sessions that end.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{ClientError, Executed, Failure, Transport, Upstream};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, pending, ready};
use serde_json::{Value, json};

use crate::calls::{at, client, context, modern, track};
use crate::peer::{Answer, End, Peer, result};

const DONE: &str = r#"{"jsonrpc":"2.0","id":"r2","result":{"content":[{"type":"text","text":"in Lyon"}]}}"#;

fn legacy(peer: &Peer) -> Upstream {
    at(peer).revision(Revision::V2025_11_25)
}

fn initialized() -> Answer {
    result(json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {} }))
        .header("mcp-session-id", "s-1")
}

fn accepted() -> Answer {
    Answer::new(202, "", "")
}

fn stream(text: impl Into<Vec<u8>>) -> Answer {
    Answer::new(200, "text/event-stream", text)
}

/// Calls a tool of a server with a session. `answers` follow the handshake.
fn call(answers: impl IntoIterator<Item = Answer>) -> (Result<String, ClientError>, Peer) {
    let peer = Peer::new([initialized(), accepted()].into_iter().chain(answers));
    (track(legacy(&peer)), peer)
}

/// C27: a stream that ends before the response is resumed after the last event that has an id.
#[test]
fn an_interrupted_stream_is_resumed() {
    let done = || stream(format!("data: {DONE}\n\n"));
    let (first, second) = ("id: e-1\nretry: 500\ndata:\n\n", "id: e-2\ndata: {}\n\n");
    for (answers, ids) in [
        (vec![stream(first), done()], vec!["e-1"]),
        (vec![stream(first).end(End::Cut), done()], vec!["e-1"]),
        (vec![stream(first), stream(second), done()], vec!["e-1", "e-2"]),
        // A stream without an event keeps the position.
        (vec![stream(first), stream(""), done()], vec!["e-1", "e-1"]),
    ] {
        let (outcome, peer) = call(answers);
        assert_eq!(outcome.expect("a result"), "in Lyon");
        let gets: Vec<_> = peer.requests().into_iter().filter(|request| request.method() == "GET").collect();
        let found: Vec<_> = gets.iter().map(|get| get.headers()["last-event-id"].to_str().expect("text")).collect();
        assert_eq!(found, ids);
        for get in &gets {
            for (name, value) in
                [("mcp-session-id", "s-1"), ("accept", "text/event-stream"), ("mcp-protocol-version", "2025-11-25")]
            {
                assert_eq!(get.headers()[name], value);
            }
            assert!(get.headers().get("content-type").is_none());
        }
    }
}

/// C27: the server states the pause before a resumption. It is at most 5 s, and 1 s by default.
#[test]
fn a_resumption_waits_as_long_as_the_server_states() {
    for (first, pause) in [
        ("id: e\nretry: 500\ndata:\n\n", 500),
        ("id: e\ndata:\n\n", 1000),
        ("id: e\nretry: 999999999\ndata:\n\n", 5000),
        ("id: e\nretry: -1\ndata:\n\n", 1000),
    ] {
        let peer = Peer::new([initialized(), accepted(), stream(first), stream(format!("data: {DONE}\n\n"))]);
        let host = TestHost::new();
        let call = client(legacy(&peer)).connect(&context(&host)).call("parcels_track", json!({})).expect("a call");
        testing::run(host.run(async move { call.await })).expect("the call ends").expect("a result");
        assert_eq!(host.waits()[0], Duration::from_millis(pause), "{first:?}");
    }
}

/// The hostile case 43, C27: hostile answers to a resumption. The call may have been executed, so it is not sent again.
#[test]
fn a_failed_resumption_is_an_interruption() {
    let first = || stream("id: e-1\ndata:\n\n");
    for answers in [
        vec![first(), first(), first(), first()],
        vec![first(), Answer::new(404, "", "")],
        vec![first(), Answer::new(404, "text/event-stream", "")],
        vec![first(), Answer::new(405, "text/html", "<p>SECRET-4711</p>")],
        vec![first(), Answer::new(200, "application/json", DONE)],
        vec![first(), stream("").end(End::NoHead)],
        vec![stream("data:\n\n")],
        vec![stream("id: \u{1}\ndata:\n\n")],
    ] {
        let (outcome, peer) = call(answers);
        let error = outcome.expect_err("a failure");
        assert_eq!((error.failure(), error.executed()), (&Failure::Interrupted, Executed::Unknown));
        let methods = peer.methods();
        assert_eq!(methods.iter().filter(|method| *method == "tools/call").count(), 1, "{methods:?}");
        assert!(methods.iter().filter(|method| *method == "GET").count() <= 2, "{methods:?}");
        assert!(!error.to_string().contains("SECRET"));
    }
    // A modern server cannot resume a stream.
    let peer = Peer::new([stream("id: e-1\ndata:\n\n"), modern("in Lyon")]);
    let error = track(at(&peer).revision(Revision::V2026_07_28)).expect_err("a failure");
    assert_eq!((error.failure(), peer.methods().len()), (&Failure::Interrupted, 1));
}

/// C28: a request of a session that gets no answer in time is cancelled.
#[test]
fn a_late_request_is_cancelled() {
    let (outcome, peer) = call([stream("").end(End::Silent)]);
    assert_eq!(outcome.expect_err("a failure").failure(), &Failure::Timeout(Duration::from_secs(25)));
    let requests = peer.requests();
    let position =
        peer.methods().iter().position(|method| method == "notifications/cancelled").expect("a cancellation");
    let body: Value = serde_json::from_str(requests[position].body()).expect("JSON");
    assert_eq!(body, json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "r2" } }));
    assert_eq!(requests[position].headers(), requests[2].headers());
}

/// C28: the answer to a cancellation does not matter. A cancellation without an answer ends after 2 s.
#[test]
fn a_cancellation_has_a_time_limit() {
    let silent = || stream("").end(End::SilentBeforeHead);
    let peer = Peer::new([initialized(), accepted(), silent(), silent()]);
    let host = TestHost::new();
    let connection = client(legacy(&peer)).connect(&context(&host));
    let call = connection.call("parcels_track", json!({})).expect("a call");
    testing::run(host.run(async move { call.await })).expect("the tasks end").expect_err("a failure");
    assert_eq!(peer.methods()[3..], ["notifications/cancelled"]);
    assert_eq!(host.waits().iter().sum::<Duration>(), Duration::from_secs(27));
}

/// A server can fail if a session ends while it reads a cancellation of the session. So the end of the session waits for the answer to the
/// cancellation.
#[test]
fn a_session_ends_after_the_answers_to_its_cancellations() {
    for is_explicit in [true, false] {
        let depot = Depot::default();
        let host = TestHost::new();
        let upstream = Upstream::via("https://parcels.example/mcp", depot.clone()).expect("a URL");
        let connection = client(upstream.revision(Revision::V2025_11_25)).connect(&context(&host));
        let calls = [(); 2].map(|()| connection.call("parcels_track", json!({})).expect("a call"));
        testing::run(host.run(async move {
            for call in calls {
                call.await.expect_err("a failure");
            }
            if is_explicit {
                connection.disconnect().await;
            }
        }))
        .expect("the tasks end");
        testing::run(host.run(async {})).expect("the tasks end");
        let cancelled = ["notifications/cancelled", "notifications/cancelled answered"];
        let events = depot.0.take();
        assert_eq!(events.iter().filter(|event| **event == cancelled[1]).count(), 2, "{events:?}");
        assert_eq!(events.last().map(String::as_str), Some("DELETE"), "{is_explicit} {events:?}");
    }
}

/// A server with a session whose tool does not end, and which needs a second to answer a cancellation. It records the requests, and the answers
/// to cancellations.
#[derive(Clone, Default)]
struct Depot(Rc<RefCell<Vec<String>>>);

impl Transport for Depot {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or("DELETE").to_owned();
        self.0.borrow_mut().push(method.clone());
        let answer = match method.as_str() {
            "tools/call" => return pending().boxed_local(),
            "initialize" => initialized(),
            _ => accepted(),
        };
        let body = answer.chunks_for(&message["id"]).concat();
        let opened = Opened::new(answer.status, answer.headers, body);
        if method != "notifications/cancelled" {
            return ready(Ok(opened)).boxed_local();
        }
        let (events, pause) = (self.0.clone(), host.sleep(Duration::from_secs(1)));
        async move {
            pause.await;
            events.borrow_mut().push(format!("{method} answered"));
            Ok(opened)
        }
        .boxed_local()
    }
}

/// A request before another one has no effect, so it is sent again if the server closes the connection, and only once.
#[test]
fn a_handshake_is_repeated_once_if_its_connection_closes() {
    let closed = || Answer::new(200, "", "").end(End::NoHead);
    let cut = || Answer::new(200, "application/json", "{").end(End::Cut);
    let done = || Answer::new(200, "application/json", DONE.replace("\"r2\"", "\"$id\""));
    for (answers, is_done, methods) in [
        (vec![closed(), initialized(), accepted(), done()], true, "initialize initialize initialized call"),
        (vec![cut(), initialized(), accepted(), done()], true, "initialize initialize initialized call"),
        (vec![initialized(), closed(), accepted(), done()], true, "initialize initialized initialized call"),
        (vec![closed(), closed(), initialized()], false, "initialize initialize"),
        (vec![initialized(), closed(), closed()], false, "initialize initialized initialized"),
        // A call may have effects.
        (vec![initialized(), accepted(), closed(), done()], false, "initialize initialized call"),
    ] {
        let peer = Peer::new(answers);
        let outcome = track(legacy(&peer));
        assert_eq!(outcome.is_ok(), is_done, "{outcome:?} {methods:?}");
        let found = peer.methods().into_iter().filter(|method| method != "DELETE");
        let found: Vec<_> = found.map(|method| method.rsplit('/').next().unwrap_or_default().to_owned()).collect();
        assert_eq!(found.join(" "), methods);
    }
    // `server/discover` is such a request too.
    let peer = Peer::new([closed(), result(json!({ "resultType": "complete" })), modern("in Lyon")]);
    assert_eq!(track(at(&peer)).expect("a result"), "in Lyon");
    assert_eq!(peer.methods(), ["server/discover", "server/discover", "tools/call"]);
}

/// C28: a request of a session that the program drops is cancelled, once. Other requests are not cancelled.
#[test]
fn a_dropped_request_is_cancelled() {
    let silent = || stream("").end(End::Silent);
    for (answers, revision, expected) in [
        (vec![initialized(), accepted(), silent()], Revision::V2025_11_25, 1),
        (vec![silent()], Revision::V2026_07_28, 0),
        // `initialize` must not be cancelled.
        (vec![silent()], Revision::V2025_11_25, 0),
    ] {
        let peer = Peer::new(answers);
        let host = TestHost::new();
        let connection = client(at(&peer).revision(revision)).connect(&context(&host));
        let call = connection.call("parcels_track", json!({})).expect("a call");
        testing::run(host.run(async move {
            assert!(call.into_future().now_or_never().is_none());
        }))
        .expect("the tasks end");
        let cancelled = peer.methods().iter().filter(|method| *method == "notifications/cancelled").count();
        assert_eq!(cancelled, expected, "{:?}", peer.methods());
    }
    let (outcome, peer) = call([stream(format!("data: {DONE}\n\n"))]);
    assert!(outcome.is_ok() && !peer.methods().contains(&"notifications/cancelled".to_owned()), "{:?}", peer.methods());
}

/// C29: a list ends after 55 s, also if each page is within its limit.
#[test]
fn a_request_has_a_total_limit() {
    let page = |nth: usize| {
        let list =
            json!({ "tools": [{ "name": nth.to_string() }], "resultType": "complete", "nextCursor": nth.to_string() });
        result(list)
    };
    let peer = Peer::new((0..32).map(page));
    let upstream = Upstream::via("https://parcels.example/mcp", peer.slow(Duration::from_secs(9))).expect("a URL");
    let host = TestHost::new();
    let connection = client(upstream.revision(Revision::V2026_07_28)).connect(&context(&host));
    let list = testing::run(host.run(connection.list_tools())).expect("the list ends");
    assert_eq!(list.missing[0].failure(), &Failure::Timeout(Duration::from_secs(1)));
    assert_eq!(host.waits().iter().sum::<Duration>(), Duration::from_secs(55));
    assert_eq!(peer.requests().len(), 7);
}

/// C42: a session ends with DELETE, with the credential of the session. An answer that does not arrive ends after 2 s.
#[test]
fn a_session_is_ended() {
    for (answer, waits) in [
        (Answer::new(200, "", ""), 0),
        (Answer::new(405, "", ""), 0),
        (Answer::new(200, "", "").end(End::NoHead), 0),
        (Answer::new(200, "", "").end(End::SilentBeforeHead), 2),
    ] {
        for is_explicit in [true, false] {
            let done = Answer::new(200, "application/json", DONE);
            let peer = Peer::new([initialized(), accepted(), done, answer.clone()]);
            let upstream = legacy(&peer).bearer("t-1").expect("a token").header("x-team", "red").expect("a header");
            let host = TestHost::new();
            let connection = client(upstream).connect(&context(&host));
            let call = connection.call("parcels_track", json!({})).expect("a call");
            testing::run(host.run(async move {
                call.await.expect("a result");
                if is_explicit {
                    connection.disconnect().await;
                }
            }))
            .expect("the tasks end");
            let requests = peer.requests();
            assert_eq!(peer.methods()[3..], ["DELETE"], "{is_explicit}");
            let headers = requests[3].headers();
            for (name, value) in [
                ("mcp-session-id", "s-1"),
                ("mcp-protocol-version", "2025-11-25"),
                ("authorization", "Bearer t-1"),
                ("x-team", "red"),
            ] {
                assert_eq!(headers[name], value);
            }
            assert_eq!(host.waits().iter().sum::<Duration>(), Duration::from_secs(waits), "{is_explicit}");
        }
    }
}

/// C2, C42: a connection that was not used sends nothing, and a session that the server ended is not ended again.
#[test]
fn without_a_session_nothing_is_sent() {
    let peer = Peer::new([]);
    let host = TestHost::new();
    let connection = client(legacy(&peer)).connect(&context(&host));
    testing::run(host.run(connection.clone().disconnect())).expect("the tasks end");
    drop(connection);
    testing::run(host.run(async {})).expect("the tasks end");
    assert!(peer.requests().is_empty());
}
