//! What stands around the members of every result: nothing in older revisions, much in 2026-07-28.
//!
//! Source: 2026-07-28, basic, "ResultType" and "`_meta`"; server/utilities/caching.

use serde::Serialize;
use serde_json::{Map, Value};

use super::call::{Call, Outcome};
use crate::call::failure;
use crate::json::write;
use crate::protocol::description::Implementation;
use crate::protocol::message::result_response;
use crate::protocol::revision::Feature;
use crate::server::cache::CacheHint;

/// What a result has besides its own members.
#[derive(Serialize)]
struct Envelope<'a> {
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(flatten)]
    cache: Option<CacheHint>,
    #[serde(rename = "_meta")]
    meta: ResultMeta<'a>,
}

#[derive(Serialize)]
struct ResultMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/serverInfo", skip_serializing_if = "Option::is_none")]
    server_info: Option<&'a Implementation>,
    #[serde(flatten)]
    own: Option<&'a Map<String, Value>>,
}

/// The response with `result`.
pub(super) fn complete(call: &Call, result: impl Serialize) -> Outcome {
    respond(call, "complete", result, None, None)
}

/// The response with `result`, which has a `_meta` of its own, if there is anything in it.
pub(super) fn complete_with_meta(call: &Call, result: impl Serialize, meta: &Map<String, Value>) -> Outcome {
    respond(call, "complete", result, None, Some(meta).filter(|meta| !meta.is_empty()))
}

/// The response with questions.
pub(super) fn input_required(call: &Call, result: impl Serialize) -> Outcome {
    respond(call, "input_required", result, None, None)
}

/// The response with `result`, of one of the six methods whose results carry a caching hint.
pub(super) fn complete_cacheable(call: &Call, result: impl Serialize, hint: CacheHint) -> Outcome {
    let hint = match () {
        // What was made of someone's answers is for no one else, and not for another time.
        () if call.cx.rounds().is_retry() => CacheHint::NONE,
        () if call.cx.depends_on_caller() => hint.for_this_caller(),
        () => hint,
    };
    respond(call, "complete", result, Some(hint), None)
}

fn respond(
    call: &Call,
    result_type: &'static str,
    result: impl Serialize,
    cache: Option<CacheHint>,
    own: Option<&Map<String, Value>>,
) -> Outcome {
    let knows = call.cx.revision().knows(Feature::ResultEnvelope);
    let response = result_response(call.cx.request_id(), &result).and_then(|response| match own {
        None if !knows => Ok(response),
        _ => {
            let server_info = knows.then_some(&call.server.definitions.info);
            let result_type = knows.then_some(result_type);
            let envelope =
                Envelope { result_type, cache: cache.filter(|_| knows), meta: ResultMeta { server_info, own } };
            with_members(response, &envelope)
        }
    });
    response.map_err(|error| failure::internal(call.cx.host(), call.method_name(), &error))
}

/// The response, whose result has these members too. It is put together from texts: serialized with each result, they would be in the
/// module once for each type of one.
fn with_members(mut response: Vec<u8>, members: &Envelope<'_>) -> Result<Vec<u8>, serde_json::Error> {
    // The ends of the response and of its result.
    response.truncate(response.len().saturating_sub(2));
    let is_empty = response.ends_with(b"{");
    let members = write::to_vec(members)?;
    response.extend_from_slice(if is_empty { b"" } else { b"," });
    response.extend_from_slice(members.get(1..).unwrap_or_default());
    response.push(b'}');
    Ok(response)
}
