//! A client that calls an endpoint in the same process.

use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::host::TestHost;
use crate::base64::STANDARD;
use crate::host::{self, Host};
use crate::http::Endpoint;
use crate::protocol::method::Method;
use crate::protocol::revision::{Era, Revision};

/// The maximum number of rounds of a call, and of pages of a list.
const MAX_ROUNDS: usize = 16;

/// A client of an endpoint. It sends requests, answers the questions of handlers, and returns the final answer.
///
/// By default, it uses the newest revision, declares elicitation, sampling and roots, and sends no token.
///
/// ```
/// use edge_mcp::testing::{self, Client};
/// use edge_mcp::{BuildError, Context, HandlerError, McpServer, RequestInfo, Tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Address {
///     city: String,
/// }
///
/// async fn ship(cx: Context) -> Result<String, HandlerError> {
///     let address = cx.elicit::<Address>("address", "Where to?").await?.accepted();
///     Ok(address.map_or("Not shipped.".to_owned(), |Address { city }| format!("Shipped to {city}.")))
/// }
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     McpServer::builder("shop", "1.0.0").tool(Tool::new("ship", "Ships the order.", ship)).build()
/// }
///
/// testing::run(async {
///     let endpoint = testing::endpoint(server);
///     let answer = Client::new(&endpoint).answer("address", json!({ "city": "Bern" })).call("ship", json!({})).await;
///     assert_eq!(answer.text(), "Shipped to Bern.");
///     assert_eq!(answer.questions()["address"]["params"]["message"], "Where to?");
///     let declined = Client::new(&endpoint).decline("address").call("ship", json!({})).await;
///     assert_eq!(declined.text(), "Not shipped.");
/// });
/// ```
#[derive(Clone)]
#[must_use]
pub struct Client<'e> {
    endpoint: &'e Endpoint,
    host: TestHost,
    revision: Revision,
    headers: Vec<(String, String)>,
    capabilities: Value,
    meta: Map<String, Value>,
    answers: Vec<(String, PreparedAnswer)>,
}

#[derive(Clone)]
enum PreparedAnswer {
    /// The content: the fields of a form, the text of a model, or an array of roots.
    Content(Value),
    /// The whole answer.
    Raw(Value),
}

impl<'e> Client<'e> {
    /// Creates a client of `endpoint`, with its own [host](TestHost).
    pub fn new(endpoint: &'e Endpoint) -> Self {
        Self {
            endpoint,
            host: TestHost::new(),
            revision: Revision::V2026_07_28,
            headers: Vec::new(),
            capabilities: json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} }),
            meta: Map::new(),
            answers: Vec::new(),
        }
    }

    /// Sets the host, which provides the clock, the network and the log of the endpoint.
    pub fn host(mut self, host: &TestHost) -> Self {
        self.host = host.clone();
        self
    }

    /// Adds a bearer token to each request.
    pub fn token(self, token: &str) -> Self {
        self.header("Authorization", format!("Bearer {token}"))
    }

    /// Adds a header to each request.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the protocol revision. Handlers cannot ask a client of a revision before 2026-07-28.
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = revision;
        self
    }

    /// Sets the capabilities that the client declares, as an object. `json!({})` declares none.
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Adds a member to the `_meta` of each request. `progressToken` requests progress notifications, and
    /// `io.modelcontextprotocol/logLevel` requests log messages.
    pub fn meta(mut self, name: impl Into<String>, value: Value) -> Self {
        self.meta.insert(name.into(), value);
        self
    }

    /// Answers the question `key`. `content` is the fields of a form, the text of a model, or an array of roots. For a question without
    /// fields, it is `json!({})`.
    ///
    /// `key` is the key that the handler passes, even if another tool calls this handler. The key of an
    /// [approval](crate::Tool::requires_approval) is `edge-mcp/approval`.
    pub fn answer(self, key: impl Into<String>, content: Value) -> Self {
        self.with_answer(key.into(), PreparedAnswer::Content(content))
    }

    /// Declines the question `key`.
    pub fn decline(self, key: impl Into<String>) -> Self {
        self.reply(key, json!({ "action": "decline" }))
    }

    /// Cancels the question `key`.
    pub fn cancel(self, key: impl Into<String>) -> Self {
        self.reply(key, json!({ "action": "cancel" }))
    }

    /// Answers the question `key` with `answer`, which is sent unchanged. Use it to test invalid answers.
    pub fn reply(self, key: impl Into<String>, answer: Value) -> Self {
        self.with_answer(key.into(), PreparedAnswer::Raw(answer))
    }

    fn with_answer(mut self, key: String, answer: PreparedAnswer) -> Self {
        self.answers.retain(|(known, _)| *known != key);
        self.answers.push((key, answer));
        self
    }

    /// Calls a tool.
    pub async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Reads a resource.
    pub async fn read(&self, uri: &str) -> Answer {
        self.request("resources/read", json!({ "uri": uri })).await
    }

    /// Gets the messages of a prompt.
    pub async fn prompt(&self, prompt: &str, arguments: Value) -> Answer {
        self.request("prompts/get", json!({ "name": prompt, "arguments": arguments })).await
    }

    /// Requests all pages of a list. `kind` is `tools`, `resources`, `resources/templates` or `prompts`. [`Answer::names`] returns the
    /// names of the items.
    pub async fn list(&self, kind: &str) -> Answer {
        let method = format!("{kind}/list");
        let mut params = json!({});
        let mut items = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let mut answer = self.request(&method, params).await;
            let Some(page) = answer.list_mut() else { return answer };
            // After the swap, the last answer has the items of all pages so far.
            items.append(page);
            std::mem::swap(page, &mut items);
            let Some(cursor) = answer.result().get("nextCursor") else { return answer };
            params = json!({ "cursor": cursor });
            items = answer.list_mut().map(std::mem::take).unwrap_or_default();
        }
        Answer::failed(format!("{method} has more than {MAX_ROUNDS} pages."))
    }

    /// Sends a request. If the handler asks, the client answers the questions and sends the request again, until the final answer.
    ///
    /// A question without a prepared answer ends the call. [`Answer::text`] then names the question.
    pub async fn request(&self, method: &str, params: Value) -> Answer {
        let (mut params, mut questions) = (params, Map::new());
        for _ in 0..MAX_ROUNDS {
            let answer = self.round(method, params.clone()).await;
            if !answer.is_question() {
                return answer.with_questions(questions);
            }
            let asked = answer.result().get("inputRequests").and_then(Value::as_object).cloned().unwrap_or_default();
            questions.extend(asked.clone());
            let replies = asked.iter().map(|(key, question)| Ok((key.clone(), self.reply_to(key, question)?)));
            let replies: Map<_, _> = match replies.collect::<Result<_, String>>() {
                Ok(replies) => replies,
                Err(problem) => return answer.unanswered(problem).with_questions(questions),
            };
            let Some(members) = params.as_object_mut() else { return answer.with_questions(questions) };
            members.insert("inputResponses".into(), replies.into());
            members.extend(answer.result().get("requestState").map(|state| ("requestState".into(), state.clone())));
        }
        let keys: Vec<_> = questions.keys().map(String::as_str).collect();
        let problem = format!("The call still asks after {MAX_ROUNDS} rounds: {}", keys.join(", "));
        Answer::failed(problem).with_questions(questions)
    }

    /// Sends any HTTP request, to any path. The client does not add its headers to the request.
    ///
    /// An [`http::Request`] whose body is a `Cell<Vec<u8>>` implements [`host::Request`]. For an endpoint
    /// [without authentication](Endpoint::without_auth), it needs an extension with a loopback [`IpAddr`]: the address of the client.
    pub async fn send(&self, request: impl host::Request + 'static) -> Answer {
        let test_host: Rc<dyn Host> = Rc::new(self.host.clone());
        let answer = async { Answer::read(self.endpoint.handle(request, &test_host).await).await };
        self.host.run(answer).await.unwrap_or_else(|stalled| Answer::failed(stalled.to_string()))
    }

    async fn round(&self, method: &str, params: Value) -> Answer {
        let (message, headers) = self.message(method, params);
        let headers = headers.iter().chain(&self.headers);
        let request = http::Request::post(format!("http://localhost{}", self.endpoint.path))
            .extension(IpAddr::from([127, 0, 0, 1]))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        let request = headers.fold(request, |request, (name, value)| request.header(name, value));
        match request.body(Cell::new(message.to_string().into_bytes())) {
            Ok(request) => self.send(request).await,
            Err(problem) => Answer::failed(format!("The request cannot be sent: {problem}")),
        }
    }

    /// Returns the JSON-RPC request, and the headers that repeat parts of it.
    fn message(&self, method: &str, mut params: Value) -> (Value, Vec<(String, String)>) {
        let mut headers = vec![("MCP-Protocol-Version".to_owned(), self.revision.name().to_owned())];
        let mut meta = self.meta.clone();
        if self.revision.era() == Era::Modern {
            meta.insert("io.modelcontextprotocol/protocolVersion".into(), self.revision.name().into());
            meta.insert("io.modelcontextprotocol/clientCapabilities".into(), self.capabilities.clone());
            headers.push(("Mcp-Method".into(), method.into()));
            let of_task = method.starts_with("tasks/").then_some("taskId");
            let target = Method::named(method).and_then(Method::target_param).or(of_task);
            let target = target.and_then(|param| params.get(param)?.as_str());
            headers.extend(target.map(|target| ("Mcp-Name".into(), encoded(target))));
        }
        if let Some(params) = params.as_object_mut() {
            let given = params.remove("_meta");
            meta.extend(given.as_ref().and_then(Value::as_object).cloned().unwrap_or_default());
            if !meta.is_empty() {
                params.insert("_meta".into(), meta.into());
            }
        }
        (json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }), headers)
    }

    /// Returns the answer to the question with the key `key` in the request. In a nested call, this key ends with the key of the handler.
    fn reply_to(&self, key: &str, question: &Value) -> Result<Value, String> {
        let ends_with =
            |known: &str| key.strip_suffix(known).is_some_and(|path| path.is_empty() || path.ends_with('/'));
        let exact = self.answers.iter().find(|(known, _)| known == key);
        let reply = exact.or_else(|| self.answers.iter().find(|(known, _)| ends_with(known)));
        let content = match reply {
            Some((_, PreparedAnswer::Raw(answer))) => return Ok(answer.clone()),
            Some((_, PreparedAnswer::Content(content))) => content.clone(),
            None => {
                return Err(format!(
                    "The call asks `{key}`, and the test does not answer it: use `answer`, `decline` or `cancel` of Client. \
                     The question is {question}"
                ));
            }
        };
        Ok(match question.get("method").and_then(Value::as_str) {
            Some("sampling/createMessage") => {
                json!({ "role": "assistant", "content": { "type": "text", "text": content }, "model": "test" })
            }
            Some("roots/list") => json!({ "roots": content }),
            _ => json!({ "action": "accept", "content": content }),
        })
    }
}

/// Returns the value of a header that repeats `text`. Source: 2026-07-28, basic/transports/streamable-http, "Value Encoding".
fn encoded(text: &str) -> String {
    let is_plain = text.trim() == text && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_plain && !text.starts_with("=?") { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}
