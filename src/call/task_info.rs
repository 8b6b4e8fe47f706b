//! The durable task that a handler belongs to, and what an endpoint needs for such tasks.

use std::rc::Rc;

use crate::auth::StateKeys;
use crate::config::ConfigError;
use crate::host::TaskObjects;

/// The durable task that a handler belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskInfo {
    /// The id by which the client knows the task.
    pub id: String,
    /// The number of this attempt, from 1. Each sleep, each question and each interruption ends an attempt.
    pub attempt: u32,
    /// The time at which the task was created, in milliseconds since 1970-01-01T00:00:00Z.
    pub created_ms: u64,
}

/// The objects that run the durable tasks of an endpoint, and the keys for their ids and contents.
#[derive(Clone)]
pub(crate) struct TaskService {
    pub objects: Rc<dyn TaskObjects>,
    /// The keys, or the error in their configuration.
    pub keys: Rc<Result<StateKeys, ConfigError>>,
}

/// The point of a call at which its durable task begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// Never: the handler answers the request.
    Never,
    /// Before the handler is called.
    AtOnce,
    /// At [`Context::start_task`](super::context::Context::start_task).
    AtMark,
}
