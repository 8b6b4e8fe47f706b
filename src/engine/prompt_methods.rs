//! `prompts/list` and `prompts/get`.
//!
//! Versions of prompts are an extension of this library: see [`prompt_versions`](super::prompt_versions).
//!
//! Source: 2025-11-25 and 2026-07-28, server/prompts.

use std::borrow::Cow;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, write};
use futures::FutureExt;
use serde::Serialize;

use super::call::{MethodCall, MethodResponse};
use super::pagination::page;
use super::prompt_versions::{select, versions};
use super::running::Work;
use super::target::{Item, wrong_target};
use super::{envelope, handler_error, input_required, params};
use crate::call::deadline::run_or_ask;
use crate::call::failure;
use crate::protocol::content::PromptMessage;
use crate::protocol::description::{Metadata, PromptArgument, PromptDescription};
use crate::protocol::error::RpcError;
use crate::protocol::message::Request;
use crate::schema::SchemaError;
use crate::server::list::ListKind;
use crate::server::prompt::{Prompt, PromptFuture};

/// The member of `_meta` with the versions of a prompt.
const VERSIONS: &str = "edge-mcp/versions";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListPromptsResult<'a> {
    prompts: Vec<PromptDescription<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize)]
struct GetPromptResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    messages: Vec<PromptMessage>,
}

/// Answers `prompts/list`. The list has each name once, at the position of its first version, with the description of its last version.
pub(super) fn list(call: &MethodCall, cursor: Option<&str>) -> MethodResponse {
    if let Some(response) = envelope::cached_list(call, ListKind::Prompts, cursor) {
        return response;
    }
    let mut names: Vec<&str> = Vec::new();
    for prompt in call.server.prompts().filter(|prompt| call.lists(&prompt.access)) {
        if !names.contains(&&*prompt.metadata.name) {
            names.push(&prompt.metadata.name);
        }
    }
    let (names, next_cursor) = page(call, cursor, names)?;
    let internal = |error: SchemaError| failure::internal(call.cx.host(), call.method_name(), &error);
    let mut shown = Vec::with_capacity(names.len());
    for name in names {
        if let Some(prompt) = select(&call.server, name, None) {
            shown.push((prompt, versions(&call.server, name), prompt.arguments().map_err(internal)?));
        }
    }
    let prompts = shown.iter().map(|(prompt, versions, arguments)| describe(prompt, versions, arguments));
    let result = ListPromptsResult { prompts: prompts.collect(), next_cursor };
    let hint = call.server.definitions.cache_of(ListKind::Prompts.into());
    envelope::complete_list(call, ListKind::Prompts, cursor, result, 0, hint)
}

fn describe<'a>(prompt: &'a Prompt, versions: &[&str], arguments: &'a [PromptArgument]) -> PromptDescription<'a> {
    let mut metadata = Cow::Borrowed(&prompt.metadata);
    if !versions.is_empty() {
        Metadata::set_meta(metadata.to_mut(), VERSIONS, versions);
    }
    PromptDescription { metadata, arguments }
}

/// Answers `prompts/get`.
pub(super) fn get(call: &MethodCall, request: &Request<'_>, target: Item) -> Result<Work, RpcError> {
    let Item::Prompt(prompt) = target else { return Err(wrong_target(call)) };
    let given = params::strings(request, "arguments")?;
    let internal = |error: SchemaError| failure::internal(call.cx.host(), &prompt.metadata.name, &error);

    let mut missing = Vec::new();
    for PromptArgument { name, required, .. } in prompt.arguments().map_err(internal)? {
        if required && given.iter().all(|(given, _)| *given != name) {
            missing.push(format!("`{name}`"));
        }
    }
    if !missing.is_empty() {
        let message = format!("The prompt `{}` needs a value for {}.", prompt.metadata.name, missing.join(", "));
        return Err(RpcError::invalid_params(message));
    }

    let schema = prompt.handler.schema().map_err(internal)?;
    let arguments = write::text(&schema.object_of_strings(given));
    let arguments = Document::parse(arguments.as_bytes(), JsonLimits::default());
    let arguments = arguments.map_err(|error| mismatch(&prompt, &error.to_string()))?;
    let mistakes = schema.validate_within(arguments.root(), call.cx.request().argument_steps());
    if !mistakes.is_empty() {
        return Err(mismatch(&prompt, &mistakes.join("; ")));
    }
    input_required::resume(&call.cx, request)?;
    let work = match prompt.handler.call(arguments.root(), call.cx.clone()) {
        Ok(work) => work,
        Err(mistake) => return Err(mismatch(&prompt, &mistake)),
    };
    Ok(respond(call.clone(), prompt, work).boxed_local())
}

/// Runs the handler of a prompt to its end, and returns the response.
async fn respond(call: MethodCall, prompt: Rc<Prompt>, work: PromptFuture) -> Result<Option<Vec<u8>>, RpcError> {
    let Some(result) = run_or_ask(&call.cx, prompt.deadline, work).await? else { return Ok(None) };
    let result = result.map_err(|error| handler_error::without_own_code(&call.cx, &prompt.metadata.name, error))?;
    let revision = call.cx.revision();
    let description = result.description.as_deref().or(prompt.metadata.description.as_deref());
    let messages = result.messages.into_iter().map(|message| message.for_revision(revision)).collect();
    let result_of_prompt = GetPromptResult { description, messages };
    envelope::complete_with_meta(&call, result_of_prompt, result.meta.as_ref()).map(Some)
}

fn mismatch(prompt: &Prompt, mistakes: &str) -> RpcError {
    RpcError::invalid_params(format!("The arguments of the prompt `{}` do not fit: {mistakes}", prompt.metadata.name))
}
