//! The answer to a batch.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, MaybeDone, maybe_done};
use http::StatusCode;

use super::log_line::LogLine;
use super::reply::Reply;
use crate::engine::limits::Limits;
use crate::engine::running::{Answer, Running};

/// Runs the calls of a batch to their ends, at most [`Limits::concurrent`] of them at the same time, and answers with an array.
pub(super) async fn answer_batch(calls: Vec<Running>, limits: &Limits, line: &mut LogLine) -> Reply {
    let run = |call: Running| maybe_done(call.finish(Some(limits.waiting_answers())).boxed_local());
    let mut waiting = calls.into_iter().map(run);
    let mut running: VecDeque<_> = waiting.by_ref().take(limits.concurrent.max(1)).collect();
    let mut body = vec![b'['];
    let mut held = Vec::new();
    while let Some(answer) = answer_at_front(&mut running).await {
        running.extend(waiting.next());
        let Answer { message, error, memory } = answer;
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
async fn answer_at_front(running: &mut VecDeque<MaybeDone<LocalBoxFuture<'static, Answer>>>) -> Option<Answer> {
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
