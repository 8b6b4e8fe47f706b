//! `tools/list` and `tools/call`.
//!
//! Source: 2025-11-25 and 2026-07-28, server/tools. A tool that is not there is an error of the protocol; arguments that
//! do not fit, and a tool that fails, are results with `isError`: a model can correct itself only from a result.

use serde::Serialize;

use super::{Call, Outcome, envelope, fault, params};
use crate::protocol::description::{ToolAnnotations, ToolDescription};
use crate::protocol::error::{RpcError, shortened};
use crate::protocol::json::{Document, Value};
use crate::schema::{Schema, SchemaError};
use crate::server::{Tool, ToolResult};

#[derive(Serialize)]
struct ListToolsResult<'a> {
    tools: Vec<ToolDescription<'a>>,
}

/// `tools/list`: all of them, in the order of registration.
pub(super) fn list(call: &Call<'_>) -> Outcome {
    params::no_cursor(call.request)?;
    let internal = |error: SchemaError| fault::internal(&call.cx, &call.request.method, &error);
    let schemas = call.server.tools.iter().map(|tool| Ok((tool.input_schema()?, tool.output_schema()?)));
    let schemas = schemas.collect::<Result<Vec<_>, _>>().map_err(internal)?;
    let tools = call.server.tools.iter().zip(&schemas).map(|(tool, (input, output))| ToolDescription {
        name: &tool.name,
        title: tool.title.as_deref(),
        description: &tool.description,
        input_schema: input.json(),
        output_schema: output.as_deref().map(Schema::json),
        annotations: (tool.annotations != ToolAnnotations::default()).then_some(tool.annotations),
    });
    envelope::complete_cacheable(call, ListToolsResult { tools: tools.collect() })
}

/// `tools/call`.
pub(super) async fn call(call: &Call<'_>) -> Outcome {
    let name = params::string(call.request, "name")?;
    let arguments = params::optional_object(call.request, "arguments")?;
    let Some(tool) = call.server.tools.iter().find(|tool| tool.name == name) else {
        let name = shortened(&name);
        return Err(RpcError::invalid_params(format!("Unknown tool: {name}. tools/list names those that exist.")));
    };
    let result = run(call, tool, arguments).await?;
    envelope::complete(call, result)
}

async fn run(call: &Call<'_>, tool: &Tool, arguments: Option<Value<'_>>) -> Result<ToolResult, RpcError> {
    let schema = tool.input_schema().map_err(|error| fault::internal(&call.cx, &tool.name, &error))?;
    let nothing = Document::empty_object();
    let arguments = arguments.unwrap_or(nothing.root());
    let mistakes = schema.validate(arguments);
    if !mistakes.is_empty() {
        return Ok(refused(tool, &mistakes.join("\n- ")));
    }
    let answer = match tool.handler.call(arguments.text(), call.cx.clone()) {
        Ok(answer) => answer.await,
        Err(mistake) => return Ok(refused(tool, &mistake)),
    };
    Ok(answer.unwrap_or_else(|error| {
        if let Some(cause) = &error.cause {
            fault::log(&call.cx, &tool.name, cause);
        }
        ToolResult::failure(error.message)
    }))
}

fn refused(tool: &Tool, mistakes: &str) -> ToolResult {
    ToolResult::failure(format!("The arguments of `{}` do not fit its input schema:\n- {mistakes}", tool.name))
}
