//! Running a handler: to its end, to its deadline, or to a question that only the client can answer.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::context::Context;
use super::failure;
use crate::limits::{DEADLINE_SECONDS, LONGEST_DEADLINE_SECONDS};
use crate::protocol::error::{ErrorCode, RpcError};

/// The default deadline of a handler.
pub(crate) const DEADLINE: Duration = Duration::from_secs(DEADLINE_SECONDS);
/// The longest deadline that a handler can have.
pub(crate) const LONGEST_DEADLINE: Duration = Duration::from_secs(LONGEST_DEADLINE_SECONDS);

/// How a handler ended.
pub(crate) enum Ended<T> {
    /// With what it returned.
    Done(T),
    /// At a question whose answer is not there yet.
    Asks,
    /// Not in time.
    Late,
}

/// Runs `work` for at most `limit`.
///
/// A question ends it once no step is running that could still finish, so that no step is broken off and run again.
///
/// The timer is set only once the handler waits for something: most do not, and to set it costs more than they do. A handler
/// that never waits cannot be stopped.
pub(crate) async fn run<F: Future>(cx: &Context, limit: Duration, work: F) -> Ended<F::Output> {
    let mut work = pin!(work);
    let mut timer: Option<LocalBoxFuture<'static, ()>> = None;
    let ended = std::future::poll_fn(|task| {
        let mut is_late = false;
        loop {
            if let Poll::Ready(done) = work.as_mut().poll(task) {
                return Poll::Ready(Ended::Done(done));
            }
            let exchange = cx.exchange();
            if exchange.is_round_over() || is_late && exchange.has_questions() {
                return Poll::Ready(Ended::Asks);
            }
            if is_late {
                return Poll::Ready(Ended::Late);
            }
            let timer = timer.get_or_insert_with(|| cx.host().sleep(limit));
            if timer.poll_unpin(task).is_pending() {
                return Poll::Pending;
            }
            // What became ready together with the timer is not lost.
            is_late = true;
        }
    })
    .await;
    if cx.depth() == 0 {
        for warning in cx.exchange().warnings() {
            failure::warn_of_rounds(cx.host(), &warning);
        }
    }
    ended
}

/// What a caller is told of a handler that was not done in time.
pub(crate) fn late(limit: Duration) -> String {
    format!("It was not done within {} s, and was given up. Ask for less at once, or try again later.", limit.as_secs())
}

/// Runs the handler of a prompt or a resource; `None`, if it asks for something first.
pub(crate) async fn run_or_ask<F: Future>(
    cx: &Context,
    deadline: Duration,
    work: F,
) -> Result<Option<F::Output>, RpcError> {
    match run(cx, deadline, work).await {
        Ended::Done(made) => Ok(Some(made)),
        Ended::Asks => Ok(None),
        Ended::Late => Err(RpcError::new(ErrorCode::Internal, late(deadline))),
    }
}

/// Runs a function that lists or completes, which cannot ask: their methods have no way to carry a question.
pub(crate) async fn run_only<F: Future>(
    cx: &Context,
    deadline: Duration,
    name: &str,
    work: F,
) -> Result<F::Output, RpcError> {
    let done = run_or_ask(cx, deadline, work).await?;
    done.ok_or_else(|| {
        failure::internal(cx.host(), name, &"a function that lists or completes has asked the client for input")
    })
}

/// The builder method of everything that has a handler, and so a `deadline`.
macro_rules! deadline_method {
    () => {
        /// Sets how long the handler may take, once it waits for something: 30 s by default, and at most 300 s. After that the caller gets
        /// an error, and the handler is dropped where it waits. A handler that never waits cannot be stopped.
        #[must_use]
        pub fn deadline(mut self, time: std::time::Duration) -> Self {
            self.deadline = time.min($crate::call::deadline::LONGEST_DEADLINE);
            self
        }
    };
}
pub(crate) use deadline_method;
