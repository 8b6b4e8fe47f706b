//! `completion/complete`.
//!
//! Source: 2025-11-25 and 2026-07-28, server/utilities/completion.

use std::collections::BTreeMap;

use futures::FutureExt;
use serde::Serialize;

use super::prepared::{Reply, Work};
use super::resources::{self, Found};
use super::{Call, envelope, handler_error, params, prompts};
use crate::call::deadline::run_only;
use crate::call::failure;
use crate::json::Value;
use crate::limits::COMPLETION_VALUES;
use crate::protocol::error::{RpcError, shortened};
use crate::protocol::message::Request;
use crate::schema::SchemaError;
use crate::server::builder::McpServer;
use crate::server::completion::SuggestionsFuture;
use crate::server::completion::{Completion, CompletionRequest};

#[derive(Serialize)]
struct CompleteResult {
    completion: Suggestions,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Suggestions {
    values: Vec<String>,
    total: usize,
    has_more: bool,
}

/// `completion/complete`. An argument that exists and has no completion has no suggestions.
pub(super) fn complete(call: &Call, request: &Request<'_>) -> Result<Work, RpcError> {
    let reference = params::object(request, "ref")?;
    let argument = params::object(request, "argument")?;
    let name = params::member(argument, "argument", "name")?;
    let value = params::member(argument, "argument", "value")?;
    let context = params::optional_object(request, "context")?;
    let arguments = match context.and_then(|context| context.get("arguments")) {
        Some(arguments) => params::strings_of(arguments, "context.arguments")?,
        None => Vec::new(),
    };
    let completion = match params::member(reference, "ref", "type")?.as_ref() {
        "ref/prompt" => of_prompt(call, reference, &name)?,
        "ref/resource" => of_template(call, reference, &name)?,
        _ => return Err(RpcError::invalid_params("`params.ref.type` must be \"ref/prompt\" or \"ref/resource\"")),
    };
    let suggestions = completion.map(|Completion(complete)| {
        let mut asked = CompletionRequest { value: value.into_owned(), arguments: BTreeMap::new() };
        // Not collected: that sorts first, which is code that nothing else here needs.
        asked.arguments.extend(arguments.into_iter().map(|(name, value)| (name.into_owned(), value.into_owned())));
        complete(asked, call.cx.clone())
    });
    Ok(respond(call.clone(), name.into_owned(), suggestions).boxed_local())
}

/// Runs the completion of the argument `name`, if it has one, and makes the response.
async fn respond(call: Call, name: String, suggestions: Option<SuggestionsFuture>) -> Result<Reply, RpcError> {
    let mut values = match suggestions {
        Some(suggestions) => match run_only(&call.cx, &name, suggestions).await? {
            Ok(values) => values,
            Err(error) => return Err(handler_error::of_prompt_or_list(&call, &name, error)),
        },
        None => Vec::new(),
    };
    let total = values.len();
    values.truncate(COMPLETION_VALUES);
    let completion = Suggestions { values, total, has_more: total > COMPLETION_VALUES };
    envelope::complete(&call, CompleteResult { completion }).map(Reply::Response)
}

fn of_prompt<'s>(call: &'s Call, reference: Value<'_>, argument: &str) -> Result<Option<&'s Completion>, RpcError> {
    let prompt = prompts::find(&call.server, &params::member(reference, "ref", "name")?, None)?;
    let arguments = prompt
        .arguments()
        .map_err(|error: SchemaError| failure::internal(call.cx.host(), &prompt.face.name, &error))?;
    if arguments.iter().any(|known| known.name == argument) {
        return Ok(prompt.completions.of(argument));
    }
    Err(unknown(argument))
}

/// Returns the template that is named as it is listed, else what `uri` stands for.
pub(super) fn referenced<'s>(server: &'s McpServer, uri: &str) -> Option<Found<'s>> {
    let named = server.templates.iter().find(|template| template.description.uri_template == uri);
    named.map(|template| Found::OfTemplate(template, BTreeMap::new())).or_else(|| resources::find(server, uri))
}

fn of_template<'s>(call: &'s Call, reference: Value<'_>, variable: &str) -> Result<Option<&'s Completion>, RpcError> {
    let uri = params::member(reference, "ref", "uri")?;
    let template = referenced(&call.server, &uri).and_then(Found::template).ok_or_else(|| {
        let uri = shortened(&uri);
        RpcError::invalid_params(format!(
            "Unknown resource template: {uri}. resources/templates/list names those that exist."
        ))
    })?;
    if template.parsed.as_ref().is_ok_and(|parsed| parsed.variables().any(|known| known == variable)) {
        return Ok(template.completions.of(variable));
    }
    Err(unknown(variable))
}

fn unknown(argument: &str) -> RpcError {
    RpcError::invalid_params(format!("`params.argument.name`: there is no argument {:?}", shortened(argument)))
}
