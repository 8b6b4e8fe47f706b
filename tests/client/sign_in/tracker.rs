//! An MCP server that accepts the tokens of the authorization server.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::Transport;
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::{Method, Request};
use serde_json::json;

use crate::calls::modern;
use crate::peer::{Answer, id_of, result};

/// The tokens that the server accepts. A clone is the same set.
#[derive(Clone, Default)]
pub struct Accepted(Rc<RefCell<BTreeSet<String>>>);

impl Accepted {
    pub fn add(&self, token: &str) {
        self.0.borrow_mut().insert(token.to_owned());
    }

    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

/// The server. A clone is the same server.
#[derive(Clone, Default)]
pub struct Tracker {
    pub accepted: Accepted,
    /// The next answers. Without one, a request with an accepted token gets a result, and another one the status 401.
    pub answers: Rc<RefCell<VecDeque<Answer>>>,
    /// The time that each answer takes.
    pub pause: Rc<Cell<Duration>>,
    requests: Rc<RefCell<Vec<Request<String>>>>,
    events: Rc<RefCell<Vec<String>>>,
}

impl Tracker {
    pub fn new(events: &Rc<RefCell<Vec<String>>>) -> Self {
        Self { events: events.clone(), ..Self::default() }
    }

    pub fn answer(&self, answer: Answer) {
        self.answers.borrow_mut().push_back(answer);
    }

    pub fn requests(&self) -> Vec<Request<String>> {
        self.requests.borrow().clone()
    }

    /// Returns the token of each request, or an empty text.
    pub fn tokens(&self) -> Vec<String> {
        self.requests.borrow().iter().map(token).collect()
    }
}

fn token(request: &Request<String>) -> String {
    let header = request.headers().get("authorization").map(|value| value.to_str().expect("ASCII"));
    header.map_or(String::new(), |header| header.strip_prefix("Bearer ").expect("a bearer token").to_owned())
}

/// The list with a tool of this name.
pub fn list_of(tool: &str) -> Answer {
    result(json!({ "tools": [{ "name": tool, "inputSchema": { "type": "object" } }], "resultType": "complete" }))
}

pub fn unauthorized(challenge: &str) -> Answer {
    Answer::new(401, "", "").header("www-authenticate", challenge)
}

pub fn insufficient(scope: &str) -> Answer {
    let challenge = format!(r#"Bearer error="insufficient_scope", scope="{scope}""#);
    Answer::new(403, "", "").header("www-authenticate", &challenge)
}

impl Transport for Tracker {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        if request.url.contains("/.well-known/") || request.method == Method::GET {
            // The network has the metadata of the tracker.
            return host.open(request);
        }
        let request = Request::try_from(request).expect("a request");
        let (token, id) = (token(&request), id_of(request.body()));
        let is_list = request.body().contains("tools/list");
        self.events.borrow_mut().push(format!("call {token}"));
        self.requests.borrow_mut().push(request);
        let is_accepted = self.accepted.0.borrow().contains(&token);
        let answer = self.answers.borrow_mut().pop_front();
        let answer = answer.unwrap_or_else(|| match is_accepted {
            true if is_list => list_of("track"),
            true => modern("in Lyon"),
            false => unauthorized("Bearer"),
        });
        let chunks: Vec<_> = answer.chunks_for(&id).into_iter().map(Ok).collect();
        let body = futures::stream::iter(chunks);
        let opened = Opened { status: answer.status, headers: answer.headers, body: Box::pin(body) };
        let pause = self.pause.get();
        if pause.is_zero() {
            return std::future::ready(Ok(opened)).boxed_local();
        }
        host.sleep(pause).map(|()| Ok(opened)).boxed_local()
    }
}
