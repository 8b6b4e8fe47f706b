//! Input requests: results with questions, and requests with the answers.
//!
//! Source: 2026-07-28, basic/patterns/mrtr.

use edge_json::{Kind, Value, object};
use serde::Serialize;
use serde_json::Value as Json;

use super::call::{MethodCall, MethodResponse};
use super::request_state::{Asked, open, seal};
use super::{envelope, params};
use crate::call::context::Context;
use crate::call::failure;
use crate::call::rounds::{Answered, Earlier, Obstacle};
use crate::host::log;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::Request;
use crate::protocol::revision::Era;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InputRequiredResult {
    input_requests: Json,
    request_state: String,
}

/// Restores the answers and the state that a request contains.
pub(super) fn resume(cx: &Context, request: &Request<'_>) -> Result<(), RpcError> {
    if cx.revision().era() == Era::Legacy {
        return Ok(());
    }
    let state = params::optional_string(request, "requestState")?;
    let responses = params::optional_object(request, "inputResponses")?;
    if state.is_none() && responses.is_none() {
        return Ok(());
    }
    resume_with(cx, request, state.as_deref(), responses)
}

#[inline(never)]
fn resume_with(
    cx: &Context,
    request: &Request<'_>,
    state: Option<&str>,
    responses: Option<Value<'_>>,
) -> Result<(), RpcError> {
    let (asked, mut earlier) = match state {
        None => (Asked::new(), Earlier::default()),
        Some(token) => {
            let opened = cx.request().state_keys().and_then(|keys| open(cx, request, keys, token));
            opened.ok_or_else(|| {
                RpcError::invalid_params(
                    "`params.requestState` is not valid for this call, or has expired. Call again without it.",
                )
                .with_data(object(vec![("reason", "invalid_request_state".into())]))
            })?
        }
    };
    if let Some(responses) = responses {
        for (key, answer) in responses.members() {
            // A client can answer only the questions that were sent with this state. It cannot answer a question again, because the
            // handler has already used the first answer.
            let Some(question) = asked.get(&*key) else { continue };
            if answer.kind() != Kind::Object {
                return Err(params::wrong_type(&format!("inputResponses.{key}"), "an object", answer));
            }
            if let Some(answer) = answer.to_raw() {
                let (key, question) = (key.into_owned(), question.clone());
                earlier.answers.push(Answered { key, question, answer, is_used: false });
            }
        }
    }
    cx.rounds().resume(earlier);
    Ok(())
}

/// Returns the result with the questions of a handler. Its request state contains `digest`, the digest of the request.
#[inline(never)]
pub(super) fn ask(call: &MethodCall, digest: Option<String>) -> MethodResponse {
    let rounds = call.cx.rounds();
    let internal =
        |cause: &dyn std::fmt::Display| failure::internal(call.cx.host(), call.method_name(), &cause.to_string());
    match rounds.obstacle() {
        None => {}
        Some(Obstacle::Conflict(cause)) => return Err(internal(&cause)),
        Some(Obstacle::Journal(cause)) => return Err(internal(&cause)),
        Some(Obstacle::Excess(cause)) => return Err(state_too_large(call, &cause)),
    }
    let keys = call.cx.request().configured_keys().ok_or_else(|| internal(&"the call has no keys"))?;
    let keys = keys.as_ref().map_err(|error| internal(error))?;
    let digest = digest.ok_or_else(|| internal(&"the request has no digest for its request state"))?;
    let request_state = seal(&call.cx, keys, digest).map_err(|error| internal(&error))?;
    let (length, limit) = (request_state.len(), rounds.state_limit());
    if length > limit {
        return Err(state_too_large(call, &format!("its request state has {length} bytes (limit: {limit})")));
    }
    let mut requests = serde_json::Map::new();
    for (key, question) in rounds.questions().iter() {
        requests.insert(key.clone(), question.request.clone());
    }
    envelope::input_required(call, InputRequiredResult { input_requests: requests.into(), request_state })
}

/// Returns the error for a call whose request state would be too large.
fn state_too_large(call: &MethodCall, cause: &str) -> RpcError {
    log::failure(call.cx.host(), call.method_name(), &format!("the call cannot ask its client: {cause}"));
    let message = "This call cannot ask for input, because its request state is too large. \
                   Ask for less in one request.";
    RpcError::new(ErrorCode::Internal, message)
}
