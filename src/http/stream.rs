//! Event streams (SSE): the notifications of a handler, and then the response.
//!
//! Source: 2026-07-28, basic/transports/streamable-http, "Sending Messages to the Server"; older revisions, the same section.
//! Events have no ids, because the server keeps no events, so it cannot send them again.

use std::pin::Pin;
use std::task::{Context as Task, Poll};

use edge_json::has_control;
use futures::channel::mpsc;
use futures::{Stream, StreamExt};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, Response, StatusCode};

use super::constant_header::set;
use crate::call::connection::ConnectionGuard;
use crate::call::notifications::Notifications;
use crate::engine::memory::Reservation;

/// The body of a response.
#[derive(Debug)]
pub enum Body {
    /// The whole body, which may be empty.
    Bytes(Vec<u8>),
    /// An event stream.
    Stream(EventStream),
}

/// A part of the answer to a request.
#[derive(Debug)]
pub(super) enum Part {
    /// A notification, as JSON.
    Notification(Vec<u8>),
    /// The response, and the memory that it holds until the client reads it. It is the last part.
    Response(StatusCode, Vec<u8>, Option<Reservation>),
    /// The handler has not sent anything for `SILENCE_SECONDS`.
    Silence,
}

/// All parts of the answer to a request.
#[derive(Debug)]
pub(super) struct PartStream {
    pub notifications: Notifications,
    pub rest: mpsc::UnboundedReceiver<Part>,
}

impl Stream for PartStream {
    type Item = Part;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Option<Part>> {
        // The handler sends all notifications before the response, so they are received first.
        if let Poll::Ready(Some(notification)) = self.notifications.poll_next_unpin(task) {
            return Poll::Ready(Some(Part::Notification(notification)));
        }
        self.rest.poll_next_unpin(task)
    }
}

/// The events of a streamed body. The host drops the stream before its end if the client has disconnected.
#[derive(Debug)]
pub struct EventStream {
    first: Option<Part>,
    rest: PartStream,
    /// Notifies the handler when the stream is dropped.
    _open: ConnectionGuard,
}

impl EventStream {
    pub(super) fn new(first: Part, rest: PartStream, open: ConnectionGuard) -> Self {
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

/// Formats a part as an event. Silence becomes a comment, which clients ignore. The comment keeps the connection open.
fn event(part: Part) -> Vec<u8> {
    match part {
        Part::Notification(message) => message_event(message),
        Part::Response(_, message, memory) => {
            // The host has read the stream up to here, so the response does not wait any more.
            drop(memory);
            message_event(message)
        }
        Part::Silence => b": keep-alive\n\n".to_vec(),
    }
}

fn message_event(message: Vec<u8>) -> Vec<u8> {
    [b"event: message\ndata: ", on_one_line(message).as_slice(), b"\n\n"].concat()
}

/// Replaces line breaks with spaces, because a line break would end the data of the event. JSON escapes line breaks in strings, so this
/// changes only whitespace between tokens. The `RawValue` of a handler may contain such line breaks.
fn on_one_line(mut message: Vec<u8>) -> Vec<u8> {
    if has_control(&message) {
        for byte in message.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
    }
    message
}

/// Returns the response with a stream as its body.
pub(super) fn response(stream: EventStream) -> Response<Body> {
    with_headers(Body::Stream(stream))
}

/// Returns the response with an event stream of one message.
#[cold]
pub(super) fn complete(message: Vec<u8>) -> Response<Body> {
    with_headers(Body::Bytes(message_event(message)))
}

fn with_headers(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    set(headers, CONTENT_TYPE, "text/event-stream");
    set(headers, CACHE_CONTROL, "no-cache, no-transform");
    // Asks proxies not to buffer the response.
    set(headers, HeaderName::from_static("x-accel-buffering"), "no");
    response
}
