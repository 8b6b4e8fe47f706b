//! The number of bytes that the client receives from a server that sends too much.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::FormAnswer;
use edge_mcp::client::{Failure, Listing, McpClient, Transport, Upstream};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use futures::channel::mpsc;
use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};
use http::{HeaderMap, Method};
use serde_json::{Value, json};

use crate::calls::{client, context};

const MIB: usize = 1 << 20;
/// The limit of a list, and one chunk more. A chunk that exceeds a limit is received, but nothing after it.
const LIST: usize = 9 * MIB;
/// The limit of a stream, and one chunk more.
const STREAM: usize = 17 * MIB;

/// The position of the long part of an answer.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
enum Long {
    /// On the stream of the session, during each request.
    #[default]
    Standing,
    /// On streams without a response, which can be resumed.
    Resumed,
    /// In JSON whose connection fails. The repetition of the request gets its answer.
    Cut,
}

/// A legacy server with sessions that sends much with each page and each call. Clones are the same server.
#[derive(Clone, Default)]
struct Flood(Rc<State>);

#[derive(Default)]
struct State {
    long: Long,
    /// The chunks that come with each request.
    chunks: Vec<String>,
    /// The number of pages and calls that were requested.
    requests: Cell<usize>,
    /// The number of bytes that the client has read, without the responses, which are short.
    received: Rc<Cell<usize>>,
    standing: RefCell<Option<mpsc::UnboundedSender<String>>>,
}

impl Flood {
    fn new(long: Long, chunks: Vec<String>) -> Self {
        Self(Rc::new(State { long, chunks, ..State::default() }))
    }

    fn client(&self) -> McpClient {
        let upstream = Upstream::via("https://parcels.example/mcp", self.clone()).expect("a URL");
        let upstream = upstream.revision(Revision::V2025_11_25);
        client(upstream.on_elicitation(|_, _| async { Ok(FormAnswer::Accepted(json!({}))) }))
    }

    /// Lists the tools. Returns the list, and the number of bytes that the client has read.
    fn list(&self) -> (Listing, usize) {
        let host = TestHost::new();
        let connection = self.client().connect(&context(&host));
        let list = testing::run(host.run(connection.list_tools())).expect("the list ends");
        (list, self.0.received.get())
    }

    /// Calls a tool `count` times in one session. Returns the number of bytes that the client has read.
    fn call(&self, count: usize) -> usize {
        let host = TestHost::new();
        let connection = self.client().connect(&context(&host));
        for _ in 0..count {
            let call = connection.call("parcels_track", json!({})).expect("a call");
            let result = testing::run(host.run(async move { call.await })).expect("the call ends");
            assert_eq!(result.expect("a result").text(), "in Lyon");
        }
        self.0.received.get()
    }

    /// Returns the media type and the chunks of the answer to a page or a call, and whether the connection fails after them.
    fn answer(&self, message: &Value, is_resumption: bool) -> (&'static str, Vec<String>, bool) {
        let nth = self.0.requests.replace(self.0.requests.get() + 1);
        let members = match message["method"].as_str() {
            Some("tools/call") => json!({ "content": [{ "type": "text", "text": "in Lyon" }] }),
            _ => json!({ "tools": [{ "name": format!("t{nth}"), "inputSchema": {} }], "nextCursor": nth.to_string() }),
        };
        let response = json!({ "jsonrpc": "2.0", "id": message["id"], "result": members }).to_string();
        match self.0.long {
            Long::Standing => {
                if let Some(standing) = &*self.0.standing.borrow() {
                    for chunk in &self.0.chunks {
                        // The client may have closed the stream.
                        let _ = standing.unbounded_send(chunk.clone());
                    }
                }
                ("application/json", vec![response], false)
            }
            Long::Resumed => {
                assert!(is_resumption || message["method"] == "tools/list");
                let first = "id: e-1\nretry: 0\ndata:\n\n".to_owned();
                ("text/event-stream", [first].into_iter().chain(self.0.chunks.clone()).collect(), false)
            }
            Long::Cut if nth.is_multiple_of(2) => ("application/json", self.0.chunks.clone(), true),
            Long::Cut => ("application/json", vec![response], false),
        }
    }

    fn respond(&self, request: &Outbound) -> Opened {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let is_resumption = request.headers.iter().any(|(name, _)| name == "last-event-id");
        let received = self.0.received.clone();
        let count = move |chunk: &String| {
            let is_response = chunk.starts_with('{');
            received.set(received.get() + if is_response { 0 } else { chunk.len() });
        };
        match (&request.method, message["method"].as_str()) {
            (&Method::GET, _) if !is_resumption => {
                let (sender, chunks) = mpsc::unbounded();
                self.0.standing.replace(Some(sender));
                let body = chunks.inspect(count).map(|chunk| Ok(chunk.into_bytes()));
                opened("text/event-stream", body.boxed_local())
            }
            (_, Some("initialize")) => {
                let result = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} } });
                let body = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
                let mut answer = Opened::new(200, HeaderMap::new(), body);
                for (name, value) in [("content-type", "application/json"), ("mcp-session-id", "s-1")] {
                    answer.headers.insert(name, value.parse().expect("a value"));
                }
                answer
            }
            (_, Some("tools/list" | "tools/call")) | (&Method::GET, _) => {
                let (media_type, chunks, is_cut) = self.answer(&message, is_resumption);
                let failure = is_cut.then(|| Err(FetchError::Failed("reset".into())));
                let body = futures::stream::iter(chunks).inspect(count).map(|chunk| Ok(chunk.into_bytes()));
                opened(media_type, body.chain(futures::stream::iter(failure)).boxed_local())
            }
            _ => Opened::new(202, HeaderMap::new(), ""),
        }
    }
}

fn opened(media_type: &str, body: futures::stream::LocalBoxStream<'static, Result<Vec<u8>, FetchError>>) -> Opened {
    let mut opened = Opened::new(200, HeaderMap::new(), "");
    opened.headers.insert("content-type", media_type.parse().expect("a value"));
    opened.body = body;
    opened
}

impl Transport for Flood {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let answer = self.respond(&request);
        // The client reads the stream of the session while it waits.
        host.sleep(Duration::from_millis(1)).map(|()| Ok(answer)).boxed_local()
    }
}

/// Returns chunks of 1 MiB, each with a comment.
fn comments(count: usize) -> Vec<String> {
    vec![format!(": {}\n", "x".repeat(MIB - 3)); count]
}

/// C57: the bytes on the stream of a session count as bytes of the list. The list has the items of the pages before the limit.
#[test]
fn the_stream_of_a_session_counts_for_a_list() {
    let (list, received) = Flood::new(Long::Standing, comments(3)).list();
    assert_eq!((list.items.len(), list.is_truncated), (2, true), "{:?}", list.missing);
    assert!((8 * MIB..=LIST).contains(&received), "{received} bytes");
    let (list, received) = Flood::new(Long::Standing, comments(15)).list();
    assert_eq!(list.missing[0].failure(), &Failure::LimitExceeded("the answer is too long"));
    assert!((8 * MIB..=LIST).contains(&received), "{received} bytes");
}

/// C57: the limits of a stream are limits of the whole session. The calls continue without the stream.
#[test]
fn the_stream_of_a_session_has_one_limit_for_all_calls() {
    let received = Flood::new(Long::Standing, comments(10)).call(20);
    assert!((16 * MIB..=STREAM).contains(&received), "{received} bytes");
    let event = "data: {}\n\n".to_owned();
    let received = Flood::new(Long::Standing, vec![event.clone(); 600]).call(20);
    assert_eq!(received, 1001 * event.len());
}

/// C57: a list has one limit for its resumed streams and for its repeated requests, also if an answer does not arrive completely.
#[test]
fn resumptions_and_repetitions_count_for_a_list() {
    let (list, received) = Flood::new(Long::Resumed, comments(15)).list();
    assert_eq!(list.missing[0].failure(), &Failure::LimitExceeded("the answer is too long"));
    assert!((8 * MIB..=LIST).contains(&received), "{received} bytes");
    let (list, received) = Flood::new(Long::Resumed, comments(1)).list();
    assert_eq!(list.missing[0].failure(), &Failure::Interrupted);
    assert!((6 * MIB..7 * MIB).contains(&received), "{received} bytes");
    let (list, received) = Flood::new(Long::Cut, comments(3)).list();
    assert_eq!((list.items.len(), list.is_truncated), (2, true), "{:?}", list.missing);
    assert!((8 * MIB..=LIST).contains(&received), "{received} bytes");
}
