//! The decision after an attempt: the task ends, waits, or has another attempt.

use edge_json::write;
use serde_json::value::RawValue;

use super::live::LiveTask;
use super::object::Object;
use super::record::{End, RecordStatus, StoredQuestion};
use crate::call::journal::JournalError;
use crate::call::rounds::{Obstacle, Rounds};
use crate::host::log;
use crate::limits::QUESTIONS;
use crate::protocol::error::{ErrorCode, RpcError};

/// The decision after an attempt.
pub(super) enum Next {
    End(RecordStatus, Option<End>),
    /// The task waits for answers to its open questions, for a time, or for the first of both.
    Waits(Vec<StoredQuestion>, Option<u64>),
    /// The attempt counts as a failure. The text is for the log.
    Failure(String),
    /// The attempt could not begin, so it does not count. The text is for the log.
    Prevented(String),
    /// The attempt does not count.
    Later(u64),
    Expired,
}

impl Next {
    /// Returns the end of the attempt, for the log.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::End(status, _) => status.name(),
            Self::Waits(questions, _) if questions.iter().any(StoredQuestion::is_open) => "question",
            Self::Waits(..) => "sleep",
            Self::Failure(_) => "failure",
            Self::Prevented(_) => "prevented",
            Self::Later(_) => "no memory",
            Self::Expired => "expired",
        }
    }
}

impl Object {
    /// Returns what a handler that has not ended waits for.
    pub(super) fn waiting(&self, tool: &str, rounds: &Rounds, live: &LiveTask) -> Result<Next, String> {
        match rounds.obstacle() {
            None => {}
            Some(Obstacle::Journal(JournalError::Temporary(cause))) => return Ok(Next::Failure(cause)),
            Some(Obstacle::Journal(JournalError::Unreadable(cause))) => return Ok(Next::Prevented(cause)),
            Some(
                Obstacle::Journal(JournalError::Final(cause)) | Obstacle::Conflict(cause) | Obstacle::Excess(cause),
            ) => {
                log::failure(&self.host, tool, &format!("the task was stopped: {cause}"));
                return Ok(Next::End(RecordStatus::Failed, Some(stopped()?)));
            }
        }
        let now = self.host.now_ms();
        let over = live.is_over.get().then_some(now);
        let mut wake_at = rounds.wake_at().into_iter().chain(over).min();
        let mut known = self.questions()?;
        let mut asked = Vec::new();
        for (handler_key, question) in rounds.questions().iter() {
            let is_same = |known: &&StoredQuestion| {
                !known.is_withdrawn && known.handler_key == *handler_key && known.digest == question.digest
            };
            match known.iter().find(is_same) {
                // The answer arrived during the attempt.
                Some(known) if known.is_answered => wake_at = Some(now),
                Some(known) => asked.push(known.key.clone()),
                None => {
                    if known.len() >= QUESTIONS {
                        let cause = format!("the task was stopped: it asks more than {QUESTIONS} questions");
                        log::failure(&self.host, tool, &cause);
                        return Ok(Next::End(RecordStatus::Failed, Some(stopped()?)));
                    }
                    let key = unused_key(handler_key, &known);
                    asked.push(key.clone());
                    let (handler_key, digest) = (handler_key.clone(), question.digest.clone());
                    let request = write::raw_value(write::text(&question.request));
                    let (is_answered, is_withdrawn, is_changed) = (false, false, true);
                    known.push(StoredQuestion {
                        key,
                        handler_key,
                        digest,
                        request,
                        is_answered,
                        is_withdrawn,
                        is_changed,
                    });
                }
            }
        }
        if asked.is_empty() && wake_at.is_none() {
            return Err("the handler waits for nothing".to_owned());
        }
        for question in known.iter_mut().filter(|question| question.is_open() && !asked.contains(&question.key)) {
            (question.is_withdrawn, question.is_changed) = (true, true);
        }
        Ok(Next::Waits(known, wake_at))
    }
}

/// Returns a key that no question of the task has had. Source: ext-tasks, "Task Update Requests".
fn unused_key(handler_key: &str, known: &[StoredQuestion]) -> String {
    let is_used = |key: &str| known.iter().any(|question| question.key == key);
    let mut key = handler_key.to_owned();
    // There are fewer questions than numbers.
    for nth in 2..=known.len().saturating_add(2) {
        if !is_used(&key) {
            break;
        }
        key = format!("{handler_key}.{nth}");
    }
    key
}

/// Returns the error of a task that was stopped.
pub(super) fn stopped() -> Result<End, String> {
    error_end(&RpcError::new(ErrorCode::Internal, "The task was stopped. The log of the server says why."))
}

/// Returns the end of a task with this error.
pub(super) fn error_end(error: &RpcError) -> Result<End, String> {
    let error: Box<RawValue> = write::to_raw_value(error).map_err(|error| error.to_string())?;
    Ok(End::Error(error))
}
