//! The waits of a call between two requests about a task.

use std::time::Duration;

use crate::call::context::Context;
use crate::call::error::HandlerError;

/// Waits.
///
/// # Errors
/// The wait ends early.
pub(super) async fn pause(cx: &Context, time: Duration) -> Result<(), HandlerError> {
    cx.host().sleep(time).await;
    Ok(())
}

/// Returns whether the round of our caller's request ends with questions, so that a later round continues the work that is dropped now.
pub(super) fn continues_later(cx: &Context) -> bool {
    cx.rounds().has_questions() && cx.rounds().unsendable().is_none()
}

/// Waits for the end of a round that [continues later](continues_later). The person is asked at once, although a step runs: no step begins while
/// a question is open, and a step that waits for another one does not hold the round.
pub(super) async fn end_of_round(cx: &Context) -> Result<(), HandlerError> {
    cx.step("the next round", &(), async || Ok(())).await
}
