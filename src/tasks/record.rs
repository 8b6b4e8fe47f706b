//! The state of a task, and the call that it runs.

use edge_json::Value;
use edge_json::write::ObjectWriter;
use serde_json::value::RawValue;

use super::rows::StoredRows;
use super::stored::{Stored, stored};
use crate::auth::Principal;
use crate::protocol::capabilities::ClientCapabilities;

/// The row with the [`Record`].
pub(super) const RECORD: &str = "task";
/// The encrypted row with the [`StoredCall`].
pub(super) const CALL: &str = "call";
/// The encrypted row with the last message of the handler.
pub(super) const MESSAGE: &str = "message";
/// The encrypted row with the [`End`].
pub(super) const END: &str = "end";
/// The row that the host writes if a crash of other work has interrupted an attempt: `true`.
pub(super) const INTERRUPTED: &str = "interrupted";
/// The row that exists if a cancellation must reach the handler: `true`.
pub(super) const RELEASES: &str = "releases";
/// The row with the time at which the record was found that this version cannot read, in milliseconds since 1970.
pub(super) const UNREADABLE: &str = "unreadable";
/// The prefix of the encrypted rows with each [`StoredQuestion`].
pub(super) const QUESTION: &str = "question:";
/// The prefix of the encrypted rows with the answers, which have the numbers of their questions.
pub(super) const ANSWER: &str = "answer:";

/// The state of a task. The row is not encrypted, so that operators can read it.
#[derive(Clone)]
pub(super) struct Record {
    pub tool: String,
    /// The random text that tells this task from all others. Calls with the same key share an object, so a new task can replace one that failed, was
    /// cancelled or has expired, while work of the old one still runs.
    pub generation: String,
    /// The digest of the caller and the server.
    pub owner: String,
    pub status: RecordStatus,
    pub created_ms: u64,
    pub updated_ms: u64,
    pub ttl_ms: u64,
    /// The number of attempts.
    pub attempts: u32,
    /// The number of attempts since a step finished or an attempt ended in an orderly way.
    pub failures: u32,
    /// The number of attempts in a row that could not begin.
    pub prevented: u32,
    /// The time of the next attempt. `None` while the task waits for answers, and after its end.
    pub wake_at: Option<u64>,
    pub is_cancelled: bool,
    /// The number of questions without an answer.
    pub open_questions: u32,
    /// The bytes of all answers.
    pub answer_bytes: u64,
    /// The object that counts the tasks of the caller.
    pub quota: String,
}

/// The status of a task. Source: ext-tasks, "Task Status".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordStatus {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

const STATUSES: [RecordStatus; 5] = [
    RecordStatus::Working,
    RecordStatus::InputRequired,
    RecordStatus::Completed,
    RecordStatus::Failed,
    RecordStatus::Cancelled,
];

impl Stored for RecordStatus {
    fn json(&self) -> String {
        self.name().to_owned().json()
    }

    fn read(value: Value<'_>) -> Option<Self> {
        let name = value.as_str()?;
        STATUSES.into_iter().find(|status| status.name() == name)
    }
}

impl RecordStatus {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(super) fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// The call of a task, as it was made.
pub(crate) struct StoredCall {
    /// The id of the task. Without authentication, it is a secret.
    pub id: String,
    /// The parameters of `tools/call`, with `_meta`: a JSON object.
    pub params: Box<RawValue>,
    /// The random id of the call, for idempotency keys.
    pub call_id: String,
    pub principal: Option<Principal>,
    /// The questions that the client can answer.
    pub capabilities: ClientCapabilities,
    /// Whether the client is of 2026-07-28, and declares its extensions in `_meta`.
    pub is_modern: bool,
    /// The URL of the request.
    pub url: String,
}

/// The end of a task: the result of its call, or an error of the protocol.
pub(crate) enum End {
    Result(Box<RawValue>),
    Error(Box<RawValue>),
}

/// A question of a task.
pub(super) struct StoredQuestion {
    /// The key that the client sees. No other question of the task ever has it.
    pub key: String,
    /// The key of the handler.
    pub handler_key: String,
    /// The digest of the question.
    pub digest: String,
    pub request: Box<RawValue>,
    pub is_answered: bool,
    /// Whether the handler no longer asks the question.
    pub is_withdrawn: bool,
    /// Whether it differs from its row.
    pub is_changed: bool,
}

stored!(Record {
    tool: "tool",
    generation: "generation",
    owner: "owner",
    status: "status",
    created_ms: "createdMs",
    updated_ms: "updatedMs",
    ttl_ms: "ttlMs",
    attempts: "attempts",
    failures: "failures",
    prevented: "prevented",
    wake_at: "wakeAt",
    is_cancelled: "isCancelled",
    open_questions: "openQuestions",
    answer_bytes: "answerBytes",
    quota: "quota"
});
stored!(StoredCall {
    id: "id",
    params: "params",
    call_id: "callId",
    principal: "principal",
    capabilities: "capabilities",
    is_modern: "isModern",
    url: "url"
});
stored!(StoredQuestion {
    key: "key", handler_key: "handlerKey", digest: "digest", request: "request", is_answered: "isAnswered", is_withdrawn: "isWithdrawn"
} but is_changed);

impl Stored for End {
    fn json(&self) -> String {
        let (name, value) = match self {
            Self::Result(result) => ("result", result),
            Self::Error(error) => ("error", error),
        };
        value.add_to(ObjectWriter::new(), name).finish()
    }

    fn read(row: Value<'_>) -> Option<Self> {
        match row.get("result") {
            Some(result) => result.to_raw().map(Self::Result),
            None => row.get("error")?.to_raw().map(Self::Error),
        }
    }
}

impl StoredQuestion {
    pub(super) fn is_open(&self) -> bool {
        !self.is_answered && !self.is_withdrawn
    }
}

impl Record {
    /// Reads the record of the task `generation`. Returns `None` if the task was deleted, or replaced by another one.
    pub(super) fn current(rows: &StoredRows, generation: &str) -> Result<Option<Self>, String> {
        Ok(rows.read::<Self>(RECORD)?.filter(|record| record.generation == generation))
    }

    pub(super) fn expires_ms(&self) -> u64 {
        self.created_ms.saturating_add(self.ttl_ms)
    }

    /// Undoes the count of an attempt in which nothing of the handler ran.
    pub(super) fn forget_attempt(&mut self) {
        self.attempts = self.attempts.saturating_sub(1);
        self.failures = self.failures.saturating_sub(1);
    }

    /// Changes the status. An end is final.
    pub(super) fn set_status(&mut self, status: RecordStatus, now_ms: u64) {
        if !self.status.is_final() && self.status != status {
            self.status = status;
            self.updated_ms = now_ms;
        }
    }

    /// Sets the number of open questions, and the status that follows from it.
    pub(super) fn count_questions(&mut self, questions: &[StoredQuestion], now_ms: u64) {
        let open = questions.iter().filter(|question| question.is_open()).count();
        self.open_questions = u32::try_from(open).unwrap_or(u32::MAX);
        self.updated_ms = now_ms;
        self.set_status(if open > 0 { RecordStatus::InputRequired } else { RecordStatus::Working }, now_ms);
    }

    /// Returns the time after which a client should ask again. It grows with the age of the task.
    pub(super) fn poll_interval_ms(&self, now_ms: u64) -> u64 {
        let age_s = now_ms.saturating_sub(self.created_ms) / 1000;
        match () {
            () if self.status == RecordStatus::InputRequired => 5000,
            () if age_s < 10 => 1000,
            () if age_s < 120 => 5000,
            () => 15_000,
        }
    }

    /// Returns the members that every description of the task has, besides its id.
    pub(super) fn describe(&self, message: Option<&str>, now_ms: u64) -> Box<RawValue> {
        let object = ObjectWriter::new().text("status", self.status.name());
        let object = match message {
            Some(message) => object.text("statusMessage", message),
            None => object,
        };
        object
            .text("createdAt", &time(self.created_ms))
            .text("lastUpdatedAt", &time(self.updated_ms))
            .json("ttlMs", &self.ttl_ms.to_string())
            .json("pollIntervalMs", &self.poll_interval_ms(now_ms).to_string())
            .finish_raw()
    }
}

/// Returns a time in milliseconds since 1970 in the form of ISO 8601.
pub(super) fn time(ms: u64) -> String {
    let (days, rest) = (ms / 86_400_000, ms % 86_400_000);
    let (hours, minutes, seconds) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z", ms % 1000)
}

/// Returns the year, month and day of the day with this number since 1970-01-01.
///
/// Years are counted from March, so that the leap day is the last day of a year. 400 years have 146 097 days.
fn date(days: u64) -> (u64, u64, u64) {
    let day = days.saturating_add(719_468);
    let (era, day) = (day / 146_097, day % 146_097);
    let leaps = (day / 1460).saturating_add(day / 146_096).saturating_sub(day / 36_524);
    let year = day.saturating_sub(leaps) / 365;
    let day = day.saturating_sub(year.saturating_mul(365).saturating_add(year / 4).saturating_sub(year / 100));
    let month = day.saturating_mul(5).saturating_add(2) / 153;
    let day = day.saturating_sub(month.saturating_mul(153).saturating_add(2) / 5).saturating_add(1);
    let (year, month) = (
        year.saturating_add(era.saturating_mul(400)).saturating_add(u64::from(month >= 10)),
        if month < 10 { month.saturating_add(3) } else { month.saturating_sub(9) },
    );
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_are_in_the_form_of_iso_8601() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59.000Z"),
            (1_709_164_800_001, "2024-02-29T00:00:00.001Z"),
            (1_800_000_000_000, "2027-01-15T08:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(time(ms), text);
        }
    }
}
