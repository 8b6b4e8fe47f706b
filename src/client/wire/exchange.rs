//! One HTTP exchange: a message is posted, and the answer is read from JSON or from an event stream.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonError, JsonLimits, Value};
use futures::StreamExt;
use futures::future::LocalBoxFuture;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use serde_json::value::RawValue;

use super::challenge::BearerChallenge;
use super::headers::{self, HEADER_BYTES};
use super::response::{self, RpcResponse, ServerResponse};
use super::sse::{Event, EventReader};
use super::statuses;
use crate::client::error::{ClientError, Failure, NotMcp, Unreachable};
use crate::host::{FetchError, Opened};
use crate::limits::{UPSTREAM_BYTES, UPSTREAM_EVENTS, UPSTREAM_RETRY_SECONDS, UPSTREAM_STREAM_BYTES};
use crate::protocol::reply::ServerMessage;
use crate::protocol::revision::Era;

/// The values with which an exchange reads the answer to its request.
pub(in crate::client) struct ExpectedAnswer {
    /// The id of the request, as JSON text.
    pub id: String,
    pub era: Era,
    /// The number of bytes of all answers to the request.
    pub received: Rc<Cell<usize>>,
    /// The limit of `received`.
    pub total: usize,
    /// The position at which the stream of a legacy server was interrupted.
    pub position: RefCell<Option<StreamPosition>>,
}

/// An open event stream, and the amount that was read from it.
pub(in crate::client) struct ServerStream {
    opened: Opened,
    reader: EventReader,
    bytes: usize,
    events: usize,
}

impl ServerStream {
    pub(in crate::client) fn new(opened: Opened) -> Self {
        Self { opened, reader: EventReader::default(), bytes: 0, events: 0 }
    }
}

/// A position in an event stream, at which a server can resume the stream.
#[derive(Clone, Debug)]
pub(in crate::client) struct StreamPosition {
    pub last_event: HeaderValue,
    /// The pause before the resumption.
    pub pause: Duration,
}

/// A request of a server to this client.
#[derive(Debug)]
pub(in crate::client) struct ServerRequest {
    /// The id, as JSON text.
    pub id: Box<str>,
    pub method: String,
    pub params: Option<Box<RawValue>>,
}

/// Receives the messages of an event stream that are not the response.
pub(in crate::client) trait StreamReceiver {
    /// Receives a notification.
    fn notification(&self, method: &str, params: Option<Value<'_>>);

    /// Receives a request of the server. The stream is not read until the future is ready.
    ///
    /// # Errors
    /// The failure ends the exchange.
    fn request(&self, request: ServerRequest) -> LocalBoxFuture<'_, Result<(), ClientError>>;
}

impl ExpectedAnswer {
    /// Counts received bytes.
    ///
    /// # Errors
    /// All answers together are longer than their limit.
    fn count(&self, bytes: usize) -> Result<(), ClientError> {
        self.received.set(self.received.get().saturating_add(bytes));
        if self.received.get() > self.total { Err(TOO_LONG.into()) } else { Ok(()) }
    }
}

/// The meaning of an event.
enum EventMeaning {
    /// The event is ignored.
    Nothing,
    Response(RpcResponse),
    Request(ServerRequest),
}

/// Reads the answer to a request.
///
/// `receiver` gets the other messages of an event stream.
pub(in crate::client) async fn read(
    mut opened: Opened,
    expected: &ExpectedAnswer,
    receiver: &dyn StreamReceiver,
) -> Result<ServerResponse, ClientError> {
    let status = opened.status;
    let challenge = challenge(&opened);
    if let Some(error) = statuses::of_status(&mut opened, challenge.as_ref()).await {
        return Ok(ServerResponse::Http { status, error, challenge });
    }
    let media_type = media_type(&opened.headers);
    match media_type.as_deref() {
        Some("application/json") => read_json(opened, expected).await,
        Some("text/event-stream") if status < 300 => read_stream(opened, expected, receiver).await,
        _ if status >= 300 => Ok(not_rpc(status)),
        Some("text/html") => Err(Failure::NotMcp(NotMcp::WebPage).into()),
        _ => Err(ClientError::new(
            Failure::Malformed("is not of type application/json or text/event-stream"),
            media_type.filter(|it| is_usual(it)),
        )),
    }
}

fn rpc(opened: &Opened, mut outcome: RpcResponse) -> ServerResponse {
    if let Ok(result) = &mut outcome {
        result.session = opened.headers.get(headers::SESSION).cloned();
    }
    ServerResponse::Rpc { status: opened.status, outcome }
}

/// Returns the answer for a body that is not JSON-RPC.
fn not_rpc(status: u16) -> ServerResponse {
    ServerResponse::Http { status, error: statuses::of_other_body(status), challenge: None }
}

/// Returns the challenge of a response that rejects the credential.
pub(in crate::client) fn challenge(opened: &Opened) -> Option<BearerChallenge> {
    if matches!(opened.status, 401 | 403) { BearerChallenge::of(&opened.headers) } else { None }
}

async fn read_json(mut opened: Opened, expected: &ExpectedAnswer) -> Result<ServerResponse, ClientError> {
    let mut body = Vec::new();
    while let Some(chunk) = opened.body.next().await {
        let chunk = chunk.map_err(of_body)?;
        expected.count(chunk.len())?;
        if body.len().saturating_add(chunk.len()) > UPSTREAM_BYTES {
            return Err(TOO_LONG.into());
        }
        body.extend_from_slice(&chunk);
    }
    let document = match Document::parse(&body, JsonLimits::default()) {
        Ok(document) => document,
        Err(_) if opened.status >= 300 => return Ok(not_rpc(opened.status)),
        Err(error) => return Err(not_json(&error)),
    };
    // A server that has not read a request does not know its id. With a status from 400, an error is the answer to this HTTP request, and
    // servers write a fixed id, such as "server-error".
    let is_of_request = |id: Option<&str>| id.is_none() || opened.status >= 400;
    match ServerMessage::read(document.root()) {
        Ok(ServerMessage::Response { id, outcome })
            if id == Some(&*expected.id) || (outcome.is_err() && is_of_request(id)) =>
        {
            Ok(rpc(&opened, response::outcome(outcome)))
        }
        Ok(ServerMessage::Response { .. }) => Err(Failure::Malformed("is the answer to another request").into()),
        _ if opened.status >= 300 => Ok(not_rpc(opened.status)),
        Ok(_) => Err(Failure::Malformed("is not a response").into()),
        Err(problem) => Err(Failure::Malformed(problem).into()),
    }
}

async fn read_stream(
    opened: Opened,
    expected: &ExpectedAnswer,
    receiver: &dyn StreamReceiver,
) -> Result<ServerResponse, ClientError> {
    let mut stream = ServerStream::new(opened);
    let answer = read_events(&mut stream, expected, receiver).await;
    if expected.era == Era::Legacy && answer.as_ref().is_err_and(ClientError::is_interruption) {
        expected.position.replace(StreamPosition::of(&stream.reader));
    }
    answer
}

impl StreamPosition {
    /// Returns the position after the last event that has an id.
    fn of(reader: &EventReader) -> Option<Self> {
        const PAUSE: Duration = Duration::from_secs(1);
        const LONGEST_PAUSE: Duration = Duration::from_secs(UPSTREAM_RETRY_SECONDS);
        let id = reader.last_id().filter(|id| id.len() <= HEADER_BYTES)?;
        let last_event = HeaderValue::from_bytes(id).ok()?;
        Some(Self { last_event, pause: reader.retry().unwrap_or(PAUSE).min(LONGEST_PAUSE) })
    }
}

/// Reads events up to the response.
pub(in crate::client) async fn read_events(
    stream: &mut ServerStream,
    expected: &ExpectedAnswer,
    receiver: &dyn StreamReceiver,
) -> Result<ServerResponse, ClientError> {
    let ServerStream { opened, reader, bytes, events } = stream;
    while let Some(chunk) = opened.body.next().await {
        let chunk = chunk.map_err(of_body)?;
        *bytes = bytes.saturating_add(chunk.len());
        expected.count(chunk.len())?;
        reader.feed(&chunk);
        while let Some(event) = reader.next_event() {
            *events = events.saturating_add(1);
            if event.data.len() > UPSTREAM_BYTES || *events > UPSTREAM_EVENTS {
                return Err(TOO_LONG.into());
            }
            match read_event(&event, expected, receiver)? {
                EventMeaning::Nothing => {}
                EventMeaning::Response(outcome) => return Ok(rpc(opened, outcome)),
                EventMeaning::Request(request) => receiver.request(request).await?,
            }
        }
        if reader.pending() > UPSTREAM_BYTES || *bytes > UPSTREAM_STREAM_BYTES {
            return Err(TOO_LONG.into());
        }
    }
    Err(Failure::Interrupted.into())
}

fn read_event(
    event: &Event,
    expected: &ExpectedAnswer,
    receiver: &dyn StreamReceiver,
) -> Result<EventMeaning, ClientError> {
    if !matches!(event.name.as_slice(), b"" | b"message") {
        return Ok(EventMeaning::Nothing);
    }
    // Legacy servers may send data that is not a message. Servers send an event without data to give it an id.
    let is_lenient = expected.era == Era::Legacy || event.data.is_empty();
    let document = match Document::parse(&event.data, JsonLimits::default()) {
        Ok(document) => document,
        Err(_) if is_lenient => return Ok(EventMeaning::Nothing),
        Err(error) => return Err(not_json(&error)),
    };
    match ServerMessage::read(document.root()) {
        Ok(ServerMessage::Response { id, outcome }) if id == Some(&*expected.id) => {
            Ok(EventMeaning::Response(response::outcome(outcome)))
        }
        Ok(ServerMessage::Notification { method, params }) => {
            receiver.notification(&method, params);
            Ok(EventMeaning::Nothing)
        }
        Ok(ServerMessage::Request { id, method, params }) => {
            let params = params.and_then(Value::to_raw);
            Ok(EventMeaning::Request(ServerRequest { id: id.text().into(), method: method.into_owned(), params }))
        }
        // A resumed stream may repeat the responses to other requests.
        Ok(ServerMessage::Response { .. }) | Err(_) if is_lenient => Ok(EventMeaning::Nothing),
        Ok(ServerMessage::Response { .. }) => Err(Failure::Malformed("is the answer to another request").into()),
        Err(problem) => Err(Failure::Malformed(problem).into()),
    }
}

/// Returns the failure of a text that is not JSON. The log gets nothing of the text.
fn not_json(error: &JsonError) -> ClientError {
    let cause = match error {
        JsonError::DuplicateKey { .. } => "a key occurs twice in one object".to_owned(),
        error => error.to_string(),
    };
    ClientError::new(Failure::Malformed("is not valid JSON"), Some(cause))
}

/// The failure of an answer that exceeds a limit of its bytes or its events.
pub(in crate::client) const TOO_LONG: Failure = Failure::LimitExceeded("the answer is too long");

/// Returns the failure of a connection that breaks while the body arrives.
fn of_body(error: FetchError) -> ClientError {
    match error {
        FetchError::TooLarge => TOO_LONG.into(),
        FetchError::TooSlow => ClientError::new(Failure::Interrupted, Some(error.to_string())),
        FetchError::Failed(cause) => ClientError::new(Failure::Interrupted, Some(cause)),
        error => ClientError::new(Failure::Interrupted, Some(error.to_string())),
    }
}

/// Returns the failure of a request that has no response.
pub(in crate::client) fn of_connection(error: FetchError) -> ClientError {
    let cause = match error {
        FetchError::Failed(cause) => cause,
        error => error.to_string(),
    };
    ClientError::new(Failure::Unreachable(Unreachable::Connection), Some(cause))
}

/// Returns the media type in lower case, without its parameters.
pub(in crate::client) fn media_type(response: &HeaderMap) -> Option<String> {
    let value = headers::text(response.get(CONTENT_TYPE))?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}

/// Returns whether a media type may be in the log.
fn is_usual(media_type: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"/+-.".contains(&byte);
    media_type.len() <= 64 && media_type.contains('/') && media_type.bytes().all(is_usual)
}

/// Checks the answer to a notification.
pub(in crate::client) async fn accepted(opened: &mut Opened) -> Result<(), ClientError> {
    let challenge = challenge(opened);
    match statuses::of_status(opened, challenge.as_ref()).await {
        Some(error) => Err(error),
        None if opened.status < 300 => Ok(()),
        None => Err(statuses::of_other_body(opened.status)),
    }
}
