//! The methods of the tasks extension.
//!
//! Source: ext-tasks, specification 2026-07-28.

use std::collections::BTreeMap;
use std::rc::Rc;

use edge_json::write;
use schemars::JsonSchema;
use serde::Deserialize;

use super::follow::{ask, view};
use super::message::Message;
use crate::call::context::{Context, PassTasks};
use crate::call::error::HandlerError;
use crate::call::passed_task::TaskRequest;
use crate::protocol::revision::Revision;
use crate::protocol::task::EXTENSION;
use crate::rpc::enable_extension_methods;
use crate::server::definitions::Definitions;
use crate::server::extension::{ExtensionMethod, ExtensionResult};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskParams {
    task_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UpdateParams {
    task_id: String,
    input_responses: BTreeMap<String, serde_json::Value>,
}

/// Adds the methods to a server, once.
pub(super) fn install(definitions: &mut Definitions) {
    if definitions.extension_methods.iter().any(|method| method.extension == EXTENSION) {
        return;
    }
    let methods = [
        ExtensionMethod::new("tasks/get", get),
        ExtensionMethod::new("tasks/update", update),
        ExtensionMethod::new("tasks/cancel", cancel),
    ];
    for method in methods {
        let method = method.since(Revision::V2026_07_28).target("taskId").requires_client();
        definitions.extension_methods.push(Rc::new(method.of_extension(EXTENSION)));
    }
    enable_extension_methods(definitions);
}

async fn get(TaskParams { task_id }: TaskParams, cx: Context) -> Result<ExtensionResult, HandlerError> {
    if let Some(passing) = passing(&task_id, &cx) {
        return ExtensionResult::new(&passing.send(task_id, TaskRequest::Get, cx).await?);
    }
    let view = view(&task_id, &cx).await?;
    ExtensionResult::new(&view.detailed(&task_id))
}

async fn update(UpdateParams { task_id, input_responses }: UpdateParams, cx: Context) -> Result<(), HandlerError> {
    let mut answers = Vec::new();
    for (key, answer) in input_responses {
        answers.push((key, write::to_raw_value(&answer)?));
    }
    if let Some(passing) = passing(&task_id, &cx) {
        return passing.send(task_id, TaskRequest::Update(answers), cx).await.map(drop);
    }
    ask(&task_id, &cx, |owner| Message::Update { owner, answers }).await.map(|_| ())
}

async fn cancel(TaskParams { task_id }: TaskParams, cx: Context) -> Result<(), HandlerError> {
    if let Some(passing) = passing(&task_id, &cx) {
        return passing.send(task_id, TaskRequest::Cancel, cx).await.map(drop);
    }
    ask(&task_id, &cx, |owner| Message::Cancel { owner }).await.map(|_| ())
}

/// Returns the way to the server of a task that is not one of this server.
fn passing(id: &str, cx: &Context) -> Option<Rc<dyn PassTasks>> {
    let passing = cx.tools()?.passed_tasks().filter(|passing| passing.is_passed(id))?;
    Some(passing.clone())
}
