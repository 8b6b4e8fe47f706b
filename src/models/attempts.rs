//! One request to a model, with retries until the deadline.

use std::rc::Rc;
use std::time::Duration;

use super::failure::ModelFailure;
use super::model::Model;
use super::service::FailedAttempt;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::Host;

/// The delay before the first retry, in milliseconds. It doubles with each further retry.
const FIRST_WAIT: u64 = 500;
/// The longest delay, in milliseconds. A longer `Retry-After` of the endpoint overrides it.
const LONGEST_WAIT: u64 = 8_000;
/// The time that a call has after the deadline of a model, for a result without the model.
const RESERVE: Duration = Duration::from_secs(1);

#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    limit: Duration,
    /// The time at which the deadline passes, in milliseconds since 1970.
    at: u64,
}

impl Deadline {
    /// Creates the deadline that passes after `limit`.
    pub(crate) fn new(limit: Duration, cx: &Context) -> Self {
        let milliseconds = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        Self { limit, at: cx.now_ms().saturating_add(milliseconds) }
    }

    /// Creates the deadline that passes after `limit`, but at least a second before the deadline of the call.
    pub(crate) fn within_call(limit: Duration, cx: &Context) -> Self {
        let left = cx.time_left().map_or(limit, |left| left.saturating_sub(RESERVE));
        Self::new(limit.min(left), cx)
    }

    pub(crate) fn left(self, cx: &Context) -> Duration {
        Duration::from_millis(self.at.saturating_sub(cx.now_ms()))
    }

    /// Returns the failure of a model that did not answer before the deadline.
    pub(crate) fn failure(self) -> ModelFailure {
        ModelFailure::Slow(Some(self.limit))
    }
}

/// Sends this body to the model and returns the answer as `read` returns it. Failures that may be temporary are retried.
pub(crate) async fn ask<T>(
    model: &Model,
    body: &str,
    read: impl Fn(&[u8]) -> Result<T, ModelFailure>,
    deadline: Deadline,
    cx: &Context,
) -> Result<T, HandlerError> {
    let mut attempts = Attempts { model, deadline, cx, count: 0, wait: FIRST_WAIT, was_broken: false };
    loop {
        let refused = match attempts.send(body).await {
            Ok(answer) => match read(&answer) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure.into(),
            },
            Err(refused) => refused,
        };
        attempts.pause_after(refused).await?;
    }
}

struct Attempts<'a> {
    model: &'a Model,
    deadline: Deadline,
    cx: &'a Context,
    count: u32,
    /// The longest delay before the next attempt, in milliseconds.
    wait: u64,
    /// Whether an answer was malformed.
    was_broken: bool,
}

impl Attempts<'_> {
    /// Sends the request, unless the deadline has passed.
    async fn send(&mut self, body: &str) -> Result<Vec<u8>, FailedAttempt> {
        let left = self.deadline.left(self.cx);
        if left.is_zero() {
            return Err(self.deadline.failure().into());
        }
        self.count = self.count.saturating_add(1);
        self.model.send(body, left, self.cx.host()).await
    }

    /// Waits until the next attempt. Returns the error of the call if this attempt was the last.
    async fn pause_after(&mut self, refused: FailedAttempt) -> Result<(), HandlerError> {
        let failure = match refused.failure {
            // A service knows only the time that was left for this attempt.
            ModelFailure::Slow(Some(_)) => self.deadline.failure(),
            failure => failure,
        };
        let is_broken = matches!(failure, ModelFailure::Broken(_));
        let pause = jittered(self.wait, self.cx.host()).max(refused.retry_after);
        // Give up after two malformed answers, because a third attempt rarely helps. Give up at once if the next
        // attempt would start after the deadline.
        if !failure.is_temporary() || is_broken && self.was_broken || pause >= self.deadline.left(self.cx) {
            return Err(failure.error(self.model.noun, self.count));
        }
        self.was_broken |= is_broken;
        self.cx.host().sleep(pause).await;
        self.wait = self.wait.saturating_mul(2).min(LONGEST_WAIT);
        Ok(())
    }
}

/// Returns a random delay between half of `wait` and `wait`, so that callers that failed together do not retry
/// together.
fn jittered(wait: u64, host: &Rc<dyn Host>) -> Duration {
    let mut random = [0];
    let [share] = match host.fill_random(&mut random) {
        Ok(()) => random,
        Err(_) => [u8::MAX],
    };
    let half = wait / 2;
    Duration::from_millis(half.saturating_add(half.saturating_mul(u64::from(share)) / 255))
}
