//! The event stream of a session, on which a legacy server sends messages that belong to no request.
//!
//! Servers with the official TypeScript SDK 1.x ask their questions there, unless the code of the server names the request to which a
//! question belongs. Without the stream, such a question is lost, and the call waits for its timeout. The stream is open as long as the
//! connection, and it is read while a request waits for its answer. Only a program that answers questions opens it. If the server sends too
//! much on it, the client closes it and continues without it.
//!
//! Source: 2025-11-25, basic/transports, "Listening for Messages from the Server".

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::future::{Either, select};

use crate::client::conversation::Conversation;
use crate::client::error::ClientError;
use crate::client::wire::exchange::{ExpectedAnswer, ServerStream, StreamReceiver, TOO_LONG, media_type, read_events};
use crate::limits::UPSTREAM_STREAM_SECONDS;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::revision::Era;

/// The longest time to wait for the head of the stream. Some servers send it only with the first message.
const OPENING: Duration = Duration::from_secs(UPSTREAM_STREAM_SECONDS);

/// Opens the stream of a new session, if the program answers questions. A server without such a stream answers with status 405, and the
/// client goes on without it.
pub(super) async fn open(conversation: &Conversation) {
    let is_needed = conversation.server.upstream.handlers.capabilities() != ClientCapabilities::default()
        && conversation.has_session();
    if !is_needed {
        return;
    }
    let Ok(request) = conversation.stream_request().await else { return };
    let opening = conversation.open(request);
    let Either::Left((Ok(opened), _)) = select(opening, conversation.cx.host().sleep(OPENING)).await else { return };
    let is_stream = opened.status == 200 && media_type(&opened.headers).as_deref() == Some("text/event-stream");
    if let Some(mut stream) = conversation.standing_stream.try_lock()
        && is_stream
    {
        *stream = Some(ServerStream::new(opened));
    }
}

/// Reads the stream to its end, while a request waits for its answer. The bytes of the stream count as bytes of the answers that the request
/// expects. If several requests wait, one of them at a time reads the stream.
///
/// # Errors
/// A question cannot be answered.
pub(super) async fn messages(
    conversation: &Conversation,
    request: Rc<ExpectedAnswer>,
    receiver: Rc<impl StreamReceiver>,
) -> Result<(), ClientError> {
    let mut stream = conversation.standing_stream.lock().await;
    let Some(open) = &mut *stream else { return Ok(()) };
    // No id is empty, so no response on this stream is the answer to a request.
    let expected = ExpectedAnswer {
        id: String::new(),
        era: Era::Legacy,
        received: request.received.clone(),
        total: request.total,
        position: RefCell::default(),
    };
    match read_events(open, &expected, &*receiver).await {
        Err(error) if !error.is_interruption() && *error.failure() != TOO_LONG => Err(error),
        _ => {
            *stream = None;
            Ok(())
        }
    }
}
