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

use super::channel::Channel;
use super::ending::Unanswered;
use super::negotiation::Known;
use super::observer::Observer;
use super::outgoing::Outgoing;
use super::{span, standing_stream};
use crate::call::trace::{Recording, Trace};
use crate::client::error::{Executed, Failed, Failure};
use crate::client::questions::handlers::capabilities_json;
use crate::client::wire::exchange::{self, Expected};
use crate::client::wire::headers;
use crate::client::wire::message::{Meta, write_message};
use crate::client::wire::response::ServerResponse;
use crate::client::wire::task;
use crate::host::{FetchError, Opened, Outbound};
use crate::limits::UPSTREAM_BYTES;
use crate::protocol::revision::{Era, Revision};

/// The exchange of a request, until its answer has arrived.
///
/// The time limit and the limits of questions and bytes continue if its stream is resumed.
pub(super) struct Exchange<'c> {
    channel: &'c Channel,
    credential: Option<HeaderValue>,
    expected: Rc<Expected>,
    observer: Rc<Observer>,
    unanswered: Unanswered<'c>,
    span: Option<Box<Recording>>,
    time: Duration,
    timer: LocalBoxFuture<'static, ()>,
    /// Reads the stream of the session meanwhile. Modern servers have no sessions.
    standing: Option<LocalBoxFuture<'c, Result<(), Failed>>>,
}

/// The head of a response that has not arrived.
type Opening = LocalBoxFuture<'static, Result<Opened, FetchError>>;

impl<'c> Exchange<'c> {
    /// Creates the exchange of a request, and posts the request.
    ///
    /// # Errors
    /// The connection has sent all requests that it may send.
    pub(super) fn new(
        channel: &'c Rc<Channel>,
        outgoing: &Outgoing,
        known: Known,
        time: Duration,
        credential: Option<HeaderValue>,
    ) -> Result<(Self, Opening), Failed> {
        let (id, era) = (channel.of_call().next_id(), known.era());
        let span = span::start(channel, outgoing, known.revision());
        let request = match request(channel, &id, outgoing, known, credential.clone(), span.as_deref()) {
            Ok(request) => request,
            Err(failed) => {
                span::end(span, &Err(&failed));
                return Err(failed);
            }
        };
        let unanswered = Unanswered::new(channel, &request, &id);
        let opening = channel.open(request);
        let observer = Rc::new(Observer {
            channel: channel.clone(),
            listeners: outgoing.listeners.clone(),
            era,
            token: progress_token(&id).to_owned(),
            last: Cell::new(f64::NEG_INFINITY),
            questions: outgoing.questions.clone(),
        });
        let (received, total) = (outgoing.received.clone(), outgoing.most_bytes);
        let expected = Expected { id, era, bytes: UPSTREAM_BYTES, received, total, position: RefCell::default() };
        let expected = Rc::new(expected);
        let standing = (era == Era::Legacy)
            .then(|| standing_stream::messages(channel, expected.clone(), observer.clone()).boxed_local());
        let timer = channel.host().sleep(time);
        Ok((Self { channel, credential, expected, observer, unanswered, span, time, timer, standing }, opening))
    }

    /// Returns the credential of the request.
    pub(super) fn credential(&self) -> Option<&HeaderValue> {
        self.credential.as_ref()
    }

    /// Reads the answer.
    pub(super) async fn read(&mut self, opening: Opening) -> Result<ServerResponse, Failed> {
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
    pub(super) async fn resume(&mut self) -> Result<ServerResponse, Failed> {
        let Some(position) = self.expected.position.take() else { return Err(Failure::Interrupted.into()) };
        let (channel, expected, observer) = (self.channel, self.expected.clone(), self.observer.clone());
        let exchange = async {
            channel.host().sleep(position.pause).await;
            let mut request = channel.stream_request().await?;
            headers::add(&mut request, headers::LAST_EVENT_ID, position.last_event.clone());
            let opening = channel.open(request);
            // The server may have executed the request, so each failure is an interruption of its answer.
            let opened = opening.await.map_err(|error| Failed::new(Failure::Interrupted, Some(error.to_string())))?;
            if opened.status != 200 || exchange::media_type(&opened.headers).as_deref() != Some("text/event-stream") {
                let cause = format!("the stream cannot be resumed: status {}", opened.status);
                return Err(Failed::new(Failure::Interrupted, Some(cause)));
            }
            exchange::read(opened, &expected, &*observer).await
        };
        let answer = self.answer(exchange).await;
        if answer.as_ref().is_err_and(Failed::is_interruption) {
            self.expected.position.borrow_mut().get_or_insert(position);
        }
        answer
    }

    /// Ends the exchange. If the request exceeded a limit, the server is asked to cancel it.
    pub(super) fn end(mut self, answer: &Result<ServerResponse, Failed>) {
        self.unanswered.settle(answer);
        span::end(self.span, &answer.as_ref());
    }

    /// Waits for an answer until the time limit of the request. Meanwhile, the observer gets the messages on the stream of the session.
    async fn answer(
        &mut self,
        exchange: impl Future<Output = Result<ServerResponse, Failed>>,
    ) -> Result<ServerResponse, Failed> {
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
        answer.map_err(|failed| failed.executed_as(Executed::Unknown))
    }
}

/// Creates the HTTP request for a message with this id.
fn request(
    channel: &Channel,
    id: &str,
    outgoing: &Outgoing,
    known: Known,
    credential: Option<HeaderValue>,
    span: Option<&Recording>,
) -> Result<Outbound, Failed> {
    let message = message(channel, id, outgoing, known, span);
    if known.era() == Era::Legacy {
        return channel.session_request(Method::POST, message, credential);
    }
    let mut request = channel.http_request(Method::POST, message, credential)?;
    let Outgoing { method, target, header_params, .. } = outgoing;
    let version = Revision::V2026_07_28.name();
    headers::add_modern(&mut request, version, method, target.as_deref(), header_params);
    Ok(request)
}

fn message(channel: &Channel, id: &str, outgoing: &Outgoing, known: Known, span: Option<&Recording>) -> String {
    let modern = (known.era() == Era::Modern).then(|| known.revision());
    let of_request = || channel.cx().trace().and_then(Trace::context);
    let trace = span.map(|span| span.context().clone()).or_else(of_request);
    let Outgoing { method, params, capabilities, listeners, .. } = outgoing;
    let capabilities = capabilities.unwrap_or_else(|| channel.upstream().handlers.capabilities());
    let meta = Meta {
        modern: modern.map(|revision| (revision.name(), channel.client_info())),
        capabilities: &modern.map_or_else(String::new, |revision| {
            capabilities_json(capabilities, &extensions(channel, outgoing), revision)
        }),
        progress_token: listeners.progress.is_some().then(|| progress_token(id)),
        log_level: listeners.log.as_ref().map(|(level, _)| *level),
        trace: trace.as_ref(),
        own: &channel.own_meta(),
    };
    write_message(Some(id), method, params, &meta)
}

/// Returns the extensions to declare in a modern request: those of the program, and tasks where the server may answer with a task.
fn extensions<'c>(channel: &'c Channel, outgoing: &Outgoing) -> Cow<'c, Map<String, Value>> {
    let mut extensions = Cow::Borrowed(&channel.upstream().extensions);
    if outgoing.may_be_task() || outgoing.is_of_task() {
        extensions.to_mut().entry(task::EXTENSION).or_insert_with(|| Value::Object(Map::new()));
    }
    extensions
}

/// Returns the progress token of the request with this id: the id without its quotes.
fn progress_token(id: &str) -> &str {
    id.trim_matches('"')
}
