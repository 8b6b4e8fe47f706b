//! The exchange of a request: it is posted, and its answer is read. A legacy server may close the stream of its answer, and continue it when
//! the client asks for the events after the last one.
//!
//! Source: 2025-11-25, basic/transports, "Sending Messages to the Server" and "Resumability and Redelivery".

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use futures::future::{Either, LocalBoxFuture, select};
use futures::{FutureExt, pin_mut};
use http::{HeaderValue, Method};
use serde_json::{Map, Value};

use super::http::RequestInFlight;
use super::negotiation::Knowledge;
use super::observer::Observer;
use super::remote_request::RemoteRequest;
use super::standing_stream;
use crate::call::trace::{NewOperation, Recording, Trace};
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Delivery, Failure};
use crate::client::questions::handlers::capabilities_json;
use crate::client::wire::exchange::{self, ExpectedAnswer};
use crate::client::wire::headers;
use crate::client::wire::message::{MessageMeta, write_message};
use crate::client::wire::response::ServerResponse;
use crate::client::wire::task;
use crate::host::{FetchError, Opened, Outbound, Outcome, target_attribute};
use crate::protocol::revision::{Era, Revision};

/// The exchange of a request, until its answer has arrived.
///
/// The time limit and the limits of questions and bytes continue if its stream is resumed.
pub(super) struct RequestExchange<'c> {
    conversation: &'c Conversation,
    /// The head of the response, until it is read.
    opening: Option<Opening>,
    pub credential: Option<HeaderValue>,
    expected: Rc<ExpectedAnswer>,
    observer: Rc<Observer>,
    unanswered: RequestInFlight<'c>,
    span: Option<Box<Recording>>,
    time: Duration,
    timer: LocalBoxFuture<'static, ()>,
    /// Reads the stream of the session meanwhile. Modern servers have no sessions.
    standing: Option<LocalBoxFuture<'c, Result<(), ClientError>>>,
}

type Opening = LocalBoxFuture<'static, Result<Opened, FetchError>>;

impl<'c> RequestExchange<'c> {
    /// Creates the exchange of a request, and posts the request.
    ///
    /// # Errors
    /// The connection has sent all requests that it may send.
    pub(super) fn new(
        conversation: &'c Rc<Conversation>,
        request: &RemoteRequest,
        known: Knowledge,
        time: Duration,
        credential: Option<HeaderValue>,
    ) -> Result<Self, ClientError> {
        let (id, era) = (conversation.budget.next_id(), known.era());
        let span = start_span(conversation, request, known.revision());
        let posted = match write(conversation, &id, request, known, credential.clone(), span.as_deref()) {
            Ok(posted) => posted,
            Err(error) => {
                end_span(span, &Err(&error));
                return Err(error);
            }
        };
        let unanswered = RequestInFlight::new(conversation, &posted, &id);
        let opening = Some(conversation.open(posted));
        let observer = Rc::new(Observer {
            conversation: conversation.clone(),
            listeners: request.listeners.clone(),
            era,
            token: progress_token(&id).to_owned(),
            last: Cell::new(f64::NEG_INFINITY),
            attempts: request.attempts.clone(),
        });
        let (received, total) = (request.attempts.received.clone(), request.most_bytes);
        let expected = ExpectedAnswer { id, era, received, total, position: RefCell::default() };
        let expected = Rc::new(expected);
        let standing = (era == Era::Legacy)
            .then(|| standing_stream::messages(conversation, expected.clone(), observer.clone()).boxed_local());
        let timer = conversation.cx.host().sleep(time);
        Ok(Self { conversation, opening, credential, expected, observer, unanswered, span, time, timer, standing })
    }

    /// Reads the answer, or the rest of an answer that was interrupted.
    pub(super) async fn read(&mut self) -> Result<ServerResponse, ClientError> {
        let Some(opening) = self.opening.take() else { return self.resume().await };
        let (expected, observer) = (self.expected.clone(), self.observer.clone());
        let exchange = async {
            let opened = opening.await.map_err(exchange::of_connection)?;
            exchange::read(opened, &expected, &*observer).await
        };
        self.answer(exchange).await
    }

    /// Returns whether the stream of the answer was interrupted at a known position.
    pub(super) fn is_resumable(&self) -> bool {
        self.expected.position.borrow().is_some()
    }

    /// Requests the events after the last one, and reads the rest of the answer.
    async fn resume(&mut self) -> Result<ServerResponse, ClientError> {
        let Some(position) = self.expected.position.take() else { return Err(Failure::Interrupted.into()) };
        let (conversation, expected, observer) = (self.conversation, self.expected.clone(), self.observer.clone());
        let exchange = async {
            conversation.cx.host().sleep(position.pause).await;
            let mut request = conversation.stream_request().await?;
            headers::add(&mut request, headers::LAST_EVENT_ID, position.last_event.clone());
            let opening = conversation.open(request);
            // The server may have executed the request, so each failure is an interruption of its answer.
            let opened =
                opening.await.map_err(|error| ClientError::new(Failure::Interrupted, Some(error.to_string())))?;
            if opened.status != 200 || exchange::media_type(&opened.headers).as_deref() != Some("text/event-stream") {
                let cause = format!("the stream cannot be resumed: status {}", opened.status);
                return Err(ClientError::new(Failure::Interrupted, Some(cause)));
            }
            exchange::read(opened, &expected, &*observer).await
        };
        let answer = self.answer(exchange).await;
        if answer.as_ref().is_err_and(ClientError::is_interruption) {
            self.expected.position.borrow_mut().get_or_insert(position);
        }
        answer
    }

    /// Ends the exchange. If the request exceeded a limit, the server is asked to cancel it.
    pub(super) fn end(mut self, answer: &Result<ServerResponse, ClientError>) {
        self.unanswered.settle(answer);
        end_span(self.span, &answer.as_ref());
    }

    /// Waits for an answer until the time limit of the request. Meanwhile, the observer gets the messages on the stream of the session.
    async fn answer(
        &mut self,
        exchange: impl Future<Output = Result<ServerResponse, ClientError>>,
    ) -> Result<ServerResponse, ClientError> {
        let (time, timer, standing) = (self.time, &mut self.timer, &mut self.standing);
        let listening = async move {
            pin_mut!(exchange);
            let Some(messages) = standing else { return exchange.await };
            match select(exchange, messages).await {
                Either::Left((answer, _)) => answer,
                Either::Right((ended, exchange)) => {
                    *standing = None;
                    ended?;
                    exchange.await
                }
            }
        };
        pin_mut!(listening);
        let answer = match select(listening, timer).await {
            Either::Left((answer, _)) => answer,
            Either::Right(((), _)) => Err(Failure::Timeout(time).into()),
        };
        // The request was sent.
        answer.map_err(|error| error.delivered_as(Delivery::Unknown))
    }
}

fn write(
    conversation: &Conversation,
    id: &str,
    request: &RemoteRequest,
    known: Knowledge,
    credential: Option<HeaderValue>,
    span: Option<&Recording>,
) -> Result<Outbound, ClientError> {
    let modern = (known.era() == Era::Modern).then(|| known.revision());
    let trace = span.map(|span| span.context().clone()).or_else(|| conversation.cx.trace().and_then(Trace::context));
    let RemoteRequest { method, params, target, capabilities, listeners, attempts, .. } = request;
    let capabilities = capabilities.unwrap_or_else(|| conversation.server.upstream.handlers.capabilities());
    let meta = MessageMeta {
        modern: modern.map(|revision| (revision.name(), &*conversation.client.0.info)),
        capabilities: &modern.map_or_else(String::new, |revision| {
            capabilities_json(capabilities, &extensions(conversation, request), revision)
        }),
        progress_token: listeners.progress.is_some().then(|| progress_token(id)),
        log_level: listeners.log.as_ref().map(|(level, _)| *level),
        trace: trace.as_ref(),
        own: &conversation.own_meta(),
    };
    let message = write_message(Some(id), method, params, &meta);
    if modern.is_none() {
        return conversation.session_request(Method::POST, message, credential);
    }
    let mut outbound = conversation.http_request(Method::POST, message, credential)?;
    let version = Revision::V2026_07_28.name();
    headers::add_modern(&mut outbound, version, method, target.as_deref(), &attempts.header_params.borrow());
    Ok(outbound)
}

/// Returns the extensions to declare in a modern request: those of the program, and tasks where the server may answer with a task.
fn extensions<'c>(conversation: &'c Conversation, request: &RemoteRequest) -> Cow<'c, Map<String, Value>> {
    let mut extensions = Cow::Borrowed(&conversation.server.upstream.extensions);
    if request.is_call() || request.is_of_task() {
        extensions.to_mut().entry(task::EXTENSION).or_insert_with(|| Value::Object(Map::new()));
    }
    extensions
}

/// Returns the progress token of the request with this id: the id without its quotes.
fn progress_token(id: &str) -> &str {
    id.trim_matches('"')
}

fn start_span(conversation: &Conversation, request: &RemoteRequest, revision: Revision) -> Option<Box<Recording>> {
    let work = NewOperation {
        upstream: Some(&conversation.server.name),
        method: &request.method,
        target: request.target.as_deref().filter(|_| target_attribute(&request.method).is_some()),
        revision: revision.name(),
    };
    conversation.cx.trace()?.start_within(&work, conversation.cx.host())
}

fn end_span(span: Option<Box<Recording>>, answer: &Result<&ServerResponse, &ClientError>) {
    let Some(span) = span else { return };
    span.end(match answer {
        Ok(ServerResponse::Rpc { outcome: Ok(result), .. }) if result.is_error => Outcome::failed("tool_error"),
        Ok(ServerResponse::Rpc { outcome: Ok(_), .. }) => Outcome::default(),
        Ok(ServerResponse::Rpc { outcome: Err(error), .. }) => Outcome::error(error.code),
        Ok(ServerResponse::Http { status, .. }) => Outcome::failed(status.to_string()),
        Err(error) => Outcome::failed(match error.failure() {
            Failure::Timeout(_) => "timeout",
            Failure::Interrupted => "interrupted",
            Failure::Unreachable(_) => "unreachable",
            Failure::Malformed(_) => "malformed",
            Failure::LimitExceeded(_) | Failure::BudgetExhausted => "limit_exceeded",
            _ => "_OTHER",
        }),
    });
}
