//! A message from a server to its client: a response, a notification or a request.
//!
//! Source: JSON-RPC 2.0; every revision, basic, "Messages".

use std::borrow::Cow;

use edge_json::decimal::is_integer_literal;
use edge_json::{Kind, Value};

#[derive(Debug)]
pub(crate) enum ServerMessage<'d> {
    Response {
        /// The id as JSON text. `None` if it is null or absent.
        id: Option<&'d str>,
        outcome: Result<Value<'d>, ServerError<'d>>,
    },
    Notification {
        method: Cow<'d, str>,
        params: Option<Value<'d>>,
    },
    /// A request of the server to the client.
    Request {
        id: Value<'d>,
        method: Cow<'d, str>,
        params: Option<Value<'d>>,
    },
}

/// The `error` of a response.
#[derive(Debug)]
pub(crate) struct ServerError<'d> {
    pub(crate) code: i64,
    pub(crate) message: Cow<'d, str>,
    pub(crate) data: Option<Value<'d>>,
}

impl<'d> ServerMessage<'d> {
    /// Reads a message. Unknown members are ignored.
    ///
    /// # Errors
    /// The problem with it, as a predicate whose subject is the message.
    pub(crate) fn read(value: Value<'d>) -> Result<Self, &'static str> {
        if value.kind() != Kind::Object {
            return Err("is not a JSON object");
        }
        if value.get("jsonrpc").and_then(Value::as_str).as_deref() != Some("2.0") {
            return Err("does not have `jsonrpc: \"2.0\"`");
        }
        // A null member is an absent one.
        let member = |name| value.get(name).filter(|member| member.kind() != Kind::Null);
        let id = member("id");
        if id.is_some_and(|id| !id.is_string_or_integer()) {
            return Err("has an id that is not a string or an integer");
        }
        if let Some(method) = value.get("method") {
            let method = method.as_str().ok_or("has a method that is not a string")?;
            let params = member("params");
            if params.is_some_and(|params| params.kind() != Kind::Object) {
                return Err("has parameters that are not an object");
            }
            return Ok(match id {
                Some(id) => Self::Request { id, method, params },
                None => Self::Notification { method, params },
            });
        }
        let outcome = match (member("result"), member("error")) {
            (Some(result), None) if result.kind() == Kind::Object => Ok(result),
            (Some(_), None) => return Err("has a result that is not an object"),
            (None, Some(error)) => {
                Err(ServerError::read(error).ok_or("has an error without an integer code and a message")?)
            }
            (Some(_), Some(_)) => return Err("has a result and an error"),
            (None, None) => return Err("has no result and no error"),
        };
        Ok(Self::Response { id: id.map(Value::text), outcome })
    }
}

impl<'d> ServerError<'d> {
    /// Reads an error. Returns `None` if it has no integer code or no message.
    pub(crate) fn read(error: Value<'d>) -> Option<Self> {
        let code = error.get("code").filter(|code| code.kind() == Kind::Number && is_integer_literal(code.text()))?;
        Some(Self {
            code: code.text().parse().ok()?,
            message: error.get("message")?.as_str()?,
            data: error.get("data"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use edge_json::{Document, JsonLimits};

    fn shown(text: &str) -> String {
        let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
        match ServerMessage::read(document.root()) {
            Ok(ServerMessage::Response { id, outcome: Ok(result) }) => format!("{id:?} {result:?}"),
            Ok(ServerMessage::Response { id, outcome: Err(ServerError { code, message, data }) }) => {
                format!("{id:?} {code} {message} {data:?}")
            }
            Ok(ServerMessage::Notification { method, params }) => format!("{method} {params:?}"),
            Ok(ServerMessage::Request { id, method, params }) => format!("{id:?} {method} {params:?}"),
            Err(problem) => problem.to_owned(),
        }
    }

    /// C16: exactly one of a result and an error, with an id that is a string, an integer, null or absent.
    #[test]
    fn messages_of_a_server_are_read() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":"7","result":{"a":1}}"#, r#"Some("\"7\"") {"a":1}"#),
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, r#"Some("7") {}"#),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#, "None -32600 no None"),
            (r#"{"jsonrpc":"2.0","error":{"code":1,"message":"no","data":[1]}}"#, "None 1 no Some([1])"),
            (r#"{"jsonrpc":"2.0","method":"a","params":{"b":1}}"#, r#"a Some({"b":1})"#),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#, "1 ping None"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#, r#"Some("1") {}"#),
            (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"no"}}"#, r#"Some("1") 1 no None"#),
            ("[]", "is not a JSON object"),
            (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "does not have `jsonrpc: \"2.0\"`"),
            (r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#, "has an id that is not a string or an integer"),
            (r#"{"jsonrpc":"2.0","id":1,"result":1}"#, "has a result that is not an object"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#, "has a result and an error"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "has no result and no error"),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}"#,
                "has an error without an integer code and a message",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1e400,"message":""}}"#,
                "has an error without an integer code and a message",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":9223372036854775808,"message":""}}"#,
                "has an error without an integer code and a message",
            ),
            (r#"{"jsonrpc":"2.0","method":1}"#, "has a method that is not a string"),
            (r#"{"jsonrpc":"2.0","method":"a","params":[]}"#, "has parameters that are not an object"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
