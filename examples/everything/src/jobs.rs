//! Durable tasks. The conformance suite prescribes the names.

use std::time::Duration;

use edge_mcp::tasks::Task;
use edge_mcp::{Context, HandlerError, Tool};
use futures::future::try_join;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::conformance::FIXTURE;

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    /// The name of a person
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Computation {
    /// The time that it takes
    #[schemars(range(max = 600))]
    seconds: u64,
    /// The name of the computation
    label: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Deletion {
    /// The name of a file
    filename: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirmation {
    confirm: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

async fn compute(Computation { seconds, label }: Computation, cx: Context) -> Result<String, HandlerError> {
    let label = label.unwrap_or_else(|| "the computation".to_owned());
    cx.progress(0.0, None, format!("{label} runs"));
    cx.sleep(Duration::from_secs(seconds)).await;
    Ok(format!("{label} took {seconds} s"))
}

async fn fail(cx: Context) -> Result<String, HandlerError> {
    cx.sleep(Duration::from_secs(1)).await;
    Err(HandlerError::new("This job intentionally fails."))
}

/// Ends with an error of the protocol: a key of a question must not have the form of a nested call's key.
async fn fail_in_protocol(cx: Context) -> Result<String, HandlerError> {
    cx.sleep(Duration::from_secs(1)).await;
    Ok(cx.confirm("job-00000000/never", "Never asked").await?.to_string())
}

async fn delete(Deletion { filename }: Deletion, cx: Context) -> Result<String, HandlerError> {
    let answer = cx.elicit::<Confirmation>("confirm", format!("Delete {filename}?")).await?.accepted();
    Ok(match answer {
        Some(Confirmation { confirm: true }) => format!("Deleted {filename}."),
        _ => format!("{filename} was not deleted."),
    })
}

async fn ask_twice(cx: Context) -> Result<String, HandlerError> {
    let (name, confirmed) = try_join(
        cx.elicit::<Name>("name", "What is your name?"),
        cx.elicit::<Confirmation>("confirm", "Do you agree?"),
    )
    .await?;
    let name = name.accepted().map_or_else(|| "Nobody".to_owned(), |Name { name }| name);
    let agrees = confirmed.accepted().is_some_and(|Confirmation { confirm }| confirm);
    Ok(format!("{name} {}.", if agrees { "agrees" } else { "does not agree" }))
}

/// Asks before the task begins.
async fn ask_and_compute(cx: Context) -> Result<String, HandlerError> {
    let name = cx.elicit::<Name>("user_name", "What is your name?").await?.accepted();
    let Some(Name { name }) = name else { return Err(HandlerError::new("There is no name.")) };
    cx.start_task().await;
    cx.sleep(Duration::from_secs(1)).await;
    Ok(format!("Hello, {name}!"))
}

pub(crate) fn tools() -> Vec<Tool> {
    // A call that takes longer than this becomes a job.
    let task = || Task::new().answer_within(Duration::from_millis(500));
    let greet = |Greeting { name }: Greeting| async move { format!("Hello, {name}!") };
    [
        Tool::new("greet", FIXTURE, greet),
        Tool::new("slow_compute", FIXTURE, compute).task(task()),
        Tool::new("failing_job", FIXTURE, fail).task(Task::required()),
        Tool::new("protocol_error_job", FIXTURE, fail_in_protocol).task(task()),
        Tool::new("confirm_delete", FIXTURE, delete).task(task()),
        Tool::new("multi_input", FIXTURE, ask_twice).task(task()),
        Tool::new("test_tool_with_task", FIXTURE, ask_and_compute).task(Task::required().starts_later()),
    ]
    .into_iter()
    .map(|tool| tool.title("A job").additive().closed_world())
    .collect()
}
