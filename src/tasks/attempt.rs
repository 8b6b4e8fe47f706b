//! One run of the handler of a task.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::future::{Either, select};
use serde::Serialize;
use serde_json::value::RawValue;

use super::journal::TaskJournal;
use super::live::Live;
use super::object::Object;
use super::quota;
use super::record::{CALL, End, INTERRUPTED, MESSAGE, RECORD, RELEASES, Record, Status, StoredCall, StoredQuestion};
use super::rows::Row;
use crate::call::failure;
use crate::call::journal::JournalError;
use crate::call::rounds::{Answered, Earlier, Obstacle, Rounds};
use crate::call::task_info::TaskInfo;
use crate::host::Level;
use crate::limits::{QUESTIONS, TASK_ATTEMPT_SECONDS, TASK_CANCEL_SECONDS, TASK_FAILURES, TASK_GRACE_SECONDS};
use crate::parallel::turn;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::text::shortened;

/// One run of the handler of a task.
pub(crate) struct Attempt {
    pub call: StoredCall,
    pub journal: Rc<TaskJournal>,
    /// The answers so far.
    pub earlier: Earlier,
}

/// The outcome of an attempt.
pub(crate) enum Attempted {
    /// The call has ended.
    Ended(End),
    /// The handler waits for what its rounds say.
    Waits(Rc<Rounds>),
    /// The attempt could not begin. The text is for the log.
    Prevented(String),
    /// This isolate has no memory for another attempt.
    NoRoom,
}

/// The time after which a record that cannot be read is read again, in milliseconds.
const UNREADABLE_MS: u64 = 3_600_000;

/// The log line of an attempt.
#[derive(Serialize)]
struct LogLine<'a> {
    event: &'static str,
    /// The name of the object, which does not reveal the id of the task.
    object: &'a str,
    tool: &'a str,
    attempt: u32,
    ended_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    ms: u64,
}

/// The decision after an attempt.
enum Next {
    End(Status, Option<End>),
    /// The next attempt begins at this time.
    At(u64),
    /// The task waits for answers, and perhaps also for a time.
    Answers(Vec<StoredQuestion>, Option<u64>),
    /// The attempt counts as a failure. The text is for the log.
    Failure(String),
    /// The attempt does not count.
    Later(u64),
}

/// Marks a task as running, and forgets it when it is dropped.
struct Running(Rc<Live>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.is_running.set(false);
        self.0.notify();
    }
}

impl Object {
    /// Answers the alarm: begins the next attempt of the task, or deletes what has expired. `run` runs the handler.
    ///
    /// # Errors
    /// The storage failed. The text is for the log. The alarm should ring again later.
    pub(crate) async fn ring(&self, run: impl AsyncFnOnce(Attempt) -> Attempted) -> Result<(), String> {
        let now = self.host.now_ms();
        let Some(row) = self.rows.read::<Box<RawValue>>(RECORD)? else { return quota::expire(&self.rows, now) };
        let Some(mut record) = Record::parse(row.get().as_bytes()) else {
            failure::log(&self.host, "tasks", "the record of a task does not have the format of this version");
            // Another version of the program may be able to read it.
            return self.rows.set_alarm(now.saturating_add(UNREADABLE_MS));
        };
        if now >= record.expires_ms() {
            self.leave(&record).await;
            return self.rows.clear();
        }
        if record.status.is_final() {
            return self.rows.set_alarm(record.expires_ms());
        }
        if record.is_cancelled {
            if record.failures > 0 || self.rows.read::<bool>(RELEASES)?.is_none() {
                return self.end(Status::Cancelled, None).await;
            }
            self.live.cancel();
        }
        match record.wake_at {
            Some(wake_at) if wake_at <= now => {}
            wake_at => return self.arm(wake_at, &record),
        }
        if self.rows.read::<bool>(INTERRUPTED)?.is_some() {
            self.rows.delete(INTERRUPTED)?;
            record.failures = record.failures.saturating_sub(1);
        }
        if record.failures >= TASK_FAILURES {
            let cause = format!("the task was stopped after {TASK_FAILURES} attempts without progress");
            return self.fail(&record.tool, &cause).await;
        }
        // Counted before anything runs, because an attempt can end this isolate.
        record.attempts = record.attempts.saturating_add(1);
        record.failures = record.failures.saturating_add(1);
        self.rows.write(RECORD, &record)?;
        // If the attempt ends this isolate, the others in it can go on before the next one.
        let pause = if record.failures < TASK_FAILURES { pause_ms(record.failures) } else { 1000 };
        self.arm(Some(now.saturating_add(pause)), &record)?;
        self.live.begin();
        let running = Running(self.live.clone());
        let next = self.run(&record, run).await;
        drop(running);
        self.after(next, now).await
    }

    /// Runs the handler to its end, or until the task is cancelled.
    async fn run(&self, record: &Record, run: impl AsyncFnOnce(Attempt) -> Attempted) -> Next {
        let is_cancelled = record.is_cancelled;
        let attempt = match self.attempt(record) {
            Ok(attempt) => attempt,
            Err(cause) => return Next::Failure(cause),
        };
        let running = pin!(async {
            // The handler of a task that was cancelled while it slept runs until it waits again.
            if is_cancelled { Some(run(attempt).await) } else { self.run_until_cancelled(run(attempt)).await }
        });
        let late = pin!(self.late());
        let attempted = match select(running, late).await {
            Either::Left((Some(attempted), _)) => attempted,
            Either::Left((None, _)) => return Next::End(Status::Cancelled, None),
            Either::Right(_) => return Next::Failure("a step did not end within the time of an attempt".to_owned()),
        };
        match attempted {
            Attempted::Ended(end @ End::Result(_)) => Next::End(Status::Completed, Some(end)),
            Attempted::Ended(end @ End::Error(_)) => Next::End(Status::Failed, Some(end)),
            Attempted::Prevented(cause) => Next::Failure(cause),
            Attempted::NoRoom => Next::Later(self.host.now_ms().saturating_add(1000)),
            Attempted::Waits(rounds) => self.waiting(&record.tool, &rounds).unwrap_or_else(Next::Failure),
        }
    }

    /// Runs the handler. Returns `None` if the task was cancelled.
    async fn run_until_cancelled(&self, attempt: impl Future<Output = Attempted>) -> Option<Attempted> {
        let (cancelled, attempt) = (pin!(self.live.cancelled()), pin!(attempt));
        let attempt = match select(attempt, cancelled).await {
            Either::Left((attempted, _)) => return Some(attempted),
            Either::Right(((), attempt)) => attempt,
        };
        if !self.live.is_watched() {
            return None;
        }
        // The handler waits for the cancellation, and cleans up.
        let time = self.host.sleep(Duration::from_secs(TASK_CANCEL_SECONDS));
        match select(attempt, time).await {
            Either::Left((ended @ Attempted::Ended(_), _)) => Some(ended),
            _ => None,
        }
    }

    /// Completes when an attempt takes too long. Some time before, it lets no further step begin.
    async fn late(&self) {
        self.host.sleep(Duration::from_secs(TASK_ATTEMPT_SECONDS)).await;
        self.live.is_over.set(true);
        // The handler must notice it.
        turn().await;
        self.host.sleep(Duration::from_secs(TASK_GRACE_SECONDS)).await;
    }

    /// Reads what an attempt needs.
    fn attempt(&self, record: &Record) -> Result<Attempt, String> {
        let call: StoredCall = self.rows.open(CALL)?.ok_or("the call of the task is missing")?;
        let info = TaskInfo { id: call.id.clone(), attempt: record.attempts, created_ms: record.created_ms };
        let journal = TaskJournal::open(info, self.rows.clone(), self.live.clone(), self.version.clone())?;
        let mut answers = Vec::new();
        for StoredQuestion { handler_key: key, digest: question, answer, .. } in self.questions()? {
            answers.extend(answer.map(|answer| Answered { key, question, answer, is_used: false }));
        }
        let earlier = Earlier { answers, steps: Vec::new(), id: call.call_id.clone() };
        Ok(Attempt { call, journal: Rc::new(journal), earlier })
    }

    /// Returns what a handler that has not ended waits for.
    fn waiting(&self, tool: &str, rounds: &Rounds) -> Result<Next, String> {
        match rounds.obstacle() {
            None => {}
            Some(Obstacle::Journal(JournalError::Temporary(cause))) => return Ok(Next::Failure(cause)),
            Some(
                Obstacle::Journal(JournalError::Final(cause)) | Obstacle::Conflict(cause) | Obstacle::Excess(cause),
            ) => {
                failure::log(&self.host, tool, &format!("the task was stopped: {cause}"));
                return Ok(Next::End(Status::Failed, Some(stopped()?)));
            }
        }
        let mut known = self.questions()?;
        let mut asked = Vec::new();
        for (handler_key, question) in rounds.questions().iter() {
            let is_same = |known: &&mut StoredQuestion| {
                !known.is_withdrawn && known.handler_key == *handler_key && known.digest == question.digest
            };
            match known.iter_mut().find(is_same) {
                // The answer arrived during the attempt.
                Some(known) if known.answer.is_some() => return Ok(Next::At(self.host.now_ms())),
                Some(known) => asked.push(known.key.clone()),
                None => {
                    if known.len() >= QUESTIONS {
                        let cause = format!("the task was stopped: it asks more than {QUESTIONS} questions");
                        failure::log(&self.host, tool, &cause);
                        return Ok(Next::End(Status::Failed, Some(stopped()?)));
                    }
                    let key = unused_key(handler_key, &known);
                    asked.push(key.clone());
                    let (handler_key, digest, request) = (
                        handler_key.clone(),
                        question.digest.clone(),
                        write::raw_value(write::text(&question.request)),
                    );
                    known.push(StoredQuestion { key, handler_key, digest, request, answer: None, is_withdrawn: false });
                }
            }
        }
        if asked.is_empty() {
            let over = self.live.is_over.get().then(|| self.host.now_ms());
            let wake_at = rounds.wake_at().into_iter().chain(over).min();
            return wake_at.map(Next::At).ok_or_else(|| "the handler waits for nothing".to_owned());
        }
        for question in &mut known {
            question.is_withdrawn |= question.answer.is_none() && !asked.contains(&question.key);
        }
        Ok(Next::Answers(known, rounds.wake_at()))
    }

    /// Stores the decision after an attempt. Messages may have changed the record meanwhile.
    async fn after(&self, next: Next, began: u64) -> Result<(), String> {
        let Some(mut record) = self.rows.read::<Record>(RECORD)? else { return Ok(()) };
        let now = self.host.now_ms();
        self.log(&record, &next, now.saturating_sub(began));
        if let Some(message) = self.live.message.take() {
            self.rows.seal(MESSAGE, &message)?;
        }
        if record.is_cancelled && !matches!(next, Next::End(..)) {
            return self.end(Status::Cancelled, None).await;
        }
        match next {
            Next::End(status, end) => return self.end(status, end).await,
            Next::At(wake_at) => {
                // An attempt whose time was over made no progress, unless a step finished.
                if wake_at > now {
                    record.failures = 0;
                }
                record.wake_at = Some(wake_at);
            }
            Next::Answers(questions, wake_at) => {
                (record.failures, record.wake_at) = (0, wake_at);
                self.store_questions(&questions)?;
                record.count_questions(&questions, now);
            }
            Next::Failure(cause) => {
                failure::log(&self.host, &record.tool, &format!("attempt {} of a task: {cause}", record.attempts));
                record.wake_at = Some(now.saturating_add(pause_ms(record.failures)));
            }
            Next::Later(at) => {
                record.attempts = record.attempts.saturating_sub(1);
                record.failures = record.failures.saturating_sub(1);
                record.wake_at = Some(at);
            }
        }
        self.rows.write(RECORD, &record)?;
        self.arm(record.wake_at, &record)?;
        self.live.notify();
        Ok(())
    }

    /// Ends a task that cannot continue. The cause is only for the log.
    async fn fail(&self, tool: &str, cause: &str) -> Result<(), String> {
        failure::log(&self.host, tool, cause);
        self.end(Status::Failed, Some(stopped()?)).await
    }

    fn log(&self, record: &Record, next: &Next, ms: u64) {
        let ended_by = match next {
            Next::End(status, _) => status.name(),
            Next::At(_) => "sleep",
            Next::Answers(..) => "question",
            Next::Failure(_) => "failure",
            Next::Later(_) => "no memory",
        };
        let line = LogLine {
            event: "attempt",
            object: &self.name,
            tool: &shortened(&record.tool),
            attempt: record.attempts,
            ended_by,
            version: self.version.as_deref(),
            ms,
        };
        // Strings and numbers always serialize.
        self.host.log(Level::Info, &write::to_string(&line).unwrap_or_default());
    }
}

/// Returns the pause in milliseconds after this number of attempts without progress: 1 s, 2 s, 4 s and so on.
fn pause_ms(failures: u32) -> u64 {
    1000_u64.saturating_mul(1 << failures.saturating_sub(1).min(6))
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
fn stopped() -> Result<End, String> {
    error_end(&RpcError::new(ErrorCode::Internal, "The task was stopped. The log of the server says why."))
}

/// Returns the end of a task with this error.
pub(super) fn error_end(error: &RpcError) -> Result<End, String> {
    let error: Box<RawValue> = write::to_raw_value(error).map_err(|error| error.to_string())?;
    Ok(End::Error(error))
}
