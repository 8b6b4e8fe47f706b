//! The JSON-RPC error of a handler that failed, for methods whose results cannot contain an error.

use edge_json::object;

use crate::call::context::Context;
use crate::call::error::{ErrorKind, HandlerError};
use crate::call::input_error::{InputError, InputProblem};
use crate::host::log;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::text::Text;

/// Converts the error of the handler `name`, and logs its cause. `not_found` returns the error for an item that does not exist.
pub(super) fn convert(
    cx: &Context,
    name: &str,
    error: HandlerError,
    not_found: impl FnOnce(HandlerError) -> RpcError,
) -> RpcError {
    if let Some(cause) = &error.0.cause {
        log::failure(cx.host(), name, cause);
    }
    if let Some(input) = error.0.input {
        return of_question(input, error.0.message);
    }
    match error.0.kind {
        ErrorKind::Failed => RpcError::new(ErrorCode::Internal, error.0.message),
        ErrorKind::Invalid => RpcError::invalid_params(error.0.message),
        ErrorKind::NotFound => not_found(error),
    }
}

/// Returns the error of a question that failed, with the sentence for the caller.
#[cold]
#[inline(never)]
fn of_question(InputError(problem): InputError, message: Text) -> RpcError {
    match *problem {
        InputProblem::SessionRequired(kind) => {
            RpcError::new(ErrorCode::Internal, message).with_data(kind.session.data())
        }
        InputProblem::MissingCapability(kind) => {
            let data = object(vec![("requiredCapabilities", kind.declaration())]);
            RpcError::new(ErrorCode::MissingCapability, message).with_data(data)
        }
        InputProblem::Malformed(_) => RpcError::invalid_params(message),
        InputProblem::Forbidden(_) => RpcError::new(ErrorCode::Internal, message),
        InputProblem::TaskFailed(error) => error,
    }
}

/// Converts the error of a prompt, of a function that lists or completes, or of a question of a tool.
pub(super) fn without_own_code(cx: &Context, name: &str, error: HandlerError) -> RpcError {
    convert(cx, name, error, |error| RpcError::invalid_params(error.0.message))
}
