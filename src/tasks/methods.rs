//! The methods of the tasks extension.
//!
//! Source: ext-tasks, specification 2026-07-28.

use std::borrow::Cow;
use std::rc::Rc;

use edge_json::{Document, JsonLimits};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::follow::{ask, view};
use super::listen;
use super::message::{Answers, TaskMessage};
use crate::call::context::{Context, PassTasks};
use crate::call::error::HandlerError;
use crate::call::passed_task::TaskRequest;
use crate::engine::enable_extension_methods;
use crate::protocol::revision::Revision;
use crate::protocol::task::{CANCEL, EXTENSION, GET, ID, UPDATE};
use crate::server::extension::{ExtensionMethod, ExtensionMethods, ExtensionResult};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskParams {
    task_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UpdateParams {
    task_id: String,
    input_responses: Responses,
}

/// An object with an answer for each key. An answer is checked when its question is known.
#[derive(Deserialize)]
#[serde(transparent)]
struct Responses(Box<RawValue>);

impl JsonSchema for Responses {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Responses".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": true })
    }
}

/// Adds the methods to a server, once.
pub(super) fn install(known: &mut ExtensionMethods) {
    if known.all.iter().any(|method| method.extension == EXTENSION) {
        return;
    }
    let methods =
        [ExtensionMethod::new(GET, get), ExtensionMethod::new(UPDATE, update), ExtensionMethod::new(CANCEL, cancel)];
    for method in methods {
        let method = method.since(Revision::V2026_07_28).target(ID).requires_client();
        known.all.push(Rc::new(method.of_extension(EXTENSION)));
    }
    known.all.push(Rc::new(listen::method()));
    enable_extension_methods(known);
}

async fn get(TaskParams { task_id }: TaskParams, cx: Context) -> Result<ExtensionResult, HandlerError> {
    if let Some(passing) = passing(&task_id, &cx) {
        return ExtensionResult::new(&passing.send(task_id, TaskRequest::Get, cx).await?);
    }
    let view = view(&task_id, &cx).await?;
    ExtensionResult::new(&view.detailed(&task_id))
}

async fn update(UpdateParams { task_id, input_responses }: UpdateParams, cx: Context) -> Result<(), HandlerError> {
    let document = Document::parse(input_responses.0.get().as_bytes(), JsonLimits::MOST)?;
    let members = document.root().members();
    let answers = members.filter_map(|(key, answer)| Some((key.into_owned(), answer.to_raw()?))).collect();
    if let Some(passing) = passing(&task_id, &cx) {
        return passing.send(task_id, TaskRequest::Update(answers), cx).await.map(drop);
    }
    ask(&task_id, &cx, |generation| TaskMessage::Update { generation, answers: Answers(answers) }).await.map(|_| ())
}

async fn cancel(TaskParams { task_id }: TaskParams, cx: Context) -> Result<(), HandlerError> {
    if let Some(passing) = passing(&task_id, &cx) {
        return passing.send(task_id, TaskRequest::Cancel, cx).await.map(drop);
    }
    ask(&task_id, &cx, |generation| TaskMessage::Cancel { generation: Some(generation) }).await.map(|_| ())
}

/// Returns the way to the server of a task that is not one of this server.
fn passing(id: &str, cx: &Context) -> Option<Rc<dyn PassTasks>> {
    let passing = cx.tools()?.passed_tasks().filter(|passing| passing.is_passed(id))?;
    Some(passing.clone())
}
