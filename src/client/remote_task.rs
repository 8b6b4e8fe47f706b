//! The identity of a task at another server.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// A task at another server: a call of a tool that continues there.
///
/// [`Peer::task`](super::Peer::task) waits for its result and [`Peer::cancel_task`](super::Peer::cancel_task) cancels it, also in a later request: a program can store a task as JSON. At a
/// server without authentication, the id is the only secret of the task, so debug output does not contain it.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct RemoteTask {
    server: Text,
    tool: String,
    id: String,
}

impl RemoteTask {
    /// Creates the identity of the task `id` at `server`, in which the tool `tool` runs. A program that stores a task serializes it instead.
    pub fn new(server: impl Into<Text>, tool: impl Into<String>, id: impl Into<String>) -> Self {
        Self { server: server.into(), tool: tool.into(), id: id.into() }
    }

    /// Returns the name that this program has for the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the name of the tool at the server.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the id that the server gave the task.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Debug for RemoteTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteTask").field("server", &self.server).field("tool", &self.tool).finish_non_exhaustive()
    }
}
