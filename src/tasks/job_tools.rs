//! The tools for clients that do not know tasks: a call that takes long becomes a job.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::follow::{Followed, ask, follow};
use super::message::{Phase, TaskMessage};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::limits::TASK_WAIT_SECONDS;
use crate::protocol::content::Content;
use crate::server::tool::Tool;

/// The tools. They exist once for all tools with tasks.
const RESULT: &str = "job-result";
const CANCEL: &str = "job-cancel";
/// The member of `_meta` with the id of the job, for programs.
const JOB: &str = "edge-mcp/job";

// These comments are not documentation, because schemars would publish it.
#[derive(Deserialize, JsonSchema)]
struct ResultArguments {
    /// The id of the job, as the call returned it
    job: String,
    /// The time to wait for the result, in seconds. The default is 20.
    #[schemars(range(max = 20))]
    wait_seconds: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
struct CancelArguments {
    /// The id of the job, as the call returned it
    job: String,
}

/// Creates the tools.
pub(super) fn tools() -> [Tool; 2] {
    let result = Tool::new(
        RESULT,
        "Returns the result of a job that another tool started, or tells that it still runs.",
        result,
    )
    .title("Result of a job")
    .read_only()
    .closed_world();
    let cancel = Tool::new(CANCEL, "Cancels a job that another tool started.", cancel)
        .title("Cancel a job")
        .destructive()
        .idempotent()
        .closed_world();
    [result, cancel].map(|tool| Tool { is_for_jobs: true, ..tool })
}

/// Returns the result of a call that goes on as the job `id`.
pub(super) fn running(id: &str, message: Option<&str>) -> ToolResult {
    let state = message.map_or_else(String::new, |message| format!(" Its state: {message}."));
    let text = format!(
        "The job is still running.{state} Call `{RESULT}` with {{\"job\": \"{id}\"}} for its result. \
         To stop it, call `{CANCEL}` with the same arguments."
    );
    ToolResult::new([Content::text(text)]).meta(JOB, id.into())
}

async fn result(
    ResultArguments { job, wait_seconds }: ResultArguments,
    cx: Context,
) -> Result<ToolResult, HandlerError> {
    let wait = Duration::from_secs(wait_seconds.unwrap_or(TASK_WAIT_SECONDS).min(TASK_WAIT_SECONDS));
    match follow(&job, wait, &cx).await? {
        Followed::Result(result) => Ok(result),
        Followed::Error(error) => Err(HandlerError::new(error.message.clone())),
        Followed::Cancelled => Err(HandlerError::new("The job was cancelled.")),
        Followed::Running(message) => Ok(running(&job, message.as_deref())),
    }
}

async fn cancel(CancelArguments { job }: CancelArguments, cx: Context) -> Result<&'static str, HandlerError> {
    let view = ask(&job, &cx, |generation| TaskMessage::Cancel { generation: Some(generation) }).await?;
    Ok(match view.state {
        Phase::Cancelled => "The job is cancelled.",
        Phase::Completed(_) | Phase::Failed(_) => "The job had already ended. Its result is still there.",
        Phase::Working | Phase::InputRequired(_) => "The job is being cancelled.",
    })
}
