//! The attempts of a task: when they begin, and what is stored after them.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::future::{Either, select};
use serde::Serialize;

use super::live::LiveTask;
use super::next::{Next, stopped};
use super::object::Object;
use super::quota;
use super::record::{INTERRUPTED, MESSAGE, RECORD, RELEASES, Record, RecordStatus, UNREADABLE};
use super::stored::{Stored, stored};
use crate::engine::begin::Engine;
use crate::host::{Host, Level, log};
use crate::limits::{
    LONGEST_TASK_SECONDS, TASK_ATTEMPT_SECONDS, TASK_CANCEL_SECONDS, TASK_FAILURES, TASK_GRACE_SECONDS,
    TASK_PAUSE_SECONDS,
};
use crate::parallel::turn;
use crate::text::shortened;

/// The log line of an attempt.
#[derive(Serialize)]
struct AttemptLine<'a> {
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

/// The members of a record that every version has.
struct Times {
    created_ms: u64,
    ttl_ms: u64,
}

stored!(Times { created_ms: "createdMs", ttl_ms: "ttlMs" });

/// Marks a task as running, and forgets it when it is dropped.
struct RunningMark(Rc<LiveTask>);

impl Drop for RunningMark {
    fn drop(&mut self) {
        self.0.is_running.set(false);
        self.0.notify();
    }
}

impl Object {
    /// Answers the alarm: begins the next attempt of the task, or deletes what has expired.
    ///
    /// # Errors
    /// The storage failed. The text is for the log. The alarm should ring again later.
    pub(crate) async fn ring(&self, engine: &Engine) -> Result<(), String> {
        let now = self.host.now_ms();
        let Some(row) = self.rows.bytes(RECORD)? else { return quota::expire(&self.rows, now) };
        let Some(record) = Record::parse(&row) else { return self.wait_unread(&row, now) };
        if now >= record.expires_ms() {
            return self.rows.clear();
        }
        if record.status.is_final() {
            return self.rows.set_alarm(record.expires_ms());
        }
        if record.attempts > 0 || record.is_cancelled {
            return self.begin(record, engine).await;
        }
        self.keep_place(&record).await?;
        let current = Record::current(&self.rows, &record.generation)?;
        if let Some(current) = current.filter(|current| !current.status.is_final()) {
            return self.begin(current, engine).await;
        }
        // The task has ended meanwhile, and has left its place before it got it.
        self.leave(&record).await;
        Ok(())
    }

    /// Begins the next attempt of a task, if it is due.
    async fn begin(&self, mut record: Record, engine: &Engine) -> Result<(), String> {
        let (now, live) = (self.host.now_ms(), self.live(&record));
        if record.is_cancelled {
            if record.failures > 0 || self.rows.read::<bool>(RELEASES)?.is_none() {
                return self.end(&record, RecordStatus::Cancelled, None).await;
            }
            live.cancel();
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
            log::failure(&self.host, &record.tool, &cause);
            return self.end(&record, RecordStatus::Failed, Some(stopped()?)).await;
        }
        // Counted before anything of the program runs, because an attempt can end this isolate.
        record.attempts = record.attempts.saturating_add(1);
        record.failures = record.failures.saturating_add(1);
        self.rows.write(RECORD, &record)?;
        // If the attempt ends this isolate, the others in it can go on before the next one.
        let pause = if record.failures < TASK_FAILURES { pause_ms(record.failures) } else { 1000 };
        self.arm(Some(now.saturating_add(pause)), &record)?;
        live.begin();
        let running = RunningMark(live.clone());
        // A crash undoes all changes since the last wait. Without this wait, it would undo the count and the alarm.
        self.rows.sync().await?;
        let next = match Record::current(&self.rows, &record.generation)? {
            Some(_) => self.run(&record, &live, engine).await,
            None => return Ok(()),
        };
        drop(running);
        self.after(&record, &live, next, now).await
    }

    /// Handles a record that another version of the program may be able to read: it is read again later, until it expires.
    fn wait_unread(&self, row: &[u8], now: u64) -> Result<(), String> {
        log::failure(&self.host, "tasks", "the record of a task does not have the format of this version");
        let found = self.rows.bytes(UNREADABLE)?.and_then(|found| u64::parse(&found));
        if found.is_none() {
            self.rows.write(UNREADABLE, &now)?;
        }
        let longest = found.unwrap_or(now).saturating_add(LONGEST_TASK_SECONDS.saturating_mul(1000));
        let times = Times::parse(row).map(|times| times.created_ms.saturating_add(times.ttl_ms));
        let expires_ms = times.map_or(longest, |expires_ms| longest.min(expires_ms));
        if now >= expires_ms {
            return self.rows.clear();
        }
        self.rows.set_alarm(expires_ms.min(now.saturating_add(TASK_PAUSE_SECONDS.saturating_mul(1000))))
    }

    /// Runs the handler to its end, or until the task is cancelled or expires.
    async fn run(&self, record: &Record, live: &Rc<LiveTask>, engine: &Engine) -> Next {
        let is_cancelled = record.is_cancelled;
        let (call, attempt) = match self.attempt(record, live.clone(), engine) {
            Ok(attempt) => attempt,
            Err(cause) => return Next::Prevented(cause),
        };
        let handler = self.run_handler(call, attempt, &record.tool, live, engine);
        let running = pin!(async {
            // The handler of a task that was cancelled while it slept runs until it waits again.
            if is_cancelled { Some(handler.await) } else { run_until_cancelled(handler, live, &self.host).await }
        });
        let late = pin!(self.late(record, live));
        match select(running, late).await {
            Either::Left((Some(next), _)) => next,
            Either::Left((None, _)) => Next::End(RecordStatus::Cancelled, None),
            Either::Right(_) if self.host.now_ms() >= record.expires_ms() => Next::Expired,
            Either::Right(_) => Next::Failure("a step did not end within the time of an attempt".to_owned()),
        }
    }

    /// Completes when an attempt takes too long, or when its task expires. Some time before the former, it lets no further step begin.
    async fn late(&self, record: &Record, live: &LiveTask) {
        let left = || Duration::from_millis(record.expires_ms().saturating_sub(self.host.now_ms()));
        self.host.sleep(left().min(Duration::from_secs(TASK_ATTEMPT_SECONDS))).await;
        if left().is_zero() {
            return;
        }
        live.is_over.set(true);
        // The handler must notice it.
        turn().await;
        self.host.sleep(left().min(Duration::from_secs(TASK_GRACE_SECONDS))).await;
    }

    /// Stores the decision after an attempt of `task`. Messages may have changed its record meanwhile, or replaced it.
    async fn after(&self, task: &Record, live: &LiveTask, next: Next, began: u64) -> Result<(), String> {
        let now = self.host.now_ms();
        self.log(task, &next, now.saturating_sub(began));
        let Some(mut record) = Record::current(&self.rows, &task.generation)? else { return Ok(()) };
        live.notify();
        if matches!(next, Next::Expired) || now >= record.expires_ms() {
            return self.rows.clear();
        }
        if let Some(message) = live.message.take() {
            self.rows.seal(MESSAGE, &message)?;
        }
        if record.is_cancelled && !matches!(next, Next::End(..)) {
            return self.end(task, RecordStatus::Cancelled, None).await;
        }
        if !matches!(next, Next::Prevented(_)) {
            record.prevented = 0;
        }
        match next {
            Next::End(status, end) => return self.end(task, status, end).await,
            Next::Waits(questions, wake_at) => {
                let open = questions.iter().filter(|question| question.is_open()).count();
                // An attempt whose time was over made no progress, unless a step finished.
                if open > 0 || wake_at.is_some_and(|wake_at| wake_at > now) {
                    record.failures = 0;
                }
                record.wake_at = wake_at;
                self.store_questions(&questions)?;
                if open > 0 || record.open_questions > 0 {
                    record.count_questions(&questions, now);
                }
            }
            Next::Failure(cause) => {
                log::failure(&self.host, &record.tool, &format!("attempt {} of a task: {cause}", record.attempts));
                record.wake_at = Some(now.saturating_add(pause_ms(record.failures)));
            }
            Next::Prevented(cause) => {
                log::failure(&self.host, &record.tool, &format!("an attempt of a task cannot begin: {cause}"));
                record.forget_attempt();
                record.prevented = record.prevented.saturating_add(1);
                record.wake_at = Some(now.saturating_add(pause_ms(record.prevented)));
            }
            Next::Later(at) => {
                record.forget_attempt();
                record.wake_at = Some(at);
            }
            Next::Expired => {}
        }
        self.rows.write(RECORD, &record)?;
        self.arm(record.wake_at, &record)
    }

    fn log(&self, record: &Record, next: &Next, ms: u64) {
        let line = AttemptLine {
            event: "attempt",
            object: &self.name,
            tool: &shortened(&record.tool),
            attempt: record.attempts,
            ended_by: next.name(),
            version: self.version.as_deref(),
            ms,
        };
        // Strings and numbers always serialize.
        self.host.log(Level::Info, &write::to_string(&line).unwrap_or_default());
    }
}

/// Runs the handler. Returns `None` if the task was cancelled.
async fn run_until_cancelled(
    attempt: impl Future<Output = Next>,
    live: &LiveTask,
    host: &Rc<dyn Host>,
) -> Option<Next> {
    // A cancellation can arrive before the handler runs.
    if live.is_cancelled() {
        return None;
    }
    let (cancelled, attempt) = (pin!(live.cancelled()), pin!(attempt));
    let attempt = match select(attempt, cancelled).await {
        Either::Left((next, _)) => return Some(next),
        Either::Right(((), attempt)) => attempt,
    };
    if !live.is_watched() {
        return None;
    }
    // The handler waits for the cancellation, and cleans up.
    let time = host.sleep(Duration::from_secs(TASK_CANCEL_SECONDS));
    match select(attempt, time).await {
        Either::Left((end @ Next::End(..), _)) => Some(end),
        _ => None,
    }
}

/// Returns the pause in milliseconds after this number of attempts: 1 s, 2 s, 4 s and so on.
fn pause_ms(attempts: u32) -> u64 {
    let doubled = 1_u64.checked_shl(attempts.saturating_sub(1)).unwrap_or(u64::MAX);
    doubled.min(TASK_PAUSE_SECONDS).saturating_mul(1000)
}
