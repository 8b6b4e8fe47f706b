//! The event stream of a session, on which a legacy server sends messages that belong to no request.
//!
//! Servers with the official TypeScript SDK 1.x ask their questions there, unless the code of the server names the request to which a
//! question belongs. Without the stream, such a question is lost, and the call waits for its timeout. The stream is open as long as the
//! connection, and it is read while a request waits for its answer. Only a program that answers questions opens it. If the server sends too
//! much on it, the client closes it and continues without it.
//!
//! Source: 2025-11-25, basic/transports, "Listening for Messages from the Server".

use std::cell::RefCell;
use std::time::Duration;

use futures::future::{Either, select};
use futures::pin_mut;

use super::connection::Link;
use super::error::Failed;
use super::event_stream::EventStream;
use super::exchange::{Expected, TOO_LONG, media_type, read_events};
use super::observer::Observer;
use crate::limits::{UPSTREAM_BYTES, UPSTREAM_STREAM_SECONDS};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::revision::Era;

/// The longest time to wait for the head of the stream. Some servers send it only with the first message.
const OPENING: Duration = Duration::from_secs(UPSTREAM_STREAM_SECONDS);

impl Link {
    /// Opens the stream of a new session, if the program answers questions. A server without such a stream answers with status 405, and
    /// the client goes on without it.
    pub(super) async fn open_standing_stream(&self) {
        let upstream = self.upstream();
        let is_needed = upstream.handlers.capabilities() != ClientCapabilities::default() && self.has_session();
        if !is_needed {
            return;
        }
        let Ok(request) = self.stream_request().await else { return };
        let opening = upstream.transport.open(request, self.host());
        let Either::Left((Ok(opened), _)) = select(opening, self.host().sleep(OPENING)).await else { return };
        let is_stream = opened.status == 200 && media_type(&opened.headers).as_deref() == Some("text/event-stream");
        if let Some(mut stream) = self.standing_stream.try_lock()
            && is_stream
        {
            *stream = Some(EventStream::new(opened));
        }
    }

    /// Runs the exchange of a request. Meanwhile, `observer` gets the messages on the stream of the session, whose bytes count as bytes of
    /// the answers that the request expects.
    ///
    /// # Errors
    /// The exchange fails, or a question cannot be answered.
    pub(super) async fn listening<T>(
        &self,
        expected: &Expected<'_>,
        observer: &Observer<'_>,
        exchange: impl Future<Output = Result<T, Failed>>,
    ) -> Result<T, Failed> {
        let messages = self.standing_messages(expected, observer);
        pin_mut!(exchange, messages);
        match select(exchange, messages).await {
            Either::Left((answer, _)) => answer,
            Either::Right((Ok(()), exchange)) => exchange.await,
            Either::Right((Err(failed), _)) => Err(failed),
        }
    }

    /// Reads the stream to its end. If several requests wait for their answers, one of them at a time reads the stream.
    async fn standing_messages(&self, request: &Expected<'_>, observer: &Observer<'_>) -> Result<(), Failed> {
        let mut stream = self.standing_stream.lock().await;
        let Some(open) = &mut *stream else { return Ok(()) };
        // No id is empty, so no response on this stream is the answer to a request.
        let expected = Expected {
            id: "",
            era: Era::Legacy,
            bytes: UPSTREAM_BYTES,
            received: request.received,
            total: request.total,
            position: RefCell::default(),
        };
        match read_events(open, &expected, observer).await {
            Err(failed) if !failed.is_interruption() && *failed.failure() != TOO_LONG => Err(failed),
            _ => {
                *stream = None;
                Ok(())
            }
        }
    }
}
