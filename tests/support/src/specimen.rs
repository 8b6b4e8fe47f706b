//! Test support: a sample server, requests to it, and checks that every response must pass.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::rc::Rc;

use edge_mcp::content::{Annotations, Icon, Role, Theme};
use edge_mcp::host::{self, BodyError, Host};
use edge_mcp::http::Body;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{
    BuildError, Completion, Content, Context, Endpoint, HandlerError, Json, McpServer, Prompt, PromptArgument,
    PromptMessage, PromptResult, RequestInfo, Resource, ResourceContents, ResourceDescription, ResourceTemplate, Tool,
};
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub const NEWEST: &str = "2026-07-28";
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The time at which every test runs, in seconds since 1970.
pub const NOW: u64 = 1_800_000_000;

/// Returns a host whose clock shows `second`, in seconds since 1970.
pub fn at_second(second: u64) -> TestHost {
    TestHost::new().clock(second * 1000)
}

/// Returns `host` with a spawner that runs its tasks on `pool`.
pub fn on(pool: &LocalPool, host: &TestHost) -> Rc<dyn Host> {
    let tasks = pool.spawner();
    Rc::new(host.clone().spawner(move |task| tasks.spawn_local(task).expect("the pool exists")))
}

#[derive(Deserialize, JsonSchema)]
pub struct Words {
    /// Text to say
    #[schemars(length(min = 1, max = 20))]
    text: String,
    /// Repetitions
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 9))]
    times: u32,
}

fn once() -> u32 {
    1
}

#[derive(Serialize, JsonSchema)]
struct Said {
    said: String,
}

/// An error as a library returns it. Its text contains [`SECRET`], an internal detail that clients must not see.
#[derive(Debug)]
pub struct Internal;

pub const SECRET: &str = "db-7.internal:5432";

impl fmt::Display for Internal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot reach {SECRET}")
    }
}

impl std::error::Error for Internal {}

#[derive(Deserialize)]
struct Item {
    id: String,
}

/// Builds a sample server with items of every kind.
pub fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let who = |cx: Context| async move { cx.caller().map_or("no caller".to_owned(), |caller| caller.subject.clone()) };
    let client =
        |cx: Context| async move { cx.client_info().map_or("unnamed".to_owned(), |info| info.name.to_string()) };
    let refuse = || async { Err::<String, _>(HandlerError::new("Not on Sundays.").because(SECRET)) };
    McpServer::builder("specimen", "1.2.3")
        .title("Specimen")
        .description("One of everything.")
        .icon(Icon::new("data:,").size("any").theme(Theme::Dark))
        .website_url("https://example.com")
        .instructions("Say it once.")
        .tool(
            Tool::new("say", "Says it.", |words: Words| async move {
                Json(Said { said: words.text.repeat(words.times as usize) })
            })
            .title("Say")
            .read_only(),
        )
        .tool(Tool::new("whoami", "Returns the subject of the caller.", who))
        .tool(Tool::new("client", "Returns the name of the client.", client))
        .tool(Tool::new("nothing", "Does nothing.", || async {}))
        .tool(Tool::new("refuse", "Refuses.", refuse))
        .tool(Tool::new("break", "Breaks.", || async { Err::<String, HandlerError>(Internal.into()) }))
        .tool(Tool::new("show", "Shows a picture.", || async {
            vec![Content::image(b"png", "image/png"), Content::text("a picture")]
        }))
        .resource(Resource::new("test://text", || async { "plain" }).name("text").mime_type("text/plain").size(5))
        .resource(Resource::new("test://bytes", || async { vec![0_u8, 255] }).mime_type("image/png"))
        .resource(Resource::new("test://broken", || async { Err::<String, HandlerError>(Internal.into()) }))
        .resource(Resource::new("test://empty", || async { Vec::<ResourceContents>::new() }))
        .resource(Resource::new("test://gone", || async { None::<String> }))
        .resource(Resource::new("test://several", || async {
            vec![ResourceContents::text("test://several/1", "1"), ResourceContents::text("test://several/2", "2")]
        }))
        .resource_template(
            ResourceTemplate::new("test://items/{id}", |Item { id }| async move {
                (id != "0").then(|| ResourceContents::text(format!("test://items/{id}"), id).mime_type("text/x-item"))
            })
            .name("item")
            .annotations(Annotations::new().priority(1.0).last_modified("2026-07-28T00:00:00Z"))
            .list(|| async { vec![ResourceDescription::new("test://items/1", "item 1")] })
            .complete("id", Completion::fixed(["1", "2"])),
        )
        .tool(Tool::new("count", "Counts.", || async { Json(vec![1, 2, 3]) }).title("Count"))
        .tool(Tool::new("media", "Shows blocks that some revisions do not have.", || async { media() }))
        .tool(Tool::new("chart", "Draws.", || async {
            (Json(Said { said: "up".into() }), vec![Content::text("It goes up.")])
        }))
        .prompt(
            Prompt::new("analyze", |Code { code, .. }: Code| async move { format!("Analyze {code}") })
                .version("v1")
                .description("The first."),
        )
        .prompt(
            Prompt::new("greet", |cx: Context| async move { greet(&cx) })
                .argument(PromptArgument::new("tone"))
                .complete("tone", Completion::prefix(["Formal", "friendly", "rude"])),
        )
        .prompt(
            Prompt::new("analyze", |Code { code, lines, deep }: Code| async move {
                PromptResult::new([
                    PromptMessage::user(format!("{code}/{lines:?}/{deep:?}")),
                    PromptMessage::assistant("Yes."),
                ])
            })
            .version("v2")
            .title("Analyze code")
            .description("The second.")
            .icon(Icon::new("https://example.com/i.png").mime_type("image/png"))
            .meta("example.com/kind", "code")
            .argument(PromptArgument::new("lines").title("Line count"))
            .complete(
                "code",
                Completion::with(|request, cx| async move {
                    vec![request.value; if cx.header("X-Full").is_some() { 100 } else { 101 }]
                }),
            ),
        )
        .prompt(
            Prompt::new("pair", |given: BTreeMap<String, String>| async move { format!("{given:?}") })
                .argument(PromptArgument::new("first").description("One.").required())
                .argument(PromptArgument::new("second").required()),
        )
        .prompt(Prompt::new("refuse", || async { Err::<String, _>(HandlerError::invalid("Not that one.")) }))
        .prompt(Prompt::new("break", || async { Err::<String, HandlerError>(Internal.into()) }))
        .build()
}

/// The arguments of the prompt `analyze`.
#[derive(Deserialize, JsonSchema)]
pub struct Code {
    /// The code
    #[schemars(length(max = 10))]
    code: String,
    /// Number of lines
    lines: Option<u32>,
    deep: Option<bool>,
}

fn greet(cx: &Context) -> Vec<PromptMessage> {
    let picture =
        Content::image(b"png", "image/png").annotations(Annotations::new().audience(Role::User).priority(0.5));
    let note = ResourceContents::text("test://note", cx.revision().name()).mime_type("text/plain");
    vec![PromptMessage::user(picture), PromptMessage::assistant(Content::resource(note))]
}

fn media() -> Vec<Content> {
    let link = ResourceDescription::new("test://text", "text").title("Text").size(5);
    vec![Content::audio(b"wav", "audio/wav"), Content::link(link)]
}

/// Returns the parameters of `completion/complete` for an argument of a prompt.
pub fn complete(prompt: &str, argument: &str, value: &str) -> Value {
    json!({ "ref": { "type": "ref/prompt", "name": prompt }, "argument": { "name": argument, "value": value } })
}

/// Returns an endpoint of [`server`] without authentication.
pub fn endpoint() -> Endpoint {
    testing::endpoint(server)
}

/// An HTTP request that a test assembles and sends.
#[derive(Clone, Debug)]
pub struct Ask {
    method: &'static str,
    url: String,
    headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    platform: Platform,
}

/// Properties of a request that the host gets from its platform, not from the headers.
#[derive(Clone, Debug)]
struct Platform {
    address: Option<IpAddr>,
    request_id: Option<String>,
}

/// A request as a host passes it to the endpoint.
struct Received {
    request: http::Request<Cell<Vec<u8>>>,
    platform: Platform,
}

impl host::Request for Received {
    fn method(&self) -> String {
        host::Request::method(&self.request)
    }

    fn url(&self) -> String {
        self.request.url()
    }

    fn header(&self, name: &str) -> Option<String> {
        self.request.header(name)
    }

    fn body(&self, limit: usize) -> impl Future<Output = Result<Vec<u8>, BodyError>> {
        host::Request::body(&self.request, limit)
    }

    fn client_address(&self) -> Option<IpAddr> {
        self.platform.address
    }

    fn request_id(&self) -> Option<String> {
        self.platform.request_id.clone()
    }
}

fn url_of(path: &str) -> String {
    if path.starts_with('/') { format!("http://localhost{path}") } else { path.to_owned() }
}

/// Returns a POST request to `/mcp` with this body, declared as JSON.
pub fn post(body: impl Into<Vec<u8>>) -> Ask {
    let ask = Ask {
        method: "POST",
        url: url_of("/mcp"),
        headers: Vec::new(),
        body: body.into(),
        platform: Platform { address: Some(IpAddr::from([127, 0, 0, 1])), request_id: None },
    };
    ask.header("Content-Type", "application/json")
}

/// Returns the request `method` with id 1, as a client of 2025-11-25 sends it.
pub fn legacy(method: &str, params: Value) -> Ask {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    post(message.to_string()).header("MCP-Protocol-Version", "2025-11-25")
}

/// Returns the `_meta` of a 2026-07-28 request.
pub fn envelope() -> Value {
    json!({ "io.modelcontextprotocol/protocolVersion": NEWEST, "io.modelcontextprotocol/clientCapabilities": {} })
}

/// Returns the request `method` with id 1 and its headers, as a client of 2026-07-28 sends it.
pub fn modern(method: &str, params: Value) -> Ask {
    modern_as(&json!(1), method, params)
}

/// Returns the same request as [`modern`], with the id `id`.
pub fn modern_as(id: &Value, method: &str, mut params: Value) -> Ask {
    let name = ["name", "uri"].iter().find_map(|key| params[key].as_str().map(str::to_owned));
    params["_meta"] = envelope();
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let ask = post(message.to_string()).header("MCP-Protocol-Version", NEWEST).header("Mcp-Method", method);
    match name {
        Some(name) if matches!(method, "tools/call" | "resources/read" | "prompts/get") => {
            ask.header("Mcp-Name", &name)
        }
        _ => ask,
    }
}

impl Ask {
    /// Adds a header, and keeps other headers of the same name.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Removes all headers of this name.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Adds a header, and removes other headers of the same name.
    pub fn replace(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).header(name, value)
    }

    /// Replaces the body.
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub fn verb(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    /// Sets the URL: a path on localhost, or a whole URL.
    pub fn at(mut self, path: &str) -> Self {
        self.url = url_of(path);
        self
    }

    /// Sets the IP address of the client.
    pub fn address(mut self, address: &str) -> Self {
        self.platform.address = Some(address.parse().expect("an IP address"));
        self
    }

    /// Makes the host one that does not know the address of the client.
    pub fn without_address(mut self) -> Self {
        self.platform.address = None;
        self
    }

    /// Sets the id that the host assigns to the request in its logs.
    pub fn request_id(mut self, id: &str) -> Self {
        self.platform.request_id = Some(id.to_owned());
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("Authorization", format!("Bearer {token}"))
    }

    /// Sends the request to an endpoint of [`server`].
    pub fn ask(self) -> Answer {
        self.ask_at(&endpoint())
    }

    pub fn ask_at(self, endpoint: &Endpoint) -> Answer {
        self.ask_on(endpoint, &TestHost::new())
    }

    pub fn ask_on(self, endpoint: &Endpoint, host: &TestHost) -> Answer {
        testing::run(self.send(endpoint, host))
    }

    /// Requests a document. The response is not a JSON-RPC message, so its form is not checked.
    pub fn document(self, endpoint: &Endpoint) -> Answer {
        self.document_on(endpoint, &TestHost::new())
    }

    pub fn document_on(self, endpoint: &Endpoint, host: &TestHost) -> Answer {
        testing::run(Client::new(endpoint).host(host).send(self.received())).into()
    }

    /// Sends the request, and returns the response unchecked.
    pub async fn raw(self, endpoint: &Endpoint, host: &Rc<dyn Host>) -> http::Response<Body> {
        endpoint.handle(self.received(), host).await
    }

    /// Sends the request, and checks the invariants of every response.
    pub async fn send(self, endpoint: &Endpoint, host: &TestHost) -> Answer {
        let request = serde_json::from_slice::<Value>(&self.body).ok();
        let answer = Answer::from(Client::new(endpoint).host(host).send(self.received()).await);
        answer.check_invariants(request.as_ref());
        assert!(host.log().iter().all(Value::is_object), "each log line is a JSON object: {}", host.log_text());
        answer
    }

    fn received(self) -> Received {
        let mut request = http::Request::builder().method(self.method).uri(&self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value.as_slice());
        }
        let request = request.body(Cell::new(self.body)).expect("a valid HTTP request");
        Received { request, platform: self.platform }
    }
}

/// Returns the messages of an event stream.
pub fn events(stream: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(stream).expect("UTF-8");
    let events = text.split_terminator("\n\n").filter(|event| !event.starts_with(':'));
    let message = |event: &str| event.strip_prefix("event: message\ndata: ").map(serde_json::from_str);
    events.map(|event| message(event).expect("an event is a message").expect("JSON")).collect()
}

/// The response to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Option<Value>,
    /// The notifications that precede the response on a stream.
    pub notifications: Vec<Value>,
    answer: testing::Answer,
}

impl From<testing::Answer> for Answer {
    fn from(answer: testing::Answer) -> Self {
        let body = (!answer.json().is_null()).then(|| answer.json().clone());
        Self { status: answer.status(), body, notifications: answer.notifications().to_vec(), answer }
    }
}

impl Deref for Answer {
    type Target = testing::Answer;

    fn deref(&self) -> &testing::Answer {
        &self.answer
    }
}

impl Answer {
    /// Rules 1, 2, 4 and 41: the body is empty or a JSON-RPC message. A message has the id of the request, and either a result or
    /// an error. The server does not offer a session.
    fn check_invariants(&self, request: Option<&Value>) {
        assert!(self.header("mcp-session-id").is_none(), "the server does not offer a session");
        assert_ne!(self.status, 0, "{}", self.answer.text());
        assert!(self.headers().values().all(|value| value.to_str().is_ok()), "headers are ASCII");
        if self.header("content-type") == Some("text/event-stream") {
            let sent = self.notifications.iter().chain(&self.body).cloned().collect::<Vec<_>>();
            assert_eq!(events(self.answer.body()), sent, "each event is a message");
        }
        let Some(body) = &self.body else {
            assert!(self.answer.body().is_empty(), "a body is JSON");
            assert!(matches!(self.status, 202 | 204 | 308), "{} needs a body", self.status);
            return;
        };
        assert!(matches!(self.header("content-type"), Some("application/json" | "text/event-stream")));
        for notification in &self.notifications {
            // Rules 42 and 43: the stream has notifications and no requests before the response, which is the last message.
            assert!(notification.get("id").is_none() && notification["method"].is_string(), "{notification}");
        }
        let single = [body.clone()];
        for message in body.as_array().map_or(&single[..], Vec::as_slice) {
            assert_eq!(message["jsonrpc"], "2.0", "{message}");
            assert!(message.get("result").is_some() != message.get("error").is_some(), "{message}");
            assert_ne!(message.get("id"), Some(&Value::Null), "an unknown id is omitted: {message}");
            if let Some(error) = message.get("error") {
                assert!(error["code"].is_i64() && error["message"].is_string(), "{error}");
                assert!(!error["message"].as_str().is_some_and(str::is_empty), "{error}");
            }
        }
        let sent_id =
            request.and_then(|request| request.get("id")).filter(|id| id.is_string() || id.is_i64() || id.is_u64());
        if let (Some(sent), Some(received)) = (sent_id, body.get("id")) {
            assert_eq!(sent, received, "the response has the id of the request");
        }
    }

    /// Returns the result of a successful request. Panics if the response has another status than 200 or no result.
    pub fn result(&self) -> &Value {
        let result = self.body.as_ref().and_then(|body| body.get("result"));
        assert_eq!(self.status, 200, "{self:?}");
        result.unwrap_or_else(|| panic!("no result in {self:?}"))
    }

    /// Returns the HTTP status and the error code of a rejected request.
    pub fn refusal(&self) -> (u16, i64) {
        (self.status, self.error()["code"].as_i64().expect("a code"))
    }

    pub fn error(&self) -> &Value {
        self.body.as_ref().and_then(|body| body.get("error")).unwrap_or_else(|| panic!("no error in {self:?}"))
    }

    /// Returns the message of the error.
    pub fn message(&self) -> &str {
        self.error()["message"].as_str().expect("a message")
    }

    /// Returns the first text of a tool result, and whether the result is an error.
    pub fn tool_text(&self) -> (&str, bool) {
        let result = self.result();
        (result["content"][0]["text"].as_str().unwrap_or_default(), result["isError"] == true)
    }
}
