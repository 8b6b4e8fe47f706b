//! Answers that are not streams: the response to a request, the responses to a batch, and the empty 202.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, MaybeDone, maybe_done};
use http::{Response, StatusCode};

use super::http_error::status_of;
use super::log_line::LogLine;
use super::reply::Reply;
use super::stream::Body;
use crate::protocol::error::ErrorCode;
use crate::protocol::message::error_response;
use crate::rpc::Prepared;

/// The response to one request.
pub(super) struct Answered {
    pub status: StatusCode,
    /// The JSON-RPC response.
    pub message: Vec<u8>,
    /// The code of the error, if the response is an error.
    pub error: Option<ErrorCode>,
}

/// Runs a call to its end.
pub(super) async fn respond(prepared: Prepared) -> Answered {
    let cx = prepared.cx().clone();
    match prepared.finish().await {
        Ok(message) => Answered { status: StatusCode::OK, message, error: None },
        Err(error) => Answered {
            status: status_of(cx.revision().era(), error.code),
            message: error_response(Some(cx.request_id()), &error),
            error: Some(error.code),
        },
    }
}

/// Runs the calls of a batch to their ends, at most `concurrent` of them at the same time, and answers with an array.
pub(super) async fn respond_to_batch(calls: Vec<Prepared>, concurrent: usize, line: &mut LogLine) -> Reply {
    let mut waiting = calls.into_iter().map(|call| maybe_done(respond(call).boxed_local()));
    let mut running: VecDeque<_> = waiting.by_ref().take(concurrent.max(1)).collect();
    let mut body = vec![b'['];
    while let Some(answered) = answer_at_front(&mut running).await {
        running.extend(waiting.next());
        let Answered { message, error, .. } = answered;
        line.error(error);
        if body.len() > 1 {
            body.push(b',');
        }
        body.extend(message);
    }
    body.push(b']');
    Reply::Json(StatusCode::OK, body)
}

/// Polls all calls until the call at the front of the queue has its answer. Removes this call and returns its answer. Returns `None` if
/// the queue is empty.
async fn answer_at_front(running: &mut VecDeque<MaybeDone<LocalBoxFuture<'static, Answered>>>) -> Option<Answered> {
    poll_fn(|task| {
        // A batch has few calls, so a wake-up of one call polls all of them.
        for call in running.iter_mut() {
            let _is_done = call.poll_unpin(task);
        }
        if matches!(running.front(), Some(MaybeDone::Future(_))) { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    Pin::new(&mut running.pop_front()?).take_output()
}

/// Returns a 202 without a body, for messages that need no response.
pub(super) fn accepted() -> Reply {
    let mut response = Response::new(Body::Bytes(Vec::new()));
    *response.status_mut() = StatusCode::ACCEPTED;
    response.into()
}
