//! Runs a handler to its end, its deadline, or a question to the client.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::context::Context;
use super::failure;
use crate::host::log;
use crate::limits::{DEADLINE_SECONDS, LONGEST_DEADLINE_SECONDS};
use crate::protocol::error::{ErrorCode, RpcError};

/// The default deadline of a handler.
pub(crate) const DEADLINE: Duration = Duration::from_secs(DEADLINE_SECONDS);
/// The longest deadline that a handler can have.
pub(crate) const LONGEST_DEADLINE: Duration = Duration::from_secs(LONGEST_DEADLINE_SECONDS);

/// The outcome of a handler.
pub(crate) enum Ended<T> {
    /// The handler returned this value.
    Done(T),
    /// The handler waits for something that this round does not have: the answer to a question, or a later attempt of a durable task.
    Waits,
    /// The deadline passed.
    Late,
}

/// Runs `work` for at most `limit`.
///
/// A question ends the run as soon as no running step can still finish. A step that is cancelled earlier would have to
/// run again in the next round.
///
/// The timer is set when the handler first waits. Most handlers never wait, and setting a timer costs more than running
/// them. A handler that never waits cannot be stopped.
pub(crate) async fn run<F: Future>(cx: &Context, limit: Duration, work: F) -> Ended<F::Output> {
    cx.start_deadline(limit);
    let mut work = pin!(work);
    let mut timer: Option<LocalBoxFuture<'static, ()>> = None;
    let ended = std::future::poll_fn(|task| {
        let mut is_late = false;
        loop {
            if let Poll::Ready(done) = work.as_mut().poll(task) {
                return Poll::Ready(Ended::Done(done));
            }
            let rounds = cx.rounds();
            if rounds.is_round_over() || is_late && rounds.is_waiting() {
                return Poll::Ready(Ended::Waits);
            }
            if is_late {
                return Poll::Ready(Ended::Late);
            }
            let timer = timer.get_or_insert_with(|| cx.host().sleep(limit));
            if timer.poll_unpin(task).is_pending() {
                return Poll::Pending;
            }
            // Poll once more, so that work that became ready together with the timer is not lost.
            is_late = true;
        }
    })
    .await;
    if cx.depth() == 0 {
        for warning in cx.rounds().warnings() {
            log::warning(cx.host(), "rounds", &warning);
        }
    }
    ended
}

/// Returns the error text for a handler that exceeded its deadline.
pub(crate) fn late(cx: &Context, limit: Duration) -> String {
    let remedy = if cx.rounds().has_cancelled() {
        "It is not known whether another server executed its last request. Check its effect before you call again."
    } else {
        "Ask for less in one request, or try again later."
    };
    format!("The call did not finish within {} s and was cancelled. {remedy}", limit.as_secs())
}

/// Runs the handler of a prompt or a resource. Returns `None` if the handler asks the client for input.
pub(crate) async fn run_or_ask<F: Future>(
    cx: &Context,
    deadline: Duration,
    work: F,
) -> Result<Option<F::Output>, RpcError> {
    match run(cx, deadline, work).await {
        Ended::Done(made) => Ok(Some(made)),
        Ended::Waits => Ok(None),
        Ended::Late => Err(RpcError::new(ErrorCode::Internal, late(cx, deadline))),
    }
}

/// Runs a list or completion function. It cannot ask the client for input, because the results of these methods have no
/// member for a question.
pub(crate) async fn run_only<F: Future>(
    cx: &Context,
    deadline: Duration,
    name: &str,
    work: F,
) -> Result<F::Output, RpcError> {
    let done = run_or_ask(cx, deadline, work).await?;
    done.ok_or_else(|| failure::internal(cx.host(), name, &"a list or completion function asked the client for input"))
}

/// The builder method `deadline`, for items with a handler.
macro_rules! deadline_method {
    () => {
        /// Sets the deadline of the handler: 30 s by default, at most 300 s. When it passes, the caller gets an error
        /// and the handler is dropped at its current await point. A handler that never waits cannot be stopped.
        pub fn deadline(mut self, time: std::time::Duration) -> Self {
            self.deadline = time.min($crate::call::deadline::LONGEST_DEADLINE);
            self
        }
    };
}
pub(crate) use deadline_method;
