//! The other servers, of each era. A server records what it executes for whom, and it can fail, lie, ask, and stay silent.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use futures::FutureExt;
use futures::channel::oneshot;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::authorization::{challenge, resource_metadata};
use crate::case::ServerPlan;
use crate::faults::Point;
use crate::ledger::{Invariant, mark};
use crate::network::{Head, Sent, Service, answer};
use crate::program::Era;
use crate::schedule::Owner;
use crate::world::World;

pub fn name(server: usize) -> String {
    format!("s{server}")
}

pub fn origin(server: usize) -> String {
    format!("https://s{server}.example")
}

pub fn url(server: usize) -> String {
    format!("{}/mcp", origin(server))
}

/// The token of a caller at a server.
pub fn token(server: usize, caller: &str) -> String {
    mark(&format!("{caller}-at-s{server}"), "token")
}

/// The result of a call.
pub fn done(server: usize, number: u32) -> String {
    format!("<s{server}:{number}>")
}

/// A call of a server: the id of the call of the caller, the server, and the number. A program can make equal calls.
type Key = (String, usize, u32);

/// The calls of other servers: their arrivals, executions and answers.
#[derive(Default)]
pub struct RemoteCalls(RefCell<BTreeMap<Key, RemoteCall>>);

impl RemoteCalls {
    pub fn executions(&self, call: &str, server: usize, number: u32) -> usize {
        self.0.borrow().get(&(call.to_owned(), server, number)).map_or(0, |call| call.executions)
    }
}

#[derive(Default)]
struct RemoteCall {
    arrivals: usize,
    executions: usize,
    /// The number of arrivals after which the call may be sent again: their answers prove that it was not executed, or they ask.
    denials: usize,
    /// Whether the server has said so although it has executed the call.
    is_lie: bool,
}

/// Checks the report of the client about one of `most` equal calls: whether the server has executed it.
pub fn reported(world: &World, call: &str, (server, number): (usize, u32), most: usize, is_executed: bool) {
    let calls = world.remote_calls.0.borrow();
    let known = calls.get(&(call.to_owned(), server, number));
    let executions = known.map_or(0, |known| known.executions);
    if is_executed {
        world.ledger.check(executions > 0, Invariant::NoLostEffect, || {
            format!("call {number} of {call} has a result, and server {server} has not executed it")
        });
    } else if most == 1 && world.is_strict() && known.is_some_and(|known| !known.is_lie) {
        world.ledger.check(executions == 0, Invariant::NoUnprovenCall, || {
            format!("call {number} of {call} is reported as not executed, and server {server} has executed it")
        });
    }
}

/// The statuses and codes of the answers to calls that were executed. None of them says that the call was not executed. A server without
/// sessions can send the last two as well, which say at others that the session has ended.
const LATE_FAILURES: [(u16, Option<i64>); 10] = [
    (500, None),
    (502, None),
    (400, None),
    (405, None),
    (200, Some(-32_603)),
    (400, Some(-32_600)),
    (400, Some(-32_602)),
    (200, Some(-32_601)),
    (404, None),
    (404, Some(-32_001)),
];

/// A server.
pub struct Server {
    pub world: Rc<World>,
    pub number: usize,
    pub plan: ServerPlan,
    /// The identity of each session, and whether it still exists.
    sessions: RefCell<BTreeMap<String, (String, bool)>>,
    /// The version of the tools.
    pub version: RefCell<u32>,
    /// Whether each page of its lists has a next page.
    pub is_endless: Cell<bool>,
}

/// The answer to a request.
struct Answer {
    status: u16,
    body: Value,
    session: Option<String>,
}

impl Answer {
    fn new(status: u16, body: Value) -> Self {
        Self { status, body, session: None }
    }

    fn error(status: u16, code: i64) -> Self {
        Self::new(status, json!({ "error": { "code": code, "message": "no" } }))
    }
}

impl Server {
    pub fn new(world: &Rc<World>, number: usize, plan: &ServerPlan) -> Rc<Self> {
        let (plan, sessions) = (plan.clone(), RefCell::default());
        Rc::new(Self {
            world: world.clone(),
            number,
            plan,
            sessions,
            version: RefCell::new(1),
            is_endless: Cell::new(false),
        })
    }

    fn is_modern(&self) -> bool {
        self.plan.era == Era::Modern
    }

    /// Returns the caller to whom the token of a request belongs.
    pub fn caller_of(&self, request: &Sent) -> Option<String> {
        let token = request.value("authorization")?.strip_prefix("Bearer ")?;
        let (caller, _) = token.strip_prefix("Zq.")?.split_once(&format!("-at-s{}.", self.number))?;
        Some(caller.to_owned())
    }

    /// Returns the caller to whom a session belongs, or the token of the program.
    fn identity(&self, request: &Sent) -> String {
        self.caller_of(request).unwrap_or_else(|| request.value("authorization").unwrap_or_default().to_owned())
    }

    /// Returns whether a request has no token that the server accepts.
    fn is_unauthorized(&self, request: &Sent) -> bool {
        if self.plan.sign_in.is_none() {
            return self.plan.has_tokens && self.caller_of(request).is_none();
        }
        let token = request.value("authorization").and_then(|header| header.strip_prefix("Bearer "));
        token.is_none_or(|token| !self.world.sign_ins.grants.accept(&self.world, self.number, token))
    }

    /// Checks that a request has nothing that was not meant for this server.
    fn check(&self, request: &Sent) {
        let (own, caller) = (name(self.number), self.caller_of(request));
        let of_caller = caller.as_ref().map(|caller| format!("{caller}-at-{own}"));
        let reader = format!("server {own}, for {},", caller.as_deref().unwrap_or("everybody"));
        for (name, value) in &request.headers {
            let mut allowed = vec!["session"];
            if name.eq_ignore_ascii_case("authorization") {
                allowed.push(of_caller.as_deref().unwrap_or(&own));
            }
            self.world.ledger.scan(value.as_bytes(), &allowed, &reader);
        }
        let mut allowed: Vec<&str> = vec!["state", &own];
        match &caller {
            Some(caller) => allowed.push(caller),
            // Without tokens of callers, the server gets the arguments of all of them.
            None => allowed.extend(self.world.callers.iter().map(String::as_str)),
        }
        self.world.ledger.scan(&request.body, &allowed, &reader);
    }

    fn answer(&self, request: &Sent) -> Option<Answer> {
        let faults = &self.world.faults;
        self.check(request);
        if request.method != "POST" {
            return Some(Answer::new(if request.method == "DELETE" { 200 } else { 405 }, Value::Null));
        }
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            return Some(Answer::error(400, -32_700));
        };
        let method = message["method"].as_str().unwrap_or_default();
        self.check_budget(&message);
        let is_modern = request.value("mcp-method").is_some();
        if is_modern != self.is_modern() {
            return Some(if is_modern { Answer::error(400, -32_000) } else { Answer::error(404, -32_601) });
        }
        if faults.at(Point::ServerFails).is_some() {
            self.arrived(&message, |_| {});
            return Some(Answer::new(500, Value::Null));
        }
        if self.is_unauthorized(request) {
            return Some(Answer::new(401, Value::Null));
        }
        if let Some(refused) = self.session(request, method) {
            self.arrived(&message, |call| call.denials += 1);
            return Some(refused);
        }
        if method == "tools/call" {
            return self.call(&message["params"], &message);
        }
        if faults.at(Point::ServerIsSilent).is_some() {
            return None;
        }
        Some(
            Answer::new(200, json!({ "result": self.result(method, request, &message) }))
                .with_session(self, method, request),
        )
    }

    /// Returns the refusal of a request without the session that it needs.
    fn session(&self, request: &Sent, method: &str) -> Option<Answer> {
        if self.plan.era != Era::WithSessions || method == "initialize" {
            return None;
        }
        let identity = self.identity(request);
        let mut sessions = self.sessions.borrow_mut();
        let Some((of_session, is_alive)) = request.value("mcp-session-id").and_then(|id| sessions.get_mut(id)) else {
            return Some(Answer::error(400, -32_000));
        };
        self.world.ledger.check(*of_session == identity, Invariant::NoLeak, || {
            format!("a session of {of_session} is used by {identity}")
        });
        if self.world.faults.at(Point::SessionEnds).is_some() {
            *is_alive = false;
        }
        (!*is_alive).then(|| Answer::error(404, -32_001))
    }

    fn result(&self, method: &str, request: &Sent, message: &Value) -> Value {
        let capabilities = json!({ "tools": {}, "resources": {}, "prompts": {}, "logging": {} });
        let mut result = match method {
            "initialize" => {
                json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": { "name": "s", "version": "1" } })
            }
            "server/discover" => {
                json!({ "supportedVersions": ["2026-07-28"], "capabilities": capabilities, "serverInfo": { "name": "s", "version": "1" } })
            }
            _ => self.item(request, message).unwrap_or_else(|| json!({})),
        };
        if self.is_modern() {
            result["resultType"] = json!("complete");
        }
        result
    }

    /// Records the arrival of a call, and changes its record.
    fn arrived(&self, message: &Value, change: impl FnOnce(&mut RemoteCall)) {
        let arguments = &message["params"]["arguments"];
        let (Some(call), Some(number)) = (arguments["call"].as_str(), arguments["number"].as_u64()) else { return };
        let key = (call.to_owned(), self.number, u32::try_from(number).unwrap_or_default());
        let most = usize::try_from(arguments["most"].as_u64().unwrap_or_default()).unwrap_or_default();
        let mut calls = self.world.remote_calls.0.borrow_mut();
        let known = calls.entry(key).or_default();
        let is_unproven = known.arrivals >= most + known.denials && self.world.is_strict();
        self.world.ledger.check(!is_unproven, Invariant::NoUnprovenCall, || {
            format!("call {number} of {call} was sent again, and no answer of server {} permits it", self.number)
        });
        known.arrivals += 1;
        change(known);
    }

    /// Executes a call. Returns `None` if the server never answers.
    fn call(&self, params: &Value, message: &Value) -> Option<Answer> {
        let faults = &self.world.faults;
        let arguments = &params["arguments"];
        let number = u32::try_from(arguments["number"].as_u64().unwrap_or_default()).unwrap_or_default();
        let question = format!("at {} {number}", name(self.number));
        let state = mark("state", &format!("{}-{number}", self.number));
        let is_retry = params.get("requestState").is_some();
        let can_ask = !params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["elicitation"].is_null();
        let asks = arguments["asks"] == true || (!is_retry && faults.at(Point::ServerAsks).is_some());
        if asks && !is_retry && can_ask {
            // The next round of the call is not a repetition.
            self.arrived(message, |call| call.denials += 1);
            let form =
                json!({ "type": "object", "properties": { "reply": { "type": "string" } }, "required": ["reply"] });
            let request = json!({ "mode": "form", "message": question, "requestedSchema": form });
            let questions = json!({ "sure": { "method": "elicitation/create", "params": request } });
            let result = json!({ "resultType": "input_required", "inputRequests": questions, "requestState": state });
            return Some(Answer::new(200, json!({ "result": result })));
        }
        if is_retry {
            self.world.ledger.check(params["requestState"] == state, Invariant::OwnResult, || {
                format!("{question} gets the state {}", params["requestState"])
            });
            let reply = params["inputResponses"]["sure"]["content"]["reply"].as_str().unwrap_or_default();
            self.world.ledger.check(reply.contains(&question), Invariant::OwnResult, || {
                format!("{question} gets the answer {}", params["inputResponses"])
            });
        }
        let is_lie = faults.at(Point::ServerLies).is_some();
        self.arrived(message, |call| {
            call.executions += 1;
            call.denials += usize::from(is_lie);
            call.is_lie |= is_lie;
        });
        self.world.trace(|| format!("{} executes {number}", name(self.number)));
        if is_lie {
            let code = if self.is_modern() { -32_601 } else { -32_001 };
            return Some(Answer::error(404, code));
        }
        if let Some(fault) = faults.at(Point::ServerFailsLate) {
            let count = LATE_FAILURES.len() - if self.plan.era == Era::WithoutSessions { 0 } else { 2 };
            let (status, code) = LATE_FAILURES[fault.size(count)];
            return Some(code.map_or_else(|| Answer::new(status, Value::Null), |code| Answer::error(status, code)));
        }
        if faults.at(Point::ServerIsSilent).is_some() {
            return None;
        }
        let mut result = json!({ "content": [{ "type": "text", "text": done(self.number, number) }] });
        if self.is_modern() {
            result["resultType"] = json!("complete");
        }
        Some(Answer::new(200, json!({ "result": result })))
    }
}

impl Answer {
    /// Adds a new session to the answer to `initialize`.
    fn with_session(mut self, server: &Server, method: &str, request: &Sent) -> Self {
        if method == "initialize" && server.plan.era == Era::WithSessions {
            let mut sessions = server.sessions.borrow_mut();
            let id = mark("session", &format!("{}-{}", server.number, sessions.len()));
            sessions.insert(id.clone(), (server.identity(request), true));
            self.session = Some(id);
        }
        self
    }
}

impl Service for Server {
    fn serve(&self, request: Sent, to: oneshot::Sender<Head>) {
        if request.is_cut {
            return;
        }
        if request.url.contains("/.well-known/") {
            return resource_metadata(&self.world, self.number, &self.plan, &request, to);
        }
        let Some(Answer { status, mut body, session }) = self.answer(&request) else {
            // The server keeps the connection open for longer than anybody waits.
            let schedule = self.world.schedule.clone();
            let silence = async move {
                schedule.sleep(600_000).await;
                drop(to);
            };
            self.world.schedule.spawn(Owner::World, silence.boxed_local());
            return;
        };
        let mut headers = HeaderMap::new();
        let message = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
        if status == 401 && self.plan.sign_in.is_some() {
            headers.insert("www-authenticate", challenge(&self.world, self.number));
        }
        let Some(id) = message.get("id").filter(|_| body.is_object()) else {
            return answer(to, if status == 200 { 202 } else { status }, headers, Vec::new());
        };
        body["jsonrpc"] = json!("2.0");
        body["id"] = id.clone();
        if let Some(session) = session {
            headers.insert("mcp-session-id", HeaderValue::from_str(&session).expect("ASCII"));
        }
        let is_stream = status == 200 && self.world.below(3) == 0;
        let kind = if is_stream { "text/event-stream" } else { "application/json" };
        headers.insert("content-type", HeaderValue::from_static(kind));
        let stray = json!({ "jsonrpc": "2.0", "id": "of another request", "result": { "content": [], "resultType": "complete" } });
        let is_stray = is_stream && self.world.faults.at(Point::ServerConfuses).is_some();
        let stray = if is_stray { format!("event: message\ndata: {stray}\n\n") } else { String::new() };
        let notifications = if is_stream && message["method"] == "tools/call" {
            self.notifications(&request, &message)
        } else {
            Vec::new()
        };
        let event = |data: &String| format!("event: message\ndata: {data}\n\n");
        let notifications: String = notifications.iter().map(event).collect();
        let text =
            if is_stream { format!("{notifications}{stray}{}", event(&body.to_string())) } else { body.to_string() };
        let (first, second) = text.as_bytes().split_at(text.len() / 3);
        answer(to, status, headers, vec![first.to_vec(), second.to_vec()]);
    }
}
