//! The HTTP requests for messages and for sessions.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use futures::future::{Either, select};
use futures::pin_mut;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Request};
use serde_json::value::RawValue;

use super::connection::Link;
use super::ending::Unanswered;
use super::error::{Failed, Failure};
use super::exchange::{self, Expected};
use super::handlers::capabilities_json;
use super::headers;
use super::message::{Meta, Params, write_message, write_response};
use super::negotiation::Known;
use super::observer::Observer;
use super::request::Outgoing;
use super::response::Answer;
use crate::limits::{UPSTREAM_BYTES, UPSTREAM_NEGOTIATION_SECONDS};
use crate::protocol::error::ErrorCode;
use crate::protocol::revision::Revision;

/// The time limit of a message without a response.
const UNANSWERED: Duration = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);

impl Link {
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
        let known = self.known();
        let request = self.http_request(message, None, known).await?;
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
    ) -> Result<Request<String>, Failed> {
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
    ) -> Result<Request<String>, Failed> {
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
}

/// Returns the progress token of the request with this id: the id without its quotes.
fn progress_token(id: &str) -> &str {
    id.trim_matches('"')
}
