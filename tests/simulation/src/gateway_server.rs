//! The servers that the gateway mounts. What a server answers depends on the request only, and not on the order of requests. An exception is the
//! hostile server: see `hostile.rs`.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use futures::FutureExt;
use futures::channel::oneshot;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::gateway_names::{PAGE, PAGE_TYPE, definition, done, sent_to, text_of};
use crate::gateway_plan::{GatewayPlan, Kind, Listed, MountPlan, Tool, Uri};
use crate::hostile::{self, Hostile};
use crate::ledger::{Invariant, mark};
use crate::network::{Head, Sent, Service, answer};
use crate::program::Era;
use crate::schedule::Owner;
use crate::world::World;

/// The most requests of a connection, as docs/limits.md has them.
const REQUESTS: u64 = 40;
/// The calls of a caller in a minute that the shop executes.
const CALLS: usize = 12;
/// The bytes of a header that a server, or the proxy before it, accepts.
const HEADER: usize = 4000;
/// The time after which a task has ended, in milliseconds.
const TASK: u64 = 5000;

/// The name of a template, of a prompt and of the argument of both.
pub const TEMPLATE: &str = "note://{id}";
pub const PROMPT: &str = "draft";
pub const ARGUMENT: &str = "id";
/// A tool of each server that the gateway hides. Servers do not distinguish upper and lower case in its name.
pub const HIDDEN: &str = "erase";

/// The answer to a request.
pub struct Reply {
    pub status: u16,
    pub kind: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

impl Reply {
    pub fn page(status: u16) -> Self {
        let body = format!("<!doctype html><h1>{status}</h1>");
        Self { status, kind: "text/html", headers: Vec::new(), body }
    }

    pub fn error(status: u16, id: &Value, code: i64, message: &str) -> Self {
        let body = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
        Self { status, kind: "application/json", headers: Vec::new(), body: body.to_string() }
    }

    pub fn result(id: &Value, result: &Value) -> Self {
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        Self { status: 200, kind: "application/json", headers: Vec::new(), body: body.to_string() }
    }

    /// Returns a stream with notifications before the answer.
    pub fn stream(notifications: &[Value], id: &Value, result: &Value) -> Self {
        let last = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        let event = |message: &Value| format!("event: message\ndata: {message}\n\n");
        let body = notifications.iter().chain([&last]).map(event).collect();
        Self { status: 200, kind: "text/event-stream", headers: Vec::new(), body }
    }

    fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// A task of the desk.
struct RemoteTask {
    ends_at: u64,
    text: String,
}

/// A server.
pub struct MountedServer {
    pub world: Rc<World>,
    pub gateway: Rc<GatewayPlan>,
    pub plan: MountPlan,
    /// The state of the hostile server, unless it does nothing but its work.
    hostile: Option<Hostile>,
    sessions: RefCell<BTreeSet<String>>,
    /// The times of the calls of each caller.
    calls: RefCell<BTreeMap<String, Vec<u64>>>,
    tasks: RefCell<BTreeMap<String, RemoteTask>>,
    /// The requests so far, in a form that does not depend on times.
    requests: RefCell<Vec<String>>,
    number: Cell<u64>,
}

impl MountedServer {
    pub fn new(world: &Rc<World>, gateway: &Rc<GatewayPlan>, plan: &MountPlan, is_hostile: bool) -> Rc<Self> {
        Rc::new(Self {
            world: world.clone(),
            gateway: gateway.clone(),
            plan: plan.clone(),
            hostile: is_hostile.then(Hostile::default),
            sessions: RefCell::default(),
            calls: RefCell::default(),
            tasks: RefCell::default(),
            requests: RefCell::default(),
            number: Cell::new(0),
        })
    }

    pub fn kind(&self) -> Kind {
        self.plan.kind
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.borrow().clone()
    }

    /// Returns the version of the definitions.
    fn version(&self) -> u32 {
        let has_changed = self.gateway.change_at.is_some_and(|at| self.world.schedule.elapsed_ms() >= at);
        if has_changed && self.kind() == Kind::Bank { 2 } else { 1 }
    }

    /// Returns the caller to whom the token of a request belongs.
    fn caller_of(&self, request: &Sent) -> Option<String> {
        let token = request.value("authorization")?.strip_prefix("Bearer ")?;
        let (caller, _) = token.strip_prefix("Zq.")?.split_once(&format!("-at-{}.", self.kind().name()))?;
        Some(caller.to_owned())
    }

    /// Checks that a request has nothing that was not meant for this server.
    fn check(&self, request: &Sent, caller: Option<&str>) {
        let name = self.kind().name();
        let reader = format!("server {name}, for {},", caller.unwrap_or("everybody"));
        let token = caller.map_or_else(|| name.to_owned(), |caller| format!("{caller}-at-{name}"));
        let state = format!("state-{name}");
        for (header, value) in &request.headers {
            let allowed: &[&str] =
                if header.eq_ignore_ascii_case("authorization") { &[&token] } else { &["session", "task-id"] };
            self.world.ledger.scan(value.as_bytes(), allowed, &reader);
        }
        let callers = match caller {
            Some(caller) => vec![sent_to(caller, self.kind())],
            None => self.world.callers.iter().map(|caller| sent_to(caller, self.kind())).collect(),
        };
        let allowed: Vec<&str> = callers.iter().map(String::as_str).chain([&*state, "task-id"]).collect();
        self.world.ledger.scan(&request.body, &allowed, &reader);
    }

    /// Returns the answer to a request, or `None` if the server never answers.
    fn reply(&self, request: &Sent) -> Option<Reply> {
        let caller = self.caller_of(request);
        self.check(request, caller.as_deref());
        if request.method != "POST" {
            return Some(Reply::page(if request.method == "DELETE" { 200 } else { 405 }));
        }
        if request.headers.iter().any(|(_, value)| value.len() > HEADER) {
            return Some(Reply::page(self.plan.status));
        }
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else { return Some(Reply::page(400)) };
        let (method, id, params) = (message["method"].as_str().unwrap_or_default(), &message["id"], &message["params"]);
        let number = id.as_str().and_then(|id| id.parse().ok()).unwrap_or(0_u64);
        self.world.ledger.check(number <= REQUESTS, Invariant::Budget, || {
            format!("a connection sends the request {number} to {}", self.kind().name())
        });
        let target = ["name", "uri", "taskId", "cursor"].iter().find_map(|name| params[name].as_str());
        let arguments = &params["arguments"]["number"];
        self.requests.borrow_mut().push(format!("{method} {} {arguments} {caller:?}", target.unwrap_or_default()));
        let is_modern = request.value("mcp-method").is_some();
        if is_modern != (self.plan.era == Era::Modern) {
            let (status, code) = if is_modern { (400, -32_000) } else { (404, -32_601) };
            return Some(Reply::error(status, id, code, "no"));
        }
        if id.is_null() {
            return Some(Reply { status: 202, kind: "text/plain", headers: Vec::new(), body: String::new() });
        }
        if self.plan.era == Era::WithSessions && method != "initialize" {
            let session = request.value("mcp-session-id").unwrap_or_default();
            if !self.sessions.borrow().contains(session) {
                return Some(Reply::error(404, id, -32_001, "Session not found"));
            }
        }
        let uri = params["uri"].as_str().unwrap_or_default();
        let is_foreign = uri.starts_with("skill://") || (uri.starts_with("ui://") && !self.plan.has_apps);
        self.world.ledger.check(!is_foreign, Invariant::OwnAccess, || {
            format!("{} is asked for {uri}, which the gateway does not show", self.kind().name())
        });
        if let Some(hostile) = &self.hostile {
            match hostile.reply(self, method, id, params) {
                hostile::Answer::Normal => {}
                hostile::Answer::Reply(reply) => return Some(reply),
                hostile::Answer::Silence => return None,
            }
        }
        if method == "tools/call" {
            return self.call(id, params, caller.as_deref());
        }
        let capabilities = json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {} });
        let info = json!({ "name": "s", "version": "1" });
        let result = match method {
            "initialize" => {
                let result =
                    json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info });
                if self.plan.era == Era::WithSessions {
                    self.number.set(self.number.get() + 1);
                    let session = mark("session", &format!("{}-{}", self.kind().name(), self.number.get()));
                    self.sessions.borrow_mut().insert(session.clone());
                    return Some(Reply::result(id, &result).header("mcp-session-id", session));
                }
                result
            }
            "server/discover" => {
                json!({ "supportedVersions": ["2026-07-28"], "capabilities": capabilities, "serverInfo": info })
            }
            "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => {
                self.list(method, caller.as_deref())
            }
            "resources/read" if uri == Uri::Note.text() || uri == PAGE => {
                let mime_type = if uri == PAGE { PAGE_TYPE } else { "text/plain" };
                let text = format!("{} {}", self.kind().name(), mark(&text_of(self.kind()), "content"));
                json!({ "contents": [{ "uri": uri, "mimeType": mime_type, "text": text }] })
            }
            "resources/read" => {
                let code = if self.plan.era == Era::Modern { -32_602 } else { -32_002 };
                // Some servers answer such an error with the status of a proxy.
                let status = [200, self.plan.status][usize::from(self.kind() == Kind::Shop)];
                return Some(Reply::error(status, id, code, "There is no such resource."));
            }
            "prompts/get" => {
                let text = format!("{} {}", self.kind().name(), mark(&text_of(self.kind()), "prompt"));
                json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": text } }] })
            }
            "completion/complete" => json!({ "completion": { "values": [self.kind().name()] } }),
            "tasks/get" | "tasks/update" | "tasks/cancel" => return Some(self.task(method, id, params)),
            _ => return Some(Reply::error(404, id, -32_601, "no")),
        };
        Some(self.complete(id, result))
    }

    /// Returns the answer with a result.
    pub fn complete(&self, id: &Value, mut result: Value) -> Reply {
        if self.plan.era == Era::Modern {
            result["resultType"] = json!("complete");
        }
        Reply::result(id, &result)
    }

    /// Returns the result of a list. The descriptions of the shop belong to its caller.
    pub fn list(&self, method: &str, caller: Option<&str>) -> Value {
        let own = caller.map(|caller| mark(caller, "description")).unwrap_or_default();
        let about = format!("{own} {}", mark(&text_of(self.kind()), "item"));
        let Some(listed) = Listed::ALL.into_iter().find(|listed| listed.names().0 == method) else { return json!({}) };
        let items = match listed {
            Listed::Tools => {
                let mut tools: Vec<_> =
                    self.kind().tools().iter().map(|tool| definition(self.kind(), *tool, self.version())).collect();
                if self.kind().has_callers() {
                    for tool in &mut tools {
                        let own = format!("{} {own}", tool["description"].as_str().unwrap_or_default());
                        tool["description"] = json!(own);
                    }
                }
                tools
            }
            Listed::Resources => {
                let mut resources = vec![json!({ "uri": Uri::Note.text(), "name": "note", "description": about })];
                if self.kind() == Kind::Bank {
                    resources.push(json!({ "uri": PAGE, "name": "form", "mimeType": PAGE_TYPE }));
                }
                resources
            }
            Listed::Templates => vec![json!({ "uriTemplate": TEMPLATE, "name": "notes", "description": about })],
            Listed::Prompts => {
                vec![json!({ "name": PROMPT, "description": about, "arguments": [{ "name": ARGUMENT }] })]
            }
        };
        let mut result = json!({ listed.names().1: items });
        if self.plan.ttl > 0 {
            result["ttlMs"] = json!(self.plan.ttl);
            result["cacheScope"] = json!("private");
        }
        result
    }

    /// Executes a call. Returns `None` if the server never answers.
    fn call(&self, id: &Value, params: &Value, caller: Option<&str>) -> Option<Reply> {
        let arguments = &params["arguments"];
        let is_hidden = params["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(HIDDEN));
        self.world.ledger.check(!is_hidden, Invariant::OwnAccess, || {
            format!("the hidden tool of {} is called as {}", self.kind().name(), params["name"])
        });
        let Some(tool) = self.kind().tools().iter().find(|tool| params["name"] == tool.name()) else {
            return Some(Reply::error(200, id, -32_602, "There is no such tool."));
        };
        if let Some(caller) = caller {
            let now = self.world.schedule.now_ms();
            let mut calls = self.calls.borrow_mut();
            let calls = calls.entry(caller.to_owned()).or_default();
            calls.retain(|at| now < at + 60_000);
            if calls.len() >= CALLS {
                return Some(Reply::page(429).header("retry-after", "60".to_owned()));
            }
            calls.push(now);
        }
        if arguments["do"] == "hang" {
            return None;
        }
        let status = |name: &str| arguments[name].as_u64().and_then(|status| u16::try_from(status).ok());
        if let Some(status) = status("page") {
            return Some(Reply::page(status));
        }
        if let Some(status) = status("invalid") {
            return Some(Reply::error(status, id, -32_602, "The arguments are not valid."));
        }
        let number = arguments["number"].as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or_default();
        let text = done(self.kind(), tool.name(), number);
        let capabilities = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        if *tool == Tool::Ask && self.plan.era == Era::Modern && !capabilities["elicitation"].is_null() {
            let question = format!("May {number} be booked?");
            let state = mark("state-desk", &number.to_string());
            if params.get("requestState").is_none() {
                let form = json!({ "type": "object", "properties": { "reply": { "type": "string" } } });
                let form = json!({ "mode": "form", "message": question, "requestedSchema": form });
                let questions = json!({ "sure": { "method": "elicitation/create", "params": form } });
                let asked =
                    json!({ "resultType": "input_required", "inputRequests": questions, "requestState": state });
                return Some(Reply::result(id, &asked));
            }
            let answer = &params["inputResponses"]["sure"]["content"]["reply"];
            let is_own = params["requestState"] == state && *answer == format!("yes {number}");
            self.world.ledger.check(is_own, Invariant::OwnResult, || format!("{question} gets the answer {params}"));
        }
        if *tool == Tool::Job
            && self.plan.era == Era::Modern
            && !capabilities["extensions"]["io.modelcontextprotocol/tasks"].is_null()
        {
            self.number.set(self.number.get() + 1);
            let task = mark("task-id", &self.number.get().to_string());
            let mut created = state_of(&task, "working");
            let ends_at = self.world.schedule.now_ms() + TASK;
            self.tasks.borrow_mut().insert(task, RemoteTask { ends_at, text });
            created["resultType"] = json!("task");
            return Some(Reply::result(id, &created));
        }
        Some(self.complete(id, self.result_of(&text)))
    }

    fn result_of(&self, text: &str) -> Value {
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        if self.kind() == Kind::Odd { hostile::odd(result) } else { result }
    }

    /// Answers a request about a task.
    fn task(&self, method: &str, id: &Value, params: &Value) -> Reply {
        let task = params["taskId"].as_str().unwrap_or_default();
        let mut tasks = self.tasks.borrow_mut();
        if method != "tasks/get" {
            tasks.remove(task);
            return self.complete(id, json!({}));
        }
        let Some(RemoteTask { ends_at, text }) = tasks.get(task) else {
            return Reply::error(200, id, -32_602, "There is no such task.");
        };
        let has_ended = self.world.schedule.now_ms() >= *ends_at;
        let mut state = state_of(task, if has_ended { "completed" } else { "working" });
        if has_ended {
            state["result"] = self.result_of(text);
        }
        self.complete(id, state)
    }
}

/// Returns the description of a task.
fn state_of(task: &str, status: &str) -> Value {
    json!({
        "taskId": task, "status": status, "createdAt": "2026-01-02T03:04:05Z", "lastUpdatedAt": "2026-01-02T03:04:06Z",
        "ttlMs": 600_000, "pollIntervalMs": 1000,
    })
}

impl Service for MountedServer {
    fn serve(&self, request: Sent, to: oneshot::Sender<Head>) {
        if request.is_cut {
            return;
        }
        let schedule = self.world.schedule.clone();
        let Some(Reply { status, kind, headers: own, body }) = self.reply(&request) else {
            // The server keeps the connection open for longer than anybody waits.
            let silence = async move {
                schedule.sleep(600_000).await;
                drop(to);
            };
            return self.world.schedule.spawn(Owner::World, silence.boxed_local());
        };
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static(kind));
        for (name, value) in own {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(&value).expect("ASCII"));
        }
        let delay = 3 + self.kind() as u64;
        let late = async move {
            schedule.sleep(delay).await;
            answer(to, status, headers, vec![body.into_bytes()]);
        };
        self.world.schedule.spawn(Owner::World, late.boxed_local());
    }
}
