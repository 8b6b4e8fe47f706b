//! The creation of a task, in its object.

use serde_json::value::RawValue;

use super::journal::TaskJournal;
use super::message::{Created, Entry, TaskReply};
use super::object::{Object, numbered};
use super::record::{ANSWER, CALL, RECORD, Record, RecordStatus, StoredCall, StoredQuestion};
use crate::limits::TASK_PLACE_SECONDS;

impl Object {
    /// Creates a task, unless the object has it already. It takes a place in the count of the caller's tasks first.
    pub(super) async fn create(&self, owner: String, created: Created) -> Result<TaskReply, String> {
        if let Some(known) = self.existing(&owner, &created)? {
            self.revive(&known)?;
            return self.view(&known);
        }
        if let Some(replaced) = self.record(&owner)? {
            // It may still run, after a cancellation.
            self.end(&replaced, RecordStatus::Cancelled, None).await?;
        }
        let entered = self.enter(&created.quota, &owner, self.lease(&created)).await?;
        // Another call with the same key may have created the task meanwhile.
        if let Some(known) = self.existing(&owner, &created)? {
            if known.generation != created.generation && matches!(entered, TaskReply::Counted) {
                let unused = Record { generation: created.generation, ..known.clone() };
                self.leave(&unused).await;
            }
            return self.view(&known);
        }
        match entered {
            TaskReply::Counted => self.view(&self.store(owner, created)?),
            refused => Ok(refused),
        }
    }

    /// Returns the task that answers the call. It is the task that an earlier delivery of the same message created, or a task of another call with the
    /// same key. A task that failed or was cancelled does not answer another call.
    fn existing(&self, owner: &str, created: &Created) -> Result<Option<Record>, String> {
        let is_void = |known: &Record| {
            known.is_cancelled || matches!(known.status, RecordStatus::Failed | RecordStatus::Cancelled)
        };
        let answers = |known: &Record| known.generation == created.generation || !is_void(known);
        Ok(self.record(owner)?.filter(answers))
    }

    /// Returns the place of a task that does not exist yet. Its first attempt [keeps](Self::keep_place) the place.
    fn lease(&self, created: &Created) -> Entry {
        let now = self.host.now_ms();
        let expires_ms = now.saturating_add(created.ttl_ms);
        let lease_ms = now.saturating_add(TASK_PLACE_SECONDS.saturating_mul(1000));
        let place = self.place(&created.generation);
        Entry { place, most: created.most, until_ms: lease_ms.min(expires_ms), expires_ms }
    }

    /// Takes the place of a task until it expires. The task exists, so it counts even if the caller now has too many.
    pub(super) async fn keep_place(&self, task: &Record) -> Result<(), String> {
        // The binding was removed, and the class of the objects was not.
        if self.objects.is_none() {
            return Ok(());
        }
        let (place, expires_ms) = (self.place(&task.generation), task.expires_ms());
        let entry = Entry { place, most: u64::MAX, until_ms: expires_ms, expires_ms };
        self.enter(&task.quota, &task.owner, entry).await.map(drop)
    }

    /// Stores a new task, which replaces the one that the object had.
    fn store(&self, owner: String, created: Created) -> Result<Record, String> {
        let now = self.host.now_ms();
        let Created { tool, generation, ttl_ms, quota, mut call, steps, answers, .. } = created;
        // The idempotency keys of a call that follows a failed one with the same key are the same, so its effects do not happen twice. Without the
        // key that encrypted the earlier call, they are new.
        if self.record(&owner)?.is_some()
            && let Ok(Some(replaced)) = self.rows.open::<StoredCall>(CALL)
        {
            call.call_id = replaced.call_id;
        }
        let bytes = answers.iter().map(|(_, _, answer)| u64::try_from(answer.get().len()).unwrap_or(u64::MAX));
        let record = Record {
            tool,
            generation,
            owner,
            status: RecordStatus::Working,
            created_ms: now,
            updated_ms: now,
            ttl_ms,
            attempts: 0,
            failures: 0,
            prevented: 0,
            wake_at: Some(now),
            is_cancelled: false,
            open_questions: 0,
            answer_bytes: bytes.fold(0, u64::saturating_add),
            quota,
        };
        self.rows.clear()?;
        // If a write fails, the alarm deletes the rows that were written.
        self.arm(Some(now), &record)?;
        self.rows.seal(CALL, &call)?;
        TaskJournal::import(&self.rows, self.version.as_ref(), steps)?;
        for (nth, (key, digest, answer)) in answers.into_iter().enumerate() {
            let question = StoredQuestion {
                key: key.clone(),
                handler_key: key,
                digest,
                request: RawValue::NULL.to_owned(),
                is_answered: true,
                is_withdrawn: false,
                is_changed: true,
            };
            self.rows.seal(&numbered(ANSWER, nth), &answer)?;
            self.store_question(nth, &question)?;
        }
        self.rows.write(RECORD, &record)?;
        Ok(record)
    }
}
