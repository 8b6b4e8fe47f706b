//! The HTTP requests of a conversation, each of which is sent at most once, and its messages that have no result.

use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::{Either, LocalBoxFuture, join_all, select};
use http::{HeaderValue, Method};
use serde_json::value::RawValue;

use super::negotiation::{Initialized, Knowledge};
use crate::call::context::Context;
use crate::call::trace::Trace;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::tokens::token_source::Rejection;
use crate::client::wire::message::{MessageMeta, Params, write_message, write_response};
use crate::client::wire::{exchange, headers};
use crate::host::{FetchError, Opened, Outbound};
use crate::limits::{UPSTREAM_CLOSING_SECONDS, UPSTREAM_NEGOTIATION_SECONDS};
use crate::protocol::error::ErrorCode;

/// The time limit of a message without a response.
const UNANSWERED: Duration = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);

impl Conversation {
    /// Returns the header for the next request, or `None` if the server gets no credential.
    pub(in crate::client) async fn authorization(&self) -> Result<Option<HeaderValue>, ClientError> {
        self.credential.token().await
    }

    /// Forgets a token that the server rejects. Returns whether there is another one.
    pub(super) async fn refresh(&self, rejection: Rejection<'_>) -> Result<bool, ClientError> {
        self.credential.refresh(rejection).await
    }

    /// Asks the caller of `cx` to open the link of a sign-in. Returns whether there is another token now.
    pub(in crate::client) async fn sign_in(&self, link: &str, cx: &Context) -> Result<bool, ClientError> {
        self.credential.sign_in(link, cx).await
    }

    /// Sends a request. A redirect to another path of the server is followed once.
    pub(super) fn open(&self, request: Outbound) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let (server, host, budget) = (self.server.clone(), self.cx.host().clone(), self.budget.clone());
        let url = Rc::clone(&self.url);
        let may_follow = move |target: &str| {
            let is_allowed = budget.spend();
            if is_allowed {
                url.replace(target.to_owned());
            }
            is_allowed
        };
        async move { server.upstream.open(request, &host, may_follow).await }.boxed_local()
    }

    /// Posts a notification to a legacy server. It has no effect, so it is sent again if the connection is closed.
    pub(super) async fn notify(&self, method: &'static str) -> Result<(), ClientError> {
        let trace = self.cx.trace().and_then(Trace::context);
        let meta = MessageMeta { trace: trace.as_ref(), ..MessageMeta::default() };
        let message = write_message(None, method, &Params::default(), &meta);
        match self.post(message.clone()).await {
            Err(error) if error.failure().is_closed_connection() => self.post(message).await,
            answer => answer,
        }
    }

    pub(super) async fn respond(&self, id: &str, outcome: Result<&RawValue, ErrorCode>) -> Result<(), ClientError> {
        self.post(write_response(id, outcome)).await
    }

    /// Posts a message whose answer has no content to a legacy server. The server has not read a message whose token it rejects, so the message is
    /// then sent again with another token.
    async fn post(&self, message: String) -> Result<(), ClientError> {
        let mut is_repeated = false;
        loop {
            let credential = self.authorization().await?;
            let opening = self.open(self.session_request(Method::POST, message.clone(), credential.clone())?);
            let mut challenge = None;
            let exchange = async {
                let mut opened = opening.await.map_err(exchange::of_connection)?;
                challenge = exchange::challenge(&opened);
                exchange::accepted(&mut opened).await
            };
            let answer = match select(exchange.boxed_local(), self.cx.host().sleep(UNANSWERED)).await {
                Either::Left((answer, _)) => answer,
                Either::Right(_) => Err(Failure::Timeout(UNANSWERED).into()),
            };
            let is_rejected = answer.as_ref().is_err_and(|error| *error.failure() == Failure::Unauthorized);
            let rejection = Rejection { token: credential.as_ref(), challenge: challenge.as_ref(), lacks_scope: false };
            if is_repeated || !is_rejected || !self.refresh(rejection).await? {
                return answer;
            }
            is_repeated = true;
        }
    }

    pub(super) async fn stream_request(&self) -> Result<Outbound, ClientError> {
        self.session_request(Method::GET, String::new(), self.authorization().await?)
    }

    /// Creates a request with the headers of the session, if there is one.
    pub(super) fn session_request(
        &self,
        method: Method,
        body: String,
        credential: Option<HeaderValue>,
    ) -> Result<Outbound, ClientError> {
        self.request_of(self.session.borrow().as_ref(), method, body, credential)
    }

    /// Creates a request with the headers of a session, which may have ended.
    pub(super) fn request_of(
        &self,
        session: Option<&Initialized>,
        method: Method,
        body: String,
        credential: Option<HeaderValue>,
    ) -> Result<Outbound, ClientError> {
        let mut request = self.http_request(method, body, credential)?;
        match (session, self.known()) {
            (Some(session), _) => headers::add_session(&mut request, session.revision, session.id.clone()),
            (None, Knowledge::WithoutSession(revision)) => headers::add_session(&mut request, revision, None),
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
    ) -> Result<Outbound, ClientError> {
        if !self.budget.spend() {
            return Err(Failure::BudgetExhausted.into());
        }
        self.sent.set(self.sent.get().saturating_add(1));
        let mut request = Outbound { method, url: self.url.borrow().clone(), headers: Vec::new(), body };
        headers::add_common(&mut request, &self.own_headers(), &self.client.0.user_agent, credential);
        Ok(request)
    }
}

impl Conversation {
    /// Ends the session, if there is one. The answer of the server does not matter.
    pub(in crate::client) async fn end(&self) {
        // If this future is dropped, the session must not end again.
        let session = if self.has_session() { self.session.take() } else { None };
        if let Some(session) = session {
            self.end_session(session).await;
        }
    }

    /// Ends a session that the conversation has forgotten.
    ///
    /// Before that, it waits for the answers to cancellations: a server of the Python SDK 1.x fails if the session of a cancellation ends, and
    /// closes the connection, on which another request may be under way.
    pub(in crate::client) async fn end_session(&self, session: Initialized) {
        // An answer that does not arrive ends after its time limit.
        join_all(self.cancellations.take()).await;
        let ending = async {
            let Ok(credential) = self.authorization().await else { return };
            if let Ok(request) = self.request_of(Some(&session), Method::DELETE, String::new(), credential) {
                close(self, request).await;
            }
        };
        select(ending.boxed_local(), self.cx.host().sleep(CLOSING)).await;
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        if !self.has_session() {
            return;
        }
        // The task that drops the conversation does not wait for the answer, so another conversation ends the session.
        let Some(session) = self.session.take() else { return };
        let mut closing = Self::new(self.client.clone(), self.server.clone(), self.budget.clone());
        closing.credential = self.credential.clone();
        closing.url = std::mem::take(&mut self.url);
        closing.cancellations = std::mem::take(&mut self.cancellations);
        let ending = async move { closing.end_session(session).await };
        self.cx.host().spawn(ending.boxed_local());
    }
}

/// Sends a request whose answer does not matter.
fn close(conversation: &Conversation, request: Outbound) -> LocalBoxFuture<'static, ()> {
    select(conversation.open(request), conversation.cx.host().sleep(CLOSING)).map(drop).boxed_local()
}

const CLOSING: Duration = Duration::from_secs(UPSTREAM_CLOSING_SECONDS);

/// A request of a session whose answer has not arrived. If the program drops it, or if it takes too long, the client asks the server to
/// cancel it.
///
/// A server without sessions cannot find the request that a notification names. `initialize`, which must not be cancelled, comes before the
/// session.
pub(in crate::client) struct RequestInFlight<'a> {
    conversation: &'a Conversation,
    /// The notification.
    cancellation: Option<Outbound>,
}

impl<'a> RequestInFlight<'a> {
    /// Creates the notification for a request with this id, as JSON text.
    pub(in crate::client) fn new(conversation: &'a Conversation, request: &Outbound, id: &str) -> Self {
        Self { conversation, cancellation: conversation.has_session().then(|| cancellation(request, id)) }
    }

    /// Drops the notification, unless the request exceeded a limit before its answer arrived.
    pub(super) fn settle<T>(&mut self, answer: &Result<T, ClientError>) {
        let is_limit = |failure: &Failure| matches!(failure, Failure::Timeout(_) | Failure::LimitExceeded(_));
        if !answer.as_ref().is_err_and(|failed| is_limit(failed.failure())) {
            self.cancellation = None;
        }
    }
}

impl Drop for RequestInFlight<'_> {
    fn drop(&mut self) {
        if let Some(cancellation) = self.cancellation.take()
            && self.conversation.budget.spend()
        {
            let (answered, is_answered) = oneshot::channel();
            self.conversation.cancellations.borrow_mut().push(is_answered);
            let closing = close(self.conversation, cancellation);
            self.conversation.cx.host().spawn(closing.map(|()| drop::<oneshot::Sender<()>>(answered)).boxed_local());
        }
    }
}

/// Creates the notification that cancels `request`, with the headers of `request`.
fn cancellation(request: &Outbound, id: &str) -> Outbound {
    let id = write::raw_value(id.to_owned());
    let params = Params::default().with("requestId", id);
    let body = write_message(None, "notifications/cancelled", &params, &MessageMeta::default());
    Outbound { body, ..request.clone() }
}
