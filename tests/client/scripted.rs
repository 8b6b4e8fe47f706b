//! A scripted server with a tool that has an effect, and the rules for a client that calls this tool. A fuzz target also uses this file.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use edge_mcp::client::{AuthorizationServer, ClientCredentials, ClientError, Executed, McpClient, Transport, Upstream};
use edge_mcp::host::{FetchError, Fetched, Host, Opened, Outbound};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use http::{HeaderMap, Method};
use serde_json::{Value, json};

use crate::peer::{Answer, End, json_answer, result};

/// The statuses of answers.
pub const STATUSES: [u16; 23] =
    [200, 202, 301, 303, 307, 308, 400, 401, 403, 404, 405, 406, 409, 415, 418, 422, 429, 500, 502, 503, 521, 522, 526];

/// The codes of JSON-RPC errors in answers.
pub const CODES: [i64; 12] =
    [-32_700, -32_600, -32_601, -32_602, -32_603, -32_000, -32_001, -32_002, -32_020, -32_021, -32_022, 7];

/// The revisions that the error for an unsupported revision names.
pub const OFFERS: [&[&str]; 4] = [&[], &["2026-07-28"], &["2025-11-25"], &["2026-07-28", "2025-11-25"]];

/// The kind of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    Modern,
    WithSessions,
    WithoutSessions,
}

impl Server {
    pub const ALL: [Self; 3] = [Self::Modern, Self::WithSessions, Self::WithoutSessions];

    pub fn revision(self) -> Revision {
        if self == Self::Modern { Revision::V2026_07_28 } else { Revision::V2025_11_25 }
    }
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Modern,
    /// A legacy request of a session.
    OfSession,
    /// A legacy request without a session.
    Legacy,
}

/// An answer that is not a result of the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// A web page.
    Page(u16),
    /// A JSON-RPC error, which may name revisions.
    Error(u16, i64, &'static [&'static str]),
    /// The connection ends before the head.
    NoHead,
    /// A stream without a response, or JSON that is not valid.
    Broken { is_stream: bool },
    /// A modern result that asks for input, without a question.
    Asks,
}

impl Failing {
    /// Returns whether the client may send a call with an effect again.
    ///
    /// The status 401 says that the request was not applied. A modern server rejects a revision or a header with status 400, before it
    /// executes the method. A legacy server must answer with status 404 if the session has ended.
    pub fn permits_repetition(self, form: Form) -> bool {
        matches!(
            (form, self),
            (_, Self::Page(401) | Self::Error(401, ..))
                | (Form::Modern, Self::Error(400, -32_020 | -32_022, _))
                | (Form::OfSession, Self::Page(404) | Self::Error(404, -32_600 | -32_000 | -32_001, _))
        )
    }

    /// Returns whether the answer says that the server did not execute the call.
    pub fn denies_execution(self, form: Form) -> bool {
        // Redirects, the authorization and rate limits answer with these statuses, whatever the body.
        let is_denied = |status| matches!(status, 307 | 308 | 401 | 403 | 429);
        let is_read = |status| !matches!(status, 300..=399 | 401 | 403 | 429 | 500..);
        self.permits_repetition(form)
            || match self {
                Self::Page(status) => is_denied(status),
                Self::Error(status, ..) if !is_read(status) => is_denied(status),
                Self::Error(404, -32_601, _) => form == Form::Modern,
                _ => false,
            }
    }

    fn answer(self) -> Answer {
        match self {
            Self::Page(status) => Answer::new(status, "text/html", "<p>SECRET-4711</p>"),
            Self::Error(status, code, offered) => {
                let error = json!({ "code": code, "message": "no", "data": { "supported": offered } });
                json_answer(status, json!({ "jsonrpc": "2.0", "id": "$id", "error": error }))
            }
            Self::NoHead => Answer::new(200, "", "").end(End::NoHead),
            Self::Broken { is_stream: true } => Answer::new(200, "text/event-stream", "data:\n\n"),
            Self::Broken { is_stream: false } => Answer::new(200, "application/json", "{"),
            Self::Asks => result(json!({ "resultType": "input_required", "requestState": "s" })),
        }
    }
}

/// The script's answer to a request. `executes` says whether the server executes the call anyway.
#[derive(Clone, Copy, Debug)]
pub struct Scripted {
    pub failing: Failing,
    pub executes: bool,
}

/// A call that the server got.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub form: Form,
    /// The answer. `None` is the result of the tool.
    pub failing: Option<Failing>,
    pub is_executed: bool,
}

/// The script: it gets the method and the form of a request. `None` means the usual answer of the server.
type Script = dyn FnMut(&str, Form) -> Option<Scripted>;

/// A scripted server. Clones are the same server.
#[derive(Clone)]
pub struct Shop(Rc<State>);

struct State {
    server: Cell<Server>,
    script: RefCell<Box<Script>>,
    /// The number of sessions, which is the id of the last one.
    sessions: Cell<usize>,
    requests: Cell<usize>,
    calls: RefCell<Vec<Call>>,
}

impl Shop {
    pub fn new(server: Server, script: impl FnMut(&str, Form) -> Option<Scripted> + 'static) -> Self {
        Self(Rc::new(State {
            server: Cell::new(server),
            script: RefCell::new(Box::new(script)),
            sessions: Cell::default(),
            requests: Cell::default(),
            calls: RefCell::default(),
        }))
    }

    pub fn upstream(&self) -> Upstream {
        Upstream::via("https://parcels.example/mcp", self.clone()).expect("a URL")
    }

    /// Replaces the server by one of another kind.
    pub fn replace(&self, server: Server) {
        self.0.server.set(server);
    }

    /// Returns the calls since the last time, and the number of requests.
    pub fn take(&self) -> (Vec<Call>, usize) {
        (self.0.calls.take(), self.0.requests.take())
    }

    fn answer(&self, request: &Outbound) -> Answer {
        let header =
            |name: &str| request.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone());
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let session = header("mcp-session-id");
        let form = match (header("mcp-method"), &session) {
            (Some(_), _) => Form::Modern,
            (None, Some(_)) => Form::OfSession,
            (None, None) => Form::Legacy,
        };
        let scripted = (self.0.script.borrow_mut())(method, form);
        let is_current = session.is_none_or(|id| id.as_bytes() == self.0.sessions.get().to_string().as_bytes());
        let failing = scripted.map(|scripted| scripted.failing).or_else(|| self.rejection(method, form, is_current));
        if method == "tools/call" {
            let is_executed = scripted.map_or(failing.is_none(), |scripted| scripted.executes);
            self.0.calls.borrow_mut().push(Call { form, failing, is_executed });
        }
        failing.map_or_else(|| self.usual(method, form), Failing::answer)
    }

    /// Returns the usual answer to a request that does not fit the server.
    fn rejection(&self, method: &str, form: Form, is_current: bool) -> Option<Failing> {
        match (self.0.server.get(), form, method) {
            (Server::Modern, Form::Modern, _) => None,
            (Server::Modern, _, "initialize") => Some(Failing::Error(404, -32_601, &[])),
            (Server::Modern, ..) => Some(Failing::Error(400, -32_602, &[])),
            (Server::WithSessions, Form::Modern, _) => Some(Failing::Error(400, -32_000, &[])),
            (Server::WithSessions, Form::OfSession, _) if !is_current => Some(Failing::Error(404, -32_001, &[])),
            (Server::WithSessions, Form::Legacy, "tools/call" | "tools/list") => {
                Some(Failing::Error(400, -32_000, &[]))
            }
            (Server::WithoutSessions, _, "server/discover") => Some(Failing::Error(200, -32_601, &[])),
            _ => None,
        }
    }

    fn usual(&self, method: &str, form: Form) -> Answer {
        let mut members = match method {
            "initialize" => json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} } }),
            "tools/list" => json!({ "tools": [{ "name": "pay", "inputSchema": { "type": "object" } }] }),
            "tools/call" => json!({ "content": [{ "type": "text", "text": "paid" }] }),
            "server/discover" => json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } }),
            _ => return Answer::new(202, "", ""),
        };
        if self.0.server.get() == Server::Modern && form == Form::Modern {
            members["resultType"] = json!("complete");
        }
        let answer = result(members);
        if method != "initialize" || self.0.server.get() != Server::WithSessions {
            return answer;
        }
        self.0.sessions.set(self.0.sessions.get() + 1);
        answer.header("mcp-session-id", &self.0.sessions.get().to_string())
    }
}

impl Transport for Shop {
    fn open(&self, request: Outbound, _: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        self.0.requests.set(self.0.requests.get() + 1);
        if request.method != Method::POST {
            return ready(Ok(Opened::new(405, HeaderMap::new(), ""))).boxed_local();
        }
        let answer = self.answer(&request);
        let opened = if answer.end == End::NoHead {
            Err(FetchError::Failed("connection lost".into()))
        } else {
            let body = answer.chunks_for(&crate::peer::id_of(&request.body)).concat();
            Ok(Opened::new(answer.status, answer.headers, body))
        };
        ready(opened).boxed_local()
    }
}

/// Creates a client of the server. With credentials, it can replace a rejected token.
pub fn client_of(upstream: Upstream, has_credentials: bool) -> McpClient {
    let credentials = || {
        let server = AuthorizationServer::token_endpoint("https://auth.example/token").expect("a URL");
        ClientCredentials::basic(server, "desk", "secret").expect("credentials")
    };
    let upstream = if has_credentials { upstream.client_credentials(credentials()) } else { upstream };
    McpClient::builder("desk", "1.0.0").server("parcels", upstream).build().expect("a client")
}

thread_local! {
    /// The time of the next call. Only a token that is a minute old is replaced.
    static NOW: Cell<u64> = Cell::new(TestHost::new().now_ms());
}

/// Makes one call of the tool in a connection of its own, a minute after the call before it.
pub fn pay(client: &McpClient) -> Result<String, ClientError> {
    let token = r#"{"access_token":"t","token_type":"bearer","expires_in":3600}"#;
    let host =
        TestHost::new().clock(NOW.replace(NOW.get() + 60_000)).fetch(move |_, _| ready(Ok(Fetched::new(200, token))));
    let cx = testing::context(&host);
    let connection = client.connect(&cx);
    let call = connection.call("parcels_pay", json!({ "amount": 7 })).expect("a call");
    let outcome = testing::run(host.run(async move { call.await.map(|result| result.text()) })).expect("the call ends");
    drop(connection);
    // The end of a session is a task of its own.
    testing::run(host.run(async {})).expect("the tasks end");
    outcome
}

/// Checks a call with the log of the server.
pub fn check(outcome: &Result<String, ClientError>, calls: &[Call]) {
    let log = || format!("{outcome:?}\n{calls:#?}");
    // Each repetition has a reason. A question is not a repetition.
    for call in calls.iter().rev().skip(1) {
        let may_follow = call.failing.is_some_and(|it| it == Failing::Asks || it.permits_repetition(call.form));
        assert!(may_follow, "a call was sent again without a proof: {}", log());
    }
    let effects = calls.iter().filter(|call| call.is_executed).count();
    let denied = calls.iter().filter(|call| call.failing.is_some_and(|it| it.denies_execution(call.form)));
    let lies = denied.filter(|call| call.is_executed).count();
    assert!(effects <= lies + 1, "{effects} effects: {}", log());
    match outcome {
        Ok(_) => assert!(calls.last().is_some_and(|call| call.failing.is_none()), "{}", log()),
        Err(error) if error.executed() == Executed::No => {
            let is_denied = |call: &Call| call.failing.is_some_and(|it| it.denies_execution(call.form));
            assert!(calls.iter().all(is_denied) && effects == lies, "{}", log());
        }
        Err(error) => assert!(error.executed() == Executed::Unknown, "{}", log()),
    }
}

/// The choices of a random script. After the last byte, each choice is the first one.
#[derive(Clone)]
struct Choices(Rc<RefCell<VecDeque<u8>>>);

impl Choices {
    fn below(&self, count: usize) -> usize {
        usize::from(self.0.borrow_mut().pop_front().unwrap_or(0)) % count
    }

    fn one_of<T: Copy>(&self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn failing(&self, form: Form) -> Failing {
        match self.below(8) {
            0 | 1 => Failing::Page(self.one_of(&STATUSES)),
            2 if form == Form::Modern => Failing::Asks,
            3 => Failing::NoHead,
            4 => Failing::Broken { is_stream: self.below(2) == 0 },
            5 => Failing::Error(self.one_of(&[200, 400, 404]), self.one_of(&CODES), self.one_of(&OFFERS)),
            _ => Failing::Error(self.one_of(&STATUSES), self.one_of(&CODES), self.one_of(&OFFERS)),
        }
    }
}

/// Makes calls at a server with a random script, and checks each of them.
///
/// The first byte selects the kind of the server, its honesty, and the settings of the client. The others are the choices of the script.
/// An honest server does not execute a call whose answer denies this. The answers to other methods may be random too.
pub fn run(input: &[u8]) {
    let choices = Choices(Rc::new(RefCell::new(input.iter().copied().collect())));
    let server = choices.one_of(&Server::ALL);
    let (is_honest, is_set, has_credentials) = (choices.below(4) > 0, choices.below(3) == 1, choices.below(2) == 1);
    let script = choices.clone();
    let shop = Shop::new(server, move |method, form| {
        // Handshakes fail less often, so that calls follow.
        let usual = if method == "tools/call" { 3 } else { 11 };
        if script.below(12) < usual || method.is_empty() {
            return None;
        }
        let failing = script.failing(form);
        let executes =
            script.below(2) == 1 && !(is_honest && failing.denies_execution(form)) && failing != Failing::Asks;
        Some(Scripted { failing, executes })
    });
    let upstream = if is_set { shop.upstream().revision(server.revision()) } else { shop.upstream() };
    let client = client_of(upstream, has_credentials);
    for _ in 0..3 {
        let outcome = pay(&client);
        let (calls, requests) = shop.take();
        check(&outcome, &calls);
        let effects = calls.iter().filter(|call| call.is_executed).count();
        assert!(!is_honest || effects <= 1, "{effects} effects at an honest server");
        assert!(requests <= 42, "{requests} requests");
        if choices.below(4) == 3 {
            shop.replace(choices.one_of(&Server::ALL));
        }
    }
}
