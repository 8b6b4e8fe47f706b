//! Answers that are not streams: the response to a request, the responses to a batch, and the empty 202.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, MaybeDone, maybe_done};
use http::{Response, StatusCode};

use super::http_error::status_of;
use super::in_flight::Reservation;
use super::limits::Limits;
use super::log_line::LogLine;
use super::reply::Reply;
use super::stream::Body;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::error_response;
use crate::rpc::Prepared;

/// The response to one request.
pub(super) struct Answered {
    pub status: StatusCode,
    /// The JSON-RPC response.
    pub message: Vec<u8>,
    /// The code of the error, if the response is an error.
    pub error: Option<ErrorCode>,
    /// The memory for the message while it waits.
    pub memory: Option<Reservation>,
}

/// Runs a call to its end. If its answer can wait for a batch or a client, all answers that wait may have `waiting` bytes together.
pub(super) async fn respond(prepared: Prepared, waiting: Option<usize>) -> Answered {
    let cx = prepared.cx().clone();
    let answered = prepared.finish().await;
    let answered = answered.and_then(|message| {
        let memory = waiting.map(|limit| Reservation::of_answer(message.len(), limit, cx.now_ms())).transpose();
        let full = "The memory of this server for answers is full, so the answer of this call is lost. The call may have had effects.";
        memory.map(|memory| (message, memory)).map_err(|_| RpcError::new(ErrorCode::Internal, full))
    });
    match answered {
        Ok((message, memory)) => Answered { status: StatusCode::OK, message, error: None, memory },
        Err(error) => Answered {
            status: status_of(cx.revision().era(), error.code),
            message: error_response(Some(cx.request_id()), &error),
            error: Some(error.code),
            memory: None,
        },
    }
}

/// Runs the calls of a batch to their ends, at most [`Limits::concurrent`] of them at the same time, and answers with an array.
pub(super) async fn respond_to_batch(calls: Vec<Prepared>, limits: &Limits, line: &mut LogLine) -> Reply {
    let run = |call| maybe_done(respond(call, Some(limits.waiting_answers())).boxed_local());
    let mut waiting = calls.into_iter().map(run);
    let mut running: VecDeque<_> = waiting.by_ref().take(limits.concurrent.max(1)).collect();
    let mut body = vec![b'['];
    let mut held = Vec::new();
    while let Some(answered) = answer_at_front(&mut running).await {
        running.extend(waiting.next());
        let Answered { message, error, memory, .. } = answered;
        held.extend(memory);
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
