//! `tools/list` and `tools/call`.
//!
//! Source: 2025-11-25 and 2026-07-28, server/tools. A tool that is not there is an error of the protocol; arguments that
//! do not fit, and a tool that fails, are results with `isError`: a model can correct itself only from a result.

use std::borrow::Cow;
use std::rc::Rc;

use serde::Serialize;
use serde_json::Map;
use serde_json::value::RawValue;

use super::page::page;
use super::run::{Ended, late, run};
use super::{Call, Outcome, envelope, fault, input_required, params};
use crate::protocol::description::{ToolAnnotations, ToolDescription};
use crate::protocol::error::{RpcError, shortened};
use crate::protocol::json::{Document, JsonLimits, Value};
use crate::protocol::revision::{Feature, Revision};
use crate::schema::SchemaError;
use crate::server::workflow::RUN;
use crate::server::{Cacheable, Tool, ToolEvent, ToolResult};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListToolsResult<'a> {
    tools: Vec<ToolDescription<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// `tools/list`: in the order of registration.
pub(super) fn list(call: &Call<'_>) -> Outcome {
    let (tools, next_cursor) = page(call, call.server.tools.iter().filter(|tool| call.lists(&tool.access)).collect())?;
    let schemas = tools.iter().map(|tool| Ok((tool.input_schema()?, tool.output_schema()?)));
    let internal = |error: SchemaError| fault::internal(&call.cx, &call.request.method, &error);
    let schemas = schemas.collect::<Result<Vec<_>, _>>().map_err(internal)?;
    let revision = call.cx.revision();
    let tools = tools.into_iter().zip(&schemas).map(|(tool, (input, output))| ToolDescription {
        face: &tool.face,
        input_schema: input.json(),
        output_schema: output.as_deref().map(|schema| {
            if revision.knows(Feature::AnyStructuredContent) { schema.json() } else { schema.json_of_object() }
        }),
        annotations: annotations(tool, revision),
    });
    let result = ListToolsResult { tools: tools.collect(), next_cursor };
    envelope::complete_cacheable(call, result, call.server.cache_of(Cacheable::Tools))
}

/// The annotations, if there are any; with the tool's title, for clients that look for it there alone.
fn annotations(tool: &Tool, revision: Revision) -> Option<Cow<'_, ToolAnnotations>> {
    let mut annotations = Cow::Borrowed(&tool.annotations);
    if annotations.title.is_none() && tool.face.title.is_some() && !revision.knows(Feature::ToolTitle) {
        annotations.to_mut().title.clone_from(&tool.face.title);
    }
    (*annotations != ToolAnnotations::default()).then_some(annotations)
}

/// `tools/call`.
pub(super) async fn call(call: &Call<'_>) -> Outcome {
    let name = params::string(call.request, "name")?;
    let arguments = params::optional_object(call.request, "arguments")?;
    let Some(tool) = call.server.tool(&name) else {
        let name = shortened(&name);
        return Err(RpcError::invalid_params(format!("Unknown tool: {name}. tools/list names those that exist.")));
    };
    input_required::resume(call)?;
    if call.request.param("_meta").and_then(|meta| meta.get(RUN)).is_some_and(|wants| wants.text() == "true") {
        call.cx.exchange().show_run();
    }
    match answer(call, tool, arguments).await? {
        Some(mut result) => {
            let meta = std::mem::take(&mut result.meta);
            envelope::complete_with_meta(call, for_revision(call, tool, result)?, &meta)
        }
        None => input_required::ask(call),
    }
}

/// The result in a form that the client does not reject.
fn for_revision(call: &Call<'_>, tool: &Tool, mut result: ToolResult) -> Result<ToolResult, RpcError> {
    let revision = call.cx.revision();
    result.content = result.content.into_iter().map(|content| content.for_revision(revision)).collect();
    if let Some(structured) = result.structured_content.take_if(|_| !revision.knows(Feature::AnyStructuredContent)) {
        let internal = |error: &dyn std::fmt::Display| fault::internal(&call.cx, &tool.face.name, &error.to_string());
        let schema = tool.output_schema().map_err(|error| internal(&error))?;
        let is_object = schema.is_none_or(|schema| schema.is_of_objects());
        let wrap = |structured| serde_json::value::to_raw_value(&Wrapped { result: structured });
        result.structured_content =
            Some(if is_object { structured } else { wrap(structured).map_err(|error| internal(&error))? });
    }
    Ok(result)
}

/// What is no object, as older revisions take it: see `json_of_object` of its schema.
#[derive(Serialize)]
struct Wrapped {
    result: Box<RawValue>,
}

/// The tool's result; `None`, if it asks for something first. Whoever looks on is told of each step.
async fn answer(call: &Call<'_>, tool: &Tool, arguments: Option<Value<'_>>) -> Result<Option<ToolResult>, RpcError> {
    let name = &*tool.face.name;
    let schema = tool.input_schema().map_err(|error| fault::internal(&call.cx, name, &error))?;
    let nothing = Document::empty_object();
    let arguments = arguments.unwrap_or(nothing.root());
    if !tool.hooks.is_empty() {
        tell(call, tool, ToolEvent::InputStart).await;
        tell(call, tool, ToolEvent::InputDelta(arguments.text().into())).await;
    }
    let mistakes = schema.validate(arguments);
    let result = if mistakes.is_empty() {
        execute(call, tool, arguments).await
    } else {
        Ok(Some(refused(tool, &mistakes.join("\n- "))))
    };
    if !tool.hooks.is_empty() {
        match &result {
            Ok(Some(result)) if result.is_error => tell(call, tool, ToolEvent::Error(result.text().into())).await,
            Ok(Some(result)) => tell(call, tool, ToolEvent::Output(Rc::new(result.clone()))).await,
            Ok(None) => {}
            Err(error) => tell(call, tool, ToolEvent::Error((&*error.message).into())).await,
        }
    }
    result
}

/// The result of the tool's function, whose arguments fit their schema.
async fn execute(call: &Call<'_>, tool: &Tool, arguments: Value<'_>) -> Result<Option<ToolResult>, RpcError> {
    let name = &*tool.face.name;
    let work = match tool.handler.call(arguments.text(), call.cx.clone()) {
        Ok(work) => work,
        Err(mistake) => return Ok(Some(refused(tool, &mistake))),
    };
    if !tool.hooks.is_empty() {
        let arguments = serde_json::from_str(arguments.text()).unwrap_or_default();
        tell(call, tool, ToolEvent::InputAvailable(Rc::new(arguments))).await;
    }
    Ok(Some(match run(&call.cx, tool.deadline, work).await {
        Ended::Asks => return Ok(None),
        Ended::Late => ToolResult::failure(late(tool.deadline)),
        Ended::Done(Ok(result)) => checked(call, tool, result)?,
        Ended::Done(Err(error)) => {
            if let Some(error) = error.input {
                let feature = input_required::refused(call, name, *error)?;
                return Ok(Some(ToolResult::failure(feature.to_string())));
            }
            if let Some(cause) = &error.cause {
                fault::log(call.cx.host(), name, cause);
            }
            ToolResult { meta: error.meta.map_or(Map::new(), |meta| *meta), ..ToolResult::failure(error.message) }
        }
    }))
}

/// Tells those who look on. What fails there is for the log alone.
async fn tell(call: &Call<'_>, tool: &Tool, event: ToolEvent) {
    for failure in tool.hooks.tell(event, &call.cx).await {
        fault::log(call.cx.host(), &tool.face.name, &format!("a hook failed: {failure}"));
    }
}

/// The result, if it is what the tool's output schema says. What is not is the server's fault, and not sent.
///
/// Source: 2025-06-18 and later, server/tools, "Output Schema".
fn checked(call: &Call<'_>, tool: &Tool, result: ToolResult) -> Result<ToolResult, RpcError> {
    let schema = tool.output_schema().map_err(|error| fault::internal(&call.cx, &tool.face.name, &error))?;
    let Some(schema) = schema.filter(|_| !result.is_error) else { return Ok(result) };
    let mistakes = match &result.structured_content {
        // What the server has made itself may be as large as it likes.
        Some(structured) => match Document::parse(structured.get().as_bytes(), JsonLimits::MOST) {
            Ok(document) => schema.validate_for_log(document.root()),
            Err(error) => vec![error.to_string()],
        },
        None => vec!["there is no structured content".to_owned()],
    };
    if mistakes.is_empty() {
        return Ok(result);
    }
    let cause = format!("the output does not fit its schema: {}", mistakes.join("; "));
    fault::log(call.cx.host(), &tool.face.name, &cause);
    Ok(ToolResult::failure(
        "The tool returned output that does not fit its own output schema. This is the server's fault, and its log says \
         where it is.",
    ))
}

fn refused(tool: &Tool, mistakes: &str) -> ToolResult {
    ToolResult::failure(format!("The arguments of `{}` do not fit its input schema:\n- {mistakes}", tool.face.name))
}
