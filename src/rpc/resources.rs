//! `resources/list`, `resources/templates/list` and `resources/read`.
//!
//! Source: 2025-11-25 and 2026-07-28, server/resources.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::json;

use super::page::page;
use super::run::{run_only, run_or_ask};
use super::{Call, Outcome, envelope, fault, input_required, params};
use crate::protocol::content::ResourceContents;
use crate::protocol::description::{ResourceDescription, ResourceTemplateDescription, Text};
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::revision::Feature;
use crate::server::resource::ContentsFuture;
use crate::server::{CacheHint, Cacheable, ReadError};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListResourcesResult<'a> {
    resources: Vec<Cow<'a, ResourceDescription>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListResourceTemplatesResult<'a> {
    resource_templates: Vec<&'a ResourceTemplateDescription>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize)]
struct ReadResourceResult {
    contents: Vec<ResourceContents>,
}

/// `resources/list`: the resources, then what each template lists.
pub(super) async fn list(call: &Call<'_>) -> Outcome {
    let fixed = call.server.resources.iter().map(|resource| Cow::Borrowed(&resource.description));
    let mut resources: Vec<_> = fixed.collect();
    for template in &call.server.templates {
        if let Some(list) = &template.list {
            let listed = run_only(&call.cx, &template.description.uri_template, list(call.cx.clone())).await?;
            let listed = listed.map_err(|error| failed(call, &template.description.uri_template, error))?;
            resources.extend(listed.into_iter().map(Cow::Owned));
        }
    }
    let (resources, next_cursor) = page(call, resources)?;
    let result = ListResourcesResult { resources, next_cursor };
    envelope::complete_cacheable(call, result, call.server.cache_of(Cacheable::Resources))
}

/// `resources/templates/list`.
pub(super) fn list_templates(call: &Call<'_>) -> Outcome {
    let templates = call.server.templates.iter().map(|template| &template.description).collect();
    let (resource_templates, next_cursor) = page(call, templates)?;
    let result = ListResourceTemplatesResult { resource_templates, next_cursor };
    envelope::complete_cacheable(call, result, call.server.cache_of(Cacheable::ResourceTemplates))
}

/// `resources/read`.
pub(super) async fn read(call: &Call<'_>) -> Outcome {
    let uri = params::string(call.request, "uri")?;
    input_required::resume(call)?;
    let Some(Found { name, mime_type, cache, contents }) = find(call, &uri) else { return Err(not_found(call, &uri)) };
    let Some(contents) = run_or_ask(&call.cx, contents).await? else { return input_required::ask(call) };
    let contents = match contents {
        Ok(contents) => contents,
        Err(ReadError::NotFound) => return Err(not_found(call, &uri)),
        Err(error) => return Err(failed(call, name, error)),
    };
    if contents.is_empty() {
        return Err(fault::internal(&call.cx, name, &"the handler returned no contents; return `None` for not found"));
    }
    let contents = contents.into_iter().map(|content| content.or_mime_type(mime_type)).collect();
    let cache = cache.unwrap_or_else(|| call.server.cache_of(Cacheable::ReadResource));
    envelope::complete_cacheable(call, ReadResourceResult { contents }, cache)
}

/// What reads a URI.
struct Found<'s> {
    /// For the log.
    name: &'s str,
    mime_type: Option<&'s Text>,
    cache: Option<CacheHint>,
    contents: ContentsFuture,
}

/// The resource at `uri`, else the first template that stands for it.
fn find<'s>(call: &Call<'s>, uri: &str) -> Option<Found<'s>> {
    let server = call.server;
    if let Some(resource) = server.resources.iter().find(|resource| resource.description.uri == uri) {
        let ResourceDescription { uri: name, mime_type, .. } = &resource.description;
        let contents = (resource.read)(call.cx.clone());
        return Some(Found { name, mime_type: mime_type.as_ref(), cache: resource.cache, contents });
    }
    server.templates.iter().find_map(|template| {
        let variables = template.parsed.as_ref().ok()?.matches(uri)?;
        let contents = (template.read)(uri, variables, call.cx.clone());
        let ResourceTemplateDescription { uri_template: name, mime_type, .. } = &template.description;
        Some(Found { name, mime_type: mime_type.as_ref(), cache: template.cache, contents })
    })
}

/// -32002 until 2025-11-25, -32602 since; both with the URI.
fn not_found(call: &Call<'_>, uri: &str) -> RpcError {
    let own_code = call.cx.revision().knows(Feature::ResourceNotFoundCode);
    let code = if own_code { ErrorCode::ResourceNotFound } else { ErrorCode::InvalidParams };
    RpcError::new(code, "Resource not found. resources/list and resources/templates/list name those that exist.")
        .with_data(json!({ "uri": uri }))
}

/// What is told of a function that failed, other than one that reads what is not there.
pub(super) fn failed(call: &Call<'_>, name: &str, error: ReadError) -> RpcError {
    match error {
        ReadError::NotFound => fault::internal(&call.cx, name, &"a list cannot be not found"),
        ReadError::NoInput(asked) => input_required::refused_by_error(call, name, asked),
        ReadError::Failed(cause) => fault::internal(&call.cx, name, &cause),
    }
}
