//! The settings of durable tasks.

use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits};

use super::job_tools;
use crate::call::handler::{Arguments, read};
use crate::limits::{LONGEST_TASK_SECONDS, TASK_SECONDS, TASK_WAIT_SECONDS, TASKS_PER_CALLER};
use crate::server::tool::Tool;

/// The settings of a tool whose calls are durable tasks, for [`Tool::task`].
///
/// ```
/// use std::time::Duration;
///
/// use edge_mcp::Tool;
/// use edge_mcp::tasks::Task;
///
/// let task = Task::new().ttl(Duration::from_secs(3600)).answer_within(Duration::from_secs(10));
/// let convert = Tool::new("convert", "Converts the archive.", || async { "done" }).task(task);
/// ```
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools)]
#[must_use]
pub struct Task {
    pub(super) ttl: Duration,
    pub(super) wait: Duration,
    pub(super) per_caller: u32,
    pub(super) dedupe: Option<Rc<Dedupe>>,
    pub(super) is_required: bool,
    pub(super) has_job: bool,
    pub(super) starts_later: bool,
    pub(super) tolerates_changes: bool,
}

/// Returns the text that identifies a call with these arguments, which are JSON.
pub(super) type Dedupe = dyn Fn(&str) -> Result<String, String>;

impl Task {
    /// Creates the settings of tasks that are kept for 24 h. A client without tasks waits for up to 20 s, and then gets a job.
    pub fn new() -> Self {
        Self {
            ttl: Duration::from_secs(TASK_SECONDS),
            wait: Duration::from_secs(TASK_WAIT_SECONDS),
            per_caller: TASKS_PER_CALLER,
            dedupe: None,
            is_required: false,
            has_job: true,
            starts_later: false,
            tolerates_changes: false,
        }
    }

    /// Creates the settings of tasks for clients with the tasks extension only. Other clients get an error that names the extension. The
    /// endpoint must have durable tasks: otherwise, every request gets a 503.
    pub fn required() -> Self {
        Self { is_required: true, ..Self::new().without_job() }
    }

    /// Sets the time for which a task is kept, from its creation: at most 30 days. Then the task and its result are deleted, whether or not
    /// it has ended. The task of a caller without authentication is kept for at most 1 h.
    pub fn ttl(self, time: Duration) -> Self {
        Self { ttl: time.clamp(Duration::from_secs(1), Duration::from_secs(LONGEST_TASK_SECONDS)), ..self }
    }

    /// Sets the time that a client without tasks waits for the result before it gets a job: at most 20 s.
    pub fn answer_within(self, time: Duration) -> Self {
        Self { wait: time.min(Duration::from_secs(TASK_WAIT_SECONDS)), ..self }
    }

    /// Answers clients without tasks directly, within the deadline of the tool. The tool then publishes its output schema: a client would
    /// reject the answer about a job, which does not fit it.
    pub fn without_job(self) -> Self {
        Self { has_job: false, ..self }
    }

    /// Lets the task begin at [`Context::start_task`](crate::Context::start_task). Without it, the task begins with the call.
    pub fn starts_later(self) -> Self {
        Self { starts_later: true, ..self }
    }

    /// Sets the number of tasks of this tool that a caller can have at the same time: 32 by default. Callers without authentication
    /// share the number.
    pub fn per_caller(self, tasks: u32) -> Self {
        Self { per_caller: tasks, ..self }
    }

    /// Makes calls of a caller with the same key one task, as long as the task is kept. So a client that lost an answer can repeat its call. A
    /// task that failed or was cancelled is replaced by a new one, whose steps have the idempotency keys of the old one. `key` is a function of
    /// the arguments. Callers without authentication do not share tasks.
    ///
    /// ```
    /// use edge_mcp::Tool;
    /// use edge_mcp::tasks::Task;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Year {
    ///     year: u16,
    /// }
    ///
    /// let report = |Year { year }: Year| async move { format!("The report of {year}") };
    /// let report = Tool::new("build-report", "Builds a report.", report)
    ///     .task(Task::new().dedupe(|Year { year }: Year| year.to_string()));
    /// ```
    pub fn dedupe<A: Arguments>(self, key: impl Fn(A) -> String + 'static) -> Self {
        let dedupe = move |arguments: &str| {
            let document =
                Document::parse(arguments.as_bytes(), JsonLimits::MOST).map_err(|error| error.to_string())?;
            read(document.root()).map(&key)
        };
        Self { dedupe: Some(Rc::new(dedupe)), ..self }
    }

    /// Continues a task after a new version of the program was deployed, even if a step that has begun now has another input. The step runs
    /// again, with another idempotency key. Without this setting, such a task is stopped.
    pub fn tolerates_changes(self) -> Self {
        Self { tolerates_changes: true, ..self }
    }
}

impl Default for Task {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool {
    /// Makes the calls of the tool durable tasks, which outlive their requests. The endpoint needs durable tasks, on Cloudflare Workers the
    /// binding `MCP_TASKS`, and `MCP_STATE_KEY`. Without the binding, the tool answers its calls directly.
    ///
    /// The [deadline](Self::deadline) applies only to calls that do not become tasks.
    pub fn task(mut self, task: Task) -> Self {
        self.job_tools = task.has_job.then_some(job_tools::tools);
        self.task = Some(Rc::new(task));
        self
    }
}
