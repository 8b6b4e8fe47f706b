//! The waits of a call between two requests about a task.

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::journal::JournalError;
use crate::call::rounds::Obstacle;

/// Returns whether the round of our caller's request ends, so that a later round, or a later attempt of the durable task, continues the work that
/// is dropped now.
pub(super) fn continues_later(cx: &Context) -> bool {
    let (rounds, obstacle) = (cx.rounds(), cx.rounds().obstacle());
    rounds.is_waiting()
        && match rounds.journal() {
            None => obstacle.is_none(),
            Some(journal) => {
                let is_temporary = matches!(obstacle, None | Some(Obstacle::Journal(JournalError::Temporary(_))));
                is_temporary && !journal.is_cancelled()
            }
        }
}

/// Waits for the end of a round that [continues later](continues_later). The person is asked at once, although a step runs: no step begins while
/// a question is open, and a step that waits for another one does not hold the round.
pub(super) async fn end_of_round(cx: &Context) -> Result<(), HandlerError> {
    cx.step("the next round", &(), async || Ok(())).await
}
