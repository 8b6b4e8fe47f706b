//! Answers as a stream of events: the notifications of a handler as it sends them, and the response at the end.
//!
//! Source: 2026-07-28, basic/transports/streamable-http, "Sending Messages to the Server"; the older transports, the same.
//! No event has an id, since none can be sent again.

use std::pin::Pin;
use std::task::{Context as Task, Poll};

use futures::channel::{mpsc, oneshot};
use futures::{Stream, StreamExt};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{HeaderName, Response, StatusCode};

use crate::call::notifications::Notifications;
use crate::json::has_control;

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    /// All of it; none, if it is empty.
    Bytes(Vec<u8>),
    /// A part at a time, as it comes.
    Stream(EventStream),
}

/// What comes out of a request that is being answered.
#[derive(Debug)]
pub(super) enum Part {
    /// A notification, as JSON.
    Notification(Vec<u8>),
    /// The response, which is the last part.
    Response(StatusCode, Vec<u8>),
    /// Nothing, for a while.
    Silence,
}

/// All that comes out of a request: the notifications, and the rest, which ends with the response.
#[derive(Debug)]
pub(super) struct Parts {
    pub notifications: Notifications,
    pub rest: mpsc::UnboundedReceiver<Part>,
}

impl Stream for Parts {
    type Item = Part;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Option<Part>> {
        // All notifications were sent before the response, and so come before it.
        if let Poll::Ready(Some(notification)) = self.notifications.poll_next_unpin(task) {
            return Poll::Ready(Some(Part::Notification(notification)));
        }
        self.rest.poll_next_unpin(task)
    }
}

/// The parts of a streamed body. Whoever drops it before its end has gone away.
#[derive(Debug)]
pub struct EventStream {
    first: Option<Part>,
    rest: Parts,
    /// Dropped with the stream, which tells the handler.
    _open: oneshot::Sender<()>,
}

impl EventStream {
    pub(super) fn new(first: Part, rest: Parts, open: oneshot::Sender<()>) -> Self {
        Self { first: Some(first), rest, _open: open }
    }
}

impl Stream for EventStream {
    type Item = Vec<u8>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Task<'_>) -> Poll<Option<Vec<u8>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(event(first)));
        }
        self.rest.poll_next_unpin(cx).map(|part| part.map(event))
    }
}

/// A part as an event. Silence is a comment, which clients ignore and which keeps a connection open.
fn event(part: Part) -> Vec<u8> {
    match part {
        Part::Notification(message) | Part::Response(_, message) => {
            [b"event: message\ndata: ", on_one_line(message).as_slice(), b"\n\n"].concat()
        }
        Part::Silence => b": keep-alive\n\n".to_vec(),
    }
}

/// The message, with spaces in place of line breaks, which would end the event's data. JSON escapes those within strings, so that
/// only whitespace changes. It is there if a handler gives JSON that it has not written itself, as a `RawValue`.
fn on_one_line(mut message: Vec<u8>) -> Vec<u8> {
    if has_control(&message) {
        for byte in message.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
    }
    message
}

/// The answer that is such a stream.
pub(super) fn response(stream: EventStream) -> Response<Body> {
    with_headers(Body::Stream(stream))
}

/// The answer that is a stream of these messages, all of them there.
pub(super) fn whole(messages: impl IntoIterator<Item = Vec<u8>>) -> Response<Body> {
    let events = messages.into_iter().flat_map(|message| event(Part::Notification(message)));
    with_headers(Body::Bytes(events.collect()))
}

fn with_headers(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // Proxies that gather an answer before they pass it on are asked not to.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
