//! The extension for tasks: requests that the server answers later.
//!
//! Source: ext-tasks, specification 2026-07-28.

/// The name of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// The type of the result that creates a task.
pub(crate) const RESULT_TYPE: &str = "task";
