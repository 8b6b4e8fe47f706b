//! The HTTP requests for messages and for sessions.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use futures::future::{Either, select};
use futures::pin_mut;
use http::{HeaderValue, Method};
use serde_json::value::RawValue;

use super::connection::{Link, Session};
use super::ending::Unanswered;
use super::error::{Executed, Failed, Failure};
use super::exchange::{self, Expected};
use super::handlers::capabilities_json;
use super::headers;
use super::lists::most_bytes;
use super::message::{Meta, Params, write_message, write_response};
use super::negotiation::Known;
use super::observer::Observer;
use super::request::Outgoing;
use super::response::Answer;
use crate::host::Outbound;
use crate::limits::{UPSTREAM_BYTES, UPSTREAM_NEGOTIATION_SECONDS};
use crate::protocol::error::ErrorCode;
use crate::protocol::revision::{Era, Revision};

/// The time limit of a message without a response.
const UNANSWERED: Duration = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);

impl Link {
    /// Posts a request and reads its answer.
    pub(super) async fn post_once(
        &self,
        outgoing: &Outgoing,
        known: Known,
        time: Duration,
        credential: Option<HeaderValue>,
    ) -> Result<Answer, Failed> {
        let id = self.of_call().next_id();
        let message = self.message(&id, outgoing, known);
        let modern = (known.era() == Era::Modern).then_some(outgoing);
        let request = self.message_request(message, modern, credential)?;
        let mut unanswered = Unanswered::new(self, &request, &id);
        let opening = self.upstream().transport.open(request, self.host());
        let expected = Expected {
            id: &id,
            era: known.era(),
            bytes: UPSTREAM_BYTES,
            received: &outgoing.received,
            total: most_bytes(outgoing.method),
            position: RefCell::default(),
        };
        let observer = Observer {
            link: self,
            listeners: &outgoing.listeners,
            era: known.era(),
            token: progress_token(&id),
            last: Cell::new(f64::NEG_INFINITY),
            questions: Cell::new(0),
        };
        let exchange = async {
            let opened = opening.await.map_err(exchange::of_connection)?;
            let answer = exchange::read(opened, &expected, &observer).await;
            self.resumed(answer, &expected, &observer).await
        };
        let answer = self.within(time, self.listening(&expected, &observer, exchange)).await;
        unanswered.settle(&answer);
        // The request was sent.
        answer.map_err(|failed| failed.executed_as(Executed::Unknown))
    }

    /// Posts a notification to a legacy server.
    pub(super) async fn notify(&self, method: &'static str) -> Result<(), Failed> {
        let meta = Meta { traceparent: self.traceparent(), ..Meta::default() };
        self.post_unanswered(write_message(None, method, &Params::default(), &meta)).await
    }

    /// Posts the response to a request of a legacy server.
    pub(super) async fn respond(&self, id: &str, outcome: Result<&RawValue, ErrorCode>) -> Result<(), Failed> {
        self.post_unanswered(write_response(id, outcome)).await
    }

    /// Posts a message whose answer has no content to a legacy server.
    async fn post_unanswered(&self, message: String) -> Result<(), Failed> {
        let request = self.message_request(message, None, self.credential().await?)?;
        let opening = self.upstream().transport.open(request, self.host());
        let exchange = async {
            let mut opened = opening.await.map_err(exchange::of_connection)?;
            exchange::accepted(&mut opened).await
        };
        self.within(UNANSWERED, exchange).await
    }

    async fn within<T>(&self, time: Duration, exchange: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
        pin_mut!(exchange);
        match select(exchange, self.host().sleep(time)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(((), _)) => Err(Failure::Timeout(time).into()),
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

    /// Creates the HTTP request for a message. `outgoing` is the request of the message, if it is one to a modern server.
    fn message_request(
        &self,
        message: String,
        outgoing: Option<&Outgoing>,
        credential: Option<HeaderValue>,
    ) -> Result<Outbound, Failed> {
        let Some(outgoing) = outgoing else {
            let session = self.session();
            return self.session_request(Method::POST, message, session.as_ref(), credential);
        };
        let mut request = self.http_request(Method::POST, message, credential)?;
        let Outgoing { method, target, header_params, .. } = outgoing;
        let version = Revision::V2026_07_28.name();
        headers::add_modern(&mut request, version, method.name(), target.as_deref(), header_params);
        Ok(request)
    }

    /// Creates the request for an event stream of the session.
    pub(super) async fn stream_request(&self) -> Result<Outbound, Failed> {
        let credential = self.credential().await?;
        self.session_request(Method::GET, String::new(), self.session().as_ref(), credential)
    }

    /// Creates a request with the headers of a session.
    pub(super) fn session_request(
        &self,
        method: Method,
        body: String,
        session: Option<&Session>,
        credential: Option<HeaderValue>,
    ) -> Result<Outbound, Failed> {
        let mut request = self.http_request(method, body, credential)?;
        self.add_session(&mut request, session);
        Ok(request)
    }

    /// Creates a request with the headers that every request has, and counts it.
    fn http_request(&self, method: Method, body: String, credential: Option<HeaderValue>) -> Result<Outbound, Failed> {
        if !self.of_call().spend() {
            return Err(Failure::BudgetExhausted.into());
        }
        let upstream = self.upstream();
        let mut request = Outbound { method, url: upstream.url.as_str().to_owned(), headers: Vec::new(), body };
        headers::add_common(&mut request, &upstream.headers, self.user_agent(), credential);
        Ok(request)
    }
}

/// Returns the progress token of the request with this id: the id without its quotes.
fn progress_token(id: &str) -> &str {
    id.trim_matches('"')
}
