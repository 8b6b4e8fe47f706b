//! One request to a model, with retries until the deadline.

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::failure::Failure;
use super::model::ChatModel;
use super::wire::{json, read};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::{FetchError, FetchLimits, Fetched, Host};

/// The delay before the first retry, in milliseconds. It doubles with each further retry.
const FIRST_WAIT: u64 = 500;
/// The longest delay, in milliseconds. A longer `Retry-After` of the endpoint overrides it.
const LONGEST_WAIT: u64 = 8_000;

/// The deadline for an answer.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    limit: Duration,
    /// The time at which the deadline passes, in milliseconds since 1970.
    at: u64,
}

impl Deadline {
    pub(super) fn new(limit: Duration, cx: &Context) -> Self {
        let milliseconds = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        Self { limit, at: cx.now_ms().saturating_add(milliseconds) }
    }

    fn left(self, cx: &Context) -> Duration {
        Duration::from_millis(self.at.saturating_sub(cx.now_ms()))
    }
}

/// Sends this body to the model, and retries failures that may be temporary.
pub(super) async fn ask(
    model: &ChatModel,
    body: &str,
    deadline: Deadline,
    cx: &Context,
) -> Result<Value, HandlerError> {
    let (mut attempts, mut wait, mut was_broken) = (0_u32, FIRST_WAIT, false);
    loop {
        let left = deadline.left(cx);
        if left.is_zero() {
            return Err(Failure::Slow(deadline.limit).after(attempts));
        }
        attempts = attempts.saturating_add(1);
        let limits = FetchLimits { time: left, bytes: model.limit() };
        let answer = cx.host().fetch(model.request(body.to_owned()), limits).await;
        let retry_after = answer.as_ref().ok().and_then(|answer| answer.retry_after).unwrap_or_default();
        let failure = match judge(answer, deadline) {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        let is_broken = matches!(failure, Failure::Broken(_));
        let pause = jittered(wait, cx.host()).max(retry_after);
        // Give up after two malformed answers, because a third attempt rarely helps. Give up at once if the next
        // attempt would start after the deadline.
        if !failure.is_temporary() || is_broken && was_broken || pause >= deadline.left(cx) {
            return Err(failure.after(attempts));
        }
        was_broken |= is_broken;
        cx.host().sleep(pause).await;
        wait = wait.saturating_mul(2).min(LONGEST_WAIT);
    }
}

fn judge(answer: Result<Fetched, FetchError>, deadline: Deadline) -> Result<Value, Failure> {
    match answer {
        Ok(answer) if answer.status == 200 => read(&answer.body),
        Ok(answer) => Err(Failure::Status(answer.status, code(&answer.body))),
        Err(FetchError::TooSlow) => Err(Failure::Slow(deadline.limit)),
        Err(FetchError::TooLarge) => Err(Failure::TooLarge),
        Err(FetchError::Failed(cause)) => Err(Failure::Unreachable(cause)),
        Err(error) => Err(Failure::Unreachable(error.to_string())),
    }
}

/// Returns the error code in the body of an endpoint's error, such as `model_not_found`, if it has the form of a code.
fn code(body: &[u8]) -> Option<String> {
    let refusal = json(body)?;
    let code = refusal.pointer("/error/code")?.as_str()?;
    let is_code = code.len() <= 40 && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_code.then(|| code.to_owned())
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
