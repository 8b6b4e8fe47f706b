//! `resources/list`, `resources/templates/list` and `resources/read`.
//!
//! Source: 2025-11-25 and 2026-07-28, server/resources.

use std::borrow::Cow;
use std::time::Duration;

use futures::FutureExt;
use serde::Serialize;

use super::call::{MethodCall, MethodResponse};
use super::pagination::{cursor, page};
use super::running::Work;
use super::target::{Item, resource_not_found, wrong_target};
use super::{envelope, handler_error, input_required, params};
use crate::call::deadline::{run_only, run_or_ask};
use crate::call::failure;
use crate::protocol::description::{ResourceDescription, ResourceTemplateDescription};
use crate::protocol::error::RpcError;
use crate::protocol::message::Request;
use crate::protocol::resource_contents::ResourceContents;
use crate::server::access::permits;
use crate::server::cache::{CacheHint, Cacheable};
use crate::server::list::ListKind;
use crate::server::resource::{Contents, ContentsFuture};
use crate::text::Text;

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

/// Answers `resources/list` with the resources, and then with the listed resources of each template.
pub(super) fn list(call: &MethodCall, request: &Request<'_>, _: Item) -> Result<Work, RpcError> {
    let cursor = cursor(request)?.map(Cow::into_owned);
    Ok(list_from(call.clone(), cursor).boxed_local())
}

async fn list_from(call: MethodCall, cursor: Option<String>) -> Result<Option<Vec<u8>>, RpcError> {
    let call = call.with_sources(ListKind::Resources).await?;
    if let Some(response) = envelope::cached_list(&call, ListKind::Resources, cursor.as_deref()) {
        return response.map(Some);
    }
    let mut resources = Vec::new();
    for resource in call.server.resources().filter(|resource| resource.is_listed && call.lists(&resource.access)) {
        resources.push(Cow::Borrowed(&resource.description));
    }
    let mut cache = call.server.definitions.cache_of(ListKind::Resources.into());
    for template in call.server.templates().filter(|template| call.lists(&template.access)) {
        let Some(list) = &template.list else { continue };
        cache = cache.for_this_caller();
        // The scopes of the template protect its resources, even if the server lists all items.
        if permits(call.cx.request(), &template.access.scopes) {
            let listed =
                run_only(&call.cx, template.deadline, &template.description.uri_template, list(call.cx.clone()))
                    .await?;
            let listed = listed.map_err(|error| {
                handler_error::without_own_code(&call.cx, &template.description.uri_template, error)
            })?;
            resources.extend(listed.into_iter().map(Cow::Owned));
        }
    }
    let (resources, next_cursor) = page(&call, cursor.as_deref(), resources)?;
    let result = ListResourcesResult { resources, next_cursor };
    envelope::complete_list(&call, ListKind::Resources, cursor.as_deref(), result, 0, cache).map(Some)
}

/// Answers `resources/templates/list`.
pub(super) fn list_templates(call: &MethodCall, cursor: Option<&str>) -> MethodResponse {
    if let Some(response) = envelope::cached_list(call, ListKind::ResourceTemplates, cursor) {
        return response;
    }
    let mut templates = Vec::new();
    for template in call.server.templates().filter(|template| call.lists(&template.access)) {
        templates.push(&template.description);
    }
    let (resource_templates, next_cursor) = page(call, cursor, templates)?;
    let result = ListResourceTemplatesResult { resource_templates, next_cursor };
    let hint = call.server.definitions.cache_of(ListKind::ResourceTemplates.into());
    envelope::complete_list(call, ListKind::ResourceTemplates, cursor, result, 0, hint)
}

/// Answers `resources/read`.
pub(super) fn read(call: &MethodCall, request: &Request<'_>, target: Item) -> Result<Work, RpcError> {
    let uri = params::string(request, "uri")?;
    input_required::resume(&call.cx, request)?;
    let cx = call.cx.clone();
    let reading = match target {
        Item::Resource(resource) => Reading {
            name: resource.description.uri.clone(),
            mime_type: resource.description.mime_type.clone(),
            cache: resource.cache,
            deadline: resource.deadline,
            contents: (resource.read)(cx),
        },
        Item::Template(template, variables) => Reading {
            name: template.description.uri_template.clone(),
            mime_type: template.description.mime_type.clone(),
            cache: template.cache,
            deadline: template.deadline,
            contents: (template.read)(&uri, variables, cx),
        },
        Item::Hidden(_) => return Err(resource_not_found(call.cx.revision(), &uri)),
        Item::None | Item::Tool(_) | Item::Prompt(_) | Item::Extension(_) => return Err(wrong_target(call)),
    };
    Ok(respond(call.clone(), uri.into_owned(), reading).boxed_local())
}

/// Runs the handler of the resource at `uri` to its end, and returns the response.
async fn respond(call: MethodCall, uri: String, reading: Reading) -> Result<Option<Vec<u8>>, RpcError> {
    let Reading { name, mime_type, cache, deadline, contents } = reading;
    let Some(contents) = run_or_ask(&call.cx, deadline, contents).await? else { return Ok(None) };
    let Contents { parts, meta, is_foreign } = match contents {
        Ok(contents) => contents,
        Err(error) => {
            return Err(handler_error::convert(&call.cx, &name, error, |_| {
                resource_not_found(call.cx.revision(), &uri)
            }));
        }
    };
    if parts.is_empty() && !is_foreign {
        let cause = "the handler returned no contents; return `None` for not found";
        return Err(failure::internal(call.cx.host(), &name, &cause));
    }
    let contents = parts.into_iter().map(|content| content.or_mime_type(mime_type.as_ref())).collect();
    let hint = cache.unwrap_or_else(|| call.server.definitions.cache_of(Cacheable::ReadResource));
    envelope::complete_read(&call, ReadResourceResult { contents }, hint, meta.as_ref()).map(Some)
}

/// A resource that is being read.
struct Reading {
    /// The name for the log: the URI or the template.
    name: Text,
    /// The media type of contents without one.
    mime_type: Option<Text>,
    cache: Option<CacheHint>,
    deadline: Duration,
    contents: ContentsFuture,
}
