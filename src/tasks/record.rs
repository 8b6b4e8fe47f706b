//! The state of a task, and the call that it runs.

use edge_json::Value;
use edge_json::write::ObjectWriter;
use serde_json::value::RawValue;

use super::rows::{Row, Rows};
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
    pub status: Status,
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
pub(super) enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

const STATUSES: [Status; 5] =
    [Status::Working, Status::InputRequired, Status::Completed, Status::Failed, Status::Cancelled];

impl Status {
    fn named(name: &str) -> Option<Self> {
        STATUSES.into_iter().find(|status| status.name() == name)
    }

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
    /// What the client can be asked.
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

impl Row for Record {
    fn json(&self) -> String {
        let object = ObjectWriter::new()
            .text("tool", &self.tool)
            .text("generation", &self.generation)
            .text("owner", &self.owner)
            .text("status", self.status.name())
            .json("createdMs", &self.created_ms.to_string())
            .json("updatedMs", &self.updated_ms.to_string())
            .json("ttlMs", &self.ttl_ms.to_string())
            .json("attempts", &self.attempts.to_string())
            .json("failures", &self.failures.to_string())
            .json("prevented", &self.prevented.to_string())
            .json("isCancelled", &self.is_cancelled.to_string())
            .json("openQuestions", &self.open_questions.to_string())
            .json("answerBytes", &self.answer_bytes.to_string())
            .text("quota", &self.quota);
        with_number(object, "wakeAt", self.wake_at).finish()
    }

    fn read(row: Value<'_>) -> Option<Self> {
        Some(Self {
            tool: row.string("tool")?,
            generation: row.string("generation")?,
            owner: row.string("owner")?,
            status: Status::named(&row.string("status")?)?,
            created_ms: number(row, "createdMs")?,
            updated_ms: number(row, "updatedMs")?,
            ttl_ms: number(row, "ttlMs")?,
            attempts: number(row, "attempts")?.try_into().ok()?,
            failures: number(row, "failures")?.try_into().ok()?,
            prevented: number(row, "prevented")?.try_into().ok()?,
            wake_at: number(row, "wakeAt"),
            is_cancelled: bool::read(row.get("isCancelled")?)?,
            open_questions: number(row, "openQuestions")?.try_into().ok()?,
            answer_bytes: number(row, "answerBytes")?,
            quota: row.string("quota")?,
        })
    }
}

impl Row for StoredCall {
    fn json(&self) -> String {
        let ClientCapabilities { elicitation_form, elicitation_url, sampling, roots } = self.capabilities;
        let capabilities = [elicitation_form, elicitation_url, sampling, roots].map(|can| can.to_string());
        let object = ObjectWriter::new()
            .text("id", &self.id)
            .json("params", self.params.get())
            .text("callId", &self.call_id)
            .json("capabilities", &format!("[{}]", capabilities.join(",")))
            .json("isModern", &self.is_modern.to_string())
            .text("url", &self.url);
        match &self.principal {
            Some(principal) => object.json("principal", &principal.to_json()),
            None => object,
        }
        .finish()
    }

    fn read(row: Value<'_>) -> Option<Self> {
        let mut capabilities = row.get("capabilities")?.items().map(bool::read);
        let mut can = || capabilities.next().flatten();
        let (elicitation_form, elicitation_url, sampling, roots) = (can()?, can()?, can()?, can()?);
        let principal = match row.get("principal") {
            Some(principal) => Some(Principal::read(principal)?),
            None => None,
        };
        Some(Self {
            id: row.string("id")?,
            params: row.get("params")?.to_raw()?,
            call_id: row.string("callId")?,
            principal,
            capabilities: ClientCapabilities { elicitation_form, elicitation_url, sampling, roots },
            is_modern: bool::read(row.get("isModern")?)?,
            url: row.string("url")?,
        })
    }
}

impl Row for End {
    fn json(&self) -> String {
        let (name, value) = match self {
            Self::Result(result) => ("result", result),
            Self::Error(error) => ("error", error),
        };
        ObjectWriter::new().json(name, value.get()).finish()
    }

    fn read(row: Value<'_>) -> Option<Self> {
        match row.get("result") {
            Some(result) => result.to_raw().map(Self::Result),
            None => row.get("error")?.to_raw().map(Self::Error),
        }
    }
}

impl Row for StoredQuestion {
    fn json(&self) -> String {
        ObjectWriter::new()
            .text("key", &self.key)
            .text("handlerKey", &self.handler_key)
            .text("digest", &self.digest)
            .json("request", self.request.get())
            .json("isAnswered", &self.is_answered.to_string())
            .json("isWithdrawn", &self.is_withdrawn.to_string())
            .finish()
    }

    fn read(row: Value<'_>) -> Option<Self> {
        Some(Self {
            key: row.string("key")?,
            handler_key: row.string("handlerKey")?,
            digest: row.string("digest")?,
            request: row.get("request")?.to_raw()?,
            is_answered: bool::read(row.get("isAnswered")?)?,
            is_withdrawn: bool::read(row.get("isWithdrawn")?)?,
            is_changed: false,
        })
    }
}

/// Reads a member that is a number.
pub(super) fn number(object: Value<'_>, name: &str) -> Option<u64> {
    u64::read(object.get(name)?)
}

/// Adds a member that is a number, if there is one.
pub(super) fn with_number(object: ObjectWriter, name: &str, number: Option<u64>) -> ObjectWriter {
    match number {
        Some(number) => object.json(name, &number.to_string()),
        None => object,
    }
}

impl StoredQuestion {
    pub(super) fn is_open(&self) -> bool {
        !self.is_answered && !self.is_withdrawn
    }
}

impl Record {
    /// Reads the record of the task `generation`. Returns `None` if the task was deleted, or replaced by another one.
    pub(super) fn current(rows: &Rows, generation: &str) -> Result<Option<Self>, String> {
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
    pub(super) fn set_status(&mut self, status: Status, now_ms: u64) {
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
        self.set_status(if open > 0 { Status::InputRequired } else { Status::Working }, now_ms);
    }

    /// Returns the time after which a client should ask again. It grows with the age of the task.
    pub(super) fn poll_interval_ms(&self, now_ms: u64) -> u64 {
        let age_s = now_ms.saturating_sub(self.created_ms) / 1000;
        match () {
            () if self.status == Status::InputRequired => 5000,
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
