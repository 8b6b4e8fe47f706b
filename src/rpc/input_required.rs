//! Calls that end with questions, and calls that bring the answers.
//!
//! Source: 2026-07-28, basic/patterns/mrtr.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::request_state::{open, seal};
use super::{Call, Outcome, envelope, params};
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::json::{Kind, Value};
use crate::protocol::message::Request;
use crate::protocol::revision::Era;
use crate::server::exchange::{Answers, InputRefusal};
use crate::server::fault;
use crate::server::workflow::FinishedSteps;
use crate::server::{InputError, SessionRequired};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InputRequiredResult {
    input_requests: Json,
    request_state: String,
}

/// Takes over the answers and the state that came with a request.
pub(super) fn resume(call: &Call, request: &Request<'_>) -> Result<(), RpcError> {
    if call.cx.revision().era() == Era::Legacy {
        return Ok(());
    }
    let state = params::optional_string(request, "requestState")?;
    let responses = params::optional_object(request, "inputResponses")?;
    if state.is_none() && responses.is_none() {
        return Ok(());
    }
    let mut answers = Answers::new();
    let (mut kept, mut steps) = (None, FinishedSteps::new());
    if let Some(token) = state {
        let opened = (*call.keys).as_ref().ok().and_then(|keys| open(call, request, keys, &token));
        let opened = opened.ok_or_else(|| {
            RpcError::invalid_params(
                "`params.requestState` is not valid for this call, or has expired. Call again without it.",
            )
            .with_data(json!({ "reason": "invalid_request_state" }))
        })?;
        let (state, is_private) = opened;
        (answers, kept, steps) = (state.answers, state.kept, state.steps);
        if is_private {
            call.cx.exchange().make_private();
        }
    }
    for (key, answer) in responses.into_iter().flat_map(Value::members) {
        if answer.kind() != Kind::Object {
            return Err(params::wrong_type(&format!("inputResponses.{key}"), "an object", answer));
        }
        if let Some(answer) = answer.to_raw() {
            // What an earlier round was answered stays: the handler has acted on it.
            answers.entry(key.into_owned()).or_insert(answer);
        }
    }
    call.cx.exchange().resume(answers, kept, steps);
    Ok(())
}

/// The result that carries the questions of a handler; the digest of the request goes into its state.
pub(super) fn ask(call: &Call, digest: Option<String>) -> Outcome {
    let exchange = call.cx.exchange();
    if let Some(conflict) = exchange.conflict() {
        return Err(fault::internal(&call.cx, call.method_name(), &conflict));
    }
    let keys = (*call.keys).as_ref().map_err(|error| fault::internal(&call.cx, call.method_name(), error))?;
    let digest = digest
        .ok_or_else(|| fault::internal(&call.cx, call.method_name(), &"the request has no digest to ask with"))?;
    let request_state =
        seal(call, keys, digest).map_err(|error| fault::internal(&call.cx, call.method_name(), &error))?;
    let input_requests = json!(*exchange.questions());
    envelope::input_required(call, InputRequiredResult { input_requests, request_state })
}

/// What the caller of `name` is told of a question that could not be asked, or whose answer could not be taken: the feature
/// that needs a session, or an error.
pub(super) fn refused(call: &Call, name: &str, InputError(refusal): InputError) -> Result<SessionRequired, RpcError> {
    match refusal {
        InputRefusal::SessionRequired(feature) => Ok(feature),
        InputRefusal::MissingCapability(needed) => {
            let message = "This call needs a capability that the request does not declare.";
            let error = RpcError::new(ErrorCode::MissingCapability, message);
            Err(error.with_data(json!({ "requiredCapabilities": needed })))
        }
        InputRefusal::Malformed(problem) => Err(RpcError::invalid_params(problem)),
        InputRefusal::Unaskable(cause) => Err(fault::internal(&call.cx, name, &cause)),
    }
}

/// The same for a prompt or a resource, which have no results that could carry an error.
pub(super) fn refused_by_error(call: &Call, name: &str, error: InputError) -> RpcError {
    match refused(call, name, error) {
        Ok(feature) => feature.error(ErrorCode::Internal),
        Err(error) => error,
    }
}
