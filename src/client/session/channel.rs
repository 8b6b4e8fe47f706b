//! The channel to one server, for one call of a handler: its HTTP requests, with the credential and the session that they carry.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::channel::oneshot;
use futures::future::{Either, LocalBoxFuture, select};
use futures::lock::Mutex;
use futures::{FutureExt, pin_mut};
use http::{HeaderName, HeaderValue, Method};
use serde_json::value::RawValue;

use super::about::About;
use super::initialized::Initialized;
use super::negotiation::Known;
use crate::call::context::Context;
use crate::call::trace::Trace;
use crate::client::error::{ClientError, Failed, Failure, Unreachable};
use crate::client::mcp_client::{McpClient, Server};
use crate::client::of_call::OfCall;
use crate::client::tokens::credential::Credential;
use crate::client::tokens::token_source::Rejection;
use crate::client::upstream::Upstream;
use crate::client::wire::challenge::Challenge;
use crate::client::wire::event_stream::EventStream;
use crate::client::wire::exchange;
use crate::client::wire::headers;
use crate::client::wire::message::{Meta, Params, write_message, write_response};
use crate::host::{FetchError, Host, Opened, Outbound};
use crate::limits::{UPSTREAM_FORWARDED_BYTES, UPSTREAM_LEGACY_SECONDS, UPSTREAM_NEGOTIATION_SECONDS};
use crate::protocol::error::ErrorCode;
use crate::protocol::log_level::LogLevel;
use crate::text::Text;

/// The member of `_meta` with the names of the gateways through which a request came.
const VIA: &str = "edge-mcp/via";

/// The time limit of a message without a response.
const UNANSWERED: Duration = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);

/// The channel to one server, for one call of a handler. It sends each request at most once, and it does not negotiate.
pub(in crate::client) struct Channel {
    client: McpClient,
    server: Rc<Server>,
    of_call: Rc<OfCall>,
    credential: Credential,
    /// The assumption about the server that its last rejection leads to. A rejection may be about this caller or this request, so it proves
    /// nothing, and no other connection gets the assumption.
    assumed: Cell<Option<Known>>,
    initialized: RefCell<Option<Initialized>>,
    /// The URL of the next request. A redirect on the origin of the server changes it.
    url: Rc<RefCell<String>>,
    /// The cancellations that the server has not answered. Each ends when its sender is dropped.
    pub cancellations: RefCell<Vec<oneshot::Receiver<()>>>,
    /// The description of the server, if the server sent it in this call.
    pub about: RefCell<Option<About>>,
    /// The event stream of the session.
    pub standing_stream: Mutex<Option<EventStream>>,
    /// The number of requests that were sent to the server in this call.
    pub sent: Cell<usize>,
    /// The number of times that the server said in this call that its lists have changed.
    pub list_changes: Cell<u64>,
}

impl Channel {
    pub(in crate::client) fn new(client: McpClient, server: Rc<Server>, of_call: Rc<OfCall>) -> Self {
        let credential = server.upstream.credential(&server.name);
        let url = Rc::new(RefCell::new(server.upstream.url.as_str().to_owned()));
        Self {
            client,
            server,
            of_call,
            credential,
            assumed: Cell::new(None),
            initialized: RefCell::default(),
            url,
            cancellations: RefCell::default(),
            about: RefCell::default(),
            standing_stream: Mutex::new(None),
            sent: Cell::new(0),
            list_changes: Cell::new(0),
        }
    }

    pub(in crate::client) fn client(&self) -> &McpClient {
        &self.client
    }

    pub(in crate::client) fn server(&self) -> &Server {
        &self.server
    }

    pub(in crate::client) fn upstream(&self) -> &Upstream {
        &self.server.upstream
    }

    pub(in crate::client) fn of_call(&self) -> &OfCall {
        &self.of_call
    }

    pub(in crate::client) fn cx(&self) -> &Context {
        &self.of_call.cx
    }

    pub(in crate::client) fn host(&self) -> &Rc<dyn Host> {
        self.of_call.cx.host()
    }

    pub(super) fn client_info(&self) -> &RawValue {
        &self.client.0.info
    }

    /// Returns the error of a request to the server.
    pub(in crate::client) fn failed(&self, method: Text, failed: Failed) -> ClientError {
        let (mut failure, cause, executed) = failed.into_parts();
        if self.upstream().is_untrusted && matches!(failure, Failure::Unreachable(_) | Failure::Timeout(_)) {
            // The user who chose the URL must not learn which hosts exist.
            failure = Failure::Unreachable(Unreachable::Connection);
        }
        let error = ClientError::new(&self.server.name, method, failure).executed_as(executed);
        match cause {
            Some(cause) => error.because(cause),
            None => error,
        }
    }

    /// Counts a notification that the lists of the server have changed.
    pub(super) fn notice_list_change(&self) {
        for changes in [&self.list_changes, &self.server.changes] {
            changes.set(changes.get().wrapping_add(1));
        }
        self.client.0.lists.forget(&self.server.name);
    }
}

/// The knowledge about the server, and the session.
impl Channel {
    /// Returns what is known about the server now, or assumed.
    pub(in crate::client) fn known(&self) -> Known {
        self.assumed.get().unwrap_or_else(|| self.learned())
    }

    /// Returns what all connections know about the server.
    pub(super) fn learned(&self) -> Known {
        let (learned, until) = *self.server.learned.borrow();
        let pinned = || self.upstream().revision.map_or(Known::Nothing, Known::of);
        if self.host().now_ms() < until { learned } else { pinned() }
    }

    /// Assumes something about the server until one of its results shows more, or nothing.
    pub(super) fn assume(&self, known: Option<Known>) {
        self.assumed.set(known);
    }

    /// Keeps the knowledge from a result of the server, for all connections.
    pub(super) fn learn(&self, known: Known) {
        self.assumed.set(None);
        let until = match known {
            Known::Modern(_) => u64::MAX,
            _ => self.host().now_ms().saturating_add(UPSTREAM_LEGACY_SECONDS.saturating_mul(1000)),
        };
        self.server.learned.replace((known, until));
    }

    /// Returns whether the program sets the revision of the server.
    pub(super) fn is_pinned(&self) -> bool {
        self.upstream().revision.is_some()
    }

    /// Returns whether `initialize` must come before the next request.
    pub(super) fn needs_session(&self, known: Known) -> bool {
        matches!(known, Known::WithSession(_)) && !self.has_session()
    }

    pub(super) fn begin_session(&self, initialized: Initialized) {
        self.initialized.replace(Some(initialized));
    }

    /// Returns whether there is a session with an id.
    pub(in crate::client) fn has_session(&self) -> bool {
        self.initialized.borrow().as_ref().is_some_and(|session| session.id.is_some())
    }

    /// Forgets the session, and returns it.
    pub(super) fn end_session(&self) -> Option<Initialized> {
        self.initialized.take()
    }

    /// Returns whether a request must lower the level of the log messages of the session, and records the level.
    pub(super) fn lowers_log_level(&self, level: LogLevel) -> bool {
        self.initialized.borrow_mut().as_mut().is_some_and(|session| session.lowers_log_level(level))
    }
}

/// What the program adds to each request.
impl Channel {
    /// Returns the headers of the program, and those of the caller's request that the program passes on.
    pub(in crate::client) fn own_headers(&self) -> Cow<'_, [(HeaderName, HeaderValue)]> {
        let upstream = self.upstream();
        let mut headers = Cow::Borrowed(&*upstream.headers);
        for name in &upstream.forwarded_headers {
            let value = self.cx().header(name.as_str()).filter(|value| value.len() <= UPSTREAM_FORWARDED_BYTES);
            if let Some(value) = value.and_then(|value| headers::visible(&value)) {
                headers.to_mut().push((name.clone(), value));
            }
        }
        headers
    }

    /// Returns the members of the `_meta` of the caller's request that the program passes on: names, and values as JSON text.
    pub(in crate::client) fn forwarded_meta(&self) -> Vec<(String, String)> {
        let text = |name: &str| Some(write::text(&self.cx().meta(name)?));
        let forwarded = self.upstream().forwarded_meta.iter();
        let forwarded = forwarded.filter_map(|name| Some((name.to_string(), text(name)?)));
        forwarded.filter(|(_, value)| value.len() <= UPSTREAM_FORWARDED_BYTES).collect()
    }

    /// Returns the members of `_meta` that the program adds. A gateway adds its name to those of the gateways before it.
    pub(super) fn own_meta(&self) -> Vec<(String, String)> {
        let mut own = self.forwarded_meta();
        if let Some(gateway) = &self.client.0.gateway {
            let via = gateways(self.cx()).chain([gateway.to_string()]).map(serde_json::Value::from).collect();
            own.push((VIA.to_owned(), write::text(&serde_json::Value::Array(via))));
        }
        own
    }
}

/// Returns the names of the gateways through which the request of `cx` came.
pub(crate) fn gateways(cx: &Context) -> impl Iterator<Item = String> {
    let names = cx.meta(VIA).and_then(|names| names.as_array().cloned()).unwrap_or_default();
    names.into_iter().filter_map(|name| Some(name.as_str()?.to_owned()))
}

/// The HTTP requests.
impl Channel {
    /// Returns the header for the next request, or `None` if the server gets no credential.
    pub(in crate::client) async fn credential(&self) -> Result<Option<HeaderValue>, Failed> {
        self.credential.header(&self.upstream().url, &self.of_call).await
    }

    /// Forgets a token that the server rejects. Returns whether there is another one.
    pub(in crate::client) async fn refresh(&self, rejection: Rejection<'_>) -> Result<bool, Failed> {
        self.credential.refresh(rejection, &self.upstream().url, &self.of_call).await
    }

    /// Asks the caller of `cx` to open the link of a sign-in. Returns whether there is another token now.
    pub(in crate::client) async fn sign_in(&self, link: &str, cx: &Context) -> Result<bool, Failed> {
        self.credential.sign_in(link, cx, &self.upstream().url, &self.of_call).await
    }

    /// Sends a request. A redirect to another path of the server is followed once.
    pub(in crate::client) fn open(&self, request: Outbound) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let (server, host, of_call) = (self.server.clone(), self.host().clone(), self.of_call.clone());
        let url = self.url.clone();
        let may_follow = move |target: &str| {
            let is_allowed = of_call.spend();
            if is_allowed {
                url.replace(target.to_owned());
            }
            is_allowed
        };
        async move { server.upstream.open(request, &host, may_follow).await }.boxed_local()
    }

    /// Posts a notification to a legacy server. It has no effect, so it is sent again if the connection is closed.
    pub(super) async fn notify(&self, method: &'static str) -> Result<(), Failed> {
        let trace = self.cx().trace().and_then(Trace::context);
        let meta = Meta { trace: trace.as_ref(), ..Meta::default() };
        let message = write_message(None, method, &Params::default(), &meta);
        match self.post_unanswered(message.clone()).await {
            Err(failed) if failed.failure().is_closed_connection() => self.post_unanswered(message).await,
            answer => answer,
        }
    }

    /// Posts the response to a request of a legacy server.
    pub(super) async fn respond(&self, id: &str, outcome: Result<&RawValue, ErrorCode>) -> Result<(), Failed> {
        self.post_unanswered(write_response(id, outcome)).await
    }

    /// Posts a message whose answer has no content to a legacy server.
    async fn post_unanswered(&self, message: String) -> Result<(), Failed> {
        let credential = self.credential().await?;
        let mut challenge = None;
        let answer = self.post_once(message.clone(), credential.clone(), &mut challenge).await;
        if !answer.as_ref().is_err_and(|failed| *failed.failure() == Failure::Unauthorized) {
            return answer;
        }
        // The server has not read a message whose token it rejects, so the message can be sent again.
        let rejection = Rejection { token: credential.as_ref(), challenge: challenge.as_ref(), lacks_scope: false };
        if !self.refresh(rejection).await? {
            return answer;
        }
        let credential = self.credential().await?;
        self.post_once(message, credential, &mut challenge).await
    }

    /// Posts a message whose answer has no content. Sets `challenge` to that of an answer that rejects the credential.
    async fn post_once(
        &self,
        message: String,
        credential: Option<HeaderValue>,
        challenge: &mut Option<Challenge>,
    ) -> Result<(), Failed> {
        let opening = self.open(self.session_request(Method::POST, message, credential)?);
        let exchange = async {
            let mut opened = opening.await.map_err(exchange::of_connection)?;
            *challenge = exchange::challenge(&opened);
            exchange::accepted(&mut opened).await
        };
        pin_mut!(exchange);
        match select(exchange, self.host().sleep(UNANSWERED)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(((), _)) => Err(Failure::Timeout(UNANSWERED).into()),
        }
    }

    /// Creates the request for an event stream of the session.
    pub(super) async fn stream_request(&self) -> Result<Outbound, Failed> {
        self.session_request(Method::GET, String::new(), self.credential().await?)
    }

    /// Creates a request with the headers of the session, if there is one.
    pub(super) fn session_request(
        &self,
        method: Method,
        body: String,
        credential: Option<HeaderValue>,
    ) -> Result<Outbound, Failed> {
        self.request_of(self.initialized.borrow().as_ref(), method, body, credential)
    }

    /// Creates a request with the headers of a session, which may have ended.
    pub(super) fn request_of(
        &self,
        session: Option<&Initialized>,
        method: Method,
        body: String,
        credential: Option<HeaderValue>,
    ) -> Result<Outbound, Failed> {
        let mut request = self.http_request(method, body, credential)?;
        match (session, self.known()) {
            (Some(session), _) => headers::add_session(&mut request, session.revision, session.id.clone()),
            (None, Known::WithoutSession(revision)) => headers::add_session(&mut request, revision, None),
            // The headers of `initialize` name no revision.
            _ => {}
        }
        Ok(request)
    }

    /// Creates a request with the headers that every request has, and counts it.
    pub(super) fn http_request(
        &self,
        method: Method,
        body: String,
        credential: Option<HeaderValue>,
    ) -> Result<Outbound, Failed> {
        if !self.of_call.spend() {
            return Err(Failure::BudgetExhausted.into());
        }
        self.sent.set(self.sent.get().saturating_add(1));
        let mut request = Outbound { method, url: self.url.borrow().clone(), headers: Vec::new(), body };
        headers::add_common(&mut request, &self.own_headers(), &self.client.0.user_agent, credential);
        Ok(request)
    }
}
