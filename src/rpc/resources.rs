//! `resources/list`, `resources/templates/list` and `resources/read`.
//!
//! Source: 2025-11-25 and 2026-07-28, server/resources.

use serde::Serialize;
use serde_json::json;

use super::{Call, Outcome, envelope, fault, params};
use crate::protocol::content::ResourceContents;
use crate::protocol::description::{ResourceDescription, ResourceTemplateDescription, Text};
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::revision::Feature;
use crate::server::ReadError;
use crate::server::resource::ContentsFuture;

#[derive(Serialize)]
struct ListResourcesResult {
    resources: Vec<ResourceDescription>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListResourceTemplatesResult<'a> {
    resource_templates: Vec<ResourceTemplateDescription<'a>>,
}

#[derive(Serialize)]
struct ReadResourceResult {
    contents: Vec<ResourceContents>,
}

/// `resources/list`: the resources, then what each template lists.
pub(super) async fn list(call: &Call<'_>) -> Outcome {
    params::no_cursor(call.request)?;
    let mut resources: Vec<_> = call.server.resources.iter().map(|resource| resource.description.clone()).collect();
    for template in &call.server.templates {
        if let Some(list) = &template.list {
            let listed = list(call.cx.clone()).await;
            resources.extend(listed.map_err(|error| failed(call, &template.uri_template, error))?);
        }
    }
    envelope::complete_cacheable(call, ListResourcesResult { resources })
}

/// `resources/templates/list`.
pub(super) fn list_templates(call: &Call<'_>) -> Outcome {
    params::no_cursor(call.request)?;
    let resource_templates = call.server.templates.iter().map(|template| template.describe()).collect();
    envelope::complete_cacheable(call, ListResourceTemplatesResult { resource_templates })
}

/// `resources/read`.
pub(super) async fn read(call: &Call<'_>) -> Outcome {
    let uri = params::string(call.request, "uri")?;
    let Some((name, mime_type, contents)) = find(call, &uri) else { return Err(not_found(call, &uri)) };
    let contents = match contents.await {
        Ok(contents) => contents,
        Err(ReadError::NotFound) => return Err(not_found(call, &uri)),
        Err(error) => return Err(failed(call, name, error)),
    };
    if contents.is_empty() {
        return Err(fault::internal(&call.cx, name, &"the handler returned no contents; return `None` for not found"));
    }
    let contents = contents.into_iter().map(|content| content.or_mime_type(mime_type)).collect();
    envelope::complete_cacheable(call, ReadResourceResult { contents })
}

/// What reads `uri`: the resource at it, else the first template that stands for it. With the name for the log and the
/// media type of the definition.
fn find<'s>(call: &Call<'s>, uri: &str) -> Option<(&'s str, Option<&'s Text>, ContentsFuture)> {
    let server = call.server;
    if let Some(resource) = server.resources.iter().find(|resource| resource.description.uri == uri) {
        let description = &resource.description;
        return Some((&description.uri, description.mime_type.as_ref(), (resource.read)(call.cx.clone())));
    }
    server.templates.iter().find_map(|template| {
        let variables = template.parsed.as_ref().ok()?.matches(uri)?;
        let contents = (template.read)(uri, variables, call.cx.clone());
        Some((&*template.uri_template, template.mime_type.as_ref(), contents))
    })
}

/// -32002 until 2025-11-25, -32602 since; both with the URI.
fn not_found(call: &Call<'_>, uri: &str) -> RpcError {
    let own_code = call.cx.revision().knows(Feature::ResourceNotFoundCode);
    let code = if own_code { ErrorCode::ResourceNotFound } else { ErrorCode::InvalidParams };
    RpcError::new(code, "Resource not found. resources/list and resources/templates/list name those that exist.")
        .with_data(json!({ "uri": uri }))
}

fn failed(call: &Call<'_>, name: &str, error: ReadError) -> RpcError {
    match error {
        ReadError::NotFound => fault::internal(&call.cx, name, &"a list cannot be not found"),
        ReadError::Failed(cause) => fault::internal(&call.cx, name, &cause),
    }
}
