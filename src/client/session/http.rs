//! The HTTP requests of a conversation, each of which is sent at most once, and its messages that have no result.

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, LocalBoxFuture, select};
use http::{HeaderValue, Method};
use serde_json::value::RawValue;

use super::handshake::Initialized;
use super::negotiation::Known;
use crate::call::context::Context;
use crate::call::trace::Trace;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::tokens::token_source::Rejection;
use crate::client::wire::exchange;
use crate::client::wire::headers;
use crate::client::wire::message::{Meta, Params, write_message, write_response};
use crate::host::{FetchError, Opened, Outbound};
use crate::limits::UPSTREAM_NEGOTIATION_SECONDS;
use crate::protocol::error::ErrorCode;

/// The time limit of a message without a response.
const UNANSWERED: Duration = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);

impl Conversation {
    /// Returns the header for the next request, or `None` if the server gets no credential.
    pub(in crate::client) async fn authorization(&self) -> Result<Option<HeaderValue>, ClientError> {
        self.credential.header(&self.server.upstream.url, &self.budget).await
    }

    /// Forgets a token that the server rejects. Returns whether there is another one.
    pub(super) async fn refresh(&self, rejection: Rejection<'_>) -> Result<bool, ClientError> {
        self.credential.refresh(rejection, &self.server.upstream.url, &self.budget).await
    }

    /// Asks the caller of `cx` to open the link of a sign-in. Returns whether there is another token now.
    pub(in crate::client) async fn sign_in(&self, link: &str, cx: &Context) -> Result<bool, ClientError> {
        self.credential.sign_in(link, cx, &self.server.upstream.url, &self.budget).await
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
        let meta = Meta { trace: trace.as_ref(), ..Meta::default() };
        let message = write_message(None, method, &Params::default(), &meta);
        match self.post(message.clone()).await {
            Err(error) if error.failure().is_closed_connection() => self.post(message).await,
            answer => answer,
        }
    }

    /// Posts the response to a request of a legacy server.
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

    /// Creates the request for an event stream of the session.
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
