//! Servers to mount, and callers of the gateway.
//!
//! Each server records its requests, and fails if one of them contains the token of the caller.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{InProcess, Transport, Upstream};
use edge_mcp::gateway::{Gateway, Mount};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Answer as Reply, Client, TestHost};
use edge_mcp::{Endpoint, McpServer, McpServerBuilder, StaticTokens};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::Request;
use serde_json::{Value, json};

use crate::peer::{Answer, End, Peer, error, result};

/// The token that each caller sends, and that no server may get.
pub const TOKEN: &str = "CALLER-TOKEN-0815";

type Open = dyn Fn(Outbound, &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>>;

/// A server to mount. Clones are the same server.
#[derive(Clone)]
pub struct Server {
    open: Rc<Open>,
    pause: Rc<Cell<Duration>>,
    requests: Rc<RefCell<Vec<Request<String>>>>,
    /// The requests that wait for their answers.
    waiting: Rc<Cell<usize>>,
}

impl Server {
    fn of(
        open: impl Fn(Outbound, &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> + 'static,
    ) -> Self {
        Self { open: Rc::new(open), pause: Rc::default(), requests: Rc::default(), waiting: Rc::default() }
    }

    /// Creates a server that answers each message as `answer` says.
    pub fn new(answer: impl Fn(&Value) -> Answer + 'static) -> Self {
        Self::of(move |request, host| {
            let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
            Peer::new([answer(&message)]).open(request, host)
        })
    }

    /// Creates a server that answers some messages as `answer` says, and the others as `inner` does.
    pub fn wrapping(inner: &Self, answer: impl Fn(&Value) -> Option<Answer> + 'static) -> Self {
        let open = inner.open.clone();
        Self::of(move |request, host| {
            let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
            match answer(&message) {
                Some(answer) => Peer::new([answer]).open(request, host),
                None => open(request, host),
            }
        })
    }

    /// Creates a server with these lists, such as `{"tools": […]}`. A call of a tool returns its name and its arguments as text.
    pub fn with(lists: Value) -> Self {
        Self::new(move |message| answer_of(&lists, message))
    }

    /// Creates a server with tools of these names.
    pub fn tools<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let tools: Vec<_> = names.into_iter().map(tool).collect();
        Self::with(json!({ "tools": tools }))
    }

    /// Creates a server from an endpoint in this program.
    pub fn endpoint(endpoint: Endpoint) -> Self {
        let inner = InProcess::new(endpoint);
        Self::of(move |request, host| inner.open(request, host))
    }

    /// Creates a server that never answers.
    pub fn silent() -> Self {
        Self::new(|_| Answer::new(200, "", "").end(End::SilentBeforeHead))
    }

    /// Sets the time that each answer takes.
    pub fn slow(self, pause: Duration) -> Self {
        self.pause.set(pause);
        self
    }

    pub fn upstream(&self) -> Upstream {
        Upstream::via("http://localhost/mcp", self.clone()).expect("a URL").revision(Revision::V2026_07_28)
    }

    pub fn mount(&self) -> Mount {
        Mount::new(self.upstream())
    }

    pub fn requests(&self) -> Vec<Request<String>> {
        self.requests.borrow().clone()
    }

    /// Returns the messages since the last time.
    pub fn take(&self) -> Vec<Value> {
        let requests = self.requests.take();
        requests.iter().map(|request| serde_json::from_str(request.body()).expect("JSON")).collect()
    }

    /// Returns the methods of the messages since the last time.
    pub fn methods(&self) -> Vec<String> {
        self.take().iter().map(|message| message["method"].as_str().expect("a method").to_owned()).collect()
    }

    pub fn waiting(&self) -> usize {
        self.waiting.get()
    }
}

/// Counts a request until its answer has arrived, or until it is dropped.
struct Waiting(Rc<Cell<usize>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Transport for Server {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let text = format!("{request:?}").to_ascii_lowercase();
        assert!(!text.contains(&TOKEN.to_ascii_lowercase()), "a server gets the token of the caller: {text}");
        for name in ["cookie", "origin", "cf-connecting-ip", "x-forwarded-for"] {
            assert!(request.headers.iter().all(|(header, _)| header != name), "a server gets the header {name}");
        }
        self.requests.borrow_mut().push(Request::try_from(request.clone()).expect("a request"));
        self.waiting.set(self.waiting.get() + 1);
        let (waiting, pause) = (Waiting(self.waiting.clone()), host.sleep(self.pause.get()));
        let (open, host, is_slow) = (self.open.clone(), host.clone(), !self.pause.get().is_zero());
        async move {
            if is_slow {
                pause.await;
            }
            let opened = open(request, &host).await;
            drop(waiting);
            opened
        }
        .boxed_local()
    }
}

/// Returns the definition of a tool.
pub fn tool(name: &str) -> Value {
    json!({ "name": name, "description": format!("Does {name}."), "inputSchema": { "type": "object" } })
}

/// Returns the answer with a result of a modern server.
pub fn complete(mut members: Value) -> Answer {
    members["resultType"] = json!("complete");
    result(members)
}

pub fn text(text: &str) -> Answer {
    complete(json!({ "content": [{ "type": "text", "text": text }] }))
}

/// Returns the answer of a server with these lists.
pub fn answer_of(lists: &Value, message: &Value) -> Answer {
    let params = &message["params"];
    let list = |name: &str| match lists.get(name) {
        Some(items) => {
            let (ttl, scope) = (lists.get("ttlMs").cloned().unwrap_or_else(|| json!(0)), "private");
            complete(json!({ name: items, "ttlMs": ttl, "cacheScope": scope }))
        }
        None => error(404, -32_601, "Unknown method."),
    };
    match message["method"].as_str().unwrap_or_default() {
        "tools/list" => list("tools"),
        "resources/list" => list("resources"),
        "resources/templates/list" => list("resourceTemplates"),
        "prompts/list" => list("prompts"),
        "tools/call" => text(&format!("{} {}", params["name"].as_str().unwrap_or_default(), params["arguments"])),
        "resources/read" => {
            let uri = params["uri"].as_str().unwrap_or_default();
            complete(json!({ "contents": [{ "uri": uri, "text": format!("The text of {uri}.") }] }))
        }
        "prompts/get" => {
            let content = json!({ "type": "text", "text": format!("{} {}", params["name"], params["arguments"]) });
            complete(json!({ "messages": [{ "role": "user", "content": content }] }))
        }
        "completion/complete" => complete(json!({ "completion": { "values": [params["argument"]["value"]] } })),
        _ => error(404, -32_601, "Unknown method."),
    }
}

/// Builds a gateway with these mounts.
pub fn gateway<const N: usize>(mounts: [(&'static str, Mount); N]) -> Gateway {
    mounts
        .into_iter()
        .fold(Gateway::builder("edge", "1.0.0"), |gateway, (name, mount)| gateway.mount(name, mount))
        .build()
        .expect("a gateway")
}

/// Returns an endpoint whose server has the items of the gateway, and those that `add` adds.
pub fn serving(gateway: Gateway, add: impl Fn(McpServerBuilder) -> McpServerBuilder + 'static) -> Endpoint {
    testing::endpoint(move |_| add(McpServer::builder("edge", "1.0.0")).gateway(&gateway).build())
}

/// Returns an endpoint with these mounts.
pub fn endpoint<const N: usize>(mounts: [(&'static str, Mount); N]) -> Endpoint {
    serving(gateway(mounts), |server| server)
}

/// Requires the token of the caller, which has these scopes.
pub fn with_scopes(endpoint: Endpoint, scopes: &[&str]) -> Endpoint {
    let tokens = json!([{ "token": TOKEN, "subject": "ada", "scopes": scopes }]).to_string();
    endpoint.auth(StaticTokens::from_json("T", Some(&tokens)).expect("tokens"))
}

/// Returns a caller, which sends headers that no server may get.
pub fn caller<'e>(endpoint: &'e Endpoint, host: &TestHost) -> Client<'e> {
    Client::new(endpoint)
        .host(host)
        .token(TOKEN)
        .header("Cookie", format!("session={TOKEN}"))
        .header("CF-Connecting-IP", "192.0.2.7")
        .header("X-Forwarded-Host", TOKEN)
        .header("X-Api-Key", TOKEN)
        .meta("example.com/secret", json!(TOKEN))
}

/// Calls a tool.
pub fn call(endpoint: &Endpoint, name: &str, arguments: Value) -> Reply {
    testing::run(caller(endpoint, &TestHost::new()).call(name, arguments))
}

/// Requests all pages of a list.
pub fn list(endpoint: &Endpoint, kind: &str) -> Reply {
    testing::run(caller(endpoint, &TestHost::new()).list(kind))
}

/// Returns the names of the tools in the list.
pub fn names(endpoint: &Endpoint) -> Vec<String> {
    list(endpoint, "tools").names().into_iter().map(str::to_owned).collect()
}

/// Asserts that a tool is as unknown as one that never was.
pub fn assert_unknown(endpoint: &Endpoint, name: &str) {
    let answer = call(endpoint, name, json!({}));
    let sentence = answer.text();
    assert!(answer.is_error() && sentence.starts_with("Unknown tool `"), "{name}: {sentence}");
}
