//! Sessions that begin or end while other requests are under way.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{ClientError, Connection, Executed, Transport, Upstream};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::protocol::{LogLevel, Revision};
use edge_mcp::testing::{self, TestHost};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, join};
use serde_json::{Value, json};

use crate::calls::{client, context};
use crate::peer::{Answer, id_of, result};

/// A legacy server that checks the session of each request. Clones are the same server.
#[derive(Clone, Default)]
struct Depot(Rc<State>);

#[derive(Default)]
struct State {
    /// Whether `initialize` begins a session.
    has_sessions: Cell<bool>,
    /// The number of the current session.
    session: Cell<usize>,
    /// The method and the session id of each request.
    requests: RefCell<Vec<(String, Option<String>)>>,
}

impl Depot {
    fn new(has_sessions: bool) -> Self {
        let depot = Self::default();
        depot.0.has_sessions.set(has_sessions);
        depot
    }

    fn upstream(&self) -> Upstream {
        let upstream = Upstream::via("https://parcels.example/mcp", self.clone()).expect("a URL");
        upstream.revision(Revision::V2025_11_25)
    }

    /// Ends the current session.
    fn end_session(&self) {
        self.0.session.set(self.0.session.get() + 1);
    }

    /// Returns the session ids of the requests with this method since the last time.
    fn take(&self, method: &str) -> Vec<Option<String>> {
        let requests = self.0.requests.take().into_iter();
        requests.filter(|(found, _)| found == method).map(|(_, session)| session).collect()
    }

    fn answer(&self, method: &str, session: Option<&str>) -> Answer {
        let current = self.0.has_sessions.get().then(|| format!("s-{}", self.0.session.get()));
        if method == "initialize" {
            let answer = result(json!({ "protocolVersion": "2025-11-25", "capabilities": { "logging": {} } }));
            return match &current {
                Some(id) => answer.header("mcp-session-id", id),
                None => answer,
            };
        }
        if session != current.as_deref() {
            return Answer::new(404, "", "");
        }
        match method {
            "tools/call" => result(json!({ "content": [{ "type": "text", "text": "in Lyon" }] })),
            "logging/setLevel" => result(json!({})),
            _ => Answer::new(202, "", ""),
        }
    }
}

impl Transport for Depot {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let header = |name: &str| request.headers.iter().find(|(found, _)| found == name);
        let text = |value: &http::HeaderValue| value.to_str().expect("text").to_owned();
        let session = header("mcp-session-id").map(|(_, value)| text(value));
        if method == "initialize" {
            assert!(header("mcp-protocol-version").is_none() && session.is_none());
        }
        let answer = self.answer(&method, session.as_deref());
        let pause = match method.as_str() {
            "logging/setLevel" => 500,
            "initialize" => 1000,
            _ => 0,
        };
        self.0.requests.borrow_mut().push((method, session));
        let body = answer.chunks_for(&id_of(&request.body)).concat();
        let opened = Opened::new(answer.status, answer.headers, body);
        host.sleep(Duration::from_millis(pause)).map(|()| Ok(opened)).boxed_local()
    }
}

/// Calls a tool, with a listener for log messages or without.
fn track(connection: &Connection, logs: bool) -> impl Future<Output = Result<String, ClientError>> + use<> {
    let call = connection.server("parcels").expect("a server").call("track", json!({}));
    let call = if logs { call.on_log(LogLevel::Notice, |_| {}) } else { call };
    async move { call.await.map(|result| result.text()) }
}

/// C40, C52: one call ends the session while another call waits for the answer to `logging/setLevel`. The other call needs the new session,
/// so it is not sent without a session id.
#[test]
fn a_call_whose_session_ends_before_it_is_sent_waits_for_the_next_session() {
    let (depot, host) = (Depot::new(true), TestHost::new());
    let connection = client(depot.upstream()).connect(&context(&host));
    let first = track(&connection, false);
    assert_eq!(testing::run(host.run(first)).expect("the call ends").expect("a result"), "in Lyon");
    depot.take("");
    depot.end_session();
    let calls = join(track(&connection, true), track(&connection, false));
    let (logged, other) = testing::run(host.run(calls)).expect("the calls end");
    assert_eq!((logged.expect("a result").as_str(), other.expect("a result").as_str()), ("in Lyon", "in Lyon"));
    // One call learns that the first session has ended.
    let ids = ["s-0", "s-1", "s-1"].map(|id| Some(id.to_owned()));
    assert_eq!(depot.take("tools/call"), ids);
}

/// C40, C52: another connection learns that the server has sessions now. The next call of a connection without a session begins one.
#[test]
fn a_connection_without_a_session_begins_one_when_the_server_has_sessions() {
    let (depot, host) = (Depot::new(false), TestHost::new());
    let client = client(depot.upstream());
    let [first, second] = [(); 2].map(|()| client.connect(&context(&host)));
    let call = |connection: &Connection| testing::run(host.run(track(connection, false))).expect("the call ends");
    assert_eq!(call(&first).expect("a result"), "in Lyon");
    assert_eq!(call(&second).expect("a result"), "in Lyon");
    depot.0.has_sessions.set(true);
    depot.take("");
    // A status alone does not prove that the server did not execute a call without a session.
    assert_eq!(call(&second).expect_err("a failure").executed(), Executed::Unknown);
    assert_eq!(depot.take("tools/call"), [None]);
    assert_eq!(call(&first).expect("a result"), "in Lyon");
    assert_eq!(depot.take("tools/call"), [Some("s-0".to_owned())]);
}
