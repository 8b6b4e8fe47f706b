//! JSON-RPC 2.0 in the form that MCP uses: one object per message, with ids that are strings or integers.
//!
//! Source: every revision, basic, "Messages".

use std::borrow::Cow;
use std::fmt;

use edge_json::{Document, JsonLimits, Kind, Value, write};
use serde::Serialize;

use super::error::RpcError;
use super::meta;
use super::method::Method;

/// The id of a request. It is stored and returned as the client has written it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Box<str>);

impl RequestId {
    /// Reads a string or an integer. Returns `None` for other values.
    fn read(value: Value<'_>) -> Option<Self> {
        value.is_string_or_integer().then(|| Self(value.text().into()))
    }

    /// Returns the id of a rejected message, if the id can be read.
    pub(crate) fn of_rejected(body: &[u8]) -> Option<Self> {
        let text = match str::from_utf8(body) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(with_placeholders(body)),
        };
        let document = Document::outline(&text).ok()?;
        let mut ids = document.root().members().filter(|(name, _)| name == "id");
        let (Some((_, id)), None) = (ids.next(), ids.next()) else { return None };
        // If the id contains a placeholder, it is not the id that was sent.
        if body.get(id.range()) != Some(id.text().as_bytes()) {
            return None;
        }
        let id = id.text();
        // `outline` is lenient, so parse the id again strictly.
        Self::read(Document::parse(id.as_bytes(), JsonLimits::default()).ok()?.root())
    }

    /// Returns the id of a call that the program itself makes.
    pub(crate) fn native() -> Self {
        Self("\"native\"".into())
    }

    /// Returns the id of the call of a durable task.
    #[cfg(feature = "tasks")]
    pub(crate) fn of_task() -> Self {
        Self("\"task\"".into())
    }

    /// Returns the id as JSON: `7`, `"a"`.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Converts bytes to text of the same length, with a one-byte placeholder for each byte that is not UTF-8. Byte
/// positions do not change. `String::from_utf8_lossy` would need up to three times the memory.
fn with_placeholders(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

#[derive(Debug)]
pub(crate) enum JsonRpcMessage<'d> {
    /// A request, which expects a response.
    Request(Request<'d>),
    /// A notification, which does not get a response.
    Notification {
        /// Whether `params._meta` names a revision. If so, the client is of [`Era::Modern`](super::revision::Era::Modern).
        claims_revision: bool,
    },
    /// A response. This server does not send requests, so it does not expect responses.
    Response,
}

#[derive(Debug)]
pub(crate) struct Request<'d> {
    /// The id, which the response repeats.
    pub(crate) id: RequestId,
    pub(crate) method: Cow<'d, str>,
    /// The method, if any revision has it.
    pub(crate) known_method: Option<Method>,
    /// The parameters: an object, if present.
    pub(crate) params: Option<Value<'d>>,
    /// The `_meta` of the parameters.
    pub(crate) meta: Option<Value<'d>>,
}

impl<'d> Request<'d> {
    /// Returns the member `name` of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<Value<'d>> {
        self.params?.get(name).and_then(not_null)
    }
}

/// Returns the value, or `None` for `null`. Clients of languages with optional values write `null` for a parameter that is absent.
fn not_null(value: Value<'_>) -> Option<Value<'_>> {
    (value.kind() != Kind::Null).then_some(value)
}

/// The error for JSON that is not a message.
#[derive(Debug)]
pub(crate) struct NotAMessage {
    pub(crate) why: &'static str,
    /// The id, if it can be read.
    pub(crate) id: Option<RequestId>,
}

impl<'d> JsonRpcMessage<'d> {
    /// Reads one message. Unknown members are ignored.
    ///
    /// # Errors
    /// [`NotAMessage`] for `null`, `{}`, `{"jsonrpc":"1.0",…}`, a method that is not a string, parameters that are not
    /// an object, and an id that is null, a fraction or a boolean.
    pub(crate) fn read(value: Value<'d>) -> Result<Self, NotAMessage> {
        let [mut jsonrpc, mut id, mut method, mut params, mut outcome]: [Option<Value<'d>>; 5] = [None; 5];
        for (key, member) in value.members() {
            let slot = match &*key {
                "jsonrpc" => &mut jsonrpc,
                "id" => &mut id,
                "method" => &mut method,
                "params" => &mut params,
                "result" | "error" => &mut outcome,
                _ => continue,
            };
            *slot = Some(member);
        }
        let params = params.and_then(not_null);
        let read_id = id.and_then(RequestId::read);
        let rejected = |why| Err(NotAMessage { why, id: read_id.clone() });
        if value.kind() != Kind::Object {
            return rejected("a message must be a JSON object");
        }
        if jsonrpc.and_then(Value::as_str).as_deref() != Some("2.0") {
            return rejected("`jsonrpc` must be \"2.0\"");
        }
        let Some(method) = method else {
            return if outcome.is_some() { Ok(Self::Response) } else { rejected("`method` is missing") };
        };
        let Some(method) = method.as_str() else { return rejected("`method` must be a string") };
        if params.is_some_and(|params| params.kind() != Kind::Object) {
            return rejected("`params` must be an object");
        }
        let meta = params.and_then(|params| params.get("_meta")).and_then(not_null);
        match (id, read_id.clone()) {
            (Some(_), Some(id)) => {
                let known_method = Method::named(&method);
                Ok(Self::Request(Request { id, method, known_method, params, meta }))
            }
            (Some(_), None) => rejected("`id` must be a string or an integer"),
            (None, _) => Ok(Self::Notification { claims_revision: meta::claim(meta).is_some() }),
        }
    }
}

/// Returns the response to `id` with a result.
///
/// # Errors
/// The result cannot be serialized.
pub(crate) fn result_response(id: &RequestId, result: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    long_response(id, result, 0)
}

/// Returns the response with `result`, like [`result_response`]. Without the number of bytes that the result will have at least, a long
/// response would take twice the memory while it grows.
pub(crate) fn long_response(
    id: &RequestId,
    result: &impl Serialize,
    bytes: usize,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut body = Vec::with_capacity(bytes.saturating_add(512));
    body.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    body.extend_from_slice(id.as_json().as_bytes());
    body.extend_from_slice(b",\"result\":");
    write::append(&mut body, result)?;
    body.push(b'}');
    Ok(body)
}

/// Returns the result in a response of [`result_response`] to `id`.
#[cfg(feature = "tasks")]
pub(crate) fn result_in(id: &RequestId, response: Vec<u8>) -> Option<String> {
    let mut response = String::from_utf8(response).ok()?;
    response.pop().filter(|last| *last == '}')?;
    let result = response.strip_prefix("{\"jsonrpc\":\"2.0\",\"id\":")?.strip_prefix(id.as_json())?;
    result.strip_prefix(",\"result\":").map(str::to_owned)
}

/// Returns the response with `error`. It has the `id` of the request if that could be read.
///
/// Source: 2026-07-28, basic, "Responses": without a readable id, the response has no `id`.
#[inline(never)]
pub(crate) fn error_response(id: Option<&RequestId>, error: &RpcError) -> Vec<u8> {
    let mut body = Vec::with_capacity(256);
    body.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
    if let Some(id) = id {
        body.extend_from_slice(b"\"id\":");
        body.extend_from_slice(id.as_json().as_bytes());
        body.push(b',');
    }
    body.extend_from_slice(b"\"error\":");
    // An error consists of an integer, a string and a JSON value, which always serialize.
    body.extend(write::to_vec(error).unwrap_or_default());
    body.push(b'}');
    body
}

#[cfg(test)]
mod tests {
    use super::RequestId;

    #[test]
    fn the_id_of_a_rejected_message_is_read() {
        let deep = format!(r#"{{"params":{}1{},"id":"d"}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let broken = [br#"{"id":"a","x":""#.as_slice(), b"\xff", br#""}"#].concat();
        let placeholder = [br#"{"x":""#.as_slice(), b"\xff\xc3", br#"","id":"?"}"#].concat();
        let broken_id = [br#"{"id":""#.as_slice(), b"\xff", br#""}"#].concat();
        for (body, id) in [
            (br#"{"id":7,"params":{"a":1,"a":2}}"#.as_slice(), Some("7")),
            (br#"{"a":1,"a":2,"i\u0064":"x"}"#, Some("\"x\"")),
            (br#"{"params":["\ud800"],"id":1}"#, Some("1")),
            ("{\"a\":1,\"a\":2,\"id\":\"\u{fffd}\"}".as_bytes(), Some("\"\u{fffd}\"")),
            (deep.as_bytes(), Some("\"d\"")),
            (&broken, Some("\"a\"")),
            (&placeholder, Some("\"?\"")),
            (&broken_id, None),
            (br#"{"id":"\ud800"}"#, None),
            (br#"{"id":1,"id":1}"#, None),
            (br#"{"id":{"id":1}}"#, None),
            (br#"{"params":{"id":1}}"#, None),
            (br#"{"id":1"#, None),
            (br#"{"id":1}}"#, None),
            (br#"[{"id":1}]"#, None),
            (b"1", None),
        ] {
            let found = RequestId::of_rejected(body);
            assert_eq!(found.as_ref().map(RequestId::as_json), id, "{}", String::from_utf8_lossy(body));
        }
    }
}
