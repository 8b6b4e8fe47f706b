//! The messages that the object of a task receives.

use std::time::Duration;

use futures::future::{Either, select};
use serde_json::value::RawValue;

use super::message::{TaskMessage, TaskReply};
use super::object::{Object, numbered};
use super::record::{ANSWER, RECORD, RELEASES, Record, RecordStatus};
use super::stored::Stored;
use super::{answers, quota};
use crate::limits::{TASK_ANSWERS_BYTES, TASK_WAIT_SECONDS};
use crate::text::shortened;

impl Object {
    /// Answers a message.
    ///
    /// # Errors
    /// The storage failed, or the message is not one of this version. The text is for the log.
    pub(crate) async fn answer(&self, message: &str) -> Result<String, String> {
        let (owner, message) = TaskMessage::parse(message).ok_or("a message to a task is not one of this version")?;
        let reply = match message {
            TaskMessage::Create(created) => self.create(owner, *created).await?,
            TaskMessage::Get { wait_ms } => self.get(&owner, wait_ms).await?,
            TaskMessage::Update { generation, answers } => self.update(&owner, &generation, answers.0)?,
            TaskMessage::Cancel { generation } => self.cancel(&owner, generation).await?,
            TaskMessage::Enter(entry) => quota::enter(&self.rows, entry, self.host.now_ms())?,
            TaskMessage::Leave { place } => quota::leave(&self.rows, &place)?,
        };
        Ok(reply.json())
    }

    /// Describes the task, after an end, a question or `wait_ms`.
    async fn get(&self, owner: &str, wait_ms: u64) -> Result<TaskReply, String> {
        let Some(record) = self.record(owner)? else { return Ok(TaskReply::Unknown) };
        self.revive(&record)?;
        if wait_ms == 0 || record.status != RecordStatus::Working {
            return self.view(&record);
        }
        let live = self.live(&record);
        let working = || match Record::current(&self.rows, &record.generation) {
            Ok(Some(record)) if record.status == RecordStatus::Working => None,
            // The read below reports a failure.
            _ => Some(()),
        };
        let time = Duration::from_millis(wait_ms).min(Duration::from_secs(TASK_WAIT_SECONDS));
        if let Either::Right(((), _)) = select(Box::pin(live.until(working)), self.host.sleep(time)).await {
            // The time is over, and the task still works.
        }
        match self.record(owner)? {
            Some(record) => self.view(&record),
            None => Ok(TaskReply::Unknown),
        }
    }

    fn update(
        &self,
        owner: &str,
        generation: &str,
        answers: Vec<(String, Box<RawValue>)>,
    ) -> Result<TaskReply, String> {
        let Some(mut record) = self.record(owner)? else { return Ok(TaskReply::Unknown) };
        if record.generation != generation || record.open_questions == 0 || record.status.is_final() {
            return self.view(&record);
        }
        let mut questions = self.questions()?;
        let mut kept = Vec::new();
        for (key, answer) in answers {
            let open = questions.iter_mut().enumerate().find(|(_, known)| known.key == key && known.is_open());
            // A client may answer late, or twice.
            let Some((nth, question)) = open else { continue };
            let answer = answers::check(&question.request, &answer).and_then(|answer| {
                let bytes = u64::try_from(answer.get().len()).unwrap_or(u64::MAX);
                record.answer_bytes = record.answer_bytes.saturating_add(bytes);
                let fits = record.answer_bytes <= TASK_ANSWERS_BYTES;
                fits.then_some(answer).ok_or_else(|| {
                    format!("all answers of the job together have more than {TASK_ANSWERS_BYTES} bytes. Shorten it")
                })
            });
            match answer {
                Ok(answer) => kept.push((nth, answer)),
                Err(problem) => {
                    return Ok(TaskReply::Invalid(format!(
                        "The answer `{}` is not valid: {problem}.",
                        shortened(&key)
                    )));
                }
            }
            (question.is_answered, question.is_changed) = (true, true);
        }
        if kept.is_empty() {
            return self.view(&record);
        }
        let now = self.host.now_ms();
        record.count_questions(&questions, now);
        record.failures = 0;
        if record.open_questions == 0 {
            record.wake_at = Some(now);
            self.arm(record.wake_at, &record)?;
        }
        // The record comes first: if an answer cannot be stored, the next attempt asks the question again.
        self.rows.write(RECORD, &record)?;
        for (nth, answer) in kept {
            self.rows.seal(&numbered(ANSWER, nth), &answer)?;
        }
        self.store_questions(&questions)?;
        self.live(&record).notify();
        self.view(&record)
    }

    async fn cancel(&self, owner: &str, generation: Option<String>) -> Result<TaskReply, String> {
        let Some(record) = self.record(owner)? else { return Ok(TaskReply::Unknown) };
        if record.status.is_final() || generation.is_some_and(|generation| generation != record.generation) {
            return self.view(&record);
        }
        // Even if this isolate ends now, the next alarm ends the task.
        let now = self.host.now_ms();
        let cancelled = Record { is_cancelled: true, wake_at: Some(now), failures: 0, ..record };
        self.rows.write(RECORD, &cancelled)?;
        self.arm(Some(now), &cancelled)?;
        let live = self.live(&cancelled);
        live.cancel();
        // A sleeping handler that has work at another server runs once more.
        if !live.is_running.get() && self.rows.read::<bool>(RELEASES)?.is_none() {
            self.end(&cancelled, RecordStatus::Cancelled, None).await?;
        }
        match Record::current(&self.rows, &cancelled.generation)? {
            Some(record) => self.view(&record),
            // Another task has replaced it meanwhile.
            None => self.view(&Record { status: RecordStatus::Cancelled, ..cancelled }),
        }
    }
}
