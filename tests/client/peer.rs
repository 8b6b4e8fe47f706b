//! A peer with prepared answers, which records the requests that it gets.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::Transport;
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use futures::future::{LocalBoxFuture, pending, ready};
use futures::{FutureExt, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use serde_json::{Value, json};

/// A prepared answer.
#[derive(Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub chunks: Vec<Vec<u8>>,
    pub end: End,
}

/// The end of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The body is complete.
    Complete,
    /// The connection fails before the head.
    NoHead,
    /// The head never arrives.
    SilentBeforeHead,
    /// The connection fails within the body.
    Cut,
    /// The connection stays open, but nothing more arrives.
    Silent,
    /// The last chunk is repeated for ever.
    Endless,
}

impl Answer {
    pub fn new(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let answer = Self { status, headers: HeaderMap::new(), chunks: vec![body.into()], end: End::Complete };
        if media_type.is_empty() { answer } else { answer.header("content-type", media_type) }
    }

    pub fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// Cuts the body into chunks of `size` bytes.
    pub fn in_chunks(mut self, size: usize) -> Self {
        self.chunks = self.chunks.concat().chunks(size).map(<[u8]>::to_vec).collect();
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().expect("a name");
        self.headers.insert(name, HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
        self
    }

    /// Returns the chunks of the body, in which `"$id"` is the id of the request.
    pub fn chunks_for(&self, id: &Value) -> Vec<Vec<u8>> {
        let body = match String::from_utf8(self.chunks.concat()) {
            Ok(text) => text.replace("\"$id\"", &id.to_string()).into_bytes(),
            Err(error) => error.into_bytes(),
        };
        let size = if self.chunks.len() == 1 { body.len() } else { self.chunks.first().map_or(1, Vec::len) };
        body.chunks(size.max(1)).map(<[u8]>::to_vec).collect()
    }
}

/// Returns the id of a message, or null.
pub fn id_of(message: &str) -> Value {
    serde_json::from_str::<Value>(message).map_or(Value::Null, |message| message["id"].clone())
}

/// A JSON answer. `"id": "$id"` becomes the id of the request.
pub fn json_answer(status: u16, body: Value) -> Answer {
    Answer::new(status, "application/json", body.to_string())
}

pub fn result(result: Value) -> Answer {
    json_answer(200, json!({ "jsonrpc": "2.0", "id": "$id", "result": result }))
}

pub fn error(status: u16, code: i64, message: &str) -> Answer {
    json_answer(status, json!({ "jsonrpc": "2.0", "id": "$id", "error": { "code": code, "message": message } }))
}

/// The requests and the prepared answers of a peer. Clones are the same peer.
#[derive(Clone, Default)]
pub struct Peer {
    answers: Rc<RefCell<VecDeque<Answer>>>,
    requests: Rc<RefCell<Vec<Request<String>>>>,
    open_bodies: Rc<Cell<usize>>,
}

impl Peer {
    /// Creates a peer with these answers, one for each request.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: Rc::new(RefCell::new(answers.into_iter().collect())), ..Self::default() }
    }

    /// Adds answers after the others.
    pub fn add(&self, answers: impl IntoIterator<Item = Answer>) {
        self.answers.borrow_mut().extend(answers);
    }

    /// Returns the number of answers whose body is still open.
    pub fn open_bodies(&self) -> usize {
        self.open_bodies.get()
    }

    /// Returns the same peer, whose answers take this time.
    pub fn slow(&self, pause: Duration) -> Slow {
        Slow { peer: self.clone(), pause }
    }

    pub fn requests(&self) -> Vec<Request<String>> {
        self.requests.borrow().clone()
    }

    /// Returns the methods of the requests: of a message, its `method`, otherwise the method of HTTP.
    pub fn methods(&self) -> Vec<String> {
        let method = |request: &Request<String>| match serde_json::from_str::<Value>(request.body()) {
            Ok(message) => message["method"].as_str().unwrap_or("a response").to_owned(),
            Err(_) => request.method().to_string(),
        };
        self.requests.borrow().iter().map(method).collect()
    }
}

/// A peer whose answers take time.
pub struct Slow {
    peer: Peer,
    pause: Duration,
}

impl Transport for Slow {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let opening = self.peer.open(request, host);
        host.sleep(self.pause).then(|()| opening).boxed_local()
    }
}

impl Transport for Peer {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let request = Request::try_from(request).expect("a request");
        if request.method() == http::Method::GET
            && request.headers().get("accept").is_some_and(|it| it == "application/json")
        {
            // The network of the host has the metadata documents of the server.
            return host.open(request.into());
        }
        // A request for the stream of a session. The tests of this stream have their own peer.
        if request.method() == http::Method::GET && !request.headers().contains_key("last-event-id") {
            return ready(Ok(Opened::new(405, HeaderMap::new(), ""))).boxed_local();
        }
        let id = id_of(request.body());
        self.requests.borrow_mut().push(request);
        let Some(answer) = self.answers.borrow_mut().pop_front() else {
            return ready(Err(FetchError::Failed("the peer has no answer left".into()))).boxed_local();
        };
        match answer.end {
            End::NoHead => return ready(Err(FetchError::Failed("connection lost: SECRET-4711".into()))).boxed_local(),
            End::SilentBeforeHead => return pending().boxed_local(),
            _ => {}
        }
        let chunks: Vec<_> = answer.chunks_for(&id).into_iter().map(Ok).collect();
        let last = chunks.last().cloned().unwrap_or_else(|| Ok(Vec::new()));
        let sent = futures::stream::iter(chunks);
        let Answer { status, headers, end, .. } = answer;
        let body = match end {
            End::Cut => sent.chain(futures::stream::iter([Err(FetchError::Failed("reset".into()))])).boxed_local(),
            End::Silent => sent.chain(futures::stream::pending()).boxed_local(),
            End::Endless => sent.chain(futures::stream::repeat_with(move || last.clone())).boxed_local(),
            _ => sent.boxed_local(),
        };
        let open = OpenBody::new(&self.open_bodies);
        let body = body.inspect(move |_| debug_assert!(open.0.get() > 0)).boxed_local();
        ready(Ok(Opened { status, headers, body })).boxed_local()
    }
}

/// Counts a body until it is dropped.
struct OpenBody(Rc<Cell<usize>>);

impl OpenBody {
    fn new(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(count.clone())
    }
}

impl Drop for OpenBody {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
