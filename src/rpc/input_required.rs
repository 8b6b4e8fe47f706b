//! Calls that end with questions, and calls that bring the answers.
//!
//! Source: 2026-07-28, basic/patterns/mrtr.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::request_state::{open, seal};
use super::{Call, Outcome, envelope, fault, params};
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::json::{Kind, Value};
use crate::protocol::revision::Era;
use crate::server::SessionRequired;
use crate::server::exchange::{Answers, InputRefusal};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InputRequiredResult {
    input_requests: Json,
    request_state: String,
}

/// Takes over the answers and the state that came with a request.
pub(super) fn resume(call: &Call<'_>) -> Result<(), RpcError> {
    if call.cx.revision().era() == Era::Legacy {
        return Ok(());
    }
    let state = params::optional_string(call.request, "requestState")?;
    let responses = params::optional_object(call.request, "inputResponses")?;
    if state.is_none() && responses.is_none() {
        return Ok(());
    }
    let mut answers = Answers::new();
    let mut kept = None;
    if let Some(token) = state {
        let opened = call.keys.as_ref().ok().and_then(|keys| open(call, keys, &token));
        let opened = opened.ok_or_else(|| {
            RpcError::invalid_params(
                "`params.requestState` is not valid for this call, or has expired. Call again without it.",
            )
            .with_data(json!({ "reason": "invalid_request_state" }))
        })?;
        let (state, is_private) = opened;
        (answers, kept) = (state.answers, state.kept);
        if is_private {
            call.cx.exchange().make_private();
        }
    }
    for (key, answer) in responses.into_iter().flat_map(Value::members) {
        if answer.kind() != Kind::Object {
            return Err(params::wrong_type(&format!("inputResponses.{key}"), "an object", answer));
        }
        // It is a part of a text that was read as JSON.
        if let Ok(answer) = RawValue::from_string(answer.text().to_owned()) {
            answers.insert(key.into_owned(), answer);
        }
    }
    call.cx.exchange().resume(answers, kept);
    Ok(())
}

/// The result that carries the questions of a handler.
pub(super) fn ask(call: &Call<'_>) -> Outcome {
    let keys = call.keys.as_ref().map_err(|error| fault::internal(&call.cx, &call.request.method, error))?;
    let request_state = seal(call, keys).map_err(|error| fault::internal(&call.cx, &call.request.method, &error))?;
    let input_requests = json!(*call.cx.exchange().questions());
    envelope::input_required(call, InputRequiredResult { input_requests, request_state })
}

/// The error of a call whose handler failed because it could not ask, or could not take the answer; the feature, if it needs a
/// session.
pub(super) fn refusal(call: &Call<'_>, name: &str) -> Option<Result<SessionRequired, RpcError>> {
    Some(match call.cx.exchange().refusal()? {
        InputRefusal::SessionRequired(feature) => Ok(feature),
        InputRefusal::MissingCapability(needed) => {
            let message = "This call needs a capability that the request does not declare.";
            let error = RpcError::new(ErrorCode::MissingCapability, message);
            Err(error.with_data(json!({ "requiredCapabilities": needed })))
        }
        InputRefusal::Malformed(problem) => Err(RpcError::invalid_params(problem)),
        InputRefusal::Unaskable(cause) => Err(fault::internal(&call.cx, name, &cause)),
    })
}

/// The error of a prompt or a resource that needs a session.
pub(super) fn session_required(feature: SessionRequired) -> RpcError {
    RpcError::new(ErrorCode::Internal, feature.to_string()).with_data(feature.data())
}
