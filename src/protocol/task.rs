//! The extension for tasks: requests that the server answers later.
//!
//! Source: ext-tasks, specification 2026-07-28.

/// The name of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// The methods of the extension.
pub(crate) const GET: &str = "tasks/get";
pub(crate) const UPDATE: &str = "tasks/update";
pub(crate) const CANCEL: &str = "tasks/cancel";
/// The parameter with the id of a task. A description of the task has it too.
pub(crate) const ID: &str = "taskId";
/// The type of the result that creates a task.
pub(crate) const RESULT_TYPE: &str = "task";

/// The members that each description of a task has, besides its id, as another server sent them. A member that is missing or not valid is
/// `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskMembers {
    pub status: &'static str,
    /// A description of the state, on one line.
    pub message: Option<String>,
    /// Times in the form of ISO 8601.
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub ttl_ms: Option<u64>,
    /// Within the limits of the client.
    pub poll_interval_ms: Option<u64>,
}
