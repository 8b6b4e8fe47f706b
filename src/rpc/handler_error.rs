//! The JSON-RPC error of a handler that failed, for methods whose results cannot contain an error.

use super::call::Call;
use super::input_required;
use crate::call::error::{ErrorKind, HandlerError};
use crate::call::failure;
use crate::protocol::error::{ErrorCode, RpcError};

/// Converts the error of the handler `name`, and logs its cause. `not_found` returns the error for an item that does not exist.
pub(super) fn convert(
    call: &Call,
    name: &str,
    error: HandlerError,
    not_found: impl FnOnce(HandlerError) -> RpcError,
) -> RpcError {
    if let Some(input) = error.0.input {
        return input_required::refused_by_error(call, name, input);
    }
    if let Some(cause) = &error.0.cause {
        failure::log(call.cx.host(), name, cause);
    }
    match error.0.kind {
        ErrorKind::Failed => RpcError::new(ErrorCode::Internal, error.0.message),
        ErrorKind::Invalid => RpcError::invalid_params(error.0.message),
        ErrorKind::NotFound => not_found(error),
    }
}

/// Converts the error of a prompt, or of a function that lists or completes.
pub(super) fn of_prompt_or_list(call: &Call, name: &str, error: HandlerError) -> RpcError {
    convert(call, name, error, |error| RpcError::invalid_params(error.0.message))
}
