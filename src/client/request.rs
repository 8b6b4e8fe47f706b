//! One JSON-RPC request to a server, with negotiation and retries.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use futures::future::{Either, select};
use futures::pin_mut;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, HeaderName};
use serde_json::value::RawValue;

use super::about::About;
use super::connection::{Link, Session};
use super::ending::Unanswered;
use super::error::{ClientError, Executed, Failure};
use super::exchange::{self, Answer, Expected, Failed, Reply, RpcFailure};
use super::handlers::capabilities_json;
use super::headers;
use super::message::{Meta, Params, write_message, write_response};
use super::negotiation::{Form, Known, Reaction, Sent, react};
use super::observer::{Listeners, Observer};
use crate::json::deserialize::read_text;
use crate::json::{Document, JsonLimits, write};
use crate::limits::{
    UPSTREAM_ATTEMPTS, UPSTREAM_BYTES, UPSTREAM_LEGACY_SECONDS, UPSTREAM_NEGOTIATION_SECONDS, UPSTREAM_TOTAL_SECONDS,
};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::error::ErrorCode;
use crate::protocol::log_level::LogLevel;
use crate::protocol::method::Method;
use crate::protocol::revision::{Era, Revision};

/// The pause before a request is sent again.
const PAUSE: Duration = Duration::from_millis(250);
const NEGOTIATION: Duration = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);

/// A request to a server.
#[derive(Clone)]
pub(super) struct Outgoing {
    pub method: Method,
    pub params: Params,
    /// The name or the URI that the header `Mcp-Name` repeats.
    pub target: Option<String>,
    /// The headers that repeat arguments.
    pub header_params: Vec<(HeaderName, String)>,
    /// Whether the request may be sent again if it is not known whether the server executed it.
    pub is_repeatable: bool,
    pub timeout: Duration,
    /// The time at which the request ends with all its repetitions, in milliseconds since 1970.
    pub deadline: Option<u64>,
    /// The capabilities to declare. `None` means the questions that the program answers.
    pub capabilities: Option<ClientCapabilities>,
    pub listeners: Listeners,
}

impl Outgoing {
    pub(super) fn new(method: Method, params: Params, timeout: Duration) -> Self {
        Self {
            method,
            params,
            target: None,
            header_params: Vec::new(),
            is_repeatable: method != Method::CallTool,
            timeout,
            deadline: None,
            capabilities: None,
            listeners: Listeners::default(),
        }
    }
}

impl Link {
    /// Sends a request whose result cannot be a question, and returns the result.
    pub(super) async fn request(&self, outgoing: &Outgoing) -> Result<Box<RawValue>, ClientError> {
        let Reply { asks, result } = self.exchange(outgoing).await?;
        if asks {
            let failure = Failure::Malformed("asks for input, which only tools, resources and prompts can do");
            return Err(self.failed(outgoing.method, (failure, None)));
        }
        Ok(result)
    }

    /// Sends a request and returns its result, which may be a question.
    pub(super) async fn exchange(&self, outgoing: &Outgoing) -> Result<Reply, ClientError> {
        let deadline = outgoing.deadline.unwrap_or_else(|| self.deadline(outgoing.timeout));
        let (mut is_second, mut has_failed) = (false, false);
        for _ in 0..UPSTREAM_ATTEMPTS {
            let known = self.negotiated(outgoing.method).await?;
            if let Some((level, _)) = &outgoing.listeners.log {
                self.set_log_level(*level, known).await;
            }
            let time =
                self.time_left(outgoing.timeout, deadline).map_err(|failed| self.failed(outgoing.method, failed))?;
            let answer = match self.post(outgoing, known, time).await {
                Ok(answer) => answer,
                Err((failure, _))
                    if outgoing.is_repeatable && failure.is_transient() && !has_failed && self.is_before(deadline) =>
                {
                    has_failed = true;
                    self.host().sleep(PAUSE).await;
                    continue;
                }
                Err(failed) => return Err(self.failed(outgoing.method, failed)),
            };
            let (supported, kind) = (supported(&answer), result_type(&answer));
            let sent = Sent { known, is_discover: false, is_second };
            match react(sent, form(&answer, kind.is_some(), &supported)) {
                Reaction::Accept(known) => {
                    self.learn(known);
                    let reply = reply(answer, kind.filter(|_| known.era() == Era::Modern));
                    return reply.map_err(|failed| self.failed(outgoing.method, failed));
                }
                Reaction::Repeat => is_second = true,
                Reaction::Again(known) => {
                    self.end_session();
                    self.learn(known);
                }
                Reaction::Unsupported => {
                    let failure = Failure::UnsupportedRevision { offered: named(supported) };
                    return Err(self.failed(outgoing.method, (failure, None)));
                }
            }
        }
        let failure = Failure::Malformed("contradicts the earlier answers of the server");
        Err(self.failed(outgoing.method, (failure, None)).executed_as(Executed::No))
    }

    /// Returns what is known about the server, after the requests that must come before `method`.
    ///
    /// A call of a tool is never the first probe: a legacy server without sessions would execute it.
    async fn negotiated(&self, method: Method) -> Result<Known, ClientError> {
        let known = self.known();
        let is_probed = known == Known::Unsettled || known == Known::Nothing && method == Method::CallTool;
        if !is_probed && !self.needs_session(known) {
            return Ok(known);
        }
        // Parallel requests of a connection wait for one negotiation.
        let _negotiation = self.negotiation.lock().await;
        let mut known = self.known();
        if known == Known::Unsettled || known == Known::Nothing && method == Method::CallTool {
            known = self.discover().await?;
        }
        if self.needs_session(known) {
            known = self.initialize(known).await?;
        }
        Ok(known)
    }

    /// Sends `server/discover`, which has no effect on any server, and returns what its answer says about the server.
    pub(super) async fn discover(&self) -> Result<Known, ClientError> {
        let outgoing = Outgoing::new(Method::Discover, Params::default(), NEGOTIATION);
        let failed = |failed| self.failed(Method::Discover, failed);
        let mut is_second = false;
        loop {
            let answer = self.post(&outgoing, Known::Nothing, NEGOTIATION).await.map_err(failed)?;
            let supported = supported(&answer);
            match react(
                Sent { known: Known::Nothing, is_discover: true, is_second },
                form(&answer, result_type(&answer).is_some(), &supported),
            ) {
                Reaction::Accept(Known::Nothing) => return result(answer).map(|_| Known::Nothing).map_err(failed),
                Reaction::Accept(known) | Reaction::Again(known) => {
                    self.learn(known);
                    if let (Known::Modern(revision), Ok(description)) = (known, result(answer)) {
                        self.about.replace(Some(About::of(revision, description)));
                    }
                    return Ok(known);
                }
                Reaction::Repeat => is_second = true,
                Reaction::Unsupported => {
                    return Err(failed((Failure::UnsupportedRevision { offered: named(supported) }, None)));
                }
            }
        }
    }

    /// Sends `initialize` and `notifications/initialized`.
    ///
    /// Source: 2025-11-25, basic/lifecycle. A server with a session may reject a request that overtakes the notification.
    pub(super) async fn initialize(&self, known: Known) -> Result<Known, ClientError> {
        let requested = match known {
            Known::WithSession(revision) | Known::WithoutSession(revision) => revision,
            _ => Revision::NEWEST_LEGACY,
        };
        let failed = |failed| self.failed(Method::Initialize, failed);
        let params = self.initialize_params(requested);
        let outgoing = Outgoing::new(Method::Initialize, params, NEGOTIATION);
        let answer = self.post(&outgoing, known, NEGOTIATION).await.map_err(failed)?;
        let id = match &answer {
            Answer::Response { session, .. } => session.clone().filter(is_session_id),
            Answer::Http { .. } => None,
        };
        let result = result(answer).map_err(failed)?;
        let version = member(&result, "protocolVersion").unwrap_or_default();
        let Some(revision) = Revision::named(&version).filter(|revision| revision.era() == Era::Legacy) else {
            return Err(failed((Failure::UnsupportedRevision { offered: named(vec![version]) }, None)));
        };
        let known = if id.is_some() { Known::WithSession(revision) } else { Known::WithoutSession(revision) };
        let logs = has_logging(&result);
        self.begin_session(Session { revision, id, logs, log_level: None });
        self.learn(known);
        self.about.replace(Some(About::of(revision, result)));
        self.notify("notifications/initialized").await.map_err(failed)?;
        self.open_standing_stream().await;
        Ok(known)
    }

    /// Sets the level of the log messages of a legacy server. Modern servers get it with each request.
    async fn set_log_level(&self, level: LogLevel, known: Known) {
        if self.lowers_log_level(level) {
            let level = write::to_raw_value(&level).unwrap_or_default();
            let outgoing = Outgoing::new(Method::SetLogLevel, Params::default().with("level", level), NEGOTIATION);
            // Without the level, the server decides which messages it sends.
            let _ = self.post(&outgoing, known, NEGOTIATION).await;
        }
    }

    /// Posts a request and reads its answer.
    pub(super) async fn post_once(&self, outgoing: &Outgoing, known: Known, time: Duration) -> Result<Answer, Failed> {
        let id = self.next_id();
        let message = self.message(&id, outgoing, known);
        let request = self.http_request(message, Some(outgoing), known).await?;
        let mut unanswered = Unanswered::new(self, &request, &id);
        let opening = self.upstream().transport.open(request, self.host());
        let expected = Expected { id: &id, era: known.era(), bytes: UPSTREAM_BYTES, position: RefCell::default() };
        let observer = Observer {
            link: self,
            listeners: &outgoing.listeners,
            era: known.era(),
            token: progress_token(&id),
            last: Cell::new(f64::NEG_INFINITY),
            requests: Cell::new(0),
        };
        let exchange = async {
            let opened = opening.await.map_err(exchange::of_connection)?;
            let answer = exchange::read(opened, &expected, &observer).await;
            self.resumed(answer, &expected, &observer).await
        };
        let answer = self.within(time, self.listening(&observer, exchange)).await;
        unanswered.settle(&answer);
        answer
    }

    /// Returns the time at which a request that begins now ends, with all its repetitions.
    pub(super) fn deadline(&self, timeout: Duration) -> u64 {
        let total = timeout.max(Duration::from_secs(UPSTREAM_TOTAL_SECONDS));
        self.host().now_ms().saturating_add(u64::try_from(total.as_millis()).unwrap_or(u64::MAX))
    }

    /// Returns whether there is time to send a request again.
    fn is_before(&self, deadline: u64) -> bool {
        self.time_left(PAUSE, deadline).is_ok_and(|left| left == PAUSE)
    }

    fn time_left(&self, timeout: Duration, deadline: u64) -> Result<Duration, Failed> {
        let left = Duration::from_millis(deadline.saturating_sub(self.host().now_ms()));
        if left.is_zero() { Err((Failure::Timeout(timeout), None)) } else { Ok(timeout.min(left)) }
    }

    /// Posts a notification to a legacy server.
    async fn notify(&self, method: &'static str) -> Result<(), Failed> {
        let meta = Meta { traceparent: self.traceparent(), ..Meta::default() };
        self.post_unanswered(write_message(None, method, &Params::default(), &meta)).await
    }

    /// Posts the response to a request of a legacy server.
    pub(super) async fn respond(&self, id: &str, outcome: Result<&RawValue, ErrorCode>) -> Result<(), Failed> {
        self.post_unanswered(write_response(id, outcome)).await
    }

    /// Posts a message whose answer has no content to a legacy server.
    async fn post_unanswered(&self, message: String) -> Result<(), Failed> {
        let known = self.known();
        let request = self.http_request(message, None, known).await?;
        let opening = self.upstream().transport.open(request, self.host());
        let exchange = async {
            let mut opened = opening.await.map_err(exchange::of_connection)?;
            exchange::accepted(&mut opened).await
        };
        self.within(NEGOTIATION, exchange).await
    }

    async fn within<T>(&self, time: Duration, exchange: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
        pin_mut!(exchange);
        match select(exchange, self.host().sleep(time)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(((), _)) => Err((Failure::Timeout(time), None)),
        }
    }

    fn message(&self, id: &str, outgoing: &Outgoing, known: Known) -> String {
        let modern = match known {
            Known::Nothing | Known::Unsettled => Some(Revision::V2026_07_28),
            Known::Modern(revision) => Some(revision),
            Known::WithSession(_) | Known::WithoutSession(_) => None,
        };
        let Outgoing { method, params, capabilities, listeners, .. } = outgoing;
        let capabilities = capabilities.unwrap_or_else(|| self.upstream().handlers.capabilities());
        let meta = Meta {
            modern: modern.map(|revision| (revision.name(), self.client_info())),
            capabilities: &modern.map_or_else(String::new, |revision| capabilities_json(capabilities, revision)),
            progress_token: listeners.progress.is_some().then(|| progress_token(id)),
            log_level: listeners.log.as_ref().map(|(level, _)| *level),
            traceparent: self.traceparent(),
        };
        write_message(Some(id), method.name(), params, &meta)
    }

    /// Creates the HTTP request for a message.
    async fn http_request(
        &self,
        message: String,
        outgoing: Option<&Outgoing>,
        known: Known,
    ) -> Result<http::Request<String>, Failed> {
        if !self.spend() {
            return Err((Failure::BudgetExhausted, None));
        }
        let upstream = self.upstream();
        let credential = self.credential().await?;
        let mut all = headers::of_post(&upstream.headers, self.user_agent(), credential);
        match known {
            Known::Nothing | Known::Unsettled | Known::Modern(_) => {
                let (method, target) = outgoing.map_or(("", None), |it| (it.method.name(), it.target.as_deref()));
                headers::add_modern(&mut all, Revision::V2026_07_28.name(), method, target);
                for (name, value) in outgoing.iter().flat_map(|outgoing| &outgoing.header_params) {
                    headers::insert_encoded(&mut all, name.clone(), value);
                }
            }
            Known::WithSession(_) | Known::WithoutSession(_) => self.add_session(&mut all),
        }
        let mut request = upstream.url.request(http::Method::POST, message);
        *request.headers_mut() = all;
        Ok(request)
    }

    /// Creates a request without a message, with the headers of a session.
    pub(super) async fn session_request(
        &self,
        method: http::Method,
        session: HeaderMap,
    ) -> Result<http::Request<String>, Failed> {
        if !self.spend() {
            return Err((Failure::BudgetExhausted, None));
        }
        let credential = self.credential().await?;
        let mut all = headers::of_post(&self.upstream().headers, self.user_agent(), credential);
        all.remove(CONTENT_TYPE);
        all.insert(ACCEPT, headers::STREAM);
        all.extend(session);
        let mut request = self.upstream().url.request(method, String::new());
        *request.headers_mut() = all;
        Ok(request)
    }

    /// Keeps what is known about the server.
    fn learn(&self, known: Known) {
        let now = self.host().now_ms();
        let until = match known {
            Known::Modern(_) => u64::MAX,
            _ => now.saturating_add(UPSTREAM_LEGACY_SECONDS.saturating_mul(1000)),
        };
        self.server().known.replace((known, until));
    }

    pub(super) fn failed(&self, method: Method, (failure, cause): Failed) -> ClientError {
        let error = ClientError::new(&self.server().name, method.name(), failure);
        match cause {
            Some(cause) => error.because(cause),
            None => error,
        }
    }
}

/// Returns the `resultType` of a result.
fn result_type(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Response { outcome: Ok(result), .. } => member(result, "resultType"),
        _ => None,
    }
}

/// Returns whether the result of `initialize` declares log messages.
fn has_logging(result: &RawValue) -> bool {
    let document = Document::parse(result.get().as_bytes(), JsonLimits::MOST);
    document.is_ok_and(|document| document.root().get("capabilities").and_then(|all| all.get("logging")).is_some())
}

/// Returns the progress token of the request with this id: the id without its quotes.
fn progress_token(id: &str) -> &str {
    id.trim_matches('"')
}

fn form<'a>(answer: &Answer, is_modern: bool, supported: &'a [String]) -> Form<'a> {
    match answer {
        Answer::Response { outcome: Ok(_), .. } => Form::Result { is_modern },
        Answer::Response { status, outcome: Err(error), .. } => {
            Form::Error { status: *status, code: error.code, supported }
        }
        Answer::Http { status } => Form::Http { status: *status },
    }
}

/// Returns the revisions in the data of an error.
fn supported(answer: &Answer) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    let Answer::Response { outcome: Err(RpcFailure { data: Some(data), .. }), .. } = answer else { return Vec::new() };
    read_text(data.get().as_bytes()).map_or_else(Vec::new, |data: Data| data.supported)
}

/// Returns the first revisions of a list, each shortened. A message shows them, so a text that cannot be a revision is left out.
fn named(names: Vec<String>) -> Vec<String> {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let usual = names.into_iter().filter(|name| !name.is_empty() && name.chars().all(is_usual));
    usual.map(|name| name.chars().take(32).collect()).take(8).collect()
}

/// Returns the string member `name` of an object.
fn member(object: &RawValue, name: &str) -> Option<String> {
    Document::parse(object.get().as_bytes(), JsonLimits::MOST).ok()?.root().string(name)
}

/// Returns the reply in an answer. `kind` is the `resultType`; a result without one is complete.
fn reply(answer: Answer, kind: Option<String>) -> Result<Reply, Failed> {
    let result = result(answer)?;
    let asks = match kind.as_deref() {
        None | Some("complete") => false,
        Some("input_required") => true,
        Some(_) => return Err((Failure::Malformed("has an unknown `resultType`"), None)),
    };
    Ok(Reply { asks, result })
}

fn result(answer: Answer) -> Result<Box<RawValue>, Failed> {
    match answer {
        Answer::Response { outcome: Ok(result), .. } => Ok(result),
        Answer::Response { outcome: Err(error), .. } => Err((exchange::of_rpc_error(error), None)),
        Answer::Http { status } => Err((exchange::of_http_status(status), Some(format!("status {status}")))),
    }
}

fn is_session_id(id: &HeaderValue) -> bool {
    const LONGEST: usize = 512;
    !id.is_empty() && id.len() <= LONGEST && id.as_bytes().iter().all(u8::is_ascii_graphic)
}
