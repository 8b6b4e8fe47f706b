//! `tools/list` and `tools/call`.
//!
//! An unknown tool is a protocol error. Invalid arguments and a failed tool are results with `isError`, because a model sees only
//! results, and must see the error to correct its call.
//!
//! Source: 2025-11-25 and 2026-07-28, server/tools.

use std::borrow::Cow;

use edge_json::Document;
use edge_json::write::Raw;
use futures::FutureExt;
use serde::Serialize;

use super::call::{MethodCall, MethodResponse};
use super::pagination::page;
use super::running::Work;
use super::target::{Item, wrong_target};
use super::tool_call::run_tool;
use super::{envelope, handler_error, input_required, params};
use crate::call::failure;
use crate::call::result::ToolResult;
use crate::protocol::description::{ToolAnnotations, ToolDescription};
use crate::protocol::error::RpcError;
use crate::protocol::message::Request;
use crate::protocol::revision::{Era, Feature, Revision};
use crate::protocol::task::RESULT_TYPE;
use crate::schema::SchemaError;
use crate::server::list::ListKind;
use crate::server::tool::Tool;
use crate::server::tool_handler::ToolCall;
use crate::text::Text;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListToolsResult<'a> {
    tools: Vec<ToolDescription<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The usual number of bytes of a tool in a list, besides its description and its schema.
const TOOL_BYTES: usize = 160;

/// Answers `tools/list`. The order is the order of registration.
pub(super) fn list(call: &MethodCall, cursor: Option<&str>) -> MethodResponse {
    if let Some(response) = envelope::cached_list(call, ListKind::Tools, cursor) {
        return response;
    }
    let lists_app_tools = call.server.definitions.lists_app_tools;
    let shows = |tool: &&Tool| lists_app_tools || tool.app_clients.is_none_or(|shown| shown(call.cx.request()));
    let tools = call.server.tools().filter(|tool| call.lists(&tool.access)).filter(shows);
    let has_jobs = || call.server.tools().any(|tool| tool.durable_task().is_some() && call.lists(&tool.access));
    let tools = tools.filter(|tool| !tool.is_for_jobs || has_jobs()).collect();
    let (tools, next_cursor) = page(call, cursor, tools)?;
    let internal = |error: SchemaError| failure::internal(call.cx.host(), call.method_name(), &error);
    let (mut schemas, mut bytes) = (Vec::with_capacity(tools.len()), 0_usize);
    for tool in &tools {
        let (input, output) = (tool.input_schema().map_err(internal)?, tool.published_output().map_err(internal)?);
        let description = tool.metadata.description.as_deref().map_or(0, str::len);
        let texts = [input.json().get().len(), description, TOOL_BYTES];
        bytes = texts.into_iter().fold(bytes, usize::saturating_add);
        schemas.push((input, output));
    }
    let revision = call.cx.revision();
    let tools = tools.into_iter().zip(&schemas).map(|(tool, (input, output))| ToolDescription {
        metadata: &tool.metadata,
        input_schema: input.json(),
        output_schema: output.as_deref().and_then(|schema| {
            if revision.has(Feature::AnyStructuredContent) { Some(schema.json()) } else { schema.json_of_object() }
        }),
        annotations: annotations(tool, revision),
    });
    let result = ListToolsResult { tools: tools.collect(), next_cursor };
    let hint = call.server.definitions.cache_of(ListKind::Tools.into());
    envelope::complete_list(call, ListKind::Tools, cursor, result, bytes, hint)
}

/// Returns the annotations, if there are any. In revisions in which tools have no title, the annotations include the title.
fn annotations(tool: &Tool, revision: Revision) -> Option<Cow<'_, ToolAnnotations>> {
    let mut annotations = Cow::Borrowed(&tool.annotations);
    if annotations.title.is_none() && tool.metadata.title.is_some() && !revision.has(Feature::ToolTitle) {
        annotations.to_mut().title.clone_from(&tool.metadata.title);
    }
    (*annotations != ToolAnnotations::default()).then_some(annotations)
}

/// Answers `tools/call`.
pub(super) fn call(call: &MethodCall, request: &Request<'_>, target: Item) -> Result<Work, RpcError> {
    let Item::Tool(tool) = target else { return Err(wrong_target(call)) };
    let mut arguments = params::optional_object(request, "arguments")?;
    if let Some(member) = tool.arguments_member {
        arguments = arguments.and_then(|arguments| arguments.get(member));
    }
    input_required::resume(&call.cx, request)?;
    let empty = Document::empty_object();
    let work = run_tool(&call.server, &tool, arguments.unwrap_or(empty.root()), &call.cx);
    let is_of_objects = call.cx.revision().has(Feature::AnyStructuredContent)
        || tool.output_schema().is_ok_and(|schema| schema.is_none_or(|schema| schema.is_of_objects()));
    Ok(respond(call.clone(), tool.metadata.name.clone(), is_of_objects, work).boxed_local())
}

/// Runs a call of the tool `name` to its end, and returns the response. In older revisions, structured content that is not an object, or that
/// has an output schema for other values, becomes a member of an object.
async fn respond(
    call: MethodCall,
    name: Text,
    is_of_objects: bool,
    work: ToolCall,
) -> Result<Option<Vec<u8>>, RpcError> {
    let mut result = match work.await {
        Ok(Some(result)) => result,
        Ok(None) => return Ok(None),
        // In revisions without `inputRequests`, a model sees the error.
        Err(error) if call.cx.revision().era() == Era::Legacy => ToolResult::failure(error.0.message),
        Err(error) => return Err(handler_error::without_own_code(&call.cx, &name, error)),
    };
    if let Some(task) = result.task.take() {
        return envelope::of_extension(&call, Raw(task.get()), RESULT_TYPE, None, None).map(Some);
    }
    if result.is_error {
        call.record_tool_error();
    }
    let revision = call.cx.revision();
    // The client would reject content that its revision does not have.
    result.content = result.content.into_iter().map(|content| content.for_revision(revision)).collect();
    let is_wrapped = |json: &str| !is_of_objects || !json.starts_with('{');
    let has_objects_only = !revision.has(Feature::AnyStructuredContent);
    if let Some(structured) = result.structured_content.take_if(|json| has_objects_only && is_wrapped(json)) {
        // `json_of_object` wraps the schema in the same way.
        result.structured_content = Some(format!("{{\"result\":{structured}}}").into());
    }
    let meta = result.meta.take();
    envelope::complete_with_meta(&call, result, meta.as_deref()).map(Some)
}
