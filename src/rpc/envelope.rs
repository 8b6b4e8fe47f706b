//! What stands around the members of every result: nothing in older revisions, much in 2026-07-28.
//!
//! Source: 2026-07-28, basic, "ResultType" and "`_meta`"; server/utilities/caching.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Call, Outcome};
use crate::protocol::description::Implementation;
use crate::protocol::message::result_response;
use crate::protocol::revision::Feature;
use crate::server::{CacheHint, fault};

#[derive(Serialize)]
struct Enveloped<'a, T> {
    #[serde(rename = "resultType")]
    result_type: &'static str,
    #[serde(flatten)]
    result: T,
    #[serde(flatten)]
    cache: Option<CacheHint>,
    #[serde(rename = "_meta")]
    meta: ResultMeta<'a>,
}

#[derive(Serialize)]
struct ResultMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: &'a Implementation,
    #[serde(flatten)]
    own: Option<&'a Map<String, Value>>,
}

/// A result with a `_meta` of its own, in older revisions.
#[derive(Serialize)]
struct WithMeta<'a, T> {
    #[serde(flatten)]
    result: T,
    #[serde(rename = "_meta")]
    meta: &'a Map<String, Value>,
}

/// The response with `result`.
pub(super) fn complete(call: &Call<'_>, result: impl Serialize) -> Outcome {
    respond(call, "complete", result, None, None)
}

/// The response with `result`, which has a `_meta` of its own, if there is anything in it.
pub(super) fn complete_with_meta(call: &Call<'_>, result: impl Serialize, meta: &Map<String, Value>) -> Outcome {
    respond(call, "complete", result, None, Some(meta).filter(|meta| !meta.is_empty()))
}

/// The response with questions.
pub(super) fn input_required(call: &Call<'_>, result: impl Serialize) -> Outcome {
    respond(call, "input_required", result, None, None)
}

/// The response with `result`, of one of the six methods whose results carry a caching hint.
pub(super) fn complete_cacheable(call: &Call<'_>, result: impl Serialize, hint: CacheHint) -> Outcome {
    let hint = match () {
        // What was made of someone's answers is for no one else, and not for another time.
        () if call.cx.exchange().is_retry() => CacheHint::NONE,
        () if call.cx.depends_on_caller() => hint.for_this_caller(),
        () => hint,
    };
    respond(call, "complete", result, Some(hint), None)
}

fn respond(
    call: &Call<'_>,
    result_type: &'static str,
    result: impl Serialize,
    cache: Option<CacheHint>,
    own: Option<&Map<String, Value>>,
) -> Outcome {
    let id = &call.request.id;
    let response = if call.cx.revision().knows(Feature::ResultEnvelope) {
        let meta = ResultMeta { server_info: &call.server.info, own };
        result_response(id, &Enveloped { result_type, result, cache, meta })
    } else if let Some(meta) = own {
        result_response(id, &WithMeta { result, meta })
    } else {
        result_response(id, &result)
    };
    response.map_err(|error| fault::internal(&call.cx, &call.request.method, &error))
}
