//! `completion/complete`.
//!
//! Source: 2025-11-25 and 2026-07-28, server/utilities/completion.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt;
use serde::Serialize;

use super::call::MethodCall;
use super::running::Work;
use super::target::{Item, unknown_template, wrong_target};
use super::{envelope, handler_error, params};
use crate::call::deadline::run_only;
use crate::call::failure;
use crate::protocol::error::RpcError;
use crate::protocol::message::Request;
use crate::schema::SchemaError;
use crate::server::completion::{Completion, CompletionRequest, Suggestions, SuggestionsFuture};
use crate::server::prompt::Prompt;
use crate::server::resource::ResourceTemplate;
use crate::text::shortened;

#[derive(Serialize)]
struct CompleteResult {
    completion: Suggestions,
}

/// Answers `completion/complete`. For an argument without a completion, the list of suggestions is empty.
pub(super) fn complete(call: &MethodCall, request: &Request<'_>, target: Item) -> Result<Work, RpcError> {
    let argument = params::object(request, "argument")?;
    let name = params::member(argument, "argument", "name")?;
    let value = params::member(argument, "argument", "value")?;
    let context = params::optional_object(request, "context")?;
    let arguments = match context.and_then(|context| context.get("arguments")) {
        Some(arguments) => params::strings_of(arguments, "context.arguments")?,
        None => Vec::new(),
    };
    let (completion, deadline) = match &target {
        Item::Prompt(prompt) => (of_prompt(call, prompt, &name)?, prompt.deadline),
        Item::Template(template, _) | Item::Hidden(template) => (of_template(template, &name)?, template.deadline),
        // The URI names a resource, not a template.
        Item::Resource(resource) => return Err(unknown_template(&resource.description.uri)),
        Item::None | Item::Tool(_) | Item::Extension(_) => return Err(wrong_target(call)),
    };
    let suggestions = completion.map(|Completion(complete)| {
        let (argument, value) = (name.clone().into_owned(), value.into_owned());
        let mut asked = CompletionRequest { argument, value, arguments: BTreeMap::new() };
        // `collect` would sort the items first. No other code needs this sort, so it would only make the wasm module larger.
        asked.arguments.extend(arguments.into_iter().map(|(name, value)| (name.into_owned(), value.into_owned())));
        complete(asked, call.cx.clone())
    });
    Ok(respond(call.clone(), name.into_owned(), deadline, suggestions).boxed_local())
}

/// Runs the completion of the argument `name`, if there is one, and returns the response.
async fn respond(
    call: MethodCall,
    name: String,
    deadline: Duration,
    suggestions: Option<SuggestionsFuture>,
) -> Result<Option<Vec<u8>>, RpcError> {
    let mut completion = match suggestions {
        Some(suggestions) => match run_only(&call.cx, deadline, &name, suggestions).await? {
            Ok(suggestions) => suggestions,
            Err(error) => return Err(handler_error::without_own_code(&call.cx, &name, error)),
        },
        None => Suggestions::of_all(Vec::new()),
    };
    let meta = completion.meta.take();
    envelope::complete_with_meta(&call, CompleteResult { completion }, meta.as_ref()).map(Some)
}

fn of_prompt<'p>(call: &MethodCall, prompt: &'p Prompt, argument: &str) -> Result<Option<&'p Completion>, RpcError> {
    if let Some(all) = &prompt.completions.all {
        return Ok(Some(all));
    }
    let internal = |error: SchemaError| failure::internal(call.cx.host(), &prompt.metadata.name, &error);
    if prompt.arguments().map_err(internal)?.iter().any(|known| known.name == argument) {
        return Ok(prompt.completions.of(argument));
    }
    Err(unknown(argument))
}

fn of_template<'t>(template: &'t ResourceTemplate, variable: &str) -> Result<Option<&'t Completion>, RpcError> {
    if let Some(all) = &template.completions.all {
        return Ok(Some(all));
    }
    if template.parsed.as_ref().is_ok_and(|parsed| parsed.variables().any(|known| known == variable)) {
        return Ok(template.completions.of(variable));
    }
    Err(unknown(variable))
}

fn unknown(argument: &str) -> RpcError {
    RpcError::invalid_params(format!("`params.argument.name`: there is no argument \"{}\"", shortened(argument)))
}
