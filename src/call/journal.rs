//! The journal of a durable task, as its handler needs it. The room `tasks` implements it.

use std::fmt;

use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;

use super::task_info::TaskInfo;

/// The journal of an attempt: it stores each step when the step ends, so that a later attempt does not run it again.
pub(crate) trait Journal {
    fn info(&self) -> &TaskInfo;

    /// Lets steps begin whose input another version of the program has changed.
    fn tolerate_changes(&self);

    /// Returns the result of the step at `place`, if an earlier attempt stored it.
    fn result(&self, place: &str) -> Result<Option<Box<RawValue>>, JournalError>;

    /// Returns whether the step `step` at `place` may be a step that another version of the program began with a different input.
    fn has_similar(&self, place: &str, step: &str) -> bool;

    /// Stores that a step begins. It fails if another version of the program began the step with a different input.
    fn begin(&self, place: &str, step: &str) -> Result<(), JournalError>;

    /// Stores the result of a step.
    fn finish(&self, place: &str, step: &str, result: &RawValue) -> Result<(), JournalError>;

    /// Returns whether the time of the attempt has passed. Then no further step begins.
    fn is_over(&self) -> bool;

    /// Sets the message that describes the state of the task.
    fn report(&self, message: &str);

    /// Stores that a cancellation of the task must reach the handler, also while it sleeps: the handler has work at another server.
    fn must_release(&self);

    /// Returns whether the task is cancelled, so that there is no later attempt.
    fn is_cancelled(&self) -> bool;

    /// Completes when the task is cancelled. The attempt is then not dropped at once.
    fn cancelled(&self) -> LocalBoxFuture<'static, ()>;
}

/// The reason why a journal refuses a step. The texts are for the log.
#[derive(Clone, Debug)]
pub(crate) enum JournalError {
    /// The task cannot continue.
    Final(String),
    /// A later attempt may succeed.
    Temporary(String),
    /// A stored result cannot be read now, so the handler cannot run. Another program or another key may be able to read it.
    Unreadable(String),
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Final(text) | Self::Temporary(text) | Self::Unreadable(text)) = self;
        f.write_str(text)
    }
}
