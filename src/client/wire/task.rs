//! Tasks: a modern server may answer a tool call with a task, and keep the result until the client asks for it.
//!
//! Source: the extension io.modelcontextprotocol/tasks for 2026-07-28.

use std::time::Duration;

use edge_json::number::float;
use edge_json::{Kind, Value};

use crate::limits::{UPSTREAM_POLL_MOST_SECONDS, UPSTREAM_POLL_SECONDS, UPSTREAM_TASK_ID_BYTES};
use crate::protocol::reply::ServerError;
use crate::protocol::task::TaskMembers;
pub(in crate::client) use crate::protocol::task::{CANCEL, EXTENSION, GET, ID, UPDATE};
use crate::text::line;

pub(in crate::client) const METHODS: [&str; 3] = [GET, UPDATE, CANCEL];

/// A task that a server has created.
#[derive(Debug)]
pub(in crate::client) struct CreatedTask {
    pub id: String,
    pub members: TaskMembers,
}

/// The state of a task.
#[derive(Debug)]
pub(in crate::client) struct RemoteTaskState<'d> {
    pub status: TaskStatus<'d>,
    pub members: TaskMembers,
}

/// The status of a task, with the members that belong to it.
#[derive(Debug)]
pub(in crate::client) enum TaskStatus<'d> {
    Working,
    /// The server asks for input: the `inputRequests`.
    Asks(Option<Value<'d>>),
    /// The call has this result.
    Completed(Value<'d>),
    /// The call has this JSON-RPC error.
    Failed(ServerError<'d>),
    Cancelled,
}

impl CreatedTask {
    /// Reads the result of a call.
    ///
    /// # Errors
    /// The problem with it, as a predicate whose subject is the message.
    pub(in crate::client) fn read(task: Value<'_>) -> Result<Self, &'static str> {
        let id = task.string(ID).filter(|id| !id.is_empty()).ok_or("has a task without a `taskId`")?;
        if id.len() > UPSTREAM_TASK_ID_BYTES {
            return Err("has a task whose `taskId` is too long");
        }
        Ok(Self { id, members: members(task)? })
    }

    pub(in crate::client) fn is_working(&self) -> bool {
        self.members.status == WORKING
    }
}

impl<'d> RemoteTaskState<'d> {
    /// Reads the result of `tasks/get` for the task with this id.
    ///
    /// # Errors
    /// The problem with it, as a predicate whose subject is the message.
    pub(in crate::client) fn read(task: Value<'d>, id: &str) -> Result<Self, &'static str> {
        if !task.get(ID).is_some_and(|found| found.is_str(id)) {
            return Err("has a task with another `taskId`");
        }
        let members = members(task)?;
        let status = match members.status {
            WORKING => TaskStatus::Working,
            "input_required" => TaskStatus::Asks(task.get("inputRequests")),
            "completed" => TaskStatus::Completed(result(task)?),
            "failed" => {
                let error = task.get("error").and_then(ServerError::read);
                TaskStatus::Failed(error.ok_or("has a failed task without a valid error")?)
            }
            _ => TaskStatus::Cancelled,
        };
        Ok(Self { status, members })
    }
}

const WORKING: &str = "working";
const STATUSES: [&str; 5] = [WORKING, "input_required", "completed", "failed", "cancelled"];
const NO_STATUS: &str = "has a task without a known status";

/// Returns the result of a completed task. It is the final result of the call.
fn result(task: Value<'_>) -> Result<Value<'_>, &'static str> {
    let result = task.get("result").filter(|result| result.kind() == Kind::Object);
    let result = result.ok_or("has a completed task without a result")?;
    match result.get("resultType") {
        Some(kind) if !kind.is_str("complete") => Err("has a completed task whose result is not complete"),
        _ => Ok(result),
    }
}

/// Reads the members that each description of a task has.
fn members(task: Value<'_>) -> Result<TaskMembers, &'static str> {
    let status = task.string("status").and_then(|status| STATUSES.into_iter().find(|known| *known == status));
    let time = |name: &str| task.string(name).filter(|time| is_time(time));
    let message = task.string("statusMessage").map(|message| line(&message, MESSAGE).into_owned());
    Ok(TaskMembers {
        status: status.ok_or(NO_STATUS)?,
        message: message.filter(|message| !message.is_empty()),
        created_at: time("createdAt"),
        updated_at: time("lastUpdatedAt"),
        ttl_ms: task.get("ttlMs").and_then(|ttl| ttl.text().parse().ok()).filter(|ttl| *ttl <= MOST_MILLISECONDS),
        poll_interval_ms: interval_ms(task),
    })
}

/// Returns whether a text has the characters of a time in the form of ISO 8601.
fn is_time(text: &str) -> bool {
    let is_of_time = |byte: u8| byte.is_ascii_digit() || b"-:.TZ+".contains(&byte);
    text.len() <= TIME && text.bytes().all(is_of_time) && text.contains('T')
}

/// The longest status message, in characters.
const MESSAGE: usize = 500;
/// The longest time, in bytes.
const TIME: usize = 40;
/// The largest integer that all clients can read.
const MOST_MILLISECONDS: u64 = (1 << 53) - 1;

/// Returns the time after which the server wants to be asked again, in milliseconds. The least is 1 s, and the most 60 s.
fn interval_ms(task: Value<'_>) -> Option<u64> {
    let interval = task.get("pollIntervalMs").filter(|interval| interval.kind() == Kind::Number)?;
    // A number that is too large for the type is infinite.
    let seconds = float(interval.text()) / 1000.0;
    let (least, most) = (Duration::from_secs(UPSTREAM_POLL_SECONDS), Duration::from_secs(UPSTREAM_POLL_MOST_SECONDS));
    let interval = Duration::from_secs_f64(seconds.clamp(least.as_secs_f64(), most.as_secs_f64()));
    u64::try_from(interval.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use edge_json::{Document, JsonLimits};

    fn read(members: &str) -> Result<String, &'static str> {
        let text = format!(r#"{{"taskId":"t",{members}}}"#);
        let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
        RemoteTaskState::read(document.root(), "t").map(|state| format!("{:?}", state.status))
    }

    /// T10, T11: each status has its member.
    #[test]
    fn each_status_is_read() {
        for (members, expected) in [
            (r#""status":"working""#, Ok("Working")),
            (r#""status":"input_required""#, Ok("Asks(None)")),
            (r#""status":"input_required","inputRequests":{"a":1}"#, Ok(r#"Asks(Some({"a":1}))"#)),
            (r#""status":"completed","result":{"content":[]}"#, Ok(r#"Completed({"content":[]})"#)),
            (
                r#""status":"completed","result":{"resultType":"complete"}"#,
                Ok(r#"Completed({"resultType":"complete"})"#),
            ),
            (r#""status":"completed""#, Err("has a completed task without a result")),
            (r#""status":"completed","result":[]"#, Err("has a completed task without a result")),
            (
                r#""status":"completed","result":{"resultType":"task"}"#,
                Err("has a completed task whose result is not complete"),
            ),
            (r#""status":"failed""#, Err("has a failed task without a valid error")),
            (r#""status":"failed","error":{"code":"1","message":""}"#, Err("has a failed task without a valid error")),
            (r#""status":"cancelled","result":{}"#, Ok("Cancelled")),
            (r#""status":"Working""#, Err(NO_STATUS)),
            (r#""status":null"#, Err(NO_STATUS)),
        ] {
            assert_eq!(read(members), expected.map(str::to_owned), "{members}");
        }
        let another = Document::parse(br#"{"taskId":"u","status":"working"}"#, JsonLimits::default()).expect("JSON");
        assert!(RemoteTaskState::read(another.root(), "t").is_err());
    }

    /// T25: the interval of the server counts within limits. Other values than numbers do not count.
    #[test]
    fn the_interval_is_limited() {
        for (expected, interval) in [
            (Some(1_000), "0"),
            (Some(1_000), "-5"),
            (Some(1_000), "999"),
            (Some(1_500), "1500"),
            (Some(1_500), "1500.5"),
            (Some(60_000), "60000"),
            (Some(60_000), "60001"),
            (Some(60_000), "1e999"),
            (Some(1_000), "-1e999"),
            (None, "\"5\""),
            (None, "null"),
        ] {
            let text = format!(r#"{{"pollIntervalMs":{interval}}}"#);
            let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
            let found = interval_ms(document.root());
            assert_eq!(found, expected, "{interval}");
        }
    }
}
