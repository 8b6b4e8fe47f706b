//! The object of a task: what its messages and its attempts share, and its end.

use std::rc::Rc;

use edge_json::write::ObjectWriter;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::live::LiveTask;
use super::message::{Entry, Phase, TaskMessage, TaskReply, View, send};
use super::record::{END, End, MESSAGE, QUESTION, RECORD, Record, RecordStatus, StoredQuestion};
use super::rows::StoredRows;
use crate::engine::begin::Engine;
use crate::host::{Host, TaskObjects, TaskRows, log};
use crate::limits::TASK_ALARM_SECONDS;

/// The object of a task.
pub(crate) struct Object {
    pub(super) rows: Rc<StoredRows>,
    pub(super) host: Rc<dyn Host>,
    /// The version of the program that is deployed, if it is known.
    pub(super) version: Option<String>,
    /// The way to other objects, unless the endpoint has none.
    pub(super) objects: Option<Rc<dyn TaskObjects>>,
    pub(super) name: String,
}

impl Object {
    /// Opens the object `name`. Without keys, it can delete what has expired, and nothing else.
    pub(crate) fn new(name: &str, rows: Rc<dyn TaskRows>, engine: &Engine, host: Rc<dyn Host>) -> Self {
        let rows = Rc::new(StoredRows::new(rows, engine.state_keys.clone(), host.clone(), name.to_owned()));
        let (version, objects) = (engine.version.clone(), engine.task_objects.clone());
        Self { rows, host, version, objects, name: name.to_owned() }
    }

    /// Sets the alarm again if the platform has forgotten it, as it does when the program ends again and again before an attempt.
    pub(super) fn revive(&self, record: &Record) -> Result<(), String> {
        let now = self.host.now_ms();
        let is_late = |wake_at: u64| wake_at.saturating_add(TASK_ALARM_SECONDS.saturating_mul(1000)) <= now;
        if record.wake_at.is_some_and(is_late) && !self.live(record).is_running.get() {
            return self.arm(Some(now), record);
        }
        Ok(())
    }

    /// Returns all questions that the task has asked, without their answers.
    pub(super) fn questions(&self) -> Result<Vec<StoredQuestion>, String> {
        Ok(self.rows.open_list(QUESTION)?.into_iter().map(|(_, question)| question).collect())
    }

    /// Stores the questions that have changed.
    pub(super) fn store_questions(&self, questions: &[StoredQuestion]) -> Result<(), String> {
        let mut changed = questions.iter().enumerate().filter(|(_, question)| question.is_changed);
        changed.try_for_each(|(nth, question)| self.store_question(nth, question))
    }

    pub(super) fn store_question(&self, nth: usize, question: &StoredQuestion) -> Result<(), String> {
        self.rows.seal(&numbered(QUESTION, nth), question)
    }

    /// Ends the task, unless it has ended or was replaced. Its rows are kept until it expires.
    pub(super) fn end<'a>(
        &'a self,
        task: &'a Record,
        status: RecordStatus,
        end: Option<End>,
    ) -> LocalBoxFuture<'a, Result<(), String>> {
        // Boxed, because many functions wait for it.
        self.end_now(task, status, end).boxed_local()
    }

    async fn end_now(&self, task: &Record, status: RecordStatus, end: Option<End>) -> Result<(), String> {
        let Some(mut record) = Record::current(&self.rows, &task.generation)? else { return Ok(()) };
        if record.status.is_final() {
            return Ok(());
        }
        let now = self.host.now_ms();
        if let Some(end) = end {
            self.rows.seal(END, &end)?;
        }
        record.set_status(status, now);
        (record.wake_at, record.open_questions) = (None, 0);
        self.rows.write(RECORD, &record)?;
        self.rows.set_alarm(record.expires_ms())?;
        self.live(&record).notify();
        self.leave(&record).await;
        Ok(())
    }

    /// Counts a task of a caller, in the object `quota`.
    pub(super) async fn enter(&self, quota: &str, owner: &str, entry: Entry) -> Result<TaskReply, String> {
        let objects = self.objects.as_ref().ok_or("the endpoint has no durable tasks")?;
        send(objects, quota, owner, &TaskMessage::Enter(entry)).await
    }

    /// Stops counting the task. If that fails, the place becomes free when the task expires.
    pub(super) async fn leave(&self, task: &Record) {
        let Some(objects) = &self.objects else { return };
        let leave = TaskMessage::Leave { place: self.place(&task.generation) };
        if let Err(cause) = send(objects, &task.quota, &task.owner, &leave).await {
            log::failure(&self.host, &task.tool, &cause);
        }
    }

    /// Returns the name of the place of a task in the count of its caller.
    pub(super) fn place(&self, generation: &str) -> String {
        format!("{} {generation}", self.name)
    }

    /// Returns the data that the attempt of a task shares with messages.
    pub(super) fn live(&self, task: &Record) -> Rc<LiveTask> {
        LiveTask::of(&self.name, &task.generation)
    }

    /// Sets the alarm for the next attempt, or for the deletion of the task.
    pub(super) fn arm(&self, wake_at: Option<u64>, record: &Record) -> Result<(), String> {
        self.rows.set_alarm(wake_at.into_iter().chain([record.expires_ms()]).min().unwrap_or_default())
    }

    /// Returns the record of the task, if it belongs to this owner and has not expired.
    pub(super) fn record(&self, owner: &str) -> Result<Option<Record>, String> {
        let record = self.rows.read::<Record>(RECORD)?;
        Ok(record.filter(|record| record.owner == owner && self.host.now_ms() < record.expires_ms()))
    }

    pub(super) fn view(&self, record: &Record) -> Result<TaskReply, String> {
        let running = self.live(record).message.borrow().clone();
        let message = match running {
            Some(message) => Some(message),
            None => self.rows.open::<String>(MESSAGE)?,
        };
        let task = record.describe(message.as_deref(), self.host.now_ms());
        let state = match record.status {
            RecordStatus::Working => Phase::Working,
            RecordStatus::Cancelled => Phase::Cancelled,
            RecordStatus::InputRequired => {
                let open = self.questions()?.into_iter().filter(StoredQuestion::is_open);
                let add =
                    |object: ObjectWriter, question: StoredQuestion| object.json(&question.key, question.request.get());
                Phase::InputRequired(open.fold(ObjectWriter::new(), add).finish_raw())
            }
            RecordStatus::Completed | RecordStatus::Failed => {
                match self.rows.open(END)?.ok_or("the end of a task is missing")? {
                    End::Result(result) => Phase::Completed(result),
                    End::Error(error) => Phase::Failed(error),
                }
            }
        };
        let (tool, generation) = (record.tool.clone(), record.generation.clone());
        Ok(TaskReply::Task(Box::new(View { tool, generation, task, state })))
    }
}

/// Returns the key of the row with the question or the answer of this number.
pub(super) fn numbered(prefix: &str, nth: usize) -> String {
    format!("{prefix}{nth:04}")
}
