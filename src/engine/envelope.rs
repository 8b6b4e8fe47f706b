//! The common members of results in 2026-07-28: `resultType`, cache hints, and `serverInfo` in `_meta`.
//!
//! Source: 2026-07-28, basic, "ResultType" and "`_meta`"; server/utilities/caching.

use edge_json::write::{self, Raw};
use serde::Serialize;
use serde_json::{Map, Value};

use super::call::{MethodCall, MethodResponse};
use crate::call::failure;
use crate::protocol::description::Implementation;
use crate::protocol::message::{long_response, result_response};
use crate::protocol::method::Method;
use crate::protocol::revision::Feature;
use crate::server::cache::CacheHint;
use crate::server::list::CachedLists;
use crate::server::list::ListKind;

/// The common members of a result.
#[derive(Serialize)]
struct ResultEnvelope<'a> {
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    result_type: Option<&'a str>,
    #[serde(flatten)]
    cache: Option<CacheHint>,
    #[serde(rename = "_meta")]
    meta: ResultMeta<'a>,
}

#[derive(Serialize)]
struct ResultMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/serverInfo", skip_serializing_if = "Option::is_none")]
    server_info: Option<&'a Implementation>,
    #[serde(rename = "io.modelcontextprotocol/subscriptionId", skip_serializing_if = "Option::is_none")]
    subscription_id: Option<Raw<'a>>,
    /// The members that the handler sets.
    #[serde(flatten)]
    own: Option<&'a Map<String, Value>>,
}

/// Returns the response with `result`.
pub(super) fn complete(call: &MethodCall, result: impl Serialize) -> MethodResponse {
    respond(call, "complete", serialize(call, result), None, None)
}

/// Returns the response with `result`. The members of `meta` go into the `_meta` of the result.
pub(super) fn complete_with_meta(
    call: &MethodCall,
    result: impl Serialize,
    meta: Option<&Map<String, Value>>,
) -> MethodResponse {
    respond(call, "complete", serialize(call, result), None, meta)
}

/// Returns the response that asks the client for input. `result` has the questions.
pub(super) fn input_required(call: &MethodCall, result: impl Serialize) -> MethodResponse {
    respond(call, "input_required", serialize(call, result), None, None)
}

/// Returns the response with `result`, for one of the six methods whose results have a cache hint.
pub(super) fn complete_cacheable(call: &MethodCall, result: impl Serialize, hint: CacheHint) -> MethodResponse {
    cacheable(call, serialize(call, result), hint)
}

/// Returns the response with the contents of a resource. The members of `meta` go into the `_meta` of the result.
pub(super) fn complete_read(
    call: &MethodCall,
    result: impl Serialize,
    hint: CacheHint,
    meta: Option<&Map<String, Value>>,
) -> MethodResponse {
    respond(call, "complete", serialize(call, result), Some(hint_for(call, hint)), meta)
}

fn cacheable(call: &MethodCall, response: serde_json::Result<Vec<u8>>, hint: CacheHint) -> MethodResponse {
    let meta = call.server.definitions.found_meta.as_ref();
    respond(call, "complete", response, Some(hint_for(call, hint)), meta)
}

/// Returns the response with the result of a method of an extension.
pub(super) fn of_extension(
    call: &MethodCall,
    result: Raw<'_>,
    result_type: &str,
    hint: Option<CacheHint>,
    meta: Option<&Map<String, Value>>,
) -> MethodResponse {
    respond(call, result_type, serialize(call, result), hint.map(|hint| hint_for(call, hint)), meta)
}

/// Returns the cache hint of a result, which is private if the result depends on the caller.
fn hint_for(call: &MethodCall, hint: CacheHint) -> CacheHint {
    match () {
        // The result of a retry depends on the answers in the request, so it must not be cached.
        () if call.cx.rounds().is_retry() => CacheHint::NONE,
        // The items of a source may differ between callers.
        () if call.cx.depends_on_caller() || call.server.definitions.has_sources() => hint.for_this_caller(),
        () => hint,
    }
}

/// Returns the response with the list `kind`, if it is in the cache and the request has no cursor.
pub(super) fn cached_list(call: &MethodCall, kind: ListKind, cursor: Option<&str>) -> Option<MethodResponse> {
    let cache = list_cache(call, kind, cursor)?;
    let json = cache.get(kind, call.cx.revision())?;
    Some(complete_cacheable(call, Raw(&json), call.server.definitions.cache_of(kind.into())))
}

/// Returns the response with the list `kind`, and caches the list if it is the same for all callers. `bytes` is the number of bytes that the
/// list has at least.
pub(super) fn complete_list(
    call: &MethodCall,
    kind: ListKind,
    cursor: Option<&str>,
    list: impl Serialize,
    bytes: usize,
    hint: CacheHint,
) -> MethodResponse {
    let Some(cache) = list_cache(call, kind, cursor) else {
        return cacheable(call, long_response(call.cx.request_id(), &list, bytes), hint);
    };
    let json =
        write::to_string(&list).map_err(|error| failure::internal(call.cx.host(), call.method_name(), &error))?;
    if json.len() <= call.response_limit {
        cache.insert(kind, call.cx.revision(), &json);
    }
    complete_cacheable(call, Raw(&json), hint)
}

/// Returns the cache for the list `kind`, if the server may cache this list and the request has no cursor.
fn list_cache<'a>(call: &'a MethodCall, kind: ListKind, cursor: Option<&str>) -> Option<&'a CachedLists> {
    call.server.cached_lists.as_deref().filter(|cache| cursor.is_none() && cache.may_cache(kind))
}

/// Serializes the response. The compiler generates this function once for each type of result, so the function is small.
fn serialize(call: &MethodCall, result: impl Serialize) -> serde_json::Result<Vec<u8>> {
    result_response(call.cx.request_id(), &result)
}

fn respond(
    call: &MethodCall,
    result_type: &str,
    response: serde_json::Result<Vec<u8>>,
    cache: Option<CacheHint>,
    own: Option<&Map<String, Value>>,
) -> MethodResponse {
    let has_envelope = call.cx.revision().has(Feature::ResultEnvelope);
    let response = response.and_then(|response| match own {
        None if !has_envelope => Ok(response),
        _ => {
            let server_info = has_envelope.then_some(&call.server.definitions.info);
            let result_type = has_envelope.then_some(result_type);
            let meta = ResultMeta {
                server_info,
                // The id is copied as text, because a number may exceed every number type.
                subscription_id: (call.method == Some(Method::Listen)).then(|| Raw(call.cx.request_id().as_json())),
                own,
            };
            let envelope = ResultEnvelope { result_type, cache: cache.filter(|_| has_envelope), meta };
            with_members(response, &envelope)
        }
    });
    response.map_err(|error| failure::internal(call.cx.host(), call.method_name(), &error))
}

/// Adds `members` to the result of a response. The function joins both as text. A serializer for both together would be compiled once for
/// each type of result.
fn with_members(mut response: Vec<u8>, members: &ResultEnvelope<'_>) -> Result<Vec<u8>, serde_json::Error> {
    // Remove the closing braces of the result and the response.
    response.truncate(response.len().saturating_sub(2));
    let is_empty = response.ends_with(b"{");
    let members = write::to_vec(members)?;
    response.extend_from_slice(if is_empty { b"" } else { b"," });
    response.extend_from_slice(members.get(1..).unwrap_or_default());
    response.push(b'}');
    Ok(response)
}
