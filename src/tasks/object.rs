//! The object of a task: its messages, and its end.

use std::rc::Rc;
use std::time::Duration;

use edge_json::write::ObjectWriter;
use futures::FutureExt;
use futures::future::{Either, LocalBoxFuture, select};
use serde_json::value::RawValue;

use super::journal::TaskJournal;
use super::live::Live;
use super::message::{Created, Message, Reply, State, View, send};
use super::record::{CALL, END, End, MESSAGE, QUESTION, RECORD, RELEASES, Record, Status, StoredQuestion};
use super::rows::Rows;
use super::{answers, quota};
use crate::call::failure;
use crate::call::task_info::TaskService;
use crate::host::{Host, TaskRows};
use crate::limits::TASK_WAIT_SECONDS;
use crate::text::shortened;

/// The object of a task.
pub(crate) struct Object {
    pub(super) rows: Rc<Rows>,
    pub(super) host: Rc<dyn Host>,
    pub(super) live: Rc<Live>,
    /// The version of the program that is deployed, if it is known.
    pub(super) version: Option<String>,
    service: TaskService,
    pub(super) name: String,
}

impl Object {
    /// Opens the object `name`.
    ///
    /// # Errors
    /// The endpoint has no keys. The text is for the log.
    pub(crate) fn new(
        name: &str,
        rows: Rc<dyn TaskRows>,
        service: TaskService,
        version: Option<String>,
        host: Rc<dyn Host>,
    ) -> Result<Self, String> {
        let keys = (*service.keys).clone().map_err(|error| error.to_string())?;
        let rows = Rc::new(Rows::new(rows, keys, host.clone(), name.to_owned()));
        Ok(Self { rows, host, live: Live::of(name), version, service, name: name.to_owned() })
    }

    /// Answers a message.
    ///
    /// # Errors
    /// The storage failed, or the message is not one of this version. The text is for the log.
    pub(crate) async fn answer(&self, message: &str) -> Result<String, String> {
        let (owner, message) = Message::read(message).ok_or("a message to a task is not one of this version")?;
        let reply = match message {
            Message::Create(created) => self.create(owner, *created)?,
            Message::Get { wait_ms } => self.get(&owner, wait_ms).await?,
            Message::Update { answers } => self.update(&owner, answers)?,
            Message::Cancel => self.cancel(&owner).await?,
            Message::Enter { task, most, expires_ms } => {
                quota::enter(&self.rows, &task, most, expires_ms, self.host.now_ms())?
            }
            Message::Leave { task } => quota::leave(&self.rows, &task)?,
        };
        Ok(reply.json())
    }

    fn create(&self, owner: String, created: Created) -> Result<Reply, String> {
        let now = self.host.now_ms();
        // A call with the same key as a task that failed is a new task.
        let known = self.record(&owner)?.filter(|known| !matches!(known.status, Status::Failed | Status::Cancelled));
        if let Some(known) = known {
            return self.view(&known);
        }
        let Created { tool, ttl_ms, quota, call, steps, answers } = created;
        let record = Record {
            tool,
            owner,
            status: Status::Working,
            created_ms: now,
            updated_ms: now,
            ttl_ms,
            attempts: 0,
            failures: 0,
            wake_at: Some(now),
            is_cancelled: false,
            open_questions: 0,
            quota,
        };
        self.rows.clear()?;
        // If a write fails, the alarm deletes the rows that were written.
        self.arm(Some(now), &record)?;
        self.rows.seal(CALL, &call)?;
        TaskJournal::import(&self.rows, self.version.as_ref(), steps)?;
        let question = |(key, digest, answer): (String, String, _)| StoredQuestion {
            key: key.clone(),
            handler_key: key,
            digest,
            request: RawValue::NULL.to_owned(),
            answer: Some(answer),
            is_withdrawn: false,
        };
        self.store_questions(&answers.into_iter().map(question).collect::<Vec<_>>())?;
        self.rows.write(RECORD, &record)?;
        self.view(&record)
    }

    /// Describes the task, after an end, a question or `wait_ms`.
    async fn get(&self, owner: &str, wait_ms: u64) -> Result<Reply, String> {
        let Some(record) = self.record(owner)? else { return Ok(Reply::Unknown) };
        if wait_ms == 0 || record.status != Status::Working {
            return self.view(&record);
        }
        let working = || match self.rows.read::<Record>(RECORD) {
            Ok(Some(record)) if record.status == Status::Working => None,
            // The read below reports a failure.
            _ => Some(()),
        };
        let time = Duration::from_millis(wait_ms).min(Duration::from_secs(TASK_WAIT_SECONDS));
        if let Either::Right(((), _)) = select(Box::pin(self.live.until(working)), self.host.sleep(time)).await {
            // The time is over, and the task still works.
        }
        match self.record(owner)? {
            Some(record) => self.view(&record),
            None => Ok(Reply::Unknown),
        }
    }

    fn update(&self, owner: &str, answers: Vec<(String, Box<RawValue>)>) -> Result<Reply, String> {
        let Some(mut record) = self.record(owner)? else { return Ok(Reply::Unknown) };
        if record.open_questions == 0 || record.status.is_final() {
            return self.view(&record);
        }
        let mut questions = self.questions()?;
        let before = questions.iter().filter(|question| question.is_open()).count();
        for (key, answer) in answers {
            // A client may answer late, or twice.
            let Some(question) = questions.iter_mut().find(|known| known.key == key && known.is_open()) else {
                continue;
            };
            if let Err(problem) = answers::check(&question.request, &answer) {
                return Ok(Reply::Invalid(format!("The answer `{}` is not valid: {problem}.", shortened(&key))));
            }
            question.answer = Some(answer);
        }
        if questions.iter().filter(|question| question.is_open()).count() == before {
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
        self.store_questions(&questions)?;
        self.live.notify();
        self.view(&record)
    }

    async fn cancel(&self, owner: &str) -> Result<Reply, String> {
        let Some(record) = self.record(owner)? else { return Ok(Reply::Unknown) };
        if !record.status.is_final() {
            // Even if this isolate ends now, the next alarm ends the task.
            let now = self.host.now_ms();
            let cancelled = Record { is_cancelled: true, wake_at: Some(now), failures: 0, ..record.clone() };
            self.rows.write(RECORD, &cancelled)?;
            self.arm(Some(now), &record)?;
            self.live.cancel();
            // A sleeping handler that has work at another server runs once more.
            if !self.live.is_running.get() && self.rows.read::<bool>(RELEASES)?.is_none() {
                self.end(Status::Cancelled, None).await?;
            }
        }
        match self.record(owner)? {
            Some(record) => self.view(&record),
            None => Ok(Reply::Unknown),
        }
    }

    /// Returns all questions that the task has asked.
    pub(super) fn questions(&self) -> Result<Vec<StoredQuestion>, String> {
        let mut questions = Vec::new();
        for key in self.rows.sealed_keys(QUESTION)? {
            questions.extend(self.rows.open::<StoredQuestion>(&key)?);
        }
        Ok(questions)
    }

    /// Stores all questions.
    pub(super) fn store_questions(&self, questions: &[StoredQuestion]) -> Result<(), String> {
        for (nth, question) in questions.iter().enumerate() {
            self.rows.seal(&format!("{QUESTION}{nth:04}"), question)?;
        }
        Ok(())
    }

    /// Ends the task. Its rows are kept until it expires, except for those that only attempts need.
    pub(super) fn end(&self, status: Status, end: Option<End>) -> LocalBoxFuture<'_, Result<(), String>> {
        // Boxed, because many functions wait for it.
        self.end_now(status, end).boxed_local()
    }

    async fn end_now(&self, status: Status, end: Option<End>) -> Result<(), String> {
        let Some(mut record) = self.rows.read::<Record>(RECORD)? else { return Ok(()) };
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
        self.live.notify();
        self.leave(&record).await;
        Ok(())
    }

    /// Stops counting the task. If that fails, the place becomes free when the task expires.
    pub(super) async fn leave(&self, record: &Record) {
        let leave = Message::Leave { task: self.name.clone() };
        if let Err(cause) = send(&self.service.objects, &record.quota, &record.owner, &leave).await {
            failure::log(&self.host, &record.tool, &cause);
        }
    }

    /// Sets the alarm for the next attempt, or for the deletion of the task.
    pub(super) fn arm(&self, wake_at: Option<u64>, record: &Record) -> Result<(), String> {
        self.rows.set_alarm(wake_at.into_iter().chain([record.expires_ms()]).min().unwrap_or_default())
    }

    /// Returns the record of the task, if it belongs to this owner and has not expired.
    fn record(&self, owner: &str) -> Result<Option<Record>, String> {
        let record = self.rows.read::<Record>(RECORD)?;
        Ok(record.filter(|record| record.owner == owner && self.host.now_ms() < record.expires_ms()))
    }

    fn view(&self, record: &Record) -> Result<Reply, String> {
        let message = match self.live.message.borrow().clone() {
            Some(message) => Some(message),
            None => self.rows.open::<String>(MESSAGE)?,
        };
        let task = record.describe(message.as_deref(), self.host.now_ms());
        let state = match record.status {
            Status::Working => State::Working,
            Status::Cancelled => State::Cancelled,
            Status::InputRequired => {
                let open = self.questions()?.into_iter().filter(StoredQuestion::is_open);
                let add =
                    |object: ObjectWriter, question: StoredQuestion| object.json(&question.key, question.request.get());
                State::InputRequired(open.fold(ObjectWriter::new(), add).finish_raw())
            }
            Status::Completed | Status::Failed => match self.rows.open(END)?.ok_or("the end of a task is missing")? {
                End::Result(result) => State::Completed(result),
                End::Error(error) => State::Failed(error),
            },
        };
        Ok(Reply::Task(Box::new(View { tool: record.tool.clone(), task, state })))
    }
}
