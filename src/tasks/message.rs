//! The messages to the objects, and their answers. They stay within one deployment.
//!
//! The platform may deliver a message twice, late, or after the one that follows it. So each message that changes a task names its generation,
//! and a message about another generation changes nothing.

use std::rc::Rc;

use edge_json::write;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::record::StoredCall;
use super::rows::read;
use crate::host::TaskObjects;

/// A message to an object.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum TaskMessage {
    /// Creates a task, unless the object has it, or has another one that goes on or has completed.
    Create(Box<Created>),
    /// Describes the task, after an end, a question or this time in milliseconds.
    Get { wait_ms: u64 },
    /// Answers questions.
    Update { generation: String, answers: Vec<(String, Box<RawValue>)> },
    /// Cancels the task, whatever its generation is if there is none.
    Cancel { generation: Option<String> },
    /// Counts a task of a caller.
    Enter(Entry),
    /// Stops counting a task.
    Leave { place: String },
}

/// A place that a task takes in the count of its caller.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    /// The object of the task, and its generation.
    pub place: String,
    /// The number of tasks that the caller can have.
    pub most: u64,
    /// The time until which the place is taken, in milliseconds since 1970.
    pub until_ms: u64,
    /// The time at which the task expires.
    pub expires_ms: u64,
}

/// A new task.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Created {
    pub tool: String,
    pub generation: String,
    pub ttl_ms: u64,
    /// The object that counts the tasks of the caller.
    pub quota: String,
    /// The number of tasks that the caller can have.
    pub most: u64,
    pub call: StoredCall,
    /// The places, names and results of the steps that have finished.
    pub steps: Vec<(String, String, Box<RawValue>)>,
    /// The keys, digests and answers of the questions that have been answered.
    pub answers: Vec<(String, String, Box<RawValue>)>,
}

/// The answer of an object.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum TaskReply {
    Task(Box<View>),
    /// There is no such task for this owner.
    Unknown,
    /// An answer does not fit its question. The text is for the caller.
    Invalid(String),
    /// The count has changed.
    Counted,
    /// The caller has too many tasks. The time at which the first of them expires, in milliseconds since 1970.
    Full(u64),
}

/// A task as its caller sees it.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    pub tool: String,
    pub generation: String,
    /// The members that every description of the task has, besides its id: a JSON object.
    pub task: Box<RawValue>,
    pub state: Phase,
}

/// The state of a task, with what its caller needs.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Phase {
    Working,
    /// The questions: an object with their keys.
    InputRequired(Box<RawValue>),
    Completed(Box<RawValue>),
    Failed(Box<RawValue>),
    Cancelled,
}

impl Phase {
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed(_) | Self::Cancelled)
    }

    /// Returns the member with what the state adds to the description of a task.
    fn member(&self) -> Option<(&'static str, &RawValue)> {
        match self {
            Self::Working | Self::Cancelled => None,
            Self::InputRequired(questions) => Some(("inputRequests", questions)),
            Self::Completed(result) => Some(("result", result)),
            Self::Failed(error) => Some(("error", error)),
        }
    }
}

impl View {
    /// Returns the description of the task with this id.
    pub(super) fn describe(&self, id: &str) -> Box<RawValue> {
        let members = self.task.get().strip_prefix('{').unwrap_or_default();
        write::raw_value(format!("{{\"taskId\":\"{id}\",{members}"))
    }

    /// Returns the description with what its state adds, as `tasks/get` returns it.
    pub(super) fn detailed(&self, id: &str) -> Box<RawValue> {
        let task = self.describe(id);
        let Some((name, value)) = self.state.member() else { return task };
        let members = task.get().strip_suffix('}').unwrap_or_default();
        write::raw_value(format!("{members},\"{name}\":{value}}}"))
    }
}

/// A message, and the owner of the task.
#[derive(Deserialize, Serialize)]
pub(super) struct Letter<M> {
    pub owner: String,
    pub message: M,
}

/// Sends a message about a task of `owner` to the object `name`.
///
/// # Errors
/// The object cannot be reached. The text is for the log.
pub(super) fn send(
    objects: &Rc<dyn TaskObjects>,
    name: &str,
    owner: &str,
    message: &TaskMessage,
) -> LocalBoxFuture<'static, Result<TaskReply, String>> {
    let letter = write::to_string(&Letter { owner: owner.to_owned(), message });
    let answer = letter.map(|letter| objects.send(name, letter)).map_err(|error| error.to_string());
    let reply = async move {
        let reply = read(answer?.await?.as_bytes());
        reply.ok_or_else(|| "the object of a task did not answer as expected".to_owned())
    };
    reply.boxed_local()
}
