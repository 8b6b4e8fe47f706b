//! A server with durable tasks, its objects, and its clients.

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::host::FetchLimits;
use edge_mcp::testing::{self, Answer, Client, TestHost, TestTasks};
use edge_mcp::{Context, Endpoint, HandlerError, McpServer, McpServerBuilder, StaticTokens};
use serde_json::{Value, json};

pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A caller for each letter. Each has the scope `jobs`, except for Eve.
pub(crate) const TOKENS: &str = r#"[
    {"token": "ada", "subject": "ada", "scopes": ["jobs"]},
    {"token": "bob", "subject": "bob", "scopes": ["jobs"]},
    {"token": "eve", "subject": "eve", "scopes": []}
]"#;

/// A log that handlers write.
pub(crate) type Seen = Rc<RefCell<Vec<String>>>;

pub(crate) struct World {
    pub(crate) host: TestHost,
    pub(crate) tasks: TestTasks,
    pub(crate) endpoint: Rc<Endpoint>,
    /// The token of its clients.
    token: Option<&'static str>,
}

/// Returns an endpoint of the server `s` with these items.
pub(crate) fn endpoint(items: impl FnOnce(McpServerBuilder) -> McpServerBuilder) -> Endpoint {
    let server = items(McpServer::builder("s", "1")).build().expect("a valid server");
    testing::endpoint(move |_| Ok(server.clone()))
}

pub(crate) fn with_tokens(endpoint: Endpoint) -> Endpoint {
    endpoint.auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"))
}

/// Returns the capabilities of a client that has tasks and can be asked everything.
pub(crate) fn all() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {}, "extensions": { EXTENSION: {} } })
}

impl World {
    pub(crate) fn of(endpoint: Endpoint) -> Self {
        let host = TestHost::new();
        Self::on(host, endpoint)
    }

    pub(crate) fn on(host: TestHost, endpoint: Endpoint) -> Self {
        let tasks = TestTasks::new(&host);
        let endpoint = tasks.serve(endpoint);
        Self { host, tasks, endpoint, token: None }
    }

    /// Creates a world whose network never answers, for [`pause`].
    pub(crate) fn slow(endpoint: Endpoint) -> Self {
        Self::on(TestHost::new().fetch(|_, _| pending()), endpoint)
    }

    /// Creates the server `s` with these items.
    pub(crate) fn new(items: impl FnOnce(McpServerBuilder) -> McpServerBuilder) -> Self {
        Self::of(endpoint(items))
    }

    /// Lets its clients send this token.
    pub(crate) fn signed_in(self, token: &'static str) -> Self {
        Self { token: Some(token), ..self }
    }

    /// Replaces the program.
    pub(crate) fn deploy(&mut self, endpoint: Endpoint) {
        self.endpoint = self.tasks.serve(endpoint);
    }

    /// Returns a client with tasks.
    pub(crate) fn client(&self) -> Client<'_> {
        self.plain().capabilities(all())
    }

    /// Returns a client without tasks.
    pub(crate) fn plain(&self) -> Client<'_> {
        let client = Client::new(&self.endpoint).host(&self.host);
        match self.token {
            Some(token) => client.token(token),
            None => client,
        }
    }

    /// Calls a tool, and returns the id of its task.
    pub(crate) async fn start(&self, tool: &str, arguments: Value) -> String {
        created(&self.client().call(tool, arguments).await)
    }

    /// Returns the state of a task.
    pub(crate) async fn get(&self, id: &str) -> Value {
        let answer = self.client().request("tasks/get", json!({ "taskId": id })).await;
        assert!(answer.error().is_none(), "{}", answer.text());
        answer.result().clone()
    }

    pub(crate) async fn status(&self, id: &str) -> String {
        self.get(id).await["status"].as_str().expect("a status").to_owned()
    }

    pub(crate) async fn update(&self, id: &str, answers: Value) -> Answer {
        self.client().request("tasks/update", json!({ "taskId": id, "inputResponses": answers })).await
    }

    pub(crate) async fn cancel(&self, id: &str) -> Answer {
        self.client().request("tasks/cancel", json!({ "taskId": id })).await
    }

    pub(crate) async fn run(&self) {
        self.tasks.run().await.expect("the attempts end");
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.host.advance(Duration::from_secs(seconds));
    }

    /// Runs the task to its end, which may take sleeps but no answers, and returns its state.
    pub(crate) async fn finish(&self, id: &str) -> Value {
        for _ in 0..1000 {
            self.run().await;
            let state = self.get(id).await;
            if state["status"] != "working" {
                return state;
            }
            self.to_next_alarm();
        }
        panic!("the task does not end");
    }

    /// Advances the clock to the next alarm.
    pub(crate) fn to_next_alarm(&self) {
        let next = self.tasks.next_alarm().expect("an alarm");
        let now = edge_mcp::host::Host::now_ms(&self.host);
        self.host.advance(Duration::from_millis(next.saturating_sub(now)));
    }

    /// Returns the keys of all rows.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.tasks.rows().into_iter().map(|(key, _)| key).collect()
    }

    /// Returns whether a line of the log contains `text`.
    pub(crate) fn logs(&self, text: &str) -> bool {
        self.host.log_text().contains(text)
    }
}

/// Returns the id of the task in an answer.
pub(crate) fn created(answer: &Answer) -> String {
    assert_eq!(answer.result()["resultType"], "task", "{}", answer.json());
    answer.result()["taskId"].as_str().expect("an id").to_owned()
}

/// Returns the id of the job in an answer of a tool.
pub(crate) fn job_id(answer: &Answer) -> String {
    let id = answer.result()["_meta"]["edge-mcp/job"].as_str();
    id.unwrap_or_else(|| panic!("no job: {}", answer.json())).to_owned()
}

/// Returns the text of the result of a completed task.
pub(crate) fn text(state: &Value) -> &str {
    assert_eq!(state["status"], "completed", "{state}");
    state["result"]["content"][0]["text"].as_str().expect("a text")
}

/// Waits within an attempt, for a request that is not answered within this time. The network of the world is [slow](World::slow).
pub(crate) async fn pause(cx: &Context, seconds: u64) {
    let request = http::Request::get("https://slow.example/").body(String::new()).expect("a request");
    let limits = FetchLimits { time: Duration::from_secs(seconds), ..FetchLimits::default() };
    assert!(cx.fetch(request, limits).await.is_err(), "the network answers");
}

pub(crate) fn note(seen: &Seen, text: impl Into<String>) {
    seen.borrow_mut().push(text.into());
}

/// Runs a step that notes its idempotency key in `seen`, as `name key`.
pub(crate) async fn effect(cx: &Context, seen: &Seen, name: &str, input: u32) -> Result<u32, HandlerError> {
    cx.step(name, &input, async || {
        note(seen, format!("{name} {}", cx.idempotency_key()?));
        Ok(input)
    })
    .await
}

/// Checks that each effect in `seen` has one key, and returns the names of the effects, sorted.
pub(crate) fn effects(seen: &Seen) -> Vec<String> {
    let mut all = seen.borrow().clone();
    all.sort();
    all.dedup();
    let names: Vec<_> = all.iter().map(|it| it.split(' ').next().unwrap_or_default().to_owned()).collect();
    let mut unique = names.clone();
    unique.dedup();
    assert_eq!(names, unique, "an effect has two keys: {all:?}");
    names
}
