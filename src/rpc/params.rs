//! Reading parameters: what is missing or of the wrong type is a -32602 that names the field.

use std::borrow::Cow;

use crate::protocol::error::RpcError;
use crate::protocol::json::{Kind, Value};
use crate::protocol::message::Request;

/// A string that must be there.
pub(super) fn string<'d>(request: &Request<'d>, name: &str) -> Result<Cow<'d, str>, RpcError> {
    match request.param(name) {
        None => Err(RpcError::invalid_params(format!("`params.{name}` is missing; it must be a string"))),
        Some(value) => value.as_str().ok_or_else(|| wrong_type(name, "a string", value)),
    }
}

/// An object, if it is there.
pub(super) fn optional_object<'d>(request: &Request<'d>, name: &str) -> Result<Option<Value<'d>>, RpcError> {
    match request.param(name) {
        Some(value) if value.kind() != Kind::Object => Err(wrong_type(name, "an object", value)),
        other => Ok(other),
    }
}

/// The cursor of a list that has one page: there is none to give, and so none to take.
pub(super) fn no_cursor(request: &Request<'_>) -> Result<(), RpcError> {
    match request.param("cursor") {
        None => Ok(()),
        Some(value) if value.kind() != Kind::String => Err(wrong_type("cursor", "a string", value)),
        Some(_) => Err(RpcError::invalid_params(
            "`params.cursor` is not a cursor of this list; leave it out to read the list from its beginning",
        )),
    }
}

fn wrong_type(name: &str, expected: &str, value: Value<'_>) -> RpcError {
    let got = match value.kind() {
        Kind::Null => "null",
        Kind::Boolean => "a boolean",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    };
    RpcError::invalid_params(format!("`params.{name}` must be {expected}, not {got}"))
}
