//! The reading of parameters. If a parameter is missing or has the wrong type, the error is a -32602 that names the parameter.

use std::borrow::Cow;

use edge_json::{Kind, Value};

use crate::protocol::error::RpcError;
use crate::protocol::message::Request;
use crate::text::shortened;

/// Returns a required string.
pub(super) fn string<'d>(request: &Request<'d>, name: &str) -> Result<Cow<'d, str>, RpcError> {
    optional_string(request, name)?.ok_or_else(|| missing(name, "a string"))
}

/// Returns an optional string.
pub(super) fn optional_string<'d>(request: &Request<'d>, name: &str) -> Result<Option<Cow<'d, str>>, RpcError> {
    request.param(name).map(|value| value.as_str().ok_or_else(|| wrong_type(name, "a string", value))).transpose()
}

/// Returns a required object.
pub(super) fn object<'d>(request: &Request<'d>, name: &str) -> Result<Value<'d>, RpcError> {
    optional_object(request, name)?.ok_or_else(|| missing(name, "an object"))
}

/// Returns an optional object.
pub(super) fn optional_object<'d>(request: &Request<'d>, name: &str) -> Result<Option<Value<'d>>, RpcError> {
    match request.param(name) {
        Some(value) if value.kind() != Kind::Object => Err(wrong_type(name, "an object", value)),
        other => Ok(other),
    }
}

/// Returns the required string `member` of `object`, the parameter `name`.
pub(super) fn member<'d>(object: Value<'d>, name: &str, member: &str) -> Result<Cow<'d, str>, RpcError> {
    let name = format!("{name}.{member}");
    let value = object.get(member).ok_or_else(|| missing(&name, "a string"))?;
    value.as_str().ok_or_else(|| wrong_type(&name, "a string", value))
}

/// The members of an object with string values.
pub(super) type Strings<'d> = Vec<(Cow<'d, str>, Cow<'d, str>)>;

/// Returns the members of an object with string values, or an empty list if the parameter is missing.
pub(super) fn strings<'d>(request: &Request<'d>, name: &str) -> Result<Strings<'d>, RpcError> {
    optional_object(request, name)?.map_or(Ok(Vec::new()), |object| strings_of(object, name))
}

/// Returns the members of `object`, the parameter `name`. All values must be strings.
pub(super) fn strings_of<'d>(object: Value<'d>, name: &str) -> Result<Strings<'d>, RpcError> {
    if object.kind() != Kind::Object {
        return Err(wrong_type(name, "an object", object));
    }
    let mut strings = Vec::new();
    for (key, value) in object.members() {
        match value.as_str() {
            Some(text) => strings.push((key, text)),
            None => return Err(wrong_type(&format!("{name}.{}", shortened(&key)), "a string", value)),
        }
    }
    Ok(strings)
}

fn missing(name: &str, expected: &str) -> RpcError {
    RpcError::invalid_params(format!("`params.{name}` is missing; it must be {expected}"))
}

pub(super) fn wrong_type(name: &str, expected: &str, value: Value<'_>) -> RpcError {
    let got = value.kind().with_article();
    RpcError::invalid_params(format!("`params.{name}` must be {expected}, not {got}"))
}
