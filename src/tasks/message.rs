//! The messages to the objects, and their answers. They stay within one deployment.

use edge_json::deserialize::read_text;
use edge_json::write::{self, ObjectWriter};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::record::StoredCall;
use crate::call::task_info::TaskService;

/// A message to an object.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Message {
    /// Creates a task, unless the object has it.
    Create(Box<Created>),
    /// Describes the task.
    Get {
        owner: String,
        /// The time to wait for an end or a question, in milliseconds.
        wait_ms: u64,
    },
    /// Answers questions.
    Update {
        owner: String,
        answers: Vec<(String, Box<RawValue>)>,
    },
    Cancel {
        owner: String,
    },
    /// Counts a task of a caller.
    Enter {
        task: String,
        most: u32,
        expires_ms: u64,
    },
    /// Stops counting a task.
    Leave {
        task: String,
    },
}

/// A new task.
#[derive(Serialize, Deserialize)]
pub(crate) struct Created {
    pub tool: String,
    pub owner: String,
    pub ttl_ms: u64,
    pub quota: String,
    pub call: StoredCall,
    /// The places, names and results of the steps that have finished.
    pub steps: Vec<(String, String, Box<RawValue>)>,
    /// The keys, digests and answers of the questions that have been answered.
    pub answers: Vec<(String, String, Box<RawValue>)>,
}

/// The answer of an object.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Task(Box<View>),
    /// There is no such task for this owner.
    Unknown,
    /// An answer does not fit its question. The text is for the caller.
    Invalid(String),
    Entered,
    /// The caller has too many tasks. The time at which the first of them expires, in milliseconds since 1970.
    Full(u64),
}

/// A task as its caller sees it.
#[derive(Serialize, Deserialize)]
pub(super) struct View {
    pub tool: String,
    /// The members that every description of the task has, besides its id: a JSON object.
    pub task: Box<RawValue>,
    pub state: State,
}

/// The state of a task, with what its caller needs.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Working,
    /// The questions, by their keys.
    InputRequired(Vec<(String, Json)>),
    Completed(Box<RawValue>),
    Failed(Box<RawValue>),
    Cancelled,
}

impl State {
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed(_) | Self::Cancelled)
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
        let (name, value) = match &self.state {
            State::Working | State::Cancelled => return task,
            State::Completed(result) => ("result", result.get().to_owned()),
            State::Failed(error) => ("error", error.get().to_owned()),
            State::InputRequired(questions) => {
                let write =
                    |object: ObjectWriter, (key, request): &(String, Json)| object.json(key, &write::text(request));
                ("inputRequests", questions.iter().fold(ObjectWriter::new(), write).finish())
            }
        };
        let members = task.get().strip_suffix('}').unwrap_or_default();
        write::raw_value(format!("{members},\"{name}\":{value}}}"))
    }
}

/// Sends a message to the object `name`.
///
/// # Errors
/// The object cannot be reached. The text is for the log.
pub(super) async fn send(service: &TaskService, name: &str, message: &Message) -> Result<Reply, String> {
    let message = write::to_string(message).map_err(|error| error.to_string())?;
    let answer = service.objects.send(name, message).await?;
    read_text(answer.as_bytes()).ok_or_else(|| "the object of a task did not answer as expected".to_owned())
}
