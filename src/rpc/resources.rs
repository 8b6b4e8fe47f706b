//! `resources/list`, `resources/templates/list` and `resources/read`.
//!
//! Source: 2025-11-25 and 2026-07-28, server/resources.

use std::borrow::Cow;
use std::collections::BTreeMap;

use futures::FutureExt;
use serde::Serialize;
use serde_json::json;

use super::page::{cursor, page};
use super::prepared::{Reply, Work};
use super::{Call, Outcome, envelope, handler_error, input_required, params};
use crate::call::context::Context;
use crate::call::deadline::{run_only, run_or_ask};
use crate::call::failure;
use crate::protocol::content::ResourceContents;
use crate::protocol::description::{ResourceDescription, ResourceTemplateDescription, Text};
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::Request;
use crate::protocol::revision::Feature;
use crate::server::access::{Access, permits};
use crate::server::builder::McpServer;
use crate::server::cache::{CacheHint, Cacheable};
use crate::server::resource::ContentsFuture;
use crate::server::resource::{Resource, ResourceTemplate};
use crate::uri_template::normalized;

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
pub(super) fn list(call: &Call, request: &Request<'_>) -> Result<Work, RpcError> {
    let cursor = cursor(request)?.map(Cow::into_owned);
    Ok(list_from(call.clone(), cursor).boxed_local())
}

async fn list_from(call: Call, cursor: Option<String>) -> Result<Reply, RpcError> {
    let fixed = call.server.resources.iter().filter(|resource| call.lists(&resource.access));
    let fixed = fixed.map(|resource| Cow::Borrowed(&resource.description));
    let mut resources: Vec<_> = fixed.collect();
    let mut cache = call.server.cache_of(Cacheable::Resources);
    for template in call.server.templates.iter().filter(|template| call.lists(&template.access)) {
        let Some(list) = &template.list else { continue };
        cache = cache.for_this_caller();
        // The listed resources are behind the scopes of the template, even if the server lists all.
        if permits(call.cx.auth(), &template.access.scopes) {
            let listed = run_only(&call.cx, &template.description.uri_template, list(call.cx.clone())).await?;
            let listed = listed
                .map_err(|error| handler_error::of_prompt_or_list(&call, &template.description.uri_template, error))?;
            resources.extend(listed.into_iter().map(Cow::Owned));
        }
    }
    let (resources, next_cursor) = page(&call, cursor.as_deref(), resources)?;
    let result = ListResourcesResult { resources, next_cursor };
    envelope::complete_cacheable(&call, result, cache).map(Reply::Response)
}

/// `resources/templates/list`.
pub(super) fn list_templates(call: &Call, request: &Request<'_>) -> Outcome {
    let templates = call.server.templates.iter().filter(|template| call.lists(&template.access));
    let templates = templates.map(|template| &template.description).collect();
    let (resource_templates, next_cursor) = page(call, cursor(request)?.as_deref(), templates)?;
    let result = ListResourceTemplatesResult { resource_templates, next_cursor };
    envelope::complete_cacheable(call, result, call.server.cache_of(Cacheable::ResourceTemplates))
}

/// `resources/read`.
pub(super) fn read(call: &Call, request: &Request<'_>) -> Result<Work, RpcError> {
    let uri = params::string(request, "uri")?;
    input_required::resume(call, request)?;
    let reading = find(&call.server, &uri).and_then(|found| found.reading(&uri, call.cx.clone()));
    let Some(reading) = reading else { return Err(not_found(call, &uri)) };
    Ok(respond(call.clone(), uri.into_owned(), reading).boxed_local())
}

/// Runs the handler of the resource at `uri` to its end, and makes its response.
async fn respond(call: Call, uri: String, reading: Reading) -> Result<Reply, RpcError> {
    let Reading { name, mime_type, cache, contents } = reading;
    let Some(contents) = run_or_ask(&call.cx, contents).await? else { return Ok(Reply::Asks) };
    let contents = match contents {
        Ok(contents) => contents,
        Err(error) => return Err(handler_error::convert(&call, &name, error, |_| not_found(&call, &uri))),
    };
    if contents.is_empty() {
        let cause = "the handler returned no contents; return `None` for not found";
        return Err(failure::internal(call.cx.host(), &name, &cause));
    }
    let contents = contents.into_iter().map(|content| content.or_mime_type(mime_type.as_ref())).collect();
    let hint = cache.unwrap_or_else(|| call.server.cache_of(Cacheable::ReadResource));
    envelope::complete_cacheable(&call, ReadResourceResult { contents }, hint).map(Reply::Response)
}

/// A resource that is being read.
struct Reading {
    /// Its name for the log: its URI or its template.
    name: Text,
    /// The media type of contents that name none.
    mime_type: Option<Text>,
    cache: Option<CacheHint>,
    contents: ContentsFuture,
}

/// What a URI stands for.
pub(super) enum Found<'s> {
    Resource(&'s Resource),
    OfTemplate(&'s ResourceTemplate, BTreeMap<String, String>),
    /// A resource that the caller may not see, where a template stands for its URI too. The answer is that of the template for a
    /// resource that does not exist.
    Hidden(&'s ResourceTemplate),
}

/// Returns the resource at `uri`, else the first template that stands for it.
///
/// A URI can be written in several ways, such as `kb://payroll` and `kb://%70ayroll`, and a template reads the same variables from each.
/// So the URI is looked up again as the template would write it. A resource or an earlier template at that URI comes first, with its
/// scopes.
pub(super) fn find<'s>(server: &'s McpServer, uri: &str) -> Option<Found<'s>> {
    let mut uri = Cow::Borrowed(uri);
    let mut is_hidden = false;
    // A URI as a template writes it stands for the same template or an earlier one, so that no URI is written more often than this.
    for _ in 0..=server.templates.len() {
        let normal = normalized(&uri);
        let is_here = |resource: &&Resource| normalized(&resource.description.uri) == normal;
        if let Some(resource) = server.resources.iter().find(is_here) {
            return Some(Found::Resource(resource));
        }
        is_hidden |= server.hidden_resources.iter().any(|resource| is_here(&resource));
        let (template, parsed, variables) = server.templates.iter().find_map(|template| {
            let parsed = template.parsed.as_ref().ok()?;
            Some((template, parsed, parsed.matches(&uri)?))
        })?;
        match parsed.expand(&variables) {
            Ok(written) if written != uri => uri = Cow::Owned(written),
            _ if is_hidden => return Some(Found::Hidden(template)),
            _ => return Some(Found::OfTemplate(template, variables)),
        }
    }
    None
}

impl<'s> Found<'s> {
    pub(super) fn access(&self) -> &'s Access {
        match self {
            Self::Resource(resource) => &resource.access,
            Self::OfTemplate(template, _) | Self::Hidden(template) => &template.access,
        }
    }

    /// The template, unless the URI is that of a resource which the caller can see.
    pub(super) fn template(self) -> Option<&'s ResourceTemplate> {
        match self {
            Self::Resource(_) => None,
            Self::OfTemplate(template, _) | Self::Hidden(template) => Some(template),
        }
    }

    /// Calls the function that reads it; `None`, if the caller may not see it.
    fn reading(self, uri: &str, cx: Context) -> Option<Reading> {
        match self {
            Self::Resource(Resource { description, cache, read, .. }) => Some(Reading {
                name: description.uri.clone(),
                mime_type: description.mime_type.clone(),
                cache: *cache,
                contents: read(cx),
            }),
            Self::OfTemplate(ResourceTemplate { description, cache, read, .. }, variables) => Some(Reading {
                name: description.uri_template.clone(),
                mime_type: description.mime_type.clone(),
                cache: *cache,
                contents: read(uri, variables, cx),
            }),
            Self::Hidden(_) => None,
        }
    }
}

/// -32002 until 2025-11-25, -32602 since; both with the URI.
fn not_found(call: &Call, uri: &str) -> RpcError {
    let own_code = call.cx.revision().knows(Feature::ResourceNotFoundCode);
    let code = if own_code { ErrorCode::ResourceNotFound } else { ErrorCode::InvalidParams };
    RpcError::new(code, "Resource not found. resources/list and resources/templates/list name those that exist.")
        .with_data(json!({ "uri": uri }))
}
