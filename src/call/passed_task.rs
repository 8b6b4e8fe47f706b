//! Tasks of other servers that are passed on: the caller asks for their state itself.

use serde_json::value::RawValue;

/// A task of a mounted server.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PassedTask {
    /// The name of the mount.
    pub mount: String,
    /// The name by which callers know the tool.
    pub tool: String,
    /// The id that the server gave the task. Callers never see it.
    pub id: String,
}

/// A request of a caller about a task.
pub(crate) enum TaskRequest {
    Get,
    /// The answers to questions, by their keys.
    Update(Vec<(String, Box<RawValue>)>),
    Cancel,
}
